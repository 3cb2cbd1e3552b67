//! Shards that are merged together: their order, and what they must have in common.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::manifest::Manifest;
use super::shard_run::require_same_seeds;
use super::{ExpandError, Result};
use crate::database::Database;

/// A shard's file, and what it is of.
pub type ShardFile = (PathBuf, Manifest);

/// The shards of files in the order in which they are taken: later rounds build on earlier ones.
/// Manifests among the files are left out, as `shards/*` names both. Unless they may be `mixed`,
/// shards of one query and number of parts are of one recipe and of the same seeds: together they
/// would not be what one run gives.
///
/// # Errors
/// One of each file that is wrong, or that there are several recipes or states of a store.
pub fn read_shards(
    files: &[PathBuf],
    mixed: bool,
) -> std::result::Result<Vec<ShardFile>, Vec<ExpandError>> {
    let is_manifest = |file: &PathBuf| files.iter().any(|shard| Manifest::place(shard) == *file);
    let (mut shards, mut wrong) = (Vec::new(), Vec::new());
    for file in files.iter().filter(|file| !is_manifest(file)) {
        match Manifest::verified(file) {
            Ok(manifest) => shards.push((file.clone(), manifest)),
            Err(error) => wrong.push(error),
        }
    }
    if !wrong.is_empty() {
        return Err(wrong);
    }
    shards.sort_by_key(|(_, manifest)| manifest.rounds);
    if !mixed {
        require_one_origin(&shards).map_err(|error| vec![error])?;
    }
    Ok(shards)
}

fn require_one_origin(shards: &[ShardFile]) -> Result<()> {
    let mut first: BTreeMap<(&str, &str, u32, u16), &ShardFile> = BTreeMap::new();
    for shard @ (file, manifest) in shards {
        let of = (&*manifest.release, &*manifest.query, manifest.shard.of, manifest.rounds);
        let (before, other) = *first.entry(of).or_insert(shard);
        let differs = match () {
            () if other.recipe != manifest.recipe => "recipes",
            () if other.all_seeds != manifest.all_seeds => "seeds: the store was edited in between",
            () => continue,
        };
        let reason = format!(
            "and `{}` are shards of one query by different {differs}; compute those of one anew, or \
             take them as mixed ones",
            file.display()
        );
        return Err(ExpandError::Shard { file: before.clone(), reason });
    }
    Ok(())
}

/// Refuses shards whose query finds other seeds in a database.
///
/// # Errors
/// When the seeds differ, or a query cannot be answered.
pub fn require_seeds_of_shards(database: &Database, shards: &[ShardFile]) -> Result<()> {
    // Shards of one expansion have the same seeds.
    let mut checked = BTreeSet::new();
    for (file, manifest) in shards {
        let Manifest { release, query, all_seeds, .. } = manifest;
        if checked.insert((release, query, all_seeds)) {
            require_same_seeds(database, file, manifest)?;
        }
    }
    Ok(())
}
