//! Records that cannot be read: what each of them is, and the removal of those that stand alone.
//!
//! A key is read where its record is not, and says what the record is of. Sets, sentences and LUs
//! have others that refer to them; they go through an edit (`edit/unreadable.rs`).

use super::batch::Batch;
use super::family::Family;
use super::key::{
    AnnotationKey, ChangeKey, DecisionKey, EditionKey, JudgementKey, Key, LexUnitKey, Prefix,
    RelationKey, ResourceKey, SentenceKey, SentenceSetKey, SetKey,
};
use super::record;
use super::row_fault::{RowFault, RowFaultKind};
use super::{Action, Result, SetLocation, Store, Subject};
use crate::model::{AnnotationSetId, FrameId, LuId, ReleaseCounts, ReleaseId, SentenceId};

/// What a record that cannot be read is of, by what refers to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// An annotation set.
    Set(AnnotationSetId, SetLocation),
    /// A sentence.
    Sentence(SentenceId),
    /// An LU, with its name as far as it is known.
    LexUnit(FrameId, LuId, String),
    /// A row that nothing refers to, and what the list of changes says of its removal.
    Alone(Option<Subject>),
    /// A row that too much else refers to.
    Retained,
}

impl Store {
    /// What a record that cannot be read is of.
    ///
    /// # Errors
    /// When the engine fails.
    pub(crate) fn unreadable(&self, fault: &RowFault) -> Result<Unreadable> {
        let Some(family) = Family::parse(fault.family) else { return Ok(Unreadable::Retained) };
        Ok(match fault.kind {
            RowFaultKind::Unreadable | RowFaultKind::Failed => Unreadable::Retained,
            // No key leads to it.
            RowFaultKind::Key if family != Family::Meta => Unreadable::Alone(None),
            _ => self.of_record(family, &fault.bytes)?.unwrap_or(Unreadable::Alone(None)),
        })
    }

    fn of_record(&self, family: Family, key: &[u8]) -> Result<Option<Unreadable>> {
        let alone = |subject| Unreadable::Alone(Some(subject));
        Ok(match family {
            Family::Annotation => AnnotationKey::decode(key).map(|key| {
                let AnnotationKey { frame, lu, sentence, set, .. } = key;
                Unreadable::Set(set, SetLocation { frame, lu, sentence })
            }),
            Family::Sentence => {
                SentenceKey::decode(key).map(|key| Unreadable::Sentence(key.sentence))
            }
            Family::LexUnit => match LexUnitKey::decode(key) {
                Some(LexUnitKey { release, frame, lu }) => {
                    let name = self.name_of_lexunit(release, frame, lu)?;
                    Some(Unreadable::LexUnit(frame, lu, name))
                }
                None => None,
            },
            Family::Relation => {
                RelationKey::decode(key).map(|key| alone(Subject::Relation(key.relation)))
            }
            Family::SentenceLayers => SentenceSetKey::decode(key)
                .map(|key| alone(Subject::SentenceLayers(key.sentence, key.set))),
            Family::Judgement => JudgementKey::decode(key).map(|key| {
                let (reviewer, question) = key.parts();
                alone(Subject::Judgement(key.set, reviewer.to_owned(), question.to_owned()))
            }),
            Family::Verification => {
                SetKey::decode(key).map(|key| alone(Subject::Verification(key.set)))
            }
            Family::Decision => {
                DecisionKey::decode(key).map(|key| alone(Subject::Decision(key.frame, key.name)))
            }
            Family::Edition => EditionKey::decode(key).map(|key| alone(Subject::Edition(key.name))),
            Family::SetLocation
            | Family::BySentence
            | Family::Name
            | Family::Journal
            | Family::Layout
            | Family::Change
            | Family::Commit
            | Family::Before
            | Family::Count
            | Family::Evidence
            | Family::Resource
            | Family::Discovery
            | Family::Link => Some(Unreadable::Alone(None)),
            // A lexicon that lacks a row is none: it is to be removed and imported again.
            Family::Meta
            | Family::Frame
            | Family::SemType
            | Family::Document
            | Family::Recipe
            | Family::Synset
            | Family::Sense
            | Family::Irregular
            | Family::Predicate
            | Family::Mapping => Some(Unreadable::Retained),
        })
    }

    /// The name under which an LU is found; empty where there is none.
    fn name_of_lexunit(&self, release: ReleaseId, frame: FrameId, lu: LuId) -> Result<String> {
        for row in self.lexunit_names(release)? {
            // A name that cannot be read is another fault.
            if let Ok((of, number, name)) = row
                && (of, number) == (frame, lu)
            {
                return Ok(name);
            }
        }
        Ok(String::new())
    }

    /// Where a set is kept, by the row that keeps it.
    fn kept_at(&self, release: ReleaseId, set: AnnotationSetId) -> Result<Option<SetLocation>> {
        for row in self.engine.scan(Family::Annotation, Prefix::of(release).bytes())? {
            let key = AnnotationKey::decode(&row?.0);
            if let Some(AnnotationKey { frame, lu, sentence, .. }) = key.filter(|it| it.set == set)
            {
                return Ok(Some(SetLocation { frame, lu, sentence }));
            }
        }
        Ok(None)
    }
}

impl Batch<'_> {
    /// Deletes a row that stands alone. The row that leads to a set is written again, where the set
    /// is kept.
    ///
    /// # Errors
    /// When the engine fails.
    pub(crate) fn delete_unreadable(
        &mut self,
        fault: &RowFault,
        subject: Option<&Subject>,
    ) -> Result<()> {
        let Some(family) = Family::parse(fault.family) else { return Ok(()) };
        match fault.kind {
            // Nobody has written and counted it.
            RowFaultKind::Key => self.store.engine.delete(&mut self.rows, family, &fault.bytes)?,
            _ => self.delete_row(family, &fault.bytes)?,
        }
        if let Some(key) = ResourceKey::decode(&fault.bytes).filter(|_| family == Family::Resource)
        {
            self.delete_all_rows(key.resource)?;
        }
        if let Some(SetKey { release, set }) =
            SetKey::decode(&fault.bytes).filter(|_| family == Family::SetLocation)
            && let Some(location) = self.store.kept_at(release, set)?
        {
            let key = SetKey { release, set };
            self.put(family, &key, set, record::encode_location(set, location))?;
        }
        if let Some(image) = ChangeKey::decode(&fault.bytes).filter(|_| family == Family::Before) {
            self.drop_images(image.revision)?;
        }
        let lost = match subject {
            Some(Subject::Relation(_)) => {
                ReleaseCounts { frame_relations: 1, ..Default::default() }
            }
            Some(Subject::SentenceLayers(..)) => ReleaseCounts {
                sentence_layer_sets: 1,
                sentence_layer_occurrences: 1,
                ..Default::default()
            },
            _ => ReleaseCounts::default(),
        };
        self.counts.entry(self.release).or_default()[1].add(lost);
        if let Some(subject) = subject {
            self.record(Action::Removed, subject);
        }
        Ok(())
    }
}
