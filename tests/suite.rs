//! One binary for all integration tests; a file per behaviour.

mod inflection_coverage;
