//! `fnstore export` and `fnstore import FILE.jsonl` as their user runs them.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::cli_program::{Ran, fnstore, fnstore_in, new_store};
use crate::cli_schema::{faults_in, generate};

fn ok(ran: Ran) -> Ran {
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran
}

#[test]
fn an_export_to_a_file_comes_back_into_another_store() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mini.jsonl");
    let path = file.to_str().unwrap();
    let ran = ok(fnstore(&["export", "--to", "jsonl", path]));
    assert_eq!(ran.stdout, "");
    assert!(ran.stderr.starts_with(&format!("exported to {path}: ")), "{}", ran.stderr);
    assert!(ran.stderr.ends_with("of mini-framenet, whole\n"), "{}", ran.stderr);

    let store = dir.path().join("store");
    let ran = ok(fnstore_in(&store, &["import", path, "--format", "json"]));
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(faults_in("import-lines.schema.json", &report), [""; 0]);
    assert_eq!((&report["release"], &report["scope"]), (&"mini-framenet".into(), &"whole".into()));
    let all = |ran: Ran| ok(ran).stdout;
    assert_eq!(all(fnstore_in(&store, &["query"])), all(fnstore(&["query"])));
    assert_eq!(
        all(fnstore_in(&store, &["export", "--to", "jsonl"])),
        fs::read_to_string(&file).unwrap()
    );

    let ran = fnstore_in(&store, &["import", path]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("already holds a release `mini-framenet`"), "{}", ran.stderr);
    ok(fnstore_in(&store, &["import", path, "--release", "second"]));
    assert_eq!(ok(fnstore_in(&store, &["query", "release=second", "--count"])).stdout, "42\n");
    let ran = fnstore_in(&store, &["export", "--to", "jsonl"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("name it with `release=NAME`"), "{}", ran.stderr);
}

#[test]
fn a_file_that_is_there_is_replaced_only_by_force() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("out.csv");
    let path = file.to_str().unwrap();
    fs::write(&file, "mine").unwrap();
    let ran = fnstore(&["export", "frame=Checking", "--to", "csv", path]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("it is there already; `--force` replaces it"), "{}", ran.stderr);
    let ran = fnstore(&["export", "frame=Checking origin=user", "--to", "csv", path, "--force"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(1), "nothing found\n"));
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    ok(fnstore(&["export", "frame=Checking", "--to", "csv", path, "--force"]));
    assert!(fs::read_to_string(&file).unwrap().starts_with("release,set,origin,"));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left beside it");
}

#[test]
fn wrong_arguments_say_what_to_write() {
    for (arguments, code, message) in [
        (
            &["export", "--to", "xml"][..],
            2,
            "cannot export to `xml`: expected `jsonl`, `framenet-xml`",
        ),
        (&["export", "--to", "csv", "frame=Checking"], 2, "fnstore export frame=Checking --to csv"),
        (&["export", "frame=Checking", "--to", "semafor"], 2, "as in `--to semafor test`"),
        (&["export", "frame=Cheking", "--to", "csv"], 2, "did you mean `Checking`?"),
        (&["export", "release=x", "--to", "jsonl"], 2, "there is no release `x`"),
        (&["export", "frame=Checking origin=user", "--to", "jsonl"], 1, "nothing found"),
        (
            &["export", "--to", "csv", "/nowhere/x.csv"],
            2,
            "cannot write the export `/nowhere/x.csv`",
        ),
    ] {
        let ran = fnstore(arguments);
        assert_eq!(ran.code, Some(code), "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(message), "{arguments:?}: {}", ran.stderr);
    }
}

#[test]
fn framenets_own_form_comes_back_and_a_part_says_what_it_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let (whole, part) = (dir.path().join("whole"), dir.path().join("part"));
    let export = |arguments: &[&str], path: &std::path::Path| {
        let to = ["--to", "framenet-xml", path.to_str().unwrap(), "--format", "json"];
        let ran = ok(fnstore(&[&["export"], arguments, &to].concat()));
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(faults_in("export.schema.json", &report), [""; 0]);
        report
    };
    let report = export(&[], &whole);
    assert_eq!((&report["scope"], &report["records"]["set"]), (&"whole".into(), &42.into()));
    let store = dir.path().join("store");
    ok(fnstore_in(&store, &["import", whole.to_str().unwrap(), "--release", "mini-framenet"]));
    let all = |ran: Ran| ok(ran).stdout;
    assert_eq!(all(fnstore_in(&store, &["query"])), all(fnstore(&["query"])));

    let report = export(&["frame=Repairing"], &part);
    assert_eq!(report["scope"], "part");
    assert!(report["left_out"]["frame"].as_u64().is_some_and(|count| count > 0), "{report}");
    let ran = fnstore(&["export", "--to", "framenet-xml", whole.to_str().unwrap()]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    let ran = fnstore(&["export", "frame=Checking origin=user", "--to", "framenet-xml", "/x/y"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
}

#[test]
fn a_lossy_format_says_what_it_lost() {
    let ran = ok(fnstore(&["export", "--to", "bios", "-", "--format", "json"]));
    let report: Value = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!(faults_in("export.schema.json", &report), [""; 0]);
    let lost = |name: &str| report["losses"][name]["count"].as_u64();
    // README.md of mini-framenet counts 17 null instantiations; one set has no target.
    assert_eq!((lost("null-instantiation"), lost("no-target")), (Some(17), Some(1)));
    assert_eq!(lost("fe-layer-2-3"), Some(2));
    assert_eq!(lost("fes-not-annotated"), Some(1));
    assert_eq!(lost("status"), Some(41), "of every set that is written");
    assert_eq!(report["records"]["set"], 41, "what was written, not what was found");
    let blocks = ran.stdout.split("\n\n").filter(|block| !block.is_empty());
    assert_eq!(blocks.count(), 41, "all but the one without a target");
    let ran = ok(fnstore(&["export", "--to", "csv"]));
    assert!(ran.stderr.contains("what csv cannot hold:"), "{}", ran.stderr);
}

/// Counts of what an export of the generated set of `store` lost, by name.
fn lost_of_generated(store: &Path, to: &str) -> Value {
    let arguments = ["export", "origin=generated", "--to", to, "-", "--format", "json"];
    let ran = ok(fnstore_in(store, &arguments));
    let report: Value = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!(faults_in("export.schema.json", &report), [""; 0]);
    report["losses"].clone()
}

#[test]
fn a_format_that_does_not_mark_generated_sets_says_how_to_leave_them_out() {
    let store = new_store();
    generate(store.path());
    for to in ["conll", "bios"] {
        let lost = lost_of_generated(store.path(), to);
        assert_eq!(lost["generated-unmarked"]["count"], 1, "{to}: {lost}");
        assert!(lost["generated-unmarked"]["said"].as_str().unwrap().contains("origin!=generated"));
        for name in ["generation", "scores", "status", "fes-not-annotated"] {
            assert_eq!(lost[name]["count"], 1, "{to}: {name} of {lost}");
        }
    }
    let lost = lost_of_generated(store.path(), "csv");
    assert_eq!(lost["generation"]["count"], 1, "{lost}");
    for name in ["generated-unmarked", "scores", "status", "fes-not-annotated"] {
        assert_eq!(lost[name], Value::Null, "a table has it: {name} of {lost}");
    }
}

#[test]
fn judgements_that_a_format_leaves_out_are_counted() {
    let store = new_store();
    generate(store.path());
    ok(fnstore_in(store.path(), &["judge", "g1", "80", "--reviewer", "kim"]));
    for to in ["csv", "conll", "bios"] {
        let lost = lost_of_generated(store.path(), to);
        assert_eq!(lost["judgements"]["count"], 1, "{to}: {lost}");
    }
    let lost = lost_of_generated(store.path(), "training-conll");
    assert_eq!(lost["judgements"]["count"], 1, "{lost}");
    assert_eq!(lost["fes-not-annotated"], Value::Null, "its masks say it: {lost}");
    assert_eq!(lost["generated-unmarked"]["count"], 1, "{lost}");
}

#[test]
fn a_table_says_how_likely_the_frame_is() {
    let store = new_store();
    generate(store.path());
    let ran = ok(fnstore_in(store.path(), &["export", "origin=generated", "--to", "csv"]));
    let mut reader = csv::Reader::from_reader(ran.stdout.as_bytes());
    let at = reader.headers().unwrap().iter().position(|name| name == "frame_fit").unwrap();
    assert_eq!(&reader.records().next().unwrap().unwrap()[at], "0.25");
}

#[test]
fn tokens_are_framenets_own_with_their_tags() {
    let conll = ok(fnstore(&["export", "id=x7042", "--to", "conll"])).stdout;
    let columns: Vec<Vec<&str>> = conll
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| line.split('\t').collect())
        .collect();
    assert!(columns.iter().all(|row| row.len() == 15), "{conll}");
    let targets: Vec<&str> =
        columns.iter().filter(|row| row[13] == "Checking").map(|row| row[1]).collect();
    assert_eq!(targets, ["looked", "over"], "a discontinuous target is marked whole");
    assert!(columns.iter().all(|row| row[4] != "_"), "{conll}");

    let dir = tempfile::tempdir().unwrap();
    let prefix = dir.path().join("x");
    ok(fnstore(&["export", "frame=Checking", "--to", "semafor", prefix.to_str().unwrap()]));
    let read = |ending: &str| fs::read_to_string(dir.path().join(format!("x.{ending}"))).unwrap();
    let (sentences, tokenized) = (read("sentences"), read("sentences.tokenized"));
    assert_eq!(sentences.lines().count(), tokenized.lines().count());
    for line in read("frame.elements").lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        assert_eq!(fields[..2], ["1", "0.0"]);
        assert_eq!(fields[2].parse::<usize>().unwrap(), 1 + (fields.len() - 8) / 2, "{line}");
        let sentence: usize = fields[7].parse().unwrap();
        let tokens: Vec<&str> = tokenized.lines().nth(sentence).unwrap().split(' ').collect();
        let target: Vec<&str> =
            fields[5].split('_').map(|number| tokens[number.parse::<usize>().unwrap()]).collect();
        assert_eq!(target.join(" "), fields[6], "{line}");
    }
}

#[test]
fn parquet_holds_the_rows_of_csv() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("x.parquet");
    ok(fnstore(&["export", "--to", "parquet", file.to_str().unwrap()]));
    let csv = ok(fnstore(&["export", "--to", "csv"])).stdout;
    let rows = csv::Reader::from_reader(csv.as_bytes()).records().count();
    use parquet::file::reader::{FileReader as _, SerializedFileReader};
    let reader = SerializedFileReader::new(fs::File::open(&file).unwrap()).unwrap();
    assert_eq!(reader.metadata().file_metadata().num_rows() as usize, rows);
    assert!(rows > 42, "a row for each FE");
}

#[test]
fn generated_sets_leave_and_come_back_without_the_release() {
    let (store, other) = (new_store(), new_store());
    generate(store.path());
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("generated.jsonl");
    let path = file.to_str().unwrap();
    let arguments = ["export", "origin=generated", "--to", "jsonl", path, "--format", "json"];
    let ran = ok(fnstore_in(store.path(), &arguments));
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(faults_in("export.schema.json", &report), [""; 0]);
    assert_eq!(report["scope"], "additions");
    assert!(!fs::read_to_string(&file).unwrap().contains("\"kind\":\"frame\""));

    let ran = ok(fnstore_in(other.path(), &["import", path, "--format", "table"]));
    assert!(ran.stdout.starts_with("mini-framenet is in "), "{}", ran.stdout);
    let query = |dir| ok(fnstore_in(dir, &["query", "origin=generated"])).stdout;
    assert_eq!(query(other.path()), query(store.path()));
    let ran = ok(fnstore_in(other.path(), &["import", path, "--format", "json"]));
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["written"], serde_json::json!({}));
}

#[test]
fn wrong_lines_are_bad_data_and_leave_no_store() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("spans.jsonl");
    let path = file.to_str().unwrap();
    let store = dir.path().join("store");
    for (line, message) in [
        (
            "{\"text\": \"ab\", \"spans\": [{\"start\": 0, \"end\": 3, \"type\": \"T\"}]}",
            "E-span-range",
        ),
        ("{\"kind\":\"header\"}", "E-json"),
        ("{\"text\"", "E-json"),
        ("", "E-layout"),
    ] {
        fs::write(&file, line).unwrap();
        let ran = fnstore_in(&store, &["import", path]);
        assert_eq!(ran.code, Some(65), "{line}: {}", ran.stderr);
        let start = format!("error: {message}: {path}:");
        assert!(ran.stderr.starts_with(&start), "{line}: {}", ran.stderr);
        assert!(!store.join("db").exists(), "{line}");
    }
    let spans =
        "{\"text\": \"He ran .\", \"spans\": [{\"start\": 3, \"end\": 6, \"type\": \"move\"}]}\n";
    fs::write(&file, spans).unwrap();
    let ran = ok(fnstore_in(&store, &["import", path, "--release", "own", "--format", "json"]));
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(faults_in("import-lines.schema.json", &report), [""; 0]);
    assert_eq!(report["types"], serde_json::json!({"move": 1}));
    let ran = ok(fnstore_in(&store, &["query", "frame=move lu=ran.x", "--format", "table"]));
    assert!(ran.stdout.contains("    He ran .\n       ***\n"), "{}", ran.stdout);
    ok(fnstore_in(&store, &["show", "frame", "move"]));
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let store = new_store();
    let mut child = Command::new(env!("CARGO_BIN_EXE_fnstore"))
        .env("FNSTORE_DIR", store.path())
        .args(["export", "--to", "jsonl"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}
