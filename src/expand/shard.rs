//! A part of an expansion in a file: computed beside others from one store that nobody writes, and
//! merged later.
//!
//! A shard takes every N-th seed. Its file holds what the seeds give, as JSON lines of additions
//! compressed with zstd; a manifest beside it says of what recipe, query and release it is, with
//! the file's BLAKE3. While it is computed, the lines stand in a file beside it that ends in
//! `.part`, seed by seed: a run that is cut resumes behind the last whole seed. Two runs that
//! append to that file would damage it, so each has it locked.
//!
//! Ids of generated sets are hashes of what they are, so shards agree with a run that nobody
//! parted.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, BufWriter, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::manifest::{Manifest, Shard, hashed, with_ending};
use super::shard_lock::{lock, require_alone};
use super::shard_status::NoteKeeper;
use super::{ExpandError, Result};
use crate::database::{Database, DatabaseError, ExportError, JournalWrite, Write};
use crate::durable::{LockedFile, WholeFile, write_file};
use crate::exchange::ExchangeError;
use crate::exchange::jsonl::{
    JournalRecord, LineKind, RecipeRecord, RecordWriter, ReleaseRecord, Scope,
};
use crate::model::{
    AnnotationSet, AnnotationSetId, FrameId, LexUnit, LuId, Provenance, RecipeId, Release,
    ReleaseId, Sentence, SentenceId, Verification, hexadecimal,
};

/// Level of zstd: the library's own.
const LEVEL: i32 = 3;

/// A shard on its way into its file.
pub(super) struct ShardWriter {
    file: PathBuf,
    part: PathBuf,
    manifest: Manifest,
    release: Release,
    frames: HashMap<FrameId, String>,
    lines: RecordWriter<BufWriter<File>>,
    /// The same open file, to read the lines by: some systems keep others from a locked one.
    written_lines: File,
    lock: Option<LockedFile>,
    note: NoteKeeper,
    /// Sets in the file.
    sets: u64,
    /// Seeds whose lines are whole.
    done: HashSet<AnnotationSetId>,
    /// What seeds in flight gave.
    open: BTreeMap<AnnotationSetId, Vec<(Sentence, Vec<AnnotationSet>)>>,
    /// LUs that the run proposed: they stand before the first set of theirs, whichever seed had
    /// them first.
    proposed: HashMap<(FrameId, LuId), LexUnit>,
    /// What judges say of sets that are not in the file yet.
    verifications: HashMap<AnnotationSetId, Verification>,
    /// Those of them that are in the file.
    written: HashSet<(FrameId, LuId)>,
}

/// What is said of a shard before it is computed.
pub(super) struct Plan<'a> {
    pub(super) file: &'a Path,
    pub(super) shard: Shard,
    pub(super) query: &'a str,
    /// BLAKE3 of all seeds, and how many they are.
    pub(super) all_seeds: (String, u64),
    /// How many of them are not through in the store, and how many of these are of this part.
    pub(super) left: (u64, u64),
    pub(super) revision: u64,
    pub(super) rounds: u16,
    pub(super) recipe: (RecipeId, [u8; 16], &'a str),
}

impl Plan<'_> {
    fn manifest(&self, release: &Release) -> Manifest {
        Manifest {
            fnstore: env!("CARGO_PKG_VERSION").to_owned(),
            release: release.name.clone(),
            query: self.query.to_owned(),
            all_seeds: self.all_seeds.0.clone(),
            seeds_in_all: self.all_seeds.1,
            left_in_all: self.left.0,
            revision: self.revision,
            recipe: hexadecimal(&self.recipe.1),
            rounds: self.rounds,
            shard: self.shard,
            seeds: 0,
            sets: 0,
            lexunits: 0,
            bytes: 0,
            blake3: String::new(),
        }
    }

    /// Where the lines stand before they are all there. Another query, another part or other rounds
    /// have a place of their own.
    fn part(&self) -> PathBuf {
        let Self { query, rounds, shard, all_seeds: (all_seeds, _), .. } = self;
        let asked = format!("{query} {rounds} {shard:?} {all_seeds}");
        let fingerprint = hexadecimal(&blake3::hash(asked.as_bytes()).as_bytes()[..4]);
        with_ending(self.file, &format!(".{fingerprint}.part"))
    }

    /// The manifest of the file, if all of it is there as it was written. One that is damaged, or
    /// that has no manifest, is computed again.
    ///
    /// # Errors
    /// When it is of something else than is asked for.
    pub(super) fn finished(&self, release: &Release) -> Result<Option<Manifest>> {
        require_place(self.file, &self.manifest(release))?;
        Ok(Manifest::verified(self.file).ok())
    }
}

/// Refuses a place where something else stands than a shard that is asked for.
fn require_place(file: &Path, asked: &Manifest) -> Result<()> {
    let refused = |what: &str| {
        let reason =
            format!("is of {what}; expected {}; remove it or name another file", asked.what());
        Err(ExpandError::Shard { file: file.to_owned(), reason })
    };
    if !Manifest::place(file).exists() {
        // A run that was killed before it wrote the manifest leaves a whole file.
        return match recipe_in(file) {
            None => Ok(()),
            Some(recipe) if recipe == asked.recipe => Ok(()),
            Some(recipe) if recipe.is_empty() => refused("no shard"),
            Some(recipe) => refused(&format!("recipe {recipe}")),
        };
    }
    match Manifest::read(file)?.what() {
        what if what == asked.what() => Ok(()),
        what => refused(&what),
    }
}

/// The recipe that a file's first lines are of, empty where it is no shard; `None` without a file.
fn recipe_in(file: &Path) -> Option<String> {
    let input = File::open(file).ok()?;
    let lines = zstd::Decoder::new(input).map(|lines| BufReader::new(lines.take(HEAD)));
    let recipe = lines.ok().and_then(|lines| {
        let mut lines = lines.lines().map_while(std::io::Result::ok);
        lines.find_map(|line| serde_json::from_str::<Line>(&line).ok()?.fingerprint)
    });
    Some(recipe.unwrap_or_default())
}

/// Bytes at the beginning of a shard that have its recipe.
const HEAD: u64 = 1 << 20;

impl ShardWriter {
    /// Begins a shard, or resumes one that was cut.
    pub(super) fn begin(database: &Database, release: Release, plan: &Plan<'_>) -> Result<Self> {
        let (recipe, fingerprint, description) = plan.recipe;
        let record = RecipeRecord::new(fingerprint, description.to_owned());
        let manifest = plan.manifest(&release);
        let part = plan.part();
        let failed = |source| ExpandError::file(&part, source);
        let mut options = File::options();
        let out = options.create(true).read(true).write(true).truncate(false).open(&part);
        let mut out = out.map_err(failed)?;
        let lock = lock(&out, &part)?;
        require_alone(plan.file, &part)?;
        let kept = Resumed::read(&out, &part, &manifest)?;
        out.set_len(kept.bytes).map_err(failed)?;
        out.seek(SeekFrom::End(0)).map_err(failed)?;
        let written_lines = out.try_clone().map_err(failed)?;
        let out = BufWriter::new(out);
        let sets = kept.counts.get(&LineKind::Set).copied().unwrap_or(0);
        let lines = if kept.bytes == 0 {
            let mut lines =
                RecordWriter::new(out, &ReleaseRecord::new(&release, Scope::Additions))?;
            lines.recipe(recipe, &record)?;
            lines
        } else {
            RecordWriter::going_on(out, kept.counts, (recipe, &record))
        };
        let mut frames = HashMap::new();
        for row in database.store().frame_names(release.id)? {
            let (frame, name) = row?;
            frames.insert(frame, name);
        }
        let through = Manifest { seeds: kept.done.len() as u64, sets, ..manifest.clone() };
        let note = NoteKeeper::begin(&part, through, plan.left.1);
        Ok(Self {
            file: plan.file.to_owned(),
            part,
            note,
            sets,
            manifest,
            release,
            frames,
            lines,
            written_lines,
            lock,
            done: kept.done,
            open: BTreeMap::new(),
            proposed: HashMap::new(),
            verifications: HashMap::new(),
            written: kept.lexunits,
        })
    }

    pub(super) fn shard(&self) -> Shard {
        self.manifest.shard
    }

    /// Whether the file has all of a seed.
    pub(super) fn has(&self, seed: AnnotationSetId) -> bool {
        self.done.contains(&seed)
    }

    /// Takes what a run would commit; writes the seeds that are through.
    pub(super) fn take(
        &mut self,
        database: &Database,
        release: ReleaseId,
        write: Write,
    ) -> Result<()> {
        if release != self.release.id {
            let names = database.releases()?.into_iter().map(|release| release.name).collect();
            return Err(DatabaseError::Export(ExportError::SeveralReleases { names }).into());
        }
        // An expansion searches no frame for words: what one finds is of `discover`.
        let Write { lexunits, sentences, sets, journal, verifications, .. } = write;
        self.verifications.extend(verifications.into_iter().map(|of| (of.set, of)));
        let mut sentences: HashMap<SentenceId, Sentence> =
            sentences.into_iter().map(|sentence| (sentence.id, sentence)).collect();
        self.proposed.extend(lexunits.into_iter().map(|lu| ((lu.frame, lu.id), lu)));
        // A set that was carried along stands behind the generated one of its sentence.
        let mut seed = None;
        for set in sets {
            if let Provenance::Generated(made) = &set.provenance
                && let Some(sentence) = sentences.remove(&set.sentence)
            {
                seed = Some(made.seed);
                self.open.entry(made.seed).or_default().push((sentence, vec![set]));
            } else if let Some(rows) = seed.and_then(|seed| self.open.get_mut(&seed)) {
                rows.last_mut().into_iter().for_each(|(_, sets)| sets.push(set.clone()));
            }
        }
        for row in journal {
            if row.entry.end.is_some() || row.entry.round >= self.manifest.rounds {
                self.write(database, row)?;
            }
        }
        Ok(())
    }

    /// Writes all of a seed, its journal last.
    fn write(&mut self, database: &Database, row: JournalWrite) -> Result<()> {
        let rows = self.open.remove(&row.seed).unwrap_or_default();
        for set in rows.iter().flat_map(|(_, sets)| sets) {
            let key = (set.frame, set.lu);
            let proposed = self.proposed.get(&key).filter(|_| !self.written.contains(&key));
            if let Some(lu) = proposed.cloned() {
                let frame = self.frame(lu.frame);
                self.lines.lexunit(lu, &frame)?;
                self.written.insert(key);
            }
        }
        let rows_written = rows.iter().map(|(_, sets)| sets.len() as u64).sum::<u64>();
        for (sentence, sets) in rows {
            let text = sentence.text.clone();
            self.lines.sentence(sentence)?;
            let said = sets.iter().filter_map(|set| self.verifications.remove(&set.id));
            let said: Vec<Verification> = said.collect();
            for set in sets {
                let frame = self.frame(set.frame);
                let lu = self.lexunit(database, set.frame, set.lu)?;
                self.lines.set(set, &frame, &lu, &text)?;
            }
            said.into_iter().try_for_each(|said| self.lines.verification(said))?;
        }
        let JournalWrite { seed, target, entry, .. } = row;
        let recipe = self.manifest.recipe.clone();
        let record = JournalRecord::new(seed, target, recipe, entry.round, entry.end, entry.chain);
        self.lines.journal(&record)?;
        // What a killed run leaves ends with a whole seed.
        self.lines.flush()?;
        self.done.insert(seed);
        self.sets += rows_written;
        self.note(false);
        Ok(())
    }

    /// Notes how far it is, for whoever looks at the folder: now and then, or at once.
    pub(super) fn note(&mut self, at_once: bool) {
        self.note.through(self.done.len() as u64, self.sets, at_once);
    }

    fn frame(&self, frame: FrameId) -> String {
        self.frames.get(&frame).cloned().unwrap_or_default()
    }

    fn lexunit(&self, database: &Database, frame: FrameId, lu: LuId) -> Result<String> {
        if let Some(proposed) = self.proposed.get(&(frame, lu)) {
            return Ok(proposed.name.clone());
        }
        let there = database.store().lexunit(self.release.id, frame, lu)?;
        Ok(there.map_or_else(String::new, |lu| lu.name))
    }

    /// Puts the file in its place, then its manifest.
    pub(super) fn finish(self) -> Result<Manifest> {
        let Self { file, part, mut manifest, lines, written_lines, lock, note, done, .. } = self;
        // Something may have come to its place meanwhile.
        require_place(&file, &manifest)?;
        let counts = lines.finish()?;
        let (bytes, blake3) =
            compress(&written_lines, &file).map_err(|source| ExpandError::file(&file, source))?;
        let count = |kind| counts.get(&kind).copied().unwrap_or(0);
        manifest.seeds = done.len() as u64;
        (manifest.sets, manifest.lexunits) = (count(LineKind::Set), count(LineKind::Lexunit));
        (manifest.bytes, manifest.blake3) = (bytes, blake3);
        let place = Manifest::place(&file);
        let mut text = serde_json::to_vec_pretty(&manifest).unwrap_or_default();
        text.push(b'\n');
        write_file(&place, &text).map_err(|source| ExpandError::file(&place, source))?;
        fs::remove_file(&part).map_err(|source| ExpandError::file(&part, source))?;
        note.end();
        drop(lock);
        Ok(manifest)
    }
}

/// Writes a file compressed; gives its size and BLAKE3.
fn compress(mut from: &File, to: &Path) -> std::io::Result<(u64, String)> {
    from.rewind()?;
    let mut whole = WholeFile::create(to)?;
    let mut encoder = zstd::Encoder::new(&mut whole, LEVEL)?;
    std::io::copy(&mut from, &mut encoder)?;
    encoder.finish()?;
    whole.finish()?;
    hashed(to)
}

/// What an earlier run left beside the file.
#[derive(Default)]
struct Resumed {
    /// Up to the end of the last whole seed.
    bytes: u64,
    counts: BTreeMap<LineKind, u64>,
    done: HashSet<AnnotationSetId>,
    lexunits: HashSet<(FrameId, LuId)>,
}

/// Of a line what tells where seeds end.
#[derive(Deserialize)]
struct Line {
    kind: LineKind,
    name: Option<serde_json::Value>,
    fingerprint: Option<String>,
    seed: Option<String>,
    id: Option<serde_json::Value>,
    frame: Option<serde_json::Value>,
}

impl Resumed {
    fn read(lines: &File, part: &Path, manifest: &Manifest) -> Result<Self> {
        let other = |what: &str, found: &str, expected: &str| ExpandError::Shard {
            file: part.to_owned(),
            reason: format!(
                "is of the {what} `{found}`, expected `{expected}`; remove it or name another file"
            ),
        };
        let mut input = BufReader::new(lines);
        let (mut kept, mut at, mut counts) = (Self::default(), 0, BTreeMap::new());
        let mut lexunits = Vec::new();
        loop {
            let mut text = Vec::new();
            let read = input.read_until(b'\n', &mut text);
            let read = read.map_err(|source| ExpandError::file(part, source))?;
            let Some(line) = Some(&text).filter(|text| text.ends_with(b"\n")) else {
                return Ok(kept);
            };
            let Ok(line) = serde_json::from_slice::<Line>(line) else { return Ok(kept) };
            at += read as u64;
            *counts.entry(line.kind).or_default() += 1;
            match line.kind {
                LineKind::Release => {
                    let name =
                        line.name.as_ref().and_then(|name| name.as_str()).unwrap_or_default();
                    if name != manifest.release {
                        return Err(other("release", name, &manifest.release));
                    }
                }
                LineKind::Recipe => {
                    let fingerprint = line.fingerprint.unwrap_or_default();
                    if fingerprint != manifest.recipe {
                        return Err(other("recipe", &fingerprint, &manifest.recipe));
                    }
                    (kept.bytes, kept.counts) = (at, counts.clone());
                }
                LineKind::Lexunit => lexunits.extend(numbers(&line)),
                LineKind::Journal => {
                    kept.done.extend(line.seed.as_deref().and_then(AnnotationSetId::parse));
                    kept.lexunits.extend(lexunits.drain(..));
                    (kept.bytes, kept.counts) = (at, counts.clone());
                }
                _ => {}
            }
        }
    }
}

/// Frame and number of an LU's line.
fn numbers(line: &Line) -> Option<(FrameId, LuId)> {
    let number = |value: &serde_json::Value| u32::try_from(value.as_u64()?).ok();
    let frame = line.frame.as_ref()?;
    let frame = frame.get("id").unwrap_or(frame);
    Some((FrameId(number(frame)?), LuId(number(line.id.as_ref()?)?)))
}

impl From<ExchangeError> for ExpandError {
    fn from(error: ExchangeError) -> Self {
        Self::Database(error.into())
    }
}
