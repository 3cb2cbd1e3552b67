//! Laws of the parser, tried on expressions and texts at random.

use std::fmt::Debug;

use proptest::prelude::*;

use super::NULL_INSTANTIATIONS;
use crate::model::{AnnotationSetId, SentenceId};
use crate::query::{
    Case, Comparison, Distance, Expression, Field, FieldKind, LabelField, LabelTest, Pattern, Term,
    Test,
};

fn pattern() -> impl Strategy<Value = Pattern> {
    prop_oneof![
        "[ -~\u{e9}\u{1f600}]{0,6}".prop_map(|text| Pattern::exact(&text, Case::Fold)),
        "[a*\\\\\" ']{0,6}".prop_map(|text| Pattern::wildcard(&text, Case::Fold)),
        "(\\\\[b\"'\\\\]|[a-c \"'{}()=]){0,4}"
            .prop_filter_map("a regular expression", |s| Pattern::regex(&s, Case::Fold).ok()),
    ]
}

fn null_instantiation() -> impl Strategy<Value = Pattern> {
    let any = pattern().prop_filter("plain texts are checked", |p| p.as_exact().is_none());
    let known = proptest::sample::select(NULL_INSTANTIATIONS.to_vec());
    prop_oneof![any, known.prop_map(|kind| Pattern::exact(kind, Case::Fold))]
}

fn comparison() -> impl Strategy<Value = Comparison> {
    proptest::sample::select(vec![
        Comparison::Equal,
        Comparison::Less,
        Comparison::LessOrEqual,
        Comparison::Greater,
        Comparison::GreaterOrEqual,
    ])
}

fn label_test() -> impl Strategy<Value = LabelTest> {
    let of = |field| {
        (any::<bool>(), pattern()).prop_map(move |(negated, pattern)| LabelTest::Pattern {
            field,
            negated,
            pattern,
        })
    };
    prop_oneof![
        of(LabelField::Gf),
        of(LabelField::Pt),
        (any::<bool>(), null_instantiation()).prop_map(|(negated, pattern)| {
            LabelTest::Pattern { field: LabelField::Ni, negated, pattern }
        }),
        any::<bool>().prop_map(LabelTest::Overt),
    ]
}

fn ids<T: Debug>(of: fn(u64) -> Option<T>) -> impl Strategy<Value = Vec<T>> {
    let id = any::<u64>().prop_filter_map("an id", move |bits| of(bits % (4 << 56)));
    proptest::collection::vec(id, 1..4)
}

fn test_of(field: Field) -> BoxedStrategy<Test> {
    match field.kind() {
        FieldKind::Name | FieldKind::Text => pattern().prop_map(Test::Pattern).boxed(),
        FieldKind::NullInstantiation => null_instantiation().prop_map(Test::Pattern).boxed(),
        FieldKind::Relation => {
            let distance = (comparison(), any::<u64>())
                .prop_map(|(comparison, steps)| Distance { comparison, steps });
            (pattern(), proptest::option::of(distance))
                .prop_map(|(name, distance)| Test::Relative(name, distance))
                .boxed()
        }
        FieldKind::Label => {
            let side = (pattern(), proptest::collection::vec(label_test(), 0..3)).boxed();
            prop_oneof![
                side.clone().prop_map(|(name, tests)| Test::Label(name, tests)),
                [side.clone(), side].prop_map(|sides| Test::Overlap(Box::new(sides))),
            ]
            .boxed()
        }
        FieldKind::Choice => {
            proptest::sample::select(field.choices()).prop_map(Test::Choice).boxed()
        }
        FieldKind::Integer => {
            (comparison(), any::<u64>()).prop_map(|(c, n)| Test::Integer(c, n)).boxed()
        }
        FieldKind::Percentage => {
            (comparison(), 0..=100_u64).prop_map(|(c, n)| Test::Integer(c, n)).boxed()
        }
        FieldKind::Decimal => {
            let finite = any::<f64>().prop_filter("finite", |number| number.is_finite());
            (comparison(), finite).prop_map(|(c, n)| Test::Decimal(c, n)).boxed()
        }
        FieldKind::Fraction => {
            (comparison(), 0.0..=1.0).prop_map(|(c, n)| Test::Decimal(c, n)).boxed()
        }
        FieldKind::Revision => any::<u64>().prop_map(Test::Revision).boxed(),
        FieldKind::Id => ids(AnnotationSetId::from_bits)
            .prop_map(|ids| Test::Sets(ids.into_iter().collect()))
            .boxed(),
        FieldKind::Sentence => ids(SentenceId::from_bits)
            .prop_map(|ids| Test::Sentences(ids.into_iter().collect()))
            .boxed(),
    }
}

fn expression() -> impl Strategy<Value = Expression> {
    let term = proptest::sample::select(Field::ALL.to_vec()).prop_flat_map(|field| {
        test_of(field).prop_map(move |test| Expression::Term(Term { field, test }))
    });
    let leaf = prop_oneof![9 => term, 1 => Just(Expression::Everything)];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Expression::conjunction),
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Expression::disjunction),
            inner.prop_map(Expression::negation),
        ]
    })
}

proptest! {
    #[test]
    fn printed_text_reads_back_as_the_same_expression(expression in expression()) {
        let text = expression.to_string();
        prop_assert_eq!(Expression::parse(&text), Ok(expression), "{}", text);
    }

    #[test]
    fn any_text_is_read_or_refused_with_a_column_inside_it(text in "\\PC{0,40}") {
        if let Err(error) = Expression::parse(&text) {
            prop_assert!((1..=text.chars().count() + 1).contains(&error.column()));
            prop_assert!(!error.to_string().is_empty());
        }
    }

    #[test]
    fn any_sequence_of_pieces_is_read_or_refused(pieces in proptest::collection::vec(
        proptest::sample::select(vec![
            "frame", "fe", "ni", "round", "id", "text", "overt", "gf", "not", "or", "and", " ",
            "=", "!=", "<", ">=", "~", "(", ")", "{", "}", "\"", "'", "\\", "*", "INI", "3", "x3",
        ]), 0..16)
    ) {
        let text = pieces.concat();
        match Expression::parse(&text) {
            Ok(expression) => {
                prop_assert_eq!(Expression::parse(&expression.to_string()), Ok(expression));
            }
            Err(error) => {
                prop_assert!((1..=text.chars().count() + 1).contains(&error.column()));
            }
        }
    }
}
