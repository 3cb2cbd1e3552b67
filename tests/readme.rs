//! The README knows every subcommand that the program has.

use std::fs;
use std::path::Path;
use std::process::Command;

/// The subcommands that `fnstore --help` lists, `help` itself left out.
fn subcommands() -> Vec<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_fnstore")).arg("--help").output().unwrap();
    assert!(output.status.success());
    let help = String::from_utf8(output.stdout).unwrap();
    let lines = help.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1);
    // A description too long for its line goes on deeper than the names stand.
    let names = lines.take_while(|line| !line.trim().is_empty()).filter_map(|line| {
        let entry = line.strip_prefix("  ")?;
        (!entry.starts_with(' ')).then(|| entry.split_whitespace().next().map(str::to_owned))?
    });
    names.filter(|name| name != "help").collect()
}

#[test]
fn the_readme_names_every_subcommand() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = fs::read_to_string(readme).unwrap();
    let subcommands = subcommands();
    assert!(subcommands.iter().any(|name| name == "query"), "found only {subcommands:?}");
    for name in subcommands {
        assert!(readme.contains(&format!("fnstore {name}")), "README.md lacks `fnstore {name}`");
    }
}
