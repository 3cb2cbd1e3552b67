//! Sentences with what is annotated over them, many at a time.

use std::iter::Peekable;

use super::family::Family;
use super::key::{AnnotationKey, Key, SentenceKey, SentenceSetKey, SetKey};
use super::ranges::KeyRange;
use super::read::record_of;
use super::record::{self, Stored};
use super::{Result, SetLocation, Store, StoreError};
use crate::model::{AnnotationSet, AnnotationSetId, ReleaseId, Sentence, SentenceLayers};

/// Sentences and sets that are read together.
const TOGETHER: usize = 256;

/// A sentence with what is annotated over it, each in order of id.
#[derive(Debug)]
pub(crate) struct SentenceGroup {
    pub(crate) sentence: Sentence,
    pub(crate) sets: Vec<AnnotationSet>,
    pub(crate) layers: Vec<SentenceLayers>,
}

/// A key and the record under it.
type Keyed<T> = Result<(<T as Stored>::Key, T)>;

/// The groups of a part, read some at a time.
struct Groups<'s, S, L, B>
where
    L: Iterator,
    B: Iterator,
{
    store: &'s Store,
    sentences: S,
    layers: Peekable<L>,
    listed: Peekable<B>,
    ready: std::vec::IntoIter<SentenceGroup>,
    /// What went wrong behind those that are ready.
    failed: Option<StoreError>,
}

/// A sentence, how many sets it lists, and its layers.
type Listed = (Sentence, usize, Vec<SentenceLayers>);

impl<S, L, B> Groups<'_, S, L, B>
where
    S: Iterator<Item = Keyed<Sentence>>,
    L: Iterator<Item = Keyed<SentenceLayers>>,
    B: Iterator<Item = Result<SentenceSetKey>>,
{
    /// The next sentence; the sets that it lists go to `ids`.
    fn listed(&mut self, ids: &mut Vec<(ReleaseId, AnnotationSetId)>) -> Option<Result<Listed>> {
        let (SentenceKey { release, sentence: id }, sentence) = match self.sentences.next()? {
            Ok(row) => row,
            Err(error) => return Some(Err(error)),
        };
        let before = ids.len();
        let is_reached =
            |of: &Result<SentenceSetKey>| of.as_ref().map_or(true, |of| of.sentence <= id);
        while let Some(row) = self.listed.next_if(is_reached) {
            match row {
                Ok(of) if of.sentence == id => ids.push((release, of.set)),
                Ok(_) => {}
                Err(error) => return Some(Err(error)),
            }
        }
        let is_reached =
            |of: &Keyed<SentenceLayers>| of.as_ref().map_or(true, |(key, _)| key.sentence <= id);
        let over = std::iter::from_fn(|| self.layers.next_if(is_reached));
        let over: Result<Vec<_>> = over.map(|row| Ok(row?.1)).collect();
        Some(over.map(|layers| (sentence, ids.len() - before, layers)))
    }

    /// Reads the next groups; says whether there are any.
    fn read(&mut self) -> bool {
        let (mut batch, mut ids) = (Vec::new(), Vec::new());
        while batch.len() + ids.len() < TOGETHER && self.failed.is_none() {
            match self.listed(&mut ids) {
                Some(Ok(sentence)) => batch.push(sentence),
                Some(Err(error)) => self.failed = Some(error),
                None => break,
            }
        }
        if batch.is_empty() {
            return false;
        }
        match self.store.annotation_sets_by_id(&ids) {
            Ok(sets) => {
                let mut sets = sets.into_iter();
                let group = |(sentence, count, layers)| {
                    let sets = sets.by_ref().take(count).flatten().collect();
                    SentenceGroup { sentence, sets, layers }
                };
                self.ready = batch.into_iter().map(group).collect::<Vec<_>>().into_iter();
            }
            Err(error) => self.failed = Some(error),
        }
        true
    }
}

impl<S, L, B> Iterator for Groups<'_, S, L, B>
where
    S: Iterator<Item = Keyed<Sentence>>,
    L: Iterator<Item = Keyed<SentenceLayers>>,
    B: Iterator<Item = Result<SentenceSetKey>>,
{
    type Item = Result<SentenceGroup>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(group) = self.ready.next() {
                return Some(Ok(group));
            }
            if let Some(error) = self.failed.take() {
                return Some(Err(error));
            }
            if !self.read() && self.failed.is_none() {
                return None;
            }
        }
    }
}

impl Store {
    /// The sentences of a [part](Self::parts_of_sentences) with their sets and layers, by id. Sets
    /// that are listed and gone are left out.
    pub(crate) fn groups_of_part(
        &self,
        part: &KeyRange,
    ) -> Result<impl Iterator<Item = Result<SentenceGroup>> + use<'_>> {
        let sentences = self.keyed_of_part::<Sentence>(Family::Sentence, part)?;
        let layers = self.keyed_of_part::<SentenceLayers>(Family::SentenceLayers, part)?.peekable();
        let listed = self.engine.view().rows(Family::BySentence, part.options())?;
        let listed = listed.each(|key, _| {
            let damaged = || StoreError::damaged(Family::BySentence.name(), key, "no key");
            SentenceSetKey::decode(key).ok_or_else(damaged)
        });
        let (listed, ready, failed) = (listed.peekable(), Vec::new().into_iter(), None);
        Ok(Groups { store: self, sentences, layers, listed, ready, failed })
    }

    /// The sets of these ids, in their order; faster than one by one where many of them lie
    /// together.
    pub(crate) fn annotation_sets_by_id(
        &self,
        ids: &[(ReleaseId, AnnotationSetId)],
    ) -> Result<Vec<Option<AnnotationSet>>> {
        let keys = ids.iter().map(|&(release, set)| SetKey { release, set }.encode()).collect();
        let read = |at: usize, value: &[u8]| record::decode_location(ids[at].1, value);
        let found = self.values_of(Family::SetLocation, keys, read)?;
        let mut places = Vec::with_capacity(ids.len());
        for (at, location) in found.into_iter().enumerate() {
            let (Some(SetLocation { frame, lu, sentence }), (release, set)) = (location, ids[at])
            else {
                continue;
            };
            places.push((at, AnnotationKey { release, frame, lu, sentence, set }));
        }
        let keys = places.iter().map(|(_, key)| key.encode()).collect();
        let read = |at: usize, value: &[u8]| AnnotationSet::from_value(&places[at].1, value);
        let sets = self.values_of(Family::Annotation, keys, read)?;
        let mut found = vec![None; ids.len()];
        for ((at, _), set) in places.into_iter().zip(sets) {
            found[at] = set;
        }
        Ok(found)
    }

    /// What is made of the values of keys, in the order of the keys; `read` is told the place of
    /// each among them.
    pub(super) fn values_of<T>(
        &self,
        family: Family,
        keys: Vec<Vec<u8>>,
        read: impl Fn(usize, &[u8]) -> std::result::Result<T, String>,
    ) -> Result<Vec<Option<T>>> {
        let mut keys: Vec<_> = keys.into_iter().enumerate().map(|(at, key)| (key, at)).collect();
        keys.sort_unstable();
        let (sorted, places): (Vec<_>, Vec<_>) = keys.into_iter().unzip();
        let made = self.engine.read_sorted(family, &sorted, |at, value| {
            let damaged = |reason| StoreError::damaged(family.name(), &sorted[at], reason);
            read(places[at], value).map_err(damaged)
        })?;
        let mut found: Vec<_> = places.iter().map(|_| None).collect();
        for (made, place) in made.into_iter().zip(places) {
            found[place] = made;
        }
        Ok(found)
    }

    fn keyed_of_part<T: Stored + 'static>(
        &self,
        family: Family,
        part: &KeyRange,
    ) -> Result<impl Iterator<Item = Keyed<T>> + use<T>>
    where
        T::Key: Key,
    {
        let rows = self.engine.view().rows(family, part.options())?;
        Ok(rows.each(move |key, value| record_of(family, key, value)))
    }
}
