//! Transformer networks: weights, encoder, encoder-decoder.
//!
//! A model is a directory as Hugging Face lays it out: `config.json`, `model.safetensors` (or its
//! sharded index) and `tokenizer.json`. [`Encoder`] runs the BERT family, [`EncoderDecoder`] the
//! layouts of Marian, BART and T5, [`LanguageModel`] those of Llama, Qwen and Gemma. The latter
//! also come as one GGUF file ([`Gguf`]). Token ids go in; texts and tokenizers are no business of
//! this layer.
//!
//! Shape letters: `B` sources, `R` rows of a batch (all tokens of all its sequences, or all
//! hypotheses), `S` source length, `T` time, `D` model width, `H` heads, `V` vocabulary.

mod adapter;
mod advance;
mod bart;
mod bert;
mod cache;
mod config;
mod ends;
mod error;
mod generation;
mod gguf;
mod inputs;
mod language;
mod language_adapter;
mod languages;
mod layers;
mod recovery;
mod save;
mod selection;
mod seq2seq;
mod seq2seq_config;
mod shared_weights;
mod stack;
mod step;
mod stepping;
mod steps;
mod t5;
mod weights;

pub use adapter::Adapter;
pub use bert::{Encoder, EncoderInput, Hidden};
pub use config::{BertConfig, ConfigError};
pub use error::{InputProblem, NnError, RowProblem, WeightsError};
pub use gguf::{Gguf, GgufError, GgufProblem};
pub use language::{
    LanguageConfig, LanguageLayout, LanguageModel, Rotation, RotationScaling, Window, tokenizer_of,
};
pub use language_adapter::{ADAPTER_CONFIG, AdapterError, LanguageAdapter};
pub use languages::{LANGUAGES, declare_languages, declared_languages};
pub use save::{
    MatrixFormat, NamedTensor, write_model, write_small_model, write_small_weights, write_tensors,
    write_weights,
};
pub use seq2seq::EncoderDecoder;
pub use seq2seq_config::{Buckets, Layout, Seq2SeqConfig, StackConfig};
pub use step::{Candidate, Draw, RowMask, SlotCandidates, SlotId, StepNetwork, StepRow};
pub(crate) use weights::WORDS;
pub use weights::{Fingerprint, Weights};
