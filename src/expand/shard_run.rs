//! A run over a part of the seeds, into a file.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::Path;

use super::destination::Destination;
use super::loaded_models::LoadedModels;
use super::manifest::{Manifest, Shard};
use super::run::{at_once, run_into};
use super::seed::TARGET;
use super::seeds::human_sets;
use super::shard::{Plan, ShardWriter};
use super::shard_before::explained;
use super::status::{UNKNOWN, known};
use super::{
    EndReason, ExpandError, ExpansionProgress, Followed, Recipe, Report, Result, RunOptions,
};
use crate::database::{Database, DatabaseError, ExportError};
use crate::exchange::jsonl::LineKind;
use crate::lexicon::content_hash;
use crate::model::{
    ACCEPTED, AnnotationSetId, PROPOSED, Release, ReleaseId, from_hexadecimal, hexadecimal,
};
use crate::query::{Expression, Selection, quoted};

/// Expands a part of the seeds of one release from a store that nobody writes, into a file, with a
/// manifest beside it; several processes do so beside each other. A part that is there is not
/// computed again, one that was cut resumes. `None` where the run was interrupted.
///
/// # Errors
/// As `run`; when the seeds belong to several releases, or there is a file of another
/// recipe or query.
pub fn run_shard(
    database: &Database,
    (expression, recipe, options): (&Expression, &Recipe, &RunOptions),
    (shard, file): (Shard, &Path),
    progress: &mut dyn FnMut(&ExpansionProgress) -> ControlFlow<()>,
) -> Result<(Option<Manifest>, Option<Report>)> {
    let human = human_sets(expression);
    drop(database.query(&human)?);
    let mut models = LoadedModels::open((recipe, options))?;
    let (fingerprint, description) = (models.fingerprint(), models.description.clone());
    let id = known(database, &models)?.unwrap_or(UNKNOWN);
    let store = database.store();
    let is_left = |release: ReleaseId, seed: AnnotationSetId| -> Result<bool> {
        let Some(entry) = store.journal(release, seed, TARGET, id)? else { return Ok(true) };
        let is_ended = entry.end.as_deref().and_then(EndReason::parse).is_some();
        Ok(!is_ended && entry.round < options.rounds)
    };
    let (mut left_in_all, mut left) = (0, 0);
    let found = seeds_of(database, &human, &mut |place, release, seed| {
        let counts = u64::from(is_left(release, seed)?);
        left_in_all += counts;
        left += if shard.takes(place) { counts } else { 0 };
        Ok(())
    })?;
    let Some((release, all_seeds)) = found else {
        return Err(ExpandError::NoSeeds { query: expression.to_string() });
    };
    let plan = Plan {
        file,
        shard,
        query: &expression.to_string(),
        all_seeds,
        left: (left_in_all, left),
        revision: database.store().revision()?,
        rounds: options.rounds,
        recipe: (id, fingerprint, &description),
    };
    if let Some(there) = plan.finished(&release)? {
        return Ok((Some(there), None));
    }
    let shard = Destination::Shard(Box::new(ShardWriter::begin(database, release, &plan)?));
    let followed = Followed { id, recipe, options };
    let (report, shard) =
        run_into(database, (&human, followed), &mut models, shard, &mut at_once(progress))?;
    match shard {
        Destination::Shard(writer) if !report.interrupted && !report.out_of_budget => {
            Ok((Some(writer.finish()?), Some(report)))
        }
        Destination::Shard(mut writer) => {
            writer.note(true);
            Ok((None, Some(report)))
        }
        _ => Ok((None, Some(report))),
    }
}

/// Takes a shard into a database, all of it or nothing. Gives how many sets the database did not
/// have; `None` for one that was merged before, if nothing was removed since: it is not read.
///
/// # Errors
/// As [`Database::import_jsonl`], and where the database lacks what earlier rounds gave to seeds of
/// the shard.
pub fn merge_shard(database: &Database, file: &Path, manifest: &Manifest) -> Result<Option<u64>> {
    let store = database.store();
    let digest = from_hexadecimal(&manifest.blake3);
    let named = database.releases()?.into_iter().find(|known| known.name == manifest.release);
    if let (Some(release), Some(digest)) = (&named, &digest)
        && store.has_merged(release.id, digest)?
    {
        return Ok(None);
    }
    merge_shard_again(database, file, manifest).map(Some)
}

/// As [`merge_shard`], and reads a shard that was merged before, too: rows may be lost since.
///
/// # Errors
/// As [`merge_shard`].
pub fn merge_shard_again(database: &Database, file: &Path, manifest: &Manifest) -> Result<u64> {
    let import = database
        .import_jsonl(file, None, &mut |_| {})
        .map_err(|error| explained(database, (file, manifest), error))?;
    if let Some(digest) = &from_hexadecimal(&manifest.blake3) {
        database.store().note_merged(import.release.id, digest)?;
    }
    Ok(import.written.get(&LineKind::Set).copied().unwrap_or(0))
}

/// Refuses a shard whose query finds other seeds in a database than where it was computed, or seeds
/// that were edited since.
///
/// # Errors
/// When the seeds differ, or the query cannot be answered.
pub fn require_same_seeds(database: &Database, file: &Path, manifest: &Manifest) -> Result<()> {
    let Manifest { release, query, all_seeds, seeds_in_all, .. } = manifest;
    if !database.releases()?.iter().any(|known| known.name == *release) {
        // The import says that it is missing.
        return Ok(());
    }
    let query = query.parse::<Expression>().map_err(|error| ExpandError::Shard {
        file: file.to_owned(),
        reason: format!("has a manifest whose query cannot be read: {error}"),
    })?;
    let of_release = format!("release={}", quoted(release));
    let of_release = of_release.parse().expect("a name in quotes is read back");
    let seeds = human_sets(&Expression::conjunction([query, of_release]));
    let found = seeds_of(database, &seeds, &mut |_, _, _| Ok(()))?;
    let (found, count) = found.map_or_else(|| (digest(&blake3::Hasher::new()), 0), |(_, of)| of);
    match found == *all_seeds {
        true => Ok(()),
        false => Err(ExpandError::OtherSeeds {
            file: file.to_owned(),
            query: manifest.query.clone(),
            expected: *seeds_in_all,
            found: count,
        }),
    }
}

/// The BLAKE3 of all seeds, and how many they are.
type Seeds = (String, u64);

/// Told of a seed its place among all, its release and its id.
type OnSeed<'a> = dyn FnMut(u64, ReleaseId, AnnotationSetId) -> Result<()> + 'a;

fn digest(seeds: &blake3::Hasher) -> String {
    hexadecimal(seeds.finalize().as_bytes())
}

/// The release of all sets for which an expression holds, and what they are; `None` where there are
/// none. What they are is their ids, their text and annotation, and the LUs of their frames that no
/// expansion proposed: what is edited of these makes other outputs.
fn seeds_of(
    database: &Database,
    expression: &Expression,
    on_seed: &mut OnSeed<'_>,
) -> Result<Option<(Release, Seeds)>> {
    let (mut names, mut seeds) = (Vec::new(), 0);
    let mut last = None;
    let mut hasher = blake3::Hasher::new();
    let mut frames = HashSet::new();
    for found in database.matches(expression, &Selection::default())? {
        let found = found?;
        let (release, seed) = (found.release(), found.set().id);
        on_seed(seeds, release, seed)?;
        seeds += 1;
        hasher.update(&seed.bits().to_be_bytes());
        let (set, text) = (found.set(), found.text()?.unwrap_or_default());
        let (frame, lu) = (set.frame.to_string(), set.lu.to_string());
        hasher.update(&content_hash(set, &text, (&frame, &lu)).to_be_bytes());
        if frames.insert((release, set.frame)) {
            for lu in database.store().lexunits_of(release, set.frame)? {
                let lu = lu?;
                if ![PROPOSED, ACCEPTED].contains(&lu.status.as_str()) {
                    hasher.update(&(lu.name.len() as u64).to_be_bytes());
                    hasher.update(lu.name.as_bytes());
                }
            }
        }
        if last == Some(release) {
            continue;
        }
        last = Some(release);
        names.extend(database.releases()?.into_iter().filter(|known| known.id == release));
    }
    match names.len() {
        0 => Ok(None),
        1 => Ok(Some((names.remove(0), (digest(&hasher), seeds)))),
        _ => {
            let names = names.into_iter().map(|release| release.name).collect();
            Err(DatabaseError::Export(ExportError::SeveralReleases { names }).into())
        }
    }
}
