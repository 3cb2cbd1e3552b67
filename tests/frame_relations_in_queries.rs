//! Relations of frames and overlaps of FEs in queries, listings and counts.

use crate::cli_program::fnstore;

fn printed(arguments: &[&str]) -> Vec<String> {
    let ran = fnstore(arguments);
    assert!(matches!(ran.code, Some(0 | 1)), "{arguments:?}: {ran:?}");
    ran.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn listings_take_tests_of_relations_beside_names() {
    for (arguments, names) in [
        (&["frames", "uses=Checking"][..], &["Giving_leave"][..]),
        (&["frames", "inherits=Happening{distance=1}"], &["Checking", "Repairing", "Roaming"]),
        (&["frames", "related=Checking", "*ing"], &["Happening", "Repairing"]),
        (&["frames", "R*", "inherits!=Happening"], &[]),
        (&["lus", "uses=Checking"], &["86.v", "approve.v"]),
        (&["lus", "*e.v", "uses=Checking"], &["approve.v"]),
    ] {
        let listed = printed(&[arguments, &["--format", "csv"]].concat());
        let listed: Vec<&str> =
            listed.iter().skip(1).map(|line| line.split(',').nth(2).unwrap()).collect();
        assert_eq!(listed, names, "{arguments:?}");
    }
}

#[test]
fn wrong_tests_of_relations_are_refused_with_what_is_expected() {
    for (arguments, message) in [
        (&["query", "uses=Cheking"][..], "there is no frame `Cheking`; did you mean `Checking`?"),
        (&["lus", "uses=Cheking"], "there is no frame `Cheking`"),
        (&["query", "uses=Checking{distance}"], "found `}`, expected `=`, `<`, `<=`, `>` or `>=`"),
        (&["query", "uses=Checking{steps=1}"], "expected `distance` and a number"),
        (&["query", "uses=Checking{distance=-1}"], "expected a whole number of relations"),
        (&["query", "uses=Checking{distance=1"], "found the end, expected `}`"),
        (
            &["query", "fe!=Checker overlaps fe=Matter"],
            "expected `not` before a test of two labels",
        ),
        (&["query", "fe=Checker overlaps lu=check.v"], "expected a second label"),
        (&["query", "fe=Checker overlaps fe!=Matter"], "expected `=` or `~`"),
        (&["frames", "uses=Checking lu=check.v"], "field `lu` asks about annotation sets"),
    ] {
        let ran = fnstore(arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}: {ran:?}");
        assert!(ran.stderr.contains(message), "{arguments:?}: {ran:?}");
    }
}

#[test]
fn counts_by_several_fields_have_a_column_for_each() {
    let query = ["query", "frame=Roaming or frame=Giving_leave", "--count-by", "frame,lu"];
    let rows = printed(&[&query[..], &["--format", "csv"]].concat());
    assert_eq!(rows[0], "frame,lu,count");
    let by_lu = printed(&["query", "frame=Roaming", "--count-by", "lu", "--format", "csv"]);
    for row in &by_lu[1..] {
        assert!(rows.contains(&format!("Roaming,{row}")), "{row} of {rows:?}");
    }
    let lines = printed(&[&query[..], &["--format", "jsonl"]].concat());
    assert_eq!(lines.len(), rows.len() - 1);
    let first: serde_json::Value = serde_json::from_str(&lines[0]).unwrap();
    assert!(first["frame"].is_string() && first["lu"].is_string() && first["count"].is_u64());
    let wrong = fnstore(&["query", "--count-by", "frame,lo"]);
    assert!(wrong.stderr.contains("unknown field `lo` at column 7"), "{wrong:?}");
}

#[test]
fn an_lu_is_shown_by_number_and_by_frame() {
    for arguments in [
        &["show", "lu", "1007", "--format", "jsonl"][..],
        &["show", "lu=1007", "--frame", "Checking", "--format", "jsonl"],
    ] {
        let shown = printed(arguments);
        assert_eq!(shown.len(), 1, "{arguments:?}");
        let shown: serde_json::Value = serde_json::from_str(&shown[0]).unwrap();
        assert_eq!((&shown["id"], &shown["name"]), (&1007.into(), &"check.v".into()));
    }
    let both = printed(&["show", "lu", "check.v", "--format", "jsonl"]);
    assert_eq!(both.len(), 2);
    let elsewhere = ["show", "lu", "check.v", "--frame", "Roaming", "--format", "jsonl"];
    assert!(printed(&elsewhere).is_empty());
    let valences = ["valence", "1001", "--frame", "Checking", "--format", "jsonl"];
    assert_eq!(printed(&valences).len(), 1);
    for (arguments, message) in [
        (&["show", "lu", "99"][..], "there is no lexical unit `99`"),
        (&["show", "frame", "Checking", "--frame", "Checking"], "`--frame` narrows LUs alone"),
        (&["valence", "check.v", "--frame", "Cheking"], "there is no frame `Cheking`"),
    ] {
        let ran = fnstore(arguments);
        assert!(ran.code != Some(0) && ran.stderr.contains(message), "{arguments:?}: {ran:?}");
    }
}
