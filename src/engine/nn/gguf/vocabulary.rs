//! The tokenizer in the metadata of a GGUF file.

use super::{Gguf, GgufError};
use crate::engine::tokenize::{Cutting, PieceKind, Pieces};

const MODEL: &str = "tokenizer.ggml.model";
const WORDS: &str = "tokenizer.ggml.pre";
const PIECES: &str = "tokenizer.ggml.tokens";
const KINDS: &str = "tokenizer.ggml.token_type";
const MERGES: &str = "tokenizer.ggml.merges";
const SCORES: &str = "tokenizer.ggml.scores";
const SPACE: &str = "tokenizer.ggml.add_space_prefix";
const BEGINS: &str = "tokenizer.ggml.add_bos_token";

impl Gguf {
    /// The vocabulary, and how texts become its pieces.
    ///
    /// # Errors
    /// When a part is absent or of another kind, or the tokenizer is neither byte-level BPE nor
    /// SentencePiece's BPE.
    pub fn pieces(&self) -> Result<Pieces, GgufError> {
        let missing = |key, expected| self.missing(key, expected);
        let pieces = self.texts(PIECES)?.ok_or_else(|| missing(PIECES, "the vocabulary"))?;
        let kinds = match self.integers(KINDS)? {
            Some(kinds) => kinds.into_iter().map(|kind| self.piece_kind(kind)).collect(),
            None => Ok(vec![PieceKind::Normal; pieces.len()]),
        };
        let cutting = match self.text(MODEL)? {
            Some("gpt2") => {
                let words = self.text(WORDS)?.ok_or_else(|| missing(WORDS, "how words are cut"))?;
                let merges = self.texts(MERGES)?.ok_or_else(|| missing(MERGES, "merges"))?;
                let merges = merges.into_iter().map(str::to_owned).collect();
                Cutting::Bytes { words: words.to_owned(), merges }
            }
            Some("llama") => Cutting::Scores {
                scores: self.floats(SCORES)?.ok_or_else(|| missing(SCORES, "scores"))?,
                begins_with_space: self.flag(SPACE)?.unwrap_or(true),
            },
            Some(other) => return Err(self.unfit(MODEL, other, "`gpt2` or `llama`")),
            None => return Err(missing(MODEL, "`gpt2` or `llama`")),
        };
        let pieces = pieces.into_iter().map(str::to_owned).collect();
        Ok(Pieces { pieces, kinds: kinds?, cutting })
    }

    /// Whether the model was trained on texts that begin with its start token. SentencePiece's
    /// were, where the file does not say.
    ///
    /// # Errors
    /// When a value is of another kind.
    pub fn begins_with_start(&self) -> Result<bool, GgufError> {
        let default = self.text(MODEL)? == Some("llama") || self.text(WORDS)? == Some("llama-bpe");
        Ok(self.flag(BEGINS)?.unwrap_or(default))
    }

    fn piece_kind(&self, kind: i64) -> Result<PieceKind, GgufError> {
        Ok(match kind {
            1 => PieceKind::Normal,
            2 => PieceKind::Unknown,
            3 => PieceKind::Control,
            4 => PieceKind::Whole,
            5 => PieceKind::Unused,
            6 => PieceKind::Byte,
            _ => return Err(self.unfit(KINDS, kind.to_string(), "1 to 6 for each piece")),
        })
    }
}
