//! The values that a set has of a field: what is shown, counted and compared.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::answer::elements;
use super::matched::Match;
use super::plan::lemma;
use crate::database::Result;
use crate::model::{Extent, Pos};
use crate::query::{Field, FieldKind, Value};

impl Match<'_> {
    /// The different values that the set has of a field, in order. None if it has no value, as a
    /// human set has no round, and for `since`.
    ///
    /// More than one where [`Field::has_many_values`].
    ///
    /// # Errors
    /// When the store fails.
    pub fn values(&self, field: Field) -> Result<Vec<Value>> {
        let made = self.generation();
        let one = |value: Option<Value>| Ok(value.into_iter().collect());
        match (field.kind(), field) {
            (FieldKind::Integer, _) => one(made.map(|made| Value::Integer(u64::from(made.round)))),
            (_, Field::Recipe) => one(made.map(|made| Value::Integer(u64::from(made.recipe.0)))),
            (FieldKind::Decimal | FieldKind::Fraction, _) => {
                one(self.score(field)?.map(Value::Number))
            }
            (FieldKind::Percentage, _) => self.judgements(),
            (FieldKind::Id, Field::Source) => one(self.set.provenance.source().map(Value::Set)),
            (FieldKind::Id, Field::Seed) => one(made.map(|made| Value::Set(made.seed))),
            (FieldKind::Id, _) => one(Some(Value::Set(self.set.id))),
            (FieldKind::Sentence, _) => one(Some(Value::Sentence(self.set.sentence))),
            (FieldKind::Revision, _) => Ok(Vec::new()),
            _ => {
                let mut texts = BTreeSet::new();
                self.has_text(field, |text| {
                    texts.insert(Value::Text(text.to_owned()));
                    // Of what a corpus is called the first is shown.
                    field == Field::Corpus
                })?;
                Ok(texts.into_iter().collect())
            }
        }
    }

    /// Whether a text that the set has of a field is the one that is looked for.
    pub(super) fn has_text(
        &self,
        field: Field,
        mut is_it: impl FnMut(&str) -> bool,
    ) -> Result<bool> {
        let catalog = &self.facts.catalog;
        let (release, set, made) = (self.release, &self.set, self.generation());
        Ok(match field {
            Field::Release => catalog.release(release).is_some_and(|of| is_it(&of.name)),
            Field::Frame => is_it(&catalog.frame(release, set.frame)?),
            Field::Inherits
            | Field::Uses
            | Field::Perspective
            | Field::Subframe
            | Field::Related => self.relatives(field)?.iter().any(|frame| is_it(frame)),
            Field::Lu => is_it(&self.lexunit()?),
            Field::Pos => is_it(Pos::of_lu_name(&self.lexunit()?).as_str()),
            Field::LuStatus => is_it(&self.lexunit_status()?),
            Field::Lemma => is_it(lemma(&self.lexunit()?)),
            Field::Synset | Field::Vn | Field::Pb | Field::Hypernym => {
                let linked = catalog.linked(field)?;
                let of_lu = linked.get(&(release, set.frame, set.lu));
                of_lu.is_some_and(|values| values.iter().any(|value| is_it(value)))
            }
            Field::Trigger => self.trigger()?.is_some_and(|trigger| is_it(&trigger)),
            Field::Text => self.sentence()?.is_some_and(|sentence| is_it(&sentence.text)),
            Field::Fe => elements(set).any(|fe| is_it(&fe.label.name)),
            Field::Gf => elements(set).filter_map(|fe| fe.gf).any(is_it),
            Field::Pt => elements(set).filter_map(|fe| fe.pt).any(is_it),
            Field::Ni => elements(set).filter_map(|fe| null_kind(&fe.label.extent)).any(is_it),
            Field::Status => is_it(&set.status),
            Field::Corpus => self.corpus_names()?.iter().any(|name| is_it(name)),
            Field::Doc => self.document_name()?.is_some_and(|name| is_it(&name)),
            Field::Foreign | Field::FrameForeign | Field::LuForeign | Field::DocForeign => {
                self.foreign(field)?.iter().any(|text| is_it(text))
            }
            Field::Split => self.split()?.is_some_and(|split| is_it(split.as_str())),
            Field::Origin => is_it(set.provenance.origin().as_str()),
            Field::Method => made.is_some_and(|made| is_it(made.method.as_str())),
            Field::Flag => made.is_some_and(|made| made.flags.names().into_iter().any(is_it)),
            Field::Edition => self.editions()?.into_iter().any(is_it),
            Field::Round
            | Field::Paraphrase
            | Field::Aligner
            | Field::P
            | Field::R
            | Field::FrameFit
            | Field::Evokes
            | Field::SameMeaning
            | Field::Reverse
            | Field::Judgement
            | Field::JudgementMean
            | Field::Sentence
            | Field::Source
            | Field::Seed
            | Field::Id
            | Field::Recipe
            | Field::Since => false,
        })
    }

    /// The names of the frames that the set's frame is related to as a field says.
    fn relatives(&self, field: Field) -> Result<Vec<Arc<str>>> {
        let (catalog, release) = (&self.facts.catalog, self.release);
        let Some(followed) = field.followed() else { return Ok(Vec::new()) };
        let relatives = catalog.relatives(release, self.set.frame, followed)?;
        let near = relatives.iter().filter(|(_, steps)| field.usual_distance().holds(**steps));
        let names = near.map(|(frame, _)| catalog.frame(release, *frame));
        names.collect()
    }

    /// The scores of those who judged whether the frame is evoked.
    fn judgements(&self) -> Result<Vec<Value>> {
        let mut distinct = BTreeSet::new();
        for judgement in self.facts.store().judgements(self.release, self.set.id)? {
            let judgement = judgement?;
            if judgement.is_of_frame() {
                distinct.insert(u64::from(judgement.score));
            }
        }
        Ok(distinct.into_iter().map(Value::Integer).collect())
    }
}

/// The null instantiation of a label.
pub(super) fn null_kind(extent: &Extent) -> Option<&str> {
    match extent {
        Extent::Null(kind) => Some(kind.as_str()),
        _ => None,
    }
}
