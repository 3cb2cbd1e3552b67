//! British and American spellings of one word.
//!
//! A banned `organise` must not come back as `organize`. Three regular correspondences are rules
//! here (`-ise`, `-yse`, doubled `l` belongs to [`super::inflection`]); stems with one of their
//! own stand in `spelling.tsv`.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::capitalize;
use super::inflection::is_vowel;

/// From a stem to its other spellings, in both directions.
static STEMS: LazyLock<HashMap<&'static str, Vec<&'static str>>> = LazyLock::new(|| {
    let mut stems: HashMap<_, Vec<_>> = HashMap::new();
    let lines = include_str!("spelling.tsv").lines().filter(|line| !line.starts_with('#'));
    for (british, american) in lines.filter_map(|line| line.split_once('\t')) {
        stems.entry(british).or_default().push(american);
        stems.entry(american).or_default().push(british);
    }
    stems
});

/// What may follow a stem of the table for the correspondence to hold (`honour`, not `honorary`).
const SUFFIXES: [&str; 37] = [
    "", "s", "es", "d", "ed", "ing", "er", "ers", "able", "ably", "ful", "fully", "less", "lessly",
    "ite", "ites", "itism", "hood", "hoods", "ly", "y", "ist", "ists", "al", "ally", "led", "ling",
    "men", "man", "ment", "ments", "ness", "ish", "ism", "some", "like", "eers",
];

/// Endings after `-is` or `-iz` (and `-ys`, `-yz`).
const ISE_ENDINGS: [&str; 9] = ["e", "ed", "es", "ing", "er", "ers", "ation", "ations", "able"];

/// Words in `-ise` that are never written with z, without the ending.
const ONLY_S: [&str; 36] = [
    "advert",
    "adv",
    "appra",
    "ar",
    "chast",
    "circumc",
    "compr",
    "comprom",
    "conc",
    "dem",
    "desp",
    "dev",
    "disgu",
    "enterpr",
    "exc",
    "exerc",
    "expert",
    "franch",
    "enfranch",
    "disenfranch",
    "gu",
    "improv",
    "inc",
    "likew",
    "merchand",
    "otherw",
    "parad",
    "prec",
    "prem",
    "prom",
    "rev",
    "superv",
    "surm",
    "surpr",
    "telev",
    "treat",
];

/// Words in `-ize` that are never written with s, without the ending.
const ONLY_Z: [&str; 4] = ["caps", "ass", "over-s", "downs"];

/// The other spellings of a word, in a stable order; empty when there is only one.
///
/// Letters are compared in lower case; the answer keeps the case of the part before the
/// difference.
///
/// ```
/// use fnstore::text::spelling_variants;
///
/// assert_eq!(spelling_variants("organised"), ["organized"]);
/// assert_eq!(spelling_variants("colors"), ["colours"]);
/// assert!(spelling_variants("surprise").is_empty());
/// ```
#[must_use]
pub fn spelling_variants(word: &str) -> Vec<String> {
    let mut variants: Vec<String> = ise_variant(word).into_iter().collect();
    for variant in stem_variants(word) {
        if !variants.contains(&variant) {
            variants.push(variant);
        }
    }
    variants
}

/// `-ise` to `-ize` and back, `-yse` to `-yze` and back.
fn ise_variant(word: &str) -> Option<String> {
    for ending in ISE_ENDINGS {
        let Some(stem) = word.strip_suffix(ending) else { continue };
        let swapped = match stem.char_indices().next_back()? {
            (at, 's') => (at, 'z'),
            (at, 'z') => (at, 's'),
            _ => continue,
        };
        let (at, letter) = swapped;
        let before = &stem[..at];
        let plain = before.strip_suffix('i');
        let takes_both = match plain {
            Some(root) => {
                let root = root.to_lowercase();
                let roots = if letter == 'z' { ONLY_S.as_slice() } else { ONLY_Z.as_slice() };
                root.len() >= 2
                    && root.contains(is_vowel_or_y)
                    && !root.ends_with(is_vowel)
                    && !roots.contains(&root.as_str())
            }
            // `analyse`, `paralyse`, `catalyse`: the ending is `-lyse`.
            None => before.ends_with("ly") && before.len() > 3 && !ending.starts_with('a'),
        };
        return takes_both.then(|| format!("{before}{letter}{ending}"));
    }
    None
}

fn is_vowel_or_y(c: char) -> bool {
    is_vowel(c) || c == 'y'
}

/// The word with its stem in the table's other spelling, where what stands around it allows.
fn stem_variants(word: &str) -> Vec<String> {
    let lower = word.to_ascii_lowercase();
    let mut variants = Vec::new();
    for prefix in ["", "un", "dis", "mis", "re", "mal", "epi", "multi"] {
        let Some(rest) = lower.strip_prefix(prefix) else { continue };
        for (at, _) in rest.char_indices().chain([(rest.len(), ' ')]).skip(1) {
            let (stem, suffix) = rest.split_at(at);
            let Some(others) = STEMS.get(stem).filter(|_| SUFFIXES.contains(&suffix)) else {
                continue;
            };
            let kept = &word[..prefix.len()];
            let upper = word[prefix.len()..].starts_with(|c: char| c.is_ascii_uppercase());
            for other in others {
                let other = if upper { capitalize(other) } else { (*other).to_owned() };
                variants.push(format!("{kept}{other}{suffix}"));
            }
        }
    }
    variants
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ise_and_ize_correspond_except_where_only_one_is_written() {
        assert_eq!(spelling_variants("realize"), ["realise"]);
        assert_eq!(spelling_variants("analysed"), ["analyzed"]);
        assert_eq!(spelling_variants("civilisation"), ["civilization"]);
        for word in ["advise", "rise", "size", "prize", "exercise", "noise", "capsize", "promised"]
        {
            assert!(spelling_variants(word).is_empty(), "{word}");
        }
    }

    #[test]
    fn stems_correspond_in_both_directions_and_keep_case() {
        assert_eq!(spelling_variants("Honour"), ["Honor"]);
        assert_eq!(spelling_variants("dishonored"), ["dishonoured"]);
        assert_eq!(spelling_variants("centre"), ["center"]);
        assert!(spelling_variants("honorary").is_empty());
        assert!(spelling_variants("").is_empty());
    }

    #[test]
    fn a_variant_of_a_variant_is_the_word_itself() {
        for word in ["organise", "favourite", "defence", "grey", "catalogue", "jewelry"] {
            for variant in spelling_variants(word) {
                assert!(spelling_variants(&variant).contains(&word.to_owned()), "{word} {variant}");
            }
        }
    }
}
