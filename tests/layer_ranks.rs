//! GF layers of a second rank, as other releases than FrameNet's may have them.

use std::fs;

use fnstore::database::Database;
use fnstore::internals::WithStore as _;
use fnstore::model::{AnnotationSetId, IdSpace, LayerName};

use crate::cli_program::{fnstore_in, mini_framenet};
use crate::mini;

const LU: &str = "lu/lu1202.xml";

/// The set 7062 has a second FE on the span of its Traveller, with a GF layer of the same rank.
const SECOND: &str = "<layer rank=\"2\" name=\"FE\">\
                      <label end=\"16\" start=\"14\" feID=\"2201\" name=\"Traveller\"/></layer>\
                      <layer rank=\"2\" name=\"GF\">\
                      <label end=\"16\" start=\"14\" name=\"Ext\"/></layer>";

#[test]
fn a_second_gf_layer_is_kept_told_and_left_as_it_is_by_edits() {
    let dir = tempfile::tempdir().unwrap();
    let (release, store) = (dir.path().join("ranks"), dir.path().join("store"));
    mini::copy(&mini_framenet(), &release);
    let text = fs::read_to_string(release.join(LU)).unwrap();
    let empty = "<layer rank=\"1\" name=\"Sent\"/>";
    assert_eq!(text.matches(empty).count(), 1);
    fs::write(release.join(LU), text.replace(empty, &format!("{empty}{SECOND}"))).unwrap();
    let import = fnstore_in(&store, &["import", release.to_str().unwrap(), "--format", "json"]);
    assert_eq!(import.code, Some(0), "{import:?}");
    let report: serde_json::Value = serde_json::from_str(&import.stdout).unwrap();
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("W-layer-rank"), "{warnings}");

    let xml = dir.path().join("xml");
    for to in ["conll", "bios", "training-conll", "csv", "jsonl"] {
        let ran = fnstore_in(&store, &["export", "id=x7062", "--to", to]);
        assert_eq!(ran.code, Some(0), "{to}: {ran:?}");
        if to == "csv" {
            let row = ran.stdout.lines().find(|row| row.contains(",Traveller,Core,2,")).unwrap();
            assert!(row.contains(",Ext,"), "{row}");
        }
    }
    let ran = fnstore_in(&store, &["export", "--to", "framenet-xml", xml.to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let written = fs::read_to_string(xml.join(LU)).unwrap();
    let (_, second) = written.split_once("<layer rank=\"2\" name=\"GF\">").unwrap();
    let label = "<label end=\"16\" start=\"14\" name=\"Ext\"/>";
    assert!(second.trim_start().starts_with(label), "{written}");

    // The layer stays through an edit of the set; another of its kind is refused.
    let database = Database::open_writer(&store).unwrap();
    let id = database.release("ranks").unwrap().id;
    let set = AnnotationSetId::new(IdSpace::Exemplar, 7062);
    let mut set = database.store().annotation_set(id, set).unwrap().unwrap();
    let mut edits = database.transaction(id).unwrap();
    set.status = "MANUAL2".to_owned();
    edits.set_annotation_set(set.clone()).unwrap();
    let at = set.layers.iter().position(|layer| (&layer.name, layer.rank) == (&LayerName::Gf, 2));
    set.layers[at.unwrap()].labels[0].name = "Obj".to_owned();
    let refused = edits.set_annotation_set(set).unwrap_err();
    let message = format!("layers[{}].rank` is `2`; expected 1: GF has one layer", at.unwrap());
    assert!(refused.to_string().contains(&message), "{refused}");
}
