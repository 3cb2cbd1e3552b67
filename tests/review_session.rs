//! Reviews without a page: the paper's protocol, questions, undo and agreement.

use std::collections::BTreeSet;
use std::thread::sleep;
use std::time::{Duration, Instant};

use fnstore::database::{Database, Write};
use fnstore::internals::WithStore as _;
use fnstore::model::{
    AnnotationSet, AnnotationSetId, IdSpace, Judgement, ReleaseId, Sentence, SentenceId,
};
use fnstore::review::{
    Decision, Protocol, Question, ReviewError, Role, Session, Source, UNDO_DEPTH, agreement,
};
use fnstore::transfer::ImportOptions;
use tempfile::TempDir;

use crate::cli_program::fnstore_in;
use crate::{generated, mini};

const PROTOCOL: Protocol = Protocol { outputs: 2, seed: 7 };

/// A store with generated sets, closed.
fn store() -> (TempDir, ReleaseId) {
    let (dir, database, report) = mini::imported();
    generated::write(&database, report.release.id);
    (dir, report.release.id)
}

/// A store of two releases with the same sets, generated ones among them, closed.
fn two_releases() -> (TempDir, [ReleaseId; 2]) {
    let (dir, database, report) = mini::imported();
    let options = ImportOptions { release: Some("second".to_owned()), ..ImportOptions::default() };
    let second = database.import(&mini::framenet(), &options, &mut |_| {}).unwrap().release.id;
    let releases = [report.release.id, second];
    for release in releases {
        generated::write(&database, release);
    }
    (dir, releases)
}

fn session(dir: &TempDir, reviewer: &str, question: Question, source: Source) -> Session {
    let expression = "origin=generated".parse().unwrap();
    Session::open(dir.path(), &expression, reviewer, question, source).unwrap()
}

/// Numbers of all items, in order.
fn numbers(session: &Session) -> Vec<usize> {
    let mut all = Vec::new();
    while let Some(number) = session.next(all.last().copied(), "test").unwrap() {
        all.push(number);
    }
    all
}

fn decision(item: usize, score: u8) -> Decision {
    Decision { item, score, millis: 10, note: String::new() }
}

#[test]
fn the_protocol_mixes_each_output_with_two_controls_blind_and_every_judge_has_the_same_ones() {
    let (dir, _) = store();
    let mut samples = Vec::new();
    for reviewer in ["kim", "lee"] {
        let session = session(&dir, reviewer, Question::Evokes, Source::Protocol(PROTOCOL));
        assert!(session.is_blind());
        let items: Vec<_> =
            numbers(&session).into_iter().map(|number| session.view(number).unwrap()).collect();
        let roles: Vec<Role> = items
            .iter()
            .map(|view| {
                let own = view.set.frame;
                let evokes = if own == view.item.frame { "asked" } else { "another" };
                Role::of(view.set.provenance.origin(), evokes, "asked")
            })
            .collect();
        for role in [Role::Output, Role::InFrame, Role::OutOfFrame] {
            assert_eq!(roles.iter().filter(|of| **of == role).count(), 2, "{roles:?}");
        }
        for view in &items {
            // Nothing tells outputs from controls.
            assert!(view.source.is_none());
            assert!(
                view.output.marks.iter().all(|(_, mark)| *mark == fnstore::review::Mark::Target)
            );
        }
        // Each output stands between its controls, in a place of the reviewer's own.
        for (number, triple) in items.chunks(3).enumerate() {
            let frame = triple[0].item.frame;
            assert!(triple.iter().all(|view| view.item.frame == frame));
            for (at, view) in triple.iter().enumerate() {
                let of = view.triple.as_ref().unwrap();
                assert_eq!((of.number, of.of, of.at, of.sentences.len()), (number, 2, at, 3));
                assert_eq!(of.sentences[at], view.output);
                assert_eq!(view.examples, triple[0].examples);
            }
        }
        samples.push(items.iter().map(|view| (view.item.set, view.item.frame)).collect::<Vec<_>>());
    }
    let sets = |sample: &[(AnnotationSetId, _)]| -> BTreeSet<AnnotationSetId> {
        sample.iter().map(|(set, _)| *set).collect()
    };
    assert_eq!(sets(&samples[0]), sets(&samples[1]));
    assert_ne!(samples[0], samples[1], "each judge has an order of their own");
}

#[test]
fn examples_of_the_protocol_are_shown_nowhere_else_and_are_the_same_for_all_judges() {
    let (dir, _) = store();
    let mut studies = Vec::new();
    for reviewer in ["kim", "lee", "max"] {
        let session = session(&dir, reviewer, Question::Evokes, Source::Protocol(PROTOCOL));
        let items: Vec<_> =
            numbers(&session).into_iter().map(|number| session.view(number).unwrap()).collect();
        let database = session.database().unwrap();
        let text = |id: &str| {
            let found = database.query(&format!("id={id}").parse().unwrap()).unwrap().next();
            found.unwrap().unwrap().sentence.text
        };
        // The seed of both outputs, and all that is judged.
        let mut shown = BTreeSet::from([text("x7012")]);
        shown.extend(items.iter().map(|view| text(&view.item.set.to_string())));
        let mut examples = BTreeSet::new();
        for view in &items {
            assert!(!view.examples.is_empty() && view.examples.len() <= 3);
            let of_triple = &view.triple.as_ref().unwrap().sentences;
            let word = |of: &fnstore::review::Example| {
                let words = of.targets.iter().filter_map(|span| span.of(&of.text));
                words.collect::<Vec<_>>().join(" ").to_lowercase()
            };
            let triggers: BTreeSet<String> = of_triple.iter().map(word).collect();
            for example in &view.examples {
                assert!(!shown.contains(&example.text), "{}", example.text);
                assert!(!triggers.contains(&word(example)), "{}", example.text);
                examples.insert((view.item.frame, example.text.clone()));
            }
        }
        studies.push(examples);
    }
    assert!(studies.iter().all(|study| *study == studies[0]), "{studies:?}");
}

#[test]
fn the_protocol_shows_what_shares_its_id_with_a_set_of_another_release() {
    let (dir, releases) = two_releases();
    let protocol = Protocol { outputs: 4, seed: 7 };
    let session = session(&dir, "kim", Question::Evokes, Source::Protocol(protocol));
    let items: Vec<_> =
        numbers(&session).into_iter().map(|number| session.view(number).unwrap().item).collect();
    for release in releases {
        let of_release = items.iter().filter(|item| item.release == release);
        let outputs = of_release.clone().filter(|item| item.set.space() == IdSpace::Generated);
        assert_eq!((of_release.count(), outputs.count()), (6, 2), "{items:?}");
    }
}

#[test]
fn each_output_of_the_protocol_has_controls_of_its_own() {
    let (dir, database, report) = mini::imported();
    let (sentence, set) = generated::sets(&database, report.release.id).remove(0);
    let mut write = Write::default();
    for number in 1..=8 {
        let id = SentenceId::new(IdSpace::Generated, number);
        write.sentences.push(Sentence { id, ..sentence.clone() });
        let of_output = AnnotationSetId::new(IdSpace::Generated, number);
        write.sets.push(AnnotationSet { id: of_output, sentence: id, ..set.clone() });
    }
    database.write(report.release.id, &write).unwrap();
    drop(database);
    let protocol = Protocol { outputs: 8, seed: 7 };
    let session = session(&dir, "kim", Question::Evokes, Source::Protocol(protocol));
    let shown: BTreeSet<AnnotationSetId> = numbers(&session)
        .into_iter()
        .map(|number| session.view(number).unwrap().item.set)
        .collect();
    assert_eq!(shown.len(), 3 * 8, "{shown:?}");
}

#[test]
fn decisions_over_two_releases_are_one_commit_and_so_is_their_undo() {
    let (dir, releases) = two_releases();
    let session = session(&dir, "kim", Question::Evokes, Source::Query);
    let set = AnnotationSetId::parse("g101").unwrap();
    let items = session.enqueue(&releases.map(|release| (release, set))).unwrap();
    let revision = || Database::open(dir.path()).unwrap().store().revision().unwrap();
    let before = revision();
    assert_eq!(session.decide_together(&items, 90, 7).unwrap().saved, 2);
    assert_eq!(revision(), before + 1);
    assert_eq!(session.undo().unwrap().sets, releases.map(|release| (release, set)));
    assert_eq!(revision(), before + 2);
}

#[test]
fn agreement_is_counted_by_question_and_role() {
    let (dir, release) = store();
    for (reviewer, of_output) in [("kim", 90), ("lee", 80), ("max", 20)] {
        let session = session(&dir, reviewer, Question::Evokes, Source::Protocol(PROTOCOL));
        for number in numbers(&session) {
            let view = session.view(number).unwrap();
            let is_output = view.source.is_some() || view.set.id.to_string().starts_with('g');
            let is_inside = view.item.frame == view.set.frame;
            let score = if is_output { of_output } else { 100 * u8::from(is_inside) };
            session.decide(&[decision(number, score)], 7).unwrap();
        }
    }
    let meaning = session(&dir, "kim", Question::Meaning, Source::Query);
    let first = numbers(&meaning)[0];
    meaning.decide(&[decision(first, 10)], 8).unwrap();
    let database = Database::open(dir.path()).unwrap();
    let all = agreement(&database).unwrap();
    assert_eq!(all.reviewers.values().copied().collect::<Vec<u64>>(), [7, 6, 6]);
    let evokes = &all.questions[&Question::Evokes];
    let shares: Vec<(u64, f64, f64)> = evokes
        .roles
        .values()
        .map(|figures| (figures.items, figures.share(), figures.mean()))
        .collect();
    // Means of outputs: (90 + 80 + 20) / 3.
    assert_eq!(shares[1..], [(2, 1.0, 100.0), (2, 0.0, 0.0)]);
    assert_eq!((shares[0].0, shares[0].1), (2, 1.0));
    assert!((shares[0].2 - 190.0 / 3.0).abs() < 1e-9);
    assert_eq!((evokes.outputs().by_three, evokes.outputs().accepted_by_three), (2, 2));
    // All agree on the controls, which count for nothing here.
    assert_eq!((evokes.outputs().shared, evokes.outputs().unanimous), (2, 0));
    // Of both outputs one of three pairs agrees: P = 1/3. Of 6 votes 4 accept: E = 20/36.
    let (observed, chance) = (1.0 / 3.0, (16.0 + 4.0) / 36.0);
    let kappa = evokes.outputs().kappa.unwrap();
    let means = |role: Role| evokes.means[&role].clone();
    assert_eq!((means(Role::InFrame), means(Role::OutOfFrame)), (vec![100.0; 2], vec![0.0; 2]));
    assert!(means(Role::Output).iter().all(|mean| (mean - 190.0 / 3.0).abs() < 1e-9));
    assert!((kappa - (observed - chance) / (1.0 - chance)).abs() < 1e-9, "{kappa}");
    assert_eq!(all.disputed.len(), 2);
    assert_eq!((all.disputed[0].spread, all.disputed[0].scores.len()), (70, 3));
    let ran = fnstore_in(dir.path(), &["stats", "agreement", "--format", "jsonl"]);
    let rows = ran.records().into_iter().map(|row| (row["role"].clone(), row["items"].clone()));
    let rows: Vec<(serde_json::Value, serde_json::Value)> = rows.collect();
    let expected =
        [("output", 2), ("in-frame control", 2), ("out-of-frame control", 2), ("output", 1)];
    assert_eq!(rows, expected.map(|(role, items)| (role.into(), items.into())), "{ran:?}");
    let of_meaning = &all.questions[&Question::Meaning];
    assert_eq!((of_meaning.outputs().shared, of_meaning.outputs().kappa), (0, None));
    assert_eq!((of_meaning.outputs().items, of_meaning.outputs().by_three), (1, 0));
    // A control of another frame says nothing of the set's own, and meaning says nothing of frames.
    for (query, found) in [("judgement=0", 0), ("judgement=10", 0), ("judgement=90", 2)] {
        assert_eq!(mini::answers(&database, query).len(), found, "{query}");
    }
    assert_eq!(database.store().all_judgements(release).unwrap().count(), 19);
}

#[test]
fn each_question_is_asked_for_itself() {
    let (dir, _) = store();
    let evokes = session(&dir, "kim", Question::Evokes, Source::Query);
    let all = numbers(&evokes);
    assert_eq!(all.len(), 2);
    evokes.decide(&[decision(all[0], 100), decision(all[1], 0)], 7).unwrap();
    assert_eq!(numbers(&session(&dir, "kim", Question::Evokes, Source::Query)), [0; 0]);
    for question in [Question::Meaning, Question::Similarity] {
        let other = session(&dir, "kim", question, Source::Query);
        let all = numbers(&other);
        assert_eq!(all.len(), 2, "{question:?}");
        assert!(other.view(all[0]).unwrap().source.is_some());
    }
}

#[test]
fn the_last_hundred_decisions_can_be_undone() {
    let (dir, release) = store();
    let session = session(&dir, "kim", Question::Evokes, Source::Query);
    let first = numbers(&session)[0];
    for score in 0..=100 {
        session.decide(&[decision(first, score)], 7).unwrap();
    }
    assert_eq!(session.counts().undoable, UNDO_DEPTH);
    let set = session.view(first).unwrap().set.id;
    let score = || {
        let database = Database::open(dir.path()).unwrap();
        let judgements: Vec<Judgement> =
            database.store().judgements(release, set).unwrap().map(Result::unwrap).collect();
        judgements.first().map(|judgement| judgement.score)
    };
    for expected in (0..100).rev() {
        session.undo().unwrap();
        if expected % 25 == 0 {
            assert_eq!(score(), Some(expected));
        }
    }
    assert!(matches!(session.undo(), Err(ReviewError::NothingToUndo)));
    assert_eq!(score(), Some(0), "the first decision is beyond what is kept");
}

/// What is left, once it is counted.
fn left(session: &Session) -> usize {
    let since = Instant::now();
    loop {
        if let Some(left) = session.counts().left {
            return left;
        }
        assert!(since.elapsed() < Duration::from_secs(60), "nothing is counted");
        sleep(Duration::from_millis(5));
    }
}

#[test]
fn what_is_left_is_counted_and_what_a_search_decides_comes_no_second_time() {
    let (dir, release) = store();
    for source in [Source::Query, Source::Protocol(PROTOCOL)] {
        let session = session(&dir, "kim", Question::Evokes, source);
        let all = numbers(&session);
        assert_eq!(left(&session), all.len());
        session.decide(&[decision(all[0], 100)], 7).unwrap();
        assert_eq!(left(&session), all.len() - 1);
        session.undo().unwrap();
        assert_eq!(left(&session), all.len());
    }
    // Decided together before the queue comes to it.
    let session = session(&dir, "kim", Question::Evokes, Source::Query);
    let sets = ["g101", "g102"].map(|set| (release, AnnotationSetId::parse(set).unwrap()));
    let numbered = session.enqueue(&sets[..1]).unwrap();
    assert_eq!(left(&session), 2);
    session.decide_together(&numbered, 90, 7).unwrap();
    assert_eq!(left(&session), 1);
    session.undo().unwrap();
    assert_eq!(left(&session), 2);
    session.decide_together(&numbered, 90, 7).unwrap();
    let reader = Database::open(dir.path()).unwrap();
    let answers = sets.map(|(release, set)| session.answer(&reader, release, set).unwrap());
    assert_eq!(answers, [Some(90), None]);
    let shown: Vec<_> = numbers(&session)
        .into_iter()
        .map(|number| session.view(number).unwrap().item.set)
        .collect();
    assert_eq!(shown, [sets[1].1]);
    assert_eq!(left(&session), 1);
}

#[test]
fn what_a_search_decides_beside_the_query_leaves_what_is_to_go_as_it_is() {
    let (dir, [first, second]) = two_releases();
    let query = "origin=generated release=mini-framenet".parse().unwrap();
    let session =
        Session::open(dir.path(), &query, "kim", Question::Evokes, Source::Query).unwrap();
    assert_eq!(left(&session), 2);
    let set = AnnotationSetId::parse("g101").unwrap();
    let decide = |release, score| {
        let numbered = session.enqueue(&[(release, set)]).unwrap();
        session.decide_together(&numbered, score, 7).unwrap();
        left(&session)
    };
    // The same id in a release that the query does not ask.
    assert_eq!(decide(second, 10), 2);
    assert_eq!(decide(first, 10), 1);
    assert_eq!(decide(first, 90), 1, "a second decision on one set");
    // What was judged before this review began is no item of it.
    let later = Session::open(dir.path(), &query, "kim", Question::Evokes, Source::Query).unwrap();
    let numbered = later.enqueue(&[(first, set)]).unwrap();
    later.decide_together(&numbered, 50, 7).unwrap();
    assert_eq!(left(&later), 1);
    // The sample of the protocol.
    let blind =
        Session::open(dir.path(), &query, "lee", Question::Evokes, Source::Protocol(PROTOCOL))
            .unwrap();
    let all = left(&blind);
    let numbered = blind.enqueue(&[(first, set), (second, set)]).unwrap();
    blind.decide_together(&numbered, 50, 7).unwrap();
    assert_eq!(left(&blind), all - 1);
    // So of a study that was judged in part.
    let again =
        Session::open(dir.path(), &query, "lee", Question::Evokes, Source::Protocol(PROTOCOL))
            .unwrap();
    assert_eq!(left(&again), all - 1);
    let numbered = again.enqueue(&[(first, set)]).unwrap();
    again.decide_together(&numbered, 90, 7).unwrap();
    assert_eq!(left(&again), all - 1, "it was no item of this review");
}

#[test]
fn what_is_taken_back_behind_a_window_comes_before_the_end() {
    let (dir, release) = store();
    let session = session(&dir, "kim", Question::Evokes, Source::Query);
    let set = |set| (release, AnnotationSetId::parse(set).unwrap());
    // A search decides the second one before the queue comes to it, and takes it back later.
    let second = session.enqueue(&[set("g102")]).unwrap();
    session.decide_together(&second, 90, 7).unwrap();
    let first = session.next(None, "one").unwrap().unwrap();
    assert_eq!(session.view(first).unwrap().item.set, set("g101").1);
    session.decide(&[decision(first, 100)], 7).unwrap();
    assert_eq!(session.next(Some(first), "one").unwrap(), None);
    session.undo().unwrap();
    session.undo().unwrap();
    // What a window shows it is not given a second time.
    session.showing(first, "one").unwrap();
    assert_eq!(session.next(Some(first), "one").unwrap(), Some(second[0]));
    assert_eq!(session.next(Some(first), "one").unwrap(), None);
    assert!(matches!(session.showing(9, "one"), Err(ReviewError::NoItem(9))));
}

#[test]
fn a_set_that_is_not_of_the_query_does_not_come_by_way_of_a_search() {
    let (dir, release) = store();
    let (query, other) = ("id=g101".parse().unwrap(), AnnotationSetId::parse("g102").unwrap());
    let session =
        Session::open(dir.path(), &query, "kim", Question::Evokes, Source::Query).unwrap();
    let other = session.enqueue(&[(release, other)]).unwrap();
    session.decide_together(&other, 90, 7).unwrap();
    session.undo().unwrap();
    let all = numbers(&session);
    assert_eq!((all.len(), all.contains(&other[0])), (1, false));
}

#[test]
fn an_answer_of_before_stands_again_when_another_is_taken_back() {
    let (dir, _) = store();
    let session = session(&dir, "kim", Question::Evokes, Source::Query);
    let first = numbers(&session)[0];
    session.decide(&[decision(first, 80)], 7).unwrap();
    session.decide(&[decision(first, 0)], 7).unwrap();
    session.undo().unwrap();
    assert_eq!(session.counts().decided, 1);
    session.undo().unwrap();
    assert_eq!(session.counts().decided, 0);
}

#[test]
fn what_a_window_skips_comes_back_in_others_alone() {
    let (dir, _) = store();
    let session = session(&dir, "kim", Question::Evokes, Source::Query);
    let first = session.next(None, "one").unwrap().unwrap();
    session.skip(first, "one").unwrap();
    assert!(session.was_skipped(first));
    // A window that skips it, too, changes nothing for the first.
    session.skip(first, "third").unwrap();
    let second = session.next(None, "one").unwrap();
    assert!(second.is_some() && second != Some(first));
    assert_eq!(session.next(None, "other").unwrap(), Some(first));
    session.decide(&[decision(first, 100)], 7).unwrap();
    assert!(!session.was_skipped(first));
    assert!(matches!(session.skip(9, "one"), Err(ReviewError::NoItem(9))));
}

#[test]
fn two_windows_show_different_items() {
    let (dir, _) = store();
    let session = session(&dir, "kim", Question::Evokes, Source::Query);
    let (one, other) = (session.next(None, "one").unwrap(), session.next(None, "other").unwrap());
    assert!(one.is_some() && other.is_some() && one != other);
    assert_eq!(session.next(None, "one").unwrap(), one, "a window that asks again sees its own");
    session.leave("one");
    assert_eq!(session.next(None, "other").unwrap(), one, "a window that was closed keeps nothing");
    assert!(matches!(session.view(9), Err(ReviewError::NoItem(9))));
}
