//! What can go wrong in a kernel: operands that do not fit together, and GPUs that fail.

use crate::model::coded;

/// Operands of a kernel do not fit together, or the device failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ComputeError {
    /// An operand has the wrong shape.
    #[error("computing {op}: `{operand}` has shape {found:?}, expected {expected:?}")]
    Shape {
        /// The kernel.
        op: &'static str,
        /// The operand, by its parameter name.
        operand: &'static str,
        /// The shape that fits the other operands.
        expected: Vec<usize>,
        /// The shape it has.
        found: Vec<usize>,
    },
    /// A row number points outside the tensor it indexes.
    #[error("computing {op}: index {index} is outside the {rows} rows of `{operand}`")]
    Index {
        /// The kernel.
        op: &'static str,
        /// The indexed operand.
        operand: &'static str,
        /// The offending index.
        index: usize,
        /// Number of rows of the operand.
        rows: usize,
    },
    /// A score is NaN or infinite.
    #[error("computing {op}: a score is not finite; check the model's weights")]
    NonFinite {
        /// The kernel.
        op: &'static str,
    },
    /// No adapter is what was asked for.
    #[error("there is no GPU `{wanted}`; found {}; use one of these or `cpu`", names(.found))]
    Adapter {
        /// What was asked for.
        wanted: String,
        /// The adapters that are there.
        found: Vec<String>,
    },
    /// A GPU is asked for where the feature `gpu` is off.
    #[error(
        "there is no GPU `{wanted}` for a build without the feature `gpu`; use `cpu`, or build with it"
    )]
    NotBuilt {
        /// What was asked for.
        wanted: String,
    },
    /// The GPU has no room for what a kernel needs at once.
    #[error(
        "the GPU has no room for {bytes} bytes, at most {limit} at once; use a smaller beam or the CPU"
    )]
    Memory {
        /// What was asked for; 0 where the driver did not say.
        bytes: u64,
        /// What there may be; 0 where the driver did not say.
        limit: u64,
    },
    /// The GPU went away.
    #[error("the GPU `{adapter}` was lost: {reason}; run it again, or on the CPU")]
    Lost {
        /// Its name.
        adapter: String,
        /// What the driver says.
        reason: String,
    },
    /// The GPU's driver refused something, a defect of this layer or of the driver.
    #[error("the GPU `{adapter}` failed: {reason}; the CPU does without it")]
    Gpu {
        /// Its name.
        adapter: String,
        /// What the driver says.
        reason: String,
    },
}

coded!(ComputeError {
    Self::NotBuilt { .. } => Failed.coded("D-not-built"),
    Self::Memory { .. } => Failed.coded("D-memory"),
    Self::Lost { .. } => Failed.coded("D-lost"),
    Self::Gpu { .. } => Failed.coded("D-failed"),
});

fn names(found: &[String]) -> String {
    let names: Vec<String> = found.iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "none at all".to_owned() } else { names.join(", ") }
}

/// What a kernel says against its operands.
#[cfg(test)]
pub(crate) fn refusal<T>(result: Result<T, ComputeError>) -> String {
    match result {
        Ok(_) => "nothing".to_owned(),
        Err(ComputeError::Shape { operand, .. }) => format!("shape of {operand}"),
        Err(ComputeError::Index { operand, index, .. }) => format!("index {index} of {operand}"),
        Err(error) => error.to_string(),
    }
}
