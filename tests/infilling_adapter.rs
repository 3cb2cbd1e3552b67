//! An adapter that was trained for infilling: `fnstore generate --method infill --model DIR`.

use std::path::Path;

use fnstore::database::Database;

use crate::cli_program::{Ran, fnstore_in, new_store};
use crate::generating::{made, outside};
use crate::language_parity::directory;

const PROMPT: &str = r#"
format = 1
answer = "bars"
blank = "____"
separator = ", "
[[part]]
text = "{sentence}"
"#;

/// A directory of models with the tiny Llama and its adapter, which says nothing that makes sense.
fn models(prompt: &str) -> tempfile::TempDir {
    let models = tempfile::tempdir().unwrap();
    for (name, from, files) in [
        ("infill", "lora", &["adapter_config.json", "adapter_model.safetensors"][..]),
        ("base", "llama", &["model.gguf"]),
    ] {
        std::fs::create_dir(models.path().join(name)).unwrap();
        for file in files {
            std::fs::copy(directory(from).join(file), models.path().join(name).join(file)).unwrap();
        }
    }
    std::fs::write(models.path().join("infill/prompt.toml"), prompt).unwrap();
    models
}

fn infill(store: &Path, models: &Path, more: &[&str]) -> Ran {
    infill_of("random", store, models, more)
}

fn infill_of(sisters: &str, store: &Path, models: &Path, more: &[&str]) -> Ran {
    let models = ["--models", models.to_str().unwrap()];
    let fixed = ["generate", "--method", "infill", "--classifier", "none", "--sisters", sisters];
    let device = ["--device", "cpu", "--format", "json"];
    fnstore_in(store, &[&fixed[..], &models, &device, more].concat())
}

#[test]
fn it_is_taken_by_default_and_writes_in_the_blanks_alone() {
    let (store, models) = (new_store(), models(PROMPT));
    let (mut sentences, mut last) = (0, String::new());
    for seed in ["1", "2", "3", "4", "5", "6"] {
        let ran = infill(store.path(), models.path(), &["--seed", seed, "--keep", "3"]);
        assert!(matches!(ran.code, Some(0 | 1)), "{}", ran.stderr);
        let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        last = ran.stdout.clone();
        sentences += report["sentences"].as_u64().unwrap();
    }
    assert!(sentences > 0, "{last}");
    let database = Database::open(store.path()).unwrap();
    let made = made(&database);
    assert_eq!(made.len() as u64, sentences);
    for (new, old) in &made {
        assert_eq!(outside(new), outside(old), "{}", new.1.text);
        assert_ne!(new.1.text, old.1.text);
    }
}

#[test]
fn an_lus_own_sentences_are_filled_anew_and_keep_their_targets() {
    let (store, models) = (new_store(), models(PROMPT));
    let mut sentences = 0;
    for seed in ["1", "2", "3", "4", "5", "6"] {
        let asked = ["--lacking", "nothing", "--seed", seed, "--keep", "3"];
        let ran = infill_of("own", store.path(), models.path(), &asked);
        assert!(matches!(ran.code, Some(0 | 1)), "{}", ran.stderr);
        let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        sentences += report["sentences"].as_u64().unwrap();
    }
    assert!(sentences > 0);
    let database = Database::open(store.path()).unwrap();
    let made = made(&database);
    assert_eq!(made.len() as u64, sentences);
    for (new, old) in &made {
        assert_eq!(new.0.lu, old.0.lu, "its own");
        assert_eq!(new.0.trigger(&new.1.text), old.0.trigger(&old.1.text));
        assert_ne!(new.1.text, old.1.text);
    }
    let none = infill_of("own", store.path(), models.path(), &["lu=verify.v"]);
    assert_eq!(none.code, Some(2), "{}", none.stderr);
    assert!(none.stderr.contains("no set of `verify.v` has frame elements"), "{}", none.stderr);
}

#[test]
fn another_base_and_another_prompt_are_refused() {
    let (store, models) = (new_store(), models(&PROMPT.replace("bars", "json")));
    let of_prompt = infill(store.path(), models.path(), &[]);
    std::fs::remove_dir_all(models.path().join("base")).unwrap();
    let of_base = infill(store.path(), models.path(), &["--model", "infill"]);
    for (ran, code, said) in [
        (of_prompt, 1, "`json`, which an adapter for infilling cannot give (P-field)"),
        (of_base, 1, "(A-missing)"),
    ] {
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
        assert!(ran.code.is_some_and(|found| found >= code), "{:?}", ran.code);
    }
    let count = fnstore_in(store.path(), &["query", "origin=generated", "--count"]);
    assert_eq!(count.stdout.trim(), "0");
}

#[test]
fn it_is_listed_and_verified_as_what_it_is() {
    let (store, models) = (new_store(), models(PROMPT));
    let own = ["--models", models.path().to_str().unwrap(), "--format", "json"];
    let run = |words: &[&str]| fnstore_in(store.path(), &[&["model"], words, &own].concat());
    let shown = run(&["verify", "infill"]);
    assert_eq!(shown.code, Some(0), "{}{}", shown.stdout, shown.stderr);
    let listed = run(&["list"]);
    assert!(listed.stdout.contains("\"infiller\""), "{}", listed.stdout);
    let used = run(&["use", "infill"]);
    assert!(
        used.stderr.contains("`infill` is an infiller, expected a rewriter"),
        "{}",
        used.stderr
    );
    std::fs::remove_dir_all(models.path().join("base")).unwrap();
    let alone = run(&["verify", "infill"]);
    assert!(alone.stdout.contains("M-base"), "{}{}", alone.stdout, alone.stderr);
}
