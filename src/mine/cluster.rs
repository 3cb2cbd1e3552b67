//! Clusters of articles that come without: alike in their words, and near in time.
//!
//! An article is its words, weighted by term frequency and IDF, at length 1. Articles are taken in
//! the order of their days. One joins the cluster of the article that it is most like among those
//! of the days before, if that reaches the threshold; else it begins one.

use std::collections::{BTreeMap, HashMap};

use crate::text::{Idf, fold, is_stop_word, words};

/// How articles are grouped.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grouping {
    /// Least cosine of two articles of one event.
    pub threshold: f64,
    /// Most days between them.
    pub days: u32,
}

/// The day of a date as `2004-08-23`, counted from 0000-03-01; none where there is no such day.
#[must_use]
pub fn day_of(date: &str) -> Option<u32> {
    let mut parts = date.splitn(3, '-');
    let mut part = |digits: usize| {
        let part = parts.next()?;
        let is_number = part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse::<u32>().ok().filter(|_| is_number)
    };
    let (year, month, day) = (part(4)?, part(2)?, part(2)?);
    let is_leap = year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let last = match month {
        2 => 28 + u32::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    // Years from March, so that the leap day is their last.
    let (year, month) =
        if month > 2 { (year, month - 3) } else { (year.checked_sub(1)?, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5;
    (1..=last).contains(&day).then_some(days + day - 1)
}

impl Grouping {
    /// Articles in the order of their clusters and days, each by its place and with its cluster.
    #[must_use]
    pub fn in_order(&self, articles: &[(u32, &str)]) -> Vec<(usize, usize)> {
        let clusters = self.group(articles);
        let mut order: Vec<usize> = (0..articles.len()).collect();
        order.sort_by_key(|at| (clusters[*at], articles[*at].0));
        order.into_iter().map(|at| (at, clusters[at])).collect()
    }

    /// The cluster of each article, given by its day and text; clusters count from 0 in the order
    /// of the days.
    #[must_use]
    pub fn group(&self, articles: &[(u32, &str)]) -> Vec<usize> {
        let idf = Idf::new(articles.iter().map(|(_, text)| text));
        let mut order: Vec<usize> = (0..articles.len()).collect();
        order.sort_by_key(|at| articles[*at].0);
        let mut clusters = vec![0; articles.len()];
        let mut next = 0;
        // Of the days that are near enough: the articles that have a word, and its weight there.
        let mut recent: HashMap<String, Vec<(usize, f64)>> = HashMap::new();
        let mut first = 0;
        let mut vectors: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        for (place, &at) in order.iter().enumerate() {
            let (day, text) = articles[at];
            while day - articles[order[first]].0 > self.days {
                for word in vectors.remove(&first).unwrap_or_default() {
                    if let Some(with) = recent.get_mut(&word) {
                        with.retain(|(other, _)| *other != first);
                    }
                }
                first += 1;
            }
            let vector = vector_of(text, &idf);
            let mut cosines: BTreeMap<usize, f64> = BTreeMap::new();
            for (word, weight) in &vector {
                for (other, theirs) in recent.get(word).into_iter().flatten() {
                    *cosines.entry(*other).or_default() += weight * theirs;
                }
            }
            let nearest = cosines.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
            clusters[at] = match nearest.filter(|(_, cosine)| *cosine >= self.threshold) {
                Some((other, _)) => clusters[order[other]],
                None => {
                    next += 1;
                    next - 1
                }
            };
            vectors.insert(place, vector.iter().map(|(word, _)| word.clone()).collect());
            for (word, weight) in vector {
                recent.entry(word).or_default().push((place, weight));
            }
        }
        clusters
    }
}

/// The words of a text with their weights, at length 1, in a fixed order.
fn vector_of(text: &str, idf: &Idf) -> Vec<(String, f64)> {
    let mut counts: BTreeMap<String, f64> = BTreeMap::new();
    for word in words(text).into_iter().filter_map(|word| word.of(text)) {
        if word.chars().any(char::is_alphanumeric) && !is_stop_word(word) {
            *counts.entry(fold(word)).or_default() += 1.0;
        }
    }
    let weighted = counts.into_iter().map(|(word, count)| {
        let weight = (1.0 + count.ln()) * idf.of(&word);
        (word, weight)
    });
    let weighted: Vec<(String, f64)> = weighted.filter(|(_, weight)| *weight > 0.0).collect();
    let length = weighted.iter().map(|(_, weight)| weight * weight).sum::<f64>().sqrt();
    weighted.into_iter().map(|(word, weight)| (word, weight / length)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_a_day_that_there_was() {
        assert_eq!(day_of("2004-03-01").unwrap() - day_of("2004-02-28").unwrap(), 2);
        assert_eq!(day_of("2005-01-01").unwrap() - day_of("2004-01-01").unwrap(), 366);
        for none in ["2003-02-29", "2004-13-01", "2004-1-01", "04-01-01", "yesterday", "2004-01-00"]
        {
            assert_eq!(day_of(none), None, "{none}");
        }
    }

    #[test]
    fn articles_of_one_event_are_alike_and_near_in_time() {
        let articles = [
            (10, "An earthquake shook Chile and killed twelve villagers"),
            (11, "The minister resigned over the budget scandal"),
            (11, "Twelve villagers died as an earthquake shook Chile"),
            (40, "Twelve villagers died as an earthquake shook Chile"),
        ];
        let grouping = Grouping { threshold: 0.2, days: 3 };
        assert_eq!(grouping.group(&articles), [0, 1, 0, 2]);
        assert_eq!(grouping.group(&[]), [0; 0]);
    }
}
