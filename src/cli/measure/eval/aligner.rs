//! `fnstore eval aligner`: how well the span aligner does, and on which spans.

use std::path::{Path, PathBuf};

use fnstore::align::{
    AlignedSpan, Aligner, Bin, Breakdown, Counts, DISTANCE_BIN, DISTANCE_BINS, Dataset, LONGEST,
    Lengths, Prediction, SeenSpans,
};
use fnstore::engine::Device;
use fnstore::model::{Amount, Fraction, Positive};
use fnstore::tag::Tagger;
use serde::Serialize;

use super::diversity::Diversity;
use super::{ScoreRecord, figures, rows, write_report};
use crate::cli::grow::align::tell_refused;
use crate::cli::options::device::DeviceArgs;
use crate::cli::options::locate::HEAD;
use crate::cli::options::tagger;
use crate::cli::options::{locate, number};
use crate::cli::print::output::Output;
use crate::cli::print::render::rows_of;
use crate::cli::{Context, Outcome};

/// Measure the span aligner: precision, recall and F1 of spans and of words
///
/// Reports all, changed, identical and unaligned spans, by length and by difference of position.
/// The figures of Culkin et al. 2021 stand beside them; their test set is another (FrameNet's
/// triggers and machine paraphrases, judged by people). An item that is too long for the encoder is
/// reported and counts as not found.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Data as for `fnstore train aligner`
    #[arg(long, value_name = "FILE")]
    data: PathBuf,

    /// Training data; also report source spans that it has and has not apart
    #[arg(long, value_name = "FILE")]
    train: Option<PathBuf>,

    /// Directory of the head, or its name among the models
    #[arg(long, value_name = "DIR|NAME", default_value = HEAD)]
    head: PathBuf,

    /// Directory of the encoder, or its name among the models [default: the one that the head
    /// names]
    #[arg(long, value_name = "DIR|NAME")]
    encoder: Option<PathBuf>,

    /// Treat spans that score below SCORE (0 to 1) as not aligned [default: the head's own]
    #[arg(long, value_name = "SCORE", value_parser = number::share::<f32>)]
    threshold: Option<f32>,

    /// Directory of a tagger, or its name among the models; also compare the parts of speech of
    /// spans (Table 3)
    #[arg(long, value_name = "DIR|NAME")]
    tagger: Option<PathBuf>,

    /// Directory to draw the figures in, as length.svg and distance.svg
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,

    /// Directory that holds the models
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,

    #[command(flatten)]
    device: DeviceArgs,
}

const EXAMPLES: &str = "\
Examples:
  fnstore eval aligner --data test.jsonl --tagger tagger
  fnstore eval aligner --data test.jsonl --train train.jsonl --threshold 0 --plot figures --format json";

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let dirs = locate::model_dirs(args.models);
    let data = Dataset::<AlignedSpan>::read(&args.data)?;
    let seen = match &args.train {
        Some(file) => Some(SeenSpans::of(&AlignedSpan::read(file)?)),
        None => None,
    };
    if let Some(dir) = &args.plot {
        figures::prepare(dir)?;
    }
    let head = locate::model(&args.head, &dirs)?;
    let encoder = locate::encoder(args.encoder.as_deref(), &head, &dirs)?;
    let device = args.device.open()?;
    let aligner = Aligner::open(&head, &encoder, &device)?;
    let tagger = match &args.tagger {
        Some(tagger) => Some(open_tagger(tagger, dirs, &encoder, &device)?),
        None => None,
    };
    let threshold = args.threshold.unwrap_or(aligner.config().threshold);
    let answers = aligner.predict(data.items()).map_err(|error| data.blame(error))?;
    tell_refused(&data, &answers);
    let found = |answer: Prediction| {
        answer.map(|best| best.filter(|(_, score)| *score >= threshold).map(|(span, _)| span))
    };
    let found: Vec<_> = answers.into_iter().map(found).collect();
    let breakdown = Breakdown::new(data.items(), &found, aligner.config().k, seen.as_ref());
    let diversity = match &tagger {
        Some(tagger) => Some(Diversity::measure(data.items(), &found, tagger)?),
        None => None,
    };
    let output = &mut context.output;
    let document = Document::new(&breakdown, threshold, diversity);
    output.report(&document, rows_of(&document.scores), |output| {
        write_tables(&breakdown, output)?;
        document.parts_of_speech.iter().try_for_each(|diversity| diversity.write(output))
    })?;
    if let Some(dir) = &args.plot {
        // What took long to find is out before a figure can fail.
        output.flush()?;
        figures::draw(dir, &breakdown)?;
    }
    Ok(Outcome::of(!data.is_empty()))
}

/// Opens a tagger with the encoder that it names, which may stand beside the aligner's.
fn open_tagger(
    tagger: &Path,
    mut dirs: Vec<PathBuf>,
    encoder: &Path,
    device: &Device,
) -> anyhow::Result<Tagger> {
    dirs.extend(encoder.parent().map(Path::to_owned));
    tagger::open(tagger, None, &dirs, device)
}

/// Mean length in words of a kind of span, and share of those with several words, in section 4.6 of
/// the paper.
struct PaperLengths {
    kind: &'static str,
    mean: f64,
    multiword: f64,
}

const PAPER_LENGTHS: [PaperLengths; 3] = [
    PaperLengths { kind: "source", mean: 1.53, multiword: 0.3418 },
    PaperLengths { kind: "gold", mean: 1.34, multiword: 0.2188 },
    PaperLengths { kind: "found", mean: 1.22, multiword: 0.1471 },
];

/// Share of the paper's items in the first three bins of Figure 5.
const PAPER_FIRST_THREE: f64 = 0.9749;

/// What the paper loses on source spans that were not seen in training, in points of F1.
const PAPER_UNSEEN_LOSS: f64 = 2.0;

/// The rows of scores, those of seen and unseen source spans among them.
fn scores(breakdown: &Breakdown) -> Vec<ScoreRecord> {
    let mut scores = rows(&breakdown.report);
    for (name, report) in ["seen", "unseen"].into_iter().zip(breakdown.novelty.iter().flatten()) {
        scores.push(ScoreRecord::new(name, "span", &report.all.exact));
        scores.push(ScoreRecord::new(name, "word", &report.all.soft));
    }
    scores
}

fn kinds(breakdown: &Breakdown) -> [(&'static PaperLengths, &Lengths); 3] {
    let [source, gold, found] = &PAPER_LENGTHS;
    [(source, &breakdown.source), (gold, &breakdown.gold), (found, &breakdown.found)]
}

/// The share of items in each bin of distance.
fn shares(breakdown: &Breakdown) -> [f64; DISTANCE_BINS] {
    let all: u64 = breakdown.distances.iter().map(|bin| bin.items).sum();
    breakdown.distances.map(|bin| bin.items as f64 / all.max(1) as f64)
}

/// Name of a bin of length.
pub(super) fn length_name(bin: usize) -> String {
    let open = if bin + 1 == LONGEST as usize { "+" } else { "" };
    format!("{}{open}", bin + 1)
}

/// Name of a bin of distance, by its first number as in the paper.
pub(super) fn distance_name(bin: usize) -> String {
    let open = if bin + 1 == DISTANCE_BINS { "+" } else { "" };
    format!("{}{open}", bin * DISTANCE_BIN as usize)
}

fn write_tables(breakdown: &Breakdown, output: &mut Output) -> anyhow::Result<()> {
    write_report(&breakdown.report, output)?;
    write_novelty(breakdown, output)?;
    write_lengths(breakdown, output)?;
    write_distances(breakdown, output)
}

fn f1(counts: &Counts) -> String {
    match counts.predicted + counts.gold {
        0 => "-".to_owned(),
        _ => format!("{:.4}", counts.f1()),
    }
}

/// How spans do that the training data has, and others.
fn write_novelty(breakdown: &Breakdown, output: &mut Output) -> anyhow::Result<()> {
    if let Some([seen, unseen]) = &breakdown.novelty {
        output.line("")?;
        output.heading("source spans by whether the training data has them")?;
        let row = |name: &str, bin: &fnstore::align::AlignmentReport| {
            let (all, changed) = (&bin.all, &bin.changed);
            let items = all.exact.gold + bin.unaligned.gold;
            let scores = [&all.exact, &all.soft, &changed.exact, &changed.soft].map(f1);
            let mut cells = vec![name.to_owned(), items.to_string()];
            cells.extend(scores);
            cells
        };
        output.table(
            &["source span", "items", "exact f1", "soft f1", "changed exact", "changed soft"],
            vec![row("seen", seen), row("unseen", unseen)],
        )?;
        let (all, unseen) = (&breakdown.report.all.exact, &unseen.all.exact);
        let loss = match unseen.gold {
            0 => "-".to_owned(),
            _ => format!("{:.1}", 100.0 * (all.f1() - unseen.f1())),
        };
        output.line(&format!(
            "unseen spans are {loss} points of exact F1 below all (the paper: about {PAPER_UNSEEN_LOSS:.0})"
        ))?;
    }
    Ok(())
}

fn write_lengths(breakdown: &Breakdown, output: &mut Output) -> anyhow::Result<()> {
    output.line("")?;
    output.heading("spans by length in words (the paper's Figure 4)")?;
    let row = |bin: usize| {
        let mut cells = vec![length_name(bin)];
        for (_, lengths) in kinds(breakdown) {
            let Bin { items, agreement } = &lengths.bins[bin];
            cells.extend([items.to_string(), f1(&agreement.exact)]);
        }
        cells
    };
    let columns = ["words", "source", "exact f1", "gold", "exact f1", "found", "exact f1"];
    output.table(&columns, (0..LONGEST as usize).map(row).collect())?;
    for (paper, lengths) in kinds(breakdown) {
        output.line(&format!(
            "{:<6} spans: mean {:.2} words, {:.1} % of several (the paper: {:.2}, {:.1} %)",
            paper.kind,
            lengths.mean(),
            100.0 * lengths.multiword_share(),
            paper.mean,
            100.0 * paper.multiword
        ))?;
    }
    Ok(())
}

fn write_distances(breakdown: &Breakdown, output: &mut Output) -> anyhow::Result<()> {
    output.line("")?;
    output.heading("difference in position of source and gold span (Figure 5)")?;
    let shares = shares(breakdown);
    let row = |bin: usize| {
        let Bin { items, agreement } = &breakdown.distances[bin];
        let share = format!("{:.2} %", 100.0 * shares[bin]);
        let scores = [&agreement.exact, &agreement.soft].map(f1);
        [vec![distance_name(bin), items.to_string(), share], scores.to_vec()].concat()
    };
    let columns = ["from", "items", "share", "exact f1", "soft f1"];
    output.table(&columns, (0..DISTANCE_BINS).map(row).collect())?;
    output.line(&format!(
        "the first three bins hold {:.2} % (the paper: {:.2} %)",
        100.0 * shares[..3].iter().sum::<f64>(),
        100.0 * PAPER_FIRST_THREE
    ))?;
    Ok(())
}

/// The whole evaluation as JSON; see `schema/eval-aligner.schema.json`.
#[derive(Debug, Serialize)]
struct Document {
    threshold: f32,
    covered: u64,
    unanswered: u64,
    scores: Vec<ScoreRecord>,
    lengths: Vec<LengthsRecord>,
    distances: Vec<DistanceRecord>,
    paper_first_three_distances: Fraction,
    /// With `--tagger`: how the parts of speech of spans differ (Table 3); shares of 1, as means
    /// over pairs of spans.
    #[serde(skip_serializing_if = "Option::is_none")]
    parts_of_speech: Option<Diversity>,
}

#[derive(Debug, Serialize)]
struct LengthsRecord {
    /// JSON `{"enum": ["source", "gold", "found"]}`.
    spans: &'static str,
    mean: Amount,
    multiword: Fraction,
    paper_mean: f64,
    paper_multiword: Fraction,
    bins: Vec<BinRecord>,
}

#[derive(Debug, Serialize)]
struct BinRecord {
    words: Positive<u32>,
    #[serde(flatten)]
    bin: Bin,
    exact_f1: Fraction,
    soft_f1: Fraction,
}

#[derive(Debug, Serialize)]
struct DistanceRecord {
    from: u32,
    share: Fraction,
    #[serde(flatten)]
    bin: Bin,
    exact_f1: Fraction,
    soft_f1: Fraction,
}

impl Document {
    fn new(breakdown: &Breakdown, threshold: f32, diversity: Option<Diversity>) -> Self {
        let bins = |lengths: &Lengths| {
            let bins = (1..).zip(lengths.bins).map(|(words, bin)| BinRecord {
                words,
                bin,
                exact_f1: bin.agreement.exact.f1(),
                soft_f1: bin.agreement.soft.f1(),
            });
            bins.collect()
        };
        let lengths = kinds(breakdown).map(|(paper, lengths)| LengthsRecord {
            spans: paper.kind,
            mean: lengths.mean(),
            multiword: lengths.multiword_share(),
            paper_mean: paper.mean,
            paper_multiword: paper.multiword,
            bins: bins(lengths),
        });
        let shares = shares(breakdown);
        let distances = breakdown.distances.iter().enumerate().map(|(at, bin)| DistanceRecord {
            from: at as u32 * DISTANCE_BIN,
            share: shares[at],
            bin: *bin,
            exact_f1: bin.agreement.exact.f1(),
            soft_f1: bin.agreement.soft.f1(),
        });
        Self {
            threshold,
            covered: breakdown.report.covered,
            unanswered: breakdown.report.unanswered,
            scores: scores(breakdown),
            lengths: lengths.into(),
            distances: distances.collect(),
            paper_first_three_distances: PAPER_FIRST_THREE,
            parts_of_speech: diversity,
        }
    }
}
