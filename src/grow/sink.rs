//! Where what is generated goes, commit by commit.

use std::path::PathBuf;

use crate::database::{Database, DatabaseError, Write};
use crate::model::{RecipeId, ReleaseId, coded};

/// Takes what is generated.
pub(crate) trait Sink {
    /// What can go wrong.
    type Error: From<CommitError>;

    /// Takes rows of a release. Says whether the store has them now.
    fn take(
        &mut self,
        database: &Database,
        release: ReleaseId,
        write: Write,
    ) -> Result<bool, Self::Error>;
}

/// Why what was generated could not be committed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommitError {
    /// The database failed.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// Another run took the number that this one's recipe was to have.
    #[error(
        "another run wrote recipe {expected} meanwhile, and this one's is {found}; nothing of this \
         run is written: run it again (N-recipe)"
    )]
    RecipeNumber {
        /// The number that it has now.
        found: RecipeId,
        /// The number that the outputs name.
        expected: RecipeId,
    },
    /// A file of a model was written meanwhile.
    #[error(
        "the model file `{}` was changed while it was in use; expected files that nobody writes \
         meanwhile: the last outputs were not stored; run it again, which goes on with the models \
         as they are now (W-changed)",
        path.display()
    )]
    ModelChanged {
        /// The file.
        path: PathBuf,
    },
}

coded!(CommitError {
    Self::Database(error) => error.trouble(),
    Self::RecipeNumber { .. } => Failed.coded("N-recipe"),
    Self::ModelChanged { .. } => Failed.coded("W-changed"),
});

/// The store. It gets the recipe before the first rows: a run that fails before leaves nothing.
#[derive(Debug)]
pub(crate) struct StoreSink {
    /// The recipe's number and fingerprint.
    recipe: (RecipeId, [u8; 16]),
    /// Its description, until the store has it.
    unwritten: Option<String>,
}

impl StoreSink {
    /// Finds the number of a recipe, which is written down with the first rows.
    pub(crate) fn new(
        database: &Database,
        (fingerprint, description): ([u8; 16], &str),
    ) -> Result<Self, DatabaseError> {
        let (id, is_known) = database.store().recipe_number(fingerprint)?;
        let unwritten = (!is_known).then(|| description.to_owned());
        Ok(Self { recipe: (id, fingerprint), unwritten })
    }

    /// The recipe's number.
    pub(crate) fn recipe(&self) -> RecipeId {
        self.recipe.0
    }

    /// The recipe's number, if the store has it.
    pub(crate) fn known_recipe(&self) -> Option<RecipeId> {
        self.unwritten.is_none().then_some(self.recipe.0)
    }
}

impl Sink for StoreSink {
    type Error = CommitError;

    fn take(
        &mut self,
        database: &Database,
        release: ReleaseId,
        write: Write,
    ) -> Result<bool, CommitError> {
        let (expected, fingerprint) = self.recipe;
        if let Some(description) = self.unwritten.take() {
            let found = database.store().recipe(fingerprint, &description);
            let found = found.map_err(DatabaseError::from)?;
            if found != expected {
                return Err(CommitError::RecipeNumber { found, expected });
            }
        }
        database.write(release, &write)?;
        Ok(true)
    }
}

/// Nowhere: a run is made to see how long it takes.
#[derive(Debug)]
pub(crate) struct Nowhere;

impl Sink for Nowhere {
    type Error = CommitError;

    fn take(&mut self, _: &Database, _: ReleaseId, _: Write) -> Result<bool, CommitError> {
        Ok(false)
    }
}
