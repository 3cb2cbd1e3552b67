//! Commands that answer an input line by line: read in batches, a record for each line, and for a
//! bad line its error in the record's place.

use serde::Serialize;

use super::line_reader::{self, Input, LineError};
use crate::cli::Outcome;
use crate::cli::error::LinesFailed;
use crate::cli::print::output::{Format, Output};
use crate::cli::print::render::{Block, fields_in};
use fnstore::model::Positive;

/// Lines that are worked on together.
const BATCH: usize = 64;

/// What a line asks for.
pub(crate) trait LineItem: Sized {
    /// Reads a line that is not blank, as JSON where the lines are.
    fn read(line: &str, is_json: bool) -> Result<Self, LineError>;
}

/// What a command does with lines.
pub(crate) trait LineTask {
    /// What a line asks for.
    type Item: LineItem;
    /// What is written for it.
    type Record: Serialize;

    /// What was to be done, as in "2 of 9 lines could not be scored".
    const DONE: &'static str;

    /// Columns of delimited output: members of the record, and last `error`, the code of what is
    /// wrong with a line.
    const COLUMNS: &'static [&'static str];

    /// The records of items, which come with the numbers of their lines, in their order.
    fn answer(
        &mut self,
        items: Vec<(u64, Self::Item)>,
    ) -> anyhow::Result<Vec<Result<Self::Record, LineError>>>;

    /// Does what is to be done after the last line.
    fn end(&mut self) -> anyhow::Result<()> {
        Ok(())
    }

    /// A record as a line for reading; `None` where it is written as JSON.
    fn text(record: &Self::Record) -> Option<String>;
}

/// What is written for a line.
#[derive(Serialize)]
#[serde(untagged)]
enum Answered<T: LineTask> {
    Record(T::Record),
    Failed {
        line: Positive,
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<serde_json::Value>,
        error: LineError,
    },
}

impl<T: LineTask> Block for Answered<T> {
    const COLUMNS: &'static [&'static str] = T::COLUMNS;

    fn rows(&self) -> Vec<Vec<String>> {
        let mut row = fields_in(self, T::COLUMNS);
        if let Self::Failed { error, .. } = self
            && let Some(last) = row.last_mut()
        {
            *last = error.code.to_owned();
        }
        vec![row]
    }

    fn lay_out(&self, output: &mut Output) -> anyhow::Result<()> {
        match self {
            Self::Record(record) => match T::text(record) {
                Some(text) => Ok(output.line(&text)?),
                None => output.json(self),
            },
            Self::Failed { line, error, .. } => {
                Ok(output.line(&format!("! line {line}: {} ({})", error.message, error.code))?)
            }
        }
    }
}

/// Answers every line, in order.
pub(crate) fn run<T: LineTask>(
    mut task: T,
    mut lines: Input,
    output: &mut Output,
) -> anyhow::Result<Outcome> {
    let mut records = output.records(Format::Jsonl);
    let (mut read, mut failed) = (0, 0);
    loop {
        // The lines with what is wrong with them, and the items of the good ones.
        let (mut batch, mut items) = (Vec::new(), Vec::new());
        while batch.len() < BATCH {
            let Some((number, line)) = lines.next()? else { break };
            let is_json = lines.is_json();
            let item = line.as_deref().map_err(Clone::clone);
            let item = item.and_then(|line| T::Item::read(line_reader::filled(line)?, is_json));
            // Of a line that fails later the mark is wanted, too.
            let json = line.ok().filter(|_| is_json);
            batch.push((number, json, item.map(|item| items.push((number, item))).err()));
        }
        if batch.is_empty() {
            break;
        }
        read += batch.len() as u64;
        let mut answers = task.answer(items)?.into_iter();
        for (line, json, error) in batch {
            let answer = match error {
                None => answers.next().expect("every good line has been answered"),
                Some(error) => Err(error),
            };
            failed += u64::from(answer.is_err());
            records.block(&match answer {
                Ok(record) => Answered::<T>::Record(record),
                Err(error) => {
                    let id = json.as_deref().and_then(line_reader::id_of);
                    Answered::Failed { line, id, error }
                }
            })?;
        }
    }
    records.end_blocks::<Answered<T>>()?;
    task.end()?;
    if failed > 0 {
        return Err(LinesFailed { done: T::DONE, failed, lines: read, told: false }.into());
    }
    Ok(Outcome::of(read > 0))
}
