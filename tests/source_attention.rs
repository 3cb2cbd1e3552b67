//! A network hands out how its rows look at the source, where it is asked to.

use std::path::Path;

use fnstore::engine::{Device, EncoderDecoder, SlotCandidates, SlotId, StepNetwork, StepRow};

fn network() -> EncoderDecoder {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/parity/marian");
    EncoderDecoder::open(&data, &Device::cpu()).unwrap()
}

fn step(network: &mut EncoderDecoder, slots: &[SlotId]) -> Vec<SlotCandidates> {
    let row = |slot: &SlotId| StepRow { slot: *slot, parent: None, token: 0, score: 0.0 };
    network.step(&slots.iter().map(row).collect::<Vec<_>>(), &[], 3).unwrap()
}

#[test]
fn attention_is_given_for_the_slots_that_asked_and_adds_up_to_one() {
    let mut network = network();
    let slots = network.open(&[&[5, 44, 17, 1], &[88, 3, 1]]).unwrap();
    assert!(network.give_attention(slots[1], true));
    let answers = step(&mut network, &slots);
    assert!(answers[0].attention.is_empty());
    let [row] = answers[1].attention.as_slice() else { panic!("one list for one row") };
    assert_eq!(row.len(), 3);
    assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{row:?}");
    assert!(row.iter().all(|weight| *weight > 0.0));
}

#[test]
fn asking_changes_no_score_and_attention_does_not_depend_on_the_batch() {
    let (mut together, mut alone) = (network(), network());
    let slots = together.open(&[&[5, 44, 17, 1], &[88, 3, 1]]).unwrap();
    let slot = alone.open(&[&[88, 3, 1]]).unwrap()[0];
    let plain = step(&mut alone, &[slot]).remove(0);
    alone.rewind(slot, 0);
    together.give_attention(slots[1], true);
    alone.give_attention(slot, true);
    let (all, one) = (step(&mut together, &slots), step(&mut alone, &[slot]));
    assert_eq!(all[1].best, plain.best);
    assert_eq!(all[1].attention, one[0].attention);
}

#[test]
fn a_slot_that_is_used_again_gives_no_attention() {
    let mut network = network();
    let slot = network.open(&[&[5, 1]]).unwrap()[0];
    network.give_attention(slot, true);
    network.close(slot);
    let again = network.open(&[&[5, 1]]).unwrap()[0];
    assert_eq!(again, slot);
    assert!(step(&mut network, &[again])[0].attention.is_empty());
}
