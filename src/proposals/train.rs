//! Weights of the ranker, fitted on decisions.
//!
//! The network is an MLP without a hidden layer, which is logistic regression; a little weight
//! decay keeps weights finite where decisions are few. How good the weights are is measured on
//! decisions that were held out, in turn, from as many fits.

use super::error::ProposalError;
use super::rank::{INPUTS, Ranker, inputs_of};
use crate::database::Database;
use crate::learn::{
    Activation, Labels, Mlp, SplitMix64, TrainerOptions, Weighted as _, fit, softplus,
};
use crate::model::{Evidence, Verdict};

/// Parts to which decisions are dealt out.
const FOLDS: usize = 5;

/// Decisions of either kind that are needed.
const LEAST: usize = 5;

/// The settings that are used.
const OPTIONS: TrainerOptions = TrainerOptions {
    epochs: 400,
    patience: usize::MAX,
    batch: usize::MAX,
    learning_rate: 0.05,
    weight_decay: 0.05,
    seed: 1,
};

/// A decision to learn from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decided {
    /// What the reviewer had before them.
    pub evidence: Evidence,
    /// Whether the word evokes the frame that it was proposed for.
    pub is_right: bool,
}

/// What training gives.
#[derive(Debug, Clone, PartialEq)]
pub struct Trained {
    /// The ranker.
    pub ranker: Ranker,
    /// Proposals that belong to their frame.
    pub accepted: usize,
    /// Proposals that do not.
    pub rejected: usize,
    /// Mean log loss (natural logarithm) of the default weights; lower is better.
    pub default_loss: f64,
    /// The same of fitted weights, on decisions that each fit did not see.
    pub held_out_loss: f64,
    /// Share of pairs of an accepted and a rejected proposal that default weights put in order.
    pub default_order: f64,
    /// The same of fitted weights, on decisions that each fit did not see.
    pub held_out_order: f64,
}

/// The standing decisions of every release, in order of key. A proposal that was accepted or merged
/// evokes its frame; one that was rejected or moved does not.
///
/// # Errors
/// When the store fails.
pub fn decisions(database: &Database) -> Result<Vec<Decided>, ProposalError> {
    let mut decisions = Vec::new();
    for release in database.releases()? {
        for decided in database.store().all_decisions(release.id)? {
            if let Some(decision) = decided?.standing() {
                decisions.push(Decided {
                    evidence: decision.evidence,
                    is_right: matches!(decision.verdict, Verdict::Accept | Verdict::Merge),
                });
            }
        }
    }
    Ok(decisions)
}

/// Fits a ranker on decisions. The same decisions give the same weights everywhere.
///
/// # Errors
/// When there are fewer than five of either kind.
pub fn run(decisions: &[Decided]) -> Result<Trained, ProposalError> {
    let accepted = decisions.iter().filter(|decided| decided.is_right).count();
    let rejected = decisions.len() - accepted;
    if accepted < LEAST || rejected < LEAST {
        return Err(ProposalError::TooFew { accepted, rejected, least: LEAST });
    }
    // Dealt out kind by kind: every part has some of both.
    let mut seen = [0; 2];
    let folds: Vec<usize> = decisions
        .iter()
        .map(|decided| {
            let seen = &mut seen[usize::from(decided.is_right)];
            *seen += 1;
            *seen % FOLDS
        })
        .collect();
    let mut held_out = vec![0.0; decisions.len()];
    for fold in 0..FOLDS {
        let others = decisions.iter().zip(&folds).filter(|(_, of)| **of != fold);
        let ranker = ranker(&others.map(|(decided, _)| *decided).collect::<Vec<_>>());
        for ((logit, decided), of) in held_out.iter_mut().zip(decisions).zip(&folds) {
            if *of == fold {
                *logit = ranker.logit(&inputs_of(&decided.evidence));
            }
        }
    }
    let default = Ranker::default();
    let logits = |ranker: &Ranker| -> Vec<f32> {
        decisions.iter().map(|decided| ranker.logit(&inputs_of(&decided.evidence))).collect()
    };
    let by_default = logits(&default);
    Ok(Trained {
        ranker: ranker(decisions),
        accepted,
        rejected,
        default_loss: loss(decisions, &by_default),
        held_out_loss: loss(decisions, &held_out),
        default_order: order(decisions, &by_default),
        held_out_order: order(decisions, &held_out),
    })
}

fn loss(decisions: &[Decided], logits: &[f32]) -> f64 {
    let losses = decisions.iter().zip(logits).map(|(decided, logit)| {
        let label = f32::from(u8::from(decided.is_right));
        f64::from(softplus(*logit) - label * logit)
    });
    losses.sum::<f64>() / decisions.len().max(1) as f64
}

/// Share of pairs of both kinds whose right one scores higher; ties count half.
fn order(decisions: &[Decided], logits: &[f32]) -> f64 {
    let of = |is_right| {
        let scored = decisions.iter().zip(logits);
        scored.filter(move |(decided, _)| decided.is_right == is_right).map(|(_, logit)| *logit)
    };
    let (mut ordered, mut pairs) = (0.0, 0.0);
    for right in of(true) {
        for wrong in of(false) {
            ordered += if right > wrong { 1.0 } else { f64::from(u8::from(right == wrong)) / 2.0 };
            pairs += 1.0;
        }
    }
    if pairs > 0.0 { ordered / pairs } else { 0.0 }
}

fn ranker(decisions: &[Decided]) -> Ranker {
    let sizes = [INPUTS, 1];
    let mlp = Mlp::random(&sizes, Activation::Relu, &mut SplitMix64::new(OPTIONS.seed));
    let labels: Vec<f32> =
        decisions.iter().map(|decided| f32::from(u8::from(decided.is_right))).collect();
    let rows = decisions.iter().flat_map(|decided| inputs_of(&decided.evidence)).collect();
    let fitted = fit(mlp, rows, &Labels::scores(&labels), &OPTIONS);
    let mut ranker = Ranker { bias: 0.0, weights: [0.0; INPUTS], decisions: decisions.len() };
    for (_, _, values) in fitted.expect("rows have the inputs' width").tensors("") {
        match values {
            [bias] => ranker.bias = *bias,
            weights => ranker.weights.copy_from_slice(weights),
        }
    }
    ranker
}

#[cfg(test)]
mod tests {
    use super::super::rank::Input;
    use super::*;

    /// Proposals, right where several seeds support them, one in ten aside; likeness says nothing.
    fn decided(count: u64) -> Vec<Decided> {
        let mut random = SplitMix64::new(5);
        (0..count)
            .map(|_| {
                let seeds = 1 + random.below(8) as u32;
                let is_right = (seeds > 4) != (random.below(10) == 0);
                let evidence = Evidence {
                    sets: seeds,
                    seeds,
                    rounds: 1,
                    likeness: Some(random.unit()),
                    ..Evidence::default()
                };
                Decided { evidence, is_right }
            })
            .collect()
    }

    #[test]
    fn what_decides_is_learned_and_measured_on_what_was_held_out() {
        let trained = run(&decided(200)).unwrap();
        assert_eq!(run(&decided(200)).unwrap(), trained);
        let weight =
            |of: Input| trained.ranker.weights().find(|(input, _)| *input == of).unwrap().1;
        assert!(weight(Input::Seeds) > 1.0, "{:?}", trained.ranker);
        assert!(weight(Input::Likeness).abs() < weight(Input::Seeds), "{:?}", trained.ranker);
        let Trained { default_loss, held_out_loss, default_order, held_out_order, .. } = trained;
        assert!(held_out_loss < default_loss, "{held_out_loss} {default_loss}");
        assert!(held_out_order > default_order && held_out_order > 0.8, "{held_out_order}");
        assert_eq!(trained.accepted + trained.rejected, 200);
    }

    #[test]
    fn few_decisions_of_a_kind_are_refused() {
        let right = Decided { evidence: Evidence::default(), is_right: true };
        let wrong = Decided { is_right: false, ..right };
        let few = [vec![right; 20], vec![wrong; 4]].concat();
        let error = run(&few).unwrap_err().to_string();
        assert!(
            error.contains("20 accepted and 4 rejected proposals; expected at least 5"),
            "{error}"
        );
    }
}
