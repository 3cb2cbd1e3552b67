//! Version 2 of the record of a judgement: one of which is known what was shown, or that answers
//! another question than whether the target evokes the set's frame.
//!
//! All others are still written in version 1.

use super::v1_user::JudgementRecord;
use super::{Encoded, SECOND_VERSION, VERSION, decode_as, encode, encode_as};
use crate::model::{Judgement, Shown};

fields! {
    ShownRecord { score, time, note, shown }
}

struct ShownRecord {
    score: u8,
    time: u64,
    note: String,
    /// Text, milliseconds.
    shown: Option<(String, u64)>,
}

/// Encodes what a reviewer says; the key has the name and the question.
pub(in super::super) fn encode_judgement(judgement: &Judgement) -> Encoded {
    let is_of_frame = judgement.is_of_frame();
    let Judgement { reviewer: _, question: _, score, time, note, shown } = judgement.clone();
    if is_of_frame && shown.is_none() {
        return encode(&JudgementRecord { score, time, note });
    }
    let shown = shown.map(|Shown { text, millis }| (text, millis));
    encode_as(SECOND_VERSION, &ShownRecord { score, time, note, shown })
}

/// Decodes what a reviewer says to a question, from either version.
pub(in super::super) fn decode_judgement(
    (reviewer, question): (&str, &str),
    value: &[u8],
) -> Result<Judgement, String> {
    let (reviewer, question) = (reviewer.to_owned(), question.to_owned());
    if value.first() == Some(&SECOND_VERSION) {
        let ShownRecord { score, time, note, shown } = decode_as(SECOND_VERSION, value)?;
        let shown = shown.map(|(text, millis)| Shown { text, millis });
        return Ok(Judgement { reviewer, question, score, time, note, shown });
    }
    let JudgementRecord { score, time, note } = decode_as(VERSION, value)?;
    Ok(Judgement { reviewer, question, score, time, note, shown: None })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn judged(is_shown: bool) -> Judgement {
        let shown = is_shown.then(|| Shown {
            text: "She [checked] the na\u{ef}ve plan .".to_owned(),
            millis: 2_300,
        });
        let (reviewer, note) = ("kim".to_owned(), "na\u{ef}ve".to_owned());
        Judgement { reviewer, question: String::new(), score: 80, time: 1_700_000_000, note, shown }
    }

    #[test]
    fn judgements_come_back_with_and_without_what_was_shown() {
        for (is_shown, question, version) in [(false, "", 1), (true, "", 2), (false, "meaning", 2)]
        {
            let judgement = Judgement { question: question.to_owned(), ..judged(is_shown) };
            let value = encode_judgement(&judgement).unwrap();
            assert_eq!(value[0], version);
            assert_eq!(decode_judgement(("kim", question), &value), Ok(judgement));
            let cut = decode_judgement(("kim", question), &value[..value.len() - 1]);
            assert!(cut.unwrap_err().contains("UnexpectedEnd"));
        }
        let error = decode_judgement(("kim", ""), &[3]);
        assert_eq!(error, Err("record version 3, expected 1".to_owned()));
    }
}
