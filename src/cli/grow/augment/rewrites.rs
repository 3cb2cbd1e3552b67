//! The rewriter of `fnstore augment`: every request once, and what it gave kept in a file.

use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, bail};
use fnstore::compute::Numbers;
use fnstore::paraphrase::{Constraints, Crew, Request, RequestOutcome, Settings};
use fnstore::text::input::Lines;
use serde::{Deserialize, Serialize};

use crate::cli::print::output::{counted, counted_are, grouped, tell};
use crate::cli::print::progress;

/// Longest line of the file in bytes.
const LINE_LIMIT: usize = 64 << 20;

/// Requests that are rewritten between two writes to the file.
const BATCH: usize = 512;

/// A rewriting of a sentence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Text {
    pub(super) text: String,
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
    rewritings: Vec<Text>,
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
#[derive(Debug, Default)]
struct Report {
    requests: u64,
    banned: u64,
    required: u64,
    met: u64,
    /// Bans of a word that is also required: what is required wins.
    lifted: u64,
    without: u64,
}

/// A rewriter that remembers.
pub(super) struct Rewriter {
    crew: Crew,
    settings: Settings,
    by: By,
    known: HashMap<Key, Vec<Text>>,
    file: Option<File>,
    report: Report,
}

impl Rewriter {
    pub(super) fn new(
        crew: Crew,
        settings: Settings,
        numbers: Numbers,
        file: Option<&Path>,
    ) -> anyhow::Result<Self> {
        let member = crew.member();
        let adapter = member.adapter_fingerprint().map(|print| format!("+{print}"));
        let by = By {
            rewriter: format!("{}{}", member.fingerprint(), adapter.unwrap_or_default()),
            beam: settings.beam.beam_size,
            n_best: settings.beam.n_best,
            numbers: numbers.to_string(),
        };
        let (mut known, mut kept) = (HashMap::new(), None);
        if let Some(path) = file {
            if path.exists() {
                let others;
                (known, others) = read(path, &by)?;
                tell(&format!("{} known", counted_are(known.len() as u64, "rewriting")));
                if others > 0 {
                    tell(&format!(
                        "{} more are of another rewriter, beam or kind of numbers, and are left alone",
                        grouped(others)
                    ));
                }
            }
            let file = OpenOptions::new().create(true).append(true).open(path);
            kept = Some(file.with_context(|| format!("cannot write to `{}`", path.display()))?);
        }
        Ok(Self { crew, settings, by, known, file: kept, report: Report::default() })
    }

    /// The rewritings of each sentence, best first; none where it cannot be rewritten or nothing is
    /// left to say.
    pub(super) fn rewrite(&mut self, requests: &[Request]) -> anyhow::Result<Vec<Vec<Text>>> {
        let mut new: Vec<&Request> = Vec::new();
        let mut asked = HashSet::new();
        for request in requests {
            let key = key_of(request);
            if !self.known.contains_key(&key) && asked.insert(key) {
                new.push(request);
            }
        }
        let bar = progress::bar("rewriting", "sentences");
        bar.set_length(new.len() as u64);
        for batch in new.chunks(BATCH) {
            let batch: Vec<Request> = batch.iter().map(|request| (*request).clone()).collect();
            let outcomes = self.crew.paraphrase(&batch, &self.settings)?;
            for (request, outcome) in batch.into_iter().zip(outcomes) {
                self.record(request, &outcome)?;
            }
            if let Some(file) = &mut self.file {
                file.flush()?;
            }
            bar.inc(BATCH as u64);
        }
        bar.finish_and_clear();
        Ok(requests.iter().map(|request| self.answer(request)).collect())
    }

    fn record(&mut self, request: Request, outcome: &RequestOutcome) -> anyhow::Result<()> {
        let rewritings: Vec<Text> = outcome
            .paraphrases()
            .iter()
            .map(|of| Text { text: of.text.clone(), unmet: of.unmet.clone() })
            .collect();
        let Request { text, constraints: Constraints { avoid, require, .. } } = request;
        let kept = RecordedAnswer { text, avoid, require, rewritings, by: self.by.clone() };
        if let Some(file) = &mut self.file {
            writeln!(file, "{}", serde_json::to_string(&kept)?)?;
        }
        self.known.insert((kept.text, kept.avoid, kept.require), kept.rewritings);
        Ok(())
    }

    fn answer(&mut self, request: &Request) -> Vec<Text> {
        let rewritings = self.known.get(&key_of(request)).cloned().unwrap_or_default();
        let Constraints { avoid, require, .. } = &request.constraints;
        let report = &mut self.report;
        report.requests += 1;
        report.banned += avoid.len() as u64;
        report.required += require.len() as u64;
        match rewritings.first() {
            Some(best) => report.met += (require.len() - best.unmet.len()) as u64,
            None => report.without += 1,
        }
        let holds = |phrase: &str, word: &str| {
            fnstore::text::words(phrase)
                .iter()
                .filter_map(|span| span.of(phrase))
                .any(|part| fnstore::text::fold(part) == fnstore::text::fold(word))
        };
        let is_lifted = |word: &&String| require.iter().flatten().any(|phrase| holds(phrase, word));
        report.lifted += avoid.iter().filter(is_lifted).count() as u64;
        rewritings
    }

    /// Says what was asked, met and lifted.
    pub(super) fn tell(&self) {
        let Report { requests, banned, required, met, lifted, without } = self.report;
        tell(&format!(
            "asked for {}, {} came to nothing; words banned {}, lifted {}; phrases required {}, met {}",
            counted(requests, "rewriting"),
            grouped(without),
            grouped(banned),
            grouped(lifted),
            grouped(required),
            grouped(met)
        ));
    }
}

fn key_of(Request { text, constraints }: &Request) -> Key {
    (text.clone(), constraints.avoid.clone(), constraints.require.clone())
}

/// The rewritings of a file that were made so, and the number of others.
fn read(path: &Path, by: &By) -> anyhow::Result<(HashMap<Key, Vec<Text>>, u64)> {
    let open = || format!("cannot read rewritings from `{}`", path.display());
    let mut lines = Lines::open(path, LINE_LIMIT).with_context(open)?;
    let (mut known, mut others) = (HashMap::new(), 0);
    while lines.advance().with_context(open)? {
        let number = lines.number();
        let line = lines.readable().with_context(open)?;
        match serde_json::from_str::<RecordedAnswer>(line) {
            Ok(kept) if kept.by == *by => {
                known.insert((kept.text, kept.avoid, kept.require), kept.rewritings);
            }
            Ok(_) => others += 1,
            Err(error) => {
                bail!(
                    "cannot use `{}` line {number}: {error}; expected what `--rewrites` wrote; \
                     if a run was cut short there, take the line out",
                    path.display()
                )
            }
        }
    }
    Ok((known, others))
}
