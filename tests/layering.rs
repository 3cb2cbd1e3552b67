//! The rules of ARCHITECTURE.md about source files, executable: who may import whom, where a heavy
//! crate may be named, and what every file looks like.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The layers from the top; a module imports only from lines below its own.
const LAYERS: [&[&str]; 16] = [
    &["cli"],
    &["error", "internals"],
    &["discover", "link"],
    &["generate", "publish"],
    &["expand", "experiment", "models", "proposals", "review"],
    &["transfer", "edit", "upkeep"],
    &["identify", "label"],
    &["promise"],
    &["lexicon"],
    &["search", "augment", "verify", "grow"],
    &["database", "align", "paraphrase", "tag", "filter", "vectors", "score"],
    &["learn", "prompt"],
    &["framenet", "lexica", "store", "index", "query", "exchange", "mine", "engine", "endpoint"],
    &["text"],
    &["durable"],
    &["model"],
];

/// Crates that one folder owns, or a few.
const OWNED_CRATES: [(&str, &str); 21] = [
    ("rocksdb", "store"),
    ("bincode", "store"),
    ("tantivy", "index"),
    ("regex_syntax", "query"),
    ("flate2", "lexica"),
    ("quick_xml", "framenet lexica"),
    ("zip", "framenet"),
    ("csv", "exchange"),
    ("unicode_normalization", "text"),
    ("unicode_segmentation", "mine text"),
    ("parquet", "exchange"),
    ("tokenizers", "engine/tokenize"),
    ("ureq", "endpoint"),
    ("wgpu", "engine/compute"),
    ("bytemuck", "engine/compute"),
    ("pollster", "engine/compute"),
    ("safetensors", "engine/nn"),
    ("memmap2", "engine/nn"),
    ("half", "engine/compute engine/nn"),
    ("anyhow", "cli"),
    ("clap", "cli"),
];

const MAX_LINES: usize = 600;

/// Lines of a function, from `fn` to its closing brace: one screen.
const MAX_FUNCTION: usize = 60;

const FORBIDDEN_NAMES: [&str; 5] = ["util", "utils", "common", "helpers", "prelude"];

/// Participles that say nothing of what a thing is: no file, item or function is called so.
const VAGUE_NAMES: [&str; 8] =
    ["asked", "beside", "given", "keep", "kept", "opened", "parted", "told"];

struct Source {
    path: PathBuf,
    /// First part of the path under `src/`, without `.rs`: `store`, `lib`, `main`.
    module: String,
    text: String,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files_under(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(folder) else { return found };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_under(&path, extension));
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn sources() -> Vec<Source> {
    let src = root().join("src");
    let sources: Vec<Source> = files_under(&src, "rs")
        .into_iter()
        .map(|path| {
            let first = path.strip_prefix(&src).unwrap().iter().next().unwrap();
            let module = first.to_str().unwrap().trim_end_matches(".rs").to_owned();
            let text = fs::read_to_string(&path).unwrap();
            Source { path, module, text }
        })
        .collect();
    assert!(sources.len() > 10, "src/ was not found");
    sources
}

/// Whether a file is all unit tests, of the module whose folder it lies in.
fn is_of_tests(path: &Path) -> bool {
    path.ends_with("tests.rs")
}

/// The code without comments and without the unit tests at the end.
fn code(text: &str) -> String {
    let end = text.find("#[cfg(test)]\nmod ").unwrap_or(text.len());
    let lines = text[..end].lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Modules of this crate that the code names in `crate::a` and `crate::{a, b::c}`.
fn imports(code: &str) -> BTreeSet<String> {
    heads(code, "crate::")
}

/// The first names of all paths after a prefix, as in `PREFIXa` and `PREFIX{a, b::c}`.
fn heads(code: &str, prefix: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices(prefix) {
        let rest = &code[at + prefix.len()..];
        match rest.strip_prefix('{') {
            Some(group) => found.extend(group_heads(group)),
            None => found.extend(head(rest)),
        }
    }
    found
}

/// The first name of each item of a `use` group, up to its closing brace.
fn group_heads(group: &str) -> Vec<String> {
    let mut heads = Vec::new();
    let mut depth = 0;
    let mut start = 0;
    for (i, letter) in group.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                heads.extend(head(group[start..i].trim_start()));
                start = i + 1;
                if letter == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    heads
}

fn head(path: &str) -> Option<String> {
    let end = path.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(path.len());
    (end > 0).then(|| path[..end].to_owned())
}

fn layer_of(module: &str) -> Option<usize> {
    LAYERS.iter().position(|line| line.contains(&module))
}

/// Whether the code names the crate, as in `zip::` or `use zip`.
fn names_crate(code: &str, name: &str) -> bool {
    code.match_indices(name).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        let starts_a_path =
            !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':' || c == '.');
        let after = &code[at + name.len()..];
        let used = code[..at].ends_with("use ") && after.starts_with([';', ' ']);
        starts_a_path && (after.starts_with("::") || used)
    })
}

#[test]
fn the_reader_of_imports_sees_every_form() {
    let code = "use crate::model::Span;\nuse crate::{store, text::{a, b}, query::Field};\n\
                fn f() { crate::decode::g(); $crate::nn!(); }";
    let found: Vec<String> = imports(code).into_iter().collect();
    assert_eq!(found, ["decode", "model", "nn", "query", "store", "text"]);
    assert!(names_crate("use zip::ZipArchive;", "zip"));
    assert!(names_crate("let x: zip::Result<()>", "zip"));
    assert!(!names_crate("a.iter().zip(b); unzip::x(); std::iter::zip::<A>", "zip"));
}

#[test]
fn a_module_imports_only_from_lines_below_its_own() {
    let mut wrong = Vec::new();
    for source in sources() {
        // The crate's root names every layer.
        if ["lib", "main"].contains(&source.module.as_str()) || is_of_tests(&source.path) {
            continue;
        }
        let Some(own) = layer_of(&source.module) else {
            wrong.push(format!("{} is in no layer", source.path.display()));
            continue;
        };
        for import in imports(&code(&source.text)) {
            let is_below = layer_of(&import).is_none_or(|layer| layer > own);
            if import != source.module && !is_below {
                wrong.push(format!("{} imports {import}", source.path.display()));
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}

/// The lines of modules in the drawing of ARCHITECTURE.md.
fn drawn_layers(page: &str) -> Vec<BTreeSet<&str>> {
    let (_, section) = page.split_once("\n## Who may import whom\n").unwrap();
    let drawing = section.split("```").nth(1).unwrap();
    let lines = drawing.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| line.split_whitespace().collect()).collect()
}

#[test]
fn the_architecture_draws_the_layers() {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let layers = LAYERS.map(|line| line.iter().copied().collect::<BTreeSet<&str>>());
    assert_eq!(drawn_layers(&page), layers);
}

/// Whether the code names the module of a trainer, as in `super::train::run`.
fn names_trainer(code: &str) -> bool {
    code.match_indices("train::").any(|(at, _)| {
        !code[..at].chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_')
    })
}

#[test]
fn only_the_command_line_and_experiments_import_a_trainer() {
    assert!(names_trainer("use super::train::Options;") && !names_trainer("trained::read()"));
    let mut trainers = 0;
    for source in sources() {
        let is_trainer = source.path.iter().any(|part| part == "train" || part == "train.rs");
        trainers += usize::from(is_trainer);
        let may = is_trainer || ["cli", "experiment"].contains(&source.module.as_str());
        assert!(may || !names_trainer(&code(&source.text)), "{}", source.path.display());
    }
    assert!(trainers > 3, "{trainers} files train");
}

/// The folders of `src/`, and those of the engine.
fn rooms() -> BTreeSet<String> {
    let modules = sources().into_iter().map(|source| source.module);
    let of_engine = ["compute", "decode", "nn", "tokenize"].map(|room| format!("engine/{room}"));
    let all = modules.chain(of_engine);
    all.filter(|room| root().join("src").join(room).is_dir()).collect()
}

/// The folders of the engine from the top, and those below each.
const OF_ENGINE: [(&str, &[&str]); 4] = [
    ("decode", &["nn", "compute", "tokenize"]),
    ("nn", &["compute", "tokenize"]),
    ("compute", &[]),
    ("tokenize", &[]),
];

#[test]
fn a_folder_of_the_engine_imports_only_those_below_it() {
    let mut imported = 0;
    for (folder, below) in OF_ENGINE {
        for path in files_under(&root().join("src/engine").join(folder), "rs") {
            let code = code(&fs::read_to_string(&path).unwrap());
            // Nor does it go through the face.
            for other in heads(&code, "crate::engine::") {
                let may = other == folder || below.contains(&other.as_str());
                assert!(may, "{} imports {other}", path.display());
                imported += usize::from(other != folder);
            }
        }
    }
    assert!(imported > 20, "{imported} imports were found");
}

/// The files and folders of a room, each with those that it imports by name.
fn inside(room: &str) -> BTreeMap<String, BTreeSet<String>> {
    let folder = root().join("src").join(room);
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in files_under(&folder, "rs") {
        let parts: Vec<&str> =
            path.strip_prefix(&folder).unwrap().iter().map(|part| part.to_str().unwrap()).collect();
        if is_of_tests(&path) {
            continue;
        }
        // `super` is the room in its files, and in `mod.rs` of its folders.
        let up = match parts[..] {
            ["mod.rs"] => continue,
            [_] | [_, "mod.rs"] => "super::",
            _ => "super::super::",
        };
        let code = code(&fs::read_to_string(&path).unwrap());
        let mut found = heads(&code, &format!("crate::{}::", room.replace('/', "::")));
        found.extend(heads(&code, up));
        all.entry(parts[0].trim_end_matches(".rs").to_owned()).or_default().extend(found);
    }
    let names: BTreeSet<String> = all.keys().cloned().collect();
    for (name, found) in &mut all {
        found.retain(|other| other != name && names.contains(other));
    }
    all
}

#[test]
fn the_files_of_a_room_import_each_other_in_one_direction() {
    let rooms = rooms();
    assert!(rooms.len() > 20, "the rooms were not found");
    for room in &rooms {
        let mut left = inside(room);
        // What imports nothing that is left is in no circle.
        loop {
            let names: BTreeSet<String> = left.keys().cloned().collect();
            let before = left.len();
            left.retain(|_, found| found.iter().any(|other| names.contains(other)));
            if left.len() == before {
                break;
            }
        }
        assert_eq!(left, BTreeMap::new(), "src/{room}/");
    }
}

/// A folder that one can take in at a glance.
const MAX_FILES: usize = 25;

#[test]
fn the_rooms_of_the_command_line_stay_small() {
    let mut rooms: BTreeMap<PathBuf, usize> = BTreeMap::new();
    for file in files_under(&root().join("src/cli"), "rs") {
        *rooms.entry(file.parent().unwrap().to_owned()).or_default() += 1;
    }
    assert!(rooms.len() > 10, "src/cli/ was not found");
    rooms.retain(|_, files| *files > MAX_FILES);
    assert_eq!(rooms, BTreeMap::new(), "folders of more than {MAX_FILES} files");
}

#[test]
fn a_heavy_crate_is_named_in_one_folder() {
    let mut wrong = Vec::new();
    for source in sources() {
        let code = code(&source.text);
        let place = source.path.strip_prefix(root().join("src")).unwrap();
        for (name, owner) in OWNED_CRATES {
            let owns = owner.split(' ').any(|owner| place.starts_with(owner))
                || (owner == "cli" && source.module == "main");
            if !owns && names_crate(&code, name) {
                wrong.push(format!("{} names {name}, which {owner} owns", source.path.display()));
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn every_source_file_says_what_it_holds_and_stays_short() {
    for source in sources() {
        let path = source.path.display();
        assert!(source.text.starts_with("//! "), "{path} opens without a module doc");
        let lines = source.text.lines().count();
        assert!(lines < MAX_LINES, "{path} has {lines} lines, the limit is {MAX_LINES}");
        for part in source.path.strip_prefix(root()).unwrap() {
            let name = part.to_str().unwrap().trim_end_matches(".rs");
            assert!(!FORBIDDEN_NAMES.contains(&name), "{path}: name the concept, not `{name}`");
        }
    }
}

/// The functions with a body: the line of `fn` from 1, how many lines it has, and its name. The
/// source is formatted, as `make test` checks: a body that is no single line ends with the first
/// brace that stands alone below the first letter of the function.
fn functions(text: &str) -> Vec<(usize, usize, &str)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let item = line.trim_start();
        let (words, Some((_, rest))) = (item.split("fn ").next(), item.split_once("fn ")) else {
            continue;
        };
        let is_qualifier = |word: &str| {
            ["const", "async", "unsafe", "extern"].contains(&word)
                || word.starts_with("pub")
                || word.starts_with('$')
                || word.ends_with(')')
        };
        if !words.unwrap_or_default().split_whitespace().all(is_qualifier) {
            continue;
        }
        let head = lines[at..].iter().position(|line| line.ends_with(['{', ';', '}']));
        let head = at + head.expect("a function has a body or ends with a semicolon");
        let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next();
        let end = match lines[head].ends_with('{') {
            true => {
                let closing = format!("{}}}", &line[..line.len() - item.len()]);
                let body = lines[head..].iter().position(|line| *line == closing);
                head + body.expect("a body ends with a brace below its function")
            }
            false => head,
        };
        found.push((at + 1, end + 1 - at, name.unwrap_or_default()));
    }
    found
}

/// Unit tests are functions, too.
#[test]
fn a_function_fits_on_a_screen() {
    let seen = functions(
        "trait A {\n    fn a(\n        &self,\n    );\n}\npub(super) fn b() {\n    if c {\n    }\n}\n\
         const fn d() {}\n// fn e() {\nlet f: fn (u8) = g;\n",
    );
    assert_eq!(seen, [(2, 3, "a"), (6, 4, "b"), (10, 1, "d")]);
    let mut long = Vec::new();
    let mut all = 0;
    for source in sources() {
        for (line, lines, name) in functions(&source.text) {
            all += 1;
            if lines > MAX_FUNCTION {
                let place = source.path.strip_prefix(root()).unwrap().display();
                long.push(format!("{place}:{line}: {name} has {lines} lines"));
            }
        }
    }
    assert!(all > 5000, "{all} functions were found");
    assert_eq!(long, [""; 0], "functions of more than {MAX_FUNCTION} lines");
}

#[test]
fn source_files_are_ascii() {
    let mut files = vec![root().join("Cargo.toml"), root().join("deny.toml")];
    for folder in ["src", "tests", "benches", "examples"] {
        files.extend(files_under(&root().join(folder), "rs"));
    }
    files.extend(files_under(&root().join("shaders"), "wgsl"));
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let odd = text.lines().position(|line| !line.is_ascii());
        assert_eq!(odd.map(|line| line + 1), None, "{} is not ASCII", file.display());
    }
}

/// The lines of comments that are wider than code may be. What stands in a fence or a table is
/// drawn and keeps its width.
fn wide_comments(text: &str, width: usize) -> Vec<usize> {
    let mut fenced = false;
    let mut wide = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let Some(comment) = line.trim_start().strip_prefix("//") else { continue };
        let words = comment.trim_start_matches(['/', '!', ' ']);
        fenced ^= words.starts_with("```");
        if line.len() > width && !fenced && !words.starts_with('|') {
            wide.push(i + 1);
        }
    }
    wide
}

#[test]
fn comments_are_no_wider_than_code() {
    let settings = fs::read_to_string(root().join("rustfmt.toml")).unwrap();
    let width = settings.lines().find_map(|line| line.strip_prefix("max_width = ")).unwrap();
    let width = width.parse().unwrap();
    let drawn = "//! ```text\n//! drawn as wide\n//! ```\n//! | a row | of it |\n";
    assert_eq!(wide_comments(&format!("/// too long\n// short\n{drawn}"), 10), [1]);
    for folder in ["src", "tests", "benches", "examples", "c", "python/src"] {
        for file in files_under(&root().join(folder), "rs") {
            let wide = wide_comments(&fs::read_to_string(&file).unwrap(), width);
            assert_eq!(wide, [0; 0], "{}: break these lines of comments", file.display());
        }
    }
}

/// Whoever embeds the library has no such program: the command line adds its own hints.
#[test]
fn messages_of_the_library_name_no_commands_and_no_options() {
    for Source { path, module, text } in sources() {
        if ["cli", "main"].contains(&module.as_str()) {
            continue;
        }
        for (at, line) in code(&text).lines().enumerate() {
            let is_named = ["`fnstore ", "`make ", "`--"].iter().any(|named| line.contains(named));
            assert!(!is_named, "{}: line {} of the code: {line}", path.display(), at + 1);
        }
    }
}

/// The names that a source gives to its items, functions and modules.
fn defined_names(code: &str) -> Vec<&str> {
    let keywords = ["fn", "struct", "enum", "trait", "type", "mod", "union"];
    let words: Vec<&str> = code.split_whitespace().collect();
    let pairs = words.windows(2).filter(|pair| keywords.contains(&pair[0]));
    pairs
        .filter_map(|pair| pair[1].split(|of: char| !of.is_alphanumeric() && of != '_').next())
        .collect()
}

#[test]
fn names_say_what_a_thing_is() {
    let seen = defined_names("pub(super) fn opened<T>(a: T) { } enum Asked { Given }\nmod told;");
    assert_eq!(seen, ["opened", "Asked", "told"]);
    let mut wrong = Vec::new();
    for source in sources() {
        let code = code(&source.text);
        for name in defined_names(&code) {
            if VAGUE_NAMES.contains(&name.to_lowercase().as_str()) {
                wrong.push(format!("{}: {name}", source.path.display()));
            }
        }
    }
    assert_eq!(wrong, [""; 0], "names that say nothing of what a thing is");
}
