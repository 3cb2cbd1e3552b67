//! The one way in which a release is named, by whoever has its name, its number or the release.

use super::{Database, DatabaseError, EditError, LookupError, Result, release_called};
use crate::model::{Release, ReleaseId};
use crate::query::nearest;

/// Which release of a database: its name, its number or the release itself become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReleaseRef<'a> {
    /// The one of that name: the one whose name is written so, else the only one whose name is
    /// canonically equivalent.
    Name(&'a str),
    /// The one of that number.
    Id(ReleaseId),
}

impl<'a> From<&'a str> for ReleaseRef<'a> {
    fn from(name: &'a str) -> Self {
        Self::Name(name)
    }
}

impl<'a> From<&'a String> for ReleaseRef<'a> {
    fn from(name: &'a String) -> Self {
        Self::Name(name)
    }
}

impl From<ReleaseId> for ReleaseRef<'_> {
    fn from(id: ReleaseId) -> Self {
        Self::Id(id)
    }
}

impl From<&Release> for ReleaseRef<'_> {
    fn from(release: &Release) -> Self {
        Self::Id(release.id)
    }
}

impl Database {
    /// The release that a name or a number means.
    ///
    /// # Errors
    /// When there is none, with the nearest name, or several are equivalent.
    pub fn release<'a>(&self, release: impl Into<ReleaseRef<'a>>) -> Result<Release> {
        let releases = self.releases()?;
        let name = match release.into() {
            ReleaseRef::Name(name) => name,
            ReleaseRef::Id(id) => {
                let found = releases.into_iter().find(|release| release.id == id);
                return found.ok_or_else(|| EditError::absent("release", id).into());
            }
        };
        if let Some(release) = release_called(&releases, name)? {
            return Ok(release.clone());
        }
        let names = releases.iter().map(|release| release.name.as_str());
        Err(DatabaseError::Lookup(LookupError::UnknownName {
            kind: "release",
            name: name.to_owned(),
            nearest: nearest(name, names).map(str::to_owned),
        }))
    }
}
