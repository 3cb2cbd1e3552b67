//! The `fnstore` program: parse, run, print the error, exit.

mod cli;

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// A scan makes and frees a few dozen small values for each set, on all cores, and a load leaves
/// blocks of every size. The system's allocator takes a fifth of a scan's time, and more memory.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

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
        Err(error) => return cli::report_usage(&error),
    };
    match cli::run(args) {
        Ok(outcome) => outcome.into(),
        // Whoever reads the output has read enough, as in `fnstore query ... | head`.
        Err(error) if cli::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => cli::report(&error),
    }
}
