//! Tests that texts which are canonically equivalent are constrained alike, however they are cut.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::text::{composed, decomposed_letter, is_combining_mark, is_same};

/// The text in pieces, cut at bytes that may lie inside letters.
fn pieces<'a>(text: &'a str, cuts: &[usize]) -> Vec<&'a [u8]> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (text.len() + 1)).collect();
    cuts.extend([0, text.len()]);
    cuts.sort_unstable();
    cuts.dedup();
    cuts.windows(2).map(|cut| &text.as_bytes()[cut[0]..cut[1]]).collect()
}

/// The end, and tokens of one byte that complete the letters of these pieces.
fn bytes(pieces: &[&[u8]]) -> Vec<Vec<u8>> {
    let mut bytes: Vec<Vec<u8>> = pieces
        .concat()
        .into_iter()
        .filter(|byte| !byte.is_ascii())
        .map(|byte| vec![byte])
        .collect();
    bytes.push(Vec::new());
    bytes.sort_unstable();
    bytes.dedup();
    bytes
}

/// Whether every piece is allowed after those before it, and the end after the last.
fn says(pieces: &[&[u8]], constraint: impl Fn(Arc<Vocabulary>) -> Constraint) -> bool {
    let mut surfaces = bytes(pieces);
    let first = u32::try_from(surfaces.len()).unwrap();
    surfaces.extend(pieces.iter().map(|piece| piece.to_vec()));
    let vocabulary = Vocabulary::new(surfaces.iter().map(Vec::as_slice));
    let constraint = constraint(Arc::new(vocabulary));
    let mut state = constraint.start(0);
    for (token, _) in (first..).zip(pieces) {
        let blocked = constraint.blocked(state, 0);
        if blocked.is_some_and(|blocked| blocked.tokens.contains(&token)) {
            return false;
        }
        state = constraint.advance(state, token);
    }
    constraint.blocked(state, 0).is_none_or(|blocked| blocked.may_end)
}

fn banning<S: AsRef<str>>(phrases: &[S]) -> impl Fn(Arc<Vocabulary>) -> Constraint {
    move |vocabulary| {
        let here = AvoidPhrases::new(vocabulary, phrases).unwrap();
        Constraint { here: Some(Arc::new(here)), ..Constraint::default() }
    }
}

fn knowing<'a>(words: &'a [&str]) -> impl Fn(Arc<Vocabulary>) -> Constraint + 'a {
    move |vocabulary| {
        let list = Arc::new(WordList::new(vocabulary, words));
        let known = KnownWords::new(list, [""; 0]);
        Constraint { known: Some(Arc::new(known)), ..Constraint::default() }
    }
}

/// Whether a phrase of one word occurs, by looking at letters with their marks: without symbols.
fn occurs(text: &str, word: &str) -> bool {
    let mut runs = vec![String::new()];
    let mut is_inside = false;
    for letter in text.chars() {
        let is_mark = is_combining_mark(letter);
        let base = decomposed_letter(letter).next().unwrap();
        is_inside = if is_mark { is_inside } else { base.is_alphanumeric() };
        if is_inside {
            runs.last_mut().unwrap().push(letter);
        } else {
            runs.push(String::new());
        }
    }
    runs.iter().any(|run| is_same(run, word))
}

/// Texts of letters, signs and spaces with marks of several classes in any order.
fn marked() -> impl Strategy<Value = String> {
    let letter = "[aae\u{ea}\u{2260}\u{304b}\u{5e9}=. ]";
    prop::collection::vec((letter, "[\u{302}\u{307}\u{323}\u{338}]{0,3}"), 0..6)
        .prop_map(|letters| letters.into_iter().flat_map(|(l, marks)| [l, marks]).collect())
}

/// Words of such letters, and signs.
fn banned() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[ae\u{ea}][\u{302}\u{307}\u{323}]{0,2}([ae][\u{302}\u{323}]{0,1}){0,1}",
        1 => "\u{2260}|a [ae]|=a|\\.",
    ]
}

/// The text with other letters that are canonically equivalent.
fn others(text: &str) -> [String; 3] {
    let composed = composed(text).into_owned();
    let decomposed: String = composed.chars().flat_map(decomposed_letter).collect();
    // Neighbouring marks of different classes trade places.
    let mut turned: Vec<char> = text.chars().flat_map(decomposed_letter).collect();
    for at in 1..turned.len() {
        let classes = [turned[at - 1], turned[at]].map(crate::text::combining_class);
        if classes[0] != 0 && classes[1] != 0 && classes[0] != classes[1] {
            turned.swap(at - 1, at);
        }
    }
    [composed, decomposed, turned.into_iter().collect()]
}

#[test]
fn marks_in_any_order_are_one_banned_word() {
    // A circumflex and a dot below: composed, half composed, and in both orders.
    let spelled = ["vi\u{1ec7}t", "vi\u{ea}\u{323}t", "vie\u{323}\u{302}t", "vie\u{302}\u{323}t"];
    for banned in spelled {
        for text in spelled {
            assert_eq!(violations(text, [banned]).unwrap(), [banned], "{banned:?} in {text:?}");
            for cut in 0..text.len() {
                assert!(!says(&pieces(text, &[cut]), banning(&[banned])), "{text:?} at {cut}");
            }
            // Another letter of the same marks but one.
            let other = text.replace('\u{323}', "\u{331}").replace('\u{1ec7}', "\u{ea}");
            assert!(says(&pieces(&other, &[4]), banning(&[banned])), "{other:?}");
        }
    }
}

#[test]
fn a_sign_with_marks_is_the_end_of_the_word_before_it() {
    for text in ["\u{2260}x", "=\u{338}x", "-\u{301}x", " \u{301}x", "a.\u{323}\u{302}x"] {
        assert_eq!(violations(text, ["x"]).unwrap(), ["x"], "{text:?}");
        for cut in 0..text.len() {
            assert!(!says(&pieces(text, &[cut]), banning(&["x"])), "{text:?} cut at {cut}");
        }
    }
    assert!(violations("a = b", ["\u{2260}"]).unwrap().is_empty());
    assert!(says(&[b"a =", b" b"], banning(&["\u{2260}"])));
    assert!(!says(&[b"a =", "\u{338}".as_bytes(), b" b"], banning(&["\u{2260}"])));
}

#[test]
fn known_words_have_their_marks_in_order() {
    let known = ["vi\u{ea}\u{323}t"];
    let constraint = |vocabulary| knowing(&known)(vocabulary);
    assert!(says(&["vi\u{1ec7}".as_bytes(), b"t"], constraint));
    assert!(says(&["vie\u{323}".as_bytes(), "\u{302}t".as_bytes()], constraint));
    assert!(!says(&["vi\u{ea}".as_bytes(), b"t"], constraint), "another word");
    let list = WordList::new(Arc::new(Vocabulary::new([&b""[..]])), known);
    assert!(list.holds("vie\u{302}\u{323}t") && !list.holds("vi\u{ea}t"));
    assert!(says(&["-\u{301}vi\u{1ec7}t".as_bytes()], constraint), "a sign with a mark is free");
}

#[test]
fn a_required_word_is_met_in_the_orders_in_which_it_may_be_written() {
    let phrase = "e\u{301}\u{317}";
    let requiring = |vocabulary: Arc<Vocabulary>| {
        let required = RequirePhrases::new(vocabulary, &[[phrase]], |_| Vec::new()).unwrap();
        Constraint { required: Some(Arc::new(required)), ..Constraint::default() }
    };
    // As it is given, composed, and in Unicode's order.
    for text in [phrase, "\u{e9}\u{317}", "e\u{317}\u{301}"] {
        assert!(says(&pieces(text, &[1, 3]), requiring), "{text:?}");
    }
    // The same letters, not together.
    assert!(!says(&pieces("e\u{301} e\u{317}", &[1, 3]), requiring));
}

proptest! {
    #[test]
    fn equivalent_texts_are_banned_alike_however_they_are_cut(
        text in marked(),
        phrases in prop::collection::vec(banned(), 1..4),
        cuts in prop::collection::vec(0usize..60, 0..6),
    ) {
        let found = violations(&text, &phrases).unwrap();
        let is_free = found.is_empty();
        prop_assert_eq!(says(&pieces(&text, &cuts), banning(&phrases)), is_free, "{:?}", text);
        for other in others(&text) {
            prop_assert!(is_same(&text, &other), "{:?} {:?}", text, other);
            prop_assert_eq!(&violations(&other, &phrases).unwrap(), &found, "{:?}", other);
            prop_assert_eq!(says(&pieces(&other, &cuts), banning(&phrases)), is_free, "{:?}", other);
        }
    }

    #[test]
    fn a_banned_word_is_found_as_comparing_letters_finds_it(
        text in marked(),
        word in "[ae\u{ea}][\u{302}\u{307}\u{323}]{0,2}([ae][\u{302}\u{323}]{0,1}){0,1}",
    ) {
        let found = !violations(&text, [&word]).unwrap().is_empty();
        prop_assert_eq!(found, occurs(&text, &word), "{:?} in {:?}", word, text);
    }

    #[test]
    fn what_is_allowed_among_known_words_is_known(
        text in marked(),
        words in prop::collection::vec("[ae\u{ea}\u{304b}\u{5e9}][\u{302}\u{307}\u{323}]{0,2}", 1..6),
        cuts in prop::collection::vec(0usize..60, 0..6),
    ) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let list = WordList::new(Arc::new(Vocabulary::new([&b""[..]])), &words);
        let holds = list.holds(&text);
        prop_assert!(holds || !says(&pieces(&text, &cuts), knowing(&words)), "{:?}", text);
        let [composed, decomposed, turned] = others(&text);
        prop_assert_eq!([list.holds(&composed), list.holds(&turned)], [holds; 2]);
        // In Unicode's order every known word can be written.
        let is_said = says(&pieces(&decomposed, &cuts), knowing(&words));
        let in_order = symbols_in_order(&decomposed);
        prop_assert!(!(holds && in_order) || is_said, "{:?}", decomposed);
    }
}

/// Whether the marks of a text stand in Unicode's order.
fn symbols_in_order(text: &str) -> bool {
    letters::symbols(text) == letters::symbols_as_written(text)
}
