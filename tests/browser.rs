//! A browser that nobody sees, driven over WebDriver (Debian's `chromium` and `chromium-driver`).
//! Holds no test.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::review_server::request;

/// How long the page may take for what is waited for.
const PATIENCE: Duration = Duration::from_secs(20);

/// Keys that have no letter, as WebDriver writes them.
pub(crate) const LEFT: char = '\u{e012}';
pub(crate) const RIGHT: char = '\u{e014}';
pub(crate) const ENTER: char = '\u{e007}';
pub(crate) const TAB: char = '\u{e004}';
pub(crate) const SHIFT: char = '\u{e008}';
pub(crate) const ESCAPE: char = '\u{e00c}';

pub(crate) struct Browser {
    driver: Child,
    host: String,
    session: String,
    _profile: TempDir,
}

/// The port that a driver says it listens on; none if it ends before.
fn port_of(driver: &mut Child) -> Option<String> {
    let mut lines = BufReader::new(driver.stdout.as_mut().unwrap()).lines();
    lines.find_map(|line| {
        let line = line.unwrap();
        let (_, port) = line.split_once("started successfully on port ")?;
        Some(port.trim_end_matches('.').to_owned())
    })
}

impl Browser {
    /// Starts one; none where it is not installed.
    pub(crate) fn start() -> Option<Self> {
        let profile = tempfile::tempdir().unwrap();
        let mut command = Command::new("chromedriver");
        command.arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null());
        // Two that start at once may choose the same port, and one ends.
        let mut tries = 0;
        let (driver, port) = loop {
            let Ok(mut driver) = command.spawn() else {
                skipped!("there is no chromedriver; `make test` installs it on Debian");
                return None;
            };
            if let Some(port) = port_of(&mut driver) {
                break (driver, port);
            }
            driver.wait().unwrap();
            tries += 1;
            assert!(tries < 5, "chromedriver does not start");
        };
        let host = format!("127.0.0.1:{port}");
        let mut browser = Self { driver, host, session: String::new(), _profile: profile };
        let arguments = [
            "--headless=new".to_owned(),
            "--no-sandbox".to_owned(),
            "--disable-gpu".to_owned(),
            "--disable-dev-shm-usage".to_owned(),
            "--force-color-profile=srgb".to_owned(),
            "--window-size=1280,900".to_owned(),
            format!("--user-data-dir={}", browser._profile.path().display()),
        ];
        let options = json!({ "goog:chromeOptions": { "args": arguments } });
        let asked = json!({ "capabilities": { "alwaysMatch": options } }).to_string();
        let (status, made) = request(&browser.host, "POST", "/session", &[], &asked);
        let made: Value = serde_json::from_str(&made).unwrap();
        if status != 200 {
            skipped!("the browser does not start here: {}", made["value"]["message"]);
            return None;
        }
        browser.session = made["value"]["sessionId"].as_str().unwrap().to_owned();
        Some(browser)
    }

    fn command(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = if method == "GET" { String::new() } else { body.to_string() };
        let (status, reply) = request(&self.host, method, path, &[], &body);
        let mut reply: Value = serde_json::from_str(&reply).unwrap();
        assert_eq!(status, 200, "{path} {body}: {reply}");
        reply["value"].take()
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        self.command("POST", &format!("/session/{}/{path}", self.session), body)
    }

    pub(crate) fn visit(&self, address: &str) {
        self.post("url", &json!({ "url": address }));
    }

    /// What a function body gives in the page.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.post("execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// What a function body gives that answers by calling its last argument.
    pub(crate) fn run_async(&self, script: &str) -> Value {
        self.post("execute/async", &json!({ "script": script, "args": [] }))
    }

    /// A command of the browser's own protocol.
    pub(crate) fn emulate(&self, command: &str, parameters: &Value) {
        self.post("goog/cdp/execute", &json!({ "cmd": command, "params": parameters }));
    }

    /// Presses keys, one after another; [`SHIFT`] holds until the end.
    pub(crate) fn press(&self, keys: &str) {
        let mut actions = Vec::new();
        for key in keys.chars() {
            actions.push(json!({ "type": "keyDown", "value": key }));
            if key != SHIFT {
                actions.push(json!({ "type": "keyUp", "value": key }));
            }
        }
        if keys.contains(SHIFT) {
            actions.push(json!({ "type": "keyUp", "value": SHIFT }));
        }
        self.post(
            "actions",
            &json!({ "actions": [{ "type": "key", "id": "keys", "actions": actions }] }),
        );
    }

    /// Waits until an expression of the page has a value.
    #[track_caller]
    pub(crate) fn until(&self, expression: &str, expected: &Value) {
        let since = Instant::now();
        loop {
            let found = self.run(&format!("return {expression}"));
            if found == *expected {
                return;
            }
            let page = || self.run("return document.body.innerText");
            assert!(
                since.elapsed() < PATIENCE,
                "{expression}: {found}, expected {expected}\n{}",
                page()
            );
            sleep(Duration::from_millis(20));
        }
    }

    /// Waits until the page says something in its line of state.
    #[track_caller]
    pub(crate) fn until_said(&self, said: &str) {
        let said = serde_json::to_string(said).unwrap();
        self.until(
            &format!("document.querySelector('#state').textContent.includes({said})"),
            &json!(true),
        );
    }

    /// Opens another tab and goes there; gives its handle.
    pub(crate) fn tab(&self) -> String {
        let made = self.post("window/new", &json!({ "type": "tab" }));
        let handle = made["handle"].as_str().unwrap().to_owned();
        self.switch(&handle);
        handle
    }

    pub(crate) fn handle(&self) -> String {
        let path = format!("/session/{}/window", self.session);
        self.command("GET", &path, &Value::Null).as_str().unwrap().to_owned()
    }

    pub(crate) fn switch(&self, handle: &str) {
        self.post("window", &json!({ "handle": handle }));
    }

    /// Writes down what the page looks like.
    pub(crate) fn picture(&self, file: &Path) {
        let path = format!("/session/{}/screenshot", self.session);
        let shown = self.command("GET", &path, &Value::Null);
        std::fs::write(file, from_base64(shown.as_str().unwrap())).unwrap();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !std::thread::panicking() && !self.session.is_empty() {
            self.command("DELETE", &format!("/session/{}", self.session), &json!({}));
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// Bytes in base 64 (RFC 4648, section 4).
fn from_base64(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let (mut bits, mut held) = (0_u32, 0);
    for letter in text.bytes().filter(|letter| *letter != b'=') {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            _ => 63,
        };
        (bits, held) = (bits << 6 | u32::from(value), held + 6);
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held & 0xff) as u8);
        }
    }
    bytes
}
