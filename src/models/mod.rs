//! Models on disk: what a directory holds, whether it is whole, how one joins the others, and which
//! rewriter is taken when nobody names one. The folder `models/` at the top of the project is such
//! a directory: it holds the weights that come with fnstore, and this module the code that looks
//! after them.
//!
//! A *directory of models* holds a folder for each of them, by name. Kinds of models are told apart
//! by `config.json`. A folder with one GGUF file is a language model, one with an
//! `adapter_config.json` its adapter.
//!
//! ```text
//! describe.rs   kind, layout, size, fingerprint: reads headers and bytes, loads nothing
//! sums.rs       BLAKE3SUMS, the hashes of a model's files, as `b3sum` writes and checks them
//! verify.rs     loads a model as its users would, and compares its files with those hashes
//! add.rs        a checkpoint of `transformers` becomes one of the models, all of it or nothing
//! preferred.rs  a model by its name; the rewriter of choice, in `default.json` beside the models
//! ```

mod add;
mod describe;
mod error;
mod preferred;
mod sums;
mod verify;

#[doc(hidden)]
pub use add::add;
#[doc(hidden)]
pub use describe::{Description, ModelKind, describe, is_model, models_in};
pub use error::ModelError;
#[doc(hidden)]
pub use preferred::{
    ADAPTER, PREFERRED, Preferred, REWRITER, VERIFIER, adapter, prefer, preferred,
};
pub use preferred::{default_rewriter, find};
#[doc(hidden)]
pub use sums::{SUMS, record_sums};
#[doc(hidden)]
pub use verify::{Finding, FindingCode, ModelCheck, verify};
