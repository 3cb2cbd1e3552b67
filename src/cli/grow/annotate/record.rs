//! What `fnstore annotate` writes for a sentence.

use fnstore::identify::FoundTarget;
use fnstore::label::FoundElement;
use fnstore::model::{Fraction, Positive, Span};
use serde::Serialize;

/// One line of the output; see `schema/annotate.schema.json`.
#[derive(Debug, Serialize)]
pub(super) struct Record {
    pub(super) line: Positive,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<serde_json::Value>,
    pub(super) text: String,
    pub(super) targets: Vec<TargetRecord>,
}

/// A target of it.
#[derive(Debug, Serialize)]
pub(super) struct TargetRecord {
    #[serde(flatten)]
    place: Place,
    /// The pieces of a verb that stands around its object, as in `turned it down`; absent where the
    /// target is one piece.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pieces: Vec<Place>,
    /// The LU of that frame that it is a form of; null if the release has none.
    lu: Option<String>,
    frame: String,
    score: Fraction<f32>,
    /// Whether form alone decided, as that of a verb of several words: the model finds it likelier
    /// that no frame is evoked.
    by_form: bool,
    runners_up: Vec<RunnerUp>,
    /// Its frame elements, in order; they do not overlap. Absent with `--no-fes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    fes: Option<Vec<ElementRecord>>,
}

/// Where something stands.
#[derive(Debug, Serialize)]
struct Place {
    /// First code point.
    start: usize,
    end: usize,
    text: String,
}

/// A frame that is likely, too.
#[derive(Debug, Serialize)]
struct RunnerUp {
    frame: String,
    score: Fraction<f32>,
}

/// A frame element.
#[derive(Debug, Serialize)]
struct ElementRecord {
    name: String,
    #[serde(flatten)]
    place: Place,
    score: Fraction<f32>,
}

impl Place {
    fn new(text: &str, span: Span) -> Self {
        let words = span.of(text).unwrap_or_default();
        let start = text[..span.start as usize].chars().count();
        Self { start, end: start + words.chars().count(), text: words.to_owned() }
    }
}

impl TargetRecord {
    /// A target of a text, with its FEs where they were looked for.
    pub(super) fn new(
        text: &str,
        target: FoundTarget,
        elements: Option<Vec<FoundElement>>,
    ) -> Self {
        let place = Place { text: target.words(text), ..Place::new(text, target.span()) };
        let FoundTarget { pieces, frame, lexunit, score, is_by_form: by_form, runners_up } = target;
        let several = pieces.iter().filter(|_| pieces.len() > 1);
        let element = |FoundElement { name, span, score }| ElementRecord {
            name,
            place: Place::new(text, span),
            score,
        };
        Self {
            place,
            pieces: several.map(|piece| Place::new(text, *piece)).collect(),
            lu: lexunit.map(|name| name.to_string()),
            frame: frame.to_string(),
            score,
            by_form,
            runners_up: runners_up
                .into_iter()
                .map(|(frame, score)| RunnerUp { frame: frame.to_string(), score })
                .collect(),
            fes: elements.map(|found| found.into_iter().map(element).collect()),
        }
    }
}

impl Record {
    /// The sentence with each target as `[words Frame score]`, `by form` behind the score of one
    /// that form alone found. Then a line for each target that has frame elements.
    pub(super) fn marked(&self) -> String {
        let mut marked = String::new();
        let mut letters = self.text.chars();
        let mut at = 0;
        let pieces = self.targets.iter().flat_map(|target| {
            let whole = std::slice::from_ref(&target.place);
            let pieces = if target.pieces.is_empty() { whole } else { &target.pieces };
            pieces.iter().map(move |place| (place, target))
        });
        let mut pieces: Vec<(&Place, &TargetRecord)> = pieces.collect();
        pieces.sort_by_key(|(place, ..)| place.start);
        for (place, TargetRecord { frame, score, by_form, .. }) in pieces {
            marked.extend(letters.by_ref().take(place.start - at));
            let words: String = letters.by_ref().take(place.end - place.start).collect();
            let how = if *by_form { " by form" } else { "" };
            marked.push_str(&format!("[{words} {frame} {score:.2}{how}]"));
            at = place.end;
        }
        marked.extend(letters);
        for target in &self.targets {
            let found = target.fes.iter().flatten();
            let found: Vec<String> =
                found.map(|fe| format!("{} \"{}\"", fe.name, fe.place.text)).collect();
            if !found.is_empty() {
                marked.push_str(&format!("\n  {}: {}", target.place.text, found.join(", ")));
            }
        }
        marked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_counts_code_points_and_a_table_marks_targets() {
        let text = "Caf\u{e9}s checked it.";
        let found = || FoundTarget {
            pieces: vec![Span::new(7, 14)],
            frame: "Inspecting".into(),
            lexunit: Some("check.v".into()),
            score: 0.75,
            is_by_form: false,
            runners_up: vec![("Halt".into(), 0.2)],
        };
        let marked =
            |targets| Record { line: 1, id: None, text: text.to_owned(), targets }.marked();
        let target = TargetRecord::new(text, found(), None);
        let Place { start, end, text: words } = &target.place;
        assert_eq!((*start, *end, words.as_str()), (6, 13, "checked"));
        assert_eq!(marked(vec![target]), "Caf\u{e9}s [checked Inspecting 0.75] it.");
        let element =
            FoundElement { name: "Inspector".to_owned(), span: Span::new(0, 6), score: 0.5 };
        let target = TargetRecord::new(text, found(), Some(vec![element]));
        assert_eq!(
            marked(vec![target]),
            "Caf\u{e9}s [checked Inspecting 0.75] it.\n  checked: Inspector \"Caf\u{e9}s\""
        );
    }

    #[test]
    fn a_target_around_its_object_has_pieces() {
        let text = "He turned it down.";
        let target = FoundTarget {
            pieces: vec![Span::new(3, 9), Span::new(13, 17)],
            frame: "Respond_to_proposal".into(),
            lexunit: Some("turn down.v".into()),
            score: 0.0024,
            is_by_form: true,
            runners_up: Vec::new(),
        };
        let target = TargetRecord::new(text, target, None);
        assert_eq!((target.place.start, target.place.end), (3, 17));
        assert_eq!((target.place.text.as_str(), target.pieces.len()), ("turned down", 2));
        let record = Record { line: 1, id: None, text: text.to_owned(), targets: vec![target] };
        let marked = "He [turned Respond_to_proposal 0.00 by form] it [down Respond_to_proposal \
                      0.00 by form].";
        assert_eq!(record.marked(), marked);
    }
}
