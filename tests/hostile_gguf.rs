//! A GGUF file may come from anywhere: what is wrong with it ends in an error with a code, its file
//! and its field, and nothing is held for what it only claims to have.

use fnstore::engine::{Gguf, GgufError, GgufProblem};
use proptest::prelude::*;

use crate::gguf_files::{
    GgufFile, TensorEntry, array_value, le, le64, number_value, text_bytes, text_value, written,
};

fn open(bytes: &[u8]) -> Result<Gguf, GgufError> {
    let (_directory, path) = written(bytes);
    Gguf::open(&path)
}

fn with_key(key: &str, value: Vec<u8>) -> GgufFile {
    let mut file = GgufFile::default();
    file.keys.push((key.to_owned(), value));
    file
}

fn with_tensor(dimensions: &[u64], kind: u32, offset: u64) -> GgufFile {
    let mut file = GgufFile::default();
    file.tensors.push(TensorEntry::new("odd", dimensions, kind, offset));
    file
}

/// The code and the message of the error that a file ends in.
fn refused(bytes: &[u8]) -> (&'static str, String) {
    let error = open(bytes).unwrap_err();
    let message = error.to_string();
    assert!(message.contains("model.gguf"), "{message}");
    match error {
        GgufError::Field { problem, .. } => (problem.code(), message),
        other => panic!("{other}"),
    }
}

#[test]
fn a_whole_file_is_read() {
    let file = open(&GgufFile::default().bytes()).unwrap();
    assert_eq!(file.text("general.architecture").unwrap(), Some("llama"));
    assert_eq!(file.count("general.alignment").unwrap(), Some(32));
    assert_eq!(file.text("absent").unwrap(), None);
}

#[test]
fn a_pointer_in_the_place_of_a_file_is_named() {
    let (code, message) = refused(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n");
    assert!(code == "G-magic" && message.contains("a pointer of Git LFS"), "{message}");
    let (_, other) = refused(b"PK\x03\x04 and so on, as an archive begins");
    assert!(!other.contains("Git LFS"), "{other}");
}

#[test]
fn each_field_that_is_wrong_is_named_with_a_code() {
    let default = GgufFile::default;
    let twice = {
        let mut file = default();
        file.keys.push(file.keys[0].clone());
        file
    };
    let same_tensor = {
        let mut file = default();
        file.tensors.push(file.tensors[0].clone());
        file
    };
    let with_alignment = |alignment| {
        let mut file = default();
        file.keys[1].1 = number_value(alignment);
        file
    };
    let nested = array_value(9, 1, &array_value(4, 1, &le(1)));
    let bad_text = [&le(8)[..], &le64(2), &[0xff, 0xfe]].concat();
    let cases = [
        (GgufFile { magic: *b"GGML", ..default() }, "G-magic", "beginning"),
        (GgufFile { version: 1, ..default() }, "G-version", "`1`"),
        // A file of a machine that writes its bytes the other way round.
        (GgufFile { version: 3 << 24, ..default() }, "G-version", "little-endian"),
        (GgufFile { counts: [None, Some(1_000_000)], ..default() }, "G-many", "1000000"),
        (GgufFile { counts: [Some(u64::MAX), None], ..default() }, "G-many", "number of tensors"),
        (with_key("odd", le(13)), "G-kind", "`odd`"),
        (with_key("odd", nested), "G-nested", "`odd`"),
        (with_key("odd", bad_text), "G-text", "`odd`"),
        (with_key("odd", array_value(8, u64::MAX, &text_bytes("x"))), "G-", "`odd`"),
        (with_key("odd", array_value(4, u64::MAX, &[])), "G-cut", "`odd`"),
        (with_key("odd", [&le(8)[..], &le64(u64::MAX)].concat()), "G-cut", "`odd`"),
        (twice, "G-twice", "`general.architecture`"),
        (same_tensor, "G-twice", "tensor `a.weight`"),
        (with_alignment(0), "G-alignment", "`0`"),
        (with_alignment(33), "G-alignment", "`33`"),
        (with_tensor(&[], 0, 0), "G-dimensions", "`odd`"),
        (with_tensor(&[1; 5], 0, 0), "G-dimensions", "`odd`"),
        (with_tensor(&[0, 4], 0, 0), "G-dimensions", "`odd`"),
        // Minus one, as a number without a sign.
        (with_tensor(&[u64::MAX], 0, 0), "G-dimensions", "`odd`"),
        (with_tensor(&[1 << 32, 1 << 32], 0, 0), "G-dimensions", "`odd`"),
        (with_tensor(&[1 << 39, 1], 0, 0), "G-beyond", "`odd`"),
        (with_tensor(&[4, 4], 0, 32), "G-beyond", "`odd`"),
        (with_tensor(&[1], 0, u64::MAX - 31), "G-beyond", "`odd`"),
        (with_tensor(&[1], 0, 1), "G-unaligned", "`odd`"),
        (with_tensor(&[33], 8, 0), "G-blocks", "`odd`"),
        (with_tensor(&[256], 10, 0), "G-type", "`Q2_K`"),
        (with_tensor(&[256], 999, 0), "G-type", "`999`"),
    ];
    for (file, code, named) in cases {
        let (found, message) = refused(&file.bytes());
        assert!(found.starts_with(code), "{found}: {message}");
        assert!(message.contains(named), "{message}");
    }
}

#[test]
fn a_file_cut_short_anywhere_is_refused() {
    let bytes = GgufFile::default().bytes();
    for length in 0..bytes.len() {
        let (code, message) = refused(&bytes[..length]);
        assert!(["G-magic", "G-cut", "G-beyond"].contains(&code), "{length}: {message}");
    }
}

#[test]
fn a_value_of_another_kind_is_refused_when_it_is_asked_for() {
    let file =
        open(&with_key("list", array_value(4, 2, &[le(3), le(4)].concat())).bytes()).unwrap();
    assert_eq!(file.integers("list").unwrap(), Some(vec![3, 4]));
    assert_eq!(file.floats("list").unwrap(), Some(vec![3.0, 4.0]));
    let code = |error: GgufError| match error {
        GgufError::Field { problem, .. } => match *problem {
            GgufProblem::Value { found, .. } => found,
            other => panic!("{other}"),
        },
        other => panic!("{other}"),
    };
    assert_eq!(code(file.count("list").unwrap_err()), "an array of 2 u32");
    assert_eq!(code(file.texts("list").unwrap_err()), "an array of 2 u32");
    assert_eq!(code(file.count("general.architecture").unwrap_err()), "text");
    assert_eq!(code(file.integers("general.architecture").unwrap_err()), "text");
    assert_eq!(code(file.text("general.alignment").unwrap_err()), "u32");
    let minus = [le(5), le(u32::MAX)].concat();
    let file = open(&with_key("minus", minus).bytes()).unwrap();
    assert_eq!(code(file.count("minus").unwrap_err()), "-1");
    let nan = [le(6), le(f32::NAN.to_bits())].concat();
    let file = open(&with_key("nan", nan).bytes()).unwrap();
    assert_eq!(code(file.number("nan").unwrap_err()), "NaN");
}

#[test]
fn a_file_that_is_not_there_is_an_error_of_its_own() {
    let error = Gguf::open("no/such/model.gguf".as_ref()).unwrap_err();
    assert!(matches!(error, GgufError::Read { .. }), "{error}");
    assert!(error.to_string().contains("no/such/model.gguf"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// A mutated file is read or refused; whatever is read of it lies in it.
    #[test]
    fn mutated_files_end_in_a_value_or_an_error(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let pieces = array_value(8, 2, &[text_bytes("a"), text_bytes("b")].concat());
        let mut file = with_key("tokenizer.ggml.tokens", pieces);
        file.keys.push(("tokenizer.ggml.model".to_owned(), text_value("gpt2")));
        let mut bytes = file.bytes();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Ok(file) = open(&bytes) {
            for key in ["general.architecture", "general.alignment", "tokenizer.ggml.tokens"] {
                let _ = (file.text(key), file.count(key), file.number(key), file.flag(key));
                let _ = (file.texts(key), file.integers(key), file.floats(key), file.pieces());
            }
        }
    }
}
