//! Links that were computed anew since the commit that is taken back.
//!
//! A computation keeps what people decided. So what they decided in the commit goes, and what was
//! computed since stays.

use std::collections::BTreeSet;

use super::conflicts::{Seen, subject};
use super::{Result, Transaction};
use crate::model::{Frame, LexUnit, LinkSource, LinkSubject, Links};
use crate::store::{Image, RowContent, RowId, Store, Subject};

impl Transaction<'_> {
    /// Takes back what a commit did to links that were computed anew since, and that nobody has
    /// decided on since. Gives whether the row is such links.
    pub(super) fn undo_in_recomputed_links(
        &mut self,
        revision: u64,
        image: &Image,
        seen: &mut Seen,
    ) -> Result<bool> {
        if !image.row.is_of_links() {
            return Ok(false);
        }
        let now = self.row_now(&image.row)?;
        let Some(now) = now.filter(|now| !image.is_left(Some(now))) else { return Ok(false) };
        let RowContent::Links(links) = image.row.content(&now)? else { return Ok(false) };
        if self.is_decided_since(revision, &image.row, seen)? {
            return Ok(false);
        }
        let before = match &image.before {
            Some(value) => Some(image.row.content(value)?),
            None => None,
        };
        let value = match before {
            Some(RowContent::Links(before)) => Some(decided_as(*links, Some(&before))),
            _ if self.is_added_by(revision, &links)? => None,
            _ => Some(decided_as(*links, None)).filter(|links| !links.links.is_empty()),
        };
        let value = value.map(|links| Store::value_of_links(&links)).transpose()?;
        self.undoing.rows.insert(image.row.clone(), value);
        self.undoing.plain.insert(image.row.clone());
        seen.plain += 1;
        Ok(true)
    }

    /// What a row holds, or will hold by what was taken back so far.
    pub(super) fn row_now(&self, row: &RowId) -> Result<Option<Vec<u8>>> {
        match self.undoing.rows.get(row) {
            Some(value) => Ok(value.clone()),
            None => Ok(self.database.store.row_value(row)?),
        }
    }

    /// Has links go whose LU or FE will not be there: an earlier commit that is taken back, too,
    /// may have added it.
    pub(super) fn drop_links_of_what_goes(&mut self) -> Result<()> {
        let mut gone = Vec::new();
        for row in self.undoing.plain.iter().filter(|row| row.is_of_links()) {
            let Some(Some(value)) = self.undoing.rows.get(row) else { continue };
            let RowContent::Links(links) = row.content(value)? else { continue };
            let is_there = match links.of {
                LinkSubject::LexUnit(lu) => self.stands::<LexUnit>(&(links.frame, lu))?.is_some(),
                LinkSubject::Element(fe) => {
                    let frame = self.stands::<Frame>(&links.frame)?;
                    frame.is_some_and(|frame| frame.elements.iter().any(|of| of.id == fe))
                }
            };
            if !is_there {
                gone.push(row.clone());
            }
        }
        for row in gone {
            self.undoing.rows.insert(row, None);
        }
        Ok(())
    }

    /// Whether a later commit of people wrote a row.
    fn is_decided_since(&self, revision: u64, row: &RowId, seen: &mut Seen) -> Result<bool> {
        if seen.later.is_none() {
            let mut later = BTreeSet::new();
            for commit in revision + 1..=self.database.store.revision()? {
                if !self.undoing.revisions.contains(&commit) {
                    let images = self.database.store.images(commit)?;
                    later.extend(images.into_iter().map(|image| image.row));
                }
            }
            seen.later = Some(later);
        }
        Ok(seen.later.as_ref().is_some_and(|later| later.contains(row)))
    }

    /// Whether a commit added the LU, or the frame of the FE, that links are of.
    fn is_added_by(&self, revision: u64, links: &Links) -> Result<bool> {
        let of = match links.of {
            LinkSubject::LexUnit(lu) => Subject::LexUnit(links.frame, lu),
            LinkSubject::Element(_) => Subject::Frame(links.frame),
        };
        for image in self.database.store.images(revision)? {
            let now = self.database.store.row_value(&image.row)?;
            if let (None, Some(now)) = (&image.before, now)
                && subject(&image.row.content(&now)?).as_ref() == Some(&of)
            {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Links with the decisions that other links have; those that somebody added go, unless these have
/// them, too.
fn decided_as(mut links: Links, before: Option<&Links>) -> Links {
    let earlier = || before.into_iter().flat_map(|before| &before.links);
    for link in &mut links.links {
        let same = earlier().find(|of| of.is_same_place(link));
        link.decisions = same.map(|of| of.decisions.clone()).unwrap_or_default();
    }
    links.links.retain(|link| {
        link.source != LinkSource::User || earlier().any(|of| of.is_same_place(link))
    });
    for of in earlier().filter(|of| !of.decisions.is_empty()) {
        if links.links.iter().all(|link| !link.is_same_place(of)) {
            links.links.push(of.clone());
        }
    }
    links
}
