//! Numbers that stand for several records of a release, and fresh ones across its files.
//!
//! The first record of a number has it; a later one gets a fresh number, told apart by its name.
//! What names a number beside a name means the record of that name, where there are several.

use super::Assembler;
use crate::database::Result;
use crate::framenet::WarningCode;
use crate::model::{
    CorpusId, DocumentId, FeId, Frame, FrameId, LexUnit, LuId, NumberKind, Title, WrittenNumbers,
    is_counted,
};

impl Assembler<'_> {
    /// What fresh numbers stand for so far.
    pub(in crate::transfer) fn numbers(&self) -> &WrittenNumbers {
        &self.numbers
    }

    /// Takes over what the fresh numbers of a file stand for. `false` if one stands for something
    /// else in an earlier file; then the file must be read again beside [`numbers`](Self::numbers).
    pub(in crate::transfer) fn take_numbers(&mut self, numbers: &WrittenNumbers) -> bool {
        self.numbers.merge(numbers)
    }

    /// Takes note of a number that another store counted out: this one gives none up to it.
    pub(super) fn see_number(&mut self, number: u32) {
        if is_counted(number) {
            self.counted = self.counted.max(number);
        }
    }

    /// The number of a record whose `number` another one has already.
    fn fresh_number(
        &mut self,
        kind: NumberKind,
        number: u32,
        name: &str,
        is_taken: impl Fn(&Self, u32) -> bool,
    ) -> u32 {
        let text = self.written(kind, number);
        let mut apart = std::mem::take(&mut self.apart);
        let fresh = apart.find(kind, &text, name, |beside| {
            let number = self.numbers.number_of(kind, &text, beside);
            let fresh = u32::try_from(number).unwrap_or(u32::MAX);
            (!is_taken(self, fresh)).then_some(fresh)
        });
        self.apart = apart;
        fresh
    }

    /// Whether a number stands for ids that are not there. What has none is told apart by its
    /// content, so that it does not depend on the order of files.
    pub(super) fn is_unnumbered(&self, kind: NumberKind, number: u64) -> bool {
        self.numbers.text(kind, number) == Some("")
    }

    /// A number as its release writes it.
    pub(super) fn written(&self, kind: NumberKind, number: u32) -> String {
        self.numbers.text(kind, number.into()).map_or(number.to_string(), str::to_owned)
    }

    /// The fresh number of the record of a number and a name, if one has it.
    fn called(&self, kind: NumberKind, number: u32, name: &str) -> Option<u32> {
        if self.numbers.is_empty() {
            return None;
        }
        let number = self.numbers.find(kind, &self.written(kind, number), name).ok()?;
        u32::try_from(number).ok()
    }

    fn warn_repeated(&mut self, file: &str, what: &str, fresh: u32) -> Result<()> {
        let detail = format!("{what} has the number of an earlier one; kept as {fresh}");
        self.warn(WarningCode::IdRepeated, file, 0, detail)
    }

    /// The number under which a frame's file is kept.
    pub(super) fn own_frame_id(&mut self, file: &str, frame: &Frame) -> Result<FrameId> {
        let Frame { id, name, .. } = frame;
        if !self.frames.contains_key(id) {
            return Ok(*id);
        }
        let taken = |this: &Self, number| this.frames.contains_key(&FrameId(number));
        let fresh = self.fresh_number(NumberKind::Frame, id.0, name, taken);
        self.warn_repeated(file, &format!("frame `{name}` ({id})"), fresh)?;
        Ok(FrameId(fresh))
    }

    /// The number under which an LU's file is kept.
    pub(super) fn own_lexunit_id(&mut self, file: &str, lu: &LexUnit) -> Result<LuId> {
        let (frame, id) = (lu.frame, self.lexunit_called(lu.frame, lu.id, &lu.name));
        if !self.lu_files.contains_key(&(frame, id)) {
            return Ok(id);
        }
        let taken = |this: &Self, number| {
            let key = (frame, LuId(number));
            this.lu_files.contains_key(&key)
                || this.waiting.get(&key).is_some_and(|(_, waiting)| waiting.name != lu.name)
        };
        let fresh = self.fresh_number(NumberKind::LexUnit, id.0, &lu.name, taken);
        self.warn_repeated(file, &format!("LU `{}` ({id})", lu.name), fresh)?;
        Ok(LuId(fresh))
    }

    /// The number under which a full-text file is kept.
    pub(super) fn own_document_id(
        &mut self,
        file: &str,
        corpus: CorpusId,
        (id, title): &(DocumentId, Title),
    ) -> Result<DocumentId> {
        let is_taken = |this: &Self, number| {
            let known = this.corpora.get(&(corpus, DocumentId(number)));
            known.is_some_and(|known| !known.file.is_empty())
        };
        if !is_taken(self, id.0) {
            return Ok(*id);
        }
        let fresh = self.fresh_number(NumberKind::Document, id.0, &title.name, is_taken);
        let what = format!("document {title} ({id} of corpus {corpus})");
        self.warn_repeated(file, &what, fresh)?;
        Ok(DocumentId(fresh))
    }

    /// The frame that a number and a name stand for: where several have the number, that of the
    /// name; where no number is given, too.
    pub(super) fn frame_called(&self, id: FrameId, name: &str) -> FrameId {
        let is_called =
            |id: &FrameId| self.known_frame(*id).is_some_and(|frame| frame.name == name);
        if is_called(&id) {
            return id;
        }
        let called = self.called(NumberKind::Frame, id.0, name).map(FrameId);
        let is_given = || self.numbers.text(NumberKind::Frame, id.0.into()) != Some("");
        let named = || self.frames_by_name.get(name).copied().filter(|_| !is_given());
        called.filter(is_called).or_else(named).unwrap_or(id)
    }

    /// So for an LU of a frame.
    pub(super) fn lexunit_called(&self, frame: FrameId, id: LuId, name: &str) -> LuId {
        let is_called = |id: &LuId| {
            let waiting = self.waiting.get(&(frame, *id)).map(|(_, lu)| &lu.name);
            waiting.or_else(|| self.lexunits.get(&(frame, *id))).is_some_and(|known| known == name)
        };
        if is_called(&id) {
            return id;
        }
        let called = self.called(NumberKind::LexUnit, id.0, name).map(LuId);
        called.filter(is_called).unwrap_or(id)
    }

    /// So for an FE of a frame.
    pub(super) fn element_called(&self, frame: FrameId, id: FeId, name: &str) -> FeId {
        let Some(known) = self.known_frame(frame).filter(|known| known.has_repeated) else {
            return id;
        };
        let called = self.called(NumberKind::FrameElement, id.0, name).map(FeId);
        let named = known.by_name.get(name);
        match called {
            Some(called) if named == Some(&called) => called,
            _ => id,
        }
    }
}
