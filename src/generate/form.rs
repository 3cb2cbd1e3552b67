//! The form in which an LU stands where another one stood.
//!
//! The sentence's own tags, CLAWS's or Penn's, say what the replaced word is. Where they are silent
//! an auxiliary before it tells a participle from a past.

use crate::database::{Database, DatabaseError};
use crate::expand::Unit;
use crate::model::{LayerName, Pos, ReleaseId, SentenceId, Span};
use crate::text::{Inflection, Morphology, capitalize, fold, lemmatize, words};

/// Auxiliaries that come before a participle.
const BEFORE_PARTICIPLES: [&str; 3] = ["be", "have", "get"];
/// Words that may stand between the two.
const REACH: usize = 3;

/// An LU in the form of a trigger, the usual spelling; `None` where it has no such form. Without
/// rules of inflection only a lemma stands where a lemma stood: of two other forms nobody knows
/// whether they are alike.
pub(crate) fn in_form_of(
    unit: &Unit,
    (text, target): (&str, Span),
    (sister, morphology): (&str, &Morphology),
    tag: Option<&str>,
) -> Option<String> {
    let trigger = target.of(text)?;
    let known = tag.and_then(|tag| inflection(tag, unit.pos));
    let mut form = morphology.trigger_form(trigger, sister, unit.pos);
    if !morphology.has_rules() && !form.is_lemma() {
        return None;
    }
    form = match known {
        _ if !morphology.has_rules() => form,
        Some(known) => form.narrowed(known),
        // A word that may be the lemma is taken for it.
        None if unit.pos == Pos::Verb && !form.forms_of(&unit.lemma).contains(&unit.lemma) => {
            let participle = is_behind_auxiliary(&text[..target.start as usize]);
            let known = if participle { Inflection::PastParticiple } else { Inflection::Past };
            form.narrowed(Some(known))
        }
        None => form,
    };
    let form = form.forms_of(&unit.lemma).into_iter().next()?;
    let begins_upper = |text: &str| text.chars().next().is_some_and(char::is_uppercase);
    Some(if begins_upper(trigger) && !begins_upper(sister) { capitalize(&form) } else { form })
}

/// What a tag of CLAWS (`VVD`, `NN2`) or of Penn (`VBD`, `NNS`) says of a word: `Some(None)` for
/// the lemma itself, `None` where it says nothing. Of `VVD-VVN` the first counts.
fn inflection(tag: &str, pos: Pos) -> Option<Option<Inflection>> {
    let tag = tag.to_ascii_uppercase();
    let tag = tag.split('-').next().unwrap_or_default();
    let is_any = |tags: &[&str]| tags.contains(&tag);
    match pos {
        Pos::Verb if tag.starts_with('V') => Some(match tag.as_bytes().last()? {
            b'Z' => Some(Inflection::ThirdPerson),
            b'G' => Some(Inflection::PresentParticiple),
            b'D' => Some(Inflection::Past),
            b'N' => Some(Inflection::PastParticiple),
            _ => None,
        }),
        Pos::Noun if is_any(&["NN2", "NNS", "NNPS"]) => Some(Some(Inflection::Plural)),
        Pos::Noun if is_any(&["NN", "NN0", "NN1", "NP0", "NNP"]) => Some(None),
        Pos::Adjective if is_any(&["AJC", "JJR"]) => Some(Some(Inflection::Comparative)),
        Pos::Adjective if is_any(&["AJS", "JJS"]) => Some(Some(Inflection::Superlative)),
        Pos::Adjective if is_any(&["AJ0", "JJ"]) => Some(None),
        _ => None,
    }
}

fn is_behind_auxiliary(before: &str) -> bool {
    let near = words(before).into_iter().rev().take(REACH).filter_map(|word| word.of(before));
    near.map(fold).any(|word| {
        let is_auxiliary = |lemma: &str, _| BEFORE_PARTICIPLES.contains(&lemma);
        let clitic = ["'s", "'re", "'ve", "'d", "'m"].contains(&word.as_str());
        clitic
            || BEFORE_PARTICIPLES.contains(&lemmatize(&word, Pos::Verb, &is_auxiliary).0.as_str())
    })
}

/// The tag of the first word of a target in its sentence's layers.
pub(crate) fn tag_of(
    database: &Database,
    release: ReleaseId,
    sentence: SentenceId,
    target: Span,
) -> Result<Option<String>, DatabaseError> {
    for layers in database.store().sentence_layers(release, sentence)? {
        for layer in layers?.layers {
            if !matches!(layer.name, LayerName::Bnc | LayerName::Penn) {
                continue;
            }
            let holds = |span: Span| span.start <= target.start && target.start < span.end;
            let label =
                layer.labels.into_iter().find(|label| label.extent.span().is_some_and(holds));
            if let Some(label) = label {
                return Ok(Some(label.name));
            }
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(
        lu: &str,
        text: &str,
        trigger: &str,
        sister: &str,
        tag: Option<&str>,
    ) -> Option<String> {
        let start = text.find(trigger).unwrap();
        let span = Span::new(start as u32, (start + trigger.len()) as u32);
        in_form_of(&Unit::new(lu), (text, span), (sister, &Morphology::English), tag)
    }

    #[test]
    fn without_rules_a_lemma_takes_the_place_of_a_lemma_alone() {
        let french = Morphology::without_forms("fr");
        let form = |text: &str, trigger: &str| {
            let start = text.find(trigger).unwrap() as u32;
            let span = Span::new(start, start + trigger.len() as u32);
            let unit = Unit::new("contr\u{f4}ler.v");
            in_form_of(&unit, (text, span), ("v\u{e9}rifier", &french), Some("VVD"))
        };
        assert_eq!(
            form("Il faut v\u{e9}rifier", "v\u{e9}rifier").as_deref(),
            Some("contr\u{f4}ler")
        );
        assert_eq!(form("V\u{e9}rifier tout", "V\u{e9}rifier").as_deref(), Some("Contr\u{f4}ler"));
        assert_eq!(form("Il v\u{e9}rifia tout", "v\u{e9}rifia"), None);
    }

    #[test]
    fn the_head_of_an_lu_takes_the_form_of_the_word_that_it_replaces() {
        for (lu, text, trigger, sister, tag, expected) in [
            ("write up.v", "They noted it .", "noted", "note", Some("VVD"), "wrote up"),
            ("write up.v", "They noted it .", "noted", "note", Some("VVN"), "written up"),
            ("write up.v", "They noted it .", "noted", "note", None, "wrote up"),
            ("write up.v", "It was noted .", "noted", "note", None, "written up"),
            ("write up.v", "It has never been noted .", "noted", "note", None, "written up"),
            ("write up.v", "Noting it helps .", "Noting", "note", Some("VVG"), "Writing up"),
            ("give.v", "They put it down .", "put", "put", Some("VVB"), "give"),
            ("point of view.n", "its sides", "sides", "side", Some("NN2"), "points of view"),
            ("prime minister.n", "the heads", "heads", "head", Some("NNS"), "prime ministers"),
            ("big.a", "a smaller one", "smaller", "small", Some("AJC"), "bigger"),
        ] {
            assert_eq!(form(lu, text, trigger, sister, tag).as_deref(), Some(expected), "{text}");
        }
        assert_eq!(form("beautiful.a", "a smaller one", "smaller", "small", None), None);
    }

    #[test]
    fn a_tag_that_contradicts_the_word_is_not_believed() {
        assert_eq!(inflection("VVD-VVN", Pos::Verb), Some(Some(Inflection::Past)));
        assert_eq!(inflection("NN1", Pos::Verb), None);
        let form = form("go.v", "They noted it .", "noted", "note", Some("VVZ"));
        assert_eq!(form.as_deref(), Some("went"));
    }
}
