//! The bytes that each token adds to the detokenised text.
//!
//! A constraint on *words* must read what a token spells, not its id. Three families cover the
//! networks this crate runs:
//!
//! - SentencePiece (Marian, T5): U+2581 stands for a space, `<0xNN>` for a byte;
//! - WordPiece (BERT): `##x` continues a word, anything else starts one after a space;
//! - byte-level BPE (BART): every letter of the vocabulary stands for one byte (Radford et al.
//!   2019, `bytes_to_unicode`).
//!
//! Invariant: the surfaces of a text's tokens, joined, are the detokenised text but for spaces at
//! its start (and for WordPiece's optional clean-up of spaces before punctuation).

use std::collections::HashMap;

use tokenizers::{DecoderWrapper, ModelWrapper};

use super::TokenizeError;

/// SentencePiece's letter for a space.
pub(super) const META_SPACE: char = '\u{2581}';

/// Surfaces of all tokens, end to end.
#[derive(Debug, Clone)]
pub(super) struct Surfaces {
    bytes: Vec<u8>,
    /// Token `id` owns `bytes[starts[id]..starts[id + 1]]`.
    starts: Vec<u32>,
    special: Vec<u32>,
    /// Tokens that stand for text which has no token of its own, ascending.
    makeshift: Vec<u32>,
}

/// Ids end here, some ten times above the largest vocabularies. Tables have a row for each id below
/// the highest, so a file that names a higher one would ask for gigabytes.
const MOST_TOKENS: u32 = 1 << 22;

impl Surfaces {
    /// Surfaces of a tokenizer's vocabulary.
    pub(super) fn of(tokenizer: &tokenizers::Tokenizer) -> Result<Self, TokenizeError> {
        let spelling = Spelling::of(tokenizer)?;
        let added = tokenizer.get_added_tokens_decoder();
        let vocab = tokenizer.get_vocab(true);
        let last = vocab.iter().max_by_key(|&(token, &id)| (id, token));
        let size = last.map_or(Ok(0), |(token, &id)| match id < MOST_TOKENS {
            true => Ok(id as usize + 1),
            false => Err(TokenizeError::Vocabulary {
                problem: format!("`{token}` has the id {id}, expected ids below {MOST_TOKENS}"),
            }),
        })?;
        let mut tokens: Vec<Option<&str>> = vec![None; size];
        for (token, &id) in &vocab {
            tokens[id as usize] = Some(token);
        }

        let mut surfaces =
            Self { bytes: Vec::new(), starts: vec![0], special: Vec::new(), makeshift: Vec::new() };
        let unknown = unknown_token(tokenizer);
        for (id, token) in (0u32..).zip(tokens) {
            if token.is_some_and(|token| unknown == Some(token) || spelling.is_byte(token)) {
                surfaces.makeshift.push(id);
            }
            if added.get(&id).is_some_and(|token| token.special) {
                surfaces.special.push(id);
            } else if let Some(token) = token {
                spelling.write(token, &mut surfaces.bytes);
            }
            let end = u32::try_from(surfaces.bytes.len()).expect("a vocabulary is under 4 GiB");
            surfaces.starts.push(end);
        }
        Ok(surfaces)
    }

    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    pub(super) fn get(&self, id: u32) -> &[u8] {
        let id = id as usize;
        match (self.starts.get(id), self.starts.get(id + 1)) {
            (Some(&start), Some(&end)) => &self.bytes[start as usize..end as usize],
            _ => &[],
        }
    }

    pub(super) fn special_ids(&self) -> &[u32] {
        &self.special
    }

    /// Whether a token is the unknown one, or a byte in a vocabulary of letters.
    pub(super) fn is_makeshift(&self, id: u32) -> bool {
        self.makeshift.binary_search(&id).is_ok()
    }
}

/// The token that stands for whatever a vocabulary lacks.
fn unknown_token(tokenizer: &tokenizers::Tokenizer) -> Option<&str> {
    match tokenizer.get_model() {
        ModelWrapper::WordPiece(model) => Some(&model.unk_token),
        ModelWrapper::WordLevel(model) => Some(&model.unk_token),
        ModelWrapper::BPE(model) => model.unk_token.as_deref(),
        // SentencePiece's name for it: the model does not tell its number.
        ModelWrapper::Unigram(_) => Some("<unk>"),
    }
}

/// How a vocabulary writes text.
enum Spelling {
    SentencePiece { byte_pieces: bool },
    WordPiece { prefix: String },
    ByteLevel { bytes: HashMap<char, u8> },
}

impl Spelling {
    fn of(tokenizer: &tokenizers::Tokenizer) -> Result<Self, TokenizeError> {
        if let ModelWrapper::WordPiece(model) = tokenizer.get_model() {
            return Ok(Self::WordPiece { prefix: model.continuing_subword_prefix.clone() });
        }
        let decoders = match tokenizer.get_decoder() {
            Some(DecoderWrapper::Sequence(sequence)) => sequence.get_decoders(),
            Some(decoder) => std::slice::from_ref(decoder),
            None => &[],
        };
        let mut sentence_piece = false;
        let mut byte_pieces = false;
        for decoder in decoders {
            match decoder {
                DecoderWrapper::ByteLevel(_) => {
                    let bytes = (0u8..=255).zip(byte_letters()).map(|(b, c)| (c, b)).collect();
                    return Ok(Self::ByteLevel { bytes });
                }
                DecoderWrapper::Metaspace(_) | DecoderWrapper::Replace(_) => sentence_piece = true,
                DecoderWrapper::ByteFallback(_) => byte_pieces = true,
                DecoderWrapper::Fuse(_) | DecoderWrapper::Strip(_) => {}
                other => return Err(unknown(other)),
            }
        }
        if sentence_piece {
            Ok(Self::SentencePiece { byte_pieces })
        } else {
            Err(TokenizeError::UnknownDecoder { decoder: "none".to_owned() })
        }
    }

    /// Whether a token is a byte among tokens that are text.
    fn is_byte(&self, token: &str) -> bool {
        matches!(self, Self::SentencePiece { byte_pieces: true }) && byte_piece(token).is_some()
    }

    fn write(&self, token: &str, out: &mut Vec<u8>) {
        match self {
            Self::SentencePiece { .. } if self.is_byte(token) => {
                out.extend(byte_piece(token));
            }
            Self::SentencePiece { .. } => {
                for letter in token.chars() {
                    let letter = if letter == META_SPACE { ' ' } else { letter };
                    out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                }
            }
            Self::WordPiece { prefix } => match token.strip_prefix(prefix.as_str()) {
                Some(rest) => out.extend_from_slice(rest.as_bytes()),
                None => {
                    out.push(b' ');
                    out.extend_from_slice(token.as_bytes());
                }
            },
            // A token with a letter outside the map was added as text and is written as text.
            Self::ByteLevel { bytes } => {
                match token.chars().map(|letter| bytes.get(&letter).copied()).collect() {
                    Some(spelled) => out.extend::<Vec<u8>>(spelled),
                    None => out.extend_from_slice(token.as_bytes()),
                }
            }
        }
    }
}

fn unknown(decoder: &DecoderWrapper) -> TokenizeError {
    let written = format!("{decoder:?}");
    let name = written.split(['(', ' ']).next().unwrap_or_default();
    TokenizeError::UnknownDecoder { decoder: name.to_owned() }
}

/// The byte that a piece such as `<0x0A>` stands for.
fn byte_piece(token: &str) -> Option<u8> {
    let digits = token.strip_prefix("<0x")?.strip_suffix('>')?;
    if digits.len() == 2 { u8::from_str_radix(digits, 16).ok() } else { None }
}

/// The letter of each byte 0 to 255 in a byte-level vocabulary: printable Latin-1 bytes stand for
/// themselves, the others for U+0100 onwards in byte order.
pub(super) fn byte_letters() -> Vec<char> {
    let mut next = 0x100;
    (0u8..=255)
        .map(|byte| match byte {
            b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff => char::from(byte),
            _ => {
                next += 1;
                char::from_u32(next - 1).expect("the letters end at U+0143")
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_letters_are_the_published_ones() {
        let letters = byte_letters();
        assert_eq!(letters[usize::from(b' ')], '\u{120}');
        assert_eq!(letters[usize::from(b'\n')], '\u{10a}');
        assert_eq!(letters[usize::from(b'a')], 'a');
        assert_eq!(letters[0xad], '\u{143}');
    }

    #[test]
    fn only_two_hexadecimal_digits_make_a_byte_piece() {
        assert_eq!(byte_piece("<0xE2>"), Some(0xe2));
        assert_eq!(byte_piece("<0xE>"), None);
        assert_eq!(byte_piece("<0xZZ>"), None);
        assert_eq!(byte_piece("0xE2"), None);
    }
}
