//! Folded names as this build folds them, in a store of an older format.
//!
//! A format before 1.7 folded the case of a name alone, so that a decomposed name was found in its
//! own spelling only. A reader of such a store compares names one by one. A writer writes the
//! folded names anew when it opens the store, in the commit that raises the format.

use rocksdb::WriteBatch;

use super::Result;
use super::engine::Engine;
use super::family::Family;
use super::key::{Key as _, NameKey};
use crate::text::fold;

/// The first format that folds names to composed letters.
const SINCE: (u16, u16) = (1, 7);

/// Whether a store of that format has names that are folded otherwise.
pub(super) fn is_older(format: (u16, u16)) -> bool {
    format < SINCE
}

/// Adds to a batch what makes all folded names those of this build. Keys that are none stay for a
/// check to find.
pub(super) fn refold(engine: &Engine, batch: &mut WriteBatch) -> Result<()> {
    for row in engine.read_through(Family::Name)? {
        let (bytes, _) = row?;
        let Some(key) = NameKey::decode(&bytes).filter(|key| !key.name.is_ascii()) else {
            continue;
        };
        let folded = fold(&key.name);
        if !key.folded {
            let key = NameKey { folded: true, name: folded, ..key };
            engine.put(batch, Family::Name, &key.encode(), &[])?;
        } else if folded != key.name {
            engine.delete(batch, Family::Name, &bytes)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::engine::FORMAT_KEY;
    use super::super::{FORMAT, NameKind, Store};
    use super::*;
    use crate::model::{Frame, FrameId, ReleaseId};
    use crate::text::fold_letter;

    const NAME: &str = "Re\u{301}sume\u{301}";
    const COMPOSED: &str = "R\u{e9}sum\u{e9}";
    const RELEASE: ReleaseId = ReleaseId(1);

    /// A store of format 1.6 with a frame of a decomposed name.
    fn older(dir: &Path) {
        let store = Store::open_writer(dir, true).unwrap();
        let mut batch = store.batch(RELEASE);
        batch.put_frame(&Frame::named(FrameId(7), NAME)).unwrap();
        store.write_unlisted(batch).unwrap();
        let key =
            |name| NameKey { release: RELEASE, kind: NameKind::Frame, folded: true, name, id: 7 };
        let (now, before) = (fold(NAME), NAME.chars().flat_map(fold_letter).collect());
        let mut batch = WriteBatch::default();
        let engine = &store.engine;
        engine.delete(&mut batch, Family::Name, &key(now).encode()).unwrap();
        engine.put(&mut batch, Family::Name, &key(before).encode(), &[]).unwrap();
        engine.put(&mut batch, Family::Meta, FORMAT_KEY, &[0, 1, 0, 6]).unwrap();
        engine.write_synced(batch).unwrap();
    }

    /// How many frames each spelling finds, in its case and in any.
    fn found(store: &Store) -> Vec<usize> {
        let ask =
            |name: &str, fold_case| store.frames_by_name(RELEASE, name, fold_case).unwrap().len();
        let names = [NAME, COMPOSED, "r\u{c9}sum\u{e9}"];
        names.into_iter().flat_map(|name| [ask(name, false), ask(name, true)]).collect()
    }

    #[test]
    fn names_of_an_older_store_are_found_by_readers_and_written_anew_by_a_writer() {
        let dir = tempfile::tempdir().unwrap();
        older(dir.path());
        let reader = Store::open_reader(dir.path()).unwrap();
        assert_eq!((reader.format().unwrap(), reader.has_older_names().unwrap()), ((1, 6), true));
        assert_eq!(found(&reader), [1, 1, 1, 1, 0, 1]);
        drop(reader);
        let writer = Store::open_writer(dir.path(), true).unwrap();
        assert_eq!((writer.format().unwrap(), writer.has_older_names().unwrap()), (FORMAT, false));
        assert_eq!(found(&writer), [1, 1, 1, 1, 0, 1]);
        let rows = writer.engine.read_through(Family::Name).unwrap();
        let names = rows.map(|row| NameKey::decode(&row.unwrap().0).unwrap());
        let names: Vec<(bool, String)> = names.map(|key| (key.folded, key.name)).collect();
        assert_eq!(names, [(false, NAME.to_owned()), (true, fold(COMPOSED))]);
    }
}
