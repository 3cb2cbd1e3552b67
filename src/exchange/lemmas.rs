//! Lemmas of tokens: the formats ask for one, and FrameNet has none.
//!
//! What is known comes before what is guessed: the LU of a target (of several the one of which the
//! token is a form), then the LUs of the release, then the table of irregular words, then the rules
//! of English. A tag says which inflections a form can be of, so `gas` of the tag `NN1` is no
//! plural. In another language the LUs of the release know the forms that their targets show, and
//! nothing is guessed.

use std::collections::{HashMap, HashSet};

use super::tokens::{Annotated, Tokens};
use crate::model::{Pos, Span};
use crate::text::{
    Inflection, Morphology, fold, inflect, irregular_lemmas, is_listed_lemma, lemma_candidates,
    lemmatize, plain_lemma, spelling_variants,
};

/// Lemmas kept; a text's words repeat, and finding a lemma costs more than the rest of a line.
const KEPT: usize = 100_000;

/// What a form is, by its tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Form {
    /// The lemma itself.
    Base,
    /// A past or a past participle: taggers take one for the other.
    Past,
    /// One inflection.
    Inflected(Inflection),
}

impl Form {
    /// Whether the form of a lemma can be this.
    fn admits(self, lemma: &str, pos: Pos, form: &str) -> bool {
        let is = |inflection| inflect(lemma, pos, inflection).iter().any(|of| of == form);
        match self {
            // `am` and `are` are no form of their own in any tag set.
            Self::Base => lemma == form || lemma == "be" && is(Inflection::ThirdPerson),
            Self::Past => is(Inflection::Past) || is(Inflection::PastParticiple),
            Self::Inflected(inflection) => is(inflection),
        }
    }
}

/// Verbs written as the end of another word, by the beginnings of their tags.
const CLITICS: [(&str, &[&str], &str); 9] = [
    ("'s", &["VH"], "have"),
    ("'s", &["VB"], "be"),
    ("'m", &["VB"], "be"),
    ("'re", &["VB"], "be"),
    ("'ve", &["VH", "VB"], "have"),
    ("'d", &["VH", "VB"], "have"),
    ("n't", &["RB", "XX"], "not"),
    ("ca", &["MD", "VM"], "can"),
    ("wo", &["MD", "VM"], "will"),
];

/// Part of speech and form by a tag: of the Penn Treebank, of TreeTagger, or of CLAWS. `None` for
/// words that do not inflect, and for proper nouns in the singular.
fn reading(tag: &str) -> Option<(Pos, Form)> {
    use Inflection::{Comparative, Plural, PresentParticiple, Superlative, ThirdPerson};
    let tag = tag.to_ascii_uppercase();
    // CLAWS joins two where it is in doubt, the likelier one first.
    let tag = tag.split('-').next().unwrap_or_default();
    let verb = ["VV", "VB", "VH", "VD"].into_iter().find_map(|start| tag.strip_prefix(start));
    Some(match (verb, tag) {
        (Some("D" | "N"), _) => (Pos::Verb, Form::Past),
        (Some("G"), _) => (Pos::Verb, Form::Inflected(PresentParticiple)),
        (Some("Z"), _) => (Pos::Verb, Form::Inflected(ThirdPerson)),
        (Some("" | "P" | "B" | "I"), _) => (Pos::Verb, Form::Base),
        (_, "NNS" | "NN2" | "NNPS" | "NPS") => (Pos::Noun, Form::Inflected(Plural)),
        (_, "NN" | "NN0" | "NN1") => (Pos::Noun, Form::Base),
        (_, "JJ" | "AJ0") => (Pos::Adjective, Form::Base),
        (_, "JJR" | "AJC") => (Pos::Adjective, Form::Inflected(Comparative)),
        (_, "JJS" | "AJS") => (Pos::Adjective, Form::Inflected(Superlative)),
        (_, "RBR") => (Pos::Adverb, Form::Inflected(Comparative)),
        (_, "RBS") => (Pos::Adverb, Form::Inflected(Superlative)),
        _ => return None,
    })
}

/// A word of an LU that a token of its target has for a lemma.
#[derive(Debug, Clone)]
struct LexicalWord {
    word: String,
    /// Part of speech of the LU.
    pos: Pos,
}

/// How well a word of an LU fits a token, the better the greater: annotators also give words to LUs
/// of which they are no form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    None,
    /// An LU without a part of speech is often called after its form, as in `bikes.x`.
    Called,
    Form,
    Itself,
}

/// Lemmas of the tokens of a release's sentences, in small letters.
#[derive(Debug, Default)]
pub struct Lemmas {
    /// Lemmas of the release's LUs.
    units: HashSet<(String, Pos)>,
    morphology: Morphology,
    /// Lemmas that were found, by form and tag.
    found: HashMap<(String, String), String>,
}

impl Lemmas {
    /// Lemmas for a release with LUs of these names, whose words are inflected in this way.
    #[must_use]
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>, morphology: Morphology) -> Self {
        let units = names.into_iter().map(|name| {
            let (lemma, pos) = unit(name);
            (lemma, pos.map_or(Pos::Other, Pos::parse))
        });
        Self { units: units.collect(), morphology, found: HashMap::new() }
    }

    /// Gives every token its lemma; `sets` are the sentence's.
    pub fn give(&mut self, text: &str, tokens: &mut Tokens, sets: &[Annotated]) {
        let forms: Vec<String> = tokens
            .as_slice()
            .iter()
            .map(|token| fold(token.span.of(text).unwrap_or_default()))
            .collect();
        let mut lemmas: Vec<Option<LexicalWord>> = vec![None; forms.len()];
        for set in sets {
            self.of_target(set, tokens, &forms, &mut lemmas);
        }
        for ((token, form), lemma) in tokens.iter_mut().zip(&forms).zip(lemmas) {
            let tag = token.tag.as_deref().unwrap_or_default();
            token.lemma = match lemma {
                Some(LexicalWord { word, .. }) => word,
                None => self.of(form, tag).to_owned(),
            };
        }
    }

    /// The lemma of a form in small letters.
    fn of(&mut self, form: &str, tag: &str) -> &str {
        if self.found.len() >= KEPT {
            self.found.clear();
        }
        let key = (form.to_owned(), tag.to_owned());
        if !self.found.contains_key(&key) {
            let lemma = self.find(form, tag);
            self.found.insert(key.clone(), lemma);
        }
        &self.found[&key]
    }

    fn find(&self, form: &str, tag: &str) -> String {
        if !self.morphology.has_rules() {
            let pos = reading(tag).map_or(Pos::Other, |(pos, _)| pos);
            let is_unit =
                |lemma: &str, pos: Pos| self.units.contains(&(fold(&plain_lemma(lemma)), pos));
            return fold(&self.morphology.lemmatize(form, pos, &is_unit).0);
        }
        let upper = tag.to_ascii_uppercase();
        let is_meant = |starts: &[&str]| starts.iter().any(|start| upper.starts_with(start));
        if let Some((.., lemma)) =
            CLITICS.iter().find(|(clitic, starts, _)| *clitic == form && is_meant(starts))
        {
            return (*lemma).to_owned();
        }
        let Some((pos, of)) = reading(tag) else { return form.to_owned() };
        let is_unit = |lemma: &String| self.units.contains(&(lemma.clone(), pos));
        let may_be = |lemma: &String| of.admits(lemma, pos, form);
        let candidates: Vec<String> =
            lemma_candidates(form, pos).into_iter().filter(may_be).collect();
        let respelled = candidates.iter().flat_map(|lemma| spelling_variants(lemma));
        let unit = candidates.iter().cloned().chain(respelled).find(is_unit);
        // A tagger may have an inflection wrong: `honest` as a superlative.
        let itself = || Some(form.to_owned()).filter(is_unit);
        let is_listed = is_listed_lemma(form, pos);
        let irregular = || irregular_lemmas(form, pos).map(str::to_owned).find(may_be);
        unit.or_else(|| irregular().filter(|_| !is_listed))
            .or_else(itself)
            .or_else(|| is_listed.then(|| form.to_owned()))
            .or_else(|| candidates.first().cloned())
            .unwrap_or_else(|| lemmatize(form, pos, &|_, _| false).0)
    }

    /// The lemmas of a target's tokens: the words of its LU, each where it stands or where a form
    /// of it does. A token that another target shares keeps its word unless this one fits better.
    fn of_target(
        &self,
        set: &Annotated,
        tokens: &Tokens,
        forms: &[String],
        lemmas: &mut [Option<LexicalWord>],
    ) {
        let (lemma, pos) = unit(&set.lu);
        let pos = pos.map_or(Pos::Other, Pos::parse);
        let words: Vec<&str> = lemma.split(' ').filter(|word| !word.is_empty()).collect();
        let of_span = |target: &Span| tokens.covered(*target).filter(|covered| covered.is_exact);
        let mut places: Vec<usize> =
            set.set.targets.iter().filter_map(of_span).flat_map(|covered| covered.tokens).collect();
        places.sort_unstable();
        places.dedup();
        let is_aligned = places.len() == words.len();
        for (at, place) in places.into_iter().enumerate() {
            let form = &forms[place];
            let fit = |word: &str, pos| self.fit(word, pos, form);
            let is_form = |word: &&&str| fit(word, pos) > Fit::None;
            let word = if is_aligned { words.get(at) } else { words.iter().find(is_form) };
            let Some(word) = word else { continue };
            let is_better = lemmas[place].as_ref().is_none_or(|before| {
                before.word != *word && fit(word, pos) > fit(&before.word, before.pos)
            });
            if is_better {
                lemmas[place] = Some(LexicalWord { word: (*word).to_owned(), pos });
            }
        }
    }

    /// How well a word of an LU fits a form in small letters.
    fn fit(&self, word: &str, pos: Pos, form: &str) -> Fit {
        match word == form {
            true if pos == Pos::Other => Fit::Called,
            true => Fit::Itself,
            false if self.is_form(word, pos, form) => Fit::Form,
            false => Fit::None,
        }
    }

    /// Whether a word in small letters has a form in small letters.
    fn is_form(&self, word: &str, pos: Pos, form: &str) -> bool {
        if self.morphology.has_rules() {
            return lemma_candidates(form, pos).iter().any(|lemma| lemma == word);
        }
        self.morphology.forms_of(word, pos).iter().any(|known| fold(known) == form)
    }
}

/// The lemma of an LU's name as running text in small letters, and its part of speech.
fn unit(name: &str) -> (String, Option<&str>) {
    let (lemma, pos) = name.rsplit_once('.').map_or((name, None), |(of, pos)| (of, Some(pos)));
    (fold(&plain_lemma(lemma)), pos)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::AttestedForms;

    fn lemmas(names: &[&str]) -> Lemmas {
        Lemmas::new(names.iter().copied(), Morphology::English)
    }

    #[test]
    fn a_tag_says_of_which_inflections_a_form_can_be() {
        let mut none = lemmas(&[]);
        for (form, tag, lemma) in [
            ("gas", "NN1", "gas"),
            ("specimen", "nn", "specimen"),
            ("omen", "NN1-VVB", "omen"),
            ("opera", "NN", "opera"),
            ("bias", "nn", "bias"),
            ("canvas", "NN1", "canvas"),
            ("honest", "AJ0", "honest"),
            ("honest", "JJS", "honest"),
            ("former", "jjr", "former"),
            ("gas", "nns", "gas"),
            ("omen", "NN2", "omen"),
            ("modest", "jj", "modest"),
            ("james", "NP0", "james"),
            ("women", "NN2", "woman"),
            ("gases", "nns", "gas"),
            ("lay", "VVB", "lay"),
            ("lay", "VVD", "lie"),
            ("found", "VVN", "find"),
            ("added", "VVD", "add"),
            ("adding", "VVG", "add"),
            ("murmured", "VVD", "murmur"),
            ("tiptoed", "VVD", "tiptoe"),
            ("are", "VBB", "be"),
            ("is", "vbz", "be"),
            ("was", "VBD", "be"),
            ("has", "VHZ", "have"),
            ("did", "VDD", "do"),
            ("do", "VDB", "do"),
            ("bigger", "JJR", "big"),
            ("best", "AJS", "good"),
            ("'s", "VBZ", "be"),
            ("'s", "POS", "'s"),
            ("n't", "XX0", "not"),
            ("the", "AT0", "the"),
            ("killed", "", "killed"),
        ] {
            assert_eq!(none.of(form, tag), lemma, "{form} {tag}");
        }
    }

    #[test]
    fn the_release_decides_before_the_table_and_the_table_before_the_rules() {
        let mut own = lemmas(&["rate.v", "criticize.v", "fell.v", "(can't) abide.v"]);
        assert_eq!(own.of("rating", "VVG"), "rate");
        assert_eq!(own.of("criticised", "VVD"), "criticize");
        assert_eq!(own.of("fell", "VVD"), "fall", "a past of no other verb");
        assert_eq!(own.of("felled", "VVD"), "fell");
        assert_eq!(own.of("abided", "VVD"), "abide");
        assert_eq!(lemmas(&[]).of("rating", "VVG"), "rate");
    }

    #[test]
    fn an_lu_that_is_called_after_a_form_comes_behind_one_that_has_it() {
        let none = lemmas(&[]);
        let [called, form, itself] =
            [("bikes", Pos::Other), ("bike", Pos::Noun), ("bikes", Pos::Noun)]
                .map(|(word, pos)| none.fit(word, pos, "bikes"));
        assert!(Fit::None < called && called < form && form < itself);
    }

    #[test]
    fn in_other_languages_a_form_has_the_lemma_that_targets_show() {
        let mut shown = AttestedForms::default();
        for (lexunit, trigger) in
            [("gehen.v", "ging"), ("Gang.n", "G\u{e4}ngen"), ("Weg.n", "weg"), ("weg.adv", "weg")]
        {
            shown.add(lexunit, trigger);
        }
        let names = ["gehen.v", "Gang.n", "Weg.n", "weg.adv"];
        let mut german = Lemmas::new(names, Morphology::of("de", shown));
        for (form, tag, lemma) in [
            ("ging", "VVFIN", "gehen"),
            ("ging", "", "gehen"),
            ("g\u{e4}ngen", "NN", "gang"),
            // No rule of English holds, whatever the tag is called.
            ("gas", "NN2", "gas"),
            ("added", "VVD", "added"),
            ("gingen", "VVFIN", "gingen"),
        ] {
            assert_eq!(german.of(form, tag), lemma, "{form} {tag}");
        }
    }
}
