//! Weights of the ranker, fitted on decisions.
//!
//! They are those of a logistic regression. How good they are is measured on decisions that were
//! held out, in turn, from as many fits.

use super::error::ProposalError;
use super::rank::{INPUTS, Ranker, inputs_of};
use crate::database::Database;
use crate::learn::{logistic_regression, order, softplus};
use crate::model::{Decision, Evidence, Verdict};

/// Parts to which decisions are dealt out.
const FOLDS: usize = 5;

/// Decisions of either kind that are needed.
const LEAST: usize = 5;

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
    /// Log loss and order of weights that were fitted without the answers of a verifier, on
    /// decisions that each fit did not see; absent where no proposal has one.
    pub without_verifier: Option<(f64, f64)>,
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
            let decided = decided?;
            // What a search alone proposed says nothing of sets.
            let of_sets = |of: &&Decision| of.evidence.sets > 0;
            if let Some(decision) = decided.standing().filter(of_sets) {
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
    let held_out = held_out(decisions, &folds);
    let is_verified = decisions.iter().any(|decided| decided.evidence.evokes.is_some());
    let without_verifier = is_verified.then(|| {
        let decisions: Vec<Decided> = decisions.iter().map(without_answers).collect();
        let held_out = self::held_out(&decisions, &folds);
        (loss(&decisions, &held_out), order_of(&decisions, &held_out))
    });
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
        default_order: order_of(decisions, &by_default),
        held_out_order: order_of(decisions, &held_out),
        without_verifier,
    })
}

/// A decision as it was without a verifier.
fn without_answers(decided: &Decided) -> Decided {
    let evidence = Evidence { evokes: None, evokes_share: None, verified: 0, ..decided.evidence };
    Decided { evidence, ..*decided }
}

/// What weights that were fitted on the other parts say of each decision.
fn held_out(decisions: &[Decided], folds: &[usize]) -> Vec<f32> {
    let mut held_out = vec![0.0; decisions.len()];
    for fold in 0..FOLDS {
        let others = decisions.iter().zip(folds).filter(|(_, of)| **of != fold);
        let ranker = ranker(&others.map(|(decided, _)| *decided).collect::<Vec<_>>());
        for ((logit, decided), of) in held_out.iter_mut().zip(decisions).zip(folds) {
            if *of == fold {
                *logit = ranker.logit(&inputs_of(&decided.evidence));
            }
        }
    }
    held_out
}

fn loss(decisions: &[Decided], logits: &[f32]) -> f64 {
    let losses = decisions.iter().zip(logits).map(|(decided, logit)| {
        let label = f32::from(u8::from(decided.is_right));
        f64::from(softplus(*logit) - label * logit)
    });
    losses.sum::<f64>() / decisions.len().max(1) as f64
}

/// Share of pairs of both kinds that are put in order.
fn order_of(decisions: &[Decided], logits: &[f32]) -> f64 {
    let right = decisions.iter().map(|decided| decided.is_right);
    order(logits.iter().copied().zip(right))
}

fn ranker(decisions: &[Decided]) -> Ranker {
    let labels = decisions.iter().map(|decided| f32::from(u8::from(decided.is_right)));
    let rows = decisions.iter().map(|decided| inputs_of(&decided.evidence));
    let (rows, labels): (Vec<_>, Vec<_>) = rows.zip(labels).unzip();
    let (bias, weights) = logistic_regression::<INPUTS>(&rows, &labels);
    Ranker { bias, weights, decisions: decisions.len() }
}

#[cfg(test)]
mod tests {
    use super::super::rank::Input;
    use super::*;
    use crate::learn::SplitMix64;

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
    fn answers_of_a_verifier_are_learned_and_what_they_add_is_told() {
        let mut decisions = decided(200);
        assert_eq!(run(&decisions).unwrap().without_verifier, None);
        for (at, decided) in decisions.iter_mut().enumerate() {
            // Sure of nine in ten.
            let evokes = if decided.is_right == (at % 10 != 0) { 0.9 } else { 0.1 };
            decided.evidence.evokes = Some(evokes);
            decided.evidence.verified = 1 + at as u32 % 3;
        }
        let trained = run(&decisions).unwrap();
        let (loss, order) = trained.without_verifier.unwrap();
        assert!(trained.held_out_loss < loss && trained.held_out_order > order, "{trained:?}");
        let mut weights = trained.ranker.weights();
        assert!(weights.any(|(input, weight)| input == Input::Evokes && weight > 0.5));
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
