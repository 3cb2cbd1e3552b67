//! The grammatical form of a trigger, so that another lemma can take its place.

use std::sync::Arc;

use super::fold;
use super::inflection::Inflection;
use super::lemma::{lemmatize, without_auxiliaries};
use super::morphology::AttestedForms;
use super::phrase::{inflect_phrase, plain_lemma, respellings};
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
        let trigger = fold(&trigger.split_whitespace().collect::<Vec<_>>().join(" "));
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
}
