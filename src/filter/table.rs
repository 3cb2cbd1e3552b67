//! How good filters are: Table 4 of Culkin et al. 2021.
//!
//! Precision is the share of kept outputs that people accept, recall the share of acceptable ones
//! that are kept. The multiple is the size of seeds and kept outputs over that of the seeds alone.
//! The paper's thresholds belong to its own models. So each rule on a score stands there twice: as
//! it is printed, and with the threshold at which it keeps the share of acceptable outputs that the
//! paper's did.

use std::collections::HashSet;

use serde::Serialize;

use super::evidence::FilterEvidence;
use super::judged::Judged;
pub use crate::model::Share;

/// An output with the scores of both classifiers.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// The output.
    pub output: Judged,
    /// Score of the precision filter.
    pub p: f32,
    /// Score of the recall filter.
    pub r: f32,
}

/// Which outputs are kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// All.
    All,
    /// Those of rounds up to one.
    Round(u16),
    /// Those whose paraphrase score is as low or lower.
    Paraphrase(f32),
    /// Those whose aligner score is as high or higher.
    Aligner(f32),
    /// Those that are within all three.
    All3(u16, f32, f32),
    /// Those whose LU no expansion proposed.
    Listed,
    /// Of these, those whose aligner score is as high or higher.
    ListedAligner(f32),
    /// Those that the precision filter scores as high or higher.
    P(f32),
    /// Those that the recall filter scores as high or higher.
    R(f32),
}

impl Rule {
    /// Whether it keeps an output.
    #[must_use]
    pub fn keeps(self, scored: &Scored) -> bool {
        let FilterEvidence { round, paraphrase, aligner, proposed, .. } = scored.output.evidence;
        match self {
            Self::All => true,
            Self::Round(most) => round <= most,
            Self::Paraphrase(most) => paraphrase <= most,
            Self::Aligner(least) => aligner >= least,
            Self::All3(last, most, least) => {
                round <= last && paraphrase <= most && aligner >= least
            }
            Self::Listed => !proposed,
            Self::ListedAligner(least) => !proposed && aligner >= least,
            Self::P(least) => scored.p >= least,
            Self::R(least) => scored.r >= least,
        }
    }
}

/// A row of Table 4.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RuleFigures {
    /// What is kept, in the query language.
    pub rule: String,
    /// Outputs that are kept, judged or not.
    pub kept: u64,
    /// Of the judged ones that are kept, those that people accept.
    pub precision: Share,
    /// Of the acceptable ones, those that are kept.
    pub recall: Share,
    /// (Seeds + kept) / seeds.
    pub multiple: f64,
    /// The paper's precision and recall in percent, and its multiple.
    pub paper: Option<[f64; 3]>,
}

impl RuleFigures {
    /// The same row with the multiple over so many seeds: those that yielded nothing stand in no
    /// list of outputs.
    #[must_use]
    pub fn over(self, seeds: u64) -> Self {
        let multiple = (seeds + self.kept) as f64 / seeds.max(1) as f64;
        Self { multiple, ..self }
    }
}

/// The row of a rule over outputs; `rule` and `paper` are what is printed.
#[must_use]
pub fn figures_of(
    rule: Rule,
    name: &str,
    paper: Option<[f64; 3]>,
    outputs: &[Scored],
) -> RuleFigures {
    let mut row = RuleFigures {
        rule: name.to_owned(),
        kept: 0,
        precision: Share::default(),
        recall: Share::default(),
        multiple: 0.0,
        paper,
    };
    for scored in outputs {
        let (is_kept, label) = (rule.keeps(scored), scored.output.is_acceptable());
        row.kept += u64::from(is_kept);
        row.precision.of += u64::from(is_kept && label.is_some());
        row.recall.of += u64::from(label == Some(true));
        let hit = u64::from(is_kept && label == Some(true));
        row.precision.hits += hit;
        row.recall.hits += hit;
    }
    row.over(seeds_of(outputs) as u64)
}

/// How many seeds outputs come from.
#[must_use]
pub fn seeds_of(outputs: &[Scored]) -> usize {
    let seed = |scored: &'_ Scored| (scored.output.release.clone(), scored.output.seed.clone());
    outputs.iter().map(seed).collect::<HashSet<_>>().len()
}

/// The upper section of Table 4: all outputs, then what can be told from round and scores alone.
/// The rows of scores are followed by those of the same recall. Then two rules that are not the
/// paper's: a filter that looks at more than the paper's should do better than they do.
#[must_use]
pub fn heuristics(outputs: &[Scored]) -> Vec<RuleFigures> {
    let low =
        |recall| threshold(outputs, recall, |evidence| -evidence.paraphrase).map(|least| -least);
    let high = |recall| threshold(outputs, recall, |evidence| evidence.aligner);
    let (strict, lax) = (Some([92.54, 5.31, 1.39]), Some([87.73, 20.82, 2.62]));
    let mut rows: Vec<(Rule, &str, Option<[f64; 3]>)> = vec![
        (Rule::All, "", Some([68.25, 100.0, 11.0])),
        (Rule::Round(1), "", Some([90.06, 13.20, 2.0])),
        (Rule::Round(3), "", Some([81.29, 35.73, 4.0])),
        (Rule::Paraphrase(0.6), "", Some([90.14, 5.48, 1.42])),
        (Rule::Paraphrase(0.8), "", Some([74.86, 34.45, 4.14])),
        (Rule::Aligner(0.99), "", Some([85.01, 32.56, 3.61])),
        (Rule::Aligner(0.95), "", Some([76.72, 85.00, 8.56])),
        (Rule::All3(3, 0.8, 0.95), "lax: ", lax),
        (Rule::All3(1, 0.6, 0.99), "strict: ", strict),
    ];
    if let (Some(p6), Some(p8), Some(a99), Some(a95)) =
        (low(0.0548), low(0.3445), high(0.3256), high(0.8500))
    {
        rows.extend([
            (Rule::Paraphrase(p6), "same recall: ", Some([90.14, 5.48, 1.42])),
            (Rule::Paraphrase(p8), "same recall: ", Some([74.86, 34.45, 4.14])),
            (Rule::Aligner(a99), "same recall: ", Some([85.01, 32.56, 3.61])),
            (Rule::Aligner(a95), "same recall: ", Some([76.72, 85.00, 8.56])),
            (Rule::All3(3, p8, a95), "same recall, lax: ", lax),
            (Rule::All3(1, p6, a99), "same recall, strict: ", strict),
        ]);
    }
    rows.push((Rule::Listed, "", None));
    if let Some(least) = high(0.3256) {
        rows.push((Rule::ListedAligner(least), "", None));
    }
    let named = rows.into_iter().map(|(rule, name, paper)| {
        figures_of(rule, &format!("{name}{}", rule.expression()), paper, outputs)
    });
    named.collect()
}

impl Rule {
    /// It in the query language.
    #[must_use]
    pub fn expression(self) -> String {
        match self {
            Self::All => "all".to_owned(),
            Self::Round(1) => "round=1".to_owned(),
            Self::Round(most) => format!("round<={most}"),
            Self::Paraphrase(most) => format!("paraphrase<={most}"),
            Self::Aligner(least) => format!("aligner>={least}"),
            Self::All3(round, most, least) => {
                let parts = [Self::Round(round), Self::Paraphrase(most), Self::Aligner(least)];
                parts.map(Self::expression).join(" ")
            }
            Self::Listed => "lu_status!=Proposed".to_owned(),
            Self::ListedAligner(least) => {
                [Self::Listed, Self::Aligner(least)].map(Self::expression).join(" ")
            }
            Self::P(least) => format!("p>={least}"),
            Self::R(least) => format!("r>={least}"),
        }
    }
}

/// A threshold of four decimals that lets no less through: what is printed is what is measured.
pub(super) fn rounded_down(threshold: f32) -> f32 {
    let steps = (f64::from(threshold) * 1e4).floor();
    // One up where that is the number itself, which lies a little below four decimals as f32.
    [steps + 1.0, steps]
        .map(|steps| (steps / 1e4) as f32)
        .into_iter()
        .find(|rounded| *rounded <= threshold)
        .unwrap_or(threshold)
}

/// The highest value from which on a share of the acceptable outputs lies, in four decimals.
fn threshold(
    outputs: &[Scored],
    share: f64,
    value: impl Fn(&FilterEvidence) -> f32,
) -> Option<f32> {
    let acceptable = outputs.iter().filter(|scored| scored.output.is_acceptable() == Some(true));
    let mut values: Vec<f32> = acceptable.map(|scored| value(&scored.output.evidence)).collect();
    values.sort_by(|a, b| b.total_cmp(a));
    let count = (share * values.len() as f64).ceil() as usize;
    values.get(count.max(1) - 1).copied().map(rounded_down)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scored(number: usize, paraphrase: f32, aligner: f32, judgements: &[u8]) -> Scored {
        let round = 1 + number as u16 % 4;
        let evidence = FilterEvidence::new(round, (paraphrase, aligner), (false, 1));
        let output = Judged {
            set: format!("g{number}"),
            seed: format!("x{}", number / 4),
            release: "r".to_owned(),
            sentence: format!("x{}", number / 4),
            evidence,
            judgements: judgements.to_vec(),
            meaning_judgements: Vec::new(),
        };
        Scored { output, p: aligner, r: 1.0 }
    }

    fn outputs() -> Vec<Scored> {
        vec![
            scored(0, 0.5, 0.99, &[100]),
            scored(1, 0.7, 0.96, &[100]),
            scored(2, 0.9, 0.5, &[0]),
            scored(3, 0.95, 0.97, &[60, 40]),
            scored(4, 0.2, 0.999, &[]),
            scored(5, 0.7, 0.2, &[0]),
        ]
    }

    #[test]
    fn precision_and_recall_are_of_judged_outputs_and_the_multiple_of_all() {
        let row = figures_of(Rule::Aligner(0.95), "a", None, &outputs());
        assert_eq!(row.kept, 4);
        assert_eq!(
            (row.precision, row.recall),
            (Share { hits: 3, of: 3 }, Share { hits: 3, of: 3 })
        );
        // Two seeds and four outputs; then six more seeds that yielded nothing.
        assert_eq!((row.multiple, row.over(8).multiple), (3.0, 1.5));
    }

    #[test]
    fn the_heuristics_are_those_of_the_paper_then_those_of_the_same_recall() {
        let rows = heuristics(&outputs());
        let names: Vec<&str> = rows.iter().map(|row| row.rule.as_str()).collect();
        assert_eq!(names[0], "all");
        assert_eq!(
            names[7..9],
            [
                "lax: round<=3 paraphrase<=0.8 aligner>=0.95",
                "strict: round=1 paraphrase<=0.6 aligner>=0.99"
            ]
        );
        // 85 % of three acceptable ones are all three; 34.45 % are two.
        assert_eq!(names[12], "same recall: aligner>=0.96");
        assert_eq!(names[10], "same recall: paraphrase<=0.7");
        assert_eq!(names[15..], ["lu_status!=Proposed", "lu_status!=Proposed aligner>=0.99"]);
        assert_eq!(rows[0].precision, Share { hits: 3, of: 5 });
        assert_eq!(rows[1].recall, Share { hits: 1, of: 3 });
        assert_eq!((rows[8].kept, rows[8].precision), (2, Share { hits: 1, of: 1 }));
    }

    #[test]
    fn nothing_judged_has_no_thresholds_of_its_own() {
        let unjudged = [scored(0, 0.5, 0.9, &[])];
        let rows = heuristics(&unjudged);
        assert_eq!(rows.len(), 10);
        assert_eq!(rows[0].precision.interval(), (0.0, 1.0));
    }
}
