//! What `query --count-by` writes: values with the number of annotation sets that have them.

use fnstore::query::Field;
use fnstore::search::ValueCount;
use serde::Serialize;
use serde_json::Map;

use crate::cli::Outcome;
use crate::cli::print::output::{Format, Output};
use crate::cli::print::render::Block;

/// A value and its frequency as JSON.
#[derive(Debug, Serialize)]
struct CountRecord<'a> {
    field: &'static str,
    value: Option<&'a str>,
    count: u64,
}

impl Block for CountRecord<'_> {
    const COLUMNS: &'static [&'static str] = &["value", "count"];

    fn rows(&self) -> Vec<Vec<String>> {
        vec![vec![self.value.unwrap_or(NO_VALUE).to_owned(), self.count.to_string()]]
    }

    fn lay_out(&self, output: &mut Output) -> anyhow::Result<()> {
        Ok(output.line(&format!("{:>8}  {}", self.count, self.value.unwrap_or(NO_VALUE)))?)
    }
}

/// What is written for the sets that have no value of a field.
const NO_VALUE: &str = "(none)";

/// Writes counts by these fields.
pub(crate) fn write(
    counts: &[ValueCount],
    fields: &[Field],
    output: &mut Output,
) -> anyhow::Result<Outcome> {
    match fields {
        [field] => by_one(counts, *field, output)?,
        _ => by_several(counts, fields, output)?,
    }
    if counts.is_empty() {
        return Outcome::nothing("nothing found");
    }
    Ok(Outcome::Done)
}

fn by_one(counts: &[ValueCount], field: Field, output: &mut Output) -> anyhow::Result<()> {
    let mut records = output.records(Format::Tsv);
    for row in counts {
        let (field, value) = (field.name(), row.value());
        records.block(&CountRecord { field, value, count: row.count })?;
    }
    records.end_blocks::<CountRecord<'_>>()
}

/// Columns are called after the fields, then `count`.
fn by_several(counts: &[ValueCount], fields: &[Field], output: &mut Output) -> anyhow::Result<()> {
    let mut columns: Vec<&str> = fields.iter().map(|field| field.name()).collect();
    columns.push("count");
    let mut records = output.records(Format::Tsv);
    for ValueCount { values, count } in counts {
        let named = fields.iter().zip(values);
        let mut record: Map<_, _> =
            named.map(|(field, value)| (field.name().to_owned(), value.clone().into())).collect();
        record.insert("count".to_owned(), (*count).into());
        let cells = values.iter().map(|value| value.as_deref().unwrap_or(NO_VALUE).to_owned());
        records.row_under(&columns, &record, || cells.chain([count.to_string()]).collect())?;
    }
    records.end_under(&columns, &columns)
}
