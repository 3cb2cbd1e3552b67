//! What can go wrong between a question and its answer.

use crate::model::coded;
use std::path::PathBuf;

/// An endpoint that cannot be asked, or did not answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EndpointError {
    /// The feature `http` is off.
    #[error(
        "this build asks no servers: it is built without the feature `http`; build with it, or use a model on disk (H-not-built)"
    )]
    NotBuilt,
    /// Its address is of no use.
    #[error(
        "the endpoint `{url}` {reason}; expected an address as http://127.0.0.1:8000/v1 (H-url)"
    )]
    Url {
        /// The address, without a password.
        url: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// It wants a key, or another one.
    #[error(
        "the endpoint `{url}` answered {status}: {} (H-key)",
        if *given { "it refuses the key" } else { "it wants a key and was given none" }
    )]
    Key {
        /// The address.
        url: String,
        /// 401 or 403.
        status: u16,
        /// Whether a key was sent.
        given: bool,
    },
    /// The environment lacks the variable that holds the key.
    #[error("the environment has no key `{name}` (H-key)")]
    NoKey {
        /// Name of the variable.
        name: String,
    },
    /// Nothing would be asked.
    #[error("a number of tries or a time to wait is 0, expected 1 or more (N-range)")]
    Range,
    /// It cannot be reached, or took too long.
    #[error("the endpoint `{url}` cannot be reached: {reason} (H-connect)")]
    Connect {
        /// The address.
        url: String,
        /// What the system says.
        reason: String,
    },
    /// It cannot be trusted.
    #[error(
        "no encrypted connection to the endpoint `{url}`: {reason}; expected TLS with a certificate of a public authority for this host; a server on this machine can be asked as http://127.0.0.1 (H-tls)"
    )]
    Tls {
        /// The address.
        url: String,
        /// What is wrong with its certificate or its protocol.
        reason: String,
    },
    /// It answered with an error.
    #[error("the endpoint `{url}` answered {status}: {said} (H-status)")]
    Status {
        /// The address.
        url: String,
        /// HTTP's number.
        status: u16,
        /// The beginning of what it said.
        said: String,
    },
    /// Its answer is not what OpenAI's protocol has.
    #[error("the answer of the endpoint `{url}` cannot be read: {reason} (H-answer)")]
    Answer {
        /// The address.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Whoever asked stopped waiting for the answer.
    #[error("the question to the endpoint was given up (H-stopped)")]
    Stopped,
    /// A budget is used up.
    #[error("the budget of {most} {what} is used up (H-budget)")]
    Budget {
        /// Requests or tokens.
        what: &'static str,
        /// How many there may be.
        most: u64,
    },
    /// Tokens have a budget, and nobody counts them.
    #[error(
        "the endpoint `{url}` does not say how many tokens it took, so that a budget of tokens would never end; set \
         one of requests in its place (H-usage)"
    )]
    Uncounted {
        /// The address.
        url: String,
    },
    /// Answers cannot be kept.
    #[error("cannot keep answers in `{}` (H-answers)", directory.display())]
    Answers {
        /// The directory.
        directory: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
}

coded!(EndpointError {
    Self::Key { .. } | Self::NoKey { .. } => Failed.coded("H-key"),
    Self::NotBuilt => Failed.coded("H-not-built"),
    Self::Uncounted { .. } => Failed.coded("H-usage"),
});
