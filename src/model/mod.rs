//! FrameNet as plain types: no I/O, no storage, no serialisation format of its own.
//!
//! The words are FrameNet's. A *frame* has *frame elements* (FE). A *lexical unit* (LU) evokes a
//! frame. A *sentence* carries *annotation sets*. A set's *target* is the span that evokes the
//! frame; the target's text is the *trigger*. *Layers* hold *labels*.

mod annotation;
mod bounded;
mod coded;
mod date;
mod decision;
mod discovery;
mod edition;
mod error_record;
mod foreign;
mod frame;
mod hexadecimal;
mod ids;
mod judgement;
mod language;
mod layout;
mod lexunit;
mod link;
mod name;
mod named;
mod predicate;
mod promise;
mod provenance;
mod range;
mod reference;
mod release;
mod resource;
mod rules;
mod sentence;
mod share;
mod span;
mod split;
mod split_list;
mod verification;
mod wordnet;
mod written;

pub use annotation::{
    AnnotationSet, Extent, FeStatus, Label, Layer, LayerName, NullInstantiation, SentenceLayers,
};
#[doc(hidden)]
pub use annotation::{CARRIED, GENERATED, MANUAL, PREDICTED};
pub(crate) use annotation::{put_element, put_element_layers};
#[doc(hidden)]
pub use bounded::{
    Amount, Fraction, Hex16, Hex32, Hex64, LogProbability, Percent, Positive, seconds,
};
pub use coded::{Coded, ErrorKind, Trouble};
pub(crate) use coded::{coded, said, shortage};
#[doc(hidden)]
pub use date::{date, instant};
#[doc(hidden)]
pub use decision::{Decided, Moved};
pub use decision::{Decision, Evidence, Reviewed, Verdict};
pub use discovery::{Discovery, FoundSentence, RefusedWord};
#[doc(hidden)]
pub use edition::{Edition, FrozenSet};
#[doc(hidden)]
pub use error_record::{ErrorRecord, whole_message};
#[doc(hidden)]
pub use foreign::{Foreign, ForeignAttribute, ForeignContent, ForeignFile, ForeignPlace, TopName};
#[doc(hidden)]
pub use frame::{Colors, Creation};
pub use frame::{CoreType, FeRelation, Frame, FrameElement, FrameRelation, SemType};
pub(crate) use hexadecimal::{from_hexadecimal, hexadecimal};
pub use ids::{
    AnnotationSetId, CorpusId, DocumentId, FeId, FrameId, IdSpace, LuId, RelationId, ReleaseId,
    SemTypeId, SentenceId, SynsetId,
};
#[doc(hidden)]
pub use ids::{MOST_COUNTED, OWN_RANGE, RecipeId, hashed_number, is_counted};
pub use judgement::Judgement;
#[doc(hidden)]
pub use judgement::{EVOKES, MEANING, Shown, fleiss_kappa, kappa, recorded_question};
#[doc(hidden)]
pub use language::{Declared, LanguageError, Languages, is_english, is_same_language};
#[doc(hidden)]
pub use layout::{
    DocumentLayout, FrameIndexEntry, FrameLayout, IndexCorpus, LexUnitHead, LexUnitLayout,
    ListedElement, ListedRelation, ListedSentence, ListedSubcorpus, LuIndex, LuIndexEntry,
    OddLabel, OddOffsets, RelationKind, RelationList, ReleaseLayout, SemTypeList,
};
pub use lexunit::{
    ACCEPTED, CREATED, FeRealization, Governor, Listing, PROPOSED, SentenceCount, ValencePattern,
    ValenceUnit, Valences,
};
pub use lexunit::{LexUnit, Lexeme, Pos};
#[doc(hidden)]
pub use link::{Link, LinkDecision, LinkSource, LinkSubject, Links};
#[doc(hidden)]
pub use name::{is_invisible, is_name, is_xml, is_xml_name};
pub(crate) use named::named;
#[doc(hidden)]
pub use named::{Named, by_name};
pub(crate) use predicate::class_number;
pub use predicate::{
    Mapping, Predicate, PredicateFrame, PredicateLink, PredicateMember, PredicatePart,
    PredicateRole,
};
#[doc(hidden)]
pub use promise::{Candidate, Cut, Promise, PromiseGroup, PromiseGroups};
#[doc(hidden)]
pub use provenance::{CarriedElement, Carrying, FilterScores, FrameFit, Method, Prediction};
pub use provenance::{Flags, Generation, Origin, Provenance};
pub use range::OutOfRange;
#[doc(hidden)]
pub use reference::{Reference, Refers};
#[doc(hidden)]
pub use release::{Counted, HeaderTitles, NamedBy, Title};
pub use release::{Document, Release, ReleaseCounts};
pub use resource::{Resource, ResourceCounts, ResourceKind};
pub use rules::{Rules, RulesStanding};
#[cfg(feature = "neural")]
pub(crate) use rules::{numbered, recipe_fingerprint};
#[doc(hidden)]
pub use sentence::Occurrence;
pub use sentence::Sentence;
#[doc(hidden)]
pub use share::Share;
pub use span::Span;
pub use split::Split;
#[doc(hidden)]
pub use split_list::{KeptSplitList, ListedPart, NO_PART, SplitList, SplitListId, written_part};
#[doc(hidden)]
pub use verification::Reverse;
pub use verification::Verification;
pub use wordnet::{IrregularForm, Synset, SynsetRelation, Word, WordClass};
#[doc(hidden)]
pub use written::{NumberKind, WrittenNumber, WrittenNumbers};
