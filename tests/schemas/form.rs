//! The form of a schema: what may be null, and the order of keywords.

use serde_json::{Map, Value, json};

/// Keywords in the order in which the files have them.
const ORDER: [&str; 19] = [
    "$schema",
    "$id",
    "title",
    "$ref",
    "type",
    "enum",
    "const",
    "minimum",
    "maximum",
    "pattern",
    "description",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "minItems",
    "maxItems",
    "anyOf",
    "$defs",
];

/// The schema of what may be absent, too.
pub(super) fn or_null(mut schema: Value) -> Value {
    if let Some(words) = schema.get_mut("enum") {
        words.as_array_mut().unwrap().push(Value::Null);
    }
    if schema.get("$ref").is_some() {
        return json!({"anyOf": [schema, {"type": "null"}]});
    }
    if let Some(branches) = schema.get_mut("anyOf") {
        branches.as_array_mut().unwrap().push(json!({"type": "null"}));
    }
    match schema.get_mut("type") {
        Some(Value::Array(types)) => types.push("null".into()),
        Some(of) => *of = json!([of, "null"]),
        None => {}
    }
    schema
}

/// Puts the member that names a variant before its others.
pub(super) fn tag(schema: &mut Value, tag: &str, variant: &str, text: Option<&Value>) {
    let mut named = json!({"const": variant});
    if let Some(text) = text {
        named["description"] = text.clone();
    }
    let mut properties = Map::from_iter([(tag.to_owned(), named)]);
    properties.extend(schema["properties"].as_object().cloned().unwrap_or_default());
    schema["properties"] = Value::Object(properties);
    let others = schema["required"].as_array().cloned().unwrap_or_default();
    schema["required"] = [vec![tag.into()], others].concat().into();
}

/// A variant's written name by `rename_all`.
pub(super) fn in_case(name: &str, case: &str) -> String {
    let mut written = String::new();
    for letter in name.chars() {
        let joint = match case {
            "kebab-case" => "-",
            "snake_case" => "_",
            _ => "",
        };
        if letter.is_uppercase() && !written.is_empty() {
            written.push_str(joint);
        }
        written.push(letter);
    }
    if case.is_empty() { written } else { written.to_lowercase() }
}

/// The schema with the keywords of each part in order.
pub(super) fn in_order(schema: Value) -> Value {
    let Value::Object(mut members) = schema else { return schema };
    let mut ordered = Map::new();
    for keyword in ORDER {
        let Some(of) = members.remove(keyword) else { continue };
        let of = match (keyword, of) {
            ("properties" | "$defs", Value::Object(named)) => {
                named.into_iter().map(|(name, part)| (name, in_order(part))).collect()
            }
            ("anyOf", Value::Array(parts)) => parts.into_iter().map(in_order).collect(),
            ("items" | "additionalProperties", part) => in_order(part),
            (_, of) => of,
        };
        ordered.insert(keyword.to_owned(), of);
    }
    assert!(members.is_empty(), "no place for {members:?}");
    Value::Object(ordered)
}
