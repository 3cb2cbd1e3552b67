//! The fields that a query can ask about, and the operators each of them takes.

use std::fmt;

use super::{QueryError, nearest};
use crate::model::{Flags, Origin, named};

/// Declares [`Field`], a row for each: its name, the kind of its value, what it takes to know it of
/// a set, and what it takes to find the sets by it.
macro_rules! fields {
    ($(
        $(#[$doc:meta])*
        $variant:ident = $name:literal, $kind:ident, $cost:ident, $route:ident;
    )*) => {
        /// Something about an annotation set that a query can ask for.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Field {
            $($(#[$doc])* $variant,)*
        }

        impl Field {
            /// All fields, in the order of `schema/query.md`.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            fn row(self) -> (&'static str, FieldKind, FieldCost, FieldRoute) {
                match self {
                    $(Self::$variant => {
                        ($name, FieldKind::$kind, FieldCost::$cost, FieldRoute::$route)
                    })*
                }
            }
        }
    };
}

fields! {
    /// Name of the release, as in `bfn-1.5`.
    Release = "release", Name, Own, Index;
    /// Name of the frame that the set evokes.
    Frame = "frame", Name, Own, Names;
    /// Name of that frame or of one it inherits from, at any distance.
    Inherits = "inherits", Relation, Own, Names;
    /// Name of a frame that it uses, at any distance.
    Uses = "uses", Relation, Own, Names;
    /// Name of a frame that it is a perspective on, at any distance.
    Perspective = "perspective", Relation, Own, Names;
    /// Name of a frame that it is a subframe of, at any distance.
    Subframe = "subframe", Relation, Own, Names;
    /// Name of a frame that a relation of any type joins to it, in either direction.
    Related = "related", Relation, Own, Names;
    /// Name of the lexical unit, as in `confirm.v`.
    Lu = "lu", Name, Own, Names;
    /// Part of speech of the lexical unit, as in `v`.
    Pos = "pos", Name, Own, Names;
    /// Lexicographic status of the lexical unit, as in `Finished_Initial` or `Proposed`.
    LuStatus = "lu_status", Name, Own, Names;
    /// The target's text, pieces joined by a space.
    Trigger = "trigger", Text, Elsewhere, Index;
    /// Lemma of the lexical unit.
    Lemma = "lemma", Text, Own, Names;
    /// The sentence's text.
    Text = "text", Text, Elsewhere, Index;
    /// A synset that the lexical unit is linked to: its id, or one of its words, as in `examine.v`.
    Synset = "synset", Name, Own, Names;
    /// A class of VerbNet that it is linked to: its name or number, as in `51.2`.
    Vn = "vn", Name, Own, Names;
    /// A roleset of PropBank that it is linked to, as in `abandon.01`.
    Pb = "pb", Name, Own, Names;
    /// A synset above one that it is linked to, at any distance: its id, or one of its words.
    Hypernym = "hypernym", Name, Own, Names;
    /// An FE label: its name, and what holds of that same label.
    Fe = "fe", Label, Labels, Index;
    /// Grammatical function of any FE label.
    Gf = "gf", Name, Labels, Index;
    /// Phrase type of any FE label.
    Pt = "pt", Name, Labels, Index;
    /// Null instantiation of any FE label.
    Ni = "ni", NullInstantiation, Labels, Index;
    /// Status of the annotation set, as in `MANUAL`.
    Status = "status", Name, Own, Index;
    /// Name of the corpus.
    Corpus = "corpus", Name, Elsewhere, Index;
    /// Name of the document.
    Doc = "doc", Name, Elsewhere, Index;
    /// What its file holds beside FrameNet, at the set and at its sentence.
    Foreign = "foreign", Text, Elsewhere, Index;
    /// What the file of its frame holds beside FrameNet, outside of LUs.
    FrameForeign = "frame_foreign", Text, Elsewhere, Index;
    /// What the files of its LU and of the frame hold beside FrameNet at the LU.
    LuForeign = "lu_foreign", Text, Elsewhere, Index;
    /// What the file of its document holds beside FrameNet, outside of sentences.
    DocForeign = "doc_foreign", Text, Elsewhere, Index;
    /// Part of the data that the set belongs to.
    Split = "split", Choice, Elsewhere, Index;
    /// Where the set comes from.
    Origin = "origin", Choice, Own, Index;
    /// How a generated set was written, as in `paraphrase`.
    Method = "method", Name, Own, Index;
    /// Round of a generated set, from 1.
    Round = "round", Integer, Own, Index;
    /// Recipe of a generated set: its number or its fingerprint.
    Recipe = "recipe", Name, Own, Index;
    /// What is doubtful about a generated set.
    Flag = "flag", Choice, Own, Index;
    /// Paraphrase score: lower is better.
    Paraphrase = "paraphrase", Decimal, Own, Index;
    /// Aligner score in `[0, 1]`: higher is better.
    Aligner = "aligner", Fraction, Own, Index;
    /// Score of the precision filter in `[0, 1]`: higher is better. Sets that no filter has scored
    /// have none.
    P = "p", Fraction, Own, Index;
    /// Score of the recall filter in `[0, 1]`: higher is better. Sets that no filter has scored
    /// have none.
    R = "r", Fraction, Own, Index;
    /// Probability of the frame at the target by a frame model, in `[0, 1]`: higher is better.
    /// Generated and predicted sets have one, where a model was asked.
    FrameFit = "frame_fit", Fraction, Own, Index;
    /// Probability that the target evokes the frame, by a verifier, in `[0, 1]`: higher is better.
    /// Sets of which none was asked have none.
    Evokes = "evokes", Fraction, Elsewhere, Index;
    /// Probability that a rewritten text says what its source says, by a verifier, in `[0, 1]`.
    SameMeaning = "same_meaning", Fraction, Elsewhere, Index;
    /// Negative log-likelihood per token of the source of a rewritten text, given that text, by a
    /// rewriter: lower is better.
    Reverse = "reverse", Decimal, Elsewhere, Index;
    /// A person's judgement, 0 to 100.
    Judgement = "judgement", Percentage, Elsewhere, Keys;
    /// Mean of all reviewers' judgements, 0 to 100. Sets that nobody has judged have none.
    JudgementMean = "judgement_mean", Decimal, Elsewhere, Keys;
    /// Name of an edition that holds the set.
    Edition = "edition", Name, Elsewhere, Keys;
    /// The sentence.
    Sentence = "sentence", Sentence, Own, Keys;
    /// The set whose sentence was rewritten.
    Source = "source", Id, Own, Index;
    /// The human set that a chain of rounds started from.
    Seed = "seed", Id, Own, Index;
    /// The set itself.
    Id = "id", Id, Own, Keys;
    /// Written by a later revision of the store than this one.
    Since = "since", Revision, Own, Keys;
}

/// The kind of value that a [`Field`] holds. It decides which operators the field takes and how a
/// value is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FieldKind {
    /// A name of the lexicon, compared whole.
    Name,
    /// Name of a frame that relations lead to, with a test of the distance in braces.
    Relation,
    /// Running text.
    Text,
    /// An FE name, with tests of the same label in braces.
    Label,
    /// `INI`, `DNI`, `CNI` or `INC`; a pattern finds the other texts that releases hold.
    NullInstantiation,
    /// One of a few words; see [`Field::choices`].
    Choice,
    /// A whole number.
    Integer,
    /// A number.
    Decimal,
    /// A number in `[0, 1]`.
    Fraction,
    /// A whole number from 0 to 100.
    Percentage,
    /// The id of an annotation set, as in `x862331`.
    Id,
    /// The id of a sentence, as in `x1024`.
    Sentence,
    /// A revision of the store, always with `=`.
    Revision,
}

/// What it takes to know a field of a set, from the least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FieldCost {
    /// Its own record says it, or a name that is at hand.
    Own,
    /// Its labels are looked through.
    Labels,
    /// Another record is read.
    Elsewhere,
}

/// What it takes to find sets by a field, from the least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FieldRoute {
    /// A few keys.
    Keys,
    /// The names of all frames or LUs.
    Names,
    /// The index, or nothing leads to them at all.
    Index,
}

impl Field {
    /// The name, as written in queries.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// The kind of value it holds.
    #[must_use]
    pub fn kind(self) -> FieldKind {
        self.row().1
    }

    pub(crate) fn cost(self) -> FieldCost {
        self.row().2
    }

    pub(crate) fn route(self) -> FieldRoute {
        self.row().3
    }

    /// The field of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|field| field.name() == name)
    }

    /// As [`from_name`](Self::from_name), with the field that was probably meant if there is none
    /// of this name. That is the nearest one, or one that the name is a longer form of, as
    /// `document` is of `doc`.
    pub(super) fn named(name: &str, column: usize) -> Result<Self, QueryError> {
        Self::from_name(name).ok_or_else(|| {
            let names = || Self::ALL.iter().map(|field| field.name());
            let shortened =
                || names().filter(|field| name.starts_with(field)).max_by_key(|f| f.len());
            QueryError::UnknownField {
                column,
                name: name.to_owned(),
                suggestion: nearest(name, names()).or_else(shortened),
            }
        })
    }

    /// Whether a verifier says it.
    #[must_use]
    pub(crate) fn is_of_verifier(self) -> bool {
        matches!(self, Self::Evokes | Self::SameMeaning | Self::Reverse)
    }

    /// The operators it takes.
    #[must_use]
    pub fn operators(self) -> &'static [Operator] {
        use Operator::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, Matches, NotEqual};
        match self.kind() {
            FieldKind::Name
            | FieldKind::Relation
            | FieldKind::Text
            | FieldKind::Label
            | FieldKind::NullInstantiation => &[Equal, NotEqual, Matches],
            FieldKind::Choice | FieldKind::Id | FieldKind::Sentence => &[Equal, NotEqual],
            FieldKind::Integer
            | FieldKind::Decimal
            | FieldKind::Fraction
            | FieldKind::Percentage => {
                &[Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual]
            }
            FieldKind::Revision => &[Equal],
        }
    }

    /// The words that a field of kind [`FieldKind::Choice`] takes; none for other kinds.
    #[must_use]
    pub fn choices(self) -> Vec<&'static str> {
        match self {
            Self::Origin => Origin::ALL.iter().map(|origin| origin.as_str()).collect(),
            Self::Flag => Flags::all_names(),
            Self::Split => vec!["train", "dev", "test"],
            _ => Vec::new(),
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

named! {
    /// What stands between a field and a value; where one starts another, the longer stands first.
    pub enum Operator {
        /// Means `not (field = value)`.
        NotEqual => "!=",
        /// At most.
        LessOrEqual => "<=",
        /// At least.
        GreaterOrEqual => ">=",
        /// Equal.
        Equal => "=",
        /// Less.
        Less => "<",
        /// More.
        Greater => ">",
        /// The regular expression matches somewhere.
        Matches => "~",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_found_by_its_own_name_only() {
        for &field in Field::ALL {
            assert_eq!(Field::from_name(field.name()), Some(field));
        }
        assert_eq!(Field::from_name("Frame"), None);
        assert_eq!(Field::from_name("overt"), None, "`overt` lives inside braces");
    }

    #[test]
    fn every_choice_has_words_and_nothing_else_has() {
        for &field in Field::ALL {
            assert_eq!(field.kind() == FieldKind::Choice, !field.choices().is_empty(), "{field}");
        }
    }

    #[test]
    fn the_schema_lists_every_field_with_its_operators() {
        let schema = include_str!("../../schema/query.md");
        for &field in Field::ALL {
            let operators: Vec<&str> = field.operators().iter().map(|o| o.as_str()).collect();
            let start = format!("| `{field}` | `{}` |", operators.join("` `"));
            assert!(schema.contains(&start), "schema/query.md has no row starting {start}");
            for choice in field.choices() {
                assert!(schema.contains(&format!("`{choice}`")), "{field}: {choice}");
            }
        }
    }
}
