//! Annotation sets and sentence layers as JSON: layers of labels whose spans count code points and
//! carry the text that they cover.

use serde::{Deserialize, Serialize};

use super::lexicon::ColorsRecord;
use super::provenance::{ProvenanceRecord, RecipeNames};
use super::recorded::Recorded;
use super::{Checked, LineKind, read};
use crate::exchange::error::{ExchangeError, Fault, FaultCode};
use crate::model::{
    AnnotationSet, Extent, FeId, FrameId, Label, Layer, LayerName, LuId, NullInstantiation,
    RecipeId, SentenceId, SentenceLayers, Span,
};
use crate::text::{CharIndex, CharSpan, OffsetError};

/// What spans of a file count.
const OFFSET_UNIT: &str = "codepoint";

/// A number with the name that it stands for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedId {
    /// The number.
    pub id: u32,
    /// The name.
    pub name: String,
}

/// An annotation set that evokes a frame, see `schema/jsonl-set.schema.json`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetRecord {
    kind: LineKind,
    id: String,
    xml_id: Option<u64>,
    sentence: String,
    frame: NamedId,
    lu: NamedId,
    status: String,
    created: String,
    fe_status: String,
    /// JSON `{"const": "codepoint"}`.
    offset_unit: String,
    targets: Vec<SpanRecord>,
    layers: Vec<LayerRecord>,
    provenance: ProvenanceRecord,
}

/// A set of sentence layers, or of a construction, see `schema/jsonl-layers.schema.json`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LayersRecord {
    kind: LineKind,
    id: String,
    xml_id: u64,
    sentence: String,
    construction: Option<NamedId>,
    status: String,
    created: String,
    listed_under: Vec<u32>,
    /// JSON `{"const": "codepoint"}`.
    offset_unit: String,
    layers: Vec<LayerRecord>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LayerRecord {
    name: String,
    rank: u8,
    labels: Vec<LabelRecord>,
}

/// A label; what FrameNet leaves out is left out here, too, as most labels have only name and span.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LabelRecord {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    span: Option<SpanRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ni: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fe: Option<u32>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    annotator: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    colors: Option<ColorsRecord>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SpanRecord {
    start: u32,
    end: u32,
    text: String,
}

impl SpanRecord {
    pub(super) fn empty() -> Self {
        Self { start: 0, end: 0, text: String::new() }
    }

    pub(super) fn new(span: Span, index: &CharIndex, text: &str) -> Result<Self, OffsetError> {
        let CharSpan { start, end } = index.to_chars(span)?;
        Ok(Self { start, end, text: span.of(text).unwrap_or_default().to_owned() })
    }

    pub(super) fn into_model(self, index: &CharIndex, text: &str) -> Checked<Span> {
        let Self { start, end, text: covered } = self;
        let span = index.to_bytes(CharSpan { start, end }).map_err(|_| {
            let expected = format!(
                "start <= end <= {}, the length of the sentence in code points",
                index.chars()
            );
            Fault::new(FaultCode::SpanRange, "span", format!("{start}..{end}"), expected)
        })?;
        match span.of(text) {
            Some(of_sentence) if of_sentence == covered => Ok(span),
            of_sentence => {
                let expected = format!(
                    "`{}`, which code points {start}..{end} of the sentence are; offsets of \
                     another unit?",
                    crate::text::shortened(of_sentence.unwrap_or_default())
                );
                Err(Fault::new(FaultCode::SpanText, "span.text", covered, expected))
            }
        }
    }
}

impl LabelRecord {
    fn new(label: Label, index: &CharIndex, text: &str) -> Result<Self, OffsetError> {
        let Label { name, extent, fe, annotator, colors } = label;
        let (span, ni) = match extent {
            Extent::Overt(span) => (Some(SpanRecord::new(span, index, text)?), None),
            Extent::Null(kind) => (None, Some(kind.as_str().to_owned())),
            Extent::None => (None, None),
        };
        let (fe, colors) = (fe.map(|fe| fe.0), colors.into_record());
        Ok(Self { name, span, ni, fe, annotator, colors })
    }

    fn into_model(self, index: &CharIndex, text: &str) -> Checked<Label> {
        let Self { name, span, ni, fe, annotator, colors } = self;
        let extent = match (span, ni) {
            (Some(span), None) => Extent::Overt(span.into_model(index, text)?),
            (None, Some(kind)) => Extent::Null(NullInstantiation::parse(&kind)),
            (None, None) => Extent::None,
            (Some(_), Some(kind)) => {
                return Err(Fault::value("ni", kind, "no `ni` beside a `span`"));
            }
        };
        let (fe, colors) = (fe.map(FeId), read("colors", colors)?);
        Ok(Label { name, extent, fe, annotator, colors })
    }
}

fn layer_records(
    layers: Vec<Layer>,
    index: &CharIndex,
    text: &str,
) -> Result<Vec<LayerRecord>, OffsetError> {
    let record = |Layer { name, rank, labels }: Layer| {
        let labels = labels.into_iter().map(|label| LabelRecord::new(label, index, text));
        let labels = labels.collect::<Result<_, _>>()?;
        Ok(LayerRecord { name: name.as_str().to_owned(), rank, labels })
    };
    layers.into_iter().map(record).collect()
}

fn layers(records: Vec<LayerRecord>, index: &CharIndex, text: &str) -> Checked<Vec<Layer>> {
    let layer = |(at, LayerRecord { name, rank, labels }): (usize, LayerRecord)| {
        let label = |(number, label): (usize, LabelRecord)| {
            let place = || format!("layers[{at}].labels[{number}]");
            label.into_model(index, text).map_err(|fault| fault.inside(&place()))
        };
        let labels = labels.into_iter().enumerate().map(label).collect::<Checked<_>>()?;
        Ok(Layer { name: LayerName::parse(&name), rank, labels })
    };
    records.into_iter().enumerate().map(layer).collect()
}

fn check_unit(unit: &str) -> Checked<()> {
    if unit == OFFSET_UNIT {
        return Ok(());
    }
    Err(Fault::value("offset_unit", unit, format!("`{OFFSET_UNIT}`")))
}

impl SetRecord {
    /// The record of a set: `text` is its sentence's, the names are its frame's and its LU's, and
    /// `recipes` knows fingerprints.
    ///
    /// # Errors
    /// When a span of the set does not fit the text.
    pub(super) fn new(
        set: AnnotationSet,
        frame_name: &str,
        lu_name: &str,
        text: &str,
        recipes: &RecipeNames,
    ) -> Result<Self, ExchangeError> {
        let record = format!("set {}", set.id);
        let outside = |source| ExchangeError::Record { record: record.clone(), source };
        let index = CharIndex::new(text);
        let AnnotationSet {
            id,
            xml_id,
            sentence,
            frame,
            lu,
            status,
            created,
            targets,
            fe_status,
            layers,
            provenance,
        } = set;
        let targets = targets.into_iter().map(|span| SpanRecord::new(span, &index, text));
        Ok(Self {
            kind: LineKind::Set,
            id: id.into_record(),
            xml_id,
            sentence: sentence.into_record(),
            frame: NamedId { id: frame.0, name: frame_name.to_owned() },
            lu: NamedId { id: lu.0, name: lu_name.to_owned() },
            status,
            created,
            fe_status: fe_status.into_record(),
            offset_unit: OFFSET_UNIT.to_owned(),
            targets: targets.collect::<Result<_, _>>().map_err(outside)?,
            layers: layer_records(layers, &index, text).map_err(outside)?,
            provenance: ProvenanceRecord::new(provenance, recipes),
        })
    }

    /// The sentence that it annotates.
    pub(super) fn sentence(&self) -> Checked<SentenceId> {
        read("sentence", self.sentence.clone())
    }

    /// The frame that it evokes.
    #[must_use]
    pub fn frame(&self) -> &NamedId {
        &self.frame
    }

    /// The LU that its target is a form of.
    #[must_use]
    pub fn lu(&self) -> &NamedId {
        &self.lu
    }

    /// Fingerprint of the recipe of a generated set.
    #[must_use]
    pub fn recipe(&self) -> Option<&str> {
        self.provenance.recipe()
    }

    /// The set, over its sentence's text; a generated one under the recipe of that number.
    pub(super) fn into_model(self, text: &str, recipe: Option<RecipeId>) -> Checked<AnnotationSet> {
        check_unit(&self.offset_unit)?;
        let index = CharIndex::new(text);
        let target = |(number, span): (usize, SpanRecord)| {
            let place = || format!("targets[{number}]");
            span.into_model(&index, text).map_err(|fault| fault.inside(&place()))
        };
        Ok(AnnotationSet {
            id: read("id", self.id)?,
            xml_id: self.xml_id,
            sentence: read("sentence", self.sentence)?,
            frame: FrameId(self.frame.id),
            lu: LuId(self.lu.id),
            status: self.status,
            created: self.created,
            targets: self.targets.into_iter().enumerate().map(target).collect::<Checked<_>>()?,
            fe_status: read("fe_status", self.fe_status)?,
            layers: layers(self.layers, &index, text)?,
            provenance: self.provenance.into_model(recipe)?,
        })
    }
}

impl LayersRecord {
    /// The record of a set of layers over its sentence's text.
    ///
    /// # Errors
    /// When a span does not fit the text.
    pub(super) fn new(set: SentenceLayers, text: &str) -> Result<Self, ExchangeError> {
        let record = format!("set {}", set.id);
        let index = CharIndex::new(text);
        let SentenceLayers {
            id,
            xml_id,
            sentence,
            construction,
            status,
            created,
            listed_under,
            layers,
        } = set;
        Ok(Self {
            kind: LineKind::Layers,
            id: id.into_record(),
            xml_id,
            sentence: sentence.into_record(),
            construction: construction.map(|(id, name)| NamedId { id, name }),
            status,
            created,
            listed_under: listed_under.into_record(),
            offset_unit: OFFSET_UNIT.to_owned(),
            layers: layer_records(layers, &index, text)
                .map_err(|source| ExchangeError::Record { record, source })?,
        })
    }

    /// The sentence that it annotates.
    pub(super) fn sentence(&self) -> Checked<SentenceId> {
        read("sentence", self.sentence.clone())
    }

    /// The set, over its sentence's text.
    pub(super) fn into_model(self, text: &str) -> Checked<SentenceLayers> {
        check_unit(&self.offset_unit)?;
        Ok(SentenceLayers {
            id: read("id", self.id)?,
            xml_id: self.xml_id,
            sentence: read("sentence", self.sentence)?,
            construction: self.construction.map(|NamedId { id, name }| (id, name)),
            status: self.status,
            created: self.created,
            listed_under: read("listed_under", self.listed_under)?,
            layers: layers(self.layers, &CharIndex::new(text), text)?,
        })
    }
}
