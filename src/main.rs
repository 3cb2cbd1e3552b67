//! The `fnstore` program: parse, run, print the error, exit.

mod cli;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    // A damaged index ends in an error or a warning, which say what to do; a backtrace does not.
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !fnstore::index::panics_are_caught() {
            print(panic);
        }
    }));
    match cli::run(cli::Args::parse()) {
        Ok(outcome) => outcome.into(),
        // Whoever reads the output has read enough, as in `fnstore query ... | head`.
        Err(error) if cli::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            cli::tell(&format!("error: {error:#}"));
            if let Some(hint) = cli::hint(&error) {
                cli::tell(&format!("\nhint: {hint}"));
            }
            cli::exit_code(&error)
        }
    }
}
