//! The XML files of a release, one by one, for NLTK's reader (`fnstore/nltk.py`).

use std::sync::Arc;
use std::sync::mpsc::Receiver;

use fnstore::database::DatabaseError;
use fnstore::internals::WithStore as _;
use fnstore::model::{NumberKind, WrittenNumbers};
use pyo3::prelude::*;

use crate::error::Result;
use crate::handle::Handle;
use crate::worker::Worker;

/// A release as FrameNet's XML, file by file.
#[pyclass(frozen, module = "fnstore._fnstore")]
pub(crate) struct FramenetFiles {
    files: Worker<String, Option<String>>,
    numbers: WrittenNumbers,
}

impl FramenetFiles {
    pub(crate) fn new(handle: &Arc<Handle>, release: &str, only_given: bool) -> Result<Self> {
        let (database, release) = (handle.get()?, release.to_owned());
        let id = database.release(&release)?.id;
        let numbers = database.store().written_numbers(id).map_err(DatabaseError::from)?;
        let (files, _) = Worker::start(move |asked: &Receiver<String>, answers| {
            let files = database.framenet_files(&database.release(&release)?, only_given)?;
            let _ = answers.send(Ok(None));
            for name in asked {
                let _ = answers.send(files.read(&name).map_err(Into::into));
            }
            Ok(())
        })?;
        Ok(Self { files, numbers })
    }
}

#[pymethods]
impl FramenetFiles {
    /// The content of a file by its name, as in lu/lu1001.xml, or None.
    fn read(&self, py: Python<'_>, name: String) -> Result<Option<String>> {
        py.detach(|| self.files.ask(name))
    }

    /// What the files write for the store's number of an LU, an FE or a frame; empty where they
    /// have none.
    fn written(&self, kind: &str, number: u32) -> String {
        let of = match kind {
            "lu" => NumberKind::LexUnit,
            "fe" => NumberKind::FrameElement,
            _ => NumberKind::Frame,
        };
        self.numbers.text(of, number.into()).map_or_else(|| number.to_string(), str::to_owned)
    }
}
