//! `fnstore eval lexicon --swords`: what systems say in a word's place, measured on a file of
//! SWORDS.

use serde_json::{Value, json};

use crate::lexicon_benchmark::Benchmark;

/// Two targets in the form of SWORDS, with substitutes that ten people judged.
fn swords() -> Value {
    let votes = |count: usize| {
        let label = |at: usize| if at < count { "TRUE" } else { "FALSE" };
        // Who is unsure has no vote.
        (0..10).map(label).chain(["UNSURE"; 9]).collect::<Vec<_>>()
    };
    json!({
        "contexts": {
            "c:1": {"context": "It was sh\u{fb}t. They examined it\n\twith care. We left."},
            "c:2": {"context": "Goats roam there."},
        },
        "targets": {
            "t:1": {"context_id": "c:1", "target": "examined", "offset": 18, "pos": "VERB"},
            "t:2": {"context_id": "c:2", "target": "roam", "offset": 6, "pos": "VERB"},
        },
        "substitutes": {
            "s:1": {"target_id": "t:1", "substitute": "vet"},
            "s:2": {"target_id": "t:1", "substitute": "look at"},
            "s:3": {"target_id": "t:1", "substitute": "scrutinize"},
            "s:4": {"target_id": "t:2", "substitute": "ramble"},
        },
        "substitute_labels": {
            "s:1": votes(6), "s:2": votes(9), "s:3": votes(1), "s:4": votes(0),
        },
        "substitutes_lemmatized": true,
    })
}

fn figures(document: &Value, system: &str) -> [f64; 4] {
    let rows = document["substitutes"].as_array().unwrap();
    let row = rows.iter().find(|of| of["system"] == system);
    let row = row.unwrap_or_else(|| panic!("{document:#}"));
    ["acceptable_strict", "acceptable_lenient", "conceivable_strict", "conceivable_lenient"]
        .map(|field| row[field].as_f64().unwrap())
}

fn near(found: [f64; 4], expected: [f64; 4]) {
    let is_near =
        found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-9);
    assert!(is_near, "{found:?} is not {expected:?}");
}

#[test]
fn substitutes_are_measured_by_votes() {
    let benchmark = Benchmark::new();
    let file = benchmark.write("swords.json", &swords().to_string());
    // A form counts as its lemma; the target's own forms do not count; a low score stands last.
    let said = "t:1\tvetted\t2\nt:1\texamining\t9\nt:1\tsee\t1\nt:2\tramble\t-1\n";
    let mine = benchmark.write("mine.tsv", said);
    let given = ["--swords", &file, "--parts", "swords", "--proposals", &mine];
    let document = benchmark.document(&given);
    assert_eq!(document["systems"], json!([]));
    // Of three proposals (two of them judged) one is an answer; answers are 2 of 10, and 3.
    near(figures(&document, &mine), [2.0 / 5.0, 2.0 / 4.0, 2.0 / 6.0, 2.0 / 5.0]);
    // The small WordNet says `vet` and `scrutinize` first, and no more words than one can count.
    let wordnet = std::fs::read_to_string(benchmark.file("swords/wordnet.tsv")).unwrap();
    let words: Vec<&str> = wordnet.lines().filter_map(|line| line.split('\t').nth(1)).collect();
    assert!(words.contains(&"vet") && words.contains(&"scrutinize"), "{wordnet}");
    assert!(words.contains(&"ramble") && !words.contains(&"roam"), "{wordnet}");
    let lenient = figures(&document, "wordnet")[3];
    assert!((lenient - 2.0 * 2.0 / 6.0).abs() < 1e-9, "{document:#}");
    // No rewriter is at hand, and no frame is asked about.
    let whys: Vec<(&str, &str)> = document["left_out"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|of| of["part"] == "swords")
        .map(|of| (of["system"].as_str().unwrap(), of["why"].as_str().unwrap()))
        .collect();
    assert_eq!(whys[0], ("language-model", "no rewriter that is a language model of English"));
    assert_eq!(whys[1].0, "discover");
    // The same again reads what was found.
    let place = benchmark.file("swords/wordnet.tsv");
    std::fs::write(&place, wordnet.replace("t:2\tramble", "t:2\tsleep")).unwrap();
    let again = benchmark.document(&given);
    assert!(figures(&again, "wordnet")[3] > lenient, "{again:#}");
    // As a table of its own.
    let table = benchmark.run(&[&given[..], &["--format", "csv"]].concat());
    assert!(table.stdout.starts_with("system,targets,acceptable_strict,"), "{}", table.stdout);
}

#[test]
fn a_wrong_file_is_refused_before_the_work() {
    let benchmark = Benchmark::new();
    let wrong = |change: &dyn Fn(&mut Value)| {
        let mut of = swords();
        change(&mut of);
        of.to_string()
    };
    let cases = [
        ("{\"contexts\": {".to_owned(), "E-json: "),
        (wrong(&|of| of["targets"]["t:1"]["context_id"] = "c:9".into()), "`t:1` has no context"),
        (wrong(&|of| of["targets"]["t:1"]["offset"] = 7.into()), "`t:1` is not at its offset"),
        (wrong(&|of| of["targets"]["t:2"]["offset"] = 700.into()), "`t:2` is not at its offset"),
        (wrong(&|of| of["substitutes"]["s:1"]["target_id"] = "t:9".into()), "has no target"),
        (wrong(&|of| of["substitute_labels"]["s:1"] = json!([])), "`s:1` has no labels"),
    ];
    for (text, said) in cases {
        let file = benchmark.write("wrong.json", &text);
        let ran = benchmark.run(&["--swords", &file]);
        assert_eq!(ran.code, Some(65), "{text}: {ran:?}");
        assert!(ran.stderr.contains(said) && ran.stderr.contains("wrong.json:1"), "{}", ran.stderr);
        assert!(!benchmark.file("hidden").exists(), "{text}");
    }
    let file = benchmark.write("swords.json", &swords().to_string());
    let mine = benchmark.write("mine.tsv", "t:1\tvet\t1\nt:7\tvet\t1\n");
    let of = format!("swords={mine}");
    let ran = benchmark.run(&["--swords", &file, "--proposals", &of]);
    assert_eq!(ran.code, Some(65), "{ran:?}");
    assert!(ran.stderr.contains("mine.tsv:2: `target` is `t:7`"), "{}", ran.stderr);
    let unnamed = benchmark.run(&["--parts", "swords"]);
    assert!(unnamed.stderr.contains("name it with `--swords`"), "{}", unnamed.stderr);
    assert_ne!(unnamed.code, Some(0));
}
