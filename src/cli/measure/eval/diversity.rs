//! Table 3 of Culkin et al. 2021: how far parts of speech change from source to paraphrase.

use std::collections::HashMap;

use fnstore::align::{AlignedSpan, TagDistances, TooLong, WordSpan};
use fnstore::model::Fraction;
use fnstore::tag::Tagger;
use serde::Serialize;

use crate::cli::print::output::{Output, counted_are};

/// The rows of the table, for all items and for those whose wording changed.
#[derive(Debug, Serialize)]
pub(super) struct Diversity {
    /// Items a side of which is too long for the tagger's encoder.
    left_out: u64,
    rows: Vec<PosRow>,
}

#[derive(Debug, Serialize)]
struct PosRow {
    /// `all` or `changed`.
    /// JSON `{"enum": ["all", "changed"]}`.
    items: &'static str,
    /// The source spans are compared with the spans `found`, or with the `gold` ones.
    /// JSON `{"enum": ["found", "gold"]}`.
    spans: &'static str,
    pairs: u64,
    not_exact: Fraction,
    jaccard: Fraction,
    weighted: Fraction,
    paper_not_exact: Fraction,
    paper_jaccard: Fraction,
    paper_weighted: Fraction,
}

/// The paper's not-EXT, JCD and WJCD: source against model, and source against gold.
const PAPER: [[f64; 3]; 2] = [[0.3108, 0.2894, 0.2931], [0.3454, 0.3060, 0.3105]];

impl Diversity {
    /// Tags both sides of every item and compares the tags of its spans.
    pub(super) fn measure(
        items: &[AlignedSpan],
        found: &[Result<Option<WordSpan>, TooLong>],
        tagger: &Tagger,
    ) -> anyhow::Result<Self> {
        let tags = tags_of(items, tagger)?;
        // By whether all items or the changed ones, and by found or gold.
        let mut distances = [[TagDistances::default(); 2]; 2];
        let mut left_out = 0;
        for (item, found) in items.iter().zip(found) {
            let (Some(source), Some(target)) = (&tags[&item.source], &tags[&item.target]) else {
                left_out += 1;
                continue;
            };
            let found = found.ok().flatten();
            for (at, span) in [found, item.target_span].into_iter().enumerate() {
                let Some(span) = span else { continue };
                let (source, target) = (inside(source, item.source_span), inside(target, span));
                distances[0][at].add(source, target);
                if item.changed {
                    distances[1][at].add(source, target);
                }
            }
        }
        let rows = ["all", "changed"].into_iter().zip(&distances).flat_map(|(items, of_items)| {
            let kinds = ["found", "gold"].into_iter().zip(of_items).zip(PAPER);
            kinds.map(move |((spans, distances), paper)| PosRow {
                items,
                spans,
                pairs: distances.pairs(),
                not_exact: distances.not_exact(),
                jaccard: distances.jaccard(),
                weighted: distances.weighted(),
                paper_not_exact: paper[0],
                paper_jaccard: paper[1],
                paper_weighted: paper[2],
            })
        });
        Ok(Self { left_out, rows: rows.collect() })
    }

    pub(super) fn write(&self, output: &mut Output) -> anyhow::Result<()> {
        output.line("")?;
        output.heading("differences in part of speech (Table 3; in brackets the paper's)")?;
        let row = |row: &PosRow| {
            let beside =
                |own: f64, paper: f64| format!("{:.2} % ({:.2})", 100.0 * own, 100.0 * paper);
            vec![
                row.items.to_owned(),
                format!("source and {}", row.spans),
                row.pairs.to_string(),
                beside(row.not_exact, row.paper_not_exact),
                beside(row.jaccard, row.paper_jaccard),
                beside(row.weighted, row.paper_weighted),
            ]
        };
        let columns = ["items", "spans", "pairs", "not-EXT", "JCD", "WJCD"];
        output.table(&columns, self.rows.iter().map(row).collect())?;
        if self.left_out > 0 {
            output.line(&format!(
                "{} too long for the tagger's encoder and left out",
                counted_are(self.left_out, "item")
            ))?;
        }
        Ok(())
    }
}

/// The tags of the words of a span.
fn inside<'a, 'b>(tags: &'b [&'a str], span: WordSpan) -> &'b [&'a str] {
    &tags[span.start as usize..span.end as usize]
}

/// The tags of each distinct sentence on either side; none where it is too long.
fn tags_of<'a, 'b>(
    items: &'b [AlignedSpan],
    tagger: &'a Tagger,
) -> anyhow::Result<HashMap<&'b Vec<String>, Option<Vec<&'a str>>>> {
    let mut sentences: Vec<&Vec<String>> =
        items.iter().flat_map(|item| [&item.source, &item.target]).collect();
    sentences.sort_unstable();
    sentences.dedup();
    let words: Vec<Vec<&str>> =
        sentences.iter().map(|sentence| sentence.iter().map(String::as_str).collect()).collect();
    let tags = tagger.tag_each(&words)?.into_iter();
    let names = tags.map(|tags| Some(tags.ok()?.iter().map(|tag| tag.name).collect()));
    Ok(sentences.into_iter().zip(names).collect())
}
