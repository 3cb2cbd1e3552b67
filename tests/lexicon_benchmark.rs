//! `fnstore eval lexicon`: it hides LUs, has systems look for them in a store that lacks them, and
//! measures what others propose in the same way.
//!
//! The verifier is the tiny Llama of `verifier_answers`: what it says means nothing.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::cli_program::{Ran, fnstore_in, mini_framenet, new_store};
use crate::discoveries::Fixture;

/// A store with a WordNet and models, and a work directory.
pub(crate) struct Benchmark {
    fixture: Fixture,
    work: tempfile::TempDir,
}

impl Benchmark {
    pub(crate) fn new() -> Self {
        let benchmark = Self::of(Fixture::new());
        let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/word-vectors");
        let place = benchmark.fixture.models.path().join("word-vectors");
        std::fs::create_dir(&place).unwrap();
        copy(&vectors, &place);
        benchmark
    }

    fn of(fixture: Fixture) -> Self {
        Self { fixture, work: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn run(&self, more: &[&str]) -> Ran {
        let models = self.fixture.models.path().to_str().unwrap();
        let work = self.work.path().to_str().unwrap();
        let always = ["eval", "lexicon", "--work", work, "--models", models, "--device", "cpu"];
        self.fixture.run(&[&always[..], more].concat())
    }

    pub(crate) fn document(&self, more: &[&str]) -> Value {
        let ran = self.run(&[&["--format", "json"], more].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran.document("eval-lexicon.schema.json")
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.work.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.file(name), text).unwrap();
        self.file(name).to_str().unwrap().to_owned()
    }

    /// Frames and LUs of a list, without remarks.
    fn list(&self, name: &str) -> Vec<(String, String)> {
        let text = std::fs::read_to_string(self.file(name)).unwrap();
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let pair = |line: &str| {
            let mut columns = line.split('\t').map(str::to_owned);
            (columns.next().unwrap(), columns.next().unwrap())
        };
        lines.map(pair).collect()
    }
}

/// The frames and LUs of a store.
fn units(store: &Path) -> BTreeSet<(String, String)> {
    let lus =
        fnstore_in(store, &["lus", "--include-status", "Problem", "--format", "jsonl"]).records();
    let text = |of: &Value, field: &str| of[field].as_str().unwrap().to_owned();
    lus.iter().map(|lu| (text(lu, "frame"), text(lu, "name"))).collect()
}

fn row<'d>(document: &'d Value, system: &str) -> &'d Value {
    let rows = document["systems"].as_array().unwrap();
    rows.iter().find(|of| of["system"] == system).unwrap_or_else(|| panic!("{document:#}"))
}

const LEAST: [&str; 2] = ["--least", "3"];

#[test]
fn what_is_hidden_is_nowhere_in_what_systems_see() {
    let benchmark = Benchmark::new();
    let prepared = benchmark.run(&[&LEAST[..], &["--prepare"]].concat());
    assert_eq!((prepared.code, prepared.stdout.as_str()), (Some(0), ""), "{prepared:?}");
    assert!(prepared.stderr.contains("2 hidden LUs of 2 frames"), "{}", prepared.stderr);
    let hidden: BTreeSet<_> = benchmark.list("hidden/hidden.tsv").into_iter().collect();
    let visible: BTreeSet<_> = benchmark.list("hidden/visible.tsv").into_iter().collect();
    assert_eq!(hidden.len(), 2);
    assert!(hidden.is_disjoint(&visible), "{hidden:?}");
    let (all, seen) =
        (units(benchmark.fixture.store.path()), units(&benchmark.file("hidden/store")));
    assert_eq!(all.difference(&seen).cloned().collect::<BTreeSet<_>>(), hidden);
    let frames: BTreeSet<&String> = hidden.iter().map(|(frame, _)| frame).collect();
    let of_frames = seen.into_iter().filter(|(frame, _)| frames.contains(frame));
    assert_eq!(of_frames.collect::<BTreeSet<_>>(), visible);
    // Nor does a sentence show it.
    for (frame, lu) in &hidden {
        let query = format!("frame={frame} lu=\"{lu}\"");
        let in_store = ["query", &query, "--count"];
        assert_ne!(benchmark.fixture.run(&in_store).stdout.trim(), "0", "{query}");
        let seen = fnstore_in(&benchmark.file("hidden/store"), &in_store);
        assert!(seen.stdout.trim() == "0" || seen.code == Some(2), "{query}: {seen:?}");
    }
    // Nothing of them comes back.
    let place = benchmark.file("hidden/store");
    for commit in fnstore_in(&place, &["history", "--format", "jsonl"]).records() {
        assert_eq!(commit["undo"], false, "{commit}");
        let undone = fnstore_in(&place, &["undo", &commit["revision"].to_string()]);
        assert_ne!(undone.code, Some(0), "{undone:?}");
    }
    // The same questions are drawn in another directory, others by another seed.
    let other = Benchmark { fixture: benchmark.fixture, work: tempfile::tempdir().unwrap() };
    other.run(&[&LEAST[..], &["--prepare"]].concat());
    assert_eq!(other.list("hidden/hidden.tsv").into_iter().collect::<BTreeSet<_>>(), hidden);
    let reseeded = other.run(&[&LEAST[..], &["--seed", "1"]].concat());
    assert_eq!(reseeded.code, Some(2), "{reseeded:?}");
    assert!(reseeded.stderr.contains("has other questions"), "{}", reseeded.stderr);
}

#[test]
fn all_systems_are_measured_alike_and_a_run_resumes() {
    let benchmark = Benchmark::new();
    let all = benchmark.document(&LEAST);
    let names: Vec<&str> = all["systems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|of| of["system"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["vectors", "wordnet", "language-model", "discover"]);
    let hidden: BTreeSet<_> = benchmark.list("hidden/hidden.tsv").into_iter().collect();
    for name in names {
        let of = row(&all, name);
        assert_eq!((&of["frames"], &of["hidden"]), (&2.into(), &2.into()), "{of}");
        // Counted anew in the file of its proposals.
        let said = benchmark.list(&format!("hidden/{name}.tsv"));
        let found = said.iter().filter(|pair| hidden.contains(pair)).count();
        assert_eq!((&of["proposals"], &of["found"]), (&said.len().into(), &found.into()), "{of}");
        assert!(said.iter().any(|(frame, _)| frame == "Checking"), "{name}");
    }
    assert_eq!(row(&all, "wordnet")["found"], 1);
    assert_eq!(row(&all, "discover")["without"], serde_json::json!(["rewriter"]));
    assert_eq!(row(&all, "language-model")["without"], serde_json::json!([]));
    let count = |name: &str| row(&all, name)["proposals"].as_u64().unwrap();
    assert!(count("discover") >= count("wordnet"), "{all}");

    // A frame that is gone from a file is searched again, and the others are not.
    let place = benchmark.file("hidden/wordnet.tsv");
    let text = std::fs::read_to_string(&place).unwrap();
    let at = text.find("# searched\tRepairing").unwrap();
    let before = std::fs::read(benchmark.file("hidden/discover.tsv")).unwrap();
    std::fs::write(&place, text[..at].replace("survey.v", "kept.v")).unwrap();
    let again = benchmark.document(&LEAST);
    assert_eq!(again, all);
    assert_eq!(std::fs::read(benchmark.file("hidden/discover.tsv")).unwrap(), before);
    assert_eq!(std::fs::read_to_string(&place).unwrap(), text.replace("survey.v", "kept.v"));
    // Proposals that were made in another way are none of this system.
    let fewer = benchmark.run(&[&LEAST[..], &["--candidates", "2", "--frames", "1"]].concat());
    assert!(fewer.stderr.contains("vectors.tsv` was made in another way"), "{}", fewer.stderr);
    assert_ne!(fewer.code, Some(0));
    assert_eq!(std::fs::read_to_string(&place).unwrap(), text.replace("survey.v", "kept.v"));
    let first = benchmark.run(&[&LEAST[..], &["--frames", "1"]].concat());
    assert!(first.stdout.contains("`--frames` leaves out 1 frame"), "{}", first.stdout);
    std::fs::write(&place, text.replace("survey.v\t", "survey.v ")).unwrap();
    let broken = benchmark.run(&[&LEAST[..], &["--systems", "wordnet"]].concat());
    assert!(broken.stderr.contains("expected a name, a word and a score"), "{}", broken.stderr);
    assert_ne!(broken.code, Some(0));
}

#[test]
fn proposals_of_others_are_measured_without_what_a_frame_has() {
    let benchmark = Benchmark::new();
    benchmark.run(&[&LEAST[..], &["--prepare"]].concat());
    let hidden = benchmark.list("hidden/hidden.tsv");
    let visible = benchmark.list("hidden/visible.tsv");
    let mut lines = String::from("# mine\n");
    for (frame, lu) in &visible {
        lines += &format!("{frame}\t{lu}\t9\n");
    }
    for (frame, lu) in &hidden {
        lines += &format!("{frame}\t{}\t-1\n", lu.to_uppercase().replace(".V", ".v"));
    }
    let perfect = benchmark.write("perfect.tsv", &lines);
    // Ten others before one of them, and words for a frame that is not asked about.
    let mut later = String::new();
    for at in 0..10 {
        later += &format!("{}\tw{at}.n\t{at}\nRoaming\tw{at}.v\t1\n", hidden[0].0);
    }
    later += &format!("{}\t{}\t-1\n", hidden[0].0, hidden[0].1);
    let late = benchmark.write("late.tsv", &later);
    let given = ["--systems", "none", "--proposals", &perfect, "--proposals", &late];
    let document = benchmark.document(&[&LEAST[..], &given].concat());
    let figures = |of: &Value| {
        ["proposals", "found", "recall_at_10", "recall_at_50", "precision_at_10"]
            .map(|field| of[field].as_f64().unwrap())
    };
    assert_eq!(figures(row(&document, &perfect)), [2.0, 2.0, 1.0, 1.0, 1.0]);
    assert_eq!(figures(row(&document, &late)), [11.0, 1.0, 0.0, 0.5, 0.0]);
    assert_eq!(document["systems"].as_array().unwrap().len(), 2);
}

#[test]
fn wrong_proposals_are_refused_with_file_and_line_before_the_work() {
    let benchmark = Benchmark::new();
    for (lines, code, said) in [
        ("Chekcing\tvet.v\t1\n", 65, "E-missing: "),
        ("Checking\tvet.v\t1\n\nChecking\tVET.v\t2\n", 65, ":3: `lu` is `VET.v`, expected each LU"),
        ("Checking\tvet.v\n", 65, ":1: `number of columns` is `2`, expected 3"),
        ("Checking\tvet.v\thigh\n", 65, ":1: `score` is `high`, expected a number"),
        ("Checking\tvet\t1\n", 65, ":1: `lu` is `vet`"),
        ("# nothing\n", 65, "the list holds no line"),
    ] {
        let file = benchmark.write("wrong.tsv", lines);
        let ran = benchmark.run(&[&LEAST[..], &["--proposals", &file]].concat());
        assert_eq!(ran.code, Some(code), "{lines}: {ran:?}");
        assert!(ran.stderr.contains(said) && ran.stderr.contains("wrong.tsv"), "{}", ran.stderr);
        assert!(!benchmark.file("hidden").exists(), "{lines}");
    }
    let absent = benchmark.run(&["--proposals", "/nowhere/x.tsv"]);
    assert!(absent.code != Some(0) && absent.stderr.contains("/nowhere/x.tsv"), "{absent:?}");
    // For which part, where there are several, and a part that is not measured.
    let file = benchmark.write("right.tsv", "Checking\tvet.v\t1\n");
    let several = ["--parts", "hidden,scratch", "--proposals", &file];
    let several = benchmark.run(&several);
    assert!(several.stderr.contains("for which part is"), "{}", several.stderr);
    let other = format!("scratch={file}");
    let other = benchmark.run(&["--parts", "hidden", "--proposals", &other]);
    assert!(other.stderr.contains("add it to `--parts`"), "{}", other.stderr);
    let scratch = format!("scratch={file}");
    let given = ["--parts", "hidden,scratch", "--systems", "none", "--proposals", &scratch];
    let document = benchmark.document(&[&LEAST[..], &given].concat());
    assert_eq!(row(&document, &file)["part"], "scratch");
}

#[test]
fn what_a_later_release_adds_is_asked_for_in_a_store_without_it() {
    let benchmark = Benchmark::new();
    let later = benchmark.file("later-framenet");
    std::fs::create_dir(&later).unwrap();
    copy(&mini_framenet(), &later);
    let imported = benchmark.fixture.run(&["import", later.to_str().unwrap()]);
    assert_eq!(imported.code, Some(0), "{imported:?}");
    let given = ["--release", "mini-framenet", "--later", "later-framenet"];
    let ask = |parts: &str| {
        let more = ["--systems", "wordnet", "--parts", parts];
        benchmark.run(&[&given[..], &LEAST, &more, &["--format", "json"]].concat())
    };
    let same = ask("later");
    assert_eq!(same.code, Some(1), "{same:?}");
    assert!(same.stdout.contains("`later-framenet` adds no LU to a frame"), "{}", same.stdout);
    let edits = benchmark.write(
        "edits.jsonl",
        "{\"op\": \"add-lu\", \"frame\": \"Checking\", \"name\": \"vet.v\", \
         \"status\": \"Created\"}\n",
    );
    let edited = benchmark.fixture.run(&["edit", "--release", "later-framenet", &edits]);
    assert_eq!(edited.code, Some(0), "{edited:?}");
    let found = ask("later").document("eval-lexicon.schema.json");
    assert_eq!(benchmark.list("later/hidden.tsv"), [("Checking".into(), "vet.v".into())]);
    assert_eq!(
        (&row(&found, "wordnet")["hidden"], &row(&found, "wordnet")["found"]),
        (&1.into(), &1.into())
    );
    let releases = fnstore_in(&benchmark.file("later/store"), &["releases", "--format", "jsonl"]);
    assert!(!releases.stdout.contains("later-framenet"), "{}", releases.stdout);
    // By default both parts are measured; no other release is in the store of the first.
    let both = benchmark.run(&[&given[..], &LEAST, &["--prepare"]].concat());
    assert_eq!(both.code, Some(0), "{both:?}");
    let releases = fnstore_in(&benchmark.file("hidden/store"), &["releases", "--format", "jsonl"]);
    assert!(!releases.stdout.contains("later-framenet"), "{}", releases.stdout);
    let unnamed = benchmark.run(&[]);
    assert!(unnamed.stderr.contains("say which with `--release NAME`"), "{}", unnamed.stderr);
    let unknown = benchmark.run(&["--release", "mini-framenet", "--later", "fn9"]);
    assert!(unknown.code != Some(0) && unknown.stderr.contains("fn9"), "{unknown:?}");
}

fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let place = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            std::fs::create_dir(&place).unwrap();
            copy(&entry.path(), &place);
        } else {
            std::fs::copy(entry.path(), &place).unwrap();
        }
    }
}

#[test]
fn a_store_that_may_be_anybodys_is_left_alone() {
    let benchmark = Benchmark::new();
    std::fs::create_dir_all(benchmark.file("hidden/store")).unwrap();
    let kept = benchmark.write("hidden/store/kept", "mine");
    let ran = benchmark.run(&[&LEAST[..], &["--prepare"]].concat());
    assert_ne!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("without `hidden.tsv` beside it"), "{}", ran.stderr);
    assert_eq!(std::fs::read_to_string(kept).unwrap(), "mine");
}

#[test]
fn what_cannot_run_is_told_with_the_reason() {
    let benchmark = Benchmark::of(Fixture::without_wordnet(new_store()));
    let none = benchmark.run(&["--systems", "wordnet"]);
    assert_eq!(none.code, Some(1), "{none:?}");
    let why = "no frame has 10 LUs with exemplars (`--least`)";
    assert!(none.stdout.contains(why), "{}", none.stdout);
    let work = benchmark.work.path().to_str().unwrap();
    let empty = tempfile::tempdir().unwrap();
    let always = ["eval", "lexicon", "--work", work, "--models", empty.path().to_str().unwrap()];
    let bare = benchmark.fixture.run(&[&always[..], &LEAST, &["--format", "json"]].concat());
    let document = bare.document("eval-lexicon.schema.json");
    let whys: Vec<(String, String)> = document["left_out"]
        .as_array()
        .unwrap()
        .iter()
        .map(|of| {
            let system = of["system"].as_str().unwrap_or_default();
            (system.to_owned(), of["why"].as_str().unwrap().to_owned())
        })
        .collect();
    let why = |system: &str| &whys.iter().find(|of| of.0 == system).unwrap().1;
    assert!(why("wordnet").contains("no WordNet of the release's language"), "{whys:?}");
    assert!(why("discover").contains("verifier"), "{whys:?}");
    assert_eq!(why("language-model"), why("discover"));
    let nothing = benchmark.run(&["--prepare", "--parts", "hidden,later"]);
    assert_eq!(nothing.code, Some(1), "{nothing:?}");
    assert!(nothing.stderr.contains("names no release"), "{}", nothing.stderr);
    let scratch = benchmark.run(&["--parts", "scratch", "--systems", "discover"]);
    assert_eq!(scratch.code, Some(1), "{scratch:?}");
    assert!(scratch.stdout.contains("nothing leads to a word"), "{}", scratch.stdout);
    assert!(scratch.stderr.contains("3 hidden LUs of 1 frame"), "{}", scratch.stderr);
}
