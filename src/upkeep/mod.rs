//! Keeping a database whole: check, backup, restore, reindex.

mod backup;
mod check;
mod leaking;
mod leaks;
mod reindex;

pub use backup::{BackupManifest, restore};
pub use check::{CheckCode, CheckOptions, CheckReport, Finding, Findings};
#[doc(hidden)]
pub use leaking::Leaking;
#[doc(hidden)]
pub use leaks::{Leak, LeakKind};
#[doc(hidden)]
pub use reindex::ReindexReport;
