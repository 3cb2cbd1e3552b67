//! Which of a round's outputs is kept.
//!
//! Culkin et al. 2021 (section 6.1, footnote 21) keep the pair of paraphrase and span that the
//! aligner scores best. Aligners like a word that was hardly changed, and a span that means nothing
//! in particular. With a weak rewriter that is often an output that fails a check. Here pairs with
//! fewer failed checks come first. Of equals the likeliest pair is kept: the probability of the
//! output, given its sentence, times the aligner's score of the span, given both. The aligner alone
//! is nearly as sure of the twentieth output as of the first. Judges may say which of the first few
//! is kept ([`Choice::Judged`], `judged_choice.rs`).
//!
//! A recipe may ask for the paper's rule instead ([`Choice::Aligner`]): then nothing counts but the
//! aligner's score, and what could be objected to is a flag.
//!
//! Where an expansion is guided, frame fit counts: whether the trigger is an LU of the frame, how
//! well it agrees with the seed's FEs, how like the other LUs it is, in how many frames it is one.
//! A trigger of another part of speech than the seed's, or that is not the required word, fails a
//! check. One that is no LU and fails a check comes last.

use std::cmp::Ordering;
use std::collections::HashSet;

use super::Result;
use super::chain::Chain;
use super::guide::{Guide, TriggerFit};
use super::judges::Said;
use super::phrase_set::PhraseSet;
use super::recipe::Choice;
use super::trigger_lexicon::TriggerLexicon;
use crate::align::Alignment;
use crate::model::{Flags, Span};
use crate::paraphrase::Paraphrase;
use crate::text::{fold, is_stop_word, words};

/// An output of a round with the span that the aligner found in it.
#[derive(Debug, Clone)]
pub(super) struct Pair {
    pub(super) output: Paraphrase,
    pub(super) alignment: Alignment,
    /// The aligned span, in order of text, without function words beside what was asked for.
    pub(super) targets: Vec<Span>,
    /// The words of the span.
    pub(super) trigger: String,
    pub(super) flags: Flags,
    /// Whether the trigger is an LU of the frame, by what guides the expansion.
    pub(super) is_own: bool,
    /// What judges say of it, where they were asked.
    pub(super) said: Option<Said>,
    failed_checks: usize,
    /// Of pairs with as many failed checks the one that has more is kept.
    score: f64,
}

impl Pair {
    /// Looks at an output that was asked to hold one of some words, or nothing.
    pub(super) fn new(
        chain: &Chain,
        lexicon: &mut TriggerLexicon<'_>,
        guide: Option<&mut Guide>,
        asked: Option<&PhraseSet>,
        choice: Choice,
        (output, alignment): (&Paraphrase, Alignment),
    ) -> Result<Self> {
        let mut targets = alignment.spans.clone();
        targets.sort_unstable();
        if let Some(asked) = asked {
            targets = narrowed(&output.text, targets, asked);
        }
        let trigger = joined(&output.text, &targets);
        let (fit, is_known) = match guide {
            Some(guide) => {
                let unit = lexicon.read(chain.seed.frame, &trigger, chain.seed.pos)?;
                (guide.fit(chain, lexicon, &unit)?, guide.knows_words(&trigger))
            }
            None => (TriggerFit::default(), false),
        };
        let flags = Flags {
            copy: chain.is_copy(&output.text),
            duplicate: chain.is_repeated(&output.text, &targets),
            weak_alignment: alignment.weak,
            // What was asked for is the first that is required; that it is missing is seen in the
            // trigger.
            unmet: !output.banned.is_empty()
                || output.unmet.iter().any(|place| *place >= usize::from(asked.is_some())),
            unknown_word: !is_known && !lexicon.knows_words(&trigger)?,
            unlike_frame: fit.is_unlike,
            lost_element: false,
        };
        // What was asked for stands elsewhere in the sentence.
        let is_beside = asked.is_some_and(|asked| !asked.is_in(&trigger));
        let others = [is_lost(chain, &trigger), is_beside, babbles(&output.text, &chain.seed.text)];
        let failed_checks = flags.names().len() + others.map(usize::from).iter().sum::<usize>();
        let (failed_checks, score) = match choice {
            Choice::Aligner => (0, f64::from(alignment.score)),
            Choice::FewestFailedChecks | Choice::Judged => {
                (failed_checks, likelihood(output, &alignment) + fit.worth)
            }
        };
        let (output, is_own, said) = (output.clone(), fit.is_own, None);
        Ok(Self { output, alignment, targets, trigger, flags, is_own, said, failed_checks, score })
    }

    /// Takes what judges say, by which it is worth so much.
    pub(super) fn take_answers(&mut self, worth: f64, said: Said) {
        self.score = worth;
        self.said = Some(said);
    }

    /// Whether nothing is to be said against it.
    pub(super) fn is_faultless(&self) -> bool {
        self.failed_checks == 0
    }

    /// Whether the trigger would seldom evoke the frame: it is unlike its LUs, or is none of them
    /// and something can be objected to it. Of 26 judged triggers that were no LUs 10 evoked the
    /// frame.
    pub(super) fn is_doubtful(&self) -> bool {
        self.flags.unlike_frame || !self.is_own && !self.is_faultless()
    }

    /// Doubtful triggers last, and of these those that are unlike the frame; of the others fewer
    /// failed checks first, then higher scores.
    pub(super) fn best_first(&self, other: &Self) -> Ordering {
        let sure = self.is_doubtful().cmp(&other.is_doubtful());
        let alike = sure.then(self.flags.unlike_frame.cmp(&other.flags.unlike_frame));
        let fewer = alike.then(self.failed_checks.cmp(&other.failed_checks));
        fewer.then_with(|| other.score.total_cmp(&self.score))
    }

    /// This pair or another one; of equals this.
    pub(super) fn or_better(self, other: Self) -> Self {
        if other.best_first(&self).is_lt() { other } else { self }
    }
}

/// Log of the probability of output and span, as far as two models know.
fn likelihood(output: &Paraphrase, alignment: &Alignment) -> f64 {
    f64::from(output.log_prob) + f64::from(alignment.score.max(f32::MIN_POSITIVE)).ln()
}

/// Outputs that ended by themselves; those cut at the length limit only when there are no others.
/// Of draws that say the same the first.
pub(super) fn candidates(paraphrases: &[Paraphrase]) -> Vec<&Paraphrase> {
    let has_ended = paraphrases.iter().any(|output| output.ended);
    let mut texts = HashSet::new();
    let mut all = paraphrases.iter().collect::<Vec<_>>();
    all.retain(|output| (output.ended || !has_ended) && texts.insert(output.text.as_str()));
    all
}

/// The pair to keep, of equals the first. That a pair does not fit is one failed check more; pairs
/// are asked only as long as the answer may decide, since it takes a network.
pub(super) fn choose(
    pairs: impl IntoIterator<Item = Pair>,
    mut fits: impl FnMut(&Pair) -> Result<bool>,
) -> Result<Option<Pair>> {
    let mut pairs: Vec<Pair> = pairs.into_iter().collect();
    pairs.sort_by(Pair::best_first);
    let mut best: Option<Pair> = None;
    for mut pair in pairs {
        if best.as_ref().is_some_and(|best| best.best_first(&pair).is_le()) {
            break;
        }
        pair.failed_checks += usize::from(!fits(&pair)?);
        best = Some(match best {
            Some(best) => best.or_better(pair),
            None => pair,
        });
    }
    Ok(best)
}

/// A span without the function words that stand in it beside a phrase that was asked for, an
/// auxiliary or an article (`been moved`): the phrase is what evokes the frame. Other spans stay:
/// `gave up` is no `gave`.
fn narrowed(text: &str, targets: Vec<Span>, asked: &PhraseSet) -> Vec<Span> {
    if asked.has(&joined(text, &targets)) {
        return targets;
    }
    let is_word =
        |span: &Span| span.of(text).is_some_and(|word| word.chars().any(char::is_alphanumeric));
    let pieces = targets.iter().map(|target| {
        let is_inside = |word: &Span| target.start <= word.start && word.end <= target.end;
        words(text).into_iter().filter(is_inside).collect::<Vec<_>>()
    });
    let pieces: Vec<Vec<Span>> = pieces.collect();
    let must_stay =
        |span: &&Span| is_word(span) && span.of(text).is_some_and(|word| !may_be_cut(word));
    let staying: Vec<&Span> = pieces.iter().flatten().filter(must_stay).collect();
    let longest = pieces.iter().map(Vec::len).max().unwrap_or(0);
    let windows = (1..=longest)
        .rev()
        .flat_map(|length| pieces.iter().flat_map(move |piece| piece.windows(length)));
    let of_words = windows.filter(|window| window.iter().all(is_word));
    let mut spans = of_words.map(|window| Span::new(window[0].start, window[window.len() - 1].end));
    let is_phrase = |span: &Span| {
        staying.iter().all(|word| span.overlaps(**word))
            && span.of(text).is_some_and(|phrase| asked.has(phrase))
    };
    spans.find(is_phrase).map_or(targets, |span| vec![span])
}

/// Whether a word of a span is a function word that says nothing of what the others mean. Particles
/// do, and negation.
fn may_be_cut(word: &str) -> bool {
    const TELLING: [&str; 13] = [
        "about", "down", "in", "no", "nor", "not", "off", "on", "out", "over", "under", "up",
        "upon",
    ];
    is_stop_word(word) && !TELLING.contains(&fold(word).as_str())
}

/// The words of spans, pieces joined by a space.
fn joined(text: &str, spans: &[Span]) -> String {
    let pieces: Vec<&str> = spans.iter().filter_map(|span| span.of(text)).collect();
    pieces.join(" ")
}

/// Whether a new trigger says nothing new: it has no content word where the seed's has one, or only
/// words that the seed's sentence had elsewhere.
fn is_lost(chain: &Chain, trigger: &str) -> bool {
    let seed = &chain.seed;
    let (inside, outside): (Vec<Span>, Vec<Span>) = words(&seed.text)
        .into_iter()
        .partition(|word| seed.targets.iter().any(|target| target.overlaps(*word)));
    let content_in =
        |spans: Vec<Span>| content(spans.iter().filter_map(|span| span.of(&seed.text)));
    let new = content(words(trigger).iter().filter_map(|word| word.of(trigger)));
    let elsewhere = content_in(outside);
    match new.is_empty() {
        true => !content_in(inside).is_empty(),
        false => new.iter().all(|word| elsewhere.contains(word)),
    }
}

/// Whether an output says one to three words three times on end, as weak language models do, and
/// its source nothing of the kind.
fn babbles(text: &str, source: &str) -> bool {
    let repeats = |text: &str| {
        let is_word = |word: &&str| word.chars().any(char::is_alphanumeric);
        let spans = words(text);
        let said: Vec<String> =
            spans.iter().filter_map(|word| word.of(text)).filter(is_word).map(fold).collect();
        (1..=3).any(|length| {
            let mut windows = said.windows(3 * length);
            windows.any(|window| window[length..] == window[..2 * length])
        })
    };
    repeats(text) && !repeats(source)
}

/// Words that are neither marks nor function words, case folded.
fn content<'t>(words: impl Iterator<Item = &'t str>) -> Vec<String> {
    let is_content = |word: &&str| word.chars().any(char::is_alphanumeric) && !is_stop_word(word);
    words.filter(is_content).map(fold).collect()
}

#[cfg(test)]
mod tests {
    use super::super::seed::{Elements, Seed};
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
            expressed: None,
            elements: Elements::default(),
        })
    }

    fn output(log_prob: f32) -> Paraphrase {
        let text = "They tested the brakes.".to_owned();
        Paraphrase { text, score: 0.5, log_prob, ended: true, unmet: vec![], banned: vec![] }
    }

    fn pair(output: &Paraphrase, failed_checks: usize, score: f32, likeness: f32) -> Pair {
        let alignment =
            Alignment { spans: vec![Span::new(5, 11)], scores: vec![score], score, weak: false };
        let (targets, trigger) = (alignment.spans.clone(), "tested".to_owned());
        let (output, flags) = (output.clone(), Flags::default());
        let score = likelihood(&output, &alignment) + 20.0 * f64::from(likeness);
        let (said, is_own) = (None, false);
        Pair { output, alignment, targets, trigger, flags, is_own, said, failed_checks, score }
    }

    /// Which of three pairs is kept, each of log-probability, failed checks, score and likeness.
    fn best_kept(made: [(f32, usize, f32, f32); 3]) -> usize {
        let pairs = made.iter().zip(["0", "1", "2"]).map(|(made, name)| {
            let &(log_prob, failed_checks, score, likeness) = made;
            let output = Paraphrase { text: name.to_owned(), ..output(log_prob) };
            pair(&output, failed_checks, score, likeness)
        });
        choose(pairs, |_| Ok(true)).unwrap().unwrap().output.text.parse().unwrap()
    }

    #[test]
    fn fewer_failed_checks_win_then_the_likeliest_output_and_span_then_the_first() {
        assert_eq!(best_kept([(-9.0, 0, 0.2, 0.0), (-9.0, 0, 0.3, 0.0), (-8.0, 1, 0.9, 0.0)]), 1);
        let less_than_twice = [(-9.0, 1, 0.9, 0.0), (-9.0, 0, 0.4, 0.0), (-8.0, 0, 0.2, 0.0)];
        assert_eq!(best_kept(less_than_twice), 2, "twice as likely, but for a little");
        assert_eq!(best_kept([(-9.0, 0, 0.9, 0.0), (-9.0, 0, 0.9, 0.0), (-8.0, 0, 0.3, 0.0)]), 0);
        assert!(choose([], |_| Ok(true)).unwrap().is_none());
    }

    #[test]
    fn a_trigger_that_is_like_the_frame_is_worth_a_less_likely_output_but_no_failed_check() {
        assert_eq!(best_kept([(-9.0, 0, 0.5, 0.6), (-10.0, 0, 0.5, 0.7), (-12.0, 0, 0.5, 0.7)]), 1);
        assert_eq!(best_kept([(-9.0, 0, 0.5, 0.6), (-10.0, 0, 0.5, 0.64), (-9.0, 1, 0.5, 0.9)]), 0);
    }

    #[test]
    fn a_trigger_that_is_unlike_the_frame_is_the_last_resort() {
        let unlike = |mut pair: Pair| {
            pair.flags.unlike_frame = true;
            pair
        };
        let (good, doubtful) = (pair(&output(-1.0), 1, 0.9, 0.0), pair(&output(-9.0), 3, 0.1, 0.0));
        let kept = unlike(good.clone()).or_better(doubtful.clone());
        assert_eq!(kept.failed_checks, 3);
        assert_eq!(unlike(good).or_better(unlike(doubtful)).failed_checks, 1);
    }

    #[test]
    fn of_pairs_with_fewest_failed_checks_the_best_that_fits_is_kept() {
        let pairs = || {
            [(-7.0, 0), (-8.0, 0), (-9.0, 0), (-6.0, 1)]
                .map(|(log_prob, failed_checks)| pair(&output(log_prob), failed_checks, 0.5, 0.0))
        };
        let chosen = |fits: &dyn Fn(f32) -> bool| {
            choose(pairs(), |pair| Ok(fits(pair.output.log_prob))).unwrap().unwrap()
        };
        let second = chosen(&|log_prob| log_prob < -7.5);
        assert!(second.output.log_prob == -8.0 && second.is_faultless());
        let likelier = chosen(&|log_prob| log_prob > -6.5);
        assert!(likelier.output.log_prob == -6.0 && likelier.failed_checks == 1);
        let none = chosen(&|_| false);
        assert!(none.output.log_prob == -7.0 && none.failed_checks == 1);
        let better = |one: &Pair, other: &Pair| one.clone().or_better(other.clone()).failed_checks;
        assert_eq!((better(&none, &second), better(&second, &none)), (0, 0));
    }

    #[test]
    fn function_words_beside_what_was_asked_for_are_cut_off_a_span() {
        let text = "It had been looked over, and they gave the plan up to us .";
        let asked = PhraseSet::new(["looked", "looked over", "had", "gave", "over and"]);
        let narrow = |pieces: &[&str]| {
            let span = |piece: &&str| {
                let start = u32::try_from(text.find(piece).unwrap()).unwrap();
                Span::new(start, start + u32::try_from(piece.len()).unwrap())
            };
            joined(text, &narrowed(text, pieces.iter().map(span).collect(), &asked))
        };
        for (pieces, phrase) in [
            (&["been looked over"][..], "looked over"),
            (&["had been looked over,"], "looked over"),
            (&["had been looked"], "looked"),
            (&["had been"], "had"),
            (&["looked", "over"], "looked over"),
            (&["had", "looked over"], "looked over"),
            (&["they gave the"], "gave"),
            (&["gave", "up to"], "gave up to"),
            (&["gave the plan"], "gave the plan"),
            (&["over, and they"], "over, and they"),
            (&["plan"], "plan"),
            (&[], ""),
        ] {
            assert_eq!(narrow(pieces), phrase, "{pieces:?}");
        }
    }

    #[test]
    fn a_trigger_that_is_no_unit_is_doubtful_when_something_can_be_objected_to_it() {
        let pair = |is_own, failed_checks, unlike_frame| {
            let flags = Flags { unlike_frame, ..Flags::default() };
            Pair { is_own, flags, ..pair(&output(-1.0), failed_checks, 0.9, 0.0) }
        };
        assert!(!pair(true, 2, false).is_doubtful() && !pair(false, 0, false).is_doubtful());
        assert!(pair(false, 1, false).is_doubtful() && pair(false, 1, true).is_doubtful());
        // A unit of the frame comes first, whatever can be objected to it, and what is unlike the
        // frame last.
        let best = pair(false, 1, false).or_better(pair(true, 3, false));
        assert!(best.is_own);
        assert!(!pair(false, 1, true).or_better(pair(false, 4, false)).flags.unlike_frame);
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

    #[test]
    fn an_output_babbles_when_it_repeats_what_its_source_does_not() {
        let source = "They just checked the brakes .";
        for text in
            ["They just Just just tested.", "so good, so good, so good", "a b c a b c a b c"]
        {
            assert!(babbles(text, source) && !babbles(text, text), "{text}");
        }
        for text in
            ["They just, just tested.", "so good and so good and so", "a b a b a", "- - - -", ""]
        {
            assert!(!babbles(text, source), "{text}");
        }
    }

    #[test]
    fn outputs_that_were_cut_are_a_last_resort() {
        let output = |text: &str, ended| Paraphrase {
            text: text.to_owned(),
            score: 1.0,
            log_prob: -9.0,
            ended,
            unmet: Vec::new(),
            banned: Vec::new(),
        };
        let (cut, whole) = (output("a b", false), output("a", true));
        assert_eq!(candidates(&[cut.clone(), whole.clone()]), [&whole]);
        assert_eq!(candidates(std::slice::from_ref(&cut)), [&cut]);
    }
}
