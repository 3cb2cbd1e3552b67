//! Recipes that follow the rules of an earlier program: told apart, and never continued.

use std::path::Path;

use fnstore::database::Database;
use fnstore::internals::WithStore as _;
use fnstore::model::Rules;

use crate::cli_program::{Ran, fnstore_in, new_store};

fn expand(store: &Path) -> Ran {
    let seeds = "lu=inspect.v origin=exemplar";
    let few = ["--model", "paraphrase", "--rounds", "1", "--beam", "4", "--limit", "1"];
    fnstore_in(store, &[&["expand", seeds][..], &few].concat())
}

#[test]
fn they_are_listed_as_such_and_their_sets_are_not_continued() {
    let store = new_store();
    assert_eq!(expand(store.path()).code, Some(0));
    let told = "recipes by earlier rules are in the store";
    assert!(!expand(store.path()).stderr.contains(told), "there are none yet");

    let database = Database::open_existing_writer(store.path()).unwrap();
    let recipes = database.recipes().unwrap();
    let now = format!("\"rewriting\":{}", Rules::Rewriting.number());
    let settings = recipes[0].settings.replacen(&now, "\"rewriting\":0", 1);
    assert_ne!(settings, recipes[0].settings);
    let words = "{\"method\":\"paraphrase\",\"rules\":\"ban the trigger; v2\"}".to_owned();
    let number = |print, settings: &str| database.store().recipe([print; 16], settings).unwrap();
    let numbers = format!("({}, {})", number(1, &settings), number(2, &words));
    drop(database);

    let again = expand(store.path());
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert!(again.stderr.contains(&format!("{told} {numbers}")), "{}", again.stderr);
    let listed = fnstore_in(store.path(), &["recipes", "--format", "jsonl"]).records();
    let rules: Vec<&str> = listed.iter().map(|one| one["rules"].as_str().unwrap()).collect();
    assert_eq!(rules, ["current", "earlier", "earlier"]);
    let table = fnstore_in(store.path(), &["recipes", "--format", "table"]).stdout;
    assert_eq!(table.matches(": 0 sets, earlier rules\n").count(), 2, "{table}");
}
