//! Sentences with targets and frames, as a store holds them.
//!
//! Full text is annotated as a whole: what is no target evokes nothing. Of an exemplar or a
//! generated sentence only its own target is known. A discontinuous target counts as the one span
//! from its first to its last character, and of two frames on one span the second is dropped, as in
//! Das et al. (2014) and Culkin et al. (2021, section 6.3).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::measure::LexunitName;
use crate::database::{Database, Result};
use crate::lexicon::Lexicon;
use crate::model::{
    AnnotationSetId, FrameId, LuId, OWN_RANGE, Origin, Provenance, SentenceId, Span, Split,
};
use crate::query::Expression;
use crate::search::Answer;
use crate::text::{AttestedForms, Morphology, fold};

/// A target and the frame that it evokes.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// The annotation set.
    pub set: AnnotationSetId,
    /// Where it stands, in bytes.
    pub span: Span,
    /// Name of the frame.
    pub frame: Arc<str>,
    /// Name of the LU.
    pub lexunit: Arc<str>,
    /// Date of creation as written.
    pub created: String,
    /// Of a generated set how it was made.
    pub made: Option<Made>,
}

/// What matters here of how a set was generated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Made {
    /// The human set that its chain started from.
    pub seed: AnnotationSetId,
    /// Score of the precision filter.
    pub precision: Option<f32>,
    /// Score of the recall filter.
    pub recall: Option<f32>,
}

/// A sentence with the targets that are known of it.
#[derive(Debug, Clone, PartialEq)]
pub struct FrameSentence {
    /// Its id.
    pub id: SentenceId,
    /// The text.
    pub text: String,
    /// Whether all its targets are known: no other span evokes a frame.
    pub is_whole: bool,
    /// Its targets, by span.
    pub targets: Vec<Target>,
}

impl FrameSentence {
    /// The sentences of the sets of a release for which a query holds, in order of their ids. Sets
    /// without a target are left out, and with them sentences without any: nobody can say whether
    /// those were annotated.
    ///
    /// # Errors
    /// When the store fails.
    pub fn read(database: &Database, release: &str, query: &Expression) -> Result<Vec<Self>> {
        let mut sentences: BTreeMap<SentenceId, Self> = BTreeMap::new();
        for answer in database.lexicon(release)?.annotations(query)? {
            let answer = answer?;
            let Some(target) = target_of(&answer) else { continue };
            let Answer { sentence, set, .. } = answer;
            let entry = sentences.entry(sentence.id).or_insert_with(|| Self {
                id: sentence.id,
                text: sentence.text,
                is_whole: set.provenance.origin() == Origin::FullText,
                targets: Vec::new(),
            });
            if entry.targets.iter().all(|other| other.span != target.span) {
                entry.targets.push(target);
            }
        }
        let mut sentences: Vec<Self> = sentences.into_values().collect();
        for sentence in &mut sentences {
            sentence.targets.sort_by_key(|target| (target.span.start, target.span.end));
        }
        Ok(sentences)
    }

    /// At most `most` targets of each LU, spread evenly over those that there are, and the
    /// sentences that have one.
    #[must_use]
    pub fn sampled(sentences: Vec<Self>, most: usize) -> Vec<Self> {
        let mut places: BTreeMap<(Arc<str>, Arc<str>), Vec<AnnotationSetId>> = BTreeMap::new();
        for target in sentences.iter().flat_map(|sentence| &sentence.targets) {
            let lexunit = (Arc::clone(&target.frame), Arc::clone(&target.lexunit));
            places.entry(lexunit).or_default().push(target.set);
        }
        let kept: HashSet<AnnotationSetId> = places
            .into_values()
            .flat_map(|sets| {
                let kept = most.min(sets.len());
                (0..kept).map(move |at| sets[at * sets.len() / kept])
            })
            .collect();
        Self::with_targets(sentences, |target| kept.contains(&target.set))
    }

    /// Keeps the targets that pass, and the sentences that have one.
    pub(crate) fn with_targets(
        mut sentences: Vec<Self>,
        mut passes: impl FnMut(&Target) -> bool,
    ) -> Vec<Self> {
        sentences.iter_mut().for_each(|sentence| sentence.targets.retain(&mut passes));
        sentences.retain(|sentence| !sentence.targets.is_empty());
        sentences
    }

    /// The sentences whose text, without regard to case and white space, is none of `others`: what
    /// a model is measured on must not be among what it learns from.
    #[must_use]
    pub fn apart_from(sentences: Vec<Self>, others: &HashSet<String>) -> Vec<Self> {
        sentences.into_iter().filter(|sentence| !others.contains(&plain(&sentence.text))).collect()
    }

    /// A hash (BLAKE3, hexadecimal) of texts and targets, in order.
    pub(crate) fn fingerprint(sentences: &[Self]) -> String {
        let mut hash = blake3::Hasher::new();
        for sentence in sentences {
            hash.update(sentence.text.as_bytes());
            for target in &sentence.targets {
                let span = (target.span.start, target.span.end);
                hash.update(format!("\n{span:?} {} {}", target.frame, target.lexunit).as_bytes());
            }
        }
        hash.finalize().to_string()
    }

    /// The texts of some sentences, for [`apart_from`](Self::apart_from).
    #[must_use]
    pub fn texts(sentences: &[Self]) -> HashSet<String> {
        sentences.iter().map(|sentence| plain(&sentence.text)).collect()
    }
}

/// The full text of a release by the parts of the data, and its LUs.
#[derive(Debug, Clone)]
pub struct FullText {
    /// Documents to learn from.
    pub train: Vec<FrameSentence>,
    /// Documents on which choices are made.
    pub dev: Vec<FrameSentence>,
    /// Documents that measure, once.
    pub test: Vec<FrameSentence>,
    /// Every LU, names of frame and LU.
    pub lexunits: Vec<LexunitName>,
    /// How words are inflected: by rule, or as the documents to learn from show it.
    pub morphology: Morphology,
    /// Texts of development and test documents, which no training may see.
    held_out: HashSet<String>,
}

impl FullText {
    /// Reads the full text of a release (`split=` in queries). Sentences of training documents that
    /// also stand in a development or test document are left out, as are those of both in
    /// development documents.
    ///
    /// # Errors
    /// When the store fails, or the release has no annotated full text in one of the parts.
    pub fn read(database: &Database, release: &str) -> Result<Self> {
        let part = |split: Split| {
            let query = format!("origin=fulltext split={}", split.as_str());
            let query = query.parse().expect("the query is well formed");
            FrameSentence::read(database, release, &query)
        };
        let (train, dev, test) = (part(Split::Train)?, part(Split::Dev)?, part(Split::Test)?);
        let of_test = FrameSentence::texts(&test);
        let dev = FrameSentence::apart_from(dev, &of_test);
        let held_out: HashSet<String> =
            of_test.into_iter().chain(FrameSentence::texts(&dev)).collect();
        let train = FrameSentence::apart_from(train, &held_out);
        let lexicon = database.lexicon(release)?;
        let mut forms = AttestedForms::default();
        for sentence in &train {
            for target in &sentence.targets {
                forms.add(&target.lexunit, target.span.of(&sentence.text).unwrap_or_default());
            }
        }
        let morphology = Morphology::of(&lexicon.release().language, forms);
        Ok(Self { train, dev, test, lexunits: lexunits(&lexicon)?, morphology, held_out })
    }

    /// The exemplars of the release, at most `most` of each LU, without the texts of development
    /// and test documents.
    ///
    /// # Errors
    /// When the store fails.
    pub fn exemplars(
        &self,
        database: &Database,
        release: &str,
        most: usize,
    ) -> Result<Vec<FrameSentence>> {
        let query = "origin=exemplar".parse().expect("the query is well formed");
        let all = FrameSentence::read(database, release, &query)?;
        Ok(FrameSentence::sampled(self.apart(all), most))
    }

    /// The generated sets for which a query holds whose seeds are targets of training documents.
    ///
    /// # Errors
    /// When the store fails.
    pub fn generated(
        &self,
        database: &Database,
        release: &str,
        query: &Expression,
    ) -> Result<Vec<FrameSentence>> {
        let origin: Expression = "origin=generated".parse().expect("the query is well formed");
        let query = Expression::conjunction([origin, query.clone()]);
        let seeds: HashSet<AnnotationSetId> = self
            .train
            .iter()
            .flat_map(|sentence| sentence.targets.iter().map(|target| target.set))
            .collect();
        let all = self.apart(FrameSentence::read(database, release, &query)?);
        Ok(FrameSentence::with_targets(all, |target| {
            target.made.is_some_and(|made| seeds.contains(&made.seed))
        }))
    }

    /// Sentences whose texts are none of the development and test documents'.
    #[must_use]
    pub fn apart(&self, sentences: Vec<FrameSentence>) -> Vec<FrameSentence> {
        FrameSentence::apart_from(sentences, &self.held_out)
    }
}

/// The LUs of a release, names of frame and LU.
///
/// # Errors
/// When the store fails.
pub fn lexunits(lexicon: &Lexicon<'_>) -> Result<Vec<LexunitName>> {
    named_lexunits(lexicon, |_| true)
}

/// As [`lexunits`], without those that expansions proposed and people added: what an experiment
/// compares has one lexicon, whatever was generated.
///
/// # Errors
/// When the store fails.
pub fn released_lexunits(lexicon: &Lexicon<'_>) -> Result<Vec<LexunitName>> {
    named_lexunits(lexicon, |lu| lu.0 < OWN_RANGE)
}

fn named_lexunits(lexicon: &Lexicon<'_>, is_kept: fn(LuId) -> bool) -> Result<Vec<LexunitName>> {
    let mut frames: HashMap<FrameId, Arc<str>> = HashMap::new();
    for row in lexicon.frame_names()? {
        let (frame, name) = row?;
        frames.insert(frame, Arc::from(name));
    }
    let mut lexunits = Vec::new();
    for row in lexicon.lu_names()? {
        let (frame, lu, name) = row?;
        let frame = frames.get(&frame).filter(|_| is_kept(lu)).map(Arc::clone);
        lexunits.extend(frame.map(|frame| (frame, Arc::from(name))));
    }
    Ok(lexunits)
}

/// A text without case and white space, which treebanks and web pages disagree about.
fn plain(text: &str) -> String {
    fold(text).split_whitespace().collect()
}

fn target_of(answer: &Answer) -> Option<Target> {
    let set = &answer.set;
    let (first, last) = (set.targets.first()?, set.targets.last()?);
    let made = match &set.provenance {
        Provenance::Generated(made) => Some(Made {
            seed: made.seed,
            precision: made.filter.map(|scores| scores.precision),
            recall: made.filter.map(|scores| scores.recall),
        }),
        _ => None,
    };
    Some(Target {
        set: set.id,
        span: Span::new(first.start, last.end.max(first.end)),
        frame: Arc::clone(&answer.frame),
        lexunit: Arc::clone(&answer.lexunit),
        created: set.created.clone(),
        made,
    })
}
