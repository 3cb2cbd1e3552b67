//! An answer of a query as delimited fields, and as lines for reading.

use anyhow::Context as _;
use fnstore::search::{Answer, AnswerRecord, ElementRecord, GenerationRecord};
use fnstore::text::drawing::{self, Mark};

use crate::cli::print::output::Output;
use crate::cli::print::render::Block;

/// The record of an answer.
pub(crate) fn record(answer: &Answer) -> anyhow::Result<AnswerRecord<'_>> {
    AnswerRecord::new(answer).with_context(|| format!("cannot show set {}", answer.set.id))
}

/// The row of delimited output; spans are written `start-end`, several things in a field are
/// parted by `; `.
pub(crate) fn fields(record: &AnswerRecord<'_>) -> Vec<String> {
    let targets: Vec<String> =
        record.targets.iter().map(|[start, end]| format!("{start}-{end}")).collect();
    let elements: Vec<String> = record.elements.iter().map(brief).collect();
    let made = |value: fn(&GenerationRecord) -> String| {
        record.generation.as_ref().map_or(String::new(), value)
    };
    vec![
        record.release.to_owned(),
        record.id.clone(),
        record.frame.to_owned(),
        record.lu.to_owned(),
        record.trigger.clone(),
        record.text.to_owned(),
        targets.join("; "),
        elements.join("; "),
        record.origin.to_owned(),
        record.status.to_owned(),
        record.document.unwrap_or_default().to_owned(),
        record.split.unwrap_or_default().to_owned(),
        made(|made| made.seed.clone()),
        made(|made| made.round.to_string()),
        made(|made| made.method.to_owned()),
        made(|made| made.paraphrase.map_or(String::new(), |score| score.to_string())),
        made(|made| made.aligner.to_string()),
        made(|made| made.p.map_or(String::new(), |score| score.to_string())),
        made(|made| made.r.map_or(String::new(), |score| score.to_string())),
        made(|made| made.flags.join("; ")),
    ]
}

impl Block for AnswerRecord<'_> {
    const COLUMNS: &'static [&'static str] = &[
        "release",
        "id",
        "frame",
        "lu",
        "trigger",
        "text",
        "targets",
        "elements",
        "origin",
        "status",
        "document",
        "split",
        "seed",
        "round",
        "method",
        "paraphrase",
        "aligner",
        "p",
        "r",
        "flags",
    ];

    fn rows(&self) -> Vec<Vec<String>> {
        vec![fields(self)]
    }

    fn lay_out(&self, output: &mut Output) -> anyhow::Result<()> {
        write_block(self.answer, output)
    }
}

/// `Name=text`, or `Name:INI` when nothing expresses it.
fn brief(element: &ElementRecord<'_>) -> String {
    let ElementRecord { name, rank, text, ni, .. } = *element;
    let rank = if rank > 1 { format!("[{rank}]") } else { String::new() };
    match (text, ni) {
        (Some(text), _) => format!("{name}{rank}={text}"),
        (None, Some(kind)) => format!("{name}{rank}:{kind}"),
        (None, None) => format!("{name}{rank}"),
    }
}

/// Columns that a drawing is moved in by.
const INDENT: usize = 4;

/// Writes an answer for reading: what it is, the sentence with its annotation drawn under it.
pub(crate) fn write_block(answer: &Answer, output: &mut Output) -> anyhow::Result<()> {
    output.headed(&format!("{}  {}", answer.frame, answer.lexunit), &answer.origin_line())?;
    write_drawing(&answer.sentence.text, &drawing::rows_of_set(&answer.set), output)?;
    if let Some(last) = answer.unexpressed_line() {
        output.line(&format!("{:INDENT$}{last}", ""))?;
    }
    Ok(())
}

/// Writes a text with rows of marks drawn under it, moved in.
pub(crate) fn write_drawing(
    text: &str,
    rows: &[Vec<Mark>],
    output: &mut Output,
) -> anyhow::Result<()> {
    let room = output.width() - INDENT;
    for line in drawing::draw(text, rows, room, output.has_color()) {
        output.drawn(INDENT, &line)?;
    }
    Ok(())
}
