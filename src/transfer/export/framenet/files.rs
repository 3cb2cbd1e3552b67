//! The files of a release one by one, as an export would write them: for whoever reads FrameNet's
//! XML and wants no directory of it.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, OnceLock};

use super::{Annotation, Exporter, Sink, Tally, has_file};
use crate::database::{Database, ReleaseRef, Result};
use crate::model::{CorpusId, DocumentId, FrameId, LuId, OWN_RANGE, Release};
use crate::store::Store;

/// The files at the top that list all other files, and those that do not.
const INDEXES: [&str; 3] = ["frameIndex.xml", "luIndex.xml", "fulltextIndex.xml"];
const RELATIONS: &str = "frRelation.xml";
const SEM_TYPES: &str = "semTypes.xml";

/// What a file is about.
#[derive(Debug, Clone, Copy)]
enum About {
    Frame(FrameId),
    LexUnit(FrameId, LuId),
    Document(CorpusId, DocumentId),
}

/// The files of a release.
///
/// ```
/// # use fnstore::database::Database;
/// # use fnstore::transfer::ImportOptions;
/// # let store = tempfile::tempdir()?;
/// # let database = Database::open_writer(store.path())?;
/// # let mini = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mini-framenet");
/// # let release = database.import(mini.as_ref(), &ImportOptions::default(), &mut |_| {})?.release;
/// let files = database.framenet_files(&release, true)?;
/// let xml = files.read("frame/Checking.xml")?.expect("the release has that frame");
/// assert!(xml.contains("<lexUnit status="));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct FramenetFiles<'a> {
    store: &'a Store,
    release: Release,
    only_given: bool,
    /// Where exporters put what they write.
    written: Written,
    /// What all files but the semantic types need; read when the first of them is.
    known: OnceLock<Known<'a>>,
    /// Files at the top: those of each kind are made when the first of them is read.
    indexes: OnceLock<Made>,
    relations: OnceLock<Made>,
    sem_types: OnceLock<Made>,
}

/// Files by their names.
type Made = BTreeMap<String, String>;

/// What there is in a release, and what its files are about.
struct Known<'a> {
    exporter: Exporter<'a>,
    about: HashMap<String, About>,
}

type Written = Arc<Mutex<Made>>;

impl Database {
    /// The files of a release, each made from the store when it is read.
    ///
    /// `only_given` leaves out what the release did not bring: sets that people, imports and
    /// expansions added, and proposed LUs.
    ///
    /// # Errors
    /// When the store fails.
    pub fn framenet_files<'r>(
        &self,
        release: impl Into<ReleaseRef<'r>>,
        only_given: bool,
    ) -> Result<FramenetFiles<'_>> {
        Ok(FramenetFiles {
            store: &self.store,
            release: self.release(release)?,
            only_given,
            written: Written::default(),
            known: OnceLock::new(),
            indexes: OnceLock::new(),
            relations: OnceLock::new(),
            sem_types: OnceLock::new(),
        })
    }
}

/// What a cell holds, or is filled with now.
fn held<T>(cell: &OnceLock<T>, make: impl FnOnce() -> Result<T>) -> Result<&T> {
    if let Some(made) = cell.get() {
        return Ok(made);
    }
    let made = make()?;
    Ok(cell.get_or_init(|| made))
}

impl<'a> FramenetFiles<'a> {
    /// The content of a file by its name below the release's directory, as in `lu/lu1001.xml`;
    /// `None` when there is no such file.
    ///
    /// # Errors
    /// When the store fails.
    pub fn read(&self, name: &str) -> Result<Option<String>> {
        if name == SEM_TYPES || name == RELATIONS || INDEXES.contains(&name) {
            return Ok(self.top_files(name)?.get(name).cloned());
        }
        let mut tally = Tally::default();
        let release = self.release.id;
        let Known { exporter, about } = self.known()?;
        match about.get(name) {
            Some(About::Frame(frame)) => {
                let Some(frame) = exporter.store.frame(release, *frame)? else { return Ok(None) };
                let mut lexunits = BTreeMap::new();
                for lu in exporter.store.lexunits_of(release, frame.id)? {
                    let lu = lu?;
                    lexunits.insert(lu.id, lu);
                }
                exporter.frame_file(frame, lexunits, &mut tally)?;
            }
            Some(About::LexUnit(frame, lu)) => {
                let (store, frame, lu) = (exporter.store, *frame, *lu);
                let found = store.frame(release, frame)?.zip(store.lexunit(release, frame, lu)?);
                let Some((frame, lu)) = found else { return Ok(None) };
                exporter.lexunit_file(&frame, &lu, &mut tally)?;
            }
            Some(About::Document(corpus, document)) => {
                exporter.document(&exporter.documents[&(*corpus, *document)], &mut tally)?;
            }
            None => return Ok(None),
        }
        Ok(self.take(name))
    }

    fn take(&self, name: &str) -> Option<String> {
        self.written.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).remove(name)
    }

    fn taken(&self, names: &[&str]) -> Made {
        names.iter().filter_map(|of| Some(((*of).to_owned(), self.take(of)?))).collect()
    }

    fn sink(&self) -> Sink<'a> {
        let place = Arc::clone(&self.written);
        Box::new(move |name: &str, content: &str| {
            let mut place = place.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            place.insert(name.to_owned(), content.to_owned());
            Ok(content.len() as u64)
        })
    }

    fn known(&self) -> Result<&Known<'a>> {
        held(&self.known, || {
            let mut exporter = Exporter::new(self.store, &self.release, self.sink(), None)?;
            exporter.only_given = self.only_given;
            let mut about = HashMap::new();
            let is_left_out =
                |frame: &&FrameId| self.only_given && exporter.files.is_later(**frame);
            for frame in exporter.frames.keys().filter(|frame| !is_left_out(frame)) {
                about.insert(exporter.files.frame(*frame), About::Frame(*frame));
            }
            for (frame, lu) in exporter.lexunits.keys() {
                about.insert(exporter.files.lexunit(*frame, *lu), About::LexUnit(*frame, *lu));
            }
            for (corpus, document) in exporter.documents.keys() {
                let name = exporter.files.document(*corpus, *document);
                about.insert(name, About::Document(*corpus, *document));
            }
            // What has no file of its own has no name.
            about.remove("");
            Ok(Known { exporter, about })
        })
    }

    /// The files at the top among which one is. Relations need no pass over the LUs, as indexes do,
    /// and semantic types nothing else at all.
    fn top_files(&self, name: &str) -> Result<&Made> {
        if name == SEM_TYPES {
            return held(&self.sem_types, || {
                let (store, release) = (self.store, &self.release);
                let mut exporter = Exporter::of_sem_types(store, release, self.sink(), None)?;
                exporter.only_given = self.only_given;
                exporter.sem_types_file(&exporter.layout()?, &mut Tally::default())?;
                Ok(self.taken(&[SEM_TYPES]))
            });
        }
        let is_index = name != RELATIONS;
        let cell = if is_index { &self.indexes } else { &self.relations };
        held(cell, || {
            let known = self.known()?;
            let (layout, mut tally) = (known.exporter.layout()?, known.written_files());
            if !is_index {
                known.exporter.relations_file(&layout, &mut tally)?;
                return Ok(self.taken(&[RELATIONS]));
            }
            known.tally_lexunits(&mut tally)?;
            known.exporter.index_files(&layout, &mut tally)?;
            Ok(self.taken(&INDEXES))
        })
    }
}

impl Known<'_> {
    /// The frames and documents that have files.
    fn written_files(&self) -> Tally {
        let mut tally = Tally::default();
        for about in self.about.values() {
            if let About::Frame(frame) = about {
                tally.written_frames.insert(*frame);
            }
        }
        let documents = self.exporter.documents.iter().filter(|(_, row)| has_file(row));
        tally.written_documents.extend(documents.map(|(key, _)| *key));
        tally
    }

    /// The LUs that have files, or sets.
    fn tally_lexunits(&self, tally: &mut Tally) -> Result<()> {
        let exporter = &self.exporter;
        for lu in exporter.store.lexunits(exporter.release.id)? {
            let lu = lu?;
            if !exporter.wants_lexunit(&lu) {
                continue;
            }
            let any = !lu.listing.lu_file && exporter.has_sets(&lu)?;
            if any || lu.listing.lu_file || lu.id.0 >= OWN_RANGE {
                let annotation = Annotation { any, ..Annotation::default() };
                tally.lexunits.insert((lu.frame, lu.id), annotation);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::database::Database;
    use crate::query::Expression;
    use crate::transfer::ImportOptions;

    #[test]
    fn each_file_is_what_an_export_writes() {
        let dir = tempfile::tempdir().unwrap();
        let mini = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mini-framenet");
        let database = Database::open_writer(&dir.path().join("store")).unwrap();
        let options = ImportOptions::default();
        let release = database.import(mini.as_ref(), &options, &mut |_| {}).unwrap().release;
        let target = dir.path().join("out");
        let everything = Expression::Everything;
        database.export_framenet(&release, &everything, &target, &mut |_, _| {}).unwrap();
        let files = database.framenet_files(&release, false).unwrap();
        let mut compared = 0;
        for folder in ["", "frame", "lu", "fulltext"] {
            for entry in std::fs::read_dir(target.join(folder)).unwrap() {
                let path = entry.unwrap().path();
                if path.is_file() {
                    let name = path.strip_prefix(&target).unwrap().to_str().unwrap();
                    let expected = std::fs::read_to_string(&path).unwrap();
                    assert_eq!(
                        files.read(name).unwrap().as_deref(),
                        Some(expected.as_str()),
                        "{name}"
                    );
                    compared += 1;
                }
            }
        }
        assert!(compared > 20, "{compared}");
        assert_eq!(files.read("lu/lu1.xml").unwrap(), None);
        assert_eq!(files.read("../x").unwrap(), None);
    }
}
