//! What comes from outside may be anything: the readers of XML and of JSON lines and the query
//! parser answer every input with a value or an error with its place, and never with a panic.
//!
//! Inputs are the release's own files and real queries with pieces changed, cut, doubled and moved,
//! and plain noise. `PROPTEST_CASES` sets their number; by default these take some seconds.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use fnstore::exchange::jsonl::RecordReader;
use fnstore::exchange::{ExchangeError, SpanReader};
use fnstore::framenet::{
    FramenetError, read_frame_file, read_frame_index, read_fulltext_file, read_fulltext_index,
    read_lu_file, read_lu_index, read_relations, read_sem_types,
};
use fnstore::model::WrittenNumbers;
use fnstore::query::Expression;
use proptest::prelude::*;

use crate::{generated, mini};

/// One change of a text: where, and what.
#[derive(Debug, Clone)]
enum Mutation {
    Flip(usize, u8),
    Cut(usize, usize),
    Double(usize, usize),
    Insert(usize, Vec<u8>),
}

/// Pieces that mean something to a reader of XML.
pub(crate) const PIECES: [&str; 16] = [
    "<",
    ">",
    "</",
    "/>",
    "&",
    "&amp;",
    "&#x110000;",
    "&#0;",
    "\"",
    "<![CDATA[",
    "]]>",
    "<!--",
    "<?xml",
    "<!DOCTYPE a [",
    "\u{feff}",
    "99999999999999999999",
];

fn mutation() -> impl Strategy<Value = Mutation> {
    prop_oneof![
        (any::<usize>(), any::<u8>()).prop_map(|(at, bits)| Mutation::Flip(at, bits)),
        (any::<usize>(), 1..400_usize).prop_map(|(at, length)| Mutation::Cut(at, length)),
        (any::<usize>(), 1..400_usize).prop_map(|(at, length)| Mutation::Double(at, length)),
        (any::<usize>(), prop::sample::select(&PIECES[..]))
            .prop_map(|(at, piece)| Mutation::Insert(at, piece.as_bytes().to_vec())),
        (any::<usize>(), any::<Vec<u8>>()).prop_map(|(at, noise)| Mutation::Insert(at, noise)),
    ]
}

fn mutated(text: &[u8], mutations: &[Mutation]) -> Vec<u8> {
    let mut bytes = text.to_vec();
    for mutation in mutations {
        if bytes.is_empty() {
            break;
        }
        let end = |at: usize, length: usize| (at + length).min(bytes.len());
        match mutation {
            Mutation::Flip(at, bits) => {
                let at = at % bytes.len();
                bytes[at] ^= bits;
            }
            Mutation::Cut(at, length) => {
                let at = at % bytes.len();
                bytes.drain(at..end(at, *length));
            }
            Mutation::Double(at, length) => {
                let at = at % bytes.len();
                let piece = bytes[at..end(at, *length)].to_vec();
                bytes.splice(at..at, piece);
            }
            Mutation::Insert(at, piece) => {
                let at = at % bytes.len();
                bytes.splice(at..at, piece.iter().copied());
            }
        }
    }
    bytes
}

/// Reads a file of a release as what it is.
pub(crate) fn read(file: &str, content: &[u8]) -> Result<(), FramenetError> {
    let numbers = WrittenNumbers::default();
    match file {
        "frameIndex.xml" => read_frame_index(file, content, &numbers).map(drop),
        "luIndex.xml" => read_lu_index(file, content, &numbers).map(drop),
        "fulltextIndex.xml" => read_fulltext_index(file, content, &numbers).map(drop),
        "frRelation.xml" => read_relations(file, content, &numbers).map(drop),
        "semTypes.xml" => read_sem_types(file, content, &numbers).map(drop),
        _ if file.starts_with("frame/") => read_frame_file(file, content, &numbers).map(drop),
        _ if file.starts_with("lu/") => read_lu_file(file, content, &numbers).map(drop),
        _ => read_fulltext_file(file, content, &numbers).map(drop),
    }
}

/// The files of mini-framenet, the shorter ones of each kind.
pub(crate) fn files() -> &'static [(String, Vec<u8>)] {
    static FILES: OnceLock<Vec<(String, Vec<u8>)>> = OnceLock::new();
    FILES.get_or_init(|| {
        let names = [
            "frameIndex.xml",
            "luIndex.xml",
            "fulltextIndex.xml",
            "frRelation.xml",
            "semTypes.xml",
            "frame/Checking.xml",
            "frame/Roaming.xml",
            "lu/lu1003.xml",
            "lu/lu1101.xml",
            "fulltext/MINI__BikeRide.xml",
        ];
        let content = |name: &str| fs::read(Path::new(&mini::framenet()).join(name)).unwrap();
        names.iter().map(|name| ((*name).to_owned(), content(name))).collect()
    })
}

/// An error has the file and, but for a missing element, the line.
pub(crate) fn assert_placed(file: &str, content: &[u8], error: &FramenetError) {
    let lines = 1 + content.iter().filter(|byte| **byte == b'\n').count();
    match error {
        FramenetError::Xml { file: named, line, .. }
        | FramenetError::Value { file: named, line, .. } => {
            assert_eq!(named, file);
            assert!((1..=lines).contains(line), "line {line} of {lines}: {error}");
        }
        other => panic!("not an error of a file's content: {other}"),
    }
}

fn cases(number: u32) -> ProptestConfig {
    let set = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(set.unwrap_or(number))
    }
}

#[test]
fn the_files_are_read_as_they_are() {
    for (file, content) in files() {
        read(file, content).unwrap_or_else(|error| panic!("{error}"));
    }
}

proptest! {
    #![proptest_config(cases(2_000))]

    #[test]
    fn a_mutated_file_is_read_or_refused_with_its_line(
        which in 0..10_usize,
        mutations in prop::collection::vec(mutation(), 1..6),
    ) {
        let (file, content) = &files()[which];
        let content = mutated(content, &mutations);
        if let Err(error) = read(file, &content) {
            assert_placed(file, &content, &error);
        }
    }

    #[test]
    fn noise_is_no_file(content: Vec<u8>) {
        for (file, _) in files() {
            if let Err(error) = read(file, &content) {
                assert_placed(file, &content, &error);
            }
        }
    }
}

/// mini-framenet as JSON lines.
pub(crate) fn json_lines() -> &'static [u8] {
    static LINES: OnceLock<Vec<u8>> = OnceLock::new();
    LINES.get_or_init(|| {
        let (_dir, database, report) = mini::imported();
        generated::write(&database, report.release.id);
        let mut lines = Vec::new();
        database.export_jsonl(&"".parse().unwrap(), false, &mut lines).unwrap();
        lines
    })
}

/// Reads records to their end; the error has the file and a line of it.
pub(crate) fn assert_records(content: &[u8]) {
    let outcome = RecordReader::new(content, "x.jsonl".as_ref()).and_then(|mut reader| {
        while reader.read()?.is_some() {}
        Ok(())
    });
    assert_line(content, outcome);
}

/// Reads span-labelled texts to their end.
pub(crate) fn assert_labelled_texts(content: &[u8]) {
    let mut reader = SpanReader::new(content, "x.jsonl".as_ref());
    let outcome = loop {
        match reader.read() {
            Ok(Some(text)) => {
                for span in &text.spans {
                    assert!(span.span.of(&text.text).is_some(), "{span:?} of {:?}", text.text);
                }
            }
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    assert_line(content, outcome);
}

fn assert_line(content: &[u8], outcome: Result<(), ExchangeError>) {
    let lines = 1 + content.iter().filter(|byte| **byte == b'\n').count();
    match outcome {
        Ok(()) => {}
        Err(
            ExchangeError::Line { ref file, line, .. }
            | ExchangeError::Field { ref file, line, .. },
        ) => {
            assert_eq!(file, "x.jsonl");
            assert!((1..=lines).contains(&line), "line {line} of {lines}: {outcome:?}");
        }
        Err(other) => panic!("not an error of a line: {other}"),
    }
}

pub(crate) const LABELLED: &str = "{\"text\": \"He \u{e9}tudied \u{1f600} .\", \"spans\": \
    [{\"start\": 3, \"end\": 10, \"type\": \"Study\", \"lemma\": \"study\", \"pos\": \"v\"}]}\n\
    {\"id\": 7, \"split\": \"dev\", \"document\": \"d\", \"text\": \"\", \"spans\": []}\n";

#[test]
fn the_lines_are_read_as_they_are() {
    let mut reader = RecordReader::new(json_lines(), "x.jsonl".as_ref()).unwrap();
    let mut records = 0;
    while reader.read().unwrap().is_some() {
        records += 1;
    }
    assert!(records > 100, "{records}");
    let mut reader = SpanReader::new(LABELLED.as_bytes(), "x.jsonl".as_ref());
    while reader.read().unwrap().is_some() {}
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn mutated_json_lines_are_read_or_refused_with_their_line(
        mutations in prop::collection::vec(mutation(), 1..6),
    ) {
        assert_records(&mutated(json_lines(), &mutations));
    }
}

proptest! {
    #![proptest_config(cases(5_000))]

    #[test]
    fn mutated_labelled_texts_are_read_or_refused_with_their_line(
        mutations in prop::collection::vec(mutation(), 1..6),
        noise: Vec<u8>,
    ) {
        assert_labelled_texts(&mutated(LABELLED.as_bytes(), &mutations));
        assert_labelled_texts(&noise);
        assert_records(&noise);
    }
}

pub(crate) const QUERIES: [&str; 10] = [
    "frame=Verification",
    "trigger=corroborat* origin=fulltext",
    "lu=confirm.v fe=Inspector{gf=Ext pt=NP}",
    "inherits=Event pos=v text~\"\\bnot\\b\"",
    "not (frame=A or frame=B) aligner>=0.9 round<3",
    "text=\"a \\\"quoted\\\" text\" and lemma!=\"b\"",
    "since=7 split=train id=x1024 release=bfn-1.5",
    "fe={ni=DNI overt=no} or gf=Obj or judgement>50",
    "trigger~(a|b)+$ status=MANUAL corpus=ANC doc=\"x y\"",
    "\u{e9}t\u{e9}=\u{1f600} frame=\u{212a}",
];

/// A query is an error with a place inside it, or one that reads as it is written.
pub(crate) fn assert_parsed(text: &str) {
    match Expression::parse(text) {
        Ok(expression) => {
            let written = expression.to_string();
            let again = Expression::parse(&written);
            assert!(
                again.as_ref().is_ok_and(|again| *again == expression),
                "`{text}` is written `{written}`, which is {again:?}"
            );
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

proptest! {
    #![proptest_config(cases(20_000))]

    #[test]
    fn a_mutated_query_is_an_error_or_reads_as_it_is_written(
        which in 0..QUERIES.len(),
        mutations in prop::collection::vec(mutation(), 1..4),
    ) {
        let bytes = mutated(QUERIES[which].as_bytes(), &mutations);
        assert_parsed(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn a_row_of_tokens_is_an_error_or_reads_as_it_is_written(
        tokens in prop::collection::vec(
            prop::sample::select(&["frame", "fe", "=", "!=", "<=", "~", "(", ")", "{", "}", " ", "not ",
                "or ", "and ", "\"", "\\", "*", "x", "1", "Inspector", "gf=Ext", "\u{e9}"][..]),
            0..24,
        ),
    ) {
        assert_parsed(&tokens.concat());
    }
}

/// Deep in parentheses, long in terms, large in a pattern: an error or an answer, and no overflow
/// of the stack.
#[test]
fn a_query_of_any_size_ends() {
    for text in [
        "(".repeat(200_000),
        format!("{}frame=A{}", "(".repeat(100_000), ")".repeat(100_000)),
        "not ".repeat(200_000) + "frame=A",
        "frame=A or ".repeat(50_000) + "frame=A",
        format!("text~\"{}\"", "(a{1000}){1000}".repeat(4)),
        format!("trigger=\"{}\"", "*a".repeat(100_000)),
    ] {
        let _ = Expression::parse(&text);
    }
}
