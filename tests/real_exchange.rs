//! JSON lines and the split on FrameNet 1.5 itself, where it is at hand.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};

use fnstore::database::Database;
use fnstore::exchange::TokenFormat;
use fnstore::model::Split;
use serde_json::Value;

use crate::cli_schema::faults_in;
use crate::{mini, real_framenet};

#[test]
fn framenet_1_5_goes_out_as_json_lines_and_comes_back_the_same() {
    let Some(archive) = real_framenet::archive() else { return };
    let dir = tempfile::tempdir().unwrap();
    let database = Database::open_writer(&dir.path().join("first")).unwrap();
    mini::import(&database, &archive).unwrap();
    let export = |database: &Database, name: &str| {
        let path = dir.path().join(name);
        let mut file = std::io::BufWriter::new(File::create(&path).unwrap());
        let everything = "".parse().unwrap();
        let export = database.export_jsonl(&everything, false, &mut file).unwrap().unwrap();
        (path, export.records)
    };
    let (first, records) = export(&database, "first.jsonl");
    assert_eq!(records.values().sum::<u64>() + 2, lines(&first).count() as u64 - 1);

    let back = Database::open_writer(&dir.path().join("second")).unwrap();
    let report = back.import_jsonl(&first, None, &mut |_| {}).unwrap();
    assert_eq!(report.written, records);
    let (second, _) = export(&back, "second.jsonl");
    let different = lines(&first).zip(lines(&second)).position(|(a, b)| a != b);
    assert_eq!(different, None, "the line from which on the exports differ");

    let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
    for line in lines(&first) {
        let record: Value = serde_json::from_str(&line).unwrap();
        let kind = record["kind"].as_str().unwrap();
        let schema = format!("jsonl-{}.schema.json", kind.replace('_', "-"));
        assert_eq!(faults_in(&schema, &record), [""; 0], "{line}");
        *kinds.entry(kind.to_owned()).or_default() += 1;
    }
    assert_eq!((kinds["set"], kinds["frame"]), (154_607 + 23_944, 1_020));
    neighbours_and_wide_labels(&database);
}

/// Two targets of one LU side by side are told apart, and a word inside of a label that is too wide
/// keeps the tag of its own.
fn neighbours_and_wide_labels(database: &Database) {
    let columns = |query: &str, columns: [usize; 3]| {
        let (mut out, expression) = (Vec::new(), query.parse().unwrap());
        database.export_training_tokens(&expression, TokenFormat::Conll, None, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let row = |line: &str| {
            let fields: Vec<&str> = line.split('\t').collect();
            columns.map(|at| fields[at - 1].to_owned())
        };
        text.lines().filter(|line| !line.is_empty()).map(row).collect::<Vec<_>>()
    };
    // The sentence f1277635, "for many many months".
    let rows = columns("id=f2017121 or id=f2017122", [2, 13, 15]);
    let many: Vec<_> = rows.iter().filter(|[form, ..]| form == "many").collect();
    assert_eq!(many, [&["many", "many.a", "1"], &["many", "many.a", "2"]]);
    // The sentence x1477777: `neck was ` is a noun, and `was` a verb.
    let rows = columns("id=x2402634", [2, 4, 5]);
    let at = rows.iter().position(|[form, ..]| form == "neck").unwrap();
    assert_eq!(rows[at..at + 2], [["neck", "neck", "nn"], ["was", "be", "VBD"]]);
}

fn lines(path: &std::path::Path) -> impl Iterator<Item = String> {
    BufReader::new(File::open(path).unwrap()).lines().map(Result::unwrap)
}

#[test]
fn the_split_is_the_one_that_is_handed_around() {
    let Some(archive) = real_framenet::archive() else { return };
    let list = archive.with_file_name("splits").join("framenet-1.5-fulltext.tsv");
    if !list.exists() {
        skipped!("there is no {}", list.display());
        return;
    }
    let mut documents = 0;
    for line in lines(&list) {
        let Some((file, part)) = line.split_once('\t') else { panic!("{line}") };
        let Some(stem) = file.strip_suffix(".xml") else { continue };
        assert_eq!(Split::of_document(stem).as_str(), part, "{file}");
        documents += 1;
    }
    assert_eq!(documents, 78);
}
