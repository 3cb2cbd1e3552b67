//! The forms of words that a release shows, where no rules tell them.

use super::Lexicon;
use crate::database::{Database, EditError, Result};
use crate::model::{Declared, Release, ReleaseId};
use crate::text::{AttestedForms, Morphology};

impl Lexicon<'_> {
    /// How the words of the release are inflected: by the rules of English where it is English,
    /// else as its targets show it. Of another language this reads all its sets; generated and
    /// predicted ones show nothing.
    ///
    /// # Errors
    /// When the store fails.
    pub fn morphology(&self) -> Result<Morphology> {
        self.database.morphology_of(&self.release)
    }

    /// Checks that a model was made for the language of the release; see
    /// [`Database::check_language`].
    ///
    /// # Errors
    /// As there.
    pub fn check_language(&self, model: &Declared) -> Result<()> {
        self.database.check_language(model, &self.release)
    }
}

impl Database {
    /// As [`Lexicon::morphology`], of the release of a number.
    ///
    /// # Errors
    /// When there is no such release, or the store fails.
    pub(crate) fn morphology(&self, release: ReleaseId) -> Result<Morphology> {
        let known = self.releases()?.into_iter().find(|known| known.id == release);
        let absent = || EditError::absent("release", release);
        self.morphology_of(&known.ok_or_else(absent)?)
    }

    fn morphology_of(&self, release: &Release) -> Result<Morphology> {
        let without = Morphology::without_forms(&release.language);
        if without.has_rules() {
            return Ok(without);
        }
        let store = self.store();
        let (mut forms, mut lexunit) = (AttestedForms::default(), None);
        for set in store.annotation_sets(release.id)? {
            let set = set?;
            if !set.provenance.origin().is_by_people() {
                continue;
            }
            // Sets of one LU stand side by side.
            let place = (set.frame, set.lu);
            if lexunit.as_ref().is_none_or(|(known, _)| *known != place) {
                let found = store.lexunit(release.id, set.frame, set.lu)?;
                lexunit = Some((place, found.map(|found| found.name)));
            }
            let Some((_, Some(name))) = &lexunit else { continue };
            if let Some(sentence) = store.sentence(release.id, set.sentence)? {
                forms.add(name, &set.trigger(&sentence.text));
            }
        }
        Ok(Morphology::of(&release.language, forms))
    }
}
