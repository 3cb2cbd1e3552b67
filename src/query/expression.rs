//! The typed form of a query.

use std::str::FromStr;

use super::parser;
use super::{Case, Field, Pattern, QueryError};
use crate::model::AnnotationSetId;

/// A query: which annotation sets are wanted.
///
/// [`parse`](Self::parse) and the constructors [`all_of`](Self::all_of), [`any_of`](Self::any_of)
/// and [`negated`](Self::negated) build the canonical form, in which no conjunction stands directly
/// inside a conjunction and no disjunction inside a disjunction. Law: for every canonical `e`,
/// `Expression::parse(&e.to_string()) == Ok(e)`, if `e` folds case.
#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    /// Every set: the empty query, also written `()`.
    Everything,
    /// All of these hold; at least two.
    And(Vec<Expression>),
    /// At least one of these holds; at least two.
    Or(Vec<Expression>),
    /// This does not hold.
    Not(Box<Expression>),
    /// One test of one field.
    Term(Term),
}

/// One test of one field, as in `aligner>=0.95`.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// The field.
    pub field: Field,
    /// What must hold of it. Of a field with many values, one value must pass; of a field without a
    /// value, no test holds.
    pub test: Test,
}

/// What a [`Term`] asks of its field's value. [`Field::kind`] decides the variant.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// The name or text matches. Kinds `Name`, `Text` and `NullInstantiation`.
    Pattern(Pattern),
    /// There is an FE label of that name of which every one of these holds. Kind `Label`.
    Label(Pattern, Vec<LabelTest>),
    /// The value is this word, one of [`Field::choices`]. Kind `Choice`.
    Choice(&'static str),
    /// The whole number compares so. Kinds `Integer` and `Percentage`.
    Integer(Comparison, u64),
    /// The score compares so with this number, rounded to the f32 that scores are. Kinds `Decimal`
    /// and `Fraction`.
    Decimal(Comparison, f64),
    /// The annotation set is this one. Kind `Id`.
    Set(AnnotationSetId),
    /// The set was written by a later revision than this. Kind `Revision`.
    Revision(u64),
}

/// How a number compares with the one in the query, which stands on the right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl Comparison {
    /// Whether `value` compares so with `bound`. Nothing compares with a number that is not one.
    #[must_use]
    pub fn holds<T: PartialOrd>(self, value: T, bound: T) -> bool {
        match self {
            Self::Equal => value == bound,
            Self::Less => value < bound,
            Self::LessOrEqual => value <= bound,
            Self::Greater => value > bound,
            Self::GreaterOrEqual => value >= bound,
        }
    }
}

/// A test inside the braces of `fe=Inspector{gf=Ext overt=true}`.
#[derive(Debug, Clone, PartialEq)]
pub enum LabelTest {
    /// The label's grammatical function, phrase type or null instantiation matches.
    Pattern {
        /// Which of the three.
        field: LabelField,
        /// `true` for `!=`: it must not match. A label without a value passes then.
        negated: bool,
        /// The pattern.
        pattern: Pattern,
    },
    /// The label covers text (`true`) or is a null instantiation (`false`).
    Overt(bool),
}

/// What a [`LabelTest`] can look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LabelField {
    /// Grammatical function.
    Gf,
    /// Phrase type.
    Pt,
    /// Null instantiation.
    Ni,
}

impl LabelField {
    /// The name, as written in queries.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Gf => "gf",
            Self::Pt => "pt",
            Self::Ni => "ni",
        }
    }
}

/// What is known about one FE label, for [`LabelTest::holds`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LabelFacts<'a> {
    /// Its grammatical function, when the GF layer has a label of the same span.
    pub gf: Option<&'a str>,
    /// Its phrase type, when the PT layer has a label of the same span.
    pub pt: Option<&'a str>,
    /// Its null instantiation, `None` for a label that covers text.
    pub ni: Option<&'a str>,
    /// Whether it covers text.
    pub overt: bool,
}

impl LabelTest {
    /// Whether it holds of a label.
    #[must_use]
    pub fn holds(&self, label: &LabelFacts<'_>) -> bool {
        match self {
            Self::Pattern { field, negated, pattern } => {
                let value = match field {
                    LabelField::Gf => label.gf,
                    LabelField::Pt => label.pt,
                    LabelField::Ni => label.ni,
                };
                value.is_some_and(|value| pattern.matches(value)) != *negated
            }
            Self::Overt(wanted) => label.overt == *wanted,
        }
    }
}

impl Expression {
    /// Reads a query; matching folds case.
    ///
    /// # Errors
    /// When the text does not follow the grammar, names an unknown field or value, gives a field a
    /// wrong operator, or holds a broken regular expression. Always with the column.
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        Self::parse_with(text, Case::Fold)
    }

    /// Reads a query whose patterns treat letter case as told.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn parse_with(text: &str, case: Case) -> Result<Self, QueryError> {
        parser::parse(text, case)
    }

    /// The conjunction of `parts`: [`Everything`](Self::Everything) of none, of one the part.
    #[must_use]
    pub fn all_of(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut flat = Vec::new();
        for part in parts {
            match part {
                Self::Everything => {}
                Self::And(inner) => flat.extend(inner),
                other => flat.push(other),
            }
        }
        match flat.len() {
            0 => Self::Everything,
            1 => flat.remove(0),
            _ => Self::And(flat),
        }
    }

    /// The disjunction of `parts`: nothing (`not ()`) of none, the part itself of one.
    #[must_use]
    pub fn any_of(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut flat = Vec::new();
        for part in parts {
            match part {
                Self::Or(inner) => flat.extend(inner),
                other => flat.push(other),
            }
        }
        match flat.len() {
            0 => Self::Everything.negated(),
            1 => flat.remove(0),
            _ => Self::Or(flat),
        }
    }

    /// The negation.
    #[must_use]
    pub fn negated(self) -> Self {
        Self::Not(Box::new(self))
    }

    /// Every term, in the order of the text, negated ones included.
    pub fn terms(&self) -> impl Iterator<Item = &Term> {
        let mut waiting = vec![self];
        std::iter::from_fn(move || {
            while let Some(expression) = waiting.pop() {
                match expression {
                    Self::Everything => {}
                    Self::And(parts) | Self::Or(parts) => waiting.extend(parts.iter().rev()),
                    Self::Not(inner) => waiting.push(inner),
                    Self::Term(term) => return Some(term),
                }
            }
            None
        })
    }

    /// Whether the query holds, given which of its terms do.
    ///
    /// Terms are asked from left to right and only as long as the answer is open.
    ///
    /// # Errors
    /// The first error that `term_holds` returns.
    pub fn holds<E>(
        &self,
        term_holds: &mut impl FnMut(&Term) -> Result<bool, E>,
    ) -> Result<bool, E> {
        match self {
            Self::Everything => Ok(true),
            Self::And(parts) => {
                for part in parts {
                    if !part.holds(term_holds)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Self::Or(parts) => {
                for part in parts {
                    if part.holds(term_holds)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Self::Not(inner) => Ok(!inner.holds(term_holds)?),
            Self::Term(term) => term_holds(term),
        }
    }
}

impl FromStr for Expression {
    type Err = QueryError;

    fn from_str(text: &str) -> Result<Self, QueryError> {
        Self::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holding(query: &str, frames: &[&str]) -> (bool, usize) {
        let mut asked = 0;
        let answer = Expression::parse(query).unwrap().holds(&mut |term: &Term| {
            asked += 1;
            let Test::Pattern(pattern) = &term.test else { panic!("only patterns here") };
            Ok::<bool, ()>(frames.iter().any(|frame| pattern.matches(frame)))
        });
        (answer.unwrap(), asked)
    }

    #[test]
    fn a_query_holds_as_its_connectives_say() {
        assert_eq!(holding("", &[]), (true, 0));
        assert_eq!(holding("frame=A frame=B", &["A", "B"]), (true, 2));
        assert_eq!(holding("frame=A frame=B", &["B"]), (false, 1));
        assert_eq!(holding("frame=A or frame=B", &["A"]), (true, 1));
        assert_eq!(holding("frame!=A", &["A"]), (false, 1));
        assert_eq!(holding("not (frame=A or frame=B)", &["C"]), (true, 2));
    }

    #[test]
    fn unequal_on_a_field_of_many_values_means_that_none_is_equal() {
        assert_eq!(holding("gf!=Ext", &["Ext", "Obj"]), (false, 1));
        assert_eq!(holding("gf!=Ext", &[]), (true, 1));
    }

    #[test]
    fn an_error_of_the_caller_stops_the_evaluation() {
        let query = Expression::parse("frame=A frame=B").unwrap();
        assert_eq!(query.holds(&mut |_: &Term| Err("gone")), Err("gone"));
    }

    #[test]
    fn tests_in_braces_look_at_one_label() {
        let query = Expression::parse("fe=Inspector{gf=Ext pt!=NP overt=true}").unwrap();
        let Expression::Term(Term { test: Test::Label(name, tests), .. }) = &query else {
            panic!("one label term")
        };
        assert!(name.matches("inspector"));
        let passes =
            |label: LabelFacts<'_>| -> bool { tests.iter().all(|test| test.holds(&label)) };
        let overt = LabelFacts { gf: Some("Ext"), pt: Some("PP"), ni: None, overt: true };
        assert!(passes(overt));
        assert!(passes(LabelFacts { pt: None, ..overt }), "no phrase type is not NP");
        assert!(!passes(LabelFacts { pt: Some("NP"), ..overt }));
        assert!(!passes(LabelFacts { gf: None, ..overt }));
        assert!(!passes(LabelFacts { overt: false, ni: Some("INI"), ..overt }));
    }

    #[test]
    fn nothing_compares_with_what_is_no_number() {
        for comparison in [Comparison::Equal, Comparison::Less, Comparison::GreaterOrEqual] {
            assert!(!comparison.holds(f64::NAN, 0.5));
        }
        assert!(Comparison::LessOrEqual.holds(3, 3));
        assert!(!Comparison::Greater.holds(3, 3));
    }
}
