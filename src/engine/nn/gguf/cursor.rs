//! Reads a GGUF header field by field; whatever is wrong is said with the field's name.

#![allow(clippy::little_endian_bytes, reason = "GGUF is little-endian by definition")]

use std::path::Path;

use super::{GgufError, GgufProblem};

/// A place in the bytes of a file.
pub(super) struct Cursor<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    at: usize,
    /// What is being read, for errors.
    pub(super) field: String,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(path: &'a Path, bytes: &'a [u8], at: usize) -> Self {
        Self { path, bytes, at, field: String::new() }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn error(&self, problem: GgufProblem) -> GgufError {
        GgufError::field(self.path, self.field.clone(), problem)
    }

    /// The next bytes, as many as asked for.
    pub(super) fn take(&mut self, count: u64) -> Result<&'a [u8], GgufError> {
        let left = &self.bytes[self.at..];
        let taken = usize::try_from(count).ok().and_then(|count| left.get(..count));
        let Some(taken) = taken else {
            let (at, left) = (self.at as u64, left.len() as u64);
            return Err(self.error(GgufProblem::Cut { at, wanted: count, left }));
        };
        self.at += taken.len();
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], GgufError> {
        let taken = self.take(N as u64)?;
        Ok(*taken.first_chunk().expect("as many bytes as asked for"))
    }

    pub(super) fn u32(&mut self) -> Result<u32, GgufError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(super) fn u64(&mut self) -> Result<u64, GgufError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// A count of things, at most so many.
    pub(super) fn count(&mut self, most: u64) -> Result<u64, GgufError> {
        let found = self.u64()?;
        if found > most {
            return Err(self.error(GgufProblem::Many { found, most }));
        }
        Ok(found)
    }

    /// A text: its length, then its bytes.
    pub(super) fn text(&mut self) -> Result<&'a str, GgufError> {
        let length = self.u64()?;
        let bytes = self.take(length)?;
        std::str::from_utf8(bytes)
            .map_err(|error| self.error(GgufProblem::Text { valid: error.valid_up_to() }))
    }
}
