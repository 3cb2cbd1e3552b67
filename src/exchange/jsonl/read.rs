//! Reading records.

use std::io::BufRead;
use std::path::Path;

use serde::Deserialize;

use super::annotation::{LayersRecord, SetRecord};
use super::governance::{EditionRecord, WholeEdition, check_decided};
use super::layout::Layout;
use super::provenance::{JournalRecord, RecipeRecord, check_judgement};
use super::recorded::Recorded;
use super::release::{End, Header, ReleaseRecord};
use super::{Checked, LineKind, foreign, numbers};
use crate::exchange::error::{Fault, FaultCode};
use crate::exchange::lines::Lines;
use crate::exchange::{ExchangeError, Result};
use crate::model::{
    AnnotationSet, AnnotationSetId, Decided, Document, Edition, Frame, FrameElement, FrameId,
    FrameRelation, Judgement, LexUnit, NumberKind, RecipeId, SemType, Sentence, SentenceId,
    SentenceLayers, WrittenNumber,
};

/// A line of a file. Sets and layers are turned into model values by the reader once their
/// sentence's text is at hand.
#[derive(Debug)]
#[non_exhaustive]
#[allow(missing_docs, reason = "see LineKind")]
pub enum Record {
    WrittenNumber(NumberKind, u64, WrittenNumber),
    SemType(SemType),
    Frame(Frame),
    /// An FE that a frame of the release gets: the frame with its name, and the FE.
    Element(FrameId, String, Box<FrameElement>),
    Relation(FrameRelation),
    /// An LU, and the name of its frame.
    LexUnit(Box<LexUnit>, String),
    /// A recipe, and its fingerprint.
    Recipe([u8; 16], RecipeRecord),
    Sentence(Sentence),
    /// A set, and its sentence.
    Set(Box<SetRecord>, SentenceId),
    /// A set of sentence layers, and its sentence.
    Layers(LayersRecord, SentenceId),
    Document(Document),
    /// How far a chain has come: its seed, and its sets.
    Journal(JournalRecord, AnnotationSetId, Vec<AnnotationSetId>),
    Judgement(AnnotationSetId, Judgement),
    /// Decisions, and the name of their frame.
    Decisions(Decided, String),
    /// An edition with some of its sets, and what is said of all.
    Edition(Edition, WholeEdition),
    Layout(Box<Layout>),
}

/// Reads a file of records, line by line.
pub struct RecordReader<R> {
    lines: Lines<R>,
    release: ReleaseRecord,
    records: u64,
    ended: bool,
}

/// The part of every record that says what it is.
#[derive(Deserialize)]
struct Tagged {
    kind: LineKind,
}

impl<R: BufRead> RecordReader<R> {
    /// Begins to read: the lines up to the release. `file` is named in messages.
    ///
    /// # Errors
    /// When the file does not begin as such a file does, or its version is another.
    pub fn new(input: R, file: &Path) -> Result<Self> {
        let mut lines = Lines::new(input, file);
        let header: Header = first(&mut lines, LineKind::Header)?;
        header.check().map_err(|fault| fault.at(lines.file(), lines.line()))?;
        let release: ReleaseRecord = first(&mut lines, LineKind::Release)?;
        Ok(Self { lines, release, records: 2, ended: false })
    }

    /// The release.
    #[must_use]
    pub fn release(&self) -> &ReleaseRecord {
        &self.release
    }

    /// Number of the line that was read last, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.lines.line()
    }

    /// Number of bytes read so far.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.lines.bytes()
    }

    /// The next record; `None` after the last.
    ///
    /// # Errors
    /// When a line is no record, or the file ends before its end.
    pub fn read(&mut self) -> Result<Option<Record>> {
        if !self.lines.advance()? {
            if self.ended {
                return Ok(None);
            }
            let reason = "the file was cut short: its last line is no `end` record".to_owned();
            return Err(self.lines.fault(FaultCode::Layout, reason));
        }
        if self.ended {
            let reason = "a line after the `end` record".to_owned();
            return Err(self.lines.fault(FaultCode::Layout, reason));
        }
        let kind = self.lines.json::<Tagged>()?.kind;
        if kind == LineKind::End {
            self.end()?;
            return self.read();
        }
        self.records += 1;
        self.record(kind).map(Some)
    }

    fn record(&self, kind: LineKind) -> Result<Record> {
        let lines = &self.lines;
        Ok(match kind {
            LineKind::WrittenNumber => {
                let (kind, number, written) = self.model()?;
                self.checked(numbers::check(kind, number))?;
                Record::WrittenNumber(kind, number, written)
            }
            LineKind::SemType => Record::SemType(self.model()?),
            LineKind::Frame => Record::Frame(self.model()?),
            LineKind::Element => {
                let (frame, name, element) = self.model()?;
                Record::Element(frame, name, Box::new(element))
            }
            LineKind::Relation => Record::Relation(self.model()?),
            LineKind::Lexunit => {
                let (lexunit, frame_name) = self.model()?;
                Record::LexUnit(Box::new(lexunit), frame_name)
            }
            LineKind::Recipe => {
                let recipe: RecipeRecord = lines.json()?;
                Record::Recipe(self.checked(recipe.check())?, recipe)
            }
            LineKind::Sentence => Record::Sentence(self.model()?),
            LineKind::Set => {
                let set: Box<SetRecord> = lines.json()?;
                let sentence = self.checked(set.sentence())?;
                Record::Set(set, sentence)
            }
            LineKind::Layers => {
                let layers: LayersRecord = lines.json()?;
                let sentence = self.checked(layers.sentence())?;
                Record::Layers(layers, sentence)
            }
            LineKind::Document => Record::Document(self.model()?),
            LineKind::Journal => {
                let journal: JournalRecord = lines.json()?;
                let (seed, chain) = self.checked(journal.sets())?;
                Record::Journal(journal, seed, chain)
            }
            LineKind::Judgement => {
                let (set, judgement) = self.model()?;
                self.checked(check_judgement(&judgement))?;
                Record::Judgement(set, judgement)
            }
            LineKind::Decisions => {
                let (decided, frame) = self.model()?;
                self.checked(check_decided(&decided))?;
                Record::Decisions(decided, frame)
            }
            LineKind::Edition => {
                let edition: EditionRecord = lines.json()?;
                let (edition, whole) = self.checked(edition.into_model())?;
                Record::Edition(edition, whole)
            }
            LineKind::ReleaseLayout => Record::Layout(Box::new(Layout::Release(self.model()?))),
            LineKind::FrameLayout => {
                let (frame, layout) = self.model()?;
                Record::Layout(Box::new(Layout::Frame(frame, layout)))
            }
            LineKind::LexunitLayout => {
                let (frame, lu, layout) = self.model()?;
                Record::Layout(Box::new(Layout::LexUnit(frame, lu, layout)))
            }
            LineKind::DocumentLayout => {
                let (corpus, document, layout) = self.model()?;
                Record::Layout(Box::new(Layout::Document(corpus, document, layout)))
            }
            LineKind::Foreign => {
                let (file, foreign) = self.model()?;
                self.checked(foreign::check(&foreign))?;
                Record::Layout(Box::new(Layout::Foreign(file, foreign)))
            }
            LineKind::Header | LineKind::Release | LineKind::End => {
                let reason = format!("a second `{}` record", kind.as_str());
                return Err(lines.fault(FaultCode::Layout, reason));
            }
        })
    }

    /// What the line says, where its record is that of a model.
    fn model<T: Recorded>(&self) -> Result<T> {
        self.checked(T::from_record(self.lines.json()?))
    }

    fn end(&mut self) -> Result<()> {
        let end: End = self.lines.json()?;
        if end.records != self.records {
            let expected = format!("{}, the number of records before it", self.records);
            let fault = Fault::new(FaultCode::Layout, "records", end.records, expected);
            return Err(fault.at(self.lines.file(), self.lines.line()));
        }
        self.ended = true;
        Ok(())
    }

    /// The set of the record that was read last, over its sentence's text; a generated one under
    /// the recipe of that number.
    ///
    /// # Errors
    /// When a span does not fit the text, or a value is not one of those that it may be.
    pub fn set(
        &self,
        set: SetRecord,
        text: &str,
        recipe: Option<RecipeId>,
    ) -> Result<AnnotationSet> {
        self.checked(set.into_model(text, recipe))
    }

    /// The sentence layers of the record that was read last, over their sentence's text.
    ///
    /// # Errors
    /// As [`set`](Self::set).
    pub fn layers(&self, layers: LayersRecord, text: &str) -> Result<SentenceLayers> {
        self.checked(layers.into_model(text))
    }

    fn checked<T>(&self, outcome: Checked<T>) -> Result<T> {
        outcome.map_err(|fault| fault.at(self.lines.file(), self.lines.line()))
    }

    /// The error for the record in that line: a field of it is something else than expected.
    pub fn wrong(
        &self,
        line: usize,
        code: FaultCode,
        field: &str,
        found: &str,
        expected: String,
    ) -> ExchangeError {
        Fault::new(code, field, found, expected).at(self.lines.file(), line)
    }
}

/// One of the records that a file begins with.
fn first<R: BufRead, T: serde::de::DeserializeOwned>(
    lines: &mut Lines<R>,
    kind: LineKind,
) -> Result<T> {
    let missing = |lines: &Lines<R>| {
        let reason = format!(
            "no `{}` record; expected a file that an export as JSON lines wrote",
            kind.as_str()
        );
        lines.fault(FaultCode::Layout, reason)
    };
    if !lines.advance()? {
        return Err(missing(lines));
    }
    match lines.json::<Tagged>() {
        Ok(tagged) if tagged.kind == kind => lines.json(),
        _ => Err(missing(lines)),
    }
}
