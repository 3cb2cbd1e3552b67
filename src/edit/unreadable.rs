//! The removal of records that cannot be read, and of what would be left dangling.
//!
//! In the place of such a record stands one that says what its key says. The removal is then that
//! of any other record, and whatever else cannot be read is passed over.

use super::{Removal, Result, Transaction};
use crate::model::{
    AnnotationSet, AnnotationSetId, CorpusId, DocumentId, IdSpace, LexUnit, Provenance, Sentence,
};
use crate::store::{SetLocation, Unreadable};

impl Transaction<'_> {
    /// Removes sets, sentences and LUs that cannot be read, with what belongs to them: the sets and
    /// layers of a sentence, the sets of an LU, what was generated from a set. Others are left.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) fn remove_unreadable(&mut self, records: &[Unreadable]) -> Result<()> {
        self.staged.pass_over_unreadable();
        // All stand in first: the removal of one looks at the others.
        for record in records {
            match record {
                Unreadable::Set(id, at) => self.staged.stand_in(stand_in_of_set(*id, *at)),
                Unreadable::Sentence(id) => self.staged.stand_in(Sentence {
                    id: *id,
                    xml_id: None,
                    text: String::new(),
                    occurrences: Vec::new(),
                }),
                Unreadable::LexUnit(frame, id, name) => {
                    let mut lu = LexUnit::named(*frame, *id, name);
                    // It may have a file, under which sentences are listed.
                    (lu.listing.frame_file, lu.listing.lu_file) = (true, true);
                    self.staged.stand_in(lu);
                }
                Unreadable::Alone(_) | Unreadable::Retained => {}
            }
        }
        for record in records {
            match record {
                Unreadable::Set(id, _) if !self.staged.is_removed::<AnnotationSet>(id) => {
                    self.remove_annotation_set(*id, Removal::Cascade)?;
                    self.take_out_of_chains(*id)?;
                }
                Unreadable::Sentence(id) if !self.staged.is_removed::<Sentence>(id) => {
                    self.remove_sentence(*id, Removal::Cascade)?;
                }
                Unreadable::LexUnit(frame, id, _)
                    if !self.staged.is_removed::<LexUnit>(&(*frame, *id)) =>
                {
                    self.remove_lexunit(*frame, *id, Removal::Cascade)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Takes a generated set out of the chain that it is part of: its seed is not known.
    fn take_out_of_chains(&mut self, set: AnnotationSetId) -> Result<()> {
        if set.space() != IdSpace::Generated {
            return Ok(());
        }
        for row in self.database.store.journal_rows(self.release)? {
            let (seed, target, recipe, mut entry) = row?;
            if entry.chain.contains(&set) {
                entry.chain.retain(|id| *id != set);
                self.staged.journal.entry((seed, target, recipe)).or_insert(Some(entry));
            }
        }
        Ok(())
    }
}

/// A set of which nothing is known but what its key says, and where such sets come from.
fn stand_in_of_set(id: AnnotationSetId, at: SetLocation) -> AnnotationSet {
    let provenance = match id.space() {
        IdSpace::Exemplar => Provenance::Exemplar { lu: at.lu, subcorpus: Default::default() },
        IdSpace::FullText => Provenance::FullText { corpus: CorpusId(0), document: DocumentId(0) },
        IdSpace::Imported | IdSpace::Generated => Provenance::User,
    };
    AnnotationSet { provenance, ..AnnotationSet::placed(id, at.sentence, (at.frame, at.lu)) }
}
