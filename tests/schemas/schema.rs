//! A type as JSON Schema: what serde writes of it, or reads.

use std::cell::RefCell;
use std::path::Path;

use serde_json::{Map, Value, json};
use syn::{Expr, ExprLit, Fields, GenericArgument, Lit, PathArguments, Type};

use super::attributes::{Serde, derives, description, in_json};
use super::form::{in_case, in_order, or_null, tag};
use super::prose::Prose;
use super::types::{Defined, Types, What};

/// Where a type is written: its file, and what the parameters of the type around it stand for.
#[derive(Clone)]
struct Place<'a> {
    file: &'a Path,
    parameters: &'a [String],
    arguments: Vec<&'a Type>,
    outside: Option<&'a Place<'a>>,
}

/// Makes one schema.
pub(super) struct Maker<'a> {
    types: &'a Types,
    /// The types that are being made, and whether each was met inside itself.
    inside: RefCell<Vec<(&'a Defined, bool)>>,
    definitions: RefCell<Map<String, Value>>,
}

type Made = Result<Value, String>;

impl<'a> Maker<'a> {
    /// The schema of a type, with the prose of the one in the file; an error when it has a type
    /// that this cannot say.
    pub(super) fn make(types: &'a Types, root: &'a Defined, prose: Prose<'_>) -> Made {
        let maker = Self { types, inside: RefCell::default(), definitions: RefCell::default() };
        let mut schema = maker.defined(root, Vec::new(), None, prose)?;
        if let Some(Defined { file, what: What::Enum(variants), .. }) = types.answered(root) {
            let place = Place { file, parameters: &[], arguments: Vec::new(), outside: None };
            let failed = maker.fields(&variants[1].fields, false, &place, prose)?;
            schema = json!({"anyOf": [schema, failed]});
        }
        let definitions = maker.definitions.into_inner();
        if !definitions.is_empty() {
            schema["$defs"] = Value::Object(definitions);
        }
        // A title and what the whole is are nothing that a type says.
        for head in ["$schema", "$id", "title", "description"] {
            schema[head] = prose.text(head).cloned().unwrap_or_default();
        }
        Ok(in_order(schema))
    }

    fn of(&self, written: &Type, place: &Place<'_>, prose: Prose<'_>) -> Made {
        match written {
            Type::Reference(it) => self.of(&it.elem, place, prose),
            Type::Slice(it) => self.list(&it.elem, None, place, prose),
            Type::Array(it) => match &it.len {
                Expr::Lit(ExprLit { lit: Lit::Int(length), .. }) => {
                    self.list(&it.elem, length.base10_parse().ok(), place, prose)
                }
                _ => Err("an array's length is no number".to_owned()),
            },
            Type::Tuple(it) => {
                let each = it.elems.iter().map(|part| self.of(part, place, prose.below("/items")));
                let each: Vec<Value> = each.collect::<Result<_, _>>()?;
                if each.is_empty() || each.iter().any(|part| *part != each[0]) {
                    return Err("a tuple has parts that are not alike".to_owned());
                }
                Ok(json!({"type": "array", "items": each[0], "minItems": each.len(),
                    "maxItems": each.len()}))
            }
            Type::Path(it) => self.named(&it.path, place, prose),
            _ => Err("a type is neither a path, a reference, a list nor a tuple".to_owned()),
        }
    }

    fn list(&self, of: &Type, length: Option<u64>, at: &Place<'_>, prose: Prose<'_>) -> Made {
        let items = self.of(of, at, prose.below("/items"))?;
        let mut list = json!({"type": "array", "items": items});
        if let Some(length) = length {
            list["minItems"] = length.into();
            list["maxItems"] = length.into();
        }
        Ok(list)
    }

    fn named(&self, path: &syn::Path, place: &Place<'_>, prose: Prose<'_>) -> Made {
        let arguments = arguments(path);
        let name = path.segments.last().unwrap().ident.to_string();
        if let Some(number) = place.parameters.iter().position(|parameter| *parameter == name) {
            return self.of(place.arguments[number], place.outside.unwrap(), prose);
        }
        match (name.as_str(), arguments.as_slice()) {
            ("u8" | "u16" | "u32" | "u64" | "usize", []) => {
                Ok(json!({"type": "integer", "minimum": 0}))
            }
            ("i8" | "i16" | "i32" | "i64", []) => Ok(json!({"type": "integer"})),
            ("f32" | "f64", []) => Ok(json!({"type": "number"})),
            ("bool", []) => Ok(json!({"type": "boolean"})),
            ("str" | "String" | "char" | "Path" | "PathBuf", []) => Ok(json!({"type": "string"})),
            ("Value", []) => Ok(json!({})),
            ("Option", [of]) => Ok(or_null(self.of(of, place, prose)?)),
            ("Box" | "Cow" | "Rc", [of]) => self.of(of, place, prose),
            ("Vec" | "BTreeSet", [of]) => self.list(of, None, place, prose),
            ("BTreeMap", [_, of]) => {
                let each = self.of(of, place, prose.below("/additionalProperties"))?;
                Ok(json!({"type": "object", "additionalProperties": each}))
            }
            _ => {
                let defined = self.types.find(path, place.file)?;
                let is_root = self.inside.borrow().is_empty();
                match defined.schema().filter(|_| !is_root) {
                    Some(own) => Ok(json!({"$ref": format!("{own}.schema.json")})),
                    None => self.defined(defined, arguments, Some(place), prose),
                }
            }
        }
    }

    fn defined(
        &self,
        of: &'a Defined,
        arguments: Vec<&Type>,
        outside: Option<&Place<'_>>,
        prose: Prose<'_>,
    ) -> Made {
        let key = of.name.to_lowercase();
        if let Some(said) = in_json(&of.attributes) {
            return Ok(said);
        }
        if let Some(met) = self.inside.borrow_mut().iter_mut().find(|met| std::ptr::eq(met.0, of)) {
            met.1 = true;
            return Ok(json!({"$ref": format!("#/$defs/{key}")}));
        }
        self.inside.borrow_mut().push((of, false));
        let place = Place { file: &of.file, parameters: &of.parameters, arguments, outside };
        let made = self.parts(of, &place, prose);
        let (_, was_met) = self.inside.borrow_mut().pop().unwrap();
        let made = made.map_err(|e| format!("{}: {}: {e}", of.file.display(), of.name))?;
        if !was_met {
            return Ok(made);
        }
        let reference = json!({"$ref": format!("#/$defs/{key}")});
        self.definitions.borrow_mut().insert(key, made);
        Ok(reference)
    }

    fn parts(&self, of: &'a Defined, place: &Place<'_>, prose: Prose<'_>) -> Made {
        let serde = Serde::of(&of.attributes);
        let is_read = !derives(&of.attributes, "Serialize");
        if let Some(written) = serde.get("into") {
            return self.of(&syn::parse_str(written).unwrap(), place, prose);
        }
        match &of.what {
            What::Alias(of) => self.of(of, place, prose),
            What::Function => Err("a function is no type".to_owned()),
            What::Words(words) => Ok(json!({"enum": words})),
            What::Struct(fields) => self.fields(fields, is_read, place, prose),
            What::Enum(variants) => {
                let renamed = |variant: &syn::Variant| {
                    let own = Serde::of(&variant.attrs).get("rename").map(str::to_owned);
                    let case = serde.get("rename_all").unwrap_or_default();
                    own.unwrap_or_else(|| in_case(&variant.ident.to_string(), case))
                };
                if variants.iter().all(|variant| matches!(variant.fields, Fields::Unit)) {
                    let words: Vec<_> = variants.iter().map(renamed).collect();
                    return Ok(json!({"enum": words}));
                }
                let each = variants.iter().enumerate().map(|(number, variant)| {
                    let prose = prose.below(&format!("/anyOf/{number}"));
                    let mut made = self.fields(&variant.fields, is_read, place, prose)?;
                    if let Some(name) = serde.get("tag") {
                        let text = prose.below(&format!("/properties/{name}")).text("description");
                        tag(&mut made, name, &renamed(variant), text);
                    } else if !serde.has("untagged") {
                        return Err("an enum with fields has neither tag nor untagged".to_owned());
                    }
                    Ok(made)
                });
                Ok(json!({"anyOf": each.collect::<Result<Vec<_>, _>>()?}))
            }
        }
    }

    fn fields(&self, fields: &Fields, is_read: bool, at: &Place<'_>, prose: Prose<'_>) -> Made {
        if let Fields::Unnamed(fields) = fields {
            return match fields.unnamed.len() {
                1 => self.of(&fields.unnamed[0].ty, at, prose),
                _ => Err("a struct has several fields without names".to_owned()),
            };
        }
        let (mut properties, mut required) = (Map::new(), Vec::new());
        for field in fields {
            let serde = Serde::of(&field.attrs);
            if serde.has("skip") {
                continue;
            }
            let is_optional = path_of(&field.ty).is_ok_and(is_option);
            let may_lack = match is_read {
                true => is_optional || serde.has("default"),
                false => serde.has("skip_serializing_if"),
            };
            if serde.has("flatten") {
                let part = self.flattened(&field.ty, at, prose)?;
                let names = part["required"].as_array().into_iter().flatten();
                required.extend(names.filter(|_| !is_optional).cloned());
                properties.extend(part["properties"].as_object().unwrap().clone());
                continue;
            }
            let name = field.ident.as_ref().unwrap().to_string();
            let name = serde.get("rename").unwrap_or(name.trim_start_matches("r#")).to_owned();
            let prose = prose.below(&format!("/properties/{name}"));
            // What is left out when absent is never null.
            let is_bare = may_lack && is_optional && !is_read;
            let of = if is_bare { arguments(path_of(&field.ty)?)[0] } else { &field.ty };
            let mut member = match self.said(field, at)? {
                Some(said) => said,
                None => self.of(of, at, prose)?,
            };
            let said = description(&field.attrs).map(Value::String);
            if let Some(text) = said.or_else(|| prose.text("description").cloned()) {
                member["description"] = text;
            }
            if !may_lack {
                required.push(Value::String(name.clone()));
            }
            properties.insert(name, member);
        }
        let mut object = json!({"type": "object", "properties": properties});
        if !required.is_empty() {
            object["required"] = Value::Array(required);
        }
        object["additionalProperties"] = false.into();
        Ok(object)
    }

    /// What the doc comment of a field, or of the function that writes it, says that JSON has.
    fn said(&self, field: &syn::Field, at: &Place<'_>) -> Result<Option<Value>, String> {
        let serde = Serde::of(&field.attrs);
        let function = serde.get("serialize_with").map(|path| syn::parse_str(path).unwrap());
        let function = function.map(|path| self.types.find(&path, at.file)).transpose()?;
        Ok(in_json(&field.attrs).or_else(|| in_json(&function?.attributes)))
    }

    /// The members of a type that stand among those of another.
    fn flattened(&self, written: &Type, at: &Place<'_>, prose: Prose<'_>) -> Made {
        let path = path_of(written)?;
        let name = path.segments.last().unwrap().ident.to_string();
        if is_option(path) {
            return self.flattened(arguments(path)[0], at, prose);
        }
        if let Some(number) = at.parameters.iter().position(|parameter| *parameter == name) {
            return self.flattened(at.arguments[number], at.outside.unwrap(), prose);
        }
        let made =
            self.defined(self.types.find(path, at.file)?, arguments(path), Some(at), prose)?;
        match made["properties"].is_object() {
            true => Ok(made),
            false => Err(format!("`{name}` is flattened and has no members")),
        }
    }
}

/// The path of a type, behind references.
fn path_of(written: &Type) -> Result<&syn::Path, String> {
    match written {
        Type::Path(of) => Ok(&of.path),
        Type::Reference(of) => path_of(&of.elem),
        _ => Err("a flattened type has no name".to_owned()),
    }
}

fn is_option(path: &syn::Path) -> bool {
    path.segments.last().is_some_and(|last| last.ident == "Option")
}

/// The types between a path's angle brackets.
fn arguments(path: &syn::Path) -> Vec<&Type> {
    let PathArguments::AngleBracketed(given) = &path.segments.last().unwrap().arguments else {
        return Vec::new();
    };
    let types = given.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(of) => Some(of),
        _ => None,
    });
    types.collect()
}
