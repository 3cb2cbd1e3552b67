//! `fnstore query --explain`: how a query is answered.

use std::collections::BTreeMap;

use fnstore::search::{Explanation, TermReport};
use serde::Serialize;

use crate::cli::print::output::{Output, counted, grouped};
use crate::cli::print::render::{fields_of, under};

/// A plan as JSON; described in `schema/plan.schema.json`.
#[derive(Debug, Serialize)]
struct Plan<'a> {
    releases: &'a [String],
    access: &'static str,
    place: &'a str,
    estimated: u64,
    read: u64,
    answers: u64,
    milliseconds: f64,
    terms: Vec<Term<'a>>,
}

#[derive(Debug, Serialize)]
struct Term<'a> {
    term: &'a str,
    access: &'static str,
    estimated: Option<u64>,
    asked: u64,
    passed: u64,
    /// Documents by the text that names them; for `doc` alone.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    documents: BTreeMap<&'static str, u64>,
}

impl<'a> From<&'a TermReport> for Term<'a> {
    fn from(report: &'a TermReport) -> Self {
        let TermReport { term, access, estimated, asked, passed, documents } = report;
        let documents = documents.iter().map(|(by, count)| (by.as_str(), *count)).collect();
        let access = access.as_str();
        Self { term, access, estimated: *estimated, asked: *asked, passed: *passed, documents }
    }
}

const COLUMNS: [&str; 5] = ["term", "access", "estimated", "asked", "passed"];

/// Writes a plan, for reading unless another format is asked for.
pub(crate) fn write_plan(explained: &Explanation, output: &mut Output) -> anyhow::Result<()> {
    let milliseconds = explained.elapsed.as_secs_f64() * 1e3;
    let plan = Plan {
        releases: &explained.releases,
        access: explained.access.as_str(),
        place: &explained.place,
        estimated: explained.estimated,
        read: explained.read,
        answers: explained.answers,
        milliseconds,
        terms: explained.terms.iter().map(Term::from).collect(),
    };
    let terms = explained.terms.iter().map(|report| {
        vec![
            report.term.clone(),
            report.access.to_string(),
            report.estimated.map_or("-".to_owned(), grouped),
            grouped(report.asked),
            grouped(report.passed),
        ]
    });
    let terms: Vec<Vec<String>> = terms.collect();
    let delimited = under(&COLUMNS, plan.terms.iter().map(|term| fields_of(term, &COLUMNS)));
    output.report(&plan, delimited, |output| {
        let releases = match explained.releases.as_slice() {
            [] => "no release".to_owned(),
            names => names.join(", "),
        };
        output.line(&format!(
            "{}: {} in {releases}; {} estimated, {} read, {}, {milliseconds:.1} ms",
            explained.access,
            explained.place,
            counted(explained.estimated, "set"),
            grouped(explained.read),
            counted(explained.answers, "answer"),
        ))?;
        if explained.terms.is_empty() {
            return Ok(());
        }
        output.table(&COLUMNS, terms.clone())?;
        for report in explained.terms.iter().filter(|report| !report.documents.is_empty()) {
            let by = report.documents.iter();
            let by: Vec<String> =
                by.map(|(by, count)| format!("{} by {}", grouped(*count), by.as_str())).collect();
            output.line(&format!("{} names documents: {}", report.term, by.join(", ")))?;
        }
        Ok(())
    })
}
