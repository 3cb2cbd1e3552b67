//! How far the shards of a folder are: by the manifests of those that are whole, and by what each
//! task notes beside the lines of the one that it computes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::manifest::{MANIFEST, Manifest, Shard, with_ending};
use super::shard_lock::is_locked;
use super::{ExpandError, Result};
use crate::model::named;

/// Time between two notes of a task: often enough for whoever looks, and little for a shared disk.
const PAUSE: Duration = Duration::from_secs(10);
/// What the name of a note ends with, behind that of the lines.
const NOTE: &str = ".part.json";

/// What a task says of the shard that it computes.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Note {
    /// What the shard will be; its seeds and sets are those that are through.
    manifest: Manifest,
    /// Seeds of the shard: those that the store did not have through.
    seeds: u64,
    /// Seeds that were through when the task began.
    before: u64,
    /// When the task began, in seconds since 1970.
    began: u64,
    /// When this was noted, in seconds since 1970.
    noted: u64,
}

/// Keeps the note of a shard that is computed.
pub(super) struct NoteKeeper {
    place: PathBuf,
    note: Note,
    last: Instant,
}

impl NoteKeeper {
    /// Begins the note of a shard of so many seeds, some seeds and sets of which are through.
    pub(super) fn begin(part: &Path, manifest: Manifest, seeds: u64) -> Self {
        let (before, now) = (manifest.seeds, seconds_now());
        let note = Note { manifest, seeds, before, began: now, noted: now };
        let keeper = Self { place: with_ending(part, ".json"), note, last: Instant::now() };
        keeper.write();
        keeper
    }

    /// So many seeds and sets are through. That is noted now and then, or at once.
    pub(super) fn through(&mut self, seeds: u64, sets: u64, at_once: bool) {
        if at_once || self.last.elapsed() >= PAUSE {
            (self.note.manifest.seeds, self.note.manifest.sets) = (seeds, sets);
            (self.note.noted, self.last) = (seconds_now(), Instant::now());
            self.write();
        }
    }

    /// The shard is whole, and its manifest says all.
    pub(super) fn end(self) {
        let _ = fs::remove_file(&self.place);
    }

    /// Nobody but who looks needs the note: one that cannot be written ends no task.
    fn write(&self) {
        let passing = with_ending(&self.place, ".new");
        let text = serde_json::to_vec(&self.note).unwrap_or_default();
        let _ = fs::write(&passing, text).and_then(|()| fs::rename(&passing, &self.place));
    }
}

fn seconds_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

named! {
    /// How far a shard is.
    pub enum ShardState {
        /// It is whole.
        Done => "done",
        /// A process of this machine, or of one that shares its locks, computes it.
        Running => "running",
        /// It was begun, and nobody is seen to compute it.
        Stopped => "stopped",
        /// There is nothing of it.
        Missing => "missing",
        /// Its file is not the one that its manifest describes.
        Damaged => "damaged",
    }
}

/// How far one shard is.
#[derive(Debug, Clone, PartialEq)]
pub struct ShardStatus {
    /// Which one.
    pub shard: Shard,
    /// How far.
    pub state: ShardState,
    /// Its file, also one that is to come; `None` where there is nothing of it.
    pub file: Option<PathBuf>,
    /// Its seeds: those that the store did not have through all rounds.
    pub seeds: u64,
    /// Those that are through.
    pub seeds_done: u64,
    /// Sets that are written.
    pub sets: u64,
    /// How long ago its task noted that, where it is not whole.
    pub noted: Option<Duration>,
    /// Seeds a second of its task.
    rate: f64,
}

/// How far the shards of one expansion are.
#[derive(Debug, Clone, PartialEq)]
pub struct ShardsStatus {
    /// Name of the release.
    pub release: String,
    /// The query of the seeds.
    pub query: String,
    /// Fingerprint of the recipe.
    pub recipe: String,
    /// Rounds that each seed goes through.
    pub rounds: u16,
    /// All its shards in order, also those that are missing.
    pub shards: Vec<ShardStatus>,
}

impl ShardsStatus {
    /// How many are so far.
    #[must_use]
    pub fn count(&self, state: ShardState) -> u64 {
        self.shards.iter().filter(|shard| shard.state == state).count() as u64
    }

    /// A sum over all shards.
    #[must_use]
    pub fn sum(&self, of: impl Fn(&ShardStatus) -> u64) -> u64 {
        self.shards.iter().map(of).sum()
    }

    /// How long all seeds that are left take if as many tasks go on as run now; `None` where none
    /// runs that has been seen to come on.
    #[must_use]
    pub fn time_left(&self) -> Option<Duration> {
        let running =
            || self.shards.iter().filter(|of| of.state == ShardState::Running && of.rate > 0.0);
        let rate: f64 = running().map(|of| of.rate).sum();
        if rate <= 0.0 {
            return None;
        }
        let left = |of: &ShardStatus| of.seeds.saturating_sub(of.seeds_done);
        let shared = self.sum(left) as f64 / rate;
        // No other task helps the slowest one.
        let slowest = running().map(|of| left(of) as f64 / of.rate).fold(0.0, f64::max);
        Duration::try_from_secs_f64(shared.max(slowest)).ok()
    }
}

/// What stands in folders for shards.
#[derive(Debug, Default)]
pub struct FoundShards {
    /// By expansion.
    pub expansions: Vec<ShardsStatus>,
    /// Manifests and notes that say nothing, with what is wrong.
    pub unreadable: Vec<ExpandError>,
}

/// How far the shards in folders are, or those of files: by their manifests, and by what tasks have
/// noted. A file is as large as its manifest says, or damaged; its content is looked at only where
/// that is asked for, since it takes as long as reading it.
///
/// # Errors
/// When a folder cannot be read.
pub fn shards_in(places: &[PathBuf], reads_files: bool) -> Result<FoundShards> {
    let mut found = FoundShards::default();
    let mut expansions: BTreeMap<Expansion, Known> = BTreeMap::new();
    for file in notes_in(places)? {
        match looked_at(&file, reads_files) {
            Ok((manifest, status)) => {
                let of_expansion = expansions.entry(Expansion::of(&manifest)).or_default();
                // Shards that were merged meanwhile are no longer left in the store.
                of_expansion.left = of_expansion.left.max(manifest.left_in_all);
                let other = of_expansion.there.get(&status.shard.number);
                // Of two files of one shard the one that is further counts.
                if other.is_none_or(|other| status.state < other.state) {
                    of_expansion.there.insert(status.shard.number, status);
                }
            }
            // A task that just ended has no note any more.
            Err(_) if !file.exists() => {}
            Err(error) => found.unreadable.push(error),
        }
    }
    found.expansions = expansions.into_iter().map(|(of, there)| of.with(there)).collect();
    Ok(found)
}

/// What is known of the shards of an expansion.
#[derive(Debug, Default)]
struct Known {
    /// By number.
    there: BTreeMap<u32, ShardStatus>,
    /// Seeds of all shards.
    left: u64,
}

/// What shards belong together by.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Expansion {
    release: String,
    query: String,
    recipe: String,
    rounds: u16,
    all_seeds: String,
    of: u32,
}

impl Expansion {
    fn of(manifest: &Manifest) -> Self {
        let Manifest { release, query, recipe, rounds, all_seeds, shard, .. } = manifest;
        Self {
            release: release.clone(),
            query: query.clone(),
            recipe: recipe.clone(),
            rounds: *rounds,
            all_seeds: all_seeds.clone(),
            of: shard.of,
        }
    }

    fn with(self, Known { mut there, left }: Known) -> ShardsStatus {
        let Self { release, query, recipe, rounds, of, .. } = self;
        // What the others leave is spread over those that are missing.
        let elsewhere = there.values().map(|of| of.seeds).sum();
        let seeds = left.saturating_sub(elsewhere);
        let missing = (1..=of).filter(|number| !there.contains_key(number));
        let missing: Vec<u32> = missing.collect();
        let parts = missing.len() as u32;
        let share = |at: u32| Shard { number: at + 1, of: parts }.seeds_of(seeds);
        let mut shares: BTreeMap<u32, u64> =
            missing.into_iter().zip((0..parts).map(share)).collect();
        let shard = |number| {
            there.remove(&number).unwrap_or_else(|| ShardStatus {
                shard: Shard { number, of },
                state: ShardState::Missing,
                file: None,
                seeds: shares.remove(&number).unwrap_or_default(),
                seeds_done: 0,
                sets: 0,
                noted: None,
                rate: 0.0,
            })
        };
        let shards = (1..=of).map(shard).collect();
        ShardsStatus { release, query, recipe, rounds, shards }
    }
}

/// The manifests and notes of folders, and those of files.
fn notes_in(places: &[PathBuf]) -> Result<BTreeSet<PathBuf>> {
    let mut all = BTreeSet::new();
    for place in places {
        let (folder, begins) = match place.is_dir() {
            true => (place.as_path(), String::new()),
            false => {
                let name = place.file_name().unwrap_or_default().to_string_lossy().into_owned();
                (place.parent().unwrap_or(Path::new("")), format!("{name}."))
            }
        };
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        for entry in fs::read_dir(folder).map_err(|source| ExpandError::file(folder, source))? {
            let entry = entry.map_err(|source| ExpandError::file(folder, source))?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with(&begins) && (name.ends_with(MANIFEST) || name.ends_with(NOTE)) {
                all.insert(entry.path());
            }
        }
    }
    Ok(all)
}

/// What a manifest or a note says of its shard.
fn looked_at(place: &Path, reads_files: bool) -> Result<(Manifest, ShardStatus)> {
    let text = place.to_string_lossy().into_owned();
    if let Some(file) = text.strip_suffix(MANIFEST) {
        let file = PathBuf::from(file);
        let manifest = Manifest::read(&file)?;
        let is_whole = match reads_files {
            true => Manifest::verified(&file).is_ok(),
            false => file.metadata().is_ok_and(|there| there.len() == manifest.bytes),
        };
        let state = if is_whole { ShardState::Done } else { ShardState::Damaged };
        let done = |count: u64| if is_whole { count } else { 0 };
        let status = ShardStatus {
            shard: manifest.shard,
            state,
            seeds: manifest.seeds,
            seeds_done: done(manifest.seeds),
            sets: done(manifest.sets),
            file: Some(file),
            noted: None,
            rate: 0.0,
        };
        return Ok((manifest, status));
    }
    let read = fs::read(place).map_err(|source| ExpandError::file(place, source))?;
    let Note { manifest, seeds, before, began, noted } =
        serde_json::from_slice(&read).map_err(|error| ExpandError::Shard {
            file: place.to_owned(),
            reason: format!("is no note of a task: {error}"),
        })?;
    if !manifest.shard.is_one() {
        let reason = "is no note of a task: there is no such shard".to_owned();
        return Err(ExpandError::Shard { file: place.to_owned(), reason });
    }
    let lines = PathBuf::from(text.trim_end_matches(".json"));
    let state = if is_locked(&lines) { ShardState::Running } else { ShardState::Stopped };
    let took = noted.saturating_sub(began) as f64;
    let made = manifest.seeds.saturating_sub(before) as f64;
    let status = ShardStatus {
        shard: manifest.shard,
        state,
        seeds,
        seeds_done: manifest.seeds,
        sets: manifest.sets,
        // Behind its name stand eight digits that tell queries apart.
        file: lines.with_extension("").with_extension("").into(),
        noted: Some(Duration::from_secs(seconds_now().saturating_sub(noted))),
        rate: if took > 0.0 { made / took } else { 0.0 },
    };
    Ok((manifest, status))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shard(number: u32, state: ShardState, (done, seeds): (u64, u64), rate: f64) -> ShardStatus {
        ShardStatus {
            shard: Shard { number, of: 4 },
            state,
            file: None,
            seeds,
            seeds_done: done,
            sets: 2 * done,
            noted: None,
            rate,
        }
    }

    #[test]
    fn the_rest_takes_as_long_as_the_tasks_that_run_take_for_all_of_it() {
        let status = |shards| ShardsStatus {
            release: "r".to_owned(),
            query: "q".to_owned(),
            recipe: "0".to_owned(),
            rounds: 3,
            shards,
        };
        let mut all = status(vec![
            shard(1, ShardState::Done, (10, 10), 0.0),
            shard(2, ShardState::Running, (5, 10), 0.5),
            shard(3, ShardState::Running, (2, 10), 0.5),
            shard(4, ShardState::Missing, (0, 9), 0.0),
        ]);
        assert_eq!(all.time_left(), Some(Duration::from_secs(22)));
        assert_eq!((all.sum(|of| of.sets), all.count(ShardState::Running)), (34, 2));
        all.shards[1].rate = 0.1;
        assert_eq!(all.time_left(), Some(Duration::from_secs(50)));
        let none = status(vec![shard(1, ShardState::Stopped, (5, 10), 0.5)]);
        assert_eq!(none.time_left(), None);
    }

    #[test]
    fn parts_have_all_seeds_between_them() {
        for (seeds, of) in [(10, 3), (2, 4), (0, 2), (16, 16)] {
            let parts = (1..=of).map(|number| {
                let shard = Shard { number, of };
                let taken = (0..seeds).filter(|place| shard.takes(*place)).count() as u64;
                assert_eq!(shard.seeds_of(seeds), taken, "{shard:?}");
                taken
            });
            assert_eq!(parts.sum::<u64>(), seeds);
        }
    }
}
