//! What the network sees of a word.
//!
//! ```text
//! state     D numbers   mean over the states of its pieces; zeros for a word without pieces
//! writing   6 numbers   0 or 1 each: capitalised inside the sentence, capitalised at its start, all
//!                       capitals, with a digit, with a hyphen inside, without letter and digit
//! ```
//!
//! An encoder whose tokenizer folds case sees no capitals, and names are told by them. In a
//! sentence without a capital the first three are 0 for every word, which training shows too.

use crate::engine::{Hidden, WordPieces};
use crate::learn::{NetworkError, TooManyPieces, WordEncoder, mean_states};

/// Numbers about how a word is written.
pub(crate) const WRITING: usize = 6;

/// The features of the words of each sentence, (N, D + 6), in the order of the sentences; one that
/// is too long has its error, which counts sentences from `first`. The features of a sentence do
/// not depend on its company.
pub(super) fn features(
    encoder: &WordEncoder,
    sentences: &[Vec<&str>],
    first: usize,
) -> Result<Vec<Result<Vec<f32>, NetworkError>>, NetworkError> {
    let cut = sentences.iter().enumerate().map(|(at, words)| {
        let too_long = |TooManyPieces { pieces, limit }| NetworkError::TooLong {
            item: first + at,
            pieces,
            limit,
        };
        Ok(encoder.cut(words, None)?.map_err(too_long))
    });
    let cut: Vec<Result<WordPieces, NetworkError>> = cut.collect::<Result<_, NetworkError>>()?;
    let rows =
        |at: usize, pieces: &WordPieces, hidden: &Hidden| rows_of(&sentences[at], pieces, hidden);
    Ok(encoder.run(cut, rows, |_| ())?)
}

/// The features of one sentence's words.
fn rows_of(words: &[&str], pieces: &WordPieces, hidden: &Hidden) -> Vec<f32> {
    rows_of_states(words, &mean_states(words.len(), pieces, hidden))
}

/// The features of words whose states, (N, D), were read.
pub(super) fn rows_of_states(words: &[&str], states: &[f32]) -> Vec<f32> {
    let width = states.len() / words.len().max(1);
    let mut rows = Vec::with_capacity(words.len() * (width + WRITING));
    for (at, (state, word)) in states.chunks_exact(width.max(1)).zip(words).enumerate() {
        rows.extend_from_slice(state);
        rows.extend(writing_of(word, at == 0));
    }
    rows
}

/// How a word is written.
pub(crate) fn writing_of(word: &str, is_first: bool) -> [f32; WRITING] {
    let capital = word.chars().next().is_some_and(char::is_uppercase);
    let letters = || word.chars().filter(|c| c.is_alphabetic());
    let holds = |test: fn(char) -> bool| word.chars().any(test);
    let inner = word.trim_matches('-');
    [
        capital && !is_first,
        capital && is_first,
        letters().count() > 1 && letters().all(char::is_uppercase),
        holds(char::is_numeric),
        inner.contains('-'),
        !holds(char::is_alphanumeric),
    ]
    .map(|is_so| f32::from(u8::from(is_so)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(word: &str, is_first: bool) -> Vec<usize> {
        let writing = writing_of(word, is_first);
        (0..WRITING).filter(|at| writing[*at] == 1.0).collect()
    }

    #[test]
    fn the_writing_of_a_word_is_six_answers() {
        for (word, is_first, yes) in [
            ("house", false, &[][..]),
            ("Anna", false, &[0]),
            ("Anna", true, &[1]),
            ("I", false, &[0]),
            ("U.S.", false, &[0, 2]),
            ("1990s", false, &[3]),
            ("old-style", true, &[4]),
            ("--", false, &[5]),
            ("-", true, &[5]),
            ("\u{c9}tat-2", false, &[0, 3, 4]),
            ("", false, &[5]),
        ] {
            assert_eq!(written(word, is_first), yes, "{word}");
        }
    }
}
