//! Answers of a query as a table.

use fnstore::database::DatabaseError;
use fnstore::model::{Extent, FilterScores, Generation, Span, Split};
use fnstore::search::Answer;
use fnstore::text::CharIndex;

use super::column::{Column, Kind, Type};
use super::ffi::{ArrowArray, ArrowArrayStream, ArrowSchema};
use crate::error::{Fault, Result};

/// Appends what an answer has to a column of it.
type Put = fn(&Answer, &Spans, &mut Column);

/// The columns that a table has unless fewer are asked for. Spans count code points.
const COLUMNS: [(&str, Put); 19] = [
    ("release", |answer, _, column| column.text(&answer.release.name)),
    ("id", |answer, _, column| column.display(&answer.set.id)),
    ("frame", |answer, _, column| column.text(&answer.frame)),
    ("lu", |answer, _, column| column.text(&answer.lexunit)),
    ("trigger", |answer, _, column| column.text(&answer.trigger())),
    ("text", |answer, _, column| column.text(&answer.sentence.text)),
    ("targets", put_targets),
    ("elements", put_elements),
    ("origin", |answer, _, column| column.text(answer.set.provenance.origin().as_str())),
    ("status", |answer, _, column| column.text(&answer.set.status)),
    ("document", |answer, _, column| column.maybe_text(answer.document.as_deref())),
    ("split", |answer, _, column| column.maybe_text(answer.split.map(Split::as_str))),
    ("seed", |answer, _, column| match answer.set.provenance.grown_from() {
        Some(from) => column.display(&from),
        None => column.maybe_text(None),
    }),
    ("round", |answer, _, column| column.number(answer.generation().map(|made| made.round.into()))),
    ("paraphrase", |answer, _, column| {
        column.number(answer.generation().and_then(Generation::paraphrase_score).map(f64::from));
    }),
    ("aligner", |answer, _, column| {
        column.number(answer.set.provenance.aligner().map(Into::into));
    }),
    ("p", |answer, _, column| column.number(filter(answer).map(|of| of.precision.into()))),
    ("r", |answer, _, column| column.number(filter(answer).map(|of| of.recall.into()))),
    ("flags", |answer, _, column| {
        let flags = answer.generation().into_iter().flat_map(|made| made.flags.names());
        column.list(|items| flags.for_each(|flag| items.text(flag)));
    }),
];

fn type_of(name: &'static str) -> Type {
    let span = || vec![Type::new("start", Kind::U32), Type::new("end", Kind::U32)];
    let list = |kind| Kind::List(Box::new(Type::new("item", kind)));
    match name {
        "targets" => Type::new(name, list(Kind::Struct(span()))),
        "elements" => {
            let fields = vec![
                Type::new("name", Kind::Text),
                Type::new("rank", Kind::U8),
                Type::nullable("start", Kind::U32),
                Type::nullable("end", Kind::U32),
                Type::nullable("ni", Kind::Text),
                Type::nullable("gf", Kind::Text),
                Type::nullable("pt", Kind::Text),
            ];
            Type::new(name, list(Kind::Struct(fields)))
        }
        "flags" => Type::new(name, list(Kind::Text)),
        "round" => Type::nullable(name, Kind::U16),
        "paraphrase" | "aligner" | "p" | "r" => Type::nullable(name, Kind::F32),
        "document" | "split" | "seed" => Type::nullable(name, Kind::Text),
        _ => Type::new(name, Kind::Text),
    }
}

/// Rows of a batch at most.
const ROWS: usize = 4096;

/// Which columns a table has.
#[derive(Clone)]
pub(crate) struct Shape(Vec<(&'static str, Put)>);

impl Shape {
    /// All columns, or those of these names in their order.
    pub(crate) fn new(columns: Option<Vec<String>>) -> Result<Self> {
        let Some(names) = columns else { return Ok(Self(COLUMNS.to_vec())) };
        let known = |name: &String| {
            COLUMNS.into_iter().find(|(known, _)| known == name).ok_or_else(|| {
                let listed = COLUMNS.map(|(name, _)| name).join(", ");
                Fault::new(
                    "QueryError",
                    "A-column",
                    &format!("there is no column `{name}`; expected some of {listed}"),
                    &format!("name some of {listed}"),
                )
            })
        };
        names.iter().map(known).collect::<Result<_>>().map(Self)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|(name, _)| *name)
    }

    /// Whether a column is made from the sentence: spans count its code points, and it says which
    /// document lists it.
    pub(crate) fn needs_sentences(&self) -> bool {
        let of_sentences = ["trigger", "text", "targets", "elements", "document", "split"];
        self.names().any(|name| of_sentences.contains(&name))
    }

    fn row(&self) -> Type {
        Type::new("", Kind::Struct(self.names().map(type_of).collect()))
    }

    pub(crate) fn schema(&self) -> ArrowSchema {
        ArrowSchema::new(&self.row())
    }

    /// A batch of the next answers; none at their end. Each answer is let go before the next one is
    /// read, which leaves its memory to that.
    pub(crate) fn batch(
        &self,
        answers: impl Iterator<Item = std::result::Result<Answer, DatabaseError>>,
    ) -> Result<Option<ArrowArray>> {
        let mut rows = self.row().column(ROWS);
        let mut is_empty = true;
        for answer in answers.take(ROWS) {
            let answer = answer?;
            is_empty = false;
            let spans = Spans(CharIndex::new(&answer.sentence.text));
            rows.fields(|columns| {
                for ((_, put), column) in self.0.iter().zip(columns) {
                    put(&answer, &spans, column);
                }
            });
        }
        Ok((!is_empty).then(|| rows.export()))
    }

    /// A stream of batches.
    pub(crate) fn stream(
        &self,
        mut batches: impl Iterator<Item = Result<ArrowArray>> + Send + 'static,
    ) -> ArrowArrayStream {
        let next = move || batches.next().transpose().map_err(|fault| fault.message().to_owned());
        ArrowArrayStream::new(self.row(), Box::new(next))
    }
}

/// Spans of a text in code points; one that lies outside its text is nowhere.
pub(crate) struct Spans(pub(crate) CharIndex);

impl Spans {
    pub(crate) fn of(&self, span: Span) -> Option<(u32, u32)> {
        self.0.to_chars(span).ok().map(|span| (span.start, span.end))
    }
}

fn filter(answer: &Answer) -> Option<FilterScores> {
    answer.generation().and_then(|made| made.filter)
}

fn put_targets(answer: &Answer, spans: &Spans, column: &mut Column) {
    column.list(|targets| {
        for (start, end) in answer.set.targets.iter().filter_map(|span| spans.of(*span)) {
            targets.fields(|of| {
                of[0].number(Some(start.into()));
                of[1].number(Some(end.into()));
            });
        }
    });
}

fn put_elements(answer: &Answer, spans: &Spans, column: &mut Column) {
    column.list(|elements| {
        for element in answer.elements() {
            let span = element.label.extent.span().and_then(|span| spans.of(span));
            let ni = match &element.label.extent {
                Extent::Null(kind) => Some(kind.as_str()),
                _ => None,
            };
            elements.fields(|of| {
                of[0].text(&element.label.name);
                of[1].number(Some(element.rank.into()));
                of[2].number(span.map(|span| span.0.into()));
                of[3].number(span.map(|span| span.1.into()));
                of[4].maybe_text(ni);
                of[5].maybe_text(element.gf);
                of[6].maybe_text(element.pt);
            });
        }
    });
}
