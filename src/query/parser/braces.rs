//! What may follow a value: tests in braces, a distance, and the second label of an overlap.

use super::{Parser, choice, comparison, integer};
use crate::query::lexer::Value;
use crate::query::{Distance, Field, LabelField, LabelTest, Operator, Pattern, QueryError};

impl Parser<'_> {
    /// `"distance" comparison value "}"`, the opening brace taken.
    pub(super) fn distance(&mut self, field: Field) -> Result<Distance, QueryError> {
        const EXPECTED: &str = "`distance` and a number, as in `{distance<=2}`";
        let before = self.lexer.unexpected(EXPECTED);
        if self.lexer.take_word() != Some("distance") {
            return Err(before);
        }
        let before = self.lexer.unexpected("`=`, `<`, `<=`, `>` or `>=`");
        let comparison = match self.lexer.take_operator() {
            Some(Operator::NotEqual | Operator::Matches) | None => return Err(before),
            Some(operator) => comparison(operator),
        };
        let value = self.lexer.take_value()?;
        let steps = integer(field, &value, u64::MAX, "a whole number of relations")?;
        match self.lexer.take_mark('}') {
            true => Ok(Distance { comparison, steps }),
            false => Err(self.lexer.unexpected("`}`")),
        }
    }

    /// `value [ label ]`, the value taken.
    pub(super) fn label(
        &mut self,
        operator: Operator,
        value: &Value,
    ) -> Result<(Pattern, Vec<LabelTest>), QueryError> {
        let name = self.pattern(operator, value)?;
        let tests = if self.lexer.take_mark('{') { self.label_tests()? } else { Vec::new() };
        Ok((name, tests))
    }

    /// `"fe" ( "=" | "~" ) value [ label ]`, after `overlaps`.
    pub(super) fn other_label(&mut self) -> Result<(Pattern, Vec<LabelTest>), QueryError> {
        let before = self.lexer.unexpected("a second label, as in `overlaps fe=Place`");
        if self.lexer.take_word() != Some(Field::Fe.name()) {
            return Err(before);
        }
        let before = self.lexer.unexpected("`=` or `~`");
        match self.lexer.take_operator() {
            Some(operator @ (Operator::Equal | Operator::Matches)) => {
                let value = self.lexer.take_value()?;
                self.label(operator, &value)
            }
            _ => Err(before),
        }
    }

    /// `label-test { [ "and" ] label-test } "}"`, the opening brace taken.
    fn label_tests(&mut self) -> Result<Vec<LabelTest>, QueryError> {
        let mut tests = vec![self.label_test()?];
        while !self.lexer.take_mark('}') {
            self.lexer.take_keyword("and");
            tests.push(self.label_test()?);
        }
        Ok(tests)
    }

    /// `[ "not" ] ( "gf" | "pt" | "ni" | "overt" ) operator value`
    fn label_test(&mut self) -> Result<LabelTest, QueryError> {
        let mut negated = false;
        while self.lexer.take_keyword("not") {
            negated = !negated;
        }
        let column = self.lexer.column();
        let Some(name) = self.lexer.take_word() else {
            return Err(self.lexer.unexpected("`gf`, `pt`, `ni` or `overt`"));
        };
        let field = match name {
            "gf" => Some(LabelField::Gf),
            "pt" => Some(LabelField::Pt),
            "ni" => Some(LabelField::Ni),
            "overt" => None,
            _ => {
                let found = format!("`{name}`");
                let expected = "`gf`, `pt`, `ni` or `overt`";
                return Err(QueryError::Syntax { column, found, expected });
            }
        };
        let operator = self.label_operator(field)?;
        let value = self.lexer.take_value()?;
        if operator == Operator::NotEqual {
            negated = !negated;
        }
        let Some(field) = field else {
            let overt = choice("overt", &["true", "false"], &value)? == "true";
            return Ok(LabelTest::Overt(overt != negated));
        };
        let pattern = match field {
            LabelField::Ni => self.null_instantiation(operator, &value)?,
            LabelField::Gf | LabelField::Pt => self.pattern(operator, &value)?,
        };
        Ok(LabelTest::Pattern { field, negated, pattern })
    }

    fn label_operator(&mut self, field: Option<LabelField>) -> Result<Operator, QueryError> {
        let (allowed, expected): (&[Operator], _) = match field {
            Some(_) => {
                (&[Operator::NotEqual, Operator::Equal, Operator::Matches], "`=`, `!=` or `~`")
            }
            None => (&[Operator::NotEqual, Operator::Equal], "`=` or `!=`"),
        };
        let before = self.lexer.unexpected(expected);
        match self.lexer.take_operator() {
            Some(operator) if allowed.contains(&operator) => Ok(operator),
            _ => Err(before),
        }
    }
}
