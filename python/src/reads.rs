//! What the store says beside its lexicon and sets: sentences, synsets, valence, figures, recipes.

use std::collections::BTreeMap;

use fnstore::expand::RecipeSettings;
use fnstore::internals::review;
use fnstore::lexicon::{CoverageCounts, Predicates, SetCounts, Wordnet, observed_valences};
use fnstore::model::{self, Origin, Synset};
use fnstore::search::StoredRecipe;
use pyo3::prelude::*;

use crate::changes::parsed;
use crate::database::Database;
use crate::drawn::drawn;
use crate::error::Result;
use crate::lexicon::LexicalUnit;
use crate::query::narrowed;

/// A sentence of a release.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct Sentence {
    release: String,
    id: String,
    text: String,
    /// Annotation sets of it that evoke a frame.
    sets: u64,
}

#[pymethods]
impl Sentence {
    fn __repr__(&self) -> String {
        format!("<Sentence {} {:?}, {} sets>", self.id, self.text, self.sets)
    }
}

/// A class of VerbNet, or a roleset of PropBank.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct Predicate {
    /// Name of the VerbNet or PropBank.
    resource: String,
    name: String,
    /// The class that it is a subclass of.
    parent: Option<String>,
    definition: String,
    /// Lemma and part of speech of each of its words.
    members: Vec<(String, String)>,
    /// Name and description of each of its roles.
    roles: Vec<(String, String)>,
    /// Sentences of its frames, in order.
    examples: Vec<String>,
    /// What it is in other lexicons: the lexicon, and the name there.
    links: Vec<(String, String)>,
}

impl Predicate {
    fn new(of: &Predicates<'_>, predicate: model::Predicate) -> Self {
        let model::Predicate { name, parent, definition, members, roles, frames, links } =
            predicate;
        Self {
            resource: of.resource().name.clone(),
            name,
            parent: Some(parent).filter(|parent| !parent.is_empty()),
            definition,
            members: members.into_iter().map(|member| (member.lemma, member.pos)).collect(),
            roles: roles.into_iter().map(|role| (role.name, role.description)).collect(),
            examples: frames.into_iter().flat_map(|frame| frame.examples).collect(),
            links: links.into_iter().map(|link| (link.resource, link.predicate)).collect(),
        }
    }
}

#[pymethods]
impl Predicate {
    fn __repr__(&self) -> String {
        format!("<Predicate {} of {}>", self.name, self.resource)
    }
}

/// Words of one meaning in a WordNet.
#[pyclass(frozen, get_all, module = "fnstore", name = "Synset")]
pub(crate) struct WordnetSynset {
    wordnet: String,
    /// As its files write it.
    id: String,
    /// `n`, `v`, `a`, `r` or `x`.
    pos: &'static str,
    /// Its number in the Interlingual Index.
    ili: Option<String>,
    topic: String,
    members: Vec<String>,
    /// The members' sense keys, in the same order.
    keys: Vec<String>,
    definitions: Vec<String>,
    examples: Vec<String>,
    /// The kind of each relation, and the id and the words of the synset that it leads to.
    relations: Vec<(String, String, Vec<String>)>,
}

impl WordnetSynset {
    fn new(wordnet: &Wordnet<'_>, synset: Synset) -> Result<Self> {
        let mut relations = Vec::new();
        for relation in &synset.relations {
            if let Some(other) = wordnet.synset(relation.target)? {
                relations.push((relation.kind.clone(), other.written, other.members));
            }
        }
        Ok(Self {
            wordnet: wordnet.resource().name.clone(),
            id: synset.written,
            pos: synset.class.as_str(),
            ili: synset.ili,
            topic: synset.topic,
            members: synset.members,
            keys: synset.keys,
            definitions: synset.definitions,
            examples: synset.examples,
            relations,
        })
    }
}

#[pymethods]
impl WordnetSynset {
    fn __repr__(&self) -> String {
        format!("<Synset {} {}: {}>", self.id, self.pos, self.members.join(", "))
    }
}

/// The units of a pattern, how often it is seen, and the ids of its sets.
type Pattern = (Vec<(String, String, String)>, u64, Vec<String>);

/// How often FEs are realised in some way.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct Realization {
    /// Names of the FEs; one in `Valence.fes`.
    fes: Vec<String>,
    total: u64,
    /// The FE, phrase type and grammatical function of each unit of a pattern, how often it is
    /// seen, and the ids of its sets.
    patterns: Vec<Pattern>,
}

impl From<model::FeRealization> for Realization {
    fn from(of: model::FeRealization) -> Self {
        let pattern = |pattern: model::ValencePattern| {
            let units = pattern.units.into_iter().map(|unit| (unit.fe, unit.pt, unit.gf));
            let sets = pattern.sets.iter().map(ToString::to_string);
            (units.collect(), u64::from(pattern.total), sets.collect())
        };
        let patterns = of.patterns.into_iter().map(pattern).collect();
        Self { fes: of.elements, total: u64::from(of.total), patterns }
    }
}

#[pymethods]
impl Realization {
    fn __repr__(&self) -> String {
        let patterns = self.patterns.len();
        format!("<Realization {}: {} in {patterns} patterns>", self.fes.join(", "), self.total)
    }
}

/// How an LU realises its FEs.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct Valence {
    /// One FE at a time.
    fes: Vec<Py<Realization>>,
    /// The FEs of a sentence together.
    groups: Vec<Py<Realization>>,
}

#[pymethods]
impl Valence {
    fn __repr__(&self) -> String {
        format!("<Valence {} FEs, {} groups>", self.fes.len(), self.groups.len())
    }
}

#[pymethods]
impl LexicalUnit {
    /// How it realises its FEs: FrameNet's own tables, of exemplars; or counted over the annotation
    /// sets that a query finds among its own.
    #[pyo3(signature = (over=None))]
    fn valence(&self, py: Python<'_>, over: Option<&str>) -> PyResult<Valence> {
        let found = py.detach(|| self.valences(over))?;
        let table = |rows: Vec<model::FeRealization>| {
            rows.into_iter().map(|row| Py::new(py, Realization::from(row))).collect()
        };
        let (fes, groups): (PyResult<_>, PyResult<_>) =
            (table(found.realizations), table(found.groups));
        Ok(Valence { fes: fes?, groups: groups? })
    }
}

impl LexicalUnit {
    fn valences(&self, over: Option<&str>) -> Result<model::Valences> {
        let database = self.home.handle.get()?;
        let lexicon = database.lexicon(&self.home.release.name)?;
        let Some(over) = over else {
            let lu = lexicon.lu_of_frame(self.key.0, self.key.1)?;
            return Ok(lu.map(|lu| lu.valences).unwrap_or_default());
        };
        let mut sets = Vec::new();
        for answer in lexicon.annotations(&narrowed([], over)?)? {
            let answer = answer?;
            if (answer.set.frame, answer.set.lu) == self.key {
                sets.push(answer.set);
            }
        }
        Ok(observed_valences(&sets))
    }
}

/// Numbers of LUs and of their annotation sets.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct Coverage {
    release: String,
    /// `all`, `pos` or `lu-status`.
    group: &'static str,
    /// The part of speech, or the status.
    value: String,
    /// LUs, proposed ones aside.
    lus: u64,
    proposed: u64,
    without_exemplars: u64,
    without_human_sets: u64,
    generated_only: u64,
    /// Annotation sets by origin.
    sets: BTreeMap<&'static str, u64>,
}

impl Coverage {
    fn new(release: &str, (group, value): (&'static str, &str), of: &CoverageCounts) -> Self {
        Self {
            release: release.to_owned(),
            group,
            value: value.to_owned(),
            lus: of.lus,
            proposed: of.proposed,
            without_exemplars: of.without_exemplars,
            without_human_sets: of.without_human_sets,
            generated_only: of.generated_only,
            sets: by_origin(&of.sets),
        }
    }
}

fn by_origin(sets: &SetCounts) -> BTreeMap<&'static str, u64> {
    Origin::ALL.iter().map(|origin| (origin.as_str(), sets.of(*origin))).collect()
}

#[pymethods]
impl Coverage {
    fn __repr__(&self) -> String {
        let Self { release, group, value, lus, .. } = self;
        format!("<Coverage {release} {group} {value}: {lus} LUs>")
    }
}

/// What reviewers say to a question.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct Agreement {
    question: &'static str,
    /// `output`, `in-frame control` or `out-of-frame control`.
    role: &'static str,
    /// Sets with a judgement.
    items: u64,
    accepted: u64,
    /// Share of accepted ones.
    share: f64,
    /// Mean score.
    mean: f64,
    /// Sets that two or more judged.
    shared: u64,
    /// Of these, sets of which all said the same.
    unanimous: u64,
    /// Sets that three or more judged.
    by_three: u64,
    accepted_by_three: u64,
    /// Fleiss' kappa of accepting.
    kappa: Option<f64>,
}

#[pymethods]
impl Agreement {
    fn __repr__(&self) -> String {
        let Self { question, role, items, accepted, .. } = self;
        format!("<Agreement {question}, {role}: {accepted} of {items} accepted>")
    }
}

/// How generated sets were made.
#[pyclass(frozen, module = "fnstore", name = "StoredRecipe")]
pub(crate) struct KeptRecipe(StoredRecipe);

#[pymethods]
impl KeptRecipe {
    /// Its number in this store, as `recipe=N` in queries.
    #[getter]
    fn recipe(&self) -> u32 {
        self.0.id.0
    }

    /// The same in every store.
    #[getter]
    fn fingerprint(&self) -> &str {
        &self.0.fingerprint
    }

    /// Sets that were made by it.
    #[getter]
    fn sets(&self) -> u64 {
        self.0.sets
    }

    /// `current`, `earlier` or `foreign`.
    #[getter]
    fn rules(&self) -> &'static str {
        self.0.rules.as_str()
    }

    /// All that its outputs depend on; a text where another tool describes it in words.
    #[getter]
    fn settings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match parsed(py, Some(&self.0.settings)) {
            Ok(Some(read)) => Ok(read),
            _ => Ok(self.0.settings.as_str().into_pyobject(py)?.into_any()),
        }
    }

    fn __repr__(&self) -> String {
        format!("<StoredRecipe {} ({}): {} sets>", self.0.id.0, self.0.fingerprint, self.0.sets)
    }
}

/// A recipe for `db.expand(recipe=...)` as its TOML file: of a name, or of a file.
#[pyfunction]
pub(crate) fn recipe(name: &str) -> Result<String> {
    Ok(RecipeSettings::text(name)?)
}

/// Names of the recipes that come with fnstore.
#[pyfunction]
pub(crate) fn recipe_names() -> Vec<&'static str> {
    RecipeSettings::NAMES.to_vec()
}

#[pymethods]
impl Database {
    /// Sentences in order of their ids; with without_sets those alone that no set annotates.
    #[pyo3(signature = (*, without_sets=false, release=None))]
    fn sentences(
        &self,
        py: Python<'_>,
        without_sets: bool,
        release: Option<&str>,
    ) -> Result<Vec<Sentence>> {
        py.detach(|| {
            self.each(release, |_, lexicon| {
                let mut found = Vec::new();
                for sentence in lexicon.sentences()? {
                    let sentence = sentence?;
                    let mut sets = 0;
                    for set in lexicon.annotation_sets_of(sentence.id)? {
                        set?;
                        sets += 1;
                    }
                    if !without_sets || sets == 0 {
                        let (release, id) =
                            (lexicon.release().name.clone(), sentence.id.to_string());
                        found.push(Sentence { release, id, text: sentence.text, sets });
                    }
                }
                Ok(found)
            })
        })
    }

    /// Synsets of a lemma (`inspect`), of a lemma and a part of speech (`inspect.v`), or of an id.
    #[pyo3(signature = (word, wordnet=None))]
    fn synsets(
        &self,
        py: Python<'_>,
        word: &str,
        wordnet: Option<&str>,
    ) -> Result<Vec<WordnetSynset>> {
        py.detach(|| {
            let database = self.handle.get()?;
            let wordnets = match wordnet {
                Some(name) => vec![database.wordnet(name)?],
                None => database.wordnets()?,
            };
            let mut found = Vec::new();
            for wordnet in &wordnets {
                for synset in wordnet.synsets_written(word)? {
                    found.push(WordnetSynset::new(wordnet, synset)?);
                }
            }
            Ok(found)
        })
    }

    /// Classes of VerbNet and rolesets of PropBank: of a lemma (`abandon`), of a lemma and a part
    /// of speech (`abandon.v`), or of a name (`leave-51.2`, `51.2`, `abandon.01`).
    #[pyo3(signature = (word, resource=None))]
    fn predicates(
        &self,
        py: Python<'_>,
        word: &str,
        resource: Option<&str>,
    ) -> Result<Vec<Predicate>> {
        py.detach(|| {
            let database = self.handle.get()?;
            let all = match resource {
                Some(name) => vec![database.predicates(name)?],
                None => database.all_predicates()?,
            };
            let mut found = Vec::new();
            for of in &all {
                found.extend(of.written(word)?.into_iter().map(|one| Predicate::new(of, one)));
            }
            Ok(found)
        })
    }

    /// How far annotation covers the LUs of a release, or of each: all of them, then by part of
    /// speech and by status.
    #[pyo3(signature = (release=None))]
    fn coverage(&self, py: Python<'_>, release: Option<&str>) -> Result<Vec<Coverage>> {
        py.detach(|| {
            self.each(release, |_, lexicon| {
                let of = lexicon.coverage(|_| true)?;
                let name = &lexicon.release().name;
                let mut rows = vec![Coverage::new(name, ("all", "all"), &of.total)];
                let by_pos =
                    of.by_pos.iter().map(|(pos, of)| Coverage::new(name, ("pos", pos), of));
                rows.extend(by_pos);
                let of_status = |(status, of): (&String, _)| {
                    Coverage::new(name, ("lu-status", status.as_str()), of)
                };
                rows.extend(of.by_status.iter().map(of_status));
                Ok(rows)
            })
        })
    }

    /// How far reviewers agree, by question and by what was judged.
    fn agreement(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let found = py.detach(|| Result::Ok(review::agreement(&*self.handle.get()?)?))?;
        let (mut rows, mut figures) = (Vec::new(), Vec::new());
        for (question, of) in &found.questions {
            figures.push(of.spread(*question).svg());
            rows.extend(of.roles.iter().map(|(role, figures)| Agreement {
                question: question.as_str(),
                role: role.as_str(),
                items: figures.items,
                accepted: figures.accepted,
                share: figures.share(),
                mean: figures.mean(),
                shared: figures.shared,
                unanimous: figures.unanimous,
                by_three: figures.by_three,
                accepted_by_three: figures.accepted_by_three,
                kappa: figures.kappa,
            }));
        }
        drawn(py, rows, figures)
    }

    /// The recipes by which generated sets were made.
    fn recipes(&self, py: Python<'_>) -> Result<Vec<KeptRecipe>> {
        let found = py.detach(|| Result::Ok(self.handle.get()?.recipes()?))?;
        Ok(found.into_iter().map(KeptRecipe).collect())
    }
}
