//! `fnstore review`: who is let in, and what a decision leaves in the store.

use std::path::Path;

use fnstore::database::Database;
use serde_json::{Value, json};

use crate::cli_program::{fnstore_in, mini_framenet, new_store};
use crate::review_server::{Review, request};
use crate::{cli_schema, generated};

/// A store with generated sets, two of them of one chain.
fn store() -> tempfile::TempDir {
    let store = new_store();
    let database = Database::open_writer(store.path()).unwrap();
    let release = database.release("mini-framenet").unwrap().id;
    generated::write(&database, release);
    store
}

fn judgements(store: &Path, set: &str) -> Vec<Value> {
    let ran = fnstore_in(store, &["judge", set]);
    let records = ran.records();
    for record in &records {
        assert_eq!(cli_schema::faults_in("judgement.schema.json", record), [""; 0], "{record}");
    }
    records
}

/// The set that an item shows.
fn set_of(item: &Value) -> String {
    let html = item["html"].as_str().unwrap();
    let (_, rest) = html.split_once("<code>").unwrap();
    rest.split_once("</code>").unwrap().0.to_owned()
}

#[test]
fn only_the_page_itself_is_let_in() {
    let store = store();
    let review = Review::start(store.path(), &[]);
    let (own, path) = (format!("http://{}", review.host), review.path.clone());
    let wrong = path.replace(|digit: char| digit.is_ascii_digit(), "x");
    let evil = "http://evil.example".to_owned();
    let origin = |of: &str| ("Origin", of.to_owned());
    let decide = format!("{path}decide");
    for (method, path, headers, status, said) in [
        ("GET", &*path, vec![], 200, "<!DOCTYPE html>"),
        ("GET", "/", vec![], 403, "wrong token; take the address"),
        ("GET", &wrong, vec![], 403, "wrong token"),
        (
            "GET",
            &path,
            vec![("Host", "evil.example".to_owned())],
            403,
            "under its own address alone",
        ),
        ("GET", &path, vec![origin(&evil)], 403, "no requests of other pages"),
        ("GET", &path, vec![("Sec-Fetch-Site", "cross-site".to_owned())], 403, "other pages"),
        ("POST", &decide, vec![], 403, "no requests of other pages"),
        ("POST", &decide, vec![origin(&evil)], 403, "no requests of other pages"),
        ("POST", &decide, vec![origin("null")], 403, "no requests of other pages"),
        ("POST", &decide, vec![origin(&own)], 400, "expected JSON in the body"),
        ("DELETE", &path, vec![], 405, "expected GET or POST"),
    ] {
        let (found, body) = request(&review.host, method, path, &headers, "");
        assert_eq!(found, status, "{method} {path} {headers:?}: {body}");
        assert!(body.contains(said), "{body}");
    }
    assert_eq!(judgements(store.path(), "g101"), [Value::Null; 0]);
}

#[test]
fn an_item_names_its_release_where_there_are_two() {
    let store = store();
    let html = |store: &Path| Review::start(store, &[]).item(None)["html"].to_string();
    assert!(!html(store.path()).contains(" of mini-framenet"));
    let release = mini_framenet();
    let again = ["import", release.to_str().unwrap(), "--release", "again"];
    assert_eq!(fnstore_in(store.path(), &again).code, Some(0));
    assert!(html(store.path()).contains(" of mini-framenet"));
}

#[test]
fn a_decision_that_was_acknowledged_outlives_the_server() {
    let store = store();
    let review = Review::start(store.path(), &[]);
    let item = review.item(None);
    let set = set_of(&item);
    let decision = json!([{ "item": item["n"], "score": 70, "millis": 1234, "note": "good" }]);
    let (status, saved) = review.post("decide", &decision);
    assert_eq!((status, &saved["saved"]), (200, &json!(1)), "{saved}");
    review.kill();
    let judged = judgements(store.path(), &set);
    assert_eq!(judged.len(), 1);
    assert_eq!((&judged[0]["score"], &judged[0]["note"]), (&json!(70), &json!("good")));
    assert_eq!((&judged[0]["reviewer"], &judged[0]["question"]), (&json!("kim"), &json!("")));
    assert_eq!(judged[0]["shown"]["millis"], 1234);
    assert!(judged[0]["shown"]["text"].as_str().unwrap().contains('['), "{judged:?}");
    // What was judged is not asked again.
    let again = Review::start(store.path(), &[]);
    assert_ne!(set_of(&again.item(None)), set);
}

#[test]
fn an_item_says_what_judges_it_without_the_page_unless_the_review_is_blind() {
    let store = store();
    let review = Review::start(store.path(), &["--question", "similarity"]);
    let item = review.item(None);
    let expected = json!({ "set": set_of(&item), "reviewer": "kim", "question": "similarity" });
    assert_eq!(item["judges"], expected);
    let blind = Review::start(store.path(), &["--protocol", "--outputs", "1"]);
    assert_eq!(blind.item(None)["judges"], Value::Null);
}

#[test]
fn undoing_brings_back_what_stood_there_before() {
    let store = store();
    for judged in [["g101", "20"], ["g101", "30"]] {
        let ran = fnstore_in(store.path(), &["judge", judged[0], judged[1], "--reviewer", "kim"]);
        assert_eq!(ran.code, Some(0));
    }
    let review = Review::start(store.path(), &["id=g102"]);
    let item = review.item(None);
    for score in [100, 0] {
        let decision = json!([{ "item": item["n"], "score": score }]);
        assert_eq!(review.post("decide", &decision).0, 200);
    }
    assert_eq!(judgements(store.path(), "g102")[0]["score"], 0);
    let undo = || review.post("undo", &json!({}));
    assert_eq!(undo().1["n"], item["n"]);
    assert_eq!(judgements(store.path(), "g102")[0]["score"], 100);
    assert_eq!(undo().0, 200);
    assert_eq!(judgements(store.path(), "g102"), [Value::Null; 0]);
    let (status, nothing) = undo();
    assert_eq!(status, 409);
    assert!(nothing["error"].as_str().unwrap().contains("there is nothing to undo"), "{nothing}");
    // Someone else's change stands.
    let decision = json!([{ "item": item["n"], "score": 50 }]);
    assert_eq!(review.post("decide", &decision).0, 200);
    fnstore_in(store.path(), &["judge", "g102", "10", "--reviewer", "kim"]);
    let (_, changed) = undo();
    assert!(changed["error"].as_str().unwrap().contains("changed meanwhile"), "{changed}");
    assert_eq!(judgements(store.path(), "g102")[0]["score"], 10);
    assert_eq!(judgements(store.path(), "g101")[0]["score"], 30);
}

#[test]
fn another_writer_is_named_and_nothing_is_lost() {
    let store = store();
    let review = Review::start(store.path(), &[]);
    let item = review.item(None);
    let writer = Database::open_writer(store.path()).unwrap();
    let decision = json!([{ "item": item["n"], "score": 100 }]);
    let (status, refused) = review.post("decide", &decision);
    assert_eq!(status, 409, "{refused}");
    let said = refused["error"].as_str().unwrap();
    assert!(said.contains(&format!("process {}", std::process::id())), "{said}");
    drop(writer);
    assert_eq!(review.post("decide", &decision).0, 200);
    assert_eq!(judgements(store.path(), &set_of(&item)).len(), 1);
}

#[test]
fn what_was_deleted_meanwhile_is_named_and_passed_over() {
    let store = store();
    let review = Review::start(store.path(), &["origin=generated"]);
    let (first, second) = (review.item(None), review.item(Some(0)));
    let gone = set_of(&second);
    let deleted = fnstore_in(store.path(), &["delete", &format!("id={gone}"), "--yes"]);
    assert_eq!(deleted.code, Some(0), "{deleted:?}");
    let both = json!([{ "item": first["n"], "score": 100 }, { "item": second["n"], "score": 0 }]);
    let (status, saved) = review.post("decide", &both);
    assert_eq!((status, &saved["gone"]), (200, &json!([gone])), "{saved}");
    assert_eq!(judgements(store.path(), &set_of(&first)).len(), 1);
    assert_eq!(review.post("edit", &json!({ "item": second["n"], "targets": [[0, 2]] })).0, 409);
}

#[test]
fn browsers_that_go_away_in_the_middle_leave_the_page_as_it_was() {
    use std::io::Write as _;
    let store = store();
    let review = Review::start(store.path(), &[]);
    for _ in 0..20 {
        let mut stream = std::net::TcpStream::connect(&review.host).unwrap();
        let begun = format!(
            "POST {}decide HTTP/1.1\r\nHost: {}\r\nOrigin: http://{}\r\nContent-Length: 400\r\n\r\n[{{",
            review.path, review.host, review.host
        );
        stream.write_all(begun.as_bytes()).unwrap();
    }
    let item = review.item(None);
    let decision = json!([{ "item": item["n"], "score": 100 }]);
    assert_eq!(review.post("decide", &decision).0, 200);
    assert_eq!(judgements(store.path(), &set_of(&item)).len(), 1);
}

#[test]
fn a_store_is_restored_or_replaced_by_another_build_under_the_review() {
    let store = store();
    let backup = tempfile::tempdir().unwrap();
    let (from, to) = (store.path(), backup.path().join("of"));
    let backed_up = fnstore_in(from, &["backup", to.to_str().unwrap()]);
    assert_eq!(backed_up.code, Some(0), "{backed_up:?}");
    let review = Review::start(store.path(), &[]);
    let item = review.item(None);
    let decision = json!([{ "item": item["n"], "score": 100 }]);
    assert_eq!(review.post("decide", &decision).0, 200);
    let restored = fnstore_in(from, &["restore", "--yes", to.to_str().unwrap()]);
    assert_eq!(restored.code, Some(0), "{restored:?}");
    assert_eq!(judgements(from, &set_of(&item)), [Value::Null; 0]);
    // What was decided in the store of before is not there to be undone.
    let (_, changed) = review.post("undo", &json!({}));
    assert!(changed["error"].as_str().unwrap().contains("changed meanwhile"), "{changed}");
    assert_eq!(review.post("decide", &decision).0, 200);
    assert_eq!(judgements(from, &set_of(&item)).len(), 1);
    // A format that this build does not know is told, and nothing is written.
    crate::store_opening::put_meta(from, "format", &[0, 3, 0, 1]);
    for path in ["item?tab=t&n=0", "search?q=lu%3Dcheck.v"] {
        let (_, said) = review.get(path);
        assert!(said.contains("format 3.1"), "{path}: {said}");
    }
    let (status, said) = review.post("decide", &decision);
    assert!(status == 409 && said["error"].as_str().unwrap().contains("format 3.1"), "{said}");
}

#[test]
fn memory_does_not_grow_with_decisions() {
    if !Path::new("/proc/self/status").exists() {
        println!("skipped: this system does not tell how much memory a process has");
        return;
    }
    let store = store();
    let review = Review::start(store.path(), &["id=g101"]);
    let item = review.item(None);
    let decide = |times: u64| {
        for number in 0..times {
            let decision = json!([{ "item": item["n"], "score": number % 100 }]);
            assert_eq!(review.post("decide", &decision).0, 200);
            assert_eq!(review.get("item?n=0&tab=t").0, 200);
        }
        review.resident().0
    };
    let (first, then) = (decide(30), decide(60));
    assert!(then < first + 40, "{first} MB after 30 decisions, {then} MB after 90");
}

#[test]
fn a_target_is_moved_in_code_points_and_its_labels_with_it() {
    let store = store();
    let review = Review::start(store.path(), &["id=g101"]);
    let item = review.item(None);
    assert_eq!(
        (&item["text"], &item["targets"]),
        (&json!("He verified the figures ."), &json!([[3, 11]]))
    );
    for (targets, said) in [
        (json!([[3, 99]]), "`targets` is (3, 99); expected"),
        (json!([[3, 3]]), "pieces that hold text"),
        (json!([[12, 15], [3, 11]]), "in order, none over another"),
        (json!([]), "at least one piece"),
    ] {
        let (status, refused) =
            review.post("edit", &json!({ "item": item["n"], "targets": targets }));
        assert_eq!(status, 409, "{refused}");
        assert!(refused["error"].as_str().unwrap().contains(said), "{refused}");
    }
    let (status, moved) = review.post("edit", &json!({ "item": item["n"], "targets": [[3, 15]] }));
    assert_eq!((status, &moved["targets"]), (200, &json!([[3, 15]])), "{moved}");
    let found = fnstore_in(store.path(), &["query", "trigger=\"verified the\"", "--count"]);
    assert_eq!(found.stdout, "1\n");
    assert_eq!(fnstore_in(store.path(), &["check", "--deep"]).code, Some(0));
    assert_eq!(review.post("undo", &json!({})).0, 200);
    assert_eq!(review.item(None)["targets"], json!([[3, 11]]));
}

#[test]
fn proposals_are_decided_as_by_the_command() {
    let store = store();
    let review = Review::start(store.path(), &[]);
    let (status, page) = review.get("proposals");
    assert_eq!(status, 200);
    assert!(page.contains("vet.v"), "{page}");
    let decide = |verdict: &str, to: &str| {
        let of = json!({ "release": "mini-framenet", "frame": "Checking", "lu": "vet.v" });
        let mut body = of.as_object().unwrap().clone();
        body.extend([("verdict".to_owned(), json!(verdict)), ("to".to_owned(), json!(to))]);
        review.post("proposal", &Value::Object(body))
    };
    assert_eq!(decide("accept", "").1["said"], "accepted `vet.v` of `Checking`");
    assert_eq!(decide("undo", "").1["said"], "undone: accept on `vet.v` of `Checking`, by `kim`");
    let (status, refused) = decide("merge", "inspct.v");
    let said = refused["error"].as_str().unwrap();
    assert!(status == 409 && said.contains("did you mean `inspect.v`?"), "{refused}");
    assert_eq!(decide("accpt", "").0, 409);
    let decisions = fnstore_in(store.path(), &["proposals", "decisions"]).records();
    assert_eq!((decisions.len(), &decisions[0]["reviewer"]), (1, &json!("kim")));
}

#[test]
fn views_answer_and_say_what_is_wrong() {
    let store = store();
    let review = Review::start(store.path(), &[]);
    for (path, status, said) in [
        ("frame?name=Checking", 200, "Relations"),
        ("frame?name=Cheking", 200, "did you mean `Checking`?"),
        ("search?q=lu%3Dcheck.v", 200, "check.v"),
        ("search?q=frme%3DChecking", 200, "did you mean `frame`?"),
        ("agreement", 200, "Nobody has judged anything yet."),
        ("growth.svg?name=Checking", 200, "<svg"),
        ("relations.svg?name=Checking", 200, "<svg"),
        ("complete?q=frame%3Dche", 200, "frame=Checking "),
        ("complete?q=fra", 200, "frame="),
        ("nowhere", 404, "There is no such page."),
    ] {
        let (found, body) = review.get(path);
        assert_eq!(found, status, "{path}: {body}");
        assert!(body.contains(said), "{path}: {body}");
    }
    let (status, refused) =
        review.post("bulk", &json!({ "sets": [["mini-framenet", "q1"]], "score": 0 }));
    assert_eq!(status, 409, "{refused}");
}

#[test]
fn a_frame_of_any_name_has_its_page_and_its_links() {
    let store = store();
    let script = store.path().with_extension("edits");
    let name = r#"Chec* "a" & #1+100%"#;
    let line = json!({ "op": "add-frame", "name": name, "elements": [{ "name": "Signer" }] });
    std::fs::write(&script, line.to_string()).unwrap();
    let edited = fnstore_in(store.path(), &["edit", script.to_str().unwrap()]);
    std::fs::remove_file(script).unwrap();
    assert_eq!(edited.code, Some(0), "{edited:?}");
    let review = Review::start(store.path(), &[]);
    let asked = "Chec*+%22a%22+%26+%231%2B100%25";
    let (status, page) = review.get(&format!("frame?name={asked}"));
    assert!(status == 200 && page.contains("Signer"), "{page}");
    // Of the LUs of `Checking` none is counted here.
    assert!(!page.contains("inspect.v"), "{page}");
    assert!(page.contains(&format!("growth.svg?name={asked}")), "{page}");
    let (status, svg) = review.get(&format!("growth.svg?name={asked}"));
    assert!(status == 200 && svg.contains("<svg"), "{svg}");
    let offered = |path: &str| -> Value { serde_json::from_str(&review.get(path).1).unwrap() };
    let queries = offered("complete?q=pos%3Dv+frame%3DChec");
    let query = json!(r#"pos=v frame="Chec\* \"a\" & #1+100%" "#);
    assert!(queries.as_array().unwrap().contains(&query), "{queries}");
    let names = offered("complete?q=frame%3Dchec&names=1");
    assert!(names.as_array().unwrap().contains(&json!(name)), "{names}");
}

#[test]
fn agreement_is_printed_by_question_and_role() {
    let store = store();
    let none = fnstore_in(store.path(), &["stats", "agreement"]);
    assert!(none.code == Some(1) && none.stderr.contains("nobody has judged"), "{none:?}");
    for (reviewer, score, question) in
        [("kim", "80", ""), ("lee", "20", ""), ("max", "90", ""), ("kim", "10", "meaning")]
    {
        let judge = ["judge", "g101", score, "--reviewer", reviewer, "--question", question];
        assert_eq!(fnstore_in(store.path(), &judge).code, Some(0));
    }
    let rows = fnstore_in(store.path(), &["stats", "agreement", "--format", "jsonl"]).records();
    for row in &rows {
        assert_eq!(cli_schema::faults_in("agreement.schema.json", row), [""; 0], "{row}");
    }
    let of = |row: &Value| {
        ["question", "items", "accepted", "shared", "unanimous"].map(|it| row[it].clone())
    };
    assert_eq!(of(&rows[0]), [json!("evokes"), json!(1), json!(1), json!(1), json!(0)]);
    // One of three pairs agrees: P = 1/3, and E = 4/9 + 1/9.
    let kappa = rows[0]["kappa"].as_f64().unwrap();
    assert!((kappa - (1.0 / 3.0 - 5.0 / 9.0) / (4.0 / 9.0)).abs() < 1e-9, "{kappa}");
    assert_eq!(of(&rows[1]), [json!("meaning"), json!(1), json!(0), json!(0), json!(0)]);
    assert_eq!((rows.len(), &rows[1]["kappa"]), (2, &Value::Null));
}

#[test]
fn a_review_that_cannot_begin_says_why() {
    let store = store();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    for (arguments, code, said) in [
        (&["frame=Cheking"][..], 2, "did you mean `Checking`?"),
        (&["frme=Checking"], 2, "did you mean `frame`?"),
        (&["--protocol", "--question", "meaning"], 2, "cannot be used with"),
        (&["--port", &port], 2, &format!("cannot listen on 127.0.0.1:{port}")),
    ] {
        let ran = fnstore_in(store.path(), &[&["review"], arguments].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(code), ""), "{arguments:?}: {ran:?}");
        assert!(ran.stderr.contains(said), "{arguments:?}: {}", ran.stderr);
    }
    let absent = fnstore_in(&store.path().join("none"), &["review"]);
    assert_eq!(absent.code, Some(66), "{absent:?}");
}
