//! ROUGE of a text against another one: how many of their words agree.
//!
//! Lin (2004), ROUGE: A Package for Automatic Evaluation of Summaries. Words are lower case, and
//! runs of `a` to `z` and digits, without stemming, as in the `rouge-score` package.

use std::collections::HashMap;

/// F1 of the words of two texts.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Rouge {
    /// ROUGE-1: words in any order, each as often as it stands in both.
    pub rouge_1: f64,
    /// ROUGE-L: words of a longest common subsequence.
    pub rouge_l: f64,
}

/// ROUGE-1 and ROUGE-L of a text against a reference, 0 to 1; 0 where one of them has no words.
///
/// ```
/// use fnstore::text::rouge;
///
/// let found = rouge("text first", "First something");
/// // One of two words on both sides.
/// assert_eq!((found.rouge_1, found.rouge_l), (0.5, 0.5));
/// ```
#[must_use]
pub fn rouge(text: &str, reference: &str) -> Rouge {
    let (text, reference) = (rouge_words(text), rouge_words(reference));
    let f1 = |shared: usize| match text.len() + reference.len() {
        0 => 0.0,
        words => 2.0 * shared as f64 / words as f64,
    };
    Rouge {
        rouge_1: f1(shared(&text, &reference)),
        rouge_l: f1(longest_common_subsequence(&text, &reference)),
    }
}

fn rouge_words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let words = lower.split(|c| !is_part(c)).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

/// Words of both, each as often as in the one that has it fewer times.
fn shared(text: &[String], reference: &[String]) -> usize {
    let mut left: HashMap<&str, usize> = HashMap::new();
    for word in reference {
        *left.entry(word).or_default() += 1;
    }
    let mut is_there = |word: &&String| match left.get_mut(word.as_str()) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    };
    text.iter().filter(|word| is_there(word)).count()
}

fn longest_common_subsequence(text: &[String], reference: &[String]) -> usize {
    // The row of the table for the words so far; one cell of the row before is kept beside it.
    let mut row = vec![0; reference.len() + 1];
    for word in text {
        let mut diagonal = 0;
        for (at, other) in reference.iter().enumerate() {
            let above = row[at + 1];
            row[at + 1] = if word == other { diagonal + 1 } else { above.max(row[at]) };
            diagonal = above;
        }
    }
    row[reference.len()]
}
