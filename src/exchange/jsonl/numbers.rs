//! What fresh numbers are written as, as JSON.

use serde::{Deserialize, Serialize};

use super::{Checked, Kind};
use crate::exchange::error::Fault;
use crate::model::{NumberKind, WrittenNumber};

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenNumberRecord {
    kind: Kind,
    of: String,
    number: u64,
    written: String,
    /// What tells records of one written id apart.
    beside: String,
}

impl WrittenNumberRecord {
    pub(super) fn new(of: NumberKind, number: u64, written: &WrittenNumber) -> Self {
        let WrittenNumber { text, beside } = written.clone();
        let (kind, of) = (Kind::WrittenNumber, of.as_str().to_owned());
        Self { kind, of, number, written: text, beside }
    }

    pub(super) fn into_model(self) -> Checked<(NumberKind, u64, WrittenNumber)> {
        let Self { of, number, written: text, beside, .. } = self;
        let kind = NumberKind::parse(&of).ok_or_else(|| {
            let names = NumberKind::ALL.map(NumberKind::as_str).join(", ");
            Fault::value("of", &of, format!("one of {names}"))
        })?;
        if !kind.is_fresh(number) {
            let expected = format!("a number from {} on", kind.first_fresh());
            return Err(Fault::value("number", number, expected));
        }
        Ok((kind, number, WrittenNumber { text, beside }))
    }
}
