//! Tokenizers made of a GGUF file's vocabulary cut and join texts as those of `tokenizer.json` do
//! (see training/parity/language.py), and no text becomes a control token.

use std::collections::BTreeMap;

use fnstore::engine::{Gguf, TokenizeError, Tokenizer};
use serde::Deserialize;

use crate::bert_parity::golden;
use crate::language_parity::directory;

#[derive(Deserialize)]
struct Case {
    file: String,
    text: String,
    ids: Vec<u32>,
    decoded: String,
}

fn open(file: &str) -> Tokenizer {
    let file = Gguf::open(&directory("tokenizers").join(file)).unwrap();
    Tokenizer::from_pieces(&file.pieces().unwrap()).unwrap()
}

#[test]
fn texts_are_cut_and_joined_as_by_the_original() {
    let mut tokenizers = BTreeMap::new();
    for Case { file, text, ids, decoded } in golden::<Case>("tokenizers/ids.json") {
        let tokenizer = tokenizers.entry(file.clone()).or_insert_with(|| open(&file));
        let found = tokenizer.encode(&text).unwrap();
        assert_eq!(found, ids, "{file}: {text:?}");
        assert_eq!(tokenizer.decode(&found).unwrap(), decoded, "{file}: {text:?}");
    }
    assert_eq!(tokenizers.len(), 5);
}

#[test]
fn a_control_token_in_a_sentence_is_plain_text() {
    for file in ["smollm.gguf", "llama-bpe.gguf", "qwen2.gguf"] {
        let tokenizer = open(file);
        let control = tokenizer.id("<|im_end|>").unwrap();
        assert!(tokenizer.special_ids().contains(&control), "{file}");
        let ids = tokenizer.encode("He wrote <|im_end|> on it.<|im_end|>").unwrap();
        assert!(!ids.contains(&control), "{file}: {ids:?}");
        assert_eq!(tokenizer.decode(&ids).unwrap(), "He wrote <|im_end|> on it.<|im_end|>");
    }
    let tokenizer = open("scores.gguf");
    assert!(!tokenizer.encode("<s>a</s>").unwrap().contains(&tokenizer.id("<s>").unwrap()));
}

#[test]
fn a_way_of_cutting_words_that_is_not_known_is_named() {
    let file = Gguf::open(&directory("tokenizers").join("smollm.gguf")).unwrap();
    let mut pieces = file.pieces().unwrap();
    let fnstore::engine::Cutting::Bytes { words, .. } = &mut pieces.cutting else {
        panic!("SmolLM's vocabulary is of bytes")
    };
    "tekken".clone_into(words);
    let error = Tokenizer::from_pieces(&pieces).unwrap_err();
    assert!(matches!(error, TokenizeError::Vocabulary { .. }), "{error}");
    assert!(error.to_string().contains("`tekken`"), "{error}");
}
