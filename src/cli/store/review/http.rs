//! Requests of HTTP 1.1, taken in within limits.
//!
//! Every process of this machine can connect, whether or not it knows the token. So a connection
//! carries one request, of bounded head, body and time. Connections that have not asked yet are
//! bounded, too: one more ends the oldest. Each connection has a thread of its own, whose panic
//! ends that request alone.

use std::collections::VecDeque;
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Connections that wait for their request at the same time.
const CONNECTIONS: usize = 64;

/// Most bytes of a request's head. A browser sends about one thousand.
const HEAD: usize = 16 << 10;

/// Most header lines.
const HEADERS: usize = 64;

/// Most bytes of a body: 200 decisions with their notes have some tens of thousands.
const BODY: usize = 1 << 20;

/// How long a request may take to come, and how long its answer to be taken.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long nothing is accepted after an error: more often than not, files are short.
const PAUSE: Duration = Duration::from_millis(20);

/// An answer.
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

    pub(super) fn refused(status: u16, why: &str) -> Self {
        Self { status, kind: "text/plain; charset=utf-8", body: format!("{why}\n") }
    }

    /// Head and body for one write: in two, the second waits for the browser to acknowledge the
    /// first, 40 ms.
    fn bytes(&self) -> Vec<u8> {
        let style = if self.kind == "image/svg+xml" { " 'unsafe-inline'" } else { "" };
        let head = format!(
            "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\
             Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'{style}; \
             img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; \
             frame-ancestors 'none'\r\nReferrer-Policy: no-referrer\r\n\
             X-Content-Type-Options: nosniff\r\nCross-Origin-Resource-Policy: same-origin\r\n\
             Cache-Control: no-store\r\n\r\n",
            self.status,
            reason(self.status),
            self.kind,
            self.body.len(),
        );
        [head.as_bytes(), self.body.as_bytes()].concat()
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        409 => "Conflict",
        411 => "Length Required",
        413 => "Content Too Large",
        431 => "Request Header Fields Too Large",
        _ => "Internal Server Error",
    }
}

/// The head of a request.
pub(super) struct Head {
    pub(super) method: String,
    /// The path with what follows it.
    pub(super) target: String,
    headers: Vec<(String, String)>,
}

impl Head {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS];
        let mut request = httparse::Request::new(&mut headers);
        if !request.parse(bytes).is_ok_and(|status| status.is_complete()) {
            return None;
        }
        let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
        let headers = request.headers.iter();
        Some(Self {
            method: request.method?.to_owned(),
            target: request.path?.to_owned(),
            headers: headers.map(|it| (it.name.to_owned(), text(it.value))).collect(),
        })
    }

    /// The value of a header.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// Bytes of the body, as the head has it.
    fn length(&self) -> Result<usize, Reply> {
        if self.header("Transfer-Encoding").is_some() {
            return Err(Reply::refused(411, "expected a body of a length that the head names"));
        }
        let named = self.headers.iter().filter(|(it, _)| it.eq_ignore_ascii_case("Content-Length"));
        let lengths: Vec<&str> = named.map(|(_, value)| value.as_str()).collect();
        let [written] = lengths[..] else {
            let several = || Reply::refused(400, "expected one length of the body");
            return if lengths.is_empty() { Ok(0) } else { Err(several()) };
        };
        if written.is_empty() || !written.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(Reply::refused(400, "expected the body's length in bytes"));
        }
        let too_long = || Reply::refused(413, &format!("expected at most {BODY} bytes of body"));
        written.parse().ok().filter(|length| *length <= BODY).ok_or_else(too_long)
    }
}

/// What comes in on a connection, until a moment.
pub(super) struct Incoming<'a> {
    stream: &'a TcpStream,
    until: Instant,
    /// What was read and not taken yet.
    read: Vec<u8>,
}

impl<'a> Incoming<'a> {
    fn new(stream: &'a TcpStream) -> Self {
        Self { stream, until: Instant::now() + PATIENCE, read: Vec::new() }
    }

    /// Reads some more.
    fn more(&mut self) -> io::Result<()> {
        let mut buffer = [0; 4 << 10];
        self.stream.set_read_timeout(Some(left(self.until)?))?;
        match (&mut &*self.stream).read(&mut buffer)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            read => {
                self.read.extend_from_slice(&buffer[..read]);
                Ok(())
            }
        }
    }

    fn head(&mut self) -> io::Result<Result<Head, Reply>> {
        const END: &[u8] = b"\r\n\r\n";
        let mut searched = 0;
        let end = loop {
            let found = self.read[searched..].windows(END.len()).position(|it| it == END);
            if let Some(at) = found {
                break searched + at + END.len();
            }
            if self.read.len() >= HEAD {
                let why = format!("expected a head of at most {HEAD} bytes");
                return Ok(Err(Reply::refused(431, &why)));
            }
            searched = self.read.len().saturating_sub(END.len() - 1);
            self.more()?;
        };
        let head = Head::parse(&self.read[..end]);
        self.read.drain(..end);
        Ok(head.ok_or_else(|| Reply::refused(400, "expected a request of HTTP 1.1")))
    }

    /// The body that belongs to a head.
    pub(super) fn body(&mut self, head: &Head) -> Result<Vec<u8>, Reply> {
        let length = head.length()?;
        while self.read.len() < length {
            self.more().map_err(|_| Reply::refused(400, "the body ended before its length"))?;
        }
        self.read.truncate(length);
        Ok(std::mem::take(&mut self.read))
    }
}

/// What is left of a time, which is more than nothing.
fn left(until: Instant) -> io::Result<Duration> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}

/// Connections that have not sent their whole head, the oldest first.
#[derive(Default)]
struct Waiting {
    streams: Mutex<VecDeque<Arc<TcpStream>>>,
}

impl Waiting {
    fn streams(&self) -> MutexGuard<'_, VecDeque<Arc<TcpStream>>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self, stream: &Arc<TcpStream>) {
        if self.streams().len() >= CONNECTIONS {
            self.end_oldest();
        }
        self.streams().push_back(Arc::clone(stream));
    }

    fn leave(&self, stream: &Arc<TcpStream>) {
        self.streams().retain(|known| !Arc::ptr_eq(known, stream));
    }

    /// Ends the oldest connection; its thread finds that nothing more comes.
    fn end_oldest(&self) {
        if let Some(oldest) = self.streams().pop_front() {
            let _ = oldest.shutdown(Shutdown::Both);
        }
    }
}

/// Answers what comes in, for as long as connections come. An error, as when too many files are
/// open, ends none but the connection that it met.
pub(super) fn serve(
    connections: impl Iterator<Item = io::Result<TcpStream>>,
    answer: impl Fn(&Head, &mut Incoming<'_>) -> Reply + Send + Sync + 'static,
) {
    let (waiting, answer) = (Arc::new(Waiting::default()), Arc::new(answer));
    for stream in connections {
        let Ok(stream) = stream.map(Arc::new) else {
            waiting.end_oldest();
            thread::sleep(PAUSE);
            continue;
        };
        waiting.enter(&stream);
        let (own, known, answer) = (Arc::clone(&stream), Arc::clone(&waiting), Arc::clone(&answer));
        let attended = thread::Builder::new().spawn(move || {
            // A browser that went away needs no answer.
            let _ = attend(&own, &known, &*answer);
            known.leave(&own);
        });
        if attended.is_err() {
            waiting.leave(&stream);
            thread::sleep(PAUSE);
        }
    }
}

fn attend(
    stream: &Arc<TcpStream>,
    waiting: &Waiting,
    answer: &impl Fn(&Head, &mut Incoming<'_>) -> Reply,
) -> io::Result<()> {
    let mut incoming = Incoming::new(stream);
    let head = incoming.head()?;
    waiting.leave(stream);
    let reply = match head {
        Ok(head) => {
            let answered = catch_unwind(AssertUnwindSafe(|| answer(&head, &mut incoming)));
            answered.unwrap_or_else(|_| Reply::refused(500, "the review failed at this request"))
        }
        Err(refusal) => refusal,
    };
    let (bytes, until) = (reply.bytes(), Instant::now() + PATIENCE);
    let mut unsent = &*bytes;
    while !unsent.is_empty() {
        stream.set_write_timeout(Some(left(until)?))?;
        let sent = (&mut &**stream).write(unsent)?;
        unsent = &unsent[sent..];
    }
    stream.shutdown(Shutdown::Write)
}

#[cfg(test)]
mod tests {
    use std::net::{SocketAddr, TcpListener};

    use super::*;

    /// A server that gives back what it is asked, behind connections that fail.
    fn server(failures: usize) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        thread::spawn(move || {
            let failures = (0..failures).map(|_| Err(io::Error::other("no file is left")));
            let connections = failures.chain(listener.incoming());
            serve(connections, |head, incoming| match (&*head.target, incoming.body(head)) {
                ("/panic", _) => panic!("as asked"),
                (_, Ok(body)) => Reply::new("text/plain", String::from_utf8(body).unwrap()),
                (_, Err(refusal)) => refusal,
            });
        });
        at
    }

    /// What is answered to a request; empty where the connection ends without an answer.
    fn answer_to(at: SocketAddr, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(at).unwrap();
        // What is refused may be refused before all of it is sent.
        let _ = stream.write_all(request);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8(answer).unwrap()
    }

    fn is_served(at: SocketAddr) -> bool {
        let answer = answer_to(at, b"POST / HTTP/1.1\r\ncontent-length: 4\r\n\r\nhere");
        answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\nhere")
    }

    #[test]
    fn what_is_no_request_or_too_much_of_one_is_refused_with_the_limit() {
        let at = server(0);
        for (request, status) in [
            ("POST / HTTP/1.1\r\nContent-Length: 1000000000000\r\n\r\n", "413"),
            ("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999999999\r\n\r\n", "413"),
            ("POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "400"),
            ("POST / HTTP/1.1\r\nContent-Length: +1\r\n\r\n1", "400"),
            ("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n12", "400"),
            ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "411"),
            ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "400"),
            ("nothing\r\n\r\n", "400"),
            ("\r\n\r\n", "400"),
        ] {
            let answer = answer_to(at, request.as_bytes());
            assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{request}: {answer}");
        }
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(HEADERS + 1));
        assert!(answer_to(at, many.as_bytes()).starts_with("HTTP/1.1 400 "));
        assert!(is_served(at));
    }

    #[test]
    fn a_head_without_end_is_cut_off() {
        let at = server(0);
        let mut stream = TcpStream::connect(at).unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\n").unwrap();
        let sent = (0..1 << 14).take_while(|_| stream.write_all(&[b'a'; 1 << 10]).is_ok()).count();
        assert!(sent < 1 << 14, "16 MB of one header were taken in");
        assert!(is_served(at));
    }

    #[test]
    fn one_connection_carries_one_request() {
        let at = server(0);
        let answer = answer_to(at, "GET / HTTP/1.1\r\n\r\n".repeat(1000).as_bytes());
        assert_eq!(answer.matches("HTTP/1.1 200").count(), 1, "{answer}");
    }

    #[test]
    fn connections_that_never_ask_keep_nobody_out() {
        let at = server(0);
        let mut idle = Vec::new();
        for number in 0..3 * CONNECTIONS {
            let mut stream = TcpStream::connect(at).unwrap();
            stream.write_all(&b"POST / HTTP/1.1\r\nContent-Le"[..number % 20]).unwrap();
            idle.push(stream);
        }
        assert!(is_served(at));
        // The oldest were ended to make room.
        let mut rest = Vec::new();
        idle[0].set_read_timeout(Some(PATIENCE / 2)).unwrap();
        let ended = idle[0].read_to_end(&mut rest);
        assert!(ended.is_ok_and(|read| read == 0));
    }

    #[test]
    fn a_panic_and_failed_connections_end_nothing_else() {
        let at = server(5);
        for _ in 0..CONNECTIONS {
            assert!(answer_to(at, b"GET /panic HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 500 "));
        }
        assert!(is_served(at));
    }
}
