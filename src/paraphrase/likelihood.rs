//! How likely a rewriter takes a text for a rewriting of a sentence.

use super::prompt::PromptContent;
use super::{Network, ParaphraseError, Paraphraser};
use crate::engine::{DecodeError, GoesOn, StepNetwork, always};

/// Pairs that are computed together: their logits lie in memory at once.
const BATCH: usize = 16;

/// How likely a text is as a rewriting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Likelihood {
    /// Sum of the log-probabilities of the text's tokens and of the end (natural log).
    pub log_prob: f64,
    /// How many these are.
    pub tokens: u32,
}

impl Paraphraser {
    /// How likely texts are as rewritings of sentences, asked without constraints: pairs of a
    /// sentence and a text. None of a pair that is empty or too long for the model. None of any
    /// pair where the rewriter is no language model: that alone can be asked so.
    ///
    /// # Errors
    /// When the weights give numbers that are not finite, or a device failed.
    pub fn likelihoods(
        &mut self,
        pairs: &[(&str, &str)],
    ) -> Result<Vec<Option<Likelihood>>, ParaphraseError> {
        self.likelihoods_while(pairs, &mut always())
    }

    /// As [`likelihoods`](Self::likelihoods), asking between batches whether to go on.
    ///
    /// # Errors
    /// As there, and [`DecodeError::Stopped`] after `Break`.
    pub fn likelihoods_while(
        &mut self,
        pairs: &[(&str, &str)],
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Vec<Option<Likelihood>>, ParaphraseError> {
        let sequences = pairs.iter().map(|pair| self.sequence(*pair));
        let sequences: Vec<Option<(Vec<u32>, usize)>> = sequences.collect::<Result<_, _>>()?;
        let Network::LanguageModel(model) = &mut self.network else {
            return Ok(vec![None; pairs.len()]);
        };
        let whole: Vec<&(Vec<u32>, usize)> = sequences.iter().flatten().collect();
        let failed = |source| DecodeError::Network { doing: "score texts", source };
        let mut found = Vec::with_capacity(whole.len());
        for batch in whole.chunks(BATCH) {
            if goes_on().is_break() {
                return Err(DecodeError::Stopped.into());
            }
            let tokens: Vec<&[u32]> = batch.iter().map(|(tokens, _)| tokens.as_slice()).collect();
            let log_probs = model.log_probs(&tokens).map_err(failed)?;
            for ((tokens, start), log_probs) in batch.iter().zip(log_probs) {
                // What a token has at its place is said of the one behind it.
                let counted = &log_probs[start - 1..tokens.len() - 1];
                let log_prob = counted.iter().map(|log_prob| f64::from(*log_prob)).sum();
                found.push(Likelihood { log_prob, tokens: counted.len() as u32 });
            }
        }
        let mut found = found.into_iter();
        Ok(sequences.into_iter().map(|sequence| sequence.and_then(|_| found.next())).collect())
    }

    /// A prompt with its output, and where that starts.
    fn sequence(
        &self,
        (sentence, text): (&str, &str),
    ) -> Result<Option<(Vec<u32>, usize)>, ParaphraseError> {
        let Some((prompt, first)) = &self.prompt else { return Ok(None) };
        let text = text.trim();
        if sentence.trim().is_empty() || text.is_empty() {
            return Ok(None);
        }
        let mut tokens: Vec<u32> = first.iter().copied().collect();
        let asked = PromptContent { sentence, ..PromptContent::default() };
        tokens.extend(prompt.tokens(&self.tokenizer, &asked)?);
        let start = tokens.len();
        // As in training: an output begins behind a space, and ends at the prompt's stop.
        tokens.extend(self.tokenizer.encode(&format!(" {text}"))?);
        tokens.push(prompt.stop_token(&self.tokenizer)?);
        let limit = self.network.max_length();
        Ok(Some((tokens, start)).filter(|(tokens, _)| tokens.len() <= limit))
    }
}
