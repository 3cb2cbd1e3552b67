//! Stands in for `transport.rs` where the feature `http` is off: no server can be asked.

use std::convert::Infallible;

use super::{EndpointError, EndpointSettings, Failure, Key, Response, Result};

/// Would send requests to a server.
#[derive(Debug)]
pub(super) struct Transport(Infallible);

impl Transport {
    pub(super) fn open(_: &EndpointSettings) -> Result<Self> {
        Err(EndpointError::NotBuilt)
    }

    pub(super) fn post(
        &self,
        _: &str,
        _: Option<&Key>,
        _: &str,
    ) -> std::result::Result<Response, Failure> {
        match self.0 {}
    }
}

#[cfg(test)]
mod tests {
    use crate::endpoint::{Endpoint, EndpointSettings};
    use crate::model::Coded;

    #[test]
    fn an_endpoint_is_refused() {
        let error = Endpoint::new(EndpointSettings::new("http://127.0.0.1:1/v1", "m")).unwrap_err();
        assert_eq!(error.code(), Some("H-not-built"));
        assert!(error.to_string().contains("the feature `http`"), "{error}");
    }
}
