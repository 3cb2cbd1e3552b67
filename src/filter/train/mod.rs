//! Training of both classifiers.
//!
//! Culkin et al. 2021, section 6.1: binary cross-entropy, in which the one that favours precision
//! takes accepted outputs less seriously, the one that favours recall those that were refused. By
//! how much, and from which score on a set is kept, is chosen on development data (`folds.rs`). All
//! of the data is learned from in each step: there is little of it. The same options give the same
//! weights everywhere.

mod choice;
mod folds;

use std::collections::BTreeSet;
use std::path::PathBuf;

pub use choice::{ChoiceFigures, TrainedChoice, choice};
use folds::{FOLDS, Placed, all_learn, choose, placed};

use super::classifier::{self, FilterConfig, FilterTraining};
use super::committee::Committee;
use super::error::FilterError;
use super::evidence::Input;
use super::judged::Judged;
use super::network::{ACTIVATION, Member, Standard, sizes};
use super::table::Scored;
use crate::learn::{Labels, Mlp, SplitMix64, TrainerOptions, fit};

/// What to train, and how.
///
/// ```
/// use fnstore::filter::{Input, train::Options};
///
/// let paper = Options { inputs: Input::PAPER.into(), ..Options::new("filter".into()) };
/// assert_eq!(paper.inputs.len(), 3);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Directory of the filter, made if need be; an earlier filter is replaced.
    pub out: PathBuf,
    /// What the networks look at.
    pub inputs: Vec<Input>,
    /// Networks of each classifier, whose scores are averaged.
    pub members: usize,
    /// Weights to try for the label that counts less, above 0 and at most 1. The paper's is below 1
    /// for either classifier; 1 would count both labels alike.
    pub weights: Vec<f32>,
    /// Precision that the precision filter is to have.
    pub precision: f64,
    /// Recall that the recall filter is to have.
    pub recall: f64,
    /// What every trainer is told. A step looks at all of the data, so there are as many steps as
    /// epochs; the folds are measured at the end, so patience is not tried.
    pub training: TrainerOptions,
}

impl Options {
    /// The settings that the shipped filter was trained with.
    #[must_use]
    pub fn new(out: PathBuf) -> Self {
        Self {
            out,
            inputs: Input::ALL.into(),
            members: 5,
            weights: vec![0.1, 0.3],
            precision: 0.95,
            recall: 0.97,
            training: TrainerOptions {
                epochs: 300,
                patience: usize::MAX,
                batch: usize::MAX,
                learning_rate: 0.01,
                weight_decay: 0.1,
                seed: 1,
            },
        }
    }

    /// Checks that the options are in range; [`run`] does so, too.
    ///
    /// # Errors
    /// When one is not.
    pub fn check(&self) -> Result<(), FilterError> {
        let wrong =
            |name, found: String, expected| Err(FilterError::Option { name, found, expected });
        let inputs = self.inputs.iter().map(|input| input.as_str()).collect::<Vec<_>>().join(",");
        let distinct: BTreeSet<&Input> = self.inputs.iter().collect();
        if self.inputs.is_empty() || distinct.len() < self.inputs.len() {
            return wrong("list of inputs", format!("`{inputs}`"), "one or more, each once");
        }
        if self.weights.is_empty() {
            return wrong("list of weights", "empty".to_owned(), "one or more");
        }
        if let Some(weight) =
            self.weights.iter().find(|weight| !(**weight > 0.0 && **weight <= 1.0))
        {
            return wrong("weight", weight.to_string(), "more than 0 and at most 1");
        }
        for (name, share) in [("precision", self.precision), ("recall", self.recall)] {
            if !(share > 0.0 && share <= 1.0) {
                return wrong(name, share.to_string(), "more than 0 and at most 1");
            }
        }
        if self.members == 0 || self.members > 100 {
            return wrong("number of networks", self.members.to_string(), "1 to 100");
        }
        if self.training.epochs == 0 {
            return wrong("number of steps", "0".to_owned(), "1 or more");
        }
        Ok(())
    }
}

/// Which share a classifier favours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Aim {
    Precision,
    Recall,
}

impl Aim {
    /// Weight of an output with a label, where the label that counts less weighs `weight`.
    fn weigh(self, label: bool, weight: f32) -> f32 {
        if label == (self == Self::Precision) { weight } else { 1.0 }
    }
}

/// An output to learn from.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Example {
    pub(super) inputs: Vec<Option<f32>>,
    /// Whether people accept it.
    pub(super) label: bool,
}

/// What training gives beside the files.
#[derive(Debug, Clone, PartialEq)]
pub struct Trained {
    /// What was written.
    pub config: FilterConfig,
    /// Each judged output, in the order of their sets' names, with the scores of networks that saw
    /// nothing of its sentence.
    pub held_out: Vec<Scored>,
}

/// Trains both classifiers on judged outputs and writes them; outputs that nobody has judged are
/// passed over.
///
/// # Errors
/// When an option is out of range, the outputs are all accepted or all refused or come from too few
/// sentences, or the files cannot be written.
pub fn run(options: &Options, data: &[Judged]) -> Result<Trained, FilterError> {
    options.check()?;
    let out = classifier::prepare(&options.out)?;
    // Sums go by the order of the data, and a file of other order shall not make another filter.
    let mut data: Vec<&Judged> = data.iter().filter(|output| output.is_judged()).collect();
    data.sort_by(|a, b| (&a.release, &a.set).cmp(&(&b.release, &b.set)));
    let placed = placed(&data, &options.inputs);
    let training = expect_enough(&data, &placed, options)?;
    let (precision, p) = choose(&placed, Aim::Precision, options);
    let (recall, r) = choose(&placed, Aim::Recall, options);
    let all: Vec<&Example> = placed.iter().map(|one| &one.example).collect();
    let classifiers = [
        train(&all, Aim::Precision, precision.weight, options),
        train(&all, Aim::Recall, recall.weight, options),
    ];
    let config = FilterConfig {
        model_type: classifier::MODEL_TYPE.to_owned(),
        format: classifier::FORMAT,
        inputs: options.inputs.clone(),
        members: options.members,
        precision,
        recall,
        training,
    };
    classifier::write(out, &config, &classifiers)?;
    let held_out = data.into_iter().zip(p.into_iter().zip(r));
    let held_out = held_out.map(|(output, (p, r))| Scored { output: output.clone(), p, r });
    Ok(Trained { config, held_out: held_out.collect() })
}

/// What the data holds; an error where a fold would have nothing to learn from.
fn expect_enough(
    data: &[&Judged],
    placed: &[Placed],
    options: &Options,
) -> Result<FilterTraining, FilterError> {
    let accepted = placed.iter().filter(|one| one.example.label).count() as u64;
    let refused = placed.len() as u64 - accepted;
    let sentences = data.iter().map(|output| (&output.release, &output.sentence));
    let sentences = sentences.collect::<BTreeSet<_>>().len();
    if !all_learn(placed) {
        return Err(FilterError::TooFew { question: "evokes", accepted, refused, sentences });
    }
    Ok(FilterTraining {
        accepted,
        refused,
        sentences,
        folds: FOLDS,
        steps: options.training.epochs,
        learning_rate: options.training.learning_rate,
        weight_decay: options.training.weight_decay,
        seed: options.training.seed,
    })
}

/// The networks of a classifier, trained on examples.
pub(super) fn train(examples: &[&Example], aim: Aim, weight: f32, options: &Options) -> Committee {
    let mut random = SplitMix64::new(options.training.seed);
    let members =
        (0..options.members).map(|_| member(examples, aim, weight, options, random.next()));
    Committee::new(members.collect())
}

/// A network trained on examples, from the first weights of a seed.
fn member(examples: &[&Example], aim: Aim, weight: f32, options: &Options, seed: u64) -> Member {
    let inputs: Vec<Vec<Option<f32>>> =
        examples.iter().map(|example| example.inputs.clone()).collect();
    let standard = Standard::of(&inputs);
    let sizes = sizes(inputs.first().map_or(0, Vec::len));
    let mlp = Mlp::random(&sizes, ACTIVATION, &mut SplitMix64::new(seed));
    let weights: Vec<f32> =
        examples.iter().map(|example| aim.weigh(example.label, weight)).collect();
    let scale = 1.0 / weights.iter().sum::<f32>();
    let labels = examples.iter().zip(&weights);
    let labels =
        labels.map(|(example, weight)| (f32::from(u8::from(example.label)), weight * scale));
    let rows = inputs.iter().flat_map(|row| standard.apply(row)).collect();
    fit(mlp, rows, &Labels::Scores(labels.collect()), &options.training)
        .and_then(|mlp| Member::new(standard, mlp))
        .expect("rows have the inputs' width")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Outputs, acceptable where the aligner is sure, one in ten aside; rounds do not matter.
    fn data(count: u64) -> Vec<Judged> {
        let mut random = SplitMix64::new(5);
        (0..count)
            .map(|at| {
                let aligner = random.unit();
                let is_right = (aligner > 0.5) != (random.below(10) == 0);
                let line = format!(
                    r#"{{"release": "r", "set": "g{at}", "seed": "x{at}", "sentence": "x{}", "round": {}, "paraphrase": {}, "aligner": {aligner},
                        "proposed": false, "frames": 1, "judgements": [{}]}}"#,
                    at / 3,
                    1 + at % 3,
                    random.unit(),
                    if is_right { 90 } else { 10 }
                );
                serde_json::from_str(&line).unwrap()
            })
            .collect()
    }

    fn examples(data: &[Judged]) -> Vec<Example> {
        let data: Vec<&Judged> = data.iter().collect();
        placed(&data, &Input::ALL).into_iter().map(|one| one.example).collect()
    }

    /// The inputs of a set of which neither frame model nor verifier was asked.
    fn row(round: f32, aligner: f32) -> [Option<f32>; 9] {
        let known = [Some(round), Some(0.5), Some(aligner), Some(0.0), Some(0.7)];
        std::array::from_fn(|at| known.get(at).copied().flatten())
    }

    #[test]
    fn what_decides_is_learned() {
        let examples = examples(&data(300));
        let all: Vec<&Example> = examples.iter().collect();
        let network = train(&all, Aim::Precision, 1.0, &Options::new("out".into()));
        for round in [1.0, 3.0] {
            assert!(network.score(&row(round, 0.95)) > 0.7);
            assert!(network.score(&row(round, 0.05)) < 0.3);
        }
    }

    #[test]
    fn a_label_that_weighs_less_is_predicted_less() {
        let examples = examples(&data(300));
        let all: Vec<&Example> = examples.iter().collect();
        let score = |aim, weight| {
            train(&all, aim, weight, &Options::new("out".into())).score(&row(2.0, 0.6))
        };
        let even = score(Aim::Precision, 1.0);
        assert_eq!(even, score(Aim::Recall, 1.0));
        assert!(score(Aim::Precision, 0.1) < even && score(Aim::Recall, 0.1) > even);
    }

    #[test]
    fn an_outcome_is_reproducible_and_what_was_held_out_is_scored() {
        let folder = tempfile::tempdir().unwrap();
        let mut options = Options::new(folder.path().join("filter"));
        options.training.epochs = 150;
        let data = data(300);
        let outcome = run(&options, &data).unwrap();
        assert_eq!(run(&options, &data).unwrap(), outcome);
        let backwards: Vec<Judged> = data.iter().rev().cloned().collect();
        assert_eq!(run(&options, &backwards).unwrap(), outcome);
        assert_eq!(outcome.held_out.len(), 300);
        assert!(outcome.held_out.iter().all(|scored| (0.0..=1.0).contains(&scored.p)));
        let mean = |label| {
            let scored = outcome.held_out.iter();
            let scored = scored.filter(|scored| scored.output.is_acceptable() == Some(label));
            let scores: Vec<f32> = scored.map(|scored| scored.r).collect();
            scores.iter().sum::<f32>() / scores.len() as f32
        };
        assert!(mean(true) > mean(false) + 0.2, "{} {}", mean(true), mean(false));
    }

    #[test]
    fn too_little_and_wrong_options_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut options = Options::new(folder.path().join("filter"));
        options.training.epochs = 2;
        let refused =
            |options: &Options, data: &[Judged]| run(options, data).unwrap_err().to_string();
        let few = refused(&options, &data(9));
        assert!(
            few.contains("of 3 sentences; expected some of both in any eight of ten parts"),
            "{few}"
        );
        let mut accepted = data(300);
        accepted.iter_mut().for_each(|output| output.judgements = vec![100]);
        assert!(refused(&options, &accepted).contains("300 accepted and 0 refused"));
        let mut unjudged = data(300);
        unjudged.iter_mut().for_each(|output| output.judgements.clear());
        assert!(refused(&options, &unjudged).contains("0 accepted and 0 refused"));
        let no_step = TrainerOptions { epochs: 0, ..options.training.clone() };
        for (wrong, said) in [
            (Options { inputs: vec![], ..options.clone() }, "list of inputs is ``"),
            (Options { inputs: vec![Input::Round; 2], ..options.clone() }, "`round,round`"),
            (Options { weights: vec![], ..options.clone() }, "list of weights is empty"),
            (
                Options { weights: vec![0.0], ..options.clone() },
                "weight is 0, expected more than 0",
            ),
            (Options { precision: 1.5, ..options.clone() }, "precision is 1.5"),
            (Options { recall: f64::NAN, ..options.clone() }, "recall is NaN"),
            (Options { members: 0, ..options.clone() }, "number of networks is 0"),
            (Options { training: no_step, ..options.clone() }, "number of steps is 0"),
        ] {
            let error = refused(&wrong, &data(300));
            assert!(error.contains(said), "{error}");
        }
        assert!(!folder.path().join("filter").exists());
    }
}
