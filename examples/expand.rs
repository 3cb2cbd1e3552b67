//! Expands the human annotation sets for which a query holds.
//!
//! `cargo run --release --example expand -- STORE MODELS frame=Verification`

#![allow(clippy::print_stdout, reason = "an example prints what it found")]

use std::error::Error;
use std::path::Path;

use fnstore::Database;
use fnstore::Expression;
use fnstore::expand::{self, Models, Recipe, RunOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let store = arguments.next().ok_or("usage: expand STORE MODELS EXPRESSION")?;
    let models = arguments.next().ok_or("usage: expand STORE MODELS EXPRESSION")?;
    let expression: Expression = arguments.collect::<Vec<_>>().join(" ").parse()?;

    let database = Database::open_existing_writer(store.as_ref())?;
    let recipe = Recipe::new(Models::open(Path::new(&models))?);
    let report = expand::run(&database, &expression, &recipe, &RunOptions::default())?;

    println!("{report:#?}");
    Ok(())
}
