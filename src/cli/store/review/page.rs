//! The page around every view, and the view of sentences.

use maud::{DOCTYPE, Markup, html};

use super::http::Reply;
use super::keys::{SIGNS, Where, keys_of};
use super::lexicon_page::Which;
use super::server::HttpRequest;
use super::{Review, lexicon_page, lists};

const VIEWS: [(&str, &str); 5] = [
    ("sentences", "Sentences"),
    ("proposals", "Proposals"),
    ("frame", "Frame"),
    ("search", "Search"),
    ("agreement", "Agreement"),
];

pub(super) fn page(review: &Review, request: &HttpRequest, base: &str) -> anyhow::Result<Reply> {
    let view = match request.path.as_str() {
        "" => "sentences",
        path => path,
    };
    let Some((_, title)) = VIEWS.iter().find(|(name, _)| *name == view) else {
        let body = frame_of(base, "", "Not found", &html! { p { "There is no such page." } });
        return Ok(Reply { status: 404, ..html_reply(&body) });
    };
    let body = match view {
        "sentences" => sentences(),
        "proposals" => lists::proposals(review)?,
        "frame" => lexicon_page::frame(review, Which::of(request))?,
        "search" => lists::search(review, request.parameter("q"), request.parameter("offset"))?,
        _ => lists::agreement(review)?,
    };
    Ok(html_reply(&frame_of(base, view, title, &body)))
}

/// A page that says what went wrong.
pub(super) fn failed(base: &str, error: &str, hint: Option<&str>) -> Reply {
    let body = html! {
        p.error role="alert" { (error) }
        @if let Some(hint) = hint { p { (hint) } }
    };
    html_reply(&frame_of(base, "", "Error", &body))
}

fn html_reply(page: &Markup) -> Reply {
    Reply::new("text/html; charset=utf-8", page.0.clone())
}

fn frame_of(base: &str, view: &str, title: &str, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " \u{b7} fnstore review" }
                link rel="icon" href={ (base) "/icon.svg" };
                link rel="stylesheet" href={ (base) "/app.css" };
                script src={ (base) "/app.js" } defer {}
            }
            body data-base=(base) data-view=(view) {
                header {
                    strong { "fnstore" }
                    nav aria-label="Views" {
                        @for (name, title) in VIEWS {
                            a href={ (base) "/" (name) } aria-current=[(name == view).then_some("page")] { (title) }
                        }
                    }
                    span.state id="state" role="status" {}
                    button.help data-key="?" aria-label="Keys" { "?" }
                }
                main { h1.hidden { (title) } (body) }
                dialog id="keys" aria-label="Keys" {
                    h2 { "Keys" }
                    dl { @for (key, does) in keys_of(Where::Page) { dt { kbd { (key) } } dd { (does) } } }
                    h2 { "Signs" }
                    dl { @for (sign, means) in SIGNS { dt { (sign) } dd { (means) } } }
                    form method="dialog" { button { "Close " kbd { "?" } } }
                }
            }
        }
    }
}

fn sentences() -> Markup {
    html! {
        div id="item" aria-live="polite" { p.quiet { "Looking for the first sentence\u{2026}" } }
        noscript { p.error { "The review needs JavaScript of this page; nothing is loaded from elsewhere." } }
    }
}
