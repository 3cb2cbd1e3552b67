//! Edit scripts: a transaction written down, one edit a line of JSON.
//!
//! A line names records as people do: frames and LUs by name, FEs by their name in the frame, sets
//! and sentences by their written id. What an earlier line added is named by `@` and the name that
//! the line gave it (`"as"`). Offsets count code points.

mod apply;
mod operation;
mod resolve;

use std::collections::{BTreeSet, HashMap};
use std::io::BufRead;

use serde::Serialize;

use operation::{Judge, Operation};

use super::{EditError, Result, Transaction};
use crate::database::{DatabaseError, ScriptError};
use crate::exchange::{ExchangeError, Lines};
use crate::model::{
    AnnotationSetId, CorpusId, DocumentId, EVOKES, FrameId, Judgement, LuId, Positive, RelationId,
    SemTypeId, SentenceId,
};

/// Longest line that is read: far above the longest sentence, far below what fills the memory.
const LINE_LIMIT: usize = 16 << 20;

/// What a line did; as JSON `schema/edited.schema.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Done {
    /// The line, from 1.
    pub line: Positive,
    /// The operation, as in `add-set`.
    #[serde(rename = "op")]
    pub operation: &'static str,
    /// Id of the record, as written outside the store; an FE's and a judgement's are their names.
    pub id: String,
    /// What the script calls the record.
    #[serde(rename = "as")]
    pub called: Option<String>,
}

/// A record that a line added.
#[derive(Debug, Clone, Copy)]
enum Made {
    Frame(FrameId),
    LexUnit(FrameId, LuId),
    Relation(RelationId),
    SemType(SemTypeId),
    Document(CorpusId, DocumentId),
    Sentence(SentenceId),
    Set(AnnotationSetId),
}

/// A script being done.
pub struct Script<'t, 'a> {
    edits: &'t mut Transaction<'a>,
    made: HashMap<String, Made>,
    /// Who judges where a line does not say it.
    reviewer: Option<String>,
    /// Seconds since 1970 (UTC), for judgements without a time.
    now: u64,
    /// What was asked by the judgements so far.
    questions: BTreeSet<String>,
}

impl<'t, 'a> Script<'t, 'a> {
    /// A script that adds its edits to a transaction. A judgement whose line does not say who and
    /// when is `reviewer`'s of `now`, in seconds since 1970 (UTC).
    pub fn new(edits: &'t mut Transaction<'a>, reviewer: Option<String>, now: u64) -> Self {
        Self { edits, made: HashMap::new(), reviewer, now, questions: BTreeSet::new() }
    }

    /// Does the edits of a script, line by line; empty lines are skipped. Tells `done` of each.
    ///
    /// # Errors
    /// At the first line that is wrong: the transaction then holds the edits before it, and is best
    /// dropped.
    pub fn edit(&mut self, lines: impl BufRead, done: &mut dyn FnMut(Done)) -> Result<()> {
        each_line(lines, |line, text| {
            let operation: Operation = parse(line, text)?;
            let name = operation.name();
            let (id, called) = self.apply(operation).map_err(|error| at(line, error))?;
            done(Done { line, operation: name, id, called });
            Ok(())
        })
    }

    /// The questions of the judgements that were taken, as the lines name them.
    #[must_use]
    pub fn questions(&self) -> &BTreeSet<String> {
        &self.questions
    }

    /// Takes judgements, one a line: `set`, `score`, and where they are given `reviewer`, `note`
    /// and `time`. Tells `done` of each.
    ///
    /// # Errors
    /// As [`edit`](Self::edit).
    pub fn judge(&mut self, lines: impl BufRead, done: &mut dyn FnMut(Done)) -> Result<()> {
        each_line(lines, |line, text| {
            let judge: Judge = parse(line, text)?;
            let operation = Operation::Judge(judge);
            let name = operation.name();
            let (id, called) = self.apply(operation).map_err(|error| at(line, error))?;
            done(Done { line, operation: name, id, called });
            Ok(())
        })
    }
}

/// The sets and scores of judgements, one a line as [`Script::judge`] takes them, of whether
/// targets evoke their frames. Nothing is looked up or written.
///
/// # Errors
/// At the first line that is wrong.
pub fn scores_in(lines: impl BufRead) -> Result<Vec<(AnnotationSetId, u8)>> {
    let mut scores = Vec::new();
    each_line(lines, |line, text| {
        let Judge { set, score, question, .. } = parse(line, text)?;
        let wrong = |field, found: &str, expected: &str| {
            at(line, DatabaseError::from(EditError::value(field, found, expected)))
        };
        let id = AnnotationSetId::of_written(&set);
        let id = id.ok_or_else(|| wrong("set", &set, "an id as in `g1024`"))?;
        if score > Judgement::BEST {
            return Err(wrong("score", &score.to_string(), "0 to 100"));
        }
        if question.is_empty() || question == EVOKES {
            scores.push((id, score));
        }
        Ok(())
    })?;
    Ok(scores)
}

fn at(line: u64, error: DatabaseError) -> DatabaseError {
    ScriptError::Edit { line, source: Box::new(error) }.into()
}

fn parse<'de, T: serde::Deserialize<'de>>(line: u64, text: &'de str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| {
        // The reader's own line is always 1; what is left of it says the column.
        let reason = error.to_string().replace("line 1 column", "column");
        ScriptError::Syntax { line, reason }.into()
    })
}

fn each_line(lines: impl BufRead, mut take: impl FnMut(u64, &str) -> Result<()>) -> Result<()> {
    let mut lines = Lines::with_limit(lines, "the script".as_ref(), LINE_LIMIT);
    loop {
        let next = lines.line() + 1;
        let unreadable = |error| match error {
            ExchangeError::Read { source, .. } => {
                ScriptError::Read { line: next as u64, source }.into()
            }
            ExchangeError::Line { line, reason, .. } => {
                ScriptError::Syntax { line: line as u64, reason }.into()
            }
            other => DatabaseError::from(other),
        };
        if !lines.advance().map_err(unreadable)? {
            return Ok(());
        }
        take(lines.line() as u64, lines.text().trim())?;
    }
}
