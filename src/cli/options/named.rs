//! Names on the command line that stand for the cases of an enum.
//!
//! The names, and what help and completion say of each, are those of the enum's own table, wherever
//! it is defined.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use fnstore::model::Named;

/// The value parser of an argument that takes the name of a `T`.
pub(crate) fn named<T: Named + Send + Sync>() -> impl TypedValueParser<Value = T> {
    one_of(T::CASES)
}

/// As [`named`], for some of the cases.
pub(crate) fn one_of<T: Named + Send + Sync>(
    cases: &'static [T],
) -> impl TypedValueParser<Value = T> {
    let values = cases.iter().map(|case| {
        let value = PossibleValue::new(case.name());
        match summary(case.about()) {
            about if about.is_empty() => value,
            about => value.help(about),
        }
    });
    PossibleValuesParser::new(values)
        .map(|name| case_of(&name).expect("the parser lets the cases' names through alone"))
}

/// The case of a name, in whatever letters it is written.
pub(crate) fn case_of<T: Named>(name: &str) -> Option<T> {
    T::CASES.iter().copied().find(|case| case.name().eq_ignore_ascii_case(name))
}

/// The first paragraph of a doc comment, on one line and without its full stop.
fn summary(about: &str) -> String {
    let lines = about.lines().map(str::trim).take_while(|line| !line.is_empty());
    let paragraph = lines.collect::<Vec<_>>().join(" ");
    paragraph.strip_suffix('.').unwrap_or(&paragraph).to_owned()
}

#[cfg(test)]
mod tests {
    use fnstore::engine::Stopping;
    use fnstore::model::Split;

    use super::*;
    use crate::cli::whole;

    #[test]
    fn a_case_is_told_by_the_first_paragraph_of_its_doc_comment() {
        let told: Vec<String> = Stopping::CASES.iter().map(|it| summary(it.about())).collect();
        assert_eq!(told[1], "As soon as the outputs are there");
        assert_eq!(summary(Split::Dev.about()), "");
    }

    #[test]
    fn names_are_read_in_any_letters_and_others_are_none() {
        assert_eq!(case_of::<Stopping>("First-Full"), Some(Stopping::FirstFull));
        assert_eq!(case_of::<Stopping>("first"), None);
    }

    /// The values that the arguments of a command and of those below it say they take.
    fn value_helps(command: &clap::Command, all: &mut Vec<String>) {
        for value in command.get_arguments().flat_map(|it| it.get_possible_values()) {
            all.extend(value.get_help().map(ToString::to_string));
        }
        command.get_subcommands().for_each(|command| value_helps(command, all));
    }

    #[test]
    fn what_help_says_of_values_names_no_source() {
        let mut all = Vec::new();
        value_helps(&whole(), &mut all);
        assert!(all.len() > 30, "{all:?}");
        assert!(all.iter().all(|text| !text.contains("[`") && !text.contains("::")), "{all:?}");
    }
}
