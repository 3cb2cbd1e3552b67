//! A T5 that fills blanks: `fnstore generate --method infill --model DIR`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use fnstore::database::Database;
use serde_json::Value;

use crate::cli_program::{Ran, fnstore_in, new_store};
use crate::generating::{made, outside};
use crate::language_parity::directory;
use crate::mini;

/// The tiny T5 of the parity tests, which says nothing that makes sense.
fn t5() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/parity/t5")
}

fn infill(store: &Path, model: &Path, more: &[&str]) -> Ran {
    let fixed = ["generate", "--method", "infill", "--classifier", "none", "--sisters", "random"];
    let model = ["--model", model.to_str().unwrap(), "--ranker", "none"];
    let device = ["--device", "cpu", "--format", "json"];
    fnstore_in(store, &[&fixed[..], &model, &device, more].concat())
}

fn content(store: &Path) -> Vec<String> {
    mini::content(&Database::open(store).unwrap())
}

#[test]
fn it_writes_in_the_blanks_alone_and_the_same_in_every_store() {
    let stores = [new_store(), new_store()];
    let mut rejects = BTreeSet::new();
    for store in &stores {
        for (seed, mode) in [("1", "none"), ("2", "fe"), ("3", "frame-fe"), ("4", "fe")] {
            let keep = ["--seed", seed, "--mode", mode, "--candidates", "16", "--keep", "3"];
            let ran = infill(store.path(), &t5(), &keep);
            assert!(matches!(ran.code, Some(0 | 1)), "{}", ran.stderr);
            let report: Value = serde_json::from_str(&ran.stdout).unwrap();
            assert!(report["endpoint"]["requests"] == 0 && report["mode"] == mode, "{report}");
            rejects.extend(report["rejects"].as_object().unwrap().keys().cloned());
        }
    }
    let codes = ["F-count", "F-empty", "F-long"];
    assert!(rejects.iter().all(|code| codes.contains(&code.as_str())), "{rejects:?}");
    assert_eq!(content(stores[0].path()), content(stores[1].path()));
    let database = Database::open(stores[0].path()).unwrap();
    let made = made(&database);
    assert!(!made.is_empty());
    for (new, old) in &made {
        assert_eq!(outside(new), outside(old), "{}", new.1.text);
        assert!(new.1.text != old.1.text && !new.1.text.contains("extra_id"), "{}", new.1.text);
    }
    let recipes = fnstore_in(stores[0].path(), &["recipes", "--format", "jsonl"]).stdout;
    assert!(recipes.contains("encoder-decoder"), "{recipes}");
}

#[test]
fn what_cannot_fill_blanks_is_refused_with_a_code_and_nothing_is_stored() {
    let store = new_store();
    let before = content(store.path());
    let copied = |change: &dyn Fn(&Path)| {
        let place = tempfile::tempdir().unwrap();
        mini::copy(&t5(), place.path());
        change(place.path());
        place
    };
    let replaced = |file: &'static str, from: &'static str, to: &'static str| {
        copied(&move |place: &Path| {
            let text = std::fs::read_to_string(place.join(file)).unwrap();
            assert!(text.contains(from));
            std::fs::write(place.join(file), text.replace(from, to)).unwrap();
        })
    };
    let no_sentinels = replaced("tokenizer.json", "<extra_id_", "<sentinel_");
    let not_json = replaced("tokenizer.json", "{", "[");
    let no_weights = copied(&|place| {
        std::fs::remove_file(place.join("model.safetensors")).unwrap();
    });
    let bart = copied(&|place| {
        for file in ["config.json", "generation_config.json", "model.safetensors"] {
            std::fs::copy(t5().join("../bart").join(file), place.join(file)).unwrap();
        }
    });
    let language_model = directory("llama").join("model.gguf");
    let cases: [(&Path, &[&str], &str); 7] = [
        (no_sentinels.path(), &[], "its tokenizer has none; expected a T5"),
        (bart.path(), &[], "its layout is `bart`"),
        (no_weights.path(), &[], "(N-model)"),
        (not_json.path(), &[], "(N-model)"),
        (&t5(), &["--prompt", "json"], "(P-field)"),
        (&t5(), &["--limit", "0"], "(N-range)"),
        (&language_model, &[], "(N-ranker)"),
    ];
    for (model, more, said) in cases {
        let ran = infill(store.path(), model, more);
        assert_eq!(ran.code, Some(2), "{said}: {ran:?}");
        assert!(ran.stderr.contains(said), "{said}: {}", ran.stderr);
    }
    assert_eq!(content(store.path()), before);
}
