//! Shaders compute what the CPU computes, on whatever GPU there is.
//!
//! These tests run on a real GPU, else on the software adapter; without any they say so and pass,
//! unless `FNSTORE_REQUIRE_GPU` is set.

use fnstore::engine::kernels::{
    KeyList, ScoreOutput, SpanCandidate, SpanHead, TokenMask, Weight, attention, best_tokens,
    gather, matmul, row_scores, self_test, span_scores, word_pairs,
};
use fnstore::engine::{
    AdapterKind, ComputeError, Device, Gpu, GpuOptions, Needs, Numbers, Tensor, Trial, adapters,
    choose,
};

/// A device for tests: the best GPU, else the software adapter.
pub(crate) fn device(options: &GpuOptions) -> Option<Device> {
    let all = adapters();
    let best = choose(&all, &Default::default()).unwrap();
    let Some(place) = best.or((!all.is_empty()).then_some(0)) else {
        assert!(std::env::var_os("FNSTORE_REQUIRE_GPU").is_none(), "there is no adapter at all");
        skipped!("there is no GPU, nor a software adapter");
        return None;
    };
    Some(Device::Gpu(Gpu::open(place, options).unwrap()))
}

/// Whether the processor poses as the GPU, and takes its time.
pub(crate) fn is_software(device: &Device) -> bool {
    matches!(device, Device::Gpu(gpu) if gpu.adapter().kind == AdapterKind::Software)
}

fn numbers(count: usize, step: usize) -> Vec<f32> {
    (0..count).map(|i| (i * step % 101) as f32 / 50.0 - 1.0).collect()
}

fn assert_close(found: &Tensor, wanted: &Tensor) {
    assert_eq!(found.shape(), wanted.shape());
    for (found, wanted) in found.data().iter().zip(wanted.data()) {
        assert!((found - wanted).abs() < 1e-3, "{found} {wanted}");
    }
}

#[test]
fn every_kernel_agrees_with_the_cpu_on_random_shapes() {
    let Some(device) = device(&GpuOptions::default()) else { return };
    // As many seeds as leave no shape untried, and a second or two of the software adapter.
    for seed in 0..8 {
        for test in self_test(&device, seed) {
            assert!(test.passed(), "seed {seed}: {test:?}");
        }
    }
}

#[test]
fn matrix_units_are_used_only_where_some_fit() {
    let options = GpuOptions { units: true, ..GpuOptions::default() };
    let Some(device) = device(&options) else { return };
    let Device::Gpu(gpu) = &device else { unreachable!("a GPU was opened") };
    assert_eq!(gpu.has(Needs::MatrixUnits), gpu.adapter().has_fitting_units);
    let are_tested = self_test(&device, 0).iter().any(|test| test.kernel == "matmul_cooperative");
    assert_eq!(are_tested, gpu.adapter().has_fitting_units);
    if !gpu.adapter().has_fitting_units {
        assert_eq!(device.format(Numbers::Blocks), "blocks-f32");
        assert_eq!(device.format(Numbers::F32), "f32");
    }
    // Without them nothing experimental is asked for.
    let options = GpuOptions { half: true, ..GpuOptions::default() };
    let Some(Device::Gpu(gpu)) = crate::gpu_kernels::device(&options) else { return };
    assert!(!gpu.has(Needs::MatrixUnits));
}

#[test]
fn shaders_that_check_their_indices_agree_as_well() {
    let Some(device) = device(&GpuOptions { checked: true, ..GpuOptions::default() }) else {
        return;
    };
    for test in self_test(&device, 99) {
        assert!(test.passed(), "{test:?}");
    }
}

#[test]
fn lists_of_calls_that_were_never_recorded_take_no_room() {
    let Some(device) = device(&GpuOptions::default()) else { return };
    // Rows without columns are no work. Three such lists are more than the arena holds.
    let empty = Tensor::new(&[4, 0], Vec::new()).unwrap();
    let table = Tensor::new(&[4, 1], numbers(4, 37)).unwrap();
    let list = |turn: u32| (0..200_000).map(|at| (at + turn) % 4).collect::<Vec<u32>>();
    for turn in 0..3 {
        gather(&device, &empty, &list(turn)).unwrap();
    }
    let found = gather(&device, &table, &list(3)).unwrap().to_host().unwrap();
    assert_eq!(found, gather(&Device::cpu(), &table, &list(3)).unwrap());
}

#[test]
fn work_larger_than_a_binding_or_a_grid_is_split_and_not_cut() {
    // 64 KiB a binding: 16,384 numbers; 3 workgroups in each dimension.
    let trial = Trial { binding: Some(1 << 16), workgroups: Some(3), ..Trial::default() };
    let Some(device) = device(&GpuOptions { trial, ..GpuOptions::default() }) else { return };
    for (rows, inputs, outputs) in [(300, 100, 700), (5, 130, 1000), (700, 64, 64)] {
        let input = Tensor::new(&[rows, inputs], numbers(rows * inputs, 37)).unwrap();
        let weight = Tensor::new(&[outputs, inputs], numbers(outputs * inputs, 53)).unwrap();
        let wanted = Weight::new(&Device::cpu(), &weight);
        let wanted = matmul(&Device::cpu(), &input, &wanted, None).unwrap();
        let found = matmul(&device, &input, &Weight::new(&device, &weight), None).unwrap();
        assert_close(&found.to_host().unwrap(), &wanted);
    }
    let table = Tensor::new(&[900, 40], numbers(36_000, 71)).unwrap();
    let at: Vec<u32> = (0..1200).map(|i| i * 7 % 900).collect();
    let found = gather(&device, &table, &at).unwrap().to_host().unwrap();
    assert_eq!(found, gather(&Device::cpu(), &table, &at).unwrap());

    let logits = Tensor::new(&[150, 200], numbers(30_000, 89)).unwrap();
    let (scores, masks) = (vec![-1.0; 150], vec![TokenMask::default(); 150]);
    let found = best_tokens(&device, &logits, &scores, &masks, 3).unwrap();
    let wanted = best_tokens(&Device::cpu(), &logits, &scores, &masks, 3).unwrap();
    for (found, wanted) in found.iter().zip(&wanted) {
        let tokens = |row: &fnstore::engine::kernels::ScoredRow| -> Vec<u32> {
            row.best.iter().map(|best| best.token).collect()
        };
        assert_eq!(tokens(found), tokens(wanted));
    }

    let states = Tensor::new(&[90, 40], numbers(3600, 61)).unwrap();
    let pairs: Vec<[u32; 2]> = (0..701).map(|i| [i * 7 % 90, i * 11 % 90]).collect();
    let cues = numbers(701 * 5, 29);
    let found = word_pairs(&device, &states, &pairs, &cues).unwrap().to_host().unwrap();
    assert_eq!(found, word_pairs(&Device::cpu(), &states, &pairs, &cues).unwrap());

    let hidden = Tensor::new(&[701, 70], numbers(701 * 70, 43)).unwrap();
    let scores = |device: &Device| {
        let output = ScoreOutput::new(device, numbers(70, 17), 0.25, 0.5).unwrap();
        Tensor::new(&[701], row_scores(device, &output, &hidden).unwrap()).unwrap()
    };
    assert_close(&scores(&device), &scores(&Device::cpu()));
}

#[test]
fn a_score_that_is_no_number_is_an_error() {
    let Some(device) = device(&GpuOptions::default()) else { return };
    for device in [Device::cpu(), device] {
        for broken in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let mut hidden = vec![0.5; 3 * 40];
            hidden[60] = broken;
            let hidden = Tensor::new(&[3, 40], hidden).unwrap();
            let output = ScoreOutput::new(&device, vec![1.0; 40], 0.25, 0.0).unwrap();
            let found = row_scores(&device, &output, &hidden);
            assert_eq!(found, Err(ComputeError::NonFinite { op: "row_scores" }), "{broken}");

            let units = Tensor::new(&[2, 40], vec![1.0; 80]).unwrap();
            let head = SpanHead::new(&device, units, 0.25, 0.0).unwrap();
            let candidate = SpanCandidate { source: 0, before: 1, after: 2, weight: 1.0 };
            let differences = Tensor::zeros(3, 40);
            let found = span_scores(&device, &head, &differences, &hidden, &[candidate; 3], &[]);
            assert_eq!(found, Err(ComputeError::NonFinite { op: "span_scores" }), "{broken}");
        }
    }
}

#[test]
fn keys_larger_than_a_binding_are_gathered_for_the_rows_that_see_them() {
    // 64 KiB a binding: 16,384 numbers, 256 or 409 keys of the 900.
    let trial = Trial { binding: Some(1 << 16), ..Trial::default() };
    let Some(device) = device(&GpuOptions { trial, ..GpuOptions::default() }) else { return };
    for (width, heads) in [(64, 4), (40, 2), (36, 4)] {
        let tensor = |rows, step| Tensor::new(&[rows, width], numbers(rows * width, step)).unwrap();
        let (queries, keys, values) = (tensor(130, 37), tensor(900, 53), tensor(900, 71));
        let table: Vec<u32> = (0..2000).map(|i| i * 611 % 900).collect();
        let lists: Vec<KeyList> =
            (0..130).map(|row| KeyList { start: row * 6, len: 1 + row % 25 }).collect();
        for table in [Some(table.as_slice()), None] {
            let run = |device| {
                attention(device, &queries, &keys, &values, &lists, table, heads)?.to_host()
            };
            assert_close(&run(&device).unwrap(), &run(&Device::cpu()).unwrap());
        }
    }
}

#[test]
fn a_logit_that_is_no_number_is_reported() {
    let Some(device) = device(&GpuOptions::default()) else { return };
    for broken in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut logits = vec![0.5; 3 * 700];
        logits[700 + 650] = broken;
        let logits = Tensor::new(&[3, 700], logits).unwrap();
        let masks = [TokenMask::default(); 3];
        let rows = best_tokens(&device, &logits, &[0.0; 3], &masks, 2).unwrap();
        let finite: Vec<bool> = rows.iter().map(|row| row.is_finite).collect();
        assert_eq!(finite, [true, false, true], "{broken}");
    }
}

#[test]
fn a_tensor_comes_back_from_a_device_as_it_went() {
    let Some(device) = device(&GpuOptions::default()) else { return };
    for rows in [0, 1, 77] {
        let tensor = Tensor::new(&[rows, 5], numbers(rows * 5, 31)).unwrap();
        let there = tensor.clone().to_device(&device).unwrap();
        let mut copy = there.clone();
        assert_eq!(there.to_host().unwrap(), tensor);
        copy.resize_rows(rows + 9).unwrap();
        let copy = copy.to_host().unwrap();
        assert_eq!(copy.data()[..rows * 5], *tensor.data());
        assert!(copy.data()[rows * 5..].iter().all(|x| *x == 0.0));
        let mut cut = copy.to_device(&device).unwrap();
        cut.truncate_rows(rows);
        assert_eq!(cut.to_host().unwrap(), tensor);
    }
}

#[test]
fn memory_that_is_not_there_is_an_error_and_the_device_goes_on() {
    let trial = Trial { memory: Some(1 << 20), ..Trial::default() };
    let Some(device) = device(&GpuOptions { trial, ..GpuOptions::default() }) else { return };
    let large = Tensor::zeros(1000, 1000).to_device(&device);
    assert!(matches!(large, Err(ComputeError::Memory { .. })), "{large:?}");
    let small = Tensor::zeros(100, 100).to_device(&device).unwrap();
    assert_eq!(small.to_host().unwrap(), Tensor::zeros(100, 100));
}

#[test]
fn a_lost_device_is_an_error_and_a_renewed_one_goes_on() {
    let trial = Trial { lose_after: Some(1), ..Trial::default() };
    let Some(device) = device(&GpuOptions { trial, ..GpuOptions::default() }) else { return };
    let tensor = Tensor::new(&[2, 2], vec![1.0, 2.0, 3.0, 4.0]).unwrap();
    let there = tensor.clone().to_device(&device).unwrap();
    assert!(there.clone().to_host().is_ok());
    assert!(matches!(there.to_host(), Err(ComputeError::Lost { .. })));
    let again = tensor.clone().to_device(&device.renewed()).unwrap();
    assert_eq!(again.to_host().unwrap(), tensor);
}
