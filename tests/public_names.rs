//! The names that are promised: `docs/reference/library.md` lists those of the crate's root and of
//! each public module, so that none is added unseen. `FNSTORE_WRITE_GOLDEN=1` writes the list.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use syn::{Attribute, Item, UseTree, Visibility};

const PAGE: &str = "docs/reference/library.md";
const BEGIN: &str = "<!-- the list of names -->\n";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn items(path: &Path) -> Vec<Item> {
    syn::parse_file(&fs::read_to_string(path).unwrap()).unwrap().items
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn is_hidden(attributes: &[Attribute]) -> bool {
    let says_hidden =
        |of: &Attribute| of.parse_args::<syn::Ident>().is_ok_and(|argument| argument == "hidden");
    attributes.iter().any(|of| of.path().is_ident("doc") && says_hidden(of))
}

/// The names that a `use` brings, without its path.
fn used(tree: &UseTree, names: &mut BTreeSet<String>) {
    match tree {
        UseTree::Path(path) => used(&path.tree, names),
        UseTree::Name(name) => drop(names.insert(name.ident.to_string())),
        UseTree::Rename(rename) => drop(names.insert(rename.rename.to_string())),
        UseTree::Group(group) => group.items.iter().for_each(|tree| used(tree, names)),
        UseTree::Glob(_) => panic!("a public `use` names what it brings"),
    }
}

/// The public names of a file, and its public modules. Macros that make a type name it first.
fn names(items: &[Item]) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut names, mut modules) = (BTreeSet::new(), BTreeSet::new());
    for item in items {
        let (visibility, attributes, name) = match item {
            Item::Struct(of) => (&of.vis, &of.attrs, &of.ident),
            Item::Enum(of) => (&of.vis, &of.attrs, &of.ident),
            Item::Trait(of) => (&of.vis, &of.attrs, &of.ident),
            Item::Fn(of) => (&of.vis, &of.attrs, &of.sig.ident),
            Item::Const(of) => (&of.vis, &of.attrs, &of.ident),
            Item::Type(of) => (&of.vis, &of.attrs, &of.ident),
            Item::Mod(of) if is_public(&of.vis) && !is_hidden(&of.attrs) => {
                modules.insert(of.ident.to_string());
                continue;
            }
            Item::Use(of) if is_public(&of.vis) && !is_hidden(&of.attrs) => {
                used(&of.tree, &mut names);
                continue;
            }
            _ => continue,
        };
        if is_public(visibility) && !is_hidden(attributes) {
            names.insert(name.to_string());
        }
    }
    (names, modules)
}

fn file_of(module: &str) -> PathBuf {
    let folder = root().join("src").join(module);
    let file = folder.join("mod.rs");
    if file.exists() { file } else { folder.with_extension("rs") }
}

/// A line for each public module, from the root on.
fn list() -> (BTreeSet<String>, String) {
    let (at_root, modules) = names(&items(&root().join("src/lib.rs")));
    let mut lines = vec![line("fnstore", &at_root)];
    let mut waiting: Vec<String> = modules.into_iter().rev().collect();
    while let Some(module) = waiting.pop() {
        if module == "internals" {
            continue;
        }
        let (names, inner) = names(&items(&file_of(&module)));
        lines.push(line(&format!("fnstore::{}", module.replace('/', "::")), &names));
        waiting.extend(inner.into_iter().rev().map(|inner| format!("{module}/{inner}")));
    }
    (at_root, lines.concat())
}

fn line(module: &str, names: &BTreeSet<String>) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    format!("- `{module}`: {}\n", names.join(", "))
}

#[test]
fn a_dozen_names_stand_at_the_root() {
    let (at_root, _) = list();
    let expected = [
        "Answer",
        "Change",
        "Database",
        "Error",
        "Expander",
        "Expression",
        "Lexicon",
        "Proposals",
        "Release",
        "Script",
        "Span",
        "Transaction",
    ];
    assert_eq!(at_root, expected.map(str::to_owned).into());
}

#[test]
fn the_page_lists_every_promised_name() {
    let (_, list) = list();
    let page = fs::read_to_string(root().join(PAGE)).unwrap();
    let (above, listed) = page.split_once(BEGIN).unwrap();
    if std::env::var_os("FNSTORE_WRITE_GOLDEN").is_some() {
        fs::write(root().join(PAGE), format!("{above}{BEGIN}{list}")).unwrap();
        return;
    }
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
    let (listed, list) = (lines(listed), lines(&list));
    let differs: Vec<_> = listed.symmetric_difference(&list).collect();
    assert!(differs.is_empty(), "FNSTORE_WRITE_GOLDEN=1 writes the list: {differs:#?}");
}

/// Whether a type is an error, by what it derives or the `impl` of it.
fn error_of(item: &Item) -> Option<String> {
    let derives = |attributes: &[Attribute]| {
        let mut found = false;
        for of in attributes.iter().filter(|of| of.path().is_ident("derive")) {
            of.parse_nested_meta(|meta| {
                found |= meta.path.segments.last().is_some_and(|last| last.ident == "Error");
                Ok(())
            })
            .unwrap();
        }
        found
    };
    match item {
        Item::Struct(of) if derives(&of.attrs) => Some(of.ident.to_string()),
        Item::Enum(of) if derives(&of.attrs) => Some(of.ident.to_string()),
        Item::Impl(of) => {
            let (of_trait, _) = of.trait_.as_ref()?;
            let is_error = of_trait.segments.last()?.ident == "Error";
            let syn::Type::Path(of_type) = &*of.self_ty else { return None };
            is_error.then(|| of_type.path.segments.last().unwrap().ident.to_string())
        }
        _ => None,
    }
}

/// The types of a folder or file, and those of them that are errors.
fn types_in(place: &Path, types: &mut BTreeSet<String>, errors: &mut BTreeSet<String>) {
    if place.is_dir() {
        for entry in fs::read_dir(place).unwrap() {
            types_in(&entry.unwrap().path(), types, errors);
        }
        return;
    }
    if place.extension().is_none_or(|ending| ending != "rs") {
        return;
    }
    for item in items(place) {
        match &item {
            Item::Struct(of) => drop(types.insert(of.ident.to_string())),
            Item::Enum(of) => drop(types.insert(of.ident.to_string())),
            // `named!` makes an enum of what it is given.
            Item::Macro(of) => {
                let tokens = of.mac.tokens.to_string();
                let after = tokens.split_once("enum ").map(|(_, after)| after);
                types.extend(
                    after.and_then(|after| after.split_whitespace().next()).map(str::to_owned),
                );
            }
            _ => {}
        }
        errors.extend(error_of(&item));
    }
}

#[test]
fn every_promised_error_has_a_kind_and_a_code() {
    let (mut all, mut all_errors) = (BTreeSet::new(), BTreeSet::new());
    for entry in fs::read_dir(root().join("src")).unwrap() {
        let path = entry.unwrap().path();
        if !path.ends_with("cli") && !path.ends_with("main.rs") {
            types_in(&path, &mut all, &mut all_errors);
        }
    }
    let source = fs::read_to_string(root().join("src/error.rs")).unwrap();
    let coded = source.split_once("\nerrors! {").unwrap().1.split_once("\n}").unwrap().0;
    let coded: BTreeSet<&str> = coded
        .lines()
        .filter_map(|line| line.strip_suffix(',')?.rsplit("::").next())
        .chain(["Error"])
        .collect();
    let (mut found, mut uncoded) = (0, Vec::new());
    for line in list().1.lines() {
        let (module, names) = line.trim_start_matches("- `fnstore").split_once("`: ").unwrap();
        let folder = file_of(module.trim_start_matches("::").replace("::", "/").as_str());
        let folder = if folder.ends_with("mod.rs") { folder.parent().unwrap() } else { &folder };
        let (mut own, mut own_errors) = (BTreeSet::new(), BTreeSet::new());
        if folder.exists() && !module.is_empty() {
            types_in(folder, &mut own, &mut own_errors);
        }
        for name in names.split(", ").map(|name| name.trim_matches('`')) {
            // What a module re-exports is another's, unless it has a type of that name itself.
            let errors = if own.contains(name) { &own_errors } else { &all_errors };
            if errors.contains(name) {
                found += 1;
                uncoded.extend((!coded.contains(name)).then(|| format!("{module}::{name}")));
            }
        }
    }
    assert!(found > 15, "{found}");
    assert_eq!(uncoded, [""; 0]);
}
