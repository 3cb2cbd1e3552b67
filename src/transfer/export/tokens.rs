//! Sentences on their way into a token format: what has no part of speech is tagged, all at once
//! for many sentences, and every token gets its lemma.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::Write;

use super::lossy::LossyExport;
use crate::database::{Database, Result};
use crate::exchange::{
    Annotated, ExchangeError, Lemmas, TokenFormat, TokenWriter, Tokens, WordTagger,
};
use crate::model::{ReleaseId, Span};

/// Sentences that are held until their words are tagged together.
pub(super) const HELD: usize = 512;

/// How the sets of a sentence lie in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// A block for each set.
    Sets,
    /// A block for each sentence, with what nobody annotated.
    Training,
}

/// A sentence that is written.
pub(super) struct TokenSentence {
    pub(super) release: ReleaseId,
    pub(super) text: String,
    pub(super) tokens: Tokens,
    pub(super) sets: Vec<Annotated>,
    pub(super) unannotated: Vec<Span>,
}

/// A sentence whose tokens get their tags and lemmas.
pub(super) struct Untagged<'s> {
    pub(super) release: ReleaseId,
    pub(super) text: &'s str,
    pub(super) tokens: &'s mut Tokens,
    pub(super) sets: &'s [Annotated],
}

/// What gives tokens their tags and lemmas.
pub(super) struct WordReader<'a> {
    database: &'a Database,
    tagger: Option<&'a dyn WordTagger>,
    /// Whether the tagger knows the language of a release.
    known: HashMap<ReleaseId, bool>,
    lemmas: HashMap<ReleaseId, Lemmas>,
}

impl<'a> WordReader<'a> {
    pub(super) fn new(database: &'a Database, tagger: Option<&'a dyn WordTagger>) -> Self {
        Self { database, tagger, known: HashMap::new(), lemmas: HashMap::new() }
    }

    /// Gives the tokens of sentences their tags, where they have none, and all their lemmas.
    pub(super) fn read(&mut self, held: &mut [Untagged<'_>]) -> Result<()> {
        self.tag(held)?;
        for Untagged { release, text, tokens, sets } in held {
            let lemmas = match self.lemmas.entry(*release) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => new.insert(lemmas(self.database, *release)?),
            };
            lemmas.give(text, tokens, sets);
        }
        Ok(())
    }

    /// Tags the sentences that have no tags, where the tagger knows their language.
    fn tag(&mut self, held: &mut [Untagged<'_>]) -> Result<()> {
        let Some(tagger) = self.tagger else { return Ok(()) };
        let mut untagged: Vec<&mut Untagged<'_>> = Vec::new();
        for of in held.iter_mut().filter(|of| !of.tokens.are_tagged()) {
            let known = match self.known.get(&of.release) {
                Some(known) => *known,
                None => knows(tagger, self.database, of.release)?,
            };
            self.known.insert(of.release, known);
            if known {
                untagged.push(of);
            }
        }
        if untagged.is_empty() {
            return Ok(());
        }
        let words: Vec<Vec<&str>> = untagged.iter().map(|of| of.tokens.words(of.text)).collect();
        let tagged = tagger.tag_words(&words);
        let tagged = tagged.map_err(|source| ExchangeError::Tagger { source })?;
        for (of, tags) in untagged.iter_mut().zip(tagged) {
            if let Some(tags) = tags {
                of.tokens.tag(tags);
            }
        }
        Ok(())
    }
}

/// A file of tokens.
pub(super) struct TokenFile<'a, W> {
    reader: WordReader<'a>,
    writer: TokenWriter<W>,
    layout: Layout,
    held: Vec<TokenSentence>,
}

impl<'a, W: Write> TokenFile<'a, W> {
    pub(super) fn new(
        database: &'a Database,
        (format, layout): (TokenFormat, Layout),
        tagger: Option<&'a dyn WordTagger>,
        out: W,
    ) -> Self {
        let (reader, writer) = (WordReader::new(database, tagger), TokenWriter::new(out, format));
        Self { reader, writer, layout, held: Vec::new() }
    }

    pub(super) fn add(&mut self, sentence: TokenSentence) -> Result<()> {
        self.held.push(sentence);
        if self.held.len() < HELD { Ok(()) } else { self.write_held() }
    }

    /// Ends the file.
    pub(super) fn finish(mut self) -> Result<LossyExport> {
        self.write_held()?;
        Ok(self.writer.finish()?.into())
    }

    fn write_held(&mut self) -> Result<()> {
        let mut held = std::mem::take(&mut self.held);
        let untagged = held.iter_mut().map(|of| {
            let TokenSentence { release, text, tokens, sets, .. } = of;
            Untagged { release: *release, text, tokens, sets }
        });
        self.reader.read(&mut untagged.collect::<Vec<_>>())?;
        for TokenSentence { text, tokens, sets, unannotated, .. } in held {
            match self.layout {
                Layout::Sets => self.writer.sentence(&text, &tokens, &sets)?,
                Layout::Training => self.writer.training(&text, &tokens, &sets, &unannotated)?,
            }
        }
        Ok(())
    }
}

/// Whether a tagger may tag the sentences of a release.
fn knows(tagger: &dyn WordTagger, database: &Database, id: ReleaseId) -> Result<bool> {
    if database.allows_any_language() {
        return Ok(true);
    }
    let release = database.releases()?.into_iter().find(|release| release.id == id);
    let known = release.map_or(Ok(true), |release| tagger.knows(&release.language));
    Ok(known.map_err(|source| ExchangeError::Tagger { source })?)
}

/// What a release's LUs say of lemmas.
fn lemmas(database: &Database, id: ReleaseId) -> Result<Lemmas> {
    let morphology = database.morphology(id)?;
    let mut names = Vec::new();
    for row in database.store().lexunit_names(id)? {
        let (_, _, name) = row?;
        names.push(name);
    }
    Ok(Lemmas::new(names.iter().map(String::as_str), morphology))
}
