//! Version 1 of the records of annotation sets.

use bincode::{Decode, Encode};

use crate::model::{
    AnnotationSet, Colors, CorpusId, DocumentId, Extent, FeId, FeStatus, Flags, Generation, Label,
    Layer, LayerName, LuId, Method, NullInstantiation, Provenance, RecipeId, SentenceLayers, Span,
};

use super::super::key::{AnnotationKey, SentenceSetKey};
use super::v1::{Result, set_code, set_from};

#[derive(Encode, Decode)]
pub(super) struct AnnotationRecord {
    xml_id: Option<u64>,
    status: String,
    created: String,
    targets: Vec<(u32, u32)>,
    fe_status: u8,
    layers: Vec<LayerRecord>,
    provenance: ProvenanceRecord,
}

#[derive(Encode, Decode)]
pub(super) struct SentenceLayersRecord {
    xml_id: u64,
    construction: Option<(u32, String)>,
    status: String,
    created: String,
    listed_under: Vec<u32>,
    layers: Vec<LayerRecord>,
}

#[derive(Encode, Decode)]
struct LayerRecord {
    name: String,
    rank: u8,
    labels: Vec<LabelRecord>,
}

#[derive(Encode, Decode)]
struct LabelRecord {
    name: String,
    extent: ExtentRecord,
    fe: Option<u32>,
    annotator: String,
    colors: Option<(String, String)>,
}

#[derive(Encode, Decode)]
enum ExtentRecord {
    None,
    Overt(u32, u32),
    Null(String),
}

#[derive(Encode, Decode)]
enum ProvenanceRecord {
    Exemplar { lu: u32, subcorpus: String },
    FullText { corpus: u32, document: u32 },
    Imported { file: String },
    User,
    Generated(GenerationRecord),
}

#[derive(Encode, Decode)]
struct GenerationRecord {
    seed: u64,
    source: u64,
    target_ordinal: u16,
    round: u16,
    rank: u16,
    chain: Vec<u64>,
    method: u8,
    recipe: u32,
    /// copy 1, duplicate 2, weak alignment 4, unmet 8, unknown word 16, unlike frame 32, lost FE 64.
    flags: u8,
    paraphrase: f32,
    aligner: f32,
}

const METHODS: [Method; 1] = [Method::Paraphrase];

fn pair(span: Span) -> (u32, u32) {
    (span.start, span.end)
}

fn span((start, end): (u32, u32)) -> Result<Span> {
    if start > end {
        return Err(format!("a span from {start} to {end}"));
    }
    Ok(Span::new(start, end))
}

fn one_of<T: Copy>(all: &[T], code: u8, what: &str) -> Result<T> {
    all.get(usize::from(code)).copied().ok_or_else(|| format!("{what} {code}"))
}

impl From<&Layer> for LayerRecord {
    fn from(layer: &Layer) -> Self {
        let label = |label: &Label| LabelRecord {
            name: label.name.clone(),
            extent: match &label.extent {
                Extent::None => ExtentRecord::None,
                Extent::Overt(span) => ExtentRecord::Overt(span.start, span.end),
                Extent::Null(kind) => ExtentRecord::Null(kind.as_str().to_owned()),
            },
            fe: label.fe.map(|id| id.0),
            annotator: label.annotator.clone(),
            colors: label.colors.as_ref().map(|colors| (colors.fg.clone(), colors.bg.clone())),
        };
        Self {
            name: layer.name.as_str().to_owned(),
            rank: layer.rank,
            labels: layer.labels.iter().map(label).collect(),
        }
    }
}

impl LayerRecord {
    fn into_model(self) -> Result<Layer> {
        let label = |label: LabelRecord| -> Result<Label> {
            Ok(Label {
                name: label.name,
                extent: match label.extent {
                    ExtentRecord::None => Extent::None,
                    ExtentRecord::Overt(start, end) => Extent::Overt(span((start, end))?),
                    ExtentRecord::Null(kind) => Extent::Null(NullInstantiation::parse(&kind)),
                },
                fe: label.fe.map(FeId),
                annotator: label.annotator,
                colors: label.colors.map(|(fg, bg)| Colors { fg, bg }),
            })
        };
        Ok(Layer {
            name: LayerName::parse(&self.name),
            rank: self.rank,
            labels: self.labels.into_iter().map(label).collect::<Result<_>>()?,
        })
    }
}

impl From<&Provenance> for ProvenanceRecord {
    fn from(provenance: &Provenance) -> Self {
        match provenance {
            Provenance::Exemplar { lu, subcorpus } => {
                Self::Exemplar { lu: lu.0, subcorpus: subcorpus.clone() }
            }
            Provenance::FullText { corpus, document } => {
                Self::FullText { corpus: corpus.0, document: document.0 }
            }
            Provenance::Imported { file } => Self::Imported { file: file.clone() },
            Provenance::User => Self::User,
            Provenance::Generated(generation) => Self::Generated(generation.as_ref().into()),
        }
    }
}

impl ProvenanceRecord {
    fn into_model(self) -> Result<Provenance> {
        Ok(match self {
            Self::Exemplar { lu, subcorpus } => Provenance::Exemplar { lu: LuId(lu), subcorpus },
            Self::FullText { corpus, document } => {
                Provenance::FullText { corpus: CorpusId(corpus), document: DocumentId(document) }
            }
            Self::Imported { file } => Provenance::Imported { file },
            Self::User => Provenance::User,
            Self::Generated(record) => Provenance::Generated(Box::new(record.into_model()?)),
        })
    }
}

impl From<&Generation> for GenerationRecord {
    fn from(generation: &Generation) -> Self {
        let flags = generation.flags;
        let bits = [
            flags.copy,
            flags.duplicate,
            flags.weak_alignment,
            flags.unmet,
            flags.unknown_word,
            flags.unlike_frame,
            flags.lost_element,
        ];
        Self {
            seed: set_code(generation.seed),
            source: set_code(generation.source),
            target_ordinal: generation.target_ordinal,
            round: generation.round,
            rank: generation.rank,
            chain: generation.chain.iter().copied().map(set_code).collect(),
            method: generation.method as u8,
            recipe: generation.recipe.0,
            flags: bits.iter().enumerate().map(|(bit, set)| u8::from(*set) << bit).sum(),
            paraphrase: generation.paraphrase,
            aligner: generation.aligner,
        }
    }
}

impl GenerationRecord {
    fn into_model(self) -> Result<Generation> {
        let flag = |bit: u8| self.flags & (1 << bit) != 0;
        if self.flags >> 7 != 0 {
            return Err(format!("flags {:#b}", self.flags));
        }
        Ok(Generation {
            seed: set_from(self.seed)?,
            source: set_from(self.source)?,
            target_ordinal: self.target_ordinal,
            round: self.round,
            rank: self.rank,
            flags: Flags {
                copy: flag(0),
                duplicate: flag(1),
                weak_alignment: flag(2),
                unmet: flag(3),
                unknown_word: flag(4),
                unlike_frame: flag(5),
                lost_element: flag(6),
            },
            chain: self.chain.into_iter().map(set_from).collect::<Result<_>>()?,
            method: one_of(&METHODS, self.method, "method")?,
            recipe: RecipeId(self.recipe),
            paraphrase: self.paraphrase,
            aligner: self.aligner,
            filter: None,
            elements: Vec::new(),
        })
    }
}

impl From<&AnnotationSet> for AnnotationRecord {
    fn from(set: &AnnotationSet) -> Self {
        Self {
            xml_id: set.xml_id,
            status: set.status.clone(),
            created: set.created.clone(),
            targets: set.targets.iter().copied().map(pair).collect(),
            fe_status: set.fe_status as u8,
            layers: set.layers.iter().map(Into::into).collect(),
            provenance: (&set.provenance).into(),
        }
    }
}

impl AnnotationRecord {
    pub(super) fn into_model(self, key: &AnnotationKey) -> Result<AnnotationSet> {
        Ok(AnnotationSet {
            id: key.set,
            xml_id: self.xml_id,
            sentence: key.sentence,
            frame: key.frame,
            lu: key.lu,
            status: self.status,
            created: self.created,
            targets: self.targets.into_iter().map(span).collect::<Result<_>>()?,
            fe_status: one_of(&FeStatus::ALL, self.fe_status, "FE status")?,
            layers: self.layers.into_iter().map(LayerRecord::into_model).collect::<Result<_>>()?,
            provenance: self.provenance.into_model()?,
        })
    }
}

impl From<&SentenceLayers> for SentenceLayersRecord {
    fn from(set: &SentenceLayers) -> Self {
        Self {
            xml_id: set.xml_id,
            construction: set.construction.clone(),
            status: set.status.clone(),
            created: set.created.clone(),
            listed_under: set.listed_under.iter().map(|id| id.0).collect(),
            layers: set.layers.iter().map(Into::into).collect(),
        }
    }
}

impl SentenceLayersRecord {
    pub(super) fn into_model(self, key: &SentenceSetKey) -> Result<SentenceLayers> {
        Ok(SentenceLayers {
            id: key.set,
            xml_id: self.xml_id,
            sentence: key.sentence,
            construction: self.construction,
            status: self.status,
            created: self.created,
            listed_under: self.listed_under.into_iter().map(LuId).collect(),
            layers: self.layers.into_iter().map(LayerRecord::into_model).collect::<Result<_>>()?,
        })
    }
}
