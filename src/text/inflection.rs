//! English inflection: from a lemma to its forms.
//!
//! The exceptions stand in `irregular.tsv`; the rest is spelling rules. Sibilants take `-es`,
//! consonant + `y` becomes `ies`, a silent `e` falls, a stressed short syllable doubles its last
//! consonant. (Quirk et al. 1985, A Comprehensive Grammar of the English Language, sections 3.5 to
//! 3.10, 5.79 to 5.82 and 7.74 to 7.80.) Where usage is divided (`travelled`, `traveled`) both
//! forms are given, the first being the one to write.
//!
//! A form that nobody writes costs little where forms are banned or looked up, so the rules
//! answer for every word, known or invented.

use super::irregular::{doubles_last_consonant, irregular_forms};
use super::{capitalize, fold};
use crate::model::Pos;

/// A grammatical form other than the lemma itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Inflection {
    /// Third person singular present of a verb: `checks`.
    ThirdPerson,
    /// `-ing` form of a verb: `checking`.
    PresentParticiple,
    /// Simple past of a verb: `chose`.
    Past,
    /// Past participle of a verb: `chosen`.
    PastParticiple,
    /// Plural of a noun or numeral, and the other forms of articles and pronouns.
    Plural,
    /// Comparative of an adjective or adverb: `deeper`.
    Comparative,
    /// Superlative of an adjective or adverb: `deepest`.
    Superlative,
}

impl Inflection {
    /// The inflections that words of a part of speech have, in the order of `irregular.tsv`.
    #[must_use]
    pub fn of(pos: Pos) -> &'static [Self] {
        match pos {
            Pos::Verb => {
                &[Self::ThirdPerson, Self::PresentParticiple, Self::Past, Self::PastParticiple]
            }
            Pos::Noun | Pos::Number | Pos::Article | Pos::Pronoun => &[Self::Plural],
            Pos::Adjective | Pos::Adverb => &[Self::Comparative, Self::Superlative],
            _ => &[],
        }
    }
}

/// The forms of a one-word lemma under one inflection, the usual one first.
///
/// Empty if the part of speech has no such inflection or the word does not take it. `beautiful` has
/// no comparative form; an adverb has one only if it is irregular or listed.
///
/// ```
/// use fnstore::model::Pos;
/// use fnstore::text::{Inflection, inflect};
///
/// assert_eq!(inflect("verify", Pos::Verb, Inflection::Past), ["verified"]);
/// assert_eq!(inflect("travel", Pos::Verb, Inflection::Past), ["traveled", "travelled"]);
/// assert_eq!(inflect("man", Pos::Noun, Inflection::Plural), ["men"]);
/// ```
#[must_use]
pub fn inflect(lemma: &str, pos: Pos, inflection: Inflection) -> Vec<String> {
    let column = Inflection::of(pos).iter().position(|of| *of == inflection);
    let Some(column) = column.filter(|_| !lemma.is_empty()) else { return Vec::new() };
    let irregular = irregular_forms(&fold(lemma), pos, column);
    if !irregular.is_empty() {
        let as_written = |form: &&str| {
            let upper = lemma.chars().next().is_some_and(char::is_uppercase);
            if upper { capitalize(form) } else { (*form).to_owned() }
        };
        return irregular.iter().map(as_written).collect();
    }
    // `hand-pick`, `co-write`: the last part carries the ending.
    if let Some((first, last)) = lemma.rsplit_once('-')
        && last.len() > 1
        && !first.is_empty()
    {
        let forms = inflect(last, pos, inflection);
        return forms.into_iter().map(|form| format!("{first}-{form}")).collect();
    }
    regular(lemma, pos, inflection)
}

/// The lemma and all its forms, without repeats: lemma first, then in the order of
/// [`Inflection::of`].
#[must_use]
pub fn inflections(lemma: &str, pos: Pos) -> Vec<String> {
    let mut forms = vec![lemma.to_owned()];
    for &inflection in Inflection::of(pos) {
        for form in inflect(lemma, pos, inflection) {
            if !forms.contains(&form) {
                forms.push(form);
            }
        }
    }
    forms
}

/// The forms that the spelling rules yield.
fn regular(word: &str, pos: Pos, inflection: Inflection) -> Vec<String> {
    match (inflection, pos) {
        (Inflection::ThirdPerson, _) => vec![add_s(word, true)],
        (Inflection::PresentParticiple, _) => add_ing(word),
        (Inflection::Past | Inflection::PastParticiple, _) => add_vowel_ending(word, "ed"),
        (Inflection::Plural, Pos::Article | Pos::Pronoun) => Vec::new(),
        (Inflection::Plural, _) => match word.strip_suffix("man") {
            // `policeman`; the words that only look like it (`human`) are in the table.
            Some(stem) if !stem.is_empty() => vec![format!("{stem}men")],
            _ if is_plural(&fold(word)) => vec![word.to_owned()],
            _ => vec![add_s(word, false)],
        },
        // Adverbs are compared by ending only when the table says so.
        (Inflection::Comparative, Pos::Adjective) if takes_er(word) => add_vowel_ending(word, "er"),
        (Inflection::Superlative, Pos::Adjective) if takes_er(word) => {
            add_vowel_ending(word, "est")
        }
        (Inflection::Comparative | Inflection::Superlative, _) => Vec::new(),
    }
}

/// Nouns in a single `-s` that are singulars, behind no `i` or `u`.
pub(super) const SINGULARS: [&str; 14] = [
    "alias",
    "atlas",
    "bias",
    "canvas",
    "chaos",
    "christmas",
    "cosmos",
    "gas",
    "lens",
    "pancreas",
    "rhinoceros",
    "summons",
    "texas",
    "thermos",
];

/// Whether a noun in its lemma's spelling is a plural, or like one: `forces`, `glasses`, `series`.
/// Of FrameNet 1.5's 114 nouns in a single `-s` behind no `i` or `u` all but seven are.
fn is_plural(lower: &str) -> bool {
    let singular = ["ss", "us", "is"].iter().any(|ending| lower.ends_with(ending));
    lower.len() > 2 && lower.ends_with('s') && !singular && !SINGULARS.contains(&lower)
}

/// The word with `-s`: plural, or third person of a verb (where `-o` takes `-es`: `vetoes`).
fn add_s(word: &str, verb: bool) -> String {
    let lower = fold(word);
    if let Some(stem) = word.strip_suffix('y')
        && (stem.ends_with(is_consonant) || stem.ends_with("qu"))
    {
        return format!("{stem}ies");
    }
    // A single z doubles (`quizzes`), unless another consonant stands before it (`waltzes`).
    if lower.ends_with('z') && doubling(&lower) == Doubling::Always {
        return format!("{word}zes");
    }
    let sibilant = ["s", "x", "z", "ch", "sh"].iter().any(|ending| lower.ends_with(ending));
    let o_after_consonant =
        verb && lower.strip_suffix('o').is_some_and(|stem| stem.ends_with(is_consonant));
    if sibilant || o_after_consonant { format!("{word}es") } else { format!("{word}s") }
}

/// The word with `-ing`; both spellings where usage is divided.
fn add_ing(word: &str) -> Vec<String> {
    let lower = fold(word);
    if let Some(stem) = word.strip_suffix("ie") {
        return vec![format!("{stem}ying")];
    }
    // `seeing`, `hoeing`, `dyeing`, `being` keep their e.
    let keeps_e = ["ee", "oe", "ye"].iter().any(|ending| lower.ends_with(ending));
    match word.strip_suffix('e') {
        Some(stem) if !keeps_e && stem.chars().count() > 1 => vec![format!("{stem}ing")],
        _ => with_doubling(word, &lower, "ing"),
    }
}

/// The word with `-ed`, `-er` or `-est`; both spellings where usage is divided.
fn add_vowel_ending(word: &str, ending: &str) -> Vec<String> {
    if let Some(stem) = word.strip_suffix('e') {
        return vec![format!("{stem}{ending}")];
    }
    if let Some(stem) = word.strip_suffix('y')
        && (stem.ends_with(is_consonant) || stem.ends_with("qu"))
    {
        return vec![format!("{stem}i{ending}")];
    }
    with_doubling(word, &fold(word), ending)
}

/// Joins an ending that starts with a vowel to a word that does not end in `e`.
fn with_doubling(word: &str, lower: &str, ending: &str) -> Vec<String> {
    let plain = format!("{word}{ending}");
    let Some(last) = word.chars().next_back() else { return vec![plain] };
    if lower.ends_with("ic") {
        return vec![format!("{word}k{ending}")];
    }
    let doubled = format!("{word}{last}{ending}");
    match doubling(lower) {
        Doubling::Never => vec![plain],
        Doubling::Divided => vec![plain, doubled],
        Doubling::Always => vec![doubled],
    }
}

/// Whether a word doubles its last consonant before a vowel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doubling {
    Never,
    /// American spelling does not, British spelling does.
    Divided,
    Always,
}

fn doubling(lower: &str) -> Doubling {
    if doubles_last_consonant(lower) {
        return Doubling::Always;
    }
    let letters: Vec<char> = lower.chars().collect();
    let [before @ .., vowel, last] = letters.as_slice() else { return Doubling::Never };
    let may_double = is_consonant(*last) && !matches!(last, 'h' | 'w' | 'x' | 'y' | 'c' | 'j');
    if !may_double || !(is_vowel(*vowel) || *vowel == 'y') {
        return Doubling::Never;
    }
    // `quit`: the u belongs to the q.
    let after_qu = before.ends_with(&['q', 'u']);
    let long_vowel = before.last().is_some_and(|&c| is_vowel(c)) && !after_qu;
    let syllables = syllables(before) - usize::from(after_qu);
    match last {
        // `duel`, `dial`, `fuel`: two vowels, but two syllables.
        'l' if long_vowel => {
            let two = matches!((before.last(), vowel), (Some('u' | 'i'), 'e' | 'a'));
            if two { Doubling::Divided } else { Doubling::Never }
        }
        _ if long_vowel => Doubling::Never,
        _ if syllables == 0 => Doubling::Always,
        // `zigzag`, `hobnob`, `defog`: verbs in these letters are stressed on them.
        'b' | 'g' => Doubling::Always,
        _ if prefixed_short_verb(lower) => Doubling::Always,
        'l' => Doubling::Divided,
        'p' if lower.ends_with("ship") => Doubling::Divided,
        _ => Doubling::Never,
    }
}

/// Whether a verb is a prefix before a verb of one short syllable: `unpin`, `outbid`, `rescan`.
fn prefixed_short_verb(lower: &str) -> bool {
    ["un", "re", "over", "out", "under", "mis", "fore"].iter().any(|prefix| {
        let rest: Vec<char> = lower.strip_prefix(prefix).unwrap_or_default().chars().collect();
        let [first, second, ..] = rest.as_slice() else { return false };
        // `render`, `reckon` only look prefixed: no English word starts like their rest.
        let starts_a_word = is_consonant(*first)
            && (is_vowel(*second) || matches!(second, 'r' | 'l' | 'h' | 'w') || *first == 's');
        starts_a_word && rest.last() != Some(&'l') && syllables(&rest) == 1
    })
}

/// Whether an adjective is compared by ending: one syllable, or two of a few shapes.
fn takes_er(adjective: &str) -> bool {
    let letters: Vec<char> = fold(adjective).chars().collect();
    let ends = |ending: &str| adjective.ends_with(ending);
    let mute_e = ends("e") && !ends("le");
    match syllables(&letters) - usize::from(mute_e && syllables(&letters) > 1) {
        0 | 1 => !ends("ed") || letters.len() <= 3,
        2 => ends("y") || ends("le") && !ends("ile") || ends("ow") || ends("er"),
        3 => letters.starts_with(&['u', 'n']) && ends("y"),
        _ => false,
    }
}

/// Number of vowel groups, `y` counting as a vowel except at the start.
fn syllables(letters: &[char]) -> usize {
    let vowel_at = |at: usize| is_vowel(letters[at]) || (at > 0 && letters[at] == 'y');
    (0..letters.len()).filter(|&at| vowel_at(at) && (at == 0 || !vowel_at(at - 1))).count()
}

pub(super) fn is_vowel(c: char) -> bool {
    matches!(c.to_ascii_lowercase(), 'a' | 'e' | 'i' | 'o' | 'u')
}

pub(super) fn is_consonant(c: char) -> bool {
    c.is_alphabetic() && !is_vowel(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verb_forms(lemma: &str) -> String {
        inflections(lemma, Pos::Verb).join(" ")
    }

    #[test]
    fn regular_verbs_follow_the_spelling_rules() {
        assert_eq!(verb_forms("walk"), "walk walks walking walked");
        assert_eq!(
            verb_forms("corroborate"),
            "corroborate corroborates corroborating corroborated"
        );
        assert_eq!(verb_forms("verify"), "verify verifies verifying verified");
        assert_eq!(verb_forms("stop"), "stop stops stopping stopped");
        assert_eq!(verb_forms("commit"), "commit commits committing committed");
        assert_eq!(verb_forms("visit"), "visit visits visiting visited");
        assert_eq!(verb_forms("panic"), "panic panics panicking panicked");
        assert_eq!(verb_forms("tie"), "tie ties tying tied");
        assert_eq!(verb_forms("free"), "free frees freeing freed");
        assert_eq!(verb_forms("echo"), "echo echoes echoing echoed");
        assert_eq!(verb_forms("crochet"), "crochet crochets crocheting crocheted");
        assert_eq!(verb_forms("equip"), "equip equips equipping equipped");
        assert_eq!(verb_forms("play"), "play plays playing played");
    }

    #[test]
    fn divided_usage_gives_both_spellings() {
        assert_eq!(verb_forms("label"), "label labels labeling labelling labeled labelled");
        assert_eq!(verb_forms("fuel"), "fuel fuels fueling fuelling fueled fuelled");
        assert_eq!(
            verb_forms("worship"),
            "worship worships worshiping worshipping worshiped worshipped"
        );
    }

    #[test]
    fn irregular_verbs_come_from_the_table_also_behind_a_hyphen() {
        assert_eq!(verb_forms("be"), "be is am are being was were been");
        assert_eq!(verb_forms("take"), "take takes taking took taken");
        assert_eq!(verb_forms("co-write"), "co-write co-writes co-writing co-wrote co-written");
        assert_eq!(verb_forms("Go"), "Go Goes Going Went Gone");
    }

    #[test]
    fn nouns_take_their_plural() {
        let plural = |lemma| inflect(lemma, Pos::Noun, Inflection::Plural);
        assert_eq!(plural("box"), ["boxes"]);
        assert_eq!(plural("city"), ["cities"]);
        assert_eq!(plural("boy"), ["boys"]);
        assert_eq!(plural("policeman"), ["policemen"]);
        assert_eq!(plural("human"), ["humans"]);
        assert_eq!(plural("analysis"), ["analyses"]);
        assert_eq!(plural("piano"), ["pianos"]);
        assert_eq!(plural("quiz"), ["quizzes"]);
        assert_eq!(plural("AK-47"), ["AK-47s"]);
        assert_eq!(plural("forces"), ["forces"]);
        assert_eq!(plural("atlas"), ["atlases"]);
        assert_eq!(plural("campus"), ["campuses"]);
        assert_eq!(plural("glass"), ["glasses"]);
    }

    #[test]
    fn short_adjectives_are_compared_and_long_ones_are_not() {
        let compared = |lemma| inflections(lemma, Pos::Adjective).join(" ");
        assert_eq!(compared("big"), "big bigger biggest");
        assert_eq!(compared("nice"), "nice nicer nicest");
        assert_eq!(compared("happy"), "happy happier happiest");
        assert_eq!(compared("gentle"), "gentle gentler gentlest");
        assert_eq!(compared("beautiful"), "beautiful");
        assert_eq!(compared("good"), "good better best");
    }

    #[test]
    fn words_without_inflection_have_one_form() {
        assert_eq!(inflections("despite", Pos::Preposition), ["despite"]);
        assert_eq!(inflections("quickly", Pos::Adverb), ["quickly"]);
        assert!(inflect("despite", Pos::Preposition, Inflection::Past).is_empty());
        assert!(inflect("", Pos::Verb, Inflection::Past).is_empty());
    }
}
