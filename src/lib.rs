//! An embedded FrameNet database that can grow.
//!
//! It imports FrameNet releases, answers queries about them, and writes new annotated sentences
//! beside the human ones.
//!
//! | name | what it is |
//! | --- | --- |
//! | [`Database`] | a store in a directory: opened to read, to edit or to write |
//! | [`Release`] | one FrameNet, or other annotation, in it |
//! | [`Lexicon`] | frames, LUs, FEs and relations of a release |
//! | [`Expression`] | a query, read from text or built |
//! | [`Answer`] | an annotation set that a query finds, with its sentence and names |
//! | [`Span`] | where something stands in a text, in UTF-8 bytes |
//! | [`Transaction`] | edits of a release that are committed together |
//! | [`Script`] | the same edits as JSON lines |
//! | [`Change`] | what a commit added, edited or removed |
#![cfg_attr(
    feature = "neural",
    doc = "| [`Expander`] | writes new sentences for annotation sets, with models that stay open |\n\
           | [`Proposals`] | the LUs that new sentences propose, ranked |"
)]
//! | [`Error`] | what went wrong, with a kind and a code |
//!
//! # Open, query, edit, follow
//!
//! ```
//! use fnstore::{Database, Expression};
//! use fnstore::model::{FrameId, LexUnit};
//! use fnstore::transfer::ImportOptions;
//!
//! # let store = tempfile::tempdir()?;
//! # let store = store.path();
//! # let release = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mini-framenet");
//! let database = Database::open_writer(store)?;
//! let report = database.import(release.as_ref(), &ImportOptions::default(), &mut |_| {})?;
//! assert_eq!(report.release.counts.frames, 6);
//!
//! let query = Expression::parse("frame=Checking trigger=look*")?;
//! let answers = database.query(&query)?.collect::<Result<Vec<_>, _>>()?;
//! let triggers: Vec<String> = answers.iter().map(|answer| answer.trigger()).collect();
//! assert_eq!(triggers, ["looked over", "look over", "looked over"]);
//!
//! let before = database.revision()?;
//! let mut edits = database.transaction("mini-framenet")?;
//! edits.add_lexunit(LexUnit::new(FrameId(102), "peruse.v"))?;
//! let revision = edits.commit()?;
//! for change in database.changes(before)? {
//!     println!("{:?}", change?.subject);
//! }
//! database.undo(&[revision], "a trial")?;
//! # Ok::<(), fnstore::Error>(())
//! ```
#![cfg_attr(
    feature = "neural",
    doc = "
# Expand

```no_run
use std::ops::ControlFlow;
use fnstore::{Database, Expander};
use fnstore::expand::{Models, Recipe, RunOptions};

let database = Database::open_writer(\"store\".as_ref())?;
let recipe = Recipe::new(Models::open(\"models\".as_ref())?);
let mut expander = Expander::open(recipe, RunOptions::rounds(1))?;
let seeds = \"frame=Verification\".parse()?;
let report = expander.run(&database, &seeds, &mut |at| {
    println!(\"{} of {} seeds\", at.seeds, at.of);
    ControlFlow::Continue(())
})?;
println!(\"{} sentences\", report.sentences);
# Ok::<(), fnstore::Error>(())
```
"
)]
//!
//! `docs/guides/embed.md`, `embed-edit.md` and `embed-expand.md` have the rest: pages of answers,
//! a feed that a copy lives on, undo, a run for one set, proposals. With `--no-default-features`
//! there are neither networks nor the program.
//!
//! # What is promised
//!
//! Versions follow Semantic Versioning; until 1.0 a change of 0.x may break. They speak of the
//! names above, and of the modules below but one: [`internals`] has what the library is built from,
//! and changes in any release. `docs/reference/library.md` lists the names. Enums and results that
//! will grow are `#[non_exhaustive]`. `rust-version` in `Cargo.toml` is the Rust that the checks
//! run with. The number of the store's format is its own (`ARCHITECTURE.md`).

pub mod database;
#[cfg(feature = "neural")]
pub mod discover;
pub mod edit;
mod error;
#[cfg(feature = "neural")]
pub mod expand;
pub mod internals;
pub mod lexicon;
#[cfg(feature = "neural")]
pub mod link;
pub mod model;
#[cfg(feature = "neural")]
pub mod models;
#[cfg(feature = "neural")]
pub mod proposals;
pub mod query;
pub mod search;
pub mod text;
pub mod transfer;
pub mod upkeep;

pub use database::Database;
pub use edit::{Script, Transaction};
pub use error::Error;
#[cfg(feature = "neural")]
pub use expand::Expander;
pub use lexicon::Lexicon;
pub use model::{Release, Span};
#[cfg(feature = "neural")]
pub use proposals::Proposals;
pub use query::Expression;
pub use search::Answer;
pub use store::Change;

// What `internals` shows. The program and the tests name these by the shorter path.
#[cfg(feature = "neural")]
#[doc(hidden)]
pub mod align;
#[cfg(feature = "neural")]
#[doc(hidden)]
pub mod augment;
#[doc(hidden)]
pub mod durable;
#[cfg(feature = "neural")]
#[doc(hidden)]
pub mod endpoint;
#[cfg(feature = "neural")]
#[doc(hidden)]
pub mod engine;
#[doc(hidden)]
pub mod exchange;
#[cfg(feature = "neural")]
#[doc(hidden)]
pub mod experiment;
#[cfg(feature = "neural")]
#[doc(hidden)]
pub mod filter;
#[doc(hidden)]
pub mod framenet;
#[cfg(feature = "neural")]
#[doc(hidden)]
pub mod generate;
#[cfg(feature = "neural")]
mod grow;
#[cfg(feature = "neural")]
#[doc(hidden)]
pub mod identify;
#[doc(hidden)]
pub mod index;
#[cfg(feature = "neural")]
#[doc(hidden)]
pub mod label;
#[cfg(feature = "neural")]
mod learn;
#[doc(hidden)]
pub mod lexica;
#[doc(hidden)]
pub mod mine;
#[cfg(feature = "neural")]
#[doc(hidden)]
pub mod paraphrase;
#[doc(hidden)]
pub mod promise;
#[cfg(feature = "neural")]
#[doc(hidden)]
pub mod prompt;
#[cfg(feature = "neural")]
#[doc(hidden)]
pub mod publish;
#[doc(hidden)]
pub mod review;
#[cfg(feature = "neural")]
#[doc(hidden)]
pub mod score;
#[doc(hidden)]
pub mod store;
#[cfg(feature = "neural")]
#[doc(hidden)]
pub mod tag;
#[cfg(feature = "neural")]
#[doc(hidden)]
pub mod vectors;
#[cfg(feature = "neural")]
#[doc(hidden)]
pub mod verify;
#[cfg(feature = "neural")]
#[doc(hidden)]
pub use learn::{FileError, NetworkError, SmallNetwork, TrainerOptions, TrainingProgress};

/// The README's Rust block is a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The program that shows what takes the place of NLTK's calls is a documentation test, too.
#[cfg(doctest)]
#[doc = include_str!("../docs/reference/from-nltk.md")]
struct FromNltk;

/// The Rust blocks of the guide to embedding are documentation tests, too.
#[cfg(doctest)]
#[doc = include_str!("../docs/guides/embed.md")]
struct Embed;

/// So are those of the guide to edits in a tool.
#[cfg(doctest)]
#[doc = include_str!("../docs/guides/embed-edit.md")]
struct EmbedEdit;

/// So are those of the guide to expansion in a tool.
#[cfg(all(doctest, feature = "neural"))]
#[doc = include_str!("../docs/guides/embed-expand.md")]
struct EmbedExpand;
