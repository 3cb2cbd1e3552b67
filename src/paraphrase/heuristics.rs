//! Constraints that are found in the sentence itself.

use super::Request;
use crate::text::{self, Idf};

/// What is asked of the paraphrases of every sentence beside its own constraints.
#[derive(Debug, Clone, Default)]
pub struct Heuristics {
    /// Phrases of which one each is required.
    pub require: Vec<Vec<String>>,
    /// Names are required, found by their capital letters.
    pub names: bool,
    /// So many of the most telling words are banned.
    pub telling: usize,
    /// How telling words are.
    pub idf: Idf,
}

impl Heuristics {
    /// Phrases as they are written, alternatives parted by `|`.
    pub fn alternatives<S: AsRef<str>>(phrases: &[S]) -> Vec<Vec<String>> {
        let parts =
            |phrases: &S| phrases.as_ref().split('|').map(|of| of.trim().to_owned()).collect();
        phrases.iter().map(parts).collect()
    }

    /// Adds the constraints to those of a request.
    pub fn apply(&self, request: &mut Request) {
        let Request { text: sentence, constraints } = request;
        constraints.require.extend(self.require.iter().cloned());
        if self.names {
            for name in text::names(sentence).into_iter().filter_map(|name| name.of(sentence)) {
                let name = vec![name.to_owned()];
                if !constraints.require.contains(&name) {
                    constraints.require.push(name);
                }
            }
        }
        if self.telling > 0 {
            let required = constraints.require.iter().flatten();
            let kept: Vec<&str> = required.flat_map(|phrase| phrase.split_whitespace()).collect();
            let telling = self.idf.most_telling(sentence, self.telling, &kept);
            constraints.avoid.extend(telling.into_iter().map(str::to_owned));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_required_once_and_telling_words_banned_unless_required() {
        let idf = Idf::new(["they saw it", "they saw Paris", "they saw a heron"]);
        let require = Heuristics::alternatives(&["bird | heron"]);
        assert_eq!(require, [["bird", "heron"]]);
        let asked = Heuristics { require, names: true, telling: 1, idf };
        let mut request =
            Request { text: "they saw a heron in Paris".to_owned(), ..Request::default() };
        asked.apply(&mut request);
        let constraints = &request.constraints;
        assert_eq!(constraints.require, [vec!["bird", "heron"], vec!["Paris"]]);
        assert_eq!(constraints.avoid.len(), 1, "{constraints:?}");
        assert!(!["heron", "Paris"].contains(&&*constraints.avoid[0]), "{constraints:?}");
        let mut same = Request { text: "a heron".to_owned(), ..Request::default() };
        Heuristics::default().apply(&mut same);
        assert_eq!(same.constraints, Default::default());
    }
}
