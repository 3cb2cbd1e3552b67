//! Lists of ids: what `id=x1,x2` says, and `id=@FILE` names a file of.
//!
//! An expression holds the ids themselves, however they were written. So its text says all of it,
//! and it is the same wherever the file is not.

use std::path::Path;
use std::sync::Arc;

use crate::text::input::Lines;

/// Most bytes that a line of a file of ids may have.
const LINE_LIMIT: usize = 4096;

/// Ids in order, each once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ids<T>(Arc<[T]>);

impl<T: Ord + Copy> Ids<T> {
    /// Whether an id is one of them.
    #[must_use]
    pub fn contains(&self, id: T) -> bool {
        self.0.binary_search(&id).is_ok()
    }
}

impl<T> std::ops::Deref for Ids<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Ord> FromIterator<T> for Ids<T> {
    fn from_iter<I: IntoIterator<Item = T>>(ids: I) -> Self {
        let mut ids: Vec<T> = ids.into_iter().collect();
        ids.sort_unstable();
        ids.dedup();
        Self(ids.into())
    }
}

impl<T: Ord> From<T> for Ids<T> {
    fn from(id: T) -> Self {
        Self::from_iter([id])
    }
}

/// What is wrong with a file of ids.
pub(super) enum FileFault {
    /// It cannot be read.
    Unreadable(std::io::Error),
    /// A line, from 1, is no id, or no text: what stands there.
    Line(u64, String),
    /// It holds no id.
    Empty,
}

/// Reads a file of ids, one a line. Blank lines, those that begin with `#`, and a first line that
/// is the head of a column of such ids are passed over.
pub(super) fn read_file<T: Ord>(
    file: &Path,
    heads: &[&str],
    read: impl Fn(&str) -> Option<T>,
) -> Result<Ids<T>, FileFault> {
    let mut lines = Lines::open(file, LINE_LIMIT).map_err(FileFault::Unreadable)?;
    let mut ids = Vec::new();
    while lines.advance().map_err(FileFault::Unreadable)? {
        let bad = |found: String| FileFault::Line(lines.number(), found);
        let text = lines.text().map_err(|fault| bad(fault.to_string()))?.trim();
        let is_head = ids.is_empty() && heads.contains(&text);
        if text.is_empty() || text.starts_with('#') || is_head {
            continue;
        }
        ids.push(read(text).ok_or_else(|| bad(text.to_owned()))?);
    }
    if ids.is_empty() { Err(FileFault::Empty) } else { Ok(ids.into_iter().collect()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_in_order_and_each_once() {
        let ids: Ids<u32> = [5, 1, 5, 3].into_iter().collect();
        assert_eq!(&*ids, [1, 3, 5]);
        assert!(ids.contains(3) && !ids.contains(4));
        assert_eq!(&*Ids::from(7), [7]);
    }
}
