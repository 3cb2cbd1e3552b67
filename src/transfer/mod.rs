//! What comes in and what goes out: releases, JSON lines, span-labelled data, exports.
//!
//! An import writes rows under a release that the store does not list yet; its last commit lists
//! it. [`exchange`](crate::exchange) and [`framenet`](crate::framenet) know the formats, and no
//! store.

#[cfg(feature = "neural")]
mod annotator;
mod assemble;
mod assigned_ids;
mod export;
mod import;
mod import_jsonl;
mod import_kind;
mod import_resource;
mod import_spans;
#[cfg(feature = "neural")]
mod parse_figures;
mod predict;
mod stand_in;

#[cfg(feature = "neural")]
#[doc(hidden)]
pub use annotator::{Annotated, AnnotatedTarget, Annotator};
#[doc(hidden)]
pub use export::LossyExport;
pub use export::{
    ChangeRecord, FramenetExport, FramenetFiles, FramenetLoss, JsonlExport, RecordLines,
};
#[doc(hidden)]
pub use import::default_release_name;
pub use import::{ImportOptions, ImportProgress, ImportReport};
pub use import_jsonl::JsonlImport;
#[doc(hidden)]
pub use import_kind::ImportKind;
#[doc(hidden)]
pub use import_spans::SpanImport;
#[cfg(feature = "neural")]
pub(crate) use import_spans::content_number;
#[cfg(feature = "neural")]
#[doc(hidden)]
pub use parse_figures::{GoldStructures, ParseFigures};
#[cfg(feature = "neural")]
pub(crate) use predict::predicted_set;
#[doc(hidden)]
pub use predict::{AmbiguousLexUnit, PredictedTarget, PredictionReport, Predictions};
