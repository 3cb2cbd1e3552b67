//! Where an annotation set comes from.

use super::named::named;
use super::{AnnotationSetId, CorpusId, DocumentId, FrameId, IdSpace, LuId, RecipeId};

/// Where an annotation set comes from.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
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
    /// A model that wrote the sentence.
    Generated(Box<Generation>),
    /// A model that annotated a sentence which people wrote.
    Predicted(Box<Prediction>),
    /// An aligner that found another set of the source in a sentence that a model wrote.
    Carried(Box<Carrying>),
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
            Self::Predicted(_) => Origin::Predicted,
            Self::Carried(_) => Origin::Carried,
        }
    }

    /// Whether the set stands in a sentence that a model wrote, and its FEs were found there: what
    /// the seed of a generated set, or the source of a carried one, has of FEs that cover words.
    #[must_use]
    pub fn carried_elements(&self) -> &[CarriedElement] {
        match self {
            Self::Generated(made) => &made.elements,
            Self::Carried(carrying) => &carrying.elements,
            _ => &[],
        }
    }

    /// The set whose sentence was rewritten so that this one came to be.
    #[must_use]
    pub fn source(&self) -> Option<AnnotationSetId> {
        match self {
            Self::Generated(made) => Some(made.source),
            Self::Carried(carrying) => Some(carrying.source),
            _ => None,
        }
    }

    /// The set of people's that it grew from: the seed of a generated set, the source of a carried
    /// one.
    #[must_use]
    pub fn grown_from(&self) -> Option<AnnotationSetId> {
        match self {
            Self::Generated(made) => Some(made.seed),
            Self::Carried(carrying) => Some(carrying.source),
            _ => None,
        }
    }

    /// The aligner's score of the target, where an aligner placed it.
    #[must_use]
    pub fn aligner(&self) -> Option<f32> {
        match self {
            Self::Generated(made) => Some(made.aligner),
            Self::Carried(carrying) => Some(carrying.aligner),
            _ => None,
        }
    }

    /// The file that it names, when it is no FrameNet release's.
    #[must_use]
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::Imported { file } => Some(file),
            Self::Predicted(prediction) => Some(&prediction.file),
            _ => None,
        }
    }

    /// How likely the frame is, by a frame model; `None` where none was asked.
    #[must_use]
    pub fn fit(&self) -> Option<FrameFit> {
        match self {
            Self::Generated(made) => made.fit,
            Self::Predicted(prediction) => Some(prediction.fit),
            _ => None,
        }
    }
}

named! {
    /// The kind of a [`Provenance`].
    #[allow(missing_docs, reason = "see Provenance")]
    #[non_exhaustive]
    pub enum Origin {
        Exemplar => "exemplar",
        FullText => "fulltext",
        Imported => "imported",
        User => "user",
        Generated => "generated",
        Predicted => "predicted",
        Carried => "carried",
    }
}

impl Origin {
    /// Whether sets of the origin stand in sentences that a model wrote. Their FEs and triggers
    /// are no evidence of what people say.
    #[must_use]
    pub fn is_of_written_text(self) -> bool {
        matches!(self, Self::Generated | Self::Carried)
    }

    /// Whether people made sets of the origin.
    #[must_use]
    pub fn is_by_people(self) -> bool {
        !self.is_of_written_text() && self != Self::Predicted
    }
}

/// How a carried set came to be: a sentence was rewritten for one of its sets, and an aligner found
/// the target of another one.
#[derive(Debug, Clone, PartialEq)]
pub struct Carrying {
    /// The generated set whose sentence it stands in.
    pub generated: AnnotationSetId,
    /// The set of the source sentence that was carried.
    pub source: AnnotationSetId,
    /// The aligner's sigmoid output in `[0, 1]`, the minimum over the target's pieces: higher is
    /// better.
    pub aligner: f32,
    /// Where the source's FEs went: one for each label that covers words. Empty where they were not
    /// looked for.
    pub elements: Vec<CarriedElement>,
}

impl Carrying {
    /// The id of a carried set of a frame, unless another set has it already. It lies where those
    /// of generated sets of the frame do, and is a hash of the generated set and of the source.
    #[must_use]
    pub fn natural_id(&self, frame: FrameId) -> AnnotationSetId {
        let mut hash = blake3::Hasher::new();
        hash.update(b"carried");
        hash.update(&self.generated.bits().to_be_bytes());
        hash.update(&self.source.bits().to_be_bytes());
        hashed_id(frame, &hash)
    }

    /// Whether both are the same set carried into the same sentence.
    #[must_use]
    pub fn is_same_output(&self, other: &Self) -> bool {
        (self.generated, self.source) == (other.generated, other.source)
    }
}

/// The number of a set of a frame: the low 12 bits of the frame's, then 44 bits of a hash.
fn hashed_id(frame: FrameId, hash: &blake3::Hasher) -> AnnotationSetId {
    let mut low = [0; 8];
    low.copy_from_slice(&hash.finalize().as_bytes()[..8]);
    let low = u64::from_be_bytes(low) & ((1 << HASH_BITS) - 1);
    // The bits of the frame above the twelfth fall off.
    AnnotationSetId::new(IdSpace::Generated, u64::from(frame.0) << HASH_BITS | low)
}

/// How a generated set came to be.
#[derive(Debug, Clone, PartialEq)]
pub struct Generation {
    /// The human set that the chain of rounds started from.
    pub seed: AnnotationSetId,
    /// The set whose sentence was rewritten; the seed under [`Method::Paraphrase`].
    pub source: AnnotationSetId,
    /// Which of the seed's targets; 0 for the only one. Under [`Method::SisterLu`] and
    /// [`Method::Infill`], where one seed serves several LUs, the low 16 bits of the LU's number.
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
    /// counted): lower is better. Infinite where nothing scored the text; see
    /// [`paraphrase_score`](Self::paraphrase_score).
    pub paraphrase: f32,
    /// The aligner's sigmoid output in `[0, 1]`, the minimum over the target's pieces: higher is
    /// better.
    pub aligner: f32,
    /// What two filters say of it; `None` where no filter has scored it.
    pub filter: Option<FilterScores>,
    /// Where the seed's FEs went: one for each label that covers words. Empty where they were not
    /// looked for.
    pub elements: Vec<CarriedElement>,
    /// How likely the seed's frame is at the new trigger; `None` where no frame model was asked.
    pub fit: Option<FrameFit>,
}

/// How likely a frame is at a target, by a model that identifies frames.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrameFit {
    /// The probability in `[0, 1]`, beside the other frames that the target may evoke and none.
    pub probability: f32,
    /// Which model says so: the first 16 bytes of its fingerprint.
    pub model: [u8; 16],
}

impl FrameFit {
    /// The fingerprint of the model, in hexadecimal digits.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        super::hexadecimal(&self.model)
    }
}

/// How a predicted set came to be.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// The file whose sentence it is of, as given.
    pub file: String,
    /// How likely its frame is.
    pub fit: FrameFit,
    /// The next likeliest frames, by name, with their probabilities.
    pub runners_up: Vec<(String, f32)>,
}

/// An FE of a seed, and whether a sentence that was made of it has that FE.
#[derive(Debug, Clone, PartialEq)]
pub struct CarriedElement {
    /// Its name.
    pub name: String,
    /// The aligner's score of its span, from 0 to 1; 1 for an FE that is the target or whose words
    /// stand there as they were; the share of its words that stayed, for one of a carried set that
    /// was found by its ends. `None` where it was not found.
    pub score: Option<f32>,
}

/// What two filters say of a generated set (Culkin et al. 2021, section 6.1): one is sure of what
/// it lets through, the other misses little.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FilterScores {
    /// The precision filter's score in `[0, 1]`: higher is better.
    pub precision: f32,
    /// The recall filter's score in `[0, 1]`: higher is better.
    pub recall: f32,
    /// Which filter scored it: the first 16 bytes of its fingerprint.
    pub filter: [u8; 16],
}

impl FilterScores {
    /// The fingerprint of the filter, in hexadecimal digits.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        super::hexadecimal(&self.filter)
    }
}

/// Low bits of a generated set's number that are a hash; the frame's number stands above them.
const HASH_BITS: u32 = 44;

impl Generation {
    /// A rewriting of a seed, best of its round, of which nothing else is known.
    pub(crate) fn of_seed(seed: AnnotationSetId, round: u16, recipe: RecipeId) -> Self {
        Self {
            seed,
            source: seed,
            target_ordinal: 0,
            round,
            rank: 0,
            chain: Vec::new(),
            method: Method::Paraphrase,
            recipe,
            flags: Flags::default(),
            paraphrase: 0.0,
            aligner: 0.0,
            filter: None,
            elements: Vec::new(),
            fit: None,
        }
    }

    /// The id of a generated set, unless another set has it already. It has the low 12 bits of its
    /// frame's number, then 44 bits of the BLAKE3 hash of its natural key: seed, target ordinal,
    /// fingerprint of the recipe, round, rank.
    ///
    /// Its sentence has the same number, and a store keeps sentences in order of their ids. The
    /// frame comes first so that the sentences of a frame lie together, where one read brings many
    /// of them and they are packed beside their like.
    #[must_use]
    pub fn natural_id(&self, frame: FrameId, recipe: &[u8; 16]) -> AnnotationSetId {
        let mut hash = blake3::Hasher::new();
        hash.update(&self.seed.bits().to_be_bytes());
        hash.update(&self.target_ordinal.to_be_bytes());
        hash.update(recipe);
        hash.update(&self.round.to_be_bytes());
        hash.update(&self.rank.to_be_bytes());
        hashed_id(frame, &hash)
    }

    /// The score of the text; none where nothing scored it.
    #[must_use]
    pub fn paraphrase_score(&self) -> Option<f32> {
        Some(self.paraphrase).filter(|score| score.is_finite())
    }

    /// Whether both are the same output of the same run: their natural keys are equal.
    #[must_use]
    pub fn is_same_output(&self, other: &Self) -> bool {
        let key = |set: &Self| (set.seed, set.target_ordinal, set.recipe, set.round, set.rank);
        key(self) == key(other)
    }
}

named! {
    /// How a generated text was written.
    #[non_exhaustive]
    pub enum Method {
        /// The sentence was rewritten under lexical constraints.
        Paraphrase => "paraphrase",
        /// An LU of the same frame and part of speech took the place of the sentence's target.
        SisterLu => "sister-lu",
        /// As `sister-lu`, and the words of some FEs were generated.
        Infill => "infill",
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
    /// The trigger is unlike the LUs of the frame.
    pub unlike_frame: bool,
    /// An FE of the seed was not found.
    pub lost_element: bool,
}

impl Flags {
    /// The names of those that are set.
    #[must_use]
    pub fn names(mut self) -> Vec<&'static str> {
        self.slots().into_iter().filter_map(|(name, set)| set.then_some(name)).collect()
    }

    /// Every flag's name, set or not.
    #[must_use]
    pub fn all_names() -> Vec<&'static str> {
        Self::default().slots().into_iter().map(|(name, _)| name).collect()
    }

    /// Each flag by its name, in the order of their bits in records.
    pub fn slots(&mut self) -> [(&'static str, &mut bool); 7] {
        let Self {
            copy,
            duplicate,
            weak_alignment,
            unmet,
            unknown_word,
            unlike_frame,
            lost_element,
        } = self;
        [
            ("copy", copy),
            ("duplicate", duplicate),
            ("weak-alignment", weak_alignment),
            ("unmet", unmet),
            ("unknown-word", unknown_word),
            ("unlike-frame", unlike_frame),
            ("lost-fe", lost_element),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generation(seed: u64, round: u16) -> Generation {
        Generation::of_seed(AnnotationSetId::new(IdSpace::Exemplar, seed), round, RecipeId(1))
    }

    fn id(seed: u64, round: u16, frame: u32, recipe: u8) -> AnnotationSetId {
        generation(seed, round).natural_id(FrameId(frame), &[recipe; 16])
    }

    #[test]
    fn every_part_of_the_natural_key_makes_another_id() {
        let first = id(862_331, 1, 9, 1);
        let filter = Some(FilterScores { precision: 0.9, recall: 0.2, filter: [3; 16] });
        let scored = Generation { aligner: 0.1, filter, ..generation(862_331, 1) };
        assert_eq!(first, scored.natural_id(FrameId(9), &[1; 16]));
        assert!(scored.is_same_output(&generation(862_331, 1)), "scores are no part of the key");
        for other in [id(862_332, 1, 9, 1), id(862_331, 2, 9, 1), id(862_331, 1, 9, 2)] {
            assert_ne!(first, other);
        }
        let mut moved = generation(862_331, 1);
        moved.rank = 1;
        assert_ne!(first, moved.natural_id(FrameId(9), &[1; 16]));
        moved.rank = 0;
        moved.target_ordinal = 1;
        assert_ne!(first, moved.natural_id(FrameId(9), &[1; 16]));
    }

    #[test]
    fn ids_of_a_frame_lie_between_those_of_its_neighbours() {
        for seed in 0..200 {
            let (before, among, after) = (id(seed, 1, 8, 1), id(seed, 7, 9, 1), id(seed, 3, 10, 1));
            assert!(before < among && among < after);
            assert_eq!(among.space(), IdSpace::Generated);
        }
    }

    #[test]
    fn a_carried_set_is_known_by_its_sentence_and_its_source() {
        let set = |number| AnnotationSetId::new(IdSpace::FullText, number);
        let carrying = |generated, source, aligner| Carrying {
            generated: id(1, generated, 9, 1),
            source: set(source),
            aligner,
            elements: Vec::new(),
        };
        let first = carrying(1, 5, 0.5);
        let same = carrying(1, 5, 0.75);
        assert!(first.is_same_output(&same));
        assert_eq!(first.natural_id(FrameId(9)), same.natural_id(FrameId(9)));
        for other in [carrying(2, 5, 0.5), carrying(1, 6, 0.5)] {
            assert!(!first.is_same_output(&other));
            assert_ne!(first.natural_id(FrameId(9)), other.natural_id(FrameId(9)));
        }
        assert_ne!(first.natural_id(FrameId(9)), first.natural_id(FrameId(8)));
        assert_ne!(first.natural_id(FrameId(9)), first.generated, "not the set beside it");
        assert_eq!(first.natural_id(FrameId(9)).space(), IdSpace::Generated);
    }

    #[test]
    fn a_large_frame_number_stays_inside_the_space() {
        assert_eq!(id(1, 1, u32::MAX, 1).space(), IdSpace::Generated);
    }
}
