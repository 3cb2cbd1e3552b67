//! A run over a part of the seeds, into a file.

use std::ops::ControlFlow;
use std::path::Path;

use super::destination::Destination;
use super::loaded_models::LoadedModels;
use super::run::run_into;
use super::seeds::human_sets;
use super::shard::{Manifest, Plan, Shard, ShardWriter};
use super::status::{UNKNOWN, known};
use super::{ExpandError, ExpansionProgress, Followed, Recipe, Report, Result, RunOptions};
use crate::database::{Database, DatabaseError, ExportError};
use crate::exchange::jsonl::LineKind;
use crate::model::{Release, from_hexadecimal, hexadecimal};
use crate::query::{Expression, Selection};

/// Expands a part of the seeds of one release from a store that nobody writes, into a file, with a
/// manifest beside it; several processes do so beside each other. A part that is there is not
/// computed again, one that was cut resumes. `None` where the run was interrupted.
///
/// # Errors
/// As [`run`](super::run); when the seeds belong to several releases, or there is a file of another
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
    let Some((release, all_seeds)) = seeds_of(database, &human)? else {
        return Err(ExpandError::NoSeeds { query: expression.to_string() });
    };
    let plan = Plan {
        file,
        shard,
        query: &expression.to_string(),
        all_seeds,
        revision: database.store().revision()?,
        rounds: options.rounds,
        recipe: (id, fingerprint, &description),
    };
    if let Some(there) = plan.finished(&release)? {
        return Ok((Some(there), None));
    }
    let shard = Destination::Shard(Box::new(ShardWriter::begin(database, release, &plan)?));
    let followed = Followed { id, recipe, options };
    let (report, shard) = run_into(database, (&human, followed), &mut models, shard, progress)?;
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
/// As [`Database::import_jsonl`].
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
/// As [`Database::import_jsonl`].
pub fn merge_shard_again(database: &Database, file: &Path, manifest: &Manifest) -> Result<u64> {
    let import = database.import_jsonl(file, None, &mut |_| {})?;
    if let Some(digest) = &from_hexadecimal(&manifest.blake3) {
        database.store().note_merged(import.release.id, digest)?;
    }
    Ok(import.written.get(&LineKind::Set).copied().unwrap_or(0))
}

/// The BLAKE3 of the ids of all seeds, and how many they are.
type Seeds = (String, u64);

/// The release of all sets for which an expression holds, and what they are; `None` where there are
/// none.
fn seeds_of(database: &Database, expression: &Expression) -> Result<Option<(Release, Seeds)>> {
    let (mut names, mut seeds) = (Vec::new(), 0);
    let mut last = None;
    let mut ids = blake3::Hasher::new();
    for found in database.matches(expression, &Selection::default())? {
        let found = found?;
        seeds += 1;
        ids.update(&found.set().id.bits().to_be_bytes());
        let release = found.release();
        if last == Some(release) {
            continue;
        }
        last = Some(release);
        names.extend(database.releases()?.into_iter().filter(|known| known.id == release));
    }
    match names.len() {
        0 => Ok(None),
        1 => Ok(Some((names.remove(0), (hexadecimal(ids.finalize().as_bytes()), seeds)))),
        _ => {
            let names = names.into_iter().map(|release| release.name).collect();
            Err(DatabaseError::Export(ExportError::SeveralReleases { names }).into())
        }
    }
}
