//! What the linker is told: the name that programs look for, which ends in the interface's version,
//! and that the C++ code below exports nothing. Rust's own symbols rustc hides.

const VERSION: &str = include_str!("src/version.rs");

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/version.rs");
    let (_, rest) =
        VERSION.split_once("FNSTORE_ABI_VERSION: u32 = ").expect("the version is there");
    let (version, _) = rest.split_once(';').expect("it ends");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|of| of == "linux") {
        println!("cargo::rustc-link-arg-cdylib=-Wl,--exclude-libs,ALL");
        println!("cargo::rustc-link-arg-cdylib=-Wl,-soname,libfnstore.so.{version}");
    }
}
