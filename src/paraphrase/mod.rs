//! Paraphrases of sentences under lexical constraints.
//!
//! Joins a network, its tokenizer and the search: a sentence and the phrases it may not contain go
//! in, scored texts come out, best first. A copy of the source is an output like any other (the
//! caller flags it). Dropped are empty texts, copies of a better one, and damaged letters.
//!
//! [`Paraphraser::paraphrase`] rewrites a batch once. [`Session`] is the form for rounds: a
//! finished source can be rewritten under more bans without being encoded again, side by side with
//! others.
//!
//! Culkin, Hu, Stengel-Eskin, Qin and Van Durme (2021), Iterative Paraphrastic Augmentation with
//! Discriminative Span Alignment; Hu, Rudinger, Post and Van Durme (2019), ParaBank.

mod constraints;
mod crew;
mod error;
mod files;
mod heuristics;
mod likelihood;
mod network;
mod prompt;
mod reading;
mod remote;
mod rewriter;
mod session;
mod substitutes;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

pub use constraints::Constraints;
pub use crew::Crew;
pub use error::{ParaphraseError, Refusal};
pub use files::{base_of, gguf_in, is_adapter};
pub use heuristics::Heuristics;
pub use likelihood::Likelihood;
pub use network::Network;
pub use prompt::{PROMPT, Prompt};
pub use remote::{RemoteParaphraser, RemoteRewrite, RemoteSession};
pub use rewriter::{Rewriter, Rounds};
pub use session::{Rewrite, Session};
pub use substitutes::Substitute;

use crate::engine::{
    AvoidTokens, BeamSettings, Device, EncoderDecoder, Fingerprint, LanguageModel, Numbers,
    SampleSettings, StepNetwork, Stop, Tokenizer, Vocabulary, WORDS, WordList, declared_languages,
};
use crate::model::Declared;

/// A rewriter: an encoder-decoder, or a language model that is asked by a prompt, and its
/// tokenizer.
///
/// ```no_run
/// use std::path::Path;
///
/// use fnstore::engine::Device;
/// use fnstore::paraphrase::{Constraints, Paraphraser, Request, Settings};
///
/// let mut paraphraser = Paraphraser::open(Path::new("models/paraphrase"), &Device::cpu())?;
/// let request = Request {
///     text: "They checked the bill.".into(),
///     constraints: Constraints {
///         avoid: vec!["checked".into()],
///         require: vec![vec!["bill".into(), "invoice".into()]],
///         ..Constraints::default()
///     },
/// };
/// let outcomes = paraphraser.paraphrase(&[request], &Settings::default())?;
/// for paraphrase in outcomes[0].paraphrases() {
///     println!("{:.2} {}", paraphrase.score, paraphrase.text);
/// }
/// # Ok::<(), fnstore::paraphrase::ParaphraseError>(())
/// ```
#[derive(Debug)]
pub struct Paraphraser<N = Network> {
    network: N,
    tokenizer: Tokenizer,
    vocabulary: Arc<Vocabulary>,
    /// Tokens that no output holds: special ones but for the end, and ids without a token.
    never: Arc<AvoidTokens>,
    /// What the network was trained to read before words of the source that must not come back.
    mark: Option<String>,
    /// What the network was trained to read before every source.
    source_prefix: String,
    /// How a language model is asked, and the token with which its prompts begin.
    prompt: Option<(Prompt, Option<u32>)>,
    /// The words that outputs may hold beside those of their source, where the model says so.
    words: Option<Arc<WordList>>,
    leaks: u64,
    declared: Declared,
}

/// How to paraphrase.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The search. Its `n_best` counts different texts.
    pub beam: BeamSettings,
    /// Draws outputs in place of the search.
    pub sample: Option<SampleSettings>,
    /// Phrases banned from every output.
    pub avoid: Vec<String>,
    /// Outputs hold words of the model's `words.txt`, of their source and of what is required, and
    /// no others. Without effect where the model brings no list.
    pub known_words: bool,
    /// The network is told what is banned, by marks in the source or by its prompt, where it was
    /// trained so. Bans hold without.
    pub tell_bans: bool,
    /// Sources of more pieces, the end not counted, are refused. 80 in Culkin et al. 2021.
    pub max_source_pieces: usize,
    /// Hypotheses in one step of the network, over all sentences.
    pub row_limit: usize,
    /// Keeps the steps of every search in a session, so that a round that only bans more begins
    /// where the round before still holds. Outputs are the same; hypotheses that died stay in
    /// memory until their source is closed (for the default rewriter 4 KiB a token).
    pub keep_steps: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            beam: BeamSettings::default(),
            sample: None,
            avoid: Vec::new(),
            known_words: true,
            tell_bans: true,
            max_source_pieces: 80,
            // Weights are read from memory once a step: 256 rows make that cost small, and their
            // logits still fit in cache or little more.
            row_limit: 256,
            keep_steps: false,
        }
    }
}

/// A sentence to paraphrase.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Request {
    /// The sentence.
    pub text: String,
    /// What is asked of its paraphrases.
    pub constraints: Constraints,
}

/// One paraphrase.
#[derive(Debug, Clone, PartialEq)]
pub struct Paraphrase {
    /// The text, without white space around it.
    pub text: String,
    /// The paraphrase score: mean negative log-likelihood per token under the unmasked network
    /// (natural log, the end counted); lower is better. Infinite for a server's, which has none.
    pub score: f32,
    /// Sum of the log-probabilities of its tokens (natural log); 0 for a server's.
    pub log_prob: f32,
    /// Whether it ends by itself; if not, it was cut at the length limit.
    pub ended: bool,
    /// What it lacks of what is required, as places in [`Constraints::require`]: what the tokenizer
    /// cannot spell, and more only where no output holds the rest.
    pub unmet: Vec<usize>,
    /// Banned phrases that it holds all the same; only a server's can.
    pub banned: Vec<String>,
}

/// What became of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum RequestOutcome {
    /// Different texts, ranked best first by the search's length penalty.
    Paraphrases(Vec<Paraphrase>),
    /// The search ended without an output that says anything.
    NothingLeft(Stop),
    /// The source cannot be rewritten.
    Refused(Refusal),
}

impl RequestOutcome {
    /// The paraphrases, none if there are none.
    #[must_use]
    pub fn paraphrases(&self) -> &[Paraphrase] {
        match self {
            Self::Paraphrases(paraphrases) => paraphrases,
            Self::NothingLeft(_) | Self::Refused(_) => &[],
        }
    }
}

impl Paraphraser<Network> {
    /// Opens a model directory: `config.json`, `model.safetensors` and `tokenizer.json`, or a
    /// language model with its `prompt.toml`; and `words.txt` where there is one.
    ///
    /// # Errors
    /// When one of the files is missing or damaged, or they do not belong together.
    pub fn open(dir: &Path, device: &Device) -> Result<Self, ParaphraseError> {
        Self::open_in(dir, device, Numbers::default())
    }

    /// The languages that the model, or else the one that it adapts, declares.
    #[must_use]
    pub fn declared(&self) -> &Declared {
        &self.declared
    }

    /// As [`open`](Self::open), to compute in these numbers.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_in(dir: &Path, device: &Device, numbers: Numbers) -> Result<Self, ParaphraseError> {
        Self::open_with(dir, None, device, numbers)
    }

    /// As [`open_in`](Self::open_in), also of an adapter, with the language model that it was
    /// trained on ([`base_of`] finds it).
    ///
    /// # Errors
    /// As [`open`](Self::open), and when the adapter was trained on another model.
    pub fn open_with(
        dir: &Path,
        base: Option<&Path>,
        device: &Device,
        numbers: Numbers,
    ) -> Result<Self, ParaphraseError> {
        let declared = declared_languages(dir);
        if is_adapter(dir) {
            let beside = || base_of(dir, &[dir.parent().unwrap_or(Path::new("")).to_owned()]);
            let found = if base.is_none() { beside()? } else { None };
            let base = base.or(found.as_deref()).unwrap_or(dir);
            let declared = declared.or(&declared_languages(base));
            let model = Self::of_language_model(base, Some(dir), device, numbers)?;
            return Ok(Self { declared, ..model });
        }
        if let Some(model) = files::language_model_of(dir) {
            let model = Self::of_language_model(&model, None, device, numbers)?;
            return Ok(Self { declared, ..model });
        }
        let tokenizer = Tokenizer::open(dir)?;
        let network = EncoderDecoder::open_in(dir, device, numbers)
            .map_err(|source| ParaphraseError::Open { path: dir.display().to_string(), source })?;
        let mark = network.config().avoid_token.clone();
        let source_prefix = network.config().source_prefix.clone().unwrap_or_default();
        let network = Network::EncoderDecoder(Box::new(network));
        let mut paraphraser = Self { source_prefix, declared, ..Self::new(network, tokenizer)? };
        if let Some(words) = files::read_words(&dir.join(WORDS))? {
            paraphraser = paraphraser.with_words(words.lines());
        }
        match mark {
            Some(mark) => paraphraser.with_mark(mark),
            None => Ok(paraphraser),
        }
    }

    /// The fingerprint of the model's weights, configuration and tokenizer.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        self.network.fingerprint()
    }

    /// The language model that rewrites, where it is one: others may be opened over it
    /// ([`LanguageModel::with_adapter`]).
    #[must_use]
    pub fn language_model(&self) -> Option<&LanguageModel> {
        match &self.network {
            Network::LanguageModel(model) => Some(model),
            Network::EncoderDecoder(_) => None,
        }
    }

    /// The same rewriter once more, where it is a language model: both compute with the weights
    /// that are in memory, and neither waits for the other.
    ///
    /// # Errors
    /// When the model's file is not what it was.
    pub fn again(&self) -> Result<Option<Self>, ParaphraseError> {
        let Network::LanguageModel(model) = &self.network else { return Ok(None) };
        let path = model.path().display().to_string();
        let again = model.with_adapter(model.shared_adapter());
        let again = again.map_err(|source| ParaphraseError::Open { path, source })?;
        let end = self.network.eos_token();
        Ok(Some(Self {
            network: Network::LanguageModel(Box::new(again.ending_at(end))),
            tokenizer: self.tokenizer.clone(),
            vocabulary: Arc::clone(&self.vocabulary),
            never: Arc::clone(&self.never),
            mark: self.mark.clone(),
            source_prefix: self.source_prefix.clone(),
            prompt: self.prompt.clone(),
            words: self.words.clone(),
            leaks: 0,
            declared: self.declared.clone(),
        }))
    }

    /// The fingerprint of the adapter, where there is one.
    #[must_use]
    pub fn adapter_fingerprint(&self) -> Option<Fingerprint> {
        match &self.network {
            Network::LanguageModel(model) => Some(model.adapter()?.fingerprint()),
            Network::EncoderDecoder(_) => None,
        }
    }
}

impl<N: StepNetwork> Paraphraser<N> {
    /// Joins a network and its tokenizer.
    ///
    /// # Errors
    /// When the tokenizer has ids that the network does not know.
    pub fn new(network: N, tokenizer: Tokenizer) -> Result<Self, ParaphraseError> {
        let (network_size, tokenizer_size) = (network.vocab_size(), tokenizer.vocab_size());
        if tokenizer_size > network_size {
            return Err(ParaphraseError::Vocabulary { tokenizer_size, network_size });
        }
        let ids = 0..u32::try_from(network_size).expect("token ids are 32-bit");
        let vocabulary = Arc::new(Vocabulary::new(ids.clone().map(|id| tokenizer.surface(id))));
        let eos = network.eos_token();
        let never = ids.filter(|&id| {
            id != eos && (id as usize >= tokenizer_size || tokenizer.special_ids().contains(&id))
        });
        let never = Arc::new(AvoidTokens::new(never.map(|id| vec![id]))?);
        Ok(Self {
            network,
            tokenizer,
            vocabulary,
            never,
            mark: None,
            source_prefix: String::new(),
            prompt: None,
            words: None,
            leaks: 0,
            declared: Declared::nothing("rewriter"),
        })
    }

    /// Asks by a prompt, for a language model; `start` is the token with which its texts begin. An
    /// answer is one line: tokens that spell a line break are no part of any output.
    ///
    /// # Errors
    /// When its list of tokens cannot be made.
    pub fn with_prompt(
        mut self,
        prompt: Prompt,
        start: Option<u32>,
    ) -> Result<Self, ParaphraseError> {
        let ids = 0..u32::try_from(self.network.vocab_size()).expect("token ids are 32-bit");
        let eos = self.network.eos_token();
        let breaks = |id: u32| self.tokenizer.surface(id).iter().any(|byte| b"\n\r".contains(byte));
        let specials = self.tokenizer.special_ids();
        let size = self.tokenizer.vocab_size();
        let never = ids.filter(|id| {
            let is_text = (*id as usize) < size && specials.binary_search(id).is_err();
            *id != eos && (!is_text || breaks(*id))
        });
        self.never = Arc::new(AvoidTokens::new(never.map(|id| vec![id]))?);
        self.prompt = Some((prompt, start));
        Ok(self)
    }

    /// How the network is asked, if it is a language model.
    pub fn prompt(&self) -> Option<&Prompt> {
        self.prompt.as_ref().map(|(prompt, _)| prompt)
    }

    /// Sets the words that outputs may hold beside those of their source; a model's `words.txt`
    /// does so by itself. See [`Settings::known_words`].
    #[must_use]
    pub fn with_words<S: AsRef<str>>(self, words: impl IntoIterator<Item = S>) -> Self {
        let words = WordList::new(Arc::clone(&self.vocabulary), words);
        Self { words: Some(Arc::new(words)), ..self }
    }

    /// Whether outputs may hold a word under [`Settings::known_words`], whatever their source.
    pub fn knows_word(&self, word: &str) -> bool {
        self.words.as_ref().is_none_or(|words| words.holds(word))
    }

    /// Whether it has a list of words for [`Settings::known_words`].
    pub fn has_word_list(&self) -> bool {
        self.words.is_some()
    }

    /// Sets a mark, a special token, before every word of a source that begins a banned phrase, for
    /// a network that was trained with it; a model's `avoid_token` does so by itself.
    ///
    /// # Errors
    /// When it is no special token of the tokenizer.
    pub fn with_mark(self, mark: String) -> Result<Self, ParaphraseError> {
        let id = self.tokenizer.id(&mark);
        if id.is_none_or(|id| self.tokenizer.special_ids().binary_search(&id).is_err()) {
            return Err(ParaphraseError::Mark { token: mark });
        }
        Ok(Self { mark: Some(mark), ..self })
    }

    /// The mark that stands before banned words in the sources that the network reads, if any.
    pub fn mark(&self) -> Option<&str> {
        self.mark.as_deref()
    }

    /// The tokenizer.
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// Number of outputs so far whose final text held a banned phrase or lacked a required one that
    /// counted as met, and that were dropped. The search rules them out by construction, so
    /// anything but 0 is a defect.
    pub fn leaks(&self) -> u64 {
        self.leaks
    }

    /// Paraphrases a batch of sentences; the outcomes are in the order of the requests.
    ///
    /// # Errors
    /// When no search can follow the settings, a banned phrase has no visible letter, or the
    /// network fails. A single source that cannot be rewritten is no error.
    pub fn paraphrase(
        &mut self,
        requests: &[Request],
        settings: &Settings,
    ) -> Result<Vec<RequestOutcome>, ParaphraseError> {
        let mut session = self.session(settings.clone())?;
        let mut outcomes: Vec<Option<RequestOutcome>> = vec![None; requests.len()];
        let mut jobs = HashMap::new();
        for (at, request) in requests.iter().enumerate() {
            match session.open_under(&request.text, &request.constraints) {
                Ok(source) => {
                    jobs.insert(session.submit(source, &request.constraints)?, at);
                }
                Err(ParaphraseError::Refused(refusal)) => {
                    outcomes[at] = Some(RequestOutcome::Refused(refusal));
                }
                Err(error) => return Err(error),
            }
        }
        while let Some(rewrite) = session.next_finished()? {
            session.close(rewrite.source);
            outcomes[jobs[&rewrite.job]] = Some(rewrite.outcome);
        }
        let outcomes = outcomes.into_iter().map(|o| o.expect("every job finishes")).collect();
        Ok(outcomes)
    }

    /// Begins a session: sources that are rewritten again and again.
    ///
    /// # Errors
    /// When no search can follow the settings, or a banned phrase has no visible letter.
    pub fn session(&mut self, settings: Settings) -> Result<Session<'_, N>, ParaphraseError> {
        Session::new(self, settings)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::engine::toy::ToyNetwork;
    use crate::engine::{LengthLimit, violations};

    pub(super) fn paraphraser() -> Paraphraser<ToyNetwork> {
        let json = include_bytes!("../../tests/data/tokenizer/tokenizer.json");
        let tokenizer = Tokenizer::from_json(json).unwrap();
        let mut network = ToyNetwork::new(tokenizer.vocab_size(), 30);
        network.sharpness = 8.0;
        Paraphraser::new(network, tokenizer).unwrap()
    }

    pub(super) fn settings() -> Settings {
        let beam = BeamSettings {
            beam_size: 4,
            n_best: 3,
            length_limit: LengthLimit::tokens(6),
            ..BeamSettings::default()
        };
        Settings { beam, max_source_pieces: 12, row_limit: 10, ..Settings::default() }
    }

    fn request(text: &str, avoid: &[&str]) -> Request {
        Request { text: text.to_owned(), constraints: Constraints::avoiding(avoid.iter().copied()) }
    }

    #[test]
    fn outcomes_come_in_the_order_of_the_requests() {
        let mut paraphraser = paraphraser();
        let requests: Vec<Request> = ["the cat", "a dog", "the dog confirmed", "a cat"]
            .iter()
            .map(|text| request(text, &[]))
            .collect();
        let together = paraphraser.paraphrase(&requests, &settings()).unwrap();
        assert_eq!(together.len(), 4);
        for (request, outcome) in requests.iter().zip(&together) {
            let alone = paraphraser.paraphrase(std::slice::from_ref(request), &settings()).unwrap();
            assert_eq!(&alone[0], outcome);
        }
        assert_eq!(paraphraser.network.open_slots(), 0);
    }

    #[test]
    fn paraphrases_are_different_texts_ranked_and_scored() {
        let outcome = paraphraser().paraphrase(&[request("the cat", &[])], &settings()).unwrap();
        let paraphrases = outcome[0].paraphrases();
        assert!(!paraphrases.is_empty() && paraphrases.len() <= 3);
        let texts: HashSet<&str> = paraphrases.iter().map(|p| p.text.as_str()).collect();
        assert_eq!(texts.len(), paraphrases.len());
        assert!(paraphrases.is_sorted_by(|a, b| a.score <= b.score));
        assert!(paraphrases.iter().all(|p| p.score > 0.0 && p.text == p.text.trim()));
    }

    #[test]
    fn no_paraphrase_holds_what_is_banned_here_or_everywhere() {
        let mut paraphraser = paraphraser();
        let letters: Vec<String> = ('a'..='m').map(String::from).collect();
        let settings = Settings { avoid: letters.clone(), ..settings() };
        let requests: Vec<Request> =
            (0..20).map(|n| request(&format!("the cat {n}"), &["the", "cat", "n"])).collect();
        let outcomes = paraphraser.paraphrase(&requests, &settings).unwrap();
        let banned: Vec<&str> =
            letters.iter().map(String::as_str).chain(["the", "cat", "n"]).collect();
        for paraphrase in outcomes.iter().flat_map(RequestOutcome::paraphrases) {
            assert!(violations(&paraphrase.text, &banned).unwrap().is_empty());
        }
        assert_eq!(paraphraser.leaks(), 0);
    }

    #[test]
    fn outputs_hold_known_words_and_those_of_their_source() {
        let mut paraphraser = paraphraser().with_words(["the", "cat", "dog"]);
        let texts = |paraphraser: &mut Paraphraser<ToyNetwork>, known_words| -> Vec<String> {
            let beam = BeamSettings { beam_size: 20, n_best: 20, ..settings().beam };
            let settings = Settings { known_words, beam, ..settings() };
            let request = request("a bird confirmed", &["bird"]);
            let outcomes = paraphraser.paraphrase(&[request], &settings).unwrap();
            outcomes[0].paraphrases().iter().map(|paraphrase| paraphrase.text.clone()).collect()
        };
        let words = ["the", "cat", "dog", "a", "confirmed"];
        let is_known = |text: &String| {
            let mut of_text = text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty());
            of_text.all(|word| words.contains(&word.to_lowercase().as_str()))
        };
        let known = texts(&mut paraphraser, true);
        assert!(known.iter().any(|text| text.contains(char::is_alphabetic)), "{known:?}");
        assert!(known.iter().all(is_known), "{known:?}");
        assert!(!texts(&mut paraphraser, false).iter().all(is_known));
        assert_eq!(paraphraser.leaks(), 0);
    }

    #[test]
    fn a_list_of_words_that_is_no_text_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join(WORDS);
        assert_eq!(files::read_words(&file).unwrap(), None);
        std::fs::write(&file, b"caf\xe9\n").unwrap();
        let message = files::read_words(&file).unwrap_err().to_string();
        assert!(message.contains("words.txt") && message.contains("UTF-8"), "{message}");
    }

    #[test]
    fn a_long_or_empty_source_is_refused_and_the_others_go_on() {
        let requests =
            [request(&"cat ".repeat(20), &[]), request("the cat", &[]), request("  ", &[])];
        let outcomes = paraphraser().paraphrase(&requests, &settings()).unwrap();
        assert!(matches!(
            outcomes[0],
            RequestOutcome::Refused(Refusal::TooLong { pieces: 20, limit: 12 })
        ));
        assert!(!outcomes[1].paraphrases().is_empty());
        assert_eq!(outcomes[2], RequestOutcome::Refused(Refusal::Empty));
    }

    #[test]
    fn a_phrase_is_banned_in_the_spelling_of_the_tokenizer_too() {
        let paraphraser = paraphraser();
        let wide = "\u{ff46}irm".to_owned();
        let compiled = paraphraser.avoid(std::slice::from_ref(&wide)).unwrap().unwrap();
        assert_eq!(compiled.violations("a firm no"), ["firm"]);
        assert_eq!(compiled.violations(&wide), [wide.as_str()]);
    }

    #[test]
    fn a_phrase_without_letters_is_an_error() {
        let error = paraphraser().paraphrase(&[request("the cat", &[" "])], &settings());
        assert!(matches!(error, Err(ParaphraseError::Decode { .. })));
    }

    #[test]
    fn a_tokenizer_larger_than_its_network_is_refused() {
        let Paraphraser { tokenizer, .. } = paraphraser();
        let error = Paraphraser::new(ToyNetwork::new(10, 5), tokenizer).unwrap_err();
        assert!(matches!(error, ParaphraseError::Vocabulary { network_size: 10, .. }));
    }
}
