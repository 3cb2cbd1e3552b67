//! One record of each kind, with something in every field: what tests of records begin with.

use super::super::{Action, SetLocation, Subject};
use super::*;
use crate::model::{
    AnnotationSetId, CarriedElement, Colors, CoreType, CorpusId, Creation, Decided, Decision,
    DocumentId, Evidence, Extent, FeId, FeRealization, FeRelation, FeStatus, FilterScores, Flags,
    ForeignAttribute, ForeignContent, ForeignPlace, FrameElement, FrameFit, FrameId,
    FrameIndexEntry, FrozenSet, Generation, Governor, HeaderTitles, IdSpace, IndexCorpus,
    KeptSplitList, Label, Layer, LayerName, LexUnitHead, Lexeme, ListedElement, ListedRelation,
    ListedSentence, ListedSubcorpus, Listing, LuId, LuIndex, LuIndexEntry, Method, Moved,
    NullInstantiation, Occurrence, OddLabel, OddOffsets, Pos, Prediction, Provenance, RecipeId,
    RelationId, RelationKind, RelationList, Release, ReleaseCounts, ReleaseId, Reverse, Reviewed,
    SemTypeId, SemTypeList, SentenceCount, SentenceId, Shown, Span, SplitListId, Title,
    ValencePattern, ValenceUnit, Valences, Verdict, WrittenNumber,
};

pub(super) const RELEASE: ReleaseId = ReleaseId(3);

pub(super) fn set(space: IdSpace, number: u64) -> AnnotationSetId {
    AnnotationSetId::new(space, number)
}

pub(super) fn sentence_id() -> SentenceId {
    SentenceId::new(IdSpace::FullText, 6001)
}

pub(super) fn creation() -> Creation {
    Creation { by: "KmG".to_owned(), date: "03/02/2026 09:30:00 UTC Mon".to_owned() }
}

pub(super) fn colors() -> Colors {
    Colors { fg: "FFFFFF".to_owned(), bg: "FF0000".to_owned() }
}

pub(super) fn frame() -> Frame {
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

pub(super) fn relation() -> FrameRelation {
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

pub(super) fn sem_type() -> SemType {
    SemType {
        id: SemTypeId(5),
        name: "Time".to_owned(),
        abbreviation: "tm".to_owned(),
        definition: "when".to_owned(),
        parents: vec![SemTypeId(1)],
    }
}

pub(super) fn lexunit() -> LexUnit {
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

pub(super) fn sentence() -> Sentence {
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

pub(super) fn layers() -> Vec<Layer> {
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

pub(super) fn sentence_layers() -> SentenceLayers {
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

pub(super) fn frame_layout() -> FrameLayout {
    FrameLayout {
        relations: vec![ListedRelation {
            kind: "Is Used by".to_owned(),
            id: Some(3),
            frames: vec![(Some(FrameId(103)), "Repairing".to_owned()), (None, "Roam".to_owned())],
        }],
        lexunits: vec![LuId(1002), LuId(1001)],
    }
}

pub(super) fn odd_label() -> OddLabel {
    let label =
        OddOffsets { layer: 1, label: 2, start: Some(9), end: None, null: Some("INI".to_owned()) };
    OddLabel { set: set(IdSpace::Exemplar, 7042), label }
}

pub(super) fn listed_sentence() -> ListedSentence {
    ListedSentence { id: sentence_id(), occurrence: 1, sets: vec![set(IdSpace::FullText, 8002)] }
}

pub(super) fn lexunit_layout() -> LexUnitLayout {
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

pub(super) fn document_layout() -> DocumentLayout {
    DocumentLayout { sentences: vec![listed_sentence()], odd_labels: vec![odd_label()] }
}

pub(super) fn meta() -> MetaRecord {
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

pub(super) fn journal() -> JournalEntry {
    let chain = vec![set(IdSpace::Generated, 403), set(IdSpace::Generated, (1 << 56) - 1)];
    JournalEntry { round: 2, end: Some("too-long".to_owned()), chain }
}

/// [`scored`] with FEs carried over, of which one was not found.
fn carried() -> AnnotationSet {
    let mut set = scored();
    set.fe_status = FeStatus::Carried;
    if let Provenance::Generated(made) = &mut set.provenance {
        made.flags.lost_element = true;
        let element = |name: &str, score| CarriedElement { name: name.to_owned(), score };
        made.elements = vec![element("Checker", Some(0.5)), element("Matter", None)];
    }
    set
}

/// A generated set with all that can be known of it.
pub(super) fn judged() -> AnnotationSet {
    let mut set = carried();
    if let Provenance::Generated(made) = &mut set.provenance {
        made.fit = Some(FrameFit { probability: 0.75, model: [7; 16] });
    }
    set
}

/// A set that a model predicted.
pub(super) fn predicted() -> AnnotationSet {
    let fit = FrameFit { probability: 0.5, model: [7; 16] };
    let runners_up = vec![("Scrutiny".to_owned(), 0.25)];
    let prediction = Prediction { file: "news.txt".to_owned(), fit, runners_up };
    annotation(Provenance::Predicted(Box::new(prediction)))
}

/// A document as FrameNet 1.7 describes it.
pub(super) fn described_document() -> Document {
    let text = |text: &str| Some(text.to_owned());
    let in_header = |name: &str| Title { name: name.to_owned(), description: None };
    Document {
        corpus_description: text("Texts of our own"),
        description: text("The harbour's log"),
        in_headers: Some(HeaderTitles {
            corpus: in_header("MINI"),
            document: in_header("The harbour's log"),
        }),
        ..document()
    }
}

/// The top files as FrameNet 1.7 has them.
pub(super) fn described_layout() -> ReleaseLayout {
    let mut layout = release_layout();
    layout.lu_index.as_mut().unwrap().entries[0].instances = Some(17);
    let corpus = &mut layout.fulltext_index.as_mut().unwrap()[0];
    corpus.title.description = Some("Texts of our own".to_owned());
    corpus.documents[0].1.description = Some("The harbour's log".to_owned());
    layout
}

pub(super) fn numbers() -> NumbersRecord {
    let written = |text: &str, beside: &str| WrittenNumber {
        text: text.to_owned(),
        beside: beside.to_owned(),
    };
    let numbers = vec![(1 << 30, written("1298076n", "")), ((1 << 30) + 7, written("", "Agent"))];
    NumbersRecord { numbers }
}

pub(super) fn foreign() -> Foreign {
    let attribute = |name: &str, value: &str, instead_of: &str| ForeignAttribute {
        name: name.to_owned(),
        value: value.to_owned(),
        instead_of: instead_of.to_owned(),
    };
    let content = ForeignContent { after: 2, xml: "<x:note>a &amp; b</x:note>".to_owned() };
    let place = ForeignPlace {
        element: "/frame[102]/FE[1001]#2".to_owned(),
        attributes: vec![attribute("x:sure", "0.5", ""), attribute("coreType", "Odd", "Core")],
        content: vec![content],
    };
    Foreign { places: vec![place] }
}

pub(super) fn judgement(is_shown: bool) -> Judgement {
    let text = "She [checked] the na\u{ef}ve plan .".to_owned();
    let shown = is_shown.then_some(Shown { text, millis: 2_300 });
    let (reviewer, note) = ("kim".to_owned(), "na\u{ef}ve".to_owned());
    Judgement { reviewer, question: String::new(), score: 80, time: 1_700_000_000, note, shown }
}

/// Of [`set`]`(Exemplar, 7012)`, which a model rewrote.
pub(super) fn verification() -> Verification {
    let reverse = Reverse { score: 1.25, tokens: 12, rewriter: [5; 16] };
    Verification {
        set: set(IdSpace::Exemplar, 7012),
        evokes: Some(0.75),
        same_meaning: Some(0.125),
        reverse: Some(reverse),
        verifier: [7; 16],
        asked: [9; 16],
    }
}

/// [`verification`] of a set to which there was no answer.
pub(super) fn unverified() -> Verification {
    Verification { evokes: None, same_meaning: None, reverse: None, ..verification() }
}

/// A proposal that was accepted, taken back and moved.
pub(super) fn decided() -> Decided {
    let evidence = Evidence {
        sets: 3,
        seeds: 2,
        rounds: 0b101,
        paraphrase: 0.75,
        aligner: 0.5,
        p: Some(0.25),
        r: None,
        frames: 1,
        likeness: Some(-0.125),
        frame_fit: Some(0.625),
        unknown: 0.5,
        words: 2,
        evokes: Some(0.375),
        evokes_share: Some(0.5),
        verified: 2,
    };
    let (reviewer, note) = ("lee".to_owned(), String::new());
    let accepted = Decision {
        verdict: Verdict::Accept,
        reviewer: "kim".to_owned(),
        time: 1_700_000_000,
        note: "na\u{ef}ve".to_owned(),
        lu: LuId(1 << 31),
        evidence,
        moved: None,
        undone: Some(Reviewed { reviewer, time: 1_700_000_001, note }),
    };
    let sets = [1, 300].map(|number| set(IdSpace::Generated, number)).into();
    let moved = Decision {
        verdict: Verdict::Move,
        moved: Some(Moved { frame: FrameId(103), lu: LuId(7), made: true, sets }),
        undone: None,
        ..accepted.clone()
    };
    Decided { frame: FrameId(102), name: "vet.v".to_owned(), history: vec![accepted, moved] }
}

pub(super) fn edition() -> Edition {
    let sets = [(1, u64::MAX), (300, 7)];
    let frozen = |(number, content)| FrozenSet { set: set(IdSpace::Generated, number), content };
    Edition {
        name: "first".to_owned(),
        expression: "p>=0.5".to_owned(),
        created: 1_700_000_000,
        revision: 9,
        sentences: 2,
        pairs: 2,
        lemma_pairs: 1,
        split_list: None,
        sets: sets.map(frozen).into(),
        promise: None,
    }
}

/// [`edition`] of a query under a split list.
pub(super) fn listed() -> Edition {
    let id = SplitListId { name: "fold".to_owned(), fingerprint: [7; 16] };
    let list = KeptSplitList { id, lines: Some("lu\tcheck.v\ttest\n".to_owned()) };
    Edition { split_list: Some(list), ..edition() }
}

/// A change of every kind of subject, by its name, each with another action than the one before.
pub(super) fn changes() -> Vec<(&'static str, ChangeRecord)> {
    let (frame, lu) = (FrameId(102), LuId(1001));
    let set = set(IdSpace::FullText, 8002);
    let location = SetLocation { frame, lu, sentence: sentence_id() };
    let subjects = [
        ("change_release", Subject::Release),
        ("change_semtype", Subject::SemType(SemTypeId(5))),
        ("change_frame", Subject::Frame(frame)),
        ("change_relation", Subject::Relation(RelationId(11))),
        ("change_lexunit", Subject::LexUnit(frame, LuId(1 << 31))),
        ("change_document", Subject::Document(CorpusId(301), DocumentId(401))),
        ("change_sentence", Subject::Sentence(sentence_id())),
        ("change_layers", Subject::SentenceLayers(sentence_id(), set)),
        ("change_set", Subject::Set(set, location)),
        ("change_judgement", Subject::Judgement(set, "kim".to_owned(), "fluency".to_owned())),
        ("change_decision", Subject::Decision(frame, "vet.v".to_owned())),
        ("change_edition", Subject::Edition("first".to_owned())),
        ("change_verification", Subject::Verification(set)),
    ];
    let actions = Action::ALL.into_iter().cycle();
    let changes = subjects.into_iter().zip(actions).map(|((name, subject), action)| {
        (name, ChangeRecord { release: RELEASE, action, subject })
    });
    changes.collect()
}

pub(super) fn commit() -> Commit {
    let (by, note) = ("kim".to_owned(), "wrong FEs".to_owned());
    Commit {
        revision: 12,
        at: 1_700_000_000,
        by,
        note,
        undoes: vec![9],
        images: Some(3),
        changes: 4,
    }
}

pub(super) fn image() -> ImageRecord {
    let key = vec![0, 3, 0, 0, 0, 102];
    ImageRecord { family: 1, key, before: Some(vec![1, 2]), after: Some([7; 8]) }
}
