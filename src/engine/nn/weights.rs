//! Weights from safetensors and GGUF files, and a fingerprint of a whole model.
//!
//! A model directory holds `model.safetensors`, or several files listed in
//! `model.safetensors.index.json`. Files are mapped, not read. A tensor is copied out as f32 on
//! request. Every number is checked to be finite once, here, so that no kernel needs to.
//!
//! Element types: F32, F16, BF16, and I8 with a companion tensor `NAME.scale` (F32, one number per
//! row): `weight[r][c] = value[r][c] * scale[r]`, symmetric. A matrix `NAME.weight` of U8 has 4
//! bits a number: each row is blocks of 18 bytes for 32 numbers, as GGUF's Q4_0 has them. Format:
//! <https://huggingface.co/docs/safetensors>. GGUF brings other blocks of few bits; its reader is
//! in `gguf/`.

#![allow(unsafe_code, reason = "weight files are memory-mapped")]

use std::collections::BTreeMap;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use half::{bf16, f16};
use memmap2::Mmap;
use safetensors::{Dtype, SafeTensors};

use super::Adapter;
use super::error::WeightsError;
use super::generation::{BESIDE, changed_beside};
use super::gguf::{Gguf, GgufProblem, RowOrder, TensorFormat, hugging_face_name};
use crate::durable::Stamp;
use crate::engine::compute::kernels::{Blocks, Quantized};
use crate::engine::compute::{ComputeError, Tensor};
use crate::model::hexadecimal;

const SINGLE: &str = "model.safetensors";
const INDEX: &str = "model.safetensors.index.json";

/// How a pointer of Git LFS begins, in the place of a file that was not fetched.
const POINTER: &[u8] = b"version https://git-lfs";

/// Name of the list of words that a rewriter may write, one a line.
pub(crate) const WORDS: &str = "words.txt";

/// BLAKE3 hash of a model. Hashed are names, types, shapes and bytes of all tensors in order of
/// their names, and the bytes of `config.json`, `tokenizer.json` and, if it is there, `words.txt`.
/// Of a GGUF file it is the header, which says the same. Where `generation_config.json` states
/// other special tokens than `config.json`, those that hold enter, too. How the tensors are spread
/// over files does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(pub [u8; 32]);

impl Fingerprint {
    /// BLAKE3 of several: of what depends on each of them.
    #[must_use]
    pub fn of_all(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut hash = blake3::Hasher::new();
        for part in parts {
            hash.update(&part.0);
        }
        Self(hash.finalize().into())
    }
}

impl std::fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&hexadecimal(&self.0))
    }
}

/// How 8-bit numbers with a scale for each row are stored.
const EIGHT_BITS: TensorFormat = TensorFormat::Plain(Dtype::I8);

/// The tensors of a model directory, or of a GGUF file.
pub struct Weights {
    directory: PathBuf,
    files: Vec<(PathBuf, Arc<Mmap>)>,
    /// Sizes of the files and when they were written, as they were mapped.
    stamps: Vec<Stamp>,
    /// The file that is a whole model.
    gguf: Option<Gguf>,
    tensors: BTreeMap<String, Stored>,
    /// The text beside the tensors of a single file.
    note: Option<String>,
    /// What is added to the tensors when they are read.
    adapter: Option<Arc<Adapter>>,
}

fn stamp(path: &Path) -> Result<Stamp, WeightsError> {
    Stamp::of(path).map_err(|source| WeightsError::Read { path: path.to_owned(), source })
}

/// Numbers row by row, and the scale of each row.
pub(crate) type EightBits = (Vec<i8>, Vec<f32>);

/// Where a tensor lies.
struct Stored {
    file: usize,
    format: TensorFormat,
    order: RowOrder,
    shape: Vec<usize>,
    bytes: Range<usize>,
}

impl Weights {
    /// Maps the weight files of a model directory.
    ///
    /// The files must not be changed while the process reads them.
    ///
    /// # Errors
    /// When a file is absent or is not safetensors, the index names what is not there, or the
    /// directory has its weights twice.
    pub fn open(directory: &Path) -> Result<Self, WeightsError> {
        let mut weights = Self::empty(directory);
        let index = directory.join(INDEX);
        let is_single = directory.join(SINGLE).exists();
        if is_single && index.exists() {
            return Err(WeightsError::Twice { directory: directory.to_owned() });
        }
        if !index.exists() {
            weights.tensors = weights.add_file(SINGLE)?;
            return Ok(weights);
        }
        for (shard, names) in read_index(&index)? {
            let mut stored = weights.add_file(&shard)?;
            for name in names {
                let Some(tensor) = stored.remove(&name) else {
                    let (expected, path) = (Vec::new(), directory.join(shard));
                    return Err(WeightsError::Missing { tensor: name, expected, path });
                };
                weights.tensors.insert(name, tensor);
            }
        }
        Ok(weights)
    }

    /// Maps one file of tensors, as [`write_tensors`](super::write_tensors) writes it.
    ///
    /// # Errors
    /// When it cannot be read or is not safetensors.
    pub fn open_file(path: &Path) -> Result<Self, WeightsError> {
        let mut weights = Self::empty(path.parent().unwrap_or(Path::new("")));
        weights.tensors = weights.add_file(path.file_name().unwrap_or_default())?;
        Ok(weights)
    }

    /// The tensors of a GGUF file, to say what they are.
    ///
    /// # Errors
    /// When two tensors have one name.
    pub fn open_gguf(gguf: &Gguf) -> Result<Self, WeightsError> {
        Self::of_gguf(gguf, false, |_| RowOrder::AsTheyStand)
    }

    /// The tensors of a GGUF file, under the names and in the order of rows that Hugging Face gives
    /// them.
    ///
    /// # Errors
    /// When two tensors have one name then.
    pub(super) fn of_gguf(
        gguf: &Gguf,
        has_four_norms: bool,
        order_of: impl Fn(&str) -> RowOrder,
    ) -> Result<Self, WeightsError> {
        let mut weights = Self::empty(gguf.path().parent().unwrap_or(Path::new("")));
        for (name, info) in gguf.tensors() {
            let renamed = hugging_face_name(name, has_four_norms);
            let stored = Stored {
                file: 0,
                format: info.format,
                order: order_of(&renamed),
                shape: info.shape.clone(),
                bytes: info.bytes.clone(),
            };
            if weights.tensors.insert(renamed, stored).is_some() {
                return Err(gguf.tensor_problem(name, GgufProblem::Twice).into());
            }
        }
        weights.files.push((gguf.path().to_owned(), Arc::clone(gguf.map())));
        weights.stamps.push(stamp(gguf.path())?);
        weights.gguf = Some(gguf.clone());
        Ok(weights)
    }

    /// The weights with an adapter's differences added wherever they are read; the fingerprint
    /// stays that of the weights as they are.
    ///
    /// # Errors
    /// When the adapter changes a tensor that is not there, or has another shape.
    pub fn adapted(mut self, adapter: Option<Arc<Adapter>>) -> Result<Self, WeightsError> {
        for (name, shape) in adapter.iter().flat_map(|adapter| adapter.adapted()) {
            let prefixed = format!("bert.{name}");
            let name = if self.contains(&prefixed) { &prefixed } else { name };
            self.find(name, shape)?;
        }
        self.adapter = adapter;
        Ok(self)
    }

    /// Checks that the files are those that were opened: a part of a tensor could be another
    /// file's.
    ///
    /// # Errors
    /// When one is of another size or was written since.
    pub(super) fn check_unchanged(&self) -> Result<(), WeightsError> {
        for ((path, _), before) in self.files.iter().zip(&self.stamps) {
            if stamp(path).ok().as_ref() != Some(before) {
                return Err(WeightsError::Changed { path: path.clone() });
            }
        }
        Ok(())
    }

    /// Names and shapes of all tensors, as they are stored.
    pub(super) fn shapes(&self) -> impl Iterator<Item = (&str, &[usize])> {
        self.tensors.iter().map(|(name, stored)| (name.as_str(), stored.shape.as_slice()))
    }

    /// The shape of a tensor, if it is there.
    pub(super) fn shape(&self, name: &str) -> Option<&[usize]> {
        self.tensors.get(name).map(|stored| stored.shape.as_slice())
    }

    /// The text beside the tensors of a file, where there is one.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    fn empty(directory: &Path) -> Self {
        Self {
            directory: directory.to_owned(),
            files: Vec::new(),
            stamps: Vec::new(),
            gguf: None,
            tensors: BTreeMap::new(),
            note: None,
            adapter: None,
        }
    }

    fn add_file(
        &mut self,
        name: impl AsRef<Path>,
    ) -> Result<BTreeMap<String, Stored>, WeightsError> {
        let path = self.directory.join(name.as_ref());
        let read = |source| WeightsError::Read { path: path.clone(), source };
        let file = File::open(&path).map_err(read)?;
        // SAFETY: the map is only read, and numbers are copied out of it before use; what it
        // cannot survive is a file that shrinks meanwhile, which `open` forbids.
        let map = unsafe { Mmap::map(&file) }.map_err(read)?;
        if map.starts_with(POINTER) {
            return Err(WeightsError::Pointer { path });
        }
        let (header, metadata) = SafeTensors::read_metadata(&map)
            .map_err(|source| WeightsError::Format { path: path.clone(), source: source.into() })?;
        // Eight bytes of length, the header, then the data.
        let data = 8 + header;
        let file = self.files.len();
        let stored = metadata.tensors().into_iter().map(|(name, info)| {
            let bytes = data + info.data_offsets.0..data + info.data_offsets.1;
            let in_blocks = match info.dtype {
                Dtype::U8 if name.ends_with(".weight") => TensorFormat::of_rows(&info.shape),
                _ => None,
            };
            let (format, shape) =
                in_blocks.unwrap_or_else(|| (TensorFormat::Plain(info.dtype), info.shape.clone()));
            let order = RowOrder::AsTheyStand;
            (name, Stored { file, format, order, shape, bytes })
        });
        let stored = stored.collect();
        let notes = metadata.metadata().as_ref();
        self.note = notes.and_then(|notes| notes.get(super::save::NOTE).cloned());
        self.stamps.push(stamp(&path)?);
        self.files.push((path, Arc::new(map)));
        Ok(stored)
    }

    /// Whether there is such a tensor.
    pub fn contains(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }

    /// How many numbers there are of each element type, such as `F16`.
    pub fn formats(&self) -> BTreeMap<String, u64> {
        let mut formats = BTreeMap::new();
        for Stored { format, shape, .. } in self.tensors.values() {
            *formats.entry(format!("{format:?}")).or_default() +=
                shape.iter().product::<usize>() as u64;
        }
        formats
    }

    /// A tensor as f32.
    ///
    /// # Errors
    /// When it is absent, has another shape than `shape` or an unknown type, or holds a number
    /// that is not finite.
    pub fn tensor(&self, name: &str, shape: &[usize]) -> Result<Tensor, WeightsError> {
        let (stored, path) = self.find(name, shape)?;
        let bytes = self.bytes(stored);
        let mut values = match stored.format {
            TensorFormat::Plain(Dtype::F32) => floats(bytes, single),
            TensorFormat::Plain(Dtype::F16) => {
                floats(bytes, |bytes| f16::from_le_bytes(bytes).to_f32())
            }
            TensorFormat::Plain(Dtype::BF16) => {
                floats(bytes, |bytes| bf16::from_le_bytes(bytes).to_f32())
            }
            EIGHT_BITS => bytes.iter().map(|byte| f32::from(*byte as i8)).collect(),
            TensorFormat::Blocks(blocks) => blocks.decode(bytes),
            other => {
                let (tensor, found) = (name.to_owned(), format!("{other:?}"));
                return Err(WeightsError::Type { tensor, found, path: path.clone() });
            }
        };
        if stored.format == EIGHT_BITS {
            let scales = self.tensor(&format!("{name}.scale"), &[shape[0]])?;
            let columns = shape[1..].iter().product::<usize>().max(1);
            for (row, scale) in values.chunks_mut(columns).zip(scales.data()) {
                row.iter_mut().for_each(|value| *value *= scale);
            }
        }
        let mut values = stored.order.restore(values, shape);
        if let Some(adapter) = &self.adapter {
            adapter.add(name, &mut values)?;
        }
        if let Some(index) = values.iter().position(|value| !value.is_finite()) {
            let (tensor, value, path) = (name.to_owned(), values[index], path.clone());
            return Err(WeightsError::NonFinite { tensor, index, value, path });
        }
        Ok(Tensor::new(shape, values)
            .expect("a file's bytes fit its shape, which is the asked one"))
    }

    /// A matrix in 8-bit integers: as it is stored, where it is stored so, else rounded.
    ///
    /// # Errors
    /// As [`tensor`](Self::tensor).
    pub(super) fn quantized(
        &self,
        name: &str,
        shape: &[usize; 2],
    ) -> Result<Quantized, WeightsError> {
        let path = self.find(name, shape)?.1;
        let quantized = match self.eight_bits(name, shape)? {
            // Kernels do without -128, which has no negative; nobody who rounds symmetrically
            // writes it.
            Some((values, scales)) if !values.is_empty() && !values.contains(&i8::MIN) => {
                Quantized::new(shape[1], values, scales)
            }
            _ => Quantized::round(&self.tensor(name, shape)?),
        };
        let format = |source: ComputeError| WeightsError::Format {
            path: path.clone(),
            source: source.into(),
        };
        quantized.map_err(format)
    }

    /// A matrix as it is stored, in 8-bit integers with a scale for each row; `None` where it is
    /// stored otherwise or an adapter may change it.
    ///
    /// # Errors
    /// As [`tensor`](Self::tensor).
    pub(crate) fn eight_bits(
        &self,
        name: &str,
        shape: &[usize; 2],
    ) -> Result<Option<EightBits>, WeightsError> {
        let (stored, _) = self.find(name, shape)?;
        if stored.format != EIGHT_BITS || self.adapter.is_some() {
            return Ok(None);
        }
        let scales = self.tensor(&format!("{name}.scale"), &shape[..1])?;
        let values = self.bytes(stored).iter().map(|byte| byte.cast_signed()).collect();
        Ok(Some((values, scales.into_data())))
    }

    /// A matrix of few bits in blocks: as it is stored, where it is stored so and no adapter
    /// changes it, else rounded to 8 bits in blocks.
    ///
    /// # Errors
    /// As [`tensor`](Self::tensor).
    pub(super) fn blocks(&self, name: &str, shape: &[usize; 2]) -> Result<Blocks, WeightsError> {
        let (stored, path) = self.find(name, shape)?;
        let is_changed = self.adapter.as_ref().is_some_and(|adapter| adapter.changes(name));
        let format = |source: ComputeError| WeightsError::Format {
            path: path.clone(),
            source: source.into(),
        };
        let TensorFormat::Blocks(blocks) = stored.format else {
            return Ok(Blocks::round(&self.tensor(name, shape)?));
        };
        if is_changed {
            return Ok(Blocks::round(&self.tensor(name, shape)?));
        }
        let matrix = blocks.matrix(self.bytes(stored), shape[1], stored.order).map_err(format)?;
        match matrix.non_finite() {
            None => Ok(matrix),
            Some((index, value)) => {
                let (tensor, path) = (name.to_owned(), path.clone());
                Err(WeightsError::NonFinite { tensor, index, value, path })
            }
        }
    }

    fn find(&self, name: &str, shape: &[usize]) -> Result<(&Stored, &PathBuf), WeightsError> {
        let Some(stored) = self.tensors.get(name) else {
            let path = match self.files.as_slice() {
                [(path, _)] => path,
                _ => &self.directory,
            };
            return Err(WeightsError::Missing {
                tensor: name.to_owned(),
                expected: shape.to_vec(),
                path: path.clone(),
            });
        };
        let path = &self.files[stored.file].0;
        if stored.shape != shape || shape.is_empty() {
            return Err(WeightsError::Shape {
                tensor: name.to_owned(),
                expected: shape.to_vec(),
                found: stored.shape.clone(),
                path: path.clone(),
            });
        }
        Ok((stored, path))
    }

    fn bytes(&self, stored: &Stored) -> &[u8] {
        &self.files[stored.file].1[stored.bytes.clone()]
    }

    /// The model's fingerprint. Reads everything: about a second per gigabyte.
    ///
    /// # Errors
    /// When `config.json`, or an existing `tokenizer.json`, `words.txt` or
    /// `generation_config.json`, cannot be read.
    pub fn fingerprint(&self) -> Result<Fingerprint, WeightsError> {
        let mut hasher = blake3::Hasher::new();
        let mut field = |bytes: &[u8]| {
            // Lengths keep the border between two fields from moving.
            hasher.update(&(bytes.len() as u64).to_be_bytes());
            hasher.update(bytes);
        };
        field(b"fnstore model 1");
        for (name, stored) in &self.tensors {
            field(name.as_bytes());
            field(format!("{:?} {:?}", stored.format, stored.shape).as_bytes());
            field(self.bytes(stored));
        }
        if let Some(gguf) = &self.gguf {
            field(gguf.header());
            return Ok(Fingerprint(*hasher.finalize().as_bytes()));
        }
        for name in ["config.json", "tokenizer.json", WORDS] {
            let path = self.directory.join(name);
            let bytes = match std::fs::read(&path) {
                Ok(bytes) => bytes,
                // Models had no words when the first fingerprints were taken.
                Err(error) if is_absent(&error) && name == WORDS => continue,
                // A network without a tokenizer is complete for whoever brings token ids.
                Err(error) if is_absent(&error) => Vec::new(),
                Err(source) => return Err(WeightsError::Read { path, source }),
            };
            field(name.as_bytes());
            field(&bytes);
        }
        let changed = changed_beside(&self.directory).map_err(|source| WeightsError::Format {
            path: self.directory.join(BESIDE),
            source: source.into(),
        })?;
        if let Some(tokens) = changed {
            field(BESIDE.as_bytes());
            field(&tokens);
        }
        Ok(Fingerprint(*hasher.finalize().as_bytes()))
    }
}

fn is_absent(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::NotFound
}

impl std::fmt::Debug for Weights {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Weights({}, {} tensors)", self.directory.display(), self.tensors.len())
    }
}

/// The names of the tensors in each shard.
fn read_index(path: &Path) -> Result<BTreeMap<String, Vec<String>>, WeightsError> {
    #[derive(serde::Deserialize)]
    struct Index {
        weight_map: BTreeMap<String, String>,
    }
    let format = |source: Box<dyn std::error::Error + Send + Sync>| WeightsError::Format {
        path: path.to_owned(),
        source,
    };
    let bytes = std::fs::read(path)
        .map_err(|source| WeightsError::Read { path: path.to_owned(), source })?;
    let index: Index = serde_json::from_slice(&bytes).map_err(|error| format(error.into()))?;
    let mut shards = BTreeMap::<String, Vec<String>>::new();
    for (tensor, shard) in index.weight_map {
        // A shard is a file beside the index; anything else would let a model read elsewhere.
        if Path::new(&shard).file_name() != Some(shard.as_ref()) {
            return Err(format(format!("shard `{shard}` is not a plain file name").into()));
        }
        shards.entry(shard).or_default().push(tensor);
    }
    Ok(shards)
}

fn floats<const N: usize>(bytes: &[u8], decode: impl Fn([u8; N]) -> f32) -> Vec<f32> {
    bytes.as_chunks::<N>().0.iter().map(|chunk| decode(*chunk)).collect()
}

#[allow(clippy::little_endian_bytes, reason = "safetensors is little-endian by definition")]
fn single(bytes: [u8; 4]) -> f32 {
    f32::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use safetensors::tensor::{TensorView, serialize};

    use super::*;

    /// A model directory with a matrix `w` of three columns, stored in 8 bits.
    #[allow(clippy::little_endian_bytes, reason = "safetensors is little-endian by definition")]
    fn stored(values: &[i8], scales: &[f32]) -> (tempfile::TempDir, Weights) {
        let directory = tempfile::tempdir().unwrap();
        let values: Vec<u8> = values.iter().map(|value| value.cast_unsigned()).collect();
        let scales_bytes: Vec<u8> = scales.iter().flat_map(|scale| scale.to_le_bytes()).collect();
        let rows = scales.len();
        let tensors = [
            ("w", TensorView::new(Dtype::I8, vec![rows, 3], &values).unwrap()),
            ("w.scale", TensorView::new(Dtype::F32, vec![rows], &scales_bytes).unwrap()),
        ];
        std::fs::write(directory.path().join(SINGLE), serialize(tensors, None).unwrap()).unwrap();
        let weights = Weights::open(directory.path()).unwrap();
        (directory, weights)
    }

    #[test]
    fn what_is_stored_in_8_bits_is_used_as_it_is() {
        // No row reaches 127: rounding again would change every number.
        let (values, scales) = (vec![1, -2, 3, 40, 0, -50], vec![0.5, 2.0]);
        let (_directory, weights) = stored(&values, &scales);
        let want = Quantized::new(3, values, scales).unwrap();
        assert_eq!(weights.quantized("w", &[2, 3]).unwrap(), want);
    }

    #[test]
    fn the_number_that_has_no_negative_is_rounded_away() {
        let (_directory, weights) = stored(&[-128, 64, 0], &[1.0]);
        let rounded = weights.quantized("w", &[1, 3]).unwrap();
        assert_eq!(rounded, Quantized::new(3, vec![-127, 64, 0], vec![128.0 / 127.0]).unwrap());
    }

    #[test]
    fn weights_that_are_there_twice_or_not_at_all_are_refused() {
        let (directory, _) = stored(&[1, 2, 3], &[1.0]);
        std::fs::write(directory.path().join(INDEX), "{}").unwrap();
        let twice = Weights::open(directory.path()).err().unwrap();
        assert!(matches!(twice, WeightsError::Twice { .. }), "{twice}");
        std::fs::remove_file(directory.path().join(INDEX)).unwrap();
        let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n";
        std::fs::write(directory.path().join(SINGLE), pointer).unwrap();
        let pointer = Weights::open(directory.path()).err().unwrap();
        assert!(matches!(pointer, WeightsError::Pointer { .. }), "{pointer}");
    }

    #[test]
    fn an_8_bit_matrix_of_another_shape_is_refused() {
        let (_directory, weights) = stored(&[1, 2, 3], &[1.0]);
        let error = weights.quantized("w", &[3, 1]).unwrap_err().to_string();
        assert!(error.contains("[1, 3]") && error.contains("[3, 1]"), "{error}");
    }
}
