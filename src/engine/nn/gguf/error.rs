//! Why a GGUF file cannot be used: the file, the field, what is wrong with it, and a code.

use crate::model::coded;
use std::path::{Path, PathBuf};

/// Why a GGUF file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GgufError {
    /// The file cannot be opened or mapped.
    #[error("reading a language model: cannot open `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A field is not what the format, or a network, needs.
    #[error("reading `{}`: {field}: {problem} ({})", path.display(), problem.code())]
    Field {
        /// The file.
        path: PathBuf,
        /// The field, such as "metadata key `general.alignment`" or "tensor `blk.0.ffn_up.weight`".
        field: String,
        /// What is wrong with it.
        problem: Box<GgufProblem>,
    },
}

coded!(GgufError {
    Self::Field { problem, .. } => BadInput.coded(problem.code()),
});

impl GgufError {
    /// The error of a field of a file.
    pub(super) fn field(path: &Path, field: impl Into<String>, problem: GgufProblem) -> Self {
        // Boxed, so that results of every layer above stay small.
        let (path, problem) = (path.to_owned(), Box::new(problem));
        Self::Field { path, field: field.into(), problem }
    }
}

/// What to do where a file begins as a pointer of Git LFS.
fn pointer(begins: &[u8]) -> &'static str {
    if begins == b"vers" {
        "; a pointer of Git LFS stands for a file that was not fetched"
    } else {
        ""
    }
}

/// What is wrong with a field of a GGUF file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GgufProblem {
    /// The file does not begin as a GGUF file does.
    #[error("it begins with {found:02x?}, expected `GGUF`{}", pointer(found))]
    Magic {
        /// The first bytes, four at most.
        found: Vec<u8>,
    },
    /// A version that this build does not read.
    #[error("it is `{found}`, expected 2 or 3, little-endian")]
    Version {
        /// The version.
        found: u32,
    },
    /// The file ends inside the field.
    #[error("{wanted} bytes are wanted at byte {at} and {left} are left; fetch the file again")]
    Cut {
        /// Where.
        at: u64,
        /// Bytes that the field has.
        wanted: u64,
        /// Bytes that the file has from there.
        left: u64,
    },
    /// More of something than any model has.
    #[error("there are {found}, expected at most {most}")]
    Many {
        /// The number.
        found: u64,
        /// The most that are read.
        most: u64,
    },
    /// A text that is not UTF-8.
    #[error("it is not UTF-8 from its byte {valid}")]
    Text {
        /// Bytes of the text that are.
        valid: usize,
    },
    /// A kind of metadata value that does not exist.
    #[error("value kind `{found}`, expected 0 to 12")]
    Kind {
        /// The kind's number.
        found: u32,
    },
    /// An array of arrays.
    #[error(
        "an array holds arrays, expected numbers, flags or texts; no model's metadata needs more"
    )]
    Nested,
    /// Two fields of one name.
    #[error("it occurs twice")]
    Twice,
    /// An alignment that is none.
    #[error("it is `{found}`, expected a power of two from 8 to 65536")]
    Alignment {
        /// The alignment.
        found: u64,
    },
    /// Dimensions that no tensor of a network has.
    #[error(
        "its dimensions are {found:?}, expected 1 to 4, each at least 1, below 2^40 numbers together"
    )]
    Dimensions {
        /// The dimensions as the file has them, fastest first.
        found: Vec<u64>,
    },
    /// A number format that is not decoded here.
    #[error(
        "its type is `{found}`, expected F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q4_K, Q5_K or Q6_K"
    )]
    Type {
        /// The type's name, or its number where it has none.
        found: String,
    },
    /// Rows that are not whole blocks of their format.
    #[error("its rows have {columns} numbers, expected a multiple of {block} for type `{format}`")]
    Blocks {
        /// Numbers in a row.
        columns: u64,
        /// Numbers in a block.
        block: usize,
        /// The type's name.
        format: &'static str,
    },
    /// A tensor that begins where none may.
    #[error("it begins at byte {found} of the data, expected a multiple of {alignment}")]
    Unaligned {
        /// Where.
        found: u64,
        /// The file's alignment.
        alignment: u64,
    },
    /// A tensor that ends outside the file.
    #[error("it ends at byte {end} of a file of {length}; fetch the file again")]
    Beyond {
        /// Where it ends.
        end: u64,
        /// Bytes of the file.
        length: u64,
    },
    /// A field that a network needs is not there.
    #[error("it is absent, expected {expected}")]
    Missing {
        /// What would do.
        expected: String,
    },
    /// A field has another value, or one of another kind, than a network needs.
    #[error("it is `{found}`, expected {expected}")]
    Value {
        /// The value, or its kind.
        found: String,
        /// What would do.
        expected: String,
    },
}

impl GgufProblem {
    /// The problem's code, which stays the same in every version.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Magic { .. } => "G-magic",
            Self::Version { .. } => "G-version",
            Self::Cut { .. } => "G-cut",
            Self::Many { .. } => "G-many",
            Self::Text { .. } => "G-text",
            Self::Kind { .. } => "G-kind",
            Self::Nested => "G-nested",
            Self::Twice => "G-twice",
            Self::Alignment { .. } => "G-alignment",
            Self::Dimensions { .. } => "G-dimensions",
            Self::Type { .. } => "G-type",
            Self::Blocks { .. } => "G-blocks",
            Self::Unaligned { .. } => "G-unaligned",
            Self::Beyond { .. } => "G-beyond",
            Self::Missing { .. } => "G-missing",
            Self::Value { .. } => "G-value",
        }
    }
}
