//! A narrowing of the key space in pieces, each of which takes a thread about as long.

use std::collections::btree_set;

use super::narrowed::{Narrowed, SetRows};
use crate::database::{Database, DatabaseError};
use crate::index::Hit;
use crate::store::{KeyRange, SetLocation, SetPlace, Store};

/// Sets from which on a piece is enough, about. What is made of five hundred sets takes some
/// megabyte, and some pieces are under way at a time.
const ENOUGH: u64 = 512;

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
    /// What of the piece lies behind a set.
    pub(in crate::search) fn behind(self, last: Hit) -> Self {
        match self {
            Self::Runs(runs) => {
                let behind = |run: KeyRange| run.behind_set(place(last));
                Self::Runs(runs.into_iter().filter_map(behind).collect())
            }
            Self::Sets(mut hits) => {
                hits.retain(|hit| *hit > last);
                Self::Sets(hits)
            }
        }
    }

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

/// Where a set lies.
fn place(hit: Hit) -> SetPlace {
    let Hit { release, frame, lu, sentence, set } = hit;
    (release, SetLocation { frame, lu, sentence }, set)
}

/// The pieces of some runs of keys, in order: of all of them, or of what lies behind a set.
pub(in crate::search) fn pieces_of_runs(
    runs: &Narrowed,
    store: &Store,
    after: Option<Hit>,
) -> impl Iterator<Item = Piece> {
    let (scopes, after) = (runs.scopes().into_iter(), after.map(place));
    let enough = store.bytes_of_sets(ENOUGH);
    let most = 2 * enough;
    let mut runs = scopes.flat_map(move |scope| store.parts_of_sets(scope, after, most)).peekable();
    std::iter::from_fn(move || {
        let (mut piece, mut bytes) = (Vec::new(), 0);
        while piece.len() < RUNS
            && let Some((run, more)) =
                runs.next_if(|(_, more)| piece.is_empty() || bytes + more <= most)
        {
            piece.push(run);
            bytes += more;
            if bytes >= enough {
                break;
            }
        }
        (!piece.is_empty()).then_some(Piece::Runs(piece))
    })
}

/// The pieces of some sets, in order.
pub(in crate::search) fn pieces_of_sets(
    mut hits: btree_set::IntoIter<Hit>,
) -> impl Iterator<Item = Piece> {
    std::iter::from_fn(move || {
        let piece: Vec<Hit> = hits.by_ref().take(HITS).collect();
        (!piece.is_empty()).then_some(Piece::Sets(piece))
    })
}
