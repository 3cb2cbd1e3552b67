//! Servers over https that cannot be trusted: nothing is sent to them, and nothing is tried again.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::cli_program::Ran;

const KEY: &str = "sk-verySecret-2342";

/// Asks for a paraphrase, with a key, and says how long that took.
fn ask(url: &str) -> (Ran, Duration) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fnstore"));
    command.env("FNSTORE_ENDPOINT_KEY", KEY).stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.args(["paraphrase", "--endpoint", url, "--model", "small", "--answers", "none"]);
    let started = Instant::now();
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"They checked it.\n").unwrap();
    let output = child.wait_with_output().unwrap();
    (Ran::of(output), started.elapsed())
}

fn assert_refused(url: &str, said: &str) {
    let (ran, took) = ask(url);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    for said in [said, "(H-tls)", "http://127.0.0.1"] {
        assert!(ran.stderr.contains(said), "{said}: {}", ran.stderr);
    }
    assert!(!ran.stderr.contains(KEY) && !ran.stderr.contains("panicked"), "{}", ran.stderr);
    // Five tries would pause for 7.5 s.
    assert!(took < Duration::from_secs(7), "{took:?}");
}

#[test]
fn a_server_without_tls_is_not_asked_in_plain_text() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let received = Arc::clone(&seen);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, mut bytes) = (stream.unwrap(), [0; 4096]);
            let count = stream.read(&mut bytes).unwrap_or(0);
            received.lock().unwrap().push(bytes[..count].to_vec());
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}");
        }
    });
    assert_refused(&format!("https://127.0.0.1:{port}/v1"), "no encrypted connection");
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 1, "one connection");
    let has_key = |bytes: &Vec<u8>| bytes.windows(KEY.len()).any(|part| part == KEY.as_bytes());
    assert!(!seen.iter().any(has_key));
}

/// A server of OpenSSL with a certificate that it signed itself; none where OpenSSL is missing.
fn self_signed(directory: &Path) -> Option<(Child, u16)> {
    let (key, certificate) = (directory.join("key.pem"), directory.join("certificate.pem"));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"])
        .args(["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"])
        .arg("-keyout")
        .arg(&key)
        .arg("-out")
        .arg(&certificate)
        .output();
    if !made.is_ok_and(|made| made.status.success()) {
        return None;
    }
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let child = Command::new("openssl")
        .args(["s_server", "-www", "-quiet", "-accept", &format!("127.0.0.1:{port}"), "-key"])
        .arg(&key)
        .arg("-cert")
        .arg(&certificate)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let started = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(started.elapsed() < Duration::from_secs(20), "OpenSSL does not listen");
        std::thread::sleep(Duration::from_millis(20));
    }
    Some((child, port))
}

#[test]
fn a_certificate_that_nobody_vouches_for_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let Some((mut server, port)) = self_signed(directory.path()) else {
        println!("skipped: there is no `openssl` that makes a certificate");
        return;
    };
    assert_refused(&format!("https://127.0.0.1:{port}/v1"), "certificate");
    server.kill().unwrap();
    server.wait().unwrap();
}
