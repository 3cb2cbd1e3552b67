//! An LU in a sister's sentence: the text, and where the annotation went.

use std::collections::BTreeMap;

use super::Skip;
use super::blanks::{Actors, Blank, NotBlank, blanks};
use super::edits::Edits;
use super::form::{in_form_of, tag_of};
use crate::database::{Database, DatabaseError};
use crate::expand::Unit;
use crate::model::{
    AnnotationSet, AnnotationSetId, Frame, Label, Layer, LayerName, LexUnit, ReleaseId, Span,
};
use crate::text::{Morphology, begins_with_vowel};

/// A sister's sentence in which an LU took the place of the target.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// The sister's set.
    pub sister: AnnotationSetId,
    /// The sister's own text.
    pub(super) source: String,
    /// The text with the LU.
    pub text: String,
    /// The LU in it.
    pub target: Span,
    /// What is written anew, in order of text.
    pub blanks: Vec<Blank>,
    /// FEs that are not, by reason.
    pub kept: BTreeMap<NotBlank, u64>,
    /// Whether the rules of English hold.
    pub(super) by_rules: bool,
    /// Layers of FEs, grammatical functions and phrase types over the text.
    pub(super) layers: Vec<Layer>,
}

/// A text in which a word took another one's place.
pub(crate) struct Placed {
    pub(crate) text: String,
    pub(crate) target: Span,
}

/// Puts a word in the place of a target, in the target's form; `None` where it has no such form.
pub(crate) fn place(
    unit: &Unit,
    (text, target): (&str, Span),
    (sister, morphology): (&str, &Morphology),
    tag: Option<&str>,
) -> Option<Placed> {
    let edits = replacement(unit, (text, target), (sister, morphology), tag)?;
    Some(Placed { text: edits.text(text), target: edits.span(target) })
}

/// The edits of [`place`]: the word, and an article that goes with it.
fn replacement(
    unit: &Unit,
    (text, target): (&str, Span),
    (sister, morphology): (&str, &Morphology),
    tag: Option<&str>,
) -> Option<Edits> {
    let form = in_form_of(unit, (text, target), (sister, morphology), tag)?;
    let by_rules = morphology.has_rules();
    let article = article_before(text, target, &form).filter(|_| by_rules);
    Some(Edits::new(article.into_iter().chain([(target, form)]).collect()))
}

/// Puts an LU in the place of a sister's target; what is in the way, where something is.
pub(crate) fn draft(
    database: &Database,
    (release, frame, actors): (ReleaseId, &Frame, &Actors),
    lexunit: &LexUnit,
    (set, sister): (&AnnotationSet, &str),
) -> Result<Result<Draft, Skip>, DatabaseError> {
    let store = database.store();
    let Some(sentence) = store.sentence(release, set.sentence)? else {
        return Ok(Err(Skip::NoTarget));
    };
    let text = sentence.text;
    let target = match only_target(set, &text) {
        Ok(target) => target,
        Err(reason) => return Ok(Err(reason)),
    };
    let unit = Unit::of(lexunit);
    let tag = tag_of(database, release, set.sentence, target)?;
    let by = (sister, &actors.morphology);
    let Some(edits) = replacement(&unit, (&text, target), by, tag.as_deref()) else {
        return Ok(Err(Skip::NoForm));
    };
    let by_rules = actors.morphology.has_rules();
    let (found, kept) = blanks(set, frame, actors);
    let blanks = found.into_iter().map(|blank| Blank { span: edits.span(blank.span), ..blank });
    let layers: Vec<Layer> = set.layers.iter().filter(|layer| is_kept(layer)).cloned().collect();
    Ok(Ok(Draft {
        sister: set.id,
        text: edits.text(&text),
        source: text,
        target: edits.span(target),
        blanks: blanks.collect(),
        kept,
        by_rules,
        layers: edits.layers(&layers),
    }))
}

/// The place of a set's target, which is one piece with words.
fn only_target(set: &AnnotationSet, text: &str) -> Result<Span, Skip> {
    match set.targets.as_slice() {
        [target] if target.of(text).is_some_and(|words| !words.trim().is_empty()) => Ok(*target),
        [] | [_] => Err(Skip::NoTarget),
        _ => Err(Skip::Discontinuous),
    }
}

/// The labels of FEs, of all layers.
fn elements(set: &AnnotationSet) -> impl Iterator<Item = &Label> {
    let layers = set.layers.iter().filter(|layer| layer.name == LayerName::Fe);
    layers.flat_map(|layer| &layer.labels)
}

impl Draft {
    /// A set's own sentence, as if its LU had taken its own place.
    pub(super) fn of_itself(
        set: &AnnotationSet,
        text: &str,
        frame: &Frame,
        actors: &Actors,
    ) -> Result<Self, Skip> {
        let target = only_target(set, text)?;
        let (blanks, kept) = blanks(set, frame, actors);
        let layers = set.layers.iter().filter(|layer| is_kept(layer)).cloned().collect();
        let (source, text) = (text.to_owned(), text.to_owned());
        let by_rules = actors.morphology.has_rules();
        Ok(Self { sister: set.id, source, text, target, blanks, kept, by_rules, layers })
    }

    /// A generated set, with the blanks of the set that it was made of; none where its FEs are no
    /// longer those of that set.
    pub(super) fn of_generated(
        (set, text): (&AnnotationSet, &str),
        sister: &AnnotationSet,
        frame: &Frame,
        actors: &Actors,
    ) -> Option<Self> {
        let (new, old): (Vec<_>, Vec<_>) = (elements(set).collect(), elements(sister).collect());
        if new.len() != old.len() {
            return None;
        }
        let (found, _) = blanks(sister, frame, actors);
        let moved = |blank: Blank| {
            let at = old.iter().position(|label| label.extent.span() == Some(blank.span))?;
            let span = new[at].extent.span().filter(|_| new[at].name == old[at].name)?;
            Some(Blank { span, ..blank })
        };
        let blanks = found.into_iter().map(moved).collect::<Option<Vec<_>>>()?;
        Some(Self { sister: sister.id, blanks, ..Self::of_itself(set, text, frame, actors).ok()? })
    }

    /// The draft with other words in its blanks, one text for each.
    ///
    /// # Panics
    /// If there are not as many texts as blanks.
    pub(super) fn filled(&self, words: &[String]) -> Self {
        assert_eq!(words.len(), self.blanks.len(), "a text for each blank");
        let spans = self.blanks.iter().map(|blank| blank.span);
        let edits = Edits::new(spans.clone().zip(words.iter().cloned()).collect());
        let is_anew =
            |span: Option<Span>| span.is_some_and(|span| spans.clone().any(|s| s == span));
        // How words stand in a sentence is said of the words that were there.
        let mut layers = self.layers.clone();
        for layer in layers.iter_mut().filter(|layer| layer.name != LayerName::Fe) {
            layer.labels.retain(|label| !is_anew(label.extent.span()));
        }
        layers.retain(|layer| !layer.labels.is_empty());
        let blanks = self.blanks.iter();
        Self {
            text: edits.text(&self.text),
            target: edits.span(self.target),
            layers: edits.layers(&layers),
            blanks: blanks.map(|of| Blank { span: edits.span(of.span), ..of.clone() }).collect(),
            ..self.clone()
        }
    }

    /// The words of each blank.
    pub(super) fn words(&self) -> Vec<&str> {
        self.blanks.iter().filter_map(|blank| blank.span.of(&self.text)).collect()
    }

    /// The text with a mark in place of each blank.
    pub(super) fn masked(&self, mark: &str) -> String {
        let marks = self.blanks.iter().map(|blank| (blank.span, mark.to_owned()));
        Edits::new(marks.collect()).text(&self.text)
    }
}

fn is_kept(layer: &Layer) -> bool {
    matches!(layer.name, LayerName::Fe | LayerName::Gf | LayerName::Pt)
}

/// The article before a target, as it stands before another word: `a check`, `an inspection`. None
/// where it stays.
fn article_before(text: &str, target: Span, form: &str) -> Option<(Span, String)> {
    let before = text[..target.start as usize].trim_end();
    let word = before.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    if !word.eq_ignore_ascii_case("a") && !word.eq_ignore_ascii_case("an") {
        return None;
    }
    let article = format!("{}{}", &word[..1], if begins_with_vowel(form) { "n" } else { "" });
    let start = (before.len() - word.len()) as u32;
    (article != word).then(|| (Span::new(start, before.len() as u32), article))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_article_goes_with_the_word_that_comes_behind_it() {
        let article = |text: &str, form: &str| {
            let start = text.find("check").unwrap() as u32;
            article_before(text, Span::new(start, start + 5), form).map(|(_, article)| article)
        };
        assert_eq!(article("a check of", "inspection").as_deref(), Some("an"));
        assert_eq!(article("A check of", "Inspection").as_deref(), Some("An"));
        assert_eq!(article("an  check of", "test").as_deref(), Some("a"));
        for (text, form) in [("a check", "test"), ("the check", "exam"), ("check", "exam")] {
            assert_eq!(article(text, form), None, "{text}");
        }
    }
}
