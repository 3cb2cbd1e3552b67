//! What crosses the boundary between C and Rust: the one file with `unsafe` blocks.
//!
//! What the header asks of its caller is what the blocks rest on: a pointer is null or what a
//! function of the library gave and nobody freed since, a string ends with NUL, an array is as long
//! as its number says, and a place to write to is large enough.

use std::any::Any;
use std::ffi::{CStr, CString, c_char};
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{Error, Fault, Result};
use crate::live;

/// What C holds by an opaque pointer, from any thread.
pub(crate) trait Handle: Send + Sync {
    /// What messages call it.
    const KIND: &'static str;
}

/// Does the work of a function. An error, or a panic, goes to `error` and gives `failed`.
pub(crate) fn call<T>(error: *mut *mut Error, failed: T, work: impl FnOnce() -> Result<T>) -> T {
    put(error, std::ptr::null_mut());
    let outcome =
        catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(panicked(&*panic)));
    match outcome {
        Ok(value) => value,
        Err(fault) => {
            if !error.is_null() {
                put(error, give(Error::new(&fault)));
            }
            failed
        }
    }
}

/// The error that stands for a panic.
fn panicked(panic: &(dyn Any + Send)) -> Fault {
    Fault::new("F-panic", format!("the library failed unexpectedly: {}", said(panic)))
}

/// What a panic says.
fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or(panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no reason was given")
}

/// Gives a value to C, which frees it by [`take`].
pub(crate) fn give<T: Handle>(value: T) -> *mut T {
    let given = Box::into_raw(Box::new(value));
    live::add(given.cast_const().cast(), T::KIND);
    given
}

/// A value that C holds, while a function uses it.
pub(crate) struct Used<'a, T>(&'a T);

impl<T> Deref for Used<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0
    }
}

impl<T> Drop for Used<'_, T> {
    fn drop(&mut self) {
        live::end_use(std::ptr::from_ref(self.0).cast());
    }
}

/// A value that C holds; null and, where handles are checked, what is none of its kind are errors.
pub(crate) fn borrow<'a, T: Handle>(given: *const T) -> Result<Used<'a, T>> {
    if given.is_null() {
        return Err(null(T::KIND));
    }
    if !live::begin_use(given.cast(), T::KIND) {
        let message = format!("this is no {} that is open: it was freed, or never given", T::KIND);
        return Err(Fault::usage("F-handle", message));
    }
    // SAFETY: it is what `give` gave and nobody freed, as the header asks; values are never written
    // to but through their own locks.
    Ok(Used(unsafe { &*given }))
}

/// The field of a value that C holds; null of null, for functions that cannot fail.
pub(crate) fn read<'a, T: Handle + 'a, R>(
    given: *const T,
    none: R,
    of: impl FnOnce(&'a T) -> R,
) -> R {
    // What it gives may point into the value, which C keeps for that long.
    let read = || borrow(given).map_or(none, |used| of(used.0));
    // Nothing that is read here panics; were it to, C could not be told.
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| std::process::abort())
}

/// Takes back what C held, and drops it; null is nothing.
pub(crate) fn take<T: Handle>(given: *mut T) {
    if given.is_null() {
        return;
    }
    let drop_it = || match live::remove(given.cast_const().cast(), T::KIND) {
        // SAFETY: it is what `give` gave and nobody freed, as the header asks.
        live::Removed::Free => drop(unsafe { Box::from_raw(given) }),
        // SAFETY: as above, by the table; its memory is not used again, so that the table can tell.
        live::Removed::Keep => unsafe { given.drop_in_place() },
    };
    // A destructor that panics leaves nothing to tell it to.
    let _ = catch_unwind(AssertUnwindSafe(drop_it));
}

/// A text that C gives.
pub(crate) fn text<'a>(given: *const c_char, what: &str) -> Result<&'a str> {
    if given.is_null() {
        return Err(null(what));
    }
    // SAFETY: it ends with NUL and lives as long as the call, as the header asks.
    let given = unsafe { CStr::from_ptr(given) };
    let wrong = |_| Fault::usage("F-utf8", format!("the {what} is not UTF-8"));
    given.to_str().map_err(wrong)
}

/// A text that C may leave out.
pub(crate) fn optional_text<'a>(given: *const c_char, what: &str) -> Result<Option<&'a str>> {
    if given.is_null() { Ok(None) } else { text(given, what).map(Some) }
}

/// A text of a length that C gives.
pub(crate) fn sized_text<'a>(given: *const c_char, length: usize, what: &str) -> Result<&'a str> {
    if given.is_null() {
        return Err(null(what));
    }
    check_size(length, what)?;
    // SAFETY: so many bytes are there and live as long as the call, as the header asks.
    let bytes = unsafe { std::slice::from_raw_parts(given.cast::<u8>(), length) };
    if let Some(at) = bytes.iter().position(|byte| *byte == 0) {
        return Err(Fault::usage("F-nul", format!("the {what} holds NUL at byte {at}")));
    }
    let wrong = |_| Fault::usage("F-utf8", format!("the {what} is not UTF-8"));
    std::str::from_utf8(bytes).map_err(wrong)
}

/// Numbers that C gives.
pub(crate) fn numbers<'a>(given: *const u64, count: usize, what: &str) -> Result<&'a [u64]> {
    if given.is_null() {
        return Err(null(what));
    }
    check_size(count.saturating_mul(size_of::<u64>()), what)?;
    // SAFETY: so many are there and live as long as the call, as the header asks.
    Ok(unsafe { std::slice::from_raw_parts(given, count) })
}

/// No more bytes than there can be in one piece.
fn check_size(bytes: usize, what: &str) -> Result<()> {
    if isize::try_from(bytes).is_ok() {
        return Ok(());
    }
    let message = format!("the {what} cannot be {bytes} bytes long, expected its real length");
    Err(Fault::usage("F-number", message))
}

/// Writes a value to a place that C gives; null takes nothing.
pub(crate) fn put<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: the place has room for a value, as the header asks; what it held is no Rust value
        // that would have to be dropped.
        unsafe { place.write(value) };
    }
}

/// A text of its own for C, which frees it by [`take_text`].
pub(crate) fn give_text(text: String) -> Result<*mut c_char> {
    let given = terminated(text, TEXT)?.into_raw();
    live::add(given.cast_const().cast(), TEXT);
    Ok(given)
}

/// Takes back a text that C held; null is nothing.
pub(crate) fn take_text(given: *mut c_char) {
    if given.is_null() {
        return;
    }
    if let live::Removed::Free = live::remove(given.cast_const().cast(), TEXT) {
        // SAFETY: it is what `give_text` gave and nobody freed or shortened, as the header asks.
        drop(unsafe { CString::from_raw(given) });
    }
}

/// What messages call a text that C frees.
const TEXT: &str = "text";

/// A text with its NUL. One that holds NUL itself is refused: C would read a part of it.
pub(crate) fn terminated(text: impl Into<Vec<u8>>, what: &str) -> Result<CString> {
    CString::new(text).map_err(|error| {
        let at = error.nul_position();
        let message = format!("the {what} holds NUL at byte {at}, which a text of C cannot");
        Fault::new("F-nul", message)
    })
}

/// Words of the library with their NUL; one that they quote is written as `\0`. JSON has none.
pub(crate) fn words(text: impl Into<String>) -> CString {
    CString::new(text.into())
        .or_else(|error| {
            let bytes = error.into_vec();
            CString::new(String::from_utf8_lossy(&bytes).replace('\0', "\\0"))
        })
        .unwrap_or_default()
}

fn null(what: &str) -> Fault {
    Fault::usage("F-null", format!("the {what} is a null pointer"))
}
