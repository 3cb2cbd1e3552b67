//! Answers that were given before: a file each, named by a hash of version, address and question.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{EndpointError, Result};
use crate::durable::{create_directory, write_file};

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoredAnswer {
    pub(super) content: String,
    pub(super) tokens: u64,
}

/// What is kept, with a version: whole answers. The first kept those that were cut off, too.
const VERSION: &str = "answers 2\n";

/// A directory of answers.
#[derive(Debug)]
pub(super) struct Answers(PathBuf);

impl Answers {
    pub(super) fn in_directory(directory: PathBuf) -> Self {
        Self(directory)
    }

    fn file(&self, url: &str, body: &str) -> PathBuf {
        let mut hash = blake3::Hasher::new();
        hash.update(VERSION.as_bytes())
            .update(url.as_bytes())
            .update(b"\n")
            .update(body.as_bytes());
        self.0.join(format!("{}.json", hash.finalize().to_hex()))
    }

    /// The answer to a question; none also where its file is damaged, which is then written again.
    pub(super) fn get(&self, url: &str, body: &str) -> Option<StoredAnswer> {
        serde_json::from_slice(&std::fs::read(self.file(url, body)).ok()?).ok()
    }

    pub(super) fn put(&self, url: &str, body: &str, given: &StoredAnswer) -> Result<()> {
        let bytes = serde_json::to_vec(given).expect("two plain fields");
        create_directory(&self.0)
            .and_then(|()| write_file(&self.file(url, body), &bytes))
            .map_err(|source| EndpointError::Answers { directory: self.0.clone(), source })
    }
}
