//! A labeller of FEs works by the states that a frame model read, and finds the same.

use fnstore::database::Database;
use fnstore::engine::Device;
use fnstore::identify::{EncodedSentence, FrameIdentifier, Search};
use fnstore::label::{LabelRequest, Labeller};
use fnstore::model::Span;

use crate::frame_identification::trained;

#[test]
fn a_labeller_finds_the_same_by_states_that_were_read_before() {
    let (trained, _) = trained();
    let place = |name: &str| trained.folder.path().join(name).to_str().unwrap().to_owned();
    let (encoder, splits, fes) = (place("encoder"), place("splits.tsv"), place("fes"));
    let places = ["--encoder", &encoder, "--out", &fes, "--split-list", &splits];
    let settings = ["--epochs", "4", "--hidden", "8", "--exemplars", "9", "--device", "cpu"];
    let ran = trained.run(&[&["train", "fes"], &places[..], &settings].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);

    let frames = place("frames");
    let identifier =
        FrameIdentifier::open(frames.as_ref(), encoder.as_ref(), &Device::cpu()).unwrap();
    let labeller = Labeller::open(fes.as_ref(), encoder.as_ref(), &Device::cpu()).unwrap();
    let database = Database::open(trained.store.path()).unwrap();
    let lexicon = database.lexicon(&database.releases().unwrap()[0].name).unwrap();
    let frame = lexicon.frame_by_name("Checking").unwrap().unwrap();
    let texts = ["They checked every boat .", "They mended ropes at sea"];
    let none = identifier.candidates::<&str, &str>([]);
    let found = identifier.identify_encoded(&texts, &none, Search::Open).unwrap();
    let encoded: Vec<EncodedSentence> = found.into_iter().map(|of| of.unwrap().1).collect();
    let target = [Span::new(0, 4)];
    let asked =
        texts.map(|text| LabelRequest { text, target: &target, lu: "check.v", frame: &frame });
    let by_states = |order: [usize; 2]| {
        let encoded = order.map(|at| &encoded[at]);
        let labelled = labeller.label_encoded(&asked, &encoded).unwrap();
        labelled.into_iter().map(Result::unwrap).collect::<Vec<_>>()
    };
    let labelled = labeller.label_each(&asked).unwrap();
    let labelled: Vec<_> = labelled.into_iter().map(Result::unwrap).collect();
    assert!(labelled.iter().any(|found| !found.is_empty()));
    assert_eq!(by_states([0, 1]), labelled);
    assert_ne!(by_states([1, 0]), labelled, "the states are read, not the texts");
}
