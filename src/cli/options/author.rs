//! Who makes the commits of a command.

use fnstore::database::Database;

use crate::cli::print::output::{grouped, tell};

/// Names of variables that say who it is, the first one that is set.
const VARIABLES: [&str; 3] = ["FNSTORE_AUTHOR", "USER", "LOGNAME"];

/// As [`sign`].
pub(crate) fn signed(database: Database) -> Database {
    sign(&database);
    database
}

/// The commits of this handle are the user's, who is told why the first one takes long.
pub(crate) fn sign(database: &Database) {
    watch(database);
    if let Some(name) = author() {
        database.set_author(&name);
    }
}

fn author() -> Option<String> {
    let names = VARIABLES.iter().filter_map(|name| std::env::var(name).ok());
    names.map(|name| name.trim().to_owned()).find(|name| !name.is_empty())
}

/// Who reviews: who is named, or else the author of the command's commits.
pub(crate) fn reviewer(given: Option<String>) -> String {
    given.or_else(author).unwrap_or_else(|| "reviewer".to_owned())
}

/// Rows between two lines that tell how many were read.
const ROWS: u64 = 1 << 22;

/// Tells of the rows that a commit reads to make counts and evidence that the store does not have.
pub(crate) fn watch(database: &Database) {
    let mut next = 0;
    database.watch_sums(move |rows| {
        if next == 0 {
            tell("rows are read once to make the counts that later commits keep");
        }
        if rows >= next {
            tell(&format!("counted {} rows", grouped(rows)));
            next = rows + ROWS;
        }
    });
}
