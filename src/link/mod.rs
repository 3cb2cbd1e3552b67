//! Links of LUs and FEs to synsets, to classes of VerbNet and rolesets of PropBank, and to their
//! roles.
//!
//! Candidates have the LU's lemma and part of speech. Synsets are told apart by the words of both
//! definitions, weighted by IDF, by the frame's other LUs among the words around a synset, by the
//! order of senses, and by what SemLink says (`senses.rs`). Classes and rolesets are told apart by
//! what SemLink or they say of the frame, by the synsets that their words share with the LU, and by
//! definitions; FEs are linked to roles by SemLink, by links of rolesets, and by name
//! (`predicates.rs`). A verifier may be asked whether examples of a synset evoke the frame
//! (`asking.rs`). People accept and reject links (`deciding.rs`).

mod asking;
mod deciding;
mod error;
mod known;
mod predicates;
mod senses;

use std::collections::{BTreeMap, HashMap};
use std::time::{SystemTime, UNIX_EPOCH};

pub use deciding::{LinkFate, LinkPlace};
pub use error::LinkError;

use crate::database::{Database, Write};
use crate::engine::GoesOn;
use crate::expand::FrameQuestions;
use crate::lexicon::Wordnet;
use crate::model::{
    FeId, Frame, FrameId, LexUnit, Link, LinkSource, LinkSubject, Links, PROPOSED, Pos, Release,
    WordClass, is_same_language,
};
use crate::text::{Idf, fold, plain_definition, plain_lemma};
use crate::verify::Verifier;
use known::Known;

type Result<T> = std::result::Result<T, LinkError>;

/// The way links are computed; another way computes anew what an earlier one did.
const WAY: u32 = 1;

/// How links are computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkOptions {
    /// Least score of a link that is kept. Scores are shares, and a word may mean several synsets
    /// in a frame: of half of the judged LUs 0.13 had the best F1.
    pub least: f32,
    /// Whether links are computed again that were computed in the same way.
    pub again: bool,
}

impl Default for LinkOptions {
    fn default() -> Self {
        Self { least: 0.13, again: false }
    }
}

/// What was linked of a frame.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FrameLinks {
    /// The frame's name.
    pub frame: String,
    /// Its LUs, without proposed ones.
    pub lexunits: u32,
    /// Those with a link.
    pub linked: u32,
    /// Links of LUs and FEs that stand.
    pub links: u32,
    /// LUs and FEs whose links were computed; 0 where all were as they are.
    pub computed: u32,
}

/// An LU that is to be linked.
struct Unit {
    lu: LexUnit,
    /// Its lemma as running text in small letters.
    lemma: String,
    pos: Pos,
    words: BTreeMap<String, f32>,
}

impl Unit {
    /// The letter that other lexicons have for its part of speech.
    fn letter(&self) -> &'static str {
        WordClass::of_pos(self.pos).map_or("x", WordClass::as_str)
    }
}

/// Links the LUs and FEs of a release.
pub struct Linker<'a> {
    database: &'a Database,
    release: Release,
    wordnets: Vec<Wordnet<'a>>,
    known: Known,
    /// Of the glosses, read when they are first needed.
    idf: Option<Idf>,
    verifier: Option<&'a mut Verifier>,
    questions: FrameQuestions,
    options: LinkOptions,
}

impl<'a> Linker<'a> {
    /// Links a release to all resources of its language in the database. Without a verifier,
    /// synsets are told apart by words alone.
    ///
    /// # Errors
    /// When there is no such release, or the database fails.
    pub fn new(
        database: &'a Database,
        release: &str,
        verifier: Option<&'a mut Verifier>,
        options: LinkOptions,
    ) -> Result<Self> {
        let release = database.lexicon(release)?.release().clone();
        let mut wordnets = database.wordnets()?;
        wordnets.retain(|of| is_same_language(&of.resource().language, &release.language));
        let verifier =
            verifier.filter(|of| database.check_language(of.declared(), &release).is_ok());
        Ok(Self {
            known: Known::read(database, &release.language)?,
            database,
            release,
            wordnets,
            idf: None,
            verifier,
            questions: FrameQuestions::default(),
            options,
        })
    }

    /// Whether there is anything to link to.
    #[must_use]
    pub fn has_resources(&self) -> bool {
        !(self.wordnets.is_empty() && self.known.is_empty())
    }

    /// Computes the links of a frame's LUs and FEs, and writes them in one commit. What was
    /// computed of the same in the same way is left as it is. Links that somebody added or decided
    /// on stay.
    ///
    /// # Errors
    /// When the database or the verifier fails. Whoever `goes_on` stops gets an error of which
    /// [`LinkError::is_stopped`] says so, and nothing of the frame is written.
    pub fn link(&mut self, frame: &Frame, goes_on: &mut GoesOn<'_>) -> Result<FrameLinks> {
        let units = self.units(frame)?;
        let made_of = self.made_of(frame, &units);
        let store = self.database.store();
        let there = self.stored(frame)?;
        let mut done = FrameLinks {
            frame: frame.name.clone(),
            lexunits: units.len() as u32,
            ..FrameLinks::default()
        };
        let is_same = |links: &Links| links.made_of == made_of;
        let lus = units.iter().map(|unit| LinkSubject::LexUnit(unit.lu.id));
        let elements = frame.elements.iter().map(|element| LinkSubject::Element(element.id));
        let has_all = lus.chain(elements).all(|of| there.get(&of).is_some_and(is_same));
        if self.options.again || !has_all {
            let rows = self.compute(frame, &units, made_of, goes_on)?;
            // Somebody may have decided meanwhile.
            let there = self.stored(frame)?;
            let mut write = Write::default();
            for mut row in rows {
                let before = there.get(&row.of);
                keep_decided(&mut row, before);
                let is_other = before.is_none_or(|before| before.links != row.links);
                done.computed += 1;
                // An LU without links has a row, too: it was looked at.
                if is_other || before.is_some_and(|before| before.made_of != made_of) {
                    write.links.push(row);
                }
            }
            if !write.is_empty() {
                self.database.write(self.release.id, &write)?;
            }
        }
        for row in store.links_of(self.release.id, frame.id)? {
            let row = row?;
            let standing = row.links.iter().filter(|link| link.stands()).count() as u32;
            done.links += standing;
            done.linked += u32::from(matches!(row.of, LinkSubject::LexUnit(_)) && standing > 0);
        }
        Ok(done)
    }

    /// What was linked of a frame before, also to lexicons that are gone.
    fn stored(&self, frame: &Frame) -> Result<HashMap<LinkSubject, Links>> {
        let there = self.database.store().stored_links_of(self.release.id, frame.id)?;
        Ok(there.map(|row| row.map(|row| (row.of, row))).collect::<std::result::Result<_, _>>()?)
    }

    fn compute(
        &mut self,
        frame: &Frame,
        units: &[Unit],
        made_of: [u8; 16],
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Vec<Links>> {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |age| age.as_secs());
        let row = |of, links| Links { frame: frame.id, of, links, made_of, time };
        let mut rows = Vec::new();
        let mut of_units = Vec::new();
        for unit in units {
            let (mut links, keys) = self.senses(frame, units, unit, goes_on)?;
            let predicates = self.predicates(frame, unit, &keys);
            of_units.extend(predicates.iter().cloned());
            links.extend(predicates);
            links.retain(|link| link.score >= self.options.least);
            rows.push(row(LinkSubject::LexUnit(unit.lu.id), links));
        }
        let likely = self.likely(&of_units);
        for element in &frame.elements {
            let mut links = self.roles(frame, &element.name, &likely);
            links.retain(|link| link.score >= self.options.least);
            rows.push(row(LinkSubject::Element(element.id), links));
        }
        Ok(rows)
    }

    /// The LUs of a frame's lexicon, each with the words of its definition and, with less weight,
    /// of the frame's.
    fn units(&mut self, frame: &Frame) -> Result<Vec<Unit>> {
        let mut units = Vec::new();
        let of_frame = senses::stems(&plain_definition(&frame.definition));
        for lu in self.database.store().lexunits_of(self.release.id, frame.id)? {
            let lu = lu?;
            if lu.status == PROPOSED {
                continue;
            }
            let lemma = lu.name.rsplit_once('.').map_or(&*lu.name, |(lemma, _)| lemma);
            let lemma = fold(&plain_lemma(lemma));
            let definition = plain_definition(&lu.definition);
            // COD, FN and other dictionaries stand before a colon.
            let said = match definition.split_once(':') {
                Some((source, said)) if !source.contains(' ') => said,
                _ => &definition,
            };
            let mut words = BTreeMap::new();
            senses::add(&mut words, &senses::stems(said), 1.0);
            senses::add(&mut words, &of_frame, senses::OF_FRAME);
            units.push(Unit { pos: Pos::of_lu_name(&lu.name), lemma, words, lu });
        }
        Ok(units)
    }

    /// Of what a frame's links are made, and how.
    fn made_of(&self, frame: &Frame, units: &[Unit]) -> [u8; 16] {
        let mut hash = blake3::Hasher::new();
        let mut add = |part: &str| {
            hash.update(&(part.len() as u64).to_be_bytes());
            hash.update(part.as_bytes());
        };
        add(&format!("{WAY} {} {}", self.options.least, frame.name));
        add(&frame.definition);
        frame.elements.iter().for_each(|element| add(&element.name));
        for unit in units {
            add(&unit.lu.name);
            add(&unit.lu.definition);
        }
        for wordnet in &self.wordnets {
            add(&format!("{} {}", wordnet.resource().name, wordnet.resource().imported));
        }
        self.known.identities().iter().for_each(|of| add(of));
        if let Some(verifier) = &self.verifier {
            add(&verifier.fingerprint().to_string());
        }
        let mut half = [0; 16];
        half.copy_from_slice(&hash.finalize().as_bytes()[..16]);
        half
    }
}

/// Puts into new links what people decided of them, and those that somebody added.
fn keep_decided(row: &mut Links, before: Option<&Links>) {
    for old in before.into_iter().flat_map(|before| &before.links) {
        if old.decisions.is_empty() && old.source != LinkSource::User {
            continue;
        }
        match row.links.iter_mut().find(|link| link.is_same_place(old)) {
            Some(link) => link.decisions.extend(old.decisions.iter().cloned()),
            None => row.links.push(old.clone()),
        }
    }
    row.links.sort_by(|a, b| a.resource.cmp(&b.resource).then_with(|| b.score.total_cmp(&a.score)));
}

/// Synsets that a frame's LUs are linked to, each with the mean of the links' scores over all its
/// LUs and the LUs' numbers; the likeliest first.
///
/// # Errors
/// When the store fails.
pub fn frame_synsets(
    database: &Database,
    release: &Release,
    frame: FrameId,
) -> Result<Vec<(Link, usize)>> {
    let store = database.store();
    let wordnets = database.wordnets()?;
    let is_wordnet = |name: &str| wordnets.iter().any(|wordnet| wordnet.resource().name == name);
    let mut found: BTreeMap<(String, String), (Link, usize)> = BTreeMap::new();
    let mut units = 0;
    for row in store.links_of(release.id, frame)? {
        let row = row?;
        if !matches!(row.of, LinkSubject::LexUnit(_)) {
            continue;
        }
        units += 1;
        for link in row.links.into_iter().filter(|link| link.stands()) {
            if is_wordnet(&link.resource) {
                let score = if link.standing().is_some() { 1.0 } else { link.score };
                let key = (link.resource.clone(), link.target.clone());
                let sum = found.entry(key).or_insert((Link { score: 0.0, ..link }, 0));
                sum.0.score += score;
                sum.0.decisions.clear();
                sum.1 += 1;
            }
        }
    }
    let mut all: Vec<(Link, usize)> = found.into_values().collect();
    all.iter_mut().for_each(|(link, _)| link.score /= units.max(1) as f32);
    all.sort_by(|a, b| b.0.score.total_cmp(&a.0.score).then_with(|| a.0.target.cmp(&b.0.target)));
    Ok(all)
}

/// The FE of a name, in any case.
#[must_use]
pub fn element_called(frame: &Frame, name: &str) -> Option<FeId> {
    let name = fold(name);
    frame.elements.iter().find(|element| fold(&element.name) == name).map(|element| element.id)
}
