//! Training records as a loader takes them: everything of a set beside it, whether its FEs are
//! complete, three forms of one content, and spacing that tells nobody who wrote a sentence.

use std::io;
use std::path::Path;

use fnstore::database::{Database, Write};
use fnstore::exchange::{Loss, Spacing, TokenFormat, TrainingFormat, WordTagger};
use fnstore::model::{CarriedElement, FeStatus, Provenance, Span};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use serde_json::{Value, json};

use crate::cli_program::{Ran, fnstore, fnstore_in, new_store};
use crate::cli_schema::faults_in;
use crate::{generated, mini};

fn exported(store: &Path, query: &str, more: &[&str]) -> Ran {
    let ran = fnstore_in(store, &[&["export", query][..], more].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran
}

/// Records without tags.
fn records(store: &Path, query: &str, more: &[&str]) -> Vec<Value> {
    let untagged = ["--no-tagger", "--training", "--to", "jsonl"];
    let records = exported(store, query, &[&untagged[..], more].concat()).records();
    for record in &records {
        assert_eq!(faults_in("training-sentence.schema.json", record), [""; 0], "{record}");
    }
    records
}

fn expanded() -> tempfile::TempDir {
    let store = new_store();
    let database = Database::open_writer(store.path()).unwrap();
    let release = database.release("mini-framenet").unwrap().id;
    generated::write(&database, release);
    generated::verify(&database, release, vec![generated::verification()]);
    store
}

#[test]
fn a_set_says_what_it_is_and_what_it_is_worth() {
    let store = expanded();
    let sets: Vec<Value> = records(store.path(), "origin=generated", &[])
        .iter()
        .flat_map(|record| record["sets"].as_array().unwrap().clone())
        .collect();
    let of = |set: &Value, names: &[&str]| -> Vec<Value> {
        names.iter().map(|name| set[*name].clone()).collect()
    };
    let made = ["seed", "source", "round", "flags", "paraphrase", "aligner", "p", "frame_fit"];
    let expected = json!(["x7012", "x7012", 1, [], 0.75, 0.99, null, null]);
    assert_eq!(Value::from(of(&sets[0], &made)), expected);
    let expected = json!(["x7012", "x7012", 2, ["weak-alignment"], 1.25, 0.5, null, null]);
    assert_eq!(Value::from(of(&sets[1], &made)), expected);
    let said = ["evokes", "same_meaning", "reverse"];
    assert_eq!(Value::from(of(&sets[0], &said)), json!([0.75, 0.25, 1.5]));
    assert_eq!(Value::from(of(&sets[1], &said)), json!([null, null, null]));
    let numbers = ["frame_id", "lu_id", "lu_status", "status", "fes_complete"];
    let lu = &sets[1]["lu_id"];
    assert_eq!(
        Value::from(of(&sets[1], &numbers)),
        json!([102, lu, "Proposed", "GENERATED", false])
    );
    assert!(lu.as_u64().unwrap() >= 1 << 31, "a number of the store's own");
}

#[test]
fn the_numbers_of_frames_lus_and_elements_are_those_of_the_lexicon() {
    let store = new_store();
    for record in records(store.path(), "frame=Checking origin=fulltext", &[]) {
        for set in record["sets"].as_array().unwrap() {
            let frame = fnstore(&["show", "frame", "Checking", "--format", "jsonl"]).records();
            assert_eq!(set["frame_id"], frame[0]["id"]);
            let id = set["id"].as_str().unwrap();
            let lus = fnstore(&["query", &format!("id={id}"), "--fields", "lu"]).records();
            assert_eq!(set["lu"], lus[0]["lu"]);
            for element in set["elements"].as_array().unwrap() {
                let all = frame[0]["elements"].as_array().unwrap();
                let named = all.iter().find(|fe| fe["name"] == element["name"]).unwrap();
                assert_eq!(element["id"], named["id"], "{element}");
            }
        }
    }
}

/// Gives g101 a text with room for FEs, what is said of those that its seed has, and FEs of its
/// own.
fn carry(store: &Path, said: &[(&str, bool)], own: &[&str], is_flagged: bool) {
    let database = Database::open_writer(store).unwrap();
    let release = database.release("mini-framenet").unwrap().id;
    let (mut sentence, mut set) = generated::sets(&database, release).remove(0);
    sentence.text = "He verified the figures against the list .".to_owned();
    let Provenance::Generated(made) = &mut set.provenance else { panic!("it is generated") };
    let element = |(name, is_found): &(&str, bool)| CarriedElement {
        name: (*name).to_owned(),
        score: is_found.then_some(0.5),
    };
    made.elements = said.iter().map(element).collect();
    made.flags.lost_element = is_flagged;
    let places = [(0, 2), (12, 23), (24, 40), (41, 42)].map(|(from, to)| Span::new(from, to));
    for (name, place) in own.iter().zip(places) {
        set = set.element(name, place, "", "");
    }
    set.fe_status = FeStatus::Carried;
    let write = Write { sentences: vec![sentence], sets: vec![set], ..Write::default() };
    database.write(release, &write).unwrap();
}

#[test]
fn elements_are_complete_where_people_annotated_them_or_all_of_a_seed_were_carried() {
    let store = expanded();
    let complete = |id: &str| {
        let records = records(store.path(), &format!("id={id}"), &[]);
        let is_complete = records[0]["sets"][0]["fes_complete"].as_bool().unwrap();
        let block = exported(store.path(), &format!("id={id}"), &["--to", "training-conll"]).stdout;
        let masks = |line: &str| line.split('\t').nth(15) == Some("?");
        assert_eq!(block.lines().any(masks), !is_complete, "{block}");
        is_complete
    };
    assert!(complete("x7012"), "people annotated them");
    assert!(!complete("g101"), "nobody looked for them");
    let names = ["Checker", "Matter", "Standard"];
    let found = names.map(|name| (name, true));
    let lost = [found[0], found[1], ("Standard", false)];
    let others = [found[0], found[1], ("Matter", true)];
    let short = &names[..2];
    for (said, own, is_flagged, expected, what) in [
        (&found[..], &names[..], false, true, "as its seed has them"),
        (
            &found[..],
            &["Checker", "Matter", "Standard", "Matter"][..],
            false,
            true,
            "one in two places",
        ),
        (&lost[..], short, false, false, "one was not found"),
        (&found[..], &names[..], true, false, "one was lost on the way"),
        (&found[..2], short, false, false, "the seed has one more"),
        (&others[..], &["Checker", "Matter", "Matter"][..], false, false, "the seed has another"),
        (&found[..], short, false, false, "one was taken away since"),
        (&found[..], &["Checker", "Matter", "Time"][..], false, false, "one was renamed since"),
        (
            &found[..],
            &["Checker", "Matter", "Matter"][..],
            false,
            false,
            "one became another since",
        ),
    ] {
        carry(store.path(), said, own, is_flagged);
        assert_eq!(complete("g101"), expected, "{what}");
    }
    // Of a seed whose FEs nobody annotated nothing is known.
    carry(store.path(), &found, &names, false);
    assert!(complete("g101"));
    let database = Database::open_writer(store.path()).unwrap();
    let release = database.release("mini-framenet").unwrap().id;
    let mut edits = database.transaction(release).unwrap();
    let mut seed = edits.annotation_set(generated::seed()).unwrap().unwrap();
    seed.fe_status = FeStatus::Unannotated;
    edits.set_annotation_set(seed).unwrap();
    edits.commit().unwrap();
    drop(database);
    assert!(!complete("g101"));
}

fn texts_of_spans(record: &Value) -> Vec<(String, String)> {
    let text: Vec<char> = record["text"].as_str().unwrap().chars().collect();
    let mut found = Vec::new();
    let mut walk = vec![record];
    while let Some(value) = walk.pop() {
        match value {
            Value::Array(all) => walk.extend(all),
            Value::Object(all) => {
                walk.extend(all.values());
                if let (Some(start), Some(end)) = (all.get("start"), all.get("end")) {
                    let at = |of: &Value| of.as_u64().unwrap() as usize;
                    let covered: String = text[at(start)..at(end)].iter().collect();
                    found.push((covered, all["text"].as_str().unwrap().to_owned()));
                }
            }
            _ => {}
        }
    }
    found
}

#[test]
fn sentences_are_spaced_alike_and_their_spans_follow() {
    let store = expanded();
    let bare = |text: &str| text.split_whitespace().collect::<String>();
    let stored = records(store.path(), "", &[]);
    for spacing in ["natural", "tokens"] {
        let spaced = records(store.path(), "", &["--spacing", spacing]);
        assert_eq!(spaced.len(), stored.len());
        for (record, before) in spaced.iter().zip(&stored) {
            for (covered, text) in texts_of_spans(record) {
                assert_eq!(covered, text, "{record}");
            }
            let text = record["text"].as_str().unwrap();
            assert_eq!(bare(text), bare(before["text"].as_str().unwrap()));
            let words = |record: &Value| {
                let tokens = record["tokens"].as_array().unwrap().clone();
                tokens.iter().map(|of| of["text"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
            };
            assert_eq!(words(record), words(before));
            if spacing == "tokens" {
                assert_eq!(text, words(record).join(" "));
            } else {
                assert!(!text.contains(" .") && !text.contains("  "), "{text}");
            }
            // Targets, FEs, tokens and masks are of the same characters; white space alone is none.
            let covered = |record: &Value| -> Vec<String> {
                let all = texts_of_spans(record).into_iter().map(|(covered, _)| bare(&covered));
                all.filter(|covered| !covered.is_empty()).collect()
            };
            assert_eq!(covered(record), covered(before));
        }
    }
}

/// A tagger whose tags nobody else has.
struct Numbers;

impl WordTagger for Numbers {
    fn tag_words(
        &self,
        sentences: &[Vec<&str>],
    ) -> Result<Vec<Option<Vec<String>>>, Box<dyn std::error::Error + Send + Sync>> {
        let tags = |words: &Vec<&str>| Some((0..words.len()).map(|at| format!("#{at}")).collect());
        Ok(sentences.iter().map(tags).collect())
    }
}

/// Takes some bytes, and fails.
struct Full(usize);

impl io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn several_forms_are_written_at_once_as_each_alone() {
    const FORMS: [TrainingFormat; 3] =
        [TrainingFormat::Parquet, TrainingFormat::Jsonl, TrainingFormat::Conllu];
    let (_dir, database, _) = mini::imported();
    let export = |forms: &[TrainingFormat]| {
        let mut outs = vec![Vec::new(); forms.len()];
        let files = forms.iter().zip(&mut outs).map(|(form, out)| (*form, out as _)).collect();
        let query = "origin=fulltext".parse().unwrap();
        database.export_training(&query, Spacing::Natural, None, files).unwrap();
        outs
    };
    let alone: Vec<_> = FORMS.iter().flat_map(|form| export(&[*form])).collect();
    assert!(alone.iter().all(|out| out.len() > 100));
    assert_eq!(export(&FORMS), alone);
    // The error is that of the file that takes no more.
    let (mut full, mut other) = (Full(100), Vec::new());
    let files: Vec<(_, &mut (dyn io::Write + Send))> =
        vec![(TrainingFormat::Jsonl, &mut other), (TrainingFormat::Jsonl, &mut full)];
    let query = "".parse().unwrap();
    let error = database.export_training(&query, Spacing::Stored, None, files).unwrap_err();
    let causes = std::iter::successors(Some(&error as &dyn std::error::Error), |of| of.source());
    let said: Vec<String> = causes.map(ToString::to_string).collect();
    assert!(said.iter().any(|of| of.contains("storage")), "{said:?}");
}

#[test]
fn all_tags_are_the_taggers_or_there_are_none() {
    let (_dir, database, _) = mini::imported();
    let query = "origin=fulltext".parse().unwrap();
    let export = |format, tagger| {
        let mut out = Vec::new();
        let files = vec![(format, &mut out as &mut (dyn io::Write + Send))];
        let report = database.export_training(&query, Spacing::Stored, tagger, files).unwrap();
        (out, report)
    };
    let tags = |tagger| -> Vec<Vec<Value>> {
        let (out, _) = export(TrainingFormat::Jsonl, tagger);
        let lines = String::from_utf8(out).unwrap();
        let of_line = |line: &str| {
            let record: Value = serde_json::from_str(line).unwrap();
            record["tokens"].as_array().unwrap().iter().map(|of| of["tag"].clone()).collect()
        };
        lines.lines().map(of_line).collect()
    };
    // FrameNet has tags for these words: the token formats write them.
    let mut conll = Vec::new();
    let report = database.export_tokens(&query, TokenFormat::Conll, None, &mut conll).unwrap();
    assert_eq!(report.losses.count(Loss::NoTags), 0);
    let tagged = tags(Some(&Numbers as &dyn WordTagger));
    for sentence in &tagged {
        let own: Vec<Value> = (0..sentence.len()).map(|at| json!(format!("#{at}"))).collect();
        assert_eq!(*sentence, own);
    }
    let none = tags(None);
    assert!(none.iter().flatten().all(Value::is_null), "those of FrameNet are not mixed in");
    assert_eq!((none.len(), tagged.len() > 1), (tagged.len(), true));
    for format in TrainingFormat::ALL {
        let count = |tagger| export(format, tagger).1.losses.count(Loss::NoTags);
        assert_eq!(count(None), tagged.len() as u64, "{format}");
        assert_eq!(count(Some(&Numbers as &dyn WordTagger)), 0, "{format}");
    }
}

#[test]
fn the_program_says_when_no_sentence_is_tagged() {
    let (store, none) = (new_store(), tempfile::tempdir().unwrap());
    let models = ["--models", none.path().to_str().unwrap()];
    let export = ["--training", "--to", "jsonl", "-"];
    let ran = exported(store.path(), "origin=fulltext", &[&export[..], &models].concat());
    assert!(ran.stderr.contains("words are written without parts of speech: "), "{}", ran.stderr);
    assert!(ran.stderr.contains(&format!("{}  no-tags", ran.records().len())), "{}", ran.stderr);
    let asked =
        exported(store.path(), "origin=fulltext", &[&export[..], &["--no-tagger"]].concat());
    assert!(!asked.stderr.contains("are written without"), "{}", asked.stderr);
    assert_eq!(asked.stdout, ran.stdout);
}

/// A value as a comment has it.
fn fact(value: &Value) -> String {
    match value {
        Value::String(text) if !text.is_empty() => text.replace(' ', "-"),
        Value::Array(all) if !all.is_empty() => {
            all.iter().map(|of| of.as_str().unwrap()).collect::<Vec<_>>().join(";")
        }
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        _ => "_".to_owned(),
    }
}

#[test]
fn a_block_of_conllu_plus_says_what_the_record_says() {
    let store = expanded();
    let records = records(store.path(), "", &[]);
    let plus = exported(store.path(), "", &["--no-tagger", "--to", "conllu-plus"]).stdout;
    let (head, blocks) = plus.split_once('\n').unwrap();
    assert!(head.starts_with("# global.columns = ID FORM LEMMA UPOS XPOS FEATS"), "{head}");
    let columns = head.split(' ').count() - 3;
    let blocks: Vec<&str> = blocks.trim_end().split("\n\n").collect();
    let has_token = |record: &&Value| record["sets"][0]["targets"][0].is_object();
    let records: Vec<&Value> = records.iter().filter(has_token).collect();
    assert_eq!(blocks.len(), records.len());
    for (block, record) in blocks.iter().zip(records) {
        let comment = |name: &str| {
            let begins = format!("# {name} = ");
            block.lines().find_map(|line| line.strip_prefix(&begins))
        };
        assert_eq!(comment("sent_id"), record["sentence"].as_str());
        assert_eq!(comment("text").map(str::trim), record["text"].as_str().map(str::trim));
        let sets = record["sets"].as_array().unwrap();
        let ids: Vec<&str> = comment("set_id").unwrap().split(' ').collect();
        assert!(sets.len() >= ids.len());
        let lines: Vec<Vec<&str>> = block
            .lines()
            .filter(|line| !line.starts_with("# "))
            .map(|line| line.split('\t').collect())
            .collect();
        let tokens = record["tokens"].as_array().unwrap();
        assert_eq!(lines.len(), tokens.len());
        for (at, (line, token)) in lines.iter().zip(tokens).enumerate() {
            assert_eq!(line.len(), columns, "{line:?}");
            assert_eq!(line[1], token["text"].as_str().unwrap());
            assert_eq!(line[13].split('|').count(), ids.len());
            assert_eq!(line[2], token["lemma"].as_str().unwrap());
            let is_next = tokens.get(at + 1).is_some_and(|next| next["start"] == token["end"]);
            let space = if is_next { "SpaceAfter=No|" } else { "" };
            let place = format!("{space}start_char={}|end_char={}", token["start"], token["end"]);
            assert_eq!(line[9], place);
            let stretches = record["unannotated"].as_array().unwrap();
            let is_masked = stretches.iter().any(|of| {
                let at = |of: &Value, name: &str| of[name].as_u64().unwrap();
                at(of, "start") < at(token, "end") && at(token, "start") < at(of, "end")
            });
            for column in [line[10], line[11]] {
                assert_eq!(column.split('|').any(|of| of == "?"), is_masked, "{line:?}");
            }
        }
        for (at, id) in ids.iter().enumerate() {
            let set = sets.iter().find(|set| set["id"] == **id).unwrap();
            let own = (at + 1).to_string();
            let of_target = lines.iter().filter(|line| line[12].split('|').any(|of| of == own));
            let spoken: String = of_target.map(|line| line[1]).collect();
            let spans = set["targets"].as_array().unwrap();
            let target: String = spans.iter().map(|of| of["text"].as_str().unwrap()).collect();
            assert_eq!(spoken, target.split_whitespace().collect::<String>());
            for (name, value) in set.as_object().unwrap() {
                let Some(values) = comment(name).filter(|_| name != "set_id") else { continue };
                let said = values.split(' ').nth(at).unwrap();
                assert_eq!(said, fact(value), "{name}: {block}");
            }
            let is_masked = lines.iter().any(|line| line[13].split('|').nth(at) == Some("?"));
            assert_eq!(is_masked, set["fes_complete"] == false, "{block}");
        }
    }
}

#[test]
fn parquet_has_a_row_for_each_sentence_with_its_part() {
    let store = expanded();
    let beside = tempfile::tempdir().unwrap();
    let (list, file) = (beside.path().join("fold.tsv"), beside.path().join("all.parquet"));
    std::fs::write(&list, "exemplars\t*\tdev\n").unwrap();
    let places = [list.to_str().unwrap(), file.to_str().unwrap()];
    let export = [
        "export",
        "--split-list",
        places[0],
        "--no-tagger",
        "--training",
        "--to",
        "parquet",
        places[1],
    ];
    let ran = fnstore_in(store.path(), &[&export[..], &["--format", "json"]].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["records"]["sentence"], records(store.path(), "", &[]).len());
    let reader = SerializedFileReader::new(std::fs::File::open(&file).unwrap()).unwrap();
    let named = records(store.path(), "", &["--split-list", places[0]]);
    let scores = |name: &str| named.iter().any(|of| of["sets"][0][name].is_f64());
    assert!(
        ["aligner", "paraphrase", "evokes"].into_iter().all(scores),
        "generated ones have them"
    );
    let rows = reader.get_row_iter(None).unwrap().map(|row| record_of(row.unwrap()));
    assert_eq!(rows.collect::<Vec<_>>(), named);
}

/// A row as a record.
fn record_of(row: Row) -> Value {
    let fields = row.into_columns().into_iter();
    Value::Object(fields.map(|(name, field)| (name, value_of(field))).collect())
}

fn value_of(field: Field) -> Value {
    match field {
        Field::Null => Value::Null,
        Field::Bool(it) => it.into(),
        Field::Int(it) => it.into(),
        Field::Long(it) => it.into(),
        Field::Double(it) => it.into(),
        Field::Str(it) => it.into(),
        Field::Group(row) => record_of(row),
        Field::ListInternal(list) => list.elements().iter().cloned().map(value_of).collect(),
        other => panic!("{other:?}"),
    }
}
