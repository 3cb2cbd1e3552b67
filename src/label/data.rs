//! Sentences with targets, frames and FEs: what a labeller learns from and is measured on.
//!
//! The unit is the word ([`words_with_cuts`], cut at targets). Sets whose FEs nobody annotated say
//! nothing of them and are left out. An FE that overlaps another one, as second FE layers have,
//! counts when a labeller is measured, but is not learnt. So does one that begins or ends inside a
//! word.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;

use crate::database::{Database, Result};
use crate::model::{AnnotationSetId, FeStatus, Provenance, SentenceId, Span};
use crate::query::Expression;
use crate::search::Answer;
use crate::text::{fold, words_with_cuts};

/// An FE as people, or an expansion, annotated it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct GoldElement {
    /// Where it stands, in bytes.
    pub span: Span,
    /// Its name.
    pub name: String,
}

/// A target with its frame and the FEs that are expressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelledTarget {
    /// The annotation set.
    pub set: AnnotationSetId,
    /// Name of the frame.
    pub frame: String,
    /// Name of the LU.
    pub lexunit: String,
    /// Words from the first to the last of the target.
    pub target: Range<usize>,
    /// Of a generated set the human set that its chain started from.
    pub seed: Option<AnnotationSetId>,
    /// The FEs, each once.
    pub elements: BTreeSet<GoldElement>,
    /// Those of them that are learnt: words, and the name; in order, without overlap.
    pub(super) learnt: Vec<(Range<usize>, String)>,
}

/// A sentence with its targets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelledSentence {
    /// Its id.
    pub id: SentenceId,
    /// The text.
    pub text: String,
    /// Its words, in bytes.
    pub words: Vec<Span>,
    /// Its targets whose FEs are annotated, by set.
    pub targets: Vec<LabelledTarget>,
}

impl LabelledSentence {
    /// The sentences of the sets of a release for which a query holds, in order of their ids;
    /// without those in which no set has a target and annotated FEs.
    ///
    /// # Errors
    /// When the store fails.
    pub fn read(database: &Database, release: &str, query: &Expression) -> Result<Vec<Self>> {
        let mut found: BTreeMap<SentenceId, (String, Vec<Answer>)> = BTreeMap::new();
        for answer in database.lexicon(release)?.annotations(query)? {
            let mut answer = answer?;
            let is_known = matches!(answer.set.fe_status, FeStatus::Annotated | FeStatus::Carried);
            if is_known && !answer.set.targets.is_empty() {
                let text = std::mem::take(&mut answer.sentence.text);
                found.entry(answer.sentence.id).or_insert((text, Vec::new())).1.push(answer);
            }
        }
        let sentences = found.into_iter().filter_map(|(id, (text, mut answers))| {
            answers.sort_by_key(|answer| answer.set.id);
            let cuts: Vec<Span> =
                answers.iter().flat_map(|answer| answer.set.targets.iter().copied()).collect();
            let words = words_with_cuts(&text, &cuts);
            let targets = answers.iter().filter_map(|answer| target_of(&words, answer)).collect();
            let sentence = Self { id, text, words, targets };
            (!sentence.targets.is_empty()).then_some(sentence)
        });
        Ok(sentences.collect())
    }

    /// The sentences whose text, without regard to case and white space, is none of those of
    /// `others`: what a labeller is measured on must not be among what it learns from.
    #[must_use]
    pub fn apart_from(sentences: Vec<Self>, others: &[Self]) -> Vec<Self> {
        let plain =
            |sentence: &Self| -> String { fold(&sentence.text).split_whitespace().collect() };
        let others: HashSet<String> = others.iter().map(plain).collect();
        sentences.into_iter().filter(|sentence| !others.contains(&plain(sentence))).collect()
    }

    /// At most `most` targets of each LU, spread evenly over those that there are, and the
    /// sentences that have one.
    #[must_use]
    pub fn sampled(mut sentences: Vec<Self>, most: usize) -> Vec<Self> {
        let mut sets: BTreeMap<(&str, &str), Vec<AnnotationSetId>> = BTreeMap::new();
        for target in sentences.iter().flat_map(|sentence| &sentence.targets) {
            sets.entry((&target.frame, &target.lexunit)).or_default().push(target.set);
        }
        let kept: HashSet<AnnotationSetId> = sets
            .into_values()
            .flat_map(|sets| {
                let kept = most.min(sets.len());
                (0..kept).map(move |at| sets[at * sets.len() / kept])
            })
            .collect();
        for sentence in &mut sentences {
            sentence.targets.retain(|target| kept.contains(&target.set));
        }
        sentences.retain(|sentence| !sentence.targets.is_empty());
        sentences
    }

    /// The words' texts.
    pub(super) fn words(&self) -> Vec<&str> {
        self.words.iter().filter_map(|word| word.of(&self.text)).collect()
    }

    /// How many targets some sentences have, and how many FEs those.
    #[must_use]
    pub fn counts(sentences: &[Self]) -> [usize; 2] {
        let targets = || sentences.iter().flat_map(|sentence| &sentence.targets);
        [targets().count(), targets().map(|target| target.elements.len()).sum()]
    }
}

/// The words that a span covers, if it begins and ends with words.
pub(super) fn exactly(words: &[Span], span: Span) -> Option<Range<usize>> {
    let first = words.binary_search_by_key(&span.start, |word| word.start).ok()?;
    let last = words.binary_search_by_key(&span.end, |word| word.end).ok()?;
    (first <= last).then(|| first..last + 1)
}

/// The words from the first to the last that share a character with one of some spans.
pub(super) fn covering(words: &[Span], spans: &[Span]) -> Option<Range<usize>> {
    let mut touched = (0..words.len()).filter(|at| spans.iter().any(|of| of.overlaps(words[*at])));
    let first = touched.next()?;
    Some(first..touched.next_back().unwrap_or(first) + 1)
}

fn target_of(words: &[Span], answer: &Answer) -> Option<LabelledTarget> {
    let set = &answer.set;
    let target = covering(words, &set.targets)?;
    let (mut elements, mut learnt) = (BTreeSet::new(), Vec::new());
    for layer in set.fe_layers() {
        for label in &layer.labels {
            let Some(span) = label.extent.span().filter(|span| !span.is_empty()) else { continue };
            elements.insert(GoldElement { span, name: label.name.clone() });
            if layer.rank <= 1 {
                learnt.extend(exactly(words, span).map(|words| (words, label.name.clone())));
            }
        }
    }
    learnt.sort_by_key(|(words, _)| (words.start, words.end));
    learnt.dedup_by(|later, earlier| later.0.start < earlier.0.end);
    Some(LabelledTarget {
        set: set.id,
        frame: answer.frame.to_string(),
        lexunit: answer.lexunit.to_string(),
        seed: match &set.provenance {
            Provenance::Generated(made) => Some(made.seed),
            _ => None,
        },
        target,
        elements,
        learnt,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::words;

    #[test]
    fn spans_are_words_only_where_they_begin_and_end_with_some() {
        let words = words("They did n't look it over .");
        assert_eq!(exactly(&words, Span::new(0, 8)), Some(0..2));
        assert_eq!(exactly(&words, Span::new(1, 8)), None);
        assert_eq!(exactly(&words, Span::new(0, 9)), None);
        assert_eq!(covering(&words, &[Span::new(13, 17), Span::new(21, 25)]), Some(3..6));
        assert_eq!(covering(&words, &[Span::new(4, 5)]), None, "white space");
        assert_eq!(covering(&words, &[Span::new(6, 7)]), Some(1..2));
    }
}
