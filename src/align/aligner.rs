//! The span aligner: where a target of a sentence went in a paraphrase of it.
//!
//! Culkin et al. 2021, section 4.1. Every span of the paraphrase that may answer is scored and the
//! best one wins. A discontinuous target is aligned piece by piece. The piece with the highest
//! score chooses first, the next among what does not overlap. The target's score is the lowest of
//! its pieces'.

use std::path::Path;

use super::candidates::{WordSpan, candidates, word_span};
use super::data::{AlignedSpan, distinct_pairs};
use super::encode::{PairEncoder, WordPair};
use super::error::{AlignError, TooLong};
use super::head::{Head, HeadConfig};
use super::linked::LinkedEncoder;
use super::metrics::AlignmentReport;
use super::scorer::{Question, Scored, Scorer, best};
use crate::engine::{Adapter, Device, Fingerprint, NnError, Weights, declared_languages};
use crate::learn::Artefact as _;
use crate::model::{Declared, Span};
use crate::text::{CharIndex, words, words_with_cuts};

/// Sentence pairs whose states are held at once.
const PAIRS_AT_ONCE: usize = 256;

/// A target to be found in one paraphrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AlignRequest<'a> {
    /// The sentence.
    pub source: &'a str,
    /// The pieces of the target in the sentence, in bytes; one unless it is discontinuous.
    pub pieces: &'a [Span],
    /// The paraphrase.
    pub target: &'a str,
}

/// A target to be found in one paraphrase, where the caller says what is a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WordRequest<'a> {
    /// The words of the sentence.
    pub source: &'a [String],
    /// The pieces of the target among them; one unless it is discontinuous.
    pub pieces: &'a [WordSpan],
    /// The words of the paraphrase.
    pub target: &'a [String],
}

/// Where a target went, in words: for each piece the span that answers to it with its score, and
/// the other spans with the highest scores, best first.
pub type WordRanking = Vec<((WordSpan, f32), Vec<(WordSpan, f32)>)>;

/// Where a target went.
#[derive(Debug, Clone, PartialEq)]
pub struct Alignment {
    /// The span that answers to each piece, in the order of the pieces, in bytes of the paraphrase.
    pub spans: Vec<Span>,
    /// The score of each piece's span, in [0, 1]; higher is better.
    pub scores: Vec<f32>,
    /// Score in [0, 1]; of several pieces the lowest.
    pub score: f32,
    /// Whether the score is below the head's threshold: likely nothing answers to the target.
    pub weak: bool,
}

/// Where a target went, and where else it might have gone.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// The answer.
    pub alignment: Alignment,
    /// For each piece the other spans of the paraphrase with the highest scores, best first, each
    /// with its score; they may overlap the answers to other pieces.
    pub runners_up: Vec<Vec<(Span, f32)>>,
}

/// What was found for an item of a data set: the best span with its score, none where no span may
/// answer, or why the item was not read.
pub type Prediction = Result<Option<(WordSpan, f32)>, TooLong>;

/// An encoder and the head that was trained on its states.
///
/// ```no_run
/// use fnstore::align::{AlignRequest, Aligner};
/// use fnstore::engine::Device;
/// use fnstore::model::Span;
/// # fn main() -> Result<(), fnstore::align::AlignError> {
/// let head = "models/aligner".as_ref();
/// let encoder = "models/aligner-encoder".as_ref();
/// let aligner = Aligner::open(head, encoder, &Device::cpu())?;
/// let request = AlignRequest {
///     source: "They corroborate his story.",
///     pieces: &[Span::new(5, 16)],
///     target: "They confirm his story.",
/// };
/// for alignment in aligner.align(&[request])?.into_iter().flatten() {
///     println!("{:?} {:.2}", alignment.spans, alignment.score);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Aligner {
    encoder: LinkedEncoder,
    scorer: Scorer,
    config: HeadConfig,
    fingerprint: Fingerprint,
    declared: Declared,
}

impl Aligner {
    /// Opens a head and its encoder.
    ///
    /// # Errors
    /// When either cannot be read, or the head was trained on the states of another encoder.
    pub fn open(head: &Path, encoder: &Path, device: &Device) -> Result<Self, AlignError> {
        let layer = HeadConfig::read(head)?.layer;
        let declared = declared_languages(head).or(&declared_languages(encoder));
        // What the encoder was trained along by, where it was, lies with the head.
        let adapter = Adapter::read(head).map_err(NnError::from)?;
        let encoder = PairEncoder::open(encoder, layer, adapter, device)?;
        let Head { config, mlp, linker } = Head::read(head, &encoder.fingerprint(), device)?;
        let weights = Weights::open(head).map_err(NnError::from)?;
        Ok(Self {
            scorer: Scorer::new(mlp, config.width, config.k, device)?,
            fingerprint: weights.fingerprint().map_err(NnError::from)?,
            encoder: LinkedEncoder::new(encoder, linker),
            config,
            declared,
        })
    }

    /// What the head was made for and how it did on its development data.
    #[must_use]
    pub fn config(&self) -> &HeadConfig {
        &self.config
    }

    /// The fingerprint of the head, which names its encoder's in turn.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// The languages that the head, or else its encoder, declares.
    #[must_use]
    pub fn declared(&self) -> &Declared {
        &self.declared
    }

    /// Aligns a batch; one answer per request, in order.
    ///
    /// `None` when the paraphrase has too few words for the target's pieces. An answer depends on
    /// its own request only, whatever stands beside it.
    ///
    /// # Errors
    /// When a piece lies outside its sentence or holds no word of it, a request has no piece, or a
    /// pair is too long for the encoder.
    pub fn align(
        &self,
        requests: &[AlignRequest<'_>],
    ) -> Result<Vec<Option<Alignment>>, AlignError> {
        let rankings = self.rank(requests, 0)?.into_iter();
        Ok(rankings.map(|ranking| Some(ranking?.alignment)).collect())
    }

    /// Aligns a batch as [`align`](Self::align) does, and names up to `runners_up` other spans for
    /// each piece.
    ///
    /// # Errors
    /// As [`align`](Self::align).
    pub fn rank(
        &self,
        requests: &[AlignRequest<'_>],
        runners_up: usize,
    ) -> Result<Vec<Option<Ranking>>, AlignError> {
        // 1. Words of both sides; the pieces as words.
        let mut pairs = Vec::with_capacity(requests.len());
        let mut pieces = Vec::with_capacity(requests.len());
        let mut target_words = Vec::with_capacity(requests.len());
        for (number, request) in requests.iter().enumerate() {
            let source_words = words_with_cuts(request.source, request.pieces);
            pieces.push(pieces_in_words(number, request, &source_words)?);
            let target = words(request.target);
            pairs.push(WordPair {
                source: covered(&source_words, request.source),
                target: covered(&target, request.target),
            });
            target_words.push(target);
        }
        // 2. Their places in bytes.
        let rankings = self.rank_pairs(&pairs, &pieces, runners_up)?.into_iter().zip(&target_words);
        let in_bytes = |(span, score): Scored, words: &[Span]| (in_bytes(span, words), score);
        let ranking = |(ranking, words): (Option<WordRanking>, &Vec<Span>)| {
            let (placed, others): (Vec<Scored>, Vec<Vec<Scored>>) = ranking?.into_iter().unzip();
            let others = others.into_iter();
            Some(Ranking {
                alignment: self.alignment(&placed, words),
                runners_up: others
                    .map(|of_piece| of_piece.into_iter().map(|one| in_bytes(one, words)).collect())
                    .collect(),
            })
        };
        Ok(rankings.map(ranking).collect())
    }

    /// Aligns lists of words as [`rank`](Self::rank) aligns texts. Spans hold whole words of the
    /// lists, whatever the words look like.
    ///
    /// # Errors
    /// As [`align`](Self::align).
    pub fn rank_words(
        &self,
        requests: &[WordRequest<'_>],
        runners_up: usize,
    ) -> Result<Vec<Option<WordRanking>>, AlignError> {
        fn pair<'a>(request: &WordRequest<'a>) -> WordPair<'a> {
            let words = |words: &'a [String]| words.iter().map(String::as_str).collect();
            WordPair { source: words(request.source), target: words(request.target) }
        }
        for (number, request) in requests.iter().enumerate() {
            let refuse = |WordSpan { start, end }| {
                Err(AlignError::Piece { request: number, start, end, source: None })
            };
            if request.pieces.is_empty() {
                return refuse(WordSpan::new(0, 0));
            }
            for &piece in request.pieces {
                if piece.is_empty() || piece.end as usize > request.source.len() {
                    return refuse(piece);
                }
            }
        }
        let pairs: Vec<WordPair<'_>> = requests.iter().map(pair).collect();
        let pieces: Vec<Vec<WordSpan>> =
            requests.iter().map(|request| request.pieces.to_vec()).collect();
        self.rank_pairs(&pairs, &pieces, runners_up)
    }

    /// Scores and places the pieces of each pair, a few pairs at a time.
    fn rank_pairs(
        &self,
        pairs: &[WordPair<'_>],
        pieces: &[Vec<WordSpan>],
        runners_up: usize,
    ) -> Result<Vec<Option<WordRanking>>, AlignError> {
        let mut answers = Vec::with_capacity(pairs.len());
        for start in (0..pairs.len()).step_by(PAIRS_AT_ONCE) {
            let these = start..(start + PAIRS_AT_ONCE).min(pairs.len());
            let (distinct, pair_of) = neighbours_once(&pairs[these.clone()]);
            let states = self.encoder.encode(&distinct).map_err(|error| {
                error.of_request(|pair| first_of(pair, &pair_of)).counted_from(start)
            })?;
            let questions: Vec<Question<'_>> = these
                .clone()
                .zip(&pair_of)
                .flat_map(|(at, &pair)| {
                    pieces[at].iter().map({
                        let states = &states[pair];
                        move |&span| Question { states, span }
                    })
                })
                .collect();
            let mut scores = self.scorer.score(&questions)?.into_iter();
            for at in these {
                let of_pieces: Vec<Vec<Scored>> = scores.by_ref().take(pieces[at].len()).collect();
                answers.push(place(&of_pieces).map(|placed| {
                    let ranked = of_pieces.into_iter().zip(placed);
                    ranked
                        .map(|(scored, taken)| (taken, others(scored, taken.0, runners_up)))
                        .collect()
                }));
            }
        }
        Ok(answers)
    }

    /// Finds the best span of every item of a data set, with its score, in the order of the items;
    /// none where the paraphrase has no span that may answer. An item whose sentences are too long
    /// for the encoder has no answer.
    ///
    /// # Errors
    /// When words cannot be cut into pieces (the request named is the first item of that pair), or
    /// the device fails.
    pub fn predict(&self, items: &[AlignedSpan]) -> Result<Vec<Prediction>, AlignError> {
        let (pairs, pair_of) = distinct_pairs(items);
        let mut answers = vec![Ok(None); items.len()];
        for start in (0..pairs.len()).step_by(PAIRS_AT_ONCE) {
            let these = start..(start + PAIRS_AT_ONCE).min(pairs.len());
            let words: Vec<_> = pairs[these.clone()].iter().map(|item| item.words()).collect();
            let states = self.encoder.encode_those_that_fit(&words, |_| ()).map_err(|error| {
                error.counted_from(start).of_request(|pair| first_of(pair, &pair_of))
            })?;
            let mut asked = Vec::new();
            let mut questions = Vec::new();
            for (at, item) in
                items.iter().enumerate().filter(|(at, _)| these.contains(&pair_of[*at]))
            {
                match &states[pair_of[at] - start] {
                    Ok(states) => {
                        asked.push(at);
                        questions.push(Question { states, span: item.source_span });
                    }
                    Err(too_long) => answers[at] = Err(*too_long),
                }
            }
            for (at, scores) in asked.into_iter().zip(self.scorer.score(&questions)?) {
                answers[at] = Ok(best(&scores));
            }
        }
        Ok(answers)
    }

    /// Aligns every item of a data set and compares with its gold span.
    ///
    /// Spans scored below `threshold` count as not aligned: 0 keeps all, the head's own threshold
    /// is [`HeadConfig::threshold`].
    ///
    /// # Errors
    /// As [`predict`](Self::predict).
    pub fn evaluate(
        &self,
        items: &[AlignedSpan],
        threshold: f32,
    ) -> Result<AlignmentReport, AlignError> {
        let mut report = AlignmentReport::default();
        for (item, answer) in items.iter().zip(self.predict(items)?) {
            let found = answer.map(|answer| {
                answer.filter(|(_, score)| *score >= threshold).map(|(span, _)| span)
            });
            let covered = is_candidate(item, self.config.k);
            report.add_answer(found, item.target_span, item.changed, covered);
        }
        Ok(report)
    }

    fn alignment(&self, placed: &[Scored], target_words: &[Span]) -> Alignment {
        let scores: Vec<f32> = placed.iter().map(|(_, score)| *score).collect();
        let score = scores.iter().copied().fold(1.0, f32::min);
        Alignment {
            spans: placed.iter().map(|(span, _)| in_bytes(*span, target_words)).collect(),
            scores,
            score,
            weak: score < self.config.threshold,
        }
    }
}

/// Pairs without those that are the same as the one before, and for each pair its place among
/// these: whoever looks for much in one paraphrase has it encoded once.
fn neighbours_once<'a>(pairs: &[WordPair<'a>]) -> (Vec<WordPair<'a>>, Vec<usize>) {
    let mut distinct: Vec<WordPair<'a>> = Vec::new();
    let mut pair_of = Vec::with_capacity(pairs.len());
    for pair in pairs {
        if distinct.last() != Some(pair) {
            distinct.push(pair.clone());
        }
        pair_of.push(distinct.len() - 1);
    }
    (distinct, pair_of)
}

/// A span of words in bytes.
fn in_bytes(span: WordSpan, words: &[Span]) -> Span {
    let inside = &words[span.range()];
    Span::new(inside[0].start, inside[inside.len() - 1].end)
}

/// The candidates with the highest scores but for the one that was taken; of equals the first.
fn others(mut scored: Vec<Scored>, taken: WordSpan, count: usize) -> Vec<Scored> {
    scored.retain(|(span, _)| *span != taken);
    scored.sort_by(|a, b| b.1.total_cmp(&a.1));
    scored.truncate(count);
    scored
}

/// The first item of a pair.
pub(super) fn first_of(pair: usize, pair_of: &[usize]) -> usize {
    pair_of.iter().position(|of| *of == pair).unwrap_or(pair)
}

/// Whether the gold span of an item is among its candidates.
pub(super) fn is_candidate(item: &AlignedSpan, k: u32) -> bool {
    let words = item.target.len() as u32;
    candidates(item.source_span.len(), words, k).any(|span| Some(span) == item.target_span)
}

/// The text of each word.
fn covered<'a>(words: &[Span], text: &'a str) -> Vec<&'a str> {
    let word = |span: &Span| span.of(text).expect("words are cut from this text");
    words.iter().map(word).collect()
}

/// The pieces of a request as words of its sentence, which was cut at their edges.
fn pieces_in_words(
    number: usize,
    request: &AlignRequest<'_>,
    words: &[Span],
) -> Result<Vec<WordSpan>, AlignError> {
    let refuse = |piece: Span, source| AlignError::Piece {
        request: number,
        start: piece.start,
        end: piece.end,
        source,
    };
    if request.pieces.is_empty() {
        return Err(refuse(Span::new(0, 0), None));
    }
    let index = CharIndex::new(request.source);
    let mut pieces = Vec::with_capacity(request.pieces.len());
    for &piece in request.pieces {
        index.to_chars(piece).map_err(|source| refuse(piece, Some(source)))?;
        let inside = word_span(words, piece);
        if inside.is_empty() {
            return Err(refuse(piece, None));
        }
        pieces.push(inside);
    }
    Ok(pieces)
}

/// Chooses one candidate per piece, none overlapping another: in each turn the piece whose best
/// remaining candidate scores highest takes it. `None` when a piece finds no room. Ties go to the
/// earlier piece and the earlier candidate.
fn place(scores: &[Vec<Scored>]) -> Option<Vec<Scored>> {
    let mut placed: Vec<Option<Scored>> = vec![None; scores.len()];
    for _ in scores {
        let taken: Vec<WordSpan> = placed.iter().flatten().map(|(span, _)| *span).collect();
        let mut turn: Option<(usize, Scored)> = None;
        for (piece, candidates) in scores.iter().enumerate() {
            if placed[piece].is_some() {
                continue;
            }
            let free = candidates
                .iter()
                .filter(|(span, _)| taken.iter().all(|other| span.shared(*other) == 0));
            let candidate = best(free)?;
            if turn.is_none_or(|(_, (_, score))| candidate.1 > score) {
                turn = Some((piece, candidate));
            }
        }
        let (piece, candidate) = turn?;
        placed[piece] = Some(candidate);
    }
    placed.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn scored(spans: &[(u32, u32, f32)]) -> Vec<Scored> {
        spans.iter().map(|&(start, end, score)| (WordSpan::new(start, end), score)).collect()
    }

    #[test]
    fn the_surer_piece_chooses_first() {
        let placed =
            place(&[scored(&[(0, 2, 0.6), (3, 4, 0.5)]), scored(&[(1, 2, 0.9), (0, 1, 0.2)])]);
        assert_eq!(placed, Some(scored(&[(3, 4, 0.5), (1, 2, 0.9)])));
    }

    #[test]
    fn pieces_without_room_are_not_placed() {
        assert_eq!(place(&[scored(&[(0, 1, 0.9)]), scored(&[(0, 1, 0.8)])]), None);
        assert_eq!(place(&[scored(&[])]), None);
    }

    #[test]
    fn runners_up_come_best_first_without_the_answer() {
        let all = scored(&[(0, 1, 0.2), (1, 2, 0.9), (0, 2, 0.4), (2, 3, 0.4)]);
        let others = others(all, WordSpan::new(1, 2), 2);
        assert_eq!(others, scored(&[(0, 2, 0.4), (2, 3, 0.4)]));
        let words = words("she gave it");
        assert_eq!(in_bytes(others[0].0, &words), Span::new(0, 8));
    }

    #[test]
    fn pairs_that_follow_each_other_are_encoded_once() {
        let pair = |source: &'static str| WordPair { source: vec![source], target: vec!["x"] };
        let pairs = [pair("a"), pair("a"), pair("b"), pair("a")];
        let (distinct, pair_of) = neighbours_once(&pairs);
        assert_eq!(distinct, [pair("a"), pair("b"), pair("a")]);
        assert_eq!(pair_of, [0, 0, 1, 2]);
        assert_eq!(first_of(1, &pair_of), 2, "the request that an error names");
    }

    #[test]
    fn pieces_become_whole_words() {
        let source = "She gave it up.";
        let pieces = [Span::new(4, 8), Span::new(12, 14)];
        let request = AlignRequest { source, pieces: &pieces, target: "" };
        let words = words_with_cuts(source, &pieces);
        let found = pieces_in_words(0, &request, &words).unwrap();
        assert_eq!(found, [WordSpan::new(1, 2), WordSpan::new(3, 4)]);
    }

    #[test]
    fn pieces_that_hold_no_word_or_lie_outside_are_refused() {
        let source = "caf\u{e9} noir";
        for piece in [Span::new(5, 6), Span::new(2, 2), Span::new(6, 11), Span::new(0, 4)] {
            let pieces = [piece];
            let request = AlignRequest { source, pieces: &pieces, target: "x" };
            let words = words_with_cuts(source, &pieces);
            let error = pieces_in_words(7, &request, &words).unwrap_err();
            assert!(error.to_string().contains("source 7"), "{error}");
        }
        let request = AlignRequest { source, pieces: &[], target: "x" };
        let error = pieces_in_words(3, &request, &words(source)).unwrap_err();
        assert!(error.to_string().contains("piece `0..0` of source 3"), "{error}");
    }

    proptest! {
        #[test]
        fn placed_pieces_never_overlap(
            scores in proptest::collection::vec(
                proptest::collection::vec((0_u32..8, 1_u32..4, 0.0_f32..1.0), 1..12), 1..4)
        ) {
            let scores: Vec<Vec<Scored>> = scores
                .iter()
                .map(|piece| {
                    let span = |&(start, len, score): &(u32, u32, f32)| {
                        (WordSpan::new(start, start + len), score)
                    };
                    piece.iter().map(span).collect()
                })
                .collect();
            if let Some(placed) = place(&scores) {
                prop_assert_eq!(placed.len(), scores.len());
                for (piece, chosen) in placed.iter().enumerate() {
                    prop_assert!(scores[piece].contains(chosen));
                    for other in &placed[..piece] {
                        prop_assert_eq!(chosen.0.shared(other.0), 0);
                    }
                }
            }
        }
    }
}
