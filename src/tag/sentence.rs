//! Words with their tags: what a tagger is trained and measured on.
//!
//! One JSON object per line, with as many tags as words; null for a word whose tag is not known.
//! Other fields are passed over, so what `fnstore tag` writes can be corrected and read back.
//!
//! ```text
//! {"words": ["they", "checked", "it"], "tags": ["PRP", "VBD", "PRP"]}
//! ```

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::learn::{NetworkError, read_lines};

/// The words of a sentence and their tags.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TaggedSentence {
    /// The words.
    pub words: Vec<String>,
    /// The tag of each word, none where it is not known.
    pub tags: Vec<Option<String>>,
}

impl TaggedSentence {
    /// Reads a JSON Lines file.
    ///
    /// # Errors
    /// When the file cannot be read, or a line is no such object or has not as many tags as words
    /// (naming the line).
    pub fn read(path: &Path) -> Result<Vec<Self>, NetworkError> {
        let sentences = read_lines(path, "read tagged sentences", Self::parse)?;
        Ok(sentences.into_iter().map(|(_, sentence)| sentence).collect())
    }

    fn parse(line: &str) -> Result<Self, (String, &'static str)> {
        let sentence: Self = serde_json::from_str(line)
            .map_err(|e| (e.to_string(), "an object with `words` and `tags`"))?;
        let (words, tags) = (sentence.words.len(), sentence.tags.len());
        if words != tags {
            let found = format!("{words} `words` and {tags} `tags`");
            return Err((found, "as many of one as of the other"));
        }
        if sentence.tags.iter().flatten().any(|tag| tag.trim().is_empty()) {
            let found = "an empty tag in `tags`".to_owned();
            return Err((found, "a name, or null where it is not known"));
        }
        Ok(sentence)
    }

    /// The words, borrowed.
    #[must_use]
    pub fn words(&self) -> Vec<&str> {
        self.words.iter().map(String::as_str).collect()
    }

    /// The sentence in small letters; none where it is written so already.
    #[must_use]
    pub fn lowercase(&self) -> Option<Self> {
        let words: Vec<String> = self.words.iter().map(|word| word.to_lowercase()).collect();
        (words != self.words).then(|| Self { words, tags: self.tags.clone() })
    }

    /// Whether some word has a tag.
    pub(super) fn has_tag(&self) -> bool {
        self.tags.iter().any(Option::is_some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"words":["It","grew"],"tags":["PRP",null]}"#;

    fn read(text: &str) -> Result<Vec<TaggedSentence>, NetworkError> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        TaggedSentence::read(file.path())
    }

    #[test]
    fn a_line_reads_and_writes_unchanged_and_other_fields_are_passed_over() {
        let more = LINE.replace("{", r#"{"line":4,"#);
        let sentences = read(&format!("{LINE}\n\n{more}\n")).unwrap();
        assert_eq!(sentences.len(), 2);
        assert_eq!(sentences[0], sentences[1]);
        assert_eq!(serde_json::to_string(&sentences[0]).unwrap(), LINE);
    }

    #[test]
    fn small_letters_keep_the_tags() {
        let sentence = read(LINE).unwrap().remove(0);
        let lower = sentence.lowercase().unwrap();
        assert_eq!((lower.words(), &lower.tags), (vec!["it", "grew"], &sentence.tags));
        assert_eq!(lower.lowercase(), None);
    }

    #[test]
    fn a_bad_line_is_refused_with_its_number_and_field() {
        for (bad, says) in [
            ("{", "EOF"),
            ("[]", "`words` and `tags`"),
            (&LINE.replace(",null", ""), "2 `words` and 1 `tags`"),
            (&LINE.replace("PRP", " "), "an empty tag in `tags`"),
            (&LINE.replace("\"It\"", "7"), "integer `7`"),
        ] {
            let error = read(&format!("{LINE}\n{bad}")).unwrap_err().to_string();
            assert!(error.contains("line 2") && error.contains(says), "{error}");
        }
        let missing = TaggedSentence::read("/nowhere.jsonl".as_ref());
        assert!(matches!(missing, Err(NetworkError::File { .. })));
    }
}
