//! The languages that a model's folder declares.
//!
//! Three places are asked, the first that says something wins: `languages.json`, a list of tags;
//! the front matter of the model card, as Hugging Face's hub has it; the metadata of a GGUF file.
//! None of them is a part of a model's fingerprint: weights are the same whoever may use them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Gguf;
use crate::model::{Declared, Languages};

/// Name of the file that declares languages, a JSON list of tags: `["en"]`.
pub const LANGUAGES: &str = "languages.json";

/// Model cards whose front matter may declare languages.
const CARDS: [&str; 2] = ["MODEL_CARD.md", "README.md"];

/// The key of GGUF for languages.
const GENERAL_LANGUAGES: &str = "general.languages";

/// The languages that a model declares: one in a directory, or a GGUF file. Beside a GGUF file that
/// is alone in its directory, the directory's files speak for it.
#[must_use]
pub fn declared_languages(place: &Path) -> Declared {
    let name = place.file_name().unwrap_or(place.as_os_str()).to_string_lossy();
    Declared { languages: read(place), ..Declared::nothing(&name) }
}

/// Writes the declaration of a model in a directory, in place of an earlier one.
///
/// # Errors
/// When it cannot be written.
pub fn declare_languages(directory: &Path, languages: &Languages) -> io::Result<()> {
    let tags: Vec<&str> = languages.tags().collect();
    let text = format!("{}\n", serde_json::to_string(&tags)?);
    crate::durable::write_file(&directory.join(LANGUAGES), text.as_bytes())
}

fn read(place: &Path) -> Result<Option<Languages>, String> {
    let is_file = place.is_file();
    let directory = match (is_file, place.parent()) {
        (true, Some(parent)) if lone_gguf(parent).as_deref() == Some(place) => Some(parent),
        (true, _) => None,
        (false, _) => Some(place),
    };
    if let Some(directory) = directory {
        if let Some(languages) = of_file(&directory.join(LANGUAGES))? {
            return Ok(Some(languages));
        }
        for card in CARDS {
            if let Some(languages) = of_card(&directory.join(card)) {
                return Ok(Some(languages));
            }
        }
    }
    let gguf = if is_file { Some(place.to_owned()) } else { lone_gguf(place) };
    Ok(gguf.and_then(|file| of_gguf(&file)))
}

/// The one GGUF file of a directory.
fn lone_gguf(directory: &Path) -> Option<PathBuf> {
    let files = fs::read_dir(directory).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let mut files = files.filter(|file| file.extension().is_some_and(|end| end == "gguf"));
    files.next().filter(|_| files.next().is_none())
}

fn of_file(path: &Path) -> Result<Option<Languages>, String> {
    let wrong = |found: String| {
        format!("`{}` {found}: expected a JSON list of tags, as in [\"en\"]", path.display())
    };
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(wrong(format!("cannot be read ({error})"))),
    };
    let tags: Vec<String> =
        serde_json::from_str(&text).map_err(|error| wrong(format!("has {error}")))?;
    let languages = Languages::of(&tags);
    languages.map(Some).ok_or_else(|| wrong(format!("has {}", text.trim())))
}

/// What a card's front matter says. A card is prose, so what it lacks or garbles says nothing.
fn of_card(path: &Path) -> Option<Languages> {
    let text = fs::read_to_string(path).ok()?;
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    if lines.next()?.trim_end() != "---" {
        return None;
    }
    let front: Vec<&str> = lines.take_while(|line| line.trim_end() != "---").collect();
    let at = front.iter().position(|line| line.starts_with("language:"))?;
    let value = front[at].strip_prefix("language:")?.trim();
    let tag = |text: &str| text.trim().trim_matches(['"', '\'']).to_owned();
    let tags: Vec<String> = match value.strip_prefix('[') {
        Some(list) => list.trim_end_matches(']').split(',').map(tag).collect(),
        None if !value.is_empty() => vec![tag(value)],
        None => {
            let items =
                front[at + 1..].iter().map_while(|line| line.trim_start().strip_prefix("- "));
            items.map(tag).collect()
        }
    };
    Languages::of(&tags)
}

/// What a GGUF file says of itself. Whoever opens it tells what is wrong with it.
fn of_gguf(file: &Path) -> Option<Languages> {
    let gguf = Gguf::open(file).ok()?;
    Languages::of(gguf.texts(GENERAL_LANGUAGES).ok()??)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(files: &[(&str, &str)]) -> Result<Option<String>, String> {
        let directory = tempfile::tempdir().unwrap();
        for (name, content) in files {
            fs::write(directory.path().join(name), content).unwrap();
        }
        let declared = declared_languages(directory.path());
        declared.languages.map(|languages| languages.map(|languages| languages.to_string()))
    }

    #[test]
    fn a_list_comes_before_a_card() {
        let card = ("README.md", "---\nlicense: mit\nlanguage:\n- fr\n- lv\ntags: []\n---\n# X\n");
        assert_eq!(said(&[card]).unwrap().as_deref(), Some("fr, lv"));
        let list = (LANGUAGES, "[\"en\"]\n");
        assert_eq!(said(&[card, list]).unwrap().as_deref(), Some("en"));
        assert_eq!(said(&[]), Ok(None));
    }

    #[test]
    fn a_card_is_read_in_each_of_its_forms() {
        for (front, expected) in [
            ("language: en", Some("en")),
            ("language: \"he\"", Some("he")),
            ("language: [en, 'fr']", Some("en, fr")),
            ("language:\n  - de", Some("de")),
            ("language: multilingual", Some("multilingual")),
            ("languages: en", None),
            ("language: a language", None),
        ] {
            let card = format!("---\n{front}\n---\ntext\n");
            assert_eq!(said(&[("MODEL_CARD.md", &card)]).unwrap().as_deref(), expected, "{front}");
        }
        assert_eq!(said(&[("README.md", "# X\nlanguage: en\n")]), Ok(None));
    }

    #[test]
    fn a_list_that_cannot_be_read_is_told() {
        for content in ["", "{}", "[]", "[\"\"]", "[1]", "\"en\""] {
            let error = said(&[(LANGUAGES, content)]).unwrap_err();
            assert!(error.contains("languages.json") && error.contains("expected"), "{error}");
        }
    }

    #[test]
    fn what_was_declared_is_read_back() {
        let directory = tempfile::tempdir().unwrap();
        let languages = Languages::of(["pt-BR", "en"]).unwrap();
        declare_languages(directory.path(), &languages).unwrap();
        let declared = declared_languages(directory.path());
        assert_eq!(declared.languages(), Some(&languages));
        assert!(directory.path().ends_with(&declared.model));
    }
}
