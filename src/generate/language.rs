//! A language model that writes the words of blanks.
//!
//! It never writes what stands outside the blanks: that is put around its words afterwards, so it
//! stays byte by byte. (Positive constraints would see to it that the words occur, and neither to
//! their order nor to what is between them.) For each blank, from left to right, words are drawn
//! behind the prompt and the sentence up to there. They are cut behind several words; of the spans
//! the one is taken with which the model finds the words behind the blank likeliest. So each blank
//! is written in the light of both sides, and of the blanks before it.
//!
//! A preposition, `to` or `that` at the beginning of a span stays: it says which phrase the FE is.
//! An auxiliary is written where there was one: else a subject would become a clause. A new subject
//! keeps to the number of an auxiliary behind it.

use serde_json::{Value, json};

use super::agreement::keeps_to_verb;
use super::job::{Filled, Job};
use super::prompt::GenerationPrompt;
use super::recipe::GenerationRecipe;
use super::{Draft, Result, Skip};
use crate::engine::{GoesOn, LengthLimit, SampleSettings};
use crate::model::Span;
use crate::score::{ScoreRequest, Scorer};
use crate::text::{fold, natural_spacing};

/// Draws at the first blank for each candidate, and at each later one.
const DRAWS: [usize; 2] = [4, 4];
/// Tokens of a draw.
const TOKENS: usize = 16;
/// Spans that are cut from a draw.
const CUTS: usize = 3;
/// Words behind a blank that tell how well a span goes with them.
const AHEAD: usize = 6;
const TEMPERATURE: f32 = 0.8;
const TOP_K: usize = 50;
const TOP_P: f32 = 0.95;

/// Words that stay at the beginning of a span.
const LEADS: [&str; 40] = [
    "about", "above", "across", "after", "against", "along", "among", "around", "as", "at",
    "before", "behind", "below", "beneath", "beside", "between", "beyond", "by", "down", "during",
    "for", "from", "if", "in", "into", "of", "off", "on", "onto", "out", "over", "that", "through",
    "to", "toward", "towards", "under", "up", "upon", "with",
];
/// Finite auxiliaries: a span with one is a clause, unless the old words were one.
const AUXILIARIES: [&str; 21] = [
    "am", "are", "can", "could", "did", "do", "does", "had", "has", "have", "is", "may", "might",
    "must", "shall", "should", "was", "were", "will", "would", "being",
];
/// Words with which no span ends.
const DANGLING: [&str; 28] = [
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "from", "his", "in", "into",
    "is", "its", "my", "of", "on", "or", "our", "that", "the", "their", "to", "was", "which",
    "with",
];

/// Fills blanks by a language model.
#[derive(Debug, Clone)]
pub struct LanguageFiller {
    prompt: GenerationPrompt,
}

/// A sentence that is filled up to a blank.
#[derive(Clone)]
struct State {
    job: usize,
    words: Vec<String>,
}

impl LanguageFiller {
    /// A filler that asks by a prompt, whose answer the sentence is.
    #[must_use]
    pub fn new(prompt: GenerationPrompt) -> Self {
        Self { prompt }
    }

    pub(super) fn description(&self) -> Value {
        json!({
            "kind": "language-model",
            "prompt": self.prompt.fingerprint(),
            "draws": DRAWS,
            "tokens": TOKENS,
            "cuts": CUTS,
            "ahead": AHEAD,
            "temperature": TEMPERATURE.to_string(),
            "top_k": TOP_K,
            "top_p": TOP_P.to_string(),
            "leads": LEADS.join(" "),
            "auxiliaries": AUXILIARIES.join(" "),
        })
    }

    /// Words for the blanks of some sentences, as many candidates for each as there are different
    /// ones up to what the recipe asks for.
    pub(super) fn fill(
        &self,
        scorer: &mut Scorer,
        jobs: &[Job<'_>],
        recipe: &GenerationRecipe,
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Vec<Filled>> {
        let mut filled = vec![Filled::default(); jobs.len()];
        let begin = |job| State { job, words: Vec::new() };
        let mut states: Vec<State> = (0..jobs.len()).map(begin).collect();
        for at in 0.. {
            let is_open = |state: &State| jobs[state.job].draft.blanks.len() > at;
            let (open, done): (Vec<_>, Vec<_>) = states.into_iter().partition(is_open);
            for state in done {
                filled[state.job].candidates.push(state.words);
            }
            if open.is_empty() {
                break;
            }
            let asked = (recipe, &mut *goes_on);
            states = self.fill_blank(scorer, jobs, asked, (at, &open), &mut filled)?;
        }
        for filled in filled.iter_mut().filter(|filled| filled.candidates.is_empty()) {
            filled.skip = filled.skip.or(Some(Skip::Rejected));
        }
        Ok(filled)
    }

    /// The states with one more blank filled.
    fn fill_blank(
        &self,
        scorer: &mut Scorer,
        jobs: &[Job<'_>],
        (recipe, goes_on): (&GenerationRecipe, &mut GoesOn<'_>),
        (at, open): (usize, &[State]),
        filled: &mut [Filled],
    ) -> Result<Vec<State>> {
        let places: Vec<Place> =
            open.iter().map(|state| Place::of(&jobs[state.job], state, at)).collect();
        let prompts = open.iter().zip(&places).map(|(state, place)| {
            let asked = jobs[state.job].prompt(&self.prompt, recipe.mode);
            format!("{asked} {}", place.with(&place.lead)).trim_end().to_owned()
        });
        let wanted = if at == 0 { recipe.candidates } else { 1 };
        let settings = SampleSettings {
            samples: if at == 0 { DRAWS[0] * wanted } else { DRAWS[1] },
            seed: recipe.seed,
            temperature: TEMPERATURE,
            top_k: TOP_K,
            top_p: TOP_P,
            length_limit: LengthLimit::tokens(TOKENS),
            ..SampleSettings::default()
        };
        let drawn = scorer.continuations_while(&prompts.collect::<Vec<_>>(), &settings, goes_on)?;
        let (mut spans, mut requests) = (Vec::new(), Vec::new());
        for (number, (drawn, place)) in drawn.iter().zip(&places).enumerate() {
            match drawn {
                Ok(drawn) => {
                    for span in place.spans(drawn) {
                        requests.push(place.request(&span));
                        spans.push((number, span));
                    }
                }
                Err(_) => filled[open[number].job].skip = Some(Skip::TooLong),
            }
        }
        let mut best: Vec<Vec<(f64, String)>> = vec![Vec::new(); open.len()];
        let scores = scorer.score_while(&requests, goes_on)?;
        for ((number, span), score) in spans.into_iter().zip(scores) {
            if let Ok(score) = score {
                best[number].push((score.log_prob / score.tokens as f64, span));
            }
        }
        let mut states = Vec::new();
        for (state, mut best) in open.iter().zip(best) {
            if best.is_empty() && filled[state.job].skip.is_none() {
                filled[state.job].rejects.push("F-empty");
            }
            best.sort_by(|a, b| b.0.total_cmp(&a.0));
            for (_, span) in best.into_iter().take(wanted) {
                let mut state = state.clone();
                state.words.push(jobs[state.job].fitted(at, &span));
                states.push(state);
            }
        }
        Ok(states)
    }
}

/// A blank, and the text around it as people space it.
struct Place {
    left: String,
    /// What stays of the old words, at the beginning.
    lead: String,
    /// The old words, the number of those that do not stay, and whether an auxiliary is among them.
    old: String,
    old_words: usize,
    had_auxiliary: bool,
    /// Whether the rules of English hold.
    by_rules: bool,
    /// The words behind it, up to the next blank.
    right: String,
}

impl Place {
    fn of(job: &Job<'_>, state: &State, at: usize) -> Self {
        let Draft { text, blanks, .. } = job.draft;
        let (mut left, mut from) = (String::new(), 0);
        for (blank, words) in blanks.iter().zip(&state.words) {
            left.push_str(&text[from..blank.span.start as usize]);
            left.push_str(words);
            from = blank.span.end as usize;
        }
        let Span { start, end } = blanks[at].span;
        left.push_str(&text[from..start as usize]);
        let until = blanks.get(at + 1).map_or(text.len(), |next| next.span.start as usize);
        let right: Vec<&str> = text[end as usize..until].split_whitespace().take(AHEAD).collect();
        let old: Vec<&str> = text[start as usize..end as usize].split_whitespace().collect();
        let lead = old.first().filter(|word| old.len() > 1 && LEADS.contains(&fold(word).as_str()));
        Self {
            left: left.trim().to_owned(),
            lead: lead.map_or(String::new(), |word| (*word).to_owned()),
            old: old.join(" "),
            old_words: old.len() - usize::from(lead.is_some()),
            had_auxiliary: old.iter().any(|word| is_auxiliary(word)),
            by_rules: job.draft.by_rules,
            right: right.join(" "),
        }
    }

    /// The text up to the blank, with some words in it.
    fn with(&self, words: &str) -> String {
        natural_spacing(&format!("{} {words}", self.left))
    }

    /// How well a span goes with what is behind it.
    fn request(&self, span: &str) -> ScoreRequest {
        let text = natural_spacing(&format!("{} {span} {}", self.left, self.right));
        let start = natural_spacing(&self.left).len().min(text.len() - 1) as u32;
        let span = Span::new(start, text.len() as u32);
        ScoreRequest { span: Some(span), text }
    }

    /// The spans that are cut from some draws, each once.
    fn spans(&self, drawn: &[String]) -> Vec<String> {
        let mut spans = Vec::new();
        for draw in drawn {
            for cut in cuts(draw, self.old_words) {
                let span = if self.lead.is_empty() { cut } else { format!("{} {cut}", self.lead) };
                let is_clause =
                    self.by_rules && !self.had_auxiliary && span.split(' ').any(is_auxiliary);
                let next = self.right.split(' ').next().unwrap_or_default();
                let agrees = !self.by_rules || keeps_to_verb(&self.old, &span, next);
                if !is_clause && agrees && !spans.contains(&span) {
                    spans.push(span);
                }
            }
        }
        spans
    }
}

/// Whether a word is an auxiliary, or ends in one: `they're`.
fn is_auxiliary(word: &str) -> bool {
    let word = fold(word).replace('\u{2019}', "'");
    AUXILIARIES.contains(&word.as_str())
        || ["'re", "'ve", "'ll", "'d", "'m", "n't"].iter().any(|clitic| word.ends_with(clitic))
}

/// The beginnings of a draw that could be a phrase: they hold no mark that ends a clause, end in no
/// word that wants another, and are about as long as what stood there.
fn cuts(draw: &str, old_words: usize) -> Vec<String> {
    let ends = |c: char| ",.;:!?()[]\"`_\u{2014}".contains(c);
    let clause = draw.split(ends).next().unwrap_or_default();
    let words: Vec<&str> = clause.split_whitespace().collect();
    let is_word = |word: &&str| word.chars().any(char::is_alphanumeric);
    let is_whole = |words: &&[&str]| {
        let last = words.last().map_or(String::new(), |word| fold(word));
        words.iter().all(is_word) && !DANGLING.contains(&last.as_str())
    };
    // The last word may have been cut at the limit.
    let whole = words.len() - usize::from(clause.len() == draw.len() && words.len() > 3);
    let most = whole.min(2 * old_words + 2);
    let mut lengths: Vec<usize> = (1..=most).collect();
    lengths.sort_by_key(|length| (length.abs_diff(old_words), *length));
    let found = lengths.into_iter().map(|length| &words[..length]).filter(is_whole);
    found.take(CUTS).map(|words| words.join(" ")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_does_not_become_a_clause() {
        let place = |had_auxiliary| Place {
            left: String::new(),
            lead: String::new(),
            old: "the others".to_owned(),
            old_words: 2,
            had_auxiliary,
            by_rules: true,
            right: "swam".to_owned(),
        };
        let drawn =
            ["They would have come", "They\u{2019}re here", "The old guards"].map(str::to_owned);
        let spans = place(false).spans(&drawn);
        assert_eq!(spans, ["They", "The old", "The old guards"]);
        assert!(place(true).spans(&drawn).contains(&"They would have".to_owned()));
    }

    #[test]
    fn a_draw_is_cut_where_a_phrase_may_end() {
        assert_eq!(
            cuts("the old keeper of the gate, who left", 2),
            ["the old", "the old keeper", "the old keeper of the gate"]
        );
        assert_eq!(cuts("it.", 1), ["it"]);
        assert_eq!(cuts("the of a", 2), Vec::<String>::new());
        assert!(cuts(" , no", 2).is_empty() && cuts("", 1).is_empty());
        // What was cut at the limit loses its last word.
        assert!(!cuts("a man with a long bea", 6).iter().any(|cut| cut.contains("bea")));
    }
}
