//! Where sets come from, recipes, and how far chains have come, as JSON.
//!
//! A recipe's number is its store's own; in a file a recipe is known by its fingerprint.

use std::collections::HashMap;
use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::recorded::{Cost, Recorded};
use super::{Checked, LineKind, read};
use crate::exchange::error::Fault;
use crate::model::{
    AnnotationSetId, CarriedElement, Carrying, CorpusId, DocumentId, FilterScores, Flags, FrameFit,
    Generation, Judgement, LuId, Prediction, Provenance, RecipeId, Reverse, Shown, Verification,
    hexadecimal,
};

/// Fingerprints of recipes, hexadecimal, by number.
pub(super) type RecipeNames = HashMap<RecipeId, String>;

/// Where a set comes from.
#[derive(Debug, Serialize)]
#[serde(tag = "origin", rename_all = "lowercase")]
pub(super) enum ProvenanceRecord {
    Exemplar(ExemplarRecord),
    FullText(FullTextRecord),
    Imported(ImportedRecord),
    User(UserRecord),
    Generated(GenerationRecord),
    Predicted(PredictionRecord),
    Carried(CarryingRecord),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExemplarRecord {
    lu: u32,
    subcorpus: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FullTextRecord {
    corpus: u32,
    document: u32,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ImportedRecord {
    file: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UserRecord {}

impl<'de> Deserialize<'de> for ProvenanceRecord {
    /// The origin stands first where this program wrote it. Then the rest is read as what it is;
    /// serde's own way would hold all fields in between, a third of the time that a generated set
    /// takes.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct ByOrigin;

        impl<'de> Visitor<'de> for ByOrigin {
            type Value = ProvenanceRecord;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with the field `origin`")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
                let mut before = serde_json::Map::new();
                while let Some(name) = fields.next_key::<String>()? {
                    if name == ORIGIN && before.is_empty() {
                        let origin: String = fields.next_value()?;
                        return of_origin(&origin, MapAccessDeserializer::new(fields));
                    }
                    if before.contains_key(&name) {
                        return Err(A::Error::custom(format!("duplicate field `{name}`")));
                    }
                    before.insert(name, fields.next_value()?);
                }
                match before.remove(ORIGIN) {
                    Some(Value::String(origin)) => {
                        of_origin(&origin, Value::Object(before)).map_err(A::Error::custom)
                    }
                    _ => Err(A::Error::missing_field(ORIGIN)),
                }
            }
        }

        from.deserialize_map(ByOrigin)
    }
}

const ORIGIN: &str = "origin";

/// The fields of a set of that origin.
fn of_origin<'de, D: Deserializer<'de>>(
    origin: &str,
    fields: D,
) -> Result<ProvenanceRecord, D::Error> {
    Ok(match origin {
        "exemplar" => ProvenanceRecord::Exemplar(Deserialize::deserialize(fields)?),
        "fulltext" => ProvenanceRecord::FullText(Deserialize::deserialize(fields)?),
        "imported" => ProvenanceRecord::Imported(Deserialize::deserialize(fields)?),
        "user" => ProvenanceRecord::User(Deserialize::deserialize(fields)?),
        "generated" => ProvenanceRecord::Generated(Deserialize::deserialize(fields)?),
        "predicted" => ProvenanceRecord::Predicted(Deserialize::deserialize(fields)?),
        "carried" => ProvenanceRecord::Carried(Deserialize::deserialize(fields)?),
        other => {
            const KNOWN: &[&str] =
                &["exemplar", "fulltext", "imported", "user", "generated", "predicted", "carried"];
            return Err(D::Error::unknown_variant(other, KNOWN));
        }
    })
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GenerationRecord {
    seed: String,
    source: String,
    target: u16,
    round: u16,
    rank: u16,
    chain: Vec<String>,
    method: String,
    recipe: String,
    flags: Vec<String>,
    paraphrase: <Cost as Recorded>::Record,
    aligner: f32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    filter: Option<FilterRecord>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    elements: Vec<ElementRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fit: Option<FitRecord>,
}

record! {
    /// An FE of the seed, and whether the sentence has it.
    CarriedElement as ElementRecord {
        name: String,
        /// Absent where the FE was not found.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        score: Option<f32>,
    }
}

record! {
    /// What filters say of a generated set, and the fingerprint of the filter.
    FilterScores [FilterScores { precision, recall, filter }] as FilterRecord {
        p: f32 = precision,
        r: f32 = recall,
        filter: [u8; 16] = filter,
    }
}

record! {
    /// What a frame model says of a set, and its fingerprint.
    FrameFit as FitRecord { probability: f32, model: [u8; 16] }
}

record! {
    /// A frame that is likely, too.
    (String, f32) [(frame, probability)] as RunnerUpRecord {
        frame: String = frame,
        probability: f32 = probability,
    }
}

record! {
    /// How a predicted set came to be.
    Prediction as PredictionRecord { file: String, fit: FrameFit, runners_up: Vec<(String, f32)> }
}

record! {
    /// How a carried set came to be.
    Carrying as CarryingRecord {
        generated: AnnotationSetId,
        source: AnnotationSetId,
        aligner: f32,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        elements: Vec<CarriedElement>,
    }
}

impl ProvenanceRecord {
    pub(super) fn new(provenance: Provenance, recipes: &RecipeNames) -> Self {
        match provenance {
            Provenance::Exemplar { lu, subcorpus } => {
                Self::Exemplar(ExemplarRecord { lu: lu.0, subcorpus })
            }
            Provenance::FullText { corpus, document } => {
                Self::FullText(FullTextRecord { corpus: corpus.0, document: document.0 })
            }
            Provenance::Imported { file } => Self::Imported(ImportedRecord { file }),
            Provenance::User => Self::User(UserRecord {}),
            Provenance::Predicted(prediction) => Self::Predicted(prediction.into_record()),
            Provenance::Generated(made) => Self::Generated(GenerationRecord::new(*made, recipes)),
            Provenance::Carried(carrying) => Self::Carried(carrying.into_record()),
        }
    }

    pub(super) fn recipe(&self) -> Option<&str> {
        match self {
            Self::Generated(made) => Some(&made.recipe),
            _ => None,
        }
    }

    pub(super) fn into_model(self, recipe: Option<RecipeId>) -> Checked<Provenance> {
        let provenance = self.unchecked(recipe)?;
        let checked = provenance.check_ranges().map_err(Fault::from);
        checked.map_err(|fault| fault.inside("provenance"))?;
        Ok(provenance)
    }

    fn unchecked(self, recipe: Option<RecipeId>) -> Checked<Provenance> {
        Ok(match self {
            Self::Exemplar(ExemplarRecord { lu, subcorpus }) => {
                Provenance::Exemplar { lu: LuId(lu), subcorpus }
            }
            Self::FullText(FullTextRecord { corpus, document }) => {
                Provenance::FullText { corpus: CorpusId(corpus), document: DocumentId(document) }
            }
            Self::Imported(ImportedRecord { file }) => Provenance::Imported { file },
            Self::User(UserRecord {}) => Provenance::User,
            Self::Predicted(record) => {
                let prediction =
                    Prediction::from_record(record).map_err(|fault| fault.inside("provenance"))?;
                Provenance::Predicted(Box::new(prediction))
            }
            Self::Carried(record) => {
                let carrying =
                    Carrying::from_record(record).map_err(|fault| fault.inside("provenance"))?;
                Provenance::Carried(Box::new(carrying))
            }
            Self::Generated(made) => {
                let made = made.into_model(recipe).map_err(|fault| fault.inside("provenance"))?;
                Provenance::Generated(Box::new(made))
            }
        })
    }
}

impl GenerationRecord {
    fn new(made: Generation, recipes: &RecipeNames) -> Self {
        let Generation {
            seed,
            source,
            target_ordinal,
            round,
            rank,
            chain,
            method,
            recipe,
            flags,
            paraphrase,
            aligner,
            filter,
            elements,
            fit,
        } = made;
        Self {
            seed: seed.into_record(),
            source: source.into_record(),
            target: target_ordinal,
            round,
            rank,
            chain: chain.into_record(),
            method: method.into_record(),
            recipe: recipes.get(&recipe).cloned().unwrap_or_default(),
            flags: flags.into_record(),
            paraphrase: Cost(paraphrase).into_record(),
            aligner,
            filter: filter.into_record(),
            elements: elements.into_record(),
            fit: fit.into_record(),
        }
    }

    fn into_model(self, recipe: Option<RecipeId>) -> Checked<Generation> {
        Ok(Generation {
            seed: read("seed", self.seed)?,
            source: read("source", self.source)?,
            target_ordinal: self.target,
            round: self.round,
            rank: self.rank,
            chain: read("chain", self.chain)?,
            method: read("method", self.method)?,
            recipe: recipe.ok_or_else(|| {
                let expected = "the fingerprint of a recipe that stands before";
                Fault::value("recipe", &self.recipe, expected)
            })?,
            flags: read("flags", self.flags)?,
            paraphrase: read::<Cost>("paraphrase", self.paraphrase)?.0,
            aligner: self.aligner,
            filter: read("filter", self.filter)?,
            elements: read("elements", self.elements)?,
            fit: read("fit", self.fit)?,
        })
    }
}

impl Recorded for Flags {
    type Record = Vec<String>;

    fn into_record(self) -> Vec<String> {
        self.names().into_iter().map(str::to_owned).collect()
    }

    fn from_record(names: Vec<String>) -> Checked<Self> {
        let mut flags = Self::default();
        for name in &names {
            let Some((_, flag)) = flags.slots().into_iter().find(|(known, _)| known == name) else {
                let known = Self::all_names().join("`, `");
                return Err(Fault::value("", name, format!("`{known}`")));
            };
            *flag = true;
        }
        Ok(flags)
    }
}

/// A recipe of generation, see `schema/jsonl-recipe.schema.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecipeRecord {
    pub(super) kind: LineKind,
    fingerprint: String,
    /// The whole recipe, as JSON.
    pub description: String,
}

impl RecipeRecord {
    /// The record of a recipe.
    #[must_use]
    pub fn new(fingerprint: [u8; 16], description: String) -> Self {
        Self { kind: LineKind::Recipe, fingerprint: hexadecimal(&fingerprint), description }
    }

    /// Its fingerprint, hexadecimal.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.fingerprint
    }

    /// Its fingerprint.
    pub(super) fn check(&self) -> Checked<[u8; 16]> {
        read("fingerprint", self.fingerprint.clone())
    }
}

/// How far the chain of a seed's target has come under a recipe, see
/// `schema/jsonl-journal.schema.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JournalRecord {
    kind: LineKind,
    seed: String,
    target: u16,
    /// Fingerprint of the recipe.
    pub recipe: String,
    /// The last finished round.
    pub round: u16,
    /// Why the chain ended before its time.
    pub end: Option<String>,
    chain: Vec<String>,
}

impl JournalRecord {
    /// The record of how far a chain has come.
    #[must_use]
    pub fn new(
        seed: AnnotationSetId,
        target: u16,
        recipe: String,
        round: u16,
        end: Option<String>,
        chain: Vec<AnnotationSetId>,
    ) -> Self {
        let (kind, seed, chain) = (LineKind::Journal, seed.into_record(), chain.into_record());
        Self { kind, seed, target, recipe, round, end, chain }
    }

    /// Which of the seed's targets.
    #[must_use]
    pub fn target(&self) -> u16 {
        self.target
    }

    /// The seed and the sets of its chain, in order of round.
    pub(super) fn sets(&self) -> Checked<(AnnotationSetId, Vec<AnnotationSetId>)> {
        Ok((read("seed", self.seed.clone())?, read("chain", self.chain.clone())?))
    }
}

record! {
    /// What a reviewer says of a set.
    (AnnotationSetId, Judgement) [(set, Judgement { reviewer, question, score, time, note, shown })]
    as JudgementRecord of Judgement {
        set: AnnotationSetId = set,
        reviewer: String = reviewer,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        question: String = question,
        score: u8 = score,
        time: u64 = time,
        note: String = note,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shown: Option<Shown> = shown,
    }
}

record! {
    /// What a reviewer saw, and for how long.
    Shown as ShownRecord { text: String, millis: u64 }
}

record! {
    /// What a verifier says of a set.
    Verification as VerificationRecord of Verification {
        set: AnnotationSetId,
        evokes: Option<f32>,
        same_meaning: Option<f32>,
        reverse: Option<Reverse>,
        verifier: [u8; 16],
        asked: [u8; 16],
    }
}

record! {
    /// How likely a set's source is, given its text, and the fingerprint of the rewriter.
    Reverse as ReverseRecord { score: f32, tokens: u32, rewriter: [u8; 16] }
}

pub(super) fn check_verification(verification: &Verification) -> Checked<()> {
    Ok(verification.check_ranges()?)
}

pub(super) fn check_judgement(judgement: &Judgement) -> Checked<()> {
    let Judgement { reviewer, question, score, .. } = judgement;
    if *score > Judgement::BEST {
        return Err(Fault::value("score", score, "a whole number from 0 to 100"));
    }
    if reviewer.is_empty() || reviewer.contains(char::is_control) {
        return Err(Fault::value("reviewer", reviewer, "a name without control characters"));
    }
    if question.contains(char::is_control) {
        return Err(Fault::value("question", question, "a question without control characters"));
    }
    Ok(())
}
