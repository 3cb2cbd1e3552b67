//! Which LUs of a lexicon a span may be a form of.
//!
//! Every form of every LU's lemma is listed once, so that looking a span up is one read of a table.
//! A form is written as the words of a text are cut, in small letters, with a space between two
//! words. Forms are those of the rules, their other spellings, and those that annotation attests.
//! Which of several LUs is meant, and whether any is, the network decides.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::evidence::{Parting, attested};
use super::features::{MAX_WORDS, WordSpan};
use super::reading::Tagged;
use crate::database::DatabaseError;
use crate::lexicon::Lexicon;
use crate::model::{LexUnit, Pos};
use crate::text::{AttestedForms, Morphology, fold, plain_lemma, respellings, words};

/// Most words between a verb and the rest of its LU; annotation of FrameNet 1.5 shows seldom more.
const MAX_GAP: usize = 5;

/// Words whose look-up is remembered, which bounds memory: what is forgotten is looked up again.
const MOST_LOOKED_UP: usize = 1 << 18;

/// An LU that a span may be a form of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Number of its frame among those of the network.
    pub frame: usize,
    /// Its name, as in `confirm.v`.
    pub lexunit: Arc<str>,
    /// Its part of speech.
    pub pos: Pos,
    /// Whether annotation shows it around an object, as in `turned the offer down`.
    pub is_discontinuous: bool,
}

impl Candidate {
    /// Its lemma as running text.
    fn lemma(&self) -> String {
        plain_lemma(LexUnit::lemma_of(&self.lexunit))
    }
}

/// A verb of several words that may stand around its object: `turn the offer down`.
#[derive(Debug, Clone)]
struct Discontinuous {
    lexunit: u32,
    /// The words behind the object.
    rest: Vec<String>,
    /// Whether annotation shows this LU so; else it shows others with this particle.
    is_attested: bool,
}

/// A form of LUs around an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DiscontinuousForm {
    /// From the verb to the last word.
    pub(super) span: WordSpan,
    /// Words of it behind the object.
    pub(super) rest: usize,
    /// Numbers of the LUs.
    pub(super) lexunits: Vec<u32>,
}

/// The LUs of a lexicon by their forms.
#[derive(Debug, Clone, Default)]
pub struct Candidates {
    lexunits: Vec<Candidate>,
    /// Numbers of LUs, by form.
    forms: HashMap<String, Vec<u32>>,
    /// LUs that may stand around an object, by the form of their verb.
    discontinuous: HashMap<String, Vec<Discontinuous>>,
    /// Words whose annotation was looked up.
    looked_up: HashSet<String>,
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
            all.lexunits.push(Candidate { frame, lexunit, pos, is_discontinuous: false });
            let lemma = all.lexunits[this as usize].lemma();
            for form in morphology.forms_of(&lemma, pos) {
                if morphology.has_rules() {
                    respellings(&form).iter().for_each(|other| all.add_form(this, other));
                }
                all.add_form(this, &form);
            }
        }
        all
    }

    fn add_form(&mut self, lexunit: u32, form: &str) {
        let words = words(form);
        if words.is_empty() || words.len() > MAX_WORDS {
            return;
        }
        let cut: Vec<&str> = words.iter().filter_map(|word| word.of(form)).collect();
        let of_form = self.forms.entry(fold(&cut.join(" "))).or_default();
        if !of_form.contains(&lexunit) {
            of_form.push(lexunit);
        }
    }

    /// Looks the words of texts that are no forms up in the annotation of a release: what people
    /// marked as a target of an LU is a form of it.
    ///
    /// # Errors
    /// When the store fails.
    pub fn look_up(&mut self, lexicon: &Lexicon<'_>, texts: &[&str]) -> Result<(), DatabaseError> {
        let mut forms = AttestedForms::default();
        if self.looked_up.len() >= MOST_LOOKED_UP {
            self.looked_up.clear();
        }
        for text in texts {
            for word in words(text).iter().filter_map(|word| word.of(text)) {
                let is_word = word.chars().all(|c| c.is_alphabetic() || c == '-');
                let is_new = is_word && self.numbers(&[word]).is_empty();
                if is_new && self.looked_up.insert(fold(word)) {
                    attested(lexicon, word, &mut forms)?;
                }
            }
        }
        if forms != AttestedForms::default() {
            self.add_attested(&forms);
        }
        Ok(())
    }

    /// Adds the forms that annotation attests. A slip of an annotator is no form: what has fewer
    /// words than the lemma, or begins with another letter.
    pub fn add_attested(&mut self, attested: &AttestedForms) {
        for this in 0..self.lexunits.len() as u32 {
            let Candidate { pos, .. } = self.lexunits[this as usize];
            let lemma = self.lexunits[this as usize].lemma();
            let first = |text: &str| fold(text).chars().next();
            for form in attested.other_forms(&lemma, pos) {
                let is_whole = form.split(' ').count() >= lemma.split(' ').count();
                if is_whole && first(&form) == first(&lemma) {
                    self.add_form(this, &form);
                }
            }
        }
    }

    /// Lets verbs of several words stand around their objects: those that annotation shows so, and
    /// of those that it hardly shows the ones with a particle that it shows so with other verbs.
    pub(super) fn add_parted(&mut self, parting: &Parting, morphology: &Morphology) {
        for this in 0..self.lexunits.len() as u32 {
            let lexunit = &self.lexunits[this as usize];
            let lemma = fold(&lexunit.lemma());
            let Some((verb, rest)) = lemma.split_once(' ') else { continue };
            let Some(is_attested) = parting.of(&lemma).filter(|_| lexunit.pos == Pos::Verb) else {
                continue;
            };
            let rest: Vec<String> = rest.split(' ').map(str::to_owned).collect();
            self.lexunits[this as usize].is_discontinuous = is_attested;
            if rest.len() < MAX_WORDS {
                for form in morphology.forms_of(verb, Pos::Verb) {
                    let discontinuous =
                        Discontinuous { lexunit: this, rest: rest.clone(), is_attested };
                    self.discontinuous.entry(fold(&form)).or_default().push(discontinuous);
                }
            }
        }
    }

    /// The LUs of numbers.
    pub(super) fn numbered<'a>(
        &'a self,
        numbers: &'a [u32],
    ) -> impl Iterator<Item = &'a Candidate> + use<'a> {
        numbers.iter().map(|at| &self.lexunits[*at as usize])
    }

    /// The numbers of the LUs that some words may be a form of.
    pub(super) fn numbers(&self, words: &[&str]) -> &[u32] {
        self.forms.get(&fold(&words.join(" "))).map_or(&[], Vec::as_slice)
    }

    /// The forms of LUs that stand around an object in a sentence.
    pub(super) fn discontinuous(&self, sentence: Tagged<'_>) -> Vec<DiscontinuousForm> {
        let mut found: Vec<DiscontinuousForm> = Vec::new();
        let Tagged { words, .. } = sentence;
        for (first, verb) in words.iter().enumerate() {
            if !sentence.tags[first].starts_with("VB") {
                continue;
            }
            for Discontinuous { lexunit, rest, is_attested } in
                self.discontinuous.get(&fold(verb)).into_iter().flatten()
            {
                let mut starts = (first + 2..first + 2 + MAX_GAP).filter(|start| {
                    let stands = words.get(*start..start + rest.len());
                    stands.is_some_and(|stands| {
                        stands.iter().zip(rest).all(|(word, rest)| fold(word) == *rest)
                    }) && sentence.is_object(first + 1..*start)
                });
                let Some(start) = starts.next() else { continue };
                if rest.len() == 1 && !sentence.is_parted_particle(start, *is_attested)
                    || rest.len() > 1 && !is_attested
                {
                    continue;
                }
                let span = WordSpan { first, len: start + rest.len() - first };
                match found.iter_mut().find(|form| form.span == span && form.rest == rest.len()) {
                    Some(form) => form.lexunits.push(*lexunit),
                    None => found.push(DiscontinuousForm {
                        span,
                        rest: rest.len(),
                        lexunits: vec![*lexunit],
                    }),
                }
            }
        }
        found
    }

    /// The LUs that some words may be a form of, in the order in which they were given.
    pub fn of<'a>(&'a self, words: &[&str]) -> impl Iterator<Item = &'a Candidate> + use<'a> {
        self.numbered(self.numbers(words))
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
    fn spellings_and_attested_forms_are_forms_and_slips_are_none() {
        let frames = ["Judging".to_owned()];
        let lus = [("Judging", "criticize.v"), ("Judging", "through.prep")];
        let mut candidates = Candidates::new(&frames, lus, &Morphology::English);
        assert_eq!(candidates.frames(&["criticised"]), [0]);
        assert!(candidates.frames(&["thru"]).is_empty());
        let mut attested = AttestedForms::default();
        attested.add("through.prep", "Thru");
        attested.add("through.prep", "his");
        candidates.add_attested(&attested);
        assert_eq!(candidates.frames(&["thru"]), [0]);
        assert!(candidates.frames(&["his"]).is_empty());
    }

    #[test]
    fn verbs_stand_around_objects_where_annotation_shows_it() {
        let frames = ["F".to_owned()];
        let lus = ["write down.v", "turn down.v", "sit down.v"].map(|name| ("F", name));
        let mut candidates = Candidates::new(&frames, lus, &Morphology::English);
        let mut parting = Parting::default();
        parting.add("write down.v", true);
        (0..9).for_each(|_| parting.add("sit down.v", false));
        candidates.add_parted(&parting, &Morphology::English);
        let found = |tagged: &str| -> Vec<(usize, usize, usize)> {
            let pairs = tagged.split(' ').filter_map(|pair| pair.split_once('/'));
            let (words, tags): (Vec<&str>, Vec<&str>) = pairs.unzip();
            let forms = candidates.discontinuous(Tagged { words: &words, tags: &tags });
            forms.iter().map(|form| (form.span.first, form.span.len, form.rest)).collect()
        };
        assert_eq!(found("He/PRP wrote/VBD it/PRP down/IN ./."), [(1, 3, 1)]);
        assert_eq!(found("He/PRP turned/VBD the/DT offer/NN down/RP ./."), [(1, 4, 1)]);
        assert!(found("He/PRP turned/VBD the/DT car/NN down/IN the/DT road/NN").is_empty());
        assert!(found("He/PRP sat/VBD the/DT cat/NN down/RP ./.").is_empty());
    }

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
