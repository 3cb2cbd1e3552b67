//! Lists that a notebook shows as pictures.

use pyo3::prelude::*;

/// The rows as a `fnstore._views.Drawn`, which has the pictures as SVG.
pub(crate) fn drawn<T>(py: Python<'_>, rows: Vec<T>, figures: Vec<String>) -> PyResult<Py<PyAny>>
where
    Vec<T>: for<'py> IntoPyObject<'py>,
{
    let class = py.import("fnstore._views")?.getattr("Drawn")?;
    Ok(class.call1((rows, figures))?.unbind())
}
