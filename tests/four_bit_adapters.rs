//! Matrices in 4 bits, as `python -m language_model blocks` writes them: they are the numbers of
//! the formula, an adapter that has them is one with these numbers, and files that do not fit are
//! refused.

use std::path::Path;
use std::sync::Arc;

use fnstore::engine::{Device, LanguageAdapter, LanguageModel, Numbers, Weights, write_tensors};
use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
use tempfile::TempDir;

use crate::language_parity::directory;

/// Numbers of a block, its bytes, and the rank of the adapters here.
const NUMBERS: usize = 32;
const BYTES: usize = 18;
const CPU: Device = Device::Cpu { threads: 2 };
const CONFIG: &str = "adapter_config.json";
const WEIGHTS: &str = "adapter_model.safetensors";

/// Scales that 16 bits hold, one below zero and one of nothing, with their bytes.
const SCALES: [(f32, [u8; 2]); 4] =
    [(0.0625, [0x00, 0x2c]), (-0.25, [0x00, 0xb4]), (0.0, [0, 0]), (0.024_993_896, [0x66, 0x26])];

/// The integer at a place of the block of a number, 0 to 15, as by chance.
fn integer(block: usize, at: usize) -> u8 {
    ((block * 7 + at * at * 5 + at / 3) % 16) as u8
}

fn block_bytes(block: usize) -> Vec<u8> {
    let half = NUMBERS / 2;
    let mut bytes = SCALES[block % SCALES.len()].1.to_vec();
    bytes.extend((0..half).map(|i| integer(block, i) | integer(block, i + half) << 4));
    bytes
}

fn block_numbers(block: usize) -> Vec<f32> {
    let scale = SCALES[block % SCALES.len()].0;
    (0..NUMBERS).map(|at| scale * (f32::from(integer(block, at)) - 8.0)).collect()
}

/// A tensor to be written: name, type, shape, bytes.
type Part = (String, Dtype, Vec<usize>, Vec<u8>);

fn write(path: &Path, parts: &[Part]) {
    let views = parts.iter().map(|(name, dtype, shape, bytes)| {
        (name.clone(), TensorView::new(*dtype, shape.clone(), bytes).unwrap())
    });
    std::fs::write(path, serialize(views.collect::<Vec<_>>(), None).unwrap()).unwrap();
}

fn in_blocks(name: &str, rows: usize, blocks: usize) -> Part {
    let bytes = (0..rows * blocks).flat_map(block_bytes).collect();
    (name.to_owned(), Dtype::U8, vec![rows, blocks * BYTES], bytes)
}

/// An adapter of rank 32 for the tiny Llama: `lora_A` in floats, for its rows are no whole blocks,
/// and `lora_B` as asked.
fn adapter(in_4_bits: bool) -> TempDir {
    let (own, made) = (directory("lora"), tempfile::tempdir().unwrap());
    let config = std::fs::read_to_string(own.join(CONFIG)).unwrap();
    let config = config.replace("\"r\": 4", "\"r\": 32");
    std::fs::write(made.path().join(CONFIG), config).unwrap();
    let bytes = std::fs::read(own.join(WEIGHTS)).unwrap();
    let of_rank_4 = SafeTensors::deserialize(&bytes).unwrap();
    let matrices = of_rank_4.iter().filter(|(name, _)| name.ends_with(".weight"));
    let small = |at: usize| ((at * 37 % 101) as f32 - 50.0) / 2000.0;
    let numbers = matrices.map(|(name, found)| match name.contains("lora_A") {
        true => {
            let shape = vec![NUMBERS, found.shape()[1]];
            let count = shape.iter().product();
            (name.to_owned(), shape, (0..count).map(small).collect::<Vec<f32>>())
        }
        false => {
            let rows = found.shape()[0];
            (name.to_owned(), vec![rows, NUMBERS], (0..rows).flat_map(block_numbers).collect())
        }
    });
    let numbers: Vec<_> = numbers.collect();
    let tensors: Vec<_> =
        numbers.iter().map(|(name, shape, of)| (name.clone(), shape.clone(), &of[..])).collect();
    let path = made.path().join(WEIGHTS);
    write_tensors(&path, &tensors, None).unwrap();
    if in_4_bits {
        let floats = std::fs::read(&path).unwrap();
        let floats = SafeTensors::deserialize(&floats).unwrap();
        let parts = floats.iter().map(|(name, of)| match name.contains("lora_A") {
            true => (name.to_owned(), of.dtype(), of.shape().to_vec(), of.data().to_vec()),
            false => in_blocks(name, of.shape()[0], 1),
        });
        write(&path, &parts.collect::<Vec<_>>());
    }
    made
}

fn opened(adapter: &Path) -> Result<LanguageModel, fnstore::engine::NnError> {
    let adapter = LanguageAdapter::read(adapter)?;
    let base = directory("llama").join("model.gguf");
    LanguageModel::open_with(&base, Some(Arc::new(adapter)), &CPU, Numbers::F32)
}

#[test]
fn blocks_of_4_bits_are_the_numbers_of_the_formula() {
    let made = tempfile::tempdir().unwrap();
    let path = made.path().join("some.safetensors");
    write(&path, &[in_blocks("some.weight", 3, 2)]);
    let weights = Weights::open_file(&path).unwrap();
    let found = weights.tensor("some.weight", &[3, 2 * NUMBERS]).unwrap();
    let wanted: Vec<f32> = (0..6).flat_map(block_numbers).collect();
    assert_eq!(found.data(), wanted);
    assert_eq!(weights.formats(), [("Q4_0".to_owned(), 6 * NUMBERS as u64)].into());
}

#[test]
fn an_adapter_in_4_bits_is_the_one_with_its_numbers() {
    let (few, many) = (adapter(true), adapter(false));
    let ids: &[u32] = &[1, 17, 40, 5, 9];
    let logits = |of: &TempDir| opened(of.path()).unwrap().logits(&[ids]).unwrap().remove(0);
    assert_eq!(logits(&few).data(), logits(&many).data());
    let base = directory("llama").join("model.gguf");
    let plain = LanguageModel::open(&base, &CPU, Numbers::F32).unwrap().logits(&[ids]).unwrap();
    assert_ne!(plain[0].data(), logits(&few).data());
    let of = |of: &TempDir| LanguageAdapter::read(of.path()).unwrap().fingerprint();
    assert_eq!(of(&few), of(&adapter(true)));
    assert_ne!(of(&few), of(&many));
}

#[test]
fn a_file_in_4_bits_that_does_not_fit_is_refused() {
    let made = adapter(true);
    let path = made.path().join(WEIGHTS);
    let whole = std::fs::read(&path).unwrap();
    let parts: Vec<Part> = SafeTensors::deserialize(&whole)
        .unwrap()
        .iter()
        .map(|(name, of)| (name.to_owned(), of.dtype(), of.shape().to_vec(), of.data().to_vec()))
        .collect();
    let at = parts.iter().position(|(_, dtype, ..)| *dtype == Dtype::U8).unwrap();
    let name = parts[at].0.clone();
    let refused = |change: &dyn Fn(&mut Part)| {
        let mut parts = parts.clone();
        change(&mut parts[at]);
        write(&path, &parts);
        opened(made.path()).unwrap_err().to_string()
    };
    let rows = parts[at].2[0];
    let wide = refused(&|part| *part = in_blocks(&name, rows, 2));
    assert!(wide.contains(&name) && wide.contains(", 64]"), "{wide}");
    let cut = refused(&|part| {
        part.2 = vec![rows, BYTES - 1];
        part.3.truncate(rows * (BYTES - 1));
    });
    assert!(cut.contains(&name) && cut.contains(", 17], expected"), "{cut}");
    let whole_bytes = refused(&|part| {
        part.2 = vec![rows, NUMBERS];
        part.3.resize(rows * NUMBERS, 0);
    });
    assert!(whole_bytes.contains("has type `U8`"), "{whole_bytes}");
    assert!(whole_bytes.contains("blocks of 18 bytes"), "{whole_bytes}");
    // The scale of the second row's block is not a number.
    let odd = refused(&|part| part.3[BYTES..BYTES + 2].copy_from_slice(&[0x00, 0x7e]));
    assert!(odd.contains("element 32 of") && odd.contains("NaN"), "{odd}");
    let infinite = refused(&|part| part.3[..2].copy_from_slice(&[0x00, 0x7c]));
    assert!(infinite.contains("element 0 of"), "{infinite}");
    std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    let short = opened(made.path()).unwrap_err().to_string();
    assert!(short.contains(WEIGHTS), "{short}");
}
