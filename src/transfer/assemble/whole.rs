//! What is odd about a release as a whole: folders that are not there, files that are not read, and
//! a language that nobody gave.

use super::Assembler;
use crate::database::Result;
use crate::framenet::{FramenetError, LanguageGuess, Letters, Source, Warning, WarningCode};

/// Which folders of a release hold files.
#[derive(Debug, Clone, Copy)]
pub(super) struct Folders {
    pub(super) frames: bool,
    pub(super) lexunits: bool,
    pub(super) fulltext: bool,
}

impl Folders {
    pub(super) const ALL: Self = Self { frames: true, lexunits: true, fulltext: true };

    /// Whether a warning only repeats of one thing that a whole folder is not there.
    pub(super) fn explain(self, code: WarningCode) -> bool {
        match code {
            WarningCode::FrameMissing
            | WarningCode::LuMissing
            | WarningCode::LuNotInFrame
            | WarningCode::RelationDangling => !self.frames,
            WarningCode::LuWithoutFile => !self.lexunits,
            _ => false,
        }
    }
}

impl Assembler<'_> {
    /// Takes over what is odd about the files themselves.
    pub(in crate::transfer) fn add_source(&mut self, source: &Source) -> Result<()> {
        let odd = source.oddities();
        if let Some(fault) = odd.first_fault().filter(|_| self.strict) {
            return Err(FramenetError::Strict(fault.clone()).into());
        }
        self.warnings.merge(odd.clone());
        self.folders = Folders {
            frames: source.has_folder("frame/"),
            lexunits: source.has_folder("lu/"),
            fulltext: source.has_folder("fulltext/"),
        };
        Ok(())
    }

    /// What the letters of texts and names say of the language, and a file that shows it.
    pub(in crate::transfer) fn language_of_letters(&self) -> Option<(String, LanguageGuess)> {
        let file = || self.foreign.clone().unwrap_or_default();
        if let Some(guess) = self.letters.guess("texts") {
            return Some((file(), guess));
        }
        let mut names = Letters::default();
        let of_files = self.waiting.values().map(|(_, lu)| &lu.name);
        self.lexunits.values().chain(of_files).for_each(|name| names.count(name));
        names.guess("LU names").map(|guess| ("luIndex.xml".to_owned(), guess))
    }

    /// Asks for the language, which the record has as `recorded` because nobody gave it.
    pub(in crate::transfer) fn ask_for_language(
        &mut self,
        recorded: &str,
        (file, guess): (String, LanguageGuess),
    ) -> Result<()> {
        let LanguageGuess { tag, evidence } = guess;
        let tag = tag.as_deref().unwrap_or("TAG");
        let detail = format!(
            "{evidence}; recorded as `{recorded}`, the default: import it as `{tag}`, or as `{recorded}` \
             if that is right"
        );
        self.add_warning(Warning { code: WarningCode::LanguageGuessed, file, line: 0, detail })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_there_explains_nothing() {
        assert!(WarningCode::ALL.iter().all(|code| !Folders::ALL.explain(*code)));
        let only_lus = Folders { frames: false, ..Folders::ALL };
        assert!(only_lus.explain(WarningCode::FrameMissing));
        assert!(!only_lus.explain(WarningCode::LuWithoutFile));
        assert!(!only_lus.explain(WarningCode::FeUnknown));
    }
}
