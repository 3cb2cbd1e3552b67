//! A lexical unit for reading and as JSON (`schema/lexunit.schema.json`).

use fnstore::database::Database;
use fnstore::model::{FeRealization, LexUnit, Release, ValencePattern};
use serde::Serialize;

use super::Outcome;
use super::frame::write_definition;
use super::output::{Format, Output, grouped};

pub(super) fn show(
    database: &Database,
    name: &str,
    output: &mut Output,
) -> anyhow::Result<Outcome> {
    let catalog = database.catalog()?;
    let lexunits = database.lexunits_by_name(name)?;
    let frames = lexunits.iter().map(|(release, lu)| catalog.frame(release.id, lu.frame));
    let frames = frames.collect::<Result<Vec<_>, _>>()?;
    if output.format_or(Format::Table) != Format::Table {
        let pairs = lexunits.iter().zip(&frames);
        let records: Vec<_> =
            pairs.map(|((release, lu), frame)| FullRecord::new(release, frame, lu)).collect();
        output.documents(&records)?;
        return Ok(Outcome::Done);
    }
    for (number, ((release, lu), frame)) in lexunits.iter().zip(&frames).enumerate() {
        if number > 0 {
            output.line("")?;
        }
        write_lexunit(release, frame, lu, output)?;
    }
    Ok(Outcome::Done)
}

fn write_lexunit(
    release: &Release,
    frame: &str,
    lu: &LexUnit,
    output: &mut Output,
) -> anyhow::Result<()> {
    let title = output.heading(&format!("{}  {frame}", lu.name));
    output.line(&format!("{title}  LU {}  {}  {}", lu.id, lu.status, release.name))?;
    write_definition(&lu.definition, 4, output)?;
    if let Some(fe) = &lu.incorporated_fe {
        output.line(&format!("    incorporates {fe}"))?;
    }
    output.line(&format!(
        "    {} sentences annotated, {} extracted",
        grouped(u64::from(lu.sentence_count.annotated)),
        grouped(u64::from(lu.sentence_count.total))
    ))?;
    if !lu.valences.governors.is_empty() {
        let words: Vec<&str> =
            lu.valences.governors.iter().map(|governor| governor.lemma.as_str()).collect();
        output.line(&format!("    governed by {}", words.join(", ")))?;
    }
    write_realizations("FEs and how they are realised", &lu.valences.realizations, output)?;
    write_realizations("FEs realised together", &lu.valences.groups, output)
}

fn write_realizations(
    title: &str,
    realizations: &[FeRealization],
    output: &mut Output,
) -> anyhow::Result<()> {
    if realizations.is_empty() {
        return Ok(());
    }
    output.line("")?;
    output.line(&output.heading(title))?;
    for realization in realizations {
        output.line(&format!("  {:>5}  {}", realization.total, realization.elements.join(", ")))?;
        for pattern in &realization.patterns {
            output.line(&format!("         {:>5}  {}", pattern.total, units(pattern)))?;
        }
    }
    Ok(())
}

/// The pattern as `FE.PT.GF`, the GF left out where nothing is expressed.
fn units(pattern: &ValencePattern) -> String {
    let units = pattern.units.iter().map(|unit| {
        let parts = [unit.fe.as_str(), unit.pt.as_str(), unit.gf.as_str()];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join(".")
    });
    units.collect::<Vec<_>>().join("  ")
}

/// An LU as JSON, as a frame lists it.
#[derive(Debug, Serialize)]
pub(super) struct LexUnitRecord<'a> {
    id: u32,
    name: &'a str,
    pos: &'static str,
    status: &'a str,
    definition: &'a str,
    incorporated_fe: Option<&'a str>,
    lexemes: Vec<LexemeRecord<'a>>,
    sem_types: Vec<u32>,
    annotated: u32,
    extracted: u32,
    created_by: &'a str,
    created: &'a str,
    in_frame_file: bool,
    has_file: bool,
}

#[derive(Debug, Serialize)]
struct LexemeRecord<'a> {
    name: &'a str,
    pos: &'static str,
    order: Option<u32>,
    headword: Option<bool>,
    break_before: Option<bool>,
}

/// An LU as JSON, with its valence tables.
#[derive(Debug, Serialize)]
struct FullRecord<'a> {
    release: &'a str,
    frame: &'a str,
    #[serde(flatten)]
    lexunit: LexUnitRecord<'a>,
    governors: Vec<GovernorRecord<'a>>,
    realizations: Vec<RealizationRecord<'a>>,
    groups: Vec<RealizationRecord<'a>>,
}

impl<'a> FullRecord<'a> {
    fn new(release: &'a Release, frame: &'a str, lu: &'a LexUnit) -> Self {
        Self {
            release: &release.name,
            frame,
            lexunit: LexUnitRecord::new(lu),
            governors: governors(lu),
            realizations: lu.valences.realizations.iter().map(RealizationRecord::new).collect(),
            groups: lu.valences.groups.iter().map(RealizationRecord::new).collect(),
        }
    }
}

#[derive(Debug, Serialize)]
struct GovernorRecord<'a> {
    kind: &'a str,
    lemma: &'a str,
    sets: Vec<String>,
}

#[derive(Debug, Serialize)]
struct RealizationRecord<'a> {
    elements: &'a [String],
    total: u32,
    patterns: Vec<PatternRecord<'a>>,
}

#[derive(Debug, Serialize)]
struct PatternRecord<'a> {
    total: u32,
    units: Vec<UnitRecord<'a>>,
    sets: Vec<String>,
}

#[derive(Debug, Serialize)]
struct UnitRecord<'a> {
    fe: &'a str,
    pt: &'a str,
    gf: &'a str,
}

impl<'a> LexUnitRecord<'a> {
    pub(super) fn new(lu: &'a LexUnit) -> Self {
        Self {
            id: lu.id.0,
            name: &lu.name,
            pos: lu.pos.as_str(),
            status: &lu.status,
            definition: &lu.definition,
            incorporated_fe: lu.incorporated_fe.as_deref(),
            lexemes: lu
                .lexemes
                .iter()
                .map(|lexeme| LexemeRecord {
                    name: &lexeme.name,
                    pos: lexeme.pos.as_str(),
                    order: lexeme.order,
                    headword: lexeme.headword,
                    break_before: lexeme.break_before,
                })
                .collect(),
            sem_types: lu.sem_types.iter().map(|id| id.0).collect(),
            annotated: lu.sentence_count.annotated,
            extracted: lu.sentence_count.total,
            created_by: &lu.created.by,
            created: &lu.created.date,
            in_frame_file: lu.listing.frame_file,
            has_file: lu.listing.lu_file,
        }
    }
}

impl<'a> RealizationRecord<'a> {
    fn new(realization: &'a FeRealization) -> Self {
        let pattern = |pattern: &'a ValencePattern| PatternRecord {
            total: pattern.total,
            units: pattern
                .units
                .iter()
                .map(|unit| UnitRecord { fe: &unit.fe, pt: &unit.pt, gf: &unit.gf })
                .collect(),
            sets: pattern.sets.iter().map(ToString::to_string).collect(),
        };
        Self {
            elements: &realization.elements,
            total: realization.total,
            patterns: realization.patterns.iter().map(pattern).collect(),
        }
    }
}

fn governors(lu: &LexUnit) -> Vec<GovernorRecord<'_>> {
    let governors = lu.valences.governors.iter().map(|governor| GovernorRecord {
        kind: &governor.kind,
        lemma: &governor.lemma,
        sets: governor.sets.iter().map(ToString::to_string).collect(),
    });
    governors.collect()
}
