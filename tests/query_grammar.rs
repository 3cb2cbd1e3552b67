//! `schema/query.md` against the parser: the table of fields row by row, and random queries made by
//! the grammar that stands there.

use std::collections::BTreeMap;

use fnstore::query::{Expression, Field, FieldKind, Operator, QueryError};
use proptest::prelude::*;

const PAGE: &str = include_str!("../schema/query.md");

/// A row of the table of fields.
struct Row {
    field: Field,
    operators: Vec<&'static str>,
    examples: Vec<&'static str>,
}

/// The texts between backticks.
fn quoted(cell: &'static str) -> Vec<&'static str> {
    cell.split('`').skip(1).step_by(2).collect()
}

fn rows() -> Vec<Row> {
    let lines = PAGE.lines().filter(|line| line.starts_with("| `"));
    let row = |line: &'static str| {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [field, operators, .., examples] = cells.as_slice() else { panic!("{line}") };
        let field = Field::from_name(quoted(field)[0]).unwrap_or_else(|| panic!("{line}"));
        Row { field, operators: quoted(operators), examples: quoted(examples) }
    };
    lines.map(row).collect()
}

impl Row {
    /// What follows the operator of the first example.
    fn value(&self) -> &'static str {
        let rest = self.examples[0].strip_prefix(self.field.name()).unwrap();
        rest.trim_start_matches(['=', '!', '<', '>', '~'])
    }
}

#[test]
fn the_table_lists_every_field_with_what_it_takes() {
    let rows = rows();
    assert_eq!(rows.iter().map(|row| row.field).collect::<Vec<_>>(), Field::ALL);
    for row in rows {
        for example in &row.examples {
            let read = Expression::parse(example).unwrap_or_else(|error| panic!("{error}"));
            assert!(read.terms().all(|term| term.field() == row.field), "{example}");
        }
        for operator in Operator::ALL {
            let query = format!("{}{operator}{}", row.field, row.value());
            match Expression::parse(&query) {
                Ok(_) => assert!(row.operators.contains(&operator.as_str()), "{query}"),
                Err(QueryError::Operator { .. }) => {
                    assert!(!row.operators.contains(&operator.as_str()), "{query}");
                }
                Err(error) => panic!("{query}: {error}"),
            }
        }
    }
}

/// A piece of EBNF.
#[derive(Debug, Clone)]
enum Rule {
    Terminal(String),
    /// What is described in words.
    Special(String),
    Name(String),
    Sequence(Vec<Rule>),
    Choice(Vec<Rule>),
    Optional(Box<Rule>),
    Repeated(Box<Rule>),
}

/// Reads EBNF (ISO 14977): `=`, `,`, `|`, braces, brackets, parentheses, `? words ?`, comments.
struct Reader<'a>(&'a str);

impl Reader<'_> {
    fn next(&mut self) -> char {
        loop {
            self.0 = self.0.trim_start();
            match self.0.strip_prefix("(*") {
                Some(comment) => self.0 = comment.split_once("*)").unwrap().1,
                None => return self.0.chars().next().unwrap_or('\0'),
            }
        }
    }

    fn take(&mut self, mark: char) -> bool {
        let found = self.next() == mark;
        if found {
            self.0 = &self.0[mark.len_utf8()..];
        }
        found
    }

    fn until(&mut self, end: char) -> String {
        let (text, rest) = self.0.split_once(end).unwrap();
        self.0 = rest;
        text.to_owned()
    }

    fn name(&mut self) -> String {
        let end = self.0.find(|letter: char| !letter.is_alphanumeric() && letter != '-').unwrap();
        let (name, rest) = self.0.split_at(end);
        self.0 = rest;
        name.to_owned()
    }

    fn grammar(mut self) -> BTreeMap<String, Rule> {
        let mut rules = BTreeMap::new();
        while self.next() != '\0' {
            let name = self.name();
            assert!(self.take('='), "{name}");
            rules.insert(name, self.choice());
            assert!(self.take(';'), "{}", self.0);
        }
        rules
    }

    fn choice(&mut self) -> Rule {
        let mut choices = vec![self.sequence()];
        while self.take('|') {
            choices.push(self.sequence());
        }
        if choices.len() == 1 { choices.remove(0) } else { Rule::Choice(choices) }
    }

    fn sequence(&mut self) -> Rule {
        let mut parts = vec![self.piece()];
        while self.take(',') {
            parts.push(self.piece());
        }
        if parts.len() == 1 { parts.remove(0) } else { Rule::Sequence(parts) }
    }

    fn piece(&mut self) -> Rule {
        let opening = self.next();
        if opening.is_alphabetic() {
            return Rule::Name(self.name());
        }
        assert!(self.take(opening));
        match opening {
            '"' | '\'' => Rule::Terminal(self.until(opening)),
            '?' => Rule::Special(self.until('?').trim().to_owned()),
            _ => {
                let inner = self.choice();
                let (closing, rule) = match opening {
                    '{' => ('}', Rule::Repeated(Box::new(inner))),
                    '[' => (']', Rule::Optional(Box::new(inner))),
                    '(' => (')', inner),
                    _ => panic!("{opening}{}", self.0),
                };
                assert!(self.take(closing), "{}", self.0);
                rule
            }
        }
    }
}

/// Makes a query of the grammar; which one, the bytes decide.
struct Writer<'a> {
    rules: &'a BTreeMap<String, Rule>,
    rows: &'a [Row],
    bytes: std::slice::Iter<'a, u8>,
    text: String,
    /// The row of the field that was written last.
    row: usize,
    /// What was written last.
    word: String,
    /// What is tested inside braces; empty outside.
    label: String,
    /// The operator of the field that was written last.
    operator: String,
    after_value: bool,
    depth: usize,
}

impl Writer<'_> {
    fn byte(&mut self) -> usize {
        usize::from(self.bytes.next().copied().unwrap_or(0))
    }

    fn pick<'s>(&mut self, choices: &[&'s str]) -> &'s str {
        choices[self.byte() % choices.len()]
    }

    /// Writes a piece, apart from the one before it where it must be.
    fn add(&mut self, text: &str) {
        let joins = |letter: char| "(){}=!<>~".contains(letter);
        let free = match self.after_value {
            true => text.starts_with([')', '{', '}']),
            false => text.starts_with(joins) || self.text.ends_with(joins),
        };
        if !free || self.byte() % 2 == 1 {
            self.text.push(' ');
        }
        self.text.push_str(text);
        text.clone_into(&mut self.word);
        self.after_value = false;
    }

    fn write(&mut self, rule: &Rule) {
        match rule {
            Rule::Terminal(text) => {
                if ["gf", "pt", "ni"].contains(&text.as_str()) {
                    text.clone_into(&mut self.label);
                }
                self.add(text);
            }
            Rule::Special(words) => panic!("{words}"),
            Rule::Name(name) => self.write_named(name),
            Rule::Sequence(parts) => parts.iter().for_each(|part| self.write(part)),
            Rule::Choice(choices) => {
                // The last choice of this grammar ends; a deep one must.
                let number = if self.depth > 12 { choices.len() - 1 } else { self.byte() };
                self.write(&choices[number % choices.len()]);
            }
            Rule::Optional(inner) => {
                if self.byte() % 2 == 1 {
                    self.write(inner);
                }
            }
            Rule::Repeated(inner) => {
                while self.byte() % 3 == 1 {
                    self.write(inner);
                }
            }
        }
    }

    fn write_named(&mut self, name: &str) {
        let row = &self.rows[self.row];
        match name {
            "field" => {
                self.row = self.byte() % self.rows.len();
                self.label.clear();
                self.add(self.rows[self.row].field.name());
            }
            "operator" => {
                let operator = self.pick(&row.operators);
                operator.clone_into(&mut self.operator);
                self.add(operator);
            }
            "label" if row.field != Field::Fe => {}
            "overlap" if row.field != Field::Fe || self.operator == "!=" => {}
            "distance" if row.field.kind() != FieldKind::Relation => {}
            "overlap" | "distance" => {
                // The second label of an overlap begins anew.
                if name == "overlap" { "" } else { name }.clone_into(&mut self.label);
                self.write(&self.rules[name].clone());
            }
            "value" => {
                let value = self.value();
                self.add(&value);
                self.after_value = true;
            }
            _ => {
                self.depth += 1;
                self.write(&self.rules[name].clone());
                self.depth -= 1;
            }
        }
    }

    /// A value: of the grammar where any text fits, else the example's.
    fn value(&mut self) -> String {
        let row = &self.rows[self.row];
        let any_text = match self.label.as_str() {
            "" => [Field::Trigger, Field::Frame, Field::Fe].contains(&row.field),
            label => !["ni", "distance"].contains(&label),
        };
        if any_text && self.word != "~" {
            let mut value = String::new();
            self.spell(&self.rules["value"].clone(), &mut value);
            return value;
        }
        match self.label.as_str() {
            "" => row.value().split('{').next().unwrap_or_default().to_owned(),
            "ni" => "DNI".to_owned(),
            "distance" => "2".to_owned(),
            _ => "NP".to_owned(),
        }
    }

    /// Writes a rule of letters, in which nothing stands apart.
    fn spell(&mut self, rule: &Rule, value: &mut String) {
        match rule {
            Rule::Terminal(text) => value.push_str(text),
            Rule::Special(words) => {
                let letters: &[&str] = match words.as_str() {
                    "any character" => &["a", "*", " ", "(", "\"", "\\", "\u{e9}"],
                    words if words.contains("but space") => &["a", "*", "-", "7", "\u{1f600}", "!"],
                    _ => &["a", " ", "(", "}", "=", "~", "*", "<"],
                };
                value.push_str(self.pick(letters));
            }
            Rule::Name(name) => self.spell(&self.rules[name].clone(), value),
            Rule::Sequence(parts) => parts.iter().for_each(|part| self.spell(part, value)),
            Rule::Choice(choices) => {
                let number = self.byte() % choices.len();
                self.spell(&choices[number], value);
            }
            Rule::Optional(_) => panic!("no letters are optional"),
            Rule::Repeated(inner) => {
                while !self.byte().is_multiple_of(3) {
                    self.spell(inner, value);
                }
            }
        }
    }
}

fn grammar() -> BTreeMap<String, Rule> {
    let (_, block) = PAGE.split_once("```ebnf").unwrap();
    Reader(block.split_once("```").unwrap().0).grammar()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn what_the_grammar_makes_is_a_query(bytes in proptest::collection::vec(any::<u8>(), 0..120)) {
        let (rules, rows) = (grammar(), rows());
        let mut writer = Writer {
            rules: &rules,
            rows: &rows,
            bytes: bytes.iter(),
            text: String::new(),
            row: 0,
            word: String::new(),
            label: String::new(),
            operator: String::new(),
            after_value: false,
            depth: 0,
        };
        writer.write_named("query");
        let text = writer.text;
        match Expression::parse(&text) {
            Ok(read) => prop_assert_eq!(Expression::parse(&read.to_string()), Ok(read)),
            Err(error) => prop_assert!(false, "{}: {}", text, error),
        }
    }
}

#[test]
fn the_grammar_names_the_operators_that_there_are() {
    let Rule::Choice(operators) = grammar().remove("operator").unwrap() else { panic!("a choice") };
    let named: Vec<String> = operators
        .into_iter()
        .map(|rule| match rule {
            Rule::Terminal(text) => text,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(named.len(), Operator::ALL.len());
    assert!(Operator::ALL.iter().all(|operator| named.contains(&operator.to_string())));
}
