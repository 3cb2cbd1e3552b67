//! Models that cannot be used are refused with the reason; shards make no difference.

use std::path::Path;

use fnstore::engine::{
    Device, Encoder, EncoderDecoder, EncoderInput, RowMask, StepNetwork, StepRow, Weights,
};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

fn source(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/parity").join(name)
}

/// A safetensors file taken apart: header entries in file order, and the data.
struct Parts {
    header: Map<String, Value>,
    data: Vec<u8>,
}

impl Parts {
    fn read(name: &str) -> Self {
        let bytes = std::fs::read(source(name).join("model.safetensors")).unwrap();
        // The length's upper bytes are zero in files this small.
        let length = usize::from(bytes[0]) | usize::from(bytes[1]) << 8;
        let header = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
        Self { header, data: bytes[8 + length..].to_vec() }
    }

    fn tensor(&self, name: &str) -> (Value, Vec<u8>) {
        let entry = &self.header[name];
        let offset = |end: usize| entry["data_offsets"][end].as_u64().unwrap() as usize;
        (entry.clone(), self.data[offset(0)..offset(1)].to_vec())
    }

    fn names(&self) -> Vec<String> {
        self.header.keys().filter(|name| *name != "__metadata__").cloned().collect()
    }
}

/// Writes a safetensors file of (name, type, shape, bytes).
fn write(path: &Path, tensors: &[(String, Value, Vec<u8>)]) {
    let (mut header, mut data) = (Map::new(), Vec::new());
    for (name, entry, bytes) in tensors {
        let start = data.len();
        data.extend(bytes);
        let offsets = json!([start, data.len()]);
        let entry = json!({
            "dtype": entry["dtype"], "shape": entry["shape"], "data_offsets": offsets,
        });
        header.insert(name.clone(), entry);
    }
    let header = Value::Object(header).to_string().into_bytes();
    let mut length = (header.len() as u64).to_be_bytes();
    length.reverse();
    std::fs::write(path, [&length[..], &header, &data].concat()).unwrap();
}

/// A copy of a model with its tensors changed by `change`.
pub(crate) fn changed(name: &str, change: impl Fn(&mut Vec<(String, Value, Vec<u8>)>)) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let parts = Parts::read(name);
    let mut tensors: Vec<_> = parts
        .names()
        .into_iter()
        .map(|name| {
            let (entry, bytes) = parts.tensor(&name);
            (name, entry, bytes)
        })
        .collect();
    change(&mut tensors);
    write(&directory.path().join("model.safetensors"), &tensors);
    std::fs::copy(source(name).join("config.json"), directory.path().join("config.json")).unwrap();
    directory
}

const QUERY: &str = "encoder.layer.1.attention.self.query.weight";

fn open_bert(directory: &TempDir) -> String {
    Encoder::open(directory.path(), &Device::cpu()).unwrap_err().to_string()
}

#[test]
fn a_missing_tensor_is_named_with_its_shape_and_file() {
    let directory = changed("bert", |tensors| tensors.retain(|(name, ..)| name != QUERY));
    let error = open_bert(&directory);
    for part in [QUERY, "[36, 36]", "model.safetensors"] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn a_wrong_shape_is_named_with_both_shapes() {
    let directory = changed("bert", |tensors| {
        let tensor = tensors.iter_mut().find(|(name, ..)| name == QUERY).unwrap();
        tensor.1["shape"] = json!([72, 18]);
    });
    let error = open_bert(&directory);
    for part in [QUERY, "[36, 36]", "[72, 18]", "model.safetensors"] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn a_weight_that_is_not_finite_is_named_with_its_place() {
    let directory = changed("bert", |tensors| {
        let tensor = tensors.iter_mut().find(|(name, ..)| name == QUERY).unwrap();
        tensor.2[4 * 40..4 * 41].copy_from_slice(&[0, 0, 0xc0, 0x7f]);
    });
    let error = open_bert(&directory);
    assert!(
        error.contains(QUERY) && error.contains("element 40") && error.contains("NaN"),
        "{error}"
    );
}

#[test]
fn an_unknown_element_type_is_named() {
    let directory = changed("bert", |tensors| {
        let tensor = tensors.iter_mut().find(|(name, ..)| name == QUERY).unwrap();
        tensor.1["dtype"] = json!("I32");
    });
    assert!(open_bert(&directory).contains("`I32`"));
}

#[test]
fn another_family_is_refused() {
    let error = Encoder::open(&source("marian"), &Device::cpu()).unwrap_err().to_string();
    assert!(error.contains("`model_type` is `marian`, expected `bert`"), "{error}");
    let error = EncoderDecoder::open(&source("bert"), &Device::cpu()).unwrap_err().to_string();
    assert!(
        error.contains("`model_type` is `bert`, expected `marian` or `bart` or `t5`"),
        "{error}"
    );
}

#[test]
fn absent_and_damaged_files_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    assert!(open_bert(&directory).contains("config.json"));
    std::fs::copy(source("bert").join("config.json"), directory.path().join("config.json"))
        .unwrap();
    assert!(open_bert(&directory).contains("model.safetensors"));
    for bytes in
        [&b""[..], &b"\xff\xff\xff\xff\xff\xff\xff\xff{}"[..], &b"\x02\0\0\0\0\0\0\0{}x"[..]]
    {
        std::fs::write(directory.path().join("model.safetensors"), bytes).unwrap();
        assert!(open_bert(&directory).contains("damaged"));
    }
}

/// Splits the tiny BERT into two files with an index; `edit` may spoil the index.
fn sharded(edit: impl Fn(&mut Value)) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let parts = Parts::read("bert");
    let mut map = Map::new();
    for shard in 0..2 {
        let file = format!("model-0000{}-of-00002.safetensors", shard + 1);
        let mut tensors = Vec::new();
        for name in parts.names().into_iter().skip(shard).step_by(2) {
            let (entry, bytes) = parts.tensor(&name);
            map.insert(name.clone(), json!(file));
            tensors.push((name, entry, bytes));
        }
        // The order within a file is no matter either.
        tensors.reverse();
        write(&directory.path().join(file), &tensors);
    }
    let mut index = json!({"metadata": {}, "weight_map": map});
    edit(&mut index);
    let name = "model.safetensors.index.json";
    std::fs::write(directory.path().join(name), index.to_string()).unwrap();
    std::fs::copy(source("bert").join("config.json"), directory.path().join("config.json"))
        .unwrap();
    directory
}

#[test]
fn shards_give_the_same_states_and_the_same_fingerprint() {
    let shards = sharded(|_| ());
    let split = Encoder::open(shards.path(), &Device::cpu()).unwrap();
    let whole = Encoder::open(&source("bert"), &Device::cpu()).unwrap();
    let inputs = [EncoderInput { ids: vec![2, 17, 3], type_ids: vec![] }];
    assert_eq!(split.encode(&inputs).unwrap(), whole.encode(&inputs).unwrap());
    assert_eq!(split.fingerprint(), whole.fingerprint());
    assert_eq!(split.fingerprint().to_string().len(), 64);
}

#[test]
fn one_changed_bit_changes_the_fingerprint() {
    let whole = Weights::open(&source("bert")).unwrap().fingerprint().unwrap();
    let bit = changed("bert", |tensors| tensors[3].2[7] ^= 1);
    assert_ne!(Weights::open(bit.path()).unwrap().fingerprint().unwrap(), whole);
    let same = changed("bert", |_| ());
    assert_eq!(Weights::open(same.path()).unwrap().fingerprint().unwrap(), whole);
    std::fs::write(same.path().join("tokenizer.json"), "{}").unwrap();
    assert_ne!(Weights::open(same.path()).unwrap().fingerprint().unwrap(), whole);
}

#[test]
fn the_fingerprint_holds_what_the_generation_configuration_changes_and_no_more() {
    let directory = changed("marian", |_| ());
    let beside = directory.path().join("generation_config.json");
    let fingerprint = || Weights::open(directory.path()).unwrap().fingerprint().unwrap();
    let with = |content: Value| {
        std::fs::write(&beside, content.to_string()).unwrap();
        fingerprint()
    };
    let alone = fingerprint();
    // Its config.json says the same.
    assert_eq!(with(json!({"decoder_start_token_id": 0, "eos_token_id": [1], "top_k": 5})), alone);
    let changes = [
        json!({"decoder_start_token_id": 2}),
        json!({"eos_token_id": 2}),
        json!({"forced_bos_token_id": 2}),
        json!({"avoid_token": "<no>"}),
    ];
    let mut found: Vec<_> = changes.into_iter().map(with).chain([alone]).collect();
    found.sort_unstable();
    found.dedup();
    assert_eq!(found.len(), 5);
    std::fs::write(&beside, "[").unwrap();
    let error = Weights::open(directory.path()).unwrap().fingerprint().unwrap_err().to_string();
    assert!(error.contains("generation_config.json"), "{error}");
}

#[test]
fn a_t5_without_a_projection_of_its_own_is_refused_unless_its_table_is_one() {
    let directory =
        changed("flan-t5", |tensors| tensors.retain(|(name, ..)| name != "lm_head.weight"));
    let error = EncoderDecoder::open(directory.path(), &Device::cpu()).unwrap_err().to_string();
    assert!(error.contains("no tensor `lm_head.weight`"), "{error}");
    let path = directory.path().join("config.json");
    let mut config: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    config["tie_word_embeddings"] = json!(true);
    std::fs::write(&path, config.to_string()).unwrap();
    EncoderDecoder::open(directory.path(), &Device::cpu()).unwrap();
}

#[test]
fn a_bad_index_is_refused() {
    let outside = sharded(|index| index["weight_map"][QUERY] = json!("../model.safetensors"));
    assert!(open_bert(&outside).contains("index.json"));
    let absent = sharded(|index| {
        index["weight_map"]["no.such.tensor"] = json!("model-00001-of-00002.safetensors")
    });
    assert!(open_bert(&absent).contains("no.such.tensor"));
    let missing = sharded(|index| index["weight_map"][QUERY] = json!("model-9.safetensors"));
    assert!(open_bert(&missing).contains("model-9.safetensors"));
}

/// A model whose first query weight is stored as another type, with the tensors that go with it.
fn stored_as(dtype: &str, encode: impl Fn(f32) -> Vec<u8>) -> TempDir {
    changed("bert", |tensors| {
        let tensor = tensors.iter_mut().find(|(name, ..)| name == QUERY).unwrap();
        let values = tensor
            .2
            .chunks(4)
            .map(|b| f32::from_bits(u32::from_be_bytes([b[3], b[2], b[1], b[0]])));
        tensor.2 = values.flat_map(&encode).collect();
        tensor.1["dtype"] = json!(dtype);
        if dtype == "I8" {
            let scale: Vec<u8> = [0, 0, 0, 0x3c].repeat(36); // 2^-7
            let entry = json!({"dtype": "F32", "shape": [36]});
            tensors.push((format!("{QUERY}.scale"), entry, scale));
        }
    })
}

#[test]
fn half_and_eight_bit_weights_are_read() {
    let whole = Weights::open(&source("bert")).unwrap().tensor(QUERY, &[36, 36]).unwrap();
    // The upper half of an f32 is its bf16, cut instead of rounded.
    let brain = stored_as("BF16", |x| {
        let [a, b, ..] = x.to_bits().to_be_bytes();
        vec![b, a]
    });
    let eight = stored_as("I8", |x| vec![(x * 128.0).round().clamp(-127.0, 127.0) as i8 as u8]);
    for (directory, step) in [(brain, 1.0 / 256.0), (eight, 0.51 / 128.0)] {
        let read = Weights::open(directory.path()).unwrap().tensor(QUERY, &[36, 36]).unwrap();
        for (got, want) in read.data().iter().zip(whole.data()) {
            let bound = step * want.abs().max(1.0) + 1e-6;
            assert!((got - want).abs() <= bound || want.abs() > 0.99, "{got} {want}");
        }
    }
}

#[test]
fn eight_bit_weights_need_their_scale() {
    let directory = changed("bert", |tensors| {
        let tensor = tensors.iter_mut().find(|(name, ..)| name == QUERY).unwrap();
        tensor.1["dtype"] = json!("I8");
        tensor.2.truncate(36 * 36);
    });
    assert!(open_bert(&directory).contains(&format!("{QUERY}.scale")));
}

#[test]
fn inputs_that_do_not_fit_the_encoder_are_refused() {
    let encoder = Encoder::open(&source("bert"), &Device::cpu()).unwrap();
    let encode = |ids: Vec<u32>, type_ids: Vec<u32>| {
        let good = EncoderInput { ids: vec![2, 3], type_ids: vec![] };
        encoder.encode(&[good, EncoderInput { ids, type_ids }]).unwrap_err().to_string()
    };
    assert!(encode(vec![], vec![]).contains("input 1 of the batch: it has 0 tokens"));
    assert!(encode(vec![2; 25], vec![]).contains("25 tokens, expected 1 to 24"));
    assert!(encode(vec![2, 61], vec![]).contains("token `61`"));
    assert!(encode(vec![2, 3], vec![0]).contains("1 type ids for 2 tokens"));
    assert!(encode(vec![2, 3], vec![0, 2]).contains("below 2"));
    assert!(encoder.encode(&[]).unwrap().is_empty());
}

#[test]
fn rows_that_break_the_protocol_are_refused() {
    let mut network = EncoderDecoder::open(&source("marian"), &Device::cpu()).unwrap();
    assert!(network.open(&[&[2, 1], &[]]).unwrap_err().to_string().contains("input 1"));
    let error = network.open(&[&[2; 33]]).unwrap_err().to_string();
    assert!(error.contains("33"), "{error}");
    assert!(network.open(&[&[95]]).unwrap_err().to_string().contains("token `95`"));
    assert!(network.open(&[]).unwrap().is_empty());
    let slots = network.open(&[&[2, 1], &[3, 1]]).unwrap();
    let row = |slot: usize, parent, token| StepRow { slot: slots[slot], parent, token, score: 0.0 };
    let mut refused =
        |rows: &[StepRow], masks: &[RowMask]| network.step(rows, masks, 1).unwrap_err().to_string();
    let unknown = StepRow { slot: fnstore::engine::SlotId(7), ..row(0, None, 0) };
    assert!(refused(&[unknown], &[]).contains("slot 7 is not open"));
    assert!(refused(&[row(0, Some(0), 0)], &[]).contains("had 0 rows"));
    assert!(refused(&[row(0, None, 95)], &[]).contains("token `95`"));
    let scattered = [row(0, None, 0), row(1, None, 0), row(0, None, 0)];
    assert!(refused(&scattered, &[]).contains("do not stand together"));
    let mask = |banned: &[u32]| RowMask { banned: banned.into(), ..RowMask::default() };
    assert!(refused(&[row(0, None, 0)], &[mask(&[3, 2])]).contains("ascending"));
    assert!(refused(&[row(0, None, 0)], &[mask(&[2, 95])]).contains("token `95`"));
    // Nothing refused has moved a hypothesis.
    network.step(&[row(0, None, 0)], &[], 1).unwrap();
    for _ in 1..network.max_length() {
        network.step(&[row(0, Some(0), 5)], &[], 1).unwrap();
    }
    let error = network.step(&[row(0, Some(0), 5)], &[], 1).unwrap_err().to_string();
    assert!(error.contains("32 tokens"), "{error}");
    let score = f32::NAN;
    network.rewind(slots[0], 0);
    let error = network.step(&[StepRow { score, ..row(0, None, 0) }], &[], 1).unwrap_err();
    assert!(error.to_string().contains("slot 0, step 0"), "{error}");
}
