//! Do generated sets help the labelling of frame elements where there is little data (Cui and
//! Swayamdipta 2024, section 4.1)?
//!
//! A base share of the full text alone; with generated sets of exactly its sentences; with more
//! human sets. The human addition is a further share of sentences. The generated addition has as
//! many annotation sets, or all that there are.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::comparison::{Comparison, Measure, PLAIN, compare};
use super::draw::{check_each, first_percent, order};
use super::error::check_measure;
use super::frame_id::Source;
use super::ledger::{ExperimentProgress, Key, Ledger, Training};
use super::{ExperimentError, Result};
use crate::engine::{Device, NnError, Weights, declared_languages};
use crate::label::train::{Data, Options, trial};
use crate::label::{ElementCounts, Inventory, LabelledSentence};
use crate::learn::{NetworkError, SplitMix64};
use crate::model::{AnnotationSetId, Split, named};
use crate::query::Expression;

named! {
    /// What a labeller learns from beside the base share.
    pub enum FeArm {
        /// Nothing.
        Plain => PLAIN,
        /// Generated sets of the share's sets.
        Generated => "generated",
        /// Further human sets.
        Human => "human",
    }
}

/// What to train and to measure.
#[derive(Debug, Clone)]
pub struct FeOptions {
    /// How to train each labeller; nothing is written, and the seed of a draw's trainings is
    /// [`seed`](Self::seed) and the draw's number.
    pub training: Options,
    /// Percent of the full text's sentences that every arm learns from.
    pub base: f64,
    /// Percent that is added to it.
    pub more: f64,
    /// Draws.
    pub resamples: usize,
    /// Seed of the draws.
    pub seed: u64,
    /// The part that measures: `dev` or `test`. `dev` also chooses epochs.
    pub part: Split,
    /// Where the networks run.
    pub device: Device,
}

/// Sentences with annotated FEs.
struct Pool {
    whole: Vec<LabelledSentence>,
    generated: Vec<LabelledSentence>,
    dev: Vec<LabelledSentence>,
    test: Vec<LabelledSentence>,
}

/// Runs the experiment: a row for each arm and measure (`FE F1`, `FE precision`, `FE recall`, exact
/// spans with gold targets and frames). With a checkpoint, a stopped run resumes after its last
/// training.
///
/// # Errors
/// When an option is out of range, there is nothing to learn from or to add, the store fails, the
/// encoder cannot be read, or the checkpoint is of another run.
pub fn fes(
    source: Source<'_>,
    options: &FeOptions,
    progress: &mut dyn FnMut(ExperimentProgress),
) -> Result<Vec<Comparison>> {
    options.check()?;
    source.database.require_list_of(&source.expression())?;
    let lexicon = source.database.lexicon(source.release)?;
    lexicon.check_language(&declared_languages(&options.training.encoder))?;
    let pool = Pool::read(source)?;
    let inventory = Inventory::read(&lexicon)?;
    let run = options.run(&pool, &inventory)?;
    let checkpoint = options.training.checkpoint.as_deref();
    let share = options.base.to_string();
    let key =
        |arm: FeArm, resample| Key { share: share.clone(), arm: arm.as_str().to_owned(), resample };
    let keys = (0..options.resamples).flat_map(|at| FeArm::ALL.map(|arm| key(arm, at)));
    let mut ledger = Ledger::open(checkpoint, run, keys.collect(), progress)?;
    for resample in 0..options.resamples {
        for arm in FeArm::ALL {
            let key = key(arm, resample);
            if ledger.get(&key).is_some() {
                continue;
            }
            let (base, added) = pool.draw(arm, options, resample)?;
            let [more, _] = LabelledSentence::counts(&added);
            let (sentences, full_text) = (base.len(), [base, added].concat());
            let data = Data { full_text, exemplars: Vec::new(), dev: pool.dev.clone() };
            let mut training = Options { checkpoint: None, ..options.training.clone() };
            training.training.seed = options.seed.wrapping_add(resample as u64);
            let measured = (options.part == Split::Test).then_some(&pool.test[..]);
            let figures = trial(&training, &inventory, &data, measured, &options.device)?;
            let done =
                Training { key, sentences, exemplars: 0, added: more, figures, agreed: Vec::new() };
            ledger.add(done, figures.f1(), progress)?;
        }
    }
    let measures: [Measure<ElementCounts>; 3] = [
        ("FE F1", ElementCounts::f1),
        ("FE precision", ElementCounts::precision),
        ("FE recall", ElementCounts::recall),
    ];
    Ok(compare(&ledger.finished(), &measures))
}

impl FeOptions {
    fn check(&self) -> Result<()> {
        let wrong =
            |name, found: String, expected| Err(ExperimentError::Setting { name, found, expected });
        check_measure(self.part, self.resamples)?;
        for (name, percent) in [("base", self.base), ("more", self.more)] {
            if percent.is_nan() || percent <= 0.0 {
                return wrong(name, percent.to_string(), "percent above 0");
            }
        }
        if self.base + self.more > 100.0 {
            let sum = (self.base + self.more).to_string();
            return wrong("sum of base and more", sum, "at most 100 percent");
        }
        Ok(())
    }

    /// All that figures depend on.
    fn run(&self, pool: &Pool, inventory: &Inventory) -> Result<Value> {
        let encoder = Weights::open(&self.training.encoder).and_then(|of| of.fingerprint());
        let encoder = encoder.map_err(NnError::from).map_err(NetworkError::from)?;
        let hash =
            |value: &dyn std::fmt::Debug| blake3::hash(format!("{value:?}").as_bytes()).to_string();
        let Options { layer, hidden, longest, dropout, training, .. } = &self.training;
        Ok(json!({
            "experiment": "fes",
            "encoder": encoder.to_string(),
            "part": self.part.as_str(),
            "seed": self.seed,
            "base": self.base.to_string(),
            "more": self.more.to_string(),
            "data": hash(&pool.whole),
            "generated": hash(&pool.generated),
            "dev": hash(&pool.dev),
            "test": hash(&pool.test),
            "frames": hash(inventory),
            "device": if matches!(self.device, Device::Cpu { .. }) { "cpu" } else { "gpu" },
            "training": format!("{layer:?} {hidden} {longest} {dropout:?} {training:?}"),
        }))
    }
}

impl Pool {
    fn read(source: Source<'_>) -> Result<Self> {
        let Source { database, release, within, generated } = source;
        let read = |text: &str, more: &Expression| -> Result<Vec<LabelledSentence>> {
            let query: Expression = text.parse().expect("the query is well formed");
            let query = Expression::conjunction([query, more.clone()]);
            Ok(LabelledSentence::read(database, release, &query)?)
        };
        let everything = Expression::conjunction([]);
        let mut whole = read("origin=fulltext split=train", &everything)?;
        let passing = read("origin=fulltext split=train", within)?;
        let passing: HashSet<_> = passing.iter().map(|sentence| sentence.id).collect();
        whole.retain(|sentence| passing.contains(&sentence.id));
        let [dev, test] = [
            read("origin=fulltext split=dev", &everything)?,
            read("origin=fulltext split=test", &everything)?,
        ];
        let mut made = read("origin=generated", generated)?;
        let dev = LabelledSentence::apart_from(dev, &test);
        for data in [&mut whole, &mut made] {
            for others in [&dev, &test] {
                *data = LabelledSentence::apart_from(std::mem::take(data), others);
            }
        }
        if whole.is_empty() {
            return Err(ExperimentError::NoText { query: within.to_string() });
        }
        let seeds = sets_of(&whole);
        made.retain(|sentence| seeds_of(sentence).all(|seed| seeds.contains(&seed)));
        if made.is_empty() {
            let query = generated.to_string();
            return Err(ExperimentError::NoGenerated { query, seeds: seeds.len() });
        }
        Ok(Self { whole, generated: made, dev, test })
    }

    /// What an arm of a draw learns from: the base share, and what it adds.
    fn draw(
        &self,
        arm: FeArm,
        options: &FeOptions,
        resample: usize,
    ) -> Result<(Vec<LabelledSentence>, Vec<LabelledSentence>)> {
        let order = order(self.whole.len(), options.seed, resample);
        let at = |places: &[usize]| -> Vec<LabelledSentence> {
            places.iter().map(|at| self.whole[*at].clone()).collect()
        };
        let base = first_percent(&order, options.base);
        let rest = first_percent(&order, options.base + options.more);
        let drawn: HashSet<usize> = base.iter().copied().collect();
        let rest: Vec<usize> = rest.into_iter().filter(|at| !drawn.contains(at)).collect();
        let (base, human) = (at(&base), at(&rest));
        let added = match arm {
            FeArm::Plain => Vec::new(),
            FeArm::Human => human,
            FeArm::Generated => {
                let [as_many, _] = LabelledSentence::counts(&human);
                self.generated_of(&base, as_many, options.seed.wrapping_add(resample as u64))
            }
        };
        if arm == FeArm::Generated {
            let targets = added.iter().flat_map(|sentence| &sentence.targets);
            let seeds = targets.map(|target| (target.set, target.seed));
            check_each(seeds, &sets_of(&base), options.base)?;
        }
        Ok((base, added))
    }

    /// At most so many generated sets of some sentences, drawn by a seed, in order of their ids.
    fn generated_of(
        &self,
        base: &[LabelledSentence],
        most: usize,
        seed: u64,
    ) -> Vec<LabelledSentence> {
        let seeds = sets_of(base);
        let is_of = |of: &&LabelledSentence| seeds_of(of).all(|seed| seeds.contains(&seed));
        let mut of_base: Vec<&LabelledSentence> = self.generated.iter().filter(is_of).collect();
        SplitMix64::new(seed).shuffle(&mut of_base);
        of_base.truncate(most);
        of_base.sort_unstable_by_key(|sentence| sentence.id);
        of_base.into_iter().cloned().collect()
    }
}

fn sets_of(sentences: &[LabelledSentence]) -> HashSet<AnnotationSetId> {
    sentences.iter().flat_map(|sentence| sentence.targets.iter().map(|of| of.set)).collect()
}

fn seeds_of(sentence: &LabelledSentence) -> impl Iterator<Item = AnnotationSetId> {
    sentence.targets.iter().filter_map(|target| target.seed)
}
