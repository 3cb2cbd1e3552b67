//! A span-labelled text, and how the members of a line that holds one are read: whatever it is read
//! from, what is wrong is said alike.

use serde_json::{Map, Value};

use super::error::Fault;
use crate::model::{Pos, Span, Title, is_name};

pub(super) type Checked<T> = std::result::Result<T, Fault>;

/// A text with its spans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelledText {
    /// The text, unchanged.
    pub text: String,
    /// Its name in the dataset.
    pub id: Option<String>,
    /// Its number in the document; the line's where the data has none.
    pub number: Option<u32>,
    /// The document that it belongs to.
    pub document: Option<Title>,
    /// The corpus that the document belongs to.
    pub corpus: Option<String>,
    /// `train`, `dev` or `test`.
    pub split: Option<&'static str>,
    /// Its spans, in the order of the line.
    pub spans: Vec<LabelledSpan>,
}

/// A span with its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelledSpan {
    /// What it covers: at least one character.
    pub span: Span,
    /// Its type.
    pub span_type: String,
    /// Lemma of what it covers, when given.
    pub lemma: Option<String>,
    /// Part of speech of what it covers, when given.
    pub pos: Option<Pos>,
    /// What the LU is described by, when given.
    pub definition: Option<String>,
}

pub(super) fn object(what: &str, value: Value) -> Checked<Map<String, Value>> {
    match value {
        Value::Object(members) => Ok(members),
        other => Err(Fault::value(what, other, "an object")),
    }
}

/// A name, when there is one: not empty, and of characters that can be shown.
pub(super) fn name(field: &str, value: Option<Value>) -> Checked<Option<String>> {
    let expected = "a string without control characters that is not empty";
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(name)) if is_name(&name) => Ok(Some(name)),
        other => Err(wrong(field, other, expected)),
    }
}

pub(super) fn nothing_else(members: &Map<String, Value>, known: &str) -> Checked<()> {
    match members.iter().next() {
        None => Ok(()),
        Some((key, value)) => Err(Fault::value(
            crate::text::shortened(key),
            value,
            format!("no such key; known ones are {known}"),
        )),
    }
}

pub(super) fn wrong(field: &str, found: Option<Value>, expected: &str) -> Fault {
    let found = found.map_or("missing".to_owned(), |value| value.to_string());
    Fault::value(field, found, expected)
}
