//! The schemas as their files have them: the prose that no doc comment says stays.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

/// All schemas by name.
pub(super) struct Files(BTreeMap<String, Value>);

impl Files {
    pub(super) fn read(folder: &Path) -> Self {
        let mut files = BTreeMap::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let file = path.file_name().unwrap().to_str().unwrap();
            if let Some(name) = file.strip_suffix(".schema.json") {
                let text = std::fs::read_to_string(&path).unwrap();
                files.insert(name.to_owned(), serde_json::from_str(&text).unwrap());
            }
        }
        Self(files)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    pub(super) fn root(&self, name: &str) -> Option<Prose<'_>> {
        let (name, node) = self.0.get_key_value(name)?;
        Some(Prose { files: self, name, node })
    }
}

/// A place in a file.
#[derive(Clone, Copy)]
pub(super) struct Prose<'a> {
    files: &'a Files,
    name: &'a str,
    node: &'a Value,
}

impl<'a> Prose<'a> {
    /// What a keyword says here, or where a reference leads.
    pub(super) fn text(self, keyword: &str) -> Option<&'a Value> {
        self.node.get(keyword).or_else(|| self.followed()?.text(keyword))
    }

    /// The place below, as in `/properties/name` or `/items`.
    pub(super) fn below(self, place: &str) -> Self {
        let found = self.node.pointer(place).map(|node| Self { node, ..self });
        let found = found.or_else(|| Some(self.followed()?.below(place)));
        let branches = || self.node["anyOf"].as_array().into_iter().flatten();
        let in_branches = || {
            let mut each = branches().map(|node| Self { node, ..self }.below(place));
            each.find(|below| !below.node.is_null())
        };
        found.or_else(in_branches).unwrap_or(Self { node: &Value::Null, ..self })
    }

    fn followed(self) -> Option<Self> {
        let (file, place) = self.node["$ref"].as_str()?.split_once('#')?;
        let name = file.strip_suffix(".schema.json").unwrap_or(self.name);
        let root = self.files.root(name)?;
        Some(Self { node: root.node.pointer(place)?, ..root })
    }
}
