//! What `fnstore expand` says of its work.

use std::collections::BTreeMap;

use fnstore::endpoint::Usage;
use fnstore::expand::{CompanyTally, EndReason, Guidance, Report};

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
        report.sentences_per_second
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
    write_company(&report.carried, output)?;
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

/// What became of the other sets of the sentences.
fn write_company(carried: &CompanyTally, output: &mut Output) -> anyhow::Result<()> {
    if carried.sentences == 0 {
        return Ok(());
    }
    let all = carried.found + carried.dropped.values().sum::<u64>();
    let note = format!(
        "of {} beside those rewritten; all of them in {} of {}",
        grouped(all),
        grouped(carried.complete),
        counted(carried.sentences, "sentence")
    );
    output.count("sets carried along", carried.found, &note)?;
    if carried.changed > 0 {
        let changed = grouped(carried.changed);
        output.line(&format!("  {changed:>30}  with another LU of their frame as target"))?;
    }
    for (reason, count) in &carried.dropped {
        output.line(&format!("  {:>30}  {}", grouped(*count), reason.explanation()))?;
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
