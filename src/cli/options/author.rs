//! Who makes the commits of a command.

use fnstore::database::Database;

/// Names of variables that say who it is, the first one that is set.
const VARIABLES: [&str; 3] = ["FNSTORE_AUTHOR", "LOGNAME", "USER"];

/// As [`sign`].
pub(crate) fn signed(database: Database) -> Database {
    sign(&database);
    database
}

/// The commits of this handle are the user's.
pub(crate) fn sign(database: &Database) {
    let names = VARIABLES.iter().filter_map(|name| std::env::var(name).ok());
    if let Some(name) = names.map(|name| name.trim().to_owned()).find(|name| !name.is_empty()) {
        database.set_author(&name);
    }
}
