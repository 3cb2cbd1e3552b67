//! What VerbNet and PropBank have in common: many small XML files that become predicates.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::provenance::{licence_at, name_of};
use super::tree::{beginning, files_in, has_root, load, parse};
use super::{LexicaError, Result, propbank, verbnet};
use crate::model::{Predicate, ResourceCounts, ResourceKind};

/// What the files of VerbNet or PropBank hold.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PredicateFiles {
    /// Which of both.
    pub kind: ResourceKind,
    /// What it is called: the name of its directory.
    pub name: String,
    /// Its version; empty where neither its files nor its directory's name say it.
    pub version: String,
    /// Its licence: the text beside its files; may be empty.
    pub licence: String,
    /// Bytes of the files.
    pub bytes: u64,
    /// The predicates, by name.
    pub predicates: Vec<Predicate>,
}

/// The root elements that tell what a file is.
const ROOTS: [(&str, ResourceKind); 2] =
    [("VNCLASS", ResourceKind::Verbnet), ("frameset", ResourceKind::Propbank)];

/// The folder of PropBank's files.
const FRAMES: &str = "frames";

/// What an XML file holds, by its root.
fn kind_of(path: &Path) -> Option<ResourceKind> {
    let start = beginning(path);
    ROOTS.into_iter().find(|(root, _)| has_root(&start, root)).map(|(_, kind)| kind)
}

/// The files of VerbNet or PropBank in a place: a file, its directory, or that with `frames`.
fn files_at(path: &Path) -> Option<(ResourceKind, Vec<PathBuf>)> {
    if path.is_file() {
        return kind_of(path).map(|kind| (kind, vec![path.to_owned()]));
    }
    let directories = [path.to_owned(), path.join(FRAMES)];
    directories.iter().find_map(|directory| {
        let files = files_in(directory, &[".xml"]);
        // A template or a schema may lie among the files.
        let kind = files.iter().find_map(|file| kind_of(file))?;
        Some((kind, files))
    })
}

impl PredicateFiles {
    /// What a place looks to hold, by the beginning of its files.
    pub(super) fn kind_at(path: &Path) -> Option<ResourceKind> {
        if path.is_file() { kind_of(path) } else { files_at(path).map(|(kind, _)| kind) }
    }

    /// Reads VerbNet or PropBank: the directory of its XML files, or one of them. A file of another
    /// root is not read.
    ///
    /// # Errors
    /// When the place holds none, or a file is not what it should be.
    pub fn read(path: &Path) -> Result<Self> {
        let none = || LexicaError::None {
            path: path.to_owned(),
            expected: "XML files with the root `VNCLASS` or `frameset`".to_owned(),
        };
        let (kind, files) = files_at(path).ok_or_else(none)?;
        let (mut bytes, mut version) = (0, String::new());
        let mut read = BTreeMap::new();
        for file in files.iter().filter(|file| kind_of(file) == Some(kind)) {
            let (name, text) = load(file)?;
            bytes += text.len() as u64;
            let root = parse(&name, &text)?;
            let found = match kind {
                ResourceKind::Verbnet => verbnet::predicates_of(&root, &name)?,
                _ => {
                    version = version.max(propbank::version_of(&text));
                    propbank::predicates_of(&root, &name)?
                }
            };
            for (predicate, at) in found {
                if read.contains_key(&predicate.name) {
                    return Err(at.repeated("predicate", predicate.name));
                }
                read.insert(predicate.name.clone(), predicate);
            }
        }
        let name = name_of(path, kind);
        if version.is_empty() {
            version = name.trim_start_matches(|letter: char| !letter.is_ascii_digit()).to_owned();
        }
        let licence = licence_at(path);
        Ok(Self { kind, name, version, licence, bytes, predicates: read.into_values().collect() })
    }

    /// How many of each thing there are.
    #[must_use]
    pub fn counts(&self) -> ResourceCounts {
        let members = || self.predicates.iter().flat_map(|predicate| &predicate.members);
        let words: BTreeSet<_> = members().map(|member| (&member.lemma, &member.pos)).collect();
        ResourceCounts {
            words: words.len() as u64,
            senses: members().count() as u64,
            predicates: self.predicates.len() as u64,
            roles: self.predicates.iter().map(|predicate| predicate.roles.len() as u64).sum(),
            ..ResourceCounts::default()
        }
    }
}
