//! Keeps a copy of a fnstore database in a file, and goes on where it was stopped.
//!
//! ```text
//! cargo run --release --example follow -- STORE COPY [MILLISECONDS]
//! ```
//!
//! It ends when nothing comes for so long; 0 looks once. `c/examples/follow.c` says what is in the
//! copy: both write the same.

use std::error::Error;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use fnstore::database::Database;
use fnstore::model::{Coded as _, ErrorKind, ReleaseId};
use fnstore::store::{Action, Subject};
use fnstore::transfer::RecordLines;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn put(
    copy: &mut impl Write,
    lines: &mut RecordLines<'_>,
    (release, subject): (ReleaseId, &Subject),
) -> Result<()> {
    match lines.line(release, subject)? {
        Some(record) => writeln!(copy, "+\t{}\t{record}", RecordLines::key(release, subject))?,
        None => writeln!(copy, "-\t{}", RecordLines::key(release, subject))?,
    }
    if let (Some(record), Some(id)) = (lines.sentence_of(release, subject)?, subject.sentence()) {
        writeln!(copy, "+\t{}\t{record}", RecordLines::key(release, &Subject::Sentence(id)))?;
    }
    Ok(())
}

/// Takes what is new; says whether there was anything.
fn take(copy: &mut impl Write, database: &Database, since: &mut u64) -> Result<bool> {
    let generation = database.identity()?.ok_or("the store has no identity")?.generation;
    let (mut lines, begun) = (database.record_lines()?, *since);
    for change in database.changes(begun)? {
        let change = change?;
        let is_named = matches!(change.subject, Subject::Frame(_) | Subject::LexUnit(..));
        // An import is one change. An edited frame or LU may be called otherwise in many records.
        if change.subject == Subject::Release || is_named && change.action == Action::Edited {
            lines = database.record_lines()?;
            writeln!(copy, "!\t{}", change.release)?;
            if database.releases()?.iter().any(|of| of.id == change.release) {
                for subject in database.subjects(change.release)? {
                    put(copy, &mut lines, (change.release, &subject?))?;
                }
            }
        } else {
            put(copy, &mut lines, (change.release, &change.subject))?;
        }
        if change.is_last {
            writeln!(copy, "=\t{}\t{generation}", change.revision)?;
            copy.flush()?;
            *since = change.revision;
        }
    }
    Ok(*since > begun)
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [store, place, rest @ ..] = arguments.as_slice() else {
        return Err("follow STORE COPY [MILLISECONDS]".into());
    };
    let patience = Duration::from_millis(rest.first().map_or(Ok(0), |text| text.parse())?);
    let mut database = Database::open(Path::new(store))?;
    // What stands behind the end of the last commit is cut off.
    let kept = fs::read_to_string(place).unwrap_or_default();
    let end =
        kept.rfind("\n=\t").and_then(|at| Some(at + 2 + kept[at + 1..].find('\n')?)).unwrap_or(0);
    let mut last = kept[..end].lines().last().unwrap_or_default().split('\t').skip(1);
    let mut since: u64 = last.next().map_or(Ok(0), str::parse)?;
    let is_same = last.next().is_none_or(|known| database.require_generation(known).is_ok());
    let mut copy = OpenOptions::new().append(true).create(true).open(place)?;
    copy.set_len(if is_same { end as u64 } else { 0 })?;
    since = if is_same { since } else { 0 };
    loop {
        match database.wait_for_changes(since, patience) {
            Ok(false) => return Ok(()),
            Ok(true) => drop(take(&mut copy, &database, &mut since)?),
            // A restore: the store is read anew.
            Err(error) if error.kind() == ErrorKind::Replaced => {
                (database, since) = (Database::open(Path::new(store))?, 0);
                copy.set_len(0)?;
            }
            Err(error) => return Err(error.into()),
        }
    }
}
