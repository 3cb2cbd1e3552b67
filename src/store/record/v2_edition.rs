//! Version 2 of the record of an edition: with the hash of its ids and the split list of its query.

use super::super::key::EditionKey;
use super::v1_governance::EditionRecord;
use crate::model::{Edition, KeptSplitList, SplitListId};

fields! {
    HashedRecord { record, hash, split_list }
}

pub(super) struct HashedRecord {
    record: EditionRecord,
    /// BLAKE3 over the ids of the sets, as when the edition was made.
    hash: [u8; 32],
    /// Name, fingerprint.
    split_list: Option<(String, [u8; 16])>,
}

impl From<&Edition> for HashedRecord {
    fn from(edition: &Edition) -> Self {
        let list = |KeptSplitList { id, .. }: &KeptSplitList| (id.name.clone(), id.fingerprint);
        Self {
            record: EditionRecord::from(edition),
            hash: edition.hash(),
            split_list: edition.split_list.as_ref().map(list),
        }
    }
}

impl HashedRecord {
    pub(super) fn into_model(self, key: &EditionKey) -> Result<Edition, String> {
        let list = self.split_list.map(|(name, fingerprint)| KeptSplitList {
            id: SplitListId { name, fingerprint },
            lines: None,
        });
        let edition = Edition { split_list: list, ..self.record.into_model(key)? };
        if edition.hash() != self.hash {
            return Err("the hash is not that of the sets".to_owned());
        }
        Ok(edition)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::{SECOND_VERSION, Stored, encode, encode_as, v1_governance};
    use super::*;
    use crate::model::ReleaseId;

    pub(in super::super) fn listed() -> Edition {
        let id = SplitListId { name: "fold".to_owned(), fingerprint: [7; 16] };
        let list = KeptSplitList { id, lines: None };
        Edition { split_list: Some(list), ..v1_governance::tests::edition() }
    }

    #[test]
    fn editions_of_both_versions_are_read_and_a_hash_of_other_sets_is_refused() {
        let key = EditionKey { release: ReleaseId(1), name: "first".to_owned() };
        let value = listed().to_value().unwrap();
        assert_eq!((value[0], Edition::from_value(&key, &value)), (2, Ok(listed())));
        let earlier = encode(&EditionRecord::from(&listed())).unwrap();
        assert_eq!(Edition::from_value(&key, &earlier), Ok(v1_governance::tests::edition()));
        let mut record = HashedRecord::from(&listed());
        record.hash[31] ^= 1;
        let value = encode_as(SECOND_VERSION, &record).unwrap();
        let refused = Err("the hash is not that of the sets".to_owned());
        assert_eq!(Edition::from_value(&key, &value), refused);
    }
}
