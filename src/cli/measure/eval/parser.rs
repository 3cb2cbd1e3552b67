//! `fnstore eval parser`: how well `annotate` does, by the measures of parsers of FrameNet.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::cli::options::named::named;
use anyhow::ensure;
use fnstore::align::Counts;
use fnstore::identify::{Figures, FrameSentence, FullText, Search, parting};
use fnstore::label::{ElementCounts, Goal, Inventory, LabelledSentence, Labeller, Measure};
use fnstore::lexicon::Lexicon;
use fnstore::model::{Amount, Fraction, Origin, Split};
use fnstore::transfer::{Annotator, GoldStructures, ParseFigures};
use serde::Serialize;

use super::fes::{GoldTargets, by_targets, frames_of};
use crate::cli::options::identifier::IdentifierArgs;
use crate::cli::options::labeller::{LABELLER, ReleaseArgs, part};
use crate::cli::options::tagger::TAGGER;
use crate::cli::print::output::{Output, counted};
use crate::cli::print::render::{Row, rows_of};
use crate::cli::{Context, Outcome};

/// Sentences that are annotated together, as `annotate` does.
const TOGETHER: usize = 256;

/// Measure `annotate` as parsers of FrameNet are: targets, frames, and frame elements
///
/// On the full text of a release: the sentences with a target in the documents of a part (`split=`
/// in queries). Three stages, each with what is annotated of the stages before. Targets are found
/// by their first words, whatever their ends. Frames are identified at gold targets. FEs are
/// labelled at gold targets and frames: both ends and the name must be right, and FEs that are not
/// core ones count half. Then targets with their frames, and whole structures, where nothing is
/// given: a frame counts as much as a core FE. The candidates are the forms of the release's LUs.
/// The last line says how many sentences a second were annotated, after the models were opened.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    release: ReleaseArgs,

    /// Part of the full text
    #[arg(long, value_name = "PART", default_value_t = Split::Test, value_parser = named::<Split>())]
    part: Split,

    #[command(flatten)]
    identifier: IdentifierArgs,

    /// Directory of the tagger, or its name among the models
    #[arg(long, value_name = "DIR|NAME", default_value = TAGGER)]
    tagger: PathBuf,

    /// Go by forms alone, whatever part of speech a word has
    #[arg(long, conflicts_with = "tagger")]
    no_tagger: bool,

    /// Directory of the labeller of frame elements, or its name among the models
    #[arg(long, value_name = "DIR|NAME", default_value = LABELLER)]
    labeller: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  fnstore eval parser
  fnstore eval parser --part dev --identifier mine --labeller mine-fes
  fnstore eval parser --format json";

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let (database, release) = args.release.open(context)?;
    let texts = FullText::read(&database, &release)?;
    let sentences: &[FrameSentence] = match args.part {
        Split::Train => &texts.train,
        Split::Dev => &texts.dev,
        Split::Test => &texts.test,
    };
    let labelled = LabelledSentence::read(&database, &release, &part(args.part)?)?;
    let lexicon = database.lexicon(&release)?;
    let inventory = Inventory::read(&lexicon)?;
    let tagger = match args.no_tagger {
        true => None,
        false => args.identifier.open_tagger_or_none(&args.tagger, &lexicon)?,
    };
    let identifier = args.identifier.open()?.with_tagger(tagger);
    let labeller = args.identifier.open_labeller(&args.labeller)?;
    [identifier.declared(), labeller.declared()]
        .into_iter()
        .try_for_each(|model| lexicon.check_language(model))?;
    let elements = at_gold_frames(&labeller, &lexicon, &inventory, &labelled)?;
    let lexunits = texts.lexunits.iter().map(|(frame, name)| (&**frame, &**name));
    // What the documents show that are measured is not to be known.
    let parting = parting(&lexicon, |origin| origin == Origin::Exemplar)?;
    let candidates = identifier.candidates_with(lexunits, &texts.morphology, &parting);
    let (frames, _) =
        identifier.measure(sentences, &candidates, Search::Lexicon, &HashSet::new())?;
    let models = (identifier, candidates);
    let annotator = Annotator::over(&lexicon, models, Some(labeller), Search::Lexicon)?;
    let gold = GoldStructures::new(&inventory, &labelled);
    let (mut parsed, begun) = (ParseFigures::default(), Instant::now());
    for sentences in sentences.chunks(TOGETHER) {
        let texts: Vec<&str> = sentences.iter().map(|sentence| sentence.text.as_str()).collect();
        for (sentence, found) in sentences.iter().zip(annotator.annotate(&texts)?) {
            parsed.add(&gold, sentence, found.ok().as_deref());
        }
    }
    let document = Document::new(args.part, (&frames, &elements, &parsed), begun.elapsed());
    let rows = rows_of(&document.scores);
    context.output.report(&document, rows, |output| write_table(&document, output))?;
    Ok(Outcome::of(document.sentences > 0))
}

/// How well FEs are found where targets and frames are given; those of sentences that are too long
/// are not.
fn at_gold_frames(
    labeller: &Labeller,
    lexicon: &Lexicon<'_>,
    inventory: &Inventory,
    labelled: &[LabelledSentence],
) -> anyhow::Result<Measure> {
    ensure!(
        labeller.config().goal == Goal::Segmentation,
        "this labeller says what given spans are and finds none: expected one that was trained \
         without `--given-spans`"
    );
    let (frames, mut measure) = (frames_of(lexicon)?, Measure::default());
    for sentences in by_targets(labelled) {
        let gold = GoldTargets::of(sentences);
        let found = labeller.label_each(&gold.requests(&frames))?;
        for ((sentence, target), found) in gold.targets.iter().zip(found) {
            measure.add(inventory, sentence, target, &found.unwrap_or_default());
        }
    }
    Ok(measure)
}

/// The evaluation as JSON; see `schema/eval-parser.schema.json`.
#[derive(Debug, Serialize)]
struct Document {
    /// Part of the full text.
    part: Split,
    /// Sentences with a target that were annotated.
    sentences: u64,
    /// Sentences that are too long for the encoder: nothing is found in them.
    left_out: u64,
    /// Sentences that `annotate` reads in a second, on this machine.
    sentences_a_second: Amount,
    /// How each kind of items was found.
    scores: Vec<ScoreRow>,
}

/// How items of one kind were found.
#[derive(Debug, Serialize)]
struct ScoreRow {
    /// What is counted.
    /// JSON `{"enum": ["targets", "frames at gold targets", "FEs at gold frames", "targets with
    /// frames", "frames with FEs"]}`.
    items: &'static str,
    /// Share of what was found that is right.
    precision: Fraction,
    /// Share of what is annotated that was found.
    recall: Fraction,
    /// Harmonic mean of both.
    f1: Fraction,
    /// Items that are right; with halves where FEs that are not core ones count half.
    right: Amount,
    /// Items that were found.
    predicted: Amount,
    /// Items that are annotated.
    gold: Amount,
}

impl ScoreRow {
    fn new(items: &'static str, counts: Counts) -> Self {
        let [right, predicted, gold] =
            [counts.right, counts.predicted, counts.gold].map(|count| count as f64);
        let (precision, recall, f1) = (counts.precision(), counts.recall(), counts.f1());
        Self { items, precision, recall, f1, right, predicted, gold }
    }

    /// A row of what was counted in halves.
    fn halves(items: &'static str, counts: Counts) -> Self {
        let row = Self::new(items, counts);
        let [right, predicted, gold] = [row.right, row.predicted, row.gold].map(|of| of / 2.0);
        Self { right, predicted, gold, ..row }
    }
}

impl Document {
    fn new(
        part: Split,
        (frames, elements, parsed): (&Figures, &Measure, &ParseFigures),
        took: Duration,
    ) -> Self {
        let ElementCounts { right, found, gold } = elements.halves;
        let elements = Counts { right, predicted: found, gold };
        let scores = vec![
            ScoreRow::new("targets", parsed.beginnings),
            ScoreRow::new("frames at gold targets", frames.targets),
            ScoreRow::halves("FEs at gold frames", elements),
            ScoreRow::new("targets with frames", frames.spans),
            ScoreRow::halves("frames with FEs", parsed.structures),
        ];
        let ParseFigures { sentences, left_out, .. } = *parsed;
        let sentences_a_second = sentences as f64 / took.as_secs_f64().max(f64::MIN_POSITIVE);
        Self { part, sentences, left_out, sentences_a_second, scores }
    }
}

impl Row for ScoreRow {
    const COLUMNS: &'static [&'static str] = &["items", "precision", "recall", "f1", "gold"];

    fn cells(&self) -> Vec<String> {
        let shares = [self.precision, self.recall, self.f1].map(|share| format!("{share:.4}"));
        let gold = self.gold.to_string();
        [self.items.to_owned()].into_iter().chain(shares).chain([gold]).collect()
    }
}

fn write_table(document: &Document, output: &mut Output) -> anyhow::Result<()> {
    output.table_of(&document.scores)?;
    output.line(&format!(
        "{} of the part {}, {:.0} a second; {} more too long for the encoder",
        counted(document.sentences, "sentence"),
        document.part,
        document.sentences_a_second,
        document.left_out
    ))?;
    Ok(())
}
