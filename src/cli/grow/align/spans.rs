//! `fnstore align spans`: where a span of a sentence went in its paraphrase.

use std::path::PathBuf;

use fnstore::align::{
    AlignError, AlignRequest, Aligner, Ranking, WordRanking, WordRequest, WordSpan,
};
use fnstore::model::{Fraction, Positive, Span};
use fnstore::text::{CharIndex, CharSpan};
use serde::{Deserialize, Serialize};

use crate::cli::input::line_batches::{self, LineItem, LineTask};
use crate::cli::input::line_reader::{self, LineError};
use crate::cli::options::device::DeviceArgs;
use crate::cli::options::language::LanguageArgs;
use crate::cli::options::locate::HEAD;
use crate::cli::options::{locate, number};
use crate::cli::{Context, Outcome};

/// Align spans of sentences with spans of their paraphrases
///
/// Reads JSON lines: `source` and `target`, both texts or both lists of words; `span`, [start, end)
/// in `source`, or a list of such for a discontinuous one. An `id` of any type is returned. Spans
/// count code points in texts and words in lists. Writes a JSON line for each, with the span in
/// `target` or null, its score and the runners-up. A line that cannot be aligned gets a record with
/// an error and its code. The other lines are aligned, and the exit code is 65.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
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

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let dirs = locate::model_dirs(args.models);
    let head = locate::model(&args.head, &dirs)?;
    let encoder = locate::encoder(args.encoder.as_deref(), &head, &dirs)?;
    let lines = line_reader::open(args.file.as_deref())?;
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
        let (mut texts, mut lists) = (Vec::new(), Vec::new());
        for (at, (_, item)) in items.iter().enumerate() {
            match &item.pair {
                Pair::Texts(texts_of) => texts.push((at, texts_of.request())),
                Pair::Words(lists_of) => lists.push((at, lists_of.request())),
            }
        }
        let runners_up = self.runners_up;
        let asked: Vec<AlignRequest<'_>> = texts.iter().map(|(_, request)| *request).collect();
        let of_texts = self.aligner.rank_each(&asked, runners_up)?;
        let asked: Vec<WordRequest<'_>> = lists.iter().map(|(_, request)| *request).collect();
        let of_lists = self.aligner.rank_words_each(&asked, runners_up)?;
        let mut found: Vec<Result<Option<Found>, LineError>> = Vec::new();
        found.resize_with(items.len(), || Ok(None));
        for ((at, request), ranking) in texts.iter().zip(of_texts) {
            let ranking = ranking.map_err(|error| refusal(&error));
            found[*at] = ranking.map(|ranking| Some(of_text(request.target, ranking?)));
        }
        for ((at, request), ranking) in lists.iter().zip(of_lists) {
            let ranking = ranking.map_err(|error| refusal(&error));
            found[*at] = ranking.map(|ranking| Some(of_list(request.target, ranking?)));
        }
        let records = items.into_iter().zip(found).map(|((line, item), found)| {
            Ok(Record::new(line, item.id, item.pair.pieces(), found?, self.threshold))
        });
        Ok(records.collect())
    }

    fn text(_: &Record) -> Option<String> {
        None
    }
}

/// For each piece what answers to it, and what else might.
type Found = Vec<(Place, Vec<Place>)>;

/// What is found in a text, whose spans count code points.
fn of_text(target: &str, Ranking { alignment, runners_up }: Ranking) -> Found {
    let index = CharIndex::new(target);
    let place = |(span, score): (Span, f32)| {
        let CharSpan { start, end } = index.to_chars(span).expect("the span is of this text");
        let text = span.of(target).unwrap_or_default().to_owned();
        Place { span: [start, end], text, score }
    };
    let answers = alignment.spans.into_iter().zip(alignment.scores).map(place);
    let others = runners_up.into_iter().map(|others| others.into_iter().map(place).collect());
    answers.zip(others).collect()
}

/// What is found in a list, whose spans count words.
fn of_list(target: &[String], ranking: WordRanking) -> Found {
    let place = |(WordSpan { start, end }, score): (WordSpan, f32)| {
        let text = target[start as usize..end as usize].join(" ");
        Place { span: [start, end], text, score }
    };
    let of_piece = |(answer, others): ((WordSpan, f32), Vec<_>)| {
        (place(answer), others.into_iter().map(place).collect())
    };
    ranking.into_iter().map(of_piece).collect()
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

/// Two texts, with spans in bytes.
#[derive(Debug)]
struct Texts {
    source: String,
    pieces: Vec<Span>,
    target: String,
}

impl Texts {
    fn request(&self) -> AlignRequest<'_> {
        AlignRequest { source: &self.source, pieces: &self.pieces, target: &self.target }
    }
}

/// Two lists of words.
#[derive(Debug)]
struct Words {
    source: Vec<String>,
    pieces: Vec<WordSpan>,
    target: Vec<String>,
}

impl Words {
    fn request(&self) -> WordRequest<'_> {
        WordRequest { source: &self.source, pieces: &self.pieces, target: &self.target }
    }
}

#[derive(Debug)]
enum Pair {
    Texts(Texts),
    Words(Words),
}

impl Pair {
    /// Number of pieces of the target.
    fn pieces(&self) -> usize {
        match self {
            Self::Texts(texts) => texts.pieces.len(),
            Self::Words(lists) => lists.pieces.len(),
        }
    }
}

/// What a line asks for.
#[derive(Debug)]
struct Item {
    id: Option<serde_json::Value>,
    pair: Pair,
}

impl LineItem for Item {
    fn read(line: &str, _is_json: bool) -> Result<Self, LineError> {
        let line: Line = serde_json::from_str(line)
            .map_err(|error| LineError::json_with(&error, "`source`, `span` and `target`"))?;
        let pieces = match line.span {
            Pieces::One(piece) => vec![piece],
            Pieces::Several(pieces) => pieces,
        };
        let pair = match (line.source, line.target) {
            (Side::Text(source), Side::Text(target)) => {
                let index = CharIndex::new(&source);
                let pieces = pieces.into_iter().map(|[start, end]| {
                    let span = index.to_bytes(CharSpan { start, end }).ok();
                    span.filter(|_| start < end).ok_or_else(|| {
                        outside([start, end], &format!("{} code points", index.chars()))
                    })
                });
                let pieces = pieces.collect::<Result<_, _>>()?;
                Pair::Texts(Texts { source, pieces, target })
            }
            (Side::Words(source), Side::Words(target)) => {
                let pieces = pieces.into_iter().map(|[start, end]| {
                    let is_inside = start < end && end as usize <= source.len();
                    is_inside
                        .then(|| WordSpan::new(start, end))
                        .ok_or_else(|| outside([start, end], &format!("{} words", source.len())))
                });
                let pieces = pieces.collect::<Result<_, _>>()?;
                for (name, words) in [("source", &source), ("target", &target)] {
                    if let Some(at) = words.iter().position(|word| word.trim().is_empty()) {
                        let message = format!("`{name}` has an empty word, its number {}", at + 1);
                        return Err(LineError::new("E-empty", message));
                    }
                }
                Pair::Words(Words { source, pieces, target })
            }
            _ => {
                let message = "`source` and `target` differ in kind: expected two texts or two \
                               lists of words";
                return Err(LineError::new("E-type", message));
            }
        };
        Ok(Self { id: line.id, pair })
    }
}

/// The error of a span that is no part of its sentence.
fn outside([start, end]: [u32; 2], size: &str) -> LineError {
    LineError::new("E-span", format!("`span` is [{start}, {end}), `source` has {size}"))
}

/// One line of the output; see `schema/align-spans.schema.json`.
#[derive(Debug, Serialize)]
struct Record {
    line: Positive,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<serde_json::Value>,
    spans: Option<Vec<[u32; 2]>>,
    texts: Option<Vec<String>>,
    score: Option<Fraction<f32>>,
    runners_up: Vec<Vec<Place>>,
}

/// A span of the target and the text that it covers.
#[derive(Debug, Serialize)]
struct Place {
    span: [u32; 2],
    text: String,
    score: Fraction<f32>,
}

impl Record {
    fn new(
        line: u64,
        id: Option<serde_json::Value>,
        pieces: usize,
        found: Option<Found>,
        threshold: f32,
    ) -> Self {
        let Some(found) = found else {
            let runners_up = (0..pieces).map(|_| Vec::new()).collect();
            return Self { line, id, spans: None, texts: None, score: None, runners_up };
        };
        let score = found.iter().map(|(answer, _)| answer.score).fold(1.0, f32::min);
        let (answers, mut runners_up): (Vec<Place>, Vec<Vec<Place>>) = found.into_iter().unzip();
        let (mut spans, mut texts) = (None, None);
        if score >= threshold {
            spans = Some(answers.iter().map(|answer| answer.span).collect());
            texts = Some(answers.into_iter().map(|answer| answer.text).collect());
        } else {
            // What was too weak to be the answer stands before the others.
            for (answer, others) in answers.into_iter().zip(&mut runners_up) {
                others.insert(0, answer);
            }
        }
        Self { line, id, spans, texts, score: Some(score), runners_up }
    }
}

#[cfg(test)]
mod tests {
    use fnstore::align::Alignment;

    use super::*;

    fn code(line: &str) -> (&'static str, String) {
        let error = Item::read(line, true).unwrap_err();
        (error.code, error.message)
    }

    #[test]
    fn spans_count_code_points_of_texts_and_words_of_lists() {
        let line = r#"{"source": "caf\u00e9 au lait", "span": [5, 7], "target": "x"}"#;
        let Pair::Texts(texts) = Item::read(line, true).unwrap().pair else { panic!("{line}") };
        assert_eq!(texts.pieces, [Span::new(6, 8)]);
        let line =
            r#"{"source": ["caf\u00e9", "au", "lait"], "span": [[0, 1], [2, 3]], "target": ["x"]}"#;
        let Pair::Words(lists) = Item::read(line, true).unwrap().pair else { panic!("{line}") };
        assert_eq!(lists.pieces, [WordSpan::new(0, 1), WordSpan::new(2, 3)]);
    }

    #[test]
    fn a_place_has_the_text_of_its_span_in_the_unit_of_its_target() {
        let ranking = Ranking {
            alignment: Alignment {
                spans: vec![Span::new(6, 8)],
                scores: vec![0.5],
                score: 0.5,
                weak: false,
            },
            runners_up: vec![vec![(Span::new(0, 8), 0.25)]],
        };
        let found = of_text("caf\u{e9} au lait", ranking);
        assert_eq!((found[0].0.span, found[0].0.text.as_str()), ([5, 7], "au"));
        assert_eq!((found[0].1[0].span, found[0].1[0].text.as_str()), ([0, 7], "caf\u{e9} au"));
        let words = ["big.", "is", "New York"].map(str::to_owned);
        let ranking = vec![((WordSpan::new(2, 3), 0.5), vec![(WordSpan::new(0, 2), 0.25)])];
        let found = of_list(&words, ranking);
        assert_eq!((found[0].0.span, found[0].0.text.as_str()), ([2, 3], "New York"));
        assert_eq!((found[0].1[0].span, found[0].1[0].text.as_str()), ([0, 2], "big. is"));
        // What is too weak stands first among the others, with its own score.
        let weak = Record::new(1, None, 1, Some(found), 0.6);
        assert_eq!((weak.spans, weak.runners_up[0][0].span), (None, [2, 3]));
        assert_eq!(Record::new(1, None, 2, None, 0.0).runners_up.len(), 2);
    }

    #[test]
    fn what_is_wrong_with_a_line_has_a_code_and_names_the_field() {
        for (line, want, names) in [
            (r#"{"source": "a b", "span": [1, 9], "target": "x"}"#, "E-span", "3 code points"),
            (r#"{"source": "a b", "span": [1, 1], "target": "x"}"#, "E-span", "[1, 1)"),
            (r#"{"source": ["a"], "span": [1, 2], "target": ["x"]}"#, "E-span", "1 words"),
            (r#"{"source": ["a"], "span": [0, 1], "target": "x"}"#, "E-type", "`target`"),
            (r#"{"source": ["a"], "span": [0, 1], "target": ["x", ""]}"#, "E-empty", "number 2"),
            (r#"{"source": "a", "span": "b", "target": "x"}"#, "E-type", "[start, end]"),
            (r#"{"source": 4, "span": [0, 1], "target": "x"}"#, "E-type", "text or a list"),
            (r#"{"source": "a", "span": [0, 1]}"#, "E-key", "`target`"),
            (r#"{"source": "a", "span": [0, 1], "target": "x", "k": 1}"#, "E-key", "`k`"),
            (r#"{"source": "a""#, "E-json", "column"),
            ("", "E-json", "column"),
        ] {
            let (code, message) = code(line);
            assert_eq!(code, want, "{line}: {message}");
            assert!(message.contains(names), "{line}: {message}");
        }
    }
}
