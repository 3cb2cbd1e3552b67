//! Ids in records: FrameNet's numbers as they are, those of sentences and sets coded.

use crate::model::{
    AnnotationSetId, CorpusId, DocumentId, FeId, FrameId, LuId, RecipeId, RelationId, ReleaseId,
    SemTypeId, SentenceId, SynsetId,
};

/// The case with that number.
pub(super) fn one_of<T: Copy>(all: &[T], code: u8, what: &str) -> Result<T, String> {
    all.get(usize::from(code)).copied().ok_or_else(|| format!("{what} {code}"))
}

/// The bits of a sentence or set id that is coded as its number shifted left by two, the space in
/// the low bits. That keeps small numbers small in a variable-length integer.
fn bits(code: u64) -> Option<u64> {
    (code >> 58 == 0).then_some((code & 3) << 56 | code >> 2)
}

fn set(code: u64) -> Result<AnnotationSetId, String> {
    let id = bits(code).and_then(AnnotationSetId::from_bits);
    id.ok_or_else(|| format!("{code} is no annotation-set id"))
}

fn sentence(code: u64) -> Result<SentenceId, String> {
    let id = bits(code).and_then(SentenceId::from_bits);
    id.ok_or_else(|| format!("{code} is no sentence id"))
}

coded! {
    ReleaseId as u16: |id| id.0, |number| Ok(Self(number));
    SynsetId as u32: |id| id.0, |number| Ok(Self(number));
    FrameId as u32: |id| id.0, |number| Ok(Self(number));
    FeId as u32: |id| id.0, |number| Ok(Self(number));
    LuId as u32: |id| id.0, |number| Ok(Self(number));
    SemTypeId as u32: |id| id.0, |number| Ok(Self(number));
    RelationId as u32: |id| id.0, |number| Ok(Self(number));
    CorpusId as u32: |id| id.0, |number| Ok(Self(number));
    DocumentId as u32: |id| id.0, |number| Ok(Self(number));
    RecipeId as u32: |id| id.0, |number| Ok(Self(number));
    AnnotationSetId as u64: |id| id.number() << 2 | id.space() as u64, set;
    SentenceId as u64: |id| id.number() << 2 | id.space() as u64, sentence;
}
