//! Outputs of known words only: which tokens would spell a word that nobody knows.
//!
//! A rewriter writes pieces of words. A small one joins them to words that do not exist, most of
//! all where its first choice is banned. [`KnownWords`] lets a word continue only as the beginning
//! of a known one and end only as a whole one. Known are the words of a [`WordList`], which many
//! sentences share, and those of this sentence: its names, numbers and rare words.
//!
//! A word that is banned is not known. A beginning that leads to banned words alone is blocked from
//! its first letter on.
//!
//! Words are runs of word letters (`letters.rs`), so `don't` is `don` and `t`, and are read with
//! case folded. What is no word letter is free. A word whose marks come in another order than
//! Unicode's is the same word in a finished text; the decoder writes it in Unicode's order only.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::letters::{self, After, BOUNDARY, TextState};
use super::phrases::AvoidPhrases;
use super::trie::{TOP, Trie};
use super::vocabulary::Vocabulary;
use crate::text::composed;

/// A list of words, compiled for one vocabulary.
#[derive(Debug)]
pub struct WordList {
    vocabulary: Arc<Vocabulary>,
    words: Words,
    /// Every token that adds something to a text, ascending.
    visible: Vec<u32>,
}

/// Words that an output may hold: those of a list and some of its own.
///
/// What is blocked is nearly the whole vocabulary, and another set at every place inside a word. So
/// it is not kept but made: from what is blocked after any word, or from everything, less the few
/// tokens that continue.
#[derive(Debug)]
pub struct KnownWords {
    list: Arc<WordList>,
    own: Words,
    /// Words of the list, and of its own, that are banned: their places, ascending.
    banned: [Vec<usize>; 2],
    /// Tokens that add something to a text, less those that may follow any whole word. Ascending.
    after_words: OnceLock<Vec<u32>>,
    going_on: Mutex<TokensByPlace>,
}

/// How far a hypothesis' last word has come: in the list, and among the sentence's own words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct WordState {
    list: Option<TrieNode>,
    own: Option<TrieNode>,
    /// Inside a word. Outside of all, both places are `None`.
    is_inside: bool,
}

/// Ascending tokens by the place in a word and in a letter.
type TokensByPlace = HashMap<(WordState, TextState), Arc<[u32]>>;

/// A node of a trie, which is never its top.
type TrieNode = std::num::NonZeroU32;

impl WordList {
    /// Compiles words; of an entry with several runs of word letters each is one. Entries without a
    /// word letter add nothing.
    #[must_use]
    pub fn new<S: AsRef<str>>(
        vocabulary: Arc<Vocabulary>,
        words: impl IntoIterator<Item = S>,
    ) -> Self {
        let visible = vocabulary.visible().collect();
        Self { vocabulary, words: Words::new(words), visible }
    }

    /// Number of different words.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.count
    }

    /// Whether a text holds words of the list and no others.
    #[must_use]
    pub fn holds(&self, text: &str) -> bool {
        runs(text).iter().all(|word| self.words.place(word).is_some())
    }

    /// Whether there is no word.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl KnownWords {
    /// The words of a list and all words of `texts`: of a source, and of what is required.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use fnstore::engine::{Constraint, KnownWords, Vocabulary, WordList};
    ///
    /// // Surfaces of the tokens 0 (the end), 1 to 4.
    /// let vocabulary = Arc::new(Vocabulary::new([&b""[..], b" quick", b"ly", b"ened", b" Kyiv"]));
    /// let list = Arc::new(WordList::new(vocabulary, ["quick", "quickly"]));
    /// let constraint = Constraint {
    ///     known: Some(Arc::new(KnownWords::new(Arc::clone(&list), ["Kyiv"]))),
    ///     ..Constraint::default()
    /// };
    /// assert!(constraint.blocked(constraint.start(0), 0).is_some_and(|b| *b.tokens == [2, 3]));
    ///
    /// let quickly = constraint.advance(constraint.advance(constraint.start(0), 1), 2);
    /// assert!(constraint.blocked(quickly, 0).is_some_and(|b| *b.tokens == [2, 3]));
    /// # Ok::<(), fnstore::engine::DecodeError>(())
    /// ```
    #[must_use]
    pub fn new<S: AsRef<str>>(list: Arc<WordList>, texts: impl IntoIterator<Item = S>) -> Self {
        let (after_words, going_on) = (OnceLock::new(), Mutex::default());
        Self { list, own: Words::new(texts), banned: [vec![], vec![]], after_words, going_on }
    }

    /// These words without those that are banned by themselves.
    #[must_use]
    pub fn without_banned(self, avoid: &AvoidPhrases) -> Self {
        let [mut of_list, mut of_own] = self.banned;
        for word in avoid.words() {
            of_list.extend(self.list.words.place(&word));
            of_own.extend(self.own.place(&word));
        }
        for banned in [&mut of_list, &mut of_own] {
            banned.sort_unstable();
            banned.dedup();
        }
        // What was learned holds no more.
        Self {
            banned: [of_list, of_own],
            after_words: OnceLock::new(),
            going_on: Mutex::default(),
            ..self
        }
    }

    /// The words of a text that are not known, banned or not, case folded, in order of text.
    #[must_use]
    pub fn unknown(&self, text: &str) -> Vec<String> {
        let is_known = |word: &Vec<char>| {
            [&self.list.words, &self.own].iter().any(|w| w.place(word).is_some())
        };
        let unknown = runs(text).into_iter().filter(|word| !is_known(word));
        unknown.map(|word| composed(&String::from_iter(word)).into_owned()).collect()
    }

    /// The vocabulary that it was compiled for.
    pub(super) fn vocabulary(&self) -> &Vocabulary {
        &self.list.vocabulary
    }

    /// The state after reading a symbol; `None` after one that makes an unknown word of the word
    /// before it.
    pub(super) fn next(&self, state: WordState, symbol: u32) -> Option<WordState> {
        if symbol == BOUNDARY {
            return self.may_end(state).then(WordState::default);
        }
        let letter = char::from_u32(symbol).filter(|letter| letters::is_word_letter(*letter));
        let Some(letter) = letter else { return Some(state) };
        let step = |words: &Words, banned: &[usize], node: Option<TrieNode>| {
            if state.is_inside && node.is_none() {
                return None;
            }
            let node = words.trie.child(node.map_or(TOP, TrieNode::get), letter)?;
            leaves_some(words.trie.below(node), banned).then(|| TrieNode::new(node)).flatten()
        };
        let [of_list, of_own] = &self.banned;
        let list = step(&self.list.words, of_list, state.list);
        let own = step(&self.own, of_own, state.own);
        (list.is_some() || own.is_some()).then_some(WordState { list, own, is_inside: true })
    }

    /// The state after a symbol that was not asked about: an unknown word may end anywhere.
    pub(super) fn next_or_unknown(&self, state: WordState, symbol: u32) -> WordState {
        let unknown = match symbol {
            BOUNDARY => WordState::default(),
            _ => WordState { list: None, own: None, is_inside: true },
        };
        self.next(state, symbol).unwrap_or(unknown)
    }

    /// Whether a word that is under way may end here, or none is.
    fn may_end(&self, state: WordState) -> bool {
        let ends = |words: &Words, banned: &[usize], node: Option<TrieNode>| {
            node.is_some_and(|node| leaves_some(words.trie.exactly(node.get()), banned))
        };
        let is_unknown = state.list.is_none() && state.own.is_none();
        let [of_list, of_own] = &self.banned;
        is_unknown
            || ends(&self.list.words, of_list, state.list)
            || ends(&self.own, of_own, state.own)
    }

    /// Whether the text may end here.
    pub(super) fn may_be_cut(&self, state: WordState, text: TextState) -> bool {
        text.is_complete() && self.may_end(state)
    }

    /// Tokens that may not come next, ascending.
    pub(super) fn blocked(&self, state: WordState, text: TextState) -> Vec<u32> {
        let may_end = text.is_complete() && self.may_end(state);
        let most = if may_end { self.after_words() } else { &self.list.visible };
        without(most, &self.going_on(state, text))
    }

    /// Tokens that add to a text, less those that begin outside of words and may stand there.
    fn after_words(&self) -> &[u32] {
        self.after_words.get_or_init(|| {
            let mut free = Vec::new();
            for edge in self.vocabulary().edges(TOP) {
                if !letters::is_word_letter(edge.0) {
                    self.follow(edge, WordState::default(), After::Other, &mut free);
                }
            }
            free.sort_unstable();
            without(&self.list.visible, &free)
        })
    }

    /// Tokens that go on with a word, or with a letter; ascending.
    fn going_on(&self, state: WordState, text: TextState) -> Arc<[u32]> {
        let known = || self.going_on.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tokens) = known().get(&(state, text)) {
            return Arc::clone(tokens);
        }
        let mut tokens = Vec::new();
        if text.is_complete() {
            for edge in self.vocabulary().edges(TOP) {
                if letters::is_word_letter(edge.0) {
                    self.follow(edge, state, text.after, &mut tokens);
                }
            }
            tokens.extend_from_slice(self.vocabulary().exactly(TOP));
        }
        let fragments = self.vocabulary().fragments().iter().copied();
        tokens.extend(fragments.filter(|&token| self.allows(state, text, token)));
        tokens.sort_unstable();
        let tokens: Arc<[u32]> = tokens.into();
        known().insert((state, text), Arc::clone(&tokens));
        tokens
    }

    /// Adds the tokens beyond an edge of the vocabulary that spell nothing unknown.
    fn follow(
        &self,
        &(letter, node): &(char, u32),
        state: WordState,
        after: After,
        allowed: &mut Vec<u32>,
    ) {
        let mut at = Some(state);
        let after = after.read(letter, |symbol| {
            at = at.and_then(|state| self.next(state, symbol));
        });
        let Some(state) = at else { return };
        allowed.extend_from_slice(self.vocabulary().exactly(node));
        for edge in self.vocabulary().edges(node) {
            self.follow(edge, state, after, allowed);
        }
    }

    /// Whether a token may come next, by reading it.
    fn allows(&self, state: WordState, text: TextState, token: u32) -> bool {
        let mut at = Some(state);
        let read = self.vocabulary().read(text, token, |symbol| {
            at = at.and_then(|state| self.next(state, symbol));
        });
        read.is_ok() && at.is_some()
    }
}

/// The tokens of one ascending list that are not in another; copied in pieces.
fn without(tokens: &[u32], less: &[u32]) -> Vec<u32> {
    let (mut left, mut rest) = (Vec::with_capacity(tokens.len()), tokens);
    for token in less {
        let smaller = rest.partition_point(|other| other < token);
        left.extend_from_slice(&rest[..smaller]);
        rest = &rest[smaller..];
        rest = rest.strip_prefix(std::slice::from_ref(token)).unwrap_or(rest);
    }
    left.extend_from_slice(rest);
    left
}

/// Words as a trie of folded letters.
#[derive(Debug)]
struct Words {
    trie: Trie,
    count: usize,
}

impl Words {
    fn new<S: AsRef<str>>(texts: impl IntoIterator<Item = S>) -> Self {
        let mut words: Vec<Vec<char>> =
            texts.into_iter().flat_map(|text| runs(text.as_ref())).collect();
        words.sort_unstable();
        words.dedup();
        Self { trie: Trie::new(&words), count: words.len() }
    }

    /// The place of a word among them, in ascending order.
    fn place(&self, word: &[char]) -> Option<usize> {
        let end = word.iter().try_fold(TOP, |node, &letter| self.trie.child(node, letter));
        end.and_then(|node| self.trie.exactly(node).next())
    }
}

/// Whether some of these places are not banned; `banned` is ascending.
fn leaves_some(places: Range<usize>, banned: &[usize]) -> bool {
    let before = |place| banned.partition_point(|&other| other < place);
    before(places.end) - before(places.start) < places.len()
}

/// The runs of word letters in a text, folded, with marks in Unicode's order.
fn runs(text: &str) -> Vec<Vec<char>> {
    let symbols = letters::symbols(text);
    // A word stands between two boundaries, and what is none before, between and after words.
    let runs = symbols.split(|&symbol| symbol == BOUNDARY).skip(1).step_by(2);
    runs.map(|run| run.iter().filter_map(|&letter| char::from_u32(letter)).collect()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Constraint;
    use super::*;

    const SURFACES: [&[u8]; 16] = [
        b"", b" a", b"b", b"c", b" ab c", b"'", b" ", b" A", b"C", b"\xc3", b"\xa9", b".", b"bc",
        b" b-", b"7", b"\xff",
    ];

    fn constraint(list: &[&str], own: &[&str]) -> Constraint {
        let list = Arc::new(WordList::new(Arc::new(Vocabulary::new(SURFACES)), list));
        let known = KnownWords::new(list, own);
        Constraint { known: Some(Arc::new(known)), ..Constraint::default() }
    }

    fn id(surface: &str) -> u32 {
        let at = SURFACES.iter().position(|s| *s == surface.as_bytes()).unwrap();
        u32::try_from(at).unwrap()
    }

    /// Whether every token is allowed after those before it, and the end after the last.
    fn says(constraint: &Constraint, tokens: &[&str]) -> bool {
        let mut state = constraint.start(0);
        for token in tokens {
            let blocked = constraint.blocked(state, 0);
            if blocked.is_some_and(|blocked| blocked.tokens.contains(&id(token))) {
                return false;
            }
            state = constraint.advance(state, id(token));
        }
        constraint.blocked(state, 0).is_none_or(|blocked| blocked.may_end)
    }

    #[test]
    fn a_word_is_known_however_it_is_cut() {
        let constraint = constraint(&["ab", "abc"], &[]);
        assert!(says(&constraint, &[" a", "b"]) && says(&constraint, &[" A", "bc"]));
        assert!(says(&constraint, &[" a", "b", "C", ".", " a", "b"]));
        assert!(!says(&constraint, &[" a", "c"]) && !says(&constraint, &[" ab c"]));
        assert!(!says(&constraint, &["bc"]));
    }

    #[test]
    fn a_beginning_of_a_word_is_no_word() {
        let constraint = constraint(&["abc", "b"], &[]);
        assert!(!says(&constraint, &[" a", "b"]), "the end");
        assert!(!says(&constraint, &[" a", "b", "."]), "a mark");
        assert!(!says(&constraint, &[" a", "b", " b-"]), "the next word");
        assert!(says(&constraint, &[" b-", "b", "'", "b"]));
    }

    #[test]
    fn words_of_its_own_are_known_to_one_output() {
        assert!(!says(&constraint(&["ab"], &[]), &[" a", "7"]));
        assert!(!says(&constraint(&["ab"], &["it is A7, AC"]), &[" a", "7", " ", "C"]));
        assert!(says(&constraint(&["ab"], &["it is A7, AC"]), &[" a", "7", " A", "C"]));
    }

    #[test]
    fn a_beginning_that_leads_to_banned_words_alone_is_blocked() {
        let vocabulary = Arc::new(Vocabulary::new(SURFACES));
        let list = Arc::new(WordList::new(Arc::clone(&vocabulary), ["ab", "abc", "cb"]));
        let avoid = Arc::new(AvoidPhrases::new(vocabulary, ["AB", "cb", "b c"]).unwrap());
        let known = KnownWords::new(list, ["7b"]).without_banned(&avoid);
        let constraint =
            Constraint { known: Some(Arc::new(known)), here: Some(avoid), ..Constraint::default() };
        assert!(says(&constraint, &[" a", "b", "c"]) && says(&constraint, &["7", "b"]));
        assert!(!says(&constraint, &[" a", "b"]));
        assert!(constraint.blocked(constraint.start(0), 0).unwrap().tokens.contains(&id("c")));
    }

    #[test]
    fn letters_that_arrive_byte_by_byte_are_read() {
        let constraint = constraint(&["a\u{e9}"], &[]);
        let mut state = constraint.start(0);
        for token in [id(" a"), 9, 10] {
            let blocked = constraint.blocked(state, 0).unwrap();
            assert!(!blocked.tokens.contains(&token), "{token}");
            state = constraint.advance(state, token);
        }
        assert!(constraint.blocked(state, 0).unwrap().may_end);
        assert!(constraint.blocked(constraint.start(0), 0).unwrap().tokens.contains(&15));
    }

    #[test]
    fn after_an_unknown_word_that_was_forced_known_ones_may_follow() {
        let constraint = constraint(&["ab"], &[]);
        let mut state = constraint.start(0);
        for token in ["c", "c"] {
            state = constraint.advance(state, id(token));
        }
        let blocked = constraint.blocked(state, 0).unwrap();
        assert!(blocked.may_end && blocked.tokens.contains(&id("c")));
        assert!(!blocked.tokens.contains(&id(" a")));
    }

    proptest! {
        #[test]
        fn what_is_allowed_token_by_token_holds_known_words_and_the_rest_does_not(
            list in prop::collection::vec("[abc]{1,3}", 0..6),
            own in "[abc7 ]{0,6}",
            tokens in prop::collection::vec(1u32..9, 0..7),
        ) {
            let list: Vec<&str> = list.iter().map(String::as_str).collect();
            let constraint = constraint(&list, &[&own]);
            let known = constraint.known.as_ref().unwrap();
            let spelled: Vec<u8> =
                tokens.iter().flat_map(|&token| SURFACES[token as usize]).copied().collect();
            let text = String::from_utf8(spelled).unwrap();
            let tokens: Vec<&str> = tokens
                .iter()
                .map(|&token| std::str::from_utf8(SURFACES[token as usize]).unwrap())
                .collect();
            prop_assert_eq!(says(&constraint, &tokens), known.unknown(&text).is_empty(), "{}", text);
        }
    }
}
