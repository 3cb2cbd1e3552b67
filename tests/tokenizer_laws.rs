//! Tokenizers as training/paraphrase makes them lose nothing of a text.

use std::path::Path;

use fnstore::engine::Tokenizer;
use proptest::prelude::*;

/// A tiny one, made by training/parity.
fn rewriter() -> Tokenizer {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tokenizer/rewriter.json");
    Tokenizer::from_json(&std::fs::read(path).unwrap()).unwrap()
}

/// What the law excepts: spaces that SentencePiece's own sign for one takes in, and that sign; the
/// names of special tokens and bytes, which stand for what they name.
fn is_excepted(text: &str) -> bool {
    let names = ["  ", "\u{2581}", "<pad>", "</s>", "<unk>", "<avoid>", "<0x"];
    text.starts_with(' ') || names.iter().any(|name| text.contains(name))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_text_without_double_spaces_comes_back(
        text in prop_oneof![
            "\\PC{0,24}",
            any::<String>(),
            "([a-zA-Z']{1,9}[ ,.]?){0,8}",
            prop::collection::vec(any::<char>(), 0..12).prop_map(|letters| letters.into_iter().collect()),
        ]
    ) {
        prop_assume!(!is_excepted(&text));
        let tokenizer = rewriter();
        let ids = tokenizer.encode(&text).unwrap();
        prop_assert_eq!(tokenizer.decode(&ids).unwrap(), text);
    }

    #[test]
    fn surfaces_spell_any_text_after_a_space(text in "\\PC{1,24}") {
        prop_assume!(!is_excepted(&text));
        let tokenizer = rewriter();
        let ids = tokenizer.encode(&text).unwrap();
        let spelled: Vec<u8> = ids.iter().flat_map(|id| tokenizer.surface(*id)).copied().collect();
        prop_assert_eq!(spelled, format!(" {text}").into_bytes());
    }
}

#[test]
fn texts_that_tokenizers_trip_over_come_back() {
    let tokenizer = rewriter();
    for text in [
        "",
        "\u{20ac}",
        "\u{1f600} \u{1f468}\u{200d}\u{1f469}",
        "e\u{301}",
        "a\tb\nc",
        "\u{0}",
        "\u{feff}x",
        "\u{ff46}ull width",
        "trailing ",
        "\u{a0}no-break",
        "<",
        "<0",
        "\u{10ffff}",
    ] {
        let ids = tokenizer.encode(text).unwrap();
        assert_eq!(tokenizer.decode(&ids).unwrap(), text, "{ids:?}");
    }
}
