//! `fnstore predicates`: what VerbNet and PropBank say of a word.

use fnstore::database::Database;
use fnstore::lexicon::Predicates;
use fnstore::model::{Predicate, PredicateFrame, PredicateLink, PredicateMember, PredicateRole};
use serde::Serialize;

use crate::cli::print::output::{Format, tell};
use crate::cli::print::render::Row;
use crate::cli::{Context, Outcome};

/// List the classes of VerbNet and rolesets of PropBank of a word
///
/// A class stands with its own roles; a subclass has those of its parents, too.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Lemma, or lemma and part of speech: `abandon`, `abandon.v`; or a name: `leave-51.2`, `51.2`,
    /// `abandon.01`
    #[arg(value_name = "LEMMA[.POS]")]
    word: String,

    /// List only those of this VerbNet or PropBank
    #[arg(long, value_name = "NAME")]
    resource: Option<String>,

    /// Stop after N rows
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

const EXAMPLES: &str = "\
Examples:
  fnstore predicates abandon
  fnstore predicates leave-51.2 --resource verbnet3.4 --format json";

/// A class or roleset as JSON; see `schema/predicate.schema.json`.
#[derive(Debug, Serialize)]
struct PredicateRow {
    /// Name of the VerbNet or PropBank.
    resource: String,
    /// JSON `{"enum": ["verbnet", "propbank"]}`.
    kind: &'static str,
    name: String,
    /// The class that it is a subclass of; null where there is none.
    parent: Option<String>,
    /// What it means; empty for a class.
    definition: String,
    members: Vec<PredicateMember>,
    roles: Vec<PredicateRole>,
    /// Syntactic frames of VerbNet, examples of PropBank.
    frames: Vec<PredicateFrame>,
    /// What it is in other lexicons.
    links: Vec<PredicateLink>,
}

impl PredicateRow {
    fn new(of: &Predicates<'_>, predicate: Predicate) -> Self {
        let Predicate { name, parent, definition, members, roles, frames, links } = predicate;
        let (resource, kind) = (of.resource().name.clone(), of.resource().kind.as_str());
        let parent = Some(parent).filter(|parent| !parent.is_empty());
        Self { resource, kind, name, parent, definition, members, roles, frames, links }
    }

    /// What stands in a column: the names of what a member lists.
    fn cell(&self, column: &str) -> String {
        let joined = |names: Vec<&str>| names.join(", ");
        match column {
            "resource" => self.resource.clone(),
            "name" => self.name.clone(),
            "parent" => self.parent.clone().unwrap_or_default(),
            "definition" => self.definition.clone(),
            "members" => joined(self.members.iter().map(|of| &*of.lemma).collect()),
            "roles" => joined(self.roles.iter().map(|of| &*of.name).collect()),
            _ => String::new(),
        }
    }
}

impl Row for PredicateRow {
    const COLUMNS: &'static [&'static str] = &["resource", "kind", "name", "parent", "definition"];
    const TABLE_COLUMNS: &'static [&'static str] =
        &["resource", "name", "parent", "definition", "members", "roles"];

    fn cells(&self) -> Vec<String> {
        Self::TABLE_COLUMNS.iter().map(|column| self.cell(column)).collect()
    }
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let database = Database::open(&context.store)?;
    let all = match &args.resource {
        Some(name) => vec![database.predicates(name)?],
        None => database.all_predicates()?,
    };
    if all.is_empty() {
        tell("the store has no VerbNet or PropBank; `fnstore import PATH` brings in one");
        return Ok(Outcome::NothingFound);
    }
    let mut rows = Vec::new();
    for of in &all {
        rows.extend(of.written(&args.word)?.into_iter().map(|row| PredicateRow::new(of, row)));
    }
    rows.truncate(args.limit.unwrap_or(usize::MAX));
    let is_empty = rows.is_empty();
    context.output.rows(Format::Jsonl, rows)?;
    if is_empty {
        return Outcome::nothing("nothing found; a part of speech is .v, .n, .a or .r");
    }
    Ok(Outcome::Done)
}
