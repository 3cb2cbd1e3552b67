//! The packed weights of a base that several networks compute with: those of a language model and
//! of its adapters lie in memory once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use super::NnError;
use crate::engine::compute::kernels::Weight;

/// Weights by their names, in one kind of numbers on one device.
#[derive(Debug, Default)]
pub(super) struct SharedWeights(Mutex<HashMap<String, Arc<Weight>>>);

impl SharedWeights {
    /// The weight of a name: one that is there, else the one that `pack` makes.
    pub(super) fn of(
        &self,
        name: &str,
        pack: impl FnOnce() -> Result<Weight, NnError>,
    ) -> Result<Arc<Weight>, NnError> {
        let mut known = self.0.lock().expect("whoever packs a weight does not panic");
        if let Some(weight) = known.get(name) {
            return Ok(weight.clone());
        }
        let weight = Arc::new(pack()?);
        known.insert(name.to_owned(), weight.clone());
        Ok(weight)
    }

    /// How many of them two networks hold, or more.
    pub(super) fn shared(&self) -> usize {
        let known = self.0.lock().expect("whoever packs a weight does not panic");
        // One holder is this list.
        known.values().filter(|weight| Arc::strong_count(weight) > 2).count()
    }
}
