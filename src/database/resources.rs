//! Lexicons of other kinds than FrameNet's in a database: by name, and their removal.

use super::{Database, DatabaseError, LookupError, ReleaseError, Result, Turn, release_called};
use crate::model::Resource;
use crate::query::nearest;
use crate::text::called;

impl Database {
    /// The lexicons of other kinds than FrameNet's, in order of import. No release is among them.
    ///
    /// # Errors
    /// When the store fails.
    pub fn resources(&self) -> Result<Vec<Resource>> {
        Ok(self.store.resources()?)
    }

    /// The resource of a name.
    ///
    /// # Errors
    /// When there is none, with the nearest name.
    pub fn resource(&self, name: &str) -> Result<Resource> {
        self.resource_of(name, "lexicon beside the releases", |_| true)
    }

    /// The resource of a name, where it is of the kind that is meant; `what` is what a message
    /// calls the kind.
    ///
    /// # Errors
    /// When there is none, with the nearest name of the kind.
    pub(crate) fn resource_of(
        &self,
        name: &str,
        what: &'static str,
        is_meant: impl Fn(&Resource) -> bool,
    ) -> Result<Resource> {
        let resources = self.resources()?.into_iter().filter(is_meant).collect::<Vec<_>>();
        if let [one] = called(&resources, name, |resource| &resource.name).as_slice() {
            return Ok((*one).clone());
        }
        let names = resources.iter().map(|resource| resource.name.as_str());
        Err(DatabaseError::Lookup(LookupError::UnknownName {
            kind: what,
            name: name.to_owned(),
            nearest: nearest(name, names).map(str::to_owned),
        }))
    }

    /// Removes a resource with its rows. Gives the new revision.
    ///
    /// # Errors
    /// When there is none of the name, or the store fails.
    pub fn remove_resource(&self, name: &str) -> Result<u64> {
        let mut turn = self.turn()?;
        let revision = self.store.remove_resource(&self.resource(name)?)?;
        if let Turn::Index(index) = &mut turn {
            self.follow(index);
        }
        Ok(revision)
    }

    /// Fails for a name that a release or resource has.
    pub(crate) fn require_free_name(&self, name: &str) -> Result<()> {
        let exists = |source: &str| {
            let (name, source_path) = (name.to_owned(), source.to_owned());
            Err(DatabaseError::Release(ReleaseError::Exists { name, source_path }))
        };
        if let Some(there) = release_called(&self.releases()?, name)? {
            return exists(&there.source);
        }
        // One that cannot be read stops no import.
        let resources = self.store.readable_resources()?;
        match called(&resources, name, |resource| &resource.name).first() {
            Some(there) => exists(&there.source),
            None => Ok(()),
        }
    }
}
