//! `fnstore review`, run as its user runs it, and requests to its page. Holds no test.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

/// A running review, which is killed at the end.
pub(crate) struct Review {
    child: Child,
    /// As in `127.0.0.1:4711`.
    pub(crate) host: String,
    /// The path that begins with the token, with a slash at both ends.
    pub(crate) path: String,
}

impl Review {
    pub(crate) fn start(store: &Path, arguments: &[&str]) -> Self {
        Self::start_by(Command::new(env!("CARGO_BIN_EXE_fnstore")), store, arguments)
    }

    /// Starts a review by a command that runs the program.
    pub(crate) fn start_by(mut command: Command, store: &Path, arguments: &[&str]) -> Self {
        command.env("FNSTORE_DIR", store).arg("review").args(arguments).env("USER", "kim");
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut address).unwrap();
        let address = address.trim().strip_prefix("http://").unwrap();
        let (host, path) = address.split_at(address.find('/').unwrap());
        Self { host: host.to_owned(), path: path.to_owned(), child }
    }

    /// The address of a view.
    pub(crate) fn address(&self, view: &str) -> String {
        format!("http://{}{}{view}", self.host, self.path)
    }

    /// What the system says of the process in a file of its own.
    pub(crate) fn process(&self, file: &str) -> std::path::PathBuf {
        Path::new("/proc").join(self.child.id().to_string()).join(file)
    }

    /// Megabytes that the program has in memory now, and had at most.
    pub(crate) fn resident(&self) -> (u64, u64) {
        let status = std::fs::read_to_string(self.process("status")).unwrap();
        let of = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
        };
        (of("VmRSS:"), of("VmHWM:"))
    }

    /// Kills the server at once, as a crash does.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn get(&self, path: &str) -> (u16, String) {
        request(&self.host, "GET", &format!("{}{path}", self.path), &[], "")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let origin = ("Origin", format!("http://{}", self.host));
        let path = format!("{}{path}", self.path);
        let (status, reply) = request(&self.host, "POST", &path, &[origin], &body.to_string());
        (status, serde_json::from_str(&reply).unwrap_or(Value::String(reply)))
    }

    /// The item that comes after another one.
    pub(crate) fn item(&self, after: Option<u64>) -> Value {
        let after = after.map(|after| format!("&after={after}")).unwrap_or_default();
        let (status, item) = self.get(&format!("item?tab=t{after}"));
        assert_eq!(status, 200, "{item}");
        serde_json::from_str(&item).unwrap()
    }
}

impl Drop for Review {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A request of HTTP 1.1, whose answer ends with the connection. Headers given replace the usual
/// ones.
pub(crate) fn request(
    host: &str,
    method: &str,
    path: &str,
    headers: &[(&str, String)],
    body: &str,
) -> (u16, String) {
    let mut stream = TcpStream::connect(host).unwrap();
    let mut head = format!(
        "{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n",
        body.len()
    );
    let usual = [("Host", host.to_owned()), ("Content-Type", "application/json".to_owned())];
    let kept = usual.iter().filter(|(name, _)| headers.iter().all(|(given, _)| given != name));
    for (name, value) in kept.chain(headers) {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    stream.write_all(format!("{head}\r\n{body}").as_bytes()).unwrap();
    let mut answer = BufReader::new(stream);
    let (mut status, mut length) = (0, None);
    loop {
        let mut line = String::new();
        answer.read_line(&mut line).unwrap();
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if status == 0 {
            status = line.split(' ').nth(1).unwrap().parse().unwrap();
        }
        let lower = line.to_ascii_lowercase();
        if let Some(bytes) = lower.strip_prefix("content-length:") {
            length = bytes.trim().parse().ok();
        }
    }
    let mut body = vec![0; length.unwrap_or(0)];
    match length {
        Some(_) => answer.read_exact(&mut body).unwrap(),
        None => drop(answer.read_to_end(&mut body).unwrap()),
    }
    let body = String::from_utf8(body).unwrap();
    (status, if length.is_some() { body } else { joined(&body) })
}

/// A body that came in chunks.
fn joined(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((length, rest)) = body.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).unwrap();
        whole.push_str(&rest[..length]);
        body = &rest[length + 2..];
    }
    whole
}
