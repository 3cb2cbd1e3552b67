//! Every warning code: a variant of a release without faults that gives it, what a strict import
//! does about it, and that nothing which was read is lost on the way out and in again.

use std::fs;
use std::path::Path;

use fnstore::database::{Database, DatabaseError};
use fnstore::framenet::{FramenetError, WarningCode};
use fnstore::internals::WithStore as _;
use fnstore::transfer::ImportOptions;
use tempfile::TempDir;

use crate::framenet_round_trip::{assert_equal, export};
use crate::mini;

const LU: &str = "lu/lu1202.xml";
const FRAME: &str = "frame/Roaming.xml";
const DOCUMENT: &str = "fulltext/MINI__BikeRide.xml";
const TARGET: &str = "<label cBy=\"7\" end=\"23\" start=\"18\" name=\"Target\"/>";
const LAST_LABEL: &str = "<label end=\"49\" start=\"49\" name=\"PUN\"/>";

/// File, text in it, and what stands there instead.
type Edit = (&'static str, &'static str, &'static str);

/// The one edit that gives a code.
fn edit(code: WarningCode) -> Edit {
    use WarningCode as W;
    match code {
        W::DuplicateLabel => (
            LU,
            LAST_LABEL,
            "<label end=\"49\" start=\"49\" name=\"PUN\"/><label end=\"49\" start=\"49\" name=\"PUN\"/>",
        ),
        W::FrameMissing => (
            DOCUMENT,
            "frameID=\"104\" frameName=\"Roaming\"",
            "frameID=\"199\" frameName=\"Sewing\"",
        ),
        W::LuMissing => {
            (DOCUMENT, "luID=\"1202\" luName=\"cycle.v\"", "luID=\"1999\" luName=\"stitch.v\"")
        }
        W::LuNameRepeated => (FRAME, "name=\"cycle.v\"", "name=\"wander.v\""),
        W::LuNotInFrame => (FRAME, "ID=\"1202\"", "ID=\"1203\""),
        W::NullUnknown => (LU, "itype=\"INC\"", "itype=\"XNI\""),
        W::TargetLayers => (LU, "name=\"Verb\"/>", "name=\"Target\"/>"),
        W::TargetEmpty => (LU, TARGET, ""),
        W::SentenceConflict => (LU, "ID=\"5030\"", "ID=\"5028\""),
        W::SetConflict => (LU, "status=\"MANUAL\" ID=\"7062\"", "status=\"MANUAL\" ID=\"7058\""),
        W::SpanRange => (LU, LAST_LABEL, "<label end=\"99\" start=\"49\" name=\"PUN\"/>"),
        W::FeUnknown => (LU, "feID=\"2205\"", "feID=\"2299\""),
        W::RelationDangling => (
            "frRelation.xml",
            "ID=\"1\"/>",
            "ID=\"1\"><frameRelation subID=\"104\" supID=\"101\" subFrameName=\"Roaming\" superFrameName=\"Happening\" ID=\"13\"/></frameRelationType>",
        ),
        W::UnknownElement => (LU, "</header>", "</header><odd a=\"1\">x<b/></odd>"),
        W::UnreadableValue => (LU, "POS=\"V\" name=\"cycle\"", "POS=\"Q\" name=\"cycle\""),
        W::IdRepeated => {
            ("frameIndex.xml", "</frameIndex>", "<frame ID=\"104\" name=\"Roaming\"/></frameIndex>")
        }
        W::IndexMismatch => ("luIndex.xml", "name=\"cycle.v\"", "name=\"ride.v\""),
        W::LuDiffers => (LU, "go by bicycle", "ride"),
        W::NameMismatch => (LU, "frame=\"Roaming\"", "frame=\"Rambling\""),
        W::IdWritten => (LU, "feID=\"2205\"", "feID=\"2205n\""),
        W::NameUnusual => (LU, "<FE name=\"Vehicle\"/>", "<FE name=\"\"/>"),
        W::SemTypeMissing => {
            (FRAME, "<semType name=\"Time\" ID=\"5\"/>", "<semType name=\"Times\" ID=\"95\"/>")
        }
        W::DocumentMissing => (DOCUMENT, "docID=\"402\"", "docID=\"499\""),
        W::ElementMissing => (
            FRAME,
            "<frameRelation type=\"Inherits from\">",
            "<FEcoreSet><memberFE name=\"Nobody\" ID=\"9\"/></FEcoreSet><frameRelation type=\"Inherits from\">",
        ),
        W::UnknownAttribute => (LU, "<subCorpus ", "<subCorpus odd=\"1\" "),
        W::AttributeRepeated => (LU, "sentNo=\"0\"", "sentNo=\"0\" sentNo=\"1\""),
        W::HeaderMissing => (DOCUMENT, "<document description=\"BikeRide\" ID=\"402\"/>", ""),
        W::WrittenOtherwise => (LU, "</header>", "</header><!-- odd -->"),
        W::OutsideRoot => (LU, "</lexUnit>", "</lexUnit><lexUnit ID=\"5\"/> odd"),
        W::LanguageGuessed => {
            (LU, "Every", "\u{e9}\u{f1}\u{e9}\u{f1}\u{e9}\u{f1}\u{e9}\u{f1}\u{e9}\u{f1}y")
        }
        W::UnknownText => (LU, "</header>", "</header>odd &amp; <![CDATA[odd]]>"),
        W::SemTypesSeveral => (
            FRAME,
            "<semType name=\"Sentient\" ID=\"2\"/>",
            "<semType name=\"Sentient\" ID=\"2\"/><semType name=\"Time\" ID=\"5\"/>",
        ),
        W::TargetPieces => (
            LU,
            TARGET,
            "<label end=\"4\" start=\"0\" name=\"Target\"/><label end=\"23\" start=\"18\" name=\"Target\"/>",
        ),
        W::FeRepeated => (
            LU,
            "<label cBy=\"7\" feID=\"2205\"",
            "<label feID=\"2205\" end=\"49\" start=\"49\" name=\"Time\"/><label cBy=\"7\" feID=\"2205\"",
        ),
        W::FeRank => (LU, "<layer rank=\"1\" name=\"Sent\"/>", "<layer rank=\"2\" name=\"FE\"/>"),
        W::LayerRank => {
            (LU, "<layer rank=\"1\" name=\"Sent\"/>", "<layer rank=\"2\" name=\"GF\"/>")
        }
        W::NullIncorporated => (
            LU,
            "<label cBy=\"7\" feID=\"2205\"",
            "<label feID=\"2203\" itype=\"INC\" name=\"Goal\"/><label cBy=\"7\" feID=\"2205\"",
        ),
        W::SetUnannotated => (DOCUMENT, "status=\"MANUAL\"", "status=\"UNANN\""),
        W::MachineSet => (DOCUMENT, "status=\"MANUAL\"", "status=\"GENERATED\""),
        W::SetsSeveral => (
            LU,
            "</sentence>",
            "<annotationSet status=\"MANUAL\" ID=\"9999\"><layer rank=\"1\" name=\"Target\"><label end=\"4\" start=\"0\" name=\"Target\"/></layer></annotationSet></sentence>",
        ),
        W::SentenceRepeated => (
            LU,
            "</sentence>",
            "</sentence><sentence sentNo=\"9\" ID=\"5030\"><text>Every morning she cycles along the river to work . </text></sentence>",
        ),
        W::NumberShared => (DOCUMENT, "ID=\"6004\"", "ID=\"5030\""),
        W::TextSpace => (DOCUMENT, "</text>", " </text>"),
        W::TextNonAscii => (LU, "Every", "\u{c9}very"),
        W::TextMarkup => (LU, "Every", "&lt;very"),
        // A file that is away is no edit.
        _ => panic!("{code} has no variant here"),
    }
}

#[cfg(unix)]
fn dangling_link(path: &Path) {
    std::os::unix::fs::symlink("nowhere.xml", path).unwrap();
}

/// A copy of `base` in which a code's oddity stands.
fn variant(base: &Path, code: WarningCode) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let release = dir.path().join("mini-framenet");
    mini::copy(base, &release);
    match code {
        WarningCode::FileMissing => fs::remove_file(release.join("luIndex.xml")).unwrap(),
        WarningCode::FolderMissing => fs::remove_dir_all(release.join("fulltext")).unwrap(),
        WarningCode::LinkDangling => dangling_link(&release.join("lu/lu9.xml")),
        WarningCode::Litter => fs::write(release.join("lu/._lu1202.xml"), "\0").unwrap(),
        WarningCode::FileNotRead => fs::write(release.join("lu.xml"), "<a/>").unwrap(),
        WarningCode::LuWithoutFile => fs::remove_file(release.join(LU)).unwrap(),
        WarningCode::LuWithoutExemplar => {
            let content = fs::read_to_string(release.join(LU)).unwrap();
            let end = content.find("<subCorpus").unwrap();
            fs::write(release.join(LU), format!("{}</lexUnit>", &content[..end])).unwrap();
        }
        WarningCode::UnknownDropped => {
            let declared = |number| format!("xmlns:x{number}=\"{}\" ", "x".repeat(65_000));
            let declared: String = (0..200).map(declared).collect();
            let content = fs::read_to_string(release.join(LU)).unwrap();
            let changed = content.replacen("<lexUnit ", &format!("<lexUnit {declared}"), 1);
            fs::write(release.join(LU), changed).unwrap();
        }
        _ => {
            let (file, from, to) = edit(code);
            let content = fs::read_to_string(release.join(file)).unwrap();
            assert!(content.contains(from), "{code}: {file} lacks {from}");
            fs::write(release.join(file), content.replacen(from, to, 1)).unwrap();
        }
    }
    dir
}

/// A release without faults: what of mini-framenet has to do with roaming.
pub(crate) fn base() -> (TempDir, std::path::PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let release = dir.path().join("mini-framenet");
    let (_store, database, _) = mini::imported();
    export(&database, "frame=Roaming", &release).unwrap().unwrap();
    (dir, release)
}

fn import(database: &Database, release: &Path, strict: bool) -> Result<u64, DatabaseError> {
    let options = ImportOptions { strict, ..ImportOptions::default() };
    database.import(release, &options, &mut |_| {}).map(|report| report.warnings.faults())
}

#[test]
fn each_code_has_a_variant_that_gives_it_and_comes_back_from_an_export() {
    let (_dir, base) = base();
    let store = tempfile::tempdir().unwrap();
    let plain = mini::import(&Database::open_writer(store.path()).unwrap(), &base).unwrap();
    assert_eq!(plain.warnings.faults(), 0, "{:?}", plain.warnings);
    for code in WarningCode::ALL {
        let changed = variant(&base, code);
        let release = changed.path().join("mini-framenet");
        let first = Database::open_writer(&changed.path().join("first")).unwrap();
        let report = mini::import(&first, &release).unwrap();
        let (before, after) = (plain.warnings.count(code), report.warnings.count(code));
        assert!(after > before, "{code}: {after} after {before}");
        let (_, _, examples) = report.warnings.iter().find(|(found, ..)| *found == code).unwrap();
        assert!(examples.iter().all(|example| !example.file.is_empty()), "{code}");

        let out = changed.path().join("out/mini-framenet");
        fs::create_dir(changed.path().join("out")).unwrap();
        export(&first, "", &out).unwrap().unwrap();
        let second = Database::open_writer(&changed.path().join("second")).unwrap();
        mini::import(&second, &out).unwrap_or_else(|error| panic!("{code}: {error}"));
        assert_equal(&first, &second);
    }
}

#[test]
fn a_strict_import_ends_at_a_fault_and_counts_a_trait() {
    let (_dir, base) = base();
    for code in WarningCode::ALL {
        let changed = variant(&base, code);
        let release = changed.path().join("mini-framenet");
        let database = Database::open_writer(&changed.path().join("store")).unwrap();
        match import(&database, &release, true) {
            Err(DatabaseError::Framenet(FramenetError::Strict(warning))) => {
                assert!(!code.is_trait(), "{code}: {warning}");
                assert_eq!(warning.code, code, "{warning}");
                assert!(database.releases().unwrap().is_empty(), "{code}");
                assert_eq!(database.store().revision().unwrap(), 0, "{code}");
            }
            Err(error) => panic!("{code}: {error}"),
            Ok(faults) => assert!(code.is_trait() && faults == 0, "{code} passed"),
        }
    }
}

#[test]
fn the_table_of_codes_lists_every_code_with_its_kind() {
    let page = include_str!("../schema/warnings.md");
    let (faults, traits) = page.split_once("## Traits").unwrap();
    for code in WarningCode::ALL {
        let part = if code.is_trait() { traits } else { faults };
        assert!(part.contains(&format!("| `{code}` |")), "schema/warnings.md lacks {code}");
    }
}
