//! Sets of a query, read by all threads for work that one thread does in their order.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::ExpandError;
use crate::database::{Database, DatabaseError, Write};
use crate::model::{AnnotationSet, ReleaseId};
use crate::query::Expression;
use crate::search::Answer;

/// Why a scan ended before its end.
enum Ended {
    Stopped,
    Failed(Box<ExpandError>),
}

impl From<ExpandError> for Ended {
    fn from(error: ExpandError) -> Self {
        Self::Failed(Box::new(error))
    }
}

impl From<DatabaseError> for Ended {
    fn from(error: DatabaseError) -> Self {
        Self::Failed(Box::new(error.into()))
    }
}

/// Hands what `read` makes of the sets for which an expression holds to `take`, on this thread and
/// in their order; sets of which it makes nothing are passed over. `read` is called by all threads,
/// some thousand sets ahead. So another thread may have edited or removed a set since. A `Break` of
/// `take` ends it.
///
/// # Errors
/// As [`Database::fold_answers`], and those of `read` and `take`, which end it. A record that
/// cannot be read is told of when all others have been taken.
pub(super) fn read_in_order<T: Send>(
    database: &Database,
    expression: &Expression,
    read: impl Fn(Answer) -> Result<Option<T>, ExpandError> + Sync,
    mut take: impl FnMut(T) -> Result<ControlFlow<()>, ExpandError>,
) -> Result<ControlFlow<()>, ExpandError> {
    let mut left_out = None;
    let add = |some: &mut Vec<_>, answer| {
        some.extend(read(answer).transpose());
        Ok::<_, Ended>(())
    };
    let ended = database.fold_answers(expression, Vec::new, add, |some| {
        for of in some {
            match of {
                Ok(of) => {
                    if take(of)?.is_break() {
                        return Err(Ended::Stopped);
                    }
                }
                Err(error) if is_unreadable(&error) => drop(left_out.get_or_insert(error)),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    });
    match ended {
        Err(Ended::Stopped) => Ok(ControlFlow::Break(())),
        Err(Ended::Failed(error)) if !is_unreadable(&error) => Err(*error),
        Err(Ended::Failed(error)) => Err(left_out.unwrap_or(*error)),
        Ok(()) => left_out.map_or(Ok(ControlFlow::Continue(())), Err),
    }
}

/// Whether one record cannot be read, and others can.
fn is_unreadable(error: &ExpandError) -> bool {
    matches!(error, ExpandError::Database(error) if error.is_unreadable_record())
}

/// Writes sets with what a model says of them, in place of the sets as they were read. A set that
/// another thread edited or removed meanwhile stays as it is. Gives how many were written.
///
/// # Errors
/// When the database fails.
pub(super) fn rewrite(
    database: &Database,
    sets: impl IntoIterator<Item = (ReleaseId, AnnotationSet, AnnotationSet)>,
) -> Result<u64, ExpandError> {
    let mut of_releases: BTreeMap<ReleaseId, Vec<_>> = BTreeMap::new();
    for (release, read, new) in sets {
        of_releases.entry(release).or_default().push((read, new));
    }
    let mut written = 0;
    for (release, sets) in of_releases {
        database.write_made(release, |store| {
            let mut write = Write::default();
            for (read, new) in sets {
                if store.annotation_set(release, read.id)?.is_some_and(|now| now == read) {
                    write.sets.push(new);
                }
            }
            written += write.sets.len() as u64;
            Ok(write)
        })?;
    }
    Ok(written)
}
