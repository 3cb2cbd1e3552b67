//! What the parts of speech of a sentence say of the LUs that its words may be forms of.
//!
//! An LU of one word must be of the word's part of speech. Of several words a verb and its particle
//! belong together (`turned down the offer`), a verb and a preposition that follows it do not
//! (`went on Monday`). Tags are those of the Penn Treebank.

use super::features::WordSpan;
use crate::model::{LexUnit, Pos};
use crate::text::{fold, plain_lemma};

/// Words that are particles or prepositions: annotation decides, the tag, and what follows. Other
/// particles (`off`, `up`) are seldom prepositions behind the verbs that have them in an LU.
const EITHER: [&str; 6] = ["about", "across", "by", "in", "on", "over"];

/// How sure it is that words are a form of an LU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Fit {
    /// They are of another part of speech.
    No,
    /// They may be, as far as form and parts of speech tell.
    #[default]
    Possible,
    /// Several words that seldom stand together by chance.
    Likely,
    /// A verb with its particle, or another verb of several words.
    Certain,
}

/// The words of a sentence with their tags.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tagged<'a> {
    pub(super) words: &'a [&'a str],
    pub(super) tags: &'a [&'a str],
}

impl Tagged<'_> {
    /// How well an LU fits where its form stands. `is_discontinuous` says that annotation shows it
    /// around an object.
    pub(super) fn fit(&self, span: WordSpan, lexunit: &str, is_discontinuous: bool) -> Fit {
        let pos = Pos::of_lu_name(lexunit);
        let tags = &self.tags[span.first..span.end()];
        if let ([tag], [word]) = (tags, &self.words[span.first..span.end()]) {
            let lemma = || plain_lemma(LexUnit::lemma_of(lexunit));
            // A participle may be tagged as an adjective, a lemma may not.
            let is_adjective = tag.starts_with("JJ") && pos == Pos::Verb;
            let allows = if is_adjective { fold(word) != fold(&lemma()) } else { allows(tag, pos) };
            return if allows { Fit::Possible } else { Fit::No };
        }
        // `a lot of good`: the words around an article often stand together by chance.
        let is_open = matches!(tags[0], "DT" | "PDT" | "PRP$");
        match pos {
            Pos::Verb => self.fit_of_verb(span, is_discontinuous),
            Pos::Noun if is_open || !tags.iter().any(|tag| is_noun(tag)) => Fit::Possible,
            Pos::Adjective if is_open => Fit::Possible,
            // `in spite of the rain`: a noun between two prepositions, and what follows.
            Pos::Preposition if self.is_around_noun(span) => Fit::Certain,
            _ => Fit::Likely,
        }
    }

    /// Whether a noun stands between two prepositions, with a phrase behind them.
    fn is_around_noun(&self, span: WordSpan) -> bool {
        let is_preposition = |tag: &str| matches!(tag, "IN" | "TO");
        matches!(self.tags[span.first..span.end()], [first, noun, last]
            if is_preposition(first) && is_noun(noun) && is_preposition(last))
            && self.is_followed(span)
    }

    /// How well a verb of several words fits.
    fn fit_of_verb(&self, span: WordSpan, is_discontinuous: bool) -> Fit {
        let tags = &self.tags[span.first..span.end()];
        let [before @ .., last] = tags else { return Fit::Possible };
        if !tags.iter().any(|tag| is_verb(tag)) || matches!(*last, "PRP" | "VBG" | "VBN") {
            return Fit::Possible;
        }
        let word = fold(self.words[span.end() - 1]);
        let is_pair = before.len() == 1 && !is_verb(last);
        let next = self.tags.get(span.end());
        match &*word {
            // `hand in the essay`: a verb that stands around objects has one.
            word if is_pair && !is_discontinuous && EITHER.contains(&word) => {
                self.fit_of_particle(span.end() - 1)
            }
            // `have to go`, not `come to the house`.
            "to" if is_pair && next != Some(&"VB") => Fit::Possible,
            // `laid off forty men`, or `fell off the roof`.
            _ if is_pair && *last == "IN" && self.is_followed(span) => Fit::Likely,
            _ => Fit::Certain,
        }
    }

    /// Whether a phrase follows a verb and one word that may be a preposition of it, as far as tags
    /// tell: `turned down the road`.
    pub(super) fn may_have_preposition(&self, span: WordSpan) -> bool {
        let [first, last] = self.tags[span.first..span.end()] else { return false };
        is_verb(first) && matches!(last, "IN" | "RP" | "RB") && self.is_followed(span)
    }

    /// Whether a phrase may begin behind some words.
    fn is_followed(&self, span: WordSpan) -> bool {
        self.tags.get(span.end()).is_some_and(|tag| starts_phrase(tag))
    }

    /// How well a word that may be a preposition is the particle of a verb.
    fn fit_of_particle(&self, at: usize) -> Fit {
        match self.tags[at] {
            "RP" | "RB" => Fit::Certain,
            _ if self.is_followed(WordSpan { first: at, len: 1 }) => Fit::Possible,
            _ => Fit::Certain,
        }
    }

    /// Whether an object stands in a gap between a verb and the rest of its LU.
    pub(super) fn is_object(&self, gap: std::ops::Range<usize>) -> bool {
        let tags = &self.tags[gap];
        tags.iter().all(|tag| starts_phrase(tag) || *tag == "POS" || *tag == "RB")
            && tags.last().is_some_and(|tag| is_noun(tag) || matches!(*tag, "PRP" | "DT" | "CD"))
    }

    /// Whether a word behind an object is a particle. `is_attested` says that annotation shows the
    /// LU around an object.
    pub(super) fn is_parted_particle(&self, at: usize, is_attested: bool) -> bool {
        self.tags[at] == "RP"
            || !self.is_followed(WordSpan { first: at, len: 1 })
                && matches!(self.tags[at], "IN" | "RB")
                && (is_attested || self.tags[at - 1] == "PRP")
    }
}

fn is_noun(tag: &str) -> bool {
    tag.starts_with("NN")
}

fn is_verb(tag: &str) -> bool {
    tag.starts_with("VB") || tag == "MD"
}

/// Whether a word of a tag may begin a noun phrase.
fn starts_phrase(tag: &str) -> bool {
    matches!(tag, "DT" | "PDT" | "PRP" | "PRP$" | "CD" | "WP")
        || tag.starts_with("JJ")
        || is_noun(tag)
}

/// Whether a word with a tag may be a form of an LU of a part of speech: what the full text of
/// FrameNet 1.5 shows of its targets in more than one case of a hundred.
fn allows(tag: &str, pos: Pos) -> bool {
    match tag {
        "VB" | "VBP" | "VBZ" | "MD" => pos == Pos::Verb,
        "VBD" | "VBN" => matches!(pos, Pos::Verb | Pos::Adjective),
        "VBG" => matches!(pos, Pos::Verb | Pos::Adjective | Pos::Noun | Pos::Preposition),
        "CD" => matches!(pos, Pos::Number | Pos::Noun | Pos::Adjective),
        "IN" | "TO" | "RP" | "CC" | "DT" | "PDT" => !matches!(pos, Pos::Verb | Pos::Noun),
        "RB" | "RBR" | "RBS" | "WRB" => pos != Pos::Verb,
        noun if is_noun(noun) => matches!(pos, Pos::Noun | Pos::Adjective | Pos::Number),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(tagged: &str, first: usize, lexunit: &str) -> Fit {
        let pairs: Vec<(&str, &str)> =
            tagged.split(' ').filter_map(|pair| pair.rsplit_once('/')).collect();
        let (words, tags): (Vec<&str>, Vec<&str>) = pairs.into_iter().unzip();
        let len = lexunit.split(' ').count();
        let is_discontinuous = lexunit == "hand in.v";
        Tagged { words: &words, tags: &tags }.fit(
            WordSpan { first, len },
            lexunit,
            is_discontinuous,
        )
    }

    #[test]
    fn a_word_is_of_the_lus_of_its_part_of_speech() {
        assert_eq!(fit("The/DT cook/NN left/VBD", 1, "cook.v"), Fit::No);
        assert_eq!(fit("The/DT cook/NN left/VBD", 1, "cook.n"), Fit::Possible);
        assert_eq!(fit("They/PRP cook/VBP rice/NN", 1, "cook.n"), Fit::No);
        assert_eq!(fit("a/DT frightened/JJ cat/NN", 1, "frighten.v"), Fit::Possible);
        assert_eq!(fit("an/DT open/JJ door/NN", 1, "open.v"), Fit::No);
    }

    #[test]
    fn a_particle_belongs_to_its_verb_and_a_preposition_does_not() {
        assert_eq!(fit("turned/VBD down/RP the/DT offer/NN", 0, "turn down.v"), Fit::Certain);
        assert_eq!(fit("laid/VBD off/IN forty/CD men/NNS", 0, "lay off.v"), Fit::Likely);
        assert_eq!(fit("laid/VBD off/RP forty/CD men/NNS", 0, "lay off.v"), Fit::Certain);
        assert_eq!(fit("went/VBD on/IN Monday/NNP", 0, "go on.v"), Fit::Possible);
        assert_eq!(fit("went/VBD on/IN talking/VBG", 0, "go on.v"), Fit::Certain);
        assert_eq!(fit("handed/VBD in/IN his/PRP$ notice/NN", 0, "hand in.v"), Fit::Likely);
        assert_eq!(fit("went/VBD on/RP", 0, "go on.v"), Fit::Certain);
        assert_eq!(fit("have/VBP to/TO go/VB", 0, "have to.v"), Fit::Certain);
        assert_eq!(fit("came/VBD to/TO the/DT house/NN", 0, "come to.v"), Fit::Possible);
        assert_eq!(fit("is/VBZ killing/VBG it/PRP", 0, "be killing.v"), Fit::Possible);
    }

    #[test]
    fn other_words_that_stand_together_are_likely_an_lu() {
        assert_eq!(fit("because/IN of/IN rain/NN", 0, "because of.prep"), Fit::Likely);
        assert_eq!(fit("in/IN spite/NN of/IN rain/NN", 0, "in spite of.prep"), Fit::Certain);
        assert_eq!(fit("in/IN spite/NN of/IN ./.", 0, "in spite of.prep"), Fit::Likely);
        assert_eq!(fit("living/NN room/NN", 0, "living room.n"), Fit::Likely);
        assert_eq!(fit("a/DT good/JJ man/NN", 0, "a good.a"), Fit::Possible);
    }
}
