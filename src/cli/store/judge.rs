//! `fnstore judge`: what reviewers say of annotation sets, and raters of rewritings.

mod rewritings;

use std::path::PathBuf;

use anyhow::{Context as _, bail, ensure};
use fnstore::database::Database;
use fnstore::edit::Script;
use fnstore::internals::WithStore as _;
use fnstore::model::{AnnotationSetId, EVOKES, Judgement, Release};
use fnstore::review::Question;
use serde::Serialize;

use super::edit::{self, now};
use crate::cli::options::author::{reviewer, sign};
use crate::cli::options::release::release;
use crate::cli::print::notices::{tell_index_lag, tell_of_index};
use crate::cli::print::output::{Format, Output, grouped, tell};
use crate::cli::print::render::Row;
use crate::cli::{Context, Outcome};

/// Judge annotation sets, or show how they were judged
///
/// A judgement is a score from 0 (wrong) to 100 (right) with a note. It says whether the target
/// evokes the set's frame, or answers another question. A reviewer has one of each set and
/// question; another one takes its place. `fnstore query 'judgement>=80'` finds the sets that any
/// reviewer gave 80 or more.
///
/// Rewritings that are in no store are judged by `fnstore judge sample` and `fnstore judge tally`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    of_rewritings: Option<OfRewritings>,

    /// Id of the set, as in `g1024`
    #[arg(value_name = "ID", required_unless_present = "from", conflicts_with = "from")]
    set: Option<String>,

    /// The score, 0 to 100; without it the set's judgements are shown
    #[arg(value_name = "SCORE", value_parser = clap::value_parser!(u8).range(0..=100))]
    score: Option<u8>,

    /// Who judges [default: FNSTORE_AUTHOR, or the login name]; for lines of `--from` that do not
    /// say it, without a default
    #[arg(long, value_name = "NAME")]
    reviewer: Option<String>,

    /// What was asked: `evokes`, `meaning`, `similarity` or `elements`, as in `fnstore review`, or
    /// a question of your own [default: evokes]
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    question: String,

    /// What the reviewer adds
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        requires = "score",
        hide_default_value = true
    )]
    note: String,

    /// Remove the reviewer's judgement of the set
    #[arg(long, conflicts_with_all = ["score", "from"])]
    remove: bool,

    /// Take judgements from FILE (`-` is standard input), all or none: JSON lines with `set`,
    /// `score`, and where they are given `reviewer`, `question`, `note` and `time`
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,

    /// The release [default: the only one, or the only one that has the set]
    #[arg(long, value_name = "NAME")]
    release: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  fnstore judge g1024 90 --reviewer kim --note 'fluent'
  fnstore judge g1024
  fnstore judge --from judged.jsonl --reviewer kim
  fnstore judge sample mine.jsonl other.jsonl --count 100 > to-judge.jsonl
  fnstore judge tally kim.jsonl lee.jsonl --system mine.jsonl --system other.jsonl";

#[derive(Debug, clap::Subcommand)]
enum OfRewritings {
    Sample(rewritings::SampleArgs),
    Tally(rewritings::TallyArgs),
}

/// A judgement as JSON; see `schema/judgement.schema.json`.
#[derive(Debug, Serialize)]
struct JudgementRecord<'a> {
    release: &'a str,
    set: AnnotationSetId,
    #[serde(flatten)]
    judgement: &'a Judgement,
}

impl Row for JudgementRecord<'_> {
    const COLUMNS: &'static [&'static str] =
        &["set", "reviewer", "question", "score", "time", "note"];
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    match &args.of_rewritings {
        Some(OfRewritings::Sample(args)) => return rewritings::sample(args, &mut context.output),
        Some(OfRewritings::Tally(args)) => return rewritings::tally(args, &mut context.output),
        None => {}
    }
    if let Some(from) = &args.from {
        let lines = edit::open(from)?;
        let database = Database::open_existing_writer(&context.store)?;
        tell_of_index(&database);
        sign(&database);
        let release = release(&database, args.release.as_deref())?;
        let mut edits = database.transaction(release.id)?;
        let mut count = 0;
        let mut script = Script::new(&mut edits, args.reviewer, now());
        script.judge(lines, &mut |_| count += 1).with_context(|| {
            format!("cannot take judgements from `{}`, nothing was written", from.display())
        })?;
        let questions = script.questions().clone();
        if count == 0 {
            return Outcome::nothing("there are no judgements in it");
        }
        questions.iter().for_each(|question| tell_unknown(question));
        edit::commit(&database, edits, &format!("judgements taken: {}", grouped(count)))?;
        return Ok(Outcome::Done);
    }
    let text = args.set.as_deref().unwrap_or_default();
    let Some(set) = AnnotationSetId::of_written(text) else {
        bail!("`{text}` is no id of an annotation set; expected one as in `g1024`");
    };
    if args.score.is_none() && !args.remove {
        let database = Database::open(&context.store)?;
        let release = release_of(&database, args.release.as_deref(), set)?;
        return show(&database, &release, set, &mut context.output);
    }
    let reviewer = reviewer(args.reviewer);
    let database = Database::open_existing_writer(&context.store)?;
    tell_of_index(&database);
    sign(&database);
    let release = release_of(&database, args.release.as_deref(), set)?;
    let mut edits = database.transaction(release.id)?;
    let question = args.question;
    if args.score.is_some() {
        tell_unknown(&question);
    }
    match args.score {
        Some(score) => {
            let judgement =
                Judgement { reviewer, question, score, time: now(), note: args.note, shown: None };
            edits.set_judgement(set, judgement)?;
        }
        None => edits.remove_judgement(set, &reviewer, &question)?,
    }
    edits.commit()?;
    tell_index_lag(&database);
    Ok(Outcome::Done)
}

/// Says of a question that no review asks that it counts nowhere.
pub(super) fn tell_unknown(question: &str) {
    if question == EVOKES || Question::of_record(question, "").is_some() {
        return;
    }
    let known: Vec<&str> = Question::ALL.into_iter().map(Question::as_str).collect();
    tell(&format!(
        "warning: `{question}` is a question of your own; queries, filters, editions and `fnstore \
         stats agreement` do not read its answers. Those of a review are `{}`",
        known.join("`, `")
    ));
}

/// The release of that name, else the only one that has the set.
fn release_of(
    database: &Database,
    name: Option<&str>,
    set: AnnotationSetId,
) -> anyhow::Result<Release> {
    let asked = name.map(|name| database.release(name)).transpose()?;
    let mut having = Vec::new();
    for release in database.releases()? {
        let is_asked = asked.as_ref().is_none_or(|asked| asked.id == release.id);
        if is_asked && database.store().set_location(release.id, set)?.is_some() {
            having.push(release);
        }
    }
    ensure!(!having.is_empty(), "there is no annotation set `{set}`");
    let several: Vec<&str> = having.iter().map(|release| release.name.as_str()).collect();
    ensure!(
        having.len() == 1,
        "`{set}` is in the releases `{}`; say which with `--release NAME`",
        several.join("`, `")
    );
    Ok(having.remove(0))
}

fn show(
    database: &Database,
    release: &Release,
    set: AnnotationSetId,
    output: &mut Output,
) -> anyhow::Result<Outcome> {
    let judgements = database.store().judgements(release.id, set)?;
    let judgements = judgements.collect::<Result<Vec<Judgement>, _>>()?;
    if judgements.is_empty() {
        return Outcome::nothing(&format!("nobody has judged `{set}`"));
    }
    let release = release.name.as_str();
    let rows = judgements.iter().map(|judgement| JudgementRecord { release, set, judgement });
    output.rows(Format::Jsonl, rows)?;
    Ok(Outcome::Done)
}
