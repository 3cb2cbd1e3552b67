//! Banned phrases as strings: which tokens would complete one.
//!
//! The phrases become an [`Automaton`] over the symbols of `letters.rs`. A token is blocked in a
//! state when reading its bytes completes a phrase, however the phrase was cut into tokens before.
//! A phrase that ends in a word letter is complete only if no word letter follows. After `confirm`,
//! the tokens `s` and ` it` and the end are told apart, so `confirmation` stays possible when only
//! `confirm` is banned.
//!
//! Blocked tokens of a state are found once and kept. A completed match starts either before the
//! token, at a suffix of what was read, which is a node of the failure chain, or inside the token.
//! Either way only trie edges are followed, so the search ends where no phrase continues. Matches
//! that start inside a token are the same for every state and are found at compilation.
//!
//! A letter's marks are kept until the next letter comes and put into Unicode's order (`marks.rs`),
//! so that texts which are canonically equivalent are banned alike. No phrase begins with a mark or
//! with a [`MARKED`], and one that ends in a word is complete only behind its last letter's marks.
//!
//! While phrases are banned, bytes that cannot be read as UTF-8 are blocked as well: nobody could
//! say what they spell. So are bytes that begin a letter if every letter they can become is banned.
//! After a banned word, the byte `ee` begins only private letters, and each of them would end the
//! word.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use super::super::DecodeError;
use super::automaton::{Automaton, ROOT};
use super::letters::{self, After, BOUNDARY, MARKED, TextState};
use super::marks::Marks;
use super::occurrences::PhraseList;
use super::trie::TOP;
use super::vocabulary::Vocabulary;

/// Bytes of the longest letter in UTF-8.
const LONGEST_LETTER: usize = 4;

/// Phrases that may not occur in the output, compiled for one vocabulary.
///
/// Case is folded, runs of white space are one space, and a phrase occurs only as whole words. A
/// list shared by many sentences is compiled once and keeps what it learned about its states.
#[derive(Debug)]
pub struct AvoidPhrases {
    vocabulary: Arc<Vocabulary>,
    automaton: Automaton,
    list: PhraseList,
    /// Tokens that contain a whole phrase, whatever comes before them.
    inside: Vec<u32>,
    blocked: Mutex<BlockedLists>,
}

/// Blocked tokens of the states seen so far. States that block the same tokens share one list:
/// after most banned words that is "whatever begins no letter of a word", half of the vocabulary.
#[derive(Debug, Default)]
struct BlockedLists {
    by_state: HashMap<(BanState, TextState), Arc<[u32]>>,
    lists: HashSet<Arc<[u32]>>,
}

/// How far a hypothesis has come in the phrases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct BanState {
    node: u32,
    /// The marks of the last letter, which the node has not read.
    marks: Marks,
}

impl Default for BanState {
    fn default() -> Self {
        Self { node: ROOT, marks: Marks::default() }
    }
}

impl AvoidPhrases {
    /// Compiles phrases.
    ///
    /// # Errors
    /// When a phrase has no visible letter.
    pub fn new<S: AsRef<str>>(
        vocabulary: Arc<Vocabulary>,
        phrases: impl IntoIterator<Item = S>,
    ) -> Result<Self, DecodeError> {
        let list = PhraseList::new(phrases)?;
        let automaton = Automaton::new(list.phrases.keys());
        let mut avoid =
            Self { vocabulary, automaton, list, inside: Vec::new(), blocked: Mutex::default() };
        avoid.inside = avoid.find_inside();
        Ok(avoid)
    }

    /// The phrases that occur in a text as whole words, case folded, in no particular order.
    ///
    /// Compares words with words, without the automaton: the check on finished texts.
    #[must_use]
    pub fn violations(&self, text: &str) -> Vec<&str> {
        self.list.violations(text)
    }

    /// Where the phrases begin that [`violations`](Self::violations) finds: bytes of the text,
    /// ascending.
    #[must_use]
    pub fn places(&self, text: &str) -> Vec<usize> {
        self.list.places(text)
    }

    /// The phrases that are one word, in folded letters.
    pub(super) fn words(&self) -> impl Iterator<Item = Vec<char>> {
        self.list.phrases.keys().filter_map(|symbols| match symbols.as_slice() {
            [BOUNDARY, letters @ .., BOUNDARY] => {
                let letters = letters.iter().map(|&letter| char::from_u32(letter));
                letters.map(|letter| letter.filter(|&l| letters::is_word_letter(l))).collect()
            }
            _ => None,
        })
    }

    /// The vocabulary it was compiled for.
    pub(super) fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
    }

    /// The state after reading a symbol.
    pub(super) fn next(&self, state: BanState, symbol: u32) -> BanState {
        self.step(state, symbol, &mut false)
    }

    /// The state after reading a symbol; notes whether a phrase was completed.
    fn step(&self, state: BanState, symbol: u32, completed: &mut bool) -> BanState {
        let mut node = state.node;
        let marks = state.marks.read(symbol, |symbol| {
            node = self.automaton.next(node, symbol);
            *completed |= self.automaton.accepts(node);
        });
        BanState { node, marks }
    }

    /// Whether the text may end here.
    pub(super) fn may_end(&self, state: BanState, text: TextState) -> bool {
        // A phrase that ends in a word ends with a boundary, any other is complete already.
        let mut completed = self.automaton.accepts(state.node);
        let mut last = state;
        text.after.end(|symbol| last = self.step(last, symbol, &mut completed));
        text.is_complete() && !completed
    }

    /// Tokens that may not come next, ascending.
    pub(super) fn blocked(&self, state: BanState, text: TextState) -> Arc<[u32]> {
        let mut known = self.blocked.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(blocked) = known.by_state.get(&(state, text)) {
            return Arc::clone(blocked);
        }
        let found = self.find_blocked(state, text);
        let list = match known.lists.get(found.as_slice()) {
            Some(list) => Arc::clone(list),
            None => found.into(),
        };
        known.lists.insert(Arc::clone(&list));
        known.by_state.insert((state, text), Arc::clone(&list));
        list
    }

    fn find_blocked(&self, state: BanState, text: TextState) -> Vec<u32> {
        let mut blocked: Vec<u32> = if text.is_complete() {
            let mut blocked = self.inside.clone();
            for node in self.automaton.suffixes(state.node) {
                self.follow(BanState { node, ..state }, TOP, text.after, &mut blocked);
            }
            blocked
        } else {
            // Inside a letter only a fragment can go on.
            let fragments = self.vocabulary.fragments();
            self.vocabulary.visible().filter(|id| fragments.binary_search(id).is_err()).collect()
        };
        let fragments = self.vocabulary.fragments().iter().copied();
        blocked.extend(fragments.filter(|&token| !self.allows(state, text, token)));
        self.ascending(&blocked)
    }

    /// Tokens in order, each once. They may be half of the vocabulary: marking them and passing
    /// over all of it takes a tenth of a sort.
    fn ascending(&self, tokens: &[u32]) -> Vec<u32> {
        let mut is_in = vec![false; self.vocabulary.len()];
        for &token in tokens {
            is_in[token as usize] = true;
        }
        (0..).zip(is_in).filter_map(|(token, is_in)| is_in.then_some(token)).collect()
    }

    /// Whether a token may come next, by reading it: it completes no phrase, and a letter that it
    /// begins can end.
    fn allows(&self, state: BanState, text: TextState, token: u32) -> bool {
        let Some((state, text)) = self.read(state, text, token) else { return false };
        if text.is_complete() {
            return true;
        }
        let ways = self.vocabulary.ways_on(text.begun());
        let ends_a_phrase = text.after == After::Word && self.completes(state, BOUNDARY);
        if ends_a_phrase && !ways.may_join_a_word {
            return false;
        }
        ways.letters.iter().any(|&letter| self.allows_letter(state, text.after, letter))
            || self.goes_on(state, text, LONGEST_LETTER - 1)
    }

    /// The place after a token, if it completes no phrase.
    fn read(&self, state: BanState, text: TextState, token: u32) -> Option<(BanState, TextState)> {
        let mut at = state;
        let mut completed = false;
        let read = self.vocabulary.read(text, token, |symbol| {
            at = self.step(at, symbol, &mut completed);
        });
        read.ok().filter(|_| !completed).map(|text| (at, text))
    }

    fn completes(&self, state: BanState, symbol: u32) -> bool {
        let mut completed = false;
        self.step(state, symbol, &mut completed);
        completed
    }

    fn allows_letter(&self, state: BanState, after: After, letter: char) -> bool {
        let (mut at, mut after) = (state, after);
        let mut completed = false;
        for folded in letters::fold(letter) {
            after = after.read(folded, |symbol| at = self.step(at, symbol, &mut completed));
        }
        !completed
    }

    /// Whether a letter that was begun can end within so many tokens.
    fn goes_on(&self, state: BanState, text: TextState, tokens: usize) -> bool {
        tokens > 0
            && self.vocabulary.fragments().iter().any(|&token| {
                self.read(state, text, token).is_some_and(|(at, text)| {
                    text.is_complete() || self.goes_on(at, text, tokens - 1)
                })
            })
    }

    /// Tokens that contain a phrase which begins inside them.
    fn find_inside(&self) -> Vec<u32> {
        let mut blocked = Vec::new();
        let mut begin = |letter: char, phrase: u32| {
            let after = After::default().read(letter, |_| ());
            let begun = BanState { node: phrase, ..BanState::default() };
            for &node in self.vocabulary.inner_starts(letter) {
                if self.automaton.ends(phrase) {
                    blocked.extend_from_slice(self.vocabulary.below(node));
                } else {
                    self.follow(begun, node, after, &mut blocked);
                }
            }
        };
        for &(symbol, phrase) in self.automaton.edges(ROOT) {
            if symbol == BOUNDARY {
                for &(letter, phrase) in self.automaton.edges(phrase) {
                    begin(to_letter(letter), phrase);
                }
            } else {
                begin(to_letter(symbol), phrase);
            }
        }
        self.ascending(&blocked)
    }

    /// Adds the tokens below `node` of the vocabulary that complete a phrase from `state`, without
    /// falling back.
    fn follow(&self, state: BanState, node: u32, after: After, blocked: &mut Vec<u32>) {
        for &(letter, child) in self.vocabulary.edges(node) {
            let (mut at, mut marks) = (Some(state.node), state.marks);
            let mut completed = false;
            let after = after.read(letter, |symbol| {
                marks = marks.read(symbol, |symbol| {
                    at = at.and_then(|phrase| self.edge(phrase, symbol));
                    completed |= at.is_some_and(|phrase| self.automaton.ends(phrase));
                });
            });
            if completed {
                blocked.extend_from_slice(self.vocabulary.below(child));
            } else if let Some(node) = at {
                self.follow(BanState { node, marks }, child, after, blocked);
            }
        }
    }

    /// The node after a symbol, without falling back. Before a phrase begins, the sign before it
    /// may get its marks.
    fn edge(&self, node: u32, symbol: u32) -> Option<u32> {
        if node == ROOT && symbol == MARKED {
            Some(ROOT)
        } else {
            self.automaton.edge(node, symbol)
        }
    }
}

fn to_letter(symbol: u32) -> char {
    char::from_u32(symbol).expect("a symbol that is no boundary is a letter")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SURFACES: [&[u8]; 24] = [
        b"",
        b" con",
        b"con",
        b"firm",
        b"fi",
        b"rm",
        b"ation",
        b"s",
        b" it",
        b".",
        b" ",
        b"'",
        b" take",
        b" place",
        b" con firm",
        b" Confirm",
        b"C",
        b"o",
        b"n",
        b"\xc3",
        b"\xa9",
        b"-",
        b" caf",
        b"x con",
    ];

    fn avoid(phrases: &[&str]) -> AvoidPhrases {
        AvoidPhrases::new(Arc::new(Vocabulary::new(SURFACES)), phrases).unwrap()
    }

    fn id(surface: &str) -> u32 {
        let at = SURFACES.iter().position(|s| *s == surface.as_bytes());
        u32::try_from(at.unwrap()).unwrap()
    }

    /// State after tokens that were allowed one by one.
    fn after(avoid: &AvoidPhrases, tokens: &[&str]) -> (BanState, TextState) {
        let mut node = BanState::default();
        let mut text = TextState::default();
        for token in tokens {
            assert!(!avoid.blocked(node, text).contains(&id(token)), "{token:?} is blocked");
            let read = avoid.vocabulary.read(text, id(token), |s| node = avoid.next(node, s));
            text = read.unwrap();
        }
        (node, text)
    }

    fn blocks(avoid: &AvoidPhrases, tokens: &[&str], next: &str) -> bool {
        let (node, text) = after(avoid, tokens);
        avoid.blocked(node, text).contains(&id(next))
    }

    fn may_end(avoid: &AvoidPhrases, tokens: &[&str]) -> bool {
        let (node, text) = after(avoid, tokens);
        avoid.may_end(node, text)
    }

    #[test]
    fn a_word_is_complete_only_when_no_word_letter_follows() {
        let avoid = avoid(&["confirm"]);
        assert!(!blocks(&avoid, &[" con"], "firm"));
        assert!(!blocks(&avoid, &[" con", "firm"], "ation"));
        for next in [" it", ".", " ", "'", "-"] {
            assert!(blocks(&avoid, &[" con", "firm"], next), "{next:?}");
        }
        assert!(!may_end(&avoid, &[" con", "firm"]));
        assert!(may_end(&avoid, &[" con", "firm", "ation"]));
    }

    #[test]
    fn every_segmentation_and_case_is_covered() {
        let avoid = avoid(&["confirm"]);
        for tokens in [
            &[" con", "fi", "rm"][..],
            &[" ", "C", "o", "n", "firm"],
            &["con", "firm"],
            &[" Confirm"],
            &[" it", ".", "con", "firm"],
        ] {
            assert!(blocks(&avoid, tokens, " it"), "{tokens:?}");
            assert!(!may_end(&avoid, tokens), "{tokens:?}");
        }
    }

    #[test]
    fn a_word_inside_a_word_is_another_word() {
        let avoid = avoid(&["firm", "con"]);
        assert!(may_end(&avoid, &[" con", "firm"]));
        assert!(!may_end(&avoid, &[" it", ".", "firm"]));
        assert!(may_end(&avoid, &[" con", "s"]));
    }

    #[test]
    fn a_phrase_of_several_words_bans_only_their_sequence() {
        let avoid = avoid(&["take place"]);
        assert!(may_end(&avoid, &[" take"]));
        assert!(!blocks(&avoid, &[" take"], " place"));
        assert!(!may_end(&avoid, &[" take", " place"]));
        assert!(!may_end(&avoid, &[" take", " ", " ", " place"]));
        assert!(may_end(&avoid, &[" take", " it", " place"]));
    }

    #[test]
    fn overlapping_phrases_are_all_blocked() {
        let avoid = avoid(&["con it con", "it take"]);
        assert!(!may_end(&avoid, &[" con", " it", " take"]));
        let avoid = self::avoid(&["con con it"]);
        assert!(!may_end(&avoid, &[" con", " con", " con", " it"]));
    }

    #[test]
    fn a_token_that_contains_a_banned_word_is_blocked_everywhere() {
        let avoid = avoid(&["con"]);
        assert!(blocks(&avoid, &[], " con firm"));
        assert!(blocks(&avoid, &[" it"], " con firm"));
        let avoid = self::avoid(&["x"]);
        assert!(blocks(&avoid, &[], "x con"));
        assert!(!blocks(&avoid, &[" con"], "x con"));
    }

    #[test]
    fn a_phrase_of_other_letters_needs_no_boundary() {
        let avoid = avoid(&["'s", "."]);
        assert!(blocks(&avoid, &[" it"], "."));
        assert!(!may_end(&avoid, &[" it", "'", "s"]));
        assert!(may_end(&avoid, &[" it", "'"]));
    }

    #[test]
    fn a_letter_spelled_in_bytes_counts_and_broken_letters_are_blocked() {
        let two_bytes: Vec<u8> = vec![0xc3];
        let byte = u32::try_from(SURFACES.iter().position(|s| **s == two_bytes).unwrap()).unwrap();
        let avoid = avoid(&["caf\u{e9}"]);
        let (node, text) = after(&avoid, &[" caf"]);
        assert!(!avoid.blocked(node, text).contains(&byte));
        let mut next = node;
        let half = avoid.vocabulary.read(text, byte, |s| next = avoid.next(next, s)).unwrap();
        let blocked = avoid.blocked(next, half);
        assert!(blocked.contains(&id(" it")) && !blocked.contains(&(byte + 1)));
        assert!(!avoid.may_end(next, half));
        let whole = avoid.vocabulary.read(half, byte + 1, |s| next = avoid.next(next, s)).unwrap();
        assert!(!avoid.may_end(next, whole));
        assert!(avoid.blocked(next, whole).contains(&id(" it")));
        assert!(!avoid.blocked(next, whole).contains(&id("s")));
    }

    #[test]
    fn a_byte_that_begins_only_banned_letters_is_blocked() {
        // The byte `ee` begins U+E000 to U+EFFF, for private use: none is a letter of a word.
        let surfaces = [&b" cafe"[..], b"\xee", b"\x80", b"\x81", b"\xc3", b"\xa9", b"s"];
        let avoid = AvoidPhrases::new(Arc::new(Vocabulary::new(surfaces)), ["cafe"]).unwrap();
        let mut node = BanState::default();
        let mut text = TextState::default();
        let mut read = |token| {
            let read = avoid.vocabulary.read(text, token, |symbol| node = avoid.next(node, symbol));
            text = read.unwrap();
            avoid.blocked(node, text)
        };
        let banned = read(0);
        let begins = [1, 4].map(|byte| banned.contains(&byte));
        assert_eq!(begins, [true, false], "`\u{e9}` would go on with the word");
        assert!(!read(6).contains(&1), "`cafes` may end");
    }

    #[test]
    fn special_tokens_hide_nothing() {
        let avoid = avoid(&["confirm"]);
        assert!(blocks(&avoid, &[" con", "", "firm", ""], " it"));
        assert!(!blocks(&avoid, &[" con", "firm"], ""));
    }

    #[test]
    fn a_phrase_without_letters_is_refused() {
        let vocabulary = Arc::new(Vocabulary::new(SURFACES));
        for phrase in ["", "  ", "\u{ad}"] {
            let error = AvoidPhrases::new(Arc::clone(&vocabulary), [phrase]).unwrap_err();
            assert!(matches!(error, DecodeError::EmptyPhrase { .. }), "{error}");
        }
    }

    /// Whole words of lower-case ASCII, found without symbols: by looking at the letters around.
    fn naive(text: &str, phrase: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        let phrase: Vec<char> = phrase.chars().collect();
        let cuts = |at: usize| {
            at == 0
                || at == text.len()
                || text[at - 1].is_alphanumeric() != text[at].is_alphanumeric()
        };
        (0..=text.len().saturating_sub(phrase.len())).any(|at| {
            let end = at + phrase.len();
            text.get(at..end) == Some(&phrase[..])
                && (!phrase[0].is_alphanumeric() || cuts(at))
                && (!phrase[phrase.len() - 1].is_alphanumeric() || cuts(end))
        })
    }

    proptest! {
        /// The law of this file: a string is spelled by allowed tokens with an allowed end if and
        /// only if no banned phrase occurs in it.
        #[test]
        fn tokens_are_allowed_exactly_when_no_phrase_occurs(
            phrases in prop::collection::vec("[ab.]( ?[ab.]){0,3}", 1..4),
            pieces in prop::collection::vec("[ab.]{1,2}| [ab.]{0,2}", 1..7),
        ) {
            let mut surfaces: Vec<String> = pieces.clone();
            surfaces.extend(["a", "b", ".", " a", " b", "ab", " ."].map(str::to_owned));
            let vocabulary = Arc::new(Vocabulary::new(surfaces.iter().map(|s| s.as_bytes())));
            let avoid = AvoidPhrases::new(vocabulary, &phrases).unwrap();
            let (mut node, mut text, mut written) = (BanState::default(), TextState::default(), String::new());
            let mut leaked = false;
            for token in 0..u32::try_from(pieces.len()).unwrap() {
                leaked |= avoid.blocked(node, text).contains(&token);
                written.push_str(&pieces[token as usize]);
                text = avoid.vocabulary.read(text, token, |s| node = avoid.next(node, s)).unwrap();
            }
            leaked |= !avoid.may_end(node, text);
            let words: Vec<&str> = written.split(' ').filter(|word| !word.is_empty()).collect();
            let collapsed = words.join(" ");
            let occurs = phrases.iter().any(|phrase| naive(&collapsed, phrase));
            prop_assert_eq!(leaked, occurs, "{:?} in {:?}", phrases, written);
            prop_assert_eq!(!avoid.violations(&written).is_empty(), occurs);
        }

        #[test]
        fn a_letter_that_is_begun_may_come_where_some_letter_of_it_may(
            phrases in prop::collection::vec("[a\u{e9}\u{2019}\u{201c}.][a\u{301}\u{e0100}.]{0,2}", 1..6),
            bytes in prop::sample::subsequence(
                b"\xc3\xa9\xa8\xe2\x80\x99\x9c\xe2\xf3\xa0\x84\xcc\x81\xee".to_vec(), 1..13),
            before in "[a\u{e9}. ]{0,4}",
        ) {
            let surfaces: Vec<[u8; 1]> = bytes.iter().map(|&byte| [byte]).collect();
            let vocabulary = Arc::new(Vocabulary::new(surfaces.iter().map(<[u8; 1]>::as_slice)));
            let avoid = AvoidPhrases::new(vocabulary, &phrases).unwrap();
            let mut node = BanState::default();
            let text = TextState::default().read(before.as_bytes(), |s| node = avoid.next(node, s));
            let text = text.unwrap();
            for token in avoid.vocabulary.visible() {
                let by_search = avoid.read(node, text, token).is_some_and(|(at, text)| {
                    text.is_complete() || avoid.goes_on(at, text, LONGEST_LETTER - 1)
                });
                prop_assert_eq!(avoid.allows(node, text, token), by_search, "{:?}", phrases);
            }
        }

        #[test]
        fn the_search_through_the_vocabulary_agrees_with_reading_every_token(
            phrases in prop::collection::vec("[ab'](  ?[ab']|[ab']){0,3}", 1..5),
            surfaces in prop::collection::vec("[abA' ]{1,5}", 1..20),
            before in "[ab' ]{0,6}",
        ) {
            let vocabulary = Arc::new(Vocabulary::new(surfaces.iter().map(|s| s.as_bytes())));
            let avoid = AvoidPhrases::new(vocabulary, &phrases).unwrap();
            let mut node = BanState::default();
            let text = TextState::default().read(before.as_bytes(), |s| node = avoid.next(node, s));
            let text = text.unwrap();
            let blocked = avoid.blocked(node, text);
            for token in avoid.vocabulary.visible() {
                prop_assert_eq!(blocked.contains(&token), !avoid.allows(node, text, token));
            }
        }
    }
}
