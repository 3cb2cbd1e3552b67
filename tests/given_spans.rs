//! A labeller that classifies given spans: trained from the command line, asked, and
//! refused where FEs are to be found.

use fnstore::compute::Device;
use fnstore::label::{Asked, Goal, LabelError, LabelledSentence, Labeller};
use fnstore::model::Span;
use fnstore::query::Expression;

use crate::cli_program::fnstore;
use crate::mini::imported;
use crate::tagging::with_encoder;

#[test]
fn given_spans_are_classified_and_no_fes_are_found() {
    let (store, database, _) = imported();
    let release = database.releases().unwrap().remove(0).name;
    let folder = with_encoder();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let list = at("splits.tsv");
    std::fs::write(&list, "document\tMINI__BikeRide\ttrain\ndocument\tMINI__HarbourLog\tdev\n")
        .unwrap();
    let data = ["--store", store.path().to_str().unwrap(), "--split-list", &list];
    let (out, encoder) = (at("classifier"), at("encoder"));
    let settings =
        ["--device", "cpu", "--hidden", "24", "--epochs", "30", "--learning-rate", "0.01"];
    let places = ["--given-spans", "--out", &out, "--encoder", &encoder, "--exemplars", "9"];
    let ran = fnstore(&[&["train", "fes"], &data[..], &places, &settings].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);

    let labeller = Labeller::open(out.as_ref(), encoder.as_ref(), &Device::cpu()).unwrap();
    assert_eq!(labeller.config().goal, Goal::GivenSpans);
    // Some of what it learned from it knows; no more is asked of a tiny encoder's states.
    let lexicon = database.lexicon(&release).unwrap();
    let query = Expression::parse("doc=BikeRide*").unwrap();
    let (mut spans_asked, mut right) = (0, 0);
    for sentence in LabelledSentence::read(&database, &release, &query).unwrap() {
        for gold in &sentence.targets {
            let frame = lexicon.frame_by_name(&gold.frame).unwrap().unwrap();
            let target = &sentence.words[gold.target.clone()];
            let asked = Asked { text: &sentence.text, target, lu: &gold.lexunit, frame: &frame };
            let spans: Vec<Span> = gold.elements.iter().map(|one| one.span).collect();
            let verdicts = labeller.judge_each(&[asked], &[spans]).unwrap().remove(0).unwrap();
            for (verdict, gold) in verdicts.iter().zip(&gold.elements) {
                spans_asked += 1;
                right += usize::from(verdict.element.as_ref() == Some(&gold.name));
            }
            let refused = labeller.label_each(&[asked]).unwrap_err();
            assert!(matches!(refused, LabelError::GivenSpans), "{refused}");
        }
    }
    assert!(spans_asked > 3 && right > 0, "{right} of {spans_asked}");
}
