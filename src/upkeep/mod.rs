//! Keeping a database whole: check, backup, restore, reindex.

mod backup;
mod check;
mod leaks;
mod reindex;

pub use backup::{BackupManifest, restore};
pub use check::{CheckCode, CheckOptions, CheckReport, Finding, Findings};
pub use leaks::{Leak, LeakKind};
pub use reindex::ReindexReport;
