//! Which arguments of an expansion do not go together: those of which one would be left aside.

use std::fmt::Display;

use fnstore::expand::RecipeSettings;

use super::{Wishes, Work};
use crate::error::{Fault, Result};

/// Refuses arguments that the one which is named does not go with, as the command does: each is
/// there as it was given.
pub(crate) fn refuse_beside<const N: usize>(
    code: &str,
    named: &str,
    others: [Option<String>; N],
) -> Result<()> {
    match others.into_iter().flatten().next() {
        None => Ok(()),
        Some(other) => {
            let message = format!("`{other}` does not go with `{named}`");
            Err(Fault::new("ExpandError", code, &message, "leave one of them out"))
        }
    }
}

/// An argument that is true, as it was given.
fn flag(name: &str, given: bool) -> Option<String> {
    given.then(|| format!("{name}=True"))
}

/// An argument with a value, as it was given.
fn valued(name: &str, value: Option<impl Display>) -> Option<String> {
    value.map(|value| format!("{name}={value}"))
}

impl Wishes {
    /// Refuses what the command does: arguments of which one would be left aside.
    pub(super) fn check(&self, work: &Work) -> Result<()> {
        let (shard, measures) = match work {
            Work::Run => (None, false),
            Work::Shard(shard, _) => (Some(shard), false),
            Work::Measure(shard) => (shard.as_ref(), true),
        };
        let endpoint = self.endpoint.as_ref().map(|_| "endpoint=Server(...)".to_owned());
        if let Some(shard) = shard {
            let others = [
                valued("limit", self.limit),
                flag("redo", self.redo),
                flag("from_sisters", self.from_sisters),
                endpoint.clone(),
            ];
            refuse_beside("X-shard", &format!("shard=\"{}/{}\"", shard.number, shard.of), others)?;
        }
        if measures {
            refuse_beside("X-setting", "dry_run=True", [flag("redo", self.redo)])?;
        }
        if let Some(endpoint) = endpoint {
            let RecipeSettings { beam, words, reword, .. } = &self.settings;
            let others = [
                flag("dry_run", measures),
                valued("beam", *beam),
                valued("words", *words),
                valued("reword", *reword),
                valued("filter", self.filter.as_ref().map(|filter| filter.display())),
            ];
            refuse_beside("X-setting", &endpoint, others)?;
        }
        match self.sampling {
            Some(_) => {
                refuse_beside("X-setting", "sample", [flag("from_sisters", self.from_sisters)])
            }
            None => Ok(()),
        }
    }
}
