//! The files of an XML export have the same names and bytes each time, and none that a file system
//! refuses.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use fnstore::database::Database;

use crate::framenet_round_trip::{assert_equal, export};
use crate::mini;
use crate::others_releases::{Deviating, everywhere};

/// Every file below a directory, by its path there.
fn files(directory: &Path) -> BTreeSet<(String, Vec<u8>)> {
    let mut found = BTreeSet::new();
    for folder in ["", "frame", "lu", "fulltext"] {
        for entry in fs::read_dir(directory.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let name = path.strip_prefix(directory).unwrap().display().to_string();
                found.insert((name, fs::read(&path).unwrap()));
            }
        }
    }
    found
}

/// Frames that all want one file: which of them gets it must not depend on the threads.
#[test]
fn names_that_collide_are_given_in_order_of_ids() {
    let dir = tempfile::tempdir().unwrap();
    let release = dir.path().join("release");
    mini::copy(&mini::framenet(), &release);
    let roaming = fs::read_to_string(release.join("frame/Roaming.xml")).unwrap();
    let id = roaming.split(" ID=\"").nth(1).unwrap().split('"').next().unwrap();
    for at in 0..12 {
        let name = if at % 2 == 0 { "twin" } else { "Twin" };
        let twin = roaming
            .replacen(&format!(" ID=\"{id}\""), &format!(" ID=\"{}\"", 600 + at), 1)
            .replacen("name=\"Roaming\"", &format!("name=\"{name}\""), 1);
        fs::write(release.join(format!("frame/h{at:02}.xml")), twin).unwrap();
    }
    let database = Database::open_writer(&dir.path().join("store")).unwrap();
    mini::import(&database, &release).unwrap();
    let mut exports = BTreeSet::new();
    for turn in 0..6 {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1 + turn % 4).build().unwrap();
        let out = dir.path().join(format!("out-{turn}"));
        pool.install(|| export(&database, "", &out).unwrap().unwrap());
        exports.insert(files(&out));
    }
    assert_eq!(exports.len(), 1, "the same store, exported differently");
    let first = fs::read_to_string(dir.path().join("out-0/frame/twin.xml")).unwrap();
    assert!(first.contains("ID=\"600\""), "the lowest id has the plain name");
    // A part of the release names its files as the whole does.
    let part = dir.path().join("part");
    export(&database, "frame=Roaming", &part).unwrap().unwrap();
    let (part, whole) = (files(&part), exports.pop_first().unwrap());
    let names = |files: &BTreeSet<(String, Vec<u8>)>| -> BTreeSet<String> {
        files.iter().map(|(name, _)| name.clone()).collect()
    };
    assert!(names(&part).is_subset(&names(&whole)), "{:?}", names(&part));
}

/// A file system takes names of 255 bytes; a release may have longer ones in a zip file, or a
/// frame's name beside a file called otherwise.
#[test]
fn a_frame_that_only_an_index_lists_takes_no_name_from_one_that_has_a_file() {
    let kept = Deviating::new(|release| {
        let index = release.join("frameIndex.xml");
        let text = std::fs::read_to_string(&index).unwrap();
        std::fs::write(&index, text.replace("ID=\"104\"", "ID=\"0\"")).unwrap();
    });
    assert!(files(&kept.out()).iter().any(|(name, _)| name == "frame/Roaming.xml"));
}

#[test]
fn a_name_that_is_too_long_for_a_file_is_cut_in_the_file_s_name_alone() {
    // In Greek letters of two bytes each.
    let long = "\u{3a3}".repeat(300);
    let number = "9".repeat(300);
    let kept = Deviating::new(|release| {
        everywhere(release, &mut |_, content| {
            content.replace("Roaming", &long).replace("\"1202\"", &format!("\"{number}\""))
        });
    });
    assert!(!mini::answers(&kept.database, &format!("frame={long}")).is_empty());
    let names: Vec<String> = files(&kept.out()).into_iter().map(|(name, _)| name).collect();
    let frame = names.iter().find(|name| name.contains('\u{3a3}')).unwrap();
    assert!((250..=255).contains(&(frame.len() - "frame/".len())), "{frame}");
    assert!(names.iter().any(|name| name.starts_with("lu/lu9999")), "{names:?}");
    // What such a file is called says nothing: a second store exports the same.
    let dir = tempfile::tempdir().unwrap();
    let second = Database::open_writer(&dir.path().join("store")).unwrap();
    mini::import(&second, &kept.out()).unwrap();
    assert_equal(&kept.database, &second);
    export(&second, "", &dir.path().join("out")).unwrap().unwrap();
    assert_eq!(files(&kept.out()), files(&dir.path().join("out")));
}
