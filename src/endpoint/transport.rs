//! HTTP: which addresses are asked, and one request with its response.

use std::time::Duration;

use ureq::http::Uri;

use super::{EndpointError, EndpointSettings, Failure, Key, Response, Result};

/// The most bytes of an answer that are read.
const MOST_BYTES: u64 = 1 << 20;

/// Sends requests to one server.
#[derive(Debug)]
pub(super) struct Transport {
    agent: ureq::Agent,
}

impl Transport {
    /// Sends nothing yet.
    ///
    /// # Errors
    /// When the address is none, or would give the key away.
    pub(super) fn open(settings: &EndpointSettings) -> Result<Self> {
        let wrong = |reason| EndpointError::Url { url: settings.url.clone(), reason };
        let uri: Uri = settings.url.parse().map_err(|_| wrong("is no address"))?;
        let host = uri.host().unwrap_or_default();
        let is_here = ["127.0.0.1", "[::1]", "localhost"].contains(&host);
        match uri.scheme_str() {
            Some("http" | "https") if !host.is_empty() => {}
            _ => return Err(wrong("does not begin with http:// or https:// and a host")),
        }
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            let url = format!("{}://...@{host}", uri.scheme_str().unwrap_or_default());
            return Err(EndpointError::Url {
                url,
                reason: "holds a password, which would be stored",
            });
        }
        if settings.key.is_some() && !is_here && uri.scheme_str() == Some("http") {
            return Err(wrong("would send the key unencrypted"));
        }
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(settings.timeout))
            .http_status_as_error(false)
            // A key goes to the address that the user named, and to no other.
            .max_redirects(0)
            .user_agent(concat!("fnstore/", env!("CARGO_PKG_VERSION")));
        let config = if is_here { config.proxy(None) } else { config };
        Ok(Self { agent: config.build().into() })
    }

    /// Sends a request once, and reads what comes back.
    pub(super) fn post(
        &self,
        url: &str,
        key: Option<&Key>,
        body: &str,
    ) -> std::result::Result<Response, Failure> {
        let mut request = self.agent.post(url).header("content-type", "application/json");
        if let Some(Key(key)) = key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let mut response = request
            .send(body)
            .map_err(|error| Failure { is_of_tls: is_of_tls(&error), reason: error.to_string() })?;
        let after = response.headers().get("retry-after").and_then(|value| value.to_str().ok());
        let pause = after.and_then(|value| value.parse().ok()).map(Duration::from_secs);
        let text = response.body_mut().with_config().limit(MOST_BYTES).read_to_string();
        let text = text.map_err(|error| error.to_string());
        Ok(Response { status: response.status().as_u16(), pause, text })
    }
}

/// Whether an encrypted connection could not be made: the handshake's errors are of data that are
/// wrong.
fn is_of_tls(error: &ureq::Error) -> bool {
    match error {
        ureq::Error::Tls(_) | ureq::Error::Rustls(_) => true,
        ureq::Error::Io(error) => error.kind() == std::io::ErrorKind::InvalidData,
        _ => false,
    }
}
