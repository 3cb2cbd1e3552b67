//! States of the words of sentences.

use crate::engine::{Hidden, Tensor, WordPieces};
use crate::learn::{NetworkError, TooManyPieces, WordEncoder, mean_states};

/// The states of the words of each sentence, (N, D), the mean over each word's pieces; a sentence
/// that is too long has how long it is.
pub(super) fn states(
    encoder: &WordEncoder,
    sentences: &[Vec<&str>],
) -> Result<Vec<Result<Tensor, TooManyPieces>>, NetworkError> {
    let cut = sentences.iter().map(|words| encoder.cut(words, None));
    let cut: Vec<Result<WordPieces, TooManyPieces>> = cut.collect::<Result<_, _>>()?;
    let pool = |at: usize, pieces: &WordPieces, hidden: &Hidden| {
        let words = sentences[at].len();
        Tensor::new(&[words, hidden.width()], mean_states(words, pieces, hidden))
    };
    let states = encoder.run(cut, pool, |_| ())?;
    let states = states.into_iter().map(|states| match states {
        Ok(states) => Ok(Ok(states?)),
        Err(too_many) => Ok(Err(too_many)),
    });
    states.collect()
}
