//! Sentences with targets, encoded for training and measuring.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::candidates::Candidates;
use super::data::FrameSentence;
use super::features::{MAX_WORDS, WordSpan, WordStates, states};
use super::measure::{AtTarget, Figures, LexunitName};
use super::reading::Tagged;
use super::scorer::{CandidateSpan, Scored, Scorer, Search, chosen};
use crate::learn::{NetworkError, WordEncoder};
use crate::model::Span;
use crate::text::words;

/// Biases of NULL that are tried on development data.
const BIASES: std::ops::RangeInclusive<i32> = -12..=12;

/// A bias is so many times this.
const BIAS_STEP: f32 = 0.25;

/// A target of an encoded sentence.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Gold {
    /// The words that it covers, with what they may evoke; none where it covers no word or too
    /// many.
    pub(super) candidate: Option<CandidateSpan>,
    /// The words, however many; none where it does not begin and end where they do.
    pub(super) exact: Option<WordSpan>,
    /// Number of its frame; none for one that is no output of the network.
    pub(super) frame: Option<usize>,
    /// Its LU.
    pub(super) lexunit: LexunitName,
}

/// A sentence ready for the network.
#[derive(Debug, Clone)]
pub(super) struct Encoded {
    pub(super) states: WordStates,
    pub(super) is_whole: bool,
    pub(super) targets: Vec<Gold>,
    /// The spans that are forms of LUs, of a sentence all of whose targets are known.
    pub(super) known: Vec<CandidateSpan>,
}

impl Encoded {
    /// Asks by parts of speech: which spans may be targets, and of the targets which LUs fit. Where
    /// none fits a target, all that it is a form of may be meant.
    pub(super) fn read(&mut self, sentence: Tagged<'_>, candidates: &Candidates) {
        if self.is_whole {
            self.known = CandidateSpan::read(sentence, candidates);
        }
        let discontinuous = CandidateSpan::discontinuous(sentence, candidates);
        for target in &mut self.targets {
            let whole = target.candidate.as_ref();
            let read = whole.and_then(|of| CandidateSpan::read_at(of.span, sentence, candidates));
            let around = || discontinuous.iter().find(|of| Some(of.span) == target.exact).cloned();
            target.candidate = read.or_else(around).or(target.candidate.take());
        }
    }
}

/// Encodes sentences; returns how many are too long, too, which are left out. `done` hears how many
/// are finished.
pub(super) fn encode(
    encoder: &WordEncoder,
    layers: usize,
    sentences: &[FrameSentence],
    frames: &HashMap<&str, usize>,
    asked: (&Candidates, Search),
    done: &mut dyn FnMut(usize),
) -> Result<(Vec<Encoded>, usize), NetworkError> {
    let all = encode_each(encoder, layers, sentences, frames, asked, done)?;
    let encoded: Vec<Encoded> = all.into_iter().flatten().collect();
    let left_out = sentences.len() - encoded.len();
    Ok((encoded, left_out))
}

/// Encodes sentences as [`encode`] does, with `None` in the place of each that is too long.
pub(super) fn encode_each(
    encoder: &WordEncoder,
    layers: usize,
    sentences: &[FrameSentence],
    frames: &HashMap<&str, usize>,
    (candidates, search): (&Candidates, Search),
    done: &mut dyn FnMut(usize),
) -> Result<Vec<Option<Encoded>>, NetworkError> {
    let cut: Vec<Vec<Span>> = sentences.iter().map(|sentence| words(&sentence.text)).collect();
    let texts: Vec<Vec<&str>> = sentences
        .iter()
        .zip(&cut)
        .map(|(sentence, words)| words.iter().filter_map(|word| word.of(&sentence.text)).collect())
        .collect();
    let mut encoded = Vec::with_capacity(sentences.len());
    let states = states(encoder, layers, &texts, &|at| window(&sentences[at], &cut[at]), done)?;
    for (at, states) in states.into_iter().enumerate() {
        let Ok(states) = states else {
            encoded.push(None);
            continue;
        };
        let (sentence, words) = (&sentences[at], &texts[at]);
        let targets = sentence.targets.iter().map(|target| {
            let span = covered(&cut[at], target.span);
            Gold {
                candidate: span.map(|span| CandidateSpan::at(span, words, candidates)),
                exact: exact(&cut[at], target.span),
                frame: frames.get(&*target.frame).copied(),
                lexunit: (Arc::clone(&target.frame), Arc::clone(&target.lexunit)),
            }
        });
        let targets: Vec<Gold> = targets.collect();
        let known = match sentence.is_whole {
            true => CandidateSpan::all(words, candidates, search),
            false => Vec::new(),
        };
        encoded.push(Some(Encoded { states, is_whole: sentence.is_whole, targets, known }));
    }
    Ok(encoded)
}

/// The words of a sentence whose states are needed: all, or the targets with a neighbour on either
/// side.
fn window(sentence: &FrameSentence, words: &[Span]) -> std::ops::Range<usize> {
    if sentence.is_whole {
        return 0..words.len();
    }
    let spans = sentence.targets.iter().filter_map(|target| covered(words, target.span));
    let spans: Vec<WordSpan> = spans.collect();
    let first = spans.iter().map(|span| span.first).min().unwrap_or_default();
    let end = spans.iter().map(|span| span.end()).max().unwrap_or_default();
    first.saturating_sub(1)..(end + 1).min(words.len())
}

/// The words that a target covers at least in part.
fn touched(words: &[Span], target: Span) -> Option<WordSpan> {
    let first = words.iter().position(|word| word.overlaps(target))?;
    let last = words.iter().rposition(|word| word.overlaps(target))?;
    Some(WordSpan { first, len: last + 1 - first })
}

/// The words that a target covers at least in part, if they are not too many for one piece.
pub(super) fn covered(words: &[Span], target: Span) -> Option<WordSpan> {
    touched(words, target).filter(|span| span.len <= MAX_WORDS)
}

/// The words that a target covers, if it begins and ends where they do.
fn exact(words: &[Span], target: Span) -> Option<WordSpan> {
    touched(words, target).filter(|span| {
        words[span.first].start == target.start && words[span.end() - 1].end == target.end
    })
}

/// What a network says of some encoded sentences.
pub(super) struct Answers<'a> {
    data: &'a [Encoded],
    search: Search,
    /// At the spans of each sentence.
    spans: Vec<Vec<Scored>>,
    /// At the targets of each sentence that have words, in their order.
    targets: Vec<Vec<Scored>>,
}

impl<'a> Answers<'a> {
    pub(super) fn of(
        scorer: &Scorer,
        data: &'a [Encoded],
        search: Search,
    ) -> Result<Self, NetworkError> {
        let spans = data.iter().map(|of| (&of.states, of.known.clone())).collect();
        let targets = data.iter().map(|of| {
            let asked = of.targets.iter().filter_map(|target| target.candidate.clone());
            (&of.states, asked.collect())
        });
        Ok(Self {
            data,
            search,
            spans: scorer.score(spans)?,
            targets: scorer.score(targets.collect())?,
        })
    }

    /// Counts the sentences at a bias of NULL.
    pub(super) fn add_to(&self, figures: &mut Figures, bias: f32, seen: &HashSet<LexunitName>) {
        for (of, (spans, targets)) in self.data.iter().zip(self.spans.iter().zip(&self.targets)) {
            let mut at_targets = targets.iter();
            for target in &of.targets {
                let scored = target.candidate.as_ref().and_then(|_| at_targets.next());
                figures.add_target(
                    AtTarget {
                        gold: target.frame,
                        lexunit: &target.lexunit,
                        found: scored.map(|of| [of.best(self.search), of.best_of_all()]),
                        candidates: scored.map_or(&[][..], |of| &of.candidate.candidates),
                    },
                    seen,
                );
            }
            let gold = of.targets.iter().map(|target| (target.exact, target.frame));
            let found = chosen(spans, self.search, bias);
            let found = found.into_iter().map(|(at, frame)| (spans[at].candidate.span, frame));
            figures.add_spans(&gold.collect::<Vec<_>>(), &found.collect::<Vec<_>>());
        }
    }

    /// The bias at which F1 of spans with frames is highest, and the figures there.
    pub(super) fn tuned(&self, seen: &HashSet<LexunitName>) -> (f32, Figures) {
        let tried = BIASES.map(|times| times as f32 * BIAS_STEP);
        let tried = tried.map(|bias| {
            let mut figures = Figures::default();
            self.add_to(&mut figures, bias, seen);
            (bias, figures)
        });
        tried
            .max_by(|(_, one), (_, other)| one.spans.f1().total_cmp(&other.spans.f1()))
            .expect("some biases are tried")
    }
}
