//! `fnstore_error`: what every function that can fail gives.

use std::ffi::{CString, c_char};

use fnstore::internals::{ErrorRecord, whole_message};
use fnstore::model::{Coded, ErrorKind as Kind, Trouble};

use crate::boundary::{self, Handle, words};
use crate::lines::written;

/// What kind of error it is, whatever failed.
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(dead_code, reason = "C reads them by number")]
pub enum ErrorKind {
    /// There is no error.
    None = 0,
    /// Every other error.
    Failed = 1,
    /// The data that was given is not what it should be.
    BadInput = 2,
    /// Another process, or another call, writes the same thing; the same call may succeed later.
    Locked = 3,
    /// The store is not the one that was followed, and has to be read anew.
    Replaced = 4,
    /// A disk is full, or a limit of the system is reached.
    Full = 5,
    /// There is no store at the place.
    NoStore = 6,
    /// A model that is needed is not at hand.
    NoModel = 7,
    /// The function was called wrongly: a null pointer, a text that is not UTF-8.
    Usage = 8,
}

/// What went wrong. Of a function that takes `fnstore_error **error`: it sets `*error` to null, and
/// when it fails to an error, which the caller frees. So `*error` must hold no unfreed error when
/// it is called: nobody could free it any more. A null `error` is allowed; then nobody learns why
/// it failed.
pub struct Error {
    kind: ErrorKind,
    code: Option<CString>,
    message: CString,
    json: CString,
}

impl Handle for Error {
    const KIND: &'static str = "error";
}

/// What went wrong, within this crate.
#[derive(Debug)]
pub(crate) struct Fault {
    /// `None` of a wrong call.
    kind: Option<Kind>,
    code: Option<&'static str>,
    message: String,
}

/// What the functions below the boundary give.
pub(crate) type Result<T> = std::result::Result<T, Fault>;

impl Fault {
    /// An error of this interface.
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { kind: Some(Kind::Failed), code: Some(code), message: message.into() }
    }

    /// The caller's mistake.
    pub(crate) fn usage(code: &'static str, message: impl Into<String>) -> Self {
        Self { kind: None, ..Self::new(code, message) }
    }

    /// Another call uses what this one needs.
    pub(crate) fn busy(message: impl Into<String>) -> Self {
        Self { kind: Some(Kind::Locked), ..Self::new("F-busy", message) }
    }
}

impl<E: Coded + 'static> From<E> for Fault {
    fn from(error: E) -> Self {
        let Trouble { kind, code } = error.trouble();
        Self { kind: Some(kind), code, message: whole_message(&error) }
    }
}

impl Error {
    pub(crate) fn new(fault: &Fault) -> Self {
        let kind = match fault.kind {
            None => ErrorKind::Usage,
            Some(Kind::BadInput) => ErrorKind::BadInput,
            Some(Kind::Locked) => ErrorKind::Locked,
            Some(Kind::Replaced) => ErrorKind::Replaced,
            Some(Kind::Full) => ErrorKind::Full,
            Some(Kind::NoStore) => ErrorKind::NoStore,
            Some(Kind::NoModel) => ErrorKind::NoModel,
            Some(_) => ErrorKind::Failed,
        };
        let mut record = ErrorRecord::usage(fault.code, &fault.message);
        if let Some(kind) = fault.kind {
            (record.kind, record.exit) = (kind.as_str(), kind.exit_code());
        }
        Self {
            kind,
            code: fault.code.map(words),
            message: words(fault.message.as_str()),
            json: words(written(serde_json::to_string(&record))),
        }
    }
}

/// The kind of an error: a `fnstore_kind`. Of null it is `FNSTORE_KIND_NONE`.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_error_kind(error: *const Error) -> u32 {
    boundary::read(error, 0, |error| error.kind as u32)
}

/// The code of an error, as in `S-locked`; null where the message says all. It lives as long as the
/// error.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_error_code(error: *const Error) -> *const c_char {
    let none = std::ptr::null();
    boundary::read(error, none, |error| error.code.as_ref().map_or(none, |code| code.as_ptr()))
}

/// What went wrong, in words. It lives as long as the error.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_error_message(error: *const Error) -> *const c_char {
    boundary::read(error, c"".as_ptr(), |error| error.message.as_ptr())
}

/// The error as JSON, in the form of `fnstore --errors json` (`schema/error.schema.json`). It lives
/// as long as the error.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_error_json(error: *const Error) -> *const c_char {
    boundary::read(error, c"{}".as_ptr(), |error| error.json.as_ptr())
}

/// Frees an error; null is nothing.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_error_free(error: *mut Error) {
    boundary::take(error);
}

/// Frees a text that a function gave as `char *`; null is nothing.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_text_free(text: *mut c_char) {
    boundary::take_text(text);
}

#[cfg(test)]
mod tests {
    use fnstore::database::Database;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn an_error_as_json_is_what_the_schema_says() {
        let place = concat!(env!("CARGO_MANIFEST_DIR"), "/../schema/error.schema.json");
        let schema: Value = serde_json::from_slice(&std::fs::read(place).unwrap()).unwrap();
        let absent = Database::open("nowhere".as_ref()).err().unwrap();
        for (fault, kind, exit) in [
            (Fault::from(absent), "no-store", 66),
            (Fault::usage("F-null", "the path is a null pointer"), "usage", 2),
            (Fault::new("F-panic", "a mistake"), "failed", 2),
        ] {
            let json: Value = serde_json::from_slice(Error::new(&fault).json.to_bytes()).unwrap();
            let fields: Vec<&String> = json.as_object().unwrap().keys().collect();
            let required = schema["required"].as_array().unwrap();
            assert_eq!(fields, required.iter().map(|it| it.as_str().unwrap()).collect::<Vec<_>>());
            assert_eq!((&json["kind"], &json["exit"]), (&json!(kind), &json!(exit)));
            let kinds = schema["properties"]["kind"]["enum"].as_array().unwrap();
            assert!(kinds.contains(&json["kind"]), "{json}");
        }
    }
}
