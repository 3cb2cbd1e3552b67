//! Text as the rest of the crate needs it: lines that come in ([`input`]), offsets, words, letter
//! case, English inflection, and annotation drawn under it.
//!
//! Nothing here normalises a text in place. Every function that cuts one answers with byte spans
//! into it, so what FrameNet wrote stays what is stored. Comparisons compose letters ([`composed`])
//! and fold case ([`fold`]). Inflection is rules plus tables of exceptions ([`inflect`]);
//! lemmatisation is the same rules run backwards and checked forwards ([`lemmatize`]), so the two
//! cannot disagree. They hold for English. [`Morphology`] knows them, and what a release shows of
//! another language.

mod article;
mod attested;
mod bleu;
mod canonical;
mod case;
pub mod drawing;
mod element_names;
mod idf;
mod inflection;
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

pub use article::begins_with_vowel;
pub use attested::AttestedForms;
pub use bleu::bleu;
pub use canonical::{
    bare_letters, called, combining_class, composed, decomposed_letter, is_combining_mark, is_same,
};
pub use case::{capitalize, case_variants, fold, fold_letter, title_case};
pub use idf::{Idf, is_stop_word};
pub use inflection::{Inflection, inflect, inflections};
pub use lemma::{irregular_lemmas, is_listed_lemma, lemma_candidates, lemmatize};
pub use letters::letters;
pub use markup::{DefinitionPart, definition_parts, plain_definition};
pub use morphology::Morphology;
pub use names::names;
pub use offsets::{CharIndex, CharSpan, OffsetError};
pub(crate) use part_of_name::{is_function_word, is_in_name};
#[cfg(feature = "neural")]
pub(crate) use phrase::respellings;
pub use phrase::{head_piece, inflect_phrase, inflections_of_phrase, plain_lemma};
pub use rouge::{Rouge, rouge};
pub use shortened::shortened;
pub(crate) use spacing::one_spaced;
pub use spacing::{is_copy, natural_spacing, natural_spacing_with};
pub use spelling::spelling_variants;
pub use trigger_form::{TriggerForm, inflections_of_trigger};
pub use visible::{visible, visible_in_json};
pub use words::{words, words_with_cuts};
