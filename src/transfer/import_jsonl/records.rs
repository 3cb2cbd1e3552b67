//! Each kind of record: what must hold of it, and where it goes.

use std::collections::HashSet;
use std::io::BufRead;
use std::sync::Arc;

use super::known::KnownFrame;
use super::loader::{Extended, LineImport};
use crate::database::{DatabaseError, Result, layouts};
use crate::exchange::FaultCode;
use crate::exchange::jsonl::{JournalRecord, Layout, LineKind, Record, SetRecord};
use crate::framenet::fragment_fault;
use crate::model::{
    AnnotationSet, AnnotationSetId, Document, FeId, Foreign, ForeignFile, Frame, FrameElement,
    FrameId, FrameRelation, IdSpace, LexUnit, LuId, NumberKind, PROPOSED, Provenance, RecipeId,
    Reference, SemType, Sentence, SentenceId, SentenceLayers, WrittenNumber,
};
use crate::store::{Batch, JournalEntry, SetLocation, Store, Subject};
use crate::text::{is_same, shortened};

impl<R: BufRead> LineImport<'_, R> {
    pub(super) fn take(&mut self, record: Record) -> Result<()> {
        match record {
            Record::WrittenNumber(kind, number, written) => {
                self.take_written_number(kind, number, written)
            }
            Record::SemType(row) => self.take_sem_type(&row),
            Record::Frame(row) => self.take_frame(&row),
            Record::Element(frame, name, row) => self.take_element(frame, &name, *row),
            Record::Relation(row) => self.take_relation(&row),
            Record::LexUnit(row, frame_name) => {
                let row = self.with_free_number(*row)?;
                self.take_lexunit(&row, &frame_name)
            }
            Record::Recipe(fingerprint, row) => {
                self.take_recipe(fingerprint, row.name(), &row.description)
            }
            Record::Sentence(row) => self.take_sentence(row),
            Record::Set(row, sentence) => self.take_set(*row, sentence),
            Record::Layers(row, sentence) => {
                let sentence = self.sentence_of(sentence)?;
                let row = self.reader.layers(row, &sentence.text)?;
                self.current = Some(sentence);
                self.take_layers(&row)
            }
            Record::Document(row) => self.take_document(&row),
            Record::Journal(row, seed, chain) => self.take_journal(row, seed, chain),
            Record::Judgement(set, mut judgement) => self.take_judgement(set, &mut judgement),
            Record::Verification(verification) => self.take_verification(&verification),
            Record::Decisions(decided, frame) => self.take_decisions(&decided, &frame),
            Record::Discovery(found, frame) => self.take_discovery(*found, &frame),
            Record::Links(links, frame, name) => self.take_links(links, &frame, &name),
            Record::Edition(edition, whole) => self.take_edition(edition, &whole),
            Record::Layout(layout) => self.take_layout(&layout),
        }
    }

    fn take_written_number(
        &mut self,
        kind: NumberKind,
        number: u64,
        written: WrittenNumber,
    ) -> Result<()> {
        if self.adds() {
            let expected = "no written number in a file of additions";
            return Err(self.wrong(FaultCode::Layout, "kind", "written_number", expected));
        }
        self.check_first(self.numbers.text(kind, number).is_none(), &number)?;
        self.numbers.insert(kind, number, written);
        self.count(LineKind::WrittenNumber);
        Ok(())
    }

    fn take_sem_type(&mut self, row: &SemType) -> Result<()> {
        self.see_number(row.id.0);
        let is_first = self.known.sem_types.insert(row.id);
        self.check_first(is_first, &row.id)?;
        self.check_name("name", &row.name)?;
        self.refer_all(row)?;
        let it = (LineKind::SemType, row.id, &Subject::SemType(row.id));
        let stored = |store: &Store, release| store.sem_type(release, row.id);
        self.write_new(row, it, stored, Batch::put_sem_type).map(drop)
    }

    fn take_frame(&mut self, frame: &Frame) -> Result<()> {
        self.see_number(frame.id.0);
        let known = Arc::new(KnownFrame::from(frame));
        let is_first = self.known.frames.insert(frame.id, Some(known)).is_none();
        self.check_first(is_first, &frame.id)?;
        self.check_name("name", &frame.name)?;
        self.refer_all(frame)?;
        let ids: HashSet<FeId> = frame.elements.iter().map(|fe| fe.id).collect();
        let mut seen = HashSet::new();
        for (at, fe) in frame.elements.iter().enumerate() {
            let field = |name: &str| format!("elements[{at}].{name}");
            self.take_element_of(fe, field)?;
            if !seen.insert(fe.id) {
                let expected = "a number that no other FE of the frame has";
                let found = fe.id.to_string();
                return Err(self.wrong(FaultCode::Repeated, &field("id"), &found, expected));
            }
            for (list, named) in [("requires", &fe.requires), ("excludes", &fe.excludes)] {
                self.check_elements_of((frame, &ids), &field(list), named)?;
            }
        }
        for set in &frame.core_sets {
            self.check_elements_of((frame, &ids), "core_sets", set)?;
        }
        let it = (LineKind::Frame, frame.id, &Subject::Frame(frame.id));
        let stored = |store: &Store, release| store.frame(release, frame.id);
        self.write_new(frame, it, stored, Batch::put_frame).map(drop)
    }

    /// Checks what an FE says by itself.
    fn take_element_of(&mut self, fe: &FrameElement, field: impl Fn(&str) -> String) -> Result<()> {
        self.see_number(fe.id.0);
        self.check_name(&field("name"), &fe.name)
    }

    /// Refuses numbers that no FE of the frame has.
    fn check_elements_of(
        &self,
        (frame, known): (&Frame, &HashSet<FeId>),
        field: &str,
        ids: &[FeId],
    ) -> Result<()> {
        match ids.iter().find(|id| !known.contains(id)) {
            None => Ok(()),
            Some(id) => {
                let expected = format!("the number of an FE of `{}`", frame.name);
                Err(self.wrong(FaultCode::Missing, field, &id.to_string(), expected))
            }
        }
    }

    /// Takes an FE that a frame of the release gets.
    fn take_element(&mut self, frame: FrameId, name: &str, fe: FrameElement) -> Result<()> {
        if !self.adds() {
            let expected =
                "no FE by itself but in a file of additions; a frame's record has its FEs";
            return Err(self.wrong(FaultCode::Layout, "kind", "element", expected));
        }
        self.check_frame(frame, name)?;
        self.take_element_of(&fe, |name| format!("element.{name}"))?;
        self.refer_all(&fe)?;
        let line = self.reader.line();
        let mut extended = match self.extended.remove(&frame) {
            Some(extended) => extended,
            None => {
                let stored = self.store.frame(self.release, frame)?;
                let Some(frame) = stored else {
                    return Err(self.unknown("frame", frame.0, name, None));
                };
                Extended { frame, elements: Vec::new() }
            }
        };
        match extended.frame.fe(fe.id) {
            Some(there) if *there == fe => self.unchanged += 1,
            Some(_) => {
                let expected = format!("a number that `{name}` does not have for another FE");
                let found = fe.id.to_string();
                return Err(self.wrong(FaultCode::Conflict, "element.id", &found, expected));
            }
            None if extended.frame.fe_by_name(&fe.name).is_some() => {
                let expected = format!("a name that no other FE of `{name}` has");
                return Err(self.wrong(FaultCode::Conflict, "element.name", &fe.name, expected));
            }
            None => {
                extended.elements.push((fe.id, line));
                extended.frame.elements.push(fe);
                let known = KnownFrame::from(&extended.frame);
                self.known.frames.insert(frame, Some(Arc::new(known)));
                self.count(LineKind::Element);
            }
        }
        if !extended.elements.is_empty() {
            self.extended.insert(frame, extended);
        }
        Ok(())
    }

    fn take_relation(&mut self, row: &FrameRelation) -> Result<()> {
        self.see_number(row.id.0);
        let is_first = self.known.relations.insert(row.id);
        self.check_first(is_first, &row.id)?;
        self.check_name("type", &row.kind)?;
        let sides =
            [("parent", row.parent, &row.parent_name), ("child", row.child, &row.child_name)];
        for (side, frame, name) in sides {
            let Some(known) = self.known_frame(frame)? else {
                return Err(self.unknown(side, frame.0, name, None));
            };
            let elements = row.elements.iter().map(|pair| match side {
                "parent" => (pair.parent, &pair.parent_name),
                _ => (pair.child, &pair.child_name),
            });
            let mut absent = elements.filter(|(fe, _)| !known.elements.contains_key(fe));
            if let Some((fe, name)) = absent.next().filter(|_| known.has_file) {
                let expected = format!("the number of an FE of `{}`", known.name);
                let (field, found) = (format!("elements.{side}"), format!("{name} ({fe})"));
                return Err(self.wrong(FaultCode::Missing, &field, &found, expected));
            }
        }
        let it = (LineKind::Relation, row.id, &Subject::Relation(row.id));
        let stored = |store: &Store, release| store.relation(release, row.id);
        if self.write_new(row, it, stored, Batch::put_relation)? && self.adds() {
            for frame in [row.parent, row.child] {
                layouts::forget_relations(self.store, &mut self.batch, self.release, frame)?;
            }
        }
        Ok(())
    }

    fn take_lexunit(&mut self, lu: &LexUnit, frame_name: &str) -> Result<()> {
        self.check_frame(lu.frame, frame_name)?;
        if lu.status != PROPOSED {
            self.see_number(lu.id.0);
        }
        let known = Some(lu.name.clone());
        let is_first = self.known.lexunits.insert((lu.frame, lu.id), known).is_none();
        self.check_first(is_first, &lu.id)?;
        self.known.listed.insert(lu.id);
        self.check_name("name", &lu.name)?;
        self.refer_all(lu)?;
        let it = (LineKind::Lexunit, lu.id, &Subject::LexUnit(lu.frame, lu.id));
        let stored = |store: &Store, release| store.lexunit(release, lu.frame, lu.id);
        self.write_new(lu, it, stored, Batch::put_lexunit).map(drop)
    }

    /// Refuses a frame that is not there under that name.
    pub(super) fn check_frame(&mut self, frame: FrameId, name: &str) -> Result<Arc<KnownFrame>> {
        match self.known_frame(frame)? {
            Some(known) if is_same(&known.name, name) => Ok(known),
            known => {
                Err(self.unknown("frame", frame.0, name, known.as_ref().map(|known| &*known.name)))
            }
        }
    }

    pub(super) fn check_lexunit(&mut self, frame: FrameId, lu: LuId, name: &str) -> Result<()> {
        let key = (frame, lu);
        if self.adds() && !self.known.lexunits.contains_key(&key) {
            let stored = self.store.lexunit(self.release, frame, lu)?;
            self.known.lexunits.insert(key, stored.map(|lexunit| lexunit.name));
        }
        match self.known.lexunits.get(&key).and_then(Option::as_deref) {
            Some(known) if known == name => Ok(()),
            known => Err(self.unknown("lu", lu.0, name, known)),
        }
    }

    pub(super) fn unknown(
        &self,
        field: &str,
        id: u32,
        name: &str,
        known: Option<&str>,
    ) -> DatabaseError {
        let place = if self.adds() {
            "the release that the file adds to; import the release that it was exported from, or \
             name it"
        } else {
            "a record that stands before it"
        };
        let expected = match known {
            Some(known) => format!("`{known}`, the name of {id} in {place}"),
            None => format!("one of {place}"),
        };
        self.wrong(self.lacks(), field, &format!("{name} ({id})"), expected)
    }

    fn take_recipe(&mut self, print: [u8; 16], name: &str, description: &str) -> Result<()> {
        self.check_first(!self.recipe_ids.contains_key(name), &name)?;
        let known = self.store.recipes()?;
        if let Some((id, ..)) = known.iter().find(|(_, known, _)| *known == print) {
            self.recipe_ids.insert(name.to_owned(), *id);
            self.unchanged += 1;
            return Ok(());
        }
        let last = known.last().map_or(0, |(id, ..)| id.0);
        let id = RecipeId(last + self.recipes.len() as u32 + 1);
        self.recipe_ids.insert(name.to_owned(), id);
        self.recipes.push((id, print, description.to_owned()));
        self.count(LineKind::Recipe);
        Ok(())
    }

    fn take_sentence(&mut self, sentence: Sentence) -> Result<()> {
        let is_first = self.known.sentences.insert(sentence.id);
        self.check_first(is_first, &sentence.id)?;
        self.refer_all(&sentence)?;
        let it = (LineKind::Sentence, sentence.id, &Subject::Sentence(sentence.id));
        let stored = |store: &Store, release| store.sentence(release, sentence.id);
        self.write_new(&sentence, it, stored, Batch::put_new_sentence)?;
        self.current = Some(sentence);
        Ok(())
    }

    /// The sentence that a set or layers belong to; whoever takes it puts it back.
    fn sentence_of(&mut self, id: SentenceId) -> Result<Sentence> {
        if let Some(current) = self.current.take().filter(|current| current.id == id) {
            return Ok(current);
        }
        let stored = if self.adds() { self.store.sentence(self.release, id)? } else { None };
        stored.ok_or_else(|| {
            let expected = "the sentence whose record stands before, with nothing but its sets and \
                            layers between";
            self.wrong(FaultCode::Missing, "sentence", &id.to_string(), expected)
        })
    }

    fn take_set(&mut self, record: SetRecord, sentence: SentenceId) -> Result<()> {
        let sentence = self.sentence_of(sentence)?;
        let (frame, lu) = (record.frame(), record.lu());
        let known = self.check_frame(FrameId(frame.id), &frame.name)?;
        let number = self.number_of(FrameId(frame.id), LuId(lu.id));
        self.check_lexunit(FrameId(frame.id), number, &lu.name)?;
        let recipe = record.recipe().and_then(|name| self.recipe_ids.get(name)).copied();
        let mut set = self.reader.set(record, &sentence.text, recipe)?;
        set.lu = number;
        self.check_labels(&set, &known)?;
        self.refer_all(&set)?;
        let is_first = self.known.sets.insert(set.id, set.frame).is_none();
        self.check_first(is_first, &set.id)?;
        // Scores that a store has stay: they are of the filter that its user chose.
        let stored = |store: &Store, release| {
            let stored = store.annotation_set(release, set.id)?;
            Ok(stored.map(|stored| scored_as(stored, &set)))
        };
        let it = (LineKind::Set, set.id, &Subject::Set(set.id, SetLocation::of(&set)));
        if self.write_new(&set, it, stored, Batch::put_new_annotation_set)? {
            self.tell_index(&set, &sentence);
        }
        self.current = Some(sentence);
        Ok(())
    }

    /// Refuses labels of FEs that the frame does not have. FrameNet's own sets have some, and so
    /// have those that grew from them.
    fn check_labels(&self, set: &AnnotationSet, frame: &KnownFrame) -> Result<()> {
        if set.id.space() != IdSpace::Imported {
            return Ok(());
        }
        let labels = set.fe_layers().flat_map(|layer| &layer.labels);
        let mut labels = labels.filter_map(|label| Some((label.fe?, &label.name)));
        match labels.find(|(fe, _)| !frame.elements.contains_key(fe)) {
            None => Ok(()),
            Some((fe, name)) => {
                let expected = format!("the number of an FE of `{}`", frame.name);
                let found = format!("{name} ({fe})");
                Err(self.wrong(FaultCode::Missing, "layers.labels.fe", &found, expected))
            }
        }
    }

    fn take_layers(&mut self, row: &SentenceLayers) -> Result<()> {
        let is_first = self.known.layers.insert(row.id);
        self.check_first(is_first, &row.id)?;
        self.refer_all(row)?;
        let it = (LineKind::Layers, row.id, &Subject::SentenceLayers(row.sentence, row.id));
        let stored =
            |store: &Store, release| store.sentence_layers_set(release, row.sentence, row.id);
        self.write_new(row, it, stored, Batch::put_sentence_layers).map(drop)
    }

    fn take_document(&mut self, row: &Document) -> Result<()> {
        self.see_number(row.id.0);
        self.see_number(row.corpus.0);
        let is_first = self.known.documents.insert((row.corpus, row.id));
        self.check_first(is_first, &row.id)?;
        self.check_name("name", &row.name)?;
        self.check_name("corpus.name", &row.corpus_name)?;
        for id in &row.sentences {
            let is_there = self.known.sentences.contains(id)
                || self.adds() && self.store.sentence(self.release, *id)?.is_some();
            if !is_there {
                let expected = format!("a sentence {}", self.of_what());
                return Err(self.wrong(self.lacks(), "sentences", &id.to_string(), expected));
            }
        }
        let it = (LineKind::Document, row.id, &Subject::Document(row.corpus, row.id));
        let stored = |store: &Store, release| store.document(release, row.corpus, row.id);
        self.write_new(row, it, stored, Batch::put_document).map(drop)
    }

    fn take_journal(
        &mut self,
        row: JournalRecord,
        seed: AnnotationSetId,
        chain: Vec<AnnotationSetId>,
    ) -> Result<()> {
        let Some(recipe) = self.recipe_ids.get(&row.recipe).copied() else {
            let expected = "the fingerprint of a recipe that stands before";
            return Err(self.wrong(FaultCode::Missing, "recipe", &row.recipe, expected));
        };
        self.refer("seed", Reference::Set(seed))?;
        for set in &chain {
            self.refer("chain", Reference::Set(*set))?;
        }
        let target = row.target();
        if self.adds()
            && let Some(there) = self.store.journal(self.release, seed, target, recipe)?
            // A seed may end in a round that gives no set.
            && (there.round, there.end.is_some()) >= (row.round, row.end.is_some())
        {
            self.unchanged += 1;
            return Ok(());
        }
        let entry = JournalEntry { round: row.round, end: row.end, chain };
        self.batch.put_journal(seed, target, recipe, &entry)?;
        self.count(LineKind::Journal);
        Ok(())
    }

    /// Takes a layout, which stands behind its record and is of no use to a release that is there.
    fn take_layout(&mut self, layout: &Layout) -> Result<()> {
        if self.adds() {
            let expected = "no layout in a file of additions";
            return Err(self.wrong(FaultCode::Layout, "kind", "layout", expected));
        }
        let (kind, of) = match layout {
            Layout::Release(layout) => {
                self.batch.put_release_layout(layout)?;
                (LineKind::ReleaseLayout, None)
            }
            Layout::Frame(frame, layout) => {
                self.batch.put_frame_layout(*frame, layout)?;
                let is_there = self.known.frames.contains_key(frame);
                (LineKind::FrameLayout, Some(("frame", frame.to_string(), is_there)))
            }
            Layout::LexUnit(frame, lu, layout) => {
                self.batch.put_lexunit_layout(*frame, *lu, layout)?;
                let is_there = self.known.lexunits.contains_key(&(*frame, *lu));
                (LineKind::LexunitLayout, Some(("lu", lu.to_string(), is_there)))
            }
            Layout::Document(corpus, document, layout) => {
                self.batch.put_document_layout(*corpus, *document, layout)?;
                let is_there = self.known.documents.contains(&(*corpus, *document));
                (LineKind::DocumentLayout, Some(("document", document.to_string(), is_there)))
            }
            Layout::Foreign(file, foreign) => {
                self.check_foreign(foreign)?;
                self.batch.put_foreign(*file, foreign)?;
                (LineKind::Foreign, self.has_file(*file))
            }
        };
        if let Some((field, id, false)) = of {
            let expected = "the number of a record that stands before it";
            return Err(self.wrong(FaultCode::Missing, field, &id, expected));
        }
        self.count(kind);
        Ok(())
    }

    /// Refuses pieces of XML that would make their file unreadable.
    fn check_foreign(&self, foreign: &Foreign) -> Result<()> {
        for content in foreign.places.iter().flat_map(|place| &place.content) {
            if let Some(fault) = fragment_fault(&content.xml) {
                let field = "places.content.xml";
                let expected = format!("XML that can stand inside an element; it has {fault}");
                let found = shortened(&content.xml);
                return Err(self.wrong(FaultCode::Value, field, &found, expected));
            }
        }
        Ok(())
    }

    /// The record that a file stands for: its field and number, and whether it came already.
    fn has_file(&self, file: ForeignFile) -> Option<(&'static str, String, bool)> {
        let known = &self.known;
        match file {
            ForeignFile::Top(_) => None,
            ForeignFile::Frame(frame) => {
                Some(("file.frame", frame.to_string(), known.frames.contains_key(&frame)))
            }
            ForeignFile::LexUnit(frame, lu) => {
                Some(("file.lu", lu.to_string(), known.lexunits.contains_key(&(frame, lu))))
            }
            ForeignFile::Document(corpus, document) => {
                let is_there = known.documents.contains(&(corpus, document));
                Some(("file.document", document.to_string(), is_there))
            }
        }
    }
}

/// A stored set as it would be with another's scores of filters.
fn scored_as(mut stored: AnnotationSet, other: &AnnotationSet) -> AnnotationSet {
    if let (Provenance::Generated(made), Provenance::Generated(of)) =
        (&mut stored.provenance, &other.provenance)
    {
        made.filter = of.filter;
        made.fit = of.fit;
    }
    stored
}
