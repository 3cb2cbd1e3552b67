//! The forms of words that a release shows, in whatever language.

use std::collections::HashMap;

use super::fold;
use super::phrase::plain_lemma;
use super::spacing::one_spaced;
use crate::model::{LexUnit, Pos};

/// Forms of lemmas, as targets show them.
///
/// ```
/// use fnstore::model::Pos;
/// use fnstore::text::{AttestedForms, Morphology};
///
/// let mut forms = AttestedForms::default();
/// forms.add("v\u{e9}rifier.v", "V\u{e9}rifia");
/// let french = Morphology::of("fr", forms);
/// assert_eq!(french.forms_of("v\u{e9}rifier", Pos::Verb), ["v\u{e9}rifier", "v\u{e9}rifia"]);
/// assert_eq!(french.forms_of("contr\u{f4}ler", Pos::Verb), ["contr\u{f4}ler"]);
/// assert_eq!(french.lemmatize("v\u{e9}rifia", Pos::Verb, &|_, _| false).0, "v\u{e9}rifier");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AttestedForms {
    /// Forms by folded lemma, in the order in which they came: folded, unless the lemma has a
    /// capital.
    forms: HashMap<(String, Pos), Vec<String>>,
    /// Lemmas as LUs write them, by folded form.
    lemmas: HashMap<(String, Pos), Vec<String>>,
}

impl AttestedForms {
    /// Adds that an LU, given by its name, stands as some target.
    pub fn add(&mut self, lexunit: &str, trigger: &str) {
        let lemma = plain_lemma(LexUnit::lemma_of(lexunit));
        let pos = Pos::of_lu_name(lexunit);
        let written = one_spaced(trigger);
        let form = fold(&written);
        if lemma.is_empty() || form.is_empty() {
            return;
        }
        let forms = self.forms.entry((fold(&lemma), pos)).or_default();
        if forms.iter().all(|known| fold(known) != form) {
            let is_capital = lemma.chars().next().is_some_and(char::is_uppercase);
            forms.push(if is_capital { written } else { form.clone() });
        }
        let lemmas = self.lemmas.entry((form, pos)).or_default();
        if !lemmas.contains(&lemma) {
            lemmas.push(lemma);
        }
    }

    /// The forms of a lemma other than the lemma itself.
    #[must_use]
    pub fn other_forms(&self, lemma: &str, pos: Pos) -> Vec<String> {
        let folded = fold(lemma);
        let found = self.forms.get(&(folded.clone(), pos)).map_or(&[][..], Vec::as_slice);
        found.iter().filter(|form| fold(form) != folded).cloned().collect()
    }

    /// The lemmas that have a form, as LUs write them.
    pub(super) fn lemmas(&self, form: &str, pos: Pos) -> &[String] {
        self.lemmas.get(&(fold(form), pos)).map_or(&[], Vec::as_slice)
    }
}
