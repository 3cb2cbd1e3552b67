//! Judged outputs: what a filter is trained and measured on.
//!
//! One JSON object per line, as `fnstore export --to filter-data` writes them:
//!
//! ```text
//! {"release": "bfn-1.5", "set": "g42", "seed": "x7", "sentence": "x9", "round": 2, "paraphrase": 0.61,
//!  "aligner": 0.97, "proposed": false, "frames": 2, "judgements": [80, 100]}
//! ```

use std::collections::HashSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::error::FilterError;
use super::evidence::FilterEvidence;
use crate::learn::read_lines;
use crate::model::Judgement;

/// Least mean judgement of an output that is acceptable (Culkin et al. 2021, section 6.1).
const ACCEPTABLE: f64 = 50.0;

/// A generated set with what a filter looks at and what people say of it.
///
/// ```
/// use fnstore::filter::Judged;
///
/// let line = r#"{"release": "bfn-1.5", "set": "g42", "seed": "x7", "sentence": "x9", "round": 2,
///                "paraphrase": 0.61, "aligner": 0.97, "proposed": false, "frames": 2, "judgements": [20, 100]}"#;
/// let output: Judged = serde_json::from_str(line)?;
/// assert_eq!(output.is_acceptable(), Some(true));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// The release that the sets belong to.
    pub release: String,
    /// The set.
    pub set: String,
    /// The human set that its chain of rounds started from.
    pub seed: String,
    /// The seed's sentence: outputs of one sentence are not independent.
    pub sentence: String,
    /// What a filter looks at.
    #[serde(flatten)]
    pub evidence: FilterEvidence,
    /// Scores that people gave it, 0 to 100; none where nobody has judged it.
    pub judgements: Vec<u8>,
    /// Scores that people gave to whether it says what its source says, 0 to 100.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub meaning_judgements: Vec<u8>,
}

impl Judged {
    /// Reads a JSON Lines file.
    ///
    /// # Errors
    /// When the file cannot be read, a line is no such object or has a number out of range, or a
    /// set stands there twice (naming the line).
    pub fn read(path: &Path) -> Result<Vec<Self>, FilterError> {
        Self::read_all(&[path])
    }

    /// Reads several files, none of which has a set of another.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_all(paths: &[impl AsRef<Path>]) -> Result<Vec<Self>, FilterError> {
        let (mut sets, mut all) = (HashSet::new(), Vec::new());
        for path in paths {
            let outputs = read_lines(path.as_ref(), "read judged outputs", |line| {
                let output = Self::parse(line)?;
                if !sets.insert((output.release.clone(), output.set.clone())) {
                    return Err((format!("`set` `{}` again", output.set), "each set once"));
                }
                Ok(output)
            })?;
            all.extend(outputs.into_iter().map(|(_, output)| output));
        }
        Ok(all)
    }

    fn parse(line: &str) -> Result<Self, (String, &'static str)> {
        let output: Self = serde_json::from_str(line)
            .map_err(|e| (e.to_string(), "an object as in schema/filter-data.schema.json"))?;
        let FilterEvidence { round, paraphrase, aligner, .. } = output.evidence;
        if round == 0 {
            return Err(("`round` 0".to_owned(), "1 or more"));
        }
        if !paraphrase.is_finite() {
            return Err((format!("`paraphrase` {paraphrase}"), "a number of 32 bits"));
        }
        if !(0.0..=1.0).contains(&aligner) {
            return Err((format!("`aligner` {aligner}"), "a number from 0 to 1"));
        }
        let FilterEvidence { frame_fit, evokes, same_meaning, reverse, .. } = output.evidence;
        let shares = [(frame_fit, "frame_fit"), (evokes, "evokes"), (same_meaning, "same_meaning")];
        for (share, name) in shares {
            if let Some(share) = share.filter(|share| !(0.0..=1.0).contains(share)) {
                return Err((format!("`{name}` {share}"), "a number from 0 to 1"));
            }
        }
        let tokens = output.evidence.reverse_tokens;
        if reverse.is_some() != tokens.is_some() || tokens == Some(0) {
            let found = format!("`reverse` {reverse:?} beside `reverse_tokens` {tokens:?}");
            return Err((found, "both or neither, and 1 token or more"));
        }
        if let Some(reverse) = reverse.filter(|reverse| !(*reverse >= 0.0 && reverse.is_finite())) {
            return Err((format!("`reverse` {reverse}"), "a number from 0"));
        }
        let lists = [
            (&output.judgements, "judgements"),
            (&output.meaning_judgements, "meaning_judgements"),
        ];
        for (scores, name) in lists {
            if let Some(score) = scores.iter().find(|score| **score > Judgement::BEST) {
                return Err((format!("{score} in `{name}`"), "scores from 0 to 100"));
            }
        }
        Ok(output)
    }

    /// Whether somebody has judged it.
    #[must_use]
    pub fn is_judged(&self) -> bool {
        !self.judgements.is_empty()
    }

    /// Whether people accept it: their mean is 50 or more. None where nobody has judged it.
    #[must_use]
    pub fn is_acceptable(&self) -> Option<bool> {
        is_accepted(&self.judgements)
    }

    /// Whether people accept it, and also that it says what its source says. None where nobody has
    /// judged the first, or nobody the second of an acceptable output.
    #[must_use]
    pub fn keeps_meaning(&self) -> Option<bool> {
        match self.is_acceptable()? {
            true => is_accepted(&self.meaning_judgements),
            false => Some(false),
        }
    }
}

fn is_accepted(scores: &[u8]) -> Option<bool> {
    let sum: u64 = scores.iter().map(|score| u64::from(*score)).sum();
    (!scores.is_empty()).then(|| sum as f64 / scores.len() as f64 >= ACCEPTABLE)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"release":"r","set":"g1","seed":"x1","sentence":"x2","round":1,"paraphrase":0.5,"aligner":0.9,"proposed":true,"frames":2,"judgements":[49]}"#;

    fn read(text: &str) -> Result<Vec<Judged>, FilterError> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        Judged::read(file.path())
    }

    #[test]
    fn lines_are_read_as_they_are_written() {
        let [output] = &read(&format!("\n{LINE}\n")).unwrap()[..] else { panic!() };
        assert!(output.evidence.proposed);
        assert_eq!(serde_json::to_string(output).unwrap(), LINE);
    }

    #[test]
    fn an_output_is_acceptable_from_a_mean_of_50_on() {
        let of = |judgements: &[u8]| {
            let mut output: Judged = serde_json::from_str(LINE).unwrap();
            output.judgements = judgements.to_vec();
            output.is_acceptable()
        };
        assert_eq!([of(&[]), of(&[49]), of(&[50])], [None, Some(false), Some(true)]);
        assert_eq!([of(&[0, 100]), of(&[0, 99])], [Some(true), Some(false)]);
        // Judges who agree count each.
        assert_eq!(of(&[0, 0, 100]), Some(false));
    }

    #[test]
    fn a_refused_output_keeps_no_meaning_and_an_accepted_one_is_asked_about() {
        let of = |judgements: &[u8], meaning: &[u8]| {
            let mut output: Judged = serde_json::from_str(LINE).unwrap();
            output.judgements = judgements.to_vec();
            output.meaning_judgements = meaning.to_vec();
            output.keeps_meaning()
        };
        assert_eq!([of(&[], &[100]), of(&[100], &[])], [None, None]);
        assert_eq!([of(&[0], &[100]), of(&[0], &[])], [Some(false); 2]);
        assert_eq!([of(&[100], &[49]), of(&[100], &[50])], [Some(false), Some(true)]);
    }

    #[test]
    fn wrong_lines_are_named_with_what_is_wrong() {
        for (old, new, said) in [
            ("\"round\":1", "\"round\":0", "`round` 0, expected 1 or more"),
            ("0.5", "1e99", "line 2"),
            ("0.9", "1.1", "`aligner` 1.1, expected a number from 0 to 1"),
            (
                "\"frames\":2",
                "\"frames\":2,\"frame_fit\":1.5",
                "`frame_fit` 1.5, expected a number from 0",
            ),
            ("[49]", "[49],\"evokes\":-0.5", "`evokes` -0.5, expected a number from 0 to 1"),
            ("[49]", "[49],\"same_meaning\":2", "`same_meaning` 2, expected a number from 0"),
            (
                "[49]",
                "[49],\"reverse\":-1,\"reverse_tokens\":9",
                "`reverse` -1, expected a number from 0",
            ),
            ("[49]", "[49],\"reverse\":1", "expected both or neither, and 1 token or more"),
            ("[49]", "[49],\"reverse_tokens\":9", "expected both or neither"),
            ("[49]", "[49],\"reverse\":1,\"reverse_tokens\":0", "expected both or neither"),
            ("[49]", "[101]", "101 in `judgements`"),
            ("[49]", "[49],\"meaning_judgements\":[101]", "101 in `meaning_judgements`"),
            ("[49]", "[300]", "line 2"),
            ("\"proposed\":true,", "", "missing field `proposed`"),
            ("\"g1\"", "1", "expected an object as in"),
            ("{", "[", "line 2"),
        ] {
            let wrong = LINE.replacen(old, new, 1);
            let error = read(&format!("{}\n{wrong}\n", LINE.replace("g1", "g0"))).unwrap_err();
            assert!(error.to_string().contains("line 2"), "{new}: {error}");
            assert!(error.to_string().contains(said), "{new}: {error}");
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), LINE).unwrap();
        let twice = Judged::read_all(&[file.path(), file.path()]).unwrap_err().to_string();
        assert!(twice.contains("line 1: found `set` `g1` again"), "{twice}");
        let error = read(&format!("{LINE}\n{LINE}")).unwrap_err().to_string();
        assert!(error.contains("line 2: found `set` `g1` again"), "{error}");
        let error = Judged::read("/nowhere".as_ref()).unwrap_err().to_string();
        assert!(error.contains("cannot read judged outputs `/nowhere`"), "{error}");
    }
}
