//! Lists of LUs: two columns parted by tabs, the name of a frame and that of an LU, as in
//! `Verification<TAB>confirm.v`. A ranked list has a score in a third; one of substitutes has a
//! target's id and a substitute before it. Lines that begin with `#` are remarks.

use std::path::Path;

use super::Result;
use super::error::{ExchangeError, Fault, FaultCode};
use super::lines::{Lines, columns};
use crate::model::Pos;

/// An LU of a ranked list.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedLu {
    /// Name of the frame.
    pub frame: String,
    /// Name of the LU.
    pub lu: String,
    /// Its score.
    pub score: f64,
    /// The line that it stands in, from 1.
    pub line: usize,
}

/// A substitute of a ranked list.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedSubstitute {
    /// Id of the target that it stands for.
    pub target: String,
    /// The substitute.
    pub substitute: String,
    /// Its score.
    pub score: f64,
    /// The line that it stands in, from 1.
    pub line: usize,
}

/// Reads the frame and the LU of each line of a file.
///
/// # Errors
/// When the file cannot be read, a line names no frame and LU, or there is no line.
pub fn open_lu_list(path: &Path) -> Result<Vec<(String, String)>> {
    read(path, |text, _| {
        let [frame, lu] = columns(text, "the name of a frame, that of an LU")?;
        pair(frame, lu)
    })
}

/// Reads the frame, the LU and the score of each line of a file.
///
/// # Errors
/// When the file cannot be read, a line does not have them, or there is no line.
pub fn open_ranked_lus(path: &Path) -> Result<Vec<RankedLu>> {
    read(path, |text, line| {
        let [frame, lu, score] = columns(text, "the name of a frame, that of an LU, a score")?;
        let (frame, lu) = pair(frame, lu)?;
        Ok(RankedLu { frame, lu, score: number(score)?, line })
    })
}

/// Reads the target, the substitute and the score of each line of a file.
///
/// # Errors
/// When the file cannot be read, a line does not have them, or there is no line.
pub fn open_ranked_substitutes(path: &Path) -> Result<Vec<RankedSubstitute>> {
    read(path, |text, line| {
        let [target, substitute, score] = columns(text, "a target's id, a substitute, a score")?;
        if substitute.trim().is_empty() {
            return Err(Fault::value("substitute", substitute, "a word or a phrase"));
        }
        let (target, substitute) = (target.to_owned(), substitute.to_owned());
        Ok(RankedSubstitute { target, substitute, score: number(score)?, line })
    })
}

fn number(score: &str) -> std::result::Result<f64, Fault> {
    let number = score.parse().ok().filter(|score: &f64| score.is_finite());
    number.ok_or_else(|| Fault::value("score", score, "a number"))
}

/// What each line of a file says that is no remark; at least one.
fn read<T>(
    path: &Path,
    each: impl Fn(&str, usize) -> std::result::Result<T, Fault>,
) -> Result<Vec<T>> {
    let unreadable = |source| ExchangeError::Read { path: path.to_owned(), source };
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let mut lines = Lines::new(std::io::BufReader::new(file), path);
    let mut list = Vec::new();
    while lines.advance()? {
        let text = lines.text();
        if !text.starts_with('#') {
            let said = each(text, lines.line());
            list.push(said.map_err(|fault| fault.at(lines.file(), lines.line()))?);
        }
    }
    if list.is_empty() {
        return Err(lines.fault(FaultCode::Layout, "the list holds no line".to_owned()));
    }
    Ok(list)
}

fn pair(frame: &str, lu: &str) -> std::result::Result<(String, String), Fault> {
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

    #[test]
    fn a_ranked_list_has_scores_and_a_wrong_one_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ranked.tsv");
        let read = |lines: &str| {
            std::fs::write(&path, lines).unwrap();
            open_ranked_lus(&path).map_err(|error| error.to_string())
        };
        let list = read("# mine\nChecking\tvet.v\t-2.5e-1\n\nChecking\tvet.n\t3\n").unwrap();
        let rows: Vec<_> = list.iter().map(|of| (of.lu.as_str(), of.score, of.line)).collect();
        assert_eq!(rows, [("vet.v", -0.25, 2), ("vet.n", 3.0, 4)]);
        for (lines, message) in [
            ("# mine\n", "ranked.tsv:1: the list holds no line"),
            ("Checking\tvet.v\n", "E-layout: "),
            ("Checking\tvet.v\t1\t2\n", "ranked.tsv:1: `number of columns` is `4`, expected 3"),
            ("\nChecking\tvet.v\tgood\n", "ranked.tsv:2: `score` is `good`, expected a number"),
            ("Checking\tvet.v\tNaN\n", "`score` is `NaN`"),
            ("Checking\tvet.v\tinf\n", "`score` is `inf`"),
            ("Checking\tvet.v\t\n", "`score` is ``"),
            ("Checking\tvet\t1\n", "`lu` is `vet`, expected a lemma"),
        ] {
            let error = read(lines).unwrap_err();
            assert!(error.contains(message), "{lines}: {error}");
        }
    }

    #[test]
    fn a_list_of_substitutes_is_read_and_a_wrong_line_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("mine.tsv");
        let read = |lines: &str| {
            std::fs::write(&path, lines).unwrap();
            open_ranked_substitutes(&path).map_err(|error| error.to_string())
        };
        let list = read("# mine\nt:1\tgo by\t-2.5\n").unwrap();
        assert_eq!((list[0].substitute.as_str(), list[0].line), ("go by", 2));
        for (lines, message) in [
            ("t:1\tgo\n", "mine.tsv:1: `number of columns` is `2`"),
            ("t:1\t \t1\n", "mine.tsv:1: `substitute` is ``, expected a word"),
            ("t:1\tgo\tNaN\n", "mine.tsv:1: `score` is `NaN`, expected a number"),
        ] {
            let error = read(lines).unwrap_err();
            assert!(error.contains(message), "{lines}: {error}");
        }
    }
}
