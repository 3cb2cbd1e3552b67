//! Lists of which part of the data documents, LUs, sentences and exemplars belong to.
//!
//! Three columns parted by tabs: what it is (`document`, `lu`, `sentence` or `exemplars`), its
//! name, and `train`, `dev`, `test` or `none`. The name of `exemplars` is `*`. Lines that begin
//! with `#` are remarks.

use std::io::BufRead;
use std::path::Path;

use super::Result;
use super::error::{ExchangeError, Fault, FaultCode};
use super::lines::{Lines, columns};
use crate::model::{
    IdSpace, KeptSplitList, NO_PART, SentenceId, Split, SplitList, SplitListId, hexadecimal,
};
use crate::text::composed;

/// Reads a list; it is called what its file is called, without the ending.
///
/// # Errors
/// When the file cannot be read, a line is none of a list, two lines name one thing, or there is no
/// line.
///
/// ```
/// let lines = "document\tANC__110CYL067\ttest\nlu\tVerification/confirm.v\ttest\nexemplars\t*\ttrain\n";
/// let list = fnstore::exchange::read_split_list(lines.as_bytes(), "fold-1.tsv".as_ref())?;
/// assert_eq!((list.id.name.as_str(), list.documents.len()), ("fold-1", 1));
/// # Ok::<(), fnstore::exchange::ExchangeError>(())
/// ```
pub fn read_split_list(input: impl BufRead, file: &Path) -> Result<SplitList> {
    let name = file.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into());
    let id = SplitListId { name, ..SplitListId::default() };
    let mut list = SplitList { id, ..SplitList::default() };
    let mut lines = Lines::new(input, file);
    while lines.advance()? {
        let text = lines.text();
        if text.starts_with('#') {
            continue;
        }
        take(&mut list, text).map_err(|fault| fault.at(lines.file(), lines.line()))?;
        list.lines.push_str(text);
        list.lines.push('\n');
    }
    if list.lines.is_empty() {
        return Err(lines.fault(FaultCode::Layout, "the list holds no line".to_owned()));
    }
    list.id.fingerprint.copy_from_slice(&blake3::hash(list.lines.as_bytes()).as_bytes()[..16]);
    Ok(list)
}

/// The list that an edition keeps; `None` where it keeps the name alone.
///
/// # Errors
/// When the lines are none of a list, or of another than the fingerprint's.
pub fn kept_split_list(kept: &KeptSplitList) -> Result<Option<SplitList>> {
    let Some(lines) = &kept.lines else { return Ok(None) };
    let name = &kept.id.name;
    let mut list = read_split_list(lines.as_bytes(), name.as_ref())?;
    list.id.name.clone_from(name);
    if list.id != kept.id {
        let expected = "that of the lines".to_owned();
        let fault = Fault::value("fingerprint", hexadecimal(&kept.id.fingerprint), expected);
        return Err(fault.at(name, 1));
    }
    Ok(Some(list))
}

/// Reads the list in a file.
///
/// # Errors
/// As [`read_split_list`].
pub fn open_split_list(path: &Path) -> Result<SplitList> {
    let unreadable = |source| ExchangeError::Read { path: path.to_owned(), source };
    let file = std::fs::File::open(path).map_err(unreadable)?;
    read_split_list(std::io::BufReader::new(file), path)
}

/// What a list may name in place of a generated sentence: two parts for a seed and what grew from
/// it would be a leak.
const OF_ITS_SEED: &str = "a sentence that was not generated; one that was has the part of its \
                           seed's sentence";

fn take(list: &mut SplitList, line: &str) -> std::result::Result<(), Fault> {
    let [kind, name, split] = columns(line, "what it is, its name, its part")?;
    let part = match Split::parse(split) {
        None if split == NO_PART => None,
        None => return Err(Fault::value("part", split, "`train`, `dev`, `test` or `none`")),
        part => part,
    };
    if name.is_empty() {
        return Err(Fault::value("name", name, "a name"));
    }
    let before = match kind {
        "document" => list.documents.insert(composed(name).into_owned(), part),
        "lu" => list.lexunits.insert(composed(name).into_owned(), part),
        "sentence" => {
            let id = SentenceId::parse(name)
                .ok_or_else(|| Fault::value("name", name, "the id of a sentence, as in `x1024`"))?;
            if id.space() == IdSpace::Generated {
                return Err(Fault::value("name", name, OF_ITS_SEED));
            }
            list.sentences.insert(id, part)
        }
        "exemplars" if name == "*" => list.exemplars.replace(part),
        "exemplars" => {
            return Err(Fault::value("name", name, "`*`, which stands for all exemplars"));
        }
        _ => {
            let expected = "`document`, `lu`, `sentence` or `exemplars`";
            return Err(Fault::value("kind", kind, expected));
        }
    };
    match before {
        None => Ok(()),
        Some(_) => {
            let expected = format!("a {kind} that no earlier line names");
            Err(Fault::new(FaultCode::Repeated, "name", name, expected))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &str) -> Result<SplitList> {
        read_split_list(lines.as_bytes(), "a/fold.tsv".as_ref())
    }

    #[test]
    fn a_list_names_documents_lexunits_sentences_and_exemplars() {
        let lines = "# a fold\ndocument\tMINI__BikeRide\tdev\r\nlu\tlook over.v\ttest\n\n\
                     lu\tChecking/look over.v\ttrain\nlu\taudit.v\tnone\nsentence\tx5007\tdev\nexemplars\t*\ttest\n";
        let list = read(lines).unwrap();
        assert_eq!(list.id.name, "fold");
        assert_eq!(list.documents["MINI__BikeRide"], Some(Split::Dev));
        assert_eq!(list.of_lexunit("Checking", "look over.v"), Some(Some(Split::Train)));
        assert_eq!(list.of_lexunit("Roaming", "look over.v"), Some(Some(Split::Test)));
        assert_eq!(list.of_lexunit("Checking", "audit.v"), Some(None));
        assert_eq!(list.of_lexunit("Checking", "check.v"), None);
        assert_eq!((list.sentences.len(), list.exemplars), (1, Some(Some(Split::Test))));
        let same = read(&lines.replace("# a fold", "# another remark")).unwrap();
        assert_eq!(same.id, list.id);
        assert_ne!(read(&lines.replace("dev", "train")).unwrap().id, list.id);
    }

    #[test]
    fn a_kept_list_is_the_list_again_and_other_lines_are_refused() {
        let lines = "# a fold\nlu\tcheck.v\ttest\r\n\nexemplars\t*\ttrain";
        let list = read_split_list(lines.as_bytes(), "fold.v1.tsv".as_ref()).unwrap();
        let kept = list.record();
        assert_eq!(kept.lines.as_deref(), Some("lu\tcheck.v\ttest\nexemplars\t*\ttrain\n"));
        assert_eq!(kept_split_list(&kept).unwrap(), Some(list));
        let named = KeptSplitList { lines: None, ..kept.clone() };
        assert_eq!(kept_split_list(&named).unwrap(), None);
        for lines in ["lu\tcheck.v\tdev\n", "", "nothing"] {
            let other = KeptSplitList { lines: Some(lines.to_owned()), ..kept.clone() };
            assert!(kept_split_list(&other).is_err(), "{lines}");
        }
    }

    #[test]
    fn whatever_is_wrong_is_said_with_line_field_and_value() {
        for (lines, message) in [
            ("", "E-layout: a/fold.tsv:1: the list holds no line"),
            ("# nothing\n", "E-layout: a/fold.tsv:1: the list holds no line"),
            ("lu check.v test\n", "E-layout: a/fold.tsv:1: `number of columns` is `1`, expected 3"),
            (
                "#\nlu\tcheck.v\tvalid\n",
                "E-value: a/fold.tsv:2: `part` is `valid`, expected `train`",
            ),
            ("frame\tChecking\ttest\n", "`kind` is `frame`, expected `document`, `lu`"),
            ("lu\t\ttest\n", "`name` is ``, expected a name"),
            ("sentence\t5007\ttest\n", "`name` is `5007`, expected the id of a sentence"),
            (
                "lu\ta.v\tdev\nsentence\tg12\ttest\n",
                "E-value: a/fold.tsv:2: `name` is `g12`, expected a sentence that was not generated",
            ),
            ("exemplars\tall\ttest\n", "`name` is `all`, expected `*`"),
            ("lu\t\u{e9}.v\ttest\nlu\te\u{301}.v\tdev\n", "E-repeated: a/fold.tsv:2: `name` is `"),
            ("lu\ta.v\ttest\nlu\ta.v\tdev\n", "E-repeated: a/fold.tsv:2: `name` is `a.v`"),
        ] {
            let error = read(lines).unwrap_err().to_string();
            assert!(error.contains(message), "{lines}: {error}");
        }
    }
}
