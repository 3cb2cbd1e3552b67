//! Annotation sets, their frame elements and layers, as Python reads them. Offsets count code
//! points.

use std::sync::Arc;

use fnstore::database::{DatabaseError, LookupError};
use fnstore::internals::{WithStore as _, review};
use fnstore::model::{
    Extent, Judgement as Judged, Label as Marked, Provenance, SentenceLayers, Split,
};
use fnstore::search::Answer;
use fnstore::text::{CharIndex, drawing, is_same};
use pyo3::prelude::*;

use crate::arrow::Spans;
use crate::error::{Fault, Result};
use crate::handle::Handle;
use crate::html;

/// Columns of a drawing.
const WIDTH: usize = 88;

/// Columns that a drawing is moved in by.
const INDENT: usize = 4;

type Offsets = Option<(u32, u32)>;

/// A frame element of an annotation set.
#[pyclass(frozen, get_all, module = "fnstore", skip_from_py_object)]
#[derive(Clone)]
pub(crate) struct Element {
    /// Its name.
    name: String,
    /// Rank of its layer: 2 and 3 for what a word expresses besides.
    rank: u8,
    /// First code point and the one past the last; None where no words express it.
    span: Offsets,
    /// Its words, or None.
    text: Option<String>,
    /// Kind of null instantiation: INI, DNI, CNI or INC, or None.
    ni: Option<String>,
    /// Grammatical function on the same span, or None.
    gf: Option<String>,
    /// Phrase type on the same span, or None.
    pt: Option<String>,
}

#[pymethods]
impl Element {
    fn __repr__(&self) -> String {
        let rank = if self.rank > 1 { format!("[{}]", self.rank) } else { String::new() };
        match (&self.text, &self.ni) {
            (Some(text), _) => format!("<Element {}{rank}={text:?}>", self.name),
            (None, Some(ni)) => format!("<Element {}{rank}:{ni}>", self.name),
            (None, None) => format!("<Element {}{rank}>", self.name),
        }
    }
}

/// A label of a layer.
#[pyclass(frozen, get_all, module = "fnstore", skip_from_py_object)]
#[derive(Clone)]
pub(crate) struct Label {
    /// Its name.
    name: String,
    /// First code point and the one past the last, or None.
    span: Offsets,
    /// Kind of null instantiation, or None.
    ni: Option<String>,
}

#[pymethods]
impl Label {
    fn __repr__(&self) -> String {
        match (self.span, &self.ni) {
            (Some((start, end)), _) => format!("<Label {} {start}-{end}>", self.name),
            (None, Some(ni)) => format!("<Label {}:{ni}>", self.name),
            (None, None) => format!("<Label {}>", self.name),
        }
    }
}

/// A layer of labels over a sentence.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct Layer {
    /// Its name, as in FE, GF or PENN.
    name: String,
    /// Its rank.
    rank: u8,
    /// Its labels.
    labels: Vec<Label>,
}

#[pymethods]
impl Layer {
    fn __repr__(&self) -> String {
        format!("<Layer {} of rank {}: {} labels>", self.name, self.rank, self.labels.len())
    }
}

/// How an expansion made an annotation set.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct Generation {
    /// Id of the human set that it grew from.
    seed: String,
    /// Round, from 1.
    round: u16,
    /// Number of its recipe.
    recipe: u32,
    /// Cost of the paraphrase; lower is better. None where nothing scored it.
    paraphrase: Option<f32>,
    /// Score of the aligned target, 0 to 1.
    aligner: f32,
    /// The filter's precision score, or None.
    p: Option<f32>,
    /// The filter's recall score, or None.
    r: Option<f32>,
    /// What is doubtful about it.
    flags: Vec<&'static str>,
    /// Ids of the sets before it in its chain.
    chain: Vec<String>,
}

#[pymethods]
impl Generation {
    fn __repr__(&self) -> String {
        format!("<Generation round {} from {}>", self.round, self.seed)
    }
}

/// How a set was carried into the sentence of a generated one.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct Carrying {
    /// The generated set whose sentence it stands in.
    generated: String,
    /// The set of the source sentence that was carried.
    source: String,
    /// Aligner score; higher is better.
    aligner: f32,
}

#[pymethods]
impl Carrying {
    fn __repr__(&self) -> String {
        format!("<Carrying from {} beside {}>", self.source, self.generated)
    }
}

/// What a reviewer says of an annotation set.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct Judgement {
    /// Who judged.
    reviewer: String,
    /// What was asked; empty for whether the target evokes the frame.
    question: String,
    /// From 0, wrong, to 100, right.
    score: u8,
    /// Seconds since 1970 (UTC).
    time: u64,
    /// What the reviewer adds.
    note: String,
}

impl From<Judged> for Judgement {
    fn from(judged: Judged) -> Self {
        let Judged { reviewer, question, score, time, note, .. } = judged;
        Self { reviewer, question, score, time, note }
    }
}

#[pymethods]
impl Judgement {
    fn __repr__(&self) -> String {
        format!("<Judgement {} by {}>", self.score, self.reviewer)
    }
}

/// An annotation set with its sentence.
#[pyclass(frozen, module = "fnstore")]
pub(crate) struct AnnotationSet {
    handle: Arc<Handle>,
    answer: Answer,
}

impl AnnotationSet {
    pub(crate) fn new(handle: &Arc<Handle>, answer: Answer) -> Self {
        Self { handle: Arc::clone(handle), answer }
    }

    fn spans(&self) -> Spans {
        Spans(CharIndex::new(&self.answer.sentence.text))
    }
}

fn ni(extent: &Extent) -> Option<String> {
    match extent {
        Extent::Null(kind) => Some(kind.as_str().to_owned()),
        _ => None,
    }
}

fn layer(of: &fnstore::model::Layer, spans: &Spans) -> Layer {
    let label = |label: &Marked| Label {
        name: label.name.clone(),
        span: label.extent.span().and_then(|span| spans.of(span)),
        ni: ni(&label.extent),
    };
    let labels = of.labels.iter().map(label).collect();
    Layer { name: of.name.as_str().to_owned(), rank: of.rank, labels }
}

#[pymethods]
impl AnnotationSet {
    /// Its id, as in x1024: x exemplar, f full text, i imported or added, g generated.
    #[getter]
    fn id(&self) -> String {
        self.answer.set.id.to_string()
    }

    /// Name of its release.
    #[getter]
    fn release(&self) -> &str {
        &self.answer.release.name
    }

    /// Name of its frame.
    #[getter]
    fn frame(&self) -> &str {
        &self.answer.frame
    }

    /// Name of its LU.
    #[getter]
    fn lu(&self) -> &str {
        &self.answer.lexunit
    }

    /// The target's words, pieces joined by a space.
    #[getter]
    fn trigger(&self) -> String {
        self.answer.trigger()
    }

    /// The sentence, as the release has it.
    #[getter]
    fn text(&self) -> &str {
        &self.answer.sentence.text
    }

    /// Id of the sentence.
    #[getter]
    fn sentence(&self) -> String {
        self.answer.sentence.id.to_string()
    }

    /// Where the target stands: first code point and the one past the last of each piece.
    #[getter]
    fn targets(&self) -> Vec<(u32, u32)> {
        let spans = self.spans();
        self.answer.set.targets.iter().filter_map(|span| spans.of(*span)).collect()
    }

    /// The frame elements, in order of layer and label.
    #[getter]
    fn elements(&self) -> Vec<Element> {
        let (spans, text) = (self.spans(), &self.answer.sentence.text);
        let element = |of: fnstore::search::ElementLabel<'_>| Element {
            name: of.label.name.clone(),
            rank: of.rank,
            span: of.label.extent.span().and_then(|span| spans.of(span)),
            text: of.label.extent.span().and_then(|span| span.of(text)).map(str::to_owned),
            ni: ni(&of.label.extent),
            gf: of.gf.map(str::to_owned),
            pt: of.pt.map(str::to_owned),
        };
        self.answer.elements().map(element).collect()
    }

    /// Words of the frame element of a name, or None; of several spans an AmbiguousNameError, and
    /// elements has all.
    fn element(&self, name: &str) -> Result<Option<String>> {
        let elements = self.elements().into_iter().filter(|of| is_same(&of.name, name));
        // One span may be labelled in several ranks.
        let mut found: Vec<_> = elements.filter_map(|of| Some((of.span?, of.text?))).collect();
        found.sort_unstable();
        found.dedup();
        if found.len() < 2 {
            return Ok(found.pop().map(|(_, text)| text));
        }
        let choice =
            |((start, end), text): &((u32, u32), String)| format!("{start}-{end} `{text}`");
        let choices = found.iter().map(choice).collect();
        let (kind, name) = ("frame element", name.to_owned());
        let several = LookupError::Ambiguous { kind, name, choices };
        Err(Fault::from(DatabaseError::Lookup(several)).advise("`elements` has all of them"))
    }

    /// All layers of the set.
    #[getter]
    fn layers(&self) -> Vec<Layer> {
        let spans = self.spans();
        self.answer.set.layers.iter().map(|of| layer(of, &spans)).collect()
    }

    /// The layers of the sentence that evoke no frame: parts of speech, named entities.
    fn sentence_layers(&self) -> Result<Vec<Layer>> {
        let (database, spans) = (self.handle.get()?, self.spans());
        let mut layers = Vec::new();
        let (release, sentence) = (self.answer.release.id, self.answer.sentence.id);
        for set in database.store().sentence_layers(release, sentence)? {
            let set: SentenceLayers = set?;
            layers.extend(set.layers.iter().map(|of| layer(of, &spans)));
        }
        Ok(layers)
    }

    /// exemplar, fulltext, imported, user or generated.
    #[getter]
    fn origin(&self) -> &'static str {
        self.answer.set.provenance.origin().as_str()
    }

    /// FrameNet's status, as in MANUAL.
    #[getter]
    fn status(&self) -> &str {
        &self.answer.set.status
    }

    /// What is known of frame elements: annotated, unannotated, unknown or carried.
    #[getter]
    fn fe_status(&self) -> &'static str {
        self.answer.set.fe_status.as_str()
    }

    /// Name of the document; of a generated set its seed's, of a carried one its source's.
    #[getter]
    fn document(&self) -> Option<&str> {
        self.answer.document.as_deref()
    }

    /// The part of the data: train, dev or test, or None.
    #[getter]
    fn split(&self) -> Option<&'static str> {
        self.answer.split.map(Split::as_str)
    }

    /// How an expansion made it, or None.
    #[getter]
    fn generation(&self) -> Option<Generation> {
        let made = self.answer.generation()?;
        Some(Generation {
            seed: made.seed.to_string(),
            round: made.round,
            recipe: made.recipe.0,
            paraphrase: made.paraphrase_score(),
            aligner: made.aligner,
            p: made.filter.map(|scores| scores.precision),
            r: made.filter.map(|scores| scores.recall),
            flags: made.flags.names(),
            chain: made.chain.iter().map(ToString::to_string).collect(),
        })
    }

    /// How it was carried into the sentence of a generated set, or None.
    #[getter]
    fn carrying(&self) -> Option<Carrying> {
        let Provenance::Carried(of) = &self.answer.set.provenance else { return None };
        Some(Carrying {
            generated: of.generated.to_string(),
            source: of.source.to_string(),
            aligner: of.aligner,
        })
    }

    /// How likely the target evokes the frame, by a verifier, or None where none was asked.
    #[getter]
    fn evokes(&self) -> Option<f32> {
        self.answer.verification?.evokes
    }

    /// How likely a rewritten text says what its source says, if it evokes the frame; or None.
    #[getter]
    fn same_meaning(&self) -> Option<f32> {
        self.answer.verification?.same_meaning
    }

    /// Negative log-likelihood per token of the source of a rewritten text, given that; or None.
    #[getter]
    fn reverse(&self) -> Option<f32> {
        Some(self.answer.verification?.reverse?.score)
    }

    /// What reviewers say of it.
    fn judgements(&self) -> Result<Vec<Judgement>> {
        let database = self.handle.get()?;
        let rows = database.store().judgements(self.answer.release.id, self.answer.set.id)?;
        Ok(rows.map(|row| row.map(Judgement::from)).collect::<std::result::Result<_, _>>()?)
    }

    fn __repr__(&self) -> String {
        let answer = &self.answer;
        let mut lines =
            vec![format!("{}  {}  {}", answer.frame, answer.lexunit, answer.origin_line())];
        let rows = drawing::rows_of_set(&answer.set);
        let drawn = drawing::draw(&answer.sentence.text, &rows, WIDTH - INDENT, false);
        let last = answer.unexpressed_line();
        lines.extend(drawn.into_iter().chain(last).map(|line| format!("{:INDENT$}{line}", "")));
        lines.join("\n")
    }

    fn _repr_html_(&self) -> Result<String> {
        let answer = &self.answer;
        // A set outlives its store, and is then shown without its source.
        let source = match self.handle.get() {
            Ok(database) => review::Example::of_source(&database, answer.release.id, &answer.set)?,
            Err(_) => None,
        };
        Ok(html::set(answer, source.as_ref()))
    }

    fn __eq__(&self, other: &Self) -> bool {
        (self.answer.release.id, &self.answer.set) == (other.answer.release.id, &other.answer.set)
    }

    fn __hash__(&self) -> u64 {
        self.answer.set.id.bits()
    }
}
