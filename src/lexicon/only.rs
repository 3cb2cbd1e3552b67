//! One thing where one is asked for: several of a name or number are an error that lists them.

use std::collections::BTreeSet;
use std::fmt;

use super::Lexicon;
use crate::database::{Database, DatabaseError, LookupError, Result};
use crate::model::{AnnotationSetId, Frame, FrameId, LexUnit, LuId, SemType};
use crate::query::{Expression, Field, Term, Test};
use crate::search::Answer;
use crate::store::NameKind;
use crate::text::called;

/// What one record is asked for by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordKey<'k> {
    /// Its name, as the release spells it.
    Name(&'k str),
    /// Its number.
    Number(u32),
}

impl fmt::Display for RecordKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Number(number) => number.fmt(f),
        }
    }
}

impl Database {
    /// The one frame of a name or number, with its release; `release` narrows.
    ///
    /// # Errors
    /// [`LookupError::UnknownName`] when there is none, [`LookupError::Ambiguous`] when there are
    /// several.
    pub fn the_frame(
        &self,
        key: RecordKey<'_>,
        release: Option<&str>,
    ) -> Result<(Lexicon<'_>, Frame)> {
        let mut found = Vec::new();
        for lexicon in self.lexicons_of(release)? {
            for frame in lexicon.frames_of_key(key)? {
                found.push((lexicon.clone(), frame));
            }
        }
        let choice = |(lexicon, frame): &(Lexicon<'_>, Frame)| lexicon.in_release(&named(frame));
        self.one(NameKind::Frame, key, found, choice)
    }

    /// The one LU of a name or number, with its release; `frame` and `release` narrow.
    ///
    /// # Errors
    /// As [`the_frame`](Self::the_frame), also for the frame.
    pub fn the_lu(
        &self,
        key: RecordKey<'_>,
        frame: Option<RecordKey<'_>>,
        release: Option<&str>,
    ) -> Result<(Lexicon<'_>, LexUnit)> {
        let mut found = Vec::new();
        let mut has_frame = frame.is_none();
        for lexicon in self.lexicons_of(release)? {
            let frames = frame.map(|frame| lexicon.frames_of_key(frame)).transpose()?;
            has_frame |= frames.as_ref().is_some_and(|frames| !frames.is_empty());
            let is_wanted = |lu: &LexUnit| {
                frames.as_ref().is_none_or(|frames| frames.iter().any(|of| of.id == lu.frame))
            };
            for lu in lexicon.lus_of_key(key)?.into_iter().filter(is_wanted) {
                let frame = lexicon.frame(lu.frame)?.as_ref().map_or(String::new(), named);
                found.push((lexicon.clone(), frame, lu));
            }
        }
        if let Some(frame) = frame.filter(|_| !has_frame) {
            return Err(self.none(NameKind::Frame, frame)?);
        }
        let choice = |(lexicon, frame, lu): &(Lexicon<'_>, String, LexUnit)| {
            lexicon.in_release(&format!("LU {} of {frame}", lu.id))
        };
        if let Some(frame) = frame.filter(|_| found.is_empty()) {
            return Err(self.not_of_frame(key, frame, release)?);
        }
        let (lexicon, _, lu) = self.one(NameKind::LexUnit, key, found, choice)?;
        Ok((lexicon, lu))
    }

    /// The error for an LU that a frame lacks: it says which frames have one.
    fn not_of_frame(
        &self,
        key: RecordKey<'_>,
        frame: RecordKey<'_>,
        release: Option<&str>,
    ) -> Result<DatabaseError> {
        let mut frames = BTreeSet::new();
        for lexicon in self.lexicons_of(release)? {
            for lu in lexicon.lus_of_key(key)? {
                let name = lexicon.frame(lu.frame)?.map(|frame| frame.name);
                frames.insert(name.unwrap_or_else(|| lu.frame.to_string()));
            }
        }
        if frames.is_empty() {
            return self.none(NameKind::LexUnit, key);
        }
        let (lexunit, frame) = (key.to_string(), frame.to_string());
        Ok(LookupError::OtherFrames { lexunit, frame, frames: frames.into_iter().collect() }.into())
    }

    /// The one annotation set of an id, with its sentence and names; `release` narrows.
    ///
    /// # Errors
    /// [`LookupError::UnknownName`] when there is none, [`LookupError::Ambiguous`] when several
    /// releases have one.
    pub fn the_annotation_set(&self, id: AnnotationSetId, release: Option<&str>) -> Result<Answer> {
        let here = release.map(|name| self.release(name)).transpose()?;
        let asked = here.as_ref().map(|release| release.id);
        let here = here.map(|release| Term::named(Field::Release, &release.name)).transpose()?;
        let is_it = Term::new(Field::Id, Test::Sets(id.into()))?;
        let terms = here.into_iter().chain([is_it]).map(Expression::Term);
        let expression = Expression::all_of(terms)?;
        let mut found = self.query(&expression)?.collect::<Result<Vec<_>>>()?;
        // Names of releases may differ in letter case alone.
        found.retain(|answer| asked.is_none_or(|id| answer.release.id == id));
        match found.len() {
            1 => Ok(found.remove(0)),
            0 => {
                let (kind, name) = ("annotation set", id.to_string());
                Err(LookupError::UnknownName { kind, name, nearest: None }.into())
            }
            _ => {
                let choices = found.iter().map(|answer| format!("`{}`", answer.release.name));
                Err(several("annotation set", &id.to_string(), choices.collect()))
            }
        }
    }

    /// The release of a name, or all.
    fn lexicons_of(&self, release: Option<&str>) -> Result<Vec<Lexicon<'_>>> {
        match release {
            Some(name) => Ok(vec![self.lexicon(name)?]),
            None => self.lexicons(),
        }
    }

    fn one<T>(
        &self,
        kind: NameKind,
        key: RecordKey<'_>,
        mut found: Vec<T>,
        choice: impl FnMut(&T) -> String,
    ) -> Result<T> {
        match found.len() {
            1 => Ok(found.remove(0)),
            0 => Err(self.none(kind, key)?),
            _ => Err(several(kind.words(), &key.to_string(), found.iter().map(choice).collect())),
        }
    }

    /// The error for a key that nothing has.
    fn none(&self, kind: NameKind, key: RecordKey<'_>) -> Result<DatabaseError> {
        match key {
            RecordKey::Name(name) => self.unknown(kind, name),
            RecordKey::Number(number) => {
                let (kind, name) = (kind.words(), number.to_string());
                Ok(LookupError::UnknownName { kind, name, nearest: None }.into())
            }
        }
    }
}

impl Lexicon<'_> {
    fn in_release(&self, what: &str) -> String {
        format!("{what} in `{}`", self.release.name)
    }

    fn frames_of_key(&self, key: RecordKey<'_>) -> Result<Vec<Frame>> {
        match key {
            RecordKey::Number(number) => Ok(self.frame(FrameId(number))?.into_iter().collect()),
            RecordKey::Name(name) => {
                let ids = self.store().frames_by_name(self.release.id, name, false)?;
                let frames = ids.into_iter().map(|id| self.frame(id));
                let frames = frames.collect::<Result<Vec<_>>>()?.into_iter().flatten();
                Ok(called(frames, name, |frame| &frame.name))
            }
        }
    }

    fn lus_of_key(&self, key: RecordKey<'_>) -> Result<Vec<LexUnit>> {
        match key {
            RecordKey::Number(number) => self.lus_of_number(LuId(number)),
            RecordKey::Name(name) => self.lus_by_name(name),
        }
    }

    /// The LUs of a number: keys hold an LU under its frame, so several frames may have one.
    fn lus_of_number(&self, id: LuId) -> Result<Vec<LexUnit>> {
        let mut found = Vec::new();
        for row in self.store().lexunit_names(self.release.id)? {
            let (frame, lu, _) = row?;
            if lu == id {
                found.extend(self.lu_of_frame(frame, id)?);
            }
        }
        Ok(found)
    }

    /// The frame of that name, as FrameNet spells it.
    ///
    /// # Errors
    /// [`LookupError::Ambiguous`] when several frames of the release are called so.
    pub fn frame_by_name(&self, name: &str) -> Result<Option<Frame>> {
        let found = self.frames_of_key(RecordKey::Name(name))?;
        at_most_one(NameKind::Frame.words(), name, found, named)
    }

    /// The LU of that number.
    ///
    /// Keys hold an LU under its frame, so this looks through the list of names, which takes some
    /// milliseconds; [`lu_of_frame`](Self::lu_of_frame) is a read of one key.
    ///
    /// # Errors
    /// [`LookupError::Ambiguous`] when LUs of several frames have the number.
    pub fn lu(&self, id: LuId) -> Result<Option<LexUnit>> {
        let of = |lu: &LexUnit| format!("`{}` of frame {}", lu.name, lu.frame);
        at_most_one(NameKind::LexUnit.words(), &id.to_string(), self.lus_of_number(id)?, of)
    }

    /// The semantic type of that name, as FrameNet spells it.
    ///
    /// # Errors
    /// [`LookupError::Ambiguous`] when several are called so.
    pub fn semtype_by_name(&self, name: &str) -> Result<Option<SemType>> {
        self.semtype_called(name, |semtype| &semtype.name)
    }

    /// The semantic type of that abbreviation, as FrameNet spells it.
    ///
    /// # Errors
    /// [`LookupError::Ambiguous`] when several are abbreviated so.
    pub fn semtype_by_abbreviation(&self, abbreviation: &str) -> Result<Option<SemType>> {
        self.semtype_called(abbreviation, |semtype| &semtype.abbreviation)
    }

    fn semtype_called(
        &self,
        name: &str,
        name_of: impl Fn(&SemType) -> &str,
    ) -> Result<Option<SemType>> {
        let found = called(self.semtypes()?.collect::<Result<Vec<_>>>()?, name, name_of);
        let of = |semtype: &SemType| format!("`{}` ({})", semtype.name, semtype.id);
        at_most_one(NameKind::SemType.words(), name, found, of)
    }
}

/// A frame as a choice among several.
fn named(frame: &Frame) -> String {
    format!("`{}` (frame {})", frame.name, frame.id)
}

fn at_most_one<T>(
    kind: &'static str,
    name: &str,
    mut found: Vec<T>,
    choice: impl FnMut(&T) -> String,
) -> Result<Option<T>> {
    if found.len() > 1 {
        return Err(several(kind, name, found.iter().map(choice).collect()));
    }
    Ok(found.pop())
}

/// The error for a name of several records of which one was asked for.
fn several(kind: &'static str, name: &str, choices: Vec<String>) -> DatabaseError {
    LookupError::Ambiguous { kind, name: name.to_owned(), choices }.into()
}
