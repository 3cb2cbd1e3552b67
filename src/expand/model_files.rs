//! The files of a recipe's models.

use std::fs;

use super::{ExpandError, Models, Result, RewriterSource};
use crate::durable::Stamp;
use crate::grow::ModelFiles;

impl Models {
    /// The files as they are now. A model that is not there is told by whoever opens it.
    pub(super) fn files(&self) -> Result<ModelFiles> {
        let Self { rewriter, aligner, encoder, guide, filter, frames, verifier } = self;
        let of_rewriter = match rewriter {
            RewriterSource::Model { directory, base } => vec![directory].into_iter().chain(base),
            RewriterSource::Server(_) => vec![].into_iter().chain(&None),
        };
        let of_guide =
            guide.iter().flat_map(|guide| [&guide.word_vectors, &guide.tagger, &guide.encoder]);
        let places = of_rewriter.chain([aligner, encoder]).chain(filter);
        let of_frames = frames.iter().flat_map(|frames| [&frames.identifier, &frames.encoder]);
        let of_verifier = verifier.iter().flat_map(|verifier| [&verifier.adapter, &verifier.base]);
        let mut stamps = Vec::new();
        for place in places.chain(of_guide).chain(of_frames).chain(of_verifier) {
            let Ok(entries) = fs::read_dir(place) else {
                stamps.extend(Stamp::of(place).ok().map(|stamp| (place.clone(), stamp)));
                continue;
            };
            for entry in entries {
                let path = entry.map_err(|source| ExpandError::file(place, source))?.path();
                if path.is_file() {
                    let stamp = Stamp::of(&path);
                    let stamp = stamp.map_err(|source| ExpandError::file(&path, source))?;
                    stamps.push((path, stamp));
                }
            }
        }
        Ok(ModelFiles::new(stamps))
    }
}
