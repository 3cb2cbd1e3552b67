//! A narrowing of the key space in pieces, each of which takes a thread about as long.

use super::narrowed::{Narrowed, SetRows};
use crate::database::{Database, DatabaseError};
use crate::index::Hit;
use crate::store::{KeyRange, SetLocation, Store};

/// Bytes of files from which on a piece is enough.
const ENOUGH: u64 = 128 << 10;

/// Most runs of a piece: each is looked for.
const RUNS: usize = 64;

/// Sets of a piece that are read one by one.
const HITS: usize = 512;

/// A part of where answers can lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::search) enum Piece {
    /// Among the sets of these runs of keys.
    Runs(Vec<KeyRange>),
    /// Among these sets.
    Sets(Vec<Hit>),
}

impl Piece {
    /// The sets of the piece, in order of key.
    pub(in crate::search) fn sets(self, database: &Database) -> SetRows<'_> {
        let store = &database.store;
        match self {
            Self::Runs(runs) => Box::new(runs.into_iter().flat_map(move |run| -> SetRows<'_> {
                match store.sets_of_part(&run) {
                    Ok(sets) => Box::new(sets.map(|row| Ok(row?))),
                    Err(error) => Box::new(std::iter::once(Err(error.into()))),
                }
            })),
            Self::Sets(hits) => Box::new(hits.into_iter().filter_map(|hit| {
                let Hit { release, frame, lu, sentence, set } = hit;
                let found =
                    store.annotation_set_at(release, set, SetLocation { frame, lu, sentence });
                // A hit whose set is gone comes from an index that lags behind.
                found.map_err(DatabaseError::from).map(|set| Some((release, set?))).transpose()
            })),
        }
    }
}

impl Narrowed {
    /// Its pieces, in order: of all of it, or of what lies behind a set.
    pub(in crate::search) fn pieces<'s>(
        self,
        store: &'s Store,
        after: Option<Hit>,
    ) -> Box<dyn Iterator<Item = Piece> + 's> {
        let Self::Sets(mut hits) = self else {
            let after = after.map(|hit| {
                let Hit { release, frame, lu, sentence, set } = hit;
                (release, SetLocation { frame, lu, sentence }, set)
            });
            let scopes = self.scopes().into_iter();
            let mut runs =
                scopes.flat_map(move |scope| store.parts_of_sets(scope, after)).peekable();
            return Box::new(std::iter::from_fn(move || {
                let (mut piece, mut bytes) = (Vec::new(), 0);
                while piece.len() < RUNS
                    && let Some((run, more)) =
                        runs.next_if(|(_, more)| piece.is_empty() || bytes + more <= 2 * ENOUGH)
                {
                    piece.push(run);
                    bytes += more;
                    if bytes >= ENOUGH {
                        break;
                    }
                }
                (!piece.is_empty()).then_some(Piece::Runs(piece))
            }));
        };
        if let Some(after) = after {
            hits = hits.split_off(&after);
            hits.remove(&after);
        }
        let mut hits = hits.into_iter();
        Box::new(std::iter::from_fn(move || {
            let piece: Vec<Hit> = hits.by_ref().take(HITS).collect();
            (!piece.is_empty()).then_some(Piece::Sets(piece))
        }))
    }
}
