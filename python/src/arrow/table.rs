//! Answers of a query as a table.

use fnstore::database::DatabaseError;
use fnstore::model::{Extent, Span};
use fnstore::search::Answer;
use fnstore::text::CharIndex;

use super::column::{Column, Kind, Type};
use super::ffi::{ArrowArray, ArrowArrayStream, ArrowSchema};
use crate::error::{Fault, Result};

/// The columns that a table has unless fewer are asked for. Spans count code points.
pub(crate) const COLUMNS: [&str; 18] = [
    "release",
    "id",
    "frame",
    "lu",
    "trigger",
    "text",
    "targets",
    "elements",
    "origin",
    "status",
    "document",
    "seed",
    "round",
    "paraphrase",
    "aligner",
    "p",
    "r",
    "flags",
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
        "document" | "seed" => Type::nullable(name, Kind::Text),
        _ => Type::new(name, Kind::Text),
    }
}

/// Rows of a batch at most.
const ROWS: usize = 4096;

/// Which columns a table has.
#[derive(Clone)]
pub(crate) struct Shape(Vec<&'static str>);

impl Shape {
    /// All columns, or those of these names in their order.
    pub(crate) fn new(columns: Option<Vec<String>>) -> Result<Self> {
        let Some(names) = columns else { return Ok(Self(COLUMNS.to_vec())) };
        let known = |name: &String| {
            COLUMNS.into_iter().find(|known| known == name).ok_or_else(|| {
                let listed = COLUMNS.join(", ");
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

    pub(crate) fn names(&self) -> &[&'static str] {
        &self.0
    }

    /// Whether a column is made from the sentence; spans count its code points.
    pub(crate) fn needs_sentences(&self) -> bool {
        let of_sentences = ["trigger", "text", "targets", "elements"];
        self.0.iter().any(|name| of_sentences.contains(name))
    }

    fn row(&self) -> Type {
        Type::new("", Kind::Struct(self.0.iter().map(|name| type_of(name)).collect()))
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
        let mut rows = self.row().column();
        let mut is_empty = true;
        for answer in answers.take(ROWS) {
            let answer = answer?;
            is_empty = false;
            let spans = Spans(CharIndex::new(&answer.sentence.text));
            rows.fields(|columns| {
                for (name, column) in self.0.iter().zip(columns) {
                    put(name, &answer, &spans, column);
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

fn put(name: &str, answer: &Answer, spans: &Spans, column: &mut Column) {
    let (set, made) = (&answer.set, answer.generation());
    match name {
        "release" => column.text(&answer.release.name),
        "id" => column.display(&set.id),
        "frame" => column.text(&answer.frame),
        "lu" => column.text(&answer.lexunit),
        "trigger" => column.text(&answer.trigger()),
        "text" => column.text(&answer.sentence.text),
        "targets" => column.list(|targets| {
            for (start, end) in set.targets.iter().filter_map(|span| spans.of(*span)) {
                targets.fields(|of| {
                    of[0].number(Some(start.into()));
                    of[1].number(Some(end.into()));
                });
            }
        }),
        "elements" => column.list(|elements| put_elements(answer, spans, elements)),
        "origin" => column.text(set.provenance.origin().as_str()),
        "status" => column.text(&set.status),
        "document" => column.maybe_text(answer.document.as_deref()),
        "seed" => column.maybe_text(made.map(|made| made.seed.to_string()).as_deref()),
        "round" => column.number(made.map(|made| made.round.into())),
        "paraphrase" => column.number(made.and_then(|made| made.paraphrase_score()).map(f64::from)),
        "aligner" => column.number(made.map(|made| made.aligner.into())),
        "p" => column.number(made.and_then(|made| made.filter).map(|of| of.precision.into())),
        "r" => column.number(made.and_then(|made| made.filter).map(|of| of.recall.into())),
        "flags" => column.list(|flags| {
            made.iter().flat_map(|made| made.flags.names()).for_each(|flag| flags.text(flag));
        }),
        _ => unreachable!("one of COLUMNS"),
    }
}

fn put_elements(answer: &Answer, spans: &Spans, elements: &mut Column) {
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
}
