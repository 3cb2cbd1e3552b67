//! `fnstore releases diff`: what two releases differ in.

use fnstore::database::Database;
use fnstore::lexicon::{Change, Compared, Difference};
use serde::Serialize;

use crate::cli::print::output::{Format, grouped, tell};
use crate::cli::print::render::Row;
use crate::cli::{Context, Outcome};

/// List what two releases differ in
///
/// Frames, FEs, LUs and relations are compared by name, annotation sets by id. A frame of another
/// name is one that is gone and one that is new. There is a row for each property that changed, and
/// one for the annotation sets of each LU.
#[derive(Debug, clap::Args)]
pub(crate) struct DiffArgs {
    /// Name of the first release
    #[arg(value_name = "A")]
    before: String,

    /// Name of the second release
    #[arg(value_name = "B")]
    after: String,
}

/// A difference as JSON; see `schema/difference.schema.json`.
#[derive(Debug, Serialize)]
struct DifferenceRecord<'a> {
    kind: Compared,
    change: Change,
    frame: &'a str,
    name: &'a str,
    property: Option<&'static str>,
    before: Option<&'a str>,
    after: Option<&'a str>,
    count: u64,
}

impl Row for DifferenceRecord<'_> {
    const COLUMNS: &'static [&'static str] =
        &["kind", "change", "frame", "name", "property", "before", "after", "count"];
    // Definitions are longer than a terminal is wide.
    const TABLE_COLUMNS: &'static [&'static str] =
        &["kind", "change", "frame", "name", "property", "count"];
}

pub(crate) fn diff(args: &DiffArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let database = Database::open(&context.store)?;
    let differences = database.differences(&args.before, &args.after)?;
    let records = differences.iter().map(|of| DifferenceRecord {
        kind: of.kind,
        change: of.change,
        frame: &of.frame,
        name: &of.name,
        property: (!of.property.is_empty()).then_some(of.property),
        before: of.before.as_deref(),
        after: of.after.as_deref(),
        count: of.count,
    });
    context.output.rows(Format::Jsonl, records.collect::<Vec<_>>())?;
    if differences.is_empty() {
        tell(&format!(
            "`{}` and `{}` have the same lexicon and annotation",
            args.before, args.after
        ));
        return Ok(Outcome::NothingFound);
    }
    for kind in Compared::ALL {
        tell_of(kind, &differences);
    }
    Ok(Outcome::Done)
}

/// Says how many there are of a kind. A record with several changed properties counts once.
fn tell_of(kind: Compared, differences: &[Difference]) {
    let mut counts = Change::ALL.map(|change| (change, 0));
    let mut last = None;
    for of in differences.iter().filter(|of| of.kind == kind) {
        let place = (of.change, &of.frame, &of.name);
        if last.replace(place) == Some(place) && !of.property.is_empty() {
            continue;
        }
        for (change, count) in &mut counts {
            *count += if *change == of.change { of.count } else { 0 };
        }
    }
    if counts.iter().all(|(_, count)| *count == 0) {
        return;
    }
    let counts = counts.map(|(change, count)| format!("{} {}", grouped(count), change.as_str()));
    let what = match kind {
        Compared::Frame => "frames",
        Compared::Fe => "FEs",
        Compared::Lu => "LUs",
        Compared::Relation => "relations",
        Compared::Annotation => "annotation sets",
    };
    tell(&format!("{what}: {}", counts.join(", ")));
}
