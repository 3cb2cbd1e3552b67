//! FrameNet's definition markup as plain text.
//!
//! Definitions hold tags as text: `<fen>` around FE names, `<ex>` around an example, and inside an
//! example `<fex name="Abbrev">` around FEs and `<t>` around the target. Releases leave tags open,
//! close them twice and use `<` as a sign; so nothing here fails, and what is no known tag stays.

/// A part of a definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DefinitionPart {
    /// Running text.
    Text(String),
    /// An example: FEs as `[Abbrev text]`, targets as `[[text]]`.
    Example(String),
}

/// The paragraphs and examples of a definition; spaces are single, empty parts left out.
#[must_use]
pub fn definition_parts(definition: &str) -> Vec<DefinitionPart> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut in_example = false;
    let mut rest = definition;
    while let Some(at) = rest.find(['<', '\n']) {
        text.push_str(&rest[..at]);
        if let Some(after) = rest[at..].strip_prefix('\n') {
            // Only an empty line ends a paragraph; examples hold line breaks now and then.
            if !in_example && after.trim_start_matches([' ', '\t', '\r']).starts_with('\n') {
                finish(&mut parts, &mut text, in_example);
            } else {
                text.push(' ');
            }
            rest = after;
            continue;
        }
        let Some((tag, after)) = tag(&rest[at..]) else {
            text.push('<');
            rest = &rest[at + 1..];
            continue;
        };
        match tag {
            Tag::Example { open } => {
                finish(&mut parts, &mut text, in_example);
                in_example = open;
            }
            Tag::Element { abbreviation } => {
                text.push('[');
                if !abbreviation.is_empty() {
                    text.push_str(abbreviation);
                    text.push(' ');
                }
            }
            Tag::ElementEnd => text.push(']'),
            Tag::Target { open } if in_example => text.push_str(if open { "[[" } else { "]]" }),
            Tag::Break => text.push(' '),
            Tag::Target { .. } | Tag::Plain => {}
        }
        rest = after;
    }
    text.push_str(rest);
    finish(&mut parts, &mut text, in_example);
    parts
}

/// The definition as one text without markup, a line for each paragraph and example.
#[must_use]
pub fn plain_definition(definition: &str) -> String {
    let lines: Vec<String> = definition_parts(definition)
        .into_iter()
        .map(|part| match part {
            DefinitionPart::Text(text) | DefinitionPart::Example(text) => text,
        })
        .collect();
    lines.join("\n")
}

fn finish(parts: &mut Vec<DefinitionPart>, text: &mut String, in_example: bool) {
    let words: Vec<&str> = text.split_whitespace().collect();
    if !words.is_empty() {
        let words = words.join(" ");
        parts.push(if in_example {
            DefinitionPart::Example(words)
        } else {
            DefinitionPart::Text(words)
        });
    }
    text.clear();
}

enum Tag<'a> {
    Example {
        open: bool,
    },
    Element {
        abbreviation: &'a str,
    },
    ElementEnd,
    Target {
        open: bool,
    },
    Break,
    /// A tag whose text reads well without it.
    Plain,
}

/// The tag that `text` starts with, and what follows it.
fn tag(text: &str) -> Option<(Tag<'_>, &str)> {
    let end = text.find('>')?;
    let (inside, after) = (&text[1..end], &text[end + 1..]);
    let (open, inside) = match inside.strip_prefix('/') {
        Some(name) => (false, name),
        None => (true, inside.trim_end_matches('/')),
    };
    let (name, attributes) = inside.split_once(char::is_whitespace).unwrap_or((inside, ""));
    let tag = match name {
        "ex" => Tag::Example { open },
        "fex" if open => Tag::Element { abbreviation: attribute(attributes) },
        "fex" => Tag::ElementEnd,
        "t" | "target" => Tag::Target { open },
        "br" => Tag::Break,
        "def-root" | "fen" | "ment" | "m" | "gov" | "x" | "em" | "supp" | "b" | "i" => Tag::Plain,
        _ => return None,
    };
    Some((tag, after))
}

/// The value of the first attribute.
fn attribute(attributes: &str) -> &str {
    attributes.split('"').nth(1).unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_and_examples_stand_apart() {
        let definition = "<def-root>A <fen>Checker</fen> looks at a\n<fen>Matter</fen>.\n\n\
                          <ex><fex name=\"Chk\">The baker</fex> <t>checked</t> <fex name=\"\">it</fex>.\
                          </ex></def-root>";
        assert_eq!(
            definition_parts(definition),
            [
                DefinitionPart::Text("A Checker looks at a Matter.".to_owned()),
                DefinitionPart::Example("[Chk The baker] [[checked]] [it].".to_owned()),
            ]
        );
        assert_eq!(plain_definition("<def-root>One\n\nTwo</def-root>"), "One\nTwo");
    }

    #[test]
    fn what_is_no_tag_is_kept() {
        for text in ["a < b and c > d", "<", "<unknown>x</unknown>", "3 <", "</"] {
            assert_eq!(definition_parts(text), [DefinitionPart::Text(text.to_owned())], "{text}");
        }
    }

    #[test]
    fn broken_markup_loses_no_word() {
        assert_eq!(
            definition_parts("<ex>open <t>target"),
            [DefinitionPart::Example("open [[target".to_owned())]
        );
        assert_eq!(definition_parts("text</ex></ex> more</def-root>").len(), 2);
        assert_eq!(definition_parts("  \n\n "), []);
    }
}
