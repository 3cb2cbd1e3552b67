//! The files of a recipe's models, which must stay what they are while an expansion runs.
//!
//! A recipe names its models by fingerprints of what was read when they were opened. A file that is
//! written while they are opened could enter in part, and one that is written later may be read
//! again after a device is lost. So a run looks before each commit whether all files are those that
//! it opened.

use std::fs;
use std::path::PathBuf;

use super::{ExpandError, Models, Result, RewriterSource};
use crate::durable::Stamp;

/// Files and their stamps.
#[derive(Debug, Default)]
pub(super) struct ModelFiles {
    stamps: Vec<(PathBuf, Stamp)>,
}

impl ModelFiles {
    /// The files of models as they are now. A model that is not there is told by whoever opens it.
    pub(super) fn of(models: &Models) -> Result<Self> {
        let Models { rewriter, aligner, encoder, guide, filter, frames } = models;
        let of_rewriter = match rewriter {
            RewriterSource::Model { directory, base } => vec![directory].into_iter().chain(base),
            RewriterSource::Server(_) => vec![].into_iter().chain(&None),
        };
        let of_guide =
            guide.iter().flat_map(|guide| [&guide.word_vectors, &guide.tagger, &guide.encoder]);
        let places = of_rewriter.chain([aligner, encoder]).chain(filter);
        let of_frames = frames.iter().flat_map(|frames| [&frames.identifier, &frames.encoder]);
        let mut files = Self::default();
        for place in places.chain(of_guide).chain(of_frames) {
            let Ok(entries) = fs::read_dir(place) else {
                files.stamps.extend(Stamp::of(place).ok().map(|stamp| (place.clone(), stamp)));
                continue;
            };
            for entry in entries {
                let path = entry.map_err(|source| ExpandError::file(place, source))?.path();
                if path.is_file() {
                    let stamp = Stamp::of(&path);
                    let stamp = stamp.map_err(|source| ExpandError::file(&path, source))?;
                    files.stamps.push((path, stamp));
                }
            }
        }
        Ok(files)
    }

    /// Checks that nobody wrote one of them.
    ///
    /// # Errors
    /// [`ExpandError::ModelChanged`] when somebody did, or one is gone.
    pub(super) fn check(&self) -> Result<()> {
        let changed = |(path, before): &&(PathBuf, Stamp)| Stamp::of(path).ok() != Some(*before);
        match self.stamps.iter().find(changed) {
            None => Ok(()),
            Some((path, _)) => Err(ExpandError::ModelChanged { path: path.clone() }),
        }
    }
}
