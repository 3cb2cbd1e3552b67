//! `fnstore attest`: sentences of a corpus for LUs that have none, asked about, labelled, written.
//!
//! The verifier is the tiny Llama of `verifier_answers`: what it says means nothing.

use std::ops::ControlFlow;
use std::path::Path;

use fnstore::database::Database;
use fnstore::discover::{AttestOptions, Attester, Corpus};
use fnstore::query::Expression;
use serde_json::{Value, json};

use crate::cli_program::{Ran, fnstore_in, new_store};
use crate::cli_schema::faults_in;
use crate::judged_expansion::verifier;
use crate::mini;
use crate::verifier_answers;

const CORPUS: &str = "They verified the lists twice before noon .\n\n\
    Nobody verifies such old claims there .\nThe old clerk will verify it all .\n\
    They verified the lists twice before noon .\n";

/// A store of the small lexicon, and models with a verifier that takes its sentences.
struct Fixture {
    store: tempfile::TempDir,
    models: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        let (store, models) = (new_store(), verifier());
        let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
        for name in ["fes", "aligner-encoder", "tagger"] {
            std::os::unix::fs::symlink(shipped.join(name), models.path().join(name)).unwrap();
        }
        Self { store, models }
    }

    fn file(&self, text: &str) -> String {
        let file = self.models.path().join("corpus.txt");
        std::fs::write(&file, text).unwrap();
        file.to_str().unwrap().to_owned()
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        fnstore_in(self.store.path(), arguments)
    }

    /// Looks into a corpus; every answer is good enough.
    fn attest(&self, text: &str, more: &[&str]) -> Ran {
        let (corpus, models) = (self.file(text), self.models.path().to_str().unwrap());
        let own = ["attest", &corpus, "--models", models, "--device", "cpu"];
        let least = ["--least", "0", "--format", "json"];
        let least = if more.contains(&"--least") { &least[2..] } else { &least[..] };
        self.run(&[&own, least, more].concat())
    }

    fn report(&self, text: &str, more: &[&str]) -> Value {
        let ran = self.attest(text, more);
        assert!(matches!(ran.code, Some(0 | 1)), "{ran:?}");
        let report = ran.document("attest.schema.json");
        let has_some = report["sentences"].as_u64() > Some(0);
        assert_eq!(ran.code, Some(i32::from(!has_some)), "{ran:?}");
        report
    }

    fn predicted(&self) -> Vec<Value> {
        self.run(&["query", "origin=predicted", "--format", "jsonl"]).records()
    }

    fn add_lu(&self, frame: &str, name: &str) {
        let file = self.models.path().join("edits.jsonl");
        let edit = json!({"op": "add-lu", "frame": frame, "name": name});
        std::fs::write(&file, edit.to_string()).unwrap();
        let ran = self.run(&["edit", file.to_str().unwrap()]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
}

#[test]
fn an_lu_without_sentences_gets_those_of_a_corpus_with_line_and_answer() {
    let fixture = Fixture::new();
    let report = fixture.report(CORPUS, &["lu=verify.v"]);
    let count = |name: &str| report[name].as_u64().unwrap();
    assert_eq!(["lexunits", "looked_at", "left", "in_corpus", "given"].map(count), [1, 1, 0, 1, 1]);
    assert_eq!(["sentences", "asked", "unlikely", "unread"].map(count), [3, 3, 0, 0]);
    let hits = fixture.predicted();
    let mut lines = Vec::new();
    for hit in &hits {
        assert_eq!(faults_in("hit.schema.json", hit), [""; 0], "{hit}");
        assert_eq!((&hit["frame"], &hit["lu"]), (&json!("Checking"), &json!("verify.v")));
        assert_eq!(hit["status"], json!("PREDICTED"));
        assert_eq!(hit["verification"]["evokes"], hit["frame_fit"], "no other judge: {hit}");
        let place = hit["document"].as_str().unwrap_or_default();
        lines.push((place.rsplit_once(':').unwrap().1.to_owned(), hit["trigger"].clone()));
    }
    lines.sort_by_key(|(line, _)| line.clone());
    let expected = [("1", "verified"), ("3", "verifies"), ("4", "verify")];
    assert_eq!(lines, expected.map(|(line, form)| (line.to_owned(), json!(form))));
    assert!(fixture.run(&["check", "--deep"]).code == Some(0));
    // What was asked is what `fnstore verify` asks.
    let models = fixture.models.path().to_str().unwrap();
    let verify = ["verify", "origin=predicted", "--models", models, "--device", "cpu"];
    let verified = fixture.run(&[&verify[..], &["--format", "json"]].concat());
    let verified = verified.document("verify.schema.json");
    assert_eq!((&verified["sets"], &verified["written"]), (&json!(3), &json!(0)));
}

#[test]
fn who_has_a_sentence_is_looked_for_no_more_and_gets_none_of_its_sisters() {
    let fixture = Fixture::new();
    assert_eq!(fixture.report(CORPUS, &[])["sentences"], json!(3));
    let again = fixture.report(CORPUS, &[]);
    assert_eq!((&again["sentences"], &again["in_corpus"]), (&json!(0), &json!(0)), "{again}");
    assert_eq!(fixture.predicted().len(), 3);
    let ran = fixture.attest(CORPUS, &["lu=verify.v"]);
    assert!(ran.code > Some(1) && ran.stderr.contains("`verify.v` has sentences"), "{ran:?}");
    for lacking in ["annotation", "exemplars"] {
        let generate = ["generate", "lu=verify.v", "--model", "none", "--lacking", lacking];
        let generated = fixture.run(&generate);
        assert!(generated.stderr.contains("N-attested"), "{generated:?}");
    }
    assert_eq!(fixture.run(&["query", "origin=generated", "--count"]).stdout, "0\n");
}

#[test]
fn what_an_lu_has_of_the_corpus_is_not_written_again() {
    let fixture = Fixture::new();
    let count = || fixture.run(&["query", "lu=stitch.v", "--count"]).stdout;
    assert_eq!(count(), "1\n");
    // The first is the one that it has, in full text.
    let text = "A torn sail was stitched by hand .\nThey stitched the sails there .\n";
    let options = ["lu=stitch.v", "--lacking", "exemplars"];
    let report = fixture.report(text, &options);
    assert_eq!((&report["asked"], &report["sentences"]), (&json!(1), &json!(1)), "{report}");
    assert_eq!(count(), "2\n");
    let again = fixture.attest(text, &options);
    assert!(again.code > Some(1) && again.stderr.contains("has sentences"), "{again:?}");
    assert_eq!(count(), "2\n");
}

#[test]
fn so_many_of_the_likeliest_are_kept_as_is_said() {
    let all = Fixture::new();
    all.report(CORPUS, &["lu=verify.v"]);
    let mut answers: Vec<f64> =
        all.predicted().iter().map(|hit| hit["verification"]["evokes"].as_f64().unwrap()).collect();
    answers.sort_by(|a, b| b.total_cmp(a));
    let best = Fixture::new();
    assert_eq!(best.report(CORPUS, &["lu=verify.v", "--keep", "1"])["asked"], json!(3));
    assert_eq!(best.predicted()[0]["verification"]["evokes"], json!(answers[0]));
    let few = Fixture::new();
    assert_eq!(few.report(CORPUS, &["lu=verify.v", "--candidates", "2"])["asked"], json!(2));
    let strict = Fixture::new();
    let none = strict.report(CORPUS, &["lu=verify.v", "--least", "1"]);
    assert_eq!((&none["unlikely"], &none["given"]), (&json!(3), &json!(0)));
    assert_eq!(strict.predicted(), Vec::<Value>::new());
}

#[test]
fn frame_elements_are_labelled_unless_they_are_left_out() {
    let layers = |fixture: &Fixture| {
        let out = fixture.models.path().join("out.jsonl");
        let ran =
            fixture.run(&["export", "origin=predicted", "--to", "jsonl", out.to_str().unwrap()]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let text = std::fs::read_to_string(&out).unwrap();
        let records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        records.filter(|of| of["kind"] == json!("set")).collect::<Vec<_>>()
    };
    let (labelled, plain) = (Fixture::new(), Fixture::new());
    labelled.report(CORPUS, &["lu=verify.v"]);
    plain.report(CORPUS, &["lu=verify.v", "--no-fes"]);
    let status =
        |sets: Vec<Value>| sets.iter().map(|of| of["fe_status"].clone()).collect::<Vec<_>>();
    assert_eq!(status(layers(&labelled)), [json!("carried"), json!("carried"), json!("carried")]);
    assert_eq!(status(layers(&plain)), [json!("unknown"), json!("unknown"), json!("unknown")]);
}

#[test]
fn names_and_other_parts_of_speech_are_passed_over() {
    let fixture = Fixture::new();
    fixture.add_lu("Checking", "vet.v");
    let text = "They read the old Vet Times there .\nThe vet came to our house .\n\
                They vetted the plan before noon .\n";
    let report = fixture.report(text, &["lu=vet.v"]);
    let counts = ["in_names", "of_other_pos", "sentences"].map(|name| report[name].clone());
    assert_eq!(counts, [json!(1), json!(1), json!(1)]);
    assert_eq!(fixture.predicted()[0]["trigger"], json!("vetted"));
}

#[test]
fn a_frame_model_leaves_out_unlikely_sentences_before_the_verifier_is_asked() {
    let mut fixture = Fixture::new();
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/frames");
    let alone = fixture.attest(CORPUS, &["lu=verify.v", "--least", "1"]);
    assert!(alone.stderr.contains("the verifier alone decides"), "{alone:?}");
    std::os::unix::fs::symlink(shipped, fixture.models.path().join("frames")).unwrap();
    // The shipped model knows no frame of this name: the verifier decides.
    let unknown = fixture.report(CORPUS, &["lu=verify.v"]);
    let counts = ["unfit", "without_fit", "sentences"].map(|name| unknown[name].clone());
    assert_eq!(counts, [json!(0), json!(3), json!(3)], "{unknown}");
    // It knows this one, which has nothing to do with checking.
    let dir = tempfile::tempdir().unwrap();
    let release = dir.path().join("release");
    mini::renamed_frame(&release, ["Checking", "Ingestion"]);
    fixture.store = tempfile::tempdir().unwrap();
    assert_eq!(fixture.run(&["import", release.to_str().unwrap()]).code, Some(0));
    let known = fixture.report(CORPUS, &["lu=verify.v", "--least", "0.5"]);
    let counts = ["unfit", "without_fit", "asked"].map(|name| known[name].clone());
    assert_eq!(counts, [json!(3), json!(0), json!(0)], "{known}");
    assert_eq!(fixture.predicted(), Vec::<Value>::new());
    let any = fixture.report(CORPUS, &["lu=verify.v", "--least", "0"]);
    assert_eq!((&any["unfit"], &any["sentences"]), (&json!(0), &json!(3)), "{any}");
    for hit in fixture.predicted() {
        assert!(hit["frame_fit"].as_f64().unwrap() < 0.5, "the frame model's answer: {hit}");
        assert_ne!(hit["verification"]["evokes"], hit["frame_fit"], "{hit}");
    }
}

#[test]
fn one_sentence_may_show_two_lus_and_goes_out_and_back_with_both() {
    let fixture = Fixture::new();
    fixture.add_lu("Repairing", "fix.v");
    let text = "They verified the lists and fixed the boats .\n";
    assert_eq!(fixture.report(text, &[])["sentences"], json!(2));
    let hits = fixture.predicted();
    assert_eq!((hits.len(), &hits[0]["sentence"]), (2, &hits[1]["sentence"]));
    let lines = fixture.models.path().join("all.jsonl");
    let ran = fixture.run(&["export", "--to", "jsonl", lines.to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let other = tempfile::tempdir().unwrap();
    let ran = fnstore_in(other.path(), &["import", lines.to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let there = fnstore_in(other.path(), &["query", "origin=predicted", "--format", "jsonl"]);
    assert_eq!(there.records(), hits);
    let xml = fixture.models.path().join("xml");
    let ran = fixture.run(&["export", "--to", "framenet-xml", xml.to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn what_was_written_can_be_taken_back() {
    let fixture = Fixture::new();
    fixture.report(CORPUS, &["lu=verify.v"]);
    let commits = fixture.run(&["history"]).records();
    let last = commits.iter().map(|of| of["revision"].as_u64().unwrap()).max().unwrap();
    let ran = fixture.run(&["undo", &last.to_string()]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(fixture.predicted(), Vec::<Value>::new());
    assert_eq!(fixture.run(&["check", "--deep"]).code, Some(0));
    assert_eq!(fixture.report(CORPUS, &["lu=verify.v"])["sentences"], json!(3));
}

#[test]
fn a_run_that_is_stopped_keeps_what_it_wrote_and_the_next_goes_on() {
    let fixture = Fixture::new();
    fixture.add_lu("Repairing", "fix.v");
    let text = format!("{CORPUS}\nThey fixed the boats before noon .\n");
    let corpus = Corpus::open(fixture.file(&text).as_ref()).unwrap();
    let database = Database::open_existing_writer(fixture.store.path()).unwrap();
    let options = AttestOptions { least: 0.0, ..AttestOptions::default() };
    let run = |most: u64| {
        let models = (verifier_answers::open(fixture.models.path()), None);
        let mut attester = Attester::new(&database, &corpus, models, options);
        let report = attester.run(&Expression::Everything, &mut |at| match at.sentences < most {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        });
        report.unwrap()
    };
    let first = run(1);
    assert!(first.interrupted && first.sentences == 3 && first.left > 0, "{first:?}");
    let stopped = run(0);
    assert!(stopped.interrupted && stopped.sentences == 0, "{stopped:?}");
    let rest = run(u64::MAX);
    assert!(!rest.interrupted && rest.sentences == 1 && rest.left == 0, "{rest:?}");
}

#[test]
fn so_many_lus_get_sentences_as_is_said() {
    let fixture = Fixture::new();
    fixture.add_lu("Repairing", "fix.v");
    let text = format!("{CORPUS}\nThey fixed the boats before noon .\n");
    let first = fixture.report(&text, &["--limit", "1"]);
    assert_eq!((&first["in_corpus"], &first["sentences"]), (&json!(1), &json!(3)), "{first}");
    assert!(first["left"].as_u64() > Some(0), "{first}");
    let second = fixture.report(&text, &["--limit", "1"]);
    assert_eq!((&second["in_corpus"], &second["sentences"]), (&json!(1), &json!(1)), "{second}");
}

#[test]
fn a_limit_does_not_count_lus_for_which_nothing_was_good_enough() {
    let fixture = Fixture::new();
    fixture.add_lu("Repairing", "fix.v");
    let text = format!("{CORPUS}\nThey fixed the boats before noon .\n");
    let strict = fixture.report(&text, &["--limit", "1", "--least", "1"]);
    let counts = ["in_corpus", "given", "left"].map(|name| strict[name].clone());
    assert_eq!(counts, [json!(2), json!(0), json!(0)], "{strict}");
    let all = fixture.report(&text, &["--limit", "2"]);
    assert_eq!((&all["in_corpus"], &all["given"]), (&json!(2), &json!(2)), "{all}");
}

#[test]
fn what_is_wrong_is_told_and_nothing_is_written() {
    let fixture = Fixture::new();
    let models = fixture.models.path().to_str().unwrap();
    let missing = fixture.run(&["attest", "nowhere.txt", "--models", models]);
    assert!(missing.code == Some(65) && missing.stderr.contains("V-corpus-file"), "{missing:?}");
    let line = fixture.attest("{\"words\": 1}\n", &[]);
    assert!(line.code == Some(65) && line.stderr.contains(":1: "), "{line:?}");
    for text in ["", "Too short .\n"] {
        let empty = fixture.attest(text, &[]);
        assert!(empty.code == Some(1) && empty.stderr.contains("no sentence"), "{empty:?}");
    }
    for (more, why) in [
        (&["release=none"][..], "none"),
        (&["frame=Cheking"], "Checking"),
        (&["lu=inspect.v"], "has sentences"),
        (&["fe=Checker"], "asks for annotation"),
        (&["lu=verify.v", "--verifier", "nothing"], "nothing"),
        (&["lu=verify.v", "--labeller", "nothing"], "nothing"),
        (&["--keep", "0"], "0"),
        (&["--candidates", "0"], "0"),
        (&["--limit", "0"], "0"),
        (&["--least", "nan"], "0 to 1"),
        (&["--lacking", "words"], "exemplars"),
        (&["--lacking", "nothing"], "exemplars"),
    ] {
        let ran = fixture.attest(CORPUS, more);
        assert!(ran.code > Some(1) && ran.stderr.contains(why), "{more:?}: {ran:?}");
    }
    std::fs::write(fixture.models.path().join("verifier/languages.json"), "[\"de\"]").unwrap();
    let ran = fixture.attest(CORPUS, &["lu=verify.v"]);
    assert!(ran.code > Some(1) && ran.stderr.contains("`de`"), "{ran:?}");
    assert_eq!(fixture.predicted(), Vec::<Value>::new());
}
