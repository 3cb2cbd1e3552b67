//! The records of JSON lines: a `record!` says of a type of the model which fields its record has.

use syn::parse::{Parse, ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::token::{Brace, Bracket, Comma};
use syn::{
    Attribute, Field, Fields, FieldsNamed, GenericArgument, Ident, PathArguments, Token, Type,
};

use super::form::in_case;

/// What a `record!` defines.
pub(super) struct Record {
    pub(super) attributes: Vec<Attribute>,
    /// The type of the model, by its [`key`].
    pub(super) model: String,
    pub(super) name: Ident,
    /// Of a type `T` of the model, as `Recorded<T>`.
    pub(super) fields: Fields,
}

impl Parse for Record {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut attributes = input.call(Attribute::parse_outer)?;
        let model = key(&input.parse()?);
        if input.peek(Bracket) {
            let shape;
            syn::bracketed!(shape in input);
            passed_over(&shape)?;
        }
        input.parse::<Token![as]>()?;
        let name = input.parse()?;
        let mut fields = Punctuated::new();
        if !input.peek(Brace) {
            assert_eq!(input.parse::<Ident>()?, "of");
            let kind = in_case(&input.parse::<Ident>()?.to_string(), "snake_case");
            let schema = format!("`schema/jsonl-{}.schema.json`", kind.replace('_', "-"));
            attributes.extend(attribute(&format!("doc = \"{schema}\"")));
            fields.push(Field::parse_named.parse_str("kind: LineKind")?);
        }
        attributes.extend(attribute("derive(Serialize)"));
        let body;
        let brace_token = syn::braced!(body in input);
        while !body.is_empty() {
            let field = body.call(Field::parse_named)?;
            fields.push(Field { ty: recorded(field.ty), ..field });
            if body.peek(Token![=]) {
                body.parse::<Token![=]>()?;
                while !body.is_empty() && !body.peek(Token![,]) {
                    body.step(|cursor| Ok(((), cursor.token_tree().unwrap().1)))?;
                }
            }
            if !body.is_empty() {
                body.parse::<Comma>()?;
            }
        }
        let fields = Fields::Named(FieldsNamed { brace_token, named: fields });
        Ok(Self { attributes, model, name, fields })
    }
}

/// Passes over the rest of an input.
fn passed_over(input: ParseStream<'_>) -> syn::Result<()> {
    while !input.is_empty() {
        input.step(|cursor| Ok(((), cursor.token_tree().unwrap().1)))?;
    }
    Ok(())
}

fn attribute(text: &str) -> Vec<Attribute> {
    Attribute::parse_outer.parse_str(&format!("#[{text}]")).unwrap()
}

/// `Recorded<T>` of `T`, inside of lists and of what may be absent.
fn recorded(mut of: Type) -> Type {
    if let Type::Path(path) = &mut of {
        let last = path.path.segments.last_mut().unwrap();
        if let (true, PathArguments::AngleBracketed(given)) =
            (last.ident == "Option" || last.ident == "Vec", &mut last.arguments)
            && let Some(GenericArgument::Type(inner)) = given.args.pop()
        {
            given.args.push(GenericArgument::Type(recorded(inner)));
            return of;
        }
    }
    let Type::Path(mut written) = syn::parse_str("Recorded<u8>").unwrap() else { unreachable!() };
    let last = written.path.segments.last_mut().unwrap();
    let PathArguments::AngleBracketed(given) = &mut last.arguments else { unreachable!() };
    given.args = Punctuated::from_iter([GenericArgument::Type(of)]);
    Type::Path(written)
}

/// A type in words, by which a record is found.
pub(super) fn key(of: &Type) -> String {
    match of {
        Type::Path(path) => {
            let last = path.path.segments.last().unwrap();
            let mut key = last.ident.to_string();
            if let PathArguments::AngleBracketed(given) = &last.arguments {
                let types = given.args.iter().map(|argument| match argument {
                    GenericArgument::Type(of) => self::key(of),
                    _ => String::new(),
                });
                key.push_str(&format!("<{}>", types.collect::<Vec<_>>().join(",")));
            }
            key
        }
        Type::Tuple(parts) => {
            format!("({})", parts.elems.iter().map(key).collect::<Vec<_>>().join(","))
        }
        _ => String::new(),
    }
}
