//! The review in a real browser, by keys alone. Where there is no browser these tests say so and
//! end.
//!
//! With `FNSTORE_PICTURES` they also write down what the views look like. `FNSTORE_AXE` names
//! axe-core's script, whose rules every view keeps.

use std::path::{Path, PathBuf};

use fnstore::database::{Database, Write};
use fnstore::internals::WithStore as _;
use fnstore::model::{AnnotationSetId, IdSpace, SentenceId, Span};
use fnstore::review::{Decision, Protocol, Question, Session, Source};
use serde_json::{Value, json};

use crate::browser::{Browser, ENTER, ESCAPE, LEFT, RIGHT, SHIFT, TAB};
use crate::cli_program::{fnstore_in, new_store};
use crate::generated;
use crate::review_server::Review;

/// Letters of several code points and code units, and a line end of two.
pub(crate) const ODD: &str = "He cafe\u{301}s \u{1F469}\u{200D}\u{1F52C} figures\r\nand so on .";

pub(crate) fn odd_store() -> tempfile::TempDir {
    let store = new_store();
    let database = Database::open_writer(store.path()).unwrap();
    let release = database.release("mini-framenet").unwrap().id;
    generated::write(&database, release);
    // The first set's sentence gets odd letters; the target is the second word.
    let (mut sentence, mut set) = generated::sets(&database, release).remove(0);
    sentence.text = ODD.to_owned();
    set.targets = vec![Span::new(3, 10)];
    let write = Write { sentences: vec![sentence], sets: vec![set], ..Write::default() };
    database.write(release, &write).unwrap();
    store
}

pub(crate) fn scores(store: &Path, set: &str) -> Vec<Value> {
    let judged = fnstore_in(store, &["judge", set]).records();
    judged.iter().map(|judgement| judgement["score"].clone()).collect()
}

pub(crate) fn targets(store: &Path, set: &str) -> Vec<Span> {
    let database = Database::open(store).unwrap();
    let release = database.release("mini-framenet").unwrap().id;
    let id = AnnotationSetId::parse(set).unwrap();
    database.store().annotation_set(release, id).unwrap().unwrap().targets
}

const ITEM: &str = "document.body.dataset.item";

#[test]
fn one_key_decides_and_shows_the_next_sentence_and_undo_goes_back() {
    let Some(browser) = Browser::start() else { return };
    let store = odd_store();
    let review = Review::start(store.path(), &["origin=generated"]);
    browser.visit(&review.address(""));
    browser.until(ITEM, &json!("0"));
    browser.press("a");
    browser.until(ITEM, &json!("1"));
    browser.press("7");
    browser.until(ITEM, &json!("end"));
    browser.until_said("saved, 2 decided");
    assert_eq!(
        (scores(store.path(), "g101"), scores(store.path(), "g102")),
        (vec![json!(100)], vec![json!(70)])
    );
    browser.press("u");
    browser.until(ITEM, &json!("1"));
    assert_eq!(scores(store.path(), "g102"), [Value::Null; 0]);
    browser.press("u");
    browser.until(ITEM, &json!("0"));
    browser.until_said("undone: no. 1");
    browser.press("s");
    browser.until(ITEM, &json!("1"));
    browser.until_said("skipped no. 1");
    browser.press("r");
    browser.until_said("saved, 1 decided, 1 to go");
    assert_eq!(
        (scores(store.path(), "g101"), scores(store.path(), "g102")),
        (vec![], vec![json!(0)])
    );
    for is_open in [true, false] {
        browser.press("?");
        browser.until("document.querySelector('dialog').open", &json!(is_open));
    }
}

#[test]
fn what_was_skipped_is_not_shown_again_before_the_page_is_loaded_anew() {
    let Some(browser) = Browser::start() else { return };
    let store = odd_store();
    let review = Review::start(store.path(), &["origin=generated"]);
    browser.visit(&review.address(""));
    browser.until(ITEM, &json!("0"));
    browser.press("s");
    browser.until(ITEM, &json!("1"));
    browser.press("a");
    browser.until(ITEM, &json!("end"));
    let ending = "document.querySelector('#item').textContent.includes('You skipped 1')";
    browser.until(ending, &json!(true));
    browser.until_said("saved, 1 decided");
    browser.press("u");
    browser.until(ITEM, &json!("1"));
    browser.press("a");
    browser.until(ITEM, &json!("end"));
    browser.visit(&review.address(""));
    browser.until(ITEM, &json!("0"));
    let told = "document.querySelector('#item').textContent.includes('You skipped it before')";
    browser.until(told, &json!(true));
}

#[test]
fn a_page_that_is_loaded_again_shows_what_was_skipped_and_a_wrong_key_says_so() {
    let Some(browser) = Browser::start() else { return };
    let store = odd_store();
    let review = Review::start(store.path(), &["origin=generated"]);
    browser.visit(&review.address(""));
    browser.until(ITEM, &json!("0"));
    browser.press("z");
    browser.until_said("z does nothing here; ? lists the keys");
    browser.press("s");
    browser.until(ITEM, &json!("1"));
    // To the search and back: the sentence that was shown and the skipped one are there at once.
    browser.visit(&review.address("search"));
    browser.visit(&review.address(""));
    browser.until(ITEM, &json!("0"));
    browser.press("a");
    browser.until(ITEM, &json!("1"));
    browser.press("a");
    browser.until_said("saved, 2 decided");
}

#[test]
fn keys_pressed_before_the_next_sentence_is_there_decide_nothing() {
    let Some(browser) = Browser::start() else { return };
    let store = odd_store();
    let review = Review::start(store.path(), &["origin=generated"]);
    browser.visit(&review.address(""));
    browser.until(ITEM, &json!("0"));
    // The answer of the server is held back while the reviewer types on.
    browser.run(
        "const real = window.fetch; window.fetch = (path, options) => new Promise((done) => \
         setTimeout(() => done(real(path, options)), path.includes('item') ? 700 : 0))",
    );
    browser.press("s");
    browser.until(ITEM, &json!("1"));
    browser.press("a");
    browser.press("r1r");
    browser.until(ITEM, &json!("end"));
    browser.until_said("saved, 1 decided");
    assert_eq!(scores(store.path(), "g102"), [json!(100)]);
    assert_eq!(scores(store.path(), "g101"), [Value::Null; 0]);
}

#[test]
fn a_span_is_moved_by_words_and_by_letters_as_readers_see_them() {
    let Some(browser) = Browser::start() else { return };
    let store = odd_store();
    let review = Review::start(store.path(), &["id=g101"]);
    browser.visit(&review.address(""));
    browser.until(ITEM, &json!("0"));
    let marked = "document.querySelector('#output mark').textContent";
    browser.press("e");
    browser.until(marked, &json!("cafe\u{301}s"));
    // A letter with its accent is one letter, and so is a family of emoji.
    browser.press(&format!("{SHIFT}{LEFT}{LEFT}"));
    browser.until(marked, &json!("caf"));
    browser.press(&format!("{SHIFT}{RIGHT}"));
    browser.until(marked, &json!("cafe\u{301}"));
    browser.press(&format!("{RIGHT}{RIGHT}"));
    browser.until(marked, &json!("cafe\u{301}s \u{1F469}\u{200D}\u{1F52C}"));
    browser.press(&format!("{RIGHT}"));
    browser.until(marked, &json!("cafe\u{301}s \u{1F469}\u{200D}\u{1F52C} figures"));
    browser.press(&format!("{RIGHT}"));
    browser.until(marked, &json!("cafe\u{301}s \u{1F469}\u{200D}\u{1F52C} figures\r\nand"));
    browser.press(&format!("{TAB}{RIGHT}{RIGHT}"));
    browser.until(marked, &json!("figures\r\nand"));
    // A start does not pass the end, and says so; the list of keys is there all the same, and no
    // button decides.
    browser.press(&format!("{RIGHT}{RIGHT}"));
    browser.until_said("the start stops here");
    browser.until(marked, &json!("and"));
    browser.press(&format!("?{ESCAPE}{LEFT}"));
    browser.until(marked, &json!("figures\r\nand"));
    browser.until("document.querySelector('[data-key=a]').disabled", &json!(true));
    browser.press(&format!("{TAB}{LEFT}{ENTER}"));
    browser.until_said("span saved");
    let start = ODD.find("figures").unwrap() as u32;
    assert_eq!(targets(store.path(), "g101"), [Span::new(start, start + 7)]);
    assert_eq!(fnstore_in(store.path(), &["check", "--deep"]).code, Some(0));
    browser.press("u");
    browser.until_said("undone");
    assert_eq!(targets(store.path(), "g101"), [Span::new(3, 10)]);
    browser.press(&format!("e{ENTER}"));
    browser.until_said("the span stays as it was");
}

#[test]
fn two_tabs_show_different_sentences_and_what_is_acknowledged_survives_the_server() {
    let Some(browser) = Browser::start() else { return };
    let store = odd_store();
    let review = Review::start(store.path(), &["lu=check.v", "--all"]);
    browser.visit(&review.address(""));
    browser.until(ITEM, &json!("0"));
    let shown = || browser.run("return document.querySelector('#item code').textContent");
    let (first, kept) = (browser.handle(), shown().as_str().unwrap().to_owned());
    browser.tab();
    browser.visit(&review.address(""));
    // The first tab has the next sentences at hand, too.
    browser.until("Number(document.body.dataset.item) > 0", &json!(true));
    let decided = shown().as_str().unwrap().to_owned();
    browser.press("r");
    browser.until_said("saved, 1 decided");
    review.kill();
    assert_eq!(scores(store.path(), &decided), [json!(0)]);
    browser.switch(&first);
    browser.press("a");
    browser.until_said("not saved yet (1)");
    assert_eq!(scores(store.path(), &kept), [Value::Null; 0]);
    // The tab has it as a file, and says which command takes it.
    browser.until_said("fnstore judge --from unsaved.jsonl");
    let read = "return decodeURIComponent(document.querySelector('#unsaved').href.split(',')[1])";
    let lines = browser.run(read);
    let file = store.path().with_extension("jsonl");
    std::fs::write(&file, lines.as_str().unwrap()).unwrap();
    let ran = fnstore_in(store.path(), &["judge", "--from", file.to_str().unwrap()]);
    std::fs::remove_file(&file).unwrap();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(scores(store.path(), &kept), [json!(100)]);
}

#[test]
fn proposals_and_lists_are_decided_by_keys() {
    let Some(browser) = Browser::start() else { return };
    let store = odd_store();
    let review = Review::start(store.path(), &["origin=generated"]);
    browser.visit(&review.address("proposals"));
    browser.until("document.activeElement.dataset.lu", &json!("vet.v"));
    browser.press("a");
    browser.until_said("accepted vet.v of Checking");
    browser.press("u");
    browser.until_said("undone: accept");
    browser.visit(&review.address("search?q=origin%3Dgenerated"));
    browser.until("document.querySelectorAll('li.entry').length", &json!(2));
    browser.press("X9");
    browser.until_said("saved, 2 decided together");
    assert_eq!(
        (scores(store.path(), "g101"), scores(store.path(), "g102")),
        (vec![json!(90)], vec![json!(90)])
    );
    let rows = "[...document.querySelectorAll('.given')].filter((row) => row.textContent.includes('you gave it 90')).length";
    browser.until(rows, &json!(2));
    browser.press("x");
    browser.until("document.querySelector('#picked').textContent", &json!("1 selected"));
    browser.press("3");
    browser.until_said("saved, 1 decided together");
    browser.until(rows, &json!(1));
    // What stood before is there again, also for who loads the page anew.
    browser.press("u");
    browser.until(rows, &json!(2));
    browser.visit(&review.address("search?q=origin%3Dgenerated"));
    browser.until(rows, &json!(2));
    // No field takes the keys of the view that they lead to.
    browser.press("gf");
    browser.until("document.body.dataset.view", &json!("frame"));
    browser.press("gs");
    browser.until("document.body.dataset.view", &json!("sentences"));
}

#[test]
fn decisions_on_a_selection_are_undone_together() {
    let Some(browser) = Browser::start() else { return };
    let store = odd_store();
    let review = Review::start(store.path(), &["origin=generated"]);
    browser.visit(&review.address(""));
    browser.until(ITEM, &json!("0"));
    // The field of the query has the focus at once.
    browser.press("/");
    browser.until("document.activeElement.id", &json!("query"));
    browser.press(&format!("origin=generated{ENTER}"));
    browser.until("document.querySelectorAll('li.entry').length", &json!(2));
    browser.until("document.activeElement.className", &json!("entry"));
    browser.press("X9");
    browser.until_said("saved, 2 decided together");
    let both = || (scores(store.path(), "g101"), scores(store.path(), "g102"));
    assert_eq!(both(), (vec![json!(90)], vec![json!(90)]));
    browser.press("u");
    browser.until_said("undone");
    assert_eq!(both(), (vec![], vec![]));
    browser.until("document.querySelectorAll('li.decided').length", &json!(0));
}

/// Presses a key as a keyboard of another layout or with Caps Lock does.
fn strike(browser: &Browser, key: &str, code: &str, shift: bool) {
    let event = json!({ "key": key, "code": code, "shiftKey": shift, "bubbles": true });
    browser.run(&format!("document.body.dispatchEvent(new KeyboardEvent('keydown', {event}))"));
}

/// Waits until a set has these scores: the page goes on before they are saved.
fn until_scored(store: &Path, set: &str, expected: &[Value]) {
    let since = std::time::Instant::now();
    while scores(store, set) != expected {
        assert!(since.elapsed().as_secs() < 20, "{set} has not {expected:?}");
    }
}

#[test]
fn keys_work_on_any_keyboard() {
    let Some(browser) = Browser::start() else { return };
    let store = odd_store();
    let review = Review::start(store.path(), &["origin=generated"]);
    browser.visit(&review.address(""));
    browser.until(ITEM, &json!("0"));
    // Digits behind shift, letters of another script, Caps Lock.
    for (key, code, score) in
        [("\u{e9}", "Digit2", 20), ("\u{444}", "KeyA", 100), ("A", "KeyA", 100)]
    {
        strike(&browser, key, code, false);
        until_scored(store.path(), "g101", &[json!(score)]);
        strike(&browser, "\u{433}", "KeyU", false);
        until_scored(store.path(), "g101", &[]);
        browser.until(ITEM, &json!("0"));
    }
    // A sign over a digit is none.
    strike(&browser, "!", "Digit1", true);
    browser.until(ITEM, &json!("0"));
    browser.visit(&review.address("search?q=origin%3Dgenerated"));
    let picked = "document.querySelectorAll('li.entry input:checked').length";
    browser.until("document.querySelectorAll('li.entry').length", &json!(2));
    strike(&browser, "j", "KeyJ", false);
    strike(&browser, "X", "KeyX", false);
    browser.until(picked, &json!(1));
    strike(&browser, "x", "KeyX", true);
    browser.until(picked, &json!(2));
}

#[test]
fn a_page_of_another_origin_changes_nothing() {
    let Some(browser) = Browser::start() else { return };
    let store = odd_store();
    let review = Review::start(store.path(), &["origin=generated"]);
    let decide = serde_json::to_string(&review.address("decide")).unwrap();
    // A request that a browser sends without asking first.
    let attempt = format!(
        "const done = arguments[0]; fetch({decide}, {{ method: 'POST', mode: 'no-cors', \
         body: '[{{\"item\":0,\"score\":100}}]' }}).then(() => done('sent'), (why) => done(String(why)))"
    );
    assert_eq!(review.item(None)["n"], 0);
    browser.visit("data:text/html,<title>elsewhere</title>");
    browser.run_async(&attempt);
    assert_eq!(scores(store.path(), "g101"), [Value::Null; 0]);
    // The page's own requests are let in.
    browser.visit(&review.address(""));
    browser.until(ITEM, &json!("1"));
    browser.run_async(&attempt);
    assert_eq!(scores(store.path(), "g101"), [json!(100)]);
}

#[test]
fn another_writer_is_named_on_the_page_and_the_decision_is_sent_again() {
    let Some(browser) = Browser::start() else { return };
    let store = odd_store();
    let review = Review::start(store.path(), &["origin=generated"]);
    browser.visit(&review.address(""));
    browser.until(ITEM, &json!("0"));
    let writer = Database::open_writer(store.path()).unwrap();
    browser.press("a");
    // The next sentence does not wait for it.
    browser.until(ITEM, &json!("1"));
    browser.until_said(&format!("process {}", std::process::id()));
    drop(writer);
    browser.until_said("saved, 1 decided");
    assert_eq!(scores(store.path(), "g101"), [json!(100)]);
    // What is deleted meanwhile is said, and nothing is written of it.
    let deleted = fnstore_in(store.path(), &["delete", "id=g102", "--yes"]);
    assert_eq!(deleted.code, Some(0), "{deleted:?}");
    browser.press("a");
    browser.until_said("deleted meanwhile: g102");
    browser.until(ITEM, &json!("end"));
}

/// A store with so many generated sets more, the first of them with a sentence that is long.
fn long_store(count: u64) -> tempfile::TempDir {
    let store = new_store();
    let database = Database::open_writer(store.path()).unwrap();
    let release = database.release("mini-framenet").unwrap().id;
    generated::write(&database, release);
    let (sentence, set) = generated::sets(&database, release).remove(0);
    let mut write = Write::default();
    for number in 0..count {
        let (mut sentence, mut set) = (sentence.clone(), set.clone());
        sentence.id = SentenceId::new(IdSpace::Generated, 1_000 + number);
        set.id = AnnotationSetId::new(IdSpace::Generated, 1_000 + number);
        set.sentence = sentence.id;
        let tail = if number == 0 {
            format!("{} {}", "which nobody had read for years".repeat(60), "w".repeat(2_000))
        } else {
            format!("of month {number} .")
        };
        sentence.text = format!("He verified the figures {tail}");
        write.sentences.push(sentence);
        write.sets.push(set);
    }
    database.write(release, &write).unwrap();
    store
}

/// What someone does who knows the page alone: reads the keys, then decides by them.
#[test]
fn fifty_sentences_are_decided_by_keys_alone() {
    let Some(browser) = Browser::start() else { return };
    let store = long_store(50);
    let review = Review::start(store.path(), &["round=1", "lu=verify.v"]);
    browser.visit(&review.address(""));
    browser.until(ITEM, &json!("0"));
    // Whatever a key does stands on the page.
    for key in ["a", "r", "1", "9", "s", "u", "e", "?"] {
        let button = format!("document.querySelector('[data-key=\"{key}\"]') !== null");
        browser.until(&button, &json!(true));
    }
    for number in 0..51 {
        browser.until(ITEM, &json!(number.to_string()));
        browser.press(["a", "r", "7", "3"][number % 4]);
    }
    browser.until(ITEM, &json!("end"));
    browser.until_said("saved, 51 decided");
    let judged = fnstore_in(store.path(), &["query", "judgement>=0", "--count"]);
    assert_eq!(judged.stdout, "51\n");
    for number in (0..51).rev() {
        browser.press("u");
        browser.until(ITEM, &json!(number.to_string()));
    }
    browser.press("u");
    browser.until_said("there is nothing to undo");
    let judged = fnstore_in(store.path(), &["query", "judgement>=0", "--count"]);
    assert_eq!(judged.stdout, "0\n");
}

#[test]
fn a_long_sentence_stays_in_the_window() {
    let Some(browser) = Browser::start() else { return };
    let store = long_store(1);
    let review = Review::start(store.path(), &["id=g1000"]);
    browser.visit(&review.address(""));
    browser.until(ITEM, &json!("0"));
    for width in [1280, 640, 320] {
        zoom(&browser, width);
    }
    browser.press(&format!("e{RIGHT}{RIGHT}{ENTER}"));
    browser.until_said("span saved");
    browser.press("a");
    browser.until_said("saved, 1 decided");
}

/// Shows the page in a window of so many pixels of style, in which nothing goes out sideways.
fn zoom(browser: &Browser, width: u32) {
    let zoomed = json!({ "width": width, "height": 450, "deviceScaleFactor": 2, "mobile": false });
    browser.emulate("Emulation.setDeviceMetricsOverride", &zoomed);
    let fits = "document.documentElement.scrollWidth <= document.documentElement.clientWidth";
    browser.until(fits, &json!(true));
    browser.emulate("Emulation.clearDeviceMetricsOverride", &json!({}));
}

/// Runs axe-core's rules in the page; gives the rules that are broken.
fn broken_rules(browser: &Browser, axe: &str) -> Vec<Value> {
    browser.run(axe);
    let found = browser.run_async(
        "const done = arguments[0]; axe.run().then((all) => done(all.violations.map((rule) => \
         [rule.id, rule.nodes.map((node) => node.html)])))",
    );
    found.as_array().unwrap().clone()
}

/// Three judges of the protocol, who agree on most items.
fn judge_blind(store: &Path) {
    let everything = "origin=generated".parse().unwrap();
    for (judge, reviewer) in (1..).zip(["lee", "max", "noor"]) {
        let protocol = Source::Protocol(Protocol { outputs: 12, seed: 1 });
        let session = Session::open(store, &everything, reviewer, Question::Evokes, protocol);
        let session = session.unwrap();
        let mut last = None;
        while let Some(item) = session.next(last, reviewer).unwrap() {
            last = Some(item);
            let view = session.view(item).unwrap();
            let number = view.set.id.bits();
            let score = match (view.item.frame == view.set.frame, number % 5) {
                (false, of) => 10 * u8::from(of == judge),
                (true, of) if of == judge => 30,
                (true, of) => 100 - 10 * of as u8,
            };
            let decision = Decision { item, score, millis: 2_000, note: String::new() };
            session.decide(&[decision], 1_764_000_000).unwrap();
        }
    }
}

fn pictures() -> Option<PathBuf> {
    std::env::var_os("FNSTORE_PICTURES").map(PathBuf::from)
}

#[test]
fn every_view_is_read_at_any_size_in_light_and_dark_and_by_a_screen_reader() {
    let Some(browser) = Browser::start() else { return };
    let axe = std::env::var_os("FNSTORE_AXE").and_then(|file| std::fs::read_to_string(file).ok());
    if axe.is_none() {
        println!(
            "skipped in part: FNSTORE_AXE names no script of axe-core, as it does in `make test`"
        );
    }
    let store = new_store();
    let grown =
        ["expand", "frame=Checking", "--model", "paraphrase", "--beam", "4", "--rounds", "2"];
    assert_eq!(fnstore_in(store.path(), &grown).code, Some(0));
    let database = Database::open_writer(store.path()).unwrap();
    let release = database.release("mini-framenet").unwrap().id;
    generated::write(&database, release);
    drop(database);
    judge_blind(store.path());
    let review = Review::start(store.path(), &["origin=generated"]);
    for (view, address, is_there) in [
        ("sentences", "", "document.querySelectorAll('#output mark').length > 0"),
        ("proposals", "proposals", "document.querySelectorAll('li.entry').length > 0"),
        (
            "frame",
            "frame?name=Checking",
            "[...document.images].every((image) => image.naturalWidth > 0)",
        ),
        ("search", "search?q=frame%3DChecking", "document.querySelectorAll('li.entry').length > 0"),
        ("agreement", "agreement", "document.querySelectorAll('table').length > 0"),
    ] {
        for dark in [false, true] {
            let scheme = if dark { "dark" } else { "light" };
            let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
            browser.emulate("Emulation.setEmulatedMedia", &json!({ "features": features }));
            browser.visit(&review.address(address));
            browser.until(is_there, &json!(true));
            if let Some(axe) = &axe {
                assert_eq!(broken_rules(&browser, axe), [Value::Null; 0], "{view}, {scheme}");
            }
            if let Some(folder) = pictures() {
                let name = if dark { format!("{view}-dark") } else { view.to_owned() };
                browser.picture(&folder.join(format!("{name}.png")));
                if name == "sentences" {
                    browser.press(&format!("e{TAB}"));
                    browser.until("document.querySelectorAll('.editing').length", &json!(1));
                    browser.picture(&folder.join("span.png"));
                }
            }
        }
        // A window of 1,280 pixels at 200 %.
        zoom(&browser, 640);
    }
}
