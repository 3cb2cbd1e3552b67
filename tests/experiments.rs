//! `fnstore experiment`: trainings with and without generated sets, on the small lexicon over a
//! tiny encoder made here.

use std::f64::consts::FRAC_2_PI;
use std::path::Path;

use fnstore::database::{Database, Write};
use fnstore::internals::WithStore as _;
use fnstore::model::{
    AnnotationSet, AnnotationSetId, Extent, FeStatus, FilterScores, Flags, Generation, IdSpace,
    Label, Layer, LayerName, Method, Provenance, Sentence, SentenceId, Span,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cli_program::{Ran, fnstore_in, new_store};
use crate::cli_schema::faults_in;
use crate::tagging::with_encoder;

/// One document with four annotated sentences to learn from, the other to measure on.
const SPLITS: &str = "document\tMINI__HarbourLog\ttrain\ndocument\tMINI__BikeRide\tdev\n";

/// Seeds with what was generated of them: two of training sentences (the first three times), one of
/// an exemplar, one of the document that measures. Target, FE, score of the precision filter.
const GENERATED: [(&str, &str, [u32; 2], f32); 6] = [
    ("f8002", "The master inspected every boat .", [11, 20], 0.9),
    ("f8002", "The master examined all boats .", [11, 19], 0.2),
    ("f8002", "The master vetted all boats .", [11, 17], 0.9),
    ("f8005", "The ropes were repaired .", [15, 23], 0.2),
    ("x7002", "The woman examined the ropes .", [10, 18], 0.9),
    ("f8011", "The riders pedal to the coast .", [11, 16], 0.9),
];

struct Bench {
    store: TempDir,
    /// Has `encoder` and `splits.tsv`.
    folder: TempDir,
}

impl Bench {
    fn new() -> Self {
        let (store, folder) = (new_store(), with_encoder());
        std::fs::write(folder.path().join("splits.tsv"), SPLITS).unwrap();
        let database = Database::open_existing_writer(store.path()).unwrap();
        for (number, of) in (1..).zip(GENERATED) {
            generate(&database, number, of);
        }
        Self { store, folder }
    }

    fn place(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn run(&self, experiment: &str, more: &[&str]) -> Ran {
        let (encoder, splits) = (self.place("encoder"), self.place("splits.tsv"));
        let places = ["--encoder", &encoder, "--split-list", &splits, "--device", "cpu"];
        let size = ["--hidden", "8", "--epochs", "4", "--resamples", "2"];
        fnstore_in(
            self.store.path(),
            &[&["experiment", experiment][..], &places, &size, more].concat(),
        )
    }

    fn frame_id(&self, more: &[&str]) -> Ran {
        self.run("frame-id", &[&["--layer", "1"], more].concat())
    }
}

/// Writes a generated set with an FE on the words before its target.
fn generate(
    database: &Database,
    number: u64,
    (seed, text, target, p): (&str, &str, [u32; 2], f32),
) {
    let query = format!("id={seed}").parse().unwrap();
    let seed = database.query(&query).unwrap().next().unwrap().unwrap();
    let recipe = database.store().recipe([7; 16], "{}").unwrap();
    let generation = Generation {
        seed: seed.set.id,
        source: seed.set.id,
        target_ordinal: 0,
        round: 1,
        rank: 0,
        chain: Vec::new(),
        method: Method::Paraphrase,
        recipe,
        flags: Flags::default(),
        paraphrase: 0.5,
        aligner: 0.9,
        filter: Some(FilterScores { precision: p, recall: p, filter: [1; 16] }),
        elements: Vec::new(),
        fit: None,
    };
    let label = |name: &str, span| Label::new(name, Extent::Overt(span));
    let layer = |name, label| Layer { name, rank: 1, labels: vec![label] };
    let (target, sentence) =
        (Span::new(target[0], target[1]), SentenceId::new(IdSpace::Generated, number));
    let fe = seed.elements().next().unwrap().label.name.clone();
    let set = AnnotationSet {
        id: AnnotationSetId::new(IdSpace::Generated, number),
        xml_id: None,
        sentence,
        status: "GENERATED".to_owned(),
        created: String::new(),
        targets: vec![target],
        fe_status: FeStatus::Carried,
        layers: vec![
            layer(LayerName::Target, label("Target", target)),
            layer(LayerName::Fe, label(&fe, Span::new(0, target.start - 1))),
        ],
        provenance: Provenance::Generated(Box::new(generation)),
        ..seed.set
    };
    let text = text.to_owned();
    let row = Sentence { id: sentence, xml_id: None, text, occurrences: Vec::new() };
    let write = Write { sentences: vec![row], sets: vec![set], ..Write::default() };
    database.write(seed.release.id, &write).unwrap();
}

/// The row of a share, an arm and F1.
fn row<'a>(records: &'a [Value], share: &str, arm: &str) -> &'a Value {
    let is_it = |row: &&Value| {
        row["share"] == share
            && row["arm"] == arm
            && row["measure"].as_str().unwrap().contains("F1")
    };
    records.iter().find(is_it).unwrap_or_else(|| panic!("no {share} {arm}: {records:?}"))
}

#[test]
fn arms_add_exactly_the_generated_sets_of_what_is_drawn() {
    let bench = Bench::new();
    let arms = ["--arms", "augmented,p,agreement", "--p", "0.5"];
    let svg = bench.place("figure.svg");
    let shares = ["--shares", "25,100,100+", "--svg", &svg];
    let ran = bench.frame_id(&[&arms[..], &shares].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let records = ran.records();
    assert_eq!(records.len(), 3 * 4 * 4, "shares, arms, measures");
    for record in &records {
        assert_eq!(faults_in("experiment.schema.json", record), [""; 0], "{record}");
    }
    let count = |share, arm, field: &str| row(&records, share, arm)[field].as_f64().unwrap();
    assert_eq!(count("100", "plain", "sentences"), 4.0);
    // Of the document that measures and, without exemplars, of the exemplar nothing is taken.
    assert_eq!(count("100", "augmented", "added"), 4.0);
    assert_eq!(count("100", "p", "added"), 2.0);
    assert_eq!(count("100+", "augmented", "added"), 5.0);
    assert_eq!(count("100+", "p", "added"), 3.0);
    assert_eq!((count("100", "plain", "exemplars"), count("100", "plain", "added")), (0.0, 0.0));
    assert!(count("100+", "plain", "exemplars") > 4.0);
    assert!(count("100", "agreement", "added") <= 4.0);
    // One sentence in four has three sets, one has one, two have none; there are two draws.
    let of_quarter = count("25", "augmented", "added");
    assert!([0.0, 0.5, 1.0, 1.5, 2.0, 3.0].contains(&of_quarter), "{of_quarter}");
    assert_eq!(count("25", "plain", "sentences"), 1.0);

    // The test is the closed form for two pairs: Student's t of one degree of freedom.
    let numbers = |row: &Value, field: &str| -> Vec<f64> {
        row[field].as_array().unwrap().iter().map(|of| of.as_f64().unwrap()).collect()
    };
    for record in &records {
        let Some(t) = record["t"].as_f64() else { continue };
        let p = 1.0 - FRAC_2_PI * t.abs().atan();
        assert!((record["p_value"].as_f64().unwrap() - p).abs() < 1e-9, "{record}");
        let runs = numbers(record, "runs");
        assert!((record["mean"].as_f64().unwrap() - (runs[0] + runs[1]) / 2.0).abs() < 1e-9);
    }
    let picture = std::fs::read_to_string(&svg).unwrap();
    assert!(picture.starts_with("<svg") && picture.contains("agreement"), "{picture}");
    assert_eq!(ran.records(), bench.frame_id(&[&arms[..], &shares].concat()).records());
}

#[test]
fn a_stopped_experiment_resumes_and_other_settings_are_refused() {
    let bench = Bench::new();
    let state = bench.place("state");
    let common = ["--arms", "augmented,agreement", "--checkpoint", &state];
    let first = bench.frame_id(&[&common[..], &["--shares", "100"]].concat());
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    let both = [&common[..2], &["--shares", "50,100"]].concat();
    let resumed = bench.frame_id(&[&common[..], &["--shares", "50,100"]].concat());
    assert!(resumed.stderr.contains("resuming after 6 of 12 trainings"), "{}", resumed.stderr);
    assert_eq!(resumed.records(), bench.frame_id(&both).records(), "as in one run");
    let ran = bench.frame_id(&[&common[..], &["--shares", "100", "--partial", "0.5"]].concat());
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("cannot go on from checkpoint"), "{}", ran.stderr);
}

#[test]
fn without_the_lexicon_any_frame_is_possible_at_a_target() {
    let bench = Bench::new();
    let common = ["--shares", "100", "--arms", "augmented", "--others", "1"];
    let accuracy = |records: &[Value], arm: &str, measure: &str| {
        let is_it = |row: &&Value| row["arm"] == arm && row["measure"] == measure;
        records.iter().find(is_it).expect("each arm has each measure")["mean"].as_f64().unwrap()
    };
    let with = bench.frame_id(&common).records();
    let ran = bench.frame_id(&[&common[..], &["--without-lexicon"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let without = ran.records();
    for arm in ["plain", "augmented"] {
        let [at_gold, among_all] = ["accuracy at gold targets", "accuracy, without the lexicon"]
            .map(|measure| [&with, &without].map(|records| accuracy(records, arm, measure)));
        assert_eq!(at_gold[1], among_all[1], "no LU says which frames are possible");
        assert!(at_gold[0] > at_gold[1], "{with:?} {without:?}");
    }
}

#[test]
fn labellers_are_compared_with_generated_and_with_human_sets() {
    let bench = Bench::new();
    let state = bench.place("state");
    let shares = ["--base", "34", "--more", "40", "--checkpoint", &state];
    let ran = bench.run("fes", &shares);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let records = ran.records();
    assert_eq!(records.len(), 3 * 3, "arms and measures");
    for record in &records {
        assert_eq!(faults_in("experiment.schema.json", record), [""; 0], "{record}");
    }
    let added = |arm| row(&records, "34", arm)["added"].as_f64().unwrap();
    assert_eq!(
        (row(&records, "34", "plain")["sentences"].clone(), added("plain")),
        (json!(1), 0.0)
    );
    assert!(added("generated") <= added("human") && added("human") >= 1.0, "{records:?}");
    let again = bench.run("fes", &shares);
    assert!(again.stderr.contains("resuming after 6 of 6 trainings"), "{}", again.stderr);
    assert_eq!(again.records(), records);
}

#[test]
fn settings_that_cannot_be_are_refused_with_what_may() {
    let bench = Bench::new();
    let wrong = [
        (&["--shares", "0"][..], 2, "1 to 100"),
        (&["--shares", "10,10"], 2, "each share once"),
        (&["--part", "train"], 2, "possible values: dev, test"),
        (&["--arms", "all"], 2, "possible values: plain, augmented"),
        (&["--arms", "augmented", "--resamples", "0"], 2, "number of resamples is `0`"),
        (&["--arms", "augmented", "--generated", "round=9"], 65, "E-no-generated"),
        (&["--arms", "augmented", "doc=BikeRide"], 65, "E-no-text"),
    ];
    for (arguments, code, said) in wrong {
        let places = [&["--layer", "1", "--device", "cpu"][..], arguments].concat();
        let (encoder, splits) = (bench.place("encoder"), bench.place("splits.tsv"));
        let common = ["experiment", "frame-id", "--encoder", &encoder, "--split-list", &splits];
        let ran = fnstore_in(bench.store.path(), &[&common[..], &places].concat());
        assert_eq!(ran.code, Some(code), "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(said), "{arguments:?}: {}", ran.stderr);
    }
    let ran = bench.run("fes", &["--base", "90", "--more", "20"]);
    assert!(ran.stderr.contains("at most 100 percent"), "{}", ran.stderr);
    assert!(!Path::new(&bench.place("state")).exists());
}
