//! The names behind the numbers: releases, frames, LUs and documents, read when first asked for.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use super::links::{LinkedValues, linked_values};
use super::memo::Memo;
use crate::database::{Database, DatabaseError, Held, LookupError, Result};
use crate::model::{
    CorpusId, Document, DocumentId, FrameId, ListedPart, LuId, Release, ReleaseId, Split, SplitList,
};
use crate::query::{BuildError, Distance, Expression, Field, Followed, Pattern, Test, nearest};
use crate::search::elements;
use crate::search::relatives::{Distances, Relations};
use crate::store::{NameKind, Store};
use crate::text::composed;

/// LUs looked up one by one before all names are read at once. A frame has some ten LUs; reading
/// every name of FrameNet 1.5 costs as much as reading a few hundred LUs.
const LOOKUPS: usize = 200;

/// What each corpus is called.
type Corpora = HashMap<(ReleaseId, CorpusId), Vec<String>>;

/// Names of one database at one moment.
pub struct Catalog<'a> {
    database: Held<'a>,
    /// Parts of the data by name, before the built-in ones.
    pub(super) splits: Option<Arc<SplitList>>,
    releases: Vec<Arc<Release>>,
    frames: Memo<(ReleaseId, FrameId), Arc<str>>,
    lexunits: Memo<(ReleaseId, FrameId, LuId), Arc<str>>,
    statuses: Memo<(ReleaseId, FrameId, LuId), Arc<str>>,
    /// Documents that were looked up one by one.
    known_documents: Memo<(ReleaseId, CorpusId, DocumentId), Option<Arc<KnownDocument>>>,
    corpora: OnceLock<Corpora>,
    relations: OnceLock<Relations>,
    relatives: Memo<(ReleaseId, FrameId, Followed), Arc<Distances>>,
    /// What links say of LUs, by field.
    pub(super) links: Memo<Field, Arc<LinkedValues>>,
}

/// A document with what answers say of it, made once for all of its sets.
#[derive(Debug)]
pub(super) struct KnownDocument {
    pub(super) document: Arc<Document>,
    pub(super) name: Arc<str>,
    pub(super) description: Option<Arc<str>>,
    /// The part that a split list names for it.
    pub(super) listed: Option<ListedPart>,
    /// The part that it belongs to without a list.
    pub(super) split: Option<Split>,
}

impl KnownDocument {
    fn new(document: Document, splits: Option<&SplitList>) -> Self {
        let listed = splits.and_then(|list| list.of_document(&document, composed).next());
        Self {
            name: document.name.as_str().into(),
            description: document.description.as_deref().map(Into::into),
            listed: listed.map(|(_, split)| split),
            split: Split::of(&document),
            document: Arc::new(document),
        }
    }
}

impl<'a> Catalog<'a> {
    pub(super) fn new(database: Held<'a>, splits: Option<Arc<SplitList>>) -> Result<Self> {
        Ok(Self {
            releases: database.store.releases()?.into_iter().map(Arc::new).collect(),
            database,
            splits,
            frames: Memo::default(),
            lexunits: Memo::default(),
            statuses: Memo::default(),
            known_documents: Memo::default(),
            corpora: OnceLock::new(),
            relations: OnceLock::new(),
            relatives: Memo::default(),
            links: Memo::default(),
        })
    }

    pub(super) fn store(&self) -> &Store {
        &self.database.store
    }

    /// The visible releases, in order of import.
    #[must_use]
    pub fn releases(&self) -> &[Arc<Release>] {
        &self.releases
    }

    pub(super) fn release(&self, id: ReleaseId) -> Option<&Arc<Release>> {
        self.releases.iter().find(|release| release.id == id)
    }

    /// Name of a frame; its number when the store has no such frame.
    ///
    /// # Errors
    /// When the store fails; so for every function here.
    pub fn frame(&self, release: ReleaseId, frame: FrameId) -> Result<Arc<str>> {
        let key = (release, frame);
        if let Some(name) = self.frames.get(&key) {
            return Ok(name);
        }
        let found = self.store().frame(release, frame)?;
        let name: Arc<str> = found.map_or_else(|| frame.to_string(), |frame| frame.name).into();
        self.frames.insert(key, Arc::clone(&name));
        Ok(name)
    }

    /// Name of an LU; its number when the store has no such LU.
    pub fn lexunit(&self, release: ReleaseId, frame: FrameId, lu: LuId) -> Result<Arc<str>> {
        let key = (release, frame, lu);
        if let Some(name) = self.lexunits.get(&key) {
            return Ok(name);
        }
        if self.lexunits.len() == LOOKUPS {
            self.read_all_lexunits()?;
            if let Some(name) = self.lexunits.get(&key) {
                return Ok(name);
            }
        }
        let found = self.store().lexunit(release, frame, lu)?;
        let name: Arc<str> = found.map_or_else(|| lu.to_string(), |lu| lu.name).into();
        self.lexunits.insert(key, Arc::clone(&name));
        Ok(name)
    }

    /// Lexicographic status of an LU; empty when the store has no such LU.
    pub(super) fn lexunit_status(
        &self,
        release: ReleaseId,
        frame: FrameId,
        lu: LuId,
    ) -> Result<Arc<str>> {
        let key = (release, frame, lu);
        if let Some(status) = self.statuses.get(&key) {
            return Ok(status);
        }
        let found = self.store().lexunit(release, frame, lu)?;
        let status: Arc<str> = found.map_or_else(String::new, |lu| lu.status).into();
        self.statuses.insert(key, Arc::clone(&status));
        Ok(status)
    }

    /// Frame, number and lexicographic status of all LUs of a release, in one scan; none of them is
    /// looked up again.
    pub(super) fn lexunit_statuses(
        &self,
        release: ReleaseId,
    ) -> Result<Vec<(FrameId, LuId, Arc<str>)>> {
        let mut statuses = Vec::new();
        let mut known = self.statuses.locked();
        for lu in self.store().lexunits(release)? {
            let lu = lu?;
            let status: Arc<str> = lu.status.into();
            known.insert((release, lu.frame, lu.id), Arc::clone(&status));
            statuses.push((lu.frame, lu.id, status));
        }
        Ok(statuses)
    }

    /// What links say of every LU that has some, by a field that they answer.
    pub(super) fn linked(&self, field: Field) -> Result<Arc<LinkedValues>> {
        if let Some(values) = self.links.get(&field) {
            return Ok(values);
        }
        let values = Arc::new(linked_values(self.store(), &self.releases, field)?);
        self.links.insert(field, Arc::clone(&values));
        Ok(values)
    }

    fn read_all_lexunits(&self) -> Result<()> {
        let mut lexunits = self.lexunits.locked();
        for release in &self.releases {
            for row in self.store().lexunit_names(release.id)? {
                let (frame, lu, name) = row?;
                lexunits.entry((release.id, frame, lu)).or_insert_with(|| name.into());
            }
        }
        Ok(())
    }

    /// The document of that number in that corpus; full text or a source of exemplars.
    pub fn document(
        &self,
        release: ReleaseId,
        corpus: CorpusId,
        document: DocumentId,
    ) -> Result<Option<Arc<Document>>> {
        let known = self.known_document(release, corpus, document)?;
        Ok(known.map(|known| Arc::clone(&known.document)))
    }

    /// A document, read when it is first asked for.
    pub(super) fn known_document(
        &self,
        release: ReleaseId,
        corpus: CorpusId,
        document: DocumentId,
    ) -> Result<Option<Arc<KnownDocument>>> {
        let key = (release, corpus, document);
        if let Some(known) = self.known_documents.get(&key) {
            return Ok(known);
        }
        let found = self.store().document(release, corpus, document)?;
        let known = found.map(|found| Arc::new(KnownDocument::new(found, self.splits.as_deref())));
        self.known_documents.insert(key, known.clone());
        Ok(known)
    }

    /// Number of documents that were looked up.
    #[cfg(test)]
    pub(super) fn documents_looked_up(&self) -> usize {
        self.known_documents.len()
    }

    /// What a corpus is called: by most releases one name, and each of those that its documents
    /// call it by, in order of the documents. None when no document says.
    pub fn corpus_names(&self, release: ReleaseId, corpus: CorpusId) -> Result<&[String]> {
        if self.corpora.get().is_none() {
            let mut corpora = Corpora::new();
            for release in &self.releases {
                for document in self.store().documents(release.id)? {
                    let document = document?;
                    let names = corpora.entry((release.id, document.corpus)).or_default();
                    if !names.contains(&document.corpus_name) {
                        names.push(document.corpus_name);
                    }
                }
            }
            let _ = self.corpora.set(corpora);
        }
        let names = self.corpora.get().and_then(|all| all.get(&(release, corpus)));
        Ok(names.map_or(&[], Vec::as_slice))
    }

    /// The frame itself and the frames that the followed relations lead to, with their distances.
    pub(super) fn relatives(
        &self,
        release: ReleaseId,
        frame: FrameId,
        followed: Followed,
    ) -> Result<Arc<Distances>> {
        let key = (release, frame, followed);
        if let Some(known) = self.relatives.get(&key) {
            return Ok(known);
        }
        if self.relations.get().is_none() {
            let releases = self.releases.iter().map(|release| &**release);
            let _ = self.relations.set(Relations::read(self.store(), releases)?);
        }
        let relations = self.relations.get_or_init(Relations::default);
        let found = Arc::new(relations.reached(release, frame, followed));
        self.relatives.insert(key, Arc::clone(&found));
        Ok(found)
    }

    /// Whether relations lead from a frame to one that a pattern names, so far away.
    pub(super) fn is_related(
        &self,
        (release, frame): (ReleaseId, FrameId),
        followed: Followed,
        pattern: &Pattern,
        distance: Distance,
    ) -> Result<bool> {
        for (other, steps) in self.relatives(release, frame, followed)?.iter() {
            if distance.holds(*steps) && pattern.matches(&self.frame(release, *other)?) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether an expression holds of a frame. Its terms test relations, as `uses=Motion` does.
    ///
    /// # Errors
    /// [`BuildError::NotOfFrames`] for a term of another field; when the store fails.
    pub fn frame_passes(
        &self,
        release: ReleaseId,
        frame: FrameId,
        expression: &Expression,
    ) -> Result<bool> {
        expression.holds(&mut |term| match (term.field.followed(), &term.test) {
            (Some(followed), Test::Relative(pattern, distance)) => {
                let distance = distance.unwrap_or(term.field.usual_distance());
                self.is_related((release, frame), followed, pattern, distance)
            }
            _ => Err(BuildError::NotOfFrames { field: term.field }.into()),
        })
    }
}

impl Database {
    /// The names behind the numbers.
    ///
    /// # Errors
    /// When the store fails.
    pub fn catalog(&self) -> Result<Catalog<'_>> {
        Catalog::new(Held::Borrowed(self), self.split_list().cloned())
    }

    /// The error for a name that no release has.
    pub(crate) fn unknown(&self, kind: NameKind, name: &str) -> Result<DatabaseError> {
        let mut names = BTreeSet::new();
        for release in self.releases()? {
            for known in self.store.names(release.id, kind)? {
                names.insert(known?);
            }
            if kind == NameKind::FrameElement {
                // Also those that no frame defines.
                for set in self.store.annotation_sets(release.id)? {
                    let set = set?;
                    for element in elements(&set) {
                        if !names.contains(&element.label.name) {
                            names.insert(element.label.name.clone());
                        }
                    }
                }
            }
        }
        Ok(DatabaseError::Lookup(LookupError::UnknownName {
            kind: kind.words(),
            name: name.to_owned(),
            nearest: nearest(name, names),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transfer::ImportOptions;

    #[test]
    fn relations_of_a_frame_are_followed_once() {
        let store = tempfile::tempdir().unwrap();
        let mini = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mini-framenet");
        let database = Database::open_writer(store.path()).unwrap();
        let options = ImportOptions::default();
        let release = database.import(mini.as_ref(), &options, &mut |_| {}).unwrap().release.id;
        let catalog = database.catalog().unwrap();
        let expression = Expression::parse("related=*{distance<=9} uses!=Nothing").unwrap();
        let frames = database.store().frame_names(release).unwrap();
        let frames: Vec<_> = frames.map(|row| row.unwrap().0).collect();
        let mut followed = 0;
        for round in 0..2 {
            for &frame in &frames {
                catalog.frame_passes(release, frame, &expression).unwrap();
            }
            let now = catalog.relatives.len();
            assert!(frames.len() <= now && (round == 0 || now == followed), "{now} of {frames:?}");
            followed = now;
        }
    }
}
