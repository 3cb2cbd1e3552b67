//! What the crate is built from: every licence is one that deny.toml allows, and every direct
//! dependency is named in ARCHITECTURE.md.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use spdx::{Expression, ParseMode};

fn read(file: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap()
}

/// `cargo metadata` for this machine: what was compiled, so nothing needs the network.
fn metadata() -> Value {
    let rustc = Command::new("rustc").arg("-vV").output().unwrap();
    let version = String::from_utf8(rustc.stdout).unwrap();
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let output = Command::new(env!("CARGO"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["metadata", "--offline", "--locked", "--format-version", "1"])
        .args(["--filter-platform", host])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
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
    let (metadata, allowed) = (metadata(), allowed());
    assert!(allowed.contains("MIT"), "the list of deny.toml was not found");
    let packages: BTreeMap<&str, &Value> = metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|package| (package["id"].as_str().unwrap(), package))
        .collect();
    let nodes = metadata["resolve"]["nodes"].as_array().unwrap();
    assert!(nodes.len() > 50);
    for node in nodes {
        let package = packages[node["id"].as_str().unwrap()];
        let licence = package["license"].as_str().unwrap_or("none given");
        assert!(is_met(licence, &allowed), "{} is under `{licence}`", package["name"]);
    }
}

#[test]
fn every_direct_dependency_is_named_in_the_architecture() {
    let (metadata, architecture) = (metadata(), read("ARCHITECTURE.md"));
    let packages = metadata["packages"].as_array().unwrap();
    let own = packages.iter().find(|package| package["name"] == "fnstore").unwrap();
    let dependencies = own["dependencies"].as_array().unwrap();
    assert!(dependencies.len() > 5);
    for dependency in dependencies {
        let name = dependency["name"].as_str().unwrap();
        assert!(
            architecture.contains(&format!("`{name}`")),
            "ARCHITECTURE.md does not say which folder owns `{name}`"
        );
    }
}
