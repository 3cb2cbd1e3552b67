//! A store of what a system may see.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::super::{Key, Result, key_of};
use super::Questions;
use crate::database::Database;
use crate::durable;
use crate::edit::Removal;
use crate::learn::FileError;
use crate::model::PROPOSED;
use crate::upkeep::restore;

impl Questions {
    /// Makes a store of the release in a directory that is not there yet, whole or not at all,
    /// without the hidden LUs and their annotation. Other releases, and what is proposed, go too:
    /// they may know what is hidden. Lexicons of other kinds stay.
    ///
    /// # Errors
    /// When a store fails, or the disk does.
    pub fn write_store(&self, source: &Database, directory: &Path) -> Result<()> {
        if let Some(plan) = &self.plan {
            return plan.write_store(source, directory);
        }
        let failed = |error| FileError::io("make the store", directory)(error);
        let beside = directory.with_extension("unfinished");
        durable::remove_directory(&beside).map_err(failed)?;
        durable::create_directory(&beside).map_err(failed)?;
        let (backup, store) = (beside.join("backup"), beside.join("store"));
        source.backup(&backup)?;
        restore(&backup, &store)?;
        let database = Database::open_writer(&store)?;
        self.hide(&database)?;
        database.close()?;
        durable::rename(&store, directory).map_err(failed)?;
        Ok(durable::remove_directory(&beside).map_err(failed)?)
    }

    fn hide(&self, database: &Database) -> Result<()> {
        for other in database.releases()? {
            if other.name != self.release {
                database.remove_release(other.id)?;
            }
        }
        let lexicon = database.lexicon(&self.release)?;
        let names: BTreeMap<_, _> =
            lexicon.frame_names()?.collect::<std::result::Result<_, _>>()?;
        let keys = |names: &Vec<String>| names.iter().map(|name| key_of(name)).collect();
        let hidden: BTreeMap<&str, BTreeSet<Key>> =
            self.frames.iter().map(|of| (of.frame.as_str(), keys(&of.hidden))).collect();
        let mut edits = database.transaction(lexicon.release().id)?;
        for lu in lexicon.lus()? {
            let lu = lu?;
            let of_frame = names.get(&lu.frame).and_then(|frame| hidden.get(frame.as_str()));
            let is_hidden = of_frame.is_some_and(|keys| keys.contains(&key_of(&lu.name)));
            if is_hidden || lu.status == PROPOSED {
                edits.remove_lexunit(lu.frame, lu.id, Removal::Cascade)?;
            }
        }
        edits.commit()?;
        Ok(())
    }
}
