//! The other annotation sets of a source stand in the sentences that are made of it, and belong to
//! the generated set there: in queries, counts, exports, shards, deletion and undo.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

use fnstore::database::Database;
use fnstore::edit::Removal;
use fnstore::expand::{self, Carry, Choice, Dropped, Recipe, RewriterSource, RunOptions};
use fnstore::model::{AnnotationSet, AnnotationSetId, Carrying, FeStatus, Provenance, Span};
use fnstore::search::Answer;
use serde_json::Value;

use crate::cli_program::{Ran, fnstore_in, new_store};
use crate::cli_schema::faults_in;
use crate::shards::{copy_of, export, merge, ok};
use crate::{judged_expansion, mini};

/// A full text, and an exemplar.
const EXPAND: [&str; 8] = [
    "expand",
    "doc=HarbourLog or id=x7002",
    "--model",
    "paraphrase",
    "--beam",
    "4",
    "--rounds",
    "2",
];

fn expand(store: &Path, more: &[&str]) -> Ran {
    fnstore_in(store, &[&EXPAND[..], more].concat())
}

/// A copy of a store of which a full text is expanded.
fn expanded() -> tempfile::TempDir {
    static STORE: OnceLock<tempfile::TempDir> = OnceLock::new();
    let store = STORE.get_or_init(|| {
        let store = new_store();
        ok(expand(store.path(), &[]));
        store
    });
    let copy = tempfile::tempdir().unwrap();
    mini::copy(store.path(), copy.path());
    copy
}

fn hits(store: &Path, query: &str) -> Vec<Value> {
    fnstore_in(store, &["query", query, "--format", "jsonl"]).records()
}

fn answers(database: &Database, query: &str) -> Vec<Answer> {
    database.query(&query.parse().unwrap()).unwrap().map(Result::unwrap).collect()
}

fn by_id(answers: Vec<Answer>) -> BTreeMap<AnnotationSetId, Answer> {
    answers.into_iter().map(|answer| (answer.set.id, answer)).collect()
}

fn carrying(answer: &Answer) -> &Carrying {
    match &answer.set.provenance {
        Provenance::Carried(carrying) => carrying,
        other => panic!("{other:?}"),
    }
}

fn is_whole(store: &Path) {
    let checked = fnstore_in(store, &["check", "--deep"]);
    assert_eq!(checked.code, Some(0), "{checked:?}");
}

#[test]
fn every_other_set_of_a_source_is_carried_or_counted() {
    let store = new_store();
    let report = ok(expand(store.path(), &["--format", "json"])).document("expand.schema.json");
    let database = Database::open(store.path()).unwrap();
    let people = by_id(answers(&database, "origin!=generated origin!=carried"));
    let made = by_id(answers(&database, "origin=generated"));
    let carried = answers(&database, "origin=carried");
    let beside = |of: &Answer| {
        let source = people[&of.set.provenance.source().unwrap()].set.sentence;
        people.values().filter(|other| other.set.sentence == source).count() as u64 - 1
    };
    let all: u64 = made.values().map(beside).sum();
    let dropped = report["carried"]["dropped"].as_object().unwrap();
    let dropped: u64 = dropped.values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(report["carried"]["found"], carried.len());
    assert_eq!(carried.len() as u64 + dropped, all);
    assert!(carried.len() > 2, "{report}");
    let sentences = made.values().filter(|of| beside(of) > 0).count();
    assert_eq!(report["carried"]["sentences"], sentences);
    for answer in &carried {
        let carrying = carrying(answer);
        let (source, beside) = (&people[&carrying.source], &made[&carrying.generated]);
        assert_eq!(answer.set.sentence, beside.set.sentence);
        assert_eq!((answer.set.frame, answer.set.lu), (source.set.frame, source.set.lu));
        assert_ne!(carrying.source, beside.set.provenance.source().unwrap());
        assert_eq!(answer.set.status, "CARRIED");
        assert_eq!(answer.trigger().to_lowercase(), source.trigger().to_lowercase());
        assert!((0.0..=1.0).contains(&carrying.aligner));
        let expected = match source.set.fe_status {
            FeStatus::Annotated => FeStatus::Carried,
            other => other,
        };
        assert_eq!(answer.set.fe_status, expected);
        // Null instantiations stay what they were.
        let nulls = |of: &Answer| {
            let labels = of.set.fe_layers().flat_map(|layer| layer.labels.clone());
            labels.filter(|label| label.extent.span().is_none()).map(|l| l.name).collect::<Vec<_>>()
        };
        assert_eq!(nulls(answer), nulls(source));
    }
    assert!(carried.iter().any(|of| !carrying(of).elements.is_empty()), "FEs are looked for");
    drop(database);
    is_whole(store.path());
}

#[test]
fn hits_say_where_they_were_carried_from_and_queries_find_them_by_it() {
    let store = expanded();
    let all = hits(store.path(), "origin=carried");
    let first = &all[0];
    assert_eq!(faults_in("hit.schema.json", first), [""; 0], "{first}");
    let source = first["carrying"]["source"].as_str().unwrap();
    assert_eq!(first["generation"], Value::Null);
    let ids = |query: &str| -> Vec<String> {
        hits(store.path(), query).iter().map(|hit| hit["id"].to_string()).collect()
    };
    let of_source = all.iter().filter(|hit| hit["carrying"]["source"] == source);
    let of_source: Vec<String> = of_source.map(|hit| hit["id"].to_string()).collect();
    assert_eq!(ids(&format!("source={source} origin=carried")), of_source);
    // Document and part are the source's; what is of growth has no value.
    let of_text = all.iter().filter(|hit| hit["carrying"]["source"].to_string().contains('f'));
    assert_eq!(ids("origin=carried doc=HarbourLog").len(), of_text.count());
    assert_eq!(ids("origin=carried aligner>=0").len(), all.len());
    for none in ["seed=f8002", "round>=1", "recipe=1", "p>=0", "flag=copy"] {
        assert_eq!(ids(&format!("origin=carried {none}")), [""; 0], "{none}");
    }
    let shown = fnstore_in(store.path(), &["query", "origin=carried", "--format", "table"]).stdout;
    let beside = first["carrying"]["generated"].as_str().unwrap();
    assert!(shown.contains(&format!("from {source} beside {beside}")), "{shown}");
}

#[test]
fn they_are_no_seeds_no_growth_and_no_evidence() {
    let (all, target) = (expanded(), new_store());
    ok(expand(target.path(), &["--carry", "target"]));
    assert!(!hits(all.path(), "origin=carried").is_empty());
    assert!(hits(target.path(), "origin=carried").is_empty());
    // The index and the sets themselves tell growth alike.
    for query in ["", "not text=nothing", "frame=Giving_leave", "lu=mend.v not text=nothing"] {
        let growth = |store: &Path| {
            let rows = fnstore_in(store, &["stats", "growth", query]).records();
            assert!(!rows.is_empty(), "{query}");
            rows
        };
        assert_eq!(growth(all.path()), growth(target.path()), "{query}");
    }
    let proposals = |store: &Path| fnstore_in(store, &["proposals", "--format", "jsonl"]).records();
    let shown = |store: &Path| -> Vec<(Value, Value)> {
        let rows = proposals(store).into_iter();
        rows.map(|row| (row["name"].clone(), row["sets"].clone())).collect()
    };
    assert_eq!(shown(all.path()), shown(target.path()));
    // Whoever expands everything expands what people annotated.
    let seeds = |store: &Path| {
        let more =
            ["expand", "--everything", "--dry-run", "--model", "paraphrase", "--rounds", "1"];
        ok(fnstore_in(store, &[&more[..], &["--beam", "2", "--format", "json"]].concat()))
            .document("expand-estimate.schema.json")["seeds"]
            .clone()
    };
    assert_eq!(seeds(all.path()), seeds(target.path()));
    let filter_data =
        |store: &Path| fnstore_in(store, &["export", "--to", "filter-data"]).records().len();
    assert_eq!(filter_data(all.path()), filter_data(target.path()));
}

#[test]
fn what_is_generated_is_the_same_with_and_without_them() {
    let (all, target) = (expanded(), new_store());
    let without = ok(expand(target.path(), &["--carry", "target", "--format", "json"]));
    assert_eq!(without.document("expand.schema.json")["carried"]["sentences"], 0);
    let sets = |store: &Path| -> Vec<Value> {
        let mut sets: Vec<Value> = hits(store, "origin=generated");
        for set in &mut sets {
            // Ids go by the recipe.
            for name in ["id", "sentence"] {
                set[name] = Value::Null;
            }
            set["generation"]["chain"] = Value::Null;
        }
        sets.sort_by_key(Value::to_string);
        sets
    };
    assert_eq!(sets(all.path()), sets(target.path()));
    let recipe = fnstore_in(target.path(), &["recipes", "--format", "jsonl"]).stdout;
    assert!(!recipe.contains("carry"), "the recipe is what it was: {recipe}");
}

#[test]
fn a_second_run_adds_nothing_and_one_anew_is_the_same() {
    let store = expanded();
    let before = export(store.path());
    let again = ok(expand(store.path(), &[]));
    assert!(again.stdout.contains("nothing new to do"), "{}", again.stdout);
    assert_eq!(export(store.path()), before);
    ok(expand(store.path(), &["--redo"]));
    assert_eq!(export(store.path()), before);
}

#[test]
fn shards_carry_them_as_one_run_does() {
    let (base, dir) = (new_store(), tempfile::tempdir().unwrap());
    let whole = copy_of(base.path(), &dir.path().join("a"));
    ok(expand(&whole, &[]));
    let files: Vec<_> = (1..=3)
        .map(|number| {
            let (which, file) = (format!("{number}/3"), dir.path().join(format!("{number}.zst")));
            ok(expand(base.path(), &["--shard", &which, "--out", file.to_str().unwrap()]));
            file
        })
        .collect();
    let merged = copy_of(base.path(), &dir.path().join("b"));
    let files: Vec<&Path> = files.iter().rev().map(|file| file.as_path()).collect();
    ok(merge(&merged, &files));
    assert!(export(&whole).contains("\"origin\":\"carried\""));
    assert_eq!(export(&merged), export(&whole));
    is_whole(&merged);
}

#[test]
fn they_come_back_from_json_lines_and_go_along_with_what_was_generated() {
    let (store, dir) = (expanded(), tempfile::tempdir().unwrap());
    let file = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (whole, added) = (file("all.jsonl"), file("added.jsonl"));
    let out = |query: &str, to: &str| {
        ok(fnstore_in(store.path(), &["export", query, "--to", "jsonl", to]))
    };
    out("", &whole);
    let copy = tempfile::tempdir().unwrap();
    ok(fnstore_in(copy.path(), &["import", &whole]));
    assert_eq!(export(copy.path()), export(store.path()));
    // Additions: the query speaks of generated sets alone.
    out("origin=generated", &added);
    let base = new_store();
    ok(fnstore_in(base.path(), &["import", &added]));
    assert_eq!(hits(base.path(), "origin=carried"), hits(store.path(), "origin=carried"));
    is_whole(base.path());
    // One that speaks of carried sets decides by itself, and has what they name.
    let some = file("some.jsonl");
    out("origin=generated origin!=carried", &some);
    let lines = std::fs::read_to_string(&some).unwrap();
    assert!(!lines.contains("\"origin\":\"carried\""));
    let first = hits(store.path(), "origin=carried").remove(0);
    let one = file("one.jsonl");
    out(&format!("origin=carried id={}", first["id"].as_str().unwrap()), &one);
    let lines = std::fs::read_to_string(&one).unwrap();
    assert_eq!(lines.matches("\"origin\":\"carried\"").count(), 1);
    assert!(lines.contains(&format!("\"id\":{}", first["carrying"]["generated"])), "{lines}");
    let base = new_store();
    ok(fnstore_in(base.path(), &["import", &one]));
    is_whole(base.path());
}

#[test]
fn they_go_with_what_they_belong_to_and_come_back_with_it() {
    let store = expanded();
    let before = export(store.path());
    let all = hits(store.path(), "origin=carried");
    ok(fnstore_in(store.path(), &["delete", "origin=generated", "--yes"]));
    assert!(hits(store.path(), "origin=carried or origin=generated").is_empty());
    is_whole(store.path());
    let revision = Database::open(store.path()).unwrap().revision().unwrap();
    ok(fnstore_in(store.path(), &["undo", &revision.to_string()]));
    assert_eq!(export(store.path()), before);
    // One alone goes alone.
    let one = all[0]["id"].as_str().unwrap();
    ok(fnstore_in(store.path(), &["delete", &format!("id={one}"), "--yes"]));
    assert_eq!(hits(store.path(), "origin=carried").len(), all.len() - 1);
    let beside = all[0]["carrying"]["generated"].as_str().unwrap();
    assert_eq!(hits(store.path(), &format!("id={beside}")).len(), 1);
    is_whole(store.path());
}

#[test]
fn a_source_that_goes_takes_what_was_carried_from_it() {
    let store = expanded();
    let database = Database::open_writer(store.path()).unwrap();
    let carried = answers(&database, "origin=carried");
    let source = carrying(&carried[0]).source;
    let release = database.release("mini-framenet").unwrap().id;
    let mut edits = database.transaction(release).unwrap();
    let error = edits.remove_annotation_set(source, Removal::Alone).unwrap_err().to_string();
    assert!(error.contains("generated or carried from it"), "{error}");
    edits.remove_annotation_set(source, Removal::Cascade).unwrap();
    edits.commit().unwrap();
    let left = answers(&database, "origin=carried");
    assert!(left.len() < carried.len() && left.iter().all(|of| carrying(of).source != source));
    let gone = |id: AnnotationSetId| answers(&database, &format!("id={id}")).is_empty();
    assert!(left.iter().all(|of| !gone(carrying(of).generated)), "none stands alone");
    drop(database);
    is_whole(store.path());
}

#[test]
fn counts_are_those_of_the_sets() {
    let store = expanded();
    let carried = hits(store.path(), "origin=carried").len();
    let generated = hits(store.path(), "origin=generated").len();
    let count = |query: &str| {
        let said = fnstore_in(store.path(), &["query", query, "--count"]).stdout;
        said.trim().parse::<usize>().unwrap()
    };
    // By counts that commits keep, by the index, and set by set.
    for (query, expected) in [
        ("origin=carried", carried),
        ("origin=carried aligner>=0", carried),
        ("origin=carried not text=nothing", carried),
        ("origin=generated", generated),
        ("round>=1", generated),
        ("status=CARRIED", carried),
    ] {
        assert_eq!(count(query), expected, "{query}");
    }
    let added = &fnstore_in(store.path(), &["releases", "--format", "jsonl"]).records()[0]["added"];
    let numbers = ["carried_sets", "generated_sets", "generated_sentences"].map(|of| &added[of]);
    assert_eq!(numbers, [carried, generated, generated].map(Value::from).each_ref());
    let lus = fnstore_in(store.path(), &["lus", "--format", "jsonl"]).records();
    let sum = |of: &str| lus.iter().map(|lu| lu[of].as_u64().unwrap()).sum::<u64>();
    assert_eq!((sum("carried"), sum("generated")), (carried as u64, generated as u64));
    is_whole(store.path());
}

#[test]
fn a_sentence_with_all_sets_of_a_full_text_needs_no_masks() {
    let store = expanded();
    let records = |query: &str| -> Vec<Value> {
        let arguments = ["export", query, "--training", "--to", "jsonl", "--no-tagger"];
        let records = fnstore_in(store.path(), &arguments).records();
        for record in &records {
            assert_eq!(faults_in("training-sentence.schema.json", record), [""; 0], "{record}");
        }
        records
    };
    let all = records("origin=generated");
    let (complete, others): (Vec<&Value>, Vec<&Value>) =
        all.iter().partition(|record| record["complete"] == true);
    assert!(!complete.is_empty() && !others.is_empty(), "one is of an exemplar: {all:?}");
    for record in &all {
        let is_masked = record["unannotated"].as_array().is_some_and(|spans| !spans.is_empty());
        assert_eq!(record["complete"], !is_masked, "{record}");
    }
    let whole = complete.iter().find(|of| of["sets"].as_array().unwrap().len() > 1).unwrap();
    let carried = whole["sets"].as_array().unwrap();
    let carried = carried.iter().find(|set| set["origin"] == "carried").unwrap();
    assert!(carried["source"].is_string() && carried["aligner"].is_number(), "{carried}");
    assert_eq!(carried["seed"], carried["source"]);
    // Without them their targets are unknown; nobody says so of the rest.
    let sentence = whole["sentence"].as_str().unwrap();
    let alone = records(&format!("sentence={sentence} origin!=carried")).remove(0);
    assert_eq!(alone["complete"], false);
    let texts = |of: &Value| -> Vec<Value> {
        of.as_array().unwrap().iter().map(|span| span["text"].clone()).collect()
    };
    assert_eq!(texts(&alone["unannotated"]), texts(&carried["targets"]), "{alone}");
    let blocks = |query: &str, to: &str| {
        fnstore_in(store.path(), &["export", query, "--to", to, "--no-tagger"]).stdout
    };
    let conllu = blocks(&format!("sentence={sentence}"), "conllu-plus");
    assert!(conllu.contains("# complete = true"), "{conllu}");
    for to in ["training-conll", "training-bios"] {
        let block = blocks(&format!("sentence={sentence}"), to);
        let masked = |line: &str| line.split('\t').nth(13) == Some("?");
        assert!(!block.is_empty() && !block.lines().any(masked), "{to}: {block}");
    }
    // A set that people add to the source is one that is missing.
    let database = Database::open_writer(store.path()).unwrap();
    let release = database.release("mini-framenet").unwrap().id;
    let source = carried["source"].as_str().unwrap();
    let source = answers(&database, &format!("id={source}")).remove(0).set;
    let mut edits = database.transaction(release).unwrap();
    let target = Span::new(0, 2);
    let own = AnnotationSet::new(source.sentence, source.frame, source.lu, target);
    edits.add_annotation_set(own).unwrap();
    edits.commit().unwrap();
    drop(database);
    assert_eq!(records(&format!("sentence={sentence}"))[0]["complete"], false);
}

#[test]
fn span_labelled_data_is_carried_whatever_its_labels() {
    let (store, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let text = "On Monday the harbour master checked every boat in Oslo .";
    let spans = [(3, 9, "when"), (29, 36, "check"), (51, 55, "place")];
    let spans: Vec<String> = spans
        .map(|(start, end, of)| format!(r#"{{"start":{start},"end":{end},"type":"{of}"}}"#))
        .into();
    let file = dir.path().join("spans.jsonl");
    let line = format!("{{\"text\":\"{text}\",\"spans\":[{}]}}\n", spans.join(","));
    std::fs::write(&file, line).unwrap();
    let file = file.to_str().unwrap();
    ok(fnstore_in(store.path(), &["import", file, "--release", "ner"]));
    let expand = ["expand", "frame=check", "--model", "paraphrase", "--guide", "none"];
    let more = ["--rounds", "1", "--beam", "4", "--format", "json"];
    let report =
        ok(fnstore_in(store.path(), &[&expand[..], &more].concat())).document("expand.schema.json");
    assert_eq!(report["carried"]["found"], 2, "{report}");
    let mut carried: Vec<(String, String)> = hits(store.path(), "origin=carried")
        .iter()
        .map(|hit| {
            assert_eq!(hit["fe_status"], "unknown");
            (hit["frame"].as_str().unwrap().to_owned(), hit["trigger"].as_str().unwrap().to_owned())
        })
        .collect();
    carried.sort();
    let expected = [("place", "Oslo"), ("when", "Monday")];
    assert_eq!(carried, expected.map(|(of, words)| (of.to_owned(), words.to_owned())));
    let training = ["export", "origin=generated", "--training", "--to", "jsonl", "--no-tagger"];
    assert_eq!(fnstore_in(store.path(), &training).records()[0]["complete"], true);
    is_whole(store.path());
}

#[test]
fn what_an_expansion_is_blind_to_is_not_carried() {
    let store = new_store();
    let more = ["--blind-to", "frame=Giving_leave or frame=Repairing", "--format", "json"];
    let report = ok(expand(store.path(), &more)).document("expand.schema.json");
    assert!(report["carried"]["dropped"]["held-out"].as_u64().unwrap() > 0, "{report}");
    let carried = hits(store.path(), "origin=carried");
    assert!(!carried.is_empty() && carried.iter().all(|hit| hit["frame"] == "Checking"));
}

#[test]
fn wrong_values_are_refused() {
    let store = new_store();
    let wrong = expand(store.path(), &["--carry", "some"]);
    assert!(wrong.code == Some(2) && wrong.stderr.contains("all"), "{wrong:?}");
    let file = store.path().join("mine.toml");
    std::fs::write(&file, "carry = \"most\"\n").unwrap();
    let wrong = expand(store.path(), &["--recipe", file.to_str().unwrap()]);
    assert_eq!(wrong.code, Some(65), "{wrong:?}");
    assert!(wrong.stderr.contains("most"), "{}", wrong.stderr);
    // The option comes before what the recipe says.
    let paper = ["--recipe", "culkin-large", "--rounds", "1", "--limit", "2"];
    ok(expand_anew(store.path(), &paper));
    assert!(hits(store.path(), "origin=carried").is_empty());
    ok(expand_anew(store.path(), &[&paper[..], &["--carry", "all"]].concat()));
    assert!(!hits(store.path(), "origin=carried").is_empty());
}

fn expand_anew(store: &Path, more: &[&str]) -> Ran {
    let expand = ["expand", "origin=fulltext", "--model", "paraphrase", "--filter", "none"];
    fnstore_in(store, &[&expand[..], more].concat())
}

#[test]
fn a_verifier_that_ends_chains_drops_what_it_doubts() {
    let models = judged_expansion::verifier();
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/paraphrase");
    let rewriter = RewriterSource::Model { directory: shipped, base: None };
    let grown = |least_evokes| {
        let mut recipe = judged_expansion::recipe(models.path(), Choice::Judged);
        recipe.models.rewriter = rewriter.clone();
        let recipe = Recipe { least_evokes, asked: 1, carry: Carry::All, ..recipe };
        let (dir, database, report) = mini::imported();
        let seed = answers(&database, "id=x7002").remove(0).set;
        // Words beside `checked`, which is rewritten: their context changes.
        let mut edits = database.transaction(report.release.id).unwrap();
        for (start, end) in [(0, 3), (12, 15), (16, 21), (22, 25), (12, 21), (16, 25), (12, 25)] {
            let target = Span::new(start, end);
            let own = AnnotationSet::new(seed.sentence, seed.frame, seed.lu, target);
            edits.add_annotation_set(own).unwrap();
        }
        edits.commit().unwrap();
        let seeds = "id=x7002".parse().unwrap();
        let report = expand::run(&database, &seeds, &recipe, &RunOptions::rounds(1)).unwrap();
        let dropped = report.carried.dropped.get(&Dropped::Frame).copied().unwrap_or(0);
        let answers = answers(&database, "origin=carried or origin=generated");
        (dir, dropped, answers)
    };
    let evokes = |of: &Answer| of.verification.and_then(|said| said.evokes);
    let (_trusting, dropped, answers) = grown(0.0);
    let is_carried = |of: &&Answer| matches!(of.set.provenance, Provenance::Carried(_));
    assert!(answers.iter().filter(is_carried).all(|of| evokes(of).is_none()), "nobody is asked");
    assert_eq!(dropped, 0);
    // What the tiny verifier says means nothing, and is never 0.
    let (_asking, dropped, answers) = grown(1e-6);
    assert_eq!(dropped, 0);
    let asked: Vec<(&Answer, f32)> =
        answers.iter().filter(is_carried).filter_map(|of| Some((of, evokes(of)?))).collect();
    assert!(!asked.is_empty(), "targets in other words");
    let beside = |of: &Answer| {
        let generated = carrying(of).generated;
        evokes(answers.iter().find(|other| other.set.id == generated)?)
    };
    let doubted = asked.iter().filter_map(|(of, share)| {
        Some((carrying(of).source, (*share, beside(of)?))).filter(|(_, (one, other))| one < other)
    });
    let (source, (share, other)) = doubted.min_by(|a, b| a.1.0.total_cmp(&b.1.0)).unwrap();
    let (_doubting, dropped, left) = grown((share + other) / 2.0);
    assert!(dropped > 0);
    let is_left = |of: &&Answer| is_carried(of) && carrying(of).source == source;
    assert!(left.iter().filter(is_left).all(|of| evokes(of).is_none_or(|of| of > share)));
}
