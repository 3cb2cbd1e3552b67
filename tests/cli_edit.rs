//! `fnstore edit`, `judge` and `changes`: scripts all or nothing, ids that are printed, errors with
//! their line.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::cli_program::{Ran, fnstore_in, mini_framenet, new_store};
use crate::cli_schema::faults_in;

/// Runs the program with something on its standard input.
fn fed(dir: &Path, arguments: &[&str], input: &[u8]) -> Ran {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fnstore"))
        .env("FNSTORE_DIR", dir)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A script that is refused at once is not read to its end.
    let _ = child.stdin.take().unwrap().write_all(input);
    Ran::of(child.wait_with_output().unwrap())
}

pub(crate) fn edit(dir: &Path, script: &[Value]) -> Ran {
    let lines: Vec<String> = script.iter().map(Value::to_string).collect();
    fed(dir, &["edit", "-"], lines.join("\n").as_bytes())
}

fn count(dir: &Path, query: &str) -> String {
    fnstore_in(dir, &["query", query, "--count"]).stdout.trim().to_owned()
}

/// One edit of every kind, each of which holds in its place.
fn every_edit() -> Vec<Value> {
    vec![
        json!({"op": "add-semtype", "as": "t", "name": "Gadget", "parents": ["Tool"]}),
        json!({"op": "edit-semtype", "semtype": "@t", "abbreviation": "tl"}),
        json!({"op": "add-frame", "as": "f", "name": "Proofing", "definition": "A <fen>Proofer</fen>",
            "elements": [
                {"name": "Proofer", "excludes": ["Proof"]},
                {"name": "Proof", "core_type": "Peripheral", "sem_types": ["@t"]},
            ],
            "core_sets": [["Proofer", "Proof"]], "sem_types": ["Gadget"]}),
        json!({"op": "edit-frame", "frame": "Proofing", "name": "Proof_reading"}),
        json!({"op": "add-element", "frame": "@f", "element": {"name": "Where"}}),
        json!({"op": "edit-element", "frame": "@f", "element": "Where", "name": "Place",
            "core_type": "Extra-Thematic", "requires": ["Proof"]}),
        json!({"op": "add-lu", "as": "l", "frame": "@f", "name": "proof.v", "incorporated_fe": "Proof"}),
        json!({"op": "edit-lu", "frame": "@f", "lu": "proof.v", "name": "proof read.v",
            "status": "Finished_Initial"}),
        json!({"op": "add-relation", "as": "r", "kind": "Inheritance", "parent": "Checking",
            "child": "@f", "elements": [["Checker", "Proofer"]]}),
        json!({"op": "edit-relation", "relation": "@r", "elements": [["Matter", "Proof"]]}),
        json!({"op": "add-document", "as": "d", "corpus": "MINI", "name": "Notes"}),
        json!({"op": "edit-document", "document": "@d", "name": "More notes"}),
        json!({"op": "add-sentence", "as": "s", "document": "@d",
            "text": "Zo\u{eb} \u{1f600} proof read it ."}),
        json!({"op": "add-set", "as": "a", "sentence": "@s", "frame": "@f", "lu": "@l",
        "targets": [[6, 16]], "annotator": "kim", "elements": [
            {"name": "Proofer", "span": [0, 3], "gf": "Ext", "pt": "NP"},
            {"name": "Proof", "span": [17, 19], "gf": "Obj", "pt": "NP"},
            {"name": "Place", "ni": "INI"},
        ]}),
        json!({"op": "edit-set", "set": "@a", "status": "REVISED"}),
        json!({"op": "judge", "set": "@a", "reviewer": "lee", "score": 85, "note": "good", "time": 7}),
        json!({"op": "judge", "set": "@a", "reviewer": "kim", "score": 60}),
        json!({"op": "remove-judgement", "set": "@a", "reviewer": "kim"}),
        json!({"op": "remove-element", "frame": "Repairing", "element": "Time", "cascade": true}),
        json!({"op": "remove-semtype", "semtype": "Time", "cascade": true}),
        json!({"op": "remove-relation", "relation": 11}),
        json!({"op": "remove-set", "set": "f8002"}),
        json!({"op": "remove-lu", "frame": "Checking", "lu": 1003, "cascade": true}),
        json!({"op": "remove-frame", "frame": "Roaming", "cascade": true}),
        json!({"op": "remove-sentence", "sentence": "x5002", "cascade": true}),
        json!({"op": "remove-document", "document": "HarbourLog", "cascade": true}),
    ]
}

#[test]
fn a_script_of_every_edit_is_done_and_its_ids_are_printed() {
    let store = new_store();
    for (number, line) in (1..).zip(every_edit()) {
        assert_eq!(faults_in("edit.schema.json", &line), [""; 0], "line {number}");
    }
    let ran = edit(store.path(), &every_edit());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("edits done: 26; the store is at revision 2"), "{}", ran.stderr);
    let done = ran.records();
    assert_eq!(done.len(), 26);
    for record in &done {
        assert_eq!(faults_in("edited.schema.json", record), [""; 0]);
    }
    assert_eq!(done[13]["as"], "a");
    let id = done[13]["id"].as_str().unwrap();
    let found = fnstore_in(store.path(), &["query", "frame=Proof_reading judgement>80"]).records();
    assert_eq!((found.len(), found[0]["id"].as_str()), (1, Some(id)));
    assert_eq!(found[0]["trigger"], "proof read");
    assert_eq!(found[0]["targets"], json!([[6, 16]]));
    assert_eq!(found[0]["lu"], "proof read.v");
    assert_eq!((&found[0]["status"], &found[0]["origin"]), (&json!("REVISED"), &json!("user")));
    let labels = found[0]["elements"].as_array().unwrap();
    assert_eq!(labels[0]["gf"], "Ext");
    assert_eq!(labels[2]["ni"], "INI");
    for (query, sets) in [
        ("trigger=\"proof read\"", "1"),
        ("doc=\"More notes\"", "1"),
        ("inherits=Checking frame=Proof_reading", "1"),
        ("id=f8002", "0"),
    ] {
        assert_eq!(count(store.path(), query), sets, "{query}");
    }
    let gone = fnstore_in(store.path(), &["query", "doc=HarbourLog"]);
    assert_eq!(gone.code, Some(2), "{}", gone.stderr);
    assert_eq!(fnstore_in(store.path(), &["query", "frame=Roaming"]).code, Some(2), "it is gone");

    let changes = fnstore_in(store.path(), &["changes", "--since", "1"]);
    let records = changes.records();
    for record in &records {
        assert_eq!(faults_in("change.schema.json", record), [""; 0]);
        assert_eq!(record["revision"], 2);
    }
    let has = |action: &str, kind: &str, id: &str| {
        records.iter().any(|of| of["action"] == action && of["kind"] == kind && of["id"] == id)
    };
    assert!(has("added", "set", id) && has("removed", "set", "f8002"));
    assert!(has("removed", "lu", "1003") && has("removed", "frame", "104"));
    assert!(has("edited", "frame", "103") && has("removed", "document", "301/401"));
}

#[test]
fn a_wrong_line_is_named_and_nothing_of_the_script_is_done() {
    let store = new_store();
    let good =
        json!({"op": "add-lu", "as": "l", "frame": "Checking", "name": "peruse.v"}).to_string();
    let sentence =
        json!({"op": "add-sentence", "as": "s", "text": "Zo\u{eb} perused it ."}).to_string();
    let set = |targets: Value, elements: Value| {
        json!({"op": "add-set", "sentence": "@s", "frame": "Checking", "lu": "@l",
            "targets": targets, "elements": elements})
        .to_string()
    };
    let wrong = [
        ("{\"op\": \"add-lu\", ".to_owned(), "E-syntax: EOF while parsing"),
        ("[]".to_owned(), "E-syntax: "),
        ("{\"op\": \"fly\"}".to_owned(), "E-syntax: unknown variant `fly`, expected one of `add-frame`"),
        ("{\"op\": \"add-frame\"}".to_owned(), "E-syntax: missing field `name`"),
        ("{\"op\": \"remove-set\", \"set\": 7}".to_owned(), "E-syntax: invalid type: integer `7`"),
        (
            "{\"op\": \"remove-set\", \"set\": \"x7002\", \"force\": true}".to_owned(),
            "E-syntax: unknown field `force`",
        ),
        (
            format!("{{\"op\": \"add-frame\", \"name\": {}", "[".repeat(100_000)),
            "E-syntax: recursion limit exceeded",
        ),
        (
            "{\"op\": \"remove-frame\", \"frame\": \"Cheking\"}".to_owned(),
            "E-value: `frame` is `Cheking`; expected the name of a frame of the release; did you mean \
             `Checking`?",
        ),
        (
            "{\"op\": \"add-lu\", \"frame\": \"Checking\", \"name\": \"examine.v\"}".to_owned(),
            "E-value: `name` is `examine.v`; expected a name that no LU of the frame has (number 1003",
        ),
        (
            "{\"op\": \"add-frame\", \"name\": \"Checking\"}".to_owned(),
            "E-value: `name` is `Checking`; expected a name that no other frame of the release has",
        ),
        ("{\"op\": \"remove-frame\", \"frame\": \"Checking\"}".to_owned(), "E-in-use: frame `102`"),
        ("{\"op\": \"remove-frame\", \"frame\": \"@x\"}".to_owned(), "`frame` is `@x`; expected what an"),
        ("{\"op\": \"remove-frame\", \"frame\": \"@l\"}".to_owned(), "`frame` is `@l`; expected a frame"),
        ("{\"op\": \"remove-frame\", \"frame\": 7}".to_owned(), "E-absent: there is no frame `7`"),
        (
            "{\"op\": \"remove-lu\", \"frame\": \"Checking\", \"lu\": \"check.v\"}".to_owned(),
            "`lu` is `check.v`; expected a number, as several are called so: 1001, 1007",
        ),
        (
            "{\"op\": \"remove-lu\", \"frame\": \"Checking\", \"lu\": \"chekc.v\"}".to_owned(),
            "expected an LU of `Checking`; did you mean `check.v`?",
        ),
        ("{\"op\": \"remove-set\", \"set\": \"7002\"}".to_owned(), "`set` is `7002`; expected an"),
        ("{\"op\": \"remove-set\", \"set\": \"x1\"}".to_owned(), "E-absent: there is no annotation set `x1`"),
        (good.replace("peruse.v", "vet.v"), "`as` is `l`; expected a name that no earlier line has given"),
        (set(json!([[4, 99]]), json!([])), "`targets[0]` is `[4, 99]`; expected a span of the text's 16"),
        (set(json!([[11, 4]]), json!([])), "`targets[0]` is `[11, 4]`"),
        (set(json!([[-1, 4]]), json!([])), "E-syntax: invalid value: integer `-1`"),
        (
            set(json!([[4, 11]]), json!([{"name": "Cheker", "span": [0, 3]}])),
            "expected an FE of `Checking`; did you mean `Checker`?",
        ),
        (
            set(json!([[4, 11]]), json!([{"name": "Checker"}])),
            "`elements[0]` is `Checker`; expected either `span` or `ni`",
        ),
        (
            set(json!([[4, 11]]), json!([{"name": "Checker", "ni": "INI", "gf": "Ext"}])),
            "expected `gf` and `pt` only with `span`",
        ),
        (
            set(json!([[4, 11]]), json!([{"name": "Checker", "span": [0, 3], "rank": 2, "pt": "NP"}])),
            "`elements[0]` is `Checker`; expected `gf` and `pt` only with `rank` 1",
        ),
        (
            set(json!([[4, 11]]), json!([{"name": "Checker", "span": [0, 3], "rank": 4}])),
            "rank` is `4`; expected 1 to 3",
        ),
        ("{\"op\": \"judge\", \"set\": \"x7002\", \"score\": 101, \"reviewer\": \"k\"}".to_owned(), "`score` is `101`"),
        ("{\"op\": \"judge\", \"set\": \"x7002\", \"score\": 10}".to_owned(), "expected who judges"),
        (
            "{\"op\": \"add-frame\", \"name\": \"X\", \"elements\": [{\"name\": \"Y\", \"core_type\": \"core\"}]}"
                .to_owned(),
            "`core_type` is `core`; expected one of `Core`",
        ),
    ];
    for (line, message) in wrong {
        let script = format!("{good}\n\n{sentence}\n{line}\n");
        let ran = fed(store.path(), &["edit", "-"], script.as_bytes());
        assert_eq!(ran.code, Some(65), "{line}: {}", ran.stderr);
        assert!(ran.stderr.contains("nothing was written: line 4: "), "{}", ran.stderr);
        assert!(ran.stderr.contains(message), "{}\nlacks {message}", ran.stderr);
        assert_eq!(ran.stdout, "");
    }
    let ran = fed(store.path(), &["edit", "-"], b"{\"op\": \"add-sentence\", \"text\": \"\xff\"}");
    assert_eq!(ran.code, Some(65));
    let expected = "line 1: E-syntax: the line has a byte that is not UTF-8, its number 33";
    assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    let long = vec![b' '; (16 << 20) + 2];
    let ran = fed(store.path(), &["edit", "-"], &long);
    assert!(
        ran.stderr.contains("line 1: E-syntax: the line has more than 16777216 bytes"),
        "{}",
        ran.stderr
    );
    let changes = fnstore_in(store.path(), &["changes"]);
    assert_eq!(changes.records().len(), 1, "only the import: {}", changes.stdout);
}

#[test]
fn another_lu_of_a_name_is_added_where_the_line_says_so() {
    let store = new_store();
    let line = json!({"op": "add-lu", "frame": "Checking", "name": "examine.v", "another": true});
    let ran = fed(store.path(), &["edit", "-"], line.to_string().as_bytes());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let lus = fnstore_in(store.path(), &["lus", "examine.v", "--format", "jsonl"]);
    assert_eq!(lus.records().len(), 2, "{}", lus.stdout);
}

#[test]
fn a_dry_run_an_empty_script_and_a_missing_one_write_nothing() {
    let store = new_store();
    let line = b"{\"op\": \"add-sentence\", \"text\": \"Hello .\"}";
    let ran = fed(store.path(), &["edit", "-", "--dry-run"], line);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""));
    assert!(ran.stderr.contains("edits checked: 1; nothing was written"), "{}", ran.stderr);
    assert_eq!(fed(store.path(), &["edit", "-"], b"\n \n").code, Some(1));
    let ran = fnstore_in(store.path(), &["edit", "no-such-file"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("cannot read `no-such-file`"), "{}", ran.stderr);
    assert_eq!(fnstore_in(store.path(), &["changes", "--since", "1"]).code, Some(1));
}

#[test]
fn a_cascade_says_how_many_records_of_each_kind_go() {
    let store = new_store();
    let line = b"{\"op\": \"remove-frame\", \"frame\": \"Checking\", \"cascade\": true}";
    let sets = count(store.path(), "frame=Checking");
    let dry = (&["edit", "-", "--dry-run"][..], "would remove");
    for (arguments, verb) in [dry, (&["edit", "-"], "removed")] {
        let ran = fed(store.path(), arguments, line);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let said = ran.stderr.lines().find(|line| line.starts_with(verb)).unwrap();
        for part in ["1 frame, ", "9 LUs, ", &format!("{sets} annotation sets, ")] {
            assert!(said.contains(part), "{said}\nlacks {part}");
        }
    }
}

#[test]
fn the_example_of_the_help_runs_as_it_stands() {
    let store = new_store();
    let help = fnstore_in(store.path(), &["edit", "--help"]).stdout;
    let (_, examples) = help.split_once("Examples:").unwrap();
    assert!(examples.lines().all(|line| line.len() < 80), "{examples}");
    let lines: Vec<&str> =
        examples.lines().filter(|line| line.trim_start().starts_with('{')).collect();
    assert_eq!(lines.len(), 4, "{examples}");
    let ran = fed(store.path(), &["edit", "-"], lines.join("\n").as_bytes());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
}

#[test]
fn of_several_releases_one_must_be_named() {
    let store = new_store();
    let second = mini_framenet();
    let arguments = ["import", second.to_str().unwrap(), "--release", "second"];
    assert_eq!(fnstore_in(store.path(), &arguments).code, Some(0));
    let line = b"{\"op\": \"remove-set\", \"set\": \"x7002\"}";
    let ran = fed(store.path(), &["edit", "-"], line);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("`mini-framenet` and `second`; say which with"), "{}", ran.stderr);
    assert_eq!(fed(store.path(), &["edit", "-", "--release", "second"], line).code, Some(0));
    assert_eq!(count(store.path(), "id=x7002"), "1");
    let ran = fnstore_in(store.path(), &["judge", "x7004", "50", "--reviewer", "kim"]);
    assert!(ran.stderr.contains("`x7004` is in the releases"), "{}", ran.stderr);
    let only = ["judge", "x7004", "50", "--reviewer", "kim", "--release", "second"];
    assert_eq!(fnstore_in(store.path(), &only).code, Some(0));
    let changes = ["changes", "--release", "mini-framenet"];
    assert_eq!(fnstore_in(store.path(), &changes).records().len(), 1);
}

#[test]
fn a_question_of_ones_own_is_told_to_count_nowhere() {
    let store = new_store();
    let own = "`tone` is a question of your own";
    for (question, is_own) in [("evokes", false), ("meaning", false), ("tone", true)] {
        let score = ["judge", "x7002", "20", "--reviewer", "kim", "--question", question];
        let ran = fnstore_in(store.path(), &score);
        assert_eq!((ran.code, ran.stderr.contains(own)), (Some(0), is_own), "{}", ran.stderr);
        let line = json!({"set": "x7004", "score": 20, "question": question}).to_string();
        let bulk = ["judge", "--from", "-", "--reviewer", "kim"];
        let ran = fed(store.path(), &bulk, line.as_bytes());
        assert_eq!((ran.code, ran.stderr.contains(own)), (Some(0), is_own), "{}", ran.stderr);
        let edit = json!({"op": "judge", "set": "x7004", "score": 20, "reviewer": "kim", "question": question});
        let ran = fed(store.path(), &["edit", "-"], edit.to_string().as_bytes());
        assert_eq!((ran.code, ran.stderr.contains(own)), (Some(0), is_own), "{}", ran.stderr);
    }
    let found = fnstore_in(store.path(), &["query", "judgement=20", "--count"]).stdout;
    assert_eq!(found.trim(), "2");
}

#[test]
fn a_question_for_a_frame_that_is_not_there_is_refused() {
    let store = new_store();
    let ask = |question: &str| {
        let score = ["judge", "x7002", "20", "--reviewer", "kim", "--question", question];
        fnstore_in(store.path(), &score)
    };
    let ran = ask("evokes Cheking");
    assert_ne!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("did you mean `Checking`?"), "{}", ran.stderr);
    assert_eq!(fnstore_in(store.path(), &["judge", "x7002"]).code, Some(1), "nothing was written");
    assert_eq!(ask("evokes Roaming").code, Some(0));
}

#[test]
fn judgements_are_given_shown_and_taken_back() {
    let store = new_store();
    let run = |arguments: &[&str]| fnstore_in(store.path(), arguments);
    assert_eq!(run(&["judge", "x7002"]).code, Some(1), "nobody has judged it");
    let given = run(&["judge", "x7002", "90", "--reviewer", "kim", "--note", "fine"]);
    assert_eq!((given.code, given.stdout.as_str()), (Some(0), ""), "{}", given.stderr);
    let lines = "{\"set\": \"x7002\", \"score\": 20, \"reviewer\": \"lee\", \"time\": 7}\n\
                 {\"set\": \"x7004\", \"score\": 100}\n";
    let bulk = fed(store.path(), &["judge", "--from", "-", "--reviewer", "kim"], lines.as_bytes());
    assert_eq!(bulk.code, Some(0), "{}", bulk.stderr);
    assert!(bulk.stderr.contains("judgements taken: 2; "), "{}", bulk.stderr);
    let shown = run(&["judge", "x7002"]).records();
    for record in &shown {
        assert_eq!(faults_in("judgement.schema.json", record), [""; 0]);
    }
    let of = |record: &Value| (record["reviewer"].clone(), record["score"].clone());
    let scores: Vec<_> = shown.iter().map(of).collect();
    assert_eq!(scores, [(json!("kim"), json!(90)), (json!("lee"), json!(20))]);
    assert_eq!((&shown[0]["note"], &shown[1]["time"]), (&json!("fine"), &json!(7)));
    assert_eq!(count(store.path(), "judgement>=90"), "2");
    assert_eq!(run(&["judge", "x7002", "--reviewer", "kim", "--remove"]).code, Some(0));
    assert_eq!(count(store.path(), "judgement>=90"), "1");

    for (arguments, message) in [
        (vec!["judge", "x7002", "101", "--reviewer", "kim"], "101 is not in 0..=100"),
        (vec!["judge"], "<ID>"),
        (vec!["judge", "7002"], "`7002` is no id"),
        (vec!["judge", "x1", "50", "--reviewer", "kim"], "there is no annotation set `x1`"),
        (
            vec!["judge", "x7002", "--reviewer", "ann", "--remove"],
            "E-value: `reviewer` is `ann`; expected someone who has judged `x7002`",
        ),
    ] {
        let ran = run(&arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}");
        assert!(ran.stderr.contains(message), "{arguments:?}: {}", ran.stderr);
    }
    let wrong = "{\"set\": \"x7002\", \"score\": 20}\n{\"set\": \"x1\", \"score\": 20}\n";
    let ran = fed(store.path(), &["judge", "--from", "-", "--reviewer", "ann"], wrong.as_bytes());
    assert_eq!(ran.code, Some(65));
    assert!(ran.stderr.contains("nothing was written: line 2: E-absent"), "{}", ran.stderr);
    assert_eq!(run(&["judge", "x7002"]).records().len(), 1);
}

#[test]
fn a_follower_is_told_of_every_commit() {
    let store = new_store();
    let mut follower = Command::new(env!("CARGO_BIN_EXE_fnstore"))
        .env("FNSTORE_DIR", store.path())
        .args(["changes", "--follow", "--format", "jsonl"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(follower.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    assert_eq!(next()["kind"], "release");
    for revision in [2, 3] {
        let ran = edit(store.path(), &[json!({"op": "add-sentence", "text": "Hello ."})]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let change = next();
        assert_eq!((&change["revision"], &change["kind"]), (&json!(revision), &json!("sentence")));
    }
    follower.kill().unwrap();
    follower.wait().unwrap();
}

#[test]
fn a_script_on_standard_input_holds_no_lock_while_it_is_written() {
    let store = new_store();
    for command in [vec!["edit", "-"], vec!["judge", "--from", "-"]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_fnstore"))
            .env("FNSTORE_DIR", store.path())
            .args(&command)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        // More than a pipe holds: once it is written, the program reads.
        input.write_all(" \n".repeat(100_000).as_bytes()).unwrap();
        let meanwhile = fnstore_in(store.path(), &["reindex"]);
        assert_eq!(meanwhile.code, Some(0), "{command:?}: {}", meanwhile.stderr);
        drop(input);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
    }
}
