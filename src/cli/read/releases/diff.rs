//! `fnstore releases diff`: what two releases differ in.

use fnstore::database::Database;
use fnstore::lexicon::{Change, Compared, Difference};

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

impl Row for &Difference {
    const COLUMNS: &'static [&'static str] =
        &["kind", "change", "frame", "name", "property", "before", "after", "count"];
    // Definitions are longer than a terminal is wide.
    const TABLE_COLUMNS: &'static [&'static str] =
        &["kind", "change", "frame", "name", "property", "count"];
}

pub(crate) fn diff(args: &DiffArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let database = Database::open(&context.store)?;
    let differences = database.differences(&args.before, &args.after)?;
    context.output.rows(Format::Jsonl, &differences)?;
    if differences.is_empty() {
        return Outcome::nothing(&format!(
            "`{}` and `{}` have the same lexicon and annotation",
            args.before, args.after
        ));
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
        if last.replace(place) == Some(place) && of.property.is_some() {
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
