//! Links between words, their text form, and the spans that they cover.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::align::WordSpan;

/// A word of a sentence and a word of its paraphrase that are aligned; both counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "[u32; 2]", into = "[u32; 2]")]
pub struct Link {
    /// The word of the sentence.
    pub source: u32,
    /// The word of the paraphrase.
    pub target: u32,
}

impl From<[u32; 2]> for Link {
    fn from([source, target]: [u32; 2]) -> Self {
        Self { source, target }
    }
}

impl From<Link> for [u32; 2] {
    fn from(link: Link) -> Self {
        [link.source, link.target]
    }
}

/// The links of one sentence pair, each once, by source word and then by target word.
///
/// The text form is Pharaoh's: `0-0 1-2 1-3`, source word first.
///
/// ```
/// use fnstore::align::WordSpan;
/// use fnstore::align::words::Links;
///
/// let links: Links = "0-2 1-0 1-1".parse()?;
/// assert_eq!(links.to_string(), "0-2 1-0 1-1");
/// // The second word of the sentence became two.
/// assert_eq!(links.cover(WordSpan::new(1, 2)), Some(WordSpan::new(0, 2)));
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "Vec<Link>", into = "Vec<Link>")]
pub struct Links(Vec<Link>);

impl Links {
    /// Whether a link is among them.
    #[must_use]
    pub fn contains(&self, link: Link) -> bool {
        self.0.binary_search(&link).is_ok()
    }

    /// The links in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Link> {
        self.0.iter().copied()
    }

    /// Number of links.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The same links with both sides exchanged.
    #[must_use]
    pub fn flipped(&self) -> Self {
        self.iter().map(|link| Link { source: link.target, target: link.source }).collect()
    }

    /// The shortest span of the paraphrase that holds every word linked to a word of `span` (Culkin
    /// et al. 2021, section 4.3). `None` if no word of it has a link.
    #[must_use]
    pub fn cover(&self, span: WordSpan) -> Option<WordSpan> {
        let linked = self.iter().filter(|link| (span.start..span.end).contains(&link.source));
        let mut words = linked.map(|link| link.target);
        let first = words.next()?;
        let (low, high) =
            words.fold((first, first), |(low, high), word| (low.min(word), high.max(word)));
        Some(WordSpan::new(low, high + 1))
    }

    /// Adds a link; says whether it is new.
    pub(super) fn insert(&mut self, link: Link) -> bool {
        match self.0.binary_search(&link) {
            Ok(_) => false,
            Err(place) => {
                self.0.insert(place, link);
                true
            }
        }
    }
}

impl FromIterator<Link> for Links {
    fn from_iter<I: IntoIterator<Item = Link>>(links: I) -> Self {
        Self::from(links.into_iter().collect::<Vec<_>>())
    }
}

impl From<Vec<Link>> for Links {
    fn from(mut links: Vec<Link>) -> Self {
        links.sort_unstable();
        links.dedup();
        Self(links)
    }
}

impl From<Links> for Vec<Link> {
    fn from(links: Links) -> Self {
        links.0
    }
}

impl fmt::Display for Links {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, link) in self.iter().enumerate() {
            let space = if at == 0 { "" } else { " " };
            write!(f, "{space}{}-{}", link.source, link.target)?;
        }
        Ok(())
    }
}

impl FromStr for Links {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let link = |pair: &str| {
            let (source, target) = pair.split_once('-')?;
            Some(Link { source: source.parse().ok()?, target: target.parse().ok()? })
        };
        text.split_whitespace()
            .map(|pair| link(pair).ok_or_else(|| format!("`{pair}` is no link like `0-2`")))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(text: &str) -> Links {
        text.parse().unwrap()
    }

    #[test]
    fn the_text_form_is_sorted_and_has_no_doubles() {
        assert_eq!(links("3-1 0-10  0-2 3-1").to_string(), "0-2 0-10 3-1");
        assert_eq!(links("").to_string(), "");
        for bad in ["1", "1-", "a-1", "1-2-3", "1--2", "-1-2"] {
            let error = bad.parse::<Links>().unwrap_err();
            assert!(error.contains(bad), "{error}");
        }
    }

    #[test]
    fn a_cover_reaches_from_the_first_to_the_last_linked_word() {
        let links = links("0-4 1-2 1-6 3-0");
        assert_eq!(links.cover(WordSpan::new(0, 2)), Some(WordSpan::new(2, 7)));
        assert_eq!(links.cover(WordSpan::new(2, 3)), None);
        assert_eq!(links.cover(WordSpan::new(3, 3)), None);
    }

    #[test]
    fn flipping_twice_changes_nothing() {
        let links = links("0-4 1-2 2-2");
        assert_eq!(links.flipped().to_string(), "2-1 2-2 4-0");
        assert_eq!(links.flipped().flipped(), links);
    }
}
