//! How much of the source a hypothesis has looked at.

use std::sync::Arc;

/// The attention that each source token had from all steps of a hypothesis; children share their
/// parent's. Empty where nobody asked for attention.
#[derive(Debug, Clone, Default)]
pub(super) struct Coverage(Arc<[f32]>);

impl Coverage {
    /// With one more step, which looked at the source tokens like this.
    pub(super) fn add(&mut self, looked: &[f32]) {
        let before = self.0.iter().copied().chain(std::iter::repeat(0.0));
        self.0 = before.zip(looked).map(|(before, looked)| before + looked).collect();
    }

    /// `sum_i ln(min(c_i, 1))`, 0 at most  (Wu et al. 2016, equation 14).
    pub(super) fn log(&self) -> f32 {
        // A token that nothing looked at has a logarithm, too.
        self.0.iter().map(|covered| covered.clamp(f32::MIN_POSITIVE, 1.0).ln()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::super::oracle::{search, settings};
    use super::super::toy::{ToyNetwork, attention};
    use super::super::{BeamSettings, Constraint, LengthPenalty, Scheduler};
    use super::*;

    #[test]
    fn what_is_covered_more_than_once_counts_once_and_nothing_is_infinite() {
        let mut coverage = Coverage::default();
        assert_eq!(coverage.log(), 0.0);
        coverage.add(&[0.75, 0.25]);
        assert!((coverage.log() - (0.75f32.ln() + 0.25f32.ln())).abs() < 1e-6);
        coverage.add(&[0.75, 0.25]);
        assert!((coverage.log() - 0.5f32.ln()).abs() < 1e-6);
        let mut unread = Coverage::default();
        unread.add(&[1.0, 0.0]);
        assert!(unread.log() < -80.0 && unread.log().is_finite());
    }

    #[test]
    fn a_coverage_penalty_ranks_what_enumeration_ranks() {
        for seed in 0..5 {
            let source = [seed, 8, 3];
            let rank = |tokens: &[u32], score: f32| {
                let covered = (0..source.len()).map(|at| {
                    let looked =
                        (0..tokens.len()).map(|step| attention(&source, &tokens[..step])[at]);
                    looked.sum::<f32>().min(1.0).ln()
                });
                LengthPenalty::default().normalize(score, tokens.len()) + 0.7 * covered.sum::<f32>()
            };
            let mut network = ToyNetwork::new(4, 4);
            let mut expected = network.enumerate(&source, 4);
            expected.sort_by(|a, b| rank(&b.0, b.1).total_cmp(&rank(&a.0, a.1)));
            let wide = BeamSettings { coverage_penalty: 0.7, ..settings(4usize.pow(4), 4) };
            let finished = search(&mut network, &source, Constraint::default(), wide);
            assert_eq!(finished.hypotheses.len(), expected.len());
            for (found, (tokens, score)) in finished.hypotheses.iter().zip(&expected) {
                assert!((found.normalized_score - rank(tokens, *score)).abs() < 1e-5);
                assert!((found.normalized_score - rank(&found.tokens, found.score)).abs() < 1e-5);
            }
            let plain = search(&mut network, &source, Constraint::default(), settings(256, 4));
            assert_ne!(
                plain.hypotheses[0].normalized_score,
                finished.hypotheses[0].normalized_score
            );
        }
    }

    #[test]
    fn a_network_without_attention_knows_no_coverage() {
        let mut network = ToyNetwork::new(4, 4);
        network.has_no_attention = true;
        let mut scheduler = Scheduler::new(10);
        let source = scheduler.add_source(vec![3]);
        let settings = BeamSettings { coverage_penalty: 0.7, ..settings(2, 4) };
        scheduler.submit(source, Constraint::default(), settings).unwrap();
        let error = scheduler.step(&mut network).unwrap_err().to_string();
        assert!(error.contains("coverage_penalty") && error.contains("attention"), "{error}");
    }
}
