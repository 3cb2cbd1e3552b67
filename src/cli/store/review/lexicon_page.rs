//! The view of a frame: definition, LUs with counts, growth, relations.

use std::collections::BTreeMap;

use fnstore::database::{Database, DatabaseError};
use fnstore::lexicon::{Lexicon, growth_figure};
use fnstore::model::{Frame, FrameId, FrameRelation, PROPOSED};
use fnstore::query::{Case, Expression, Field, Pattern, Term};
use fnstore::store::NameKind;
use fnstore::text::chart::{line, text};
use maud::{Markup, html};

use super::Review;
use super::http::Reply;
use super::item::{definition, elements};
use super::server::HttpRequest;

/// Frames on each side of the picture of relations.
const NEIGHBOURS: usize = 12;

/// Which frame the page is asked for. Releases share names, and now and then a release has two
/// frames of one.
#[derive(Clone, Copy)]
pub(super) struct Which<'a> {
    name: &'a str,
    release: &'a str,
    number: &'a str,
}

impl<'a> Which<'a> {
    pub(super) fn of(request: &'a HttpRequest) -> Self {
        Self {
            name: request.parameter("name"),
            release: request.parameter("release"),
            number: request.parameter("number"),
        }
    }

    fn is(self, lexicon: &Lexicon<'_>, frame: &Frame) -> bool {
        (self.release.is_empty() || self.release == lexicon.release().name)
            && (self.number.is_empty() || self.number == frame.id.to_string())
    }
}

/// The address of a page or picture of one frame.
fn address(path: &str, lexicon: &Lexicon<'_>, frame: &Frame) -> String {
    address_of(path, &frame.name, &lexicon.release().name, Some(frame.id))
}

/// As [`address`], also of a frame that is known by its name alone.
pub(super) fn address_of(path: &str, name: &str, release: &str, number: Option<FrameId>) -> String {
    let mut parameters = form_urlencoded::Serializer::new(String::new());
    parameters.append_pair("name", name).append_pair("release", release);
    if let Some(number) = number {
        parameters.append_pair("number", &number.to_string());
    }
    format!("{path}?{}", parameters.finish())
}

pub(super) fn frame(review: &Review, which: Which<'_>) -> anyhow::Result<Markup> {
    let database = review.session.database()?;
    let name = which.name;
    let found = if name.is_empty() { Ok(Vec::new()) } else { find(&database, which) };
    Ok(html! {
        form.search role="search" {
            label { span.hidden { "Frame" }
                input id="query" type="search" name="name" value=(name) data-complete="frame=" list="offered"
                    autocomplete="off" placeholder="name of a frame";
            }
            datalist id="offered" {}
            button { "Show" }
        }
        @match found.as_deref() {
            Ok([(lexicon, frame)]) => (shown(&database, lexicon, frame)?),
            Ok([]) => p.quiet { kbd { "/" } " goes to the field: write the name of a frame there. Escape leaves it." },
            Ok(several) => {
                p { (several.len()) " frames are called " code { (name) } ". Which one?" }
                ul { @for (lexicon, frame) in several {
                    li { a href=(address("frame", lexicon, frame)) { (lexicon.release().name) ", frame " (frame.id) } }
                } }
            }
            Err(error) => p.error role="alert" { (format!("{error:#}")) },
        }
    })
}

/// The frames that are meant: at least one.
fn find<'a>(database: &'a Database, which: Which<'_>) -> anyhow::Result<Vec<(Lexicon<'a>, Frame)>> {
    let names = Pattern::exact(which.name, Case::Sensitive);
    let mut found = Vec::new();
    for lexicon in database.lexicons()? {
        for frame in lexicon.find_frames(&names)? {
            let frame = frame?;
            if which.is(&lexicon, &frame) {
                found.push((lexicon.clone(), frame));
            }
        }
    }
    if found.is_empty() {
        database.require_name(NameKind::Frame, &Pattern::exact(which.name, Case::Fold))?;
        anyhow::bail!("there is no frame `{}`; case counts", which.name)
    }
    Ok(found)
}

/// The one frame that a picture is asked for.
fn find_one<'a>(database: &'a Database, which: Which<'_>) -> anyhow::Result<(Lexicon<'a>, Frame)> {
    let mut found = find(database, which)?;
    anyhow::ensure!(
        found.len() == 1,
        "{} frames are called `{}`; expected `release` and `number` in the address",
        found.len(),
        which.name
    );
    Ok(found.remove(0))
}

fn in_frame(lexicon: &Lexicon<'_>, frame: &Frame, more: &str) -> anyhow::Result<Expression> {
    let release = Term::named(Field::Release, &lexicon.release().name)?;
    let frame = Term::named(Field::Frame, &frame.name)?;
    let more = Expression::parse(more).map_err(DatabaseError::from)?;
    Ok(Expression::all_of([Expression::Term(release), Expression::Term(frame), more])?)
}

fn shown(database: &Database, lexicon: &Lexicon<'_>, frame: &Frame) -> anyhow::Result<Markup> {
    let mut units: BTreeMap<String, [u64; 2]> = BTreeMap::new();
    let mut proposed = BTreeMap::new();
    for lu in lexicon.lus_of(frame.id)? {
        let lu = lu?;
        // A proposal may have the name of an LU of the lexicon.
        *proposed.entry(lu.name.clone()).or_insert(true) &= lu.status == PROPOSED;
        units.insert(lu.name, [0, 0]);
    }
    let origins = ["not (origin=generated or origin=carried)", "origin=generated"];
    for (place, origin) in origins.into_iter().enumerate() {
        for count in database.count_by(&in_frame(lexicon, frame, origin)?, &[Field::Lu])? {
            let name = count.value().unwrap_or_default().to_owned();
            units.entry(name).or_default()[place] += count.count;
        }
    }
    let (proposals, own): (Vec<_>, Vec<_>) =
        units.iter().partition(|(name, _)| proposed.get(*name).is_some_and(|it| *it));
    let relations: Vec<FrameRelation> =
        lexicon.relations_of(frame.id)?.collect::<Result<_, _>>()?;
    let mut neighbours: Vec<(&str, &str, &str)> = relations
        .iter()
        .map(|relation| {
            if relation.parent == frame.id {
                (relation.kind.as_str(), relation.sub_role.as_str(), relation.child_name.as_str())
            } else {
                (
                    relation.kind.as_str(),
                    relation.super_role.as_str(),
                    relation.parent_name.as_str(),
                )
            }
        })
        .collect();
    neighbours.sort_unstable();
    let release = &lexicon.release().name;
    Ok(html! {
        div.work {
            section {
                h2 { (frame.name) }
                div.definition { (definition(&frame.definition)) }
                (elements(frame))
                h3 { "Growth" }
                img.picture src=(address("growth.svg", lexicon, frame)) alt={ "Growth of the triggers of " (frame.name) ", round by round" };
                h3 { "Relations" }
                @if neighbours.is_empty() { p.quiet { "none" } } @else {
                    img.picture src=(address("relations.svg", lexicon, frame)) alt={ "Relations of " (frame.name) ", listed below" };
                    ul.relations { @for (kind, role, name) in neighbours {
                        li { (kind) ", " (role) ": " a href=(address_of("frame", name, release, None)) { (name) } }
                    } }
                }
            }
            aside aria-label="Lexical units" {
                (unit_table("Lexical units", &own))
                @if !proposals.is_empty() { (unit_table("Proposed lexical units", &proposals)) }
            }
        }
    })
}

/// Names with their human and generated sets.
fn unit_table(caption: &str, units: &[(&String, &[u64; 2])]) -> Markup {
    html! {
        table {
            caption { (caption) }
            thead { tr { th { "LU" } th.number { "human" } th.number { "generated" } } }
            tbody { @for (name, [human, generated]) in units {
                tr { th scope="row" { (name) } td.number { (human) } td.number { (generated) } }
            } }
        }
    }
}

pub(super) fn growth(review: &Review, which: Which<'_>) -> anyhow::Result<Reply> {
    let database = review.session.database()?;
    let (lexicon, frame) = find_one(&database, which)?;
    let growth = lexicon.growth(&in_frame(&lexicon, &frame, "")?)?;
    Ok(Reply::new("image/svg+xml", growth_figure(&frame.name, &growth)))
}

/// The frame in the middle, its super frames to the left, its sub frames to the right.
pub(super) fn relations_picture(review: &Review, which: Which<'_>) -> anyhow::Result<Reply> {
    const WIDTH: f64 = 760.0;
    const LINE: f64 = 26.0;
    let database = review.session.database()?;
    let (lexicon, frame) = find_one(&database, which)?;
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for relation in lexicon.relations_of(frame.id)? {
        let relation = relation?;
        if relation.parent == frame.id {
            right.push(format!("{} ({})", relation.child_name, relation.kind));
        } else {
            left.push(format!("{} ({})", relation.parent_name, relation.kind));
        }
    }
    for side in [&mut left, &mut right] {
        side.sort();
        if side.len() > NEIGHBOURS {
            let more = side.len() - NEIGHBOURS;
            side.truncate(NEIGHBOURS);
            side.push(format!("and {more} more"));
        }
    }
    let height = LINE * (left.len().max(right.len()) + 1) as f64;
    let middle = height / 2.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\">\
         <style>text{{font:13px sans-serif;fill:#24292f}}line{{stroke:#8c959f}}\
         @media(prefers-color-scheme:dark){{text{{fill:#e6edf3}}}}</style>\n"
    );
    for (side, at, anchor, inner) in [(&left, 250.0, "end", 310.0), (&right, 510.0, "start", 450.0)]
    {
        for (number, name) in side.iter().enumerate() {
            let y = middle + LINE * (number as f64 - (side.len() as f64 - 1.0) / 2.0);
            let near = if anchor == "end" { at + 6.0 } else { at - 6.0 };
            line(&mut svg, (near, y), (inner, middle), "#8c959f");
            text(&mut svg, (at, y + 4.0), anchor, "", name);
        }
    }
    text(&mut svg, (WIDTH / 2.0, middle + 4.0), "middle", "font-weight=\"bold\"", &frame.name);
    svg.push_str("</svg>\n");
    Ok(Reply::new("image/svg+xml", svg))
}
