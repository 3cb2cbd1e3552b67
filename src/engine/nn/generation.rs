//! The special tokens with which an encoder-decoder is driven, and the two files that state them.
//!
//! Older exports state them in `config.json`, newer ones in `generation_config.json`. What the
//! latter states wins, as in transformers.

use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize};

use super::config::{ConfigError, read_json};

const CONFIG: &str = "config.json";
pub(super) const BESIDE: &str = "generation_config.json";

/// How outputs begin and end, and what the network was trained to read.
#[derive(Debug, PartialEq)]
pub(super) struct Generation {
    pub(super) start_token: u32,
    pub(super) forced_token: Option<u32>,
    pub(super) eos_token: u32,
    pub(super) avoid_token: Option<String>,
    pub(super) source_prefix: Option<String>,
}

/// What one file states, or both together.
#[derive(Clone, Default, PartialEq, Deserialize, Serialize)]
struct Stated {
    decoder_start_token_id: Option<u32>,
    forced_bos_token_id: Option<u32>,
    #[serde(default, deserialize_with = "one_or_more")]
    eos_token_id: Option<Vec<u32>>,
    avoid_token: Option<String>,
    source_prefix: Option<String>,
}

impl Stated {
    fn read(directory: &Path, name: &str) -> Result<Self, ConfigError> {
        let path = directory.join(name);
        if path.exists() { read_json(&path) } else { Ok(Self::default()) }
    }

    fn or(self, other: Self) -> Self {
        Self {
            decoder_start_token_id: self.decoder_start_token_id.or(other.decoder_start_token_id),
            forced_bos_token_id: self.forced_bos_token_id.or(other.forced_bos_token_id),
            eos_token_id: self.eos_token_id.or(other.eos_token_id),
            avoid_token: self.avoid_token.or(other.avoid_token),
            source_prefix: self.source_prefix.or(other.source_prefix),
        }
    }
}

/// A token id, alone or in a list.
pub(super) fn one_or_more<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<Vec<u32>>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a token id or a list of them")]
    enum Ids {
        One(u32),
        More(Vec<u32>),
    }
    Ok(Option::<Ids>::deserialize(from)?.map(|ids| match ids {
        Ids::One(id) => vec![id],
        Ids::More(ids) => ids,
    }))
}

impl Generation {
    /// Reads what the files of a model directory state; ids are to be below `vocab_size`.
    ///
    /// # Errors
    /// When a file is damaged, a token is not stated or not known, or an output may end in several.
    pub(super) fn read(directory: &Path, vocab_size: usize) -> Result<Self, ConfigError> {
        let beside = Stated::read(directory, BESIDE)?;
        let all = beside.clone().or(Stated::read(directory, CONFIG)?);
        let token = |field, id: Option<u32>, is_beside: bool| {
            let expected = match id {
                Some(id) if (id as usize) < vocab_size => return Ok(id),
                Some(_) => format!("a token id below {vocab_size}"),
                None => format!("a token id, here or in {BESIDE}"),
            };
            let found = id.map_or("absent".to_owned(), |id| id.to_string());
            let path = directory.join(if is_beside { BESIDE } else { CONFIG });
            Err(ConfigError::Unsupported { field, found, expected, path })
        };
        let eos_is_beside = beside.eos_token_id.is_some();
        let eos = match all.eos_token_id.as_deref() {
            None => None,
            Some([id]) => Some(*id),
            Some(ids) => {
                return Err(ConfigError::Unsupported {
                    field: "eos_token_id",
                    found: format!("{ids:?}"),
                    expected: "one token id".to_owned(),
                    path: directory.join(if eos_is_beside { BESIDE } else { CONFIG }),
                });
            }
        };
        let start_is_beside = beside.decoder_start_token_id.is_some();
        let forced_is_beside = beside.forced_bos_token_id.is_some();
        let forced = all
            .forced_bos_token_id
            .map(|id| token("forced_bos_token_id", Some(id), forced_is_beside));
        Ok(Self {
            start_token: token(
                "decoder_start_token_id",
                all.decoder_start_token_id,
                start_is_beside,
            )?,
            forced_token: forced.transpose()?,
            eos_token: token("eos_token_id", eos, eos_is_beside)?,
            avoid_token: all.avoid_token,
            source_prefix: all.source_prefix,
        })
    }
}

/// What holds for a model whose `generation_config.json` states other than its `config.json`, in a
/// form to hash; `None` where `config.json` says it all.
///
/// # Errors
/// When a file is damaged.
pub(super) fn changed_beside(directory: &Path) -> Result<Option<Vec<u8>>, ConfigError> {
    if !directory.join(BESIDE).exists() {
        return Ok(None);
    }
    let own = Stated::read(directory, CONFIG)?;
    let all = Stated::read(directory, BESIDE)?.or(own.clone());
    Ok((all != own).then(|| serde_json::to_vec(&all).expect("numbers and a text are JSON")))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tempfile::TempDir;

    use super::*;

    fn files(own: &Value, beside: &Value) -> TempDir {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join(CONFIG), own.to_string()).unwrap();
        std::fs::write(directory.path().join(BESIDE), beside.to_string()).unwrap();
        directory
    }

    #[test]
    fn where_the_files_disagree_the_generation_configuration_wins() {
        let own = json!({
            "decoder_start_token_id": 3, "forced_bos_token_id": 5, "eos_token_id": 0,
            "avoid_token": "<no>", "source_prefix": "paraphrase: ",
        });
        let beside = json!({
            "decoder_start_token_id": 4, "forced_bos_token_id": null, "eos_token_id": [2],
        });
        let found = Generation::read(files(&own, &beside).path(), 10).unwrap();
        let want = Generation {
            start_token: 4,
            forced_token: Some(5),
            eos_token: 2,
            avoid_token: Some("<no>".to_owned()),
            source_prefix: Some("paraphrase: ".to_owned()),
        };
        assert_eq!(found, want);
        let forced = json!({"forced_bos_token_id": 6});
        let found = Generation::read(files(&own, &forced).path(), 10).unwrap();
        assert_eq!((found.start_token, found.forced_token, found.eos_token), (3, Some(6), 0));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_file() {
        let own = json!({"decoder_start_token_id": 3, "eos_token_id": [0]});
        assert_eq!(Generation::read(files(&own, &json!({})).path(), 10).unwrap().eos_token, 0);
        for (beside, field, found) in [
            (json!({"eos_token_id": [0, 1]}), "eos_token_id", "[0, 1]"),
            (json!({"eos_token_id": []}), "eos_token_id", "[]"),
            (json!({"eos_token_id": 10}), "eos_token_id", "10"),
            (json!({"decoder_start_token_id": 10}), "decoder_start_token_id", "10"),
            (json!({"forced_bos_token_id": 10}), "forced_bos_token_id", "10"),
        ] {
            let error = Generation::read(files(&own, &beside).path(), 10).unwrap_err();
            assert!(matches!(error, ConfigError::Unsupported { .. }), "{error}");
            let message = error.to_string();
            let said = format!("`{field}` is `{found}`");
            assert!(message.contains(&said) && message.contains(BESIDE), "{message}");
        }
        let error = Generation::read(files(&own, &json!({"eos_token_id": "</s>"})).path(), 10);
        let source = std::error::Error::source(&error.unwrap_err()).unwrap().to_string();
        assert!(source.contains("a token id or a list"), "{source}");
    }
}
