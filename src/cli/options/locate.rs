//! Where the store and the models lie when the command line does not say it.

use std::path::{Path, PathBuf};
use std::sync::Once;

use anyhow::Context as _;
use etcetera::BaseStrategy as _;
use fnstore::align::encoder_of;
use fnstore::expand::WORD_VECTORS;
use fnstore::models::{ADAPTER, REWRITER, adapter, default_rewriter, find, is_model};
use fnstore::paraphrase::{ParaphraseError, gguf_in};
use fnstore::vectors::WordVectors;

use crate::cli::error::NoModel;
use crate::cli::print::output::tell;

/// Name of the shipped encoder, on which the shipped head and tagger stand.
pub(crate) const ENCODER: &str = "aligner-encoder";

/// Name of the shipped head.
pub(crate) const HEAD: &str = "aligner";

/// The store's directory: the one given by `--store` or `FNSTORE_DIR`, else `fnstore/store` in the
/// platform's data directory, beside the models.
pub(crate) fn store(given: Option<PathBuf>) -> anyhow::Result<PathBuf> {
    match given {
        Some(dir) => Ok(dir),
        None => data_dir().map(|dir| dir.join("store")).context(
            "cannot find the platform's data directory; name the store with `--store DIR` or \
             `FNSTORE_DIR`",
        ),
    }
}

fnstore::named! {
    /// What a directory of models is to its user.
    pub(crate) enum ModelPlace {
        /// The user's own: `--models`, `FNSTORE_MODELS`, or in the platform's data directory.
        Own => "own",
        /// It came with the program.
        Shipped => "shipped",
        /// What `make minilm` fetched.
        Cache => "cache",
    }
}

/// Directories that may hold models, the first first; see [`model_places`].
pub(crate) fn model_dirs(given: Option<PathBuf>) -> Vec<PathBuf> {
    model_places(given).into_iter().map(|(_, dir)| dir).collect()
}

/// The word vectors, where they are in one of the directories.
pub(crate) fn word_vectors(dirs: &[PathBuf]) -> anyhow::Result<Option<WordVectors>> {
    let mut places = dirs.iter().map(|dir| dir.join(WORD_VECTORS));
    let place = places.find(|place| place.join("config.json").is_file());
    Ok(place.map(|place| WordVectors::open(&place)).transpose()?)
}

/// Directories that may hold models, with what they are, the first first.
///
/// `--models` alone when it is given. Else `FNSTORE_MODELS`, `share/fnstore/models` beside the
/// program's `bin`, the platform's data directory, the models of the source checkout that the
/// program was built from, and the cache that `make minilm` fills. What comes with the program is
/// left out where it is not there: a checkout may have been another machine's.
pub(crate) fn model_places(given: Option<PathBuf>) -> Vec<(ModelPlace, PathBuf)> {
    if let Some(dir) = given {
        return vec![(ModelPlace::Own, dir)];
    }
    let beside_program = || {
        // Without /proc, as in a bare chroot, only the path that it was called by is known.
        let called =
            || std::env::args_os().next().map(PathBuf::from).filter(|path| path.is_absolute());
        let program = std::env::current_exe().ok().or_else(called)?;
        Some(program.parent()?.parent()?.join("share/fnstore/models"))
    };
    let named = named_models().into_iter().map(|dir| (ModelPlace::Own, Some(dir)));
    let places = [
        (ModelPlace::Shipped, beside_program()),
        (ModelPlace::Own, data_dir().ok().map(|dir| dir.join("models"))),
        (ModelPlace::Shipped, Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("models"))),
        (ModelPlace::Cache, cache().map(|dir| dir.join("models"))),
    ];
    let mut dirs: Vec<(ModelPlace, PathBuf)> = Vec::new();
    for (place, dir) in named.chain(places) {
        let is_there = |dir: &PathBuf| place != ModelPlace::Shipped || dir.is_dir();
        // A message that lists the places should list each once.
        let is_new = |dir: &PathBuf| dirs.iter().all(|(_, known)| known != dir);
        if let Some(dir) = dir.filter(|dir| is_there(dir) && is_new(dir)) {
            dirs.push((place, dir));
        }
    }
    dirs
}

/// The directories that `FNSTORE_MODELS` lists, written as `PATH` is. One that is not there is told
/// of once: what follows would take models from elsewhere.
fn named_models() -> Vec<PathBuf> {
    static TOLD: Once = Once::new();
    let dirs: Vec<PathBuf> = std::env::var_os("FNSTORE_MODELS")
        .map(|listed| std::env::split_paths(&listed).collect())
        .unwrap_or_default();
    let dirs: Vec<PathBuf> = dirs.into_iter().filter(|dir| !dir.as_os_str().is_empty()).collect();
    TOLD.call_once(|| {
        for dir in dirs.iter().filter(|dir| !dir.is_dir()) {
            tell(&format!("`FNSTORE_MODELS` names `{}`, which is no directory", dir.display()));
        }
    });
    dirs
}

/// The directory in which a user keeps models: `--models`, else the first of `FNSTORE_MODELS`, else
/// `fnstore/models` in the platform's data directory.
pub(crate) fn own_models(given: Option<PathBuf>) -> anyhow::Result<PathBuf> {
    match given.or_else(|| named_models().into_iter().next()) {
        Some(dir) => Ok(dir),
        None => data_dir().map(|dir| dir.join("models")).context(
            "cannot find the platform's data directory; name the models' directory with \
             `--models DIR` or `FNSTORE_MODELS`",
        ),
    }
}

/// Says once what the rewriter that needs no language model lacks, where one would be taken.
fn tell_what_is_lost(dirs: &[PathBuf]) {
    match adapter(dirs) {
        Some(Err(ParaphraseError::BaseMissing { base, .. })) => tell(&format!(
            "`{base}` is not at hand, so `{REWRITER}` rewrites, which swaps words and leaves the rest; \
             `make rewriter` fetches it"
        )),
        Some(Err(error)) => tell(&format!(
            "`{ADAPTER}` cannot be used, so `{REWRITER}` rewrites: {:#}",
            anyhow::Error::from(error)
        )),
        _ => {}
    }
}

/// The directory of the rewriter: the one that is named, else the one of choice.
pub(crate) fn rewriter(given: Option<&Path>, dirs: &[PathBuf]) -> anyhow::Result<PathBuf> {
    if let Some(name) = given {
        return model(name, dirs);
    }
    let (name, file) = default_rewriter(dirs)?;
    if file.is_none() && name == REWRITER {
        tell_what_is_lost(dirs);
    }
    let mut places = dirs.iter().map(|dir| dir.join(&name));
    places.find(|place| is_model(place)).ok_or_else(|| {
        let chosen = file.map_or(String::new(), |file| {
            format!(", which `{}` names (`fnstore model use NAME` chooses another)", file.display())
        });
        let places = listed(dirs);
        NoModel(format!("there is no model `{name}` in {places}{chosen}; {}", how_to_get())).into()
    })
}

/// What was fetched or compiled lies here: `FNSTORE_CACHE`, else `fnstore` in the user's cache.
pub(crate) fn cache() -> Option<PathBuf> {
    variable("FNSTORE_CACHE").or_else(|| Some(cache_dir()?.join("fnstore")))
}

/// A directory that the environment names.
fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// A model's directory: the path itself, or the first directory of models that has one of the name.
pub(crate) fn model(name: &Path, dirs: &[PathBuf]) -> anyhow::Result<PathBuf> {
    find(name, dirs).ok_or_else(|| {
        NoModel(format!(
            "there is no model `{}`, neither at that path nor in {}; expected a directory with a \
             `config.json`, an adapter or a GGUF file; {}",
            name.display(),
            listed(dirs),
            how_to_get()
        ))
        .into()
    })
}

/// How to come by the models that fnstore ships; a program built by `cargo install` has none.
fn how_to_get() -> String {
    let place = own_models(None).map_or("DIR".to_owned(), |dir| dir.display().to_string());
    format!(
        "fnstore's own are the folder `models` of its sources: copy it to `{place}`, or name it with \
         `--models DIR` or `FNSTORE_MODELS`"
    )
}

/// A language model: a GGUF file, a directory of Hugging Face's, or one that holds one GGUF file;
/// the latter two also by name among the models.
pub(crate) fn language_model(name: &Path, dirs: &[PathBuf]) -> anyhow::Result<PathBuf> {
    if name.is_file() {
        return Ok(name.to_owned());
    }
    let places = std::iter::once(name.to_owned()).chain(dirs.iter().map(|dir| dir.join(name)));
    let found = places.filter(|place| place.is_dir()).find_map(|place| {
        if place.join("config.json").is_file() {
            return Some(place);
        }
        gguf_in(&place)
    });
    found.with_context(|| {
        format!(
            "there is no language model `{}`, neither at that path nor in {}; expected a GGUF file, or a \
             directory with a `config.json` or one GGUF file",
            name.display(),
            listed(dirs)
        )
    })
}

/// The encoder of a head or linker: the given one, else the one that it names.
pub(crate) fn encoder(
    given: Option<&Path>,
    trained: &Path,
    dirs: &[PathBuf],
) -> anyhow::Result<PathBuf> {
    match given {
        Some(name) => model(name, dirs),
        None => encoder_of(trained, dirs)
            .context("no encoder is given, and the one it was trained on is not at hand"),
    }
}

/// Directories as a message lists them.
pub(crate) fn listed(dirs: &[PathBuf]) -> String {
    let dirs: Vec<String> = dirs.iter().map(|dir| format!("`{}`", dir.display())).collect();
    dirs.join(", ")
}

/// This program's own folder in the platform's data directory.
fn data_dir() -> Result<PathBuf, etcetera::HomeDirError> {
    Ok(etcetera::choose_base_strategy()?.data_dir().join("fnstore"))
}

/// The cache directory that the Makefile uses on every platform.
fn cache_dir() -> Option<PathBuf> {
    Some(etcetera::home_dir().ok()?.join(".cache"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_given_are_looked_for_nowhere_else() {
        assert_eq!(model_dirs(Some("here".into())), [PathBuf::from("here")]);
        assert!(model_dirs(None).iter().any(|dir| dir.starts_with(env!("CARGO_MANIFEST_DIR"))));
    }

    #[test]
    fn what_came_with_the_program_is_looked_for_where_it_is() {
        let places = model_places(None).into_iter();
        for (_, dir) in places.filter(|(place, _)| *place == ModelPlace::Shipped) {
            assert!(dir.is_dir(), "{}", dir.display());
        }
    }

    #[test]
    fn a_language_model_is_a_file_or_the_only_one_of_a_directory() {
        let dir = tempfile::tempdir().unwrap();
        let model_dir = dir.path().join("small");
        std::fs::create_dir(&model_dir).unwrap();
        let (file, dirs) = (model_dir.join("a.gguf"), [dir.path().to_owned()]);
        let message = language_model("small".as_ref(), &dirs).unwrap_err().to_string();
        assert!(message.contains("no language model `small`"), "{message}");
        std::fs::write(&file, "").unwrap();
        assert_eq!(language_model(&file, &[]).unwrap(), file);
        assert_eq!(language_model("small".as_ref(), &dirs).unwrap(), file);
        std::fs::write(model_dir.join("b.gguf"), "").unwrap();
        let message = language_model("small".as_ref(), &dirs).unwrap_err().to_string();
        assert!(message.contains("or one GGUF file"), "{message}");
        std::fs::write(model_dir.join("config.json"), "{}").unwrap();
        assert_eq!(language_model("small".as_ref(), &dirs).unwrap(), model_dir);
    }

    #[test]
    fn a_model_is_a_path_or_a_name() {
        let dir = tempfile::tempdir().unwrap();
        let model_dir = dir.path().join("encoder");
        std::fs::create_dir(&model_dir).unwrap();
        std::fs::write(model_dir.join("config.json"), "{}").unwrap();
        let dirs = [dir.path().to_owned()];
        assert_eq!(model(&model_dir, &[]).unwrap(), model_dir);
        assert_eq!(model("encoder".as_ref(), &dirs).unwrap(), model_dir);
        let message = model("decoder".as_ref(), &dirs).unwrap_err().to_string();
        assert!(message.contains("no model `decoder`"), "{message}");
    }
}
