//! The local server: who is let in, and which function answers.
//!
//! It listens on 127.0.0.1 alone. A request is answered when its path begins with the token, its
//! `Host` is the address that was printed, and the page itself sent it: another `Origin` is
//! refused, and a request that changes anything must name this one.

use std::net::TcpListener;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;

use super::http::{self, Head, Incoming, Reply};
use super::opener::Redirect;
use super::{Review, api, page};

/// A request, taken apart.
pub(super) struct HttpRequest {
    /// The path behind the token.
    pub(super) path: String,
    pub(super) is_post: bool,
    /// Parameters of the address.
    parameters: Vec<(String, String)>,
    /// The body of a request that changes something.
    pub(super) body: serde_json::Value,
}

impl HttpRequest {
    /// A parameter of the address; empty where it is not given.
    pub(super) fn parameter(&self, name: &str) -> &str {
        let found = self.parameters.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value)
    }
}

pub(super) struct Server {
    listener: TcpListener,
    host: String,
    token: String,
    /// The page that leads the browser here; gone once the browser has come.
    redirect: Mutex<Option<Redirect>>,
}

impl Server {
    pub(super) fn bind(port: u16) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port))
            .with_context(|| format!("cannot listen on 127.0.0.1:{port}"))?;
        let host = listener.local_addr().context("the server has no address")?.to_string();
        let token = token().context("the system gives no random numbers")?;
        Ok(Self { listener, host, token, redirect: Mutex::default() })
    }

    pub(super) fn address(&self) -> String {
        format!("http://{}/{}/", self.host, self.token)
    }

    /// Opens the page in the browser.
    pub(super) fn open(&self) -> anyhow::Result<()> {
        let redirect = Redirect::open(&self.address())?;
        *self.redirect.lock().unwrap_or_else(PoisonError::into_inner) = Some(redirect);
        Ok(())
    }

    /// Answers requests until the process ends.
    pub(super) fn serve(self, review: Review) {
        let server = Arc::new(self);
        let this = Arc::clone(&server);
        http::serve(server.listener.incoming(), move |head, incoming| {
            match this.admit(head, incoming) {
                Ok(admitted) => {
                    this.redirect.lock().unwrap_or_else(PoisonError::into_inner).take();
                    route(&review, &admitted, &format!("/{}", this.token))
                }
                Err(refusal) => refusal,
            }
        });
    }

    /// Lets in what the page asks, and nothing else. The body of others is not read.
    fn admit(&self, head: &Head, incoming: &mut Incoming<'_>) -> Result<HttpRequest, Reply> {
        let is_post = head.method == "POST";
        if head.header("Host") != Some(&self.host) {
            return Err(Reply::refused(403, "this page answers under its own address alone"));
        }
        let own = format!("http://{}", self.host);
        let origin = head.header("Origin");
        if origin.map_or(is_post, |origin| origin != own) {
            return Err(Reply::refused(403, "this page takes no requests of other pages"));
        }
        // A link to the page may stand anywhere: it holds the token, and following it changes
        // nothing.
        let is = |name: &str, value: &str| head.header(name) == Some(value);
        let is_link = is("Sec-Fetch-Mode", "navigate") && is("Sec-Fetch-Dest", "document");
        let site = head.header("Sec-Fetch-Site");
        let is_own = site.is_none_or(|site| site == "same-origin" || site == "none");
        if !(is_own || is_link && !is_post) {
            return Err(Reply::refused(403, "this page takes no requests of other pages"));
        }
        if !is_post && head.method != "GET" {
            return Err(Reply::refused(405, "expected GET or POST"));
        }
        let (path, query) = head.target.split_once('?').unwrap_or((&head.target, ""));
        let inside = path.strip_prefix('/').and_then(|path| path.strip_prefix(&self.token));
        let Some(path) = inside.and_then(|path| path.strip_prefix('/')) else {
            let why = "wrong token; take the address that `fnstore review` printed";
            return Err(Reply::refused(403, why));
        };
        let parameters = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        let mut body = serde_json::Value::Null;
        if is_post {
            let parsed = serde_json::from_slice(&incoming.body(head)?);
            body = parsed.map_err(|_| Reply::refused(400, "expected JSON in the body"))?;
        }
        Ok(HttpRequest { path: path.to_owned(), is_post, parameters, body })
    }
}

fn route(review: &Review, request: &HttpRequest, base: &str) -> Reply {
    let answered = match (request.is_post, request.path.as_str()) {
        (false, "app.js") => {
            Ok(Reply::new("text/javascript; charset=utf-8", include_str!("app.js")))
        }
        (false, "app.css") => Ok(Reply::new("text/css; charset=utf-8", include_str!("app.css"))),
        (false, "icon.svg") => Ok(Reply::new("image/svg+xml", include_str!("icon.svg"))),
        (true, _) => api::change(review, request),
        (false, "item" | "complete" | "growth.svg" | "relations.svg") => api::read(review, request),
        (false, _) => page::page(review, request, base),
    };
    answered.unwrap_or_else(|error| {
        let hint = crate::cli::hint(&error);
        let error = format!("{error:#}");
        if request.is_post || request.path == "item" {
            let body = serde_json::json!({ "error": error, "hint": hint });
            return Reply { status: 409, ..Reply::json(&body) };
        }
        Reply { status: 409, ..page::failed(base, &error, hint) }
    })
}

/// 128 bits that nobody can guess.
fn token() -> anyhow::Result<String> {
    let number = [getrandom::u64()?, getrandom::u64()?];
    Ok(number.iter().map(|part| format!("{part:016x}")).collect())
}

#[cfg(test)]
mod tests {
    #[test]
    fn tokens_are_long_and_never_the_same() {
        let (one, other) = (super::token().unwrap(), super::token().unwrap());
        assert_eq!(one.len(), 32);
        assert_ne!(one, other);
    }
}
