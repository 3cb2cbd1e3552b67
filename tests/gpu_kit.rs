//! `tools/gpu_kit`: what is packed, what the script of the kit does with its options, and that no
//! step stops the others. Programs are short scripts but for one run of the self-test.

#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use fnstore::engine::{Device, GpuOptions};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::gpu_kernels::device;

const TOOLS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tools/gpu_kit");

/// A kit whose programs are what these scripts say.
fn kit(programs: &[(&str, &str)]) -> TempDir {
    let kit = tempfile::tempdir().unwrap();
    fs::create_dir(kit.path().join("bin")).unwrap();
    fs::copy(Path::new(TOOLS).join("run.sh"), kit.path().join("run.sh")).unwrap();
    for (name, script) in programs {
        let path = kit.path().join("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    kit
}

struct Ran {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

fn run(kit: &Path, arguments: &[&str]) -> Ran {
    let ran = Command::new(kit.join("run.sh")).args(arguments).current_dir(kit).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code: ran.status.code(), stdout: text(ran.stdout), stderr: text(ran.stderr) }
}

/// The record of a run, and of each step that it names its result.
fn results(kit: &Path) -> (Value, Vec<(String, String)>) {
    let text = fs::read_to_string(kit.join("results/result.json")).unwrap();
    let record: Value = serde_json::from_str(&text).unwrap_or_else(|why| panic!("{why}: {text}"));
    let word = |step: &Value, key: &str| step[key].as_str().unwrap().to_owned();
    let steps = record["steps"].as_array().unwrap();
    let steps = steps.iter().map(|step| (word(step, "step"), word(step, "result"))).collect();
    (record, steps)
}

fn named(steps: &[(&str, &str)]) -> Vec<(String, String)> {
    steps.iter().map(|(step, result)| (step.to_string(), result.to_string())).collect()
}

#[test]
fn the_self_test_runs_in_a_kit_on_a_software_adapter() {
    let Some(Device::Gpu(gpu)) = device(&GpuOptions::default()) else { return };
    let kit = kit(&[]);
    symlink(env!("CARGO_BIN_EXE_fnstore"), kit.path().join("bin/fnstore")).unwrap();
    let name = &gpu.adapter().name;
    let ran = run(kit.path(), &["--small", "--device", name, "--only", "self-test"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    let (record, steps) = results(kit.path());
    assert_eq!(steps, named(&[("self-test", "ok")]));
    let figure = record["steps"][0]["figures"][0].as_str().unwrap();
    assert!(figure.ends_with(" kernels right") && !figure.starts_with('0'), "{figure}");
    assert!(ran.stdout.contains(figure), "{}", ran.stdout);
}

#[test]
fn a_step_that_fails_or_hangs_does_not_stop_the_others() {
    let kit = kit(&[
        ("fnstore", "echo 'a \"quoted\" back\\slash'; exit 3"),
        (
            "units",
            "echo '{\"bench\": \"units\"}' >\"$FNSTORE_BENCH_JSON\"\nprintf 'variant\\nV2 yes\\n'",
        ),
        ("gpu", "exec sleep 60"),
        ("align", "exit 0"),
    ]);
    let steps = "self-test,units-direct,language-32-f32,products,align";
    let ran = run(kit.path(), &["--only", steps, "--seconds", "4"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let (record, steps) = results(kit.path());
    let expected = [
        ("self-test", "failed (3)"),
        ("units-direct", "ok"),
        ("language-32-f32", "skipped: no base model"),
        ("products", "time limit"),
        ("align", "no time"),
    ];
    assert_eq!(steps, named(&expected));
    assert_eq!(record["steps"][1]["record"]["bench"], "units");
    assert_eq!(record["steps"][1]["figures"][0], "V2 yes");
    assert_eq!(record["steps"][0]["record"], Value::Null);
    let log = fs::read_to_string(kit.path().join("results/self-test.txt")).unwrap();
    assert!(log.contains("quoted"), "{log}");
}

#[test]
fn a_record_that_was_cut_short_leaves_the_others_readable() {
    let kit = kit(&[("units", "printf '{\"bench\": ' >\"$FNSTORE_BENCH_JSON\"; exit 9")]);
    run(kit.path(), &["--only", "units-"]);
    let (record, steps) = results(kit.path());
    assert_eq!(steps.len(), 4, "a name that ends in - is all that begin so");
    assert!(steps.iter().all(|(_, result)| result == "failed (9)"));
    assert_eq!(record["steps"][0]["record"], Value::Null);
}

#[test]
fn a_record_of_several_lines_is_a_list() {
    let script = "printf '{\"n\": 1}\\n{\"n\": 2}\\n' >\"$FNSTORE_BENCH_JSON\"";
    let kit = kit(&[("units", script)]);
    run(kit.path(), &["--only", "units-model"]);
    assert_eq!(results(kit.path()).0["steps"][0]["record"], json!([{"n": 1}, {"n": 2}]));
}

#[test]
fn steps_are_listed_and_wrong_options_refused() {
    let kit = kit(&[]);
    let ran = run(kit.path(), &["--list"]);
    let listed: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(ran.code, Some(0));
    assert!(listed.starts_with(&["self-test", "self-test-checked", "units-direct"]), "{listed:?}");
    assert!(listed.contains(&"expand") && listed.contains(&"language-profile-4080-f32"));
    let wrong: [&[&str]; 5] =
        [&["--fast"], &["--only"], &["--only", "everything"], &["--seconds", "1m"], &["--device"]];
    for arguments in wrong {
        let ran = run(kit.path(), arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}");
        assert!(ran.stderr.contains("usage: run.sh"), "{arguments:?}: {}", ran.stderr);
    }
}

#[test]
fn a_base_model_travels_in_parts_and_a_damaged_one_is_not_used() {
    if Command::new("objcopy").arg("--version").output().is_err() {
        skipped!("there is no objcopy");
        return;
    }
    let work = tempfile::tempdir().unwrap();
    let models = work.path().join("models/SmolLM2-135M-Instruct");
    fs::create_dir_all(&models).unwrap();
    let base = fs::File::create(models.join("SmolLM2-135M-Instruct.Q4_1.gguf")).unwrap();
    base.set_len(61_000_000).unwrap();
    let bench = work.path().join("language_model-0123abcd");
    fs::copy("/bin/true", &bench).unwrap();
    let kit: PathBuf = work.path().join("kit");
    let packed = Command::new(Path::new(TOOLS).join("pack.sh"))
        .args([kit.as_path(), Path::new("/bin/true"), &bench])
        .env("FNSTORE_MODELS", work.path().join("models"))
        .output()
        .unwrap();
    assert!(packed.status.success(), "{}", String::from_utf8_lossy(&packed.stderr));
    for file in ["bin/fnstore", "bin/language_model", "share/fnstore/models/rewriter/prompt.toml"] {
        assert!(kit.join(file).exists(), "{file}");
    }
    let base = "models/SmolLM2-135M-Instruct/SmolLM2-135M-Instruct.Q4_1.gguf";
    let part = |number| kit.join(format!("{base}.part{number}"));
    let bytes = |number| fs::metadata(part(number)).unwrap().len();
    assert!(bytes(1) < 60_000_000 && bytes(1) + bytes(2) == 61_000_000);
    assert!(!kit.join(base).exists());

    let only = ["--only", "language-32-f32"];
    assert_eq!(run(&kit, &only).code, Some(0));
    assert_eq!(results(&kit).1, named(&[("language-32-f32", "ok")]));
    assert_eq!(fs::metadata(kit.join(base)).unwrap().len(), 61_000_000);
    fs::remove_file(kit.join(base)).unwrap();
    fs::write(part(2), "another end").unwrap();
    let ran = run(&kit, &only);
    assert!(ran.stderr.contains("are damaged or missing"), "{}", ran.stderr);
    assert_eq!(results(&kit).1, named(&[("language-32-f32", "skipped: no base model")]));
}
