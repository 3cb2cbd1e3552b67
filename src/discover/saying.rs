//! What a rewriter says in place of the LUs of a frame: substitutes for an LU in its sentence.

use std::collections::BTreeMap;

use super::Result;
use super::units::{FrameUnit, Key};
use crate::engine::GoesOn;
use crate::paraphrase::{ParaphraseError, Paraphraser, Settings};
use crate::proposals::KnownLemmas;
use crate::text::{Morphology, fold, natural_spacing_with};

/// LUs in whose sentences a rewriter is asked, of each one sentence.
const ASKED: usize = 8;
/// Substitutes that are taken of a sentence.
const TAKEN: usize = 12;
/// Most words that stand in an LU's place.
const MOST_WORDS: usize = 3;

/// Words, each with the LUs in whose place they were said.
pub(super) type Said = BTreeMap<Key, Vec<String>>;

/// Asks a rewriter in sentences of the first LUs that have one.
pub(super) fn said(
    rewriter: &mut Paraphraser,
    units: &[FrameUnit],
    (lexicon, morphology): (&KnownLemmas<'_>, &Morphology),
    goes_on: &mut GoesOn<'_>,
) -> Result<Said> {
    let shown: Vec<&FrameUnit> = units.iter().filter(|unit| unit.is_shown()).collect();
    // Spread over the frame's LUs, which stand in order of number.
    let step = shown.len().div_ceil(ASKED).max(1);
    let settings = Settings { max_source_pieces: usize::MAX, ..Settings::default() };
    let mut session = rewriter.session(settings)?;
    let mut said = Said::new();
    let mut take = |unit: &FrameUnit, phrase: &str| {
        let is_known = |lemma: &str, pos| lexicon.knows(&(fold(lemma), pos));
        let (lemma, pos) = morphology.lemmatize(phrase, unit.unit.pos, &is_known);
        if pos == unit.unit.pos && lemma.split(' ').count() <= MOST_WORDS {
            let of = said.entry((fold(&lemma), pos)).or_default();
            if !of.contains(&unit.name) {
                of.push(unit.name.clone());
            }
        }
    };
    for unit in shown.into_iter().step_by(step).take(ASKED) {
        let Some(exemplar) = unit.exemplars.first() else { continue };
        let (text, target) = natural_spacing_with(&exemplar.text, exemplar.target);
        let avoid = forms(unit, target.of(&text).unwrap_or_default(), morphology);
        match session.substitutes(&text, target, &avoid, goes_on) {
            Ok(found) => found.iter().take(TAKEN).for_each(|of| take(unit, &of.text)),
            Err(ParaphraseError::Refused(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(said)
}

/// The forms of an LU, and the one that stands in a sentence.
fn forms(unit: &FrameUnit, target: &str, morphology: &Morphology) -> Vec<String> {
    let mut forms = morphology.forms_of(&unit.unit.lemma, unit.unit.pos);
    forms.push(target.to_owned());
    forms.sort();
    forms.dedup();
    forms
}
