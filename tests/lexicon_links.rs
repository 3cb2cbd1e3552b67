//! Links of LUs and FEs to synsets, classes and rolesets: computed, decided on, asked for.

use std::path::Path;

use fnstore::database::Database;
use serde_json::Value;

use crate::cli_program::{Ran, fnstore_in, mini_framenet, new_store};
use crate::review_server::Review;
use crate::{generated, mini};

const OTHERS: [&str; 4] = ["mini-wordnet", "mini-verbnet", "mini-propbank", "mini-semlink"];

fn run(store: &Path, arguments: &[&str]) -> Ran {
    fnstore_in(store, arguments)
}

fn done(store: &Path, arguments: &[&str]) -> Ran {
    let ran = run(store, arguments);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran
}

/// A store with a release and other lexicons.
fn store_with(others: &[&str]) -> tempfile::TempDir {
    let store = new_store();
    for other in others {
        let path = mini_framenet().with_file_name(other);
        done(store.path(), &["import", path.to_str().unwrap()]);
    }
    store
}

/// Takes back the last commit.
fn undo_last(store: &Path) {
    let history = run(store, &["history"]).records();
    let last = history.iter().filter_map(|commit| commit["revision"].as_u64()).max().unwrap();
    done(store, &["undo", &last.to_string()]);
}

/// What an LU or FE is linked to, as `target:role source`.
fn linked(store: &Path, frame: &str, name: &str) -> Vec<String> {
    let rows = run(store, &["links", frame]).records();
    let of = rows.iter().filter(|row| row["name"] == name);
    of.map(|row| {
        let role = row["role"].as_str().map_or_else(String::new, |role| format!(":{role}"));
        format!("{}{role} {}", row["target"].as_str().unwrap(), row["source"].as_str().unwrap())
    })
    .collect()
}

/// Asserts that each line follows a schema.
fn follows(schema: &str, ran: &Ran) -> Vec<Value> {
    assert!(!ran.stdout.is_empty(), "{ran:?}");
    for line in ran.stdout.lines() {
        Ran { code: None, stdout: line.to_owned(), stderr: String::new() }.document(schema);
    }
    ran.records()
}

#[test]
fn links_are_told_by_other_lexicons_by_words_and_by_names() {
    let store = store_with(&OTHERS);
    let frames = follows("link.schema.json", &done(store.path(), &["link"]));
    assert!(frames.iter().any(|row| row["links"].as_u64() > Some(19)), "{frames:?}");
    let links = |name| linked(store.path(), "Checking", name);
    // The class of `check` is linked to the frame, and names the sense.
    let check = ["00001064-v semlink", "check.01 semlink", "check-35.9 semlink"];
    assert!(check.iter().all(|link| links("check.v").contains(&(*link).to_owned())));
    assert!(links("examine.v").contains(&"00000433-v definition".to_owned()));
    assert!(links("inspect.v").contains(&"check-35.9-1 semlink".to_owned()));
    let of = |frame, name| linked(store.path(), frame, name);
    assert!(of("Repairing", "repair.v").contains(&"mend-26.8 definition".to_owned()));
    // SemLink joins an FE and a role, and through that an argument; a name joins others.
    let checker = links("Checker");
    assert!(checker.contains(&"check-35.9:Agent semlink".to_owned()), "{checker:?}");
    assert!(checker.contains(&"check.01:0 semlink".to_owned()), "{checker:?}");
    assert!(links("Matter").contains(&"check.01:1 semlink".to_owned()));
    for row in follows("links.schema.json", &run(store.path(), &["links"])) {
        let score = row["score"].as_f64().unwrap();
        assert!((0.13..=1.0).contains(&score) && row["gloss"].is_string(), "{row}");
    }
    let by_frame =
        follows("links.schema.json", &run(store.path(), &["links", "Checking", "--by-frame"]));
    assert!(by_frame.iter().all(|row| row["kind"] == "frame"));
    let several = run(store.path(), &["links", "Repairing", "Roam*"]).records();
    let frames: Vec<&str> = several.iter().filter_map(|row| row["frame"].as_str()).collect();
    assert!(frames.contains(&"Repairing") && frames.contains(&"Roaming"), "{frames:?}");
    let tsv = run(store.path(), &["links", "--format", "tsv"]).stdout;
    assert!(tsv.starts_with("release\tframe\tkind\tname\tresource\ttarget\trole\tscore"), "{tsv}");
    assert_eq!(run(store.path(), &["check", "--deep"]).code, Some(0));
}

#[test]
fn what_is_linked_is_linked_once_and_anew_where_something_changed() {
    let store = store_with(&OTHERS[..1]);
    let computed = |arguments: &[&str]| -> u64 {
        let rows = done(store.path(), &[&["link"], arguments].concat()).records();
        rows.iter().map(|row| row["computed"].as_u64().unwrap()).sum()
    };
    let all = computed(&[]);
    assert!(all > 20, "{all}");
    let before = run(store.path(), &["links"]).stdout;
    let history = run(store.path(), &["history"]).stdout;
    assert_eq!(computed(&[]), 0);
    assert_eq!(run(store.path(), &["history"]).stdout, history);
    assert_eq!(computed(&["--again"]), all);
    assert_eq!(run(store.path(), &["links"]).stdout, before);
    assert!(computed(&["--least", "0.5"]) > 0);
    let scores = run(store.path(), &["links"]).records();
    assert!(scores.iter().all(|row| row["score"].as_f64() >= Some(0.5)));
    // Another lexicon is another way.
    let verbnet = mini_framenet().with_file_name("mini-verbnet");
    done(store.path(), &["import", verbnet.to_str().unwrap()]);
    assert!(computed(&["Checking", "--least", "0.5"]) > 0);
}

#[test]
fn a_decision_stands_is_taken_back_and_outlives_a_new_run() {
    let store = store_with(&OTHERS);
    done(store.path(), &["link"]);
    let decide = |verdict, rest: &[&str]| {
        let ran = done(store.path(), &[&["links", verdict], rest, &["--reviewer", "kim"]].concat());
        assert!(ran.stderr.contains(rest[2]), "{ran:?}");
    };
    let has = |name, link: &str| linked(store.path(), "Checking", name).iter().any(|it| it == link);
    let sense = ["Checking", "inspect.v", "00000677-v"];
    assert!(has("inspect.v", "00000677-v semlink"));
    decide("reject", &sense);
    done(store.path(), &["link", "--again"]);
    assert!(!has("inspect.v", "00000677-v semlink"));
    let rejected =
        run(store.path(), &["links", "Checking", "--lu", "inspect.v", "--with-rejected"]);
    let rejected = follows("links.schema.json", &rejected);
    assert!(rejected.iter().any(|row| row["decision"] == "reject"));
    assert_eq!(run(store.path(), &["query", "synset=00000677-v lu=inspect.v"]).code, Some(1));
    decide("undo", &sense);
    assert!(has("inspect.v", "00000677-v semlink"));
    // What nobody computed is added, and goes when that is taken back.
    decide("accept", &["Checking", "1004", "00000677-v"]);
    done(store.path(), &["link", "--again"]);
    assert!(has("audit.v", "00000677-v user"));
    decide("undo", &["Checking", "audit.v", "00000677-v"]);
    assert!(!has("audit.v", "00000677-v user"));
    decide("accept", &["Checking", "Standard", "check-35.9-1:Attribute"]);
    assert!(has("Standard", "check-35.9-1:Attribute user"));
    for (rest, said) in [
        (["Checking", "inspect.v", "99999999-v"], "V-link-target"),
        (["Checking", "Standard", "check-35.9:Nobody"], "V-link-target"),
        (["Checking", "inspekt.v", "00000677-v"], "`inspect.v`"),
        (["Chekking", "inspect.v", "00000677-v"], "`Checking`"),
        (["Checking", "check.v", "00001064-v"], "expected a number: 1001, 1007"),
    ] {
        let refused = run(store.path(), &[&["links", "accept"], &rest[..]].concat());
        assert!(refused.code == Some(2) && refused.stderr.contains(said), "{said}: {refused:?}");
    }
    let none = ["links", "undo", "Checking", "audit.v", "00000677-v"];
    assert!(run(store.path(), &none).stderr.contains("V-link-undecided"));
    // The commit of a decision can be undone, as any edit.
    undo_last(store.path());
    assert!(!has("Standard", "check-35.9-1:Attribute user"));
    assert_eq!(run(store.path(), &["check", "--deep"]).code, Some(0));
}

#[test]
fn a_decision_behind_which_others_came_is_not_taken_back_by_its_commit() {
    let store = store_with(&["mini-wordnet"]);
    done(store.path(), &["link"]);
    let reject = |target: &str| {
        done(store.path(), &["links", "reject", "Checking", "inspection.n", target]);
        let history = run(store.path(), &["history"]).records();
        history.iter().filter_map(|commit| commit["revision"].as_u64()).max().unwrap().to_string()
    };
    let first = reject("00000375-n");
    reject("00000677-v");
    let refused = run(store.path(), &["undo", &first]);
    assert!(refused.code != Some(0) && refused.stderr.contains("links"), "{refused:?}");
    assert!(!linked(store.path(), "Checking", "inspection.n").iter().any(|of| of.contains("0375")));
}

#[test]
fn links_that_were_computed_anew_since_a_decision_do_not_hold_up_its_undo() {
    let store = store_with(&["mini-wordnet"]);
    let decided = |target: &str| {
        let rows =
            run(store.path(), &["links", "Checking", "--lu", "inspection.n", "--with-rejected"]);
        let rows = rows.records().into_iter();
        let of = rows.filter(|row| row["target"] == target && row["source"] != "user");
        of.map(|row| row["decision"].clone()).collect::<Vec<_>>()
    };
    // Nothing was computed when it was decided.
    done(store.path(), &["links", "reject", "Checking", "inspection.n", "00000375-n"]);
    let history = run(store.path(), &["history"]).records();
    let first = history.iter().filter_map(|of| of["revision"].as_u64()).max().unwrap().to_string();
    done(store.path(), &["link"]);
    assert_eq!(decided("00000375-n"), ["reject"]);
    let computed = linked(store.path(), "Checking", "inspection.n");
    done(store.path(), &["undo", &first]);
    assert_eq!(decided("00000375-n"), [Value::Null]);
    assert_eq!(linked(store.path(), "Checking", "inspection.n").len(), computed.len() + 1);
    assert_eq!(run(store.path(), &["check", "--deep"]).code, Some(0));
    // What people decided since is in the way, as before.
    done(store.path(), &["links", "reject", "Checking", "inspection.n", "00000375-n"]);
    let history = run(store.path(), &["history"]).records();
    let second = history.iter().filter_map(|of| of["revision"].as_u64()).max().unwrap().to_string();
    done(store.path(), &["links", "accept", "Checking", "inspection.n", "00000375-n"]);
    done(store.path(), &["link", "--again"]);
    let refused = run(store.path(), &["undo", &second]);
    assert!(refused.code != Some(0) && refused.stderr.contains("links"), "{refused:?}");
}

#[test]
fn one_of_several_links_is_named_and_none_is_guessed() {
    let store = store_with(&OTHERS);
    let again = mini_framenet().with_file_name("mini-verbnet");
    let copy = tempfile::tempdir().unwrap();
    let second = copy.path().join("second-verbnet");
    mini::copy(&again, &second);
    done(store.path(), &["import", second.to_str().unwrap()]);
    done(store.path(), &["link"]);
    let decide = ["links", "reject", "Checking", "audit.v", "check-35.9-1"];
    let refused = run(store.path(), &decide);
    assert!(refused.stderr.contains("V-link-several"), "{refused:?}");
    done(store.path(), &[&decide[..], &["--resource", "second-verbnet"]].concat());
    // An LU has no role, and an FE is no class.
    for wrong in [["audit.v", "check-35.9:Agent"], ["Standard", "check-35.9"]] {
        let ran = run(store.path(), &[&["links", "accept", "Checking"], &wrong[..]].concat());
        assert!(ran.stderr.contains("V-link-target"), "{ran:?}");
    }
    // What is removed is linked to by nothing that is listed, and decisions wait for it.
    done(store.path(), &["releases", "remove", "second-verbnet", "--yes"]);
    let left = || {
        let rows = run(store.path(), &["links", "Checking", "--with-rejected"]).records();
        rows.iter().filter(|row| row["resource"] == "second-verbnet").count()
    };
    assert_eq!(left(), 0);
    let shown = run(store.path(), &["lus", "audit.v", "--format", "jsonl"]).stdout;
    assert!(!shown.contains("second-verbnet"), "{shown}");
    done(store.path(), &["import", second.to_str().unwrap()]);
    let rows = run(store.path(), &["links", "Checking", "--with-rejected"]).records();
    let is_it = |row: &&Value| row["resource"] == "second-verbnet" && row["name"] == "audit.v";
    assert!(rows.iter().filter(is_it).any(|row| row["decision"] == "reject"), "{rows:?}");
}

#[test]
fn queries_and_listings_know_what_lus_are_linked_to() {
    let store = store_with(&OTHERS);
    let lus = |query: &str| -> Vec<String> {
        let ran = run(store.path(), &["query", query, "--count-by", "lu", "--format", "jsonl"]);
        let mut names: Vec<String> = ran
            .records()
            .iter()
            .map(|row| row["value"].as_str().unwrap_or_default().to_owned())
            .collect();
        names.sort();
        names
    };
    assert_eq!(lus("synset=00001064-v"), [""; 0]);
    done(store.path(), &["link"]);
    assert_eq!(lus("synset=00001064-v"), lus("synset=double-check.v"));
    assert!(lus("synset=00001064-v").contains(&"check.v".to_owned()));
    assert!(lus("vn=35.9").contains(&"check.v".to_owned()));
    assert_eq!(lus("vn=35.9"), lus("vn=check-35.9"));
    assert_eq!(lus("pb=check.01"), ["check.v"]);
    // Checking and examining are both looking into something, at some distance.
    let above = lus("hypernym=00000272-v");
    assert!(
        ["check.v", "examine.v", "inspect.v"].iter().all(|lu| above.contains(&(*lu).to_owned())),
        "{above:?}"
    );
    assert!(!lus("hypernym=00000272-v not vn=35.9").contains(&"check.v".to_owned()));
    let listed = run(store.path(), &["lus", "check.v", "--frame", "Checking", "--format", "jsonl"]);
    assert!(
        follows("lus.schema.json", &listed)[0]["links"].as_array().is_some_and(|it| it.len() > 2)
    );
    let shown = run(store.path(), &["show", "lu", "check.v", "--format", "jsonl"]);
    assert!(follows("lexunit.schema.json", &shown).iter().any(|lu| lu["links"].is_array()));
    let shown = run(store.path(), &["show", "lu", "check.v", "--frame", "Checking"]).stdout;
    assert!(shown.contains("linked to 00001064-v of wordnet-0.1, "), "{shown}");
}

#[test]
fn links_go_with_the_lu_or_fe_that_is_deleted_and_come_back_with_it() {
    let store = store_with(&OTHERS);
    done(store.path(), &["link"]);
    let has = |name: &str| !linked(store.path(), "Checking", name).is_empty();
    assert!(has("verify.v"));
    let script = store.path().join("edits.jsonl");
    std::fs::write(
        &script,
        "{\"op\":\"remove-lu\",\"lu\":\"verify.v\",\"frame\":\"Checking\",\"cascade\":true}\n",
    )
    .unwrap();
    let edited = run(store.path(), &["edit", script.to_str().unwrap()]);
    assert_eq!(edited.code, Some(0), "{edited:?}");
    assert!(!has("verify.v"));
    assert_eq!(run(store.path(), &["check", "--deep"]).code, Some(0));
    undo_last(store.path());
    assert!(has("verify.v"));
    assert_eq!(run(store.path(), &["check", "--deep"]).code, Some(0));
}

#[test]
fn a_reviewer_sees_what_the_lu_is_linked_to_but_not_in_a_blind_review() {
    let store = store_with(&OTHERS);
    let database = Database::open_writer(store.path()).unwrap();
    generated::write(&database, database.release("mini-framenet").unwrap().id);
    drop(database);
    done(store.path(), &["link"]);
    let html = |more: &[&str]| {
        Review::start(store.path(), more).item(None)["html"].as_str().unwrap().to_owned()
    };
    assert!(html(&["id=g101"]).contains("Linked to"), "{}", html(&["id=g101"]));
    assert!(!html(&["--protocol", "--outputs", "1"]).contains("Linked to"), "it is blind");
}

#[test]
fn a_store_without_other_lexicons_says_so() {
    let store = new_store();
    let none = run(store.path(), &["link"]);
    assert!(none.code == Some(1) && none.stderr.contains("fnstore import PATH"), "{none:?}");
    let none = run(store.path(), &["links"]);
    assert!(none.code == Some(1) && none.stderr.contains("`fnstore link`"), "{none:?}");
}
