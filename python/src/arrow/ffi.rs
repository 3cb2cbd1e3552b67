//! The C data interface of Arrow: <https://arrow.apache.org/docs/format/CDataInterface.html> and
//! its stream.
//!
//! A structure owns what its pointers lead to through `private_data`, and whoever takes it over
//! calls `release` once. This is the one file of the bindings with `unsafe` in it.
#![allow(unsafe_code, reason = "the interface is one of C structures with pointers")]

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr::{null, null_mut};

use super::column::{Type, Values};

/// `ARROW_FLAG_NULLABLE`
const NULLABLE: i64 = 2;

/// What `get_next` returns where the stream failed.
const EIO: c_int = 5;

/// A type.
#[repr(C)]
pub(crate) struct ArrowSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut Self,
    dictionary: *mut Self,
    release: Option<unsafe extern "C" fn(*mut Self)>,
    private_data: *mut c_void,
}

/// A column, or a batch as a column of structs.
#[repr(C)]
pub(crate) struct ArrowArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut Self,
    dictionary: *mut Self,
    release: Option<unsafe extern "C" fn(*mut Self)>,
    private_data: *mut c_void,
}

/// Batches, one after another.
#[repr(C)]
pub(crate) struct ArrowArrayStream {
    get_schema: Option<unsafe extern "C" fn(*mut Self, *mut ArrowSchema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut Self, *mut ArrowArray) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut Self) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut Self)>,
    private_data: *mut c_void,
}

// SAFETY: what the pointers lead to is owned by the structure alone, and holds no thread's own.
unsafe impl Send for ArrowSchema {}
// SAFETY: as above.
unsafe impl Send for ArrowArray {}
// SAFETY: as above; the source of batches is `Send`.
unsafe impl Send for ArrowArrayStream {}

struct SchemaOwned {
    _format: CString,
    _name: CString,
    children: Vec<*mut ArrowSchema>,
}

impl ArrowSchema {
    pub(crate) fn new(of: &Type) -> Self {
        let text = |text: &str| CString::new(text).expect("no name of a column has a NUL");
        let (format, name) = (text(of.format()), text(of.name));
        let children = of.children().iter().map(|child| Box::into_raw(Box::new(Self::new(child))));
        let mut owned =
            Box::new(SchemaOwned { children: children.collect(), _format: format, _name: name });
        Self {
            format: owned._format.as_ptr(),
            name: owned._name.as_ptr(),
            metadata: null(),
            flags: if of.nullable { NULLABLE } else { 0 },
            n_children: owned.children.len() as i64,
            children: owned.children.as_mut_ptr(),
            dictionary: null_mut(),
            release: Some(release_schema),
            private_data: Box::into_raw(owned).cast(),
        }
    }
}

/// Frees a schema.
///
/// # Safety
/// `schema` leads to one that [`ArrowSchema::new`] made, perhaps moved elsewhere since.
unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: the caller's promise; what was released has no `release` and is not released again.
    unsafe {
        let schema = &mut *schema;
        if schema.release.take().is_none() {
            return;
        }
        let owned = Box::from_raw(schema.private_data.cast::<SchemaOwned>());
        // Dropping a child releases it, unless it was moved out.
        for child in &owned.children {
            drop(Box::from_raw(*child));
        }
    }
}

impl Drop for ArrowSchema {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: it is valid and was not released.
            unsafe { release(self) };
        }
    }
}

struct ArrayOwned {
    _valid: Vec<u8>,
    _values: Values,
    buffers: Vec<*const c_void>,
    children: Vec<*mut ArrowArray>,
}

impl ArrowArray {
    /// Rows and nulls among them; the bits of those that are none; values; columns below.
    pub(super) fn new(
        (rows, nulls): (usize, usize),
        valid: Vec<u8>,
        values: Values,
        children: Vec<Self>,
    ) -> Self {
        let mut buffers: Vec<*const c_void> =
            vec![if valid.is_empty() { null() } else { valid.as_ptr().cast() }];
        match &values {
            Values::Text { ends, bytes } => {
                buffers.extend([ends.as_ptr().cast::<c_void>(), bytes.as_ptr().cast()]);
            }
            Values::U8(values) => buffers.push(values.as_ptr().cast()),
            Values::U16(values) => buffers.push(values.as_ptr().cast()),
            Values::U32(values) => buffers.push(values.as_ptr().cast()),
            Values::F32(values) => buffers.push(values.as_ptr().cast()),
            Values::List { ends, .. } => buffers.push(ends.as_ptr().cast()),
            Values::Struct(_) => {}
        }
        let children = children.into_iter().map(|child| Box::into_raw(Box::new(child)));
        let children = children.collect();
        let mut owned = Box::new(ArrayOwned { _valid: valid, _values: values, buffers, children });
        Self {
            length: rows as i64,
            null_count: nulls as i64,
            offset: 0,
            n_buffers: owned.buffers.len() as i64,
            n_children: owned.children.len() as i64,
            buffers: owned.buffers.as_mut_ptr(),
            children: owned.children.as_mut_ptr(),
            dictionary: null_mut(),
            release: Some(release_array),
            private_data: Box::into_raw(owned).cast(),
        }
    }

    /// What says that a stream is at its end.
    fn end() -> Self {
        Self {
            length: 0,
            null_count: 0,
            offset: 0,
            n_buffers: 0,
            n_children: 0,
            buffers: null_mut(),
            children: null_mut(),
            dictionary: null_mut(),
            release: None,
            private_data: null_mut(),
        }
    }
}

/// Frees an array.
///
/// # Safety
/// `array` leads to one that [`ArrowArray::new`] made, perhaps moved elsewhere since.
unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: as for `release_schema`.
    unsafe {
        let array = &mut *array;
        if array.release.take().is_none() {
            return;
        }
        let owned = Box::from_raw(array.private_data.cast::<ArrayOwned>());
        for child in &owned.children {
            drop(Box::from_raw(*child));
        }
    }
}

impl Drop for ArrowArray {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: it is valid and was not released.
            unsafe { release(self) };
        }
    }
}

/// Gives the next batch, or what went wrong.
pub(super) type Next = Box<dyn FnMut() -> Result<Option<ArrowArray>, String> + Send>;

struct StreamOwned {
    of: Type,
    next: Next,
    failure: CString,
}

impl ArrowArrayStream {
    /// A stream of batches of a type, which is a struct.
    pub(super) fn new(of: Type, next: Next) -> Self {
        let owned = Box::new(StreamOwned { of, next, failure: CString::default() });
        Self {
            get_schema: Some(get_schema),
            get_next: Some(get_next),
            get_last_error: Some(get_last_error),
            release: Some(release_stream),
            private_data: Box::into_raw(owned).cast(),
        }
    }
}

/// # Safety
/// `stream` leads to a stream that was not released, and no other call of it runs; `out` to a place
/// for a schema.
unsafe extern "C" fn get_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    // SAFETY: the caller's promise; the place may hold anything, so nothing is dropped there.
    unsafe {
        let owned = &*(*stream).private_data.cast::<StreamOwned>();
        out.write(ArrowSchema::new(&owned.of));
    }
    0
}

/// # Safety
/// As for [`get_schema`].
unsafe extern "C" fn get_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
    // SAFETY: as for `get_schema`.
    unsafe {
        let owned = &mut *(*stream).private_data.cast::<StreamOwned>();
        match (owned.next)() {
            Ok(batch) => {
                out.write(batch.unwrap_or_else(ArrowArray::end));
                0
            }
            Err(message) => {
                owned.failure = CString::new(message.replace('\0', " ")).unwrap_or_default();
                EIO
            }
        }
    }
}

/// # Safety
/// As for [`get_schema`].
unsafe extern "C" fn get_last_error(stream: *mut ArrowArrayStream) -> *const c_char {
    // SAFETY: as for `get_schema`.
    unsafe { (*(*stream).private_data.cast::<StreamOwned>()).failure.as_ptr() }
}

/// # Safety
/// As for [`get_schema`].
unsafe extern "C" fn release_stream(stream: *mut ArrowArrayStream) {
    // SAFETY: as for `release_schema`.
    unsafe {
        let stream = &mut *stream;
        if stream.release.take().is_some() {
            drop(Box::from_raw(stream.private_data.cast::<StreamOwned>()));
        }
    }
}

impl Drop for ArrowArrayStream {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: it is valid and was not released.
            unsafe { release(self) };
        }
    }
}
