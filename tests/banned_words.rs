//! Words banned from the default rewriter's outputs do not appear in them, however they are
//! spelled.

use std::path::Path;

use fnstore::engine::{BeamSettings, Device, violations};
use fnstore::paraphrase::{Constraints, Paraphraser, Request, RequestOutcome, Settings};

fn open() -> Paraphraser {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/paraphrase");
    Paraphraser::open(&dir, &Device::cpu()).unwrap()
}

const SENTENCES: [&str; 4] = [
    "Several witnesses confirmed that the car had stopped at the corner.",
    "He asked the students to explain why the experiment had failed.",
    "The committee examined the new proposal before the end of the month.",
    "Nobody could remember where the keys of the cellar were kept.",
];

fn settings(beam_size: usize) -> Settings {
    let beam = BeamSettings { beam_size, n_best: beam_size, ..BeamSettings::default() };
    Settings { beam, ..Settings::default() }
}

/// Rewrites every sentence `rounds` times, banning after each round what is new in its best text.
fn texts_of_rounds(
    paraphraser: &mut Paraphraser,
    rounds: usize,
) -> Vec<(Vec<String>, Vec<String>)> {
    let mut session = paraphraser.session(settings(6)).unwrap();
    let mut chains = Vec::new();
    for text in SENTENCES {
        let source = session.open(text).unwrap();
        let avoid: Vec<String> =
            text.split(' ').filter(|word| word.len() > 6).map(str::to_owned).collect();
        session.submit(source, &Constraints::avoiding(&avoid)).unwrap();
        chains.push((source, avoid, 0));
    }
    let mut texts = Vec::new();
    while let Some(rewrite) = session.next_finished().unwrap() {
        let (source, avoid, round) =
            chains.iter_mut().find(|chain| chain.0 == rewrite.source).unwrap();
        let found: Vec<String> =
            rewrite.outcome.paraphrases().iter().map(|p| p.text.clone()).collect();
        texts.push((avoid.clone(), found.clone()));
        let long = found.iter().flat_map(|text| text.split(|c: char| !c.is_alphanumeric()));
        avoid.extend(long.filter(|word| word.len() > 4).take(2).map(str::to_owned));
        *round += 1;
        if *round < rounds {
            session.submit(*source, &Constraints::avoiding(avoid.iter())).unwrap();
        } else {
            session.close(*source);
        }
    }
    texts
}

#[test]
fn no_round_brings_back_a_banned_word() {
    let mut paraphraser = open();
    let texts = texts_of_rounds(&mut paraphraser, 5);
    assert_eq!(texts.len(), 5 * SENTENCES.len());
    for (avoid, texts) in &texts {
        assert!(!texts.is_empty());
        for text in texts {
            assert_eq!(violations(text, avoid).unwrap(), [""; 0], "{text}");
        }
    }
    assert_eq!(paraphraser.leaks(), 0);
}

#[test]
fn longer_words_that_contain_a_banned_one_stay_possible() {
    let mut paraphraser = open();
    let request =
        Request { text: SENTENCES[2].to_owned(), constraints: Constraints::avoiding(["exam"]) };
    let outcomes = paraphraser.paraphrase(&[request], &settings(4)).unwrap();
    assert!(outcomes[0].paraphrases().iter().any(|p| p.text.contains("examined")));
}

#[test]
fn outcomes_do_not_depend_on_the_batch() {
    let mut paraphraser = open();
    let requests: Vec<Request> = SENTENCES
        .iter()
        .map(|text| Request {
            text: (*text).to_owned(),
            constraints: Constraints::avoiding(["the"]),
        })
        .collect();
    let together = paraphraser.paraphrase(&requests, &settings(5)).unwrap();
    for (request, outcome) in requests.iter().zip(&together) {
        let alone = paraphraser.paraphrase(std::slice::from_ref(request), &settings(5)).unwrap();
        assert_eq!(&alone[0], outcome);
        assert!(matches!(outcome, RequestOutcome::Paraphrases(_)));
    }
}
