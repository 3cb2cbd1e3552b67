//! `docs/reference/options.md`, which is made of what clap knows of every command.

use std::fmt::Write as _;
use std::path::Path;

use clap::{Arg, Command};

use super::{help, whole};

/// The page of all commands and options.
fn page() -> String {
    let command = whole();
    let mut page = "# Options of every command\n\n\
         The text is that of `fnstore COMMAND --help`. A test writes this page: \
         `FNSTORE_WRITE_GOLDEN=1 make test`.\n[Commands](commands.md) describes what commands have in \
         common.\n"
        .to_owned();
    options(&mut page, "\nOptions of all commands:\n", &command, |arg| arg.is_global_set());
    for (title, holds) in help::GROUPS {
        let _ = write!(page, "\n## {title}\n");
        for of_group in command.get_subcommands().filter(|it| holds(it.get_name())) {
            describe(&mut page, of_group, "fnstore");
        }
    }
    page
}

/// A command with its arguments, then its subcommands.
fn describe(page: &mut String, command: &Command, above: &str) {
    let name = format!("{above} {}", command.get_name());
    let about = command.get_long_about().or(command.get_about());
    let _ = write!(
        page,
        "\n### `{name}`\n\n{}\n",
        paragraphs(&about.map_or_else(String::new, ToString::to_string))
    );
    options(page, "", command, |arg| !arg.is_global_set());
    for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
        describe(page, below, &name);
    }
}

/// A table of those arguments of a command that are asked for.
fn options(page: &mut String, heading: &str, command: &Command, is_asked: impl Fn(&Arg) -> bool) {
    let is_own = |arg: &&Arg| {
        !arg.is_hide_set() && !["help", "version"].contains(&arg.get_id().as_str()) && is_asked(arg)
    };
    let mut all = command.get_arguments().filter(is_own).peekable();
    if all.peek().is_none() {
        return;
    }
    let _ = write!(page, "{heading}\n| option | what it does |\n| --- | --- |\n");
    for arg in all {
        let _ = writeln!(page, "| {} | {} |", spelled(arg), cell(&said(arg)));
    }
}

/// How an argument is written.
fn spelled(arg: &Arg) -> String {
    let values = arg.get_value_names().unwrap_or_default().iter().map(|name| name.as_str());
    let values = values.collect::<Vec<_>>().join(" ");
    let takes_value = arg.get_action().takes_values();
    let name = match (arg.get_long(), arg.get_short()) {
        (Some(long), _) if takes_value => format!("--{long} {values}"),
        (Some(long), _) => format!("--{long}"),
        (None, Some(short)) => format!("-{short} {values}"),
        (None, None) if arg.is_required_set() => values,
        (None, None) => format!("[{values}]"),
    };
    format!("`{}`", name.trim_end().replace('|', "\\|"))
}

/// What the help says of an argument, with its values and its default.
fn said(arg: &Arg) -> String {
    let help = arg.get_long_help().or(arg.get_help());
    let mut said = help.map_or_else(String::new, ToString::to_string);
    let values: Vec<String> = arg
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    if arg.get_action().takes_values() && !values.is_empty() && !arg.is_hide_possible_values_set() {
        let _ = write!(said, " [values: {}]", values.join(", "));
    }
    let defaults = arg.get_default_values().iter().map(|value| value.to_string_lossy());
    let defaults: Vec<_> = defaults.collect();
    if arg.get_action().takes_values() && !defaults.is_empty() && !arg.is_hide_default_value_set() {
        let _ = write!(said, " [default: {}]", defaults.join(", "));
    }
    said
}

/// A text as a cell of a table.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

/// A text whose paragraphs are a line each; lines that are indented stay.
fn paragraphs(text: &str) -> String {
    let parts = text.trim().split("\n\n").map(|part| match part.starts_with(' ') {
        true => format!("```text\n{part}\n```"),
        false => part.lines().map(str::trim).collect::<Vec<_>>().join(" "),
    });
    parts.collect::<Vec<_>>().join("\n\n")
}

#[test]
fn the_page_of_options_is_what_the_program_takes() {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference/options.md");
    let page = page();
    if std::env::var_os("FNSTORE_WRITE_GOLDEN").is_some() {
        std::fs::write(&place, &page).unwrap();
    }
    let there = std::fs::read_to_string(&place).unwrap_or_default();
    let differs = page.lines().zip(there.lines()).find(|(is, was)| is != was);
    assert!(differs.is_none() && page.len() == there.len(), "{differs:?}: FNSTORE_WRITE_GOLDEN=1");
}
