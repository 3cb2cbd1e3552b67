//! Records out of the database into files of other formats.

mod change;
mod closure;
mod complete;
mod framenet;
mod jsonl;
mod lossy;
mod record;
mod subjects;
mod tokens;
mod training;

pub use change::ChangeRecord;
pub use framenet::{FramenetExport, FramenetFiles, FramenetLoss};
pub use jsonl::JsonlExport;
pub use lossy::LossyExport;
pub use record::RecordLines;

use std::collections::BTreeSet;

use crate::database::{Database, DatabaseError, ExportError, Result};
use crate::model::{Release, ReleaseId};
use crate::query::{Expression, Field, Term, Test};
use crate::search::Catalog;

impl Database {
    /// The one release that an export of an expression is of; `None` when nothing matches.
    ///
    /// # Errors
    /// When the expression names what there is not, or matches several releases.
    pub fn release_of(&self, expression: &Expression) -> Result<Option<Release>> {
        let catalog = self.catalog()?;
        if names_only_releases(expression) {
            self.check_names(&catalog, expression)?;
            return only_one(releases_named(&catalog, expression)?);
        }
        let counts = self.count_by(expression, &[Field::Release])?;
        let matches = |release: &Release| {
            counts.iter().any(|count| count.value() == Some(release.name.as_str()))
        };
        only_one(self.releases()?.into_iter().filter(matches).collect())
    }

    /// Refuses records of several releases, for a format that does not say which it is.
    fn require_one_release(&self, found: impl Iterator<Item = ReleaseId>) -> Result<()> {
        let found: BTreeSet<ReleaseId> = found.collect();
        if found.len() > 1 {
            let releases = self.releases()?.into_iter();
            only_one(releases.filter(|release| found.contains(&release.id)).collect())?;
        }
        Ok(())
    }
}

/// Whether an expression asks for releases and nothing of their sets: it stands for them whole.
fn names_only_releases(expression: &Expression) -> bool {
    expression.terms().all(|term| term.field == Field::Release)
}

/// The releases for which an expression of release names holds; any other term counts as true.
fn releases_named(catalog: &Catalog<'_>, expression: &Expression) -> Result<Vec<Release>> {
    let mut named = Vec::new();
    for release in catalog.releases() {
        let holds = expression.holds(&mut |term: &Term| -> Result<bool> {
            Ok(match &term.test {
                Test::Pattern(pattern) if term.field == Field::Release => {
                    pattern.matches(&release.name)
                }
                _ => term.field != Field::Release,
            })
        })?;
        if holds {
            named.push(Release::clone(release));
        }
    }
    Ok(named)
}

/// The release of a file that holds one.
fn only_one(mut releases: Vec<Release>) -> Result<Option<Release>> {
    if releases.len() > 1 {
        let names = releases.into_iter().map(|release| release.name).collect();
        return Err(DatabaseError::Export(ExportError::SeveralReleases { names }));
    }
    Ok(releases.pop())
}
