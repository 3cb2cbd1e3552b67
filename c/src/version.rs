//! Which interface the library has.

use std::ffi::c_char;

/// Version of this interface. It grows when a function, a struct or a constant changes in a way
/// that compiled programs do not survive; what is added leaves it.
pub const FNSTORE_ABI_VERSION: u32 = 1;

/// Version of the interface of the library that is linked.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_abi_version() -> u32 {
    FNSTORE_ABI_VERSION
}

/// Version of the library, as in `0.1.0`. Nobody frees it.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_version() -> *const c_char {
    const VERSION: &std::ffi::CStr = match std::ffi::CStr::from_bytes_with_nul(
        concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes(),
    ) {
        Ok(version) => version,
        Err(_) => c"",
    };
    VERSION.as_ptr()
}
