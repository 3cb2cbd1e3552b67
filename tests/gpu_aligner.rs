//! The shipped aligner finds the same spans on a GPU as on the CPU, also where the GPU is full or
//! goes away.
//!
//! As `gpu_kernels`, these tests take whatever adapter there is.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use fnstore::align::{AlignError, AlignRequest, Aligner, Ranking};
use fnstore::engine::{Device, GpuOptions, Trial};
use fnstore::model::Span;

use crate::gpu_kernels::device;

/// How far scores of the two may lie apart: what docs/concepts/compute.md states.
const TOLERANCE: f32 = 1e-3;

const PAIRS: [(&str, &[&str], &str); 8] = [
    (
        "The committee confirmed the report.",
        &["confirmed"],
        "The report was verified by the committee.",
    ),
    ("She gave the whole plan up.", &["gave", "up"], "She abandoned the whole of the plan."),
    (
        "He walked slowly across the old bridge.",
        &["walked"],
        "Slowly he crossed the old bridge on foot.",
    ),
    ("They made up their minds to leave.", &["made up"], "They decided that they would leave."),
    ("Nobody could remember the answer.", &["remember"], "No one was able to recall the answer."),
    ("The engineers repaired it.", &["repaired"], "It was put right by the engineers, who left."),
    (
        "We met.",
        &["met"],
        "In the end, after a long time, all of us came together in a large hall.",
    ),
    ("An old friend sent a message to the captain.", &["sent"], "The captain got a message."),
];

fn model(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("models").join(name)
}

fn open(device: &Device) -> Result<Aligner, AlignError> {
    Aligner::open(&model("aligner"), &model("aligner-encoder"), device)
}

fn rank(aligner: &Aligner) -> Result<Vec<Option<Ranking>>, AlignError> {
    let pieces = PAIRS.map(|(source, pieces, _)| -> Vec<Span> {
        let piece = |piece: &&str| {
            let start = source.find(piece).unwrap() as u32;
            Span::new(start, start + piece.len() as u32)
        };
        pieces.iter().map(piece).collect()
    });
    let pairs = PAIRS.into_iter().zip(&pieces);
    let requests: Vec<AlignRequest<'_>> = pairs
        .map(|((source, _, target), pieces)| AlignRequest { source, pieces, target })
        .collect();
    aligner.rank(&requests, 3)
}

fn assert_same(found: &[Option<Ranking>], wanted: &[Option<Ranking>]) {
    assert_eq!(found.len(), wanted.len());
    for (found, wanted) in found.iter().zip(wanted) {
        let (found, wanted) = (found.as_ref().unwrap(), wanted.as_ref().unwrap());
        assert_eq!(found.alignment.spans, wanted.alignment.spans);
        assert_eq!(found.alignment.weak, wanted.alignment.weak);
        assert!((found.alignment.score - wanted.alignment.score).abs() < TOLERANCE);
        assert_eq!(found.runners_up.len(), wanted.runners_up.len());
        for (found, wanted) in found.runners_up.iter().zip(&wanted.runners_up) {
            assert_eq!(found.len(), wanted.len());
            for (found, wanted) in found.iter().zip(wanted) {
                // Spans that score alike may change places.
                assert!((found.1 - wanted.1).abs() < TOLERANCE, "{found:?} {wanted:?}");
            }
        }
    }
}

/// What the devices of these tests said.
static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn tell(text: &str) {
    TOLD.lock().unwrap().push(text.to_owned());
}

/// What was said since `before` that holds `part`.
fn told(before: usize, part: &str) -> usize {
    TOLD.lock().unwrap()[before..].iter().filter(|text| text.contains(part)).count()
}

fn with(trial: Trial) -> Option<Device> {
    device(&GpuOptions { trial, notice: Some(tell), ..GpuOptions::default() })
}

#[test]
fn a_gpu_finds_the_spans_of_the_cpu_and_one_that_is_lost_or_full_does_as_well() {
    let wanted = rank(&open(&Device::cpu()).unwrap()).unwrap();
    assert!(wanted.iter().all(Option::is_some));
    let Some(whole) = with(Trial::default()) else { return };
    let Device::Gpu(gpu) = &whole else { unreachable!("a GPU was opened") };
    let aligner = open(&whole).unwrap();
    let loading = gpu.submissions();
    assert_same(&rank(&aligner).unwrap(), &wanted);
    let all = gpu.submissions();
    assert!(all > loading + 2, "{loading} {all}");
    lost(loading..all, &wanted);
    again_and_again(loading, &wanted);
    full(&wanted);
}

/// The device is lost at every submission of the work.
fn lost(submissions: std::ops::Range<u64>, wanted: &[Option<Ranking>]) {
    for lose_after in submissions {
        let before = TOLD.lock().unwrap().len();
        let trial = Trial { lose_after: Some(lose_after), ..Trial::default() };
        let device = with(trial).unwrap();
        assert_same(&rank(&open(&device).unwrap()).unwrap(), wanted);
        // Whoever opens it later goes on with the one that follows.
        let later = open(&device).unwrap();
        if lose_after % 4 == 0 {
            assert_same(&rank(&later).unwrap(), wanted);
        }
        // Encoder, linker and head go on with one device.
        assert_eq!(told(before, "it is used again, opened anew"), 1, "{lose_after}");
    }
}

/// The devices that follow are lost, too.
fn again_and_again(lose_after: u64, wanted: &[Option<Ranking>]) {
    let before = TOLD.lock().unwrap().len();
    let trial = Trial { lose_after: Some(lose_after), lose_again: 9, ..Trial::default() };
    let aligner = open(&with(trial).unwrap()).unwrap();
    for _ in 0..2 {
        assert_same(&rank(&aligner).unwrap(), wanted);
    }
    assert_eq!(told(before, "it is used again, opened anew"), 3);
    assert_eq!(told(before, "again and again; the CPU takes over"), 1);
}

/// Every part of the work is done in halves on some device with too little memory, and refused on a
/// smaller one.
fn full(wanted: &[Option<Ranking>]) {
    let (mut refused, before) = (false, TOLD.lock().unwrap().len());
    for quarters in (170..190).step_by(2) {
        let trial = Trial { memory: Some(quarters << 18), ..Trial::default() };
        match open(&with(trial).unwrap()).and_then(|aligner| rank(&aligner)) {
            Ok(found) => assert_same(&found, wanted),
            Err(error) => {
                let mut cause: &dyn Error = &error;
                while let Some(source) = cause.source() {
                    cause = source;
                }
                assert!(cause.to_string().contains("has no room"), "{cause}");
                refused = true;
            }
        }
    }
    assert!(refused, "some memory was too little for the weights, or a sentence");
    for part in [
        "sentences are encoded in two halves",
        "are linked in two halves",
        "spans are aligned in two halves",
    ] {
        assert!(told(before, part) > 0, "on no device: {part}");
    }
}
