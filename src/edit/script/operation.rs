//! The lines of an edit script, as JSON has them; `schema/edit.schema.json` describes them.

use serde::Deserialize;

/// What names a record: its number, or a text (its name, its written id, or `@` and what an earlier
/// line called it).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(super) enum Reference {
    Number(u32),
    Text(String),
}

/// First and one past the last code point.
pub(super) type Offsets = [u32; 2];

macro_rules! operations {
    ($($variant:ident = $op:literal { $($(#[$attribute:meta])* $field:ident: $type:ty,)* })*) => {
        $(
            #[doc = concat!("`", $op, "`")]
            #[derive(Debug, Clone, Deserialize)]
            #[serde(deny_unknown_fields)]
            pub(super) struct $variant {
                $($(#[$attribute])* pub(super) $field: $type,)*
            }
        )*

        /// One line.
        #[derive(Debug, Clone, Deserialize)]
        #[serde(tag = "op")]
        pub(super) enum Operation {
            $(#[serde(rename = $op)] $variant($variant),)*
        }

        impl Operation {
            /// As the line calls it.
            pub(super) fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $op,)*
                }
            }

            /// Every operation, in the order of the schema.
            #[cfg(test)]
            pub(super) const NAMES: &[&str] = &[$($op,)*];
        }
    };
}

operations! {
    AddFrame = "add-frame" {
        #[serde(rename = "as")] called: Option<String>,
        name: String,
        #[serde(default)] definition: String,
        #[serde(default)] elements: Vec<Element>,
        #[serde(default)] core_sets: Vec<Vec<String>>,
        #[serde(default)] sem_types: Vec<Reference>,
        #[serde(default)] another: bool,
    }
    EditFrame = "edit-frame" {
        frame: Reference,
        name: Option<String>,
        definition: Option<String>,
        core_sets: Option<Vec<Vec<String>>>,
        sem_types: Option<Vec<Reference>>,
        #[serde(default)] another: bool,
    }
    RemoveFrame = "remove-frame" {
        frame: Reference,
        #[serde(default)] cascade: bool,
    }
    AddElement = "add-element" {
        frame: Reference,
        element: Element,
    }
    EditElement = "edit-element" {
        frame: Reference,
        element: String,
        name: Option<String>,
        abbreviation: Option<String>,
        core_type: Option<String>,
        definition: Option<String>,
        requires: Option<Vec<String>>,
        excludes: Option<Vec<String>>,
        sem_types: Option<Vec<Reference>>,
    }
    RemoveElement = "remove-element" {
        frame: Reference,
        element: String,
        #[serde(default)] cascade: bool,
    }
    AddLu = "add-lu" {
        #[serde(rename = "as")] called: Option<String>,
        frame: Reference,
        name: String,
        #[serde(default)] definition: String,
        status: Option<String>,
        incorporated_fe: Option<String>,
        #[serde(default)] sem_types: Vec<Reference>,
        #[serde(default)] another: bool,
    }
    EditLu = "edit-lu" {
        frame: Reference,
        lu: Reference,
        name: Option<String>,
        definition: Option<String>,
        status: Option<String>,
        incorporated_fe: Option<String>,
        sem_types: Option<Vec<Reference>>,
        #[serde(default)] another: bool,
    }
    RemoveLu = "remove-lu" {
        frame: Reference,
        lu: Reference,
        #[serde(default)] cascade: bool,
    }
    AddRelation = "add-relation" {
        #[serde(rename = "as")] called: Option<String>,
        kind: String,
        parent: Reference,
        child: Reference,
        #[serde(default)] elements: Vec<[String; 2]>,
    }
    EditRelation = "edit-relation" {
        relation: Reference,
        kind: Option<String>,
        elements: Option<Vec<[String; 2]>>,
    }
    RemoveRelation = "remove-relation" {
        relation: Reference,
    }
    AddSemType = "add-semtype" {
        #[serde(rename = "as")] called: Option<String>,
        name: String,
        #[serde(default)] abbreviation: String,
        #[serde(default)] definition: String,
        #[serde(default)] parents: Vec<Reference>,
    }
    EditSemType = "edit-semtype" {
        semtype: Reference,
        name: Option<String>,
        abbreviation: Option<String>,
        definition: Option<String>,
        parents: Option<Vec<Reference>>,
    }
    RemoveSemType = "remove-semtype" {
        semtype: Reference,
        #[serde(default)] cascade: bool,
    }
    AddDocument = "add-document" {
        #[serde(rename = "as")] called: Option<String>,
        corpus: String,
        name: String,
    }
    EditDocument = "edit-document" {
        document: String,
        name: String,
    }
    RemoveDocument = "remove-document" {
        document: String,
        #[serde(default)] cascade: bool,
    }
    AddSentence = "add-sentence" {
        #[serde(rename = "as")] called: Option<String>,
        text: String,
        document: Option<String>,
    }
    RemoveSentence = "remove-sentence" {
        sentence: String,
        #[serde(default)] cascade: bool,
    }
    AddSet = "add-set" {
        #[serde(rename = "as")] called: Option<String>,
        sentence: String,
        frame: Reference,
        lu: Reference,
        targets: Vec<Offsets>,
        trigger: Option<String>,
        #[serde(default)] elements: Vec<ElementLabel>,
        status: Option<String>,
        annotator: Option<String>,
    }
    EditSet = "edit-set" {
        set: String,
        frame: Option<Reference>,
        lu: Option<Reference>,
        targets: Option<Vec<Offsets>>,
        trigger: Option<String>,
        elements: Option<Vec<ElementLabel>>,
        status: Option<String>,
        annotator: Option<String>,
    }
    RemoveSet = "remove-set" {
        set: String,
        #[serde(default)] cascade: bool,
    }
    Judge = "judge" {
        set: String,
        score: u8,
        reviewer: Option<String>,
        #[serde(default)] question: String,
        #[serde(default)] note: String,
        time: Option<u64>,
    }
    RemoveJudgement = "remove-judgement" {
        set: String,
        reviewer: String,
        #[serde(default)] question: String,
    }
}

/// A frame element to add.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Element {
    pub(super) name: String,
    #[serde(default)]
    pub(super) abbreviation: String,
    #[serde(default = "core")]
    pub(super) core_type: String,
    #[serde(default)]
    pub(super) definition: String,
    #[serde(default)]
    pub(super) requires: Vec<String>,
    #[serde(default)]
    pub(super) excludes: Vec<String>,
    #[serde(default)]
    pub(super) sem_types: Vec<Reference>,
}

fn core() -> String {
    "Core".to_owned()
}

/// An FE label of a set, with what the GF and PT layers say of its span.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ElementLabel {
    pub(super) name: String,
    pub(super) span: Option<Offsets>,
    /// The text of the span, to be compared with it.
    pub(super) text: Option<String>,
    /// Kind of null instantiation, in place of the span.
    pub(super) ni: Option<String>,
    pub(super) gf: Option<String>,
    pub(super) pt: Option<String>,
    #[serde(default = "first")]
    pub(super) rank: u8,
}

fn first() -> u8 {
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_describes_every_edit_and_no_other() {
        let schema = include_str!("../../../schema/edit.schema.json");
        let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
        let described = schema["anyOf"].as_array().unwrap().iter().map(|of| {
            let place = of["$ref"].as_str().unwrap();
            place.strip_prefix("#/$defs/").unwrap()
        });
        let described: Vec<&str> = described.collect();
        assert_eq!(described, Operation::NAMES);
        // A field that one side has and the other lacks would be an unknown one.
        for name in Operation::NAMES {
            let fields = schema["$defs"][name]["properties"].as_object().unwrap().keys();
            for field in fields.filter(|field| *field != "op") {
                let line = format!("{{\"op\": \"{name}\", \"{field}\": null}}");
                let error = serde_json::from_str::<Operation>(&line).err();
                let error = error.map_or(String::new(), |error| error.to_string());
                assert!(!error.contains("unknown field"), "{name}: {error}");
            }
        }
    }
}
