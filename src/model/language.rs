//! Languages: of a release, of texts, and those that a model was made for.
//!
//! A language is a tag of BCP 47, as in `en` or `pt-BR`. Two tags are one language if their first
//! parts are, so a model for `en` reads a release in `en-GB`. Some tags of three letters have one
//! of two.

use std::fmt;

use thiserror::Error;

use super::coded;

/// What a model that was trained on many languages declares.
const MANY: [&str; 3] = ["mul", "multilingual", "*"];

/// Tags of three letters, with those of two. Bibliographic ones of ISO 639-2 are among them.
const SHORT: [(&str, &str); 38] = [
    ("ara", "ar"),
    ("bul", "bg"),
    ("cat", "ca"),
    ("ces", "cs"),
    ("chi", "zh"),
    ("cze", "cs"),
    ("dan", "da"),
    ("deu", "de"),
    ("dut", "nl"),
    ("ell", "el"),
    ("eng", "en"),
    ("est", "et"),
    ("fas", "fa"),
    ("fin", "fi"),
    ("fra", "fr"),
    ("fre", "fr"),
    ("ger", "de"),
    ("gre", "el"),
    ("heb", "he"),
    ("hin", "hi"),
    ("hun", "hu"),
    ("ita", "it"),
    ("iw", "he"),
    ("jpn", "ja"),
    ("kor", "ko"),
    ("lav", "lv"),
    ("lit", "lt"),
    ("nld", "nl"),
    ("nor", "no"),
    ("pol", "pl"),
    ("por", "pt"),
    ("ron", "ro"),
    ("rus", "ru"),
    ("spa", "es"),
    ("swe", "sv"),
    ("tur", "tr"),
    ("ukr", "uk"),
    ("zho", "zh"),
];

/// The first part of a tag, in lower case and two letters where there are two.
fn primary(tag: &str) -> String {
    let first = tag.trim().split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase();
    let found = SHORT.binary_search_by(|(long, _)| (*long).cmp(first.as_str()));
    found.map_or(first, |at| SHORT[at].1.to_owned())
}

/// Whether two tags are of one language.
///
/// ```
/// use fnstore::model::is_same_language;
///
/// assert!(is_same_language("en-GB", "eng") && !is_same_language("en", "fr"));
/// ```
#[must_use]
pub fn is_same_language(one: &str, other: &str) -> bool {
    primary(one) == primary(other)
}

/// Whether a tag is of English, the language whose inflection rules tell.
#[must_use]
pub fn is_english(tag: &str) -> bool {
    is_same_language(tag, "en")
}

/// The languages that a model was made for: one at least.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Languages(Vec<String>);

impl Languages {
    /// The languages of some tags; `None` if there is no tag, or one with signs that tags lack.
    /// `mul` stands for all.
    ///
    /// ```
    /// use fnstore::model::Languages;
    ///
    /// let languages = Languages::of(["en", "pt-BR"]).expect("two tags");
    /// assert!(languages.have("en-GB") && !languages.have("fr"));
    /// assert!(Languages::of(["mul"]).expect("a tag").have("lv"));
    /// ```
    #[must_use]
    pub fn of<T: AsRef<str>>(tags: impl IntoIterator<Item = T>) -> Option<Self> {
        let mut languages = Vec::new();
        for tag in tags {
            let tag = tag.as_ref().trim();
            let is_plain = tag.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
            if tag.is_empty() || !(is_plain || MANY.contains(&tag)) {
                return None;
            }
            if !languages.iter().any(|known| known == tag) {
                languages.push(tag.to_owned());
            }
        }
        (!languages.is_empty()).then_some(Self(languages))
    }

    /// Whether a language is among them.
    #[must_use]
    pub fn have(&self, language: &str) -> bool {
        self.0.iter().any(|tag| MANY.contains(&tag.as_str()) || is_same_language(tag, language))
    }

    /// Their tags, in the order of the declaration.
    pub fn tags(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// The tag, where there is one and it is of one language.
    #[must_use]
    pub fn only(&self) -> Option<&str> {
        match self.0.as_slice() {
            [tag] if !MANY.contains(&tag.as_str()) => Some(tag),
            _ => None,
        }
    }
}

impl fmt::Display for Languages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(", "))
    }
}

/// A model, and the languages that its folder declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    /// What the model is called: its folder's name, or its file's.
    pub model: String,
    /// The languages; `None` where nothing declares them. In place of them what is wrong with a
    /// declaration that cannot be read.
    pub languages: Result<Option<Languages>, String>,
}

/// Why a model is not used on what is in a language.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LanguageError {
    /// The model was made for others.
    #[error(
        "the model `{model}` is made for `{languages}`, and the language of {what} is `{language}`; use a model for it, or \
         allow any language (M-language)"
    )]
    Mismatch {
        /// The model.
        model: String,
        /// What it is made for.
        languages: Languages,
        /// The release or the texts.
        what: String,
        /// Their language.
        language: String,
    },
    /// What declares the model's languages cannot be read.
    #[error("the languages of the model `{model}` cannot be read: {reason} (M-languages)")]
    Unreadable {
        /// The model.
        model: String,
        /// What is wrong, and what was expected.
        reason: String,
    },
}

coded!(LanguageError {
    Self::Mismatch { .. } => Failed.coded("M-language"),
    Self::Unreadable { .. } => Failed.coded("M-languages"),
});

impl Declared {
    /// A model that declares nothing.
    #[must_use]
    pub fn nothing(model: &str) -> Self {
        Self { model: model.to_owned(), languages: Ok(None) }
    }

    /// The same model; where it declares nothing, what another declares that it stands on.
    #[must_use]
    pub fn or(self, base: &Self) -> Self {
        match self.languages {
            Ok(None) => Self { languages: base.languages.clone(), ..self },
            _ => self,
        }
    }

    /// The languages, where they are declared and can be read.
    #[must_use]
    pub fn languages(&self) -> Option<&Languages> {
        self.languages.as_ref().ok()?.as_ref()
    }

    /// Whether the model was made for a language; one that declares nothing was made for all.
    ///
    /// # Errors
    /// When its declaration cannot be read.
    pub fn knows(&self, language: &str) -> Result<bool, LanguageError> {
        match self.check("", language) {
            Ok(()) => Ok(true),
            Err(LanguageError::Mismatch { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Checks that a model which declares its languages was made for the one that something is in;
    /// `what` says what, as in ``the release `fr` ``. One that declares nothing passes.
    ///
    /// # Errors
    /// When it was made for others, or its declaration cannot be read.
    pub fn check(&self, what: &str, language: &str) -> Result<(), LanguageError> {
        let model = self.model.clone();
        match &self.languages {
            Err(reason) => Err(LanguageError::Unreadable { model, reason: reason.clone() }),
            Ok(Some(languages)) if !languages.have(language) => Err(LanguageError::Mismatch {
                model,
                languages: languages.clone(),
                what: what.to_owned(),
                language: language.to_owned(),
            }),
            Ok(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(tags: &[&str]) -> Declared {
        Declared { model: "aligner".to_owned(), languages: Ok(Languages::of(tags)) }
    }

    #[test]
    fn long_tags_are_sorted() {
        assert!(SHORT.is_sorted());
    }

    #[test]
    fn a_tag_stands_for_its_language_however_it_is_written() {
        for (one, other, same) in [
            ("en", "EN-us", true),
            ("eng", "en_GB", true),
            ("fra", "fre", true),
            ("iw", "heb", true),
            ("xx", "xx-Latn", true),
            ("de", "nl", false),
            ("", "en", false),
        ] {
            assert_eq!(is_same_language(one, other), same, "{one} {other}");
        }
    }

    #[test]
    fn what_is_no_tag_declares_nothing() {
        for tags in [&[][..], &[""], &["en", " "], &["en fr"], &["\u{e9}"]] {
            assert_eq!(Languages::of(tags), None, "{tags:?}");
        }
        assert_eq!(Languages::of(["en", "en"]).unwrap().only(), Some("en"));
        assert_eq!(Languages::of(["mul"]).unwrap().only(), None);
        assert_eq!(Languages::of(["fr", "en"]).unwrap().to_string(), "fr, en");
    }

    #[test]
    fn a_mismatch_names_both_languages() {
        let error = declared(&["en"]).check("the release `a`", "fr").unwrap_err().to_string();
        for part in ["`aligner`", "`en`", "the language of the release `a` is `fr`", "M-language"] {
            assert!(error.contains(part), "{error}");
        }
        assert!(declared(&["en", "fr"]).check("the release `a`", "fr-CA").is_ok());
        assert!(Declared::nothing("x").check("the release `a`", "fr").is_ok());
        let broken = Declared { languages: Err("no JSON".to_owned()), ..declared(&[]) };
        assert!(broken.check("the texts", "en").unwrap_err().to_string().contains("no JSON"));
        assert_eq!(
            Declared::nothing("x").or(&declared(&["fr"])).languages().unwrap().only(),
            Some("fr")
        );
        assert_eq!(
            declared(&["en"]).or(&declared(&["fr"])).languages().unwrap().only(),
            Some("en")
        );
    }
}
