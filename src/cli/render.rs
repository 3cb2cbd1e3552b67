//! How results come out in each format: the one place where formats part.
//!
//! A command says what a result is, not how it is written:
//!
//! | result | table | JSON, JSON lines | CSV, TSV |
//! | --- | --- | --- | --- |
//! | a report ([`Output::report`]) | laid out | one document | its rows, or the document where it has none |
//! | documents of a name ([`Output::shown`]) | laid out, an empty line between | documents | documents |
//! | rows ([`Records::row`], [`Output::rows`]) | columns side by side | a record each | a header, a row each |
//! | blocks ([`Records::block`]) | laid out | a record each | a header, rows for each |

use serde::Serialize;
use serde_json::Value;

use super::output::{Format, Output};

/// A record that is one row of a table.
pub(super) trait Row: Serialize {
    /// Names of the columns of delimited output, and of tables unless they have others.
    const COLUMNS: &'static [&'static str];

    /// Names of the columns of a table.
    const TABLE_COLUMNS: &'static [&'static str] = Self::COLUMNS;

    /// The values of the columns, those of the record's fields of the same names. Several things in
    /// one are parted by `; `.
    fn fields(&self) -> Vec<String> {
        fields_of(self, Self::COLUMNS)
    }

    /// The values of the columns of a table.
    fn cells(&self) -> Vec<String> {
        self.fields()
    }
}

/// The fields of a record that columns are called after.
pub(super) fn fields_of(record: &(impl Serialize + ?Sized), columns: &[&str]) -> Vec<String> {
    let record = serde_json::to_value(record).expect("a row's fields have names");
    columns.iter().map(|name| field_text(&record[*name])).collect()
}

fn field_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(field_text).collect::<Vec<_>>().join("; "),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}

impl<R: Row> Row for &R {
    const COLUMNS: &'static [&'static str] = R::COLUMNS;
    const TABLE_COLUMNS: &'static [&'static str] = R::TABLE_COLUMNS;

    fn fields(&self) -> Vec<String> {
        R::fields(self)
    }

    fn cells(&self) -> Vec<String> {
        R::cells(self)
    }
}

/// A record that is laid out for reading, and may be several rows of delimited output.
pub(super) trait Block: Serialize {
    /// Names of the columns of delimited output; none where rows stand without a header.
    const COLUMNS: &'static [&'static str] = &[];

    /// The rows of delimited output; none where the record is written in their place.
    fn rows(&self) -> Option<Vec<Vec<String>>>;

    /// Writes the record for reading.
    fn lay_out(&self, output: &mut Output) -> anyhow::Result<()>;
}

/// Delimited rows of a report that has none: its document is written in their place.
pub(super) const NO_ROWS: Option<[[&str; 0]; 0]> = None;

/// Delimited rows with a header before them.
pub(super) fn under(
    columns: &[&str],
    rows: impl IntoIterator<Item = Vec<String>>,
) -> impl Iterator<Item = Vec<String>> {
    let header = columns.iter().map(|name| (*name).to_owned()).collect();
    std::iter::once(header).chain(rows)
}

/// Rows of records with their header.
pub(super) fn rows_of<R: Row>(records: &[R]) -> impl Iterator<Item = Vec<String>> {
    under(R::COLUMNS, records.iter().map(R::fields))
}

/// Records on their way out, one by one.
pub(super) struct Records<'o> {
    output: &'o mut Output,
    format: Format,
    written: usize,
    has_header: bool,
    /// Rows of a table, whose columns are as wide as the widest.
    table: Vec<Vec<String>>,
}

impl Output {
    /// Writes one report, laid out for reading where no format is asked for.
    pub(super) fn report<F: AsRef<str>, R: IntoIterator<Item = F>>(
        &mut self,
        record: &impl Serialize,
        rows: Option<impl IntoIterator<Item = R>>,
        lay_out: impl FnOnce(&mut Self) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        match (self.format_or(Format::Table), rows) {
            (Format::Table, _) => lay_out(self),
            (format @ (Format::Csv | Format::Tsv), Some(rows)) => {
                rows.into_iter().try_for_each(|row| Ok(self.fields(format, row)?))
            }
            _ => self.json(record),
        }
    }

    /// Writes what a name stands for in every release that has it.
    pub(super) fn shown<'t, T, R: Serialize>(
        &mut self,
        found: &'t [T],
        record: impl FnMut(&'t T) -> anyhow::Result<R>,
        mut lay_out: impl FnMut(&'t T, &mut Self) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        if self.format_or(Format::Table) != Format::Table {
            let records = found.iter().map(record).collect::<anyhow::Result<Vec<R>>>()?;
            return self.documents(&records);
        }
        for (number, one) in found.iter().enumerate() {
            if number > 0 {
                self.line("")?;
            }
            lay_out(one, self)?;
        }
        Ok(())
    }

    /// Writes rows as a table, whatever the format.
    pub(super) fn table_of<R: Row>(&mut self, rows: &[R]) -> anyhow::Result<()> {
        Ok(self.table(R::TABLE_COLUMNS, rows.iter().map(R::cells).collect())?)
    }

    /// Begins records, in `piped` where no format is asked for and this is no terminal.
    pub(super) fn records(&mut self, piped: Format) -> Records<'_> {
        let format = self.format_or(piped);
        Records { output: self, format, written: 0, has_header: false, table: Vec::new() }
    }

    /// Begins records that only JSON can hold, as lines unless one array is asked for.
    pub(super) fn json_records(&mut self) -> Records<'_> {
        let mut records = self.records(Format::Jsonl);
        if records.format != Format::Json {
            records.format = Format::Jsonl;
        }
        records
    }

    /// Writes rows under their header, which is also written over none.
    pub(super) fn rows<R: Row>(
        &mut self,
        piped: Format,
        rows: impl IntoIterator<Item = R>,
    ) -> anyhow::Result<()> {
        let mut records = self.records(piped);
        records.header(R::COLUMNS)?;
        rows.into_iter().try_for_each(|row| records.row(&row))?;
        records.end_rows::<R>()
    }
}

impl Records<'_> {
    /// Writes the header of delimited output, once.
    pub(super) fn header(&mut self, columns: &[&str]) -> anyhow::Result<()> {
        let is_new = !std::mem::replace(&mut self.has_header, true);
        if is_new && !columns.is_empty() && matches!(self.format, Format::Csv | Format::Tsv) {
            self.output.fields(self.format, columns)?;
        }
        Ok(())
    }

    /// Writes a row.
    pub(super) fn row<R: Row>(&mut self, row: &R) -> anyhow::Result<()> {
        let is_table = self.format == Format::Table;
        self.row_under(R::COLUMNS, row, || if is_table { row.cells() } else { row.fields() })
    }

    /// Writes a row whose columns are known only now.
    pub(super) fn row_under(
        &mut self,
        columns: &[&str],
        record: &impl Serialize,
        fields: impl FnOnce() -> Vec<String>,
    ) -> anyhow::Result<()> {
        match self.format {
            Format::Table => self.table.push(fields()),
            Format::Json | Format::Jsonl => self.output.record(record, self.format)?,
            Format::Csv | Format::Tsv => {
                self.header(columns)?;
                self.output.fields(self.format, fields())?;
            }
        }
        self.written += 1;
        Ok(())
    }

    /// Writes a record of [`Output::json_records`].
    pub(super) fn record(&mut self, record: &impl Serialize) -> anyhow::Result<()> {
        self.row_under(&[], record, Vec::new)
    }

    /// Writes a block.
    pub(super) fn block<B: Block>(&mut self, block: &B) -> anyhow::Result<()> {
        match self.format {
            Format::Table => block.lay_out(self.output)?,
            Format::Json | Format::Jsonl => self.output.record(block, self.format)?,
            Format::Csv | Format::Tsv => {
                self.header(B::COLUMNS)?;
                match block.rows() {
                    Some(rows) => {
                        for row in rows {
                            self.output.fields(self.format, row)?;
                        }
                    }
                    None => self.output.record(block, self.format)?,
                }
            }
        }
        self.written += 1;
        Ok(())
    }

    /// Writes a block with an empty line between it and the one before.
    pub(super) fn spaced_block<B: Block>(&mut self, block: &B) -> anyhow::Result<()> {
        if self.format == Format::Table && self.written > 0 {
            self.output.line("")?;
        }
        self.block(block)
    }

    /// How many records were written.
    pub(super) fn written(&self) -> usize {
        self.written
    }

    /// Hands on what is still buffered, for whoever reads along.
    pub(super) fn flush(&mut self) -> anyhow::Result<()> {
        Ok(self.output.flush()?)
    }

    /// Ends rows: the table is laid out, unless it is empty and was begun without a header.
    pub(super) fn end_rows<R: Row>(self) -> anyhow::Result<()> {
        self.end_under(R::TABLE_COLUMNS)
    }

    /// Ends blocks.
    pub(super) fn end(self) -> anyhow::Result<()> {
        self.end_under(&[])
    }

    /// Ends rows under these columns, and hands on what is still buffered.
    pub(super) fn end_under(mut self, columns: &[&str]) -> anyhow::Result<()> {
        match self.format {
            Format::Table if !columns.is_empty() && (self.has_header || self.written > 0) => {
                self.output.table(columns, std::mem::take(&mut self.table))?;
            }
            Format::Json | Format::Jsonl => self.output.end_records(self.format)?,
            _ => {}
        }
        // Whoever reads along has all before anything is said of it.
        Ok(self.output.flush()?)
    }
}
