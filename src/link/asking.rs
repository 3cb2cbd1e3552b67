//! Whether a synset's examples evoke a frame, by a verifier.

use super::{Linker, Result, Unit};
use crate::engine::GoesOn;
use crate::model::{Frame, Span, Synset};
use crate::text::{fold, lemma_readings, words};
use crate::verify::EvokesItem;

impl Linker<'_> {
    /// The mean of the verifier's answers about a synset's examples with the LU's word; where there
    /// are none, its answer about the word with the gloss behind it.
    pub(super) fn evokes(
        &mut self,
        frame: &Frame,
        unit: &Unit,
        synset: &Synset,
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Option<f32>> {
        let place = (self.release.id, frame.id);
        let question = self.questions.of(self.database, place)?.clone();
        let Some(verifier) = &mut self.verifier else { return Ok(None) };
        let item = |text: &str, target| EvokesItem {
            text: text.to_owned(),
            targets: vec![target],
            lexunit: Some(unit.lu.name.clone()),
        };
        let examples = synset.examples.iter();
        let mut items: Vec<EvokesItem> =
            examples.filter_map(|text| Some(item(text, word_in(text, unit)?))).collect();
        if items.is_empty() {
            let text = format!("{}: {}", unit.lemma, synset.definitions.join("; "));
            items.push(item(&text, Span::new(0, unit.lemma.len() as u32)));
        }
        let mut answers = Vec::new();
        for answer in verifier.evokes_while(&question, &items, goes_on)?.into_iter().flatten() {
            answers.push(verifier.evokes_probability(&answer));
        }
        let count = answers.len() as f32;
        Ok((count > 0.0).then(|| answers.iter().sum::<f32>() / count))
    }
}

/// Where a form of an LU's lemma stands in a text.
fn word_in(text: &str, unit: &Unit) -> Option<Span> {
    if unit.lemma.contains(' ') {
        let at = fold(text).find(&unit.lemma).filter(|at| text.is_char_boundary(*at))?;
        let end = at + unit.lemma.len();
        return text.is_char_boundary(end).then(|| Span::new(at as u32, end as u32));
    }
    words(text).into_iter().find(|span| {
        let word = span.of(text).unwrap_or_default();
        lemma_readings(&fold(word), unit.pos).contains(&unit.lemma)
    })
}
