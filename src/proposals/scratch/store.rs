//! A store of what is given alone.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use super::super::Result;
use super::plan::Plan;
use crate::database::{Database, DatabaseError, EditError};
use crate::durable;
use crate::edit::Removal;
use crate::learn::FileError;
use crate::model::{FrameId, LuId};
use crate::query::{Expression, quoted};

/// The store that is made of what a query finds, in the place of an unfinished one.
const STORE: &str = "store";

/// Makes a store in a directory that is not there yet, whole or not at all: what is made in
/// `store` of the directory that `make` is given gets its place at the end.
pub(in super::super) fn write_whole(
    directory: &Path,
    make: impl FnOnce(&Path) -> Result<()>,
) -> Result<()> {
    let failed = |error| FileError::io("make the store", directory)(error);
    let beside = directory.with_extension("unfinished");
    durable::remove_directory(&beside).map_err(failed)?;
    durable::create_directory(&beside).map_err(failed)?;
    make(&beside)?;
    durable::rename(&beside.join(STORE), directory).map_err(failed)?;
    Ok(durable::remove_directory(&beside).map_err(failed)?)
}

/// A new store of what a query finds, under its release's name, in `store` of a directory. It
/// knows nothing of what the source was before.
pub(in super::super) fn copy(
    source: &Database,
    query: &Expression,
    release: &str,
    beside: &Path,
) -> Result<Database> {
    let failed = |error| FileError::io("make the store", beside)(error);
    let lines = beside.join("given.jsonl");
    let mut file = BufWriter::new(File::create(&lines).map_err(failed)?);
    source.export_jsonl(query, false, &mut file)?;
    file.flush().map_err(failed)?;
    let database = Database::open_writer(&beside.join(STORE))?;
    database.import_jsonl(&lines, Some(release), &mut |_| {})?;
    Ok(database)
}

impl Plan {
    /// Makes the store in a directory that is not there yet, whole or not at all: the frames, the
    /// LUs that are given, their sets and sentences. What refers to anything else is taken out, and
    /// what is there is counted at the end.
    ///
    /// # Errors
    /// When a store fails, the disk does, or more than what is given is in the new store.
    pub fn write_store(&self, source: &Database, directory: &Path) -> Result<()> {
        write_whole(directory, |beside| {
            let database = copy(source, &self.seed_query()?, &self.release, beside)?;
            self.take_out_others(&database)?;
            self.expect_given_alone(&database)?;
            Ok(database.close()?)
        })
    }

    /// The query that finds what is given.
    fn seed_query(&self) -> Result<Expression> {
        let sets = self.seeds().flat_map(|(_, seed)| &seed.sets);
        let ids: Vec<String> = sets.map(|set| format!("id={set}")).collect();
        let query = format!("release={} ({})", quoted(&self.release), ids.join(" or "));
        Ok(Expression::parse(&query).map_err(DatabaseError::from)?)
    }

    /// Numbers of frames and LUs that are given.
    fn numbers(&self) -> BTreeSet<(FrameId, LuId)> {
        self.seeds().map(|(frame, seed)| (FrameId(frame.id), LuId(seed.id))).collect()
    }

    /// Removes LUs that came along because a sentence is listed under them.
    fn take_out_others(&self, database: &Database) -> Result<()> {
        let (given, release) = (self.numbers(), database.release(&self.release)?);
        let mut edits = database.transaction(release.id)?;
        for row in database.store().lexunit_names(release.id).map_err(DatabaseError::from)? {
            let (frame, lu, _) = row.map_err(DatabaseError::from)?;
            if !given.contains(&(frame, lu)) {
                edits.remove_lexunit(frame, lu, Removal::Cascade)?;
            }
        }
        edits.commit()?;
        Ok(())
    }

    fn expect_given_alone(&self, database: &Database) -> Result<()> {
        let lexicon = database.lexicon(&self.release)?;
        let mut lus = BTreeSet::new();
        for lu in lexicon.lus()? {
            let lu = lu?;
            lus.insert((lu.frame, lu.id));
        }
        let mut sets = 0;
        for set in lexicon.annotation_sets()? {
            set?;
            sets += 1;
        }
        // An LU all of whose sets were left out does not come along.
        if lus.is_subset(&self.numbers()) && sets == self.sets() {
            return Ok(());
        }
        let wrong = EditError::Value {
            field: "store from scratch".to_owned(),
            value: format!("{} LUs and {sets} annotation sets", lus.len()),
            expected: format!("{} LUs and {} annotation sets", self.numbers().len(), self.sets()),
        };
        Err(DatabaseError::from(wrong).into())
    }
}
