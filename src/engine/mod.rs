//! Networks and the search over them, with one face: the rest of the library reaches what this file
//! names, and nothing beside it.
//!
//! | folder | what it does |
//! | --- | --- |
//! | `compute/` | tensors and kernels on a [`Device`], CPU or GPU |
//! | `nn/` | weights, and the networks that read them |
//! | `tokenize/` | texts to tokens and back |
//! | `decode/` | beam search and sampling under constraints |
//!
//! `compute` and `tokenize` know nothing of the others. `nn` stands on both, and `decode` on `nn`.
//! The engine knows no frame, no store and no query.

mod compute;
mod decode;
mod nn;
mod tokenize;

pub(crate) use compute::Renewable;
#[cfg(feature = "gpu")]
pub use compute::spirv;
pub use compute::{
    AdapterKind, Binding, ComputeError, Device, DeviceChoice, Gpu, GpuAdapter, GpuOptions,
    GpuProfile, HostTime, KernelTime, Needs, Notice, Numbers, ProfileClock, Shader, Tensor, Trial,
    UnknownNumbers, adapters, choose, kernels, profile_report,
};
pub(crate) use decode::neighbours;
#[cfg(test)]
pub(crate) use decode::toy;
pub use decode::{
    AvoidPhrases, AvoidTokens, BeamSettings, Blocked, Constraint, ConstraintState, Continuations,
    DecodeError, Finished, GoesOn, Hypothesis, JobId, KnownWords, LengthLimit, LengthPenalty,
    NextTokens, Paced, RequirePhrases, RequireTokens, SampleSettings, Scheduler, SearchSettings,
    SourceId, Stop, Stopping, TokenOrder, Vocabulary, WordList, always, occurrences, search_all,
    search_all_while, violations,
};
pub(crate) use nn::WORDS;
pub use nn::{
    ADAPTER_CONFIG, Adapter, AdapterError, BertConfig, Buckets, Candidate, ConfigError, Draw,
    Encoder, EncoderDecoder, EncoderInput, Fingerprint, Gguf, GgufError, GgufProblem, Hidden,
    InputProblem, LANGUAGES, LanguageAdapter, LanguageConfig, LanguageLayout, LanguageModel,
    Layout, MatrixFormat, NamedTensor, NnError, Rotation, RotationScaling, RowMask, RowProblem,
    Seq2SeqConfig, SlotCandidates, SlotId, StackConfig, StepNetwork, StepRow, Weights,
    WeightsError, Window, declare_languages, declared_languages, tokenizer_of, write_model,
    write_small_model, write_small_weights, write_tensors, write_weights,
};
pub use tokenize::{Cutting, PieceKind, PieceWord, Pieces, TokenizeError, Tokenizer, WordPieces};
