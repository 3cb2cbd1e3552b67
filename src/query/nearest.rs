//! Suggestions: the known name that a misspelt or shortened one was probably meant to be.

use std::cmp::Reverse;

use strsim::damerau_levenshtein;

use crate::text::fold;

/// Letters of a name below which it is looked for at the start of others alone.
const SHORTEST_PART: usize = 3;

/// How a candidate is like a name, the likest first; of equally like ones the shorter is the liker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Likeness {
    /// It differs in a letter, or in the order of two.
    Slip(usize),
    /// It begins so.
    Start(usize),
    /// One of its words does: `forming` in `Cause_forming`.
    Word(usize),
    /// It differs in so many letters, few of all.
    Letters(usize),
    /// It holds the name, or the name holds it, at least half as long or at its beginning.
    Part(Reverse<usize>),
}

/// The candidate likest to `name`, or `None` when all are too far away to be meant.
///
/// Names are compared case-folded. Likest is one that is a slip of the finger away, then one that
/// begins with the name (shortest first), then one with a word that does. Then comes one at a small
/// Damerau-Levenshtein distance: an insertion, a deletion, a substitution or a swap of neighbours
/// costs 1. A third of the longer name's letters may differ, at least one and never all. Last comes
/// one that holds the name, or that the name holds or begins with. Of equally like candidates the
/// first wins.
///
/// ```
/// use fnstore::query::nearest;
///
/// assert_eq!(nearest("Verificaton", ["Event", "Verification"]), Some("Verification"));
/// assert_eq!(nearest("verif", ["Event", "Verification"]), Some("Verification"));
/// assert_eq!(nearest("Weather", ["Event", "Verification"]), None);
/// ```
#[must_use]
pub fn nearest<C: AsRef<str>>(name: &str, candidates: impl IntoIterator<Item = C>) -> Option<C> {
    let name = fold(name);
    let length = name.chars().count();
    let mut best: Option<(Likeness, C)> = None;
    for candidate in candidates {
        let Some(likeness) = likeness(&name, length, &fold(candidate.as_ref())) else { continue };
        if best.as_ref().is_none_or(|(likest, _)| likeness < *likest) {
            best = Some((likeness, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// How `other` is like `name`, of `length` letters, both folded.
fn likeness(name: &str, length: usize, other: &str) -> Option<Likeness> {
    let other_length = other.chars().count();
    let longer = length.max(other_length);
    let allowed = (longer / 3).max(1);
    // The distance is at least the difference of the lengths; most candidates end here.
    let distance = (length.abs_diff(other_length) <= allowed)
        .then(|| damerau_levenshtein(name, other))
        .filter(|distance| *distance <= allowed && *distance < longer);
    if let Some(slip) = distance.filter(|distance| *distance <= 1) {
        return Some(Likeness::Slip(slip));
    }
    let is_part = length >= SHORTEST_PART;
    let mut words = other.split(|letter: char| !letter.is_alphanumeric());
    if length > 1 && other.starts_with(name) {
        Some(Likeness::Start(other_length))
    } else if is_part && words.any(|word| word.starts_with(name)) {
        Some(Likeness::Word(other_length))
    } else if let Some(distance) = distance {
        Some(Likeness::Letters(distance))
    } else if is_part && other.contains(name) {
        Some(Likeness::Part(Reverse(length)))
    } else if other_length >= SHORTEST_PART && is_within(other, name, other_length, length) {
        Some(Likeness::Part(Reverse(other_length)))
    } else {
        None
    }
}

/// Whether a name holds another one that is at least half as long, or begins with one, as
/// `Dependent` with `Dep`.
fn is_within(other: &str, name: &str, other_length: usize, length: usize) -> bool {
    name.starts_with(other) || 2 * other_length >= length && name.contains(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_is_forgiven() {
        let names = ["Verification", "Certainty", "Becoming_aware"];
        for slip in ["Verificaton", "verification", "Verifcation", "Verificatoin", "Verifications"]
        {
            assert_eq!(nearest(slip, names), Some("Verification"), "{slip}");
        }
        assert_eq!(nearest("becoming aware", names), Some("Becoming_aware"));
    }

    #[test]
    fn what_is_far_from_everything_suggests_nothing() {
        assert_eq!(nearest("zzz", ["Verification", "Event"]), None);
        assert_eq!(nearest("", ["Verification", "p"]), None);
        assert_eq!(nearest("q", ["p"]), None);
        assert_eq!(nearest("Event", Vec::<String>::new()), None);
    }

    #[test]
    fn a_part_of_a_name_suggests_it() {
        let names = ["Verification", "Cause_to_start", "Cause_motion", "Motion", "Self_motion"];
        for (part, whole) in [
            ("verif", "Verification"),
            ("cause", "Cause_motion"),
            ("start", "Cause_to_start"),
            ("mot", "Motion"),
            ("ification", "Verification"),
            ("motion frame", "Motion"),
        ] {
            assert_eq!(nearest(part, names), Some(whole), "{part}");
        }
        assert_eq!(nearest("Dependent", ["Ext", "Dep", "Obj"]), Some("Dep"));
        assert_eq!(nearest("Subject", ["Ext", "Dep", "Obj"]), None);
        assert_eq!(nearest("if", names), None, "two letters are in too many names");
        let logos = "\u{3bb}\u{3cc}\u{3b3}\u{3bf}\u{3c2}";
        assert_eq!(nearest("\u{39b}\u{38c}\u{393}", [logos]), Some(logos));
    }

    #[test]
    fn the_first_of_equally_near_names_wins() {
        assert_eq!(nearest("bet.v", ["bat.v", "bit.v"]), Some("bat.v"));
        assert_eq!(nearest("bit.v", ["bat.v", "bit.v"]), Some("bit.v"));
    }
}
