//! Editions, and what becomes of LUs that expansions proposed.

use super::passage::{CarriedElements, Passage};
use super::staged::absent;
use super::{EditError, Result, Transaction, check};
use crate::model::{
    ACCEPTED, AnnotationSet, AnnotationSetId, Decided, Decision, Edition, Evidence, FrameId,
    LexUnit, LuId, Moved, PROPOSED, Provenance, Reviewed, Verdict,
};
use crate::text::{called, called_in_any_case};

/// What a decision does to a proposed LU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It becomes an LU of its frame.
    Accept,
    /// It stays proposed, and is not listed again.
    Reject,
    /// Its sets go to the LU of its name in another frame, which is made if the frame has none.
    Move(FrameId),
    /// Its sets go to another LU of its frame.
    Merge(LuId),
}

impl Fate {
    /// The verdict that a record has of it.
    #[must_use]
    pub fn verdict(self) -> Verdict {
        match self {
            Self::Accept => Verdict::Accept,
            Self::Reject => Verdict::Reject,
            Self::Move(_) => Verdict::Move,
            Self::Merge(_) => Verdict::Merge,
        }
    }
}

/// What went to another LU, or came back.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HandedOver {
    /// Annotation sets.
    pub sets: u64,
    /// What became of their FEs where the LU is of another frame.
    pub elements: CarriedElements,
    /// Sets whose frame's probability was forgotten: it was that of another frame.
    pub unfitted: Vec<AnnotationSetId>,
}

impl HandedOver {
    /// Carries a set to another frame, or nowhere.
    fn carry(&mut self, set: &mut AnnotationSet, passage: Option<&Passage>) {
        self.sets += 1;
        let Some(passage) = passage else { return };
        self.elements.add(passage.carry(set));
        if matches!(&set.provenance, Provenance::Generated(made) if made.fit.is_some()) {
            self.unfitted.push(set.id);
        }
    }
}

/// Refuses to decide on a proposal on which a decision stands.
fn require_undecided(decided: &Decided) -> Result<()> {
    if let Some(standing) = decided.standing()
        && matches!(standing.verdict, Verdict::Accept | Verdict::Reject)
    {
        let (verdict, reviewer) = (standing.verdict.as_str(), &standing.reviewer);
        let expected = format!(
            "a proposal that nobody has decided on; `{reviewer}` decided `{verdict}`: take that \
             back with `undo` first"
        );
        return Err(EditError::value("proposal", &decided.name, expected).into());
    }
    Ok(())
}

/// Editions.
impl Transaction<'_> {
    /// Adds an edition.
    ///
    /// # Errors
    /// When its name is none or is taken, or a set of it is not there.
    pub fn add_edition(&mut self, edition: Edition) -> Result<()> {
        check::name("name", &edition.name)?;
        if !self.editions_called(&edition.name)?.is_empty() {
            let expected = "a name that no edition of the release has";
            return Err(EditError::value("name", &edition.name, expected).into());
        }
        for frozen in &edition.sets {
            if self.database.store.set_location(self.release, frozen.set)?.is_none() {
                return Err(absent::<AnnotationSet>(frozen.set).into());
            }
        }
        self.put(edition)
    }

    /// Puts an edition in the place of the one of its name.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn set_edition(&mut self, edition: Edition) -> Result<()> {
        match self.editions_called(&edition.name)?.pop() {
            Some(before) if before.name == edition.name => self.put(edition),
            _ => Err(absent::<Edition>(&edition.name).into()),
        }
    }

    /// Removes an edition; its sets stay.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn remove_edition(&mut self, name: &str) -> Result<()> {
        match self.editions_called(name)?.pop() {
            Some(edition) => self.delete::<Edition>(edition.name),
            None => Err(absent::<Edition>(name).into()),
        }
    }

    fn editions_called(&self, name: &str) -> Result<Vec<Edition>> {
        let stored = self.database.store.editions(self.release)?;
        let all = self.staged.over(stored, |_: &Edition| true)?;
        Ok(called(all, name, |edition| &edition.name))
    }
}

/// Decisions on proposed LUs.
impl Transaction<'_> {
    /// The decisions on an LU of that name in a frame.
    ///
    /// # Errors
    /// When the store fails.
    pub fn decisions(&self, frame: FrameId, name: &str) -> Result<Option<Decided>> {
        self.read(&(frame, self.proposal_called(frame, name)?))
    }

    /// Decides on a proposed LU: does what the fate says, and records it with the LU's number,
    /// where sets went, and the evidence that the reviewer had. Gives what moved.
    ///
    /// In another frame a set keeps the FEs that a relation between the frames maps, and those of a
    /// name that the frame has, too. Others are dropped, and come back when the decision is taken
    /// back. A probability of the old frame is forgotten.
    ///
    /// # Errors
    /// When there is no proposed LU of that name in the frame, a decision on it stands, or the
    /// target of a move or merge cannot take the sets.
    pub fn decide(
        &mut self,
        frame: FrameId,
        name: &str,
        fate: Fate,
        by: Reviewed,
        evidence: Evidence,
    ) -> Result<HandedOver> {
        check::name("reviewer", &by.reviewer)?;
        let name = &*self.proposal_called(frame, name)?;
        let mut decided = self.decisions(frame, name)?.unwrap_or_else(|| Decided {
            frame,
            name: name.to_owned(),
            history: Vec::new(),
        });
        require_undecided(&decided)?;
        let proposed = self.proposed(frame, name)?;
        // What was moved or merged is decided on again where sets came since.
        let is_found = decided.standing().is_none() && self.is_found(&proposed)?;
        if !is_found && self.sets_of_lexunit(frame, proposed.id)?.is_empty() {
            let expected =
                "a proposed LU with sentences; those of this one are gone, or with another LU";
            return Err(EditError::value("proposal", name, expected).into());
        }
        let mut handed_over = HandedOver::default();
        let moved = match fate {
            Fate::Reject => None,
            Fate::Accept => {
                self.set_lexunit(LexUnit { status: ACCEPTED.to_owned(), ..proposed.clone() })?;
                None
            }
            Fate::Move(to) => {
                let (lu, made) = self.taker(to, &proposed)?;
                Some(self.hand_over(&proposed, (to, lu), made, &mut handed_over)?)
            }
            Fate::Merge(lu) => {
                self.check_merge(&proposed, lu)?;
                Some(self.hand_over(&proposed, (frame, lu), false, &mut handed_over)?)
            }
        };
        let (verdict, lu, Reviewed { reviewer, time, note }) = (fate.verdict(), proposed.id, by);
        let undone = None;
        decided.history.push(Decision {
            verdict,
            reviewer,
            time,
            note,
            lu,
            evidence,
            moved,
            undone,
        });
        self.put(decided)?;
        Ok(handed_over)
    }

    /// Takes back the last standing decision on an LU: what it did is undone, and the record says
    /// who took it back, when and why. Gives the verdict that was taken back, and what came back.
    ///
    /// # Errors
    /// When no decision stands, or what it made has changed so that it cannot be undone.
    pub fn undo_decision(
        &mut self,
        frame: FrameId,
        name: &str,
        undone: Reviewed,
    ) -> Result<(Verdict, HandedOver)> {
        check::name("reviewer", &undone.reviewer)?;
        let name = &*self.proposal_called(frame, name)?;
        let nothing = || EditError::value("proposal", name, "one that somebody has decided on");
        let mut decided = self.decisions(frame, name)?.ok_or_else(nothing)?;
        let standing = decided.history.iter_mut().rev().find(|of| of.undone.is_none());
        let standing = standing.ok_or_else(nothing)?;
        let decision = standing.clone();
        standing.undone = Some(undone);
        let back = match (&decision.verdict, &decision.moved) {
            (Verdict::Accept, _) => {
                let Some(lu) = self.lexunit(frame, decision.lu)? else {
                    return Err(absent::<LexUnit>(decision.lu).into());
                };
                if lu.status != ACCEPTED {
                    let expected = "`Accepted`, as the decision left it";
                    return Err(EditError::value("status", lu.status, expected).into());
                }
                self.check_taken_by(&lu)?;
                self.set_lexunit(LexUnit { status: PROPOSED.to_owned(), ..lu })?;
                HandedOver::default()
            }
            (_, Some(moved)) => self.take_back(frame, name, decision.lu, moved)?,
            (_, None) => HandedOver::default(),
        };
        self.put(decided)?;
        Ok((decision.verdict, back))
    }

    /// Refuses where a standing decision gave sets to an LU.
    fn check_taken_by(&self, lu: &LexUnit) -> Result<()> {
        for other in self.database.store.all_decisions(self.release)? {
            let other = other?;
            let moved = other.standing().and_then(|standing| standing.moved.as_ref());
            if moved.is_some_and(|moved| (moved.frame, moved.lu) == (lu.frame, lu.id)) {
                let expected = format!(
                    "an LU without sentences of others; take back the decision that gave it those of \
                     `{}` first",
                    other.name
                );
                return Err(EditError::value("proposal", &lu.name, expected).into());
            }
        }
        Ok(())
    }

    /// The proposed LU of that name.
    fn proposed(&self, frame: FrameId, name: &str) -> Result<LexUnit> {
        let mut lexunits = self.lexunits_of(frame)?.into_iter();
        let found = lexunits.find(|lu| lu.name == name && lu.status == PROPOSED);
        Ok(found.ok_or_else(|| EditError::absent("proposed LU", name))?)
    }

    /// The name of a proposed LU, or of one that was decided about, as it is spelled there.
    fn proposal_called(&self, frame: FrameId, name: &str) -> Result<String> {
        let lexunits = self.lexunits_of(frame)?.into_iter();
        let proposed = lexunits.filter(|lu| lu.status == PROPOSED).map(|lu| lu.name);
        let decided = self.database.store.all_decisions(self.release)?;
        let decided = self.staged.over(decided, |_: &Decided| true)?;
        let decided = decided.into_iter().filter(|decided| decided.frame == frame);
        let names = decided.map(|decided| decided.name).chain(proposed);
        let found = called_in_any_case(names, name, |own| own);
        Ok(found.into_iter().next().unwrap_or_else(|| name.to_owned()))
    }

    /// The LU of a frame that takes the sets of a proposed one, and whether it was made.
    fn taker(&mut self, to: FrameId, proposed: &LexUnit) -> Result<(LuId, bool)> {
        if to == proposed.frame {
            let expected = "another frame than the LU is proposed for";
            return Err(EditError::value("frame", to, expected).into());
        }
        if self.frame(to)?.is_none() {
            return Err(EditError::absent("frame", to).into());
        }
        let there = self.lexunits_called(to, &proposed.name)?.into_iter();
        // An LU of the lexicon before one that is proposed there, too.
        if let Some(there) = there.min_by_key(|lu| (lu.status == PROPOSED, lu.id)) {
            if there.status == PROPOSED {
                let expected = "a frame for which the LU is not proposed, too; accept or reject it \
                                there first";
                return Err(EditError::value("frame", to, expected).into());
            }
            return Ok((there.id, false));
        }
        let status = ACCEPTED.to_owned();
        let made = LexUnit { frame: to, status, ..proposed.clone() };
        Ok((self.add_lexunit(made)?, true))
    }

    fn check_merge(&self, proposed: &LexUnit, into: LuId) -> Result<()> {
        let Some(there) = self.lexunit(proposed.frame, into)? else {
            return Err(absent::<LexUnit>(into).into());
        };
        if there.status == PROPOSED {
            let expected = "an LU of the lexicon, not a proposed one";
            return Err(EditError::value("into", &there.name, expected).into());
        }
        if there.pos != proposed.pos {
            let expected = format!("an LU of the part of speech of `{}`", proposed.name);
            return Err(EditError::value("into", &there.name, expected).into());
        }
        Ok(())
    }

    /// Gives the sets of a proposed LU to another one. The proposed LU stays, without sets: what
    /// people wrote into it is there when the decision is taken back.
    fn hand_over(
        &mut self,
        proposed: &LexUnit,
        (frame, lu): (FrameId, LuId),
        made: bool,
        handed_over: &mut HandedOver,
    ) -> Result<Moved> {
        let sets = self.sets_of_lexunit(proposed.frame, proposed.id)?;
        let ids = sets.iter().map(|set| set.id).collect();
        let passage = self.passage(proposed.frame, frame)?;
        for mut set in sets {
            handed_over.carry(&mut set, passage.as_ref());
            self.set_annotation_set(AnnotationSet { frame, lu, ..set })?;
        }
        Ok(Moved { frame, lu, made, sets: ids })
    }

    /// Gives sets back to the LU that was proposed; those that are gone meanwhile stay gone.
    fn take_back(
        &mut self,
        frame: FrameId,
        name: &str,
        lu: LuId,
        moved: &Moved,
    ) -> Result<HandedOver> {
        let Some(proposed) = self.lexunit(frame, lu)? else {
            return Err(absent::<LexUnit>(lu).into());
        };
        if proposed.name != name || proposed.status != PROPOSED {
            let expected = format!("the proposed LU `{name}`, which the sentences were taken from");
            return Err(EditError::value("lu", &proposed.name, expected).into());
        }
        let passage = self.passage(moved.frame, frame)?;
        let mut back = HandedOver::default();
        for id in &moved.sets {
            if let Some(mut set) = self.annotation_set(*id)?
                && (set.frame, set.lu) == (moved.frame, moved.lu)
            {
                back.carry(&mut set, passage.as_ref());
                self.set_annotation_set(AnnotationSet { frame, lu, ..set })?;
            }
        }
        // An LU that the decision made, and that somebody described meanwhile, stays.
        if let Some(made) = self.lexunit(moved.frame, moved.lu)?.filter(|_| moved.made) {
            let is_as_made =
                LexUnit { frame, id: lu, status: PROPOSED.to_owned(), ..made } == proposed;
            if is_as_made && self.sets_of_lexunit(moved.frame, moved.lu)?.is_empty() {
                self.delete::<LexUnit>((moved.frame, moved.lu))?;
            }
        }
        Ok(back)
    }
}
