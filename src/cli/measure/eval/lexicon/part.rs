//! The parts of the benchmark, and their places in the work directory.

use std::path::PathBuf;

use anyhow::{Context as _, ensure};
use fnstore::database::Database;
use fnstore::durable;
use fnstore::lexicon::Lexicon;
use fnstore::named;
use fnstore::proposals::benchmark::{Answers, Draw, Questions};

use super::Args;
use crate::cli::print::output::{counted, tell};

named! {
    /// A part of the benchmark: a way to hide LUs, or words in place of others.
    pub(super) enum Part {
        /// A fifth of the LUs of 100 frames, drawn by chance.
        Hidden => "hidden",
        /// The LUs that a later release adds, `--later`.
        Later => "later",
        /// All but three LUs of the 20 earliest frames, as in Culkin et al. 2021, section 6.1.
        Scratch => "scratch",
        /// Substitutes in context, of the file that `--swords` names.
        Swords => "swords",
    }
}

/// The questions of a part, with the store that systems see.
pub(super) struct Prepared {
    pub(super) part: Part,
    pub(super) questions: Questions,
    pub(super) directory: PathBuf,
}

impl Prepared {
    pub(super) fn store(&self) -> PathBuf {
        self.directory.join("store")
    }
}

impl Part {
    /// Writes the questions, unless they are there; or says why there are none.
    pub(super) fn prepare(
        self,
        args: &Args,
        database: &Database,
        lexicon: &Lexicon<'_>,
    ) -> anyhow::Result<Result<Prepared, String>> {
        let (questions, why_none) = match (self, &args.later) {
            (Self::Hidden, _) => {
                let of_args = Draw { least: args.least.get(), seed: args.seed, ..Draw::default() };
                let why = format!("no frame has {} LUs with exemplars (`--least`)", args.least);
                (Questions::hidden(lexicon, of_args)?, why)
            }
            (Self::Later, None) => return Ok(Err("`--later` names no release".to_owned())),
            (Self::Later, Some(later)) => {
                let why = format!("`{later}` adds no LU to a frame");
                let later = database.lexicon(later.as_str())?;
                (Questions::later(lexicon, &later, args.seed)?, why)
            }
            (Self::Scratch, _) => {
                let why = "no early frame has four LUs with annotation".to_owned();
                (Questions::scratch(lexicon)?, why)
            }
            (Self::Swords, _) => return Ok(Err("it has no questions to write".to_owned())),
        };
        if questions.frames.is_empty() {
            return Ok(Err(why_none));
        }
        let directory = args.work.join(self.as_str());
        let made = Prepared { part: self, questions, directory };
        made.write(database)?;
        Ok(Ok(made))
    }
}

impl Prepared {
    fn write(&self, source: &Database) -> anyhow::Result<()> {
        let Self { part, questions, directory } = self;
        let failed = || format!("cannot write to `{}`", directory.display());
        let place = directory.join("hidden.tsv");
        let (hidden, visible) = (questions.list(true), questions.list(false));
        if place.is_file() {
            let has = |name: &str, list: &str| {
                std::fs::read_to_string(directory.join(name)).is_ok_and(|there| there == list)
            };
            ensure!(
                has("hidden.tsv", &hidden) && has("visible.tsv", &visible) && self.store().is_dir(),
                "`{}` has other questions; name another directory with `--work`",
                directory.display()
            );
            return Ok(());
        }
        // Whose it is cannot be known.
        ensure!(
            !self.store().exists(),
            "`{}` is there without `hidden.tsv` beside it; remove it, or name another directory \
             with `--work`",
            self.store().display()
        );
        durable::create_directory(directory).with_context(failed)?;
        questions.write_store(source, &self.store())?;
        durable::write_file(&directory.join("visible.tsv"), visible.as_bytes())
            .and_then(|()| durable::write_file(&place, hidden.as_bytes()))
            .with_context(failed)?;
        // Names that differ in brackets alone are one LU.
        let hidden = questions.measure(usize::MAX, &Answers::default()).hidden;
        tell(&format!(
            "{}: {part}, {} of {}: {}",
            directory.display(),
            counted(hidden as u64, "hidden LU"),
            counted(questions.frames.len() as u64, "frame"),
            questions.told
        ));
        Ok(())
    }
}
