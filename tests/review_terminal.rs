//! `fnstore review --terminal`, driven by keys through a pseudo-terminal.

use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use fnstore::database::Database;
use serde_json::{Value, json};

use crate::cli_program::fnstore_in;
use crate::pseudo_terminal::{
    ENTER, ESCAPE, LEFT, PATIENCE, RIGHT, SHIFT_LEFT, SHIFT_RIGHT, TAB, Terminal,
};
use crate::review_browser::{odd_store, scores, targets};

const LARGE: (u16, u16) = (100, 40);

#[test]
fn one_key_decides_on_a_terminal_and_undo_goes_back() {
    let store = odd_store();
    let started = Terminal::start(store.path(), &["review", "--terminal"], LARGE);
    let Some(mut terminal) = started else { return };
    terminal.until("g101");
    terminal.until("Does the marked word evoke Checking?");
    terminal.press("?");
    terminal.until("move the end by a word");
    terminal.press("?a");
    terminal.until("g102");
    terminal.press("7");
    terminal.until("All is decided");
    let both = || (scores(store.path(), "g101"), scores(store.path(), "g102"));
    assert_eq!(both(), (vec![json!(100)], vec![json!(70)]));
    terminal.press("u");
    terminal.until("undone");
    assert_eq!(both(), (vec![json!(100)], vec![]));
    terminal.press("s");
    terminal.until("skipped no. 2");
    terminal.until("All is decided");
    terminal.press("u");
    terminal.until("g101");
    assert_eq!(both(), (vec![], vec![]));
    terminal.press("u");
    terminal.until("there is nothing to undo");
    terminal.press("r");
    // What was skipped does not come back before the next review.
    terminal.until("All is decided");
    terminal.press("q");
    assert_eq!(terminal.end(), Some(0));
    assert_eq!(both(), (vec![json!(0)], vec![]));
}

/// Whether the program runs on a store.
#[cfg(target_os = "linux")]
fn runs_on(store: &Path) -> bool {
    process_on(store).is_some()
}

/// The directory of the process that runs on a store.
#[cfg(target_os = "linux")]
fn process_on(store: &Path) -> Option<PathBuf> {
    let of_store = format!("FNSTORE_DIR={}\0", store.display());
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes.map(|process| process.path()).find(|process| {
        let is_ours = std::fs::read(process.join("comm")).is_ok_and(|name| name == b"fnstore\n");
        let environment = std::fs::read(process.join("environ")).unwrap_or_default();
        is_ours && String::from_utf8_lossy(&environment).contains(&of_store)
    })
}

#[test]
#[cfg(target_os = "linux")]
fn the_review_ends_with_its_terminal() {
    let store = odd_store();
    let started = Terminal::start(store.path(), &["review", "--terminal"], LARGE);
    let Some(mut terminal) = started else { return };
    terminal.until("g101");
    terminal.press("a");
    terminal.until("g102");
    assert!(runs_on(store.path()));
    drop(terminal);
    let since = Instant::now();
    while runs_on(store.path()) {
        assert!(since.elapsed() < PATIENCE, "it runs without a terminal");
        sleep(Duration::from_millis(50));
    }
    assert_eq!(scores(store.path(), "g101"), vec![json!(100)]);
}

#[test]
#[cfg(target_os = "linux")]
fn sigterm_gives_the_terminal_back() {
    let store = odd_store();
    let started = Terminal::start(store.path(), &["review", "--terminal"], LARGE);
    let Some(terminal) = started else { return };
    terminal.until("g101");
    let process = process_on(store.path()).unwrap();
    let pid = process.file_name().unwrap();
    let kill = std::process::Command::new("kill").arg("-TERM").arg(pid).status().unwrap();
    assert!(kill.success());
    // What is said stands behind the sequence that leaves the screen of the review.
    terminal.until("the review has ended");
    assert!(terminal.written().contains("\x1b[?1049l"));
    assert_eq!(terminal.end(), Some(143));
}

#[test]
fn a_span_is_moved_on_a_terminal_by_words_and_by_letters() {
    let store = odd_store();
    let started = Terminal::start(store.path(), &["review", "id=g101", "--terminal"], LARGE);
    let Some(mut terminal) = started else { return };
    terminal.until("g101");
    terminal.press("e");
    terminal.until("cafe\u{301}s]");
    terminal.press(SHIFT_LEFT);
    terminal.until("cafe\u{301}]s");
    terminal.press(SHIFT_LEFT);
    terminal.until("caf]e\u{301}s");
    terminal.press(SHIFT_RIGHT);
    terminal.until("cafe\u{301}]s");
    terminal.press(&RIGHT.repeat(3));
    terminal.until("figures]");
    terminal.press("lLHh");
    terminal.until("\u{1F469}\u{200D}\u{1F52C} figures]");
    terminal.press(TAB);
    terminal.until("[cafe\u{301}s");
    terminal.press(&RIGHT.repeat(2));
    terminal.until("[figures");
    assert_eq!(terminal.reversed()[0], "checked", "the source's target stands before it");
    assert_eq!(terminal.reversed()[1], "figures");
    terminal.press(LEFT);
    terminal.press(RIGHT);
    terminal.press(RIGHT);
    terminal.until("this end stops here");
    terminal.press(ESCAPE);
    terminal.until("the span stays as it was");
    terminal.press("e");
    terminal.press(&format!("{}{TAB}{RIGHT}{RIGHT}{ENTER}", RIGHT.repeat(2)));
    terminal.until("span saved");
    let text = crate::review_browser::ODD;
    let start = text.find("figures").unwrap() as u32;
    assert_eq!(targets(store.path(), "g101")[0].of(text), Some("figures"));
    assert_eq!(targets(store.path(), "g101")[0].start, start);
    assert_eq!(fnstore_in(store.path(), &["check", "--deep"]).code, Some(0));
    terminal.press("u");
    terminal.until("undone");
    assert_eq!(targets(store.path(), "g101")[0].of(text), Some("cafe\u{301}s"));
}

#[test]
fn what_a_query_finds_is_decided_together_on_a_terminal() {
    let store = odd_store();
    let started = Terminal::start(store.path(), &["review", "--terminal"], (80, 12));
    let Some(mut terminal) = started else { return };
    terminal.until("g101");
    terminal.press("/frme=x");
    terminal.press(ENTER);
    terminal.until("did you mean `frame`?");
    // What was written stays, to be mended.
    terminal.press("\x7f\x7f\x7f\x7f\x7f\x7fid=@no.txt");
    terminal.press(ENTER);
    terminal.until("cannot read the ids in `no.txt`");
    terminal.press("\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7flu=check.v");
    terminal.press(ENTER);
    terminal.until("She checked the ropes");
    terminal.press(ESCAPE);
    terminal.until("g101");
    terminal.press("/origin=generated");
    terminal.press(ENTER);
    terminal.until("> [ ]");
    terminal.press("jkX9");
    terminal.until("saved, 2 decided together");
    let both = || (scores(store.path(), "g101"), scores(store.path(), "g102"));
    assert_eq!(both(), (vec![json!(90)], vec![json!(90)]));
    // One key takes back what one key did.
    terminal.press("u");
    terminal.until("undone");
    assert_eq!(both(), (vec![], vec![]));
    terminal.press("xr");
    terminal.until("saved, 1 decided together");
    terminal.press(ESCAPE);
    terminal.until("Does the marked word");
    terminal.press("\x03");
    assert_eq!(terminal.end(), Some(0));
}

/// The marks of fluency that a judgement's note keeps.
#[test]
fn similarity_has_its_flags_on_a_terminal() {
    let store = odd_store();
    let arguments = ["review", "id=g102", "--question", "similarity", "--terminal"];
    let Some(mut terminal) = Terminal::start(store.path(), &arguments, LARGE) else { return };
    terminal.until("[ ] not fluent (f)");
    terminal.press("f");
    terminal.until("[x] not fluent (f)");
    terminal.press("m4");
    terminal.until("All is decided");
    let judged = fnstore_in(store.path(), &["judge", "g102"]).records();
    assert_eq!(judged[0]["note"], "not fluent, makes no sense");
    assert_eq!((&judged[0]["question"], &judged[0]["score"]), (&json!("similarity"), &json!(40)));
}

#[test]
fn another_writer_is_named_on_a_terminal_and_the_sentence_stays() {
    let store = odd_store();
    let started = Terminal::start(store.path(), &["review", "--terminal"], LARGE);
    let Some(mut terminal) = started else { return };
    terminal.until("g101");
    let writer = Database::open_writer(store.path()).unwrap();
    terminal.press("a");
    terminal.until(&format!("process {}", std::process::id()));
    terminal.until("g101");
    drop(writer);
    terminal.press("a");
    terminal.until("g102");
    assert_eq!(scores(store.path(), "g101"), [json!(100)]);
}

#[test]
fn without_a_terminal_the_command_says_so() {
    let store = odd_store();
    let ran = fnstore_in(store.path(), &["review", "--terminal"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
    assert!(ran.stderr.contains("leave `--terminal` out for the page"), "{}", ran.stderr);
    assert_eq!(scores(store.path(), "g101"), [Value::Null; 0]);
}

#[test]
fn proposals_are_decided_on_a_terminal() {
    let store = odd_store();
    let started = Terminal::start(store.path(), &["review", "--terminal"], LARGE);
    let Some(mut terminal) = started else { return };
    terminal.until("g101");
    terminal.press("p");
    terminal.until("> ");
    terminal.until("vet.v in Checking");
    terminal.press("a");
    terminal.until("accepted `vet.v` of `Checking`");
    terminal.press("u");
    terminal.until("undone: accept on `vet.v` of `Checking`");
    terminal.press(&format!("mCheking{ENTER}"));
    terminal.until("did you mean `Checking`?");
    terminal.press(&format!("mRoaming{ENTER}"));
    terminal.until("moved `vet.v` of `Checking` to `Roaming`");
    terminal.press("us");
    terminal.until("Does the marked word evoke Checking?");
    terminal.press("q");
    assert_eq!(terminal.end(), Some(0));
    let decisions = fnstore_in(store.path(), &["proposals", "decisions"]).records();
    assert_eq!(decisions.len(), 2, "{decisions:?}");
}
