//! A pass over sets that are there, as `fnstore filter`, `fnstore fit` and `fnstore verify` make
//! it.

use std::ops::ControlFlow;

use fnstore::database::Database;
use fnstore::query::Expression;

use crate::cli::options::query;
use crate::cli::print::notices::{tell_index_lag, tell_of_index};
use crate::cli::print::output::tell;
use crate::cli::print::progress;
use crate::cli::process::stop;
use crate::cli::{Context, Outcome};

/// What is said of a pass.
pub(crate) struct Pass {
    /// Beside the bar: `scoring`.
    pub(crate) doing: &'static str,
    /// What Ctrl-C waits for: `writing what was scored`.
    pub(crate) finishing: &'static str,
    /// At the end of one that Ctrl-C ended: `what was scored`.
    pub(crate) done: &'static str,
    /// Of an expression that finds nothing to work on.
    pub(crate) nothing: &'static str,
}

impl Pass {
    /// Works on the sets of the store that an expression finds.
    pub(crate) fn over<T>(
        &self,
        context: &Context,
        expression: &str,
        work: impl FnOnce(
            &Database,
            &Expression,
            &mut dyn FnMut(u64) -> ControlFlow<()>,
        ) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let expression = query::expression(expression)?;
        let stopped = stop::on_interrupt(self.finishing)?;
        let database = context.joined(context.open_writer_for(&expression)?);
        tell_of_index(&database);
        let bar = progress::bar(self.doing, "sets");
        let done = work(&database, &expression, &mut |sets| {
            bar.set_position(sets);
            if stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        bar.finish_and_clear();
        tell_index_lag(&database);
        done
    }

    /// How a pass ended that looked at so many sets.
    pub(crate) fn outcome(
        &self,
        context: &mut Context,
        sets: u64,
        interrupted: bool,
    ) -> anyhow::Result<Outcome> {
        context.output.flush()?;
        if interrupted {
            let done = self.done;
            tell(&format!(
                "interrupted; {done} is in the store, and the same command resumes there"
            ));
            return Ok(Outcome::Interrupted);
        }
        if sets == 0 {
            tell(self.nothing);
            return Ok(Outcome::NothingFound);
        }
        Ok(Outcome::Done)
    }
}
