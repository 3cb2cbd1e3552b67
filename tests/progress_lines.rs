//! Progress where stderr is no terminal, as in the log of a cluster: a line now and then.

use std::path::Path;

use assert_cmd::Command;

use crate::cli_program::{Ran, new_store};

fn expand(store: &Path, seconds: &str, more: &[&str]) -> Ran {
    let fixed = ["expand", "lu=inspect.v", "--model", "paraphrase", "--beam", "2", "--rounds", "2"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_fnstore"));
    command.env("FNSTORE_DIR", store).env("FNSTORE_PROGRESS_SECONDS", seconds);
    Ran::of(command.args(fixed).args(["--guide", "none"]).args(more).output().unwrap())
}

/// The lines that tell how far it is: sets done, of how many, percent.
fn lines(ran: &Ran, doing: &str) -> Vec<(u64, u64, u64)> {
    let lines = ran.stderr.lines().filter(|line| line.starts_with(doing));
    let numbers = |line: &str| {
        let line = line.rsplit(": ").next().unwrap();
        let numbers = line.split(|c: char| !c.is_ascii_digit()).filter(|text| !text.is_empty());
        let numbers: Vec<u64> = numbers.map(|number| number.parse().unwrap()).collect();
        (numbers[0], numbers[1], numbers[2])
    };
    lines.map(numbers).collect()
}

#[test]
fn lines_go_up_to_all_of_the_work_also_with_a_limit() {
    let store = new_store();
    let ran = expand(store.path(), "0", &["--limit", "3"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let told = lines(&ran, "expanding: ");
    assert!(told.len() > 3, "{}", ran.stderr);
    assert!(told.is_sorted_by_key(|(done, _, percent)| (*done, *percent)), "{told:?}");
    assert_eq!((told[0].2, told[told.len() - 1]), (0, (3, 3, 100)));
    assert!(ran.stderr.contains(" left"), "{}", ran.stderr);
}

#[test]
fn a_dry_run_tells_how_far_it_is_and_short_work_says_nothing() {
    let store = new_store();
    let ran = expand(store.path(), "0", &["--dry-run"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let told = lines(&ran, "measuring: ");
    assert!(!told.is_empty() && told.iter().all(|(done, of, _)| done <= of), "{}", ran.stderr);
    let quiet = expand(store.path(), "100000", &["--limit", "1"]);
    assert!(!quiet.stderr.contains("expanding"), "{}", quiet.stderr);
}
