//! `--threads`: how many threads compute.
//!
//! Everything that runs side by side takes the threads of one pool, which is made when it is first
//! needed; results are the same for any number of them.

use anyhow::Context as _;

/// Options of every command.
#[derive(Debug, clap::Args)]
pub(crate) struct ThreadArgs {
    /// Use N threads [default: one for each hardware thread]
    #[arg(
        long,
        global = true,
        value_name = "N",
        env = "FNSTORE_THREADS",
        value_parser = clap::value_parser!(u16).range(1..=1024)
    )]
    threads: Option<u16>,
}

impl ThreadArgs {
    /// Makes the pool, where its size was said.
    pub(crate) fn apply(&self) -> anyhow::Result<()> {
        let Some(threads) = self.threads else { return Ok(()) };
        rayon::ThreadPoolBuilder::new()
            .num_threads(usize::from(threads))
            .thread_name(|number| format!("compute-{number}"))
            .build_global()
            .with_context(|| format!("cannot start {threads} threads; name fewer by `--threads`"))
    }
}
