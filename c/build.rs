//! What the linker is told: which symbols the library exports, and its name.

fn main() {
    let target = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    println!("cargo::rerun-if-changed=build.rs");
    if target == "linux" {
        // rustc hides Rust's symbols; those of the C++ code below are the linker's to hide.
        println!("cargo::rustc-link-arg-cdylib=-Wl,--exclude-libs,ALL");
        println!("cargo::rustc-link-arg-cdylib=-Wl,-soname,libfnstore.so.1");
    }
}
