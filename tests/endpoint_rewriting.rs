//! `fnstore paraphrase --endpoint`: a server is told of constraints, and its answers are checked.

use assert_cmd::Command;
use serde_json::Value;

use crate::cli_program::Ran;
use crate::cli_schema::faults_in;
use crate::endpoints::{Reply, Server, cut_off};

/// Runs `paraphrase` over some lines.
fn paraphrase(server: &Server, lines: &str, arguments: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fnstore"));
    command.env_remove("FNSTORE_ENDPOINT_KEY").write_stdin(lines);
    command.args(["paraphrase", "--endpoint", &server.url, "--model", "small"]);
    if !arguments.contains(&"--answers") {
        command.args(["--answers", "none"]);
    }
    Ran::of(command.args(arguments).output().unwrap())
}

fn records(ran: &Ran) -> Vec<Value> {
    let records: Vec<Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for record in &records {
        assert_eq!(faults_in("paraphrase.schema.json", record), Vec::<String>::new(), "{record}");
    }
    records
}

fn question(body: &Value) -> String {
    body["messages"][0]["content"].as_str().unwrap().to_owned()
}

const LINE: &str = r#"{"id": 7, "text": "They checked the bill.", "avoid": ["checked", "checks"], "require": [["bill", "invoice"]]}"#;

#[test]
fn an_answer_that_breaks_a_constraint_is_asked_for_again() {
    let server = Server::new(|number, body| {
        let asked = question(body);
        assert!(asked.contains("Do not use: \"checked\", \"checks\""), "{asked}");
        assert!(asked.contains("Use: \"bill\" or \"invoice\""), "{asked}");
        assert!(asked.contains("Sentence: They checked the bill."), "{asked}");
        Reply::Chat(match number {
            0 => "They CHECKED the invoice.".to_owned(),
            1 => {
                assert!(asked.contains("It uses: \"checked\""), "{asked}");
                "\"They looked over the paper.\"".to_owned()
            }
            _ => "They looked over the Invoice.".to_owned(),
        })
    });
    let ran = paraphrase(&server, LINE, &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let records = records(&ran);
    assert_eq!(server.requests().len(), 3);
    let found = &records[0]["paraphrases"][0];
    assert_eq!(
        (&records[0]["id"], &found["text"]),
        (&7.into(), &"They looked over the Invoice.".into())
    );
    assert!(found["score"].is_null() && found["banned"].is_null(), "{found}");
    assert_eq!(found["met"][0][0], "bill", "the goal, of which one is met");
    let by = &records[0]["server"];
    assert_eq!(by["endpoint"]["model"], "small", "{by}");
    assert!(by["endpoint"]["url"].as_str().unwrap().starts_with(&server.url), "{by}");
    assert_eq!(by["prompt"].as_str().unwrap().len(), 32, "{by}");
}

#[cfg(unix)]
#[test]
fn the_first_signal_waits_for_the_line_in_flight_and_the_second_does_not() {
    use std::io::{Read as _, Write as _};
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    const ANSWERED: Duration = Duration::from_secs(120);
    for (signal, code, again) in
        [("-INT", 130, "press Ctrl-C again"), ("-TERM", 143, "signal again")]
    {
        let server = Server::new(|_, _| {
            std::thread::sleep(ANSWERED);
            Reply::Chat("They looked over the invoice.".to_owned())
        });
        let mut child = Command::new(env!("CARGO_BIN_EXE_fnstore"))
            .args(["paraphrase", "--endpoint", &server.url, "--model", "small"])
            .args(["--answers", "none"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(b"They checked the bill.\n").unwrap();
        let pid = child.id().to_string();
        let kill =
            || assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
        let begun = Instant::now();
        // It asks once it handles the signals.
        while server.requests().is_empty() {
            assert!(begun.elapsed() < ANSWERED && child.try_wait().unwrap().is_none());
            std::thread::sleep(Duration::from_millis(5));
        }
        kill();
        let mut stderr = child.stderr.take().unwrap();
        let mut said = [0; 256];
        let read = stderr.read(&mut said).unwrap();
        let said = String::from_utf8_lossy(&said[..read]).into_owned();
        assert!(said.contains(&format!("finishing the line in flight; {again} to stop")), "{said}");
        assert!(child.try_wait().unwrap().is_none(), "the first signal ended it");
        kill();
        assert_eq!(child.wait().unwrap().code(), Some(code));
        assert!(begun.elapsed() < ANSWERED, "the second signal waited for the answer");
    }
}

#[test]
fn what_stays_broken_is_flagged() {
    let server =
        Server::new(|_, _| Reply::Chat("They checked it, as one checks things.".to_owned()));
    let ran = paraphrase(&server, LINE, &[]);
    assert_eq!((ran.code, server.requests().len()), (Some(0), 3), "{ran:?}");
    let found = &records(&ran)[0]["paraphrases"][0];
    let mut banned: Vec<&str> =
        found["banned"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    banned.sort_unstable();
    assert_eq!(banned, ["checked", "checks"]);
    assert_eq!(found["unmet"][0][1], "invoice");
    let table = paraphrase(&server, LINE, &["--format", "table"]);
    assert!(table.stdout.contains("[lacks bill|invoice]"), "{table:?}");
    assert!(table.stdout.contains("checks"), "{table:?}");
}

#[test]
fn a_servers_copy_of_the_sentence_is_marked() {
    let server = Server::new(|_, _| Reply::Chat("they Checked it.".to_owned()));
    let found = records(&paraphrase(&server, "They checked it .", &[])).remove(0);
    assert_eq!(found["paraphrases"][0]["copy"], true, "{found}");
    let server = Server::new(|_, _| Reply::Chat("They looked it over.".to_owned()));
    let found = records(&paraphrase(&server, "They checked it .", &[])).remove(0);
    assert!(found["paraphrases"][0]["copy"].is_null(), "{found}");
}

#[test]
fn a_sentence_that_was_cut_off_is_asked_for_again() {
    let server = Server::new(|number, body| match number {
        0 => cut_off("They looked it over and"),
        _ => {
            let asked = question(body);
            assert!(asked.contains("This answer is wrong: They looked it over and"), "{asked}");
            assert!(asked.contains("It is too long"), "{asked}");
            Reply::Chat("They looked it over.".to_owned())
        }
    });
    let found = records(&paraphrase(&server, "They checked it.", &[])).remove(0);
    assert_eq!(found["paraphrases"][0]["text"], "They looked it over.", "{found}");
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn draws_differ_and_answers_without_words_count_for_nothing() {
    let server = Server::new(|number, _| {
        Reply::Chat(["One.", "...", "", "Two.", "One."][number % 5].to_owned())
    });
    let ran = paraphrase(&server, "It is.", &["--sample", "3", "--seed", "5"]);
    let texts: Vec<Value> = records(&ran)[0]["paraphrases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["text"].clone())
        .collect();
    assert_eq!(texts, ["One.", "Two."], "{ran:?}");
    let empty = Server::new(|_, _| Reply::Chat("?!".to_owned()));
    let ran = paraphrase(&empty, "It is.", &[]);
    assert_eq!((ran.code, &records(&ran)[0]["stop"]), (Some(1), &"rejected".into()), "{ran:?}");
}

#[test]
fn known_answers_cost_nothing_and_a_budget_ends_the_run() {
    let server = Server::new(|_, body| Reply::Chat(format!("Again {}", question(body).len())));
    let answers = tempfile::tempdir().unwrap();
    let kept = ["--answers", answers.path().to_str().unwrap()];
    let lines = "One.\nTwo two.\nThree three three.\n";
    let first = paraphrase(&server, lines, &[&kept[..], &["--max-requests", "2"]].concat());
    assert_eq!((first.code, records(&first).len()), (Some(0), 2), "{first:?}");
    assert!(first.stderr.contains("line 3 is the first not done"), "{first:?}");
    let second = paraphrase(&server, lines, &kept);
    assert_eq!((records(&second).len(), server.requests().len()), (3, 3), "{second:?}");
    assert!(second.stderr.contains("1 request, 100 tokens, 2 known answers"), "{second:?}");
}

#[test]
fn wrong_input_has_a_code() {
    let server = Server::new(|_, _| Reply::Chat("It was.".to_owned()));
    let ran = paraphrase(
        &server,
        "{\"text\": \"It is.\", \"prefix\": \"So\"}\n{\"text\": \" \"}\n{\"text\": \"a\", \"avoid\": [\" \"]}\n{\"text\": \"It is.\"}",
        &[],
    );
    assert_eq!(ran.code, Some(65), "{ran:?}");
    let found = records(&ran);
    let codes: Vec<&Value> = found.iter().map(|record| &record["error"]["code"]).collect();
    assert_eq!(codes[..3], ["E-prefix", "E-empty", "E-phrase"], "{ran:?}");
    assert_eq!(found[3]["paraphrases"][0]["text"], "It was.");
    let refused = Server::new(|_, _| Reply::Status(401, "", String::new()));
    let ran = paraphrase(&refused, "It is.", &[]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("(H-key)"), "{ran:?}");
}
