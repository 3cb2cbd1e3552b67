//! The index's fields; `schema/index.md` writes them down.

use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, STRING, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{LowerCaser, SimpleTokenizer, TextAnalyzer};

use crate::model::{CorpusId, DocumentId};

/// Raised when a field is added or changes its meaning; an index of another number is rebuilt.
pub(super) const SCHEMA_VERSION: u32 = 2;

/// Name of the analyser of tokenised fields: split at whatever is no letter or digit, lower case,
/// no stemmer, no stop words.
pub(super) const WORDS: &str = "words";

/// Handles of the fields.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields {
    pub(super) key: Field,
    pub(super) release: Field,
    pub(super) set: Field,
    pub(super) frame: Field,
    pub(super) lu: Field,
    pub(super) sentence: Field,
    pub(super) trigger: Field,
    pub(super) trigger_words: Field,
    pub(super) lemma: Field,
    pub(super) text: Field,
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

pub(super) fn schema() -> (Schema, Fields) {
    let mut schema = Schema::builder();
    let words = TextOptions::default().set_indexing_options(
        TextFieldIndexing::default()
            .set_tokenizer(WORDS)
            .set_index_option(IndexRecordOption::WithFreqsAndPositions),
    );
    let fields = Fields {
        key: schema.add_text_field("key", STRING),
        release: schema.add_u64_field("release", FAST | INDEXED),
        set: schema.add_u64_field("set", FAST),
        frame: schema.add_u64_field("frame", FAST | INDEXED),
        lu: schema.add_u64_field("lu", FAST | INDEXED),
        sentence: schema.add_u64_field("sentence", FAST),
        trigger: schema.add_text_field("trigger", STRING),
        trigger_words: schema.add_text_field("trigger_words", words.clone()),
        lemma: schema.add_text_field("lemma", words.clone()),
        text: schema.add_text_field("text", words),
        origin: schema.add_text_field("origin", STRING),
        method: schema.add_text_field("method", STRING),
        round: schema.add_u64_field("round", FAST | INDEXED),
        recipe: schema.add_u64_field("recipe", FAST | INDEXED),
        corpus: schema.add_u64_field("corpus", INDEXED),
        doc: schema.add_u64_field("doc", INDEXED),
        seed: schema.add_u64_field("seed", INDEXED),
        paraphrase: schema.add_f64_field("paraphrase", FAST),
        aligner: schema.add_f64_field("aligner", FAST),
    };
    (schema.build(), fields)
}

pub(super) fn analyzer() -> TextAnalyzer {
    TextAnalyzer::builder(SimpleTokenizer::default()).filter(LowerCaser).build()
}

/// What stands for a document: the corpus above, the document below.
pub(super) fn document_key(corpus: CorpusId, document: DocumentId) -> u64 {
    u64::from(corpus.0) << 32 | u64::from(document.0)
}

/// A text in lower case, letter by letter as queries fold it: what a letter becomes does not depend
/// on its neighbours, so a piece of a text folds to a piece of the folded text.
pub(super) fn folded(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// The words of a text as the tokenised fields hold them.
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
