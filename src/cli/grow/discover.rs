//! `fnstore discover`: new LUs of frames, through a WordNet and word vectors.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::PathBuf;

use fnstore::database::Database;
use fnstore::discover::{Corpus, DiscoverOptions, Discoverer, FrameDiscoveries};
use fnstore::lexicon::Wordnet;
use fnstore::model::{Discovery, FrameId, RefusedWord, Release, is_same_language};
use fnstore::proposals::DiscoveredRecord;
use fnstore::tag::Tagger;
use serde::{Serialize, Serializer};

use crate::cli::options::author::sign;
use crate::cli::options::number;
use crate::cli::options::release::release;
use crate::cli::options::searcher::{SearchModels, SearcherArgs, at_hand};
use crate::cli::options::tagger::{self, TAGGER};
use crate::cli::print::discovered;
use crate::cli::print::notices::{tell_index_lag, tell_of_index};
use crate::cli::print::output::{Format, Output, counted, tell};
use crate::cli::print::progress;
use crate::cli::print::render::Block;
use crate::cli::process::stop;
use crate::cli::{Context, Outcome};

/// Propose new lexical units of frames, asked about in sentences
///
/// Gathers the words that a frame's LUs lead to. In the store's WordNets these are synonyms,
/// hyponyms, hypernyms, sister terms, similar words, antonyms and derived words. To them come
/// neighbours by word vectors, what a rewriter says in their place, and what expansions proposed
/// (`fnstore expand --recipe discover`). The last are LUs of a frame of that name in other
/// releases. Puts each into sentences of the frame, in the right form, and asks a verifier whether
/// it evokes the frame there. Sentences of a corpus come first. What is found joins the proposals
/// (`fnstore proposals`); no annotation set is written. A frame that was searched in the same
/// way is not asked about again. An interrupted run resumes.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Names of frames [default: all that have LUs with sentences]
    #[arg(value_name = "FRAME")]
    frame: Vec<String>,

    /// The release [default: the only one]
    #[arg(long, value_name = "NAME")]
    release: Option<String>,

    /// Look into this WordNet alone [default: all in the store]
    #[arg(long, value_name = "NAME")]
    wordnet: Option<String>,

    /// Find sentences that hold the words in FILE: running text, one sentence a line, or JSON lines
    /// with a sentence as `text`
    #[arg(long, value_name = "FILE")]
    corpus: Option<PathBuf>,

    /// Show N words of a frame
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,

    /// Ask about N words of a frame in all sentences; one sentence each chooses them from twice as
    /// many
    #[arg(long, value_name = "N", default_value = "60")]
    candidates: NonZeroUsize,

    /// Ask about each word in N of the frame's sentences, and in as many of the corpus
    #[arg(long, value_name = "N", default_value = "3")]
    sentences: NonZeroUsize,

    /// Propose words that score at least X
    #[arg(long, value_name = "X", default_value = "0.1", value_parser = number::share::<f32>)]
    least: f32,

    /// Search frames again that were searched
    #[arg(long)]
    again: bool,

    #[command(flatten)]
    searcher: SearcherArgs,
}

impl Args {
    fn options(&self) -> DiscoverOptions {
        DiscoverOptions {
            candidates: self.candidates.get(),
            sentences: self.sentences.get(),
            least: self.least,
            again: self.again,
        }
    }
}

const UNASKED: &str = "no verifier is asked, words are ranked by what leads to them";

const EXAMPLES: &str = "\
Examples:
  fnstore discover Verification && fnstore proposals frame=Verification
  fnstore discover Scrutiny --corpus news.txt --limit 20";

/// What a search of a frame found, as JSON; see `schema/discover.schema.json`.
#[derive(Debug, Serialize)]
struct FrameRecord<'a> {
    release: &'a str,
    frame: &'a str,
    /// Words that its LUs lead to.
    candidates: u32,
    /// Words that were asked about in one sentence or more.
    asked: u32,
    /// How many words are proposed.
    proposed: usize,
    /// Whether the frame had been searched before.
    was_searched: bool,
    /// The words, the likeliest first.
    found: Vec<WordRecord<'a>>,
    /// Words that are none of the frame's.
    refused: Vec<RefusedRecord<'a>>,
}

#[derive(Debug, Serialize)]
struct WordRecord<'a> {
    lu: &'a str,
    #[serde(flatten)]
    of: DiscoveredRecord<'a>,
}

impl<'a> WordRecord<'a> {
    fn new(of: &'a Discovery) -> Self {
        Self { lu: &of.name, of: DiscoveredRecord::new(of) }
    }
}

#[derive(Debug, Serialize)]
struct RefusedRecord<'a> {
    lu: &'a str,
    /// JSON `{"enum": ["nearer-frame", "part-of-a-name"]}`.
    reason: &'a str,
    /// The frame that is nearer.
    by: Option<&'a str>,
}

impl<'a> RefusedRecord<'a> {
    fn new(of: &'a RefusedWord) -> Self {
        let by = Some(of.by.as_str()).filter(|by| !by.is_empty());
        Self { lu: &of.name, reason: &of.reason, by }
    }
}

/// What was found of a frame, of which the first words are shown.
struct Shown<'a> {
    release: &'a str,
    of: &'a FrameDiscoveries,
    limit: usize,
}

impl Shown<'_> {
    fn found(&self) -> &[Discovery] {
        &self.of.found[..self.of.found.len().min(self.limit)]
    }
}

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let record = FrameRecord {
            release: self.release,
            frame: &self.of.name,
            candidates: self.of.candidates,
            asked: self.of.asked,
            proposed: self.of.found.len(),
            was_searched: self.of.was_searched,
            found: self.found().iter().map(WordRecord::new).collect(),
            refused: self.of.refused.iter().map(RefusedRecord::new).collect(),
        };
        record.serialize(serializer)
    }
}

impl Block for Shown<'_> {
    const COLUMNS: &'static [&'static str] = &[
        "release", "frame", "lu", "score", "evokes", "slot", "support", "likeness", "sources",
        "sentence",
    ];

    fn rows(&self) -> Vec<Vec<String>> {
        let row = |word: &Discovery| {
            let named = [self.release.to_owned(), self.of.name.clone(), word.name.clone()];
            named.into_iter().chain(discovered::scores(word)).collect()
        };
        self.found().iter().map(row).collect()
    }

    fn lay_out(&self, output: &mut Output) -> anyhow::Result<()> {
        let FrameDiscoveries { name, candidates, found, asked, refused, .. } = self.of;
        let of = match asked {
            0 => format!("{candidates} that its LUs lead to"),
            _ => format!("{asked} asked about"),
        };
        output.heading(&format!("{name}: {} proposed, {of}", found.len()))?;
        for word in self.found() {
            output.line(&format!("  {}", discovered::headline(word)))?;
            discovered::lay_out(word, output)?;
        }
        let nearer = refused.iter().filter(|of| !of.by.is_empty());
        let nearer: Vec<String> = nearer.map(|of| format!("{} ({})", of.name, of.by)).collect();
        if !nearer.is_empty() {
            output.line(&format!("  nearer to another frame: {}", nearer.join(", ")))?;
        }
        let names = refused.iter().filter(|of| of.by.is_empty());
        let names: Vec<&str> = names.map(|of| of.name.as_str()).collect();
        if !names.is_empty() {
            output.line(&format!("  in names alone: {}", names.join(", ")))?;
        }
        Ok(())
    }
}

/// The tagger of a corpus's sentences, if there is a corpus and the tagger is at hand.
fn tagger(args: &Args, models: &SearchModels) -> anyhow::Result<Option<Tagger>> {
    if args.corpus.is_none() {
        return Ok(None);
    }
    let tagger = at_hand(tagger::open(TAGGER.as_ref(), None, &models.dirs, &models.device))?;
    if tagger.is_none() {
        tell("no tagger among the models: a word of the corpus may be of another part of speech");
    }
    Ok(tagger)
}

/// The corpus, if one is given, with how much of it can be found.
fn corpus(args: &Args) -> anyhow::Result<Option<Corpus>> {
    let Some(path) = &args.corpus else { return Ok(None) };
    let corpus = Corpus::open(path)?;
    if corpus.passed_over() > 0 {
        let (all, passed) = (corpus.sentences(), corpus.passed_over());
        tell(&format!(
            "{} of the corpus, and {passed} passed over, of fewer than 4 words or of more than 45",
            counted(all, "sentence")
        ));
    }
    Ok(Some(corpus))
}

/// The WordNets to look into; tells of one that was named and is of another language.
fn wordnets<'d>(
    database: &'d Database,
    release: &Release,
    named: Option<&str>,
) -> anyhow::Result<Vec<Wordnet<'d>>> {
    let Some(name) = named else { return Ok(database.wordnets()?) };
    let wordnet = database.wordnet(name)?;
    let language = &wordnet.resource().language;
    if !is_same_language(language, &release.language) {
        tell(&format!(
            "`{name}` is of `{language}`, the release of `{}`: not used",
            release.language
        ));
    }
    Ok(vec![wordnet])
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let corpus = corpus(&args)?;
    let mut models = args.searcher.open()?;
    if let Some(why) = &models.unasked {
        tell(&format!("{UNASKED}: {why}"));
    }
    let tagger = tagger(&args, &models)?;
    let stopped = stop::on_interrupt("writing the frames that were searched")?;
    let database = context.joined(Database::open_existing_writer(&context.store)?);
    tell_of_index(&database);
    sign(&database);
    let release = release(&database, args.release.as_deref())?;
    let wordnets = wordnets(&database, &release, args.wordnet.as_deref())?;
    let sources = (wordnets, models.vectors.as_ref());
    let has_verifier = models.verifier.is_some();
    let mut discoverer = Discoverer::new(
        &database,
        &release.name,
        sources,
        models.verifier.as_mut(),
        args.options(),
    )?
    .with_rewriter(models.rewriter.as_mut())
    .with_tagger(tagger.as_ref());
    if has_verifier && !discoverer.asks() {
        tell(&format!("{UNASKED}: it is made for another language"));
    }
    let missing = discoverer.missing();
    if !missing.is_empty() {
        tell(&format!("words are found without {}", missing.join(", ")));
    }
    if let Some(corpus) = &corpus {
        discoverer = discoverer.with_corpus(corpus);
    }
    let frames = frames(&database, &release.name, &args.frame, &discoverer)?;
    let search = Search { release: &release.name, limit: args.limit, stopped: &stopped };
    let (proposed, searched, is_interrupted) = search.over(&mut discoverer, frames, context)?;
    tell_index_lag(&database);
    context.output.flush()?;
    if is_interrupted {
        tell("interrupted; what was found is in the store, and the same command resumes there");
        return Ok(Outcome::Interrupted);
    }
    let words = counted(proposed, "word");
    tell(&format!("{words} proposed for {}", counted(searched, "frame")));
    Ok(if proposed == 0 { Outcome::NothingFound } else { Outcome::Done })
}

/// A search of some frames.
struct Search<'s> {
    release: &'s str,
    limit: usize,
    stopped: &'s dyn Fn() -> bool,
}

impl Search<'_> {
    /// Searches and prints; gives how many words are proposed, for how many frames, and whether it
    /// was interrupted.
    fn over(
        &self,
        discoverer: &mut Discoverer<'_>,
        frames: Vec<FrameId>,
        context: &mut Context,
    ) -> anyhow::Result<(u64, u64, bool)> {
        let bar = progress::bar("discovering", "frames");
        bar.set_length(frames.len() as u64);
        let (mut proposed, mut searched, mut is_interrupted) = (0, 0, false);
        let mut records = context.output.records(Format::Jsonl);
        for frame in frames {
            let mut goes_on = || match (self.stopped)() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            };
            let found = match discoverer.discover(frame, &mut goes_on) {
                Err(error) if error.is_stopped() => {
                    is_interrupted = true;
                    break;
                }
                found => found?,
            };
            proposed += found.found.len() as u64;
            searched += 1;
            bar.set_position(searched);
            let shown = Shown { release: self.release, of: &found, limit: self.limit };
            bar.suspend(|| records.spaced_block(&shown))?;
        }
        bar.finish_and_clear();
        records.end_blocks::<Shown<'_>>()?;
        Ok((proposed, searched, is_interrupted))
    }
}

/// The frames of these names, or all.
fn frames(
    database: &Database,
    release: &str,
    names: &[String],
    discoverer: &Discoverer<'_>,
) -> anyhow::Result<Vec<FrameId>> {
    if names.is_empty() {
        return Ok(discoverer.frames()?);
    }
    let lexicon = database.lexicon(release)?;
    let called = lexicon.frames_called(names)?;
    Ok(called.into_iter().map(|frame| frame.id).collect())
}
