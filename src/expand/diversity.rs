//! How far generated sentences differ from their sources and from one another.
//!
//! Self-BLEU compares each sentence with the others of its seed and recipe: low where rounds
//! differ. Changes of part of speech compare the tags of both targets (Culkin et al. 2021, Table
//! 3). Words are compared without regard to case.

use std::collections::{BTreeMap, HashMap};

use rayon::prelude::*;
use serde::Serialize;

use super::{ExpandError, Result};
use crate::align::TagDistances;
use crate::database::{Database, DatabaseError};
use crate::model::{AnnotationSetId, Positive, Provenance, ReleaseId, Span};
use crate::query::Expression;
use crate::search::Answer;
use crate::tag::{Tag, Tagger};
use crate::text::{bleu, fold, words};

/// Sentences that are tagged together.
const BATCH: usize = 256;

/// The sentences of a round, or of all, as JSON; see `schema/diversity.schema.json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DiversityRow {
    /// The round; null for all rounds together.
    pub round: Option<Positive<u16>>,
    /// Generated sets.
    pub sets: u64,
    /// Mean BLEU of each sentence against the others of its seed and recipe; null where no seed has
    /// two.
    pub self_bleu: Option<f64>,
    /// Mean BLEU against the sentence that was rewritten.
    pub source_bleu: f64,
    /// Mean share of words that the source has not.
    pub changed_words: f64,
    /// Share of targets whose tags are not the source's (not-EXT); null without tags.
    pub pos_changed: Option<f64>,
    /// Mean Jaccard distance of the tags; null without tags.
    pub pos_jaccard: Option<f64>,
    /// The same, weighted by how often tags stand there; null without tags.
    pub pos_weighted: Option<f64>,
}

/// A sentence with its target.
struct Sentence {
    /// Case folded.
    words: Vec<String>,
    /// The same as they are written.
    written: Vec<String>,
    /// Places of the target's words.
    target: Vec<usize>,
}

impl Sentence {
    fn new(text: &str, targets: &[Span]) -> Self {
        let spans = words(text);
        let is_target = |at: &usize| targets.iter().any(|target| target.overlaps(spans[*at]));
        let written: Vec<String> =
            spans.iter().filter_map(|span| Some(span.of(text)?.to_owned())).collect();
        Self {
            words: written.iter().map(|word| fold(word)).collect(),
            target: (0..spans.len()).filter(is_target).collect(),
            written,
        }
    }

    /// Share of its words that another sentence has not, or has fewer times.
    fn changed(&self, source: &Self) -> f64 {
        let mut left: HashMap<&str, usize> = HashMap::new();
        for word in &source.words {
            *left.entry(word).or_default() += 1;
        }
        let mut kept = 0;
        for word in &self.words {
            if let Some(count) = left.get_mut(word.as_str()).filter(|count| **count > 0) {
                *count -= 1;
                kept += 1;
            }
        }
        (self.words.len() - kept) as f64 / self.words.len().max(1) as f64
    }
}

/// Sums over the sentences of a round.
#[derive(Default)]
struct Sums {
    sets: u64,
    self_bleu: f64,
    with_others: u64,
    source_bleu: f64,
    changed: f64,
    tags: TagDistances,
}

impl Sums {
    fn add(&mut self, other: &Self) {
        self.sets += other.sets;
        self.self_bleu += other.self_bleu;
        self.with_others += other.with_others;
        self.source_bleu += other.source_bleu;
        self.changed += other.changed;
        self.tags.append(&other.tags);
    }

    fn row(&self, round: Option<u16>, is_tagged: bool) -> DiversityRow {
        let mean = |sum: f64| sum / self.sets.max(1) as f64;
        let of_tags = |value: f64| is_tagged.then_some(value);
        DiversityRow {
            round,
            sets: self.sets,
            self_bleu: (self.with_others > 0).then(|| self.self_bleu / self.with_others as f64),
            source_bleu: mean(self.source_bleu),
            changed_words: mean(self.changed),
            pos_changed: of_tags(self.tags.not_exact()),
            pos_jaccard: of_tags(self.tags.jaccard()),
            pos_weighted: of_tags(self.tags.weighted()),
        }
    }
}

/// A generated sentence and where it comes from.
struct Generated {
    round: u16,
    sentence: Sentence,
    /// Place of its source among all.
    source: usize,
}

/// What a query finds: generated sentences by seed and recipe, and the sentences that were
/// rewritten.
#[derive(Default)]
struct Found {
    groups: BTreeMap<(ReleaseId, u32, AnnotationSetId), Vec<Generated>>,
    sources: Vec<Sentence>,
}

impl Found {
    fn of(database: &Database, expression: &Expression) -> Result<Self> {
        let generated = "origin=generated".parse().map_err(DatabaseError::from)?;
        let mut found = Self::default();
        let mut places: HashMap<(ReleaseId, AnnotationSetId), usize> = HashMap::new();
        let expression = Expression::conjunction([expression.clone(), generated]);
        let read = |some: &mut Vec<_>, answer: Answer| {
            if let Provenance::Generated(made) = answer.set.provenance {
                let sentence = Sentence::new(&answer.sentence.text, &answer.set.targets);
                some.push((answer.release.id, made, sentence));
            }
            Ok::<_, ExpandError>(())
        };
        database.fold_answers(&expression, Vec::new, read, |some| {
            for (release, made, sentence) in some {
                let key = (release, made.source);
                let source = match places.get(&key) {
                    Some(place) => *place,
                    None => {
                        let Some(source) = sentence_of(database, key)? else { continue };
                        found.sources.push(source);
                        places.insert(key, found.sources.len() - 1);
                        found.sources.len() - 1
                    }
                };
                let group = found.groups.entry((release, made.recipe.0, made.seed));
                group.or_default().push(Generated { round: made.round, sentence, source });
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Sums by round, without tags: measured by all threads, summed up in one order.
    fn sums(&self) -> BTreeMap<u16, Sums> {
        let groups: Vec<&Vec<Generated>> = self.groups.values().collect();
        let measured: Vec<Vec<Sums>> =
            groups.par_iter().map(|group| self.measured(group)).collect();
        let mut rounds: BTreeMap<u16, Sums> = BTreeMap::new();
        for (group, measured) in groups.into_iter().zip(&measured) {
            for (one, sums) in group.iter().zip(measured) {
                rounds.entry(one.round).or_default().add(sums);
            }
        }
        rounds
    }

    /// What is measured of each sentence of a seed and recipe, without tags.
    fn measured(&self, group: &[Generated]) -> Vec<Sums> {
        let of_one = |(at, one): (usize, &Generated)| {
            let source = &self.sources[one.source];
            let others = group.iter().enumerate().filter(|(other, _)| *other != at);
            let others: Vec<&[String]> =
                others.map(|(_, other)| &other.sentence.words[..]).collect();
            let has_others = !others.is_empty();
            Sums {
                sets: 1,
                source_bleu: bleu(&one.sentence.words, &[&source.words[..]]),
                changed: one.sentence.changed(source),
                self_bleu: if has_others { bleu(&one.sentence.words, &others) } else { 0.0 },
                with_others: u64::from(has_others),
                tags: TagDistances::default(),
            }
        };
        group.iter().enumerate().map(of_one).collect()
    }

    /// Adds what the tags of targets say; a sentence that is too long for the tagger counts for
    /// nothing.
    fn tag(&self, tagger: &Tagger, rounds: &mut BTreeMap<u16, Sums>) -> Result<()> {
        let sources = tags_of(tagger, self.sources.iter())?;
        let generated: Vec<&Generated> = self.groups.values().flatten().collect();
        let outputs = tags_of(tagger, generated.iter().map(|one| &one.sentence))?;
        for (one, output) in generated.iter().zip(&outputs) {
            if let (Some(source), Some(output)) = (&sources[one.source], output) {
                rounds.entry(one.round).or_default().tags.add(source, output);
            }
        }
        Ok(())
    }
}

fn sentence_of(
    database: &Database,
    (release, set): (ReleaseId, AnnotationSetId),
) -> Result<Option<Sentence>> {
    let Some(set) = database.store().annotation_set(release, set).map_err(DatabaseError::from)?
    else {
        return Ok(None);
    };
    let sentence = database.store().sentence(release, set.sentence).map_err(DatabaseError::from)?;
    Ok(sentence.map(|sentence| Sentence::new(&sentence.text, &set.targets)))
}

/// The tags of each sentence's target; none where it is too long.
fn tags_of<'t, 's>(
    tagger: &'t Tagger,
    sentences: impl Iterator<Item = &'s Sentence>,
) -> Result<Vec<Option<Vec<&'t str>>>> {
    let sentences: Vec<&Sentence> = sentences.collect();
    let mut found = Vec::with_capacity(sentences.len());
    for batch in sentences.chunks(BATCH) {
        let words: Vec<Vec<&str>> =
            batch.iter().map(|one| one.written.iter().map(String::as_str).collect()).collect();
        for (one, tags) in
            batch.iter().zip(tagger.tag_each(&words).map_err(|source| ExpandError::Tag { source })?)
        {
            let of_target = |tags: Vec<Tag<'t>>| -> Vec<&'t str> {
                one.target.iter().map(|at| tags[*at].name).collect()
            };
            found.push(tags.ok().map(of_target));
        }
    }
    Ok(found)
}

/// How far the generated sentences that a query finds differ, round by round, and last all of them;
/// nothing where there are none. Tags are compared where there is a tagger.
///
/// # Errors
/// When the store fails, or the tagger, or it is made for another language.
pub fn diversity(
    database: &Database,
    expression: &Expression,
    tagger: Option<&Tagger>,
) -> Result<Vec<DiversityRow>> {
    let found = Found::of(database, expression)?;
    if let Some(tagger) = tagger {
        database.check_languages([tagger.declared()], found.groups.keys().map(|key| key.0))?;
    }
    let mut rounds = found.sums();
    if let Some(tagger) = tagger {
        found.tag(tagger, &mut rounds)?;
    }
    let mut all = Sums::default();
    for sums in rounds.values() {
        all.add(sums);
    }
    let mut rows: Vec<DiversityRow> =
        rounds.iter().map(|(round, sums)| sums.row(Some(*round), tagger.is_some())).collect();
    if all.sets > 0 {
        rows.push(all.row(None, tagger.is_some()));
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_words_are_counted_as_often_as_they_stand_there() {
        let source = Sentence::new("They checked the old brakes .", &[Span::new(5, 12)]);
        let output = Sentence::new("the tested brakes, the Brakes.", &[Span::new(4, 10)]);
        // Kept: the, brakes and the full stop; of seven words.
        assert_eq!(output.written, ["the", "tested", "brakes", ",", "the", "Brakes", "."]);
        assert_eq!(output.changed(&source), 4.0 / 7.0);
        assert_eq!((output.target, source.target), (vec![1], vec![1]));
        assert_eq!(Sentence::new("", &[]).changed(&Sentence::new("", &[])), 0.0);
    }
}
