//! Lines that come in.
//!
//! | file | what |
//! | --- | --- |
//! | [`line_reader`] | lines of which a bad one costs nobody the others |
//! | [`line_batches`] | commands that answer line by line |
//! | [`table_lines`] | lines with named fields: TSV or JSON objects |
//! | [`tagged`] | tagged sentences for training and measuring a tagger |

pub(crate) mod line_batches;
pub(crate) mod line_reader;
pub(crate) mod table_lines;
pub(crate) mod tagged;
