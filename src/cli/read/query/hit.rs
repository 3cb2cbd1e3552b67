//! An answer of a query as a JSON record, as delimited fields, and as lines for reading.
//!
//! The record is described in `schema/hit.schema.json`. Its spans count code points.

use anyhow::Context as _;
use fnstore::model::{Extent, Generation, Span, Split, Verification};
use fnstore::search::Answer;
use fnstore::text::CharIndex;
use fnstore::text::drawing::{self, Mark};
use serde::Serialize;

use crate::cli::print::output::Output;
use crate::cli::print::render::Block;

/// An annotation set as JSON.
#[derive(Debug, Serialize)]
pub(crate) struct AnswerRecord<'a> {
    release: &'a str,
    id: String,
    frame: &'a str,
    lu: &'a str,
    trigger: String,
    sentence: String,
    text: &'a str,
    offset_unit: &'static str,
    targets: Vec<[u32; 2]>,
    elements: Vec<Element<'a>>,
    origin: &'static str,
    status: &'a str,
    fe_status: &'static str,
    document: Option<&'a str>,
    document_description: Option<&'a str>,
    split: Option<&'static str>,
    generation: Option<Made>,
    /// Probability of the frame, where a frame model was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    frame_fit: Option<f32>,
    /// What a verifier says, where it was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    verification: Option<Verified>,
    /// What is laid out of it.
    #[serde(skip)]
    answer: &'a Answer,
}

#[derive(Debug, Serialize)]
struct Element<'a> {
    name: &'a str,
    rank: u8,
    span: Option<[u32; 2]>,
    ni: Option<&'a str>,
    gf: Option<&'a str>,
    pt: Option<&'a str>,
    text: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct Made {
    seed: String,
    source: String,
    target: u16,
    round: u16,
    rank: u16,
    method: &'static str,
    recipe: u32,
    paraphrase: Option<f32>,
    aligner: f32,
    p: Option<f32>,
    r: Option<f32>,
    filter: Option<String>,
    flags: Vec<&'static str>,
    elements: Vec<Carried>,
    chain: Vec<String>,
}

/// What a verifier says of the set.
#[derive(Debug, Serialize)]
struct Verified {
    evokes: Option<f32>,
    same_meaning: Option<f32>,
    reverse: Option<f32>,
    verifier: String,
}

/// An FE of the seed, with the aligner's score where it was found.
#[derive(Debug, Serialize)]
struct Carried {
    name: String,
    score: Option<f32>,
}

impl<'a> AnswerRecord<'a> {
    pub(crate) fn new(answer: &'a Answer) -> anyhow::Result<Self> {
        let text = answer.sentence.text.as_str();
        let index = CharIndex::new(text);
        let set = &answer.set;
        let span = |span: Span| -> anyhow::Result<[u32; 2]> {
            let chars = index.to_chars(span);
            let chars = chars.with_context(|| format!("cannot show set {}", set.id))?;
            Ok([chars.start, chars.end])
        };
        let elements = answer.elements().map(|element| {
            let extent = &element.label.extent;
            Ok(Element {
                name: &element.label.name,
                rank: element.rank,
                span: extent.span().map(span).transpose()?,
                ni: if let Extent::Null(kind) = extent { Some(kind.as_str()) } else { None },
                gf: element.gf,
                pt: element.pt,
                text: extent.span().and_then(|span| span.of(text)),
            })
        });
        Ok(Self {
            release: &answer.release.name,
            id: set.id.to_string(),
            frame: &answer.frame,
            lu: &answer.lexunit,
            trigger: answer.trigger(),
            sentence: answer.sentence.id.to_string(),
            text,
            offset_unit: "codepoint",
            targets: set.targets.iter().copied().map(span).collect::<anyhow::Result<_>>()?,
            elements: elements.collect::<anyhow::Result<_>>()?,
            origin: set.provenance.origin().as_str(),
            status: &set.status,
            fe_status: set.fe_status.as_str(),
            document: answer.document.as_deref(),
            document_description: answer.document_description.as_deref(),
            split: answer.split.map(Split::as_str),
            generation: answer.generation().map(Made::new),
            frame_fit: answer.set.provenance.fit().map(|fit| fit.probability),
            verification: answer.verification.as_ref().map(Verified::new),
            answer,
        })
    }

    /// The row of delimited output; spans are written `start-end`, several things in a field are
    /// parted by `; `.
    pub(crate) fn fields(&self) -> Vec<String> {
        let targets: Vec<String> =
            self.targets.iter().map(|[start, end]| format!("{start}-{end}")).collect();
        let elements: Vec<String> = self.elements.iter().map(Element::brief).collect();
        let made =
            |value: fn(&Made) -> String| self.generation.as_ref().map_or(String::new(), value);
        vec![
            self.release.to_owned(),
            self.id.clone(),
            self.frame.to_owned(),
            self.lu.to_owned(),
            self.trigger.clone(),
            self.text.to_owned(),
            targets.join("; "),
            elements.join("; "),
            self.origin.to_owned(),
            self.status.to_owned(),
            self.document.unwrap_or_default().to_owned(),
            self.split.unwrap_or_default().to_owned(),
            made(|made| made.seed.clone()),
            made(|made| made.round.to_string()),
            made(|made| made.method.to_owned()),
            made(|made| made.paraphrase.map_or(String::new(), |score| score.to_string())),
            made(|made| made.aligner.to_string()),
            made(|made| made.p.map_or(String::new(), |score| score.to_string())),
            made(|made| made.r.map_or(String::new(), |score| score.to_string())),
            made(|made| made.flags.join("; ")),
        ]
    }
}

impl Block for AnswerRecord<'_> {
    const COLUMNS: &'static [&'static str] = &[
        "release",
        "id",
        "frame",
        "lu",
        "trigger",
        "text",
        "targets",
        "elements",
        "origin",
        "status",
        "document",
        "split",
        "seed",
        "round",
        "method",
        "paraphrase",
        "aligner",
        "p",
        "r",
        "flags",
    ];

    fn rows(&self) -> Vec<Vec<String>> {
        vec![self.fields()]
    }

    fn lay_out(&self, output: &mut Output) -> anyhow::Result<()> {
        write_block(self.answer, output)
    }
}

impl Element<'_> {
    /// `Name=text`, or `Name:INI` when nothing expresses it.
    fn brief(&self) -> String {
        let Self { name, rank, text, ni, .. } = *self;
        let rank = if rank > 1 { format!("[{rank}]") } else { String::new() };
        match (text, ni) {
            (Some(text), _) => format!("{name}{rank}={text}"),
            (None, Some(kind)) => format!("{name}{rank}:{kind}"),
            (None, None) => format!("{name}{rank}"),
        }
    }
}

impl Made {
    fn new(generation: &Generation) -> Self {
        Self {
            seed: generation.seed.to_string(),
            source: generation.source.to_string(),
            target: generation.target_ordinal,
            round: generation.round,
            rank: generation.rank,
            method: generation.method.as_str(),
            recipe: generation.recipe.0,
            paraphrase: generation.paraphrase_score(),
            aligner: generation.aligner,
            p: generation.filter.map(|scores| scores.precision),
            r: generation.filter.map(|scores| scores.recall),
            filter: generation.filter.map(|scores| scores.fingerprint()),
            flags: generation.flags.names(),
            elements: (generation.elements.iter())
                .map(|element| Carried { name: element.name.clone(), score: element.score })
                .collect(),
            chain: generation.chain.iter().map(ToString::to_string).collect(),
        }
    }
}

impl Verified {
    fn new(of: &Verification) -> Self {
        Self {
            evokes: of.evokes,
            same_meaning: of.same_meaning,
            reverse: of.reverse.map(|reverse| reverse.score),
            verifier: of.fingerprint(),
        }
    }
}

/// Columns that a drawing is moved in by.
const INDENT: usize = 4;

/// Writes an answer for reading: what it is, the sentence with its annotation drawn under it.
pub(crate) fn write_block(answer: &Answer, output: &mut Output) -> anyhow::Result<()> {
    output.headed(&format!("{}  {}", answer.frame, answer.lexunit), &answer.origin_line())?;
    write_drawing(&answer.sentence.text, &drawing::rows_of_set(&answer.set), output)?;
    if let Some(last) = answer.unexpressed_line() {
        output.line(&format!("{:INDENT$}{last}", ""))?;
    }
    Ok(())
}

/// Writes a text with rows of marks drawn under it, moved in.
pub(crate) fn write_drawing(
    text: &str,
    rows: &[Vec<Mark>],
    output: &mut Output,
) -> anyhow::Result<()> {
    let room = output.width() - INDENT;
    for line in drawing::draw(text, rows, room, output.has_color()) {
        output.drawn(INDENT, &line)?;
    }
    Ok(())
}
