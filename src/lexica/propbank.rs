//! PropBank's frame files: a file for each predicate, with its rolesets.
//!
//! Version 3.4 gives links as `lexlinks` and `rolelinks`. Older files give them as attributes of
//! the roleset (`vncls`, `framnet`) or of its words (`verbnet`, `framenet`), and as `vnrole`.

use super::Result;
use super::error::At;
use super::tree::{Element, list};
use crate::model::{
    Predicate, PredicateFrame, PredicateLink, PredicateMember, PredicatePart, PredicateRole,
};

/// The version in a file's document type, as in `PropBank Frame v3.4`; else nothing.
pub(super) fn version_of(text: &str) -> String {
    let behind = text.split_once("PropBank Frame v").map_or("", |(_, behind)| behind);
    let end = behind.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
    behind[..end.unwrap_or(behind.len())].to_owned()
}

/// The rolesets of a file, each with its place.
pub(super) fn predicates_of<'a>(root: &Element, file: &'a str) -> Result<Vec<(Predicate, At<'a>)>> {
    let mut found = Vec::new();
    for predicate in root.all("predicate") {
        let lemma = predicate.need("lemma", file)?.replace('_', " ");
        for of in predicate.all("roleset") {
            found.push((roleset(of, &lemma, file)?, of.at(file)));
        }
    }
    Ok(found)
}

fn roleset(of: &Element, lemma: &str, file: &str) -> Result<Predicate> {
    let member = |lemma: String, pos: String| PredicateMember {
        lemma,
        pos,
        frames: Vec::new(),
        senses: Vec::new(),
        groupings: Vec::new(),
    };
    let linked = of.within("lexlinks", "lexlink").filter(|link| link.get("resource").is_some());
    let mut links: Vec<PredicateLink> = linked.map(|link| to(link, String::new())).collect();
    let mut members = Vec::new();
    for alias in of.within("aliases", "alias") {
        let pos = match alias.get("pos") {
            Some("j") => "a".to_owned(),
            _ => alias.value("pos"),
        };
        let linked =
            list(alias.get("verbnet")).into_iter().map(|name| of_resource("VerbNet", name));
        links.extend(linked);
        let frames = list(alias.get("framenet"));
        let alias = member(alias.text().replace('_', " "), pos);
        let alias = PredicateMember { frames, ..alias };
        if !alias.lemma.is_empty() && !members.contains(&alias) {
            members.push(alias);
        }
    }
    if members.is_empty() {
        // A file of before 3.0 is of a verb, unless its name says another part of speech.
        let pos = ["-n.xml", "-j.xml"].iter().find(|ending| file.ends_with(**ending));
        let pos = pos.map_or("v", |ending| if *ending == "-n.xml" { "n" } else { "a" });
        members.push(member(lemma.to_owned(), pos.to_owned()));
    }
    let roles = of.within("roles", "role").map(|of| role(of, file)).collect::<Result<_>>()?;
    for (attribute, resource) in [("vncls", "VerbNet"), ("framnet", "FrameNet")] {
        links.extend(list(of.get(attribute)).into_iter().map(|name| of_resource(resource, name)));
    }
    Ok(Predicate {
        name: of.need("id", file)?,
        parent: String::new(),
        definition: of.value("name"),
        members,
        roles,
        frames: of.all("example").map(example).collect(),
        links,
    })
}

fn of_resource(resource: &str, predicate: String) -> PredicateLink {
    let resource = resource.to_owned();
    PredicateLink { resource, predicate, ..PredicateLink::default() }
}

fn role(of: &Element, file: &str) -> Result<PredicateRole> {
    let mut links: Vec<PredicateLink> =
        of.within("rolelinks", "rolelink").map(|link| to(link, link.text())).collect();
    links.extend(of.all("vnrole").map(|link| PredicateLink {
        resource: "VerbNet".to_owned(),
        version: String::new(),
        predicate: link.value("vncls"),
        role: link.value("vntheta"),
    }));
    Ok(PredicateRole {
        name: of.need("n", file)?,
        description: of.value("descr"),
        function: of.value("f"),
        links,
    })
}

/// What a `lexlink` or `rolelink` leads to.
fn to(link: &Element, role: String) -> PredicateLink {
    PredicateLink {
        resource: link.value("resource"),
        version: link.value("version"),
        predicate: link.value("class"),
        role,
    }
}

/// An example: its arguments and the predicate's word, in the file's order.
fn example(of: &Element) -> PredicateFrame {
    let part = |part: &Element| {
        let name = match part.name.as_str() {
            "arg" => part
                .get("type")
                .map_or_else(|| format!("ARG{}", part.value("n").to_uppercase()), str::to_owned),
            "rel" => "REL".to_owned(),
            _ => return None,
        };
        Some(PredicatePart { name, value: part.text() })
    };
    // Of 3.4's later files, arguments stand in an element of their own.
    let inner = of.all("propbank").flat_map(|of| &of.children);
    PredicateFrame {
        name: of.value("name"),
        parts: of.children.iter().chain(inner).filter_map(part).collect(),
        examples: of.all("text").map(Element::text).filter(|text| !text.is_empty()).collect(),
    }
}
