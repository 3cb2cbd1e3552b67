//! `fnstore links`: links of LUs and FEs to other lexicons, and what people decide of them.

mod decide;

use fnstore::database::Database;
use fnstore::internals::WithStore as _;
use fnstore::lexicon::Lexicon;
use fnstore::link::{LinkFate, frame_synsets};
use fnstore::model::{FeId, Frame, Link, LinkSubject};
use fnstore::query::Pattern;
use fnstore::store::NameKind;
use serde::Serialize;

use crate::cli::options::listing::{Listing, Rows, names, names_or_all};
use crate::cli::print::linked::{Glosses, LinkRecord};
use crate::cli::print::output::tell;
use crate::cli::print::render::Row;
use crate::cli::{Context, Outcome};

/// List and decide on links of LUs and FEs to other lexicons
///
/// A row for each link that `fnstore link` computed or somebody added, the likeliest of an LU
/// first. One that was rejected stays, and counts no longer. Every decision is recorded and can be
/// undone.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,

    /// Names of frames: `Verification`, `Ver*`, or `~` and a regular expression; all when left out
    #[arg(value_name = "FRAME")]
    frame: Vec<String>,

    /// List only links of LUs of this name; a name or pattern
    #[arg(long, value_name = "NAME")]
    lu: Option<String>,

    /// List only links to this lexicon
    #[arg(long, value_name = "NAME")]
    resource: Option<String>,

    /// List the synsets of whole frames: each with the mean score over the frame's LUs
    #[arg(long, conflicts_with = "lu")]
    by_frame: bool,

    /// Also list links that were rejected
    #[arg(long)]
    with_rejected: bool,

    #[command(flatten)]
    rows: Rows,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Say that a link holds; one that was not computed is added
    Accept(decide::Args),
    /// Say that a link does not hold
    Reject(decide::Args),
    /// Undo the last decision on a link
    Undo(decide::Args),
}

const EXAMPLES: &str = "\
Examples:
  fnstore links Verification --lu 'confirm*'
  fnstore links --by-frame --limit 20
  fnstore links accept Verification confirm.v 00664788-v --reviewer kim
  fnstore links reject Verification Inspector check-35.9:Agent --reviewer kim
  fnstore links --format tsv > links.tsv";

/// A link as JSON; see `schema/links.schema.json`.
#[derive(Debug, Serialize)]
pub(super) struct LinkRow<'a> {
    release: &'a str,
    frame: &'a str,
    /// What is linked. JSON `{"enum": ["lu", "fe", "frame"]}`.
    kind: &'static str,
    /// Its name: the LU's, as in `check.v`, the FE's, or the frame's.
    name: &'a str,
    #[serde(flatten)]
    link: LinkRecord,
    /// A synset's words and gloss, a class's words, what a roleset or role means.
    gloss: String,
}

impl Row for LinkRow<'_> {
    const COLUMNS: &'static [&'static str] = &[
        "release", "frame", "kind", "name", "resource", "target", "role", "score", "source",
        "decision", "gloss",
    ];
    const TABLE_COLUMNS: &'static [&'static str] =
        &["frame", "name", "target", "role", "score", "source", "decision", "gloss"];
}

/// The name of what is linked.
pub(super) fn name_of(
    lexicon: &Lexicon<'_>,
    frame: &Frame,
    of: LinkSubject,
) -> anyhow::Result<Option<(&'static str, String)>> {
    Ok(match of {
        LinkSubject::LexUnit(lu) => lexicon.lu_of_frame(frame.id, lu)?.map(|lu| ("lu", lu.name)),
        LinkSubject::Element(fe) => element(frame, fe).map(|name| ("fe", name.to_owned())),
    })
}

fn element(frame: &Frame, fe: FeId) -> Option<&str> {
    frame.elements.iter().find(|element| element.id == fe).map(|element| &*element.name)
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    match &args.command {
        Some(Command::Accept(of)) => decide::run(of, LinkFate::Accept, context),
        Some(Command::Reject(of)) => decide::run(of, LinkFate::Reject, context),
        Some(Command::Undo(of)) => decide::run(of, LinkFate::Undo, context),
        None => list(&args, context),
    }
}

fn list(args: &Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let database = Database::open(&context.store)?;
    let frames = match args.frame.as_slice() {
        [] => vec![names_or_all("frame", &[])?],
        named => named.iter().map(|name| names("frame", name)).collect::<Result<_, _>>()?,
    };
    let lus =
        args.lu.as_ref().map(|lu| names_or_all("lu", std::slice::from_ref(lu))).transpose()?;
    for frames in &frames {
        database.require_name(NameKind::Frame, frames)?;
    }
    if let Some(lus) = &lus {
        database.require_name(NameKind::LexUnit, lus)?;
    }
    if let Some(name) = &args.resource {
        database.resource(name)?;
    }
    let glosses = Glosses::new(&database)?;
    let (lexicons, mut listing) = args.rows.of(&database, &mut context.output)?;
    'releases: for lexicon in &lexicons {
        for frame in found(lexicon, &frames)? {
            let of = Of { database: &database, lexicon, frame: &frame, glosses: &glosses, args };
            let goes_on = match args.by_frame {
                true => of.synsets(&mut listing)?,
                false => of.links(lus.as_ref(), &mut listing)?,
            };
            if !goes_on {
                break 'releases;
            }
        }
    }
    let outcome = listing.end::<LinkRow<'_>>()?;
    if outcome == Outcome::NothingFound {
        tell("no links; `fnstore link` computes them");
    }
    Ok(outcome)
}

/// The frames of a release that some names name.
fn found(lexicon: &Lexicon<'_>, names: &[Pattern]) -> anyhow::Result<Vec<Frame>> {
    let mut found = Vec::new();
    for names in names {
        for frame in lexicon.find_frames(names)? {
            found.push(frame?);
        }
    }
    Ok(found)
}

/// A frame whose links are listed.
struct Of<'l> {
    database: &'l Database,
    lexicon: &'l Lexicon<'l>,
    frame: &'l Frame,
    glosses: &'l Glosses<'l>,
    args: &'l Args,
}

impl Of<'_> {
    fn is_wanted(&self, link: &Link) -> bool {
        let is_of = self.args.resource.as_ref().is_none_or(|name| link.resource == *name);
        is_of && (self.args.with_rejected || link.stands())
    }

    fn row(
        &self,
        (kind, name): (&'static str, &str),
        link: &Link,
        listing: &mut Listing<'_>,
    ) -> anyhow::Result<bool> {
        listing.row(&LinkRow {
            release: &self.lexicon.release().name,
            frame: &self.frame.name,
            kind,
            name,
            link: LinkRecord::new(link),
            gloss: self.glosses.of(link)?,
        })
    }

    /// Lists links; whether more rows are wanted.
    fn links(&self, lus: Option<&Pattern>, listing: &mut Listing<'_>) -> anyhow::Result<bool> {
        let release = self.lexicon.release().id;
        for row in self.database.store().links_of(release, self.frame.id)? {
            let row = row?;
            let Some((kind, name)) = name_of(self.lexicon, self.frame, row.of)? else { continue };
            if lus.is_some_and(|lus| kind != "lu" || !lus.matches(&name)) {
                continue;
            }
            for link in row.links.iter().filter(|link| self.is_wanted(link)) {
                if !self.row((kind, &name), link, listing)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Lists the synsets of the frame; whether more rows are wanted.
    fn synsets(&self, listing: &mut Listing<'_>) -> anyhow::Result<bool> {
        let all = frame_synsets(self.database, self.lexicon.release(), self.frame.id)?;
        for (link, _) in all.iter().filter(|(link, _)| self.is_wanted(link)) {
            if !self.row(("frame", &self.frame.name), link, listing)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
