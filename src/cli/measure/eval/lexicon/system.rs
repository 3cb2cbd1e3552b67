//! This program's systems, and the files that hold what they proposed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::{Context as _, bail};
use fnstore::database::Database;
use fnstore::discover::{DiscoverOptions, Discoverer};
use fnstore::durable;
use fnstore::lexicon::Lexicon;
use fnstore::named;
use fnstore::proposals::benchmark::Answers;
use fnstore::query::{Case, Pattern};

use super::part::Prepared;
use crate::cli::options::searcher::SearchModels;
use crate::cli::print::output::tell;
use crate::cli::print::progress;

named! {
    /// A system that proposes LUs.
    pub(super) enum System {
        /// The words whose vectors are nearest.
        Vectors => "vectors",
        /// The words that a WordNet leads to.
        Wordnet => "wordnet",
        /// Both, ranked by how likely a language model finds them in the LU's place.
        LanguageModel => "language-model",
        /// What `fnstore discover` proposes.
        Discover => "discover",
        /// None of these.
        None => "none",
    }
}

/// LUs with their scores, by frame.
type Searched = BTreeMap<String, Vec<(String, f32)>>;

/// Runs systems.
pub(super) struct Runner<'r> {
    /// Holds the WordNets.
    pub(super) wordnets_of: &'r Database,
    pub(super) models: SearchModels,
    pub(super) options: DiscoverOptions,
    pub(super) stopped: &'r dyn Fn() -> bool,
}

impl System {
    pub(super) fn asks_a_language_model(self) -> bool {
        matches!(self, Self::LanguageModel | Self::Discover)
    }
}

impl Runner<'_> {
    /// What a system proposes for the first frames of a part, or why it cannot; nothing where it
    /// was interrupted.
    pub(super) fn run(
        &mut self,
        system: System,
        made: &Prepared,
        count: usize,
    ) -> anyhow::Result<Result<Option<Answers>, String>> {
        let database = Database::open(&made.store())?;
        let lexicon = database.lexicon(&made.questions.release)?;
        let stopped = self.stopped;
        let mut discoverer = match self.discoverer(system, &database, &lexicon)? {
            Ok(discoverer) => discoverer,
            Err(why) => return Ok(Err(why)),
        };
        let place = made.directory.join(format!("{system}.tsv"));
        let head = format!("# {system}: {}\n", discoverer.described());
        let mut searched = read(&place, &head)?;
        let bar = progress::bar(system.as_str(), "frames");
        bar.set_length(count as u64);
        for (at, question) in made.questions.frames.iter().take(count).enumerate() {
            bar.set_position(at as u64);
            if searched.contains_key(&question.frame) {
                continue;
            }
            let Some(found) = search(&mut discoverer, &lexicon, &question.frame, stopped)? else {
                bar.finish_and_clear();
                return Ok(Ok(None));
            };
            searched.insert(question.frame.clone(), found);
            durable::write_file(&place, text(&head, &searched).as_bytes())
                .with_context(|| format!("cannot write `{}`", place.display()))?;
        }
        bar.finish_and_clear();
        let lus = searched.iter().flat_map(|(frame, lus)| {
            lus.iter().map(|(lu, score)| (frame.as_str(), lu.as_str(), f64::from(*score)))
        });
        Ok(Ok(Some(Answers::new(lus))))
    }

    /// The search of a system, or why there is none.
    fn discoverer<'d>(
        &'d mut self,
        system: System,
        database: &'d Database,
        lexicon: &Lexicon<'_>,
    ) -> anyhow::Result<Result<Discoverer<'d>, String>> {
        let SearchModels { verifier, unasked, rewriter, vectors, .. } = &mut self.models;
        let vectors = vectors.as_ref().filter(|_| system != System::Wordnet);
        let wordnets = match system {
            System::Vectors => Vec::new(),
            _ => self.wordnets_of.wordnets()?,
        };
        let verifier = verifier.as_mut().filter(|_| system.asks_a_language_model());
        let release = lexicon.release().name.as_str();
        let sources = (wordnets, vectors);
        let discoverer = Discoverer::new(database, release, sources, verifier, self.options)?;
        let missing = discoverer.missing();
        let why = match system {
            System::Vectors if missing.contains(&"word vectors") => {
                "no word vectors of the release's language are at hand".to_owned()
            }
            System::Wordnet if missing.contains(&"WordNet") => {
                "the store holds no WordNet of the release's language; `fnstore import` brings one \
                 in"
                .to_owned()
            }
            System::LanguageModel | System::Discover if !discoverer.asks() => {
                let language = || "the verifier is made for another language".to_owned();
                unasked.clone().unwrap_or_else(language)
            }
            System::LanguageModel => return Ok(Ok(discoverer.by_slot_alone())),
            System::Discover => {
                let discoverer = discoverer.with_rewriter(rewriter.as_mut());
                let missing = discoverer.missing();
                if !missing.is_empty() {
                    tell(&format!("{system}: words are found without {}", missing.join(", ")));
                }
                return Ok(Ok(discoverer));
            }
            _ => return Ok(Ok(discoverer)),
        };
        Ok(Err(why))
    }
}

/// What a search finds for a frame; nothing where it was interrupted.
fn search(
    discoverer: &mut Discoverer<'_>,
    lexicon: &Lexicon<'_>,
    frame: &str,
    stopped: &dyn Fn() -> bool,
) -> anyhow::Result<Option<Vec<(String, f32)>>> {
    let mut goes_on = || if stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let mut lus = Vec::new();
    for of_name in lexicon.find_frames(&Pattern::exact(frame, Case::Sensitive))? {
        if goes_on().is_break() {
            return Ok(None);
        }
        match discoverer.search(of_name?.id, &mut goes_on) {
            Err(error) if error.is_stopped() => return Ok(None),
            found => lus.extend(found?.found.into_iter().map(|of| (of.name, of.score))),
        }
    }
    Ok(Some(lus))
}

/// Before the name of a frame that was searched.
const SEARCHED: &str = "# searched\t";

fn text(head: &str, searched: &Searched) -> String {
    let mut text = head.to_owned();
    for (frame, lus) in searched {
        writeln!(text, "{SEARCHED}{frame}").expect("a string takes everything");
        for (lu, score) in lus {
            writeln!(text, "{frame}\t{lu}\t{score}").expect("a string takes everything");
        }
    }
    text
}

/// What a file holds, if it was made in the same way.
fn read(place: &Path, head: &str) -> anyhow::Result<Searched> {
    let mut searched = Searched::new();
    if !place.is_file() {
        return Ok(searched);
    }
    let failed = || format!("cannot use `{}`", place.display());
    let text = std::fs::read_to_string(place).with_context(failed)?;
    let Some(lines) = text.strip_prefix(head) else {
        tell(&format!("`{}` was made in another way and is made anew", place.display()));
        return Ok(searched);
    };
    for (at, line) in lines.lines().enumerate() {
        if let Some(frame) = line.strip_prefix(SEARCHED) {
            searched.entry(frame.to_owned()).or_default();
            continue;
        }
        let columns: Vec<&str> = line.split('\t').collect();
        let said = match columns[..] {
            [frame, lu, score] => {
                searched.get_mut(frame).zip(score.parse().ok()).map(|of| (of, lu))
            }
            _ => None,
        };
        let Some(((of_frame, score), lu)) = said else {
            bail!("`{}`:{}: no frame, LU and score; remove the file", place.display(), at + 2);
        };
        of_frame.push((lu.to_owned(), score));
    }
    Ok(searched)
}
