//! The span network: how well each FE of a frame fits each span of a sentence.
//!
//! With `x` the encoder's states of words (D numbers each), `t` the target's words and a span from
//! word `i` to word `j`:
//!
//! ```text
//! hidden = max(0, S x[i] + E x[j] + L x[i - 1] + R x[j + 1] + M mean(x[i..=j]) + T mean(x[t])
//!                 + frame + from the target to i + from the target to j + length + side)      H numbers
//! score  = element . hidden + bias                                                          for each FE
//! ```
//!
//! The first line is a sum of products of single words, so the products are computed once for each
//! word and only added up for each span. The last four terms are rows of tables, by bucket.
//! Gradients run the same way backwards.

use std::ops::Range;

use super::elements::FrameElements;
use super::segments::Spans;
use crate::engine::kernels::{Weight, matmul};
use crate::engine::{ComputeError, Device, NamedTensor, Tensor, Weights, WeightsError};
use crate::learn::{SplitMix64, Weighted, product_of_columns};

/// Products of a word: at the span's start and end, outside on the left and right, inside, and in
/// the target.
const PRODUCTS: usize = 6;

/// Rows of the tables by bucket: distances of start and end, lengths, and sides.
const BUCKETS: [usize; 4] = [20, 20, 10, 4];

/// Derivatives of scores below this are taken for zero.
const LEAST: f32 = 1e-6;

/// Shape of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    /// Width D of a word's state.
    pub(super) width: usize,
    /// Hidden units H.
    pub(super) hidden: usize,
    /// Frames.
    pub(super) frames: usize,
    /// Rows of FEs' vectors.
    pub(super) elements: usize,
}

/// A tensor of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Words,
    Bias,
    Start,
    End,
    Length,
    Side,
    Frame,
    Element,
    ElementBias,
}

impl Part {
    pub(super) const ALL: [Self; 9] = [
        Self::Words,
        Self::Bias,
        Self::Start,
        Self::End,
        Self::Length,
        Self::Side,
        Self::Frame,
        Self::Element,
        Self::ElementBias,
    ];

    /// Its name in a file.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Words => "words.weight",
            Self::Bias => "words.bias",
            Self::Start => "start.weight",
            Self::End => "end.weight",
            Self::Length => "length.weight",
            Self::Side => "side.weight",
            Self::Frame => "frame.weight",
            Self::Element => "element.weight",
            Self::ElementBias => "element.bias",
        }
    }

    pub(super) fn shape(self, of: Shape) -> Vec<usize> {
        let Shape { width, hidden, frames, elements } = of;
        match self {
            Self::Words => vec![PRODUCTS * hidden, width],
            Self::Bias => vec![hidden],
            Self::Start => vec![BUCKETS[0], hidden],
            Self::End => vec![BUCKETS[1], hidden],
            Self::Length => vec![BUCKETS[2], hidden],
            Self::Side => vec![BUCKETS[3], hidden],
            Self::Frame => vec![frames, hidden],
            Self::Element => vec![elements, hidden],
            Self::ElementBias => vec![elements],
        }
    }

    /// Half the width of the interval from which its numbers are drawn.
    fn bound(self, of: Shape) -> f32 {
        match self {
            Self::Words => 1.0 / (of.width as f32).sqrt(),
            Self::Bias | Self::ElementBias => 0.0,
            Self::Element => 0.09,
            _ => 0.17,
        }
    }

    /// Whether it is a matrix, which decays.
    pub(super) fn decays(self) -> bool {
        !matches!(self, Self::Bias | Self::ElementBias)
    }
}

/// The weights, or their gradients, in the order of [`Part::ALL`].
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parameters {
    pub(super) shape: Shape,
    pub(super) tensors: Vec<Vec<f32>>,
}

impl Parameters {
    pub(super) fn random(shape: Shape, random: &mut SplitMix64) -> Self {
        let tensor = |part: &Part| {
            let (count, bound) = (part.shape(shape).iter().product(), part.bound(shape));
            (0..count).map(|_| (2.0 * random.unit() - 1.0) * bound).collect()
        };
        Self { shape, tensors: Part::ALL.iter().map(tensor).collect() }
    }

    pub(super) fn zeros(shape: Shape) -> Self {
        let tensor = |part: &Part| vec![0.0; part.shape(shape).iter().product()];
        Self { shape, tensors: Part::ALL.iter().map(tensor).collect() }
    }

    pub(super) fn of(&self, part: Part) -> &[f32] {
        &self.tensors[part as usize]
    }

    /// A row of a table of H numbers a row.
    pub(super) fn row(&self, part: Part, row: usize) -> &[f32] {
        &self.of(part)[row * self.shape.hidden..][..self.shape.hidden]
    }

    fn row_mut(&mut self, part: Part, row: usize) -> &mut [f32] {
        let hidden = self.shape.hidden;
        &mut self.tensors[part as usize][row * hidden..][..hidden]
    }
}

impl Weighted for Parameters {
    type Kind = ();

    fn sizes(&self) -> Vec<usize> {
        let Shape { width, hidden, frames, elements } = self.shape;
        vec![width, hidden, frames, elements]
    }

    fn read(
        weights: &Weights,
        prefix: &str,
        sizes: &[usize],
        (): (),
    ) -> Result<Self, WeightsError> {
        let size = |at: usize| sizes.get(at).copied().unwrap_or(0);
        let shape = Shape { width: size(0), hidden: size(1), frames: size(2), elements: size(3) };
        let tensor = |part: &Part| {
            let name = format!("{prefix}{}", part.name());
            Ok(weights.tensor(&name, &part.shape(shape))?.into_data())
        };
        let tensors = Part::ALL.iter().map(tensor).collect::<Result<_, WeightsError>>()?;
        Ok(Self { shape, tensors })
    }

    fn tensors(&self, prefix: &str) -> Vec<NamedTensor<'_>> {
        let tensor = |part: Part| -> NamedTensor<'_> {
            (format!("{prefix}{}", part.name()), part.shape(self.shape), self.of(part))
        };
        Part::ALL.map(tensor).into()
    }

    fn lengths(&self) -> Vec<usize> {
        self.tensors.iter().map(Vec::len).collect()
    }
}

/// The vectors of a frame's FEs, and its own.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct FrameVectors {
    /// H numbers; zeros of a frame that is not known.
    pub(super) frame: Vec<f32>,
    /// (K, H)
    pub(super) elements: Vec<f32>,
    /// K
    pub(super) biases: Vec<f32>,
}

impl FrameVectors {
    /// Of a frame whose FEs' vectors are sums over keys.
    pub(super) fn of(parameters: &Parameters, frame: &FrameElements) -> Self {
        let mut vectors = Self {
            frame: parameters.row(Part::Frame, frame.number).to_vec(),
            elements: vec![0.0; frame.elements.len() * parameters.shape.hidden],
            biases: vec![0.0; frame.elements.len()],
        };
        let rows = vectors.elements.chunks_exact_mut(parameters.shape.hidden);
        for ((element, row), bias) in frame.elements.iter().zip(rows).zip(&mut vectors.biases) {
            for &key in &element.keys {
                add(row, parameters.row(Part::Element, key));
                *bias += parameters.of(Part::ElementBias)[key];
            }
        }
        vectors
    }
}

/// `to += from`.
pub(super) fn add(to: &mut [f32], from: &[f32]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
}

/// `to += factor * from`.
fn add_times(to: &mut [f32], factor: f32, from: &[f32]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += factor * from);
}

/// The bucket of a signed distance in words.
fn distance(words: isize) -> usize {
    let bucket = match words.unsigned_abs() {
        near @ 0..=4 => near,
        5..=6 => 5,
        7..=9 => 6,
        10..=14 => 7,
        15..=22 => 8,
        _ => 9,
    };
    bucket + if words < 0 { 10 } else { 0 }
}

/// The bucket of a length in words, at least one.
fn length(words: usize) -> usize {
    match words {
        0..=5 => words.saturating_sub(1),
        6..=7 => 5,
        8..=10 => 6,
        11..=14 => 7,
        15..=21 => 8,
        _ => 9,
    }
}

/// Where a span stands: before the target, behind it, over a part of it or all and more, or exactly
/// on it.
fn side((first, last): (usize, usize), target: &Range<usize>) -> usize {
    if first == target.start && last + 1 == target.end {
        3
    } else if last < target.start || first >= target.end {
        usize::from(first >= target.end)
    } else {
        2
    }
}

/// The rows of the tables of start, end and side that a span takes.
fn buckets(span: (usize, usize), target: &Range<usize>) -> [(Part, usize); 3] {
    let last = target.end as isize - 1;
    [
        (Part::Start, distance(span.0 as isize - target.start as isize)),
        (Part::End, distance(span.1 as isize - last)),
        (Part::Side, side(span, target)),
    ]
}

/// The weights of words' products, arranged for a device.
pub(super) fn words_weight(
    device: &Device,
    parameters: &Parameters,
) -> Result<Weight, ComputeError> {
    let shape = Part::Words.shape(parameters.shape);
    Ok(Weight::new(device, &Tensor::new(&shape, parameters.of(Part::Words).to_vec())?))
}

/// The products of words (N, 6 H) under [`words_weight`].
pub(super) fn products(
    device: &Device,
    weight: &Weight,
    states: &Tensor,
) -> Result<Tensor, ComputeError> {
    matmul(device, states, weight, None)?.to_host()
}

/// The hidden sums of a sentence's spans as far as they do not depend on the target (S, H);
/// `products` are of its words.
pub(super) fn span_sums(parameters: &Parameters, products: &[f32], spans: Spans) -> Vec<f32> {
    let h = parameters.shape.hidden;
    let of = |word: usize, product: usize| &products[(word * PRODUCTS + product) * h..][..h];
    // Running sums of what is inside spans.
    let mut inside = vec![0.0; (spans.words + 1) * h];
    for word in 0..spans.words {
        let (done, next) = inside.split_at_mut((word + 1) * h);
        next[..h].copy_from_slice(&done[word * h..]);
        add(&mut next[..h], of(word, 4));
    }
    let mut sums = vec![0.0; spans.len() * h];
    for ((first, last), sum) in spans.iter().zip(sums.chunks_exact_mut(h)) {
        let words = last + 1 - first;
        sum.copy_from_slice(parameters.row(Part::Length, length(words)));
        add(sum, of(first, 0));
        add(sum, of(last, 1));
        if first > 0 {
            add(sum, of(first - 1, 2));
        }
        if last + 1 < spans.words {
            add(sum, of(last + 1, 3));
        }
        add_times(sum, 1.0 / words as f32, &inside[(last + 1) * h..][..h]);
        add_times(sum, -1.0 / words as f32, &inside[first * h..][..h]);
    }
    sums
}

/// The hidden values of a sentence's spans for a target (S, H), whose part of the sums is
/// `of_target`.
fn hidden(
    parameters: &Parameters,
    sums: &[f32],
    of_target: &[f32],
    spans: Spans,
    target: &Range<usize>,
) -> Vec<f32> {
    let h = parameters.shape.hidden;
    let mut hidden = sums.to_vec();
    for (span, row) in spans.iter().zip(hidden.chunks_exact_mut(h)) {
        add(row, of_target);
        for (part, bucket) in buckets(span, target) {
            add(row, parameters.row(part, bucket));
        }
        row.iter_mut().for_each(|value| *value = value.max(0.0));
    }
    hidden
}

/// The target's part of hidden sums, H numbers.
fn target_sum(
    parameters: &Parameters,
    products: &[f32],
    target: &Range<usize>,
    frame: &[f32],
) -> Vec<f32> {
    let h = parameters.shape.hidden;
    let mut sum = parameters.of(Part::Bias).to_vec();
    for word in target.clone() {
        let share = 1.0 / target.len() as f32;
        add_times(&mut sum, share, &products[(word * PRODUCTS + 5) * h..][..h]);
    }
    add(&mut sum, frame);
    sum
}

/// The scores of hidden values (S, H) for a frame's FEs: (S, K).
fn element_scores(hidden: &Tensor, vectors: &FrameVectors) -> Result<Vec<f32>, ComputeError> {
    let k = vectors.biases.len();
    if k == 0 || hidden.rows() == 0 {
        return Ok(Vec::new());
    }
    let one = Device::Cpu { threads: 1 };
    let elements = Tensor::new(&[k, hidden.width()], vectors.elements.clone())?;
    let biases = Tensor::new(&[k], vectors.biases.clone())?;
    Ok(matmul(&one, hidden, &Weight::new(&one, &elements), Some(&biases))?.into_data())
}

/// What a target asks of its sentence.
#[derive(Debug)]
pub(super) struct Question<'a> {
    /// Words of the target.
    pub(super) target: &'a Range<usize>,
    /// Vectors of its frame.
    pub(super) vectors: &'a FrameVectors,
}

/// The scores of the spans for the FEs of a target's frame, (S, K); `products` are of the
/// sentence's words, `sums` of its spans. The scores of a sentence have the same bits in any
/// company.
pub(super) fn scores(
    parameters: &Parameters,
    products: &[f32],
    sums: &[f32],
    spans: Spans,
    asked: &Question<'_>,
) -> Result<Vec<f32>, ComputeError> {
    let of_target = target_sum(parameters, products, asked.target, &asked.vectors.frame);
    let hidden = hidden(parameters, sums, &of_target, spans, asked.target);
    let hidden = Tensor::new(&[spans.len(), parameters.shape.hidden], hidden)?;
    element_scores(&hidden, asked.vectors)
}

/// Gradients by a sentence: of its words' products (N, 6 H), and of rows of the tables.
#[derive(Debug)]
pub(super) struct Slopes {
    pub(super) products: Vec<f32>,
    /// Small tables whole: bias, start, end, length, side.
    tables: Parameters,
    /// Rows of frames' and FEs' vectors, with the bias of the latter.
    rows: Vec<(Part, usize, Vec<f32>, f32)>,
    /// Of span sums (S, H).
    sums: Vec<f32>,
}

impl Slopes {
    /// Before anything is learnt of a sentence.
    pub(super) fn new(shape: Shape, spans: Spans) -> Self {
        let h = shape.hidden;
        Self {
            products: vec![0.0; spans.words * PRODUCTS * h],
            tables: Parameters::zeros(Shape { width: 0, frames: 0, elements: 0, ..shape }),
            rows: Vec::new(),
            sums: vec![0.0; spans.len() * h],
        }
    }

    /// Adds what a target teaches: `slope` makes the derivatives of scores, (S, K), of the scores,
    /// and gives the loss. `dropout` makes some hidden values zero.
    #[allow(
        clippy::too_many_arguments,
        reason = "a pass forwards and backwards has this much to it"
    )]
    pub(super) fn learn(
        &mut self,
        parameters: &Parameters,
        products: &[f32],
        sums: &[f32],
        spans: Spans,
        asked: &Question<'_>,
        frame: &FrameElements,
        dropout: &mut Dropout,
        slope: impl FnOnce(&mut [f32]) -> f64,
    ) -> Result<f64, ComputeError> {
        let (h, k) = (parameters.shape.hidden, asked.vectors.biases.len());
        let of_target = target_sum(parameters, products, asked.target, &asked.vectors.frame);
        let mut values = hidden(parameters, sums, &of_target, spans, asked.target);
        dropout.apply(&mut values);
        let values = Tensor::new(&[spans.len(), h], values)?;
        let mut g = element_scores(&values, asked.vectors)?;
        let loss = slope(&mut g);
        if k == 0 {
            return Ok(loss);
        }
        let mut of_elements =
            FrameVectors { frame: vec![0.0; h], elements: vec![0.0; k * h], biases: vec![0.0; k] };
        let mut row = vec![0.0; h];
        for (number, (span, g)) in spans.iter().zip(g.chunks_exact(k)).enumerate() {
            if g.iter().all(|g| g.abs() < LEAST) {
                continue;
            }
            row.fill(0.0);
            let value = values.row(number);
            let elements = of_elements.elements.chunks_exact_mut(h);
            let weights = asked.vectors.elements.chunks_exact(h);
            for (((&g, of), weights), bias) in
                g.iter().zip(elements).zip(weights).zip(&mut of_elements.biases)
            {
                add_times(of, g, value);
                add_times(&mut row, g, weights);
                *bias += g;
            }
            // A hidden value that is not zero passes its derivative on, raised as dropout raised
            // it.
            for (slope, &value) in row.iter_mut().zip(value) {
                *slope = if value > 0.0 { *slope * dropout.scale() } else { 0.0 };
            }
            add(&mut self.sums[number * h..][..h], &row);
            add(&mut of_elements.frame, &row);
            for (part, bucket) in buckets(span, asked.target) {
                add(self.tables.row_mut(part, bucket), &row);
            }
        }
        self.add_rows(of_elements, frame, asked.target);
        Ok(loss)
    }

    fn add_rows(&mut self, of: FrameVectors, frame: &FrameElements, target: &Range<usize>) {
        let h = self.tables.shape.hidden;
        add(&mut self.tables.tensors[Part::Bias as usize], &of.frame);
        for word in target.clone() {
            let products = &mut self.products[(word * PRODUCTS + 5) * h..][..h];
            add_times(products, 1.0 / target.len() as f32, &of.frame);
        }
        self.rows.push((Part::Frame, frame.number, of.frame, 0.0));
        for ((element, row), &bias) in
            frame.elements.iter().zip(of.elements.chunks_exact(h)).zip(&of.biases)
        {
            for &key in &element.keys {
                self.rows.push((Part::Element, key, row.to_vec(), bias));
            }
        }
    }

    /// Once every target is learnt: brings the slopes of spans' sums to their words.
    pub(super) fn end(&mut self, spans: Spans) {
        let h = self.tables.shape.hidden;
        let mut inside = vec![0.0; (spans.words + 1) * h];
        let at = |word: usize, product: usize| (word * PRODUCTS + product) * h;
        let sums = std::mem::take(&mut self.sums);
        for ((first, last), row) in spans.iter().zip(sums.chunks_exact(h)) {
            if row.iter().all(|slope| *slope == 0.0) {
                continue;
            }
            let words = last + 1 - first;
            add(self.tables.row_mut(Part::Length, length(words)), row);
            add(&mut self.products[at(first, 0)..][..h], row);
            add(&mut self.products[at(last, 1)..][..h], row);
            if first > 0 {
                add(&mut self.products[at(first - 1, 2)..][..h], row);
            }
            if last + 1 < spans.words {
                add(&mut self.products[at(last + 1, 3)..][..h], row);
            }
            add_times(&mut inside[first * h..][..h], 1.0 / words as f32, row);
            add_times(&mut inside[(last + 1) * h..][..h], -1.0 / words as f32, row);
        }
        // What begins before a word and has not ended there covers it.
        let mut open = vec![0.0; h];
        for word in 0..spans.words {
            add(&mut open, &inside[word * h..][..h]);
            add(&mut self.products[at(word, 4)..][..h], &open);
        }
    }

    /// Adds the slopes of the tables to gradients of all weights, times a factor.
    pub(super) fn add_to(&self, gradients: &mut Parameters, factor: f32) {
        for part in [Part::Bias, Part::Start, Part::End, Part::Length, Part::Side] {
            let to = &mut gradients.tensors[part as usize];
            add_times(to, factor, self.tables.of(part));
        }
        for (part, row, slopes, bias) in &self.rows {
            add_times(gradients.row_mut(*part, *row), factor, slopes);
            if *part == Part::Element {
                gradients.tensors[Part::ElementBias as usize][*row] += factor * bias;
            }
        }
    }
}

/// The gradient of the words' weights (6 H, D) by slopes of products (N, 6 H) and states (N, D).
pub(super) fn words_gradient(
    device: &Device,
    slopes: &[f32],
    states: &Tensor,
    hidden: usize,
) -> Result<Vec<f32>, ComputeError> {
    product_of_columns(device, slopes, PRODUCTS * hidden, states)
}

/// Makes a share of numbers zero and raises the others, so that their sum is expected to stay.
#[derive(Debug)]
pub(super) struct Dropout {
    random: SplitMix64,
    /// Of 256 numbers so many become zero.
    dropped: u8,
}

impl Dropout {
    /// A share of numbers, in 256 parts.
    pub(super) fn new(share: f32, seed: u64) -> Self {
        Self { random: SplitMix64::new(seed), dropped: (share * 256.0) as u8 }
    }

    fn scale(&self) -> f32 {
        256.0 / (256.0 - f32::from(self.dropped))
    }

    pub(super) fn apply(&mut self, numbers: &mut [f32]) {
        if self.dropped == 0 {
            return;
        }
        let scale = self.scale();
        for eight in numbers.chunks_mut(8) {
            let drawn = self.random.next().to_be_bytes();
            for (number, drawn) in eight.iter_mut().zip(drawn) {
                *number = if drawn < self.dropped { 0.0 } else { *number * scale };
            }
        }
    }
}
