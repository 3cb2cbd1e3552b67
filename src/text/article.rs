//! Whether a word begins with a vowel as it is spoken: `an hour`, `a unit`.

use super::fold;

/// Beginnings of words whose `h` is silent.
const SILENT_H: [&str; 5] = ["heir", "honest", "honor", "honour", "hour"];

/// Beginnings of words whose `e` or `u` is spoken with a consonant, as in `you`.
const SPOKEN_WITH_CONSONANT: [&str; 24] = [
    "eu", "ewe", "ubiquit", "ukulele", "unanim", "unic", "unif", "unil", "union", "unip", "uniq",
    "unis", "unit", "univ", "uran", "urin", "usa", "use", "usi", "usu", "uten", "uter", "util",
    "utop",
];

/// Words of which the same holds, and no word that begins like them.
const WORDS_WITH_CONSONANT: [&str; 6] = ["once", "one", "ones", "oneself", "ouija", "u"];

/// Letters whose names begin with a vowel: `an FBI agent`.
const VOWEL_LETTERS: &str = "AEFHILMNORSX";

/// Whether a phrase takes `an`: whether it begins with a vowel as it is spoken. Capitals alone are
/// read letter by letter where there are three at most, or none of them is a vowel.
///
/// ```
/// use fnstore::text::begins_with_vowel;
///
/// assert!(begins_with_vowel("hour") && begins_with_vowel("inspection"));
/// assert!(!begins_with_vowel("unit") && !begins_with_vowel("house"));
/// ```
#[must_use]
pub fn begins_with_vowel(phrase: &str) -> bool {
    let word = phrase.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let Some(first) = word.chars().next() else { return false };
    let is_spelled = word.len() <= 3 || !word.contains(['A', 'E', 'I', 'O', 'U', 'Y']);
    if is_spelled && word.chars().all(|c| c.is_ascii_uppercase()) {
        return VOWEL_LETTERS.contains(first);
    }
    if first.is_ascii_digit() {
        let digits = word.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
        return first == '8' || matches!(digits, "11" | "18");
    }
    let folded = fold(word);
    let begins = |list: &[&str]| list.iter().any(|beginning| folded.starts_with(beginning));
    match first.to_ascii_lowercase() {
        'a' | 'i' => true,
        'e' | 'o' | 'u' => {
            !begins(&SPOKEN_WITH_CONSONANT) && !WORDS_WITH_CONSONANT.contains(&folded.as_str())
        }
        'h' => begins(&SILENT_H),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sound_decides_and_not_the_letter() {
        for an in "hour hourly Honest heir heiress honour honorable inspection apple unimportant \
                   uninteresting umbrella usher utter utmost urn uncle only onerous eighth emu \
                   ordeal FBI MP X-ray 8 80 11 18th"
            .split(' ')
        {
            assert!(begins_with_vowel(an), "{an}");
        }
        for a in "unit Union unique unicorn university uniform useful user usual utensil utility \
                  uranium European euphemism one-way once-over ewe house hotel history NATO USA US \
                  UN check year unanimous U-turn 1 10 118 -"
            .split(' ')
        {
            assert!(!begins_with_vowel(a), "{a}");
        }
        assert!(begins_with_vowel("hour of need") && !begins_with_vowel(""));
    }
}
