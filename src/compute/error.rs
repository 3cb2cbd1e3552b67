//! What can go wrong in a kernel: operands that do not fit together.

/// Operands of a kernel do not fit together.
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
}
