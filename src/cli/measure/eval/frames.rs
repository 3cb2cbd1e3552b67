//! `fnstore eval frames`: how well frames are identified.

use std::collections::HashSet;
use std::path::PathBuf;

use crate::cli::options::named::named;
use fnstore::align::Counts;
use fnstore::database::Database;
use fnstore::identify::{Figures, FrameSentence, FullText, LexunitName, Search, parting};
use fnstore::model::{Fraction, Origin, Split};
use serde::Serialize;

use crate::cli::options::identifier::IdentifierArgs;
use crate::cli::options::release::release;
use crate::cli::options::splits::SplitArgs;
use crate::cli::print::output::{Output, counted};
use crate::cli::print::render::{Row, rows_of};
use crate::cli::{Context, Outcome};

/// Measure the identification of frames: accuracy at gold targets, F1 of spans with frames
///
/// On the full text of a release: the sentences with a target in the documents of a part
/// (`split=` in queries). With gold targets the lexicon's LUs say which frames are possible, and
/// ambiguous targets (forms of LUs of several frames) and LUs that training documents lack count
/// apart. F1 is exact: both ends of the span, and the frame.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Release to measure on [default: the only one]
    #[arg(long, value_name = "NAME")]
    release: Option<String>,

    #[command(flatten)]
    splits: SplitArgs,

    /// Part of the full text
    #[arg(long, value_name = "PART", default_value_t = Split::Test, value_parser = named::<Split>())]
    part: Split,

    #[command(flatten)]
    identifier: IdentifierArgs,

    /// Directory of a tagger, or its name among the models: measure as `annotate` finds targets of
    /// the lexicon [default: go by forms alone, as training does]
    #[arg(long, value_name = "DIR|NAME")]
    tagger: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  fnstore eval frames
  fnstore eval frames --part dev --tagger tagger
  fnstore eval frames --identifier mine --part dev --format json";

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let database = context.joined(args.splits.over(|| Database::open(&context.store))?);
    let release = release(&database, args.release.as_deref())?.name;
    let texts = FullText::read(&database, &release)?;
    let seen = texts.train.iter().flat_map(|sentence| &sentence.targets);
    let seen: HashSet<LexunitName> =
        seen.map(|target| (target.frame.clone(), target.lexunit.clone())).collect();
    let sentences: &[FrameSentence] = match args.part {
        Split::Train => &texts.train,
        Split::Dev => &texts.dev,
        Split::Test => &texts.test,
    };
    let lexicon = database.lexicon(&release)?;
    let tagger = args.tagger.as_ref();
    let tagger = tagger.map(|tagger| args.identifier.open_tagger(tagger, &lexicon)).transpose()?;
    let identifier = args.identifier.open()?.with_tagger(tagger);
    lexicon.check_language(identifier.declared())?;
    let lexunits = texts.lexunits.iter().map(|(frame, name)| (&**frame, &**name));
    // What the documents show that are measured is not to be known.
    let parting = parting(&lexicon, |origin| origin == Origin::Exemplar)?;
    let candidates = identifier.candidates_with(lexunits, &texts.morphology, &parting);
    let measure = |search| identifier.measure(sentences, &candidates, search, &seen);
    let (lexicon, left_out) = measure(Search::Lexicon)?;
    let (open, _) = measure(Search::Open)?;
    let document = Document::new(&lexicon, &open, left_out);
    let rows = rows_of(&document.scores);
    context.output.report(&document, rows, |output| write_table(&document, output))?;
    Ok(Outcome::of(lexicon.sentences > 0))
}

/// The evaluation as JSON; see `schema/eval-frames.schema.json`.
#[derive(Debug, Serialize)]
struct Document {
    sentences: u64,
    /// Sentences that are too long for the encoder.
    left_out: usize,
    /// Gold targets for which the lexicon has no LU of their frame.
    uncovered: u64,
    scores: Vec<ScoreRow>,
}

#[derive(Debug, Serialize)]
struct ScoreRow {
    /// `frames at gold targets`, or `spans with frames`, or `spans`.
    /// JSON `{"enum": ["frames at gold targets", "spans with frames", "spans"]}`.
    items: &'static str,
    /// Which of them, and how they were looked for.
    /// JSON `{"enum": ["all", "ambiguous", "unseen LUs", "all, lexicon as a preference", "all,
    /// without the lexicon", "of the lexicon", "open"]}`.
    which: &'static str,
    precision: Fraction,
    recall: Fraction,
    f1: Fraction,
    right: u64,
    predicted: u64,
    gold: u64,
}

impl ScoreRow {
    fn new(items: &'static str, which: &'static str, counts: Counts) -> Self {
        let Counts { right, predicted, gold } = counts;
        let (precision, recall, f1) = (counts.precision(), counts.recall(), counts.f1());
        Self { items, which, precision, recall, f1, right, predicted, gold }
    }
}

impl Document {
    fn new(lexicon: &Figures, open: &Figures, left_out: usize) -> Self {
        let gold = |which, counts| ScoreRow::new("frames at gold targets", which, counts);
        let scores = vec![
            gold("all", lexicon.targets),
            gold("ambiguous", lexicon.ambiguous),
            gold("unseen LUs", lexicon.unseen),
            gold("all, lexicon as a preference", open.targets),
            gold("all, without the lexicon", lexicon.unfiltered),
            ScoreRow::new("spans with frames", "of the lexicon", lexicon.spans),
            ScoreRow::new("spans with frames", "open", open.spans),
            ScoreRow::new("spans", "of the lexicon", lexicon.spans_alone),
            ScoreRow::new("spans", "open", open.spans_alone),
        ];
        Self { sentences: lexicon.sentences, left_out, uncovered: lexicon.uncovered, scores }
    }
}

impl Row for ScoreRow {
    const COLUMNS: &'static [&'static str] =
        &["items", "which", "precision", "recall", "f1", "gold"];

    fn cells(&self) -> Vec<String> {
        let share = |share: f64| format!("{share:.4}");
        vec![
            self.items.to_owned(),
            self.which.to_owned(),
            share(self.precision),
            share(self.recall),
            share(self.f1),
            self.gold.to_string(),
        ]
    }
}

fn write_table(document: &Document, output: &mut Output) -> anyhow::Result<()> {
    output.table_of(&document.scores)?;
    output.line(&format!(
        "{}; {} more too long for the encoder; the lexicon has no LU for {}",
        counted(document.sentences, "sentence"),
        document.left_out,
        counted(document.uncovered, "target")
    ))?;
    Ok(())
}
