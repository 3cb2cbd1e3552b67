//! A sentence or an annotation set with all its layers, for reading and as JSON
//! (`schema/sentence.schema.json`, `schema/set.schema.json`).

use anyhow::Context as _;
use fnstore::database::{Answer, Database};
use fnstore::model::{
    AnnotationSetId, Extent, Layer, Occurrence, Release, Sentence, SentenceId, SentenceLayers,
};
use fnstore::query::{Expression, Field, Term, Test};
use fnstore::text::CharIndex;
use serde::Serialize;

use super::Outcome;
use super::hit::{Hit, write_block};
use super::output::{Format, Output, tell};

const SET_ID: &str = "expected a letter (x exemplar, f full text, i imported, g generated) and a \
                      number, as in `x1024`";

/// Shows the annotation set of an id, in every release that has it.
pub(super) fn show_set(
    database: &Database,
    id: &str,
    output: &mut Output,
) -> anyhow::Result<Outcome> {
    let set = AnnotationSetId::parse(id);
    let set = set.with_context(|| format!("`{id}` is no id of an annotation set; {SET_ID}"))?;
    let answers = sets(database, [set])?;
    if answers.is_empty() {
        tell(&format!("there is no annotation set `{id}` that evokes a frame"));
        return Ok(Outcome::NothingFound);
    }
    if output.format_or(Format::Table) != Format::Table {
        let records = answers.iter().map(SetRecord::new);
        output.documents(&records.collect::<Result<Vec<_>, _>>()?)?;
        return Ok(Outcome::Done);
    }
    for (number, answer) in answers.iter().enumerate() {
        if number > 0 {
            output.line("")?;
        }
        write_block(answer, output)?;
        write_layers(&answer.set.layers, &answer.sentence.text, output)?;
    }
    Ok(Outcome::Done)
}

/// Shows the sentence of an id, in every release that has it.
pub(super) fn show_sentence(
    database: &Database,
    id: &str,
    output: &mut Output,
) -> anyhow::Result<Outcome> {
    let sentence = SentenceId::parse(id);
    let sentence = sentence.with_context(|| format!("`{id}` is no id of a sentence; {SET_ID}"))?;
    let mut found = Vec::new();
    for release in database.releases()? {
        let store = database.store();
        let Some(row) = store.sentence(release.id, sentence)? else { continue };
        let ids: Vec<AnnotationSetId> =
            store.sets_of_sentence(release.id, sentence)?.collect::<Result<_, _>>()?;
        let mut answers = sets(database, ids)?;
        answers.retain(|answer| answer.release.id == release.id);
        let layers: Vec<SentenceLayers> =
            store.sentence_layers(release.id, sentence)?.collect::<Result<_, _>>()?;
        found.push((release, row, answers, layers));
    }
    if found.is_empty() {
        tell(&format!("there is no sentence `{id}`"));
        return Ok(Outcome::NothingFound);
    }
    if output.format_or(Format::Table) != Format::Table {
        let records = found.iter().map(|(release, row, answers, layers)| {
            SentenceRecord::new(release, row, answers, layers)
        });
        output.documents(&records.collect::<Result<Vec<_>, _>>()?)?;
        return Ok(Outcome::Done);
    }
    for (number, (release, row, answers, layers)) in found.iter().enumerate() {
        if number > 0 {
            output.line("")?;
        }
        write_sentence(database, release, row, answers, layers, output)?;
    }
    Ok(Outcome::Done)
}

/// The sets of these ids, in order of release and key.
fn sets(
    database: &Database,
    ids: impl IntoIterator<Item = AnnotationSetId>,
) -> anyhow::Result<Vec<Answer>> {
    let terms =
        ids.into_iter().map(|id| Expression::Term(Term { field: Field::Id, test: Test::Set(id) }));
    let expression = Expression::any_of(terms);
    if expression.terms().next().is_none() {
        return Ok(Vec::new());
    }
    Ok(database.query(&expression)?.collect::<Result<_, _>>()?)
}

fn write_sentence(
    database: &Database,
    release: &Release,
    sentence: &Sentence,
    answers: &[Answer],
    layers: &[SentenceLayers],
    output: &mut Output,
) -> anyhow::Result<()> {
    let title = output.heading(&format!("sentence {}", sentence.id));
    output.line(&format!("{title}  {}", release.name))?;
    output.line(&format!("    {}", sentence.text.trim()))?;
    for place in &sentence.occurrences {
        output.line(&format!("    {}", place_text(database, release, place)?))?;
    }
    for answer in answers {
        output.line("")?;
        write_block(answer, output)?;
    }
    for set in layers {
        output.line("")?;
        let kind = match &set.construction {
            Some((_, name)) => format!("construction {name}"),
            None => "sentence layers".to_owned(),
        };
        output.line(&format!("{}  {}  {}", output.heading(&kind), set.id, set.status))?;
        write_layers(&set.layers, &sentence.text, output)?;
    }
    Ok(())
}

/// Where a sentence is listed, in words.
fn place_text(
    database: &Database,
    release: &Release,
    place: &Occurrence,
) -> anyhow::Result<String> {
    let mut parts = Vec::new();
    if let Some(lu) = place.lu {
        parts.push(format!("in the file of LU {lu}"));
    }
    if let Some(subcorpus) = &place.subcorpus {
        parts.push(format!("subcorpus {subcorpus}"));
    }
    if let (Some(corpus), Some(document)) = (place.corpus, place.document) {
        match database.store().document(release.id, corpus, document)? {
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
    hit: Hit<'a>,
    layers: Vec<LayerRecord<'a>>,
}

impl<'a> SetRecord<'a> {
    fn new(answer: &'a Answer) -> anyhow::Result<Self> {
        let layers = layer_records(&answer.set.layers, &answer.sentence.text)?;
        Ok(Self { hit: Hit::new(answer)?, layers })
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
    occurrences: Vec<OccurrenceRecord<'a>>,
    sets: Vec<Hit<'a>>,
    layers: Vec<SentenceLayersRecord<'a>>,
}

#[derive(Debug, Serialize)]
struct OccurrenceRecord<'a> {
    lu: Option<u32>,
    subcorpus: Option<&'a str>,
    corpus: Option<u32>,
    document: Option<u32>,
    paragraph: Option<u32>,
    number: Option<u32>,
    position: Option<u64>,
}

#[derive(Debug, Serialize)]
struct SentenceLayersRecord<'a> {
    id: String,
    construction: Option<&'a str>,
    status: &'a str,
    listed_under: Vec<u32>,
    layers: Vec<LayerRecord<'a>>,
}

impl<'a> SentenceRecord<'a> {
    fn new(
        release: &'a Release,
        sentence: &'a Sentence,
        answers: &'a [Answer],
        layers: &'a [SentenceLayers],
    ) -> anyhow::Result<Self> {
        let occurrences = sentence.occurrences.iter().map(|place| OccurrenceRecord {
            lu: place.lu.map(|lu| lu.0),
            subcorpus: place.subcorpus.as_deref(),
            corpus: place.corpus.map(|corpus| corpus.0),
            document: place.document.map(|document| document.0),
            paragraph: place.paragraph,
            number: place.number,
            position: place.position,
        });
        let layers = layers.iter().map(|set| {
            Ok(SentenceLayersRecord {
                id: set.id.to_string(),
                construction: set.construction.as_ref().map(|(_, name)| name.as_str()),
                status: &set.status,
                listed_under: set.listed_under.iter().map(|lu| lu.0).collect(),
                layers: layer_records(&set.layers, &sentence.text)?,
            })
        });
        Ok(Self {
            release: &release.name,
            id: sentence.id.to_string(),
            xml_id: sentence.xml_id,
            text: &sentence.text,
            offset_unit: "codepoint",
            occurrences: occurrences.collect(),
            sets: answers.iter().map(Hit::new).collect::<anyhow::Result<_>>()?,
            layers: layers.collect::<anyhow::Result<_>>()?,
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
