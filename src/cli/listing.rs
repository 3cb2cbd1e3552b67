//! What the commands that list the lexicon share: which names, of which release, and rows that come
//! out in every format.

use anyhow::Context as _;
use fnstore::database::Database;
use fnstore::lexicon::Lexicon;
use fnstore::model::LexUnit;
use fnstore::query::{Case, Pattern};
use serde::Serialize;

use super::Outcome;
use super::output::{Format, Output, tell};

/// Status of LUs that are listed only when asked for: FrameNet's own mark of what should not be used.
pub(super) const HIDDEN_STATUS: &str = "Problem";

/// Which rows are listed.
#[derive(Debug, clap::Args)]
pub(super) struct Rows {
    /// Only of this release
    #[arg(long, value_name = "NAME")]
    release: Option<String>,

    /// Stop after N rows
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

impl Rows {
    /// The releases asked for, and how their rows are written.
    pub(super) fn of<'d, 'o>(
        &self,
        database: &'d Database,
        output: &'o mut Output,
    ) -> anyhow::Result<(Vec<Lexicon<'d>>, Listing<'o>)> {
        let format = output.format_or(Format::Jsonl);
        let limit = self.limit.unwrap_or(usize::MAX);
        let listing =
            Listing { output, format, limit, written: 0, has_more: false, table: Vec::new() };
        Ok((lexicons(database, self.release.as_deref())?, listing))
    }
}

/// The release of a name, or all of them.
pub(super) fn lexicons<'d>(
    database: &'d Database,
    release: Option<&str>,
) -> anyhow::Result<Vec<Lexicon<'d>>> {
    Ok(match release {
        Some(name) => vec![database.lexicon(name)?],
        None => database.lexicons()?,
    })
}

/// Which LUs are listed.
#[derive(Debug, clap::Args)]
pub(super) struct Statuses {
    /// Also list LUs of this status; those of status Problem are hidden by default
    #[arg(long, value_name = "STATUS")]
    include_status: Vec<String>,
}

impl Statuses {
    /// Whether an LU is listed.
    pub(super) fn include(&self, lu: &LexUnit) -> bool {
        lu.status != HIDDEN_STATUS
            || self.include_status.iter().any(|status| status.eq_ignore_ascii_case(HIDDEN_STATUS))
    }

    /// Whether an LU is listed that matches these names: one whose name is given whole is asked for,
    /// whatever its status.
    pub(super) fn include_named(&self, names: &Pattern, lu: &LexUnit) -> bool {
        names.as_exact().is_some() || self.include(lu)
    }

    /// Says how many LUs were left out.
    pub(super) fn tell_hidden(hidden: usize) {
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
pub(super) fn names(kind: &str, text: &str) -> anyhow::Result<Pattern> {
    let text = text.trim();
    let rest = text.strip_prefix(kind).unwrap_or(text);
    if let Some(regex) = rest.strip_prefix('~') {
        return Pattern::regex(regex, Case::Fold)
            .with_context(|| format!("`{regex}` is no regular expression"));
    }
    let name = if rest.len() < text.len() { rest.strip_prefix('=') } else { None };
    Ok(Pattern::wildcard(name.unwrap_or(text).trim(), Case::Fold))
}

/// As [`names`]; every name when nothing was written.
pub(super) fn names_or_all(kind: &str, words: &[String]) -> anyhow::Result<Pattern> {
    if words.is_empty() { names(kind, "*") } else { names(kind, &words.join(" ")) }
}

/// A row of a listing.
pub(super) trait Row: Serialize {
    /// Names of the columns of tables and delimited output.
    const COLUMNS: &'static [&'static str];

    /// The values of the columns; several things in one are parted by `; `.
    fn fields(&self) -> Vec<String>;
}

/// Rows on their way out.
pub(super) struct Listing<'o> {
    output: &'o mut Output,
    format: Format,
    limit: usize,
    written: usize,
    has_more: bool,
    /// Rows of a table, whose columns are as wide as the widest.
    table: Vec<Vec<String>>,
}

impl Listing<'_> {
    /// Writes a row. Gives `false` when no more are wanted.
    pub(super) fn row<R: Row>(&mut self, row: &R) -> anyhow::Result<bool> {
        if self.written == self.limit {
            self.has_more = true;
            return Ok(false);
        }
        match self.format {
            Format::Table => self.table.push(row.fields()),
            Format::Json | Format::Jsonl => self.output.record(row, self.format)?,
            Format::Csv | Format::Tsv => {
                if self.written == 0 {
                    self.output.fields(self.format, R::COLUMNS)?;
                }
                self.output.fields(self.format, row.fields())?;
            }
        }
        self.written += 1;
        Ok(true)
    }

    /// Ends the listing, whose rows were all of this kind.
    pub(super) fn end<R: Row>(self) -> anyhow::Result<Outcome> {
        if self.format == Format::Table && self.written > 0 {
            self.output.table(R::COLUMNS, self.table)?;
        }
        self.output.end_records(self.format)?;
        self.output.flush()?;
        if self.has_more {
            tell(&format!("showing the first {}; there are more", self.written));
            return Ok(Outcome::Done);
        }
        if self.written == 0 {
            tell("nothing found");
            return Ok(Outcome::NothingFound);
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
        assert!(names("frame", "~(").is_err());
        assert!(names_or_all("lu", &[]).unwrap().matches("any"));
        let words = ["look".to_owned(), "over.v".to_owned()];
        assert_eq!(names_or_all("lu", &words).unwrap().as_exact(), Some("look over.v"));
    }
}
