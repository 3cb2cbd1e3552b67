//! `fnstore recipes`: by which settings generated sentences were made.

use fnstore::database::Database;
use fnstore::internals::WithStore as _;
use fnstore::model::RecipeId;

use crate::cli_program::{fnstore_in, new_store};
use crate::cli_schema::generate;

#[test]
fn a_recipe_is_shown_with_its_settings_and_the_number_of_its_sets() {
    let store = new_store();
    let ran = fnstore_in(store.path(), &["recipes"]);
    assert_eq!((ran.code, ran.stderr.contains("nothing was expanded")), (Some(1), true));

    generate(store.path());
    let settings = r#"{"method":"paraphrase","beam_size":5,"guide":{"rules":"any"},"seed":null}"#;
    let database = Database::open_existing_writer(store.path()).unwrap();
    let second = database.store().recipe([0xab; 16], settings).unwrap();
    assert_ne!(second, RecipeId(0));
    drop(database);

    let records = fnstore_in(store.path(), &["recipes", "--format", "jsonl"]).records();
    let of_second = records.iter().find(|record| record["recipe"] == second.0).unwrap();
    assert_eq!(of_second["fingerprint"], "ab".repeat(16));
    assert_eq!((&of_second["sets"], &of_second["settings"]["beam_size"]), (&0.into(), &5.into()));
    assert_eq!(records.iter().filter(|record| record["sets"] == 1).count(), 1);

    let table = fnstore_in(store.path(), &["recipes", "--format", "table"]).stdout;
    for line in ["guide.rules          any", "beam_size            5", "(07070707"] {
        assert!(table.contains(line), "no `{line}` in\n{table}");
    }
    assert!(!table.contains("null"), "{table}");
}
