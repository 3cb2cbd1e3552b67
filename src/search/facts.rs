//! What is looked up about sets beside their own records, and kept for the other sets of a query.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use super::catalog::Catalog;
use super::foreign::ForeignContent;
use super::memo::Memo;
use crate::database::{Result, listing};
use crate::model::{
    AnnotationSet, AnnotationSetId, CorpusId, DocumentId, Edition, FrameId, IdSpace, LuId,
    Provenance, ReleaseId, Sentence, SentenceId, Verification, hexadecimal,
};
use crate::store::Store;

/// The store with what was read of it.
pub(super) struct Facts<'a> {
    pub(super) catalog: Catalog<'a>,
    /// Fingerprint of each recipe, hexadecimal, by number.
    recipes: OnceLock<HashMap<u32, String>>,
    /// What the releases' files hold beside FrameNet.
    foreign_content: OnceLock<ForeignContent>,
    /// Every release's editions.
    editions: OnceLock<Vec<(ReleaseId, Edition)>>,
    /// Whether a verifier was asked of sets of each release.
    verified: Memo<ReleaseId, bool>,
    /// Where the seeds that were asked about come from: offspring of several lies mixed.
    seeds: Memo<(ReleaseId, AnnotationSetId), Home>,
    /// The last sentence that was read: a text of thousands of sets is read once for those that
    /// lie together.
    last_sentence: Mutex<Option<(ReleaseId, Arc<Sentence>)>>,
}

/// Most seeds that are remembered at once.
const SEEDS: usize = 10_000;

/// Where a set comes from, or the one that it grew from.
#[derive(Debug, Clone, Default)]
pub(super) struct Home {
    /// The corpus and the document that list it.
    pub(super) listing: Option<(CorpusId, Option<DocumentId>)>,
    /// The file that it was imported from, for sets that are no FrameNet release's.
    pub(super) file: Option<Arc<str>>,
    /// Whether it illustrates an LU: the built-in list names no part of such sentences.
    pub(super) is_exemplar: bool,
    /// The sentence.
    pub(super) sentence: Option<SentenceId>,
    /// The LU.
    pub(super) lexunit: Option<(FrameId, LuId)>,
}

impl<'a> Facts<'a> {
    pub(super) fn new(catalog: Catalog<'a>) -> Self {
        Self {
            catalog,
            recipes: OnceLock::new(),
            foreign_content: OnceLock::new(),
            editions: OnceLock::new(),
            verified: Memo::default(),
            seeds: Memo::default(),
            last_sentence: Mutex::default(),
        }
    }

    pub(super) fn store(&self) -> &Store {
        self.catalog.store()
    }

    /// The sentence of that id.
    pub(super) fn sentence(
        &self,
        release: ReleaseId,
        id: SentenceId,
    ) -> Result<Option<Arc<Sentence>>> {
        let last = || self.last_sentence.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some((of, sentence)) = last().as_ref()
            && (*of, sentence.id) == (release, id)
        {
            return Ok(Some(Arc::clone(sentence)));
        }
        let found = self.store().sentence(release, id)?.map(Arc::new);
        *last() = found.clone().map(|sentence| (release, sentence));
        Ok(found)
    }

    pub(super) fn recipe(&self, id: u32) -> Result<Option<&str>> {
        if self.recipes.get().is_none() {
            let recipes = self.store().recipes()?.into_iter();
            let prints = recipes.map(|(id, print, _)| (id.0, hexadecimal(&print)));
            let _ = self.recipes.set(prints.collect());
        }
        Ok(self.recipes.get().and_then(|recipes| recipes.get(&id)).map(String::as_str))
    }

    pub(super) fn foreign(&self) -> Result<&ForeignContent> {
        if self.foreign_content.get().is_none() {
            let releases = self.catalog.releases().iter().map(|release| release.id);
            let _ = self.foreign_content.set(ForeignContent::read(self.store(), releases)?);
        }
        Ok(self.foreign_content.get_or_init(ForeignContent::default))
    }

    pub(super) fn editions(&self) -> Result<&[(ReleaseId, Edition)]> {
        if self.editions.get().is_none() {
            let mut editions = Vec::new();
            for release in self.catalog.releases() {
                for edition in self.store().editions(release.id)? {
                    editions.push((release.id, edition?));
                }
            }
            let _ = self.editions.set(editions);
        }
        Ok(self.editions.get().map_or(&[], Vec::as_slice))
    }

    /// What a verifier says of a set. A release of which none was asked is not looked at again.
    pub(super) fn verification(
        &self,
        release: ReleaseId,
        set: AnnotationSetId,
    ) -> Result<Option<Verification>> {
        let known = self.verified.get(&release);
        let is_verified = match known {
            Some(known) => known,
            None => {
                let is_verified = self.store().all_verifications(release)?.next().is_some();
                self.verified.insert(release, is_verified);
                is_verified
            }
        };
        Ok(if is_verified { self.store().verification(release, set)? } else { None })
    }

    /// Where a seed comes from.
    pub(super) fn home_of_seed(&self, release: ReleaseId, seed: AnnotationSetId) -> Result<Home> {
        if let Some(home) = self.seeds.get(&(release, seed)) {
            return Ok(home);
        }
        let home = match self.store().annotation_set(release, seed)? {
            Some(set) if Home::is_told_by(&set) => Home::of(&set, None),
            Some(set) => {
                let sentence = self.store().sentence(release, set.sentence)?;
                Home::of(&set, sentence.as_ref())
            }
            None => Home::default(),
        };
        self.seeds.insert_among(SEEDS, (release, seed), home.clone());
        Ok(home)
    }

    /// Reads together where seeds come from, as far as it is not known.
    pub(super) fn read_homes(
        &self,
        seeds: impl Iterator<Item = (ReleaseId, AnnotationSetId)>,
    ) -> Result<()> {
        let mut unknown: Vec<_> = seeds.collect();
        unknown.sort_unstable();
        unknown.dedup();
        let known = self.seeds.locked();
        unknown.retain(|seed| !known.contains_key(seed));
        drop(known);
        let sets = self.store().annotation_sets_by_id(&unknown)?;
        let silent = unknown.iter().zip(&sets).filter_map(|((release, _), set)| {
            let set = set.as_ref().filter(|set| !Home::is_told_by(set))?;
            Some((*release, set.sentence))
        });
        let silent: Vec<_> = silent.collect();
        let mut sentences = self.store().sentences_of(&silent)?.into_iter();
        for (seed, set) in unknown.into_iter().zip(sets) {
            let home = match &set {
                Some(set) if Home::is_told_by(set) => Home::of(set, None),
                Some(set) => Home::of(set, sentences.next().flatten().as_ref()),
                None => Home::default(),
            };
            self.seeds.insert_among(SEEDS, seed, home);
        }
        Ok(())
    }

    /// Number of seeds of which it is known where they come from.
    #[cfg(test)]
    pub(super) fn known_seeds(&self) -> usize {
        self.seeds.len()
    }
}

impl Home {
    /// Whether a set says itself where it comes from; no sentence needs to be read.
    fn is_told_by(set: &AnnotationSet) -> bool {
        matches!(set.provenance, Provenance::FullText { .. })
    }

    /// Where a set comes from that was not generated; `sentence` is its own.
    pub(super) fn of(set: &AnnotationSet, sentence: Option<&Sentence>) -> Self {
        let occurrences = sentence.map_or(&[][..], |sentence| &sentence.occurrences);
        let file = set.provenance.file().map(Arc::from);
        // What people add to an exemplar belongs where the exemplar does.
        let is_exemplar = match set.provenance {
            Provenance::Exemplar { .. } => true,
            Provenance::User => set.sentence.space() == IdSpace::Exemplar,
            _ => false,
        };
        Self {
            listing: listing(set, occurrences),
            file,
            is_exemplar,
            sentence: Some(set.sentence),
            lexunit: Some((set.frame, set.lu)),
        }
    }
}
