//! Numbers that stand for what a release writes in their place: for ids of letters, for none at
//! all, and for those of two records.

use std::collections::{BTreeSet, HashMap};

use crate::model::{NumberKind, WrittenNumber, WrittenNumbers};

/// What fresh numbers are written as: one table of a release, or that of its earlier files and that
/// of a file.
#[derive(Clone, Copy)]
pub struct Numbers<'a> {
    tables: [&'a WrittenNumbers; 2],
}

impl<'a> From<&'a WrittenNumbers> for Numbers<'a> {
    fn from(table: &'a WrittenNumbers) -> Self {
        Self { tables: [table, table] }
    }
}

impl<'a> From<[&'a WrittenNumbers; 2]> for Numbers<'a> {
    fn from(tables: [&'a WrittenNumbers; 2]) -> Self {
        Self { tables }
    }
}

impl<'a> Numbers<'a> {
    pub(super) fn text(&self, kind: NumberKind, number: u64) -> Option<&'a str> {
        self.tables.into_iter().find_map(|table| table.text(kind, number))
    }
}

/// Says in a file that an export of fnstore wrote it. Its numbers from 2^31 on, of sentences and
/// sets from 2^56 on, are those that a store gave; an import keeps them. Other readers ignore a
/// processing instruction. Ids of the release itself that look so are listed behind it, as
/// [`like_own`] reads them.
const OWN_NUMBERS: &str = "fnstore own-numbers";

/// Ids that a release's own files write and that would be taken for numbers of a store.
pub(super) type LikeOwn = BTreeSet<(NumberKind, u64)>;

/// The ids that the instruction lists: after the name of a kind, its numbers. `None` for an
/// instruction of another name.
pub(super) fn like_own(instruction: &str) -> Option<LikeOwn> {
    let rest = instruction.strip_prefix(OWN_NUMBERS)?;
    let mut of = None;
    let mut listed = LikeOwn::new();
    for word in rest.split_ascii_whitespace() {
        match (word.parse(), of) {
            (Ok(number), Some(kind)) => drop(listed.insert((kind, number))),
            _ => of = NumberKind::parse(word),
        }
    }
    (rest.is_empty() || rest.starts_with(' ')).then_some(listed)
}

/// The instruction that lists them.
pub(super) fn instruction(like_own: &LikeOwn) -> String {
    let mut written = format!("<?{OWN_NUMBERS}");
    let mut last = None;
    for (kind, number) in like_own {
        if last.replace(kind) != Some(kind) {
            written.push(' ');
            written.push_str(kind.as_str());
        }
        written.push(' ');
        written.push_str(&number.to_string());
    }
    written.push_str("?>\n");
    written
}

/// What the fresh numbers of a file stand for.
pub(super) struct FileNumbers<'a> {
    /// Those that earlier files of the release gave.
    earlier: &'a WrittenNumbers,
    /// The others.
    pub(super) own: WrittenNumbers,
    pub(super) apart: ToldApart,
    /// Where an export wrote the file, so that numbers of a store are what they say: the release's
    /// own ids that look like such numbers.
    pub(super) like_own: Option<LikeOwn>,
}

impl<'a> FileNumbers<'a> {
    pub(super) fn new(earlier: &'a WrittenNumbers) -> Self {
        Self {
            earlier,
            own: WrittenNumbers::default(),
            apart: ToldApart::default(),
            like_own: None,
        }
    }

    /// The number that is written as this text, when no fresh one must stand for it.
    pub(super) fn plain(&self, kind: NumberKind, text: &str) -> Option<u64> {
        let own = || {
            let like_own = self.like_own.as_ref()?;
            kind.own(text).filter(|number| !like_own.contains(&(kind, *number)))
        };
        kind.plain(text).or_else(own)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.earlier.is_empty() && self.own.is_empty()
    }

    pub(super) fn text(&self, kind: NumberKind, number: u64) -> Option<&str> {
        self.earlier.text(kind, number).or_else(|| self.own.text(kind, number))
    }

    /// The number of what is written so, if something is.
    pub(super) fn find(
        &self,
        kind: NumberKind,
        text: &str,
        beside: &str,
    ) -> std::result::Result<u64, u64> {
        WrittenNumbers::find_in(&[self.earlier, &self.own], kind, text, beside)
    }

    pub(super) fn number_of(&mut self, kind: NumberKind, text: &str, beside: &str) -> u64 {
        let number = match self.find(kind, text, beside) {
            Ok(number) => return number,
            Err(number) => number,
        };
        let written = WrittenNumber { text: text.to_owned(), beside: beside.to_owned() };
        self.own.insert(kind, number, written);
        number
    }
}

/// Records of one number, told apart by their names, and by a count where these are the same or
/// empty.
#[derive(Default)]
pub(crate) struct ToldApart {
    /// How often a name was tried for a number.
    tried: HashMap<(NumberKind, String, String), usize>,
}

impl ToldApart {
    /// The first number that `free` gives for a text that tells a record of that name apart; texts
    /// for which it gave none are not tried again.
    pub(crate) fn find<N>(
        &mut self,
        kind: NumberKind,
        number: &str,
        name: &str,
        mut free: impl FnMut(&str) -> Option<N>,
    ) -> N {
        let key = (kind, number.to_owned(), name.to_owned());
        let tried = self.tried.entry(key).or_default();
        loop {
            let beside = match *tried + usize::from(name.is_empty()) {
                0 => name.to_owned(),
                times => format!("{name} ({})", times + 1),
            };
            *tried += 1;
            if let Some(number) = free(&beside) {
                return number;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn records_of_one_number_and_name_are_told_apart_by_a_count_and_each_text_is_tried_once() {
        let (mut apart, mut taken, tries) = (ToldApart::default(), HashSet::new(), Cell::new(0));
        let mut find = |name: &str| {
            apart.find(NumberKind::Frame, "7", name, |beside| {
                tries.set(tries.get() + 1);
                taken.insert(beside.to_owned()).then(|| beside.to_owned())
            })
        };
        assert_eq!(
            ["A", "A", "B", "A", "", ""].map(&mut find),
            ["A", "A (2)", "B", "A (3)", " (2)", " (3)"]
        );
        (0..10_000).for_each(|_| drop(find("A")));
        assert_eq!(tries.get(), 10_006);
    }
}
