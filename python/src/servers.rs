//! Servers that write, asked in the protocol of OpenAI.

use std::path::PathBuf;
use std::time::Duration;

use fnstore::internals::endpoint::{Endpoint, EndpointSettings};
use pyo3::prelude::*;

use crate::error::{Fault, Result};
use crate::number::Count;

/// A server that speaks OpenAI's protocol, and how it is asked. url is the address before
/// `/chat/completions`. Its key is in the environment variable key_from, or in
/// FNSTORE_ENDPOINT_KEY. No request is sent after max_requests, nor after max_tokens as the server
/// counts them. An answer may take timeout seconds, and a question is sent tries times at most.
/// answers is the directory that keeps answers, so that none is paid for twice; "none" keeps none,
/// and without it they are kept in the cache.
#[pyclass(frozen, module = "fnstore", skip_from_py_object)]
#[derive(Clone)]
pub(crate) struct Server(EndpointSettings);

#[pymethods]
impl Server {
    #[new]
    #[pyo3(signature = (url, *, key_from=None, max_requests=None, max_tokens=None,
                        timeout=Count(120), tries=Count(5), answers=None),
           text_signature = "(url, *, key_from=None, max_requests=None, max_tokens=None, \
                             timeout=120, tries=5, answers=None)")]
    #[allow(clippy::too_many_arguments, reason = "Python's callers name them")]
    fn new(
        py: Python<'_>,
        url: &str,
        key_from: Option<&str>,
        max_requests: Option<Count>,
        max_tokens: Option<Count>,
        timeout: Count,
        tries: Count,
        answers: Option<PathBuf>,
    ) -> PyResult<Self> {
        let answers = match answers {
            Some(none) if none.as_os_str() == "none" => None,
            Some(directory) => Some(directory),
            None => Some(py.import("fnstore._models")?.call_method0("answers")?.extract()?),
        };
        let settings = EndpointSettings {
            key: EndpointSettings::key_from(key_from).map_err(Fault::from)?,
            max_requests: max_requests.map(|count| count.0),
            max_tokens: max_tokens.map(|count| count.0),
            timeout: Duration::from_secs(timeout.0),
            tries: u32::try_from(tries.0).unwrap_or(u32::MAX),
            answers,
            ..EndpointSettings::new(url, "")
        };
        settings.check().map_err(Fault::from)?;
        Ok(Self(settings))
    }

    /// Its address.
    #[getter]
    fn url(&self) -> &str {
        &self.0.url
    }

    fn __repr__(&self) -> String {
        format!("<Server {}>", self.0.url)
    }
}

impl Server {
    /// How it is asked for what a model of it writes.
    pub(crate) fn settings(&self, model: Option<&str>) -> Result<EndpointSettings> {
        let model = model.ok_or_else(|| {
            let advice = "give model=NAME, as the server calls it";
            Fault::new("ExpandError", "H-model", "a server is asked for no model", advice)
        })?;
        Ok(EndpointSettings { model: model.to_owned(), ..self.0.clone() })
    }

    /// The server, to be asked.
    pub(crate) fn open(&self, model: Option<&str>) -> Result<Endpoint> {
        Ok(Endpoint::new(self.settings(model)?)?)
    }
}
