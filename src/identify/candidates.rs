//! Which LUs of a lexicon a span may be a form of.
//!
//! Every form of every LU's lemma is listed once, so that looking a span up is one read of a table.
//! A form is written as the words of a text are cut, in small letters, with a space between two
//! words. Which of several LUs is meant, and whether any is, the network decides; parts of speech
//! are its business, too.

use std::collections::HashMap;
use std::sync::Arc;

use crate::model::{LexUnit, Pos};
use crate::text::{Morphology, fold, plain_lemma, words};

/// Most words of a span that may evoke a frame: 0.24 % of targets have more (Culkin et al. 2021,
/// section 6.3).
pub const MAX_WORDS: usize = 3;

/// An LU that a span may be a form of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Number of its frame among those of the network.
    pub frame: usize,
    /// Its name, as in `confirm.v`.
    pub lexunit: Arc<str>,
    /// Its part of speech.
    pub pos: Pos,
}

/// The LUs of a lexicon by their forms.
#[derive(Debug, Clone, Default)]
pub struct Candidates {
    lexunits: Vec<Candidate>,
    /// Numbers of LUs, by form.
    forms: HashMap<String, Vec<u32>>,
}

impl Candidates {
    /// The LUs of some frames; each is given by the name of its frame and its own. Those of frames
    /// that the network does not know are left out. Forms are those of a language.
    #[must_use]
    pub fn new<F: AsRef<str>, L: AsRef<str>>(
        frames: &[String],
        lexunits: impl IntoIterator<Item = (F, L)>,
        morphology: &Morphology,
    ) -> Self {
        let number: HashMap<&str, usize> =
            frames.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
        let mut all = Self::default();
        for (frame, name) in lexunits {
            let Some(&frame) = number.get(frame.as_ref()) else { continue };
            let pos = Pos::of_lu_name(name.as_ref());
            let lexunit = Arc::from(name.as_ref());
            let this = all.lexunits.len() as u32;
            all.lexunits.push(Candidate { frame, lexunit, pos });
            let lemma = plain_lemma(LexUnit::lemma_of(name.as_ref()));
            for form in morphology.forms_of(&lemma, pos) {
                let words = words(&form);
                if words.is_empty() || words.len() > MAX_WORDS {
                    continue;
                }
                let cut: Vec<&str> = words.iter().filter_map(|word| word.of(&form)).collect();
                let of_form = all.forms.entry(fold(&cut.join(" "))).or_default();
                if !of_form.contains(&this) {
                    of_form.push(this);
                }
            }
        }
        all
    }

    /// The LUs that some words may be a form of, in the order in which they were given.
    pub fn of<'a>(&'a self, words: &[&str]) -> impl Iterator<Item = &'a Candidate> + use<'a> {
        let form = fold(&words.join(" "));
        let found = self.forms.get(&form).map_or(&[][..], Vec::as_slice);
        found.iter().map(|at| &self.lexunits[*at as usize])
    }

    /// The frames that some words may evoke, each once, ascending.
    #[must_use]
    pub fn frames(&self, words: &[&str]) -> Vec<usize> {
        let mut frames: Vec<usize> = self.of(words).map(|candidate| candidate.frame).collect();
        frames.sort_unstable();
        frames.dedup();
        frames
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_language_has_the_forms_that_its_release_shows() {
        let mut forms = crate::text::AttestedForms::default();
        forms.add("v\u{e9}rifier.v", "v\u{e9}rifia");
        let french = Morphology::of("fr", forms);
        let frames = ["Inspecting".to_owned()];
        let candidates = Candidates::new(&frames, [("Inspecting", "v\u{e9}rifier.v")], &french);
        for form in ["v\u{e9}rifier", "ve\u{301}rifia", "V\u{c9}RIFIA"] {
            assert_eq!(candidates.frames(&[form]), [0], "{form}");
        }
        assert!(candidates.frames(&["v\u{e9}rifiers"]).is_empty(), "no rule of English");
    }

    #[test]
    fn a_span_finds_the_lus_that_it_is_a_form_of() {
        let frames = ["Checking", "Destiny", "Size"].map(str::to_owned);
        let lus = [
            ("Checking", "check.v"),
            ("Checking", "check_up.v"),
            ("Size", "check.n"),
            ("Size", "large.a"),
            ("Elsewhere", "check.v"),
            ("Destiny", "at_the_end_of_it.prep"),
        ];
        let candidates = Candidates::new(&frames, lus, &Morphology::English);
        let names = |words: &[&str]| -> Vec<(usize, String)> {
            candidates.of(words).map(|of| (of.frame, of.lexunit.to_string())).collect()
        };
        assert_eq!(names(&["Checked"]), [(0, "check.v".to_owned())]);
        assert_eq!(names(&["checks"]).len(), 2, "a verb's form and a noun's");
        assert_eq!(names(&["checked", "up"]), [(0, "check_up.v".to_owned())]);
        assert_eq!(candidates.frames(&["LARGEST"]), [2]);
        assert_eq!(candidates.frames(&["check"]), [0, 2]);
        assert!(candidates.frames(&["at", "the", "end"]).is_empty());
    }
}
