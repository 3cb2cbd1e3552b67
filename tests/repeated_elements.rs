//! Of an element that FrameNet has once, the first counts; what comes after it is kept as it
//! stands, and nothing that was read before it gets another meaning.

use fnstore::framenet::WarningCode;
use fnstore::model::Extent;

use crate::others_releases::Deviating;

const LU: &str = "lu/lu1202.xml";
const FRAME: &str = "frame/Roaming.xml";
const DOCUMENT: &str = "fulltext/MINI__BikeRide.xml";

/// Has an element stand there again, behind another; gives the release, which must write both.
fn again(file: &'static str, behind: &str, second: &str) -> Deviating {
    let kept = Deviating::new(|release| {
        let path = release.join(file);
        let content = std::fs::read_to_string(&path).unwrap();
        assert!(content.contains(behind), "{file} lacks {behind}");
        std::fs::write(path, content.replacen(behind, &format!("{behind}{second}"), 1)).unwrap();
    });
    assert_eq!(kept.report.warnings.count(WarningCode::UnknownElement), 1, "{second}");
    assert!(kept.exported(file).contains(second), "{}", kept.exported(file));
    kept
}

#[test]
fn a_text_behind_annotation_sets_does_not_move_their_spans() {
    let before = Deviating::new(|_| {});
    for second in ["<text>\u{e9}</text>", "<text/>"] {
        let kept = again(DOCUMENT, "</annotationSet>", second);
        assert_eq!(kept.answers("lu=cycle.v"), before.answers("lu=cycle.v"));
        assert_eq!(kept.spans(), before.spans());
    }
}

#[test]
fn labels_of_an_empty_text_have_no_place_in_a_second_one() {
    let kept = Deviating::new(|release| {
        let path = release.join(DOCUMENT);
        let content = std::fs::read_to_string(&path).unwrap();
        let (start, end) = (content.find("<text>").unwrap(), content.find("</text>").unwrap());
        let text = content[start..end].to_owned() + "</text>";
        let changed = content.replacen(&text, "<text></text>", 1);
        std::fs::write(path, changed.replacen("</sentence>", &format!("{text}</sentence>"), 1))
            .unwrap();
    });
    assert_eq!(kept.report.warnings.count(WarningCode::UnknownElement), 1);
    assert!(kept.report.warnings.count(WarningCode::SpanRange) > 0);
    assert_eq!(kept.database.lexicons().unwrap().len(), 1);
}

#[test]
fn a_second_definition_valence_table_header_or_count_is_no_silent_loss() {
    let kept = again(FRAME, "</definition>", "<definition>B</definition>");
    assert!(!kept.frame_definition().contains('B'), "{}", kept.frame_definition());
    again(LU, "</definition>", "<definition/>");
    again(LU, "</valences>", "<valences><governor type=\"G\" lemma=\"x\"/></valences>");
    again(LU, "</header>", "<header><frame/></header>");
    again(DOCUMENT, "</header>", "<header/>");
    again("semTypes.xml", "</definition>", "<definition>B</definition>");
    again(
        "luIndex.xml",
        "</legend>",
        "<legend><statusType name=\"x\" description=\"y\"/></legend>",
    );
    let count = again(FRAME, "total=\"7\"/>", "<sentenceCount annotated=\"98\" total=\"99\"/>");
    let lexicon = count.database.lexicons().unwrap().remove(0);
    let counts = lexicon.lus().unwrap().map(|lu| lu.unwrap().sentence_count);
    assert!(counts.into_iter().all(|count| count.total < 99));
}

#[test]
fn what_comes_after_an_empty_one_is_no_first_one() {
    let kept = Deviating::new(|release| {
        let path = release.join(FRAME);
        let content = std::fs::read_to_string(&path).unwrap();
        let changed = content.replacen("<definition>", "<definition/><definition>", 1);
        std::fs::write(path, changed).unwrap();
    });
    assert_eq!(kept.report.warnings.count(WarningCode::UnknownElement), 1);
    assert_eq!(kept.frame_definition(), "");
}

impl Deviating {
    fn frame_definition(&self) -> String {
        let lexicon = self.database.lexicons().unwrap().remove(0);
        lexicon.frame_by_name("Roaming").unwrap().unwrap().definition
    }

    /// Every span of every set.
    fn spans(&self) -> Vec<String> {
        let lexicon = self.database.lexicons().unwrap().remove(0);
        let mut spans = Vec::new();
        for set in lexicon.annotation_sets().unwrap() {
            let set = set.unwrap();
            for label in set.layers.iter().flat_map(|layer| &layer.labels) {
                if let Extent::Overt(span) = label.extent {
                    spans.push(format!("{} {} {span:?}", set.id, label.name));
                }
            }
        }
        spans
    }
}
