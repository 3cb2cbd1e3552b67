//! Rewriters that share sentences out among themselves answer as one does, in the order of the
//! requests.

use std::path::Path;

use fnstore::engine::{BeamSettings, Device, Numbers};
use fnstore::paraphrase::{Constraints, Crew, ParaphraseError, Paraphraser, Request, Settings};

fn requests(count: usize) -> Vec<Request> {
    let subjects = ["witnesses", "members", "neighbours", "engineers", "reporters"];
    let text = |at: usize| match at % 17 {
        16 => "too long ".repeat(60),
        _ => format!("Several {} saw {at} cars at the corner.", subjects[at % subjects.len()]),
    };
    let ban = |at: usize| if at.is_multiple_of(3) { "saw" } else { "corner" };
    (0..count)
        .map(|at| Request { text: text(at), constraints: Constraints::avoiding([ban(at)]) })
        .collect()
}

fn settings() -> Settings {
    let beam = BeamSettings { beam_size: 2, n_best: 1, ..BeamSettings::default() };
    Settings { beam, ..Settings::default() }
}

fn model() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("models/paraphrase")
}

#[test]
fn three_answer_as_one_does() {
    let requests = requests(80);
    let mut one = Paraphraser::open_in(&model(), &Device::cpu(), Numbers::Int8).unwrap();
    let three = Device::Cpu { threads: 3 };
    let mut crew = Crew::open_with(&model(), None, &three, Numbers::Int8).unwrap();
    let expected = one.paraphrase(&requests, &settings()).unwrap();
    assert_eq!(crew.paraphrase(&requests, &settings()).unwrap(), expected);
    assert_eq!(crew.paraphrase(&requests[..1], &settings()).unwrap(), expected[..1]);
    assert_eq!(crew.paraphrase(&[], &settings()).unwrap(), []);
}

#[test]
fn a_request_that_cannot_be_asked_fails_and_the_next_call_answers() {
    let mut asked = requests(70);
    let two = Device::Cpu { threads: 2 };
    let mut crew = Crew::open_with(&model(), None, &two, Numbers::Int8).unwrap();
    let expected = crew.paraphrase(&asked[..3], &settings()).unwrap();
    asked[66].constraints = Constraints::avoiding(["  "]);
    let failed = crew.paraphrase(&asked, &settings());
    assert!(matches!(failed, Err(ParaphraseError::Decode { .. })), "{failed:?}");
    assert_eq!(crew.paraphrase(&asked[..3], &settings()).unwrap(), expected);
}
