//! The integration tests: one binary, one behaviour per module.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test, in helpers too")]
#![allow(clippy::print_stdout, reason = "a test that is skipped says so, a measurement is printed")]

mod backup_restore;
mod banned_words;
mod batch_invariance;
mod beam_parity;
mod bert_parity;
mod change_feed;
mod cli_edit;
mod cli_expand;
mod cli_export;
mod cli_import;
mod cli_operations;
mod cli_program;
mod cli_query;
mod cli_schema;
mod cli_show;
mod cli_store;
mod crash;
mod damaged_files;
mod disk_full;
mod edits;
mod edits_against_model;
mod expansion;
mod generated;
mod hostile_release;
mod import_all_or_nothing;
mod import_mini;
mod import_quirks;
mod import_twice;
mod import_zip_equals_directory;
mod index_beside_store;
mod inflection_coverage;
mod jsonl_round_trip;
mod judgements;
mod layering;
mod licences;
mod marian_parity;
mod mini;
mod model_bad_input;
mod mutated_input;
mod query_semantics;
mod reader_beside_writer;
mod readers_beside_writer_process;
mod readme;
mod real_framenet;
mod shipped_model;
mod snapshots;
mod span_alignment;
mod span_labelled_data;
mod store_check;
mod store_opening;
mod store_reads_format_1;
