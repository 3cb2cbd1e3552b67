//! Models of names, where they are looked for, and the device and numbers that they run in.

use std::path::{Path, PathBuf};

use fnstore::database::DatabaseError;
use fnstore::engine::{Device, DeviceChoice, GpuOptions, Numbers};
use fnstore::expand::Judges;
use fnstore::internals::align::encoder_of;
use fnstore::internals::paraphrase::{ParaphraseError, Paraphraser, base_of, gguf_in};
use fnstore::model::{Declared, Named, Span};
use fnstore::models::ADAPTER;
use fnstore::text::{CharIndex, CharSpan};
use pyo3::IntoPyObjectExt as _;
use pyo3::prelude::*;

use crate::error::{Fault, Result};
use crate::expand::model;

/// Opens a device: `auto`, `cpu`, `gpu`, or part of an adapter's name.
pub(crate) fn device(name: &str) -> Result<Device> {
    let choice: DeviceChoice = name.parse().unwrap_or(DeviceChoice::Auto);
    Device::open(&choice, &GpuOptions::default()).map_err(|error| {
        Fault::new("ExpandError", "G-device", &error.to_string(), "give device=\"cpu\"")
    })
}

/// A case of an enum by its name.
pub(crate) fn named<T: Named>(what: &str, name: &str) -> Result<T> {
    of_some(what, name, T::CASES)
}

/// As [`named`], of some of the cases.
pub(crate) fn of_some<T: Named>(what: &str, name: &str, cases: &[T]) -> Result<T> {
    let found = cases.iter().find(|case| case.name() == name);
    found.copied().ok_or_else(|| {
        let names: Vec<&str> = cases.iter().map(|case| case.name()).collect();
        let message = format!("`{what}` is `{name}`; expected one of {}", names.join(", "));
        Fault::new("QueryError", "E-value", &message, "give one of those")
    })
}

/// Where models are looked for, and how they run.
pub(crate) struct Places {
    pub(crate) dirs: Vec<PathBuf>,
    pub(crate) device: Device,
    pub(crate) numbers: Numbers,
}

impl Places {
    pub(crate) fn new(dirs: Vec<PathBuf>, name: &str, numbers: Option<&str>) -> Result<Self> {
        let numbers = numbers.map(|name| named("numbers", name)).transpose()?;
        Ok(Self { dirs, device: device(name)?, numbers: numbers.unwrap_or_default() })
    }

    /// The directory of a model.
    pub(crate) fn model(&self, name: &Path) -> Result<PathBuf> {
        model(name, &self.dirs)
    }

    /// The directory of an encoder: of that which is given, or which a trained model names.
    pub(crate) fn encoder(&self, given: Option<&Path>, trained: &Path) -> Result<PathBuf> {
        match given {
            Some(name) => self.model(name),
            None => Ok(encoder_of(trained, &self.dirs)?),
        }
    }

    /// The directory or file of a language model.
    pub(crate) fn language_model(&self, name: &Path) -> Result<PathBuf> {
        let place = match name.is_file() {
            true => return Ok(name.to_owned()),
            false if name.is_dir() => name.to_owned(),
            false => self.model(name)?,
        };
        let is_whole = place.is_file() || place.join("config.json").is_file();
        Ok(if is_whole { place } else { gguf_in(&place).unwrap_or(place) })
    }

    /// The directories of a verifier and of the language model that it adapts: every verifier is an
    /// adapter.
    pub(crate) fn verifier(&self, name: &Path) -> Result<(PathBuf, PathBuf)> {
        let adapter = self.model(name)?;
        let base = base_of(&adapter, &self.dirs)?;
        Ok((adapter, base.map_or_else(|| model(name, &[]), Ok)?))
    }

    /// A verifier, and beside it the rewriter of a name, or the usual one where it is at hand.
    pub(crate) fn judges(&self, verifier: &Path, rewriter: Option<&Path>) -> Result<Judges> {
        let rewriter = match rewriter {
            Some(name) => {
                let opened = self.rewriter(name)?;
                opened.language_model().ok_or(ParaphraseError::NoPrompt)?;
                Some(opened)
            }
            None => self.rewriter(Path::new(ADAPTER)).ok(),
        };
        let (adapter, base) = self.verifier(verifier)?;
        Ok(Judges::open((&adapter, &base), rewriter, (&self.device, self.numbers))?)
    }

    /// A rewriter with the language model that it adapts, if it does.
    pub(crate) fn rewriter(&self, name: &Path) -> Result<Paraphraser> {
        let place = self.model(name)?;
        let base = base_of(&place, &self.dirs)?;
        let opened = Paraphraser::open_with(&place, base.as_deref(), &self.device, self.numbers);
        Ok(opened?)
    }
}

/// Checks that a model was made for the language of texts, where one is named.
pub(crate) fn check_language(declared: &Declared, language: Option<&str>) -> Result<()> {
    let Some(language) = language else { return Ok(()) };
    Ok(declared.check("the texts", language).map_err(DatabaseError::from)?)
}

/// A text that a model cannot work on.
pub(crate) fn refused(code: &str, message: &str) -> Fault {
    Fault::new("TextError", code, message, "leave the text out, or change it")
}

/// That what was refused of a rewriter is the text's fault; other errors are handed back.
pub(crate) fn refusal(error: ParaphraseError) -> Result<Fault> {
    use fnstore::internals::engine::DecodeError;
    match &error {
        ParaphraseError::Refused(why) => Ok(refused("E-text", &why.to_string())),
        ParaphraseError::Decode {
            source:
                source @ (DecodeError::EmptyPhrase { .. }
                | DecodeError::TooManyRequired { .. }
                | DecodeError::Settings { .. }),
        } => Ok(refused("E-phrase", &source.to_string())),
        _ => Err(error.into()),
    }
}

/// A span of code points of a text, in bytes.
pub(crate) fn in_bytes(text: &str, (start, end): (u32, u32)) -> Result<Span> {
    let index = CharIndex::new(text);
    let span = index.to_bytes(CharSpan { start, end }).ok().filter(|_| start < end);
    span.ok_or_else(|| {
        let size = index.chars();
        let message = format!("the span is ({start}, {end}), the text has {size} code points");
        refused("E-span", &message)
    })
}

/// A span in bytes of a text, in code points.
pub(crate) fn in_chars(text: &str, span: Span) -> (u32, u32) {
    let found = CharIndex::new(text).to_chars(span).expect("the span is of this text");
    (found.start, found.end)
}

/// Answers in a list; in the place of one that there is not stands the error.
pub(crate) fn list<T: for<'py> IntoPyObject<'py>>(
    py: Python<'_>,
    answers: Vec<Result<T>>,
) -> PyResult<Vec<Py<PyAny>>> {
    let one = |answer: Result<T>| match answer {
        Ok(found) => found.into_py_any(py),
        Err(fault) => Ok(fault.raise().into_value(py).into_any()),
    };
    answers.into_iter().map(one).collect()
}
