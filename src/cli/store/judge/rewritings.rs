//! `fnstore judge sample` and `fnstore judge tally`: what people say of rewritings.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use anyhow::ensure;
use fnstore::augment::{Rater, SystemFigures, Verdict, figures};
use fnstore::model::Percent;
use serde::Serialize;

use crate::cli::Outcome;
use crate::cli::input::line_reader::LineError;
use crate::cli::input::table_lines::{Fields, TableLines};
use crate::cli::print::output::{Format, Output, counted, tell};
use crate::cli::print::render::Row;

/// Draw rewritings for raters
///
/// Each FILE has the rewritings of one system, tab-separated under a line of names or as JSON
/// lines. It has `source` and `target`, or what `fnstore paraphrase` writes, of which the best is
/// taken. Writes JSON lines that do not say which system wrote what. They hold the rewriting of
/// each system for each source drawn, and some sources themselves, which check the rater's
/// attention (a system's copy of its source is one of them). A rater puts 0 to 100 into
/// `similarity`, and true into `ungrammatical` or `nonsensical` if it is so. Each rater fills a
/// copy; `fnstore judge tally` reads them.
#[derive(Debug, clap::Args)]
pub(crate) struct SampleArgs {
    /// Files of rewritings, one for each system
    #[arg(value_name = "FILE", required = true)]
    systems: Vec<PathBuf>,

    /// Draw N of the sources that all systems have rewritten
    #[arg(long, value_name = "N", default_value_t = 100)]
    count: usize,

    /// Add N unchanged sources as attention checks [default: a tenth of the rewritings]
    #[arg(long, value_name = "N")]
    checks: Option<usize>,

    /// Seed of the draw
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// Count what raters said of rewritings
///
/// Prints mean similarity with its standard deviation, fluency, the share without a flag, and the
/// share of copies, for each system (Hu et al. 2019, Table 2). A rater counts who passes 90 % of
/// the attention checks and judges nine rewritings.
#[derive(Debug, clap::Args)]
pub(crate) struct TallyArgs {
    /// Files that raters filled in
    #[arg(value_name = "FILE", required = true)]
    raters: Vec<PathBuf>,

    /// Rewritings of a system, as `fnstore judge sample` read them; may be repeated
    #[arg(long, value_name = "FILE", required = true)]
    system: Vec<PathBuf>,

    /// Least similarity of a source to itself that passes a check
    #[arg(long, value_name = "SCORE", default_value_t = 90, value_parser = clap::value_parser!(u8).range(0..=100))]
    pass: u8,
}

/// The rewritings of a system, by their sources in the order of the file.
struct System {
    name: String,
    rewritings: Vec<(String, String)>,
}

/// A source and the best rewriting of a line, under the names of `fnstore paraphrase`.
fn read_rewriting(fields: &Fields) -> Result<(String, String), LineError> {
    let written = fields.optional("paraphrases");
    if written.is_empty() {
        return Ok((fields.required("source")?.to_owned(), fields.required("target")?.to_owned()));
    }
    #[derive(serde::Deserialize)]
    struct Text {
        text: String,
    }
    let texts: Vec<Text> =
        serde_json::from_str(written).map_err(|error| LineError::json(&error))?;
    let Some(best) = texts.into_iter().next() else {
        let message = "`paraphrases` is empty: expected a text at least";
        return Err(LineError::new("E-empty", message));
    };
    Ok((fields.required("text")?.to_owned(), best.text))
}

fn read_system(file: &Path) -> anyhow::Result<(System, TableLines)> {
    let mut lines = TableLines::open(Some(file), &[])?;
    let mut rewritings = Vec::new();
    while let Some((_, rewriting)) = lines.next(read_rewriting)? {
        rewritings.push(rewriting);
    }
    let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok((System { name, rewritings }, lines))
}

fn read_systems(files: &[PathBuf]) -> anyhow::Result<(Vec<System>, Vec<TableLines>)> {
    Ok(files
        .iter()
        .map(|file| read_system(file))
        .collect::<anyhow::Result<Vec<_>>>()?
        .into_iter()
        .unzip())
}

/// Ends with an error where any input had lines that were left out.
fn finish(lines: Vec<TableLines>) -> anyhow::Result<()> {
    lines.into_iter().try_for_each(|lines| lines.finish("used"))
}

/// A rewriting to be judged, as JSON; see `schema/rewriting-judgement.schema.json`.
#[derive(Debug, Serialize)]
struct Item<'a> {
    id: String,
    source: &'a str,
    target: &'a str,
    similarity: Option<Percent>,
    ungrammatical: bool,
    nonsensical: bool,
}

pub(crate) fn sample(args: &SampleArgs, output: &mut Output) -> anyhow::Result<Outcome> {
    let (systems, lines) = read_systems(&args.systems)?;
    let of_source: Vec<HashMap<&str, &str>> = systems
        .iter()
        .map(|system| system.rewritings.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect())
        .collect();
    let order = |what: &str, text: &str| {
        *blake3::hash(format!("{}\t{what}\t{text}", args.seed).as_bytes()).as_bytes()
    };
    let mut sources: Vec<&str> = of_source.first().map_or(Vec::new(), |first| {
        let by_all = |source: &&str| of_source.iter().all(|system| system.contains_key(source));
        first.keys().copied().filter(by_all).collect()
    });
    sources.sort_by_cached_key(|source| order("draw", source));
    sources.truncate(args.count);
    // A rewriting that several systems have is judged once.
    let mut items: HashSet<(&str, &str)> = HashSet::new();
    for source in &sources {
        items.extend(of_source.iter().map(|system| (*source, system[source])));
    }
    let checks = args.checks.unwrap_or(items.len().div_ceil(10));
    items.extend(sources.iter().take(checks).map(|source| (*source, *source)));
    let mut items: Vec<(&str, &str)> = items.into_iter().collect();
    items.sort_by_cached_key(|(source, target)| order("place", &format!("{source}\t{target}")));
    let mut records = output.json_records()?;
    for (number, (source, target)) in (1..).zip(&items) {
        let item = Item {
            id: format!("w{number}"),
            source,
            target,
            similarity: None,
            ungrammatical: false,
            nonsensical: false,
        };
        records.record(&item)?;
    }
    records.end_records()?;
    finish(lines)?;
    Ok(Outcome::of(!items.is_empty()))
}

/// A line that a rater filled in: source and target, and what is said of it, if anything yet.
fn read_verdict(fields: &Fields) -> Result<([String; 2], Option<Verdict>), LineError> {
    let flag = |name: &str| match fields.optional(name) {
        "" | "false" => Ok(false),
        "true" => Ok(true),
        other => {
            Err(LineError::new("E-type", format!("`{name}` is `{other}`: expected true or false")))
        }
    };
    let (is_ungrammatical, is_nonsensical) = (flag("ungrammatical")?, flag("nonsensical")?);
    let own = |name: &str| fields.required(name).map(str::to_owned);
    let texts = [own("source")?, own("target")?];
    let is_copy = texts[0] == texts[1];
    let verdict = match fields.optional("similarity") {
        "" => None,
        text => {
            let similarity = text.parse().ok().filter(|score: &u8| *score <= 100);
            let similarity = similarity.ok_or_else(|| {
                LineError::new("E-type", format!("`similarity` is `{text}`: expected 0 to 100"))
            })?;
            Some(Verdict { similarity, is_ungrammatical, is_nonsensical, is_copy })
        }
    };
    Ok((texts, verdict))
}

/// A row of the table as JSON; see `schema/rewriter-figures.schema.json`.
#[derive(Debug, Serialize)]
struct FiguresRecord {
    system: String,
    #[serde(flatten)]
    figures: SystemFigures,
}

impl Row for FiguresRecord {
    const COLUMNS: &'static [&'static str] = &[
        "system",
        "judged",
        "similarity",
        "deviation",
        "ungrammatical",
        "nonsensical",
        "fluency",
        "copied",
    ];

    fn cells(&self) -> Vec<String> {
        let percent = |share: f64| format!("{:.1}", 100.0 * share);
        vec![
            self.system.clone(),
            self.figures.judged.to_string(),
            format!("{:.1}", self.figures.similarity),
            format!("{:.1}", self.figures.deviation),
            percent(self.figures.ungrammatical),
            percent(self.figures.nonsensical),
            percent(self.figures.fluency),
            percent(self.figures.copied),
        ]
    }
}

pub(crate) fn tally(args: &TallyArgs, output: &mut Output) -> anyhow::Result<Outcome> {
    let (systems, mut lines) = read_systems(&args.system)?;
    let mut names: HashMap<(&str, &str), Vec<&str>> = HashMap::new();
    for System { name, rewritings } in &systems {
        for (source, target) in rewritings {
            // A file may have a rewriting twice; its verdict counts once.
            let wrote = names.entry((source, target)).or_default();
            if wrote.last().is_none_or(|last| *last != name.as_str()) {
                wrote.push(name);
            }
        }
    }
    let mut verdicts: BTreeMap<&str, Vec<Verdict>> =
        systems.iter().map(|system| (system.name.as_str(), Vec::new())).collect();
    ensure!(verdicts.len() == systems.len(), "two files of systems have one name; rename one");
    let mut raters = 0;
    for file in &args.raters {
        let (rater, said, of_rater) = read_rater(file, &names, args.pass)?;
        lines.push(of_rater);
        let Rater { checks, passed, judged } = rater;
        let is_counted = rater.counts();
        tell(&format!(
            "`{}` passed {passed} of {} and judged {}{}",
            file.display(),
            counted(checks, "attention check"),
            counted(judged, "rewriting"),
            if is_counted { "" } else { ": left out" }
        ));
        if checks == 0 {
            tell(&format!("`{}` has no attention check", file.display()));
        }
        raters += u64::from(is_counted);
        for (name, verdict) in said.into_iter().filter(|_| is_counted) {
            verdicts.entry(name).or_default().push(verdict);
        }
    }
    let rows = verdicts.iter().map(|(name, verdicts)| FiguresRecord {
        system: (*name).to_owned(),
        figures: figures(verdicts),
    });
    output.rows(Format::Table, rows.collect::<Vec<_>>())?;
    finish(lines)?;
    Ok(Outcome::of(raters > 0))
}

/// Verdicts, each with the name of a system that wrote what it is of.
type Said<'n> = Vec<(&'n str, Verdict)>;

/// What a rater said.
fn read_rater<'n>(
    file: &Path,
    names: &HashMap<(&str, &str), Vec<&'n str>>,
    pass: u8,
) -> anyhow::Result<(Rater, Said<'n>, TableLines)> {
    let mut lines = TableLines::open(Some(file), &["source", "target"])?;
    let (mut rater, mut said) = (Rater::default(), Vec::new());
    while let Some((_, (verdict, wrote))) = lines.next(|fields| {
        let ([source, target], verdict) = read_verdict(fields)?;
        let wrote = names.get(&(source.as_str(), target.as_str())).cloned().unwrap_or_default();
        if wrote.is_empty() && source != target {
            let message = "no system wrote this `target`: expected the texts that were drawn";
            return Err(LineError::new("E-unknown", message));
        }
        Ok((verdict, wrote))
    })? {
        let Some(verdict) = verdict else { continue };
        if verdict.is_copy {
            rater.add_check(verdict, pass);
        } else {
            rater.judged += 1;
        }
        said.extend(wrote.into_iter().map(|name| (name, verdict)));
    }
    Ok((rater, said, lines))
}
