//! What may stand where a chain wants a new trigger.

use std::collections::BTreeSet;

use super::Result;
use super::chain::Chain;
use super::phrase_set::{PhraseSet, runs};
use super::trigger_lexicon::TriggerLexicon;
use crate::model::Pos;
use crate::text::{Morphology, TriggerForm, capitalize, fold};

/// Where a chain wants a new trigger: its part of speech, its form, and what it may not be.
pub(super) struct TriggerSlot {
    pos: Pos,
    form: TriggerForm,
    /// The trigger begins with a capital that its LU has not.
    is_capital: bool,
    banned: PhraseSet,
    sentence: String,
    /// Words of the sentence and those that are banned by themselves, and their lemmas.
    old: BTreeSet<String>,
    morphology: Morphology,
}

impl TriggerSlot {
    pub(super) fn of(chain: &Chain, lexicon: &mut TriggerLexicon<'_>) -> Result<Self> {
        let (seed, sentence) = (&chain.seed, chain.seed.natural());
        let trigger = seed.trigger();
        let begins_upper = |text: &str| text.chars().next().is_some_and(char::is_uppercase);
        let mut words: BTreeSet<String> = runs(&sentence).into_iter().collect();
        let banned = chain.banned.iter().map(|phrase| runs(phrase));
        words.extend(banned.filter(|runs| runs.len() == 1).flatten());
        let mut old = words.clone();
        for word in words {
            old.insert(lexicon.read(seed.frame, &word, seed.pos)?.0);
        }
        Ok(Self {
            pos: seed.pos,
            form: lexicon.morphology().trigger_form(&trigger, &seed.lemma, seed.pos),
            is_capital: begins_upper(&trigger) && !begins_upper(&seed.lemma),
            banned: PhraseSet::new(&chain.banned),
            sentence,
            old,
            morphology: lexicon.morphology().clone(),
        })
    }

    /// The forms of an LU's lemma that can stand here, as people write them; `is_word` knows what
    /// people write.
    pub(super) fn forms_of(&self, lemma: &str, is_word: &dyn Fn(&str) -> bool) -> Vec<String> {
        // The rules form a plural of every noun, `equipments`; verbs have all their forms.
        let is_written = |form: &String| {
            let mut words = form.split(' ').zip(lemma.split(' '));
            self.pos == Pos::Verb || words.all(|(form, lemma)| form == lemma || is_word(form))
        };
        let mut forms: Vec<String> =
            self.form.forms_of(lemma).into_iter().filter(is_written).collect();
        // `goggles` are a plural themselves.
        if forms.is_empty() && self.pos == Pos::Noun && lemma.ends_with('s') {
            forms.push(lemma.to_owned());
        }
        forms.retain(|form| self.is_new(form, lemma));
        if self.is_capital {
            forms.iter_mut().for_each(|form| *form = capitalize(form));
        }
        forms
    }

    /// Whether a word can stand here that is a form of a lemma.
    pub(super) fn takes(&self, word: &str, lemma: &str) -> bool {
        self.form.forms_of(lemma).iter().any(|form| form == word) && self.is_new(word, lemma)
    }

    /// Whether a form holds nothing that is banned, and the sentence has no form of its lemma.
    pub(super) fn is_new(&self, form: &str, lemma: &str) -> bool {
        let stands_there = || match runs(form).as_slice() {
            [] => true,
            [word] => self.old.contains(word) || self.old.contains(&fold(lemma)),
            _ => PhraseSet::new(self.morphology.forms_of(lemma, self.pos)).is_in(&self.sentence),
        };
        !self.banned.is_in(form) && !stands_there()
    }
}

#[cfg(test)]
mod tests {
    use super::super::seed::{Elements, Seed};
    use super::*;
    use crate::model::{AnnotationSetId, FrameId, IdSpace, ReleaseId, Span};

    /// The slot of the first word of a text, a form of a lemma, in the lexicon of the test data.
    fn slot(text: &str, lemma: &str, pos: Pos) -> TriggerSlot {
        let end = u32::try_from(text.find(' ').unwrap()).unwrap();
        let chain = Chain::new(Seed {
            release: ReleaseId(1),
            set: AnnotationSetId::new(IdSpace::Exemplar, 1),
            frame: FrameId(102),
            text: text.to_owned(),
            targets: vec![Span::new(0, end)],
            lemma: lemma.to_owned(),
            pos,
            expressed: None,
            elements: Elements::default(),
        });
        super::super::trigger_lexicon::in_test_lexicon(|lexicon| {
            TriggerSlot::of(&chain, lexicon).unwrap()
        })
    }

    fn no_word(_: &str) -> bool {
        false
    }

    #[test]
    fn what_holds_a_banned_word_stands_nowhere_else_it_would_lift_the_ban() {
        let slot = slot("checked by the people who looked over the bill .", "check", Pos::Verb);
        assert_eq!(slot.forms_of("verify", &no_word), ["verified"]);
        for lemma in ["double-check", "check up", "recheck", "look over"] {
            let is_free = lemma == "recheck";
            assert_eq!(!slot.forms_of(lemma, &no_word).is_empty(), is_free, "{lemma}");
        }
        assert!(slot.takes("verified", "verify") && !slot.takes("verify", "verify"));
        assert!(!slot.takes("checked", "check") && !slot.takes("billed", "bill"));
    }

    #[test]
    fn plurals_that_nobody_writes_are_not_asked_for() {
        let slot = slot("devices of all kinds", "device", Pos::Noun);
        let is_word = |word: &str| ["machines", "goggles"].contains(&word);
        for (lemma, forms) in
            [("machine", &["machines"][..]), ("equipment", &[]), ("goggles", &["goggles"])]
        {
            assert_eq!(slot.forms_of(lemma, &is_word), forms, "{lemma}");
        }
    }

    #[test]
    fn at_the_beginning_of_a_sentence_stands_a_capital() {
        let slot = slot("Checking the bill takes time .", "check", Pos::Verb);
        assert_eq!(slot.forms_of("look over", &no_word), ["Looking over"]);
    }
}
