//! What a language model says after a text.

use std::sync::Arc;

use super::{ScoreError, ScoreRefusal, Scorer};
use crate::engine::{
    AvoidTokens, Constraint, GoesOn, SampleSettings, StepNetwork, always, search_all_while,
};

impl Scorer {
    /// Draws continuations of texts: for each text as many as the settings ask for, without white
    /// space around them. One ends at the end of a text, before a line break, or at the length
    /// limit. A text's continuations do not depend on the others.
    ///
    /// # Errors
    /// When the settings are out of range, or the network fails.
    pub fn continuations(
        &mut self,
        texts: &[String],
        settings: &SampleSettings,
    ) -> Result<Vec<Result<Vec<String>, ScoreRefusal>>, ScoreError> {
        self.continuations_while(texts, settings, &mut always())
    }

    /// As [`continuations`](Self::continuations), asking after each step whether to go on.
    ///
    /// # Errors
    /// As there, and [`DecodeError::Stopped`](crate::engine::DecodeError::Stopped) after `Break`.
    pub fn continuations_while(
        &mut self,
        texts: &[String],
        settings: &SampleSettings,
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Vec<Result<Vec<String>, ScoreRefusal>>, ScoreError> {
        let constraint =
            Constraint { tokens: Some(Arc::new(self.no_lines()?)), ..Constraint::default() };
        let limit = self.model.max_length();
        let room = limit.saturating_sub(settings.length_limit.constant);
        let mut drawn = Vec::with_capacity(texts.len());
        let (mut places, mut sources) = (Vec::new(), Vec::new());
        for (at, text) in texts.iter().enumerate() {
            let mut tokens = vec![self.start];
            tokens.extend(self.tokenizer.encode(text)?);
            if tokens.len() > room {
                drawn.push(Err(ScoreRefusal::TooLong { tokens: tokens.len(), limit: room }));
                continue;
            }
            drawn.push(Ok(Vec::new()));
            places.push(at);
            sources.push((tokens, constraint.clone()));
        }
        let all = search_all_while(&mut self.model, sources, *settings, goes_on)?;
        for (at, found) in places.into_iter().zip(all) {
            drawn[at] = Ok(found.iter().map(|found| self.spelled(&found.tokens)).collect());
        }
        Ok(drawn)
    }

    /// Tokens that no continuation holds: special ones but for the end, and those that spell a line
    /// break.
    fn no_lines(&self) -> Result<AvoidTokens, ScoreError> {
        let ids = 0..u32::try_from(self.model.vocab_size()).expect("token ids are 32-bit");
        let (size, end) = (self.tokenizer.vocab_size(), self.model.eos_token());
        let specials = self.tokenizer.special_ids();
        let never = ids.filter(|id| {
            let is_text = (*id as usize) < size && specials.binary_search(id).is_err();
            let breaks = || self.tokenizer.surface(*id).iter().any(|byte| b"\n\r".contains(byte));
            *id != end && (!is_text || breaks())
        });
        Ok(AvoidTokens::new(never.map(|id| vec![id]))?)
    }

    /// The text of some tokens, without a character that was cut.
    fn spelled(&self, tokens: &[u32]) -> String {
        let specials = self.tokenizer.special_ids();
        let words = tokens.iter().filter(|id| specials.binary_search(id).is_err());
        let bytes: Vec<u8> = words.flat_map(|id| self.tokenizer.surface(*id).to_vec()).collect();
        String::from_utf8_lossy(&bytes).trim_matches(char::REPLACEMENT_CHARACTER).trim().to_owned()
    }
}
