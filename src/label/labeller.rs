//! The labeller: targets with their frames in, FEs out.

use std::ops::Range;
use std::path::Path;

use super::data::covering;
use super::elements::FoundElement;
use super::encode::states;
use super::model::{Goal, LabellerConfig, Trained};
use super::network::{Parameters, Question, products, scores, span_sums, words_weight};
use super::segments::{Chosen, Spans, Sums, best, log_sums};
use super::span_labels::Reading;
use crate::engine::kernels::Weight;
use crate::engine::{ComputeError, Device, Fingerprint, Tensor, declared_languages};
use crate::learn::{Artefact as _, EncodedSentence, NetworkError, TooManyPieces, WordEncoder};
use crate::model::{CoreType, Declared, Frame, Span};
use crate::text::words_with_cuts;

/// Sentences whose states are held at once.
const SENTENCES_AT_ONCE: usize = 256;

/// A target whose FEs are asked for.
#[derive(Debug, Clone, Copy)]
pub struct LabelRequest<'a> {
    /// The sentence.
    pub text: &'a str,
    /// Where its target stands, in bytes.
    pub target: &'a [Span],
    /// Name of the LU.
    pub lu: &'a str,
    /// The frame that the target evokes.
    pub frame: &'a Frame,
}

/// What a span is to a target.
#[derive(Debug, Clone, PartialEq)]
pub struct SpanVerdict {
    /// The likeliest FE; none if it is likelier that the span is not an FE.
    pub element: Option<String>,
    /// Probability of that.
    pub score: f32,
    /// Probability that the span is not an FE.
    pub not_an_element: f32,
}

/// An encoder and the network that was trained to find FEs by its states.
///
/// ```no_run
/// use fnstore::engine::Device;
/// use fnstore::database::Database;
/// use fnstore::label::{LabelRequest, Labeller};
/// use fnstore::model::Span;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let database = Database::open("store".as_ref())?;
/// let frame = database.lexicon("bfn-1.5")?.frame_by_name("Inspecting")?.expect("it is one of 1.5");
/// let encoder = "models/aligner-encoder".as_ref();
/// let labeller = Labeller::open("models/fes".as_ref(), encoder, &Device::cpu())?;
/// let text = "They inspected the lock .";
/// let asked = LabelRequest { text, target: &[Span::new(5, 14)], lu: "inspect.v", frame: &frame };
/// for fe in labeller.label_each(&[asked])?.remove(0)? {
///     println!("{} {:?} {:.2}", fe.name, fe.span.of(text), fe.score);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Labeller {
    encoder: WordEncoder,
    trained: Trained,
    /// What words are multiplied by.
    words: Weight,
    device: Device,
    declared: Declared,
}

/// The words and states of a sentence, and what the network makes of them.
struct Sentence {
    words: Vec<Span>,
    spans: Spans,
    /// (N, 6 H)
    products: Vec<f32>,
    /// (S, H)
    sums: Vec<f32>,
}

/// The words of some sentences, and their states, (N, M D) each.
type WordsAndStates = (Vec<Vec<Span>>, Vec<Result<Tensor, TooManyPieces>>);

/// The scores of a target's spans.
struct Scored {
    /// (S, K)
    scores: Vec<f32>,
    sums: Sums,
}

impl Scored {
    fn new(spans: Spans, scores: Vec<f32>, labels: usize) -> Self {
        let u = match labels {
            0 => vec![f64::NEG_INFINITY; spans.len()],
            _ => log_sums(&scores, labels),
        };
        Self { scores, sums: Sums::new(spans, &u) }
    }

    fn probability(&self, chosen: Chosen, place: (usize, usize), labels: usize) -> f32 {
        let score = self.scores[chosen.span * labels + chosen.label];
        self.sums.probability(place, f64::from(score)) as f32
    }
}

/// The best FEs of a target: their words, the places of their names among the frame's, and
/// probabilities.
pub(super) fn found(
    parameters: &Parameters,
    (products, sums, spans): (&[f32], &[f32], Spans),
    asked: &Question<'_>,
    once: &[bool],
) -> Result<Vec<(Range<usize>, usize, f32)>, ComputeError> {
    let scores = scores(parameters, products, sums, spans, asked)?;
    let chosen = best(spans, &scores, once);
    if chosen.is_empty() {
        return Ok(Vec::new());
    }
    let scored = Scored::new(spans, scores, once.len());
    let places: Vec<(usize, usize)> = spans.iter().collect();
    let found = chosen.into_iter().map(|one| {
        let place = places[one.span];
        (place.0..place.1 + 1, one.label, scored.probability(one, place, once.len()))
    });
    Ok(found.collect())
}

/// Which FEs are used once: the core ones.
pub(super) fn is_used_once(core_type: CoreType) -> bool {
    core_type == CoreType::Core
}

impl Labeller {
    /// Opens a labeller and its encoder.
    ///
    /// # Errors
    /// When either cannot be read, or the labeller was trained on the states of another encoder.
    pub fn open(directory: &Path, encoder: &Path, device: &Device) -> Result<Self, NetworkError> {
        let config = LabellerConfig::read(directory)?;
        let declared = declared_languages(directory).or(&declared_languages(encoder));
        let encoder =
            WordEncoder::open_layers::<NetworkError>(encoder, &config.layers, None, device)?;
        let trained = Trained::read(directory, config, &encoder.fingerprint())?;
        // What follows the encoder are many small products and sums, which stay on the host.
        let device = device.host();
        let words = words_weight(&device, &trained.parameters)?;
        Ok(Self { encoder, words, trained, device, declared })
    }

    /// What the labeller was made for and how it did on its development data.
    #[must_use]
    pub fn config(&self) -> &LabellerConfig {
        &self.trained.config
    }

    /// The languages that the labeller, or else its encoder, declares.
    #[must_use]
    pub fn declared(&self) -> &Declared {
        &self.declared
    }

    /// Fingerprint of its weights.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        self.trained.fingerprint
    }

    /// The FEs of each target, in order of the text; they do not overlap. A target that cannot be
    /// labelled has its error. Neighbours with the same text share its states.
    ///
    /// # Errors
    /// When the network or the tokenizer fails, or the labeller was trained to classify given
    /// spans.
    pub fn label_each(
        &self,
        asked: &[LabelRequest<'_>],
    ) -> Result<Vec<Result<Vec<FoundElement>, NetworkError>>, NetworkError> {
        self.check_goal()?;
        self.answer_each(asked, None, |sentence, _, question, frame| {
            self.elements(sentence, question, frame)
        })
    }

    /// As [`label_each`](Self::label_each), by the states that a frame model read of the
    /// sentence of each target, which begins and ends with words. They give the same bits, and
    /// no sentence passes the encoder a second time, unless the labeller reads others.
    ///
    /// # Errors
    /// As [`label_each`](Self::label_each).
    pub fn label_encoded(
        &self,
        asked: &[LabelRequest<'_>],
        encoded: &[&EncodedSentence],
    ) -> Result<Vec<Result<Vec<FoundElement>, NetworkError>>, NetworkError> {
        self.check_goal()?;
        self.answer_each(asked, Some(encoded), |sentence, _, question, frame| {
            self.elements(sentence, question, frame)
        })
    }

    /// Refuses to find FEs by weights that classify given spans.
    fn check_goal(&self) -> Result<(), NetworkError> {
        match self.trained.config.goal {
            Goal::Segmentation => Ok(()),
            Goal::GivenSpans => Err(NetworkError::GivenSpans),
        }
    }

    /// The best FEs of a target.
    fn elements(
        &self,
        sentence: &Sentence,
        question: &Question<'_>,
        frame: &Frame,
    ) -> Result<Vec<FoundElement>, ComputeError> {
        let once: Vec<bool> = frame.elements.iter().map(|fe| is_used_once(fe.core_type)).collect();
        let of_sentence = (&sentence.products[..], &sentence.sums[..], sentence.spans);
        let found = found(&self.trained.parameters, of_sentence, question, &once)?;
        let found = found.into_iter().map(|(words, label, score)| FoundElement {
            name: frame.elements[label].name.clone(),
            span: span_of(&sentence.words, &words),
            score,
        });
        Ok(found.collect())
    }

    /// Whether each of some spans (in bytes) is an FE of its target's frame, and which. A span that
    /// is too long or does not begin and end with words is none.
    ///
    /// # Errors
    /// When the network or the tokenizer fails.
    pub fn judge_each(
        &self,
        asked: &[LabelRequest<'_>],
        spans: &[Vec<Span>],
    ) -> Result<Vec<Result<Vec<SpanVerdict>, NetworkError>>, NetworkError> {
        self.answer_each(asked, None, |sentence, at, question, frame| {
            let scores = scores(
                &self.trained.parameters,
                &sentence.products,
                &sentence.sums,
                sentence.spans,
                question,
            )?;
            let judged = spans[at].iter().map(|&span| {
                let words = super::data::exactly(&sentence.words, span);
                verdict(&scores, sentence.spans, words, frame)
            });
            Ok(judged.collect())
        })
    }

    /// What `answer` makes of each target, given its sentence and its number.
    fn answer_each<T: Send + Sync>(
        &self,
        asked: &[LabelRequest<'_>],
        encoded: Option<&[&EncodedSentence]>,
        answer: impl Fn(&Sentence, usize, &Question<'_>, &Frame) -> Result<T, ComputeError> + Sync,
    ) -> Result<Vec<Result<T, NetworkError>>, NetworkError> {
        let mut answers = Vec::with_capacity(asked.len());
        let groups: Vec<&[LabelRequest<'_>]> = asked.chunk_by(|a, b| a.text == b.text).collect();
        for groups in groups.chunks(SENTENCES_AT_ONCE) {
            let first = answers.len();
            let starts: Vec<usize> = groups
                .iter()
                .scan(first, |next, group| {
                    *next += group.len();
                    Some(*next - group.len())
                })
                .collect();
            let known = encoded
                .map(|all| starts.iter().map(|start| all[*start]).collect::<Vec<_>>())
                .and_then(|known| self.known_states(&known));
            let (words, states) = match known {
                Some(known) => known,
                None => self.encode(groups)?,
            };
            let of_groups = self.device.share(groups.len(), |device, at| {
                let (group, words) = (groups[at], words[at].clone());
                let states = match &states[at] {
                    Ok(states) => states,
                    Err(long) => {
                        let too_long = |item| NetworkError::TooLong {
                            item,
                            pieces: long.pieces,
                            limit: long.limit,
                        };
                        let items = starts[at]..starts[at] + group.len();
                        return Ok(items.map(|item| Err(too_long(item))).collect());
                    }
                };
                let sentence = self.sentence(device, words, states)?;
                let targets = group.iter().enumerate().map(|(place, one)| {
                    let item = starts[at] + place;
                    let Some(target) = covering(&sentence.words, one.target) else {
                        return Ok(Err(NetworkError::NoTarget { item }));
                    };
                    let vectors = self.trained.vectors(one.frame);
                    let question = Question { target: &target, vectors: &vectors };
                    Ok(Ok(answer(&sentence, item, &question, one.frame)?))
                });
                targets.collect::<Result<Vec<Result<T, NetworkError>>, ComputeError>>()
            });
            for of_group in of_groups {
                answers.extend(of_group?);
            }
        }
        Ok(answers)
    }

    /// The words of the text of each group of targets, and their states.
    fn encode(&self, groups: &[&[LabelRequest<'_>]]) -> Result<WordsAndStates, NetworkError> {
        let words = groups.iter().map(|group| {
            let cuts: Vec<Span> = group.iter().flat_map(|one| one.target).copied().collect();
            words_with_cuts(group[0].text, &cuts)
        });
        let words: Vec<Vec<Span>> = words.collect();
        let texts = groups
            .iter()
            .zip(&words)
            .map(|(group, words)| words.iter().filter_map(|word| word.of(group[0].text)).collect());
        let states = states(&self.encoder, &texts.collect::<Vec<Vec<&str>>>())?;
        Ok((words, states))
    }

    /// The same of sentences whose states another network read, if they are the labeller's.
    fn known_states(&self, encoded: &[&EncodedSentence]) -> Option<WordsAndStates> {
        let LabellerConfig { encoder_fingerprint, layers, .. } = &self.trained.config;
        let states = encoded.iter().map(|of| of.in_layers(encoder_fingerprint, layers).map(Ok));
        Some((encoded.iter().map(|of| of.words.clone()).collect(), states.collect::<Option<_>>()?))
    }

    fn sentence(
        &self,
        device: &Device,
        words: Vec<Span>,
        states: &Tensor,
    ) -> Result<Sentence, ComputeError> {
        let parameters = &self.trained.parameters;
        let spans = Spans::new(words.len(), self.trained.config.longest);
        let products = products(device, &self.words, states)?.into_data();
        let sums = span_sums(parameters, &products, spans);
        Ok(Sentence { words, spans, products, sums })
    }
}

/// The bytes from the first to the last of some words.
pub(super) fn span_of(words: &[Span], of: &Range<usize>) -> Span {
    Span::new(words[of.start].start, words[of.end - 1].end)
}

/// What some words are, if they are one FE or none of them belongs to one: the FEs of the frame
/// and "not an FE" share the probability. How the rest of the sentence is cut plays no part,
/// since it is the same in each case.
fn verdict(
    scores: &[f32],
    spans: Spans,
    words: Option<Range<usize>>,
    frame: &Frame,
) -> SpanVerdict {
    let labels = frame.elements.len();
    let number = words.and_then(|words| spans.number(words.start, words.end - 1));
    let scores = number.map_or(&[][..], |span| &scores[span * labels..][..labels]);
    let Reading { label, score, not_an_element } = Reading::of(scores);
    let element = label.map(|label| frame.elements[label].name.clone());
    SpanVerdict { element, score, not_an_element }
}
