//! GGUF files: the container in which language models are passed round, with weights in blocks of
//! few bits.
//!
//! A file is a header, metadata (named values, among them the tokenizer), a table of tensors, and
//! their bytes, aligned:
//!
//! ```text
//! "GGUF"  version  tensors  keys  { key kind value }*  { name dimensions type offset }*  padding  data
//! ```
//!
//! Format: <https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>, versions 2 and 3,
//! little-endian.
//!
//! A file may come from anywhere. It is mapped, and what is held beside the map is bounded. Values
//! and tensors are ranges of bytes, which are checked to lie in the file before anything is
//! allocated. The crate `gguf-rs` (0.1.8) holds a JSON value of each element of each array and does
//! not look where tensors end, so it is not used.

#![allow(unsafe_code, reason = "weight files are memory-mapped")]

mod blocks;
mod cursor;
mod error;
mod metadata;
mod names;
mod rows;
mod vocabulary;

use std::collections::BTreeMap;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memmap2::Mmap;

use super::Fingerprint;

pub(super) use blocks::TensorFormat;
use cursor::Cursor;
pub use error::{GgufError, GgufProblem};
pub(super) use names::hugging_face_name;
pub(super) use rows::RowOrder;

/// Models have some hundreds of tensors.
const MOST_TENSORS: u64 = 65_536;

/// More numbers than any tensor has: with four bytes for each they still count in 64 bits.
const MOST_NUMBERS: u64 = 1 << 40;

const ALIGNMENT: &str = "general.alignment";

/// A GGUF file, mapped.
///
/// ```no_run
/// use fnstore::engine::Gguf;
///
/// let file = Gguf::open("SmolLM2-135M-Instruct.Q4_1.gguf".as_ref())?;
/// assert_eq!(file.text("general.architecture")?, Some("llama"));
/// # Ok::<(), fnstore::engine::GgufError>(())
/// ```
#[derive(Clone)]
pub struct Gguf {
    path: PathBuf,
    map: Arc<Mmap>,
    metadata: BTreeMap<String, metadata::Value>,
    tensors: BTreeMap<String, TensorInfo>,
    /// Bytes before the tensors'.
    header: usize,
}

/// A tensor of a file.
#[derive(Debug, Clone)]
pub(super) struct TensorInfo {
    pub(super) format: TensorFormat,
    /// Rows first, as everywhere in this crate; the file has it the other way round.
    pub(super) shape: Vec<usize>,
    /// In the file.
    pub(super) bytes: Range<usize>,
}

impl Gguf {
    /// Maps a file and reads its header, which is small; the file must not be changed meanwhile.
    ///
    /// # Errors
    /// When it cannot be opened, or is not a GGUF file from its first byte to the last of its
    /// tensors.
    pub fn open(path: &Path) -> Result<Self, GgufError> {
        let read = |source| GgufError::Read { path: path.to_owned(), source };
        let file = File::open(path).map_err(read)?;
        // SAFETY: the map is only read, and numbers are copied out of it before use; what it cannot
        // survive is a file that shrinks meanwhile, which the contract forbids.
        let map = Arc::new(unsafe { Mmap::map(&file) }.map_err(read)?);
        let mut cursor = Cursor::new(path, &map, 0);
        let (tensor_count, key_count) = read_head(&mut cursor)?;
        let metadata = metadata::read(&mut cursor, key_count)?;
        let mut gguf = Self {
            path: path.to_owned(),
            metadata,
            tensors: BTreeMap::new(),
            header: 0,
            map: Arc::clone(&map),
        };
        let alignment = gguf.alignment()?;
        gguf.tensors = read_tensors(&mut cursor, tensor_count)?;
        gguf.header = cursor.at();
        let data = gguf.header.next_multiple_of(alignment);
        gguf.place_tensors(data, alignment)?;
        Ok(gguf)
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// BLAKE3 of the tensors as they lie in the file, whatever their order and the metadata: what
    /// an adapter names its base by.
    ///
    /// Hashed are fields, each after its length in bytes as a big-endian u64. First the words
    /// `fnstore gguf tensors 1`. Then, by ascending name, each tensor's name, its type and
    /// dimensions as `Q4_1 [576, 1536]` in the file's order, and its bytes.
    #[must_use]
    pub fn tensors_fingerprint(&self) -> Fingerprint {
        let mut hasher = blake3::Hasher::new();
        let mut field = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_be_bytes());
            hasher.update(bytes);
        };
        field(b"fnstore gguf tensors 1");
        for (name, info) in &self.tensors {
            let dimensions: Vec<usize> = info.shape.iter().rev().copied().collect();
            field(name.as_bytes());
            field(format!("{} {dimensions:?}", info.format.name()).as_bytes());
            field(&self.map[info.bytes.clone()]);
        }
        Fingerprint(*hasher.finalize().as_bytes())
    }

    /// The bytes of the header: metadata and the table of tensors.
    pub(super) fn header(&self) -> &[u8] {
        &self.map[..self.header]
    }

    pub(super) fn map(&self) -> &Arc<Mmap> {
        &self.map
    }

    pub(super) fn tensors(&self) -> impl Iterator<Item = (&str, &TensorInfo)> {
        self.tensors.iter().map(|(name, info)| (name.as_str(), info))
    }

    /// The shape of a tensor, rows first, if it is there.
    pub(super) fn shape(&self, name: &str) -> Option<&[usize]> {
        self.tensors.get(name).map(|info| info.shape.as_slice())
    }

    /// The error of a tensor that a network needs.
    pub(super) fn tensor_missing(&self, name: &str, expected: &str) -> GgufError {
        self.tensor_problem(name, GgufProblem::Missing { expected: expected.to_owned() })
    }

    /// The error of a tensor.
    pub(super) fn tensor_problem(&self, name: &str, problem: GgufProblem) -> GgufError {
        GgufError::field(&self.path, format!("tensor `{name}`"), problem)
    }

    fn alignment(&self) -> Result<usize, GgufError> {
        let found = self.count(ALIGNMENT)?.unwrap_or(32) as u64;
        if !found.is_power_of_two() || !(8..=65_536).contains(&found) {
            return Err(self.key_error(ALIGNMENT, GgufProblem::Alignment { found }));
        }
        Ok(found as usize)
    }

    /// Moves tensors from offsets in the data to places in the file, and checks that they lie in
    /// it.
    fn place_tensors(&mut self, data: usize, alignment: usize) -> Result<(), GgufError> {
        let (length, path) = (self.map.len() as u64, &self.path);
        for (name, info) in &mut self.tensors {
            let refuse = |problem| Err(GgufError::field(path, format!("tensor `{name}`"), problem));
            let (offset, size) = (info.bytes.start as u64, info.bytes.len() as u64);
            if !offset.is_multiple_of(alignment as u64) {
                let alignment = alignment as u64;
                return refuse(GgufProblem::Unaligned { found: offset, alignment });
            }
            // An offset is any number of 64 bits.
            let start = offset.saturating_add(data as u64);
            let end = start.saturating_add(size);
            if end > length {
                return refuse(GgufProblem::Beyond { end, length });
            }
            info.bytes = start as usize..end as usize;
        }
        Ok(())
    }
}

/// The numbers of tensors and of metadata keys.
fn read_head(cursor: &mut Cursor<'_>) -> Result<(u64, u64), GgufError> {
    cursor.field = "the beginning of the file".to_owned();
    let magic = cursor.take(4)?;
    if magic != b"GGUF" {
        return Err(cursor.error(GgufProblem::Magic { found: magic.to_vec() }));
    }
    cursor.field = "the version".to_owned();
    let found = cursor.u32()?;
    if !matches!(found, 2 | 3) {
        return Err(cursor.error(GgufProblem::Version { found }));
    }
    cursor.field = "the number of tensors".to_owned();
    let tensors = cursor.count(MOST_TENSORS)?;
    cursor.field = "the number of metadata keys".to_owned();
    Ok((tensors, cursor.u64()?))
}

/// The table of tensors; their bytes are counted from the beginning of the data.
fn read_tensors(
    cursor: &mut Cursor<'_>,
    count: u64,
) -> Result<BTreeMap<String, TensorInfo>, GgufError> {
    let mut tensors = BTreeMap::new();
    for number in 0..count {
        cursor.field = format!("tensor {number}");
        let name = metadata::name(cursor)?;
        cursor.field = format!("tensor `{name}`");
        let info = read_tensor(cursor)?;
        if tensors.insert(name, info).is_some() {
            return Err(cursor.error(GgufProblem::Twice));
        }
    }
    Ok(tensors)
}

fn read_tensor(cursor: &mut Cursor<'_>) -> Result<TensorInfo, GgufError> {
    let count = cursor.u32()?;
    if !(1..=4).contains(&count) {
        let found = vec![u64::from(count)];
        return Err(cursor.error(GgufProblem::Dimensions { found }));
    }
    let dimensions: Vec<u64> = (0..count).map(|_| cursor.u64()).collect::<Result<_, _>>()?;
    let numbers = dimensions.iter().try_fold(1u64, |product, dimension| {
        product.checked_mul(*dimension).filter(|product| (1..MOST_NUMBERS).contains(product))
    });
    let Some(numbers) = numbers else {
        return Err(cursor.error(GgufProblem::Dimensions { found: dimensions }));
    };
    let number = cursor.u32()?;
    let format = TensorFormat::of(number).map_err(|found| {
        let found = found.map_or_else(|| number.to_string(), str::to_owned);
        cursor.error(GgufProblem::Type { found })
    })?;
    let (block, block_bytes) = format.block();
    let columns = dimensions[0];
    if !columns.is_multiple_of(block as u64) {
        let format = format.name();
        return Err(cursor.error(GgufProblem::Blocks { columns, block, format }));
    }
    let offset = cursor.u64()?;
    // Below 2^40 numbers of at most four bytes each.
    let size = numbers / block as u64 * block_bytes as u64;
    let Some(end) = offset.checked_add(size) else {
        return Err(cursor.error(GgufProblem::Beyond { end: u64::MAX, length: offset }));
    };
    let shape = dimensions.iter().rev().map(|dimension| *dimension as usize).collect();
    Ok(TensorInfo { format, shape, bytes: offset as usize..end as usize })
}

impl std::fmt::Debug for Gguf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (keys, tensors) = (self.metadata.len(), self.tensors.len());
        write!(f, "Gguf({}, {keys} keys, {tensors} tensors)", self.path.display())
    }
}
