//! A release: one import of one lexicon.

use super::{
    AnnotationSet, CorpusId, DocumentId, Frame, FrameRelation, IdSpace, LexUnit, OWN_RANGE, Origin,
    ReleaseId, SemType, Sentence, SentenceLayers,
};

/// A FrameNet release (or a dataset of that shape) inside a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// Its number in keys.
    pub id: ReleaseId,
    /// Its name, as in `bfn-1.5`; unique in a store.
    pub name: String,
    /// Language tag, as in `en`.
    pub language: String,
    /// File or directory it was read from, as given.
    pub source: String,
    /// Bytes of the source's XML, unpacked.
    pub source_bytes: u64,
    /// When it was imported, seconds since 1970 (UTC).
    pub imported: u64,
    /// What it holds: counted while reading, and kept true by every commit.
    pub counts: ReleaseCounts,
}

/// What a release holds. An *occurrence* is one appearance in a file: a sentence listed under two
/// LUs occurs twice and is stored once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "the names say it")]
pub struct ReleaseCounts {
    pub frames: u64,
    /// LUs named by frame files, with or without a file in `lu/`, and those that were added.
    pub lexunits: u64,
    pub lu_files: u64,
    pub documents: u64,
    pub frame_relations: u64,
    pub sem_types: u64,
    pub exemplar_sets: u64,
    pub fulltext_sets: u64,
    pub construction_sets: u64,
    /// Occurrences of UNANN sets of sentence layers (part of speech, named entities, ...).
    pub sentence_layer_occurrences: u64,
    /// Distinct sets of sentence layers.
    pub sentence_layer_sets: u64,
    pub sentence_occurrences: u64,
    /// Distinct sentences, generated ones not among them.
    pub sentences: u64,
}

impl ReleaseCounts {
    /// Every count with its name, in the order of the fields.
    #[must_use]
    pub fn named(mut self) -> [(&'static str, u64); 13] {
        self.slots().map(|(name, count)| (name, *count))
    }

    /// Every count by its name, to be changed.
    pub fn slots(&mut self) -> [(&'static str, &mut u64); 13] {
        let Self {
            frames,
            lexunits,
            lu_files,
            documents,
            frame_relations,
            sem_types,
            exemplar_sets,
            fulltext_sets,
            construction_sets,
            sentence_layer_occurrences,
            sentence_layer_sets,
            sentence_occurrences,
            sentences,
        } = self;
        [
            ("frames", frames),
            ("lexunits", lexunits),
            ("lu_files", lu_files),
            ("documents", documents),
            ("frame_relations", frame_relations),
            ("sem_types", sem_types),
            ("exemplar_sets", exemplar_sets),
            ("fulltext_sets", fulltext_sets),
            ("construction_sets", construction_sets),
            ("sentence_layer_occurrences", sentence_layer_occurrences),
            ("sentence_layer_sets", sentence_layer_sets),
            ("sentence_occurrences", sentence_occurrences),
            ("sentences", sentences),
        ]
    }

    /// Counts what another counts, too.
    pub fn add(&mut self, more: Self) {
        for ((_, count), (_, more)) in self.slots().into_iter().zip(more.named()) {
            *count += more;
        }
    }
}

/// A record that counts in its release.
///
/// What is not FrameNet's counts where people would look for it: frames, LUs and documents of the store's
/// own range do. Sets that are no exemplars or full text have no count here, nor have generated sentences:
/// they are many, and counted by their keys.
pub trait Counted {
    /// What the record alone counts.
    fn counts(&self) -> ReleaseCounts;
}

impl Counted for Frame {
    fn counts(&self) -> ReleaseCounts {
        let is_defined = self.has_file || self.id.0 >= OWN_RANGE;
        ReleaseCounts { frames: u64::from(is_defined), ..ReleaseCounts::default() }
    }
}

impl Counted for FrameRelation {
    fn counts(&self) -> ReleaseCounts {
        ReleaseCounts { frame_relations: 1, ..ReleaseCounts::default() }
    }
}

impl Counted for SemType {
    fn counts(&self) -> ReleaseCounts {
        ReleaseCounts { sem_types: 1, ..ReleaseCounts::default() }
    }
}

impl Counted for LexUnit {
    fn counts(&self) -> ReleaseCounts {
        let is_listed = self.listing.frame_file || self.listing.lu_file || self.id.0 >= OWN_RANGE;
        ReleaseCounts {
            lexunits: u64::from(is_listed),
            lu_files: u64::from(self.listing.lu_file),
            ..ReleaseCounts::default()
        }
    }
}

impl Counted for Document {
    fn counts(&self) -> ReleaseCounts {
        let is_own = self.corpus.0 >= OWN_RANGE || self.id.0 >= OWN_RANGE;
        // FrameNet's exemplars name documents of which it lists nothing.
        let is_text = !self.file.is_empty() || !self.sentences.is_empty() || is_own;
        ReleaseCounts { documents: u64::from(is_text), ..ReleaseCounts::default() }
    }
}

impl Counted for Sentence {
    fn counts(&self) -> ReleaseCounts {
        if self.id.space() == IdSpace::Generated {
            return ReleaseCounts::default();
        }
        let sentence_occurrences = self.occurrences.len() as u64;
        ReleaseCounts { sentences: 1, sentence_occurrences, ..ReleaseCounts::default() }
    }
}

impl Counted for AnnotationSet {
    fn counts(&self) -> ReleaseCounts {
        let (exemplar_sets, fulltext_sets) = match self.provenance.origin() {
            Origin::Exemplar => (1, 0),
            Origin::FullText => (0, 1),
            Origin::Imported | Origin::User | Origin::Generated => (0, 0),
        };
        ReleaseCounts { exemplar_sets, fulltext_sets, ..ReleaseCounts::default() }
    }
}

impl Counted for SentenceLayers {
    fn counts(&self) -> ReleaseCounts {
        if self.construction.is_some() {
            return ReleaseCounts { construction_sets: 1, ..ReleaseCounts::default() };
        }
        ReleaseCounts {
            sentence_layer_sets: 1,
            sentence_layer_occurrences: self.listed_under.len().max(1) as u64,
            ..ReleaseCounts::default()
        }
    }
}

/// A full-text document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Number of the document.
    pub id: DocumentId,
    /// Number of its corpus.
    pub corpus: CorpusId,
    /// Name of the corpus, as in `ANC`.
    pub corpus_name: String,
    /// The document's description, which serves as its name.
    pub name: String,
    /// Stem of its file under `fulltext/`.
    pub file: String,
    /// Its sentences in reading order.
    pub sentences: Vec<super::SentenceId>,
}
