//! What a reviewer has answered about an item.

use super::{Item, Question, Result};
use crate::database::Database;
use crate::model::Judgement;

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

/// A reviewer's answer to a question, as judgements record it.
pub(super) fn answer(
    database: &Database,
    item: Item,
    (reviewer, recorded): (&str, &str),
) -> Result<Option<Judgement>> {
    let is_theirs = |row: &Judgement| row.reviewer == reviewer && row.question == recorded;
    let mut judgements = database.store().judgements(item.release, item.set)?;
    Ok(judgements.find(|row| row.as_ref().map_or(true, is_theirs)).transpose()?)
}
