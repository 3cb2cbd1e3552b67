//! Keeping a database whole: check, backup, restore, upgrade.

mod backup;
mod check;
mod upgrade;

pub use backup::{BackupManifest, restore};
pub use check::{CheckCode, CheckOptions, CheckReport, Finding, Findings};
pub use upgrade::UpgradeReport;
