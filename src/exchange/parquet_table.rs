//! The table of sets and FEs as a Parquet file, compressed with zstd.
//!
//! Rows are gathered into row groups, so memory is bounded whatever the number of rows. Every
//! column is optional: what a set has not is null.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};

use super::rows::{Cell, LabelRow};
use super::{ExchangeError, Result};

/// Rows of a row group: some 20 MB of sentences in memory.
const GROUP: usize = 50_000;

/// Writes the table as Parquet.
pub struct ParquetTable<W: Write + Send> {
    out: SerializedFileWriter<W>,
    /// The rows of the group being gathered, by column.
    columns: Vec<Vec<Cell>>,
}

impl<W: Write + Send> ParquetTable<W> {
    /// Begins the table.
    ///
    /// # Errors
    /// When the output fails; so for every function here.
    pub fn new(out: W) -> Result<Self> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_created_by(format!("fnstore {}", env!("CARGO_PKG_VERSION")))
            .build();
        let schema = schema().map_err(table_error)?;
        let out = SerializedFileWriter::new(out, schema, Arc::new(properties));
        Ok(Self {
            out: out.map_err(table_error)?,
            columns: vec![Vec::new(); LabelRow::COLUMNS.len()],
        })
    }

    /// Writes a row.
    pub fn row(&mut self, row: &LabelRow) -> Result<()> {
        for (column, cell) in self.columns.iter_mut().zip(row.cells()) {
            column.push(cell);
        }
        if self.columns[0].len() >= GROUP {
            self.write_group().map_err(table_error)?;
        }
        Ok(())
    }

    /// Ends the table.
    pub fn finish(mut self) -> Result<()> {
        if !self.columns[0].is_empty() {
            self.write_group().map_err(table_error)?;
        }
        self.out.close().map_err(table_error)?;
        Ok(())
    }

    fn write_group(&mut self) -> std::result::Result<(), ParquetError> {
        let mut group = self.out.next_row_group()?;
        for cells in &mut self.columns {
            let Some(mut column) = group.next_column()? else { break };
            write_column(&mut column, std::mem::take(cells))?;
            column.close()?;
        }
        group.close()?;
        Ok(())
    }
}

fn write_column(
    column: &mut SerializedColumnWriter<'_>,
    cells: Vec<Cell>,
) -> std::result::Result<(), ParquetError> {
    let (mut texts, mut integers, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
    let mut levels = Vec::with_capacity(cells.len());
    let kind = cells.first().map(ColumnType::of);
    for cell in cells {
        let is_there = match cell {
            Cell::Text(text) => {
                let is_there = text.is_some();
                texts.extend(text.map(|text| ByteArray::from(text.into_bytes())));
                is_there
            }
            Cell::Integer(number) => {
                integers.extend(number);
                number.is_some()
            }
            Cell::Number(number) => {
                numbers.extend(number);
                number.is_some()
            }
        };
        levels.push(i16::from(is_there));
    }
    let levels = Some(levels.as_slice());
    match kind {
        Some(ColumnType::Text) => {
            column.typed::<ByteArrayType>().write_batch(&texts, levels, None)?;
        }
        Some(ColumnType::Integer) => {
            column.typed::<Int64Type>().write_batch(&integers, levels, None)?;
        }
        Some(ColumnType::Number) => {
            column.typed::<DoubleType>().write_batch(&numbers, levels, None)?;
        }
        None => {}
    }
    Ok(())
}

/// Type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ColumnType {
    Text,
    Integer,
    Number,
}

impl ColumnType {
    fn of(cell: &Cell) -> Self {
        match cell {
            Cell::Text(_) => Self::Text,
            Cell::Integer(_) => Self::Integer,
            Cell::Number(_) => Self::Number,
        }
    }
}

fn schema() -> std::result::Result<TypePtr, ParquetError> {
    let cells = LabelRow::default().cells();
    let columns = LabelRow::COLUMNS.iter().zip(&cells).map(|(name, cell)| {
        let (physical, logical) = match ColumnType::of(cell) {
            ColumnType::Text => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
            ColumnType::Integer => (PhysicalType::INT64, None),
            ColumnType::Number => (PhysicalType::DOUBLE, None),
        };
        let column = Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical)
            .build()?;
        Ok(Arc::new(column))
    });
    let columns = columns.collect::<std::result::Result<Vec<_>, ParquetError>>()?;
    Ok(Arc::new(Type::group_type_builder("sets").with_fields(columns).build()?))
}

/// The writer's error; one of the output keeps its kind, so that a closed pipe is known as one.
pub(super) fn table_error(error: ParquetError) -> ExchangeError {
    match error {
        ParquetError::External(source) => match source.downcast::<std::io::Error>() {
            Ok(source) => ExchangeError::Write { source: *source },
            Err(source) => ExchangeError::Table { reason: source.to_string() },
        },
        other => ExchangeError::Table { reason: other.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    use super::*;

    #[test]
    fn a_table_comes_back_as_it_was_over_several_row_groups() {
        let mut file = tempfile::tempfile().unwrap();
        let mut table = ParquetTable::new(&mut file).unwrap();
        let rows: Vec<LabelRow> = (0..GROUP as i64 + 3)
            .map(|number| LabelRow {
                text: format!("\u{1F600} {number}"),
                start: (number % 2 == 0).then_some(number),
                aligner: (number % 3 == 0).then_some(0.5),
                p: (number % 4 == 0).then_some(0.75),
                r: (number % 4 == 0).then_some(0.125),
                ni: (number % 5 == 0).then(|| "INI".to_owned()),
                ..LabelRow::default()
            })
            .collect();
        rows.iter().for_each(|row| table.row(row).unwrap());
        table.finish().unwrap();

        let reader = SerializedFileReader::new(file).unwrap();
        assert_eq!(reader.num_row_groups(), 2);
        let at = |name: &str| LabelRow::COLUMNS.iter().position(|column| *column == name).unwrap();
        let mut read = 0;
        for (row, back) in rows.iter().zip(reader.get_row_iter(None).unwrap()) {
            let back = back.unwrap();
            assert_eq!(*back.get_string(at("text")).unwrap(), row.text);
            assert_eq!(back.get_long(at("start")).ok(), row.start);
            assert_eq!(back.get_double(at("aligner")).ok(), row.aligner);
            assert_eq!(back.get_double(at("p")).ok(), row.p);
            assert_eq!(back.get_double(at("r")).ok(), row.r);
            assert_eq!(back.get_string(at("ni")).ok(), row.ni.as_ref());
            read += 1;
        }
        assert_eq!(read, rows.len());
    }

    #[test]
    fn an_empty_table_is_a_table() {
        let mut file = tempfile::tempfile().unwrap();
        ParquetTable::new(&mut file).unwrap().finish().unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        assert_eq!(reader.metadata().file_metadata().num_rows(), 0);
        let names: Vec<_> = reader.metadata().file_metadata().schema_descr().columns().to_vec();
        assert_eq!(names.len(), LabelRow::COLUMNS.len());
    }
}
