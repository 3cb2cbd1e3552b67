//! Golden records: one of each kind, as it is encoded, under `tests/data/records/`.
//!
//! A test fails when an encoding moves. What a release has written is never written again: stores
//! would not be readable any more, and a new layout is a new version beside the old one. Until the
//! first release an encoding may change:
//! `cargo test --release --lib write_the_golden_records -- --ignored` writes the files anew.

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use super::super::SetLocation;
use super::super::evidence::{LuEvidence, SetEvidence};
use super::super::key::DecisionKey;
use super::samples::*;
use super::*;
use crate::model::{
    AnnotationSetId, CarriedElement, Carrying, CorpusId, DocumentId, FeStatus, FrameId, IdSpace,
    LuId, Provenance, RecipeId, RelationId, SemTypeId, SentenceId, hexadecimal,
};

/// File name and value of every sample.
fn samples() -> Vec<(&'static str, Vec<u8>)> {
    let exemplar = Provenance::Exemplar { lu: LuId(1001), subcorpus: "V-np".to_owned() };
    let imported = Provenance::Imported { file: "own.jsonl".to_owned() };
    let fulltext = Provenance::FullText { corpus: CorpusId(301), document: DocumentId(401) };
    let recipe = RecipeRecord { fingerprint: [7; 16], description: "{\"beam\":4}".to_owned() };
    let location = |sentence| {
        let location = SetLocation { frame: FrameId(102), lu: LuId(1001), sentence };
        encode_location(AnnotationSetId::new(IdSpace::FullText, 8002), location)
    };
    let records = [
        ("frame", frame().to_value()),
        ("relation", relation().to_value()),
        ("semtype", sem_type().to_value()),
        ("lexunit", lexunit().to_value()),
        ("document", document().to_value()),
        ("document_described", described_document().to_value()),
        ("sentence", sentence().to_value()),
        ("annotation_exemplar", annotation(exemplar).to_value()),
        ("annotation_fulltext", annotation(fulltext).to_value()),
        ("annotation_imported", annotation(imported).to_value()),
        ("annotation_user", annotation(Provenance::User).to_value()),
        ("annotation_generated", generated().to_value()),
        ("annotation_judged", judged().to_value()),
        ("annotation_predicted", predicted().to_value()),
        ("annotation_carried", carried_along().to_value()),
        ("sentence_layers", sentence_layers().to_value()),
        ("layout_release", release_layout().to_value()),
        ("layout_release_described", described_layout().to_value()),
        ("layout_frame", frame_layout().to_value()),
        ("layout_lexunit", lexunit_layout().to_value()),
        ("layout_document", document_layout().to_value()),
        ("layout_numbers", numbers().to_value()),
        ("layout_foreign", foreign().to_value()),
        ("meta", encode(&meta())),
        ("meta_history", encode(&Bounds { commits: Some(1_000), seconds: None, oldest: 4 })),
        ("commit", commit().to_value()),
        ("before", encode(&image())),
        ("own_ids", encode(&OwnIdsRecord { numbers: 7, tagged: 1 << 40 })),
        ("location_own", location(SentenceId::new(IdSpace::FullText, 8002))),
        ("location", location(sentence_id())),
        ("recipe", encode(&recipe)),
        ("journal", journal().to_value()),
        ("judgement", judgement(false).to_value()),
        ("judgement_shown", judgement(true).to_value()),
        ("verification", verification().to_value()),
        ("verification_none", unverified().to_value()),
        ("decision", decided().to_value()),
        ("evidence", encode(&evidence())),
        ("edition", edition().to_value()),
        ("edition_listed", listed().to_value()),
        ("edition_promised", edition::promised().to_value()),
    ];
    let records = records.into_iter().chain(beside_releases());
    let changes = changes().into_iter().map(|(name, change)| (name, encode(&change)));
    records.chain(changes).map(|(name, value)| (name, value.unwrap())).collect()
}

/// Records of other lexicons, and of what is found through them.
fn beside_releases() -> Vec<(&'static str, Encoded)> {
    vec![
        ("resource", resource::resource().to_value()),
        ("synset", wordnet::synset().to_value()),
        ("sense", wordnet::word().to_value()),
        ("irregular", wordnet::irregular().to_value()),
        ("discovery", discovery::discovery().to_value()),
        ("predicate", predicate::predicate().to_value()),
        ("mapping", predicate::mapping().to_value()),
        ("link", link::links().to_value()),
    ]
}

/// A set that was carried into a generated sentence, with an FE that was not found.
fn carried_along() -> AnnotationSet {
    let element = |name: &str, score| CarriedElement { name: name.to_owned(), score };
    let carrying = Carrying {
        generated: AnnotationSetId::new(IdSpace::Generated, 403),
        source: AnnotationSetId::new(IdSpace::FullText, 8002),
        aligner: 0.75,
        elements: vec![element("Checker", Some(1.0)), element("Matter", None)],
    };
    let provenance = Provenance::Carried(Box::new(carrying));
    AnnotationSet { xml_id: None, fe_status: FeStatus::Carried, ..annotation(provenance) }
}

/// What two sets of an LU say.
fn evidence() -> LuEvidence {
    let mut evidence = LuEvidence::default();
    for set in [scored(), generated()] {
        evidence.add(&SetEvidence::of(&set, Some(0.75)).unwrap());
    }
    evidence.seeds = 1;
    let text = |_| Ok::<_, std::convert::Infallible>(Some("Zo\u{e9} checked it .".to_owned()));
    evidence.read_names(text).unwrap();
    evidence
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/records/{name}.hex"))
}

/// Hexadecimal, 32 bytes a line.
fn hex(value: &[u8]) -> String {
    value.chunks(32).map(|line| hexadecimal(line) + "\n").collect()
}

#[test]
fn every_record_is_encoded_as_its_golden_file_says() {
    for (name, value) in samples() {
        let golden = std::fs::read_to_string(path(name)).unwrap_or_default();
        assert_eq!(hex(&value), golden, "the encoding of {name} moved");
    }
    let files = std::fs::read_dir(path("").parent().unwrap()).unwrap();
    assert_eq!(files.count(), samples().len(), "a file is of no sample");
}

/// A record comes back as it was.
fn law<T: Stored + PartialEq + Debug>(key: &T::Key, record: &T) {
    assert_eq!(T::from_value(key, &record.to_value().unwrap()).as_ref(), Ok(record));
}

fn records_beside_releases_come_back(release: crate::model::ReleaseId) {
    law(&ResourceKey { resource: resource::resource().id }, &resource::resource());
    law(&SynsetKey { release, synset: wordnet::synset().id }, &wordnet::synset());
    let (predicate, mapping) = (predicate::predicate(), predicate::mapping());
    law(&PredicateKey { release, name: predicate.name.clone() }, &predicate);
    law(&MappingKey { release, number: mapping.number }, &mapping);
    let links = link::links();
    let (kind, number) = links.of.numbers();
    law(&LinkKey { release, frame: links.frame, kind, number }, &links);
    let found = discovery::discovery();
    law(&DiscoveryKey { release, frame: found.frame, name: found.name.clone() }, &found);
    let (word, irregular) = (wordnet::word(), wordnet::irregular());
    law(&SenseKey { release, class: word.class, lemma: word.lemma.clone() }, &word);
    let form = irregular.form.clone();
    law(&IrregularKey { release, class: irregular.class, form }, &irregular);
}

#[test]
fn every_record_comes_back_as_it_was() {
    let release = RELEASE;
    law(&FrameKey { release, frame: FrameId(102) }, &frame());
    law(&RelationKey { release, relation: RelationId(11) }, &relation());
    law(&SemTypeKey { release, sem_type: SemTypeId(5) }, &sem_type());
    law(&LexUnitKey { release, frame: FrameId(102), lu: LuId(1006) }, &lexunit());
    law(&document_key(), &document());
    law(&document_key(), &described_document());
    law(&SentenceKey { release, sentence: sentence_id() }, &sentence());
    let set_key =
        SentenceSetKey { release, sentence: sentence_id(), set: set(IdSpace::Exemplar, 7001) };
    law(&set_key, &sentence_layers());
    law(&CommitKey { revision: 12 }, &commit());
    for set in [
        annotation(Provenance::User),
        generated(),
        scored(),
        judged(),
        predicted(),
        carried_along(),
    ] {
        let (key, set) = keyed(set);
        law(&key, &set);
    }
    law(&release_layout_key(), &release_layout());
    law(&release_layout_key(), &described_layout());
    law(&LayoutKey::of_frame(release, FrameId(102)), &frame_layout());
    law(&LayoutKey::of_lexunit(release, FrameId(102), LuId(1006)), &lexunit_layout());
    law(&LayoutKey::of_document(release, CorpusId(301), DocumentId(401)), &document_layout());
    law(&release_layout_key(), &numbers());
    law(&release_layout_key(), &foreign());
    let set = set(IdSpace::Exemplar, 7012);
    law(&JournalKey { release, seed: set, target: 1, recipe: RecipeId(4) }, &journal());
    law(&JudgementKey::new(release, set, "kim", ""), &judgement(true));
    law(&SetKey { release, set }, &verification());
    law(&SetKey { release, set }, &unverified());
    let name = decided().name;
    law(&DecisionKey { release, frame: FrameId(102), name }, &decided());
    let key = EditionKey { release, name: edition().name };
    law(&key, &edition());
    law(&key, &listed());
    records_beside_releases_come_back(release);
    for (name, change) in changes() {
        assert_eq!(decode(&encode(&change).unwrap()), Ok(change), "{name}");
    }
}

#[test]
fn a_record_cut_short_or_changed_is_an_error_and_no_panic() {
    for (key, set) in [generated(), judged(), predicted(), carried_along()].map(keyed) {
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
fn a_change_that_no_writer_writes_is_an_error() {
    let read = |value: &[u8]| decode::<ChangeRecord>(value).unwrap_err();
    assert_eq!(read(&[3, 0]), "record version 3, expected 1");
    assert_eq!(read(&[1, 3, 3, 0]), "action 3");
    assert_eq!(read(&[1, 3, 0, 13]), "subject 13");
}

#[test]
#[ignore = "writes tests/data/records, which no release may have written before"]
fn write_the_golden_records() {
    for (name, value) in samples() {
        let path = path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, hex(&value)).unwrap();
    }
}
