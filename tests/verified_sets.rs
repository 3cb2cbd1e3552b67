//! Sets of which a verifier was asked: `fnstore verify` asks what is new, queries find the answers,
//! edits take away what they made untrue, and other formats carry them.
//!
//! The verifier is the tiny Llama of `verifier_answers`: what it says means nothing.

use std::path::Path;

use fnstore::database::Database;
use fnstore::internals::WithStore as _;
use fnstore::model::{AnnotationSetId, IdSpace};
use serde_json::{Value, json};

use crate::cli_program::{Ran, fnstore_in, new_store};
use crate::cli_schema::faults_in;
use crate::generated;
use crate::language_parity::directory;
use crate::verifier_answers;

/// A store with two rewritten sets, and models with a verifier and a rewriter that take its
/// sentences.
struct Fixture {
    store: tempfile::TempDir,
    models: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        let store = new_store();
        let database = Database::open_existing_writer(store.path()).unwrap();
        let release = database.releases().unwrap()[0].id;
        generated::write(&database, release);
        let models = verifier_answers::models();
        let answers = "answers = [\"y\", \"n\"]\n";
        let prompts = format!(
            "format = 1\n[evokes]\nlines = [\"{{sentence}}?{{word}}\"]\n{answers}\
             [same_meaning]\nlines = [\"{{sentence}}={{rewriting}}?\"]\n{answers}"
        );
        std::fs::write(models.path().join("verifier/prompt.toml"), prompts).unwrap();
        std::fs::create_dir(models.path().join("rewriter")).unwrap();
        for file in ["adapter_config.json", "adapter_model.safetensors", "prompt.toml"] {
            let to = models.path().join("rewriter").join(file);
            std::fs::copy(directory("lora").join(file), to).unwrap();
        }
        Self { store, models }
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        fnstore_in(self.store.path(), arguments)
    }

    fn verify(&self, expression: &str) -> Ran {
        let models = self.models.path().to_str().unwrap();
        self.run(&["verify", expression, "--models", models, "--device", "cpu", "--format", "json"])
    }

    /// Sets looked at, written and without an answer.
    fn verified(&self, expression: &str) -> [u64; 3] {
        let ran = self.verify(expression);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let done = ran.document("verify.schema.json");
        assert_eq!(done["interrupted"], json!(false));
        ["sets", "written", "without"].map(|name| done[name].as_u64().unwrap())
    }

    fn hits(&self, arguments: &[&str]) -> Vec<Value> {
        self.run(&[&["query"], arguments, &["--format", "jsonl"]].concat()).records()
    }

    fn count(&self, expression: &str) -> usize {
        self.hits(&[expression]).len()
    }

    fn edit(&self, edits: &[Value]) {
        let lines: Vec<String> = edits.iter().map(Value::to_string).collect();
        let file = self.models.path().join("edits.jsonl");
        std::fs::write(&file, lines.join("\n")).unwrap();
        let ran = self.run(&["edit", file.to_str().unwrap()]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    }
}

#[test]
fn human_and_generated_sets_get_answers_that_queries_find() {
    let fixture = Fixture::new();
    let all = fixture.count("frame=Checking") as u64;
    let [sets, written, without] = fixture.verified("frame=Checking");
    assert_eq!((sets, written), (all, all));
    assert!(without > 0 && without < all, "the model takes 64 tokens: {without} of {all}");
    assert_eq!(fixture.count("evokes>=0") as u64, all - without);
    assert_eq!(fixture.count("evokes<0"), 0);
    assert_eq!(fixture.count("same_meaning>=0"), 2, "two were rewritten");
    assert_eq!(fixture.count("reverse>=0 origin=generated"), 2);
    assert_eq!(fixture.count("not evokes>=0 frame=Checking") as u64, without);
    let sorted = fixture.hits(&["evokes>=0", "--sort=-evokes"]);
    let answers: Vec<f64> =
        sorted.iter().map(|hit| hit["verification"]["evokes"].as_f64().unwrap()).collect();
    assert!(answers.is_sorted_by(|a, b| a >= b) && answers.iter().all(|a| (0.0..=1.0).contains(a)));
    for hit in &sorted {
        assert_eq!(faults_in("hit.schema.json", hit), [""; 0], "{hit}");
        let is_rewritten = hit["origin"] == json!("generated");
        assert_eq!(hit["verification"]["same_meaning"].is_number(), is_rewritten, "{hit}");
    }
    let fields =
        fixture.run(&["query", "evokes>=0", "--fields", "id,evokes,reverse", "--format", "csv"]);
    assert!(fields.stdout.starts_with("id,evokes,reverse\n"), "{}", fields.stdout);
    let shown = fixture.run(&["show", "set", "g101", "--format", "table"]).stdout;
    assert!(shown.contains("  evokes 0.") && shown.contains("  same meaning 0."), "{shown}");
    let checked = fixture.run(&["check", "--deep"]);
    assert_eq!(checked.code, Some(0), "{}{}", checked.stdout, checked.stderr);
}

#[test]
fn the_same_is_not_asked_twice_and_what_changed_is_asked_again() {
    let fixture = Fixture::new();
    let [_, all, _] = fixture.verified("frame=Checking");
    assert_eq!(fixture.verified("frame=Checking")[1], 0);
    let changes = fixture.run(&["changes", "--since", "0", "--format", "jsonl"]).records();
    let listed = changes.iter().filter(|change| change["kind"] == json!("verification"));
    assert_eq!(listed.count() as u64, all);
    fixture.edit(&[json!({"op": "edit-frame", "frame": "Checking", "definition": "To look."})]);
    assert_eq!(fixture.verified("frame=Checking")[1], all, "the definition is another");
    // A rewriter that is gone takes nothing back; another one is asked about what was rewritten.
    let rewriter = fixture.models.path().join("rewriter");
    let aside = fixture.models.path().join("aside");
    std::fs::rename(&rewriter, &aside).unwrap();
    assert_eq!(fixture.verified("frame=Checking")[1], 0);
    assert_eq!(fixture.count("reverse>=0"), 2);
    std::fs::rename(&aside, &rewriter).unwrap();
    let prompt = rewriter.join("prompt.toml");
    let text =
        std::fs::read_to_string(&prompt).unwrap().replace("answer = \"=\"", "answer = \"-\"");
    std::fs::write(&prompt, text).unwrap();
    assert_eq!(fixture.verified("frame=Checking")[1], 2);
    // Another verifier says something else of every set.
    let prompt = fixture.models.path().join("verifier/prompt.toml");
    let text = std::fs::read_to_string(&prompt).unwrap().replace("?{word}", "!{word}");
    std::fs::write(&prompt, text).unwrap();
    assert_eq!(fixture.verified("id=g101")[1], 1);
    let curve = "floor = 0.5\nceiling = 0.75\nslope = 1\nintercept = 0\n";
    let file = format!("format = 1\n[evokes]\n{curve}[same_meaning]\n{curve}");
    std::fs::write(fixture.models.path().join("verifier/calibration.toml"), file).unwrap();
    assert_eq!(fixture.verified("id=g101")[1], 1);
    assert_eq!(fixture.count("id=g101 evokes>=0.5 evokes<=0.75 same_meaning>=0.5"), 1);
}

#[test]
fn an_edit_takes_away_the_answers_about_what_it_changed() {
    let fixture = Fixture::new();
    fixture.verified("origin=generated");
    fixture.edit(&[json!({"op": "edit-set", "set": "g101", "status": "SEEN"})]);
    assert_eq!(fixture.count("id=g101 evokes>=0"), 1, "its words are what they were");
    fixture.edit(&[json!({"op": "edit-set", "set": "g101", "targets": [[0, 2]]})]);
    assert_eq!(fixture.count("id=g101 evokes>=0"), 0);
    let removed = fixture.run(&["changes", "--since", "0", "--format", "jsonl"]).records();
    let removed = removed.iter().filter(|change| {
        change["kind"] == json!("verification") && change["action"] == json!("removed")
    });
    assert_eq!(removed.map(|change| &change["id"]).collect::<Vec<_>>(), [&json!("g101")]);
    let ran = fixture.run(&["delete", "id=g102", "--yes"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let database = Database::open(fixture.store.path()).unwrap();
    let release = database.releases().unwrap()[0].id;
    let gone = AnnotationSetId::new(IdSpace::Generated, 102);
    assert_eq!(database.store().verification(release, gone).unwrap(), None);
    drop(database);
    assert_eq!(fixture.run(&["check", "--deep"]).code, Some(0));
}

#[test]
fn exports_carry_answers_or_count_them_as_lost() {
    let fixture = Fixture::new();
    fixture.verified("origin=generated");
    let export = |to: &str| {
        let file = fixture.models.path().join(to);
        let path = file.to_str().unwrap();
        let ran =
            fixture.run(&["export", "origin=generated", "--to", to, path, "--format", "json"]);
        (ran.document("export.schema.json"), std::fs::read_to_string(file).unwrap())
    };
    let (report, lines) = export("jsonl");
    assert_eq!(report["records"]["verification"], json!(2));
    let base = new_store();
    let file = fixture.models.path().join("jsonl");
    let imported = fnstore_in(base.path(), &["import", file.to_str().unwrap()]);
    assert_eq!(imported.code, Some(0), "{}", imported.stderr);
    let again = fnstore_in(base.path(), &["export", "origin=generated", "--to", "jsonl"]).stdout;
    assert_eq!(again.lines().last(), lines.lines().last());
    let of = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| line.contains("\"kind\":\"verification\""));
        lines.map(str::to_owned).collect()
    };
    assert_eq!(of(&again), of(&lines));
    let wrong = lines.replacen("\"evokes\":0.", "\"evokes\":2.", 1);
    std::fs::write(&file, wrong).unwrap();
    let refused = fnstore_in(new_store().path(), &["import", file.to_str().unwrap()]);
    assert_eq!(refused.code, Some(65), "{}", refused.stderr);
    assert!(refused.stderr.contains("`evokes` is `2."), "{}", refused.stderr);

    let (report, table) = export("csv");
    assert!(report["losses"].get("verifications").is_none(), "{report}");
    assert!(table.lines().next().unwrap().ends_with(",evokes,same_meaning,reverse"), "{table}");
    for to in ["conll", "training-bios"] {
        let (report, _) = export(to);
        assert_eq!(report["losses"]["verifications"]["count"], json!(2), "{to}: {report}");
    }
}

#[test]
fn wrong_models_and_arguments_are_told() {
    let fixture = Fixture::new();
    assert_eq!(fixture.verify("frame=Checking round=9").code, Some(1), "no set matches");
    assert_eq!(fixture.verify("frame=Chekcing").code, Some(2));
    let verifier = fixture.models.path().join("verifier");
    let declare = |language: &str| {
        let text = format!("[\"{language}\"]");
        std::fs::write(verifier.join("languages.json"), text).unwrap();
    };
    declare("de");
    let refused = fixture.verify("id=g101");
    assert!(refused.stderr.contains("`de`"), "{}", refused.stderr);
    assert_ne!(refused.code, Some(0));
    assert_eq!(fixture.count("evokes>=0"), 0);
    std::fs::remove_file(verifier.join("languages.json")).unwrap();
    std::fs::remove_dir_all(fixture.models.path().join("rewriter")).unwrap();
    let alone = fixture.verify("id=g101");
    assert_eq!(alone.code, Some(0), "{}", alone.stderr);
    assert!(alone.stderr.contains("nothing is said of `reverse`: "), "{}", alone.stderr);
    assert_eq!((fixture.count("evokes>=0"), fixture.count("reverse>=0")), (1, 0));
    assert_absent(&fixture, &verifier);
}

/// Without a verifier the message says what is not there.
fn assert_absent(fixture: &Fixture, verifier: &Path) {
    std::fs::remove_dir_all(verifier).unwrap();
    let absent = fixture.verify("id=g101");
    assert_ne!(absent.code, Some(0));
    assert!(absent.stderr.contains("`verifier`"), "{}", absent.stderr);
}
