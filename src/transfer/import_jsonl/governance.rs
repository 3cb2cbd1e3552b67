//! Judgements, answers of verifiers, decisions on proposed LUs and editions, on their way into the
//! store.

use std::io::BufRead;

use super::loader::LineImport;
use crate::database::Result;
use crate::exchange::FaultCode;
use crate::exchange::jsonl::{LineKind, WholeEdition};
use crate::model::{
    AnnotationSetId, Decided, Discovery, Edition, Judgement, LinkSubject, Links, Promise,
    Reference, Verification, recorded_question,
};
use crate::store::{Store, Subject};
use crate::text::is_same;

impl<R: BufRead> LineImport<'_, R> {
    pub(super) fn take_judgement(
        &mut self,
        set: AnnotationSetId,
        judgement: &mut Judgement,
    ) -> Result<()> {
        self.refer("set", Reference::Set(set))?;
        let own = self.frame_of(set)?;
        let own = own.as_ref().map_or("", |frame| &frame.name);
        judgement.question = recorded_question(&judgement.question, own).to_owned();
        let judgement = &*judgement;
        let Judgement { reviewer, question, .. } = judgement;
        let of_reviewer = (set, reviewer.clone(), question.clone());
        let id = format!("{set} by {reviewer}");
        let is_first = self.known.judgements.insert(of_reviewer);
        self.check_first(is_first, &id)?;
        let by_reviewer = |store: &Store, release| {
            let mut judgements = store.judgements(release, set)?;
            judgements
                .find(|there| there.as_ref().map_or(true, |there| there.replaces(judgement)))
                .transpose()
        };
        if self.is_new(judgement, &set, by_reviewer)? {
            self.batch.put_judgement(set, judgement)?;
            let (by, question) = (judgement.reviewer.clone(), judgement.question.clone());
            self.added(&Subject::Judgement(set, by, question));
            self.count(LineKind::Judgement);
        }
        Ok(())
    }

    /// Takes what a verifier says of a set. What the store has of one stays.
    pub(super) fn take_verification(&mut self, verification: &Verification) -> Result<()> {
        let set = verification.set;
        self.refer("set", Reference::Set(set))?;
        let is_first = self.known.verifications.insert(set);
        self.check_first(is_first, &set)?;
        let stored =
            |store: &Store, release| Ok(store.verification(release, set)?.map(|_| *verification));
        if self.is_new(verification, &set, stored)? {
            self.batch.put_verification(verification)?;
            self.added(&Subject::Verification(set));
            self.count(LineKind::Verification);
        }
        Ok(())
    }

    pub(super) fn take_decisions(&mut self, decided: &Decided, frame_name: &str) -> Result<()> {
        self.check_frame(decided.frame, frame_name)?;
        let key = (decided.frame, decided.name.clone());
        let is_first = self.known.decisions.insert(key);
        self.check_first(is_first, &decided.name)?;
        let Decided { frame, name, .. } = decided;
        // What the store has may have gone on since the file was written.
        let stored = |store: &crate::store::Store, release| {
            let there = store.decisions(release, *frame, name)?;
            Ok(there.map(|there| if there.goes_on_from(decided) { decided.clone() } else { there }))
        };
        if self.is_new(decided, name, stored)? {
            self.batch.put_decisions(decided)?;
            self.added(&Subject::Decision(*frame, name.clone()));
            self.count(LineKind::Decisions);
        }
        Ok(())
    }

    /// Takes what a search found of a word. What the store has of it stays.
    pub(super) fn take_discovery(&mut self, mut found: Discovery, frame_name: &str) -> Result<()> {
        self.check_frame(found.frame, frame_name)?;
        found.lu = self.number_of(found.frame, found.lu);
        let Discovery { frame, name, lu, .. } = &found;
        if !name.is_empty() {
            self.check_lexunit(*frame, *lu, name)?;
        }
        let is_first = self.known.discoveries.insert((*frame, name.clone()));
        self.check_first(is_first, name)?;
        let stored = |store: &Store, release| {
            Ok(store.discovery(release, *frame, name)?.map(|_| found.clone()))
        };
        if self.is_new(&found, name, stored)? {
            self.batch.put_discovery(&found)?;
            self.count(LineKind::Discovery);
        }
        Ok(())
    }

    /// Takes the links of an LU or FE. Those that the store has go on with what was decided since.
    pub(super) fn take_links(
        &mut self,
        mut links: Links,
        frame_name: &str,
        name: &str,
    ) -> Result<()> {
        let frame = self.check_frame(links.frame, frame_name)?;
        match &mut links.of {
            LinkSubject::LexUnit(lu) => {
                *lu = self.number_of(links.frame, *lu);
                self.check_lexunit(links.frame, *lu, name)?;
            }
            LinkSubject::Element(fe) => match frame.elements.get(fe) {
                Some(known) if is_same(known, name) => {}
                known => return Err(self.unknown("fe", fe.0, name, known.map(String::as_str))),
            },
        }
        let is_first = self.known.links.insert((links.frame, links.of));
        self.check_first(is_first, &name)?;
        let stored = match self.adds() {
            true => self.store.stored_links(self.release, links.frame, links.of)?,
            false => None,
        };
        if let Some(there) = stored {
            let Some(both) = there.clone().with_decisions_of(&links) else {
                let expected = "decisions on links that go on from those in the store";
                return Err(self.wrong(FaultCode::Conflict, "links", name, expected));
            };
            if both == there {
                self.unchanged += 1;
                return Ok(());
            }
            links = both;
        }
        self.batch.put_links(&links)?;
        self.count(LineKind::Links);
        Ok(())
    }

    /// Takes a line of an edition; the edition is written with its last line. Its sets may be gone:
    /// that is what verifying it tells.
    pub(super) fn take_edition(&mut self, line: Edition, whole: &WholeEdition) -> Result<()> {
        if self.adds() {
            let expected = "no edition in a file of additions";
            return Err(self.wrong(FaultCode::Layout, "kind", "edition", expected));
        }
        self.check_name("name", &line.name)?;
        let mut edition = match self.edition.take() {
            None => line,
            Some(mut edition) => {
                let (mut head, mut of_line) = (edition.clone(), line.clone());
                head.sets.clear();
                of_line.sets.clear();
                [&mut head, &mut of_line].into_iter().for_each(forget_candidates);
                // The first line alone has the lines of the list.
                if let Some(list) = &mut head.split_list {
                    list.lines = None;
                }
                let ends = edition.sets.last().zip(line.sets.first());
                let follows = ends.is_none_or(|(last, first)| last.set < first.set);
                if head != of_line || !follows {
                    let expected = format!("the other sets of edition `{}`", edition.name);
                    return Err(self.wrong(FaultCode::Layout, "name", &line.name, expected));
                }
                edition.sets.extend(line.sets);
                if let (Some(promise), Some(more)) = (&mut edition.promise, line.promise) {
                    for (group, more) in promise.groups.iter_mut().zip(more.groups) {
                        group.candidates.extend(more.candidates);
                    }
                }
                edition
            }
        };
        let count = edition.sets.len() as u64;
        let total = whole.sets;
        if count > total {
            let expected = format!("at most the total, {total}");
            return Err(self.wrong(FaultCode::Value, "sets", &count.to_string(), expected));
        }
        let candidates = self.check_candidates(&edition, whole)?;
        if count < total || candidates < whole.candidates {
            self.edition = Some(edition);
            return Ok(());
        }
        edition.sets.shrink_to_fit();
        let hash = edition.written_hash();
        if let Some(said) = whole.blake3.as_ref().filter(|said| **said != hash) {
            let expected = format!("`{hash}`, the hash of its sets");
            return Err(self.wrong(FaultCode::Value, "blake3", said, expected));
        }
        let is_first = self.known.editions.insert(edition.name.clone());
        self.check_first(is_first, &edition.name)?;
        self.batch.put_edition(&edition)?;
        self.count(LineKind::Edition);
        Ok(())
    }

    /// Counts the candidates of an edition's promise; refuses more than there are, and those that
    /// come twice.
    fn check_candidates(&self, edition: &Edition, whole: &WholeEdition) -> Result<u64> {
        let candidates = edition.promise.iter().flat_map(Promise::candidates).count() as u64;
        let wrong = |found: &str, expected| {
            Err(self.wrong(FaultCode::Value, "candidates", found, expected))
        };
        if candidates > whole.candidates {
            return wrong(
                &candidates.to_string(),
                format!("at most the total, {}", whole.candidates),
            );
        }
        if edition.promise.as_ref().is_some_and(|promise| !promise.is_sound()) {
            return wrong(&edition.name, "candidates in order of id, each once".to_owned());
        }
        Ok(candidates)
    }

    /// Refuses a file that ends in the middle of an edition.
    pub(super) fn check_edition(&self) -> Result<()> {
        match &self.edition {
            None => Ok(()),
            Some(edition) => {
                let expected = "an edition with all of its sets";
                Err(self.wrong(FaultCode::Missing, "name", &edition.name, expected))
            }
        }
    }
}

fn forget_candidates(edition: &mut Edition) {
    for group in edition.promise.iter_mut().flat_map(|promise| &mut promise.groups) {
        group.candidates.clear();
    }
}
