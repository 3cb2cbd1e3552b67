//! The head: a feed-forward network that scores a source span against a candidate.
//!
//! Culkin et al. 2021, section 4.1: one hidden layer, PReLU, batch normalisation, a sigmoid output:
//!
//! ```text
//! z = W x + b                           W (H, 2 D + 4), or ten columns more (features.rs)
//! h = max(0, z) + slope * min(0, z)     one slope, as PyTorch's PReLU
//! n = gamma * (h - mean) / sqrt(variance + EPSILON) + beta
//! p = sigmoid(v . n + c)
//! ```
//!
//! [`Scorer`] evaluates this for all candidates of many spans. Normalisation is folded into `v` and
//! `c`. The part of `W` that multiplies `s - c` is linear in both spans, and the mean of a span is
//! a difference of running sums. So it is applied once per word instead of once per candidate. Only
//! the maximum needs a product per candidate.

use std::ops::Range;

use super::candidates::{WordSpan, candidates};
use super::error::AlignError;
use super::features::{PairStates, cues};
use crate::engine::kernels::{
    SpanCandidate, SpanHead, SpanRows, Weight, matmul, span_maxima, span_scores,
};
use crate::engine::{ComputeError, Device, Renewable, Tensor};
use crate::learn::{Activation, EPSILON, Mlp, Part};

/// What follows the hidden sums, of the head and of the linker's network.
pub(super) const ACTIVATION: Activation = Activation::NormalisedPrelu;

/// Candidates that one product takes; bounds memory and what a thread does at once, not results.
const CHUNK: usize = 2048;

/// Rows that one product takes on a GPU, which a few thousand do not fill: some 100 MB of the
/// widest.
const GPU_CHUNK: usize = 32_768;

/// Rows that one product takes: on the CPU as many as are given.
pub(super) fn most_rows(device: &Device, on_cpu: usize) -> usize {
    match device {
        Device::Gpu(_) => GPU_CHUNK,
        _ => on_cpu,
    }
}

/// Weights and bias of the one output, with the normalisation before it folded in: `n` becomes `h`
/// under them.
pub(super) fn folded_output(mlp: &Mlp) -> (Vec<f32>, f32) {
    let [hidden, output] = &mlp.layers[..] else { unreachable!("a head has one hidden layer") };
    let mut bias = output[Part::Bias][0];
    let weights = (0..hidden.outputs).map(|unit| {
        let scale = hidden[Part::Gamma][unit] / (hidden[Part::Variance][unit] + EPSILON).sqrt();
        let weight = output[Part::Weight][unit];
        bias += weight * (hidden[Part::Beta][unit] - scale * hidden[Part::Mean][unit]);
        weight * scale
    });
    (weights.collect(), bias)
}

/// A span of a sentence to be found in its paraphrase.
#[derive(Debug, Clone, Copy)]
pub(super) struct Question<'a> {
    pub(super) states: &'a PairStates,
    pub(super) span: WordSpan,
}

/// A candidate and its score in [0, 1].
pub(super) type Scored = (WordSpan, f32);

/// The candidate that scores highest, the earlier of equals.
pub(super) fn best<'a>(scores: impl IntoIterator<Item = &'a Scored>) -> Option<Scored> {
    let mut best: Option<Scored> = None;
    for &(span, score) in scores {
        if best.is_none_or(|(_, highest)| score > highest) {
            best = Some((span, score));
        }
    }
    best
}

/// The head, arranged for scoring.
#[derive(Debug, Clone)]
pub(super) struct Scorer {
    mlp: Mlp,
    width: usize,
    k: u32,
    weights: Renewable<Weights>,
}

/// The weights on a device.
#[derive(Debug)]
struct Weights {
    /// Columns of the hidden weight for the difference (H, D) and the maximum (H, D).
    difference: Weight,
    maximum: Weight,
    /// What follows the hidden products.
    head: SpanHead,
}

impl Weights {
    fn place(mlp: &Mlp, width: usize, device: &Device) -> Result<Self, ComputeError> {
        let (layer, hidden, inputs) = (&mlp.layers[0], mlp.hidden(), mlp.inputs());
        let rows = || layer[Part::Weight].chunks_exact(inputs);
        let part = |from: usize| -> Result<Weight, ComputeError> {
            let columns = rows().flat_map(|row| row[from..from + width].iter().copied()).collect();
            Weight::new(device, &Tensor::new(&[hidden, width], columns)?).placed()
        };
        let (output, output_bias) = folded_output(mlp);
        let mut units = [&layer[Part::Bias], &output].concat();
        for column in 2 * width..inputs {
            units.extend(rows().map(|row| row[column]));
        }
        let units = Tensor::new(&[units.len() / hidden, hidden], units)?;
        Ok(Self {
            difference: part(0)?,
            maximum: part(width)?,
            head: SpanHead::new(device, units, layer.slope(), output_bias)?,
        })
    }
}

/// Some questions as the kernels take them.
struct Chunk<'a> {
    questions: &'a [Question<'a>],
    /// Candidates of each question.
    spans: Vec<Vec<WordSpan>>,
    /// Running sums and means (N, D), and where those of each candidate are.
    rows: Tensor,
    pairs: Vec<[SpanRows; 2]>,
    places: Vec<SpanCandidate>,
    /// Cues of each candidate.
    cues: Vec<f32>,
}

impl Scorer {
    /// Arranges weights for states `width` wide.
    pub(super) fn new(
        mlp: Mlp,
        width: usize,
        k: u32,
        device: &Device,
    ) -> Result<Self, ComputeError> {
        let weights = Renewable::open(device, |device| Weights::place(&mlp, width, device))?;
        Ok(Self { mlp, width, k, weights })
    }

    /// Scores of all candidates of each question, in the order of
    /// [`candidates`](super::candidates::candidates).
    ///
    /// The scores of a question depend on nothing but the question.
    pub(super) fn score(&self, questions: &[Question<'_>]) -> Result<Vec<Vec<Scored>>, AlignError> {
        let device = self.weights.device();
        let chunks = self.chunks(questions, most_rows(&device, CHUNK));
        let scores = device.share_prepared(
            chunks.len(),
            |at| self.prepare(&questions[chunks[at].clone()]),
            |device, chunk| self.score_chunk(device, chunk),
        )?;
        Ok(scores.into_iter().flatten().collect())
    }

    /// As many questions together as fill a product, at least one.
    fn chunks(&self, questions: &[Question<'_>], most: usize) -> Vec<Range<usize>> {
        let mut chunks = Vec::new();
        let (mut start, mut rows) = (0, 0);
        for (at, question) in questions.iter().enumerate() {
            let of_question = self.spans(question).count();
            if at > start && rows + of_question > most {
                chunks.push(start..at);
                (start, rows) = (at, 0);
            }
            rows += of_question;
        }
        if start < questions.len() {
            chunks.push(start..questions.len());
        }
        chunks
    }

    fn spans(&self, question: &Question<'_>) -> impl Iterator<Item = WordSpan> + use<> {
        candidates(question.span.len(), question.states.target.words(), self.k)
    }

    /// Lays out the candidates of some questions: of each paraphrase the running sums, whose first
    /// row is zero, and of each question the mean of its source span. Neighbours that ask of the
    /// same pair share its sums.
    fn prepare<'a>(&self, questions: &'a [Question<'a>]) -> Result<Chunk<'a>, ComputeError> {
        let width = self.width;
        let spans: Vec<Vec<WordSpan>> =
            questions.iter().map(|question| self.spans(question).collect()).collect();
        let mut rows = Vec::new();
        let (mut pairs, mut places, mut of_candidates) = (Vec::new(), Vec::new(), Vec::new());
        let mut last: Option<(&PairStates, u32)> = None;
        for (Question { states, span }, candidates) in questions.iter().zip(&spans) {
            let zero = match last {
                Some((before, zero)) if std::ptr::eq(before, *states) => zero,
                _ => {
                    let zero = (rows.len() / width) as u32;
                    rows.extend_from_slice(states.target.sums());
                    zero
                }
            };
            last = Some((states, zero));
            let source = rows.len() / width;
            rows.resize(rows.len() + width, 0.0);
            states.source.mean(*span, &mut rows[source * width..]);
            let source = source as u32;
            let links = states.links.as_ref().map(|links| links.of_span(*span));
            for candidate in candidates {
                let (start, end) = (zero + candidate.start, zero + candidate.end);
                let weight = states.target.weight(*candidate);
                let mean = SpanRows { start: zero, end: source, weight: 1.0 };
                pairs.push([mean, SpanRows { start, end, weight }]);
                places.push(SpanCandidate { source, before: start, after: end, weight });
                of_candidates.extend(cues(*span, *candidate));
                of_candidates.extend(links.iter().flat_map(|links| links.cues(*candidate)));
            }
        }
        let rows = Tensor::new(&[rows.len() / width, width], rows)?;
        Ok(Chunk { questions, spans, rows, pairs, places, cues: of_candidates })
    }

    /// The candidates of some questions and their scores; half of the questions after the other
    /// half where the device is full.
    fn score_chunk(
        &self,
        part: &Device,
        chunk: Chunk<'_>,
    ) -> Result<Vec<Vec<Scored>>, ComputeError> {
        let place = |device: &Device| Weights::place(&self.mlp, self.width, device);
        let score = |device: &Device, weights: &Weights| {
            let rows = chunk.rows.on(device)?;
            let maxima = span_maxima(device, &rows, &chunk.pairs)?;
            let differences = matmul(device, &rows, &weights.difference, None)?;
            let maxima = matmul(device, &maxima, &weights.maximum, None)?;
            let Chunk { places, cues, .. } = &chunk;
            span_scores(device, &weights.head, &differences, &maxima, places, cues)
        };
        let questions = chunk.questions;
        match self.weights.run(part, place, score) {
            Ok(scores) => {
                let mut scores = scores.into_iter();
                let of_question =
                    |spans: Vec<WordSpan>| spans.into_iter().zip(scores.by_ref()).collect();
                Ok(chunk.spans.into_iter().map(of_question).collect())
            }
            Err(ComputeError::Memory { .. }) if questions.len() > 1 => {
                part.tell(&format!(
                    "the GPU is full: {} spans are aligned in two halves",
                    questions.len()
                ));
                let (first, second) = questions.split_at(questions.len() / 2);
                let mut scores = self.score_chunk(part, self.prepare(first)?)?;
                scores.extend(self.score_chunk(part, self.prepare(second)?)?);
                Ok(scores)
            }
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::align::features::{CUES, SentenceStates};
    use crate::align::link_scores::LinkScores;
    use crate::learn::SplitMix64;

    /// States of a pair with one or two pieces per word, drawn at random.
    pub(in crate::align) fn random_pair(
        random: &mut SplitMix64,
        width: usize,
        source_words: usize,
        target_words: usize,
    ) -> PairStates {
        let mut sentence = |words: usize| {
            let pieces: Vec<(usize, Vec<f32>)> = (0..words)
                .flat_map(|word| std::iter::repeat_n(word, 1 + random.below(2)))
                .collect::<Vec<_>>()
                .into_iter()
                .map(|word| (word, (0..width).map(|_| 2.0 * random.unit() - 1.0).collect()))
                .collect();
            let states = pieces.iter().map(|(word, state)| (*word, state.as_slice()));
            SentenceStates::new(width, words, states)
        };
        let (source, target) = (sentence(source_words), sentence(target_words));
        PairStates { source, target, links: None }
    }

    /// The same with scores of links, drawn at random.
    fn linked(random: &mut SplitMix64, pair: PairStates) -> PairStates {
        let sizes = [&pair.source, &pair.target].map(|side| side.words() as usize);
        let scores = (0..sizes[0] * sizes[1]).map(|_| random.unit()).collect();
        PairStates { links: Some(LinkScores::new(sizes, scores)), ..pair }
    }

    /// The head's formula, read aloud.
    fn naive(mlp: &Mlp, row: &[f32]) -> f32 {
        let [hidden, output] = &mlp.layers[..] else { panic!("one hidden layer") };
        let mut logit = f64::from(output[Part::Bias][0]);
        for unit in 0..hidden.outputs {
            let number = |part: Part| f64::from(hidden[part][unit]);
            let weights = &hidden[Part::Weight][unit * hidden.inputs..][..hidden.inputs];
            let product: f64 =
                weights.iter().zip(row).map(|(w, x)| f64::from(*w) * f64::from(*x)).sum();
            let z = number(Part::Bias) + product;
            let h = z.max(0.0) + f64::from(hidden.slope()) * z.min(0.0);
            let deviation = (number(Part::Variance) + f64::from(EPSILON)).sqrt();
            let n = number(Part::Gamma) * (h - number(Part::Mean)) / deviation + number(Part::Beta);
            logit += f64::from(output[Part::Weight][unit]) * n;
        }
        (1.0 / (1.0 + (-logit).exp())) as f32
    }

    fn random_head(inputs: usize, hidden: usize, random: &mut SplitMix64) -> Mlp {
        let mut mlp = Mlp::random(&[inputs, hidden, 1], ACTIVATION, random);
        for (part, least) in
            [(Part::Gamma, 0.5), (Part::Beta, -0.5), (Part::Mean, -0.5), (Part::Variance, 0.2)]
        {
            let values = mlp.layers[0].part_mut(part).iter_mut();
            values.for_each(|value| *value = least + random.unit());
        }
        mlp
    }

    #[test]
    fn shared_products_give_the_scores_of_the_formula() {
        let mut random = SplitMix64::new(3);
        for is_linked in [false, true] {
            let pairs = [(3, 6), (5, 1), (4, 9)].map(|(source, target)| {
                let pair = random_pair(&mut random, 7, source, target);
                if is_linked { linked(&mut random, pair) } else { pair }
            });
            has_the_scores_of_the_formula(&pairs, &mut random);
        }
    }

    fn has_the_scores_of_the_formula(pairs: &[PairStates], random: &mut SplitMix64) {
        let (width, inputs) = (pairs[0].width(), pairs[0].inputs());
        let mlp = random_head(inputs, 5, random);
        let scorer = Scorer::new(mlp.clone(), width, 2, &Device::cpu()).unwrap();
        let spans = [WordSpan::new(0, 1), WordSpan::new(2, 5), WordSpan::new(1, 3)];
        let questions: Vec<_> =
            pairs.iter().zip(spans).map(|(states, span)| Question { states, span }).collect();
        let scores = scorer.score(&questions).unwrap();
        for (question, scores) in questions.iter().zip(&scores) {
            let words = question.states.target.words();
            assert_eq!(scores.len(), candidates(question.span.len(), words, 2).count());
            for (candidate, score) in scores {
                let mut row = vec![0.0; inputs];
                question.states.features(question.span, *candidate, &mut row);
                let expected = naive(&mlp, &row);
                assert!((score - expected).abs() < 1e-5, "{score} {expected}");
            }
        }
    }

    #[test]
    fn a_question_scores_the_same_bits_alone_and_in_company() {
        let mut random = SplitMix64::new(5);
        let mlp = random_head(2 * 16 + CUES, 12, &mut random);
        let scorer = Scorer::new(mlp, 16, 5, &Device::cpu()).unwrap();
        let pairs: Vec<_> = (1..60).map(|n| random_pair(&mut random, 16, 4, n)).collect();
        let questions: Vec<_> =
            pairs.iter().map(|states| Question { states, span: WordSpan::new(1, 3) }).collect();
        let together = scorer.score(&questions).unwrap();
        for (question, together) in questions.iter().zip(&together) {
            assert_eq!(&scorer.score(&[*question]).unwrap()[0], together);
        }
    }

    #[test]
    fn a_paraphrase_without_words_has_no_candidate() {
        let mut random = SplitMix64::new(9);
        let mlp = random_head(2 * 4 + CUES, 3, &mut random);
        let scorer = Scorer::new(mlp, 4, 5, &Device::cpu()).unwrap();
        let states = random_pair(&mut random, 4, 2, 0);
        let question = Question { states: &states, span: WordSpan::new(0, 2) };
        assert_eq!(scorer.score(&[question]).unwrap(), [vec![]]);
        assert!(scorer.score(&[]).unwrap().is_empty());
    }
}
