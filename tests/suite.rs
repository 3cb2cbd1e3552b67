//! The integration tests: one binary, one behaviour per module.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test, in helpers too")]
#![allow(clippy::print_stdout, reason = "a test that is skipped says so, a measurement is printed")]

mod banned_words;
mod batch_invariance;
mod beam_parity;
mod bert_parity;
mod change_feed;
mod cli_edit;
mod cli_expand;
mod cli_import;
mod cli_program;
mod cli_query;
mod cli_schema;
mod cli_show;
mod cli_store;
mod edits;
mod edits_against_model;
mod expansion;
mod generated;
mod import_all_or_nothing;
mod import_mini;
mod import_quirks;
mod import_twice;
mod import_zip_equals_directory;
mod index_beside_store;
mod inflection_coverage;
mod judgements;
mod layering;
mod licences;
mod marian_parity;
mod mini;
mod model_bad_input;
mod query_grammar;
mod query_planner;
mod query_semantics;
mod query_shaping;
mod reader_beside_writer;
mod readme;
mod real_framenet;
mod shipped_model;
mod snapshots;
mod span_alignment;
mod store_opening;
mod store_reads_format_1;
