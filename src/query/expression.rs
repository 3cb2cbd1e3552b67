//! The typed form of a query.

use std::fmt;
use std::ops::Deref;
use std::str::FromStr;

use super::parser::{self, MAX_DEPTH};
use super::{BuildError, Case, QueryError, Term};

/// A query: which annotation sets are wanted.
///
/// [`parse`](Self::parse) and the constructors [`all_of`](Self::all_of), [`any_of`](Self::any_of),
/// [`negated`](Self::negated) and [`Term::new`] build the canonical form, in which no conjunction
/// stands directly inside a conjunction and no disjunction inside a disjunction. They refuse what
/// no text can say: a test that its field does not have, and more than 64 levels. Law: for every
/// `e`, `Expression::parse(&e.to_string()) == Ok(e)`, if `e` folds case.
///
/// ```
/// use fnstore::query::{Case, Comparison, Expression, Field, Pattern, Term, Test};
///
/// let frame = Test::Pattern(Pattern::exact("Verification", Case::Fold));
/// let frame = Expression::Term(Term::new(Field::Frame, frame)?);
/// let late = Expression::Term(Term::new(Field::Round, Test::Integer(Comparison::Greater, 2))?);
/// let query = Expression::all_of([frame, late.negated()?])?;
/// assert_eq!(query.to_string(), "frame=Verification not round>2");
/// let wrong = Term::new(Field::Frame, Test::Integer(Comparison::Equal, 3)).unwrap_err();
/// assert!(wrong.to_string().starts_with("field `frame` takes no whole number"));
/// # Ok::<(), fnstore::query::BuildError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    /// Every set: the empty query, also written `()`.
    Everything,
    /// All of these hold; at least two.
    And(Parts),
    /// At least one of these holds; at least two.
    Or(Parts),
    /// This does not hold.
    Not(Negated),
    /// One test of one field.
    Term(Term),
}

/// The parts of a conjunction or disjunction, at least two. They are read as a slice;
/// [`Expression::all_of`] and [`Expression::any_of`] make them.
#[derive(Clone, PartialEq)]
pub struct Parts {
    parts: Vec<Expression>,
    /// Levels of the deepest part, in parentheses where it needs them.
    levels: usize,
}

/// What a negation negates; [`Expression::negated`] makes it.
#[derive(Clone, PartialEq)]
pub struct Negated {
    inner: Box<Expression>,
    levels: usize,
}

impl Deref for Parts {
    type Target = [Expression];

    fn deref(&self) -> &[Expression] {
        &self.parts
    }
}

impl Deref for Negated {
    type Target = Expression;

    fn deref(&self) -> &Expression {
        &self.inner
    }
}

impl<'a> IntoIterator for &'a Parts {
    type Item = &'a Expression;
    type IntoIter = std::slice::Iter<'a, Expression>;

    fn into_iter(self) -> Self::IntoIter {
        self.parts.iter()
    }
}

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts.fmt(f)
    }
}

impl fmt::Debug for Negated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
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
        parser::parse(text, case, false)
    }

    /// As [`parse_with`](Self::parse_with), for a query of somebody who may read this machine's
    /// files: `id=@FILE` is read as the ids in that file, one a line. The expression holds the ids.
    ///
    /// # Errors
    /// As [`parse`](Self::parse), and when the file cannot be read or has a line that is no id.
    pub fn parse_with_files(text: &str, case: Case) -> Result<Self, QueryError> {
        parser::parse(text, case, true)
    }

    /// The conjunction of `parts`: [`Everything`](Self::Everything) of none, of one the part.
    ///
    /// # Errors
    /// When it has more levels than a query can have; so for all three.
    pub fn all_of(parts: impl IntoIterator<Item = Self>) -> Result<Self, BuildError> {
        Self::conjunction(parts).checked()
    }

    /// The disjunction of `parts`: nothing (`not ()`) of none, the part itself of one.
    ///
    /// # Errors
    /// As [`all_of`](Self::all_of).
    pub fn any_of(parts: impl IntoIterator<Item = Self>) -> Result<Self, BuildError> {
        Self::disjunction(parts).checked()
    }

    /// The negation.
    ///
    /// # Errors
    /// As [`all_of`](Self::all_of).
    pub fn negated(self) -> Result<Self, BuildError> {
        Self::negation(self).checked()
    }

    /// As [`all_of`](Self::all_of), whatever the levels: for what the program adds to a query that
    /// was checked.
    pub(crate) fn conjunction(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut flat = Vec::new();
        for part in parts {
            match part {
                Self::Everything => {}
                Self::And(inner) => flat.extend(inner.parts),
                other => flat.push(other),
            }
        }
        match flat.len() {
            0 => Self::Everything,
            1 => flat.remove(0),
            _ => {
                let stands_alone = |part: &Self| !matches!(part, Self::And(_) | Self::Or(_));
                Self::And(Parts::new(flat, stands_alone))
            }
        }
    }

    /// As [`any_of`](Self::any_of), whatever the levels.
    pub(crate) fn disjunction(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut flat = Vec::new();
        for part in parts {
            match part {
                Self::Or(inner) => flat.extend(inner.parts),
                other => flat.push(other),
            }
        }
        match flat.len() {
            0 => Self::Everything.negation(),
            1 => flat.remove(0),
            _ => Self::Or(Parts::new(flat, |part| !matches!(part, Self::Or(_)))),
        }
    }

    /// As [`negated`](Self::negated), whatever the levels.
    pub(crate) fn negation(self) -> Self {
        let levels = match &self {
            Self::Term(term) if term.has_equals_sign() => 1,
            Self::And(_) | Self::Or(_) => self.levels() + 2,
            _ => self.levels() + 1,
        };
        Self::Not(Negated { inner: Box::new(self), levels })
    }

    fn checked(self) -> Result<Self, BuildError> {
        match self.levels() <= MAX_DEPTH {
            true => Ok(self),
            false => Err(BuildError::TooDeep { limit: MAX_DEPTH }),
        }
    }

    /// Levels of `not` and parentheses of its text, its terms counted.
    fn levels(&self) -> usize {
        match self {
            Self::Everything | Self::Term(_) => 1,
            Self::And(parts) | Self::Or(parts) => parts.levels,
            Self::Not(inner) => inner.levels,
        }
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

impl Parts {
    fn new(parts: Vec<Expression>, stands_alone: impl Fn(&Expression) -> bool) -> Self {
        let levels = |part: &Expression| part.levels() + usize::from(!stands_alone(part));
        Self { levels: parts.iter().map(levels).max().unwrap_or_default(), parts }
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
    use super::super::Test;
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
    fn an_expression_has_as_many_levels_as_a_text_can_have() {
        let term = || Expression::parse("round>2").unwrap();
        let mut built = term();
        let mut levels = 1;
        let refused = loop {
            match built.clone().negated() {
                Ok(deeper) => built = deeper,
                Err(error) => break error,
            }
            levels += 1;
        };
        assert_eq!((levels, refused), (64, BuildError::TooDeep { limit: 64 }));
        let expected = "the expression nests deeper than 64 levels; build it flatter";
        assert_eq!(BuildError::TooDeep { limit: 64 }.to_string(), expected);
        assert_eq!(Expression::parse(&built.to_string()), Ok(built.clone()));
        // 200,000 would overflow the stack when it is dropped, printed or asked.
        let mut refusals = 0;
        for _ in 0..200_000 {
            match built.clone().negated() {
                Ok(deeper) => built = deeper,
                Err(_) => refusals += 1,
            }
        }
        assert_eq!(refusals, 200_000);
        // Conjunctions and disjunctions in turn.
        let mut built = term();
        loop {
            let either = Expression::any_of([built.clone(), term()]);
            let Ok(both) = either.and_then(|of| Expression::all_of([of, term()])) else { break };
            built = both;
        }
        assert_eq!(Expression::parse(&built.to_string()), Ok(built.clone()));
        assert!(built.to_string().matches('(').count() > 50, "{built}");
        // What the program adds to a query of the deepest kind does not end it.
        let more = Expression::conjunction([built.negation(), term()]);
        assert_eq!(more.holds(&mut |_: &Term| Ok::<bool, ()>(true)), Ok(false));
    }
}
