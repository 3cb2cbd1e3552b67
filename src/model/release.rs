//! A release: one import of one lexicon.

use std::fmt;

use super::named::named;
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
    /// Frames: with a file, only named by LUs or annotation, or added.
    pub frames: u64,
    /// LUs: with a file, only named by a frame file or annotation, or added.
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
        macro_rules! slots {
            ($($name:ident)*) => {{
                let Self { $($name),* } = self;
                [$((stringify!($name), $name)),*]
            }};
        }
        slots! {
            frames lexunits lu_files documents frame_relations sem_types exemplar_sets
            fulltext_sets construction_sets sentence_layer_occurrences sentence_layer_sets
            sentence_occurrences sentences
        }
    }

    /// Counts what another counts, too.
    pub fn add(&mut self, more: Self) {
        self.recount(more, Self::default());
    }

    /// Counts what a commit brings and what it takes away.
    pub fn recount(&mut self, gained: Self, lost: Self) {
        let sums = self.slots().into_iter().zip(gained.named()).zip(lost.named());
        for (((_, count), (_, gained)), (_, lost)) in sums {
            *count = (*count + gained).saturating_sub(lost);
        }
    }
}

/// A record that counts in its release.
///
/// Every frame and LU counts that is listed and found, also one that annotation alone names. Of
/// documents those count that have sentences or are of the store's own range. Sets that are no
/// exemplars or full text have no count here, nor have generated sentences: they are many, and
/// counted by their keys.
pub trait Counted {
    /// What the record alone counts.
    fn counts(&self) -> ReleaseCounts;
}

impl Counted for Frame {
    fn counts(&self) -> ReleaseCounts {
        ReleaseCounts { frames: 1, ..ReleaseCounts::default() }
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
        ReleaseCounts {
            lexunits: 1,
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
            Origin::Imported
            | Origin::User
            | Origin::Generated
            | Origin::Predicted
            | Origin::Carried => (0, 0),
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

/// What a file calls a corpus or a document. FrameNet 1.5 gives a corpus a name and a document a
/// description; 1.7 gives each both.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Title {
    /// The name, or the description of a document where that stands alone.
    pub name: String,
    /// The description beside a name.
    pub description: Option<String>,
}

impl Title {
    /// Whether two files may mean the same thing: equal titles, or one of them lacks half of the
    /// other.
    #[must_use]
    pub fn agrees_with(&self, other: &Self) -> bool {
        let halves = |whole: &Self, half: &str| {
            whole.name == half || whole.description.as_deref() == Some(half)
        };
        match (&self.description, &other.description) {
            (Some(_), None) => halves(self, &other.name),
            (None, Some(_)) => halves(other, &self.name),
            _ => self == other,
        }
    }
}

impl fmt::Display for Title {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.name)?;
        self.description.as_ref().map_or(Ok(()), |text| write!(f, " (`{text}`)"))
    }
}

/// What the header of a file calls a document and its corpus.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HeaderTitles {
    /// The corpus.
    pub corpus: Title,
    /// The document.
    pub document: Title,
}

named! {
    /// Which of a document's texts a query or a command named it by.
    pub enum NamedBy {
        /// Its name.
        Name => "name",
        /// Its description, which stands beside the name.
        Description => "description",
        /// The stem of its file.
        File => "file",
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
    /// Description of the corpus, where the file gives one.
    pub corpus_description: Option<String>,
    /// The document's name; its description where that stands alone.
    pub name: String,
    /// The document's description beside a name.
    pub description: Option<String>,
    /// What LU files call corpus and document, where that is not what the document's file says.
    pub in_headers: Option<HeaderTitles>,
    /// Stem of its file under `fulltext/`.
    pub file: String,
    /// Its sentences in reading order.
    pub sentences: Vec<super::SentenceId>,
}

impl Document {
    /// A document that is to be added to a corpus; a transaction numbers it. The corpus is the one
    /// that is called so, or a new one.
    #[must_use]
    pub fn new(corpus: &str, name: &str) -> Self {
        let title = |name: &str| Title { name: name.to_owned(), description: None };
        let titles = HeaderTitles { corpus: title(corpus), document: title(name) };
        Self::titled(CorpusId(0), DocumentId(0), titles)
    }

    /// A document of which no more is known than what it is called.
    #[must_use]
    pub fn titled(corpus: CorpusId, id: DocumentId, titles: HeaderTitles) -> Self {
        Self {
            id,
            corpus,
            corpus_name: titles.corpus.name,
            corpus_description: titles.corpus.description,
            name: titles.document.name,
            description: titles.document.description,
            in_headers: None,
            file: String::new(),
            sentences: Vec::new(),
        }
    }

    /// Name and description.
    #[must_use]
    pub fn title(&self) -> Title {
        Title { name: self.name.clone(), description: self.description.clone() }
    }

    /// What its own file calls it and its corpus.
    #[must_use]
    pub fn titles(&self) -> HeaderTitles {
        HeaderTitles { corpus: self.corpus_title(), document: self.title() }
    }

    /// Whether it and its corpus are called so.
    #[must_use]
    pub fn is_titled(&self, corpus: &Title, document: &Title) -> bool {
        self.name == document.name
            && self.description == document.description
            && self.corpus_name == corpus.name
            && self.corpus_description == corpus.description
    }

    /// Name and description of its corpus.
    #[must_use]
    pub fn corpus_title(&self) -> Title {
        let (name, description) = (self.corpus_name.clone(), self.corpus_description.clone());
        Title { name, description }
    }

    /// The first of its texts for which something holds: name, description, stem of its file.
    #[must_use]
    pub fn named_by(&self, holds: impl Fn(&str) -> bool) -> Option<NamedBy> {
        if holds(&self.name) {
            return Some(NamedBy::Name);
        }
        if self.description.as_deref().is_some_and(&holds) {
            return Some(NamedBy::Description);
        }
        holds(&self.file).then_some(NamedBy::File)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn title(name: &str, description: Option<&str>) -> Title {
        Title { name: name.to_owned(), description: description.map(str::to_owned) }
    }

    #[test]
    fn a_title_agrees_with_either_half_of_itself_and_no_other() {
        let whole = title("L067", Some("Goodwill letter"));
        for half in ["L067", "Goodwill letter"] {
            assert!(whole.agrees_with(&title(half, None)), "{half}");
            assert!(title(half, None).agrees_with(&whole), "{half}");
        }
        assert!(whole.agrees_with(&whole));
        assert!(!whole.agrees_with(&title("L068", None)));
        assert!(!whole.agrees_with(&title("L067", Some("another"))));
        assert!(!title("a", None).agrees_with(&title("b", None)));
    }

    #[test]
    fn a_document_says_which_of_its_texts_was_meant() {
        let titles = HeaderTitles {
            corpus: title("ANC", None),
            document: title("L067", Some("Goodwill letter")),
        };
        let titled = Document::titled(CorpusId(1), DocumentId(1), titles);
        let document = Document { file: "ANC__L067".to_owned(), ..titled };
        let by = |text: &str| document.named_by(|own| own == text).map(NamedBy::as_str);
        assert_eq!(by("L067"), Some("name"));
        assert_eq!(by("Goodwill letter"), Some("description"));
        assert_eq!(by("ANC__L067"), Some("file"));
        assert_eq!(by("ANC"), None);
    }
}
