//! A sentence or an annotation set with all its layers, for reading and as JSON
//! (`schema/sentence.schema.json`, `schema/hit.schema.json`).

use anyhow::Context as _;
use fnstore::lexicon::Lexicon;
use fnstore::model::{
    AnnotationSetId, Extent, FeStatus, ForeignPlace, Layer, LuId, Occurrence, Sentence, SentenceId,
    SentenceLayers,
};
use fnstore::query::{Expression, Field, Ids, Term, Test};
use fnstore::search::{Answer, AnswerRecord};
use fnstore::text::CharIndex;
use fnstore::text::drawing::{self, Mark, Paint};
use serde::Serialize;

use super::foreign_content::{ForeignRecord, foreign_records, write_foreign};
use crate::cli::Outcome;
use crate::cli::print::output::{Output, tell};
use crate::cli::read::query::hit::{record, write_block, write_drawing};

const SET_ID: &str = "expected a letter (x exemplar, f full text, i imported, g generated) and a \
                      number, as in `x1024`";

/// Shows the annotation sets of ids, each in every release that has it.
pub(crate) fn show_sets(
    lexicons: &[Lexicon<'_>],
    ids: &str,
    output: &mut Output,
) -> anyhow::Result<Outcome> {
    let mut answers = Vec::new();
    for id in ids.split_whitespace() {
        let set = AnnotationSetId::of_written(id);
        let set = set.with_context(|| format!("`{id}` is no id of an annotation set; {SET_ID}"))?;
        let before = answers.len();
        for lexicon in lexicons {
            for answer in sets(lexicon, [set])? {
                let foreign = lexicon.foreign_at_set(&answer.set, &answer.sentence)?;
                answers.push((answer, foreign));
            }
        }
        if answers.len() == before {
            tell(&format!("there is no annotation set `{id}` that evokes a frame"));
        }
    }
    if answers.is_empty() {
        return Ok(Outcome::NothingFound);
    }
    output.shown(
        &answers,
        |(answer, foreign)| SetRecord::new(answer, foreign.clone()),
        |(answer, foreign), output| {
            write_block(answer, output)?;
            output.line("")?;
            write_layers(&answer.set.layers, &answer.sentence.text, output)?;
            write_foreign(&foreign_records(foreign.clone()), output)
        },
    )?;
    Ok(Outcome::Done)
}

/// A sentence with all that is said of it in one release.
struct Shown<'l> {
    lexicon: &'l Lexicon<'l>,
    sentence: Sentence,
    answers: Vec<Answer>,
    layers: Vec<SentenceLayers>,
    foreign: Vec<ForeignPlace>,
}

/// Shows the sentences of ids, each in every release that has it.
pub(crate) fn show_sentences<'l>(
    lexicons: &'l [Lexicon<'l>],
    ids: &str,
    output: &mut Output,
) -> anyhow::Result<Outcome> {
    let mut found = Vec::new();
    for id in ids.split_whitespace() {
        let sentence = SentenceId::of_written(id);
        let sentence =
            sentence.with_context(|| format!("`{id}` is no id of a sentence; {SET_ID}"))?;
        let before = found.len();
        for lexicon in lexicons {
            found.extend(shown(lexicon, sentence)?);
        }
        if found.len() == before {
            tell(&format!("there is no sentence `{id}`"));
        }
    }
    if found.is_empty() {
        return Ok(Outcome::NothingFound);
    }
    output.shown(&found, SentenceRecord::new, write_sentence)?;
    Ok(Outcome::Done)
}

/// A sentence with all that is said of it, where the release has it.
fn shown<'l>(lexicon: &'l Lexicon<'l>, sentence: SentenceId) -> anyhow::Result<Option<Shown<'l>>> {
    let Some(row) = lexicon.sentence(sentence)? else { return Ok(None) };
    let ids = lexicon.annotation_sets_of(sentence)?.map(|set| Ok(set?.id));
    let answers = sets(lexicon, ids.collect::<anyhow::Result<Vec<_>>>()?)?;
    let layers = lexicon.sentence_layers_of(sentence)?.collect::<Result<_, _>>()?;
    let foreign = lexicon.foreign_at_sentence(&row)?;
    Ok(Some(Shown { lexicon, sentence: row, answers, layers, foreign }))
}

/// The sets of these ids, in order of key.
fn sets(
    lexicon: &Lexicon<'_>,
    ids: impl IntoIterator<Item = AnnotationSetId>,
) -> anyhow::Result<Vec<Answer>> {
    let ids: Ids<AnnotationSetId> = ids.into_iter().collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let expression = Expression::Term(Term::new(Field::Id, Test::Sets(ids))?);
    Ok(lexicon.annotations(&expression)?.collect::<Result<_, _>>()?)
}

fn write_sentence(shown: &Shown<'_>, output: &mut Output) -> anyhow::Result<()> {
    let Shown { lexicon, sentence, answers, layers, foreign } = shown;
    output.headed(&format!("sentence {}", sentence.id), &lexicon.release().name)?;
    write_drawing(&sentence.text, &frames_evoked(lexicon, answers)?, output)?;
    for place in &sentence.occurrences {
        output.line(&format!("    {}", place_text(lexicon, place)?))?;
    }
    for (answer, number) in answers.iter().zip(1..) {
        output.line("")?;
        if answers.len() > 1 {
            output.part(&format!("[{number}] "))?;
        }
        write_block(answer, output)?;
    }
    for set in layers {
        output.line("")?;
        let kind = match &set.construction {
            Some((_, name)) => format!("construction {name}"),
            None => "sentence layers".to_owned(),
        };
        output.headed(&kind, &format!("{}  {}", set.id, set.status))?;
        write_layers(&set.layers, &sentence.text, output)?;
    }
    write_foreign(&foreign_records(foreign.clone()), output)
}

/// Marks of the targets with the frames that they evoke. Several sets are numbered; `!` stands
/// after a frame whose FEs nobody annotated, `?` after one whose LU the lexicon does not list.
fn frames_evoked(lexicon: &Lexicon<'_>, answers: &[Answer]) -> anyhow::Result<Vec<Vec<Mark>>> {
    let mut rows = vec![Vec::new()];
    for (answer, number) in answers.iter().zip(1..) {
        let set = &answer.set;
        let lu = lexicon.lu_of_frame(set.frame, set.lu)?;
        let is_listed = lu.is_some_and(|lu| lu.listing.frame_file || lu.listing.lu_file);
        let is_known = is_listed || set.provenance.origin().is_of_written_text();
        let mut name = answer.frame.to_string();
        if answers.len() > 1 {
            name = format!("[{number}] {name}");
        }
        if !matches!(set.fe_status, FeStatus::Annotated | FeStatus::Carried) {
            name.push('!');
        }
        if !is_known {
            name.push('?');
        }
        for span in &set.targets {
            // The pieces of a discontinuous target share one name.
            let name = std::mem::take(&mut name);
            let mark = Mark { span: *span, sign: '*', name, paint: Paint::Target };
            drawing::place(&mut rows, 0, mark);
        }
    }
    Ok(rows)
}

/// Where a sentence is listed, in words.
fn place_text(lexicon: &Lexicon<'_>, place: &Occurrence) -> anyhow::Result<String> {
    let mut parts = Vec::new();
    if let Some(lu) = place.lu {
        parts.push(format!("in the file of LU {lu}"));
    }
    if let Some(subcorpus) = &place.subcorpus {
        parts.push(format!("subcorpus {subcorpus}"));
    }
    if let (Some(corpus), Some(document)) = (place.corpus, place.document) {
        match lexicon.document(corpus, document)? {
            Some(document) => {
                parts.push(format!("corpus {}, document {}", document.corpus_name, document.name));
            }
            None => parts.push(format!("corpus {corpus}, document {document}")),
        }
    }
    for (word, number) in [("paragraph", place.paragraph), ("sentence", place.number)] {
        parts.extend(number.map(|number| format!("{word} {number}")));
    }
    Ok(parts.join(", "))
}

/// Writes layers one a line: `PENN: the/DT dog/NN`.
fn write_layers(layers: &[Layer], text: &str, output: &mut Output) -> anyhow::Result<()> {
    for layer in layers.iter().filter(|layer| !layer.labels.is_empty()) {
        let labels = layer.labels.iter().map(|label| match &label.extent {
            Extent::Overt(span) => format!("{}/{}", span.of(text).unwrap_or_default(), label.name),
            Extent::Null(kind) => format!("{}:{}", label.name, kind.as_str()),
            Extent::None => label.name.clone(),
        });
        let rank = if layer.rank > 1 { format!("[{}]", layer.rank) } else { String::new() };
        let labels = labels.collect::<Vec<_>>().join("  ");
        output.line(&format!("    {}{rank}: {labels}", layer.name))?;
    }
    Ok(())
}

/// An annotation set as JSON, with its layers.
#[derive(Debug, Serialize)]
struct SetRecord<'a> {
    #[serde(flatten)]
    hit: AnswerRecord<'a>,
    layers: Vec<LayerRecord<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    foreign: Vec<ForeignRecord>,
}

impl<'a> SetRecord<'a> {
    fn new(answer: &'a Answer, foreign: Vec<ForeignPlace>) -> anyhow::Result<Self> {
        let layers = layer_records(&answer.set.layers, &answer.sentence.text)?;
        Ok(Self { hit: record(answer)?, layers, foreign: foreign_records(foreign) })
    }
}

#[derive(Debug, Serialize)]
struct LayerRecord<'a> {
    name: &'a str,
    rank: u8,
    labels: Vec<LabelRecord<'a>>,
}

#[derive(Debug, Serialize)]
struct LabelRecord<'a> {
    name: &'a str,
    span: Option<[u32; 2]>,
    ni: Option<&'a str>,
}

/// A sentence as JSON.
#[derive(Debug, Serialize)]
struct SentenceRecord<'a> {
    release: &'a str,
    id: String,
    xml_id: Option<u64>,
    text: &'a str,
    offset_unit: &'static str,
    occurrences: &'a [Occurrence],
    sets: Vec<AnswerRecord<'a>>,
    layers: Vec<SentenceLayersRecord<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    foreign: Vec<ForeignRecord>,
}

#[derive(Debug, Serialize)]
struct SentenceLayersRecord<'a> {
    id: String,
    construction: Option<&'a str>,
    status: &'a str,
    listed_under: &'a [LuId],
    layers: Vec<LayerRecord<'a>>,
}

impl<'a> SentenceRecord<'a> {
    fn new(shown: &'a Shown<'_>) -> anyhow::Result<Self> {
        let Shown { lexicon, sentence, answers, layers, foreign } = shown;
        let layers = layers.iter().map(|set| {
            Ok(SentenceLayersRecord {
                id: set.id.to_string(),
                construction: set.construction.as_ref().map(|(_, name)| name.as_str()),
                status: &set.status,
                listed_under: &set.listed_under,
                layers: layer_records(&set.layers, &sentence.text)?,
            })
        });
        Ok(Self {
            release: &lexicon.release().name,
            id: sentence.id.to_string(),
            xml_id: sentence.xml_id,
            text: &sentence.text,
            offset_unit: "codepoint",
            occurrences: &sentence.occurrences,
            sets: answers.iter().map(record).collect::<anyhow::Result<_>>()?,
            layers: layers.collect::<anyhow::Result<_>>()?,
            foreign: foreign_records(foreign.clone()),
        })
    }
}

fn layer_records<'a>(layers: &'a [Layer], text: &str) -> anyhow::Result<Vec<LayerRecord<'a>>> {
    let index = CharIndex::new(text);
    let label = |label: &'a fnstore::model::Label| -> anyhow::Result<LabelRecord<'a>> {
        let (span, ni) = match &label.extent {
            Extent::Overt(span) => {
                let chars = index.to_chars(*span)?;
                (Some([chars.start, chars.end]), None)
            }
            Extent::Null(kind) => (None, Some(kind.as_str())),
            Extent::None => (None, None),
        };
        Ok(LabelRecord { name: &label.name, span, ni })
    };
    let layers = layers.iter().map(|layer| {
        Ok(LayerRecord {
            name: layer.name.as_str(),
            rank: layer.rank,
            labels: layer.labels.iter().map(label).collect::<anyhow::Result<_>>()?,
        })
    });
    layers.collect()
}
