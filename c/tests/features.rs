//! The member turns on no feature of what the main crate is built of: what both share compiles
//! once.

#![allow(clippy::unwrap_used, reason = "what fails in a test fails it")]

use std::collections::BTreeSet;
use std::process::Command;

/// The packages of a member with their features.
fn packages(of: &str) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .args(["tree", "--offline", "--locked", "--package", of, "--edges", "normal,build"])
        .args(["--prefix", "none", "--no-dedupe", "--format", "{p} {f}"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn what_the_interface_shares_with_the_main_crate_has_the_same_features() {
    let (main, own) = (packages("fnstore"), packages("fnstore-c"));
    assert!(main.len() > 200, "{}", main.len());
    let added: Vec<&String> = own.difference(&main).collect();
    assert!(matches!(added.as_slice(), [only] if only.starts_with("fnstore-c ")), "{added:?}");
}
