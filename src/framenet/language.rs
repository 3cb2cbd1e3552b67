//! Evidence that a release is in another language than English: what it is called, what its files
//! declare, which letters its texts are made of.
//!
//! FrameNet's XML names no language, so each kind of evidence is a plain rule that a message can
//! repeat. All of it is to be doubted: it leads to a warning, and never to another record.

use super::FramenetError;
use super::xml::XmlFile;
use crate::model::WrittenNumbers;

/// Names of FrameNet projects and of languages, as words of a file's or folder's name, with
/// language tags. Two words stand next to one another, as in `fn-br`.
const NAMES: [(&str, &str); 35] = [
    ("salsa", "de"),
    ("german", "de"),
    ("deutsch", "de"),
    ("sfn", "es"),
    ("spanish", "es"),
    ("fnbr", "pt"),
    ("fn br", "pt"),
    ("framenet br", "pt"),
    ("brasil", "pt"),
    ("brazil", "pt"),
    ("portuguese", "pt"),
    ("jfn", "ja"),
    ("japanese", "ja"),
    ("swefn", "sv"),
    ("swedish", "sv"),
    ("asfalda", "fr"),
    ("french", "fr"),
    ("kfn", "ko"),
    ("korean", "ko"),
    ("cfn", "zh"),
    ("chinese", "zh"),
    ("danish", "da"),
    ("dutch", "nl"),
    ("finnframenet", "fi"),
    ("finnish", "fi"),
    ("italian", "it"),
    ("hebrew", "he"),
    ("latvian", "lv"),
    ("arabic", "ar"),
    ("persian", "fa"),
    ("greek", "el"),
    ("russian", "ru"),
    ("hindi", "hi"),
    ("urdu", "ur"),
    ("thai", "th"),
];

/// A language that evidence speaks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LanguageGuess {
    /// Tag, as in `de`; `None` where the evidence only speaks against English.
    pub tag: Option<String>,
    /// What speaks for it, as the start of a sentence.
    pub evidence: String,
}

/// The language that a file's or folder's name speaks for.
#[must_use]
pub fn language_of_name(name: &str) -> Option<LanguageGuess> {
    let (tag, mark) = marked(name)?;
    let evidence = format!("`{name}` holds `{mark}`, which stands for `{tag}`");
    Some(LanguageGuess { tag: Some(tag.to_owned()), evidence })
}

fn marked(name: &str) -> Option<(&'static str, &'static str)> {
    let lower = name.to_lowercase();
    let words = lower.split(|letter: char| !letter.is_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let words = format!(" {} ", words.join(" "));
    let found = NAMES.iter().find(|(mark, _)| words.contains(&format!(" {mark} ")));
    found.map(|(mark, tag)| (*tag, *mark))
}

/// The language that the root element of a file declares (`xml:lang`), or that its name spaces and
/// schema are called after.
///
/// # Errors
/// When the file has no root element.
pub fn language_of_file(
    file: &str,
    content: &[u8],
) -> Result<Option<LanguageGuess>, FramenetError> {
    for (key, value) in XmlFile::new(file, content, &WrittenNumbers::default())?.declarations()? {
        if key == "xml:lang" {
            let evidence = format!("the root element has `xml:lang=\"{value}\"`");
            return Ok(Some(LanguageGuess { tag: Some(value), evidence }));
        }
        if let Some((tag, mark)) = marked(&value) {
            let evidence = format!("`{key}` is `{value}`; `{mark}` stands for `{tag}`");
            return Ok(Some(LanguageGuess { tag: Some(tag.to_owned()), evidence }));
        }
    }
    Ok(None)
}

/// A writing system, a language that is written so, and its ranges of letters.
type Script = (&'static str, &'static str, &'static [(char, char)]);

/// Writing systems.
const SCRIPTS: [Script; 9] = [
    // Han is also Japanese: kana counts first.
    ("kana", "ja", &[('\u{3040}', '\u{30ff}')]),
    ("Han characters", "zh", &[('\u{3400}', '\u{4dbf}'), ('\u{4e00}', '\u{9fff}')]),
    ("Hangul", "ko", &[('\u{1100}', '\u{11ff}'), ('\u{ac00}', '\u{d7af}')]),
    ("Hebrew letters", "he", &[('\u{590}', '\u{5ff}')]),
    ("Arabic letters", "ar", &[('\u{600}', '\u{6ff}')]),
    ("Devanagari", "hi", &[('\u{900}', '\u{97f}')]),
    ("Thai letters", "th", &[('\u{e00}', '\u{e7f}')]),
    ("Cyrillic", "ru", &[('\u{400}', '\u{4ff}')]),
    ("Greek letters", "el", &[('\u{370}', '\u{3ff}')]),
];

/// Per mille of letters beyond ASCII from which texts are not taken for English. FrameNet 1.5 has
/// 0.08; German has some 17, Italian 8.
const PER_MILLE: u64 = 5;

/// Fewest letters beyond ASCII that count as evidence.
const FEWEST: u64 = 10;

/// The letters of texts or names, by writing system.
#[derive(Debug, Clone, Default)]
pub struct Letters {
    all: u64,
    beyond_ascii: u64,
    scripts: [u64; SCRIPTS.len()],
}

impl Letters {
    /// Counts the letters of a text.
    pub fn count(&mut self, text: &str) {
        if text.is_ascii() {
            self.all += text.bytes().filter(u8::is_ascii_alphabetic).count() as u64;
            return;
        }
        for letter in text.chars().filter(|letter| letter.is_alphabetic()) {
            self.all += 1;
            self.beyond_ascii += u64::from(!letter.is_ascii());
            let of = |ranges: &[(char, char)]| {
                ranges.iter().any(|(first, last)| (*first..=*last).contains(&letter))
            };
            if let Some(at) = SCRIPTS.iter().position(|(_, _, ranges)| of(ranges)) {
                self.scripts[at] += 1;
            }
        }
    }

    /// The language that the letters speak for; `what` they are of, as in `texts`.
    #[must_use]
    pub fn guess(&self, what: &str) -> Option<LanguageGuess> {
        if self.beyond_ascii < FEWEST || self.beyond_ascii * 1000 < self.all * PER_MILLE {
            return None;
        }
        let percent = |part: u64| part as f64 * 100.0 / self.all as f64;
        // A tenth of the letters tells a writing system from a few quoted words.
        let script = SCRIPTS.iter().zip(self.scripts).find(|(_, count)| count * 10 >= self.all);
        Some(match script {
            Some(((script, tag, _), count)) => LanguageGuess {
                tag: Some((*tag).to_owned()),
                evidence: format!("{:.0} % of the letters of {what} are {script}", percent(count)),
            },
            None => LanguageGuess {
                tag: None,
                evidence: format!(
                    "{:.1} % of the letters of {what} are beyond ASCII, where English has under 0.1 %",
                    percent(self.beyond_ascii)
                ),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tag_of_name(name: &str) -> Option<String> {
        language_of_name(name).and_then(|guess| guess.tag)
    }

    #[test]
    fn names_of_projects_count_as_whole_words() {
        for (name, tag) in [
            ("salsa-corpus-release2.0", "de"),
            ("SFN_1.0.zip", "es"),
            ("fn-br-2015", "pt"),
            ("FrameNet_BR", "pt"),
            ("jfn.data", "ja"),
            ("swefn++", "sv"),
        ] {
            assert_eq!(tag_of_name(name).as_deref(), Some(tag), "{name}");
        }
        for name in ["fndata-1.5", "fndata-1.7.zip", "salsas", "mysfn", "br", "framenet_v17"] {
            assert_eq!(tag_of_name(name), None, "{name}");
        }
    }

    #[test]
    fn a_root_element_speaks_by_its_language_and_its_name_spaces() {
        let guess = |root: &str| language_of_file("a.xml", root.as_bytes()).unwrap();
        let berkeley = "<frame xmlns=\"http://framenet.icsi.berkeley.edu\" name=\"Salsa\"/>";
        assert_eq!(guess(berkeley), None, "names of frames are no evidence");
        let spanish = guess("<frame xmlns=\"http://sfn.uab.es/\"/>").unwrap();
        assert_eq!(spanish.tag.as_deref(), Some("es"));
        let given = guess("<frame xml:lang=\"pt-BR\"/>").unwrap();
        assert_eq!(given.tag.as_deref(), Some("pt-BR"));
        let error = language_of_file("a.xml", b"no XML").unwrap_err();
        assert!(error.to_string().contains("no root element"), "{error}");
    }

    fn guess_of(text: &str) -> Option<LanguageGuess> {
        let mut letters = Letters::default();
        letters.count(text);
        letters.guess("texts")
    }

    #[test]
    fn letters_beyond_ascii_speak_against_english() {
        let german =
            "Die M\u{fc}hle k\u{f6}nnte \u{fc}ber Gr\u{f6}\u{df}e t\u{e4}uschen. ".repeat(3);
        let guess = guess_of(&german).unwrap();
        assert_eq!(guess.tag, None);
        assert!(guess.evidence.contains("beyond ASCII"), "{}", guess.evidence);
        let english = format!("{} na\u{ef}ve caf\u{e9}", "The mill turned slowly. ".repeat(200));
        assert_eq!(guess_of(&english), None);
        assert_eq!(guess_of("\u{e9}\u{e9}\u{e9}"), None, "too few to tell");
        assert_eq!(guess_of(""), None);
    }

    #[test]
    fn a_writing_system_speaks_for_a_language() {
        for (text, tag) in [
            ("\u{65e5}\u{672c}\u{8a9e}\u{306e}\u{6587}\u{3092}\u{8aad}\u{3080}", "ja"),
            ("\u{4ed6}\u{5728}\u{5199}\u{4fe1}", "zh"),
            ("\u{ad50}\u{c721}\u{c744} \u{bc1b}\u{b2e4}", "ko"),
            ("\u{3bb}\u{3cc}\u{3b3}\u{3bf}\u{3c2}", "el"),
        ] {
            let guess = guess_of(&text.repeat(5)).unwrap();
            assert_eq!(guess.tag.as_deref(), Some(tag), "{text}");
        }
    }
}
