//! How results come out in each format: the one place where formats part.
//!
//! A command says what a result is, not how it is written:
//!
//! | result | table | JSON, JSON lines | CSV, TSV |
//! | --- | --- | --- | --- |
//! | a report ([`Output::report`]) | laid out | one document | a header and its rows, or one row |
//! | documents of a name ([`Output::shown`]) | laid out, an empty line between | documents | none |
//! | rows ([`Records::row`], [`Output::rows`]) | columns side by side | a record each | a header, a row each |
//! | blocks ([`Records::block`]) | laid out | a record each | a header, rows for each |
//!
//! A column has one name in every format: that of the record's member. A row takes its values from
//! there, so CSV and JSON say the same. Delimited output begins with a header, also over no rows.

use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::output::{Format, Look, Output};

/// A record that is one row of a table.
pub(crate) trait Row: Serialize {
    /// Names of the columns of delimited output: members of the record, which are never left out.
    const COLUMNS: &'static [&'static str];

    /// Names of the columns of a table: some of them.
    const TABLE_COLUMNS: &'static [&'static str] = Self::COLUMNS;

    /// What stands in the columns of a table.
    fn cells(&self) -> Vec<String> {
        fields_of(self, Self::TABLE_COLUMNS)
    }
}

/// The members of a record that columns are called after. Several things in one are parted by `; `.
pub(crate) fn fields_of(record: &(impl Serialize + ?Sized), columns: &[&str]) -> Vec<String> {
    let members = members_of(record);
    let member = |name: &&str| members.iter().find(|(of, _)| of == name);
    let text = |name| field_text(&member(name).expect("a column is a member of the record").1);
    columns.iter().map(text).collect()
}

/// As [`fields_of`], of a record that leaves members out.
pub(crate) fn fields_in(record: &(impl Serialize + ?Sized), columns: &[&str]) -> Vec<String> {
    let members = members_of(record);
    let member = |name: &&str| members.iter().find(|(of, _)| of == name);
    columns
        .iter()
        .map(|name| member(name).map_or_else(String::new, |of| field_text(&of.1)))
        .collect()
}

/// The members of a record, in its order, with values as JSON writes them.
fn members_of(record: &(impl Serialize + ?Sized)) -> Vec<(String, Value)> {
    // By way of text: there a number of 32 bits has the digits that JSON gives it.
    let text = serde_json::to_string(record).expect("a record's members have names");
    let Members(members) = serde_json::from_str(&text).expect("a record is a JSON object");
    members
}

/// A JSON object in the order in which it is written.
struct Members(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(InOrder)
    }
}

/// A value as the field of a row: nothing for null, and several things parted by `; `.
pub(crate) fn field_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) if !items.iter().any(|item| item.is_array() || item.is_object()) => {
            items.iter().map(field_text).collect::<Vec<_>>().join("; ")
        }
        _ => value.to_string(),
    }
}

impl<R: Row> Row for &R {
    const COLUMNS: &'static [&'static str] = R::COLUMNS;
    const TABLE_COLUMNS: &'static [&'static str] = R::TABLE_COLUMNS;

    fn cells(&self) -> Vec<String> {
        R::cells(self)
    }
}

/// A record that is laid out for reading, and may be several rows of delimited output.
pub(crate) trait Block: Serialize {
    /// Names of the columns of delimited output.
    const COLUMNS: &'static [&'static str];

    /// The rows of delimited output.
    fn rows(&self) -> Vec<Vec<String>> {
        vec![fields_of(self, Self::COLUMNS)]
    }

    /// Writes the record for reading.
    fn lay_out(&self, output: &mut Output) -> anyhow::Result<()>;
}

/// Rows of delimited output under their header.
pub(crate) struct Delimited {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// For a report that has no rows of its own: it is one row, its columns its members.
pub(crate) const ONE_ROW: Option<Delimited> = None;

/// Delimited rows with a header before them.
pub(crate) fn under(
    columns: &[&str],
    rows: impl IntoIterator<Item = Vec<String>>,
) -> Option<Delimited> {
    let columns = columns.iter().map(|name| (*name).to_owned()).collect();
    Some(Delimited { columns, rows: rows.into_iter().collect() })
}

/// Rows of records with their header.
pub(crate) fn rows_of<'r, R: Row + 'r>(
    records: impl IntoIterator<Item = &'r R>,
) -> Option<Delimited> {
    under(R::COLUMNS, records.into_iter().map(|record| fields_of(record, R::COLUMNS)))
}

/// Rows of names and counts with their header.
pub(crate) fn counts_of<N: AsRef<str>>(
    counts: impl IntoIterator<Item = (N, u64)>,
) -> Option<Delimited> {
    let row = |(name, count): (N, u64)| vec![name.as_ref().to_owned(), count.to_string()];
    under(&["name", "count"], counts.into_iter().map(row))
}

/// A document as one row.
fn one_row(record: &impl Serialize) -> Delimited {
    let (columns, values): (_, Vec<Value>) = members_of(record).into_iter().unzip();
    Delimited { columns, rows: vec![values.iter().map(field_text).collect()] }
}

/// Records on their way out, one by one.
pub(crate) struct Records<'o> {
    output: &'o mut Output,
    format: Format,
    written: usize,
    has_header: bool,
    /// Rows of a table, whose columns are as wide as the widest.
    table: Vec<Vec<String>>,
}

/// Records that are laid out apart, by another thread, for a place behind others.
pub(crate) struct Part {
    output: Output,
    format: Format,
    written: usize,
    table: Vec<Vec<String>>,
}

impl Part {
    /// A part of records that look so, without any.
    pub(crate) fn new((look, format): (Look, Format)) -> Self {
        Self { output: Output::apart(look), format, written: 0, table: Vec::new() }
    }

    /// Lays out more of them.
    pub(crate) fn lay_out(
        &mut self,
        write: impl FnOnce(&mut Records<'_>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let Self { output, format, written, table } = self;
        let (format, table_so_far) = (*format, std::mem::take(table));
        // The header stands above the first part.
        let mut records =
            Records { output, format, written: *written, has_header: true, table: table_so_far };
        let outcome = write(&mut records);
        (*written, *table) = (records.written, records.table);
        outcome
    }
}

impl Output {
    /// Writes one report, laid out for reading where no format is asked for.
    pub(crate) fn report(
        &mut self,
        record: &impl Serialize,
        rows: Option<Delimited>,
        lay_out: impl FnOnce(&mut Self) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        match self.format_or(Format::Table) {
            Format::Table => lay_out(self),
            Format::Json | Format::Jsonl => self.json(record),
            format @ (Format::Csv | Format::Tsv) => {
                let Delimited { columns, rows } = rows.unwrap_or_else(|| one_row(record));
                self.fields(format, columns)?;
                rows.into_iter().try_for_each(|row| Ok(self.fields(format, row)?))
            }
        }
    }

    /// Writes what a name stands for in every release that has it.
    pub(crate) fn shown<'t, T, R: Serialize>(
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
    pub(crate) fn table_of<R: Row>(&mut self, rows: &[R]) -> anyhow::Result<()> {
        Ok(self.table(R::TABLE_COLUMNS, rows.iter().map(R::cells).collect())?)
    }

    /// Begins records, in `piped` where no format is asked for and this is no terminal.
    pub(crate) fn records(&mut self, piped: Format) -> Records<'_> {
        let format = self.format_or(piped);
        Records { output: self, format, written: 0, has_header: false, table: Vec::new() }
    }

    /// Begins records that only JSON can hold, as lines unless one array is asked for.
    pub(crate) fn json_records(&mut self) -> anyhow::Result<Records<'_>> {
        self.refuse_rows()?;
        let mut records = self.records(Format::Jsonl);
        if records.format != Format::Json {
            records.format = Format::Jsonl;
        }
        Ok(records)
    }

    /// Refuses CSV and TSV for what has no rows; to be asked before the work begins.
    pub(crate) fn refuse_rows(&self) -> anyhow::Result<()> {
        anyhow::ensure!(
            !matches!(self.format_or(Format::Table), Format::Csv | Format::Tsv),
            "these records have no rows for `--format csv` or `tsv`: expected `json` or `jsonl`"
        );
        Ok(())
    }

    /// Writes rows under their header, which is also written over none.
    pub(crate) fn rows<R: Row>(
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
    /// Writes the header of delimited output, once. It stands before the first row, and whoever
    /// waits long for that writes it sooner.
    pub(crate) fn header(&mut self, columns: &[&str]) -> anyhow::Result<()> {
        let is_new = !std::mem::replace(&mut self.has_header, true);
        if is_new && matches!(self.format, Format::Csv | Format::Tsv) {
            self.output.fields(self.format, columns)?;
        }
        Ok(())
    }

    /// Writes a row.
    pub(crate) fn row<R: Row>(&mut self, row: &R) -> anyhow::Result<()> {
        let is_table = self.format == Format::Table;
        let fields = || if is_table { row.cells() } else { fields_of(row, R::COLUMNS) };
        self.row_under(R::COLUMNS, row, fields)
    }

    /// Writes a row whose columns are known only now.
    pub(crate) fn row_under(
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
    pub(crate) fn record(&mut self, record: &impl Serialize) -> anyhow::Result<()> {
        self.row_under(&[], record, Vec::new)
    }

    /// Writes a block.
    pub(crate) fn block<B: Block>(&mut self, block: &B) -> anyhow::Result<()> {
        match self.format {
            Format::Table => block.lay_out(self.output)?,
            Format::Json | Format::Jsonl => self.output.record(block, self.format)?,
            Format::Csv | Format::Tsv => {
                self.header(B::COLUMNS)?;
                for row in block.rows() {
                    self.output.fields(self.format, row)?;
                }
            }
        }
        self.written += 1;
        Ok(())
    }

    /// Writes a block with an empty line between it and the one before.
    pub(crate) fn spaced_block<B: Block>(&mut self, block: &B) -> anyhow::Result<()> {
        if self.format == Format::Table && self.written > 0 {
            self.output.line("")?;
        }
        self.block(block)
    }

    /// How parts of these records look.
    pub(crate) fn look(&self) -> (Look, Format) {
        (self.output.look(), self.format)
    }

    /// Writes blocks that were laid out apart, an empty line between them and those before, and
    /// hands them on.
    pub(crate) fn append_blocks<B: Block>(&mut self, part: Part) -> anyhow::Result<()> {
        if part.written > 0 {
            if self.format == Format::Table && self.written > 0 {
                self.output.line("")?;
            }
            self.append_under(B::COLUMNS, part)?;
        }
        Ok(())
    }

    /// Writes rows that were laid out apart under columns that are known only now.
    pub(crate) fn append_under(&mut self, columns: &[&str], part: Part) -> anyhow::Result<()> {
        if part.written > 0 {
            self.header(columns)?;
            self.table.extend(part.table);
            self.written += part.written;
            self.output.append(part.output, self.format)?;
        }
        Ok(())
    }

    /// How many records were written.
    pub(crate) fn written(&self) -> usize {
        self.written
    }

    /// Hands on what is still buffered, for whoever reads along.
    pub(crate) fn flush(&mut self) -> anyhow::Result<()> {
        Ok(self.output.flush()?)
    }

    /// Ends rows: a table is laid out, unless it is empty and was begun without a header.
    pub(crate) fn end_rows<R: Row>(self) -> anyhow::Result<()> {
        self.end_under(R::COLUMNS, R::TABLE_COLUMNS)
    }

    /// Ends blocks.
    pub(crate) fn end_blocks<B: Block>(mut self) -> anyhow::Result<()> {
        self.header(B::COLUMNS)?;
        self.end()
    }

    /// Ends records of [`Output::json_records`].
    pub(crate) fn end_records(self) -> anyhow::Result<()> {
        self.end()
    }

    /// Ends rows under columns that are known only now, of which a table has some.
    pub(crate) fn end_under(
        mut self,
        columns: &[&str],
        table_columns: &[&str],
    ) -> anyhow::Result<()> {
        let is_begun = self.has_header || self.written > 0;
        self.header(columns)?;
        if self.format == Format::Table && is_begun {
            self.output.table(table_columns, std::mem::take(&mut self.table))?;
        }
        self.end()
    }

    /// Hands on what is still buffered: whoever reads along has all before anything is said of it.
    fn end(self) -> anyhow::Result<()> {
        if matches!(self.format, Format::Json | Format::Jsonl) {
            self.output.end_records(self.format)?;
        }
        Ok(self.output.flush()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Report {
        zulu: f32,
        alpha: Option<u64>,
        names: [&'static str; 2],
        nested: [[u8; 2]; 1],
    }

    const REPORT: Report = Report { zulu: 0.95, alpha: None, names: ["a", "b"], nested: [[1, 2]] };

    #[test]
    fn a_report_without_rows_is_one_row_under_its_members_in_their_order() {
        let Delimited { columns, rows } = one_row(&REPORT);
        assert_eq!(columns, ["zulu", "alpha", "names", "nested"]);
        assert_eq!(rows, [["0.95", "", "a; b", "[[1,2]]"]]);
        assert_eq!(fields_of(&REPORT, &["names", "zulu"]), ["a; b", "0.95"]);
    }

    #[test]
    #[should_panic(expected = "a column is a member of the record")]
    fn a_column_has_the_name_of_a_member() {
        fields_of(&REPORT, &["Zulu"]);
    }

    #[derive(Serialize)]
    struct Numbers {
        double: f64,
        single: f32,
        list: [f64; 2],
    }

    impl Row for Numbers {
        const COLUMNS: &'static [&'static str] = &["double", "single", "list"];
    }

    #[test]
    fn a_number_has_the_digits_that_json_gives_it() {
        // Read again without care, the first ends in 596.
        let double = 0.934_223_213_668_559_5;
        let numbers = Numbers { double, single: 0.1, list: [double, 1e-7] };
        let json = serde_json::to_string(&numbers).unwrap();
        assert_eq!(
            json,
            "{\"double\":0.9342232136685595,\"single\":0.1,\"list\":[0.9342232136685595,1e-7]}"
        );
        let fields = fields_of(&numbers, Numbers::COLUMNS);
        assert_eq!(fields, ["0.9342232136685595", "0.1", "0.9342232136685595; 1e-7"]);
    }
}
