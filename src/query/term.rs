//! One test of one field, and what a test can ask.

use std::fmt;

use super::parser::NULL_INSTANTIATIONS;
use super::{BuildError, Case, Distance, Field, FieldKind, Ids, Pattern};
use crate::model::{AnnotationSetId, SentenceId};

/// One test of one field, as in `aligner>=0.95`.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    pub(crate) field: Field,
    pub(crate) test: Test,
}

impl Term {
    /// A test of a field.
    ///
    /// # Errors
    /// When the field has no such test, or the value lies outside its range.
    pub fn new(field: Field, test: Test) -> Result<Self, BuildError> {
        let kind = field.kind();
        let is_right = match (&test, kind) {
            (Test::Pattern(_), FieldKind::Name | FieldKind::Text) => true,
            (Test::Pattern(pattern), FieldKind::NullInstantiation) => {
                return check_instantiation(field, pattern).map(|()| Self { field, test });
            }
            (Test::Relative(..), FieldKind::Relation) => true,
            (Test::Label(_, tests), FieldKind::Label) => {
                check_label(tests)?;
                true
            }
            (Test::Overlap(sides), FieldKind::Label) => {
                for (_, tests) in &**sides {
                    check_label(tests)?;
                }
                true
            }
            (Test::Choice(word), FieldKind::Choice) => {
                if !field.choices().contains(word) {
                    let expected = field.choices().join(", ");
                    return Err(BuildError::Value { field, value: (*word).to_owned(), expected });
                }
                true
            }
            (Test::Integer(_, number), FieldKind::Integer | FieldKind::Percentage) => {
                if kind == FieldKind::Percentage && *number > 100 {
                    return Err(outside(field, number, "a whole number from 0 to 100"));
                }
                true
            }
            (Test::Decimal(_, number), FieldKind::Decimal | FieldKind::Fraction) => {
                if !number.is_finite() {
                    return Err(outside(field, number, "a number"));
                }
                if kind == FieldKind::Fraction && !(0.0..=1.0).contains(number) {
                    return Err(outside(field, number, "a number from 0 to 1"));
                }
                true
            }
            (Test::Sets(ids), FieldKind::Id) => has_one(field, ids)?,
            (Test::Sentences(ids), FieldKind::Sentence) => has_one(field, ids)?,
            (Test::Revision(_), FieldKind::Revision) => true,
            _ => false,
        };
        match is_right {
            true => Ok(Self { field, test }),
            false => Err(BuildError::Kind { field, given: test.kind(), expected: taken_by(kind) }),
        }
    }

    /// A test that a name is this one, in whatever letter case and whatever characters it has.
    ///
    /// # Errors
    /// When the field holds no names.
    pub fn named(field: Field, name: &str) -> Result<Self, BuildError> {
        let name = Pattern::exact(name, Case::Fold);
        let test = match field.kind() {
            FieldKind::Relation => Test::Relative(name, None),
            _ => Test::Pattern(name),
        };
        Self::new(field, test)
    }

    /// The field.
    #[must_use]
    pub fn field(&self) -> Field {
        self.field
    }

    /// What must hold of it. Of a field with many values, one value must pass; of a field without a
    /// value, no test holds.
    #[must_use]
    pub fn test(&self) -> &Test {
        &self.test
    }
}

/// Whether a list holds an id, which no text can leave out.
fn has_one<T>(field: Field, ids: &[T]) -> Result<bool, BuildError> {
    if ids.is_empty() { Err(outside(field, "", "one id at least")) } else { Ok(true) }
}

fn outside(field: Field, value: impl fmt::Display, expected: &str) -> BuildError {
    BuildError::Value { field, value: value.to_string(), expected: expected.to_owned() }
}

/// A plain value is one of the four kinds; wildcards and regular expressions find other texts, too.
fn check_instantiation(field: Field, pattern: &Pattern) -> Result<(), BuildError> {
    let is_kind = |text: &str| NULL_INSTANTIATIONS.iter().any(|of| of.eq_ignore_ascii_case(text));
    match pattern.as_exact() {
        Some(text) if !is_kind(text) => Err(outside(field, text, &NULL_INSTANTIATIONS.join(", "))),
        _ => Ok(()),
    }
}

fn check_label(tests: &[LabelTest]) -> Result<(), BuildError> {
    for label in tests {
        if let LabelTest::Pattern { field: LabelField::Ni, pattern, .. } = label {
            check_instantiation(Field::Ni, pattern)?;
        }
    }
    Ok(())
}

/// What a field of a kind takes, in words.
fn taken_by(kind: FieldKind) -> &'static str {
    match kind {
        FieldKind::Name | FieldKind::Text | FieldKind::NullInstantiation => "a name or pattern",
        FieldKind::Relation => "a name or pattern with a distance",
        FieldKind::Label => "a pattern of an FE with tests of its label",
        FieldKind::Choice => "one of the field's words",
        FieldKind::Integer | FieldKind::Percentage => "a whole number",
        FieldKind::Decimal | FieldKind::Fraction => "a score",
        FieldKind::Id => "ids of annotation sets",
        FieldKind::Sentence => "ids of sentences",
        FieldKind::Revision => "a revision",
    }
}

/// What a [`Term`] asks of its field's value. [`Field::kind`] decides the variant, and
/// [`Term::new`] refuses others.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// The name or text matches. Kinds `Name`, `Text` and `NullInstantiation`.
    Pattern(Pattern),
    /// Relations lead to a frame of that name, which lies so far away; without a distance, as far
    /// as the field usually looks. Kind `Relation`.
    Relative(Pattern, Option<Distance>),
    /// There is an FE label of that name of which every one of these holds. Kind `Label`.
    Label(Pattern, Vec<LabelTest>),
    /// Two FE labels pass, one each of these, and their spans share a letter. Kind `Label`.
    Overlap(Box<[(Pattern, Vec<LabelTest>); 2]>),
    /// The value is this word, one of [`Field::choices`]. Kind `Choice`.
    Choice(&'static str),
    /// The whole number compares so. Kinds `Integer` and `Percentage`.
    Integer(Comparison, u64),
    /// The score compares so with this number, rounded to the f32 that scores are. Kinds `Decimal`
    /// and `Fraction`.
    Decimal(Comparison, f64),
    /// The annotation set is one of these. Kind `Id`.
    Sets(Ids<AnnotationSetId>),
    /// The sentence is one of these. Kind `Sentence`.
    Sentences(Ids<SentenceId>),
    /// The set was written by a later revision than this. Kind `Revision`.
    Revision(u64),
}

impl Test {
    /// The patterns that it holds names or texts against.
    pub(super) fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        let (one, two) = match self {
            Self::Pattern(one) | Self::Relative(one, _) | Self::Label(one, _) => (Some(one), None),
            Self::Overlap(labels) => (Some(&labels[0].0), Some(&labels[1].0)),
            Self::Choice(_)
            | Self::Integer(..)
            | Self::Decimal(..)
            | Self::Sets(_)
            | Self::Sentences(_)
            | Self::Revision(_) => (None, None),
        };
        one.into_iter().chain(two)
    }

    /// What it is, in words.
    fn kind(&self) -> &'static str {
        match self {
            Self::Pattern(_) => "name or pattern",
            Self::Relative(..) => "pattern with a distance",
            Self::Label(..) => "pattern with tests of a label",
            Self::Overlap(_) => "overlap of labels",
            Self::Choice(_) => "word",
            Self::Integer(..) => "whole number",
            Self::Decimal(..) => "score",
            Self::Sets(_) => "ids of annotation sets",
            Self::Sentences(_) => "ids of sentences",
            Self::Revision(_) => "revision",
        }
    }
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

#[cfg(test)]
mod tests {
    use super::super::Expression;
    use super::*;

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
    fn a_test_that_its_field_does_not_have_is_refused_when_it_is_made() {
        let folded = |text: &str| Pattern::exact(text, Case::Fold);
        let exact = |text: &str| Test::Pattern(folded(text));
        let (negated, pattern) = (false, folded("XNI"));
        let no_kind = LabelTest::Pattern { field: LabelField::Ni, negated, pattern };
        let no_kind = Test::Label(folded("Checker"), vec![no_kind]);
        for (field, test, message) in [
            (
                Field::Frame,
                Test::Integer(Comparison::Equal, 3),
                "field `frame` takes no whole number, expected a name or pattern",
            ),
            (
                Field::Origin,
                exact("exemplar"),
                "field `origin` takes no name or pattern, expected one of the field's words",
            ),
            (
                Field::Origin,
                Test::Choice("nonsense"),
                "`nonsense` is no value of `origin`, expected exemplar, fulltext, imported, user, \
                 generated, predicted",
            ),
            (
                Field::Fe,
                exact("Checker"),
                "field `fe` takes no name or pattern, expected a pattern",
            ),
            (Field::Ni, exact("XNI"), "`XNI` is no value of `ni`, expected INI, DNI, CNI, INC"),
            (Field::Fe, no_kind, "`XNI` is no value of `ni`"),
            (Field::Round, Test::Decimal(Comparison::Less, 1.0), "`round` takes no score"),
            (
                Field::Uses,
                exact("Checking"),
                "field `uses` takes no name or pattern, expected a name or pattern with a distance",
            ),
            (
                Field::Judgement,
                Test::Integer(Comparison::Less, 101),
                "`101` is no value of `judgement`, expected a whole number from 0 to 100",
            ),
            (
                Field::Aligner,
                Test::Decimal(Comparison::Less, 1.5),
                "`1.5` is no value of `aligner`, expected a number from 0 to 1",
            ),
            (
                Field::Paraphrase,
                Test::Decimal(Comparison::Less, f64::NAN),
                "`NaN` is no value of `paraphrase`, expected a number",
            ),
            (Field::Id, Test::Revision(3), "field `id` takes no revision"),
            (Field::Since, Test::Integer(Comparison::Equal, 3), "`since` takes no whole number"),
        ] {
            let error = Term::new(field, test).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn each_test_that_a_text_can_say_can_be_built() {
        for text in [
            "frame=A",
            "uses=A",
            "related~A{distance<3}",
            "text~x",
            "fe=A{ni=dni gf!=Ext}",
            "fe=A overlaps fe~B{overt=true}",
            "ni=d*",
            "origin=user",
            "round<=3",
            "judgement=100",
            "p>=1",
            "paraphrase<-2.5",
            "id=x7",
            "seed=x7,f2",
            "sentence=f2",
            "since=0",
        ] {
            let Expression::Term(Term { field, test }) = Expression::parse(text).unwrap() else {
                panic!("{text} is one term")
            };
            let built = Term::new(field, test).unwrap();
            assert_eq!(Expression::Term(built), Expression::parse(text).unwrap());
        }
        assert_eq!(
            Expression::Term(Term::named(Field::Lu, "a \"*\" b.v").unwrap()).to_string(),
            r#"lu="a \"\*\" b.v""#
        );
        assert!(Term::named(Field::Round, "3").is_err());
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
