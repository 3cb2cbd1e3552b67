//! What is asked of the paraphrases of one sentence, in words, and its way into a search.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::{ParaphraseError, Paraphraser};
use crate::engine::{
    AvoidPhrases, Constraint, KnownWords, RequirePhrases, StepNetwork, Tokenizer, violations,
};

/// What is asked of the paraphrases of one sentence. All phrases occur as whole words, case folded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Constraints {
    /// Phrases that they may not contain.
    pub avoid: Vec<String>,
    /// Phrases that they must contain, in any order: of each entry, one. An entry that is given
    /// twice must occur twice. A phrase that is required wins over a ban of it, or of a part of it.
    pub require: Vec<Vec<String>>,
    /// How they begin; empty for anyhow.
    pub prefix: String,
    /// Words that they may well contain, for networks that are told so; nothing follows from it.
    pub hint: Vec<String>,
}

impl Constraints {
    /// Bans alone.
    pub fn avoiding(phrases: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { avoid: phrases.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// Whether these are the `earlier` ones with nothing but bans on top.
    pub(super) fn only_ban_more_than(&self, earlier: &Self) -> bool {
        let avoid: HashSet<&String> = self.avoid.iter().collect();
        self.require == earlier.require
            && self.prefix == earlier.prefix
            && self.hint == earlier.hint
            && earlier.avoid.iter().all(|phrase| avoid.contains(phrase))
    }
}

/// Constraints of one job, compiled.
#[derive(Debug, Clone)]
pub(super) struct Compiled {
    pub(super) constraint: Constraint,
    /// Required phrases as the tokenizer spells them, for the check on final texts.
    pub(super) require: Vec<Vec<String>>,
    /// Bans that were lifted, since what is required holds them.
    pub(super) lifted: Vec<String>,
    carried: Carried,
}

/// What an output has to have of its source as it stands there.
#[derive(Debug, Clone, Default)]
struct Carried {
    /// Words with letters that the vocabulary lacks.
    words: Vec<String>,
    /// Those letters.
    unknown: Vec<char>,
}

impl Compiled {
    /// Whether a final text breaks a promise: holds a banned phrase or an unknown word, or lacks a
    /// required phrase that is not among the `unmet`.
    pub(super) fn is_broken(&self, text: &str, unmet: &[usize]) -> bool {
        let lacks = |(at, phrases): (usize, &Vec<String>)| {
            !unmet.contains(&at) && violations(text, phrases).is_ok_and(|found| found.is_empty())
        };
        let knows = |known: &Arc<KnownWords>| known.unknown(text).is_empty();
        !self.constraint.violations(text).is_empty()
            || !self.constraint.known.as_ref().is_none_or(knows)
            || self.require.iter().enumerate().any(lacks)
    }

    /// Keeps outputs to those that have the source's words with letters that the vocabulary lacks.
    /// A network that has not learnt such letters copies them at best, and what it writes in the
    /// place of a banned word with one is a guess. A language model has learnt to spell in bytes.
    pub(super) fn carry<N>(
        &mut self,
        paraphraser: &Paraphraser<N>,
        source: &str,
    ) -> Result<(), ParaphraseError> {
        if paraphraser.prompt.is_some() {
            return Ok(());
        }
        let spelled = paraphraser.tokenizer.normalize(source)?;
        let unknown = paraphraser.tokenizer.unknown_letters(&spelled)?;
        let words = spelled.split(|c: char| !c.is_alphanumeric() && !unknown.contains(&c));
        let words = words.filter(|word| word.contains(unknown.as_slice()));
        let words = words.map(str::to_owned).collect();
        self.carried = Carried { words, unknown };
        Ok(())
    }

    /// A letter of the source that a final text has lost, or one that it has in its stead.
    pub(super) fn lost_letter(
        &self,
        text: &str,
        tokenizer: &Tokenizer,
    ) -> Result<Option<char>, ParaphraseError> {
        let Carried { words, unknown } = &self.carried;
        if unknown.is_empty() {
            return Ok(None);
        }
        if let Some(lost) = words.iter().find(|word| !text.contains(word.as_str())) {
            return Ok(lost.chars().find(|letter| unknown.contains(letter)));
        }
        let of_output = tokenizer.unknown_letters(text)?;
        Ok(of_output.into_iter().find(|letter| !unknown.contains(letter)))
    }

    /// Keeps the outputs of a source to words that the model knows and its own.
    pub(super) fn know<N>(
        &mut self,
        paraphraser: &Paraphraser<N>,
        source: &str,
        prefix: &str,
    ) -> Result<(), ParaphraseError> {
        if let Some(words) = &paraphraser.words {
            let spelled = paraphraser.tokenizer.normalize(source)?;
            let required = self.require.iter().flatten().map(String::as_str);
            let own = required.chain([source, &spelled, prefix]);
            let mut known = KnownWords::new(Arc::clone(words), own);
            for avoid in [&self.constraint.everywhere, &self.constraint.here].into_iter().flatten()
            {
                known = known.without_banned(avoid);
            }
            self.constraint.known = Some(Arc::new(known));
        }
        Ok(())
    }
}

impl<N: StepNetwork> Paraphraser<N> {
    /// Compiles the constraints of a job, with what is banned from every output: as it was written
    /// and as an automaton.
    pub(super) fn compile(
        &self,
        constraints: &Constraints,
        everywhere: (&[String], Option<&Arc<AvoidPhrases>>),
    ) -> Result<Compiled, ParaphraseError> {
        let require = self.spellings(&constraints.require)?;
        let prefix = constraints.prefix.trim();
        let texts: Vec<&str> =
            require.iter().flatten().map(String::as_str).chain([prefix]).collect();
        let mut lifted = Vec::new();
        let here = self.avoid(&constraints.avoid)?;
        let here = self.lift(&texts, &constraints.avoid, here, &mut lifted)?;
        let everywhere = self.lift(&texts, everywhere.0, everywhere.1.cloned(), &mut lifted)?;
        lifted.sort_unstable();
        lifted.dedup();
        let mut begin: Vec<u32> = self.network.forced_token().into_iter().collect();
        if !prefix.is_empty() {
            // An answer begins after the space that ends its prompt.
            begin.extend(match self.prompt.is_some() {
                true => self.tokenizer.encode_inside(prefix)?,
                false => self.tokenizer.encode(prefix)?,
            });
        }
        let constraint = Constraint {
            everywhere,
            here,
            tokens: Some(Arc::clone(&self.never)),
            known: None,
            required: self.require(&require)?,
            required_tokens: None,
            order: None,
            prefix: begin.into(),
        };
        Ok(Compiled { constraint, require, lifted, carried: Carried::default() })
    }

    /// Lifts the bans that occur in texts that must come: a phrase both required and banned is
    /// required, and so is one that holds a banned one.
    fn lift(
        &self,
        texts: &[&str],
        avoid: &[String],
        compiled: Option<Arc<AvoidPhrases>>,
        lifted: &mut Vec<String>,
    ) -> Result<Option<Arc<AvoidPhrases>>, ParaphraseError> {
        let is_free = |compiled: &Arc<AvoidPhrases>| {
            texts.iter().all(|text| compiled.violations(text).is_empty())
        };
        if compiled.as_ref().is_none_or(is_free) {
            return Ok(compiled);
        }
        let mut kept = Vec::with_capacity(avoid.len());
        for phrase in avoid {
            let one = self.avoid(std::slice::from_ref(phrase))?;
            let list = if one.as_ref().is_none_or(is_free) { &mut kept } else { &mut *lifted };
            list.push(phrase.clone());
        }
        self.avoid(&kept)
    }

    /// Compiles banned phrases, as they are written and as the tokenizer would write them.
    pub(super) fn avoid(
        &self,
        phrases: &[String],
    ) -> Result<Option<Arc<AvoidPhrases>>, ParaphraseError> {
        if phrases.is_empty() {
            return Ok(None);
        }
        let mut spellings = Vec::with_capacity(phrases.len());
        for phrase in phrases {
            let normalized = self.tokenizer.normalize(phrase)?;
            spellings.push(phrase.clone());
            if normalized != *phrase && !normalized.trim().is_empty() {
                spellings.push(normalized);
            }
        }
        Ok(Some(Arc::new(AvoidPhrases::new(Arc::clone(&self.vocabulary), spellings)?)))
    }

    fn require(
        &self,
        require: &[Vec<String>],
    ) -> Result<Option<Arc<RequirePhrases>>, ParaphraseError> {
        if require.is_empty() {
            return Ok(None);
        }
        let mut tokens = HashMap::new();
        for phrase in require.iter().flatten() {
            tokens.insert(phrase.as_str(), self.tokenizer.encode_inside(phrase)?);
        }
        let cut = |phrase: &str| tokens[phrase].clone();
        Ok(Some(Arc::new(RequirePhrases::new(Arc::clone(&self.vocabulary), require, cut)?)))
    }

    /// Required phrases in the spelling of the tokenizer, which is that of every output.
    fn spellings(&self, require: &[Vec<String>]) -> Result<Vec<Vec<String>>, ParaphraseError> {
        let spelling = |phrase: &String| {
            let normalized = self.tokenizer.normalize(phrase)?;
            let normalized = normalized.trim();
            let is_empty = normalized.is_empty();
            Ok(if is_empty { phrase.clone() } else { normalized.to_owned() })
        };
        let goals = require.iter().map(|goal| goal.iter().map(spelling).collect());
        goals.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{paraphraser, settings};
    use super::super::{Request, RequestOutcome};
    use super::*;

    fn owned(phrases: &[&str]) -> Vec<String> {
        phrases.iter().map(|&phrase| phrase.to_owned()).collect()
    }

    #[test]
    fn letters_that_the_vocabulary_lacks_come_back_as_they_stood() {
        let paraphraser = paraphraser();
        let lost = |source: &str, avoid: &[&str], output: &str| {
            let constraints = Constraints::avoiding(avoid.iter().copied());
            let mut compiled = paraphraser.compile(&constraints, (&[], None)).unwrap();
            compiled.carry(&paraphraser, source).unwrap();
            compiled.lost_letter(output, &paraphraser.tokenizer).unwrap()
        };
        let (source, pound, thumb) = ("A cat of \u{a3}30.", '\u{a3}', '\u{1f44d}');
        assert_eq!(lost(source, &[], "A dog of \u{a3}30!"), None);
        for damaged in ["A dog of Property.", "A dog of \u{a3}-40.", "A dog of 30."] {
            assert_eq!(lost(source, &[], damaged), Some(pound), "{damaged}");
        }
        assert_eq!(lost(source, &[], "A dog of \u{a3}30 \u{1f44d}."), Some(thumb));
        assert_eq!(lost("A cat \u{1f44d}.", &[], "A cat."), Some(thumb));
        // What stands in the place of a word that the network cannot read is a guess.
        assert_eq!(lost("A \u{f8}l.", &["\u{f8}l"], "A dog."), Some('\u{f8}'));
        // The vocabulary has this one.
        assert_eq!(lost("A caf\u{e9}.", &[], "A dog."), None);
        assert_eq!(lost("A cat.", &[], "A dog \u{1f44d}."), None);
    }

    #[test]
    fn a_ban_of_what_is_required_or_of_a_part_of_it_is_lifted() {
        let paraphraser = paraphraser();
        let constraints = Constraints {
            avoid: owned(&["THE CAT", "dog", "confirmed"]),
            require: vec![owned(&["the cat sat"])],
            prefix: "A dog".to_owned(),
            ..Constraints::default()
        };
        let everywhere = owned(&["sat", "bird"]);
        let compiled_everywhere = paraphraser.avoid(&everywhere).unwrap();
        let compiled =
            paraphraser.compile(&constraints, (&everywhere, compiled_everywhere.as_ref())).unwrap();
        assert_eq!(compiled.lifted, ["THE CAT", "dog", "sat"]);
        let text = "a dog confirmed that the cat sat on a bird";
        let mut found = compiled.constraint.violations(text);
        found.sort_unstable();
        assert_eq!(found, ["bird", "confirmed"]);
    }

    #[test]
    fn only_more_bans_go_on() {
        let first = Constraints::avoiding(["a", "b"]);
        let more = Constraints::avoiding(["c", "b", "a"]);
        assert!(more.only_ban_more_than(&first) && first.only_ban_more_than(&first));
        assert!(!first.only_ban_more_than(&more));
        let required = Constraints { require: vec![owned(&["d"])], ..more };
        assert!(!required.only_ban_more_than(&first));
    }

    #[test]
    fn outputs_hold_what_is_required_and_begin_as_asked() {
        let constraints = Constraints {
            avoid: owned(&["cat"]),
            require: vec![owned(&["dog"]), owned(&["confirm", "firm"])],
            prefix: "the".to_owned(),
            ..Constraints::default()
        };
        let request = Request { text: "the cat".to_owned(), constraints };
        let mut settings = settings();
        settings.beam.length_limit = crate::engine::LengthLimit::tokens(14);
        let mut paraphraser = paraphraser();
        let outcomes = paraphraser.paraphrase(&[request], &settings).unwrap();
        let RequestOutcome::Paraphrases(found) = &outcomes[0] else { panic!("{outcomes:?}") };
        for paraphrase in found {
            assert_eq!(paraphrase.unmet, [0; 0], "{}", paraphrase.text);
            let holds =
                |phrases: &[&str]| !violations(&paraphrase.text, phrases).unwrap().is_empty();
            assert!(holds(&["dog"]) && holds(&["confirm", "firm"]) && !holds(&["cat"]));
            assert!(paraphrase.text.starts_with("the"), "{}", paraphrase.text);
        }
        assert_eq!(paraphraser.leaks(), 0);
    }

    #[test]
    fn a_forced_token_begins_every_output_and_its_score_counts() {
        let request = |prefix: &str| {
            let constraints = Constraints { prefix: prefix.to_owned(), ..Constraints::default() };
            [Request { text: "a cat".to_owned(), constraints }]
        };
        let mut paraphraser = paraphraser();
        let &[dog] = paraphraser.tokenizer.encode("dog").unwrap().as_slice() else {
            panic!("the word is one piece")
        };
        let free = paraphraser.paraphrase(&request(""), &settings()).unwrap();
        let asked = paraphraser.paraphrase(&request("dog"), &settings()).unwrap();
        paraphraser.network.forced_token = Some(dog);
        let forced = paraphraser.paraphrase(&request(""), &settings()).unwrap();
        let paraphrases = forced[0].paraphrases();
        assert!(!paraphrases.is_empty());
        assert!(paraphrases.iter().all(|paraphrase| paraphrase.text.starts_with("dog")));
        // Scored as a prefix that is asked for.
        assert!(forced == asked && forced != free, "{forced:?}, asked {asked:?}, free {free:?}");
        // Before a prefix.
        let both = paraphraser.paraphrase(&request("cat"), &settings()).unwrap();
        let paraphrases = both[0].paraphrases();
        assert!(!paraphrases.is_empty());
        assert!(paraphrases.iter().all(|paraphrase| paraphrase.text.starts_with("dog cat")));
    }
}
