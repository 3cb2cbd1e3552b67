//! `db.editions()`: named selections of annotation sets, frozen.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use fnstore::database::{self, DatabaseError};
use fnstore::exchange::kept_split_list;
use fnstore::internals::WithStore as _;
use fnstore::lexicon;
use fnstore::model::{self, AnnotationSetId, ReleaseId};
use fnstore::promise::PromiseRequest;
use fnstore::query::{Expression, Field, Selection};
use fnstore::search::Sampling;
use pyo3::prelude::*;

use crate::database::Database;
use crate::error::{Fault, Result};
use crate::export::fields;
use crate::handle::Handle;
use crate::number::Count;
use crate::promises::request;
use crate::query::{Query, narrowed};

/// Annotation sets of a release under a name, as they were when it was made.
#[pyclass(frozen, module = "fnstore")]
pub(crate) struct Edition {
    pub(crate) handle: Arc<Handle>,
    /// Name of the release.
    #[pyo3(get)]
    pub(crate) release: String,
    #[pyo3(get)]
    pub(crate) name: String,
    /// The query that chose the sets.
    #[pyo3(get)]
    expression: String,
    /// When it was made, in seconds since 1970 (UTC).
    #[pyo3(get)]
    created: u64,
    /// The store's revision that it was made of.
    #[pyo3(get)]
    revision: u64,
    /// Number of its sets.
    #[pyo3(get)]
    sets: u64,
    /// Distinct sentences of them.
    #[pyo3(get)]
    sentences: u64,
    /// Distinct (Frame, Trigger) pairs.
    #[pyo3(get)]
    pairs: u64,
    /// Distinct pairs of a frame and the lemma and part of speech of an LU.
    #[pyo3(get)]
    lemma_pairs: u64,
    /// Name of the split list that the query was read under.
    #[pyo3(get)]
    split_list: Option<String>,
    /// BLAKE3 of the ids: two editions with one hash hold the same sets.
    #[pyo3(get)]
    blake3: String,
    /// The share of its sets that it promises to be right; None where it promises nothing.
    #[pyo3(get)]
    precision: Option<f64>,
}

impl Edition {
    pub(crate) fn new(handle: &Arc<Handle>, release: String, edition: &model::Edition) -> Self {
        Self {
            handle: Arc::clone(handle),
            release,
            name: edition.name.clone(),
            expression: edition.expression.clone(),
            created: edition.created,
            revision: edition.revision,
            sets: edition.sets.len() as u64,
            sentences: edition.sentences,
            pairs: edition.pairs,
            lemma_pairs: edition.lemma_pairs,
            split_list: edition.split_list.as_ref().map(|list| list.id.name.clone()),
            blake3: edition.written_hash(),
            precision: edition.promise.as_ref().map(|promise| promise.precision),
        }
    }

    /// Reads it as it is now, under the split list that it was made under where none is named.
    pub(crate) fn read<T>(
        &self,
        work: impl FnOnce(&database::Database, ReleaseId, &model::Edition) -> Result<T>,
    ) -> Result<T> {
        let shared = self.handle.get()?;
        let (release, edition) = shared.edition(Some(&self.release), &self.name)?;
        if let (None, Some(kept)) = (shared.split_list(), &edition.split_list)
            && let Some(list) = kept_split_list(kept).map_err(DatabaseError::from)?
        {
            let database = database::Database::open(&self.handle.path)?.with_split_list(list)?;
            return work(&database, release, &edition);
        }
        work(&shared, release, &edition)
    }
}

#[pymethods]
impl Edition {
    /// A query of its sets, narrowed by an expression.
    #[pyo3(signature = (expression=""))]
    fn query(&self, expression: &str) -> Result<Query> {
        let of = [(Field::Release, &*self.release), (Field::Edition, &*self.name)];
        Query::over(&self.handle, narrowed(of, expression)?, Selection::default())
    }

    /// Which of its sets are gone or changed since, and which its query finds beside them.
    fn verify(&self, py: Python<'_>) -> Result<EditionChanges> {
        let lexicon::EditionChanges { removed, changed, added, unanswered } =
            py.detach(|| self.read(|database, id, of| Ok(database.edition_changes(id, of)?)))?;
        let ids = |sets: Vec<AnnotationSetId>| sets.iter().map(ToString::to_string).collect();
        let [removed, changed, added] = [removed, changed, added].map(ids);
        Ok(EditionChanges { removed, changed, added, unanswered })
    }

    /// Deletes it; its annotation sets stay. Gives the store's revision.
    fn delete(&self, py: Python<'_>) -> Result<u64> {
        py.detach(|| {
            self.handle.write(|database| {
                let (release, _) = database.edition(Some(&self.release), &self.name)?;
                let mut edits = database.transaction(release)?;
                edits.remove_edition(&self.name)?;
                Ok(edits.commit()?)
            })
        })
    }

    fn __repr__(&self) -> String {
        format!("<Edition {}: {} sets of {}>", self.name, self.sets, self.release)
    }
}

/// What has become of an edition since it was made; true where its sets are what they were.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct EditionChanges {
    /// Ids of sets that the release no longer has.
    removed: Vec<String>,
    /// Ids of sets whose text, frame, LU, targets or labels are others.
    changed: Vec<String>,
    /// Ids of sets that the edition's query finds and the edition does not hold.
    added: Vec<String>,
    /// Why the edition's query cannot be answered; None where it was.
    unanswered: Option<String>,
}

#[pymethods]
impl EditionChanges {
    fn __bool__(&self) -> bool {
        self.removed.is_empty() && self.changed.is_empty()
    }

    fn __repr__(&self) -> String {
        let counts = [&self.removed, &self.changed, &self.added].map(Vec::len);
        let [removed, changed, added] = counts;
        format!("<EditionChanges {removed} removed, {changed} changed, {added} more found>")
    }
}

/// What an edition is made of.
struct Asked<'a> {
    name: &'a str,
    sampling: Option<Sampling>,
    promise: Option<PromiseRequest>,
}

impl Asked<'_> {
    fn create(
        &self,
        database: &database::Database,
        expression: Expression,
    ) -> Result<(ReleaseId, model::Edition)> {
        let expression = match &self.sampling {
            Some(sampling) => database.sample(&expression, sampling)?.expression,
            None => expression,
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |age| age.as_secs());
        let made = match &self.promise {
            None => database.edition_of(self.name, &expression, now)?,
            Some(asked) => database
                .promised_edition(self.name, &expression, asked, now)?
                .map(|made| (made.release, made.edition)),
        };
        let Some((release, edition)) = made else {
            let message = "no annotation set matches: an edition holds at least one";
            return Err(Fault::new("EditError", "E-empty", message, "give a wider expression"));
        };
        let mut edits = database.transaction(release)?;
        edits.add_edition(edition.clone())?;
        edits.commit()?;
        Ok((release, edition))
    }
}

/// Name of a release.
fn called(database: &database::Database, release: ReleaseId) -> Result<String> {
    let known = database.releases()?.into_iter().find(|known| known.id == release);
    Ok(known.map_or_else(|| release.to_string(), |known| known.name))
}

#[pymethods]
impl Database {
    /// The editions of a release, or of all.
    #[pyo3(signature = (release=None))]
    fn editions(&self, py: Python<'_>, release: Option<&str>) -> Result<Vec<Edition>> {
        py.detach(|| {
            let database = self.handle.get()?;
            let releases = match release {
                Some(name) => vec![database.release(name)?],
                None => database.releases()?,
            };
            let mut found = Vec::new();
            for release in releases {
                for edition in database.store().editions(release.id)? {
                    found.push(Edition::new(&self.handle, release.name.clone(), &edition?));
                }
            }
            Ok(found)
        })
    }

    /// The one edition of a name; several are an AmbiguousNameError, and release narrows.
    #[pyo3(signature = (name, release=None))]
    fn edition(&self, py: Python<'_>, name: &str, release: Option<&str>) -> Result<Edition> {
        py.detach(|| {
            let database = self.handle.get()?;
            let (release, edition) = database.edition(release, name)?;
            Ok(Edition::new(&self.handle, called(&database, release)?, &edition))
        })
    }

    /// Freezes the annotation sets that a query finds under a name; they belong to one release.
    /// With sample, so many of them, or so many for each value of the fields in per. With precision
    /// they are candidates, ranked by a field, of which it holds those that judgements speak for:
    /// so large a share of them is right, with a confidence, and in each of the groups in by, which
    /// is round or lu.
    #[pyo3(signature = (name, expression, *, release=None, precision=None, confidence=0.95,
                        rank=None, by=None, sample=None, per=None, seed=Count(1)),
           text_signature = "($self, name, expression, *, release=None, precision=None, \
                             confidence=0.95, rank=None, by=None, sample=None, per=None, \
                             seed=1)")]
    #[allow(clippy::too_many_arguments, reason = "Python's callers name them")]
    fn create_edition(
        &self,
        py: Python<'_>,
        name: &str,
        expression: &str,
        release: Option<&str>,
        precision: Option<f64>,
        confidence: f64,
        rank: Option<&str>,
        by: Option<&str>,
        sample: Option<Count>,
        per: Option<&str>,
        seed: Count,
    ) -> Result<Edition> {
        py.detach(|| {
            let of = release.map(|name| (Field::Release, name));
            let expression = narrowed(of, expression)?;
            let sampling = sampling(sample, per, seed)?;
            let promise = request(precision, confidence, rank, by)?;
            let asked = Asked { name, sampling, promise };
            self.handle.write_for(&expression.clone(), |database| {
                let (release, edition) = asked.create(database, expression)?;
                Ok(Edition::new(&self.handle, called(database, release)?, &edition))
            })
        })
    }
}

/// A sample of so many sets, or of so many for each value of the fields in `per`.
pub(crate) fn sampling(
    sample: Option<Count>,
    per: Option<&str>,
    seed: Count,
) -> Result<Option<Sampling>> {
    let Some(size) = sample else { return Ok(None) };
    let per = per.map(fields).transpose()?.unwrap_or_default();
    Ok(Some(Sampling { size: size.size(), per, seed: seed.0 }))
}
