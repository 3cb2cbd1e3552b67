//! `export --training`: a record for each sentence, which says what nobody annotated.

use std::path::Path;

use fnstore::database::Database;
use fnstore::model::{AnnotationSet, AnnotationSetId, IdSpace, Provenance};
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
    let conll = fnstore_in(store.path(), &["export", "id=g101", "--to", "training-conll"]).stdout;
    let block = &blocks(&conll)[0];
    assert_eq!(block[0][12..], ["?", "?", "_", "?"], "nobody looked at `He`");
    assert_eq!(block[1][12..], ["verify.v", "Checking", "1", "?"], "nobody looked for FEs");
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

#[test]
fn a_target_that_a_set_left_out_shares_is_masked() {
    let store = new_store();
    let database = Database::open_writer(store.path()).unwrap();
    let mut edits = database.transaction(database.release("mini-framenet").unwrap().id).unwrap();
    let of_text = AnnotationSetId::parse("f8002").unwrap();
    let of_exemplar = AnnotationSetId::parse("x7012").unwrap();
    for id in [of_text, of_exemplar] {
        let set = edits.annotation_set(id).unwrap().unwrap();
        let own = AnnotationSetId::new(IdSpace::Imported, 0);
        let provenance = Provenance::User;
        edits
            .add_annotation_set(AnnotationSet { id: own, xml_id: None, provenance, ..set })
            .unwrap();
    }
    edits.commit().unwrap();
    drop(database);
    for id in ["f8002", "x7012"] {
        let query = format!("id={id}");
        let record = records(store.path(), &query).remove(0);
        let target = &record["sets"][0]["targets"][0];
        let covers = |span: &&Value| {
            span["start"].as_u64() <= target["start"].as_u64()
                && span["end"].as_u64() >= target["end"].as_u64()
        };
        let masked = record["unannotated"].as_array().unwrap().iter().filter(covers).count();
        assert_eq!(masked, 1, "{record}");
        let block = fnstore_in(store.path(), &["export", &query, "--to", "training-conll"]).stdout;
        let of_target = blocks(&block)[0].iter().filter(|line| line[14] == "1").count();
        let masked = blocks(&block)[0].iter().filter(|line| line[13].ends_with("|?")).count();
        assert_eq!((masked > 0, masked), (true, of_target), "{block}");
    }
    let all = records(store.path(), "origin=fulltext or origin=user");
    let has_set =
        |record: &&Value| record["sets"].as_array().unwrap().iter().any(|set| set["id"] == "f8002");
    assert_eq!(unannotated(all.iter().find(has_set).unwrap()), [""; 0], "all are in the record");
}

/// Names and counts of what an export reports as lost.
fn losses(store: &Path, query: &str, to: &[&str]) -> Value {
    let ran = fnstore_in(store, &[&["export", query], to, &["-", "--format", "json"]].concat());
    let report: Value = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!(faults_in("export.schema.json", &report), [""; 0]);
    let losses = report["losses"].as_object().unwrap().iter();
    losses.map(|(name, loss)| (name.clone(), loss["count"].clone())).collect()
}

#[test]
fn losses_are_those_of_the_record() {
    let store = new_store();
    let database = Database::open_writer(store.path()).unwrap();
    generated::write(&database, database.release("mini-framenet").unwrap().id);
    drop(database);
    let expected = json!({"generation": 2});
    let jsonl = ["--training", "--to", "jsonl"];
    assert_eq!(losses(store.path(), "origin=generated", &jsonl), expected);
    let human = losses(store.path(), "origin!=generated", &jsonl);
    for name in ["gf-pt", "metadata"] {
        assert!(human[name].as_u64().is_some_and(|count| count > 0), "{name}: {human}");
    }
    for name in ["null-instantiation", "fes-not-annotated", "no-target", "fe-layer-2-3"] {
        assert_eq!(human[name], Value::Null, "{name} is in the record: {human}");
    }
    let tokens = losses(store.path(), "origin!=generated", &["--to", "training-conll"]);
    assert_eq!(tokens["fes-not-annotated"], Value::Null, "{tokens}");
    assert_eq!(tokens["no-target"], json!(1), "{tokens}");
}

fn records_of(query: &str) -> Vec<Value> {
    fnstore(&["export", query, "--training", "--to", "jsonl"]).records()
}

#[test]
fn a_block_of_tokens_has_a_column_for_each_set_and_bios_another_for_core_types() {
    let conll = fnstore(&["export", "origin=fulltext", "--to", "training-conll"]).stdout;
    let bios =
        fnstore(&["export", "origin=fulltext", "--training", "--to", "training-bios"]).stdout;
    let (conll, bios) = (blocks(&conll), blocks(&bios));
    let records = records_of("origin=fulltext");
    assert_eq!((conll.len(), bios.len()), (records.len(), records.len()));
    let mut columns = 0;
    for ((conll, bios), record) in conll.iter().zip(&bios).zip(&records) {
        let sets = record["sets"].as_array().unwrap().len();
        assert!(conll.iter().all(|line| line.len() == 15 + sets), "{conll:?}");
        assert!(bios.iter().all(|line| line.len() == 15 + 2 * sets), "{bios:?}");
        assert!(conll.iter().all(|line| line[13] != "?"), "full text is known throughout");
        columns = columns.max(sets);
        for (at, set) in record["sets"].as_array().unwrap().iter().enumerate() {
            let is_known = set["fes_complete"] == true;
            assert_eq!(set["fe_status"] == "annotated", is_known, "people annotated it: {set}");
            let outside = if is_known { "O" } else { "?" };
            let other = if is_known { "?" } else { "O" };
            assert!(conll.iter().any(|line| line[15 + at] == outside), "{set}");
            assert!(conll.iter().all(|line| line[15 + at] != other), "{set}");
            let own = (at + 1).to_string();
            let targets = conll.iter().filter(|line| line[14].split('|').any(|of| of == own));
            let forms: Vec<&str> = targets.map(|line| line[1]).collect();
            let of_record = set["targets"].as_array().unwrap().iter();
            let expected: Vec<&str> =
                of_record.flat_map(|of| of["text"].as_str().unwrap().split(' ')).collect();
            assert_eq!(forms, expected, "column 15 says which tokens are the target of {set}");
        }
    }
    assert!(columns > 1);
}

#[test]
fn other_formats_refuse_the_option() {
    for format in ["csv", "framenet-xml", "conll", "bios"] {
        let ran = fnstore(&["export", "--training", "--to", format, "out"]);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        let message = format!("`--to training-bios`, found `--to {format}`");
        assert!(ran.stderr.contains(&message), "{}", ran.stderr);
    }
    let spaced = fnstore(&["export", "--spacing", "natural", "--to", "csv", "out"]);
    assert!(spaced.code == Some(2) && spaced.stderr.contains("found `--to csv`"), "{spaced:?}");
    let both = fnstore(&["export", "--training", "--with-base", "--to", "jsonl"]);
    assert!(both.code == Some(2) && both.stderr.contains("cannot be used with"), "{both:?}");
    let nothing = fnstore(&["export", "origin=generated", "--training", "--to", "jsonl"]);
    assert_eq!((nothing.code, nothing.stdout.as_str()), (Some(1), ""));
}
