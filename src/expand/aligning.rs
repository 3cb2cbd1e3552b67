//! What the aligner is asked about a sentence and one that was made of it: where FEs and targets
//! went. All that is looked for in one sentence is asked at once, which encodes the pair once.

use super::phrase_set::runs;
use super::{ExpandError, Result};
use crate::align::{AlignError, AlignRequest, Aligner, Alignment};
use crate::model::{AnnotationSetId, Span};
use crate::text::{fold, natural_spacing, words};

/// Where a span went, with the aligner's score; none where nothing answers to it.
pub(super) type Place = Option<(Span, f32)>;

/// What is looked for in a sentence that was made of another.
pub(super) struct Searching<'a> {
    source: &'a str,
    text: &'a str,
    /// Spans of FEs, list by list, with the places of those that need not be asked about.
    lists: Vec<Vec<(Span, Place)>>,
    /// Spans to be asked about together: of a list, or the pieces of a target.
    asked: Vec<(Question, Vec<Span>)>,
    targets: usize,
    /// Lists whose spans may be found by their ends.
    by_ends: Vec<usize>,
}

#[derive(Clone, Copy)]
enum Question {
    List(usize),
    Target(usize),
}

/// What was found, by the numbers that [`Searching`] gave.
pub(super) struct Found {
    lists: Vec<Vec<(Span, Place)>>,
    targets: Vec<Option<Alignment>>,
}

impl Found {
    /// What an aligner is said to have found of targets alone.
    #[cfg(test)]
    pub(super) fn of_targets(targets: Vec<Option<Alignment>>) -> Self {
        Self { lists: Vec::new(), targets }
    }

    /// Where a span of a list went.
    pub(super) fn place(&self, list: usize, span: Span) -> Place {
        self.lists[list].iter().find(|(of, _)| *of == span).and_then(|(_, place)| *place)
    }

    /// Where a target went, if the aligner is sure enough.
    pub(super) fn target(&self, target: usize) -> Option<&Alignment> {
        self.targets[target].as_ref().filter(|alignment| !alignment.weak)
    }
}

impl<'a> Searching<'a> {
    /// Nothing yet, of a source sentence in a text.
    pub(super) fn new(source: &'a str, text: &'a str) -> Self {
        let (lists, asked, by_ends) = (Vec::new(), Vec::new(), Vec::new());
        Self { source, text, lists, asked, targets: 0, by_ends }
    }

    /// Looks for spans of FEs. One whose words stand in the text once, as they were, is there;
    /// where `once` says so, they must stand in the source once, too, and one that the aligner does
    /// not find is there if both of its ends are. One without words is nowhere. Spans of one
    /// request choose places that do not overlap, so those that do overlap are asked
    /// one after the other. Gives the number of the list.
    pub(super) fn spans(&mut self, spans: &[Span], once: bool) -> usize {
        let list = self.standing(spans, once);
        self.by_ends.extend(once.then_some(list));
        let has_words =
            |span: &Span| span.of(self.source).is_some_and(|covered| !words(covered).is_empty());
        let places = self.lists[list].iter();
        let open = places.filter(|(span, place)| place.is_none() && has_words(span));
        for group in apart(open.map(|(span, _)| *span)) {
            self.asked.push((Question::List(list), group));
        }
        list
    }

    /// As [`spans`](Self::spans), of spans that are nowhere unless their words stayed.
    pub(super) fn standing(&mut self, spans: &[Span], once: bool) -> usize {
        let kept = |span: Span| {
            let covered = span.of(self.source).filter(|covered| !words(covered).is_empty())?;
            let is_one = !once || stands_once(self.source, covered).is_some();
            Some((stands_once(self.text, covered).filter(|_| is_one)?, 1.0))
        };
        self.lists.push(spans.iter().map(|&span| (span, kept(span))).collect());
        self.lists.len() - 1
    }

    /// Looks for a target, whose pieces are in order and apart. Gives its number.
    pub(super) fn target(&mut self, pieces: &[Span]) -> usize {
        self.asked.push((Question::Target(self.targets), pieces.to_vec()));
        self.targets += 1;
        self.targets - 1
    }

    /// Asks the aligner.
    pub(super) fn ask(mut self, aligner: &Aligner, seed: AnnotationSetId) -> Result<Found> {
        let requests = self.asked.iter().map(|(_, pieces)| AlignRequest {
            source: self.source,
            pieces,
            target: self.text,
        });
        let alignments = align_those_that_fit(aligner, seed, requests.collect())?;
        let threshold = aligner.config().threshold;
        let mut targets = vec![None; self.targets];
        for ((asked, spans), alignment) in self.asked.iter().zip(alignments) {
            let list = match *asked {
                Question::Target(target) => {
                    targets[target] = alignment;
                    continue;
                }
                Question::List(list) => &mut self.lists[list],
            };
            let Some(alignment) = alignment else { continue };
            for ((span, found), score) in spans.iter().zip(alignment.spans).zip(alignment.scores) {
                let at = list.iter_mut().find(|(of, _)| of == span);
                let (_, place) = at.expect("groups are of these spans");
                *place = (score >= threshold).then_some((found, score));
            }
        }
        for list in self.by_ends {
            for (span, place) in &mut self.lists[list] {
                let covered = span.of(self.source).unwrap_or_default();
                *place = place.or_else(|| ends_stand(self.text, covered));
            }
        }
        Ok(Found { lists: self.lists, targets })
    }
}

/// Aligns a batch; a pair that is too long for the encoder has no answer.
pub(super) fn align_those_that_fit(
    aligner: &Aligner,
    seed: AnnotationSetId,
    requests: Vec<AlignRequest<'_>>,
) -> Result<Vec<Option<Alignment>>> {
    let mut fitting: Vec<(usize, AlignRequest<'_>)> = requests.into_iter().enumerate().collect();
    let mut answers = vec![None; fitting.len()];
    loop {
        let batch: Vec<AlignRequest<'_>> = fitting.iter().map(|(_, request)| *request).collect();
        match aligner.align(&batch) {
            Ok(alignments) => {
                for ((at, _), alignment) in fitting.iter().zip(alignments) {
                    answers[*at] = alignment;
                }
                return Ok(answers);
            }
            Err(AlignError::TooLong { request, .. }) => {
                fitting.remove(request);
            }
            Err(source) => return Err(ExpandError::Align { seed: Some(seed), source }),
        }
    }
}

/// Spans in as few groups as it takes, in order, so that none overlaps another of its group.
fn apart(spans: impl Iterator<Item = Span>) -> Vec<Vec<Span>> {
    let mut groups: Vec<Vec<Span>> = Vec::new();
    for span in spans {
        let is_room = |group: &&mut Vec<Span>| !group.iter().any(|other| other.overlaps(span));
        match groups.iter_mut().find(is_room) {
            Some(group) => group.push(span),
            None => groups.push(vec![span]),
        }
    }
    groups
}

/// Where the words of a phrase stand in a text, up to letter case and spacing; none where they
/// stand nowhere, or in several places.
pub(super) fn stands_once(text: &str, phrase: &str) -> Option<Span> {
    let written = natural_spacing(phrase);
    let phrase = runs(&written);
    let mut run_starts = Vec::new();
    let mut is_inside = false;
    for (at, character) in text.char_indices() {
        let begins = character.is_alphanumeric() && !is_inside;
        run_starts.extend(begins.then_some(at));
        is_inside = character.is_alphanumeric();
    }
    let run = |start: &usize| {
        let rest = &text[*start..];
        let end =
            rest.find(|c: char| !c.is_alphanumeric()).map_or(text.len(), |length| start + length);
        Span::new(*start as u32, end as u32)
    };
    let found: Vec<Span> = run_starts.iter().map(run).collect();
    let words: Vec<String> = found.iter().filter_map(|span| span.of(text)).map(fold).collect();
    let mut places = (0..(words.len() + 1).saturating_sub(phrase.len()))
        .filter(|at| !phrase.is_empty() && words[*at..*at + phrase.len()] == phrase[..]);
    let (first, None) = (places.next()?, places.next()) else { return None };
    let (start, end) = (found[first].start as usize, found[first + phrase.len() - 1].end as usize);
    // Marks around the words belong to them where they stayed, too, as in `$5`.
    let marks = |text: &str| {
        text.chars().take_while(|c| !c.is_alphanumeric()).map(char::len_utf8).sum::<usize>()
    };
    let before = &written[..marks(&written)];
    let after = &written[written.trim_end_matches(|c: char| !c.is_alphanumeric()).len()..];
    let start = start - if text[..start].ends_with(before) { before.len() } else { 0 };
    let end = end + if text[end..].starts_with(after) { after.len() } else { 0 };
    Some(Span::new(start as u32, end as u32))
}

/// Words that an end of a phrase has at least.
const END: usize = 2;

/// Words that may come in between, beside as many as went.
const MORE: usize = 3;

/// Where a phrase stands of which words inside were changed: its longest ends stand once in a text,
/// in order and with hardly more between them than before. The aligner looks at spans of similar
/// length alone, and seldom is sure of long ones. The score is the share of the words that stayed.
fn ends_stand(text: &str, phrase: &str) -> Place {
    let written = natural_spacing(phrase);
    let words = runs(&written);
    // An end that stands in several places is none, nor is a shorter part of it.
    let end = |is_first: bool| {
        (END..words.len()).rev().find_map(|length| {
            let part = if is_first { &words[..length] } else { &words[words.len() - length..] };
            let is_there = runs(text).windows(length).any(|window| window == part);
            is_there.then(|| stands_once(text, &part.join(" ")).map(|span| (span, length)))
        })
    };
    let ((first, before), (last, behind)) = (end(true)??, end(false)??);
    let gone = words.len().checked_sub(before + behind)?;
    let between = text.get(first.end as usize..last.start as usize)?;
    let is_near = runs(between).len() <= gone + MORE && gone <= before + behind;
    let share = (before + behind) as f32 / words.len() as f32;
    is_near.then_some((Span::new(first.start, last.end), share))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_stayed_are_found_wherever_they_stand() {
        let text = "\"I don't know,\" she told the guards. The guards left.";
        let found = |phrase: &str| stands_once(text, phrase).and_then(|span| span.of(text));
        assert_eq!(found("` I do n't know , \""), Some("I don't know"));
        assert_eq!(found("THE guards left ."), Some("The guards left."));
        assert_eq!(found("the guards"), None, "they stand in two places");
        let money = "It cost ($5) more.";
        for phrase in ["$5", "cost ($5)", "($5) more ."] {
            let found = stands_once(money, phrase).and_then(|span| span.of(money));
            assert_eq!(found, Some(phrase.replace(" .", ".").as_str()), "{phrase}");
        }
        for phrase in ["guard", "know he", "", ". ,"] {
            assert_eq!(found(phrase), None, "{phrase}");
        }
    }

    #[test]
    fn a_long_phrase_is_found_by_its_ends() {
        let text = "He saw that the rare boats of the old harbour were mended by hand, he said.";
        let found = |phrase: &str| {
            ends_stand(text, phrase).and_then(|(span, score)| Some((span.of(text)?, score)))
        };
        let whole = "that the rare boats of the old harbour were mended";
        let kept = Some((whole, 0.9));
        assert_eq!(found("that the rare ships of the old harbour were mended"), kept);
        assert_eq!(found("that the boats of the old harbour were mended"), Some((whole, 1.0)));
        for phrase in [
            // One end, or none; ends in another order; too much that went, or came.
            "that the rare boats of the new village",
            "boats",
            "of the old harbour that the rare boats",
            "the rare fish and crabs and all that swims of the old",
            "He saw by hand",
        ] {
            assert_eq!(found(phrase), None, "{phrase}");
        }
        let twice = "the old boat and the old boat of the harbour";
        assert_eq!(ends_stand(twice, "the old yacht of the harbour"), None, "which is it?");
    }

    #[test]
    fn spans_that_overlap_are_asked_one_after_the_other() {
        let spans = [Span::new(0, 4), Span::new(2, 6), Span::new(5, 9), Span::new(3, 4)];
        let groups = apart(spans.into_iter());
        assert_eq!(groups, [vec![spans[0], spans[2]], vec![spans[1]], vec![spans[3]]]);
    }
}
