//! Writing records.

use std::collections::BTreeMap;
use std::io::Write;

use serde::Serialize;

use super::LineKind;
use super::annotation::{LayersRecord, SetRecord};
use super::governance::EditionRecord;
use super::layout::Layout;
use super::provenance::{JournalRecord, RecipeNames, RecipeRecord};
use super::recorded::Recorded;
use super::release::{End, Header, ReleaseRecord};
use crate::exchange::Result;
use crate::model::{
    AnnotationSet, AnnotationSetId, Decided, Discovery, Document, Edition, Frame, FrameElement,
    FrameId, FrameRelation, Judgement, LexUnit, Links, NumberKind, RecipeId, SemType, Sentence,
    SentenceLayers, Verification, WrittenNumber,
};

/// Writes a file of records, in the order in which the caller hands them over.
pub struct RecordWriter<W> {
    out: W,
    counts: BTreeMap<LineKind, u64>,
    recipes: RecipeNames,
}

impl<W: Write> RecordWriter<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// When the output fails; so for every function here.
    pub fn new(out: W, release: &ReleaseRecord) -> Result<Self> {
        let mut writer = Self::without_header(out);
        writer.put(LineKind::Header, &Header::default())?;
        writer.put(LineKind::Release, release)?;
        Ok(writer)
    }

    /// Goes on with a file whose lines so far are counted by kind, behind its recipe and all that
    /// came after.
    pub fn going_on(
        out: W,
        counts: BTreeMap<LineKind, u64>,
        (id, recipe): (RecipeId, &RecipeRecord),
    ) -> Self {
        Self { out, counts, recipes: RecipeNames::from([(id, recipe.name().to_owned())]) }
    }

    /// Writes records that stand in no file.
    pub fn without_header(out: W) -> Self {
        Self { out, counts: BTreeMap::new(), recipes: RecipeNames::new() }
    }

    /// Begins lines for a place in this file, which another thread may write.
    #[must_use]
    pub fn apart(&self) -> RecordWriter<Vec<u8>> {
        let recipes = self.recipes.clone();
        RecordWriter { out: Vec::new(), counts: BTreeMap::new(), recipes }
    }

    /// Writes lines that were begun [apart](Self::apart).
    pub fn append(&mut self, apart: RecordWriter<Vec<u8>>) -> Result<()> {
        self.out.write_all(&apart.out)?;
        for (kind, count) in apart.counts {
            *self.counts.entry(kind).or_default() += count;
        }
        Ok(())
    }

    /// Takes note of a recipe that sets and journal rows may name, without writing it.
    pub fn knows(&mut self, id: RecipeId, recipe: &RecipeRecord) {
        self.recipes.insert(id, recipe.name().to_owned());
    }

    /// Where it writes.
    pub fn output(&mut self) -> &mut W {
        &mut self.out
    }

    /// Hands on what the output holds back.
    pub fn flush(&mut self) -> Result<()> {
        Ok(self.out.flush()?)
    }

    fn put(&mut self, kind: LineKind, record: &impl Serialize) -> Result<()> {
        serde_json::to_writer(&mut self.out, record).map_err(std::io::Error::from)?;
        self.out.write_all(b"\n")?;
        *self.counts.entry(kind).or_default() += 1;
        Ok(())
    }

    /// Writes what a fresh number is written as.
    pub fn written_number(
        &mut self,
        kind: NumberKind,
        number: u64,
        written: &WrittenNumber,
    ) -> Result<()> {
        self.put(LineKind::WrittenNumber, &(kind, number, written.clone()).into_record())
    }

    /// Writes a semantic type.
    pub fn sem_type(&mut self, sem_type: SemType) -> Result<()> {
        self.put(LineKind::SemType, &sem_type.into_record())
    }

    /// Writes a frame.
    pub fn frame(&mut self, frame: Frame) -> Result<()> {
        self.put(LineKind::Frame, &frame.into_record())
    }

    /// Writes an FE that a frame of that name gets, in a file of additions.
    pub fn element(&mut self, frame: FrameId, name: &str, element: FrameElement) -> Result<()> {
        self.put(LineKind::Element, &(frame, name.to_owned(), element).into_record())
    }

    /// Writes a frame relation.
    pub fn relation(&mut self, relation: FrameRelation) -> Result<()> {
        self.put(LineKind::Relation, &relation.into_record())
    }

    /// Writes an LU of the frame of that name.
    pub fn lexunit(&mut self, lexunit: LexUnit, frame_name: &str) -> Result<()> {
        self.put(LineKind::Lexunit, &(lexunit, frame_name.to_owned()).into_record())
    }

    /// Writes a recipe; generated sets and journal rows after it may name its number.
    pub fn recipe(&mut self, id: RecipeId, recipe: &RecipeRecord) -> Result<()> {
        self.knows(id, recipe);
        self.put(LineKind::Recipe, recipe)
    }

    /// Writes a sentence.
    pub fn sentence(&mut self, sentence: Sentence) -> Result<()> {
        self.put(LineKind::Sentence, &sentence.into_record())
    }

    /// Writes a set over its sentence's text, with the names of its frame and its LU.
    ///
    /// # Errors
    /// Also when a span of the set does not fit the text.
    pub fn set(
        &mut self,
        set: AnnotationSet,
        frame_name: &str,
        lu_name: &str,
        text: &str,
    ) -> Result<()> {
        let record = SetRecord::new(set, frame_name, lu_name, text, &self.recipes)?;
        self.put(LineKind::Set, &record)
    }

    /// Writes a set of sentence layers over its sentence's text.
    ///
    /// # Errors
    /// Also when a span does not fit the text.
    pub fn layers(&mut self, layers: SentenceLayers, text: &str) -> Result<()> {
        self.put(LineKind::Layers, &LayersRecord::new(layers, text)?)
    }

    /// Writes a document.
    pub fn document(&mut self, document: Document) -> Result<()> {
        self.put(LineKind::Document, &document.into_record())
    }

    /// Writes how far a chain has come.
    pub fn journal(&mut self, journal: &JournalRecord) -> Result<()> {
        self.put(LineKind::Journal, journal)
    }

    /// Writes what a reviewer says of a set.
    pub fn judgement(&mut self, set: AnnotationSetId, judgement: Judgement) -> Result<()> {
        self.put(LineKind::Judgement, &(set, judgement).into_record())
    }

    /// Writes what a verifier says of a set.
    pub fn verification(&mut self, verification: Verification) -> Result<()> {
        self.put(LineKind::Verification, &verification.into_record())
    }

    /// Writes the decisions on an LU that was proposed for the frame of that name.
    pub fn decisions(&mut self, decided: Decided, frame_name: &str) -> Result<()> {
        self.put(LineKind::Decisions, &(decided, frame_name.to_owned()).into_record())
    }

    /// Writes what a search found of a word in the frame of that name.
    pub fn discovery(&mut self, found: Discovery, frame_name: &str) -> Result<()> {
        self.put(LineKind::Discovery, &(found, frame_name.to_owned()).into_record())
    }

    /// Writes the links of an LU or FE, with the names of its frame and its own.
    pub fn links(&mut self, links: Links, frame_name: &str, name: &str) -> Result<()> {
        let named = (links, frame_name.to_owned(), name.to_owned());
        self.put(LineKind::Links, &named.into_record())
    }

    /// Writes an edition, a large one in several lines.
    pub fn edition(&mut self, edition: &Edition) -> Result<()> {
        EditionRecord::lines(edition).try_for_each(|line| self.put(LineKind::Edition, &line))
    }

    /// Writes how a file lists what it holds.
    pub fn layout(&mut self, layout: Layout) -> Result<()> {
        match layout {
            Layout::Release(layout) => self.put(LineKind::ReleaseLayout, &layout.into_record()),
            Layout::Frame(frame, layout) => {
                self.put(LineKind::FrameLayout, &(frame, layout).into_record())
            }
            Layout::LexUnit(frame, lu, layout) => {
                self.put(LineKind::LexunitLayout, &(frame, lu, layout).into_record())
            }
            Layout::Document(corpus, document, layout) => {
                self.put(LineKind::DocumentLayout, &(corpus, document, layout).into_record())
            }
            Layout::Foreign(file, foreign) => {
                self.put(LineKind::Foreign, &(file, foreign).into_record())
            }
        }
    }

    /// Ends the file. Gives the number of records of each kind, the file's own first and last lines
    /// not counted.
    pub fn finish(mut self) -> Result<BTreeMap<LineKind, u64>> {
        let records = self.counts.values().sum();
        self.put(LineKind::End, &End { kind: LineKind::End, records })?;
        self.out.flush()?;
        self.counts.retain(|kind, _| {
            !matches!(kind, LineKind::Header | LineKind::Release | LineKind::End)
        });
        Ok(self.counts)
    }
}
