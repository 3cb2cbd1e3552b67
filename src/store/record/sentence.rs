//! The record of a sentence with the places where it occurs.

use crate::model::{IdSpace, Occurrence, Sentence, SentenceId};

fields! {
    Sentence {
        xml_id, text, occurrences;
        absent id: SentenceId::new(IdSpace::Exemplar, 0)
    }
    Occurrence { lu, subcorpus, corpus, document, paragraph, number, position }
}
