//! The work directory: for each order of ties a store, what is given and hidden (`plan.json`), and
//! which recipes ran (`runs.json`).

use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use fnstore::database::Database;
use fnstore::durable;
use fnstore::model::{Pos, Provenance};
use fnstore::paraphrase::Paraphraser;
use fnstore::proposals::scratch::{Output, Plan, Ties};
use fnstore::text::{Morphology, plain_lemma};
use serde::{Deserialize, Serialize};

/// A recipe that ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Run {
    /// Names of recipe and rewriter.
    pub(super) label: String,
    /// Number of the recipe in the store.
    pub(super) recipe: u32,
    /// Hidden LUs that the rewriter's pieces can spell.
    pub(super) any: usize,
    /// Those whose words are in its list; none where it has no list.
    pub(super) listed: Option<usize>,
}

/// A place of the work directory, for one order of what was created in the same second.
pub(super) struct Order {
    directory: PathBuf,
    pub(super) ties: Ties,
}

impl Order {
    pub(super) fn new(work: &Path, ties: Ties) -> Self {
        let name = match ties {
            Ties::Id => "by-id".to_owned(),
            Ties::Random(seed) => format!("random-{seed}"),
        };
        Self { directory: work.join(name), ties }
    }

    /// The order by number, and the random ones that are there.
    pub(super) fn prepared(work: &Path) -> Vec<Self> {
        let random = (1..).map(|seed| Self::new(work, Ties::Random(seed)));
        let random = random.take_while(Self::is_prepared);
        std::iter::once(Self::new(work, Ties::Id)).chain(random).collect()
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    pub(super) fn store(&self) -> PathBuf {
        self.directory.join("store")
    }

    /// Whether it is there whole: the plan comes last.
    pub(super) fn is_prepared(&self) -> bool {
        self.directory.join("plan.json").is_file()
    }

    pub(super) fn prepare(&self, source: &Database, plan: &Plan) -> anyhow::Result<()> {
        let failed = || format!("cannot write to `{}`", self.directory.display());
        durable::create_directory(&self.directory).with_context(failed)?;
        // Without its plan a store was not finished.
        durable::remove_directory(&self.store()).with_context(failed)?;
        plan.write_store(source, &self.store())?;
        let json = serde_json::to_vec_pretty(plan)?;
        durable::write_file(&self.directory.join("plan.json"), &json).with_context(failed)
    }

    pub(super) fn plan(&self) -> anyhow::Result<Plan> {
        self.read("plan.json")?.with_context(|| {
            format!("nothing is prepared in `{}`; do that first", self.directory.display())
        })
    }

    pub(super) fn runs(&self) -> anyhow::Result<Vec<Run>> {
        Ok(self.read("runs.json")?.unwrap_or_default())
    }

    fn read<T: for<'d> Deserialize<'d>>(&self, name: &str) -> anyhow::Result<Option<T>> {
        let path = self.directory.join(name);
        if !path.is_file() {
            return Ok(None);
        }
        let read = || -> anyhow::Result<T> { Ok(serde_json::from_slice(&std::fs::read(&path)?)?) };
        read().map(Some).with_context(|| format!("cannot use `{}`", path.display()))
    }

    /// Writes down that a recipe ran.
    pub(super) fn note(&self, run: Run) -> anyhow::Result<()> {
        let mut runs = self.runs()?;
        runs.retain(|known| (&known.label, known.recipe) != (&run.label, run.recipe));
        runs.push(run);
        runs.sort_by(|a, b| (&a.label, a.recipe).cmp(&(&b.label, b.recipe)));
        let path = self.directory.join("runs.json");
        durable::write_file(&path, &serde_json::to_vec_pretty(&runs)?)
            .with_context(|| format!("cannot write `{}`", path.display()))
    }

    /// The outputs of a run.
    pub(super) fn outputs(&self, database: &Database, run: &Run) -> anyhow::Result<Vec<Output>> {
        let query = format!("origin=generated recipe={}", run.recipe).parse()?;
        let mut outputs = Vec::new();
        for answer in database.query(&query)? {
            let answer = answer?;
            let Provenance::Generated(made) = &answer.set.provenance else { continue };
            outputs.push(Output {
                frame: answer.frame.to_string(),
                lu: answer.lexunit.to_string(),
                round: made.round,
            });
        }
        Ok(outputs)
    }
}

/// How many hidden LUs a rewriter can write in any of their forms: as its pieces spell them, and in
/// the words of its list, where it has one.
pub(super) fn writable(
    rewriter: &Paraphraser,
    plan: &Plan,
    morphology: &Morphology,
) -> anyhow::Result<(usize, Option<usize>)> {
    let tokenizer = rewriter.tokenizer();
    let (mut any, mut listed) = (0, 0);
    for name in plan.frames.iter().flat_map(|frame| &frame.hidden) {
        let lemma = name.rsplit_once('.').map_or(name.as_str(), |(lemma, _)| lemma);
        let forms = morphology.forms_of(&plain_lemma(lemma), Pos::of_lu_name(name));
        let mut is_spelt = false;
        for form in &forms {
            let written = tokenizer.decode(&tokenizer.encode_inside(form)?)?;
            is_spelt |= written.trim() == form;
        }
        let is_known =
            |form: &String| form.split_whitespace().all(|word| rewriter.knows_word(word));
        any += usize::from(is_spelt);
        listed += usize::from(forms.iter().any(is_known));
    }
    ensure!(any <= plan.hidden(), "an LU counted twice");
    Ok((any, rewriter.has_word_list().then_some(listed)))
}
