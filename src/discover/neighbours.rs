//! Words that the LUs of a frame lead to: through a WordNet, by word vectors, by what a rewriter
//! says in their place; those that expansions proposed, and those that the frame has in other
//! releases.
//!
//! Each LU gives its *support* to the words that its synsets lead to, the more the closer the
//! relation is. A word that several LUs lead to has the sum. So the sense that an LU has in the
//! frame need not be known: what its other senses lead to stands alone.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::Result;
use super::saying::Said;
use super::units::{FrameUnit, Key};
use crate::database::DatabaseError;
use crate::expand::name_of;
use crate::lexicon::Wordnet;
use crate::model::{Pos, Synset, SynsetId, WordClass};
use crate::proposals::{KnownLemmas, name_refusal};
use crate::text::{Morphology, fold, is_listed_lemma};
use crate::vectors::{WordVectors, likeness};

/// What a relation gives to the words that it leads to.
const RELATIONS: [(&str, f32); 11] = [
    ("hyponym", 0.5),
    ("hypernym", 0.4),
    ("similar", 0.6),
    ("also", 0.3),
    ("antonym", 0.4),
    ("derivation", 0.4),
    ("pertainym", 0.3),
    ("participle", 0.3),
    ("attribute", 0.3),
    ("entails", 0.15),
    ("causes", 0.15),
];
/// Words of a synset that an LU is in.
const SYNONYM: f32 = 1.0;
/// A word that is derived from the LU's own.
const DERIVED: f32 = 0.8;
/// Other words below what is above an LU's synset, or beside the same head adjective.
const SISTER: f32 = 0.3;
/// So many sister synsets have that support each; of more of them each has less.
const SISTERS: f32 = 12.0;
/// How much less each further sense of an LU gives.
const FURTHER_SENSE: f32 = 0.3;
/// Words that are nearest by their vectors and are looked at.
const NEAREST: usize = 150;
/// Their least likeness.
const LEAST_LIKENESS: f32 = 0.35;
/// Most words of a lemma.
const MOST_WORDS: usize = 3;

/// A word that may be an LU of a frame.
#[derive(Debug, Clone, Default)]
pub(super) struct Candidate {
    /// What each LU gives, by its place among the frame's, and the relation that gives most.
    pub(super) by_unit: BTreeMap<usize, (f32, &'static str)>,
    /// Other ways in which it was come by.
    pub(super) others: Vec<String>,
    /// Whether the frame of the same name has it in another release.
    pub(super) is_elsewhere: bool,
    pub(super) likeness: Option<f32>,
    /// In place of how many LUs a rewriter says it.
    pub(super) said: usize,
}

impl Candidate {
    /// How much the frame's LUs lead to it.
    pub(super) fn support(&self) -> f32 {
        self.by_unit.values().fold(0.0, |sum, (support, _)| sum + support)
    }

    /// The LUs that lead to it, those that give most first.
    pub(super) fn supporters(&self) -> Vec<usize> {
        let mut units: Vec<usize> = self.by_unit.keys().copied().collect();
        units.sort_by(|a, b| self.by_unit[b].0.total_cmp(&self.by_unit[a].0));
        units
    }

    /// How it was come by, in words.
    pub(super) fn sources(&self, units: &[FrameUnit]) -> Vec<String> {
        let named = self.supporters().into_iter().map(|unit| {
            let relation = self.by_unit[&unit].1;
            format!("{relation} of {}", units[unit].name)
        });
        let mut sources: Vec<String> = Vec::new();
        // A frame may have two LUs of one name.
        for source in named.chain(self.others.iter().cloned()) {
            if !sources.contains(&source) {
                sources.push(source);
            }
        }
        sources
    }

    /// How likely it is worth asking about, before anybody was asked, where its lemma has so many
    /// words.
    pub(super) fn promise(&self, words: usize) -> f32 {
        let elsewhere = if self.is_elsewhere { ELSEWHERE } else { 0.0 };
        self.support().ln_1p()
            + SAID * (self.said as f32).ln_1p()
            + LIKENESS * self.likeness.unwrap_or(UNKNOWN_LIKENESS)
            + WORDS * (words as f32).ln()
            + elsewhere
    }
}

/// What a promise weighs beside the logarithm of 1 and the support: the logarithm of 1 and the LUs
/// in whose place a rewriter says a word, its likeness, the logarithm of the number of its words.
/// Fitted on the 60 frames that `training/judge/hidden.py` draws to fit on.
const SAID: f32 = 0.3;
const LIKENESS: f32 = 1.6;
const WORDS: f32 = -1.3;

/// What an LU of the frame in another release counts more.
pub(super) const ELSEWHERE: f32 = 2.0;

/// What a word without a vector counts as.
pub(super) const UNKNOWN_LIKENESS: f32 = 0.3;

/// Candidates by lemma and part of speech.
pub(super) type Candidates = HashMap<Key, Candidate>;

/// Where the words come from.
pub(super) struct Sources<'s, 'd> {
    pub(super) wordnets: &'s [Wordnet<'d>],
    pub(super) vectors: Option<&'s WordVectors>,
    pub(super) is_english: bool,
    pub(super) lexicon: &'s KnownLemmas<'s>,
    pub(super) morphology: &'s Morphology,
    /// What a rewriter says in place of the frame's LUs.
    pub(super) said: &'s Said,
}

impl Sources<'_, '_> {
    /// The words that the LUs of a frame lead to, of the parts of speech that they have, without
    /// those that `is_known` says are the frame's.
    pub(super) fn candidates(
        &self,
        units: &[FrameUnit],
        (proposed, elsewhere): (&[Key], &[(Key, String)]),
        is_known: &dyn Fn(&Key) -> bool,
    ) -> Result<Candidates> {
        let classes: HashSet<Pos> =
            units.iter().filter(|unit| unit.is_shown()).map(|unit| unit.unit.pos).collect();
        let mut found = Candidates::new();
        for (at, unit) in units.iter().enumerate() {
            for wordnet in self.wordnets {
                let mut walk = Walk { wordnet, at, synsets: HashMap::new(), found: &mut found };
                walk.unit(unit)?;
            }
        }
        for key in proposed {
            found.entry(key.clone()).or_default().others.push("expansion".to_owned());
        }
        for (key, release) in elsewhere {
            let candidate = found.entry(key.clone()).or_default();
            candidate.is_elsewhere = true;
            candidate.others.push(format!("LU in {release}"));
        }
        for (key, of) in self.said {
            let candidate = found.entry(key.clone()).or_default();
            candidate.said = of.len();
            candidate.others.extend(of.iter().map(|unit| format!("substitute for {unit}")));
        }
        self.add_alike(units, &classes, &mut found)?;
        found.retain(|key, _| {
            classes.contains(&key.1)
                && !is_known(key)
                && key.0.split(' ').count() <= MOST_WORDS
                && name_refusal(key, self.is_english).is_none()
        });
        self.add_likeness(units, &mut found);
        Ok(found)
    }

    /// The vectors of the frame's LUs.
    fn directions(&self, units: &[FrameUnit]) -> Vec<Vec<f32>> {
        let Some(vectors) = self.vectors else { return Vec::new() };
        units.iter().filter_map(|unit| vectors.of(&unit.unit.lemma)).collect()
    }

    fn add_likeness(&self, units: &[FrameUnit], found: &mut Candidates) {
        let directions = self.directions(units);
        let Some(vectors) = self.vectors.filter(|_| !directions.is_empty()) else { return };
        for (key, candidate) in found {
            candidate.likeness = vectors.of(&key.0).map(|own| likeness(&own, &directions));
        }
    }

    /// Adds the words whose vectors are nearest, as each part of speech that they are known to be.
    fn add_alike(
        &self,
        units: &[FrameUnit],
        classes: &HashSet<Pos>,
        found: &mut Candidates,
    ) -> Result<()> {
        let directions = self.directions(units);
        let Some(vectors) = self.vectors.filter(|_| !directions.is_empty()) else { return Ok(()) };
        let mut alike: Vec<(f32, &str)> = vectors
            .iter()
            .map(|(word, own)| (likeness(&own, &directions), word))
            .filter(|(likeness, _)| *likeness >= LEAST_LIKENESS)
            .collect();
        alike.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        for (_, word) in alike.into_iter().take(NEAREST) {
            for pos in classes {
                if self.is_lemma(word, *pos)? {
                    found
                        .entry((word.to_owned(), *pos))
                        .or_default()
                        .others
                        .push("vectors".to_owned());
                }
            }
        }
        Ok(())
    }

    /// Whether a word is known as a lemma of a part of speech: to a WordNet, else to the lexicon.
    /// What neither of them knows at all may be any, unless it is a form of another word.
    fn is_lemma(&self, word: &str, pos: Pos) -> Result<bool> {
        let Some(class) = WordClass::of_pos(pos) else { return Ok(false) };
        for wordnet in self.wordnets {
            if wordnet.word(word, class)?.is_some() {
                return Ok(true);
            }
        }
        let key = (fold(word), pos);
        if self.lexicon.knows(&key) || self.is_english && is_listed_lemma(word, pos) {
            return Ok(true);
        }
        let is_known = CONTENT.iter().any(|other| self.lexicon.knows(&(key.0.clone(), *other)));
        let is_form = || self.morphology.lemmatize(word, pos, &|_, _| false).0 != word;
        Ok(self.wordnets.is_empty() && !is_known && !is_form())
    }
}

/// The words of its part of speech that a lemma leads to through WordNets, with how much it does,
/// and those that are like it by word vectors, of whatever part of speech, with how much they are.
/// The greatest number comes first; the lemma is none of them.
///
/// # Errors
/// When the database fails.
pub fn words_near(
    (wordnets, vectors): (&[Wordnet<'_>], Option<&WordVectors>),
    (lemma, pos): (&str, Pos),
) -> Result<Vec<(String, f32)>> {
    let unit = FrameUnit::new(name_of(lemma, pos));
    let mut found = Candidates::new();
    for wordnet in wordnets {
        Walk { wordnet, at: 0, synsets: HashMap::new(), found: &mut found }.unit(&unit)?;
    }
    let own = fold(lemma);
    let of_class = found.into_iter().filter(|(key, _)| key.1 == pos);
    let mut near: Vec<(String, f32)> =
        of_class.map(|((word, _), of)| (word, of.support())).collect();
    if let Some((vectors, direction)) = vectors.and_then(|of| Some((of, of.of(lemma)?))) {
        let directions = [direction];
        near.extend(vectors.iter().map(|(word, of)| (word.to_owned(), likeness(&of, &directions))));
    }
    near.retain(|(word, of)| *word != own && *of > 0.0);
    near.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    Ok(near)
}

/// Parts of speech of content words.
const CONTENT: [Pos; 4] = [Pos::Verb, Pos::Noun, Pos::Adjective, Pos::Adverb];

/// The way from one LU through a WordNet.
struct Walk<'w, 'd> {
    wordnet: &'w Wordnet<'d>,
    at: usize,
    synsets: HashMap<SynsetId, Option<Synset>>,
    found: &'w mut Candidates,
}

impl Walk<'_, '_> {
    fn unit(&mut self, unit: &FrameUnit) -> Result<()> {
        let Some(class) = WordClass::of_pos(unit.unit.pos) else { return Ok(()) };
        let lemma = fold(&unit.unit.lemma);
        let synsets = self.wordnet.synsets_of_lemma(&lemma, class)?;
        for (rank, synset) in synsets.into_iter().enumerate() {
            let share = 1.0 / (1.0 + FURTHER_SENSE * rank as f32);
            self.give(&synset, SYNONYM * share, "synonym");
            self.relations(&synset, &lemma, share)?;
        }
        Ok(())
    }

    fn relations(&mut self, synset: &Synset, lemma: &str, share: f32) -> Result<()> {
        let own = synset.members.iter().position(|member| fold(member) == lemma);
        let own = own.map_or(0, |at| at as u16 + 1);
        for relation in &synset.relations {
            let kind = RELATIONS.iter().find(|(kind, _)| *kind == relation.kind);
            let Some((kind, support)) = kind else { continue };
            let Some(target) = self.synset(relation.target)? else { continue };
            self.give(&target, support * share, kind);
            if relation.words.0 == own && own > 0 && relation.words.1 > 0 {
                let word = target.members.get(usize::from(relation.words.1) - 1);
                if let Some(word) = word {
                    self.give_word(&target, word, DERIVED * share, kind);
                }
            }
            if ["hypernym", "similar"].contains(kind) {
                self.sisters(synset.id, &target, kind, share)?;
            }
        }
        Ok(())
    }

    /// What is below the synset above, or beside the same head adjective.
    fn sisters(&mut self, own: SynsetId, above: &Synset, kind: &str, share: f32) -> Result<()> {
        let down = if kind == "hypernym" { "hyponym" } else { "similar" };
        let sisters = above.relations.iter().filter(|of| of.kind == down && of.target != own);
        let sisters: Vec<SynsetId> = sisters.map(|of| of.target).collect();
        let each = SISTER * share * (SISTERS / sisters.len().max(1) as f32).min(1.0);
        for sister in sisters {
            if let Some(sister) = self.synset(sister)? {
                self.give(&sister, each, "sister");
            }
        }
        Ok(())
    }

    fn synset(&mut self, id: SynsetId) -> std::result::Result<Option<Synset>, DatabaseError> {
        if let Some(known) = self.synsets.get(&id) {
            return Ok(known.clone());
        }
        let synset = self.wordnet.synset(id)?;
        self.synsets.insert(id, synset.clone());
        Ok(synset)
    }

    fn give(&mut self, synset: &Synset, support: f32, relation: &'static str) {
        for member in &synset.members {
            self.give_word(synset, member, support, relation);
        }
    }

    fn give_word(&mut self, of: &Synset, word: &str, support: f32, relation: &'static str) {
        // Names of people, places and kinds of beings.
        let is_name = word.chars().any(char::is_uppercase);
        let Some(pos) = of.class.pos().filter(|_| !is_name) else { return };
        let candidate = self.found.entry((fold(word), pos)).or_default();
        let given = candidate.by_unit.entry(self.at).or_insert((0.0, relation));
        if support > given.0 {
            *given = (support, relation);
        }
    }
}
