//! The rewriter of choice: `default.json` beside the models names it, or what is at hand decides.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{ModelError, is_model};
use crate::durable;
use crate::paraphrase::{ParaphraseError, base_of, is_adapter};

/// Name of the file, in a directory of models.
pub const PREFERRED: &str = "default.json";

/// Name of the rewriter that comes with the program whole.
pub const REWRITER: &str = "paraphrase";

/// Name of the adapter that comes with the program, for a language model that does not.
pub const ADAPTER: &str = "rewriter";

/// Name of the adapter that comes with the program and answers whether words evoke frames.
pub const VERIFIER: &str = "verifier";

/// What the file holds.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    paraphraser: String,
}

/// A choice, and where it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preferred {
    /// Name of the rewriter.
    pub paraphraser: String,
    /// The file that says so.
    pub file: PathBuf,
}

/// The choice of the first of several directories of models in which one was made.
///
/// # Errors
/// When a file is there and cannot be read as one.
pub fn preferred(directories: &[PathBuf]) -> Result<Option<Preferred>, ModelError> {
    for directory in directories {
        let file = directory.join(PREFERRED);
        let json = match std::fs::read(&file) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            json => json.map_err(|source| ModelError::File {
                action: "read",
                path: file.clone(),
                source,
            })?,
        };
        return match serde_json::from_slice(&json) {
            Ok(Record { paraphraser }) => Ok(Some(Preferred { paraphraser, file })),
            Err(error) => Err(ModelError::Choice { path: file, found: error.to_string() }),
        };
    }
    Ok(None)
}

/// Name of the rewriter that is taken when none is named, and the file that says so, if any does:
/// the adapter where its language model is at hand, else the rewriter that needs none.
///
/// # Errors
/// When a file of choice cannot be read as one.
pub fn default_rewriter(dirs: &[PathBuf]) -> Result<(String, Option<PathBuf>), ModelError> {
    Ok(match preferred(dirs)? {
        Some(choice) => (choice.paraphraser, Some(choice.file)),
        None => match adapter(dirs) {
            Some(Ok(())) => (ADAPTER.to_owned(), None),
            _ => (REWRITER.to_owned(), None),
        },
    })
}

/// Whether the language model of the program's adapter is at hand; none where there is no adapter.
#[must_use]
pub fn adapter(dirs: &[PathBuf]) -> Option<Result<(), ParaphraseError>> {
    let mut places = dirs.iter().map(|dir| dir.join(ADAPTER));
    let place = places.find(|place| is_adapter(place))?;
    Some(base_of(&place, dirs).map(drop))
}

/// A model's directory: the path itself, or the first directory of models that has one of the name.
#[must_use]
pub fn find(name: &Path, dirs: &[PathBuf]) -> Option<PathBuf> {
    let mut places = std::iter::once(name.to_owned()).chain(dirs.iter().map(|dir| dir.join(name)));
    places.find(|place| is_model(place))
}

/// Makes a rewriter the choice of a directory of models; what stood there before stays until the
/// new choice is on disk. Returns the file.
///
/// # Errors
/// When the file cannot be written.
pub fn prefer(directory: &Path, paraphraser: &str) -> Result<PathBuf, ModelError> {
    let file = directory.join(PREFERRED);
    let record = Record { paraphraser: paraphraser.to_owned() };
    let mut json = serde_json::to_vec_pretty(&record).expect("a name is JSON");
    json.push(b'\n');
    let written =
        durable::create_directory(directory).and_then(|()| durable::write_file(&file, &json));
    written.map_err(|source| ModelError::File { action: "write", path: file.clone(), source })?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_directory_with_a_choice_has_it() {
        let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let dirs = [a.path().to_owned(), b.path().to_owned()];
        assert_eq!(preferred(&dirs).unwrap(), None);
        let file = prefer(b.path(), "mine").unwrap();
        let choice = Preferred { paraphraser: "mine".to_owned(), file };
        assert_eq!(preferred(&dirs).unwrap(), Some(choice));
        prefer(&a.path().join("new/deep"), "x").unwrap();
        prefer(a.path(), "other").unwrap();
        assert_eq!(preferred(&dirs).unwrap().unwrap().paraphraser, "other");
        for wrong in ["{}", "[]", "{\"paraphraser\": 5}", "{\"paraphraser\": \"x\", \"y\": 1}"] {
            std::fs::write(a.path().join(PREFERRED), wrong).unwrap();
            let message = preferred(&dirs).unwrap_err().to_string();
            assert!(message.contains("as the choice of a model writes it"), "{wrong}: {message}");
        }
    }
}
