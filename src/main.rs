//! The `fnstore` program: parse, run, print the error, exit.

mod cli;

use mimalloc::MiMalloc;

/// A scan makes and frees a few dozen small values for each set, on all cores, and a load leaves
/// blocks of every size. The system's allocator takes a fifth of a scan's time, and more memory.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() {
    // A damaged index ends in an error or a warning, which say what to do; a backtrace does not.
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !fnstore::index::panics_are_caught() {
            print(panic);
        }
    }));
    cli::end(run())
}

/// Does what the command line asks for; gives the exit code.
fn run() -> u8 {
    let args = match cli::parse() {
        Ok(args) => args,
        Err(error) => return cli::report_usage(&error),
    };
    match cli::run(args) {
        Ok(outcome) => outcome.exit_code(),
        // Whoever reads the output has read enough, as in `fnstore query ... | head`.
        Err(error) if cli::is_broken_pipe(&error) => 0,
        Err(error) => cli::report(&error),
    }
}
