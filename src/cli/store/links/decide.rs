//! `fnstore links accept`, `reject` and `undo`.

use anyhow::bail;
use fnstore::database::{Database, DatabaseError, LookupError};
use fnstore::lexicon::Lexicon;
use fnstore::link::{LinkFate, LinkPlace, element_called};
use fnstore::model::{Frame, LinkSubject, Reviewed};
use fnstore::query::{Case, Pattern, nearest};
use fnstore::store::NameKind;
use fnstore::text::fold;

use super::LinkRow;
use crate::cli::options::author::{reviewer, sign};
use crate::cli::options::release::release;
use crate::cli::print::linked::{Glosses, LinkRecord};
use crate::cli::print::notices::{tell_index_lag, tell_of_index};
use crate::cli::print::output::tell;
use crate::cli::print::render::ONE_ROW;
use crate::cli::store::edit::now;
use crate::cli::{Context, Outcome};

/// A link, and who decides on it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Frame of the LU or FE
    frame: String,

    /// Name of the LU, as in `check.v`, or its number, or name of the FE
    name: String,

    /// A synset's id, the name of a class or roleset, or that and a role: `00001064-v`,
    /// `leave-51.2`, `abandon.01:0`
    target: String,

    /// The lexicon that has the target, where several have it
    #[arg(long, value_name = "NAME")]
    resource: Option<String>,

    /// Name of the reviewer [default: FNSTORE_AUTHOR, or the login name]
    #[arg(long, value_name = "NAME")]
    reviewer: Option<String>,

    /// Record this reason
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    note: String,

    /// The release [default: the only one]
    #[arg(long, value_name = "NAME")]
    release: Option<String>,
}

/// The LU of a frame of a name, else the FE.
fn subject(lexicon: &Lexicon<'_>, frame: &Frame, name: &str) -> anyhow::Result<LinkSubject> {
    let mut names: Vec<String> = frame.elements.iter().map(|of| of.name.clone()).collect();
    let mut found = Vec::new();
    for lu in lexicon.lus_of(frame.id)? {
        let lu = lu?;
        if fold(&lu.name) == fold(name) || lu.id.0.to_string() == name {
            found.push(lu.id);
        }
        names.push(lu.name);
    }
    match (found.as_slice(), element_called(frame, name)) {
        ([lu], _) => Ok(LinkSubject::LexUnit(*lu)),
        ([], Some(fe)) => Ok(LinkSubject::Element(fe)),
        ([], None) => Err(DatabaseError::Lookup(LookupError::UnknownName {
            kind: "LU or FE of the frame",
            name: name.to_owned(),
            nearest: nearest(name, &names).cloned(),
        })
        .into()),
        (several, _) => {
            let ids: Vec<String> = several.iter().map(|lu| lu.0.to_string()).collect();
            bail!("the frame has {} LUs `{name}`; expected a number: {}", ids.len(), ids.join(", "))
        }
    }
}

pub(super) fn run(args: &Args, fate: LinkFate, context: &mut Context) -> anyhow::Result<Outcome> {
    let database = Database::open_existing_writer(&context.store)?;
    tell_of_index(&database);
    sign(&database);
    let release = release(&database, args.release.as_deref())?;
    let lexicon = database.lexicon(&release.name)?;
    let pattern = Pattern::exact(&args.frame, Case::Fold);
    database.require_name(NameKind::Frame, &pattern)?;
    let Some(frame) = lexicon.find_frames(&pattern)?.next().transpose()? else {
        bail!("there is no frame `{}` in the release `{}`", args.frame, release.name);
    };
    let place = LinkPlace {
        release: release.id,
        frame: frame.id,
        of: subject(&lexicon, &frame, &args.name)?,
        target: args.target.clone(),
        resource: args.resource.clone(),
    };
    let reviewer = reviewer(args.reviewer.clone());
    let by = Reviewed { reviewer, time: now(), note: args.note.clone() };
    let link = database.decide_link(&place, fate, by)?;
    tell_index_lag(&database);
    let Some((kind, name)) = super::name_of(&lexicon, &frame, place.of)? else {
        return Ok(Outcome::NothingFound);
    };
    let row = LinkRow {
        release: &release.name,
        frame: &frame.name,
        kind,
        name: &name,
        link: LinkRecord::new(&link),
        gloss: Glosses::new(&database)?.of(&link)?,
    };
    context.output.report(&row, ONE_ROW, |_| {
        tell(&format!("{name}: {}", row.link.line()));
        Ok(())
    })?;
    Ok(Outcome::Done)
}
