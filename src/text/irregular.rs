//! The table of irregular words, and the lists that the regular rules consult.
//!
//! `irregular.tsv` holds words whose forms no rule yields; its head explains the columns.
//! `doubling.txt` lists verbs of several syllables that double their last consonant. Both are
//! facts of the language, collected for this crate and checked against UniMorph by a test of
//! [`super::inflection`].

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use crate::model::Pos;

/// Irregular forms of one lemma, by column; an empty list stands for the regular form.
type Paradigm = Vec<Vec<&'static str>>;

/// Both directions of the table.
struct Table {
    by_lemma: HashMap<&'static str, Vec<(Pos, Paradigm)>>,
    by_form: HashMap<&'static str, Vec<(&'static str, Pos)>>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| parse(include_str!("irregular.tsv")));

static DOUBLING: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    include_str!("doubling.txt").lines().filter(|line| !line.starts_with('#')).collect()
});

fn parse(tsv: &'static str) -> Table {
    let mut by_lemma: HashMap<_, Vec<_>> = HashMap::new();
    let mut by_form: HashMap<_, Vec<_>> = HashMap::new();
    for line in tsv.lines().filter(|line| !line.starts_with('#')) {
        let mut columns = line.split('\t');
        let (Some(lemma), Some(pos)) = (columns.next(), columns.next().map(Pos::parse)) else {
            panic!("irregular.tsv is part of this crate, its lines are lemma, POS, forms: {line}");
        };
        let row: Paradigm = columns
            .map(|cell| if cell == "-" { Vec::new() } else { cell.split('/').collect() })
            .collect();
        for &form in row.iter().flatten() {
            let lemmas = by_form.entry(form).or_default();
            if !lemmas.contains(&(lemma, pos)) {
                lemmas.push((lemma, pos));
            }
        }
        by_lemma.entry(lemma).or_default().push((pos, row));
    }
    Table { by_lemma, by_form }
}

/// The irregular forms of a lemma in one column of the table, the usual one first; empty when
/// regular.
pub(super) fn irregular_forms(lemma: &str, pos: Pos, column: usize) -> &'static [&'static str] {
    let rows = TABLE.by_lemma.get(lemma).map_or(&[][..], Vec::as_slice);
    let row = rows.iter().find(|(p, _)| *p == pos);
    row.and_then(|(_, row)| row.get(column)).map_or(&[], Vec::as_slice)
}

/// The lemmas that have `form` among their irregular forms, in the order of the table.
pub(super) fn lemmas_of_irregular(form: &str) -> &'static [(&'static str, Pos)] {
    TABLE.by_form.get(form).map_or(&[], Vec::as_slice)
}

/// Whether a verb of several syllables doubles its last consonant.
pub(super) fn doubles_last_consonant(verb: &str) -> bool {
    DOUBLING.contains(verb)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_reads_in_both_directions() {
        assert_eq!(irregular_forms("go", Pos::Verb, 2), ["went"]);
        assert_eq!(lemmas_of_irregular("went"), [("go", Pos::Verb)]);
        assert!(irregular_forms("walk", Pos::Verb, 2).is_empty());
    }

    #[test]
    fn the_table_is_large_enough_to_matter_and_has_no_empty_cell() {
        let verbs = TABLE.by_lemma.values().flatten().filter(|(pos, _)| *pos == Pos::Verb).count();
        assert!(verbs >= 400, "{verbs} irregular verbs");
        assert!(
            TABLE
                .by_lemma
                .values()
                .flatten()
                .flat_map(|(_, row)| row.iter().flatten())
                .all(|form| !form.is_empty())
        );
    }

    #[test]
    fn the_doubling_list_holds_words_of_letters() {
        assert!(doubles_last_consonant("commit") && !doubles_last_consonant("visit"));
        assert!(DOUBLING.iter().all(|word| word.chars().all(|c| c.is_ascii_lowercase())));
    }
}
