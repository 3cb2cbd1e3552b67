//! A checkpoint of `transformers`, or a GGUF file, becomes one of the models.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::describe::files_of;
use super::sums::is_of_model;
use super::{Description, Finding, FindingCode, ModelError, describe, record_sums, verify};
use crate::durable::{NewDirectory, create_directory};
use crate::engine::LANGUAGES;

/// How the folder of a model that is not whole yet begins.
const UNFINISHED: &str = ".adding-";

/// Copies a checked checkpoint (a directory, or a GGUF file with the prompt beside it) into a
/// directory of models, under a name of its own. Records the hashes of its files. It is there whole
/// or not at all.
///
/// The encoder of an aligner's head is looked for in `directories`, as in `verify`.
///
/// # Errors
/// When the name cannot be a folder's or is taken, anything is wrong with the checkpoint, or it
/// cannot be copied.
pub fn add(
    checkpoint: &Path,
    models: &Path,
    name: &str,
    directories: &[PathBuf],
) -> Result<Description, ModelError> {
    if !is_name(name) {
        return Err(ModelError::Name { name: name.to_owned() });
    }
    let place = models.join(name);
    if place.exists() {
        return Err(ModelError::Exists { path: place });
    }
    let findings = verify(checkpoint, directories).findings;
    if !findings.is_empty() {
        return Err(ModelError::Broken { path: checkpoint.to_owned(), findings });
    }
    let own = describe(checkpoint)?;

    let write = |source| ModelError::File { action: "write", path: place.clone(), source };
    create_directory(models).map_err(write)?;
    let _alone = remove_unfinished(models);
    let unfinished = NewDirectory::create(&place, UNFINISHED).map_err(write)?;
    let folder = if checkpoint.is_file() { checkpoint.parent() } else { Some(checkpoint) };
    let folder = folder.unwrap_or(Path::new(""));
    for (file, _) in files_of(checkpoint)? {
        if is_wanted(&file) {
            copy(&folder.join(&file), &unfinished.path().join(&file))?;
        }
    }
    record_sums(unfinished.path())?;
    let copied = describe(unfinished.path())?;
    if copied.fingerprint != own.fingerprint {
        let detail = "its files changed while they were copied; run it again".to_owned();
        let findings = vec![Finding { code: FindingCode::Sum, detail }];
        return Err(ModelError::Broken { path: checkpoint.to_owned(), findings });
    }
    // A model of the name that came meanwhile stays.
    unfinished.publish().map_err(write)?;
    Ok(Description { path: place, ..copied })
}

/// Whether a name is good for a folder everywhere, and no path.
fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(is_plain)
}

/// Whether a file of a checkpoint is copied: what the model is made of, what transformers wants
/// beside that, and what says what it is.
fn is_wanted(file: &str) -> bool {
    let stem = file.split('.').next().unwrap_or(file).to_ascii_uppercase();
    is_of_model(file)
        || file == LANGUAGES
        || ["tokenizer_config.json", "special_tokens_map.json"].contains(&file)
        || ["README", "MODEL_CARD", "LICENSE", "LICENCE", "NOTICE"].contains(&stem.as_str())
}

/// Removes what killed runs left. Those who add to a directory wait for one another while the
/// handle lives, so whatever is unfinished now stays so; where the platform cannot lock one,
/// nothing is removed.
fn remove_unfinished(models: &Path) -> Option<File> {
    let handle = File::open(models).ok()?;
    handle.lock().ok()?;
    for entry in fs::read_dir(models).ok()?.flatten() {
        if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
            // It is in nobody's way; the next run tries again.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    Some(handle)
}

/// Copies the bytes, and not who may read them: a model is everybody's.
fn copy(from: &Path, to: &Path) -> Result<(), ModelError> {
    let copy = || std::io::copy(&mut File::open(from)?, &mut File::create_new(to)?).map(drop);
    copy().map_err(|source| ModelError::File { action: "copy", path: from.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::super::SUMS;
    use super::*;

    #[test]
    fn names_are_no_paths_and_not_hidden() {
        for name in ["flan-t5", "t5_v1.1", "7b"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", ".", "..", ".hidden", "a/b", "a\\b", "a b", "-x", "caf\u{e9}"] {
            assert!(!is_name(name), "{name}");
        }
    }

    #[test]
    fn what_a_model_is_made_of_is_copied_and_training_leftovers_are_not() {
        for file in ["config.json", "model-00001-of-00002.safetensors", "README.md", "LICENSE"] {
            assert!(is_wanted(file), "{file}");
        }
        for file in ["optimizer.pt", "pytorch_model.bin", "trainer_state.json", SUMS] {
            assert!(!is_wanted(file), "{file}");
        }
    }

    #[test]
    fn what_a_killed_run_left_is_removed_and_models_are_not() {
        let models = tempfile::tempdir().unwrap();
        for name in [".adding-a1", "mine", ".other"] {
            fs::create_dir(models.path().join(name)).unwrap();
            fs::write(models.path().join(name).join("config.json"), "{}").unwrap();
        }
        let _alone = remove_unfinished(models.path());
        let entries = fs::read_dir(models.path()).unwrap();
        let mut left: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        left.sort_unstable();
        assert_eq!(left, [".other", "mine"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_copy_of_a_private_file_can_be_read_as_any_new_file() {
        use std::os::unix::fs::PermissionsExt as _;
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let mode = |name: &str| fs::metadata(at(name)).unwrap().permissions().mode();
        fs::write(at("private"), "text").unwrap();
        fs::set_permissions(at("private"), fs::Permissions::from_mode(0o400)).unwrap();
        fs::write(at("new"), "").unwrap();
        copy(&at("private"), &at("copy")).unwrap();
        assert_eq!(fs::read(at("copy")).unwrap(), b"text");
        assert_eq!(mode("copy"), mode("new"));
        let again = copy(&at("private"), &at("copy")).unwrap_err();
        let ModelError::File { source, .. } = again else { panic!("{again}") };
        assert_eq!(source.kind(), std::io::ErrorKind::AlreadyExists);
    }
}
