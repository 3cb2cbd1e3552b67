//! Values that an export could lose or write otherwise without a word: each comes out as it came
//! in, or a warning says what changed. `Deviating::new` compares the files; these tests say which
//! warning it is.

use fnstore::framenet::WarningCode;

use crate::others_releases::{Deviating, replace};

const LU: &str = "lu/lu1202.xml";
const FRAME: &str = "frame/Roaming.xml";
const DOCUMENT: &str = "fulltext/MINI__BikeRide.xml";

/// A release in which the first of a text in a file is another one.
fn with(file: &'static str, from: &str, to: &str) -> Deviating {
    Deviating::new(|release| {
        let path = release.join(file);
        let content = std::fs::read_to_string(&path).unwrap();
        assert!(content.contains(from), "{file} lacks {from}");
        std::fs::write(path, content.replacen(from, to, 1)).unwrap();
    })
}

/// What an export writes otherwise.
fn said(release: &Deviating) -> Vec<String> {
    release.details(WarningCode::WrittenOtherwise.as_str())
}

#[test]
fn numbers_and_flags_in_other_spellings_come_out_as_they_came_in() {
    for (file, from, to) in [
        (LU, "rank=\"1\"", "rank=\"01\""),
        (LU, "sentNo=\"0\"", "sentNo=\"+5\""),
        (LU, "aPos=\"503000\"", "aPos=\"007\""),
        (LU, "totalAnnotated=\"1\"", "totalAnnotated=\"01\""),
        (LU, "total=\"1\"", "total=\"001\""),
        ("luIndex.xml", "hasAnnotation=\"true\"", "hasAnnotation=\"TRUE\""),
        ("luIndex.xml", "hasAnnotation=\"true\"", "hasAnnotation=\"1\""),
    ] {
        let release = with(file, from, to);
        assert!(release.exported(file).contains(to), "{file} {to}");
        assert_eq!(said(&release), [""; 0], "{to}");
        assert_eq!(release.report.warnings.faults(), 0, "{to}");
    }
}

#[test]
fn a_construction_and_an_lu_without_all_their_attributes_are_kept() {
    let unannotated = "status=\"UNANN\"";
    for (attributes, code) in [
        ("cxnName=\"Degree\"", WarningCode::IdWritten),
        ("luID=\"1202\" luName=\"cycle.v\"", WarningCode::UnreadableValue),
        ("luName=\"cycle.v\"", WarningCode::UnreadableValue),
    ] {
        let release = with(DOCUMENT, unannotated, &format!("{attributes} {unannotated}"));
        assert_eq!(release.report.warnings.count(code), 1, "{attributes}");
        for attribute in attributes.split(' ') {
            assert!(release.exported(DOCUMENT).contains(attribute), "{attribute}");
        }
    }
    let of_frame = "frameID=\"104\" frameName=\"Roaming\"";
    let both = with(DOCUMENT, of_frame, &format!("{of_frame} cxnID=\"5\" cxnName=\"X\""));
    assert_eq!(both.report.warnings.count(WarningCode::UnreadableValue), 1);
    assert!(both.exported(DOCUMENT).contains("cxnName=\"X\""));
    assert!(both.answers("frame=Roaming").contains(&"f8011".to_owned()));
}

#[test]
fn of_an_attribute_that_stands_twice_the_first_counts() {
    let release = with(LU, "sentNo=\"0\"", "sentNo=\"0\" sentNo=\"5\"");
    let said = release.details(WarningCode::AttributeRepeated.as_str());
    assert_eq!(
        said,
        ["attribute `sentNo` stands twice in `sentence`; the first counts, `5` does not"]
    );
    assert!(release.exported(LU).contains("sentNo=\"0\""));
    let label = with(LU, "<label end=", "<label end=\"7\" end=");
    assert_eq!(label.report.warnings.count(WarningCode::AttributeRepeated), 1);
    let foreign = with(LU, "<subCorpus ", "<subCorpus a=\"1\" a=\"2\" ");
    assert_eq!(foreign.report.warnings.count(WarningCode::AttributeRepeated), 1);
    assert!(foreign.exported(LU).contains(" a=\"1\""));
}

#[test]
fn attributes_and_elements_of_another_name_space_are_no_attributes_and_elements_of_framenet() {
    let space = "xmlns:x=\"http://x.example\"";
    let attribute = with(LU, "sentNo=\"0\"", &format!("{space} x:sentNo=\"5\""));
    assert_eq!(attribute.report.warnings.count(WarningCode::UnknownAttribute), 1);
    assert!(attribute.exported(LU).contains("x:sentNo=\"5\""));
    let set = format!("<x:annotationSet {space} status=\"MANUAL\" ID=\"77\"/>");
    let element = with(DOCUMENT, "</sentence>", &format!("{set}</sentence>"));
    assert_eq!(element.report.warnings.count(WarningCode::UnknownElement), 1);
    assert_eq!(element.answers("id=f77"), [""; 0]);
    assert!(element.exported(DOCUMENT).contains(&set));
}

#[test]
fn a_name_space_under_a_prefix_is_framenets_own() {
    let release = Deviating::new(|release| {
        let path = release.join(FRAME);
        let content = std::fs::read_to_string(&path).unwrap();
        let at = content.find("<frame ").unwrap();
        let (head, rest) = content.split_at(at);
        let rest = rest.replace("</", "</fn:").replace('<', "<fn:").replace("<fn:/fn:", "</fn:");
        std::fs::write(path, head.to_owned() + &rest.replace("xmlns=", "xmlns:fn=")).unwrap();
    });
    assert_eq!(release.report.warnings.faults(), 0);
    assert_eq!(release.answers("frame=Roaming").len(), 5);
    assert_eq!(said(&release).len(), 1);
}

#[test]
fn what_an_export_adds_leaves_out_or_orders_otherwise_is_named() {
    for (file, from, to, detail) in [
        (FRAME, " POS=\"V\"", "", "an export gives `lexUnit` a `POS`, `X`"),
        (LU, " totalAnnotated=\"1\"", "", "an export gives `lexUnit` a `totalAnnotated`, `0`"),
        (LU, "<subCorpus name=\"", "<subCorpus odd=\"\" name=\"", ""),
        (LU, " rank=\"1\"", "", "an export gives `layer` a `rank`, `1`"),
        (
            LU,
            "cDate=\"03/02/2026 09:30:00 UTC Mon\" status=\"MANUAL\"",
            "cDate=\"\" status=\"MANUAL\"",
            "an export leaves out `cDate` of `annotationSet`",
        ),
        (
            LU,
            "</header>",
            "</header><!-- note -->",
            "an export writes the same with other white space, order of attributes, comments or spelling from here on",
        ),
        (
            LU,
            "sentNo=\"0\" aPos=\"503000\"",
            "aPos=\"503000\" sentNo=\"0\"",
            "an export writes the same with other white space, order of attributes, comments or spelling from here on",
        ),
    ] {
        let release = with(file, from, to);
        let said = said(&release);
        assert!(detail.is_empty() || said.iter().any(|said| said == detail), "{to}: {said:?}");
    }
}

#[test]
fn a_corpus_without_documents_keeps_its_name_and_description() {
    let corpus = "<corpus description=\"Lone\" name=\"LONE\" ID=\"777\"/>";
    let release = Deviating::new(|release| {
        replace(release, LU, "<header>", &format!("<header>{corpus}"));
    });
    let written = release.exported(LU);
    assert!(
        written.contains("name=\"LONE\"") && written.contains("description=\"Lone\""),
        "{written}"
    );
    assert!(said(&release).iter().any(|said| said.contains("corpus `LONE` lists no document")));
}

#[test]
fn a_file_that_an_export_calls_otherwise_is_named() {
    let release = Deviating::new(|release| {
        std::fs::rename(release.join(LU), release.join("lu/cycling.xml")).unwrap();
    });
    assert_eq!(said(&release), ["an export calls the file `lu1202.xml`"]);
}
