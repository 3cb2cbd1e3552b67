//! What annotation shows of LUs beside their lemmas: forms, and verbs around their objects.

use std::collections::{HashMap, HashSet};

use crate::database::Result;
use crate::lexicon::Lexicon;
use crate::model::{LexUnit, Origin, Pos};
use crate::query::quoted;
use crate::text::{AttestedForms, fold, plain_lemma};

/// Which verbs of several words annotation shows around an object.
#[derive(Debug, Clone, Default)]
pub struct Parting {
    /// Targets in one piece and around an object, by folded lemma.
    targets: HashMap<String, [u32; 2]>,
    /// Particles of verbs that stand around objects.
    particles: HashSet<String>,
}

/// From so many targets in one piece on, an LU that never stands around an object is taken not to.
const ENOUGH: u32 = 5;

impl Parting {
    /// Counts a target of an LU.
    pub fn add(&mut self, lexunit: &str, is_discontinuous: bool) {
        let lemma = fold(&plain_lemma(LexUnit::lemma_of(lexunit)));
        if let (true, [_, particle]) = (is_discontinuous, &lemma.split(' ').collect::<Vec<_>>()[..])
        {
            self.particles.insert((*particle).to_owned());
        }
        self.targets.entry(lemma).or_default()[usize::from(is_discontinuous)] += 1;
    }

    /// Whether a lemma may stand around an object, and whether a target of its own shows that.
    pub(super) fn of(&self, lemma: &str) -> Option<bool> {
        match self
            .targets
            .get(lemma)
            .map_or((0, 0), |[whole, discontinuous]| (*whole, *discontinuous))
        {
            (_, 1..) => Some(true),
            (ENOUGH.., _) => None,
            _ => {
                let mut words = lemma.split(' ').skip(1);
                let particle = words.next().filter(|_| words.next().is_none())?;
                self.particles.contains(particle).then_some(false)
            }
        }
    }
}

/// Which verbs of several words the annotation of a release shows around an object, by sets of the
/// origins that pass. Generated ones, which may be many, are not read.
///
/// # Errors
/// When the store fails.
pub fn parting(lexicon: &Lexicon<'_>, passes: impl Fn(Origin) -> bool) -> Result<Parting> {
    let mut parting = Parting::default();
    for row in lexicon.lu_names()? {
        let (frame, lu, name) = row?;
        let has_rest = plain_lemma(LexUnit::lemma_of(&name)).contains(' ');
        if !has_rest || Pos::of_lu_name(&name) != Pos::Verb {
            continue;
        }
        for set in lexicon.annotation_sets_but_generated(frame, lu)? {
            let Some(set) = set? else { continue };
            if passes(set.provenance.origin()) {
                // Some annotators mark each word: those stand a space apart.
                let mut pairs = set.targets.windows(2);
                parting.add(&name, pairs.any(|pair| pair[1].start > pair[0].end + 1));
            }
        }
    }
    Ok(parting)
}

/// Whether people made sets of an origin.
#[must_use]
pub fn is_by_people(origin: Origin) -> bool {
    origin.is_by_people()
}

/// Adds the LUs of a release of which people annotated a whole target of some words.
pub(super) fn attested(
    lexicon: &Lexicon<'_>,
    words: &str,
    forms: &mut AttestedForms,
) -> Result<()> {
    let by_people = "not origin=generated not origin=predicted not origin=carried";
    let query = format!("trigger={} {by_people}", quoted(words));
    let query = query.parse().expect("the query is well formed");
    for answer in lexicon.annotations(&query)? {
        let answer = answer?;
        if is_by_people(answer.set.provenance.origin()) {
            forms.add(&answer.lexunit, words);
        }
    }
    Ok(())
}
