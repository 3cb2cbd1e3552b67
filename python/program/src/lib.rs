//! The command line, to be run inside of Python.

#[path = "../../../src/cli/mod.rs"]
mod cli;

use std::ffi::OsString;

/// Does what a command line asks for, whose first word is the program's name, and ends the process.
pub fn main(line: Vec<OsString>) -> ! {
    cli::end(cli::program(line))
}
