//! The seed's frame elements in the sentences that are made of it.
//!
//! Culkin et al. 2021 (section 6.2) propose to force the words of the FEs into the output. That
//! keeps them, and keeps the sentence as it was. The aligner finds most of them wherever they went,
//! so by default they are looked for and nothing is forced.
//!
//! An FE that covers the target, or part of it, goes where the target went. One whose words stand
//! in the output once, as they were, is there. Any other is aligned as a target is; it is not found
//! where the aligner's score lies below its threshold, or where the best span overlaps the new
//! target. What is not found is said and never guessed. GF and PT describe how words stand in their
//! sentence, so they stay only with words that stayed.

use super::phrase_set::{PhraseSet, runs};
use super::seed::Seed;
use super::{ExpandError, Result};
use crate::align::{AlignError, AlignRequest, Aligner, Ranking};
use crate::model::{CarriedElement, Extent, Label, Layer, LayerName, Span, named};
use crate::text::{fold, is_stop_word, natural_spacing, words};

named! {
    /// What is done so that an output has the seed's FEs.
    pub enum KeepElements {
        /// They are not annotated, as in Culkin et al. 2021, section 5.
        None => "none",
        /// The aligner looks for them.
        Align => "align",
        /// As `align`; sentences must contain their head words.
        Heads => "heads",
        /// As `align`; sentences must contain their text (section 6.2).
        Exact => "exact",
    }
}

impl KeepElements {
    /// Phrases that each output is to hold, but for those that hold what is banned.
    pub(super) fn required(self, seed: &Seed, banned: &[String]) -> Vec<String> {
        let phrase = |text: &str| match self {
            Self::None | Self::Align => None,
            Self::Heads => head(text).map(str::to_owned),
            Self::Exact => Some(natural_spacing(text)),
        };
        let banned = PhraseSet::new(banned);
        let spans =
            seed.elements.distinct().into_iter().filter(|span| !seed.overlaps_target(*span));
        let mut phrases = Vec::new();
        for phrase in spans.filter_map(|span| phrase(span.of(&seed.text)?)) {
            if !runs(&phrase).is_empty() && !banned.is_in(&phrase) && !phrases.contains(&phrase) {
                phrases.push(phrase);
            }
        }
        phrases
    }
}

/// The word that a phrase is about, without a parse: the last content word before the first
/// preposition, relative pronoun or comma that follows one.
fn head(phrase: &str) -> Option<&str> {
    const ENDS: [&str; 32] = [
        "about", "after", "against", "among", "as", "at", "because", "before", "between", "by",
        "during", "for", "from", "if", "in", "into", "like", "of", "on", "over", "that", "through",
        "to", "under", "until", "when", "where", "which", "while", "who", "whose", "with",
    ];
    let mut head = None;
    for word in words(phrase).into_iter().filter_map(|span| span.of(phrase)) {
        let ends = word == "," || ENDS.contains(&word.to_lowercase().as_str());
        match (ends, head) {
            (true, Some(_)) => break,
            (true, None) => {}
            (false, _) if word.chars().any(char::is_alphanumeric) && !is_stop_word(word) => {
                head = Some(word)
            }
            (false, _) => {}
        }
    }
    head
}

/// What an output has of its seed's FEs.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Carried {
    /// FE, GF and PT layers over the output.
    pub(super) layers: Vec<Layer>,
    /// Each label of the seed that covers words, in order of the layers.
    pub(super) elements: Vec<CarriedElement>,
}

impl Carried {
    /// Whether one was not found.
    pub(super) fn has_lost(&self) -> bool {
        self.elements.iter().any(|element| element.score.is_none())
    }
}

/// Looks for a seed's FEs in an output whose target is known.
pub(super) fn carry(
    aligner: &Aligner,
    seed: &Seed,
    text: &str,
    targets: &[Span],
) -> Result<Carried> {
    let spans = seed.elements.distinct();
    let aligned: Vec<Span> =
        spans.iter().copied().filter(|span| !seed.is_inside_target(*span)).collect();
    let found = found(aligner, seed, text, &aligned)?;
    let place = |span: Span| -> Option<(Vec<Span>, f32)> {
        if seed.is_inside_target(span) {
            return Some((targets.to_vec(), 1.0));
        }
        let at = aligned.iter().position(|aligned| *aligned == span)?;
        let over_target = seed.overlaps_target(span);
        let is_free =
            |found: Span| over_target || !targets.iter().any(|target| target.overlaps(found));
        found[at].filter(|(found, _)| is_free(*found)).map(|(found, score)| (vec![found], score))
    };
    Ok(laid_over(seed, text, place))
}

/// Where each of some spans went, with the aligner's score; none where nothing answers to it.
fn found(
    aligner: &Aligner,
    seed: &Seed,
    text: &str,
    spans: &[Span],
) -> Result<Vec<Option<(Span, f32)>>> {
    let mut answers = vec![None; spans.len()];
    let has_words =
        |span: &Span| span.of(&seed.text).is_some_and(|covered| !words(covered).is_empty());
    // Spans of one request choose places that do not overlap, so those that do overlap are asked
    // one after the other.
    let kept = |span: Span| Some((stands_once(text, span.of(&seed.text)?)?, 1.0));
    let mut open = Vec::new();
    for (span, answer) in spans.iter().zip(&mut answers).filter(|(span, _)| has_words(span)) {
        *answer = kept(*span);
        open.extend(answer.is_none().then_some(*span));
    }
    for group in apart(open.into_iter()) {
        let request = AlignRequest { source: &seed.text, pieces: &group, target: text };
        let ranking = match aligner.rank(&[request], 0) {
            Ok(rankings) => rankings.into_iter().next().flatten(),
            Err(AlignError::TooLong { .. }) => None,
            Err(source) => return Err(ExpandError::Align { seed: Some(seed.set), source }),
        };
        let Some(Ranking { alignment, .. }) = ranking else { continue };
        for ((span, found), score) in group.iter().zip(alignment.spans).zip(alignment.scores) {
            let at =
                spans.iter().position(|other| other == span).expect("groups are of these spans");
            answers[at] = (score >= aligner.config().threshold).then_some((found, score));
        }
    }
    Ok(answers)
}

/// Spans in as few groups as it takes, in order, so that none overlaps another of its group.
fn apart(spans: impl Iterator<Item = Span>) -> Vec<Vec<Span>> {
    let mut groups: Vec<Vec<Span>> = Vec::new();
    for span in spans {
        let is_room = |group: &&mut Vec<Span>| !group.iter().any(|other| other.overlaps(span));
        match groups.iter_mut().find(is_room) {
            Some(group) => group.push(span),
            None => groups.push(vec![span]),
        }
    }
    groups
}

/// The seed's layers over another text, as far as `place` says where a span went.
fn laid_over(seed: &Seed, text: &str, place: impl Fn(Span) -> Option<(Vec<Span>, f32)>) -> Carried {
    let mut carried = Carried::default();
    for layer in &seed.elements.layers {
        let mut labels = Vec::new();
        for label in &layer.labels {
            let moved = |extent| Label { extent, annotator: String::new(), ..label.clone() };
            let Extent::Overt(span) = label.extent else {
                labels.extend(
                    matches!(label.extent, Extent::Null(_)).then(|| moved(label.extent.clone())),
                );
                continue;
            };
            let placed = place(span);
            if layer.name == LayerName::Fe {
                let score = placed.as_ref().map(|(_, score)| *score);
                carried.elements.push(CarriedElement { name: label.name.clone(), score });
            }
            for new in placed.into_iter().flat_map(|(spans, _)| spans) {
                if layer.name == LayerName::Fe || says_the_same((&seed.text, span), (text, new)) {
                    labels.push(moved(Extent::Overt(new)));
                }
            }
        }
        if !labels.is_empty() {
            carried.layers.push(Layer { labels, ..layer.clone() });
        }
    }
    carried
}

/// Whether two spans hold the same words, up to letter case and spacing.
fn says_the_same((a, in_a): (&str, Span), (b, in_b): (&str, Span)) -> bool {
    let said = |text: &str| runs(&natural_spacing(text));
    in_a.of(a).map(said) == in_b.of(b).map(said)
}

/// Where the words of a phrase stand in a text, up to letter case and spacing; none where they
/// stand nowhere, or in several places.
fn stands_once(text: &str, phrase: &str) -> Option<Span> {
    let written = natural_spacing(phrase);
    let phrase = runs(&written);
    let mut run_starts = Vec::new();
    let mut is_inside = false;
    for (at, character) in text.char_indices() {
        let begins = character.is_alphanumeric() && !is_inside;
        run_starts.extend(begins.then_some(at));
        is_inside = character.is_alphanumeric();
    }
    let run = |start: &usize| {
        let rest = &text[*start..];
        let end =
            rest.find(|c: char| !c.is_alphanumeric()).map_or(text.len(), |length| start + length);
        Span::new(*start as u32, end as u32)
    };
    let found: Vec<Span> = run_starts.iter().map(run).collect();
    let words: Vec<String> = found.iter().filter_map(|span| span.of(text)).map(fold).collect();
    let mut places = (0..(words.len() + 1).saturating_sub(phrase.len()))
        .filter(|at| !phrase.is_empty() && words[*at..*at + phrase.len()] == phrase[..]);
    let (first, None) = (places.next()?, places.next()) else { return None };
    let (start, end) = (found[first].start as usize, found[first + phrase.len() - 1].end as usize);
    // Marks around the words belong to them where they stayed, too, as in `$5`.
    let marks = |text: &str| {
        text.chars().take_while(|c| !c.is_alphanumeric()).map(char::len_utf8).sum::<usize>()
    };
    let before = &written[..marks(&written)];
    let after = &written[written.trim_end_matches(|c: char| !c.is_alphanumeric()).len()..];
    let start = start - if text[..start].ends_with(before) { before.len() } else { 0 };
    let end = end + if text[end..].starts_with(after) { after.len() } else { 0 };
    Some(Span::new(start as u32, end as u32))
}

#[cfg(test)]
mod tests {
    use super::super::seed::Elements;
    use super::*;
    use crate::model::{
        AnnotationSetId, FeId, FrameId, IdSpace, NullInstantiation, Pos, ReleaseId,
    };

    const TEXT: &str = "The guard checked my pass at the gate .";

    fn label(name: &str, extent: Extent) -> Label {
        Label {
            name: name.to_owned(),
            extent,
            fe: Some(FeId(7)),
            annotator: "EmA".to_owned(),
            colors: None,
        }
    }

    fn at(name: &str, words: &str) -> Label {
        let start = TEXT.find(words).unwrap() as u32;
        label(name, Extent::Overt(Span::new(start, start + words.len() as u32)))
    }

    fn layer(name: LayerName, rank: u8, labels: Vec<Label>) -> Layer {
        Layer { name, rank, labels }
    }

    fn seed() -> Seed {
        let fe = vec![
            at("Inspector", "The guard"),
            at("Unwanted", "my pass"),
            at("Ground", "at the gate"),
            label("Time", Extent::Null(NullInstantiation::Definite)),
        ];
        let layers = vec![
            layer(LayerName::Fe, 1, fe),
            layer(LayerName::Gf, 1, vec![at("Ext", "The guard"), at("Obj", "my pass")]),
            layer(LayerName::Fe, 2, vec![at("Means", "checked")]),
        ];
        Seed {
            release: ReleaseId(1),
            set: AnnotationSetId::new(IdSpace::Exemplar, 1),
            frame: FrameId(1),
            text: TEXT.to_owned(),
            targets: vec![Span::new(10, 17)],
            lemma: "check".to_owned(),
            pos: Pos::Verb,
            expressed: None,
            elements: Elements { layers },
        }
    }

    #[test]
    fn what_was_found_is_labelled_and_what_was_not_is_said() {
        let text = "the guard inspected a card";
        let carried = laid_over(&seed(), text, |span| match span.start {
            0 => Some((vec![Span::new(0, 9)], 0.9)),
            10 => Some((vec![Span::new(10, 19)], 1.0)),
            18 => Some((vec![Span::new(20, 26)], 0.8)),
            _ => None,
        });
        let scores: Vec<_> =
            carried.elements.iter().map(|of| (of.name.as_str(), of.score)).collect();
        assert_eq!(
            scores,
            [
                ("Inspector", Some(0.9)),
                ("Unwanted", Some(0.8)),
                ("Ground", None),
                ("Means", Some(1.0))
            ]
        );
        assert!(carried.has_lost());
        let drawn: Vec<String> = carried
            .layers
            .iter()
            .flat_map(|layer| {
                layer.labels.iter().map(|label| {
                    let words = label.extent.span().and_then(|span| span.of(text)).unwrap_or("-");
                    assert_eq!(label.annotator, "", "no person put it there");
                    format!("{}{} {} {words}", layer.name.as_str(), layer.rank, label.name)
                })
            })
            .collect();
        assert_eq!(
            drawn,
            [
                "FE1 Inspector the guard",
                "FE1 Unwanted a card",
                "FE1 Time -",
                "GF1 Ext the guard",
                "FE2 Means inspected"
            ]
        );
    }

    #[test]
    fn outputs_are_asked_for_what_a_recipe_requires_but_for_what_is_banned() {
        let banned = ["passes".to_owned(), "pass".to_owned()];
        let required = |keep: KeepElements, banned: &[String]| keep.required(&seed(), banned);
        assert_eq!(required(KeepElements::Exact, &[]), ["The guard", "my pass", "at the gate"]);
        assert_eq!(required(KeepElements::Exact, &banned), ["The guard", "at the gate"]);
        assert_eq!(required(KeepElements::Heads, &[]), ["guard", "pass", "gate"]);
        for keep in [KeepElements::Align, KeepElements::None] {
            assert!(required(keep, &[]).is_empty());
        }
    }

    #[test]
    fn a_phrase_is_about_its_last_content_word_before_what_is_added_to_it() {
        for (phrase, about) in [
            ("the old keeper of the gate", Some("keeper")),
            ("in the dark wood that nobody knows", Some("wood")),
            ("her", None),
            ("", None),
            ("Ana , the guard", Some("Ana")),
        ] {
            assert_eq!(head(phrase), about, "{phrase}");
        }
    }

    #[test]
    fn words_that_stayed_are_found_wherever_they_stand() {
        let text = "\"I don't know,\" she told the guards. The guards left.";
        let found = |phrase: &str| stands_once(text, phrase).and_then(|span| span.of(text));
        assert_eq!(found("` I do n't know , \""), Some("I don't know"));
        assert_eq!(found("THE guards left ."), Some("The guards left."));
        assert_eq!(found("the guards"), None, "they stand in two places");
        let money = "It cost ($5) more.";
        for phrase in ["$5", "cost ($5)", "($5) more ."] {
            let found = stands_once(money, phrase).and_then(|span| span.of(money));
            assert_eq!(found, Some(phrase.replace(" .", ".").as_str()), "{phrase}");
        }
        for phrase in ["guard", "know he", "", ". ,"] {
            assert_eq!(found(phrase), None, "{phrase}");
        }
    }

    #[test]
    fn spans_that_overlap_are_asked_one_after_the_other() {
        let spans = [Span::new(0, 4), Span::new(2, 6), Span::new(5, 9), Span::new(3, 4)];
        let groups = apart(spans.into_iter());
        assert_eq!(groups, [vec![spans[0], spans[2]], vec![spans[1]], vec![spans[3]]]);
    }
}
