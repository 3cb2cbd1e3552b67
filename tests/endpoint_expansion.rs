//! `fnstore expand --endpoint`: a server rewrites, a good one and hostile ones.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use fnstore::database::Database;
use serde_json::Value;

use crate::cli_program::{Ran, fnstore_in, new_store};
use crate::endpoints::{Reply, Server};
use crate::mini;

const KEY: &str = "sk-verySecret-4711";
const SEEDS: &str = "lu=audit.v or lu=inspect.v";

/// The command, without an expression.
fn command(store: &Path, url: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fnstore"));
    command.env("FNSTORE_DIR", store).env("FNSTORE_ENDPOINT_KEY", KEY);
    command.args(["expand", "--rounds", "1", "--format", "json", "--endpoint", url]);
    command
}

/// Expands by a server; answers are kept nowhere unless a directory is named.
fn expand(store: &Path, url: &str, arguments: &[&str]) -> Ran {
    let mut command = command(store, url);
    if !arguments.contains(&"--answers") {
        command.args(["--answers", "none"]);
    }
    Ran::of(command.args(["--model", "small"]).args(arguments).output().unwrap())
}

fn record(ran: &Ran) -> Value {
    ran.document("expand.schema.json")
}

fn content(store: &Path) -> Vec<String> {
    mini::content(&Database::open(store).unwrap())
}

fn generated(store: &Path) -> Vec<Value> {
    fnstore_in(store, &["query", "origin=generated", "--format", "jsonl"]).records()
}

/// The quoted phrases of a question's line that begins so.
fn listed(question: &str, begin: &str) -> Vec<String> {
    let line = question.lines().find_map(|line| line.strip_prefix(begin));
    line.unwrap_or_default().split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The sentence with its first banned word replaced by the first that is required.
fn rewritten(body: &Value) -> String {
    let question = body["messages"][0]["content"].as_str().unwrap();
    let sentence = question.lines().find_map(|line| line.strip_prefix("Sentence: ")).unwrap();
    let banned = listed(question, "Do not use: ");
    let wanted = listed(question, "Use: ");
    let wanted = wanted.first().map_or("scrutinized", String::as_str);
    let found = banned.iter().find(|word| sentence.contains(word.as_str())).unwrap();
    format!("Surely {}", sentence.replace(found.as_str(), wanted))
}

fn good() -> Server {
    Server::new(|_, body| Reply::Chat(rewritten(body)))
}

#[test]
fn a_server_rewrites_the_recipe_names_it_and_a_second_run_costs_nothing() {
    let (store, server) = (new_store(), good());
    let answers = tempfile::tempdir().unwrap();
    let kept = [SEEDS, "--answers", answers.path().to_str().unwrap()];
    let ran = expand(store.path(), &server.url, &kept);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let first = record(&ran);
    let requests = server.requests();
    assert_eq!((&first["seeds"], &first["sentences"]), (&6.into(), &6.into()), "{first}");
    assert_eq!(first["endpoint"]["requests"], requests.len(), "{first}");
    assert!(first["kept"].is_null(), "a filter wants a score, which answers lack: {first}");
    for request in &requests {
        assert!(request.contains(&format!("Bearer {KEY}")), "{request}");
        assert!(request.contains("Do not use: ") && request.contains("Use: "), "{request}");
    }

    let sets = generated(store.path());
    assert_eq!(sets.len(), 6);
    for set in &sets {
        let made = &set["generation"];
        assert_eq!(made["recipe"], first["recipe"], "{set}");
        assert!(made["paraphrase"].is_null() && made["p"].is_null(), "{set}");
        assert!(made["aligner"].is_number(), "{set}");
        assert!(set["text"].as_str().unwrap().starts_with("Surely "), "{set}");
    }
    let recipes = fnstore_in(store.path(), &["recipes", "--format", "jsonl"]).stdout;
    for said in [&format!("{}/chat/completions", server.url), "small", "prompt", "attempts"] {
        assert!(recipes.contains(said), "{said}: {recipes}");
    }
    assert!(!recipes.contains("beam_size"), "{recipes}");
    let status = ["expand", SEEDS, "--rounds", "1", "--status", "--endpoint", &server.url];
    let status = [&status[..], &["--model", "small", "--format", "jsonl"]].concat();
    let status = fnstore_in(store.path(), &status);
    assert_eq!(status.records()[0]["done"], 6, "{status:?}");
    assert_eq!(fnstore_in(store.path(), &["check", "--deep"]).code, Some(0));

    let filtered = fnstore_in(store.path(), &["filter", "origin=generated", "--format", "json"]);
    assert!(filtered.stdout.contains("\"written\": 0"), "{filtered:?}");

    // The same store: nothing is asked. Another store: every answer is known.
    let again = record(&expand(store.path(), &server.url, &kept));
    assert_eq!((&again["done_before"], &again["endpoint"]["known"]), (&6.into(), &0.into()));
    let other = new_store();
    let known = record(&expand(other.path(), &server.url, &kept));
    assert_eq!((&known["sentences"], &known["endpoint"]["requests"]), (&6.into(), &0.into()));
    assert_eq!(server.requests().len(), requests.len());
    assert_eq!(content(store.path()), content(other.path()));
    let export = fnstore_in(store.path(), &["export", "--to", "jsonl"]).stdout;
    assert!(export.contains("small"), "the recipe goes along: {export}");
    assert!(!export.contains(KEY) && !format!("{ran:?}").contains(KEY));
}

#[test]
fn an_answer_that_breaks_a_ban_is_asked_for_again_then_flagged() {
    let server = Server::new(|_, _| Reply::Chat("Nobody audited this fund.".to_owned()));
    let store = new_store();
    let ran = expand(store.path(), &server.url, &["lu=audit.v", "--guide", "none", "--limit", "1"]);
    let record = record(&ran);
    assert_eq!((&record["sentences"], &record["flags"]["unmet"]), (&1.into(), &1.into()));
    assert_eq!(record["endpoint"]["requests"], 3, "{record}");
    let asked = server.requests().remove(1);
    assert!(asked.contains("It uses: \\\"audited\\\""), "{asked}");
    let flagged = fnstore_in(store.path(), &["query", "flag=unmet", "--count"]);
    assert_eq!(flagged.stdout.trim(), "1", "{flagged:?}");
}

#[test]
fn several_candidates_are_drawn_and_the_best_is_kept() {
    let server = Server::new(|number, body| match number % 2 {
        0 => Reply::Chat("?".to_owned()),
        _ => Reply::Chat(rewritten(body)),
    });
    let store = new_store();
    let two = ["lu=audit.v", "--guide", "none", "--limit", "1", "--candidates", "2"];
    assert_eq!(record(&expand(store.path(), &server.url, &two))["sentences"], 1);
    let temperatures: Vec<Value> = server
        .requests()
        .iter()
        .map(|request| request.split_once("\r\n\r\n").unwrap().1.parse::<Value>().unwrap())
        .map(|body| body["temperature"].clone())
        .collect();
    assert_eq!(temperatures, [1.0; 4], "a draw, and once more where it holds no word");
}

#[test]
fn a_budget_ends_a_run_that_resumes_later() {
    let whole = new_store();
    record(&expand(whole.path(), &good().url, &[SEEDS]));
    for budget in ["--max-requests", "--max-tokens"] {
        let (store, server) = (new_store(), good());
        let ran = expand(store.path(), &server.url, &[SEEDS, budget, "1"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let first = record(&ran);
        assert_eq!((&first["out_of_budget"], &first["left"]), (&true.into(), &5.into()), "{first}");
        assert!(ran.stderr.contains("the budget is used up"), "{ran:?}");
        let rest = record(&expand(store.path(), &server.url, &[SEEDS]));
        assert_eq!((&rest["done_before"], &rest["left"]), (&1.into(), &0.into()), "{rest}");
        let texts = |store: &Path| -> Vec<Value> {
            generated(store).into_iter().map(|set| set["text"].clone()).collect()
        };
        assert_eq!(texts(store.path()).len(), texts(whole.path()).len());
    }
}

#[test]
fn what_passes_is_tried_again() {
    let server = Server::new(|number, body| match number {
        0 => Reply::Status(429, "retry-after: 0\r\n", "slow down".to_owned()),
        1 => Reply::Status(503, "retry-after: 0\r\n", String::new()),
        2 => Reply::Cut,
        3 => Reply::Status(200, "", "{\"choices\": []}".to_owned()),
        _ => Reply::Chat(rewritten(body)),
    });
    let store = new_store();
    let record = record(&expand(store.path(), &server.url, &["lu=audit.v", "--limit", "1"]));
    assert_eq!(
        (&record["sentences"], &record["endpoint"]["requests"]),
        (&1.into(), &5.into()),
        "{record}"
    );
}

#[test]
fn what_stays_wrong_has_a_code_and_nothing_is_stored() {
    let store = new_store();
    let before = content(store.path());
    let fails = |status, said: &str| {
        let said = said.to_owned();
        Server::new(move |_, _| Reply::Status(status, "", said.clone())).url
    };
    let cases: Vec<(String, &[&str], &str)> = vec![
        ("http://127.0.0.1:9/v1".to_owned(), &[], "(H-connect)"),
        (Server::new(|_, _| Reply::Slow).url, &["--timeout", "1"], "(H-connect)"),
        (Server::new(|_, _| Reply::Cut).url, &[], "(H-answer)"),
        (fails(200, "<html>"), &[], "(H-answer)"),
        (fails(429, "slow down"), &[], "429: slow down (H-status)"),
        (fails(404, "no model"), &[], "404: no model (H-status)"),
        (fails(403, ""), &[], "it refuses the key (H-key)"),
        ("ftp://here".to_owned(), &[], "(H-url)"),
        ("http://example.org/v1".to_owned(), &[], "would send the key unencrypted"),
        ("http://127.0.0.1:9".to_owned(), &["--tries", "0"], "(N-range)"),
        ("http://127.0.0.1:9".to_owned(), &["--candidates", "0"], "number of candidates is 0"),
    ];
    for (url, arguments, said) in cases {
        let once: &[&str] = if arguments.contains(&"--tries") { &[] } else { &["--tries", "1"] };
        let ran = expand(store.path(), &url, &[&["lu=audit.v"], once, arguments].concat());
        assert_eq!(ran.code, Some(2), "{said}: {ran:?}");
        assert!(ran.stderr.contains(said) && !ran.stderr.contains(KEY), "{said}: {}", ran.stderr);
        // Not even the recipe of what was not done.
        let recipes = fnstore_in(store.path(), &["recipes"]);
        assert_eq!(recipes.records(), [Value::Null; 0], "{said}");
    }
    assert_eq!(content(store.path()), before);
}

#[test]
fn options_of_a_search_do_not_go_with_a_server() {
    let store = new_store();
    for option in [&["--beam", "4"][..], &["--words", "any"], &["--filter", "x"], &["--dry-run"]] {
        let ran =
            expand(store.path(), "http://127.0.0.1:9/v1", &[&["lu=audit.v"], option].concat());
        assert_eq!(ran.code, Some(2), "{option:?}: {ran:?}");
        assert!(ran.stderr.contains("--endpoint"), "{option:?}: {}", ran.stderr);
    }
    let output = command(store.path(), "http://127.0.0.1:9/v1").arg("lu=audit.v").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && said.contains("--model"), "{said}");
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_waits_for_no_answer_and_resumes() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let is_answered = Arc::new(AtomicBool::new(false));
    let answered = Arc::clone(&is_answered);
    // The third question is answered long after the run was interrupted.
    let server = Server::new(move |_, body| {
        if count.fetch_add(1, Ordering::SeqCst) == 2 {
            std::thread::sleep(Duration::from_secs(8));
            answered.store(true, Ordering::SeqCst);
        }
        Reply::Chat(rewritten(body))
    });
    let store = new_store();
    let child = command(store.path(), &server.url)
        .args(["--model", "small", "--answers", "none", SEEDS])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while asked.load(Ordering::SeqCst) < 3 {
        std::thread::sleep(Duration::from_millis(5));
    }
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert!(!is_answered.load(Ordering::SeqCst), "the run waited for the answer");
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    let before = generated(store.path());
    assert_eq!(before.len(), 2, "the sentences that were answered");
    let rest = record(&expand(store.path(), &server.url, &[SEEDS]));
    assert_eq!((&rest["done_before"], &rest["sentences"]), (&2.into(), &4.into()), "{rest}");
    let whole = new_store();
    expand(whole.path(), &good().url, &[SEEDS]);
    // The address of the server is part of the recipe, so ids and their order differ.
    let texts = |sets: &[Value]| {
        sets.iter().map(|set| set["text"].to_string()).collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(texts(&generated(store.path())), texts(&generated(whole.path())));
}
