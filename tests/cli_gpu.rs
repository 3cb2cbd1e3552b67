//! `fnstore gpu` and `--device`: what is listed, what is chosen, and what is refused.

use fnstore::engine::GpuOptions;
use serde_json::Value;

use crate::cli_program::fnstore;
use crate::gpu_kernels::device;

#[test]
fn the_adapters_are_listed_with_their_limits_and_the_choice_is_explained() {
    let ran = fnstore(&["gpu", "--device", "cpu", "--format", "json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let record: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(crate::cli_schema::faults_in("gpu.schema.json", &record), [""; 0]);
    assert_eq!(record["chosen"], Value::Null);
    assert_eq!(record["reason"], "the CPU was asked for");
    assert_eq!(record["tests"], Value::Array(Vec::new()));
}

#[test]
fn every_kernel_is_tested_on_the_adapter_that_is_named() {
    let options = GpuOptions { half: true, units: true, ..GpuOptions::default() };
    let Some(fnstore::engine::Device::Gpu(gpu)) = device(&options) else { return };
    let name = &gpu.adapter().name;
    let ran = fnstore(&["gpu", "--device", name, "--format", "json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let record: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(crate::cli_schema::faults_in("gpu.schema.json", &record), [""; 0]);
    assert_eq!(record["chosen"], *name);
    let tests = record["tests"].as_array().unwrap();
    let shaders = fnstore::engine::kernels::shaders().iter();
    assert_eq!(tests.len(), shaders.filter(|shader| gpu.has(shader.needs)).count());
    assert!(tests.iter().all(|test| test["passed"] == true), "{tests:?}");

    let table = fnstore(&["gpu", "--device", name, "--format", "table"]);
    assert!(table.stdout.contains("largest error"), "{table:?}");
    assert!(table.stdout.lines().any(|line| line.starts_with("matvec") && line.contains("ok")));
}

#[test]
fn without_a_gpu_auto_takes_the_cpu_and_says_so_once_and_gpu_is_refused() {
    let all = fnstore::engine::adapters();
    if all.iter().any(|adapter| adapter.kind != fnstore::engine::AdapterKind::Software) {
        skipped!("there is a GPU");
        return;
    }
    let ran = fnstore(&["paraphrase", "/dev/null", "--model", "paraphrase", "--device", "gpu"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("there is no GPU `gpu`"), "{}", ran.stderr);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "She repaired it.\nHe saw it.\n").unwrap();
    let path = file.path().to_str().unwrap();
    let ran = fnstore(&["paraphrase", path, "--model", "paraphrase", "--device", "auto"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let said = ran.stderr.matches("there is no GPU; the networks run on the CPU").count();
    assert_eq!(said, 1, "{}", ran.stderr);
}

#[test]
fn an_adapter_that_is_not_there_is_refused_by_every_command() {
    for command in [&["gpu"][..], &["paraphrase", "/dev/null", "--model", "paraphrase"]] {
        let ran = fnstore(&[command, &["--device", "no such card"]].concat());
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains("there is no GPU `no such card`"), "{}", ran.stderr);
    }
}
