//! Numbers that Python gives: from 0, and no larger than the library counts.

use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;

use crate::error::Fault;

/// How many, or from where on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Count(pub(crate) u64);

impl Count {
    /// As the library counts what is in memory.
    pub(crate) fn size(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

impl<'py> FromPyObject<'_, 'py> for Count {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        given.extract::<u64>().map(Self).map_err(|error| {
            if !error.is_instance_of::<PyOverflowError>(given.py()) {
                return error;
            }
            let message = format!("the number is {}, expected 0 to {}", &*given, u64::MAX);
            Fault::new("NumberError", "E-number", &message, "give a number in that range").raise()
        })
    }
}
