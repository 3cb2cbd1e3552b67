//! Every JSON record that the program writes is what its schema says, over a store with sets of
//! every origin: people's, generated, predicted, imported and edited ones.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::OnceLock;

use fnstore::database::Database;
use fnstore::model::{
    CoreType, FeStatus, Flags, FrameFit, Origin, Prediction, Span, Split, Verification,
};
use fnstore::transfer::{ImportOptions, PredictedTarget};
use serde_json::{Value, json};

use crate::cli_program::{Ran, fnstore_in, new_store};
use crate::cli_schema::{faults_in, generate};
use crate::generated;

/// The releases of [`mixed`].
const RELEASES: [&str; 3] = ["mini-framenet", "news", "spans"];

/// A store with sets of every origin, which no test writes.
fn mixed() -> &'static Path {
    static STORE: OnceLock<tempfile::TempDir> = OnceLock::new();
    STORE
        .get_or_init(|| {
            let store = new_store();
            let database = Database::open_writer(store.path()).unwrap();
            let release = database.release("mini-framenet").unwrap().id;
            generated::write(&database, release);
            generated::carry(&database, release);
            let said = generated::verification();
            let none = Verification { evokes: None, same_meaning: None, reverse: None, ..said };
            let seed = Verification { set: generated::seed(), ..none };
            generated::verify(&database, release, vec![said, seed]);
            predict(&database);
            import_spans(&database);
            drop(database);
            generate(store.path());
            edit(store.path());
            store
        })
        .path()
}

fn predict(database: &Database) {
    let lexicon = database.lexicon("mini-framenet").unwrap();
    let mut predictions = database.predictions("news", &lexicon, "news.txt".as_ref()).unwrap();
    let prediction = Prediction {
        file: "news.txt".to_owned(),
        fit: FrameFit { probability: 0.75, model: [3; 16] },
        runners_up: vec![("Roaming".to_owned(), 0.125)],
    };
    let target = |elements| PredictedTarget {
        pieces: vec![Span::new(5, 12)],
        frame: "Checking".to_owned(),
        lexunit: Some("check.v".to_owned()),
        prediction: prediction.clone(),
        elements,
    };
    let checker = vec![("Checker".to_owned(), Span::new(0, 4))];
    predictions.add("They checked it .", vec![target(Some(checker))]).unwrap();
    predictions.add("Kids checked in .", vec![target(None)]).unwrap();
    predictions.finish().unwrap();
}

fn import_spans(database: &Database) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("spans.jsonl");
    let lines = "{\"text\": \"Ana verified it .\", \"split\": \"dev\", \"spans\": \
                 [{\"start\": 4, \"end\": 12, \"type\": \"check\"}]}\n";
    std::fs::write(&file, lines).unwrap();
    let options = ImportOptions { release: Some("spans".to_owned()), ..ImportOptions::default() };
    database.import_spans(&file, &options, &mut |_| {}).unwrap();
}

/// Edits, a judgement, a decision and an edition, by the program.
fn edit(store: &Path) {
    let script = [
        json!({"op": "add-semtype", "name": "Gadget"}),
        json!({"op": "add-element", "frame": "Checking", "element": {"name": "Where"}}),
        json!({"op": "add-frame", "as": "f", "name": "Proofing", "elements": [{"name": "Proofer"}]}),
        json!({"op": "add-lu", "as": "l", "frame": "@f", "name": "proof.v"}),
        json!({"op": "add-relation", "kind": "Inheritance", "parent": "Checking", "child": "@f",
            "elements": [["Checker", "Proofer"]]}),
        json!({"op": "add-document", "as": "d", "corpus": "MINI", "name": "Notes"}),
        json!({"op": "add-sentence", "as": "s", "document": "@d", "text": "Zo\u{eb} proofed it ."}),
        json!({"op": "add-set", "as": "a", "sentence": "@s", "frame": "@f", "lu": "@l",
            "targets": [[4, 11]], "elements": [{"name": "Proofer", "span": [0, 3]}]}),
        json!({"op": "edit-set", "set": "x7042", "status": "REVISED"}),
        json!({"op": "judge", "set": "g101", "reviewer": "lee", "score": 85, "time": 7}),
        json!({"op": "judge", "set": "g101", "reviewer": "kim", "score": 60, "time": 8}),
    ];
    let file = store.with_extension("edits");
    let lines: Vec<String> = script.iter().map(Value::to_string).collect();
    std::fs::write(&file, lines.join("\n")).unwrap();
    let path = file.to_str().unwrap();
    let arguments = ["edit", path, "--release", "mini-framenet", "--format", "jsonl"];
    follows("edited", &fnstore_in(store, &arguments));
    std::fs::remove_file(&file).unwrap();
    let decided = ["proposals", "accept", "Checking", "vet.v", "--reviewer", "kim"];
    let release = ["--release", "mini-framenet"];
    assert_eq!(fnstore_in(store, &[&decided[..], &release].concat()).code, Some(0));
    let made = ["edition", "create", "all", "release=mini-framenet"];
    follows("edition", &fnstore_in(store, &[&made[..], &["--format", "jsonl"]].concat()));
}

fn assert_follow(schema: &str, records: &[Value]) {
    let file = format!("{schema}.schema.json");
    for record in records {
        assert_eq!(faults_in(&file, record), [""; 0], "{file}: {record}");
    }
}

/// Whether what the program printed is records of a schema, at least one.
fn follows(schema: &str, ran: &Ran) {
    assert!(matches!(ran.code, Some(0 | 1)), "{schema}: {ran:?}");
    let records = ran.records();
    assert!(!records.is_empty(), "{schema}: {ran:?}");
    assert_follow(schema, &records);
}

#[test]
fn records_of_commands_follow_their_schemas_over_sets_of_every_origin() {
    let store = mixed();
    let origins = fnstore_in(store, &["query", "--count-by", "origin", "--format", "jsonl"]);
    assert_eq!(origins.records().len(), Origin::ALL.len(), "{origins:?}");
    let statuses: BTreeSet<String> = fnstore_in(store, &["query"])
        .records()
        .iter()
        .map(|hit| hit["fe_status"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(statuses.len(), FeStatus::ALL.len(), "{statuses:?}");
    for (schema, arguments) in [
        ("hit", &["query"][..]),
        ("hit", &["query", "evokes>=0"]),
        ("hit", &["query", "id=x7012"]),
        ("hit", &["show", "set", "g1"]),
        ("hit", &["show", "set", "g101"]),
        ("count", &["query", "--count-by", "flag"]),
        ("count", &["query", "--count-by", "judgement_mean"]),
        ("count", &["query", "--count-by", "frame,round"]),
        ("plan", &["query", "origin=predicted", "--explain"]),
        ("frame", &["show", "frame", "*"]),
        ("lexunit", &["show", "lu", "*"]),
        ("sentence", &["show", "sentence", "x5001"]),
        ("document", &["show", "document", "*"]),
        ("frames", &["frames"]),
        ("lus", &["lus"]),
        ("fes", &["fes"]),
        ("relations", &["relations"]),
        ("fe-relations", &["relations", "--fes"]),
        ("relation-kinds", &["relations", "--kinds"]),
        ("tree", &["relations", "--tree", "*", "--kind", "*"]),
        ("semtypes", &["semtypes"]),
        ("valence", &["valence", "*", "--sets"]),
        ("stats", &["stats"]),
        ("growth", &["stats", "growth"]),
        ("agreement", &["stats", "agreement"]),
        ("release", &["releases"]),
        ("recipe", &["recipes"]),
        ("change", &["changes"]),
        ("edition", &["edition", "list"]),
        ("edition", &["edition", "show", "all"]),
        ("proposal", &["proposals", "--with-decided"]),
        ("proposal-decision", &["proposals", "decisions"]),
        ("judgement", &["judge", "g101"]),
        ("check", &["check", "--deep"]),
    ] {
        follows(schema, &fnstore_in(store, &[arguments, &["--format", "jsonl"]].concat()));
    }
}

#[test]
fn lines_of_every_export_as_json_follow_their_schemas() {
    let store = mixed();
    let export = |expression: &str, more: &[&str]| {
        let ran = fnstore_in(store, &[&["export", expression], more].concat());
        assert_eq!(ran.code, Some(0), "{expression}: {ran:?}");
        ran.records()
    };
    let mut kinds = BTreeSet::new();
    let wholes = RELEASES.map(|name| format!("release={name}"));
    let parts = ["frame=Checking release=mini-framenet", "origin=generated", "origin=user"];
    for expression in wholes.iter().map(String::as_str).chain(parts) {
        for record in export(expression, &["--to", "jsonl"]) {
            let kind = record["kind"].as_str().unwrap().replace('_', "-");
            assert_follow(&format!("jsonl-{kind}"), std::slice::from_ref(&record));
            kinds.insert(kind);
        }
    }
    // Of searches `discoveries` has records, of links `links_exchanged`.
    let foreign = ["discovery", "foreign", "links", "written-number"].map(str::to_owned).into();
    assert_eq!(&schemas("jsonl-") - &kinds, foreign, "kinds of odd releases alone are not here");
    for origin in Origin::ALL {
        let origin = origin.as_str();
        let records = export(&format!("origin={origin}"), &["--training", "--to", "jsonl"]);
        assert_follow("training-sentence", &records);
        assert_eq!(records[0]["sets"][0]["origin"], origin);
    }
    assert_follow("filter-data", &export("origin=generated", &["--to", "filter-data"]));
}

/// The names of schemas behind a prefix.
fn schemas(prefix: &str) -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema");
    let names = std::fs::read_dir(folder).unwrap().filter_map(|entry| {
        let name = entry.unwrap().file_name().into_string().unwrap();
        Some(name.strip_prefix(prefix)?.strip_suffix(".schema.json")?.to_owned())
    });
    names.collect()
}

#[test]
fn every_format_of_export_reports_what_the_schema_says() {
    let store = mixed();
    let folder = tempfile::tempdir().unwrap();
    let said = fnstore_in(store, &["export", "--to", "xml"]).stderr;
    let formats: BTreeSet<&str> = said.split('`').skip(3).step_by(2).collect();
    let listed = schema("export.schema.json")["properties"]["to"]["enum"].clone();
    let listed: BTreeSet<&str> =
        listed.as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert_eq!(formats, listed, "{said}");
    // The tasks of annotators have a rewriter make them, which takes its time: one LU will do.
    for format in &formats {
        let expression = match *format {
            "alignment-task" => "lu=check.v release=mini-framenet id=x7012",
            "filter-data" => "origin=generated",
            _ => "release=mini-framenet",
        };
        let path = folder.path().join(format);
        let path = path.to_str().unwrap();
        let to = ["export", expression, "--to", format, path, "--format", "json"];
        let report = fnstore_in(store, &to).document("export.schema.json");
        assert_eq!(report["to"], **format);
        if *format == "jsonl" {
            let ran = fnstore_in(store, &[&to[..], &["--training", "--force"]].concat());
            assert_eq!(ran.document("export.schema.json")["to"], **format);
        }
    }
}

fn schema(file: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema").join(file);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The lists of words that members of a name have in a schema, with their places.
fn words_of(schema: &Value, name: &str, at: &str, found: &mut Vec<(String, Vec<Value>)>) {
    match schema {
        Value::Object(members) => {
            for (key, member) in members {
                let list = member.get("enum").or_else(|| member.pointer("/items/enum"));
                if key == name
                    && let Some(words) = list.and_then(Value::as_array)
                {
                    found.push((at.to_owned(), words.clone()));
                }
                words_of(member, name, &format!("{at}/{key}"), found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| words_of(item, name, at, found)),
        _ => {}
    }
}

#[test]
fn schemas_list_every_word_that_the_model_has() {
    let words: [(&str, Vec<&str>); 5] = [
        ("fe_status", FeStatus::ALL.iter().map(|word| word.as_str()).collect()),
        ("origin", Origin::ALL.iter().map(|word| word.as_str()).collect()),
        ("core_type", CoreType::ALL.iter().map(|word| word.as_str()).collect()),
        ("split", Split::ALL.iter().map(|word| word.as_str()).collect()),
        ("flags", Flags::all_names()),
    ];
    let mut lists = 0;
    for name in schemas("") {
        // What a table of entailment calls its parts is not FrameNet's.
        if name == "eval-nli" {
            continue;
        }
        let schema = schema(&format!("{name}.schema.json"));
        for (member, known) in &words {
            let mut found = Vec::new();
            words_of(&schema, member, "", &mut found);
            for (at, listed) in found {
                let listed: BTreeSet<&str> = listed.iter().filter_map(Value::as_str).collect();
                let known: BTreeSet<&str> = known.iter().copied().collect();
                assert_eq!(listed, known, "{name}{at}/{member}");
                lists += 1;
            }
        }
    }
    assert!(lists > 10, "{lists}");
}

#[test]
fn every_schema_is_asked_for_by_a_test() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut sources = String::new();
    for entry in std::fs::read_dir(tests).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "rs") {
            sources.push_str(&std::fs::read_to_string(path).unwrap());
        }
    }
    let unasked: Vec<String> = schemas("")
        .into_iter()
        .filter(|name| !name.starts_with("jsonl-"))
        .filter(|name| !sources.contains(&format!("\"{name}.schema.json\"")))
        .filter(|name| !sources.contains(&format!("(\"{name}\", &[")))
        .collect();
    assert_eq!(unasked, [""; 0]);
}
