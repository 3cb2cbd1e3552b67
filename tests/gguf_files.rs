//! Small GGUF files, built byte by byte, so that each of their fields can be made wrong. Holds no
//! test.

use std::path::PathBuf;

use tempfile::TempDir;

/// A file in the making. What is not set is as small as it may be.
#[derive(Debug, Clone)]
pub(crate) struct GgufFile {
    pub(crate) magic: [u8; 4],
    pub(crate) version: u32,
    /// How many tensors and keys the file says it has; as many as it has for none.
    pub(crate) counts: [Option<u64>; 2],
    /// Keys, each with the bytes of its kind and value.
    pub(crate) keys: Vec<(String, Vec<u8>)>,
    pub(crate) tensors: Vec<TensorEntry>,
    pub(crate) data: Vec<u8>,
}

/// A line of the table of tensors.
#[derive(Debug, Clone)]
pub(crate) struct TensorEntry {
    pub(crate) name: String,
    /// Fastest first.
    pub(crate) dimensions: Vec<u64>,
    pub(crate) kind: u32,
    pub(crate) offset: u64,
}

impl TensorEntry {
    pub(crate) fn new(name: &str, dimensions: &[u64], kind: u32, offset: u64) -> Self {
        Self { name: name.to_owned(), dimensions: dimensions.to_vec(), kind, offset }
    }
}

impl Default for GgufFile {
    /// Two keys and two tensors: one of F32, one of Q8_0.
    fn default() -> Self {
        Self {
            magic: *b"GGUF",
            version: 3,
            counts: [None; 2],
            keys: vec![
                ("general.architecture".to_owned(), text_value("llama")),
                ("general.alignment".to_owned(), number_value(32)),
            ],
            tensors: vec![
                TensorEntry::new("a.weight", &[4, 2], 0, 0),
                TensorEntry::new("b.weight", &[32, 1], 8, 32),
            ],
            data: vec![0; 66],
        }
    }
}

pub(crate) fn text_value(text: &str) -> Vec<u8> {
    [&le(8)[..], &text_bytes(text)].concat()
}

pub(crate) fn number_value(number: u32) -> Vec<u8> {
    [le(4), le(number)].concat()
}

/// An array of a kind of elements, whose bytes follow.
pub(crate) fn array_value(kind: u32, count: u64, elements: &[u8]) -> Vec<u8> {
    [&le(9)[..], &le(kind), &le64(count), elements].concat()
}

pub(crate) fn text_bytes(text: &str) -> Vec<u8> {
    [&le64(text.len() as u64)[..], text.as_bytes()].concat()
}

#[allow(clippy::little_endian_bytes, reason = "GGUF is little-endian by definition")]
pub(crate) fn le(number: u32) -> Vec<u8> {
    number.to_le_bytes().to_vec()
}

#[allow(clippy::little_endian_bytes, reason = "GGUF is little-endian by definition")]
pub(crate) fn le64(number: u64) -> Vec<u8> {
    number.to_le_bytes().to_vec()
}

impl GgufFile {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let lengths = [self.tensors.len() as u64, self.keys.len() as u64];
        let mut bytes = [&self.magic[..], &le(self.version)].concat();
        for (count, length) in self.counts.iter().zip(lengths) {
            bytes.extend(le64(count.unwrap_or(length)));
        }
        for (key, value) in &self.keys {
            bytes.extend(text_bytes(key));
            bytes.extend(value);
        }
        for TensorEntry { name, dimensions, kind, offset } in &self.tensors {
            bytes.extend(text_bytes(name));
            bytes.extend(le(dimensions.len() as u32));
            dimensions.iter().for_each(|dimension| bytes.extend(le64(*dimension)));
            bytes.extend(le(*kind));
            bytes.extend(le64(*offset));
        }
        bytes.resize(bytes.len().next_multiple_of(32), 0);
        bytes.extend(&self.data);
        bytes
    }
}

/// A file of these bytes, in a directory that goes away.
pub(crate) fn written(bytes: &[u8]) -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model.gguf");
    std::fs::write(&path, bytes).unwrap();
    (directory, path)
}
