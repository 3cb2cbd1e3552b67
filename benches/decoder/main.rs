//! How fast is the decoder? Sentences per second on a random model of the shape of Culkin et al.
//! (2021, footnote 3): 6 encoder and 4 decoder layers, 512 wide, 8 heads, 2048 inner. It has 16,000
//! tokens; 32 sources of 25 tokens, beam 20, exactly 25 steps, since the end is masked. Then with
//! constraints, at the same number of steps, and ten rounds of one sentence, each under more bans
//! than the one before.
//!
//! `cargo bench --bench decoder`; `FNSTORE_BENCH_MODEL` names a directory for the model, in which
//! it is used again. Runs of all rows alternate and the best of each counts: other work on the
//! machine only ever adds time. `FNSTORE_BENCH_NUMBERS` (f32, int8) and `FNSTORE_BENCH_THREADS` say
//! how to compute. `FNSTORE_DEVICE` takes a GPU, where numbers are f32, f16 (weights) or f16-units
//! (weights, on matrix units), and `FNSTORE_BENCH_SOURCES` another number of sources.
//!
//! `benches/peers/decoder.py` runs the same beside CTranslate2, on a GPU beside PyTorch as well;
//! for it, `FNSTORE_BENCH_ROW` asks for one row and the seconds that it took, on stdout.

mod model;

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use fnstore::engine::{
    AvoidPhrases, AvoidTokens, BeamSettings, Constraint, Device, DeviceChoice, EncoderDecoder,
    Finished, GpuOptions, LengthLimit, Numbers, RequirePhrases, Scheduler,
};
use model::{END, Random, Words};

/// Sources where nothing else is asked for.
const SOURCES: usize = 32;
const LENGTH: usize = 25;
const BEAM: usize = 20;
const STEPS: usize = 25;
/// Words of a sentence that an expansion has banned by its tenth round.
const BANS_OF_A_ROUND: usize = 40;
/// Words banned everywhere.
const BANS_EVERYWHERE: usize = 10_000;
const ROUNDS: usize = 10;
const REPEATS: usize = 5;

/// What is asked of the outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StepRow {
    Free,
    BansOfARound,
    BansEverywhere,
    RequiredPhrase,
    RequiredWords,
}

impl StepRow {
    const ALL: [(Self, &'static str); 5] = [
        (Self::Free, "nothing"),
        (Self::BansOfARound, "bans of a round"),
        (Self::BansEverywhere, "10,000 bans"),
        (Self::RequiredPhrase, "a phrase of 4 words"),
        (Self::RequiredWords, "3 words"),
    ];
}

fn main() -> Result<(), Box<dyn Error>> {
    let temporary = tempfile::tempdir()?;
    let directory = std::env::var_os("FNSTORE_BENCH_MODEL")
        .map_or_else(|| temporary.path().to_owned(), PathBuf::from);
    model::write_unless_there(&directory)?;
    let numbers = std::env::var("FNSTORE_BENCH_NUMBERS").unwrap_or_default();
    let (device, numbers) = device(if numbers.is_empty() { "f32" } else { &numbers })?;
    let mut network = EncoderDecoder::open_in(&directory, &device, numbers)?;
    let words = Words::new();
    let sources = match std::env::var("FNSTORE_BENCH_SOURCES") {
        Ok(sources) => sources.parse()?,
        Err(_) => SOURCES,
    };
    let asked = Asked::new(&mut network, words, sources)?;
    let mut run = |row| -> Result<f64, Box<dyn Error>> {
        let constraints = asked.constraints(row)?;
        let begin = Instant::now();
        search(&mut network, constraints)?;
        Ok(begin.elapsed().as_secs_f64())
    };
    if let Some(wanted) = std::env::var_os("FNSTORE_BENCH_ROW") {
        let row = StepRow::ALL.iter().find(|(_, name)| wanted == **name);
        let (row, _) = row.ok_or("FNSTORE_BENCH_ROW names no row")?;
        #[allow(clippy::print_stdout, reason = "the result, for the script that asked")]
        {
            // The searches that say what there is to ask have warmed the device up.
            println!("{:.4}", run(*row)?);
        }
        return Ok(());
    }
    let mut seconds = [f64::INFINITY; StepRow::ALL.len()];
    for _ in 0..REPEATS {
        for (best, (row, _)) in seconds.iter_mut().zip(StepRow::ALL) {
            *best = best.min(run(row)?);
        }
    }
    eprintln!("asked of the outputs  sentences/s  of the speed with nothing asked");
    for (best, (_, name)) in seconds.iter().zip(StepRow::ALL) {
        eprintln!("{name:20}  {:11.2}  {:.2}", sources as f64 / best, seconds[0] / best);
    }
    rounds(&mut network, &asked.words)
}

/// The device that `FNSTORE_DEVICE` names, the CPU where it is not set, to compute in some numbers.
fn device(numbers: &str) -> Result<(Device, Numbers), Box<dyn Error>> {
    let choice = std::env::var("FNSTORE_DEVICE").unwrap_or_else(|_| "cpu".to_owned()).parse()?;
    if choice == DeviceChoice::Cpu {
        let device = match std::env::var("FNSTORE_BENCH_THREADS") {
            Ok(threads) => Device::Cpu { threads: threads.parse()? },
            Err(_) => Device::cpu(),
        };
        return Ok((device, numbers.parse()?));
    }
    let (half, units) = match numbers {
        "f32" => (false, false),
        "f16" => (true, false),
        "f16-units" => (true, true),
        _ => return Err("on a GPU FNSTORE_BENCH_NUMBERS is f32, f16 or f16-units".into()),
    };
    let device =
        Device::open(&choice, &GpuOptions { half, units, tune: true, ..GpuOptions::default() })?;
    let format = device.format(Numbers::F32);
    if format != numbers {
        return Err(format!("the device computes in {format}, not in {numbers}").into());
    }
    Ok((device, Numbers::F32))
}

fn settings() -> BeamSettings {
    BeamSettings {
        beam_size: BEAM,
        n_best: BEAM,
        length_limit: LengthLimit::tokens(STEPS),
        ..BeamSettings::default()
    }
}

/// Only the length limit ends a search.
fn without_end() -> Result<Constraint, Box<dyn Error>> {
    let tokens = Some(Arc::new(AvoidTokens::new([[END]])?));
    Ok(Constraint { tokens, ..Constraint::default() })
}

fn avoid(words: &Words, phrases: &[String]) -> Result<Option<Arc<AvoidPhrases>>, Box<dyn Error>> {
    Ok(Some(Arc::new(AvoidPhrases::new(Arc::clone(&words.vocabulary), phrases)?)))
}

/// What can be asked of the outputs.
struct Asked {
    words: Words,
    /// Words of each source's outputs when nothing is asked, the best output's first: bans of words
    /// that nobody would say cost nothing.
    said: Vec<Vec<String>>,
    everywhere: Option<Arc<AvoidPhrases>>,
}

impl Asked {
    fn new(
        network: &mut EncoderDecoder,
        words: Words,
        sources: usize,
    ) -> Result<Self, Box<dyn Error>> {
        let free = (0..sources).map(|_| without_end()).collect::<Result<_, _>>()?;
        let mut said = Vec::new();
        for outputs in search(network, free)? {
            let mut own: Vec<String> = Vec::new();
            for tokens in outputs {
                for word in words.text(&tokens).split_whitespace() {
                    if !own.iter().any(|known| known == word) {
                        own.push(word.to_owned());
                    }
                }
            }
            said.push(own);
        }
        let mut random = Random(3);
        let mut phrases: Vec<String> = said.concat();
        phrases.resize_with(BANS_EVERYWHERE, || words.word(&mut random));
        let everywhere = avoid(&words, &phrases)?;
        Ok(Self { words, said, everywhere })
    }

    /// The constraint of each source.
    fn constraints(&self, row: StepRow) -> Result<Vec<Constraint>, Box<dyn Error>> {
        let words = &self.words;
        let mut random = Random(5);
        let mut constraint = |said: &Vec<String>| {
            let mut constraint = without_end()?;
            let mut some = |count| (0..count).map(|_| words.word(&mut random)).collect::<Vec<_>>();
            let required = match row {
                StepRow::Free => Vec::new(),
                StepRow::BansOfARound => {
                    constraint.here = avoid(words, &said[..said.len().min(BANS_OF_A_ROUND)])?;
                    Vec::new()
                }
                StepRow::BansEverywhere => {
                    constraint.everywhere = self.everywhere.clone();
                    Vec::new()
                }
                StepRow::RequiredPhrase => vec![[some(4).join(" ")]],
                StepRow::RequiredWords => some(3).into_iter().map(|word| [word]).collect(),
            };
            if !required.is_empty() {
                let vocabulary = Arc::clone(&words.vocabulary);
                let required = RequirePhrases::new(vocabulary, &required, |word| words.cut(word))?;
                constraint.required = Some(Arc::new(required));
            }
            Ok(constraint)
        };
        self.said.iter().map(&mut constraint).collect()
    }
}

/// Searches all sources side by side, each under its constraint; returns the outputs of each.
fn search(
    network: &mut EncoderDecoder,
    asked: Vec<Constraint>,
) -> Result<Vec<Vec<Vec<u32>>>, Box<dyn Error>> {
    let mut scheduler = Scheduler::new(asked.len() * BEAM);
    for (tokens, constraint) in Words::sources(asked.len(), LENGTH).into_iter().zip(asked) {
        let source = scheduler.add_source(tokens);
        scheduler.submit(source, constraint, settings())?;
    }
    let mut finished = run(&mut scheduler, network)?;
    finished.sort_by_key(|finished| finished.source);
    let mut outputs = Vec::new();
    for Finished { source, hypotheses, steps, .. } in finished {
        assert_eq!(steps, STEPS, "every row takes as many steps");
        outputs.push(hypotheses.into_iter().map(|hypothesis| hypothesis.tokens).collect());
        scheduler.release(source, network);
    }
    Ok(outputs)
}

fn run(
    scheduler: &mut Scheduler,
    network: &mut EncoderDecoder,
) -> Result<Vec<Finished>, Box<dyn Error>> {
    let mut finished = Vec::new();
    while !scheduler.is_idle() {
        finished.extend(scheduler.step(network)?);
    }
    Ok(finished)
}

/// Ten rounds of one sentence after the other: each bans a word of the best output in four forms,
/// as an expansion bans what it found.
fn rounds(network: &mut EncoderDecoder, words: &Words) -> Result<(), Box<dyn Error>> {
    let (mut first, mut all, mut steps, mut reused, mut kept) = (0.0, 0.0, 0, 0, 0);
    let mut random = Random(11);
    for tokens in Words::sources(8, LENGTH) {
        let mut scheduler = Scheduler::new(BEAM);
        let begin = Instant::now();
        let source = scheduler.add_source_with_steps(tokens);
        let mut banned = Vec::new();
        for round in 0..ROUNDS {
            let constraint = Constraint { here: avoid(words, &banned)?, ..without_end()? };
            scheduler.submit_next(source, constraint, settings())?;
            let finished = run(&mut scheduler, network)?.remove(0);
            (steps, reused) = (steps + finished.steps, reused + finished.steps_reused);
            let text = words.text(&finished.hypotheses[0].tokens);
            let said: Vec<&str> = text.split(' ').filter(|word| !word.is_empty()).collect();
            let found = said[random.below(said.len())];
            banned.extend(["", "s", "ed", "ing"].map(|ending| format!("{found}{ending}")));
            if round == 0 {
                first += begin.elapsed().as_secs_f64();
            }
        }
        all += begin.elapsed().as_secs_f64();
        kept = kept.max(network.cached_bytes());
        scheduler.release(source, network);
    }
    eprintln!(
        "{ROUNDS} rounds of one sentence: {:.2} times one round; {:.0} % of the steps were those of \
         the round before, and keeping them took {:.0} MB",
        all / first,
        100.0 * reused as f64 / steps as f64,
        kept as f64 / 1e6,
    );
    Ok(())
}
