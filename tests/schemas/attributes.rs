//! What the attributes of a type or a field say of its JSON.

use serde_json::Value;
use syn::{Attribute, Expr, ExprLit, Lit, LitStr, Meta, Token};

/// The attributes of serde, by name; those without a value have an empty one.
pub(super) struct Serde(Vec<(String, String)>);

impl Serde {
    pub(super) fn of(attributes: &[Attribute]) -> Self {
        let mut all = Vec::new();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
            let read = attribute.parse_nested_meta(|meta| {
                let name = meta.path.require_ident()?.to_string();
                let value = match meta.input.peek(Token![=]) {
                    true => meta.value()?.parse::<LitStr>()?.value(),
                    false => String::new(),
                };
                all.push((name, value));
                Ok(())
            });
            // Attributes of another form are none that schemas ask for.
            drop(read);
        }
        Self(all)
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(of, _)| of == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }
}

/// Whether a type derives a trait.
pub(super) fn derives(attributes: &[Attribute], name: &str) -> bool {
    let mut found = false;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("derive")) {
        attribute
            .parse_nested_meta(|meta| {
                found |= meta.path.segments.last().is_some_and(|last| last.ident == name);
                Ok(())
            })
            .unwrap();
    }
    found
}

/// The doc comment among attributes, a blank between its lines.
pub(super) fn documentation(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(meta) if meta.path.is_ident("doc") => match &meta.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value().trim().to_owned()),
            _ => None,
        },
        _ => None,
    });
    lines.collect::<Vec<_>>().join(" ")
}

/// A doc comment as a member's description: its first paragraph, without links to types and
/// without the last full stop.
pub(super) fn description(attributes: &[Attribute]) -> Option<String> {
    let text = documentation(attributes);
    let text = text.split("JSON `{").next().unwrap().split("  ").next().unwrap().trim();
    let text = text.trim_end_matches([',', '.']).replace("[`", "`").replace("`]", "`");
    (!text.is_empty()).then_some(text)
}

/// What a doc comment says that JSON has, where a type does not say it: JSON `{..}`.
pub(super) fn in_json(attributes: &[Attribute]) -> Option<Value> {
    let about = documentation(attributes);
    let (members, _) = about.split_once("JSON `{")?.1.split_once("}`")?;
    Some(serde_json::from_str(&format!("{{{members}}}")).unwrap())
}
