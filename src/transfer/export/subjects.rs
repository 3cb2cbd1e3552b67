//! The records of a release, one after another: what a follower copies where a release was added.

use crate::database::{Database, ReleaseRef, Result};
use crate::store::{SetLocation, StoreError, Subject};

/// Subjects of one kind.
type Subjects<'a> = Box<dyn Iterator<Item = std::result::Result<Subject, StoreError>> + 'a>;

/// Subjects that rows stand for.
fn each<'a, T>(
    rows: impl Iterator<Item = std::result::Result<T, StoreError>> + 'a,
    of: impl Fn(T) -> Subject + 'a,
) -> Subjects<'a> {
    Box::new(rows.map(move |row| row.map(&of)))
}

impl Database {
    /// Every record of a release that [`changes`](Self::changes) can name, by kind: types, frames,
    /// relations, LUs, sentences, layers, sets, documents, judgements, verifications, decisions and
    /// editions. [`record_lines`](Self::record_lines) gives the records themselves.
    ///
    /// An import is one change, of its release: a follower takes the records from here.
    ///
    /// # Errors
    /// When there is no such release, or the store fails.
    pub fn subjects<'r>(
        &self,
        release: impl Into<ReleaseRef<'r>>,
    ) -> Result<impl Iterator<Item = Result<Subject>> + '_> {
        let (store, of) = (&self.store, self.release(release)?.id);
        let kinds: [Subjects<'_>; 12] = [
            each(store.sem_types(of)?, |row| Subject::SemType(row.id)),
            each(store.frames(of)?, |row| Subject::Frame(row.id)),
            each(store.relations(of)?, |row| Subject::Relation(row.id)),
            each(store.lexunits(of)?, |row| Subject::LexUnit(row.frame, row.id)),
            each(store.sentences(of)?, |row| Subject::Sentence(row.id)),
            each(store.all_sentence_layers(of)?, |row| {
                Subject::SentenceLayers(row.sentence, row.id)
            }),
            each(store.annotation_sets(of)?, |row| Subject::Set(row.id, SetLocation::of(&row))),
            each(store.documents(of)?, |row| Subject::Document(row.corpus, row.id)),
            each(store.all_judgements(of)?, |(set, row)| {
                Subject::Judgement(set, row.reviewer, row.question)
            }),
            each(store.all_verifications(of)?, |row| Subject::Verification(row.set)),
            each(store.all_decisions(of)?, |row| Subject::Decision(row.frame, row.name)),
            each(store.editions(of)?, |row| Subject::Edition(row.name)),
        ];
        Ok(kinds.into_iter().flatten().map(|subject| Ok(subject?)))
    }
}
