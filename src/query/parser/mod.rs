//! Recursive descent over the grammar of `schema/query.md`.
//!
//! `!=` never reaches the tree: `a!=b` is read as `not a=b`, which is also what it means on a field
//! of many values.

mod braces;
#[cfg(test)]
mod laws;
mod listed;

use super::lexer::{Lexer, Value};
use super::{
    Case, Comparison, Expression, Field, FieldKind, Operator, Pattern, QueryError, Term, Test,
    nearest,
};

/// Nesting that no one writes by hand; it keeps recursion, here and in every walk over the
/// expression, far from the end of the stack.
pub(super) const MAX_DEPTH: usize = 64;

pub(super) const NULL_INSTANTIATIONS: [&str; 4] = ["INI", "DNI", "CNI", "INC"];

const A_TERM: &str = "a term such as `frame=Verification`";

/// What is expected where a word follows a value that may have had a space.
const A_TERM_OR_QUOTES: &str = "a term such as `frame=Verification`, or quotes around a value with \
                                spaces, as in `lu=\"make sure.v\"`";

/// Reads a whole query; `reads_files` says whether `id=@FILE` is read.
pub(super) fn parse(text: &str, case: Case, reads_files: bool) -> Result<Expression, QueryError> {
    let mut parser = Parser { lexer: Lexer::new(text), case, reads_files, depth: 0 };
    if parser.lexer.is_at_end() {
        return Ok(Expression::Everything);
    }
    let expression = parser.disjunction()?;
    if parser.lexer.is_at_end() {
        Ok(expression)
    } else {
        Err(parser.lexer.unexpected("a term, `or`, or the end of the query"))
    }
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    case: Case,
    reads_files: bool,
    depth: usize,
}

impl Parser<'_> {
    /// `conjunction { "or" conjunction }`
    fn disjunction(&mut self) -> Result<Expression, QueryError> {
        let mut parts = vec![self.conjunction()?];
        while self.lexer.take_keyword("or") {
            parts.push(self.conjunction()?);
        }
        Ok(Expression::disjunction(parts))
    }

    /// `negation { [ "and" ] negation }`
    fn conjunction(&mut self) -> Result<Expression, QueryError> {
        let mut parts = vec![self.negation()?];
        while self.lexer.take_keyword("and") || self.is_at_operand() {
            parts.push(self.negation()?);
        }
        Ok(Expression::conjunction(parts))
    }

    fn is_at_operand(&mut self) -> bool {
        self.lexer.is_next('(')
            || self.lexer.peek_word().is_some_and(|word| !word.eq_ignore_ascii_case("or"))
    }

    /// `"not" negation | "(" [ disjunction ] ")" | term`
    fn negation(&mut self) -> Result<Expression, QueryError> {
        let column = self.lexer.column();
        if self.depth == MAX_DEPTH {
            return Err(QueryError::TooDeep { column, limit: MAX_DEPTH });
        }
        self.depth += 1;
        let expression = if self.lexer.take_keyword("not") {
            self.negation()?.negation()
        } else if self.lexer.take_mark('(') {
            self.parenthesised()?
        } else {
            self.term()?
        };
        self.depth -= 1;
        Ok(expression)
    }

    fn parenthesised(&mut self) -> Result<Expression, QueryError> {
        if self.lexer.take_mark(')') {
            return Ok(Expression::Everything);
        }
        let expression = self.disjunction()?;
        if self.lexer.take_mark(')') {
            Ok(expression)
        } else {
            Err(self.lexer.unexpected("a term, `or`, or `)`"))
        }
    }

    /// `field operator value [ label ]`
    fn term(&mut self) -> Result<Expression, QueryError> {
        let column = self.lexer.column();
        let goes_on = self.lexer.follows_bare_value();
        let a_term = if goes_on { A_TERM_OR_QUOTES } else { A_TERM };
        let name = match self.lexer.peek_word() {
            Some(word) if !is_connective(word) => word,
            _ => return Err(self.lexer.unexpected(a_term)),
        };
        self.lexer.take_word();
        let operator_column = self.lexer.column();
        let Some(operator) = self.lexer.take_operator() else {
            if Field::from_name(name).is_some() && !goes_on {
                return Err(self.lexer.unexpected("an operator such as `=` after the field"));
            }
            let found = format!("`{name}` without an operator");
            return Err(QueryError::Syntax { column, found, expected: a_term });
        };
        let field = Field::named(name, column)?;
        if !field.operators().contains(&operator) {
            return Err(QueryError::Operator { column: operator_column, field, operator });
        }
        let value = self.lexer.take_value()?;
        let term = Expression::Term(Term { field, test: self.test(field, operator, &value)? });
        Ok(if operator == Operator::NotEqual { term.negation() } else { term })
    }

    /// Types the value. `operator` is one that `field` takes.
    fn test(
        &mut self,
        field: Field,
        operator: Operator,
        value: &Value,
    ) -> Result<Test, QueryError> {
        Ok(match field.kind() {
            FieldKind::Name | FieldKind::Text => Test::Pattern(self.pattern(operator, value)?),
            FieldKind::Relation => {
                let name = self.pattern(operator, value)?;
                let distance = match self.lexer.take_mark('{') {
                    true => Some(self.distance(field)?),
                    false => None,
                };
                Test::Relative(name, distance)
            }
            FieldKind::NullInstantiation => {
                Test::Pattern(self.null_instantiation(operator, value)?)
            }
            FieldKind::Label => {
                let (name, tests) = self.label(operator, value)?;
                let before = self.lexer.unexpected("`not` before a test of two labels");
                match self.lexer.take_keyword("overlaps") {
                    true if operator == Operator::NotEqual => return Err(before),
                    true => Test::Overlap(Box::new([(name, tests), self.other_label()?])),
                    false => Test::Label(name, tests),
                }
            }
            FieldKind::Choice => Test::Choice(choice(field.name(), &field.choices(), value)?),
            FieldKind::Integer => {
                let number = integer(field, value, u64::MAX, "a whole number")?;
                Test::Integer(comparison(operator), number)
            }
            FieldKind::Percentage => {
                let number = integer(field, value, 100, "a whole number from 0 to 100")?;
                Test::Integer(comparison(operator), number)
            }
            FieldKind::Decimal => {
                let number = decimal(field, value, f64::MIN, f64::MAX, "a number")?;
                Test::Decimal(comparison(operator), number)
            }
            FieldKind::Fraction => {
                let number = decimal(field, value, 0.0, 1.0, "a number from 0 to 1")?;
                Test::Decimal(comparison(operator), number)
            }
            FieldKind::Revision => {
                Test::Revision(integer(field, value, u64::MAX, "a revision number")?)
            }
            FieldKind::Id => Test::Sets(self.set_ids(field, value)?),
            FieldKind::Sentence => Test::Sentences(self.sentence_ids(field, value)?),
        })
    }

    fn pattern(&self, operator: Operator, value: &Value) -> Result<Pattern, QueryError> {
        if operator != Operator::Matches {
            return Ok(Pattern::wildcard(&value.text, self.case));
        }
        Pattern::regex(&value.text, self.case).map_err(|source| QueryError::Regex {
            column: value.column,
            pattern: value.text.clone(),
            source,
        })
    }

    /// A plain value must be one of the four kinds, in whatever case; wildcards and regular
    /// expressions find the other texts too.
    fn null_instantiation(&self, operator: Operator, value: &Value) -> Result<Pattern, QueryError> {
        let pattern = self.pattern(operator, value)?;
        if pattern.as_exact().is_none() {
            return Ok(pattern);
        }
        let kind = choice("ni", &NULL_INSTANTIATIONS, value)?;
        Ok(Pattern::exact(kind, self.case))
    }
}

fn is_connective(word: &str) -> bool {
    ["and", "or", "not"].iter().any(|connective| word.eq_ignore_ascii_case(connective))
}

/// The comparison of a numeric field; `!=` was turned into a negated `=` by the caller.
fn comparison(operator: Operator) -> Comparison {
    match operator {
        Operator::Less => Comparison::Less,
        Operator::LessOrEqual => Comparison::LessOrEqual,
        Operator::Greater => Comparison::Greater,
        Operator::GreaterOrEqual => Comparison::GreaterOrEqual,
        Operator::Equal | Operator::NotEqual | Operator::Matches => Comparison::Equal,
    }
}

fn choice(
    field: &'static str,
    words: &[&'static str],
    value: &Value,
) -> Result<&'static str, QueryError> {
    words.iter().copied().find(|word| word.eq_ignore_ascii_case(&value.text)).ok_or_else(|| {
        QueryError::UnknownValue {
            column: value.column,
            field,
            value: value.text.clone(),
            expected: words.to_vec(),
            suggestion: nearest(&value.text, words.iter().copied()),
        }
    })
}

fn integer(
    field: Field,
    value: &Value,
    greatest: u64,
    expected: &'static str,
) -> Result<u64, QueryError> {
    // `parse` alone would let a plus sign through.
    let digits = value.text.bytes().all(|byte| byte.is_ascii_digit());
    match value.text.parse() {
        Ok(number) if digits && number <= greatest => Ok(number),
        _ => Err(malformed(field, value, expected)),
    }
}

fn decimal(
    field: Field,
    value: &Value,
    least: f64,
    greatest: f64,
    expected: &'static str,
) -> Result<f64, QueryError> {
    match value.text.parse::<f64>() {
        // Infinities lie outside every range, and what is no number is in none.
        Ok(number) if (least..=greatest).contains(&number) => Ok(number),
        _ => Err(malformed(field, value, expected)),
    }
}

fn malformed(field: Field, value: &Value, expected: &'static str) -> QueryError {
    QueryError::Malformed { column: value.column, field, value: value.text.clone(), expected }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::AnnotationSetId;

    fn error(query: &str) -> String {
        match Expression::parse(query) {
            Ok(expression) => panic!("`{query}` was read as `{expression}`"),
            Err(error) => {
                assert!(error.to_string().contains(&error.column().to_string()), "{error}");
                error.to_string()
            }
        }
    }

    #[test]
    fn a_space_binds_closer_than_or() {
        let both = Expression::parse("frame=A lu=b.v or pos=v").unwrap();
        let grouped = Expression::parse("(frame=A and lu=b.v) or pos=v").unwrap();
        assert_eq!(both, grouped);
        assert!(matches!(both, Expression::Or(parts) if parts.len() == 2));
    }

    #[test]
    fn values_are_typed_by_their_field() {
        let test = |query: &str| match Expression::parse(query) {
            Ok(Expression::Term(term)) => term.test,
            other => panic!("{query}: {other:?}"),
        };
        assert_eq!(test("origin=fulltext"), Test::Choice("fulltext"));
        assert_eq!(test("round<=3"), Test::Integer(Comparison::LessOrEqual, 3));
        assert_eq!(test("judgement>50"), Test::Integer(Comparison::Greater, 50));
        assert_eq!(test("paraphrase<-0.5"), Test::Decimal(Comparison::Less, -0.5));
        assert_eq!(test("aligner>=0.95"), Test::Decimal(Comparison::GreaterOrEqual, 0.95));
        assert_eq!(test("since=12"), Test::Revision(12));
        let id = AnnotationSetId::parse("x862331").unwrap();
        assert_eq!(test("seed=x862331"), Test::Sets(id.into()));
        assert_eq!(test("ni=dni"), Test::Pattern(Pattern::exact("DNI", Case::Fold)));
        assert_eq!(test("lu=b*"), Test::Pattern(Pattern::wildcard("b*", Case::Fold)));
    }

    #[test]
    fn words_of_the_language_are_values_after_an_operator() {
        let query = Expression::parse("trigger=not and lemma=or").unwrap();
        assert_eq!(query.to_string(), "trigger=not lemma=or");
    }

    #[test]
    fn letter_case_is_told_from_outside() {
        let query = Expression::parse_with("frame=check", Case::Sensitive).unwrap();
        let Expression::Term(Term { test: Test::Pattern(pattern), .. }) = query else {
            panic!("one term")
        };
        assert!(!pattern.matches("Check"));
        assert!(pattern.matches("check"));
    }

    fn assert_mistakes(mistakes: &[(&str, &str)]) {
        for (query, message) in mistakes {
            assert_eq!(error(query), *message, "{query}");
        }
    }

    #[test]
    fn a_mistake_in_a_word_is_named_with_its_column_and_its_remedy() {
        assert_mistakes(&[
            ("frme=A", "unknown field `frme` at column 1; did you mean `frame`?"),
            ("documents=A", "unknown field `documents` at column 1; did you mean `doc`?"),
            (
                "Verification",
                "cannot read the query at column 1: found `Verification` without an operator, \
                 expected a term such as `frame=Verification`",
            ),
            (
                "lu=make sure.v",
                "cannot read the query at column 9: found `sure.v` without an operator, expected a \
                 term such as `frame=Verification`, or quotes around a value with spaces, as in \
                 `lu=\"make sure.v\"`",
            ),
            (
                "trigger=open source",
                "cannot read the query at column 14: found `source` without an operator, expected \
                 a term such as `frame=Verification`, or quotes around a value with spaces, as in \
                 `lu=\"make sure.v\"`",
            ),
        ]);
    }

    #[test]
    fn a_mistake_between_terms_is_named_with_its_column() {
        assert_mistakes(&[
            (
                "frame=Checking and foo",
                "cannot read the query at column 20: found `foo` without an operator, expected a \
                 term such as `frame=Verification`",
            ),
            (
                " foo",
                "cannot read the query at column 2: found `foo` without an operator, expected a \
                 term such as `frame=Verification`",
            ),
            (
                "lu=\"\u{e9}.n\" frame",
                "cannot read the query at column 15: found the end, expected an operator such as \
                 `=` after the field",
            ),
            (
                "frame=",
                "cannot read the query at column 7: found the end, expected a value (one with \
                 spaces stands in quotes)",
            ),
            (
                "frame==A",
                "cannot read the query at column 7: found `=`, expected a value (one with spaces \
                 stands in quotes)",
            ),
            (
                "(frame=A",
                "cannot read the query at column 9: found the end, expected a term, `or`, or `)`",
            ),
            (
                "frame=A) x",
                "cannot read the query at column 8: found `)`, expected a term, `or`, or the end \
                 of the query",
            ),
            (
                "frame=A or",
                "cannot read the query at column 11: found the end, expected a term such as \
                 `frame=Verification`",
            ),
        ]);
    }

    #[test]
    fn a_mistake_in_a_test_is_named_with_its_column_and_what_is_expected() {
        assert_mistakes(&[
            ("frame<A", "field `frame` has no operator `<` (column 6); it takes `=`, `!=` or `~`"),
            ("since>3", "field `since` has no operator `>` (column 6); it takes `=`"),
            (
                "origin=generted",
                "`generted` is no value of `origin` (column 8); expected `exemplar`, `fulltext`, \
                 `imported`, `user`, `generated`, `predicted` or `carried`; did you mean `generated`?",
            ),
            (
                "ni=XNI",
                "`XNI` is no value of `ni` (column 4); expected `INI`, `DNI`, `CNI` or `INC`; did \
                 you mean `INI`?",
            ),
            (
                "fe=A{overt=yes}",
                "`yes` is no value of `overt` (column 12); expected `true` or `false`",
            ),
            (
                "fe=A{lu=b}",
                "cannot read the query at column 6: found `lu`, expected `gf`, `pt`, `ni` or \
                 `overt`",
            ),
            (
                "fe=A{gf<b}",
                "cannot read the query at column 8: found `<`, expected `=`, `!=` or `~`",
            ),
            ("round=-1", "`-1` is no value of `round` (column 7); expected a whole number"),
            (
                "aligner>=95",
                "`95` is no value of `aligner` (column 10); expected a number from 0 to 1",
            ),
            (
                "judgement=101",
                "`101` is no value of `judgement` (column 11); expected a whole number from 0 to \
                 100",
            ),
            ("text~'('", "cannot compile the regular expression `(` at column 6"),
        ]);
        assert!(error("id=862331").contains("such as `x862331`"));
        for number in ["NaN", "inf", "-inf", "", "\u{663}"] {
            let message = error(&format!("paraphrase<\"{number}\""));
            assert!(message.contains("is no value of `paraphrase`"), "{number}: {message}");
        }
    }

    #[test]
    fn nesting_has_an_end() {
        let nested = |n: usize| format!("{}frame=A{}", "(".repeat(n), ")".repeat(n));
        assert!(Expression::parse(&nested(MAX_DEPTH - 1)).is_ok());
        for query in [nested(MAX_DEPTH), nested(100_000), "not ".repeat(100_000)] {
            assert!(matches!(
                Expression::parse(&query),
                Err(QueryError::TooDeep { limit: MAX_DEPTH, .. })
            ));
        }
    }
}
