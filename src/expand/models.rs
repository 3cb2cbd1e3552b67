//! Where the models of an expansion lie.

use std::path::{Path, PathBuf};

use super::ExpandError;

/// Directory name of the rewriter.
const PARAPHRASER: &str = "paraphrase";
/// Directory name of the aligner's head.
const ALIGNER: &str = "aligner";
/// Directory name of the aligner's encoder.
const ENCODER: &str = "all-MiniLM-L6-v2";

/// The directories of the three models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Models {
    /// The rewriter: an encoder-decoder with its tokenizer.
    pub paraphraser: PathBuf,
    /// The aligner's head.
    pub aligner: PathBuf,
    /// The encoder that the head was trained on.
    pub encoder: PathBuf,
}

impl Models {
    /// The models in one directory: `paraphrase/`, `aligner/` and `all-MiniLM-L6-v2/`.
    ///
    /// # Errors
    /// When one of them is not there.
    pub fn open(dir: &Path) -> Result<Self, ExpandError> {
        Self::search(&[dir.to_owned()])
    }

    /// Each model in the first of several directories that has it.
    ///
    /// # Errors
    /// When none has one of them.
    pub fn search(dirs: &[PathBuf]) -> Result<Self, ExpandError> {
        Self::search_with(find(dirs, PARAPHRASER)?, dirs)
    }

    /// A rewriter of another name or from elsewhere, and the other two as in [`search`](Self::search).
    ///
    /// # Errors
    /// When no directory has one of these.
    pub fn search_with(paraphraser: PathBuf, dirs: &[PathBuf]) -> Result<Self, ExpandError> {
        Ok(Self { paraphraser, aligner: find(dirs, ALIGNER)?, encoder: find(dirs, ENCODER)? })
    }
}

fn find(dirs: &[PathBuf], name: &'static str) -> Result<PathBuf, ExpandError> {
    let here =
        |dir: &PathBuf| Some(dir.join(name)).filter(|path| path.join("config.json").is_file());
    dirs.iter()
        .find_map(here)
        .ok_or_else(|| ExpandError::ModelMissing { name, searched: dirs.to_vec() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_model_comes_from_the_first_directory_that_has_it() {
        let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for (dir, names) in
            [(a.path(), vec![PARAPHRASER]), (b.path(), vec![PARAPHRASER, ALIGNER, ENCODER])]
        {
            for name in names {
                std::fs::create_dir(dir.join(name)).unwrap();
                std::fs::write(dir.join(name).join("config.json"), "{}").unwrap();
            }
        }
        let models = Models::search(&[a.path().to_owned(), b.path().to_owned()]).unwrap();
        assert_eq!(models.paraphraser, a.path().join(PARAPHRASER));
        assert_eq!(models.encoder, b.path().join(ENCODER));
        let message = Models::open(a.path()).unwrap_err().to_string();
        assert!(message.contains("no model `aligner`"), "{message}");
    }
}
