//! What notebooks show: a sentence with its target and frame elements in colour, a table of
//! answers, a frame.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use fnstore::model::{CoreType, Frame, Span};
use fnstore::proposals::Proposal;
use fnstore::review::{Example, Mark};
use fnstore::search::Answer;
use fnstore::text::plain_definition;

/// Colours of frame elements, by their number in the set: dark enough on white, light enough on
/// black.
const COLOURS: [&str; 6] = ["#1b7f5c", "#b3541e", "#5b6bd6", "#a8377f", "#7a7a00", "#2f7f9e"];

/// The text without what HTML would read.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            letter => safe.push(letter),
        }
    }
    safe
}

/// A sentence: the target bold, each frame element underlined with its name behind it.
fn sentence(answer: &Answer) -> String {
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
    let example = Example { text, targets, marks, lexunit };
    let (mut html, mut at) = (String::new(), 0);
    for (piece, marks) in example.pieces() {
        let mut style = String::new();
        for mark in marks {
            match mark {
                Mark::Target => style.push_str("font-weight:bold;"),
                Mark::Element(name) => {
                    let _ = write!(style, "border-bottom:2px solid {};", colour(name));
                }
                Mark::Changed => {}
            }
        }
        let _ = write!(html, "<span style=\"{style}\">{}</span>", escaped(piece));
        at += piece.len();
        for (_, name) in ends.iter().filter(|(end, _)| *end as usize == at) {
            let colour = colour(name);
            let _ = write!(html, "<sub style=\"color:{colour}\">{}</sub>", escaped(name));
        }
    }
    if let Some(rest) = answer.unexpressed_line() {
        let _ = write!(html, " <small>{}</small>", escaped(&rest));
    }
    html
}

/// An annotation set.
pub(crate) fn set(answer: &Answer) -> String {
    format!(
        "<div><small><b>{}</b> {} &nbsp; {}</small><br>{}</div>",
        escaped(&answer.frame),
        escaped(&answer.lexunit),
        escaped(&answer.origin_line()),
        sentence(answer)
    )
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
            sentence(answer)
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
