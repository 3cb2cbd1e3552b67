//! Letter case is folded in one way: what a name finds, it matches, in any letters that fold to the
//! same.

use fnstore::database::Database;
use fnstore::query::{Case, Expression, Field, Pattern, Selection, Term, Test};
use fnstore::text::fold;
use fnstore::transfer::ImportOptions;
use proptest::prelude::*;
use serde_json::json;
use tempfile::TempDir;

use crate::mini;

const LOGOS: &str = "\u{3bb}\u{3cc}\u{3b3}\u{3bf}\u{3c2}";

/// A store of one release: each name is the type of a span that covers it, with itself as its
/// lemma.
fn named(names: &[&str]) -> (TempDir, Database) {
    let dir = tempfile::tempdir().unwrap();
    let lines = names.iter().map(|name| {
        let end = name.chars().count();
        let span = json!({"start": 0, "end": end, "type": name, "lemma": name, "pos": "n"});
        json!({"text": name, "spans": [span], "id": name, "split": "train"}).to_string()
    });
    let file = dir.path().join("names.jsonl");
    std::fs::write(&file, lines.collect::<Vec<_>>().join("\n")).unwrap();
    let database = Database::open_writer(&dir.path().join("store")).unwrap();
    database.import_spans(&file, &ImportOptions::default(), &mut |_| {}).unwrap();
    (dir, database)
}

fn called(field: Field, pattern: Pattern) -> Expression {
    let test = match field {
        Field::Inherits => Test::Relative(pattern, None),
        _ => Test::Pattern(pattern),
    };
    Expression::Term(Term::new(field, test).unwrap())
}

fn found(database: &Database, field: Field, pattern: Pattern) -> usize {
    let expression = called(field, pattern);
    let matches = database.matches(&expression, &Selection::default());
    matches.unwrap_or_else(|error| panic!("{expression}: {error}")).count()
}

#[test]
fn a_greek_name_is_found_in_capitals() {
    let (_dir, database) = named(&[LOGOS]);
    let upper = LOGOS.to_uppercase();
    for query in [
        format!("lu={upper}.n"),
        format!("lemma={upper}"),
        format!("frame={upper}"),
        format!("trigger={upper}"),
        format!("text={upper}"),
        format!("doc={upper}"),
        format!("frame=*{}", &upper[2..]),
        format!("text~\"^{upper}$\""),
    ] {
        assert_eq!(mini::answers(&database, &query).len(), 1, "{query}");
        assert_eq!(mini::answers(&database, &fold(&query)).len(), 1, "{query}");
    }
}

#[test]
fn a_release_is_found_in_other_letters() {
    let (_dir, database) = named(&["a"]);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("spans.jsonl");
    std::fs::write(&file, r#"{"text": "a", "spans": [{"start": 0, "end": 1, "type": "T"}]}"#)
        .unwrap();
    let options = ImportOptions { release: Some(LOGOS.to_owned()), ..ImportOptions::default() };
    database.import_spans(&file, &options, &mut |_| {}).unwrap();
    let query = format!("release={}", LOGOS.to_uppercase());
    assert_eq!(mini::answers(&database, &query).len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    /// A query either says that there is no such name, or finds what is called so.
    #[test]
    fn what_a_name_finds_it_matches(
        name in "([A-Za-z]|\u{3a3}|\u{3c2}|\u{130}|\u{1e9e}|\u{212a}|\u{1c5}|\\p{Lu}|\\p{Ll}|\\p{Lt}){1,6}",
    ) {
        let (_dir, database) = named(&[&name]);
        for variant in [name.clone(), fold(&name), name.to_uppercase(), name.to_lowercase()] {
            let is_same = fold(&variant) == fold(&name);
            for field in [Field::Frame, Field::Inherits, Field::Lu, Field::Doc] {
                let value = if field == Field::Lu { format!("{variant}.n") } else { variant.clone() };
                let pattern = Pattern::exact(&value, Case::Fold);
                let expression = called(field, pattern.clone());
                if is_same {
                    prop_assert_eq!(found(&database, field, pattern), 1, "{} {}", field, variant);
                } else {
                    let error = database.matches(&expression, &Selection::default()).map(drop);
                    let error = error.unwrap_err().to_string();
                    prop_assert!(error.starts_with("there is no "), "{}", error);
                }
            }
            let in_text = found(&database, Field::Text, Pattern::exact(&variant, Case::Fold));
            prop_assert_eq!(in_text, usize::from(is_same));
        }
    }

    #[test]
    fn patterns_fold_as_names_do(a in "\\PC{0,6}", b in "\\PC{0,6}") {
        let pattern = Pattern::exact(&a, Case::Fold);
        prop_assert!(pattern.matches(&fold(&a)));
        prop_assert_eq!(pattern.matches(&b), fold(&a) == fold(&b));
        let upper = a.to_uppercase();
        prop_assert_eq!(pattern.matches(&upper), fold(&a) == fold(&upper));
    }
}
