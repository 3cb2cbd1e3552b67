//! A report of what is odd is no copy of the release, however long its texts, names and ids are.

use std::fs;

use crate::cli_program::{fnstore_in, mini_framenet};
use crate::mini;

#[test]
fn a_report_quotes_the_beginning_of_what_is_long() {
    let dir = tempfile::tempdir().unwrap();
    let release = dir.path().join("release");
    mini::copy(&mini_framenet(), &release);
    let long = "y".repeat(1 << 20);
    for number in 0..12 {
        let content = format!(
            "<fullTextAnnotation><header><corpus ID=\"9\" name=\"c\"><document ID=\"{number}\" \
             name=\"d\"/></corpus></header><sentence ID=\"{number}\" odd=\"{odd}\">{long}\
             <text> \u{e9}&lt;{long} </text><annotationSet ID=\"{number}\" status=\"{odd}\" \
             cxnID=\"{odd}\" cxnName=\"\"/></sentence></fullTextAnnotation>",
            odd = &long[..60_000],
        );
        fs::write(release.join(format!("fulltext/d{number}.xml")), content).unwrap();
    }
    let report = dir.path().join("report.json");
    let (store, path) = (dir.path().join("store"), report.to_str().unwrap());
    let ran = fnstore_in(&store, &["import", release.to_str().unwrap(), "--report", path]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report: serde_json::Value = serde_json::from_slice(&fs::read(&report).unwrap()).unwrap();
    let mut codes = Vec::new();
    for warning in report["warnings"].as_array().unwrap() {
        codes.push(warning["code"].as_str().unwrap().to_owned());
        for example in warning["examples"].as_array().unwrap() {
            assert!(example["detail"].as_str().unwrap().len() < 600, "{}", warning["code"]);
        }
    }
    for code in ["W-unknown-text", "W-id-written", "W-text-non-ascii", "W-text-markup"] {
        assert!(codes.iter().any(|found| found == code), "{code}: {codes:?}");
    }
}
