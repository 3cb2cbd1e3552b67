//! VerbNet, PropBank, SemLink and the Predicate Matrix stand beside the releases: read whole or not
//! at all, seen by their names alone.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use fnstore::database::Database;
use fnstore::lexica::{MappingFiles, PredicateFiles};
use fnstore::model::{Mapping, Predicate, ResourceKind};

use crate::cli_program::{Ran, fnstore_in, new_store};
use crate::mini;

fn files(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn import(store: &Path, path: &Path) -> Ran {
    fnstore_in(store, &["import", path.to_str().unwrap(), "--format", "json"])
}

fn predicates(path: &Path) -> Vec<Predicate> {
    PredicateFiles::read(path).unwrap().predicates
}

fn names(all: &[Predicate]) -> Vec<&str> {
    all.iter().map(|of| &*of.name).collect()
}

#[test]
fn a_class_has_its_words_roles_and_frames_and_its_subclasses() {
    let read = PredicateFiles::read(&files("mini-verbnet")).unwrap();
    assert_eq!((read.kind, &*read.name), (ResourceKind::Verbnet, "mini-verbnet"));
    assert_eq!(read.licence, "MIT OR Apache-2.0");
    assert_eq!(names(&read.predicates), ["check-35.9", "check-35.9-1", "mend-26.8"]);
    let [check, inner, _] = &read.predicates[..] else { panic!() };
    let [first, second] = &check.members[..] else { panic!("{check:?}") };
    assert_eq!((&*first.lemma, &*first.pos), ("check", "v"));
    assert_eq!(first.senses, ["check%2:31:00"]);
    assert_eq!(first.frames, ["Checking"]);
    assert_eq!(first.groupings, ["check.01", "check.02"]);
    // What a file calls uncertain, or nothing, is a sense, and nothing.
    assert_eq!((&*second.lemma, &second.frames[..]), ("look into", &[][..]));
    assert_eq!(second.senses, ["look_into%2:31:00"]);
    let roles: Vec<_> = check.roles.iter().map(|of| (&*of.name, &*of.description)).collect();
    assert_eq!(roles, [("Agent", "+animate or +organization"), ("Theme", "")]);
    let [frame] = &check.frames[..] else { panic!("{check:?}") };
    assert_eq!((&*frame.name, &*frame.examples[0]), ("NP V NP", "The baker checked the oven."));
    let parts: Vec<_> = frame.parts.iter().map(|of| (&*of.name, &*of.value)).collect();
    assert_eq!(parts, [("NP", "Agent"), ("VERB", ""), ("NP", "Theme")]);
    assert_eq!((&*inner.parent, inner.roles.len(), &*check.parent), ("check-35.9", 1, ""));
    // One file is a lexicon, too.
    assert_eq!(names(&predicates(&files("mini-verbnet/mend-26.8.xml"))), ["mend-26.8"]);
}

#[test]
fn a_roleset_has_its_words_arguments_and_links_in_both_forms() {
    let read = PredicateFiles::read(&files("mini-propbank")).unwrap();
    assert_eq!((read.kind, &*read.version), (ResourceKind::Propbank, "3.4"));
    let [check, phrasal, older] = &read.predicates[..] else { panic!("{read:?}") };
    assert_eq!(
        [&*check.name, &*phrasal.name, &*older.name],
        ["check.01", "check_in.02", "inspect.01"]
    );
    assert_eq!(check.definition, "look whether something is as it should be");
    let words: Vec<_> = check.members.iter().map(|of| (&*of.lemma, &*of.pos)).collect();
    assert_eq!(words, [("check", "v"), ("checking", "n")]);
    assert_eq!(phrasal.members[0].lemma, "check in");
    assert_eq!(phrasal.members[0].frames, ["Checking"]);
    let links = |of: &[fnstore::model::PredicateLink]| -> Vec<String> {
        of.iter().map(|it| format!("{} {} {}", it.resource, it.predicate, it.role)).collect()
    };
    assert_eq!(links(&check.links), ["FrameNet Checking ", "VerbNet check-35.9 "]);
    assert_eq!(links(&phrasal.links), ["VerbNet 35.9 "]);
    let first = &check.roles[0];
    assert_eq!((&*first.name, &*first.description, &*first.function), ("0", "checker", "PAG"));
    assert_eq!(links(&first.links), ["VerbNet check-35.9 agent", "FrameNet Checking checker"]);
    let parts: Vec<_> = check.frames[0].parts.iter().map(|of| (&*of.name, &*of.value)).collect();
    let said =
        [("ARG0", "The pilot"), ("ARG1", "the wing"), ("ARG2", "for ice"), ("REL", "checked")];
    assert_eq!(parts, said);
    assert_eq!((&*older.members[0].lemma, &*older.members[0].pos), ("inspect", "v"));
    assert_eq!(links(&older.links), ["VerbNet 35.9-1 ", "FrameNet Checking "]);
    assert_eq!(links(&older.roles[1].links), ["VerbNet 35.9-1 theme"]);
    assert_eq!(older.frames[0].parts[0].name, "ARG0");
    // The folder with `frames` in it is PropBank, too.
    let root = tempfile::tempdir().unwrap();
    mini::copy(&files("mini-propbank"), &root.path().join("frames"));
    assert_eq!(predicates(root.path()).len(), 3);
}

#[test]
fn rows_that_join_lexicons_are_read_from_every_form_each_once() {
    let read = MappingFiles::read(&files("mini-semlink")).unwrap();
    let said = |of: &Mapping| {
        [&of.lemma, &of.sense, &of.class, &of.class_role, &of.roleset, &of.argument, &of.frame]
            .into_iter()
            .chain([&of.lexunit, &of.element])
            .map(|part| if part.is_empty() { "-" } else { part })
            .collect::<Vec<_>>()
            .join(" ")
    };
    let rows: BTreeSet<String> = read.mappings.iter().map(said).collect();
    let expected = [
        "- - 35.9 Agent - - Checking - Checker",
        "- - 35.9 Theme - - Checking - Matter",
        "audit - 35.9-1 - - - Checking - -",
        "audit audit%2:41:00 35.9-1 Agent audit.01 0 Checking audit.v Checker",
        "check - 35.9 - - - Checking - -",
        "check - 35.9 agent check.01 0 - - -",
        "check - 35.9 theme check.01 1 - - -",
        "inspect - 35.9-1 - - - Checking - -",
        "inspect - 35.9-1 - inspect.01 - - - -",
        "inspection - - - - - Checking inspection.n Matter",
        "mend - 26.8 - - - Repairing - -",
        "repair - 26.8 Agent repair.01 0 - - -",
        "repair - 26.8 Patient repair.01 1 - - -",
    ];
    assert_eq!(rows, expected.map(str::to_owned).into());
    assert_eq!(rows.len(), read.mappings.len());
    // The older file of classes and frames, of the same rows as the newer.
    let dir = tempfile::tempdir().unwrap();
    let text = "<verbnet-framenet_MappingData><vncls class='35.9' fnframe='Checking' \
                vnmember='check'/></verbnet-framenet_MappingData>";
    fs::write(dir.path().join("vn-fn.s"), text).unwrap();
    let older = MappingFiles::read(dir.path()).unwrap();
    assert_eq!(
        older.mappings.iter().map(said).collect::<Vec<_>>(),
        ["check - 35.9 - - - Checking - -"]
    );
}

#[test]
fn each_is_listed_asked_by_name_and_removed() {
    let store = new_store();
    for (name, kind, counted) in [
        ("mini-verbnet", "verbnet", ("predicates", 3)),
        ("mini-propbank", "propbank", ("predicates", 3)),
        ("mini-semlink", "mappings", ("mappings", 13)),
    ] {
        let record = import(store.path(), &files(name));
        let record = record.document("import-resource.schema.json");
        assert_eq!((&record["name"], &record["kind"]), (&name.into(), &kind.into()));
        assert_eq!(record["counts"][counted.0], counted.1);
        assert_eq!(record["licence"], "MIT OR Apache-2.0");
    }
    let ask = |arguments: &[&str]| {
        let ran = fnstore_in(store.path(), &[&["predicates"], arguments].concat());
        for line in ran.stdout.lines() {
            let line = Ran { code: None, stdout: line.to_owned(), stderr: String::new() };
            line.document("predicate.schema.json");
        }
        let rows = ran.records();
        rows.iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ask(&["check"]), ["check-35.9", "check.01"]);
    assert_eq!(ask(&["Checking.n"]), ["check.01"]);
    assert_eq!(ask(&["check.a"]), [""; 0]);
    assert_eq!(ask(&["check in"]), ["check_in.02"]);
    assert_eq!(ask(&["inspect", "--resource", "mini-verbnet"]), ["check-35.9-1"]);
    assert_eq!(ask(&["35.9-1"]), ["check-35.9-1"]);
    assert_eq!(ask(&["check-35.9"]), ["check-35.9"]);
    assert_eq!(ask(&["inspect.01"]), ["inspect.01"]);
    assert_eq!(ask(&["check", "--limit", "1"]), ["check-35.9"]);
    let table = fnstore_in(store.path(), &["predicates", "check.v", "--format", "csv"]).stdout;
    assert!(table.starts_with("resource,kind,name,parent,definition\n"), "{table}");
    for (arguments, said) in [
        (["predicates", "check", "--resource", "mini-verbnt"], "`mini-verbnet`"),
        (["predicates", "check", "--resource", "mini-semlink"], "no VerbNet or PropBank"),
        (["synsets", "check", "--wordnet", "mini-verbnet"], "no WordNet"),
    ] {
        let refused = fnstore_in(store.path(), &arguments);
        assert!(refused.code == Some(2) && refused.stderr.contains(said), "{refused:?}");
    }
    let database = Database::open(store.path()).unwrap();
    assert_eq!(database.mappings("mini-semlink").unwrap().count(), 13);
    drop(database);
    for name in ["mini-verbnet", "mini-propbank", "mini-semlink"] {
        let removed = fnstore_in(store.path(), &["releases", "remove", name, "--yes"]);
        assert!(removed.code == Some(0) && removed.stderr.contains(name), "{removed:?}");
    }
    assert_eq!(ask(&["check"]), [""; 0]);
    assert_eq!(fnstore_in(store.path(), &["check", "--deep"]).code, Some(0));
}

#[test]
fn a_damaged_file_is_told_with_its_line_and_leaves_the_store_as_it_was() {
    let store = new_store();
    let before = fnstore_in(store.path(), &["history"]).stdout;
    for (name, file, [from, by], said) in [
        (
            "mini-verbnet",
            "check-35.9.xml",
            ["name=\"check\"", ""],
            "check-35.9.xml:5: `MEMBER` without `name`",
        ),
        (
            "mini-verbnet",
            "check-35.9.xml",
            ["type=\"Theme\"", "type=\"\""],
            "xml:15: `THEMROLE` without",
        ),
        ("mini-verbnet", "check-35.9.xml", ["</VNSUBCLASS>", ""], "L-line: check-35.9.xml:"),
        (
            "mini-verbnet",
            "mend-26.8.xml",
            ["mend-26.8", "check-35.9"],
            "L-repeated: mend-26.8.xml:2: predicate",
        ),
        ("mini-verbnet", "mend-26.8.xml", ["mended", "&mended;"], "the entity `&mended;`"),
        (
            "mini-propbank",
            "check.xml",
            ["id=\"check.01\"", ""],
            "check.xml:5: `roleset` without `id`",
        ),
        ("mini-propbank", "check.xml", ["lemma=\"check\"", ""], "check.xml:4: `predicate` without"),
        ("mini-propbank", "check.xml", ["n=\"2\"", ""], "check.xml:22: `role` without `n`"),
        (
            "mini-semlink",
            "vn-fn2.json",
            ["[\"Repairing\"]", "7"],
            "vn-fn2.json:4: `26.8-mend` with `7`",
        ),
        ("mini-semlink", "vn-fn2.json", ["}", ""], "L-line: vn-fn2.json:5: "),
        ("mini-semlink", "pb-vn2.json", ["\"agent\"", "[]"], "pb-vn2.json:1: `check.01` with"),
        ("mini-semlink", "roles.s", ["vnrole='Agent'", ""], "roles.s:5: `role` without `vnrole`"),
        ("mini-semlink", "vnpb.xml", ["vn-class=\"26.8\"", ""], "vnpb.xml:3: `argmap` without"),
        (
            "mini-semlink",
            "PredicateMatrix.txt",
            ["\tpb:NULL\n", "\n"],
            "PredicateMatrix.txt:3: 16 cells",
        ),
        (
            "mini-semlink",
            "PredicateMatrix.txt",
            ["13_FN_FRAME\t", "13_F\t"],
            "txt:1: no column `FN_FRAME`",
        ),
    ] {
        let dir = tempfile::tempdir().unwrap();
        mini::copy(&files(name), dir.path());
        let path = dir.path().join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{file}: {from}");
        fs::write(path, text.replacen(from, by, 1)).unwrap();
        let refused = import(store.path(), dir.path());
        assert_eq!(refused.code, Some(65), "{said}: {refused:?}");
        assert!(refused.stderr.contains(said), "{said}: {refused:?}");
    }
    assert_eq!(fnstore_in(store.path(), &["history"]).stdout, before);
    let strict = files("mini-verbnet");
    let strict = ["import", strict.to_str().unwrap(), "--strict"];
    assert!(fnstore_in(store.path(), &strict).stderr.contains("leave it out"));
}

#[test]
fn a_place_with_none_of_it_is_refused_by_each_reader() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.xml"), "<other/>").unwrap();
    for said in [
        PredicateFiles::read(dir.path()).unwrap_err().to_string(),
        MappingFiles::read(dir.path()).unwrap_err().to_string(),
    ] {
        assert!(said.starts_with("L-none: "), "{said}");
    }
}
