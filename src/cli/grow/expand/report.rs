//! What `fnstore expand` says of its work.

use std::collections::BTreeMap;

use fnstore::endpoint::Usage;
use fnstore::expand::{CarriedTally, EndReason, FilterTally, Guidance, Report};
use serde::Serialize;

use crate::cli::grow::filter::write_kept;
use crate::cli::print::output::{Output, counted, grouped};

/// Writes the report for reading.
pub(super) fn summary(
    report: &Report,
    expression: &str,
    rounds: u16,
    output: &mut Output,
) -> anyhow::Result<()> {
    let title = format!("human annotation sets for {expression}: {}", grouped(report.seeds));
    output.heading(&title)?;
    if report.seeds == 0 {
        return Ok(());
    }
    let by = format!("{}; `fnstore recipes` shows its settings", guided(report.guidance));
    output.figure("recipe", &report.recipe.to_string(), &by)?;
    if report.nothing_new() {
        let through =
            if rounds == 1 { "round".to_owned() } else { counted(u64::from(rounds), "round") };
        output.line(&format!("  nothing new to do: all are through {through} or ended before"))?;
        return write_reasons("ended before their last round", &report.ended_before, output);
    }
    write_counts(report, output)?;
    if !report.flags.is_empty() {
        let flags: Vec<String> = report
            .flags
            .iter()
            .map(|(flag, count)| format!("{} {flag}", grouped(*count)))
            .collect();
        output.line(&format!("  {:<20} {}", "flagged", flags.join(", ")))?;
    }
    if let Some(kept) = &report.kept {
        write_kept(kept, output)?;
    }
    if report.left > 0 {
        output.count("left for later", report.left, "sets; the same command takes them")?;
    }
    write_reasons("sets without any new sentence", &report.unproductive, output)?;
    write_reasons("sets that ended before their last round", &report.ended, output)?;
    write_reasons("sets that had ended before, in earlier runs", &report.ended_before, output)?;
    let found =
        format!("  `origin=generated recipe={}` finds what the recipe wrote", report.recipe.0);
    Ok(output.line(&found)?)
}

/// What came out, and what it took.
fn write_counts(report: &Report, output: &mut Output) -> anyhow::Result<()> {
    let rate = format!(
        "in {:.1} s, {:.1} per second",
        report.elapsed.as_secs_f64(),
        report.sentences_per_second()
    );
    output.count("done before", report.done_before, "")?;
    output.count("sentences written", report.sentences, &rate)?;
    output.count("new triggers", report.new_triggers, "")?;
    output.count("new (Frame, Trigger)", report.new_pairs, "")?;
    output.count("LUs proposed", report.proposed_lexunits, "")?;
    let elements = &report.elements;
    if elements.sentences > 0 {
        let all = elements.found + elements.lost;
        let with_core = 100.0 * elements.with_core as f64 / elements.sentences as f64;
        let note =
            format!("of {} found; all core FEs in {with_core:.0} % of sentences", grouped(all));
        output.count("FEs carried over", elements.found, &note)?;
    }
    if report.steps_reused > 0 {
        let share = 100.0 * report.steps_reused as f64 / report.steps as f64;
        let note = format!("{share:.0} % of all, taken over from the round before");
        output.count("steps saved", report.steps_reused, &note)?;
    }
    let Usage { requests, tokens, known } = report.asked;
    if requests + known > 0 {
        let note = format!("{}; {} known", counted(tokens, "token"), counted(known, "answer"));
        output.count("requests", requests, &note)?;
    }
    if report.leaks > 0 {
        output.count("banned words", report.leaks, "dropped")?;
    }
    Ok(())
}

fn guided(guidance: Guidance) -> &'static str {
    match guidance {
        Guidance::Lexicon => "guided by the lexicon",
        Guidance::Alike => "guided to words like the frame's LUs",
        Guidance::Context => "guided to what the rewriter would say in the trigger's place",
        Guidance::None => "not guided",
    }
}

fn write_reasons(
    title: &str,
    reasons: &BTreeMap<EndReason, u64>,
    output: &mut Output,
) -> anyhow::Result<()> {
    if reasons.is_empty() {
        return Ok(());
    }
    output.line(&format!("  {title}:"))?;
    for (reason, count) in reasons {
        output.line(&format!("  {:>30}  {}", grouped(*count), reason.explanation()))?;
    }
    Ok(())
}

/// An expansion as JSON; see `schema/expand.schema.json`.
#[derive(Debug, Serialize)]
pub(super) struct ReportRecord<'a> {
    recipe: u32,
    seeds: u64,
    done_before: u64,
    left: u64,
    sentences: u64,
    new_triggers: u64,
    new_pairs: u64,
    proposed_lexunits: u64,
    flags: &'a BTreeMap<&'static str, u64>,
    ended_before: BTreeMap<&'static str, u64>,
    ended: BTreeMap<&'static str, u64>,
    unproductive: BTreeMap<&'static str, u64>,
    guide: Guidance,
    elements: CarriedTally,
    kept: Option<FilterTally>,
    leaks: u64,
    steps: u64,
    steps_reused: u64,
    endpoint: Usage,
    seconds: f64,
    sentences_per_second: f64,
    interrupted: bool,
    out_of_budget: bool,
}

impl<'a> ReportRecord<'a> {
    pub(super) fn new(report: &'a Report) -> Self {
        let by_name = |reasons: &BTreeMap<EndReason, u64>| {
            reasons.iter().map(|(reason, count)| (reason.as_str(), *count)).collect()
        };
        Self {
            recipe: report.recipe.0,
            seeds: report.seeds,
            done_before: report.done_before,
            left: report.left,
            sentences: report.sentences,
            new_triggers: report.new_triggers,
            new_pairs: report.new_pairs,
            proposed_lexunits: report.proposed_lexunits,
            flags: &report.flags,
            ended_before: by_name(&report.ended_before),
            ended: by_name(&report.ended),
            unproductive: by_name(&report.unproductive),
            guide: report.guidance,
            elements: report.elements,
            kept: report.kept,
            leaks: report.leaks,
            steps: report.steps,
            steps_reused: report.steps_reused,
            endpoint: report.asked,
            seconds: report.elapsed.as_secs_f64(),
            sentences_per_second: report.sentences_per_second(),
            interrupted: report.interrupted,
            out_of_budget: report.out_of_budget,
        }
    }
}
