//! A value that the store does not hold is an error with the nearest one that it does; a value that
//! only other sets have is none.

use crate::cli_program::{fnstore, fnstore_in};

fn message(query: &str) -> String {
    let ran = fnstore(&["query", query]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{query}: {}", ran.stderr);
    ran.stderr
}

#[test]
fn places_and_labels_get_the_nearest_value() {
    for (query, expected) in [
        ("corpus=MIN", "there is no corpus `MIN`; did you mean `MINI`?"),
        ("doc=HarborLog", "there is no document `HarborLog`; did you mean `HarbourLog`?"),
        ("doc=harbour", "there is no document `harbour`; did you mean `HarbourLog`?"),
        ("gf=Exd", "there is no grammatical function `Exd`; did you mean `Ext`?"),
        ("pt=VPtoo", "there is no phrase type `VPtoo`; did you mean `VPto`?"),
        ("gf=Dependent", "there is no grammatical function `Dependent`; did you mean `Dep`?"),
        ("gf=Genitive", "there is no grammatical function `Genitive`; did you mean `Gen`?"),
        ("gf=Subj", "there are `Appositive`, `Dep`, `Ext`, `Gen`, `Head`, `Obj`, `Quant`"),
        ("pt=AdvP", "there is no phrase type `AdvP`; did you mean `AVP`?"),
        ("pt=PPinter", "there is no phrase type `PPinter`; did you mean `PPinterrog`?"),
        ("pt=2nd", "there is no phrase type `2nd`"),
        ("fe=Checker{gf=Exd}", "there is no grammatical function `Exd`; did you mean `Ext`?"),
        ("fe=Checker{pt!=VPtoo}", "there is no phrase type `VPtoo`; did you mean `VPto`?"),
        ("not corpus=MIN", "there is no corpus `MIN`; did you mean `MINI`?"),
        ("frame=check", "there is no frame `check`; did you mean `Checking`?"),
        ("frame=leave", "there is no frame `leave`; did you mean `Giving_leave`?"),
        ("lu=look", "there is no lexical unit `look`; did you mean `look over.v`?"),
    ] {
        let found = message(query);
        assert!(found.contains(expected), "{query}: {found}");
    }
}

#[test]
fn a_value_that_only_other_sets_have_finds_nothing_without_an_error() {
    for query in [
        "corpus=MINI frame=Roaming doc=HarbourLog lu=verify.v",
        "gf=Quant",
        "pt=Swhether frame=Roaming",
        "doc=mini__harbourlog lu=verify.v",
    ] {
        let ran = fnstore(&["query", query]);
        assert_eq!(ran.code, Some(1), "{query}: {}", ran.stderr);
        assert_eq!(ran.stderr, "nothing found\n", "{query}");
    }
}

#[test]
fn a_file_that_sets_were_imported_from_is_a_document() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("spans.jsonl");
    let line = r#"{"text": "a b", "spans": [{"start": 0, "end": 1, "type": "T"}]}"#;
    std::fs::write(&file, line).unwrap();
    let (store, path) = (dir.path().join("store"), file.to_str().unwrap());
    assert_eq!(fnstore_in(&store, &["import", path]).code, Some(0));
    let of = |name: &str| fnstore_in(&store, &["query", "--count", &format!("doc=\"{name}\"")]);
    assert_eq!(of(path).stdout, "1\n");
    let wrong = of(&path.replace("spans", "span"));
    assert_eq!(wrong.code, Some(2), "{}", wrong.stdout);
    assert!(wrong.stderr.contains(&format!("did you mean `{path}`?")), "{}", wrong.stderr);
}

#[test]
fn a_long_value_is_shortened_in_the_message() {
    let long = "x".repeat(5_000);
    for query in [
        format!("lu={long}"),
        format!("pt={long}"),
        format!("{long}=a"),
        format!("origin={long}"),
        format!("round={long}"),
        format!("text~\"({long}\""),
    ] {
        let found = message(&query);
        assert!(found.contains(&format!("{}...`", "x".repeat(59))), "{found}");
        assert!(!found.contains(&"x".repeat(61)) || query.contains('~'), "{found}");
    }
}
