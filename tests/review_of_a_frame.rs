//! A review of a frame shows what a program made, LU by LU, and all of it where that is asked for.

use fnstore::database::Database;

use crate::generated;
use crate::review_server::Review;

/// The sets that a review shows with their LUs, in its order.
fn shown(review: &Review) -> Vec<(String, String)> {
    let (mut shown, mut after) = (Vec::new(), None);
    loop {
        let item = review.item(after);
        if item["end"] == true {
            return shown;
        }
        after = item["n"].as_u64();
        let html = item["html"].as_str().unwrap();
        let (set, rest) = html.split_once("<code>").unwrap().1.split_once("</code> <b>").unwrap();
        let lu = rest.split_once("</b>").unwrap().0;
        shown.push((set.to_owned(), lu.to_owned()));
    }
}

fn is_generated((set, _): &(String, String)) -> bool {
    set.starts_with('g')
}

#[test]
fn what_people_annotated_is_shown_where_it_is_asked_for() {
    let store = crate::cli_program::new_store();
    let database = Database::open_writer(store.path()).unwrap();
    generated::write(&database, database.release("mini-framenet").unwrap().id);
    drop(database);
    let of = |arguments: &[&str]| shown(&Review::start(store.path(), arguments));
    let usual = of(&["frame=Checking"]);
    assert!(!usual.is_empty() && usual.iter().all(is_generated), "{usual:?}");
    let all = of(&["frame=Checking", "--all"]);
    assert!(all.len() > usual.len() && all.iter().any(|set| !is_generated(set)), "{all:?}");
    let human = of(&["frame=Checking origin=exemplar"]);
    assert!(!human.is_empty() && !human.iter().any(is_generated), "{human:?}");
    assert_eq!(of(&["id=x7012"]).len(), 1);
    // No LU comes a second time once another has come; two are called `check.v`.
    let others = of(&["frame=Checking lu!=check.v", "--all"]);
    let mut lus: Vec<&String> = others.iter().map(|(_, lu)| lu).collect();
    lus.dedup();
    let runs = lus.len();
    lus.sort();
    lus.dedup();
    assert!(runs == lus.len() && runs > 1, "{others:?}");
}

#[test]
fn sentences_say_their_language_and_which_way_they_run() {
    let store = crate::cli_program::new_store();
    let database = Database::open_writer(store.path()).unwrap();
    generated::write(&database, database.release("mini-framenet").unwrap().id);
    drop(database);
    let review = Review::start(store.path(), &[]);
    let html = review.item(None)["html"].as_str().unwrap().to_owned();
    assert!(html.contains(r#"id="output" dir="auto" lang="en""#), "{html}");
    let found = review.get("search?q=frame%3DChecking").1;
    assert!(found.contains(r#"class="text" dir="auto" lang="en""#), "{found}");
}
