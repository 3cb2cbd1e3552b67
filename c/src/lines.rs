//! `fnstore_lines`: records as JSON, one after another.

use std::ffi::{CString, c_char};

use crate::boundary::{self, Handle, words};

/// Records as JSON, in memory. It depends on nothing: it may outlive the database.
pub struct Lines(Vec<CString>);

impl Handle for Lines {
    const KIND: &'static str = "list of lines";
}

impl FromIterator<String> for Lines {
    fn from_iter<I: IntoIterator<Item = String>>(lines: I) -> Self {
        Self(lines.into_iter().map(words).collect())
    }
}

/// A record as the line that the program prints of it.
pub(crate) fn written(line: serde_json::Result<String>) -> String {
    line.expect("a record's members have names")
}

/// How many there are.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_lines_count(lines: *const Lines) -> usize {
    boundary::read(lines, 0, |lines| lines.0.len())
}

/// The record of a place, from 0; null behind the last one. It lives as long as the list.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_lines_get(lines: *const Lines, place: usize) -> *const c_char {
    let none = std::ptr::null();
    boundary::read(lines, none, |lines| lines.0.get(place).map_or(none, |line| line.as_ptr()))
}

/// Frees a list; null is nothing.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_lines_free(lines: *mut Lines) {
    boundary::take(lines);
}
