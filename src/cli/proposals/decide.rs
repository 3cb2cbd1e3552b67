//! `fnstore proposals accept`, `reject`, `move`, `merge`, `undo` and `decisions`.

use std::path::Path;

use anyhow::{Context as _, bail};
use fnstore::database::Database;
use fnstore::edit::Fate;
use fnstore::model::{FrameId, LuId, PROPOSED, Release};
use fnstore::proposals::{Proposals, Reviewed};
use fnstore::vectors::WordVectors;

use super::super::edit::{now, release};
use super::super::output::{Format, grouped, tell, tell_index_lag};
use super::super::{Context, Outcome, tell_of_index};
use super::RankingArgs;
use super::listed::DecisionRecord;

/// A proposal, and who decides on it.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// Frame of the proposal
    pub(in crate::cli) frame: String,

    /// Name of the proposed LU, as in `vet.v`
    pub(in crate::cli) lu: String,

    /// Who decides
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) reviewer: String,

    /// Why
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub(in crate::cli) note: String,

    /// The release [default: the only one]
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) release: Option<String>,
}

/// What is asked for.
#[derive(Debug)]
pub(in crate::cli) enum Asked {
    Accept,
    Reject,
    Move(String),
    Merge(String),
    Undo,
}

pub(super) fn run(args: &Args, asked: &Asked, context: &mut Context) -> anyhow::Result<Outcome> {
    let vectors = RankingArgs::default().vectors()?;
    tell(&carry_out(&context.store, vectors.as_ref(), args, asked)?);
    Ok(Outcome::Done)
}

/// Does what is asked for, and says what was done.
pub(in crate::cli) fn carry_out(
    store: &Path,
    vectors: Option<&WordVectors>,
    args: &Args,
    asked: &Asked,
) -> anyhow::Result<String> {
    let database = Database::open_existing_writer(store)?;
    tell_of_index(&database);
    let release = release(&database, args.release.as_deref())?;
    let frame = frame_of(&database, &release, &args.frame)?;
    let proposals = Proposals::new(&database, vectors, RankingArgs::default().ranker()?);
    let reviewed =
        Reviewed { reviewer: args.reviewer.clone(), time: now(), note: args.note.clone() };
    let of = (frame, args.lu.as_str());
    let name = format!("`{}` of `{}`", args.lu, args.frame);
    let (fate, done) = match asked {
        Asked::Undo => {
            let verdict = proposals.undo(release.id, of, reviewed)?;
            tell_index_lag(&database);
            return Ok(format!("undone: {} on {name}", verdict.as_str()));
        }
        Asked::Accept => (Fate::Accept, format!("accepted {name}")),
        Asked::Reject => (Fate::Reject, format!("rejected {name}")),
        Asked::Move(to) => {
            let frame = frame_of(&database, &release, to)?;
            (Fate::Move(frame), format!("moved {name} to `{to}`"))
        }
        Asked::Merge(into) => {
            let lu = unit_of(&database, &release, frame, into)
                .with_context(|| format!("cannot merge {name}"))?;
            (Fate::Merge(lu), format!("merged {name} into `{into}`"))
        }
    };
    let moved = proposals.decide(release.id, of, fate, reviewed)?;
    tell_index_lag(&database);
    let sets = match fate {
        Fate::Move(_) | Fate::Merge(_) => format!(", {} annotation sets", grouped(moved)),
        _ => String::new(),
    };
    Ok(format!("{done}{sets}"))
}

fn frame_of(database: &Database, release: &Release, name: &str) -> anyhow::Result<FrameId> {
    let lexicon = database.lexicon(&release.name)?;
    match lexicon.frame_by_name(name)? {
        Some(frame) => Ok(frame.id),
        None => bail!("there is no frame `{name}` in `{}`", release.name),
    }
}

/// The LU of a frame that is no proposal; of two of one name the first.
fn unit_of(
    database: &Database,
    release: &Release,
    frame: FrameId,
    name: &str,
) -> anyhow::Result<LuId> {
    let mut proposed = false;
    for lu in database.store().lexunits_of(release.id, frame)? {
        let lu = lu?;
        if lu.name == name {
            if lu.status != PROPOSED {
                return Ok(lu.id);
            }
            proposed = true;
        }
    }
    if proposed {
        bail!("`{name}` is itself a proposal; expected an LU of the frame's lexicon");
    }
    bail!("the frame has no LU `{name}`; `fnstore lus --frame FRAME` lists what it has")
}

/// Lists all decisions.
pub(super) fn list(release: Option<&str>, context: &mut Context) -> anyhow::Result<Outcome> {
    let database = Database::open(&context.store)?;
    let releases = match release {
        Some(name) => vec![database.release(name)?],
        None => database.releases()?,
    };
    let catalog = database.catalog()?;
    let mut rows = Vec::new();
    for release in &releases {
        for decided in database.store().all_decisions(release.id)? {
            let decided = decided?;
            let frame = catalog.frame(release.id, decided.frame)?;
            for decision in &decided.history {
                let to = match &decision.moved {
                    Some(moved) => Some((
                        catalog.frame(release.id, moved.frame)?.to_string(),
                        catalog.lexunit(release.id, moved.frame, moved.lu)?.to_string(),
                    )),
                    None => None,
                };
                rows.push((
                    release.name.clone(),
                    frame.to_string(),
                    decided.name.clone(),
                    decision.clone(),
                    to,
                ));
            }
        }
    }
    let records = rows.iter().map(|(release, frame, lu, decision, to)| {
        DecisionRecord::new([release, frame, lu], decision, to.clone())
    });
    context.output.rows(Format::Jsonl, records)?;
    if rows.is_empty() {
        context.output.flush()?;
        tell("nobody has decided on a proposal");
        return Ok(Outcome::NothingFound);
    }
    Ok(Outcome::Done)
}
