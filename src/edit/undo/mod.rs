//! Taking back a commit: its records become what they were before it.
//!
//! The store keeps what the records of a commit held before it. A commit is taken back whole or not
//! at all, as a commit of its own, which can be taken back in turn. It is refused when
//!
//! - a record that it wrote has been changed since, or a chain has gone on;
//! - a record that it added, and that would go, is named by one that was written since; so for a
//!   name of a frame or an FE;
//! - a record that it removed, and that would come back, names one that was removed since, or is
//!   called otherwise since; or another has its name now.
//!
//! Layouts of files have no readers but exports. One that has changed since stays as it is, as
//! after any edit, and so does what a verifier has said since. Links that were computed anew since
//! lose what the commit decided of them, and stay.

mod conflicts;
mod recomputed;

use std::collections::{BTreeMap, BTreeSet};

use self::conflicts::{Blocked, Seen, is_plain, stays, subject};
use super::staged::{Judged, StagedRow};
use super::{EditError, Result, Transaction};
use crate::database::Database;
use crate::model::ReleaseId;
use crate::store::{Image, RowContent, RowId};

/// What took back commits.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Undone {
    /// The commit that did it; the last one of the store when nothing was left to do.
    pub revision: u64,
    /// How many records are again what they were.
    pub records: u64,
}

/// What a transaction takes back.
#[derive(Debug, Clone, Default)]
pub(super) struct Undoing {
    /// The commits, in the order in which they are taken back.
    pub(super) revisions: Vec<u64>,
    /// What each row of theirs will hold.
    rows: BTreeMap<RowId, Option<Vec<u8>>>,
    /// Those that no staged record stands for.
    pub(super) plain: BTreeSet<RowId>,
}

impl Undoing {
    /// Rows to be written as they are.
    pub(super) fn plain_rows(&self) -> impl Iterator<Item = (&RowId, Option<&[u8]>)> {
        self.plain.iter().map(|row| (row, self.rows.get(row).and_then(Option::as_deref)))
    }
}

impl Database {
    /// Takes back commits, the last one first, all of them or none. `note` says why.
    ///
    /// # Errors
    /// [`EditError::NotKept`] for one that cannot be taken back, [`EditError::ChangedSince`] when
    /// what it wrote is in use or has changed; when the handle is a reader's, or the store fails.
    ///
    /// ```
    /// # use fnstore::database::Database;
    /// # use fnstore::edit::Removal;
    /// # use fnstore::transfer::ImportOptions;
    /// # use fnstore::model::{FrameId, LuId};
    /// # let store = tempfile::tempdir()?;
    /// # let database = Database::open_writer(store.path())?;
    /// # let mini = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mini-framenet");
    /// # let release = database.import(mini.as_ref(), &ImportOptions::default(), &mut |_| {})?.release;
    /// let mut edits = database.transaction(release.id)?;
    /// edits.remove_frame(FrameId(102), Removal::Cascade)?;
    /// let revision = edits.commit()?;
    /// database.undo(&[revision], "the wrong frame")?;
    /// assert_eq!(database.count(&"trigger=checked".parse()?)?, 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn undo(&self, revisions: &[u64], note: &str) -> Result<Undone> {
        let mut newest_first = revisions.to_vec();
        newest_first.sort_unstable_by(|a, b| b.cmp(a));
        newest_first.dedup();
        // Nobody commits between the look at what has changed and the commit.
        let mut turn = self.turn()?;
        let mut by_release: BTreeMap<ReleaseId, Transaction<'_>> = BTreeMap::new();
        let mut records = 0;
        for revision in newest_first {
            for release in self.releases_in(revision)? {
                let edits = match by_release.remove(&release) {
                    Some(edits) => edits,
                    None => self.transaction(release)?,
                };
                let edits = by_release.entry(release).or_insert(edits);
                edits.explain(note);
                records += edits.undo(revision)?;
            }
        }
        let transactions: Vec<Transaction<'_>> = by_release.into_values().collect();
        Ok(Undone { revision: self.commit_or_last(&mut turn, &transactions)?, records })
    }

    /// The releases whose records a commit wrote that can be taken back.
    fn releases_in(&self, revision: u64) -> Result<BTreeSet<ReleaseId>> {
        let not_kept = |why: &str| EditError::NotKept { revision, why: why.to_owned() };
        match self.store.commit_made(revision)? {
            None => Err(not_kept("the store has none of that number").into()),
            Some(made) if made.images.is_none() => Err(not_kept(
                "what its records held before it is not kept: it loaded or removed a release, \
                 wrote generated sets, or is too old",
            )
            .into()),
            Some(made) => {
                let images = self.store.images(revision)?;
                if made.images.map(u64::from) != Some(images.len() as u64) {
                    return Err(not_kept("some of what its records held before is lost").into());
                }
                let of: BTreeSet<_> = images.iter().filter_map(|it| it.row.release()).collect();
                let listed = self.releases()?;
                match of.iter().find(|id| !listed.iter().any(|release| release.id == **id)) {
                    Some(_) => Err(not_kept("a release that it wrote to is removed").into()),
                    None => Ok(of),
                }
            }
        }
    }
}

impl Transaction<'_> {
    /// Says why the edits are made.
    pub fn explain(&mut self, note: &str) {
        note.clone_into(&mut self.note);
    }

    /// Says who makes the edits, whoever makes the [handle's](Database::set_author): for threads
    /// that edit by one handle, each in a name of its own.
    pub fn sign(&mut self, by: &str) {
        self.by = Some(by.to_owned());
    }

    /// Refuses edits beside a commit that is taken back: they would meet the layouts of before.
    pub(super) fn require_edits_alone(&self) -> Result<()> {
        match self.undoing.revisions.first() {
            None => Ok(()),
            Some(revision) => {
                let expected = "a transaction of its own: edits are another commit";
                Err(EditError::value("undo", revision, expected).into())
            }
        }
    }

    /// What is in the way was looked for when the commit was taken back, in the store as it was.
    pub(super) fn check_undone(&self) -> Result<()> {
        let Some(undone) = self.undoing.revisions.first() else { return Ok(()) };
        let revision = self.database.store.revision()?;
        if revision == self.began {
            return Ok(());
        }
        let (kind, id, began) = ("commit", undone.to_string(), self.began);
        Err(EditError::Conflict { kind, id, revision, began }.into())
    }

    /// Takes back what a commit did to this release: records become what they were before it.
    /// Gives how many. Several commits are taken back in one transaction, the last one first;
    /// nothing else is.
    ///
    /// # Errors
    /// [`EditError::NotKept`] when the commit cannot be taken back, [`EditError::ChangedSince`]
    /// when what it wrote is in use or has changed, an [`EditError::Value`] in a transaction that
    /// has other edits; when the store fails. [`commit`](Self::commit) fails when anything was
    /// committed since this was called.
    pub fn undo(&mut self, revision: u64) -> Result<u64> {
        if self.undoing.revisions.is_empty() && !self.staged.is_empty() {
            return Err(EditError::value(
                "undo",
                revision,
                "a transaction without edits: what is taken back is committed alone",
            )
            .into());
        }
        if !self.database.releases_in(revision)?.contains(&self.release) {
            return Ok(0);
        }
        let before = (self.staged.clone(), self.undoing.clone(), self.others.clone());
        let tried = self.try_undo(revision);
        if tried.is_err() {
            (self.staged, self.undoing, self.others) = before;
        }
        tried
    }

    fn try_undo(&mut self, revision: u64) -> Result<u64> {
        let mut seen = Seen::default();
        for image in self.database.store.images(revision)? {
            let is_here = image.row.release() == Some(self.release);
            if is_here && !self.undo_in_recomputed_links(revision, &image, &mut seen)? {
                self.see(image, &mut seen)?;
            }
        }
        self.undoing.revisions.push(revision);
        self.stage(&seen.staged)?;
        self.drop_links_of_what_goes()?;
        let blocked = self.in_the_way(revision, &seen)?;
        if !blocked.is_empty() {
            return Err(Blocked::error(revision, blocked).into());
        }
        self.forget_journals(&seen.staged)?;
        Ok(seen.staged.len() as u64 + seen.plain)
    }

    /// Takes note of what a row becomes.
    fn see(&mut self, image: Image, seen: &mut Seen) -> Result<()> {
        let now = self.row_now(&image.row)?;
        let is_other = now != image.before;
        let content = image.before.as_deref().or(now.as_deref()).filter(|_| is_other);
        let Some(content) = content.map(|value| image.row.content(value)).transpose()? else {
            return Ok(());
        };
        let is_left = image.is_left(now.as_deref());
        match &content {
            // What was written since stays.
            of if !is_left && stays(of) => return Ok(()),
            RowContent::Layout(_) => seen.layouts |= now.is_none(),
            RowContent::Journal { .. } | RowContent::Discovery(_) | RowContent::Links(_)
                if !is_left =>
            {
                seen.blocked.extend(Blocked::by_row(&content));
            }
            of if is_plain(of) => seen.plain += 1,
            _ => {}
        }
        match subject(&content) {
            Some(subject) if !is_left => seen.blocked.push(Blocked::of(&subject, None)),
            Some(_) => seen.staged.push((content, image.before.is_some())),
            None => drop(self.undoing.plain.insert(image.row.clone())),
        }
        self.undoing.rows.insert(image.row, image.before);
        Ok(())
    }

    /// Stages records: those that go first, since a set that moved has a row at either place.
    fn stage(&mut self, records: &[(RowContent, bool)]) -> Result<()> {
        for stays in [false, true] {
            for (record, _) in records.iter().filter(|(_, is_there)| *is_there == stays) {
                match record.clone() {
                    RowContent::SemType(row) => self.turn(row, stays)?,
                    RowContent::Frame(row) => self.turn(row, stays)?,
                    RowContent::Relation(row) => self.turn(row, stays)?,
                    RowContent::LexUnit(row) => self.turn(*row, stays)?,
                    RowContent::Document(row) => self.turn(row, stays)?,
                    RowContent::Sentence(row) => self.turn(row, stays)?,
                    RowContent::SentenceLayers(row) => self.turn(row, stays)?,
                    RowContent::Set(row) => self.turn(*row, stays)?,
                    RowContent::Judgement(set, judgement) => {
                        self.turn(Judged { set, judgement }, stays)?;
                    }
                    RowContent::Decisions(row) => self.turn(row, stays)?,
                    RowContent::Edition(row) => self.turn(row, stays)?,
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn turn<R: StagedRow>(&mut self, row: R, stays: bool) -> Result<()> {
        self.count_on(row.subject());
        let key = row.key();
        self.staged.set(&self.database.store, self.release, key, stays.then_some(row))
    }

    /// Seeds that go take their journals along.
    fn forget_journals(&mut self, staged: &[(RowContent, bool)]) -> Result<()> {
        for (record, _) in staged {
            let RowContent::Set(set) = record else { continue };
            if self.annotation_set(set.id)?.is_some() {
                continue;
            }
            for row in self.database.store.journals_of(self.release, set.id)? {
                let (target, recipe, _) = row?;
                self.staged.journal.insert((set.id, target, recipe), None);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::Removal;
    use crate::model::{
        AnnotationSetId, FrameId, IdSpace, Judgement, LexUnit, LuId, Provenance, Span,
    };
    use crate::transfer::ImportOptions;

    const FRAME: FrameId = FrameId(102);
    const LU: LuId = LuId(1001);

    fn imported() -> (tempfile::TempDir, Database, ReleaseId) {
        let dir = tempfile::tempdir().unwrap();
        let mini = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mini-framenet");
        let database = Database::open_writer(dir.path()).unwrap();
        let release = database.import(mini.as_ref(), &ImportOptions::default(), &mut |_| {});
        let release = release.unwrap().release.id;
        (dir, database, release)
    }

    /// Every row but those that tell of commits.
    fn rows(database: &Database) -> Vec<(RowId, Vec<u8>)> {
        database.store.values(&["meta", "change", "commit", "before"]).unwrap()
    }

    fn commit(
        database: &Database,
        release: ReleaseId,
        edit: impl FnOnce(&mut Transaction<'_>) -> crate::database::Result<()>,
    ) -> u64 {
        let mut edits = database.transaction(release).unwrap();
        edit(&mut edits).unwrap();
        edits.commit().unwrap()
    }

    /// Adds an LU in a commit of its own.
    fn add(database: &Database, release: ReleaseId, name: &str) -> u64 {
        commit(database, release, |edits| {
            edits.explain("while reading");
            edits.add_lexunit(LexUnit::named(FRAME, LuId(0), name)).map(drop)
        })
    }

    /// A set of an LU.
    fn set_of(database: &Database, release: ReleaseId, lu: LuId) -> AnnotationSetId {
        let mut sets = database.store.annotation_sets_of_lexunit(release, FRAME, lu).unwrap();
        sets.next().unwrap().unwrap().id
    }

    fn judgement(score: u8) -> Judgement {
        let (reviewer, question, note) = ("kim".to_owned(), String::new(), String::new());
        Judgement { reviewer, question, score, time: 1, note, shown: None }
    }

    fn message(undone: crate::database::Result<Undone>) -> String {
        undone.unwrap_err().to_string()
    }

    #[test]
    fn every_row_is_again_what_it_was_whatever_was_edited() {
        let (_dir, database, release) = imported();
        let set = set_of(&database, release, LU);
        type Edit<'a> = &'a dyn Fn(&mut Transaction<'_>) -> crate::database::Result<()>;
        let all: [Edit<'_>; 7] = [
            &|edits| edits.remove_frame(FRAME, Removal::Cascade),
            &|edits| {
                let frame = edits.frame(FRAME)?.unwrap();
                edits.set_frame(crate::model::Frame { name: "Proving".to_owned(), ..frame })
            },
            &|edits| edits.remove_lexunit(FRAME, LU, Removal::Cascade),
            &|edits| {
                let set = edits.annotation_set(set)?.unwrap();
                edits.remove_sentence(set.sentence, Removal::Cascade)
            },
            &|edits| edits.set_judgement(set, judgement(80)),
            &|edits| {
                let mut set = edits.annotation_set(set)?.unwrap();
                set.lu = edits.add_lexunit(LexUnit::named(FRAME, LuId(0), "peruse.v"))?;
                set.targets = vec![Span::new(0, 2)];
                edits.set_annotation_set(set)
            },
            &|edits| {
                let (corpus, id) = edits.all_documents()?[0].key();
                edits.remove_document(corpus, id, Removal::Cascade)
            },
        ];
        for (number, edit) in all.into_iter().enumerate() {
            let before = rows(&database);
            let revision = commit(&database, release, edit);
            let after = rows(&database);
            assert_ne!(before, after, "edit {number}");
            let undone = database.undo(&[revision], "").unwrap();
            assert!(undone.records > 0 && undone.revision == revision + 1, "edit {number}");
            assert!(before == rows(&database), "edit {number}");
            database.undo(&[undone.revision], "").unwrap();
            assert!(after == rows(&database), "edit {number}, done again");
            database.undo(&[undone.revision + 1], "").unwrap();
            assert!(before == rows(&database), "edit {number}, undone twice");
        }
    }

    #[test]
    fn commits_are_taken_back_together_and_say_so() {
        let (_dir, database, release) = imported();
        database.store.set_author("kim");
        let before = rows(&database);
        let add = |name| add(&database, release, name);
        let first = add("peruse.v");
        let mut lexunits = database.store.lexunits_of(release, FRAME).unwrap();
        let lu = lexunits.find_map(|lu| lu.ok().filter(|lu| lu.name == "peruse.v")).unwrap();
        let second = commit(&database, release, |edits| {
            edits.set_lexunit(LexUnit { name: "vet.v".to_owned(), ..lu.clone() })
        });
        let error = message(database.undo(&[first], ""));
        assert!(error.contains(&format!("LU `{}` (commit {second})", lu.id)), "{error}");
        let undone = database.undo(&[first, second], "all wrong").unwrap();
        assert!(before == rows(&database));
        let made = database.store.commit_made(undone.revision).unwrap().unwrap();
        let commit = (&*made.by, &*made.note, &*made.undoes);
        assert_eq!(commit, ("kim", "all wrong", &[first, second][..]));
        let made = database.store.commit_made(first).unwrap().unwrap();
        assert_eq!((&*made.note, made.images), ("while reading", Some(1)));
    }

    #[test]
    fn what_was_written_since_about_what_goes_is_in_the_way() {
        let (_dir, database, release) = imported();
        let text = set_of(&database, release, LU);
        let text = database.store.annotation_set(release, text).unwrap().unwrap();
        let mut set = text.id;
        let added = commit(&database, release, |edits| {
            let provenance = Provenance::User;
            set = edits.add_annotation_set(crate::model::AnnotationSet { provenance, ..text })?;
            Ok(())
        });
        assert_eq!(set.space(), IdSpace::Imported);
        let judged = commit(&database, release, |edits| edits.set_judgement(set, judgement(10)));
        let before = rows(&database);
        let error = message(database.undo(&[added], ""));
        assert!(
            error.contains(&format!("judgement `of {set} by kim` (commit {judged})")),
            "{error}"
        );
        assert!(before == rows(&database));
        assert_eq!(database.store.revision().unwrap(), judged);
        database.undo(&[judged, added], "").unwrap();
    }

    #[test]
    fn a_name_that_another_has_taken_since_is_in_the_way() {
        let (_dir, database, release) = imported();
        let add = |name| add(&database, release, name);
        let called = |name: &str| {
            let mut lexunits = database.store.lexunits_of(release, FRAME).unwrap();
            lexunits.find_map(|lu| lu.ok().filter(|lu| lu.name == name)).unwrap()
        };
        add("peruse.v");
        add("vet.v");
        let (gone, other) = (called("peruse.v"), called("vet.v"));
        let removed = commit(&database, release, |edits| {
            edits.remove_lexunit(FRAME, gone.id, Removal::Alone)
        });
        let renamed = commit(&database, release, |edits| {
            edits.set_lexunit(LexUnit { name: "Peruse.v".to_owned(), ..other.clone() })
        });
        let error = message(database.undo(&[removed], ""));
        assert!(error.contains(&format!("LU `{}` (commit {renamed})", other.id)), "{error}");
        database.undo(&[renamed], "").unwrap();
        database.undo(&[removed], "").unwrap();
    }

    #[test]
    fn what_comes_back_names_nothing_that_went_since() {
        let (_dir, database, release) = imported();
        let set = set_of(&database, release, LU);
        let sentence = database.store.annotation_set(release, set).unwrap().unwrap().sentence;
        let removed =
            commit(&database, release, |edits| edits.remove_annotation_set(set, Removal::Cascade));
        let gone =
            commit(&database, release, |edits| edits.remove_sentence(sentence, Removal::Cascade));
        let error = message(database.undo(&[removed], ""));
        assert!(error.contains(&format!("annotation set `{set}`")), "{error}");
        database.undo(&[gone], "").unwrap();
        database.undo(&[removed], "").unwrap();
    }

    #[test]
    fn names_of_frames_and_fes_that_others_spell_are_in_the_way() {
        let (_dir, database, release) = imported();
        let set = set_of(&database, release, LU);
        let rename = |from: &'static str, to: &'static str| {
            commit(&database, release, |edits| {
                let mut frame = edits.frame(FRAME)?.unwrap();
                let fe = frame.elements.iter_mut().find(|fe| fe.name == from).unwrap();
                to.clone_into(&mut fe.name);
                edits.set_frame(frame)
            })
        };
        // A set that is written since has the new name of an FE.
        let renamed = rename("Checker", "Prover");
        let text = database.store.annotation_set(release, set).unwrap().unwrap();
        assert!(text.layers.iter().flat_map(|it| &it.labels).any(|it| it.name == "Prover"));
        let mut other = set;
        let added = commit(&database, release, |edits| {
            let provenance = Provenance::User;
            let set = crate::model::AnnotationSet { provenance, ..text.clone() };
            other = edits.add_annotation_set(set)?;
            Ok(())
        });
        let error = message(database.undo(&[renamed], ""));
        assert!(error.contains(&format!("annotation set `{other}` (commit {added})")), "{error}");
        database.undo(&[added, renamed], "").unwrap();
        // A set that comes back has the old name.
        let removed =
            commit(&database, release, |edits| edits.remove_annotation_set(set, Removal::Cascade));
        let renamed = rename("Checker", "Prover");
        let error = message(database.undo(&[removed], ""));
        assert!(error.contains(&format!("frame `{FRAME}` (commit {renamed})")), "{error}");
        database.undo(&[renamed, removed], "").unwrap();
    }

    #[test]
    fn a_chain_that_has_gone_on_is_in_the_way() {
        let (_dir, database, release) = imported();
        let seed = set_of(&database, release, LU);
        let recipe = database.store.recipe([1; 16], "{}").unwrap();
        let row = |round| crate::database::JournalWrite {
            seed,
            target: 0,
            recipe,
            entry: crate::store::JournalEntry { round, end: None, chain: Vec::new() },
        };
        let write = |round| {
            let write = crate::database::Write { journal: vec![row(round)], ..Default::default() };
            database.write(release, &write).unwrap()
        };
        write(1);
        let removed =
            commit(&database, release, |edits| edits.remove_annotation_set(seed, Removal::Cascade));
        write(2);
        let error = message(database.undo(&[removed], ""));
        assert!(error.contains(&format!("journal `of {seed}`")), "{error}");
    }

    #[test]
    fn nobody_commits_between_the_look_and_the_commit() {
        let (_dir, database, release) = imported();
        let add = |name| add(&database, release, name);
        let first = add("peruse.v");
        let mut edits = database.transaction(release).unwrap();
        assert_eq!(edits.undo(first).unwrap(), 1);
        add("vet.v");
        let error = edits.commit().unwrap_err().to_string();
        assert!(error.starts_with("E-changed: commit"), "{error}");
    }

    #[test]
    fn a_commit_whose_before_images_are_lost_in_part_is_refused() {
        let (_dir, database, release) = imported();
        let revision =
            commit(&database, release, |edits| edits.remove_lexunit(FRAME, LU, Removal::Cascade));
        database.store.lose_image(revision).unwrap();
        assert!(message(database.undo(&[revision], "")).contains("is lost"));
    }

    #[test]
    fn what_a_failed_commit_wrote_ahead_is_of_no_commit() {
        let (_dir, database, release) = imported();
        let next = database.store.revision().unwrap() + 1;
        database.store.leave_images(next, 3).unwrap();
        let checked = database.check(crate::upkeep::CheckOptions::default(), &mut |_| {}).unwrap();
        assert!(checked.findings.is_empty(), "{:?}", checked.findings);
        assert_eq!(add(&database, release, "peruse.v"), next);
        assert_eq!(database.store.images(next).unwrap().len(), 1);
        database.undo(&[next], "").unwrap();
    }

    #[test]
    fn a_commit_without_before_images_is_refused() {
        let (_dir, database, release) = imported();
        let import = database.store.revision().unwrap();
        let error = message(database.undo(&[import], ""));
        assert!(error.starts_with(&format!("E-undo: commit {import} ")), "{error}");
        let error = message(database.undo(&[import + 7], ""));
        assert!(error.contains("the store has none of that number"), "{error}");
        let mut edits = database.transaction(release).unwrap();
        edits.remove_lexunit(FRAME, LU, Removal::Cascade).unwrap();
        assert!(edits.undo(import).unwrap_err().to_string().contains("without edits"));
    }

    #[test]
    fn before_images_that_fall_out_go_and_the_others_stay() {
        let (_dir, database, release) = imported();
        let add = |name| add(&database, release, name);
        let revisions = ["a.v", "b.v", "c.v", "d.v"].map(add);
        let retention = crate::store::Retention { commits: Some(3), seconds: None };
        database.store.set_retention(retention).unwrap();
        let is_kept = |revision| database.store.commit_made(revision).unwrap().unwrap().images;
        assert_eq!(revisions.map(is_kept), [None, Some(1), Some(1), Some(1)]);
        let seconds = crate::store::Retention { commits: None, seconds: Some(1 << 20) };
        database.store.set_retention(seconds).unwrap();
        assert_eq!(revisions.map(is_kept), [None, Some(1), Some(1), Some(1)]);
        database.store.set_retention(retention).unwrap();
        let last = add("e.v");
        assert_eq!(revisions.map(is_kept), [None, None, Some(1), Some(1)]);
        assert_eq!(database.store.images(revisions[1]).unwrap(), []);
        let error = message(database.undo(&[revisions[1]], ""));
        assert!(error.contains("is not kept"), "{error}");
        database.undo(&[revisions[2], last], "").unwrap();
    }
}
