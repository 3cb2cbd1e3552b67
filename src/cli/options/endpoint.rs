//! What commands are told of a server that writes: `generate`, `eval generation`, `paraphrase`,
//! `expand`.

use std::path::PathBuf;
use std::time::Duration;

use fnstore::endpoint::{Endpoint, EndpointSettings};

use super::locate;

/// A server that writes.
#[derive(Debug, clap::Args)]
pub(crate) struct EndpointArgs {
    /// Have a server write that speaks OpenAI's protocol, as `http://127.0.0.1:8000/v1`; needs
    /// --model
    #[arg(long, value_name = "URL", requires = "model")]
    endpoint: Option<String>,

    /// Environment variable that holds the server's key; the key is stored nowhere [default:
    /// FNSTORE_ENDPOINT_KEY, if it is set]
    #[arg(long, value_name = "NAME", requires = "endpoint")]
    key_from: Option<String>,

    /// Send at most N requests
    #[arg(long, value_name = "N", requires = "endpoint")]
    max_requests: Option<u64>,

    /// Send no request after N tokens, as the server counts them
    #[arg(long, value_name = "N", requires = "endpoint")]
    max_tokens: Option<u64>,

    /// Wait so long for an answer
    #[arg(long, value_name = "SECONDS", default_value_t = 120, requires = "endpoint")]
    timeout: u64,

    /// Send a question at most N times
    #[arg(long, value_name = "N", default_value_t = 5, requires = "endpoint")]
    tries: u32,

    /// Directory that keeps answers, so that none is paid for twice; `none` to keep none [default:
    /// `answers` in the cache]
    #[arg(long, value_name = "DIR|none", requires = "endpoint")]
    answers: Option<PathBuf>,
}

impl EndpointArgs {
    /// Whether a server is asked for.
    pub(crate) fn is_given(&self) -> bool {
        self.endpoint.is_some()
    }

    /// The server, if one is asked for.
    pub(crate) fn open(&self, model: &str) -> anyhow::Result<Option<Endpoint>> {
        Ok(self.settings(model)?.map(Endpoint::new).transpose()?)
    }

    /// How the server is asked, if one is.
    pub(crate) fn settings(&self, model: &str) -> anyhow::Result<Option<EndpointSettings>> {
        let Some(url) = &self.endpoint else { return Ok(None) };
        let answers = match &self.answers {
            Some(none) if none.as_os_str() == "none" => None,
            Some(directory) => Some(directory.clone()),
            None => locate::cache().map(|cache| cache.join("answers")),
        };
        let settings = EndpointSettings {
            key: EndpointSettings::key_from(self.key_from.as_deref())?,
            max_requests: self.max_requests,
            max_tokens: self.max_tokens,
            timeout: Duration::from_secs(self.timeout),
            tries: self.tries,
            answers,
            ..EndpointSettings::new(url, model)
        };
        settings.check()?;
        Ok(Some(settings))
    }
}
