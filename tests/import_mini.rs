//! What an import of the mini lexicon counts and keeps, oddity by oddity.

use fnstore::framenet::WarningCode;
use fnstore::model::{
    AnnotationSetId, CoreType, Extent, FeStatus, FrameId, IdSpace, LayerName, LuId,
    NullInstantiation, Origin, Pos, Provenance, SentenceId,
};

use crate::mini::{answers, database};

fn exemplar(number: u64) -> AnnotationSetId {
    AnnotationSetId::new(IdSpace::Exemplar, number)
}

fn fulltext(number: u64) -> AnnotationSetId {
    AnnotationSetId::new(IdSpace::FullText, number)
}

#[test]
fn the_counts_are_those_of_the_files() {
    let dir = tempfile::tempdir().unwrap();
    let (_, report) = database(dir.path());
    let counts = report.release.counts;
    assert_eq!((counts.frames, counts.lexunits, counts.lu_files), (5, 16, 15));
    assert_eq!((counts.documents, counts.frame_relations, counts.sem_types), (2, 6, 7));
    assert_eq!((counts.exemplar_sets, counts.fulltext_sets), (34, 8));
    assert_eq!(counts.construction_sets, 1);
    assert_eq!((counts.sentence_layer_occurrences, counts.sentence_layer_sets), (40, 39));
    assert_eq!((counts.sentence_occurrences, counts.sentences), (40, 39));
}

#[test]
fn every_oddity_has_its_code() {
    let dir = tempfile::tempdir().unwrap();
    let (_, report) = database(dir.path());
    let counted: Vec<(WarningCode, u64)> =
        report.warnings.iter().map(|(code, count, _)| (code, count)).collect();
    assert_eq!(
        counted,
        [
            (WarningCode::DuplicateLabel, 1),
            (WarningCode::FrameMissing, 1),
            (WarningCode::LuMissing, 1),
            (WarningCode::LuWithoutFile, 1),
            (WarningCode::LuNameRepeated, 1),
            (WarningCode::NullUnknown, 1),
            (WarningCode::TargetLayers, 1),
            (WarningCode::TargetEmpty, 1),
            (WarningCode::SentenceConflict, 1),
        ]
    );
    for (code, _, examples) in report.warnings.iter() {
        assert!(!examples[0].file.is_empty() && !examples[0].detail.is_empty(), "{code}");
    }
}

#[test]
fn a_frame_keeps_its_elements_with_everything_about_them() {
    let dir = tempfile::tempdir().unwrap();
    let (database, report) = database(dir.path());
    let frame = database.store().frame(report.release.id, FrameId(102)).unwrap().unwrap();
    assert_eq!((frame.name.as_str(), frame.has_file), ("Checking", true));
    assert!(frame.definition.starts_with("<def-root>A <fen>Checker</fen> looks at"));
    assert!(frame.definition.contains("\n\n<ex>"), "line breaks are kept");
    assert_eq!(frame.core_sets.len(), 2);
    let fe = |name: &str| frame.fe_by_name(name).unwrap();
    assert_eq!(fe("Checker").core_type, CoreType::Core);
    assert_eq!(fe("Instrument").sem_types.len(), 2, "both semantic types");
    assert_eq!(fe("Document").excludes, [fe("Checker").id]);
    assert_eq!(fe("Quarry").requires, [fe("Matter").id]);
    assert_eq!(fe("Checker").created.date, "03/02/2026 09:30:00 UTC Mon");
}

#[test]
fn lexical_units_are_kept_by_number_with_or_without_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let (database, report) = database(dir.path());
    let release = report.release.id;
    let store = database.store();
    let twins = store.lexunits_by_name(release, "check.v", false).unwrap();
    assert_eq!(twins, [(FrameId(102), LuId(1001)), (FrameId(102), LuId(1007))]);
    let problem = store.lexunit(release, FrameId(102), LuId(1009)).unwrap().unwrap();
    assert_eq!((problem.status.as_str(), problem.listing.lu_file), ("Problem", false));
    let checked = store.lexunit(release, FrameId(102), LuId(1001)).unwrap().unwrap();
    assert!(checked.listing.frame_file && checked.listing.lu_file);
    assert_eq!(checked.pos, Pos::Verb);
    assert!(!checked.valences.realizations.is_empty());
    let stitch = store.lexunit(release, FrameId(199), LuId(1999)).unwrap().unwrap();
    assert_eq!(stitch.name, "stitch.v");
    assert!(!store.frame(release, FrameId(199)).unwrap().unwrap().has_file);
}

#[test]
fn discontinuous_targets_and_repeated_elements_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let (database, _) = database(dir.path());
    let found = answers(&database, "id=x7042");
    assert_eq!(found[0].set.targets.len(), 2);
    assert_eq!(found[0].trigger(), "looked over");
    let several = answers(&database, "id=x7014");
    let matters: Vec<&str> = several[0]
        .elements()
        .filter(|fe| fe.label.name == "Matter")
        .filter_map(|fe| fe.label.extent.span()?.of(&several[0].sentence.text))
        .collect();
    assert_eq!(matters, ["the doors", "that"]);
    let merged = answers(&database, "id=x7044");
    let layers = merged[0].set.layers.iter().filter(|layer| layer.name == LayerName::Target);
    assert_eq!(layers.count(), 2, "both Target layers are there");
    assert!(!merged[0].set.targets.is_empty());
    assert!(answers(&database, "id=x7054")[0].set.targets.is_empty());
}

#[test]
fn ranks_and_null_instantiations_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let (database, _) = database(dir.path());
    let ranks: Vec<u8> =
        answers(&database, "id=x7028")[0].set.fe_layers().map(|layer| layer.rank).collect();
    assert_eq!(ranks, [1, 2, 3]);
    let nulls = |id: &str| -> Vec<NullInstantiation> {
        let found = answers(&database, &format!("id={id}"));
        let extents = found[0].set.fe_layers().flat_map(|layer| &layer.labels);
        extents
            .filter_map(|label| match &label.extent {
                Extent::Null(kind) => Some(kind.clone()),
                _ => None,
            })
            .collect()
    };
    assert!(nulls("x7006").contains(&NullInstantiation::Constructional));
    assert!(nulls("x7040").contains(&NullInstantiation::Indefinite));
    assert!(nulls("x7040").contains(&NullInstantiation::Definite));
    assert!(nulls("x7056").contains(&NullInstantiation::Incorporated));
    assert!(nulls("x7036").contains(&NullInstantiation::Other("XNI".to_owned())));
}

#[test]
fn one_number_in_two_folders_is_two_things() {
    let dir = tempfile::tempdir().unwrap();
    let (database, report) = database(dir.path());
    let (store, release) = (database.store(), report.release.id);
    let text = |space| store.sentence(release, SentenceId::new(space, 5002)).unwrap().unwrap().text;
    assert_ne!(text(IdSpace::Exemplar), text(IdSpace::FullText));
    let set = store.annotation_set(release, fulltext(7002)).unwrap().unwrap();
    assert_eq!(set.fe_status, FeStatus::Unannotated);
    assert_eq!(set.provenance.origin(), Origin::FullText);
    assert!(store.annotation_set(release, exemplar(7002)).unwrap().is_some());
}

#[test]
fn one_number_with_two_texts_in_one_folder_gets_a_fresh_id() {
    let dir = tempfile::tempdir().unwrap();
    let (database, report) = database(dir.path());
    let sentences = database.store().sentences(report.release.id).unwrap();
    let both: Vec<_> =
        sentences.map(Result::unwrap).filter(|sentence| sentence.xml_id == Some(5090)).collect();
    assert_eq!(both.len(), 2);
    assert_ne!(both[0].text, both[1].text);
    assert_eq!(both[0].id.number(), 5090, "the first keeps its number");
    assert!(both[1].id.number() >= 1 << 48);
}

#[test]
fn a_sentence_in_two_files_is_one_record_with_two_occurrences() {
    let dir = tempfile::tempdir().unwrap();
    let (database, report) = database(dir.path());
    let (store, release) = (database.store(), report.release.id);
    let id = SentenceId::new(IdSpace::Exemplar, 5001);
    let sentence = store.sentence(release, id).unwrap().unwrap();
    let lus: Vec<_> = sentence.occurrences.iter().map(|place| place.lu).collect();
    assert_eq!(lus, [Some(LuId(1001)), Some(LuId(1002))]);
    let layers = store.sentence_layers_set(release, id, exemplar(7001)).unwrap().unwrap();
    assert_eq!(layers.listed_under, [LuId(1001), LuId(1002)]);
}

#[test]
fn texts_are_kept_to_the_byte_and_spans_cover_whole_characters() {
    let dir = tempfile::tempdir().unwrap();
    let (database, report) = database(dir.path());
    let (store, release) = (database.store(), report.release.id);
    let text = |number| {
        store.sentence(release, SentenceId::new(IdSpace::Exemplar, number)).unwrap().unwrap().text
    };
    assert!(text(5006).starts_with(' ') && !text(5006).ends_with(' '));
    assert!(text(5005).chars().any(|c| u32::from(c) > 0xFFFF), "an astral character");
    for answer in answers(&database, "") {
        for layer in &answer.set.layers {
            for label in &layer.labels {
                if let Some(span) = label.extent.span() {
                    assert!(
                        span.of(&answer.sentence.text).is_some(),
                        "{} {label:?}",
                        answer.set.id
                    );
                }
            }
        }
    }
}

#[test]
fn sets_without_a_frame_are_kept_beside_the_others() {
    let dir = tempfile::tempdir().unwrap();
    let (database, report) = database(dir.path());
    let layers: Vec<_> = database
        .store()
        .all_sentence_layers(report.release.id)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(layers.len(), 40);
    let construction = layers.iter().find(|set| set.construction.is_some()).unwrap();
    assert_eq!(construction.xml_id, 8014);
    let exemplars = answers(&database, "origin=exemplar");
    assert!(exemplars.iter().all(|answer| matches!(
        &answer.set.provenance,
        Provenance::Exemplar { lu, .. } if *lu == answer.set.lu
    )));
}
