//! A tool that holds the writer's lock only while it saves: the index waits for the next writer,
//! and queries miss nothing meanwhile.

use fnstore::database::{Database, DatabaseError};
use fnstore::edit::Removal;
use fnstore::model::{AnnotationSet, FrameId, LexUnit, LuId, Sentence, Span};
use fnstore::query::Expression;

use crate::mini;

const TEXT: &str = "Somebody perused it .";

#[test]
fn what_an_editor_saves_is_found_before_and_after_the_index_has_it() {
    let (dir, writer, report) = mini::imported();
    drop(writer);
    let reader = Database::open(dir.path()).unwrap();
    let count = |text: &str| reader.count(&Expression::parse(text).unwrap()).unwrap();
    let before = count("frame=Checking");
    let editor = Database::open_editor(dir.path()).unwrap();
    let mut edits = editor.transaction(report.release.id).unwrap();
    let lu = edits.add_lexunit(LexUnit::new(FrameId(102), "peruse.v")).unwrap();
    let sentence = edits.add_sentence(Sentence::new(TEXT)).unwrap();
    let target = Span::of_part(TEXT, "perused").unwrap();
    edits.add_annotation_set(AnnotationSet::new(sentence, FrameId(102), lu, target)).unwrap();
    edits.remove_lexunit(FrameId(102), LuId(1001), Removal::Cascade).unwrap();
    edits.commit().unwrap();
    let queries = ["trigger=perused", "text~perused", "lu=peruse.v", "trigger=checked"];
    let found = queries.map(count);
    assert_eq!(found, [1, 1, 1, 0]);
    assert!(count("frame=Checking") < before, "a cascade took more than was added");
    assert_eq!(editor.count(&Expression::parse(queries[0]).unwrap()).unwrap(), 1);
    let refused = editor.import(&mini::framenet(), &Default::default(), &mut |_| {});
    assert!(matches!(refused, Err(DatabaseError::ReadOnly { .. })), "an import wants the index");
    let locked = Database::open_editor(dir.path()).err().unwrap();
    assert!(locked.to_string().contains("S-locked"), "{locked}");
    editor.close().unwrap();
    Database::open_existing_writer(dir.path()).unwrap().close().unwrap();
    assert_eq!(queries.map(count), found, "and the next writer brings the index up");
}
