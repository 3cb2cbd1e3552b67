//! Which candidate of an LU is stored: the one that a judge would most likely accept.
//!
//! A logistic model over three inputs. They were chosen and its weights fitted on 238 outputs of
//! the adapter `infill` for LUs without annotation, with words by several sisters' sentences and
//! draws. The author of this file read them, not knowing their inputs, and accepted 37 %: sentences
//! that are coherent and whose FEs keep their types. Under cross-validation the area under the ROC
//! curve is .70; the likelihood alone has .59. What a classifier says of FEs, a frame model of the
//! target, and the length add nothing to these three.

use crate::learn::sigmoid;

const BIAS: f32 = 3.05;
const SURPRISE: f32 = -0.42;
const GAIN: f32 = 0.70;
const BLANK: f32 = -1.30;

/// What is known of a candidate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Signs {
    /// Mean negative log-likelihood of a token of the sentence (natural log).
    pub(super) surprise: f32,
    /// That of the sister's own sentence.
    pub(super) of_sister: f32,
    /// FEs whose words are new.
    pub(super) blanks: usize,
}

impl Signs {
    /// The probability that a strict judge accepts the candidate, as far as the three inputs tell.
    pub(super) fn worth(self) -> f32 {
        let gain = self.of_sister - self.surprise;
        let blanks = self.blanks as f32;
        sigmoid(BIAS + SURPRISE * self.surprise + GAIN * gain + BLANK * blanks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likely_sentences_that_lose_little_and_have_few_new_words_are_worth_most() {
        let usual = Signs { surprise: 4.67, of_sister: 4.78, blanks: 1 };
        assert!((usual.worth() - 0.465).abs() < 0.01, "{}", usual.worth());
        let others = [
            Signs { surprise: 5.0, ..usual },
            Signs { of_sister: 4.0, ..usual },
            Signs { blanks: 2, ..usual },
        ];
        assert!(others.iter().all(|other| other.worth() < usual.worth()));
    }
}
