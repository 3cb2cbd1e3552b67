//! Every oddity of mini-framenet's README: the warning that it gives, and what is kept of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use fnstore::database::Database;
use fnstore::framenet::WarningCode;
use fnstore::internals::WithStore as _;
use fnstore::model::{
    AnnotationSet, AnnotationSetId, Extent, FeStatus, FrameId, IdSpace, LayerName, LuId,
    NullInstantiation, Pos, SemTypeId, Sentence, SentenceId,
};
use fnstore::transfer::ImportReport;

use crate::mini;

/// A set with its sentence; `x7042` and the like as in queries.
fn set(database: &Database, id: &str) -> (AnnotationSet, Sentence) {
    let release = database.releases().unwrap()[0].id;
    let id = AnnotationSetId::parse(id).unwrap();
    let set = database.store().annotation_set(release, id).unwrap().unwrap();
    let sentence = database.store().sentence(release, set.sentence).unwrap().unwrap();
    (set, sentence)
}

fn null_instantiations(set: &AnnotationSet) -> Vec<(&str, &str)> {
    let labels = set.fe_layers().flat_map(|layer| &layer.labels);
    labels
        .filter_map(|label| match &label.extent {
            Extent::Null(kind) => Some((label.name.as_str(), kind.as_str())),
            _ => None,
        })
        .collect()
}

/// File and detail of the only warning of a code.
fn only(report: &ImportReport, code: WarningCode) -> (String, String) {
    assert_eq!(report.warnings.count(code), 1, "{code}");
    let (_, _, examples) = report.warnings.iter().find(|(found, ..)| *found == code).unwrap();
    (examples[0].file.clone(), examples[0].detail.clone())
}

#[test]
fn each_oddity_gives_its_warning_and_nothing_else_gives_one() {
    let (_dir, _database, report) = mini::imported();
    let counts: BTreeMap<&str, u64> =
        report.warnings.iter().map(|(code, count, _)| (code.as_str(), count)).collect();
    let expected = BTreeMap::from([
        ("W-duplicate-label", 1),
        ("W-frame-missing", 1),
        ("W-lu-missing", 1),
        ("W-lu-without-file", 1),
        ("W-lu-name-repeated", 1),
        ("W-null-unknown", 1),
        ("W-target-layers", 1),
        ("W-target-empty", 1),
        ("W-sentence-conflict", 1),
    ]);
    assert_eq!(report.warnings.faults(), expected.len() as u64);
    // Traits: counted, and nothing is wrong with them.
    let traits = BTreeMap::from([
        ("W-fe-rank", 2),
        ("W-fe-repeated", 1),
        ("W-lu-without-exemplar", 2),
        ("W-null-incorporated", 3),
        ("W-number-shared", 2),
        ("W-sem-types-several", 1),
        ("W-sentence-repeated", 1),
        ("W-set-unannotated", 1),
        ("W-sets-several", 1),
        ("W-target-pieces", 3),
        ("W-text-markup", 1),
        ("W-text-non-ascii", 2),
        ("W-text-space", 32),
        // The files are written by hand: white space, and values that are left out.
        ("W-written-otherwise", 28),
    ]);
    assert_eq!(counts, expected.into_iter().chain(traits).collect());
}

#[test]
fn a_label_given_twice_is_kept_twice() {
    let (_dir, database, report) = mini::imported();
    let (file, detail) = only(&report, WarningCode::DuplicateLabel);
    assert_eq!(file, "lu/lu1002.xml");
    assert!(detail.contains("`Ext`"), "{detail}");
    let (set, _) = set(&database, "x7022");
    let gf = set.layers.iter().find(|layer| layer.name == LayerName::Gf).unwrap();
    assert_eq!(gf.labels.iter().filter(|label| label.name == "Ext").count(), 2);
}

#[test]
fn a_frame_and_an_lu_without_files_are_kept_by_name() {
    let (_dir, database, report) = mini::imported();
    assert_eq!(only(&report, WarningCode::FrameMissing).0, "fulltext/MINI__HarbourLog.xml");
    assert!(only(&report, WarningCode::LuMissing).1.contains("`stitch.v` (1999)"));
    let (store, release) = (database.store(), report.release.id);
    let frame = store.frame(release, FrameId(199)).unwrap().unwrap();
    assert_eq!((frame.name.as_str(), frame.has_file), ("Draft_sewing", false));
    let lu = store.lexunit(release, FrameId(199), LuId(1999)).unwrap().unwrap();
    assert_eq!((lu.name.as_str(), lu.pos), ("stitch.v", Pos::Verb));
    assert!(!lu.listing.frame_file && !lu.listing.lu_file);
    assert_eq!(mini::answers(&database, "frame=Draft_sewing"), ["mini-framenet f8008"]);
    let (set, _) = set(&database, "f8008");
    assert!(set.fe_layers().all(|layer| !layer.labels.is_empty()));
}

#[test]
fn an_lu_that_only_its_frame_names_is_kept_with_its_status() {
    let (_dir, database, report) = mini::imported();
    assert_eq!(only(&report, WarningCode::LuWithoutFile).0, "frame/Checking.xml");
    let lu = database.store().lexunit(report.release.id, FrameId(102), LuId(1009)).unwrap();
    let lu = lu.unwrap();
    assert_eq!((lu.name.as_str(), lu.status.as_str()), ("proof.v", "Problem"));
    assert!(lu.listing.frame_file && !lu.listing.lu_file);
}

#[test]
fn two_lus_of_one_name_are_both_found_by_it() {
    let (_dir, database, report) = mini::imported();
    assert!(only(&report, WarningCode::LuNameRepeated).1.contains("two LUs `check.v`"));
    let found = database.store().lexunits_by_name(report.release.id, "check.v", false).unwrap();
    assert_eq!(found, [(FrameId(102), LuId(1001)), (FrameId(102), LuId(1007))]);
    // Ten exemplars of the one, one of the other, two sets of full text.
    assert_eq!(mini::answers(&database, "lu=check.v").len(), 13);
}

#[test]
fn frame_elements_keep_all_semantic_types_and_may_lack_an_abbreviation() {
    let (_dir, database, report) = mini::imported();
    let (store, release) = (database.store(), report.release.id);
    let frame = store.frame(release, FrameId(102)).unwrap().unwrap();
    assert_eq!(frame.fe_by_name("Instrument").unwrap().sem_types, [SemTypeId(1), SemTypeId(3)]);
    assert_eq!(frame.fe_by_name("Doubt").unwrap().abbreviation, "");
    let happening = store.frame(release, FrameId(101)).unwrap().unwrap();
    assert_eq!(happening.sem_types.len(), 1);
    assert_eq!(store.lexunits_of(release, FrameId(101)).unwrap().count(), 0);
    let check = store.lexunit(release, FrameId(102), LuId(1001)).unwrap().unwrap();
    assert_eq!(check.sem_types, [SemTypeId(6)]);
    let time = store.sem_type(release, SemTypeId(5)).unwrap().unwrap();
    assert_eq!((time.name.as_str(), time.definition.as_str()), ("Time", ""));
}

#[test]
fn lus_keep_incorporated_elements_and_names_that_look_like_numbers() {
    let (_dir, database, report) = mini::imported();
    let (store, release) = (database.store(), report.release.id);
    let lu = |frame, lu| store.lexunit(release, FrameId(frame), LuId(lu)).unwrap().unwrap();
    assert_eq!(lu(103, 1103).incorporated_fe.as_deref(), Some("Material"));
    assert_eq!(lu(104, 1202).incorporated_fe.as_deref(), Some("Vehicle"));
    assert_eq!(
        (lu(105, 1302).name.as_str(), lu(105, 1302).lexemes[0].name.as_str()),
        ("86.v", "86")
    );
    assert!(lu(102, 1008).valences.is_empty(), "no exemplars, no valences");
    assert!(lu(102, 1004).subcorpora.contains(&String::new()), "a subcorpus without a name");
    assert_eq!(lu(102, 1005).valences.governors.len(), 2);
}

#[test]
fn targets_may_be_discontinuous_given_in_two_layers_or_empty() {
    let (_dir, database, report) = mini::imported();
    for (id, trigger, pieces) in
        [("x7042", "looked over", 2), ("f8006", "looked over", 2), ("x7044", "look over", 2)]
    {
        let (set, sentence) = set(&database, id);
        assert_eq!((set.trigger(&sentence.text).as_str(), set.targets.len()), (trigger, pieces));
    }
    assert_eq!(only(&report, WarningCode::TargetLayers).0, "lu/lu1006.xml");
    assert_eq!(only(&report, WarningCode::TargetEmpty).0, "lu/lu1102.xml");
    let (set, sentence) = set(&database, "x7054");
    assert_eq!((set.targets.len(), set.trigger(&sentence.text).as_str()), (0, ""));
    assert!(set.fe_layers().any(|layer| !layer.labels.is_empty()), "its FEs are kept");
}

#[test]
fn elements_keep_every_span_and_every_rank() {
    let (_dir, database, _report) = mini::imported();
    let (twice, sentence) = set(&database, "x7014");
    let matters: Vec<&str> = twice
        .fe_layers()
        .flat_map(|layer| &layer.labels)
        .filter(|label| label.name == "Matter")
        .filter_map(|label| label.extent.span().and_then(|span| span.of(&sentence.text)))
        .collect();
    assert_eq!(matters, ["the doors", "that"]);
    let (ranked, _) = set(&database, "x7028");
    assert_eq!(ranked.fe_layers().map(|layer| layer.rank).collect::<Vec<_>>(), [1, 2, 3]);
}

#[test]
fn null_instantiations_of_every_kind_are_kept() {
    let (_dir, database, report) = mini::imported();
    let kinds = |id| -> Vec<String> {
        let (set, _) = set(&database, id);
        null_instantiations(&set).iter().map(|(name, kind)| format!("{name} {kind}")).collect()
    };
    assert!(kinds("x7006").contains(&"Checker CNI".to_owned()));
    assert!(kinds("x7056").iter().any(|kind| kind.ends_with("INC")));
    let of_7040 = kinds("x7040").join(" ");
    assert!(of_7040.contains("INI") && of_7040.contains("DNI"), "{of_7040}");
    assert_eq!(only(&report, WarningCode::NullUnknown).0, "lu/lu1004.xml");
    let (odd, _) = set(&database, "x7036");
    let label = odd.fe_layers().flat_map(|layer| &layer.labels).find(|fe| fe.name == "Standard");
    let kept = Extent::Null(NullInstantiation::Other("XNI".to_owned()));
    assert_eq!(label.unwrap().extent, kept);

    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for set in database.store().annotation_sets(report.release.id).unwrap() {
        for (_, kind) in null_instantiations(&set.unwrap()) {
            *counts.entry(kind.to_owned()).or_default() += 1;
        }
    }
    let expected = [("CNI", 8), ("DNI", 3), ("INC", 3), ("INI", 2), ("XNI", 1)];
    assert_eq!(counts, expected.map(|(kind, count)| (kind.to_owned(), count)).into());
}

#[test]
fn a_full_text_set_that_nobody_annotated_is_a_frame_set_without_elements() {
    let (_dir, database, _report) = mini::imported();
    let (unannotated, sentence) = set(&database, "f7002");
    assert_eq!(unannotated.fe_status, FeStatus::Unannotated);
    assert_eq!(unannotated.trigger(&sentence.text), "wandered");
    // The same number under lu/ is another set.
    let (exemplar, _) = set(&database, "x7002");
    assert_eq!((exemplar.lu, unannotated.lu), (LuId(1001), LuId(1201)));
}

#[test]
fn one_sentence_of_two_lu_files_is_one_record() {
    let (_dir, database, report) = mini::imported();
    let (store, release) = (database.store(), report.release.id);
    let id = SentenceId::new(IdSpace::Exemplar, 5001);
    let sentence = store.sentence(release, id).unwrap().unwrap();
    let lus: Vec<_> = sentence.occurrences.iter().map(|place| place.lu).collect();
    assert_eq!(lus, [Some(LuId(1001)), Some(LuId(1002))]);
    let layers: Vec<_> = store.sentence_layers(release, id).unwrap().map(Result::unwrap).collect();
    assert_eq!(layers.len(), 1);
    assert_eq!(layers[0].listed_under, [LuId(1001), LuId(1002)]);
    let sets: Vec<_> = store.sets_of_sentence(release, id).unwrap().map(Result::unwrap).collect();
    assert_eq!(sets.iter().map(ToString::to_string).collect::<Vec<_>>(), ["x7002", "x7020"]);
    let ten = SentenceId::new(IdSpace::Exemplar, 5010);
    assert_eq!(store.sets_of_sentence(release, ten).unwrap().count(), 2);
}

#[test]
fn one_number_with_two_texts_is_two_sentences() {
    let (_dir, database, report) = mini::imported();
    assert_eq!(only(&report, WarningCode::SentenceConflict).0, "lu/lu1101.xml");
    let (first, first_text) = set(&database, "x7032");
    let (second, second_text) = set(&database, "x7050");
    assert_eq!(first.sentence, SentenceId::new(IdSpace::Exemplar, 5090));
    assert!(second.sentence.number() >= 1 << 48, "a fresh number");
    assert_eq!((first_text.xml_id, second_text.xml_id), (Some(5090), Some(5090)));
    assert_ne!(first_text.text, second_text.text);
    // Between the folders a number may stand for two texts without any warning.
    let text = |space| {
        let id = SentenceId::new(space, 5002);
        database.store().sentence(report.release.id, id).unwrap().unwrap().text
    };
    assert!(text(IdSpace::Exemplar).starts_with("The engineer"));
    assert!(text(IdSpace::FullText).starts_with("A torn sail"));
}

#[test]
fn texts_are_kept_byte_by_byte() {
    let (_dir, database, _report) = mini::imported();
    let (_, spaced) = set(&database, "x7010");
    assert_eq!(spaced.text, " The doctor checked her temperature twice and wrote it down .");
    let (escaped, text) = set(&database, "f7002");
    assert_eq!(text.text, "The gauge read < 5 & the crew wandered off .");
    assert_eq!(escaped.targets[0].of(&text.text), Some("wandered"));
    let (astral, text) = set(&database, "x7008");
    assert!(text.text.starts_with('\u{1f6b2}'));
    assert!(text.text.contains("Zoe\u{301}") || text.text.contains("Zo\u{e9}"));
    assert_eq!(astral.trigger(&text.text), "checked");
    let (cycled, text) = set(&database, "f8011");
    assert_eq!(cycled.trigger(&text.text), "cycle");
}

#[test]
fn constructions_and_sentences_without_frames_are_kept() {
    let (_dir, database, report) = mini::imported();
    let (store, release) = (database.store(), report.release.id);
    let id = SentenceId::new(IdSpace::FullText, 6005);
    let layers: Vec<_> = store.sentence_layers(release, id).unwrap().map(Result::unwrap).collect();
    let construction = layers.iter().find_map(|set| set.construction.clone());
    assert_eq!(construction, Some((11, "The_more_the_more".to_owned())));
    let empty = SentenceId::new(IdSpace::FullText, 6006);
    assert_eq!(store.sets_of_sentence(release, empty).unwrap().count(), 0);
    assert_eq!(store.sentence_layers(release, empty).unwrap().count(), 1);
}

#[test]
fn an_exemplar_may_name_its_corpus_and_document() {
    let (_dir, database, _report) = mini::imported();
    let (_, sentence) = set(&database, "x7064");
    let place = &sentence.occurrences[0];
    assert_eq!((place.paragraph, place.number, place.position), (Some(5), Some(2), Some(90210)));
    assert_eq!(mini::answers(&database, "doc=Minutes"), ["mini-framenet x7064"]);
    assert!(mini::answers(&database, "corpus=MINI").contains(&"mini-framenet x7064".to_owned()));
}

#[test]
fn a_missing_top_file_is_a_warning_and_what_is_left_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let release = dir.path().join("bare");
    mini::copy(&mini::framenet(), &release);
    for file in ["luIndex.xml", "semTypes.xml", "frRelation.xml", "fulltextIndex.xml"] {
        fs::remove_file(release.join(file)).unwrap();
    }
    let database = Database::open_writer(&dir.path().join("store")).unwrap();
    let report = mini::import(&database, &release).unwrap();
    let counts = report.release.counts;
    // Semantic types that frames and LUs name are kept by name.
    assert_eq!((counts.sem_types, counts.frame_relations), (7, 0));
    assert_eq!((counts.exemplar_sets, counts.fulltext_sets), (34, 8));
    assert_eq!(report.warnings.count(WarningCode::IndexMismatch), 0);
    assert_eq!(report.warnings.count(WarningCode::FileMissing), 4);
}

#[test]
fn an_index_that_names_what_is_not_there_is_a_warning_for_each_name() {
    let dir = tempfile::tempdir().unwrap();
    let release = dir.path().join("torn");
    mini::copy(&mini::framenet(), &release);
    fs::remove_file(release.join("frame/Happening.xml")).unwrap();
    fs::remove_file(release.join("lu/lu1302.xml")).unwrap();
    fs::remove_file(release.join("fulltext/MINI__BikeRide.xml")).unwrap();
    let database = Database::open_writer(&dir.path().join("store")).unwrap();
    let report = mini::import(&database, &release).unwrap();
    let (_, _, mismatches) =
        report.warnings.iter().find(|(code, ..)| *code == WarningCode::IndexMismatch).unwrap();
    let files: Vec<&str> = mismatches.iter().map(|warning| warning.file.as_str()).collect();
    assert_eq!(files, ["frameIndex.xml", "luIndex.xml", "fulltextIndex.xml"]);
    // Three relations of inheritance name the frame.
    assert_eq!(report.warnings.count(WarningCode::RelationDangling), 3);
    // Its name is known from the index, so queries may use it.
    assert_eq!(mini::answers(&database, "inherits=Happening").len(), 36);
}

/// Rewrites a file of a copied release.
fn edit(file: &Path, change: impl FnOnce(String) -> String) {
    let text = fs::read_to_string(file).unwrap();
    let changed = change(text.clone());
    assert_ne!(changed, text, "{}", file.display());
    fs::write(file, changed).unwrap();
}

#[test]
fn of_two_things_of_one_number_both_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let release = dir.path().join("mini-framenet");
    mini::copy(&mini::framenet(), &release);
    for (file, again) in [
        ("frame/Checking.xml", "frame/Checking_again.xml"),
        ("lu/lu1001.xml", "lu/lu10010.xml"),
        ("fulltext/MINI__HarbourLog.xml", "fulltext/MINI__HarbourLog_again.xml"),
    ] {
        fs::copy(release.join(file), release.join(again)).unwrap();
    }
    edit(&release.join("semTypes.xml"), |text| {
        text.replace("</semTypes>", "<semType ID=\"1\" name=\"Later\"/></semTypes>")
    });
    edit(&release.join("frRelation.xml"), |text| {
        let start = text.find("<frameRelation ").unwrap();
        let end = start + text[start..].find("</frameRelation>").unwrap() + 16;
        let once = text[start..end].to_owned();
        text.replacen(&once, &format!("{once}{once}"), 1)
    });
    let database = Database::open_writer(&dir.path().join("store")).unwrap();
    let report = mini::import(&database, &release).unwrap();
    let (_, count, repeated) =
        report.warnings.iter().find(|(code, ..)| *code == WarningCode::IdRepeated).unwrap();
    let files: Vec<&str> = repeated.iter().map(|warning| warning.file.as_str()).collect();
    assert_eq!(count, 5);
    assert_eq!(
        files,
        [
            "semTypes.xml",
            "frame/Checking_again.xml",
            "frRelation.xml",
            "lu/lu10010.xml",
            "fulltext/MINI__HarbourLog_again.xml"
        ]
    );
    let counts = report.release.counts;
    assert_eq!((counts.frames, counts.lu_files, counts.documents), (7, 16, 3));
    let lexicon = database.lexicons().unwrap().remove(0);
    let called = |name: &str| {
        let frames = lexicon.frame_names().unwrap().map(Result::unwrap);
        frames.filter(|(_, frame)| frame == name).count()
    };
    assert_eq!(called("Checking"), 2);
    let later = lexicon.semtype_by_name("Later").unwrap().unwrap();
    assert_ne!(later.id, lexicon.semtype_by_name("Physical_entity").unwrap().unwrap().id);
}

#[test]
fn a_label_of_half_a_span_or_of_span_and_null_instantiation_is_a_warning() {
    let dir = tempfile::tempdir().unwrap();
    let release = dir.path().join("torn");
    mini::copy(&mini::framenet(), &release);
    edit(&release.join("lu/lu1301.xml"), |text| {
        text.replace("end=\"5\" start=\"0\" name=\"Judge\"", "start=\"0\" name=\"Judge\"")
            .replace("start=\"0\" name=\"Judge\"/>\n                    <label cBy=\"7\" feID=\"2302\" end=\"32\"", "start=\"0\" name=\"Judge\"/>\n                    <label itype=\"INI\" cBy=\"7\" feID=\"2302\" end=\"32\"")
    });
    let database = Database::open_writer(&dir.path().join("store")).unwrap();
    let report = mini::import(&database, &release).unwrap();
    assert_eq!(report.warnings.count(WarningCode::UnreadableValue), 2);
    let (set, _) = set(&database, "x7064");
    let plan = set.fe_layers().next().unwrap().labels[1].extent.span();
    assert_eq!(plan.map(|span| (span.start, span.end)), Some((23, 33)));
}

#[test]
fn labels_that_differ_in_their_annotator_are_both_kept() {
    let dir = tempfile::tempdir().unwrap();
    let release = dir.path().join("two");
    mini::copy(&mini::framenet(), &release);
    edit(&release.join("lu/lu1301.xml"), |text| {
        let label = "<label cBy=\"7\" feID=\"2301\" end=\"12\" start=\"0\" name=\"Judge\"/>";
        text.replace(label, &format!("{label}{}", label.replace("\"7\"", "\"8\"")))
    });
    let database = Database::open_writer(&dir.path().join("store")).unwrap();
    let report = mini::import(&database, &release).unwrap();
    assert_eq!(report.warnings.count(WarningCode::DuplicateLabel), 1, "the lexicon's own");
    let (set, _) = set(&database, "x7064");
    let judges = set.fe_layers().next().unwrap().labels.iter();
    assert_eq!(judges.filter(|label| label.name == "Judge").count(), 2);
}
