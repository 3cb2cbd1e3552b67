//! New LUs of frames: words that dictionaries and vectors lead to, asked about in sentences.
//!
//! For a frame, words are gathered that its LUs lead to (`neighbours.rs`), and those that a
//! rewriter says in their place (`saying.rs`). Each is put, in the form that the sentence wants,
//! into sentences that show the frame's LUs (`units.rs`); where there is a corpus, its sentences
//! that hold the word come first (`corpus.rs`). A verifier is asked of each whether the word evokes
//! the frame there: of many words in one sentence, then of the better ones in all (`asking.rs`).
//! Words are ranked by the mean of its answers, how likely a language model finds them in the slot,
//! and how much the LUs lead to them (`scoring.rs`).
//!
//! What is found joins the proposals of expansions ([`crate::proposals`]), with the sentences that
//! speak for it. No annotation set is written.
//!
//! LUs that a frame has, and no sentence, get sentences of a corpus (`attest.rs`).

mod asking;
mod attest;
mod attest_report;
mod corpus;
mod error;
mod neighbours;
mod ranking;
mod saying;
mod scoring;
mod units;
mod writing;

use std::collections::HashSet;

use asking::FrameAnswers;
pub use attest::Attester;
pub use attest_report::{AttestOptions, AttestReport};
pub use corpus::Corpus;
pub use error::DiscoverError;
#[doc(hidden)]
pub use neighbours::words_near;

use crate::database::Database;
use crate::engine::GoesOn;
use crate::expand::FrameQuestions;
use crate::lexicon::Wordnet;
use crate::model::{
    Discovery, FrameId, PROPOSED, RefusedWord, Release, is_english, is_same_language,
};
use crate::paraphrase::Paraphraser;
use crate::proposals::KnownLemmas;
use crate::score::Scorer;
use crate::tag::Tagger;
use crate::text::Morphology;
use crate::vectors::WordVectors;
use crate::verify::Verifier;
use neighbours::{Candidate, Sources};
use units::{Key, elsewhere, units_of};

type Result<T> = std::result::Result<T, DiscoverError>;

/// Kinds of what leads to words: a WordNet, word vectors, a rewriter.
const SOURCES: usize = 3;

/// How new LUs are looked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DiscoverOptions {
    /// Words of a frame that are asked about in all sentences. A verifier chooses them among twice
    /// as many by one sentence each.
    pub candidates: usize,
    /// Sentences that each is asked about.
    pub sentences: usize,
    /// Least score of a word that is proposed.
    pub least: f32,
    /// Whether frames that were searched are searched again.
    pub again: bool,
}

impl Default for DiscoverOptions {
    fn default() -> Self {
        Self { candidates: 60, sentences: 3, least: 0.1, again: false }
    }
}

/// What a search of a frame found.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FrameDiscoveries {
    /// The frame.
    pub frame: FrameId,
    /// Its name.
    pub name: String,
    /// Words that its LUs lead to.
    pub candidates: u32,
    /// Words that were asked about; 0 without a verifier.
    pub asked: u32,
    /// What is proposed, the likeliest first.
    pub found: Vec<Discovery>,
    /// Words that are none of the frame's, each with the reason.
    pub refused: Vec<RefusedWord>,
    /// Whether the frame had been searched, and this is what was found then.
    pub was_searched: bool,
}

/// Looks for new LUs of the frames of a release.
pub struct Discoverer<'a> {
    database: &'a Database,
    release: Release,
    wordnets: Vec<Wordnet<'a>>,
    rewriter: Option<&'a mut Paraphraser>,
    tagger: Option<&'a Tagger>,
    verifier: Option<&'a mut Verifier>,
    /// The verifier's language model without its adapter.
    speaker: Option<Scorer>,
    corpus: Option<&'a Corpus>,
    /// Whether words are ranked by how likely they are in the slot, and by nothing else.
    is_by_slot: bool,
    options: DiscoverOptions,
    lexicon: KnownLemmas<'a>,
    morphology: Morphology,
    questions: FrameQuestions,
}

impl<'a> Discoverer<'a> {
    /// Looks into a release of a database, through WordNets, word vectors and a verifier of its
    /// language; others are not used. Without a verifier words are ranked by what leads to them.
    ///
    /// # Errors
    /// When there is no such release, or the database fails.
    pub fn new(
        database: &'a Database,
        release: &str,
        (mut wordnets, vectors): (Vec<Wordnet<'a>>, Option<&'a WordVectors>),
        verifier: Option<&'a mut Verifier>,
        options: DiscoverOptions,
    ) -> Result<Self> {
        let lexicon = database.lexicon(release)?;
        let (release, morphology) = (lexicon.release().clone(), lexicon.morphology()?);
        let mut speaker = None;
        let verifier =
            verifier.filter(|of| database.check_language(of.declared(), &release).is_ok());
        if let Some(verifier) = &verifier {
            speaker = Some(Scorer::over(verifier.model(), None)?);
        }
        wordnets.retain(|of| is_same_language(&of.resource().language, &release.language));
        Ok(Self {
            lexicon: KnownLemmas::read(database, release.id)?.with_vectors(database, vectors),
            database,
            release,
            wordnets,
            rewriter: None,
            tagger: None,
            verifier,
            speaker,
            corpus: None,
            is_by_slot: false,
            options,
            morphology,
            questions: FrameQuestions::default(),
        })
    }

    /// Has words taken, too, that a rewriter says in place of the LUs, if it is a language model
    /// that is made for the language.
    #[must_use]
    pub fn with_rewriter(self, rewriter: Option<&'a mut Paraphraser>) -> Self {
        let is_told = |of: &&'a mut Paraphraser| {
            of.prompt().is_some()
                && self.database.check_language(of.declared(), &self.release).is_ok()
        };
        Self { rewriter: rewriter.filter(is_told), ..self }
    }

    /// Has sentences of a corpus passed over in which a word is of another part of speech, if the
    /// tagger is made for the language.
    #[must_use]
    pub fn with_tagger(self, tagger: Option<&'a Tagger>) -> Self {
        let is_told =
            |of: &&'a Tagger| self.database.check_language(of.declared(), &self.release).is_ok();
        Self { tagger: tagger.filter(is_told), ..self }
    }

    /// Has words ranked by how likely the verifier's language model finds them in the slot, and the
    /// verifier itself not asked.
    #[doc(hidden)]
    #[must_use]
    pub fn by_slot_alone(self) -> Self {
        Self { verifier: None, is_by_slot: true, ..self }
    }

    /// What a search is made with, in words.
    #[doc(hidden)]
    #[must_use]
    pub fn described(&self) -> String {
        let mut ways = self.ways();
        if let Some(verifier) = &self.verifier {
            ways.push(format!("verifier {}", &verifier.fingerprint().to_string()[..16]));
        }
        if let Some(model) = self.speaker.as_ref().filter(|_| self.is_by_slot) {
            ways.push(format!("language model {}", &model.fingerprint().to_string()[..16]));
        }
        ways.join("; ")
    }

    /// Whether a verifier is asked.
    #[must_use]
    pub fn asks(&self) -> bool {
        self.verifier.is_some()
    }

    /// What words are not found by, as there is none for the release's language.
    #[must_use]
    pub fn missing(&self) -> Vec<&'static str> {
        let missing: [_; SOURCES] = [
            (self.wordnets.is_empty(), "WordNet"),
            (self.lexicon.vectors().is_none(), "word vectors"),
            (self.rewriter.is_none(), "rewriter"),
        ];
        missing.into_iter().filter_map(|(is_missing, name)| is_missing.then_some(name)).collect()
    }

    /// Has sentences of a corpus asked about before those that are made.
    #[must_use]
    pub fn with_corpus(self, corpus: &'a Corpus) -> Self {
        Self { corpus: Some(corpus), ..self }
    }

    /// The frames of the release that have LUs with sentences, in order of name.
    ///
    /// # Errors
    /// When the database fails.
    pub fn frames(&self) -> Result<Vec<FrameId>> {
        let lexicon = self.database.lexicon(self.release.id)?;
        let mut shown = std::collections::BTreeSet::new();
        for lu in lexicon.lus()? {
            let lu = lu?;
            if lu.status != PROPOSED && lu.total_annotated > 0 {
                shown.insert(lu.frame);
            }
        }
        let mut frames = Vec::new();
        for frame in lexicon.frames()? {
            let frame = frame?;
            if shown.contains(&frame.id) {
                frames.push((frame.name, frame.id));
            }
        }
        frames.sort();
        Ok(frames.into_iter().map(|(_, id)| id).collect())
    }

    /// Looks for new LUs of a frame, and writes down what is found. A frame that was searched by
    /// the same verifier, with the same options, WordNets, vectors and corpus, is not asked about
    /// again, unless the options say so.
    ///
    /// # Errors
    /// When the database or a model fails. Whoever `goes_on` stops gets an error of which
    /// [`DiscoverError::is_stopped`] says so, and nothing of the frame is written.
    pub fn discover(
        &mut self,
        frame: FrameId,
        goes_on: &mut GoesOn<'_>,
    ) -> Result<FrameDiscoveries> {
        if let Some(known) = self.searched(frame)?.filter(|_| !self.options.again) {
            return Ok(known);
        }
        let (discoveries, judged) = self.look(frame, goes_on)?;
        // A search that nothing leads anywhere is none: what was found before stands.
        if discoveries.candidates > 0 || self.missing().len() < SOURCES {
            self.write(&discoveries, &judged)?;
        }
        Ok(FrameDiscoveries { found: self.standing(frame)?, ..discoveries })
    }

    /// As [`discover`](Self::discover), but nothing is written, and only words of this search are
    /// given.
    ///
    /// # Errors
    /// As there.
    #[doc(hidden)]
    pub fn search(&mut self, frame: FrameId, goes_on: &mut GoesOn<'_>) -> Result<FrameDiscoveries> {
        Ok(self.look(frame, goes_on)?.0)
    }

    /// What a search finds, and the words that it said something of.
    fn look(
        &mut self,
        frame: FrameId,
        goes_on: &mut GoesOn<'_>,
    ) -> Result<(FrameDiscoveries, HashSet<String>)> {
        let (units, proposed) = units_of(self.database, self.release.id, frame)?;
        let said = match &mut self.rewriter {
            Some(rewriter) => {
                saying::said(rewriter, &units, (&self.lexicon, &self.morphology), goes_on)?
            }
            None => saying::Said::default(),
        };
        let sources = Sources {
            wordnets: &self.wordnets,
            vectors: self.lexicon.vectors(),
            is_english: is_english(&self.release.language),
            lexicon: &self.lexicon,
            morphology: &self.morphology,
            said: &said,
        };
        let lexicon = &self.lexicon;
        // An LU's name may have more than its lemma, as in `possession_of_goods.n`.
        let own: HashSet<Key> = units.iter().map(|of| of.unit.key()).collect();
        let is_known = |key: &Key| own.contains(key) || lexicon.has(key, frame);
        let elsewhere = elsewhere(self.database, &self.release, &self.lexicon.name(frame))?;
        let all = sources.candidates(&units, (&proposed, &elsewhere), &is_known)?;
        let candidates = all.len() as u32;
        let mut best: Vec<(Key, Candidate)> = all.into_iter().collect();
        let promise = |(key, of): &(Key, Candidate)| of.promise(words_of(key));
        best.sort_by(|a, b| promise(b).total_cmp(&promise(a)).then_with(|| a.0.cmp(&b.0)));
        let FrameAnswers { words, refused, left } = self.ask(frame, &units, best, goes_on)?;
        // What stands in names alone was not asked about.
        let nearer = refused.iter().filter(|of| !of.by.is_empty()).count();
        let is_asked = self.verifier.is_some();
        let count = if is_asked { words.len() + nearer + left } else { 0 };
        let judged = words.iter().map(|of| &of.name).chain(refused.iter().map(|of| &of.name));
        // What one sentence spoke for less is said nothing of: an earlier search may know more.
        let judged = judged.cloned().collect();
        let found = self.ranked(frame, &units, words);
        let discoveries = FrameDiscoveries {
            frame,
            name: self.lexicon.name(frame).to_string(),
            candidates,
            asked: count as u32,
            found,
            refused,
            was_searched: false,
        };
        Ok((discoveries, judged))
    }
}

/// How many words a lemma has.
fn words_of(key: &Key) -> usize {
    key.0.split(' ').count()
}
