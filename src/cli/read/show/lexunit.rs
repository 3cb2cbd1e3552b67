//! A lexical unit for reading and as JSON (`schema/lexunit.schema.json`).

use fnstore::database::Database;
use fnstore::lexicon::{Lexicon, SetCounts};
use fnstore::model::{
    AnnotationSetId, FeRealization, ForeignFile, Governor, LexUnit, Lexeme, Origin, Release,
    SemTypeId, ValencePattern, ValenceUnit,
};
use fnstore::query::{BuildError, Expression, Field, Term, Test};
use serde::Serialize;

use super::foreign_content::{ForeignRecord, foreign_records, write_foreign};
use super::frame::write_definition;
use crate::cli::Outcome;
use crate::cli::options::chosen_lus::ChosenLus;
use crate::cli::options::listing::Statuses;
use crate::cli::print::linked::{LinkRecord, links_of};
use crate::cli::print::output::{Output, counted, grouped};
use crate::cli::read::valence;

pub(crate) fn show(
    database: &Database,
    lexicons: &[Lexicon<'_>],
    chosen: &ChosenLus,
    statuses: &Statuses,
    output: &mut Output,
) -> anyhow::Result<Outcome> {
    let mut found = Vec::new();
    let mut hidden = 0;
    for lexicon in lexicons {
        for (frame, lu) in chosen.find(lexicon)? {
            if chosen.include(statuses, &lu) {
                found.push((lexicon, frame, lu));
            } else {
                hidden += 1;
            }
        }
    }
    Statuses::tell_hidden(hidden);
    if found.is_empty() {
        return Outcome::nothing("nothing found");
    }
    output.shown(
        &found,
        |(lexicon, frame, lu)| {
            let foreign = foreign(lexicon, lu)?;
            let sets = lexicon.set_counts(lu.frame, lu.id)?;
            let links = links_of(database, lexicon.release().id, lu)?;
            let of = (lexicon.release(), frame.as_str());
            Ok(FullRecord { foreign, links, ..FullRecord::new(of, lu, sets) })
        },
        |(lexicon, frame, lu), output| {
            write_lexunit(lexicon, frame, lu, output)?;
            for link in links_of(database, lexicon.release().id, lu)? {
                output.line(&format!("    linked to {}", link.line()))?;
            }
            write_foreign(&foreign(lexicon, lu)?, output)
        },
    )?;
    Ok(Outcome::Done)
}

/// What the LU's file holds beside FrameNet.
fn foreign(lexicon: &Lexicon<'_>, lu: &LexUnit) -> anyhow::Result<Vec<ForeignRecord>> {
    let foreign = lexicon.foreign(ForeignFile::LexUnit(lu.frame, lu.id))?;
    Ok(foreign_records(foreign.places))
}

/// Where annotation sets of an LU are, beside its exemplars.
pub(super) const PLACES: [(Origin, &str); 6] = [
    (Origin::FullText, "in full text"),
    (Origin::Imported, "imported"),
    (Origin::User, "by users"),
    (Origin::Generated, "generated"),
    (Origin::Predicted, "predicted"),
    (Origin::Carried, "carried"),
];

fn write_lexunit(
    lexicon: &Lexicon<'_>,
    frame: &str,
    lu: &LexUnit,
    output: &mut Output,
) -> anyhow::Result<()> {
    let release = &lexicon.release().name;
    let title = format!("{}  {frame}", lu.name);
    output.headed(&title, &format!("LU {}  {}  {release}", lu.id, lu.status))?;
    write_definition(&lu.definition, 4, output)?;
    if let Some(fe) = &lu.incorporated_fe {
        output.line(&format!("    incorporates {fe}"))?;
    }
    let sets = lexicon.set_counts(lu.frame, lu.id)?;
    output.line(&format!(
        "    {}; the release states {} annotated of {} extracted",
        counted(sets.exemplar, "exemplar"),
        grouped(u64::from(lu.sentence_count.annotated)),
        counted(u64::from(lu.sentence_count.total), "sentence")
    ))?;
    for (origin, place) in PLACES {
        let count = sets.of(origin);
        if count == 0 {
            continue;
        }
        let query = query_for(lexicon, frame, lu, origin)?.to_string().replace('\'', r"'\''");
        output.line(&format!("    {} {place}: fnstore query '{query}'", grouped(count)))?;
    }
    if !lu.valences.governors.is_empty() {
        let words: Vec<&str> =
            lu.valences.governors.iter().map(|governor| governor.lemma.as_str()).collect();
        output.line(&format!("    governed by {}", words.join(", ")))?;
    }
    valence::write_tables(&lu.valences, false, output)
}

/// What finds the sets of an LU that are of an origin.
fn query_for(
    lexicon: &Lexicon<'_>,
    frame: &str,
    lu: &LexUnit,
    origin: Origin,
) -> Result<Expression, BuildError> {
    let names = [
        Term::named(Field::Release, &lexicon.release().name)?,
        Term::named(Field::Frame, frame)?,
        Term::named(Field::Lu, &lu.name)?,
        Term::new(Field::Origin, Test::Choice(origin.as_str()))?,
    ];
    Expression::all_of(names.map(Expression::Term))
}

/// An LU as JSON, as a frame lists it.
#[derive(Debug, Serialize)]
pub(crate) struct LexUnitRecord<'a> {
    id: u32,
    name: &'a str,
    pos: &'static str,
    status: &'a str,
    definition: &'a str,
    incorporated_fe: Option<&'a str>,
    lexemes: &'a [Lexeme],
    sem_types: &'a [SemTypeId],
    /// Counted, by origin.
    #[serde(flatten)]
    sets: SetCounts,
    /// Annotated sentences by what the release's files state: exemplars in FrameNet 1.5, full text
    /// as well in 1.7.
    claimed_annotated: u32,
    claimed_extracted: u32,
    created_by: &'a str,
    created: &'a str,
    in_frame_file: bool,
    has_file: bool,
}

/// An LU as JSON, with its valence tables; see `schema/lexunit.schema.json`.
#[derive(Debug, Serialize)]
struct FullRecord<'a> {
    release: &'a str,
    frame: &'a str,
    #[serde(flatten)]
    lexunit: LexUnitRecord<'a>,
    governors: &'a [Governor],
    realizations: Vec<RealizationRecord<'a>>,
    groups: Vec<RealizationRecord<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    foreign: Vec<ForeignRecord>,
    /// What it is linked to in other lexicons.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    links: Vec<LinkRecord>,
}

impl<'a> FullRecord<'a> {
    fn new((release, frame): (&'a Release, &'a str), lu: &'a LexUnit, sets: SetCounts) -> Self {
        Self {
            release: &release.name,
            frame,
            lexunit: LexUnitRecord::new(lu, sets),
            governors: &lu.valences.governors,
            realizations: realizations(&lu.valences.realizations),
            groups: realizations(&lu.valences.groups),
            foreign: Vec::new(),
            links: Vec::new(),
        }
    }
}

/// Realisations as JSON; the sets of a pattern are there when they are wanted.
#[derive(Debug, Serialize)]
pub(crate) struct RealizationRecord<'a> {
    elements: &'a [String],
    total: u32,
    patterns: Vec<PatternRecord<'a>>,
}

#[derive(Debug, Serialize)]
struct PatternRecord<'a> {
    total: u32,
    units: &'a [ValenceUnit],
    #[serde(skip_serializing_if = "Option::is_none")]
    sets: Option<&'a [AnnotationSetId]>,
}

impl<'a> LexUnitRecord<'a> {
    pub(crate) fn new(lu: &'a LexUnit, sets: SetCounts) -> Self {
        Self {
            id: lu.id.0,
            name: &lu.name,
            pos: lu.pos.as_str(),
            status: &lu.status,
            definition: &lu.definition,
            incorporated_fe: lu.incorporated_fe.as_deref(),
            lexemes: &lu.lexemes,
            sem_types: &lu.sem_types,
            sets,
            claimed_annotated: lu.sentence_count.annotated,
            claimed_extracted: lu.sentence_count.total,
            created_by: &lu.created.by,
            created: &lu.created.date,
            in_frame_file: lu.listing.frame_file,
            has_file: lu.listing.lu_file,
        }
    }
}

impl<'a> RealizationRecord<'a> {
    pub(crate) fn new(realization: &'a FeRealization, with_sets: bool) -> Self {
        let pattern = |pattern: &'a ValencePattern| PatternRecord {
            total: pattern.total,
            units: &pattern.units,
            sets: with_sets.then_some(&pattern.sets),
        };
        Self {
            elements: &realization.elements,
            total: realization.total,
            patterns: realization.patterns.iter().map(pattern).collect(),
        }
    }
}

fn realizations(realizations: &[FeRealization]) -> Vec<RealizationRecord<'_>> {
    realizations.iter().map(|realization| RealizationRecord::new(realization, true)).collect()
}
