//! The shaders of `benches/units`: naga takes them, the edit finds in them what it is for, and
//! Vulkan's validator has nothing to say of what comes out. No GPU needed.

use std::path::Path;
use std::process::Command;

use fnstore::engine::spirv::{Part, edit};

#[allow(dead_code, reason = "the bench runs what these tests only compile")]
#[path = "../benches/units/variants.rs"]
mod variants;

use variants::{Variant, variants};

fn named(name: &str) -> Variant {
    variants().into_iter().find(|variant| variant.name == name).unwrap()
}

#[test]
fn naga_takes_every_variant() {
    for variant in variants() {
        let words = variant.words().unwrap_or_else(|why| panic!("{}: {why}", variant.name));
        assert_eq!(words[0], 0x0723_0203, "{} begins as SPIR-V does", variant.name);
    }
}

#[test]
fn every_access_and_barrier_of_the_staged_shader_is_edited() {
    let words = named("V0").words().unwrap();
    let whole = edit(&words, Part::Whole).unwrap();
    let counts = (whole.loads, whole.stores, whole.fragments, whole.barriers, whole.strides);
    assert_eq!(counts, (2, 7, 15, 21, 2));
    assert_eq!(whole.words, named("V1").words().unwrap());
    let strides = edit(&words, Part::Strides).unwrap();
    assert_eq!((strides.strides, words.len() - strides.words.len()), (2, 8));
    assert_eq!(strides.words, named("V1b").words().unwrap());
}

#[test]
fn the_shader_without_workgroup_memory_has_nothing_to_edit() {
    let words = named("V2").words().unwrap();
    let edited = edit(&words, Part::Whole).unwrap();
    assert_eq!(edited.loads + edited.stores + edited.fragments + edited.barriers, 0);
}

#[test]
fn vulkans_validator_takes_what_goes_to_the_driver() {
    let Some(validator) = std::env::var_os("FNSTORE_SPIRV_VAL").filter(|it| Path::new(it).exists())
    else {
        skipped!("FNSTORE_SPIRV_VAL names no spirv-val, as it does in `make test`");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let says = |name: &str, words: &[u32]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytemuck::cast_slice::<u32, u8>(words)).unwrap();
        let ran = Command::new(&validator).args(["--target-env", "vulkan1.3"]).arg(path).output();
        let ran = ran.unwrap();
        (ran.status.success(), String::from_utf8_lossy(&ran.stderr).into_owned())
    };
    for name in ["V1", "V2", "V2b", "V2c", "V2d", "P1"] {
        let (taken, said) = says(name, &named(name).words().unwrap());
        assert!(taken, "{name}: {said}");
    }
    // What naga writes of workgroup memory is refused, so the validator does look at it.
    let (taken, said) = says("V0", &named("V0").words().unwrap());
    assert!(!taken && said.contains("ArrayStride"), "{said}");
}
