//! Records out of the database into files of other formats.

mod framenet;
mod jsonl;
mod lossy;

pub use framenet::{FramenetExport, FramenetLoss};
pub use jsonl::JsonlExport;
pub use lossy::LossyExport;
