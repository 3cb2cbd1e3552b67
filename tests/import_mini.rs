//! Mini-framenet comes in whole: every count, and one record of each kind field by field.

use fnstore::internals::WithStore as _;
use fnstore::model::{AnnotationSetId, SentenceId};
use fnstore::model::{
    CoreType, CorpusId, Creation, DocumentId, Extent, FeId, FeStatus, FrameId, IdSpace, LayerName,
    LuId, Pos, Provenance, ReleaseCounts, SemTypeId, Span,
};

use crate::mini;

const DATE: &str = "03/02/2026 09:30:00 UTC Mon";

fn exemplar(number: u64) -> AnnotationSetId {
    AnnotationSetId::new(IdSpace::Exemplar, number)
}

#[test]
fn every_count_is_that_of_the_readme() {
    let (_dir, database, report) = mini::imported();
    let expected = ReleaseCounts {
        frames: 6,
        lexunits: 17,
        lu_files: 15,
        documents: 2,
        frame_relations: 6,
        sem_types: 7,
        exemplar_sets: 34,
        fulltext_sets: 8,
        construction_sets: 1,
        sentence_layer_occurrences: 40,
        sentence_layer_sets: 39,
        sentence_occurrences: 40,
        sentences: 39,
    };
    assert_eq!(report.release.counts, expected);
    assert_eq!(report.release.name, "mini-framenet");
    assert_eq!(report.release.language, "en");
    assert_eq!(database.releases().unwrap(), [report.release]);
    assert!(report.disk_bytes > 0);
}

#[test]
fn what_was_counted_is_what_is_stored() {
    let (_dir, database, report) = mini::imported();
    let (store, release) = (database.store(), report.release.id);
    let counts = report.release.counts;
    // One frame and one LU more than the files define: full text names them.
    let with_file = store.frames(release).unwrap().filter(|row| row.as_ref().unwrap().has_file);
    assert_eq!(with_file.count() as u64, counts.frames - 1);
    assert_eq!(store.frames(release).unwrap().count() as u64, counts.frames);
    assert_eq!(store.lexunits(release).unwrap().count() as u64, counts.lexunits);
    let sets = store.annotation_sets(release).unwrap().count() as u64;
    assert_eq!(sets, counts.exemplar_sets + counts.fulltext_sets);
    let layers = store.all_sentence_layers(release).unwrap().count() as u64;
    assert_eq!(layers, counts.sentence_layer_sets + counts.construction_sets);
    assert_eq!(store.sentences(release).unwrap().count() as u64, counts.sentences);
    assert_eq!(store.relations(release).unwrap().count() as u64, counts.frame_relations);
    assert_eq!(store.sem_types(release).unwrap().count() as u64, counts.sem_types);
    // Full text, and the document that an LU file's header names.
    assert_eq!(store.documents(release).unwrap().count() as u64, counts.documents + 2);

    let by_status = |query| mini::answers(&database, query).len();
    assert_eq!(by_status("origin=exemplar status=MANUAL"), 32);
    assert_eq!(by_status("origin=exemplar status=AUTO_EDITED"), 1);
    assert_eq!(by_status("origin=exemplar status=AUTO_APP"), 1);
    assert_eq!(by_status("origin=fulltext status=MANUAL"), 7);
    assert_eq!(by_status("origin=fulltext status=UNANN"), 1);
}

#[test]
fn a_frame_keeps_every_field_of_its_file() {
    let (_dir, database, report) = mini::imported();
    let frame = database.store().frame(report.release.id, FrameId(102)).unwrap().unwrap();
    assert_eq!(frame.name, "Checking");
    assert!(frame.definition.starts_with("<def-root>A <fen>Checker</fen> looks at a <fen>Matter"));
    assert!(frame.definition.contains("<fex name=\"Mat\">the oven</fex>.</ex></def-root>"));
    assert_eq!(frame.created, Creation { by: "1".to_owned(), date: DATE.to_owned() });
    assert_eq!(frame.modified, DATE);
    assert!(frame.has_file);
    assert_eq!(frame.sem_types, []);
    let core_sets = [vec![FeId(2001), FeId(2003)], vec![FeId(2002), FeId(2004)]];
    assert_eq!(frame.core_sets, core_sets);
    let names: Vec<&str> = frame.elements.iter().map(|fe| fe.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "Checker",
            "Matter",
            "Document",
            "Quarry",
            "Standard",
            "Instrument",
            "Manner",
            "Time",
            "Doubt"
        ]
    );

    let checker = frame.fe_by_name("Checker").unwrap();
    assert_eq!((checker.id, checker.core_type), (FeId(2001), CoreType::Core));
    assert_eq!(checker.abbreviation, "Chk");
    assert_eq!(checker.definition, "<def-root>Whoever does the checking.</def-root>");
    assert_eq!(checker.sem_types, [SemTypeId(2)]);
    assert_eq!((checker.colors.fg.as_str(), checker.colors.bg.as_str()), ("FFFFFF", "FF0000"));
    assert_eq!(frame.fe_by_name("Document").unwrap().excludes, [FeId(2001)]);
    assert_eq!(frame.fe_by_name("Quarry").unwrap().requires, [FeId(2002)]);
    assert_eq!(frame.fe_by_name("Standard").unwrap().core_type, CoreType::Peripheral);
    assert_eq!(frame.fe_by_name("Time").unwrap().core_type, CoreType::ExtraThematic);
    assert_eq!(frame.fe_by_name("Doubt").unwrap().core_type, CoreType::CoreUnexpressed);
}

#[test]
fn an_lu_keeps_what_its_two_files_say() {
    let (_dir, database, report) = mini::imported();
    let (store, release) = (database.store(), report.release.id);
    let lu = store.lexunit(release, FrameId(102), LuId(1006)).unwrap().unwrap();
    assert_eq!((lu.name.as_str(), lu.lemma(), lu.pos), ("look over.v", "look over", Pos::Verb));
    assert_eq!(lu.status, "Finished_Initial");
    assert_eq!(lu.definition, "MINI: check quickly from one end to the other");
    assert_eq!(lu.lemma_id, Some(4006));
    assert_eq!(lu.created, Creation { by: "2".to_owned(), date: DATE.to_owned() });
    assert_eq!((lu.sentence_count.annotated, lu.sentence_count.total), (2, 9));
    assert_eq!((lu.total_annotated, lu.incorporated_fe.as_deref()), (2, None));
    assert_eq!(lu.subcorpora, ["V-np-over"]);
    assert!(lu.listing.frame_file && lu.listing.lu_file);
    let lexemes: Vec<_> = lu
        .lexemes
        .iter()
        .map(|word| (word.name.as_str(), word.pos, word.order, word.headword, word.break_before))
        .collect();
    assert_eq!(
        lexemes,
        [
            ("look", Pos::Verb, Some(1), Some(true), Some(false)),
            ("over", Pos::Adverb, Some(2), Some(false), Some(true)),
        ]
    );

    let valences = &lu.valences;
    assert_eq!((valences.realizations.len(), valences.groups.len()), (3, 2));
    let group = &valences.groups[1];
    assert_eq!((group.elements.join(" "), group.total), ("Checker Matter Time".to_owned(), 1));
    let pattern = &group.patterns[0];
    assert_eq!((pattern.total, pattern.sets.as_slice()), (1, [exemplar(7042)].as_slice()));
    let units: Vec<_> = pattern
        .units
        .iter()
        .map(|unit| (unit.fe.as_str(), unit.pt.as_str(), unit.gf.as_str()))
        .collect();
    assert_eq!(
        units,
        [("Checker", "NP", "Ext"), ("Matter", "NP", "Obj"), ("Time", "PPing", "Dep")]
    );
}

#[test]
fn an_exemplar_set_keeps_every_layer() {
    let (_dir, database, report) = mini::imported();
    let (store, release) = (database.store(), report.release.id);
    let set = store.annotation_set(release, exemplar(7042)).unwrap().unwrap();
    let sentence = store.sentence(release, set.sentence).unwrap().unwrap();
    assert_eq!(sentence.id, SentenceId::new(IdSpace::Exemplar, 5020));
    assert_eq!(sentence.xml_id, Some(5020));
    assert_eq!(sentence.text, "My sister looked the contract over before signing it . ");
    assert_eq!(sentence.occurrences.len(), 1);
    let place = &sentence.occurrences[0];
    assert_eq!((place.lu, place.subcorpus.as_deref()), (Some(LuId(1006)), Some("V-np-over")));
    assert_eq!((place.number, place.position), (Some(0), Some(502_000)));

    assert_eq!((set.frame, set.lu, set.xml_id), (FrameId(102), LuId(1006), Some(7042)));
    assert_eq!((set.status.as_str(), set.created.as_str()), ("MANUAL", DATE));
    assert_eq!(set.fe_status, FeStatus::Annotated);
    assert_eq!(set.targets, [Span::new(10, 16), Span::new(30, 34)]);
    assert_eq!(set.trigger(&sentence.text), "looked over");
    let from = Provenance::Exemplar { lu: LuId(1006), subcorpus: "V-np-over".to_owned() };
    assert_eq!(set.provenance, from);
    let layers: Vec<(&str, u8, usize)> = set
        .layers
        .iter()
        .map(|layer| (layer.name.as_str(), layer.rank, layer.labels.len()))
        .collect();
    assert_eq!(
        layers,
        [
            ("FE", 1, 3),
            ("GF", 1, 3),
            ("PT", 1, 3),
            ("Sent", 1, 0),
            ("Other", 1, 0),
            ("Target", 1, 2),
            ("Verb", 1, 0)
        ]
    );
    let matter = &set.layers[0].labels[1];
    assert_eq!((matter.name.as_str(), matter.fe), ("Matter", Some(FeId(2002))));
    assert_eq!((matter.annotator.as_str(), &matter.colors), ("7", &None));
    let Extent::Overt(span) = matter.extent else { panic!("Matter covers text") };
    assert_eq!(span.of(&sentence.text), Some("the contract"));
}

#[test]
fn a_full_text_set_keeps_its_document_and_colours() {
    let (_dir, database, report) = mini::imported();
    let (store, release) = (database.store(), report.release.id);
    let id = AnnotationSetId::new(IdSpace::FullText, 8002);
    let set = store.annotation_set(release, id).unwrap().unwrap();
    let sentence = store.sentence(release, set.sentence).unwrap().unwrap();
    assert_eq!((set.frame, set.lu), (FrameId(102), LuId(1001)));
    assert_eq!(set.trigger(&sentence.text), "checked");
    assert_eq!(
        set.provenance,
        Provenance::FullText { corpus: CorpusId(301), document: DocumentId(401) }
    );
    let time = &set.fe_layers().next().unwrap().labels[0];
    let colors = time.colors.as_ref().unwrap();
    assert_eq!((colors.fg.as_str(), colors.bg.as_str()), ("FFFFFF", "2E8B57"));
    assert_eq!(time.extent.span().unwrap().of(&sentence.text), Some("On Monday"));

    let document = store.document(release, CorpusId(301), DocumentId(401)).unwrap().unwrap();
    assert_eq!((document.corpus_name.as_str(), document.name.as_str()), ("MINI", "HarbourLog"));
    assert_eq!(document.file, "MINI__HarbourLog");
    let numbers: Vec<u64> = document.sentences.iter().map(|id| id.number()).collect();
    assert_eq!(numbers, [6001, 6002, 5002, 6003]);
    assert_eq!(document.sentences[0], sentence.id);

    let layers = store.sentence_layers(release, sentence.id).unwrap();
    let layers: Vec<_> = layers.collect::<Result<_, _>>().unwrap();
    assert_eq!(layers.len(), 1);
    assert_eq!(layers[0].listed_under, []);
    let names: Vec<LayerName> = layers[0].layers.iter().map(|layer| layer.name.clone()).collect();
    assert_eq!(names, [LayerName::Penn, LayerName::Ner, LayerName::Wsl]);
}
