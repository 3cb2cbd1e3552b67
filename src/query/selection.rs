//! Which of a query's answers are wanted, and in which order.

use super::{Cursor, Field, QueryError};

/// Which answers: by default all of them, in order of key.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selection {
    /// What to order by, the most important first. Answers that are equal by all of it stay in
    /// order of key.
    pub sort: Vec<SortKey>,
    /// Where the page before ended: answers begin behind it. In order of key nothing before it is
    /// read, unlike with an offset.
    pub after: Option<Cursor>,
    /// How many answers to leave out at the start.
    pub offset: usize,
    /// How many answers to give at most after these.
    pub limit: Option<usize>,
}

/// One thing to order by.
///
/// Texts are ordered without regard to case, then as they are written, numbers by value, ids by
/// origin and number. Of several values the first in the order counts. Sets without a value come
/// last, whichever way the order goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SortKey {
    /// The field whose values are compared.
    pub field: Field,
    /// Whether the greatest comes first.
    pub descending: bool,
}

impl SortKey {
    /// Reads a list such as `frame,-aligner`; a minus turns the order round.
    ///
    /// ```
    /// use fnstore::query::{Field, SortKey};
    ///
    /// let keys = SortKey::parse_list("frame, -aligner")?;
    /// assert_eq!(keys[0], SortKey { field: Field::Frame, descending: false });
    /// assert_eq!(keys[1], SortKey { field: Field::Aligner, descending: true });
    /// # Ok::<(), fnstore::query::QueryError>(())
    /// ```
    ///
    /// # Errors
    /// When a name is no field, or the field has no value to compare; with the column.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, QueryError> {
        let mut keys = Vec::new();
        for (column, name) in listed(text) {
            let (descending, bare) = match name.strip_prefix('-') {
                Some(bare) => (true, bare),
                None => (false, name),
            };
            let column = column + usize::from(descending);
            keys.push(Self { field: Field::with_value(bare, column)?, descending });
        }
        Ok(keys)
    }
}

impl Field {
    /// The field of this name, which must be one whose values can be shown, counted and compared.
    /// `column` is where the name stands, for the error.
    ///
    /// # Errors
    /// When there is no such field, with the nearest name, or the field has no value of its own.
    pub fn with_value(name: &str, column: usize) -> Result<Self, QueryError> {
        let field = Self::named(name, column)?;
        if field.has_value() { Ok(field) } else { Err(QueryError::NoValue { column, field }) }
    }

    /// Whether a set can have several values of it.
    #[must_use]
    pub fn has_many_values(self) -> bool {
        use Field::{
            DocForeign, Edition, Fe, Flag, Foreign, FrameForeign, Gf, Hypernym, Judgement,
            LuForeign, Ni, Pb, Pt, Synset, Vn,
        };
        let is_linked = matches!(self, Synset | Vn | Pb | Hypernym);
        let is_foreign = matches!(self, Foreign | FrameForeign | LuForeign | DocForeign);
        let is_relation = self.followed().is_some();
        is_relation
            || is_foreign
            || is_linked
            || matches!(self, Fe | Gf | Pt | Ni | Flag | Judgement | Edition)
    }

    /// Whether a set has values of it: `since` asks about the store's history, and has none.
    #[must_use]
    pub fn has_value(self) -> bool {
        self != Self::Since
    }
}

/// The items of a list parted by commas, without the space around them, each with its column (code
/// points, from 1).
pub fn listed(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut column = 1;
    text.split(',').map(move |item| {
        let space = item.chars().take_while(|letter| letter.is_whitespace()).count();
        let at = column + space;
        column += item.chars().count() + 1;
        (at, item.trim())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_in_order_with_its_directions() {
        let keys = SortKey::parse_list("-round, frame,text").unwrap();
        let keys: Vec<_> = keys.iter().map(|key| (key.field, key.descending)).collect();
        assert_eq!(keys, [(Field::Round, true), (Field::Frame, false), (Field::Text, false)]);
    }

    #[test]
    fn a_wrong_name_is_named_with_its_column() {
        for (list, message) in [
            ("fram", "unknown field `fram` at column 1; did you mean `frame`?"),
            ("frame, -algner", "unknown field `algner` at column 9; did you mean `aligner`?"),
            (
                "since",
                "field `since` (column 1) has no value that can be shown, counted or compared",
            ),
        ] {
            assert_eq!(SortKey::parse_list(list).unwrap_err().to_string(), message);
        }
        let message = SortKey::parse_list("frame,,xyzzy").unwrap_err().to_string();
        let start = "unknown field `` at column 7; the fields are release, ";
        assert!(message.starts_with(start) && message.contains(", trigger, "), "{message}");
    }
}
