//! FrameNets of other languages, and files that scripts wrote: what deviates is kept as it stands,
//! counted with its place, found by queries, and exported again.
//!
//! Each test changes one thing in a release without faults. [`Deviating::new`] asks of every one of
//! them what holds of all: two imports agree, a deep check finds nothing, XML and JSON lines bring
//! the same store back, and the XML is the release's own, but for what a warning announces.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use fnstore::database::{Database, DatabaseError};
use fnstore::framenet::{FramenetError, Warning, WarningCode, WarningLog};
use fnstore::internals::WithStore as _;
use fnstore::model::{Extent, FeId, FrameId, LuId, NullInstantiation, NumberKind, WrittenNumbers};
use fnstore::transfer::{ImportOptions, ImportReport};
use fnstore::upkeep::CheckOptions;
use tempfile::TempDir;

use crate::cli_schema::faults_in;
use crate::framenet_round_trip::{assert_equal, export};
use crate::{import_warnings, mini};

const LU: &str = "lu/lu1202.xml";
const FRAME: &str = "frame/Roaming.xml";
const DOCUMENT: &str = "fulltext/MINI__BikeRide.xml";

/// A release that deviates, imported, with what an export wrote of it.
pub(crate) struct Deviating {
    dir: TempDir,
    pub(crate) database: Database,
    pub(crate) report: ImportReport,
}

/// A store of its own below `dir`.
fn store(dir: &Path, name: &str) -> Database {
    Database::open_writer(&dir.join(name)).unwrap()
}

/// Every record of the only release, and what its fresh numbers are written as.
fn content(database: &Database) -> Vec<String> {
    let mut content = mini::content(database);
    content.extend(numbers(database).iter().map(|number| format!("{number:?}")));
    content.extend(foreign(database));
    content
}

/// What the files hold beside FrameNet.
pub(crate) fn foreign(database: &Database) -> Vec<String> {
    let release = database.releases().unwrap()[0].id;
    let files = database.store().all_foreign(release).unwrap();
    files.map(|file| format!("{:?}", file.unwrap())).collect()
}

/// The numbers that records were given, as text. A set that names its frame without a number needs
/// none.
fn given(database: &Database) -> Vec<String> {
    let release = database.releases().unwrap()[0].id;
    let numbers = numbers(database);
    let is_used = |kind, number: u64| {
        let frame = u32::try_from(number).map(FrameId).ok().filter(|_| kind == NumberKind::Frame);
        frame.is_none_or(|frame| database.store().frame(release, frame).unwrap().is_some())
    };
    let used = numbers.iter().filter(|(kind, number, _)| is_used(*kind, *number));
    used.map(|number| format!("{number:?}")).collect()
}

fn numbers(database: &Database) -> WrittenNumbers {
    let release = database.releases().unwrap()[0].id;
    database.store().written_numbers(release).unwrap()
}

impl Deviating {
    pub(crate) fn new(change: impl FnOnce(&Path)) -> Self {
        let (dir, base) = import_warnings::base();
        change(&base);
        let database = store(dir.path(), "first");
        let report = mini::import(&database, &base).unwrap_or_else(|error| panic!("{error}"));
        let this = Self { dir, database, report };
        this.is_whole();
        this.imports_alike(&base);
        this.comes_back_from_xml();
        this.says_what_an_export_changed(&base);
        this.comes_back_from_jsonl();
        this
    }

    fn is_whole(&self) {
        let check = self.database.check(CheckOptions { deep: true }, &mut |_| {}).unwrap();
        let findings: Vec<_> = check.findings.iter().collect();
        assert!(findings.is_empty(), "{findings:?}");
    }

    fn imports_alike(&self, release: &Path) {
        let again = store(self.dir.path(), "again");
        mini::import(&again, release).unwrap();
        assert_eq!(content(&self.database), content(&again));
    }

    fn comes_back_from_xml(&self) {
        let out = self.out();
        fs::create_dir(out.parent().unwrap()).unwrap();
        export(&self.database, "", &out).unwrap().unwrap();
        let second = store(self.dir.path(), "second");
        mini::import(&second, &out).unwrap_or_else(|error| panic!("{error}"));
        assert_equal(&self.database, &second);
        assert_eq!(given(&self.database), given(&second));
        assert_eq!(foreign(&self.database), foreign(&second));
    }

    /// Every file comes out byte for byte as it came in, but for what a warning of that file
    /// announces.
    fn says_what_an_export_changed(&self, release: &Path) {
        let (read, written) = (files(release), files(&self.out()));
        let mut called: BTreeSet<String> = BTreeSet::new();
        for (name, content) in &read {
            let name_out = self.name_in_export(name);
            called.insert(name_out.clone());
            match written.get(&name_out) {
                Some(out) if out == content => {}
                Some(_) => assert!(self.announces(name), "{name} changes and nothing says so"),
                None => assert!(self.announces(name), "{name} is gone and nothing says so"),
            }
        }
        for name in written.keys().filter(|name| !called.contains(*name)) {
            let repeated = self.report.warnings.count(WarningCode::IdRepeated);
            assert!(repeated > 0, "{name} comes from nowhere");
        }
    }

    /// The name that a warning says a file gets in an export.
    fn name_in_export(&self, name: &str) -> String {
        let folder =
            name.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
        let of_file = self.warnings(name).into_iter().map(|(_, detail)| detail);
        let mut called = of_file.filter_map(|detail| {
            let called = detail.strip_prefix("an export calls the file `")?.strip_suffix('`')?;
            Some(format!("{folder}{called}"))
        });
        called.next_back().unwrap_or(name.to_owned())
    }

    /// The warnings of a file.
    fn warnings(&self, file: &str) -> Vec<(WarningCode, String)> {
        let examples =
            self.report.warnings.iter().flat_map(|(code, _, examples)| {
                examples.iter().map(move |example| (code, example))
            });
        let of_file = examples.filter(|(_, example)| example.file == file);
        of_file.map(|(code, example)| (code, example.detail.clone())).collect()
    }

    /// Whether a warning says that an export writes a file otherwise; of more than are kept, one
    /// may.
    fn announces(&self, file: &str) -> bool {
        use WarningCode as W;
        let announcing = [W::WrittenOtherwise, W::NameMismatch, W::ElementMissing, W::IdWritten];
        announcing.iter().any(|code| {
            let kept = WarningLog::EXAMPLES as u64;
            self.report.warnings.count(*code) > kept
                || self.warnings(file).iter().any(|(found, _)| found == code)
        })
    }

    /// What the warnings of a code say.
    pub(crate) fn details(&self, code: &str) -> Vec<String> {
        let found = self.report.warnings.iter().filter(|(found, ..)| found.as_str() == code);
        let examples = found.flat_map(|(_, _, examples)| examples);
        examples.map(|example| example.detail.clone()).collect()
    }

    fn comes_back_from_jsonl(&self) {
        let mut lines = Vec::new();
        self.database.export_jsonl(&"".parse().unwrap(), false, &mut lines).unwrap().unwrap();
        let text = String::from_utf8(lines.clone()).unwrap();
        for line in text.lines().filter(|line| line.contains("\"kind\":\"written_number\"")) {
            let record = serde_json::from_str(line).unwrap();
            let faults = faults_in("jsonl-written-number.schema.json", &record);
            assert_eq!(faults, [""; 0], "{line}");
        }
        for line in text.lines().filter(|line| line.contains("\"kind\":\"foreign\"")) {
            let record = serde_json::from_str(line).unwrap();
            assert_eq!(faults_in("jsonl-foreign.schema.json", &record), [""; 0], "{line}");
        }
        let file = self.dir.path().join("release.jsonl");
        fs::write(&file, lines).unwrap();
        let second = store(self.dir.path(), "jsonl");
        second.import_jsonl(&file, None, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(content(&self.database), content(&second));
    }

    /// The release that an export wrote.
    pub(crate) fn out(&self) -> PathBuf {
        self.dir.path().join("out/mini-framenet")
    }

    pub(crate) fn exported(&self, file: &str) -> String {
        fs::read_to_string(self.out().join(file)).unwrap()
    }

    /// The codes of the faults, each once.
    fn codes(&self) -> BTreeSet<&'static str> {
        let codes = self.report.warnings.iter().map(|(code, ..)| code);
        codes.filter(|code| !code.is_trait()).map(WarningCode::as_str).collect()
    }

    /// The first warning of a code.
    fn first(&self, code: WarningCode) -> &Warning {
        let (_, _, examples) =
            self.report.warnings.iter().find(|(found, ..)| *found == code).unwrap();
        &examples[0]
    }

    /// Its place: file and line.
    fn place(&self, code: WarningCode) -> (&str, usize) {
        let warning = self.first(code);
        (&warning.file, warning.line)
    }

    pub(crate) fn answers(&self, query: &str) -> Vec<String> {
        let mut answers = mini::answers(&self.database, query);
        answers.iter_mut().for_each(|answer| *answer = answer.replace("mini-framenet ", ""));
        answers
    }

    /// The code at which a strict import ends.
    fn strict(&self) -> WarningCode {
        let database = store(self.dir.path(), "strict");
        let options = ImportOptions { strict: true, ..ImportOptions::default() };
        let release = self.dir.path().join("mini-framenet");
        match database.import(&release, &options, &mut |_| {}) {
            Err(DatabaseError::Framenet(FramenetError::Strict(warning))) => warning.code,
            outcome => panic!("{outcome:?}"),
        }
    }
}

/// The files below a directory, by name.
fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for folder in ["", "frame/", "lu/", "fulltext/"] {
        let Ok(entries) = fs::read_dir(dir.join(folder)) else { continue };
        for path in entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()) {
            let name = format!("{folder}{}", path.file_name().unwrap().to_str().unwrap());
            files.insert(name, fs::read(path).unwrap());
        }
    }
    files
}

/// Changes a file of a release; every occurrence.
pub(crate) fn replace(release: &Path, file: &str, from: &str, to: &str) {
    let path = release.join(file);
    let content = fs::read_to_string(&path).unwrap();
    assert!(content.contains(from), "{file} lacks {from}");
    fs::write(path, content.replace(from, to)).unwrap();
}

/// Changes every file of a release.
pub(crate) fn everywhere(release: &Path, change: &mut dyn FnMut(&str, String) -> String) {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(release).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            everywhere(&path, change);
        } else {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let content = change(&name, fs::read_to_string(&path).unwrap());
            fs::write(path, content).unwrap();
        }
    }
}

/// Writes another id wherever one stands.
fn renumber(release: &Path, from: &str, to: &str) {
    everywhere(release, &mut |_, text| {
        text.replace(&format!("ID=\"{from}\""), &format!("ID=\"{to}\""))
    });
}

/// Gives every element of a name this id.
fn number_all(text: &str, element: &str, id: &str) -> String {
    let lines = text.split_inclusive('\n').map(|line| match line.rsplit_once(" ID=\"") {
        Some((head, tail)) if line.contains(element) => {
            let rest = tail.split_once('"').unwrap().1;
            format!("{head} ID=\"{id}\"{rest}")
        }
        _ => line.to_owned(),
    });
    lines.collect()
}

#[test]
fn ids_of_thirteen_digits_and_with_letters_are_one_lu_in_every_file() {
    let release = Deviating::new(|release| {
        renumber(release, "1202", "1900000012345");
        renumber(release, "1201", "1298076n");
    });
    assert_eq!(release.codes(), BTreeSet::from(["W-id-written"]));
    assert_eq!(release.place(WarningCode::IdWritten), (FRAME, 38));
    assert_eq!(release.strict(), WarningCode::IdWritten);
    assert_eq!(release.answers("lu=cycle.v"), ["x7062", "f8011"]);
    assert_eq!(release.answers("lu=wander.v").len(), 3);
    assert!(release.exported("lu/lu1900000012345.xml").contains(" ID=\"1900000012345\" frame="));
    assert!(release.exported("lu/lu1298076n.xml").contains(" ID=\"1298076n\" frame="));
    assert!(release.exported("luIndex.xml").contains("name=\"cycle.v\" ID=\"1900000012345\""));
    assert!(release.exported(DOCUMENT).contains("luID=\"1900000012345\""));
}

#[test]
fn ids_of_frames_fes_and_semantic_types_may_be_texts() {
    let release = Deviating::new(|release| {
        for id in ["104", "2201", "2205", "5", "301", "402", "1"] {
            renumber(release, id, &format!("n{id}"));
        }
    });
    assert_eq!(release.codes(), BTreeSet::from(["W-id-written"]));
    assert_eq!(release.answers("frame=Roaming").len(), 5);
    assert!(release.answers("doc=BikeRide").contains(&"f8011".to_owned()));
    let frame = &release.database.lexicons().unwrap()[0].frame_by_name("Roaming").unwrap().unwrap();
    let number =
        |kind, number: u32| numbers(&release.database).text(kind, number.into()).map(str::to_owned);
    assert_eq!(number(NumberKind::Frame, frame.id.0).as_deref(), Some("n104"));
    assert_eq!(number(NumberKind::FrameElement, frame.elements[0].id.0).as_deref(), Some("n2201"));
    assert!(release.exported(FRAME).contains("<semType name=\"Time\" ID=\"n5\"/>"));
}

#[test]
fn entries_of_indexes_without_ids_mean_the_frame_and_the_lu_of_their_names() {
    let release = Deviating::new(|release| {
        replace(release, "frameIndex.xml", " ID=\"104\"", "");
        replace(release, "luIndex.xml", " ID=\"1202\"", "");
    });
    assert_eq!(release.codes(), BTreeSet::from(["W-id-written"]));
    assert_eq!(release.place(WarningCode::IdWritten), ("frameIndex.xml", 4));
    assert_eq!(release.strict(), WarningCode::IdWritten);
    assert!(!release.exported("frameIndex.xml").contains(" ID="));
    assert!(release.exported("luIndex.xml").contains("name=\"cycle.v\"/>"));
    let frame = release.database.lexicons().unwrap()[0].frame_by_name("Roaming").unwrap().unwrap();
    assert_eq!((frame.id, frame.modified.as_str()), (FrameId(104), "03/02/2026 09:30:00 UTC Mon"));
}

#[test]
fn offsets_below_zero_and_none_at_all_are_kept_as_written() {
    let release = Deviating::new(|release| {
        replace(
            release,
            LU,
            "end=\"12\" start=\"0\" name=\"Time\"",
            "end=\"12\" start=\"-1\" name=\"Time\"",
        );
        replace(release, LU, "itype=\"INC\"", "itype=\"INC\" end=\"-1\" start=\"-1\"");
        replace(
            release,
            LU,
            "end=\"39\" start=\"25\" name=\"Route\"",
            "end=\"x\" start=\"025\" name=\"Route\"",
        );
    });
    assert_eq!(release.codes(), BTreeSet::from(["W-span-range"]));
    assert_eq!(release.report.warnings.count(WarningCode::SpanRange), 3);
    let first = release.first(WarningCode::SpanRange);
    assert_eq!((first.file.as_str(), first.line), (LU, 86));
    assert!(first.detail.contains("`Time` covers characters -1 to 12 of 51"), "{first}");
    assert_eq!(release.strict(), WarningCode::SpanRange);
    let exported = release.exported(LU);
    for label in [
        "end=\"12\" start=\"-1\" name=\"Time\"",
        "itype=\"INC\" end=\"-1\" start=\"-1\" name=\"Vehicle\"",
        "end=\"x\" start=\"025\" name=\"Route\"",
    ] {
        assert!(exported.contains(label), "{label}");
    }
    assert_eq!(release.answers("fe=Time and lu=cycle.v"), ["x7062"]);
    assert_eq!(release.answers("ni=INC and lu=cycle.v"), ["x7062", "f8011"]);
    let set = mini::answers(&release.database, "id=x7062");
    assert_eq!(set.len(), 1);
    let lexicon = release.database.lexicons().unwrap().remove(0);
    let set = lexicon
        .annotation_sets()
        .unwrap()
        .map(Result::unwrap)
        .find(|set| set.lu == LuId(1202))
        .unwrap();
    let labels: Vec<_> = set.fe_layers().flat_map(|layer| &layer.labels).collect();
    assert!(
        labels.iter().any(|label| label.extent == Extent::Null(NullInstantiation::Incorporated))
    );
    assert_eq!(labels.iter().filter(|label| label.extent == Extent::None).count(), 2);
}

#[test]
fn an_fe_number_used_twice_in_a_frame_is_told_apart_by_name() {
    let release = Deviating::new(|release| {
        everywhere(release, &mut |_, text| {
            text.replace("name=\"Vehicle\" ID=\"2204\"", "name=\"Vehicle\" ID=\"2205\"")
                .replace("feID=\"2204\"", "feID=\"2205\"")
        });
    });
    assert_eq!(release.codes(), BTreeSet::from(["W-id-repeated"]));
    assert_eq!(release.place(WarningCode::IdRepeated), (FRAME, 19));
    assert_eq!(release.strict(), WarningCode::IdRepeated);
    let lexicon = release.database.lexicons().unwrap().remove(0);
    let frame = lexicon.frame_by_name("Roaming").unwrap().unwrap();
    let id = |name: &str| frame.fe_by_name(name).unwrap().id;
    // The first in the file has the number.
    assert_eq!(id("Vehicle"), FeId(2205));
    assert!(NumberKind::FrameElement.is_fresh(id("Time").0.into()));
    for set in lexicon.annotation_sets().unwrap() {
        for label in set.unwrap().fe_layers().flat_map(|layer| &layer.labels) {
            assert_eq!(label.fe, Some(id(&label.name)), "{label:?}");
        }
    }
    assert!(release.exported(LU).contains("feID=\"2205\" end=\"12\" start=\"0\" name=\"Time\""));
}

#[test]
fn sets_and_sentences_may_all_have_the_number_zero() {
    for (element, code) in [
        ("<annotationSet ", WarningCode::SetConflict),
        ("<sentence ", WarningCode::SentenceConflict),
    ] {
        let release = Deviating::new(|release| {
            everywhere(release, &mut |_, text| {
                number_all(&number_all(&text, element, "0"), "<annoSet ", "0")
            });
        });
        let codes = release.codes();
        assert!(codes.contains(code.as_str()), "{codes:?}");
        assert_eq!(release.strict(), code);
        assert_eq!(release.place(code).0, "lu/lu1201.xml");
        assert_eq!(release.answers("frame=Roaming").len(), 5);
        assert_eq!(release.answers("lu=cycle.v and origin=exemplar").len(), 1);
        assert!(release.exported(LU).contains("ID=\"0\""));
    }
}

#[test]
fn numbers_beyond_56_bits_are_kept_and_found_as_written() {
    let release = Deviating::new(|release| {
        renumber(release, "5030", "72057594037932966");
        renumber(release, "7062", "99999999999999999999");
        renumber(release, "8011", "S-8011");
    });
    assert_eq!(release.codes(), BTreeSet::from(["W-id-written"]));
    assert_eq!(release.place(WarningCode::IdWritten).0, LU);
    assert_eq!(release.answers("lu=cycle.v and origin=exemplar").len(), 1);
    let by_name = release.answers("lu=cycle.v and origin=exemplar");
    assert_eq!(release.answers("id=x99999999999999999999"), by_name);
    assert_eq!(release.answers("id=fS-8011").len(), 1);
    assert_eq!(release.answers("id=fS-8012").len(), 0);
    let exported = release.exported(LU);
    assert!(exported.contains("aPos=\"503000\" ID=\"72057594037932966\""));
    assert_eq!(exported.matches("<annoSet ID=\"99999999999999999999\"/>").count(), 6);
}

#[test]
fn names_may_be_empty_or_hold_what_does_not_show() {
    let odd = "Ve&#9;h\u{85}i\u{200b}c\u{202e}le";
    let release = Deviating::new(|release| {
        everywhere(release, &mut |_, text| {
            text.replace("name=\"Vehicle\"", &format!("name=\"{odd}\""))
                .replace("name=\"Goal\"", "name=\"\"")
                .replace("=\"cycle.v\"", "=\"\"")
        });
    });
    assert_eq!(release.codes(), BTreeSet::from(["W-name-unusual"]));
    assert_eq!(release.place(WarningCode::NameUnusual), (FRAME, 12));
    assert_eq!(release.strict(), WarningCode::NameUnusual);
    assert_eq!(release.answers("fe=Ve*le"), ["x7062", "f8011"]);
    assert_eq!(release.answers("lu=\"\"").len(), 2);
    assert!(release.exported(FRAME).contains(&format!("name=\"{odd}\" ID=\"2204\"")));
}

#[test]
fn frames_of_one_number_are_told_apart_by_name_in_every_file() {
    let release = Deviating::new(|release| {
        let zooming = |file: &str, to: &str| {
            let text = fs::read_to_string(release.join(file))
                .unwrap()
                .replace("\"Roaming\"", "\"Zooming\"");
            fs::write(release.join(to), text).unwrap();
        };
        zooming(FRAME, "frame/Zooming.xml");
        zooming(LU, "lu/lu1202_zooming.xml");
        replace(
            release,
            "frameIndex.xml",
            "</frameIndex>",
            "<frame ID=\"104\" name=\"Zooming\"/></frameIndex>",
        );
        let entry = "<lu hasAnnotation=\"true\" frameID=\"104\" frameName=\"Zooming\" \
                     status=\"Finished_Initial\" name=\"cycle.v\" ID=\"1202\"/></luIndex>";
        replace(release, "luIndex.xml", "</luIndex>", entry);
    });
    let codes = release.codes();
    assert!(codes.contains("W-id-repeated") && codes.contains("W-set-conflict"), "{codes:?}");
    assert!(
        !codes.contains("W-name-mismatch") && !codes.contains("W-lu-not-in-frame"),
        "{codes:?}"
    );
    assert_eq!(release.strict(), WarningCode::IdRepeated);
    assert_eq!(release.place(WarningCode::IdRepeated).0, "frame/Zooming.xml");
    assert_eq!(release.answers("frame=Zooming and lu=cycle.v").len(), 1);
    assert_eq!(release.answers("frame=Roaming").len(), 5);
    assert!(release.exported("frame/Zooming.xml").contains("name=\"Zooming\" ID=\"104\""));
    assert!(release.exported("frameIndex.xml").contains("ID=\"104\" name=\"Zooming\""));
}

#[test]
fn lus_of_one_number_are_told_apart_by_name_in_every_file() {
    let release = Deviating::new(|release| renumber(release, "1202", "1201"));
    assert_eq!(release.codes(), BTreeSet::from(["W-id-repeated"]));
    assert_eq!(release.place(WarningCode::IdRepeated), (FRAME, 43));
    assert_eq!(release.strict(), WarningCode::IdRepeated);
    assert_eq!(release.answers("lu=cycle.v"), ["x7062", "f8011"]);
    assert_eq!(release.answers("lu=wander.v").len(), 3);
    assert!(release.exported("luIndex.xml").contains("name=\"cycle.v\" ID=\"1201\""));
    assert!(release.exported(DOCUMENT).contains("luID=\"1201\" luName=\"cycle.v\""));
}

#[test]
fn an_lu_file_and_a_document_may_stand_there_twice() {
    let release = Deviating::new(|release| {
        fs::copy(release.join(LU), release.join("lu/lu1202_.xml")).unwrap();
        fs::copy(release.join(DOCUMENT), release.join("fulltext/MINI__BikeRide_.xml")).unwrap();
        let document = "<document description=\"BikeRide\" ID=\"402\"/>";
        replace(release, "fulltextIndex.xml", document, &document.repeat(2));
        let entry = "<lu hasAnnotation=\"true\" frameID=\"104\" frameName=\"Roaming\" \
                     status=\"Finished_Initial\" name=\"cycle.v\" ID=\"1202\"/></luIndex>";
        replace(release, "luIndex.xml", "</luIndex>", entry);
    });
    assert_eq!(release.report.warnings.count(WarningCode::IdRepeated), 2);
    assert_eq!(release.place(WarningCode::IdRepeated).0, "lu/lu1202_.xml");
    assert_eq!(release.report.release.counts.lu_files, 3);
    assert_eq!(release.report.release.counts.documents, 3);
    assert_eq!(release.answers("lu=cycle.v").len(), 4);
    assert_eq!(release.answers("doc=BikeRide").len(), 2);
}

#[test]
fn semantic_types_and_relations_of_one_number_are_kept() {
    let release = Deviating::new(|release| {
        replace(release, "semTypes.xml", "name=\"Tool\" ID=\"3\"", "name=\"Tool\" ID=\"5\"");
        let relation = "<frameRelation subID=\"104\" supID=\"104\" subFrameName=\"Roaming\" \
                        superFrameName=\"Roaming\" ID=\"13\"/>";
        let both = format!("ID=\"1\">{relation}{relation}</frameRelationType>");
        replace(release, "frRelation.xml", "ID=\"1\"/>", &both);
    });
    assert_eq!(release.codes(), BTreeSet::from(["W-id-repeated"]));
    assert_eq!(release.report.warnings.count(WarningCode::IdRepeated), 2);
    assert_eq!(release.report.release.counts.frame_relations, 2);
    let lexicon = release.database.lexicons().unwrap().remove(0);
    let frame = lexicon.frame_by_name("Roaming").unwrap().unwrap();
    let of_time = frame.fe_by_name("Time").unwrap().sem_types[0];
    assert_eq!(lexicon.semtype(of_time).unwrap().unwrap().name, "Time");
    assert_eq!(lexicon.semtype_by_name("Tool").unwrap().unwrap().parents.len(), 1);
}

#[test]
fn counts_that_are_no_numbers_end_nothing() {
    let release = Deviating::new(|release| {
        replace(release, LU, "totalAnnotated=\"1\"", "totalAnnotated=\"one\"");
        replace(release, LU, "sentNo=\"0\"", "sentNo=\"0a\"");
        replace(release, LU, "rank=\"1\" name=\"BNC\"", "rank=\"300\" name=\"BNC\"");
        replace(release, FRAME, "coreType=\"Peripheral\"", "coreType=\"periph\"");
    });
    assert_eq!(release.codes(), BTreeSet::from(["W-unreadable-value"]));
    assert_eq!(release.report.warnings.count(WarningCode::UnreadableValue), 5);
    assert_eq!(release.place(WarningCode::UnreadableValue), (FRAME, 15));
    assert_eq!(release.strict(), WarningCode::UnreadableValue);
    assert_eq!(release.answers("lu=cycle.v").len(), 2);
}

#[test]
fn what_is_named_and_nowhere_defined_is_kept_by_name() {
    let release = Deviating::new(|release| {
        replace(
            release,
            FRAME,
            "<semType name=\"Time\" ID=\"5\"/>",
            "<semType name=\"Zeit\" ID=\"95\"/>",
        );
        replace(release, DOCUMENT, "docID=\"402\"", "docID=\"499\"");
        let sets = "<FEcoreSet><memberFE name=\"Goal\" ID=\"9\"/><memberFE name=\"Nobody\" ID=\"9\"/>\
                    </FEcoreSet><frameRelation type=\"Uses\"/>";
        replace(release, FRAME, "<frameRelation type=\"Uses\"/>", sets);
    });
    let expected = ["W-document-missing", "W-element-missing", "W-sem-type-missing"];
    assert_eq!(release.codes(), BTreeSet::from(expected));
    let lexicon = release.database.lexicons().unwrap().remove(0);
    assert_eq!(lexicon.semtype_by_name("Zeit").unwrap().unwrap().id.0, 95);
    let frame = lexicon.frame_by_name("Roaming").unwrap().unwrap();
    assert_eq!(frame.core_sets, [vec![frame.fe_by_name("Goal").unwrap().id]]);
    assert!(release.exported(FRAME).contains("<semType name=\"Zeit\" ID=\"95\"/>"));
    assert!(!release.exported("semTypes.xml").contains("Zeit"));
}

#[test]
fn a_release_with_all_of_that_at_once_is_imported_found_and_exported() {
    let release = Deviating::new(|release| {
        renumber(release, "1202", "1900000012345");
        renumber(release, "1201", "1900000012345");
        replace(release, "frameIndex.xml", " ID=\"104\"", "");
        renumber(release, "104", "quadro-104");
        renumber(release, "5", "9999999999999");
        everywhere(release, &mut |_, text| {
            let text = number_all(&number_all(&text, "<annotationSet ", "0"), "<annoSet ", "0");
            number_all(&text, "<sentence ", "1298076n")
                .replace(
                    "name=\"Vehicle\" ID=\"2204\"",
                    "name=\"Ve\u{ed}culo\u{200b}\" ID=\"2205\"",
                )
                .replace("\"2205\"", "\"2201\"")
                .replace("\"wander.v\"", "\"vaguear.v\"")
                .replace("start=\"0\"", "start=\"-1\"")
                .replace("rank=\"1\"", "rank=\"\"")
        });
    });
    assert_eq!(release.answers("lu=vaguear.v").len(), 3);
    assert_eq!(release.answers("lu=cycle.v").len(), 2);
    assert_eq!(release.answers("frame=Roaming").len(), 5);
    assert!(!release.answers("fe=Time").is_empty());
    assert!(release.exported("lu/lu1900000012345_.xml").contains("ID=\"0\""));
}
