//! Few files: what is merged, when, and when that waits.
//!
//! A reader keeps every table file open, so a store must have few of them. RocksDB merges the files
//! of a family beside its writer, by [`super::tuning`]. Here is what it cannot know: that a load
//! goes on, or that a writer closes.

use std::sync::Mutex;

use rocksdb::{BottommostLevelCompaction, CompactOptions};

use super::engine::Engine;
use super::family::Family;
use super::tuning::{bound_waiting, is_scattered};
use super::{Result, StoreError};

impl Engine {
    /// Writes everything in memory to files and sorts the files of each family into one level.
    pub(super) fn compact(&self) -> Result<()> {
        self.require_writer()?;
        self.flush()?;
        let view = self.view();
        bound_waiting(&view.db, view.family(Family::Sentence)?)
            .map_err(StoreError::engine("changing options"))?;
        // The largest first, shared out among the threads that there are.
        let mut families = Vec::new();
        for family in Family::ALL {
            families.push((self.size(family)?.1, view.family(family)?));
        }
        families.sort_unstable_by_key(|(bytes, _)| *bytes);
        let waiting = Mutex::new(families);
        let next = || waiting.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).pop();
        let compact = || {
            let mut options = CompactOptions::default();
            options.set_bottommost_level_compaction(BottommostLevelCompaction::ForceOptimized);
            options.set_exclusive_manual_compaction(false);
            while let Some((_, family)) = next() {
                view.db.compact_range_cf_opt(family, None::<&[u8]>, None::<&[u8]>, &options);
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(compact);
            compact();
        });
        Ok(())
    }

    /// Merges the files of families that have too many. RocksDB merges beside its writer, but a
    /// writer that is open for a moment breaks that off as it closes.
    pub(super) fn merge_scattered(&self) -> Result<()> {
        let view = self.view();
        let files = view.db.live_files().map_err(StoreError::engine("listing files"))?;
        for family in Family::ALL {
            let of = files.iter().filter(|file| file.column_family_name == family.name());
            let sizes: Vec<u64> = of.map(|file| file.size as u64).collect();
            if is_scattered(&sizes) {
                let family = view.family(family)?;
                view.db.compact_range_cf(family, None::<&[u8]>, None::<&[u8]>);
            }
        }
        Ok(())
    }

    /// Stops or resumes the packing of files that nothing reads while rows are loaded: each row is
    /// then packed once, by [`Engine::compact`]. What is read at every write is packed all the
    /// time.
    pub(super) fn pause_packing(&self, pause: bool) -> Result<()> {
        self.require_writer()?;
        let view = self.view();
        let option = [("disable_auto_compactions", if pause { "true" } else { "false" })];
        for family in [Family::Annotation, Family::Sentence, Family::BySentence, Family::Change] {
            let set = view.db.set_options_cf(view.family(family)?, &option);
            set.map_err(StoreError::engine("changing options"))?;
        }
        Ok(())
    }
}
