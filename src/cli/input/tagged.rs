//! Tagged sentences for training and measuring a tagger: from a file, or from FrameNet's full text.

use std::path::Path;

use anyhow::ensure;
use fnstore::database::Database;
use fnstore::exchange::Tokens;
use fnstore::model::Split;
use fnstore::tag::{TaggedSentence, penn_tag};

/// The sentences of a file of JSON lines; without one, those of a part of the full text.
pub(crate) fn read(
    file: Option<&Path>,
    store: &Path,
    split: Split,
) -> anyhow::Result<Vec<TaggedSentence>> {
    match file {
        Some(file) => Ok(TaggedSentence::read(file)?),
        None => of_store(store, split),
    }
}

/// The sentences of a part of full text that have tags in the layer PENN, in every release of the
/// store, with the tags of the Penn Treebank. One text counts once.
fn of_store(store: &Path, split: Split) -> anyhow::Result<Vec<TaggedSentence>> {
    let database = Database::open(store)?;
    let mut sentences: Vec<TaggedSentence> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for lexicon in database.lexicons()? {
        for document in lexicon.documents()? {
            let document = document?;
            if Split::of(&document) != Some(split) {
                continue;
            }
            for sentence in lexicon.sentences_of(&document) {
                let sentence = sentence?;
                let layers = lexicon.sentence_layers_of(sentence.id)?;
                let layers = layers.collect::<Result<Vec<_>, _>>()?;
                let tagged = tagged(&sentence.text, &Tokens::new(&sentence.text, &layers));
                let is_tagged = tagged.tags.iter().any(Option::is_some);
                if is_tagged && seen.insert(sentence.text) {
                    sentences.push(tagged);
                }
            }
        }
    }
    ensure!(
        !sentences.is_empty(),
        "the store `{}` has no tagged full text of the part `{}`: import a release that has, or name a file \
         of tagged sentences",
        store.display(),
        split.as_str()
    );
    Ok(sentences)
}

fn tagged(text: &str, tokens: &Tokens) -> TaggedSentence {
    let tokens = tokens.as_slice().iter();
    let (words, tags) = tokens
        .filter_map(|token| {
            let tag = token.tag.as_deref().and_then(penn_tag).map(str::to_owned);
            Some((token.span.of(text)?.to_owned(), tag))
        })
        .unzip();
    TaggedSentence { words, tags }
}
