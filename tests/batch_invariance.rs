//! A result has the same bits whatever is computed beside it.

use std::path::Path;

use fnstore::engine::{
    Device, Encoder, EncoderDecoder, EncoderInput, NnError, Numbers, RowMask, SlotId, StepNetwork,
    StepRow,
};
use proptest::prelude::*;

fn data(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/parity").join(name)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn an_encoded_sentence_does_not_depend_on_its_batch(
        sentences in prop::collection::vec(prop::collection::vec(0u32..61, 1..24), 1..70),
        threads in 1usize..4, pick in any::<prop::sample::Index>(),
    ) {
        let together = Encoder::open(&data("bert"), &Device::Cpu { threads }).unwrap();
        let alone = Encoder::open(&data("bert"), &Device::Cpu { threads: 1 }).unwrap();
        let inputs: Vec<EncoderInput> = sentences
            .iter()
            .map(|ids| EncoderInput { ids: ids.clone(), type_ids: vec![] })
            .collect();
        let states = together.encode(&inputs).unwrap();
        let picked = pick.index(inputs.len());
        let single = alone.encode(&inputs[picked..=picked]).unwrap();
        prop_assert_eq!(&single[0], &states[picked]);
    }

    #[test]
    fn a_hypothesis_does_not_depend_on_other_slots(
        sources in prop::collection::vec(prop::collection::vec(2u32..95, 1..14), 1..8),
        tokens in prop::collection::vec(2u32..95, 1..12),
        threads in 1usize..4, pick in any::<prop::sample::Index>(),
        numbers in prop::sample::select(vec![Numbers::F32, Numbers::Int8]),
        model in prop::sample::select(vec!["marian", "bart", "t5", "flan-t5"]),
    ) {
        let open = |threads| {
            EncoderDecoder::open_in(&data(model), &Device::Cpu { threads }, numbers).unwrap()
        };
        let (mut together, mut alone) = (open(threads), open(1));
        let sources: Vec<&[u32]> = sources.iter().map(Vec::as_slice).collect();
        let picked = pick.index(sources.len());
        let slots = together.open(&sources).unwrap();
        let slot = alone.open(&sources[picked..=picked]).unwrap()[0];
        for step in 0..tokens.len() {
            // The others hold two hypotheses each, and stop early at different steps.
            let mut rows = Vec::new();
            for (number, other) in slots.iter().enumerate() {
                if number == picked {
                    rows.push(row(*other, step, &tokens, 0));
                } else if step < 1 + number {
                    rows.push(row(*other, step, &tokens, 0));
                    rows.push(row(*other, step, &tokens, 1));
                }
            }
            let all = together.step(&rows, &[], 7).unwrap();
            let one = alone.step(&[row(slot, step, &tokens, 0)], &[], 7).unwrap();
            let own = all.iter().find(|result| result.slot == slots[picked]).unwrap();
            prop_assert_eq!(&own.best, &one[0].best);
        }
    }
}

/// The row that feeds token `step - 1`, or the start token.
fn row(slot: SlotId, step: usize, tokens: &[u32], parent: u32) -> StepRow {
    match step.checked_sub(1) {
        Some(before) => StepRow { slot, parent: Some(parent), token: tokens[before], score: -0.5 },
        None => StepRow { slot, parent: None, token: 0, score: 0.0 },
    }
}

#[test]
fn a_beam_reorders_as_if_each_hypothesis_were_alone() {
    let mut network = EncoderDecoder::open(&data("marian"), &Device::cpu()).unwrap();
    let source: &[u32] = &[5, 44, 17, 1];
    let slot = network.open(&[source]).unwrap()[0];
    let row = |parent, token| StepRow { slot, parent, token, score: 0.0 };
    network.step(&[row(None, 0)], &[], 1).unwrap();
    // Three children of the root; then two of the last, one of the first; then one of each.
    network.step(&[row(Some(0), 10), row(Some(0), 20), row(Some(0), 30)], &[], 1).unwrap();
    network.step(&[row(Some(2), 11), row(Some(2), 21), row(Some(0), 31)], &[], 1).unwrap();
    let masks: Vec<RowMask> = (0..3)
        .map(|row| RowMask {
            row,
            extra: (0..95).collect(),
            eos_allowed: true,
            ..RowMask::default()
        })
        .collect();
    let rows = [row(Some(1), 12), row(Some(0), 22), row(Some(2), 32)];
    let beam = network.step(&rows, &masks, 1).unwrap().remove(0).extra;

    for (number, path) in [[30, 21, 12], [30, 11, 22], [10, 31, 32]].into_iter().enumerate() {
        network.rewind(slot, 0);
        network.step(&[row(None, 0)], &[], 1).unwrap();
        network.step(&[row(Some(0), path[0])], &[], 1).unwrap();
        network.step(&[row(Some(0), path[1])], &[], 1).unwrap();
        let alone = network.step(&[row(Some(0), path[2])], &masks[..1], 1).unwrap().remove(0).extra;
        let in_beam: Vec<_> = beam.iter().filter(|c| c.parent == number as u32).collect();
        assert_eq!(in_beam.len(), 95);
        for (a, b) in in_beam.iter().zip(&alone) {
            assert_eq!((a.token, a.log_prob.to_bits()), (b.token, b.log_prob.to_bits()));
        }
    }
}

#[test]
fn a_slot_is_free_for_the_next_source_once_closed() {
    let mut network = EncoderDecoder::open(&data("marian"), &Device::cpu()).unwrap();
    let (first, second): (&[u32], &[u32]) = (&[5, 44, 17, 1], &[88, 3, 3, 61, 20, 9, 1]);
    let start = |slot| StepRow { slot, parent: None, token: 0, score: 0.0 };
    let slots = network.open(&[first, second]).unwrap();
    let want = network.step(&[start(slots[1])], &[], 9).unwrap().remove(0).best;
    network.close(slots[0]);
    let closed = network.step(&[start(slots[0])], &[], 9).unwrap_err();
    assert!(matches!(closed, NnError::Row { row: 0, .. }), "{closed}");
    let again = network.open(&[second]).unwrap()[0];
    assert_eq!(network.step(&[start(again)], &[], 9).unwrap()[0].best, want);
}
