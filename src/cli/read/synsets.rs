//! `fnstore synsets`: what WordNets say of a word.

use std::collections::BTreeMap;

use fnstore::database::Database;
use fnstore::lexicon::Wordnet;
use fnstore::model::{Synset, SynsetId};
use serde::Serialize;

use crate::cli::print::output::{Format, tell};
use crate::cli::print::render::Row;
use crate::cli::{Context, Outcome};

/// List the synsets of a word, of the WordNets in the store
///
/// The most frequent sense comes first, as the WordNet orders them. A form stands for its lemma.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Lemma, or lemma and part of speech: `inspect`, `inspect.v`; or a synset's id, or its number
    /// in the Interlingual Index: `00661842-v`, `i46360`
    #[arg(value_name = "LEMMA[.POS]")]
    word: String,

    /// List only synsets of this WordNet
    #[arg(long, value_name = "NAME")]
    wordnet: Option<String>,

    /// Stop after N rows
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

const EXAMPLES: &str = "\
Examples:
  fnstore synsets inspect
  fnstore synsets scrutiny.n --wordnet wordnet-3.0 --format json";

/// A synset as JSON; see `schema/synset.schema.json`.
#[derive(Debug, Serialize)]
struct SynsetRow {
    wordnet: String,
    id: String,
    /// Whether it is an adjective's synset beside a head synset.
    satellite: bool,
    /// JSON `{"enum": ["n", "v", "a", "r", "x"]}`.
    pos: &'static str,
    ili: Option<String>,
    topic: String,
    members: Vec<String>,
    /// The members' sense keys, in the same order.
    keys: Vec<String>,
    definitions: Vec<String>,
    examples: Vec<String>,
    relations: Vec<RelationRow>,
}

/// What the synset, or a word of it, has to do with another.
#[derive(Debug, Serialize)]
struct RelationRow {
    kind: String,
    id: String,
    /// The word of this synset that is meant; null where all are.
    member: Option<String>,
    /// The words of the other synset that are meant.
    words: Vec<String>,
}

impl Row for SynsetRow {
    const COLUMNS: &'static [&'static str] =
        &["wordnet", "id", "pos", "ili", "topic", "members", "definitions", "examples"];
    const TABLE_COLUMNS: &'static [&'static str] = &["id", "pos", "members", "definitions"];
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let database = Database::open(&context.store)?;
    let wordnets = match &args.wordnet {
        Some(name) => vec![database.wordnet(name)?],
        None => database.wordnets()?,
    };
    if wordnets.is_empty() {
        tell("the store has no WordNet; `fnstore import PATH` brings in one");
        return Ok(Outcome::NothingFound);
    }
    let mut rows = Vec::new();
    for wordnet in &wordnets {
        for synset in wordnet.synsets_written(&args.word)? {
            rows.push(row(wordnet, synset)?);
        }
    }
    rows.truncate(args.limit.unwrap_or(usize::MAX));
    let is_empty = rows.is_empty();
    context.output.rows(Format::Jsonl, rows)?;
    if is_empty {
        return Outcome::nothing("nothing found; a part of speech is .n, .v, .a or .r");
    }
    Ok(Outcome::Done)
}

fn row(wordnet: &Wordnet<'_>, synset: Synset) -> anyhow::Result<SynsetRow> {
    let mut others: BTreeMap<SynsetId, Synset> = BTreeMap::new();
    for relation in &synset.relations {
        if let Some(other) = wordnet.synset(relation.target)? {
            others.insert(relation.target, other);
        }
    }
    let at = |members: &[String], number: u16| {
        usize::from(number).checked_sub(1).and_then(|at| members.get(at)).cloned()
    };
    let relations = synset.relations.iter().filter_map(|of| {
        let other = others.get(&of.target)?;
        let words = match at(&other.members, of.words.1) {
            Some(word) => vec![word],
            None => other.members.clone(),
        };
        let member = at(&synset.members, of.words.0);
        Some(RelationRow { kind: of.kind.clone(), id: other.written.clone(), member, words })
    });
    Ok(SynsetRow {
        wordnet: wordnet.resource().name.clone(),
        relations: relations.collect(),
        id: synset.written,
        satellite: synset.is_satellite,
        pos: synset.class.as_str(),
        ili: synset.ili,
        topic: synset.topic,
        members: synset.members,
        keys: synset.keys,
        definitions: synset.definitions,
        examples: synset.examples,
    })
}
