//! Text as the rest of the crate needs it: lines that come in (`input`), offsets, words, letter
//! case, English inflection, and annotation drawn under it.
//!
//! Nothing here normalises a text in place. Every function that cuts one answers with byte spans
//! into it, so what FrameNet wrote stays what is stored. Comparisons compose letters (`composed`)
//! and fold case (`fold`). Inflection is rules plus tables of exceptions (`inflect`);
//! lemmatisation is the same rules run backwards and checked forwards ([`lemmatize`]), so the two
//! cannot disagree. They hold for English. [`Morphology`] knows them, and what a release shows of
//! another language.

mod article;
mod attested;
mod bleu;
mod canonical;
mod case;
#[doc(hidden)]
pub mod chart;
mod counts;
pub mod drawing;
mod element_names;
mod idf;
mod inflection;
#[doc(hidden)]
pub mod input;
mod irregular;
mod lemma;
mod letters;
mod markup;
mod morphology;
mod names;
mod offsets;
mod part_of_name;
mod phrase;
mod rouge;
mod shortened;
mod spacing;
mod spelling;
mod trigger_form;
mod visible;
mod words;

#[doc(hidden)]
pub use article::begins_with_vowel;
#[doc(hidden)]
pub use attested::AttestedForms;
#[doc(hidden)]
pub use bleu::bleu;
#[doc(hidden)]
pub use canonical::{
    bare_letters, called, combining_class, composed, decomposed_letter, is_combining_mark, is_same,
};
#[doc(hidden)]
pub use case::{called_in_any_case, capitalize, case_variants, fold, fold_letter, title_case};
#[doc(hidden)]
pub use counts::{counted, grouped};
#[doc(hidden)]
pub use idf::{Idf, is_stop_word};
#[doc(hidden)]
pub use inflection::{Inflection, inflect, inflections};
#[doc(hidden)]
pub use lemma::{irregular_lemmas, is_listed_lemma, lemma_candidates, lemma_readings, lemmatize};
#[doc(hidden)]
pub use letters::letters;
pub use markup::{DefinitionPart, definition_parts, plain_definition};
#[doc(hidden)]
pub use morphology::Morphology;
#[doc(hidden)]
pub use names::names;
pub use offsets::{CharIndex, CharSpan, OffsetError};
#[cfg(feature = "neural")]
pub(crate) use part_of_name::is_function_word;
pub(crate) use part_of_name::is_in_name;
#[cfg(feature = "neural")]
pub(crate) use phrase::respellings;
#[doc(hidden)]
pub use phrase::{head_piece, inflect_phrase, inflections_of_phrase, plain_lemma};
#[doc(hidden)]
pub use rouge::{Rouge, rouge};
#[doc(hidden)]
pub use shortened::shortened;
pub(crate) use spacing::one_spaced;
#[doc(hidden)]
pub use spacing::{Respaced, is_copy, natural_spacing, natural_spacing_with};
#[doc(hidden)]
pub use spelling::spelling_variants;
#[doc(hidden)]
pub use trigger_form::{TriggerForm, inflections_of_trigger};
#[doc(hidden)]
pub use visible::{visible, visible_in_json};
#[doc(hidden)]
pub use words::{words, words_not_in, words_with_cuts};
