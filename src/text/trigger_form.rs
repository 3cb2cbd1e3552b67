//! The grammatical form of a trigger, so that another lemma can take its place, and all of its
//! forms, where none may stay.

use std::sync::Arc;

use super::attested::AttestedForms;
use super::inflection::Inflection;
use super::lemma::{lemmatize, without_auxiliaries};
use super::phrase::{
    inflect_phrase, inflections_of_phrase, plain_lemma, respellings, without_repeats,
};
use super::spacing::one_spaced;
use super::{case_variants, fold};
use crate::model::Pos;

/// In which form a trigger has its lemma: `checked` is a past or a past participle.
///
/// English forms are often of several inflections; all of them count, and which one is meant is
/// left to the sentence.
///
/// ```
/// use fnstore::model::Pos;
/// use fnstore::text::TriggerForm;
///
/// let form = TriggerForm::of("checked", "check", Pos::Verb);
/// assert_eq!(form.forms_of("verify"), ["verified"]);
/// assert_eq!(form.forms_of("write up"), ["wrote up", "written up"]);
/// assert_eq!(TriggerForm::of("put", "put", Pos::Verb).forms_of("give"), ["give", "gave", "given"]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TriggerForm {
    pos: Pos,
    /// It may be the lemma itself.
    is_lemma: bool,
    inflections: Vec<Inflection>,
    /// What another lemma has in place of inflections, in a language without rules.
    attested: Option<Arc<AttestedForms>>,
}

impl TriggerForm {
    /// The form of a trigger (its pieces joined by a space) of an LU, named without its part of
    /// speech. A trigger that is no form of the LU is read as a form of its own lemma, and as any
    /// form where it is none of that either. The auxiliaries of a verb are no part of its form.
    #[must_use]
    pub fn of(trigger: &str, lemma: &str, pos: Pos) -> Self {
        let trigger = fold(&one_spaced(trigger));
        let trigger = if pos == Pos::Verb { without_auxiliaries(&trigger) } else { &trigger };
        let unit = fold(&plain_lemma(lemma));
        let own = lemmatize(trigger, pos, &|candidate, p| p == pos && candidate == unit).0;
        let read = |lemma: &str| {
            let is_trigger = |form: &String| {
                fold(form) == trigger || respellings(form).iter().any(|v| fold(v) == trigger)
            };
            let inflections: Vec<Inflection> = Inflection::of(pos)
                .iter()
                .copied()
                .filter(|&inflection| inflect_phrase(lemma, pos, inflection).iter().any(is_trigger))
                .collect();
            Self { pos, is_lemma: is_trigger(&lemma.to_owned()), inflections, attested: None }
        };
        let forms = [read(&unit), read(&own)];
        let found = forms.into_iter().find(|form| form.is_lemma || !form.inflections.is_empty());
        found.unwrap_or_else(|| Self {
            pos,
            is_lemma: true,
            inflections: Inflection::of(pos).to_vec(),
            attested: None,
        })
    }

    /// The form of a trigger in a language without rules: its lemma, or any other form.
    pub(super) fn attested(pos: Pos, is_lemma: bool, forms: Arc<AttestedForms>) -> Self {
        Self { pos, is_lemma, inflections: Vec::new(), attested: Some(forms) }
    }

    /// Whether the trigger may be the lemma itself.
    #[must_use]
    pub fn is_lemma(&self) -> bool {
        self.is_lemma
    }

    /// The same form, of which is known that the trigger is the lemma itself (`None`) or has one
    /// inflection. What contradicts the form is not believed.
    #[must_use]
    pub fn narrowed(mut self, known: Option<Inflection>) -> Self {
        match known {
            None if self.is_lemma => self.inflections.clear(),
            Some(known) if self.inflections.contains(&known) => {
                (self.is_lemma, self.inflections) = (false, vec![known]);
            }
            _ => {}
        }
        self
    }

    /// The forms of another lemma that can stand where the trigger stands, without repeats; none
    /// where the lemma has no such form.
    #[must_use]
    pub fn forms_of(&self, lemma: &str) -> Vec<String> {
        if let Some(attested) = self.attested.as_ref().filter(|_| !self.is_lemma) {
            return attested.other_forms(lemma, self.pos);
        }
        let mut forms: Vec<String> = self.is_lemma.then(|| lemma.to_owned()).into_iter().collect();
        for &inflection in &self.inflections {
            for form in inflect_phrase(lemma, self.pos, inflection) {
                if !forms.contains(&form) {
                    forms.push(form);
                }
            }
        }
        forms
    }
}

/// What is banned when a trigger is to be replaced (Culkin et al. 2021, section 5). The trigger,
/// all inflected forms of its lexical unit and of its own lemma, their British and American
/// spellings, and the case variants of all of these. The trigger stands first.
///
/// `trigger` is the target's text (pieces joined by a space), `lemma` the lexical unit's name
/// without its part of speech, remarks included.
#[must_use]
pub fn inflections_of_trigger(trigger: &str, lemma: &str, pos: Pos) -> Vec<String> {
    let trigger = one_spaced(trigger);
    let unit = plain_lemma(lemma);
    let own = lemmatize(&trigger, pos, &|candidate, p| p == pos && candidate == unit).0;

    let mut forms = vec![fold(&trigger)];
    for lemma in [&unit, &own] {
        if !lemma.is_empty() {
            forms.extend(inflections_of_phrase(lemma, pos));
        }
    }
    let respelled: Vec<String> = forms.iter().flat_map(|form| respellings(form)).collect();
    forms.extend(respelled);

    in_all_cases(trigger, &forms)
}

/// A trigger and its forms in the cases that they are written in, each once, the trigger first.
pub(super) fn in_all_cases(trigger: String, forms: &[String]) -> Vec<String> {
    let mut all = vec![trigger];
    all.extend(forms.iter().flat_map(|form| case_variants(form)));
    all.retain(|form| !form.is_empty());
    without_repeats(all)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::inflections;
    use super::*;

    #[test]
    fn forms_follow_the_trigger() {
        for (trigger, lemma, pos, other, expected) in [
            ("Verifying", "verify", Pos::Verb, "check", &["checking"][..]),
            ("verifies", "verify", Pos::Verb, "check up", &["checks up"]),
            ("took", "take", Pos::Verb, "bring", &["brought"]),
            ("analysed", "analyze", Pos::Verb, "see", &["saw", "seen"]),
            ("men", "man", Pos::Noun, "point of view", &["points of view"]),
            ("deeper", "deep", Pos::Adjective, "beautiful", &[]),
            ("deep", "deep", Pos::Adjective, "beautiful", &["beautiful"]),
            ("under", "under", Pos::Preposition, "above", &["above"]),
        ] {
            assert_eq!(TriggerForm::of(trigger, lemma, pos).forms_of(other), expected, "{trigger}");
        }
    }

    #[test]
    fn what_is_known_of_the_trigger_decides_between_its_inflections() {
        let form = TriggerForm::of("put", "put", Pos::Verb);
        let known = |known| form.clone().narrowed(known).forms_of("give");
        assert_eq!(known(None), ["give"]);
        assert_eq!(known(Some(Inflection::Past)), ["gave"]);
        assert_eq!(known(Some(Inflection::PastParticiple)), ["given"]);
        assert_eq!(known(Some(Inflection::PresentParticiple)), ["give", "gave", "given"]);
    }

    #[test]
    fn a_trigger_of_another_lemma_is_read_by_itself() {
        for (trigger, lemma, pos, expected) in [
            ("confirming", "check", Pos::Verb, "verifying"),
            ("pieced together", "assemble_(pieces)", Pos::Verb, "verified"),
            ("was carried out", "carry out", Pos::Verb, "verified"),
            ("coloured in", "color in", Pos::Verb, "verified"),
            ("Zzyzx", "", Pos::Noun, "verify"),
        ] {
            assert_eq!(TriggerForm::of(trigger, lemma, pos).forms_of("verify"), [expected]);
        }
    }

    proptest! {
        #[test]
        fn a_lemma_in_the_form_of_its_own_trigger_is_that_trigger(
            word in "[bcdfglmnprst]{1,2}[aeiou]{1,2}[bcdfgklmnprstvxyz]{1,2}e?",
            pos in prop::sample::select(vec![Pos::Verb, Pos::Noun, Pos::Adjective]),
        ) {
            for form in inflections(&word, pos) {
                prop_assert!(TriggerForm::of(&form, &word, pos).forms_of(&word).contains(&form), "{form}");
            }
        }
    }

    #[test]
    fn a_trigger_bans_its_forms_spellings_and_cases() {
        let banned = inflections_of_trigger("Organised", "organize", Pos::Verb);
        assert_eq!(banned[0], "Organised");
        for form in ["organise", "organises", "organizing", "ORGANISED", "Organizes", "organized"] {
            assert!(banned.iter().any(|b| b == form), "{form} in {banned:?}");
        }
    }

    #[test]
    fn a_trigger_that_is_no_form_of_its_unit_brings_its_own_forms() {
        let banned = inflections_of_trigger("backed up", "support_((act))", Pos::Verb);
        for form in ["backed up", "backing up", "supports", "back up"] {
            assert!(banned.iter().any(|b| b == form), "{form} in {banned:?}");
        }
    }

    #[test]
    fn no_banned_form_is_empty_or_repeated() {
        for (trigger, lemma, pos) in
            [("", "", Pos::Verb), ("checks", "check", Pos::Noun), (" of ", "of", Pos::Preposition)]
        {
            let banned = inflections_of_trigger(trigger, lemma, pos);
            let distinct: std::collections::HashSet<_> = banned.iter().collect();
            assert_eq!(distinct.len(), banned.len());
            assert!(banned.iter().all(|form| !form.is_empty()));
        }
    }
}
