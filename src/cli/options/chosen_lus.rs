//! Which lexical units a command is about: names or a number, and the frame they are of.

use fnstore::database::{Database, DatabaseError, LookupError};
use fnstore::lexicon::Lexicon;
use fnstore::model::{LexUnit, LuId};
use fnstore::query::Pattern;
use fnstore::store::NameKind;

use super::listing::{Statuses, names, names_or_all};

/// The LUs that a user means.
pub(crate) struct ChosenLus {
    /// Every name where a number is given.
    names: Pattern,
    number: Option<LuId>,
    frame: Pattern,
}

impl ChosenLus {
    /// Reads what was written: names as [`names`] takes them, or the number of an LU; `frame` is
    /// the name of a frame, or a pattern.
    pub(crate) fn parse(lu: &str, frame: Option<&str>) -> anyhow::Result<Self> {
        let written = lu.trim();
        let bare = written.strip_prefix("lu=").unwrap_or(written).trim();
        let is_number = !bare.is_empty() && bare.bytes().all(|byte| byte.is_ascii_digit());
        let number = if is_number { bare.parse().ok().map(LuId) } else { None };
        Ok(Self {
            names: names("lu", if number.is_some() { "*" } else { written })?,
            number,
            frame: names_or_all("frame", frame.map(str::to_owned).as_slice())?,
        })
    }

    /// That each name which is given whole, and the number, is there in some release.
    pub(crate) fn require(&self, database: &Database) -> anyhow::Result<()> {
        database.require_name(NameKind::LexUnit, &self.names)?;
        database.require_name(NameKind::Frame, &self.frame)?;
        let Some(number) = self.number else { return Ok(()) };
        for lexicon in database.lexicons()? {
            if lexicon.lu(number)?.is_some() {
                return Ok(());
            }
        }
        let (kind, name) = (NameKind::LexUnit.words(), number.to_string());
        let none = LookupError::UnknownName { kind, name, nearest: None };
        Err(DatabaseError::Lookup(none).into())
    }

    /// Those of a release, each with the name of its frame.
    pub(crate) fn find(&self, lexicon: &Lexicon<'_>) -> anyhow::Result<Vec<(String, LexUnit)>> {
        let found = match self.number {
            Some(number) => lexicon.lu(number)?.into_iter().collect(),
            None => lexicon.find_lus(&self.names)?.collect::<Result<Vec<_>, _>>()?,
        };
        let mut chosen = Vec::new();
        for lu in found {
            let frame = lexicon.frame(lu.frame)?;
            let frame = frame.map_or_else(|| lu.frame.to_string(), |frame| frame.name);
            if self.frame.matches(&frame) {
                chosen.push((frame, lu));
            }
        }
        Ok(chosen)
    }

    /// Whether an LU is shown: one that is asked for by its whole name or number is, whatever its
    /// status.
    pub(crate) fn include(&self, statuses: &Statuses, lu: &LexUnit) -> bool {
        self.number.is_some() || statuses.include_named(&self.names, lu)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_a_number_and_all_else_names() {
        let number = |lu: &str| ChosenLus::parse(lu, None).unwrap().number;
        assert_eq!(number("1002"), Some(LuId(1002)));
        assert_eq!(number(" lu=1002 "), Some(LuId(1002)));
        for name in ["86.v", "check.v", "", "1e3", "lu~1002", "99999999999"] {
            assert_eq!(number(name), None, "{name}");
        }
    }
}
