//! A frame for reading and as JSON (`schema/frame.schema.json`).

use std::collections::BTreeMap;

use fnstore::database::Database;
use fnstore::lexicon::{FrameProfile, Lexicon, SetCounts};
use fnstore::model::{
    CoreType, FeId, ForeignFile, FrameElement, FrameRelation, LexUnit, LuId, PROPOSED, Positive,
    SemTypeId,
};
use fnstore::query::Pattern;
use fnstore::text::{DefinitionPart, definition_parts, plain_definition};
use serde::Serialize;

use super::foreign_content::{ForeignRecord, foreign_records, write_foreign};
use super::lexunit::{LexUnitRecord, PLACES};
use crate::cli::Outcome;
use crate::cli::options::listing::{HIDDEN_STATUS, Statuses};
use crate::cli::print::output::{Output, counted, grouped};

pub(crate) fn show(
    database: &Database,
    lexicons: &[Lexicon<'_>],
    names: &Pattern,
    statuses: &Statuses,
    output: &mut Output,
) -> anyhow::Result<Outcome> {
    let mut profiles = database.frame_profiles(names)?;
    profiles.retain(|profile| {
        lexicons.iter().any(|lexicon| lexicon.release().id == profile.release.id)
    });
    if profiles.is_empty() {
        return Outcome::nothing("nothing found");
    }
    let foreign = |profile: &FrameProfile| -> anyhow::Result<Vec<ForeignRecord>> {
        let mut of_release =
            lexicons.iter().filter(|lexicon| lexicon.release().id == profile.release.id);
        let file = ForeignFile::Frame(profile.frame.id);
        let foreign = of_release.next().map(|lexicon| lexicon.foreign(file)).transpose()?;
        Ok(foreign_records(foreign.unwrap_or_default().places))
    };
    output.shown(
        &profiles,
        |profile| Ok(FrameRecord { foreign: foreign(profile)?, ..FrameRecord::new(profile) }),
        |profile, output| {
            write_frame(profile, statuses, output)?;
            write_foreign(&foreign(profile)?, output)
        },
    )?;
    Ok(Outcome::Done)
}

fn write_frame(
    profile: &FrameProfile,
    statuses: &Statuses,
    output: &mut Output,
) -> anyhow::Result<()> {
    let frame = &profile.frame;
    let types = type_names(&frame.sem_types, &profile.sem_types);
    let types = if types.is_empty() { String::new() } else { format!("  <{}>", types.join(", ")) };
    let release = &profile.release.name;
    output.headed(&frame.name, &format!("frame {}  {release}{types}", frame.id))?;
    if !frame.has_file {
        output.line("    (annotation names this frame; the release has no file for it)")?;
    }
    write_definition(&frame.definition, 4, output)?;
    for core_type in CoreType::ALL {
        let mut of_type = frame.elements.iter().filter(|fe| fe.core_type == core_type).peekable();
        if of_type.peek().is_some() {
            output.line("")?;
            output.heading(&format!("{} FEs", core_type.as_str()))?;
        }
        of_type.try_for_each(|fe| write_element(fe, profile, output))?;
    }
    if !profile.labelled.is_empty() {
        output.line("")?;
        output.heading("FEs that annotation labels and the frame does not define")?;
        for (name, sets) in &profile.labelled {
            output.line(&format!("  {name}  in {}", counted(*sets, "set")))?;
        }
    }
    if !frame.core_sets.is_empty() {
        output.line("")?;
        output.heading("Core sets")?;
        for set in &frame.core_sets {
            output.line(&format!("  {{{}}}", fe_names(set, profile).join(", ")))?;
        }
    }
    write_relations(profile, output)?;
    write_lexunits(profile, statuses, output)
}

fn write_element(
    fe: &FrameElement,
    profile: &FrameProfile,
    output: &mut Output,
) -> anyhow::Result<()> {
    let mut line = format!("  {}", fe.name);
    if !fe.abbreviation.is_empty() && fe.abbreviation != fe.name {
        line.push_str(&format!(" [{}]", fe.abbreviation));
    }
    let types = type_names(&fe.sem_types, &profile.sem_types);
    if !types.is_empty() {
        line.push_str(&format!("  <{}>", types.join(", ")));
    }
    for (word, ids) in [("requires", &fe.requires), ("excludes", &fe.excludes)] {
        if !ids.is_empty() {
            line.push_str(&format!("  {word} {}", fe_names(ids, profile).join(", ")));
        }
    }
    output.line(&line)?;
    write_definition(&fe.definition, 6, output)
}

/// Writes a definition: its text indented, its examples two columns deeper.
pub(crate) fn write_definition(
    definition: &str,
    indent: usize,
    output: &mut Output,
) -> anyhow::Result<()> {
    for part in definition_parts(definition) {
        match part {
            DefinitionPart::Text(text) => output.paragraph(indent, &text)?,
            DefinitionPart::Example(text) => output.paragraph(indent + 2, &text)?,
        }
    }
    Ok(())
}

/// Writes the other frames of the relations, by type and by what they are in it.
fn write_relations(profile: &FrameProfile, output: &mut Output) -> anyhow::Result<()> {
    let mut others: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for relation in &profile.relations {
        let (role, name) = other_side(relation, profile);
        others.entry((&relation.kind, role)).or_default().push(name);
    }
    if others.is_empty() {
        return Ok(());
    }
    output.line("")?;
    output.heading("Relations")?;
    for ((kind, role), mut names) in others {
        names.sort_unstable();
        output.line(&format!("  {kind}, {role}: {}", names.join(", ")))?;
    }
    Ok(())
}

/// Role and name of the frame at the other end.
fn other_side<'a>(relation: &'a FrameRelation, profile: &FrameProfile) -> (&'a str, &'a str) {
    if relation.child == profile.frame.id {
        (&relation.super_role, &relation.parent_name)
    } else {
        (&relation.sub_role, &relation.child_name)
    }
}

fn write_lexunits(
    profile: &FrameProfile,
    statuses: &Statuses,
    output: &mut Output,
) -> anyhow::Result<()> {
    let FrameProfile { lexunits, sets, .. } = profile;
    if lexunits.is_empty() {
        return Ok(());
    }
    let (shown, hidden): (Vec<&LexUnit>, Vec<&LexUnit>) =
        lexunits.iter().partition(|lu| statuses.include(lu));
    let (proposed, own): (Vec<&LexUnit>, Vec<&LexUnit>) =
        shown.into_iter().partition(|lu| lu.status == PROPOSED);
    write_units("Lexical units", &own, sets, output)?;
    if !hidden.is_empty() {
        output.line(&format!(
            "  ({} of status {HIDDEN_STATUS} not listed; `--include-status {HIDDEN_STATUS}` lists)",
            hidden.len()
        ))?;
    }
    if proposed.is_empty() {
        return Ok(());
    }
    write_units("Proposed lexical units", &proposed, sets, output)
}

fn write_units(
    heading: &str,
    shown: &[&LexUnit],
    sets: &BTreeMap<LuId, SetCounts>,
    output: &mut Output,
) -> anyhow::Result<()> {
    output.line("")?;
    output.heading(heading)?;
    let name_width = shown.iter().map(|lu| lu.name.chars().count()).max().unwrap_or(0);
    let status_width = shown.iter().map(|lu| lu.status.len()).max().unwrap_or(0);
    for lu in shown {
        let counts = sets.get(&lu.id).copied().unwrap_or_default();
        let mut line = format!(
            "  {:<name_width$}  {:<status_width$}  {:>5} {}",
            lu.name,
            lu.status,
            grouped(counts.exemplar),
            if counts.exemplar == 1 { "exemplar" } else { "exemplars" },
        );
        for (origin, place) in PLACES {
            let count = counts.of(origin);
            if count > 0 {
                line.push_str(&format!("  {:>5} {place}", grouped(count)));
            }
        }
        output.line(&line)?;
    }
    Ok(())
}

fn fe_names<'a>(ids: &[FeId], profile: &'a FrameProfile) -> Vec<&'a str> {
    ids.iter().filter_map(|id| profile.frame.fe(*id)).map(|fe| fe.name.as_str()).collect()
}

fn type_names<'a>(ids: &[SemTypeId], names: &'a BTreeMap<SemTypeId, String>) -> Vec<&'a str> {
    ids.iter().filter_map(|id| names.get(id)).map(String::as_str).collect()
}

/// A frame as JSON; see `schema/frame.schema.json`.
#[derive(Debug, Serialize)]
struct FrameRecord<'a> {
    release: &'a str,
    id: u32,
    name: &'a str,
    definition: &'a str,
    definition_text: String,
    created_by: &'a str,
    created: &'a str,
    modified: &'a str,
    has_file: bool,
    sem_types: Vec<&'a str>,
    elements: Vec<ElementRecord<'a>>,
    /// FEs that annotation labels in the frame and the frame does not define, by name.
    labelled: Vec<LabelledRecord<'a>>,
    core_sets: Vec<Vec<&'a str>>,
    relations: Vec<RelationRecord<'a>>,
    lexunits: Vec<LexUnitRecord<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    foreign: Vec<ForeignRecord>,
}

#[derive(Debug, Serialize)]
struct ElementRecord<'a> {
    id: u32,
    name: &'a str,
    abbreviation: &'a str,
    core_type: CoreType,
    definition: &'a str,
    definition_text: String,
    sem_types: Vec<&'a str>,
    requires: Vec<&'a str>,
    excludes: Vec<&'a str>,
    fg: &'a str,
    bg: &'a str,
    created_by: &'a str,
    created: &'a str,
}

#[derive(Debug, Serialize)]
struct LabelledRecord<'a> {
    name: &'a str,
    sets: Positive,
}

#[derive(Debug, Serialize)]
struct RelationRecord<'a> {
    id: u32,
    kind: &'a str,
    super_role: &'a str,
    sub_role: &'a str,
    parent: &'a str,
    child: &'a str,
    /// FEs mapped onto each other: [of the super frame, of the sub frame].
    elements: Vec<[&'a str; 2]>,
}

impl<'a> FrameRecord<'a> {
    fn new(profile: &'a FrameProfile) -> Self {
        let frame = &profile.frame;
        let element = |fe: &'a FrameElement| ElementRecord {
            id: fe.id.0,
            name: &fe.name,
            abbreviation: &fe.abbreviation,
            core_type: fe.core_type,
            definition: &fe.definition,
            definition_text: plain_definition(&fe.definition),
            sem_types: type_names(&fe.sem_types, &profile.sem_types),
            requires: fe_names(&fe.requires, profile),
            excludes: fe_names(&fe.excludes, profile),
            fg: &fe.colors.fg,
            bg: &fe.colors.bg,
            created_by: &fe.created.by,
            created: &fe.created.date,
        };
        let of_lexunit = |lu: &'a LexUnit| {
            LexUnitRecord::new(lu, profile.sets.get(&lu.id).copied().unwrap_or_default())
        };
        let relation = |relation: &'a FrameRelation| RelationRecord {
            id: relation.id.0,
            kind: &relation.kind,
            super_role: &relation.super_role,
            sub_role: &relation.sub_role,
            parent: &relation.parent_name,
            child: &relation.child_name,
            elements: relation
                .elements
                .iter()
                .map(|pair| [pair.parent_name.as_str(), pair.child_name.as_str()])
                .collect(),
        };
        Self {
            release: &profile.release.name,
            id: frame.id.0,
            name: &frame.name,
            definition: &frame.definition,
            definition_text: plain_definition(&frame.definition),
            created_by: &frame.created.by,
            created: &frame.created.date,
            modified: &frame.modified,
            has_file: frame.has_file,
            sem_types: type_names(&frame.sem_types, &profile.sem_types),
            elements: frame.elements.iter().map(element).collect(),
            core_sets: frame.core_sets.iter().map(|set| fe_names(set, profile)).collect(),
            relations: profile.relations.iter().map(relation).collect(),
            labelled: profile
                .labelled
                .iter()
                .map(|(name, sets)| LabelledRecord { name, sets: *sets })
                .collect(),
            lexunits: profile.lexunits.iter().map(of_lexunit).collect(),
            foreign: Vec::new(),
        }
    }
}
