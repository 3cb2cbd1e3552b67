//! `fnstore stats agreement`: how far reviewers agree.

use fnstore::database::Database;
use fnstore::model::Fraction;
use fnstore::review::{Question, RoleFigures, agreement};
use serde::Serialize;

use crate::cli::print::output::Format;
use crate::cli::print::render::Row;
use crate::cli::{Context, Outcome};

/// Count judgements by question, and say how far reviewers agree
///
/// A row for each question and what was judged: generated sets, and people's sets as controls in or
/// out of the frame that was asked for. A set counts as accepted at a mean score of 50. The share
/// is of all judged ones. So the share that evokes the frame and the share that keeps the meaning
/// can be compared. Agreement is over the sets of the row that two or more reviewers judged. Where
/// a question has several rows, the role `all` has the sets of all of them.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

/// A row of counts as JSON; see `schema/agreement.schema.json`.
#[derive(Debug, Serialize)]
struct AgreementRow {
    /// JSON `{"enum": ["evokes", "meaning", "similarity", "elements"]}`.
    question: Question,
    /// JSON `{"enum": ["output", "in-frame control", "out-of-frame control", "all"]}`.
    role: &'static str,
    items: u64,
    accepted: u64,
    share: Fraction,
    mean: f64,
    shared: u64,
    unanimous: u64,
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
            kappa: figures.kappa,
        }
    }
}

impl Row for AgreementRow {
    const COLUMNS: &'static [&'static str] =
        &["question", "role", "items", "accepted", "share", "mean", "shared", "unanimous", "kappa"];

    fn cells(&self) -> Vec<String> {
        let counts = [self.items, self.accepted].map(|count| count.to_string());
        let agreed = [self.shared, self.unanimous].map(|count| count.to_string());
        let kappa = self.kappa.map_or_else(String::new, |kappa| format!("{kappa:.4}"));
        let names = [self.question.as_str(), self.role].map(str::to_owned);
        let means = [format!("{:.4}", self.share), format!("{:.2}", self.mean)];
        [names.as_slice(), &counts, &means, &agreed, &[kappa]].concat()
    }
}

pub(super) fn run(context: &mut Context) -> anyhow::Result<Outcome> {
    let database = Database::open(&context.store)?;
    let all = agreement(&database)?;
    let rows: Vec<AgreementRow> = all
        .questions
        .iter()
        .flat_map(|(question, of)| {
            let row = |role, figures: &RoleFigures| AgreementRow::new(*question, role, figures);
            let roles = of.roles.iter().map(|(role, figures)| row(role.as_str(), figures));
            let all = (of.roles.len() > 1).then(|| row("all", &of.total()));
            roles.chain(all).collect::<Vec<_>>()
        })
        .collect();
    let is_empty = rows.is_empty();
    context.output.rows(Format::Table, rows)?;
    Outcome::or_tell(!is_empty, "nobody has judged anything yet", &mut context.output)
}
