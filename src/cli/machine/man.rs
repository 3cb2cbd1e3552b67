//! `fnstore man`: the manual pages.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::CommandFactory as _;

use crate::cli::{Context, Outcome};

/// Print the manual page, or write one for each command
///
/// `fnstore man ~/.local/share/man/man1` makes `man fnstore` and `man fnstore-query` work;
/// `fnstore man | man -l -` shows the page at once.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Directory to write `fnstore.1`, `fnstore-query.1`, ... to
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let command = crate::cli::Args::command();
    if let Some(dir) = args.dir {
        std::fs::create_dir_all(&dir)
            .and_then(|()| clap_mangen::generate_to(command, &dir))
            .with_context(|| format!("cannot write manual pages to `{}`", dir.display()))?;
        return Ok(Outcome::Done);
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    context.output.line(String::from_utf8(page)?.trim_end())?;
    Ok(Outcome::Done)
}
