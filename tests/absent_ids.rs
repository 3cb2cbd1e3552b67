//! Records without an id are known by their names and contents, whatever the order of files.

use std::path::Path;

use fnstore::database::Database;
use fnstore::internals::WithStore as _;

use crate::framenet_round_trip::export;
use crate::import_warnings;
use crate::mini;
use crate::others_releases::{Deviating, everywhere, replace};

/// Takes an attribute out of every tag of a name.
fn without(content: &str, tag: &str, attribute: &str) -> String {
    let start = format!("<{tag} ");
    let mut parts = content.split(&start);
    let mut changed = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (inside, after) = part.split_at(part.find('>').unwrap());
        let inside = format!(" {inside}");
        let given = inside.find(&format!(" {attribute}=\""));
        let inside = match given {
            Some(at) => {
                let value = at + attribute.len() + 3;
                let end = value + inside[value..].find('"').unwrap() + 1;
                format!("{}{}", &inside[..at], &inside[end..])
            }
            None => inside,
        };
        changed.push_str(&format!("<{tag}{inside}{after}"));
    }
    changed
}

/// Every set with its sentence, its LU and its text.
fn sets(database: &Database) -> Vec<String> {
    let answers = database.query(&"".parse().unwrap()).unwrap();
    let mut sets: Vec<String> = answers
        .map(|answer| {
            let answer = answer.unwrap();
            let (set, sentence) = (&answer.set, &answer.sentence);
            format!("{} {} {} {}", set.id, sentence.id, answer.lexunit, sentence.text)
        })
        .collect();
    sets.sort();
    sets
}

fn without_ids_of_sets_and_sentences(release: &Path) {
    everywhere(release, &mut |_, content| {
        let content = without(&content, "annotationSet", "ID");
        without(&content, "sentence", "ID")
    });
}

#[test]
fn sets_and_sentences_without_ids_come_back_and_keep_theirs_when_files_are_read_in_another_order() {
    let kept = Deviating::new(without_ids_of_sets_and_sentences);
    let (dir, other) = import_warnings::base();
    without_ids_of_sets_and_sentences(&other);
    // The last file of LUs comes first.
    let mut files: Vec<_> = std::fs::read_dir(other.join("lu")).unwrap().collect();
    files.sort_by_key(|entry| entry.as_ref().unwrap().file_name());
    for (number, entry) in files.into_iter().rev().enumerate() {
        let name = format!("lu/a{number:03}.xml");
        std::fs::rename(entry.unwrap().path(), other.join(name)).unwrap();
    }
    let second = Database::open_writer(&dir.path().join("second")).unwrap();
    mini::import(&second, &other).unwrap();
    assert!(!sets(&second).is_empty());
    assert_eq!(sets(&second), sets(&kept.database));
}

#[test]
fn an_lu_without_an_id_keeps_its_number_in_every_import_and_round_trip() {
    let kept = Deviating::new(|release| {
        let file = "lu/lu1202.xml";
        replace(release, file, " ID=\"1202\"", "");
        replace(release, "frame/Roaming.xml", " ID=\"1202\"", "");
        replace(release, "luIndex.xml", " ID=\"1202\"", "");
        everywhere(release, &mut |_, content| content.replace(" luID=\"1202\"", ""));
    });
    let lu = |database: &Database| {
        let release = database.releases().unwrap()[0].id;
        let mut names = database.store().lexunit_names(release).unwrap().map(Result::unwrap);
        let (_, lu, _) = names.find(|(.., name)| name == "cycle.v").unwrap();
        lu
    };
    let found = mini::answers(&kept.database, "lu=cycle.v");
    assert!(!found.is_empty());
    let dir = tempfile::tempdir().unwrap();
    let mut before = kept.database.dir().to_owned();
    for round in 0..3 {
        let database = Database::open(&before).unwrap();
        assert_eq!(lu(&database), lu(&kept.database), "round {round}");
        assert_eq!(mini::answers(&database, "lu=cycle.v"), found, "round {round}");
        let out = dir.path().join(format!("{round}/mini-framenet"));
        std::fs::create_dir(out.parent().unwrap()).unwrap();
        export(&database, "", &out).unwrap().unwrap();
        before = dir.path().join(format!("store-{round}"));
        mini::import(&Database::open_writer(&before).unwrap(), &out).unwrap();
    }
}
