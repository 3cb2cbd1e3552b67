//! Does augmentation help the identification of frames (Culkin et al. 2021, section 6.3)?
//!
//! The units that are drawn are sentences of full text. Every arm of a draw learns from the same
//! sentences and exemplars, starts from the same weights, and is measured on the same documents
//! with the same lexicon: the release's own LUs, without those that expansions proposed.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::comparison::{Comparison, Measure, PLAIN, compare};
use super::draw::{Share, check_seeds, earliest, first_percent, order, sets_of};
use super::error::check_measure;
use super::ledger::{ExperimentProgress, Key, Ledger, Training};
use super::substitution::{Triggered, same_tags, substituted};
use super::{ExperimentError, Result};
use crate::database::Database;
use crate::engine::{Device, declared_languages};
use crate::identify::train::{Data, FitOptions, Trials};
use crate::identify::{Figures, FrameSentence, FullText, LexunitName, released_lexunits};
use crate::model::{AnnotationSetId, Split, named};
use crate::query::Expression;
use crate::tag::Tagger;

named! {
    /// What a model learns from beside the human sets of a draw.
    pub enum Arm {
        /// Nothing.
        Plain => PLAIN,
        /// The generated sets of the draw's sets.
        Augmented => "augmented",
        /// Those of them that the precision filter keeps.
        Precision => "p",
        /// Those that the recall filter keeps.
        Recall => "r",
        /// Those to which the plain arm's model of the same draw gives their frame.
        Agreement => "agreement",
        /// In place of each the seed's sentence with the new trigger, if that has the parts of
        /// speech of the old one.
        Substitution => "substitution",
    }
}

/// What to train and to measure.
#[derive(Debug, Clone)]
pub struct FrameIdOptions {
    /// Directory of the encoder.
    pub encoder: PathBuf,
    /// Layers of the encoder whose states are read, ascending; 0 is the embeddings.
    pub layers: Vec<usize>,
    /// How to fit each network; the seed of a draw's trainings is its seed and the draw's number.
    pub fit: FitOptions,
    /// Shares of the full text.
    pub shares: Vec<Share>,
    /// Arms; the plain one is always trained.
    pub arms: Vec<Arm>,
    /// No lexicon says which spans may be targets, and of which frames: any span of at most three
    /// words may evoke any frame, as in the paper.
    pub without_lexicon: bool,
    /// Draws of each share.
    pub resamples: usize,
    /// Seed of the draws.
    pub seed: u64,
    /// The part that measures: `dev` or `test`. `dev` also chooses epochs and the bias of NULL.
    pub part: Split,
    /// Scores of the filters from which on the arms `p` and `r` keep a set.
    pub cuts: [f32; 2],
    /// File that keeps what each training gave.
    pub checkpoint: Option<PathBuf>,
    /// Where the networks run.
    pub device: Device,
}

/// Where sentences come from.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The store, under the split list of the editions that are named.
    pub database: &'a Database,
    /// Name of the release.
    pub release: &'a str,
    /// Sentences of the part `train` of which a set passes are drawn from.
    pub within: &'a Expression,
    /// Generated sets that may be added.
    pub generated: &'a Expression,
}

impl Source<'_> {
    /// What is asked for, together.
    pub(super) fn expression(&self) -> Expression {
        Expression::conjunction([self.within.clone(), self.generated.clone()])
    }
}

/// All that trainings may learn from, one kind after the other.
struct Pool {
    all: Vec<FrameSentence>,
    whole: Range<usize>,
    exemplars: Range<usize>,
    generated: Range<usize>,
    /// Place of the substitution that is made of a generated sentence.
    substitutions: HashMap<usize, usize>,
}

/// What one draw learns from: places in the pool.
struct Draw {
    whole: Vec<usize>,
    exemplars: Vec<usize>,
    generated: Vec<usize>,
}

/// Runs the experiment: a row for each share, arm and measure. Measures are `span and frame F1`,
/// `accuracy at gold targets`, the same of LUs that the share lacks, and without the lexicon.
/// With a checkpoint, a stopped run resumes after its last training.
///
/// # Errors
/// When an option is out of range, there is nothing to learn from or to add, the store fails, a
/// model cannot be read, or the checkpoint is of another run.
pub fn frame_id(
    source: Source<'_>,
    options: &FrameIdOptions,
    tagger: Option<&Tagger>,
    progress: &mut dyn FnMut(ExperimentProgress),
) -> Result<Vec<Comparison>> {
    let arms = options.check()?;
    let texts = FullText::read(source.database, source.release)?;
    source.database.require_list_of(&source.expression())?;
    let lexicon = source.database.lexicon(source.release)?;
    lexicon.check_language(&declared_languages(&options.encoder))?;
    tagger.map_or(Ok(()), |tagger| lexicon.check_language(tagger.declared()))?;
    let lexunits = match options.without_lexicon {
        true => Vec::new(),
        false => released_lexunits(&lexicon)?,
    };
    let pool = Pool::read(source, options, &texts, tagger)?;
    let morphology = &texts.morphology;
    let data = Data { train: &pool.all, dev: &texts.dev, lexunits: &lexunits, morphology };
    let measured = (options.part == Split::Test).then_some(&texts.test[..]);
    let mut encoded = |done, total| progress(ExperimentProgress::Encoded { done, total });
    let encoder = (&*options.encoder, &*options.layers);
    let trials = Trials::encode(encoder, data, measured, &options.device, &mut encoded)?;
    let run = options.run(&trials, &pool, &texts, &lexunits);
    let places = options.places(&arms);
    let keys = places.iter().copied().map(key).collect();
    let mut ledger = Ledger::open(options.checkpoint.as_deref(), run, keys, progress)?;
    for place in places {
        let draw = pool.draw(place.0, options.seed, place.1)?;
        train(place, &draw, (&pool, &trials), (options, &arms), &mut ledger, progress)?;
    }
    let measures: [Measure<Figures>; 4] = [
        ("span and frame F1", |figures| figures.spans.f1()),
        ("accuracy at gold targets", |figures| figures.targets.recall()),
        ("accuracy, unseen LUs", |figures| figures.unseen.recall()),
        ("accuracy, without the lexicon", |figures| figures.unfiltered.recall()),
    ];
    Ok(compare(&ledger.finished(), &measures))
}

/// How the ledger names a training.
fn key((share, resample, arm): (Share, usize, Arm)) -> Key {
    Key { share: share.to_string(), arm: arm.as_str().to_owned(), resample }
}

/// Trains an arm of a draw, unless that is done.
fn train(
    (share, resample, arm): (Share, usize, Arm),
    draw: &Draw,
    (pool, trials): (&Pool, &Trials),
    (options, arms): (&FrameIdOptions, &[Arm]),
    ledger: &mut Ledger<Figures>,
    progress: &mut dyn FnMut(ExperimentProgress),
) -> Result<()> {
    if ledger.get(&key((share, resample, arm))).is_some() {
        return Ok(());
    }
    let plain = ledger.get(&key((share, resample, Arm::Plain))).cloned();
    let agreed = plain.as_ref().map_or(&[][..], |plain| &plain.agreed);
    let added = pool.added(arm, draw, options.cuts, agreed);
    let mut training = Training {
        key: key((share, resample, arm)),
        sentences: draw.whole.len(),
        exemplars: draw.exemplars.len(),
        added: added.len(),
        figures: Figures::default(),
        agreed: Vec::new(),
    };
    match plain {
        // Nothing is added, and the same sentences give the same weights.
        Some(plain) if added.is_empty() => training.figures = plain.figures,
        _ => {
            let places = [&draw.whole[..], &draw.exemplars, &added].concat();
            let mut fit = options.fit.clone();
            fit.training.seed = options.seed.wrapping_add(resample as u64);
            let trial = trials.train(&places, &fit)?;
            training.figures = trial.figures;
            if arm == Arm::Plain && arms.contains(&Arm::Agreement) {
                training.agreed = trial.agrees(&draw.generated)?;
            }
        }
    }
    let f1 = training.figures.spans.f1();
    ledger.add(training, f1, progress)
}

impl FrameIdOptions {
    /// The arms in their order, the plain one first.
    fn check(&self) -> Result<Vec<Arm>> {
        let wrong =
            |name, found: String, expected| Err(ExperimentError::Setting { name, found, expected });
        check_measure(self.part, self.resamples)?;
        let mut seen = HashSet::new();
        if let Some(twice) = self.shares.iter().find(|share| !seen.insert(**share)) {
            return wrong("share", twice.to_string(), "each share once");
        }
        if self.shares.is_empty() {
            return wrong("number of shares", "0".to_owned(), "1 or more");
        }
        let is_asked = |arm: &Arm| *arm == Arm::Plain || self.arms.contains(arm);
        Ok(Arm::ALL.into_iter().filter(is_asked).collect())
    }

    /// The trainings in their order: a draw's arms one after the other.
    fn places(&self, arms: &[Arm]) -> Vec<(Share, usize, Arm)> {
        let of_draw = |share, resample| arms.iter().map(move |arm| (share, resample, *arm));
        let draws = self.shares.iter().flat_map(|share| (0..self.resamples).map(|at| (*share, at)));
        draws.flat_map(|(share, resample)| of_draw(share, resample)).collect()
    }

    /// All that figures depend on.
    fn run(
        &self,
        trials: &Trials,
        pool: &Pool,
        texts: &FullText,
        lexunits: &[LexunitName],
    ) -> Value {
        let measured = if self.part == Split::Test { &texts.test } else { &texts.dev };
        let substitutions = {
            let mut places: Vec<_> = pool.substitutions.iter().collect();
            places.sort_unstable();
            blake3::hash(format!("{places:?}").as_bytes()).to_string()
        };
        json!({
            "experiment": "frame-id",
            "encoder": trials.fingerprint(),
            "layers": self.layers,
            "part": self.part.as_str(),
            "seed": self.seed,
            "data": FrameSentence::fingerprint(&pool.all),
            "substitutions": substitutions,
            "dev": FrameSentence::fingerprint(&texts.dev),
            "measured": FrameSentence::fingerprint(measured),
            "lexicon": blake3::hash(format!("{lexunits:?}").as_bytes()).to_string(),
            "cuts": format!("{:?}", self.cuts),
            "agreement": self.arms.contains(&Arm::Agreement),
            "device": if matches!(self.device, Device::Cpu { .. }) { "cpu" } else { "gpu" },
            "fit": format!("{:?}", self.fit),
        })
    }
}

impl Pool {
    fn read(
        source: Source<'_>,
        options: &FrameIdOptions,
        texts: &FullText,
        tagger: Option<&Tagger>,
    ) -> Result<Self> {
        let Source { database, release, within, generated } = source;
        let query = |text: &str| -> Expression { text.parse().expect("the query is well formed") };
        let passing =
            Expression::conjunction([query("origin=fulltext split=train"), within.clone()]);
        let passing = FrameSentence::read(database, release, &passing)?;
        let passing: HashSet<_> = passing.iter().map(|sentence| sentence.id).collect();
        let of_texts = texts.train.iter().filter(|sentence| passing.contains(&sentence.id));
        let mut all: Vec<FrameSentence> = of_texts.cloned().collect();
        if all.is_empty() {
            return Err(ExperimentError::NoText { query: within.to_string() });
        }
        let whole = 0..all.len();
        if options.shares.iter().any(|share| share.has_exemplars()) {
            let exemplars = FrameSentence::read(database, release, &query("origin=exemplar"))?;
            all.extend(earliest(texts.apart(exemplars)));
        }
        let exemplars = whole.end..all.len();
        let seeds = sets_of(&all);
        if options.arms.iter().any(|arm| *arm != Arm::Plain) {
            let of_seeds = Expression::conjunction([query("origin=generated"), generated.clone()]);
            let of_seeds = texts.apart(FrameSentence::read(database, release, &of_seeds)?);
            all.extend(FrameSentence::with_targets(of_seeds, |target| {
                target.made.is_some_and(|made| seeds.contains(&made.seed))
            }));
            if all.len() == exemplars.end {
                let query = generated.to_string();
                return Err(ExperimentError::NoGenerated { query, seeds: seeds.len() });
            }
        }
        let generated = exemplars.end..all.len();
        let mut pool = Self { all, whole, exemplars, generated, substitutions: HashMap::new() };
        if options.arms.contains(&Arm::Substitution) {
            pool.substitute(texts, tagger.ok_or(ExperimentError::NoTagger)?)?;
        }
        Ok(pool)
    }

    /// Adds the substitutions that keep the trigger's parts of speech.
    fn substitute(&mut self, texts: &FullText, tagger: &Tagger) -> Result<()> {
        let seeds = self.all[..self.generated.start].iter();
        let seeds: HashMap<AnnotationSetId, &FrameSentence> =
            seeds.flat_map(|of| of.targets.iter().map(move |target| (target.set, of))).collect();
        let made = self.generated.clone().filter_map(|at| {
            let of = self.all[at].targets.first()?.made?.seed;
            let seed = *seeds.get(&of)?;
            let old = seed.targets.iter().find(|old| old.set == of)?.span;
            Some((at, (&*seed.text, old), substituted(&self.all[at], seed)?))
        });
        let made: Vec<(usize, Triggered<'_>, FrameSentence)> = made.collect();
        let pairs = made.iter().map(|(_, old, new)| [*old, (&*new.text, new.targets[0].span)]);
        let pairs: Vec<[Triggered<'_>; 2]> = pairs.collect();
        let kept = same_tags(tagger, &pairs)?;
        let made: Vec<(usize, FrameSentence)> = made
            .into_iter()
            .zip(kept)
            .filter(|(_, is_kept)| *is_kept)
            .map(|((at, _, new), _)| (at, new))
            .collect();
        for (at, new) in made {
            for new in texts.apart(vec![new]) {
                self.substitutions.insert(at, self.all.len());
                self.all.push(new);
            }
        }
        Ok(())
    }

    /// The sentences of a share in a draw, and exactly their generated sets.
    fn draw(&self, share: Share, seed: u64, resample: usize) -> Result<Draw> {
        let order = order(self.whole.len(), seed, resample);
        let whole = first_percent(&order, f64::from(share.percent()));
        let has_exemplars = share.has_exemplars();
        let exemplars: Vec<usize> = self.exemplars.clone().filter(|_| has_exemplars).collect();
        let drawn = sets_of(whole.iter().chain(&exemplars).map(|at| &self.all[*at]));
        let is_of = |at: &usize| {
            let made = self.all[*at].targets.iter().filter_map(|target| target.made);
            made.map(|made| made.seed).all(|seed| drawn.contains(&seed))
        };
        let generated: Vec<usize> = self.generated.clone().filter(is_of).collect();
        let targets = generated.iter().flat_map(|at| &self.all[*at].targets);
        check_seeds(targets, &drawn, share)?;
        let substitutions = generated.iter().filter_map(|at| self.substitutions.get(at));
        check_seeds(substitutions.flat_map(|at| &self.all[*at].targets), &drawn, share)?;
        Ok(Draw { whole, exemplars, generated })
    }

    /// What an arm adds to a draw; `agreed` says of its generated sets whether the plain arm's
    /// model gives them their frame.
    fn added(&self, arm: Arm, draw: &Draw, cuts: [f32; 2], agreed: &[bool]) -> Vec<usize> {
        let made = |at: &usize| self.all[*at].targets.first().and_then(|target| target.made);
        let generated = draw.generated.iter().copied();
        match arm {
            Arm::Plain => Vec::new(),
            Arm::Augmented => generated.collect(),
            Arm::Precision => generated
                .filter(|at| made(at).and_then(|made| made.precision).is_some_and(|p| p >= cuts[0]))
                .collect(),
            Arm::Recall => generated
                .filter(|at| made(at).and_then(|made| made.recall).is_some_and(|r| r >= cuts[1]))
                .collect(),
            Arm::Agreement => {
                generated.zip(agreed).filter(|(_, agreed)| **agreed).map(|(at, _)| at).collect()
            }
            Arm::Substitution => {
                generated.filter_map(|at| self.substitutions.get(&at).copied()).collect()
            }
        }
    }
}
