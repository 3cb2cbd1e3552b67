//! The records of WordNets: synsets, words, irregular forms.

use crate::model::{IrregularForm, Synset, SynsetId, SynsetRelation, Word, WordClass};

coded! {
    WordClass as u8: |class| *class as u8, |code| {
        WordClass::of_number(code).ok_or_else(|| format!("part of speech {code}"))
    };
}

fields! {
    Synset {
        written, class, is_satellite, ili, topic, members, keys, definitions, examples, relations;
        absent id: SynsetId(0)
    }
    SynsetRelation { kind, target, words }
    Word { senses; absent class: WordClass::Noun, lemma: String::new() }
    IrregularForm { lemmas; absent class: WordClass::Noun, form: String::new() }
}

/// A synset with something in every field.
#[cfg(test)]
pub(super) fn synset() -> Synset {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let relation =
        |kind: &str, target, words| SynsetRelation { kind: kind.to_owned(), target, words };
    Synset {
        id: SynsetId(200_001_740),
        written: "00001740-v".to_owned(),
        class: WordClass::Verb,
        is_satellite: false,
        ili: Some("i21774".to_owned()),
        topic: "verb.body".to_owned(),
        members: words(&["breathe", "take a breath"]),
        keys: words(&["breathe%2:29:00::", "take_a_breath%2:29:00::"]),
        definitions: words(&["draw air into the lungs"]),
        examples: words(&["they caf\u{e9} breathe"]),
        relations: vec![
            relation("hypernym", SynsetId(200_005_041), (0, 0)),
            relation("derivation", SynsetId(100_831_191), (1, 3)),
        ],
    }
}

#[cfg(test)]
pub(super) fn word() -> Word {
    let lemma = "take a breath".to_owned();
    Word { class: WordClass::Verb, lemma, senses: vec![SynsetId(200_001_740), SynsetId(7)] }
}

#[cfg(test)]
pub(super) fn irregular() -> IrregularForm {
    let (form, lemmas) = ("axes".to_owned(), vec!["ax".to_owned(), "axis".to_owned()]);
    IrregularForm { class: WordClass::Noun, form, lemmas }
}
