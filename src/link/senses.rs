//! Links of LUs to synsets.
//!
//! A synset's claim is the sum of what speaks for it. The scores of an LU's synsets are their
//! shares of the exponentials of the claims. So a word with one synset has a high score, and one
//! with many similar synsets has low ones.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::known::sense_of;
use super::{Linker, Result, Unit};
use crate::engine::GoesOn;
use crate::lexica::wordnet_lemma;
use crate::lexicon::Wordnet;
use crate::model::{Frame, Link, LinkSource, Pos, Synset, WordClass};
use crate::text::{Idf, fold, is_stop_word, lemma_readings, words};

/// What a frame's definition weighs beside an LU's.
pub(super) const OF_FRAME: f32 = 0.3;
/// What examples and what is above weigh beside a gloss.
const OF_EXAMPLES: f32 = 0.3;
const OF_ABOVE: f32 = 0.3;
/// What the likeness of the definitions counts, from 0 to 1.
const LIKENESS: f32 = 6.0;
/// What the frame's other LUs count among a synset's own words, and among those around it.
const SISTERS: f32 = 1.5;
const AROUND: f32 = 0.5;
/// What they count together at most.
const MOST_SISTERS: f32 = 3.0;
/// What the order of senses counts: the first has all of it, the second half.
const FIRST_SENSE: f32 = 1.5;
/// What it counts where SemLink names the sense.
const SEMLINK: f32 = 4.0;
/// What a verifier's answer counts between no and yes.
const ANSWER: f32 = 3.0;
/// Synsets of an LU, with the highest claims, that a verifier is asked about.
const ASKED: usize = 4;
/// A claim that any LU has against all its synsets.
const NONE_OF_THEM: f32 = 0.5;

/// Words of a text that say something, each as the shortest lemma that it may be of.
pub(super) fn stems(text: &str) -> Vec<String> {
    let of_text = words(text).into_iter().filter_map(|word| word.of(text));
    let telling = of_text.filter(|word| {
        word.chars().all(char::is_alphabetic) && word.chars().count() > 2 && !is_stop_word(word)
    });
    telling.map(stem).collect()
}

fn stem(word: &str) -> String {
    let folded = fold(word);
    let readings = [Pos::Verb, Pos::Noun].into_iter().flat_map(|pos| lemma_readings(&folded, pos));
    let readings = readings.filter(|reading| reading.len() > 2);
    readings.min_by_key(|reading| reading.len()).unwrap_or(folded)
}

pub(super) fn add(to: &mut BTreeMap<String, f32>, stems: &[String], weight: f32) {
    for stem in stems {
        let known = to.entry(stem.clone()).or_default();
        *known = known.max(weight);
    }
}

/// A synset with what speaks for it.
struct Claim {
    wordnet: usize,
    synset: Synset,
    claim: f32,
    source: LinkSource,
}

/// Sense keys of the synsets that an LU is linked to, each with the link's score.
pub(super) type ScoredKeys = Vec<(String, f32)>;

impl Linker<'_> {
    /// The synsets of an LU.
    pub(super) fn senses(
        &mut self,
        frame: &Frame,
        units: &[Unit],
        unit: &Unit,
        goes_on: &mut GoesOn<'_>,
    ) -> Result<(Vec<Link>, ScoredKeys)> {
        let (mut links, mut keys) = (Vec::new(), Vec::new());
        let Some(class) = WordClass::of_pos(unit.pos) else { return Ok((links, keys)) };
        self.read_idf()?;
        let sisters: HashSet<&str> =
            units.iter().map(|of| &*of.lemma).filter(|lemma| *lemma != unit.lemma).collect();
        let named = self.named_senses(frame, unit);
        for at in 0..self.wordnets.len() {
            let mut synsets = self.wordnets[at].synsets_of_lemma(&unit.lemma, class)?;
            if synsets.is_empty() {
                synsets = self.wordnets[at].synsets_of(&unit.lemma, class)?;
            }
            let mut claims = Vec::new();
            for (rank, synset) in synsets.into_iter().enumerate() {
                claims.push(self.claim(unit, &sisters, &named, (at, rank), synset)?);
            }
            claims.sort_by(|a, b| b.claim.total_cmp(&a.claim));
            if claims.len() > 1 && self.verifier.is_some() {
                for claim in claims.iter_mut().take(ASKED) {
                    if let Some(evokes) = self.evokes(frame, unit, &claim.synset, goes_on)? {
                        claim.claim += ANSWER * (evokes - 0.5);
                        if evokes > 0.5 && claim.source != LinkSource::Semlink {
                            claim.source = LinkSource::Model;
                        }
                    }
                }
                claims.sort_by(|a, b| b.claim.total_cmp(&a.claim));
            }
            let all: f32 = claims.iter().map(|of| of.claim.exp()).sum::<f32>() + NONE_OF_THEM.exp();
            for Claim { wordnet, synset, claim, source } in claims {
                let score = claim.exp() / all;
                keys.extend(synset.keys.iter().map(|key| (sense_of(key).to_owned(), score)));
                links.push(Link {
                    resource: self.wordnets[wordnet].resource().name.clone(),
                    target: synset.written,
                    number: synset.id.0,
                    role: String::new(),
                    score,
                    source,
                    decisions: Vec::new(),
                });
            }
        }
        Ok((links, keys))
    }

    fn claim(
        &self,
        unit: &Unit,
        sisters: &HashSet<&str>,
        named: &BTreeSet<String>,
        (wordnet, rank): (usize, usize),
        synset: Synset,
    ) -> Result<Claim> {
        let mut own = BTreeMap::new();
        add(&mut own, &stems(&synset.definitions.join(" ")), 1.0);
        add(&mut own, &stems(&synset.examples.join(" ")), OF_EXAMPLES);
        let members = synset.members.iter().map(|member| wordnet_lemma(member));
        let members: Vec<String> = members.filter(|member| *member != unit.lemma).collect();
        members.iter().for_each(|member| add(&mut own, &stems(member), 1.0));
        let (mut around, mut above) = (BTreeSet::new(), BTreeMap::new());
        for relation in &synset.relations {
            let Some(other) = self.wordnets[wordnet].synset(relation.target)? else { continue };
            around.extend(other.members.iter().map(|member| wordnet_lemma(member)));
            if relation.kind == "hypernym" {
                add(&mut above, &stems(&other.definitions.join(" ")), OF_ABOVE);
                other.members.iter().for_each(|it| add(&mut above, &stems(it), OF_ABOVE));
            }
        }
        for (word, weight) in above {
            own.entry(word).or_insert(weight);
        }
        let idf = self.idf.as_ref();
        let likeness = idf.map_or(0.0, |idf| cosine(idf, &unit.words, &own));
        let among = members.iter().filter(|it| sisters.contains(it.as_str())).count() as f32;
        let near = around.iter().filter(|it| sisters.contains(it.as_str())).count() as f32;
        let sisters = (SISTERS * among + AROUND * near).min(MOST_SISTERS);
        let is_named = synset.keys.iter().any(|key| named.contains(sense_of(key)));
        let semlink = if is_named { SEMLINK } else { 0.0 };
        let words = LIKENESS * likeness + sisters;
        let source = match () {
            () if is_named => LinkSource::Semlink,
            () if words > 0.0 => LinkSource::Definition,
            () => LinkSource::Name,
        };
        let claim = words + semlink + FIRST_SENSE / (rank + 1) as f32;
        Ok(Claim { wordnet, synset, claim, source })
    }

    /// The senses that other lexicons name for an LU: those of a word of a class that is linked to
    /// the frame, and those of rows with frame and word.
    fn named_senses(&self, frame: &Frame, unit: &Unit) -> BTreeSet<String> {
        let mut named = BTreeSet::new();
        for held in self.known.of_word(&unit.lemma, unit.letter()) {
            for member in &held.predicate.members {
                if wordnet_lemma(&member.lemma) == unit.lemma
                    && self.is_of_frame(frame, unit, held, member)
                {
                    named.extend(member.senses.iter().map(|key| sense_of(key).to_owned()));
                }
            }
        }
        let rows = self.known.of_frame(&frame.name);
        let rows = rows.filter(|row| !row.sense.is_empty() && row.lemma == unit.lemma);
        named.extend(rows.map(|row| sense_of(&row.sense).to_owned()));
        named
    }

    /// Reads the words of the glosses, once.
    fn read_idf(&mut self) -> Result<()> {
        if self.idf.is_none() {
            let mut idf = Idf::default();
            for wordnet in &self.wordnets {
                read_glosses(wordnet, &mut idf)?;
            }
            self.idf = Some(idf);
        }
        Ok(())
    }
}

fn read_glosses(wordnet: &Wordnet<'_>, idf: &mut Idf) -> Result<()> {
    for synset in wordnet.synsets()? {
        idf.add(&stems(&synset?.definitions.join(" ")).join(" "));
    }
    Ok(())
}

/// The cosine of two texts' words, weighted by IDF and by where they stand.
fn cosine(idf: &Idf, a: &BTreeMap<String, f32>, b: &BTreeMap<String, f32>) -> f32 {
    let weight = |word: &str, of: f32| of * idf.of(word) as f32;
    let length = |of: &BTreeMap<String, f32>| {
        of.iter().map(|(word, of)| weight(word, *of).powi(2)).sum::<f32>().sqrt()
    };
    let shared =
        a.iter().filter_map(|(word, of)| Some(weight(word, *of) * weight(word, *b.get(word)?)));
    let shared: f32 = shared.sum();
    if shared == 0.0 { 0.0 } else { shared / (length(a) * length(b)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_compared_whatever_their_form() {
        assert_eq!(
            stems("Looked at the charts, looking closely"),
            ["look", "chart", "look", "closely"]
        );
        let of = |text: &str| {
            let mut words = BTreeMap::new();
            add(&mut words, &stems(text), 1.0);
            words
        };
        let idf = Idf::new(["look chart", "look close", "go"]);
        let (a, b) = (of("looks at charts"), of("look at a chart"));
        assert!((cosine(&idf, &a, &b) - 1.0).abs() < 1e-6);
        assert_eq!(cosine(&idf, &a, &of("went")), 0.0);
        assert!(cosine(&idf, &a, &of("looked")) < cosine(&idf, &a, &of("chart")));
    }
}
