//! The columns that `query --fields` shows: fields of the query language, and the columns of
//! delimited output that are none.

use anyhow::bail;
use fnstore::database::DatabaseError;
use fnstore::query::{Field, listed, nearest};
use fnstore::search::{AnswerRecord, Match, Value};
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use super::hit;
use crate::cli::print::render::Block as _;

/// The column of output that asks for a set's document; its part is a field.
const DOCUMENT: &str = "document";

/// A column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Column {
    /// The values of a field.
    Field(Field),
    /// A column of [`AnswerRecord::COLUMNS`], by its place there.
    Output(usize),
}

impl Column {
    /// Reads a list such as `id,frame,trigger`.
    pub(crate) fn parse_list(text: &str) -> anyhow::Result<Vec<Self>> {
        let mut columns = Vec::new();
        for (at, name) in listed(text) {
            let column = Self::parse(name, at)?;
            if columns.iter().any(|other: &Self| other.name() == column.name()) {
                bail!(
                    "field `{name}` stands twice, again at column {at}; expected each field once"
                );
            }
            columns.push(column);
        }
        Ok(columns)
    }

    fn parse(name: &str, at: usize) -> anyhow::Result<Self> {
        if Field::from_name(name).is_some() {
            return Ok(Self::Field(Field::with_value(name, at).map_err(DatabaseError::from)?));
        }
        if let Some(place) = AnswerRecord::COLUMNS.iter().position(|column| *column == name) {
            return Ok(Self::Output(place));
        }
        let fields = Field::ALL.iter().filter(|field| field.has_value()).map(|field| field.name());
        match nearest(name, fields.chain(AnswerRecord::COLUMNS.iter().copied())) {
            Some(near) => bail!("unknown field `{name}` at column {at}; did you mean `{near}`?"),
            None => bail!(
                "unknown field `{name}` at column {at}; `fnstore query --help` lists the fields"
            ),
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Field(field) => field.name(),
            Self::Output(place) => AnswerRecord::COLUMNS[place],
        }
    }
}

/// What stands in one column of one row.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Cell {
    Empty,
    Text(String),
    Integer(u64),
    Number(f32),
    /// The values of a field that can have several.
    Many(Vec<Cell>),
}

impl From<Value> for Cell {
    fn from(value: Value) -> Self {
        match value {
            Value::Integer(number) => Self::Integer(number),
            Value::Number(number) => Self::Number(number),
            other => Self::Text(other.to_string()),
        }
    }
}

impl Cell {
    /// As a delimited field; several values are parted by `; `.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Empty => String::new(),
            Self::Text(text) => text.clone(),
            Self::Integer(number) => number.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Many(cells) => cells.iter().map(Self::text).collect::<Vec<_>>().join("; "),
        }
    }
}

/// A row; as JSON, an object with a member for each column.
pub(crate) struct Cells<'a> {
    columns: &'a [Column],
    pub(crate) cells: Vec<Cell>,
}

impl<'a> Cells<'a> {
    /// The row of a set. `None` when its sentence is gone, and a column needs it.
    pub(crate) fn new(mut found: Match<'_>, columns: &'a [Column]) -> anyhow::Result<Option<Self>> {
        let mut cells = Vec::with_capacity(columns.len());
        for column in columns {
            let Column::Field(field) = column else {
                cells.push(Cell::Empty);
                continue;
            };
            let mut values = found.values(*field)?.into_iter().map(Cell::from);
            cells.push(if field.has_many_values() {
                Cell::Many(values.collect())
            } else {
                values.next().unwrap_or(Cell::Empty)
            });
        }
        if columns.iter().any(|column| matches!(column, Column::Output(_))) {
            if columns.iter().all(|column| column.name() != DOCUMENT) {
                found = found.without_place();
            }
            let Some(answer) = found.into_answer()? else { return Ok(None) };
            let fields = hit::fields(&hit::record(&answer)?);
            for (column, cell) in columns.iter().zip(&mut cells) {
                if let Column::Output(place) = column {
                    let text = fields[*place].clone();
                    *cell = if text.is_empty() { Cell::Empty } else { Cell::Text(text) };
                }
            }
        }
        Ok(Some(Self { columns, cells }))
    }

    pub(crate) fn texts(&self) -> impl Iterator<Item = String> {
        self.cells.iter().map(Cell::text)
    }
}

impl Serialize for Cells<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.columns.len()))?;
        for (column, cell) in self.columns.iter().zip(&self.cells) {
            map.serialize_entry(column.name(), cell)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_output_columns_are_known_by_name() {
        let columns = Column::parse_list("id, elements,round").unwrap();
        let names: Vec<&str> = columns.iter().map(|column| column.name()).collect();
        assert_eq!(names, ["id", "elements", "round"]);
        for (list, message) in [
            ("id,elemnts", "unknown field `elemnts` at column 4; did you mean `elements`?"),
            ("xyzzy", "unknown field `xyzzy` at column 1; `fnstore query --help` lists the fields"),
            ("id,fe,id", "field `id` stands twice, again at column 7; expected each field once"),
            (
                "id,since",
                "field `since` (column 4) has no value that can be shown, counted or compared",
            ),
        ] {
            assert_eq!(Column::parse_list(list).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn a_row_is_an_object_in_the_order_of_its_columns() {
        let columns = [Column::Field(Field::Fe), Column::Field(Field::Aligner)];
        let many = Cell::Many(vec![Cell::Text("A".to_owned()), Cell::Text("B".to_owned())]);
        let row = Cells { columns: &columns, cells: vec![many, Cell::Number(0.95)] };
        assert_eq!(serde_json::to_string(&row).unwrap(), r#"{"fe":["A","B"],"aligner":0.95}"#);
        assert_eq!(row.texts().collect::<Vec<_>>(), ["A; B", "0.95"]);
    }
}
