//! `fnstore generate --endpoint` and `eval generation`: a server writes, a good one and hostile
//! ones.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use assert_cmd::Command;
use fnstore::database::Database;
use serde_json::{Value, json};

use crate::cli_program::{Ran, fnstore_in, new_store};
use crate::generating::{labels, made};
use crate::mini;

const KEY: &str = "sk-verySecret-0815";

/// What a server does with a request.
pub(crate) enum Reply {
    /// The answer of a model.
    Chat(String),
    /// A status, a header and a body.
    Status(u16, &'static str, String),
    /// An answer that breaks off in the middle.
    Cut,
    /// No answer in time.
    Slow,
}

/// An answer that the server cut at the limit of tokens.
pub(crate) fn cut_off(content: &str) -> Reply {
    let choice = json!({ "message": { "content": content }, "finish_reason": "length" });
    let body = json!({ "choices": [choice], "usage": { "total_tokens": 100 } });
    Reply::Status(200, "", body.to_string())
}

pub(crate) struct Server {
    pub(crate) url: String,
    /// The requests, headers and body.
    seen: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// A server that answers the n-th request, whose body it reads, as it is told.
    pub(crate) fn new(reply: impl Fn(usize, &Value) -> Reply + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let requests = Arc::clone(&seen);
        std::thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let mut stream = stream.unwrap();
                let request = read(&mut stream);
                let body = request.split_once("\r\n\r\n").map_or("", |(_, body)| body);
                let body = serde_json::from_str(body).unwrap_or_default();
                requests.lock().unwrap().push(request);
                answer(&mut stream, &reply(number, &body));
            }
        });
        Self { url, seen }
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

/// A request whole.
fn read(stream: &mut TcpStream) -> String {
    stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let (mut bytes, mut part) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().unwrap())
            });
            if body.len() >= length.unwrap_or(0usize) {
                return text;
            }
        }
        match stream.read(&mut part) {
            Ok(0) | Err(_) => return text,
            Ok(count) => bytes.extend(&part[..count]),
        }
    }
}

fn answer(stream: &mut TcpStream, reply: &Reply) {
    let whole = |status: u16, header: &str, body: &str| {
        let head = format!("HTTP/1.1 {status} Said\r\ncontent-type: application/json\r\n{header}");
        format!("{head}content-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
    };
    let chat = |content: &str| {
        let message = json!({ "role": "assistant", "content": content });
        json!({ "choices": [{ "message": message }], "usage": { "total_tokens": 100 } }).to_string()
    };
    let text = match reply {
        Reply::Chat(content) => whole(200, "", &chat(content)),
        Reply::Status(status, header, body) => whole(*status, header, body),
        Reply::Cut => {
            let text = whole(200, "", &chat("{\"spans\": []}"));
            text[..text.len() - 30].to_owned()
        }
        Reply::Slow => {
            std::thread::sleep(Duration::from_millis(2500));
            String::new()
        }
    };
    // Who does not wait is gone.
    let _ = stream.write_all(text.as_bytes());
}

/// As many spans as the sentence of a question has blanks.
fn spans(body: &Value) -> String {
    let question = body["messages"][0]["content"].as_str().unwrap();
    let task = question.rsplit("Sentence: ").next().unwrap();
    let blanks = task.split("\n").next().unwrap().matches("<mask>").count();
    let words: Vec<String> =
        (1..=blanks).map(|number| format!("the caf\u{e9}, number {number}")).collect();
    json!({ "spans": words }).to_string()
}

fn good() -> Server {
    Server::new(|_, body| Reply::Chat(spans(body)))
}

/// Runs `generate` against a server; answers are kept nowhere unless a directory is named.
fn generate(store: &Path, url: &str, arguments: &[&str]) -> Ran {
    ask(store, url, &["generate"], arguments)
}

/// Runs a command against a server.
fn ask(store: &Path, url: &str, begin: &[&str], arguments: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fnstore"));
    command.env("FNSTORE_DIR", store).env_remove("FNSTORE_ENDPOINT_KEY");
    if arguments.contains(&"--with-key") {
        command.env("FNSTORE_ENDPOINT_KEY", KEY);
    }
    command.args(begin);
    command.args(["--endpoint", url, "--model", "small", "--ranker", "none", "--format", "json"]);
    if !arguments.contains(&"--answers") {
        command.args(["--answers", "none"]);
    }
    if !arguments.contains(&"--classifier") {
        command.args(["--classifier", "none"]);
    }
    command.args(arguments.iter().filter(|argument| **argument != "--with-key"));
    Ran::of(command.output().unwrap())
}

fn record(ran: &Ran) -> Value {
    ran.document("generate.schema.json")
}

/// What a store holds, recipes among it.
fn content(store: &Path) -> String {
    let recipes = fnstore_in(store, &["recipes", "--format", "jsonl"]).stdout;
    format!("{recipes}{:?}", mini::content(&Database::open(store).unwrap()))
}

#[test]
fn what_a_server_writes_stands_in_the_blanks_and_costs_nothing_a_second_time() {
    let (store, server) = (new_store(), good());
    let answers = tempfile::tempdir().unwrap();
    let kept = ["--mode", "frame-fe", "--with-key", "--answers", answers.path().to_str().unwrap()];
    let ran = generate(store.path(), &server.url, &kept);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let first = record(&ran);
    let requests = server.requests();
    assert!(first["given"].as_u64().unwrap() >= 2, "{first}");
    assert_eq!(first["endpoint"]["requests"], requests.len());
    assert_eq!(first["endpoint"]["tokens"], 100 * requests.len());
    for request in &requests {
        assert!(request.starts_with("POST /v1/chat/completions "), "{request}");
        assert!(request.contains(&format!("Bearer {KEY}")), "{request}");
        let (_, body) = request.split_once("\r\n\r\n").unwrap();
        let body: Value = serde_json::from_str(body).unwrap();
        assert_eq!((&body["model"], &body["temperature"]), (&"small".into(), &0.0.into()));
        let question = body["messages"][0]["content"].as_str().unwrap();
        assert!(question.contains("<mask>") && question.contains("Frame: "), "{question}");
    }

    let database = Database::open(store.path()).unwrap();
    let made = made(&database);
    assert_eq!(made.len() as u64, first["sentences"].as_u64().unwrap());
    for (new, old) in &made {
        let fes =
            |of| -> Vec<_> { labels(of).into_iter().filter(|label| label.0 == "FE").collect() };
        let (new_labels, old_labels) = (fes(new), fes(old));
        assert_eq!(new_labels.len(), old_labels.len(), "null instantiations, too");
        let anew = new_labels
            .iter()
            .filter(|label| label.3.to_lowercase().contains("the caf\u{e9}, number"));
        assert!(anew.count() > 0, "{new_labels:?}");
        assert_eq!(new.0.targets.len(), 1);
    }
    drop(database);
    let query = ["query", "method=infill trigger=verif*", "--format", "jsonl"];
    let found = fnstore_in(store.path(), &query).records();
    assert!(!found.is_empty());
    assert_eq!(fnstore_in(store.path(), &["check", "--deep"]).code, Some(0));

    // The same store: nothing is asked. Another store: every answer is known.
    let again = record(&generate(store.path(), &server.url, &kept));
    assert_eq!((&again["sentences"], &again["endpoint"]["known"]), (&0.into(), &0.into()));
    let other = new_store();
    let known = record(&generate(other.path(), &server.url, &kept));
    assert_eq!(known["sentences"], first["sentences"]);
    assert_eq!(known["endpoint"]["known"], requests.len());
    assert_eq!(server.requests().len(), requests.len());
    assert_eq!(content(store.path()), content(other.path()));

    for place in [store.path(), answers.path()] {
        assert!(!holds(place, KEY.as_bytes()), "the key is in {}", place.display());
    }
    assert!(!format!("{ran:?}").contains(KEY));
}

/// Whether a file of a directory holds some bytes.
fn holds(directory: &Path, bytes: &[u8]) -> bool {
    std::fs::read_dir(directory).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => holds(&path, bytes),
            false => std::fs::read(&path).unwrap().windows(bytes.len()).any(|part| part == bytes),
        }
    })
}

#[test]
fn what_passes_is_tried_again() {
    let server = Server::new(|number, body| match number {
        0 => Reply::Status(429, "retry-after: 0\r\n", "slow down".to_owned()),
        1 => Reply::Status(503, "retry-after: 0\r\n", String::new()),
        2 => Reply::Cut,
        3 => Reply::Status(200, "", "{\"choices\": []}".to_owned()),
        _ => Reply::Chat(spans(body)),
    });
    let store = new_store();
    let ran = generate(store.path(), &server.url, &["lu=verify.v"]);
    let record = record(&ran);
    assert_eq!(
        (&record["given"], &record["endpoint"]["requests"]),
        (&1.into(), &5.into()),
        "{ran:?}"
    );
}

#[test]
fn a_pause_that_doubles_stays_a_pause_however_often_a_request_is_sent() {
    let server = Server::new(|number, body| match number {
        0..70 => Reply::Status(503, "retry-after: 0\r\n", String::new()),
        _ => Reply::Chat(spans(body)),
    });
    let store = new_store();
    let ran = generate(store.path(), &server.url, &["lu=verify.v", "--tries", "80"]);
    let record = record(&ran);
    assert_eq!(
        (&record["given"], &record["endpoint"]["requests"]),
        (&1.into(), &71.into()),
        "{ran:?}"
    );
}

#[test]
fn an_answer_that_was_cut_off_is_not_used_and_not_kept() {
    let server = Server::new(|number, body| match number {
        0 => cut_off("{\"spans\": [\"the caf"),
        _ => Reply::Chat(spans(body)),
    });
    let answers = tempfile::tempdir().unwrap();
    let kept = ["lu=verify.v", "--answers", answers.path().to_str().unwrap()];
    let ran = generate(new_store().path(), &server.url, &kept);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(record(&ran)["rejects"], json!({ "F-long": 1 }), "{ran:?}");
    assert_eq!(std::fs::read_dir(answers.path()).unwrap().count(), 0, "nothing is kept");
    let again = record(&generate(new_store().path(), &server.url, &kept));
    assert_eq!((&again["given"], &again["endpoint"]["known"]), (&1.into(), &0.into()), "{again}");
}

#[test]
fn tokens_of_an_answer_without_content_count() {
    let server = Server::new(|number, body| match number {
        0 => {
            let choice = json!({ "message": { "content": null }, "finish_reason": "length" });
            let body = json!({ "choices": [choice], "usage": { "total_tokens": 70 } });
            Reply::Status(200, "", body.to_string())
        }
        _ => Reply::Chat(spans(body)),
    });
    let store = new_store();
    let record = record(&generate(store.path(), &server.url, &["lu=verify.v"]));
    assert_eq!(
        (&record["endpoint"]["requests"], &record["endpoint"]["tokens"]),
        (&2.into(), &170.into()),
        "{record}"
    );
}

#[test]
fn a_budget_of_tokens_needs_a_server_that_counts_them() {
    let server = Server::new(|_, body| {
        let choice = json!({ "message": { "content": spans(body) }, "finish_reason": "stop" });
        Reply::Status(200, "", json!({ "choices": [choice] }).to_string())
    });
    let store = new_store();
    let limited = ["lu=verify.v", "--max-tokens", "1000"];
    let refused = generate(store.path(), &server.url, &limited);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    let said = &refused.stderr;
    assert!(said.contains("(H-usage)") && said.contains("--max-requests"), "{said}");
    let free = record(&generate(store.path(), &server.url, &["lu=verify.v"]));
    assert_eq!((&free["given"], &free["endpoint"]["tokens"]), (&1.into(), &0.into()), "{free}");
}

#[test]
fn what_stays_wrong_has_a_code_and_nothing_is_written() {
    let store = new_store();
    let before = content(store.path());
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/v1", listener.local_addr().unwrap())
    };
    let leaky = format!("the key {KEY} is wrong");
    let cases: Vec<(String, &[&str], &str)> = vec![
        (closed, &[], "(H-connect)"),
        (Server::new(|_, _| Reply::Slow).url, &["--timeout", "1"], "(H-connect)"),
        (Server::new(|_, _| Reply::Cut).url, &[], "(H-answer)"),
        (Server::new(|_, _| Reply::Status(200, "", "<html>".to_owned())).url, &[], "(H-answer)"),
        (
            Server::new(|_, _| Reply::Status(500, "", "oops".to_owned())).url,
            &[],
            "500: oops (H-status)",
        ),
        (
            Server::new(|_, _| Reply::Status(404, "", "no model".to_owned())).url,
            &[],
            "404: no model (H-status)",
        ),
        (
            Server::new(|_, _| {
                Reply::Status(302, "location: http://127.0.0.1:9/\r\n", String::new())
            })
            .url,
            &["--with-key"],
            "(H-status)",
        ),
        (
            Server::new(|_, _| Reply::Status(401, "", String::new())).url,
            &[],
            "it wants a key and was given none (H-key)",
        ),
        (
            Server::new(|_, _| Reply::Status(403, "", String::new())).url,
            &["--with-key"],
            "it refuses the key (H-key)",
        ),
        (
            Server::new(move |_, _| Reply::Status(400, "", leaky.clone())).url,
            &["--with-key"],
            "the key ... is wrong",
        ),
        ("ftp://here".to_owned(), &[], "(H-url)"),
        ("http://example.org/v1".to_owned(), &["--with-key"], "would send the key unencrypted"),
        (
            "http://127.0.0.1:9".to_owned(),
            &["--key-from", "FNSTORE_NO_SUCH_KEY"],
            "no key `FNSTORE_NO_SUCH_KEY`",
        ),
        ("http://127.0.0.1:9".to_owned(), &["--method", "sister-lu"], "use --method infill"),
    ];
    for (url, arguments, said) in cases {
        let ran = generate(store.path(), &url, &[&["--tries", "1"], arguments].concat());
        assert_eq!(ran.code, Some(2), "{said}: {ran:?}");
        assert!(ran.stderr.contains(said), "{said}: {}", ran.stderr);
        assert!(!ran.stderr.contains(KEY), "{}", ran.stderr);
    }
    assert_eq!(content(store.path()), before);
}

#[test]
fn answers_that_do_not_fit_are_counted_by_code_and_not_asked_for_again() {
    let server = Server::new(|number, _| match number % 3 {
        0 => {
            Reply::Chat("{\"spans\": [\"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\"]}".to_owned())
        }
        1 => Reply::Chat("a, b".to_owned()),
        _ => Reply::Chat("{\"spans\": [\"\", \"b\"]}".to_owned()),
    });
    let store = new_store();
    let candidates = ["lu=verify.v", "--candidates", "3"];
    let ran = generate(store.path(), &server.url, &candidates);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let first = record(&ran);
    assert_eq!(first["by_pos"]["V"]["skipped"]["rejected"], 1, "{first}");
    assert_eq!(first["rejects"], json!({ "F-count": 1, "F-empty": 1, "F-json": 1 }), "{first}");
    assert_eq!(record(&generate(store.path(), &server.url, &candidates))["done_before"], 1);
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn a_budget_ends_a_run_that_goes_on_later() {
    for budget in ["--max-requests", "--max-tokens"] {
        let (store, server) = (new_store(), good());
        let first = generate(store.path(), &server.url, &[budget, "1"]);
        assert_eq!(first.code, Some(0), "{first:?}");
        let (first, said) = (record(&first), first.stderr);
        assert_eq!(
            (&first["sentences"], &first["out_of_budget"]),
            (&1.into(), &true.into()),
            "{first}"
        );
        assert!(said.contains("the budget is used up"), "{said}");
        assert!(first["left"].as_u64().unwrap() >= 1, "{first}");
        let rest = record(&generate(store.path(), &server.url, &[]));
        assert_eq!(rest["left"], 0, "{rest}");
        assert!(rest["done_before"].as_u64().unwrap() >= 1, "{rest}");
    }
}

#[test]
fn the_papers_prompt_asks_for_spans_between_commas() {
    let server = Server::new(|_, body| {
        let question = body["messages"][0]["content"].as_str().unwrap();
        let task = question.rsplit("Task Input: ").next().unwrap();
        assert!(!task.contains("Frame: "), "{task}");
        let blanks = task.matches("<mask>").count();
        Reply::Chat(vec!["the old bridge"; blanks].join(", "))
    });
    let store = new_store();
    let ran = generate(store.path(), &server.url, &["lu=verify.v", "--prompt", "paper"]);
    assert_eq!(record(&ran)["given"], 1, "{ran:?}");
}

#[test]
fn a_labeller_reads_the_new_words() {
    let (store, server) = (new_store(), good());
    let ran = generate(store.path(), &server.url, &["--classifier", "nowhere"]);
    assert_ne!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("nowhere"), "{ran:?}");
    assert_eq!(server.requests().len(), 0);

    let read = record(&generate(store.path(), &server.url, &["--classifier", "fes"]));
    let (faithful, candidates) = (&read["faithful"], &read["candidates"]);
    assert!(faithful.as_u64().unwrap() <= candidates.as_u64().unwrap(), "{read}");
    assert!(read["sentences"].as_u64().unwrap() <= faithful.as_u64().unwrap(), "{read}");
    let unread = record(&generate(new_store().path(), &server.url, &[]));
    assert_eq!((&unread["faithful"], &unread["candidates"]), (&Value::Null, candidates));
}

#[test]
fn test_spans_are_written_anew_measured_and_not_stored() {
    let (store, server) = (new_store(), good());
    let before = content(store.path());
    let evaluate = |arguments: &[&str]| {
        let ran = ask(store.path(), &server.url, &["eval", "generation", "release=*"], arguments);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran.document("eval-generation.schema.json")
    };
    let record = evaluate(&["--test", "5", "--mode", "fe", "--mode", "none"]);
    assert_eq!(server.requests().len(), 10, "five sentences in two modes");
    let rows = record["rows"].as_array().unwrap();
    let by: Vec<(&Value, &Value)> =
        rows.iter().map(|row| (&row["written_by"], &row["mode"])).collect();
    let generator = || Value::from("generator");
    let expected = [
        (Value::from("people"), Value::Null),
        (generator(), "fe".into()),
        (generator(), "none".into()),
    ];
    assert_eq!(by, expected.iter().map(|(by, mode)| (by, mode)).collect::<Vec<_>>());
    for row in rows {
        assert_eq!((&row["sentences"], &row["without"]), (&5.into(), &0.into()), "{row}");
        assert_eq!(row["spans"], rows[0]["spans"], "the same sentences in each mode");
        assert!(row["fidelity"].is_null() && row["perplexity"].is_null(), "no models: {row}");
    }
    assert!(rows[0]["rouge_1"].is_null() && rows[1]["rouge_1"].is_number(), "{record}");
    let self_bleu = |row: &Value| row["self_bleu"].as_f64().unwrap();
    assert!(self_bleu(&rows[1]) > self_bleu(&rows[0]), "the server says the same everywhere");
    assert_eq!(content(store.path()), before);

    // A budget ends it early; rows hold what was done.
    let cut = evaluate(&["--test", "40", "--mode", "fe", "--max-requests", "3"]);
    assert_eq!((&cut["is_cut"], &cut["rows"][1]["sentences"]), (&true.into(), &3.into()), "{cut}");

    let wrong = |begin: &[&str], arguments: &[&str], said: &str| {
        let ran = ask(store.path(), &server.url, begin, arguments);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains(said), "{ran:?}");
    };
    wrong(&["eval", "generation"], &[], "add --test N");
    wrong(&["eval", "generation"], &["--test", "0"], "invalid value");
    wrong(&["eval", "generation", "frame=Nowhere"], &["--test", "1"], "Nowhere");
    wrong(&["eval", "generation"], &["--test", "1", "--candidates", "101"], "(N-range)");
}
