//! `fnstore train choice`: the shipped weights are those that the shipped judgements give, and what
//! is wrong with judgements is said.

use std::path::{Path, PathBuf};

use crate::cli_program::fnstore_in;

fn shipped(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}

#[test]
fn the_shipped_weights_are_fitted_on_the_shipped_judgements() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (shipped("training/judge/choice.jsonl"), folder.path().join("choice.toml"));
    let (data, place) = (data.to_str().unwrap(), out.to_str().unwrap());
    let run = |more: &[&str]| {
        let arguments = ["train", "choice", "--data", data, "--out", place, "--format", "json"];
        fnstore_in(folder.path(), &[&arguments, more].concat())
    };
    let fitted = run(&[]).document("train-choice.schema.json");
    let [evokes, same] = [0, 1].map(|at| &fitted["rows"][at]);
    for row in [evokes, same] {
        assert_eq!((&row["outputs"], &row["rounds"]), (&479.into(), &60.into()));
        assert!(row["chosen_right"].as_u64() > row["likeliest_right"].as_u64(), "{row}");
        assert!(row["any_right"].as_u64() >= row["chosen_right"].as_u64(), "{row}");
    }
    let read = |path: &Path| std::fs::read_to_string(path).unwrap();
    assert_eq!(read(&out), read(&shipped("models/verifier/choice.toml")));
    // It takes nobody's place unasked.
    let again = run(&[]);
    assert_ne!(again.code, Some(0));
    assert!(again.stderr.contains("--force"), "{}", again.stderr);
    assert_eq!(run(&["--force"]).code, Some(0));
}

#[test]
fn judgements_of_one_question_are_no_choice() {
    let folder = tempfile::tempdir().unwrap();
    let lines = std::fs::read_to_string(shipped("training/judge/choice.jsonl")).unwrap();
    let data = folder.path().join("frames.jsonl");
    let asked = lines.replace("\"meaning_judgements\": [100]", "\"meaning_judgements\": []");
    std::fs::write(
        &data,
        asked.replace("\"meaning_judgements\": [0]", "\"meaning_judgements\": []"),
    )
    .unwrap();
    let out = folder.path().join("choice.toml");
    let arguments =
        ["train", "choice", "--data", data.to_str().unwrap(), "--out", out.to_str().unwrap()];
    let ran = fnstore_in(folder.path(), &arguments);
    assert_ne!(ran.code, Some(0));
    for said in ["too few judgements of `same_meaning`: 0 accepted", "fnstore judge"] {
        assert!(ran.stderr.contains(said), "{said}: {}", ran.stderr);
    }
    assert!(!out.exists());
}
