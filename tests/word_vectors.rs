//! Word vectors: what they say of words and phrases, and tables that are no such thing.

use std::path::{Path, PathBuf};

use fnstore::engine::{Weights, write_tensors};
use fnstore::vectors::{WordVectors, likeness};

fn shipped() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("models/word-vectors")
}

/// A copy of the shipped table that a test may damage.
fn copy() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for file in ["config.json", "words.txt", "model.safetensors"] {
        std::fs::copy(shipped().join(file), directory.path().join(file)).unwrap();
    }
    directory
}

fn rewrite(file: PathBuf, change: impl FnOnce(String) -> String) {
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(file, change(text)).unwrap();
}

/// What is said of a damaged table, with its causes.
fn refusal(directory: &Path) -> String {
    let error: anyhow::Error = WordVectors::open(directory).unwrap_err().into();
    format!("{error:#}")
}

#[test]
fn words_have_directions_and_phrases_those_of_their_words() {
    let vectors = WordVectors::open(&shipped()).unwrap();
    for (_, vector) in vectors.iter() {
        assert_eq!(vector.len(), vectors.dimensions());
        let length: f32 = vector.iter().map(|x| x * x).sum();
        assert!((length - 1.0).abs() < 1e-4, "{length}");
    }
    let of = |phrase: &str| vectors.of(phrase);
    assert_eq!(of("Verify"), of("verify"), "letter case aside");
    assert_eq!(of("zzyzx qqqq"), None);
    let by_what_is_there = likeness(&of("verify qqqq").unwrap(), &[of("verify").unwrap()]);
    assert!((by_what_is_there - 1.0).abs() < 1e-4, "{by_what_is_there}");
    let joined = of("verify banana").unwrap();
    for word in ["verify", "banana"] {
        assert!(likeness(&joined, &[of(word).unwrap()]) > 0.6);
    }
}

#[test]
fn a_table_of_floats_says_what_one_of_bytes_says_to_the_bit() {
    let (bytes, floats) = (WordVectors::open(&shipped()).unwrap(), copy());
    let shape = [bytes.words().count(), bytes.dimensions()];
    let numbers = Weights::open(&shipped()).unwrap().tensor("vectors.weight", &shape).unwrap();
    let tensors = [("vectors.weight".to_owned(), shape.to_vec(), numbers.data())];
    write_tensors(&floats.path().join("model.safetensors"), &tensors, None).unwrap();
    let floats = WordVectors::open(floats.path()).unwrap();
    assert!(floats.iter().eq(bytes.iter()));
    assert_ne!(floats.fingerprint(), bytes.fingerprint(), "both tables are the shipped one");
    let (floats, bytes) = (floats.of_text(), bytes.of_text());
    assert!(floats.iter().eq(bytes.iter()));
    for phrase in ["verify", "carry out", "zzyzx"] {
        assert_eq!(floats.of(phrase), bytes.of(phrase), "{phrase}");
    }
}

#[test]
fn words_that_mean_alike_are_nearer_than_others() {
    let vectors = WordVectors::open(&shipped()).unwrap();
    let of = |word: &str| vectors.of(word).unwrap();
    for (near, word, far) in [
        ("mother", "father", "furnace"),
        ("walk", "stroll", "certify"),
        ("often", "rarely", "granite"),
        ("happy", "glad", "parallel"),
    ] {
        let like = |other: &str| likeness(&of(word), &[of(other)]);
        assert!(like(near) > like(far) + 0.2, "{word}: {near} {}, {far} {}", like(near), like(far));
    }
}

#[test]
fn damaged_tables_are_refused_with_file_and_line() {
    let table = copy();
    let at = |name: &str| table.path().join(name);
    rewrite(at("words.txt"), |words| {
        words.lines().skip(1).fold(String::new(), |all, w| all + w + "\n")
    });
    assert!(refusal(table.path()).contains("as `config.json` says"), "{}", refusal(table.path()));

    let table = copy();
    let at = |name: &str| table.path().join(name);
    rewrite(at("words.txt"), |words| {
        let mut lines: Vec<&str> = words.lines().collect();
        lines[4] = lines[2];
        lines.join("\n")
    });
    assert!(refusal(table.path()).contains("words.txt` line 5"), "{}", refusal(table.path()));

    for (from, to, said) in [
        ("\"format\": 1", "\"format\": 2", "format 2"),
        ("word-vectors", "bert", "`bert`"),
        ("\"dimensions\": 128", "\"dimensions\": 64", "vectors.weight"),
        ("\"dimensions\": 128", "\"dimensions\": 0", "0 dimensions"),
        ("{", "", "the configuration of word-vectors"),
    ] {
        let table = copy();
        rewrite(table.path().join("config.json"), |json| json.replacen(from, to, 1));
        let refusal = refusal(table.path());
        assert!(refusal.contains(said), "{to}: {refusal}");
    }

    let table = copy();
    std::fs::remove_file(table.path().join("words.txt")).unwrap();
    assert!(refusal(table.path()).contains("words.txt"), "{}", refusal(table.path()));
    let table = copy();
    std::fs::write(table.path().join("model.safetensors"), "nothing").unwrap();
    assert!(refusal(table.path()).contains("model.safetensors"), "{}", refusal(table.path()));
}
