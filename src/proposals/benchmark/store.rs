//! A store of what a system may see.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::super::scratch::{copy, write_whole};
use super::super::{Key, Result, key_of};
use super::Questions;
use crate::database::{Database, DatabaseError};
use crate::durable;
use crate::learn::FileError;
use crate::model::{LexUnit, PROPOSED};
use crate::query::{Expression, quoted};

impl Questions {
    /// Makes a store of the release in a directory that is not there yet, whole or not at all,
    /// without the hidden LUs and their annotation. It knows nothing of them from before: no
    /// history, no other release, nothing that is proposed.
    ///
    /// # Errors
    /// When a store fails, or the disk does.
    pub fn write_store(&self, source: &Database, directory: &Path) -> Result<()> {
        if let Some(plan) = &self.plan {
            return plan.write_store(source, directory);
        }
        let query = format!("release={}", quoted(&self.release));
        let query = Expression::parse(&query).map_err(DatabaseError::from)?;
        write_whole(directory, |beside| {
            // A commit keeps what it removes, so what is left is copied once more.
            let hiding = beside.join("hiding");
            let failed = |error| FileError::io("make the store", directory)(error);
            durable::create_directory(&hiding).map_err(failed)?;
            let database = copy(source, &query, &self.release, &hiding)?;
            self.hide(&database)?;
            copy(&database, &query, &self.release, beside)?.close()?;
            Ok(database.close()?)
        })
    }

    fn hide(&self, database: &Database) -> Result<()> {
        let lexicon = database.lexicon(&self.release)?;
        let names: BTreeMap<_, _> =
            lexicon.frame_names()?.collect::<std::result::Result<_, _>>()?;
        let keys = |names: &Vec<String>| names.iter().map(|name| key_of(name)).collect();
        let hidden: BTreeMap<&str, BTreeSet<Key>> =
            self.frames.iter().map(|of| (of.frame.as_str(), keys(&of.hidden))).collect();
        let is_hidden = |lu: &LexUnit| {
            let of_frame = names.get(&lu.frame).and_then(|frame| hidden.get(frame.as_str()));
            of_frame.is_some_and(|keys| keys.contains(&key_of(&lu.name)))
        };
        let mut gone = lexicon.lus()?.collect::<std::result::Result<Vec<LexUnit>, _>>()?;
        gone.retain(|lu| lu.status == PROPOSED || is_hidden(lu));
        let mut edits = database.transaction(lexicon.release().id)?;
        edits.remove_lexunits(&gone)?;
        edits.commit()?;
        Ok(())
    }
}
