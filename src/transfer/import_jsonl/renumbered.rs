//! Numbers of proposed LUs that two expansions gave to two names.
//!
//! Such a number is a hash of 31 bits, and expansions beside each other do not see what the others
//! take. Where the release has another LU under it, the later one gets the next number that is
//! free, as in one run: the number follows from what is there, and a file that comes in again finds
//! its LUs.

use std::io::BufRead;

use super::loader::LineImport;
use crate::database::Result;
use crate::model::{FrameId, LexUnit, LuId, PROPOSED, hashed_number};

impl<R: BufRead> LineImport<'_, R> {
    /// An LU of the file with the number under which it comes in.
    pub(super) fn with_free_number(&mut self, mut lu: LexUnit) -> Result<LexUnit> {
        if !self.adds() || lu.status != PROPOSED {
            return Ok(lu);
        }
        let own = lu.id;
        while self.is_of_another(&lu)? {
            lu.id = LuId(hashed_number(lu.id.0.wrapping_add(1)));
        }
        if lu.id != own {
            self.renumbered.insert((lu.frame, own), lu.id);
        }
        Ok(lu)
    }

    /// The number under which an LU of the file has come in.
    pub(super) fn number_of(&self, frame: FrameId, lu: LuId) -> LuId {
        self.renumbered.get(&(frame, lu)).copied().unwrap_or(lu)
    }

    /// Whether the number of an LU belongs to one of another name.
    fn is_of_another(&self, lu: &LexUnit) -> Result<bool> {
        if let Some(Some(taken)) = self.known.lexunits.get(&(lu.frame, lu.id)) {
            return Ok(*taken != lu.name);
        }
        let there = self.store.lexunit(self.release, lu.frame, lu.id)?;
        Ok(there.is_some_and(|there| there.name != lu.name))
    }
}
