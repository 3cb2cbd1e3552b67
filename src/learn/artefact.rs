//! A small network on disk: a directory with `config.json`, which names the encoder whose states
//! were read, and `model.safetensors`.

use std::path::Path;

use serde::de::DeserializeOwned;

use super::{CONFIG, FileError, NetworkError, SmallNetwork, read_config};
use crate::durable::WholeDirectory;
use crate::engine::{NnError, Weights};

/// What a configuration has that this build would misread, and what was expected.
pub(crate) type Misread = (String, &'static str);

/// What `config.json` of a small network over an encoder says.
pub(crate) trait Artefact: DeserializeOwned {
    /// Which network it is.
    const NETWORK: SmallNetwork;
    /// What is done when it cannot be read.
    const READ: &'static str;
    /// What it is.
    const WHAT: &'static str;
    /// The format that this build writes and reads.
    const FORMAT: u32 = 1;

    /// Refuses what this build would misread.
    fn check(&self) -> Result<(), Misread>;

    /// Name and fingerprint of the encoder whose states the network was trained on.
    fn encoder(&self) -> [&str; 2];

    /// Reads `config.json`, and checks it.
    fn read(directory: &Path) -> Result<Self, FileError> {
        let config: Self = read_config(directory, Self::READ, Self::WHAT)?;
        config.check().map_err(|(found, expected)| {
            FileError::content(&directory.join(CONFIG), 1, found, expected)
        })?;
        Ok(config)
    }

    /// Refuses an encoder of another fingerprint than that of the one it was trained on.
    fn require_encoder(&self, directory: &Path, found: &str) -> Result<(), NetworkError> {
        let [name, trained_on] = self.encoder();
        if trained_on == found {
            return Ok(());
        }
        Err(NetworkError::Encoder {
            network: Self::NETWORK,
            model: directory.to_owned(),
            expected: format!("{name} {trained_on}"),
            found: found.to_owned(),
        })
    }

    /// Opens the weights, for an encoder of a fingerprint.
    fn weights(&self, directory: &Path, encoder: &str) -> Result<Weights, NetworkError> {
        self.require_encoder(directory, encoder)?;
        Ok(Weights::open(directory).map_err(NnError::from)?)
    }

    /// Tries, before the work, whether such a network can be written at a place: nothing may be
    /// there, an empty directory, or an earlier one.
    fn prepare(out: &Path, action: &'static str) -> Result<WholeDirectory, FileError> {
        let prepared = WholeDirectory::prepare(out, |old| Self::read(old).is_ok());
        prepared.map_err(FileError::io(action, out))
    }
}
