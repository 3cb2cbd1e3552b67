//! Targets of a sentence that a round changes beside its seed's.
//!
//! Under [`Targets::All`] a round bans the triggers of one or two other sets of the sentence, too,
//! so that two or three targets change at once. Where there is a guide, outputs must have an LU
//! of each one's frame, in the form of its trigger. Rounds take the targets in turn, and what took
//! the place of one is banned from then on.
//!
//! Such a set is carried along under the LU that stands there now. That must be one of the lexicon:
//! a carried set proposes none, so other words in its place drop it (`companions.rs`).

use super::Result;
use super::chain::Chain;
use super::companions::{Companion, NewTrigger, overlap};
use super::frame_guide::could_stand;
use super::guide::{Guide, Strategy};
use super::phrase_set::PhraseSet;
use super::seed::{Seed, stored};
use super::trigger_lexicon::TriggerLexicon;
use crate::model::{AnnotationSetId, Pos, Provenance, ReleaseId, SentenceId, named};
use crate::text::is_stop_word;

/// Most targets that a round changes beside its seed's.
const MOST: usize = 2;

named! {
    /// Which targets of its source a new sentence changes.
    #[derive(Default)]
    pub enum Targets {
        /// That of the seed.
        #[default]
        One => "one",
        /// That of the seed and up to two more of its sentence.
        ///
        /// Needs [`Carry::All`](super::Carry::All).
        All => "all",
    }
}

/// The targets of a seed's sentence that may change beside its own, each with what is banned for
/// it.
#[derive(Default)]
pub(super) struct Partners {
    chains: Vec<Chain>,
}

/// A target beside the seed's, in a round that changes it.
pub(super) struct OtherTarget {
    /// What may not stand in its place.
    bans: Vec<String>,
    /// Words of which outputs are to hold one; none for any.
    asked: Vec<String>,
}

impl Partners {
    /// Those of a seed: content words whose frame has another LU to take their place. Those that
    /// share letters with the seed's target, or with one before them, are left as they are.
    pub(super) fn of(
        seed: &Seed,
        companions: &[Companion],
        lexicon: &mut TriggerLexicon<'_>,
    ) -> Result<Self> {
        let mut chains: Vec<Chain> = Vec::new();
        for of in companions.iter().filter(|of| !of.is_held_out && is_content(&of.set)) {
            let chain = Chain::inflected(of.set.clone(), &lexicon.morphology().clone());
            let is_apart = |other: &Seed| !overlap(&of.set.targets, &other.targets);
            let has_other = lexicon
                .units_of(of.set.frame)?
                .iter()
                .any(|unit| could_stand(unit, &chain) && unit.lemma != of.set.lemma);
            if has_other && is_apart(seed) && chains.iter().all(|chain| is_apart(&chain.seed)) {
                chains.push(chain);
            }
        }
        // By hash: the beginning of a sentence is no more to be changed than its end.
        chains.sort_by_cached_key(|chain| {
            *blake3::hash(&chain.seed.set.number().to_be_bytes()).as_bytes()
        });
        Ok(Self { chains })
    }

    /// What the next round of a seed changes beside its target. Words that the seed bans are not
    /// asked for, and a target for which a guide has no word stays as it is.
    pub(super) fn of_round(
        &self,
        seed: &Chain,
        lexicon: &mut TriggerLexicon<'_>,
        mut guide: Option<&mut Guide>,
    ) -> Result<Vec<OtherTarget>> {
        let mut all = Vec::new();
        let first = usize::from(seed.round) * MOST;
        let banned = PhraseSet::new(&seed.banned);
        for at in 0..self.chains.len() {
            let chain = &self.chains[(first + at) % self.chains.len()];
            let mut asked = Vec::new();
            if let Some(guide) = guide.as_deref_mut() {
                for strategy in [Strategy::Agreeing, Strategy::Sister] {
                    asked.extend(guide.words(chain, lexicon, strategy)?);
                }
                asked.retain(|word| !banned.is_in(word));
                if asked.is_empty() {
                    continue;
                }
            }
            all.push(OtherTarget { bans: chain.banned.clone(), asked });
            if all.len() == MOST {
                break;
            }
        }
        Ok(all)
    }

    /// Takes in what a round put in their places in a text.
    pub(super) fn push(&mut self, set: AnnotationSetId, text: &str, new: &[NewTrigger]) {
        for NewTrigger { source, targets, lemma, pos } in new {
            if let Some(chain) = self.chains.iter_mut().find(|chain| chain.seed.set == *source) {
                chain.push(set, text, targets, lemma, *pos);
            }
        }
    }

    /// Takes in what the rounds of a seed put in their places so far, as the store has it.
    pub(super) fn replay(&mut self, seed: &Chain, lexicon: &mut TriggerLexicon<'_>) -> Result<()> {
        let (database, release) = (lexicon.database(), seed.seed.release);
        if self.chains.is_empty() {
            return Ok(());
        }
        for set in &seed.sets {
            if let Some(there) = database.store().annotation_set(release, *set)? {
                self.replay_sentence(release, (*set, there.sentence), lexicon)?;
            }
        }
        Ok(())
    }

    fn replay_sentence(
        &mut self,
        release: ReleaseId,
        (set, sentence): (AnnotationSetId, SentenceId),
        lexicon: &mut TriggerLexicon<'_>,
    ) -> Result<()> {
        let database = lexicon.database();
        for id in database.store().sets_of_sentence(release, sentence)? {
            let Some((along, sentence)) = stored(database, release, id?)? else { continue };
            let Provenance::Carried(carrying) = &along.provenance else { continue };
            let of = |chain: &&Chain| chain.seed.set == carrying.source;
            let Some(chain) = self.chains.iter().find(of) else { continue };
            let (source, pos) = (carrying.source, chain.seed.pos);
            let before = database.store().annotation_set(release, source)?;
            if before.is_none_or(|before| before.lu == along.lu) {
                continue;
            }
            let trigger = along.trigger(&sentence.text);
            let (lemma, pos) = lexicon.read(along.frame, &trigger, pos)?;
            let new = NewTrigger { source, targets: along.targets.clone(), lemma, pos };
            self.push(set, &sentence.text, &[new]);
        }
        Ok(())
    }
}

impl OtherTarget {
    /// Adds what it bans and asks for, unless it bans a word that is asked for already, or asks for
    /// nothing but what is banned already.
    pub(super) fn add_to(&self, avoid: &mut Vec<String>, require: &mut Vec<Vec<String>>) {
        let bans = PhraseSet::new(&self.bans);
        let others = PhraseSet::new(&*avoid);
        let free = |word: &&String| !others.is_in(word);
        let asked: Vec<String> = self.asked.iter().filter(free).cloned().collect();
        let is_stuck = asked.is_empty() && !self.asked.is_empty();
        if is_stuck || require.iter().flatten().any(|phrase| bans.is_in(phrase)) {
            return;
        }
        avoid.extend(self.bans.iter().cloned());
        require.extend((!asked.is_empty()).then_some(asked));
    }
}

/// Whether a set's target is a word of content.
fn is_content(set: &Seed) -> bool {
    let is_open = matches!(set.pos, Pos::Noun | Pos::Verb | Pos::Adjective | Pos::Adverb);
    let trigger = set.trigger();
    is_open && trigger.split(' ').any(|word| !is_stop_word(word))
}
