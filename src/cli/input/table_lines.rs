//! Lines with named fields: tab-separated under names, or JSON objects.
//!
//! A line that cannot be used is told with its number and a code, and left out; the others go on.

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;

use super::line_reader::{self, Input, LineError};
use crate::cli::error::{LinesFailed, NoNames};
use crate::cli::print::output::tell;

/// The fields of a line by their names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Fields(HashMap<String, String>);

impl Fields {
    /// A field that must be there and may not be empty.
    pub(crate) fn required(&self, name: &str) -> Result<&str, LineError> {
        match self.0.get(name).map(|value| value.trim()) {
            None => {
                Err(LineError::new("E-key", format!("the line has no `{name}`: expected a text")))
            }
            Some("") => Err(LineError::new("E-empty", format!("`{name}` is empty"))),
            Some(value) => Ok(value),
        }
    }

    /// A field that may be absent; empty then.
    pub(crate) fn optional(&self, name: &str) -> &str {
        self.0.get(name).map_or("", |value| value.trim())
    }
}

/// Reads such lines one by one.
pub(crate) struct TableLines {
    input: Input,
    /// The names of the columns; none before their line, and none for JSON lines.
    columns: Option<Vec<String>>,
    /// Names without which no line can be used.
    needed: Vec<String>,
    name: String,
    read: u64,
    failed: u64,
}

impl TableLines {
    /// Opens a file, or standard input for none and for `-`. Columns of the names `needed` must be
    /// there.
    pub(crate) fn open(file: Option<&Path>, needed: &[&str]) -> anyhow::Result<Self> {
        let needed = needed.iter().map(|&name| name.to_owned()).collect();
        let name = file.map_or("standard input".to_owned(), |file| file.display().to_string());
        let input = line_reader::open(file)?;
        Ok(Self { input, columns: None, needed, name, read: 0, failed: 0 })
    }

    /// The next line that `read` can use, with its number; `None` at the end.
    pub(crate) fn next<T>(
        &mut self,
        mut read: impl FnMut(&Fields) -> Result<T, LineError>,
    ) -> anyhow::Result<Option<(u64, T)>> {
        while let Some((number, line)) = self.input.next()? {
            if let (Err(why), true) = (&line, self.awaits_names()) {
                let LineError { code, message } = why.clone();
                return Err(NoNames { code, name: self.name.clone(), line: number, message }.into());
            }
            let fields = line.and_then(|line| self.fields(&line));
            let Some(fields) = fields.transpose() else {
                self.check_names(number)?;
                continue;
            };
            self.read += 1;
            match fields.and_then(|fields| read(&fields)) {
                Ok(item) => return Ok(Some((number, item))),
                Err(error) => self.leave_out(number, &error),
            }
        }
        Ok(None)
    }

    /// Leaves a line out that was read and turns out to be of no use.
    pub(crate) fn leave_out(&mut self, number: u64, LineError { code, message }: &LineError) {
        self.failed += 1;
        tell(&format!("{} line {number}: {code}: {message}", self.name));
    }

    /// Refuses a line of names that lacks one.
    fn check_names(&self, line: u64) -> Result<(), NoNames> {
        let names = self.columns.as_deref().unwrap_or_default();
        if self.needed.iter().all(|name| names.contains(name)) {
            return Ok(());
        }
        let message =
            format!("the line has `{}`: expected {}", names.join(", "), self.needed.join(", "));
        Err(NoNames { code: "E-columns", name: self.name.clone(), line, message })
    }

    /// Whether the line that was read last should be that of names.
    fn awaits_names(&self) -> bool {
        self.columns.is_none() && !self.input.is_json()
    }

    /// The fields of a line; none of the line of names.
    fn fields(&mut self, line: &str) -> Result<Option<Fields>, LineError> {
        let text = line_reader::filled(line)?;
        if self.input.is_json() {
            return of_json(text).map(Some);
        }
        let Some(columns) = &self.columns else {
            self.columns = Some(text.split('\t').map(|name| name.trim().to_owned()).collect());
            return Ok(None);
        };
        let cells: Vec<&str> = text.split('\t').collect();
        if cells.len() != columns.len() {
            let message = format!(
                "the line has `{}` columns: expected {}, {}",
                cells.len(),
                columns.len(),
                columns.join(", ")
            );
            return Err(LineError::new("E-columns", message));
        }
        let cells = cells.into_iter().map(str::to_owned);
        Ok(Some(Fields(columns.iter().cloned().zip(cells).collect())))
    }

    /// Number of lines read so far, the line of names not counted.
    pub(crate) fn count(&self) -> u64 {
        self.read
    }

    /// An error where lines were left out.
    pub(crate) fn finish(self, done: &'static str) -> anyhow::Result<()> {
        match self.failed {
            0 => Ok(()),
            failed => Err(LinesFailed { done, failed, lines: self.read, told: true }.into()),
        }
    }
}

fn of_json(text: &str) -> Result<Fields, LineError> {
    let object: serde_json::Map<String, Value> =
        serde_json::from_str(text).map_err(|error| LineError::json(&error))?;
    let fields = object.into_iter().map(|(name, value)| match value {
        Value::String(text) => (name, text),
        Value::Null => (name, String::new()),
        other => (name, other.to_string()),
    });
    Ok(Fields(fields.collect()))
}
