//! paraphrase
