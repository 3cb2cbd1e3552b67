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
use fnstore::model::Named as _;
use fnstore::named;
use fnstore::proposals::benchmark::Answers;
use fnstore::query::{Case, Pattern};

use super::part::Prepared;
use crate::cli::options::searcher::SearchModels;
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

/// What a system has to find words without.
pub(super) type Missing = Vec<&'static str>;

/// LUs with their scores, by frame; or substitutes, by target.
pub(super) type Searched = BTreeMap<String, Vec<(String, f32)>>;

/// Runs systems.
pub(super) struct Runner<'r> {
    /// Holds the WordNets.
    pub(super) wordnets_of: &'r Database,
    pub(super) models: SearchModels,
    pub(super) options: DiscoverOptions,
    pub(super) stopped: &'r dyn Fn() -> bool,
}

impl System {
    /// All that are systems.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        Self::CASES.iter().copied().filter(|of| *of != Self::None)
    }

    pub(super) fn asks_a_language_model(self) -> bool {
        matches!(self, Self::LanguageModel | Self::Discover)
    }

    /// What leads it to words, as [`Discoverer::missing`] calls it.
    fn sources(self) -> &'static [&'static str] {
        match self {
            Self::Vectors => &["word vectors"],
            Self::Wordnet => &["WordNet"],
            Self::LanguageModel => &["WordNet", "word vectors"],
            Self::Discover => &["WordNet", "word vectors", "rewriter"],
            Self::None => &[],
        }
    }
}

impl Runner<'_> {
    /// What a system proposes for the first frames of a part, and what it had to do without; or why
    /// it cannot, and nothing where it was interrupted.
    pub(super) fn run(
        &mut self,
        system: System,
        made: &Prepared,
        count: usize,
    ) -> anyhow::Result<Result<Option<(Answers, Missing)>, String>> {
        let database = Database::open(&made.store())?;
        let lexicon = database.lexicon(&made.questions.release)?;
        let (stopped, numbers) = (self.stopped, self.models.numbers);
        let (mut discoverer, without) = match self.discoverer(system, &database, &lexicon)? {
            Ok(found) => found,
            Err(why) => return Ok(Err(why)),
        };
        let place = made.directory.join(format!("{system}.tsv"));
        let mut how = vec![discoverer.described()];
        how.extend(system.asks_a_language_model().then(|| numbers.to_string()));
        how.push(format!("fnstore {}", env!("CARGO_PKG_VERSION")));
        let head = format!("# {system}: {}\n", how.join("; "));
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
            write(&place, &head, &searched)?;
        }
        bar.finish_and_clear();
        let lus = searched.iter().flat_map(|(frame, lus)| {
            lus.iter().map(|(lu, score)| (frame.as_str(), lu.as_str(), f64::from(*score)))
        });
        Ok(Ok(Some((Answers::new(lus), without))))
    }

    /// The search of a system with what it has to do without, or why there is none.
    fn discoverer<'d>(
        &'d mut self,
        system: System,
        database: &'d Database,
        lexicon: &Lexicon<'_>,
    ) -> anyhow::Result<Result<(Discoverer<'d>, Missing), String>> {
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
        if system.asks_a_language_model() && !discoverer.asks() {
            let language = || "the verifier is made for another language".to_owned();
            return Ok(Err(unasked.clone().unwrap_or_else(language)));
        }
        let discoverer = match system {
            System::LanguageModel => discoverer.by_slot_alone(),
            System::Discover => discoverer.with_rewriter(rewriter.as_mut()),
            _ => discoverer,
        };
        let (sources, mut without) = (system.sources(), discoverer.missing());
        without.retain(|of| sources.contains(of));
        Ok(if without.len() == sources.len() {
            let those = without.join(", no ");
            Err(format!("no {those} of the release's language: nothing leads to a word"))
        } else {
            Ok((discoverer, without))
        })
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

/// Writes down what was found, and how.
pub(super) fn write(place: &Path, head: &str, searched: &Searched) -> anyhow::Result<()> {
    durable::write_file(place, text(head, searched).as_bytes())
        .with_context(|| format!("cannot write `{}`", place.display()))
}

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
pub(super) fn read(place: &Path, head: &str) -> anyhow::Result<Searched> {
    let mut searched = Searched::new();
    if !place.is_file() {
        return Ok(searched);
    }
    let failed = || format!("cannot use `{}`", place.display());
    let text = std::fs::read_to_string(place).with_context(failed)?;
    let Some(lines) = text.strip_prefix(head) else {
        bail!(
            "`{}` was made in another way, by `{}`: remove it, or name another directory with \
             `--work`",
            place.display(),
            text.lines().next().unwrap_or_default()
        );
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
            bail!(
                "`{}`:{}: expected a name, a word and a score; remove the file",
                place.display(),
                at + 2
            );
        };
        of_frame.push((lu.to_owned(), score));
    }
    Ok(searched)
}
