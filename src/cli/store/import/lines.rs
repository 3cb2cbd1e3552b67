//! `fnstore import FILE.jsonl`: an export that comes back, or span-labelled data.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use fnstore::database::Database;
use fnstore::model::{Amount, Positive};
use fnstore::transfer::{ImportKind, ImportOptions, JsonlImport, SpanImport};
use serde::Serialize;

use crate::cli::print::notices::tell_index_lag;
use crate::cli::print::output::{Output, grouped};
use crate::cli::print::progress;
use crate::cli::print::render::counts_of;
use crate::cli::{Context, Outcome};

/// What a file of JSON lines holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lines {
    /// The records of an export.
    Records,
    /// Texts with labelled spans.
    Spans,
}

/// Most types that the summary names.
const NAMED: usize = 20;

impl Lines {
    /// What JSON lines hold; `None` where a path holds no such.
    pub(crate) fn of(kind: ImportKind) -> Option<Self> {
        match kind {
            ImportKind::Records => Some(Self::Records),
            ImportKind::Spans => Some(Self::Spans),
            ImportKind::Framenet | ImportKind::Resource(_) => None,
        }
    }
}

/// Imports a file of JSON lines into the store and says what came in.
pub(crate) fn run(
    database: &Database,
    path: &Path,
    lines: Lines,
    options: &ImportOptions,
    context: &Context,
) -> anyhow::Result<LinesRecord> {
    let started = Instant::now();
    let bar = progress::bar("importing", "bytes");
    bar.set_length(path.metadata().map_or(0, |metadata| metadata.len()));
    let mut advance = |bytes: u64| bar.set_position(bytes);
    let record = match lines {
        Lines::Records => database
            .import_jsonl(path, options.release.as_deref(), &mut advance)
            .map(LinesRecord::of_records),
        Lines::Spans => {
            database.import_spans(path, options, &mut advance).map(LinesRecord::of_spans)
        }
    };
    bar.finish_and_clear();
    tell_index_lag(database);
    Ok(LinesRecord {
        source: options.source.clone().unwrap_or_else(|| path.display().to_string()),
        store: context.store.display().to_string(),
        seconds: (started.elapsed().as_secs_f64() * 1000.0).round() / 1000.0,
        store_bytes: database.disk_bytes(),
        ..record?
    })
}

/// An import of JSON lines as JSON; see `schema/import-lines.schema.json`.
#[derive(Debug, Default, Serialize)]
pub(crate) struct LinesRecord {
    release: String,
    /// JSON `{"enum": ["whole", "part", "additions", "spans"]}`.
    scope: &'static str,
    source: String,
    store: String,
    seconds: Amount,
    store_bytes: u64,
    /// Number of records of each kind that were written.
    written: BTreeMap<String, u64>,
    /// Number of records that were there already, equal in all.
    unchanged: u64,
    /// Number of spans of each type.
    types: BTreeMap<String, Positive>,
    /// Number of texts in each part of the data that lines name.
    splits: BTreeMap<String, Positive>,
}

impl LinesRecord {
    fn of_records(import: JsonlImport) -> Self {
        let JsonlImport { release, scope, written, unchanged } = import;
        Self {
            release: release.name,
            scope: scope.as_str(),
            written: written
                .into_iter()
                .map(|(kind, count)| (kind.as_str().to_owned(), count))
                .collect(),
            unchanged,
            ..Self::default()
        }
    }

    fn of_spans(import: SpanImport) -> Self {
        let SpanImport { release, texts, without_spans, types, lexunits, splits } = import;
        let written = [
            ("frame", types.len() as u64),
            ("lexunit", lexunits),
            ("sentence", texts),
            ("sentence_without_spans", without_spans),
            ("set", types.values().sum()),
        ];
        Self {
            release: release.name,
            scope: "spans",
            written: written.map(|(kind, count)| (kind.to_owned(), count)).into(),
            types,
            splits,
            ..Self::default()
        }
    }

    /// Writes the record in the format that was asked for.
    pub(crate) fn write(&self, output: &mut Output) -> anyhow::Result<Outcome> {
        let rows = counts_of(self.written.iter().map(|(kind, count)| (kind, *count)));
        output.report(self, rows, |output| self.write_summary(output))?;
        Ok(Outcome::Done)
    }

    fn write_summary(&self, output: &mut Output) -> anyhow::Result<()> {
        let title = format!("{} is in {}", self.release, self.store);
        output.heading(&title)?;
        for (kind, count) in &self.written {
            output.line(&format!("  {:<24} {:>9}", kind.replace('_', " "), grouped(*count)))?;
        }
        if self.unchanged > 0 {
            output.line(&format!("  {:<24} {:>9}", "there already", grouped(self.unchanged)))?;
        }
        for (title, counts) in [("types", &self.types), ("parts", &self.splits)] {
            if !counts.is_empty() {
                output.paragraph(2, &format!("{title}: {}", most_frequent(counts)))?;
            }
        }
        output.line(&format!("  took {:.1} s", self.seconds))?;
        Ok(())
    }
}

/// The most frequent names with their counts, and how many more there are.
fn most_frequent(counts: &BTreeMap<String, u64>) -> String {
    let mut ordered: Vec<(&String, &u64)> = counts.iter().collect();
    if ordered.len() > NAMED {
        ordered.sort_by_key(|(name, count)| (Reverse(**count), *name));
    }
    let named = ordered.iter().take(NAMED).map(|(name, count)| format!("{name} {count}"));
    let mut text = named.collect::<Vec<_>>().join(", ");
    if let Some(more) = counts.len().checked_sub(NAMED).filter(|more| *more > 0) {
        text.push_str(&format!(" and {} more", grouped(more as u64)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_types_are_the_most_frequent_ones_and_a_number() {
        let few = BTreeMap::from([("a".to_owned(), 1), ("b".to_owned(), 9)]);
        assert_eq!(most_frequent(&few), "a 1, b 9");
        let many = (0..1020_u64).map(|number| (format!("t{number:04}"), number / 2)).collect();
        let text = most_frequent(&many);
        assert!(text.starts_with("t1018 509, t1019 509, t1016 508, "), "{text}");
        assert!(text.ends_with("t1001 500 and 1,000 more"), "{text}");
    }
}
