//! `fnstore stats diversity`: how far generated sentences differ from their sources and from one
//! another.

use std::collections::{BTreeMap, HashMap};

use fnstore::align::TagDistances;
use fnstore::database::{Database, DatabaseError};
use fnstore::internals::WithStore as _;
use fnstore::model::{AnnotationSetId, Positive, Provenance, ReleaseId, Span};
use fnstore::query::Expression;
use fnstore::search::Answer;
use fnstore::tag::Tagger;
use fnstore::text::{bleu, fold, words};
use rayon::prelude::*;
use serde::Serialize;

use crate::cli::options::query;
use crate::cli::options::tagger::TaggerArgs;
use crate::cli::print::notices::tell_of_index;
use crate::cli::print::output::Format;
use crate::cli::print::render::Row;
use crate::cli::{Context, Outcome};

/// Sentences that are tagged together.
const BATCH: usize = 256;

/// Measure how far generated sentences differ from their sources and from one another
///
/// Self-BLEU compares each sentence with the others of its seed and recipe: low where rounds
/// differ. Source BLEU compares it with the sentence that was rewritten. Changed words are those
/// that the source has not. Changes of part of speech compare the tags of both targets (Culkin et
/// al. 2021, Table 3). Words are compared without regard to case. The first rows are rounds, the
/// last is all of them.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Measure the generated annotation sets that this query finds; none means all
    #[arg(value_name = "EXPR")]
    expression: Vec<String>,

    /// Do not tag parts of speech
    #[arg(long)]
    no_pos: bool,

    #[command(flatten)]
    tagger: TaggerArgs,
}

const EXAMPLES: &str = "\
Examples:
  fnstore stats diversity frame=Verification
  fnstore stats diversity recipe=2 --no-pos --format json";

/// The sentences of a round, or of all, as JSON; see `schema/diversity.schema.json`.
#[derive(Debug, Serialize)]
struct DiversityRow {
    /// The round; null for all rounds together.
    round: Option<Positive<u16>>,
    sets: u64,
    /// Mean BLEU of each sentence against the others of its seed and recipe; null where no seed has
    /// two.
    self_bleu: Option<f64>,
    source_bleu: f64,
    changed_words: f64,
    /// Share of targets whose tags are not the source's (not-EXT); null without tags.
    pos_changed: Option<f64>,
    pos_jaccard: Option<f64>,
    pos_weighted: Option<f64>,
}

impl Row for DiversityRow {
    const COLUMNS: &'static [&'static str] = &[
        "round",
        "sets",
        "self_bleu",
        "source_bleu",
        "changed_words",
        "pos_changed",
        "pos_jaccard",
        "pos_weighted",
    ];

    fn cells(&self) -> Vec<String> {
        let round = self.round.map_or_else(|| "all".to_owned(), |round| round.to_string());
        let shares = [
            self.self_bleu,
            Some(self.source_bleu),
            Some(self.changed_words),
            self.pos_changed,
            self.pos_jaccard,
            self.pos_weighted,
        ];
        let written = |share: Option<f64>| share.map_or(String::new(), |of| format!("{of:.4}"));
        [round, self.sets.to_string()].into_iter().chain(shares.map(written)).collect()
    }
}

/// A sentence with its target.
struct Sentence {
    /// Case folded.
    words: Vec<String>,
    /// The same as they are written.
    written: Vec<String>,
    /// Places of the target's words.
    target: Vec<usize>,
}

impl Sentence {
    fn new(text: &str, targets: &[Span]) -> Self {
        let spans = words(text);
        let is_target = |at: &usize| targets.iter().any(|target| target.overlaps(spans[*at]));
        let written: Vec<String> =
            spans.iter().filter_map(|span| Some(span.of(text)?.to_owned())).collect();
        Self {
            words: written.iter().map(|word| fold(word)).collect(),
            target: (0..spans.len()).filter(is_target).collect(),
            written,
        }
    }

    /// Share of its words that another sentence has not, or has fewer times.
    fn changed(&self, source: &Self) -> f64 {
        let mut left: HashMap<&str, usize> = HashMap::new();
        for word in &source.words {
            *left.entry(word).or_default() += 1;
        }
        let mut kept = 0;
        for word in &self.words {
            if let Some(count) = left.get_mut(word.as_str()).filter(|count| **count > 0) {
                *count -= 1;
                kept += 1;
            }
        }
        (self.words.len() - kept) as f64 / self.words.len().max(1) as f64
    }
}

/// Sums over the sentences of a round.
#[derive(Default)]
struct Sums {
    sets: u64,
    self_bleu: f64,
    with_others: u64,
    source_bleu: f64,
    changed: f64,
    tags: TagDistances,
}

impl Sums {
    fn add(&mut self, other: &Self) {
        self.sets += other.sets;
        self.self_bleu += other.self_bleu;
        self.with_others += other.with_others;
        self.source_bleu += other.source_bleu;
        self.changed += other.changed;
        self.tags.append(&other.tags);
    }

    fn row(&self, round: Option<u16>, is_tagged: bool) -> DiversityRow {
        let mean = |sum: f64| sum / self.sets.max(1) as f64;
        let of_tags = |value: f64| is_tagged.then_some(value);
        DiversityRow {
            round,
            sets: self.sets,
            self_bleu: (self.with_others > 0).then(|| self.self_bleu / self.with_others as f64),
            source_bleu: mean(self.source_bleu),
            changed_words: mean(self.changed),
            pos_changed: of_tags(self.tags.not_exact()),
            pos_jaccard: of_tags(self.tags.jaccard()),
            pos_weighted: of_tags(self.tags.weighted()),
        }
    }
}

/// A generated sentence and where it comes from.
struct Generated {
    round: u16,
    sentence: Sentence,
    /// Place of its source among all.
    source: usize,
}

/// What a query finds: generated sentences by seed and recipe, and the sentences that were
/// rewritten.
#[derive(Default)]
struct Found {
    groups: BTreeMap<(ReleaseId, u32, AnnotationSetId), Vec<Generated>>,
    sources: Vec<Sentence>,
}

impl Found {
    fn of(database: &Database, expression: &Expression) -> anyhow::Result<Self> {
        let generated = "origin=generated".parse().map_err(DatabaseError::from)?;
        let mut found = Self::default();
        let mut places: HashMap<(ReleaseId, AnnotationSetId), usize> = HashMap::new();
        let expression = Expression::all_of([expression.clone(), generated])?;
        let read = |some: &mut Vec<_>, answer: Answer| {
            if let Provenance::Generated(made) = answer.set.provenance {
                let sentence = Sentence::new(&answer.sentence.text, &answer.set.targets);
                some.push((answer.release.id, made, sentence));
            }
            Ok::<_, anyhow::Error>(())
        };
        database.fold_answers(&expression, Vec::new, read, |some| {
            for (release, made, sentence) in some {
                let key = (release, made.source);
                let source = match places.get(&key) {
                    Some(place) => *place,
                    None => {
                        let Some(source) = sentence_of(database, key)? else { continue };
                        found.sources.push(source);
                        places.insert(key, found.sources.len() - 1);
                        found.sources.len() - 1
                    }
                };
                let group = found.groups.entry((release, made.recipe.0, made.seed));
                group.or_default().push(Generated { round: made.round, sentence, source });
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Sums by round, without tags: measured by all threads, summed up in one order.
    fn sums(&self) -> BTreeMap<u16, Sums> {
        let groups: Vec<&Vec<Generated>> = self.groups.values().collect();
        let measured: Vec<Vec<Sums>> =
            groups.par_iter().map(|group| self.measured(group)).collect();
        let mut rounds: BTreeMap<u16, Sums> = BTreeMap::new();
        for (group, measured) in groups.into_iter().zip(&measured) {
            for (one, sums) in group.iter().zip(measured) {
                rounds.entry(one.round).or_default().add(sums);
            }
        }
        rounds
    }

    /// What is measured of each sentence of a seed and recipe, without tags.
    fn measured(&self, group: &[Generated]) -> Vec<Sums> {
        let of_one = |(at, one): (usize, &Generated)| {
            let source = &self.sources[one.source];
            let others = group.iter().enumerate().filter(|(other, _)| *other != at);
            let others: Vec<&[String]> =
                others.map(|(_, other)| &other.sentence.words[..]).collect();
            let has_others = !others.is_empty();
            Sums {
                sets: 1,
                source_bleu: bleu(&one.sentence.words, &[&source.words[..]]),
                changed: one.sentence.changed(source),
                self_bleu: if has_others { bleu(&one.sentence.words, &others) } else { 0.0 },
                with_others: u64::from(has_others),
                tags: TagDistances::default(),
            }
        };
        group.iter().enumerate().map(of_one).collect()
    }

    /// Adds what the tags of targets say; a sentence that is too long for the tagger counts for
    /// nothing.
    fn tag(&self, tagger: &Tagger, rounds: &mut BTreeMap<u16, Sums>) -> anyhow::Result<()> {
        let sources = tags_of(tagger, self.sources.iter())?;
        let generated: Vec<&Generated> = self.groups.values().flatten().collect();
        let outputs = tags_of(tagger, generated.iter().map(|one| &one.sentence))?;
        for (one, output) in generated.iter().zip(&outputs) {
            if let (Some(source), Some(output)) = (&sources[one.source], output) {
                rounds.entry(one.round).or_default().tags.add(source, output);
            }
        }
        Ok(())
    }
}

fn sentence_of(
    database: &Database,
    (release, set): (ReleaseId, AnnotationSetId),
) -> anyhow::Result<Option<Sentence>> {
    let Some(set) = database.store().annotation_set(release, set)? else { return Ok(None) };
    let sentence = database.store().sentence(release, set.sentence)?;
    Ok(sentence.map(|sentence| Sentence::new(&sentence.text, &set.targets)))
}

/// The tags of each sentence's target; none where it is too long.
fn tags_of<'t, 's>(
    tagger: &'t Tagger,
    sentences: impl Iterator<Item = &'s Sentence>,
) -> anyhow::Result<Vec<Option<Vec<&'t str>>>> {
    let sentences: Vec<&Sentence> = sentences.collect();
    let mut found = Vec::with_capacity(sentences.len());
    for batch in sentences.chunks(BATCH) {
        let words: Vec<Vec<&str>> =
            batch.iter().map(|one| one.written.iter().map(String::as_str).collect()).collect();
        for (one, tags) in batch.iter().zip(tagger.tag_each(&words)?) {
            let of_target = |tags: Vec<fnstore::tag::Tag<'t>>| -> Vec<&'t str> {
                one.target.iter().map(|at| tags[*at].name).collect()
            };
            found.push(tags.ok().map(of_target));
        }
    }
    Ok(found)
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let text = args.expression.join(" ");
    let expression = query::expression(&text)?;
    let tagger = if args.no_pos { None } else { Some(args.tagger.open()?) };
    let database = context.joined(context.open_for(&expression)?);
    let found = Found::of(&database, &expression)?;
    if let Some(tagger) = &tagger {
        database.check_languages([tagger.declared()], found.groups.keys().map(|key| key.0))?;
    }
    let mut rounds = found.sums();
    if let Some(tagger) = &tagger {
        found.tag(tagger, &mut rounds)?;
    }
    let mut all = Sums::default();
    for sums in rounds.values() {
        all.add(sums);
    }
    let mut rows: Vec<DiversityRow> =
        rounds.iter().map(|(round, sums)| sums.row(Some(*round), tagger.is_some())).collect();
    if all.sets > 0 {
        rows.push(all.row(None, tagger.is_some()));
    }
    let is_empty = rows.is_empty();
    context.output.rows(Format::Jsonl, rows)?;
    tell_of_index(&database);
    Outcome::or_tell(!is_empty, "no generated annotation set matches", &mut context.output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_words_are_counted_as_often_as_they_stand_there() {
        let source = Sentence::new("They checked the old brakes .", &[Span::new(5, 12)]);
        let output = Sentence::new("the tested brakes, the Brakes.", &[Span::new(4, 10)]);
        // Kept: the, brakes and the full stop; of seven words.
        assert_eq!(output.written, ["the", "tested", "brakes", ",", "the", "Brakes", "."]);
        assert_eq!(output.changed(&source), 4.0 / 7.0);
        assert_eq!((output.target, source.target), (vec![1], vec![1]));
        assert_eq!(Sentence::new("", &[]).changed(&Sentence::new("", &[])), 0.0);
    }
}
