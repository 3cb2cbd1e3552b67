//! Lexical units with their valence tables as JSON.

use serde::{Deserialize, Serialize};

use super::annotation::NamedId;
use super::lexicon::{sem_type_ids, sem_type_numbers};
use super::{Checked, CreationRecord, Kind, set_ids, written};
use crate::exchange::error::Fault;
use crate::model::{
    FeRealization, FrameId, Governor, LexUnit, Lexeme, Listing, LuId, Pos, SentenceCount,
    ValencePattern, ValenceUnit, Valences,
};

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LexUnitRecord {
    kind: Kind,
    id: u32,
    name: String,
    frame: NamedId,
    pos: String,
    status: String,
    definition: String,
    lexemes: Vec<LexemeRecord>,
    incorporated_fe: Option<String>,
    sem_types: Vec<u32>,
    lemma_id: Option<u32>,
    created: CreationRecord,
    annotated: u32,
    extracted: u32,
    total_annotated: u32,
    subcorpora: Vec<String>,
    governors: Vec<GovernorRecord>,
    realizations: Vec<RealizationRecord>,
    groups: Vec<RealizationRecord>,
    in_frame_file: bool,
    has_file: bool,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LexemeRecord {
    name: String,
    pos: String,
    order: Option<u32>,
    headword: Option<bool>,
    break_before: Option<bool>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename = "governor", deny_unknown_fields)]
struct GovernorRecord {
    #[serde(rename = "type")]
    governor_type: String,
    lemma: String,
    sets: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RealizationRecord {
    elements: Vec<String>,
    total: u32,
    patterns: Vec<PatternRecord>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PatternRecord {
    total: u32,
    units: Vec<UnitRecord>,
    sets: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct UnitRecord {
    fe: String,
    pt: String,
    gf: String,
}

pub(super) fn pos_of(field: &str, text: &str) -> Checked<Pos> {
    let pos = Pos::parse(text);
    if pos.as_str() == text {
        return Ok(pos);
    }
    Err(Fault::value(field, text, "a part of speech of FrameNet, as in `V`, or `X` for any other"))
}

impl LexUnitRecord {
    pub(super) fn new(lexunit: LexUnit, frame_name: &str) -> Self {
        let LexUnit {
            id,
            frame,
            name,
            pos,
            status,
            definition,
            lexemes,
            incorporated_fe,
            sem_types,
            lemma_id,
            created,
            sentence_count: SentenceCount { annotated, total },
            total_annotated,
            subcorpora,
            valences: Valences { governors, realizations, groups },
            listing: Listing { frame_file, lu_file },
        } = lexunit;
        Self {
            kind: Kind::Lexunit,
            id: id.0,
            name,
            frame: NamedId { id: frame.0, name: frame_name.to_owned() },
            pos: pos.as_str().to_owned(),
            status,
            definition,
            lexemes: lexemes.into_iter().map(LexemeRecord::from).collect(),
            incorporated_fe,
            sem_types: sem_type_numbers(sem_types),
            lemma_id,
            created: created.into(),
            annotated,
            extracted: total,
            total_annotated,
            subcorpora,
            governors: governors.into_iter().map(GovernorRecord::from).collect(),
            realizations: realizations.into_iter().map(RealizationRecord::from).collect(),
            groups: groups.into_iter().map(RealizationRecord::from).collect(),
            in_frame_file: frame_file,
            has_file: lu_file,
        }
    }

    /// The LU, and the name of its frame.
    pub(super) fn into_model(self) -> Checked<(LexUnit, String)> {
        let realizations = |field: &'static str, records: Vec<RealizationRecord>| {
            let models = records.into_iter().enumerate().map(|(number, record)| {
                record.into_model().map_err(|fault| fault.inside(&format!("{field}[{number}]")))
            });
            models.collect::<Checked<Vec<_>>>()
        };
        let lexunit = LexUnit {
            id: LuId(self.id),
            frame: FrameId(self.frame.id),
            pos: pos_of("pos", &self.pos)?,
            name: self.name,
            status: self.status,
            definition: self.definition,
            lexemes: lexemes(self.lexemes)?,
            incorporated_fe: self.incorporated_fe,
            sem_types: sem_type_ids(self.sem_types),
            lemma_id: self.lemma_id,
            created: self.created.into(),
            sentence_count: SentenceCount { annotated: self.annotated, total: self.extracted },
            total_annotated: self.total_annotated,
            subcorpora: self.subcorpora,
            valences: Valences {
                governors: self
                    .governors
                    .into_iter()
                    .map(GovernorRecord::into_model)
                    .collect::<Checked<_>>()?,
                realizations: realizations("realizations", self.realizations)?,
                groups: realizations("groups", self.groups)?,
            },
            listing: Listing { frame_file: self.in_frame_file, lu_file: self.has_file },
        };
        Ok((lexunit, self.frame.name))
    }
}

impl From<Lexeme> for LexemeRecord {
    fn from(lexeme: Lexeme) -> Self {
        let Lexeme { name, pos, order, headword, break_before } = lexeme;
        Self { name, pos: pos.as_str().to_owned(), order, headword, break_before }
    }
}

impl LexemeRecord {
    fn into_model(self) -> Checked<Lexeme> {
        let Self { name, pos, order, headword, break_before } = self;
        Ok(Lexeme { name, pos: pos_of("pos", &pos)?, order, headword, break_before })
    }
}

/// The words of a lemma, in order.
pub(super) fn lexemes(records: Vec<LexemeRecord>) -> Checked<Vec<Lexeme>> {
    let lexeme = |(number, lexeme): (usize, LexemeRecord)| {
        lexeme.into_model().map_err(|fault| fault.inside(&format!("lexemes[{number}]")))
    };
    records.into_iter().enumerate().map(lexeme).collect()
}

impl From<Governor> for GovernorRecord {
    fn from(Governor { kind, lemma, sets }: Governor) -> Self {
        Self { governor_type: kind, lemma, sets: written(&sets) }
    }
}

impl GovernorRecord {
    fn into_model(self) -> Checked<Governor> {
        let sets = set_ids("governors.sets", &self.sets)?;
        Ok(Governor { kind: self.governor_type, lemma: self.lemma, sets })
    }
}

impl From<FeRealization> for RealizationRecord {
    fn from(FeRealization { elements, total, patterns }: FeRealization) -> Self {
        let pattern = |ValencePattern { total, units, sets }: ValencePattern| {
            let unit = |ValenceUnit { fe, pt, gf }: ValenceUnit| UnitRecord { fe, pt, gf };
            let units = units.into_iter().map(unit).collect();
            PatternRecord { total, units, sets: written(&sets) }
        };
        Self { elements, total, patterns: patterns.into_iter().map(pattern).collect() }
    }
}

impl RealizationRecord {
    fn into_model(self) -> Checked<FeRealization> {
        let pattern = |PatternRecord { total, units, sets }: PatternRecord| {
            let unit = |UnitRecord { fe, pt, gf }: UnitRecord| ValenceUnit { fe, pt, gf };
            let units = units.into_iter().map(unit).collect();
            Ok(ValencePattern { total, units, sets: set_ids("patterns.sets", &sets)? })
        };
        Ok(FeRealization {
            elements: self.elements,
            total: self.total,
            patterns: self.patterns.into_iter().map(pattern).collect::<Checked<_>>()?,
        })
    }
}
