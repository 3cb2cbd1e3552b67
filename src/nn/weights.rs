//! Weights from safetensors files, and a fingerprint of a whole model.
//!
//! A model directory holds `model.safetensors`, or several files listed in
//! `model.safetensors.index.json`. Files are mapped, not read; a tensor is copied out as f32 when
//! asked for, and every number is checked to be finite, once, here, so that no kernel needs to.
//!
//! Element types: F32, F16, BF16, and I8 with a companion tensor `NAME.scale` (F32, one number per
//! row): `weight[r][c] = value[r][c] * scale[r]`, symmetric. Format:
//! <https://huggingface.co/docs/safetensors>.

#![allow(unsafe_code, reason = "weight files are memory-mapped")]

use std::collections::BTreeMap;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use half::{bf16, f16};
use memmap2::Mmap;
use safetensors::{Dtype, SafeTensors};

use crate::compute::Tensor;

const SINGLE: &str = "model.safetensors";
const INDEX: &str = "model.safetensors.index.json";

/// Why weights cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WeightsError {
    /// A file of the model cannot be read.
    #[error("reading weights: cannot open `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A file is not what its name says.
    #[error("reading weights: `{}` is damaged or not of its format; fetch it again", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A tensor that the network needs is not there.
    #[error(
        "reading weights: no tensor `{tensor}`, expected with shape {expected:?}, in `{}`",
        path.display()
    )]
    Missing {
        /// The tensor.
        tensor: String,
        /// The shape the configuration asks for.
        expected: Vec<usize>,
        /// The file or directory that should hold it.
        path: PathBuf,
    },
    /// A tensor has another shape than the configuration says.
    #[error(
        "reading weights: `{tensor}` has shape {found:?}, expected {expected:?}, in `{}`; \
         does config.json belong to these weights?",
        path.display()
    )]
    Shape {
        /// The tensor.
        tensor: String,
        /// The shape the configuration asks for.
        expected: Vec<usize>,
        /// The shape in the file.
        found: Vec<usize>,
        /// The file.
        path: PathBuf,
    },
    /// A tensor has an element type that cannot be read.
    #[error(
        "reading weights: `{tensor}` has type `{found}`, expected F32, F16, BF16 or I8 with a \
         scale, in `{}`",
        path.display()
    )]
    Type {
        /// The tensor.
        tensor: String,
        /// The type in the file.
        found: String,
        /// The file.
        path: PathBuf,
    },
    /// A weight is NaN or infinite.
    #[error("reading weights: element {index} of `{tensor}` is `{value}`, in `{}`", path.display())]
    NonFinite {
        /// The tensor.
        tensor: String,
        /// Position of the element, row-major.
        index: usize,
        /// The element.
        value: f32,
        /// The file.
        path: PathBuf,
    },
}

/// BLAKE3 hash of a model: names, types, shapes and bytes of all tensors in order of their names,
/// and the bytes of `config.json` and `tokenizer.json`. How the tensors are spread over files does
/// not enter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(pub [u8; 32]);

impl std::fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The tensors of a model directory.
pub struct Weights {
    directory: PathBuf,
    files: Vec<(PathBuf, Mmap)>,
    tensors: BTreeMap<String, Stored>,
}

/// Where a tensor lies.
struct Stored {
    file: usize,
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Range<usize>,
}

impl Weights {
    /// Maps the weight files of a model directory.
    ///
    /// The files must not be changed while the process reads them.
    ///
    /// # Errors
    /// When a file is absent or is not safetensors, or the index names what is not there.
    pub fn open(directory: &Path) -> Result<Self, WeightsError> {
        let mut weights =
            Self { directory: directory.to_owned(), files: Vec::new(), tensors: BTreeMap::new() };
        let index = directory.join(INDEX);
        if directory.join(SINGLE).exists() || !index.exists() {
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

    fn add_file(&mut self, name: &str) -> Result<BTreeMap<String, Stored>, WeightsError> {
        let path = self.directory.join(name);
        let read = |source| WeightsError::Read { path: path.clone(), source };
        let file = File::open(&path).map_err(read)?;
        // SAFETY: the map is only read, and numbers are copied out of it before use; what it
        // cannot survive is a file that shrinks meanwhile, which `open` forbids.
        let map = unsafe { Mmap::map(&file) }.map_err(read)?;
        let (header, metadata) = SafeTensors::read_metadata(&map)
            .map_err(|source| WeightsError::Format { path: path.clone(), source: source.into() })?;
        // Eight bytes of length, the header, then the data.
        let data = 8 + header;
        let file = self.files.len();
        let stored = metadata.tensors().into_iter().map(|(name, info)| {
            let bytes = data + info.data_offsets.0..data + info.data_offsets.1;
            (name, Stored { file, dtype: info.dtype, shape: info.shape.clone(), bytes })
        });
        let stored = stored.collect();
        self.files.push((path, map));
        Ok(stored)
    }

    /// Whether there is such a tensor.
    pub fn contains(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }

    /// A tensor as f32.
    ///
    /// # Errors
    /// When it is absent, has another shape than `shape` or an unknown type, or holds a number
    /// that is not finite.
    pub fn tensor(&self, name: &str, shape: &[usize]) -> Result<Tensor, WeightsError> {
        let (stored, path) = self.find(name, shape)?;
        let bytes = self.bytes(stored);
        let mut values = match stored.dtype {
            Dtype::F32 => floats(bytes, single),
            Dtype::F16 => floats(bytes, |bytes| f16::from_le_bytes(bytes).to_f32()),
            Dtype::BF16 => floats(bytes, |bytes| bf16::from_le_bytes(bytes).to_f32()),
            Dtype::I8 => bytes.iter().map(|byte| f32::from(*byte as i8)).collect(),
            other => {
                let (tensor, found) = (name.to_owned(), format!("{other:?}"));
                return Err(WeightsError::Type { tensor, found, path: path.clone() });
            }
        };
        if stored.dtype == Dtype::I8 {
            let scales = self.tensor(&format!("{name}.scale"), &[shape[0]])?;
            let columns = shape[1..].iter().product::<usize>().max(1);
            for (row, scale) in values.chunks_mut(columns).zip(scales.data()) {
                row.iter_mut().for_each(|value| *value *= scale);
            }
        }
        if let Some(index) = values.iter().position(|value| !value.is_finite()) {
            let (tensor, value, path) = (name.to_owned(), values[index], path.clone());
            return Err(WeightsError::NonFinite { tensor, index, value, path });
        }
        Ok(Tensor::new(shape, values)
            .expect("a file's bytes fit its shape, which is the asked one"))
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
    /// When `config.json` or an existing `tokenizer.json` cannot be read.
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
            field(format!("{:?} {:?}", stored.dtype, stored.shape).as_bytes());
            field(self.bytes(stored));
        }
        for name in ["config.json", "tokenizer.json"] {
            let path = self.directory.join(name);
            field(name.as_bytes());
            match std::fs::read(&path) {
                Ok(bytes) => field(&bytes),
                // A network without a tokenizer is complete for whoever brings token ids.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => field(b""),
                Err(source) => return Err(WeightsError::Read { path, source }),
            }
        }
        Ok(Fingerprint(*hasher.finalize().as_bytes()))
    }
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
