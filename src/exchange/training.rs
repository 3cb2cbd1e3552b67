//! A sentence with all its sets in one record, for training: what carries no label because nobody
//! looked is told from what was looked at and is none.
//!
//! Exemplars and generated sentences annotate one frame. A program that takes their other words for
//! words without a frame learns what is wrong. So a record lists the stretches that nobody
//! annotated, and each set says whether all of its FEs are there.

use serde::Serialize;

use super::error::ExchangeError;
use super::loss::{Holds, Loss, LossLog};
use super::{Annotated, Result, Tokens};
use crate::model::{
    AnnotationSet, AnnotationSetId, Extent, FeStatus, Flags, Fraction, LayerName, Origin, Positive,
    Provenance, ReleaseId, Sentence, SentenceId, Span, Split, named,
};
use crate::text::{CharIndex, Respaced, natural_spacing};

named! {
    /// A form of training records.
    pub enum TrainingFormat {
        /// A line of JSON for each sentence.
        Jsonl => "jsonl",
        /// A row for each sentence, with lists in columns.
        Parquet => "parquet",
        /// A block of tokens for each sentence, in 14 columns.
        Conllu => "conllu-plus",
    }
}

named! {
    /// How the sentences of training records are spaced.
    pub enum Spacing {
        /// As in their release or by their model: FrameNet parts punctuation and clitics from
        /// words, generated sentences do not.
        Stored => "stored",
        /// As people write.
        Natural => "natural",
        /// One space between tokens.
        Tokens => "tokens",
    }
}

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
    /// Its tokens.
    pub tokens: Tokens,
    /// The sets, in order of their first target.
    pub sets: Vec<Annotated>,
    /// Stretches in which nobody looked for frames, or whose sets are not written; in order, apart.
    pub unannotated: Vec<Span>,
}

impl TrainingSentence {
    /// Whether nothing of it is unannotated.
    pub(super) fn is_complete(&self) -> bool {
        self.unannotated.is_empty()
    }

    /// Gives the sentence another spacing, and its spans their places there.
    pub fn respace(&mut self, spacing: Spacing, losses: &mut LossLog) {
        let text = &self.sentence.text;
        let after = match spacing {
            Spacing::Stored => return,
            Spacing::Natural => natural_spacing(text),
            Spacing::Tokens => self.tokens.words(text).join(" "),
        };
        let moved = Respaced::new(text, after);
        self.tokens.moved(|span| moved.span(span));
        self.unannotated = self.unannotated.iter().filter_map(|span| moved.span(*span)).collect();
        for annotated in &mut self.sets {
            respace_set(&mut annotated.set, &moved, losses);
        }
        self.sentence.text = moved.text;
    }
}

/// Moves the spans of a set; those over white space alone are lost.
fn respace_set(set: &mut AnnotationSet, moved: &Respaced, losses: &mut LossLog) {
    let mut place = |span: &mut Span, loss| match moved.span(*span) {
        Some(there) => {
            *span = there;
            true
        }
        None => {
            losses.add(loss);
            false
        }
    };
    set.targets.retain_mut(|span| place(span, Loss::TargetWithoutToken));
    for layer in &mut set.layers {
        // What is said beside FEs (of the target once more, GF, PT) is counted where it is lost.
        let is_element = layer.name == LayerName::Fe;
        layer.labels.retain_mut(|label| match &mut label.extent {
            Extent::Overt(span) if is_element => place(span, Loss::NoToken),
            Extent::Overt(span) => {
                label.extent = moved.span(*span).map_or(Extent::None, Extent::Overt);
                true
            }
            Extent::Null(_) | Extent::None => true,
        });
    }
}

/// A sentence as JSON; see `schema/training-sentence.schema.json`.
#[derive(Debug, Serialize)]
pub(super) struct SentenceRecord<'a> {
    release: &'a str,
    sentence: SentenceId,
    split: Option<Split>,
    /// JSON `{"const": "codepoint"}`.
    offset_unit: &'static str,
    text: &'a str,
    /// Whether nothing of it is unannotated: a word outside of the targets evokes no frame that
    /// people annotate.
    complete: bool,
    /// Its words and marks, tagged by one tagger.
    tokens: Vec<TokenRecord<'a>>,
    unannotated: Vec<SpanRecord<'a>>,
    sets: Vec<SetRecord<'a>>,
}

#[derive(Debug, Serialize)]
struct TokenRecord<'a> {
    /// First code point.
    start: u32,
    /// One past the last code point.
    end: u32,
    /// What it covers.
    text: &'a str,
    lemma: &'a str,
    /// Its part of speech by the tagger; null where none was at hand.
    tag: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct SetRecord<'a> {
    id: AnnotationSetId,
    origin: Origin,
    /// Its status, as written.
    status: &'a str,
    frame: &'a str,
    /// Number of the frame.
    frame_id: u32,
    lu: &'a str,
    /// Number of the LU, unique in its frame.
    lu_id: u32,
    /// Status of the LU, as written; `Proposed` of those that an expansion proposed.
    lu_status: &'a str,
    targets: Vec<SpanRecord<'a>>,
    fe_status: FeStatus,
    /// Whether text outside of the elements is no FE of the target: people annotated all, or all of
    /// a seed or source whose FEs they annotated were carried over.
    fes_complete: bool,
    elements: Vec<ElementRecord<'a>>,
    #[serde(flatten)]
    made: MadeRecord,
}

/// How a set came to be and what it is worth; all null of what people annotated.
#[derive(Debug, Default, Serialize)]
struct MadeRecord {
    /// The set of people's that a generated one grew from, or a carried one was carried from.
    seed: Option<AnnotationSetId>,
    /// The set whose sentence was rewritten; of a carried set the one that was carried.
    source: Option<AnnotationSetId>,
    /// Round of a generated set.
    round: Option<u16>,
    /// What is doubtful about a generated set.
    flags: Vec<&'static str>,
    /// Paraphrase score; lower is better.
    paraphrase: Option<f32>,
    /// Aligner score.
    aligner: Option<Fraction<f32>>,
    /// Score of the precision filter.
    p: Option<Fraction<f32>>,
    /// Score of the recall filter.
    r: Option<Fraction<f32>>,
    /// How likely the frame is, by a frame model.
    frame_fit: Option<Fraction<f32>>,
    /// How likely the target evokes the frame, by a verifier.
    evokes: Option<Fraction<f32>>,
    /// How likely the text says what its source says, by a verifier.
    same_meaning: Option<Fraction<f32>>,
    /// Negative log-likelihood per token of the source, given the text; lower is better.
    reverse: Option<f32>,
}

impl MadeRecord {
    fn new(annotated: &Annotated) -> Self {
        let mut record = Self::default();
        let provenance = &annotated.set.provenance;
        record.frame_fit = provenance.fit().map(|fit| fit.probability);
        (record.seed, record.source) = (provenance.grown_from(), provenance.source());
        record.aligner = provenance.aligner();
        if let Provenance::Generated(made) = provenance {
            record.round = Some(made.round);
            record.flags = Flags::names(made.flags);
            record.paraphrase = made.paraphrase_score();
            record.p = made.filter.map(|scores| scores.precision);
            record.r = made.filter.map(|scores| scores.recall);
        }
        if let Some(said) = &annotated.verification {
            (record.evokes, record.same_meaning) = (said.evokes, said.same_meaning);
            record.reverse = said.reverse.map(|reverse| reverse.score);
        }
        record
    }
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
    /// Number of the FE; null if the frame has no such FE.
    id: Option<u32>,
    core_type: Option<&'a str>,
    rank: Positive<u8>,
    span: Option<SpanRecord<'a>>,
    null_instantiation: Option<&'a str>,
}

/// What a record says of its sets.
pub(super) const HOLDS: Holds = Holds {
    origin: true,
    status: true,
    lu_status: true,
    fe_status: true,
    gf_pt: false,
    scores: true,
};

impl<'a> SentenceRecord<'a> {
    /// The record of a sentence. Offsets count code points.
    pub(super) fn new(of: &'a TrainingSentence, losses: &mut LossLog) -> Result<Self> {
        let text = of.sentence.text.as_str();
        let index = CharIndex::new(text);
        let span = |span: Span| -> Result<SpanRecord<'a>> {
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
                status: &set.status,
                frame: &annotated.frame,
                frame_id: set.frame.0,
                lu: &annotated.lu,
                lu_id: set.lu.0,
                lu_status: &annotated.lu_status,
                targets: spans(&set.targets)?,
                fe_status: set.fe_status,
                fes_complete: annotated.fes_complete,
                elements,
                made: MadeRecord::new(annotated),
            });
        }
        let tokens = of.tokens.as_slice().iter().map(|token| {
            let SpanRecord { start, end, text } = span(token.span)?;
            Ok(TokenRecord { start, end, text, lemma: &token.lemma, tag: token.tag.as_deref() })
        });
        Ok(Self {
            release: &of.release_name,
            sentence: of.sentence.id,
            split: of.split,
            offset_unit: "codepoint",
            text,
            complete: of.is_complete(),
            tokens: tokens.collect::<Result<_>>()?,
            unannotated: spans(&of.unannotated)?,
            sets,
        })
    }
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
                id: annotated.fe_ids.get(&label.name).map(|id| id.0),
                core_type: annotated.core_types.get(&label.name).copied(),
                rank: layer.rank,
                span: covered,
                null_instantiation,
            });
        }
    }
    Ok(elements)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{FrameId, IdSpace, LuId};

    #[test]
    fn what_covers_white_space_alone_is_lost_and_counted() {
        let sentence = SentenceId::new(IdSpace::Imported, 1);
        let targets = vec![Span::new(5, 11), Span::new(14, 16)];
        let mut set = AnnotationSet::new(sentence, FrameId(1), LuId(1), targets)
            .element("Agent", Span::new(0, 3), "Ext", "NP")
            .element("Space", Span::new(3, 5), "Obj", "NP");
        let moved = Respaced::new("She  looked it  over .", "She looked it over.".to_owned());
        let mut losses = LossLog::default();
        respace_set(&mut set, &moved, &mut losses);
        assert_eq!(set.targets, [Span::new(4, 10)]);
        let elements: Vec<&str> =
            set.fe_layers().flat_map(|layer| &layer.labels).map(|of| of.name.as_str()).collect();
        assert_eq!(elements, ["Agent"]);
        let counted: Vec<(Loss, u64)> = losses.iter().collect();
        assert_eq!(counted, [(Loss::TargetWithoutToken, 1), (Loss::NoToken, 1)]);
        losses.add_set(&set, false, HOLDS);
        assert_eq!(losses.count(Loss::GfPt), 4, "those of the FE that is lost are lost anyway");
    }
}
