//! What can go wrong between a sentence and its paraphrases.

use std::path::PathBuf;

use crate::endpoint::EndpointError;
use crate::engine::{DecodeError, GgufError, NnError, TokenizeError};
use crate::model::coded;
use crate::prompt::PromptError;

/// A rewriter that cannot be set up or that failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ParaphraseError {
    /// Tokenizer and network do not belong together.
    #[error(
        "cannot join tokenizer and network: the tokenizer has `{tokenizer_size}` ids, the network \
         knows `{network_size}`; use the files of one model"
    )]
    Vocabulary {
        /// Ids of the tokenizer.
        tokenizer_size: usize,
        /// Ids of the network.
        network_size: usize,
    },
    /// The tokenizer does not know the mark that the configuration declares.
    #[error(
        "cannot mark words to avoid: `avoid_token` is `{token}`, which is no special token of \
         tokenizer.json; use the files of one model, or take the field out of config.json"
    )]
    Mark {
        /// The mark.
        token: String,
    },
    /// The list of words that comes with a rewriter cannot be read.
    #[error("cannot read known words from `{path}`: expected UTF-8 text, a word a line")]
    Words {
        /// The file.
        path: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// The prompt of a language model cannot be used.
    #[error(transparent)]
    Prompt(#[from] PromptError),
    /// What only a language model can be asked is asked of another rewriter.
    #[error(
        "the rewriter is no language model: expected one that is asked by a prompt, which alone says \
         what can stand in a place; name one (A-prompt)"
    )]
    NoPrompt,
    /// A server cannot be asked, or did not answer.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// A language model's file cannot be used.
    #[error(transparent)]
    File(#[from] GgufError),
    /// The language model that an adapter was trained on is not there.
    #[error(
        "the adapter `{}` is for the language model `{base}`, which is in no folder of {}; fetch it \
         there, or add its file (A-missing)",
        adapter.display(), listed(searched)
    )]
    BaseMissing {
        /// The adapter.
        adapter: PathBuf,
        /// Name of the model's file.
        base: String,
        /// Directories of models that were searched.
        searched: Vec<PathBuf>,
    },
    /// A source that cannot be rewritten.
    #[error("cannot paraphrase the sentence")]
    Refused(#[from] Refusal),
    /// The tokenizer cannot be read or cannot cut a text.
    #[error("cannot tokenise for the rewriter")]
    Tokenize {
        /// What the tokenizer says.
        #[from]
        source: TokenizeError,
    },
    /// The weights cannot be read.
    #[error("cannot open rewriter `{path}`")]
    Open {
        /// The model's directory.
        path: String,
        /// What the network says.
        source: NnError,
    },
    /// The search cannot be set up or its network failed.
    #[error("cannot search for paraphrases")]
    Decode {
        /// What the search says.
        #[from]
        source: DecodeError,
    },
}

coded!(ParaphraseError {
    Self::Endpoint(error) => error.trouble(),
    Self::Prompt(error) => error.trouble(),
    Self::File(error) => error.trouble(),
    Self::Open { source, .. } => source.trouble(),
    Self::Decode { source } => source.trouble(),
    Self::NoPrompt => Failed.coded("A-prompt"),
    Self::BaseMissing { .. } => NoModel.coded("A-missing"),
});

impl ParaphraseError {
    /// Whether whoever asked for it stopped it.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        matches!(
            self,
            Self::Decode { source: DecodeError::Stopped } | Self::Endpoint(EndpointError::Stopped)
        )
    }
}

fn listed(directories: &[PathBuf]) -> String {
    let names = directories.iter().map(|directory| format!("`{}`", directory.display()));
    names.collect::<Vec<_>>().join(", ")
}

/// Why a source cannot be rewritten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// It has no pieces.
    #[error("the sentence is empty")]
    Empty,
    /// Its target is no part of it, or blank.
    #[error(
        "the target is no part of the sentence: expected a span of its bytes that is not blank"
    )]
    Target,
    /// It has too many pieces.
    #[error("the sentence has `{pieces}` pieces: expected at most {limit}; raise the limit")]
    TooLong {
        /// Pieces, the end not counted.
        pieces: usize,
        /// The limit.
        limit: usize,
    },
    /// It has a letter or sign that the vocabulary lacks, and no output has it as it stood.
    #[error(
        "no output has kept `{}`, which the rewriter's vocabulary lacks: write the sentence with \
         letters that it has, or take another rewriter",
        letter.escape_debug()
    )]
    UnknownLetter {
        /// The first that the best output lost.
        letter: char,
    },
    /// What a language model is told of it leaves no room for an answer.
    #[error(
        "the prompt has `{tokens}` tokens: expected at most {limit}, which leaves room for an answer as \
         long as the sentence; shorten it"
    )]
    Prompt {
        /// Tokens of the prompt.
        tokens: usize,
        /// The most that leave room.
        limit: usize,
    },
}
