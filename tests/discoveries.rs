//! New LUs that a WordNet leads to: put into sentences, asked about, proposed, decided on.
//!
//! The verifier is the tiny Llama of `verifier_answers`: what it says means nothing.

use std::ops::ControlFlow;
use std::path::Path;

use fnstore::database::{Database, Write};
use fnstore::discover::{DiscoverOptions, Discoverer};
use fnstore::model::PROPOSED;
use serde_json::{Value, json};

use crate::cli_program::{Ran, fnstore_in, new_store};
use crate::cli_schema::faults_in;
use crate::{generated, verifier_answers};

/// A store with a WordNet, and models with a verifier that takes its sentences.
pub(crate) struct Fixture {
    pub(crate) store: tempfile::TempDir,
    pub(crate) models: tempfile::TempDir,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let fixture = Self::without_wordnet(new_store());
        fixture.with_wordnet()
    }

    fn with_wordnet(self) -> Self {
        let store = self.store.path();
        let wordnet = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/mini-wordnet");
        let imported = fnstore_in(store, &["import", wordnet.to_str().unwrap()]);
        assert_eq!(imported.code, Some(0), "{imported:?}");
        self
    }

    pub(crate) fn without_wordnet(store: tempfile::TempDir) -> Self {
        let models = verifier_answers::models();
        let answers = "answers = [\"y\", \"n\"]\n";
        let prompts = format!(
            "format = 1\n[evokes]\nlines = [\"{{sentence}}?{{word}}\"]\n{answers}\
             [same_meaning]\nlines = [\"{{sentence}}={{rewriting}}?\"]\n{answers}"
        );
        std::fs::write(models.path().join("verifier/prompt.toml"), prompts).unwrap();
        Self { store, models }
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        fnstore_in(self.store.path(), arguments)
    }

    fn search(&self, models: &Path, least: &str, more: &[&str]) -> Ran {
        let models = models.to_str().unwrap();
        let always = ["discover", "--models", models, "--device", "cpu", "--least", least];
        let format = ["--limit", "99", "--format", "json"];
        self.run(&[&always[..], &format, more].concat())
    }

    fn discover(&self, more: &[&str]) -> Value {
        self.discover_with(self.models.path(), more)
    }

    fn discover_with(&self, models: &Path, more: &[&str]) -> Value {
        let ran = self.search(models, "0", more);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let found: Value = serde_json::from_str(&ran.stdout).unwrap();
        let found = found.as_array().map_or(found.clone(), |all| all[0].clone());
        let document = Ran { code: None, stdout: found.to_string(), stderr: String::new() };
        document.document("discover.schema.json")
    }

    /// Searches again, and finds nothing good enough.
    fn find_nothing(&self) {
        let ran = self.search(self.models.path(), "1", &["Checking", "--again"]);
        assert!(matches!(ran.code, Some(0 | 1)), "{ran:?}");
    }

    fn last_commit(&self) -> String {
        let commits = self.run(&["history"]).records();
        commits.iter().map(|of| of["revision"].as_u64().unwrap()).max().unwrap().to_string()
    }

    fn corpus(&self, text: &str) -> String {
        let corpus = self.models.path().join("corpus.txt");
        std::fs::write(&corpus, text).unwrap();
        corpus.to_str().unwrap().to_owned()
    }

    /// What becomes of a proposal.
    fn decide(&self, arguments: &[&str]) {
        let ran = self.run(&[&["proposals"], arguments, &["--reviewer", "kim"]].concat());
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }

    fn edit(&self, edit: &Value) {
        self.edit_all(std::slice::from_ref(edit));
    }

    fn edit_all(&self, edits: &[Value]) {
        let file = self.models.path().join("edits.jsonl");
        let lines: String = edits.iter().map(|edit| format!("{edit}\n")).collect();
        std::fs::write(&file, lines).unwrap();
        let ran = self.run(&["edit", file.to_str().unwrap()]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }

    fn is_sound(&self) {
        let ran = self.run(&["check", "--deep"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }

    /// A proposal of the frame, if there is one.
    fn proposal(&self, lu: &str) -> Option<Value> {
        let records = self.run(&["proposals", "frame=Checking"]).records();
        records.into_iter().find(|of| of["lu"] == lu)
    }

    fn proposals(&self) -> Vec<String> {
        let records = self.run(&["proposals", "frame=Checking"]).records();
        let mut names: Vec<String> =
            records.iter().map(|of| of["lu"].as_str().unwrap().to_owned()).collect();
        names.sort();
        names
    }

    fn status(&self, lu: &str) -> Option<String> {
        let records = self.run(&["lus", lu]).records();
        Some(records.first()?["status"].as_str()?.to_owned())
    }
}

fn names(found: &Value) -> Vec<String> {
    let words = found["found"].as_array().unwrap().iter();
    let mut names: Vec<String> = words.map(|of| of["lu"].as_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

/// The sentences of a word.
fn sentences(found: &Value, lu: &str) -> Vec<Value> {
    let mut words = found["found"].as_array().unwrap().iter();
    words.find(|of| of["lu"] == lu).unwrap()["sentences"].as_array().unwrap().clone()
}

#[test]
fn neighbours_of_a_frames_lus_stand_in_its_sentences_in_their_form() {
    let fixture = Fixture::new();
    let sets = || fixture.run(&["query", "", "--count"]).stdout;
    let before = sets();
    let found = fixture.discover(&["Checking"]);
    let names = names(&found);
    for new in ["vet.v", "scrutinize.v", "survey.v", "double-check.v", "scrutiny.n"] {
        assert!(names.iter().any(|name| name == new), "{new}: {names:?}");
    }
    // LUs of the frame, and words that nothing leads to.
    for other in ["check.v", "inspect.v", "inspection.n", "audit.v", "darn.v", "mouse.n"] {
        assert!(!names.iter().any(|name| name == other), "{other}: {names:?}");
    }
    for sentence in sentences(&found, "vet.v") {
        let (text, trigger) = (sentence["text"].as_str().unwrap(), sentence["trigger"].as_str());
        assert!(["vet", "vets", "vetted", "vetting", "Vet", "Vetting"].contains(&trigger.unwrap()));
        assert!(text.contains(trigger.unwrap()), "{text}");
        assert!(sentence["made_of"].as_str().unwrap().starts_with('x'), "{sentence}");
    }
    assert_eq!(sentences(&found, "vet.v").len(), 3);
    assert_eq!(sets(), before, "annotation was written");
    assert_eq!(fixture.proposals(), names);
    assert_eq!(fixture.run(&["check", "--deep"]).code, Some(0));
}

#[test]
fn a_frame_that_was_searched_is_not_asked_about_again() {
    let fixture = Fixture::new();
    let history = || fixture.run(&["history"]).records().len();
    let first = fixture.discover(&["Checking"]);
    let commits = history();
    let second = fixture.discover(&["Checking"]);
    assert_eq!((&first["was_searched"], &second["was_searched"]), (&false.into(), &true.into()));
    assert_eq!((&first["found"], history()), (&second["found"], commits));
    let third = fixture.discover(&["Checking", "--again", "--candidates", "2"]);
    assert_eq!((&third["asked"], names(&third)), (&4.into(), names(&first)), "the others stay");
    let fourth = fixture.discover(&["Checking", "--candidates", "2"]);
    assert_eq!((&fourth["was_searched"], &fourth["found"]), (&true.into(), &third["found"]));
    fixture.find_nothing();
    assert_eq!(fixture.proposals(), [""; 0], "what is found no more is proposed");
    fixture.is_sound();
}

#[test]
fn a_discovered_word_is_accepted_rejected_and_given_back() {
    let fixture = Fixture::new();
    let all = names(&fixture.discover(&["Checking"]));
    assert_eq!(fixture.status("vet.v").as_deref(), Some("Proposed"));
    let decide = |verb: &str| {
        let ran = fixture.run(&["proposals", verb, "Checking", "vet.v", "--reviewer", "kim"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
    };
    decide("accept");
    assert_eq!(fixture.status("vet.v").as_deref(), Some("Accepted"));
    assert!(!fixture.proposals().contains(&"vet.v".to_owned()));
    decide("undo");
    assert_eq!(fixture.proposals(), all);
    decide("reject");
    assert!(!fixture.proposals().contains(&"vet.v".to_owned()));
    let again = fixture.discover(&["Checking", "--again"]);
    assert!(!names(&again).contains(&"vet.v".to_owned()), "a rejected word is asked about");
    assert_eq!(fixture.run(&["check", "--deep"]).code, Some(0));
}

#[test]
fn sentences_of_a_corpus_come_first_with_their_place() {
    let fixture = Fixture::new();
    let corpus = fixture.models.path().join("corpus.txt");
    let lines = "The clerk vetted both lists .\nNothing of it here .\nHe met Anna Survey Smith .\n";
    std::fs::write(&corpus, lines).unwrap();
    let found = fixture.discover(&["Checking", "--corpus", corpus.to_str().unwrap()]);
    let [first, others @ ..] = &sentences(&found, "vet.v")[..] else { panic!("{found}") };
    assert_eq!(first["text"], "The clerk vetted both lists .");
    let place = first["place"].as_str().unwrap();
    assert!(place.ends_with("corpus.txt:1") && first["made_of"].is_null(), "{first}");
    assert_eq!(others.len(), 3, "sentences of a corpus take no place of the frame's own");
    let refused = found["refused"].as_array().unwrap();
    assert!(
        refused.iter().any(|of| of["lu"] == "survey.v" && of["reason"] == "part-of-a-name"),
        "{refused:?}"
    );
}

/// Texts of the sentences of a corpus that a word has.
fn attested(found: &[Value]) -> Vec<String> {
    let attested = found.iter().filter(|of| of["made_of"].is_null());
    attested.map(|of| of["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_lu_that_was_renamed_keeps_its_number_and_what_was_found() {
    let fixture = Fixture::new();
    fixture.discover(&["Checking"]);
    let lus = |name: &str| fixture.run(&["lus", name, "--frame", "Checking"]).records();
    let number = lus("vet.v")[0]["id"].clone();
    fixture
        .edit(&json!({"op": "edit-lu", "frame": "Checking", "lu": "vet.v", "name": "appraise.v"}));
    let renamed = fixture.proposal("appraise.v").expect("it is proposed under its new name");
    assert!(!renamed["discovered"]["sentences"].as_array().unwrap().is_empty());
    fixture.discover(&["Checking", "--again"]);
    let (vet, appraise) = (lus("vet.v"), lus("appraise.v"));
    assert_ne!(vet[0]["id"], number, "the number of another LU");
    assert_eq!(appraise[0]["id"], number, "{appraise:?}");
    fixture.is_sound();
}

#[test]
fn each_word_has_as_many_sentences_of_frame_and_corpus_as_are_asked_for() {
    let fixture = Fixture::new();
    let corpus =
        fixture.corpus("They vetted the plan .\n\nHe vetted all of it .\n\nShe vets them all .\n");
    let found = fixture.discover(&["Checking", "--corpus", &corpus, "--sentences", "1"]);
    let sentences = sentences(&found, "vet.v");
    assert_eq!((sentences.len(), attested(&sentences).len()), (2, 1), "{sentences:?}");
}

#[test]
fn a_word_that_was_moved_or_merged_is_proposed_no_more_until_that_is_taken_back() {
    let fixture = Fixture::new();
    let all = names(&fixture.discover(&["Checking"]));
    fixture.decide(&["merge", "Checking", "scrutinize.v", "--into", "inspect.v"]);
    fixture.decide(&["move", "Checking", "vet.v", "--to", "Repairing"]);
    let left = fixture.proposals();
    for gone in ["vet.v", "scrutinize.v"] {
        assert!(!left.contains(&gone.to_owned()), "{gone}: {left:?}");
    }
    // A second decision would have nothing to decide on.
    let again = fixture.run(&["proposals", "accept", "Checking", "vet.v", "--reviewer", "kim"]);
    assert_ne!(again.code, Some(0), "{again:?}");
    fixture.is_sound();
    fixture.decide(&["undo", "Checking", "vet.v"]);
    fixture.decide(&["undo", "Checking", "scrutinize.v"]);
    assert_eq!(fixture.proposals(), all);
    fixture.is_sound();
}

#[test]
fn what_was_found_comes_back_out_of_an_export() {
    let fixture = Fixture::new();
    let corpus = fixture.corpus("The clerk vetted both lists .\n");
    let first = fixture.discover(&["Checking", "--corpus", &corpus]);
    let file = fixture.models.path().join("all.jsonl");
    let ran = fixture.run(&["export", "--to", "jsonl", file.to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for line in
        std::fs::read_to_string(&file).unwrap().lines().filter(|of| of.contains("discovery"))
    {
        let record: Value = serde_json::from_str(line).unwrap();
        let kind = record["kind"].as_str().unwrap();
        assert_eq!(faults_in(&format!("jsonl-{kind}.schema.json"), &record), [""; 0]);
    }
    let other = tempfile::tempdir().unwrap();
    let ran = fnstore_in(other.path(), &["import", file.to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let other = Fixture { store: other, models: fixture.models }.with_wordnet();
    assert_eq!(other.proposals(), names(&first));
    let second = other.discover(&["Checking", "--corpus", &corpus]);
    assert_eq!((&second["was_searched"], &second["found"]), (&true.into(), &first["found"]));
    other.is_sound();
}

#[test]
fn without_wordnet_vectors_and_rewriter_a_search_says_so_and_goes_on() {
    let fixture = Fixture::without_wordnet(new_store());
    let models = fixture.models.path().to_str().unwrap();
    let ran = fixture.run(&["discover", "Checking", "--models", models, "--device", "cpu"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("without WordNet, word vectors, rewriter"), "{ran:?}");
}

#[test]
fn without_a_verifier_words_are_ranked_by_what_leads_to_them() {
    let fixture = Fixture::new();
    let none = tempfile::tempdir().unwrap();
    let models = none.path().to_str().unwrap();
    let ran = fixture.run(&["discover", "Checking", "--models", models, "--format", "json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("no verifier is asked"), "{ran:?}");
    let proposal = fixture.proposal("vet.v").expect("it is proposed");
    let found = &proposal["discovered"];
    assert!(found["evokes"].is_null() && found["sentences"][0]["evokes"].is_null(), "{found}");
}

#[test]
fn a_wordnet_of_another_language_leads_nowhere() {
    let store = tempfile::tempdir().unwrap();
    let framenet = crate::cli_program::mini_framenet();
    let import = ["import", framenet.to_str().unwrap(), "--language", "fr"];
    assert_eq!(fnstore_in(store.path(), &import).code, Some(0));
    let fixture = Fixture::without_wordnet(store).with_wordnet();
    let models = fixture.models.path().to_str().unwrap();
    let always = ["discover", "Checking", "--models", models, "--device", "cpu"];
    let ran = fixture.run(&[&always[..], &["--any-language"]].concat());
    assert!(ran.stderr.contains("without WordNet"), "{ran:?}");
    assert_eq!(fixture.proposals(), [""; 0]);
    // A verifier of another language is not asked, and is no error.
    std::fs::write(fixture.models.path().join("verifier/languages.json"), "[\"en\"]\n").unwrap();
    let ran = fixture.run(&always);
    assert!(ran.code == Some(1) && ran.stderr.contains("made for another language"), "{ran:?}");
}

#[test]
fn the_evidence_of_a_proposal_is_that_of_its_sets() {
    let fixture = Fixture::new();
    fixture.discover(&["Checking"]);
    let proposal = fixture.proposal("vet.v").unwrap();
    assert_eq!(proposal["sets"], 0);
    assert!(
        proposal["evokes"].is_null() && proposal["discovered"]["evokes"].is_f64(),
        "{proposal}"
    );
    let csv = fixture.run(&["proposals", "frame=Checking", "--format", "csv"]).stdout;
    let mut rows = csv.lines();
    let header = rows.next().unwrap();
    assert!(header.ends_with("found_score,found_evokes,found_as,found_sentences"), "{header}");
    let of_vet = rows.find(|row| row.contains(",vet.v,")).unwrap();
    assert!(of_vet.contains("of inspect.v") && of_vet.contains("vet"), "{of_vet}");
}

#[test]
fn a_later_search_keeps_what_somebody_wrote() {
    let fixture = Fixture::new();
    let corpus = fixture.corpus("The clerk vetted both lists .\n");
    fixture.discover(&["Checking", "--corpus", &corpus]);
    for later in [&["Checking", "--again"][..], &["Checking", "--again", "--candidates", "1"]] {
        fixture.discover(later);
        let proposal = fixture.proposal("vet.v").expect("somebody wrote it");
        let sentences = proposal["discovered"]["sentences"].as_array().unwrap();
        assert_eq!(attested(sentences), ["The clerk vetted both lists ."], "{later:?}");
    }
    fixture.decide(&["accept", "Checking", "vet.v"]);
    fixture.discover(&["Checking", "--again"]);
    let all = fixture.run(&["proposals", "frame=Checking", "--with-decided"]).records();
    let accepted = all.iter().find(|of| of["lu"] == "vet.v").expect("it was accepted");
    assert!(accepted["discovered"].is_object(), "{accepted}");
}

#[test]
fn a_search_that_is_told_again_leaves_out_what_was_decided_on() {
    let fixture = Fixture::new();
    let first = fixture.discover(&["Checking"]);
    let nearer = first["refused"].as_array().unwrap().iter().filter(|of| of["by"].is_string());
    let judged = names(&first).len() + nearer.count();
    assert_eq!(first["asked"], judged);
    fixture.decide(&["accept", "Checking", "vet.v"]);
    let mut rest = names(&first);
    rest.retain(|name| name != "vet.v");
    let second = fixture.discover(&["Checking"]);
    assert_eq!((&second["was_searched"], names(&second)), (&true.into(), rest));
}

#[test]
fn a_commit_that_proposed_words_is_taken_back() {
    let fixture = Fixture::new();
    fixture.discover(&["Checking"]);
    let ran = fixture.run(&["undo", &fixture.last_commit()]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(fixture.proposals(), [""; 0]);
    fixture.is_sound();
}

#[test]
fn a_score_that_is_no_number_is_refused() {
    let ran = Fixture::new().run(&["discover", "Checking", "--least", "nan"]);
    assert_ne!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("a number from 0 to 1"), "{ran:?}");
}

#[test]
fn an_lu_that_a_person_wrote_or_described_is_there_after_any_search() {
    let fixture = Fixture::new();
    let frame = "Checking";
    let (lu, status) = ("scrutinize.v", "Proposed");
    fixture.edit(&json!({"op": "add-lu", "frame": frame, "name": lu, "status": status}));
    let found = fixture.discover(&[frame]);
    assert!(names(&found).contains(&"scrutinize.v".to_owned()), "{found}");
    let (lu, definition) = ("vet.v", "COD: mine");
    fixture.edit(&json!({"op": "edit-lu", "frame": frame, "lu": lu, "definition": definition}));
    fixture.find_nothing();
    for lu in ["vet.v", "scrutinize.v"] {
        assert_eq!(fixture.status(lu).as_deref(), Some("Proposed"), "{lu}");
    }
    assert_eq!(fixture.status("survey.v"), None, "nobody touched it");
    fixture.is_sound();
}

#[test]
fn what_one_corpus_attests_no_other_takes_away() {
    let fixture = Fixture::new();
    let first = fixture.corpus("The clerk vetted both lists .\n");
    fixture.discover(&["Checking", "--corpus", &first]);
    let second = fixture.corpus("He met Anna Vetted Smith there .\n");
    let found = fixture.discover(&["Checking", "--corpus", &second]);
    assert_eq!(attested(&sentences(&found, "vet.v")), ["The clerk vetted both lists ."]);
    fixture.find_nothing();
    assert_eq!(fixture.proposals(), ["vet.v"], "below the least score");
}

#[test]
fn a_search_without_a_verifier_adds_to_what_one_said() {
    let fixture = Fixture::new();
    let none = tempfile::tempdir().unwrap();
    let first = fixture.discover(&["Checking"]);
    let told = fixture.discover_with(none.path(), &["Checking"]);
    assert_eq!((&told["was_searched"], &told["found"]), (&true.into(), &first["found"]));
    let again = fixture.discover_with(none.path(), &["Checking", "--again"]);
    assert_eq!(again["found"], first["found"]);
    let corpus = fixture.corpus("The clerk vetted both lists .\n");
    let more = fixture.discover_with(none.path(), &["Checking", "--corpus", &corpus]);
    let of_vet = sentences(&more, "vet.v");
    assert_eq!(attested(&of_vet), ["The clerk vetted both lists ."]);
    assert_eq!(of_vet[1..], sentences(&first, "vet.v"), "with the answers about them");
    let last = fixture.discover(&["Checking"]);
    assert_eq!((&last["was_searched"], names(&last)), (&true.into(), names(&first)));
}

#[test]
fn where_nothing_leads_to_words_what_was_found_stands() {
    let fixture = Fixture::new();
    let found = names(&fixture.discover(&["Checking"]));
    assert_eq!(fixture.run(&["releases", "remove", "wordnet-0.1", "--yes"]).code, Some(0));
    let again = fixture.discover(&["Checking", "--again"]);
    assert_eq!(names(&again), found);
}

#[test]
fn a_search_that_a_later_one_went_on_from_is_not_taken_back() {
    let fixture = Fixture::new();
    fixture.discover(&["Checking"]);
    let first = fixture.last_commit();
    let corpus = fixture.corpus("The clerk vetted both lists .\n");
    let found = names(&fixture.discover(&["Checking", "--corpus", &corpus]));
    let ran = fixture.run(&["undo", &first]);
    assert_ne!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("discovery"), "{ran:?}");
    assert_eq!(fixture.proposals(), found);
    for commit in [&fixture.last_commit(), &first] {
        assert_eq!(fixture.run(&["undo", commit]).code, Some(0));
    }
    assert_eq!(fixture.proposals(), [""; 0]);
    fixture.is_sound();
}

#[test]
fn a_part_of_a_release_says_of_no_search() {
    let fixture = Fixture::new();
    fixture.discover(&["Checking"]);
    let file = fixture.models.path().join("part.jsonl");
    let ran = fixture.run(&["export", "--to", "jsonl", file.to_str().unwrap(), "frame=Checking"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let other = tempfile::tempdir().unwrap();
    assert_eq!(fnstore_in(other.path(), &["import", file.to_str().unwrap()]).code, Some(0));
    let other = Fixture { store: other, models: fixture.models }.with_wordnet();
    let found = other.discover(&["Checking"]);
    assert_eq!(found["was_searched"], false, "{found}");
    assert!(!names(&found).is_empty());
}

#[test]
fn what_was_found_of_an_absent_lu_does_not_come_in() {
    let fixture = Fixture::new();
    fixture.discover(&["Checking"]);
    let file = fixture.models.path().join("all.jsonl");
    let path = file.to_str().unwrap();
    assert_eq!(fixture.run(&["export", "--to", "jsonl", path]).code, Some(0));
    let lines = std::fs::read_to_string(&file).unwrap();
    let changed = lines.lines().map(|line| {
        let mut record: Value = serde_json::from_str(line).unwrap();
        if record["kind"] == "discovery" && record["lu"]["name"] == "vet.v" {
            record["lu"]["id"] = 9_999.into();
        }
        format!("{record}\n")
    });
    std::fs::write(&file, changed.collect::<String>()).unwrap();
    let other = tempfile::tempdir().unwrap();
    let ran = fnstore_in(other.path(), &["import", path]);
    assert!(ran.code != Some(0) && ran.stderr.contains("`lu`"), "{ran:?}");
}

#[test]
fn what_was_found_of_an_lu_that_is_gone_is_told() {
    let fixture = Fixture::without_wordnet(new_store());
    let database = Database::open_writer(fixture.store.path()).unwrap();
    let release = database.releases().unwrap()[0].id;
    let write = Write { discoveries: vec![generated::discovery()], ..Write::default() };
    database.write(release, &write).unwrap();
    drop(database);
    let ran = fixture.run(&["check", "--deep"]);
    assert!(ran.code != Some(0) && ran.stdout.contains("`vet.v`"), "{ran:?}");
    // No import would take it.
    let file = fixture.models.path().join("all.jsonl");
    let path = file.to_str().unwrap();
    assert_eq!(fixture.run(&["export", "--to", "jsonl", path]).code, Some(0));
    let other = tempfile::tempdir().unwrap();
    assert_eq!(fnstore_in(other.path(), &["import", path]).code, Some(0));
}

#[test]
fn an_lu_that_takes_anothers_name_takes_nothing_of_what_was_found_of_that() {
    let fixture = Fixture::new();
    let found = fixture.discover(&["Checking"]);
    let rename = json!({"op": "edit-lu", "frame": "Checking", "lu": "vet.v", "name": "survey.v"});
    fixture.edit_all(&[rename]);
    let of = fixture.proposal("survey.v").unwrap();
    assert_eq!(of["discovered"]["sentences"], json!(sentences(&found, "survey.v")));
    fixture.is_sound();
}

#[test]
fn what_a_file_adds_takes_no_place_of_what_was_found_here() {
    let fixture = Fixture::new();
    let all = fixture.discover(&["Checking"]);
    let file = fixture.models.path().join("added.jsonl");
    let path = file.to_str().unwrap();
    let export = ["export", "--to", "jsonl", path, "origin=user"];
    assert_eq!(fixture.run(&export).code, Some(0));
    let other = Fixture { store: new_store(), models: fixture.models }.with_wordnet();
    let corpus = other.corpus("The clerk vetted both lists .\n");
    let own = other.discover(&["Checking", "--corpus", &corpus, "--candidates", "5"]);
    assert!(names(&own).len() < names(&all).len(), "{own}");
    let ran = other.run(&["import", path]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(other.proposals(), names(&all));
    for lu in names(&own) {
        let there = other.proposal(&lu).unwrap();
        assert_eq!(there["discovered"]["sentences"], json!(sentences(&own, &lu)), "{lu}");
    }
    other.is_sound();
}

#[test]
fn two_lus_that_change_names_keep_what_was_found_of_each() {
    let fixture = Fixture::new();
    let found = fixture.discover(&["Checking"]);
    let rename = |lu: &str, name: &str| json!({"op": "edit-lu", "frame": "Checking", "lu": lu, "name": name});
    let edits = [rename("vet.v", "x.v"), rename("survey.v", "vet.v"), rename("x.v", "survey.v")];
    fixture.edit_all(&edits);
    for (now, before) in [("survey.v", "vet.v"), ("vet.v", "survey.v")] {
        let of = fixture.proposal(now).unwrap();
        assert_eq!(of["discovered"]["sentences"], json!(sentences(&found, before)), "{now}");
    }
    fixture.is_sound();
}

#[test]
fn a_search_that_is_stopped_writes_nothing() {
    let fixture = Fixture::new();
    let mut verifier = verifier_answers::open(fixture.models.path());
    let database = Database::open_writer(fixture.store.path()).unwrap();
    let sources = (database.wordnets().unwrap(), None);
    let (options, asked) = (DiscoverOptions::default(), Some(&mut verifier));
    let mut discoverer =
        Discoverer::new(&database, "mini-framenet", sources, asked, options).unwrap();
    let frame = discoverer.frames().unwrap()[0];
    for questions in [0, 1] {
        let mut left = questions;
        let mut goes_on = || match left {
            0 => ControlFlow::Break(()),
            _ => {
                left -= 1;
                ControlFlow::Continue(())
            }
        };
        let stopped = discoverer.discover(frame, &mut goes_on).unwrap_err();
        assert!(stopped.is_stopped(), "{stopped}");
    }
    let written = database.lexicon("mini-framenet").unwrap().lus().unwrap();
    assert!(written.flatten().all(|lu| lu.status != PROPOSED));
}

#[test]
fn a_model_that_is_damaged_is_no_absent_one() {
    let fixture = Fixture::new();
    let tagger = fixture.models.path().join("tagger");
    std::fs::create_dir(&tagger).unwrap();
    std::fs::write(tagger.join("config.json"), "{").unwrap();
    let corpus = fixture.corpus("The clerk vetted both lists .\n");
    let ran = fixture.search(fixture.models.path(), "0", &["Checking", "--corpus", &corpus]);
    assert!(ran.code > Some(1), "{ran:?}");
    assert_eq!(fixture.proposals(), [""; 0]);
}

#[test]
fn a_word_that_the_frame_has_in_another_sense_is_none_to_propose() {
    let fixture = Fixture::new();
    let (lu, name) = ("inspection.n", "inspection_of_goods.n");
    fixture.edit(&json!({"op": "edit-lu", "frame": "Checking", "lu": lu, "name": name}));
    let found = names(&fixture.discover(&["Checking"]));
    assert!(!found.contains(&lu.to_owned()), "{found:?}");
}
