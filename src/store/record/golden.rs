//! Golden records: one of each type, as version 1 encodes it, under `tests/data/records/v1/`.
//!
//! A test fails when an encoding moves. That is never mended by writing the files again: what
//! stores hold would not be readable any more. A new layout is a new version beside this one.

use std::path::{Path, PathBuf};

use super::v3_annotation::tests::carried;
use super::*;
use crate::model::{
    AnnotationSetId, Colors, CoreType, CorpusId, Creation, DocumentId, Extent, FeId, FeRealization,
    FeRelation, FeStatus, FilterScores, Flags, Foreign, FrameElement, FrameId, FrameIndexEntry,
    Generation, Governor, IdSpace, IndexCorpus, Label, Layer, LayerName, LexUnitHead, Lexeme,
    ListedElement, ListedRelation, ListedSentence, ListedSubcorpus, Listing, LuId, LuIndex,
    LuIndexEntry, Method, NullInstantiation, Occurrence, OddLabel, OddOffsets, Pos, Provenance,
    RecipeId, RelationId, RelationKind, RelationList, Release, ReleaseCounts, ReleaseId, SemTypeId,
    SemTypeList, SentenceCount, SentenceId, Span, Title, ValencePattern, ValenceUnit, Valences,
    WrittenNumber, hexadecimal,
};

const RELEASE: ReleaseId = ReleaseId(3);

fn set(space: IdSpace, number: u64) -> AnnotationSetId {
    AnnotationSetId::new(space, number)
}

fn sentence_id() -> SentenceId {
    SentenceId::new(IdSpace::FullText, 6001)
}

fn creation() -> Creation {
    Creation { by: "KmG".to_owned(), date: "03/02/2026 09:30:00 UTC Mon".to_owned() }
}

fn colors() -> Colors {
    Colors { fg: "FFFFFF".to_owned(), bg: "FF0000".to_owned() }
}

fn frame() -> Frame {
    let fe = |id, name: &str, core_type| FrameElement {
        id: FeId(id),
        name: name.to_owned(),
        abbreviation: "Chk".to_owned(),
        core_type,
        definition: "<fen>Whoever</fen> checks".to_owned(),
        sem_types: vec![SemTypeId(1), SemTypeId(300)],
        requires: vec![FeId(2002)],
        excludes: vec![FeId(2003)],
        colors: colors(),
        created: creation(),
    };
    Frame {
        id: FrameId(102),
        name: "Checking".to_owned(),
        definition: "A \u{e9}tude".to_owned(),
        elements: vec![
            fe(2001, "Checker", CoreType::Core),
            fe(2009, "Doubt", CoreType::CoreUnexpressed),
            fe(2005, "Standard", CoreType::Peripheral),
            fe(2008, "Time", CoreType::ExtraThematic),
        ],
        core_sets: vec![vec![FeId(2001), FeId(2003)], vec![]],
        sem_types: vec![SemTypeId(7)],
        created: creation(),
        modified: "then".to_owned(),
        has_file: true,
    }
}

fn relation() -> FrameRelation {
    FrameRelation {
        id: RelationId(11),
        kind: "Inheritance".to_owned(),
        super_role: "Parent".to_owned(),
        sub_role: "Child".to_owned(),
        parent: FrameId(101),
        parent_name: "Happening".to_owned(),
        child: FrameId(102),
        child_name: "Checking".to_owned(),
        elements: vec![FeRelation {
            id: 501,
            parent: FeId(2402),
            parent_name: "Time".to_owned(),
            child: FeId(2008),
            child_name: "When".to_owned(),
        }],
    }
}

fn sem_type() -> SemType {
    SemType {
        id: SemTypeId(5),
        name: "Time".to_owned(),
        abbreviation: "tm".to_owned(),
        definition: "when".to_owned(),
        parents: vec![SemTypeId(1)],
    }
}

fn lexunit() -> LexUnit {
    let item = |elements: &[&str]| FeRealization {
        elements: elements.iter().map(|&name| name.to_owned()).collect(),
        total: 2,
        patterns: vec![ValencePattern {
            total: 1,
            units: vec![ValenceUnit {
                fe: "Checker".to_owned(),
                pt: "NP".to_owned(),
                gf: "Ext".to_owned(),
            }],
            sets: vec![set(IdSpace::Exemplar, 7042), set(IdSpace::FullText, 8006)],
        }],
    };
    LexUnit {
        id: LuId(1006),
        frame: FrameId(102),
        name: "look over.v".to_owned(),
        pos: Pos::Verb,
        status: "Finished_Initial".to_owned(),
        definition: "check".to_owned(),
        lexemes: vec![Lexeme {
            name: "over".to_owned(),
            pos: Pos::Adverb,
            order: Some(2),
            headword: Some(false),
            break_before: Some(true),
        }],
        incorporated_fe: Some("Vehicle".to_owned()),
        sem_types: vec![SemTypeId(6)],
        lemma_id: Some(4006),
        created: creation(),
        sentence_count: SentenceCount { annotated: 2, total: 9 },
        total_annotated: 3,
        subcorpora: vec!["V-np".to_owned(), String::new()],
        valences: Valences {
            governors: vec![Governor {
                kind: "Gov".to_owned(),
                lemma: "carry out".to_owned(),
                sets: vec![set(IdSpace::Exemplar, 7038)],
            }],
            realizations: vec![item(&["Checker"])],
            groups: vec![item(&["Checker", "Matter"])],
        },
        listing: Listing { frame_file: true, lu_file: false },
    }
}

pub(super) fn document() -> Document {
    Document {
        id: DocumentId(401),
        corpus: CorpusId(301),
        corpus_name: "MINI".to_owned(),
        corpus_description: None,
        name: "HarbourLog".to_owned(),
        description: None,
        in_headers: None,
        file: "MINI__HarbourLog".to_owned(),
        sentences: vec![sentence_id(), SentenceId::new(IdSpace::Exemplar, 5002)],
    }
}

pub(super) fn document_key() -> DocumentKey {
    DocumentKey { release: RELEASE, corpus: CorpusId(301), document: DocumentId(401) }
}

fn sentence() -> Sentence {
    Sentence {
        id: sentence_id(),
        xml_id: Some(6001),
        text: "Zo\u{e9} checked it . ".to_owned(),
        occurrences: vec![
            Occurrence {
                lu: Some(LuId(1001)),
                subcorpus: Some("V-np".to_owned()),
                corpus: Some(CorpusId(301)),
                document: Some(DocumentId(401)),
                paragraph: Some(2),
                number: Some(1),
                position: Some(1 << 40),
            },
            Occurrence::default(),
        ],
    }
}

fn layers() -> Vec<Layer> {
    let label = |extent, fe, colors| Label {
        name: "Checker".to_owned(),
        extent,
        fe,
        annotator: "7".to_owned(),
        colors,
    };
    let null = |kind| label(Extent::Null(kind), Some(FeId(2002)), None);
    vec![
        Layer {
            name: LayerName::Fe,
            rank: 2,
            labels: vec![
                label(Extent::Overt(Span::new(0, 4)), Some(FeId(2001)), Some(colors())),
                label(Extent::None, None, None),
                null(NullInstantiation::Definite),
                null(NullInstantiation::Other("XNI".to_owned())),
            ],
        },
        Layer { name: LayerName::Named("Odd".to_owned()), rank: 1, labels: Vec::new() },
    ]
}

pub(super) fn annotation(provenance: Provenance) -> AnnotationSet {
    AnnotationSet {
        id: set(IdSpace::FullText, 8002),
        xml_id: Some(8002),
        sentence: sentence_id(),
        frame: FrameId(102),
        lu: LuId(1001),
        status: "MANUAL".to_owned(),
        created: "then".to_owned(),
        targets: vec![Span::new(5, 12), Span::new(13, 15)],
        fe_status: FeStatus::Annotated,
        layers: layers(),
        provenance,
    }
}

pub(super) fn generated() -> AnnotationSet {
    let generation = Generation {
        seed: set(IdSpace::Exemplar, 7012),
        source: set(IdSpace::Exemplar, 7012),
        target_ordinal: 1,
        round: 2,
        rank: 3,
        chain: vec![set(IdSpace::Generated, (1 << 56) - 1)],
        method: Method::Paraphrase,
        recipe: RecipeId(4),
        flags: Flags { copy: true, unmet: true, unknown_word: true, ..Flags::default() },
        paraphrase: 0.75,
        aligner: 0.5,
        filter: None,
        elements: Vec::new(),
        fit: None,
    };
    let provenance = Provenance::Generated(Box::new(generation));
    AnnotationSet { xml_id: None, fe_status: FeStatus::Unknown, ..annotation(provenance) }
}

/// [`generated`] with scores of filters.
pub(super) fn scored() -> AnnotationSet {
    let mut set = generated();
    if let Provenance::Generated(made) = &mut set.provenance {
        made.filter = Some(FilterScores { precision: 0.875, recall: 0.25, filter: [9; 16] });
    }
    set
}

/// A set's key, and the set.
pub(super) fn keyed(set: AnnotationSet) -> (AnnotationKey, AnnotationSet) {
    let AnnotationSet { frame, lu, sentence, id, .. } = set;
    (AnnotationKey { release: RELEASE, frame, lu, sentence, set: id }, set)
}

fn sentence_layers() -> SentenceLayers {
    SentenceLayers {
        id: set(IdSpace::Exemplar, 7001),
        xml_id: 7001,
        sentence: sentence_id(),
        construction: Some((11, "The_more".to_owned())),
        status: "UNANN".to_owned(),
        created: "then".to_owned(),
        listed_under: vec![LuId(1001), LuId(1002)],
        layers: layers(),
    }
}

pub(super) fn release_layout() -> ReleaseLayout {
    let text = str::to_owned;
    let title = |name: &str| Title { name: name.to_owned(), description: None };
    ReleaseLayout {
        frame_index: Some(vec![FrameIndexEntry {
            id: FrameId(102),
            name: text("Checking"),
            modified: text("then"),
        }]),
        lu_index: Some(LuIndex {
            legend: vec![(text("New"), text("not yet done"))],
            entries: vec![LuIndexEntry {
                id: LuId(1001),
                name: text("check.v"),
                frame: FrameId(102),
                frame_name: text("Checking"),
                status: text("New"),
                annotated: true,
                instances: None,
            }],
        }),
        fulltext_index: Some(vec![IndexCorpus {
            id: CorpusId(301),
            title: title("MINI"),
            documents: vec![(DocumentId(401), title("HarbourLog"))],
        }]),
        sem_types: Some(SemTypeList { created: text("then"), sem_types: vec![SemTypeId(5)] }),
        relations: Some(RelationList {
            created: String::new(),
            kinds: vec![RelationKind {
                id: Some(1),
                name: text("Inheritance"),
                super_role: text("Parent"),
                sub_role: text("Child"),
                relations: vec![RelationId(11)],
            }],
        }),
    }
}

pub(super) fn release_layout_key() -> LayoutKey {
    LayoutKey::of_release(RELEASE)
}

fn frame_layout() -> FrameLayout {
    FrameLayout {
        relations: vec![ListedRelation {
            kind: "Is Used by".to_owned(),
            id: Some(3),
            frames: vec![(Some(FrameId(103)), "Repairing".to_owned()), (None, "Roam".to_owned())],
        }],
        lexunits: vec![LuId(1002), LuId(1001)],
    }
}

fn odd_label() -> OddLabel {
    let label =
        OddOffsets { layer: 1, label: 2, start: Some(9), end: None, null: Some("INI".to_owned()) };
    OddLabel { set: set(IdSpace::Exemplar, 7042), label }
}

fn listed_sentence() -> ListedSentence {
    ListedSentence { id: sentence_id(), occurrence: 1, sets: vec![set(IdSpace::FullText, 8002)] }
}

fn lexunit_layout() -> LexUnitLayout {
    let LexUnit { name, pos, status, definition, lexemes, incorporated_fe, sem_types, .. } =
        lexunit();
    LexUnitLayout {
        head: Some(LexUnitHead { name, pos, status, incorporated_fe, definition, sem_types }),
        lexemes,
        elements: Some(vec![ListedElement {
            name: "Checker".to_owned(),
            core_type: "Core".to_owned(),
            abbreviation: "Chk".to_owned(),
            colors: colors(),
        }]),
        corpora: vec![(CorpusId(301), vec![DocumentId(401), DocumentId(402)])],
        subcorpora: vec![ListedSubcorpus {
            name: "V-np".to_owned(),
            sentences: vec![listed_sentence()],
        }],
        odd_labels: vec![odd_label()],
    }
}

fn document_layout() -> DocumentLayout {
    DocumentLayout { sentences: vec![listed_sentence()], odd_labels: vec![odd_label()] }
}

fn meta() -> MetaRecord {
    let counts = ReleaseCounts { frames: 5, lexunits: 16, sentences: 39, ..Default::default() };
    let release = Release {
        id: RELEASE,
        name: "mini".to_owned(),
        language: "en".to_owned(),
        source: "mini.zip".to_owned(),
        source_bytes: 123_456,
        imported: 1_700_000_000,
        counts,
    };
    MetaRecord {
        created_by: "0.1.0".to_owned(),
        written_by: "0.1.1".to_owned(),
        revision: 9,
        next_release: 4,
        releases: vec![release],
    }
}

fn journal() -> JournalRecord {
    JournalRecord { round: 2, end: Some("too-long".to_owned()), chain: vec![403, 407] }
}

/// File name and value of every sample.
fn samples() -> Vec<(&'static str, Vec<u8>)> {
    let exemplar = Provenance::Exemplar { lu: LuId(1001), subcorpus: "V-np".to_owned() };
    let imported = Provenance::Imported { file: "own.jsonl".to_owned() };
    let fulltext = Provenance::FullText { corpus: CorpusId(301), document: DocumentId(401) };
    vec![
        ("frame", frame().to_value().unwrap()),
        ("relation", relation().to_value().unwrap()),
        ("semtype", sem_type().to_value().unwrap()),
        ("lexunit", lexunit().to_value().unwrap()),
        ("document", document().to_value().unwrap()),
        ("sentence", sentence().to_value().unwrap()),
        ("annotation_exemplar", annotation(exemplar).to_value().unwrap()),
        ("annotation_fulltext", annotation(fulltext).to_value().unwrap()),
        ("annotation_imported", annotation(imported).to_value().unwrap()),
        ("annotation_user", annotation(Provenance::User).to_value().unwrap()),
        ("annotation_generated", generated().to_value().unwrap()),
        ("sentence_layers", sentence_layers().to_value().unwrap()),
        ("layout_release", release_layout().to_value().unwrap()),
        ("layout_frame", frame_layout().to_value().unwrap()),
        ("layout_lexunit", lexunit_layout().to_value().unwrap()),
        ("layout_document", document_layout().to_value().unwrap()),
        ("meta", encode(&meta()).unwrap()),
        (
            "set_location",
            encode(&SetLocationRecord { frame: 102, lu: 1001, sentence: 1 << 57 }).unwrap(),
        ),
        (
            "recipe",
            encode(&RecipeRecord { fingerprint: [7; 16], description: "{\"beam\":4}".to_owned() })
                .unwrap(),
        ),
        ("journal", encode(&journal()).unwrap()),
        ("change_release", encode(&WrittenRecord::ReleaseAdded(3)).unwrap()),
        ("change_set", encode(&WrittenRecord::SetWritten(3, 102, 1001, 1 << 57, 8002)).unwrap()),
        ("change_lexunit", encode(&WrittenRecord::LexUnitWritten(3, 102, 1 << 31)).unwrap()),
        ("judgement", encode_judgement(&v2_judgement::tests::judged(false)).unwrap()),
        ("decision", v1_governance::tests::decided().to_value().unwrap()),
        ("edition", v1_governance::tests::first_version()),
        ("own_ids", encode(&OwnIdsRecord { numbers: 7, tagged: 1 << 40 }).unwrap()),
        ("layout_numbers", encode(&numbers()).unwrap()),
        ("layout_foreign", encode(&v1_foreign::tests::foreign()).unwrap()),
    ]
}

fn numbers() -> NumbersRecord {
    let written = |text: &str, beside: &str| WrittenNumber {
        text: text.to_owned(),
        beside: beside.to_owned(),
    };
    let numbers = [(1 << 30, written("1298076n", "")), ((1 << 30) + 7, written("", "Agent"))];
    NumbersRecord::new(numbers.iter().map(|(number, written)| (*number, written)))
}

/// Records of version 2: a change of every kind of subject, each with another action; a set with
/// its sentence's number, and one without; a scored set. What FrameNet 1.7 says of a document and
/// in its top files; an edition.
fn samples_of_version_2() -> Vec<(&'static str, Vec<u8>)> {
    let location = |sentence| {
        let (frame, lu) = (FrameId(102), LuId(1001));
        encode_location(set(IdSpace::FullText, 8002), SetLocation { frame, lu, sentence }).unwrap()
    };
    let change =
        |action, subject| encode_change(&ChangeRecord { release: 3, action, subject }).unwrap();
    vec![
        ("change_release", change(0, SubjectRecord::Release)),
        ("change_semtype", change(1, SubjectRecord::SemType(5))),
        ("change_frame", change(2, SubjectRecord::Frame(102))),
        ("change_relation", change(3, SubjectRecord::Relation(11))),
        ("change_lexunit", change(0, SubjectRecord::LexUnit(102, 1 << 31))),
        ("change_document", change(1, SubjectRecord::Document(301, 401))),
        ("change_sentence", change(2, SubjectRecord::Sentence(6001 << 2 | 1))),
        ("change_layers", change(2, SubjectRecord::SentenceLayers(6001 << 2 | 1, 7001 << 2))),
        ("change_set", change(1, SubjectRecord::Set(8002 << 2 | 1, 102, 1001, 6001 << 2 | 1))),
        ("location_own", location(SentenceId::new(IdSpace::FullText, 8002))),
        ("location", location(sentence_id())),
        ("annotation_scored", scored().to_value().unwrap()),
        ("decision", v2_decision::tests::weighed().to_value().unwrap()),
        ("document", v2_document::tests::described().to_value().unwrap()),
        ("edition", v2_edition::tests::listed().to_value().unwrap()),
        ("judgement", encode_judgement(&v2_judgement::tests::judged(true)).unwrap()),
        ("layout_release", v2_release_layout::tests::described().to_value().unwrap()),
        ("change_judgement", change(0, SubjectRecord::Judgement(403, "kim".to_owned()))),
        ("change_decision", change(1, SubjectRecord::Decision(102, "vet.v".to_owned()))),
        ("change_edition", change(2, SubjectRecord::Edition("first".to_owned()))),
    ]
}

fn path(version: u8, name: &str) -> PathBuf {
    let file = format!("tests/data/records/v{version}/{name}.hex");
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}

/// Version, file name and value of every sample.
fn all_samples() -> impl Iterator<Item = (u8, &'static str, Vec<u8>)> {
    let first = samples().into_iter().map(|(name, value)| (1, name, value));
    let second = samples_of_version_2().into_iter().map(|(name, value)| (2, name, value));
    let third = [(3, "annotation_carried", carried())];
    let fourth = [
        (4, "annotation_judged", v4_annotation::tests::judged()),
        (4, "annotation_predicted", v4_annotation::tests::predicted()),
    ];
    let later = third.into_iter().chain(fourth);
    let later = later.map(|(version, name, set)| (version, name, set.to_value().unwrap()));
    let edition = v3_edition::tests::listed().to_value().unwrap();
    first.chain(second).chain(later).chain([(3, "edition", edition)])
}

/// Hexadecimal, 32 bytes a line.
fn hex(value: &[u8]) -> String {
    value.chunks(32).map(|line| hexadecimal(line) + "\n").collect()
}

#[test]
fn every_record_is_encoded_as_its_version_always_was() {
    for (version, name, value) in all_samples() {
        let golden = std::fs::read_to_string(path(version, name)).unwrap_or_default();
        assert_eq!(hex(&value), golden, "the encoding of {name} moved: add a version, edit none");
    }
}

#[test]
fn every_record_comes_back_as_it_was() {
    fn law<T: Stored + PartialEq + std::fmt::Debug>(key: &T::Key, record: &T) {
        assert_eq!(T::from_value(key, &record.to_value().unwrap()).as_ref(), Ok(record));
    }
    let release = RELEASE;
    law(&FrameKey { release, frame: FrameId(102) }, &frame());
    law(&RelationKey { release, relation: RelationId(11) }, &relation());
    law(&SemTypeKey { release, sem_type: SemTypeId(5) }, &sem_type());
    law(&LexUnitKey { release, frame: FrameId(102), lu: LuId(1006) }, &lexunit());
    law(&document_key(), &document());
    law(&document_key(), &v2_document::tests::described());
    law(&SentenceKey { release, sentence: sentence_id() }, &sentence());
    let set_key =
        SentenceSetKey { release, sentence: sentence_id(), set: set(IdSpace::Exemplar, 7001) };
    law(&set_key, &sentence_layers());
    let (key, user) = keyed(annotation(Provenance::User));
    law(&key, &user);
    law(&key, &generated());
    law(&key, &scored());
    law(&key, &carried());
    law(&key, &v4_annotation::tests::judged());
    let of_lexunit = LayoutKey::of_lexunit(release, FrameId(102), LuId(1006));
    let of_document = LayoutKey::of_document(release, CorpusId(301), DocumentId(401));
    law(&release_layout_key(), &release_layout());
    law(&release_layout_key(), &v2_release_layout::tests::described());
    law(&LayoutKey::of_frame(release, FrameId(102)), &frame_layout());
    law(&of_lexunit, &lexunit_layout());
    law(&of_document, &document_layout());
    let (decided, edition) = (v1_governance::tests::decided(), v1_governance::tests::edition());
    law(
        &crate::store::key::DecisionKey {
            release,
            frame: FrameId(102),
            name: decided.name.clone(),
        },
        &decided,
    );
    let key = crate::store::key::EditionKey { release, name: edition.name.clone() };
    law(&key, &edition);
    law(&key, &v3_edition::tests::listed());
    assert_eq!(decode::<JournalRecord>(&encode(&journal()).unwrap()), Ok(journal()));
    assert_eq!(
        decode::<Foreign>(&encode(&v1_foreign::tests::foreign()).unwrap()),
        Ok(v1_foreign::tests::foreign())
    );
    assert_eq!(decode::<NumbersRecord>(&encode(&numbers()).unwrap()), Ok(numbers()));
}

#[test]
fn a_change_of_either_version_is_read() {
    let old = WrittenRecord::LexUnitWritten(3, 102, 1 << 31);
    assert_eq!(decode_change(&encode(&old).unwrap()), Ok(Err(old)));
    let changes = samples_of_version_2().into_iter().filter(|(name, _)| name.starts_with("change"));
    for (name, value) in changes {
        let Ok(Ok(record)) = decode_change(&value) else { panic!("{name}") };
        assert_eq!(encode_change(&record).unwrap(), value, "{name}");
    }
    assert_eq!(decode_change(&[3, 0]), Err("record version 3, expected 2".to_owned()));
}

#[test]
fn a_record_cut_short_or_changed_is_an_error_and_no_panic() {
    for (key, set) in [keyed(generated()), keyed(scored()), keyed(v4_annotation::tests::judged())] {
        let value = set.to_value().unwrap();
        for end in 0..value.len() {
            tests::is_cut_short(AnnotationSet::from_value(&key, &value[..end]), end);
        }
        for at in 1..value.len() {
            let mut changed = value.clone();
            changed[at] ^= 0xff;
            // Another record or an error; a panic would end the test.
            let _ = AnnotationSet::from_value(&key, &changed);
        }
    }
}

#[test]
#[ignore = "writes tests/data/records, which only the first build of a new record may do"]
fn write_the_golden_records() {
    for (version, name, value) in all_samples() {
        let path = path(version, name);
        // What is there is never written again.
        if !path.exists() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, hex(&value)).unwrap();
        }
    }
}
