//! What a loop writes: annotation sets with their sentences and LUs, and journals of how far each
//! seed is.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::model_files::ModelFiles;
use super::sink::{CommitError, Sink};
use crate::database::{Database, JournalWrite, Write};
use crate::model::{
    AnnotationSet, AnnotationSetId, CARRIED, Carrying, FeStatus, FrameId, GENERATED, Generation,
    IdSpace, Layer, LexUnit, LuId, Method, Provenance, ReleaseId, Sentence, SentenceId, Span,
    Verification,
};

/// Sets or journal rows gathered before a commit, unless [`COMMIT_AFTER`] has passed: a commit
/// waits for the disk and makes an index segment, a killed run loses what was not committed.
const COMMIT_ROWS: usize = 128;
/// Time between commits.
const COMMIT_AFTER: Duration = Duration::from_secs(2);

/// A generated sentence with its annotation, which has no id yet.
#[derive(Debug, Clone)]
pub(crate) struct Generated {
    pub(crate) frame: FrameId,
    pub(crate) lu: LuId,
    /// The LU, where the store is to get it.
    pub(crate) proposed: Option<LexUnit>,
    pub(crate) text: String,
    pub(crate) targets: Vec<Span>,
    /// Layers beside the target's.
    pub(crate) layers: Vec<Layer>,
    pub(crate) fe_status: FeStatus,
    pub(crate) generation: Generation,
    /// What judges say of it, where they were asked; of whatever set.
    pub(crate) verification: Option<Verification>,
    /// Other sets that stand in its sentence.
    pub(crate) along: Vec<CarriedAlong>,
}

/// Another set of the source that stands in a generated sentence.
#[derive(Debug, Clone)]
pub(crate) struct CarriedAlong {
    pub(crate) frame: FrameId,
    pub(crate) lu: LuId,
    pub(crate) targets: Vec<Span>,
    /// Layers beside the target's.
    pub(crate) layers: Vec<Layer>,
    pub(crate) fe_status: FeStatus,
    /// Where it comes from, beside whatever generated set.
    pub(crate) carrying: Carrying,
    /// What judges say of it, where they were asked; of whatever set.
    pub(crate) verification: Option<Verification>,
}

impl CarriedAlong {
    /// The same beside a generated set.
    pub(crate) fn carrying_beside(&self, generated: AnnotationSetId) -> Carrying {
        Carrying { generated, ..self.carrying.clone() }
    }

    /// The set as the store has it under an id, beside a generated one.
    pub(crate) fn row(&self, id: AnnotationSetId, generated: AnnotationSetId) -> AnnotationSet {
        let sentence = SentenceId::new(IdSpace::Generated, generated.number());
        AnnotationSet {
            status: CARRIED.to_owned(),
            targets: self.targets.clone(),
            fe_status: self.fe_status,
            layers: with_targets(&self.targets, &self.layers),
            provenance: Provenance::Carried(Box::new(self.carrying_beside(generated))),
            ..AnnotationSet::placed(id, sentence, (self.frame, self.lu))
        }
    }
}

/// Layers behind that of the target.
fn with_targets(targets: &[Span], layers: &[Layer]) -> Vec<Layer> {
    std::iter::once(Layer::of_targets(targets)).chain(layers.iter().cloned()).collect()
}

impl Generated {
    /// The sentence and its set, as the store has them under an id.
    pub(crate) fn rows(&self, id: AnnotationSetId) -> (Sentence, AnnotationSet) {
        let text = self.text.clone();
        let sentence = SentenceId::new(IdSpace::Generated, id.number());
        let layers = with_targets(&self.targets, &self.layers);
        let set = AnnotationSet {
            status: GENERATED.to_owned(),
            targets: self.targets.clone(),
            fe_status: self.fe_status,
            layers,
            provenance: Provenance::Generated(Box::new(self.generation.clone())),
            ..AnnotationSet::placed(id, sentence, (self.frame, self.lu))
        };
        (Sentence { id: sentence, xml_id: None, text, occurrences: Vec::new() }, set)
    }
}

/// Gathers what is generated under a recipe, and commits it.
pub(crate) struct GeneratedWriter<'a, S> {
    database: &'a Database,
    /// The recipe's fingerprint.
    recipe: [u8; 16],
    sink: S,
    files: ModelFiles,
    /// Rows that wait for the next commit.
    writes: BTreeMap<ReleaseId, Write>,
    last_commit: Instant,
}

impl<'a, S: Sink> GeneratedWriter<'a, S> {
    /// Writes under a recipe of a fingerprint, as long as the files of its models stay.
    pub(crate) fn new(
        database: &'a Database,
        recipe: [u8; 16],
        (sink, files): (S, ModelFiles),
    ) -> Self {
        let (writes, last_commit) = (BTreeMap::new(), Instant::now());
        Self { database, recipe, sink, files, writes, last_commit }
    }

    /// Where it writes to.
    pub(crate) fn into_sink(self) -> S {
        self.sink
    }

    /// Puts sentences among what is to be written, all or none, with their LUs where these are new.
    /// Gives their ids.
    pub(crate) fn write(
        &mut self,
        release: ReleaseId,
        all: &[Generated],
    ) -> Result<Vec<AnnotationSetId>, S::Error> {
        let mut ids = Vec::with_capacity(all.len());
        for made in all {
            ids.push(self.free_id(release, made, &ids)?);
        }
        let mut given = ids.clone();
        for (made, id) in all.iter().zip(&ids) {
            self.push(release, made, *id);
            for along in &made.along {
                let own = self.free_id_along(release, (along, *id), &given)?;
                given.push(own);
                let write = self.writes.entry(release).or_default();
                write
                    .verifications
                    .extend(along.verification.map(|of| Verification { set: own, ..of }));
                write.sets.push(along.row(own, *id));
            }
        }
        Ok(ids)
    }

    fn push(&mut self, release: ReleaseId, made: &Generated, id: AnnotationSetId) {
        let (sentence, set) = made.rows(id);
        let write = self.writes.entry(release).or_default();
        write.lexunits.extend(made.proposed.clone());
        write.sentences.push(sentence);
        write.verifications.extend(made.verification.map(|of| Verification { set: id, ..of }));
        write.sets.push(set);
    }

    /// Notes how far seeds are.
    pub(crate) fn note(&mut self, release: ReleaseId, journal: Vec<JournalWrite>) {
        self.writes.entry(release).or_default().journal.extend(journal);
    }

    /// Whether it is time for a commit.
    pub(crate) fn is_due(&self) -> bool {
        let rows_of = |write: &Write| write.journal.len().max(write.sets.len());
        let rows: usize = self.writes.values().map(rows_of).sum();
        rows >= COMMIT_ROWS || self.last_commit.elapsed() >= COMMIT_AFTER
    }

    /// Commits what waits. Says whether the store has everything now.
    pub(crate) fn commit(&mut self) -> Result<bool, S::Error> {
        let writes = std::mem::take(&mut self.writes);
        self.files.check()?;
        let mut is_stored = false;
        for (release, write) in writes.into_iter().filter(|(_, write)| !write.is_empty()) {
            is_stored = self.sink.take(self.database, release, write)?;
        }
        self.last_commit = Instant::now();
        Ok(is_stored)
    }

    /// The natural id of a set, or the next number that no other set has, in the store, in the next
    /// commit, or among some that were just given.
    fn free_id(
        &self,
        release: ReleaseId,
        made: &Generated,
        given: &[AnnotationSetId],
    ) -> Result<AnnotationSetId, S::Error> {
        let Generated { frame, lu, generation, .. } = made;
        // A rewriting finds its LU, which people may have moved it from since. Others are given it.
        let finds_lu = generation.method == Method::Paraphrase;
        let is_same = |set: &AnnotationSet| match &set.provenance {
            Provenance::Generated(there) => {
                (finds_lu || set.lu == *lu) && there.is_same_output(generation)
            }
            _ => false,
        };
        self.free_from(release, generation.natural_id(*frame, &self.recipe), given, is_same)
    }

    /// So for a set that is carried along beside a generated one.
    fn free_id_along(
        &self,
        release: ReleaseId,
        (along, generated): (&CarriedAlong, AnnotationSetId),
        given: &[AnnotationSetId],
    ) -> Result<AnnotationSetId, S::Error> {
        let carrying = along.carrying_beside(generated);
        let is_same = |set: &AnnotationSet| match &set.provenance {
            Provenance::Carried(there) => there.is_same_output(&carrying),
            _ => false,
        };
        self.free_from(release, carrying.natural_id(along.frame), given, is_same)
    }

    /// The first number from one on that no other set has.
    fn free_from(
        &self,
        release: ReleaseId,
        mut id: AnnotationSetId,
        given: &[AnnotationSetId],
        is_same: impl Fn(&AnnotationSet) -> bool,
    ) -> Result<AnnotationSetId, S::Error> {
        let waiting = self.writes.get(&release).map_or(&[][..], |write| &write.sets);
        loop {
            let stored = self.database.store().annotation_set(release, id);
            let stored = stored.map_err(|error| CommitError::Database(error.into()))?;
            let is_pending = given.contains(&id) || waiting.iter().any(|set| set.id == id);
            if !is_pending && stored.as_ref().is_none_or(&is_same) {
                return Ok(id);
            }
            id = id.next();
        }
    }
}
