//! How generated sets were made.

use std::collections::{BTreeMap, HashMap};

use crate::database::{Database, Result};
use crate::model::{RecipeId, RulesStanding, hexadecimal};
use crate::query::{Expression, Field, Selection};

/// A recipe of generated sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRecipe {
    /// Its number in this store, as `recipe=N` in queries.
    pub id: RecipeId,
    /// The first 16 bytes of its settings' BLAKE3 hash, hexadecimal: the same in every store.
    pub fingerprint: String,
    /// All that its outputs depend on, as JSON.
    pub settings: String,
    /// Whose rules it follows.
    pub rules: RulesStanding,
    /// Sets that were made by it.
    pub sets: u64,
}

impl Database {
    /// The recipes by which generated sets were made, in order of number. To count the sets it
    /// reads all that were generated.
    ///
    /// # Errors
    /// As [`Database::query`].
    #[doc(hidden)]
    pub fn recipes(&self) -> Result<Vec<StoredRecipe>> {
        let generated: Expression = "origin=generated".parse().expect("a constant query");
        let counts = self.count_by(&generated, &[Field::Recipe])?;
        let counts: HashMap<String, u64> =
            counts.iter().filter_map(|row| Some((row.value()?.to_owned(), row.count))).collect();
        let recipes = self.store.recipes()?.into_iter();
        let summed = recipes.map(|(id, fingerprint, settings)| StoredRecipe {
            id,
            fingerprint: hexadecimal(&fingerprint),
            rules: RulesStanding::of(&settings),
            settings,
            sets: counts.get(&id.to_string()).copied().unwrap_or(0),
        });
        Ok(summed.collect())
    }

    /// How many sets other recipes made of the sets that an expression finds, by recipe.
    ///
    /// # Errors
    /// As [`Database::query`].
    #[doc(hidden)]
    pub fn made_by_others(
        &self,
        expression: &Expression,
        recipe: RecipeId,
    ) -> Result<BTreeMap<RecipeId, u64>> {
        let mut made = BTreeMap::new();
        if self.store.recipes()?.iter().all(|(id, ..)| *id == recipe) {
            return Ok(made);
        }
        for seed in self.matches(expression, &Selection::default())? {
            let seed = seed?;
            let release = seed.release();
            for row in self.store.journals_of(release, seed.set().id)? {
                let (_, other, entry) = row?;
                for set in entry.chain.into_iter().filter(|_| other != recipe) {
                    // A set may have been removed since.
                    let is_there = self.store.set_location(release, set)?.is_some();
                    *made.entry(other).or_default() += u64::from(is_there);
                }
            }
        }
        made.retain(|_, sets| *sets > 0);
        Ok(made)
    }

    /// The recipes that follow the rules of an earlier program, in order of number.
    ///
    /// # Errors
    /// When the store cannot be read.
    #[doc(hidden)]
    pub fn recipes_by_earlier_rules(&self) -> Result<Vec<RecipeId>> {
        let recipes = self.store.recipes()?.into_iter();
        let is_earlier = |settings: &str| RulesStanding::of(settings) == RulesStanding::Earlier;
        Ok(recipes.filter(|(.., settings)| is_earlier(settings)).map(|(id, ..)| id).collect())
    }
}
