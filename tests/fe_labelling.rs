//! The labelling of FEs from end to end: trained on the mini lexicon over a tiny encoder, opened
//! again, asked and measured.

use std::path::Path;

use fnstore::NetworkError;
use fnstore::database::Database;
use fnstore::engine::Device;
use fnstore::label::train::{Data, Options, run};
use fnstore::label::{
    ElementCounts, FoundElement, Inventory, LabelRequest, LabelledSentence, Labeller, Measure,
};
use fnstore::model::{CoreType, Span};
use fnstore::query::Expression;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cli_program::fnstore;
use crate::cli_schema::faults_in;
use crate::mini::imported;
use crate::tagging::with_encoder;

pub(crate) fn read(database: &Database, query: &str) -> Vec<LabelledSentence> {
    let release = database.releases().unwrap().remove(0).name;
    LabelledSentence::read(database, &release, &Expression::parse(query).unwrap()).unwrap()
}

pub(crate) fn inventory(database: &Database) -> Inventory {
    let release = database.releases().unwrap().remove(0).name;
    Inventory::read(&database.lexicon(&release).unwrap()).unwrap()
}

pub(crate) fn options(folder: &Path) -> Options {
    let mut options = Options::new(folder.join("encoder"), folder.join("fes"));
    (options.hidden, options.longest, options.dropout) = (24, 12, 0.0);
    let training = &mut options.training;
    (training.epochs, training.patience, training.batch) = (30, 30, 2);
    training.learning_rate = 1e-2;
    options
}

/// A labeller of all annotation of the mini lexicon, which is also what its epochs are measured on.
fn trained(database: &Database) -> (TempDir, Vec<LabelledSentence>, ElementCounts) {
    let folder = with_encoder();
    let sentences = read(database, "");
    let data = Data { full_text: sentences.clone(), exemplars: Vec::new(), dev: sentences.clone() };
    let (inventory, options) = (inventory(database), options(folder.path()));
    let config = run(&options, &inventory, &data, &Device::cpu(), &mut |_| ()).unwrap();
    (folder, sentences, config.dev)
}

#[test]
fn a_labeller_learns_a_lexicon_and_finds_its_fes_after_reopening() {
    let (_store, database, _) = imported();
    let (folder, sentences, dev) = trained(&database);
    assert!(dev.f1() > 0.5, "{dev:?}");
    let [labeller, encoder] = ["fes", "encoder"].map(|name| folder.path().join(name));
    let labeller = Labeller::open(&labeller, &encoder, &Device::cpu()).unwrap();
    let lexicon = database.lexicon(&database.releases().unwrap()[0].name).unwrap();
    let (inventory, mut measure) = (inventory(&database), Measure::default());
    for sentence in &sentences {
        for gold in &sentence.targets {
            let frame = lexicon.frame_by_name(&gold.frame).unwrap().unwrap();
            let words = &sentence.words[gold.target.clone()];
            let asked = LabelRequest {
                text: &sentence.text,
                target: words,
                lu: &gold.lexunit,
                frame: &frame,
            };
            let found = labeller.label_each(&[asked, asked]).unwrap();
            let [first, second]: [Vec<FoundElement>; 2] =
                found.into_iter().map(Result::unwrap).collect::<Vec<_>>().try_into().unwrap();
            assert_eq!(first, second);
            let in_order = first.windows(2).all(|pair| pair[0].span.end <= pair[1].span.start);
            assert!(in_order && first.iter().all(|fe| fe.score > 0.0 && fe.score <= 1.0));
            for fe in &first {
                let core = inventory_has_core(&frame, &fe.name);
                let uses = first.iter().filter(|other| other.name == fe.name).count();
                assert!(!core || uses == 1, "{first:?}");
            }
            measure.add(&inventory, sentence, gold, &first);
            // What is annotated is judged to be what it is more often than not.
            let spans: Vec<Span> = gold.elements.iter().map(|one| one.span).collect();
            let verdicts = labeller.judge_each(&[asked], &[spans]).unwrap().remove(0).unwrap();
            assert_eq!(verdicts.len(), gold.elements.len());
            assert!(verdicts.iter().all(|one| one.score > 0.0 && one.not_an_element <= 1.0));
        }
    }
    // Rounding to 8 bits may move a few.
    assert!((measure.all.f1() - dev.f1()).abs() < 0.1, "{measure:?} {dev:?}");

    let frame = lexicon.frames().unwrap().next().unwrap().unwrap();
    let asked = |text, target| LabelRequest { text, target, lu: "a.v", frame: &frame };
    let long = "word ".repeat(200);
    let spans = [[Span::new(0, 4)], [Span::new(4, 5)], [Span::new(0, 4)]];
    let answers = labeller
        .label_each(&[asked(&long, &spans[0]), asked("word ", &spans[1]), asked("word", &spans[2])])
        .unwrap();
    assert!(matches!(answers[0], Err(NetworkError::TooLong { item: 0, .. })), "{answers:?}");
    assert!(matches!(answers[1], Err(NetworkError::NoTarget { item: 1 })), "{answers:?}");
    assert!(answers[2].is_ok());
}

fn inventory_has_core(frame: &fnstore::model::Frame, name: &str) -> bool {
    frame.fe_by_name(name).is_some_and(|fe| fe.core_type == CoreType::Core)
}

#[test]
fn scores_are_those_worked_by_hand() {
    let (_store, database, _) = imported();
    let sentences = read(&database, "");
    let inventory = inventory(&database);
    let with_two = |sentence: &&LabelledSentence| {
        sentence.targets.iter().any(|target| target.elements.len() >= 2)
    };
    let sentence = sentences.iter().find(with_two).unwrap();
    let gold = sentence.targets.iter().find(|target| target.elements.len() >= 2).unwrap();
    let element = |at: usize| {
        let gold = gold.elements.iter().nth(at).unwrap();
        FoundElement { name: gold.name.clone(), span: gold.span, score: 0.5 }
    };
    // One right, one with the right span under another name; whatever else is annotated is not
    // found.
    let found = [element(0), FoundElement { name: "Nothing".to_owned(), ..element(1) }];
    let mut measure = Measure::default();
    measure.add(&inventory, sentence, gold, &found);
    let all = gold.elements.len() as u64;
    assert_eq!(measure.all, ElementCounts { right: 1, found: 2, gold: all });
    assert_eq!(measure.unknown, ElementCounts { right: 0, found: 1, gold: 0 });
    assert_eq!((measure.targets, measure.whole), (1, 0));
    let kinds = measure.by_core_type.iter().map(|kind| kind.gold).sum::<u64>();
    assert_eq!(kinds, all);
    let whole: Vec<FoundElement> = (0..gold.elements.len()).map(element).collect();
    measure.add(&inventory, sentence, gold, &whole);
    assert_eq!(measure.all, ElementCounts { right: 1 + all, found: 2 + all, gold: 2 * all });
    assert_eq!((measure.targets, measure.whole), (2, 1));
    assert!((measure.all.precision() - (1 + all) as f64 / (2 + all) as f64).abs() < 1e-12);
}

#[test]
fn fes_are_trained_measured_and_resumed_on_the_command_line() {
    let (store, database, _) = imported();
    drop(database);
    let folder = with_encoder();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let store = store.path().to_str().unwrap();
    // One document is trained on, the other one chooses the epoch.
    let list = at("splits.tsv");
    std::fs::write(&list, "document\tMINI__BikeRide\ttrain\ndocument\tMINI__HarbourLog\tdev\n")
        .unwrap();
    let data = ["--store", store, "--split-list", &list];
    let train = |out: &str, more: &[&str]| {
        let (out, encoder, state) = (at(out), at("encoder"), at("state"));
        let places = ["--out", &out, "--encoder", &encoder, "--checkpoint", &state];
        let settings = ["--device", "cpu", "--epochs", "2", "--hidden", "8"];
        fnstore(&[&["train", "fes"], &data[..], &places, &settings, more].concat())
    };
    let ran = train("fes", &["--exemplars", "2", "--format", "json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("FEs of the development data"), "{}", ran.stderr);
    let config: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(config["layers"].as_array().map(Vec::len), Some(2));
    let again = train("again", &["--exemplars", "2"]);
    assert!(again.stderr.contains("resuming after epoch 2"), "{}", again.stderr);
    let weights = |name: &str| std::fs::read(folder.path().join(name).join("model.safetensors"));
    assert_eq!(weights("fes").unwrap(), weights("again").unwrap());
    let other = train("again", &["--exemplars", "2", "--seed", "2"]);
    assert_eq!(other.code, Some(2));
    assert!(other.stderr.contains("made with seed `1`, this run has `2`"), "{}", other.stderr);

    let models = folder.path().to_str().unwrap();
    let eval = ["--models", models, "--device", "cpu", "--part", "dev"];
    let eval = |more: &[&str]| fnstore(&[&["eval", "fes"], &data[..], &eval, more].concat());
    let ran = eval(&["--format", "jsonl"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let document = &ran.records()[0];
    assert_eq!(faults_in("eval-fes.schema.json", document), [""; 0]);
    assert_eq!((&document["part"], &document["left_out"]), (&json!("dev"), &json!(0)));
    assert_eq!(document["scores"][0]["gold"], config["dev"]["gold"]);
    assert!(eval(&["--format", "table"]).stdout.contains("an FE or not"));
    let wrong = fnstore(&["eval", "fes", "--part", "tset"]);
    assert!(wrong.stderr.contains("possible values: train, dev, test"), "{}", wrong.stderr);
    let absent = eval(&["--release", "bfn"]);
    assert_eq!(absent.code, Some(2), "{}", absent.stderr);
}
