//! The index's fields; `schema/index.md` writes them down.

use tantivy::schema::{
    Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{MAX_TOKEN_LEN, SimpleTokenizer, TextAnalyzer};

use crate::model::{AnnotationSetId, CorpusId, DocumentId};

/// Raised when a field is added or changes its meaning; an index of another number is rebuilt.
pub(super) const SCHEMA_VERSION: u32 = 6;

/// Name of the analyser of tokenised fields: split at whatever is no letter or digit, no stemmer,
/// no stop words. It is given folded texts, whose letters are composed.
pub(super) const WORDS: &str = "words";

/// Handles of the fields.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields {
    pub(super) bucket: Field,
    pub(super) release: Field,
    pub(super) set: Field,
    pub(super) frame: Field,
    pub(super) lu: Field,
    pub(super) sentence: Field,
    pub(super) trigger: Field,
    pub(super) text: Field,
    pub(super) omitted: Field,
    pub(super) origin: Field,
    pub(super) method: Field,
    pub(super) round: Field,
    pub(super) recipe: Field,
    pub(super) corpus: Field,
    pub(super) doc: Field,
    pub(super) seed: Field,
    pub(super) paraphrase: Field,
    pub(super) aligner: Field,
}

/// No field has norms, a byte for each document and field: nothing here is ranked. None has
/// positions, a quarter of the index: whoever searches reads every hit again, and a text with the
/// words of a phrase seldom has them in another order.
pub(super) fn schema() -> (Schema, Fields) {
    let mut schema = Schema::builder();
    let indexing = |tokenizer| {
        let indexing = TextFieldIndexing::default()
            .set_tokenizer(tokenizer)
            .set_fieldnorms(false)
            .set_index_option(IndexRecordOption::Basic);
        TextOptions::default().set_indexing_options(indexing)
    };
    let (raw, words) = (indexing("raw"), indexing(WORDS));
    let number = NumericOptions::default().set_indexed();
    let column = NumericOptions::default().set_fast();
    let both = number.clone().set_fast();
    let fields = Fields {
        bucket: schema.add_u64_field("bucket", number.clone()),
        release: schema.add_u64_field("release", both.clone()),
        set: schema.add_u64_field("set", column.clone()),
        frame: schema.add_u64_field("frame", both.clone()),
        lu: schema.add_u64_field("lu", both.clone()),
        sentence: schema.add_u64_field("sentence", column.clone()),
        trigger: schema.add_text_field("trigger", raw.clone()),
        text: schema.add_text_field("text", words),
        omitted: schema.add_text_field("omitted", raw.clone()),
        origin: schema.add_text_field("origin", raw.clone()),
        method: schema.add_text_field("method", raw),
        round: schema.add_u64_field("round", both.clone()),
        recipe: schema.add_u64_field("recipe", both),
        corpus: schema.add_u64_field("corpus", number.clone()),
        doc: schema.add_u64_field("doc", number.clone()),
        seed: schema.add_u64_field("seed", number),
        paraphrase: schema.add_f64_field("paraphrase", column.clone()),
        aligner: schema.add_f64_field("aligner", column),
    };
    (schema.build(), fields)
}

/// The bucket of a set. A term for each set would be the largest part of the index, so an entry is
/// found by its bucket first and then by the set in its column.
pub(super) fn bucket(set: AnnotationSetId) -> u64 {
    set.number() & 0xffff
}

pub(super) fn analyzer() -> TextAnalyzer {
    TextAnalyzer::from(SimpleTokenizer::default())
}

/// What stands for a document: the corpus above, the document below.
pub(super) fn document_key(corpus: CorpusId, document: DocumentId) -> u64 {
    u64::from(corpus.0) << 32 | u64::from(document.0)
}

/// Whether Tantivy leaves a term of a text field out, and says so nowhere.
pub(super) fn is_omitted(term: &str) -> bool {
    term.len() > MAX_TOKEN_LEN
}

/// The words of a folded text as the tokenised fields hold them.
pub(super) fn words_of(text: &str) -> Vec<String> {
    let mut analyzer = analyzer();
    let mut stream = analyzer.token_stream(text);
    let mut words = Vec::new();
    stream.process(&mut |token| words.push(token.text.clone()));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_page_lists_every_field() {
        let page = include_str!("../../schema/index.md");
        assert!(page.contains(&format!("Schema version {SCHEMA_VERSION}.")));
        for (_, field) in schema().0.fields() {
            assert!(page.contains(&format!("| `{}` |", field.name())), "{}", field.name());
        }
    }
}
