//! What can go wrong between a text and its tokens.

/// A tokenizer that cannot be read, or a text that it cannot cut.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenizeError {
    /// The file is not there or not readable.
    #[error("cannot read tokenizer `{path}`; a model directory holds a `tokenizer.json`")]
    Read {
        /// The file.
        path: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// The file is no tokenizer.
    #[error("cannot parse tokenizer: expected the Hugging Face `tokenizer.json` format")]
    Parse {
        /// What the parser says.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The parts of a bare vocabulary do not fit together.
    #[error("cannot make a tokenizer of a vocabulary: {problem}")]
    Vocabulary {
        /// What does not fit.
        problem: String,
    },
    /// The decoder turns tokens into text in a way whose surfaces are not known here.
    #[error(
        "cannot tell the surfaces of tokens under decoder `{decoder}`: expected Metaspace, \
         ByteFallback, Replace, Fuse, Strip, ByteLevel or WordPiece"
    )]
    UnknownDecoder {
        /// The decoder's type, as the file names it.
        decoder: String,
    },
    /// The text cannot be cut.
    #[error("cannot tokenize `{text}`")]
    Encode {
        /// The text or word lists.
        text: String,
        /// What the tokenizer says.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The tokens cannot be joined.
    #[error("cannot turn tokens into text")]
    Decode {
        /// What the decoder says.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}
