//! `fnstore eval fes`: how well frame elements are found.

use crate::cli::options::named::named;
use fnstore::label::{
    ElementCounts, Goal, Inventory, LabelRequest, LabelledSentence, LabelledTarget, Labeller,
    Measure,
};
use fnstore::lexicon::Lexicon;
use fnstore::model::{CoreType, Fraction, Frame, FrameId, Span, Split};
use serde::Serialize;
use std::collections::HashMap;

use crate::cli::options::labeller::{LabellerArgs, ReleaseArgs, part};
use crate::cli::print::output::{Output, counted, counted_are};
use crate::cli::print::render::{Row, rows_of};
use crate::cli::{Context, Outcome};

/// Targets whose FEs are asked for in one call.
const TARGETS_AT_ONCE: usize = 2048;

/// Measure the labelling of frame elements: exact spans, with gold targets and frames
///
/// On the full text of a release: the annotation sets of the documents of a part whose FEs are
/// annotated (`split=` in queries). An FE is right if both ends of its span and its name are.
/// Precision, recall and F1 are micro-averaged, for all FEs, for each core type, and apart for FEs
/// on the target itself. The last row is another task: whether a span is an FE at all, and which.
/// Its items are the annotated spans, and for every ten of them a random span of words outside the
/// target. It is the only one of a labeller that was trained with `--given-spans`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    release: ReleaseArgs,

    /// Part of the full text
    #[arg(long, value_name = "PART", default_value_t = Split::Test, value_parser = named::<Split>())]
    part: Split,

    #[command(flatten)]
    labeller: LabellerArgs,
}

const EXAMPLES: &str = "\
Examples:
  fnstore eval fes
  fnstore eval fes --labeller mine --part dev --format json";

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let (database, release) = args.release.open(context)?;
    let sentences = LabelledSentence::read(&database, &release, &part(args.part)?)?;
    let lexicon = database.lexicon(&release)?;
    let inventory = Inventory::read(&lexicon)?;
    let frames = frames_of(&lexicon)?;
    let labeller = args.labeller.open()?;
    lexicon.check_language(labeller.declared())?;
    let mut measured = Measured::default();
    for sentences in by_targets(&sentences) {
        measured.add(&labeller, &inventory, &frames, sentences)?;
    }
    let document = Document::new(args.part, &measured);
    let rows = rows_of(&document.scores);
    context.output.report(&document, rows, |output| write_table(&document, output))?;
    Ok(Outcome::of(measured.measure.targets + measured.spans > 0))
}

/// The frames of a release by name.
pub(super) fn frames_of(lexicon: &Lexicon<'_>) -> anyhow::Result<HashMap<String, Frame>> {
    let frames = lexicon.frames()?.map(|frame| frame.map(|frame| (frame.name.clone(), frame)));
    Ok(frames.collect::<Result<_, _>>()?)
}

/// Targets that people annotated, whose FEs a labeller is asked for.
pub(super) struct GoldTargets<'a> {
    pub(super) targets: Vec<(&'a LabelledSentence, &'a LabelledTarget)>,
    places: Vec<[Span; 1]>,
    nameless: Frame,
}

impl<'a> GoldTargets<'a> {
    pub(super) fn of(sentences: &'a [LabelledSentence]) -> Self {
        let targets = sentences
            .iter()
            .flat_map(|sentence| sentence.targets.iter().map(move |target| (sentence, target)));
        let targets: Vec<_> = targets.collect();
        let place = |(sentence, gold): &(&LabelledSentence, &LabelledTarget)| {
            let (first, last) = (gold.target.start, gold.target.end - 1);
            [Span::new(sentence.words[first].start, sentence.words[last].end)]
        };
        let places = targets.iter().map(place).collect();
        // A frame that only annotation names has no FEs: what stands there counts as not found.
        Self { targets, places, nameless: Frame::named(FrameId(0), "") }
    }

    pub(super) fn requests<'r>(
        &'r self,
        frames: &'r HashMap<String, Frame>,
    ) -> Vec<LabelRequest<'r>> {
        let asked = self.targets.iter().zip(&self.places);
        let asked = asked.map(|((sentence, gold), place)| LabelRequest {
            text: &sentence.text,
            target: place,
            lu: &gold.lexunit,
            frame: frames.get(&gold.frame).unwrap_or(&self.nameless),
        });
        asked.collect()
    }
}

/// Sentences in runs of about as many targets as are asked for together.
pub(super) fn by_targets(
    sentences: &[LabelledSentence],
) -> impl Iterator<Item = &[LabelledSentence]> {
    let mut targets = 0;
    sentences.chunk_by(move |sentence, _| {
        targets += sentence.targets.len();
        let goes_on = targets < TARGETS_AT_ONCE;
        targets = if goes_on { targets } else { 0 };
        goes_on
    })
}

/// What some sentences came to.
#[derive(Debug, Default)]
struct Measured {
    measure: Measure,
    /// Targets of sentences that are too long for the encoder.
    left_out: u64,
    /// Spans that are classified, and those that are right.
    spans: u64,
    spans_right: u64,
    /// Those that are no FEs.
    others: u64,
    others_right: u64,
    /// Sets the places of random spans.
    drawn: u64,
}

impl Measured {
    fn add(
        &mut self,
        labeller: &Labeller,
        inventory: &Inventory,
        frames: &HashMap<String, Frame>,
        sentences: &[LabelledSentence],
    ) -> anyhow::Result<()> {
        let gold = GoldTargets::of(sentences);
        let (targets, asked) = (&gold.targets, gold.requests(frames));
        let mut judged: Vec<Vec<(Span, Option<&str>)>> = Vec::with_capacity(targets.len());
        if labeller.config().goal == Goal::Segmentation {
            for ((sentence, gold), found) in targets.iter().zip(labeller.label_each(&asked)?) {
                match found {
                    Ok(found) => self.measure.add(inventory, sentence, gold, &found),
                    Err(_) => self.left_out += 1,
                }
            }
        }
        for (sentence, gold) in targets {
            let mut spans: Vec<(Span, Option<&str>)> =
                gold.elements.iter().map(|one| (one.span, Some(&*one.name))).collect();
            for _ in &gold.elements {
                self.drawn += 1;
                if self.drawn.is_multiple_of(10) {
                    spans.extend(random_span(sentence, gold, self.drawn).map(|span| (span, None)));
                }
            }
            judged.push(spans);
        }
        let spans = judged.iter().map(|spans| spans.iter().map(|(span, _)| *span).collect());
        let verdicts = labeller.judge_each(&asked, &spans.collect::<Vec<_>>())?;
        for (spans, verdicts) in judged.iter().zip(verdicts) {
            for ((_, gold), verdict) in spans.iter().zip(verdicts.into_iter().flatten()) {
                let right = u64::from(verdict.element.as_deref() == *gold);
                (self.spans, self.spans_right) = (self.spans + 1, self.spans_right + right);
                if gold.is_none() {
                    (self.others, self.others_right) = (self.others + 1, self.others_right + right);
                }
            }
        }
        Ok(())
    }
}

/// A span of words that shares none with the target and is not annotated; none where the draw hits
/// one.
fn random_span(sentence: &LabelledSentence, gold: &LabelledTarget, drawn: u64) -> Option<Span> {
    /// Words of the longest.
    const LONGEST: u64 = 8;
    // Fibonacci hashing: spreads consecutive numbers.
    let hash = drawn.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let words = sentence.words.len() as u64;
    let first = (hash >> 32) % words;
    let last = (first + (hash >> 20) % LONGEST).min(words - 1);
    let (first, last) = (first as usize, last as usize);
    let span = Span::new(sentence.words[first].start, sentence.words[last].end);
    let is_free = last < gold.target.start || first >= gold.target.end;
    (is_free && gold.elements.iter().all(|one| one.span != span)).then_some(span)
}

/// The evaluation as JSON; see `schema/eval-fes.schema.json`.
#[derive(Debug, Serialize)]
struct Document {
    part: Split,
    targets: u64,
    /// Targets for which exactly the annotated FEs are found.
    whole: u64,
    /// Targets of sentences that are too long for the encoder.
    left_out: u64,
    scores: Vec<ScoreRecord>,
    spans: SpanRecord,
}

/// How FEs of one kind are found.
#[derive(Debug, Serialize)]
struct ScoreRecord {
    /// JSON `{"enum": ["all", "Core", "Core-Unexpressed", "Peripheral", "Extra-Thematic", "not
    /// the frame's", "on the target", "elsewhere"]}`.
    elements: &'static str,
    precision: Fraction,
    recall: Fraction,
    f1: Fraction,
    right: u64,
    found: u64,
    gold: u64,
}

/// How spans are classified: an FE of the frame, or not an FE.
#[derive(Debug, Serialize)]
struct SpanRecord {
    number: u64,
    right: u64,
    accuracy: Fraction,
    /// Random spans that are not FEs.
    others: u64,
    others_right: u64,
}

impl Document {
    fn new(part: Split, measured: &Measured) -> Self {
        let measure = &measured.measure;
        let row = |elements, counts: &ElementCounts| {
            let (precision, recall, f1) = (counts.precision(), counts.recall(), counts.f1());
            let ElementCounts { right, found, gold } = *counts;
            ScoreRecord { elements, precision, recall, f1, right, found, gold }
        };
        let mut scores = vec![row("all", &measure.all)];
        let kinds = CoreType::ALL.iter().zip(&measure.by_core_type);
        scores.extend(kinds.map(|(kind, counts)| row(kind.as_str(), counts)));
        scores.push(row("not the frame's", &measure.unknown));
        scores.push(row("on the target", &measure.on_target));
        scores.push(row("elsewhere", &measure.elsewhere));
        let Measured { spans, spans_right, others, others_right, .. } = *measured;
        Self {
            part,
            targets: measure.targets,
            whole: measure.whole,
            left_out: measured.left_out,
            scores,
            spans: SpanRecord {
                number: spans,
                right: spans_right,
                accuracy: spans_right as f64 / spans.max(1) as f64,
                others,
                others_right,
            },
        }
    }
}

impl Row for ScoreRecord {
    const COLUMNS: &'static [&'static str] =
        &["elements", "precision", "recall", "f1", "right", "found", "gold"];

    fn cells(&self) -> Vec<String> {
        let share = |share: f64| format!("{share:.4}");
        let counts = [self.right, self.found, self.gold].map(|count| count.to_string());
        let shares = [self.precision, self.recall, self.f1].map(share);
        [self.elements.to_owned()].into_iter().chain(shares).chain(counts).collect()
    }
}

fn write_table(document: &Document, output: &mut Output) -> anyhow::Result<()> {
    output.table_of(&document.scores)?;
    output.line(&format!(
        "{} of the part {}, {} with exactly the annotated FEs; {} more in sentences that are too long",
        counted(document.targets, "target"), document.part, document.whole, document.left_out
    ))?;
    let SpanRecord { number, right, accuracy, others, others_right } = document.spans;
    output.line(&format!(
        "an FE or not: {right} of {} right ({accuracy:.4}), {others_right} of the {others} that are not FEs",
        counted_are(number, "span")
    ))?;
    Ok(())
}
