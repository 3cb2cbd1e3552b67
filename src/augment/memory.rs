//! A rewriter that remembers: every request once, and what it gave kept in a file.

use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::engine::Numbers;
use crate::model::coded;
use crate::paraphrase::{Constraints, Crew, ParaphraseError, Request, RequestOutcome, Settings};
use crate::text::input::Lines;
use crate::text::{fold, words};

/// Longest line of the file in bytes.
const LINE_LIMIT: usize = 64 << 20;

/// Requests that are rewritten between two writes to the file, unless a caller wants another
/// number: it decides no result.
const BATCH: usize = 512;

/// A rewriting that cannot be made, or not be kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AugmentError {
    /// The rewriter failed.
    #[error(transparent)]
    Paraphrase(#[from] ParaphraseError),
    /// The file of rewritings cannot be read.
    #[error("cannot read rewritings from `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: std::io::Error,
    },
    /// The file of rewritings cannot be written.
    #[error("cannot write to `{}`", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A line of it is none.
    #[error(
        "cannot use `{}` line {line}: {reason}; expected a rewriting that was kept there; if a run was \
         cut short, take the line out",
        path.display()
    )]
    Line {
        /// The file.
        path: PathBuf,
        /// Its line, from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
}

coded!(AugmentError {
    Self::Paraphrase(error) => error.trouble(),
    Self::Read { source, .. } | Self::Write { source, .. } => source.trouble(),
});

type Result<T> = std::result::Result<T, AugmentError>;

/// A rewriting of a sentence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RewrittenText {
    /// The new sentence.
    pub text: String,
    /// What it lacks of what is required, as places among that.
    #[serde(default)]
    unmet: Vec<usize>,
}

/// A request and what became of it: a line of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct RecordedAnswer {
    text: String,
    #[serde(default)]
    avoid: Vec<String>,
    #[serde(default)]
    require: Vec<Vec<String>>,
    rewritings: Vec<RewrittenText>,
    /// What made it.
    by: By,
}

/// What decides a rewriting besides the request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct By {
    /// Fingerprints of the rewriter, and of its adapter where it has one.
    rewriter: String,
    /// Hypotheses kept by the search.
    beam: usize,
    /// Number of outputs that were asked for.
    n_best: usize,
    /// Numbers that the network computed in.
    numbers: String,
}

/// What identifies a request.
type Key = (String, Vec<String>, Vec<Vec<String>>);

/// What was asked over all, and what was met.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RewriteTally {
    /// Rewritings that were asked for.
    pub requests: u64,
    /// Words that were banned.
    pub banned: u64,
    /// Phrases that were required.
    pub required: u64,
    /// Those of them that the best rewritings have.
    pub met: u64,
    /// Bans of a word that is also required: what is required wins.
    pub lifted: u64,
    /// Requests that came to nothing.
    pub without: u64,
}

/// A rewriter that remembers.
pub struct RememberingRewriter {
    crew: Crew,
    settings: Settings,
    by: By,
    known: HashMap<Key, Vec<RewrittenText>>,
    file: Option<(PathBuf, File)>,
    /// Rewritings of the file that were made so, and others.
    found: (u64, u64),
    tally: RewriteTally,
    batch: usize,
}

impl RememberingRewriter {
    /// One that keeps what it writes in a file, where one is named, and takes what that has.
    ///
    /// # Errors
    /// When the file is of something else, or cannot be written.
    pub fn new(
        crew: Crew,
        settings: Settings,
        numbers: Numbers,
        file: Option<&Path>,
    ) -> Result<Self> {
        let member = crew.member();
        let adapter = member.adapter_fingerprint().map(|print| format!("+{print}"));
        let by = By {
            rewriter: format!("{}{}", member.fingerprint(), adapter.unwrap_or_default()),
            beam: settings.beam.beam_size,
            n_best: settings.beam.n_best,
            numbers: numbers.to_string(),
        };
        let (mut known, mut others, mut kept) = (HashMap::new(), 0, None);
        if let Some(path) = file {
            if path.exists() {
                (known, others) = read(path, &by)?;
            }
            let file = OpenOptions::new().create(true).append(true).open(path);
            let unwritable = |source| AugmentError::Write { path: path.to_owned(), source };
            kept = Some((path.to_owned(), file.map_err(unwritable)?));
        }
        let (found, tally) = ((known.len() as u64, others), RewriteTally::default());
        Ok(Self { crew, settings, by, known, file: kept, found, tally, batch: BATCH })
    }

    /// The same rewriter, which rewrites at most so many requests together, and looks between two
    /// such batches whether to go on.
    #[must_use]
    pub fn in_batches_of(mut self, requests: usize) -> Self {
        self.batch = requests.max(1);
        self
    }

    /// How many rewritings the file had that were made so, and how many of another rewriter, beam
    /// or kind of numbers, which are left alone.
    #[must_use]
    pub fn found(&self) -> (u64, u64) {
        self.found
    }

    /// What was asked so far, and what was met.
    #[must_use]
    pub fn tally(&self) -> RewriteTally {
        self.tally
    }

    /// The rewritings of each sentence, best first; none where it cannot be rewritten or nothing is
    /// left to say. `progress` is told how many of the new requests are done; where it answers
    /// `Break`, what was rewritten by then is kept, and there is no answer.
    ///
    /// # Errors
    /// When the rewriter fails, or the file cannot be written.
    pub fn rewrite(
        &mut self,
        requests: &[Request],
        progress: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
    ) -> Result<Option<Vec<Vec<RewrittenText>>>> {
        let mut new: Vec<&Request> = Vec::new();
        let mut asked = HashSet::new();
        for request in requests {
            let key = key_of(request);
            if !self.known.contains_key(&key) && asked.insert(key) {
                new.push(request);
            }
        }
        let (mut done, of) = (0, new.len() as u64);
        if progress(done, of).is_break() {
            return Ok(None);
        }
        for batch in new.chunks(self.batch) {
            let batch: Vec<Request> = batch.iter().map(|request| (*request).clone()).collect();
            let outcomes = self.crew.paraphrase(&batch, &self.settings)?;
            done += batch.len() as u64;
            for (request, outcome) in batch.into_iter().zip(outcomes) {
                self.record(request, &outcome)?;
            }
            if let Some((path, file)) = &mut self.file {
                file.flush()
                    .map_err(|source| AugmentError::Write { path: path.clone(), source })?;
            }
            if progress(done, of).is_break() {
                return Ok(None);
            }
        }
        Ok(Some(requests.iter().map(|request| self.answer(request)).collect()))
    }

    fn record(&mut self, request: Request, outcome: &RequestOutcome) -> Result<()> {
        let rewritings: Vec<RewrittenText> = outcome
            .paraphrases()
            .iter()
            .map(|of| RewrittenText { text: of.text.clone(), unmet: of.unmet.clone() })
            .collect();
        let Request { text, constraints: Constraints { avoid, require, .. } } = request;
        let kept = RecordedAnswer { text, avoid, require, rewritings, by: self.by.clone() };
        if let Some((path, file)) = &mut self.file {
            let unwritable = |source| AugmentError::Write { path: path.clone(), source };
            let line = serde_json::to_string(&kept).map_err(|error| unwritable(error.into()))?;
            writeln!(file, "{line}").map_err(unwritable)?;
        }
        self.known.insert((kept.text, kept.avoid, kept.require), kept.rewritings);
        Ok(())
    }

    fn answer(&mut self, request: &Request) -> Vec<RewrittenText> {
        let rewritings = self.known.get(&key_of(request)).cloned().unwrap_or_default();
        let Constraints { avoid, require, .. } = &request.constraints;
        let tally = &mut self.tally;
        tally.requests += 1;
        tally.banned += avoid.len() as u64;
        tally.required += require.len() as u64;
        match rewritings.first() {
            Some(best) => tally.met += (require.len() - best.unmet.len()) as u64,
            None => tally.without += 1,
        }
        let holds = |phrase: &str, word: &str| {
            let parts = words(phrase).into_iter().filter_map(|span| span.of(phrase));
            parts.map(fold).any(|part| part == fold(word))
        };
        let is_lifted = |word: &&String| require.iter().flatten().any(|phrase| holds(phrase, word));
        tally.lifted += avoid.iter().filter(is_lifted).count() as u64;
        rewritings
    }
}

fn key_of(Request { text, constraints }: &Request) -> Key {
    (text.clone(), constraints.avoid.clone(), constraints.require.clone())
}

/// The rewritings of a file that were made so, and the number of others.
fn read(path: &Path, by: &By) -> Result<(HashMap<Key, Vec<RewrittenText>>, u64)> {
    let unreadable = |source: std::io::Error| AugmentError::Read { path: path.to_owned(), source };
    let mut lines = Lines::open(path, LINE_LIMIT).map_err(unreadable)?;
    let (mut known, mut others) = (HashMap::new(), 0);
    while lines.advance().map_err(unreadable)? {
        let number = lines.number();
        let line = lines.readable().map_err(|bad| unreadable(std::io::Error::other(bad)))?;
        match serde_json::from_str::<RecordedAnswer>(line) {
            Ok(kept) if kept.by == *by => {
                known.insert((kept.text, kept.avoid, kept.require), kept.rewritings);
            }
            Ok(_) => others += 1,
            Err(error) => {
                let (path, reason) = (path.to_owned(), error.to_string());
                return Err(AugmentError::Line { path, line: number, reason });
            }
        }
    }
    Ok((known, others))
}
