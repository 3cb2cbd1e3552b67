//! `export --training`: a record for each sentence, which says what nobody annotated.

use std::path::Path;

use fnstore::database::Database;
use serde_json::{Value, json};

use crate::cli_program::{fnstore, fnstore_in, new_store};
use crate::cli_schema::faults_in;
use crate::generated;

fn records(store: &Path, query: &str) -> Vec<Value> {
    let ran = fnstore_in(store, &["export", query, "--training", "--to", "jsonl"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let records = ran.records();
    for record in &records {
        assert_eq!(faults_in("training-sentence.schema.json", record), [""; 0], "{record}");
    }
    records
}

fn unannotated(record: &Value) -> Vec<&str> {
    let spans = record["unannotated"].as_array().unwrap().iter();
    spans.map(|span| span["text"].as_str().unwrap()).collect()
}

/// The blocks of a token format, each line in columns.
fn blocks(text: &str) -> Vec<Vec<Vec<&str>>> {
    let blocks = text.trim_end().split("\n\n");
    blocks.map(|block| block.lines().map(|line| line.split('\t').collect()).collect()).collect()
}

#[test]
fn of_an_exemplar_and_of_a_generated_sentence_only_the_target_is_known() {
    let store = new_store();
    let database = Database::open_writer(store.path()).unwrap();
    generated::write(&database, database.release("mini-framenet").unwrap().id);
    drop(database);
    let written = records(store.path(), "origin=generated");
    assert_eq!(written.len(), 2);
    assert_eq!(unannotated(&written[0]), ["He ", " the figures ."]);
    assert_eq!(written[0]["sets"][0]["fe_status"], "unknown");
    assert_eq!(written[0]["split"], Value::Null);
    let list = store.path().join("fold.tsv");
    std::fs::write(&list, "exemplars\t*\tdev\n").unwrap();
    let arguments = ["export", "id=g101", "--training", "--to", "jsonl", "--split-list"];
    let ran = fnstore_in(store.path(), &[&arguments[..], &[list.to_str().unwrap()]].concat());
    assert_eq!(ran.records()[0]["split"], "dev");
    let conll =
        fnstore_in(store.path(), &["export", "id=g101", "--training", "--to", "conll"]).stdout;
    let block = &blocks(&conll)[0];
    assert_eq!(block[0][12..], ["?", "?", "?"], "nobody looked at `He`");
    assert_eq!(block[1][12..], ["verify.v", "Checking", "?"], "nobody looked for FEs");
}

#[test]
fn a_full_text_is_known_throughout_and_its_sets_share_a_record() {
    let mut shared = 0;
    for record in records_of("origin=fulltext") {
        assert_eq!(record["unannotated"], json!([]), "{record}");
        shared += usize::from(record["sets"].as_array().unwrap().len() > 1);
    }
    assert!(shared > 0, "a sentence has several sets");
    // A set that the query leaves out is unknown, its target is no text without a frame.
    let all = records_of("origin=fulltext");
    let several = all.iter().find(|of| of["sets"].as_array().unwrap().len() > 1).unwrap();
    let (kept, left_out) = (&several["sets"][0], &several["sets"][1]);
    let part = records_of(&format!("id={}", kept["id"].as_str().unwrap()));
    assert!(
        unannotated(&part[0]).contains(&left_out["targets"][0]["text"].as_str().unwrap()),
        "{part:?}"
    );
}

fn records_of(query: &str) -> Vec<Value> {
    fnstore(&["export", query, "--training", "--to", "jsonl"]).records()
}

#[test]
fn a_block_of_tokens_has_a_column_for_each_set_and_bios_another_for_core_types() {
    let conll = fnstore(&["export", "origin=fulltext", "--training", "--to", "conll"]).stdout;
    let bios = fnstore(&["export", "origin=fulltext", "--training", "--to", "bios"]).stdout;
    let (conll, bios) = (blocks(&conll), blocks(&bios));
    let records = records_of("origin=fulltext");
    assert_eq!((conll.len(), bios.len()), (records.len(), records.len()));
    let mut columns = 0;
    for ((conll, bios), record) in conll.iter().zip(&bios).zip(&records) {
        let sets = record["sets"].as_array().unwrap().len();
        assert!(conll.iter().all(|line| line.len() == 14 + sets), "{conll:?}");
        assert!(bios.iter().all(|line| line.len() == 14 + 2 * sets), "{bios:?}");
        assert!(conll.iter().all(|line| line[13] != "?"), "full text is known throughout");
        columns = columns.max(sets);
        for (at, set) in record["sets"].as_array().unwrap().iter().enumerate() {
            let is_known = set["fe_status"] == "annotated";
            let outside = if is_known { "O" } else { "?" };
            let other = if is_known { "?" } else { "O" };
            assert!(conll.iter().any(|line| line[14 + at] == outside), "{set}");
            assert!(conll.iter().all(|line| line[14 + at] != other), "{set}");
        }
    }
    assert!(columns > 1);
}

#[test]
fn other_formats_refuse_the_option() {
    for format in ["csv", "parquet", "framenet-xml"] {
        let ran = fnstore(&["export", "--training", "--to", format, "out"]);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        let message = format!("`--to bios`, found `--to {format}`");
        assert!(ran.stderr.contains(&message), "{}", ran.stderr);
    }
    let both = fnstore(&["export", "--training", "--with-base", "--to", "jsonl"]);
    assert!(both.code == Some(2) && both.stderr.contains("cannot be used with"), "{both:?}");
    let nothing = fnstore(&["export", "origin=generated", "--training", "--to", "jsonl"]);
    assert_eq!((nothing.code, nothing.stdout.as_str()), (Some(1), ""));
}
