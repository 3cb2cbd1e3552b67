//! The record of a recipe.

fields! {
    RecipeRecord { fingerprint, description }
}

/// `recipe`
#[derive(Debug, Clone)]
pub(in super::super) struct RecipeRecord {
    /// BLAKE3 of the description, first 16 bytes.
    pub(in super::super) fingerprint: [u8; 16],
    /// The whole recipe as JSON.
    pub(in super::super) description: String,
}
