//! The sentences of a frame that an LU can take over.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::database::{Database, DatabaseError};
use crate::expand::{Unit, Valences, expressed};
use crate::model::{
    AnnotationSet, FeStatus, Frame, LexUnit, LuId, PROPOSED, Pos, ReleaseId, named,
};

named! {
    /// Which sister's sentence an LU takes.
    #[derive(Default)]
    pub enum SisterRule {
        /// The one whose core FEs are those that the frame's LUs of this part of speech express
        /// most.
        #[default]
        Agreeing => "agreeing",
        /// A random one of a random sister (Pancholy et al. 2021; Cui and Swayamdipta 2024).
        Random => "random",
        /// No sister's: one of the LU's own, the one whose core FEs agree most first. Its blanks
        /// are filled anew.
        Own => "own",
    }
}

/// The annotated sets of a frame, with the names of their LUs.
#[derive(Debug, Default)]
pub(crate) struct Sisters {
    valences: Valences,
    units: Vec<(LuId, Unit)>,
    /// What tells the LUs of the frame apart in the journal.
    ordinals: BTreeMap<LuId, u16>,
    sets: Vec<Sister>,
}

#[derive(Debug)]
struct Sister {
    set: AnnotationSet,
    lemma: String,
    pos: Pos,
    /// How much its core FEs agree with the sets of the frame's LUs of its part of speech, summed
    /// over these.
    agreement: f64,
}

impl Sisters {
    /// The sets of a frame that people annotated with FEs.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) fn of(
        database: &Database,
        release: ReleaseId,
        frame: &Frame,
    ) -> Result<Self, DatabaseError> {
        let mut sisters = Self { valences: Valences::new(frame), ..Self::default() };
        for lu in database.store().lexunits_of(release, frame.id)? {
            let lu: LexUnit = lu?;
            sisters.number(lu.id);
            if lu.status != PROPOSED {
                sisters.units.push((lu.id, Unit::of(&lu)));
            }
        }
        for set in database.store().annotation_sets_of_frame(release, frame.id)? {
            let set = set?;
            let is_human = !set.provenance.origin().is_of_written_text();
            let unit = sisters.units.iter().find(|(lu, _)| *lu == set.lu);
            let (true, FeStatus::Annotated, Some((_, unit))) = (is_human, set.fe_status, unit)
            else {
                continue;
            };
            sisters.valences.take(unit, &set);
            let (lemma, pos) = (unit.lemma.clone(), unit.pos);
            sisters.sets.push(Sister { lemma, pos, agreement: 0.0, set });
        }
        sisters.agree();
        Ok(sisters)
    }

    /// Gives an LU its ordinal: the low half of its number, or the next one that no LU before it
    /// has. LUs come by number, so only one that is added before them and shares their low half
    /// moves theirs.
    fn number(&mut self, lu: LuId) {
        let low = (lu.0 & 0xffff) as u16;
        let taken: HashSet<u16> = self.ordinals.values().copied().collect();
        let mut free = (0..=u16::MAX).map(|step| low.wrapping_add(step));
        let ordinal = free.find(|ordinal| !taken.contains(ordinal)).unwrap_or(low);
        self.ordinals.insert(lu, ordinal);
    }

    /// The ordinal of an LU of the frame.
    pub(crate) fn ordinal(&self, lu: LuId) -> u16 {
        self.ordinals.get(&lu).copied().unwrap_or_default()
    }

    /// Says of each set how much it agrees with the others.
    fn agree(&mut self) {
        let keys: BTreeSet<(String, Pos)> = self.units.iter().map(|(_, unit)| unit.key()).collect();
        let mut known = HashMap::new();
        for sister in &mut self.sets {
            let (valences, seed, pos) = (&self.valences, expressed(&sister.set), sister.pos);
            let of = || keys.iter().filter(|key| key.1 == pos);
            let sum =
                |seed: &Option<_>| of().map(|key| valences.agreement(seed.as_ref(), key)).sum();
            let key = (pos, seed);
            sister.agreement = match known.get(&key) {
                Some(agreement) => *agreement,
                None => {
                    let agreement = sum(&key.1);
                    known.insert(key, agreement);
                    agreement
                }
            };
        }
    }

    /// The sets whose sentences an LU can take over, with the lemmas of their LUs, in the order in
    /// which a rule tries them. Its own are among them only where the rule asks for those.
    pub(crate) fn for_lexunit(
        &self,
        lexunit: &LexUnit,
        rule: SisterRule,
        seed: u64,
    ) -> Vec<(&AnnotationSet, &str)> {
        let pos = Pos::of_lu_name(&lexunit.name);
        let draw = |what: u64| {
            let mut hash = blake3::Hasher::new();
            for number in [seed, u64::from(lexunit.id.0), what] {
                hash.update(&number.to_be_bytes());
            }
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&hash.finalize().as_bytes()[..8]);
            u64::from_be_bytes(bytes)
        };
        let is_own = rule == SisterRule::Own;
        let is_sister =
            |sister: &&Sister| sister.pos == pos && (sister.set.lu == lexunit.id) == is_own;
        let of_pos = self.sets.iter().filter(is_sister);
        let mut ranked: Vec<_> = of_pos
            .map(|sister| {
                let agreement = match rule {
                    SisterRule::Agreeing | SisterRule::Own => sister.agreement,
                    SisterRule::Random => 0.0,
                };
                let drawn = (draw(u64::from(sister.set.lu.0)), draw(sister.set.id.bits()));
                let drawn = if rule == SisterRule::Random { drawn } else { (drawn.1, 0) };
                (agreement, drawn, sister)
            })
            .collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        ranked.into_iter().map(|(.., sister)| (&sister.set, sister.lemma.as_str())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lus_whose_numbers_share_their_low_half_have_ordinals_of_their_own() {
        let mut sisters = Sisters::default();
        let numbers = [7, 8, 0x1_0007, 0x8000_0007].map(LuId);
        numbers.iter().for_each(|number| sisters.number(*number));
        assert_eq!(numbers.map(|number| sisters.ordinal(number)), [7, 8, 9, 10]);
    }
}
