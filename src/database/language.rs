//! Models beside releases: whether a model was made for the language of a release.

use std::sync::atomic::Ordering;

use super::{Database, Result};
use crate::model::{Declared, Release, ReleaseId};

impl Database {
    /// The same handle, which uses models on releases in any language, if `allowed`. Without it
    /// whatever joins a model with a release refuses one in a language that the model is not made
    /// for: expansion, generation, annotation, trainings and measurements.
    #[must_use]
    pub fn with_any_language(self, allowed: bool) -> Self {
        self.allow_any_language(allowed);
        self
    }

    /// As [`with_any_language`](Self::with_any_language), of a handle that others hold, too.
    pub fn allow_any_language(&self, allowed: bool) {
        self.any_language.store(allowed, Ordering::Relaxed);
    }

    /// Whether models are used on releases in any language.
    #[must_use]
    pub fn allows_any_language(&self) -> bool {
        self.any_language.load(Ordering::Relaxed)
    }

    /// Checks that a model was made for the language of a release, or that
    /// [any language](Self::with_any_language) is allowed. A model that declares no language
    /// passes.
    ///
    /// # Errors
    /// When the model is made for other languages, or its declaration cannot be read.
    pub fn check_language(&self, model: &Declared, release: &Release) -> Result<()> {
        if self.allows_any_language() {
            return Ok(());
        }
        Ok(model.check(&format!("the release `{}`", release.name), &release.language)?)
    }

    /// As [`check_language`](Self::check_language), of several models and releases.
    ///
    /// # Errors
    /// As there, and when the store fails.
    pub fn check_languages<'m>(
        &self,
        models: impl IntoIterator<Item = &'m Declared>,
        releases: impl IntoIterator<Item = ReleaseId>,
    ) -> Result<()> {
        if self.allows_any_language() {
            return Ok(());
        }
        let known = self.releases()?;
        let models: Vec<&Declared> = models.into_iter().collect();
        let mut checked = Vec::new();
        for id in releases {
            if checked.contains(&id) {
                continue;
            }
            checked.push(id);
            if let Some(release) = known.iter().find(|release| release.id == id) {
                models.iter().try_for_each(|model| self.check_language(model, release))?;
            }
        }
        Ok(())
    }
}
