//! What every token spells, as a trie of folded letters.
//!
//! Which tokens a set of banned words blocks is a question to the whole vocabulary. The trie
//! answers it for thousands of tokens at once. Where a banned word is completed, everything below
//! is blocked. Where no banned word can begin, nothing below is looked at. Tokens lie in the trie's
//! order, so "everything below" is one slice.
//!
//! Tokens whose bytes are not UTF-8 by themselves (byte pieces, cut letters) are kept apart as
//! *fragments*; there are a few hundred at most and each is tried by itself. One that begins a
//! letter leads on to thousands, so a few of them are kept as [`WaysOn`] and tried first.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use super::letters::{self, After, TextState};
use super::trie::{TOP, Trie};
use crate::text::is_combining_mark;

/// The surfaces of all tokens of a tokenizer, prepared for [`AvoidPhrases`](super::AvoidPhrases).
///
/// One vocabulary serves every sentence.
#[derive(Debug)]
pub struct Vocabulary {
    surfaces: Vec<Box<[u8]>>,
    trie: Trie,
    /// Token ids in the trie's order.
    order: Vec<u32>,
    /// Nodes at which a phrase may begin whatever came before, by the letter that leads to them.
    inner_starts: HashMap<char, Vec<u32>>,
    fragments: Vec<u32>,
    /// Folded letters of all tokens.
    letters: HashSet<char>,
    /// Bytes that are tokens by themselves.
    bytes: HashSet<u8>,
    ways_on: Mutex<HashMap<Vec<u8>, Arc<WaysOn>>>,
}

/// What bytes that begin a letter can become.
#[derive(Debug)]
pub(super) struct WaysOn {
    /// Some of the letters that tokens of one byte can complete, of either kind.
    pub(super) letters: Vec<char>,
    /// Whether any letter of these first bytes belongs to a word or prints nothing.
    pub(super) may_join_a_word: bool,
}

/// Letters of each kind that are kept as ways on.
const WAYS: usize = 8;

impl Vocabulary {
    /// A vocabulary from the surface of each token id, from 0 on. A token with an empty surface
    /// (a special token) is never blocked.
    #[must_use]
    pub fn new<'a>(surfaces: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let surfaces: Vec<Box<[u8]>> = surfaces.into_iter().map(Box::from).collect();
        let mut spelled: Vec<(Vec<char>, u32)> = Vec::new();
        let mut fragments = Vec::new();
        for (id, surface) in (0u32..).zip(&surfaces) {
            match std::str::from_utf8(surface) {
                Ok(text) => spelled.push((text.chars().flat_map(letters::fold).collect(), id)),
                Err(_) => fragments.push(id),
            }
        }
        spelled.sort_unstable();
        let (spellings, order): (Vec<Vec<char>>, Vec<u32>) = spelled.into_iter().unzip();
        let trie = Trie::new(&spellings);
        Self {
            letters: spellings.iter().flatten().copied().collect(),
            bytes: surfaces.iter().filter(|s| s.len() == 1).map(|surface| surface[0]).collect(),
            inner_starts: inner_starts(&trie),
            ways_on: Mutex::default(),
            order,
            surfaces,
            trie,
            fragments,
        }
    }

    /// Number of token ids.
    #[must_use]
    pub fn len(&self) -> usize {
        self.surfaces.len()
    }

    /// Whether there is no token.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.surfaces.is_empty()
    }

    /// The bytes of a token; none for an id out of range.
    pub(super) fn surface(&self, token: u32) -> &[u8] {
        self.surfaces.get(token as usize).map_or(&[], |surface| surface)
    }

    /// Letters and children of a node.
    pub(super) fn edges(&self, node: u32) -> &[(char, u32)] {
        self.trie.edges(node)
    }

    /// Whether there are tokens for a folded letter, whole or byte by byte.
    pub(super) fn can_spell(&self, letter: char) -> bool {
        let mut buffer = [0; 4];
        self.letters.contains(&letter)
            || letter.encode_utf8(&mut buffer).bytes().all(|byte| self.bytes.contains(&byte))
    }

    /// The tokens whose letters start with the path to a node.
    pub(super) fn below(&self, node: u32) -> &[u32] {
        &self.order[self.trie.below(node)]
    }

    /// The tokens whose letters are the path to a node.
    pub(super) fn exactly(&self, node: u32) -> &[u32] {
        &self.order[self.trie.exactly(node)]
    }

    /// Nodes reached by `letter` where a phrase may begin whatever text came before the token.
    pub(super) fn inner_starts(&self, letter: char) -> &[u32] {
        self.inner_starts.get(&letter).map_or(&[], Vec::as_slice)
    }

    /// Tokens that are no UTF-8 by themselves.
    pub(super) fn fragments(&self) -> &[u32] {
        &self.fragments
    }

    /// What the first bytes of a letter can become.
    pub(super) fn ways_on(&self, begun: &[u8]) -> Arc<WaysOn> {
        let known = || self.ways_on.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ways) = known().get(begun) {
            return Arc::clone(ways);
        }
        let is_spelled = |letter: &char| {
            let mut bytes = [0; 4];
            let bytes = letter.encode_utf8(&mut bytes).as_bytes();
            bytes[begun.len()..].iter().all(|byte| self.bytes.contains(byte))
        };
        let joins =
            |letter: &char| letters::fold(*letter).next().is_none_or(letters::is_word_letter);
        let inside = letters::letters_from(begun).filter(joins);
        let outside = letters::letters_from(begun).filter(|letter| !joins(letter));
        let mut letters: Vec<char> = inside.filter(is_spelled).take(WAYS).collect();
        letters.extend(outside.filter(is_spelled).take(WAYS));
        let may_join_a_word = letters::letters_from(begun).any(|letter| joins(&letter));
        let ways = Arc::new(WaysOn { letters, may_join_a_word });
        known().insert(begun.to_vec(), Arc::clone(&ways));
        ways
    }

    /// All tokens that add something to the text.
    pub(super) fn visible(&self) -> impl Iterator<Item = u32> + '_ {
        (0u32..).zip(&self.surfaces).filter(|(_, surface)| !surface.is_empty()).map(|(id, _)| id)
    }

    /// Reads a token's bytes from a place in the text.
    pub(super) fn read(
        &self,
        state: TextState,
        token: u32,
        emit: impl FnMut(u32),
    ) -> Result<TextState, letters::IllFormed> {
        state.read(self.surface(token), emit)
    }
}

/// A phrase that starts with a word letter begins after a letter that is none; one that starts with
/// another letter begins anywhere, and none with a mark. (A word at the very start of a token is
/// left out: whether it begins there depends on the text before.)
fn inner_starts(trie: &Trie) -> HashMap<char, Vec<u32>> {
    let mut starts: HashMap<char, Vec<u32>> = HashMap::new();
    // What comes before a node; unknown behind nothing but marks.
    let mut open: Vec<(u32, Option<After>)> = vec![(TOP, None)];
    while let Some((node, before)) = open.pop() {
        for &(letter, child) in trie.edges(node) {
            let is_mark = is_combining_mark(letter);
            let is_inside = before.is_none_or(|before| before == After::Word);
            // A mark is a word letter, too.
            if !letters::is_word_letter(letter) || !(is_mark || is_inside) {
                starts.entry(letter).or_default().push(child);
            }
            let after = match before {
                None if is_mark => None,
                before => Some(before.unwrap_or_default().read(letter, |_| ())),
            };
            open.push((child, after));
        }
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vocabulary() -> Vocabulary {
        Vocabulary::new([&b""[..], b" con", b" Conf", b"firm", b" a b", b"\xc3"])
    }

    #[test]
    fn tokens_below_a_node_share_its_letters() {
        let vocabulary = vocabulary();
        let mut node = TOP;
        for letter in " con".chars() {
            node = vocabulary.edges(node).iter().find(|edge| edge.0 == letter).unwrap().1;
        }
        assert_eq!(vocabulary.below(node), [1, 2]);
        assert_eq!(vocabulary.below(TOP).len(), 5);
    }

    #[test]
    fn a_letter_is_spelled_by_a_token_or_by_its_bytes() {
        let vocabulary = Vocabulary::new([&b" conf"[..], b"\xc3", b"\xa9"]);
        assert!(vocabulary.can_spell('c') && vocabulary.can_spell('\u{e9}'));
        assert!(!vocabulary.can_spell('x') && !vocabulary.can_spell('\u{ea}'));
    }

    #[test]
    fn a_phrase_begins_inside_a_token_only_after_a_letter_that_is_no_word_letter() {
        let vocabulary = vocabulary();
        assert_eq!(vocabulary.inner_starts('c').len(), 1);
        assert_eq!(vocabulary.inner_starts('b').len(), 1);
        assert!(vocabulary.inner_starts('o').is_empty());
    }

    #[test]
    fn bytes_that_are_no_text_are_fragments_and_empty_surfaces_are_invisible() {
        let vocabulary = vocabulary();
        assert_eq!(vocabulary.fragments(), [5]);
        assert_eq!(vocabulary.visible().collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
        assert_eq!(vocabulary.surface(99), b"");
    }
}
