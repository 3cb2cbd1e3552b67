//! The types of the sources, by name, and the functions that write fields.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Generics, Ident, ImplItem, Item, LitStr, Token, Type, UseTree, Visibility};

use super::attributes::documentation;

/// What stands under a name.
pub(super) enum What {
    Struct(syn::Fields),
    Enum(Vec<syn::Variant>),
    /// Another name of a type, or a newtype of `ids!`.
    Alias(Type),
    /// The names of a `named!` enum's cases.
    Words(Vec<String>),
    /// What writes a field (`serialize_with`).
    Function,
}

/// A type of the sources.
pub(super) struct Defined {
    pub(super) file: PathBuf,
    pub(super) name: String,
    pub(super) attributes: Vec<Attribute>,
    /// Names of its type parameters.
    pub(super) parameters: Vec<String>,
    pub(super) what: What,
}

impl Defined {
    /// The schema that its doc comment names.
    pub(super) fn schema(&self) -> Option<String> {
        let about = documentation(&self.attributes);
        let (_, named) = about.split_once("`schema/")?;
        named.split_once(".schema.json`").map(|(name, _)| name.to_owned())
    }
}

/// All types of the sources.
#[derive(Default)]
pub(super) struct Types {
    by_name: BTreeMap<String, Vec<Defined>>,
    /// Files, names that are imported there, and the paths they stand for.
    imports: Vec<(PathBuf, String, Vec<String>)>,
    /// Files, and the records that tasks of lines (`LineTask`) answer with there.
    answers: Vec<(PathBuf, Type)>,
}

impl Types {
    /// Reads the sources below a folder.
    pub(super) fn read(folder: &Path) -> Self {
        let mut types = Self::default();
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|ending| ending == "rs") {
                    let parsed = syn::parse_file(&fs::read_to_string(&path).unwrap()).unwrap();
                    parsed.items.into_iter().for_each(|item| types.take(&path, item));
                }
            }
        }
        types
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Defined> {
        self.by_name.values().flatten()
    }

    /// What is written where a record is a line's answer, and the line may be wrong: `Answered`.
    pub(super) fn answered(&self, record: &Defined) -> Option<&Defined> {
        let is_record = |(file, of): &(PathBuf, Type)| {
            matches!(of, Type::Path(of)
                if self.find(&of.path, file).is_ok_and(|of| std::ptr::eq(of, record)))
        };
        let is_answer = self.answers.iter().any(is_record);
        self.all().find(|of| is_answer && of.name == "Answered")
    }

    /// What a path means in a file: what its module has, else the only one of its name below that
    /// module, as modules show what is below them, else the only one at all.
    pub(super) fn find(&self, path: &syn::Path, file: &Path) -> Result<&Defined, String> {
        let written: Vec<String> = path.segments.iter().map(|it| it.ident.to_string()).collect();
        let imported = self.imports.iter().find(|(at, name, _)| at == file && *name == written[0]);
        let full: Vec<&String> = match imported {
            Some((_, _, stands_for)) => stands_for.iter().chain(&written[1..]).collect(),
            None => written.iter().collect(),
        };
        let (name, modules) = full.split_last().unwrap();
        let mut module = module_of(file);
        for part in modules {
            match part.as_str() {
                "crate" | "fnstore" => module.clear(),
                "super" => drop(module.pop()),
                "self" => {}
                below => module.push(below.to_owned()),
            }
        }
        let named = self.by_name.get(*name).map_or(&[][..], Vec::as_slice);
        let there = named.iter().filter(|it| module_of(&it.file) == module);
        let below = named.iter().filter(|it| module_of(&it.file).starts_with(&module));
        let found = [there.collect::<Vec<_>>(), below.collect(), named.iter().collect()];
        found.iter().find(|found| found.len() == 1).map(|found| found[0]).ok_or_else(|| {
            let files: Vec<_> = named.iter().map(|it| it.file.display().to_string()).collect();
            format!("`{}` of {} is one of {files:?}", written.join("::"), file.display())
        })
    }

    fn take(&mut self, file: &Path, item: Item) {
        match item {
            Item::Use(item) => self.import(file, &[], item.tree),
            // Modules of tests have types of their own.
            Item::Mod(item) if item.attrs.is_empty() => {
                let items = item.content.map_or(Vec::new(), |(_, items)| items);
                items.into_iter().for_each(|item| self.take(file, item));
            }
            Item::Macro(item) => {
                let name = item.mac.path.segments.last().unwrap().ident.to_string();
                let parsed = match name.as_str() {
                    "named" => item.mac.parse_body::<Named>().map(|named| vec![named]),
                    "ids" | "tagged_ids" => item.mac.parse_body_with(ids),
                    _ => return,
                };
                for Named(attributes, name, what) in parsed.unwrap_or_default() {
                    self.define(file, &name, attributes, &Generics::default(), what);
                }
            }
            Item::Struct(of) => {
                self.define(file, &of.ident, of.attrs, &of.generics, What::Struct(of.fields));
            }
            Item::Enum(of) => {
                let variants = What::Enum(of.variants.into_iter().collect());
                self.define(file, &of.ident, of.attrs, &of.generics, variants);
            }
            Item::Type(of) => {
                self.define(file, &of.ident, of.attrs, &of.generics, What::Alias(*of.ty));
            }
            Item::Impl(of) if of.trait_.as_ref().is_some_and(|it| it.0.is_ident("LineTask")) => {
                let records = of.items.into_iter().filter_map(|item| match item {
                    ImplItem::Type(of) if of.ident == "Record" => Some((file.to_owned(), of.ty)),
                    _ => None,
                });
                self.answers.extend(records);
            }
            Item::Fn(of) => {
                self.define(file, &of.sig.ident, of.attrs, &of.sig.generics, What::Function);
            }
            _ => {}
        }
    }

    fn define(
        &mut self,
        file: &Path,
        name: &Ident,
        attributes: Vec<Attribute>,
        generics: &Generics,
        what: What,
    ) {
        let parameters = generics.type_params().map(|it| it.ident.to_string()).collect();
        let name = name.to_string();
        let named = self.by_name.entry(name.clone()).or_default();
        named.push(Defined { file: file.to_owned(), name, attributes, parameters, what });
    }

    fn import(&mut self, file: &Path, before: &[String], tree: UseTree) {
        let below = |name: &Ident| [before, &[name.to_string()]].concat();
        let (name, path) = match tree {
            UseTree::Path(path) => return self.import(file, &below(&path.ident), *path.tree),
            UseTree::Group(group) => {
                return group.items.into_iter().for_each(|tree| self.import(file, before, tree));
            }
            UseTree::Name(name) => (name.ident.to_string(), below(&name.ident)),
            UseTree::Rename(name) => (name.rename.to_string(), below(&name.ident)),
            _ => return,
        };
        self.imports.push((file.to_owned(), name, path));
    }
}

/// The modules from the crate's root to a file.
fn module_of(file: &Path) -> Vec<String> {
    let parts = file.with_extension("");
    let parts = parts.iter().map(|part| part.to_str().unwrap().to_owned());
    let below: Vec<String> = parts.skip_while(|part| part != "src").skip(1).collect();
    below.into_iter().filter(|part| part != "mod").collect()
}

/// A type that a macro defines: `named! { enum Name { Case => "case", } }`.
struct Named(Vec<Attribute>, Ident, What);

impl Parse for Named {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        input.parse::<Visibility>()?;
        input.parse::<Token![enum]>()?;
        let name = input.parse()?;
        let body;
        syn::braced!(body in input);
        let mut words = Vec::new();
        while !body.is_empty() {
            body.call(Attribute::parse_outer)?;
            body.parse::<Ident>()?;
            if !body.peek(Token![=>]) {
                body.parse::<Token![=]>()?;
                body.parse::<syn::Lit>()?;
            }
            body.parse::<Token![=>]>()?;
            words.push(body.parse::<LitStr>()?.value());
            body.parse::<Token![,]>()?;
        }
        Ok(Self(attributes, name, What::Words(words)))
    }
}

/// The types of `ids! { Name(number); }`.
fn ids(input: ParseStream<'_>) -> syn::Result<Vec<Named>> {
    let mut all = Vec::new();
    while !input.is_empty() {
        let (attributes, name) = (input.call(Attribute::parse_outer)?, input.parse()?);
        let of;
        syn::parenthesized!(of in input);
        all.push(Named(attributes, name, What::Alias(of.parse()?)));
        input.parse::<Token![;]>()?;
    }
    Ok(all)
}
