//! `fnstore stats diversity` on two generated sentences, against numbers worked out by hand.

use fnstore::database::Database;
use serde_json::{Value, json};

use crate::cli_program::{fnstore, fnstore_in, new_store};
use crate::cli_schema::faults_in;
use crate::generated;

fn close(value: &Value, expected: f64) {
    let found = value.as_f64().unwrap_or(f64::NAN);
    assert!((found - expected).abs() < 1e-9, "{found}, expected {expected}");
}

#[test]
fn sentences_are_compared_with_their_source_and_with_one_another() {
    let store = new_store();
    let database = Database::open_writer(store.path()).unwrap();
    generated::write(&database, database.release("mini-framenet").unwrap().id);
    drop(database);
    let rows = fnstore_in(store.path(), &["stats", "diversity", "--no-pos"]).records();
    assert_eq!(rows.len(), 3, "{rows:?}");
    for row in &rows {
        assert_eq!(faults_in("diversity.schema.json", row), [""; 0]);
        // `He verified the figures .` of `He checked the figures against the bank statement .`: one
        // of five words is new; 4 of 5 words match, 1 of 4 pairs, 0 of 3 triples and of 2 fours; 5
        // words for 9.
        close(&row["changed_words"], 0.2);
        let matches = (4.0 / 5.0) * (1.0 / 4.0) * (0.1 / 3.0) * (0.1 / 2.0_f64);
        close(&row["source_bleu"], (-0.8_f64).exp() * matches.powf(0.25));
        // `He vetted the figures .` beside it: 4 of 5, 2 of 4, 1 of 3, 0 of 2.
        let matches = (4.0 / 5.0) * (2.0 / 4.0) * (1.0 / 3.0) * (0.1 / 2.0_f64);
        close(&row["self_bleu"], matches.powf(0.25));
        assert_eq!(row["pos_changed"], Value::Null);
    }
    assert_eq!((&rows[0]["round"], &rows[1]["round"]), (&json!(1), &json!(2)));
    assert_eq!((&rows[2]["round"], &rows[2]["sets"]), (&Value::Null, &json!(2)));

    // A round alone has nothing beside it; tags of `checked` and `verified` are the same.
    let tagged = fnstore_in(store.path(), &["stats", "diversity", "round=1"]).records();
    assert_eq!(tagged[0]["self_bleu"], Value::Null);
    for field in ["pos_changed", "pos_jaccard", "pos_weighted"] {
        assert_eq!(tagged[1][field], json!(0.0), "{field}");
    }
    let table = ["stats", "diversity", "--no-pos", "--format", "table"];
    assert!(fnstore_in(store.path(), &table).stdout.contains("all"));
    let by = |threads| {
        let said = ["stats", "diversity", "--threads", threads, "--format", "json"];
        fnstore_in(store.path(), &said).stdout
    };
    assert_eq!(by("1"), by("3"));
}

#[test]
fn wrong_input_is_named() {
    for (arguments, code, message) in [
        (vec!["stats", "diversity", "--no-pos"], 1, "no generated annotation set matches"),
        (vec!["stats", "diversity", "frame=Cheking"], 2, "did you mean `Checking`?"),
        (vec!["stats", "diversity", "--tagger", "no-such"], 69, "no-such"),
    ] {
        let ran = fnstore(&arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(code), ""), "{arguments:?}");
        assert!(ran.stderr.contains(message), "{arguments:?}: {}", ran.stderr);
    }
}
