//! What a release's files hold beside FrameNet, for reading and as JSON (`foreign` in the schemas
//! of what is shown).

use fnstore::model::ForeignPlace;
use serde::Serialize;

use crate::cli::print::output::{Output, counted};

/// Places that are written for reading; JSON has all.
const SHOWN: usize = 20;

/// What stands at an element.
#[derive(Debug, Serialize)]
pub(crate) struct ForeignRecord {
    /// Path of the element: the names of the elements from the root on, each with its ID or name.
    element: String,
    /// Attributes as name=value, then elements and texts as the file writes them.
    content: Vec<String>,
}

pub(crate) fn foreign_records(
    places: impl IntoIterator<Item = ForeignPlace>,
) -> Vec<ForeignRecord> {
    let record = |place: ForeignPlace| ForeignRecord {
        content: place.texts().collect(),
        element: place.element,
    };
    places.into_iter().map(record).collect()
}

pub(crate) fn write_foreign(records: &[ForeignRecord], output: &mut Output) -> anyhow::Result<()> {
    if records.is_empty() {
        return Ok(());
    }
    output.line("")?;
    output.heading("Beside FrameNet")?;
    for ForeignRecord { element, content } in records.iter().take(SHOWN) {
        output.line(&format!("  {element}"))?;
        for text in content {
            output.paragraph(6, text)?;
        }
    }
    if let Some(more @ 1..) = records.len().checked_sub(SHOWN) {
        let more = counted(more as u64, "element");
        output.line(&format!("  ({more} more; `--format json` has all)"))?;
    }
    Ok(())
}
