//! `fnstore show` and `fnstore releases`: text for reading, JSON with everything.

use fnstore::database::Database;
use serde_json::Value;

use crate::cli_program::{Ran, fnstore, fnstore_in, mini_framenet, new_store};
use crate::generated;

fn json(ran: &Ran) -> Value {
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    serde_json::from_str(&ran.stdout).unwrap()
}

#[test]
fn a_frame_is_shown_with_all_that_belongs_to_it() {
    let ran = fnstore(&["show", "frame", "Checking"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    for line in [
        "Checking  frame 102  mini-framenet",
        "      [Chk The baker] [[checked]] [Mat the oven].",
        "Core FEs",
        "  Document [Doc]  excludes Checker",
        "  Quarry [Qua]  requires Matter",
        "  Instrument [Ins]  <Physical_entity, Tool>",
        "  {Matter, Quarry}",
        "  Inheritance, Parent: Happening",
        "  Using, Child: Giving_leave",
        "  inspect.v     Finished_Initial      4 exemplars",
    ] {
        assert!(ran.stdout.lines().any(|printed| printed == line), "no `{line}`:\n{}", ran.stdout);
    }
    assert!(!ran.stdout.contains("<fen>"));
}

#[test]
fn both_ways_of_naming_show_the_same() {
    let two_words = fnstore(&["show", "frame", "checking"]);
    assert_eq!(two_words.stdout, fnstore(&["show", "frame=Checking"]).stdout);
    let spaced = fnstore(&["show", "lu", "look", "over.v"]);
    assert_eq!(spaced.stdout, fnstore(&["show", "lu=look over.v"]).stdout);
    assert!(spaced.stdout.starts_with("look over.v  Checking  LU 1006"), "{}", spaced.stdout);
}

#[test]
fn lexical_units_of_status_problem_show_when_asked() {
    let plain = fnstore(&["show", "frame", "Checking"]).stdout;
    assert!(!plain.contains("proof.v"));
    assert!(plain.contains("1 of status Problem not listed"));
    let all = fnstore(&["show", "frame", "Checking", "--include-status", "problem"]).stdout;
    assert!(all.contains("proof.v"));
    assert!(!all.contains("not listed"));
}

#[test]
fn a_frame_without_a_file_says_so() {
    let ran = fnstore(&["show", "frame", "Draft_sewing"]);
    assert!(ran.stdout.contains("the release has no file for it"), "{}", ran.stdout);
}

#[test]
fn a_frame_as_json_keeps_the_markup_and_every_lexical_unit() {
    let frame = json(&fnstore(&["show", "frame", "Checking", "--format", "json"]));
    assert!(frame["definition"].as_str().unwrap().contains("<fen>Checker</fen>"));
    assert!(!frame["definition_text"].as_str().unwrap().contains('<'));
    assert_eq!(frame["elements"].as_array().unwrap().len(), 9);
    let lexunits = frame["lexunits"].as_array().unwrap();
    assert!(lexunits.iter().any(|lu| lu["status"] == "Problem"));
}

#[test]
fn a_lexical_unit_is_shown_with_its_valence() {
    let ran = fnstore(&["show", "lu", "inspection.n"]);
    for line in [
        "    MINI: an act of inspecting",
        "    governed by carry out, show",
        "             1  Checker.NP.Ext",
        "             1  Matter.DNI",
    ] {
        assert!(ran.stdout.lines().any(|printed| printed == line), "no `{line}`:\n{}", ran.stdout);
    }
    let lu = json(&fnstore(&["show", "lu", "patch.v", "--format", "json"]));
    assert_eq!(lu["incorporated_fe"], "Material");
    assert!(!lu["realizations"].as_array().unwrap().is_empty());
}

#[test]
fn two_units_of_one_name_are_both_shown() {
    let ran = fnstore(&["show", "lu", "check.v", "--format", "jsonl"]);
    let ids: Vec<Value> = ran.records().iter().map(|lu| lu["id"].clone()).collect();
    assert_eq!(ids, [1001, 1007]);
}

#[test]
fn a_sentence_is_shown_with_every_place_and_set() {
    let ran = fnstore(&["show", "sentence", "x5001"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("in the file of LU 1001"), "{}", ran.stdout);
    assert!(ran.stdout.contains("in the file of LU 1002"), "{}", ran.stdout);
    assert!(ran.stdout.contains("        *******"), "{}", ran.stdout);
    assert!(ran.stdout.contains("sentence layers  x7001"), "{}", ran.stdout);
    let sentence = json(&fnstore(&["show", "sentence", "x5001", "--format", "json"]));
    assert_eq!(sentence["occurrences"].as_array().unwrap().len(), 2);
    assert_eq!(sentence["layers"][0]["listed_under"], serde_json::json!([1001, 1002]));
}

#[test]
fn a_set_is_shown_with_its_layers() {
    let ran = fnstore(&["show", "set", "x7002"]);
    assert!(ran.stdout.contains("    GF: She/Ext"), "{}", ran.stdout);
    let set = json(&fnstore(&["show", "set=x7002", "--format", "json"]));
    assert_eq!(set["frame"], "Checking");
    assert!(set["layers"].as_array().unwrap().iter().any(|layer| layer["name"] == "PT"));
}

#[test]
fn what_is_not_there_is_not_shown() {
    for (arguments, code, message) in [
        (["show", "frame", "Cheking"], 2, "there is no frame `Cheking`; did you mean `Checking`?"),
        (["show", "lu", "chek.v"], 2, "did you mean `check.v`?"),
        (["show", "set", "x1"], 1, "there is no annotation set `x1`"),
        (["show", "sentence", "f1"], 1, "there is no sentence `f1`"),
        (["show", "set", "7002"], 2, "as in `x1024`"),
        (["show", "farme", "Checking"], 2, "expected `frame`, `lu`, `sentence`, `annotation`"),
        (["show", "frame", ""], 2, "expected a name"),
    ] {
        let ran = fnstore(&arguments);
        assert_eq!(ran.code, Some(code), "{arguments:?}");
        assert!(ran.stderr.contains(message), "{}", ran.stderr);
        assert_eq!(ran.stdout, "");
    }
}

#[test]
fn releases_are_listed_with_their_counts() {
    let table = fnstore(&["releases", "--format", "table"]).stdout;
    assert!(
        table.starts_with("name           language  frames  lexunits  proposed  sets  sentences"),
        "{table}"
    );
    let records = fnstore(&["releases"]).records();
    assert_eq!(records.len(), 1);
    assert_eq!(records[0]["name"], "mini-framenet");
    assert_eq!(records[0]["counts"]["exemplar_sets"], 34);
    assert_eq!([&records[0]["frames"], &records[0]["lexunits"], &records[0]["sets"]], [6, 17, 42]);
}

#[test]
fn what_two_releases_have_is_one_array_of_json() {
    let store = new_store();
    let release = mini_framenet();
    let again = ["import", release.to_str().unwrap(), "--release", "again"];
    assert_eq!(fnstore_in(store.path(), &again).code, Some(0));
    for what in ["frame=Checking", "lu=inspect.v", "sentence=x5001", "set=x7042"] {
        let found = json(&fnstore_in(store.path(), &["show", what, "--format", "json"]));
        let releases: Vec<&str> =
            found.as_array().unwrap().iter().map(|one| one["release"].as_str().unwrap()).collect();
        assert_eq!(releases, ["mini-framenet", "again"], "{what}");
        let lines = fnstore_in(store.path(), &["show", what, "--format", "jsonl"]).records();
        assert_eq!(lines.as_slice(), found.as_array().unwrap().as_slice(), "{what}");
    }
}

#[test]
fn a_frame_counts_the_sets_of_every_origin() {
    let store = new_store();
    let database = Database::open_existing_writer(store.path()).unwrap();
    generated::write(&database, database.release("mini-framenet").unwrap().id);
    drop(database);
    let frame = fnstore_in(store.path(), &["show", "frame", "Checking"]).stdout;
    let shown = |lu: &str| {
        let line = frame.lines().find(|line| line.starts_with(&format!("  {lu} ")));
        let words: Vec<&str> = line.unwrap().split_whitespace().skip(2).collect();
        words.join(" ")
    };
    let lus = fnstore_in(store.path(), &["lus", "--frame", "Checking", "--format", "jsonl"]);
    let mut made = 0;
    for lu in lus.records().iter().filter(|lu| lu["generated"].as_u64() > Some(0)) {
        let generated = format!("{} generated", lu["generated"]);
        let line = shown(lu["name"].as_str().unwrap());
        assert!(line.ends_with(&generated), "{line}: {generated}");
        made += 1;
    }
    assert!(made > 0);
}

#[test]
fn a_drawing_names_its_release_where_there_are_two() {
    let store = new_store();
    let drawn = |arguments: &[&str]| -> Vec<String> {
        let arguments = [arguments, &["--format", "table"]].concat();
        let ran = fnstore_in(store.path(), &arguments);
        let lines = ran.stdout.lines().filter(|line| line.contains("  x7042  "));
        lines.map(str::to_owned).collect()
    };
    let query = ["query", "id=x7042"];
    assert!(drawn(&query)[0].contains("  x7042  exemplar  "));
    let release = mini_framenet();
    let again = ["import", release.to_str().unwrap(), "--release", "again"];
    assert_eq!(fnstore_in(store.path(), &again).code, Some(0));
    for command in [&query[..], &["show", "annotation", "x7042"]] {
        let lines = drawn(command);
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[0].contains("  x7042  mini-framenet  exemplar  "), "{lines:?}");
        assert!(lines[1].contains("  x7042  again  exemplar  "), "{lines:?}");
    }
}

#[test]
fn what_is_shown_has_no_rows() {
    for format in ["csv", "tsv"] {
        let ran = fnstore(&["show", "frame", "Checking", "--format", format]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
        assert!(ran.stderr.contains("expected `table`, `json` or `jsonl`"), "{}", ran.stderr);
    }
}

#[test]
fn a_lexical_unit_without_exemplars_says_how_to_see_its_full_text() {
    let shown = fnstore(&["show", "lu", "stitch.v"]).stdout;
    assert!(
        shown
            .contains("    0 exemplars; the release states 0 annotated of 0 sentences extracted\n")
    );
    let query = "release=mini-framenet frame=Draft_sewing lu=stitch.v origin=fulltext";
    assert!(shown.contains(&format!("1 in full text: fnstore query '{query}'")), "{shown}");
    assert_eq!(fnstore(&["query", query, "--count"]).stdout, "1\n");
}

#[test]
fn a_lexical_unit_says_how_to_see_its_generated_sentences() {
    let store = new_store();
    let show = || fnstore_in(store.path(), &["show", "lu", "check.v"]).stdout;
    assert!(!show().contains("generated"));
    crate::cli_schema::generate(store.path());
    let query = "release=mini-framenet frame=Checking lu=check.v origin=generated";
    let shown = show();
    assert!(shown.contains(&format!("1 generated: fnstore query '{query}'")), "{shown}");
    assert_eq!(fnstore_in(store.path(), &["query", query, "--count"]).stdout, "1\n");
}
