//! An answer as the JSON record that programs read: `schema/hit.schema.json` describes it.

use serde::{Serialize, Serializer};

use super::Answer;
use crate::model::{
    CarriedElement, Carrying, Extent, Generation, Provenance, Span, Split, Verification,
};
use crate::text::{CharIndex, OffsetError};

/// An annotation set as JSON. Its spans count code points.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct AnswerRecord<'a> {
    /// Name of its release.
    pub release: &'a str,
    /// Its id, as in `x7002`.
    pub id: String,
    /// Name of its frame.
    pub frame: &'a str,
    /// Name of its LU.
    pub lu: &'a str,
    /// The target's text, pieces joined by a space.
    pub trigger: String,
    /// Id of its sentence.
    pub sentence: String,
    /// The sentence's text.
    pub text: &'a str,
    /// What spans count.
    pub offset_unit: &'static str,
    /// The target's pieces.
    pub targets: Vec<[u32; 2]>,
    /// Its FE labels, in order of layer and label.
    pub elements: Vec<ElementRecord<'a>>,
    /// Where it comes from.
    pub origin: &'static str,
    /// Its status.
    pub status: &'a str,
    /// Why it has no FE labels, if it has none.
    pub fe_status: &'static str,
    /// Its document; of a generated set its seed's.
    pub document: Option<&'a str>,
    /// What the document says of itself beside its name.
    pub document_description: Option<&'a str>,
    /// The part of the data that it belongs to.
    pub split: Option<&'static str>,
    /// How it was generated.
    pub generation: Option<GenerationRecord>,
    /// How it was carried into a generated sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub carrying: Option<CarryingRecord>,
    /// Probability of the frame, where a frame model was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame_fit: Option<f32>,
    /// What a verifier says, where it was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verification: Option<VerificationRecord>,
    /// The answer itself, which is no part of the JSON.
    #[serde(skip)]
    pub answer: &'a Answer,
}

/// An FE label as JSON.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct ElementRecord<'a> {
    /// Name of the FE.
    pub name: &'a str,
    /// Rank of its layer.
    pub rank: u8,
    /// Where it stands; `None` of one that no words express.
    pub span: Option<[u32; 2]>,
    /// Why no words express it, as in `INI`.
    pub ni: Option<&'a str>,
    /// Grammatical function.
    pub gf: Option<&'a str>,
    /// Phrase type.
    pub pt: Option<&'a str>,
    /// The words.
    pub text: Option<&'a str>,
}

/// How a set was generated, as JSON.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct GenerationRecord {
    /// The human set that it grew from.
    pub seed: String,
    /// The set that was rewritten.
    pub source: String,
    /// Which of the seed's targets it is.
    pub target: u16,
    /// Its round.
    pub round: u16,
    /// Its rank among the outputs of its round.
    pub rank: u16,
    /// How it was made.
    pub method: &'static str,
    /// Number of its recipe.
    pub recipe: u32,
    /// Score of the rewriter.
    pub paraphrase: Option<f32>,
    /// Score of the aligner.
    pub aligner: f32,
    /// Score of the precision filter.
    pub p: Option<f32>,
    /// Score of the recall filter.
    pub r: Option<f32>,
    /// Which filter it was.
    pub filter: Option<String>,
    /// What is odd about it.
    pub flags: Vec<&'static str>,
    /// The seed's FEs.
    pub elements: Vec<CarriedRecord>,
    /// The sets between the seed and it.
    pub chain: Vec<String>,
}

/// How a set was carried into a generated sentence, as JSON.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct CarryingRecord {
    /// The generated set whose sentence it stands in.
    pub generated: String,
    /// The set that was carried.
    pub source: String,
    /// Score of the aligner.
    pub aligner: f32,
    /// The source's FEs.
    pub elements: Vec<CarriedRecord>,
}

/// What a verifier says of a set, as JSON.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct VerificationRecord {
    /// Probability that the target evokes the frame.
    pub evokes: Option<f32>,
    /// Probability that it says what its source says.
    pub same_meaning: Option<f32>,
    /// The same, asked the other way round.
    pub reverse: Option<f32>,
    /// Which verifier it was.
    pub verifier: String,
}

/// An FE of the seed or the source, with the aligner's score where it was found.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct CarriedRecord {
    /// Name of the FE.
    pub name: String,
    /// Score of the aligner.
    pub score: Option<f32>,
}

/// As its [record](AnswerRecord): what the program prints.
impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        AnswerRecord::new(self).map_err(serde::ser::Error::custom)?.serialize(serializer)
    }
}

impl<'a> AnswerRecord<'a> {
    /// The record of an answer.
    ///
    /// # Errors
    /// When a span does not lie in the text, as in a damaged store.
    pub fn new(answer: &'a Answer) -> Result<Self, OffsetError> {
        let text = answer.sentence.text.as_str();
        let index = CharIndex::new(text);
        let set = &answer.set;
        let span = |span: Span| -> Result<[u32; 2], OffsetError> {
            let chars = index.to_chars(span)?;
            Ok([chars.start, chars.end])
        };
        let elements = answer.elements().map(|element| {
            let extent = &element.label.extent;
            Ok(ElementRecord {
                name: &element.label.name,
                rank: element.rank,
                span: extent.span().map(span).transpose()?,
                ni: if let Extent::Null(kind) = extent { Some(kind.as_str()) } else { None },
                gf: element.gf,
                pt: element.pt,
                text: extent.span().and_then(|span| span.of(text)),
            })
        });
        Ok(Self {
            release: &answer.release.name,
            id: set.id.to_string(),
            frame: &answer.frame,
            lu: &answer.lexunit,
            trigger: answer.trigger(),
            sentence: answer.sentence.id.to_string(),
            text,
            offset_unit: "codepoint",
            targets: set.targets.iter().copied().map(span).collect::<Result<_, _>>()?,
            elements: elements.collect::<Result<_, _>>()?,
            origin: set.provenance.origin().as_str(),
            status: &set.status,
            fe_status: set.fe_status.as_str(),
            document: answer.document.as_deref(),
            document_description: answer.document_description.as_deref(),
            split: answer.split.map(Split::as_str),
            generation: answer.generation().map(GenerationRecord::new),
            carrying: match &set.provenance {
                Provenance::Carried(carrying) => Some(CarryingRecord::new(carrying)),
                _ => None,
            },
            frame_fit: answer.set.provenance.fit().map(|fit| fit.probability),
            verification: answer.verification.as_ref().map(VerificationRecord::new),
            answer,
        })
    }
}

impl GenerationRecord {
    fn new(generation: &Generation) -> Self {
        Self {
            seed: generation.seed.to_string(),
            source: generation.source.to_string(),
            target: generation.target_ordinal,
            round: generation.round,
            rank: generation.rank,
            method: generation.method.as_str(),
            recipe: generation.recipe.0,
            paraphrase: generation.paraphrase_score(),
            aligner: generation.aligner,
            p: generation.filter.map(|scores| scores.precision),
            r: generation.filter.map(|scores| scores.recall),
            filter: generation.filter.map(|scores| scores.fingerprint()),
            flags: generation.flags.names(),
            elements: carried(&generation.elements),
            chain: generation.chain.iter().map(ToString::to_string).collect(),
        }
    }
}

impl CarryingRecord {
    fn new(carrying: &Carrying) -> Self {
        Self {
            generated: carrying.generated.to_string(),
            source: carrying.source.to_string(),
            aligner: carrying.aligner,
            elements: carried(&carrying.elements),
        }
    }
}

fn carried(elements: &[CarriedElement]) -> Vec<CarriedRecord> {
    let record = |of: &CarriedElement| CarriedRecord { name: of.name.clone(), score: of.score };
    elements.iter().map(record).collect()
}

impl VerificationRecord {
    fn new(of: &Verification) -> Self {
        Self {
            evokes: of.evokes,
            same_meaning: of.same_meaning,
            reverse: of.reverse.map(|reverse| reverse.score),
            verifier: of.fingerprint(),
        }
    }
}
