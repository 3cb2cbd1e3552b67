//! What do banned phrases cost? Sentences per second, and time per step of one search, with no
//! bans, with the bans of an expansion round on every sentence, and with 10,000 phrases banned
//! everywhere, at beam sizes 10 and 30. A search under bans also takes more steps: what it may say
//! is longer.
//!
//! `cargo bench --bench ban_cost`; the model is `models/paraphrase` or the directory named by
//! `FNSTORE_BENCH_MODEL`.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

use fnstore::engine::{BeamSettings, Device, Tokenizer};
use fnstore::paraphrase::{Constraints, Paraphraser, RequestOutcome, Settings};

const SENTENCES: [&str; 16] = [
    "The committee examined the new proposal before the end of the month.",
    "She repaired the old clock that her grandfather had left behind.",
    "Several witnesses confirmed that the car had stopped at the corner.",
    "The river carried the boat slowly towards the narrow bridge.",
    "He asked the students to explain why the experiment had failed.",
    "Prices of bread and milk rose again during the winter.",
    "The museum shows paintings that were hidden for many years.",
    "After the storm the villagers gathered wood along the beach.",
    "Nobody could remember where the keys of the cellar were kept.",
    "The doctor told him to rest and to drink more water.",
    "They built a small house near the lake and lived there happily.",
    "The company announced that it would hire two hundred people.",
    "A strange noise woke the children in the middle of the night.",
    "The teacher praised the girl because she had written a clear report.",
    "Our train left the station ten minutes later than planned.",
    "The judge decided that the evidence was not strong enough.",
];

/// Sentences of a run: many more than fit into a step, so that the batch stays full.
const COUNT: usize = 96;

/// The best of so many runs counts: other work on the machine only ever adds time.
const REPEATS: usize = 3;

fn main() -> Result<(), Box<dyn Error>> {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/paraphrase");
    let dir = std::env::var_os("FNSTORE_BENCH_MODEL").map_or(default, PathBuf::from);
    let mut paraphraser = Paraphraser::open(&dir, &Device::cpu())?;
    let many = invented_words(paraphraser.tokenizer(), 10_000);
    eprintln!("beam  bans                 sentences/s  steps/sentence  us/step  leaks");
    for beam_size in [10, 30] {
        let beam = BeamSettings { beam_size, n_best: beam_size, ..BeamSettings::default() };
        for (name, bans_own_words, avoid) in [
            ("none", false, &[][..]),
            ("of a round, each", true, &[][..]),
            ("10,000 everywhere", false, &many[..]),
        ] {
            let settings = Settings { beam, avoid: avoid.to_vec(), ..Settings::default() };
            let (mut seconds, mut steps) = (f64::INFINITY, 0);
            for _ in 0..REPEATS {
                let begin = Instant::now();
                steps = rewrite_all(&mut paraphraser, settings.clone(), bans_own_words)?;
                seconds = seconds.min(begin.elapsed().as_secs_f64());
            }
            let count = COUNT as f64;
            eprintln!(
                "{beam_size:4}  {name:19}  {:11.2}  {:14.1}  {:7.0}  {:5}",
                count / seconds,
                steps as f64 / count,
                1e6 * seconds / steps as f64,
                paraphraser.leaks(),
            );
        }
    }
    Ok(())
}

/// Rewrites the sentences side by side; returns the steps of all searches together.
fn rewrite_all(
    paraphraser: &mut Paraphraser,
    settings: Settings,
    bans_own_words: bool,
) -> Result<usize, Box<dyn Error>> {
    let mut session = paraphraser.session(settings)?;
    for text in SENTENCES.iter().cycle().take(COUNT) {
        let source = session.open(text)?;
        let avoid = if bans_own_words { forms(text) } else { Vec::new() };
        session.submit(source, &Constraints::avoiding(avoid))?;
    }
    let mut steps = 0;
    while let Some(rewrite) = session.next_finished()? {
        assert!(matches!(rewrite.outcome, RequestOutcome::Paraphrases(_)));
        session.close(rewrite.source);
        steps += rewrite.steps;
    }
    Ok(steps)
}

/// The longer words of a sentence with made-up inflections: about as many phrases as ten rounds
/// ban.
fn forms(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphabetic()).filter(|word| word.len() > 4);
    words.flat_map(|word| ["", "s", "ed", "ing"].map(|ending| format!("{word}{ending}"))).collect()
}

/// Words that share their beginnings with real ones: pairs of pieces of the model's own vocabulary.
fn invented_words(tokenizer: &Tokenizer, count: usize) -> Vec<String> {
    let ids = 0..u32::try_from(tokenizer.vocab_size()).expect("token ids are 32-bit");
    let surfaces: Vec<&str> = ids
        .filter_map(|id| std::str::from_utf8(tokenizer.surface(id)).ok())
        .filter(|surface| {
            surface.trim().len() > 1 && surface.trim().chars().all(char::is_alphabetic)
        })
        .collect();
    let (beginnings, endings): (Vec<&str>, Vec<&str>) =
        surfaces.into_iter().partition(|surface| surface.starts_with(' '));
    // Strides without a common factor walk through different pairs.
    (0..count)
        .map(|n| {
            let beginning = beginnings[n * 7 % beginnings.len()].trim();
            format!("{beginning}{}", endings[(n * 13 + n / beginnings.len()) % endings.len()])
        })
        .collect()
}
