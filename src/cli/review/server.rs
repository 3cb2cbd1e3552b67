//! The local server: who is let in, and which function answers.
//!
//! It listens on 127.0.0.1 alone. A request is answered when its path begins with the token, its
//! `Host` is the address that was printed, and the page itself sent it: another `Origin` is
//! refused, and a request that changes anything must name this one.

use std::io::{Read as _, Write as _};
use std::sync::Arc;
use std::thread;

use anyhow::{Context as _, anyhow};
use tiny_http::{Header, Method, Request, Response};

use super::{Review, api, page};

/// Requests that are answered at the same time.
const WORKERS: usize = 4;

/// Most bytes of a request's body.
const MOST: u64 = 1 << 20;

/// An answer of the page.
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) kind: &'static str,
    pub(super) body: String,
}

impl Reply {
    pub(super) fn new(kind: &'static str, body: impl Into<String>) -> Self {
        Self { status: 200, kind, body: body.into() }
    }

    pub(super) fn json(body: &serde_json::Value) -> Self {
        Self::new("application/json", body.to_string())
    }

    fn refused(status: u16, why: &str) -> Self {
        Self { status, kind: "text/plain; charset=utf-8", body: format!("{why}\n") }
    }
}

/// A request, taken apart.
pub(super) struct Asked {
    /// The path behind the token.
    pub(super) path: String,
    pub(super) is_post: bool,
    /// Parameters of the address.
    parameters: Vec<(String, String)>,
    /// The body of a request that changes something.
    pub(super) body: serde_json::Value,
}

impl Asked {
    /// A parameter of the address; empty where it is not given.
    pub(super) fn parameter(&self, name: &str) -> &str {
        let found = self.parameters.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value)
    }
}

pub(super) struct Server {
    http: tiny_http::Server,
    host: String,
    token: String,
}

impl Server {
    pub(super) fn bind(port: u16) -> anyhow::Result<Self> {
        let http = tiny_http::Server::http(("127.0.0.1", port))
            .map_err(|error| anyhow!("cannot listen on 127.0.0.1:{port}: {error}"))?;
        let at = http.server_addr().to_ip().context("the server has no address")?;
        Ok(Self {
            http,
            host: at.to_string(),
            token: token().context("the system gives no random numbers")?,
        })
    }

    pub(super) fn address(&self) -> String {
        format!("http://{}/{}/", self.host, self.token)
    }

    /// Answers requests until the process ends.
    pub(super) fn serve(self, review: &Arc<Review>) -> anyhow::Result<()> {
        let server = Arc::new(self);
        let workers = (0..WORKERS).map(|_| {
            let (server, review) = (Arc::clone(&server), Arc::clone(review));
            thread::spawn(move || {
                while let Ok(request) = server.http.recv() {
                    server.answer(request, &review);
                }
            })
        });
        for worker in workers.collect::<Vec<_>>() {
            worker.join().map_err(|_| anyhow!("a thread of the page has failed"))?;
        }
        Ok(())
    }

    fn answer(&self, mut request: Request, review: &Review) {
        let reply = match self.admit(&mut request) {
            Ok(asked) => route(review, &asked, &format!("/{}", self.token)),
            Err(refusal) => refusal,
        };
        let style = if reply.kind == "image/svg+xml" { " 'unsafe-inline'" } else { "" };
        let policy = format!(
            "default-src 'none'; script-src 'self'; style-src 'self'{style}; img-src 'self'; \
             connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
        );
        let mut response = Response::from_string(reply.body).with_status_code(reply.status);
        for (name, value) in [
            ("Content-Type", reply.kind),
            ("Content-Security-Policy", policy.as_str()),
            ("Referrer-Policy", "no-referrer"),
            ("X-Content-Type-Options", "nosniff"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Cache-Control", "no-store"),
        ] {
            if let Ok(header) = Header::from_bytes(name, value) {
                response.add_header(header);
            }
        }
        // Head and body in one write: in two, the second waits for the browser to acknowledge the
        // first, 40 ms.
        let mut bytes = Vec::new();
        let (version, headers) = (request.http_version().clone(), request.headers().to_vec());
        if response.raw_print(&mut bytes, version, &headers, false, None).is_ok() {
            let mut out = request.into_writer();
            // A browser that went away needs no answer.
            let _ = out.write_all(&bytes).and_then(|()| out.flush());
        }
    }

    /// Lets in what the page asks, and nothing else.
    fn admit(&self, request: &mut Request) -> Result<Asked, Reply> {
        let header = |name: &'static str| {
            let found = request.headers().iter().find(|header| header.field.equiv(name));
            found.map(|header| header.value.as_str().to_owned())
        };
        let is_post = *request.method() == Method::Post;
        if header("Host").as_deref() != Some(&self.host) {
            return Err(Reply::refused(403, "this page answers under its own address alone"));
        }
        let own = format!("http://{}", self.host);
        let origin = header("Origin");
        if origin.as_ref().map_or(is_post, |origin| *origin != own) {
            return Err(Reply::refused(403, "this page takes no requests of other pages"));
        }
        let site = header("Sec-Fetch-Site");
        if site.is_some_and(|site| site != "same-origin" && site != "none") {
            return Err(Reply::refused(403, "this page takes no requests of other pages"));
        }
        if !is_post && *request.method() != Method::Get {
            return Err(Reply::refused(405, "expected GET or POST"));
        }
        let url = request.url().to_owned();
        let (path, query) = url.split_once('?').unwrap_or((&url, ""));
        let inside = path.strip_prefix('/').and_then(|path| path.strip_prefix(&self.token));
        let Some(path) = inside.and_then(|path| path.strip_prefix('/')) else {
            let why = "wrong token; take the address that `fnstore review` printed";
            return Err(Reply::refused(403, why));
        };
        let parameters = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        let mut body = serde_json::Value::Null;
        if is_post {
            let mut text = String::new();
            let read = request.as_reader().take(MOST).read_to_string(&mut text);
            let parsed = read.ok().and_then(|_| serde_json::from_str(&text).ok());
            body = parsed.ok_or_else(|| Reply::refused(400, "expected JSON in the body"))?;
        }
        Ok(Asked { path: path.to_owned(), is_post, parameters, body })
    }
}

fn route(review: &Review, asked: &Asked, base: &str) -> Reply {
    let answered = match (asked.is_post, asked.path.as_str()) {
        (false, "app.js") => {
            Ok(Reply::new("text/javascript; charset=utf-8", include_str!("app.js")))
        }
        (false, "app.css") => Ok(Reply::new("text/css; charset=utf-8", include_str!("app.css"))),
        (false, "icon.svg") => Ok(Reply::new("image/svg+xml", include_str!("icon.svg"))),
        (true, _) => api::change(review, asked),
        (false, "item" | "complete" | "growth.svg" | "relations.svg") => api::read(review, asked),
        (false, _) => page::page(review, asked, base),
    };
    answered.unwrap_or_else(|error| {
        let hint = crate::cli::hint(&error);
        let error = format!("{error:#}");
        if asked.is_post || asked.path == "item" {
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
