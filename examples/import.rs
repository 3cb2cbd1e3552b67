//! Imports a FrameNet release into a store.
//!
//! `cargo run --release --example import -- fndata-1.5.zip STORE`

#![allow(clippy::print_stdout, reason = "an example prints what it found")]

use std::error::Error;
use std::path::PathBuf;

use fnstore::Database;
use fnstore::transfer::ImportOptions;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let release = arguments.next().ok_or("usage: import RELEASE STORE")?;
    let store = arguments.next().ok_or("usage: import RELEASE STORE")?;

    let database = Database::open_writer(&store)?;
    let report = database.import(&release, &ImportOptions::default(), &mut |progress| {
        if progress.files == progress.of {
            eprintln!("read {} files", progress.files);
        }
    })?;

    println!("{}: {:?}", report.release.name, report.release.counts);
    for (code, count, examples) in report.warnings.iter() {
        println!("{code}: {count}, as in {}", examples[0]);
    }
    Ok(())
}
