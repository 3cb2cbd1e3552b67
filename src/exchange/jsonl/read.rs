//! Reading records.

use std::collections::VecDeque;
use std::io::BufRead;
use std::ops::Range;
use std::path::Path;

use rayon::prelude::*;
use serde::Deserialize;

use super::annotation::{LayersRecord, SetRecord};
use super::discovery::check_discovery;
use super::governance::{EditionRecord, WholeEdition, check_decided};
use super::layout::Layout;
use super::link::check_links;
use super::provenance::{JournalRecord, RecipeRecord, check_judgement, check_verification};
use super::recorded::Recorded;
use super::release::{End, Header, ReleaseRecord};
use super::{Checked, LineKind, foreign, numbers};
use crate::exchange::error::{Fault, FaultCode};
use crate::exchange::lines::{Line, Lines};
use crate::exchange::{ExchangeError, Result};
use crate::model::{
    AnnotationSet, AnnotationSetId, Decided, Discovery, Document, Edition, Frame, FrameElement,
    FrameId, FrameRelation, Judgement, LexUnit, Links, NumberKind, RecipeId, SemType, Sentence,
    SentenceId, SentenceLayers, Verification, WrittenNumber,
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
    Verification(Verification),
    /// Decisions, and the name of their frame.
    Decisions(Decided, String),
    /// What a search found of a word, and the name of its frame.
    Discovery(Box<Discovery>, String),
    /// The links of an LU or FE, with the names of its frame and its own.
    Links(Links, String, String),
    /// An edition with some of its sets, and what is said of all.
    Edition(Edition, WholeEdition),
    Layout(Box<Layout>),
}

/// Bytes of lines that are read and parsed together, on all cores.
const AHEAD: usize = 256 << 10;

/// Reads a file of records, line by line.
pub struct RecordReader<R> {
    lines: Lines<R>,
    release: ReleaseRecord,
    records: u64,
    ended: bool,
    /// Lines that are parsed, each with its number.
    ahead: VecDeque<(usize, Result<Parsed>)>,
    /// Number of the line that was handed out last.
    line: usize,
}

/// What a line says.
#[allow(clippy::large_enum_variant, reason = "all lines but the last are records")]
enum Parsed {
    Record(Record),
    End(End),
}

/// The part of every record that says what it is.
#[derive(Deserialize)]
struct Tagged {
    kind: LineKind,
}

/// What a line says it is. It says so first where this program wrote it; else all of it is read.
fn kind_of(line: Line<'_>) -> Result<LineKind> {
    const BEGIN: &str = "{\"kind\":\"";
    let name = line.text.strip_prefix(BEGIN).and_then(|rest| rest.split('"').next());
    match name.and_then(LineKind::parse) {
        Some(kind) => Ok(kind),
        None => Ok(line.json::<Tagged>()?.kind),
    }
}

fn parsed(line: Line<'_>) -> Result<Parsed> {
    match kind_of(line)? {
        LineKind::End => line.json().map(Parsed::End),
        kind => record(line, kind).map(Parsed::Record),
    }
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
        let line = lines.line();
        Ok(Self { lines, release, records: 2, ended: false, ahead: VecDeque::new(), line })
    }

    /// The release.
    #[must_use]
    pub fn release(&self) -> &ReleaseRecord {
        &self.release
    }

    /// The file, as messages name it.
    #[must_use]
    pub fn name(&self) -> &str {
        self.lines.file()
    }

    /// Number of the line that was read last, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// Number of bytes read so far, some of them ahead.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.lines.bytes()
    }

    /// The next record; `None` after the last.
    ///
    /// # Errors
    /// When a line is no record, or the file ends before its end.
    pub fn read(&mut self) -> Result<Option<Record>> {
        if self.ahead.is_empty() {
            self.read_ahead();
        }
        let Some((line, parsed)) = self.ahead.pop_front() else {
            self.line = self.lines.line();
            if self.ended {
                return Ok(None);
            }
            let reason = "the file was cut short: its last line is no `end` record".to_owned();
            return Err(self.lines.fault(FaultCode::Layout, reason));
        };
        self.line = line;
        if self.ended {
            let reason = "a line after the `end` record".to_owned();
            let line = Line { number: line, ..self.lines.current() };
            return Err(line.fault(FaultCode::Layout, reason));
        }
        match parsed? {
            Parsed::End(end) => {
                self.end(&end)?;
                self.read()
            }
            Parsed::Record(record) => {
                self.records += 1;
                Ok(Some(record))
            }
        }
    }

    /// Reads the next lines and parses them; what stands behind a line that cannot be read is left.
    fn read_ahead(&mut self) {
        let (mut text, mut places, mut failed) = (String::new(), Vec::new(), None);
        while text.len() < AHEAD {
            match self.lines.advance() {
                Ok(true) => {
                    let (line, begin) = (self.lines.current(), text.len());
                    text.push_str(line.text);
                    places.push((line.number, begin..text.len()));
                }
                Ok(false) => break,
                Err(error) => {
                    failed = Some((self.lines.line(), Err(error)));
                    break;
                }
            }
        }
        let file = self.lines.file();
        let parse = |(number, place): (usize, Range<usize>)| {
            (number, parsed(Line { file, number, text: &text[place] }))
        };
        let lines: Vec<_> = places.into_par_iter().map(parse).collect();
        self.ahead.extend(lines.into_iter().chain(failed));
    }

    fn end(&mut self, end: &End) -> Result<()> {
        if end.records != self.records {
            let expected = format!("{}, the number of records before it", self.records);
            let fault = Fault::new(FaultCode::Layout, "records", end.records, expected);
            return Err(fault.at(self.lines.file(), self.line));
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
        outcome.map_err(|fault| fault.at(self.lines.file(), self.line))
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

/// The record in a line of that kind.
fn record(line: Line<'_>, kind: LineKind) -> Result<Record> {
    match kind {
        LineKind::WrittenNumber => written_number(line),
        LineKind::SemType => model(line).map(Record::SemType),
        LineKind::Frame => model(line).map(Record::Frame),
        LineKind::Element => {
            model(line).map(|(frame, name, fe)| Record::Element(frame, name, Box::new(fe)))
        }
        LineKind::Relation => model(line).map(Record::Relation),
        LineKind::Lexunit => model(line).map(|(lu, frame)| Record::LexUnit(Box::new(lu), frame)),
        LineKind::Recipe => {
            let recipe: RecipeRecord = line.json()?;
            Ok(Record::Recipe(checked(line, recipe.check())?, recipe))
        }
        LineKind::Sentence => model(line).map(Record::Sentence),
        LineKind::Set => {
            let set: Box<SetRecord> = line.json()?;
            let sentence = checked(line, set.sentence())?;
            Ok(Record::Set(set, sentence))
        }
        LineKind::Layers => {
            let layers: LayersRecord = line.json()?;
            let sentence = checked(line, layers.sentence())?;
            Ok(Record::Layers(layers, sentence))
        }
        LineKind::Document => model(line).map(Record::Document),
        LineKind::Journal => {
            let journal: JournalRecord = line.json()?;
            let (seed, chain) = checked(line, journal.sets())?;
            Ok(Record::Journal(journal, seed, chain))
        }
        LineKind::Judgement => judgement(line),
        LineKind::Verification => checked_model(line, check_verification).map(Record::Verification),
        LineKind::Decisions => decisions(line),
        LineKind::Discovery => discovery(line),
        LineKind::Links => links(line),
        LineKind::Edition => {
            let edition: EditionRecord = line.json()?;
            let (edition, whole) = checked(line, edition.into_model())?;
            Ok(Record::Edition(edition, whole))
        }
        LineKind::ReleaseLayout => model(line).map(|of| layout(Layout::Release(of))),
        LineKind::FrameLayout => model(line).map(|(id, of)| layout(Layout::Frame(id, of))),
        LineKind::LexunitLayout => {
            model(line).map(|(frame, id, of)| layout(Layout::LexUnit(frame, id, of)))
        }
        LineKind::DocumentLayout => {
            model(line).map(|(corpus, id, of)| layout(Layout::Document(corpus, id, of)))
        }
        LineKind::Foreign => foreign_content(line),
        LineKind::Header | LineKind::Release | LineKind::End => {
            let reason = format!("a second `{}` record", kind.as_str());
            Err(line.fault(FaultCode::Layout, reason))
        }
    }
}

fn written_number(line: Line<'_>) -> Result<Record> {
    let (kind, number, written) =
        checked_model(line, |(kind, number, _)| numbers::check(*kind, *number))?;
    Ok(Record::WrittenNumber(kind, number, written))
}

fn judgement(line: Line<'_>) -> Result<Record> {
    let (set, judgement) = checked_model(line, |(_, made)| check_judgement(made))?;
    Ok(Record::Judgement(set, judgement))
}

fn decisions(line: Line<'_>) -> Result<Record> {
    let (decided, frame) = checked_model(line, |(decided, _)| check_decided(decided))?;
    Ok(Record::Decisions(decided, frame))
}

fn discovery(line: Line<'_>) -> Result<Record> {
    let (found, frame) = checked_model(line, |(found, _)| check_discovery(found))?;
    Ok(Record::Discovery(Box::new(found), frame))
}

fn links(line: Line<'_>) -> Result<Record> {
    let (links, frame, name) =
        checked_model(line, |(links, ..): &(Links, String, String)| check_links(links))?;
    Ok(Record::Links(links, frame, name))
}

fn foreign_content(line: Line<'_>) -> Result<Record> {
    let (file, of) = checked_model(line, |(_, of)| foreign::check(of))?;
    Ok(layout(Layout::Foreign(file, of)))
}

/// What a line says, where its record is that of a model.
fn model<T: Recorded>(line: Line<'_>) -> Result<T> {
    checked(line, T::from_record(line.json()?))
}

/// The same, after a check of it.
fn checked_model<T: Recorded>(line: Line<'_>, check: impl Fn(&T) -> Checked<()>) -> Result<T> {
    let said = model(line)?;
    checked(line, check(&said))?;
    Ok(said)
}

fn layout(layout: Layout) -> Record {
    Record::Layout(Box::new(layout))
}

fn checked<T>(line: Line<'_>, outcome: Checked<T>) -> Result<T> {
    outcome.map_err(|fault| fault.at(line.file, line.number))
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
        lines.fault(FaultCode::NoExport, reason)
    };
    if !lines.advance()? {
        return Err(missing(lines));
    }
    match lines.json::<Tagged>() {
        Ok(tagged) if tagged.kind == kind => lines.json(),
        _ => Err(missing(lines)),
    }
}
