//! The command line, for `python -m fnstore`.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the program on a command line, whose first word is its name, and ends the process; does
/// nothing where it was not built in.
#[pyfunction]
pub(crate) fn _program(py: Python<'_>, line: Vec<OsString>) {
    #[cfg(feature = "program")]
    py.detach(|| fnstore_program::main(line));
    #[cfg(not(feature = "program"))]
    let _ = (py, line);
}
