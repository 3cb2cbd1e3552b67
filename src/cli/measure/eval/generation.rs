//! `fnstore eval generation`: how good generated sentences are.

use std::ops::ControlFlow;

use crate::cli::options::named::named;
use anyhow::bail;
use fnstore::database::Database;
use fnstore::generate::{self, Evaluated, Mode, Quality, TestSpans, Writer};
use fnstore::model::Fraction;
use serde::Serialize;

use crate::cli::options::generator::GeneratorArgs;
use crate::cli::options::query;
use crate::cli::options::splits::SplitArgs;
use crate::cli::print::notices::tell_of_index;
use crate::cli::print::output::{Output, counted, tell};
use crate::cli::print::progress;
use crate::cli::print::render::{Row, rows_of};
use crate::cli::process::stop;
use crate::cli::{Context, Outcome};

/// Measure generated sentences: fidelity, perplexity, ROUGE, self-BLEU
///
/// Measures the sets that `fnstore generate` stored, by recipe. With --test N, draws N annotated
/// sets that match, writes their frame elements anew in each mode, and compares them with what was
/// there; nothing is stored. The first row is people: the sentences that the others were made of.
///
/// Fidelity is the share of spans that the labeller reads as their frame elements. The filter keeps
/// sentences all of whose spans are read so. Perplexity is per token, under the language model.
/// ROUGE is F1, the mean over spans. Self-BLEU compares each sentence with all others. Below stand
/// the figures of Cui and Swayamdipta (2024), tables 1, 10 and 13.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The sets, as in `fnstore query` [default: method=infill or method=sister-lu; with --test
    /// split=test]
    #[arg(value_name = "EXPR")]
    expression: Vec<String>,

    /// Write the frame elements of N annotated sets anew
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    test: Option<u64>,

    /// What the generator is told; may be repeated [default: all three]
    #[arg(
        long,
        value_name = "WHAT",
        value_parser = named::<Mode>(),
        requires = "test"
    )]
    mode: Vec<Mode>,

    /// Candidates for each sentence; the likeliest counts, and the likeliest that is kept
    #[arg(long, value_name = "N", default_value_t = 1, requires = "test")]
    candidates: usize,

    /// Seed of every draw
    #[arg(long, value_name = "N", default_value_t = 1, requires = "test")]
    seed: u64,

    #[command(flatten)]
    splits: SplitArgs,

    #[command(flatten)]
    generator: GeneratorArgs,
}

const EXAMPLES: &str = "\
Examples:
  fnstore eval generation 'method=infill pos=v'
  fnstore eval generation 'split=test pos=v' --test 100
  fnstore eval generation --test 100 --mode fe --endpoint http://127.0.0.1:8000/v1 --model smollm2";

/// A row of the paper's tables 1, 10 and 13.
#[derive(Debug, Clone, Copy, Serialize)]
struct PaperRow {
    written_by: &'static str,
    /// JSON `{"enum": ["none", "fe", "frame-fe", null]}`.
    mode: Option<&'static str>,
    /// Table 1: FE fidelity before the filter.
    fidelity: Fraction,
    kept_of_1000: u16,
    perplexity: f64,
    kept_perplexity: f64,
    accepted: Fraction,
    kept_accepted: Fraction,
    /// Table 10: on test spans; null where it has no row.
    rouge_1: Option<Fraction>,
    rouge_l: Option<Fraction>,
    /// Table 13: before the filter; null where it has no row.
    self_bleu: Option<Fraction>,
    kept_self_bleu: Option<Fraction>,
}

const fn paper(
    (written_by, mode): (&'static str, Option<&'static str>),
    (fidelity, kept_of_1000): (f64, u16),
    [perplexity, kept_perplexity]: [f64; 2],
    [accepted, kept_accepted]: [f64; 2],
    [rouge_1, rouge_l]: [Option<f64>; 2],
    [self_bleu, kept_self_bleu]: [Option<f64>; 2],
) -> PaperRow {
    PaperRow {
        written_by,
        mode,
        fidelity,
        kept_of_1000,
        perplexity,
        kept_perplexity,
        accepted,
        kept_accepted,
        rouge_1,
        rouge_l,
        self_bleu,
        kept_self_bleu,
    }
}

const NONE: [Option<f64>; 2] = [None, None];

/// What Cui and Swayamdipta (2024) measured.
#[rustfmt::skip]
#[allow(clippy::approx_constant, reason = "one of its ROUGE scores is like 1 / pi")]
const PAPER: [PaperRow; 8] = [
    paper(("people", None), (0.979, 975), [78.1, 97.0], [1.0, 1.0], NONE, [Some(0.298), None]),
    paper(("sister LU", None), (0.953, 947), [127.8, 146.0], [0.611, 0.686], NONE, NONE),
    paper(("T5-large", Some("none")), (0.784, 789), [139.3, 117.5], [0.594, 0.713],
        [Some(0.301), Some(0.298)], [Some(0.302), Some(0.278)]),
    paper(("T5-large", Some("fe")), (0.862, 850), [127.6, 112.7], [0.711, 0.777],
        [Some(0.318), Some(0.316)], [Some(0.295), Some(0.277)]),
    paper(("T5-large", Some("frame-fe")), (0.882, 873), [136.8, 124.4], [0.644, 0.704],
        [Some(0.276), Some(0.274)], [Some(0.295), Some(0.271)]),
    paper(("GPT-4", Some("none")), (0.704, 724), [114.9, 114.2], [0.528, 0.723],
        [Some(0.228), Some(0.227)], [Some(0.270), Some(0.249)]),
    paper(("GPT-4", Some("fe")), (0.841, 838), [106.3, 103.4], [0.700, 0.826],
        [Some(0.218), Some(0.217)], [Some(0.268), Some(0.246)]),
    paper(("GPT-4", Some("frame-fe")), (0.853, 845), [117.2, 111.8], [0.733, 0.821],
        [Some(0.210), Some(0.209)], [Some(0.271), Some(0.253)]),
];

/// An evaluation as JSON; see `schema/eval-generation.schema.json`.
#[derive(Debug, Serialize)]
struct Document {
    /// Whether test spans were written anew, or stored sets measured.
    /// JSON `{"enum": ["test-spans", "stored-sets"]}`.
    items: &'static str,
    seed: Option<u64>,
    candidates: Option<usize>,
    left_out: u64,
    /// Whether a budget or an interrupt ended it early.
    is_cut: bool,
    rows: Vec<QualityRow>,
    paper: &'static [PaperRow],
}

/// What one writer's sentences came to.
#[derive(Debug, Serialize)]
struct QualityRow {
    /// JSON `{"enum": ["people", "generator", "sister-lu", "infill"]}`.
    written_by: &'static str,
    mode: Option<Mode>,
    recipe: Option<u32>,
    sentences: u64,
    without: u64,
    spans: u64,
    fidelity: Option<Fraction>,
    kept: Option<u64>,
    kept_of_1000: Option<f64>,
    perplexity: Option<f64>,
    kept_perplexity: Option<f64>,
    rouge_1: Option<Fraction>,
    rouge_l: Option<Fraction>,
    self_bleu: Option<Fraction>,
    kept_self_bleu: Option<Fraction>,
}

/// Columns that rows share with the paper's.
const COLUMNS: [&str; 10] = [
    "written_by",
    "mode",
    "fidelity",
    "kept_of_1000",
    "perplexity",
    "kept_perplexity",
    "rouge_1",
    "rouge_l",
    "self_bleu",
    "kept_self_bleu",
];

impl Row for QualityRow {
    const COLUMNS: &'static [&'static str] = &[
        "written_by",
        "mode",
        "recipe",
        "sentences",
        "without",
        "spans",
        "fidelity",
        "kept",
        "kept_of_1000",
        "perplexity",
        "kept_perplexity",
        "rouge_1",
        "rouge_l",
        "self_bleu",
        "kept_self_bleu",
    ];
}

impl QualityRow {
    fn new(writer: Writer, quality: &Quality) -> Self {
        let (written_by, mode, recipe) = match writer {
            Writer::People => ("people", None, None),
            Writer::Mode(mode) => ("generator", Some(mode), None),
            Writer::Recipe(recipe, method, mode) => (method.as_str(), mode, Some(recipe.0)),
        };
        let of_spans = |count: u64| count as f64 / quality.spans.max(1) as f64;
        let all = quality.sentences + quality.without;
        Self {
            written_by,
            mode,
            recipe,
            sentences: quality.sentences,
            without: quality.without,
            spans: quality.spans,
            fidelity: quality.faithful_spans.map(of_spans),
            kept: quality.kept,
            kept_of_1000: quality.kept.map(|kept| 1000.0 * kept as f64 / all.max(1) as f64),
            perplexity: quality.perplexity,
            kept_perplexity: quality.kept_perplexity,
            rouge_1: quality.rouge.map(|rouge| rouge.rouge_1),
            rouge_l: quality.rouge.map(|rouge| rouge.rouge_l),
            self_bleu: quality.self_bleu,
            kept_self_bleu: quality.kept_self_bleu,
        }
    }
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let usual =
        if args.test.is_some() { "split=test" } else { "method=infill or method=sister-lu" };
    let text = args.expression.join(" ");
    let text = if text.trim().is_empty() { usual } else { text.trim() };
    let expression = query::expression(text)?;
    if args.test.is_none() && args.generator.asks() {
        bail!("--endpoint writes words, and stored sets are measured as they are; add --test N");
    }
    let mut generator = match args.test {
        Some(_) => args.generator.open_filling()?,
        None => args.generator.open_measuring()?,
    };
    let stopped = stop::on_interrupt("stopping after the step that runs")?;
    let database = args.splits.over_query(&expression, || Database::open(&context.store))?;
    let database = context.joined(database);
    tell_of_index(&database);
    let bar = progress::bar("measuring", "sentences");
    let mut on_progress = |at: &generate::EvaluationProgress| {
        bar.set_length(at.of);
        bar.set_position(at.sentences);
        if stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let evaluated = match args.test {
        Some(sentences) => {
            let settings = settings(&args, sentences as usize);
            generate::evaluate_test_spans(
                &database,
                &expression,
                &settings,
                &mut generator,
                &mut on_progress,
            )
        }
        None => generate::evaluate_sets(&database, &expression, &mut generator, &mut on_progress),
    };
    bar.finish_and_clear();
    report(&args, &evaluated?, stopped(), context)
}

fn settings(args: &Args, sentences: usize) -> TestSpans {
    let modes = if args.mode.is_empty() { Mode::ALL.to_vec() } else { args.mode.clone() };
    TestSpans { sentences, modes, candidates: args.candidates, seed: args.seed }
}

fn report(
    args: &Args,
    evaluated: &Evaluated,
    is_interrupted: bool,
    context: &mut Context,
) -> anyhow::Result<Outcome> {
    let rows = evaluated.rows.iter().map(|(writer, quality)| QualityRow::new(*writer, quality));
    let document = Document {
        items: if args.test.is_some() { "test-spans" } else { "stored-sets" },
        seed: args.test.map(|_| args.seed),
        candidates: args.test.map(|_| args.candidates),
        left_out: evaluated.left_out,
        is_cut: evaluated.is_cut,
        rows: rows.collect(),
        paper: &PAPER,
    };
    let rows = rows_of(&document.rows);
    context.output.report(&document, rows, |output| write_tables(&document, output))?;
    context.output.flush()?;
    if evaluated.is_cut {
        tell("ended early; the rows hold what was measured until then");
    }
    Ok(match document.rows.is_empty() {
        _ if is_interrupted && evaluated.is_cut => Outcome::Interrupted,
        true => {
            tell("no set with a candidate span matches");
            Outcome::NothingFound
        }
        false => Outcome::Done,
    })
}

fn write_tables(document: &Document, output: &mut Output) -> anyhow::Result<()> {
    let decimals = |value: Option<f64>, places: usize| {
        value.map_or(String::new(), |value| format!("{value:.places$}"))
    };
    let name = |by: &str, recipe: Option<u32>| match recipe {
        Some(recipe) => format!("{by}, recipe {recipe}"),
        None => by.to_owned(),
    };
    let counts = document.rows.iter().map(|row| {
        vec![
            name(row.written_by, row.recipe),
            row.mode.map_or("", Mode::as_str).to_owned(),
            row.sentences.to_string(),
            row.without.to_string(),
            row.spans.to_string(),
            row.kept.map_or(String::new(), |kept| kept.to_string()),
        ]
    });
    output.table(
        &["written_by", "mode", "sentences", "without", "spans", "kept"],
        counts.collect(),
    )?;
    output.line("")?;
    let own = document.rows.iter().map(|row| {
        vec![
            name(row.written_by, row.recipe),
            row.mode.map_or("", Mode::as_str).to_owned(),
            decimals(row.fidelity, 3),
            decimals(row.kept_of_1000, 0),
            decimals(row.perplexity, 1),
            decimals(row.kept_perplexity, 1),
            decimals(row.rouge_1, 3),
            decimals(row.rouge_l, 3),
            decimals(row.self_bleu, 3),
            decimals(row.kept_self_bleu, 3),
        ]
    });
    let paper = document.paper.iter().map(|row| {
        vec![
            format!("paper: {}", row.written_by),
            row.mode.unwrap_or_default().to_owned(),
            decimals(Some(row.fidelity), 3),
            row.kept_of_1000.to_string(),
            decimals(Some(row.perplexity), 1),
            decimals(Some(row.kept_perplexity), 1),
            decimals(row.rouge_1, 3),
            decimals(row.rouge_l, 3),
            decimals(row.self_bleu, 3),
            decimals(row.kept_self_bleu, 3),
        ]
    });
    output.table(&COLUMNS, own.chain(paper).collect())?;
    if document.left_out > 0 {
        let left_out = counted(document.left_out, "set");
        output.line(&format!("{left_out} left out, without a candidate span"))?;
    }
    Ok(())
}
