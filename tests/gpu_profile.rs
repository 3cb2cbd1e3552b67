//! A profile of a GPU counts every call, under its kernel and shape, and what crosses to the
//! device.
//!
//! As `gpu_kernels`, these tests take whatever adapter there is.

use std::collections::BTreeSet;

use fnstore::engine::kernels::{Weight, add, matmul, self_test, shaders};
use fnstore::engine::{
    Device, Gpu, GpuOptions, GpuProfile, ProfileClock, Tensor, Trial, profile_report,
};
use serde_json::Value;

use crate::cli_program::Ran;
use crate::gpu_kernels::device;

fn profiled(clock: Option<ProfileClock>) -> Option<Device> {
    let trial = Trial { clock, ..Trial::default() };
    device(&GpuOptions { profile: true, trial, ..GpuOptions::default() })
}

fn gpu(device: &Device) -> &Gpu {
    let Device::Gpu(gpu) = device else { unreachable!("a GPU was opened") };
    gpu
}

fn profile(device: &Device) -> GpuProfile {
    let mut profiles = gpu(device).profiles();
    assert_eq!(profiles.len(), 1);
    profiles.remove(0)
}

fn matrix(rows: usize, width: usize) -> Tensor {
    let numbers = (0..rows * width).map(|i| (i * 37 % 101) as f32 / 50.0 - 1.0);
    Tensor::new(&[rows, width], numbers.collect()).unwrap()
}

#[test]
fn every_call_is_counted_and_every_kernel_says_what_it_moves() {
    let Some(device) = profiled(None) else { return };
    let gpu = gpu(&device);
    let (calls, submissions) = (gpu.dispatches(), gpu.submissions());
    gpu.restart_profile();
    let tests = self_test(&device, 0);
    let profile = profile(&device);
    assert_eq!(profile.calls, gpu.dispatches() - calls);
    assert_eq!(profile.submissions, gpu.submissions() - submissions);
    assert!(profile.steps >= tests.len() as u64);
    let counted: BTreeSet<&str> = profile.kernels.iter().map(|kernel| kernel.kernel).collect();
    let tested: BTreeSet<&str> = tests.iter().map(|test| test.kernel).collect();
    assert!(counted.is_superset(&tested), "{tested:?} {counted:?}");
    for kernel in &profile.kernels {
        assert!(shaders().iter().any(|shader| shader.name == kernel.kernel), "{kernel:?}");
        assert!(kernel.bytes > 0 && !kernel.shape.is_empty(), "{kernel:?}");
        let multiplies = ["mat", "att"].iter().any(|name| kernel.kernel.starts_with(name));
        assert_eq!(kernel.flops > 0, multiplies, "{kernel:?}");
    }
}

#[test]
fn calls_of_one_shape_add_up_whatever_clock_there_is() {
    let (left, right) = (matrix(3, 40), matrix(5, 40));
    let wanted = matmul(&Device::cpu(), &left, &Weight::new(&Device::cpu(), &right), None).unwrap();
    let clocks = [None, Some(ProfileClock::Passes), Some(ProfileClock::Host)];
    for clock in clocks {
        let Some(device) = profiled(clock) else { return };
        let weight = Weight::new(&device, &right);
        gpu(&device).restart_profile();
        for _ in 0..4 {
            let mut found = matmul(&device, &left, &weight, None).unwrap();
            add(&device, &mut found, &wanted).unwrap();
            let found = found.to_host().unwrap();
            for (found, wanted) in found.data().iter().zip(wanted.data()) {
                assert!((found - 2.0 * wanted).abs() < 1e-4, "{found} {wanted}");
            }
        }
        let profile = profile(&device);
        assert!(clock.is_none_or(|clock| profile.clock <= clock), "{:?}", profile.clock);
        assert_eq!((profile.calls, profile.steps), (8, 4));
        let [of_product, of_sum] = ["mat", "add"].map(|name| {
            let found = profile.kernels.iter().find(|kernel| kernel.kernel.starts_with(name));
            found.unwrap_or_else(|| panic!("{name} in {profile:?}"))
        });
        assert_eq!((of_product.shape.as_str(), of_product.calls), ("3 x 40 x 5", 4));
        assert_eq!(of_product.flops, 4 * 2 * 3 * 40 * 5);
        assert_eq!(of_product.bytes, 4 * 4 * (3 * 40 + 40 * 5 + 3 * 5));
        assert_eq!((of_sum.shape.as_str(), of_sum.calls), ("3 x 5", 4));
        if profile.untimed == 0 {
            assert!(of_product.seconds > 0.0 && of_sum.seconds > 0.0, "{profile:?}");
            assert!(profile.device_seconds() <= profile.seconds, "{profile:?}");
        }
        // The host's clock is always one.
        assert!(profile.clock != ProfileClock::Host || profile.untimed == 0, "{profile:?}");
    }
}

#[test]
fn bytes_are_those_that_cross() {
    let Some(device) = profiled(None) else { return };
    gpu(&device).restart_profile();
    let there = matrix(30, 7).to_device(&device).unwrap();
    assert_eq!((profile(&device).bytes_up, profile(&device).bytes_down), (4 * 210, 0));
    there.to_host().unwrap();
    let profile = profile(&device);
    assert_eq!((profile.bytes_up, profile.bytes_down, profile.steps), (4 * 210, 4 * 210, 1));
    assert!(profile.host.upload > 0.0 && profile.host.wait > 0.0, "{:?}", profile.host);
}

#[test]
fn a_device_that_was_not_opened_for_it_has_no_profile() {
    let Some(device) = device(&GpuOptions::default()) else { return };
    matrix(2, 2).to_device(&device).unwrap().to_host().unwrap();
    assert_eq!(gpu(&device).profiles(), []);
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("profile.jsonl");
    assert_eq!(profile_report(&device, "x", Some(&file)).unwrap(), None);
    assert_eq!(profile_report(&Device::cpu(), "x", Some(&file)).unwrap(), None);
    assert!(!file.exists());
}

#[test]
fn the_device_that_follows_a_lost_one_has_a_profile_of_its_own() {
    let trial = Trial { lose_after: Some(3), ..Trial::default() };
    let options = GpuOptions { profile: true, trial, ..GpuOptions::default() };
    let Some(lost) = device(&options) else { return };
    let there = matrix(2, 2).to_device(&lost).unwrap();
    while there.clone().to_host().is_ok() {}
    let after = lost.renewed();
    matrix(3, 3).to_device(&after).unwrap().to_host().unwrap();
    let profiles = gpu(&lost).profiles();
    assert_eq!(profiles.len(), 2);
    assert_eq!((profiles[1].bytes_up, profiles[1].steps), (36, 1));
}

#[test]
fn a_report_is_tables_and_lines_of_json() {
    let Some(device) = profiled(Some(ProfileClock::Host)) else { return };
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("profile.jsonl");
    let mut sum = matrix(4, 6);
    add(&device, &mut sum, &matrix(4, 6)).unwrap();
    sum.to_host().unwrap();
    for title in ["one", "other"] {
        let tables = profile_report(&device, title, Some(&file)).unwrap().unwrap();
        assert!(tables.starts_with(&format!("{title}: ")), "{tables}");
        assert!(tables.contains("the host's clock"), "{tables}");
        assert!(tables.lines().any(|line| line.starts_with("add ") && line.contains("4 x 6")));
    }
    let lines = std::fs::read_to_string(&file).unwrap();
    let records: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(records.len(), 2);
    assert_eq!((&records[0]["title"], &records[1]["title"]), (&"one".into(), &"other".into()));
    assert_eq!(records[0]["clock"], "host");
    assert_eq!(records[0]["kernels"][0]["calls"], 1);
    assert!(records[0]["host"]["wait"].is_number());
    assert!(profile_report(&device, "x", Some(directory.path())).is_err());
}

#[test]
fn a_command_tells_the_profile_of_its_device() {
    let Some(found) = device(&GpuOptions::default()) else { return };
    let directory = tempfile::tempdir().unwrap();
    let (text, file) = (directory.path().join("text"), directory.path().join("profile.jsonl"));
    std::fs::write(&text, "She repaired it.\n").unwrap();
    let name = gpu(&found).adapter().name.as_str();
    let run = |value: &str| {
        let text = text.to_str().unwrap();
        let arguments = ["paraphrase", text, "--model", "paraphrase", "--beam", "1"];
        let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_fnstore"));
        command.env("FNSTORE_DIR", directory.path()).env("FNSTORE_GPU_PROFILE", value);
        Ran::of(command.args(arguments).args(["--device", name]).output().unwrap())
    };
    let ran = run(file.to_str().unwrap());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("best_tokens"), "{}", ran.stderr);
    let record: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert!(record["steps"].as_u64() > Some(0), "{record}");
    assert!(!run("0").stderr.contains("best_tokens"));
}
