//! Who does not know the token ends no review, holds up nobody, and takes no memory; nor is the
//! token told to other users.

#![cfg(target_os = "linux")]

use std::fs::Permissions;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::cli_program::new_store;
use crate::review_server::{Review, request};

/// Megabytes that an attack may take.
const MEMORY: u64 = 64;

fn attacked(attack: impl FnOnce(&Review)) {
    let store = new_store();
    let review = Review::start(store.path(), &[]);
    assert_eq!(review.get("").0, 200);
    let (before, _) = review.resident();
    attack(&review);
    let (status, page) = review.get("");
    assert_eq!(status, 200);
    assert!(page.starts_with("<!DOCTYPE html>"), "{page}");
    let (_, most) = review.resident();
    assert!(most < before + MEMORY, "{before} MB before, {most} MB at most");
}

fn connection(review: &Review, sent: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(&review.host).unwrap();
    stream.write_all(sent).unwrap();
    stream
}

#[test]
fn a_body_without_end_is_refused_by_its_head() {
    attacked(|review| {
        let host = &review.host;
        for (path, status) in [("/", "403"), (&*format!("{}decide", review.path), "413")] {
            let head = format!(
                "POST {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\n\
                 Content-Length: 1000000000000\r\n\r\n"
            );
            let mut answer = String::new();
            connection(review, head.as_bytes()).read_to_string(&mut answer).unwrap();
            assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
        }
    });
}

#[test]
fn unfinished_requests_hold_up_nobody() {
    attacked(|review| {
        let begun = Instant::now();
        let head = format!("POST / HTTP/1.1\r\nHost: {}\r\nContent-Length: 9\r\n", review.host);
        let _open: Vec<_> = (0..80).map(|_| connection(review, head.as_bytes())).collect();
        assert_eq!(review.get("app.js").0, 200);
        assert!(begun.elapsed() < Duration::from_secs(8), "it was waited for them");
    });
}

#[test]
fn idle_and_closed_connections_end_no_page() {
    attacked(|review| {
        let mut idle = Vec::new();
        for _ in 0..200 {
            idle.push(connection(review, b""));
            drop(connection(review, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
            drop(connection(review, b"GET / HTTP/1.1\r\n"));
        }
        let open = std::fs::read_dir(review.process("fd")).unwrap().count();
        assert!(open < 200, "{open} files are open");
        assert_eq!(review.get("app.js").0, 200);
    });
}

#[test]
fn endless_heads_and_requests_in_a_row_take_no_memory() {
    attacked(|review| {
        let row = format!("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", review.host).repeat(1000);
        for endless in [vec![b'a'; 64 << 10], b"a: b\r\n".repeat(8 << 10), row.into_bytes()] {
            let mut stream = connection(review, b"GET / HTTP/1.1\r\n");
            let sent = (0..2048).take_while(|_| stream.write_all(&endless).is_ok()).count();
            assert!(sent < 2048, "{sent} times {} bytes were taken in", endless.len());
            let _ = stream.read_to_end(&mut Vec::new());
        }
    });
}

#[test]
fn the_browser_is_led_to_the_page_by_a_file_of_its_owner() {
    let (store, programs) = (new_store(), tempfile::tempdir().unwrap());
    let (opener, told) = (programs.path().join("xdg-open"), programs.path().join("told"));
    let script = format!("#!/bin/sh\ncp -p \"$1\" {0}.page\necho \"$@\" > {0}\n", told.display());
    std::fs::write(&opener, script).unwrap();
    std::fs::set_permissions(&opener, Permissions::from_mode(0o700)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_fnstore"));
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}:{path}", programs.path().display()));
    let review = Review::start_by(command, store.path(), &["--open"]);
    let begun = Instant::now();
    let arguments = loop {
        match std::fs::read_to_string(&told) {
            Ok(told) if told.ends_with('\n') => break told,
            _ => std::thread::sleep(Duration::from_millis(20)),
        }
        assert!(begun.elapsed() < Duration::from_secs(10), "nothing was opened");
    };
    let token = review.path.trim_matches('/');
    assert!(!arguments.contains(token), "{arguments}");
    let page = told.with_extension("page");
    assert_eq!(page.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains(&review.address("")), "{page}");
    // As a browser follows what leads on from a file.
    let headers = [
        ("Sec-Fetch-Site", "cross-site".to_owned()),
        ("Sec-Fetch-Mode", "navigate".to_owned()),
        ("Sec-Fetch-Dest", "document".to_owned()),
    ];
    assert_eq!(request(&review.host, "GET", &review.path, &headers, "").0, 200);
    let file = arguments.trim();
    assert!(!std::path::Path::new(file).exists(), "{file} stays once the browser has come");
    let posted = format!("{}undo", review.path);
    assert_eq!(request(&review.host, "POST", &posted, &headers, "{}").0, 403);
}
