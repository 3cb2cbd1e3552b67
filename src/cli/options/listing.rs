//! What the commands that list the lexicon share: which names, of which release, and how many rows.

use anyhow::{Context as _, bail};
use fnstore::database::{Database, DatabaseError};
use fnstore::lexicon::Lexicon;
use fnstore::model::LexUnit;
use fnstore::query::{Case, Expression, Field, FieldKind, Pattern, Test};
use fnstore::store::NameKind;

use crate::cli::Outcome;
use crate::cli::print::notices::tell_if_empty;
use crate::cli::print::output::{Format, Output, tell};
use crate::cli::print::render::{Records, Row};

/// Status of LUs that are listed on request only: FrameNet's mark of what should not be used.
pub(crate) const HIDDEN_STATUS: &str = "Problem";

/// Which rows are listed.
#[derive(Debug, clap::Args)]
pub(crate) struct Rows {
    /// List only records of this release
    #[arg(long, value_name = "NAME")]
    release: Option<String>,

    /// Stop after N rows
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

impl Rows {
    /// The releases asked for, and how their rows are written.
    pub(crate) fn of<'d, 'o>(
        &self,
        database: &'d Database,
        output: &'o mut Output,
    ) -> anyhow::Result<(Vec<Lexicon<'d>>, Listing<'o>)> {
        let limit = self.limit.unwrap_or(usize::MAX);
        let listing = Listing { records: output.records(Format::Jsonl), limit, has_more: false };
        Ok((lexicons(database, self.release.as_deref())?, listing))
    }
}

/// The release of a name, or all of them.
pub(crate) fn lexicons<'d>(
    database: &'d Database,
    release: Option<&str>,
) -> anyhow::Result<Vec<Lexicon<'d>>> {
    tell_if_empty(database)?;
    Ok(match release {
        Some(name) => vec![database.lexicon(name)?],
        None => database.lexicons()?,
    })
}

/// Which LUs are listed.
#[derive(Debug, clap::Args)]
pub(crate) struct Statuses {
    /// Also list LUs of this status; those of status Problem are hidden by default
    #[arg(long, value_name = "STATUS")]
    include_status: Vec<String>,
}

impl Statuses {
    /// Whether an LU is listed.
    pub(crate) fn include(&self, lu: &LexUnit) -> bool {
        lu.status != HIDDEN_STATUS
            || self.include_status.iter().any(|status| status.eq_ignore_ascii_case(HIDDEN_STATUS))
    }

    /// Whether an LU is listed that matches these names: one whose name is given whole is asked
    /// for, whatever its status.
    pub(crate) fn include_named(&self, names: &Pattern, lu: &LexUnit) -> bool {
        names.as_exact().is_some() || self.include(lu)
    }

    /// Says how many LUs were left out.
    pub(crate) fn tell_hidden(hidden: usize) {
        if hidden > 0 {
            tell(&format!(
                "{hidden} of status {HIDDEN_STATUS} left out (`--include-status {HIDDEN_STATUS}` \
                 takes them in)"
            ));
        }
    }
}

/// The names that the user means, written as the query language writes them: a name, a name with
/// `*`, or `~` and a regular expression. `KIND=` may stand before it, and `KIND~` means `~`.
pub(crate) fn names(kind: &str, text: &str) -> anyhow::Result<Pattern> {
    let text = text.trim();
    let rest = text.strip_prefix(kind).unwrap_or(text);
    if let Some(regex) = rest.strip_prefix('~') {
        return Pattern::regex(regex, Case::Fold)
            .with_context(|| format!("`{regex}` is no regular expression"));
    }
    let name = if rest.len() < text.len() { rest.trim_start().strip_prefix('=') } else { None };
    if name.is_none() {
        require_name(text, "a name", "where the command has it, ")?;
    }
    Ok(Pattern::wildcard(name.unwrap_or(text).trim(), Case::Fold))
}

/// The field that a word tests.
fn tested_field(word: &str) -> Option<Field> {
    let end = word.find(['=', '!', '~'])?;
    Field::from_name(word[..end].trim())
}

/// Refuses a test where something else is wanted.
fn require_name(word: &str, expected: &str, condition: &str) -> anyhow::Result<()> {
    let Some(field) = tested_field(word) else { return Ok(()) };
    let field = field.name();
    let option = match field {
        "frame" | "lu" | "release" => format!("{condition}`--{field} NAME` asks for one"),
        _ => "`fnstore query` takes every test".to_owned(),
    };
    bail!("`{word}` is a test of `{field}`; expected {expected}; {option}")
}

/// As [`names`]; every name when nothing was written.
pub(crate) fn names_or_all(kind: &str, words: &[String]) -> anyhow::Result<Pattern> {
    if words.is_empty() { names(kind, "*") } else { names(kind, &words.join(" ")) }
}

/// The words that name things, and the tests of relations among them, as in `uses=Motion`. The test
/// of another field than these and `kind` is refused.
pub(crate) fn names_and_relations(
    database: &Database,
    kind: &str,
    words: &[String],
) -> anyhow::Result<(Vec<String>, Expression)> {
    let is_test = |word: &&String| {
        tested_field(word).is_some_and(|field| field.kind() == FieldKind::Relation)
    };
    let (tests, names): (Vec<&String>, Vec<&String>) = words.iter().partition(is_test);
    for word in &names {
        if tested_field(word).is_some_and(|field| field.name() != kind) {
            let expected = "names, or tests of relations such as `uses=Motion`";
            require_name(word, expected, "")?;
        }
    }
    let mut parts = Vec::new();
    for test in tests {
        parts.push(Expression::parse(test).map_err(DatabaseError::from)?);
    }
    let tests = Expression::all_of(parts).map_err(DatabaseError::from)?;
    for term in tests.terms() {
        if let Test::Relative(name, _) = term.test() {
            database.require_name(NameKind::Frame, name)?;
        }
    }
    Ok((names.into_iter().cloned().collect(), tests))
}

/// Rows on their way out, up to a limit.
pub(crate) struct Listing<'o> {
    records: Records<'o>,
    limit: usize,
    has_more: bool,
}

impl Listing<'_> {
    /// Writes a row. Gives `false` when no more are wanted.
    pub(crate) fn row<R: Row>(&mut self, row: &R) -> anyhow::Result<bool> {
        self.has_more = self.records.written() == self.limit;
        if !self.has_more {
            self.records.row(row)?;
        }
        Ok(!self.has_more)
    }

    /// Ends the listing, whose rows were all of this kind.
    pub(crate) fn end<R: Row>(self) -> anyhow::Result<Outcome> {
        let written = self.records.written();
        self.records.end_rows::<R>()?;
        if self.has_more {
            tell(&format!("showing the first {written}; there are more"));
            return Ok(Outcome::Done);
        }
        if written == 0 {
            return Outcome::nothing("nothing found");
        }
        Ok(Outcome::Done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_as_in_queries() {
        let matches = |text: &str, name: &str| names("frame", text).unwrap().matches(name);
        assert!(matches("Checking", "checking"));
        assert!(matches("frame=Check*", "Checking"));
        assert!(matches("~^Ch.*g$", "Checking"));
        assert!(matches("frame~eck", "Checking"));
        assert!(matches("frame~eck", "checker"));
        assert!(!matches("frame", "Checking"));
        assert!(matches("frame", "frame"));
        assert!(matches("a=b", "a=b"));
        let error = names("frame", "~(").unwrap_err().to_string();
        assert_eq!(error, "`(` is no regular expression");
        assert!(names_or_all("lu", &[]).unwrap().matches("any"));
        let words = ["look".to_owned(), "over.v".to_owned()];
        assert_eq!(names_or_all("lu", &words).unwrap().as_exact(), Some("look over.v"));
    }
}
