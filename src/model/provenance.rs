//! Where an annotation set comes from.

use super::{AnnotationSetId, CorpusId, DocumentId, LuId, RecipeId};

/// Where an annotation set comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum Provenance {
    /// A lexicographic sentence of an LU file.
    Exemplar {
        /// The LU whose file holds it.
        lu: LuId,
        /// Subcorpus inside that file.
        subcorpus: String,
    },
    /// A running text.
    FullText {
        /// The corpus; a document's number is its own only inside it.
        corpus: CorpusId,
        /// The document.
        document: DocumentId,
    },
    /// A file that is no FrameNet release.
    Imported {
        /// The file, as given.
        file: String,
    },
    /// A person, through the library.
    User,
    /// A model.
    Generated(Box<Generation>),
}

impl Provenance {
    /// The kind alone.
    #[must_use]
    pub fn origin(&self) -> Origin {
        match self {
            Self::Exemplar { .. } => Origin::Exemplar,
            Self::FullText { .. } => Origin::FullText,
            Self::Imported { .. } => Origin::Imported,
            Self::User => Origin::User,
            Self::Generated(_) => Origin::Generated,
        }
    }
}

/// The kind of a [`Provenance`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "see Provenance")]
pub enum Origin {
    Exemplar,
    FullText,
    Imported,
    User,
    Generated,
}

impl Origin {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Exemplar, Self::FullText, Self::Imported, Self::User, Self::Generated];

    /// As written in queries and output.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exemplar => "exemplar",
            Self::FullText => "fulltext",
            Self::Imported => "imported",
            Self::User => "user",
            Self::Generated => "generated",
        }
    }
}

/// How a generated set came to be.
#[derive(Debug, Clone, PartialEq)]
pub struct Generation {
    /// The human set that the chain of rounds started from.
    pub seed: AnnotationSetId,
    /// The set whose sentence was rewritten; the seed under [`Method::Paraphrase`].
    pub source: AnnotationSetId,
    /// Which of the seed's targets; 0 for the only one.
    pub target_ordinal: u16,
    /// Round, from 1.
    pub round: u16,
    /// Rank among the outputs kept in the round, from 0.
    pub rank: u16,
    /// Earlier outputs of the chain, whose triggers were banned.
    pub chain: Vec<AnnotationSetId>,
    /// How the text was written.
    pub method: Method,
    /// The recipe.
    pub recipe: RecipeId,
    /// What is doubtful about it.
    pub flags: Flags,
    /// Length-normalised negative log-likelihood under the unmasked distribution (natural log, end
    /// counted): lower is better.
    pub paraphrase: f32,
    /// The aligner's sigmoid output in `[0, 1]`, the minimum over the target's pieces: higher is
    /// better.
    pub aligner: f32,
}

/// How a generated text was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Method {
    /// The sentence was rewritten under lexical constraints.
    Paraphrase,
}

impl Method {
    /// As written in queries and output.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Paraphrase => "paraphrase",
        }
    }
}

/// What is doubtful about a generated set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags {
    /// The output differs from the source in no word.
    pub copy: bool,
    /// The same sentence with the same target came out of an earlier round of the seed.
    pub duplicate: bool,
    /// The aligner's score lies below its own threshold.
    pub weak_alignment: bool,
    /// A constraint was not kept.
    pub unmet: bool,
    /// A word of the trigger is in neither the lexicon nor any human sentence.
    pub unknown_word: bool,
}

impl Flags {
    /// The names of those that are set.
    #[must_use]
    pub fn names(self) -> Vec<&'static str> {
        self.pairs().into_iter().filter_map(|(name, set)| set.then_some(name)).collect()
    }

    /// Every flag's name, set or not.
    #[must_use]
    pub fn all_names() -> Vec<&'static str> {
        Self::default().pairs().into_iter().map(|(name, _)| name).collect()
    }

    fn pairs(self) -> [(&'static str, bool); 5] {
        [
            ("copy", self.copy),
            ("duplicate", self.duplicate),
            ("weak-alignment", self.weak_alignment),
            ("unmet", self.unmet),
            ("unknown-word", self.unknown_word),
        ]
    }
}
