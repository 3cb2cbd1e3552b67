//! The `fnstore` program.

mod cli;

use mimalloc::MiMalloc;

/// A scan makes and frees a few dozen small values for each set, on all cores, and a load leaves
/// blocks of every size. The system's allocator takes a fifth of a scan's time, and more memory.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() {
    cli::end(cli::program(std::env::args_os().collect()))
}
