//! Servers that speak OpenAI's protocol for chats: one question, one answer.
//!
//! An answer that was given once is read from a directory the next time. A request that fails for a
//! passing reason (429, 5xx, a broken connection, an answer cut short) is sent again after a pause
//! that doubles. The key is sent in one header, and nowhere else: not in errors, recipes or files.

mod answers;
mod error;
#[cfg(not(feature = "http"))]
#[path = "no_transport.rs"]
mod transport;
#[cfg(feature = "http")]
mod transport;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

pub use error::EndpointError;
use serde::Deserialize;
use serde_json::{Value, json};

use answers::{Answers, StoredAnswer};
use transport::Transport;

type Result<T> = std::result::Result<T, EndpointError>;

/// How long nobody is asked whether an answer is waited for.
const WAIT: Duration = Duration::from_millis(50);
/// The longest pause that a server can ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// A secret that no message shows.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// A key, without the white space around it.
    #[must_use]
    pub fn new(key: &str) -> Self {
        Self(key.trim().to_owned())
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(...)")
    }
}

/// How an endpoint is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointSettings {
    /// The address before `/chat/completions`, as in `http://127.0.0.1:8000/v1`.
    pub url: String,
    /// The model's name there.
    pub model: String,
    /// Sent as `Authorization: Bearer KEY`.
    pub key: Option<Key>,
    /// Requests that may be sent in all, repeated ones counted.
    pub max_requests: Option<u64>,
    /// Tokens of questions and answers, as the server counts them, after which none is sent.
    pub max_tokens: Option<u64>,
    /// How long an answer may take.
    pub timeout: Duration,
    /// How often a question is sent at most.
    pub tries: u32,
    /// The pause before the second time; it doubles each time.
    pub pause: Duration,
    /// Where answers are kept; nowhere for none.
    pub answers: Option<PathBuf>,
}

impl EndpointSettings {
    /// The defaults: five tries, pauses from half a second, two minutes for an answer, no budget.
    #[must_use]
    pub fn new(url: &str, model: &str) -> Self {
        Self {
            url: url.to_owned(),
            model: model.to_owned(),
            key: None,
            max_requests: None,
            max_tokens: None,
            timeout: Duration::from_secs(120),
            tries: 5,
            pause: Duration::from_millis(500),
            answers: None,
        }
    }

    /// The key in a variable of the environment: in the one that is named, else in
    /// `FNSTORE_ENDPOINT_KEY`, if it is set.
    ///
    /// # Errors
    /// When the one that is named is not set.
    pub fn key_from(name: Option<&str>) -> Result<Option<Key>> {
        let variable = name.unwrap_or("FNSTORE_ENDPOINT_KEY");
        let key = std::env::var(variable).ok().filter(|key| !key.trim().is_empty());
        match (key, name) {
            (None, Some(name)) => Err(EndpointError::NoKey { name: name.to_owned() }),
            (key, _) => Ok(key.map(|key| Key::new(&key))),
        }
    }

    /// Refuses settings by which nothing is ever asked.
    ///
    /// # Errors
    /// When there is no try, or no time for an answer.
    pub fn check(&self) -> Result<()> {
        match self.tries == 0 || self.timeout.is_zero() {
            true => Err(EndpointError::Range),
            false => Ok(()),
        }
    }
}

/// What was asked so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Usage {
    /// Requests sent, repeated ones counted.
    pub requests: u64,
    /// Tokens of questions and answers, as the server counts them.
    pub tokens: u64,
    /// Questions whose answers were there already.
    pub known: u64,
}

impl Usage {
    /// What was asked since an earlier moment.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            requests: self.requests - before.requests,
            tokens: self.tokens - before.tokens,
            known: self.known - before.known,
        }
    }
}

/// A server, and what was asked of it.
#[derive(Debug)]
pub struct Endpoint {
    settings: EndpointSettings,
    line: Arc<Line>,
    answers: Option<Answers>,
    usage: Usage,
}

/// What a thread needs to send a request, which nobody waits for any more where work is stopped.
#[derive(Debug)]
struct Line {
    url: String,
    key: Option<Key>,
    transport: Transport,
}

/// What a server said to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Its text.
    pub text: String,
    /// Whether it ends by itself; if not, the server cut it at the limit of tokens.
    pub ended: bool,
}

impl Answer {
    /// What no cut can have reached: all of an answer that ended, else the lines before its last.
    #[must_use]
    pub fn whole_lines(&self) -> &str {
        match self.ended {
            true => &self.text,
            false => self.text.rsplit_once('\n').map_or("", |(lines, _)| lines),
        }
    }
}

/// What came back for a request.
struct Response {
    status: u16,
    /// The pause that the server asks for.
    pause: Option<Duration>,
    /// What it said, or why that cannot be read.
    text: std::result::Result<String, String>,
}

/// Nothing came back.
struct Failure {
    /// Whether an encrypted connection could not be made.
    is_of_tls: bool,
    reason: String,
}

/// What became of one request.
enum Sent {
    Reply(Reply),
    /// Worth another try, perhaps after the pause that the server asks for.
    Again(EndpointError, Option<Duration>),
}

impl Endpoint {
    /// An endpoint; nothing is sent yet.
    ///
    /// # Errors
    /// When the address is none, or would give the key away; when the feature `http` is off.
    pub fn new(settings: EndpointSettings) -> Result<Self> {
        let base = settings.url.trim_end_matches('/').trim_end_matches("/chat/completions");
        let line = Line {
            url: format!("{base}/chat/completions"),
            key: settings.key.clone(),
            transport: Transport::open(&settings)?,
        };
        Ok(Self {
            line: Arc::new(line),
            answers: settings.answers.clone().map(Answers::in_directory),
            usage: Usage::default(),
            settings,
        })
    }

    /// The address without what is appended to it, and the model: what recipes name.
    #[must_use]
    pub fn description(&self) -> Value {
        json!({ "url": self.line.url, "model": self.settings.model })
    }

    /// What was asked so far.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// The answer to a question. `temperature` 0 asks for the likeliest; `seed` tells draws apart.
    /// An answer that was cut off is not kept.
    ///
    /// # Errors
    /// When the server refuses, or does not answer however often it is asked, or a budget is used
    /// up; when tokens have a budget and the server does not count them.
    pub fn ask(
        &mut self,
        question: &str,
        temperature: f32,
        seed: u64,
        limit: u32,
    ) -> Result<Answer> {
        self.ask_while(question, temperature, seed, limit, &mut || ControlFlow::Continue(()))
    }

    /// As [`ask`](Self::ask), asking `goes_on` now and then whether the answer is still waited for.
    /// An answer that comes later is not kept; the server may count what it took.
    ///
    /// # Errors
    /// As there, and [`EndpointError::Stopped`] after `Break`.
    pub fn ask_while(
        &mut self,
        question: &str,
        temperature: f32,
        seed: u64,
        limit: u32,
        goes_on: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<Answer> {
        let body = json!({
            "model": self.settings.model,
            "messages": [{ "role": "user", "content": question }],
            "temperature": temperature,
            "seed": seed,
            "max_tokens": limit,
        })
        .to_string();
        if let Some(known) =
            self.answers.as_ref().and_then(|answers| answers.get(&self.line.url, &body))
        {
            self.usage.known += 1;
            return Ok(Answer { text: known.content, ended: true });
        }
        let mut pause = self.settings.pause;
        for attempt in 1.. {
            self.check_budget()?;
            self.usage.requests += 1;
            let (error, asked) = match self.send(&body, goes_on)? {
                Sent::Reply(reply) => {
                    let tokens = self.count(reply.usage)?;
                    match answer_in(reply.choices) {
                        Ok(answer) => {
                            self.store_answer(&body, &answer, tokens)?;
                            return Ok(answer);
                        }
                        Err(reason) => (self.line.unreadable(&reason), None),
                    }
                }
                Sent::Again(error, asked) => (error, asked),
            };
            if attempt >= self.settings.tries {
                return Err(error);
            }
            rest(asked.unwrap_or(pause).min(LONGEST_PAUSE), goes_on)?;
            pause = pause.saturating_mul(2).min(LONGEST_PAUSE);
        }
        unreachable!("the loop ends by returning")
    }

    fn check_budget(&self) -> Result<()> {
        let spent = |what, used: u64, most: Option<u64>| match most {
            Some(most) if used >= most => Err(EndpointError::Budget { what, most }),
            _ => Ok(()),
        };
        spent("requests", self.usage.requests, self.settings.max_requests)?;
        spent("tokens", self.usage.tokens, self.settings.max_tokens)
    }

    /// Counts the tokens that a request took, whatever the answer is worth; gives them.
    fn count(&mut self, counted: Option<Counted>) -> Result<u64> {
        match counted.and_then(|counted| counted.total_tokens) {
            Some(tokens) => {
                self.usage.tokens += tokens;
                Ok(tokens)
            }
            None if self.settings.max_tokens.is_some() => {
                Err(EndpointError::Uncounted { url: self.line.url.clone() })
            }
            None => Ok(0),
        }
    }

    /// Keeps an answer for the next time, unless it was cut off.
    fn store_answer(&self, body: &str, answer: &Answer, tokens: u64) -> Result<()> {
        match &self.answers {
            Some(answers) if answer.ended => answers.put(
                &self.line.url,
                body,
                &StoredAnswer { content: answer.text.clone(), tokens },
            ),
            _ => Ok(()),
        }
    }

    /// Sends a request once, and waits for its reply as long as it is wanted.
    fn send(&self, body: &str, goes_on: &mut dyn FnMut() -> ControlFlow<()>) -> Result<Sent> {
        let (told, reply) = channel();
        let (line, body) = (Arc::clone(&self.line), body.to_owned());
        std::thread::spawn(move || {
            // Nobody listens where the work was stopped.
            let _ = told.send(line.send(&body));
        });
        loop {
            match reply.recv_timeout(WAIT) {
                Ok(sent) => return sent,
                Err(RecvTimeoutError::Timeout) if goes_on().is_break() => {
                    return Err(EndpointError::Stopped);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    let reason = "the thread that sent the question ended".to_owned();
                    return Err(EndpointError::Connect { url: self.line.url.clone(), reason });
                }
            }
        }
    }
}

/// Waits before a question is sent again.
fn rest(pause: Duration, goes_on: &mut dyn FnMut() -> ControlFlow<()>) -> Result<()> {
    let begun = Instant::now();
    while let Some(left) = pause.checked_sub(begun.elapsed()).filter(|left| !left.is_zero()) {
        std::thread::sleep(left.min(WAIT));
        if goes_on().is_break() {
            return Err(EndpointError::Stopped);
        }
    }
    Ok(())
}

impl Line {
    /// Sends a request once.
    fn send(&self, body: &str) -> Result<Sent> {
        let url = || self.url.clone();
        let Response { status, pause, text } =
            match self.transport.post(&self.url, self.key.as_ref(), body) {
                Ok(response) => response,
                // It would be no better the next time, and nothing was sent.
                Err(Failure { is_of_tls, reason })
                    if self.url.starts_with("https") && is_of_tls =>
                {
                    let reason = self.hidden(&reason);
                    return Err(EndpointError::Tls { url: url(), reason });
                }
                Err(Failure { reason, .. }) => {
                    let reason = self.hidden(&reason);
                    return Ok(Sent::Again(EndpointError::Connect { url: url(), reason }, None));
                }
            };
        let said = self.hidden(text.as_deref().unwrap_or_default());
        match status {
            200 => {}
            401 | 403 => {
                let given = self.key.is_some();
                return Err(EndpointError::Key { url: url(), status, given });
            }
            408 | 429 | 500.. => {
                let error = EndpointError::Status { url: url(), status, said };
                return Ok(Sent::Again(error, pause));
            }
            _ => return Err(EndpointError::Status { url: url(), status, said }),
        }
        let reply = text.and_then(|text| read(&text));
        Ok(match reply {
            Ok(reply) => Sent::Reply(reply),
            Err(reason) => Sent::Again(self.unreadable(&reason), None),
        })
    }

    fn unreadable(&self, reason: &str) -> EndpointError {
        EndpointError::Answer { url: self.url.clone(), reason: self.hidden(reason) }
    }

    /// The beginning of what somebody said, without the key.
    fn hidden(&self, said: &str) -> String {
        let said = match &self.key {
            Some(Key(key)) if !key.is_empty() => said.replace(key.as_str(), "..."),
            _ => said.to_owned(),
        };
        let visible = said.chars().map(|c| if c.is_control() { ' ' } else { c });
        visible.take(200).collect::<String>().trim().to_owned()
    }
}

/// A reply; choices are read once what it cost is counted.
#[derive(Deserialize)]
struct Reply {
    choices: Vec<Value>,
    usage: Option<Counted>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    content: String,
}

#[derive(Deserialize)]
struct Counted {
    total_tokens: Option<u64>,
}

fn read(text: &str) -> std::result::Result<Reply, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// The first answer of a reply.
fn answer_in(choices: Vec<Value>) -> std::result::Result<Answer, String> {
    let first = choices.into_iter().next().ok_or("`choices` is empty")?;
    let choice: Choice = serde_json::from_value(first).map_err(|error| error.to_string())?;
    let ended = choice.finish_reason.as_deref() != Some("length");
    Ok(Answer { text: choice.message.content, ended })
}

#[cfg(all(test, feature = "http"))]
mod tests {
    use super::*;

    fn refused(url: &str, key: Option<&str>) -> String {
        let key = key.map(Key::new);
        let settings = EndpointSettings { key, ..EndpointSettings::new(url, "m") };
        Endpoint::new(settings).expect_err("the settings are wrong").to_string()
    }

    #[test]
    fn an_address_is_one_and_gives_no_secret_away() {
        for (url, key, said) in [
            ("", None, "is no address"),
            ("127.0.0.1:8000", None, "does not begin with http://"),
            ("ftp://here/v1", None, "does not begin with http://"),
            ("http://kim:secret@here/v1", None, "holds a password"),
            ("http://example.org/v1", Some("sk-1"), "would send the key unencrypted"),
        ] {
            let message = refused(url, key);
            assert!(message.contains(said) && message.contains("(H-url)"), "{url}: {message}");
            assert!(!message.contains("secret") && !message.contains("sk-1"), "{message}");
        }
        for url in [
            "http://127.0.0.1:8000/v1",
            "http://localhost/v1/",
            "https://example.org/v1/chat/completions",
        ] {
            let settings = EndpointSettings {
                key: Some(Key::new(" sk-1 ")),
                ..EndpointSettings::new(url, "m")
            };
            let endpoint = Endpoint::new(settings).unwrap();
            let url = &endpoint.line.url;
            assert!(url.ends_with("/v1/chat/completions"), "{url}");
            assert!(!format!("{endpoint:?}").contains("sk-1"));
        }
    }
}
