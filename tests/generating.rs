//! `fnstore generate`: LUs without sentences get those of their sisters, whole or with other words.

use std::ops::ControlFlow;
use std::path::Path;

use fnstore::database::Database;
use fnstore::generate::{
    Answer, Fate, GenerationProgress, GenerationPrompt, GenerationRecipe, GenerationReport,
    Generator, LanguageFiller, Skip, run_with,
};
use fnstore::internals::WithStore as _;
use fnstore::model::{
    AnnotationSet, Extent, FeStatus, FrameId, LayerName, LexUnit, LuId, Method, Pos, Provenance,
    ReleaseId, Sentence,
};
use fnstore::query::Expression;
use fnstore::score::Scorer;
use fnstore::text::inflect_phrase;
use serde_json::Value;

use crate::cli_program::{Ran, fnstore_in, mini_framenet, new_store};
use crate::cli_schema::faults_in;
use crate::language_parity::directory;
use crate::{mini, real_framenet};

/// Runs `generate` without a language model.
fn generate(store: &Path, arguments: &[&str]) -> Ran {
    fnstore_in(store, &[&["generate", "--model", "none"], arguments].concat())
}

#[test]
fn an_lu_with_full_text_alone_is_told_how_to_get_sentences() {
    let store = new_store();
    let ran = generate(store.path(), &["lu=stitch.v"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("`--lacking exemplars`"), "{}", ran.stderr);
}

#[test]
fn two_releases_are_told_before_both_have_sentences_generated() {
    let store = new_store();
    let mini = mini_framenet();
    let again = ["import", mini.to_str().unwrap(), "--release", "again"];
    assert_eq!(fnstore_in(store.path(), &again).code, Some(0));
    let spans =
        "the generation may span 2 releases, `mini-framenet`, `again`; `release=NAME` asks one";
    let both = generate(store.path(), &["--limit", "1"]);
    assert!(both.code == Some(0) && both.stderr.contains(spans), "{both:?}");
    let dry = generate(store.path(), &["--limit", "1", "--dry-run"]);
    assert!(dry.code == Some(0) && dry.stderr.contains(spans), "{dry:?}");
    let one = generate(store.path(), &["release=again", "--limit", "1"]);
    assert!(one.code == Some(0) && !one.stderr.contains("may span"), "{one:?}");
}

fn run(database: &Database, query: &str, recipe: &GenerationRecipe) -> GenerationReport {
    let mut generator = Generator::copying();
    let expression = Expression::parse(query).unwrap();
    run_with(database, &expression, (recipe, None), &mut generator, &mut |_| {
        ControlFlow::Continue(())
    })
    .unwrap()
}

/// A generated set with its sentence, and the set and sentence that it was made of.
pub(crate) type Made = ((AnnotationSet, Sentence), (AnnotationSet, Sentence));

pub(crate) fn made(database: &Database) -> Vec<Made> {
    let release = database.releases().unwrap()[0].id;
    let answers = database.query(&Expression::parse("origin=generated").unwrap()).unwrap();
    let source = |set: &AnnotationSet| {
        let Provenance::Generated(generation) = &set.provenance else { panic!("{set:?}") };
        with_sentence(database, release, generation.source)
    };
    answers
        .map(|answer| answer.unwrap())
        .map(|answer| (source(&answer.set), (answer.set, answer.sentence)))
        .map(|(source, made)| (made, source))
        .collect()
}

fn with_sentence(
    database: &Database,
    release: ReleaseId,
    set: fnstore::model::AnnotationSetId,
) -> (AnnotationSet, Sentence) {
    let set = database.store().annotation_set(release, set).unwrap().unwrap();
    let sentence = database.store().sentence(release, set.sentence).unwrap().unwrap();
    (set, sentence)
}

/// What stands before the first label and behind the last one.
pub(crate) fn outside((set, sentence): &(AnnotationSet, Sentence)) -> (String, String) {
    let layers = set.layers.iter().flat_map(|layer| &layer.labels);
    let spans: Vec<_> = layers.filter_map(|label| label.extent.span()).collect();
    let first = spans.iter().map(|span| span.start).min().unwrap() as usize;
    let last = spans.iter().map(|span| span.end).max().unwrap() as usize;
    (sentence.text[..first].to_owned(), sentence.text[last..].to_owned())
}

/// Layer, rank, name and words of each label of FEs, and of the other layers that are kept.
pub(crate) fn labels(
    (set, sentence): &(AnnotationSet, Sentence),
) -> Vec<(String, u8, String, String)> {
    let is_kept = |name: &LayerName| matches!(name, LayerName::Fe | LayerName::Gf | LayerName::Pt);
    let layers = set.layers.iter().filter(|layer| is_kept(&layer.name));
    let all = layers.flat_map(|layer| layer.labels.iter().map(move |label| (layer, label)));
    all.map(|(layer, label)| {
        let words = match &label.extent {
            Extent::Overt(span) => span.of(&sentence.text).unwrap().to_owned(),
            Extent::Null(kind) => format!("[{}]", kind.as_str()),
            Extent::None => "-".to_owned(),
        };
        (layer.name.as_str().to_owned(), layer.rank, label.name.clone(), words)
    })
    .collect()
}

#[test]
fn an_lu_stands_in_a_sisters_sentence_and_all_annotation_moves_along() {
    let (_dir, database, _) = mini::imported();
    // Every sentence of a sister that can be taken.
    let recipe = GenerationRecipe { candidates: 100, keep: 100, ..GenerationRecipe::default() };
    let report = run(&database, "lu=verify.v", &recipe);
    assert_eq!((report.lexunits, report.given), (1, 1), "{report:?}");
    let made = made(&database);
    assert!(made.len() > 10 && made.len() as u64 == report.sentences, "{report:?}");
    assert!(report.passed_over[&Skip::Discontinuous] > 0, "{report:?}");
    for (new, old) in &made {
        let (set, sentence) = new;
        let Provenance::Generated(generation) = &set.provenance else { panic!("{set:?}") };
        assert_eq!(generation.method, Method::SisterLu);
        assert_eq!((set.fe_status, set.targets.len()), (FeStatus::Carried, 1));
        let (trigger, replaced) = (set.trigger(&sentence.text), old.0.trigger(&old.1.text));
        let forms = ["verify", "verified", "verifies", "verifying"];
        assert!(forms.contains(&&*trigger.to_lowercase()), "{trigger}");
        let moved = labels(old).into_iter().map(|(layer, rank, name, words)| {
            (layer, rank, name, words.replace(&replaced, &trigger))
        });
        assert_eq!(labels(new), moved.collect::<Vec<_>>(), "{}", sentence.text);
        assert_eq!(sentence.text, old.1.text.replace(&replaced, &trigger));
    }
    let nulls = made.iter().flat_map(|(new, _)| labels(new)).filter(|label| label.3 == "[CNI]");
    assert!(nulls.count() > 0, "null instantiations are annotation, too");
}

#[test]
fn what_is_generated_is_found_exported_checked_and_not_generated_again() {
    let store = new_store();
    let ran = generate(store.path(), &["--format", "json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let record = ran.document("generate.schema.json");
    let (lexunits, given) =
        (record["lexunits"].as_u64().unwrap(), record["given"].as_u64().unwrap());
    assert!(given >= 3 && record["sentences"] == given, "{record}");
    assert_eq!(record["by_pos"]["V"]["given"], given, "{record}");
    let found =
        |query: &str| fnstore_in(store.path(), &["query", query, "--format", "jsonl"]).records();
    let sets = found("method=sister-lu");
    assert_eq!(sets.len() as u64, given);
    for set in &sets {
        assert_eq!(faults_in("hit.schema.json", set), Vec::<String>::new());
    }
    assert!(!found("method=sister-lu fe=Matter lu=verify.v").is_empty());
    assert!(found("method=infill").is_empty());
    assert_eq!(fnstore_in(store.path(), &["check", "--deep"]).code, Some(0));

    let again = generate(store.path(), &["--format", "json"]);
    let record: Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!((&record["sentences"], &record["done_before"]), (&0.into(), &lexunits.into()));
    assert_eq!(found("method=sister-lu"), sets);
    // Another seed is another recipe.
    let other = generate(store.path(), &["--sisters", "random", "--seed", "7", "--format", "json"]);
    let other: Value = serde_json::from_str(&other.stdout).unwrap();
    assert_eq!(other["sentences"], given);

    let out = tempfile::tempdir().unwrap();
    let file = out.path().join("out.jsonl");
    let export = ["export", "--to", "jsonl", file.to_str().unwrap()];
    assert_eq!(fnstore_in(store.path(), &export).code, Some(0));
    let copy = tempfile::tempdir().unwrap();
    let ran = fnstore_in(copy.path(), &["import", file.to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let back = fnstore_in(copy.path(), &["query", "method=sister-lu", "--count"]).stdout;
    assert_eq!(back.trim().parse::<u64>().unwrap(), 2 * given);
    let delete = fnstore_in(store.path(), &["delete", "origin=generated", "--yes"]);
    assert_eq!(delete.code, Some(0), "{delete:?}");
    assert_eq!(fnstore_in(store.path(), &["check", "--deep"]).code, Some(0));
}

#[test]
fn a_limit_leaves_lus_to_a_later_run() {
    let store = new_store();
    let first = generate(store.path(), &["--limit", "1", "--format", "json"]);
    let first: Value = serde_json::from_str(&first.stdout).unwrap();
    let rest = generate(store.path(), &["--format", "json"]);
    let rest: Value = serde_json::from_str(&rest.stdout).unwrap();
    assert_eq!(first["left"].as_u64().unwrap() + 1, first["lexunits"].as_u64().unwrap());
    assert_eq!(rest["done_before"], 1, "{rest}");
}

#[test]
fn a_run_that_is_stopped_keeps_what_is_finished() {
    let (_dir, database, _) = mini::imported();
    let mut generator = Generator::copying();
    let everything = Expression::Everything;
    let recipe = GenerationRecipe::default();
    let stop = &mut |at: &GenerationProgress| match at.sentences {
        0 => ControlFlow::Continue(()),
        _ => ControlFlow::Break(()),
    };
    let report = run_with(&database, &everything, (&recipe, None), &mut generator, stop).unwrap();
    assert!(report.interrupted && report.sentences > 0);
    let rest = run(&database, "release=*", &recipe);
    assert_eq!(
        rest.done_before,
        report.given
            + report
                .fates
                .values()
                .map(|fate| {
                    fate.skipped
                        .iter()
                        .filter(|(skip, _)| **skip != Skip::NoSister)
                        .map(|(_, n)| n)
                        .sum::<u64>()
                })
                .sum::<u64>(),
        "{report:?} {rest:?}"
    );
}

#[test]
fn a_run_that_is_stopped_within_an_lu_writes_none_of_it_and_later_the_same() {
    let ((_one, whole, _), (_two, stopped, _)) = (mini::imported(), mini::imported());
    let (everything, recipe) = (Expression::Everything, GenerationRecipe::default());
    let on = &mut |_: &_| ControlFlow::Continue(());
    run_with(&whole, &everything, (&recipe, None), &mut Generator::copying(), on).unwrap();
    // The first question with one sentence comes after its LU; the second within the next, since
    // the pause between two questions is over by then.
    let mut questions = 0;
    let stop = &mut |at: &GenerationProgress| {
        std::thread::sleep(std::time::Duration::from_millis(120));
        questions += u32::from(at.sentences == 1);
        if questions < 2 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let asked = (&recipe, None);
    let report = run_with(&stopped, &everything, asked, &mut Generator::copying(), stop).unwrap();
    assert!(report.interrupted && report.sentences == 1, "{report:?}");
    assert_eq!(made(&stopped).len(), 1);
    assert!(report.left > 0 && report.recipe.is_some(), "{report:?}");
    run_with(&stopped, &everything, asked, &mut Generator::copying(), on).unwrap();
    assert_eq!(made(&stopped), made(&whole));
    assert!(made(&whole).len() > 1);
}

#[test]
fn a_run_with_nothing_left_to_do_commits_nothing() {
    let (_dir, database, _) = mini::imported();
    let recipe = GenerationRecipe::default();
    run(&database, "release=*", &recipe);
    let revision = database.store().revision().unwrap();
    let again = run(&database, "release=*", &recipe);
    assert_eq!((again.sentences, database.store().revision().unwrap()), (0, revision));
}

#[test]
fn an_fe_that_inherits_from_an_agent_keeps_its_words() {
    let dir = tempfile::tempdir().unwrap();
    let release = dir.path().join("release");
    mini::reworded(&release, ["\"Checker\"", "\"Agent\""]);
    let actors = |release: &Path, query: &str| {
        let store = tempfile::tempdir().unwrap();
        let database = Database::open_writer(store.path()).unwrap();
        mini::import(&database, release).unwrap();
        let recipe = GenerationRecipe { candidates: 100, keep: 1, ..GenerationRecipe::default() };
        let report = run(&database, query, &recipe);
        let count = report.kept_elements.iter().find(|(reason, _)| reason.as_str() == "actor");
        (count.map_or(0, |(_, count)| *count), report.blanks)
    };
    let (none, all) = actors(&mini::framenet(), "lu=verify.v");
    let (agents, others) = actors(&release, "lu=verify.v");
    assert!(
        none == 0 && agents > 5 && others < all && others + agents >= all,
        "{none} {agents} {others} {all}"
    );
    // `Judge` of another frame is an Agent by a relation of type Using.
    assert_eq!(actors(&mini::framenet(), "lu=86.v").0, 0);
    assert!(actors(&release, "lu=86.v").0 > 0);
}

#[test]
fn what_nothing_scored_has_no_score() {
    let store = new_store();
    assert_eq!(generate(store.path(), &[]).code, Some(0));
    let found = |query| fnstore_in(store.path(), &["query", query, "--format", "jsonl"]).records();
    let sets = found("method=sister-lu");
    assert!(!sets.is_empty() && sets.iter().all(|set| set["generation"]["paraphrase"].is_null()));
    for query in ["paraphrase<=1000000", "paraphrase>0", "paraphrase=0"] {
        let query = format!("method=sister-lu {query}");
        let ran = fnstore_in(store.path(), &["query", &query, "--format", "jsonl"]);
        assert_eq!(ran.records(), [Value::Null; 0], "{query}");
    }
    // The score is absent from a copy, too.
    let (copy, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = out.path().join("out.jsonl");
    let file = file.to_str().unwrap();
    assert_eq!(fnstore_in(store.path(), &["export", "--to", "jsonl", file]).code, Some(0));
    assert_eq!(fnstore_in(copy.path(), &["import", file]).code, Some(0));
    let copied = fnstore_in(copy.path(), &["query", "method=sister-lu", "--format", "jsonl"]);
    assert_eq!(copied.records(), sets);
}

#[test]
fn sentences_say_how_likely_their_frame_is_where_the_frame_model_knows_it() {
    let fits = |store: &Path| {
        assert_eq!(generate(store, &["lu=verify.v"]).code, Some(0));
        let count = |query: &str| fnstore_in(store, &["query", query, "--count"]).stdout;
        (count("method=sister-lu"), count("method=sister-lu frame_fit>=0"))
    };
    assert_eq!(fits(new_store().path()), ("1\n".to_owned(), "0\n".to_owned()));
    let dir = tempfile::tempdir().unwrap();
    let (release, store) = (dir.path().join("release"), dir.path().join("store"));
    mini::renamed_frame(&release, ["Checking", "Inspecting"]);
    let import = ["import", release.to_str().unwrap()];
    assert_eq!(fnstore_in(&store, &import).code, Some(0));
    assert_eq!(fits(&store), ("1\n".to_owned(), "1\n".to_owned()));
}

#[test]
fn a_report_counts_the_sentences_whose_frame_is_unlikely() {
    let dir = tempfile::tempdir().unwrap();
    let (release, store) = (dir.path().join("release"), dir.path().join("store"));
    // The model knows the frame, which has nothing to do with checking.
    mini::renamed_frame(&release, ["Checking", "Ingestion"]);
    assert_eq!(fnstore_in(&store, &["import", release.to_str().unwrap()]).code, Some(0));
    let ran = generate(&store, &["lu=verify.v", "--format", "json"]);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let unlikely = fnstore_in(&store, &["query", "frame_fit<0.1", "--count"]).stdout;
    assert_eq!((&report["unlikely"], unlikely.as_str()), (&1.into(), "1\n"));
}

#[test]
fn an_annotated_lu_gets_sentences_of_its_sisters_where_it_need_lack_nothing() {
    let store = new_store();
    let ran = generate(store.path(), &["lu=examine.v", "--lacking", "nothing", "--format", "json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let database = Database::open(store.path()).unwrap();
    let made = made(&database);
    assert!(!made.is_empty());
    for ((set, _), (source, _)) in made {
        assert_eq!(set.lu, LuId(1003));
        assert_ne!(source.lu, set.lu, "a sister's");
    }
}

#[test]
fn wrong_input_has_a_code_and_nothing_is_written() {
    let store = new_store();
    let before = fnstore_in(store.path(), &["query", "release=*", "--count"]).stdout;
    let nowhere = "/nonexistent/prompt.toml";
    for (arguments, said) in [
        (&["lu=check.v"][..], "have sentences, as `check.v`; expected LUs without sentences"),
        (&["lu=examine.v"], "(N-attested)"),
        (&["lu=chek.v"], "did you mean `check.v`?"),
        (&["trigger=checked"], "`trigger=checked` asks for annotation"),
        (&["lu=verify.v", "--candidates", "101"], "(N-range)"),
        (&["lu=verify.v", "--limit", "0"], "limit is 0, expected 1 or more (N-range)"),
        (&["lu=verify.v", "--keep", "0"], "(N-range)"),
        (&["lu=verify.v", "--sources", "0"], "number of sources is 0, expected 1 to 100 (N-range)"),
        (&["lu=verify.v", "--least", "1.5"], "least worth is 1.5, expected 0 to 1 (N-range)"),
        (
            &["lu=verify.v", "--least", "0.5"],
            "no language model ranks; expected one, or 0 (N-ranker)",
        ),
        (&["lu=verify.v", "--method", "infill"], "no language model `none`"),
        (&["lu=verify.v", "--prompt", nowhere], "(P-read)"),
        (
            &["lu=verify.v", "--prompt", "paper"],
            "`answer` is `commas`, which a language model cannot give",
        ),
        (&["lu=verify.v", "--method", "paraphrase"], "invalid value"),
        (&["lu=examine.v", "--lacking", "nothing", "--sisters", "own"], "`infill` (N-own)"),
    ] {
        let ran = generate(store.path(), arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}: {ran:?}");
        assert!(ran.stderr.contains(said), "{arguments:?}: {}", ran.stderr);
    }
    let recipes = fnstore_in(store.path(), &["recipes", "--format", "jsonl"]);
    assert_eq!(recipes.records(), [Value::Null; 0]);
    assert_eq!(fnstore_in(store.path(), &["query", "release=*", "--count"]).stdout, before);
}

#[test]
fn a_frame_without_sisters_is_named() {
    let store = new_store();
    // A noun in a frame whose annotated LUs are all verbs.
    let database = Database::open_existing_writer(store.path()).unwrap();
    let release = database.releases().unwrap()[0].id;
    let mut edits = database.transaction(release).unwrap();
    edits.add_lexunit(LexUnit::named(FrameId(103), LuId(0), "mending.n")).unwrap();
    edits.commit().unwrap();
    drop(database);
    let ran = generate(store.path(), &["lu=mending.n"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(
        ran.stderr.contains("no annotated LU of `Repairing`") && ran.stderr.contains("(N-sisters)"),
        "{ran:?}"
    );
}

/// The tiny Llama of the parity tests says nothing that makes sense, and stays in the blanks.
#[test]
fn a_language_model_writes_in_the_blanks_alone() {
    let file = directory("llama").join("model.gguf");
    let prompt_file = tempfile::tempdir().unwrap();
    let path = prompt_file.path().join("prompt.toml");
    let text = "format = 1\nanswer = \"sentence\"\nblank = \"_\"\nseparator = \",\"\n[[part]]\ntext = \"{sentence}\"\n";
    std::fs::write(&path, text).unwrap();
    let (_dir, database, _) = mini::imported();
    let generate_with = |seed: u64, sources: usize, least: f32| {
        let device = fnstore::engine::Device::Cpu { threads: 1 };
        let scorer = Scorer::open(&file, &device, fnstore::engine::Numbers::F32).unwrap();
        let filler = LanguageFiller::new(GenerationPrompt::read(&path).unwrap());
        let mut generator = Generator::copying().filling(filler).ranking(scorer, Vec::new());
        let recipe = GenerationRecipe {
            method: Method::Infill,
            sisters: fnstore::generate::SisterRule::Random,
            sources,
            candidates: 3,
            keep: 3,
            least,
            seed,
            ..GenerationRecipe::default()
        };
        let on = &mut |_: &_| ControlFlow::Continue(());
        run_with(&database, &Expression::Everything, (&recipe, None), &mut generator, on).unwrap()
    };
    let generate = |seed| generate_with(seed, 1, 0.0);
    let reports: Vec<GenerationReport> = (0..12).map(generate).collect();
    for report in &reports {
        let reasons = report.fates.values().flat_map(|fate| fate.skipped.keys());
        let expected = [Skip::NoSister, Skip::TooLong, Skip::Rejected, Skip::NoBlank];
        assert!(reasons.clone().all(|reason| expected.contains(reason)), "{report:?}");
    }
    let made = made(&database);
    assert!(!made.is_empty(), "{reports:?}");
    for (new, old) in &made {
        let count = |labels: Vec<(String, u8, String, String)>| {
            labels.iter().filter(|l| l.0 == "FE").count()
        };
        assert_eq!(count(labels(new)), count(labels(old)), "every FE is there");
        // Words outside the blanks stay: those behind the last label and before the first.
        assert_eq!(outside(new), outside(old), "{}", new.1.text);
    }
    let again = generate(3);
    assert_eq!(again.sentences, 0, "{again:?}");

    // Several sisters' sentences are filled for an LU, and nothing is stored that is not likely
    // enough. None of what this model writes is.
    let several: Vec<GenerationReport> = (0..12).map(|seed| generate_with(seed, 4, 0.0)).collect();
    let blanks =
        |reports: &[GenerationReport]| reports.iter().map(|report| report.blanks).sum::<u64>();
    assert!(blanks(&several) > blanks(&reports), "{several:?}");
    let none = generate_with(3, 4, 1.0);
    let doubtful = |fate: &Fate| fate.skipped.get(&Skip::Doubtful).copied();
    assert_eq!(none.sentences, 0, "{none:?}");
    let doubtful = |reports: &[&GenerationReport]| {
        let fates = reports.iter().flat_map(|report| report.fates.values());
        fates.filter_map(doubtful).sum::<u64>()
    };
    assert!(doubtful(&[&none]) == several[3].given && doubtful(&[&several[3]]) == 0, "{none:?}");
    assert_eq!(GenerationPrompt::built_in(Answer::Sentence).answer(), Answer::Sentence);
}

/// The paper counts 2.406 FEs, 1.945 core ones and 1.354 candidates in a set of a verb of FrameNet
/// 1.7.
#[test]
fn framenet_1_5_has_as_many_candidates_as_the_paper_counts() {
    let Some(archive) = real_framenet::archive() else { return };
    let dir = tempfile::tempdir().unwrap();
    let database = Database::open_writer(dir.path()).unwrap();
    mini::import(&database, &archive).unwrap();
    let release = database.releases().unwrap()[0].id;
    let census = fnstore::generate::census(&database, release).unwrap();
    for (pos, of) in &census {
        println!("{pos} {of:?} {:?}", of.means());
    }
    let [elements, core, candidates] = census[&Pos::Verb].means();
    assert!((elements - 2.4).abs() < 0.1, "{elements}");
    assert!((core - 1.95).abs() < 0.1, "{core}");
    assert!((candidates - 1.41).abs() < 0.02, "{candidates}");

    // The word of a multiword LU that inflects is one of the LU's part of speech; FrameNet 1.5 says
    // of none that it is the head.
    let (mut all, mut other) = (0, Vec::new());
    for lu in database.store().lexunits(release).unwrap() {
        let lu = lu.unwrap();
        let lemma = fnstore::text::plain_lemma(lu.lemma());
        let words: Vec<&str> = lemma.split(' ').collect();
        let 2.. = words.len() else { continue };
        let Some(inflection) = fnstore::text::Inflection::of(lu.pos).first() else { continue };
        let Some(form) = inflect_phrase(&lemma, lu.pos, *inflection).into_iter().next() else {
            continue;
        };
        all += 1;
        let changed: Vec<&str> = words
            .iter()
            .zip(form.split(' '))
            .filter(|(word, form)| word != &form)
            .map(|(word, _)| *word)
            .collect();
        let is_head = |word: &&str| {
            let mut lexemes = lu.lexemes.iter();
            lexemes.any(|lexeme| {
                lexeme.pos == lu.pos && lexeme.name.split(['_', ' ']).any(|part| part == *word)
            })
        };
        if changed.len() != 1 || !changed.iter().all(is_head) {
            other.push(format!("{}: {form}", lu.name));
        }
    }
    println!("{all} multiword LUs, {} with another head: {other:?}", other.len());
    for wrong in ["deeps", "flights test", "sexuallies", "theres"] {
        assert!(other.iter().all(|form| !form.contains(wrong)), "{wrong}: {other:?}");
    }
    assert!(all > 300 && other.len() * 10 < all, "{} of {all}: {other:?}", other.len());
}
