//! From what a line names to the record that is meant, as the transaction has left it.

use super::operation::{Offsets, Reference};
use super::{EditError, Made, Result, Script};
use crate::database::{DatabaseError, LookupError};
use crate::edit::staged::{StagedRow, absent};
use crate::model::{
    AnnotationSet, AnnotationSetId, CoreType, CorpusId, Document, DocumentId, FeId, Frame, FrameId,
    FrameRelation, LexUnit, LuId, RelationId, SemType, SemTypeId, Sentence, SentenceId, Span,
};
use crate::query::nearest;
use crate::store::NameKind;
use crate::text::{CharIndex, CharSpan, called, is_same};

impl Script<'_, '_> {
    /// What an earlier line called `@name`, when the text is such a name.
    fn made(&self, field: &str, text: &str) -> Result<Option<Made>> {
        let Some(name) = text.strip_prefix('@') else { return Ok(None) };
        match self.made.get(name) {
            Some(made) => Ok(Some(*made)),
            None => Err(wrong(field, text, "what an earlier line calls `as`").into()),
        }
    }

    pub(super) fn frame(&self, field: &str, reference: &Reference) -> Result<Frame> {
        let id = match reference {
            Reference::Number(number) => FrameId(*number),
            Reference::Text(text) => match self.made(field, text)? {
                Some(Made::Frame(id)) => id,
                Some(_) => return Err(wrong(field, text, "a frame").into()),
                None => self.frame_named(field, text)?,
            },
        };
        Ok(self.edits.frame(id)?.ok_or_else(|| absent::<Frame>(id))?)
    }

    fn frame_named(&self, field: &str, name: &str) -> Result<FrameId> {
        self.the_only(field, name, NameKind::Frame, &self.edits.frames_called(name)?)
    }

    /// The LU of that name or number in a frame.
    pub(super) fn lexunit(
        &self,
        field: &str,
        frame: &Frame,
        reference: &Reference,
    ) -> Result<LexUnit> {
        let id = match reference {
            Reference::Number(number) => LuId(*number),
            Reference::Text(text) => match self.made(field, text)? {
                Some(Made::LexUnit(of, id)) if of == frame.id => id,
                Some(_) => {
                    return Err(wrong(field, text, &format!("an LU of `{}`", frame.name)).into());
                }
                None => self.lexunit_named(field, frame, text)?,
            },
        };
        let there = self.edits.lexunit(frame.id, id)?;
        Ok(there.ok_or_else(|| absent::<LexUnit>(format_args!("{id} of `{}", frame.name)))?)
    }

    fn lexunit_named(&self, field: &str, frame: &Frame, name: &str) -> Result<LuId> {
        let named = called(self.edits.lexunits_called(frame.id, name)?, name, |lu| &lu.name);
        let named: Vec<LuId> = named.into_iter().map(|lu| lu.id).collect();
        if named.is_empty() {
            let lexunits = self.edits.lexunits_of(frame.id)?;
            let names = lexunits.iter().map(|lu| lu.name.as_str());
            return Err(not_of_frame(field, name, "an LU", frame, names).into());
        }
        self.the_only(field, name, NameKind::LexUnit, &named)
    }

    /// The one of that name; of none and of several an error.
    fn the_only<Id: Copy + std::fmt::Display>(
        &self,
        field: &str,
        name: &str,
        kind: NameKind,
        named: &[Id],
    ) -> Result<Id> {
        match named {
            [] => match self.edits.database.unknown(kind, name)? {
                DatabaseError::Lookup(LookupError::UnknownName { kind, nearest, .. }) => {
                    let near =
                        nearest.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                    Err(wrong(field, name, &format!("the name of a {kind} of the release{near}"))
                        .into())
                }
                other => Err(other),
            },
            [id] => Ok(*id),
            several => {
                let ids: Vec<String> = several.iter().map(Id::to_string).collect();
                let expected = format!("a number, as several are called so: {}", ids.join(", "));
                Err(wrong(field, name, &expected).into())
            }
        }
    }

    pub(super) fn relation(&self, reference: &Reference) -> Result<FrameRelation> {
        let id = match reference {
            Reference::Number(number) => RelationId(*number),
            Reference::Text(text) => match self.made("relation", text)? {
                Some(Made::Relation(id)) => id,
                _ => return Err(wrong("relation", text, "the number of a relation").into()),
            },
        };
        Ok(self.edits.relation(id)?.ok_or_else(|| absent::<FrameRelation>(id))?)
    }

    pub(super) fn sem_type(&self, field: &str, reference: &Reference) -> Result<SemType> {
        let id = match reference {
            Reference::Number(number) => SemTypeId(*number),
            Reference::Text(text) => match self.made(field, text)? {
                Some(Made::SemType(id)) => id,
                Some(_) => return Err(wrong(field, text, "a semantic type").into()),
                None => {
                    let stored = self.edits.database.store.sem_types(self.edits.release)?;
                    let types = self.edits.staged.over(stored, |_: &SemType| true)?;
                    let named = called(&types, text, |of| &of.name);
                    let named: Vec<SemTypeId> = named.into_iter().map(|of| of.id).collect();
                    self.the_only(field, text, NameKind::SemType, &named)?
                }
            },
        };
        Ok(self.edits.sem_type(id)?.ok_or_else(|| absent::<SemType>(id))?)
    }

    pub(super) fn sem_types(&self, references: &[Reference]) -> Result<Vec<SemTypeId>> {
        references.iter().map(|of| Ok(self.sem_type("sem_types", of)?.id)).collect()
    }

    pub(super) fn document(&self, name: &str) -> Result<Document> {
        let (corpus, id): (CorpusId, DocumentId) = match self.made("document", name)? {
            Some(Made::Document(corpus, id)) => (corpus, id),
            Some(_) => return Err(wrong("document", name, "a document").into()),
            None => {
                let documents = self.edits.all_documents()?;
                let named = documents_called(&documents, name);
                match named.as_slice() {
                    [key] => *key,
                    [] => return Err(self.edits.database.unknown(NameKind::Document, name)?),
                    _ => return Err(wrong("document", name, "the stem of its file").into()),
                }
            }
        };
        Ok(self.edits.document(corpus, id)?.ok_or_else(|| absent::<Document>(name))?)
    }

    pub(super) fn sentence(&self, text: &str) -> Result<Sentence> {
        let id = match self.made("sentence", text)? {
            Some(Made::Sentence(id)) => Some(id),
            Some(_) => None,
            None => SentenceId::of_written(text),
        };
        let id = id.ok_or_else(|| wrong("sentence", text, "a sentence's id, as in `x1024`"))?;
        Ok(self.edits.sentence(id)?.ok_or_else(|| absent::<Sentence>(id))?)
    }

    pub(super) fn set(&self, text: &str) -> Result<AnnotationSet> {
        let id = match self.made("set", text)? {
            Some(Made::Set(id)) => Some(id),
            Some(_) => None,
            None => AnnotationSetId::of_written(text),
        };
        let id = id.ok_or_else(|| wrong("set", text, "an annotation set's id, as in `x1024`"))?;
        Ok(self.edits.annotation_set(id)?.ok_or_else(|| absent::<AnnotationSet>(id))?)
    }
}

/// The documents that have the name as it is written, else those with one that is the same.
fn documents_called(documents: &[Document], name: &str) -> Vec<(CorpusId, DocumentId)> {
    let named = |is_it: &dyn Fn(&str) -> bool| -> Vec<_> {
        let named = documents.iter().filter(|document| document.named_by(is_it).is_some());
        named.map(StagedRow::key).collect()
    };
    let written = named(&|own| own == name);
    if written.is_empty() { named(&|own| is_same(own, name)) } else { written }
}

/// FEs of a frame by their names.
pub(super) fn elements(field: &str, frame: &Frame, names: &[String]) -> Result<Vec<FeId>> {
    names.iter().map(|name| element(field, frame, name)).collect()
}

/// The name of the FE of that name, as the frame spells it; one that the frame lacks as it is.
pub(super) fn spelled_as(frame: &Frame, name: String) -> String {
    frame.fe_by_name(&name).map_or(name, |fe| fe.name.clone())
}

/// The FE of that name.
pub(super) fn element(field: &str, frame: &Frame, name: &str) -> Result<FeId> {
    let named: Vec<FeId> = frame.fes_by_name(name).map(|fe| fe.id).collect();
    match named.as_slice() {
        [only] => Ok(*only),
        [] => {
            let names = frame.elements.iter().map(|fe| fe.name.as_str());
            Err(not_of_frame(field, name, "an FE", frame, names).into())
        }
        several => {
            let ids = several.iter().map(FeId::to_string).collect::<Vec<_>>().join(", ");
            let expected =
                format!("a name that one FE of `{}` has; the FEs {ids} are called so", frame.name);
            Err(wrong(field, name, &expected).into())
        }
    }
}

pub(super) fn core_type(text: &str) -> Result<CoreType> {
    let names = CoreType::ALL.map(CoreType::as_str).join("`, `");
    CoreType::parse(text)
        .ok_or_else(|| DatabaseError::from(wrong("core_type", text, &format!("one of `{names}`"))))
}

/// A span of a text from its code points.
pub(super) fn span(field: &str, index: &CharIndex, [start, end]: Offsets) -> Result<Span> {
    index.to_bytes(CharSpan { start, end }).map_err(|_| {
        let expected = format!("a span of the text's {} code points", index.chars());
        wrong(field, &format!("[{start}, {end}]"), &expected).into()
    })
}

pub(super) fn wrong(field: &str, value: &str, expected: &str) -> EditError {
    EditError::value(field, value, expected)
}

fn not_of_frame<'n>(
    field: &str,
    name: &str,
    kind: &str,
    frame: &Frame,
    names: impl Iterator<Item = &'n str>,
) -> EditError {
    let near =
        nearest(name, names).map_or(String::new(), |name| format!("; did you mean `{name}`?"));
    wrong(field, name, &format!("{kind} of `{}`{near}", frame.name))
}
