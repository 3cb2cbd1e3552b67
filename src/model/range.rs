//! The ranges of the numbers that models give annotation sets.
//!
//! A number outside its range cannot come back: JSON has no infinity, and a reader that trusts a
//! probability of 9 reckons wrongly ever after. Whoever takes records in asks here.

use std::str::FromStr;

use super::{
    AnnotationSetId, CarriedElement, Carrying, Evidence, Generation, Prediction, Provenance,
    SentenceId, Verification, coded,
};

/// A number outside its range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` is `{found}`: expected {expected}")]
pub struct OutOfRange {
    /// Path of the field, as in the JSON lines of a set's provenance.
    pub field: String,
    /// The number.
    pub found: String,
    /// What the range is.
    pub expected: &'static str,
}

coded!(OutOfRange { _ => BadInput.coded("E-range"), });

const SHARE: &str = "a number from 0 to 1";

/// As [`AnnotationSetId::parse`], with an error.
impl FromStr for AnnotationSetId {
    type Err = OutOfRange;

    fn from_str(text: &str) -> Result<Self, OutOfRange> {
        Self::parse(text).ok_or_else(|| no_id(text))
    }
}

/// As [`SentenceId::parse`], with an error.
impl FromStr for SentenceId {
    type Err = OutOfRange;

    fn from_str(text: &str) -> Result<Self, OutOfRange> {
        Self::parse(text).ok_or_else(|| no_id(text))
    }
}

fn no_id(text: &str) -> OutOfRange {
    let found = text.escape_debug().to_string();
    OutOfRange { field: "id".to_owned(), found, expected: "`x`, `f`, `i` or `g` and a number" }
}

impl Provenance {
    /// The first number that is outside its range.
    ///
    /// # Errors
    /// Names it.
    pub fn check_ranges(&self) -> Result<(), OutOfRange> {
        match self {
            Self::Generated(made) => check_generation(made),
            Self::Predicted(prediction) => check_prediction(prediction),
            Self::Carried(carrying) => check_carrying(carrying),
            _ => Ok(()),
        }
    }
}

impl Evidence {
    /// The first number that is outside its range.
    ///
    /// # Errors
    /// Names it.
    pub fn check_ranges(&self) -> Result<(), OutOfRange> {
        check_cost("paraphrase", self.paraphrase)?;
        check_share("aligner", self.aligner)?;
        check_share("unknown", self.unknown)?;
        let shares = [
            ("p", self.p),
            ("r", self.r),
            ("frame_fit", self.frame_fit),
            ("evokes", self.evokes),
            ("evokes_share", self.evokes_share),
        ];
        for (field, share) in shares {
            share.map_or(Ok(()), |share| check_share(field, share))?;
        }
        match self.likeness {
            // Cosines of vectors in f32 pass 1 by rounding.
            Some(likeness) if !(-1.001..=1.001).contains(&likeness) => {
                Err(out_of("likeness", likeness, "a number from -1 to 1"))
            }
            _ => Ok(()),
        }
    }
}

impl Verification {
    /// The first number that is outside its range.
    ///
    /// # Errors
    /// Names it.
    pub fn check_ranges(&self) -> Result<(), OutOfRange> {
        for (field, share) in [("evokes", self.evokes), ("same_meaning", self.same_meaning)] {
            share.map_or(Ok(()), |share| check_share(field, share))?;
        }
        match self.reverse {
            Some(reverse) if !(0.0..f32::INFINITY).contains(&reverse.score) => {
                Err(out_of("reverse.score", reverse.score, "a finite number from 0"))
            }
            _ => Ok(()),
        }
    }
}

fn check_generation(made: &Generation) -> Result<(), OutOfRange> {
    if made.round == 0 {
        return Err(out_of("round", made.round, "a whole number from 1"));
    }
    check_cost("paraphrase", made.paraphrase)?;
    check_share("aligner", made.aligner)?;
    if let Some(scores) = &made.filter {
        check_share("filter.p", scores.precision)?;
        check_share("filter.r", scores.recall)?;
    }
    check_elements(&made.elements)?;
    made.fit.map_or(Ok(()), |fit| check_share("fit.probability", fit.probability))
}

fn check_carrying(carrying: &Carrying) -> Result<(), OutOfRange> {
    check_share("aligner", carrying.aligner)?;
    check_elements(&carrying.elements)
}

fn check_elements(elements: &[CarriedElement]) -> Result<(), OutOfRange> {
    for (at, element) in elements.iter().enumerate() {
        let score = element.score.unwrap_or_default();
        check_share(&format!("elements[{at}].score"), score)?;
    }
    Ok(())
}

fn check_prediction(prediction: &Prediction) -> Result<(), OutOfRange> {
    check_share("fit.probability", prediction.fit.probability)?;
    for (at, (_, probability)) in prediction.runners_up.iter().enumerate() {
        check_share(&format!("runners_up[{at}].probability"), *probability)?;
    }
    Ok(())
}

fn check_share(field: &str, share: f32) -> Result<(), OutOfRange> {
    match (0.0..=1.0).contains(&share) {
        true => Ok(()),
        false => Err(out_of(field, share, SHARE)),
    }
}

/// A paraphrase score: infinity says that nothing scored the text.
fn check_cost(field: &str, cost: f32) -> Result<(), OutOfRange> {
    match cost.is_finite() || cost == f32::INFINITY {
        true => Ok(()),
        false => Err(out_of(field, cost, "a finite number, or none")),
    }
}

fn out_of(field: &str, found: impl ToString, expected: &'static str) -> OutOfRange {
    OutOfRange { field: field.to_owned(), found: found.to_string(), expected }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AnnotationSetId, IdSpace, Reverse};

    fn field_of(checked: Result<(), OutOfRange>) -> String {
        checked.unwrap_err().field
    }

    #[test]
    fn evidence_is_in_range_up_to_its_ends() {
        let evidence = Evidence { paraphrase: f32::INFINITY, aligner: 1.0, ..Evidence::default() };
        evidence.check_ranges().unwrap();
        let wrong = |evidence: Evidence| field_of(evidence.check_ranges());
        assert_eq!(wrong(Evidence { aligner: 1.1, ..evidence }), "aligner");
        assert_eq!(wrong(Evidence { unknown: -0.1, ..evidence }), "unknown");
        assert_eq!(wrong(Evidence { paraphrase: f32::NAN, ..evidence }), "paraphrase");
        assert_eq!(wrong(Evidence { paraphrase: f32::NEG_INFINITY, ..evidence }), "paraphrase");
        assert_eq!(wrong(Evidence { p: Some(f32::INFINITY), ..evidence }), "p");
        assert_eq!(wrong(Evidence { r: Some(f32::NAN), ..evidence }), "r");
        assert_eq!(wrong(Evidence { frame_fit: Some(2.0), ..evidence }), "frame_fit");
        assert_eq!(wrong(Evidence { evokes: Some(1.5), ..evidence }), "evokes");
        assert_eq!(wrong(Evidence { evokes_share: Some(-0.5), ..evidence }), "evokes_share");
        assert_eq!(wrong(Evidence { likeness: Some(-1.5), ..evidence }), "likeness");
    }

    #[test]
    fn answers_of_a_verifier_are_shares_and_likelihoods_finite() {
        let reverse = |score| Some(Reverse { score, tokens: 3, rewriter: [1; 16] });
        let set = AnnotationSetId::new(IdSpace::Generated, 7);
        let (verifier, asked) = ([2; 16], [3; 16]);
        let right = Verification {
            set,
            evokes: Some(1.0),
            same_meaning: Some(0.0),
            reverse: reverse(0.0),
            verifier,
            asked,
        };
        right.check_ranges().unwrap();
        let wrong = |verification: Verification| field_of(verification.check_ranges());
        assert_eq!(wrong(Verification { evokes: Some(1.5), ..right }), "evokes");
        assert_eq!(wrong(Verification { same_meaning: Some(f32::NAN), ..right }), "same_meaning");
        for score in [-0.5, f32::INFINITY, f32::NAN] {
            assert_eq!(wrong(Verification { reverse: reverse(score), ..right }), "reverse.score");
        }
    }

    #[test]
    fn a_number_that_is_out_of_range_is_named_with_what_was_expected() {
        let evidence = Evidence { aligner: 9.0, ..Evidence::default() };
        let message = evidence.check_ranges().unwrap_err().to_string();
        assert_eq!(message, "`aligner` is `9`: expected a number from 0 to 1");
    }
}
