//! What the crate is built from: every licence is one that deny.toml allows, and every direct
//! dependency is named in docs/reference/dependencies.md.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use spdx::{Expression, ParseMode};

fn read(file: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap()
}

/// What cargo says of the crate. Nothing needs the network: it is asked of what was compiled for
/// this machine, and the Python package of the workspace was perhaps not.
fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(arguments)
        .args(["--offline", "--locked"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// `licenses.allow` of deny.toml.
fn allowed() -> BTreeSet<String> {
    let deny = read("deny.toml");
    let (_, rest) = deny.split_once("\nallow = [").unwrap();
    let (list, _) = rest.split_once(']').unwrap();
    let names: BTreeSet<String> =
        list.split(',').map(|name| name.trim().trim_matches('"').to_owned()).collect();
    names.into_iter().filter(|name| !name.is_empty()).collect()
}

/// Whether a licence expression can be met with the allowed licences; a slash in it is the old way
/// to write `OR`.
fn is_met(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let read = Expression::parse_mode(expression, ParseMode::LAX);
    let read = read.unwrap_or_else(|error| panic!("cannot read `{expression}`: {error}"));
    read.evaluate(|licence| allowed.contains(&licence.to_string()))
}

#[test]
fn licence_expressions_are_read_as_written() {
    let allowed = BTreeSet::from(["MIT".to_owned(), "Zlib".to_owned()]);
    let apache = "Apache-2.0 WITH LLVM-exception";
    for met in ["MIT", "MIT/ISC", "ISC OR (MIT AND Zlib)", &format!("{apache} OR MIT")] {
        assert!(is_met(met, &allowed), "{met}");
    }
    for unmet in ["ISC", "MIT AND ISC", "(MIT OR Zlib) AND ISC", apache] {
        assert!(!is_met(unmet, &allowed), "{unmet}");
    }
    // An exception makes another licence.
    let apache_alone = BTreeSet::from(["Apache-2.0".to_owned()]);
    assert!(!is_met(apache, &apache_alone));
}

#[test]
fn every_dependency_has_a_licence_that_deny_toml_allows() {
    let allowed = allowed();
    assert!(allowed.contains("MIT"), "the list of deny.toml was not found");
    let tree = cargo(&["tree", "--prefix=none", "--no-dedupe", "--format={p}|{l}"]);
    let packages: BTreeSet<&str> = tree.lines().collect();
    assert!(packages.len() > 50);
    for line in packages {
        let (package, licence) = line.split_once('|').unwrap();
        assert!(is_met(licence, &allowed), "{package} is under `{licence}`");
    }
}

#[test]
fn every_direct_dependency_is_named_with_its_owner() {
    let metadata = cargo(&["metadata", "--no-deps", "--format-version=1"]);
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    let page = read("docs/reference/dependencies.md");
    let packages = metadata["packages"].as_array().unwrap();
    let own = packages.iter().find(|package| package["name"] == "fnstore").unwrap();
    let dependencies = own["dependencies"].as_array().unwrap();
    assert!(dependencies.len() > 5);
    for dependency in dependencies {
        let name = dependency["name"].as_str().unwrap();
        assert!(
            page.contains(&format!("`{name}`")),
            "docs/reference/dependencies.md does not say which folder owns `{name}`"
        );
    }
}
