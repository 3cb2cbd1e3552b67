//! The query language: text in, a typed [`Expression`] out.
//!
//! An expression is a tree of terms such as `frame=Verification` or `aligner>=0.95`. Values are
//! typed when the text is read, and patterns are compiled once. Everything that can be wrong
//! without a store is an error with a column: an unknown field, an operator that a field does not
//! have, a value outside its range. Whether a frame or an LU of that name exists is for the store
//! to say; it finds `nearest` names with the same measure.
//!
//! Nothing here knows how a term is answered: [`Expression::holds`] asks its caller about each
//! term. The grammar and the table of fields are in `schema/query.md`.
//!
//! ```
//! use fnstore::query::{Expression, Field};
//!
//! let query = Expression::parse(r#"frame = Verification and not text~"\bnot\b" round<=3"#)?;
//! assert_eq!(query.to_string(), r#"frame=Verification not text~"\bnot\b" round<=3"#);
//! assert_eq!(query.terms().map(|term| term.field()).collect::<Vec<_>>(), [
//!     Field::Frame,
//!     Field::Text,
//!     Field::Round,
//! ]);
//!
//! let error = Expression::parse("frme=Verification").unwrap_err();
//! assert_eq!(error.to_string(), "unknown field `frme` at column 1; did you mean `frame`?");
//! # Ok::<(), fnstore::query::QueryError>(())
//! ```

mod cursor;
mod display;
mod error;
mod expression;
mod field;
mod ids;
mod lexer;
mod nearest;
mod parser;
mod pattern;
mod relation;
mod selection;
mod term;
mod value;

pub use cursor::Cursor;
pub(crate) use cursor::Question;
#[doc(hidden)]
pub use display::quoted;
pub use error::{BuildError, QueryError};
pub use expression::Expression;
#[doc(hidden)]
pub use expression::{Negated, Parts};
pub use field::{Field, FieldKind, Operator};
pub(crate) use field::{FieldCost, FieldRoute};
pub use ids::Ids;
#[doc(hidden)]
pub use nearest::nearest;
#[doc(hidden)]
pub use pattern::Words;
pub use pattern::{Case, Pattern};
#[doc(hidden)]
pub use relation::Distance;
pub(crate) use relation::Followed;
#[doc(hidden)]
pub use selection::listed;
pub use selection::{Selection, SortKey};
pub use term::{Comparison, Term, Test};
#[doc(hidden)]
pub use term::{LabelFacts, LabelField, LabelTest};
pub use value::Value;
