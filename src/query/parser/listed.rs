//! Ids as a value: several parted by commas, or those of a file.

use std::path::Path;

use super::{Parser, malformed};
use crate::model::{AnnotationSetId, SentenceId};
use crate::query::ids::{FileFault, Ids, read_file};
use crate::query::lexer::Value;
use crate::query::{Field, QueryError};

/// What stands before the name of a file of ids.
const FILE: char = '@';

const NO_FILES: &str = "ids parted by commas: this query may not read files";

const SET_ID: &str = "an annotation set id such as `x862331` (a letter, x for exemplars, f for full \
                      text, i for imported, g for generated, and a number)";

const SENTENCE_ID: &str = "a sentence id such as `x1024` (letters as of annotation sets)";

impl Parser<'_> {
    /// Ids of annotation sets.
    pub(super) fn set_ids(
        &self,
        field: Field,
        value: &Value,
    ) -> Result<Ids<AnnotationSetId>, QueryError> {
        self.ids(field, value, AnnotationSetId::of_written, SET_ID)
    }

    /// Ids of sentences.
    pub(super) fn sentence_ids(
        &self,
        field: Field,
        value: &Value,
    ) -> Result<Ids<SentenceId>, QueryError> {
        self.ids(field, value, SentenceId::of_written, SENTENCE_ID)
    }

    /// `id { "," id }`, or `@` and the name of a file, which may begin with the name of a field
    /// that takes such ids.
    fn ids<T: Ord>(
        &self,
        field: Field,
        value: &Value,
        read: impl Fn(&str) -> Option<T>,
        expected: &'static str,
    ) -> Result<Ids<T>, QueryError> {
        if let Some(file) = value.text.strip_prefix(FILE) {
            if !self.reads_files {
                return Err(malformed(field, value, NO_FILES));
            }
            return self.ids_of_file(field, value, Path::new(file), read, expected);
        }
        let ids = value.text.split(',').map(|id| {
            let part = || Value { text: id.to_owned(), column: value.column };
            read(id).ok_or_else(|| malformed(field, &part(), expected))
        });
        ids.collect()
    }

    fn ids_of_file<T: Ord>(
        &self,
        field: Field,
        value: &Value,
        file: &Path,
        read: impl Fn(&str) -> Option<T>,
        expected: &'static str,
    ) -> Result<Ids<T>, QueryError> {
        let column = value.column;
        let unreadable =
            |reason: String| QueryError::IdFile { column, file: file.to_owned(), reason };
        let of_kind = Field::ALL.iter().filter(|other| other.kind() == field.kind());
        let heads: Vec<&str> = of_kind.map(|other| other.name()).collect();
        read_file(file, &heads, read).map_err(|fault| match fault {
            FileFault::Unreadable(error) => unreadable(error.to_string()),
            FileFault::Empty => unreadable("it holds none; expected one a line".to_owned()),
            FileFault::Line(line, value) => {
                QueryError::IdLine { column, file: file.to_owned(), line, field, value, expected }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::query::{Case, Expression, QueryError};

    fn read(query: &str) -> Result<String, QueryError> {
        let expression = Expression::parse_with_files(query, Case::Fold);
        expression.map(|expression| expression.to_string())
    }

    fn of_file(content: &str) -> Result<String, (String, usize)> {
        of_file_in("seed", content)
    }

    fn of_file_in(field: &str, content: &str) -> Result<String, (String, usize)> {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("my ids.txt");
        std::fs::write(&file, content).unwrap();
        read(&format!("pos=v {field}=\"@{}\"", file.display())).map_err(|error| {
            let named = error.to_string().replace(&file.display().to_string(), "FILE");
            (named, error.column())
        })
    }

    #[test]
    fn a_list_holds_each_id_once_and_a_wrong_one_is_named() {
        assert_eq!(read("id=x7,f2,x7"), Ok("id=x7,f2".to_owned()));
        assert_eq!(read("id!=x7,f2"), Ok("id!=x7,f2".to_owned()));
        for (query, value) in [("id=x7,q2", "q2"), ("id=x7,,x8", ""), ("id=x7,", "")] {
            let error = read(query).unwrap_err().to_string();
            assert!(error.starts_with(&format!("`{value}` is no value of `id`")), "{error}");
        }
    }

    #[test]
    fn a_file_is_read_as_the_list_of_its_ids() {
        let all = Ok("pos=v seed=x7,f2".to_owned());
        for content in [
            "f2\nx7\n",
            "seed\nx7\r\nf2",
            "id\nx7\nf2",
            "# drawn\n\n  x7 \nx7\nf2\n",
            "\u{feff}x7\nf2\n",
        ] {
            assert_eq!(of_file(content), all, "{content:?}");
        }
    }

    #[test]
    fn a_head_is_a_field_of_the_same_ids() {
        // A source is the annotation set that was rewritten, as a seed is one.
        for (field, heads) in
            [("id", &["id", "seed", "source"][..]), ("sentence", &["sentence"][..])]
        {
            for head in ["id", "seed", "source", "sentence", "frame"] {
                let found = of_file_in(field, &format!("{head}\nx7\n"));
                if heads.contains(&head) {
                    assert_eq!(found, Ok(format!("pos=v {field}=x7")), "{head}");
                } else {
                    let (told, _) = found.unwrap_err();
                    let expected = format!("FILE:1: `{head}` is no value of `{field}`");
                    assert!(told.starts_with(&expected), "{told}");
                }
            }
        }
    }

    #[test]
    fn what_is_wrong_with_a_file_is_told_with_its_line() {
        for (content, message) in [
            ("x7\nseed\n", "FILE:2: `seed` is no value of `seed`; expected an annotation set id"),
            ("x7\n\n7\n", "FILE:3: `7` is no value of `seed`; expected an annotation set id"),
            (
                "sentence\nx7\n",
                "FILE:1: `sentence` is no value of `seed`; expected an annotation set",
            ),
            ("# none\n", "cannot read the ids in `FILE` (column 12): it holds none"),
        ] {
            let (told, column) = of_file(content).unwrap_err();
            assert!(told.starts_with(message), "{told}");
            assert_eq!(column, 12);
        }
        let absent = read("id=@absent.txt").unwrap_err().to_string();
        assert!(absent.starts_with("cannot read the ids in `absent.txt` (column 4): "), "{absent}");
    }

    #[test]
    fn a_query_that_may_not_read_files_reads_none() {
        let error = Expression::parse("id=@/etc/hostname").unwrap_err().to_string();
        let expected = "`@/etc/hostname` is no value of `id` (column 4); expected ids parted by \
                        commas: this query may not read files";
        assert_eq!(error, expected);
    }
}
