//! Phrases that can take the place of a target in its sentence.
//!
//! A language model is asked for a paraphrase that begins as the sentence does, up to the target.
//! The beginnings of what it would say then are phrases of one to three words. Each is put into the
//! sentence, and ranked by how likely the model is to say it there and to go on as the sentence
//! does (`log p(phrase, what follows | prompt, what stands before)`). Outputs of a search say the
//! same few words in the place again and again, in other sentences; this looks at the place alone.

use std::collections::HashSet;

use super::{Constraints, ParaphraseError, Paraphraser, Refusal, Session, Settings};
use crate::engine::{
    Constraint, Continuations, GoesOn, StepNetwork, TokenizeError, Tokenizer, always,
};
use crate::model::Span;
use crate::text::fold;

/// Beginnings that are looked at: the likeliest of each length, and tokens of the longest.
const WIDTH: usize = 60;
const DEPTH: usize = 4;
/// Most words of a phrase.
const MOST_WORDS: usize = 3;
/// Phrases that are put into the sentence, those first that begin likeliest.
const MOST_PHRASES: usize = 64;
/// Tokens of what follows that count: more of them say little of the phrase, and cost time.
const FOLLOWING: usize = 10;

/// A phrase in the place of a target.
#[derive(Debug, Clone, PartialEq)]
pub struct Substitute {
    /// The phrase, as it stands there.
    pub text: String,
    /// Log-probability (natural log) of the phrase and of the first ten tokens that follow it, the
    /// end among them.
    pub log_prob: f32,
}

/// A sentence with a target, cut.
#[derive(Debug)]
struct Place<'t> {
    before: &'t str,
    after: &'t str,
    /// The target begins a word: nothing, or white space, stands before it.
    begins_word: bool,
}

impl<'t> Place<'t> {
    fn of(text: &'t str, target: Span) -> Option<Self> {
        target.of(text).filter(|target| !target.trim().is_empty())?;
        let (before, after) = (&text[..target.start as usize], &text[target.end as usize..]);
        let trimmed = before.trim_end();
        let begins_word = trimmed.len() < before.len() || trimmed.is_empty();
        Some(Self { before: trimmed.trim_start(), after: after.trim_end(), begins_word })
    }

    /// The tokens of a phrase in this place and of the beginning of what follows, `most` at most.
    /// Where the sentence ends by then `end` comes last: a piece of a word does not end there.
    fn tokens_of(
        &self,
        phrase: &str,
        (tokenizer, end): (&Tokenizer, u32),
        most: usize,
    ) -> Result<Vec<u32>, TokenizeError> {
        let cut = |text: &str| match self.begins_word {
            true => tokenizer.encode_inside(text),
            false => tokenizer.encode(text),
        };
        let mut tokens = cut(&format!("{phrase}{}", self.after))?;
        tokens.push(end);
        tokens.truncate(most.min(cut(phrase)?.len() + FOLLOWING));
        Ok(tokens)
    }
}

impl<N: StepNetwork> Session<'_, N> {
    /// As [`Paraphraser::substitutes`], while sources are in flight.
    ///
    /// # Errors
    /// As there, and when `goes_on` stops it between two steps.
    pub fn substitutes(
        &mut self,
        text: &str,
        target: Span,
        avoid: &[String],
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Vec<Substitute>, ParaphraseError> {
        let (paraphraser, settings) = self.parts();
        paraphraser.substitutes_while(text, target, avoid, settings, goes_on)
    }
}

impl<N: StepNetwork> Paraphraser<N> {
    /// Phrases of one to three words that a language model puts in the place of a target, the
    /// likeliest first. None holds a phrase of `avoid` or of the settings, or differs from another
    /// in letter case alone. They are inflected as they stand there; marks are no part of them.
    ///
    /// # Errors
    /// When the rewriter is no language model, the target is no part of the text
    /// ([`Refusal::Target`]), the text is too long, a banned phrase has no visible letter, or the
    /// network fails.
    pub fn substitutes(
        &mut self,
        text: &str,
        target: Span,
        avoid: &[String],
        settings: &Settings,
    ) -> Result<Vec<Substitute>, ParaphraseError> {
        self.substitutes_while(text, target, avoid, settings, &mut always())
    }

    fn substitutes_while(
        &mut self,
        text: &str,
        target: Span,
        avoid: &[String],
        settings: &Settings,
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Vec<Substitute>, ParaphraseError> {
        if self.prompt().is_none() {
            return Err(ParaphraseError::NoPrompt);
        }
        let place = Place::of(text, target).ok_or(Refusal::Target)?;
        let avoided = self.avoid(&settings.avoid)?;
        let constraints = Constraints::avoiding(avoid);
        let compiled = self.compile(&constraints, (&settings.avoid, avoided.as_ref()))?;
        // The prompt lists what is banned of the sentence. More would cost time and say nothing.
        let nothing_else = Constraints::default();
        let under = settings.tell_bans.then_some((&nothing_else, &compiled));
        let mut source = self.reading(text.trim(), under, settings)?.tokens;
        if !place.before.is_empty() {
            source.extend(self.tokenizer.encode_inside(place.before)?);
        }
        let limit = self.network.max_length();
        let room = limit.saturating_sub(source.len());
        if room < DEPTH + FOLLOWING {
            let limit = limit.saturating_sub(DEPTH + FOLLOWING);
            return Err(Refusal::Prompt { tokens: source.len(), limit }.into());
        }
        let Self { network, tokenizer, .. } = self;
        let end = network.eos_token();
        let mut slot = Continuations::open(network, &source)?;
        let mut phrases = Phrases::new(&compiled.constraint, place.begins_word);
        let mut begun = slot.likeliest(&compiled.constraint, WIDTH, DEPTH, goes_on)?;
        begun.sort_by(|a, b| b.1.total_cmp(&a.1));
        for (tokens, _) in begun {
            let bytes: Vec<u8> =
                tokens.iter().flat_map(|token| tokenizer.surface(*token).to_vec()).collect();
            phrases.take(&String::from_utf8_lossy(&bytes));
        }
        let phrases = phrases.found;
        let told = |phrase: &String| place.tokens_of(phrase, (tokenizer, end), room);
        let continuations: Vec<Vec<u32>> = phrases.iter().map(told).collect::<Result<_, _>>()?;
        let log_probs = slot.log_probs(&continuations, goes_on)?;
        let of = |(text, log_prob)| Substitute { text, log_prob };
        let mut found: Vec<Substitute> = phrases.into_iter().zip(log_probs).map(of).collect();
        // Stable: of equals the one that began likelier.
        found.sort_by(|a, b| b.log_prob.total_cmp(&a.log_prob));
        Ok(found)
    }
}

/// Phrases at the beginning of what is said in a place.
struct Phrases<'c> {
    constraint: &'c Constraint,
    begins_word: bool,
    seen: HashSet<String>,
    found: Vec<String>,
}

impl<'c> Phrases<'c> {
    fn new(constraint: &'c Constraint, begins_word: bool) -> Self {
        Self { constraint, begins_word, seen: HashSet::new(), found: Vec::new() }
    }

    /// Takes the first word, the first two, and so on.
    fn take(&mut self, said: &str) {
        if said.starts_with(' ') != self.begins_word {
            return;
        }
        let mut phrase = String::new();
        for word in said.split_whitespace().take(MOST_WORDS) {
            let bare = word.trim_end_matches(|c: char| !c.is_alphanumeric());
            let is_word = |c: char| c.is_alphabetic() || "-'\u{2019}".contains(c);
            if self.found.len() == MOST_PHRASES || bare.is_empty() || !bare.chars().all(is_word) {
                return;
            }
            if !phrase.is_empty() {
                phrase.push(' ');
            }
            phrase.push_str(bare);
            if self.seen.insert(fold(&phrase)) && self.constraint.violations(&phrase).is_empty() {
                self.found.push(phrase.clone());
            }
            if bare.len() < word.len() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_what_stands_before_a_target_and_behind_it() {
        let of = |text: &'static str, start, end| Place::of(text, Span::new(start, end));
        let place = of("They tore it. ", 5, 9).unwrap();
        assert_eq!((place.before, place.after, place.begins_word), ("They", " it.", true));
        let place = of("\"Stop!\"", 1, 5).unwrap();
        assert_eq!((place.before, place.after, place.begins_word), ("\"", "!\"", false));
        let place = of("Stop it", 0, 4).unwrap();
        assert_eq!((place.before, place.after, place.begins_word), ("", " it", true));
        for (start, end) in [(4, 5), (0, 9), (3, 3)] {
            assert!(of("Stop it", start, end).is_none(), "{start} {end}");
        }
        assert!(of("\u{e9}t\u{e9}", 1, 2).is_none(), "inside a letter");
    }

    #[test]
    fn phrases_are_whole_words_without_marks_each_once() {
        let constraint = Constraint::default();
        let mut phrases = Phrases::new(&constraint, true);
        for said in
            [" led to the", " Led to", " made, it", "inside", " 7 of", " ( so", " wo n't-do"]
        {
            phrases.take(said);
        }
        let found = ["led", "led to", "led to the", "made", "wo", "wo n't-do"];
        assert_eq!(phrases.found, found);
        let mut inside = Phrases::new(&constraint, false);
        inside.take(" led");
        inside.take("led");
        assert_eq!(inside.found, ["led"]);
    }
}
