//! What is printed and drawn of an experiment from scratch; `schema/eval-scratch.schema.json`.

use fnstore::database::Database;
use fnstore::proposals::scratch::{FrameScore, Plan, Scores, Tally, Ties, score};
use fnstore::text::chart::{Bar, BarChart, Group};
use serde::Serialize;

use super::work::{Order, Run};
use crate::cli::print::output::{Output, counted};
use crate::cli::print::render::Row;

/// What Culkin et al. 2021 found (section 6.1, footnote 17): their recall takes the given LUs off
/// twice.
const PAPER: Paper = Paper {
    found: 128,
    wrong: 1188,
    hidden: 300,
    precision: 128.0 / 1316.0,
    recall: 128.0 / 300.0,
    paper_recall: 128.0 / 240.0,
};

#[derive(Debug, Clone, Copy, Serialize)]
struct Paper {
    found: usize,
    wrong: usize,
    hidden: usize,
    precision: f64,
    recall: f64,
    paper_recall: f64,
}

/// The experiment as JSON; see `schema/eval-scratch.schema.json`.
#[derive(Debug, Serialize)]
pub(super) struct Document {
    release: String,
    given: PlanRecord,
    pub(super) rounds: Vec<RoundRecord>,
    runs: Vec<RunRecord>,
    /// Means over random orders.
    ties: Vec<TieRecord>,
    paper: Paper,
}

/// What is given and hidden, in the order by number.
#[derive(Debug, Serialize)]
struct PlanRecord {
    frames: usize,
    annotated: usize,
    lus: usize,
    sets: usize,
    left_out: usize,
    hidden: usize,
}

/// What a run found up to a round.
#[derive(Debug, Serialize)]
pub(super) struct RoundRecord {
    order: String,
    run: String,
    recipe: u32,
    round: u16,
    outputs: usize,
    found: usize,
    wrong: usize,
    missed: usize,
    precision: Option<f64>,
    recall: Option<f64>,
    paper_recall: Option<f64>,
    lemma_precision: Option<f64>,
    lemma_recall: Option<f64>,
}

impl Row for RoundRecord {
    const COLUMNS: &'static [&'static str] = &[
        "order",
        "run",
        "recipe",
        "round",
        "outputs",
        "found",
        "wrong",
        "missed",
        "precision",
        "recall",
        "paper_recall",
        "lemma_precision",
        "lemma_recall",
    ];

    const TABLE_COLUMNS: &'static [&'static str] = &[
        "round",
        "outputs",
        "found",
        "wrong",
        "missed",
        "precision",
        "recall",
        "paper_recall",
        "lemma_precision",
        "lemma_recall",
    ];

    fn cells(&self) -> Vec<String> {
        let counts = [self.outputs, self.found, self.wrong, self.missed];
        let counts = counts.into_iter().map(|count| count.to_string());
        let shares = [
            self.precision,
            self.recall,
            self.paper_recall,
            self.lemma_precision,
            self.lemma_recall,
        ];
        let round = self.round.to_string();
        std::iter::once(round).chain(counts).chain(shares.into_iter().map(percent)).collect()
    }
}

/// What a run found after its last round.
#[derive(Debug, Serialize)]
struct RunRecord {
    order: String,
    run: String,
    recipe: u32,
    /// Given LUs among the outputs' own; they count neither as found nor as wrong.
    again: usize,
    /// Wrong ones that are LUs of their frame without exemplars.
    unannotated: usize,
    writable: usize,
    writable_listed: Option<usize>,
    frames: Vec<FrameRecord>,
}

#[derive(Debug, Serialize)]
struct FrameRecord {
    frame: String,
    found: usize,
    wrong: usize,
    missed: usize,
    precision: Option<f64>,
    recall: Option<f64>,
    lus: Vec<String>,
}

impl Row for FrameRecord {
    const COLUMNS: &'static [&'static str] =
        &["frame", "found", "wrong", "missed", "precision", "recall"];

    fn cells(&self) -> Vec<String> {
        let counts = [self.found, self.wrong, self.missed].map(|count| count.to_string());
        let shares = [self.precision, self.recall].map(percent);
        std::iter::once(self.frame.clone()).chain(counts).chain(shares).collect()
    }
}

/// Mean and standard deviation over random orders.
#[derive(Debug, Serialize)]
struct TieRecord {
    run: String,
    orders: usize,
    found: Spread,
    precision: Spread,
    recall: Spread,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
struct Spread {
    mean: f64,
    /// Standard deviation of the sample; null of one.
    sd: Option<f64>,
}

impl Spread {
    fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count.max(1.0);
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let sd = (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt());
        Self { mean, sd }
    }

    fn written(&self, scale: f64) -> String {
        let sd = self.sd.map_or(String::new(), |sd| format!(" (sd {:.2})", scale * sd));
        format!("{:.2}{sd}", scale * self.mean)
    }
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(String::new, |share| format!("{:.2}", 100.0 * share))
}

fn named(ties: Ties) -> String {
    match ties {
        Ties::Id => "by id".to_owned(),
        Ties::Random(seed) => format!("random {seed}"),
    }
}

impl Document {
    /// Reads what is in the work directory.
    pub(super) fn of(orders: &[Order]) -> anyhow::Result<Self> {
        let plan = orders[0].plan()?;
        let mut document = Self {
            release: plan.release.clone(),
            given: PlanRecord {
                frames: plan.frames.len(),
                annotated: plan.annotated(),
                lus: plan.seeds().count(),
                sets: plan.sets(),
                left_out: plan.left_out,
                hidden: plan.hidden(),
            },
            rounds: Vec::new(),
            runs: Vec::new(),
            ties: Vec::new(),
            paper: PAPER,
        };
        for order in orders {
            let (plan, database) = (order.plan()?, Database::open(&order.store())?);
            for run in order.runs()? {
                let scores = score(&plan, &order.outputs(&database, &run)?);
                document.take(&plan, named(order.ties), &run, scores);
            }
        }
        document.spread();
        Ok(document)
    }

    fn take(&mut self, plan: &Plan, order: String, run: &Run, scores: Scores) {
        let hidden_as_the_paper = plan.annotated().saturating_sub(2 * plan.seeds().count());
        for of in &scores.rounds {
            let Tally { found, wrong, missed } = of.with_pos;
            let paper_recall =
                (hidden_as_the_paper > 0).then(|| found as f64 / hidden_as_the_paper as f64);
            self.rounds.push(RoundRecord {
                order: order.clone(),
                run: run.label.clone(),
                recipe: run.recipe,
                round: of.round,
                outputs: of.outputs,
                found,
                wrong,
                missed,
                precision: of.with_pos.precision(),
                recall: of.with_pos.recall(),
                paper_recall,
                lemma_precision: of.without_pos.precision(),
                lemma_recall: of.without_pos.recall(),
            });
        }
        let frame = |FrameScore { frame, tally, found }| FrameRecord {
            frame,
            found: tally.found,
            wrong: tally.wrong,
            missed: tally.missed,
            precision: tally.precision(),
            recall: tally.recall(),
            lus: found,
        };
        self.runs.push(RunRecord {
            order,
            run: run.label.clone(),
            recipe: run.recipe,
            again: scores.again,
            unannotated: scores.unannotated,
            writable: run.any,
            writable_listed: run.listed,
            frames: scores.frames.into_iter().map(frame).collect(),
        });
    }

    /// The last round of each run.
    fn last(&self) -> impl Iterator<Item = &RoundRecord> {
        let next = self.rounds.iter().skip(1).map(Some).chain([None]);
        let is_last = |(of, next): &(&RoundRecord, Option<&RoundRecord>)| {
            next.is_none_or(|next| next.round <= of.round)
        };
        self.rounds.iter().zip(next).filter(is_last).map(|(of, _)| of)
    }

    fn spread(&mut self) {
        let random: Vec<&RoundRecord> =
            self.last().filter(|of| of.order != named(Ties::Id)).collect();
        let mut names: Vec<&str> = random.iter().map(|of| of.run.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let of_name = |name: &str| {
            let of: Vec<_> = random.iter().filter(|of| of.run == name).collect();
            let spread = |value: &dyn Fn(&RoundRecord) -> f64| {
                Spread::of(&of.iter().map(|of| value(of)).collect::<Vec<_>>())
            };
            TieRecord {
                run: name.to_owned(),
                orders: of.len(),
                found: spread(&|of| of.found as f64),
                precision: spread(&|of| of.precision.unwrap_or(0.0)),
                recall: spread(&|of| of.recall.unwrap_or(0.0)),
            }
        };
        self.ties = names.into_iter().map(of_name).collect();
    }

    pub(super) fn lay_out(&self, output: &mut Output) -> anyhow::Result<()> {
        let PlanRecord { frames, annotated, lus, sets, left_out, hidden } = self.given;
        output.heading(&format!(
            "{}: {}, {}; {} with {} given, {hidden} hidden",
            self.release,
            counted(frames as u64, "frame"),
            counted(annotated as u64, "annotated LU"),
            counted(lus as u64, "LU"),
            counted(sets as u64, "set")
        ))?;
        if left_out > 0 {
            let left_out = counted(left_out as u64, "set");
            output.line(&format!("{left_out} left out, of sentences that models learned from"))?;
        }
        let Paper { found, wrong, .. } = self.paper;
        output.line(&format!(
            "the paper: found {found}, wrong {wrong}; precision {:.2} %, recall {:.2} % of 300, {:.2} % of its 240",
            100.0 * self.paper.precision,
            100.0 * self.paper.recall,
            100.0 * self.paper.paper_recall
        ))?;
        for run in &self.runs {
            output.line("")?;
            self.lay_out_run(run, output)?;
        }
        for TieRecord { run, orders, found, precision, recall } in &self.ties {
            output.line("")?;
            output.line(&format!(
                "{run}, {}: found {}, precision {} %, recall {} %",
                counted(*orders as u64, "random order"),
                found.written(1.0),
                precision.written(100.0),
                recall.written(100.0)
            ))?;
        }
        Ok(())
    }

    fn lay_out_run(&self, run: &RunRecord, output: &mut Output) -> anyhow::Result<()> {
        let RunRecord { order, again, unannotated, writable, .. } = run;
        output.heading(&format!("{} (recipe {}, ties {order})", run.run, run.recipe))?;
        let is_of = |of: &&RoundRecord| (&of.order, of.recipe) == (&run.order, run.recipe);
        let rounds: Vec<&RoundRecord> = self.rounds.iter().filter(is_of).collect();
        output.table_of(&rounds)?;
        let listed =
            run.writable_listed.map_or(String::new(), |of| format!(", {of} in words of its list"));
        output.line(&format!(
            "{} came again; {unannotated} of the wrong ones are LUs of their frame without exemplars; \
             the rewriter can write {}{listed}",
            counted(*again as u64, "given LU"),
            counted(*writable as u64, "hidden LU")
        ))?;
        output.table_of(&run.frames)
    }

    /// Hidden LUs that are found, round by round, in the order by number.
    pub(super) fn svg(&self) -> String {
        let by_id = || self.rounds.iter().filter(|of| of.order == named(Ties::Id));
        let mut series: Vec<&str> = by_id().map(|of| of.run.as_str()).collect();
        series.dedup();
        let last = by_id().map(|of| of.round).max().unwrap_or(0);
        let bar = |run: &&str, round| {
            let of = by_id().rfind(|of| of.run == *run && of.round <= round);
            let found = of.map_or(0, |of| of.found);
            let precision = of.and_then(|of| of.precision);
            let note = precision.map_or(String::new(), |share| format!("{:.0}", 100.0 * share));
            Bar { value: found as f64, note }
        };
        let group = |round: u16| Group {
            label: round.to_string(),
            bars: series.iter().map(|run| bar(run, round)).collect(),
        };
        BarChart {
            title: "Hidden LUs found from scratch, with precision in percent".to_owned(),
            x: "rounds".to_owned(),
            y: format!("hidden LUs found, of {}", self.given.hidden),
            series: series.iter().map(|name| (*name).to_owned()).collect(),
            groups: (1..=last).map(group).collect(),
            curves: Vec::new(),
        }
        .svg()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_is_that_of_a_sample() {
        let spread = Spread::of(&[1.0, 2.0, 3.0, 6.0]);
        assert_eq!(spread.mean, 3.0);
        let squares = spread.sd.unwrap().powi(2) * 3.0;
        assert!((squares - 14.0).abs() < 1e-9, "14 squared deviations, not {squares}");
        assert_eq!(spread.written(1.0), "3.00 (sd 2.16)");
        assert_eq!(Spread::of(&[2.0]).written(100.0), "200.00");
    }
}
