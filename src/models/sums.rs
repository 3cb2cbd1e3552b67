//! `BLAKE3SUMS`: the hash of each file that a model is made of, a line for each as `b3sum` writes
//! them (`b3sum --check BLAKE3SUMS` checks them without this program).

use std::collections::BTreeMap;
use std::path::Path;

use super::describe::files_of;
use super::{Finding, FindingCode, ModelError};
use crate::durable::write_file;
use crate::engine::ADAPTER_CONFIG;
use crate::filter::CHOICE;
use crate::paraphrase::PROMPT;
use crate::text::input::read_text;
use crate::verify::CALIBRATION;

/// Name of the file.
pub const SUMS: &str = "BLAKE3SUMS";

/// Whether a model's results depend on a file of this name.
pub(super) fn is_of_model(name: &str) -> bool {
    const NAMED: [&str; 4] =
        ["config.json", "generation_config.json", "tokenizer.json", "words.txt"];
    NAMED.contains(&name)
        || [ADAPTER_CONFIG, CALIBRATION, CHOICE, PROMPT].contains(&name)
        || name.ends_with(".gguf")
        || name.ends_with(".safetensors")
        || name.ends_with(".safetensors.index.json")
}

/// Writes the hashes of a model's files, in place of earlier ones.
///
/// # Errors
/// When a file cannot be read, or the list cannot be written.
pub fn record_sums(directory: &Path) -> Result<(), ModelError> {
    let mut text = String::new();
    for (name, hash) in hashes(directory)? {
        text.push_str(&format!("{hash}  {name}\n"));
    }
    let path = directory.join(SUMS);
    write_file(&path, text.as_bytes()).map_err(|source| ModelError::File {
        action: "write",
        path,
        source,
    })
}

/// What differs from the hashes that were recorded; `None` when none were.
pub(super) fn check(directory: &Path) -> Result<Option<Vec<Finding>>, ModelError> {
    if directory.is_file() {
        return Ok(None);
    }
    let path = directory.join(SUMS);
    let text = match read_text(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        text => {
            text.map_err(|source| ModelError::File { action: "read", path: path.clone(), source })?
        }
    };
    let mut recorded = BTreeMap::new();
    for line in text.lines() {
        let Some((hash, name)) = line.split_once("  ") else {
            let found = format!("the line `{line}`");
            let expected = "a hash, two spaces and a name".to_owned();
            return Err(ModelError::Content { path, found, expected });
        };
        recorded.insert(name.to_owned(), hash.to_owned());
    }
    let found = hashes(directory)?;
    let finding = |detail| Finding { code: FindingCode::Sum, detail };
    let mut findings = Vec::new();
    for (name, hash) in &recorded {
        match found.get(name) {
            None => findings.push(finding(format!("`{name}` is in {SUMS} and not there"))),
            Some(own) if own != hash => {
                findings.push(finding(format!("`{name}` is not the file that {SUMS} names")));
            }
            Some(_) => {}
        }
    }
    for name in found.keys().filter(|name| !recorded.contains_key(*name)) {
        findings.push(finding(format!("`{name}` is not in {SUMS}")));
    }
    Ok(Some(findings))
}

fn hashes(directory: &Path) -> Result<BTreeMap<String, String>, ModelError> {
    let files = files_of(directory)?.into_iter().filter(|(name, _)| is_of_model(name));
    let hashes = files.map(|(name, _)| {
        let path = directory.join(&name);
        let mut hasher = blake3::Hasher::new();
        let file = std::fs::File::open(&path);
        let read = file.and_then(|file| hasher.update_reader(file).map(|_| ()));
        read.map_err(|source| ModelError::File { action: "read", path, source })?;
        Ok((name, hasher.finalize().to_hex().to_string()))
    });
    hashes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_changed_went_or_came_is_found() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            std::fs::write(directory.path().join(name), text).unwrap();
        };
        let found = || -> Vec<String> {
            let findings = check(directory.path()).unwrap().unwrap();
            findings.iter().map(ToString::to_string).collect()
        };
        write("config.json", "{}");
        write("model.safetensors", "weights");
        write("README.md", "words");
        assert_eq!(check(directory.path()).unwrap(), None);
        record_sums(directory.path()).unwrap();
        assert_eq!(found(), [""; 0]);
        write("README.md", "other words");
        assert_eq!(found(), [""; 0]);
        write("config.json", "{ }");
        write("tokenizer.json", "{}");
        std::fs::remove_file(directory.path().join("model.safetensors")).unwrap();
        assert_eq!(
            found(),
            [
                "M-sum: `config.json` is not the file that BLAKE3SUMS names",
                "M-sum: `model.safetensors` is in BLAKE3SUMS and not there",
                "M-sum: `tokenizer.json` is not in BLAKE3SUMS"
            ]
        );
        write(SUMS, "nonsense\n");
        let message = check(directory.path()).unwrap_err().to_string();
        assert!(message.contains("`nonsense`"), "{message}");
    }
}
