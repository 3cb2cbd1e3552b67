//! Frame elements of a seed, and of sets that are carried along, in the sentences that are made of
//! it.
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

use super::aligning::{Found, Searching};
use super::phrase_set::{PhraseSet, runs};
use super::seed::{Seed, is_described};
use crate::model::{CarriedElement, Extent, Label, Layer, LayerName, Span, named};
use crate::text::{is_stop_word, natural_spacing, words};

named! {
    /// What is done so that an output has the seed's FEs.
    pub enum KeepElements {
        /// They are not annotated, as in Culkin et al. 2021, section 6.2.
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

/// A set whose FEs are looked for: the lists of its spans among all that is.
pub(super) struct Sought {
    elements: usize,
    /// Of a set that is carried along, the spans of other layers.
    others: Option<usize>,
}

impl Sought {
    /// Looks for the FEs of a seed that do not lie in its target.
    pub(super) fn of(seed: &Seed, searching: &mut Searching<'_>) -> Self {
        Self { elements: searching.spans(&outside_target(seed), false), others: None }
    }

    /// Looks for the FEs of a set that is carried along, and what stayed of its other layers.
    pub(super) fn along(set: &Seed, searching: &mut Searching<'_>) -> Self {
        let elements = searching.spans(&outside_target(set), true);
        let others = set.elements.layers.iter().filter(|layer| !is_described(&layer.name));
        let labels = others.flat_map(|layer| &layer.labels);
        let mut spans: Vec<Span> = labels.filter_map(|label| label.extent.span()).collect();
        spans.sort_unstable();
        spans.dedup();
        Self { elements, others: Some(searching.standing(&spans, true)) }
    }

    /// The seed's FEs in an output whose target is known.
    pub(super) fn carried(
        &self,
        seed: &Seed,
        found: &Found,
        (text, targets): (&str, &[Span]),
    ) -> Carried {
        let place = |span: Span| -> Option<(Vec<Span>, f32)> {
            if seed.is_inside_target(span) {
                return Some((targets.to_vec(), 1.0));
            }
            let over_target = seed.overlaps_target(span);
            let is_free =
                |found: Span| over_target || !targets.iter().any(|target| target.overlaps(found));
            let place = found.place(self.elements, span).filter(|(found, _)| is_free(*found));
            let place = place.or_else(|| found.place(self.others?, span));
            place.map(|(found, score)| (vec![found], score))
        };
        laid_over(seed, text, place)
    }
}

/// The spans of a set's FEs, without those in its target.
fn outside_target(set: &Seed) -> Vec<Span> {
    let mut spans = set.elements.distinct();
    spans.retain(|span| !set.is_inside_target(*span));
    spans
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
}
