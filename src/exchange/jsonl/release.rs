//! The first lines of a file: its format and the release.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Checked, LineKind};
use crate::exchange::error::{Fault, FaultCode};
use crate::model::named;
use crate::model::{Release, ReleaseCounts, ReleaseId};

const FORMAT: &str = "fnstore";

/// Version of the records. A new one is written when an old reader could not read the file rightly.
const VERSION: u32 = 1;

/// The first line of a file, see `schema/jsonl-header.schema.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    kind: LineKind,
    /// JSON `{"const": "fnstore"}`.
    format: String,
    /// JSON `{"const": 1}`.
    version: u32,
    /// JSON `{"const": "codepoint"}`.
    offset_unit: String,
    written_by: String,
}

impl Default for Header {
    fn default() -> Self {
        Self {
            kind: LineKind::Header,
            format: FORMAT.to_owned(),
            version: VERSION,
            offset_unit: "codepoint".to_owned(),
            written_by: format!("fnstore {}", env!("CARGO_PKG_VERSION")),
        }
    }
}

impl Header {
    pub(super) fn check(&self) -> Checked<()> {
        let own = Self::default();
        let wrong = |field: &str, found: &str, expected: &str| {
            Err(Fault::new(FaultCode::Layout, field, found, format!("`{expected}`")))
        };
        if self.format != own.format {
            return wrong("format", &self.format, FORMAT);
        }
        if self.version != VERSION {
            let expected =
                format!("{VERSION}, which this build reads; use {} or newer", self.written_by);
            return Err(Fault::new(FaultCode::Layout, "version", self.version, expected));
        }
        if self.offset_unit != own.offset_unit {
            return wrong("offset_unit", &self.offset_unit, &own.offset_unit);
        }
        Ok(())
    }
}

named! {
    /// How much of a release a file holds.
    pub enum Scope {
        /// Every record: it comes back as an equal release.
        Whole => "whole",
        /// Some sets with all that they refer to: it comes back as a smaller release.
        Part => "part",
        /// What was added to the release, without its own records: it comes back into a store that
        /// has the release.
        Additions => "additions",
    }
}

/// The release of a file, see `schema/jsonl-release.schema.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReleaseRecord {
    kind: LineKind,
    /// How much of the release the file holds.
    pub scope: Scope,
    /// Name of the release.
    pub name: String,
    language: String,
    source: String,
    source_bytes: u64,
    imported: u64,
    counts: BTreeMap<String, u64>,
    /// How many numbers of the store's own range were counted out to what people added; numbers
    /// beyond are hashes. Absent in additions, and in files of earlier builds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted: Option<u32>,
}

impl ReleaseRecord {
    /// The record of a release.
    #[must_use]
    pub fn new(release: &Release, scope: Scope) -> Self {
        let Release { id: _, name, language, source, source_bytes, imported, counts } = release;
        Self {
            kind: LineKind::Release,
            scope,
            name: name.clone(),
            language: language.clone(),
            source: source.clone(),
            source_bytes: *source_bytes,
            imported: *imported,
            counts: counts.named().map(|(name, count)| (name.to_owned(), count)).into(),
            counted: None,
        }
    }

    /// The release under a number of its store.
    #[must_use]
    pub fn into_model(self, id: ReleaseId) -> Release {
        let mut counts = ReleaseCounts::default();
        for (name, slot) in counts.slots() {
            *slot = self.counts.get(name).copied().unwrap_or(0);
        }
        Release {
            id,
            name: self.name,
            language: self.language,
            source: self.source,
            source_bytes: self.source_bytes,
            imported: self.imported,
            counts,
        }
    }
}

/// The last line of a file, see `schema/jsonl-end.schema.json`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct End {
    pub(super) kind: LineKind,
    /// Lines before this one.
    pub(super) records: u64,
}
