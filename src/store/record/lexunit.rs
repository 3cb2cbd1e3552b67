//! The record of an LU with its valence tables.

use crate::model::{
    FeRealization, FrameId, Governor, LexUnit, Lexeme, Listing, LuId, Pos, SentenceCount,
    ValencePattern, ValenceUnit, Valences,
};

coded! {
    Pos as String: |pos| pos.as_str().to_owned(), |text| Ok(Self::parse(&text));
}

fields! {
    LexUnit {
        name, pos, status, definition, lexemes, incorporated_fe, sem_types, lemma_id, created,
        sentence_count, total_annotated, subcorpora, valences, listing;
        absent id: LuId(0), frame: FrameId(0)
    }
    Lexeme { name, pos, order, headword, break_before }
    SentenceCount { annotated, total }
    Valences { governors, realizations, groups }
    Governor { kind, lemma, sets }
    FeRealization { elements, total, patterns }
    ValencePattern { total, units, sets }
    ValenceUnit { fe, pt, gf }
    Listing { frame_file, lu_file }
}
