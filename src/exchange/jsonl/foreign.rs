//! What the files of a release hold beside FrameNet, as JSON.

use serde::{Deserialize, Serialize};

use super::Checked;
use super::recorded::Recorded;
use crate::exchange::error::Fault;
use crate::model::{
    CorpusId, DocumentId, Foreign, ForeignAttribute, ForeignContent, ForeignFile, ForeignPlace,
    FrameId, LuId, TopName, is_xml, is_xml_name,
};

record! {
    (ForeignFile, Foreign) [(file, Foreign { places })] as ForeignRecord of Foreign {
        file: ForeignFile = file,
        places: Vec<ForeignPlace> = places,
    }
}

record! {
    ForeignPlace as PlaceRecord {
        element: String,
        attributes: Vec<ForeignAttribute>,
        content: Vec<ForeignContent>,
    }
}

record! {
    ForeignAttribute as AttributeRecord { name: String, value: String, instead_of: String }
}

record! {
    ForeignContent as ContentRecord { after: u32, xml: String }
}

/// The file, by its name at the top of the release or by its numbers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub(super) enum FileRecord {
    Top(String),
    Frame(u32),
    /// Frame and LU.
    Lu(u32, u32),
    /// Corpus and document.
    Document(u32, u32),
}

impl Recorded for ForeignFile {
    type Record = FileRecord;

    fn into_record(self) -> FileRecord {
        match self {
            Self::Top(file) => FileRecord::Top(file.as_str().to_owned()),
            Self::Frame(frame) => FileRecord::Frame(frame.0),
            Self::LexUnit(frame, lu) => FileRecord::Lu(frame.0, lu.0),
            Self::Document(corpus, document) => FileRecord::Document(corpus.0, document.0),
        }
    }

    fn from_record(record: FileRecord) -> Checked<Self> {
        Ok(match record {
            FileRecord::Top(name) => Self::Top(TopName::parse(&name).ok_or_else(|| {
                let names = TopName::ALL.map(TopName::as_str).join(", ");
                Fault::value("top", &name, format!("one of {names}"))
            })?),
            FileRecord::Frame(frame) => Self::Frame(FrameId(frame)),
            FileRecord::Lu(frame, lu) => Self::LexUnit(FrameId(frame), LuId(lu)),
            FileRecord::Document(corpus, document) => {
                Self::Document(CorpusId(corpus), DocumentId(document))
            }
        })
    }
}

/// Whether XML can hold what a record says.
pub(super) fn check(foreign: &Foreign) -> Checked<()> {
    for place in &foreign.places {
        for ForeignAttribute { name, value, .. } in &place.attributes {
            check_name(name)?;
            check_text("places.attributes.value", value)?;
        }
        for ForeignContent { xml, .. } in &place.content {
            check_text("places.content.xml", xml)?;
        }
    }
    Ok(())
}

fn check_name(name: &str) -> Checked<()> {
    if !is_xml_name(name) {
        return Err(Fault::value("places.attributes.name", name, "the name of an attribute"));
    }
    Ok(())
}

fn check_text(field: &'static str, text: &str) -> Checked<()> {
    if text.chars().all(is_xml) {
        return Ok(());
    }
    let found = text.escape_debug().to_string();
    Err(Fault::value(field, &found, "characters that XML has"))
}
