//! Items of data files, each with the file and line where it stands, so that whatever is wrong with one of
//! them can be said of that line.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::AlignError;

/// Where an item stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    file: Arc<Path>,
    line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` line {}", self.file.display(), self.line)
    }
}

/// Items in the order of their files and lines.
///
/// ```no_run
/// use fnstore::align::{AlignedSpan, Dataset};
/// # fn main() -> Result<(), fnstore::align::AlignError> {
/// let data = Dataset::<AlignedSpan>::read("train.jsonl".as_ref())?;
/// for (item, place) in data.items().iter().zip(data.places()) {
///     println!("{place}: {} words", item.source.len());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dataset<T> {
    items: Vec<T>,
    /// One for each item.
    places: Vec<Place>,
}

impl<T> Default for Dataset<T> {
    fn default() -> Self {
        Self { items: Vec::new(), places: Vec::new() }
    }
}

impl<T> Dataset<T> {
    /// The items.
    #[must_use]
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// Where each of them stands.
    #[must_use]
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// Items without their places.
    #[must_use]
    pub fn into_items(self) -> Vec<T> {
        self.items
    }

    /// Number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is no item.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Adds an item that stands at a place.
    pub fn push(&mut self, item: T, place: Place) {
        self.items.push(item);
        self.places.push(place);
    }

    /// Adds the items of another file.
    pub fn append(&mut self, other: Self) {
        self.items.extend(other.items);
        self.places.extend(other.places);
    }

    /// Keeps the items for which `keep` says so.
    pub fn retain(&mut self, keep: impl FnMut(&T) -> bool) {
        let kept: Vec<bool> = self.items.iter().map(keep).collect();
        let mut of_item = kept.iter();
        self.items.retain(|_| of_item.next().is_some_and(|kept| *kept));
        let mut of_place = kept.iter();
        self.places.retain(|_| of_place.next().is_some_and(|kept| *kept));
    }

    /// An error that blames one of these items by its index names the item's file and line.
    #[must_use]
    pub fn blame(&self, error: AlignError) -> AlignError {
        match error.request().and_then(|item| self.places.get(item)) {
            Some(place) => AlignError::Item { place: place.clone(), source: Box::new(error) },
            None => error,
        }
    }

    /// Says of the last item, or of the first line of `file` where there is none, what the data lacks.
    pub(super) fn lacks(&self, file: &Path, found: String) -> AlignError {
        let (path, line) = match self.places.last() {
            Some(Place { file, line }) => (PathBuf::from(&**file), *line),
            None => (file.to_owned(), 1),
        };
        AlignError::Content { path, line, found, expected: "at least one" }
    }

    /// Reads the lines of a file that are not blank; `parse` says what it found in a line and what was
    /// expected there when it cannot use one.
    pub(super) fn read_lines(
        path: &Path,
        action: &'static str,
        mut parse: impl FnMut(&str) -> Result<T, (String, &'static str)>,
    ) -> Result<Self, AlignError> {
        let bytes = std::fs::read(path).map_err(|source| AlignError::File {
            action,
            path: path.to_owned(),
            source,
        })?;
        let file: Arc<Path> = path.into();
        let mut data = Self::default();
        for (at, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            let text = std::str::from_utf8(line).map_err(|error| {
                (format!("bytes that are not UTF-8 from byte {}", error.valid_up_to()), "UTF-8")
            });
            let item = match text.map(str::trim_end) {
                Ok("") => continue,
                Ok(text) => parse(text),
                Err(error) => Err(error),
            };
            let item = item.map_err(|(found, expected)| AlignError::Content {
                path: path.to_owned(),
                line: at + 1,
                found,
                expected,
            })?;
            data.push(item, Place { file: Arc::clone(&file), line: at + 1 });
        }
        Ok(data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(text: &[u8]) -> Result<Dataset<u32>, AlignError> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        Dataset::read_lines(file.path(), "read numbers", |line| {
            line.parse().map_err(|_| (format!("`{line}`"), "a number"))
        })
    }

    #[test]
    fn items_keep_their_lines_when_others_are_blank_or_left_out() {
        let mut data = numbers(b"4\n\n5\r\n  \n6").unwrap();
        data.append(numbers(b"7").unwrap());
        data.retain(|number| number % 2 == 1);
        assert_eq!((data.items(), data.len()), (&[5, 7][..], 2));
        let lines: Vec<usize> = data.places().iter().map(|place| place.line).collect();
        assert_eq!(lines, [3, 1]);
        assert!(data.places()[0].to_string().ends_with("` line 3"), "{}", data.places()[0]);
        assert!(numbers(b"").unwrap().is_empty());
    }

    #[test]
    fn a_line_that_cannot_be_read_is_named() {
        for (text, says) in [(&b"1\n2\nx\n"[..], "line 3"), (b"1\n2\xff\n", "line 2: found bytes")]
        {
            let error = numbers(text).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
        let error = Dataset::<u8>::read_lines("/nowhere".as_ref(), "read numbers", |_| Ok(1));
        assert!(matches!(error, Err(AlignError::File { .. })));
    }

    #[test]
    fn an_error_that_blames_an_item_names_its_line() {
        let data = numbers(b"1\n\n2\n").unwrap();
        let too_long = |request| AlignError::TooLong { request, pieces: 9, limit: 8 };
        let error = data.blame(too_long(1));
        assert!(error.to_string().ends_with("` line 3"), "{error}");
        assert!(matches!(data.blame(too_long(2)), AlignError::TooLong { .. }));
    }
}
