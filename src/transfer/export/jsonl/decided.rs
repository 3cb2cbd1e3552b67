//! What was found, decided and frozen, as JSON lines: proposals, searches, links, editions.

use super::Export;
use crate::database::Result;
use crate::exchange::jsonl::Scope;
use crate::model::{Decided, Discovery, Edition, Frame, LinkSubject, Links};

impl Export<'_, '_> {
    /// Writes editions; a file of additions has none, as the sets of one may be elsewhere.
    pub(super) fn editions(&mut self, is_wanted: impl Fn(&Edition) -> bool) -> Result<()> {
        if self.scope == Scope::Additions {
            return Ok(());
        }
        for edition in self.store.editions(self.release)? {
            let edition = edition?;
            if is_wanted(&edition) {
                self.writer.edition(&edition)?;
            }
        }
        Ok(())
    }

    /// Writes decisions on proposed LUs.
    pub(super) fn decisions(&mut self, is_wanted: impl Fn(&Decided) -> bool) -> Result<()> {
        for decided in self.store.all_decisions(self.release)? {
            let decided = decided?;
            if is_wanted(&decided) {
                let frame_name = self.catalog.frame(self.release, decided.frame)?;
                self.writer.decisions(decided, &frame_name)?;
            }
        }
        Ok(())
    }

    /// Writes what searches found of words.
    pub(super) fn discoveries(&mut self, is_wanted: impl Fn(&Discovery) -> bool) -> Result<()> {
        for found in self.store.discoveries(self.release)? {
            let found = found?;
            if is_wanted(&found) && self.is_of_its_lu(&found)? {
                let frame_name = self.catalog.frame(self.release, found.frame)?;
                self.writer.discovery(found, &frame_name)?;
            }
        }
        Ok(())
    }

    /// Writes links to other lexicons, also to those that were removed.
    pub(super) fn links(&mut self, is_wanted: impl Fn(&Links) -> bool) -> Result<()> {
        let mut last: Option<Frame> = None;
        for links in self.store.all_stored_links(self.release)? {
            let links = links?;
            if !is_wanted(&links) {
                continue;
            }
            if last.as_ref().is_none_or(|frame| frame.id != links.frame) {
                last = self.store.frame(self.release, links.frame)?;
            }
            // What is linked may be gone: no import takes what is of none.
            let Some(frame) = &last else { continue };
            let name = match links.of {
                LinkSubject::LexUnit(lu) => {
                    self.store.lexunit(self.release, links.frame, lu)?.map(|lu| lu.name)
                }
                LinkSubject::Element(fe) => {
                    frame.elements.iter().find(|of| of.id == fe).map(|of| of.name.clone())
                }
            };
            if let Some(name) = name {
                self.writer.links(links, &frame.name, &name)?;
            }
        }
        Ok(())
    }

    /// Whether there is an LU of its name still: no import takes what is of none. A program that
    /// knew nothing of such rows may have renamed it.
    fn is_of_its_lu(&self, found: &Discovery) -> Result<bool> {
        if found.name.is_empty() {
            return Ok(true);
        }
        let lu = self.store.lexunit(self.release, found.frame, found.lu)?;
        Ok(lu.is_some_and(|lu| lu.name == found.name))
    }
}
