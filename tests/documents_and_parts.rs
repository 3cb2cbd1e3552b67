//! `document` and `split` say in every output what the fields `doc` and `split` say, for sets of
//! every origin.

use std::collections::BTreeMap;
use std::path::Path;

use fnstore::database::{Database, Write};
use fnstore::model::{AnnotationSetId, Generation, IdSpace, Provenance};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use serde_json::Value;

use crate::cli_program::{fnstore_in, new_store};
use crate::generated;

/// A store with generated sets of an exemplar, and one of a full text.
fn store() -> tempfile::TempDir {
    let store = new_store();
    let database = Database::open_writer(store.path()).unwrap();
    let release = database.release("mini-framenet").unwrap().id;
    generated::write(&database, release);
    let seed = database.query(&"doc=HarbourLog".parse().unwrap()).unwrap().next().unwrap().unwrap();
    let (mut sentence, mut set) = generated::sets(&database, release).remove(0);
    sentence.id = fnstore::model::SentenceId::new(IdSpace::Generated, 200);
    set.id = AnnotationSetId::new(IdSpace::Generated, 200);
    set.sentence = sentence.id;
    let Provenance::Generated(made) = &mut set.provenance else { panic!("{set:?}") };
    **made = Generation { seed: seed.set.id, source: seed.set.id, ..Generation::clone(made) };
    let write = Write { sentences: vec![sentence], sets: vec![set], ..Write::default() };
    database.write(release, &write).unwrap();
    store
}

/// Document and part of each set, by id.
type Places = BTreeMap<String, [Option<String>; 2]>;

/// What the fields of the query language say.
fn fields(store: &Path, list: &[&str]) -> Places {
    let query = ["query", "--fields", "id,doc,split"];
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let records = fnstore_in(store, &[&query, list].concat()).records();
    let place = |of: &Value| (text(&of["id"]).unwrap(), [text(&of["doc"]), text(&of["split"])]);
    records.iter().map(place).collect()
}

fn of_csv(text: &str, id: &str) -> Places {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().unwrap().clone();
    let at = |name: &str| header.iter().position(|column| column == name).unwrap();
    let (id, columns) = (at(id), ["document", "split"].map(at));
    let filled = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let rows = reader.records().map(|row| {
        let row = row.unwrap();
        (row[id].to_owned(), columns.map(|column| filled(&row[column])))
    });
    rows.collect()
}

#[test]
fn hits_and_tables_have_the_document_and_the_part_of_a_generated_sets_seed() {
    let store = store();
    let list = store.path().join("fold.tsv");
    std::fs::write(&list, "exemplars\t*\tdev\ndocument\tHarbourLog\ttest\n").unwrap();
    let under = ["--split-list", list.to_str().unwrap()];
    let run = |arguments: &[&str], list: &[&str]| {
        let ran = fnstore_in(store.path(), &[arguments, list].concat());
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran
    };
    for list in [&[][..], &under] {
        let expected = fields(store.path(), list);
        let part = |id: &str| expected[id].clone().map(Option::unwrap_or_default);
        let (of_text, of_exemplar) = match list {
            [] => ("train", ""),
            _ => ("test", "dev"),
        };
        assert_eq!(part("g200"), ["HarbourLog", of_text]);
        assert_eq!(part("g101")[1], of_exemplar);
        let hits = run(&["query"], list).records();
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let of_hits: Places = hits
            .iter()
            .map(|hit| (text(&hit["id"]).unwrap(), [text(&hit["document"]), text(&hit["split"])]))
            .collect();
        assert_eq!(of_hits, expected);
        assert_eq!(of_csv(&run(&["query", "--format", "csv"], list).stdout, "id"), expected);
        assert_eq!(of_csv(&run(&["export", "--to", "csv"], list).stdout, "set"), expected);
        let shown = run(&["query", "--fields", "id,document,split", "--format", "csv"], list);
        assert_eq!(of_csv(&shown.stdout, "id"), expected);

        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("table.parquet");
        run(&["export", "--to", "parquet", file.to_str().unwrap()], list);
        let reader = SerializedFileReader::new(std::fs::File::open(&file).unwrap()).unwrap();
        let schema = reader.metadata().file_metadata().schema_descr_ptr();
        let at = |name: &str| schema.columns().iter().position(|of| of.name() == name).unwrap();
        let (set, columns) = (at("set"), ["document", "split"].map(at));
        let of_parquet: Places = reader
            .get_row_iter(None)
            .unwrap()
            .map(|row| {
                let row = row.unwrap();
                let text = |column| row.get_string(column).ok().cloned();
                (text(set).unwrap(), columns.map(text))
            })
            .collect();
        assert_eq!(of_parquet, expected);
    }
}
