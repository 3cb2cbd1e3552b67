//! What is done to stores while it is recorded: every way that this program writes one.
//!
//! It runs in a process of its own, under `strace`. After each step it says on stdout what is
//! acknowledged now; the trace has that among the writes, in its place.

use std::path::{Path, PathBuf};
use std::process::Command;

use fnstore::database::Database;
use fnstore::durable::WholeFile;
use fnstore::edit::Removal;
use fnstore::internals::WithStore as _;
use fnstore::model::{FrameId, LuId, Release, Sentence, SentenceId};
use fnstore::query::Expression;
use fnstore::transfer::ImportOptions;
use fnstore::upkeep::restore;

use crate::crash::{say, synthetic};
use crate::{generated, mini};

const ROOT: &str = "FNSTORE_TEST_POWER_ROOT";

/// A store that is written to from its making on.
pub(super) const STORE: &str = "store";

/// A store whose first import fails.
pub(super) const FAILED: &str = "failed";

/// Backup of [`STORE`].
pub(super) const BACKUP: &str = "backup";

/// A store of what was exported from [`STORE`], and of span-labelled texts.
pub(super) const OTHERS: &str = "others";

/// [`STORE`] as FrameNet's XML, a directory.
pub(super) const XML: &str = "xml";

/// [`STORE`] as JSON lines, a file.
pub(super) const LINES: &str = "lines.jsonl";

/// Span-labelled texts, which are there before.
const TEXTS: &str = "texts.jsonl";

/// What stands in an acknowledgement before the step's name.
pub(super) const ACKNOWLEDGED: &str = "acknowledged";

/// The process that does it, and what lies under the root when it begins.
pub(super) fn prepare(root: &Path) -> Command {
    let span =
        r#"{"text": "He vetted it .", "spans": [{"start": 3, "end": 9, "type": "Vetting"}]}"#;
    std::fs::write(root.join(TEXTS), format!("{span}\n")).unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--ignored", "--exact", "--nocapture", "power_loss::workload::write_to_stores"])
        .env(ROOT, root);
    command
}

fn acknowledge(store: &str, step: &str) {
    say(&format!("{ACKNOWLEDGED} {store} {step}"));
}

#[test]
#[ignore = "the process that `power_loss` records"]
fn write_to_stores() {
    let Some(root) = std::env::var_os(ROOT).map(PathBuf::from) else { return };
    let store = root.join(STORE);
    grow(&store);
    copy_and_replace(&root, &store);
    export(&root, &store);
    import_others(&root);
    fail_first(&root.join(FAILED));
}

/// Imports, edits, and what an expansion writes, commit by commit.
fn grow(store: &Path) {
    let database = Database::open_writer(store).unwrap();
    acknowledge(STORE, "open");
    let release = mini::import(&database, &mini::framenet()).unwrap().release;
    acknowledge(STORE, "import");
    edit(&database, &release);
    let recipe = database.store().recipe([7; 16], "{\"beam\":4}").unwrap();
    acknowledge(STORE, "recipe");
    generated::write(&database, release.id);
    acknowledge(STORE, "journal");
    for write in 10..13 {
        database.write(release.id, &synthetic(&database, &release, recipe, write)).unwrap();
        acknowledge(STORE, "write");
    }
    let mut loader = database.loader(release.id).unwrap();
    for write in 13..16 {
        loader.write(&synthetic(&database, &release, recipe, write)).unwrap();
        acknowledge(STORE, "load");
    }
    loader.finish().unwrap();
    acknowledge(STORE, "load-end");
    let second = ImportOptions { release: Some("second".to_owned()), ..ImportOptions::default() };
    database.import(&mini::framenet(), &second, &mut |_| {}).unwrap();
    acknowledge(STORE, "second-import");
    database.close().unwrap();
    acknowledge(STORE, "close");
}

fn edit(database: &Database, release: &Release) {
    let mut edits = database.transaction(release.id).unwrap();
    let sentence = Sentence {
        id: SentenceId::from_bits(0).unwrap(),
        xml_id: None,
        text: "Nobody fact-checked it .".to_owned(),
        occurrences: Vec::new(),
    };
    edits.add_sentence(sentence).unwrap();
    edits.commit().unwrap();
    acknowledge(STORE, "add");
    let mut edits = database.transaction(release.id).unwrap();
    edits.remove_lexunit(FrameId(102), LuId(1003), Removal::Cascade).unwrap();
    edits.commit().unwrap();
    acknowledge(STORE, "remove");
}

/// What takes the place of files that are there.
fn copy_and_replace(root: &Path, store: &Path) {
    Database::reindex(store).unwrap();
    acknowledge(STORE, "reindex");
    let backup = root.join(BACKUP);
    Database::open(store).unwrap().backup(&backup).unwrap();
    acknowledge(BACKUP, "backup");
    let database = Database::open_existing_writer(store).unwrap();
    let release = database.releases().unwrap().remove(0);
    let recipe = database.store().recipe([7; 16], "{\"beam\":4}").unwrap();
    for write in 20..22 {
        database.write(release.id, &synthetic(&database, &release, recipe, write)).unwrap();
        acknowledge(STORE, "later-write");
    }
    drop(database);
    restore(&backup, store).unwrap();
    acknowledge(STORE, "restore");
    let database = Database::open_existing_writer(store).unwrap();
    database.write(release.id, &synthetic(&database, &release, recipe, 30)).unwrap();
    acknowledge(STORE, "last-write");
    drop(database);
    acknowledge(STORE, "drop");
}

/// What a release is written to for others.
fn export(root: &Path, store: &Path) {
    let database = Database::open(store).unwrap();
    let release = database.releases().unwrap().remove(0);
    let whole: Expression = format!("release={}", release.name).parse().unwrap();
    let xml = root.join(XML);
    database.export_framenet(&release, &whole, &xml, &mut |_, _| {}).unwrap().unwrap();
    acknowledge(XML, "xml-export");
    let mut lines = WholeFile::create(&root.join(LINES)).unwrap();
    database.export_jsonl(&whole, false, &mut lines).unwrap().unwrap();
    lines.finish().unwrap();
    acknowledge(LINES, "jsonl-export");
}

/// Imports of the formats that are not FrameNet's.
fn import_others(root: &Path) {
    let database = Database::open_writer(&root.join(OTHERS)).unwrap();
    acknowledge(OTHERS, "open");
    database.import_jsonl(&root.join(LINES), None, &mut |_| {}).unwrap();
    acknowledge(OTHERS, "jsonl-import");
    let options = ImportOptions { release: Some("texts".to_owned()), ..ImportOptions::default() };
    database.import_spans(&root.join(TEXTS), &options, &mut |_| {}).unwrap();
    acknowledge(OTHERS, "span-import");
    drop(database);
    acknowledge(OTHERS, "drop");
}

/// A first import that fails leaves no store, and the next one makes it.
fn fail_first(store: &Path) {
    let database = Database::open_writer(store).unwrap();
    let options = ImportOptions { strict: true, ..ImportOptions::default() };
    let refused = database.import(&mini::framenet(), &options, &mut |_| {}).unwrap_err();
    assert!(refused.to_string().contains("warnings count as errors"), "{refused}");
    assert!(database.discard_if_new().unwrap());
    acknowledge(FAILED, "failure");
    let database = Database::open_writer(store).unwrap();
    acknowledge(FAILED, "open");
    mini::import(&database, &mini::framenet()).unwrap();
    acknowledge(FAILED, "import");
    drop(database);
    acknowledge(FAILED, "drop");
}
