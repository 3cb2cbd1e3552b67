//! Coded warnings: what is odd in a release, and what was done about it.
//!
//! FrameNet's releases hold repeated labels, references to frames that do not exist, and numbers
//! used twice. None of that stops a reading and none of it is passed over in silence: every case is
//! a [`Warning`] with a code, a file and a line. `schema/warnings.md` has the table of codes.
//!
//! Some codes stand for *traits* rather than faults, such as a discontinuous target or a text that
//! ends in a space. Readers of FrameNet stumble over them, so a report counts them, too.

use std::collections::BTreeMap;
use std::fmt;

use crate::model::named;

named! {
    /// What is odd.
    #[non_exhaustive]
    pub enum WarningCode {
        /// A layer has the same label on the same span twice: both are kept.
        DuplicateLabel => "W-duplicate-label",
        /// A set names a frame without a file: the frame is kept by name alone.
        FrameMissing => "W-frame-missing",
        /// A set names an LU that no file defines: the LU is kept by name alone.
        LuMissing => "W-lu-missing",
        /// A frame file names an LU (often of status `Problem`) without a file in `lu/`: it is
        /// kept.
        LuWithoutFile => "W-lu-without-file",
        /// A frame has two LUs of one name: both are kept.
        LuNameRepeated => "W-lu-name-repeated",
        /// An LU file's LU does not stand in its frame's file: it is kept.
        LuNotInFrame => "W-lu-not-in-frame",
        /// A null instantiation of an unknown kind: its text is kept.
        NullUnknown => "W-null-unknown",
        /// A set has more than one Target layer: the targets are merged.
        TargetLayers => "W-target-layers",
        /// A frame set has no target: it is kept.
        TargetEmpty => "W-target-empty",
        /// One number stands for two texts in one folder: the later text gets a fresh id.
        SentenceConflict => "W-sentence-conflict",
        /// One number stands for two different sets in one folder: the later set gets a fresh id.
        SetConflict => "W-set-conflict",
        /// A label lies outside its sentence, or ends two or more before its start: its layer keeps
        /// it without a span.
        SpanRange => "W-span-range",
        /// A label names an FE that its frame does not have: it is kept.
        FeUnknown => "W-fe-unknown",
        /// A relation names a frame without a file: it is kept, and the frame by name alone.
        RelationDangling => "W-relation-dangling",
        /// An element that FrameNet's schema does not know: it is kept as it stands.
        UnknownElement => "W-unknown-element",
        /// A value that its attribute does not allow: the detail says what is kept in its place.
        UnreadableValue => "W-unreadable-value",
        /// One number stands for two records: the later gets a fresh number, and is written with
        /// its own.
        IdRepeated => "W-id-repeated",
        /// An id is no number, too large a one, or not there: it is kept as written beside a fresh
        /// number.
        IdWritten => "W-id-written",
        /// A name is empty or not there, or holds characters that do not show: it is kept as
        /// written.
        NameUnusual => "W-name-unusual",
        /// A semantic type is named that `semTypes.xml` does not have: it is kept by name.
        SemTypeMissing => "W-sem-type-missing",
        /// A sentence names a document that no file lists: it is kept by number.
        DocumentMissing => "W-document-missing",
        /// A core set, another FE or a relation names an FE that the frame does not have: found by
        /// its name, or left out.
        ElementMissing => "W-element-missing",
        /// A file that every release has at its top is not there: the rest is read without it.
        FileMissing => "W-file-missing",
        /// A folder of a release is not there: the rest is read without it.
        FolderMissing => "W-folder-missing",
        /// A link that leads nowhere: there is nothing to read.
        LinkDangling => "W-link-dangling",
        /// The release seems to be in another language than its record says, which nobody gave.
        LanguageGuessed => "W-language-guessed",
        /// An index file and the folder it lists differ: the files count.
        IndexMismatch => "W-index-mismatch",
        /// An LU file says something else of its LU than the frame's file: both are kept, and
        /// queries go by the frame's file.
        LuDiffers => "W-lu-differs",
        /// A name beside a number is not the name of what the number stands for: the number counts.
        NameMismatch => "W-name-mismatch",
        /// An attribute that FrameNet's schema does not know: it is kept as it stands.
        UnknownAttribute => "W-unknown-attribute",
        /// Text where FrameNet's schema has elements only: it is kept as it stands.
        UnknownText => "W-unknown-text",
        /// What is not FrameNet's is more than is kept of one file: it is dropped.
        UnknownDropped => "W-unknown-dropped",
        /// An attribute stands in its element twice, which XML does not allow: the first counts.
        AttributeRepeated => "W-attribute-repeated",
        /// A full-text file names no corpus or no document: both are called after the file.
        HeaderMissing => "W-header-missing",
        /// An element or text before or after a file's root element: it is not read.
        OutsideRoot => "W-outside-root",
        // Traits, from here to the end.
        /// A frame element has more than one semantic type: all are kept.
        SemTypesSeveral => "W-sem-types-several",
        /// A target is discontinuous: all its pieces are kept.
        TargetPieces => "W-target-pieces",
        /// A layer labels several spans with one FE: all are kept.
        FeRepeated => "W-fe-repeated",
        /// An FE layer has rank 2 or more: it is kept with its rank.
        FeRank => "W-fe-rank",
        /// A GF or PT layer has rank 2 or more, or an FE layer rank 4 or more, which other readers
        /// refuse: it is kept with its rank.
        LayerRank => "W-layer-rank",
        /// A null instantiation of the kind INC, which is left out of the usual list of three.
        NullIncorporated => "W-null-incorporated",
        /// A frame set of status UNANN: its FEs count as unknown, not as unexpressed.
        SetUnannotated => "W-set-unannotated",
        /// A sentence has more than one frame set in one LU file: all are kept.
        SetsSeveral => "W-sets-several",
        /// A sentence, with the same text, stands in several places of one folder: one record with
        /// all its places.
        SentenceRepeated => "W-sentence-repeated",
        /// One number stands for different sentences or sets under `lu/` and `fulltext/`: the
        /// folder is part of the id.
        NumberShared => "W-number-shared",
        /// An LU file holds no exemplar: the LU is kept.
        LuWithoutExemplar => "W-lu-without-exemplar",
        /// A set whose status says that a model made it: it is read as human annotation.
        MachineSet => "W-machine-set",
        /// A text starts or ends with space: it is kept byte by byte.
        TextSpace => "W-text-space",
        /// A text holds characters beyond ASCII: offsets become bytes.
        TextNonAscii => "W-text-non-ascii",
        /// A text holds a `<` or a control character: it is kept byte by byte.
        TextMarkup => "W-text-markup",
        /// A file that an operating system or an editor left beside the release's: it is not read.
        Litter => "W-litter",
        /// An XML file where no release has one, or what is called like one and is no file: it is
        /// not read.
        FileNotRead => "W-file-not-read",
        /// An export writes the same in another way: white space, order, spelling, what is not
        /// given.
        WrittenOtherwise => "W-written-otherwise",
    }
}

impl WarningCode {
    /// Whether it is a trait of the data that is counted, and no fault: a strict import goes on.
    #[must_use]
    pub fn is_trait(self) -> bool {
        self >= Self::SemTypesSeveral
    }
}

/// One odd place in a release.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Warning {
    /// What is odd.
    #[serde(skip)]
    pub code: WarningCode,
    /// The file, inside the release.
    pub file: String,
    /// The line, from 1; 0 when the whole file is meant.
    pub line: usize,
    /// What stands there and what was done.
    pub detail: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}:", self.code, self.file)?;
        if self.line > 0 {
            write!(f, "{}:", self.line)?;
        }
        write!(f, " {}", self.detail)
    }
}

/// How many warnings of each code there were, with the first few of each.
///
/// Its size is bounded by the number of codes, whatever a file holds.
#[derive(Debug, Clone, Default)]
pub struct WarningLog {
    codes: BTreeMap<WarningCode, (u64, Vec<Warning>)>,
    first_fault: Option<Warning>,
}

impl WarningLog {
    /// Examples kept per code: enough to look at, bounded for a release full of them.
    pub const EXAMPLES: usize = 20;

    /// Most bytes kept of what an example says, and of its file's name.
    pub const LONGEST: usize = 500;

    /// Counts a warning.
    pub fn add(&mut self, warning: Warning) {
        self.note(warning.code, || warning);
    }

    /// Counts a warning that is only made when it is one of the first of its code.
    pub fn note(&mut self, code: WarningCode, make: impl FnOnce() -> Warning) {
        let (count, examples) = self.codes.entry(code).or_default();
        *count += 1;
        if examples.len() < Self::EXAMPLES {
            let mut warning = make();
            shorten(&mut warning.file, Self::LONGEST);
            shorten(&mut warning.detail, Self::LONGEST);
            if self.first_fault.is_none() && !code.is_trait() {
                self.first_fault = Some(warning.clone());
            }
            examples.push(warning);
        }
    }

    /// Counts what another log counted after this one.
    pub fn merge(&mut self, later: Self) {
        for (code, (count, examples)) in later.codes {
            let (total, first) = self.codes.entry(code).or_default();
            *total += count;
            let room = Self::EXAMPLES.saturating_sub(first.len());
            first.extend(examples.into_iter().take(room));
        }
        if self.first_fault.is_none() {
            self.first_fault = later.first_fault;
        }
    }

    /// The warning that was counted first of those that are faults.
    #[must_use]
    pub fn first_fault(&self) -> Option<&Warning> {
        self.first_fault.as_ref()
    }

    /// Number of warnings that are faults, of any code.
    #[must_use]
    pub fn faults(&self) -> u64 {
        let faults = self.codes.iter().filter(|(code, _)| !code.is_trait());
        faults.map(|(_, (count, _))| count).sum()
    }

    /// Number of warnings of a code.
    #[must_use]
    pub fn count(&self, code: WarningCode) -> u64 {
        self.codes.get(&code).map_or(0, |(count, _)| *count)
    }

    /// Number of warnings of any code.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.codes.values().map(|(count, _)| count).sum()
    }

    /// The codes that occurred, with their number and first examples, in order of code.
    pub fn iter(&self) -> impl Iterator<Item = (WarningCode, u64, &[Warning])> {
        self.codes.iter().map(|(code, (count, examples))| (*code, *count, examples.as_slice()))
    }
}

/// Cuts a text off that is longer than some bytes, and says so.
fn shorten(text: &mut String, longest: usize) {
    if text.len() > longest {
        text.truncate(text.floor_char_boundary(longest));
        text.push_str("...");
        text.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warning(line: usize) -> Warning {
        let detail = "kept".to_owned();
        Warning { code: WarningCode::IndexMismatch, file: "luIndex.xml".to_owned(), line, detail }
    }

    #[test]
    fn a_warning_about_a_whole_file_names_no_line() {
        assert_eq!(warning(7).to_string(), "W-index-mismatch: luIndex.xml:7: kept");
        assert_eq!(warning(0).to_string(), "W-index-mismatch: luIndex.xml: kept");
    }

    #[test]
    fn a_log_counts_all_and_keeps_the_first_of_each_code() {
        let mut log = WarningLog::default();
        (1..100).for_each(|line| log.add(warning(line)));
        assert_eq!((log.total(), log.count(WarningCode::IndexMismatch)), (99, 99));
        let (_, _, examples) = log.iter().next().unwrap();
        assert_eq!((examples.len(), examples[0].line), (WarningLog::EXAMPLES, 1));
    }

    #[test]
    fn an_example_is_no_copy_of_what_it_is_about() {
        let mut log = WarningLog::default();
        log.add(Warning { detail: "\u{e9}".repeat(1 << 20), ..warning(1) });
        let (_, _, examples) = log.iter().next().unwrap();
        assert_eq!(examples[0].detail.len(), WarningLog::LONGEST + 3);
        assert!(examples[0].detail.ends_with("\u{e9}..."));
        assert!(log.first_fault().unwrap().detail.len() < 600);
    }

    #[test]
    fn logs_of_files_add_up_in_their_order() {
        let (mut log, mut later) = (WarningLog::default(), WarningLog::default());
        (1..16).for_each(|line| log.add(warning(line)));
        (16..99).for_each(|line| later.add(warning(line)));
        later.add(Warning { code: WarningCode::TextSpace, ..warning(0) });
        log.merge(later);
        assert_eq!((log.total(), log.faults()), (99, 98));
        assert_eq!(log.first_fault(), Some(&warning(1)));
        let (_, _, examples) = log.iter().next().unwrap();
        assert_eq!(examples.last(), Some(&warning(WarningLog::EXAMPLES)));
    }
}
