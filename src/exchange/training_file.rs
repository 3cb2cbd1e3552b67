//! A file of training records, in one of their forms.

use std::io::Write;

use serde_json::Value;

use super::Result;
use super::loss::{Loss, LossLog};
use super::training::{SentenceRecord, TrainingFormat, TrainingSentence};
use super::training_conllu::ConlluWriter;
use super::training_table::TrainingTable;

/// A file of training records.
pub struct TrainingFile<W: Write + Send>(Form<W>);

enum Form<W: Write + Send> {
    Jsonl(W),
    Parquet(Box<TrainingTable<W>>),
    Conllu(ConlluWriter<W>),
}

impl<W: Write + Send> TrainingFile<W> {
    /// Begins a file of a form.
    ///
    /// # Errors
    /// When the output fails, or the form is not built into the program.
    pub fn new(out: W, format: TrainingFormat) -> Result<Self> {
        Ok(Self(match format {
            TrainingFormat::Jsonl => Form::Jsonl(out),
            TrainingFormat::Parquet => Form::Parquet(Box::new(TrainingTable::new(out)?)),
            TrainingFormat::Conllu => Form::Conllu(ConlluWriter::new(out)?),
        }))
    }

    /// Writes a sentence, and gives the number of its sets that were written.
    ///
    /// # Errors
    /// When a span does not fit the text, or the output fails.
    pub fn sentence(&mut self, of: &TrainingSentence, losses: &mut LossLog) -> Result<u64> {
        // Tokens hold less of a set than a record does, and count that themselves.
        let mut unused = LossLog::default();
        let counted = if matches!(self.0, Form::Conllu(_)) { &mut unused } else { &mut *losses };
        let record = SentenceRecord::new(of, counted)?;
        // By way of its text: a score of 32 bits is 0.99 there, and as a value of 64 0.9900000095.
        let as_value = || {
            let text = serde_json::to_vec(&record)?;
            serde_json::from_slice::<Value>(&text).map_err(std::io::Error::from)
        };
        let mut sets = of.sets.len() as u64;
        match &mut self.0 {
            Form::Jsonl(out) => {
                serde_json::to_writer(&mut *out, &record).map_err(std::io::Error::from)?;
                out.write_all(b"\n")?;
            }
            Form::Parquet(table) => table.row(&as_value()?)?,
            Form::Conllu(out) => sets = out.sentence(of, &as_value()?["sets"], losses)?,
        }
        if sets > 0 && !of.tokens.are_tagged() {
            losses.add(Loss::NoTags);
        }
        Ok(sets)
    }

    /// Ends the file.
    ///
    /// # Errors
    /// When the output fails.
    pub fn finish(self) -> Result<()> {
        match self.0 {
            Form::Jsonl(mut out) | Form::Conllu(ConlluWriter { mut out, .. }) => Ok(out.flush()?),
            Form::Parquet(table) => table.finish(),
        }
    }
}
