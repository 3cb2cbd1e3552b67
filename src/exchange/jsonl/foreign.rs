//! What the files of a release hold beside FrameNet, as JSON.

use serde::{Deserialize, Serialize};

use super::{Checked, Kind};
use crate::exchange::error::Fault;
use crate::model::{
    CorpusId, DocumentId, Foreign, ForeignAttribute, ForeignContent, ForeignFile, ForeignPlace,
    FrameId, LuId, TopName, is_xml, is_xml_name,
};

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ForeignRecord {
    kind: Kind,
    file: FileRecord,
    places: Vec<PlaceRecord>,
}

/// The file, by its name at the top of the release or by its numbers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
enum FileRecord {
    Top(String),
    Frame(u32),
    /// Frame and LU.
    Lu(u32, u32),
    /// Corpus and document.
    Document(u32, u32),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlaceRecord {
    element: String,
    attributes: Vec<AttributeRecord>,
    content: Vec<ContentRecord>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AttributeRecord {
    name: String,
    value: String,
    instead_of: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ContentRecord {
    after: u32,
    xml: String,
}

impl ForeignRecord {
    pub(super) fn new(file: ForeignFile, foreign: Foreign) -> Self {
        let file = match file {
            ForeignFile::Top(file) => FileRecord::Top(file.as_str().to_owned()),
            ForeignFile::Frame(frame) => FileRecord::Frame(frame.0),
            ForeignFile::LexUnit(frame, lu) => FileRecord::Lu(frame.0, lu.0),
            ForeignFile::Document(corpus, document) => FileRecord::Document(corpus.0, document.0),
        };
        let attribute = |of: ForeignAttribute| {
            let ForeignAttribute { name, value, instead_of } = of;
            AttributeRecord { name, value, instead_of }
        };
        let content = |ForeignContent { after, xml }| ContentRecord { after, xml };
        let place = |place: ForeignPlace| PlaceRecord {
            element: place.element,
            attributes: place.attributes.into_iter().map(attribute).collect(),
            content: place.content.into_iter().map(content).collect(),
        };
        let places = foreign.places.into_iter().map(place).collect();
        Self { kind: Kind::Foreign, file, places }
    }

    pub(super) fn into_model(self) -> Checked<(ForeignFile, Foreign)> {
        let file = match self.file {
            FileRecord::Top(name) => ForeignFile::Top(TopName::parse(&name).ok_or_else(|| {
                let names = TopName::ALL.map(TopName::as_str).join(", ");
                Fault::value("file.top", &name, format!("one of {names}"))
            })?),
            FileRecord::Frame(frame) => ForeignFile::Frame(FrameId(frame)),
            FileRecord::Lu(frame, lu) => ForeignFile::LexUnit(FrameId(frame), LuId(lu)),
            FileRecord::Document(corpus, document) => {
                ForeignFile::Document(CorpusId(corpus), DocumentId(document))
            }
        };
        let places: Checked<Vec<ForeignPlace>> =
            self.places.into_iter().map(PlaceRecord::into_model).collect();
        Ok((file, Foreign { places: places? }))
    }
}

impl PlaceRecord {
    fn into_model(self) -> Checked<ForeignPlace> {
        for AttributeRecord { name, value, .. } in &self.attributes {
            check_name(name)?;
            check_text("places.attributes.value", value)?;
        }
        for ContentRecord { xml, .. } in &self.content {
            check_text("places.content.xml", xml)?;
        }
        let attribute = |AttributeRecord { name, value, instead_of }| ForeignAttribute {
            name,
            value,
            instead_of,
        };
        let content = |ContentRecord { after, xml }| ForeignContent { after, xml };
        Ok(ForeignPlace {
            element: self.element,
            attributes: self.attributes.into_iter().map(attribute).collect(),
            content: self.content.into_iter().map(content).collect(),
        })
    }
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
