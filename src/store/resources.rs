//! Lexicons of other kinds than FrameNet's: which there are, and their rows.
//!
//! The family `resource` lists them, apart from the releases of the book. So whatever goes over
//! releases meets none of them. A resource has a number of its own among the releases' numbers, and
//! its rows are written as an import's are: invisible until one commit lists them.

use std::collections::BTreeSet;

use super::batch::Batch;
use super::family::Family;
use super::key::{
    IrregularKey, Key as _, MappingKey, PredicateKey, Prefix, ResourceKey, SenseKey, SynsetKey,
};
use super::record::Stored as _;
use super::tally::Keyed;
use super::{Result, Store};
use crate::model::{
    IrregularForm, Mapping, Predicate, ReleaseId, Resource, Synset, SynsetId, Word, WordClass,
};

impl Store {
    /// The lexicons of other kinds than FrameNet's, in order of import.
    ///
    /// # Errors
    /// When the engine fails or a record is damaged; so for every function here.
    pub fn resources(&self) -> Result<Vec<Resource>> {
        self.listed_resources()?.collect()
    }

    /// The names of the resources whose record can be read.
    pub(crate) fn resource_names(&self) -> Result<Vec<String>> {
        Ok(self.readable_resources()?.into_iter().map(|resource| resource.name).collect())
    }

    /// The resources whose records can be read.
    pub(crate) fn readable_resources(&self) -> Result<Vec<Resource>> {
        Ok(self.listed_resources()?.flatten().collect())
    }

    fn listed_resources(&self) -> Result<impl Iterator<Item = Result<Resource>> + '_> {
        // A reader may see a store that an earlier program wrote, which lacks the family.
        let rows = match self.engine.has(Family::Resource) {
            true => Some(self.records(Family::Resource, Vec::new())?),
            false => None,
        };
        Ok(rows.into_iter().flatten())
    }

    /// The numbers of the resources once a commit is made that puts and deletes these keys. A
    /// record that cannot be read counts: its key says whose rows there are.
    pub(super) fn resource_ids(&self, keyed: &Keyed) -> Result<BTreeSet<ReleaseId>> {
        let mut ids = BTreeSet::new();
        let is_there = self.engine.has(Family::Resource);
        let rows = is_there.then(|| self.engine.scan(Family::Resource, Vec::new())).transpose()?;
        for row in rows.into_iter().flatten() {
            ids.extend(ResourceKey::decode(&row?.0).map(|key| key.resource));
        }
        for (_, key, is_put) in keyed.iter().filter(|(family, ..)| *family == Family::Resource) {
            let Some(ResourceKey { resource }) = ResourceKey::decode(key) else { continue };
            if *is_put {
                ids.insert(resource);
            } else {
                ids.remove(&resource);
            }
        }
        Ok(ids)
    }

    /// The numbers of all releases and resources that are listed: those of rows that are seen.
    pub(crate) fn visible(&self) -> Result<BTreeSet<ReleaseId>> {
        let releases = self.releases()?.into_iter().map(|release| release.id);
        Ok(releases.chain(self.resource_ids(&Keyed::default())?).collect())
    }

    /// Lists a resource, whose rows were written under a number of
    /// [`begin_release`](Store::begin_release): from here on it is visible, whole. Gives the new
    /// revision.
    pub fn list_resource(&self, resource: &Resource) -> Result<u64> {
        self.engine.flush()?;
        let mut batch = self.batch(resource.id);
        let key = ResourceKey { resource: resource.id };
        batch.put(Family::Resource, &key, &resource.name, resource.to_value())?;
        batch.explain(
            &format!("the {} `{}` was imported", resource.kind.called(), resource.name),
            &[],
        );
        let parts = (batch.rows, batch.keyed, batch.touched, batch.history);
        let next = resource.id.0.saturating_add(1);
        self.commit_with(parts, Vec::new(), |book| book.next_release = next)
    }

    /// Removes a resource with its rows. Gives the new revision.
    pub fn remove_resource(&self, resource: &Resource) -> Result<u64> {
        let mut batch = self.batch(resource.id);
        batch.delete_all_rows(resource.id)?;
        batch.delete_row(Family::Resource, &ResourceKey { resource: resource.id }.encode())?;
        batch.explain(
            &format!("the {} `{}` was removed", resource.kind.called(), resource.name),
            &[],
        );
        self.commit(batch)
    }

    /// The synset of that number.
    pub fn synset(&self, resource: ReleaseId, synset: SynsetId) -> Result<Option<Synset>> {
        self.record(Family::Synset, SynsetKey { release: resource, synset })
    }

    /// All synsets of a resource, by number.
    pub fn synsets(
        &self,
        resource: ReleaseId,
    ) -> Result<impl Iterator<Item = Result<Synset>> + '_> {
        self.records(Family::Synset, Prefix::of(resource).bytes())
    }

    /// The numbers of all synsets, each with its resource.
    pub(crate) fn synset_ids(
        &self,
    ) -> Result<impl Iterator<Item = Result<(ReleaseId, SynsetId)>> + '_> {
        let rows = self.engine.scan(Family::Synset, Vec::new())?;
        Ok(rows.filter_map(|row| match row {
            Ok((key, _)) => SynsetKey::decode(&key).map(|key| Ok((key.release, key.synset))),
            Err(error) => Some(Err(error)),
        }))
    }

    /// The word of a lemma, in small letters.
    pub fn word(&self, resource: ReleaseId, class: WordClass, lemma: &str) -> Result<Option<Word>> {
        let lemma = lemma.to_owned();
        self.record(Family::Sense, SenseKey { release: resource, class, lemma })
    }

    /// All words of a resource, by class and lemma.
    pub fn words(&self, resource: ReleaseId) -> Result<impl Iterator<Item = Result<Word>> + '_> {
        self.records(Family::Sense, Prefix::of(resource).bytes())
    }

    /// What an irregular form, in small letters, is of.
    pub fn irregular_form(
        &self,
        resource: ReleaseId,
        class: WordClass,
        form: &str,
    ) -> Result<Option<IrregularForm>> {
        let form = form.to_owned();
        self.record(Family::Irregular, IrregularKey { release: resource, class, form })
    }

    /// The class or roleset of a name.
    pub fn predicate(&self, resource: ReleaseId, name: &str) -> Result<Option<Predicate>> {
        self.record(Family::Predicate, PredicateKey { release: resource, name: name.to_owned() })
    }

    /// All classes or rolesets of a resource, by name.
    pub fn predicates(
        &self,
        resource: ReleaseId,
    ) -> Result<impl Iterator<Item = Result<Predicate>> + '_> {
        self.records(Family::Predicate, Prefix::of(resource).bytes())
    }

    /// All rows of a resource that join lexicons, in order.
    pub fn mappings(
        &self,
        resource: ReleaseId,
    ) -> Result<impl Iterator<Item = Result<Mapping>> + '_> {
        self.records(Family::Mapping, Prefix::of(resource).bytes())
    }
}

impl Batch<'_> {
    /// Writes a synset.
    ///
    /// # Errors
    /// When the engine fails; so for every row.
    pub fn put_synset(&mut self, synset: &Synset) -> Result<()> {
        let key = SynsetKey { release: self.release, synset: synset.id };
        self.put(Family::Synset, &key, &synset.written, synset.to_value())
    }

    /// Writes a word.
    pub fn put_word(&mut self, word: &Word) -> Result<()> {
        let key = SenseKey { release: self.release, class: word.class, lemma: word.lemma.clone() };
        self.put(Family::Sense, &key, &word.lemma, word.to_value())
    }

    /// Writes an irregular form.
    pub fn put_irregular_form(&mut self, of: &IrregularForm) -> Result<()> {
        let key = IrregularKey { release: self.release, class: of.class, form: of.form.clone() };
        self.put(Family::Irregular, &key, &of.form, of.to_value())
    }

    /// Writes a class or roleset.
    pub fn put_predicate(&mut self, of: &Predicate) -> Result<()> {
        let key = PredicateKey { release: self.release, name: of.name.clone() };
        self.put(Family::Predicate, &key, &of.name, of.to_value())
    }

    /// Writes a row that joins lexicons.
    pub fn put_mapping(&mut self, of: &Mapping) -> Result<()> {
        let key = MappingKey { release: self.release, number: of.number };
        self.put(Family::Mapping, &key, &of.lemma, of.to_value())
    }
}
