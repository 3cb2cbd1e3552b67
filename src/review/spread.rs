//! How reviewers scored outputs and controls, as a picture (Culkin et al. 2021, Figure 7).

use super::Question;
use super::agreement::OfQuestion;
use crate::text::chart::{Bar, BarChart, Group};

/// Bars of the picture: scores of 0 to below 10, and so on; the last has 100, too.
const BINS: usize = 10;

impl OfQuestion {
    /// How the mean scores of a question spread, as bars for each kind of item. The curves are the
    /// share of items with that score or a higher one.
    #[must_use]
    pub fn spread(&self, question: Question) -> BarChart {
        let series = self.roles.iter().map(|(role, figures)| {
            format!("{} ({}, mean {:.2})", role.as_str(), figures.items, figures.mean())
        });
        let percent = |some: usize, all: usize| 100.0 * some as f64 / all.max(1) as f64;
        let bin_of = |mean: f64| ((mean / 10.0) as usize).min(BINS - 1);
        let group = |bin: usize| {
            let bar = |means: &Vec<f64>| {
                let inside = means.iter().filter(|mean| bin_of(**mean) == bin).count();
                Bar { value: percent(inside, means.len()), note: String::new() }
            };
            let last = if bin + 1 == BINS { 100 } else { 10 * bin + 9 };
            Group {
                label: format!("{}-{last}", 10 * bin),
                bars: self.means.values().map(bar).collect(),
            }
        };
        let curve = |means: &Vec<f64>| {
            let least = |score: u32| means.iter().filter(|mean| **mean >= f64::from(score)).count();
            let point = |score| (f64::from(score) / 100.0, percent(least(score), means.len()));
            (0..=100).map(point).collect()
        };
        BarChart {
            title: question.wording(None),
            x: "mean score of an item; 50 accepts it".to_owned(),
            y: "% of items: bars, with this score; lines, with it or more".to_owned(),
            series: series.collect(),
            groups: (0..BINS).map(group).collect(),
            curves: self.means.values().map(curve).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::review::{Role, RoleFigures};

    #[test]
    fn bars_of_a_series_add_up_to_all_items_and_its_curve_falls_from_all_to_none() {
        let means = BTreeMap::from([
            (Role::Output, vec![0.0, 9.9, 55.0, 100.0]),
            (Role::InFrame, vec![70.0, 90.0]),
        ]);
        let roles = means.keys().map(|role| (*role, RoleFigures::default())).collect();
        let mut of = OfQuestion::default();
        (of.roles, of.means) = (roles, means);
        let chart = of.spread(Question::Evokes);
        let bars: Vec<f64> = chart.groups.iter().map(|group| group.bars[0].value).collect();
        assert_eq!(bars, [50.0, 0.0, 0.0, 0.0, 0.0, 25.0, 0.0, 0.0, 0.0, 25.0]);
        let controls: f64 = chart.groups.iter().map(|group| group.bars[1].value).sum();
        assert_eq!(controls, 100.0);
        let heights: Vec<f64> = chart.curves[0].iter().map(|(_, height)| *height).collect();
        assert!(heights.windows(2).all(|pair| pair[0] >= pair[1]), "{heights:?}");
        assert_eq!(
            (heights[0], heights[9], heights[10], heights[50], heights[100]),
            (100.0, 75.0, 50.0, 50.0, 25.0)
        );
    }
}
