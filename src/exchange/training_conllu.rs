//! Sentences for training in CoNLL-U Plus: a block for each sentence, a line for each token.
//!
//! Ten columns are those of CoNLL-U, four are ours: LUs, frames and numbers of the sets whose
//! target a token belongs to, and its FE in each set. So every block has the same columns, however
//! many sets its sentence has.

use std::io::Write;

use serde_json::Value;

use super::loss::{Loss, LossLog};
use super::token_formats::{Column, columns, evoked, joined, masked};
use super::training::{HOLDS, TrainingSentence};
use super::{ExchangeError, Result};
use crate::text::CharIndex;

/// The columns, as the first line of a file names them.
const COLUMNS: &str =
    "ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC FN:LU FN:FRAME FN:SET FN:FE";

/// What comments say of each set, in the words of the JSON record.
const FACTS: [&str; 19] = [
    "origin",
    "status",
    "frame_id",
    "lu_id",
    "lu_status",
    "fe_status",
    "fes_complete",
    "seed",
    "source",
    "round",
    "flags",
    "paraphrase",
    "aligner",
    "p",
    "r",
    "frame_fit",
    "evokes",
    "same_meaning",
    "reverse",
];

/// Writes sentences in blocks.
pub(super) struct ConlluWriter<W> {
    pub(super) out: W,
}

impl<W: Write> ConlluWriter<W> {
    pub(super) fn new(mut out: W) -> Result<Self> {
        writeln!(out, "# global.columns = {COLUMNS}")?;
        Ok(Self { out })
    }

    /// Writes a sentence. `records` are the JSON records of its sets; a set without a target on a
    /// token is left out, and a sentence without a set is.
    pub(super) fn sentence(
        &mut self,
        of: &TrainingSentence,
        records: &Value,
        losses: &mut LossLog,
    ) -> Result<u64> {
        let columns = columns(&of.sets, &of.tokens, HOLDS, losses);
        if columns.is_empty() {
            return Ok(0);
        }
        self.comments(of, &columns, records)?;
        self.tokens(of, &columns)?;
        self.out.write_all(b"\n")?;
        let (text, tokens) = (of.sentence.text.as_str(), of.tokens.as_slice());
        if !tokens.windows(2).all(|pair| {
            let between = text.get(pair[0].span.end as usize..pair[1].span.start as usize);
            matches!(between, Some("" | " "))
        }) || text.trim() != text
        {
            losses.add(Loss::WhiteSpace);
        }
        Ok(columns.len() as u64)
    }

    fn tokens(&mut self, of: &TrainingSentence, columns: &[Column<'_>]) -> Result<()> {
        let text = of.sentence.text.as_str();
        let index = CharIndex::new(text);
        let is_masked = masked(&of.tokens, &of.unannotated);
        let tokens = of.tokens.as_slice();
        for (number, token) in tokens.iter().enumerate() {
            let [lus, frames, numbers] = evoked(columns, number, is_masked[number]);
            let roles: Vec<&str> =
                columns.iter().map(|column| column.roles[number].label.as_str()).collect();
            let form = token.span.of(text).unwrap_or_default();
            let tag = token.tag.as_deref().unwrap_or("_");
            let place = index.to_chars(token.span).map_err(|source| ExchangeError::Record {
                record: format!("sentence {}", of.sentence.id),
                source,
            })?;
            let is_joined =
                tokens.get(number + 1).is_some_and(|next| next.span.start == token.span.end);
            let space = if is_joined { "SpaceAfter=No|" } else { "" };
            writeln!(
                self.out,
                "{}\t{form}\t{}\t_\t{tag}\t_\t_\t_\t_\t{space}start_char={}|end_char={}\t{lus}\t{frames}\t{numbers}\t{}",
                number + 1,
                token.lemma,
                place.start,
                place.end,
                joined(&roles),
            )?;
        }
        Ok(())
    }

    /// The lines before a block: what the sentence is, and what each of its sets is, in order.
    fn comments(
        &mut self,
        of: &TrainingSentence,
        columns: &[Column<'_>],
        records: &Value,
    ) -> Result<()> {
        let text = of.sentence.text.replace(['\n', '\r', '\t'], " ");
        writeln!(self.out, "# sent_id = {}", of.sentence.id)?;
        writeln!(self.out, "# text = {text}")?;
        writeln!(self.out, "# release = {}", of.release_name)?;
        if let Some(split) = of.split {
            writeln!(self.out, "# split = {}", split.as_str())?;
        }
        writeln!(self.out, "# complete = {}", of.is_complete())?;
        let ids: Vec<String> = columns.iter().map(|column| column.of.set.id.to_string()).collect();
        writeln!(self.out, "# set_id = {}", ids.join(" "))?;
        let records: Vec<&Value> = ids
            .iter()
            .filter_map(|id| records.as_array()?.iter().find(|record| record["id"] == **id))
            .collect();
        for fact in FACTS {
            let values: Vec<String> = records.iter().map(|record| written(&record[fact])).collect();
            if values.iter().any(|value| value != "_") {
                writeln!(self.out, "# {fact} = {}", values.join(" "))?;
            }
        }
        Ok(())
    }
}

/// A value of a comment, without spaces; `_` for none.
fn written(value: &Value) -> String {
    match value {
        Value::String(text) if !text.is_empty() => text.replace(char::is_whitespace, "-"),
        Value::Bool(is_so) => is_so.to_string(),
        Value::Number(number) => number.to_string(),
        Value::Array(all) if !all.is_empty() => {
            all.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(";")
        }
        _ => "_".to_owned(),
    }
}
