//! The frame model at work: sentences in, targets with their frames out.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use super::candidates::Candidates;
use super::corpus::{Answers, Encoded, covered, encode_each};
use super::data::{FrameSentence, lexunits};
use super::evidence::{Parting, is_by_people, parting};
use super::features::{WordStates, pooled_states};
use super::measure::{Figures, LexunitName};
use super::model::{FrameConfig, read_mlp};
use super::reading::Tagged;
use super::scorer::{CandidateSpan, Scored, Scorer, Search, chosen};
use crate::database::DatabaseError;
use crate::engine::{Device, Fingerprint, NnError, declared_languages};
use crate::learn::{Artefact as _, EncodedBy, EncodedSentence, NetworkError, WordEncoder};
use crate::lexicon::Lexicon;
use crate::model::{Declared, FrameFit, Span};
use crate::tag::{Tag, Tagger};
use crate::text::{Morphology, words};

/// Sentences whose states are held at once.
const SENTENCES_AT_ONCE: usize = 256;

/// Frames beside the likeliest that are told of a target.
const RUNNERS_UP: usize = 2;

/// A target that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundTarget {
    /// Where it stands, in bytes: one piece, or two where a verb of several words stands around its
    /// object.
    pub pieces: Vec<Span>,
    /// Name of its frame.
    pub frame: Arc<str>,
    /// Name of the LU of that frame that it is a form of; none where the lexicon has none.
    pub lexunit: Option<Arc<str>>,
    /// Probability of the frame, among the frames that it may evoke and none.
    pub score: f32,
    /// Whether its form alone decided, as that of a verb of several words: the model finds it
    /// likelier that no frame is evoked.
    pub is_by_form: bool,
    /// The next likeliest frames with their probabilities.
    pub runners_up: Vec<(Arc<str>, f32)>,
}

impl FoundTarget {
    /// From its first letter to its last.
    #[must_use]
    pub fn span(&self) -> Span {
        let end = self.pieces.iter().map(|piece| piece.end).max();
        Span::new(self.pieces[0].start, end.unwrap_or_default())
    }

    /// Its words, a space between two pieces.
    #[must_use]
    pub fn words(&self, text: &str) -> String {
        let pieces: Vec<&str> = self.pieces.iter().filter_map(|piece| piece.of(text)).collect();
        pieces.join(" ")
    }
}

/// The targets of a sentence, and the states that were read of it.
pub type FoundEncoded = (Vec<FoundTarget>, EncodedSentence);

/// A question to a judge: how likely is a frame at a target?
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The sentence.
    pub text: &'a str,
    /// Where the target stands, in bytes.
    pub target: Span,
    /// Name of the frame.
    pub frame: &'a str,
}

/// An encoder and the network that was trained to identify frames by its states.
///
/// ```no_run
/// use fnstore::engine::Device;
/// use fnstore::identify::{FrameIdentifier, Search};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (model, encoder) = ("models/frames".as_ref(), "models/aligner-encoder".as_ref());
/// let identifier = FrameIdentifier::open(model, encoder, &Device::cpu())?;
/// let lexicon = identifier.candidates([("Inspecting", "check.v"), ("Being_obligated", "have to.v")]);
/// let text = "They had to check the locks.";
/// for target in &identifier.identify(&[text], &lexicon, Search::Lexicon)?[0] {
///     println!("{} {} {:.2}", target.words(text), target.frame, target.score);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct FrameIdentifier {
    encoder: WordEncoder,
    encoded_by: Arc<EncodedBy>,
    scorer: Scorer,
    tagger: Option<Tagger>,
    config: FrameConfig,
    names: Vec<Arc<str>>,
    fingerprint: Fingerprint,
    declared: Declared,
}

impl FrameIdentifier {
    /// Opens a frame model and its encoder.
    ///
    /// # Errors
    /// When either cannot be read, or the model was trained on the states of another encoder.
    pub fn open(directory: &Path, encoder: &Path, device: &Device) -> Result<Self, NetworkError> {
        let config = FrameConfig::read(directory)?;
        let declared = declared_languages(directory).or(&declared_languages(encoder));
        let encoder =
            WordEncoder::open_layers::<NetworkError>(encoder, &config.layers, None, device)?;
        let (mlp, weights) = read_mlp(directory, &config, &encoder.fingerprint())?;
        Ok(Self {
            scorer: Scorer::new(mlp, config.shape(), device)?,
            fingerprint: weights.fingerprint().map_err(NnError::from)?,
            names: config.frames.iter().map(|name| Arc::from(name.as_str())).collect(),
            encoded_by: Arc::new(EncodedBy {
                fingerprint: encoder.fingerprint(),
                layers: config.layers.clone(),
            }),
            encoder,
            tagger: None,
            config,
            declared,
        })
    }

    /// Uses the parts of speech that a tagger sees, where LUs of a lexicon are looked for: an LU is
    /// found only where its part of speech fits, and LUs of several words come before one of them.
    #[must_use]
    pub fn with_tagger(self, tagger: Option<Tagger>) -> Self {
        Self { tagger, ..self }
    }

    /// What the model was made for and how it did on its development data.
    #[must_use]
    pub fn config(&self) -> &FrameConfig {
        &self.config
    }

    /// The languages that the model, or else its encoder, declares.
    #[must_use]
    pub fn declared(&self) -> &Declared {
        &self.declared
    }

    /// The fingerprint of the model, which names its encoder's in turn.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// What a probability comes to with the name of the model that says so.
    #[must_use]
    pub fn fit(&self, probability: f32) -> FrameFit {
        let mut model = [0; 16];
        model.copy_from_slice(&self.fingerprint.0[..16]);
        FrameFit { probability, model }
    }

    /// The LUs of an English lexicon, names of frame and LU, whose frames the model knows.
    #[must_use]
    pub fn candidates<F: AsRef<str>, L: AsRef<str>>(
        &self,
        lexunits: impl IntoIterator<Item = (F, L)>,
    ) -> Candidates {
        self.candidates_by(lexunits, &Morphology::English)
    }

    /// As [`candidates`](Self::candidates), of a lexicon in any language.
    #[must_use]
    pub fn candidates_by<F: AsRef<str>, L: AsRef<str>>(
        &self,
        lexunits: impl IntoIterator<Item = (F, L)>,
        morphology: &Morphology,
    ) -> Candidates {
        Candidates::new(&self.config.frames, lexunits, morphology)
    }

    /// The LUs of a release, in the forms of its language. Annotation shows which verbs of several
    /// words stand around their objects.
    ///
    /// # Errors
    /// When the model is made for another language, unless the database
    /// [allows any](crate::database::Database::with_any_language), or the store fails.
    pub fn candidates_of(&self, lexicon: &Lexicon<'_>) -> Result<Candidates, DatabaseError> {
        lexicon.check_language(&self.declared)?;
        let morphology = lexicon.morphology()?;
        let parting = parting(lexicon, is_by_people)?;
        Ok(self.candidates_with(lexunits(lexicon)?, &morphology, &parting))
    }

    /// As [`candidates_by`](Self::candidates_by), with what annotation shows of verbs around their
    /// objects.
    #[must_use]
    pub fn candidates_with<F: AsRef<str>, L: AsRef<str>>(
        &self,
        lexunits: impl IntoIterator<Item = (F, L)>,
        morphology: &Morphology,
        parting: &Parting,
    ) -> Candidates {
        let mut candidates = self.candidates_by(lexunits, morphology);
        candidates.add_parted(parting, morphology);
        candidates
    }

    /// The targets of each sentence with their frames, by place. What is found in a sentence
    /// depends on nothing else.
    ///
    /// # Errors
    /// When a sentence is too long for the encoder.
    pub fn identify(
        &self,
        sentences: &[&str],
        candidates: &Candidates,
        search: Search,
    ) -> Result<Vec<Vec<FoundTarget>>, NetworkError> {
        self.identify_each(sentences, candidates, search)?.into_iter().collect()
    }

    /// The targets of each sentence as [`identify`](Self::identify) gives them, and in the place of
    /// one that is too long its error; the others go on.
    ///
    /// # Errors
    /// When the network or the tokenizer fails.
    pub fn identify_each(
        &self,
        sentences: &[&str],
        candidates: &Candidates,
        search: Search,
    ) -> Result<Vec<Result<Vec<FoundTarget>, NetworkError>>, NetworkError> {
        let found = self.identify_encoded(sentences, candidates, search)?;
        Ok(found.into_iter().map(|found| found.map(|(targets, _)| targets)).collect())
    }

    /// As [`identify_each`](Self::identify_each), with the states that were read, for
    /// [`Labeller::label_encoded`](crate::label::Labeller::label_encoded).
    ///
    /// # Errors
    /// When the network or the tokenizer fails.
    pub fn identify_encoded(
        &self,
        sentences: &[&str],
        candidates: &Candidates,
        search: Search,
    ) -> Result<Vec<Result<FoundEncoded, NetworkError>>, NetworkError> {
        let ask = |at, words: &[&str], encoded: &EncodedSentence| {
            let tagger = self.tagger.as_ref().filter(|_| search == Search::Lexicon);
            let Some(tagger) = tagger else {
                return Ok(CandidateSpan::all(words, candidates, search));
            };
            let tags = tagger.tag_encoded(words, encoded);
            let tags = tags.map_err(|error| error.of_item(|_| at))?;
            let tags: Vec<&str> = tags.iter().map(|tag| tag.name).collect();
            Ok(CandidateSpan::read(Tagged { words, tags: &tags }, candidates))
        };
        let answer = |at: usize, encoded: EncodedSentence, scored: Vec<Scored>| {
            let found = chosen(&scored, search, self.config.null_bias).into_iter();
            let (text, words) = (sentences[at], &encoded.words);
            let target = |at: usize| self.found(&scored[at], text, words, candidates, search);
            (found.map(|(at, _)| target(at)).collect(), encoded)
        };
        self.scored_each(sentences, ask, answer)
    }

    /// The probability of each question's frame at its target, beside the other frames that LUs of
    /// the form evoke and none. `None` for a frame that the model does not know, and where the
    /// target covers no word or too many, or the sentence is too long.
    ///
    /// # Errors
    /// When the network or the tokenizer fails.
    pub fn judge(
        &self,
        questions: &[Question<'_>],
        candidates: &Candidates,
    ) -> Result<Vec<Option<f32>>, NetworkError> {
        let texts: Vec<&str> = questions.iter().map(|question| question.text).collect();
        let frame =
            |at: usize| self.config.frames.binary_search_by(|n| (**n).cmp(questions[at].frame));
        let ask = |at: usize, words: &[&str], encoded: &EncodedSentence| {
            let span = covered(&encoded.words, questions[at].target);
            Ok(span.map(|span| CandidateSpan::at(span, words, candidates)).into_iter().collect())
        };
        let answer = |at: usize, _: EncodedSentence, scored: Vec<Scored>| {
            let shares = scored.first()?.frames_and_null(Search::Open, 0.0).0;
            let frame = frame(at).ok()?;
            shares.iter().find(|(other, _)| *other == frame).map(|(_, share)| *share)
        };
        let answers = self.scored_each(&texts, ask, answer)?;
        Ok(answers.into_iter().map(|answer| answer.ok().flatten()).collect())
    }

    /// How well targets and frames of sentences are found, and how many sentences are too long.
    /// `seen` are the LUs of the training documents.
    ///
    /// # Errors
    /// When the network or the tokenizer fails.
    pub fn measure(
        &self,
        sentences: &[FrameSentence],
        candidates: &Candidates,
        search: Search,
        seen: &HashSet<LexunitName>,
    ) -> Result<(Figures, usize), NetworkError> {
        let frames = self.config.frames.iter().enumerate();
        let frames: HashMap<&str, usize> = frames.map(|(at, name)| (name.as_str(), at)).collect();
        let asked = (candidates, search);
        let layers = self.config.layers.len();
        let (mut figures, mut left_out) = (Figures::default(), 0);
        for sentences in sentences.chunks(SENTENCES_AT_ONCE) {
            let mut encoded =
                encode_each(&self.encoder, layers, sentences, &frames, asked, &mut |_| ())?;
            if let Some(tagger) = self.tagger.as_ref().filter(|_| search == Search::Lexicon) {
                read_each(tagger, sentences, &mut encoded, candidates)?;
            }
            let encoded: Vec<Encoded> = encoded.into_iter().flatten().collect();
            let answers = Answers::of(&self.scorer, &encoded, search)?;
            answers.add_to(&mut figures, self.config.null_bias, seen);
            left_out += sentences.len() - encoded.len();
        }
        Ok((figures, left_out))
    }

    /// Asks of every sentence some spans, and makes something of their scores.
    fn scored_each<T>(
        &self,
        sentences: &[&str],
        ask: impl Fn(usize, &[&str], &EncodedSentence) -> Result<Vec<CandidateSpan>, NetworkError>,
        answer: impl Fn(usize, EncodedSentence, Vec<Scored>) -> T,
    ) -> Result<Vec<Result<T, NetworkError>>, NetworkError> {
        let mut answers = Vec::with_capacity(sentences.len());
        for (batch, sentences) in sentences.chunks(SENTENCES_AT_ONCE).enumerate() {
            let first = batch * SENTENCES_AT_ONCE;
            let places: Vec<Vec<Span>> = sentences.iter().map(|text| words(text)).collect();
            let texts: Vec<Vec<&str>> = sentences
                .iter()
                .zip(&places)
                .map(|(text, words)| words.iter().filter_map(|word| word.of(text)).collect())
                .collect();
            let shape = self.config.shape();
            let pool = |at: usize, means: Vec<f32>| {
                let words = &texts[at];
                let by = Arc::clone(&self.encoded_by);
                let states = WordStates::new(shape, words, &means, 0..words.len());
                (states, EncodedSentence { by, words: places[at].clone(), states: means })
            };
            let encoded = pooled_states(&self.encoder, &texts, pool, &mut |_| ())?;
            let (mut asked, mut refused) = (Vec::new(), HashMap::new());
            for (at, states) in encoded.iter().enumerate() {
                let Ok((states, encoded)) = states else { continue };
                match ask(first + at, &texts[at], encoded) {
                    Ok(spans) => asked.push((states, spans)),
                    // The tagger may take less than the encoder.
                    Err(error @ NetworkError::TooLong { .. }) => drop(refused.insert(at, error)),
                    Err(error) => return Err(error),
                }
            }
            let mut scored = self.scorer.score(asked)?.into_iter();
            for (at, states) in encoded.into_iter().enumerate() {
                answers.push(match (states, refused.remove(&at)) {
                    (Err(error), _) => Err(error.of_item(|item| first + item)),
                    (_, Some(error)) => Err(error),
                    (Ok((_, encoded)), None) => {
                        let scored = scored.next().expect("every encoded sentence was asked");
                        Ok(answer(first + at, encoded, scored))
                    }
                });
            }
        }
        Ok(answers)
    }

    /// A span as a target.
    fn found(
        &self,
        scored: &Scored,
        text: &str,
        places: &[Span],
        candidates: &Candidates,
        search: Search,
    ) -> FoundTarget {
        let ranked = scored.frames_and_null(search, self.config.null_bias).0;
        let (frame, score) = ranked[0];
        let pieces = scored.candidate.pieces();
        let words = pieces.iter().flat_map(|piece| &places[piece.first..piece.end()]);
        let words: Vec<&str> = words.filter_map(|word| word.of(text)).collect();
        let numbers = match scored.candidate.lexunits.as_slice() {
            [] => candidates.numbers(&words),
            fitting => fitting,
        };
        let mut lexunits = candidates.numbered(numbers);
        let lexunit = lexunits.find(|candidate| candidate.frame == frame);
        let runners_up = ranked[1..].iter().take(RUNNERS_UP);
        FoundTarget {
            pieces: pieces
                .iter()
                .map(|piece| Span::new(places[piece.first].start, places[piece.end() - 1].end))
                .collect(),
            frame: Arc::clone(&self.names[frame]),
            lexunit: lexunit.map(|candidate| Arc::clone(&candidate.lexunit)),
            score,
            is_by_form: scored.is_by_form(search, self.config.null_bias),
            runners_up: runners_up
                .map(|(frame, share)| (Arc::clone(&self.names[*frame]), *share))
                .collect(),
        }
    }
}

/// Asks of encoded sentences again, by the parts of speech that a tagger sees.
fn read_each(
    tagger: &Tagger,
    sentences: &[FrameSentence],
    encoded: &mut [Option<Encoded>],
    candidates: &Candidates,
) -> Result<(), NetworkError> {
    let places = sentences.iter().map(|sentence| words(&sentence.text));
    let places: Vec<Vec<Span>> = places.collect();
    let texts = sentences.iter().zip(&places).map(|(sentence, places)| {
        places.iter().filter_map(|word| word.of(&sentence.text)).collect()
    });
    let texts: Vec<Vec<&str>> = texts.collect();
    let tags: Vec<Result<Vec<Tag<'_>>, _>> = tagger.tag_each(&texts)?;
    for ((encoded, words), tags) in encoded.iter_mut().zip(&texts).zip(tags) {
        let (Some(encoded), Ok(tags)) = (encoded, tags) else { continue };
        let tags: Vec<&str> = tags.iter().map(|tag| tag.name).collect();
        encoded.read(Tagged { words, tags: &tags }, candidates);
    }
    Ok(())
}
