//! `fnstore.open`: a store, its lexicon, its queries, and what changes it.

use std::path::PathBuf;
use std::sync::Arc;

use fnstore::database::{self, DatabaseError, LookupError};
use fnstore::internals::WithStore as _;
use fnstore::lexicon::{Lexicon, RecordKey, growth_figure};
use fnstore::model::AnnotationSetId;
use fnstore::query::{Case, Expression, Pattern};
use pyo3::prelude::*;
use pyo3::types::PyInt;

use crate::annotation::AnnotationSet;
use crate::changes::{self, Change, Commit};
use crate::drawn::drawn;
use crate::error::{Fault, Result};
use crate::export;
use crate::framenet::FramenetFiles;
use crate::handle::Handle;
use crate::lexicon::{
    Document, Frame, FrameElement, FrameRelation, Growth, Home, LexicalUnit, Release, SemType,
};
use crate::number::Count;
use crate::proposals::{self, Proposal};
use crate::query::Query;
use crate::transaction::Edits;
use crate::upkeep::{self, BackupReport, CheckReport, Leak};

/// A store. Reading needs no lock; importing, expanding and transactions hold the writer's while
/// they last.
#[pyclass(frozen, module = "fnstore")]
pub(crate) struct Database {
    pub(crate) handle: Arc<Handle>,
}

/// A name, or an id.
pub(crate) enum Key {
    Id(u32),
    Name(String),
}

impl Key {
    fn of(&self) -> RecordKey<'_> {
        match self {
            Self::Id(id) => RecordKey::Number(*id),
            Self::Name(name) => RecordKey::Name(name),
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for Key {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match given.extract() {
            Ok(id) => Ok(Self::Id(id)),
            // Nothing has a number outside of the range.
            Err(_) if given.is_instance_of::<PyInt>() => Ok(Self::Name(given.to_string())),
            Err(_) => given.extract().map(Self::Name),
        }
    }
}

/// Opens the store in a directory.
#[pyfunction]
pub(crate) fn open(path: PathBuf) -> Result<Database> {
    Ok(Database { handle: Handle::open(path)? })
}

/// Makes an empty store in a directory, and opens it. One that is there is an ExistsError, or with
/// `exist_ok` opened as it is.
#[pyfunction]
#[pyo3(signature = (path, *, exist_ok=false))]
pub(crate) fn create(path: PathBuf, exist_ok: bool) -> Result<Database> {
    if !exist_ok && database::Database::open(&path).is_ok() {
        let message = format!("there is a store in `{}`", path.display());
        let advice = "open it with fnstore.open(path), or give exist_ok=True";
        return Err(Fault::new("ExistsError", "S-exists", &message, advice));
    }
    database::Database::open_writer(&path)?.close()?;
    open(path)
}

impl Database {
    /// Does something with each release of a name, or with all.
    pub(crate) fn each<T>(
        &self,
        release: Option<&str>,
        mut of: impl FnMut(&Home, &Lexicon<'_>) -> Result<Vec<T>>,
    ) -> Result<Vec<T>> {
        let database = self.handle.get()?;
        let lexicons = match release {
            Some(name) => vec![database.lexicon(name)?],
            None => database.lexicons()?,
        };
        let mut found = Vec::new();
        for lexicon in lexicons {
            found.extend(of(&self.home(&lexicon), &lexicon)?);
        }
        Ok(found)
    }

    pub(crate) fn home(&self, lexicon: &Lexicon<'_>) -> Home {
        let release = Arc::new(lexicon.release().clone());
        Home { handle: Arc::clone(&self.handle), release }
    }

    /// The release of a name, or the only one.
    pub(crate) fn only(&self, release: Option<String>) -> Result<String> {
        let database = self.handle.get()?;
        if let Some(name) = release {
            return Ok(database.release(&name)?.name);
        }
        let names: Vec<String> = database.releases()?.into_iter().map(|of| of.name).collect();
        if let [name] = names.as_slice() {
            return Ok(name.clone());
        }
        if names.is_empty() {
            let advice = "import one with db.import_release(path)";
            let message = "the store holds no release";
            return Err(Fault::new("UnknownNameError", "Q-release", message, advice));
        }
        let message = format!("the store holds several releases: {}", names.join(", "));
        let advice = "give release=\"NAME\"";
        Err(Fault::new("AmbiguousNameError", "Q-ambiguous", &message, advice).among(names))
    }
}

/// Names as the query language writes them: exact, with `*` and `?`, or a regular expression after
/// `~`.
pub(crate) fn pattern(names: Option<&str>) -> Result<Pattern> {
    let Some(names) = names else { return Ok(Pattern::wildcard("*", Case::Fold)) };
    let made = match names.strip_prefix('~') {
        Some(expression) => Pattern::regex(expression, Case::Fold),
        None => Ok(Pattern::wildcard(names, Case::Fold)),
    };
    made.map_err(|error| {
        let message = format!("cannot read `{names}`: {error}");
        Fault::new("QueryError", "Q-regex", &message, "write `\\` before a letter meant as it is")
    })
}

#[pymethods]
impl Database {
    /// Directory of the store.
    #[getter]
    fn path(&self) -> PathBuf {
        self.handle.path.clone()
    }

    /// Whether it was closed.
    #[getter]
    fn closed(&self) -> bool {
        !self.handle.is_open()
    }

    /// Closes the store; what was read from it stays, and reads no more.
    fn close(&self) {
        self.handle.close();
    }

    /// Takes up what others have written since. A query does so by itself.
    fn refresh(&self, py: Python<'_>) -> Result<()> {
        py.detach(|| Ok(self.handle.get()?.refresh()?))
    }

    /// The store as it is now, which stays so whatever is written later.
    fn snapshot(&self, py: Python<'_>) -> Result<Self> {
        let snapshot = py.detach(|| Ok::<_, Fault>(self.handle.get()?.snapshot()?))?;
        Ok(Self { handle: Handle::over(self.handle.path.clone(), snapshot) })
    }

    fn releases(&self) -> Result<Vec<Release>> {
        Ok(self.handle.get()?.releases()?.into_iter().map(Release::from).collect())
    }

    /// Number of the last commit.
    #[getter]
    fn revision(&self, py: Python<'_>) -> Result<u64> {
        py.detach(|| {
            let database = self.handle.get()?;
            database.refresh()?;
            Ok(database.store().revision()?)
        })
    }

    /// Which store this is; its backups, and what is restored from them, have the same id. `None`
    /// where no writer has given it one.
    #[getter]
    fn id(&self) -> Result<Option<String>> {
        Ok(self.handle.get()?.identity()?.map(|identity| identity.id))
    }

    /// Its generation, which a restore changes: revisions can be compared within one alone.
    #[getter]
    fn generation(&self) -> Result<Option<String>> {
        Ok(self.handle.get()?.identity()?.map(|identity| identity.generation))
    }

    /// What was committed after a revision, in order. Remember the revision of a change that is
    /// `last`, and the generation with it; then nothing is lost.
    ///
    /// An expression gives the changes of the sets that it finds; with_records gives each record as
    /// it is now.
    #[pyo3(signature = (since=Count(0), *, release=None, generation=None, expression=None,
                        with_records=false),
           text_signature = "($self, since=0, *, release=None, generation=None, expression=None, \
                             with_records=False)")]
    fn changes(
        &self,
        py: Python<'_>,
        since: Count,
        release: Option<&str>,
        generation: Option<&str>,
        expression: Option<&str>,
        with_records: bool,
    ) -> Result<Vec<Change>> {
        py.detach(|| {
            let database = self.handle.get()?;
            let expression =
                expression.map(Expression::parse).transpose().map_err(DatabaseError::from)?;
            let of = (release, expression.as_ref());
            changes::since(&database, since.0, of, generation, with_records)
        })
    }

    /// Who committed, when and why, the last commit first.
    #[pyo3(signature = (limit=Count(20)), text_signature = "($self, limit=20)")]
    fn history(&self, py: Python<'_>, limit: Count) -> Result<Vec<Commit>> {
        let limit = usize::try_from(limit.0).unwrap_or(usize::MAX);
        py.detach(|| changes::history(&*self.handle.get()?, limit))
    }

    /// Takes back commits, all of them or none: records become what they were before. Gives the
    /// store's revision.
    #[pyo3(signature = (*revisions, note=""))]
    fn undo(&self, py: Python<'_>, revisions: Vec<u64>, note: &str) -> Result<u64> {
        py.detach(|| self.handle.write(|writer| Ok(writer.undo(&revisions, note)?.revision)))
    }

    /// Frames whose name matches, in order of name; all, by number, without a pattern.
    #[pyo3(signature = (names=None, release=None))]
    fn frames(&self, names: Option<&str>, release: Option<&str>) -> Result<Vec<Frame>> {
        let names = names.map(|names| pattern(Some(names))).transpose()?;
        self.each(release, |home, lexicon| match &names {
            Some(names) => lexicon.find_frames(names)?.map(|row| Frame::new(home, row?)).collect(),
            None => lexicon.frames()?.map(|row| Frame::new(home, row?)).collect(),
        })
    }

    /// The one frame of a name or a number; several are an AmbiguousNameError, and release narrows.
    #[pyo3(signature = (key, release=None))]
    fn frame(&self, key: Key, release: Option<&str>) -> Result<Frame> {
        let database = self.handle.get()?;
        let (lexicon, frame) = database.the_frame(key.of(), release)?;
        Frame::new(&self.home(&lexicon), frame)
    }

    /// Frame elements whose name matches: those that frames define, then those that annotation
    /// labels and its frame does not define.
    #[pyo3(signature = (names=None, release=None))]
    fn fes(&self, names: Option<&str>, release: Option<&str>) -> Result<Vec<FrameElement>> {
        let (names, every) = (pattern(names)?, pattern(None)?);
        self.each(release, |home, lexicon| {
            let mut found = Vec::new();
            for frame in lexicon.frames()? {
                let fes = Frame::new(home, frame?)?.fes.into_iter();
                found.extend(fes.filter(|fe| names.matches(&fe.name)));
            }
            let labelled = lexicon.labelled_fes(&every, &names)?;
            found.extend(labelled.into_iter().map(FrameElement::labelled));
            Ok(found)
        })
    }

    /// LUs whose name matches, in order of name; all, by frame, without a pattern.
    #[pyo3(signature = (names=None, release=None))]
    fn lus(&self, names: Option<&str>, release: Option<&str>) -> Result<Vec<LexicalUnit>> {
        let names = names.map(|names| pattern(Some(names))).transpose()?;
        self.each(release, |home, lexicon| {
            let frames: std::collections::HashMap<_, _> =
                lexicon.frame_names()?.collect::<std::result::Result<_, _>>()?;
            let lu = |row: std::result::Result<fnstore::model::LexUnit, _>| {
                let lu = row?;
                let frame = frames.get(&lu.frame).map_or("", String::as_str);
                LexicalUnit::new(home, frame, lu)
            };
            match &names {
                Some(names) => lexicon.find_lus(names)?.map(lu).collect(),
                None => lexicon.lus()?.map(lu).collect(),
            }
        })
    }

    /// The one LU of a name or a number; several are an AmbiguousNameError, and release and frame
    /// narrow.
    #[pyo3(signature = (key, release=None, frame=None))]
    fn lu(&self, key: Key, release: Option<&str>, frame: Option<Key>) -> Result<LexicalUnit> {
        let database = self.handle.get()?;
        let (lexicon, lu) = database.the_lu(key.of(), frame.as_ref().map(Key::of), release)?;
        let frame = lexicon.frame(lu.frame)?.map_or_else(String::new, |frame| frame.name);
        LexicalUnit::new(&self.home(&lexicon), &frame, lu)
    }

    #[pyo3(signature = (release=None))]
    fn relations(&self, release: Option<&str>) -> Result<Vec<FrameRelation>> {
        self.each(release, |_, lexicon| {
            lexicon.relations()?.map(|row| Ok(FrameRelation::from(row?))).collect()
        })
    }

    #[pyo3(signature = (release=None))]
    fn sem_types(&self, release: Option<&str>) -> Result<Vec<SemType>> {
        self.each(release, |_, lexicon| {
            lexicon.semtypes()?.map(|row| Ok(SemType::from(row?))).collect()
        })
    }

    /// Full-text documents whose name or file matches.
    #[pyo3(signature = (names=None, release=None))]
    fn documents(&self, names: Option<&str>, release: Option<&str>) -> Result<Vec<Document>> {
        let names = pattern(names)?;
        self.each(release, |home, lexicon| {
            let rows = lexicon.find_documents(&names)?;
            rows.map(|row| Ok(Document::new(home, row?))).collect()
        })
    }

    /// A query of the store, as in db.query("frame=Verification trigger=confirm*").
    /// Sets behind a cursor (`Answers.cursor`) are the next page of the same query and order.
    /// With case_sensitive, letters match as they are written.
    #[pyo3(signature = (expression="", *, sort=None, after=None, offset=Count(0), limit=None,
                        case_sensitive=false),
           text_signature = "($self, expression='', *, sort=None, after=None, offset=0, \
                             limit=None, case_sensitive=False)")]
    #[allow(clippy::too_many_arguments, reason = "Python's callers name them")]
    fn query(
        &self,
        py: Python<'_>,
        expression: &str,
        sort: Option<&str>,
        after: Option<&str>,
        offset: Count,
        limit: Option<Count>,
        case_sensitive: bool,
    ) -> Result<Query> {
        let part = (offset.size(), limit.map(Count::size));
        let case = if case_sensitive { Case::Sensitive } else { Case::Fold };
        py.detach(|| Query::new(&self.handle, (expression, case), sort, after, part))
    }

    /// Number of annotation sets for which a query holds.
    #[pyo3(signature = (expression=""))]
    fn count(&self, py: Python<'_>, expression: &str) -> Result<u64> {
        let expression = Expression::parse(expression).map_err(DatabaseError::from)?;
        py.detach(|| Ok(self.handle.get()?.count(&expression)?))
    }

    /// The one annotation set of an id, as in x1024; several are an AmbiguousNameError, and release
    /// narrows.
    #[pyo3(signature = (id, release=None))]
    fn annotation_set(&self, id: &str, release: Option<&str>) -> Result<AnnotationSet> {
        let unknown = || {
            let message = format!("there is no annotation set `{id}`");
            let advice = "an id is a letter (x, f, i or g) and a number, as in x1024";
            Fault::new("UnknownNameError", "Q-id", &message, advice)
        };
        let set = AnnotationSetId::of_written(id).ok_or_else(unknown)?;
        let answer = self.handle.get()?.the_annotation_set(set, release);
        let answer = answer.map_err(|error| match error {
            DatabaseError::Lookup(LookupError::UnknownName { kind: "annotation set", .. }) => {
                unknown()
            }
            error => error.into(),
        })?;
        Ok(AnnotationSet::new(&self.handle, answer))
    }

    /// How the triggers that a query finds grow, round by round; round 0 is what people annotated.
    #[pyo3(signature = (expression="", release=None))]
    fn growth(
        &self,
        py: Python<'_>,
        expression: &str,
        release: Option<String>,
    ) -> PyResult<Py<PyAny>> {
        let (rounds, figure) = py.detach(|| {
            let of = Expression::parse(expression).map_err(DatabaseError::from)?;
            let (database, release) = (self.handle.get()?, self.only(release)?);
            let rounds = database.lexicon(&release)?.growth(&of)?;
            let figure = growth_figure(expression, &rounds);
            Result::Ok((rounds.into_iter().map(Growth::from).collect::<Vec<_>>(), figure))
        })?;
        drawn(py, rounds, vec![figure])
    }

    /// Lexical units that the generated sets propose for which a query holds, the likeliest first.
    /// With with_decided those, too, that were decided on; with with_refused behind them words
    /// without content.
    #[pyo3(signature = (expression="", *, limit=None, with_decided=false, with_refused=false,
                        ranker=None, models=None))]
    #[allow(clippy::too_many_arguments, reason = "Python's callers name them")]
    fn proposals(
        &self,
        py: Python<'_>,
        expression: &str,
        limit: Option<Count>,
        with_decided: bool,
        with_refused: bool,
        ranker: Option<PathBuf>,
        models: Option<PathBuf>,
    ) -> PyResult<Vec<Proposal>> {
        let (limit, models) = (limit.map(Count::size), directories(py, models)?);
        let wishes = proposals::Wishes { limit, with_decided, with_refused, ranker, models };
        Ok(py.detach(|| proposals::list(&self.handle, expression, wishes))?)
    }

    /// Reads every row and says what is wrong; with deep, references both ways and the index.
    /// progress is called with the rows that were read.
    #[pyo3(signature = (*, deep=false, progress=None))]
    fn check(
        &self,
        py: Python<'_>,
        deep: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<CheckReport> {
        upkeep::check(py, &self.handle, (deep, progress))
    }

    /// What stands in two parts of the data, so that models are tested on training data: texts, and
    /// generated sets whose seed's sentence is in another part. Parts are those of the split list
    /// that the store is read under.
    fn leaks(&self, py: Python<'_>) -> Result<Vec<Leak>> {
        py.detach(|| upkeep::leaks(&self.handle))
    }

    /// Copies the store as it is now into a directory that is not there yet or is empty.
    fn backup(&self, py: Python<'_>, path: PathBuf) -> Result<BackupReport> {
        py.detach(|| upkeep::backup(&self.handle, &path))
    }

    /// The store for reading under a split list, which says which part of the data (`split` in
    /// queries) documents, LUs and sentences belong to. Names that no release has are warned of, or
    /// with strict an error.
    #[pyo3(signature = (path, *, strict=false))]
    fn with_split_list(&self, py: Python<'_>, path: PathBuf, strict: bool) -> PyResult<Self> {
        let database = export::under_list(py, &self.handle.path, &path, strict)?;
        Ok(Self { handle: Handle::over(self.handle.path.clone(), database) })
    }

    /// Begins edits of a release, to be used in a with statement: they are committed at its end, or
    /// not at all. The store keeps who made them and the note, which says why.
    #[pyo3(signature = (release=None, *, reviewer=None, note=""))]
    fn transaction<'py>(
        &self,
        py: Python<'py>,
        release: Option<String>,
        reviewer: Option<String>,
        note: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let note = note.to_owned();
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let now = now.map_or(0, |since| since.as_secs());
        let edits =
            py.detach(|| Edits::begin(&self.handle, self.only(release)?, (reviewer, now, note)))?;
        py.import("fnstore._edits")?.getattr("Transaction")?.call1((edits,))
    }

    #[pyo3(signature = (release, generated))]
    fn _framenet(&self, release: Option<String>, generated: bool) -> Result<FramenetFiles> {
        FramenetFiles::new(&self.handle, &self.only(release)?, !generated)
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    #[pyo3(signature = (*_raised))]
    fn __exit__(&self, _raised: &Bound<'_, pyo3::types::PyTuple>) {
        self.handle.close();
    }

    fn __repr__(&self) -> String {
        let state = if self.handle.is_open() { "" } else { ", closed" };
        format!("<Database {}{state}>", self.handle.path.display())
    }
}

/// Where models are looked for: in the directory that is named, else in those of the package.
pub(crate) fn directories(py: Python<'_>, named: Option<PathBuf>) -> PyResult<Vec<PathBuf>> {
    match named {
        Some(named) => Ok(vec![named]),
        None => py.import("fnstore._models")?.call_method0("directories")?.extract(),
    }
}
