//! Frame elements in a review: they are judged, their spans are moved, and both are undone.

use fnstore::database::Database;
use fnstore::internals::WithStore as _;
use fnstore::model::{AnnotationSet, AnnotationSetId, Span};
use fnstore::query::Expression;
use fnstore::review::{Decision, Question, Session, Source};
use serde_json::json;

use crate::cli_program::{fnstore_in, new_store};
use crate::pseudo_terminal::{ENTER, ESCAPE, SHIFT_LEFT, Terminal};
use crate::review_server::Review;

const SET: &str = "x7012";

fn set(store: &std::path::Path) -> AnnotationSet {
    let database = Database::open(store).unwrap();
    let release = database.releases().unwrap()[0].id;
    let id = AnnotationSetId::of_written(SET).unwrap();
    database.store().annotation_set(release, id).unwrap().unwrap()
}

/// The spans of labels of a layer.
fn spans(set: &AnnotationSet, layer: &str) -> Vec<Span> {
    let layers = set.layers.iter().filter(|it| it.name.as_str() == layer);
    layers.flat_map(|it| &it.labels).filter_map(|label| label.extent.span()).collect()
}

fn session(store: &std::path::Path, source: Source) -> Session {
    let query: Expression = format!("id={SET}").parse().unwrap();
    Session::open(store, &query, "kim", Question::Elements, source).unwrap()
}

#[test]
fn an_element_is_moved_with_what_is_said_of_it_and_moved_back() {
    let store = new_store();
    let before = set(store.path());
    let whole = spans(&before, "FE")[0];
    assert!(spans(&before, "GF").contains(&whole), "{before:?}");
    let session = session(store.path(), Source::Query);
    let number = session.next(None, "one").unwrap().unwrap();
    let shorter = Span::new(whole.start, whole.end - 1);
    assert!(session.move_element(number, 0, (shorter.start, shorter.end)).unwrap());
    assert!(!session.move_element(number, 0, (shorter.start, shorter.end)).unwrap());
    let moved = set(store.path());
    for layer in ["FE", "GF", "PT"] {
        assert!(spans(&moved, layer).contains(&shorter), "{layer}: {moved:?}");
        assert!(!spans(&moved, layer).contains(&whole), "{layer}: {moved:?}");
    }
    assert_eq!(moved.targets, before.targets);
    session.undo().unwrap();
    assert_eq!(set(store.path()), before);
}

#[test]
fn what_cannot_be_moved_is_refused() {
    let store = new_store();
    let before = set(store.path());
    let open = session(store.path(), Source::Query);
    let number = open.next(None, "one").unwrap().unwrap();
    for (element, span) in [(99, (0, 2)), (0, (2, 2)), (0, (0, 9_999))] {
        assert!(open.move_element(number, element, span).is_err(), "{element} {span:?}");
    }
    assert_eq!(set(store.path()), before);
}

#[test]
fn elements_are_judged_by_a_question_of_their_own() {
    let store = new_store();
    let session = session(store.path(), Source::Query);
    let item = session.next(None, "one").unwrap().unwrap();
    let decision = Decision { item, score: 0, millis: 1, note: String::new() };
    session.decide(&[decision], 1).unwrap();
    let judged = fnstore_in(store.path(), &["judge", SET]).records();
    assert_eq!((&judged[0]["question"], &judged[0]["score"]), (&json!("elements"), &json!(0)));
    // It is no answer to whether the target evokes the frame.
    let found = fnstore_in(store.path(), &["query", "judgement<50", "--count"]);
    assert_eq!(found.stdout, "0\n");
}

#[test]
fn the_page_moves_an_element() {
    let store = new_store();
    let review = Review::start(store.path(), &[&format!("id={SET}"), "--question", "elements"]);
    let item = review.item(None);
    let html = item["html"].as_str().unwrap();
    assert!(html.contains("Are all frame elements marked"), "{html}");
    let span = item["elements"][0]["span"].clone();
    let shorter = json!([[span[0], span[1].as_u64().unwrap() - 1]]);
    let edit = json!({ "item": item["n"], "targets": shorter, "element": 0 });
    let (status, moved) = review.post("edit", &edit);
    assert_eq!((status, &moved["moved"]), (200, &json!(true)), "{moved}");
    assert_eq!(moved["elements"][0]["span"], shorter[0]);
    let pieces = json!({ "item": item["n"], "targets": [[0, 1], [2, 3]], "element": 0 });
    let (status, refused) = review.post("edit", &pieces);
    assert!(status != 200 && refused.to_string().contains("expected one"), "{refused}");
}

#[test]
fn a_terminal_judges_and_moves_elements() {
    let store = new_store();
    let before = set(store.path());
    let (whole, name) = (spans(&before, "FE")[0], element_name(&before));
    let query = format!("id={SET}");
    let arguments = ["review", &query, "--question", "elements", "--terminal"];
    let Some(mut terminal) = Terminal::start(store.path(), &arguments, (100, 40)) else { return };
    terminal.until("Are all frame elements marked");
    terminal.press("e");
    terminal.until("end of the target");
    terminal.press("f");
    terminal.until(&format!("end of {name}"));
    terminal.press(&format!("{SHIFT_LEFT}{ENTER}"));
    terminal.until("span saved");
    let moved = set(store.path());
    assert!(spans(&moved, "FE").contains(&Span::new(whole.start, whole.end - 1)), "{moved:?}");
    assert_eq!(moved.targets, before.targets);
    terminal.press("u");
    terminal.until("undone");
    assert_eq!(set(store.path()), before);
    terminal.press(&format!("ef{SHIFT_LEFT}{ESCAPE}"));
    terminal.until("the span stays as it was");
    assert_eq!(set(store.path()), before);
    terminal.press("r");
    terminal.until("All is decided");
    let judged = fnstore_in(store.path(), &["judge", SET]).records();
    assert_eq!((&judged[0]["question"], &judged[0]["score"]), (&json!("elements"), &json!(0)));
}

/// The name of the first FE that has a span.
fn element_name(set: &AnnotationSet) -> String {
    let labels = set.fe_layers().flat_map(|layer| &layer.labels);
    let mut spanning = labels.filter(|label| label.extent.span().is_some());
    spanning.next().unwrap().name.clone()
}
