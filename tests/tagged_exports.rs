//! Parts of speech and lemmas in token formats: those of FrameNet's layers, else a tagger's.

use std::cell::RefCell;

use fnstore::database::Database;
use fnstore::exchange::{Loss, TokenFormat, WordTagger};
use fnstore::model::is_same_language;
use fnstore::query::Expression;
use fnstore::transfer::{ImportOptions, LossyExport};

use crate::cli_program::{fnstore_in, new_store};
use crate::{generated, mini};

/// A tagger that knows a few words, and notes what it is asked.
#[derive(Default)]
struct Notes {
    calls: RefCell<Vec<Vec<String>>>,
    /// The language that it is made for; all for none.
    language: Option<&'static str>,
}

impl WordTagger for Notes {
    fn knows(&self, language: &str) -> Result<bool, Box<dyn std::error::Error + Send + Sync>> {
        Ok(self.language.is_none_or(|known| is_same_language(known, language)))
    }

    fn tag_words(
        &self,
        sentences: &[Vec<&str>],
    ) -> Result<Vec<Option<Vec<String>>>, Box<dyn std::error::Error + Send + Sync>> {
        self.calls.borrow_mut().push(sentences.iter().map(|words| words.join(" ")).collect());
        let tag = |word: &&str| match *word {
            "verified" | "vetted" => "VBD",
            "figures" => "NNS",
            "the" => "DT",
            _ => "X",
        };
        let tags =
            |words: &Vec<&str>| Some(words.iter().map(|word| tag(word).to_owned()).collect());
        Ok(sentences.iter().map(tags).collect())
    }
}

fn with_generated() -> (tempfile::TempDir, Database) {
    let (dir, database, report) = mini::imported();
    generated::write(&database, report.release.id);
    (dir, database)
}

fn export(
    database: &Database,
    query: &str,
    tagger: Option<&dyn WordTagger>,
) -> (Vec<Vec<String>>, LossyExport) {
    let (mut out, expression) = (Vec::new(), Expression::parse(query).unwrap());
    let report = database.export_tokens(&expression, TokenFormat::Conll, tagger, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let lines = text.lines().filter(|line| !line.is_empty());
    (lines.map(|line| line.split('\t').map(str::to_owned).collect()).collect(), report)
}

#[test]
fn only_sentences_without_parts_of_speech_are_tagged_and_all_at_once() {
    let (_dir, database) = with_generated();
    let tagger = Notes::default();
    let (lines, report) = export(&database, "", Some(&tagger));
    let calls = tagger.calls.borrow().clone();
    let [asked] = calls.as_slice() else { panic!("{} calls", calls.len()) };
    assert!(asked.contains(&"He verified the figures .".to_owned()), "{asked:?}");
    assert_eq!(report.losses.count(Loss::NoTags), 0);
    assert!(lines.len() > 100);
    let (human, _) = export(&database, "id=x7042", Some(&tagger));
    assert_eq!(tagger.calls.borrow().len(), 1, "its sentence has a layer: {human:?}");

    let (lines, _) = export(&database, "origin=generated", Some(&tagger));
    let shown: Vec<String> =
        lines.iter().map(|line| format!("{}/{}/{}", line[1], line[3], line[5])).collect();
    let verified = "He/he/X verified/verify/VBD the/the/DT figures/figure/NNS ././X";
    let vetted = "He/he/X vetted/vet/VBD the/the/DT figures/figure/NNS ././X";
    assert_eq!(shown.join(" "), format!("{verified} {vetted}"));
}

#[test]
fn without_a_tagger_the_target_has_its_lemma_and_the_loss_is_counted() {
    let (_dir, database) = with_generated();
    let (lines, report) = export(&database, "origin=generated", None);
    assert_eq!(report.losses.count(Loss::NoTags), 2);
    assert_eq!((report.sets, report.sentences), (2, 2));
    let lemmas: Vec<&str> = lines.iter().map(|line| line[3].as_str()).collect();
    assert_eq!(lemmas[..5], ["he", "verify", "the", "figures", "."]);
}

/// The small release in a language, with generated sets.
fn in_language(language: &str) -> (tempfile::TempDir, Database) {
    let dir = tempfile::tempdir().unwrap();
    let database = Database::open_writer(dir.path()).unwrap();
    let options = ImportOptions { language: Some(language.to_owned()), ..ImportOptions::default() };
    let report = database.import(&mini::framenet(), &options, &mut |_| {}).unwrap();
    generated::write(&database, report.release.id);
    (dir, database)
}

#[test]
fn a_tagger_tags_the_languages_that_it_knows() {
    let (_dir, database) = in_language("de");
    let english = Notes { language: Some("en"), ..Notes::default() };
    let (lines, report) = export(&database, "origin=generated", Some(&english));
    assert!(english.calls.borrow().is_empty());
    assert_eq!(report.losses.count(Loss::NoTags), 2);
    assert_eq!((lines[1][3].as_str(), lines[1][5].as_str()), ("verify", "_"));

    for knows in [Some("de-AT"), None] {
        let german = Notes { language: knows, ..Notes::default() };
        let (lines, report) = export(&database, "origin=generated", Some(&german));
        assert_eq!(report.losses.count(Loss::NoTags), 0, "{knows:?}");
        // No rule of English holds, whatever the tags are called.
        assert_eq!((lines[3][3].as_str(), lines[3][5].as_str()), ("figures", "NNS"));
    }

    let database = database.with_any_language(true);
    let (lines, report) = export(&database, "origin=generated", Some(&english));
    assert_eq!(report.losses.count(Loss::NoTags), 0);
    assert_eq!((lines[3][3].as_str(), lines[3][5].as_str()), ("figures", "NNS"));
}

#[test]
fn forms_that_targets_show_have_the_lemma_of_their_lu_in_any_language() {
    let (_dir, database) = in_language("de");
    // The set of `looked over`; `mended` is a target of another set of the sentence.
    let (lines, _) = export(&database, "id=f8006", None);
    let lemma_of = |form: &str| {
        let line = lines.iter().find(|line| line[1] == form);
        line.map(|line| line[3].as_str())
    };
    assert_eq!(lemma_of("looked"), Some("look"));
    assert_eq!(lemma_of("mended"), Some("mend"), "a target shows it");
    assert_eq!((lemma_of("ropes"), lemma_of("charts")), (Some("ropes"), Some("charts")));
}

/// Annotators also give words to LUs of which they are no form, as FrameNet 1.5 has a `wins` of
/// `backstitch.v` beside one of `win.v`.
#[test]
fn of_the_lus_that_share_a_word_the_one_of_which_it_is_a_form_gives_the_lemma() {
    let text = "he wins , dressed and willing , and made certain";
    let spans = [
        (3, 7, "backstitch", "v"),
        (3, 7, "win", "v"),
        (3, 7, "drop", "v"),
        // Either is a form of both; one is the word itself.
        (10, 17, "dress", "v"),
        (10, 17, "dressed", "a"),
        (22, 29, "will", "v"),
        (22, 29, "willing", "a"),
        (36, 48, "make sure", "v"),
        (41, 48, "certain", "a"),
    ];
    let spans = spans.map(|(start, end, lemma, pos)| {
        serde_json::json!({
            "start": start, "end": end, "type": lemma, "lemma": lemma, "pos": pos,
        })
    });
    let dir = tempfile::tempdir().unwrap();
    let database = Database::open_writer(&dir.path().join("store")).unwrap();
    let file = dir.path().join("shared.jsonl");
    let line = serde_json::json!({ "text": text, "spans": spans });
    std::fs::write(&file, line.to_string()).unwrap();
    database.import_spans(&file, &ImportOptions::default(), &mut |_| {}).unwrap();

    let (lines, report) = export(&database, "", None);
    assert_eq!(report.sets, 9);
    let lemmas: Vec<&str> = lines.iter().map(|line| line[3].as_str()).collect();
    let shown = ["he", "win", ",", "dressed", "and", "willing", ",", "and", "make", "certain"];
    assert_eq!(lemmas, shown.repeat(9), "in the block of every set");

    let (lines, _) = export(&database, "frame=\"make sure\"", None);
    assert_eq!(lines[9][3], "sure", "alone it decides");
}

#[test]
fn the_program_tags_with_the_shipped_tagger_and_says_when_there_is_none() {
    let store = new_store();
    let database = Database::open_writer(store.path()).unwrap();
    generated::write(&database, database.release("mini-framenet").unwrap().id);
    drop(database);
    let arguments = ["export", "origin=generated", "--to", "conll", "-", "--device", "cpu"];
    let ran = fnstore_in(store.path(), &arguments);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let line = ran.stdout.lines().nth(1).unwrap();
    assert!(line.starts_with("2\tverified\t_\tverify\tVBD\tVBD\t0\t"), "{line}");
    assert!(ran.stdout.contains("\n4\tfigures\t_\tfigure\tNNS\tNNS\t"), "{}", ran.stdout);
    assert!(!ran.stderr.contains("no-tags"), "{}", ran.stderr);

    let none = tempfile::tempdir().unwrap();
    let models = ["--models", none.path().to_str().unwrap()];
    let ran = fnstore_in(store.path(), &[&arguments[..], &models].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("sentences without parts of speech stay so"), "{}", ran.stderr);
    assert!(ran.stderr.contains("2  no-tags"), "{}", ran.stderr);
    assert!(ran.stdout.starts_with("1\tHe\t_\the\t_\t_\t"), "{}", ran.stdout);
    let named = [&arguments[..], &models, &["--tagger", "mine"]].concat();
    let ran = fnstore_in(store.path(), &named);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("`mine`"), "{}", ran.stderr);
}
