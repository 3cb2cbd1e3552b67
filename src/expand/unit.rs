//! A lexical unit as triggers are read: its lemma and part of speech.

use crate::model::{LexUnit, Pos};
use crate::text::{fold, plain_lemma};

/// An LU of a frame that no expansion proposed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unit {
    /// Its lemma as running text, in the letter case of its name.
    pub(crate) lemma: String,
    pub(crate) pos: Pos,
    /// Whether its name says, in single brackets, what else belongs to it: `(in/out) line`, `get
    /// a(n) eyeful`.
    pub(crate) is_pattern: bool,
}

impl Unit {
    pub(crate) fn new(name: &str) -> Self {
        let lemma = name.rsplit_once('.').map_or(name, |(lemma, _)| lemma);
        let without_senses = lemma.replace("((", "").replace("))", "");
        let is_pattern = without_senses.contains(['(', ')', '[', ']']);
        Self { lemma: plain_lemma(lemma), pos: Pos::of_lu_name(name), is_pattern }
    }

    /// The unit that an LU names. A noun's name may end in its sense (`inhalation_breath`), where
    /// its lexeme is the word alone.
    pub(crate) fn of(lexunit: &LexUnit) -> Self {
        let name = match lexunit.lexemes.as_slice() {
            [lexeme] if Pos::of_lu_name(&lexunit.name) == Pos::Noun => {
                let sense = lexunit.lemma().strip_prefix(&lexeme.name);
                let has_sense = sense.is_some_and(|sense| sense.starts_with('_'));
                has_sense.then(|| format!("{}.n", lexeme.name))
            }
            _ => None,
        };
        Self::new(name.as_deref().unwrap_or(&lexunit.name))
    }

    /// Lemma, case folded, and part of speech, as triggers are read.
    pub(crate) fn key(&self) -> (String, Pos) {
        (fold(&self.lemma), self.pos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{FrameId, Lexeme, LuId};

    #[test]
    fn the_sense_in_a_nouns_name_is_no_word_of_it() {
        for (name, lexemes, lemma, is_pattern) in [
            ("inhalation_breath.n", &["inhalation"][..], "inhalation", false),
            ("possession_of_goods.n", &["possession"], "possession", false),
            ("import_((act)).n", &["import"], "import", false),
            ("settlement_[village].n", &["settlement"], "settlement", false),
            ("goldfish bowl.n", &["goldfish"], "goldfish bowl", false),
            ("prime_minister.n", &["prime", "minister"], "prime minister", false),
            ("run_through.v", &["run"], "run through", false),
        ] {
            let lexemes = lexemes.iter().map(|name| Lexeme {
                name: (*name).to_owned(),
                pos: Pos::of_lu_name("x.n"),
                order: None,
                headword: None,
                break_before: None,
            });
            let named = LexUnit::named(FrameId(1), LuId(1), name);
            let unit = Unit::of(&LexUnit { lexemes: lexemes.collect(), ..named });
            assert_eq!((unit.lemma.as_str(), unit.is_pattern), (lemma, is_pattern), "{name}");
        }
    }

    #[test]
    fn names_that_say_what_else_belongs_to_them_are_patterns() {
        for (name, lemma, is_pattern) in [
            ("influence((mass)).n", "influence", false),
            ("(in/out) line.n", "line", true),
            ("get_a(n)_eyeful.v", "get a eyeful", true),
            ("New Yorker.n", "New Yorker", false),
        ] {
            let unit = Unit::new(name);
            assert_eq!((unit.lemma.as_str(), unit.is_pattern), (lemma, is_pattern), "{name}");
        }
    }
}
