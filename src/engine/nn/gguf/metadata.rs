//! The metadata of a GGUF file: named values, left where they lie in the file.
//!
//! A value is a few bytes here whatever its length there: a file cannot make its reader hold more
//! than [`MOST_KEYS`] names. What is asked for is decoded when it is asked for.

#![allow(clippy::little_endian_bytes, reason = "GGUF is little-endian by definition")]

use std::collections::BTreeMap;
use std::ops::Range;

use super::cursor::Cursor;
use super::{Gguf, GgufError, GgufProblem};

/// Models have some dozens of keys.
const MOST_KEYS: u64 = 4096;

/// Longest name of a key or a tensor in bytes, as the format says.
pub(super) const LONGEST_NAME: usize = 65_535;

/// Kinds of values by their numbers: names, and bytes of a number.
const KINDS: [(&str, u64); 13] = [
    ("u8", 1),
    ("i8", 1),
    ("u16", 2),
    ("i16", 2),
    ("u32", 4),
    ("i32", 4),
    ("f32", 4),
    ("bool", 1),
    ("text", 0),
    ("array", 0),
    ("u64", 8),
    ("i64", 8),
    ("f64", 8),
];
const FLAG: u32 = 7;
const TEXT: u32 = 8;
const ARRAY: u32 = 9;

/// A value: its kind, and where it lies.
#[derive(Debug, Clone)]
pub(super) struct Value {
    /// That of its elements, for an array.
    kind: u32,
    /// The number of elements; none for a value by itself.
    count: Option<u64>,
    bytes: Range<usize>,
}

/// Reads the values that a file says it has.
pub(super) fn read(
    cursor: &mut Cursor<'_>,
    count: u64,
) -> Result<BTreeMap<String, Value>, GgufError> {
    if count > MOST_KEYS {
        return Err(cursor.error(GgufProblem::Many { found: count, most: MOST_KEYS }));
    }
    let mut values = BTreeMap::new();
    for number in 0..count {
        cursor.field = format!("metadata key {number}");
        let key = name(cursor)?;
        cursor.field = format!("metadata key `{key}`");
        let kind = kind(cursor)?;
        let value = match kind {
            ARRAY => array(cursor)?,
            _ => {
                let start = cursor.at();
                skip(cursor, kind, 1)?;
                Value { kind, count: None, bytes: start..cursor.at() }
            }
        };
        if values.insert(key, value).is_some() {
            return Err(cursor.error(GgufProblem::Twice));
        }
    }
    Ok(values)
}

/// A name, of bounded length.
pub(super) fn name(cursor: &mut Cursor<'_>) -> Result<String, GgufError> {
    let name = cursor.text()?;
    if name.len() > LONGEST_NAME {
        let (found, most) = (name.len() as u64, LONGEST_NAME as u64);
        return Err(cursor.error(GgufProblem::Many { found, most }));
    }
    Ok(name.to_owned())
}

fn kind(cursor: &mut Cursor<'_>) -> Result<u32, GgufError> {
    let found = cursor.u32()?;
    if found as usize >= KINDS.len() {
        return Err(cursor.error(GgufProblem::Kind { found }));
    }
    Ok(found)
}

fn array(cursor: &mut Cursor<'_>) -> Result<Value, GgufError> {
    let kind = kind(cursor)?;
    if kind == ARRAY {
        return Err(cursor.error(GgufProblem::Nested));
    }
    let count = cursor.u64()?;
    let start = cursor.at();
    skip(cursor, kind, count)?;
    Ok(Value { kind, count: Some(count), bytes: start..cursor.at() })
}

/// Passes by some values of a kind.
fn skip(cursor: &mut Cursor<'_>, kind: u32, count: u64) -> Result<(), GgufError> {
    if kind == TEXT {
        // Each text has eight bytes of length at least, so the file's end bounds the loop.
        return (0..count).try_for_each(|_| cursor.text().map(drop));
    }
    let (_, bytes) = KINDS[kind as usize];
    cursor.take(count.saturating_mul(bytes)).map(drop)
}

impl Gguf {
    /// A text, if it is there.
    ///
    /// # Errors
    /// When the value is of another kind.
    pub fn text(&self, key: &str) -> Result<Option<&str>, GgufError> {
        let Some(value) = self.alone(key)? else { return Ok(None) };
        if value.kind != TEXT {
            return Err(self.wrong(key, value, "a text"));
        }
        Cursor::new(&self.path, &self.map, value.bytes.start).text().map(Some)
    }

    /// A number that counts something, if it is there.
    ///
    /// # Errors
    /// When the value is no integer, negative, or more than 2^32: nothing of a network is.
    pub fn count(&self, key: &str) -> Result<Option<usize>, GgufError> {
        let Some(value) = self.alone(key)? else { return Ok(None) };
        let bytes = &self.map[value.bytes.clone()];
        match integer(value.kind, bytes).map(u32::try_from) {
            Some(Ok(count)) => Ok(Some(count as usize)),
            Some(Err(_)) => {
                let found = integer(value.kind, bytes).unwrap_or_default().to_string();
                Err(self.unfit(key, found, "a count below 2^32"))
            }
            None => Err(self.wrong(key, value, "an integer")),
        }
    }

    /// A number, if it is there.
    ///
    /// # Errors
    /// When the value is no number, or not finite.
    pub fn number(&self, key: &str) -> Result<Option<f32>, GgufError> {
        let Some(value) = self.alone(key)? else { return Ok(None) };
        match float(value.kind, &self.map[value.bytes.clone()]) {
            Some(number) if number.is_finite() => Ok(Some(number)),
            Some(number) => Err(self.unfit(key, number.to_string(), "a finite number")),
            None => Err(self.wrong(key, value, "a number")),
        }
    }

    /// A flag, if it is there.
    ///
    /// # Errors
    /// When the value is of another kind.
    pub fn flag(&self, key: &str) -> Result<Option<bool>, GgufError> {
        let Some(value) = self.alone(key)? else { return Ok(None) };
        if value.kind != FLAG {
            return Err(self.wrong(key, value, "a flag"));
        }
        Ok(Some(self.map[value.bytes.start] != 0))
    }

    /// Texts, if they are there.
    ///
    /// # Errors
    /// When the value is of another kind.
    pub fn texts(&self, key: &str) -> Result<Option<Vec<&str>>, GgufError> {
        let Some((value, count)) = self.list(key)? else { return Ok(None) };
        if value.kind != TEXT {
            return Err(self.wrong(key, value, "texts"));
        }
        let mut cursor = Cursor::new(&self.path, &self.map, value.bytes.start);
        // The texts were counted when the file was opened.
        (0..count).map(|_| cursor.text()).collect::<Result<_, _>>().map(Some)
    }

    /// Integers, if they are there.
    ///
    /// # Errors
    /// When the value is of another kind.
    pub fn integers(&self, key: &str) -> Result<Option<Vec<i64>>, GgufError> {
        self.numbers(key, "integers", integer)
    }

    /// Numbers, if they are there.
    ///
    /// # Errors
    /// When the value is of another kind.
    pub fn floats(&self, key: &str) -> Result<Option<Vec<f32>>, GgufError> {
        self.numbers(key, "numbers", float)
    }

    fn numbers<T>(
        &self,
        key: &str,
        expected: &str,
        decode: fn(u32, &[u8]) -> Option<T>,
    ) -> Result<Option<Vec<T>>, GgufError> {
        let Some((value, _)) = self.list(key)? else { return Ok(None) };
        let (_, bytes) = KINDS[value.kind as usize];
        // A text has no width of its own.
        let numbers = self.map[value.bytes.clone()].chunks(bytes.max(1) as usize);
        let numbers = numbers.map(|number| decode(value.kind, number)).collect::<Option<Vec<_>>>();
        numbers.map(Some).ok_or_else(|| self.wrong(key, value, expected))
    }

    fn alone(&self, key: &str) -> Result<Option<&Value>, GgufError> {
        match self.metadata.get(key) {
            Some(value) if value.count.is_some() => {
                Err(self.wrong(key, value, "a value by itself"))
            }
            value => Ok(value),
        }
    }

    fn list(&self, key: &str) -> Result<Option<(&Value, u64)>, GgufError> {
        match self.metadata.get(key) {
            None => Ok(None),
            Some(value) => match value.count {
                Some(count) => Ok(Some((value, count))),
                None => Err(self.wrong(key, value, "an array")),
            },
        }
    }

    fn wrong(&self, key: &str, value: &Value, expected: &str) -> GgufError {
        let (kind, _) = KINDS[value.kind as usize];
        let found = match value.count {
            Some(count) => format!("an array of {count} {kind}"),
            None => kind.to_owned(),
        };
        self.unfit(key, found, expected)
    }

    /// The error of a metadata value that a network cannot work with.
    pub(in crate::engine::nn) fn unfit(
        &self,
        key: &str,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> GgufError {
        let problem = GgufProblem::Value { found: found.into(), expected: expected.into() };
        self.key_error(key, problem)
    }

    /// The error of a metadata key that a network needs.
    pub(in crate::engine::nn) fn missing(
        &self,
        key: &str,
        expected: impl Into<String>,
    ) -> GgufError {
        self.key_error(key, GgufProblem::Missing { expected: expected.into() })
    }

    pub(super) fn key_error(&self, key: &str, problem: GgufProblem) -> GgufError {
        GgufError::field(&self.path, format!("metadata key `{key}`"), problem)
    }
}

fn integer(kind: u32, bytes: &[u8]) -> Option<i64> {
    Some(match kind {
        0 => i64::from(bytes[0]),
        1 => i64::from(bytes[0].cast_signed()),
        2 => i64::from(u16::from_le_bytes(*bytes.first_chunk()?)),
        3 => i64::from(i16::from_le_bytes(*bytes.first_chunk()?)),
        4 => i64::from(u32::from_le_bytes(*bytes.first_chunk()?)),
        5 => i64::from(i32::from_le_bytes(*bytes.first_chunk()?)),
        10 => i64::try_from(u64::from_le_bytes(*bytes.first_chunk()?)).unwrap_or(i64::MAX),
        11 => i64::from_le_bytes(*bytes.first_chunk()?),
        _ => return None,
    })
}

fn float(kind: u32, bytes: &[u8]) -> Option<f32> {
    match kind {
        6 => Some(f32::from_le_bytes(*bytes.first_chunk()?)),
        12 => Some(f64::from_le_bytes(*bytes.first_chunk()?) as f32),
        _ => integer(kind, bytes).map(|number| number as f32),
    }
}
