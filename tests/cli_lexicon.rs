//! `fnstore frames`, `lus`, `fes`, `relations`, `semtypes`, `valence` and `stats`: the lexicon as
//! rows and trees.

use std::collections::BTreeMap;

use fnstore::database::Database;
use serde_json::{Value, json};

use crate::cli_program::{fnstore, fnstore_in, mini_framenet, new_store};
use crate::cli_schema::faults_in;
use crate::generated;

/// One member of every record.
fn column(arguments: &[&str], name: &str) -> Vec<Value> {
    let ran = fnstore(arguments);
    assert_eq!(ran.code, Some(0), "{arguments:?}: {}", ran.stderr);
    ran.records().iter().map(|record| record[name].clone()).collect()
}

#[test]
fn names_are_given_whole_with_stars_and_as_regular_expressions() {
    let named = |name: &str| column(&["frames", name], "name");
    assert_eq!(named("checking"), ["Checking"]);
    assert_eq!(named("*ing"), ["Checking", "Draft_sewing", "Happening", "Repairing", "Roaming"]);
    assert_eq!(named("~^R"), ["Repairing", "Roaming"]);
    assert_eq!(named("frame~^R"), named("frame=R*"));
    assert_eq!(column(&["frames"], "name").len(), 6);
}

#[test]
fn frames_are_found_by_their_lexical_units() {
    assert_eq!(column(&["frames", "--lu", "cycle.v"], "name"), ["Roaming"]);
    assert_eq!(
        column(&["frames", "--lu", "~^(check|approve)"], "name"),
        ["Checking", "Giving_leave"]
    );
}

#[test]
fn lexical_units_are_listed_by_name_and_frame() {
    let names = column(&["lus", "look", "over.v"], "name");
    assert_eq!(names, ["look over.v"]);
    assert_eq!(column(&["lus", "c*", "--frame", "Check*"], "id"), [1001, 1007]);
    let ran = fnstore(&["lus", "--frame", "Checking"]);
    assert!(!ran.stdout.contains("proof.v"), "{}", ran.stdout);
    assert!(ran.stderr.contains("1 of status Problem left out"), "{}", ran.stderr);
    let all = fnstore(&["lus", "--frame", "Checking", "--include-status", "Problem"]);
    assert!(all.stdout.contains("proof.v") && all.stderr.is_empty(), "{}", all.stderr);
    // Who names it, wants it.
    assert_eq!(column(&["lus", "proof.v"], "status"), ["Problem"]);
}

#[test]
fn an_lu_without_exemplars_is_told_how_its_full_text_is_counted() {
    let ran = fnstore(&["valence", "stitch.v"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("`--over origin=fulltext`"), "{}", ran.stderr);
    let ran = fnstore(&["valence", "stitch.v", "--over", "origin=imported"]);
    assert_eq!(ran.stderr, "nothing found\n");
}

#[test]
fn annotation_of_lexical_units_is_counted_and_what_the_release_states_is_a_claim() {
    let origins = ["exemplar", "fulltext", "imported", "user", "generated", "predicted"];
    for name in ["stitch.v", "check.v", "inspect.v"] {
        let frames = column(&["lus", name], "frame");
        for origin in origins {
            // A frame may have two LUs of one name: the query finds the sets of both.
            let mut counted: BTreeMap<&str, u64> = BTreeMap::new();
            for (frame, count) in frames.iter().zip(column(&["lus", name], origin)) {
                *counted.entry(frame.as_str().unwrap()).or_default() += count.as_u64().unwrap();
            }
            for (frame, counted) in counted {
                let query = format!("lu={name} frame={frame} origin={origin}");
                let found = fnstore(&["query", &query, "--count"]).stdout;
                assert_eq!(found.trim(), counted.to_string(), "{query}");
            }
        }
    }
    assert_eq!(column(&["lus", "stitch.v"], "claimed_annotated"), [0]);
    assert_eq!(column(&["lus", "stitch.v"], "fulltext"), [1]);
    // The same names in every format.
    let header = |format: &str| {
        let ran = fnstore(&["lus", "stitch.v", "--format", format]);
        ran.stdout.lines().next().unwrap().to_owned()
    };
    let columns = "release,id,name,frame,pos,status,exemplar,fulltext,imported,user,generated,predicted,carried";
    assert_eq!(header("csv"), format!("{columns},claimed_annotated"));
    let table: Vec<String> = header("table").split_whitespace().map(str::to_owned).collect();
    assert_eq!(table.join(","), columns);
}

#[test]
fn frame_elements_are_listed_with_their_types() {
    assert_eq!(column(&["fes", "time", "--frame", "Checking"], "core_type"), ["Extra-Thematic"]);
    let types = column(&["fes", "Instrument"], "sem_types");
    assert_eq!(types, [json!(["Physical_entity", "Tool"])]);
}

#[test]
fn relations_are_listed_by_frame_and_type() {
    assert_eq!(column(&["relations", "Giving_leave"], "kind"), ["Using", "Precedes"]);
    let pairs = ["relations", "--kind", "Using", "--fes"];
    assert_eq!(column(&pairs, "parent_fe"), ["Checker", "Matter"]);
    assert_eq!(column(&pairs, "child_fe"), ["Judge", "Plan"]);
    let kinds = fnstore(&["relations", "--kinds", "--format", "csv"]).stdout;
    assert_eq!(
        kinds,
        "release,kind,super_role,sub_role,relations\n\
         mini-framenet,Inheritance,Parent,Child,3\n\
         mini-framenet,Precedes,Earlier,Later,1\n\
         mini-framenet,See_also,MainEntry,ReferringEntry,1\n\
         mini-framenet,Using,Parent,Child,1\n"
    );
}

#[test]
fn a_tree_of_frames_grows_from_its_roots_or_both_ways_from_a_frame() {
    let tree = |arguments: &[&str]| fnstore(&[&["relations", "--tree"], arguments].concat()).stdout;
    assert_eq!(tree(&[]), "Happening\n|-- Checking\n|-- Repairing\n`-- Roaming\n");
    assert_eq!(
        tree(&["Checking", "--fes"]),
        "Checking  (above)\n`-- Happening\n        Time=Time\nChecking  (nothing below)\n"
    );
    assert_eq!(tree(&["--kind", "Using"]), "Checking\n`-- Giving_leave\n");
    let rows = tree(&["--kind", "Using", "--format", "tsv"]);
    assert!(
        rows.ends_with("Using\tbelow\t1\tGiving_leave\tChecking\tChecker=Judge; Matter=Plan\n"),
        "{rows}"
    );
}

#[test]
fn semantic_types_are_listed_with_what_has_them() {
    assert_eq!(column(&["semtypes", "Sentient"], "fes"), [4]);
    assert_eq!(column(&["semtypes", "deliberate*"], "lus"), [1]);
    let tree = fnstore(&["semtypes", "--tree"]).stdout;
    assert!(tree.starts_with("Physical_entity\n|-- Sentient\n`-- Tool\nManner\n"), "{tree}");
    let both_ways = fnstore(&["semtypes", "--tree", "Tool"]).stdout;
    assert_eq!(both_ways, "Tool  (above)\n`-- Physical_entity\nTool  (nothing below)\n");
}

#[test]
fn the_types_that_relations_hand_on_are_listed() {
    let store = tempfile::tempdir().unwrap();
    let release = store.path().join("release");
    crate::mini::copy(&mini_framenet(), &release);
    let path = release.join("frRelation.xml");
    let text = std::fs::read_to_string(&path).unwrap();
    // Checker (Sentient) onto Plan, which has no type, and onto Time, which has another.
    let pair = "subID=\"2302\" supID=\"2002\" subFEName=\"Plan\" superFEName=\"Matter\" ID=\"505\"";
    let other = "subID=\"2302\" supID=\"2001\" subFEName=\"Plan\" superFEName=\"Checker\" ID=\"505\"/>\n\
                 <FERelation subID=\"2303\" supID=\"2001\" subFEName=\"Time\" superFEName=\"Checker\" ID=\"509\"";
    assert!(text.contains(pair));
    std::fs::write(&path, text.replace(pair, other)).unwrap();
    let dir = store.path().join("store");
    assert_eq!(fnstore_in(&dir, &["import", release.to_str().unwrap()]).code, Some(0));
    let records = fnstore_in(&dir, &["semtypes", "--propagate"]).records();
    for record in &records {
        assert_eq!(faults_in("propagation.schema.json", record), [""; 0]);
    }
    let derived: Vec<&Value> =
        records.iter().filter(|record| record["outcome"] == "derived").collect();
    assert!(derived.iter().any(|record| {
        record["fe"] == "Plan"
            && record["sem_types"] == json!(["Sentient"])
            && record["distance"] == 1
    }));
    let fault = records.iter().find(|record| record["outcome"] == "contradiction").unwrap();
    assert_eq!((&fault["fe"], &fault["parent_fe"]), (&json!("Time"), &json!("Checker")));
    assert_eq!(fault["unmet"], json!(["Sentient"]));
}

#[test]
fn valence_is_framenets_own_or_counted() {
    let own = fnstore(&["valence", "lu=inspect.v"]).stdout;
    assert!(own.contains("             2  Checker.CNI\n"), "{own}");
    let counted = fnstore(&["valence", "check.v", "--over", "origin=fulltext", "--sets"]).stdout;
    assert!(counted.contains("  Checker.NP.Ext  Manner.AVP.Dep  Matter.NP.Obj\n"), "{counted}");
    assert!(counted.contains("                  f8013\n"), "{counted}");
    let rows = fnstore(&["valence", "inspect.v", "--format", "csv"]).stdout;
    assert!(rows.contains(",group,Checker; Matter,2,Checker.NP.Ext; Matter.NP.Obj,1,\n"), "{rows}");
    let without_sets = column(&["valence", "inspect.v", "--format", "jsonl"], "realizations");
    assert_eq!(without_sets[0][0]["patterns"][0].get("sets"), None);
}

#[test]
fn valence_of_many_units_can_be_limited() {
    let some = fnstore(&["valence", "*", "--limit", "2", "--format", "jsonl"]);
    assert_eq!((some.code, some.records().len()), (Some(0), 2));
    assert!(some.stderr.contains("showing the first 2; there are more"), "{}", some.stderr);
    let all = fnstore(&["valence", "*", "--format", "jsonl"]);
    assert!(all.records().len() > 2 && !all.stderr.contains("showing"), "{}", all.stderr);
}

#[test]
fn exemplars_counted_again_give_framenets_tables() {
    let total = |arguments: &[&str]| {
        let records =
            column(&[&["valence", "inspect.v", "--format", "jsonl"], arguments].concat(), "groups");
        let groups = records[0].as_array().unwrap().clone();
        groups
            .iter()
            .map(|group| (group["elements"].clone(), group["total"].clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(total(&[]), total(&["--over", "origin=exemplar"]));
}

#[test]
fn coverage_counts_lexical_units_without_exemplars() {
    let rows = fnstore(&["stats"]).records();
    let all = rows.iter().find(|row| row["group"] == "all").unwrap();
    assert_eq!((&all["lus"], &all["without_exemplars"]), (&json!(16), &json!(3)));
    assert_eq!((&all["exemplar"], &all["fulltext"]), (&json!(34), &json!(8)));
    let by_pos: u64 = rows
        .iter()
        .filter(|row| row["group"] == "pos")
        .map(|row| row["without_exemplars"].as_u64().unwrap())
        .sum();
    assert_eq!(by_pos, 3);
    let status = rows.iter().find(|row| row["value"] == "UNANN").unwrap();
    assert_eq!((&status["lus"], &status["fulltext"]), (&Value::Null, &json!(1)));
    let with_problem = fnstore(&["stats", "--include-status", "problem"]).records();
    assert_eq!(with_problem[0]["lus"], 17);
    // The sets that are counted by status are those of the LUs that are counted.
    for rows in [rows, with_problem] {
        let sum = |group: &str| -> u64 {
            let of_group = rows.iter().filter(|row| row["group"] == group);
            of_group.map(|row| row["exemplar"].as_u64().unwrap()).sum()
        };
        assert_eq!(sum("set-status"), sum("all"));
    }
}

#[test]
fn proposed_lexical_units_are_counted_apart() {
    let store = new_store();
    let counted = |arguments: &[&str], group: &str| -> Vec<(Value, Value)> {
        let rows = fnstore_in(store.path(), arguments).records();
        let rows = rows.iter().filter(|row| group.is_empty() || row["group"] == group);
        rows.map(|row| {
            let lus = if row["lus"].is_null() { &row["lexunits"] } else { &row["lus"] };
            (lus.clone(), row["proposed"].clone())
        })
        .collect()
    };
    let shown = || {
        [
            counted(&["frames", "Checking"], ""),
            counted(&["releases"], ""),
            counted(&["stats"], "all"),
        ]
        .concat()
    };
    let zero = |counts: [u64; 3]| counts.map(|count| (json!(count), json!(0))).to_vec();
    let before = shown();
    assert_eq!(before, zero([8, 17, 16]));
    let database = Database::open_existing_writer(store.path()).unwrap();
    let release = database.release("mini-framenet").unwrap().id;
    generated::write(&database, release);
    drop(database);
    let with_proposal: Vec<_> = before.iter().map(|(lus, _)| (lus.clone(), json!(1))).collect();
    assert_eq!(shown(), with_proposal);
    let rows = fnstore_in(store.path(), &["stats"]).records();
    let proposed = rows.iter().find(|row| row["value"] == "Proposed").unwrap();
    assert_eq!([&proposed["lus"], &proposed["proposed"]], [&json!(0), &json!(1)]);
    assert_eq!(proposed["generated_only"], 0);
}

#[test]
fn a_test_that_a_listing_does_not_take_is_named_as_one() {
    for (arguments, message) in [
        (
            ["lus", "frame=Checking"],
            "`frame=Checking` is a test of `frame`; expected names, or tests of relations such as \
             `uses=Motion`; `--frame NAME` asks for one",
        ),
        (["frames", "lu=check.v"], "`--lu NAME` asks for one"),
        (["frames", "pos=v"], "`fnstore query` takes every test"),
        (["lus", "lu!=check.v"], "`lu!=check.v` is a test of `lu`"),
        (["lus", "release=again"], "`--release NAME` asks for one"),
        (["fes", "frame=Checking"], "expected a name; where the command has it, `--frame NAME`"),
        (["semtypes", "frame=Checking"], "is a test of `frame`; expected a name"),
    ] {
        let ran = fnstore(&arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{arguments:?}: {ran:?}");
        assert!(ran.stderr.contains(message), "{arguments:?}: {}", ran.stderr);
    }
    assert_eq!(fnstore(&["lus", "lu=check.v"]).code, Some(0));
    assert_eq!(fnstore(&["frames", "frame=Checking"]).code, Some(0));
}

#[test]
fn every_listing_has_every_format_and_a_limit() {
    for listing in ["frames", "lus", "fes", "relations", "semtypes", "stats"] {
        let some = |format: &str| {
            let ran = fnstore(&[listing, "--limit", "2", "--format", format]);
            assert_eq!(ran.code, Some(0), "{listing}: {}", ran.stderr);
            assert!(ran.stderr.contains("showing the first 2; there are more"), "{}", ran.stderr);
            ran.stdout
        };
        assert_eq!(some("jsonl").lines().count(), 2);
        let array: Value = serde_json::from_str(&some("json")).unwrap();
        assert_eq!(array.as_array().unwrap().len(), 2);
        for format in ["csv", "tsv", "table"] {
            assert_eq!(some(format).lines().count(), 3, "{listing} {format}");
        }
    }
}

#[test]
fn a_release_can_be_chosen() {
    let store = new_store();
    let release = mini_framenet();
    let again = ["import", release.to_str().unwrap(), "--release", "again"];
    assert_eq!(fnstore_in(store.path(), &again).code, Some(0));
    for listing in ["frames", "lus", "fes", "relations", "semtypes", "stats"] {
        let releases = |arguments: &[&str]| {
            let ran = fnstore_in(store.path(), &[&[listing], arguments].concat());
            let mut names: Vec<String> = ran
                .records()
                .iter()
                .map(|record| record["release"].as_str().unwrap().to_owned())
                .collect();
            names.dedup();
            names
        };
        assert_eq!(releases(&[]), ["mini-framenet", "again"]);
        assert_eq!(releases(&["--release", "again"]), ["again"]);
    }
    let shown =
        fnstore_in(store.path(), &["show", "frame", "Checking", "--release", "again"]).stdout;
    assert!(shown.starts_with("Checking  frame 102  again\n"), "{shown}");
    assert_eq!(shown.matches("Core FEs").count(), 1);
}

#[test]
fn a_release_without_relations_stands_beside_one_that_has_some() {
    let store = new_store();
    let file = store.path().join("spans.jsonl");
    let line = r#"{"text": "A b", "spans": [{"start": 0, "end": 1, "type": "Letter"}]}"#;
    std::fs::write(&file, line).unwrap();
    let import = ["import", file.to_str().unwrap(), "--spans", "--release", "letters"];
    let ran = fnstore_in(store.path(), &import);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let tree = fnstore_in(store.path(), &["relations", "--tree", "--kind", "Using"]);
    assert_eq!(tree.stdout, "Checking\n`-- Giving_leave\n", "{}", tree.stderr);
    let none = fnstore_in(store.path(), &["relations", "--tree", "--release", "letters"]);
    assert_eq!((none.code, none.stdout.as_str()), (Some(1), ""), "{}", none.stderr);
    let frames = fnstore_in(store.path(), &["frames", "--release", "letters"]).records();
    assert_eq!((frames.len(), &frames[0]["name"]), (1, &json!("Letter")));
    let rows = fnstore_in(store.path(), &["stats", "--release", "letters"]).records();
    assert_eq!((&rows[0]["lus"], &rows[0]["imported"]), (&json!(1), &json!(1)));
}

#[test]
fn a_name_that_nothing_has_is_an_error_with_the_nearest_one() {
    for (arguments, message) in [
        (vec!["frames", "Cheking"], "there is no frame `Cheking`; did you mean `Checking`?"),
        (vec!["frames", "--lu", "chek.v"], "did you mean `check.v`?"),
        (vec!["lus", "inspct.v"], "there is no lexical unit `inspct.v`; did you mean `inspect.v`?"),
        (vec!["lus", "--frame", "Roming"], "did you mean `Roaming`?"),
        (vec!["fes", "Checkr"], "there is no frame element `Checkr`; did you mean `Checker`?"),
        (vec!["fes", "--frame", "Roming"], "did you mean `Roaming`?"),
        (vec!["relations", "Hapening"], "did you mean `Happening`?"),
        (vec!["relations", "--kind", "Usng"], "no type of relation `Usng`; did you mean `Using`?"),
        (vec!["relations", "--kind", "zzz"], "that `fnstore relations --kinds` lists"),
        (
            vec!["semtypes", "Sentent"],
            "there is no semantic type `Sentent`; did you mean `Sentient`?",
        ),
        (vec!["valence", "lu=inspct.v"], "did you mean `inspect.v`?"),
        (
            vec!["show", "document", "BikeRid"],
            "there is no document `BikeRid`; did you mean `BikeRide`?",
        ),
        (vec!["stats", "--release", "mini-framene"], "did you mean `mini-framenet`?"),
        (vec!["frames", "~("], "`(` is no regular expression"),
        (vec!["valence", "check.v", "--over", "orgin=fulltext"], "did you mean `origin`?"),
        (vec!["valence"], "required"),
        (vec!["relations", "--tree", "--limit", "2"], "cannot be used with"),
    ] {
        let ran = fnstore(&arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(ran.stderr.contains(message), "{arguments:?}: {}", ran.stderr);
    }
}

#[test]
fn a_pattern_that_matches_nothing_finds_nothing() {
    for arguments in [
        vec!["frames", "zz*"],
        vec!["frames", "Checking", "--lu", "wander.v"],
        vec!["lus", "~^zz"],
        vec!["fes", "zz*"],
        vec!["relations", "zz*"],
        vec!["relations", "--tree", "Draft_sewing"],
        vec!["semtypes", "zz*"],
        vec!["valence", "zz*"],
        vec!["valence", "look over.v", "--over", "origin=generated"],
        vec!["show", "frame", "zz*"],
        vec!["show", "lu", "zz*"],
        vec!["show", "document", "zz*"],
    ] {
        let ran = fnstore(&arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("nothing found"), "{}", ran.stderr);
    }
}

#[test]
fn a_document_is_shown_with_its_sentences() {
    let ran = fnstore(&["show", "document", "BikeRide"]);
    assert!(
        ran.stdout.starts_with("BikeRide  document 402  MINI (MINI__BikeRide)  mini-framenet\n")
    );
    assert!(ran.stdout.contains("\n  f6005  1 set\n      The older the bike"), "{}", ran.stdout);
    let by_file = fnstore(&["show", "document", "mini__b*"]);
    assert_eq!(by_file.stdout, ran.stdout);
}
