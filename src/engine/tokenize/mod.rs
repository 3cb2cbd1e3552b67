//! Subword tokenizers: text in, ids and surface bytes out.
//!
//! Wraps the `tokenizers` crate, which appears nowhere else, and adds what the decoder and the
//! aligner need. That is the **surface** of every token (the bytes it adds to the detokenised
//! text), and pieces that know which word of which sequence they belong to.
//!
//! Truncation and padding that a `tokenizer.json` may ask for are switched off: a text that is too
//! long is an error of the caller's to report, never a silent cut.

mod error;
mod pieces;
mod surface;

use std::fs;
use std::ops::Range;
use std::path::Path;

use tokenizers::{EncodeInput, Encoding, InputSequence, NormalizedString, Normalizer};

pub use error::TokenizeError;
pub use pieces::{Cutting, PieceKind, Pieces};
use surface::Surfaces;

/// A tokenizer read from a `tokenizer.json`.
///
/// ```
/// use fnstore::engine::Tokenizer;
///
/// let json = br###"{"version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
///     "normalizer": null, "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": null,
///     "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": false},
///     "model": {"type": "WordPiece", "unk_token": "?", "continuing_subword_prefix": "##",
///               "max_input_chars_per_word": 100, "vocab": {"?": 0, "con": 1, "##firm": 2}}}"###;
/// let tokenizer = Tokenizer::from_json(json)?;
/// assert_eq!(tokenizer.encode("confirm")?, [1, 2]);
/// assert_eq!(tokenizer.surface(2), b"firm");
/// # Ok::<(), fnstore::engine::TokenizeError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Tokenizer {
    inner: tokenizers::Tokenizer,
    surfaces: Surfaces,
}

/// The place of a piece among the words it was cut from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PieceWord {
    /// 0 for the first sequence, 1 for its pair.
    pub sequence: u8,
    /// Index of the word in its sequence.
    pub word: u32,
}

/// Words cut into pieces; the three lists have one entry per piece.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WordPieces {
    /// Token ids, special tokens included.
    pub ids: Vec<u32>,
    /// Segment ids as the tokenizer's template sets them (BERT: 0 to the first `[SEP]`, then 1).
    pub type_ids: Vec<u32>,
    /// The word of each piece; `None` for special tokens.
    pub words: Vec<Option<PieceWord>>,
}

impl Tokenizer {
    /// Reads `tokenizer.json` in a model's directory.
    ///
    /// # Errors
    /// When the file cannot be read or is no tokenizer, or when its decoder is of a kind whose
    /// surfaces are unknown here.
    pub fn open(dir: &Path) -> Result<Self, TokenizeError> {
        let path = dir.join("tokenizer.json");
        let json = fs::read(&path)
            .map_err(|source| TokenizeError::Read { path: path.display().to_string(), source })?;
        Self::from_json(&json)
    }

    /// Reads the text of a `tokenizer.json`.
    ///
    /// # Errors
    /// When it is no tokenizer, or when its decoder is of a kind whose surfaces are unknown here.
    pub fn from_json(json: &[u8]) -> Result<Self, TokenizeError> {
        let parse = |source| TokenizeError::Parse { source };
        let mut inner = tokenizers::Tokenizer::from_bytes(json).map_err(parse)?;
        inner.with_truncation(None).map_err(parse)?;
        inner.with_padding(None);
        Self::of(inner)
    }

    fn of(inner: tokenizers::Tokenizer) -> Result<Self, TokenizeError> {
        let surfaces = Surfaces::of(&inner)?;
        Ok(Self { inner, surfaces })
    }

    /// Number of token ids: one more than the highest id in use.
    #[must_use]
    pub fn vocab_size(&self) -> usize {
        self.surfaces.len()
    }

    /// The id of a token as it is written in the vocabulary, such as `</s>` or `[SEP]`.
    #[must_use]
    pub fn id(&self, token: &str) -> Option<u32> {
        self.inner.token_to_id(token)
    }

    /// The token of an id as it is written in the vocabulary.
    #[must_use]
    pub fn token(&self, id: u32) -> Option<String> {
        self.inner.id_to_token(id)
    }

    /// Ids of the special tokens, ascending: they leave nothing in the detokenised text.
    #[must_use]
    pub fn special_ids(&self) -> &[u32] {
        self.surfaces.special_ids()
    }

    /// The bytes that a token adds to the detokenised text.
    ///
    /// A word-initial piece starts with a space, which the detokeniser takes off at the start of
    /// the text. Special tokens, and ids that the vocabulary leaves out, add nothing. A byte piece
    /// is one byte, so a surface need not be UTF-8 by itself.
    #[must_use]
    pub fn surface(&self, id: u32) -> &[u8] {
        self.surfaces.get(id)
    }

    /// Token ids of a text, without special tokens.
    ///
    /// # Errors
    /// When the text has a character that the tokenizer can neither cut nor replace.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>, TokenizeError> {
        Ok(self.run(text, false)?.get_ids().to_vec())
    }

    /// Token ids of a text, each with the bytes that it stands for, without special tokens.
    ///
    /// Tokens that share a character stand for all of it.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    pub fn encode_places(&self, text: &str) -> Result<Vec<(u32, Range<usize>)>, TokenizeError> {
        // The fast form has no places, so this one does not go through `run`.
        let encoding = self.inner.encode(text, false).map_err(|e| refused(&text.into(), e))?;
        let places = encoding.get_offsets().iter().map(|(start, end)| *start..*end);
        Ok(encoding.get_ids().iter().copied().zip(places).collect())
    }

    /// The characters of a text for which the vocabulary has no token of its own, but the unknown
    /// one, or bytes in a vocabulary of letters; in order, each once. A byte-level vocabulary has
    /// tokens for all.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    pub fn unknown_letters(&self, text: &str) -> Result<Vec<char>, TokenizeError> {
        let is_makeshift = |id: &u32| self.surfaces.is_makeshift(*id);
        let mut letters = Vec::new();
        if !self.encode(text)?.iter().any(is_makeshift) {
            return Ok(letters);
        }
        for (_, place) in self.encode_places(text)?.into_iter().filter(|(id, _)| is_makeshift(id)) {
            let unknown = text.get(place).unwrap_or_default().chars();
            letters.extend(unknown.filter(|letter| !letter.is_whitespace()));
        }
        let mut seen = std::collections::HashSet::new();
        letters.retain(|letter| seen.insert(*letter));
        Ok(letters)
    }

    /// Token ids of a phrase as it is written after a space, without special tokens: byte-level
    /// vocabularies cut it otherwise at the start of a text.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    pub fn encode_inside(&self, phrase: &str) -> Result<Vec<u32>, TokenizeError> {
        let begins_a_word =
            |ids: &[u32]| ids.first().is_none_or(|id| self.surface(*id).starts_with(b" "));
        let ids = self.encode(phrase)?;
        if begins_a_word(&ids) {
            return Ok(ids);
        }
        let inside = self.encode(&format!(" {phrase}"))?;
        Ok(if begins_a_word(&inside) { inside } else { ids })
    }

    /// Token ids of a text with the special tokens of the tokenizer's template.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    pub fn encode_with_specials(&self, text: &str) -> Result<Vec<u32>, TokenizeError> {
        Ok(self.run(text, true)?.get_ids().to_vec())
    }

    /// Pieces of a sequence of words, or of a pair of sequences, with special tokens.
    ///
    /// With BERT's template this is `[CLS] first [SEP]` or `[CLS] first [SEP] second [SEP]`. A word
    /// that the normaliser empties has no piece.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    pub fn encode_words(
        &self,
        first: &[&str],
        second: Option<&[&str]>,
    ) -> Result<WordPieces, TokenizeError> {
        // The fast form drops word indices, so this one does not go through `run`.
        let input: EncodeInput<'_> = match second {
            None => first.into(),
            Some(second) => (first, second).into(),
        };
        let encoding = self.inner.encode(input.clone(), true).map_err(|e| refused(&input, e))?;
        let words = encoding
            .get_sequence_ids()
            .into_iter()
            .zip(encoding.get_word_ids())
            .zip(encoding.get_special_tokens_mask())
            .map(|((sequence, &word), &special)| match (sequence, word) {
                (Some(sequence), Some(word)) if special == 0 => {
                    Some(PieceWord { sequence: u8::from(sequence > 0), word })
                }
                _ => None,
            })
            .collect();
        Ok(WordPieces {
            ids: encoding.get_ids().to_vec(),
            type_ids: encoding.get_type_ids().to_vec(),
            words,
        })
    }

    /// The text of a sequence of ids, special tokens left out.
    ///
    /// # Errors
    /// When the tokenizer's decoder refuses the tokens.
    pub fn decode(&self, ids: &[u32]) -> Result<String, TokenizeError> {
        self.inner.decode(ids, true).map_err(|source| TokenizeError::Decode { source })
    }

    /// The text as the tokenizer sees it before cutting (for example in Unicode form NFKC).
    ///
    /// # Errors
    /// When the normaliser refuses the text.
    pub fn normalize(&self, text: &str) -> Result<String, TokenizeError> {
        let mut normalized = NormalizedString::from(text);
        if let Some(normalizer) = self.inner.get_normalizer() {
            normalizer
                .normalize(&mut normalized)
                .map_err(|source| TokenizeError::Encode { text: text.to_owned(), source })?;
        }
        Ok(normalized.get().to_owned())
    }

    fn run(&self, text: &str, specials: bool) -> Result<Encoding, TokenizeError> {
        self.inner.encode_fast(text, specials).map_err(|e| refused(&text.into(), e))
    }
}

fn refused(input: &EncodeInput<'_>, source: tokenizers::Error) -> TokenizeError {
    let text = match input {
        EncodeInput::Single(InputSequence::Raw(text)) => text.to_string(),
        words => format!("{words:?}"),
    };
    TokenizeError::Encode { text, source }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const UNIGRAM: &str = include_str!("../../../tests/data/tokenizer/tokenizer.json");

    fn unigram() -> Tokenizer {
        Tokenizer::from_json(UNIGRAM.as_bytes()).unwrap()
    }

    /// BERT's layout over a handful of words.
    fn wordpiece() -> Tokenizer {
        let json = br###"{"version": "1.0", "truncation": null, "padding": null,
          "added_tokens": [
            {"id": 0, "content": "[PAD]", "single_word": false, "lstrip": false, "rstrip": false,
             "normalized": false, "special": true},
            {"id": 1, "content": "[CLS]", "single_word": false, "lstrip": false, "rstrip": false,
             "normalized": false, "special": true},
            {"id": 2, "content": "[SEP]", "single_word": false, "lstrip": false, "rstrip": false,
             "normalized": false, "special": true}],
          "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
             "strip_accents": null, "lowercase": true},
          "pre_tokenizer": {"type": "BertPreTokenizer"},
          "post_processor": {"type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}},
              {"Sequence": {"id": "A", "type_id": 0}},
              {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
            "pair": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}},
              {"Sequence": {"id": "A", "type_id": 0}},
              {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
              {"Sequence": {"id": "B", "type_id": 1}},
              {"SpecialToken": {"id": "[SEP]", "type_id": 1}}],
            "special_tokens": {
              "[CLS]": {"id": "[CLS]", "ids": [1], "tokens": ["[CLS]"]},
              "[SEP]": {"id": "[SEP]", "ids": [2], "tokens": ["[SEP]"]}}},
          "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": false},
          "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {"[PAD]": 0, "[CLS]": 1, "[SEP]": 2, "[UNK]": 3, "he": 4, "con": 5,
              "##firm": 6, "##ed": 7, "it": 8, ".": 9}}}"###;
        Tokenizer::from_json(json).unwrap()
    }

    /// GPT-2's layout: the 256 byte letters and one merge.
    fn byte_level() -> Tokenizer {
        byte_level_with(256).unwrap()
    }

    /// The same, with the id of what the merge makes.
    fn byte_level_with(id: u32) -> Result<Tokenizer, TokenizeError> {
        let mut vocab = serde_json::Map::new();
        for (place, letter) in surface::byte_letters().into_iter().enumerate() {
            vocab.insert(letter.to_string(), place.into());
        }
        vocab.insert("th".to_owned(), id.into());
        let json = serde_json::json!({
            "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
            "normalizer": null, "post_processor": null,
            "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true,
                              "use_regex": true},
            "decoder": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true,
                        "use_regex": true},
            "model": {"type": "BPE", "dropout": null, "unk_token": null,
                      "continuing_subword_prefix": null, "end_of_word_suffix": null,
                      "fuse_unk": false, "byte_fallback": false, "vocab": vocab,
                      "merges": [["t", "h"]]},
        });
        Tokenizer::from_json(json.to_string().as_bytes())
    }

    fn surfaces(tokenizer: &Tokenizer, ids: &[u32]) -> String {
        let bytes: Vec<u8> = ids.iter().flat_map(|&id| tokenizer.surface(id)).copied().collect();
        String::from_utf8(bytes).unwrap()
    }

    fn assert_surfaces_spell_the_text(tokenizer: &Tokenizer, text: &str) {
        let ids = tokenizer.encode(text).unwrap();
        let spelled = surfaces(tokenizer, &ids);
        let decoded = tokenizer.decode(&ids).unwrap();
        let from_start = |text: &str| text.trim_start_matches(' ').to_owned();
        assert_eq!(from_start(&spelled), from_start(&decoded), "text {text:?}");
    }

    #[test]
    fn a_piece_that_starts_a_word_carries_its_space() {
        let tokenizer = unigram();
        let ids = tokenizer.encode("the cat").unwrap();
        assert_eq!(tokenizer.surface(ids[0]), b" the");
        assert_eq!(surfaces(&tokenizer, &ids), " the cat");
    }

    #[test]
    fn a_phrase_inside_a_text_begins_with_a_space() {
        for tokenizer in [unigram(), byte_level()] {
            let ids = tokenizer.encode_inside("the cat").unwrap();
            assert_eq!(surfaces(&tokenizer, &ids), " the cat");
        }
        assert_eq!(surfaces(&byte_level(), &byte_level().encode("the cat").unwrap()), "the cat");
    }

    #[test]
    fn a_token_stands_for_bytes_of_the_text() {
        let text = "th\u{e9} th";
        let places = byte_level().encode_places(text).unwrap();
        let spelled: Vec<(u32, &str)> =
            places.iter().map(|(id, place)| (*id, &text[place.clone()])).collect();
        let ids = byte_level().encode(text).unwrap();
        assert_eq!(places.iter().map(|(id, _)| *id).collect::<Vec<_>>(), ids);
        assert_eq!(spelled[0], (256, "th"));
        // Both bytes of a letter stand for it.
        assert_eq!((spelled[1].1, spelled[2].1), ("\u{e9}", "\u{e9}"));
        assert_eq!((spelled[3].1, spelled[4].1), (" ", "th"));
    }

    #[test]
    fn letters_without_a_token_are_told_each_once() {
        let unknown = |tokenizer: &Tokenizer, text: &str| {
            tokenizer.unknown_letters(text).unwrap().into_iter().collect::<String>()
        };
        assert_eq!(unknown(&unigram(), "the caf\u{e9}"), "");
        assert_eq!(unknown(&unigram(), "\u{df}a \u{1f44d}\u{df} cat"), "\u{df}\u{1f44d}");
        assert_eq!(unknown(&wordpiece(), "he \u{df}"), "\u{df}");
        assert_eq!(unknown(&byte_level(), "\u{df}\u{1f44d}"), "");
    }

    #[test]
    fn special_tokens_leave_nothing_and_are_listed() {
        let tokenizer = unigram();
        let eos = tokenizer.id("</s>").unwrap();
        assert!(tokenizer.surface(eos).is_empty());
        assert!(tokenizer.special_ids().contains(&eos));
        assert_eq!(tokenizer.encode_with_specials("the").unwrap().last(), Some(&eos));
    }

    #[test]
    fn a_character_outside_the_vocabulary_becomes_its_bytes() {
        let tokenizer = unigram();
        let ids = tokenizer.encode("\u{20ac}").unwrap();
        let bytes: Vec<&[u8]> = ids.iter().map(|&id| tokenizer.surface(id)).collect();
        assert_eq!(bytes, [&b" "[..], &[0xe2], &[0x82], &[0xac]]);
        assert_eq!(tokenizer.decode(&ids).unwrap(), "\u{20ac}");
    }

    #[test]
    fn an_id_outside_the_vocabulary_has_an_empty_surface() {
        assert!(unigram().surface(u32::MAX).is_empty());
    }

    #[test]
    fn a_pair_of_word_lists_keeps_sequence_and_word_of_every_piece() {
        let pieces = wordpiece().encode_words(&["He", "confirmed"], Some(&["It", "."])).unwrap();
        assert_eq!(pieces.ids, [1, 4, 5, 6, 7, 2, 8, 9, 2]);
        assert_eq!(pieces.type_ids, [0, 0, 0, 0, 0, 0, 1, 1, 1]);
        let place = |sequence, word| Some(PieceWord { sequence, word });
        let expected = [
            None,
            place(0, 0),
            place(0, 1),
            place(0, 1),
            place(0, 1),
            None,
            place(1, 0),
            place(1, 1),
            None,
        ];
        assert_eq!(pieces.words, expected);
    }

    #[test]
    fn a_single_word_list_has_no_second_sequence() {
        let pieces = wordpiece().encode_words(&["it"], None).unwrap();
        assert_eq!(pieces.ids, [1, 8, 2]);
        assert_eq!(pieces.words[1], Some(PieceWord { sequence: 0, word: 0 }));
    }

    #[test]
    fn continued_pieces_have_no_space() {
        let tokenizer = wordpiece();
        assert_eq!(tokenizer.surface(5), b" con");
        assert_eq!(tokenizer.surface(6), b"firm");
        assert_surfaces_spell_the_text(&tokenizer, "he confirmed it .");
    }

    #[test]
    fn byte_letters_stand_for_their_bytes() {
        let tokenizer = byte_level();
        assert_eq!(tokenizer.surface(256), b"th");
        let ids = tokenizer.encode("the caf\u{e9}").unwrap();
        assert_eq!(surfaces(&tokenizer, &ids), "the caf\u{e9}");
    }

    #[test]
    fn a_text_that_is_no_tokenizer_is_refused() {
        let error = Tokenizer::from_json(b"{}").unwrap_err();
        assert!(matches!(error, TokenizeError::Parse { .. }), "{error}");
    }

    #[test]
    fn an_id_that_would_ask_for_gigabytes_is_refused() {
        for id in [1 << 22, 1 << 31, u32::MAX] {
            let message = byte_level_with(id).unwrap_err().to_string();
            assert!(message.contains(&format!("`th` has the id {id}")), "{message}");
        }
        assert_eq!(byte_level_with((1 << 22) - 1).unwrap().surface((1 << 22) - 1), b"th");
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = Tokenizer::open(Path::new("no/such/model")).unwrap_err();
        assert!(error.to_string().contains("no/such/model"), "{error}");
    }

    #[test]
    fn a_decoder_without_known_surfaces_is_refused() {
        let json = UNIGRAM.replace("\"ByteFallback\"", "\"Fuse\"").replace(
            "{\"type\": \"Fuse\"}",
            "{\"type\": \"CTC\", \"pad_token\": \"<pad>\", \"word_delimiter_token\": \"|\", \
             \"cleanup\": true}",
        );
        assert_ne!(json, UNIGRAM);
        let error = Tokenizer::from_json(json.as_bytes()).unwrap_err();
        assert!(matches!(error, TokenizeError::UnknownDecoder { .. }), "{error}");
    }

    #[test]
    fn normalising_follows_the_tokenizer() {
        assert_eq!(unigram().normalize("\u{fb01}rm").unwrap(), "firm");
    }

    proptest! {
        #[test]
        fn surfaces_spell_any_text_of_the_unigram_tokenizer(text in "\\PC{0,40}") {
            assert_surfaces_spell_the_text(&unigram(), &text);
        }

        #[test]
        fn surfaces_spell_any_text_of_a_byte_level_tokenizer(text in "\\PC{0,40}") {
            assert_surfaces_spell_the_text(&byte_level(), &text);
        }
    }

    #[test]
    fn surfaces_spell_texts_of_the_default_rewriter() {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/paraphrase");
        let tokenizer = Tokenizer::open(&dir).unwrap();
        assert_eq!(tokenizer.vocab_size(), 8000);
        for text in [
            "Witnesses were unable to corroborate his account of the events.",
            "  Two  spaces , \"quotes\" and a dash - there",
            "A caf\u{e9}, na\u{ef}ve",
        ] {
            assert_surfaces_spell_the_text(&tokenizer, text);
        }
    }
}
