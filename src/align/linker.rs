//! The linker: a word aligner that was trained on gold links, over the states of an encoder.
//!
//! The place of DiscAlign in Culkin et al. 2021 (section 4.2), trained on the same part of
//! Edinburgh++. It has no bitext behind it but the encoder's own. A sentence and its paraphrase are
//! encoded together, a feed-forward network as the span aligner's scores every pair of words
//! (`link_network.rs`), and links are
//!
//! - the pairs that score [`LinkerPart::threshold`] or more, and
//! - those that are the best of both their words and score [`LinkerPart::mutual_threshold`] or
//!   more.
//!
//! On disk it is a directory with `config.json` ([`LinkerConfig`]) and `model.safetensors`, with
//! the tensors of a head. A head that sees links has its linker in its own directory
//! ([`HeadConfig::linker`](super::HeadConfig::linker)), and that directory is opened as a linker
//! too.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::encode::{PairEncoder, WordPair};
use super::error::{AlignError, TooLong};
use super::head::HeadConfig;
use super::link_features::PairFeatures;
use super::link_network::LinkNetwork;
pub use super::link_network::LinkerPart;
use super::linked::LinkedEncoder;
use super::trained;
use super::words::{LinkCounts, Links, SentencePair};
use crate::engine::{Adapter, Device, NnError, Weights};
use crate::learn::{Artefact, CONFIG, FileError, Misread, SmallNetwork};

/// Pairs whose states are held at once.
const PAIRS_AT_ONCE: usize = 128;

/// What a linker's weights were made for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinkerConfig {
    /// Version of the format.
    pub format: u32,
    /// Directory name of the encoder, by which [`encoder_of`](super::encoder_of) finds it.
    pub encoder: String,
    /// Fingerprint of the encoder (BLAKE3, hexadecimal).
    pub encoder_fingerprint: String,
    /// Layer of the encoder whose states are read, from 1; 0 is the embeddings, none the last.
    pub layer: Option<usize>,
    /// Width D of the encoder's states.
    pub width: usize,
    /// The network and its thresholds.
    #[serde(flatten)]
    pub part: LinkerPart,
    /// How the weights were trained.
    pub training: LinkerTraining,
    /// Links found in the development data, on which epoch and thresholds were chosen.
    pub dev: LinkCounts,
}

/// How a linker was trained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinkerTraining {
    /// Number of sentence pairs.
    pub pairs: usize,
    /// Epoch whose weights were kept, from 1.
    pub epoch: usize,
    /// Sentence pairs per step.
    pub batch: usize,
    /// Words without a link that a step looked at for each word, the nearest not counted.
    pub sample: usize,
    /// Learning rate after warm-up.
    pub learning_rate: f32,
    /// Weight decay.
    pub weight_decay: f32,
    /// Seed of weights, order and samples.
    pub seed: u64,
}

/// An encoder and the network that was trained to link words by its states.
///
/// ```no_run
/// use fnstore::align::linker::Linker;
/// use fnstore::align::words::read_pairs;
/// use fnstore::engine::Device;
/// # fn main() -> Result<(), fnstore::align::AlignError> {
/// let encoder = "models/aligner-encoder".as_ref();
/// let linker = Linker::open("linker".as_ref(), encoder, &Device::cpu())?;
/// for links in linker.align(&read_pairs("pairs.tsv".as_ref())?)?.into_iter().flatten() {
///     println!("{links}");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Linker {
    encoder: LinkedEncoder,
    part: LinkerPart,
}

impl Linker {
    /// Opens a linker, or the one beside a head, and its encoder.
    ///
    /// # Errors
    /// When either cannot be read, the head has no linker, or the linker was trained on the states
    /// of another encoder.
    pub fn open(directory: &Path, encoder: &Path, device: &Device) -> Result<Self, AlignError> {
        let weights = || Weights::open(directory).map_err(NnError::from);
        let (encoder, network) = if trained::is_head(directory)? {
            let config = HeadConfig::read(directory)?;
            let part = config.linker.as_ref().ok_or_else(|| no_linker(directory))?;
            let network = LinkNetwork::beside_head(&weights()?, part, config.width, device)?;
            let adapter = Adapter::read(directory).map_err(NnError::from)?;
            let encoder = PairEncoder::open(encoder, config.layer, adapter, device)?;
            config.require_encoder(directory, &encoder.fingerprint())?;
            (encoder, network)
        } else {
            let config = LinkerConfig::read(directory)?;
            let network = LinkNetwork::read(&weights()?, "", &config.part, config.width, device)?;
            let encoder = PairEncoder::open(encoder, config.layer, None, device)?;
            config.require_encoder(directory, &encoder.fingerprint())?;
            (encoder, network)
        };
        let part = network.part().clone();
        Ok(Self { encoder: LinkedEncoder::new(encoder, Some(network)), part })
    }

    /// The network and its thresholds.
    #[must_use]
    pub fn part(&self) -> &LinkerPart {
        &self.part
    }

    /// The links of each pair, in order; a pair that is too long has none. A pair's links depend on
    /// nothing but the pair.
    ///
    /// # Errors
    /// When words cannot be cut into pieces, or the device fails.
    pub fn align(&self, pairs: &[SentencePair]) -> Result<Vec<Result<Links, TooLong>>, AlignError> {
        let mut links = Vec::with_capacity(pairs.len());
        for (batch, pairs) in pairs.chunks(PAIRS_AT_ONCE).enumerate() {
            let words: Vec<WordPair<'_>> = pairs.iter().map(SentencePair::words).collect();
            let states = self.encoder.encode_those_that_fit(&words, |_| ());
            let states = states.map_err(|error| error.counted_from(batch * PAIRS_AT_ONCE))?;
            links.extend(states.into_iter().map(|states| {
                let scores = states?.links.expect("a linker was asked");
                Ok(self.part.links(&scores))
            }));
        }
        Ok(links)
    }
}

/// What features of each pair are made of. `done` hears how many are finished.
pub(super) fn encode(
    encoder: &PairEncoder,
    pairs: &[SentencePair],
    done: &mut dyn FnMut(usize),
) -> Result<Vec<Result<PairFeatures, TooLong>>, AlignError> {
    let words: Vec<WordPair<'_>> = pairs.iter().map(SentencePair::words).collect();
    let states = encoder.encode_those_that_fit(&words, done)?;
    let features = pairs.iter().zip(states).map(|(pair, states)| match states {
        Ok(states) => Ok(Ok(PairFeatures::new(&states, &pair.source, &pair.target)?)),
        Err(too_long) => Ok(Err(too_long)),
    });
    features.collect()
}

/// A linker that was trained by itself, for a head on the states of an encoder's layer.
pub(super) fn for_head(
    directory: &Path,
    encoder: &PairEncoder,
    layer: Option<usize>,
    device: &Device,
) -> Result<LinkNetwork, AlignError> {
    let config = LinkerConfig::read(directory)?;
    config.require_encoder(directory, &encoder.fingerprint())?;
    if config.layer != layer {
        let of = |layer: Option<usize>| layer.map_or("last".to_owned(), |layer| layer.to_string());
        let expected = "the layer whose states the head reads";
        return Err(refused(directory, format!("`layer` {}", of(config.layer)), expected));
    }
    let weights = Weights::open(directory).map_err(NnError::from)?;
    Ok(LinkNetwork::read(&weights, "", &config.part, config.width, device)?)
}

fn no_linker(directory: &Path) -> AlignError {
    let expected = "a linker, or a head that has one";
    refused(directory, "a head without `linker`".to_owned(), expected)
}

fn refused(directory: &Path, found: String, expected: &'static str) -> AlignError {
    FileError::content(&directory.join(CONFIG), 1, found, expected).into()
}

impl Artefact for LinkerConfig {
    const NETWORK: SmallNetwork = SmallNetwork::Linker;
    const READ: &'static str = "read linker";
    const WHAT: &'static str = "the configuration of a linker";

    fn check(&self) -> Result<(), Misread> {
        if self.format != Self::FORMAT {
            return Err((format!("format {}", self.format), "format 1"));
        }
        self.part.check()?;
        if self.width == 0 {
            return Err(("states without numbers".to_owned(), "a `width` of at least 1"));
        }
        Ok(())
    }

    fn encoder(&self) -> [&str; 2] {
        [&self.encoder, &self.encoder_fingerprint]
    }
}
