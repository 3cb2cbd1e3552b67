//! An embedded FrameNet database that can grow.
//!
//! The store and query layer ([`framenet`], [`database`], [`query`]) stands alone with
//! `--no-default-features`; the `neural` feature adds the networks and [`expand`].

pub mod model;
pub mod text;

pub mod framenet;
pub mod index;
pub mod query;
pub mod store;

#[cfg(feature = "neural")]
pub mod compute;
#[cfg(feature = "neural")]
pub mod tokenize;

#[cfg(feature = "neural")]
pub mod nn;

#[cfg(feature = "neural")]
pub mod decode;

#[cfg(feature = "neural")]
pub mod align;
pub mod database;
#[cfg(feature = "neural")]
pub mod paraphrase;

#[cfg(feature = "neural")]
pub mod expand;
