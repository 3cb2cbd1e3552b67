//! Weights of the choice among outputs, fitted on judgements.
//!
//! How good weights are is measured on outputs whose sentences they did not see: in ten parts, as
//! for the filter.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::folds::{FOLDS, parts_of};
use crate::filter::choice::{ChoiceWeights, INPUTS, inputs_of};
use crate::filter::error::FilterError;
use crate::filter::judged::Judged;
use crate::filter::network::Standard;
use crate::learn::{logistic_regression, order};
use crate::model::Fraction;

/// The two questions, by what sets are said to have.
const QUESTIONS: [&str; 2] = ["evokes", "same_meaning"];

/// How well one question is answered, on outputs whose sentences the weights did not see.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChoiceFigures {
    /// The question: `evokes`, or `same_meaning`, whether it evokes the frame and also says what
    /// its source says.
    pub question: &'static str,
    /// Judged outputs.
    pub outputs: u64,
    /// Those of which people say so.
    pub right: u64,
    /// Share of pairs of a right and a wrong output that are put in order: the area under the ROC
    /// curve.
    pub order: Fraction,
    /// Rounds of which several outputs were judged, as of several recipes.
    pub rounds: u64,
    /// Of these, those in which the likeliest output is right: by the log-probability per piece,
    /// and the logarithm of the aligner's score.
    pub likeliest_right: u64,
    /// Those in which the output is right that the weights choose.
    pub chosen_right: u64,
    /// Those in which some output is right.
    pub any_right: u64,
}

/// What training gives.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainedChoice {
    /// The weights, fitted on all outputs.
    pub weights: ChoiceWeights,
    /// How good such weights are, for either question.
    pub figures: [ChoiceFigures; 2],
    /// Sentences of the seeds.
    pub sentences: u64,
}

/// Fits weights on judged outputs; those that nobody has judged are passed over. The same outputs
/// give the same weights.
///
/// # Errors
/// When the outputs are all right or all wrong by either question, or come from too few sentences.
pub fn choice(data: &[Judged]) -> Result<TrainedChoice, FilterError> {
    let mut data: Vec<&Judged> = data.iter().filter(|output| output.is_judged()).collect();
    data.sort_by(|a, b| (&a.release, &a.set).cmp(&(&b.release, &b.set)));
    let parts = parts_of(&data);
    let labels = [data.iter().map(|output| output.is_acceptable()).collect(), of_meaning(&data)];
    for (labels, question) in labels.iter().zip(QUESTIONS) {
        expect_enough(&data, (labels, question), &parts)?;
    }
    let mut worth = vec![[0.0; 2]; data.len()];
    for fold in 0..FOLDS {
        let seen = |at: &usize| parts[*at] != fold;
        let weights = fitted(&data, &labels, seen);
        for (at, worth) in worth.iter_mut().enumerate().filter(|(at, _)| !seen(at)) {
            *worth = weights.probabilities(&data[at].evidence);
        }
    }
    let figures = QUESTIONS.into_iter().zip(&labels).enumerate();
    let figures = figures.map(|(at, (question, labels))| {
        let of = worth.iter().map(|worth| worth[at]).collect::<Vec<_>>();
        figures_of(question, &data, labels, (&of, &worth))
    });
    let figures: Vec<ChoiceFigures> = figures.collect();
    let sentences = data.iter().map(|output| (&output.release, &output.sentence));
    Ok(TrainedChoice {
        weights: fitted(&data, &labels, |_| true),
        figures: figures.try_into().expect("two questions"),
        sentences: sentences.collect::<BTreeSet<_>>().len() as u64,
    })
}

/// Which outputs keep the meaning, of sentences whose acceptable outputs were all asked about:
/// where some were not, the refused ones would be too many beside the others.
fn of_meaning(data: &[&Judged]) -> Vec<Option<bool>> {
    let sentence = |output: &Judged| (output.release.clone(), output.sentence.clone());
    let unasked = data.iter().filter(|output| output.keeps_meaning().is_none());
    let unasked: BTreeSet<_> = unasked.map(|output| sentence(output)).collect();
    let meaning = data
        .iter()
        .map(|output| output.keeps_meaning().filter(|_| !unasked.contains(&sentence(output))));
    meaning.collect()
}

/// An error where a fold would have nothing to learn from.
fn expect_enough(
    data: &[&Judged],
    (labels, question): (&[Option<bool>], &'static str),
    parts: &[usize],
) -> Result<(), FilterError> {
    let count = |fold: Option<usize>, label| {
        let of = labels.iter().zip(parts);
        of.filter(|(of, part)| **of == Some(label) && Some(**part) != fold).count() as u64
    };
    let sentences = parts.iter().collect::<BTreeSet<_>>().len();
    if sentences < FOLDS
        || (0..FOLDS).any(|fold| [true, false].iter().any(|of| count(Some(fold), *of) == 0))
    {
        let of = data.iter().map(|output| (&output.release, &output.sentence));
        return Err(FilterError::TooFew {
            question,
            accepted: count(None, true),
            refused: count(None, false),
            sentences: of.collect::<BTreeSet<_>>().len(),
        });
    }
    Ok(())
}

/// Weights fitted on the outputs at some places.
fn fitted(
    data: &[&Judged],
    labels: &[Vec<Option<bool>>; 2],
    seen: impl Fn(&usize) -> bool,
) -> ChoiceWeights {
    let places: Vec<usize> = (0..data.len()).filter(seen).collect();
    let inputs = |at: &usize| inputs_of(&data[*at].evidence).to_vec();
    let standard = Standard::of(&places.iter().map(inputs).collect::<Vec<_>>());
    let row = |at| -> [f32; INPUTS] {
        standard.apply(&inputs(at)).try_into().expect("as many as inputs")
    };
    let lines = labels.each_ref().map(|labels| {
        let of = places.iter().filter_map(|at| labels[*at].map(|label| (row(at), label)));
        let (rows, labels): (Vec<_>, Vec<_>) =
            of.map(|(row, label)| (row, f32::from(u8::from(label)))).unzip();
        let (bias, weights) = logistic_regression(&rows, &labels);
        standard.undone(bias, weights)
    });
    let typical = standard.means().try_into().expect("as many as inputs");
    ChoiceWeights::new(lines, typical)
}

fn figures_of(
    question: &'static str,
    data: &[&Judged],
    labels: &[Option<bool>],
    (of_question, worth): (&[f32], &[[f32; 2]]),
) -> ChoiceFigures {
    let known = || labels.iter().enumerate().filter_map(|(at, label)| Some((at, (*label)?)));
    let mut rounds: BTreeMap<_, Vec<(usize, bool)>> = BTreeMap::new();
    for (at, label) in known() {
        let output = data[at];
        let round = (&output.release, &output.seed, output.evidence.round);
        rounds.entry(round).or_default().push((at, label));
    }
    rounds.retain(|_, outputs| outputs.len() > 1);
    let likely = |at: usize| data[at].evidence.aligner.ln() - data[at].evidence.paraphrase;
    let chosen = |at: usize| worth[at].iter().sum();
    let right_by = |score: &dyn Fn(usize) -> f32| {
        let best = rounds.values().filter_map(|outputs| {
            outputs.iter().max_by(|(a, _), (b, _)| score(*a).total_cmp(&score(*b)))
        });
        best.filter(|(_, label)| *label).count() as u64
    };
    let is_right = |outputs: &&Vec<(usize, bool)>| outputs.iter().any(|(_, label)| *label);
    ChoiceFigures {
        question,
        outputs: known().count() as u64,
        right: known().filter(|(_, label)| *label).count() as u64,
        order: order(known().map(|(at, label)| (of_question[at], label))),
        rounds: rounds.len() as u64,
        likeliest_right: right_by(&likely),
        chosen_right: right_by(&chosen),
        any_right: rounds.values().filter(is_right).count() as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::SplitMix64;

    /// Outputs, three of a sentence, right where the verifier says so, one in ten aside.
    fn data(count: usize) -> Vec<Judged> {
        let mut random = SplitMix64::new(5);
        (0..count)
            .map(|at| {
                let (evokes, same) = (random.unit(), random.unit());
                let noise = random.below(10) == 0;
                let line = format!(
                    r#"{{"release": "r", "set": "g{at:03}", "seed": "x{s}", "sentence": "x{s}", "round": 1,
                        "paraphrase": {}, "aligner": 0.9, "proposed": false, "frames": 1, "evokes": {evokes},
                        "same_meaning": {same}, "reverse": 1.5, "reverse_tokens": 20, "judgements": [{}],
                        "meaning_judgements": [{}]}}"#,
                    random.unit(),
                    u8::from((evokes > 0.5) != noise) * 100,
                    u8::from(same > 0.5) * 100,
                    s = at / 3,
                );
                serde_json::from_str(&line).unwrap()
            })
            .collect()
    }

    #[test]
    fn what_decides_is_learned_and_measured_on_what_was_held_out() {
        let data = data(300);
        let trained = choice(&data).unwrap();
        let [evokes, same] = &trained.figures;
        assert_eq!((evokes.outputs, evokes.rounds, trained.sentences), (300, 100, 100));
        assert!(evokes.order > 0.8 && same.order > 0.8, "{:?}", trained.figures);
        assert!(evokes.chosen_right > evokes.likeliest_right + 20, "{evokes:?}");
        assert!(evokes.any_right >= evokes.chosen_right);
        let backwards: Vec<Judged> = data.iter().rev().cloned().collect();
        assert_eq!(choice(&backwards).unwrap(), trained);
    }

    #[test]
    fn judgements_of_one_class_or_of_few_sentences_are_refused() {
        let refused = |change: &dyn Fn(&mut Judged)| {
            let mut data = data(300);
            data.iter_mut().for_each(change);
            choice(&data).unwrap_err().to_string()
        };
        let accepted = refused(&|output| output.judgements = vec![100]);
        assert!(accepted.contains("300 accepted and 0 refused"), "{accepted}");
        let unasked = refused(&|output| output.meaning_judgements.clear());
        assert!(unasked.contains("`same_meaning`: 0 accepted and"), "{unasked}");
        let few = choice(&data(9)).unwrap_err().to_string();
        assert!(few.contains("of 3 sentences"), "{few}");
    }
}
