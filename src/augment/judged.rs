//! What people say of rewritings: Table 2 of Hu et al. 2019 (section 4, *Rewriter Evaluation*).
//!
//! A rater gives each rewriting a similarity to its source, 0 to 100, and may flag it as
//! ungrammatical or as nonsensical. Among the rewritings are *attention checks*, the sources
//! themselves. Raters count who pass 90 % of theirs and give nine judgements or more (footnote 6).
//! The paper does not say what passes a check; here it is a least similarity, and neither flag. A
//! system that copies a source has written an attention check: the verdict counts for both, and the
//! share of copies stands beside the figures.

use serde::Serialize;

use super::mean_and_deviation;
use crate::model::{Amount, Fraction};

/// Least share of attention checks that a rater passes.
const LEAST_PASSED: f64 = 0.9;

/// Least judgements of a rater, checks not counted.
const LEAST_JUDGED: u64 = 9;

/// What a rater says of a rewriting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// How similar it is to its source, 0 to 100.
    pub similarity: u8,
    /// Whether it is flagged as ungrammatical.
    pub is_ungrammatical: bool,
    /// Whether it is flagged as nonsensical.
    pub is_nonsensical: bool,
    /// Whether the rewriting is its source itself.
    pub is_copy: bool,
}

impl Verdict {
    /// Neither ungrammatical nor nonsensical.
    #[must_use]
    pub fn is_fluent(&self) -> bool {
        !self.is_ungrammatical && !self.is_nonsensical
    }
}

/// How attentive a rater is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rater {
    /// Attention checks that were judged.
    pub checks: u64,
    /// Those that were passed.
    pub passed: u64,
    /// Rewritings that were judged.
    pub judged: u64,
}

impl Rater {
    /// Adds a verdict on a source itself, which passes with a similarity of `pass` or more.
    pub fn add_check(&mut self, verdict: Verdict, pass: u8) {
        self.checks += 1;
        self.passed += u64::from(verdict.is_fluent() && verdict.similarity >= pass);
    }

    /// Whether the rater's verdicts count.
    ///
    /// ```
    /// use fnstore::augment::Rater;
    ///
    /// assert!(Rater { checks: 10, passed: 9, judged: 9 }.counts());
    /// assert!(!Rater { checks: 10, passed: 8, judged: 90 }.counts());
    /// assert!(!Rater { checks: 10, passed: 10, judged: 8 }.counts());
    /// ```
    #[must_use]
    pub fn counts(&self) -> bool {
        let passed = self.passed as f64 >= LEAST_PASSED * self.checks as f64;
        passed && self.judged >= LEAST_JUDGED
    }
}

/// A row of Table 2.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct SystemFigures {
    /// Judgements.
    pub judged: u64,
    /// Mean similarity. JSON `{"type": "number", "minimum": 0, "maximum": 100}`.
    pub similarity: f64,
    /// Its standard deviation over judgements.
    pub deviation: Amount,
    /// Share that is flagged as ungrammatical.
    pub ungrammatical: Fraction,
    /// Share that is flagged as nonsensical.
    pub nonsensical: Fraction,
    /// Share with neither flag.
    pub fluency: Fraction,
    /// Share that is its source.
    pub copied: Fraction,
}

/// The figures of a system's verdicts; all 0 of none.
#[must_use]
pub fn figures(verdicts: &[Verdict]) -> SystemFigures {
    let similarities: Vec<f64> =
        verdicts.iter().map(|verdict| f64::from(verdict.similarity)).collect();
    let (similarity, deviation) = mean_and_deviation(&similarities);
    let share = |holds: fn(&Verdict) -> bool| {
        verdicts.iter().filter(|verdict| holds(verdict)).count() as f64
            / verdicts.len().max(1) as f64
    };
    SystemFigures {
        judged: verdicts.len() as u64,
        similarity,
        deviation,
        ungrammatical: share(|verdict| verdict.is_ungrammatical),
        nonsensical: share(|verdict| verdict.is_nonsensical),
        fluency: share(Verdict::is_fluent),
        copied: share(|verdict| verdict.is_copy),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(similarity: u8, flags: [bool; 2]) -> Verdict {
        let [is_ungrammatical, is_nonsensical] = flags;
        Verdict { similarity, is_ungrammatical, is_nonsensical, is_copy: similarity == 100 }
    }

    #[test]
    fn fluency_is_the_share_without_a_flag() {
        let verdicts = [
            verdict(100, [false, false]),
            verdict(60, [true, false]),
            verdict(50, [true, true]),
            verdict(70, [false, false]),
        ];
        let found = figures(&verdicts);
        assert_eq!((found.judged, found.similarity, found.fluency), (4, 70.0, 0.5));
        assert_eq!((found.ungrammatical, found.nonsensical, found.copied), (0.5, 0.25, 0.25));
        assert!((found.deviation - (1400.0_f64 / 3.0).sqrt()).abs() < 1e-9);
        assert_eq!(figures(&[]), SystemFigures::default());
    }

    #[test]
    fn a_flagged_source_fails_its_check() {
        let mut rater = Rater::default();
        for (similarity, flags) in
            [(100, [false, false]), (100, [false, true]), (80, [false, false])]
        {
            rater.add_check(verdict(similarity, flags), 90);
        }
        assert_eq!((rater.checks, rater.passed), (3, 1));
    }
}
