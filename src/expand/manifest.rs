//! Which part of an expansion a shard is, and what its file is of.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{ExpandError, Result};

/// What the name of a manifest ends with, behind that of its file.
pub(super) const MANIFEST: &str = ".manifest.json";

/// Most shards of an expansion.
const MOST: u32 = 1_000_000;

/// Which part of the seeds a run takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// From 1 to `of`.
    pub number: u32,
    /// Number of shards.
    pub of: u32,
}

impl Shard {
    /// Reads `3/16`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (number, of) = text.split_once('/')?;
        let shard = Self { number: number.parse().ok()?, of: of.parse().ok()? };
        shard.is_one().then_some(shard)
    }

    /// How many of so many seeds are of this part.
    pub(super) fn seeds_of(self, seeds: u64) -> u64 {
        (seeds + u64::from(self.of - self.number)) / u64::from(self.of)
    }

    pub(super) fn is_one(self) -> bool {
        (1..=self.of).contains(&self.number) && self.of <= MOST
    }

    /// Whether the seed at a place among all seeds is of this part.
    pub(super) fn takes(self, place: u64) -> bool {
        place % u64::from(self.of) == u64::from(self.number - 1)
    }
}

/// What a shard's file is of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Version of the program.
    pub fnstore: String,
    /// Name of the release.
    pub release: String,
    /// The query of the seeds.
    pub query: String,
    /// BLAKE3 of all its seeds, also of other parts, and of the LUs of their frames, 64 hexadecimal
    /// digits.
    pub all_seeds: String,
    /// How many these are.
    #[serde(default)]
    pub seeds_in_all: u64,
    /// How many of these were not through all rounds in the store.
    #[serde(default)]
    pub left_in_all: u64,
    /// Revision of the store that they were read from.
    pub revision: u64,
    /// Fingerprint of the recipe, with its models' fingerprints in it.
    pub recipe: String,
    /// Rounds that each seed is through.
    pub rounds: u16,
    /// Which part.
    pub shard: Shard,
    /// Seeds.
    pub seeds: u64,
    /// Generated sets, and those that were carried along.
    pub sets: u64,
    /// Proposed LUs.
    pub lexunits: u64,
    /// Size of the file.
    pub bytes: u64,
    /// BLAKE3 of the file, 64 hexadecimal digits.
    pub blake3: String,
}

impl Manifest {
    /// Where the manifest of a file is.
    #[must_use]
    pub fn place(file: &Path) -> PathBuf {
        with_ending(file, MANIFEST)
    }

    /// Reads the manifest of a file.
    ///
    /// # Errors
    /// When it cannot be read, or is none.
    pub(super) fn read(file: &Path) -> Result<Self> {
        let place = Self::place(file);
        let text = fs::read(&place).map_err(|source| ExpandError::file(&place, source))?;
        let refused = |reason: String| ExpandError::Shard {
            file: place.clone(),
            reason: format!("is no manifest of a shard: {reason}"),
        };
        let manifest: Self =
            serde_json::from_slice(&text).map_err(|error| refused(error.to_string()))?;
        let Shard { number, of } = manifest.shard;
        match manifest.shard.is_one() {
            true => Ok(manifest),
            false => Err(refused(format!("shard {number}/{of}, expected at most {MOST} shards"))),
        }
    }

    /// What the file is of, and no other file.
    pub(super) fn what(&self) -> String {
        let Self { release, query, recipe, rounds, shard, all_seeds, .. } = self;
        format!(
            "{release}, `{query}`, recipe {recipe}, rounds {rounds}, shard {}/{} of the seeds {}",
            shard.number,
            shard.of,
            all_seeds.get(..8).unwrap_or_default()
        )
    }

    /// Reads the manifest of a file, and checks the file against it.
    ///
    /// # Errors
    /// When one cannot be read, the manifest is none, or the file is another one.
    pub fn verified(file: &Path) -> Result<Self> {
        let manifest = Self::read(file)?;
        let (bytes, blake3) = hashed(file).map_err(|source| ExpandError::file(file, source))?;
        if (bytes, &blake3) != (manifest.bytes, &manifest.blake3) {
            let reason = format!(
                "has {bytes} bytes and the hash {blake3}; its manifest says {} and {}; compute the shard again",
                manifest.bytes, manifest.blake3
            );
            return Err(ExpandError::Shard { file: file.to_owned(), reason });
        }
        Ok(manifest)
    }
}

pub(super) fn with_ending(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Size and BLAKE3 of a file.
pub(super) fn hashed(file: &Path) -> std::io::Result<(u64, String)> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(file)?)?;
    Ok((hasher.count(), hasher.finalize().to_hex().to_string()))
}
