//! One WordNet as its reader sees it: synsets, words and what leads from one to another.
//!
//! ```
//! use fnstore::database::Database;
//! use fnstore::model::WordClass;
//! use fnstore::transfer::ImportOptions;
//!
//! # let store = tempfile::tempdir()?;
//! # let files = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mini-wordnet");
//! let database = Database::open_writer(store.path())?;
//! database.import_wordnet(files.as_ref(), &ImportOptions::default())?;
//! let wordnet = database.wordnet("wordnet-0.1")?;
//! for synset in wordnet.synsets_of("inspect", WordClass::Verb)? {
//!     println!("{}: {}", synset.members.join(", "), synset.definitions.join("; "));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::sync::Arc;

use crate::database::{Database, Result};
use crate::lexica::wordnet_lemma;
use crate::model::{Pos, Resource, ResourceKind, Synset, SynsetId, Word, WordClass, is_english};
use crate::text::{lemma_readings, spelling_variants};

/// A WordNet in a database. It is a handle: it holds no data and is cheap to clone.
#[derive(Clone)]
pub struct Wordnet<'a> {
    database: &'a Database,
    resource: Arc<Resource>,
}

impl Database {
    /// The WordNet of a name.
    ///
    /// # Errors
    /// When there is none, with the nearest name.
    pub fn wordnet(&self, name: &str) -> Result<Wordnet<'_>> {
        let is_wordnet = |resource: &Resource| resource.kind == ResourceKind::Wordnet;
        let resource = self.resource_of(name, ResourceKind::Wordnet.called(), is_wordnet)?;
        Ok(Wordnet { database: self, resource: Arc::new(resource) })
    }

    /// Every WordNet, in order of import.
    ///
    /// # Errors
    /// When the store fails.
    pub fn wordnets(&self) -> Result<Vec<Wordnet<'_>>> {
        let all = self.resources()?.into_iter();
        let wordnets = all.filter(|resource| resource.kind == ResourceKind::Wordnet);
        Ok(wordnets.map(|of| Wordnet { database: self, resource: Arc::new(of) }).collect())
    }
}

impl Wordnet<'_> {
    /// What it is, and what it holds.
    #[must_use]
    pub fn resource(&self) -> &Resource {
        &self.resource
    }

    /// The synset of a number.
    ///
    /// # Errors
    /// When the store fails or a record is damaged; so for every function here.
    pub fn synset(&self, synset: SynsetId) -> Result<Option<Synset>> {
        Ok(self.database.store().synset(self.resource.id, synset)?)
    }

    /// All synsets, in order of number.
    pub fn synsets(&self) -> Result<impl Iterator<Item = Result<Synset>> + '_> {
        let rows = self.database.store().synsets(self.resource.id)?;
        Ok(rows.map(|row| row.map_err(Into::into)))
    }

    /// The word of a lemma.
    pub fn word(&self, lemma: &str, class: WordClass) -> Result<Option<Word>> {
        Ok(self.database.store().word(self.resource.id, class, &wordnet_lemma(lemma))?)
    }

    /// The words that a form may be of: itself as a lemma, then by the irregular forms, then by the
    /// rules of English. Where none is, other spellings are tried.
    pub fn words_of(&self, form: &str, class: WordClass) -> Result<Vec<Word>> {
        let form = wordnet_lemma(form);
        let irregular = self.database.store().irregular_form(self.resource.id, class, &form)?;
        let mut lemmas = vec![form.clone()];
        lemmas.extend(irregular.into_iter().flat_map(|it| it.lemmas));
        let english = class.pos().filter(|_| is_english(&self.resource.language));
        lemmas.extend(english.into_iter().flat_map(|pos| lemma_readings(&form, pos)));
        let words = self.known(&lemmas, class)?;
        if !words.is_empty() || english.is_none() {
            return Ok(words);
        }
        let respelled: Vec<String> =
            lemmas.iter().flat_map(|lemma| spelling_variants(lemma)).collect();
        self.known(&respelled, class)
    }

    /// The words of these lemmas, each once.
    fn known(&self, lemmas: &[String], class: WordClass) -> Result<Vec<Word>> {
        let mut words: Vec<Word> = Vec::new();
        for lemma in lemmas {
            if !words.iter().any(|word| word.lemma == *lemma) {
                words.extend(self.word(lemma, class)?);
            }
        }
        Ok(words)
    }

    /// The synsets of a lemma, or of what it may be a form of; of each word the most frequent
    /// sense first.
    pub fn synsets_of(&self, form: &str, class: WordClass) -> Result<Vec<Synset>> {
        self.synsets_of_words(self.words_of(form, class)?)
    }

    /// The synsets of a lemma, the most frequent sense first.
    pub fn synsets_of_lemma(&self, lemma: &str, class: WordClass) -> Result<Vec<Synset>> {
        self.synsets_of_words(self.word(lemma, class)?)
    }

    fn synsets_of_words(&self, words: impl IntoIterator<Item = Word>) -> Result<Vec<Synset>> {
        let mut synsets: Vec<Synset> = Vec::new();
        for sense in words.into_iter().flat_map(|word| word.senses) {
            if !synsets.iter().any(|known| known.id == sense) {
                synsets.extend(self.synset(sense)?);
            }
        }
        Ok(synsets)
    }

    /// The synset of an id as its files write it, or of a number of the Interlingual Index, by
    /// which editions and languages are joined. Reads all synsets.
    pub fn synset_called(&self, id: &str) -> Result<Option<Synset>> {
        let mut synsets = self.synsets()?;
        let is_it = |synset: &Synset| synset.written == id || synset.ili.as_deref() == Some(id);
        synsets.find(|row| row.as_ref().map_or(true, is_it)).transpose()
    }
    /// The synsets of what somebody writes: a lemma or a form of one, `inspect`; with its part of
    /// speech, `inspect.v`; or what [`synset_called`](Self::synset_called) takes.
    pub fn synsets_written(&self, word: &str) -> Result<Vec<Synset>> {
        let of = |lemma: &str, classes: &[WordClass]| -> Result<Vec<Synset>> {
            let mut synsets = Vec::new();
            for class in classes {
                synsets.extend(self.synsets_of(lemma, *class)?);
            }
            Ok(synsets)
        };
        let mut synsets = of(word, &WordClass::ALL)?;
        if let Some((lemma, suffix)) = word.rsplit_once('.').filter(|_| synsets.is_empty()) {
            let class =
                WordClass::of_letter(suffix).or_else(|| WordClass::of_pos(Pos::of_lu_name(word)));
            synsets = of(lemma, class.as_slice())?;
        }
        if synsets.is_empty() && word.contains(|letter: char| letter.is_ascii_digit()) {
            synsets.extend(self.synset_called(word)?);
        }
        Ok(synsets)
    }
}
