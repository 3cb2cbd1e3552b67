//! The tagger: sentences in, the tag of each word out.

use std::path::Path;

use super::features::{features, rows_of_states};
use super::model::{TaggerConfig, read_mlp};
use crate::engine::{ComputeError, Device, Fingerprint, NnError, Tensor, declared_languages};
use crate::exchange::WordTagger;
use crate::learn::{Artefact as _, EncodedSentence, Network, NetworkError, WordEncoder, softmax};
use crate::model::Declared;

/// Sentences whose states are held at once.
const SENTENCES_AT_ONCE: usize = 256;

/// The tag of a word.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tag<'a> {
    /// Its name.
    pub name: &'a str,
    /// The network's share for it, in (0, 1].
    pub score: f32,
}

/// An encoder and the network that was trained to tag words by its states.
///
/// ```no_run
/// use fnstore::engine::Device;
/// use fnstore::tag::Tagger;
/// # fn main() -> Result<(), fnstore::NetworkError> {
/// let encoder = "models/aligner-encoder".as_ref();
/// let tagger = Tagger::open("models/tagger".as_ref(), encoder, &Device::cpu())?;
/// let words = vec!["They", "checked", "the", "lock", "."];
/// for tag in &tagger.tag(&[words])?[0] {
///     println!("{} {:.2}", tag.name, tag.score);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Tagger {
    encoder: WordEncoder,
    network: Network,
    config: TaggerConfig,
    fingerprint: Fingerprint,
    declared: Declared,
}

impl Tagger {
    /// Opens a tagger and its encoder.
    ///
    /// # Errors
    /// When either cannot be read, or the tagger was trained on the states of another encoder.
    pub fn open(directory: &Path, encoder: &Path, device: &Device) -> Result<Self, NetworkError> {
        let config = TaggerConfig::read(directory)?;
        let declared = declared_languages(directory).or(&declared_languages(encoder));
        let encoder = WordEncoder::open::<NetworkError>(encoder, config.layer, None, device)?;
        let (mlp, weights) = read_mlp(directory, &config, &encoder.fingerprint())?;
        Ok(Self {
            // Two small products of a few words: sending them to a GPU takes longer than they do.
            network: Network::new(mlp, &device.host())?,
            fingerprint: weights.fingerprint().map_err(NnError::from)?,
            encoder,
            config,
            declared,
        })
    }

    /// What the tagger was made for and how it did on its development data.
    #[must_use]
    pub fn config(&self) -> &TaggerConfig {
        &self.config
    }

    /// The fingerprint of the tagger, which names its encoder's in turn.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// The languages that the tagger, or else its encoder, declares.
    #[must_use]
    pub fn declared(&self) -> &Declared {
        &self.declared
    }

    /// The tags of the words of each sentence, in order. A sentence's tags depend on nothing but
    /// the sentence.
    ///
    /// # Errors
    /// When a sentence is too long for the encoder ([`NetworkError::item`] says which).
    pub fn tag(&self, sentences: &[Vec<&str>]) -> Result<Vec<Vec<Tag<'_>>>, NetworkError> {
        self.tag_each(sentences)?.into_iter().collect()
    }

    /// The tags of each sentence as [`tag`](Self::tag) gives them, and in the place of one that is
    /// too long its error; the others go on.
    ///
    /// # Errors
    /// When the network or the tokenizer fails.
    pub fn tag_each(
        &self,
        sentences: &[Vec<&str>],
    ) -> Result<Vec<Result<Vec<Tag<'_>>, NetworkError>>, NetworkError> {
        let mut answers = Vec::with_capacity(sentences.len());
        for (batch, sentences) in sentences.chunks(SENTENCES_AT_ONCE).enumerate() {
            for rows in features(&self.encoder, sentences, batch * SENTENCES_AT_ONCE)? {
                answers.push(match rows {
                    Ok(rows) => Ok(self.tags_of(rows)?),
                    Err(error) => Err(error),
                });
            }
        }
        Ok(answers)
    }

    /// The tags of a sentence's words by the states that another network read of it. Where that
    /// read other states, the sentence passes the tagger's own encoder.
    ///
    /// # Errors
    /// As [`tag`](Self::tag).
    pub(crate) fn tag_encoded(
        &self,
        words: &[&str],
        encoded: &EncodedSentence,
    ) -> Result<Vec<Tag<'_>>, NetworkError> {
        let (encoder, layer) = (&self.config.encoder_fingerprint, self.config.layer);
        match layer.and_then(|layer| encoded.in_layers(encoder, &[layer])) {
            Some(states) => self.tags_of(rows_of_states(words, states.data())),
            None => Ok(self.tag(&[words.to_vec()])?.remove(0)),
        }
    }

    /// The tags of the words that some rows of features are of.
    fn tags_of(&self, rows: Vec<f32>) -> Result<Vec<Tag<'_>>, NetworkError> {
        let best = best_tags(&self.network, rows)?.into_iter();
        Ok(best.map(|(tag, score)| Tag { name: &self.config.tags[tag], score }).collect())
    }
}

impl WordTagger for Tagger {
    fn knows(&self, language: &str) -> Result<bool, Box<dyn std::error::Error + Send + Sync>> {
        Ok(self.declared.knows(language)?)
    }

    /// The tags as [`tag_each`](Tagger::tag_each) gives them; none for a sentence that is too long.
    fn tag_words(
        &self,
        sentences: &[Vec<&str>],
    ) -> Result<Vec<Option<Vec<String>>>, Box<dyn std::error::Error + Send + Sync>> {
        let names = |tags: Vec<Tag<'_>>| tags.iter().map(|tag| tag.name.to_owned()).collect();
        let tagged = self.tag_each(sentences)?.into_iter().map(|tags| match tags {
            Ok(tags) => Ok(Some(names(tags))),
            Err(error) if error.item().is_some() => Ok(None),
            Err(error) => Err(error.into()),
        });
        tagged.collect()
    }
}

/// The number of the likeliest tag of each row of features, (R, D + 6), and its share; of equals
/// the first. A row's answer has the same bits in any company.
pub(super) fn best_tags(
    network: &Network,
    rows: Vec<f32>,
) -> Result<Vec<(usize, f32)>, ComputeError> {
    let inputs = network.mlp().inputs();
    let count = rows.len() / inputs;
    if count == 0 {
        return Ok(Vec::new());
    }
    let mut scores = network.run(&Tensor::new(&[count, inputs], rows)?)?;
    let best = |scores: &mut [f32]| {
        softmax(scores);
        let mut best = (0, scores[0]);
        for (tag, &share) in scores.iter().enumerate() {
            if share > best.1 {
                best = (tag, share);
            }
        }
        best
    };
    Ok(scores.chunks_exact_mut(network.mlp().outputs()).map(best).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::{Activation, Mlp, SplitMix64};

    #[test]
    fn a_word_is_tagged_alike_alone_and_in_company() {
        let mut random = SplitMix64::new(4);
        let mlp = Mlp::random(&[6, 4, 3], Activation::Prelu, &mut random);
        let network = Network::new(mlp, &Device::cpu()).unwrap();
        let rows: Vec<f32> = (0..40 * 6).map(|_| 2.0 * random.unit() - 1.0).collect();
        let together = best_tags(&network, rows.clone()).unwrap();
        for (row, together) in rows.chunks_exact(6).zip(&together) {
            assert_eq!(best_tags(&network, row.to_vec()).unwrap(), [*together]);
            assert!(together.1 > 1.0 / 3.0 && together.1 <= 1.0);
        }
        assert_eq!(best_tags(&network, Vec::new()).unwrap(), []);
    }
}
