//! What an edition promises: how it is asked for, shown, and checked.

use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use fnstore::database::Database;
use fnstore::edit::scores_in;
use fnstore::model::{Edition, Fraction, Promise, PromiseGroups, ReleaseId};
use fnstore::promise::{
    PromiseCheck, PromiseRequest, PromiseStanding, PromiseVerdict, check_promise_by,
};
use fnstore::query::Expression;
use serde::Serialize;

use crate::cli::options::named::named;
use crate::cli::options::query::fields;
use crate::cli::print::output::{Format, Output, counted, grouped, tell};
use crate::cli::print::render::Row;
use crate::cli::store::edit;
use crate::cli::{Context, Outcome};

/// `--precision` and what goes with it.
#[derive(Debug, clap::Args)]
pub(super) struct PromiseArgs {
    /// Promise that at least this share of the sets is right: rank what the query finds, and hold
    /// what judgements of a random sample speak for
    #[arg(long, value_name = "SHARE")]
    precision: Option<f64>,

    /// How sure the promise is
    #[arg(long, value_name = "SHARE", default_value_t = 0.95, requires = "precision")]
    confidence: f64,

    /// Rank by this score [default: `p` where sets have it, else `evokes`]
    #[arg(long, value_name = "FIELD", requires = "precision")]
    rank: Option<String>,

    /// Keep the promise in each of these groups by itself
    #[arg(long, value_name = "GROUPS", value_parser = named::<PromiseGroups>(), requires = "precision")]
    by: Option<PromiseGroups>,
}

impl PromiseArgs {
    /// The promise that is asked for.
    pub(super) fn request(&self) -> anyhow::Result<Option<PromiseRequest>> {
        let Some(precision) = self.precision else { return Ok(None) };
        let ranks = self.rank.as_deref().map(fields).transpose()?.unwrap_or_default();
        ensure!(ranks.len() < 2, "`--rank` takes one field, not {}", ranks.len());
        let rank = ranks.first().copied();
        let (confidence, by) = (self.confidence, self.by);
        Ok(Some(PromiseRequest { precision, confidence, rank, by }))
    }
}

/// What an edition promises, as JSON.
#[derive(Debug, Serialize)]
pub(super) struct PromiseRecord {
    precision: Fraction,
    confidence: Fraction,
    rank: String,
    by: Option<PromiseGroups>,
    groups: Vec<PromiseStanding>,
}

impl PromiseRecord {
    pub(super) fn of(
        database: &Database,
        release: ReleaseId,
        edition: &Edition,
    ) -> anyhow::Result<Option<Self>> {
        let Some(promise) = &edition.promise else { return Ok(None) };
        let Promise { precision, confidence, rank, by, .. } = promise.clone();
        let groups = database.promise_standing(release, edition)?;
        Ok(Some(Self { precision, confidence, rank, by, groups }))
    }

    /// Judgements that are still worth making.
    pub(super) fn left(&self) -> u64 {
        self.groups.iter().map(|group| group.left).sum()
    }

    /// Whether judgements allow another cut than the edition was made with.
    pub(super) fn has_moved(&self) -> bool {
        self.groups.iter().any(|group| group.sets != group.kept)
    }

    pub(super) fn lay_out(&self, name: &str, output: &mut Output) -> anyhow::Result<()> {
        let Self { precision, confidence, rank, .. } = self;
        let (share, sure) = (percent(*precision), percent(*confidence));
        output.line(&format!(
            "  {:<18} {share} right, with a confidence of {sure}, ranked by `{rank}`",
            "promise"
        ))?;
        for group in &self.groups {
            let title = if group.group.is_empty() { "judged" } else { &group.group };
            output.line(&format!("  {title:<18} {}", said(group, rank)))?;
        }
        let left = self.left();
        if left > 0 {
            let more = counted(left, "judgement");
            let how = format!("about {more} more: `fnstore review --for {name}`");
            output.line(&format!("  {:<18} {how}", "to be judged"))?;
        }
        if self.has_moved() {
            let how = format!("judgements allow another cut: `fnstore edition cut {name}`");
            output.line(&format!("  {:<18} {how}", ""))?;
        }
        Ok(())
    }
}

fn said(group: &PromiseStanding, rank: &str) -> String {
    let judged = format!("{} of {} right", grouped(group.right), grouped(group.judged));
    let candidates = grouped(group.candidates);
    match (group.score, group.lower) {
        (Some(score), Some(lower)) => format!(
            "{judged}; {} of {candidates} candidates have `{rank}>={score}`, at least {} of them right",
            grouped(group.sets),
            percent(f64::from(lower)),
        ),
        _ => format!("{judged}; no cut of {candidates} candidates keeps the promise yet"),
    }
}

fn percent(share: f64) -> String {
    let text = format!("{:.1}", share * 100.0);
    format!("{} %", text.trim_end_matches(".0"))
}

impl Row for PromiseCheck {
    const COLUMNS: &'static [&'static str] =
        &["edition", "group", "judged", "right", "lower", "upper", "verdict"];
}

/// Says whether the judgements in the store, or those of a file, bear out what an edition promises.
pub(super) fn check(
    database: &Database,
    (release, edition): (ReleaseId, &Edition),
    file: Option<&Path>,
    context: &mut Context,
) -> anyhow::Result<Outcome> {
    if edition.promise.is_none() {
        let name = &edition.name;
        bail!(
            "edition `{name}` promises nothing; `edition create --precision` makes one that does"
        );
    }
    let rows = match file {
        None => database.check_promise(release, edition)?,
        Some(file) => {
            let scores = scores_in(edit::open(file)?)
                .with_context(|| format!("cannot take judgements from `{}`", file.display()))?;
            let (rows, others) = check_promise_by(edition, &scores);
            if others > 0 {
                let others = counted(others, "judged set");
                tell(&format!("{others} not of the edition: left out"));
            }
            rows
        }
    };
    let is_broken = rows.iter().any(|row| row.verdict == PromiseVerdict::Broken);
    context.output.rows(Format::Jsonl, rows)?;
    Ok(if is_broken { Outcome::CheckFailed } else { Outcome::Done })
}

/// What was not made a candidate, and what is to do next.
pub(super) fn tell_next(
    record: &PromiseRecord,
    name: &str,
    unranked: u64,
    expression: &Expression,
) {
    if unranked > 0 {
        let sets = counted(unranked, "annotation set");
        let rank = &record.rank;
        tell(&format!("{sets} of `{expression:#}` without `{rank}` or group: no candidates"));
    }
    let left = record.left();
    if left > 0 {
        let more = counted(left, "judgement");
        tell(&format!("about {more} more are worth making: `fnstore review --for {name}`"));
    }
}
