//! Every export as JSON lines is closed: what its records name is in it or in the release that it
//! adds to, so that it comes back whole. And the import takes no file that is not.

use fnstore::database::{Database, DatabaseError};
use fnstore::exchange::jsonl::{LineKind, Scope};
use fnstore::internals::WithStore as _;
use fnstore::model::{
    AnnotationSet, AnnotationSetId, CoreType, CorpusId, Document, DocumentId, FeId, FeRelation,
    Frame, FrameElement, FrameId, FrameRelation, IdSpace, Judgement, LexUnit, LuId, Occurrence,
    Provenance, RelationId, ReleaseId, SemType, SemTypeId, Sentence, SentenceId,
};
use fnstore::transfer::JsonlImport;
use fnstore::upkeep::CheckOptions;
use proptest::prelude::*;
use tempfile::TempDir;

use crate::{edits, generated, mini};

const CHECKING: FrameId = FrameId(102);

fn sem_type(name: &str, parents: &[SemTypeId]) -> SemType {
    SemType {
        id: SemTypeId(0),
        name: name.to_owned(),
        abbreviation: String::new(),
        definition: String::new(),
        parents: parents.to_vec(),
    }
}

fn element(name: &str, sem_type: SemTypeId) -> FrameElement {
    FrameElement { sem_types: vec![sem_type], ..FrameElement::named(FeId(0), name, CoreType::Core) }
}

/// Everything that a person can add: to FrameNet's frame an FE, an LU without sets and a set that
/// uses the FE; semantic types; a frame of their own with a relation; a document with a sentence.
fn add_by_hand(database: &Database, release: ReleaseId) -> AnnotationSetId {
    let mut edits = database.transaction(release).unwrap();
    let above = edits.add_sem_type(sem_type("Matters", &[])).unwrap();
    let below = edits.add_sem_type(sem_type("Small_matters", &[above])).unwrap();
    let fe = edits.add_element(CHECKING, element("Thoroughness", below)).unwrap();
    let model = edits.frame(CHECKING).unwrap().unwrap();
    let proofing = Frame {
        id: FrameId(0),
        name: "Proofing".to_owned(),
        definition: String::new(),
        elements: vec![element("Proof", above)],
        core_sets: Vec::new(),
        sem_types: vec![below],
        ..model
    };
    let proofing = edits.add_frame(proofing).unwrap();
    let proof = edits.frame(proofing).unwrap().unwrap().elements[0].id;
    let mapped = FeRelation {
        id: 0,
        parent: fe,
        parent_name: String::new(),
        child: proof,
        child_name: String::new(),
    };
    edits
        .add_relation(FrameRelation {
            id: RelationId(0),
            kind: "Using".to_owned(),
            super_role: "Parent".to_owned(),
            sub_role: "Child".to_owned(),
            parent: CHECKING,
            parent_name: String::new(),
            child: proofing,
            child_name: String::new(),
            elements: vec![mapped],
        })
        .unwrap();
    edits.add_lexunit(LexUnit::named(CHECKING, LuId(0), "recheck.v")).unwrap();
    let (corpus, document) = edits
        .add_document(Document {
            id: DocumentId(0),
            corpus: CorpusId(0),
            corpus_name: "Letters".to_owned(),
            corpus_description: Some("Letters of ours".to_owned()),
            name: "first".to_owned(),
            description: Some("The first letter".to_owned()),
            in_headers: None,
            file: String::new(),
            sentences: Vec::new(),
        })
        .unwrap();
    let place =
        Occurrence { corpus: Some(corpus), document: Some(document), ..Occurrence::default() };
    let text = "Ana checked it with care .";
    let sentence = Sentence { occurrences: vec![place], ..edits::new_sentence(text) };
    let sentence = edits.add_sentence(sentence).unwrap();
    let unused = edits.add_sentence(edits::new_sentence("Nobody annotates this .")).unwrap();
    let mut listing = edits.document(corpus, document).unwrap().unwrap();
    listing.sentences = vec![sentence, unused];
    edits.set_document(listing).unwrap();
    let labels = [("Thoroughness", 15, 24)];
    let set = edits.add_annotation_set(edits::new_set(sentence, (4, 11), &labels)).unwrap();
    let judgement = Judgement {
        reviewer: "kim".to_owned(),
        score: 90,
        time: 0,
        note: String::new(),
        question: String::new(),
        shown: None,
    };
    edits.set_judgement(set, judgement).unwrap();
    edits.commit().unwrap();
    set
}

#[test]
fn a_judgement_that_names_the_sets_own_frame_answers_the_question_of_every_set() {
    let (_dir, database) = store();
    let lines = exported(&database, "judgement>50", true).unwrap();
    let asked = "\"reviewer\":\"kim\",\"question\":\"evokes Checking\"";
    let own = |line: &String| line.replace("\"reviewer\":\"kim\"", asked);
    let named: Vec<String> = lines.iter().map(own).collect();
    assert!(named != lines);
    let (_other, back) = empty();
    import(&back, &named).unwrap();
    let there = back.releases().unwrap()[0].id;
    let read = back.store().all_judgements(there).unwrap();
    let questions: Vec<String> = read.map(|row| row.unwrap().1.question).collect();
    assert_eq!(questions, [""]);
    // Both in one file answer one question twice.
    let judgement = lines.iter().position(|line| line.contains("\"kind\":\"judgement\"")).unwrap();
    let mut both = lines.clone();
    both.insert(judgement + 1, own(&lines[judgement]));
    let (_third, refused) = empty();
    let error = import(&refused, &both).unwrap_err().to_string();
    assert!(error.contains("by kim"), "{error}");
}

/// A set that grew from another, written below the checks of edits.
fn grow(database: &Database, release: ReleaseId, seed: AnnotationSetId) {
    let (sentence, set) = generated::sets(database, release).remove(0);
    let sentence = Sentence { id: SentenceId::new(IdSpace::Generated, 77), ..sentence };
    let Provenance::Generated(mut made) = set.provenance.clone() else { panic!("generated") };
    (made.seed, made.source) = (seed, seed);
    let set = AnnotationSet {
        id: AnnotationSetId::new(IdSpace::Generated, 177),
        sentence: sentence.id,
        provenance: Provenance::Generated(made),
        ..set
    };
    let write = fnstore::database::Write {
        sentences: vec![sentence],
        sets: vec![set],
        ..fnstore::database::Write::default()
    };
    database.write(release, &write).unwrap();
}

/// mini-framenet with generated sets, what a person added, and a set grown from that.
pub(crate) fn store() -> (TempDir, Database) {
    let (dir, database, report) = mini::imported();
    let release = report.release.id;
    generated::write(&database, release);
    let set = add_by_hand(&database, release);
    grow(&database, release, set);
    generated::verify(&database, release, vec![generated::verification()]);
    (dir, database)
}

fn exported(database: &Database, query: &str, with_base: bool) -> Option<Vec<String>> {
    let mut out = Vec::new();
    let export = database.export_jsonl(&query.parse().unwrap(), with_base, &mut out).unwrap();
    export.map(|_| String::from_utf8(out).unwrap().lines().map(str::to_owned).collect())
}

fn import(database: &Database, lines: &[String]) -> Result<JsonlImport, DatabaseError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("export.jsonl");
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    database.import_jsonl(&path, None, &mut |_| {})
}

fn empty() -> (TempDir, Database) {
    let dir = tempfile::tempdir().unwrap();
    let database = Database::open_writer(dir.path()).unwrap();
    (dir, database)
}

/// What a deep check finds.
fn findings(database: &Database) -> Vec<String> {
    let report = database.check(CheckOptions { deep: true }, &mut |_| {}).unwrap();
    let examples = report.findings.iter().flat_map(|(.., examples)| examples);
    examples
        .map(|found| format!("{} {}: {}", found.code.as_str(), found.family, found.detail))
        .collect()
}

#[test]
fn what_was_added_by_hand_is_whole_before_it_travels() {
    let (_dir, database) = store();
    assert_eq!(findings(&database), [""; 0]);
}

#[test]
fn a_file_of_any_expression_comes_back_whole_and_answers_as_before() {
    let (_dir, database) = store();
    for query in [
        "",
        "origin=user",
        "origin=generated",
        "origin=user or origin=generated",
        "origin=generated round=2",
        "round=2",
        "origin=generated trigger=vetted",
        "origin=user frame=Checking",
        "frame=Checking",
        "lu=vet.v",
        "corpus=Letters",
        "fe=Thoroughness",
        "split=train",
        "frame=Roaming or round=1",
        "judgement>50",
    ] {
        for with_base in [false, true] {
            let Some(lines) = exported(&database, query, with_base) else {
                panic!("`{query}` finds something");
            };
            let adds = lines[1].contains("\"scope\":\"additions\"");
            let (_other, back) = if adds {
                let (dir, base, _) = mini::imported();
                (dir, base)
            } else {
                empty()
            };
            let what = format!("`{query}`, with base: {with_base}");
            let report = import(&back, &lines).unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!(report.scope == Scope::Additions, adds);
            assert_eq!(findings(&back), [""; 0], "{what}");
            assert_eq!(mini::answers(&back, query), mini::answers(&database, query), "{what}");
            if adds {
                // The second line says when the release was imported.
                let again = exported(&back, query, with_base).unwrap();
                assert_eq!(again[2..], lines[2..], "{what}");
            }
        }
    }
}

#[test]
fn sets_that_were_not_asked_for_are_counted() {
    let (_dir, database) = store();
    for (query, with_origins) in [("", false), ("origin=user", false), ("round=2", true)] {
        let expression = query.parse().unwrap();
        let export = database.export_jsonl(&expression, false, &mut Vec::new()).unwrap().unwrap();
        let found = database.count(&expression).unwrap();
        assert_eq!(export.records[&LineKind::Set], found + export.origins, "`{query}`");
        assert_eq!(export.origins > 0, with_origins, "`{query}`");
    }
}

#[test]
fn all_that_a_person_added_makes_the_base_equal() {
    let (_dir, database, report) = mini::imported();
    add_by_hand(&database, report.release.id);
    let lines = exported(&database, "origin=user", false).unwrap();
    for kind in ["sem_type", "frame", "element", "relation", "lexunit", "document", "judgement"] {
        let start = format!("{{\"kind\":\"{kind}\"");
        assert!(lines.iter().any(|line| line.starts_with(&start)), "no {kind}");
    }
    assert!(!lines.iter().any(|line| line.contains("Checker")), "FrameNet's FEs are not written");
    let (_other, base, _) = mini::imported();
    import(&base, &lines).unwrap();
    assert_eq!(mini::content(&base), mini::content(&database));
    let revision = base.store().revision().unwrap();
    let again = import(&base, &lines).unwrap();
    assert_eq!((again.written.len(), base.store().revision().unwrap()), (0, revision));
    assert_eq!(again.unchanged, lines.len() as u64 - 3, "all but the frame of the file");
}

#[test]
fn what_a_person_added_without_a_set_travels_too() {
    let (_dir, database, report) = mini::imported();
    assert_eq!(exported(&database, "origin=user", false), None);
    let mut edits = database.transaction(report.release.id).unwrap();
    edits.add_sem_type(sem_type("Alone", &[])).unwrap();
    edits.commit().unwrap();
    let lines = exported(&database, "origin=user", false).unwrap();
    assert_eq!(lines.len(), 4, "{lines:?}");
    let (_other, base, _) = mini::imported();
    import(&base, &lines).unwrap();
    assert_eq!(mini::content(&base), mini::content(&database));
}

/// The number of lines before the last, where that belongs.
fn counted(mut lines: Vec<String>) -> Vec<String> {
    let last = lines.len() - 1;
    lines[last] = format!("{{\"kind\":\"end\",\"records\":{last}}}");
    lines
}

/// Imports a file that may be wrong into a store that it may fit: refused with its line, or whole.
fn refused_or_whole(base: &dyn Fn() -> (TempDir, Database), lines: &[String]) -> Option<String> {
    let (_dir, database) = base();
    let outcome = import(&database, lines);
    assert_eq!(findings(&database), [""; 0], "{outcome:?}");
    let error = outcome.err()?.to_string();
    assert!(error.starts_with("E-"), "{error}");
    assert!(error.contains("export.jsonl"), "{error}");
    Some(error)
}

fn base() -> (TempDir, Database) {
    let (dir, database, _) = mini::imported();
    (dir, database)
}

#[test]
fn a_file_that_lacks_a_record_is_refused_where_the_record_is_named() {
    let (_dir, database) = store();
    let lines = exported(&database, "origin=user or origin=generated", false).unwrap();
    for (start, message) in [
        ("{\"kind\":\"sem_type\"", "expected a semantic type of the file or of the release"),
        ("{\"kind\":\"element\"", "expected the number of an FE of `Checking`"),
        ("{\"kind\":\"frame\"", "`child` is `Proofing ("),
        ("{\"kind\":\"document\"", "expected a document of the file or of the release"),
        ("{\"kind\":\"sentence\"", "E-"),
        ("{\"kind\":\"recipe\"", "E-"),
        ("{\"kind\":\"set\"", "expected an annotation set of the file or of the release"),
    ] {
        let mut fewer = lines.clone();
        fewer.remove(fewer.iter().position(|line| line.starts_with(start)).unwrap());
        let error = refused_or_whole(&base, &counted(fewer)).expect(start);
        assert!(error.contains(message), "{start}: {error}");
    }
}

#[test]
fn a_name_that_is_none_is_refused() {
    let (_dir, database) = store();
    let lines = exported(&database, "", false).unwrap();
    for (kind, name, field) in [
        ("frame", "Checking", "name"),
        ("frame", "Checker", "elements[0].name"),
        ("lexunit", "check.v", "name"),
        ("document", "first", "name"),
        ("document", "Letters", "corpus.name"),
        ("sem_type", "Matters", "name"),
    ] {
        let (kind, from) = (format!("{{\"kind\":\"{kind}\""), format!("\"name\":\"{name}\""));
        for wrong in ["\\u0000", "a\\u0001b", "a\\uffff"] {
            let mut lines = lines.clone();
            let line =
                lines.iter_mut().find(|line| line.starts_with(&kind) && line.contains(&from));
            let line = line.unwrap();
            *line = line.replacen(&from, &format!("\"name\":\"{wrong}\""), 1);
            let error = refused_or_whole(&empty, &lines).expect(name);
            assert!(error.starts_with("E-value"), "{error}");
            let expected = "expected a name of characters that XML has";
            assert!(error.contains(expected) && error.contains(&format!("`{field}`")), "{error}");
        }
    }
    let mut lines = lines;
    lines[1] = lines[1].replace("\"name\":\"mini-framenet\"", "\"name\":\"\"");
    let (_other, none) = empty();
    let error = import(&none, &lines).unwrap_err().to_string();
    assert!(error.starts_with("E-release-name: a release cannot be called ``"), "{error}");
}

#[test]
fn a_number_out_of_its_range_is_refused() {
    let (_dir, database) = store();
    let lines = exported(&database, "", false).unwrap();
    let refused = |was: &str, wrong: &str| {
        let mut lines = lines.clone();
        let line = lines.iter_mut().find(|line| line.contains("\"origin\":\"generated\""));
        let line = line.expect("a generated set");
        assert!(line.contains(was), "{line}");
        *line = line.replacen(was, wrong, 1);
        refused_or_whole(&empty, &lines).expect(wrong)
    };
    for (field, was, wrong, expected) in [
        ("round", "\"round\":1,", "\"round\":0,", "a whole number from 1"),
        ("aligner", "\"aligner\":", "\"aligner\":9", "a number from 0 to 1"),
    ] {
        let error = refused(was, wrong);
        assert!(error.starts_with("E-value"), "{error}");
        let at = format!("`provenance.{field}`");
        assert!(error.contains(expected) && error.contains(&at), "{error}");
    }
    // What 32 bits cannot hold is no number of the format at all.
    for field in ["aligner", "paraphrase"] {
        let was = format!("\"{field}\":");
        let error = refused(&was, &format!("{was}1e39,\"{field}\":"));
        assert!(error.starts_with("E-json") && error.contains("out of range"), "{error}");
    }
}

/// One change of a file that leaves every line JSON of its kind.
#[derive(Debug, Clone)]
enum Change {
    Drop(usize),
    Double(usize),
    /// Another digit in the n-th number of a line.
    Number(usize, usize, u8),
    /// The n-th name of a line, in the place of another line's.
    Name(usize, usize, usize),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        any::<usize>().prop_map(Change::Drop),
        any::<usize>().prop_map(Change::Double),
        (any::<usize>(), any::<usize>(), b'0'..=b'9').prop_map(|(a, b, c)| Change::Number(a, b, c)),
        any::<(usize, usize, usize)>().prop_map(|(a, b, c)| Change::Name(a, b, c)),
    ]
}

/// Where the names of a line stand.
fn names(line: &str) -> Vec<std::ops::Range<usize>> {
    let key = "\"name\":\"";
    let starts = line.match_indices(key).map(|(at, _)| at + key.len());
    starts.map(|start| start..start + line[start..].find('"').unwrap()).collect()
}

fn changed(mut lines: Vec<String>, change: &Change) -> Vec<String> {
    let content = lines.len() - 3;
    let line = |at: usize| 2 + at % content;
    match *change {
        Change::Drop(at) => drop(lines.remove(line(at))),
        Change::Double(at) => lines.insert(line(at), lines[line(at)].clone()),
        Change::Number(at, which, digit) => {
            let text = &mut lines[line(at)];
            let digits: Vec<usize> =
                text.char_indices().filter(|(_, c)| c.is_ascii_digit()).map(|(at, _)| at).collect();
            if let Some(at) = digits.get(which % digits.len().max(1)) {
                text.replace_range(*at..=*at, std::str::from_utf8(&[digit]).unwrap());
            }
        }
        Change::Name(from, to, which) => {
            let source = lines[line(from)].clone();
            let text = &mut lines[line(to)];
            let (theirs, own) = (names(&source), names(text));
            if !theirs.is_empty() && !own.is_empty() {
                let name = &source[theirs[which % theirs.len()].clone()];
                text.replace_range(own[which % own.len()].clone(), name);
            }
        }
    }
    counted(lines)
}

fn cases() -> ProptestConfig {
    let set = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(set.unwrap_or(24)) }
}

/// A file of mini-framenet with what was added, and the additions alone.
fn files() -> &'static [Vec<String>; 2] {
    static FILES: std::sync::OnceLock<[Vec<String>; 2]> = std::sync::OnceLock::new();
    FILES.get_or_init(|| {
        let (_dir, database) = store();
        ["", "origin=user or origin=generated"]
            .map(|query| exported(&database, query, false).unwrap())
    })
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn a_changed_file_is_refused_or_comes_in_whole(
        adds: bool,
        changes in proptest::collection::vec(change(), 1..3),
    ) {
        let lines = files()[usize::from(adds)].clone();
        let lines = changes.iter().fold(lines, changed);
        let into: &dyn Fn() -> (TempDir, Database) = if adds { &base } else { &empty };
        refused_or_whole(into, &lines);
    }
}

#[test]
fn a_file_names_the_place_of_what_is_missing() {
    let (_dir, database) = store();
    let lines = exported(&database, "", false).unwrap();
    let at = lines.iter().position(|line| line.contains("\"seed\":\"x7012\"")).unwrap();
    let mut lines = lines;
    lines[at] = lines[at].replace("\"seed\":\"x7012\"", "\"seed\":\"x99\"");
    let error = refused_or_whole(&empty, &lines).unwrap();
    let place = format!("export.jsonl:{}: `provenance.seed` is `x99`", at + 1);
    assert!(error.contains(&place), "{error}");
}
