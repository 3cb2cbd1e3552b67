//! Alignment error rate against sure and possible links.
//!
//! Och and Ney (2003, section 4.4), as Dolan et al. (2004, section 3.2) use it. A are the links
//! found, S the sure ones, P the sure and the possible ones:
//!
//! ```text
//! precision = |A n P| / |A|     recall = |A n S| / |S|     AER = 1 - (|A n S| + |A n P|) / (|A| + |S|)
//! ```
//!
//! (The paper prints AER without `1 -`; its figures have it.)

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use super::bitext::SentencePair;
use super::links::Links;

/// Counts of links, summed over pairs.
///
/// ```
/// use fnstore::align::words::LinkCounts;
///
/// let counts = LinkCounts { found: 10, sure: 8, found_sure: 7, found_possible: 9 };
/// assert_eq!((counts.precision(), counts.recall()), (0.9, 0.875));
/// assert!((counts.error_rate() - (1.0 - 16.0 / 18.0)).abs() < 1e-12);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LinkCounts {
    /// |A|: links found.
    pub found: u64,
    /// |S|: sure links.
    pub sure: u64,
    /// |A n S|: sure links found.
    pub found_sure: u64,
    /// |A n P|: links found that are sure or possible.
    pub found_possible: u64,
}

impl LinkCounts {
    /// Share of what was found that is sure or possible; 0 when nothing was found.
    #[must_use]
    pub fn precision(&self) -> f64 {
        if self.found == 0 { 0.0 } else { self.found_possible as f64 / self.found as f64 }
    }

    /// Share of the sure links that was found; 0 when there are none.
    #[must_use]
    pub fn recall(&self) -> f64 {
        if self.sure == 0 { 0.0 } else { self.found_sure as f64 / self.sure as f64 }
    }

    /// The alignment error rate; 0 where there was nothing to find and nothing was found.
    #[must_use]
    pub fn error_rate(&self) -> f64 {
        let whole = self.found + self.sure;
        if whole == 0 {
            return 0.0;
        }
        1.0 - (self.found_sure + self.found_possible) as f64 / whole as f64
    }
}

impl AddAssign for LinkCounts {
    fn add_assign(&mut self, other: Self) {
        self.found += other.found;
        self.sure += other.sure;
        self.found_sure += other.found_sure;
        self.found_possible += other.found_possible;
    }
}

/// Counts of all links, and apart those between equal words and between different ones (Dolan et
/// al. 2004, Table 1). Words are equal when they differ in nothing but case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct ErrorRate {
    /// All links.
    pub all: LinkCounts,
    /// Links between equal words.
    pub identical: LinkCounts,
    /// Links between different words.
    pub different: LinkCounts,
}

impl ErrorRate {
    /// Adds what was found in one pair that has gold links.
    pub fn add(&mut self, pair: &SentencePair, found: &Links) {
        let folded = |words: &[String]| -> Vec<String> {
            words.iter().map(|word| crate::text::fold(word)).collect()
        };
        let (source, target) = (folded(&pair.source), folded(&pair.target));
        for link in found.iter() {
            let sure = pair.sure.contains(link);
            self.count(
                source.get(link.source as usize) == target.get(link.target as usize),
                LinkCounts {
                    found: 1,
                    sure: 0,
                    found_sure: u64::from(sure),
                    found_possible: u64::from(sure || pair.possible.contains(link)),
                },
            );
        }
        for link in pair.sure.iter() {
            let equal = source.get(link.source as usize) == target.get(link.target as usize);
            self.count(equal, LinkCounts { sure: 1, ..LinkCounts::default() });
        }
    }

    fn count(&mut self, equal: bool, counts: LinkCounts) {
        self.all += counts;
        *(if equal { &mut self.identical } else { &mut self.different }) += counts;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> SentencePair {
        serde_json::from_str(
            r#"{"source": ["The", "car", "stopped"], "target": ["the", "auto", "halted", "there"],
                "sure": [[0, 0], [2, 2]], "possible": [[1, 1]]}"#,
        )
        .unwrap()
    }

    #[test]
    fn possible_links_are_never_missed_and_never_wrong() {
        let mut rate = ErrorRate::default();
        rate.add(&pair(), &"0-0 2-2".parse().unwrap());
        assert_eq!(
            (rate.all.precision(), rate.all.recall(), rate.all.error_rate()),
            (1.0, 1.0, 0.0)
        );
        let mut rate = ErrorRate::default();
        rate.add(&pair(), &"0-0 1-1 2-2".parse().unwrap());
        assert_eq!(
            (rate.all.precision(), rate.all.recall(), rate.all.error_rate()),
            (1.0, 1.0, 0.0)
        );
    }

    #[test]
    fn equal_words_are_counted_apart_whatever_their_case() {
        let mut rate = ErrorRate::default();
        rate.add(&pair(), &"0-0 1-1 2-3".parse().unwrap());
        assert_eq!(
            rate.identical,
            LinkCounts { found: 1, sure: 1, found_sure: 1, found_possible: 1 }
        );
        assert_eq!(
            rate.different,
            LinkCounts { found: 2, sure: 1, found_sure: 0, found_possible: 1 }
        );
        // 1 - (1 + 2) / (3 + 2)
        assert!((rate.all.error_rate() - 0.4).abs() < 1e-12);
    }

    #[test]
    fn nothing_found_is_all_error_where_there_was_something() {
        let mut rate = ErrorRate::default();
        assert_eq!(rate.all.error_rate(), 0.0);
        rate.add(&pair(), &Links::default());
        assert_eq!(
            (rate.all.precision(), rate.all.recall(), rate.all.error_rate()),
            (0.0, 0.0, 1.0)
        );
    }
}
