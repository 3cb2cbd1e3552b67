//! Guides are short, and their examples print what they show.
//!
//! The blocks of a guide that are marked `console` are run in order, in a folder of their own. A
//! line that starts with `$ ` is a command, `> ` carries it on, and what follows is its output with
//! its messages. `...` on a line of its own stands for any lines, `[..]` in a line for any text.
//! A command that fails ends with the line `exit code N`.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Lines that a guide may have.
const GUIDE_LINES: usize = 150;

/// A command of a guide with the lines that it shows.
#[derive(Debug, PartialEq)]
struct Example {
    command: String,
    shown: Vec<String>,
}

/// The guides, by path.
fn guides() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guides");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    pages.sort();
    assert!(pages.len() > 3, "found only {pages:?}");
    pages
}

/// The commands of all console blocks, in order. A command goes on after a backslash at its end,
/// and in a line that begins with a shell's second prompt, `> `.
fn examples(page: &str) -> Vec<Example> {
    let mut found: Vec<Example> = Vec::new();
    let (mut is_console, mut goes_on) = (false, false);
    for line in page.lines() {
        if let Some(language) = line.strip_prefix("```") {
            is_console = language == "console";
            continue;
        }
        if !is_console {
            continue;
        }
        let second = line.strip_prefix("> ");
        let open = found.last_mut().filter(|example| example.shown.is_empty());
        if let (Some(example), true) = (open, goes_on || second.is_some()) {
            write!(example.command, "\n{}", second.unwrap_or(line)).unwrap();
        } else if let Some(command) = line.strip_prefix("$ ") {
            found.push(Example { command: command.to_owned(), shown: Vec::new() });
        } else {
            let example = found.last_mut().expect("a console block begins with a command");
            example.shown.push(line.to_owned());
            continue;
        }
        goes_on = line.ends_with('\\');
    }
    found
}

/// Whether a line is the one that is shown, which may hold `[..]`.
fn is_line(shown: &str, line: &str) -> bool {
    let mut parts = shown.trim_end().split("[..]");
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = line.trim_end().strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, between)) = parts.split_last() else { return rest.is_empty() };
    for part in between {
        let Some((_, behind)) = rest.split_once(part) else { return false };
        rest = behind;
    }
    rest.ends_with(last)
}

/// Whether lines are those that are shown, which may hold `...`.
fn are_lines(shown: &[String], lines: &[&str]) -> bool {
    let Some((first, others)) = shown.split_first() else { return lines.is_empty() };
    if first.trim() == "..." {
        return (0..=lines.len()).any(|skipped| are_lines(others, &lines[skipped..]));
    }
    lines.split_first().is_some_and(|(line, rest)| is_line(first, line) && are_lines(others, rest))
}

/// Runs a command in a folder as a shell does, and returns its output and messages.
fn printed(command: &str, folder: &Path) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_fnstore"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders =
        program.parent().map(Path::to_owned).into_iter().chain(std::env::split_paths(&path));
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("exec 2>&1\n{command}")).current_dir(folder);
    shell.env("PATH", std::env::join_paths(folders).unwrap());
    shell.env("FNSTORE_DIR", folder.join("store")).env("FNSTORE_CACHE", folder.join("cache"));
    shell.env("HOME", folder).env("FNSTORE_DEVICE", "cpu").env("USER", "reviewer");
    for variable in ["XDG_DATA_HOME", "XDG_CACHE_HOME", "FNSTORE_MODELS", "NO_COLOR"] {
        shell.env_remove(variable);
    }
    let output = shell.output().unwrap();
    let mut text = String::from_utf8(output.stdout).unwrap();
    if !output.status.success() {
        let code = output.status.code().map_or("by a signal".to_owned(), |code| code.to_string());
        writeln!(text, "exit code {code}").unwrap();
    }
    text
}

/// Runs the examples of a page in a new folder, where the small lexicon lies as in the repository,
/// and returns what one of them prints that the page does not show.
fn fault(page: &str) -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("tests/data")).unwrap();
    let data = ["framenet", "wordnet", "verbnet", "propbank", "semlink"];
    let data = data.map(|of| format!("tests/data/mini-{of}"));
    for linked in data.iter().map(String::as_str).chain(["models"]) {
        std::os::unix::fs::symlink(root.join(linked), folder.path().join(linked)).unwrap();
    }
    examples(page).into_iter().find_map(|Example { command, shown }| {
        let printed = printed(&command, folder.path());
        let lines: Vec<&str> = printed.lines().collect();
        let is_shown = are_lines(&shown, &lines);
        (!is_shown)
            .then(|| format!("$ {command}\nshows\n{}\nand prints\n{printed}", shown.join("\n")))
    })
}

#[test]
fn console_blocks_are_read_as_commands_with_their_output() {
    let page = "```sh\n$ no\n```\n```console\n$ a \\\n  b\none\n\n$ c\n> d\n```\n";
    let lines = |lines: &[&str]| lines.iter().map(|&line| line.to_owned()).collect();
    let first = Example { command: "a \\\n  b".to_owned(), shown: lines(&["one", ""]) };
    let second = Example { command: "c\nd".to_owned(), shown: Vec::new() };
    assert_eq!(examples(page), [first, second]);
}

#[test]
fn output_is_compared_up_to_what_is_left_out() {
    assert!(is_line("took [..] s", "took 1.5 s") && is_line("a", "a  "));
    assert!(!is_line("took [..] s", "took 1.5 ms ") && !is_line("a", "ab"));
    assert!(is_line("[..]b[..]c[..]", "a b c") && !is_line("[..]c[..]b[..]", "a b c"));
    let shown = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    assert!(are_lines(&shown("a\n...\nd"), &["a", "b", "c", "d"]));
    assert!(are_lines(&shown("a\n...\nb"), &["a", "b"]) && are_lines(&[], &[]));
    assert!(!are_lines(&shown("a\n...\nd"), &["a", "b"]) && !are_lines(&[], &["a"]));
}

#[test]
fn an_example_that_prints_something_else_is_a_fault() {
    assert_eq!(fault("```console\n$ echo a\na\n```\n"), None);
    assert!(fault("```console\n$ echo a\nb\n```\n").is_some());
    assert_eq!(fault("```console\n$ false\nexit code 1\n```\n"), None);
    assert!(fault("```console\n$ false\n```\n").is_some());
}

#[test]
fn every_guide_is_short_and_has_an_example() {
    for guide in guides() {
        let page = fs::read_to_string(&guide).unwrap();
        let lines = page.lines().count();
        assert!(lines <= GUIDE_LINES, "{} has {lines} lines", guide.display());
        let is_of_fnstore = |example: &Example| example.command.contains("fnstore");
        assert!(examples(&page).iter().any(is_of_fnstore), "{} has no example", guide.display());
    }
}

#[test]
fn every_guide_shows_what_its_commands_print() {
    let faults: Vec<String> = std::thread::scope(|scope| {
        let running: Vec<_> = guides()
            .into_iter()
            .map(|guide| {
                scope.spawn(move || {
                    let fault = fault(&fs::read_to_string(&guide).unwrap())?;
                    Some(format!("{}: {fault}", guide.display()))
                })
            })
            .collect();
        running.into_iter().filter_map(|guide| guide.join().unwrap()).collect()
    });
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}
