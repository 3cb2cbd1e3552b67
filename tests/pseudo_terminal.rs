//! The program on a pseudo-terminal that util-linux's `script` makes. Holds no test.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long the program may take for what is waited for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Keys that have no letter, as terminals send them.
pub(crate) const LEFT: &str = "\x1b[D";
pub(crate) const RIGHT: &str = "\x1b[C";
pub(crate) const SHIFT_LEFT: &str = "\x1b[1;2D";
pub(crate) const SHIFT_RIGHT: &str = "\x1b[1;2C";
pub(crate) const ENTER: &str = "\r";
pub(crate) const ESCAPE: &str = "\x1b";
pub(crate) const TAB: &str = "\t";

/// What clears the screen: a drawing begins with it.
const CLEAR: &str = "\x1b[2J";

pub(crate) struct Terminal {
    child: Child,
    keys: Option<ChildStdin>,
    written: Arc<Mutex<Vec<u8>>>,
}

impl Terminal {
    /// Starts the program on a terminal of so many columns and rows; none where `script` is not
    /// installed.
    pub(crate) fn start(
        store: &Path,
        arguments: &[&str],
        (columns, rows): (u16, u16),
    ) -> Option<Self> {
        let quoted: Vec<String> =
            arguments.iter().map(|it| format!("'{}'", it.replace('\'', "'\\''"))).collect();
        let program = env!("CARGO_BIN_EXE_fnstore");
        let line =
            format!("stty cols {columns} rows {rows}; exec '{program}' {}", quoted.join(" "));
        let mut command = Command::new("script");
        command.args(["--quiet", "--flush", "--return", "--command", &line, "/dev/null"]);
        command.env("FNSTORE_DIR", store).env("USER", "kim").env("TERM", "xterm-256color");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let Ok(mut child) = command.spawn() else {
            println!("skipped: there is no `script` (util-linux), which makes a terminal");
            return None;
        };
        let (keys, mut out) = (child.stdin.take(), child.stdout.take().unwrap());
        let written = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&written);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = out.read(&mut bytes) {
                kept.lock().unwrap().extend_from_slice(&bytes[..count]);
            }
        });
        Some(Self { child, keys, written })
    }

    pub(crate) fn press(&mut self, keys: &str) {
        let pipe = self.keys.as_mut().unwrap();
        pipe.write_all(keys.as_bytes()).unwrap();
        pipe.flush().unwrap();
    }

    /// What stands on the terminal, without looks; a row is a line.
    pub(crate) fn shown(&self) -> String {
        let written = self.written.lock().unwrap();
        let all = String::from_utf8_lossy(&written);
        plain(all.rsplit_once(CLEAR).map_or(&*all, |(_, last)| last))
    }

    /// All that was written to the terminal.
    pub(crate) fn written(&self) -> String {
        String::from_utf8_lossy(&self.written.lock().unwrap()).into_owned()
    }

    /// What stands on the terminal in reverse.
    pub(crate) fn reversed(&self) -> Vec<String> {
        let written = self.written.lock().unwrap();
        let all = String::from_utf8_lossy(&written).into_owned();
        let last = all.rsplit_once(CLEAR).map_or(&*all, |(_, last)| last).to_owned();
        last.split("\x1b[7m")
            .skip(1)
            .map(|part| plain(part.split("\x1b[0m").next().unwrap()))
            .collect()
    }

    /// Waits until something stands on the terminal.
    #[track_caller]
    pub(crate) fn until(&self, said: &str) {
        let since = Instant::now();
        while !self.shown().contains(said) {
            let shown = self.shown();
            assert!(since.elapsed() < PATIENCE, "`{said}` is not on the terminal:\n{shown}");
            sleep(Duration::from_millis(10));
        }
    }

    /// Waits for the end; gives the exit code.
    pub(crate) fn end(mut self) -> Option<i32> {
        let code = self.child.wait().unwrap().code();
        self.keys = None;
        code
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.keys = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A text without what a terminal obeys; where the cursor goes elsewhere a line begins.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text.chars();
    while let Some(letter) = rest.next() {
        if letter != '\x1b' {
            plain.push(letter);
            continue;
        }
        if rest.next() == Some('[') && rest.by_ref().find(char::is_ascii_alphabetic) == Some('H') {
            plain.push('\n');
        }
    }
    plain
}
