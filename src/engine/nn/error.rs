//! What can go wrong in a network.

use std::path::PathBuf;

use super::gguf::GgufError;
use super::{AdapterError, ConfigError};
use crate::engine::compute::{ComputeError, DeviceError};
use crate::model::coded;

/// What can go wrong in a network.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NnError {
    /// The weights cannot be used.
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// The configuration cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The adapter cannot be used.
    #[error(transparent)]
    Adapter(Box<AdapterError>),
    /// The network has no such layer.
    #[error(
        "reading the states of layer `{layer}`: the network has layers 1 to {layers}, and 0 for its embeddings"
    )]
    Layer {
        /// The layer asked for.
        layer: usize,
        /// Number of layers.
        layers: usize,
    },
    /// One input of a batch cannot be encoded.
    #[error("encoding input {index} of the batch: {problem}")]
    Input {
        /// Its position in the batch.
        index: usize,
        /// Why.
        problem: InputProblem,
    },
    /// One row or mask of a step breaks the protocol.
    #[error("taking a step, row {row}: {problem}")]
    Row {
        /// Position of the row in the call.
        row: usize,
        /// Why.
        problem: RowProblem,
    },
    /// A logit or a score is NaN or infinite.
    #[error("decoding slot {slot}, step {step}: a score is not finite; check the model's weights")]
    NonFinite {
        /// The slot.
        slot: u32,
        /// The step, counted from 0 in the slot.
        step: usize,
    },
    /// Operands of a kernel do not fit, a defect of this layer.
    #[error(transparent)]
    Compute(#[from] ComputeError),
}

coded!(NnError {
    Self::Weights(error) => error.trouble(),
    Self::Compute(error) => error.trouble(),
});

impl DeviceError for NnError {
    fn of_device(&self) -> Option<&ComputeError> {
        match self {
            Self::Compute(error) => Some(error),
            _ => None,
        }
    }
}

/// Why an input cannot be encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InputProblem {
    /// Empty, or longer than the network's positions.
    #[error("it has {length} tokens, expected 1 to {max_length}; shorten or skip it")]
    Length {
        /// Its length in tokens.
        length: usize,
        /// The most that the network holds.
        max_length: usize,
    },
    /// A token id is outside the vocabulary.
    #[error("token `{token}` is outside the vocabulary of {vocab_size}; is it another tokenizer?")]
    Token {
        /// The token.
        token: u32,
        /// Number of tokens.
        vocab_size: usize,
    },
    /// The token types do not match the tokens.
    #[error("it has {found} type ids for {expected} tokens, each to be below {types}")]
    Types {
        /// Number of tokens.
        expected: usize,
        /// Number of type ids.
        found: usize,
        /// Number of types that the network knows.
        types: usize,
    },
}

/// Why a row of a step is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RowProblem {
    /// The slot is not open.
    #[error("slot {slot} is not open")]
    UnknownSlot {
        /// The slot.
        slot: u32,
    },
    /// The parent is not among the slot's rows of the previous step.
    #[error("parent {parent:?} does not exist; slot {slot} had {rows} rows in the previous step")]
    UnknownParent {
        /// The slot.
        slot: u32,
        /// The parent asked for.
        parent: Option<u32>,
        /// Number of the slot's rows in the previous step.
        rows: usize,
    },
    /// Rows of one slot do not stand together.
    #[error("rows of slot {slot} do not stand together")]
    ScatteredSlot {
        /// The slot.
        slot: u32,
    },
    /// The hypothesis would outgrow the network's positions.
    #[error("a hypothesis of slot {slot} already holds {max_length} tokens, the most it can")]
    TooLong {
        /// The slot.
        slot: u32,
        /// The longest hypothesis.
        max_length: usize,
    },
    /// The row's token or a token of its mask is outside the vocabulary.
    #[error("token `{token}` is outside the vocabulary of {vocab_size}")]
    Token {
        /// The token.
        token: u32,
        /// Number of tokens.
        vocab_size: usize,
    },
    /// A mask's banned tokens are not ascending.
    #[error("banned tokens of its mask are not ascending")]
    UnsortedMask,
    /// A mask names a row that the call does not have, or a row that has a mask already.
    #[error("a mask for it is out of place: the call has {rows} rows, each with one mask at most")]
    Mask {
        /// Number of rows in the call.
        rows: usize,
    },
}

impl From<AdapterError> for NnError {
    fn from(error: AdapterError) -> Self {
        Self::Adapter(Box::new(error))
    }
}

/// Why weights cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WeightsError {
    /// A file of the model cannot be read.
    #[error("reading weights: cannot open `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A file cannot be written.
    #[error("writing weights: cannot write `{}`", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A file is not what its name says.
    #[error("reading weights: `{}` is damaged or not of its format; fetch it again", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A file stands for another that was not fetched.
    #[error(
        "reading weights: `{}` is a pointer of Git LFS and no weights; fetch the file that it \
         points to",
        path.display()
    )]
    Pointer {
        /// The file.
        path: PathBuf,
    },
    /// A directory has its weights twice.
    #[error(
        "reading weights: `{}` has one file of weights and an index of several; expected one of \
         them: remove the other",
        directory.display()
    )]
    Twice {
        /// The directory.
        directory: PathBuf,
    },
    /// A tensor that the network needs is not there.
    #[error(
        "reading weights: no tensor `{tensor}`, expected with shape {expected:?}, in `{}`",
        path.display()
    )]
    Missing {
        /// The tensor.
        tensor: String,
        /// The shape the configuration asks for.
        expected: Vec<usize>,
        /// The file or directory that should hold it.
        path: PathBuf,
    },
    /// A tensor has another shape than the configuration says.
    #[error(
        "reading weights: `{tensor}` has shape {found:?}, expected {expected:?}, in `{}`; \
         does config.json belong to these weights?",
        path.display()
    )]
    Shape {
        /// The tensor.
        tensor: String,
        /// The shape the configuration asks for.
        expected: Vec<usize>,
        /// The shape in the file.
        found: Vec<usize>,
        /// The file.
        path: PathBuf,
    },
    /// A tensor has an element type that cannot be read.
    #[error(
        "reading weights: `{tensor}` has type `{found}`, expected F32, F16, BF16, I8 with a \
         scale, or a matrix of U8 in blocks of 18 bytes, in `{}`",
        path.display()
    )]
    Type {
        /// The tensor.
        tensor: String,
        /// The type in the file.
        found: String,
        /// The file.
        path: PathBuf,
    },
    /// A weight is NaN or infinite.
    #[error("reading weights: element {index} of `{tensor}` is `{value}`, in `{}`", path.display())]
    NonFinite {
        /// The tensor.
        tensor: String,
        /// Position of the element, row-major.
        index: usize,
        /// The element.
        value: f32,
        /// The file.
        path: PathBuf,
    },
    /// A file of a model that is being used is another one now.
    #[error(
        "reading weights: `{}` changed while it was in use; run the command again (W-changed)",
        path.display()
    )]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// A GGUF file cannot be used.
    #[error(transparent)]
    Gguf(#[from] GgufError),
}

coded!(WeightsError {
    Self::Read { source, .. } => source.trouble(),
    Self::Write { source, .. } => source.trouble(),
    Self::Changed { .. } => Failed.coded("W-changed"),
    Self::Gguf(error) => error.trouble(),
});
