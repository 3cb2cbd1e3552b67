//! Python bindings of fnstore: the module `fnstore._fnstore`, around which the package in
//! `fnstore/` is.
//!
//! They use the library's public interface and nothing else. Objects are frozen and may be used
//! from any thread; what takes long runs without the interpreter's lock.

mod annotation;
mod arrow;
mod changes;
mod database;
mod error;
mod expand;
mod export;
mod framenet;
mod handle;
mod html;
mod lexicon;
mod number;
mod proposals;
mod query;
mod transaction;
mod upkeep;
mod worker;

use mimalloc::MiMalloc;
use pyo3::prelude::*;

/// Reading sets is mostly short-lived small allocations, on all cores.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

#[pymodule]
mod _fnstore {
    #[pymodule_export]
    use crate::annotation::{
        AnnotationSet, Carrying, Element, Generation, Judgement, Label, Layer,
    };
    #[pymodule_export]
    use crate::changes::{Change, Commit};
    #[pymodule_export]
    use crate::database::{Database, create, open};
    #[pymodule_export]
    use crate::expand::{ExpansionReport, ImportReport, Progress};
    #[pymodule_export]
    use crate::export::ExportReport;
    #[pymodule_export]
    use crate::framenet::FramenetFiles;
    #[pymodule_export]
    use crate::lexicon::{
        Document, Frame, FrameElement, FrameRelation, Growth, LexicalUnit, Release, SemType,
    };
    #[pymodule_export]
    use crate::proposals::{Attestation, Proposal};
    #[pymodule_export]
    use crate::query::{Answers, Query, Table};
    #[pymodule_export]
    use crate::transaction::Edits;
    #[pymodule_export]
    use crate::upkeep::{BackupReport, CheckReport, Finding, VerificationReport};
}
