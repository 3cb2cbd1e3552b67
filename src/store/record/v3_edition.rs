//! Version 3 of the record of an edition: with the lines of its split list.
//!
//! An edition that has no such lines is written in version 2.

use super::super::key::EditionKey;
use super::v2_edition::HashedRecord;
use crate::model::Edition;

fields! {
    ListedRecord { record, lines }
}

pub(super) struct ListedRecord {
    record: HashedRecord,
    /// Without remarks, each with its end.
    lines: String,
}

impl ListedRecord {
    /// `None` for an edition that keeps no lines.
    pub(super) fn of(edition: &Edition) -> Option<Self> {
        let lines = edition.split_list.as_ref()?.lines.clone()?;
        Some(Self { record: HashedRecord::from(edition), lines })
    }

    pub(super) fn into_model(self, key: &EditionKey) -> Result<Edition, String> {
        let mut edition = self.record.into_model(key)?;
        match &mut edition.split_list {
            Some(list) => list.lines = Some(self.lines),
            None => return Err("lines of a split list, and no list".to_owned()),
        }
        Ok(edition)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::{Stored, THIRD_VERSION, encode_as, v1_governance, v2_edition};
    use super::*;
    use crate::model::ReleaseId;

    pub(in super::super) fn listed() -> Edition {
        let mut edition = v2_edition::tests::listed();
        if let Some(list) = &mut edition.split_list {
            list.lines = Some("lu\tcheck.v\ttest\n".to_owned());
        }
        edition
    }

    #[test]
    fn the_lines_of_a_list_come_back_and_lines_of_no_list_are_refused() {
        let key = EditionKey { release: ReleaseId(1), name: "first".to_owned() };
        let value = listed().to_value().unwrap();
        assert_eq!((value[0], Edition::from_value(&key, &value)), (3, Ok(listed())));
        for end in 0..value.len() {
            super::super::tests::is_cut_short(Edition::from_value(&key, &value[..end]), end);
        }
        let record = HashedRecord::from(&v1_governance::tests::edition());
        let record = ListedRecord { record, lines: String::new() };
        let value = encode_as(THIRD_VERSION, &record).unwrap();
        let refused = Err("lines of a split list, and no list".to_owned());
        assert_eq!(Edition::from_value(&key, &value), refused);
    }
}
