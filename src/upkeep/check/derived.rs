//! Rows that lead to others are followed, and records by their names.

use super::CheckCode;
use super::rows::{Checker, RowPlace};
use crate::model::{
    CorpusId, Discovery, DocumentId, FeId, FrameId, LinkSubject, Links, LuId, Reference, ReleaseId,
    SemTypeId,
};
use crate::store::{NameKind, RowContent};
use crate::text::fold;

impl Checker<'_> {
    /// Rows that only lead to others, followed to where they lead.
    pub(super) fn derived_row(
        &mut self,
        at: &mut RowPlace,
        release: ReleaseId,
        content: &RowContent,
    ) {
        match content {
            RowContent::SetLocation(set, location) => {
                at.name = format!("location of set {set}");
                let found = self.store.annotation_set_at(release, *set, *location);
                if !self.finds(found, at) {
                    let detail = format!("{}: nothing at {location:?}", at.name);
                    self.findings.add(CheckCode::SetMissing, at.family, detail);
                }
            }
            RowContent::BySentence(sentence, set) => {
                at.name = format!("sentence {sentence}");
                let location = self.read(self.store.set_location(release, *set), at);
                if location
                    .is_some_and(|place| place.map(|place| place.sentence) != Some(*sentence))
                {
                    let detail = format!("{}: it lists set {set}, which is not there", at.name);
                    self.findings.add(CheckCode::SetMissing, at.family, detail);
                }
            }
            RowContent::Name { kind, folded, name, id } => {
                at.name = format!("name `{name}`");
                self.name_row(at, release, (*kind, *folded), name, *id);
            }
            RowContent::Journal { seed, recipe, entry } => {
                at.name = format!("journal of {seed}");
                self.expect(at, release, ("seed", Reference::Set(*seed)));
                for set in &entry.chain {
                    self.expect(at, release, ("chain", Reference::Set(*set)));
                }
                self.expect(at, release, ("recipe", Reference::Recipe(*recipe)));
            }
            RowContent::Judgement(set, _) => {
                at.name = "judgement".to_owned();
                self.expect(at, release, ("judged", Reference::Set(*set)));
            }
            RowContent::Verification(set) => {
                at.name = "verification".to_owned();
                self.expect(at, release, ("verified", Reference::Set(*set)));
            }
            RowContent::Discovery(found) => {
                at.name = format!("what was found of `{}`", found.name);
                self.discovery(at, release, found);
            }
            RowContent::Links(links) => self.links(at, release, links),
            // Editions outlive their sets.
            RowContent::Decisions(decided) => {
                at.name = format!("decisions on `{}`", decided.name);
                self.expect(at, release, ("frame", Reference::Frame(decided.frame)));
            }
            _ => {}
        }
    }

    /// What is linked is there.
    fn links(&mut self, at: &mut RowPlace, release: ReleaseId, links: &Links) {
        at.name = format!("links of {}", links.of.numbers().1);
        match links.of {
            LinkSubject::LexUnit(lu) => {
                self.expect(at, release, ("linked", Reference::LexUnit(links.frame, lu)));
            }
            LinkSubject::Element(fe) => {
                self.expect(at, release, ("linked", Reference::Frame(links.frame)));
                self.has_element(at, release, (links.frame, fe));
            }
        }
    }

    /// A frame has an FE of a number.
    fn has_element(&mut self, at: &RowPlace, release: ReleaseId, (frame, fe): (FrameId, FeId)) {
        let Some(Some(frame)) = self.look_up_frame(release, frame, at) else { return };
        if !frame.elements.contains_key(&fe) {
            let detail = format!("{}: FE {fe}", at.name);
            self.findings.add(CheckCode::ElementMissing, at.family, detail);
        }
    }

    /// What was found of a word is of the LU of that name; a search is of its frame.
    fn discovery(&mut self, at: &RowPlace, release: ReleaseId, found: &Discovery) {
        if found.name.is_empty() {
            return self.expect(at, release, ("frame", Reference::Frame(found.frame)));
        }
        self.expect(at, release, ("lu", Reference::LexUnit(found.frame, found.lu)));
        let lu = self.read(self.store.lexunit(release, found.frame, found.lu), at).flatten();
        if let Some(lu) = lu.filter(|lu| lu.name != found.name) {
            let detail = format!("{}: LU {} is `{}`", at.name, found.lu, lu.name);
            self.findings.add(CheckCode::LexUnitMissing, at.family, detail);
        }
    }

    /// A name's row has a record of that name.
    fn name_row(
        &mut self,
        at: &RowPlace,
        release: ReleaseId,
        (kind, folded): (NameKind, bool),
        name: &str,
        (high, low): (u32, u32),
    ) {
        let store = self.store;
        let named = match kind {
            NameKind::Frame => {
                store.frame(release, FrameId(low)).map(|frame| frame.map(|frame| frame.name))
            }
            NameKind::LexUnit => {
                let found = store.lexunit(release, FrameId(high), LuId(low));
                found.map(|lexunit| lexunit.map(|lexunit| lexunit.name))
            }
            NameKind::FrameElement => {
                let Some(frame) = self.look_up_frame(release, FrameId(high), at) else { return };
                Ok(frame.and_then(|frame| frame.elements.get(&FeId(low)).cloned()))
            }
            NameKind::SemType => {
                let found = store.sem_type(release, SemTypeId(low));
                found.map(|sem_type| sem_type.map(|sem_type| sem_type.name))
            }
            NameKind::Document => {
                let found = store.document(release, CorpusId(high), DocumentId(low));
                found.map(|document| document.map(|document| document.name))
            }
        };
        let Some(named) = self.read(named, at) else { return };
        let is_right = |found: &String| {
            if folded { fold(found) == name } else { found == name }
        };
        if !named.as_ref().is_some_and(is_right) {
            let detail = format!("{kind:?} {high}/{low} is named `{name}`, its record {named:?}");
            self.findings.add(CheckCode::Name, at.family, detail);
        }
    }

    /// A record's name leads back to it.
    pub(super) fn has_name(
        &mut self,
        at: &RowPlace,
        release: ReleaseId,
        kind: NameKind,
        name: &str,
        id: (u32, u32),
    ) {
        if !self.options.deep {
            return;
        }
        for folded in [false, true] {
            let leads = self.store.name_leads_to(release, kind, (name, folded), id);
            if let Some(false) = self.read(leads, at) {
                let detail = format!("{}: `{name}` does not lead to {}", at.name, id.1);
                self.findings.add(CheckCode::Name, at.family, detail);
            }
        }
    }
}
