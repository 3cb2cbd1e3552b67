//! Canonical text: every expression prints as a query that reads back as the same expression, but
//! for `{:#}`, which has a number in place of a long list of ids.

use std::fmt::{self, Display as _};

use super::pattern::Form;
use super::{Case, Comparison, Distance, Expression, LabelTest, Pattern, Term, Test};

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Everything => f.write_str("()"),
            Self::And(parts) => {
                separated(f, parts, " ", |part| matches!(part, Self::And(_) | Self::Or(_)))
            }
            Self::Or(parts) => separated(f, parts, " or ", |part| matches!(part, Self::Or(_))),
            Self::Not(inner) => match &**inner {
                Self::Term(term) if term.has_equals_sign() => term.write(f, "!="),
                inner @ (Self::And(_) | Self::Or(_)) => {
                    f.write_str("not ")?;
                    in_parentheses(f, inner)
                }
                inner => {
                    f.write_str("not ")?;
                    inner.fmt(f)
                }
            },
            Self::Term(term) => term.fmt(f),
        }
    }
}

fn separated(
    f: &mut fmt::Formatter<'_>,
    parts: &[Expression],
    separator: &str,
    needs_parentheses: impl Fn(&Expression) -> bool,
) -> fmt::Result {
    for (i, part) in parts.iter().enumerate() {
        if i > 0 {
            f.write_str(separator)?;
        }
        if needs_parentheses(part) {
            in_parentheses(f, part)?;
        } else {
            part.fmt(f)?;
        }
    }
    Ok(())
}

/// An expression in parentheses, in the form that is asked for.
fn in_parentheses(f: &mut fmt::Formatter<'_>, inner: &Expression) -> fmt::Result {
    f.write_str("(")?;
    inner.fmt(f)?;
    f.write_str(")")
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, self.operator())
    }
}

impl Term {
    fn operator(&self) -> &'static str {
        match &self.test {
            Test::Pattern(pattern) | Test::Relative(pattern, _) | Test::Label(pattern, _) => {
                pattern.operator()
            }
            Test::Overlap(sides) => sides[0].0.operator(),
            Test::Integer(comparison, _) | Test::Decimal(comparison, _) => comparison.as_str(),
            Test::Choice(_) | Test::Sets(_) | Test::Sentences(_) | Test::Revision(_) => "=",
        }
    }

    /// Whether its negation can be written with `!=`.
    pub(super) fn has_equals_sign(&self) -> bool {
        self.operator() == "=" && !matches!(self.test, Test::Revision(_) | Test::Overlap(_))
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, operator: &str) -> fmt::Result {
        write!(f, "{}{operator}", self.field)?;
        match &self.test {
            Test::Pattern(pattern) => pattern.fmt(f),
            Test::Relative(name, distance) => {
                name.fmt(f)?;
                match distance {
                    Some(Distance { comparison, steps }) => {
                        write!(f, "{{distance{}{steps}}}", comparison.as_str())
                    }
                    None => Ok(()),
                }
            }
            Test::Label(name, tests) => label(f, name, tests),
            Test::Overlap(sides) => {
                let [(one, tests), (other, others)] = &**sides;
                label(f, one, tests)?;
                write!(f, " overlaps {}{}", self.field, other.operator())?;
                label(f, other, others)
            }
            Test::Choice(word) => f.write_str(word),
            Test::Integer(_, number) | Test::Revision(number) => write!(f, "{number}"),
            Test::Decimal(_, number) => write!(f, "{number}"),
            Test::Sets(ids) => listed(f, ids),
            Test::Sentences(ids) => listed(f, ids),
        }
    }
}

/// Most ids that `{:#}` lists.
const LISTED: usize = 5;

/// Ids parted by commas, or in the short form their number.
fn listed<T: fmt::Display>(f: &mut fmt::Formatter<'_>, ids: &[T]) -> fmt::Result {
    if f.alternate() && ids.len() > LISTED {
        return write!(f, "({} ids)", ids.len());
    }
    for (at, id) in ids.iter().enumerate() {
        let comma = if at > 0 { "," } else { "" };
        write!(f, "{comma}{id}")?;
    }
    Ok(())
}

fn label(f: &mut fmt::Formatter<'_>, name: &Pattern, tests: &[LabelTest]) -> fmt::Result {
    name.fmt(f)?;
    if tests.is_empty() {
        return Ok(());
    }
    let tests: Vec<String> = tests.iter().map(LabelTest::to_string).collect();
    write!(f, "{{{}}}", tests.join(" "))
}

impl fmt::Display for LabelTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Overt(overt) => write!(f, "overt={overt}"),
            Self::Pattern { field, negated, pattern } => {
                let name = field.name();
                match (*negated, pattern.operator()) {
                    (true, "=") => write!(f, "{name}!={pattern}"),
                    (true, operator) => write!(f, "not {name}{operator}{pattern}"),
                    (false, operator) => write!(f, "{name}{operator}{pattern}"),
                }
            }
        }
    }
}

impl Comparison {
    /// As written in queries.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }
}

impl Pattern {
    fn operator(&self) -> &'static str {
        match self.form() {
            Form::Exact(_) | Form::Wildcard(_) => "=",
            Form::Regex(_) => "~",
        }
    }
}

impl fmt::Display for Pattern {
    /// The value of a term: bare where possible, else in double quotes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = match self.form() {
            Form::Exact(text) => escaped(text),
            Form::Wildcard(pieces) => {
                pieces.iter().map(|piece| escaped(piece)).collect::<Vec<_>>().join("*")
            }
            Form::Regex(source) => return write!(f, "\"{}\"", in_quotes(source)),
        };
        if super::lexer::is_bare_value(&source) {
            f.write_str(&source)
        } else {
            write!(f, "\"{}\"", in_quotes(&source))
        }
    }
}

/// A name as the value of a term in a query's text, bare or in quotes: `frame=` before it finds
/// what has this very name, in whatever letter case.
///
/// ```
/// use fnstore::query::quoted;
///
/// assert_eq!(quoted("Verification"), "Verification");
/// assert_eq!(quoted("the \"1*\" corpus"), r#""the \"1\*\" corpus""#);
/// ```
#[must_use]
pub fn quoted(name: &str) -> String {
    Pattern::exact(name, Case::Fold).to_string()
}

/// Takes the special meaning from stars and backslashes.
fn escaped(literal: &str) -> String {
    literal.replace('\\', r"\\").replace('*', r"\*")
}

/// Escapes double quotes; backslashes already stand in pairs with the character after them.
fn in_quotes(source: &str) -> String {
    source.replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Field;
    use super::*;

    proptest! {
        #[test]
        fn a_quoted_name_is_that_very_name(
            name in "[a-zA-Z_\u{e9}\\\\*\"'(){}=<>~!&#+% ]{1,8}", more in "[a*\\\\\"]{0,2}"
        ) {
            let query = format!("frame={} pos=v", quoted(&name));
            let read = Expression::parse(&query).unwrap();
            let expected = Term::named(Field::Frame, &name).map(Expression::Term).unwrap();
            let Expression::And(parts) = &read else { panic!("{query}") };
            prop_assert_eq!(&parts[0], &expected, "{}", query);
            let Expression::Term(Term { test: Test::Pattern(pattern), .. }) = &parts[0] else {
                panic!("{query}")
            };
            prop_assert!(pattern.matches(&name));
            let longer = [name.as_str(), more.as_str()].concat();
            prop_assert_eq!(pattern.matches(&longer), more.is_empty());
        }
    }

    #[test]
    fn the_short_form_counts_the_ids_of_long_lists_and_has_all_else() {
        for (query, short) in [
            ("frame=A id=x1,x2,x3,x4,x5", "frame=A id=x1,x2,x3,x4,x5"),
            ("frame=A id=x1,x2,x3,x4,x5,x6", "frame=A id=(6 ids)"),
            ("not id=x1,x2,x3,x4,x5,x6 split=train", "id!=(6 ids) split=train"),
            ("not (pos=v or seed=x1,x2,x3,x4,x5,f6)", "not (pos=v or seed=(6 ids))"),
            (
                "pos=v (sentence=x1,x2,x3,x4,x5,x6 or round>2)",
                "pos=v (sentence=(6 ids) or round>2)",
            ),
        ] {
            let expression = Expression::parse(query).unwrap();
            assert_eq!(format!("{expression:#}"), short);
        }
    }

    #[test]
    fn canonical_text_is_short_and_quotes_only_what_must_be_quoted() {
        for (query, canonical) in [
            ("", "()"),
            ("  frame = Verification  ", "frame=Verification"),
            ("frame=A and (lu=b.v and pos=v)", "frame=A lu=b.v pos=v"),
            ("(frame=A or frame=B) frame=C", "(frame=A or frame=B) frame=C"),
            ("frame=A frame=B or frame=C", "frame=A frame=B or frame=C"),
            ("not frame=A", "frame!=A"),
            ("NOT frame!=A", "not frame!=A"),
            ("not (frame=A frame=B)", "not (frame=A frame=B)"),
            ("not round<2", "not round<2"),
            ("not since=2", "not since=2"),
            ("id=x7,f2,x7", "id=x7,f2"),
            ("not sentence=f2,x7", "sentence!=x7,f2"),
            ("lu='make sure.v'", "lu=\"make sure.v\""),
            ("trigger='say \"no\"'", "trigger=\"say \\\"no\\\"\""),
            (r"text~\bnot\b", r#"text~"\bnot\b""#),
            ("trigger=a**b", "trigger=a*b"),
            (r"trigger=5\*3", r#"trigger="5\*3""#),
            ("origin=GENERATED ni=ini", "origin=generated ni=INI"),
            ("aligner>=0.950", "aligner>=0.95"),
            ("uses != X { distance >= 2 }", "uses!=X{distance>=2}"),
            ("not related~^X{distance=1}", "not related~\"^X\"{distance=1}"),
            ("fe=X { gf=Ext and pt=NP }", "fe=X{gf=Ext pt=NP}"),
            ("fe=X{gf=Ext} OVERLAPS fe = Y", "fe=X{gf=Ext} overlaps fe=Y"),
            ("not fe=X overlaps fe~^Y{pt=NP}", "not fe=X overlaps fe~\"^Y\"{pt=NP}"),
            ("fe!=X{not gf=Ext overt!=false}", "fe!=X{gf!=Ext overt=true}"),
            ("not fe~^X{not gf~^E}", "not fe~\"^X\"{not gf~\"^E\"}"),
        ] {
            let expression = Expression::parse(query).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(expression.to_string(), canonical, "{query}");
            assert_eq!(Expression::parse(canonical), Ok(expression), "{query}");
        }
    }
}
