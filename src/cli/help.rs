//! The program's help: its commands in groups, each with one line.
//!
//! clap lists all subcommands under one heading. So the help has a template of its own, which is
//! made from the commands that clap knows and from the group that each is of.

use std::fmt::Write as _;

use clap::Subcommand;

use super::{grow, machine, measure, read, store};

/// The title of a group, and whether a command is of it.
type Group = (&'static str, fn(&str) -> bool);

/// The groups of commands.
pub(super) const GROUPS: [Group; 5] = [
    ("Read", read::Command::has_subcommand),
    ("Change the store", store::Command::has_subcommand),
    ("Grow", grow::Command::has_subcommand),
    ("Measure and train", measure::Command::has_subcommand),
    ("This machine", machine::Command::has_subcommand),
];

/// The program's command with its help in groups.
pub(super) fn grouped(command: clap::Command) -> clap::Command {
    let styles = command.get_styles();
    let (header, literal) = (*styles.get_header(), *styles.get_literal());
    let mut template = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    let names = command.get_subcommands().map(|of_group| of_group.get_name().len());
    let width = names.max().unwrap_or_default();
    for (title, holds) in GROUPS {
        let _ = writeln!(template, "\n{header}{title}:{header:#}");
        for of_group in command.get_subcommands().filter(|it| holds(it.get_name())) {
            let (name, about) = (of_group.get_name(), of_group.get_about());
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(template, "  {literal}{name:width$}{literal:#}  {about}");
        }
    }
    let _ = write!(
        template,
        "\n`fnstore help COMMAND` prints the help of a command.\n\n\
         {header}Options:{header:#}\n{{options}}{{after-help}}"
    );
    command.help_template(template)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::whole;

    /// Whether a command is the program's, not the one that clap makes for help.
    fn is_own(name: &&str) -> bool {
        *name != "help"
    }

    #[test]
    fn every_command_stands_in_one_group() {
        for name in whole().get_subcommands().map(clap::Command::get_name).filter(is_own) {
            let groups = GROUPS.iter().filter(|(_, holds)| holds(name)).count();
            assert_eq!(groups, 1, "{name}");
        }
    }

    #[test]
    fn the_help_shows_every_command_once_and_on_one_line() {
        let help = grouped(whole()).render_help().to_string();
        for command in whole().get_subcommands().filter(|it| is_own(&it.get_name())) {
            let about = command.get_about().unwrap().to_string();
            let shown: Vec<&str> = help.lines().filter(|line| line.ends_with(&about)).collect();
            let [line] = shown[..] else { panic!("{}: {shown:?}", command.get_name()) };
            assert!(line.starts_with(&format!("  {} ", command.get_name())), "{line}");
            assert!(line.len() <= 80, "{line}");
        }
        for (title, _) in GROUPS {
            assert!(help.contains(&format!("\n{title}:\n")), "{help}");
        }
    }
}
