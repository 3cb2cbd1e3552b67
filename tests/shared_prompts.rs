//! Prompts that begin alike share the keys of their beginning, and nobody can tell from the
//! numbers.

use fnstore::engine::{Device, LanguageModel, Numbers, SlotId, StepNetwork, StepRow};

use crate::language_parity::directory;

fn open(name: &str) -> LanguageModel {
    let device = Device::Cpu { threads: 2 };
    LanguageModel::open(&directory(name).join("model.gguf"), &device, Numbers::Blocks).unwrap()
}

/// The log-probabilities of all tokens after a prompt, by token.
fn after(model: &mut LanguageModel, slot: SlotId) -> Vec<f32> {
    let vocab_size = model.vocab_size();
    let row = StepRow { slot, parent: None, token: model.start_token(), score: 0.0 };
    let mut best = model.step(&[row], &[], vocab_size).unwrap().remove(0).best;
    best.sort_by_key(|candidate| candidate.token);
    best.iter().map(|candidate| candidate.log_prob).collect()
}

/// Prompts of one instruction of eight tokens.
fn prompts() -> [Vec<u32>; 4] {
    let with = |own: &[u32]| [&[3, 9, 4, 12, 30, 7, 7, 21][..], own].concat();
    [with(&[40, 41, 42]), with(&[40, 50]), with(&[]), with(&[40, 41, 42])]
}

#[test]
fn what_follows_a_prompt_is_the_same_bits_whether_its_beginning_is_shared() {
    for name in ["llama", "gemma3"] {
        let mut model = open(name);
        let alone: Vec<Vec<f32>> = prompts()
            .iter()
            .map(|prompt| {
                let slot = model.open(&[prompt]).unwrap()[0];
                let found = after(&mut model, slot);
                model.close(slot);
                found
            })
            .collect();
        assert_eq!(model.cached_bytes(), 0);
        let prompts = prompts();
        // Two of one call, one beside them, and one that an open prompt holds as a whole.
        let mut slots = model.open(&[&prompts[0], &prompts[1]]).unwrap();
        slots.extend(model.open(&[&prompts[2]]).unwrap());
        slots.extend(model.open(&[&prompts[3]]).unwrap());
        for (slot, alone) in slots.iter().zip(&alone) {
            assert_eq!(&after(&mut model, *slot), alone, "{name}");
        }
    }
}

#[test]
fn a_beginning_takes_memory_once_and_stays_while_a_prompt_has_it() {
    let mut model = open("llama");
    let prompts = prompts();
    let first = model.open(&[&prompts[0]]).unwrap()[0];
    let one = model.cached_bytes();
    let of_token = one / (prompts[0].len() - 1);
    let second = model.open(&[&prompts[1]]).unwrap()[0];
    // The last token of a prompt is given to its first step; all before it are the first prompt's.
    assert_eq!(model.cached_bytes(), one);
    let same = model.open(&[&prompts[3]]).unwrap()[0];
    assert_eq!(model.cached_bytes(), one);
    model.close(first);
    model.close(same);
    assert_eq!(model.cached_bytes(), 9 * of_token);
    let kept = after(&mut model, second);
    model.close(second);
    assert_eq!(model.cached_bytes(), 0);
    let alone = model.open(&[&prompts[1]]).unwrap()[0];
    assert_eq!(after(&mut model, alone), kept);
}

#[test]
fn a_refused_prompt_leaves_the_others_as_they_were() {
    let mut model = open("llama");
    let prompts = prompts();
    let slot = model.open(&[&prompts[0]]).unwrap()[0];
    let (bytes, long) = (model.cached_bytes(), [3; 65]);
    let error = model.open(&[&prompts[1], &long]).unwrap_err().to_string();
    assert!(error.contains("65 tokens"), "{error}");
    assert_eq!(model.cached_bytes(), bytes);
    assert_eq!(after(&mut model, slot).len(), model.vocab_size());
}
