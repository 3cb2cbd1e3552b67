//! What a system proposes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::super::{Key, Result, key_of};
use crate::exchange::{ExchangeError, FaultCode, RankedLu, open_ranked_lus};
use crate::lexicon::Lexicon;

/// LUs that a system proposes, with their scores.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answers {
    /// The LUs, in the order in which it says them.
    pub lus: Vec<RankedLu>,
}

impl Answers {
    /// Answers of frames, LUs and scores.
    pub fn new<'a>(lus: impl IntoIterator<Item = (&'a str, &'a str, f64)>) -> Self {
        let ranked = |(frame, lu, score): (&str, &str, f64)| RankedLu {
            frame: frame.to_owned(),
            lu: lu.to_owned(),
            score,
            line: 0,
        };
        Self { lus: lus.into_iter().map(ranked).collect() }
    }

    /// The answers of a file: lines of a frame's and an LU's name and a score, parted by tabs;
    /// those that begin with `#` are remarks.
    ///
    /// # Errors
    /// When the file cannot be read, a line is none of these, names a frame that the release lacks,
    /// or says what an earlier line says, or there is no line.
    pub fn read(path: &Path, lexicon: &Lexicon<'_>) -> Result<Self> {
        let lus = open_ranked_lus(path)?;
        let mut frames = BTreeSet::new();
        for row in lexicon.frame_names()? {
            frames.insert(row?.1);
        }
        let mut said: BTreeMap<(&str, Key), usize> = BTreeMap::new();
        for of in &lus {
            let fault = |code, field: &str, found: &str, expected: String| ExchangeError::Field {
                code,
                file: path.display().to_string(),
                line: of.line,
                field: field.to_owned(),
                found: found.to_owned(),
                expected,
            };
            if !frames.contains(&of.frame) {
                let expected = format!("a frame of `{}`", lexicon.release().name);
                return Err(fault(FaultCode::Missing, "frame", &of.frame, expected).into());
            }
            if let Some(line) = said.insert((&of.frame, key_of(&of.lu)), of.line) {
                let expected = format!("each LU of `{}` once; line {line} has it", of.frame);
                return Err(fault(FaultCode::Repeated, "lu", &of.lu, expected).into());
            }
        }
        Ok(Self { lus })
    }
}
