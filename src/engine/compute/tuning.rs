//! Which shader multiplies: a choice that is measured once for each adapter and driver.

/// Where one shader takes over from another, in rows of the product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine::compute) struct Tuning {
    /// Up to so many rows, reading the weights costs more than multiplying by them.
    pub(in crate::engine::compute) few_rows: usize,
    /// From so many rows on, large tiles pay.
    pub(in crate::engine::compute) many_rows: usize,
}

impl Default for Tuning {
    /// What an adapter of middling size would choose.
    fn default() -> Self {
        Self { few_rows: 32, many_rows: 512 }
    }
}
