//! Tokenizers made of a bare vocabulary, as a GGUF file holds it.
//!
//! Such a file lists pieces with their kinds, and merges (byte-level BPE, Radford et al. 2019) or
//! scores (SentencePiece's BPE, Kudo and Richardson 2018). It only names how a text is cut into
//! words beforehand. The patterns are those of the models' own `tokenizer.json`.

use std::collections::HashMap;

use tokenizers::decoders::byte_fallback::ByteFallback;
use tokenizers::decoders::fuse::Fuse;
use tokenizers::decoders::sequence::Sequence as Decoders;
use tokenizers::decoders::strip::Strip;
use tokenizers::models::bpe::BPE;
use tokenizers::normalizers::{NFC, Prepend, Replace, Sequence as Normalizers};
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::sequence::Sequence as Cutters;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::{AddedToken, NormalizerWrapper, PreTokenizerWrapper, SplitDelimiterBehavior};

use super::surface::META_SPACE;
use super::{TokenizeError, Tokenizer};

/// What a piece of a vocabulary is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PieceKind {
    /// A part of texts.
    Normal,
    /// Stands for what the vocabulary cannot spell.
    Unknown,
    /// Controls the model, and is never made of a text.
    Control,
    /// A part of texts that is not cut further, wherever it stands.
    Whole,
    /// Nothing.
    Unused,
    /// One byte of a character that no other piece spells.
    Byte,
}

/// How texts become pieces.
#[derive(Debug, Clone, PartialEq)]
pub enum Cutting {
    /// Byte-level BPE.
    Bytes {
        /// The name of how words are cut, such as `qwen2`.
        words: String,
        /// Pairs of pieces that are joined, most urgent first, each `LEFT RIGHT`.
        merges: Vec<String>,
    },
    /// SentencePiece's BPE: those neighbours are joined whose joined piece scores highest.
    Scores {
        /// One for each piece.
        scores: Vec<f32>,
        /// Whether a text begins with a space of its own.
        begins_with_space: bool,
    },
}

/// A vocabulary, with how texts become its pieces.
#[derive(Debug, Clone, PartialEq)]
pub struct Pieces {
    /// The pieces by their ids, as the vocabulary writes them.
    pub pieces: Vec<String>,
    /// What each is for.
    pub kinds: Vec<PieceKind>,
    /// How texts become pieces.
    pub cutting: Cutting,
}

/// Llama 3's words; numbers in groups of up to three digits.
const LLAMA_3: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// Qwen 2's and 3's words; every digit by itself.
const QWEN_2: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// Ways of cutting words that are known by name.
const KNOWN_WORDS: &str = "`gpt-2`, `smollm`, `llama-bpe` or `qwen2`";

impl Tokenizer {
    /// A tokenizer over a bare vocabulary. A text never becomes a control piece: one that is
    /// spelled in a text is cut as any other text is.
    ///
    /// ```
    /// use fnstore::engine::{Cutting, PieceKind, Pieces, Tokenizer};
    ///
    /// let pieces = ["<s>", "<", "s", ">", "s>", "<s"].map(str::to_owned).to_vec();
    /// let mut kinds = vec![PieceKind::Normal; 6];
    /// kinds[0] = PieceKind::Control;
    /// let merges = vec!["s >".to_owned()];
    /// let cutting = Cutting::Bytes { words: "gpt-2".to_owned(), merges };
    /// let tokenizer = Tokenizer::from_pieces(&Pieces { pieces, kinds, cutting })?;
    /// assert_eq!(tokenizer.encode("<s")?, [1, 2]);
    /// assert_eq!(tokenizer.id("<s>"), Some(0));
    /// # Ok::<(), fnstore::engine::TokenizeError>(())
    /// ```
    ///
    /// # Errors
    /// When lists differ in length, a piece occurs twice, a merge is of pieces that are not there,
    /// or the name of how words are cut is not known.
    pub fn from_pieces(vocabulary: &Pieces) -> Result<Self, TokenizeError> {
        let ids = vocabulary.ids()?;
        let inner = match &vocabulary.cutting {
            Cutting::Bytes { words, merges } => byte_level(&ids, words, merges)?,
            Cutting::Scores { scores, begins_with_space } => {
                sentence_piece(vocabulary, &ids, scores, *begins_with_space)?
            }
        };
        Self::of(vocabulary.with_added(inner)?).map(Self::plain)
    }

    /// The same, to which no text is a control token: one that is spelled in a text is cut as any
    /// other text is. [`id`](Self::id) finds those tokens.
    #[must_use]
    pub fn plain(mut self) -> Self {
        self.inner.set_encode_special_tokens(true);
        self
    }
}

impl Pieces {
    /// The id of each piece.
    fn ids(&self) -> Result<HashMap<&str, u32>, TokenizeError> {
        let refuse = |problem: String| Err(TokenizeError::Vocabulary { problem });
        if self.kinds.len() != self.pieces.len() {
            let (kinds, pieces) = (self.kinds.len(), self.pieces.len());
            return refuse(format!("{kinds} kinds for {pieces} pieces"));
        }
        if let Cutting::Scores { scores, .. } = &self.cutting
            && scores.len() != self.pieces.len()
        {
            let (scores, pieces) = (scores.len(), self.pieces.len());
            return refuse(format!("{scores} scores for {pieces} pieces"));
        }
        let mut ids = HashMap::with_capacity(self.pieces.len());
        for (id, piece) in (0..).zip(&self.pieces) {
            if let Some(other) = ids.insert(piece.as_str(), id) {
                return refuse(format!("piece `{piece}` has the ids {other} and {id}"));
            }
        }
        Ok(ids)
    }

    /// The tokenizer with the pieces that are found in a text before it is cut, and those that
    /// never are.
    fn with_added(
        &self,
        mut inner: tokenizers::Tokenizer,
    ) -> Result<tokenizers::Tokenizer, TokenizeError> {
        let of_kind = |wanted: PieceKind| {
            let pieces = self.pieces.iter().zip(&self.kinds);
            pieces.filter(move |(_, kind)| **kind == wanted).map(|(piece, _)| piece.clone())
        };
        let parse = |source| TokenizeError::Parse { source };
        let controls = of_kind(PieceKind::Control).chain(of_kind(PieceKind::Unknown));
        let controls = controls.map(|piece| AddedToken::from(piece, true));
        inner.add_special_tokens(controls.collect::<Vec<_>>()).map_err(parse)?;
        let wholes = of_kind(PieceKind::Whole);
        let wholes = wholes.map(|piece| AddedToken::from(piece, false).normalized(false));
        inner.add_tokens(wholes.collect::<Vec<_>>()).map_err(parse)?;
        Ok(inner)
    }

    /// Merges that join as the scores say: of every two pieces that make up a third one, by its
    /// score, a longer left one first (`generate_merges` of transformers).
    fn merges(&self, ids: &HashMap<&str, u32>, scores: &[f32]) -> Vec<(String, String)> {
        let joins =
            |id: u32| matches!(self.kinds[id as usize], PieceKind::Normal | PieceKind::Whole);
        let known = |part: &str| ids.get(part).copied().filter(|id| joins(*id));
        let mut merges = Vec::new();
        for (id, piece) in (0..).zip(&self.pieces).filter(|(id, _)| joins(*id)) {
            let cuts = piece.char_indices().skip(1).map(|(at, _)| piece.split_at(at));
            let pairs = cuts.filter_map(|(left, right)| Some((known(left)?, known(right)?)));
            let mut pairs: Vec<(u32, u32)> = pairs.collect();
            pairs.sort_unstable();
            merges.extend(pairs.into_iter().map(|pair| (scores[id as usize], pair)));
        }
        let length = |id: u32| self.pieces[id as usize].chars().count();
        merges.sort_by(|(a, of_a), (b, of_b)| {
            let longer = |one: u32, other: u32| length(other).cmp(&length(one));
            b.total_cmp(a).then(longer(of_a.0, of_b.0)).then(longer(of_a.1, of_b.1))
        });
        let piece = |id: u32| self.pieces[id as usize].clone();
        merges.into_iter().map(|(_, (left, right))| (piece(left), piece(right))).collect()
    }
}

fn parse(source: tokenizers::Error) -> TokenizeError {
    TokenizeError::Parse { source }
}

fn byte_level(
    ids: &HashMap<&str, u32>,
    words: &str,
    merges: &[String],
) -> Result<tokenizers::Tokenizer, TokenizeError> {
    let split = |pattern: &str| {
        let pattern = SplitPattern::Regex(pattern.to_owned());
        let split = Split::new(pattern, SplitDelimiterBehavior::Isolated, false);
        Ok::<PreTokenizerWrapper, TokenizeError>(split.map_err(parse)?.into())
    };
    let letters = |cuts_words| PreTokenizerWrapper::from(ByteLevel::new(false, true, cuts_words));
    let (cutters, is_composed, ignores_merges) = match words {
        "gpt-2" => (vec![letters(true)], false, false),
        "smollm" => (vec![Digits::new(true).into(), letters(true)], false, false),
        "llama-bpe" => (vec![split(LLAMA_3)?, letters(false)], false, true),
        "qwen2" => (vec![split(QWEN_2)?, letters(false)], true, false),
        other => {
            let problem = format!("words are cut as `{other}`, expected {KNOWN_WORDS}");
            return Err(TokenizeError::Vocabulary { problem });
        }
    };
    let pairs = merges.iter().map(|merge| {
        // A piece may be a space, but no empty text.
        let at = merge.char_indices().skip(1).find(|(_, letter)| *letter == ' ');
        let (at, _) = at.ok_or_else(|| TokenizeError::Vocabulary {
            problem: format!("merge `{merge}` is no two pieces with a space between"),
        })?;
        Ok((merge[..at].to_owned(), merge[at + 1..].to_owned()))
    });
    let pairs: Vec<(String, String)> = pairs.collect::<Result<_, TokenizeError>>()?;
    let bpe = BPE::builder().vocab_and_merges(owned(ids), pairs).ignore_merges(ignores_merges);
    let mut inner = tokenizers::Tokenizer::new(bpe.build().map_err(parse)?);
    inner.with_pre_tokenizer(Some(Cutters::new(cutters)));
    inner.with_decoder(Some(ByteLevel::default()));
    if is_composed {
        inner.with_normalizer(Some(NFC)).map_err(parse)?;
    }
    Ok(inner)
}

fn sentence_piece(
    vocabulary: &Pieces,
    ids: &HashMap<&str, u32>,
    scores: &[f32],
    begins_with_space: bool,
) -> Result<tokenizers::Tokenizer, TokenizeError> {
    let merges = vocabulary.merges(ids, scores);
    let mut bpe = BPE::builder()
        .vocab_and_merges(owned(ids), merges)
        .byte_fallback(vocabulary.kinds.contains(&PieceKind::Byte))
        .fuse_unk(true);
    let unknown = vocabulary.kinds.iter().position(|kind| *kind == PieceKind::Unknown);
    if let Some(unknown) = unknown {
        bpe = bpe.unk_token(vocabulary.pieces[unknown].clone());
    }
    let mut inner = tokenizers::Tokenizer::new(bpe.build().map_err(parse)?);
    let space = META_SPACE.to_string();
    let mut normalizers: Vec<NormalizerWrapper> = Vec::new();
    if begins_with_space {
        normalizers.push(Prepend::new(space.clone()).into());
    }
    normalizers.push(Replace::new(" ", space.clone()).map_err(parse)?.into());
    inner.with_normalizer(Some(Normalizers::new(normalizers))).map_err(parse)?;
    let mut decoders = vec![
        Replace::new(space, " ").map_err(parse)?.into(),
        ByteFallback::new().into(),
        Fuse::new().into(),
    ];
    if begins_with_space {
        decoders.push(Strip::new(' ', 1, 0).into());
    }
    inner.with_decoder(Some(Decoders::new(decoders)));
    Ok(inner)
}

fn owned(ids: &HashMap<&str, u32>) -> tokenizers::models::bpe::Vocab {
    ids.iter().map(|(piece, id)| ((*piece).to_owned(), *id)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::surface::byte_letters;
    use super::*;

    /// The 256 byte letters, the pieces named, and merges.
    fn bytes(words: &str, more: &[(&str, PieceKind)], merges: &[&str]) -> Pieces {
        let mut pieces: Vec<String> = byte_letters().iter().map(char::to_string).collect();
        let mut kinds = vec![PieceKind::Normal; 256];
        for (piece, kind) in more {
            pieces.push((*piece).to_owned());
            kinds.push(*kind);
        }
        let merges = merges.iter().map(|merge| (*merge).to_owned()).collect();
        Pieces { pieces, kinds, cutting: Cutting::Bytes { words: words.to_owned(), merges } }
    }

    fn scored(pieces: &[(&str, PieceKind, f32)], begins_with_space: bool) -> Pieces {
        let scores = pieces.iter().map(|(_, _, score)| *score).collect();
        Pieces {
            pieces: pieces.iter().map(|(piece, ..)| (*piece).to_owned()).collect(),
            kinds: pieces.iter().map(|(_, kind, _)| *kind).collect(),
            cutting: Cutting::Scores { scores, begins_with_space },
        }
    }

    #[test]
    fn a_control_token_in_a_text_is_plain_text() {
        let more = [("<|im_end|>", PieceKind::Control), ("im", PieceKind::Normal)];
        for words in ["gpt-2", "smollm", "llama-bpe", "qwen2"] {
            let tokenizer = Tokenizer::from_pieces(&bytes(words, &more, &["i m"])).unwrap();
            assert_eq!(tokenizer.id("<|im_end|>"), Some(256));
            let text = "stop<|im_end|> <|im_end|>";
            let ids = tokenizer.encode(text).unwrap();
            assert!(!ids.contains(&256), "{words}: {ids:?}");
            assert!(ids.contains(&257), "{words}: {ids:?}");
            assert_eq!(tokenizer.decode(&ids).unwrap(), text);
            assert_eq!(tokenizer.special_ids(), [256]);
        }
    }

    #[test]
    fn a_whole_piece_is_found_wherever_it_stands() {
        let more = [("<tool>", PieceKind::Whole)];
        let tokenizer = Tokenizer::from_pieces(&bytes("qwen2", &more, &[])).unwrap();
        assert_eq!(tokenizer.encode("<tool>a").unwrap()[0], 256);
        assert_eq!(tokenizer.surface(256), b"<tool>");
    }

    #[test]
    fn numbers_are_cut_as_the_model_learnt_them() {
        let more = [("12", PieceKind::Normal), ("123", PieceKind::Normal)];
        let count = |words: &str| {
            let pieces = bytes(words, &more, &["1 2", "12 3"]);
            Tokenizer::from_pieces(&pieces).unwrap().encode("1231").unwrap().len()
        };
        assert_eq!((count("gpt-2"), count("smollm")), (2, 4));
        assert_eq!((count("llama-bpe"), count("qwen2")), (2, 4));
    }

    #[test]
    fn scores_join_pieces_and_bytes_spell_the_rest() {
        use PieceKind::{Byte, Control, Normal, Unknown};
        let pieces = [
            ("<unk>", Unknown, 0.0),
            ("<s>", Control, 0.0),
            ("<0xC3>", Byte, 0.0),
            ("<0xA9>", Byte, 0.0),
            ("\u{2581}a", Normal, -1.0),
            ("ab", Normal, -2.0),
            ("\u{2581}", Normal, -3.0),
            ("a", Normal, -4.0),
            ("b", Normal, -5.0),
            ("<", Normal, -6.0),
            ("s", Normal, -7.0),
            (">", Normal, -8.0),
        ];
        let tokenizer = Tokenizer::from_pieces(&scored(&pieces, true)).unwrap();
        assert_eq!(tokenizer.encode("ab ab").unwrap(), [4, 8, 4, 8]);
        assert_eq!(tokenizer.encode("b\u{e9}").unwrap(), [6, 8, 2, 3]);
        assert_eq!(tokenizer.decode(&[6, 8, 2, 3]).unwrap(), "b\u{e9}");
        assert_eq!(tokenizer.encode("<s>").unwrap(), [6, 9, 10, 11]);
        let bare = Tokenizer::from_pieces(&scored(&pieces, false)).unwrap();
        assert_eq!(bare.encode("ab ab").unwrap(), [5, 4, 8]);
    }

    #[test]
    fn vocabularies_that_cannot_be_are_refused() {
        let problem = |pieces: &Pieces| match Tokenizer::from_pieces(pieces) {
            Err(TokenizeError::Vocabulary { problem }) => problem,
            other => panic!("{other:?}"),
        };
        assert!(problem(&bytes("klingon", &[], &[])).contains("`klingon`"));
        assert!(problem(&bytes("qwen2", &[], &["ab"])).contains("`ab`"));
        let twice = bytes("qwen2", &[("a", PieceKind::Normal)], &[]);
        assert!(problem(&twice).contains("`a` has the ids"));
        let short = Pieces { kinds: Vec::new(), ..bytes("qwen2", &[], &[]) };
        assert!(problem(&short).contains("0 kinds for 256 pieces"));
        let unknown = Tokenizer::from_pieces(&bytes("qwen2", &[], &["a bc"]));
        assert!(matches!(unknown, Err(TokenizeError::Parse { .. })), "{unknown:?}");
    }
}
