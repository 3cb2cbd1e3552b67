//! The shape of a query's output: sorted, cut, reduced to columns, explained.

use std::path::Path;

use serde_json::json;

use crate::cli_program::{Ran, fnstore, fnstore_in};
use crate::cli_schema::faults_in;
use crate::{generated, mini};

/// A store with the two generated sets of [`generated`], in a directory of its own.
fn with_generated() -> tempfile::TempDir {
    let (dir, database, report) = mini::imported();
    generated::write(&database, report.release.id);
    dir
}

fn lines(ran: &Ran) -> Vec<&str> {
    ran.stdout.lines().collect()
}

fn column(store: &Path, arguments: &[&str]) -> Vec<String> {
    let ran = fnstore_in(store, &[&["query", "--format", "tsv"], arguments].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran.stdout.lines().skip(1).map(str::to_owned).collect()
}

#[test]
fn answers_are_sorted_by_several_fields_in_either_direction() {
    let store = with_generated();
    let rows = column(store.path(), &["--sort", "frame,-trigger", "--fields", "frame,trigger"]);
    let mut sorted: Vec<(&str, &str)> =
        rows.iter().map(|row| row.split_once('\t').unwrap()).collect();
    assert_eq!(sorted.len(), 44);
    assert!(sorted.is_sorted_by(|a, b| {
        let folded = |text: &str| text.to_lowercase();
        a.0 < b.0 || (a.0 == b.0 && folded(a.1) >= folded(b.1))
    }));
    sorted.dedup();
    assert!(sorted.len() > 20, "there is something to sort");
    let scores =
        column(store.path(), &["--sort=-aligner", "--fields", "aligner,id", "--limit", "3"]);
    assert_eq!(scores[..2], ["0.99\tg101", "0.5\tg102"], "no score comes last");
    let scores =
        column(store.path(), &["--sort", "aligner", "--fields", "aligner,id", "--limit", "3"]);
    assert_eq!(scores[..2], ["0.5\tg102", "0.99\tg101"], "in either direction");
}

#[test]
fn an_offset_and_a_limit_cut_a_window() {
    let all = lines(&fnstore(&["query", "frame=Checking"])).len();
    let sorted = fnstore(&["query", "frame=Checking", "--sort", "text"]);
    for order in [&["--sort", "id"][..], &[]] {
        let whole = fnstore(&[&["query", "frame=Checking"][..], order].concat());
        let window = ["query", "frame=Checking", "--offset", "3", "--limit", "4"];
        let window = fnstore(&[&window[..], order].concat());
        assert_eq!(lines(&window), lines(&whole)[3..7]);
        assert!(window.stderr.contains("showing 4; there are more"), "{}", window.stderr);
        let rest = all.to_string();
        let past = fnstore(&[&["query", "frame=Checking", "--offset", &rest][..], order].concat());
        assert_eq!((past.code, past.stdout.as_str()), (Some(1), ""));
    }
    assert_eq!(lines(&sorted).len(), all);
}

#[test]
fn columns_are_fields_or_columns_of_the_delimited_output() {
    let record =
        &fnstore(&["query", "id=x7014", "--fields", "id,fe,round,document,lu"]).records()[0];
    let elements = record["fe"].as_array().unwrap();
    assert!(elements.contains(&json!("Matter")), "{record}");
    assert_eq!(record["round"], json!(null));
    let names: Vec<&String> = record.as_object().unwrap().keys().collect();
    assert_eq!(names, ["id", "fe", "round", "document", "lu"]);
    let csv = fnstore(&["query", "id=x7014", "--fields", "id,elements,pos", "--format", "csv"]);
    assert!(csv.stdout.starts_with("id,elements,pos\nx7014,"), "{}", csv.stdout);
    let table =
        fnstore(&["query", "id=x7014", "--fields", "id,trigger", "--format", "table"]).stdout;
    assert_eq!(table.lines().count(), 2, "{table}");
    let store = with_generated();
    let ran =
        fnstore_in(store.path(), &["query", "id=g102", "--fields", "seed,aligner,flag,round"]);
    let record = json!({"seed": "x7012", "aligner": 0.5, "flag": ["weak-alignment"], "round": 2});
    assert_eq!(ran.records(), [record]);
}

#[test]
fn generated_sets_have_the_place_and_the_part_of_their_seed() {
    let (dir, database, report) = mini::imported();
    let release = report.release.id;
    let of_document = mini::answers(&database, "doc=HarbourLog origin=fulltext");
    let (_, seed) = of_document[0].split_once(' ').unwrap();
    let seed = fnstore::model::AnnotationSetId::parse(seed).unwrap();
    let mut sets = generated::sets(&database, release);
    for (_, set) in &mut sets {
        if let fnstore::model::Provenance::Generated(made) = &mut set.provenance {
            made.seed = seed;
        }
    }
    let (sentences, sets) = sets.into_iter().unzip();
    let lexunits = vec![generated::proposed(&database, release)];
    let write = fnstore::database::Write { sentences, sets, lexunits, ..Default::default() };
    database.write(release, &write).unwrap();
    for query in ["doc=HarbourLog", "corpus=MINI", "split=train", "doc~Log"] {
        let found = mini::answers(&database, &format!("{query} origin=generated"));
        assert_eq!(found, ["mini-framenet g101", "mini-framenet g102"], "{query}");
    }
    drop(database);
    let rows = column(dir.path(), &["origin=generated", "--fields", "doc,corpus,split"]);
    assert_eq!(rows, ["HarbourLog\tMINI\ttrain"; 2]);
}

#[test]
fn a_plan_says_what_each_term_did() {
    for query in [
        "frame=Checking fe=Checker trigger=checked not text=*nothing*",
        "trigger=look*",
        "id=x7014",
        "",
        "lu=check.v or trigger~\"^mend\"",
        "release!=mini-framenet",
    ] {
        let ran = fnstore(&["query", query, "--explain", "--format", "json"]);
        let plan: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(faults_in("plan.schema.json", &plan), [""; 0], "{plan}");
        let count = fnstore(&["query", query, "--count"]).stdout;
        assert_eq!(format!("{}\n", plan["answers"]), count, "{query}");
    }
    let explain = |query| {
        let ran = fnstore(&["query", query, "--explain", "--format", "json"]);
        serde_json::from_str::<serde_json::Value>(&ran.stdout).unwrap()
    };
    let plan = explain("trigger=look* lu=check.v");
    assert_eq!(plan["access"], "key scan");
    let terms = plan["terms"].as_array().unwrap();
    assert_eq!(
        (&terms[0]["term"], &terms[0]["access"]),
        (&json!("lu=check.v"), &json!("key scan"))
    );
    assert_eq!((&terms[1]["access"], &terms[1]["passed"]), (&json!("filter"), &json!(0)));
    assert_eq!(terms[0]["passed"], terms[1]["asked"], "asked as long as the answer is open");
    assert_eq!(explain("trigger=look*")["access"], "index");
    assert_eq!(explain("id=x7014")["access"], "point reads");
    let text = fnstore(&["query", "frame=Checking", "--explain"]).stdout;
    assert!(text.starts_with("key scan: 1 frame in mini-framenet; "), "{text}");
    let read = fnstore(&["query", "--limit", "5", "--explain", "--format", "jsonl"]).records();
    assert_eq!((&read[0]["read"], &read[0]["answers"]), (&json!(5), &json!(5)), "a limit ends it");
}

#[test]
fn a_query_over_two_releases_says_so_unless_it_names_one() {
    let dir = tempfile::tempdir().unwrap();
    let framenet = mini::framenet();
    let framenet = framenet.to_str().unwrap();
    for name in ["one", "two"] {
        let ran = fnstore_in(dir.path(), &["import", framenet, "--release", name]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    }
    let count = |query: &str| fnstore_in(dir.path(), &["query", query, "--count"]);
    let both = count("frame=Checking");
    assert!(both.stderr.contains("may span 2 releases, `one`, `two`"), "{}", both.stderr);
    let one = count("frame=Checking release=one");
    assert_eq!(one.stderr, "");
    let number = |ran: &Ran| ran.stdout.trim().parse::<u64>().unwrap();
    assert_eq!(number(&both), 2 * number(&one));
    assert_eq!(count("release!=two frame=Checking").stdout, one.stdout);
    let unknown = count("release=three");
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("there is no release `three`"), "{}", unknown.stderr);
}

#[test]
fn what_is_wrong_is_named_with_the_nearest_and_exits_with_two() {
    for (arguments, message) in [
        (&["--sort", "aligne"][..], "unknown field `aligne` at column 1; did you mean `aligner`?"),
        (&["--sort", "frame,-"], "unknown field `` at column 8"),
        (&["--sort", "since"], "field `since` (column 1) has no value"),
        (&["--fields", "id,tigger"], "unknown field `tigger` at column 4; did you mean `trigger`?"),
        (&["--fields", "elemnts"], "did you mean `elements`?"),
        (&["--limit", "many"], "invalid value 'many' for '--limit <N>'"),
        (&["--offset", "-1"], "unexpected argument '-1'"),
        (&["--count", "--limit", "3"], "cannot be used with"),
        (&["--explain", "--count"], "cannot be used with"),
        (&["fe=Chekcer"], "there is no frame element `Chekcer`; did you mean `Checker`?"),
        (&["inherits=Hapening"], "there is no frame `Hapening`; did you mean `Happening`?"),
        (&["text~\"(\""], "cannot compile the regular expression `(` at column 6"),
        (&["aligner>1.5"], "`1.5` is no value of `aligner` (column 9)"),
        (&["round=two"], "`two` is no value of `round` (column 7); expected a whole number"),
        (&["id=7014"], "`7014` is no value of `id` (column 4)"),
    ] {
        let ran = fnstore(&[&["query"][..], arguments].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(ran.stderr.contains(message), "{arguments:?}: {}", ran.stderr);
    }
}
