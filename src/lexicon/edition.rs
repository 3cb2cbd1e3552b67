//! Editions: what one holds when it is made, and what has become of it since.
//!
//! The hash of an edition is over the ids of its sets, so everybody who has the same sets has the
//! same hash. The content of each set is hashed by itself: a later edit is told by the set.

use std::collections::BTreeSet;

use crate::database::{Database, DatabaseError, ExportError, LookupError, Result};
use crate::model::{
    AnnotationSet, AnnotationSetId, Edition, Extent, FrozenSet, ReleaseId, SentenceId, SplitListId,
};
use crate::query::Expression;
use crate::text::{called, fold};

/// What has become of an edition.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EditionChanges {
    /// Sets that the release no longer has, in order of id.
    pub removed: Vec<AnnotationSetId>,
    /// Sets whose text, frame, LU, targets or labels are others, in order of id.
    pub changed: Vec<AnnotationSetId>,
    /// Sets that the edition's query finds and that neither the edition nor the candidates of its
    /// promise hold, in order of id.
    pub added: Vec<AnnotationSetId>,
    /// Why the edition's query cannot be answered: it names what is gone, or was read under another
    /// split list. Then nothing counts as added.
    pub unanswered: Option<String>,
}

impl EditionChanges {
    /// Whether the edition is what it was. Sets that its query would add do not count.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        self.removed.is_empty() && self.changed.is_empty()
    }
}

impl Database {
    /// An edition of the sets for which an expression holds, which belong to one release, with that
    /// release; `created` counts seconds since 1970 (UTC). Nothing is written:
    /// [`Transaction::add_edition`](crate::edit::Transaction::add_edition) does that. `None` when
    /// nothing matches.
    ///
    /// # Errors
    /// As [`query`](Self::query); when the sets belong to several releases.
    pub fn edition_of(
        &self,
        name: &str,
        expression: &Expression,
        created: u64,
    ) -> Result<Option<(ReleaseId, Edition)>> {
        let mut release = None;
        let mut sets = Vec::new();
        let mut sentences: BTreeSet<SentenceId> = BTreeSet::new();
        let (mut pairs, mut lemma_pairs) = (BTreeSet::new(), BTreeSet::new());
        for answer in self.query(expression)? {
            let answer = answer?;
            let (first, first_name) =
                release.get_or_insert_with(|| (answer.release.id, answer.release.name.clone()));
            if *first != answer.release.id {
                let names = vec![first_name.clone(), answer.release.name.clone()];
                return Err(DatabaseError::Export(ExportError::SeveralReleases { names }));
            }
            let set = &answer.set;
            sentences.insert(set.sentence);
            pairs.insert((set.frame, fold(&answer.trigger())));
            lemma_pairs.insert((set.frame, fold(&answer.lexunit)));
            let names = (&*answer.frame, &*answer.lexunit);
            sets.push(FrozenSet {
                set: set.id,
                content: content_hash(set, &answer.sentence.text, names),
            });
        }
        let Some((release, _)) = release else { return Ok(None) };
        sets.sort_unstable_by_key(|frozen| frozen.set);
        let edition = Edition {
            name: name.to_owned(),
            expression: expression.to_string(),
            created,
            revision: self.store().revision()?,
            sentences: sentences.len() as u64,
            pairs: pairs.len() as u64,
            lemma_pairs: lemma_pairs.len() as u64,
            split_list: self.split_list_for(expression)?.map(|list| list.record()),
            sets,
            promise: None,
        };
        Ok(Some((release, edition)))
    }

    /// What has become of an edition since it was made.
    ///
    /// # Errors
    /// When the store fails.
    pub fn edition_changes(&self, release: ReleaseId, edition: &Edition) -> Result<EditionChanges> {
        let mut changes = self.edition_faults(release, edition)?;
        let made = edition.split_list.as_ref();
        let under = self.split_list().map(|list| &list.id);
        if !SplitListId::same(under, made.map(|list| &list.id)) {
            let list = made.map_or_else(|| "none".to_owned(), |list| format!("`{}`", list.id.name));
            changes.unanswered = Some(format!("it was read under another split list: {list}"));
            return Ok(changes);
        }
        match self.found_beside(release, edition) {
            Ok(added) => changes.added = added,
            Err(error) => changes.unanswered = Some(error.to_string()),
        }
        Ok(changes)
    }

    /// Which sets of an edition are gone or changed since it was made. Its query is not asked.
    ///
    /// # Errors
    /// When the store fails.
    pub fn edition_faults(&self, release: ReleaseId, edition: &Edition) -> Result<EditionChanges> {
        let (store, catalog) = (self.store(), self.catalog()?);
        let mut changes = EditionChanges::default();
        for FrozenSet { set: id, content: frozen } in &edition.sets {
            let Some(set) = store.annotation_set(release, *id)? else {
                changes.removed.push(*id);
                continue;
            };
            let sentence = store.sentence(release, set.sentence)?;
            let text = sentence.map_or_else(String::new, |sentence| sentence.text);
            let frame = catalog.frame(release, set.frame)?;
            let lu = catalog.lexunit(release, set.frame, set.lu)?;
            if content_hash(&set, &text, (&frame, &lu)) != *frozen {
                changes.changed.push(*id);
            }
        }
        Ok(changes)
    }

    /// The sets that an edition's query finds and the edition does not hold, in order of id.
    fn found_beside(&self, release: ReleaseId, edition: &Edition) -> Result<Vec<AnnotationSetId>> {
        let expression: Expression = edition.expression.parse()?;
        let mut added = Vec::new();
        for found in self.matches(&expression, &crate::query::Selection::default())? {
            let found = found?;
            if found.release() == release && !edition.knows(found.set().id) {
                added.push(found.set().id);
            }
        }
        added.sort_unstable();
        Ok(added)
    }

    /// The edition of a name with its release: of the one release that has it, or of `release`.
    ///
    /// # Errors
    /// When there is none, or several releases have one, which it lists.
    pub fn edition(&self, release: Option<&str>, name: &str) -> Result<(ReleaseId, Edition)> {
        let mut found = Vec::new();
        let mut known = BTreeSet::new();
        let releases = match release {
            Some(release) => vec![self.release(release)?],
            None => self.releases()?,
        };
        for release in &releases {
            for edition in self.store().editions(release.id)? {
                let edition = edition?;
                known.insert(edition.name.clone());
                found.push((release.id, edition));
            }
        }
        let mut found = called(found, name, |(_, edition)| &edition.name);
        match found.len() {
            1 => Ok(found.remove(0)),
            0 => Err(DatabaseError::Lookup(LookupError::UnknownName {
                kind: "edition",
                name: name.to_owned(),
                nearest: crate::query::nearest(name, &known).cloned(),
            })),
            _ => {
                let has_it = |id: &ReleaseId| found.iter().any(|(of, _)| of == id);
                let having = releases.iter().filter(|release| has_it(&release.id));
                let choices = having.map(|release| format!("`{}`", release.name)).collect();
                let (kind, name) = ("edition", name.to_owned());
                Err(DatabaseError::Lookup(LookupError::Ambiguous { kind, name, choices }))
            }
        }
    }
}

/// First 8 bytes of the hash of what a set says, as `schema/records.md` has it.
pub(crate) fn content_hash(set: &AnnotationSet, text: &str, (frame, lu): (&str, &str)) -> u64 {
    let mut hasher = blake3::Hasher::new();
    let mut part = |part: &str| {
        hasher.update(&(part.len() as u64).to_be_bytes());
        hasher.update(part.as_bytes());
    };
    [text, frame, lu].into_iter().for_each(&mut part);
    for target in &set.targets {
        part(&format!("target {} {}", target.start, target.end));
    }
    for layer in &set.layers {
        for label in &layer.labels {
            let extent = match &label.extent {
                Extent::Overt(span) => format!("{} {}", span.start, span.end),
                Extent::Null(kind) => kind.as_str().to_owned(),
                Extent::None => "-".to_owned(),
            };
            part(&format!("{} {} {} {extent}", layer.name.as_str(), layer.rank, label.name));
        }
    }
    let mut first = [0; 8];
    first.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    u64::from_be_bytes(first)
}
