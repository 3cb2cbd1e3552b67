//! One item: source and output, the question, and the frame at the side.

use fnstore::model::Span;
use fnstore::model::{CoreType, Frame, Provenance};
use fnstore::review::{Example, FLAGS, Mark, Question, Triple, View, whole_words};
use fnstore::text::{CharIndex, DefinitionPart, definition_parts, letters};
use maud::{Markup, html};
use serde_json::{Value, json};

use super::Review;
use crate::cli::print::linked::LinkRecord;

/// Colours of frame elements.
const COLOURS: usize = 8;

/// An item for the script: what it shows, and the target in code points with all places where its
/// ends may stand.
pub(super) fn record(review: &Review, number: usize, view: &View) -> Value {
    let index = CharIndex::new(&view.output.text);
    let in_chars = |spans: &[Span]| -> Vec<(u32, u32)> {
        let spans = spans.iter().filter_map(|span| index.to_chars(*span).ok());
        spans.map(|span| (span.start, span.end)).collect()
    };
    json!({
        "n": number,
        "html": shown(review, number, view).into_string(),
        "text": view.output.text,
        "targets": in_chars(&view.output.targets),
        "elements": elements_of(review, view, &index),
        "words": in_chars(&whole_words(&view.output.text)),
        "letters": in_chars(&letters(&view.output.text)),
        "judges": judges(review, view),
        "counts": counts(review),
    })
}

/// The FEs that can be moved, with their spans in code points; none in a blind review.
fn elements_of(review: &Review, view: &View, index: &CharIndex) -> Vec<Value> {
    if review.session.is_blind() {
        return Vec::new();
    }
    let elements = view.elements().map(|(name, span)| {
        let span = index.to_chars(span).map(|span| (span.start, span.end)).unwrap_or_default();
        json!({ "name": name, "span": span })
    });
    elements.collect()
}

/// What a line for `fnstore judge --from` says beside the score; nothing in a blind review, where
/// ids would tell outputs from controls.
fn judges(review: &Review, view: &View) -> Option<Value> {
    let (set, reviewer) = (view.item.set.to_string(), review.session.reviewer());
    let is_blind = review.session.is_blind();
    (!is_blind).then(|| json!({ "set": set, "reviewer": reviewer, "question": view.recorded }))
}

/// How far the review is.
pub(super) fn counts(review: &Review) -> Value {
    let counts = review.session.counts();
    json!({ "decided": counts.decided, "undoable": counts.undoable, "left": counts.left })
}

fn shown(review: &Review, number: usize, view: &View) -> Markup {
    let (is_blind, question) = (review.session.is_blind(), review.session.question());
    html! {
        div.work {
            section.sentence aria-label="Sentence" {
                p.facts {
                    "no. " (number + 1) " \u{b7} "
                    @match &view.triple {
                        Some(triple) => { (place(triple)) }
                        None if is_blind => { "a sentence with a marked word" }
                        None => { (facts(view)) }
                    }
                }
                @if let Some(source) = &view.source {
                    h2 { "Source" }
                    p.text.source dir="auto" lang=(view.language) { (sentence(source, &view.frame)) }
                    h2 { "Output" }
                }
                (output(view))
                h2.question id="question" {
                    (question.wording(Some(&view.frame.name)))
                }
                p.facts { (help(question)) }
                @if question == Question::Similarity {
                    fieldset.flags {
                        legend { "Fluency" }
                        @for (flag, key) in FLAGS.iter().zip(["f", "m"]) {
                            label { input type="checkbox" name="flag" value=(flag); " " (flag) " " kbd { (key) } }
                        }
                    }
                }
                div.answers role="group" aria-labelledby="question" {
                    button.accept data-key="a" { "Accept " kbd { "a" } }
                    button.reject data-key="r" { "Reject " kbd { "r" } }
                    span.scores {
                        @for score in 1..=9 {
                            button data-key=(score) aria-label=(format!("{score}: score {}", score * 10)) { (score) }
                        }
                    }
                    label.exact { "0 to 100 " kbd { "n" } " " input type="number" name="score" min="0" max="100"; }
                    button data-key="s" { "Skip " kbd { "s" } }
                    button data-key="u" { "Undo " kbd { "u" } }
                    @if !is_blind { button data-key="e" { "Edit span " kbd { "e" } } }
                }
                @if let Some(judged) = &view.judged {
                    p.judged { "You gave it " b { (judged.score) } "." }
                }
                @if review.session.was_skipped(number) { p.judged { "You skipped it before." } }
            }
            @if matches!(question, Question::Evokes | Question::Elements) {
                aside aria-label="Frame" { (frame(view)) }
            }
        }
    }
}

/// Which sentence of which triple.
fn place(triple: &Triple) -> Markup {
    html! {
        "task " (triple.number + 1) " of " (triple.of)
        " \u{b7} sentence " (triple.at + 1) " of " (triple.sentences.len())
    }
}

/// The sentence that is asked about, among the others of its triple.
fn output(view: &View) -> Markup {
    let (frame, language) = (&view.frame, &view.language);
    let asked = html! {
        p.text.output id="output" dir="auto" lang=(language) { (sentence(&view.output, frame)) }
    };
    let Some(triple) = &view.triple else { return asked };
    html! {
        ol.triple {
            @for (at, other) in triple.sentences.iter().enumerate() {
                @if at == triple.at { li aria-current="true" { (asked) } }
                @else { li { p.text dir="auto" lang=(language) { (sentence(other, frame)) } } }
            }
        }
    }
}

/// What a reviewer who is new to the question needs to know.
fn help(question: Question) -> &'static str {
    match question {
        Question::Evokes => {
            "It does if the word, as it is used here, calls up the situation that the frame describes. \
             1 to 9 are scores between reject and accept."
        }
        Question::Meaning => {
            "The marked words may be other words for the same. 1 to 9 are scores between reject and accept."
        }
        Question::Elements => {
            "Reject where one is missing, too long, too short or of another name; e moves the target, f there an element."
        }
        Question::Similarity => {
            "Accept is 100, the same meaning; reject is 0, nothing in common; 1 to 9 are 10 to 90."
        }
    }
}

/// Where the set comes from.
fn facts(view: &View) -> Markup {
    html! {
        code { (view.item.set) } " " b { (view.output.lexunit) } " in " b { (view.frame.name) }
        @if let Some(release) = &view.release { " of " (release) }
        @if let Provenance::Generated(made) = &view.set.provenance {
            " \u{b7} round " (made.round)
            " \u{b7} aligner " (format!("{:.2}", made.aligner))
            @if let Some(filter) = &made.filter { " \u{b7} p " (format!("{:.2}", filter.precision)) }
        }
        @if let Provenance::Carried(carrying) = &view.set.provenance {
            " \u{b7} carried from " (carrying.source)
            " \u{b7} aligner " (format!("{:.2}", carrying.aligner))
        }
        @if let Some(said) = &view.verification {
            @if let Some(share) = said.evokes { " \u{b7} evokes " (format!("{share:.2}")) }
            @if let Some(share) = said.same_meaning {
                " \u{b7} same meaning " (format!("{share:.2}"))
            }
        }
    }
}

/// A sentence with its marks. Line ends show as they are; the script has the exact text.
pub(super) fn sentence(example: &Example, frame: &Frame) -> Markup {
    let pieces = example.pieces();
    let elements: Vec<Option<&str>> = pieces.iter().map(|(_, marks)| element(marks)).collect();
    html! {
        @for (place, (text, marks)) in pieces.iter().enumerate() {
            // An FE in several pieces is named behind the last of them.
            @let is_last = elements.get(place + 1).is_none_or(|next| *next != elements[place]);
            (piece(text, marks, frame, is_last))
        }
    }
}

/// The FE that a piece is marked as.
fn element<'a>(marks: &[&'a Mark]) -> Option<&'a str> {
    marks.iter().find_map(|mark| match mark {
        Mark::Element(name) => Some(name.as_str()),
        _ => None,
    })
}

fn piece(text: &str, marks: &[&Mark], frame: &Frame, is_last: bool) -> Markup {
    let is_changed = marks.contains(&&Mark::Changed);
    let inner = html! {
        @if is_changed { span.changed { (text) } } @else { (text) }
    };
    let inner = html! {
        @if marks.contains(&&Mark::Target) { mark.target { (inner) } } @else { (inner) }
    };
    match element(marks) {
        Some(name) => html! {
            span class={ "fe " (colour(frame, name)) } data-fe=[is_last.then_some(name)] { (inner) }
        },
        None => inner,
    }
}

/// The class of an FE's colour, by its place in the frame.
fn colour(frame: &Frame, name: &str) -> String {
    let place = frame.elements.iter().position(|element| element.name == name).unwrap_or(0);
    format!("e{}", place % COLOURS)
}

fn frame(view: &View) -> Markup {
    let frame = &view.frame;
    html! {
        h2 { (frame.name) }
        div.definition { (definition(&frame.definition)) }
        h3 { "Frame elements" }
        (elements(frame))
        @if !view.examples.is_empty() {
            h3 { "Examples by people" }
            ul.examples {
                @for example in &view.examples {
                    li { span.text dir="auto" lang=(view.language) { (sentence(example, frame)) } " " small { (example.lexunit) } }
                }
            }
        }
        @if !view.links.is_empty() {
            h3 { "Linked to " (view.output.lexunit) }
            ul.examples {
                @for link in &view.links { li { (LinkRecord::new(link).line()) } }
            }
        }
    }
}

/// A definition with its examples set apart.
pub(super) fn definition(text: &str) -> Markup {
    html! {
        @for part in definition_parts(text) {
            @match part {
                DefinitionPart::Text(text) => p { (text) },
                DefinitionPart::Example(text) => p.example { (text) },
            }
        }
    }
}

/// The FEs in their colours, core ones first.
pub(super) fn elements(frame: &Frame) -> Markup {
    let core: Vec<_> = frame.elements.iter().filter(|it| it.core_type == CoreType::Core).collect();
    let other = frame.elements.iter().filter(|it| it.core_type != CoreType::Core);
    html! {
        p.elements {
            @for element in core { span class={ "fe core " (colour(frame, &element.name)) } { (element.name) } " " }
            @for element in other { span class={ "fe " (colour(frame, &element.name)) } { (element.name) } " " }
        }
    }
}
