//! What training leaves behind: a directory with `config.json`, which names the encoder whose
//! states were read, and `model.safetensors`. Heads and linkers are written, and find their
//! encoder, in the same way.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::AlignError;
use super::link_network::LinkNetwork;
use crate::durable::WholeDirectory;
use crate::learn::{CONFIG, FileError, Mlp, Weighted as _, read_config, write_model};

/// What is done when a head or linker cannot be written.
const WRITE: &str = "write a model to";

/// What every configuration says of the encoder.
#[derive(Debug, Deserialize)]
struct OfEncoder {
    encoder: String,
    #[serde(rename = "encoder_fingerprint")]
    _fingerprint: String,
    /// What only a head counts.
    unit: Option<String>,
}

impl OfEncoder {
    fn read(model: &Path) -> Result<Self, AlignError> {
        Ok(read_config(model, "read", "the configuration of a head or linker")?)
    }
}

/// The encoder that a head or linker names in its configuration: the directory of that name in the
/// first of several directories of models that has it. Nothing of it is loaded.
///
/// # Errors
/// When the configuration cannot be read, its `encoder` is no name but a path, or no directory has
/// it.
pub fn encoder_of(model: &Path, directories: &[PathBuf]) -> Result<PathBuf, AlignError> {
    let OfEncoder { encoder, .. } = OfEncoder::read(model)?;
    if !is_name(&encoder) {
        let expected = "the name of a directory among the models";
        let found = format!("`encoder` `{encoder}`");
        return Err(FileError::content(&model.join(CONFIG), 1, found, expected).into());
    }
    let mut places = directories.iter().map(|directory| directory.join(&encoder));
    places.find(|place| place.join(CONFIG).is_file()).ok_or_else(|| AlignError::EncoderMissing {
        model: model.to_owned(),
        encoder,
        searched: directories.to_vec(),
    })
}

/// Whether a directory is that of a head, and not of a linker.
pub(super) fn is_head(model: &Path) -> Result<bool, AlignError> {
    Ok(OfEncoder::read(model)?.unit.is_some())
}

/// The name under which a head or linker will look for its encoder: that of the encoder's
/// directory. A link has its own.
pub(super) fn encoder_name(directory: &Path) -> Result<String, AlignError> {
    let name_of = |path: &Path| Some(path.file_name()?.to_str()?.to_owned());
    let name = name_of(directory).or_else(|| name_of(&directory.canonicalize().ok()?));
    name.filter(|name| is_name(name))
        .ok_or_else(|| AlignError::EncoderName { path: directory.to_owned() })
}

/// Whether a text names a directory and no path.
fn is_name(name: &str) -> bool {
    Path::new(name).file_name() == Some(name.as_ref()) && !name.contains('\\')
}

/// Tries, before the work, whether a head or linker can be written at a place.
pub(super) fn prepare(out: &Path) -> Result<WholeDirectory, AlignError> {
    let prepared = WholeDirectory::prepare(out, |old| OfEncoder::read(old).is_ok());
    Ok(prepared.map_err(FileError::io(WRITE, out))?)
}

/// Writes a head or linker, all of it or nothing; a head with the linker that stands beside it.
pub(super) fn write(
    out: WholeDirectory,
    config: &impl Serialize,
    mlp: &Mlp,
    beside: Option<&LinkNetwork>,
) -> Result<(), AlignError> {
    let mut tensors = mlp.tensors("");
    tensors.extend(beside.into_iter().flat_map(LinkNetwork::tensors_beside_head));
    Ok(write_model(out, WRITE, config, &tensors)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::NetworkError;

    fn model(folder: &Path, encoder: &str) -> PathBuf {
        let model = folder.join("head");
        std::fs::create_dir_all(&model).unwrap();
        let config = serde_json::json!({ "encoder": encoder, "encoder_fingerprint": "abc" });
        std::fs::write(model.join(CONFIG), config.to_string()).unwrap();
        model
    }

    #[test]
    fn the_encoder_is_that_of_the_first_directory_that_has_the_name() {
        let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let directories = [a.path().to_owned(), b.path().to_owned()];
        let head = model(a.path(), "mine");
        let error = encoder_of(&head, &directories).unwrap_err();
        assert!(matches!(error, AlignError::EncoderMissing { .. }));
        assert!(error.to_string().contains("`mine`"), "{error}");
        for directory in [b.path(), a.path()] {
            std::fs::create_dir(directory.join("mine")).unwrap();
            std::fs::write(directory.join("mine").join(CONFIG), "{}").unwrap();
            assert_eq!(encoder_of(&head, &directories).unwrap(), directory.join("mine"));
        }
    }

    #[test]
    fn an_encoder_that_is_a_path_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let directories = [folder.path().to_owned()];
        for name in ["", ".", "..", "../head", "/etc", "a/", "a\\b", "./head"] {
            let error = encoder_of(&model(folder.path(), name), &directories).unwrap_err();
            assert!(
                matches!(error, AlignError::Network(NetworkError::File(FileError::Content { .. }))),
                "{name}: {error}"
            );
        }
    }

    #[test]
    fn an_encoder_is_called_as_its_directory() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("mini");
        std::fs::create_dir(&directory).unwrap();
        for path in [directory.clone(), directory.join("."), directory.join("x/..")] {
            std::fs::create_dir_all(directory.join("x")).unwrap();
            assert_eq!(encoder_name(&path).unwrap(), "mini", "{}", path.display());
        }
        let error = encoder_name(Path::new("/")).unwrap_err();
        assert!(matches!(error, AlignError::EncoderName { .. }), "{error}");
    }

    #[test]
    fn only_a_head_or_linker_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        assert!(prepare(&model(folder.path(), "mine")).is_ok());
        let encoder = folder.path().join("encoder");
        std::fs::create_dir(&encoder).unwrap();
        std::fs::write(encoder.join(CONFIG), r#"{"model_type": "bert"}"#).unwrap();
        let error = prepare(&encoder).unwrap_err().to_string();
        assert!(error.contains("cannot write a model to"), "{error}");
    }
}
