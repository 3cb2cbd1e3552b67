//! Substitutes in context, on a file of SWORDS: what systems say in a word's place.

use std::path::PathBuf;

use anyhow::Context as _;
use fnstore::discover::words_near;
use fnstore::durable;
use fnstore::engine::{Fingerprint, Numbers};
use fnstore::lexicon::Wordnet;
use fnstore::model::{Declared, is_english};
use fnstore::paraphrase::{ParaphraseError, Paraphraser, Settings};
use fnstore::proposals::benchmark::{Substitutes, Swords, SwordsTarget};
use fnstore::text::Morphology;
use fnstore::vectors::WordVectors;

use super::Args;
use super::part::Part;
use super::report::{Document, LeftOut, SubstitutesRecord};
use super::system::{Runner, Searched, System, read, write};
use crate::cli::options::searcher::SearchModels;
use crate::cli::print::output::counted;
use crate::cli::print::progress;

/// Substitutes that are looked for.
const MOST: usize = 60;
/// Targets after which what was found is written down.
const TOGETHER: usize = 20;

/// A file of SWORDS, and where answers are kept.
pub(super) struct SwordsPart {
    swords: Swords,
    directory: PathBuf,
    others: Vec<(String, Substitutes)>,
}

impl SwordsPart {
    /// Reads the file that `--swords` names, and the substitutes of other systems.
    pub(super) fn open(args: &Args, others: Vec<(Part, PathBuf)>) -> anyhow::Result<Self> {
        let file = args.swords.as_ref();
        let file = file.context("`--parts swords` asks for a file: name it with `--swords`")?;
        let swords = Swords::read(file)?;
        let said = |(_, path): (Part, PathBuf)| {
            Ok((path.display().to_string(), Substitutes::read(&path, &swords)?))
        };
        let others = others.into_iter().map(said).collect::<anyhow::Result<_>>()?;
        Ok(Self { swords, directory: args.work.join(Part::Swords.as_str()), others })
    }

    /// Runs and measures systems; says whether they came to an end.
    pub(super) fn measure(
        &self,
        count: usize,
        systems: &[System],
        runner: &mut Runner<'_>,
        document: &mut Document,
    ) -> anyhow::Result<bool> {
        let all = self.swords.targets.len();
        let count = count.min(all);
        if count < all {
            let why = format!("`--frames` leaves out {}", counted((all - count) as u64, "target"));
            document.left_out.push(LeftOut::part(Part::Swords, why));
        }
        for system in System::all() {
            let found = match systems.contains(&system) {
                true => self.run(system, count, runner)?,
                false => Err("`--systems` leaves it out".to_owned()),
            };
            match found {
                Ok(Some(said)) => {
                    let record =
                        SubstitutesRecord::new(system.as_str(), count, (&self.swords, &said));
                    document.substitutes.push(record);
                }
                Ok(None) => return Ok(false),
                Err(why) => document.left_out.push(LeftOut::system(Part::Swords, system, why)),
            }
        }
        for (name, said) in &self.others {
            document.substitutes.push(SubstitutesRecord::new(name, count, (&self.swords, said)));
        }
        Ok(true)
    }

    /// What a system says in place of the first targets; why it says nothing, and nothing where it
    /// was interrupted.
    fn run(
        &self,
        system: System,
        count: usize,
        runner: &mut Runner<'_>,
    ) -> anyhow::Result<Result<Option<Substitutes>, String>> {
        let numbers = runner.models.numbers;
        let mut wordnets = runner.wordnets_of.wordnets()?;
        wordnets.retain(|of| is_english(&of.resource().language));
        let mut source = match source(system, &wordnets, &mut runner.models) {
            Ok(source) => source,
            Err(why) => return Ok(Err(why)),
        };
        let how = format!("{}; SWORDS {}", source.described(numbers), self.swords.fingerprint);
        let head = format!("# {system}: {how}; fnstore {}\n", env!("CARGO_PKG_VERSION"));
        let place = self.directory.join(format!("{system}.tsv"));
        let mut searched = read(&place, &head)?;
        let bar = progress::bar(system.as_str(), "targets");
        bar.set_length(count as u64);
        durable::create_directory(&self.directory)
            .with_context(|| format!("cannot write to `{}`", self.directory.display()))?;
        let (mut is_stopped, mut new) = (false, 0);
        for (at, target) in self.swords.targets.iter().take(count).enumerate() {
            bar.set_position(at as u64);
            if searched.contains_key(&target.id) {
                continue;
            }
            is_stopped = (runner.stopped)();
            if is_stopped {
                break;
            }
            searched.insert(target.id.clone(), source.words(target)?);
            new += 1;
            if new % TOGETHER == 0 {
                write(&place, &head, &searched)?;
            }
        }
        bar.finish_and_clear();
        if new > 0 {
            write(&place, &head, &searched)?;
        }
        Ok(Ok((!is_stopped).then(|| substitutes(&searched))))
    }
}

/// What gives words in a target's place.
enum Source<'s> {
    Wordnets(&'s [Wordnet<'s>]),
    Vectors(&'s WordVectors),
    Rewriter(&'s mut Paraphraser),
}

/// Where a system has its words from, or why it has none.
fn source<'s>(
    system: System,
    wordnets: &'s [Wordnet<'s>],
    models: &'s mut SearchModels,
) -> Result<Source<'s>, String> {
    let is_told = |of: &Declared| of.check("SWORDS", "en").is_ok();
    match system {
        System::Wordnet if !wordnets.is_empty() => Ok(Source::Wordnets(wordnets)),
        System::Wordnet => Err("no WordNet of English".to_owned()),
        System::Vectors => {
            let vectors = models.vectors.as_ref().filter(|of| is_told(of.declared()));
            vectors.map(Source::Vectors).ok_or_else(|| "no word vectors of English".to_owned())
        }
        System::LanguageModel => {
            let rewriter = models.rewriter.as_mut();
            let rewriter = rewriter.filter(|of| of.prompt().is_some() && is_told(of.declared()));
            let why = || "no rewriter that is a language model of English".to_owned();
            rewriter.map(Source::Rewriter).ok_or_else(why)
        }
        System::Discover | System::None => Err("it asks about frames".to_owned()),
    }
}

impl Source<'_> {
    /// What the words depend on.
    fn described(&self, numbers: Numbers) -> String {
        let half = |of: Fingerprint| of.to_string()[..16].to_owned();
        match self {
            Self::Wordnets(of) => {
                let names = of.iter().map(|of| of.resource().name.as_str());
                names.collect::<Vec<_>>().join("; ")
            }
            Self::Vectors(of) => format!("word vectors {}", half(of.fingerprint())),
            Self::Rewriter(of) => format!("rewriter {}; {numbers}", half(of.fingerprint())),
        }
    }

    fn words(&mut self, of: &SwordsTarget) -> anyhow::Result<Vec<(String, f32)>> {
        let target = of.target.of(&of.text).unwrap_or_default();
        let morphology = Morphology::English;
        let lemma = morphology.lemmatize(target, of.pos, &|_, _| false).0;
        let mut words = match self {
            Self::Wordnets(wordnets) => words_near((wordnets, None), (&lemma, of.pos))?,
            Self::Vectors(vectors) => words_near((&[], Some(vectors)), (&lemma, of.pos))?,
            Self::Rewriter(rewriter) => {
                let avoid = morphology.forms_of_target(target);
                // The model's context is the only limit.
                let settings = Settings { max_source_pieces: usize::MAX, ..Settings::default() };
                match rewriter.substitutes(&of.text, of.target, &avoid, &settings) {
                    Ok(found) => found.into_iter().map(|of| (of.text, of.log_prob)).collect(),
                    Err(ParaphraseError::Refused(_)) => Vec::new(),
                    Err(error) => return Err(error.into()),
                }
            }
        };
        words.truncate(MOST);
        Ok(words)
    }
}

fn substitutes(searched: &Searched) -> Substitutes {
    Substitutes::new(searched.iter().flat_map(|(target, words)| {
        words.iter().map(|(word, score)| (target.as_str(), word.as_str(), f64::from(*score)))
    }))
}
