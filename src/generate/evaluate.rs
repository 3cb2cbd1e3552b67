//! How good generated sentences are, by what needs no judge.
//!
//! Two kinds of sentences are measured. *Test spans* are those of annotated sentences: their blanks
//! are written anew in each mode, and what was there is the reference. Nothing is stored. *Stored
//! sets* are measured as they are, by the recipe that made them. Beside both stand the sentences by
//! people that they were made of.
//!
//! Cui and Swayamdipta (2024), section 3.4 (table 1), appendices F (table 10) and H (table 13).

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::ControlFlow;
use std::rc::Rc;

use super::blanks::Actors;
use super::generator::Generator;
use super::job::Job;
use super::{Draft, GenerationRecipe, Mode, Result};
use crate::database::Database;
use crate::engine::{Paced, always};
use crate::model::{
    AnnotationSet, AnnotationSetId, FeStatus, Frame, FrameId, Method, Provenance, RecipeId,
    ReleaseId,
};
use crate::query::Expression;
use crate::score::TextScore;
use crate::search::Answer;
use crate::text::{Rouge, bleu, fold, natural_spacing, rouge, words};

/// Sentences that are filled, read and scored together.
const BATCH: usize = 16;

/// Which test spans are written anew, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct TestSpans {
    /// Sentences that are drawn.
    pub sentences: usize,
    /// What the generator is told; each mode gets the same sentences.
    pub modes: Vec<Mode>,
    /// Candidates for each sentence; the language model's first choice counts.
    pub candidates: usize,
    /// Decides every draw.
    pub seed: u64,
}

/// Who wrote the words of blanks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Writer {
    /// People: the sentences that the others were made of.
    People,
    /// The generator, in a mode.
    Mode(Mode),
    /// A recipe of stored sets, with its method and, where words were written, its mode.
    Recipe(RecipeId, Method, Option<Mode>),
}

/// What some sentences came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Quality {
    /// Sentences.
    pub sentences: u64,
    /// Further ones for which the generator gave nothing that fits the blanks.
    pub without: u64,
    /// Their blanks.
    pub spans: u64,
    /// Blanks that the classifier reads as their FEs; none without a classifier.
    pub faithful_spans: Option<u64>,
    /// Sentences with a candidate all of whose blanks are read so: those that the filter keeps.
    pub kept: Option<u64>,
    /// Perplexity a token under the language model, over all sentences; none without a model.
    pub perplexity: Option<f64>,
    /// The same over the sentences that are kept.
    pub kept_perplexity: Option<f64>,
    /// ROUGE of blanks against what stood there, mean over blanks; for test spans.
    pub rouge: Option<Rouge>,
    /// Mean BLEU of each sentence against all others; none for fewer than two.
    pub self_bleu: Option<f64>,
    /// The same of the sentences that are kept.
    pub kept_self_bleu: Option<f64>,
}

/// What an evaluation found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Evaluated {
    /// By writer, people first.
    pub rows: Vec<(Writer, Quality)>,
    /// Sets that match and have no blank, or whose FEs are no longer those of their source.
    pub left_out: u64,
    /// Whether a budget of the endpoint or `Break` ended it early: rows hold what was done.
    pub is_cut: bool,
}

/// How far an evaluation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EvaluationProgress {
    /// Sentences measured.
    pub sentences: u64,
    /// Sentences to measure.
    pub of: u64,
}

/// Told of progress; `Break` ends the evaluation behind the batch.
pub type OnProgress<'a> = dyn FnMut(&EvaluationProgress) -> ControlFlow<()> + 'a;

/// Writes the blanks of drawn annotated sets anew, in each mode, and measures the results. The
/// expression says which sets are drawn from; generated ones never are.
///
/// # Errors
/// When the recipe cannot be followed, the expression names what there is not, a model or the
/// endpoint fails, or the database does. Nothing is written.
pub fn evaluate_test_spans(
    database: &Database,
    expression: &Expression,
    settings: &TestSpans,
    generator: &mut Generator,
    progress: &mut OnProgress<'_>,
) -> Result<Evaluated> {
    let recipe = |mode| GenerationRecipe {
        method: Method::Infill,
        mode,
        candidates: settings.candidates,
        seed: settings.seed,
        ..GenerationRecipe::default()
    };
    generator.check(&recipe(Mode::default()))?;
    let mut evaluated = Evaluated::default();
    let (items, releases) = drawn(database, expression, settings, &mut evaluated.left_out)?;
    database.check_languages(generator.declared(), releases)?;
    let mut at =
        EvaluationProgress { sentences: 0, of: (items.len() * (1 + settings.modes.len())) as u64 };
    let writers = std::iter::once(None).chain(settings.modes.iter().copied().map(Some));
    for mode in writers {
        let mut tally = Tally::default();
        for batch in items.chunks(BATCH) {
            if evaluated.is_cut {
                break;
            }
            let Some(mode) = mode else {
                for item in batch {
                    tally.add(generator, item, vec![item.draft.clone()])?;
                }
                at.sentences += batch.len() as u64;
                evaluated.is_cut |= progress(&at).is_break();
                continue;
            };
            let jobs: Vec<Job<'_>> = batch.iter().map(Item::job).collect();
            let mut paced = Paced::new();
            let mut goes_on = || paced.ask(|| progress(&at));
            let filled = match generator.fill(&jobs, &recipe(mode), &mut goes_on) {
                Err(error) if error.is_stopped() => {
                    evaluated.is_cut = true;
                    break;
                }
                filled => filled?,
            };
            evaluated.is_cut |= filled.len() < batch.len();
            for (item, filled) in batch.iter().zip(filled) {
                let drafts = filled.candidates.iter().map(|words| item.draft.filled(words));
                tally.add(generator, item, drafts.collect())?;
                at.sentences += 1;
            }
            evaluated.is_cut |= progress(&at).is_break();
        }
        if tally.is_begun() {
            let writer = mode.map_or(Writer::People, Writer::Mode);
            evaluated.rows.push((writer, tally.quality(mode.is_some())));
        }
    }
    Ok(evaluated)
}

/// Measures the generated sets of [`Method::SisterLu`] and [`Method::Infill`] that an expression
/// finds, by recipe, and the sets that they were made of. Blanks are those of the latter.
///
/// # Errors
/// When the expression names what there is not, a model fails, or the database does. Nothing is
/// written.
pub fn evaluate_sets(
    database: &Database,
    expression: &Expression,
    generator: &mut Generator,
    progress: &mut OnProgress<'_>,
) -> Result<Evaluated> {
    let modes = modes_of_recipes(database)?;
    let mut sources = Sources::new(database);
    let (mut evaluated, mut items) = (Evaluated::default(), BTreeMap::<Writer, Vec<Item>>::new());
    let mut people = HashMap::new();
    for answer in database.query(expression)? {
        let answer = answer?;
        let Provenance::Generated(made) = &answer.set.provenance else { continue };
        let (id, method) = (made.recipe, made.method);
        if !matches!(method, Method::SisterLu | Method::Infill) {
            continue;
        }
        let source = sources.of_generated(&answer, made.source)?;
        let Some((item, source)) = source.filter(|(item, _)| !item.draft.blanks.is_empty()) else {
            evaluated.left_out += 1;
            continue;
        };
        people.entry((answer.release.id, made.source)).or_insert(source);
        let mode = modes.get(&id).copied().filter(|_| method == Method::Infill);
        items.entry(Writer::Recipe(id, method, mode)).or_default().push(item);
    }
    database.check_languages(generator.declared(), people.keys().map(|(release, _)| *release))?;
    let mut sources: Vec<_> = people.into_iter().collect();
    sources.sort_unstable_by_key(|(key, _)| *key);
    items.insert(Writer::People, sources.into_iter().map(|(_, item)| item).collect());
    let of = items.values().map(|items| items.len() as u64).sum();
    let mut at = EvaluationProgress { sentences: 0, of };
    for (writer, items) in items {
        let mut tally = Tally::default();
        for batch in items.chunks(BATCH) {
            if evaluated.is_cut {
                break;
            }
            for item in batch {
                tally.add(generator, item, vec![item.draft.clone()])?;
            }
            at.sentences += batch.len() as u64;
            evaluated.is_cut |= progress(&at).is_break();
        }
        if tally.is_begun() {
            evaluated.rows.push((writer, tally.quality(false)));
        }
    }
    Ok(evaluated)
}

/// A sentence to measure, or to fill and measure.
struct Item {
    frame: Rc<Frame>,
    lexunit: String,
    draft: Draft,
}

impl Item {
    fn job(&self) -> Job<'_> {
        Job { draft: &self.draft, frame: &self.frame.name, lexunit: &self.lexunit }
    }
}

/// Frames and actors of releases, each read once.
struct Sources<'a> {
    database: &'a Database,
    frames: HashMap<(ReleaseId, FrameId), Rc<Frame>>,
    actors: HashMap<ReleaseId, Rc<Actors>>,
}

impl<'a> Sources<'a> {
    fn new(database: &'a Database) -> Self {
        Self { database, frames: HashMap::new(), actors: HashMap::new() }
    }

    fn of(&mut self, release: ReleaseId, id: FrameId) -> Result<Option<(Rc<Frame>, Rc<Actors>)>> {
        if !self.frames.contains_key(&(release, id)) {
            let Some(frame) = self.database.store().frame(release, id)? else { return Ok(None) };
            self.frames.insert((release, id), Rc::new(frame));
        }
        if !self.actors.contains_key(&release) {
            self.actors.insert(release, Rc::new(Actors::of(self.database, release)?));
        }
        Ok(Some((Rc::clone(&self.frames[&(release, id)]), Rc::clone(&self.actors[&release]))))
    }

    /// A set by people with its blanks.
    fn of_people(&mut self, answer: &Answer) -> Result<Option<Item>> {
        let Some((frame, actors)) = self.of(answer.release.id, answer.set.frame)? else {
            return Ok(None);
        };
        let draft = Draft::of_itself(&answer.set, &answer.sentence.text, &frame, &actors);
        Ok(draft.ok().map(|draft| Item { frame, lexunit: answer.lexunit.to_string(), draft }))
    }

    /// A generated set with its blanks, and the set that it was made of.
    fn of_generated(
        &mut self,
        answer: &Answer,
        source: AnnotationSetId,
    ) -> Result<Option<(Item, Item)>> {
        let (release, store) = (answer.release.id, self.database.store());
        let Some(set) = store.annotation_set(release, source)? else { return Ok(None) };
        let Some(sentence) = store.sentence(release, set.sentence)? else { return Ok(None) };
        let lexunit = store.lexunit(release, set.frame, set.lu)?.map(|lu| lu.name);
        let Some((frame, actors)) = self.of(release, set.frame)? else { return Ok(None) };
        let new = (&answer.set, answer.sentence.text.as_str());
        let new = Draft::of_generated(new, &set, &frame, &actors);
        let old = Draft::of_itself(&set, &sentence.text, &frame, &actors);
        let (Some(new), Ok(old)) = (new, old) else { return Ok(None) };
        let item = |lexunit, draft| Item { frame: Rc::clone(&frame), lexunit, draft };
        let old = item(lexunit.unwrap_or_default(), old);
        Ok(Some((item(answer.lexunit.to_string(), new), old)))
    }
}

/// The sets that the seed draws among those of people that match and have a blank, in its order.
fn drawn(
    database: &Database,
    expression: &Expression,
    settings: &TestSpans,
    left_out: &mut u64,
) -> Result<(Vec<Item>, BTreeSet<ReleaseId>)> {
    let mut sources = Sources::new(database);
    let mut releases = BTreeSet::new();
    let mut drawn: BTreeMap<[u8; 32], Item> = BTreeMap::new();
    for answer in database.query(expression)? {
        let answer = answer?;
        let AnnotationSet { id, fe_status, ref provenance, .. } = answer.set;
        if provenance.origin().is_of_written_text() || fe_status != FeStatus::Annotated {
            continue;
        }
        releases.insert(answer.release.id);
        let mut hash = blake3::Hasher::new();
        hash.update(&settings.seed.to_be_bytes());
        hash.update(answer.release.name.as_bytes());
        hash.update(&id.bits().to_be_bytes());
        match sources.of_people(&answer)?.filter(|item| !item.draft.blanks.is_empty()) {
            Some(item) => drawn.insert(*hash.finalize().as_bytes(), item),
            None => {
                *left_out += 1;
                continue;
            }
        };
        if drawn.len() > settings.sentences {
            drawn.pop_last();
        }
    }
    Ok((drawn.into_values().collect(), releases))
}

/// The modes that recipes name.
fn modes_of_recipes(database: &Database) -> Result<HashMap<RecipeId, Mode>> {
    let mode = |(id, _, description): (RecipeId, _, String)| {
        let description: serde_json::Value = serde_json::from_str(&description).ok()?;
        Some((id, Mode::parse(description["mode"].as_str()?)?))
    };
    Ok(database.store().recipes()?.into_iter().filter_map(mode).collect())
}

/// What one candidate came to.
struct Output {
    /// Words of the sentence, case folded.
    words: Vec<String>,
    score: Option<TextScore>,
    /// Whether each blank is read as its FE.
    read: Option<Vec<bool>>,
    rouge: Vec<Rouge>,
}

/// Outputs of one writer: of each sentence the likeliest candidate, and the likeliest that is kept.
#[derive(Default)]
struct Tally {
    without: u64,
    first: Vec<Rc<Output>>,
    kept: Vec<Rc<Output>>,
}

impl Tally {
    /// Takes the candidates of a sentence.
    fn add(&mut self, generator: &mut Generator, item: &Item, drafts: Vec<Draft>) -> Result<()> {
        let scores =
            generator.score(drafts.iter().map(|draft| draft.text.as_str()), &mut always())?;
        let scores = scores.unwrap_or_else(|| vec![None; drafts.len()]);
        let mut outputs = Vec::with_capacity(drafts.len());
        for (draft, score) in drafts.iter().zip(scores) {
            let read = generator.read(&item.frame, &item.lexunit, draft)?;
            let text = natural_spacing(&draft.text);
            let spans = draft.words().into_iter().zip(item.draft.words());
            outputs.push(Rc::new(Output {
                words: words(&text).iter().filter_map(|word| word.of(&text)).map(fold).collect(),
                score,
                read: read.map(|read| read.iter().map(Option::is_some).collect()),
                rouge: spans.map(|(words, there)| rouge(words, there)).collect(),
            }));
        }
        // What cannot be scored comes last.
        let mean = |output: &Rc<Output>| {
            output.score.map_or(f64::MAX, |score| -score.log_prob / score.tokens as f64)
        };
        outputs.sort_by(|a, b| mean(a).total_cmp(&mean(b)));
        let is_kept = |output: &&Rc<Output>| {
            output.read.as_ref().is_some_and(|read| read.iter().all(|is_read| *is_read))
        };
        self.kept.extend(outputs.iter().find(is_kept).cloned());
        match outputs.into_iter().next() {
            Some(first) => self.first.push(first),
            None => self.without += 1,
        }
        Ok(())
    }

    fn is_begun(&self) -> bool {
        self.without > 0 || !self.first.is_empty()
    }

    fn quality(&self, is_anew: bool) -> Quality {
        let spans: Vec<Rouge> = self.first.iter().flat_map(|one| one.rouge.clone()).collect();
        let read: Option<Vec<&Vec<bool>>> =
            self.first.iter().map(|output| output.read.as_ref()).collect();
        let read = read.filter(|read| !read.is_empty());
        let mean = |of: fn(&Rouge) -> f64| spans.iter().map(of).sum::<f64>() / spans.len() as f64;
        let faithful =
            |read: &Vec<&Vec<bool>>| read.iter().copied().flatten().filter(|is| **is).count();
        Quality {
            sentences: self.first.len() as u64,
            without: self.without,
            spans: spans.len() as u64,
            faithful_spans: read.as_ref().map(|read| faithful(read) as u64),
            kept: read.map(|_| self.kept.len() as u64),
            perplexity: perplexity(&self.first),
            kept_perplexity: perplexity(&self.kept),
            rouge: (is_anew && !spans.is_empty()).then(|| Rouge {
                rouge_1: mean(|span| span.rouge_1),
                rouge_l: mean(|span| span.rouge_l),
            }),
            self_bleu: self_bleu(&self.first),
            kept_self_bleu: self_bleu(&self.kept),
        }
    }
}

/// Perplexity a token of all texts together; those without a score do not count.
fn perplexity(outputs: &[Rc<Output>]) -> Option<f64> {
    let sum =
        |(log_prob, tokens), score: TextScore| (log_prob + score.log_prob, tokens + score.tokens);
    let (log_prob, tokens) = outputs.iter().filter_map(|one| one.score).fold((0.0, 0), sum);
    (tokens > 0).then(|| TextScore { log_prob, tokens }.perplexity())
}

/// Mean BLEU of each text against all others.
fn self_bleu(outputs: &[Rc<Output>]) -> Option<f64> {
    let texts: Vec<&[String]> = outputs.iter().map(|output| &output.words[..]).collect();
    let of = |at: usize| bleu(texts[at], &[&texts[..at], &texts[at + 1..]].concat());
    let sum: f64 = (0..texts.len()).map(of).sum();
    (texts.len() > 1).then(|| sum / texts.len() as f64)
}
