//! Tokens of a sentence, and the spans of its sets as tokens.
//!
//! FrameNet's own part-of-speech layers (PENN in full text, BNC in exemplars) give the tokens and
//! their tags; where they leave text out, and where there are none, [`words`] does. Law: tokens
//! ascend, do not overlap, hold no white space, and cover every character that is not white space.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use crate::model::{AnnotationSet, FeId, LayerName, SentenceLayers, Span, Verification};
use crate::text::words;

/// A token of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Where it stands.
    pub span: Span,
    /// Its part of speech in FrameNet's layer, when it has one, or by a tagger.
    pub tag: Option<String>,
    /// Its lemma; empty until [`Lemmas::give`](super::Lemmas::give) has given it.
    pub lemma: String,
}

/// Gives the words of sentences their parts of speech.
pub trait WordTagger {
    /// Whether it is made for a language, given by its tag. One that does not say is made for all.
    ///
    /// # Errors
    /// When what says so cannot be read.
    fn knows(
        &self,
        language: &str,
    ) -> std::result::Result<bool, Box<dyn std::error::Error + Send + Sync>> {
        let _ = language;
        Ok(true)
    }

    /// The tags of the words of each sentence, in order; `None` for a sentence that it does not
    /// tag, as one that is too long.
    ///
    /// # Errors
    /// When it fails.
    fn tag_words(
        &self,
        sentences: &[Vec<&str>],
    ) -> std::result::Result<Vec<Option<Vec<String>>>, Box<dyn std::error::Error + Send + Sync>>;
}

/// The tokens of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tokens {
    tokens: Vec<Token>,
}

/// A set with the names that its ids stand for.
#[derive(Debug, Clone)]
pub struct Annotated {
    /// Name of its frame.
    pub frame: String,
    /// Name of its LU.
    pub lu: String,
    /// The set.
    pub set: AnnotationSet,
    /// Whether an expansion proposed the LU, and nobody accepted it.
    pub is_proposed: bool,
    /// The status of the LU, as written.
    pub lu_status: String,
    /// Whether a word outside of the set's FEs is none: people annotated them, or a model carried
    /// all those of a set in which people did.
    pub fes_complete: bool,
    /// What a verifier says of the set.
    pub verification: Option<Verification>,
    /// The number of each FE of the frame, by name.
    pub fe_ids: std::sync::Arc<std::collections::HashMap<String, FeId>>,
    /// For each FE of the frame its name and its core type, as written.
    pub core_types: std::sync::Arc<std::collections::HashMap<String, &'static str>>,
}

/// Which tokens a span covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Covered {
    /// Their numbers, from 0; at least one.
    pub(super) tokens: Range<usize>,
    /// Whether the span begins and ends where tokens do, white space apart.
    pub(super) is_exact: bool,
}

impl Tokens {
    /// The tokens of a text with these sentence layers.
    ///
    /// # Panics
    /// If the text is 4 GiB long or longer: spans hold `u32`.
    #[must_use]
    pub fn new(text: &str, layers: &[SentenceLayers]) -> Self {
        let tagged = [LayerName::Penn, LayerName::Bnc]
            .iter()
            .map(|name| tagged(text, layers, name))
            .find(|tokens| !tokens.is_empty())
            .unwrap_or_default();
        let mut tokens = Vec::new();
        let mut at = 0;
        for token in tagged {
            fill(text, at, token.span.start, &mut tokens);
            at = token.span.end;
            tokens.push(token);
        }
        fill(text, at, text.len() as u32, &mut tokens);
        Self { tokens }
    }

    /// The tokens, in order.
    #[must_use]
    pub fn as_slice(&self) -> &[Token] {
        &self.tokens
    }

    /// The tokens, in order, to be given tags and lemmas.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Token> {
        self.tokens.iter_mut()
    }

    /// Whether a layer or a tagger has given a token its tag, or there is none.
    #[must_use]
    pub fn are_tagged(&self) -> bool {
        self.tokens.is_empty() || self.tokens.iter().any(|token| token.tag.is_some())
    }

    /// The words of the tokens.
    #[must_use]
    pub fn words<'t>(&self, text: &'t str) -> Vec<&'t str> {
        self.tokens.iter().map(|token| token.span.of(text).unwrap_or_default()).collect()
    }

    /// Takes all tags away.
    pub(crate) fn untag(&mut self) {
        self.tokens.iter_mut().for_each(|token| token.tag = None);
    }

    /// Gives the tokens other places, in the same order; what has none stays where it was.
    pub(super) fn moved(&mut self, place: impl Fn(Span) -> Option<Span>) {
        for token in &mut self.tokens {
            token.span = place(token.span).unwrap_or(token.span);
        }
    }

    /// Gives the tokens their tags, in order.
    pub fn tag(&mut self, tags: Vec<String>) {
        for (token, tag) in self.tokens.iter_mut().zip(tags) {
            token.tag = Some(tag);
        }
    }

    /// The tokens that share a character with a span; `None` when there are none.
    pub(super) fn covered(&self, span: Span) -> Option<Covered> {
        let from = self.tokens.partition_point(|token| token.span.end <= span.start);
        let to = self.tokens.partition_point(|token| token.span.start < span.end);
        if span.is_empty() || from >= to {
            return None;
        }
        let (first, last) = (self.tokens[from].span, self.tokens[to - 1].span);
        // A span may begin or end in the white space around its tokens.
        let is_exact = first.start >= span.start && last.end <= span.end;
        Some(Covered { tokens: from..to, is_exact })
    }
}

/// The tokens of the first layer of that name, in order. Words that have a label of their own come
/// first, of overlapping ones the one that begins first. The tag of a wider label is that of each
/// of its words that overlaps none of them.
fn tagged(text: &str, layers: &[SentenceLayers], name: &LayerName) -> Vec<Token> {
    let layers = layers.iter().flat_map(|set| &set.layers);
    let Some(layer) = layers.into_iter().find(|layer| layer.name == *name) else {
        return Vec::new();
    };
    let labels = layer.labels.iter();
    let spans = labels.filter_map(|label| Some((label.extent.span()?, label.name.as_str())));
    let is_word = |(span, _): &(Span, &str)| {
        span.of(text).is_some_and(|covered| !covered.contains(char::is_whitespace))
    };
    let (mut own, mut wider): (Vec<_>, Vec<_>) = spans.partition(is_word);
    own.sort_by_key(|(span, _)| (span.start, Reverse(span.end)));
    wider.sort_by_key(|(span, _)| (span.start, span.end));
    let mut tokens: BTreeMap<u32, Token> = BTreeMap::new();
    for (span, tag) in own.into_iter().chain(wider) {
        for word in span.of(text).unwrap_or_default().split_whitespace() {
            let start = (word.as_ptr() as usize - text.as_ptr() as usize) as u32;
            let span = Span::new(start, start + word.len() as u32);
            let before = tokens.range(..span.end).next_back();
            if before.is_none_or(|(_, before)| before.span.end <= start) {
                let tag = Some(tag.to_owned());
                tokens.insert(start, Token { span, tag, lemma: String::new() });
            }
        }
    }
    tokens.into_values().collect()
}

/// Adds the words of a stretch that no layer covers.
fn fill(text: &str, start: u32, end: u32, tokens: &mut Vec<Token>) {
    let Some(stretch) = text.get(start as usize..end as usize) else { return };
    tokens.extend(words(stretch).into_iter().map(|word| Token {
        span: Span::new(start + word.start, start + word.end),
        tag: None,
        lemma: String::new(),
    }));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::{AnnotationSetId, Extent, IdSpace, Label, Layer, SentenceId};

    fn layers(name: LayerName, spans: &[(u32, u32)]) -> SentenceLayers {
        let label =
            |(start, end): &(u32, u32)| Label::new("NN", Extent::Overt(Span::new(*start, *end)));
        SentenceLayers {
            id: AnnotationSetId::new(IdSpace::Exemplar, 1),
            xml_id: 1,
            sentence: SentenceId::new(IdSpace::Exemplar, 1),
            construction: None,
            status: "UNANN".to_owned(),
            created: String::new(),
            listed_under: Vec::new(),
            layers: vec![Layer { name, rank: 1, labels: spans.iter().map(label).collect() }],
        }
    }

    fn shown<'a>(text: &'a str, tokens: &Tokens) -> Vec<(&'a str, bool)> {
        let tokens = tokens.as_slice().iter();
        tokens.map(|token| (token.span.of(text).unwrap(), token.tag.is_some())).collect()
    }

    #[test]
    fn a_layer_gives_the_tokens_and_words_fill_what_it_leaves_out() {
        let text = "in spite of rain, he don't";
        let sets = [layers(LayerName::Bnc, &[(0, 11), (12, 16), (18, 20)])];
        let tokens = Tokens::new(text, &sets);
        let expected = [
            ("in", true),
            ("spite", true),
            ("of", true),
            ("rain", true),
            (",", false),
            ("he", true),
            ("do", false),
            ("n't", false),
        ];
        assert_eq!(shown(text, &tokens), expected);
        assert_eq!(shown("a b", &Tokens::new("a b", &[])), [("a", false), ("b", false)]);
    }

    #[test]
    fn a_word_in_a_wider_label_keeps_the_tag_of_its_own() {
        let label = |start, end, name: &str| Label::new(name, Extent::Overt(Span::new(start, end)));
        let tagged = |text: &str, labels: &[(u32, u32, &str)]| {
            let mut sets = [layers(LayerName::Penn, &[])];
            sets[0].layers[0].labels =
                labels.iter().map(|(a, b, tag)| label(*a, *b, tag)).collect();
            let tokens = Tokens::new(text, &sets);
            let tokens = tokens.as_slice().iter();
            let shown = tokens.map(|token| {
                let word = token.span.of(text).unwrap();
                format!("{word}/{}", token.tag.as_deref().unwrap_or("_"))
            });
            shown.collect::<Vec<_>>().join(" ")
        };
        let labels = [(4, 12, "nn"), (9, 12, "VBD"), (13, 16, "jj")];
        assert_eq!(tagged("the lock was old", &labels), "the/_ lock/nn was/VBD old/jj");
        // A wider label that ends inside a word, or begins in one, does not cut it.
        let labels = [(0, 5, "nn"), (4, 7, "VHZ"), (6, 7, "NP")];
        assert_eq!(tagged("& L has", &labels), "&/nn L/nn has/VHZ");
        assert_eq!(tagged("trains", &[(0, 3, "NP"), (0, 6, "nns")]), "trains/nns");
        let text = "the lock";
        let tokens = Tokens::new(text, &[layers(LayerName::Penn, &[(4, 8)])]);
        assert!(tokens.are_tagged() && !Tokens::new(text, &[]).are_tagged());
        assert!(Tokens::new("", &[]).are_tagged());
    }

    #[test]
    fn a_span_covers_the_tokens_that_it_touches() {
        let text = "a bcd e ";
        let tokens = Tokens::new(text, &[]);
        let covered = |start, end| {
            tokens.covered(Span::new(start, end)).map(|found| (found.tokens, found.is_exact))
        };
        assert_eq!(covered(0, 1), Some((0..1, true)));
        assert_eq!(covered(1, 6), Some((1..2, true)), "with the white space around it");
        assert_eq!(covered(3, 7), Some((1..3, false)), "from inside a token");
        assert_eq!(covered(1, 2), None, "white space");
        assert_eq!(covered(4, 4), None, "nothing, inside a token");
    }

    proptest! {
        #[test]
        fn tokens_ascend_and_cover_all_but_white_space(
            text in "[a-c.,' \u{e9}\u{1F600}\u{301}\r\n]{0,24}",
            picks in prop::collection::vec((0_usize..24, 0_usize..24), 0..6),
        ) {
            let at: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            let place = |pick: usize| at[pick.min(at.len() - 1)] as u32;
            let spans: Vec<(u32, u32)> = picks
                .iter()
                .map(|(a, b)| (place(*a.min(b)), place(*a.max(b))))
                .collect();
            let tokens = Tokens::new(&text, &[layers(LayerName::Penn, &spans)]);
            let mut end = 0;
            let mut covered = String::new();
            for token in tokens.as_slice() {
                prop_assert!(token.span.start >= end && !token.span.is_empty());
                end = token.span.end;
                let word = token.span.of(&text).unwrap();
                prop_assert!(!word.contains(char::is_whitespace));
                covered.push_str(word);
            }
            prop_assert_eq!(covered, text.split_whitespace().collect::<String>());
        }
    }
}
