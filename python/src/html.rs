//! What notebooks show: a sentence with its target and frame elements in colour, a table of
//! answers, a frame, a proposal with its evidence, an alignment, a rewriting beside its source.
//!
//! Colours are readable on a light page and on a dark one; nothing is fetched.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use fnstore::model::{CoreType, Frame, Span};
use fnstore::proposals::Proposal;
use fnstore::review::{Example, Mark};
use fnstore::search::Answer;
use fnstore::text::chart::escaped;
use fnstore::text::plain_definition;

/// Colours of frame elements, by their number in the set: a contrast of 4 and more to the grounds
/// of Jupyter's light and dark pages.
const COLOURS: [&str; 6] = ["#1d8964", "#c25b21", "#6171d8", "#c44b98", "#7d7d00", "#3082a1"];

/// Grounds of words that are in one of two texts alone: they let the page's own ground through.
const INSERTED: &str = "background:#2da44e40;";
const DELETED: &str = "background:#cf222e40;text-decoration:line-through;";

/// A text with what is marked in it: the target bold, each frame element underlined, changed words
/// on a ground of their own, and a name behind each of `ends`.
fn marked<'a>(
    example: &Example,
    changed: &str,
    colour: impl Fn(&str) -> &'a str,
    ends: &BTreeSet<(u32, String)>,
) -> String {
    let (mut html, mut at) = (String::new(), 0);
    for (piece, marks) in example.pieces() {
        let mut style = String::new();
        for mark in marks {
            match mark {
                Mark::Target => style.push_str("font-weight:bold;"),
                Mark::Element(name) => {
                    let _ = write!(style, "border-bottom:2px solid {};", colour(name));
                }
                Mark::Changed => style.push_str(changed),
            }
        }
        let _ = write!(html, "<span style=\"{style}\">{}</span>", escaped(piece));
        at += piece.len();
        for (_, name) in ends.iter().filter(|(end, _)| *end as usize == at) {
            let colour = colour(name);
            let _ = write!(html, "<sub style=\"color:{colour}\">{}</sub>", escaped(name));
        }
    }
    html
}

/// A text without annotation, and what it has that another text has not.
fn beside(text: &str, other: &str, changed: &str) -> String {
    let mut example = plain(text);
    example.mark_changes(other);
    marked(&example, changed, |_| COLOURS[0], &BTreeSet::new())
}

fn plain(text: &str) -> Example {
    Example {
        text: text.to_owned(),
        targets: Vec::new(),
        marks: Vec::new(),
        lexunit: String::new(),
    }
}

/// A sentence: the target bold, each frame element underlined with its name behind it; of one that
/// was rewritten, the words that its source has not.
fn sentence(answer: &Answer, source: Option<&Example>) -> String {
    let mut names: Vec<&str> = Vec::new();
    let mut marks: Vec<(Span, Mark)> =
        answer.set.targets.iter().map(|span| (*span, Mark::Target)).collect();
    for element in answer.elements() {
        if let Some(span) = element.label.extent.span() {
            if !names.contains(&element.label.name.as_str()) {
                names.push(&element.label.name);
            }
            marks.push((span, Mark::Element(element.label.name.clone())));
        }
    }
    // An FE that several layers name stands there once.
    let ends: BTreeSet<(u32, String)> = (marks.iter())
        .filter_map(|(span, mark)| match mark {
            Mark::Element(name) => Some((span.end, name.clone())),
            _ => None,
        })
        .collect();
    let colour = |name: &str| {
        let number = names.iter().position(|known| *known == name).unwrap_or(0);
        COLOURS[number % COLOURS.len()]
    };
    let text = answer.sentence.text.clone();
    let (targets, lexunit) = (answer.set.targets.clone(), answer.lexunit.to_string());
    let mut example = Example { text, targets, marks, lexunit };
    if let Some(source) = source {
        example.mark_changes(&source.text);
    }
    let mut html = marked(&example, INSERTED, colour, &ends);
    if let Some(rest) = answer.unexpressed_line() {
        let _ = write!(html, " <small>{}</small>", escaped(&rest));
    }
    html
}

/// An annotation set; of a rewritten sentence also its source, with the words that are gone.
pub(crate) fn set(answer: &Answer, source: Option<&Example>) -> String {
    let mut html = format!(
        "<div><small><b>{}</b> {} &nbsp; {}</small><br>",
        escaped(&answer.frame),
        escaped(&answer.lexunit),
        escaped(&answer.origin_line()),
    );
    if let Some(source) = source {
        let mut source = source.clone();
        source.marks.retain(|(_, mark)| *mark == Mark::Target);
        source.mark_changes(&answer.sentence.text);
        let source = marked(&source, DELETED, |_| COLOURS[0], &BTreeSet::new());
        let _ = write!(html, "{source}<br>");
    }
    html + &sentence(answer, source) + "</div>"
}

/// An alignment: each piece of the source and what answers to it have one colour.
pub(crate) fn alignment(
    (source, pieces): Marked<'_>,
    (target, answers): Marked<'_>,
    score: Option<f32>,
) -> String {
    let side = |text: &str, spans: &[Span]| {
        let mut example = plain(text);
        let named =
            spans.iter().enumerate().map(|(at, span)| (*span, Mark::Element(at.to_string())));
        example.marks = named.chain(spans.iter().map(|span| (*span, Mark::Target))).collect();
        let colour = |name: &str| COLOURS[name.parse().unwrap_or(0) % COLOURS.len()];
        marked(&example, INSERTED, colour, &BTreeSet::new())
    };
    let said = match (answers.is_empty(), score) {
        (false, Some(score)) => format!("aligned, {score:.2}"),
        (_, Some(score)) => format!("nothing answers, at most {score:.2}"),
        (_, None) => "nothing answers".to_owned(),
    };
    format!(
        "<div>{}<br>{}<br><small>{said}</small></div>",
        side(source, pieces),
        side(target, answers)
    )
}

/// A text, and spans of it in bytes.
type Marked<'a> = (&'a str, &'a [Span]);

/// A sentence with the words that no rewriting of it keeps, and each rewriting with its own.
pub(crate) fn rewriting(text: &str, paraphrases: &[(&str, f32)]) -> String {
    let all: Vec<&str> = paraphrases.iter().map(|(text, _)| *text).collect();
    let first = match all.is_empty() {
        true => escaped(text),
        false => beside(text, &all.join(" "), DELETED),
    };
    let mut html = format!("<div>{first}<ol>");
    for (paraphrase, score) in paraphrases {
        let marked = beside(paraphrase, text, INSERTED);
        let _ = write!(html, "<li>{marked} <small>{score:.2}</small></li>");
    }
    html + "</ol></div>"
}

/// The release of an annotation set, where the store has several.
fn release(answer: &Answer) -> String {
    match answer.is_of_several {
        true => format!("<br><small>{}</small>", escaped(&answer.release.name)),
        false => String::new(),
    }
}

/// The first answers of a query.
pub(crate) fn query(expression: &str, found: u64, answers: &[Answer]) -> String {
    let mut html = format!(
        "<table><caption style=\"text-align:left\"><code>{}</code>: {found} annotation sets{}</caption>",
        escaped(expression),
        if answers.len() as u64 == found {
            String::new()
        } else {
            format!(", the first {}", answers.len())
        }
    );
    for answer in answers {
        let _ = write!(
            html,
            "<tr><td><b>{}</b><br>{}{}</td><td style=\"text-align:left\">{}</td></tr>",
            escaped(&answer.frame),
            escaped(&answer.lexunit),
            release(answer),
            sentence(answer, None)
        );
    }
    html + "</table>"
}

/// A frame: its definition, its frame elements by core type, its LUs.
pub(crate) fn frame(frame: &Frame, lexunits: &[String]) -> String {
    let mut html = format!(
        "<div><b>{}</b><p>{}</p><table>",
        escaped(&frame.name),
        escaped(&plain_definition(&frame.definition))
    );
    for kind in CoreType::ALL {
        for fe in frame.elements.iter().filter(|fe| fe.core_type == kind) {
            let _ = write!(
                html,
                "<tr><td><b>{}</b></td><td>{}</td><td style=\"text-align:left\">{}</td></tr>",
                escaped(&fe.name),
                kind.as_str(),
                escaped(&plain_definition(&fe.definition))
            );
        }
    }
    let _ = write!(html, "</table><small>{}</small></div>", escaped(&lexunits.join(", ")));
    html
}

/// A proposal: what speaks for it, and the best of its sets.
pub(crate) fn proposal(found: &Proposal) -> String {
    let Proposal { frame_name, name, score, evidence, .. } = found;
    let mut html = format!(
        "<div><b>{}</b> for <b>{}</b>: {score:.2}<br><small>{} sets of {} seeds",
        escaped(name),
        escaped(frame_name),
        evidence.sets,
        evidence.seeds
    );
    if let Some(evokes) = evidence.evokes {
        let _ = write!(html, ", evokes {evokes:.2}");
    }
    for near in &found.nearest {
        let _ = write!(html, ", {} {:.2}", escaped(&near.lu), near.cosine);
    }
    if let Some(decision) = &found.decided {
        let _ = write!(html, "; {}", decision.verdict.as_str());
    }
    html.push_str("</small><ul>");
    for attested in &found.sentences {
        html.push_str("<li>");
        let mut at = 0;
        for target in &attested.targets {
            let (start, end) = (target.start as usize, target.end as usize);
            let piece = |of: std::ops::Range<usize>| escaped(attested.text.get(of).unwrap_or(""));
            let _ = write!(html, "{}<b>{}</b>", piece(at..start), piece(start..end));
            at = end;
        }
        let _ = write!(html, "{}</li>", escaped(attested.text.get(at..).unwrap_or("")));
    }
    html + "</ul></div>"
}
