//! What earlier rounds gave that a shard builds on, where a store lacks it.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use serde::Deserialize;

use super::ExpandError;
use super::manifest::Manifest;
use crate::database::{Database, DatabaseError};
use crate::exchange::jsonl::LineKind;
use crate::exchange::{ExchangeError, FaultCode};
use crate::model::{AnnotationSetId, ReleaseId};

/// Seeds that a message names.
const NAMED: usize = 3;

/// Of a line what says which sets there are, and which there must be.
#[derive(Deserialize)]
struct Line {
    kind: LineKind,
    id: Option<serde_json::Value>,
    seed: Option<String>,
    #[serde(default)]
    chain: Vec<String>,
}

/// What an import of a shard says, with the shards that are to be merged before it where it lacks
/// sets of earlier rounds.
pub(super) fn explained(
    database: &Database,
    (file, manifest): (&Path, &Manifest),
    error: DatabaseError,
) -> ExpandError {
    let is_of_chain = matches!(
        &error,
        DatabaseError::Exchange(ExchangeError::Field {
            code: FaultCode::Missing | FaultCode::BaseLacks,
            field,
            ..
        }) if field.ends_with("chain")
    );
    let seeds = match is_of_chain {
        true => seeds_without(database, file, manifest).unwrap_or_default(),
        false => Vec::new(),
    };
    if seeds.is_empty() {
        return error.into();
    }
    let named = seeds.iter().take(NAMED).map(ToString::to_string);
    ExpandError::RoundsBefore {
        file: file.to_owned(),
        manifest: Box::new(manifest.clone()),
        named: named.collect(),
        seeds: seeds.len() as u64,
    }
}

/// The seeds of a shard whose earlier sets neither its file nor the store has; `None` where that
/// cannot be read.
fn seeds_without(
    database: &Database,
    file: &Path,
    manifest: &Manifest,
) -> Option<Vec<AnnotationSetId>> {
    let releases = database.releases().ok()?;
    let release = releases.into_iter().find(|known| known.name == manifest.release)?.id;
    let lines = BufReader::new(zstd::Decoder::new(File::open(file).ok()?).ok()?);
    let (mut there, mut chains) = (HashSet::new(), Vec::new());
    for line in lines.lines() {
        let line: Line = serde_json::from_str(&line.ok()?).ok()?;
        match line.kind {
            LineKind::Set => {
                there.extend(line.id.and_then(|id| AnnotationSetId::parse(id.as_str()?)));
            }
            LineKind::Journal => {
                chains.extend(line.seed.as_deref().and_then(AnnotationSetId::parse).map(|seed| {
                    let sets = line.chain.iter().filter_map(|set| AnnotationSetId::parse(set));
                    (seed, sets.collect::<Vec<_>>())
                }));
            }
            _ => {}
        }
    }
    let is_lacking = |set: &AnnotationSetId| !there.contains(set) && !has(database, release, *set);
    chains.retain(|(_, sets)| sets.iter().any(is_lacking));
    Some(chains.into_iter().map(|(seed, _)| seed).collect())
}

fn has(database: &Database, release: ReleaseId, set: AnnotationSetId) -> bool {
    database.store().set_location(release, set).is_ok_and(|place| place.is_some())
}
