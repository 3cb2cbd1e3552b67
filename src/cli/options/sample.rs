//! `--sample`: some of the annotation sets that a query finds.

use std::num::NonZeroUsize;

use fnstore::database::Database;
use fnstore::query::Expression;
use fnstore::search::Sampling;

use super::query::{self, fields};
use crate::cli::print::output::{counted, grouped, tell};

/// The options of commands that can take a sample.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct SampleArgs {
    /// Take a random sample of N annotation sets, or of N for each value of `--per`; the same seed
    /// gives the same sample
    #[arg(long, value_name = "N")]
    sample: Option<NonZeroUsize>,

    /// Sample N for each value of FIELD, or for the values of several fields together
    #[arg(long, value_name = "FIELD[,FIELD]", requires = "sample")]
    per: Option<String>,

    /// Seed of the sample [default: 1]
    #[arg(long = "seed", value_name = "S", requires = "sample")]
    sample_seed: Option<u64>,
}

impl SampleArgs {
    /// The query of the sample, where one is asked for, of what another query finds, too; else the
    /// same query. Says on stderr what was taken.
    pub(crate) fn of(
        &self,
        database: &Database,
        expression: Expression,
        among: Option<&str>,
    ) -> anyhow::Result<Expression> {
        let Some(sampling) = self.sampling()? else { return Ok(expression) };
        let among = among.map(query::expression).transpose()?;
        let all = Expression::all_of([expression].into_iter().chain(among))?;
        let sample = database.sample(&all, &sampling)?;
        let seed = sampling.seed;
        let found = counted(sample.found, "annotation set");
        let groups = match &self.per {
            Some(fields) => format!(
                ", at most {} for each of {} of `{fields}` ({} with fewer)",
                grouped(sampling.size as u64),
                counted(sample.groups, "value"),
                grouped(sample.short)
            ),
            None => String::new(),
        };
        tell(&format!("sample of {} of {found}{groups}, seed {seed}", grouped(sample.sets)));
        Ok(sample.expression)
    }

    /// What the sample is, for a note; nothing where none is asked for.
    pub(crate) fn note(&self) -> String {
        let Some(size) = self.sample else { return String::new() };
        let per = self.per.as_ref().map(|fields| format!(" per {fields}")).unwrap_or_default();
        format!(", a sample of {size}{per} with seed {}", self.seed())
    }

    fn seed(&self) -> u64 {
        self.sample_seed.unwrap_or(1)
    }

    fn sampling(&self) -> anyhow::Result<Option<Sampling>> {
        let Some(size) = self.sample else { return Ok(None) };
        let per = self.per.as_deref().map(fields).transpose()?.unwrap_or_default();
        Ok(Some(Sampling { size: size.get(), per, seed: self.seed() }))
    }
}
