//! A labeller as the classifier of a generator, and the files that models are read from.

use std::io;
use std::path::{Path, PathBuf};

use super::generator::{Generator, ReadAs, Reading};
use crate::durable::Stamp;
use crate::label::{LabelRequest, Labeller};
use crate::model::Span;

impl Generator {
    /// The same, with a labeller that reads new words: candidates with words that it reads as
    /// another FE are dropped.
    #[must_use]
    pub fn classifying(self, labeller: Labeller) -> Self {
        let name = labeller.fingerprint().to_string();
        let generator = self.declaring(labeller.declared().clone());
        generator.reading(&name, Box::new(move |readings| read(&labeller, readings)))
    }
}

impl Generator {
    /// The same, of whose outputs these files decide, too.
    #[must_use]
    pub fn reading_files(mut self, files: Vec<(PathBuf, Stamp)>) -> Self {
        self.files.extend(files);
        self
    }
}

/// What a labeller reads some words as. Of a sentence that it cannot read these are nothing.
fn read(labeller: &Labeller, readings: &[Reading<'_>]) -> ReadAs {
    let targets: Vec<[Span; 1]> = readings.iter().map(|reading| [reading.target]).collect();
    let asked = readings.iter().zip(&targets).map(|(reading, target)| LabelRequest {
        text: reading.text,
        target,
        lu: reading.lexunit,
        frame: reading.frame,
    });
    let spans: Vec<Vec<Span>> = readings.iter().map(|reading| vec![reading.span]).collect();
    let verdicts = labeller.judge_each(&asked.collect::<Vec<_>>(), &spans)?;
    let read = readings.iter().zip(verdicts).map(|(reading, verdicts)| {
        let verdict = verdicts.ok()?.pop()?;
        let fe =
            reading.frame.elements.iter().find(|fe| Some(&fe.name) == verdict.element.as_ref());
        Some((fe?.id, verdict.score))
    });
    Ok(read.collect())
}

/// A file, or the files of a directory, each as it is now.
///
/// # Errors
/// When one cannot be looked at.
pub fn stamped(place: &Path) -> io::Result<Vec<(PathBuf, Stamp)>> {
    let files = match place.is_file() {
        true => vec![place.to_owned()],
        false => std::fs::read_dir(place)?.flatten().map(|entry| entry.path()).collect(),
    };
    let files = files.into_iter().filter(|path| path.is_file());
    files.map(|path| Ok((path.clone(), Stamp::of(&path)?))).collect()
}
