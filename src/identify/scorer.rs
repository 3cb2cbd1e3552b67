//! Scores of frames at spans, and the choice of spans.

use super::candidates::{Candidates, DiscontinuousForm};
use super::features::{Shape, WordSpan, WordStates};
use super::reading::{Fit, Tagged};
use crate::engine::{ComputeError, Device, Tensor};
use crate::learn::{Mlp, Network, NetworkError, softmax};

/// Spans that are scored together; bounds memory, not results.
const CHUNK: usize = 1024;

/// What a frame costs at a known span that no LU of the form evokes, in nats; chosen on the
/// development data.
const OUTSIDE: f32 = 8.0;

/// What several words that are likely an LU gain against NULL, in nats.
const FAVOUR: f32 = 6.0;

/// Which spans may be targets, and which frames they may evoke.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Search {
    /// Forms of LUs, and the frames of those.
    #[default]
    Lexicon,
    /// Any span of at most three words, and any frame; forms of LUs evoke frames of those rather
    /// than others.
    Open,
}

/// A span with the LUs that it may be a form of.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct CandidateSpan {
    pub(super) span: WordSpan,
    /// Last words of the span that are the target's beside the first, an object in between; 0 where
    /// the whole span is the target.
    pub(super) rest: usize,
    /// Frames of those LUs, ascending.
    pub(super) candidates: Vec<usize>,
    /// Numbers of those LUs, where parts of speech chose them.
    pub(super) lexunits: Vec<u32>,
    /// How sure parts of speech are of them.
    pub(super) fit: Fit,
    /// Whether its last word may be a preposition of what follows.
    pub(super) may_have_preposition: bool,
}

impl CandidateSpan {
    /// The spans of some words that may be targets.
    pub(super) fn all(words: &[&str], candidates: &Candidates, search: Search) -> Vec<Self> {
        let asked = WordSpan::all(words.len()).map(|span| Self::at(span, words, candidates));
        asked.filter(|asked| search == Search::Open || !asked.candidates.is_empty()).collect()
    }

    /// A span of some words.
    pub(super) fn at(span: WordSpan, words: &[&str], candidates: &Candidates) -> Self {
        let candidates = candidates.frames(&words[span.first..span.end()]);
        Self { span, candidates, ..Self::default() }
    }

    /// The forms of LUs in a sentence whose parts of speech are known.
    pub(super) fn read(sentence: Tagged<'_>, candidates: &Candidates) -> Vec<Self> {
        let spans = WordSpan::all(sentence.words.len());
        let mut all: Vec<Self> =
            spans.filter_map(|span| Self::read_at(span, sentence, candidates)).collect();
        all.extend(Self::discontinuous(sentence, candidates));
        all
    }

    /// The forms of LUs that stand around an object in a sentence.
    pub(super) fn discontinuous(sentence: Tagged<'_>, candidates: &Candidates) -> Vec<Self> {
        let discontinuous = candidates.discontinuous(sentence).into_iter();
        let asked = discontinuous.map(|DiscontinuousForm { span, rest, lexunits }| Self {
            rest,
            ..Self::of(span, lexunits, candidates, Fit::Certain)
        });
        asked.collect()
    }

    /// A span with the LUs that fit there; none where none does.
    pub(super) fn read_at(
        span: WordSpan,
        sentence: Tagged<'_>,
        candidates: &Candidates,
    ) -> Option<Self> {
        let numbers = candidates.numbers(&sentence.words[span.first..span.end()]);
        let fits = candidates
            .numbered(numbers)
            .map(|lexunit| sentence.fit(span, &lexunit.lexunit, lexunit.is_discontinuous));
        let fits: Vec<Fit> = fits.collect();
        let fit = fits.iter().copied().max().filter(|fit| *fit > Fit::No)?;
        let fitting = numbers.iter().zip(&fits).filter(|(_, fit)| **fit > Fit::No);
        let of = Self::of(span, fitting.map(|(number, _)| *number).collect(), candidates, fit);
        Some(Self { may_have_preposition: sentence.may_have_preposition(span), ..of })
    }

    fn of(span: WordSpan, lexunits: Vec<u32>, all: &Candidates, fit: Fit) -> Self {
        let mut candidates: Vec<usize> = all.numbered(&lexunits).map(|lu| lu.frame).collect();
        candidates.sort_unstable();
        candidates.dedup();
        Self { span, candidates, lexunits, fit, ..Self::default() }
    }

    /// The words of the target: one piece, or two around an object.
    pub(super) fn pieces(&self) -> Vec<WordSpan> {
        let Self { span, rest, .. } = *self;
        match rest {
            0 => vec![span],
            _ => vec![
                WordSpan { first: span.first, len: 1 },
                WordSpan { first: span.end() - rest, len: rest },
            ],
        }
    }

    fn overlaps(&self, other: &Self) -> bool {
        let others = other.pieces();
        self.pieces().iter().any(|piece| others.iter().any(|other| piece.overlaps(*other)))
    }

    /// Number of its words.
    fn len(&self) -> usize {
        if self.rest == 0 { self.span.len } else { 1 + self.rest }
    }
}

/// The scores (logits) of the frames and of NULL, the last, at a span.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scored {
    pub(super) candidate: CandidateSpan,
    logits: Vec<f32>,
}

impl Scored {
    /// The likeliest frame.
    pub(super) fn best(&self, search: Search) -> usize {
        best_of(&self.outcomes(search)).0
    }

    /// The likeliest frame among those of all frames, without the lexicon.
    pub(super) fn best_of_all(&self) -> usize {
        let frames = self.logits[..self.logits.len() - 1].iter().copied().enumerate();
        best_of(&frames.collect::<Vec<_>>()).0
    }

    /// The frames that it may evoke with their scores.
    fn outcomes(&self, search: Search) -> Vec<(usize, f32)> {
        let frames = self.logits.len() - 1;
        let candidates = &self.candidate.candidates;
        if search == Search::Lexicon && !candidates.is_empty() {
            return candidates.iter().map(|frame| (*frame, self.logits[*frame])).collect();
        }
        let outside = |frame: usize| {
            let is_in = candidates.is_empty() || candidates.binary_search(&frame).is_ok();
            if is_in { 0.0 } else { OUTSIDE }
        };
        (0..frames).map(|frame| (frame, self.logits[frame] - outside(frame))).collect()
    }

    /// The shares of frames beside that of NULL, the highest first, and NULL's own.
    pub(super) fn frames_and_null(&self, search: Search, bias: f32) -> (Vec<(usize, f32)>, f32) {
        let null = self.logits[self.logits.len() - 1] + bias;
        let outcomes = self.outcomes(search);
        let scores = outcomes.iter().map(|(_, score)| *score);
        let mut shares: Vec<f32> = scores.chain([null]).collect();
        softmax(&mut shares);
        let null = shares.pop().unwrap_or_default();
        let frames = outcomes.iter().map(|(frame, _)| *frame);
        let mut ranked: Vec<(usize, f32)> = frames.zip(shares).collect();
        ranked.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        (ranked, null)
    }

    /// The likeliest frame, and by how much it is likelier than NULL.
    fn over_null(&self, search: Search, bias: f32) -> (usize, f32) {
        let (frame, score) = best_of(&self.outcomes(search));
        (frame, score - self.logits[self.logits.len() - 1] - bias)
    }

    /// The likeliest frame of an LU that fits so, if NULL is not likelier or the LU is certain, and
    /// by how much.
    fn margin(&self, fit: Fit, search: Search, bias: f32) -> Option<(usize, f32)> {
        let (frame, margin) = self.over_null(search, bias);
        let margin = margin + if fit == Fit::Likely { FAVOUR } else { 0.0 };
        (margin > 0.0 || fit == Fit::Certain).then_some((frame, margin))
    }

    /// Whether it is chosen though NULL is likelier: its LU is certain, or favoured.
    pub(super) fn is_by_form(&self, search: Search, bias: f32) -> bool {
        self.over_null(search, bias).1 <= 0.0
    }
}

/// How sure parts of speech are of a span beside others. A verb does not hold a word together with
/// itself that is a preposition by its own right, where that is likelier by more than the verb is
/// favoured by: `turned down the road`, not `turned down the offer`.
fn fit_beside(at: usize, scored: &[Scored], search: Search, bias: f32) -> Fit {
    let CandidateSpan { span, fit, may_have_preposition, .. } = scored[at].candidate;
    if !may_have_preposition || fit <= Fit::Possible {
        return fit;
    }
    let last = WordSpan { first: span.end() - 1, len: 1 };
    let alone = scored.iter().find(|of| of.candidate.span == last && of.candidate.rest == 0);
    let alone = alone.map_or(0.0, |of| of.over_null(search, bias).1);
    let is_preposition = alone > 0.0 && alone > scored[at].over_null(search, bias).1 + FAVOUR;
    if is_preposition { Fit::Possible } else { fit }
}

fn best_of(outcomes: &[(usize, f32)]) -> (usize, f32) {
    let mut best = outcomes[0];
    for &outcome in outcomes {
        if outcome.1 > best.1 {
            best = outcome;
        }
    }
    best
}

/// The spans of a sentence that evoke a frame more likely than none, with that frame's number in
/// `scored`. Of spans that overlap, several words that parts of speech hold together come first,
/// more before fewer; then the surer one.
pub(super) fn chosen(scored: &[Scored], search: Search, bias: f32) -> Vec<(usize, usize)> {
    let fits = (0..scored.len()).map(|at| fit_beside(at, scored, search, bias));
    let fits: Vec<Fit> = fits.collect();
    let margins = scored.iter().zip(&fits).enumerate();
    let margins = margins.map(|(at, (of, fit))| Some((at, of.margin(*fit, search, bias)?)));
    let mut surest: Vec<(usize, (usize, f32))> = margins.flatten().collect();
    let held =
        |at: usize| (fits[at] > Fit::Possible).then(|| (fits[at], scored[at].candidate.len()));
    surest.sort_by(|(one, (_, of_one)), (other, (_, of_other))| {
        let by_margin = of_other.total_cmp(of_one).then(one.cmp(other));
        held(*other).cmp(&held(*one)).then(by_margin)
    });
    let mut kept: Vec<(usize, usize)> = Vec::new();
    for (at, (frame, _)) in surest {
        if kept.iter().all(|(other, _)| !scored[*other].candidate.overlaps(&scored[at].candidate)) {
            kept.push((at, frame));
        }
    }
    kept.sort_unstable_by_key(|(at, _)| (scored[*at].candidate.span, *at));
    kept
}

/// A network that scores frames at spans.
#[derive(Debug)]
pub(super) struct Scorer {
    network: Network,
    shape: Shape,
}

impl Scorer {
    pub(super) fn new(mlp: Mlp, shape: Shape, device: &Device) -> Result<Self, ComputeError> {
        Ok(Self { network: Network::new(mlp, device)?, shape })
    }

    /// The scores at the spans of each sentence. Those of a span have the same bits in any company.
    pub(super) fn score(
        &self,
        sentences: Vec<(&WordStates, Vec<CandidateSpan>)>,
    ) -> Result<Vec<Vec<Scored>>, NetworkError> {
        let mut scored: Vec<Vec<Scored>> = sentences.iter().map(|_| Vec::new()).collect();
        let asked = sentences.into_iter().enumerate().flat_map(|(at, (states, asked))| {
            asked.into_iter().map(move |asked| (at, states, asked))
        });
        let mut asked = asked.peekable();
        let inputs = self.shape.inputs();
        while asked.peek().is_some() {
            let chunk: Vec<(usize, &WordStates, CandidateSpan)> =
                asked.by_ref().take(CHUNK).collect();
            let mut rows = Vec::with_capacity(chunk.len() * inputs);
            for (_, states, asked) in &chunk {
                states.write_row(&asked.pieces(), !asked.candidates.is_empty(), &mut rows);
            }
            let logits = self.network.run(&Tensor::new(&[chunk.len(), inputs], rows)?)?;
            let outputs = self.network.mlp().outputs();
            for ((at, _, asked), logits) in chunk.into_iter().zip(logits.chunks_exact(outputs)) {
                scored[at].push(Scored { candidate: asked, logits: logits.to_vec() });
            }
        }
        Ok(scored)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scored(first: usize, len: usize, candidates: &[usize], logits: &[f32]) -> Scored {
        let span = WordSpan { first, len };
        let asked =
            CandidateSpan { span, candidates: candidates.to_vec(), ..CandidateSpan::default() };
        Scored { candidate: asked, logits: logits.to_vec() }
    }

    #[test]
    fn the_lexicon_says_which_frames_may_be_meant() {
        let of = scored(0, 1, &[0, 2], &[1.0, 9.0, 2.0, 1.5]);
        assert_eq!((of.best(Search::Lexicon), of.best_of_all()), (2, 1));
        // The second frame is outside of the lexicon and pays eight nats.
        assert_eq!(of.best(Search::Open), 2);
        let (frames, null) = of.frames_and_null(Search::Lexicon, 0.0);
        let sum = 1.0_f32.exp() + 2.0_f32.exp() + 1.5_f32.exp();
        assert_eq!(frames.iter().map(|(frame, _)| *frame).collect::<Vec<_>>(), [2, 0]);
        assert!((frames[0].1 - 2.0_f32.exp() / sum).abs() < 1e-6);
        assert!((null - 1.5_f32.exp() / sum).abs() < 1e-6);
        assert_eq!(scored(0, 1, &[], &[1.0, 9.0, 2.0, 1.5]).best(Search::Lexicon), 1);
    }

    #[test]
    fn of_overlapping_spans_the_surer_one_is_chosen() {
        let spans = [
            scored(0, 1, &[0], &[3.0, 0.0, 1.0]),
            scored(0, 2, &[1], &[0.0, 5.0, 1.0]),
            scored(1, 1, &[0], &[4.0, 0.0, 1.0]),
            scored(2, 1, &[0], &[0.5, 0.0, 1.0]),
            scored(3, 1, &[1], &[0.0, 2.0, 1.0]),
        ];
        assert_eq!(chosen(&spans, Search::Lexicon, 0.0), [(1, 1), (4, 1)]);
        // NULL gets so much that only the surest is left, or so little that all may be targets.
        assert_eq!(chosen(&spans, Search::Lexicon, 2.0), [(1, 1)]);
        assert_eq!(chosen(&spans, Search::Lexicon, -1.0), [(1, 1), (3, 0), (4, 1)]);
    }

    #[test]
    fn several_words_that_belong_together_win_over_one_of_them() {
        let held =
            |of: Scored, fit| Scored { candidate: CandidateSpan { fit, ..of.candidate }, ..of };
        let verb = scored(0, 1, &[0], &[9.0, 0.0, 1.0]);
        let phrasal = scored(0, 2, &[1], &[0.0, 0.5, 1.0]);
        let out_of = held(scored(1, 2, &[1], &[0.0, 3.0, 1.0]), Fit::Likely);
        let found = |fit| {
            let spans = [verb.clone(), held(phrasal.clone(), fit), out_of.clone()];
            chosen(&spans, Search::Lexicon, 0.0)
        };
        assert_eq!(found(Fit::Possible), [(0, 0), (2, 1)]);
        assert_eq!(found(Fit::Certain), [(1, 1)]);
    }

    #[test]
    fn a_preposition_that_is_much_likelier_is_not_held_by_the_verb_before_it() {
        let verb = scored(0, 1, &[0], &[3.0, 0.0, 1.0]);
        let found = |fit, preposition: f32, may_have_preposition| {
            let mut phrasal = scored(0, 2, &[1], &[0.0, -5.0, 1.0]);
            phrasal.candidate.fit = fit;
            phrasal.candidate.may_have_preposition = may_have_preposition;
            let preposition = scored(1, 1, &[0], &[preposition, 0.0, 1.0]);
            chosen(&[verb.clone(), phrasal, preposition], Search::Lexicon, 0.0)
        };
        assert_eq!(found(Fit::Certain, 0.5, true), [(1, 1)], "none of its own");
        assert_eq!(found(Fit::Certain, 1.5, true), [(0, 0), (2, 0)]);
        assert_eq!(found(Fit::Likely, 1.5, true), [(0, 0), (2, 0)]);
        assert_eq!(found(Fit::Certain, 1.5, false), [(1, 1)], "nothing follows");
    }

    #[test]
    fn a_verb_around_its_object_leaves_the_object_to_others() {
        let mut discontinuous = scored(0, 4, &[1], &[0.0, 0.0, 1.0]);
        discontinuous.candidate.rest = 1;
        discontinuous.candidate.fit = Fit::Certain;
        let object = scored(2, 1, &[0], &[3.0, 0.0, 1.0]);
        let particle = scored(3, 1, &[0], &[3.0, 0.0, 1.0]);
        assert_eq!(
            discontinuous.candidate.pieces(),
            [0, 3].map(|first| WordSpan { first, len: 1 })
        );
        let found = chosen(&[object, particle, discontinuous], Search::Lexicon, 0.0);
        assert_eq!(found, [(2, 1), (0, 0)]);
    }
}
