//! The forms of words in a language: by the rules of English, or as a release attests them.
//!
//! The rules of this folder are those of English. Of any other language is known what its release
//! shows: an LU's targets are forms of its lemma. So nothing is inflected by a rule that does not
//! hold; what no target shows is no form.

use std::sync::Arc;

use super::attested::AttestedForms;
use super::fold;
use super::lemma::{READINGS, lemma_candidates, lemmatize};
use super::phrase::{inflections_of_phrase, plain_lemma};
use super::spacing::one_spaced;
use super::trigger_form::{TriggerForm, in_all_cases, inflections_of_trigger};
use crate::model::{Pos, is_english};

/// How the words of a language are inflected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Morphology {
    /// By the rules of English.
    #[default]
    English,
    /// As targets show it, in whatever language.
    Attested(Arc<AttestedForms>),
}

impl Morphology {
    /// That of a language, by its tag: the rules where it is English, else the forms.
    #[must_use]
    pub fn of(language: &str, forms: AttestedForms) -> Self {
        if is_english(language) { Self::English } else { Self::Attested(Arc::new(forms)) }
    }

    /// That of a language of which no forms are known.
    #[must_use]
    pub fn without_forms(language: &str) -> Self {
        Self::of(language, AttestedForms::default())
    }

    /// Whether rules say how words are inflected.
    #[must_use]
    pub fn has_rules(&self) -> bool {
        *self == Self::English
    }

    /// A lemma of one or several words and its forms, lemma first, without repeats; see
    /// [`inflections_of_phrase`].
    #[must_use]
    pub fn forms_of(&self, lemma: &str, pos: Pos) -> Vec<String> {
        match self {
            Self::English => inflections_of_phrase(lemma, pos),
            Self::Attested(attested) => {
                let mut forms = attested.other_forms(lemma, pos);
                forms.insert(0, lemma.to_owned());
                forms
            }
        }
    }

    /// What is banned when a trigger is to be replaced, the trigger first; see
    /// [`inflections_of_trigger`]. Without rules these are the trigger, its LU, and the attested
    /// forms of the LU and of the trigger's own lemmas, each in all its cases.
    #[must_use]
    pub fn forms_of_trigger(&self, trigger: &str, lemma: &str, pos: Pos) -> Vec<String> {
        let Self::Attested(attested) = self else {
            return inflections_of_trigger(trigger, lemma, pos);
        };
        let trigger = one_spaced(trigger);
        let unit = plain_lemma(lemma);
        let mut forms = vec![trigger.clone()];
        for lemma in std::iter::once(&unit).chain(attested.lemmas(&trigger, pos)) {
            forms.extend(self.forms_of(lemma, pos));
        }
        in_all_cases(trigger, &forms)
    }

    /// The lemma of a form and its part of speech; see [`lemmatize`]. Without rules a form that the
    /// vocabulary knows is a lemma, then one of an LU that has it as a target; any other is its own
    /// lemma, in small letters.
    #[must_use]
    pub fn lemmatize(
        &self,
        form: &str,
        pos: Pos,
        known: &dyn Fn(&str, Pos) -> bool,
    ) -> (String, Pos) {
        let Self::Attested(attested) = self else { return lemmatize(form, pos, known) };
        let form = one_spaced(form);
        let folded = fold(&form);
        let others = READINGS.into_iter().filter(|&other| other != pos);
        for pos in std::iter::once(pos).chain(others) {
            let own = [&form, &folded].into_iter().chain(attested.lemmas(&form, pos));
            if let Some(lemma) = own.into_iter().find(|lemma| known(lemma, pos)) {
                return (lemma.clone(), pos);
            }
        }
        let lemma = attested.lemmas(&form, pos).first().cloned().unwrap_or(folded);
        (lemma, pos)
    }

    /// In which form a trigger has its lemma; see [`TriggerForm::of`].
    #[must_use]
    pub fn trigger_form(&self, trigger: &str, lemma: &str, pos: Pos) -> TriggerForm {
        match self {
            Self::English => TriggerForm::of(trigger, lemma, pos),
            Self::Attested(attested) => {
                let is_lemma = fold(&one_spaced(trigger)) == fold(&plain_lemma(lemma));
                TriggerForm::attested(pos, is_lemma, Arc::clone(attested))
            }
        }
    }
    /// The forms of a target whose part of speech nobody says, in all cases, itself among them: as
    /// those of a verb, a noun and an adjective.
    #[must_use]
    pub fn forms_of_target(&self, target: &str) -> Vec<String> {
        let mut forms = vec![target.to_owned()];
        let folded = fold(target);
        for pos in [Pos::Verb, Pos::Noun, Pos::Adjective] {
            // Of several words the head inflects.
            let of_head = self.lemmatize(&folded, pos, &|_, _| false).0;
            let mut lemmas = vec![of_head];
            if self.has_rules() {
                lemmas.extend(lemma_candidates(&folded, pos));
            }
            for lemma in lemmas {
                forms.extend(self.forms_of_trigger(target, &lemma, pos));
            }
        }
        forms.sort_unstable();
        forms.dedup();
        forms.retain(|form| form.chars().any(char::is_alphanumeric));
        forms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Targets of a French release.
    fn french() -> Morphology {
        let mut forms = AttestedForms::default();
        for (lexunit, trigger) in [
            ("ve\u{301}rifier.v", "v\u{e9}rifia"),
            ("v\u{e9}rifier.v", "V\u{c9}RIFIE"),
            ("v\u{e9}rifier.v", "v\u{e9}rifier"),
            ("contr\u{f4}ler.v", "contr\u{f4}l\u{e9}es"),
            ("prendre part.v", "prit  part"),
            ("maison.n", "maisons"),
            ("Haus.n", "H\u{e4}usern"),
        ] {
            forms.add(lexunit, trigger);
        }
        Morphology::of("fr-CA", forms)
    }

    #[test]
    fn english_goes_by_rule_and_nothing_else_does() {
        assert!(Morphology::without_forms("en-GB").has_rules());
        let latvian = Morphology::without_forms("lv");
        assert!(!latvian.has_rules());
        assert_eq!(latvian.forms_of("check", Pos::Verb), ["check"]);
        assert_eq!(Morphology::English.forms_of("check", Pos::Verb).len(), 4);
    }

    #[test]
    fn bans_are_what_the_release_shows_in_all_cases() {
        let banned = french().forms_of_trigger("V\u{e9}rifia", "v\u{e9}rifier", Pos::Verb);
        assert_eq!(banned[0], "V\u{e9}rifia");
        for form in
            ["v\u{e9}rifia", "v\u{e9}rifie", "v\u{e9}rifier", "V\u{e9}rifie", "V\u{c9}RIFIER"]
        {
            assert!(banned.iter().any(|ban| ban == form), "{form} in {banned:?}");
        }
        for rule in ["v\u{e9}rifiers", "v\u{e9}rifiering", "v\u{e9}rifiaed"] {
            assert!(banned.iter().all(|ban| ban != rule), "{rule} in {banned:?}");
        }
        let distinct: std::collections::HashSet<_> = banned.iter().collect();
        assert_eq!(distinct.len(), banned.len());
        // A target of another LU brings that LU's forms.
        let banned = french().forms_of_trigger("v\u{e9}rifie", "contr\u{f4}ler", Pos::Verb);
        assert!(banned.iter().any(|ban| ban == "v\u{e9}rifia"), "{banned:?}");
        assert!(french().forms_of_trigger("", "", Pos::Verb).is_empty());
    }

    #[test]
    fn a_form_leads_to_the_lemma_that_has_it() {
        let none = |_: &str, _: Pos| false;
        let lemma = |form: &str, pos| french().lemmatize(form, pos, &none);
        assert_eq!(lemma("Prit part", Pos::Verb).0, "prendre part");
        assert_eq!(lemma("maisons", Pos::Noun).0, "maison");
        assert_eq!(lemma("h\u{e4}usern", Pos::Noun).0, "Haus", "German nouns have a capital");
        assert_eq!(french().forms_of("Haus", Pos::Noun), ["Haus", "H\u{e4}usern"]);
        // No rule takes an ending off.
        assert_eq!(lemma("Chevaux blancs", Pos::Noun).0, "chevaux blancs");
        assert_eq!(lemma("maisons", Pos::Verb), ("maisons".to_owned(), Pos::Verb));
        let known = |lemma: &str, pos: Pos| (lemma, pos) == ("maison", Pos::Noun);
        let found = french().lemmatize("Maisons", Pos::Verb, &known);
        assert_eq!(found, ("maison".to_owned(), Pos::Noun), "the vocabulary knows it as a noun");
    }

    #[test]
    fn another_lemma_takes_forms_that_are_attested() {
        let form = |trigger: &str| french().trigger_form(trigger, "v\u{e9}rifier", Pos::Verb);
        assert_eq!(form("ve\u{301}rifier").forms_of("contr\u{f4}ler"), ["contr\u{f4}ler"]);
        assert_eq!(form("v\u{e9}rifia").forms_of("contr\u{f4}ler"), ["contr\u{f4}l\u{e9}es"]);
        assert!(form("v\u{e9}rifia").forms_of("examiner").is_empty(), "no target shows a form");
        assert!(form("v\u{e9}rifier").is_lemma() && !form("v\u{e9}rifia").is_lemma());
    }
    #[test]
    fn no_rule_of_english_inflects_another_language() {
        let forms = Morphology::without_forms("fr").forms_of_target("V\u{e9}rifia");
        let cases = ["V\u{c9}RIFIA", "V\u{e9}rifia", "v\u{e9}rifia"];
        assert_eq!(forms, cases);
    }

    #[test]
    fn forms_of_a_target_are_banned_whatever_it_is() {
        for (target, others) in [
            ("tore", &["tore", "tear", "tears", "tearing", "torn"][..]),
            ("Tore", &["tear", "tears", "torn"]),
            ("went through", &["go through", "goes through", "going through", "gone through"]),
            ("points of view", &["point of view"]),
        ] {
            let forms = Morphology::English.forms_of_target(target);
            for form in others {
                assert!(forms.iter().any(|banned| banned == form), "{form}: {forms:?}");
            }
        }
    }
}
