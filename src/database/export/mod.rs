//! Records out of the database into files of other formats.

mod framenet;

pub use framenet::{FramenetExport, FramenetLoss};
