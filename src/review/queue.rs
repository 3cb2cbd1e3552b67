//! What comes next: the sets of a query as they are found, or the paper's protocol.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::{Item, Question, Result, ReviewError};
use crate::database::{Database, DatabaseError};
use crate::model::{AnnotationSet, FrameId, Judgement, LuId, Origin, ReleaseId};
use crate::query::{Expression, Selection};
use crate::search::Matches;

/// Items that are read ahead.
const AHEAD: usize = 64;

/// Human sets that are looked at for one control.
const LOOKED_AT: usize = 200;

/// The paper's protocol (Culkin et al. 2021, section 6.1): for each output a sentence that people
/// annotated in the frame and one that they annotated in another, all in random order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Protocol {
    /// Outputs to be judged.
    pub outputs: usize,
    /// Draws the sample; all judges of a study take the same.
    pub seed: u64,
}

/// Items as they are found, by a thread of its own with a handle of its own.
pub(super) type Feed = Receiver<Result<Item>>;

/// Starts reading ahead what a reviewer has not judged, in a state of the store that stays as it
/// is. Returns once the query is planned: what it names is there.
pub(super) fn feed(
    database: Database,
    expression: &Expression,
    reviewer: &str,
    question: Question,
    protocol: Option<Protocol>,
) -> Result<Feed> {
    let (sender, feed) = sync_channel(AHEAD);
    let (planned, is_planned) = sync_channel(1);
    let dir = database.dir().to_owned();
    let (expression, reviewer) = (expression.clone(), reviewer.to_owned());
    let work = move || {
        let read = || -> Result<()> {
            let matches = |expression: &Expression| {
                let matches = database.matches(expression, &Selection::default());
                let _ = planned.send(matches.is_ok());
                matches
            };
            match protocol {
                None => stream(&database, matches(&expression)?, (&reviewer, question), &sender),
                Some(protocol) => {
                    let generated = "origin=generated".parse().map_err(DatabaseError::from)?;
                    let outputs = matches(&Expression::all_of([expression, generated]))?;
                    for item in mixed(&database, outputs, &reviewer, protocol)? {
                        let is_open = is_open(&database, item, (&reviewer, question))?;
                        if is_open && sender.send(Ok(item)).is_err() {
                            break;
                        }
                    }
                    Ok(())
                }
            }
        };
        if let Err(error) = read() {
            let _ = sender.send(Err(error));
        }
    };
    let thread = std::thread::Builder::new().name("review".to_owned()).spawn(work);
    thread.map_err(|source| ReviewError::Thread { dir, source })?;
    if !is_planned.recv().unwrap_or(false)
        && let Ok(Err(error)) = feed.recv()
    {
        return Err(error);
    }
    Ok(feed)
}

/// Sends the sets of a query; similarity is asked of what has a source.
fn stream(
    database: &Database,
    matches: Matches<'_>,
    (reviewer, question): (&str, Question),
    sender: &SyncSender<Result<Item>>,
) -> Result<()> {
    for found in matches {
        let found = found?;
        let item = Item { release: found.release(), set: found.set().id, frame: found.set().frame };
        let is_asked = !question.needs_source() || found.seed().is_some();
        let is_asked = is_asked && is_open(database, item, (reviewer, question))?;
        if is_asked && sender.send(Ok(item)).is_err() {
            break;
        }
    }
    Ok(())
}

/// Whether the reviewer has not answered the question.
fn is_open(
    database: &Database,
    item: Item,
    (reviewer, question): (&str, Question),
) -> Result<bool> {
    let recorded = recorded(database, item, question)?;
    for judgement in database.store().judgements(item.release, item.set)? {
        let Judgement { reviewer: by, question: answered, .. } = judgement?;
        if by == reviewer && answered == recorded {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The question of an item as judgements record it.
pub(super) fn recorded(database: &Database, item: Item, question: Question) -> Result<String> {
    let store = database.store();
    let own = store.set_location(item.release, item.set)?.map_or(item.frame, |set| set.frame);
    let name = |frame| -> Result<String> {
        Ok(store.frame(item.release, frame)?.map_or_else(String::new, |frame| frame.name))
    };
    match own == item.frame {
        true => Ok(question.recorded("", "")),
        false => Ok(question.recorded(&name(item.frame)?, &name(own)?)),
    }
}

/// The sample with its controls, in a random order of the reviewer's own.
fn mixed(
    database: &Database,
    outputs: Matches<'_>,
    reviewer: &str,
    protocol: Protocol,
) -> Result<Vec<Item>> {
    // The outputs whose hashes are least: a sample without a second pass, in memory for itself
    // alone.
    let mut sample: std::collections::BTreeMap<u64, (Item, LuId)> = Default::default();
    for found in outputs {
        let found = found?;
        let set = found.set();
        let item = Item { release: found.release(), set: set.id, frame: set.frame };
        sample.insert(drawn(protocol.seed, &format!("output {}", set.id)), (item, set.lu));
        if sample.len() > protocol.outputs {
            sample.pop_last();
        }
    }
    let mut items = Vec::new();
    for (output, lu) in sample.into_values() {
        let Item { release, set, frame } = output;
        let salt = drawn(protocol.seed, &format!("control {set}"));
        let inside = human_set(database, release, frame, salt, Some(lu))?;
        items.extend(inside.map(|set| Item { release, set: set.id, frame }));
        let outside = outside_set(database, release, frame, salt)?;
        items.extend(outside.map(|set| Item { release, set: set.id, frame }));
        items.push(output);
    }
    items.sort_by_key(|item| drawn(protocol.seed, &format!("order {reviewer} {}", item.set)));
    items.dedup_by_key(|item| item.set);
    Ok(items)
}

/// A human set of a frame other than the one given.
fn outside_set(
    database: &Database,
    release: ReleaseId,
    frame: FrameId,
    salt: u64,
) -> Result<Option<AnnotationSet>> {
    let mut others = Vec::new();
    for row in database.store().frame_names(release)? {
        let (other, _) = row?;
        if other != frame {
            others.push(other);
        }
    }
    others.sort_by_key(|frame| drawn(salt, &frame.to_string()));
    for other in others {
        if let Some(set) = human_set(database, release, other, salt, None)? {
            return Ok(Some(set));
        }
    }
    Ok(None)
}

/// A set of a frame that people annotated, not of the LU that is left out.
fn human_set(
    database: &Database,
    release: ReleaseId,
    frame: FrameId,
    salt: u64,
    without: Option<LuId>,
) -> Result<Option<AnnotationSet>> {
    let store = database.store();
    let mut units = Vec::new();
    for lu in store.lexunits_of(release, frame)? {
        let lu = lu?.id;
        if Some(lu) != without {
            units.push(lu);
        }
    }
    units.sort_by_key(|lu| drawn(salt, &lu.to_string()));
    for lu in units {
        let mut best: Option<(u64, AnnotationSet)> = None;
        for set in store.annotation_sets_of_lexunit(release, frame, lu)?.take(LOOKED_AT) {
            let set = set?;
            let is_human = set.provenance.origin() != Origin::Generated && !set.targets.is_empty();
            let rank = drawn(salt, &set.id.to_string());
            if is_human && best.as_ref().is_none_or(|(least, _)| rank < *least) {
                best = Some((rank, set));
            }
        }
        if let Some((_, set)) = best {
            return Ok(Some(set));
        }
    }
    Ok(None)
}

/// A number that a seed and a text always give.
fn drawn(seed: u64, text: &str) -> u64 {
    let mut hash = blake3::Hasher::new();
    hash.update(&seed.to_be_bytes()).update(text.as_bytes());
    let mut bytes = [0; 8];
    hash.finalize_xof().fill(&mut bytes);
    u64::from_be_bytes(bytes)
}
