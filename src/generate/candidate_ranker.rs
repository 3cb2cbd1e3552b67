//! Which candidate of an LU is stored: the one that a judge would most likely accept.
//!
//! A logistic model over six inputs. Its weights were fitted on 360 outputs of the adapter `infill`
//! for LUs without annotation, told of frame and FEs. Strict judges (large language models), blind,
//! accepted 27 % of them: sentences that are coherent and whose FEs keep their types. Under
//! cross-validation by LUs the area under the ROC curve is .71, and of the best tenth 58 % are
//! accepted. Likelihoods and blanks alone have .58. `training/judge/worth.py` fits it. Sentences
//! without new words, those of `sister-lu`, were not among the outputs: of them it is too hopeful.

use crate::learn::sigmoid;

const BIAS: f32 = 4.0;
const SURPRISE: f32 = -0.408;
const GAIN: f32 = -0.163;
const WORD: f32 = -0.066;
const BLANK: f32 = -0.859;
const READ: f32 = 1.63;
const FIT: f32 = 0.108;

/// Means of the logarithms of an FE's and the frame's probability where the weights were fitted.
/// They stand in for models that are not there.
const USUAL_READ: f32 = -0.143;
const USUAL_FIT: f32 = -2.64;
/// Frames that are less likely are alike.
const LEAST_FIT: f32 = 1e-3;

/// What is known of a candidate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Signs<'a> {
    /// Mean negative log-likelihood of a token of the sentence (natural log).
    pub(super) surprise: f32,
    /// That of the sister's own sentence.
    pub(super) of_sister: f32,
    /// Words of the sentence, marks that stand alone among them.
    pub(super) words: usize,
    /// FEs whose words are new.
    pub(super) blanks: usize,
    /// Probability of each of these FEs, where a classifier read them, in `[0, 1]`.
    pub(super) read: Option<&'a [f32]>,
    /// Probability of the frame at the LU, where a frame model says so.
    pub(super) fit: Option<f32>,
}

impl Signs<'_> {
    /// The probability that a strict judge accepts the candidate, as far as the inputs tell.
    pub(super) fn worth(self) -> f32 {
        let gain = self.of_sister - self.surprise;
        let read: f32 = match self.read {
            Some(read) => read.iter().map(|read| read.ln()).sum(),
            None => USUAL_READ * self.blanks as f32,
        };
        let fit = self.fit.map_or(USUAL_FIT, |fit| fit.max(LEAST_FIT).ln());
        let likelihood = SURPRISE * self.surprise + GAIN * gain;
        let size = WORD * self.words as f32 + BLANK * self.blanks as f32;
        sigmoid(BIAS + likelihood + size + READ * read + FIT * fit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_likely_sentences_whose_roles_and_frame_are_clear_are_worth_most() {
        let usual = Signs {
            surprise: 4.66,
            of_sister: 4.8,
            words: 22,
            blanks: 1,
            read: Some(&[0.9]),
            fit: Some(0.5),
        };
        assert!((usual.worth() - 0.384).abs() < 0.01, "{}", usual.worth());
        let others = [
            Signs { surprise: 5.5, of_sister: 5.64, ..usual },
            Signs { of_sister: 6.0, ..usual },
            Signs { words: 30, ..usual },
            Signs { blanks: 2, ..usual },
            Signs { read: Some(&[0.5]), ..usual },
            Signs { fit: Some(0.01), ..usual },
        ];
        assert!(others.iter().all(|other| other.worth() < usual.worth()));
    }

    #[test]
    fn models_that_are_not_there_say_nothing() {
        let known = Signs {
            surprise: 4.66,
            of_sister: 4.8,
            words: 22,
            blanks: 1,
            read: Some(&[USUAL_READ.exp()]),
            fit: Some(USUAL_FIT.exp()),
        };
        let unknown = Signs { read: None, fit: None, ..known };
        assert!((known.worth() - unknown.worth()).abs() < 1e-6);
    }
}
