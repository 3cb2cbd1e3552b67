//! `fnstore completions`: what a shell needs to complete commands and options.

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::cli::{Context, Outcome};

/// Print a script that lets a shell complete commands and options
///
/// bash: `fnstore completions bash > ~/.local/share/bash-completion/completions/fnstore`;
/// zsh: into a file `_fnstore` in a directory of `$fpath`;
/// fish: into `~/.config/fish/completions/fnstore.fish`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut crate::cli::Args::command(), "fnstore", &mut script);
    context.output.line(String::from_utf8(script)?.trim_end())?;
    Ok(Outcome::Done)
}
