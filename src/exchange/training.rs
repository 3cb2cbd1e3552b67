//! A sentence with all its sets in one record, for training: what carries no label because nobody
//! looked is told from what was looked at and is none.
//!
//! Exemplars and generated sentences annotate one frame. A program that takes their other words for
//! words without a frame learns what is wrong. So a record lists the stretches that nobody
//! annotated, and each set says whether its FEs are annotated.

use std::io::Write;

use serde::Serialize;

use super::error::ExchangeError;
use super::loss::{Holds, Loss, LossLog};
use super::{Annotated, Result};
use crate::model::{
    AnnotationSetId, Extent, FeStatus, Origin, Positive, ReleaseId, Sentence, SentenceId, Span,
    Split,
};
use crate::text::CharIndex;

/// A sentence with the sets that are written of it.
#[derive(Debug, Clone)]
pub struct TrainingSentence {
    /// Number of its release.
    pub release: ReleaseId,
    /// Name of its release.
    pub release_name: String,
    /// The sentence.
    pub sentence: Sentence,
    /// The part of the data, if its sets agree on one.
    pub split: Option<Split>,
    /// The sets, in order of their first target.
    pub sets: Vec<Annotated>,
    /// Stretches in which nobody looked for frames, or whose sets are not written; in order, apart.
    pub unannotated: Vec<Span>,
}

/// A sentence as JSON; see `schema/training-sentence.schema.json`.
#[derive(Debug, Serialize)]
struct SentenceRecord<'a> {
    release: &'a str,
    sentence: SentenceId,
    split: Option<Split>,
    /// JSON `{"const": "codepoint"}`.
    offset_unit: &'static str,
    text: &'a str,
    unannotated: Vec<SpanRecord<'a>>,
    sets: Vec<SetRecord<'a>>,
}

#[derive(Debug, Serialize)]
struct SetRecord<'a> {
    id: AnnotationSetId,
    origin: Origin,
    frame: &'a str,
    lu: &'a str,
    targets: Vec<SpanRecord<'a>>,
    fe_status: FeStatus,
    elements: Vec<ElementRecord<'a>>,
}

#[derive(Debug, Serialize)]
struct SpanRecord<'a> {
    start: u32,
    end: u32,
    text: &'a str,
}

#[derive(Debug, Serialize)]
struct ElementRecord<'a> {
    name: &'a str,
    core_type: Option<&'a str>,
    rank: Positive<u8>,
    span: Option<SpanRecord<'a>>,
    null_instantiation: Option<&'a str>,
}

/// What a record says of its sets.
const HOLDS: Holds =
    Holds { origin: true, status: false, fe_status: true, gf_pt: false, scores: false };

/// Writes a sentence as a line of JSON. Offsets count code points.
///
/// # Errors
/// When a span does not fit the text, or the output fails.
pub fn write_training(
    out: &mut dyn Write,
    of: &TrainingSentence,
    losses: &mut LossLog,
) -> Result<()> {
    let text = of.sentence.text.as_str();
    let index = CharIndex::new(text);
    let span = |span: Span| -> Result<SpanRecord<'_>> {
        let chars = index.to_chars(span).map_err(|source| ExchangeError::Record {
            record: format!("sentence {}", of.sentence.id),
            source,
        })?;
        let covered = span.of(text).unwrap_or_default();
        Ok(SpanRecord { start: chars.start, end: chars.end, text: covered })
    };
    let spans = |spans: &[Span]| spans.iter().map(|of| span(*of)).collect::<Result<Vec<_>>>();
    let mut sets = Vec::with_capacity(of.sets.len());
    for annotated in &of.sets {
        let set = &annotated.set;
        let elements = elements_of(annotated, span, losses)?;
        losses.add_set(set, annotated.is_proposed, HOLDS);
        sets.push(SetRecord {
            id: set.id,
            origin: set.provenance.origin(),
            frame: &annotated.frame,
            lu: &annotated.lu,
            targets: spans(&set.targets)?,
            fe_status: set.fe_status,
            elements,
        });
    }
    let record = SentenceRecord {
        release: &of.release_name,
        sentence: of.sentence.id,
        split: of.split,
        offset_unit: "codepoint",
        text,
        unannotated: spans(&of.unannotated)?,
        sets,
    };
    serde_json::to_writer(&mut *out, &record).map_err(std::io::Error::from)?;
    out.write_all(b"\n")?;
    Ok(())
}

/// The labels of FEs; those that say neither a place nor why there is none are lost.
fn elements_of<'a>(
    annotated: &'a Annotated,
    span: impl Fn(Span) -> Result<SpanRecord<'a>>,
    losses: &mut LossLog,
) -> Result<Vec<ElementRecord<'a>>> {
    let mut elements = Vec::new();
    for layer in annotated.set.fe_layers() {
        for label in &layer.labels {
            let (covered, null_instantiation) = match &label.extent {
                Extent::Overt(covered) => (Some(span(*covered)?), None),
                Extent::Null(kind) => (None, Some(kind.as_str())),
                Extent::None => {
                    losses.add(Loss::NoExtent);
                    continue;
                }
            };
            elements.push(ElementRecord {
                name: &label.name,
                core_type: annotated.core_types.get(&label.name).copied(),
                rank: layer.rank,
                span: covered,
                null_instantiation,
            });
        }
    }
    Ok(elements)
}
