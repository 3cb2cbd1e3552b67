//! Which of a round's outputs is kept.
//!
//! Culkin et al. 2021 (section 5) keep the pair of paraphrase and span that the aligner scores best. Aligners like
//! a word that was hardly changed, and a span that means nothing in particular, so among outputs of a weak rewriter
//! that is often one to which something can be objected without knowing what it means. Here pairs with fewer
//! objections come first. Of equals the likeliest pair is kept: the probability of the output, given its sentence, times
//! the aligner's score of the span, given both. The aligner alone is nearly as sure of the twentieth output as of the first.

use super::chain::Chain;
use super::lexicon::Lexicon;
use super::run::Result;
use crate::align::Alignment;
use crate::model::{Flags, Span};
use crate::paraphrase::Paraphrase;
use crate::text::{fold, is_stop_word, words};

/// An output of a round with the span that the aligner found in it.
#[derive(Debug, Clone)]
pub(super) struct Pair<'p> {
    pub(super) output: &'p Paraphrase,
    pub(super) alignment: Alignment,
    /// The aligned span, in order of text.
    pub(super) targets: Vec<Span>,
    /// The words of the span.
    pub(super) trigger: String,
    pub(super) flags: Flags,
    objections: usize,
}

impl<'p> Pair<'p> {
    /// Looks at an output.
    pub(super) fn new(
        chain: &Chain,
        lexicon: &mut Lexicon<'_>,
        output: &'p Paraphrase,
        alignment: Alignment,
    ) -> Result<Self> {
        let mut targets = alignment.spans.clone();
        targets.sort_unstable();
        let pieces: Vec<&str> = targets.iter().filter_map(|span| span.of(&output.text)).collect();
        let trigger = pieces.join(" ");
        let flags = Flags {
            copy: chain.is_copy(&output.text),
            duplicate: chain.is_repeated(&output.text, &targets),
            weak_alignment: alignment.weak,
            unmet: false,
            unknown_word: !lexicon.knows_words(&trigger)?,
        };
        let objections = flags.names().len() + usize::from(is_lost(chain, &trigger));
        Ok(Self { output, alignment, targets, trigger, flags, objections })
    }

    /// Whether it is to be kept rather than another one, which has the better paraphrase.
    fn is_better_than(&self, other: &Self) -> bool {
        self.objections < other.objections
            || self.objections == other.objections && self.log_prob() > other.log_prob()
    }

    /// Log of the probability of output and span, as far as two models know.
    fn log_prob(&self) -> f64 {
        f64::from(self.output.log_prob)
            + f64::from(self.alignment.score.max(f32::MIN_POSITIVE)).ln()
    }
}

/// The pair to keep; of equals the first.
pub(super) fn choose<'p>(pairs: impl IntoIterator<Item = Pair<'p>>) -> Option<Pair<'p>> {
    pairs.into_iter().reduce(|best, pair| if pair.is_better_than(&best) { pair } else { best })
}

/// Whether a new trigger says nothing new: it has no content word where the seed's has one, or only words that the
/// seed's sentence had elsewhere.
fn is_lost(chain: &Chain, trigger: &str) -> bool {
    let seed = &chain.seed;
    let (inside, outside): (Vec<Span>, Vec<Span>) = words(&seed.text)
        .into_iter()
        .partition(|word| seed.targets.iter().any(|target| target.overlaps(*word)));
    let told = |spans: Vec<Span>| content(spans.iter().filter_map(|span| span.of(&seed.text)));
    let new = content(words(trigger).iter().filter_map(|word| word.of(trigger)));
    let elsewhere = told(outside);
    match new.is_empty() {
        true => !told(inside).is_empty(),
        false => new.iter().all(|word| elsewhere.contains(word)),
    }
}

/// Words that are neither marks nor function words, case folded.
fn content<'t>(words: impl Iterator<Item = &'t str>) -> Vec<String> {
    let is_content = |word: &&str| word.chars().any(char::is_alphanumeric) && !is_stop_word(word);
    words.filter(is_content).map(fold).collect()
}

#[cfg(test)]
mod tests {
    use super::super::chain::Seed;
    use super::*;
    use crate::model::{AnnotationSetId, FrameId, IdSpace, Pos, ReleaseId};

    fn chain() -> Chain {
        Chain::new(Seed {
            release: ReleaseId(1),
            set: AnnotationSetId::new(IdSpace::Exemplar, 1),
            frame: FrameId(1),
            text: "They checked the brakes .".to_owned(),
            targets: vec![Span::new(5, 12)],
            lemma: "check".to_owned(),
            pos: Pos::Verb,
        })
    }

    fn output(log_prob: f32) -> Paraphrase {
        let text = "They tested the brakes.".to_owned();
        Paraphrase { text, score: 0.5, log_prob, ended: true, unmet: Vec::new() }
    }

    fn pair(output: &Paraphrase, objections: usize, score: f32) -> Pair<'_> {
        let alignment = Alignment { spans: vec![Span::new(5, 11)], score, weak: false };
        let (targets, trigger) = (alignment.spans.clone(), "tested".to_owned());
        Pair { output, alignment, targets, trigger, flags: Flags::default(), objections }
    }

    #[test]
    fn fewer_objections_win_then_the_likeliest_output_and_span_then_the_first() {
        let outputs = [-9.0, -9.0, -8.0].map(output);
        let kept = |made: [(usize, f32); 3]| {
            let pairs = outputs.iter().zip(made).map(|(o, (count, score))| pair(o, count, score));
            let kept = choose(pairs).unwrap().output;
            outputs.iter().position(|output| std::ptr::eq(output, kept)).unwrap()
        };
        assert_eq!(kept([(0, 0.2), (0, 0.3), (1, 0.9)]), 1);
        assert_eq!(kept([(1, 0.9), (0, 0.4), (0, 0.2)]), 2, "twice as likely, but for a little");
        assert_eq!(kept([(0, 0.9), (0, 0.9), (0, 0.3)]), 0);
        assert!(choose([]).is_none());
    }

    #[test]
    fn a_trigger_is_lost_when_it_says_nothing_new() {
        let chain = chain();
        assert!(is_lost(&chain, "the"), "function words for a content word");
        assert!(is_lost(&chain, "the Brakes"), "words from elsewhere");
        assert!(is_lost(&chain, "."));
        assert!(!is_lost(&chain, "tested"));
        assert!(!is_lost(&chain, "put the brakes to the test"));
    }
}
