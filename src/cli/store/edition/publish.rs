//! `fnstore edition publish`: an edition as a data set.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use fnstore::database::Database;
use fnstore::exchange::WordTagger;
use fnstore::publish::{Published, Publishing, sets_of};
use fnstore::text::fold;

use crate::cli::options::splits::SplitArgs;
use crate::cli::options::tagger::{TaggerArgs, TaggerOnDemand};
use crate::cli::print::output::{Format, Output, counted, size};
use crate::cli::print::progress;
use crate::cli::print::render::Block;
use crate::cli::process::stop;
use crate::cli::{Context, Outcome};

#[derive(Debug, clap::Args)]
pub(super) struct PublishArgs {
    /// Name of the edition
    name: String,

    /// Directory to write; it is not there yet, or is empty
    directory: PathBuf,

    /// Licence of the release, as the hub of `datasets` names it [default: cc-by-3.0 for Berkeley
    /// FrameNet's releases]
    #[arg(long, alias = "license", value_name = "ID")]
    licence: Option<String>,

    /// List the sets whose sentences have a word of FILE, one a line
    #[arg(long, value_name = "FILE")]
    sensitive: Option<PathBuf>,

    /// Have the tagger tag every token, some 200 sentences a second on two cores [default: tags are
    /// null]
    #[arg(long)]
    tagged: bool,

    #[command(flatten)]
    splits: SplitArgs,

    #[command(flatten)]
    tagger: TaggerArgs,
}

impl Block for Published {
    const COLUMNS: &'static [&'static str] =
        &["edition", "directory", "parts", "leaking", "flagged", "licence", "files"];

    fn lay_out(&self, output: &mut Output) -> anyhow::Result<()> {
        output.heading(&format!("{} in {}", self.edition, self.directory.display()))?;
        for part in &self.parts {
            let rows = counted(part.sentences, "sentence");
            let sets = counted(part.sets, "annotation set");
            output.line(&format!("  {:<10} {rows}, {sets}", part.split.as_str()))?;
        }
        if self.leaking > 0 {
            let sets = counted(self.leaking, "training set");
            output.line(&format!("  {:<10} {sets}, in dev or test, too", "left out"))?;
        }
        if let Some(flagged) = self.flagged {
            let sets = counted(flagged, "annotation set");
            output.line(&format!("  {:<10} {sets}, in `flagged.tsv`", "sensitive"))?;
        }
        let bytes = self.files.iter().map(|file| file.bytes).sum();
        let files = counted(self.files.len() as u64, "file");
        output.line(&format!("  {:<10} {}", "licence", self.licence))?;
        output.line(&format!("  {:<10} {files}, {}", "written", size(bytes)))?;
        Ok(())
    }
}

pub(super) fn run(
    release: Option<&str>,
    args: PublishArgs,
    context: &mut Context,
) -> anyhow::Result<Outcome> {
    stop::clean_up()?;
    let PublishArgs { name, directory, licence, sensitive, tagged, splits, tagger } = args;
    let sensitive = sensitive.as_deref().map(words_of).transpose()?;
    let database = Database::open(&context.store)?;
    let (id, edition) = database.edition(release, &name)?;
    let named = super::called(&database, id)?;
    // Parts are those of the list that the edition was made under, where none is named.
    let expression = sets_of(&named, &edition.name)?;
    let database = splits.over_query(&expression, || Database::open(&context.store))?;
    let release = database.release(&named)?;
    let tagger = TaggerOnDemand::new(tagger, true);
    let asked = Publishing {
        release: &release,
        edition: &edition,
        licence: licence.as_deref(),
        sensitive: sensitive.as_ref(),
        tagger: tagged.then_some(&tagger as &dyn WordTagger),
    };
    let bar = progress::bar("publishing", "files");
    let published = database.publish(&directory, &asked, &mut |file| {
        bar.set_message(file.to_owned());
        bar.inc(1);
    });
    bar.finish_and_clear();
    let mut records = context.output.records(Format::Table);
    records.block(&published?)?;
    records.end_blocks::<Published>()?;
    Ok(Outcome::Done)
}

/// The words of a list, one a line; lines that begin with `#` are remarks.
fn words_of(path: &Path) -> anyhow::Result<BTreeSet<String>> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the words of `{}`", path.display()))?;
    let lines = text.lines().map(str::trim);
    Ok(lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(fold).collect())
}
