//! A release's frames, frame elements, LUs, relations, semantic types and documents, as Python
//! reads them.

use std::collections::BTreeMap;
use std::sync::Arc;

use fnstore::database::{DatabaseError, LookupError};
use fnstore::internals::WithStore as _;
use fnstore::lexicon::{LabelledElement, RoundGrowth, SetCounts};
use fnstore::model;
use fnstore::query::{Field, Selection, nearest};
use fnstore::text::{is_same, plain_definition};
use pyo3::prelude::*;

use crate::error::Result;
use crate::handle::Handle;
use crate::html;
use crate::query::{Query, narrowed};

/// The release that a record is of, and the store.
#[derive(Clone)]
pub(crate) struct Home {
    pub(crate) handle: Arc<Handle>,
    pub(crate) release: Arc<model::Release>,
}

impl Home {
    /// Names of semantic types.
    fn sem_types(&self, ids: &[model::SemTypeId]) -> Result<Vec<String>> {
        let database = self.handle.get()?;
        let name = |id: &model::SemTypeId| {
            let of = database.store().sem_type(self.release.id, *id)?;
            Ok(of.map_or_else(|| id.to_string(), |of| of.name))
        };
        ids.iter().map(name).collect()
    }

    /// A query of what has these names in this release, narrowed by an expression.
    fn query(&self, names: &[(Field, &str)], text: &str) -> Result<Query> {
        let here = (Field::Release, self.release.name.as_str());
        let query = narrowed(names.iter().copied().chain([here]), text)?;
        Query::over(&self.handle, query, Selection::default())
    }
}

/// One import of one lexicon.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct Release {
    name: String,
    language: String,
    /// What it was read from.
    source: String,
    /// When, in seconds since 1970 (UTC).
    imported: u64,
    /// Number of records by kind.
    counts: BTreeMap<&'static str, u64>,
}

impl From<model::Release> for Release {
    fn from(release: model::Release) -> Self {
        let counts = release.counts.named().into_iter().collect();
        let model::Release { name, language, source, imported, .. } = release;
        Self { name, language, source, imported, counts }
    }
}

#[pymethods]
impl Release {
    fn __repr__(&self) -> String {
        let count = |name| self.counts.get(name).copied().unwrap_or_default();
        let (frames, lexunits) = (count("frames"), count("lexunits"));
        format!("<Release {}: {frames} frames, {lexunits} LUs>", self.name)
    }
}

/// A frame element of a frame.
#[pyclass(frozen, get_all, module = "fnstore", skip_from_py_object)]
#[derive(Clone)]
pub(crate) struct FrameElement {
    /// Its number; None of one that annotation labels and its frame does not define.
    id: Option<u32>,
    pub(crate) name: String,
    abbreviation: String,
    /// Core, Core-Unexpressed, Peripheral or Extra-Thematic; None where the frame does not define
    /// it.
    core_type: Option<&'static str>,
    /// Name of the frame.
    frame: String,
    definition: String,
    definition_markup: String,
    /// Names of the FEs that it requires.
    requires: Vec<String>,
    /// Names of the FEs that it excludes.
    excludes: Vec<String>,
    sem_types: Vec<String>,
}

impl FrameElement {
    fn new(home: &Home, frame: &model::Frame, fe: &model::FrameElement) -> Result<Self> {
        Ok(Self {
            id: Some(fe.id.0),
            name: fe.name.clone(),
            abbreviation: fe.abbreviation.clone(),
            core_type: Some(fe.core_type.as_str()),
            frame: frame.name.clone(),
            definition: plain_definition(&fe.definition),
            definition_markup: fe.definition.clone(),
            requires: fe_names(frame, &fe.requires),
            excludes: fe_names(frame, &fe.excludes),
            sem_types: home.sem_types(&fe.sem_types)?,
        })
    }

    /// One that annotation labels and its frame does not define.
    pub(crate) fn labelled(entry: LabelledElement) -> Self {
        Self {
            id: None,
            name: entry.name,
            abbreviation: String::new(),
            core_type: None,
            frame: entry.frame_name.to_string(),
            definition: String::new(),
            definition_markup: String::new(),
            requires: Vec::new(),
            excludes: Vec::new(),
            sem_types: Vec::new(),
        }
    }
}

fn fe_names(frame: &model::Frame, ids: &[model::FeId]) -> Vec<String> {
    ids.iter().filter_map(|id| frame.fe(*id)).map(|fe| fe.name.clone()).collect()
}

#[pymethods]
impl FrameElement {
    fn __repr__(&self) -> String {
        {
            let core_type = self.core_type.unwrap_or("not defined");
            format!("<FrameElement {}.{} ({core_type})>", self.frame, self.name)
        }
    }
}

/// A frame.
#[pyclass(frozen, module = "fnstore")]
pub(crate) struct Frame {
    home: Home,
    frame: model::Frame,
    #[pyo3(get)]
    id: u32,
    #[pyo3(get)]
    name: String,
    /// Name of the release.
    #[pyo3(get)]
    release: String,
    #[pyo3(get)]
    definition: String,
    #[pyo3(get)]
    definition_markup: String,
    /// The frame elements, in the release's order.
    #[pyo3(get)]
    pub(crate) fes: Vec<FrameElement>,
    /// Sets of FEs of which one is enough, by name.
    #[pyo3(get)]
    core_sets: Vec<Vec<String>>,
    #[pyo3(get)]
    sem_types: Vec<String>,
}

impl Frame {
    pub(crate) fn new(home: &Home, frame: model::Frame) -> Result<Self> {
        let fes = frame.elements.iter().map(|fe| FrameElement::new(home, &frame, fe));
        Ok(Self {
            home: home.clone(),
            id: frame.id.0,
            name: frame.name.clone(),
            release: home.release.name.clone(),
            definition: plain_definition(&frame.definition),
            definition_markup: frame.definition.clone(),
            fes: fes.collect::<Result<_>>()?,
            core_sets: frame.core_sets.iter().map(|ids| fe_names(&frame, ids)).collect(),
            sem_types: home.sem_types(&frame.sem_types)?,
            frame,
        })
    }
}

#[pymethods]
impl Frame {
    /// The one frame element of a name; several are an AmbiguousNameError.
    fn fe(&self, name: &str) -> Result<FrameElement> {
        let found: Vec<&FrameElement> =
            self.fes.iter().filter(|fe| is_same(&fe.name, name)).collect();
        let (kind, called) = ("frame element", name.to_owned());
        let error = match found.as_slice() {
            [only] => return Ok((*only).clone()),
            [] => {
                let names = self.fes.iter().map(|fe| fe.name.as_str());
                let nearest = nearest(name, names).map(str::to_owned);
                LookupError::UnknownName { kind, name: called, nearest }
            }
            several => {
                let choices = several.iter().map(|fe| {
                    let (id, core_type) =
                        (fe.id.unwrap_or_default(), fe.core_type.unwrap_or_default());
                    format!("FE {id} ({core_type})")
                });
                LookupError::Ambiguous { kind, name: called, choices: choices.collect() }
            }
        };
        Err(DatabaseError::Lookup(error).into())
    }

    /// The LUs that evoke it.
    #[getter]
    fn lus(&self) -> Result<Vec<LexicalUnit>> {
        let database = self.home.handle.get()?;
        let rows = database.store().lexunits_of(self.home.release.id, self.frame.id)?;
        rows.map(|row| LexicalUnit::new(&self.home, &self.name, row?)).collect()
    }

    /// The relations in which it stands, on either side.
    #[getter]
    fn relations(&self) -> Result<Vec<FrameRelation>> {
        let database = self.home.handle.get()?;
        let lexicon = database.lexicon(&self.home.release.name)?;
        let rows = lexicon.relations_of(self.frame.id)?;
        rows.map(|row| Ok(FrameRelation::from(row?))).collect()
    }

    /// Its annotation sets; an expression narrows them.
    #[pyo3(signature = (expression=""))]
    fn query(&self, expression: &str) -> Result<Query> {
        self.home.query(&[(Field::Frame, &self.name)], expression)
    }

    fn __repr__(&self) -> String {
        format!("<Frame {} {}: {} FEs>", self.id, self.name, self.fes.len())
    }

    fn _repr_html_(&self) -> Result<String> {
        let lus = self.lus()?.into_iter().map(|lu| lu.name).collect::<Vec<_>>();
        Ok(html::frame(&self.frame, &lus))
    }
}

/// A lexical unit: a word in one of its senses.
#[pyclass(frozen, module = "fnstore")]
pub(crate) struct LexicalUnit {
    pub(crate) home: Home,
    pub(crate) key: (model::FrameId, model::LuId),
    #[pyo3(get)]
    id: u32,
    /// Its name, as in confirm.v.
    #[pyo3(get)]
    name: String,
    #[pyo3(get)]
    lemma: String,
    /// Part of speech, as in V.
    #[pyo3(get)]
    pos: &'static str,
    /// Name of its frame.
    #[pyo3(get)]
    frame: String,
    /// Name of the release.
    #[pyo3(get)]
    release: String,
    /// FrameNet's status; Proposed of what an expansion found, Accepted once a person took it.
    #[pyo3(get)]
    status: String,
    #[pyo3(get)]
    definition: String,
    /// Its words, each with its part of speech.
    #[pyo3(get)]
    lexemes: Vec<(String, &'static str)>,
    /// Name of the FE that the word itself expresses, or None.
    #[pyo3(get)]
    incorporated_fe: Option<String>,
    #[pyo3(get)]
    sem_types: Vec<String>,
    /// Annotated sentences by what the release's files state: exemplars in FrameNet 1.5, full text
    /// as well in 1.7.
    #[pyo3(get)]
    claimed_annotated: u32,
    #[pyo3(get)]
    subcorpora: Vec<String>,
}

impl LexicalUnit {
    pub(crate) fn new(home: &Home, frame: &str, lu: model::LexUnit) -> Result<Self> {
        Ok(Self {
            home: home.clone(),
            id: lu.id.0,
            lemma: lu.lemma().to_owned(),
            pos: lu.pos.as_str(),
            frame: frame.to_owned(),
            release: home.release.name.clone(),
            definition: plain_definition(&lu.definition),
            lexemes: lu.lexemes.into_iter().map(|of| (of.name, of.pos.as_str())).collect(),
            sem_types: home.sem_types(&lu.sem_types)?,
            claimed_annotated: lu.sentence_count.annotated,
            key: (lu.frame, lu.id),
            name: lu.name,
            status: lu.status,
            incorporated_fe: lu.incorporated_fe,
            subcorpora: lu.subcorpora,
        })
    }
}

#[pymethods]
impl LexicalUnit {
    /// Its annotation sets, counted by origin: exemplar, fulltext, imported, user, generated,
    /// predicted, carried.
    #[getter]
    fn set_counts(&self) -> Result<BTreeMap<&'static str, u64>> {
        let database = self.home.handle.get()?;
        let lexicon = database.lexicon(&self.home.release.name)?;
        let counts: SetCounts = lexicon.set_counts(self.key.0, self.key.1)?;
        Ok(model::Origin::ALL.map(|origin| (origin.as_str(), counts.of(origin))).into())
    }

    /// Its annotation sets of every origin; an expression narrows them.
    #[pyo3(signature = (expression=""))]
    fn query(&self, expression: &str) -> Result<Query> {
        self.home.query(&[(Field::Frame, &self.frame), (Field::Lu, &self.name)], expression)
    }

    fn __repr__(&self) -> String {
        format!("<LexicalUnit {} {} in {}>", self.id, self.name, self.frame)
    }
}

/// A relation between two frames.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct FrameRelation {
    id: u32,
    /// Its type, as in Inheritance.
    kind: String,
    /// Name of the super frame.
    parent: String,
    /// Name of the sub frame.
    child: String,
    /// Names of the FEs that are mapped onto each other: the super frame's and the sub frame's.
    fes: Vec<(String, String)>,
}

impl From<model::FrameRelation> for FrameRelation {
    fn from(of: model::FrameRelation) -> Self {
        let fes = of.elements.into_iter().map(|fe| (fe.parent_name, fe.child_name)).collect();
        Self { id: of.id.0, kind: of.kind, parent: of.parent_name, child: of.child_name, fes }
    }
}

#[pymethods]
impl FrameRelation {
    fn __repr__(&self) -> String {
        format!("<FrameRelation {} -- {} -> {}>", self.parent, self.kind, self.child)
    }
}

/// A semantic type.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct SemType {
    id: u32,
    name: String,
    abbreviation: String,
    definition: String,
    /// Ids of the types right above it.
    parents: Vec<u32>,
}

impl From<model::SemType> for SemType {
    fn from(of: model::SemType) -> Self {
        let parents = of.parents.iter().map(|id| id.0).collect();
        let (name, abbreviation, definition) = (of.name, of.abbreviation, of.definition);
        Self { id: of.id.0, name, abbreviation, definition, parents }
    }
}

#[pymethods]
impl SemType {
    fn __repr__(&self) -> String {
        format!("<SemType {} {}>", self.id, self.name)
    }
}

/// A full-text document.
#[pyclass(frozen, module = "fnstore")]
pub(crate) struct Document {
    home: Home,
    document: model::Document,
    #[pyo3(get)]
    id: u32,
    #[pyo3(get)]
    name: String,
    /// Name of its corpus.
    #[pyo3(get)]
    corpus: String,
}

impl Document {
    pub(crate) fn new(home: &Home, document: model::Document) -> Self {
        let (name, corpus) = (document.name.clone(), document.corpus_name.clone());
        Self { home: home.clone(), id: document.id.0, name, corpus, document }
    }
}

#[pymethods]
impl Document {
    /// Its sentences in reading order: id and text.
    fn sentences(&self) -> Result<Vec<(String, String)>> {
        let database = self.home.handle.get()?;
        let lexicon = database.lexicon(&self.home.release.name)?;
        let rows = lexicon.sentences_of(&self.document);
        rows.map(|row| row.map(|of| (of.id.to_string(), of.text)).map_err(Into::into)).collect()
    }

    /// Its annotation sets; an expression narrows them.
    #[pyo3(signature = (expression=""))]
    fn query(&self, expression: &str) -> Result<Query> {
        self.home.query(&[(Field::Doc, &self.name)], expression)
    }

    fn __repr__(&self) -> String {
        let sentences = self.document.sentences.len();
        format!("<Document {} {}: {sentences} sentences>", self.corpus, self.name)
    }
}

/// One round of a vocabulary's growth; round 0 is what people annotated.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct Growth {
    round: u16,
    /// Annotation sets of the round.
    sets: u64,
    /// Triggers that no earlier round has, with the number of their sets.
    new_triggers: Vec<(String, u64)>,
    /// Distinct sentences up to and with the round.
    total_sentences: u64,
    /// Distinct triggers up to and with the round.
    total_triggers: u64,
    /// Distinct (Frame, Trigger) pairs up to and with the round.
    total_pairs: u64,
}

impl From<RoundGrowth> for Growth {
    fn from(of: RoundGrowth) -> Self {
        Self {
            round: of.round,
            sets: of.sets,
            new_triggers: of.added.into_iter().map(|new| (new.text, new.sets)).collect(),
            total_sentences: of.total_sentences,
            total_triggers: of.total_triggers,
            total_pairs: of.total_pairs,
        }
    }
}

#[pymethods]
impl Growth {
    fn __repr__(&self) -> String {
        format!("<Growth round {}: {} triggers>", self.round, self.total_triggers)
    }
}
