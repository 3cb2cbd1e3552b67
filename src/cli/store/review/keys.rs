//! The keys of the review: what the page and the terminal list under `?`.

/// Where a key works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Where {
    Everywhere,
    Page,
    Terminal,
}

use Where::{Everywhere, Page, Terminal};

/// All keys, by what they do.
pub(super) const KEYS: [(&str, &str, Where); 22] = [
    ("a", "accept: 100", Everywhere),
    ("r", "reject: 0", Everywhere),
    ("1 to 9", "a score between: 10 to 90", Everywhere),
    ("n", "any score from 0 to 100: its digits, then enter", Everywhere),
    ("s", "skip; the page loaded anew, or the next review, shows it again", Everywhere),
    ("u", "undo, up to 100 decisions back", Everywhere),
    ("f, m", "of similarity: the output is not fluent, it makes no sense", Everywhere),
    ("e", "edit the target's span", Everywhere),
    ("left, right", "in a span: move the end by a word; with shift by a letter", Everywhere),
    ("h, l, H, L", "in a span: the same, where the terminal keeps shift to itself", Terminal),
    ("tab", "in a span: the other end; up and down: another piece", Everywhere),
    ("f", "in a span: go on to the next frame element, at last back to the target", Everywhere),
    ("enter, escape", "in a span: save it, leave it", Everywhere),
    ("/", "search; enter finds, escape leaves the field", Everywhere),
    ("j, k", "in a list: down, up", Everywhere),
    ("x, shift x", "in a list: select one, select all; then a, r or 1 to 9 decides", Everywhere),
    ("p", "proposals", Terminal),
    ("m, shift m", "in proposals: move to another frame, merge into another LU", Everywhere),
    ("g then s p f / g", "go to sentences, proposals, frame, search, agreement", Page),
    ("s, escape", "in a list: back to the sentences", Terminal),
    ("q", "end the review", Terminal),
    ("?", "these keys", Everywhere),
];

/// What the page's marks and figures mean.
pub(super) const SIGNS: [(&str, &str); 4] = [
    ("dotted line", "a word that the source does not have"),
    ("coloured line", "a frame element, named behind it"),
    ("aligner", "how sure the span aligner is of the target, 0 to 1"),
    ("p", "the filter's score, 0 to 1: the higher, the likelier a judge accepts it"),
];

/// The keys that work in a place.
pub(super) fn keys_of(place: Where) -> impl Iterator<Item = (&'static str, &'static str)> {
    let works = move |at: &Where| *at == Everywhere || *at == place;
    KEYS.into_iter().filter_map(move |(key, does, at)| works(&at).then_some((key, does)))
}
