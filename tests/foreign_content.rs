//! What a release's files hold beside FrameNet is kept as it stands, and every export has it again.

use fnstore::framenet::WarningCode;
use proptest::prelude::*;

use crate::cli_program::fnstore_in;
use crate::cli_schema::faults_in;
use crate::mini;
use crate::others_releases::{Deviating, everywhere, foreign, replace};

const FRAME: &str = "frame/Roaming.xml";
const LU: &str = "lu/lu1202.xml";
const DOCUMENT: &str = "fulltext/MINI__BikeRide.xml";

#[test]
fn an_unknown_attribute_stands_at_its_element_again() {
    let kept = Deviating::new(|release| {
        replace(release, LU, "<subCorpus ", "<subCorpus x:sure=\"a &lt; &quot;b&quot;\" ");
        replace(release, "luIndex.xml", "<legend>", "<legend since=\"1999\">");
    });
    assert_eq!(kept.report.warnings.count(WarningCode::UnknownDropped), 0);
    let written = kept.exported(LU);
    let tag = written.lines().find(|line| line.contains("<subCorpus")).unwrap();
    assert!(tag.contains("x:sure=\"a &lt; &quot;b&quot;\""), "{tag}");
    assert!(kept.exported("luIndex.xml").contains("<legend since=\"1999\">"));
}

#[test]
fn an_unknown_element_keeps_its_place_among_others() {
    let note = "<note by=\"me\">kept <b>as</b> it &amp; <!-- all --> stands</note>";
    let kept = Deviating::new(|release| {
        replace(release, LU, "</header>", &format!("</header>{note}"));
        replace(release, FRAME, "</frame>", &format!("{note}</frame>"));
    });
    assert_eq!(kept.report.warnings.count(WarningCode::UnknownElement), 2);
    let written = kept.exported(LU);
    let [header, here, after] = ["</header>", note, "<definition>"].map(|of| written.find(of));
    assert!(header < here && here < after && here.is_some(), "{written}");
    let frame = kept.exported(FRAME);
    let end = frame.trim_end().strip_suffix("</frame>").unwrap();
    assert!(end.trim_end().ends_with(note), "{frame}");
}

#[test]
fn text_between_elements_stays() {
    let text = "odd &amp; <![CDATA[<odd>]]> end";
    let kept = Deviating::new(|release| {
        replace(release, LU, "</header>", &format!("</header>{text}"));
    });
    assert!(kept.report.warnings.count(WarningCode::UnknownText) > 0);
    assert!(kept.exported(LU).contains(text), "{}", kept.exported(LU));
}

#[test]
fn an_element_inside_a_text_stays_behind_the_letters_before_it() {
    let kept = Deviating::new(|release| {
        let path = release.join(FRAME);
        let content = std::fs::read_to_string(&path).unwrap();
        let changed = content.replacen("<definition>", "<definition>\u{e9}t<i>x</i>\u{e9} ", 1);
        std::fs::write(path, changed).unwrap();
    });
    let written = kept.exported(FRAME);
    assert!(written.contains("<definition>\u{e9}t<i>x</i>\u{e9} "), "{written}");
}

#[test]
fn a_second_definition_is_no_silent_loss() {
    let second = "<definition>another</definition>";
    let kept = Deviating::new(|release| {
        replace(release, FRAME, "</frame>", &format!("{second}</frame>"));
    });
    assert_eq!(kept.report.warnings.count(WarningCode::UnknownElement), 1);
    assert!(kept.exported(FRAME).contains(second));
}

#[test]
fn a_value_that_no_record_can_hold_is_written_as_it_came() {
    let kept = Deviating::new(|release| {
        let path = release.join(DOCUMENT);
        let content = std::fs::read_to_string(&path).unwrap();
        std::fs::write(path, content.replacen("rank=\"1\"", "rank=\"first\"", 1)).unwrap();
    });
    assert_eq!(kept.report.warnings.count(WarningCode::UnreadableValue), 1);
    assert!(kept.exported(DOCUMENT).contains("rank=\"first\""));
}

#[test]
fn what_an_index_says_of_annotation_is_written_as_it_came() {
    for said in ["perhaps", "false"] {
        let kept = Deviating::new(|release| {
            let (from, to) = ("hasAnnotation=\"true\"", format!("hasAnnotation=\"{said}\""));
            replace(release, "luIndex.xml", from, &to);
        });
        let index = kept.exported("luIndex.xml");
        assert!(index.contains(said) && !index.contains("\"true\""), "{index}");
    }
}

#[test]
fn a_declared_name_space_is_no_warning_and_is_declared_again() {
    let kept = Deviating::new(|release| {
        replace(release, FRAME, "<frame ", "<frame xmlns:x=\"http://x.example\" ");
    });
    assert_eq!(kept.report.warnings.faults(), 0);
    assert!(kept.exported(FRAME).contains("xmlns:x=\"http://x.example\""));
    assert_eq!(foreign(&kept.database).len(), 1);
}

/// A set and its sentence in a file, each with something beside FrameNet.
fn with_notes() -> Deviating {
    Deviating::new(|release| {
        let path = release.join(LU);
        let content = std::fs::read_to_string(&path).unwrap();
        // The first set of the file that evokes a frame, and the sentence that it is in.
        let manual = content.find("status=\"MANUAL\" ID").unwrap();
        let set = content[..manual].rfind("<annotationSet").unwrap();
        let sentence = content[..set].rfind("<sentence ").unwrap();
        let mut changed = content.clone();
        changed.insert_str(set + "<annotationSet".len(), " sure=\"90 %\"");
        changed.insert_str(sentence + "<sentence".len(), " checked=\"twice\"");
        let text = changed.find("</text>").unwrap() + "</text>".len();
        changed.insert_str(text, "<note by=\"me\">odd</note>");
        std::fs::write(path, changed).unwrap();
        replace(release, DOCUMENT, "<text>", "<text lang=\"en-GB\">");
    })
}

#[test]
fn queries_find_sets_by_what_stands_at_them_or_at_their_sentence() {
    let kept = with_notes();
    let found = |query: &str| mini::answers(&kept.database, query);
    let set = found("foreign=\"sure=90 %\"");
    assert_eq!(set.len(), 1, "{set:?}");
    for query in ["foreign=sure*", "foreign~\"^sure=\\d+\"", "lu_status=* foreign=SURE*"] {
        assert_eq!(found(query), set, "{query}");
    }
    // What stands at the sentence holds for the set in it.
    assert!(found("foreign=checked*").contains(&set[0]));
    assert!(found("foreign~\"<note by=\"").len() <= found("foreign=*").len());
    assert_eq!(found("foreign=lang*"), found("doc=BikeRide origin=fulltext"));
    let all = found("").len();
    assert_eq!(found("foreign!=*").len(), all - found("foreign=*").len());
    assert!(found("foreign=never").is_empty());
}

/// Frame, LU and document, each with something beside FrameNet.
fn with_notes_outside_sentences() -> Deviating {
    Deviating::new(|release| {
        replace(release, FRAME, "<frame ", "<frame checked=\"once\" ");
        replace(release, FRAME, "<FE ", "<FE since=\"1999\" ");
        let path = release.join(FRAME);
        let content = std::fs::read_to_string(&path).unwrap();
        let lu = content.find("ID=\"1202\"").unwrap();
        let tag = content[..lu].rfind("<lexUnit").unwrap() + "<lexUnit".len();
        let (before, after) = content.split_at(tag);
        std::fs::write(&path, format!("{before} odd=\"in frame\"{after}")).unwrap();
        replace(release, LU, "<lexeme ", "<lexeme stress=\"1\" ");
        replace(release, DOCUMENT, "<header>", "<header><source>diary</source>");
        replace(
            release,
            "frRelation.xml",
            "<frameRelationType ",
            "<frameRelationType odd=\"top\" ",
        );
        replace(release, "frameIndex.xml", "<frameIndex ", "<frameIndex lone=\"yes\" ");
    })
}

#[test]
fn queries_find_sets_by_what_stands_at_their_frame_lu_and_document() {
    let kept = with_notes_outside_sentences();
    let found = |query: &str| mini::answers(&kept.database, query);
    for (query, same) in [
        ("frame_foreign=\"checked=once\"", "frame=Roaming"),
        ("frame_foreign=since*", "frame=Roaming"),
        ("lu_foreign=\"odd=in frame\"", "lu=cycle.v"),
        ("lu_foreign=\"stress=1\"", "lu=cycle.v"),
        ("doc_foreign~diary", "doc=BikeRide"),
    ] {
        assert!(!found(same).is_empty(), "{same}");
        assert_eq!(found(query), found(same), "{query}");
        let negated = found(&format!("not ({query})")).len();
        assert_eq!(found("").len() - found(same).len(), negated, "{query}");
    }
    for query in ["foreign=*", "frame_foreign=odd*", "lu_foreign=checked*", "doc_foreign=odd*"] {
        assert!(found(query).is_empty(), "{query}");
    }
    let text = fnstore_in(kept.database.dir(), &["query", "lu=cycle.v", "--fields", "lu_foreign"]);
    assert!(text.stdout.contains("stress=1"), "{}", text.stdout);
}

#[test]
fn all_content_beside_framenet_is_listed_with_its_file_and_its_element() {
    let kept = with_notes_outside_sentences();
    let listed = |args: &[&str]| {
        let listed = fnstore_in(kept.database.dir(), &[&["foreign"], args].concat());
        assert_eq!(listed.code, Some(0), "{args:?}: {}", listed.stderr);
        let rows = listed.records();
        for row in &rows {
            assert_eq!(faults_in("foreign.schema.json", row), [""; 0]);
        }
        let of = |row: &serde_json::Value| {
            ["kind", "name", "content"].map(|key| row[key].as_str().unwrap().to_owned()).join(" ")
        };
        rows.iter().map(of).collect::<Vec<String>>()
    };
    let mut all = listed(&[]);
    all.sort();
    all.dedup();
    assert_eq!(
        all,
        [
            "document BikeRide <source>diary</source>",
            "frame Roaming checked=once",
            "frame Roaming odd=in frame",
            "frame Roaming since=1999",
            "lu cycle.v stress=1",
            "top frRelation.xml odd=top",
            "top frameIndex.xml lone=yes",
        ]
    );
    assert_eq!(listed(&["--kind", "frame", "odd=*"]), ["frame Roaming odd=in frame"]);
    assert_eq!(listed(&["lone=*"]), ["top frameIndex.xml lone=yes"]);
    assert_eq!(listed(&["~^<source>"]), ["document BikeRide <source>diary</source>"]);
    let none = fnstore_in(kept.database.dir(), &["foreign", "never"]);
    assert_eq!(none.code, Some(1), "{}", none.stdout);
}

#[test]
fn what_is_shown_says_what_stands_beside_framenet() {
    let kept = with_notes();
    let path = kept.database.dir().to_owned();
    let expression = "foreign=sure*".parse().unwrap();
    let answer = kept.database.query(&expression).unwrap().next().unwrap().unwrap();
    let (set, sentence) = (answer.set.id.to_string(), answer.sentence.id.to_string());
    let lu = answer.lexunit.to_string();
    for (what, shown) in [
        (["set", &set], ["sure=90 %", "checked=twice"]),
        (["sentence", &sentence], ["sure=90 %", "checked=twice"]),
        (["lu", &lu], ["sure=90 %", "checked=twice"]),
        (["document", "BikeRide"], ["lang=en-GB", "/text"]),
    ] {
        let text = fnstore_in(&path, &[&["show"], &what[..]].concat());
        assert_eq!(text.code, Some(0), "{what:?}: {}", text.stderr);
        let json = fnstore_in(&path, &[&["show"], &what[..], &["--format", "jsonl"]].concat());
        let foreign = json.records()[0]["foreign"].to_string();
        for piece in shown {
            assert!(text.stdout.contains(piece), "{what:?}: {}", text.stdout);
            assert!(foreign.contains(piece), "{what:?}: {foreign}");
        }
        let schema = match what[0] {
            "set" => "hit.schema.json".to_owned(),
            "lu" => "lexunit.schema.json".to_owned(),
            kind => format!("{kind}.schema.json"),
        };
        assert_eq!(faults_in(&schema, &json.records()[0]), [""; 0], "{what:?}");
    }
    let plain = fnstore_in(&path, &["show", "frame", "Roaming"]);
    assert!(!plain.stdout.contains("Beside FrameNet"), "{}", plain.stdout);
}

/// Puts something odd at some place inside the root element; `None` where none is there.
fn odd(content: &str, place: usize, what: usize, mark: &str) -> String {
    let root = content.rfind("</").map_or("", |at| content[at + 2..].trim_end_matches(['>', '\n']));
    let start = content.find(&format!("<{root}")).unwrap();
    let end = content.rfind("</").unwrap();
    if what == 0 {
        let tags = content[start..end].match_indices('<').map(|(at, _)| start + at + 1);
        let is_start =
            |at: &usize| content[*at..].starts_with(|letter: char| letter.is_alphabetic());
        let tags: Vec<usize> = tags.filter(is_start).collect();
        let at = tags[place % tags.len()];
        let name = content[at..].find([' ', '>', '/', '\n']).unwrap();
        let (before, after) = content.split_at(at + name);
        return format!("{before} {mark}=\"a &amp; b\"{after}");
    }
    let ends: Vec<usize> =
        content[start..end].match_indices('>').map(|(at, _)| start + at + 1).collect();
    let (before, after) = content.split_at(ends[place % ends.len()]);
    match what {
        1 => format!("{before}<{mark} ID=\"5\">x <y/></{mark}>{after}"),
        _ => format!("{before}<{mark}/>{after}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(16) })]

    #[test]
    fn whatever_is_odd_at_whatever_place_comes_back(
        oddities in prop::collection::vec((0..64_usize, any::<usize>(), 0..3_usize), 1..24),
    ) {
        let mut marks = Vec::new();
        let kept = Deviating::new(|release| {
            let mut file = 0;
            everywhere(release, &mut |name, mut content| {
                file += 1;
                if !content.contains("</") {
                    return content;
                }
                for (number, (which, place, what)) in oddities.iter().enumerate() {
                    if file % 8 == which % 8 {
                        let mark = format!("odd{file}-{number}-");
                        content = odd(&content, *place, *what, &mark);
                        marks.push((name.to_owned(), mark));
                    }
                }
                content
            });
        });
        for (name, mark) in marks {
            let folders = ["frame", "lu", "fulltext", "."];
            let mut path = folders.iter().map(|folder| format!("{folder}/{name}"));
            let file = path.find(|path| kept.out().join(path).is_file()).unwrap();
            prop_assert!(kept.exported(&file).contains(&mark), "{file} lacks {mark}");
        }
    }
}
