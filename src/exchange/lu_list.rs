//! Lists of LUs: two columns parted by tabs, the name of a frame and that of an LU, as in
//! `Verification<TAB>confirm.v`. Lines that begin with `#` are remarks.

use std::path::Path;

use super::Result;
use super::error::{ExchangeError, Fault, FaultCode};
use super::lines::{Lines, columns};
use crate::model::Pos;

/// Reads the frame and the LU of each line of a file.
///
/// # Errors
/// When the file cannot be read, a line names no frame and LU, or there is no line.
pub fn open_lu_list(path: &Path) -> Result<Vec<(String, String)>> {
    let unreadable = |source| ExchangeError::Read { path: path.to_owned(), source };
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let mut lines = Lines::new(std::io::BufReader::new(file), path);
    let mut list = Vec::new();
    while lines.advance()? {
        let text = lines.text();
        if !text.starts_with('#') {
            let pair = pair(text).map_err(|fault| fault.at(lines.file(), lines.line()))?;
            list.push(pair);
        }
    }
    if list.is_empty() {
        return Err(lines.fault(FaultCode::Layout, "the list holds no line".to_owned()));
    }
    Ok(list)
}

fn pair(line: &str) -> std::result::Result<(String, String), Fault> {
    let [frame, lu] = columns(line, "the name of a frame, that of an LU")?;
    if frame.is_empty() {
        return Err(Fault::value("frame", frame, "the name of a frame"));
    }
    if Pos::of_lu_name(lu) == Pos::Other {
        let expected = "a lemma, a point and a part of speech, as in `confirm.v`";
        return Err(Fault::value("lu", lu, expected));
    }
    Ok((frame.to_owned(), lu.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_and_a_wrong_line_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("hidden.tsv");
        let read = |lines: &str| {
            std::fs::write(&path, lines).unwrap();
            open_lu_list(&path).map_err(|error| error.to_string())
        };
        let pair = ("Checking".to_owned(), "look over.v".to_owned());
        assert_eq!(read("# hidden\nChecking\tlook over.v\r\n").unwrap(), [pair]);
        for (lines, message) in [
            ("", "hidden.tsv:1: the list holds no line"),
            (
                "Checking look over.v\n",
                "hidden.tsv:1: `number of columns` is `1`, expected 2, parted by tabs",
            ),
            ("Checking\tlook over\n", "hidden.tsv:1: `lu` is `look over`, expected a lemma"),
            ("\tlook over.v\n", "hidden.tsv:1: `frame` is ``, expected the name of a frame"),
        ] {
            let error = read(lines).unwrap_err();
            assert!(error.contains(message), "{lines}: {error}");
        }
    }
}
