//! Weights to a safetensors file.
//!
//! What this project trains it writes itself: f32, one file, tensors in the order of their names.

#![allow(clippy::little_endian_bytes, reason = "the safetensors format is little-endian")]

use std::collections::HashMap;
use std::io;
use std::path::Path;

use half::f16;
use safetensors::tensor::{Dtype, TensorView, serialize};
use serde::Serialize;

use super::WeightsError;
use crate::durable::{WholeDirectory, write_file};

/// A tensor to write: its name, its shape, and its numbers in row-major order.
pub type NamedTensor<'a> = (String, Vec<usize>, &'a [f32]);

/// Key of the text beside the tensors in the file's header.
pub(super) const NOTE: &str = "note";

/// Writes what training leaves behind: `config.json` and `model.safetensors`, all of it or nothing.
///
/// # Errors
/// As [`WholeDirectory::write`].
pub fn write_model(
    out: WholeDirectory,
    config: &impl Serialize,
    tensors: &[NamedTensor<'_>],
) -> io::Result<()> {
    let mut json = serde_json::to_string_pretty(config)?;
    json.push('\n');
    out.write(|directory| {
        write_weights(directory, tensors).map_err(io::Error::other)?;
        std::fs::write(directory.join("config.json"), json)
    })
}

/// Writes `model.safetensors` into a directory, replacing an older one only when all is written.
///
/// # Errors
/// When the file cannot be written, or a shape does not multiply to the number of elements.
pub fn write_weights(directory: &Path, tensors: &[NamedTensor<'_>]) -> Result<(), WeightsError> {
    write_tensors(&directory.join("model.safetensors"), tensors, None)
}

/// Writes tensors into a file, and a text beside them, replacing an older one only when all is
/// written and on the disk.
///
/// [`Weights::open_file`](super::Weights::open_file) reads them back.
///
/// # Errors
/// As [`write_weights`].
pub fn write_tensors(
    path: &Path,
    tensors: &[NamedTensor<'_>],
    note: Option<&str>,
) -> Result<(), WeightsError> {
    let plain = tensors
        .iter()
        .map(|(name, shape, numbers)| (name.clone(), Dtype::F32, shape.clone(), bytes(numbers)));
    write_bytes(path, plain.collect(), note)
}

/// How the matrices (`NAME.weight`) of a small file are written; the rest of it is f32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatrixFormat {
    /// 16-bit floats.
    F16,
    /// 8 bits and a scale for each row: `weight[r][c] = value[r][c] * scale[r]`, the largest number
    /// of a row being 127.
    Int8,
}

/// As [`write_model`], with matrices in a smaller format, and some more files by name and content.
///
/// # Errors
/// As [`WholeDirectory::write`].
pub fn write_small_model(
    out: WholeDirectory,
    format: MatrixFormat,
    config: &impl Serialize,
    tensors: &[NamedTensor<'_>],
    more: &[(&str, &str)],
) -> io::Result<()> {
    let mut json = serde_json::to_string_pretty(config)?;
    json.push('\n');
    out.write(|directory| {
        write_small_weights(directory, format, tensors).map_err(io::Error::other)?;
        for (name, content) in [("config.json", json.as_str())].iter().chain(more) {
            std::fs::write(directory.join(name), content)?;
        }
        Ok(())
    })
}

/// Writes `model.safetensors` as [`write_weights`] does, with matrices in a smaller format.
///
/// # Errors
/// As [`write_weights`].
pub fn write_small_weights(
    directory: &Path,
    format: MatrixFormat,
    tensors: &[NamedTensor<'_>],
) -> Result<(), WeightsError> {
    let mut written = Vec::new();
    for (name, shape, numbers) in tensors {
        let is_matrix = name.ends_with(".weight") && shape.len() == 2;
        let (name, shape) = (name.clone(), shape.clone());
        match format {
            _ if !is_matrix => written.push((name, Dtype::F32, shape, bytes(numbers))),
            MatrixFormat::F16 => {
                let halves = numbers.iter().flat_map(|x| f16::from_f32(*x).to_le_bytes());
                written.push((name, Dtype::F16, shape, halves.collect()));
            }
            MatrixFormat::Int8 => {
                let (values, scales) = rounded(numbers, shape[1]);
                let of_scales = vec![scales.len()];
                written.push((format!("{name}.scale"), Dtype::F32, of_scales, bytes(&scales)));
                written.push((name, Dtype::I8, shape, values));
            }
        }
    }
    write_bytes(&directory.join("model.safetensors"), written, None)
}

/// The numbers of rows of a width in 8 bits, and a scale for each row.
fn rounded(numbers: &[f32], width: usize) -> (Vec<u8>, Vec<f32>) {
    let (mut values, mut scales) = (Vec::with_capacity(numbers.len()), Vec::new());
    for row in numbers.chunks_exact(width.max(1)) {
        let largest = row.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
        // Any scale will do for a row of zeros.
        let scale = if largest > 0.0 { largest / 127.0 } else { 1.0 };
        let rounded = row.iter().map(|x| (x / scale).round().clamp(-127.0, 127.0) as i8);
        values.extend(rounded.map(|x| x.to_le_bytes()[0]));
        scales.push(scale);
    }
    (values, scales)
}

fn bytes(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// A tensor as a file has it: name, type, shape, bytes.
type StoredTensor = (String, Dtype, Vec<usize>, Vec<u8>);

fn write_bytes(
    path: &Path,
    tensors: Vec<StoredTensor>,
    note: Option<&str>,
) -> Result<(), WeightsError> {
    let format = |source: safetensors::SafeTensorError| WeightsError::Format {
        path: path.to_owned(),
        source: source.into(),
    };
    let views: Vec<(&str, TensorView<'_>)> = tensors
        .iter()
        .map(|(name, kind, shape, bytes)| {
            Ok((name.as_str(), TensorView::new(*kind, shape.clone(), bytes).map_err(format)?))
        })
        .collect::<Result<_, WeightsError>>()?;
    let note = note.map(|note| HashMap::from([(NOTE.to_owned(), note.to_owned())]));
    let file = serialize(views, note).map_err(format)?;

    let write = |source| WeightsError::Write { path: path.to_owned(), source };
    write_file(path, &file).map_err(write)
}

#[cfg(test)]
mod tests {
    use super::super::Weights;
    use super::*;

    #[test]
    fn written_weights_read_back_unchanged() {
        let directory = tempfile::tempdir().unwrap();
        let matrix = [1.0, -2.5, 3.0, f32::MIN_POSITIVE, 0.0, 1e30];
        let tensors = [
            ("b.weight".to_owned(), vec![2, 3], &matrix[..]),
            ("a.bias".to_owned(), vec![1], &[0.5][..]),
        ];
        write_weights(directory.path(), &tensors).unwrap();
        let weights = Weights::open(directory.path()).unwrap();
        assert_eq!(weights.tensor("b.weight", &[2, 3]).unwrap().data(), matrix);
        assert_eq!(weights.tensor("a.bias", &[1]).unwrap().data(), [0.5]);
    }

    #[test]
    fn small_matrices_read_back_to_half_a_step_and_the_rest_as_it_is() {
        let directory = tempfile::tempdir().unwrap();
        let matrix = [1.27, -0.014, 0.0, 0.0, 0.0, 0.0, -254.0, 2.0, 1.1];
        let tensors = [
            ("a.weight".to_owned(), vec![3, 3], &matrix[..]),
            ("a.bias".to_owned(), vec![2], &[0.1, 0.2][..]),
        ];
        for (format, steps) in
            [(MatrixFormat::Int8, [0.01, 1.0, 2.0]), (MatrixFormat::F16, [0.001, 0.0, 0.125])]
        {
            write_small_weights(directory.path(), format, &tensors).unwrap();
            let weights = Weights::open(directory.path()).unwrap();
            let read = weights.tensor("a.weight", &[3, 3]).unwrap();
            for (at, (found, expected)) in read.data().iter().zip(matrix).enumerate() {
                let off = (found - expected).abs();
                assert!(off <= steps[at / 3] / 2.0 + 1e-6, "{at}: {found} {expected}");
            }
            assert_eq!(weights.tensor("a.bias", &[2]).unwrap().data(), [0.1, 0.2]);
        }
    }

    #[test]
    fn a_text_stands_beside_the_tensors_of_a_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("state");
        for note in ["", "step 3: caf\u{e9} \"noir\""] {
            write_tensors(&path, &[("x".to_owned(), vec![1], &[0.1][..])], Some(note)).unwrap();
            let weights = Weights::open_file(&path).unwrap();
            assert_eq!(weights.note(), Some(note));
            assert_eq!(weights.tensor("x", &[1]).unwrap().data(), [0.1]);
        }
        write_tensors(&path, &[], None).unwrap();
        assert_eq!(Weights::open_file(&path).unwrap().note(), None);
        std::fs::write(&path, "no tensors").unwrap();
        assert!(matches!(Weights::open_file(&path), Err(WeightsError::Format { .. })));
    }

    #[test]
    fn a_shape_that_does_not_fit_its_numbers_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let tensors = [("x".to_owned(), vec![2, 2], &[0.0][..])];
        let refused = write_weights(directory.path(), &tensors);
        assert!(matches!(refused, Err(WeightsError::Format { .. })), "{refused:?}");
        let refused = write_weights(Path::new("/nowhere"), &[]);
        assert!(matches!(refused, Err(WeightsError::Write { .. })), "{refused:?}");
    }
}
