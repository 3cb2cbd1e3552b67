//! Sentences drawn with their annotation, as `fnstore show` prints them into a pipe.
//!
//! `tests/data/drawings/mini.txt` holds what each command there printed when it was read by a
//! person. Run with `FNSTORE_WRITE_GOLDEN=1` to write it again, and read the difference.

use std::fs;
use std::path::Path;

use crate::cli_program::{fnstore, fnstore_in, mini_framenet};
use crate::mini;

/// What is drawn, and why.
const DRAWN: [(&str, &str); 14] = [
    ("annotation x7014", "one FE on two spans; names that stand too close"),
    ("annotation x7042", "a discontinuous target"),
    ("annotation f8006", "a discontinuous target of full text"),
    ("annotation x7028", "FE layers of rank 2 and 3"),
    ("annotation x7040", "null instantiations"),
    ("annotation x7036", "a null instantiation of an unknown kind"),
    ("annotation x7006", "a null instantiation beside expressed FEs"),
    ("annotation x7054", "no target"),
    ("annotation f7002", "FEs that nobody annotated"),
    ("annotation f8011", "an emoji before the target"),
    ("sentence x5005", "a combining accent before the target"),
    ("sentence x5010", "a sentence with two sets"),
    ("sentence f6003", "a frame without FEs"),
    ("sentence f6005", "a construction beside a frame"),
];

fn golden() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/drawings/mini.txt")
}

#[test]
fn sentences_are_drawn_as_they_were_read() {
    let mut drawn = String::new();
    for (what, why) in DRAWN {
        let ran = fnstore(&["show", what]);
        assert_eq!(ran.code, Some(0), "{what}: {}", ran.stderr);
        drawn.push_str(&format!("# {why}\n$ fnstore show {what}\n{}\n", ran.stdout));
    }
    if std::env::var_os("FNSTORE_WRITE_GOLDEN").is_some() {
        fs::write(golden(), &drawn).unwrap();
    }
    let expected = fs::read_to_string(golden()).unwrap();
    assert_eq!(drawn, expected);
}

/// The drawing of a set in a store of a mini-framenet in which one file was changed.
fn drawn_after(file: &str, from: &str, to: &str, set: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let release = dir.path().join("release");
    mini::copy(&mini_framenet(), &release);
    let path = release.join(file);
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text.matches(from).count(), 1, "`{from}` in {file}");
    fs::write(&path, text.replace(from, to)).unwrap();
    let store = dir.path().join("store");
    let ran = fnstore_in(&store, &["import", release.to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let ran = fnstore_in(&store, &["show", "annotation", set]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let (drawing, _) = ran.stdout.split_once("\n\n").unwrap();
    drawing.to_owned()
}

/// The end of set 7038, "The council carried out an inspection of the kitchen .".
const NOUN_LAYER: &str = "name=\"Target\"/>\n                </layer>\n                \
                          <layer rank=\"1\" name=\"Noun\"/>\n            </annotationSet>\n        \
                          </sentence>\n        <sentence sentNo=\"0\" aPos=\"501900\"";

#[test]
fn a_support_verb_is_marked_beside_the_target() {
    let with_support = NOUN_LAYER.replace(
        "<layer rank=\"1\" name=\"Noun\"/>",
        "<layer rank=\"1\" name=\"Noun\"><label end=\"22\" start=\"12\" name=\"Supp\"/></layer>",
    );
    let drawing = drawn_after("lu/lu1005.xml", NOUN_LAYER, &with_support, "x7038");
    let lines: Vec<&str> = drawing.lines().skip(1).collect();
    assert_eq!(
        lines,
        [
            "    The council carried out an inspection of the kitchen .",
            "    ----------- ^^^^^^^^^^^    ********** --------------",
            "    Checker     Supp                      Matter",
        ]
    );
}

#[test]
fn a_target_inside_an_element_is_marked_as_both() {
    let matter = "<label cBy=\"7\" feID=\"2002\" end=\"51\" start=\"38\" name=\"Matter\"/>";
    let wider = matter.replace("start=\"38\"", "start=\"27\"");
    let drawing = drawn_after("lu/lu1005.xml", matter, &wider, "x7038");
    assert!(
        drawing.contains("\n    -----------                ==========---------------\n"),
        "{drawing}"
    );
}

#[test]
fn no_drawing_is_wider_than_a_page() {
    let ran = fnstore(&["query", "--format", "table"]);
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 100), "{}", ran.stdout);
}
