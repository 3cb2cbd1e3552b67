//! The LUs that a run takes, and whether they were done.

use std::cell::Cell;
use std::rc::Rc;
use std::vec::IntoIter;

use super::sisters::Sisters;
use super::{GenerateError, GenerationRecipe, Result, SisterRule};
use crate::database::Database;
use crate::expand::FrameGap;
use crate::model::{Frame, LexUnit, RecipeId, ReleaseId};

/// An LU that lacks sentences, beside the sentences of its frame.
pub(super) struct Seed {
    pub(super) release: ReleaseId,
    pub(super) frame: Rc<Frame>,
    pub(super) sisters: Rc<Sisters>,
    pub(super) lexunit: LexUnit,
}

/// Refuses few LUs none of which can have a sister: whoever names LUs should hear of it. Of many
/// LUs the report counts those.
pub(super) fn check_sisters(
    database: &Database,
    recipe: &GenerationRecipe,
    gaps: &[FrameGap],
) -> Result<()> {
    const FEW: usize = 20;
    let named = || gaps.iter().flat_map(|gap| &gap.lexunits);
    if named().count() > FEW {
        return Ok(());
    }
    for gap in gaps {
        let sisters = Sisters::of(database, gap.release.id, &gap.frame)?;
        let has_some = |lu| !sisters.for_lexunit(lu, recipe.sisters, 0).is_empty();
        if gap.lexunits.iter().any(has_some) {
            return Ok(());
        }
    }
    let quoted =
        |names: Vec<&str>| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>();
    let lexunits = quoted(named().map(|lu| lu.name.as_str()).collect()).join(", ");
    if recipe.sisters == SisterRule::Own {
        return Err(GenerateError::NoneOfTheirOwn { lexunits });
    }
    Err(GenerateError::NoSisters {
        lexunits,
        frames: quoted(gaps.iter().map(|gap| gap.frame.name.as_str()).collect()),
    })
}

/// A frame that is gone through, and its LUs that are left.
struct FrameSeeds {
    release: ReleaseId,
    frame: Rc<Frame>,
    sisters: Rc<Sisters>,
    lexunits: IntoIter<LexUnit>,
}

impl FrameSeeds {
    fn next(&mut self) -> Option<Seed> {
        let lexunit = self.lexunits.next()?;
        let (frame, sisters) = (Rc::clone(&self.frame), Rc::clone(&self.sisters));
        Some(Seed { release: self.release, frame, sisters, lexunit })
    }
}

/// Goes through LUs frame by frame, past those that were done under the same recipe.
pub(super) struct Seeds<'a> {
    database: &'a Database,
    recipe: &'a GenerationRecipe,
    /// The recipe's number, if the store has it.
    known: Option<RecipeId>,
    gaps: IntoIter<FrameGap>,
    frame: Option<FrameSeeds>,
    /// LUs that may still be taken.
    left: usize,
    done_before: Rc<Cell<u64>>,
}

impl<'a> Seeds<'a> {
    pub(super) fn new(
        database: &'a Database,
        (recipe, known): (&'a GenerationRecipe, Option<RecipeId>),
        limit: Option<usize>,
        gaps: Vec<FrameGap>,
    ) -> Self {
        let left = limit.unwrap_or(usize::MAX);
        let (gaps, done_before) = (gaps.into_iter(), Rc::default());
        Self { database, recipe, known, gaps, frame: None, left, done_before }
    }

    /// LUs passed by that were done before.
    pub(super) fn done_before(&self) -> Rc<Cell<u64>> {
        Rc::clone(&self.done_before)
    }

    fn next_seed(&mut self) -> Result<Option<Seed>> {
        while self.left > 0 {
            let Some(seed) = self.frame.as_mut().and_then(FrameSeeds::next) else {
                let Some(gap) = self.gaps.next() else { return Ok(None) };
                let release = gap.release.id;
                let sisters = Rc::new(Sisters::of(self.database, release, &gap.frame)?);
                let (frame, lexunits) = (Rc::new(gap.frame), gap.lexunits.into_iter());
                self.frame = Some(FrameSeeds { release, frame, sisters, lexunits });
                continue;
            };
            if self.is_done(&seed)? {
                self.done_before.set(self.done_before.get() + 1);
                continue;
            }
            self.left -= 1;
            return Ok(Some(seed));
        }
        Ok(None)
    }

    /// Whether an LU was done under the same recipe: the journal of the sister that it tries first
    /// says so.
    fn is_done(&self, Seed { release, sisters, lexunit, .. }: &Seed) -> Result<bool> {
        let Some(id) = self.known else { return Ok(false) };
        let order = sisters.for_lexunit(lexunit, self.recipe.sisters, self.recipe.seed);
        let Some((first, _)) = order.first() else { return Ok(false) };
        let ordinal = sisters.ordinal(lexunit.id);
        Ok(self.database.store().journal(*release, first.id, ordinal, id)?.is_some())
    }
}

impl Iterator for Seeds<'_> {
    type Item = Result<Seed>;

    fn next(&mut self) -> Option<Result<Seed>> {
        self.next_seed().transpose()
    }
}
