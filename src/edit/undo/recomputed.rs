//! Links that were computed anew since the commit that is taken back.
//!
//! A computation keeps what people decided. So what they decided in the commit goes, and what was
//! computed since stays.

use std::collections::BTreeSet;

use super::conflicts::{Seen, subject};
use super::{Result, Transaction};
use crate::model::{LinkSource, LinkSubject, Links};
use crate::store::{Image, RowContent, RowId, Store, Subject};

impl Transaction<'_> {
    /// Whether a row is of another release, or of links that were computed anew since, and that
    /// nobody has decided on since: what the commit did to these is taken back.
    pub(super) fn is_elsewhere_or_recomputed(
        &mut self,
        revision: u64,
        image: &Image,
        seen: &mut Seen,
    ) -> Result<bool> {
        if image.row.release() != Some(self.release) {
            return Ok(true);
        }
        let now = match self.undoing.rows.get(&image.row) {
            Some(value) => value.clone(),
            None => self.database.store.row_value(&image.row)?,
        };
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
            _ => Some(decided_as(*links, None)),
        };
        let value = value.map(|links| Store::value_of_links(&links)).transpose()?;
        self.undoing.rows.insert(image.row.clone(), value);
        self.undoing.plain.insert(image.row.clone());
        seen.plain += 1;
        Ok(true)
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
