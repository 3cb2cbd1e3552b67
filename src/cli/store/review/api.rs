//! What the page's script asks: items, decisions, completion, pictures.

use anyhow::{Context as _, bail};
use fnstore::model::AnnotationSetId;
use fnstore::query::{Case, Field, Pattern, quoted};
use fnstore::review::{Decision, Saved};
use serde::Deserialize;
use serde_json::json;

use super::http::Reply;
use super::lexicon_page::Which;
use super::server::HttpRequest;
use super::{Review, item, lexicon_page};
use crate::cli::store::edit::now;
use crate::cli::store::proposals::decide;

/// Completions that are offered.
const OFFERED: usize = 12;

#[derive(Deserialize)]
struct DecisionBody {
    item: usize,
    score: u8,
    #[serde(default)]
    millis: u64,
    #[serde(default)]
    note: String,
}

#[derive(Deserialize)]
struct BulkBody {
    /// Release and set.
    sets: Vec<(String, String)>,
    score: u8,
}

#[derive(Deserialize)]
struct SkipBody {
    item: usize,
    tab: String,
}

#[derive(Deserialize)]
struct LeaveBody {
    tab: String,
}

#[derive(Deserialize)]
struct EditBody {
    item: usize,
    targets: Vec<(u32, u32)>,
    /// The place of the FE that is moved, in place of the target.
    element: Option<usize>,
}

#[derive(Deserialize)]
struct ProposalBody {
    release: String,
    frame: String,
    lu: String,
    verdict: String,
    /// The other frame or LU.
    #[serde(default)]
    to: String,
}

pub(super) fn read(review: &Review, request: &HttpRequest) -> anyhow::Result<Reply> {
    match request.path.as_str() {
        "item" => next_item(review, request),
        "complete" => {
            let names_alone = request.parameter("names") == "1";
            let offered = completions(review, request.parameter("q"), names_alone)?;
            Ok(Reply::json(&json!(offered)))
        }
        "growth.svg" => lexicon_page::growth(review, Which::of(request)),
        _ => lexicon_page::relations_picture(review, Which::of(request)),
    }
}

fn next_item(review: &Review, request: &HttpRequest) -> anyhow::Result<Reply> {
    let session = &review.session;
    let mut after = request.parameter("after").parse().ok();
    let number: Option<usize> = request.parameter("n").parse().ok();
    if let Some(number) = number {
        session.showing(number, request.parameter("tab"))?;
    }
    loop {
        let number = match number {
            Some(number) => number,
            None => match session.next(after, request.parameter("tab"))? {
                Some(number) => number,
                None => {
                    return Ok(Reply::json(
                        &json!({ "end": true, "counts": item::counts(review) }),
                    ));
                }
            },
        };
        match session.view(number) {
            Ok(view) => return Ok(Reply::json(&item::record(review, number, &view))),
            // What was deleted meanwhile is passed over.
            Err(fnstore::review::ReviewError::Gone(_)) if after != Some(number) => {
                after = Some(number);
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn body<T: serde::de::DeserializeOwned>(request: &HttpRequest) -> anyhow::Result<T> {
    serde_json::from_value(request.body.clone())
        .with_context(|| format!("the body of `{}` is not what the page sends", request.path))
}

pub(super) fn change(review: &Review, request: &HttpRequest) -> anyhow::Result<Reply> {
    let session = &review.session;
    match request.path.as_str() {
        "decide" => {
            let decisions: Vec<DecisionBody> = body(request)?;
            let decisions = decisions.into_iter().map(|it| {
                let DecisionBody { item, score, millis, note } = it;
                Decision { item, score, millis, note }
            });
            Ok(saved(review, &session.decide(&decisions.collect::<Vec<_>>(), now())?))
        }
        "bulk" => decide_together(review, body(request)?),
        "skip" => {
            let SkipBody { item, tab } = body(request)?;
            session.skip(item, &tab)?;
            Ok(Reply::json(&json!({ "counts": item::counts(review) })))
        }
        "leave" => {
            let LeaveBody { tab } = body(request)?;
            session.leave(&tab);
            Ok(Reply::json(&json!({})))
        }
        "undo" => undo(review),
        "edit" => edit(review, body(request)?),
        "proposal" => decide_on_proposal(review, body(request)?),
        other => bail!("the page has no `{other}`"),
    }
}

fn decide_together(review: &Review, BulkBody { sets, score }: BulkBody) -> anyhow::Result<Reply> {
    let session = &review.session;
    let (database, mut known) = (session.database()?, Vec::new());
    for (release, set) in &sets {
        let id = AnnotationSetId::of_written(set);
        let id = id.with_context(|| format!("`{set}` is no id of an annotation set"))?;
        known.push((database.release(release)?.id, id));
    }
    let numbers = session.enqueue(&known)?;
    Ok(saved(review, &session.decide_together(&numbers, score, now())?))
}

fn undo(review: &Review) -> anyhow::Result<Reply> {
    let session = &review.session;
    let undone = session.undo()?;
    // What is undone is undone: what cannot be read of it now is shown as undecided.
    let (database, mut sets) = (session.database()?, Vec::new());
    let releases = database.releases()?;
    for (release, set) in undone.sets {
        let score = session.answer(&database, release, set).unwrap_or_default();
        let release = releases.iter().find(|known| known.id == release);
        sets.push(json!([release.map(|release| &release.name), set.to_string(), score]));
    }
    Ok(Reply::json(&json!({ "n": undone.item, "sets": sets, "counts": item::counts(review) })))
}

fn edit(review: &Review, EditBody { item, targets, element }: EditBody) -> anyhow::Result<Reply> {
    let session = &review.session;
    let moved = match (element, targets.as_slice()) {
        (None, _) => session.retarget(item, &targets)?,
        (Some(element), [span]) => session.move_element(item, element, *span)?,
        (Some(_), pieces) => bail!("an FE was sent in {} pieces, expected one", pieces.len()),
    };
    let mut record = item::record(review, item, &session.view(item)?);
    record["moved"] = json!(moved);
    Ok(Reply::json(&record))
}

fn decide_on_proposal(review: &Review, asked: ProposalBody) -> anyhow::Result<Reply> {
    let ProposalBody { release, frame, lu, verdict, to } = asked;
    let verdict = match verdict.as_str() {
        "accept" => decide::DecisionRequest::Accept,
        "reject" => decide::DecisionRequest::Reject,
        "move" => decide::DecisionRequest::Move(to),
        "merge" => decide::DecisionRequest::Merge(to),
        "undo" => decide::DecisionRequest::Undo,
        other => bail!("`{other}` is no decision; expected accept, reject, move, merge or undo"),
    };
    let said = review.propose((release, frame, lu), &verdict)?;
    Ok(Reply::json(&json!({ "said": said })))
}

fn saved(review: &Review, saved: &Saved) -> Reply {
    let gone: Vec<String> = saved.gone.iter().map(ToString::to_string).collect();
    Reply::json(&json!({ "saved": saved.saved, "gone": gone, "counts": item::counts(review) }))
}

/// Whole queries that go on from what is written: fields, their values, names of frames and LUs.
/// Of a field that takes a name alone, the names.
fn completions(review: &Review, text: &str, names_alone: bool) -> anyhow::Result<Vec<String>> {
    let start = text.rfind([' ', '(']).filter(|_| !names_alone).map_or(0, |at| at + 1);
    let (before, word) = text.split_at(start);
    let operator = word.find(['=', '!', '<', '>', '~']);
    let Some(at) = operator else {
        let fields = Field::ALL.iter().map(|field| field.name());
        let fitting = fields.filter(|name| name.starts_with(word) && *name != word);
        return Ok(fitting.take(OFFERED).map(|name| format!("{before}{name}=")).collect());
    };
    let value_at = at + word[at..].find(|c| !"=!<>~".contains(c)).unwrap_or(word.len() - at);
    let (head, value) = word.split_at(value_at);
    let value = value.trim_start_matches('"');
    let Some(field) = Field::from_name(&word[..at]) else { return Ok(Vec::new()) };
    let database = review.session.database()?;
    let names = Pattern::wildcard(&format!("{value}*"), Case::Fold);
    let mut found: Vec<String> = match field {
        Field::Frame
        | Field::Inherits
        | Field::Uses
        | Field::Perspective
        | Field::Subframe
        | Field::Related => {
            let mut found = Vec::new();
            for lexicon in database.lexicons()? {
                for frame in lexicon.find_frames(&names)?.take(OFFERED) {
                    found.push(frame?.name);
                }
            }
            found
        }
        Field::Lu => {
            let mut found = Vec::new();
            for lexicon in database.lexicons()? {
                for lu in lexicon.find_lus(&names)?.take(OFFERED) {
                    found.push(lu?.name);
                }
            }
            found
        }
        _ => {
            let choices = field.choices();
            choices.into_iter().filter(|it| it.starts_with(value)).map(str::to_owned).collect()
        }
    };
    found.dedup();
    found.truncate(OFFERED);
    if names_alone {
        return Ok(found);
    }
    Ok(found.iter().map(|name| format!("{before}{head}{} ", quoted(name))).collect())
}
