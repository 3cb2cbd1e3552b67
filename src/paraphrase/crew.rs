//! A rewriter on all threads: copies of one model, each with its share of the sentences.
//!
//! The products of a small encoder-decoder are too small to part among threads, and the search
//! between them runs on one. So each thread gets a copy; the weights are mapped, and the system
//! keeps their pages once. A language model's products fill all threads, and a GPU runs one network
//! best: there the crew has one member.

use std::path::Path;
use std::sync::Mutex;

use super::files::{is_adapter, language_model_of};
use super::{ParaphraseError, Paraphraser, Request, RequestOutcome, Settings};
use crate::engine::{Device, Numbers};

/// Sentences that a member takes at once: enough to fill the rows of its steps.
const SHARE: usize = 64;

/// Rewriters of one model that work side by side.
///
/// What comes out is what one [`Paraphraser`] gives: a row does not depend on those beside it.
#[derive(Debug)]
pub struct Crew {
    members: Vec<Paraphraser>,
    device: Device,
}

impl Crew {
    /// Opens a model as [`Paraphraser::open_with`] does, once for each thread where that is faster.
    ///
    /// # Errors
    /// As [`Paraphraser::open_with`].
    pub fn open_with(
        dir: &Path,
        base: Option<&Path>,
        device: &Device,
        numbers: Numbers,
    ) -> Result<Self, ParaphraseError> {
        let is_small = !is_adapter(dir) && language_model_of(dir).is_none();
        let (threads, each) = match device {
            Device::Cpu { threads } if is_small => (*threads, Device::Cpu { threads: 1 }),
            _ => (1, device.clone()),
        };
        let open = |_| Paraphraser::open_with(dir, base, &each, numbers);
        let members = (0..threads).map(open).collect::<Result<_, _>>()?;
        Ok(Self { members, device: device.clone() })
    }

    /// One of the members: what it says of the model holds for all.
    ///
    /// # Panics
    /// Never: a crew has a member.
    #[must_use]
    pub fn member(&self) -> &Paraphraser {
        &self.members[0]
    }

    /// Paraphrases sentences; the outcomes are in the order of the requests.
    ///
    /// # Errors
    /// As [`Paraphraser::paraphrase`]; other members end their shares first.
    pub fn paraphrase(
        &mut self,
        requests: &[Request],
        settings: &Settings,
    ) -> Result<Vec<RequestOutcome>, ParaphraseError> {
        if let [only] = self.members.as_mut_slice() {
            return only.paraphrase(requests, settings);
        }
        let shares: Vec<&[Request]> = requests.chunks(SHARE).collect();
        let free = Mutex::new(std::mem::take(&mut self.members));
        let lock = || free.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let outcomes = self.device.share(shares.len(), |_, share| {
            let mut member =
                lock().pop().expect("no more shares run at once than there are members");
            let outcomes = member.paraphrase(shares[share], settings);
            lock().push(member);
            outcomes
        });
        self.members = lock().drain(..).collect();
        Ok(outcomes.into_iter().collect::<Result<Vec<_>, _>>()?.concat())
    }
}
