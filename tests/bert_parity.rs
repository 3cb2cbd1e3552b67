//! The encoder gives the numbers that transformers gives (see training/parity).

use std::path::{Path, PathBuf};

use fnstore::engine::{Device, Encoder, EncoderInput, Hidden, Tokenizer};
use serde::Deserialize;

pub(crate) fn golden<T: serde::de::DeserializeOwned>(name: &str) -> Vec<T> {
    #[derive(Deserialize)]
    struct Golden<T> {
        cases: Vec<T>,
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/parity").join(name);
    let golden: Golden<T> = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    golden.cases
}

fn assert_close(got: &[f32], want: &[f32], tolerance: f32, what: &str) {
    assert_eq!(got.len(), want.len(), "{what}");
    for (column, (got, want)) in got.iter().zip(want).enumerate() {
        assert!((got - want).abs() < tolerance, "{what}, column {column}: {got}, not {want}");
    }
}

#[test]
fn a_tiny_bert_gives_the_states_of_transformers() {
    #[derive(Deserialize)]
    struct Case {
        ids: Vec<u32>,
        type_ids: Vec<u32>,
        states: Vec<Vec<f32>>,
    }
    let cases: Vec<Case> = golden("bert/states.json");
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/parity/bert");
    let encoder = Encoder::open(&directory, &Device::cpu()).unwrap();
    let inputs: Vec<EncoderInput> = cases
        .iter()
        .map(|case| EncoderInput { ids: case.ids.clone(), type_ids: case.type_ids.clone() })
        .collect();
    let states = encoder.encode(&inputs).unwrap();
    assert_eq!(states.len(), cases.len());
    for (case, states) in cases.iter().zip(&states) {
        assert_eq!(states.len(), case.ids.len());
        for (token, want) in case.states.iter().enumerate() {
            assert_close(states.token(token), want, 1e-4, &format!("token {token}"));
        }
    }
}

/// The directory of all-MiniLM-L6-v2, when there is one.
fn minilm() -> Option<PathBuf> {
    let models = match std::env::var_os("FNSTORE_MODELS") {
        Some(models) => PathBuf::from(models),
        None => PathBuf::from(std::env::var_os("HOME")?).join(".cache/fnstore/models"),
    };
    let directory = models.join("all-MiniLM-L6-v2");
    directory.join("config.json").exists().then_some(directory)
}

#[test]
fn minilm_gives_the_states_of_transformers() {
    #[derive(Deserialize)]
    struct Case {
        sentence: String,
        ids: Vec<u32>,
        tokens: Vec<usize>,
        first_16: Vec<Vec<f32>>,
        norms: Vec<f32>,
    }
    let cases: Vec<Case> = golden("minilm.json");
    let Some(directory) = minilm() else {
        skipped!("all-MiniLM-L6-v2 is not among the models (`make minilm` fetches it)");
        return;
    };
    let tokenizer = Tokenizer::open(&directory).unwrap();
    for case in &cases {
        let ids = tokenizer.encode_with_specials(&case.sentence).unwrap();
        assert_eq!(ids, case.ids, "{}", case.sentence);
    }
    let encoder = Encoder::open(&directory, &Device::cpu()).unwrap();
    assert_eq!((encoder.hidden_size(), encoder.max_length()), (384, 512));
    let inputs: Vec<EncoderInput> = cases
        .iter()
        .map(|case| EncoderInput { ids: case.ids.clone(), type_ids: Vec::new() })
        .collect();
    let norm = |state: &[f32]| state.iter().map(|x| x * x).sum::<f32>().sqrt();
    for (case, states) in cases.iter().zip(encoder.encode(&inputs).unwrap()) {
        let states: Hidden = states;
        for (token, want) in case.tokens.iter().zip(&case.first_16) {
            assert_close(&states.token(*token)[..16], want, 1e-4, &case.sentence);
        }
        let norms: Vec<f32> = (0..states.len()).map(|token| norm(states.token(token))).collect();
        assert_close(&norms, &case.norms, 1e-4, &case.sentence);
    }
}
