//! Items of data files, each with the file and line where it stands, so that whatever is wrong with
//! one of them can be said of that line.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::{AlignError, FileLine};
use crate::learn::{FileError, read_lines};

/// Items in the order of their files and lines.
///
/// ```no_run
/// use fnstore::align::{AlignedSpan, Dataset};
/// # fn main() -> Result<(), fnstore::align::AlignError> {
/// let data = Dataset::<AlignedSpan>::read("train.jsonl".as_ref())?;
/// for (item, line) in data.items().iter().zip(data.lines()) {
///     println!("{line}: {} words", item.source.len());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dataset<T> {
    items: Vec<T>,
    /// One for each item.
    lines: Vec<FileLine>,
}

impl<T> Default for Dataset<T> {
    fn default() -> Self {
        Self { items: Vec::new(), lines: Vec::new() }
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
    pub fn lines(&self) -> &[FileLine] {
        &self.lines
    }

    /// Items without their lines.
    #[must_use]
    pub fn into_items(self) -> Vec<T> {
        self.items
    }

    /// Items with their lines.
    pub fn into_lines(self) -> impl Iterator<Item = (T, FileLine)> {
        self.items.into_iter().zip(self.lines)
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

    /// Adds an item that stands on a line.
    pub fn push(&mut self, item: T, line: FileLine) {
        self.items.push(item);
        self.lines.push(line);
    }

    /// Adds the items of another file.
    pub fn append(&mut self, other: Self) {
        self.items.extend(other.items);
        self.lines.extend(other.lines);
    }

    /// Keeps the items for which `keep` says so.
    pub fn retain(&mut self, keep: impl FnMut(&T) -> bool) {
        let kept: Vec<bool> = self.items.iter().map(keep).collect();
        let mut of_item = kept.iter();
        self.items.retain(|_| of_item.next().is_some_and(|kept| *kept));
        let mut of_line = kept.iter();
        self.lines.retain(|_| of_line.next().is_some_and(|kept| *kept));
    }

    /// An error that blames one of these items by its index names the item's file and line.
    #[must_use]
    pub fn blame(&self, error: AlignError) -> AlignError {
        match error.request().and_then(|item| self.lines.get(item)) {
            Some(line) => AlignError::Item { line: line.clone(), source: Box::new(error) },
            None => error,
        }
    }

    /// Says of the last item, or of the first line of `file` where there is none, what the data
    /// lacks.
    pub(super) fn lacks(&self, file: &Path, found: String) -> AlignError {
        let (path, line) = match self.lines.last() {
            Some(FileLine { file, line }) => (PathBuf::from(&**file), *line),
            None => (file.to_owned(), 1),
        };
        FileError::Content { path, line, found, expected: "at least one" }.into()
    }

    /// Reads the lines of a file that are not blank; `parse` says what it found in a line and what
    /// was expected there when it cannot use one.
    pub(super) fn read_lines(
        path: &Path,
        action: &'static str,
        parse: impl FnMut(&str) -> Result<T, (String, &'static str)>,
    ) -> Result<Self, AlignError> {
        let file: Arc<Path> = path.into();
        let mut data = Self::default();
        for (line, item) in read_lines(path, action, parse)? {
            data.push(item, FileLine { file: Arc::clone(&file), line });
        }
        Ok(data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::NetworkError;

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
        let lines: Vec<usize> = data.lines().iter().map(|at| at.line).collect();
        assert_eq!(lines, [3, 1]);
        assert!(data.lines()[0].to_string().ends_with("` line 3"), "{}", data.lines()[0]);
        assert!(numbers(b"").unwrap().is_empty());
    }

    #[test]
    fn a_line_that_cannot_be_read_is_named() {
        for (text, says) in [(&b"1\n2\nx\n"[..], "line 3"), (b"1\n2\xff\n", "line 2: found a byte")]
        {
            let error = numbers(text).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
        let error = Dataset::<u8>::read_lines("/nowhere".as_ref(), "read numbers", |_| Ok(1));
        assert!(matches!(
            error,
            Err(AlignError::Network(NetworkError::File(FileError::Io { .. })))
        ));
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
