//! Substitutes in context, on SWORDS (Lee et al. 2021): targets in sentences, and substitutes for
//! them that people judged.
//!
//! F@10 is the benchmark's, section 4: hits, proposals and at most ten answers of each target are
//! summed over all targets. *Acceptable* are substitutes that more than half of the judges accept,
//! *conceivable* those that one accepts. *Lenient* passes over proposals that nobody judged.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Read as _;
use std::path::Path;

use serde::Deserialize;

use super::super::Result;
use crate::exchange::{ExchangeError, FaultCode, RankedSubstitute, open_ranked_substitutes};
use crate::lexica::open_unpacked;
use crate::mine::sentences;
use crate::model::{Pos, Span};
use crate::text::{Morphology, fold, one_spaced};

/// Proposals of a target that count, and most answers.
const TOP: usize = 10;
/// Most bytes that are read, unpacked: a hundred times those of the benchmark.
const MOST_BYTES: u64 = 1 << 30;
/// Share of the votes that an acceptable substitute has more than.
const ACCEPTABLE: f64 = 0.5;
/// Votes that are for a substitute.
const FOR: [&str; 2] = ["TRUE", "TRUE_IMPLICIT"];
/// A vote that does not count.
const UNSURE: &str = "UNSURE";

/// A target in its sentence, and what people say of substitutes for it.
#[derive(Debug, Clone, PartialEq)]
pub struct SwordsTarget {
    /// Its id in the file.
    pub id: String,
    /// The sentence that holds it, with one space between words.
    pub text: String,
    /// Where it stands there.
    pub target: Span,
    /// Its part of speech.
    pub pos: Pos,
    /// The substitutes that were judged, each with the share of votes for it.
    votes: HashMap<String, f64>,
}

/// A file of SWORDS.
#[derive(Debug, Clone, PartialEq)]
pub struct Swords {
    /// The targets, in order of their ids.
    pub targets: Vec<SwordsTarget>,
    /// Tells the file from others: the first half of its BLAKE3, in hexadecimal.
    pub fingerprint: String,
    morphology: Morphology,
}

/// Substitutes that a system proposes, with scores, by the target's id.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Substitutes(BTreeMap<String, Vec<(String, f64)>>);

/// How good substitutes are, by one reading of the votes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SwordsFigures {
    /// Answers among the proposals that count.
    pub hits: usize,
    /// Proposals that count.
    pub proposals: usize,
    /// Answers that are asked for, at most ten of a target.
    pub answers: usize,
}

impl SwordsFigures {
    /// The harmonic mean of precision and recall.
    #[must_use]
    pub fn f_at_10(&self) -> f64 {
        let of = self.proposals + self.answers;
        if of == 0 { 0.0 } else { 2.0 * self.hits as f64 / of as f64 }
    }
}

/// Which substitutes are answers, and which proposals count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SwordsReading {
    /// Whether more than half of the votes must be for an answer; else one.
    pub is_acceptable: bool,
    /// Whether proposals that nobody judged are passed over.
    pub is_lenient: bool,
}

#[derive(Deserialize)]
struct File {
    contexts: BTreeMap<String, Context>,
    targets: BTreeMap<String, Target>,
    substitutes: BTreeMap<String, Substitute>,
    substitute_labels: HashMap<String, Vec<String>>,
}

#[derive(Deserialize)]
struct Context {
    context: String,
}

#[derive(Deserialize)]
struct Target {
    context_id: String,
    target: String,
    /// In code points.
    offset: usize,
    pos: String,
}

#[derive(Deserialize)]
struct Substitute {
    target_id: String,
    substitute: String,
}

impl Substitutes {
    /// Those of targets' ids, substitutes and scores.
    pub fn new<'a>(said: impl IntoIterator<Item = (&'a str, &'a str, f64)>) -> Self {
        let mut by_target: BTreeMap<String, Vec<(String, f64)>> = BTreeMap::new();
        for (target, substitute, score) in said {
            by_target.entry(target.to_owned()).or_default().push((substitute.to_owned(), score));
        }
        // Of equal scores what is said first is first.
        by_target.values_mut().for_each(|of| of.sort_by(|a, b| b.1.total_cmp(&a.1)));
        Self(by_target)
    }

    /// Those of a file: lines of a target's id, a substitute and a score, parted by tabs; those
    /// that begin with `#` are remarks.
    ///
    /// # Errors
    /// When the file cannot be read, a line is none of these or names no target, or there is no
    /// line.
    pub fn read(path: &Path, swords: &Swords) -> Result<Self> {
        let ids: BTreeSet<&str> = swords.targets.iter().map(|of| of.id.as_str()).collect();
        let said = open_ranked_substitutes(path)?;
        for RankedSubstitute { target, line, .. } in &said {
            if !ids.contains(target.as_str()) {
                let error = ExchangeError::Field {
                    code: FaultCode::Missing,
                    file: path.display().to_string(),
                    line: *line,
                    field: "target".to_owned(),
                    found: target.clone(),
                    expected: "the id of a target of the SWORDS file".to_owned(),
                };
                return Err(error.into());
            }
        }
        Ok(Self::new(said.iter().map(|of| (&*of.target, &*of.substitute, of.score))))
    }
}

impl Swords {
    /// Reads a file as the benchmark publishes it, JSON, packed by gzip or not.
    ///
    /// # Errors
    /// When it cannot be read, is no such file, or a target does not stand in its context.
    pub fn read(path: &Path) -> Result<Self> {
        let unreadable = |source| ExchangeError::Read { path: path.to_owned(), source };
        let (content, mut bytes) = (open_unpacked(path).map_err(unreadable)?.0, Vec::new());
        content.take(MOST_BYTES).read_to_end(&mut bytes).map_err(unreadable)?;
        let fault = |code, line, reason| ExchangeError::Line {
            code,
            file: path.display().to_string(),
            line,
            reason,
        };
        let file: File = serde_json::from_slice(&bytes).map_err(|error| {
            fault(FaultCode::Json, error.line(), format!("no file of SWORDS: {error}"))
        })?;
        let wrong = |reason| fault(FaultCode::Missing, 1, reason);
        let mut targets = BTreeMap::new();
        for (id, of) in &file.targets {
            let context = file.contexts.get(&of.context_id);
            let context = context.ok_or_else(|| wrong(format!("`{id}` has no context")))?;
            let (text, target) = sentence_of(&context.context, of)
                .ok_or_else(|| wrong(format!("`{}` of `{id}` is not at its offset", of.target)))?;
            let (id, pos, votes) = (id.clone(), pos_of(&of.pos), HashMap::new());
            targets.insert(id.clone(), SwordsTarget { id, text, target, pos, votes });
        }
        for (id, of) in file.substitutes {
            let target = targets.get_mut(&of.target_id);
            let target = target.ok_or_else(|| wrong(format!("`{id}` has no target")))?;
            let labels = file.substitute_labels.get(&id).filter(|of| !of.is_empty());
            let labels = labels.ok_or_else(|| wrong(format!("`{id}` has no labels")))?;
            let is_for = |label: &&String| FOR.contains(&label.as_str());
            let (votes, of_all) = (
                labels.iter().filter(is_for).count(),
                labels.iter().filter(|label| *label != UNSURE).count(),
            );
            if of_all > 0 {
                target.votes.insert(fold(&of.substitute), votes as f64 / of_all as f64);
            }
        }
        let fingerprint = blake3::hash(&bytes).to_hex()[..32].to_owned();
        let (targets, morphology) = (targets.into_values().collect(), Morphology::English);
        let mut swords = Self { targets, fingerprint, morphology };
        swords.drop_own_forms();
        Ok(swords)
    }

    /// Takes out the targets' own forms, which are no substitutes.
    fn drop_own_forms(&mut self) {
        for target in &mut self.targets {
            let own = own_forms(&self.morphology, target);
            target.votes.retain(|substitute, _| !own.contains(substitute));
        }
    }

    /// How good the substitutes of the first targets are.
    #[must_use]
    pub fn measure(
        &self,
        targets: usize,
        said: &Substitutes,
        reading: SwordsReading,
    ) -> SwordsFigures {
        let mut figures = SwordsFigures::default();
        for target in self.targets.iter().take(targets) {
            let is_answer = |share: f64| match reading.is_acceptable {
                true => share > ACCEPTABLE,
                false => share > 0.0,
            };
            let answers = target.votes.values().filter(|share| is_answer(**share)).count();
            let named = self.named(target, said.0.get(&target.id).map_or(&[], Vec::as_slice));
            let is_judged = |name: &&String| target.votes.contains_key(*name);
            let counted = named.iter().filter(|name| !reading.is_lenient || is_judged(name));
            let counted: Vec<&String> = counted.take(TOP).collect();
            let hits = counted.iter().filter_map(|name| target.votes.get(*name));
            figures.hits += hits.filter(|share| is_answer(**share)).count();
            figures.proposals += counted.len();
            figures.answers += answers.min(TOP);
        }
        figures
    }

    /// What a system says of a target, each substitute once, as the lemma or the form that people
    /// judged, without forms of the target.
    fn named(&self, of: &SwordsTarget, said: &[(String, f64)]) -> Vec<String> {
        let own = own_forms(&self.morphology, of);
        let (mut lemmas, mut named) = (BTreeSet::new(), Vec::new());
        for (substitute, _) in said {
            let form = fold(&substitute.split_whitespace().collect::<Vec<_>>().join(" "));
            let lemma = self.morphology.lemmatize(&form, of.pos, &|_, _| false).0;
            let is_own = own.contains(&form) || own.contains(&lemma);
            if form.is_empty() || is_own || !lemmas.insert(lemma.clone()) {
                continue;
            }
            named.push(if of.votes.contains_key(&lemma) { lemma } else { form });
        }
        named
    }
}

fn own_forms(morphology: &Morphology, of: &SwordsTarget) -> BTreeSet<String> {
    let own = of.target.of(&of.text).unwrap_or_default();
    morphology.forms_of_target(own).iter().map(|form| fold(form)).collect()
}

/// A part of speech as SWORDS writes it.
fn pos_of(name: &str) -> Pos {
    match name {
        "VERB" => Pos::Verb,
        "NOUN" => Pos::Noun,
        "ADJ" => Pos::Adjective,
        "ADV" => Pos::Adverb,
        _ => Pos::Other,
    }
}

/// The sentence of a context that holds a target, and where the target stands in it. Where none
/// holds it whole, it is the context.
fn sentence_of(context: &str, of: &Target) -> Option<(String, Span)> {
    let at = context.char_indices().map(|(at, _)| at).nth(of.offset)?;
    let (before, from) = context.split_at(at);
    from.strip_prefix(of.target.as_str()).filter(|_| !of.target.trim().is_empty())?;
    let text = one_spaced(context);
    let ahead = one_spaced(before);
    let is_apart = !ahead.is_empty() && before.ends_with(char::is_whitespace);
    let start = ahead.len() + usize::from(is_apart);
    let end = start + of.target.len();
    let (mut from, mut whole) = (0, 0..text.len());
    for sentence in sentences(context) {
        // What a sentence has no word in is none.
        let Some(found) = text[from..].find(&sentence) else { continue };
        let place = from + found..from + found + sentence.len();
        if place.start <= start && end <= place.end {
            whole = place;
            break;
        }
        from = place.end;
    }
    let target = Span::new((start - whole.start) as u32, (end - whole.start) as u32);
    let sentence = text[whole].to_owned();
    (target.of(&sentence)? == of.target).then_some((sentence, target))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(context: &str, target: &str) -> Option<(String, Span)> {
        let offset = context[..context.find(target).unwrap()].chars().count();
        let (context_id, pos) = (String::new(), "VERB".to_owned());
        sentence_of(context, &Target { context_id, target: target.to_owned(), offset, pos })
    }

    fn swords() -> Swords {
        let votes = [("run", 0.6), ("jog", 0.2), ("sit", 0.0), ("sprint", 0.7)];
        let votes = votes.map(|(word, share)| (word.to_owned(), share)).into();
        let (id, text) = ("t".to_owned(), "They walked.".to_owned());
        let one = SwordsTarget { id, text, target: Span::new(5, 11), pos: Pos::Verb, votes };
        let (fingerprint, morphology) = (String::new(), Morphology::English);
        Swords { targets: vec![one], fingerprint, morphology }
    }

    fn figures(said: &[&str], is_acceptable: bool, is_lenient: bool) -> (usize, usize, usize) {
        let count = said.len() as f64;
        let ranked = said.iter().enumerate().map(|(at, word)| ("t", *word, count - at as f64));
        let reading = SwordsReading { is_acceptable, is_lenient };
        let of = swords().measure(1, &Substitutes::new(ranked), reading);
        (of.hits, of.proposals, of.answers)
    }

    #[test]
    fn a_sentence_is_cut_out_with_its_target() {
        let found = target("He \u{e9}t\u{e9}. (She  ran\n home.) Then", "ran").unwrap();
        assert_eq!(found.1.of(&found.0), Some("ran"));
        assert_eq!(found.0, "(She ran home.)");
        let found = target("a re-run of it", "run").unwrap();
        assert_eq!((found.0.as_str(), found.1), ("a re-run of it", Span::new(5, 8)));
        // A mark that stands alone, and one inside of a word.
        for context in ["He left. \"...\" (?) She ran home.", "See a?id=3 . Yahoo!'s ran home."] {
            let found = target(context, "ran").unwrap();
            assert_eq!(found.1.of(&found.0), Some("ran"), "{context}");
        }
    }

    #[test]
    fn a_target_that_is_not_at_its_offset_is_none() {
        let (context_id, pos) = (String::new(), "VERB".to_owned());
        let of = Target { context_id, target: "ran".to_owned(), offset: 1, pos };
        assert_eq!(sentence_of("She ran", &of), None);
        assert_eq!(sentence_of("", &of), None);
    }

    #[test]
    fn proposals_are_counted_by_votes() {
        // `ran` and `run` are one; `walking` is the target's own.
        let said = ["ran", "run", "walking", "stroll", "jogged", "sit"];
        assert_eq!(figures(&said, true, false), (1, 4, 2));
        assert_eq!(figures(&said, true, true), (1, 3, 2));
        assert_eq!(figures(&said, false, true), (2, 3, 3));
        assert_eq!(figures(&[], true, true), (0, 0, 2));
    }

    #[test]
    fn ten_proposals_count() {
        let mut said: Vec<String> = (0..10).map(|at| format!("w{at}x")).collect();
        said.push("run".to_owned());
        let said: Vec<&str> = said.iter().map(String::as_str).collect();
        assert_eq!(figures(&said, true, false), (0, 10, 2));
        assert_eq!(figures(&said, true, true), (1, 1, 2));
    }

    #[test]
    fn f_is_the_harmonic_mean() {
        let of = SwordsFigures { hits: 1, proposals: 4, answers: 2 };
        let (precision, recall) = (0.25, 0.5);
        let expected = 2.0 * precision * recall / (precision + recall);
        assert!((of.f_at_10() - expected).abs() < 1e-12);
        assert!(SwordsFigures::default().f_at_10().abs() < f64::EPSILON);
    }
}
