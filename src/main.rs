//! The `fnstore` program: parse, run, print the error, exit.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    // A damaged index ends in an error or a warning, which say what to do; a backtrace does not.
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !fnstore::index::panics_are_caught() {
            print(panic);
        }
    }));
    let args = match cli::parse() {
        Ok(args) => args,
        // What was typed stands in the message, and does nothing to a terminal.
        Err(error) if error.use_stderr() && has_control_characters() => {
            cli::tell(error.render().to_string().trim_end());
            return ExitCode::from(2);
        }
        Err(error) => error.exit(),
    };
    match cli::run(args) {
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

fn has_control_characters() -> bool {
    std::env::args_os().any(|it| it.to_string_lossy().chars().any(char::is_control))
}
