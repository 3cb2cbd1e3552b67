//! `merge --status`: how far the shards of a folder are.

use std::path::PathBuf;
use std::time::Duration;

use fnstore::expand::{ShardState, ShardStatus, ShardsStatus, shards_in};
use fnstore::model::{Amount, Hex32, Positive};
use serde::Serialize;

use crate::cli::print::output::{Output, counted, grouped, tell};
use crate::cli::print::progress::duration;
use crate::cli::print::render::under;
use crate::cli::{Context, Outcome};

const COLUMNS: [&str; 10] =
    ["release", "query", "recipe", "shard", "of", "state", "seeds_done", "seeds", "sets", "file"];

/// The shards of some folders as JSON; see `schema/shards-status.schema.json`.
#[derive(Debug, Serialize)]
struct StatusRecord<'a> {
    expansions: Vec<ExpansionRecord<'a>>,
    unreadable: Vec<String>,
}

/// The shards of one expansion.
#[derive(Debug, Serialize)]
struct ExpansionRecord<'a> {
    release: &'a str,
    query: &'a str,
    recipe: Hex32<&'a str>,
    rounds: Positive<u16>,
    done: u64,
    running: u64,
    stopped: u64,
    missing: u64,
    damaged: u64,
    seeds_done: u64,
    seeds: u64,
    sets: u64,
    /// Seconds for all seeds that are left, if as many tasks go on as run now; null where none is
    /// seen to come on.
    seconds_left: Option<Amount>,
    shards: Vec<ShardRecord>,
}

/// One shard.
#[derive(Debug, Serialize)]
struct ShardRecord {
    shard: Positive<u32>,
    of: Positive<u32>,
    state: ShardState,
    seeds_done: u64,
    seeds: u64,
    sets: u64,
    /// Seconds since its task noted that; null where no task does.
    noted_seconds_ago: Option<u64>,
    file: Option<String>,
}

pub(super) fn run(
    places: &[PathBuf],
    reads_files: bool,
    context: &mut Context,
) -> anyhow::Result<Outcome> {
    let found = shards_in(places, reads_files)?;
    let unreadable: Vec<String> = found.unreadable.iter().map(ToString::to_string).collect();
    let expansions: Vec<ExpansionRecord> = found.expansions.iter().map(record).collect();
    let rows = expansions.iter().flat_map(|of| of.shards.iter().map(|shard| cells(of, shard)));
    let rows = under(&COLUMNS, rows.collect::<Vec<_>>());
    let is_whole = unreadable.is_empty()
        && found.expansions.iter().flat_map(|of| &of.shards).all(|of| of.state == ShardState::Done);
    let is_empty = expansions.is_empty() && unreadable.is_empty();
    let record = StatusRecord { expansions, unreadable };
    context.output.report(&record, rows, |output| {
        found.expansions.iter().try_for_each(|of| lay_out(of, output))
    })?;
    context.output.flush()?;
    record.unreadable.iter().for_each(|what| tell(what));
    if is_empty {
        return Outcome::nothing("no shard is there, and none is begun");
    }
    Ok(if is_whole { Outcome::Done } else { Outcome::CheckFailed })
}

fn record(of: &ShardsStatus) -> ExpansionRecord<'_> {
    let shard = |of: &ShardStatus| ShardRecord {
        shard: of.shard.number,
        of: of.shard.of,
        state: of.state,
        seeds_done: of.seeds_done,
        seeds: of.seeds,
        sets: of.sets,
        noted_seconds_ago: of.noted.map(|noted| noted.as_secs()),
        file: of.file.as_ref().map(|file| file.display().to_string()),
    };
    ExpansionRecord {
        release: &of.release,
        query: &of.query,
        recipe: &of.recipe,
        rounds: of.rounds,
        done: of.count(ShardState::Done),
        running: of.count(ShardState::Running),
        stopped: of.count(ShardState::Stopped),
        missing: of.count(ShardState::Missing),
        damaged: of.count(ShardState::Damaged),
        seeds_done: of.sum(|shard| shard.seeds_done),
        seeds: of.sum(|shard| shard.seeds),
        sets: of.sum(|shard| shard.sets),
        seconds_left: of.time_left().map(|left| left.as_secs_f64()),
        shards: of.shards.iter().map(shard).collect(),
    }
}

fn cells(expansion: &ExpansionRecord<'_>, of: &ShardRecord) -> Vec<String> {
    vec![
        expansion.release.to_owned(),
        expansion.query.to_owned(),
        expansion.recipe.to_owned(),
        of.shard.to_string(),
        of.of.to_string(),
        of.state.as_str().to_owned(),
        of.seeds_done.to_string(),
        of.seeds.to_string(),
        of.sets.to_string(),
        of.file.clone().unwrap_or_default(),
    ]
}

fn lay_out(of: &ShardsStatus, output: &mut Output) -> anyhow::Result<()> {
    output.heading(&format!(
        "`{}` of {}, {}",
        of.query,
        of.release,
        counted(u64::from(of.rounds), "round")
    ))?;
    let states = ShardState::ALL.into_iter().filter(|state| of.count(*state) > 0);
    let states: Vec<String> =
        states.map(|state| format!("{} {}", grouped(of.count(state)), state.as_str())).collect();
    let (seeds, done) = (of.sum(|shard| shard.seeds), of.sum(|shard| shard.seeds_done));
    let share = 100.0 * done as f64 / seeds.max(1) as f64;
    let rows = [
        ("shards", grouped(of.shards.len() as u64), states.join(", ")),
        ("seeds done", grouped(done), format!("of {}, {share:.0} %", grouped(seeds))),
        ("sentences", grouped(of.sum(|shard| shard.sets)), String::new()),
    ];
    for (name, count, note) in rows {
        output.figure(name, &count, &note)?;
    }
    if let Some(left) = of.time_left() {
        let time = duration(left.as_secs());
        output.figure("time", &time, "about, if as many tasks go on")?;
    }
    output.line(&format!(
        "  {:>9}  {:<8} {:>9} {:>9} {:>9}",
        "shard", "state", "done", "seeds", "sentences"
    ))?;
    for shard in &of.shards {
        let ago = |noted: Duration| format!("noted {} ago", duration(noted.as_secs()));
        let line = format!(
            "  {:>9}  {:<8} {:>9} {:>9} {:>9}  {}",
            shard.shard.number,
            shard.state.as_str(),
            grouped(shard.seeds_done),
            grouped(shard.seeds),
            grouped(shard.sets),
            shard.noted.map(ago).unwrap_or_default()
        );
        output.line(line.trim_end())?;
    }
    Ok(())
}
