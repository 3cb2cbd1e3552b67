//! `fnstore proposals accept`, `reject`, `move`, `merge`, `undo` and `decisions`.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use fnstore::database::{Database, DatabaseError, LookupError};
use fnstore::edit::Fate;
use fnstore::expand;
use fnstore::identify::FrameIdentifier;
use fnstore::internals::WithStore as _;
use fnstore::model::{
    ACCEPTED, AnnotationSetId, FrameId, LexUnit, LuId, PROPOSED, Release, ReleaseId, Reviewed,
};
use fnstore::proposals::{Proposals, decisions};
use fnstore::query::{Case, Pattern, nearest};
use fnstore::store::NameKind;
use fnstore::text::{self, fold};
use fnstore::vectors::WordVectors;

use super::RankingArgs;
use super::decided::DecidedRecord;
use crate::cli::options::author::{reviewer, sign};
use crate::cli::options::identifier;
use crate::cli::options::release::release;
use crate::cli::print::notices::{tell_index_lag, tell_of_index};
use crate::cli::print::output::{Format, tell};
use crate::cli::print::render::ONE_ROW;
use crate::cli::store::edit::now;
use crate::cli::{Context, Outcome};

/// A proposal, and who decides on it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Frame of the proposal
    pub(crate) frame: String,

    /// Name of the proposed LU, as in `vet.v`
    pub(crate) lu: String,

    /// Name of the reviewer [default: FNSTORE_AUTHOR, or the login name]
    #[arg(long, value_name = "NAME")]
    pub(crate) reviewer: Option<String>,

    /// Record this reason
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub(crate) note: String,

    /// The release [default: the only one that has the proposal]
    #[arg(long, value_name = "NAME")]
    pub(crate) release: Option<String>,
}

/// What is asked for.
#[derive(Debug)]
pub(crate) enum DecisionRequest {
    Accept,
    Reject,
    Move(String),
    Merge(String),
    Undo,
}

pub(super) fn run(
    args: &Args,
    asked: &DecisionRequest,
    context: &mut Context,
) -> anyhow::Result<Outcome> {
    let vectors = RankingArgs::default().vectors()?;
    let (mut done, unfitted) = carry_out(&context.store, vectors.as_ref(), args, asked)?;
    if let Some(unfitted) = unfitted {
        let fitted = identifier::at_hand().and_then(|model| match model {
            Some(model) => unfitted.fit(&context.store, &model),
            None => Ok(0),
        });
        done.add_fits(fitted);
    }
    context.output.report(&done, ONE_ROW, |_| {
        tell(&done.said());
        Ok(())
    })?;
    Ok(Outcome::Done)
}

/// Sets that a decision gave another frame, which a frame model is to be asked about.
pub(crate) struct Unfitted {
    release: ReleaseId,
    sets: Vec<AnnotationSetId>,
}

impl Unfitted {
    /// Says how likely the frames are that the sets have now. Gives how many have a probability.
    pub(crate) fn fit(&self, store: &Path, model: &FrameIdentifier) -> anyhow::Result<u64> {
        let database = Database::open_existing_writer(store)?;
        let done = expand::refit_sets(&database, self.release, &self.sets, model)?;
        tell_index_lag(&database);
        Ok(done.sets - done.without)
    }
}

/// Does what is asked for. A frame model takes seconds to open, so what is to be asked of it is
/// given back, for when the store is closed.
pub(crate) fn carry_out(
    store: &Path,
    vectors: Option<&WordVectors>,
    args: &Args,
    asked: &DecisionRequest,
) -> anyhow::Result<(DecidedRecord, Option<Unfitted>)> {
    let database = Database::open_existing_writer(store)?;
    tell_of_index(&database);
    sign(&database);
    let release = release_of(&database, args)?;
    let frame = frame_of(&database, &release, &args.frame)?;
    let proposals = Proposals::new(&database, vectors, RankingArgs::default().ranker()?);
    let reviewed = Reviewed {
        reviewer: reviewer(args.reviewer.clone()),
        time: now(),
        note: args.note.clone(),
    };
    let lu = proposed_name(&database, &release, frame, &args.lu)?;
    let of = (frame, lu.as_str());
    let fate = match asked {
        DecisionRequest::Undo => None,
        DecisionRequest::Accept => Some(Fate::Accept),
        DecisionRequest::Reject => Some(Fate::Reject),
        DecisionRequest::Move(to) => Some(Fate::Move(frame_of(&database, &release, to)?)),
        DecisionRequest::Merge(into) => {
            let into_lu = unit_of(&database, &release, frame, into)
                .with_context(|| format!("cannot merge `{lu}` of `{}`", args.frame))?;
            Some(Fate::Merge(into_lu))
        }
    };
    let standing = database.store().decisions(release.id, frame, &lu)?;
    let standing = standing.and_then(|decided| Some(decided.standing()?.reviewer.clone()));
    let decided_by = standing.filter(|_| fate.is_none());
    let (verdict, handed_over) = match fate {
        Some(fate) => (fate.verdict(), proposals.decide(release.id, of, fate, reviewed)?),
        None => proposals.undo(release.id, of, reviewed)?,
    };
    tell_index_lag(&database);
    let record = DecidedRecord::new(
        &release,
        [&args.frame, &lu],
        (asked, verdict, decided_by),
        &handed_over,
    );
    let sets = handed_over.unfitted;
    let unfitted = (!sets.is_empty()).then_some(Unfitted { release: release.id, sets });
    Ok((record, unfitted))
}

/// The release that is named, else the only one that has the proposal.
fn release_of(database: &Database, args: &Args) -> anyhow::Result<Release> {
    if args.release.is_some() {
        return release(database, args.release.as_deref());
    }
    let has_it = |release: &Release| {
        let frame = frame_of(database, release, &args.frame);
        frame.is_ok_and(|frame| proposed_name(database, release, frame, &args.lu).is_ok())
    };
    let mut having = database.releases()?;
    having.retain(has_it);
    let names: Vec<&str> = having.iter().map(|release| release.name.as_str()).collect();
    ensure!(
        having.len() < 2,
        "`{}` of `{}` is proposed in the releases `{}`; say which with `--release NAME`",
        args.lu,
        args.frame,
        names.join("`, `")
    );
    // Where none has it, one of the frame says what is there.
    having.pop().map_or_else(|| with_frame(database, &args.frame), Ok)
}

/// A release that has a frame; else the first.
fn with_frame(database: &Database, frame: &str) -> anyhow::Result<Release> {
    let mut releases = database.releases()?;
    let has_it = |of: &Release| frame_of(database, of, frame).is_ok();
    match releases.iter().position(has_it) {
        Some(at) => Ok(releases.swap_remove(at)),
        None if releases.is_empty() => release(database, None),
        None => Ok(releases.swap_remove(0)),
    }
}

/// The frame of a name, as it is spelled or else in any letter case.
fn frame_of(database: &Database, release: &Release, name: &str) -> anyhow::Result<FrameId> {
    let lexicon = database.lexicon(&release.name)?;
    if let Some(frame) = lexicon.frame_by_name(name)? {
        return Ok(frame.id);
    }
    let folded = Pattern::exact(name, Case::Fold);
    database.require_name(NameKind::Frame, &folded)?;
    let found = lexicon.find_frames(&folded)?.collect::<Result<Vec<_>, _>>()?;
    match found.as_slice() {
        [frame] => Ok(frame.id),
        [] => bail!("there is no frame `{name}` in the release `{}`", release.name),
        several => Err(ambiguous("frame", name, several.iter().map(|frame| &frame.name)).into()),
    }
}

/// The error for a name that several have.
fn ambiguous<'n>(
    kind: &'static str,
    name: &str,
    choices: impl Iterator<Item = &'n String>,
) -> DatabaseError {
    let choices = choices.map(|choice| format!("`{choice}`")).collect();
    DatabaseError::Lookup(LookupError::Ambiguous { kind, name: name.to_owned(), choices })
}

/// The LU of a frame that is no proposal, by its name, or by its number if two have the name.
fn unit_of(
    database: &Database,
    release: &Release,
    frame: FrameId,
    asked: &str,
) -> anyhow::Result<LuId> {
    let lexunits =
        database.store().lexunits_of(release.id, frame)?.collect::<Result<Vec<_>, _>>()?;
    let (proposed, own): (Vec<LexUnit>, Vec<LexUnit>) =
        lexunits.into_iter().partition(|lu| lu.status == PROPOSED);
    if let Some(lu) = own.iter().find(|lu| lu.id.0.to_string() == asked) {
        return Ok(lu.id);
    }
    if !is_named(&own, asked) && is_named(&proposed, asked) {
        bail!("`{asked}` is itself a proposal; expected an LU of the frame's lexicon");
    }
    let name = called(&own, "LU", asked)?;
    let ids: Vec<String> =
        own.iter().filter(|lu| lu.name == name).map(|lu| lu.id.0.to_string()).collect();
    match ids.as_slice() {
        [_] => Ok(own.iter().find(|lu| lu.name == name).map(|lu| lu.id).expect("one has the name")),
        ids => {
            bail!("the frame has {} LUs `{name}`; expected a number: {}", ids.len(), ids.join(", "))
        }
    }
}

fn is_named(lexunits: &[LexUnit], name: &str) -> bool {
    lexunits.iter().any(|lu| fold(&lu.name) == fold(name))
}

/// The name that an LU of these has: as it was asked for, composed or not, else the only one in
/// another letter case.
fn called(lexunits: &[LexUnit], kind: &'static str, asked: &str) -> Result<String, DatabaseError> {
    let names = || lexunits.iter().map(|lu| &lu.name);
    if let Some(spelled) = text::called(names(), asked, |name| name).first() {
        return Ok((*spelled).clone());
    }
    let folded: BTreeSet<&String> = names().filter(|name| fold(name) == fold(asked)).collect();
    match (folded.len(), folded.first()) {
        (1, Some(only)) => Ok((*only).clone()),
        (0, _) => Err(DatabaseError::Lookup(LookupError::UnknownName {
            kind,
            name: asked.to_owned(),
            nearest: nearest(asked, names()).cloned(),
        })),
        _ => Err(ambiguous(kind, asked, folded.into_iter())),
    }
}

/// The proposed LU of a frame that is meant.
fn proposed_name(
    database: &Database,
    release: &Release,
    frame: FrameId,
    asked: &str,
) -> anyhow::Result<String> {
    let lexunits =
        database.store().lexunits_of(release.id, frame)?.collect::<Result<Vec<_>, _>>()?;
    // A decision may stand on an LU that is proposed no longer: `undo` asks for it.
    let decided = database.store().all_decisions(release.id)?.collect::<Result<Vec<_>, _>>()?;
    let decided = decided.into_iter().filter(|decided| decided.frame == frame);
    if let Some(decided) = text::called(decided, asked, |decided| &decided.name).pop() {
        return Ok(decided.name);
    }
    let is_open = |lu: &LexUnit| [PROPOSED, ACCEPTED].contains(&lu.status.as_str());
    let open: Vec<LexUnit> = lexunits.into_iter().filter(is_open).collect();
    Ok(called(&open, "proposed LU", asked)?)
}

/// Lists all decisions.
pub(super) fn list(release: Option<&str>, context: &mut Context) -> anyhow::Result<Outcome> {
    let database = Database::open(&context.store)?;
    let releases = match release {
        Some(name) => vec![database.release(name)?],
        None => database.releases()?,
    };
    let rows = decisions(&database, &releases)?;
    let is_empty = rows.is_empty();
    context.output.rows(Format::Jsonl, rows)?;
    Outcome::or_tell(!is_empty, "nobody has decided on a proposal", &mut context.output)
}
