//! Single records, as exports of JSON lines write them: what a follower of the store copies.

use crate::database::{Database, Result};
use crate::exchange::jsonl::{RecipeRecord, RecordWriter};
use crate::model::{AnnotationSet, AnnotationSetId, ReleaseId};
use crate::search::Catalog;
use crate::store::{Store, Subject};

/// Writes records one by one, as they are in the store now.
pub struct RecordLines<'a> {
    store: &'a Store,
    catalog: Catalog<'a>,
    writer: RecordWriter<Vec<u8>>,
}

impl Database {
    /// A writer of single records of this database.
    ///
    /// # Errors
    /// When the store fails.
    pub fn record_lines(&self) -> Result<RecordLines<'_>> {
        let mut writer = RecordWriter::without_header(Vec::new());
        for (id, fingerprint, description) in self.store.recipes()? {
            writer.knows(id, &RecipeRecord::new(fingerprint, description));
        }
        Ok(RecordLines { store: &self.store, catalog: self.catalog()?, writer })
    }
}

impl RecordLines<'_> {
    /// A record as a line of JSON; `None` where it is not there, and for a release.
    ///
    /// # Errors
    /// When the store fails, or a record cannot be written.
    pub fn line(&mut self, release: ReleaseId, subject: &Subject) -> Result<Option<String>> {
        self.write(release, subject)?;
        Ok(self.taken())
    }

    /// The sentence of a set as a line of JSON: a set of a bulk write stands for it.
    ///
    /// # Errors
    /// As [`line`](Self::line).
    pub fn sentence_of(&mut self, release: ReleaseId, subject: &Subject) -> Result<Option<String>> {
        match subject {
            Subject::Set(_, place) => self.line(release, &Subject::Sentence(place.sentence)),
            _ => Ok(None),
        }
    }

    /// What tells a record from every other one of a store, for those who keep a copy: the numbers
    /// and names that it takes, parted by slashes, without control characters.
    #[must_use]
    pub fn key(release: ReleaseId, subject: &Subject) -> String {
        let mut parts = vec![release.to_string(), subject.kind().as_str().to_owned()];
        if let Subject::Decision(frame, _) = subject {
            parts.push(frame.to_string());
        }
        parts.extend(subject.id());
        parts.extend(subject.reviewer().into_iter().chain(subject.question()).map(str::to_owned));
        parts.join("/").replace(char::is_control, "\u{fffd}")
    }

    fn taken(&mut self) -> Option<String> {
        let line = String::from_utf8(std::mem::take(self.writer.output())).ok()?;
        Some(line.trim_end().to_owned()).filter(|line| !line.is_empty())
    }

    fn write(&mut self, release: ReleaseId, subject: &Subject) -> Result<()> {
        let (store, writer) = (self.store, &mut self.writer);
        match subject {
            Subject::SemType(id) => {
                store.sem_type(release, *id)?.map(|row| writer.sem_type(row)).transpose()?;
            }
            Subject::Frame(id) => {
                store.frame(release, *id)?.map(|row| writer.frame(row)).transpose()?;
            }
            Subject::Relation(id) => {
                store.relation(release, *id)?.map(|row| writer.relation(row)).transpose()?;
            }
            Subject::LexUnit(frame, lu) => {
                if let Some(row) = store.lexunit(release, *frame, *lu)? {
                    writer.lexunit(row, &self.catalog.frame(release, *frame)?)?;
                }
            }
            Subject::Document(corpus, id) => {
                let row = store.document(release, *corpus, *id)?;
                row.map(|row| writer.document(row)).transpose()?;
            }
            Subject::Sentence(id) => {
                store.sentence(release, *id)?.map(|row| writer.sentence(row)).transpose()?;
            }
            Subject::SentenceLayers(sentence, set) => {
                let layers = store.sentence_layers_set(release, *sentence, *set)?;
                if let Some((layers, text)) = layers.zip(store.sentence(release, *sentence)?) {
                    writer.layers(layers, &text.text)?;
                }
            }
            Subject::Set(id, _) => self.set(release, *id)?,
            Subject::Judgement(set, reviewer, question) => {
                for judgement in store.judgements(release, *set)? {
                    let judgement = judgement?;
                    if (&judgement.reviewer, &judgement.question) == (reviewer, question) {
                        writer.judgement(*set, judgement)?;
                    }
                }
            }
            Subject::Verification(set) => {
                let row = store.verification(release, *set)?;
                row.map(|row| writer.verification(row)).transpose()?;
            }
            Subject::Decision(frame, name) => {
                if let Some(row) = store.decisions(release, *frame, name)? {
                    writer.decisions(row, &self.catalog.frame(release, *frame)?)?;
                }
            }
            Subject::Edition(name) => {
                store.edition(release, name)?.map(|row| writer.edition(&row)).transpose()?;
            }
            Subject::Release => {}
        }
        Ok(())
    }

    fn set(&mut self, release: ReleaseId, id: AnnotationSetId) -> Result<()> {
        let Some(set) = self.store.annotation_set(release, id)? else { return Ok(()) };
        let AnnotationSet { frame, lu, sentence, .. } = set;
        let Some(text) = self.store.sentence(release, sentence)? else { return Ok(()) };
        let frame_name = self.catalog.frame(release, frame)?;
        let lu_name = self.catalog.lexunit(release, frame, lu)?;
        Ok(self.writer.set(set, &frame_name, &lu_name, &text.text)?)
    }
}
