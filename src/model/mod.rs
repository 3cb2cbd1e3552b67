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
mod edition;
mod foreign;
mod frame;
mod hexadecimal;
mod ids;
mod judgement;
mod language;
mod layout;
mod lexunit;
mod name;
mod named;
mod provenance;
mod range;
mod reference;
mod release;
mod rules;
mod sentence;
mod span;
mod split;
mod split_list;
mod verification;
mod written;

pub use annotation::{
    AnnotationSet, Extent, FeStatus, GENERATED, Label, Layer, LayerName, MANUAL, NullInstantiation,
    PREDICTED, SentenceLayers,
};
pub(crate) use annotation::{put_element, put_element_layers};
pub use bounded::{
    Amount, Fraction, Hex16, Hex32, Hex64, LogProbability, Percent, Positive, seconds,
};
pub use coded::{Coded, ErrorKind, Trouble};
pub(crate) use coded::{coded, said, shortage};
pub use date::{date, instant};
pub use decision::{Decided, Decision, Evidence, Moved, Reviewed, Verdict};
pub use edition::{Edition, FrozenSet};
pub use foreign::{Foreign, ForeignAttribute, ForeignContent, ForeignFile, ForeignPlace, TopName};
pub use frame::{
    Colors, CoreType, Creation, FeRelation, Frame, FrameElement, FrameRelation, SemType,
};
pub(crate) use hexadecimal::{from_hexadecimal, hexadecimal};
pub use ids::{
    AnnotationSetId, CorpusId, DocumentId, FeId, FrameId, IdSpace, LuId, MOST_COUNTED, OWN_RANGE,
    RecipeId, RelationId, ReleaseId, SemTypeId, SentenceId, hashed_number, is_counted,
};
pub use judgement::{EVOKES, Judgement, MEANING, Shown, fleiss_kappa, kappa, recorded_question};
pub use language::{Declared, LanguageError, Languages, is_english, is_same_language};
pub use layout::{
    DocumentLayout, FrameIndexEntry, FrameLayout, IndexCorpus, LexUnitHead, LexUnitLayout,
    ListedElement, ListedRelation, ListedSentence, ListedSubcorpus, LuIndex, LuIndexEntry,
    OddLabel, OddOffsets, RelationKind, RelationList, ReleaseLayout, SemTypeList,
};
pub use lexunit::{
    ACCEPTED, CREATED, FeRealization, Governor, LexUnit, Lexeme, Listing, PROPOSED, Pos,
    SentenceCount, ValencePattern, ValenceUnit, Valences,
};
pub use name::{is_invisible, is_name, is_xml, is_xml_name};
pub(crate) use named::named;
pub use named::{Named, by_name};
pub use provenance::{
    CarriedElement, FilterScores, Flags, FrameFit, Generation, Method, Origin, Prediction,
    Provenance,
};
pub use range::OutOfRange;
pub use reference::{Reference, Refers};
pub use release::{Counted, Document, HeaderTitles, NamedBy, Release, ReleaseCounts, Title};
pub use rules::{Rules, RulesStanding};
#[cfg(feature = "neural")]
pub(crate) use rules::{numbered, recipe_fingerprint};
pub use sentence::{Occurrence, Sentence};
pub use span::Span;
pub use split::Split;
pub use split_list::{KeptSplitList, SplitList, SplitListId};
pub use verification::{Reverse, Verification};
pub use written::{NumberKind, WrittenNumber, WrittenNumbers};
