//! tokenize
