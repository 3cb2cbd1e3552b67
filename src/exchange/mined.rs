//! Mined pairs of sentences as span-labelled texts, so that a release can hold them.
//!
//! A sentence is a text in the document of its article, in the corpus of its cluster. A pair is a
//! span over each of its two sentences: the method is the spans' type, the pair's name their lemma.
//! So the two sides of a pair are the two sets of one LU.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::error::Fault;
use super::labelled::{Checked, LabelledSpan, LabelledText, name, nothing_else, object, wrong};
use crate::model::{Span, Title};

/// A key that every mined pair has, and no span-labelled text.
const MARK: &str = "source_at";

/// Whether a line holds a mined pair.
pub(super) fn is_pair(line: &Value) -> bool {
    line.get(MARK).is_some()
}

/// Where a sentence stands: article, day, number in the article. Another text at the same place is
/// another sentence.
type SentencePlace = (String, Option<String>, u32, String);

/// The pairs of one cluster, gathered so that a sentence of many pairs is one text.
#[derive(Default)]
pub(super) struct MinedCluster {
    name: String,
    places: HashMap<SentencePlace, usize>,
    texts: Vec<LabelledText>,
}

impl MinedCluster {
    /// Adds the pair of a line. Gives the texts of the cluster before, when another one begins.
    pub(super) fn add(&mut self, line: Value) -> Checked<Vec<LabelledText>> {
        let mut members = object("line", line)?;
        let mut required = |field: &str| required_name(&mut members, field);
        let (cluster, pair, method) = (required("cluster")?, required("id")?, required("method")?);
        let source = Side::take(&mut members, "source", "source_at")?;
        let target = Side::take(&mut members, "target", "target_at")?;
        let definition = measure(&mut members)?;
        nothing_else(
            &members,
            "`id`, `cluster`, `source`, `target`, `source_at`, `target_at`, `method`, `edits`, `shared` or \
             `likeness`",
        )?;
        let before = match cluster == self.name {
            true => Vec::new(),
            false => {
                let before = self.take();
                self.name = cluster;
                before
            }
        };
        for side in [source, target] {
            let span = LabelledSpan {
                span: side.whole,
                span_type: method.clone(),
                lemma: Some(pair.clone()),
                pos: None,
                definition: definition.clone(),
            };
            self.text(side).spans.push(span);
        }
        Ok(before)
    }

    /// The texts of the last cluster.
    pub(super) fn take(&mut self) -> Vec<LabelledText> {
        self.places.clear();
        std::mem::take(&mut self.texts)
    }

    fn text(&mut self, side: Side) -> &mut LabelledText {
        let Side { text, article, date, sentence, .. } = side;
        let place = (article, date, sentence, text);
        let at = *self.places.entry(place).or_insert_with_key(|(article, date, sentence, text)| {
            self.texts.push(LabelledText {
                text: text.clone(),
                id: None,
                number: Some(*sentence),
                document: Some(Title { name: article.clone(), description: date.clone() }),
                corpus: Some(self.name.clone()),
                split: None,
                spans: Vec::new(),
            });
            self.texts.len() - 1
        });
        &mut self.texts[at]
    }
}

/// One sentence of a pair.
struct Side {
    text: String,
    whole: Span,
    article: String,
    date: Option<String>,
    sentence: u32,
}

impl Side {
    fn take(members: &mut Map<String, Value>, side: &str, place: &str) -> Checked<Self> {
        let length = |text: &str| u32::try_from(text.len()).ok().filter(|length| *length > 0);
        let (text, end) = match members.remove(side) {
            Some(Value::String(text)) if length(&text).is_some() => {
                let end = length(&text).unwrap_or_default();
                (text, end)
            }
            other => return Err(wrong(side, other, "a sentence")),
        };
        let at = members.remove(place).ok_or_else(|| wrong(place, None, "an object"))?;
        let mut at = object(place, at)?;
        let inside = |fault: Fault| fault.inside(place);
        let article = required_name(&mut at, "article").map_err(inside)?;
        let date = name("date", at.remove("date")).map_err(inside)?;
        let sentence = number("sentence", at.remove("sentence")).map_err(inside)?;
        nothing_else(&at, "`article`, `date` or `sentence`").map_err(inside)?;
        Ok(Self { text, whole: Span { start: 0, end }, article, date, sentence })
    }
}

/// How near the sentences are: the edits between them, or the long words that both have, and how
/// alike they are.
fn measure(members: &mut Map<String, Value>) -> Checked<Option<String>> {
    let mut counted = |field: &str, what: &str| match members.remove(field) {
        None => Ok(None),
        value => number(field, value).map(|count| Some(format!("{count} {what}"))),
    };
    let (edits, shared) = (counted("edits", "edits")?, counted("shared", "shared words")?);
    let likeness = match members.remove("likeness") {
        None => None,
        value => Some(share("likeness", value)?),
    };
    let said = edits.or(shared).into_iter();
    let said: Vec<String> =
        said.chain(likeness.map(|likeness| format!("likeness {likeness:.2}"))).collect();
    Ok((!said.is_empty()).then(|| said.join(", ")))
}

/// A number from 0 to 1.
fn share(field: &str, value: Option<Value>) -> Checked<f64> {
    let number = value.as_ref().and_then(Value::as_f64);
    let share = number.filter(|number| (0.0..=1.0).contains(number));
    share.ok_or_else(|| wrong(field, value, "a number from 0 to 1"))
}

fn required_name(members: &mut Map<String, Value>, field: &str) -> Checked<String> {
    name(field, members.remove(field))?.ok_or_else(|| wrong(field, None, "a name"))
}

fn number(field: &str, value: Option<Value>) -> Checked<u32> {
    let number =
        value.as_ref().and_then(Value::as_u64).and_then(|number| u32::try_from(number).ok());
    number.ok_or_else(|| wrong(field, value, "a whole number from 0"))
}
