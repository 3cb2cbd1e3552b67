//! `fnstore align spans`: where a span of a sentence went in its paraphrase.

use std::collections::BTreeMap;
use std::path::PathBuf;

use fnstore::align::{AlignError, AlignRequest, Aligner, Ranking};
use fnstore::model::Span;
use fnstore::text::{CharIndex, CharSpan};
use serde::{Deserialize, Serialize};

use crate::cli::device::DeviceArgs;
use crate::cli::eval::HEAD;
use crate::cli::language::LanguageArgs;
use crate::cli::line_batches::{self, LineItem, LineTask};
use crate::cli::line_reader::{self, LineError};
use crate::cli::{Context, Outcome, locate, number};

/// Align spans of sentences with spans of their paraphrases
///
/// Reads JSON lines: `source` and `target`, both texts or both lists of words; `span`, [start, end)
/// in `source`, or a list of such for a discontinuous one. An `id` of any type is returned. Spans
/// count code points in texts and words in lists. Writes a JSON line for each, with the span in
/// `target` or null, its score and the runners-up. A line that cannot be aligned gets a record with
/// an error and its code. The other lines are aligned, and the exit code is 65.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// File to read [default: standard input]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    /// Treat spans that score below SCORE (0 to 1) as not aligned [default: the head's own]
    #[arg(long, value_name = "SCORE", value_parser = number::share::<f32>)]
    threshold: Option<f32>,

    /// Also report the N next best spans
    #[arg(long, value_name = "N", default_value_t = 3)]
    runners_up: usize,

    /// Directory of the head, or its name among the models
    #[arg(long, value_name = "DIR|NAME", default_value = HEAD)]
    head: PathBuf,

    /// Directory of the encoder, or its name among the models [default: the one that the head
    /// names]
    #[arg(long, value_name = "DIR|NAME")]
    encoder: Option<PathBuf>,

    /// Directory that holds the models
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,

    #[command(flatten)]
    language: LanguageArgs,

    #[command(flatten)]
    device: DeviceArgs,
}

const EXAMPLES: &str = r#"Example:
  echo '{"source": "They checked it.", "span": [5, 12], "target": "They inspected it."}' | fnstore align spans"#;

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let dirs = locate::model_dirs(args.models);
    let head = locate::model(&args.head, &dirs)?;
    let encoder = locate::encoder(args.encoder.as_deref(), &head, &dirs)?;
    let lines = line_batches::open(args.file.as_deref())?;
    let aligner = Aligner::open(&head, &encoder, &args.device.open()?)?;
    args.language.check(aligner.declared(), context)?;
    let threshold = args.threshold.unwrap_or(aligner.config().threshold);
    let aligning = Aligning { aligner, threshold, runners_up: args.runners_up };
    line_batches::run(aligning, lines, &mut context.output)
}

/// The aligning of lines.
struct Aligning {
    aligner: Aligner,
    threshold: f32,
    runners_up: usize,
}

impl LineTask for Aligning {
    type Item = Item;
    type Record = Record;

    const DONE: &'static str = "aligned";
    const COLUMNS: &'static [&'static str] =
        &["line", "id", "spans", "texts", "score", "runners_up", "error"];

    fn answer(
        &mut self,
        items: Vec<(u64, Item)>,
    ) -> anyhow::Result<Vec<Result<Record, LineError>>> {
        // A refused request takes the batch with it, so it is set aside and the rest tried again.
        let mut refused: BTreeMap<usize, LineError> = BTreeMap::new();
        let rankings = loop {
            let good: Vec<usize> =
                (0..items.len()).filter(|at| !refused.contains_key(at)).collect();
            let requests: Vec<AlignRequest<'_>> =
                good.iter().map(|&at| items[at].1.request()).collect();
            match self.aligner.rank(&requests, self.runners_up) {
                Ok(rankings) => break rankings,
                Err(error) => match error.request() {
                    Some(request) => refused.insert(good[request], refusal(&error)),
                    None => return Err(error.into()),
                },
            };
        };
        let mut rankings = rankings.into_iter();
        let records = items.into_iter().enumerate().map(|(at, (line, item))| {
            refused.remove(&at).map_or_else(
                || {
                    let ranking = rankings.next().expect("every good line has been aligned");
                    Ok(item.record(line, ranking, self.threshold))
                },
                Err,
            )
        });
        Ok(records.collect())
    }

    fn text(_: &Record) -> Option<String> {
        None
    }
}

fn refusal(error: &AlignError) -> LineError {
    match error {
        AlignError::TooLong { pieces, limit, .. } => LineError::new(
            "E-too-long",
            format!(
                "`source` and `target` have {pieces} pieces, the encoder takes at most {limit}"
            ),
        ),
        _ => LineError::new("E-span", "`span` holds no word of `source`"),
    }
}

/// A line as it comes in; see `schema/align-request.schema.json`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    id: Option<serde_json::Value>,
    source: Side,
    span: Pieces,
    target: Side,
}

/// A text or its words.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected a text or a list of words")]
enum Side {
    Text(String),
    Words(Vec<String>),
}

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected `[start, end]` or a list of such")]
enum Pieces {
    One([u32; 2]),
    Several(Vec<[u32; 2]>),
}

/// A text whose spans count code points, or words parted by spaces, whose spans count words.
#[derive(Debug)]
struct Text {
    text: String,
    /// Where each word lies, in bytes.
    words: Option<Vec<Span>>,
}

impl Text {
    fn new(side: Side) -> Self {
        match side {
            Side::Text(text) => Self { text, words: None },
            Side::Words(words) => {
                let mut start = 0;
                let span = |word: &String| {
                    let span = Span::new(start, start + word.len() as u32);
                    start = span.end + 1;
                    span
                };
                let spans = words.iter().map(span).collect();
                Self { text: words.join(" "), words: Some(spans) }
            }
        }
    }

    /// A span in bytes, if it lies inside and is not empty.
    fn bytes(&self, [start, end]: [u32; 2]) -> Option<Span> {
        if start >= end {
            return None;
        }
        match &self.words {
            None => CharIndex::new(&self.text).to_bytes(CharSpan { start, end }).ok(),
            Some(words) => {
                let last = words.get(end as usize - 1)?;
                Some(Span::new(words[start as usize].start, last.end))
            }
        }
    }

    /// A span of bytes in the unit of the text; of words those that it touches.
    fn units(&self, span: Span) -> [u32; 2] {
        match &self.words {
            None => {
                let chars = CharIndex::new(&self.text).to_chars(span);
                let CharSpan { start, end } = chars.expect("the span is of this text");
                [start, end]
            }
            Some(words) => {
                let start = words.partition_point(|word| word.end <= span.start);
                let end = words.partition_point(|word| word.start < span.end);
                [start as u32, end as u32]
            }
        }
    }

    fn size(&self) -> String {
        match &self.words {
            None => format!("{} code points", CharIndex::new(&self.text).chars()),
            Some(words) => format!("{} words", words.len()),
        }
    }
}

/// What a line asks for.
#[derive(Debug)]
struct Item {
    id: Option<serde_json::Value>,
    source: Text,
    pieces: Vec<Span>,
    target: Text,
}

impl LineItem for Item {
    fn read(line: &[u8], _is_json: bool) -> Result<Self, LineError> {
        let text = line_reader::text(line)?;
        let line: Line = serde_json::from_str(text).map_err(|error| LineError::json(&error))?;
        if matches!(line.source, Side::Text(_)) != matches!(line.target, Side::Text(_)) {
            let message =
                "`source` and `target` differ in kind: expected two texts or two lists of words";
            return Err(LineError::new("E-type", message));
        }
        let (source, target) = (Text::new(line.source), Text::new(line.target));
        let pieces = match line.span {
            Pieces::One(piece) => vec![piece],
            Pieces::Several(pieces) => pieces,
        };
        let pieces: Vec<Span> = pieces
            .into_iter()
            .map(|[start, end]| {
                source.bytes([start, end]).ok_or_else(|| {
                    let size = source.size();
                    let message = format!("`span` is [{start}, {end}), `source` has {size}");
                    LineError::new("E-span", message)
                })
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { id: line.id, source, pieces, target })
    }
}

impl Item {
    fn request(&self) -> AlignRequest<'_> {
        AlignRequest { source: &self.source.text, pieces: &self.pieces, target: &self.target.text }
    }

    fn record(self, line: u64, ranking: Option<Ranking>, threshold: f32) -> Record {
        let target = |span: Span| self.target.units(span);
        let text = |span: Span| span.of(&self.target.text).unwrap_or_default().to_owned();
        let aligned = ranking.as_ref().filter(|ranking| ranking.alignment.score >= threshold);
        let spans = aligned.map(|ranking| ranking.alignment.spans.clone());
        let runners_up = ranking.as_ref().map_or(Vec::new(), |ranking| {
            let of_piece = |at: usize| {
                // What was too weak to be the answer stands before the others.
                let alignment = &ranking.alignment;
                let weak = aligned.is_none().then(|| (alignment.spans[at], alignment.score));
                let others = weak.into_iter().chain(ranking.runners_up[at].iter().copied());
                others.map(|(span, score)| RunnerUp { span: target(span), text: text(span), score })
            };
            (0..self.pieces.len()).map(|at| of_piece(at).collect()).collect()
        });
        Record {
            line,
            spans: spans.as_ref().map(|spans| spans.iter().map(|span| target(*span)).collect()),
            texts: spans.map(|spans| spans.into_iter().map(text).collect()),
            score: ranking.as_ref().map(|ranking| ranking.alignment.score),
            runners_up,
            id: self.id,
        }
    }
}

/// One line of the output; see `schema/align-spans.schema.json`.
#[derive(Debug, Serialize)]
struct Record {
    line: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<serde_json::Value>,
    spans: Option<Vec<[u32; 2]>>,
    texts: Option<Vec<String>>,
    score: Option<f32>,
    runners_up: Vec<Vec<RunnerUp>>,
}

#[derive(Debug, Serialize)]
struct RunnerUp {
    span: [u32; 2],
    text: String,
    score: f32,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(line: &str) -> (&'static str, String) {
        let error = Item::read(line.as_bytes(), true).unwrap_err();
        (error.code, error.message)
    }

    #[test]
    fn spans_count_code_points_of_texts_and_words_of_lists() {
        let line = r#"{"source": "caf\u00e9 au lait", "span": [5, 7], "target": "x"}"#;
        let item = Item::read(line.as_bytes(), true).unwrap();
        assert_eq!(item.pieces, [Span::new(6, 8)]);
        assert_eq!(item.source.units(Span::new(6, 8)), [5, 7]);
        let line =
            r#"{"source": ["caf\u00e9", "au", "lait"], "span": [[0, 1], [2, 3]], "target": ["x"]}"#;
        let item = Item::read(line.as_bytes(), true).unwrap();
        assert_eq!(item.pieces, [Span::new(0, 5), Span::new(9, 13)]);
        // A part of a word is that word.
        assert_eq!(item.source.units(Span::new(6, 10)), [1, 3]);
    }

    #[test]
    fn what_is_wrong_with_a_line_has_a_code_and_names_the_field() {
        for (line, want, names) in [
            (r#"{"source": "a b", "span": [1, 9], "target": "x"}"#, "E-span", "3 code points"),
            (r#"{"source": "a b", "span": [1, 1], "target": "x"}"#, "E-span", "[1, 1)"),
            (r#"{"source": ["a"], "span": [1, 2], "target": ["x"]}"#, "E-span", "1 words"),
            (r#"{"source": ["a"], "span": [0, 1], "target": "x"}"#, "E-type", "`target`"),
            (r#"{"source": "a", "span": "b", "target": "x"}"#, "E-type", "[start, end]"),
            (r#"{"source": 4, "span": [0, 1], "target": "x"}"#, "E-type", "text or a list"),
            (r#"{"source": "a", "span": [0, 1]}"#, "E-key", "`target`"),
            (r#"{"source": "a", "span": [0, 1], "target": "x", "k": 1}"#, "E-key", "`k`"),
            (r#"{"source": "a""#, "E-json", "column"),
            ("", "E-empty", "empty"),
        ] {
            let (code, message) = code(line);
            assert_eq!(code, want, "{line}: {message}");
            assert!(message.contains(names), "{line}: {message}");
        }
    }
}
