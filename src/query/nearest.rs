//! Suggestions: the known name that a misspelt one was probably meant to be.

use strsim::damerau_levenshtein;

/// The candidate nearest to `name`, or `None` when all are too far away to be meant.
///
/// Distance is Damerau-Levenshtein (an insertion, a deletion, a substitution or a swap of neighbours
/// costs 1) over case-folded text. A third of the longer name's letters may differ, at least one
/// and never all; of equally near candidates the first wins.
///
/// ```
/// use fnstore::query::nearest;
///
/// assert_eq!(nearest("Verificaton", ["Event", "Verification"]), Some("Verification"));
/// assert_eq!(nearest("Weather", ["Event", "Verification"]), None);
/// ```
#[must_use]
pub fn nearest<C: AsRef<str>>(name: &str, candidates: impl IntoIterator<Item = C>) -> Option<C> {
    let name = name.to_lowercase();
    let length = name.chars().count();
    let mut best: Option<(usize, C)> = None;
    for candidate in candidates {
        let other = candidate.as_ref().to_lowercase();
        let other_length = other.chars().count();
        let longer = length.max(other_length);
        let allowed = (longer / 3).max(1);
        // The distance is at least the difference of the lengths; most candidates end here.
        if length.abs_diff(other_length) > allowed {
            continue;
        }
        let distance = damerau_levenshtein(&name, &other);
        let keeps_a_letter = distance < longer;
        if distance <= allowed
            && keeps_a_letter
            && best.as_ref().is_none_or(|(least, _)| distance < *least)
        {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
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
    fn the_first_of_equally_near_names_wins() {
        assert_eq!(nearest("bet.v", ["bat.v", "bit.v"]), Some("bat.v"));
        assert_eq!(nearest("bit.v", ["bat.v", "bit.v"]), Some("bit.v"));
    }
}
