//! Keeps a copy of a fnstore database in a file, and goes on where it was stopped.
//!
//! ```text
//! cargo run --release --example follow -- STORE COPY [MILLISECONDS]
//! ```
//!
//! It ends when nothing comes for so long; 0 looks once. `c/examples/follow.c` says what is in the
//! copy: both write the same.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use fnstore::Error;
use fnstore::database::{Action, Database, Subject};
use fnstore::model::{ErrorKind, ReleaseId};
use fnstore::transfer::RecordLines;

type Result<T> = std::result::Result<T, Error>;

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

/// Takes what is new. A commit's end is written when all of it is.
fn take(copy: &mut impl Write, database: &Database, since: &mut u64) -> Result<()> {
    // A store that no writer has opened for long has no generation.
    let generation = database.identity()?.map_or("-".to_owned(), |it| it.generation);
    let mut lines = database.record_lines()?;
    for change in database.changes(*since)? {
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
    Ok(())
}

/// Whether the store is still the one that a copy is of.
fn is_same(database: &Database, known: Option<&str>) -> Result<bool> {
    let Some(known) = known.filter(|known| *known != "-") else { return Ok(true) };
    match database.require_generation(known).map_err(Error::from) {
        Err(error) if error.kind() == ErrorKind::Replaced => Ok(false),
        checked => checked.map(|()| true),
    }
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [store, place, rest @ ..] = arguments.as_slice() else {
        return Err("follow STORE COPY [MILLISECONDS]".into());
    };
    let patience = Duration::from_millis(rest.first().map_or(Ok(0), |text| text.parse())?);
    let mut database = Database::open(Path::new(store))?;
    let kept = match fs::read(place) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        read => read?,
    };
    // What stands behind the end of the last commit is cut off; it may end within a letter.
    let kept = String::from_utf8_lossy(&kept);
    let end =
        kept.rfind("\n=\t").and_then(|at| Some(at + 2 + kept[at + 1..].find('\n')?)).unwrap_or(0);
    let mut last = kept[..end].lines().last().unwrap_or_default().split('\t').skip(1);
    let mut since: u64 = last.next().map_or(Ok(0), str::parse)?;
    let is_same = is_same(&database, last.next())?;
    let mut copy = OpenOptions::new().append(true).create(true).open(place)?;
    copy.set_len(if is_same { end as u64 } else { 0 })?;
    since = if is_same { since } else { 0 };
    loop {
        let waited = database.wait_for_changes(since, patience).map_err(Error::from);
        let taken = waited.and_then(|is_new| match is_new {
            true => take(&mut copy, &database, &mut since).map(|()| true),
            false => Ok(false),
        });
        match taken {
            Ok(true) => {}
            Ok(false) => return Ok(()),
            // A restore: the store is read anew.
            Err(error) if error.kind() == ErrorKind::Replaced => {
                (database, since) = (Database::open(Path::new(store))?, 0);
                copy.set_len(0)?;
            }
            Err(error) => return Err(error.into()),
        }
    }
}
