//! Editions as data sets that others load: a directory with training records in three parts, the
//! same sets without loss, FrameNet's XML, and a card that says what they are.
//!
//! ```text
//! README.md            the card, with what `datasets` reads of it (card.rs)
//! data/PART.parquet    training records: a row for each sentence, with masks
//! jsonl/PART.jsonl     the same as JSON lines
//! edition.jsonl        the sets and all that they refer to, for `fnstore import`
//! framenet-xml/        FrameNet's own form
//! flagged.tsv          sets with words of the user's list
//! BLAKE3SUMS           of every file, as `b3sum --check` reads it
//! ```
//!
//! The parts are those of the split list that the query is read under. What belongs to none trains.
//! No sentence trains that stands in another part. A part without sentences has no file.

mod card;
mod error;

pub use error::PublishError;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::database::{Database, DatabaseError, EditError, ExportError};
use crate::durable::WholeDirectory;
use crate::exchange::{Spacing, TrainingFormat, WordTagger};
use crate::model::{Edition, Hex64, Positive, Release, ReleaseId, Split};
use crate::query::{Expression, Field, Term};
use crate::search::Answer;
use crate::text::{fold, words};
use crate::transfer::LossyExport;

type Result<T> = std::result::Result<T, PublishError>;

/// Checksums of all other files.
const SUMS: &str = "BLAKE3SUMS";

/// Sets whose words are on the user's list.
const FLAGGED: &str = "flagged.tsv";

/// What a data set is made of.
#[derive(Clone, Copy)]
pub struct Publishing<'a> {
    /// The release of the edition.
    pub release: &'a Release,
    /// The edition.
    pub edition: &'a Edition,
    /// Licence of the release, as `datasets` names it: `cc-by-4.0`. `None` takes that of Berkeley
    /// FrameNet, for its releases alone.
    pub licence: Option<&'a str>,
    /// Words that mark a sentence as sensitive.
    pub sensitive: Option<&'a BTreeSet<String>>,
    /// Tags words; without one records have no tags.
    pub tagger: Option<&'a dyn WordTagger>,
}

/// A data set that was written, as JSON; see `schema/published.schema.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Published {
    /// Name of the edition.
    pub edition: String,
    /// Where it lies.
    pub directory: PathBuf,
    /// Its parts: train, dev and test. One without sentences has no file.
    pub parts: Vec<PublishedPart>,
    /// Training sets that were left out because their sentences stand in another part.
    pub leaking: u64,
    /// Sets with words of the user's list; null without one.
    pub flagged: Option<u64>,
    /// Its licence.
    pub licence: String,
    /// Its files.
    pub files: Vec<PublishedFile>,
}

/// A part of a data set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PublishedPart {
    /// Its name.
    pub split: Split,
    /// Rows, one for each sentence.
    pub sentences: u64,
    /// Annotation sets in them, with those that were carried along.
    pub sets: u64,
}

/// A file of a data set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PublishedFile {
    /// Its path in the directory.
    pub path: String,
    /// Its size.
    pub bytes: Positive,
    /// BLAKE3 hash of its content.
    pub blake3: Hex64,
}

impl Database {
    /// Writes an edition as a data set into a directory that is not there, or is empty; it is there
    /// whole or not at all. Tells `progress` what is being written.
    ///
    /// # Errors
    /// When the edition holds nothing, or sets of it are gone or changed; when the licence is not
    /// known; when the directory holds something; when the store or the disk fails.
    pub fn publish(
        &self,
        directory: &Path,
        asked: &Publishing<'_>,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Published> {
        let licence = licence_of(asked)?;
        self.require_whole(asked)?;
        let target = |source| {
            DatabaseError::from(ExportError::Target { path: directory.to_owned(), source })
        };
        self.require_outside(directory).map_err(target)?;
        let whole = WholeDirectory::prepare_new(directory).map_err(target)?;
        let place = whole.place().to_owned();
        let mut published = None;
        whole.write(|root| {
            let files = Files { root };
            let mut writing = Writing { database: self, asked, files, progress };
            published = Some(writing.write(&place, &licence)?);
            Ok::<_, PublishError>(())
        })?;
        Ok(published.expect("a directory that was written"))
    }

    /// Refuses an edition that is empty, or that is no longer what it was.
    fn require_whole(&self, asked: &Publishing<'_>) -> Result<()> {
        let Publishing { release, edition, .. } = asked;
        let changes = self.edition_faults(release.id, edition)?;
        let refused = |expected: &str| {
            let error = EditError::value("edition", &edition.name, expected);
            Err(DatabaseError::from(error).into())
        };
        if edition.sets.is_empty() {
            return refused(
                "one that holds sets; a promise that no judgements keep yet gives it none",
            );
        }
        if !changes.is_intact() {
            return refused("one whose sets are as they were; some are gone or changed");
        }
        if self.has_rejected(release.id, edition)? {
            return refused("one without sets of LUs that people rejected; create it again");
        }
        let cut = self.cut_edition(release.id, (*edition).clone())?;
        if (&cut.sets, &cut.promise) != (&edition.sets, &edition.promise) {
            return refused("one that is cut where the judgements of now allow it");
        }
        Ok(())
    }
}

impl Database {
    /// Whether a set of an edition is of an LU that people rejected.
    fn has_rejected(&self, release: ReleaseId, edition: &Edition) -> Result<bool> {
        let rejected = self.store().rejected_lexunits(release).map_err(DatabaseError::from)?;
        if rejected.is_empty() {
            return Ok(false);
        }
        for of in &edition.sets {
            let place = self.store().set_location(release, of.set).map_err(DatabaseError::from)?;
            if place.is_some_and(|place| rejected.contains(&(place.frame, place.lu))) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The licence that is asked for; that of Berkeley FrameNet for its own releases.
fn licence_of(asked: &Publishing<'_>) -> Result<String> {
    let name = &asked.release.name;
    let wrong = |field: &str, found: &str, expected: &str| {
        Err(DatabaseError::from(EditError::value(field, found, expected)).into())
    };
    let is_of_berkeley = name.starts_with("bfn-");
    let is_id = |of: &str| {
        let is_part =
            |of: u8| of.is_ascii_lowercase() || of.is_ascii_digit() || b"-.".contains(&of);
        !of.is_empty() && of.bytes().all(is_part)
    };
    match asked.licence {
        Some(licence) if !is_id(licence) => {
            wrong("licence", licence, "an id in small letters, digits, `-` and `.`")
        }
        Some(licence) if is_of_berkeley && licence != card::OF_FRAMENET => {
            let expected = format!("`{}`, that of the release `{name}`", card::OF_FRAMENET);
            wrong("licence", licence, &expected)
        }
        Some(licence) => Ok(licence.to_owned()),
        None if is_of_berkeley => Ok(card::OF_FRAMENET.to_owned()),
        None => wrong(
            "licence of",
            name,
            "a release whose licence is known; name it, as in `cc-by-4.0`",
        ),
    }
}

/// The query of all sets of an edition.
///
/// # Errors
/// When one of the names is none.
pub fn sets_of(release: &str, edition: &str) -> std::result::Result<Expression, DatabaseError> {
    let release = Term::named(Field::Release, release)?;
    let edition = Term::named(Field::Edition, edition)?;
    Ok(Expression::conjunction([release, edition].map(Expression::Term)))
}

/// Does one thing while another thread does the other; gives what the second one gives.
fn side_by_side<T>(
    one: impl FnOnce() -> Result<()> + Send,
    other: impl FnOnce() -> Result<T>,
) -> Result<T> {
    std::thread::scope(|scope| {
        let beside = scope.spawn(one);
        let done = other();
        match beside.join() {
            Ok(beside) => beside.and(done),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// The files of a data set.
#[derive(Clone, Copy)]
struct Files<'a> {
    root: &'a Path,
}

impl Files<'_> {
    fn create(self, path: &str) -> Result<BufWriter<File>> {
        let path = self.root.join(path);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        let file = made.and_then(|()| File::create_new(&path));
        Ok(BufWriter::new(file.map_err(|error| self.failed(error))?))
    }

    fn done(self, mut file: BufWriter<File>) -> Result<()> {
        file.flush().map_err(|error| self.failed(error))
    }

    fn failed(self, source: io::Error) -> PublishError {
        let path = self.root.to_owned();
        DatabaseError::from(ExportError::Write { path, source }).into()
    }
}

/// A data set that is being written.
struct Writing<'a> {
    database: &'a Database,
    asked: &'a Publishing<'a>,
    files: Files<'a>,
    progress: &'a mut dyn FnMut(&str),
}

impl Writing<'_> {
    fn write(&mut self, place: &Path, licence: &str) -> Result<Published> {
        let Publishing { release, edition, .. } = self.asked;
        let all = sets_of(&release.name, &edition.name)?;
        let (mut parts, mut leaking) = (Vec::new(), 0);
        for split in [Split::Train, Split::Dev, Split::Test] {
            let (expression, left_out) = self.part(&all, split)?;
            leaking += left_out;
            // `datasets` refuses a part without rows.
            if self.database.count(&expression)? == 0 {
                parts.push(PublishedPart { split, sentences: 0, sets: 0 });
                continue;
            }
            (self.progress)(split.as_str());
            let LossyExport { sets, sentences, .. } = self.records(&expression, split)?;
            parts.push(PublishedPart { split, sentences, sets });
        }
        (self.progress)("edition.jsonl, framenet-xml");
        self.whole(&all)?;
        let flagged = self.asked.sensitive.map(|words| self.flagged(&all, words)).transpose()?;
        let mut published = Published {
            edition: edition.name.clone(),
            directory: place.to_owned(),
            parts,
            leaking,
            flagged,
            licence: licence.to_owned(),
            files: Vec::new(),
        };
        (self.progress)("README.md");
        let card = card::written(self.database, self.asked, &published, &all)?;
        let mut file = self.files.create("README.md")?;
        file.write_all(card.as_bytes()).map_err(|error| self.files.failed(error))?;
        self.files.done(file)?;
        published.files = self.sums()?;
        Ok(published)
    }

    /// The query of a part, and how many sets of it are left out.
    fn part(&self, all: &Expression, split: Split) -> Result<(Expression, u64)> {
        let part = match split {
            Split::Train => "not (split=dev or split=test)".to_owned(),
            other => format!("split={}", other.as_str()),
        };
        let part: Expression = part.parse().map_err(DatabaseError::from)?;
        let expression = Expression::conjunction([all.clone(), part]);
        if split != Split::Train {
            return Ok((expression, 0));
        }
        let leaking = self.database.leaking(&expression)?;
        Ok((leaking.without, leaking.sets))
    }

    /// Writes the training records of a part in both forms.
    fn records(&self, expression: &Expression, split: Split) -> Result<LossyExport> {
        let (files, part) = (self.files, split.as_str());
        let mut rows = files.create(&format!("data/{part}.parquet"))?;
        let mut lines = files.create(&format!("jsonl/{part}.jsonl"))?;
        let both: Vec<(TrainingFormat, &mut (dyn io::Write + Send))> =
            vec![(TrainingFormat::Parquet, &mut rows), (TrainingFormat::Jsonl, &mut lines)];
        let tagger = self.asked.tagger;
        let report = self.database.export_training(expression, Spacing::Natural, tagger, both)?;
        files.done(rows)?;
        files.done(lines)?;
        Ok(report)
    }

    /// Writes the sets without loss, and as FrameNet's XML, side by side.
    fn whole(&self, all: &Expression) -> Result<()> {
        let (database, files, release) = (self.database, self.files, self.asked.release);
        let lines = || {
            let mut file = files.create("edition.jsonl")?;
            database.export_jsonl(all, false, &mut file)?;
            files.done(file)
        };
        side_by_side(lines, || {
            let xml = files.root.join("framenet-xml");
            database.export_framenet(release, all, &xml, &mut |_, _| {})?;
            Ok(())
        })
    }

    /// Lists the sets whose sentences or triggers have a word of the list.
    fn flagged(&self, all: &Expression, sensitive: &BTreeSet<String>) -> Result<u64> {
        let mut file = self.files.create(FLAGGED)?;
        let mut line = |text: &str| file.write_all(text.as_bytes());
        line("set\tword\n").map_err(|error| self.files.failed(error))?;
        let mut count = 0;
        let add = |some: &mut Vec<_>, answer: Answer| {
            let text = &answer.sentence.text;
            let of_text = words(text).into_iter().filter_map(|word| word.of(text)).map(fold);
            let word = of_text.into_iter().find(|word| sensitive.contains(word));
            some.extend(word.map(|word| (answer.set.id, word)));
            Ok::<_, PublishError>(())
        };
        self.database.fold_answers(all, Vec::new, add, |some| {
            for (set, word) in some {
                line(&format!("{set}\t{word}\n")).map_err(|error| self.files.failed(error))?;
                count += 1;
            }
            Ok(())
        })?;
        self.files.done(file)?;
        Ok(count)
    }

    /// Writes the checksums of all files.
    fn sums(&self) -> Result<Vec<PublishedFile>> {
        let mut paths = Vec::new();
        files_in(self.files.root, self.files.root, &mut paths)
            .map_err(|error| self.files.failed(error))?;
        paths.sort();
        let mut files = Vec::new();
        let mut sums = self.files.create(SUMS)?;
        for path in paths {
            let mut hasher = blake3::Hasher::new();
            let mut file = File::open(self.files.root.join(&path))
                .map_err(|error| self.files.failed(error))?;
            let bytes =
                io::copy(&mut file, &mut hasher).map_err(|error| self.files.failed(error))?;
            let blake3 = hasher.finalize().to_string();
            writeln!(sums, "{blake3}  {path}").map_err(|error| self.files.failed(error))?;
            files.push(PublishedFile { path, bytes, blake3 });
        }
        self.files.done(sums)?;
        Ok(files)
    }
}

/// Paths of all files below a directory, with `/` between their parts.
fn files_in(root: &Path, directory: &Path, paths: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            files_in(root, &path, paths)?;
            continue;
        }
        let below = path.strip_prefix(root).unwrap_or(&path);
        let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
        paths.push(parts.join("/"));
    }
    Ok(())
}
