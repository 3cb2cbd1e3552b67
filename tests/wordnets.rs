//! A WordNet stands beside the releases: read whole or not at all, seen by its name alone.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use fnstore::database::Database;
use fnstore::internals::WithStore as _;
use fnstore::lexica::WordnetFiles;
use fnstore::model::{Synset, SynsetId, WordClass};

use crate::cli_program::{Ran, fnstore_in, mini_framenet, new_store};
use crate::mini;

fn files() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/mini-wordnet")
}

fn lmf() -> PathBuf {
    files().with_extension("xml")
}

fn run(store: &Path, arguments: &[&str]) -> Ran {
    fnstore_in(store, arguments)
}

fn import(store: &Path, path: &Path) -> Ran {
    run(store, &["import", path.to_str().unwrap(), "--format", "json"])
}

/// Asserts that each line follows its schema.
fn follows(schemas: &[&str], ran: &Ran) {
    assert_eq!(ran.stdout.lines().count(), schemas.len(), "{ran:?}");
    for (schema, line) in schemas.iter().zip(ran.stdout.lines()) {
        let line = Ran { code: None, stdout: line.to_owned(), stderr: String::new() };
        line.document(schema);
    }
}

/// A synset without what the two formats number in their own ways.
fn content(of: &WordnetFiles, synset: &Synset) -> (BTreeSet<String>, Vec<String>) {
    let members =
        |id: SynsetId| of.synsets.iter().find(|other| other.id == id).unwrap().members.join(", ");
    let relations = synset.relations.iter();
    let relations =
        relations.map(|it| format!("{} {} {:?}", it.kind, members(it.target), it.words));
    let Synset { class, topic, members, definitions, examples, is_satellite, .. } = synset;
    let said = vec![
        is_satellite.to_string(),
        class.as_str().to_owned(),
        topic.clone(),
        members.join(", "),
        definitions.join("; "),
        examples.join("; "),
    ];
    (relations.collect(), said)
}

#[test]
fn both_formats_of_one_wordnet_are_read_alike() {
    let [files, lmf] = [files(), lmf()].map(|path| WordnetFiles::read(&path).unwrap());
    let contents = |of: &WordnetFiles| -> BTreeSet<_> {
        of.synsets.iter().map(|synset| content(of, synset)).collect()
    };
    assert_eq!(contents(&files), contents(&lmf));
    assert_eq!(contents(&files).len(), 21);
    assert_eq!(files.counts(), lmf.counts());
    assert_eq!(files.irregular, lmf.irregular);
    let words = |of: &WordnetFiles| -> Vec<_> {
        of.words.iter().map(|word| (word.class, word.lemma.clone(), word.senses.len())).collect()
    };
    assert_eq!(words(&files), words(&lmf));
    assert_eq!((&*files.name, &*files.version), ("wordnet-0.1", "0.1"));
    assert_eq!((&*lmf.name, &*lmf.licence), ("mini-0.1", "https://opensource.org/license/mit"));
    assert!(files.licence.ends_with("Licence: MIT OR Apache-2.0."), "{}", files.licence);
    let ili = |of: &WordnetFiles| of.synsets.iter().filter(|synset| synset.ili.is_some()).count();
    assert_eq!((ili(&files), ili(&lmf)), (0, 21));
}

/// What a check says of releases; its numbers of rows and of the revision are the store's.
fn findings(check: &str) -> String {
    let record: serde_json::Value = serde_json::from_str(check).unwrap();
    let rows = &record["rows"];
    format!("{} {} {}", record["findings"], rows["annotation"], record["index_entries"])
}

#[test]
fn no_command_about_releases_changes_because_another_lexicon_is_there() {
    let store = new_store();
    let commands: [&[&str]; 16] = [
        &["query", "frame=Checking"],
        &["query", "trigger=check*", "--count-by", "frame"],
        &["query", "frame=Checking", "--count"],
        &["frames"],
        &["lus"],
        &["fes"],
        &["relations"],
        &["semtypes"],
        &["sentences"],
        &["stats"],
        &["show", "frame", "Checking"],
        &["export", "--to", "csv"],
        &["export", "--to", "jsonl"],
        &["check", "--deep", "--format", "json"],
        &["proposals"],
        &["changes"],
    ];
    let said = || {
        commands.map(|command| {
            let Ran { code, stdout, stderr } = run(store.path(), command);
            let is_check = command[0] == "check";
            (command, code, if is_check { findings(&stdout) } else { stdout }, stderr)
        })
    };
    let before = said();
    assert!(before.iter().filter(|(_, _, stdout, _)| !stdout.is_empty()).count() > 11);
    assert_eq!(import(store.path(), &files()).code, Some(0));
    assert_eq!(import(store.path(), &lmf()).code, Some(0));
    for other in ["mini-verbnet", "mini-propbank", "mini-semlink"] {
        assert_eq!(import(store.path(), &files().with_file_name(other)).code, Some(0));
    }
    for (after, before) in said().into_iter().zip(before) {
        assert_eq!(after, before);
    }
    let database = Database::open(store.path()).unwrap();
    // What Python goes over, and takes where no release is named.
    let names = database.lexicons().unwrap().into_iter().map(|of| of.release().name.clone());
    assert_eq!(names.collect::<Vec<_>>(), ["mini-framenet"]);
    assert_eq!(database.releases().unwrap().len(), 1);
}

#[test]
fn it_is_listed_with_its_kind_and_removed_by_its_name() {
    let store = new_store();
    let import = import(store.path(), &files());
    let record = import.document("import-resource.schema.json");
    assert_eq!(
        (&record["name"], &record["counts"]["synsets"]),
        (&"wordnet-0.1".into(), &21.into())
    );
    let listed = run(store.path(), &["releases"]);
    let [release, wordnet] = &listed.records()[..] else { panic!("{listed:?}") };
    assert_eq!((&release["kind"], &wordnet["kind"]), (&"framenet".into(), &"wordnet".into()));
    follows(&["release.schema.json", "resource.schema.json"], &listed);
    let table = run(store.path(), &["releases", "--format", "csv"]).stdout;
    assert!(table.contains("\nwordnet-0.1,en,,,,,,"), "{table}");
    assert!(table.ends_with(",wordnet\n"), "{table}");
    let near = run(store.path(), &["releases", "remove", "wordnet-0.2", "--yes"]);
    assert!(near.code == Some(2) && near.stderr.contains("`wordnet-0.1`"), "{near:?}");
    let removed = run(store.path(), &["releases", "remove", "wordnet-0.1", "--yes"]);
    assert_eq!(removed.code, Some(0), "{removed:?}");
    assert_eq!(run(store.path(), &["releases"]).records().len(), 1);
    assert_eq!(run(store.path(), &["synsets", "inspect"]).code, Some(1));
    assert_eq!(run(store.path(), &["check", "--deep"]).code, Some(0));
}

#[test]
fn a_second_import_of_a_name_is_refused_whatever_has_the_name() {
    let store = new_store();
    assert_eq!(import(store.path(), &files()).code, Some(0));
    let again = import(store.path(), &files());
    assert!(again.stderr.contains("E-release-exists"), "{again:?}");
    let path = lmf();
    let arguments = ["import", path.to_str().unwrap(), "--release", "mini-framenet"];
    assert!(run(store.path(), &arguments).stderr.contains("E-release-exists"));
    let framenet = mini::framenet();
    let arguments = ["import", framenet.to_str().unwrap(), "--release", "wordnet-0.1"];
    assert!(run(store.path(), &arguments).stderr.contains("E-release-exists"));
    assert_eq!(run(store.path(), &["releases"]).records().len(), 2);
    assert_eq!(run(store.path(), &["check", "--deep"]).code, Some(0));
}

#[test]
fn it_comes_back_with_a_backup_and_takes_no_part_in_undo() {
    let (store, backups) = (new_store(), tempfile::tempdir().unwrap());
    assert_eq!(import(store.path(), &files()).code, Some(0));
    let backup = backups.path().join("b");
    let (to, said) = (backup.to_str().unwrap(), run(store.path(), &["synsets", "vet.v"]));
    assert_eq!(run(store.path(), &["backup", to]).code, Some(0));
    let restored = backups.path().join("r");
    assert_eq!(run(&restored, &["restore", to]).code, Some(0));
    assert_eq!(run(&restored, &["synsets", "vet.v"]).stdout, said.stdout);
    let history = run(store.path(), &["history"]).records();
    let last = history.iter().filter_map(|commit| commit["revision"].as_u64()).max().unwrap();
    let undone = run(store.path(), &["undo", &last.to_string()]);
    assert!(undone.stderr.contains("E-undo"), "{undone:?}");
    assert_eq!(run(store.path(), &["synsets", "vet.v"]).stdout, said.stdout);
}

#[test]
fn what_is_compressed_is_read_and_what_is_cut_off_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mini.xml.gz");
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(&fs::read(lmf()).unwrap()).unwrap();
    let packed = packed.finish().unwrap();
    fs::write(&path, &packed).unwrap();
    let (plain, unpacked) =
        (WordnetFiles::read(&lmf()).unwrap(), WordnetFiles::read(&path).unwrap());
    assert_eq!((plain.synsets, plain.words), (unpacked.synsets, unpacked.words));
    assert_eq!(unpacked.bytes, packed.len() as u64);
    // A folder with one such file among others is that file.
    fs::write(dir.path().join("LICENSE"), "own").unwrap();
    assert_eq!(WordnetFiles::read(dir.path()).unwrap().name, "mini-0.1");
    fs::write(&path, &packed[..packed.len() / 2]).unwrap();
    let store = dir.path().join("store");
    let refused = import(&store, &path);
    assert!(refused.code == Some(65) && refused.stderr.contains("L-gzip"), "{refused:?}");
    assert!(Database::open(&store).is_err());
}

/// A copy of the files in which a text is another.
fn with(to: &Path, file: &str, [from, by]: [&str; 2]) {
    mini::copy(&files(), to);
    let text = fs::read_to_string(to.join(file)).unwrap();
    assert!(text.contains(from), "{file}: {from}");
    fs::write(to.join(file), text.replacen(from, by, 1)).unwrap();
}

#[test]
fn a_damaged_file_is_told_with_its_line_and_leaves_the_store_as_it_was() {
    let store = new_store();
    let before = run(store.path(), &["history"]).stdout;
    for (file, change, said) in [
        ("data.verb", [" | turn eyes", " turn eyes"], "L-line: data.verb:5: no `|`"),
        ("data.verb", ["31 v 03 examine", "31 v zz examine"], "L-line: data.verb:6: `zz`"),
        (
            "data.verb",
            ["@ 00000433 v", "@ 00000999 v"],
            "L-reference: data.verb:7: synset `00000999`",
        ),
        (
            "index.verb",
            ["0 00000848", "0 00000849"],
            "L-reference: index.verb:7: synset `00000849`",
        ),
        ("noun.exc", ["mice mouse", "mice"], "L-line: noun.exc:2: `mice` alone"),
        ("index.verb", ["check v 1 1 @ 1 0", "check n 1 1 @ 1 0"], "index.verb:9: a word of `n`"),
        ("index.verb", ["check v 1 1 @ 1 0", "check v 1 1 @ 2 0"], "index.verb:9: 2 senses"),
        ("index.verb", ["v 1 0 1 0 00001691  ", "v 1 0 1 0 00001691 7"], "index.verb:5: `7`"),
        ("index.verb", ["\nvet v", "\nvett v"], "data.verb:6: `vet`, which the index"),
        (
            "data.verb",
            ["+ 00000375 n 0101", "+ 00000375 n 0301"],
            "data.verb:7: a pointer from word 3",
        ),
        (
            "data.verb",
            ["+ 00000375 n 0101", "+ 00000375 n 0104"],
            "data.verb:7: a pointer to word 4",
        ),
        ("data.verb", ["01 + 08 00 | ride", "01 + 08 03 | ride"], "data.verb:14: a sentence frame"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        with(dir.path(), file, change);
        let refused = import(store.path(), dir.path());
        assert_eq!(refused.code, Some(65), "{refused:?}");
        assert!(refused.stderr.contains(said), "{said}: {refused:?}");
    }
    let dir = tempfile::tempdir().unwrap();
    mini::copy(&files(), dir.path());
    fs::remove_file(dir.path().join("index.adv")).unwrap();
    let refused = import(store.path(), dir.path());
    assert!(refused.stderr.contains("lacks `index.adv`"), "{refused:?}");
    let text = fs::read_to_string(lmf()).unwrap();
    for ([from, by], said) in [
        (["<Definition>turn", "<Definition>&t; turn"], "the entity `&t;`"),
        (["synset=\"mini-attend-v\"", "synset=\"none\""], "L-reference: w.xml:8: synset `none`"),
        (["</LexicalResource>", ""], "L-line: w.xml:"),
        (["partOfSpeech=\"v\"", "partOfSpeech=\"q\""], "the part of speech `q`"),
        (["<Lexicon ", "<LexiconExtension "], "w.xml:5: a `LexiconExtension`"),
        (
            ["<Form writtenForm=\"vetted\"/>", "<SenseRelation relType=\"also\" target=\"x\"/>"],
            "alone",
        ),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("w.xml");
        fs::write(&path, text.replacen(from, by, 1)).unwrap();
        let refused = import(store.path(), &path);
        assert!(refused.code == Some(65) && refused.stderr.contains(said), "{said}: {refused:?}");
    }
    assert_eq!(run(store.path(), &["history"]).stdout, before);
    assert_eq!(run(store.path(), &["check"]).code, Some(0));
}

#[test]
fn a_form_leads_to_the_synsets_of_its_lemma() {
    let store = new_store();
    assert_eq!(import(store.path(), &files()).code, Some(0));
    let database = Database::open(store.path()).unwrap();
    let wordnet = database.wordnet("wordnet-0.1").unwrap();
    for (form, class, first) in [
        ("vetted", WordClass::Verb, "examine"),
        ("inspecting", WordClass::Verb, "inspect"),
        ("went over", WordClass::Verb, "check"),
        ("mice", WordClass::Noun, "mouse"),
        ("Surveys", WordClass::Noun, "inspection"),
        ("a.m.", WordClass::Adverb, "a.m."),
    ] {
        let synsets = wordnet.synsets_of(form, class).unwrap();
        assert_eq!(synsets.first().map(|synset| &*synset.members[0]), Some(first), "{form}");
    }
    for (form, class) in [("mice", WordClass::Verb), ("vetted", WordClass::Noun)] {
        assert!(wordnet.synsets_of(form, class).unwrap().is_empty(), "{form}");
    }
    // A form of several words has the synsets of each.
    let words = wordnet.words_of("axes", WordClass::Noun).unwrap();
    assert_eq!(words.iter().map(|word| &*word.lemma).collect::<Vec<_>>(), ["axe", "axis", "ax"]);
    for (asked, ids) in [("a.m.", 1), ("a.m..r", 1), ("00000677-v", 1), ("00000677-n", 0)] {
        let shown = run(store.path(), &["synsets", asked]);
        assert_eq!(shown.stdout.lines().count(), ids, "{asked}: {shown:?}");
    }
    let shown = run(store.path(), &["synsets", "scrutiny.n"]);
    follows(&["synset.schema.json"], &shown);
    assert!(shown.stdout.contains("\"kind\":\"derivation\""), "{shown:?}");
    assert_eq!(import(store.path(), &lmf()).code, Some(0));
    let joined = run(store.path(), &["synsets", "x3"]).records();
    assert_eq!(joined.iter().map(|row| &row["id"]).collect::<Vec<_>>(), ["mini-inspect-v"]);
    let unknown = run(store.path(), &["synsets", "vet.v", "--wordnet", "wordnet-0.2"]);
    assert!(unknown.stderr.contains("`wordnet-0.1`"), "{unknown:?}");
}

#[test]
fn a_killed_import_leaves_nothing_to_be_seen_and_the_next_one_is_whole() {
    let store = new_store();
    let files = WordnetFiles::read(&files()).unwrap();
    {
        let database = Database::open_existing_writer(store.path()).unwrap();
        let id = database.store().begin_release().unwrap();
        let mut batch = database.store().batch(id);
        for synset in &files.synsets {
            batch.put_synset(&Synset { topic: "left".to_owned(), ..synset.clone() }).unwrap();
        }
        database.store().write_unlisted(batch).unwrap();
    }
    assert_eq!(run(store.path(), &["check", "--deep"]).code, Some(0));
    assert_eq!(run(store.path(), &["synsets", "vet"]).code, Some(1));
    assert_eq!(import(store.path(), &lmf()).code, Some(0));
    let database = Database::open(store.path()).unwrap();
    let wordnet = database.wordnet("mini-0.1").unwrap();
    let topics: Vec<_> = wordnet.synsets().unwrap().map(|synset| synset.unwrap().topic).collect();
    assert!(topics.len() == 21 && topics.iter().all(|topic| topic != "left"), "{topics:?}");
}

#[test]
fn what_is_removed_and_imported_again_is_as_it_was_under_a_new_number() {
    let store = new_store();
    assert_eq!(import(store.path(), &files()).code, Some(0));
    let said = run(store.path(), &["synsets", "vet"]).stdout;
    let number = || Database::open(store.path()).unwrap().resource("wordnet-0.1").unwrap().id;
    let first = number();
    let removed = run(store.path(), &["releases", "remove", "wordnet-0.1", "--yes"]);
    assert_eq!(removed.code, Some(0), "{removed:?}");
    assert_eq!(import(store.path(), &files()).code, Some(0));
    assert_eq!(run(store.path(), &["synsets", "vet"]).stdout, said);
    assert!(number() > first);
    assert_eq!(run(store.path(), &["check", "--deep"]).code, Some(0));
}

#[test]
fn its_file_beside_a_framenet_does_not_take_the_place_of_that() {
    let dir = tempfile::tempdir().unwrap();
    let (root, store) = (dir.path().join("release"), dir.path().join("store"));
    mini::copy(&mini_framenet(), &root);
    fs::copy(lmf(), root.join("wordnet.xml")).unwrap();
    let ran = import(&store, &root);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let listed = run(&store, &["releases"]).records();
    assert_eq!((listed.len(), &listed[0]["kind"]), (1, &"framenet".into()));
}

#[test]
fn a_damaged_record_of_it_stops_nothing_else_and_is_repaired() {
    let store = new_store();
    assert_eq!(import(store.path(), &files()).code, Some(0));
    let asked = run(store.path(), &["query", "frame=Checking"]).stdout;
    let options = rocksdb::Options::default();
    let path = store.path().join("db");
    let families = rocksdb::DB::list_cf(&options, &path).unwrap();
    {
        let rows = rocksdb::DB::open_cf(&options, &path, families).unwrap();
        rows.put_cf(rows.cf_handle("resource").unwrap(), [0, 2], b"\x01no").unwrap();
    }
    let checked = run(store.path(), &["check"]);
    assert!(checked.stdout.contains("C-record"), "{checked:?}");
    assert_eq!(run(store.path(), &["query", "frame=Checking"]).stdout, asked);
    let edited = run(store.path(), &["edition", "create", "all", "origin=exemplar"]);
    assert_eq!(edited.code, Some(0), "{edited:?}");
    let mini = mini_framenet();
    let other = run(store.path(), &["import", "--release", "other", mini.to_str().unwrap()]);
    assert_eq!(other.code, Some(0), "{other:?}");
    let backup = tempfile::tempdir().unwrap();
    let saved = run(store.path(), &["backup", backup.path().join("b").to_str().unwrap()]);
    assert_eq!(saved.code, Some(0), "{saved:?}");
    let repaired = run(store.path(), &["check", "--repair", "--yes"]);
    assert_eq!(repaired.code, Some(0), "{repaired:?}");
    assert_eq!(run(store.path(), &["check", "--deep"]).code, Some(0));
    assert_eq!(import(store.path(), &files()).code, Some(0));
    assert_eq!(run(store.path(), &["releases"]).records().len(), 3);
}

#[test]
fn a_store_of_a_wordnet_alone_has_no_release() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(import(dir.path(), &files()).code, Some(0));
    let asked = run(dir.path(), &["frames"]);
    assert!(asked.stderr.contains("the store has no release"), "{asked:?}");
    assert_eq!(run(dir.path(), &["releases"]).records().len(), 1);
}
