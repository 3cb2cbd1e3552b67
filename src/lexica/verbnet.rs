//! VerbNet 3: a file for each class, with its subclasses in each other.

use super::Result;
use super::error::At;
use super::tree::{Element, list};
use crate::model::{Predicate, PredicateFrame, PredicateMember, PredicatePart, PredicateRole};

/// A class with its subclasses, parents first, each with its place.
pub(super) fn predicates_of<'a>(root: &Element, file: &'a str) -> Result<Vec<(Predicate, At<'a>)>> {
    let mut found = Vec::new();
    class(root, String::new(), file, &mut found)?;
    Ok(found)
}

fn class<'a>(
    of: &Element,
    parent: String,
    file: &'a str,
    found: &mut Vec<(Predicate, At<'a>)>,
) -> Result<()> {
    let name = of.need("ID", file)?;
    let member = |of: &Element| -> Result<PredicateMember> {
        Ok(PredicateMember {
            lemma: of.need("name", file)?.replace('_', " "),
            pos: "v".to_owned(),
            // A question mark says that a sense is uncertain.
            senses: list(of.get("wn"))
                .into_iter()
                .map(|key| key.trim_start_matches('?').to_owned())
                .collect(),
            frames: list(of.get("fn_mapping")),
            groupings: list(of.get("grouping")),
        })
    };
    let role = |of: &Element| -> Result<PredicateRole> {
        let name = of.need("type", file)?;
        let description = of.all("SELRESTRS").map(restriction).collect::<Vec<_>>().join(" ");
        Ok(PredicateRole { name, description, ..PredicateRole::default() })
    };
    let predicate = Predicate {
        parent,
        definition: String::new(),
        members: of.within("MEMBERS", "MEMBER").map(member).collect::<Result<_>>()?,
        roles: of.within("THEMROLES", "THEMROLE").map(role).collect::<Result<_>>()?,
        frames: of.within("FRAMES", "FRAME").map(frame).collect(),
        links: Vec::new(),
        name: name.clone(),
    };
    found.push((predicate, of.at(file)));
    for subclass in of.within("SUBCLASSES", "VNSUBCLASS") {
        class(subclass, name.clone(), file, found)?;
    }
    Ok(())
}

/// Restrictions as text: `+animate or +organization`; those in each other in parentheses.
fn restriction(of: &Element) -> String {
    let between = match of.get("logic") {
        Some("or") => " or ",
        _ => " and ",
    };
    let parts = of.children.iter().map(|child| match child.name.as_str() {
        "SELRESTRS" => format!("({})", restriction(child)),
        _ => child.value("Value") + &child.value("type"),
    });
    parts.collect::<Vec<_>>().join(between)
}

fn part(of: &Element) -> PredicatePart {
    PredicatePart { name: of.name.clone(), value: of.value("value") }
}

fn frame(of: &Element) -> PredicateFrame {
    let name = of.all("DESCRIPTION").map(|it| it.value("primary")).collect::<Vec<_>>().join(" ");
    let parts = of.all("SYNTAX").flat_map(|syntax| &syntax.children);
    PredicateFrame {
        name,
        parts: parts.map(part).collect(),
        examples: of.within("EXAMPLES", "EXAMPLE").map(Element::text).collect(),
    }
}
