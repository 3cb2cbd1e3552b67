//! The commit of edits, of one release or several.

use std::collections::BTreeSet;

use super::Transaction;
use crate::database::{Database, EditError, Result, Turn};

impl Database {
    /// Commits the edits of several releases, one transaction each: all of them, or none. Gives the
    /// new revision. A transaction that is committed again is in conflict with itself.
    ///
    /// # Errors
    /// As [`Transaction::commit`]; when two transactions are of one release, or one is another
    /// handle's.
    ///
    /// ```
    /// # use fnstore::database::Database;
    /// # use fnstore::transfer::ImportOptions;
    /// # use fnstore::model::{FrameId, LexUnit};
    /// # let store = tempfile::tempdir()?;
    /// # let database = Database::open_writer(store.path())?;
    /// # let mini = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mini-framenet");
    /// # for name in ["one", "two"] {
    /// #     let options = ImportOptions { release: Some(name.to_owned()), ..Default::default() };
    /// #     database.import(mini.as_ref(), &options, &mut |_| {})?;
    /// # }
    /// let mut edits = [database.transaction("one")?, database.transaction("two")?];
    /// for edits in &mut edits {
    ///     edits.add_lexunit(LexUnit::new(FrameId(102), "peruse.v"))?;
    /// }
    /// let revision = database.commit_together(&edits)?;
    /// assert_eq!(database.changes(revision - 1)?.count(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn commit_together(&self, transactions: &[Transaction<'_>]) -> Result<u64> {
        self.require_one_each(transactions)?;
        self.commit_or_last(&mut self.turn()?, transactions)
    }

    /// As [`commit_together`](Self::commit_together), for who has the turn already.
    pub(super) fn commit_or_last(
        &self,
        turn: &mut Turn<'_>,
        transactions: &[Transaction<'_>],
    ) -> Result<u64> {
        let committed = self.commit_in(turn, transactions)?;
        committed.map_or_else(|| Ok(self.store.revision()?), Ok)
    }

    /// As [`commit_or_last`](Self::commit_or_last), and `None` where nothing differs.
    fn commit_in(
        &self,
        turn: &mut Turn<'_>,
        transactions: &[Transaction<'_>],
    ) -> Result<Option<u64>> {
        self.check_notes(transactions)?;
        for edits in transactions {
            self.require_release(edits.release)?;
            edits.check_conflicts()?;
            edits.check_undone()?;
            edits.check_frame_names()?;
            edits.check_lexunit_names()?;
        }
        let Some(first) = transactions.first() else { return Ok(None) };
        let mut batch = self.store.batch(first.release);
        batch.keep_images();
        let undone: BTreeSet<u64> =
            transactions.iter().flat_map(|edits| &edits.undoing.revisions).copied().collect();
        batch.explain(&notes(transactions), &undone.into_iter().collect::<Vec<_>>());
        if let Some(by) = authors(transactions) {
            batch.sign(&by);
        }
        for edits in transactions {
            batch.turn_to(edits.release);
            if edits.staged.write(&mut batch)? {
                edits.write_layouts(&mut batch)?;
            }
            for (row, value) in edits.undoing.plain_rows() {
                batch.restore(row, value)?;
            }
        }
        if batch.is_empty() {
            return Ok(None);
        }
        let revision = self.store.commit(batch)?;
        if let Turn::Index(index) = turn {
            self.follow(index);
        }
        Ok(Some(revision))
    }

    /// What a commit says of itself is shown in lists.
    fn check_notes(&self, transactions: &[Transaction<'_>]) -> Result<()> {
        let is_shown = |letter: char| !letter.is_control() || "\n\t".contains(letter);
        let by = authors(transactions).unwrap_or_else(|| self.store.author());
        for (field, text) in [("author", by), ("note", notes(transactions))] {
            if !text.chars().all(is_shown) || field == "author" && text.contains('\n') {
                let expected = "a text without control characters";
                return Err(EditError::value(field, text.escape_debug(), expected).into());
            }
        }
        Ok(())
    }

    /// Edits of one release were checked without regard to another transaction's.
    fn require_one_each(&self, transactions: &[Transaction<'_>]) -> Result<()> {
        for (at, edits) in transactions.iter().enumerate() {
            let field = format!("transactions[{at}]");
            if !std::ptr::eq(edits.database, self) {
                let expected = "a transaction of this handle";
                return Err(EditError::value(field, edits.release, expected).into());
            }
            if transactions[..at].iter().any(|other| other.release == edits.release) {
                let expected = "one transaction for each release";
                return Err(EditError::value(field, edits.release, expected).into());
            }
        }
        Ok(())
    }
}

impl Transaction<'_> {
    /// As [`commit`](Self::commit), and `None` where nothing differs from what the store holds: the
    /// number that `commit` gives then is that of somebody else's commit, which nobody should undo
    /// for these edits.
    ///
    /// # Errors
    /// As there.
    pub fn commit_changes(self) -> Result<Option<u64>> {
        let database = self.database;
        database.commit_in(&mut database.turn()?, &[self])
    }
}

/// What a commit says of its edits: what each transaction says, one a line.
fn notes(transactions: &[Transaction<'_>]) -> String {
    different(transactions.iter().map(|edits| edits.note.as_str())).join("\n")
}

/// Who made them: all that signed; `None` where nobody did.
fn authors(transactions: &[Transaction<'_>]) -> Option<String> {
    let authors = different(transactions.iter().filter_map(|edits| edits.by.as_deref()));
    (!authors.is_empty()).then(|| authors.join(", "))
}

/// What is not empty of some texts, each once.
fn different<'a>(all: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut different = Vec::new();
    for text in all {
        if !text.is_empty() && !different.contains(&text) {
            different.push(text);
        }
    }
    different
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::Removal;
    use crate::model::{FrameId, LexUnit, LuId, ReleaseId};
    use crate::transfer::ImportOptions;

    const FRAME: FrameId = FrameId(102);

    /// A database of two releases.
    fn imported() -> (tempfile::TempDir, Database, [ReleaseId; 2]) {
        let dir = tempfile::tempdir().unwrap();
        let mini = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mini-framenet");
        let database = Database::open_writer(dir.path()).unwrap();
        let releases = ["one", "two"].map(|name| {
            let options = ImportOptions { release: Some(name.to_owned()), ..Default::default() };
            database.import(mini.as_ref(), &options, &mut |_| {}).unwrap().release.id
        });
        (dir, database, releases)
    }

    /// Edits of each release that add an LU.
    fn additions(database: &Database, releases: [ReleaseId; 2]) -> [Transaction<'_>; 2] {
        releases.map(|release| {
            let mut edits = database.transaction(release).unwrap();
            edits.add_lexunit(LexUnit::named(FRAME, LuId(0), "peruse.v")).unwrap();
            edits
        })
    }

    #[test]
    fn edits_of_two_releases_are_one_commit_that_counts_in_each() {
        let (_dir, database, releases) = imported();
        let counted = || database.releases().unwrap().into_iter().map(|of| of.counts.lexunits);
        let expected: Vec<u64> = counted().map(|count| count + 1).collect();
        let revision = database.store.revision().unwrap();
        let edits = additions(&database, releases);
        assert_eq!(database.commit_together(&edits).unwrap(), revision + 1);
        assert_eq!(counted().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_commit_says_what_each_of_its_transactions_says() {
        let (_dir, database, releases) = imported();
        for (said, expected) in [
            (["the bridge", "the harbour"], "the bridge\nthe harbour"),
            (["both", "both"], "both"),
            (["", "the harbour"], "the harbour"),
        ] {
            let mut edits = additions(&database, releases);
            edits.iter_mut().zip(said).for_each(|(edits, note)| edits.explain(note));
            let revision = database.commit_together(&edits).unwrap();
            assert_eq!(database.commit_made(revision).unwrap().unwrap().note, expected);
            database.undo(&[revision], "").unwrap();
        }
    }

    #[test]
    fn edits_of_two_releases_are_all_refused_when_those_of_one_are() {
        let (_dir, database, releases) = imported();
        let mut edits = additions(&database, releases);
        let mut other = database.transaction(releases[1]).unwrap();
        for edits in [&mut edits[1], &mut other] {
            edits.remove_lexunit(FRAME, LuId(1001), Removal::Cascade).unwrap();
        }
        let revision = other.commit().unwrap();
        assert!(database.commit_together(&edits).is_err());
        assert_eq!(database.store.revision().unwrap(), revision);
    }
}
