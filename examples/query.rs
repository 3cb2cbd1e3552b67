//! Prints the annotation sets for which a query holds.
//!
//! `cargo run --release --example query -- STORE frame=Verification`

#![allow(clippy::print_stdout, reason = "an example prints what it found")]

use std::error::Error;

use fnstore::Database;
use fnstore::Expression;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let store = arguments.next().ok_or("usage: query STORE EXPRESSION")?;
    let expression: Expression = arguments.collect::<Vec<_>>().join(" ").parse()?;

    let database = Database::open(store.as_ref())?;
    for answer in database.query(&expression)? {
        let answer = answer?;
        println!(
            "{}\t{}\t{}\t{}",
            answer.frame,
            answer.lexunit,
            answer.trigger(),
            answer.sentence.text
        );
    }
    Ok(())
}
