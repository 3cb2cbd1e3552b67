//! The record of what a verifier says of a set, which stands in the key.

use crate::model::{AnnotationSetId, IdSpace, Reverse, Verification};

fields! {
    Verification {
        evokes, same_meaning, reverse, verifier, asked;
        absent set: AnnotationSetId::new(IdSpace::Exemplar, 0)
    }
    Reverse { score, tokens, rewriter }
}
