//! A labeller that classifies given spans: trained, opened again, asked, and refused where FEs are
//! to be found.

use fnstore::NetworkError;
use fnstore::engine::Device;
use fnstore::label::train::{Data, run};
use fnstore::label::{Goal, LabelRequest, Labeller};
use fnstore::model::Span;

use crate::cli_program::fnstore;
use crate::fe_labelling::{inventory, options, read};
use crate::mini::imported;
use crate::tagging::with_encoder;

#[test]
fn given_spans_are_classified_and_no_fes_are_found() {
    let (_store, database, _) = imported();
    let folder = with_encoder();
    let sentences = read(&database, "");
    let mut options = options(folder.path());
    options.goal = Goal::GivenSpans;
    let data = Data { full_text: sentences.clone(), exemplars: Vec::new(), dev: sentences.clone() };
    let inventory = inventory(&database);
    let config = run(&options, &inventory, &data, &Device::cpu(), &mut |_| ()).unwrap();
    assert_eq!(config.goal, Goal::GivenSpans);

    let labeller = Labeller::open(&options.out, &options.encoder, &Device::cpu()).unwrap();
    let lexicon = database.lexicon(&database.releases().unwrap()[0].name).unwrap();
    let (mut of_elements, mut right) = (0, 0);
    for sentence in &sentences {
        for gold in &sentence.targets {
            let frame = lexicon.frame_by_name(&gold.frame).unwrap().unwrap();
            let target = &sentence.words[gold.target.clone()];
            let asked =
                LabelRequest { text: &sentence.text, target, lu: &gold.lexunit, frame: &frame };
            let spans: Vec<Span> = gold.elements.iter().map(|one| one.span).collect();
            let verdicts = labeller.judge_each(&[asked], &[spans]).unwrap().remove(0).unwrap();
            for (verdict, gold) in verdicts.iter().zip(&gold.elements) {
                of_elements += 1;
                right += usize::from(verdict.element.as_ref() == Some(&gold.name));
            }
            let refused = labeller.label_each(&[asked]).unwrap_err();
            assert!(matches!(refused, NetworkError::GivenSpans), "{refused}");
        }
    }
    // What it learned from it mostly knows.
    assert!(of_elements > 20 && 10 * right > 7 * of_elements, "{right} of {of_elements}");
}

#[test]
fn a_classifier_is_trained_and_measured_on_the_command_line() {
    let (store, database, _) = imported();
    drop(database);
    let folder = with_encoder();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let list = at("splits.tsv");
    std::fs::write(&list, "document\tMINI__BikeRide\ttrain\ndocument\tMINI__HarbourLog\tdev\n")
        .unwrap();
    let data = ["--store", store.path().to_str().unwrap(), "--split-list", &list];
    let (out, encoder, models) = (at("classifier"), at("encoder"), at(""));
    let train = ["--given-spans", "--out", &out, "--encoder", &encoder, "--device", "cpu"];
    let settings = ["--hidden", "8", "--epochs", "1"];
    let ran = fnstore(&[&["train", "fes"], &data[..], &train, &settings].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);

    let eval = ["eval", "fes", "--models", &models, "--labeller", "classifier", "--device", "cpu"];
    let part = ["--part", "dev", "--format", "json"];
    let ran = fnstore(&[&eval[..], &data, &part].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let document = ran.document("eval-fes.schema.json");
    // It finds none, so only the row of spans counts anything.
    assert_eq!(document["scores"][0]["gold"], 0);
    assert!(document["spans"]["number"].as_u64().unwrap() > 0, "{document}");
}
