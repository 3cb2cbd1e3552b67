//! Changes as the JSON records that programs read: a commit's number, time and author, names and
//! records beside what the change itself says.

use std::collections::HashMap;

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::record::RecordLines;
use crate::database::{Database, Result};
use crate::model::{FrameId, Hex16, LuId, Positive, ReleaseId, SentenceId};
use crate::store::{Action, Change, Commit, Identity, SubjectKind};

/// A change as JSON; see `schema/change.schema.json`.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ChangeRecord {
    /// Number of the commit.
    pub revision: Positive,
    /// Id of the store, which backups keep.
    pub store: Option<String>,
    /// Name of the release; its number if it was removed since.
    pub release: String,
    /// Number of the release, which is never given again.
    pub release_id: u16,
    /// What was done.
    pub action: Action,
    /// What it is; a release stands for everything that came with it, the set of a bulk write for
    /// its sentence, too.
    pub kind: SubjectKind,
    /// Its id. Of a document the corpus's and its own, of a judgement and a verification the set's,
    /// of a decision the LU's name, of an edition or a release its name (of a release that was
    /// removed since its number).
    pub id: String,
    /// Frame of an LU, a set or a decision.
    pub frame: Option<FrameId>,
    /// LU of a set.
    pub lu: Option<LuId>,
    /// Sentence of a set or of layers.
    pub sentence: Option<SentenceId>,
    /// Whose judgement it is.
    pub reviewer: Option<String>,
    /// The question that a judgement answers; null for that of the frame.
    pub question: Option<String>,
    /// When it was committed, in seconds since 1970 (UTC).
    pub at: Option<u64>,
    /// Who committed it, if anybody said so.
    pub by: Option<String>,
    /// Why, if anybody said so.
    pub note: Option<String>,
    /// Whether it is the last record of its commit: what came of the commit is whole. Only then is
    /// the revision one to remember.
    pub last: bool,
    /// Generation of the store, which a restore changes; null where no writer has given it one.
    pub generation: Option<Hex16>,
    /// Where records are asked for: the record as it is now, in the form of JSON lines
    /// (`schema/exchange.md`); null where it is gone, and for a release.
    #[serde(serialize_with = "line")]
    pub record: Option<String>,
    /// The sentence of a set, likewise.
    #[serde(serialize_with = "line")]
    pub sentence_record: Option<String>,
    /// The change itself, which is no part of the JSON.
    #[serde(skip)]
    pub change: Change,
}

/// Writes a line of JSON as what it says. JSON `{}`.
fn line<S: Serializer>(line: &Option<String>, to: S) -> std::result::Result<S::Ok, S::Error> {
    let read = line.as_deref().map(serde_json::from_str::<Value>).transpose();
    read.map_err(serde::ser::Error::custom)?.serialize(to)
}

impl Database {
    /// Changes as the records that the program prints: with the release's name, with who committed
    /// when and why, and with the records as they are when they are asked for, if these are wanted.
    /// Take them from [`changes`](Self::changes), as JSON by [`Serialize`].
    ///
    /// # Errors
    /// When the store fails.
    ///
    /// ```
    /// # use fnstore::{Database, transfer::ImportOptions};
    /// # let dir = tempfile::tempdir()?;
    /// # let mini = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mini-framenet");
    /// # Database::open_writer(dir.path())?.import(mini.as_ref(), &ImportOptions::default(), &mut |_| {})?;
    /// let reader = Database::open(dir.path())?;
    /// for record in reader.change_records(reader.changes(0)?, true)? {
    ///     println!("{}", serde_json::to_string(&record?)?);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn change_records<'a>(
        &'a self,
        changes: impl Iterator<Item = Result<Change>> + 'a,
        with_records: bool,
    ) -> Result<impl Iterator<Item = Result<ChangeRecord>> + 'a> {
        let releases = self.releases()?.into_iter();
        let mut teller = Teller {
            database: self,
            names: releases.map(|release| (release.id, release.name)).collect(),
            identity: self.identity()?,
            lines: with_records.then(|| self.record_lines()).transpose()?,
            made: None,
        };
        Ok(changes.map(move |change| teller.record(change?)))
    }
}

/// What records of changes say beside the changes.
struct Teller<'a> {
    database: &'a Database,
    names: HashMap<ReleaseId, String>,
    identity: Option<Identity>,
    lines: Option<RecordLines<'a>>,
    /// The commit that was asked about last.
    made: Option<Commit>,
}

impl Teller<'_> {
    fn record(&mut self, change: Change) -> Result<ChangeRecord> {
        let Change { revision, release, action, is_last, .. } = change;
        if self.made.as_ref().is_none_or(|made| made.revision != revision) {
            self.made = self.database.commit_made(revision)?;
        }
        let (made, identity) = (self.made.as_ref(), self.identity.as_ref());
        let told = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        let name = self.names.get(&release).cloned().unwrap_or_else(|| release.to_string());
        let subject = &change.subject;
        let [record, sentence_record] = match &mut self.lines {
            Some(lines) if action != Action::Removed => {
                [lines.line(release, subject)?, lines.sentence_of(release, subject)?]
            }
            _ => [None, None],
        };
        Ok(ChangeRecord {
            revision,
            store: identity.map(|identity| identity.id.clone()),
            release_id: release.0,
            action,
            kind: subject.kind(),
            id: subject.id().unwrap_or_else(|| name.clone()),
            release: name,
            frame: subject.frame(),
            lu: subject.lexunit(),
            sentence: subject.sentence(),
            reviewer: subject.reviewer().map(str::to_owned),
            question: subject.question().map(str::to_owned),
            at: made.map(|made| made.at),
            by: made.and_then(|made| told(&made.by)),
            note: made.and_then(|made| told(&made.note)),
            last: is_last,
            generation: identity.map(|identity| identity.generation.clone()),
            record,
            sentence_record,
            change,
        })
    }
}
