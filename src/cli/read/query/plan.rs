//! `fnstore query --explain`: how a query is answered.

use fnstore::search::Explanation;

use crate::cli::print::output::{Output, counted, grouped};
use crate::cli::print::render::{fields_of, under};

const COLUMNS: [&str; 5] = ["term", "access", "estimated", "asked", "passed"];

/// Writes a plan, for reading unless another format is asked for.
pub(crate) fn write_plan(explained: &Explanation, output: &mut Output) -> anyhow::Result<()> {
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
    let delimited = under(&COLUMNS, explained.terms.iter().map(|term| fields_of(term, &COLUMNS)));
    let milliseconds = explained.elapsed.as_secs_f64() * 1e3;
    output.report(explained, delimited, |output| {
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
