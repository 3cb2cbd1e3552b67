//! Files as other tools write them, and texts in other scripts: each gives a right answer or an
//! error with a code.

use std::path::Path;

use serde_json::{Value, json};

use crate::cli_program::{Ran, fnstore_in, new_store};
use crate::mining::run;

const BRAT: &str = "T1\tcheck 4 11\tchecked\n";

const CONLL_2009: &str = "\
1\tAna\tana\t_\tNNP\t_\t_\t_\t2\t_\tSBJ\t_\t_\t_\tA0
2\tchecked\tcheck\t_\tVBD\t_\t_\t_\t0\t_\tROOT\t_\tY\tcheck.01\t_

";

const DOCCANO: &str =
    "{\"id\": 1, \"data\": \"Ana checked it .\", \"label\": [[4, 11, \"check\"]]}\n";

fn refused(store: &Path, arguments: &[&str], code: &str, says: &str) {
    let ran = fnstore_in(store, arguments);
    assert_eq!(ran.code, Some(65), "{arguments:?}: {}", ran.stderr);
    assert!(
        ran.stderr.contains(code) && ran.stderr.contains(says),
        "{arguments:?}: {}",
        ran.stderr
    );
}

#[test]
fn annotation_of_other_tools_is_refused_with_what_comes_in() {
    let (store, dir) = (new_store(), tempfile::tempdir().unwrap());
    let write = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (brat, conll) = (write("brat.ann", BRAT), write("conll.txt", CONLL_2009));
    let doccano = write("doccano.jsonl", DOCCANO);
    for file in [&brat, &conll] {
        let says = "expected a zip file";
        refused(store.path(), &["import", file, "--release", "r"], "E-no-release", says);
        let says = "other annotation comes in as JSON lines with spans";
        refused(store.path(), &["import", file, "--release", "r"], "hint", says);
        refused(store.path(), &["import", file, "--spans", "--release", "r"], "E-json", ":1:");
        refused(store.path(), &["edit", file], "E-syntax", "line 1");
        // A first line that names no column of articles is no line of names.
        let says = "expected cluster, article, text";
        refused(store.path(), &["mine", file], "E-columns", says);
        refused(store.path(), &["mine", "cluster", file], "E-columns", "article, date, text");
    }
    refused(store.path(), &["import", &doccano, "--release", "r"], "E-value", "`text`");
    refused(store.path(), &["edit", &doccano], "E-syntax", "`op`");
    refused(store.path(), &["mine", &doccano], "E-key", "`cluster`");
    refused(store.path(), &["align", "words", &doccano], "E-type", "line 1");
    let releases = fnstore_in(store.path(), &["releases", "--format", "jsonl"]);
    assert_eq!(releases.records().len(), 1, "{}", releases.stdout);
}

fn spans_of(texts: &[(&str, &str, [u32; 2], &str)]) -> String {
    let line = |&(id, text, [start, end], lemma): &(&str, &str, [u32; 2], &str)| {
        let span = json!({"start": start, "end": end, "type": "check", "lemma": lemma, "pos": "v"});
        json!({"id": id, "text": text, "spans": [span]}).to_string() + "\n"
    };
    texts.iter().map(line).collect()
}

/// Sentences that are written from right to left, with brackets and digits, and without spaces.
const SCRIPTS: [(&str, &str, [u32; 2], &str); 3] = [
    (
        "he",
        "\u{5d4}\u{5e4}\u{5e7}\u{5d9}\u{5d3} \u{5d1}\u{5d3}\u{5e7} \u{5d0}\u{5ea} ( 12 ) .",
        [6, 9],
        "\u{5d1}\u{5d3}\u{5e7}",
    ),
    (
        "ar",
        "\u{641}\u{62d}\u{635} \u{627}\u{644}\u{643}\u{627}\u{62a}\u{628} \u{ab} ABC 12 \u{bb} .",
        [0, 3],
        "\u{641}\u{62d}\u{635}",
    ),
    (
        "ja",
        "\u{4fc2}\u{54e1}\u{306f}\u{66f8}\u{985e}\u{3092}\u{70b9}\u{691c}\u{3057}\u{305f}\u{3002}",
        [6, 10],
        "\u{70b9}\u{691c}\u{3059}\u{308b}",
    ),
];

#[test]
fn other_scripts_are_found_and_come_back_from_xml_and_json_lines() {
    let (store, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let place = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(place("spans.jsonl"), spans_of(&SCRIPTS)).unwrap();
    let import = |from: &str, release: &str| {
        let ran = fnstore_in(store.path(), &["import", &place(from), "--release", release]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    };
    let sets = |query: &str| -> Vec<[Value; 4]> {
        let ran = fnstore_in(store.path(), &["query", query, "--format", "jsonl"]);
        let of = |record: &Value| {
            ["text", "trigger", "lu", "targets"].map(|field| record[field].clone())
        };
        let mut sets: Vec<_> = ran.records().iter().map(of).collect();
        sets.sort_by_key(|set| set[0].to_string());
        sets
    };
    import("spans.jsonl", "scripts");
    for (_, text, [start, end], lemma) in SCRIPTS {
        let trigger: String =
            text.chars().skip(start as usize).take((end - start) as usize).collect();
        let lu = format!("{lemma}.v");
        let expected = [json!(text), json!(trigger), json!(lu), json!([[start, end]])];
        for query in [format!("trigger={trigger}"), format!("lu={lu}"), format!("text=*{trigger}*")]
        {
            assert_eq!(sets(&query), std::slice::from_ref(&expected), "{query}");
        }
    }
    for (format, to) in [("jsonl", "again.jsonl"), ("framenet-xml", "xml")] {
        let ran =
            fnstore_in(store.path(), &["export", "release=scripts", "--to", format, &place(to)]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let release = format!("of-{format}");
        import(to, &release);
        assert_eq!(sets(&format!("release={release}")), sets("release=scripts"), "{format}");
    }
    let ran = fnstore_in(store.path(), &["check", "--deep"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stdout);
}

#[test]
fn a_part_of_speech_in_a_capital_is_the_same() {
    let store = tempfile::tempdir().unwrap();
    let file = store.path().join("spans.jsonl");
    let line = json!({"text": "The clerk checked the bill .", "spans":
        [{"start": 10, "end": 17, "type": "Inspecting", "lemma": "check", "pos": "V"}]});
    std::fs::write(&file, line.to_string()).unwrap();
    let store = store.path().join("store");
    let import = ["import", file.to_str().unwrap(), "--release", "r"];
    assert_eq!(fnstore_in(&store, &import).code, Some(0));
    let ran: Ran = fnstore_in(&store, &["query", "lu=check.v", "--format", "jsonl"]);
    assert_eq!(ran.records()[0]["trigger"], json!("checked"));
}

#[test]
fn sentences_end_after_no_and_ore_where_articles_are_mined() {
    let articles = "\
cluster\tarticle\tdate\ttext
c1\ta1\t2020-01-01\tThe board voted and the chairman said no. The workers left the old plant on Monday.
c1\ta2\t2020-01-01\tThe board voted and the chairman said no. The workers left the plant on Monday.
c1\ta3\t2020-01-01\tThe miners loaded the ore. The workers left the old plant on Monday evening.
";
    let ran = run(&["mine"], articles);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let mut sentences: Vec<String> = Vec::new();
    for record in ran.records() {
        sentences.extend(["source", "target"].map(|side| record[side].as_str().unwrap().into()));
    }
    assert!(!sentences.is_empty() && sentences.iter().all(|text| !text.contains(". ")), "{ran:?}");
    assert!(sentences.contains(&"The workers left the plant on Monday.".to_owned()), "{ran:?}");
}
