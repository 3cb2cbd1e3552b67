//! An embedded FrameNet database that can grow.
//!
//! It imports FrameNet releases, answers queries about them, and writes new annotated sentences
//! beside the human ones. The store and query layer ([`framenet`], [`store`], [`index`], [`query`],
//! joined by [`database`]) stands alone with `--no-default-features`; the feature `neural` adds the
//! networks and `expand`, which grows a database. `ARCHITECTURE.md` says what must hold.
//!
//! ```
//! use fnstore::database::Database;
//! use fnstore::transfer::ImportOptions;
//! use fnstore::query::Expression;
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
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod durable;
pub mod model;
pub mod text;

pub mod exchange;
pub mod framenet;
pub mod index;
pub mod mine;
pub mod query;
pub mod store;

#[cfg(feature = "neural")]
pub mod compute;
#[cfg(feature = "neural")]
pub mod endpoint;
#[cfg(feature = "neural")]
pub mod tokenize;

#[cfg(feature = "neural")]
pub mod nn;

#[cfg(feature = "neural")]
pub mod decode;
#[cfg(feature = "neural")]
mod learn;
#[cfg(feature = "neural")]
pub use learn::{FileError, NetworkError, SmallNetwork, TrainerOptions, TrainingProgress};
#[cfg(feature = "neural")]
pub mod prompt;

#[cfg(feature = "neural")]
pub mod align;
pub mod database;
#[cfg(feature = "neural")]
pub mod filter;
#[cfg(feature = "neural")]
pub mod paraphrase;
#[cfg(feature = "neural")]
pub mod score;
#[cfg(feature = "neural")]
pub mod tag;
#[cfg(feature = "neural")]
pub mod vectors;

#[cfg(feature = "neural")]
pub mod augment;
#[cfg(feature = "neural")]
mod grow;
pub mod search;
#[cfg(feature = "neural")]
pub mod verify;

pub mod lexicon;

#[cfg(feature = "neural")]
pub mod identify;
#[cfg(feature = "neural")]
pub mod label;

pub mod edit;
pub mod transfer;
pub mod upkeep;

pub mod review;

#[cfg(feature = "neural")]
pub mod expand;
#[cfg(feature = "neural")]
pub mod experiment;
#[cfg(feature = "neural")]
pub mod models;
#[cfg(feature = "neural")]
pub mod proposals;

#[cfg(feature = "neural")]
pub mod generate;

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
