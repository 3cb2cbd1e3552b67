//! How many forms of a large list the inflection rules yield, and how many they lemmatise back.
//!
//! The list (UniMorph's English, CC BY-SA 3.0) is not part of the repository. The test runs where
//! `../shared/data/morphology/unimorph-english.tsv.xz` lies (or below `FNSTORE_SHARED`) and prints
//! its figures:
//!
//! ```text
//! cargo test --release inflection_coverage -- --nocapture
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;

use fnstore::model::Pos;
use fnstore::text::{inflections, lemmatize};

/// Lemma to forms, of single lower-case words.
fn listed_verbs() -> Option<BTreeMap<String, BTreeSet<String>>> {
    let shared = std::env::var_os("FNSTORE_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from);
    let path = shared.join("data/morphology/unimorph-english.tsv.xz");
    if !path.exists() {
        return None;
    }
    let output = Command::new("xz").arg("-dc").arg(&path).output().ok()?;
    let list = String::from_utf8(output.stdout).ok()?;
    let mut verbs: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in list.lines() {
        let mut columns = line.split('\t');
        let (Some(lemma), Some(form)) = (columns.next(), columns.next()) else { continue };
        let plain = |word: &str| word.len() > 1 && word.chars().all(|c| c.is_ascii_lowercase());
        if plain(lemma) && plain(form) {
            verbs.entry(lemma.to_owned()).or_default().insert(form.to_owned());
        }
    }
    Some(verbs)
}

#[test]
fn nearly_all_listed_verb_forms_are_yielded_and_lemmatised_back() {
    let Some(verbs) = listed_verbs() else {
        skipped!("../shared/data/morphology is not here (or there is no xz)");
        return;
    };
    let (mut listed, mut yielded, mut produced, mut back, mut back_by_shape) = (0, 0, 0, 0, 0);
    let mut missed = Vec::new();
    for (lemma, forms) in &verbs {
        let ours = inflections(lemma, Pos::Verb);
        produced += ours.len();
        listed += forms.len();
        for form in forms {
            if ours.contains(form) {
                yielded += 1;
            } else {
                missed.push(format!("{lemma}:{form}"));
            }
            let known = |word: &str, _: Pos| verbs.contains_key(word);
            back += usize::from(lemmatize(form, Pos::Verb, &known).0 == *lemma);
            let guess = lemmatize(form, Pos::Verb, &|_, _| false).0;
            back_by_shape += usize::from(guess == *lemma);
            if std::env::var_os("FNSTORE_SHOW_MISSES").is_some() && guess != *lemma {
                println!("guess {form}: {guess}, listed {lemma}");
            }
        }
    }
    if std::env::var_os("FNSTORE_SHOW_MISSES").is_some() {
        println!("{}", missed.join("\n"));
    }
    let percent = |part: usize, whole: usize| 100.0 * part as f64 / whole as f64;
    let recall = percent(yielded, listed);
    println!("{} verbs, {listed} forms", verbs.len());
    println!("yielded: recall {recall:.2} %, precision {:.2} %", percent(yielded, produced));
    println!("lemmatised back: {:.2} % with the list as vocabulary", percent(back, listed));
    println!("lemmatised back: {:.2} % by shape alone", percent(back_by_shape, listed));
    assert!(recall > 97.0, "recall {recall:.2} %");
}
