//! Sets as a table with a row for each FE label, and the table as CSV.
//!
//! A set without FE labels has one row with empty FE columns. Spans count code points of `text`.

use std::io::Write;

use super::{ExchangeError, Result};

/// A value of a table.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    Text(Option<String>),
    Integer(Option<i64>),
    Number(Option<f64>),
}

trait Value {
    fn cell(&self) -> Cell;
}

impl Value for String {
    fn cell(&self) -> Cell {
        Cell::Text(Some(self.clone()))
    }
}

impl Value for Option<String> {
    fn cell(&self) -> Cell {
        Cell::Text(self.clone())
    }
}

impl Value for Option<i64> {
    fn cell(&self) -> Cell {
        Cell::Integer(*self)
    }
}

impl Value for Option<f64> {
    fn cell(&self) -> Cell {
        Cell::Number(*self)
    }
}

macro_rules! row {
    ($($(#[$doc:meta])* $field:ident: $type:ty,)*) => {
        /// A row: an FE label with its set.
        #[derive(Debug, Clone, PartialEq, Default)]
        pub struct LabelRow {
            $($(#[$doc])* pub $field: $type,)*
        }

        impl LabelRow {
            /// Names of the columns.
            pub const COLUMNS: &'static [&'static str] = &[$(stringify!($field),)*];

            /// The values, in order of [`COLUMNS`](Self::COLUMNS).
            pub(super) fn cells(&self) -> Vec<Cell> {
                vec![$(self.$field.cell(),)*]
            }
        }
    };
}

row! {
    /// Name of the release.
    release: String,
    /// Id of the set.
    set: String,
    /// Where the set comes from.
    origin: String,
    /// Status of the set.
    status: String,
    /// What is known about its FEs.
    fe_status: String,
    /// Name of the frame.
    frame: String,
    /// Name of the LU.
    lu: String,
    /// Id of the sentence.
    sentence: String,
    /// Name of the document; of a generated set its seed's, of a carried one its source's.
    document: Option<String>,
    /// The part of the data.
    split: Option<String>,
    /// The sentence.
    text: String,
    /// The target's text, pieces joined by a space.
    trigger: String,
    /// The target's pieces, `start-end`, joined by `;`.
    targets: String,
    /// Name of the FE.
    fe: Option<String>,
    /// Core type of the FE.
    core_type: Option<String>,
    /// Rank of the FE's layer.
    rank: Option<i64>,
    /// First code point of the FE.
    start: Option<i64>,
    /// One past the last code point of the FE.
    end: Option<i64>,
    /// What the FE covers.
    fe_text: Option<String>,
    /// Kind of null instantiation.
    ni: Option<String>,
    /// Grammatical function.
    gf: Option<String>,
    /// Phrase type.
    pt: Option<String>,
    /// The set that a generated one grew from, or a carried one was carried from.
    seed: Option<String>,
    /// Round of a generated set.
    round: Option<i64>,
    /// Flags of a generated set, joined by `;`.
    flags: Option<String>,
    /// Paraphrase score of a generated set; lower is better.
    paraphrase: Option<f64>,
    /// Aligner score of a generated or carried set; higher is better.
    aligner: Option<f64>,
    /// Score of the precision filter for a generated set; higher is better.
    p: Option<f64>,
    /// Score of the recall filter for a generated set; higher is better.
    r: Option<f64>,
    /// How likely the frame is, by a frame model, for a set that one was asked of.
    frame_fit: Option<f64>,
    /// How likely the target evokes the frame, by a verifier, for a set that it was asked of.
    evokes: Option<f64>,
    /// How likely the text says what its source says, by a verifier.
    same_meaning: Option<f64>,
    /// Negative log-likelihood per token of the source, given the text; lower is better.
    reverse: Option<f64>,
}

/// Writes the table as comma-separated values (RFC 4180), its header first.
pub struct CsvTable<W: Write> {
    out: csv::Writer<W>,
}

impl<W: Write> CsvTable<W> {
    /// Begins the table.
    ///
    /// # Errors
    /// When the output fails; so for every function here.
    pub fn new(out: W) -> Result<Self> {
        let mut out = csv::Writer::from_writer(out);
        out.write_record(LabelRow::COLUMNS).map_err(write_error)?;
        Ok(Self { out })
    }

    /// Writes a row.
    pub fn row(&mut self, row: &LabelRow) -> Result<()> {
        for cell in row.cells() {
            let field = match cell {
                Cell::Text(text) => text.unwrap_or_default(),
                Cell::Integer(number) => number.map_or(String::new(), |number| number.to_string()),
                Cell::Number(number) => number.map_or(String::new(), |number| number.to_string()),
            };
            self.out.write_field(field).map_err(write_error)?;
        }
        self.out.write_record(None::<&[u8]>).map_err(write_error)
    }

    /// Ends the table.
    pub fn finish(mut self) -> Result<()> {
        Ok(self.out.flush()?)
    }
}

fn write_error(error: csv::Error) -> ExchangeError {
    match error.into_kind() {
        csv::ErrorKind::Io(source) => source.into(),
        // Fields are written as they are, and every row has as many.
        other => std::io::Error::other(format!("{other:?}")).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_comes_back_as_it_was_whatever_stands_in_it() {
        let mut out = Vec::new();
        let mut table = CsvTable::new(&mut out).unwrap();
        let row = LabelRow {
            text: "a \"b\", c\r\nd \u{1F600}".to_owned(),
            start: Some(-1),
            aligner: Some(0.25),
            p: Some(0.75),
            ..LabelRow::default()
        };
        table.row(&row).unwrap();
        table.finish().unwrap();
        let mut reader = csv::Reader::from_reader(out.as_slice());
        assert_eq!(reader.headers().unwrap().iter().collect::<Vec<_>>(), LabelRow::COLUMNS);
        let record = reader.records().next().unwrap().unwrap();
        let at = |name: &str| LabelRow::COLUMNS.iter().position(|column| *column == name).unwrap();
        assert_eq!(&record[at("text")], row.text);
        assert_eq!((&record[at("start")], &record[at("aligner")]), ("-1", "0.25"));
        assert_eq!((&record[at("p")], &record[at("r")]), ("0.75", ""));
        assert_eq!(&record[at("fe")], "");
    }
}
