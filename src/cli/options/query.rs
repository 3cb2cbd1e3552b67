//! Queries on the command line: expressions that may name files of ids, and lists of fields.

use fnstore::database::DatabaseError;
use fnstore::query::{Case, Expression, Field, listed};

/// The expression of a text; letter case is folded.
pub(crate) fn expression(text: &str) -> anyhow::Result<Expression> {
    expression_with(text, Case::Fold)
}

/// The expression of a text, whose letter case counts as told.
pub(crate) fn expression_with(text: &str, case: Case) -> anyhow::Result<Expression> {
    Ok(Expression::parse_with_files(text, case).map_err(DatabaseError::from)?)
}

/// The fields of a list of names; `document` stands for `doc`, as in other output.
pub(crate) fn fields(names: &str) -> anyhow::Result<Vec<Field>> {
    let fields = listed(names).map(|(column, name)| match name {
        "document" => Ok(Field::Doc),
        name => Field::with_value(name, column),
    });
    Ok(fields.collect::<Result<_, _>>().map_err(DatabaseError::from)?)
}
