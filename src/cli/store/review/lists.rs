//! The views that list: proposals, search, agreement.

use fnstore::database::DatabaseError;
use fnstore::proposals::{Best, Proposal};
use fnstore::query::{Expression, Selection};
use fnstore::review::{ACCEPTED, OfQuestion, Question, agreement as agreement_of};
use maud::{Markup, html};

use super::Review;
use super::lexicon_page::address_of;
use crate::cli::store::proposals::listed::answers;

/// Entries of a page.
const PAGE: usize = 50;

pub(super) fn proposals(review: &Review) -> anyhow::Result<Markup> {
    let Best { proposals, all, .. } = review.proposals(PAGE)?;
    Ok(html! {
        p.quiet {
            @if proposals.is_empty() { "Nothing is proposed, or all is decided." }
            @else { (all) " proposals, the likeliest first" }
        }
        datalist id="offered" {}
        ol.list aria-label="Proposals" { @for proposal in &proposals { (proposed(proposal)) } }
    })
}

fn proposed(proposal: &Proposal) -> Markup {
    let evidence = &proposal.evidence;
    let near: Vec<&str> = proposal.nearest.iter().map(|near| near.lu.as_str()).collect();
    html! {
        li.entry tabindex="0" data-release=(proposal.release_name) data-frame=(proposal.frame_name) data-lu=(proposal.name) {
            h2 { (proposal.name) " " small { "in " (proposal.frame_name) } }
            p.facts {
                "score " b { (format!("{:.2}", proposal.score)) }
                @if evidence.sets > 0 {
                    " \u{b7} " "sentences " (evidence.sets) " \u{b7} seeds " (evidence.seeds)
                    " \u{b7} aligner " (format!("{:.2}", evidence.aligner))
                }
                @if let Some(p) = evidence.p { " \u{b7} p " (format!("{p:.2}")) }
                @if let Some(fit) = evidence.frame_fit { " \u{b7} frame fit " (format!("{fit:.2}")) }
                @if let Some(answers) = answers(evidence.evokes, evidence.evokes_share, evidence.verified) { " \u{b7} " (answers) }
                @if !near.is_empty() { " \u{b7} near " (near.join(", ")) }
                @if !proposal.other_frames.is_empty() { " \u{b7} also in " (proposal.other_frames.join(", ")) }
            }
            ul.examples {
                @for sentence in &proposal.sentences {
                    li { span.text dir="auto" lang=(proposal.language) { (targets(&sentence.text, &sentence.targets)) } " " small { "round " (sentence.round) } }
                }
                @for of in proposal.discovered.iter().flat_map(|found| &found.sentences) {
                    li { span.text dir="auto" lang=(proposal.language) { (targets(&of.text, &[of.target])) } " " small { @if let Some(evokes) = of.evokes { "evokes " (format!("{evokes:.2}")) " " } (of.place) } }
                }
            }
            div.answers {
                button.accept data-verdict="accept" { "Accept " kbd { "a" } }
                button.reject data-verdict="reject" { "Reject " kbd { "r" } }
                button data-verdict="undo" { "Undo " kbd { "u" } }
                form data-verdict="move" {
                    label { "Move to frame " kbd { "m" } " " input name="to" data-complete="frame=" list="offered" autocomplete="off"; }
                    button { "Move" }
                }
                form data-verdict="merge" {
                    label { "Merge into " kbd { "shift m" } " " input name="to" data-complete="lu=" list="offered" autocomplete="off"; }
                    button { "Merge" }
                }
            }
            p.said role="status" {}
        }
    }
}

pub(super) fn search(review: &Review, query: &str, offset: &str) -> anyhow::Result<Markup> {
    let offset: usize = offset.parse().unwrap_or(0);
    let found = match Expression::parse(query).map_err(DatabaseError::from) {
        Ok(expression) if !query.is_empty() => results(review, &expression, (query, offset)),
        Ok(_) => Ok(
            html! { p.quiet { "Write a query, as in " code { "frame=Verification origin=generated" } "; escape leaves the field." } },
        ),
        Err(error) => Err(error.into()),
    };
    Ok(html! {
        form.search role="search" {
            label { span.hidden { "Query" }
                input id="query" type="search" name="q" value=(query) data-complete="" list="offered" autocomplete="off"
                    spellcheck="false" placeholder="frame=\u{2026}";
            }
            datalist id="offered" {}
            button { "Search" }
        }
        @match found {
            Ok(found) => (found),
            Err(error) => {
                p.error role="alert" { (format!("{error:#}")) }
                @if let Some(hint) = crate::cli::hint(&error) { p { (hint) } }
            }
        }
    })
}

fn results(
    review: &Review,
    expression: &Expression,
    (query, offset): (&str, usize),
) -> anyhow::Result<Markup> {
    let selection = Selection { offset, limit: Some(PAGE + 1), ..Selection::default() };
    let database = review.session.database()?;
    let answers = database.select(expression, &selection)?;
    let mut answers = answers.collect::<Result<Vec<_>, _>>()?;
    let has_more = answers.len() > PAGE;
    answers.truncate(PAGE);
    let next: String = form_urlencoded::Serializer::new(String::new())
        .append_pair("q", query)
        .append_pair("offset", &(offset + PAGE).to_string())
        .finish();
    Ok(html! {
        p.quiet {
            @if answers.is_empty() { "Nothing found." }
            @else {
                "Sets " (offset + 1) " to " (offset + answers.len()) @if has_more { ", there are more" }
                " \u{b7} " kbd { "j" } " " kbd { "k" } " move, " kbd { "x" } " selects, " kbd { "shift x" } " selects all; "
                kbd { "a" } ", " kbd { "r" } " or a digit decides, " kbd { "u" } " undoes \u{b7} "
                span id="picked" role="status" { "none selected" }
            }
        }
        ol.list aria-label="Found" start=(offset + 1) {
            @for answer in &answers {
                @let score = review.session.answer(&database, answer.release.id, answer.set.id)?;
                li.entry.decided[score.is_some()] tabindex="0" data-release=(answer.release.name) data-set=(answer.set.id) {
                    label.pick { input type="checkbox" aria-label=(format!("Select {}", answer.set.id)); }
                    span.text dir="auto" lang=(answer.release.language) { (targets(&answer.sentence.text, &answer.set.targets)) }
                    p.facts { code { (answer.set.id) } " " b { (answer.lexunit) } " in "
                        a href=(address_of("frame", &answer.frame, &answer.release.name, Some(answer.set.frame))) { (answer.frame) }
                        " \u{b7} " (answer.set.provenance.origin().as_str())
                        span.given { @if let Some(score) = score { " \u{b7} you gave it " (score) } } }
                }
            }
        }
        @if has_more { p { a href={ "search?" (next) } { "Next " (PAGE) } } }
    })
}

/// A text with its target marked.
fn targets(text: &str, targets: &[fnstore::model::Span]) -> Markup {
    let mut at = 0;
    html! {
        @for span in targets {
            (text.get(at..span.start as usize).unwrap_or_default())
            mark.target { (span.of(text).unwrap_or_default()) }
            ({ at = span.end as usize; "" })
        }
        (text.get(at..).unwrap_or_default())
    }
}

/// How far reviewers agree on one question.
fn of_one(question: Question, all: &OfQuestion) -> Markup {
    let outputs = all.outputs();
    let share = 100.0 * outputs.unanimous as f64 / outputs.shared as f64;
    let share = (outputs.shared > 0).then_some(share);
    html! {
        h2 {
            (question.wording(None))
        }
        dl.figures {
            div { dt { "Fleiss' kappa of outputs" } dd { @match outputs.kappa { Some(kappa) => (format!("{kappa:.3}")), None => "\u{2013}" } } }
            div { dt { "all agree on an output" } dd { @match share { Some(share) => (format!("{share:.1} %")), None => "\u{2013}" } } }
            div { dt { "outputs judged by two or more" } dd { (outputs.shared) } }
        }
        table {
            caption { "Accepted at a mean of " (ACCEPTED) " or more" }
            thead { tr { th { "of" } th.number { "items" } th.number { "accepted" } th.number { "mean" } } }
            tbody { @for (role, figures) in &all.roles {
                tr { th scope="row" { (role.as_str()) } td.number { (figures.items) }
                    td.number { (format!("{:.2} %", 100.0 * figures.share())) }
                    td.number { (format!("{:.2}", figures.mean())) } }
            } }
        }
    }
}

pub(super) fn agreement(review: &Review) -> anyhow::Result<Markup> {
    let database = review.session.database()?;
    let all = agreement_of(&database)?;
    Ok(html! {
        @if all.reviewers.is_empty() { p.quiet { "Nobody has judged anything yet." } }
        @else {
            @for (question, of_question) in &all.questions { (of_one(*question, of_question)) }
            p { "Answers: " @for (place, (name, count)) in all.reviewers.iter().enumerate() {
                @if place > 0 { " \u{b7} " } b { (name) } " " (count)
            } }
            @if !all.disputed.is_empty() {
                h2 { "Disagreements first" }
                ol.list aria-label="Disagreements" {
                    @for disputed in &all.disputed {
                        li.entry tabindex="0" {
                            span.text { (disputed.shown) }
                            p.facts { code { (disputed.set) } " " (disputed.question.as_str()) " " (disputed.frame)
                                @for (reviewer, score) in &disputed.scores { " \u{b7} " (reviewer) " " b { (score) } } }
                        }
                    }
                }
            }
        }
    })
}
