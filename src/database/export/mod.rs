//! Records out of the database into files of other formats.

mod jsonl;

pub use jsonl::JsonlExport;
