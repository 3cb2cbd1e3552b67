//! `fnstore stats agreement`: how far reviewers agree.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::bail;
use fnstore::database::Database;
use fnstore::model::Fraction;
use fnstore::review::{Agreement, Question, RoleFigures, agreement};
use serde::Serialize;

use crate::cli::options::named::named;
use crate::cli::print::output::Format;
use crate::cli::print::render::Row;
use crate::cli::process::whole_file::WholeFile;
use crate::cli::{Context, Outcome};

/// Count judgements by question, and say how far reviewers agree
///
/// A row for each question and what was judged: generated sets, and people's sets as controls in or
/// out of the frame that was asked for. A set counts as accepted at a mean score of 50. The share
/// is of all judged ones. So the share that evokes the frame and the share that keeps the meaning
/// can be compared. Agreement is over the sets of the row that two or more reviewers judged: that
/// of the paper is in the row of outputs, as controls are no question. `by_three` counts the sets
/// that three or more judged, as each of the paper was, and `accepted_by_three` those of them that
/// are accepted.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Also draw how the mean scores of outputs and controls spread over 0 to 100 (Culkin et al.
    /// 2021, Figure 7), and which share has at least each score
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// Question that is drawn
    #[arg(long, value_name = "QUESTION", value_parser = named::<Question>(), default_value = "evokes",
          requires = "svg")]
    question: Question,
}

const EXAMPLES: &str = "\
Examples:
  fnstore stats agreement
  fnstore stats agreement --svg scores.svg";

/// A row of counts as JSON; see `schema/agreement.schema.json`.
#[derive(Debug, Serialize)]
struct AgreementRow {
    /// JSON `{"enum": ["evokes", "meaning", "similarity", "elements"]}`.
    question: Question,
    /// JSON `{"enum": ["output", "in-frame control", "out-of-frame control"]}`.
    role: &'static str,
    items: u64,
    accepted: u64,
    share: Fraction,
    mean: f64,
    shared: u64,
    unanimous: u64,
    by_three: u64,
    accepted_by_three: u64,
    kappa: Option<f64>,
}

impl AgreementRow {
    fn new(question: Question, role: &'static str, figures: &RoleFigures) -> Self {
        Self {
            question,
            role,
            items: figures.items,
            accepted: figures.accepted,
            share: figures.share(),
            mean: figures.mean(),
            shared: figures.shared,
            unanimous: figures.unanimous,
            by_three: figures.by_three,
            accepted_by_three: figures.accepted_by_three,
            kappa: figures.kappa,
        }
    }
}

impl Row for AgreementRow {
    const COLUMNS: &'static [&'static str] = &[
        "question",
        "role",
        "items",
        "accepted",
        "share",
        "mean",
        "shared",
        "unanimous",
        "by_three",
        "accepted_by_three",
        "kappa",
    ];

    fn cells(&self) -> Vec<String> {
        let counts = [self.items, self.accepted].map(|count| count.to_string());
        let agreed = [self.shared, self.unanimous, self.by_three, self.accepted_by_three];
        let agreed = agreed.map(|count| count.to_string());
        let kappa = self.kappa.map_or_else(String::new, |kappa| format!("{kappa:.4}"));
        let names = [self.question.as_str(), self.role].map(str::to_owned);
        let means = [format!("{:.4}", self.share), format!("{:.2}", self.mean)];
        [names.as_slice(), &counts, &means, &agreed, &[kappa]].concat()
    }
}

fn draw(args: &Args, all: &Agreement) -> anyhow::Result<()> {
    let Some(path) = &args.svg else { return Ok(()) };
    let Some(of) = all.questions.get(&args.question) else {
        bail!("nobody has answered `{}`, so there is nothing to draw", args.question.as_str());
    };
    let mut file = WholeFile::create(path, "figure")?;
    file.write_all(of.spread(args.question).svg().as_bytes())?;
    file.finish()
}

pub(super) fn run(args: &Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let database = Database::open(&context.store)?;
    let all = agreement(&database)?;
    let rows: Vec<AgreementRow> = all
        .questions
        .iter()
        .flat_map(|(question, of)| {
            let row = |role, figures: &RoleFigures| AgreementRow::new(*question, role, figures);
            of.roles.iter().map(move |(role, figures)| row(role.as_str(), figures))
        })
        .collect();
    let is_empty = rows.is_empty();
    context.output.rows(Format::Table, rows)?;
    if !is_empty {
        draw(args, &all)?;
    }
    Outcome::or_tell(!is_empty, "nobody has judged anything yet", &mut context.output)
}
