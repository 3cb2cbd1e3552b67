//! What a tool without networks does: imports, asks, edits and exports.
//!
//! `cargo run --release --no-default-features --example database -- RELEASE STORE TABLE.csv`

#![allow(clippy::print_stdout, reason = "an example prints what it found")]

use std::error::Error;
use std::fs::File;
use std::path::PathBuf;

use fnstore::database::Database;
use fnstore::model::{AnnotationSet, CoreType, Frame, FrameElement, LexUnit, Sentence, Span};
use fnstore::query::Expression;
use fnstore::transfer::ImportOptions;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [release, store, table] = arguments.as_slice() else {
        return Err("usage: database RELEASE STORE TABLE.csv|TABLE.parquet".into());
    };
    let database = Database::open_writer(store)?;
    let imported = database.import(release, &ImportOptions::default(), &mut |_| {})?;

    for answer in database.query(&"trigger=look*".parse()?)? {
        let answer = answer?;
        println!("{} [{}] {}", answer.lexunit, answer.trigger(), answer.sentence.text);
    }

    let text = "Kim proofread the galleys.";
    let span = |part| Span::of_part(text, part).ok_or("not in the text");
    let mut edits = database.transaction(&imported.release.name)?;
    let frame = Frame::new("Proofreading", "Somebody reads a text for errors.")
        .element(FrameElement::new("Proofer", CoreType::Core));
    let frame = edits.add_frame(frame)?;
    let lu = edits.add_lexunit(LexUnit::new(frame, "proofread.v"))?;
    let sentence = edits.add_sentence(Sentence::new(text))?;
    let set = AnnotationSet::new(sentence, frame, lu, span("proofread")?);
    edits.add_annotation_set(set.element("Proofer", span("Kim")?, "Ext", "NP"))?;
    edits.commit()?;

    let mut out = File::create(table)?;
    let written = match table.extension().is_some_and(|extension| extension == "parquet") {
        // Without the feature `parquet` this is an error.
        true => database.export_parquet(&Expression::Everything, &mut out)?,
        false => database.export_csv(&Expression::Everything, &mut out)?,
    };
    println!("{} sets of {} sentences", written.sets, written.sentences);
    Ok(())
}
