//! How results and notices come out.
//!
//! | file | what |
//! | --- | --- |
//! | [`output`] | data on stdout, the only place that prints it; sizes and numbers for reading |
//! | [`render`] | results in each format: table, JSON, CSV; the one place where formats part |
//! | [`tree`] | trees of frames and of semantic types |
//! | [`notices`] | what is said of the store on stderr: empty, several releases, an index behind |
//! | [`progress`] | progress on stderr, and how much longer |

pub(crate) mod discovered;
pub(crate) mod linked;
pub(crate) mod notices;
pub(crate) mod output;
pub(crate) mod progress;
pub(crate) mod render;
pub(crate) mod tree;
