//! The values that a set has of a field: what is shown, counted and compared.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fmt;

use super::answer::elements;
use super::matched::Match;
use super::plan::lemma;
use crate::database::Result;
use crate::model::{AnnotationSetId, Extent, Pos};
use crate::query::Field;
use crate::text::{composed, fold_letter};

/// A value of a field.
///
/// Values of one field are of one kind. They are ordered as people expect it: texts without regard
/// to case and to how letters are composed, then as they are written; numbers by value; ids by
/// origin and number.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// A name, a word or a text.
    Text(String),
    /// A whole number.
    Integer(u64),
    /// A score.
    Number(f32),
    /// An annotation set.
    Set(AnnotationSetId),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Integer(number) => number.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::Set(id) => id.fmt(f),
        }
    }
}

impl Eq for Value {}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        let kind = |value: &Self| match value {
            Self::Text(_) => 0,
            Self::Integer(_) => 1,
            Self::Number(_) => 2,
            Self::Set(_) => 3,
        };
        match (self, other) {
            (Self::Text(a), Self::Text(b)) => {
                let (one, other) = (composed(a), composed(b));
                folded(&one).cmp(folded(&other)).then_with(|| a.cmp(b))
            }
            (Self::Integer(a), Self::Integer(b)) => a.cmp(b),
            (Self::Number(a), Self::Number(b)) => a.total_cmp(b),
            (Self::Set(a), Self::Set(b)) => a.cmp(b),
            _ => kind(self).cmp(&kind(other)),
        }
    }
}

fn folded(text: &str) -> impl Iterator<Item = char> {
    text.chars().flat_map(fold_letter)
}

impl Match<'_> {
    /// The different values that the set has of a field, in order. None if it has no value, as a
    /// human set has no round, and for `since`.
    ///
    /// More than one where [`Field::has_many_values`].
    ///
    /// # Errors
    /// When the store fails.
    pub fn values(&self, field: Field) -> Result<Vec<Value>> {
        let catalog = &self.facts.catalog;
        let (release, set) = (self.release, &self.set);
        let made = self.generation();
        let text = |text: &str| vec![Value::Text(text.to_owned())];
        let optional = |text: Option<String>| text.map(Value::Text).into_iter().collect();
        Ok(match field {
            Field::Release => catalog.release(release).map_or(Vec::new(), |of| text(&of.name)),
            Field::Frame => text(&catalog.frame(release, set.frame)?),
            Field::Inherits
            | Field::Uses
            | Field::Perspective
            | Field::Subframe
            | Field::Related => {
                return self.relatives(field);
            }
            Field::Lu => text(&self.lexunit()?),
            Field::Pos => text(Pos::of_lu_name(&self.lexunit()?).as_str()),
            Field::LuStatus => text(&self.lexunit_status()?),
            Field::Lemma => text(lemma(&self.lexunit()?)),
            Field::Trigger => optional(self.trigger()?),
            Field::Text => optional(self.sentence()?.map(|sentence| sentence.text.clone())),
            Field::Fe => distinct(elements(set).map(|fe| fe.label.name.as_str())),
            Field::Gf => distinct(elements(set).filter_map(|fe| fe.gf)),
            Field::Pt => distinct(elements(set).filter_map(|fe| fe.pt)),
            Field::Ni => distinct(elements(set).filter_map(|fe| null_kind(&fe.label.extent))),
            Field::Status => text(&set.status),
            Field::Corpus => optional(self.corpus_names()?.into_iter().next()),
            Field::Doc => optional(self.document_name()?.as_deref().map(str::to_owned)),
            Field::Foreign | Field::FrameForeign | Field::LuForeign | Field::DocForeign => {
                distinct(self.foreign(field)?.iter().map(String::as_str))
            }
            Field::Split => self.split()?.map_or(Vec::new(), |split| text(split.as_str())),
            Field::Origin => text(set.provenance.origin().as_str()),
            Field::Method => made.map_or(Vec::new(), |made| text(made.method.as_str())),
            Field::Round => whole(made.map(|made| u64::from(made.round))),
            Field::Recipe => whole(made.map(|made| u64::from(made.recipe.0))),
            Field::Flag => made.map_or(Vec::new(), |made| distinct(made.flags.names())),
            Field::Paraphrase
            | Field::Aligner
            | Field::P
            | Field::R
            | Field::FrameFit
            | Field::Evokes
            | Field::SameMeaning
            | Field::Reverse
            | Field::JudgementMean => self.score(field)?.map(Value::Number).into_iter().collect(),
            Field::Edition => distinct(self.editions()?),
            Field::Judgement => return self.judgements(),
            Field::Since => Vec::new(),
            Field::Source => made.map(|made| Value::Set(made.source)).into_iter().collect(),
            Field::Seed => made.map(|made| Value::Set(made.seed)).into_iter().collect(),
            Field::Id => vec![Value::Set(set.id)],
        })
    }

    /// The names of the frames that the set's frame is related to as a field says.
    fn relatives(&self, field: Field) -> Result<Vec<Value>> {
        let (catalog, release) = (&self.facts.catalog, self.release);
        let Some(followed) = field.followed() else { return Ok(Vec::new()) };
        let relatives = catalog.relatives(release, self.set.frame, followed)?;
        let near = relatives.iter().filter(|(_, steps)| field.usual_distance().holds(**steps));
        let names = near.map(|(frame, _)| catalog.frame(release, *frame));
        let names: Vec<_> = names.collect::<Result<_>>()?;
        Ok(distinct(names.iter().map(|name| &**name)))
    }

    /// The scores of those who judged whether the frame is evoked.
    fn judgements(&self) -> Result<Vec<Value>> {
        let mut distinct = BTreeSet::new();
        for judgement in self.facts.store.judgements(self.release, self.set.id)? {
            let judgement = judgement?;
            if judgement.is_of_frame() {
                distinct.insert(u64::from(judgement.score));
            }
        }
        Ok(distinct.into_iter().map(Value::Integer).collect())
    }
}

fn whole(number: Option<u64>) -> Vec<Value> {
    number.map(Value::Integer).into_iter().collect()
}

fn distinct<'t>(texts: impl IntoIterator<Item = &'t str>) -> Vec<Value> {
    let texts = texts.into_iter().map(|text| Value::Text(text.to_owned()));
    texts.collect::<BTreeSet<_>>().into_iter().collect()
}

/// The null instantiation of a label.
pub(super) fn null_kind(extent: &Extent) -> Option<&str> {
    match extent {
        Extent::Null(kind) => Some(kind.as_str()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_ordered_as_people_expect() {
        let text = |text: &str| Value::Text(text.to_owned());
        let mut texts = ["b", "B", "a", "\u{c9}", "C", ""].map(text);
        texts.sort();
        assert_eq!(texts.map(|text| text.to_string()), ["", "a", "B", "b", "C", "\u{c9}"]);
        let mut texts = ["f", "e\u{301}", "\u{e9}", "e\u{301}a"].map(text);
        texts.sort();
        assert_eq!(texts.map(|text| text.to_string()), ["f", "e\u{301}", "\u{e9}", "e\u{301}a"]);
        let mut numbers = [10, 9, 100].map(Value::Integer);
        numbers.sort();
        assert_eq!(numbers.map(|number| number.to_string()), ["9", "10", "100"]);
        assert!(Value::Number(-0.5) < Value::Number(0.25));
        assert_eq!(Value::Number(0.95).to_string(), "0.95");
    }
}
