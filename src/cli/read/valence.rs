//! `fnstore valence`: how lexical units realise their frame elements.
//!
//! The tables are FrameNet's own, which its lexicographers' tools made from an LU's exemplars; or,
//! with `--over`, the same tables counted from the annotation sets that a query finds.

use std::collections::{BTreeMap, BTreeSet};

use fnstore::database::Database;
use fnstore::lexicon::{Lexicon, observed_valences};
use fnstore::model::{
    ACCEPTED, AnnotationSet, FeRealization, FeStatus, LexUnit, LuId, Origin, PROPOSED,
    ValencePattern, Valences,
};
use serde::Serialize;

use super::show::lexunit::RealizationRecord;
use crate::cli::options::chosen_lus::ChosenLus;
use crate::cli::options::listing::{Statuses, lexicons};
use crate::cli::options::query;
use crate::cli::print::notices::tell_of_index;
use crate::cli::print::output::{Format, Output, grouped, tell};
use crate::cli::print::render::Block;
use crate::cli::{Context, Outcome};

/// Show how lexical units realise their frame elements
///
/// Lists the phrase types and grammatical functions of each frame element, and of the elements of a
/// sentence together, with the number of annotation sets. The numbers are FrameNet's own, of the
/// LU's exemplars, unless `--over` gives a query to count over. Of an LU that an expansion
/// proposed, they are counted over its generated sentences.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Lexical units: `lu=confirm.v`, `confirm.v`, `confirm*`, `~` and a regular expression, or a
    /// number
    #[arg(value_name = "LU", required = true)]
    lu: Vec<String>,

    /// Show only LUs of this frame; a name or pattern
    #[arg(long, value_name = "NAME")]
    frame: Option<String>,

    /// Count over the annotation sets that this query finds, instead of FrameNet's tables; sets
    /// without annotated FEs do not count
    #[arg(long, value_name = "EXPR")]
    over: Option<String>,

    /// Also list the annotation sets of each pattern
    #[arg(long)]
    sets: bool,

    /// Stop after N lexical units
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// List only records of this release
    #[arg(long, value_name = "NAME")]
    release: Option<String>,

    #[command(flatten)]
    statuses: Statuses,
}

const EXAMPLES: &str = "\
Examples:
  fnstore valence lu=confirm.v
  fnstore valence 'lu=confirm*' --sets --format json
  fnstore valence tell.v --frame Telling
  fnstore valence confirm.v --over origin=fulltext
  fnstore valence confirm.v --over 'fe=Inspector{gf=Ext}' --format csv";

/// The valence of an LU as JSON; see `schema/valence.schema.json`.
#[derive(Debug, Serialize)]
struct ValenceRecord<'a> {
    release: &'a str,
    frame: &'a str,
    lu: &'a str,
    id: u32,
    /// Query over whose annotation sets was counted; null for FrameNet's own tables.
    over: Option<&'a str>,
    realizations: Vec<RealizationRecord<'a>>,
    groups: Vec<RealizationRecord<'a>>,
    /// What is laid out of it.
    #[serde(skip)]
    valences: &'a Valences,
    #[serde(skip)]
    with_sets: bool,
}

/// What is counted over for an LU that only generated sentences attest.
const GENERATED: &str = "origin=generated";

/// An LU with its tables.
struct Entry<'l> {
    release: &'l str,
    /// The query that was counted over.
    over: Option<String>,
    frame: String,
    lu: LexUnit,
    valences: Valences,
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let chosen = ChosenLus::parse(&args.lu.join(" "), args.frame.as_deref())?;
    let over = args.over.as_deref();
    let database = Database::open(&context.store)?;
    chosen.require(&database)?;
    let lexicons = lexicons(&database, args.release.as_deref())?;
    let mut entries = Vec::new();
    let mut hidden = 0;
    for lexicon in &lexicons {
        for entry in entries_of(lexicon, &chosen, over)? {
            if !chosen.include(&args.statuses, &entry.lu) {
                hidden += 1;
            } else if !entry.valences.is_empty() {
                entries.push(entry);
            }
        }
    }
    let shown = args.limit.unwrap_or(usize::MAX).min(entries.len());
    let mut records = context.output.records(Format::Table);
    for entry in &entries[..shown] {
        records.spaced_block(&ValenceRecord::new(entry, args.sets))?;
    }
    records.end_blocks::<ValenceRecord<'_>>()?;
    tell_of_index(&database);
    Statuses::tell_hidden(hidden);
    if shown < entries.len() {
        tell(&format!("showing the first {shown}; there are more"));
    } else if entries.is_empty() {
        tell("nothing found");
        let in_full_text = if over.is_none() { in_full_text(&lexicons, &chosen)? } else { 0 };
        if in_full_text > 0 {
            tell(&format!(
                "FrameNet's tables count exemplars alone; `--over origin=fulltext` counts annotation \
                 sets of full text, of which there are {}",
                grouped(in_full_text)
            ));
        }
        return Ok(Outcome::NothingFound);
    }
    Ok(Outcome::Done)
}

/// How many sets of full text with annotated FEs the LUs of a name have.
fn in_full_text(lexicons: &[Lexicon<'_>], chosen: &ChosenLus) -> anyhow::Result<u64> {
    let mut count = 0;
    for lexicon in lexicons {
        for (_, lu) in chosen.find(lexicon)? {
            for set in lexicon.annotation_sets_of_lu(lu.frame, lu.id)? {
                let set = set?;
                let is_in_full_text = set.provenance.origin() == Origin::FullText;
                count += u64::from(is_in_full_text && set.fe_status == FeStatus::Annotated);
            }
        }
    }
    Ok(count)
}

fn entries_of<'l>(
    lexicon: &'l Lexicon<'_>,
    chosen: &ChosenLus,
    over: Option<&str>,
) -> anyhow::Result<Vec<Entry<'l>>> {
    let lexunits = chosen.find(lexicon)?;
    let is_proposed = |lu: &LexUnit| [PROPOSED, ACCEPTED].contains(&lu.status.as_str());
    let any_proposed = lexunits.iter().any(|(_, lu)| is_proposed(lu));
    let wanted: BTreeSet<LuId> = lexunits.iter().map(|(_, lu)| lu.id).collect();
    let mut sets: BTreeMap<LuId, Vec<AnnotationSet>> = BTreeMap::new();
    if let Some(query) = over.or(any_proposed.then_some(GENERATED)) {
        let query = query::expression(query)?;
        for answer in lexicon.annotations(&query)? {
            let answer = answer?;
            if wanted.contains(&answer.set.lu) {
                sets.entry(answer.set.lu).or_default().push(answer.set);
            }
        }
    }
    let mut entries = Vec::new();
    for (frame, mut lu) in lexunits {
        let own = std::mem::take(&mut lu.valences);
        let over = over.or(is_proposed(&lu).then_some(GENERATED));
        entries.push(Entry {
            release: &lexicon.release().name,
            over: over.map(str::to_owned),
            frame,
            valences: match over {
                None => own,
                Some(_) => observed_valences(sets.get(&lu.id).into_iter().flatten()),
            },
            lu,
        });
    }
    Ok(entries)
}

impl<'a> ValenceRecord<'a> {
    fn new(entry: &'a Entry<'_>, with_sets: bool) -> Self {
        let records = |realizations: &'a [FeRealization]| {
            let records = realizations.iter().map(|one| RealizationRecord::new(one, with_sets));
            records.collect()
        };
        Self {
            release: entry.release,
            frame: &entry.frame,
            lu: &entry.lu.name,
            id: entry.lu.id.0,
            over: entry.over.as_deref(),
            realizations: records(&entry.valences.realizations),
            groups: records(&entry.valences.groups),
            valences: &entry.valences,
            with_sets,
        }
    }
}

impl Block for ValenceRecord<'_> {
    const COLUMNS: &'static [&'static str] =
        &["release", "frame", "lu", "id", "table", "elements", "total", "units", "count", "sets"];

    fn rows(&self) -> Vec<Vec<String>> {
        let Valences { realizations, groups, .. } = self.valences;
        let mut rows = Vec::new();
        for (table, realizations) in [("fe", realizations), ("group", groups)] {
            for realization in realizations {
                let (elements, total) = (&realization.elements, realization.total);
                rows.extend(realization.patterns.iter().map(|pattern| {
                    vec![
                        self.release.to_owned(),
                        self.frame.to_owned(),
                        self.lu.to_owned(),
                        self.id.to_string(),
                        table.to_owned(),
                        elements.join("; "),
                        total.to_string(),
                        units(pattern, "; "),
                        pattern.total.to_string(),
                        if self.with_sets { sets(pattern) } else { String::new() },
                    ]
                }));
            }
        }
        rows
    }

    fn lay_out(&self, output: &mut Output) -> anyhow::Result<()> {
        let title = format!("{}  {}", self.lu, self.frame);
        let over = self.over.map_or_else(String::new, |over| format!("  over {over}"));
        output.headed(&title, &format!("LU {}  {}{over}", self.id, self.release))?;
        write_tables(self.valences, self.with_sets, output)
    }
}

/// Writes the tables for reading.
pub(crate) fn write_tables(
    valences: &Valences,
    with_sets: bool,
    output: &mut Output,
) -> anyhow::Result<()> {
    let tables = [
        ("FEs and how they are realised", &valences.realizations),
        ("FEs realised together", &valences.groups),
    ];
    for (title, realizations) in tables.into_iter().filter(|(_, table)| !table.is_empty()) {
        output.line("")?;
        output.heading(title)?;
        for realization in realizations {
            let (total, names) = (realization.total, realization.elements.join(", "));
            output.line(&format!("  {:>5}  {names}", grouped(u64::from(total))))?;
            for pattern in &realization.patterns {
                let total = grouped(u64::from(pattern.total));
                output.line(&format!("         {total:>5}  {}", units(pattern, "  ")))?;
                if with_sets {
                    output.paragraph(18, &sets(pattern))?;
                }
            }
        }
    }
    Ok(())
}

/// The pattern as `FE.PT.GF`, the GF left out where nothing is expressed.
fn units(pattern: &ValencePattern, separator: &str) -> String {
    let units = pattern.units.iter().map(|unit| {
        let parts = [unit.fe.as_str(), unit.pt.as_str(), unit.gf.as_str()];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join(".")
    });
    units.collect::<Vec<_>>().join(separator)
}

fn sets(pattern: &ValencePattern) -> String {
    pattern.sets.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}
