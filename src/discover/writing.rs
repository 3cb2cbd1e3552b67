//! What a search found goes into the store, and comes back.

use std::collections::HashSet;
use std::time::{SystemTime, UNIX_EPOCH};

use super::{Corpus, DiscoverError, DiscoverOptions, Discoverer, FrameDiscoveries, Result};
use crate::database::Write;
use crate::expand::{Unit, free_number, proposed_unit};
use crate::model::{Discovery, FoundSentence, FrameId, LexUnit, LuId, PROPOSED, Pos, is_counted};

/// Changes where other words are asked about, or they are ranked in another way.
const RULES: u32 = 2;

/// Seconds since 1970.
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |age| age.as_secs())
}

impl Discoverer<'_> {
    /// The first half of the verifier's fingerprint; zeros for none.
    pub(super) fn verifier_id(&self) -> [u8; 16] {
        let mut half = [0; 16];
        if let Some(verifier) = &self.verifier {
            half.copy_from_slice(&verifier.fingerprint().0[..16]);
        }
        half
    }

    /// What a search is made with: another one may find other words.
    pub(super) fn ways(&self) -> Vec<String> {
        let DiscoverOptions { candidates, sentences, least, .. } = self.options;
        let mut ways: Vec<String> =
            self.wordnets.iter().map(|wordnet| wordnet.resource().name.clone()).collect();
        let models = [
            ("word vectors", self.lexicon.vectors().map(|of| of.fingerprint().to_string())),
            ("rewriter", self.rewriter.as_ref().map(|of| of.fingerprint().to_string())),
            ("tagger", self.tagger.map(|of| of.fingerprint().to_string())),
        ];
        let told = models.into_iter().filter_map(|(name, of)| Some((name, of?)));
        ways.extend(told.map(|(name, of)| format!("{name} {}", &of[..16])));
        ways.extend(self.corpus.map(Corpus::identity));
        let rules = format!("rules {RULES}");
        ways.push(format!("{candidates} words, {sentences} sentences, score {least}, {rules}"));
        ways
    }

    /// What was found of a frame, if it was searched in this way. Without a verifier, what one said
    /// stands, unless there is a corpus to find sentences in.
    pub(super) fn searched(&self, frame: FrameId) -> Result<Option<FrameDiscoveries>> {
        let Some(search) = self.database.store().discovery(self.release.id, frame, "")? else {
            return Ok(None);
        };
        let is_same = search.verifier == self.verifier_id() && search.sources == self.ways();
        if !is_same && (self.corpus.is_some() || !self.knows_less(&search)) {
            return Ok(None);
        }
        Ok(Some(FrameDiscoveries {
            frame,
            name: self.lexicon.name(frame).to_string(),
            candidates: search.candidates,
            asked: search.asked,
            found: self.standing(frame)?,
            refused: search.refused,
            was_searched: true,
        }))
    }

    /// Whether a verifier was asked then, and none is now.
    fn knows_less(&self, before: &Discovery) -> bool {
        self.verifier.is_none() && before.verifier != [0; 16]
    }

    /// What searches found of a frame, but for what was decided on, renamed or removed since; the
    /// likeliest first.
    pub(super) fn standing(&self, frame: FrameId) -> Result<Vec<Discovery>> {
        let store = self.database.store();
        let mut found = Vec::new();
        for of in store.discoveries_of(self.release.id, frame)? {
            let of = of?;
            let lu = store.lexunit(self.release.id, frame, of.lu)?;
            let is_open = lu.is_some_and(|lu| lu.status == PROPOSED && lu.name == of.name);
            if is_open && !self.lexicon.has(&Unit::new(&of.name).key(), frame) {
                found.push(of);
            }
        }
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.name.cmp(&b.name)));
        Ok(found)
    }

    /// Writes what was found in one commit: proposed LUs, and a row for each beside them. It takes
    /// the place of what earlier searches found of the same words. What was `judged` and not found
    /// goes, unless somebody wrote a sentence with it, or the LU is not as a search proposes it.
    /// Nothing goes that a verifier was asked about where none is asked now.
    pub(super) fn write(&self, of: &FrameDiscoveries, judged: &HashSet<String>) -> Result<()> {
        let (store, release) = (self.database.store(), self.release.id);
        let mut write = Write::default();
        let there = store.lexunits_of(release, of.frame)?;
        let mut there: Vec<LexUnit> = there.collect::<std::result::Result<_, _>>()?;
        for found in &of.found {
            let unit = Unit::new(&found.name);
            let is_it = |lu: &&LexUnit| lu.status == PROPOSED && Unit::of(lu).key() == unit.key();
            let mut found = found.clone();
            if let Some(known) = there.iter().find(is_it) {
                (found.lu, found.name) = (known.id, known.name.clone());
            } else {
                let is_taken =
                    |lu: LuId| Ok::<_, DiscoverError>(there.iter().any(|of| of.id == lu));
                found.lu = free_number(of.frame, &found.name, is_taken)?;
                let lu = proposed(of.frame, found.lu, &found.name);
                write.lexunits.push(lu.clone());
                there.push(lu);
            }
            let before = store.discovery(release, of.frame, &found.name)?;
            write.discoveries.push(match before.filter(|before| self.knows_less(before)) {
                Some(before) => with_attested(before, found.sentences),
                None => found,
            });
        }
        for before in store.discoveries_of(release, of.frame)? {
            let before = before?;
            let is_attested = before.sentences.iter().any(|of| of.made_of.is_none());
            let is_found = write.discoveries.iter().any(|of| of.name == before.name);
            let goes = !is_found && !is_attested && judged.contains(&before.name);
            let lu = there.iter().find(|lu| lu.id == before.lu && lu.name == before.name);
            if let Some(lu) = lu.filter(|_| goes && !self.knows_less(&before)) {
                write.withdrawn.extend(is_untouched(lu).then(|| lu.clone()));
            }
        }
        let before = store.discovery(release, of.frame, "")?;
        if !before.is_some_and(|before| self.knows_less(&before)) {
            write.discoveries.push(self.search_row(of));
        }
        if !write.is_empty() {
            self.database.write(release, &write)?;
        }
        Ok(())
    }
}

/// The LU that a search proposes.
fn proposed(frame: FrameId, lu: LuId, name: &str) -> LexUnit {
    let (lemma, _) = name.rsplit_once('.').unwrap_or((name, ""));
    proposed_unit(frame, lu, name, lemma, Pos::of_lu_name(name))
}

/// Whether an LU is as it was proposed, under a number that nobody counted out.
fn is_untouched(lu: &LexUnit) -> bool {
    !is_counted(lu.id.0) && *lu == proposed(lu.frame, lu.id, &lu.name)
}

/// What was found before, with sentences that somebody wrote and it lacks.
fn with_attested(mut before: Discovery, sentences: Vec<FoundSentence>) -> Discovery {
    let is_new = |of: &FoundSentence| before.sentences.iter().all(|there| there.text != of.text);
    let new: Vec<FoundSentence> =
        sentences.into_iter().filter(|of| of.made_of.is_none() && is_new(of)).collect();
    let at = before.sentences.iter().take_while(|of| of.made_of.is_none()).count();
    drop(before.sentences.splice(at..at, new));
    before
}
