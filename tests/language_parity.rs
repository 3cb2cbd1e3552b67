//! Language models of every layout give the logits that transformers gives, from a directory and
//! from a GGUF file (see training/parity/language.py), whole or step by step.

use std::path::{Path, PathBuf};

use fnstore::engine::{Device, LanguageLayout, LanguageModel, Numbers, StepNetwork, StepRow};
use serde::Deserialize;

use crate::bert_parity::golden;

/// The tiny models, with their layouts; Llama's with the plain rotation and with that of Llama 3.
const MODELS: [(&str, LanguageLayout); 5] = [
    ("llama", LanguageLayout::Llama),
    ("llama3", LanguageLayout::Llama),
    ("qwen2", LanguageLayout::Qwen2),
    ("qwen3", LanguageLayout::Qwen3),
    ("gemma3", LanguageLayout::Gemma3),
];

#[derive(Deserialize)]
struct Case {
    ids: Vec<u32>,
    logits: Vec<Vec<f32>>,
}

pub(crate) fn directory(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/parity").join(name)
}

fn cases(name: &str) -> Vec<Case> {
    golden(&format!("{name}/logits.json"))
}

fn open(path: &Path, numbers: Numbers) -> LanguageModel {
    LanguageModel::open(path, &Device::Cpu { threads: 2 }, numbers).unwrap()
}

fn largest_difference(model: &mut LanguageModel, cases: &[Case]) -> f32 {
    let sequences: Vec<&[u32]> = cases.iter().map(|case| case.ids.as_slice()).collect();
    let found = model.logits(&sequences).unwrap();
    assert_eq!(found.len(), cases.len());
    let mut largest = 0.0;
    for (case, found) in cases.iter().zip(&found) {
        assert_eq!(found.rows(), case.ids.len());
        let wanted = case.logits.iter().flatten();
        for (got, want) in found.data().iter().zip(wanted) {
            assert!(got.is_finite());
            largest = f32::max(largest, (got - want).abs());
        }
    }
    largest
}

#[test]
fn every_layout_gives_the_logits_of_transformers() {
    for (name, layout) in MODELS {
        for file in ["", "model.gguf"] {
            let mut model = open(&directory(name).join(file), Numbers::F32);
            assert_eq!(model.config().layout, layout);
            let difference = largest_difference(&mut model, &cases(name));
            assert!(difference < 1e-3, "{name}/{file}: {difference}");
        }
    }
}

#[test]
fn in_8_bits_it_gives_nearly_those() {
    for (name, _) in MODELS {
        let mut model = open(&directory(name), Numbers::Int8);
        let difference = largest_difference(&mut model, &cases(name));
        assert!((1e-4..1.5).contains(&difference), "{name}: {difference}");
    }
}

#[test]
fn a_directory_and_a_file_say_the_same_of_a_model() {
    for (name, _) in MODELS {
        let of_directory = open(&directory(name), Numbers::F32);
        let of_file = open(&directory(name).join("model.gguf"), Numbers::F32);
        let (one, other) = (of_directory.config(), of_file.config());
        // A file has Llama 3's scaling as a tensor, and Gemma's gains as they are applied.
        if name != "llama3" {
            assert_eq!(one.rotation, other.rotation, "{name}");
        }
        assert_eq!(one.window, other.window, "{name}");
        assert_eq!((one.vocab_size, one.layers), (other.vocab_size, other.layers));
        assert_eq!((one.start_token, &one.end_tokens), (other.start_token, &other.end_tokens));
    }
}

/// Sums over steps of the log-probabilities of the tokens that follow a prompt.
fn stepped(model: &mut LanguageModel, prompts: &[&[u32]], next: &[&[u32]]) -> Vec<Vec<f32>> {
    let slots = model.open(prompts).unwrap();
    let mut found = vec![Vec::new(); prompts.len()];
    for step in 0..next.iter().map(|tokens| tokens.len()).max().unwrap() {
        let going: Vec<usize> = (0..prompts.len()).filter(|at| step < next[*at].len()).collect();
        let rows = going.iter().map(|at| match step.checked_sub(1) {
            None => {
                let token = model.start_token();
                StepRow { slot: slots[*at], parent: None, token, score: 0.0 }
            }
            Some(before) => {
                StepRow { slot: slots[*at], parent: Some(0), token: next[*at][before], score: 0.0 }
            }
        });
        let rows: Vec<StepRow> = rows.collect();
        let vocab_size = model.vocab_size();
        for (at, answer) in going.iter().zip(model.step(&rows, &[], vocab_size).unwrap()) {
            let wanted = next[*at][step];
            let scored = answer.best.iter().find(|candidate| candidate.token == wanted);
            found[*at].push(scored.unwrap().log_prob);
        }
    }
    slots.into_iter().for_each(|slot| model.close(slot));
    assert_eq!(model.cached_bytes(), 0);
    found
}

#[test]
fn steps_after_a_prompt_give_the_bits_of_the_whole_sequence() {
    for (name, _) in MODELS {
        let mut model = open(&directory(name), Numbers::F32);
        let cases = cases(name);
        let sequences: Vec<&[u32]> =
            cases.iter().map(|case| case.ids.as_slice()).filter(|ids| ids.len() > 1).collect();
        let whole = model.log_probs(&sequences).unwrap();
        // A prompt of one token leaves nothing to compute before the first step.
        for cut in [1, 5] {
            let cut_at = |ids: &[u32]| cut.min(ids.len() - 1);
            let prompts: Vec<&[u32]> = sequences.iter().map(|ids| &ids[..cut_at(ids)]).collect();
            let next: Vec<&[u32]> = sequences.iter().map(|ids| &ids[cut_at(ids)..]).collect();
            let steps = stepped(&mut model, &prompts, &next);
            for (steps, (whole, prompt)) in steps.iter().zip(whole.iter().zip(&prompts)) {
                assert_eq!(steps, &whole[prompt.len() - 1..], "{name}, prompts of {cut}");
            }
        }
    }
}

#[test]
fn log_probabilities_are_those_of_the_logits_in_any_company() {
    let mut model = open(&directory("llama"), Numbers::F32);
    let cases = cases("llama");
    let sequences: Vec<&[u32]> = cases.iter().map(|case| case.ids.as_slice()).collect();
    let together = model.log_probs(&sequences).unwrap();
    for (case, together) in cases.iter().zip(&together) {
        assert_eq!(&model.log_probs(&[&case.ids]).unwrap()[0], together);
        assert_eq!(together.len(), case.ids.len() - 1);
        for ((found, logits), token) in together.iter().zip(&case.logits).zip(&case.ids[1..]) {
            let total: f64 = logits.iter().map(|logit| f64::from(*logit).exp()).sum();
            let want = f64::from(logits[*token as usize]) - total.ln();
            assert!((f64::from(*found) - want).abs() < 1e-3, "{found} {want}");
        }
    }
}

#[test]
fn beams_that_share_a_prompt_do_not_disturb_each_other() {
    let mut model = open(&directory("gemma3"), Numbers::F32);
    let prompt: Vec<u32> = (3..14).collect();
    let slot = model.open(&[&prompt]).unwrap()[0];
    let row = |parent, token| StepRow { slot, parent, token, score: 0.0 };
    model.step(&[row(None, 0)], &[], 3).unwrap();
    let both = model.step(&[row(Some(0), 20), row(Some(0), 30)], &[], 61).unwrap();
    let third = model.step(&[row(Some(1), 40)], &[], 61).unwrap();
    let sequence = [&prompt[..], &[30, 40, 50]].concat();
    let alone = model.log_probs(&[&sequence]).unwrap();
    let of = |answer: &[fnstore::engine::SlotCandidates], parent, token| {
        let mut all = answer[0].best.iter();
        all.find(|best| best.parent == parent && best.token == token).unwrap().log_prob
    };
    // 61 of both rows together: what is looked for is among them only if it is likely.
    let likely = both[0].best.iter().filter(|best| best.parent == 1).count();
    assert!(likely > 0);
    assert_eq!(of(&third, 0, 50), *alone[0].last().unwrap());
}

#[test]
fn prompts_and_hypotheses_that_outgrow_the_context_are_refused() {
    let mut model = open(&directory("qwen2"), Numbers::F32);
    let most = model.config().max_length;
    let long = vec![3; most + 1];
    let error = model.open(&[&long]).unwrap_err().to_string();
    assert!(error.contains("65 tokens, expected 1 to 64"), "{error}");
    let error = model.log_probs(&[&[3, 4], &[]]).unwrap_err().to_string();
    assert!(error.contains("input 1"), "{error}");
    let error = model.logits(&[&[61]]).unwrap_err().to_string();
    assert!(error.contains("`61`") && error.contains("61;"), "{error}");
    let slot = model.open(&[&long[1..]]).unwrap()[0];
    let row = |parent| StepRow { slot, parent, token: 3, score: 0.0 };
    model.step(&[row(None)], &[], 1).unwrap();
    let error = model.step(&[row(Some(0))], &[], 1).unwrap_err().to_string();
    assert!(error.contains("already holds 64 tokens"), "{error}");
}

#[test]
fn a_model_without_a_tensor_or_of_another_architecture_is_refused() {
    let file = directory("qwen3").join("model.gguf");
    let bytes = std::fs::read(&file).unwrap();
    let with = |from: &str, to: &str| {
        let at = bytes.windows(from.len()).position(|part| part == from.as_bytes()).unwrap();
        let mut changed = bytes.clone();
        changed[at..at + to.len()].copy_from_slice(to.as_bytes());
        let (_directory, path) = crate::gguf_files::written(&changed);
        LanguageModel::open(&path, &Device::cpu(), Numbers::F32).unwrap_err().to_string()
    };
    let error = with("blk.1.attn_q_norm", "blk.1.attn_q_nork");
    assert!(error.contains("no tensor `model.layers.1.self_attn.q_norm.weight`"), "{error}");
    let error = with("qwen3.block_count", "qwen3.block_cound");
    assert!(error.contains("`qwen3.block_count`") && error.contains("G-missing"), "{error}");
    // Fewer blocks than the file has, and a part of a model.
    let key = b"qwen3.block_count";
    let at = bytes.windows(key.len()).position(|part| part == key).unwrap() + key.len() + 4;
    let mut fewer = bytes.clone();
    fewer[at] = 1;
    let open = |bytes: &[u8]| {
        let (_directory, path) = crate::gguf_files::written(bytes);
        LanguageModel::open(&path, &Device::cpu(), Numbers::F32).unwrap_err().to_string()
    };
    let error = open(&fewer);
    assert!(
        error.contains("`qwen3.block_count`") && error.contains("blocks that the file has"),
        "{error}"
    );
    let mut part = crate::gguf_files::GgufFile::default();
    part.keys.push(("split.count".to_owned(), crate::gguf_files::number_value(2)));
    let error = open(&part.bytes());
    assert!(error.contains("`split.count`") && error.contains("join its parts"), "{error}");
    let error = with("qwen3", "bloom");
    assert!(error.contains("`bloom`") && error.contains("`gemma3`"), "{error}");
}
