//! How far expansions are: by frames of a store, and by the files of their shards.

use std::collections::BTreeMap;
use std::path::PathBuf;

use fnstore::expand::{self, ShardState, ShardsStatus, shards_in};
use pyo3::prelude::*;

use crate::error::Result;

/// How far an expansion is in a frame.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct FrameProgress {
    release: String,
    frame: String,
    /// Human annotation sets that match.
    seeds: u64,
    /// Those of them that are through all rounds.
    done: u64,
    /// Those that ended before their last round, by reason.
    ended: BTreeMap<&'static str, u64>,
    /// Those that are in the middle of their rounds.
    begun: u64,
    rounds_missing: u64,
}

#[pymethods]
impl FrameProgress {
    fn __repr__(&self) -> String {
        format!("<FrameProgress {}: {} of {} sets done>", self.frame, self.done, self.seeds)
    }
}

impl From<expand::StatusRecord> for FrameProgress {
    fn from(of: expand::StatusRecord) -> Self {
        let ended = of.status.ended.into_iter();
        Self {
            release: of.release,
            frame: of.frame,
            seeds: of.status.seeds,
            done: of.status.done,
            ended: ended.map(|(reason, count)| (reason.as_str(), count)).collect(),
            begun: of.status.begun,
            rounds_missing: of.status.rounds_missing,
        }
    }
}

/// How far one shard is.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct ShardProgress {
    shard: u32,
    of: u32,
    /// done, running, stopped, missing, damaged.
    state: &'static str,
    /// Sets that are through.
    seeds_done: u64,
    seeds: u64,
    /// Sentences that are written.
    sets: u64,
    /// Seconds since its task noted that; None where no task does.
    noted_seconds_ago: Option<u64>,
    /// Its file, also one that is to come; None where there is nothing of it.
    path: Option<PathBuf>,
}

#[pymethods]
impl ShardProgress {
    fn __repr__(&self) -> String {
        let Self { shard, of, state, seeds_done, seeds, .. } = self;
        format!("<ShardProgress {shard}/{of} {state}: {seeds_done} of {seeds} sets>")
    }
}

/// The shards of one expansion.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct ShardedExpansion {
    release: String,
    query: String,
    /// Fingerprint of the recipe.
    recipe: String,
    rounds: u16,
    /// All of them in order, also those that are missing.
    shards: Vec<Py<ShardProgress>>,
    /// Seconds for all that is left, if as many tasks go on as run now; None where none is seen to
    /// come on.
    seconds_left: Option<f64>,
    /// Whether all of them are there, whole.
    is_whole: bool,
}

#[pymethods]
impl ShardedExpansion {
    /// Whether all its shards are there, whole.
    fn __bool__(&self) -> bool {
        self.is_whole
    }

    fn __repr__(&self) -> String {
        format!(
            "<ShardedExpansion {} of {}, {} shards>",
            self.query,
            self.release,
            self.shards.len()
        )
    }
}

/// Shards that are in some folders.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct FoundShards {
    expansions: Vec<Py<ShardedExpansion>>,
    /// Manifests and notes that say nothing, with what is wrong.
    unreadable: Vec<String>,
}

#[pymethods]
impl FoundShards {
    /// Whether there are some, and all are whole.
    fn __bool__(&self) -> bool {
        let are_whole = self.expansions.iter().all(|of| of.get().is_whole);
        are_whole && self.unreadable.is_empty() && !self.expansions.is_empty()
    }

    fn __repr__(&self) -> String {
        format!("<FoundShards of {} expansions>", self.expansions.len())
    }
}

/// How far shards are, in folders or of files, also while tasks compute them. With read the files
/// are read as well: one that is as long as it should be may be damaged.
#[pyfunction]
#[pyo3(signature = (*paths, read=false))]
pub(crate) fn shard_status(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    read: bool,
) -> PyResult<FoundShards> {
    let found = py.detach(|| Result::Ok(shards_in(&paths, read)?))?;
    let expansions = found.expansions.into_iter().map(|of| Py::new(py, expansion(py, of)?));
    Ok(FoundShards {
        expansions: expansions.collect::<PyResult<_>>()?,
        unreadable: found.unreadable.iter().map(ToString::to_string).collect(),
    })
}

fn expansion(py: Python<'_>, of: ShardsStatus) -> PyResult<ShardedExpansion> {
    let seconds_left = of.time_left().map(|left| left.as_secs_f64());
    let is_whole = of.count(ShardState::Done) == of.shards.len() as u64;
    let shard = |of: expand::ShardStatus| {
        let shard = ShardProgress {
            shard: of.shard.number,
            of: of.shard.of,
            state: of.state.as_str(),
            seeds_done: of.seeds_done,
            seeds: of.seeds,
            sets: of.sets,
            noted_seconds_ago: of.noted.map(|noted| noted.as_secs()),
            path: of.file,
        };
        Py::new(py, shard)
    };
    Ok(ShardedExpansion {
        release: of.release,
        query: of.query,
        recipe: of.recipe,
        rounds: of.rounds,
        shards: of.shards.into_iter().map(shard).collect::<PyResult<_>>()?,
        seconds_left,
        is_whole,
    })
}
