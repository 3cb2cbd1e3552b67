//! Version 2 of the record of a judgement: one of which is known what was asked and shown.
//!
//! Judgements of which nothing more is known are still written in version 1.

use super::v1_user::JudgementRecord;
use super::{Encoded, SECOND_VERSION, VERSION, decode_as, encode, encode_as};
use crate::model::{Asked, Judgement};

fields! {
    AskedRecord { score, time, note, question, shown, millis }
}

struct AskedRecord {
    score: u8,
    time: u64,
    note: String,
    question: String,
    shown: String,
    millis: u64,
}

/// Encodes what a reviewer says; the key has the name.
pub(in super::super) fn encode_judgement(judgement: &Judgement) -> Encoded {
    let Judgement { reviewer: _, score, time, note, asked } = judgement.clone();
    match asked {
        None => encode(&JudgementRecord { score, time, note }),
        Some(Asked { question, shown, millis }) => {
            let record = AskedRecord { score, time, note, question, shown, millis };
            encode_as(SECOND_VERSION, &record)
        }
    }
}

/// Decodes what a reviewer says, from either version.
pub(in super::super) fn decode_judgement(
    reviewer: String,
    value: &[u8],
) -> Result<Judgement, String> {
    if value.first() == Some(&SECOND_VERSION) {
        let AskedRecord { score, time, note, question, shown, millis } =
            decode_as(SECOND_VERSION, value)?;
        let asked = Some(Asked { question, shown, millis });
        return Ok(Judgement { reviewer, score, time, note, asked });
    }
    let JudgementRecord { score, time, note } = decode_as(VERSION, value)?;
    Ok(Judgement { reviewer, score, time, note, asked: None })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn judged(asked: bool) -> Judgement {
        let asked = asked.then(|| Asked {
            question: "evokes Checking".to_owned(),
            shown: "She [checked] the na\u{ef}ve plan .".to_owned(),
            millis: 2_300,
        });
        let (reviewer, note) = ("kim".to_owned(), "na\u{ef}ve".to_owned());
        Judgement { reviewer, score: 80, time: 1_700_000_000, note, asked }
    }

    #[test]
    fn judgements_come_back_with_and_without_what_was_asked() {
        for (asked, version) in [(false, 1), (true, 2)] {
            let value = encode_judgement(&judged(asked)).unwrap();
            assert_eq!(value[0], version);
            assert_eq!(decode_judgement("kim".to_owned(), &value), Ok(judged(asked)));
            let cut = decode_judgement("kim".to_owned(), &value[..value.len() - 1]);
            assert!(cut.unwrap_err().contains("UnexpectedEnd"));
        }
        let error = decode_judgement("kim".to_owned(), &[3]);
        assert_eq!(error, Err("record version 3, expected 1".to_owned()));
    }
}
