//! Records out of the database into files of other formats.

mod jsonl;
mod lossy;

pub use jsonl::JsonlExport;
pub use lossy::LossyExport;
