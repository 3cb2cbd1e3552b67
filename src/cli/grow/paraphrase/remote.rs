//! `fnstore paraphrase --endpoint`: a server rewrites line after line.

use std::io;
use std::sync::mpsc::Receiver;

use anyhow::Context as _;
use fnstore::endpoint::{Endpoint, EndpointError, Usage};
use fnstore::paraphrase::{ParaphraseError, RemoteParaphraser, RemoteRewrite, Settings};

use super::lines::{self, Item, Line};
use super::{Heuristics, Record, Tally};
use crate::cli::Outcome;
use crate::cli::input::line_reader::LineError;
use crate::cli::print::output::{Format, Output, counted, tell};
use crate::cli::print::render::Records;
use crate::cli::process::stop;

/// Rewrites lines until they, or a budget, end. Lines are written as soon as they are done.
pub(super) fn run(
    endpoint: Endpoint,
    lines: Receiver<io::Result<Line>>,
    heuristics: &Heuristics,
    settings: &Settings,
    output: &mut Output,
) -> anyhow::Result<Outcome> {
    let stopped = stop::on_interrupt("finishing the line in flight")?;
    let mut paraphraser = RemoteParaphraser::new(endpoint);
    let (mut tally, mut is_cut) = (Tally::default(), false);
    let mut records = output.records(Format::Jsonl);
    records.header(<Record as crate::cli::print::render::Block>::COLUMNS)?;
    for line in lines {
        let Line { number, content } = line.context("cannot read the next line")?;
        let record = match content {
            Err((id, error)) => Record::failed(number, id, error),
            Ok(mut item) => {
                heuristics.apply(&mut item.request);
                match rewritten(&mut paraphraser, number, item, settings) {
                    Err(ParaphraseError::Endpoint(EndpointError::Budget { .. })) => {
                        tell(&format!(
                            "the budget is used up; line {number} is the first not done"
                        ));
                        is_cut = true;
                        break;
                    }
                    other => other?,
                }
            }
        };
        write(&mut records, &mut tally, &record)?;
        if stopped() {
            break;
        }
    }
    records.end_blocks::<Record>()?;
    let Usage { requests, tokens, known } = paraphraser.usage();
    tell(&format!(
        "{}, {}, {}",
        counted(requests, "request"),
        counted(tokens, "token"),
        counted(known, "known answer")
    ));
    match stopped() {
        true => Ok(Outcome::Interrupted),
        false if is_cut && tally.lines == 0 => Ok(Outcome::NothingFound),
        false => tally.outcome(output),
    }
}

fn write(records: &mut Records<'_>, tally: &mut Tally, record: &Record) -> anyhow::Result<()> {
    tally.add(record);
    record.tell_lifted();
    records.block(record)?;
    records.flush()
}

/// What became of a line; an error that is not the line's own is handed back.
fn rewritten(
    paraphraser: &mut RemoteParaphraser,
    number: u64,
    item: Item,
    settings: &Settings,
) -> Result<Record, ParaphraseError> {
    let constraints = &item.request.constraints;
    if !constraints.prefix.trim().is_empty() {
        let message = "`prefix` asks for a beginning, which a server cannot be held to; expected \
                       none with --endpoint";
        let error = LineError::new("E-prefix", message.to_owned());
        return Ok(Record::failed(number, item.id, error));
    }
    if item.request.text.trim().is_empty() {
        let error = lines::refusal(fnstore::paraphrase::Refusal::Empty.into())?;
        return Ok(Record::failed(number, item.id, error));
    }
    let RemoteRewrite { paraphrases, lifted } =
        match paraphraser.paraphrase(&item.request, settings) {
            Ok(rewrite) => rewrite,
            Err(error) => {
                let error = lines::refusal(error)?;
                return Ok(Record::failed(number, item.id, error));
            }
        };
    let stop = paraphrases.is_empty().then_some("rejected");
    let server = Some(paraphraser.description());
    Ok(Record { server, ..Record::new(number, item, paraphrases, lifted, stop) })
}
