//! What a lexicon is called, and its licence, where its files do not say it.

use std::fs;
use std::path::{Path, PathBuf};

use super::tree::{files_in, load};
use crate::model::ResourceKind;

/// Most bytes of a licence that are kept.
const LICENCE_BYTES: usize = 4096;

/// What a lexicon is called: the last name of its path that says more than `frames` does.
pub(super) fn name_of(path: &Path, kind: ResourceKind) -> String {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let directory = if path.is_file() { path.parent() } else { Some(&*path) };
    let names = directory.into_iter().flat_map(Path::ancestors).take(2);
    let names = names.filter_map(|path| path.file_name()?.to_str().map(str::to_lowercase));
    let speaking = names.map(|name| name.replace(char::is_whitespace, "-")).find(|name| {
        ["verbnet", "propbank", "semlink", "matrix"].iter().any(|of| name.contains(of))
    });
    speaking.unwrap_or_else(|| kind.as_str().to_owned())
}

/// The text of a licence beside a lexicon's files, or in the directory above.
pub(super) fn licence_at(path: &Path) -> String {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let directory = if path.is_file() { path.parent() } else { Some(&*path) };
    let is_licence = |file: &PathBuf| {
        let name = file.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        ["licence", "license", "copying"].iter().any(|of| name.starts_with(of))
    };
    let directories = directory.into_iter().flat_map(Path::ancestors).take(2);
    let mut files = directories.flat_map(|of| files_in(of, &[""])).filter(is_licence);
    let text = files.next().and_then(|file| load(&file).ok()).map(|(_, text)| text);
    let mut text = text.unwrap_or_default();
    text.truncate(text.floor_char_boundary(LICENCE_BYTES));
    text.trim().to_owned()
}
