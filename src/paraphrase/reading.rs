//! What a network reads of a sentence: the sentence itself, with marks before banned words where it
//! was trained with them, or a prompt.

use super::constraints::Compiled;
use super::prompt::PromptContent;
use super::{Constraints, ParaphraseError, Paraphraser, Refusal, Settings};
use crate::engine::{LengthLimit, StepNetwork};

/// A sentence as a network reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) tokens: Vec<u32>,
    /// Tokens of the sentence alone.
    pub(super) pieces: usize,
}

impl<N: StepNetwork> Paraphraser<N> {
    /// A sentence as it is read under constraints, or under none.
    pub(super) fn reading(
        &self,
        text: &str,
        under: Option<(&Constraints, &Compiled)>,
        settings: &Settings,
    ) -> Result<Reading, ParaphraseError> {
        let pieces = self.tokenizer.encode(text)?.len();
        if pieces == 0 {
            return Err(Refusal::Empty.into());
        }
        let (tokens, room) = match self.prompt {
            Some(_) => (self.prompted(text, under)?, self.network.max_length()),
            None => {
                let places = under.map(|(_, compiled)| compiled.constraint.banned_places(text));
                let tokens = self.marked(text, &places.unwrap_or_default())?;
                let special = tokens.len().saturating_sub(pieces);
                (tokens, self.network.max_length().saturating_sub(special))
            }
        };
        let limit = settings.max_source_pieces.min(room);
        if pieces > limit {
            return Err(Refusal::TooLong { pieces, limit }.into());
        }
        if self.prompt.is_some() && tokens.len() + pieces > room {
            let limit = room.saturating_sub(pieces);
            return Err(Refusal::Prompt { tokens: tokens.len(), limit }.into());
        }
        Ok(Reading { tokens, pieces })
    }

    /// The tokens of a prompt. Bans of words of the sentence are listed first; those that hold
    /// everywhere only where they are of the sentence.
    fn prompted(
        &self,
        text: &str,
        under: Option<(&Constraints, &Compiled)>,
    ) -> Result<Vec<u32>, ParaphraseError> {
        let Some((prompt, start)) = &self.prompt else { return Ok(Vec::new()) };
        let mut asked = PromptContent { sentence: text, ..PromptContent::default() };
        if let Some((constraints, compiled)) = under {
            asked.avoid = compiled.constraint.violations(text);
            let listed = constraints.avoid.iter().map(String::as_str);
            asked
                .avoid
                .extend(listed.filter(|phrase| !compiled.lifted.iter().any(|l| l == phrase)));
            let mut seen = std::collections::HashSet::new();
            asked.avoid.retain(|phrase| seen.insert(phrase.to_lowercase()));
            let single = compiled.require.iter().filter(|phrases| phrases.len() == 1);
            asked.required = single.flatten().map(String::as_str).collect();
            asked.hint = constraints.hint.iter().map(String::as_str).collect();
        }
        let mut tokens: Vec<u32> = start.iter().copied().collect();
        tokens.extend(prompt.tokens(&self.tokenizer, &asked)?);
        Ok(tokens)
    }

    /// A sentence with the mark before some of its places, which are ascending.
    fn marked(&self, text: &str, places: &[usize]) -> Result<Vec<u32>, ParaphraseError> {
        let Self { tokenizer, network, mark, source_prefix, .. } = self;
        let read = |text: &str| tokenizer.encode_with_specials(&format!("{source_prefix}{text}"));
        let mut tokens = read(text)?;
        if let Some(mark) = mark.as_ref().filter(|_| !places.is_empty()) {
            let with_marks = read(&with_marks(text, mark, places))?;
            // Marks for which the network has no room are left out: they ask, and the bans decide.
            if with_marks.len() < network.max_length() {
                tokens = with_marks;
            }
        }
        // A tokenizer's template need not say how a source ends.
        if tokens.last() != Some(&network.eos_token()) {
            tokens.push(network.eos_token());
        }
        Ok(tokens)
    }

    /// How long an output may be: that of a prompt is measured by its sentence.
    pub(super) fn limit_of(&self, reading: &Reading, limit: LengthLimit) -> LengthLimit {
        if self.prompt.is_none() {
            return limit;
        }
        let room = self.network.max_length().saturating_sub(reading.tokens.len());
        LengthLimit::tokens(limit.for_source(reading.pieces + 1, room))
    }
}

/// A text with a mark before each of some places, which are ascending.
pub(super) fn with_marks(text: &str, mark: &str, places: &[usize]) -> String {
    let mut marked = String::with_capacity(text.len() + places.len() * mark.len());
    let mut from = 0;
    for &place in places {
        marked.push_str(&text[from..place]);
        marked.push_str(mark);
        from = place;
    }
    marked.push_str(&text[from..]);
    marked
}
