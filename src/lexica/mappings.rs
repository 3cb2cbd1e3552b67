//! Rows that join lexicons: SemLink's files, and the Predicate Matrix.
//!
//! | file | what it joins |
//! | --- | --- |
//! | SemLink 2, JSON `{"10.1-evict": ["Removing"]}` | words in classes of VerbNet, and frames |
//! | SemLink 2, JSON `{"abandon.01": {"51.2": {"ARG0": "theme"}}}` | rolesets and classes, with roles |
//! | SemLink 1, XML `verbnet-framenet_MappingData` | words in classes, and frames |
//! | SemLink 1, XML `verbnet-framenetRoles_MappingData` | roles of classes, and FEs of frames |
//! | SemLink 1, XML `pbvn-typemap` | rolesets and classes, with roles |
//! | Predicate Matrix, a table with tabs | all of them, with sense keys of WordNet; English rows |

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::error::{At, line_behind, text_of};
use super::provenance::{licence_at, name_of};
use super::tree::{Element, beginning, files_in, has_root, load, parse};
use super::{LexicaError, Result};
use crate::model::{Mapping, ResourceCounts, ResourceKind};

/// What files that join lexicons hold.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MappingFiles {
    /// What they are called: the name of their directory.
    pub name: String,
    /// Their licence: the text beside them; may be empty.
    pub licence: String,
    /// Bytes of the files.
    pub bytes: u64,
    /// The rows, each once, in order.
    pub mappings: Vec<Mapping>,
}

/// The root elements of SemLink 1's files.
const CLASSES_FRAMES: &str = "verbnet-framenet_MappingData";
const ROLES_ELEMENTS: &str = "verbnet-framenetRoles_MappingData";
const ROLESETS_CLASSES: &str = "pbvn-typemap";

/// The columns of the Predicate Matrix that are kept, without the numbers before their names.
const COLUMNS: [&str; 8] = [
    "VN_CLASS_NUMBER",
    "VN_LEMA",
    "VN_ROLE",
    "WN_SENSE",
    "FN_FRAME",
    "FN_LE",
    "FN_FRAME_ELEMENT",
    "PB_ROLESET",
];

/// How names of files end that may join lexicons.
const ENDINGS: [&str; 5] = [".json", ".xml", ".s", ".txt", ".tsv"];

/// The way a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Json,
    Xml,
    Table,
}

fn form_of(path: &Path) -> Option<Form> {
    let start = beginning(path);
    if [CLASSES_FRAMES, ROLES_ELEMENTS, ROLESETS_CLASSES].iter().any(|root| has_root(&start, root))
    {
        return Some(Form::Xml);
    }
    let first = start.lines().next().unwrap_or_default();
    if first.split('\t').map(column).any(|name| name == COLUMNS[0]) {
        return Some(Form::Table);
    }
    let key = start.trim_start().strip_prefix('{')?.trim_start().strip_prefix('"')?;
    let key = key.split_once('"')?.0;
    (class_and_lemma(key).is_some() || is_roleset(key)).then_some(Form::Json)
}

/// The name of a column without its number, as in `13_FN_FRAME`.
fn column(name: &str) -> &str {
    name.trim().trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '_')
}

/// The class and the lemma of `13.5.2-1-purchase`.
fn class_and_lemma(key: &str) -> Option<(&str, &str)> {
    let is_number = |letter: char| letter.is_ascii_digit() || ".-".contains(letter);
    let (class, lemma) = key.split_at(key.find(|letter| !is_number(letter))?);
    let class = class.strip_suffix('-').filter(|class| !class.is_empty())?;
    Some((class, lemma))
}

/// Whether a text is a roleset's name: a word, a point and a number.
fn is_roleset(key: &str) -> bool {
    let is_number = |of: &str| of.len() > 1 && of.bytes().all(|byte| byte.is_ascii_digit());
    key.rsplit_once('.').is_some_and(|(lemma, number)| {
        is_number(number) && lemma.contains(char::is_alphanumeric) && !lemma.contains(' ')
    })
}

impl MappingFiles {
    /// Whether a place looks to hold such files, by the beginning of one.
    pub(super) fn are_at(path: &Path) -> bool {
        match path.is_file() {
            true => form_of(path).is_some(),
            false => files_in(path, &ENDINGS).iter().any(|file| form_of(file).is_some()),
        }
    }

    /// Reads such a file, or all those of a directory; other files there are not read.
    ///
    /// # Errors
    /// When the place holds none, or a file is not what it should be.
    pub fn read(path: &Path) -> Result<Self> {
        let files = match path.is_file() {
            true => vec![path.to_owned()],
            false => files_in(path, &ENDINGS),
        };
        let files: Vec<(Form, PathBuf)> =
            files.into_iter().filter_map(|file| Some((form_of(&file)?, file))).collect();
        if files.is_empty() {
            return Err(LexicaError::None {
                path: path.to_owned(),
                expected: "a file of SemLink, or the Predicate Matrix".to_owned(),
            });
        }
        let (mut bytes, mut rows) = (0, BTreeSet::new());
        for (form, file) in &files {
            bytes += match form {
                Form::Table => read_table(file, &mut rows)?,
                Form::Json | Form::Xml => {
                    let (name, text) = load(file)?;
                    match form {
                        Form::Json => read_json(&name, &text, &mut rows)?,
                        _ => read_xml(&name, &parse(&name, &text)?, &mut rows)?,
                    }
                    text.len() as u64
                }
            };
        }
        let numbered = |(row, number)| Mapping { number, ..row };
        Ok(Self {
            name: name_of(path, ResourceKind::Mappings),
            licence: licence_at(path),
            bytes,
            mappings: rows.into_iter().zip(0..).map(numbered).collect(),
        })
    }

    /// How many rows there are.
    #[must_use]
    pub fn counts(&self) -> ResourceCounts {
        ResourceCounts { mappings: self.mappings.len() as u64, ..ResourceCounts::default() }
    }
}

type Rows = BTreeSet<Mapping>;

/// A word of a class.
fn of_class(class: &str, lemma: &str) -> Mapping {
    let lemma = lemma.replace('_', " ");
    Mapping { lemma, pos: "v".to_owned(), class: class.to_owned(), ..Mapping::default() }
}

/// The number of an argument: of `ARG0`, `A0` and `0`.
fn argument(written: &str) -> String {
    let bare = written.trim_start_matches("ARG");
    bare.strip_prefix('A').filter(|rest| !rest.is_empty()).unwrap_or(bare).to_owned()
}

fn read_json(file: &str, text: &str, rows: &mut Rows) -> Result<()> {
    let entries: BTreeMap<String, Value> = serde_json::from_str(text).map_err(|error| {
        At { file, line: error.line().max(1) }.wrong(error.to_string(), "one JSON object")
    })?;
    for (key, value) in &entries {
        let wrong = || {
            let before = text.find(&format!("\"{key}\"")).unwrap_or_default();
            let line = line_behind(&text.as_bytes()[..before]);
            let expected = "a class and its word with frames, or a roleset with classes";
            let shown: String = value.to_string().chars().take(60).collect();
            At { file, line }.wrong(format!("`{key}` with `{shown}`"), expected)
        };
        match value {
            Value::Array(frames) => {
                let (class, lemma) = class_and_lemma(key).ok_or_else(wrong)?;
                for frame in frames {
                    let frame = frame.as_str().ok_or_else(wrong)?.to_owned();
                    rows.insert(Mapping { frame, ..of_class(class, lemma) });
                }
            }
            Value::Object(classes) if is_roleset(key) => {
                for (class, roles) in classes {
                    let roles = roles.as_object().ok_or_else(wrong)?;
                    let lemma = key.rsplit_once('.').map_or("", |(lemma, _)| lemma);
                    let row = Mapping { roleset: key.clone(), ..of_class(class, lemma) };
                    for (from, to) in roles {
                        let class_role = to.as_str().ok_or_else(wrong)?.to_owned();
                        let argument = argument(from);
                        rows.insert(Mapping { class_role, argument, ..row.clone() });
                    }
                    if roles.is_empty() {
                        rows.insert(row);
                    }
                }
            }
            _ => return Err(wrong()),
        }
    }
    Ok(())
}

fn read_xml(file: &str, root: &Element, rows: &mut Rows) -> Result<()> {
    for of in root.all("vncls") {
        let frame = of.need("fnframe", file)?;
        let row = of_class(&of.need("class", file)?, of.get("vnmember").unwrap_or_default());
        let row = Mapping { frame, ..row };
        if root.name == CLASSES_FRAMES {
            rows.insert(row);
            continue;
        }
        for role in of.within("roles", "role") {
            let (element, class_role) = (role.need("fnrole", file)?, role.need("vnrole", file)?);
            rows.insert(Mapping { element, class_role, ..row.clone() });
        }
    }
    for of in root.all("predicate") {
        let lemma = of.need("lemma", file)?;
        for map in of.all("argmap") {
            let row = of_class(&map.need("vn-class", file)?, &lemma);
            let row = Mapping { roleset: map.need("pb-roleset", file)?, ..row };
            for role in map.all("role") {
                let class_role = role.need("vn-theta", file)?;
                let argument = argument(&role.need("pb-arg", file)?);
                rows.insert(Mapping { class_role, argument, ..row.clone() });
            }
            if map.children.is_empty() {
                rows.insert(row);
            }
        }
    }
    Ok(())
}

/// Reads the Predicate Matrix; gives its bytes.
fn read_table(path: &Path, rows: &mut Rows) -> Result<u64> {
    let bytes =
        fs::read(path).map_err(|source| LexicaError::Io { path: path.to_owned(), source })?;
    let size = bytes.len() as u64;
    let file = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let text = text_of(&file, bytes)?;
    let mut lines = text.lines().zip(1..).map(|(line, at)| (At { file: &file, line: at }, line));
    let Some((head, names)) = lines.next() else { return Ok(size) };
    let names: Vec<&str> = names.split('\t').map(column).collect();
    let place = |name: &str| names.iter().position(|known| *known == name);
    let needed = COLUMNS.into_iter().find(|name| place(name).is_none());
    if let Some(name) = needed {
        return Err(
            head.wrong(format!("no column `{name}`"), "the columns of the Predicate Matrix")
        );
    }
    for (at, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let cells: Vec<&str> = line.split('\t').collect();
        if cells.len() != names.len() {
            let found = format!("{} cells", cells.len());
            return Err(at.wrong(found, format!("{}, as in the first line", names.len())));
        }
        let cell = |name: &str| {
            let cell = place(name).map_or("", |place| cells[place].trim());
            let cell = cell.split_once(':').map_or(cell, |(_, behind)| behind);
            if cell == "NULL" { String::new() } else { cell.to_owned() }
        };
        if !["", "eng"].contains(&&*cell("ID_LANG")) {
            continue;
        }
        let lexunit = cell("FN_LE");
        let lemma = [cell("VN_LEMA"), lexunit.split('.').next().unwrap_or_default().to_owned()];
        let pos = Some(cell("ID_POS")).filter(|pos| !pos.is_empty());
        rows.insert(Mapping {
            lemma: lemma
                .into_iter()
                .find(|lemma| !lemma.is_empty())
                .unwrap_or_default()
                .replace('_', " "),
            pos: pos.unwrap_or_else(|| "v".to_owned()),
            sense: cell("WN_SENSE"),
            class: subclass_or(cell("VN_SUBCLASS_NUMBER"), cell("VN_CLASS_NUMBER")),
            class_role: cell("VN_ROLE"),
            roleset: cell("PB_ROLESET"),
            argument: cell("PB_ARG"),
            frame: cell("FN_FRAME"),
            lexunit,
            element: cell("FN_FRAME_ELEMENT"),
            number: 0,
        });
    }
    Ok(size)
}

fn subclass_or(subclass: String, class: String) -> String {
    if subclass.is_empty() { class } else { subclass }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_stands_before_its_word() {
        assert_eq!(class_and_lemma("13.5.2-1-purchase"), Some(("13.5.2-1", "purchase")));
        assert_eq!(class_and_lemma("69-cut_off"), Some(("69", "cut_off")));
        assert_eq!(class_and_lemma("purchase"), None);
        assert_eq!(class_and_lemma("text"), None);
        assert!(is_roleset("act_out.03") && !is_roleset("text") && !is_roleset("a b.01"));
        assert_eq!([argument("ARG0"), argument("A1"), argument("2")], ["0", "1", "2"]);
        assert_eq!(argument("A"), "A");
    }
}
