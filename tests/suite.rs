//! The integration tests: one binary, one behaviour per module.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test, in helpers too")]

mod layering;
mod licences;
mod readme;
