//! Where the outputs of a run go.

use super::manifest::Shard;
use super::pace::Measurement;
use super::shard::ShardWriter;
use super::{ExpandError, Output, Result};
use crate::database::{Database, Write};
use crate::grow::{Sink, StoreSink};
use crate::model::{AnnotationSet, AnnotationSetId, Origin, ReleaseId};

/// What of a run's outputs is written.
pub(super) enum Destination {
    /// All of them, with the journal, in the store.
    Store(StoreSink),
    /// Nothing: some seeds of a part, or of all, are made to see how long they take.
    Measured(Measurement),
    /// Nothing: they are gathered, for somebody who looks at them.
    Shown(Vec<Output>),
    /// All of them, in the file of a shard.
    Shard(Box<ShardWriter>),
}

impl Destination {
    /// The part of the seeds that the run takes; `None` for all.
    pub(super) fn shard(&self) -> Option<Shard> {
        match self {
            Self::Store(_) | Self::Shown(_) => None,
            Self::Measured(measurement) => measurement.shard,
            Self::Shard(writer) => Some(writer.shard()),
        }
    }

    /// Whether it has all of a seed already.
    pub(super) fn has(&self, seed: AnnotationSetId) -> bool {
        matches!(self, Self::Shard(writer) if writer.has(seed))
    }
}

impl Sink for Destination {
    type Error = ExpandError;

    fn take(&mut self, database: &Database, release: ReleaseId, write: Write) -> Result<bool> {
        match self {
            Self::Store(store) => Ok(store.take(database, release, write)?),
            Self::Measured(_) => Ok(false),
            Self::Shown(outputs) => {
                outputs.extend(outputs_of(release, write));
                Ok(false)
            }
            Self::Shard(writer) => writer.take(database, release, write).map(|()| false),
        }
    }
}

/// The outputs of a commit: each set stands beside its sentence, and before those that were carried
/// along.
fn outputs_of(release: ReleaseId, write: Write) -> impl Iterator<Item = Output> {
    let Write { sets, sentences, lexunits, .. } = write;
    let mut sets = sets.into_iter().peekable();
    sentences.into_iter().map_while(move |sentence| {
        let set = sets.next()?;
        let is_along = |of: &AnnotationSet| of.provenance.origin() == Origin::Carried;
        let along = std::iter::from_fn(|| sets.next_if(is_along)).collect();
        let lexunit = lexunits.iter().find(|lu| (lu.frame, lu.id) == (set.frame, set.lu)).cloned();
        Some(Output { release, sentence, set, lexunit, along })
    })
}
