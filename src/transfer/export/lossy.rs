//! Export into formats that hold less than the database: tokens for parsers, tables.
//!
//! Each counts what it left out, and says so in its report.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use super::tokens::{Layout, TokenFile, TokenSentence};
use crate::database::{Database, DatabaseError, Result};
use crate::exchange::{
    Annotated, CsvTable, ExchangeError, Holds, LabelRow, Loss, LossLog, ParquetTable, SemaforFiles,
    TokenFormat, Tokens, TokensWritten, WordTagger,
};
use crate::model::{
    AnnotationSet, AnnotationSetId, Extent, FeId, FeStatus, FrameId, LuId, OWN_RANGE, PROPOSED,
    Provenance, ReleaseId, SentenceId, Span,
};
use crate::query::Expression;
use crate::search::{Answer, Catalog, Distinct, ElementLabel, Match, elements};
use crate::store::{Store, in_order};
use crate::text::{CharIndex, CharSpan};

/// What an export wrote, and what its format could not hold.
#[derive(Debug, Clone, Default)]
pub struct LossyExport {
    /// Sets that were written.
    pub sets: u64,
    /// Sentences that were written.
    pub sentences: u64,
    /// What was left out.
    pub losses: LossLog,
}

impl From<TokensWritten> for LossyExport {
    fn from(written: TokensWritten) -> Self {
        Self { sets: written.sets, sentences: written.sentences, losses: written.losses }
    }
}

/// What tables say of sets.
const HOLDS: Holds = Holds {
    origin: true,
    status: true,
    lu_status: false,
    fe_status: true,
    gf_pt: true,
    scores: true,
};

/// Sentences that one thread reads together.
const TOGETHER: usize = 64;

impl Database {
    /// Writes the sets for which an expression holds, one block of tokens each, in order of
    /// sentence. Holds the ids of the sets in memory. Sentences without parts of speech get those
    /// of the tagger, if there is one and it knows the release's language, or
    /// [any](Database::with_any_language) is allowed. Blocks do not name their release, so all sets
    /// are of one.
    ///
    /// # Errors
    /// When the expression names what there is not, the output or the store fails; so for every
    /// export here. When its sets belong to several releases.
    pub fn export_tokens(
        &self,
        expression: &Expression,
        format: TokenFormat,
        tagger: Option<&dyn WordTagger>,
        out: &mut dyn Write,
    ) -> Result<LossyExport> {
        let mut file = TokenFile::new(self, (format, Layout::Sets), tagger, out);
        let judged = self.by_sentence(expression, |sentence| file.add(sentence))?;
        let mut report = file.finish()?;
        report.losses.merge(&judged);
        Ok(report)
    }

    /// Writes the sets for which an expression holds in SEMAFOR's format, in order of sentence,
    /// into the files `.frame.elements`, `.sentences` and `.sentences.tokenized`. Holds the ids of
    /// the sets in memory. All sets are of one release, as in
    /// [`export_tokens`](Self::export_tokens).
    pub fn export_semafor(
        &self,
        expression: &Expression,
        [elements, sentences, tokenized]: [&mut dyn Write; 3],
    ) -> Result<LossyExport> {
        let mut files = SemaforFiles::new(elements, sentences, tokenized);
        let judged = self
            .by_sentence(expression, |TokenSentence { text, tokens, sets, .. }| {
                Ok(files.sentence(&text, &tokens, &sets)?)
            })?;
        let mut report = LossyExport::from(files.finish()?);
        report.losses.merge(&judged);
        Ok(report)
    }

    /// Writes the sets that an expression finds as CSV, a row for each FE label, in order of key.
    pub fn export_csv(&self, expression: &Expression, out: &mut dyn Write) -> Result<LossyExport> {
        let mut table = CsvTable::new(out)?;
        let report = self.rows(expression, |row| table.row(row))?;
        table.finish()?;
        Ok(report)
    }

    /// Writes the table of [`export_csv`](Self::export_csv) as Parquet, compressed with zstd.
    pub fn export_parquet(
        &self,
        expression: &Expression,
        out: &mut (dyn Write + Send),
    ) -> Result<LossyExport> {
        let mut table = ParquetTable::new(out)?;
        let report = self.rows(expression, |row| table.row(row))?;
        table.finish()?;
        Ok(report)
    }

    /// Hands on the sets that are found, sentence by sentence, with the sentence's tokens; gives
    /// what is lost of judgements, and by LUs that were rejected.
    fn by_sentence(
        &self,
        expression: &Expression,
        mut take: impl FnMut(TokenSentence) -> Result<()>,
    ) -> Result<LossLog> {
        let still = self.last_still()?;
        let still: &Self = &still;
        let mut found: Vec<(ReleaseId, SentenceId, AnnotationSetId)> = Vec::new();
        let add = |some: &mut Vec<_>, of: Match<'_>| {
            some.push((of.release(), of.set().sentence, of.set().id));
            Ok(None)
        };
        still.fold_matches(expression, Vec::new, add, |some| {
            found.extend(some);
            Ok::<_, DatabaseError>(())
        })?;
        found.sort_unstable();
        still.require_one_release(found.iter().map(|(release, ..)| *release))?;
        let groups: Vec<&[_]> = found.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).collect();
        let (mut losses, idle) = (LossLog::default(), Mutex::new(Vec::new()));
        let lock = || idle.lock().unwrap_or_else(PoisonError::into_inner);
        let read = |groups: &[&[_]]| {
            let known = lock().pop();
            let mut reader = known.map_or_else(|| SentenceReader::new(still), Ok)?;
            let some = groups.iter().map(|group| reader.read(group));
            let some = some.collect::<Result<Vec<_>>>()?;
            lock().push(reader);
            Ok(some)
        };
        in_order(groups.chunks(TOGETHER), read, |some: Result<Vec<_>>| {
            for (sentence, lost) in some? {
                losses.merge(&lost);
                sentence.map_or(Ok(()), &mut take)?;
            }
            Ok::<_, DatabaseError>(())
        })?;
        Ok(losses)
    }

    /// Hands on the rows of the sets that are found, as they are read.
    fn rows(
        &self,
        expression: &Expression,
        mut take: impl FnMut(&LabelRow) -> std::result::Result<(), ExchangeError>,
    ) -> Result<LossyExport> {
        let still = self.last_still()?;
        let still: &Self = &still;
        let (mut report, mut sentences) = (LossyExport::default(), Distinct::default());
        let begin = || Rows::of(still);
        still.fold_answers(
            expression,
            begin,
            |some, answer| some.add(&answer),
            |some| {
                some.rows.iter().try_for_each(&mut take)?;
                report.sets += some.sets;
                report.losses.merge(&some.losses);
                sentences.merge(some.sentences);
                Ok::<_, DatabaseError>(())
            },
        )?;
        report.sentences = sentences.into_sorted().len() as u64;
        Ok(report)
    }

    /// Counts the judgements of a set, which no format here has a place for.
    pub(super) fn count_judgements(
        &self,
        release: ReleaseId,
        set: &AnnotationSet,
        losses: &mut LossLog,
    ) -> Result<()> {
        for judgement in self.store().judgements(release, set.id)? {
            drop(judgement?);
            losses.add(Loss::Judgements);
        }
        Ok(())
    }

    /// Counts what people and verifiers say of a set, for formats without a place for either.
    pub(super) fn count_verdicts(
        &self,
        release: ReleaseId,
        set: &AnnotationSet,
        losses: &mut LossLog,
    ) -> Result<()> {
        self.count_judgements(release, set, losses)?;
        if self.store().verification(release, set.id)?.is_some() {
            losses.add(Loss::Verifications);
        }
        Ok(())
    }
}

/// Reads sentences with their sets; keeps what it knows of frames and LUs from one to the next.
struct SentenceReader<'a> {
    database: &'a Database,
    names: Names<'a>,
    rejected: RejectedLexunits,
}

impl<'a> SentenceReader<'a> {
    fn new(database: &'a Database) -> Result<Self> {
        let (names, rejected) = (Names::new(database)?, RejectedLexunits::default());
        Ok(Self { database, names, rejected })
    }

    /// A sentence with the sets that are written, if there are some, and what is lost of them.
    fn read(
        &mut self,
        group: &[(ReleaseId, SentenceId, AnnotationSetId)],
    ) -> Result<(Option<TokenSentence>, LossLog)> {
        let (store, mut lost) = (self.database.store(), LossLog::default());
        let Some((release, sentence, _)) = group.first().copied() else { return Ok((None, lost)) };
        let Some(row) = store.sentence(release, sentence)? else { return Ok((None, lost)) };
        let layers = store.sentence_layers(release, sentence)?;
        let tokens = Tokens::new(&row.text, &layers.collect::<std::result::Result<Vec<_>, _>>()?);
        let mut sets = Vec::with_capacity(group.len());
        for (_, _, id) in group {
            if let Some(set) = store.annotation_set(release, *id)? {
                if self.rejected.contain(store, release, &set)? {
                    lost.add(Loss::Rejected);
                    continue;
                }
                self.database.count_verdicts(release, &set, &mut lost)?;
                sets.push(self.names.annotated(release, set)?);
            }
        }
        let (text, unannotated) = (row.text, Vec::new());
        let sentence = TokenSentence { release, text, tokens, sets, unannotated };
        Ok(((!sentence.sets.is_empty()).then_some(sentence), lost))
    }
}

/// LUs that people rejected, read once for each release. What they mark a parser must not learn.
#[derive(Default)]
pub(super) struct RejectedLexunits(HashMap<ReleaseId, HashSet<(FrameId, LuId)>>);

impl RejectedLexunits {
    /// Whether a set is of one.
    pub(super) fn contain(
        &mut self,
        store: &Store,
        release: ReleaseId,
        set: &AnnotationSet,
    ) -> Result<bool> {
        let of_release = match self.0.entry(release) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(store.rejected_lexunits(release)?),
        };
        Ok(of_release.contains(&(set.frame, set.lu)))
    }
}

/// Rows of some sets, and what is lost of them.
struct Rows<'a> {
    database: &'a Database,
    names: Option<Names<'a>>,
    rows: Vec<LabelRow>,
    sets: u64,
    sentences: Distinct<(ReleaseId, SentenceId)>,
    losses: LossLog,
}

impl<'a> Rows<'a> {
    fn of(database: &'a Database) -> Self {
        let (sentences, losses) = (Distinct::default(), LossLog::default());
        Self { database, names: None, rows: Vec::new(), sets: 0, sentences, losses }
    }

    fn add(&mut self, answer: &Answer) -> Result<()> {
        let names = match &mut self.names {
            Some(names) => names,
            none => none.insert(Names::new(self.database)?),
        };
        let release = answer.release.id;
        self.sets += 1;
        self.sentences.add((release, answer.set.sentence));
        let core_types = names.core_types(release, answer.set.frame)?;
        self.rows.extend(rows_of(answer, &core_types)?);
        let is_proposed = names.is_proposed(release, &answer.set)?;
        self.losses.add_set(&answer.set, is_proposed, HOLDS);
        if names.is_judged(release)? {
            self.database.count_judgements(release, &answer.set, &mut self.losses)?;
        }
        Ok(())
    }
}

type CoreTypes = Arc<HashMap<String, &'static str>>;

/// The names behind the numbers of sets.
pub(super) struct Names<'a> {
    database: &'a Database,
    catalog: Catalog<'a>,
    frames: HashMap<(ReleaseId, FrameId), CoreTypes>,
    elements: HashMap<(ReleaseId, FrameId), Arc<HashMap<String, FeId>>>,
    statuses: HashMap<(ReleaseId, FrameId, LuId), String>,
    /// Of seeds and sources, the names of their FEs with words, if people annotated them all.
    seeds: HashMap<(ReleaseId, AnnotationSetId), Option<Vec<String>>>,
    judged: HashMap<ReleaseId, bool>,
}

impl<'a> Names<'a> {
    pub(super) fn new(database: &'a Database) -> Result<Self> {
        Ok(Self {
            database,
            catalog: database.catalog()?,
            frames: HashMap::new(),
            elements: HashMap::new(),
            statuses: HashMap::new(),
            seeds: HashMap::new(),
            judged: HashMap::new(),
        })
    }

    /// Whether a set is of a proposed LU.
    pub(super) fn is_proposed(&mut self, release: ReleaseId, set: &AnnotationSet) -> Result<bool> {
        Ok(set.lu.0 >= OWN_RANGE && self.lu_status(release, set)? == PROPOSED)
    }

    /// The status of a set's LU; empty where the LU is gone.
    fn lu_status(&mut self, release: ReleaseId, set: &AnnotationSet) -> Result<String> {
        let key = (release, set.frame, set.lu);
        if let Some(known) = self.statuses.get(&key) {
            return Ok(known.clone());
        }
        let lexunit = self.database.store().lexunit(release, set.frame, set.lu)?;
        let status = lexunit.map_or_else(String::new, |lexunit| lexunit.status);
        self.statuses.insert(key, status.clone());
        Ok(status)
    }

    /// Whether all FEs of a set are labelled: people looked for them, or a model carried every one
    /// of those of a seed or a source in which people did, and the set still has them. One that was
    /// edited since, so that its FEs are others, says nothing.
    fn has_all_elements(&mut self, release: ReleaseId, set: &AnnotationSet) -> Result<bool> {
        let from = match (set.provenance.grown_from(), set.fe_status) {
            (_, FeStatus::Annotated) => return Ok(true),
            (Some(from), FeStatus::Carried) => from,
            _ => return Ok(false),
        };
        let elements = set.provenance.carried_elements();
        let are_found = elements.iter().all(|element| element.score.is_some());
        let is_flagged = match &set.provenance {
            Provenance::Generated(made) => made.flags.lost_element,
            _ => false,
        };
        if !are_found || is_flagged {
            return Ok(false);
        }
        let key = (release, from);
        if !self.seeds.contains_key(&key) {
            let seed = self.database.store().annotation_set(release, from)?;
            let known = seed.filter(|seed| seed.fe_status == FeStatus::Annotated);
            self.seeds.insert(key, known.as_ref().map(overt_elements));
        }
        let mut carried: Vec<String> =
            elements.iter().map(|element| element.name.clone()).collect();
        carried.sort_unstable();
        let is_whole = self.seeds.get(&key).and_then(Option::as_ref) == Some(&carried);
        Ok(is_whole && has_each(&overt_elements(set), &carried))
    }

    /// Whether there are judgements of a release's sets.
    fn is_judged(&mut self, release: ReleaseId) -> Result<bool> {
        if let Some(known) = self.judged.get(&release) {
            return Ok(*known);
        }
        let is_judged = self.database.store().all_judgements(release)?.next().is_some();
        self.judged.insert(release, is_judged);
        Ok(is_judged)
    }

    fn core_types(&mut self, release: ReleaseId, frame: FrameId) -> Result<CoreTypes> {
        if let Some(known) = self.frames.get(&(release, frame)) {
            return Ok(Arc::clone(known));
        }
        let frame_record = self.database.store().frame(release, frame)?;
        let elements = frame_record.map(|frame| frame.elements).unwrap_or_default();
        let ids = elements.iter().map(|fe| (fe.name.clone(), fe.id)).collect();
        self.elements.insert((release, frame), Arc::new(ids));
        let types = elements.into_iter().map(|fe| (fe.name, fe.core_type.as_str()));
        let types: CoreTypes = Arc::new(types.collect());
        self.frames.insert((release, frame), Arc::clone(&types));
        Ok(types)
    }

    pub(super) fn annotated(
        &mut self,
        release: ReleaseId,
        set: AnnotationSet,
    ) -> Result<Annotated> {
        let core_types = self.core_types(release, set.frame)?;
        Ok(Annotated {
            fe_ids: self.elements.get(&(release, set.frame)).cloned().unwrap_or_default(),
            fes_complete: self.has_all_elements(release, &set)?,
            lu_status: self.lu_status(release, &set)?,
            verification: self.database.store().verification(release, set.id)?,
            frame: self.catalog.frame(release, set.frame)?.to_string(),
            lu: self.catalog.lexunit(release, set.frame, set.lu)?.to_string(),
            core_types,
            is_proposed: self.is_proposed(release, &set)?,
            set,
        })
    }
}

/// The names of a set's FEs with words, in order, each as often as it stands there.
fn overt_elements(set: &AnnotationSet) -> Vec<String> {
    let labels = set.fe_layers().flat_map(|layer| &layer.labels);
    let overt = labels.filter(|label| label.extent.span().is_some());
    let mut names: Vec<String> = overt.map(|label| label.name.clone()).collect();
    names.sort_unstable();
    names
}

/// Whether names in order have all of others in order, each as often. One FE of a seed may stand in
/// several places of a text that was made of it.
fn has_each(names: &[String], others: &[String]) -> bool {
    let mut rest = names.iter();
    others.iter().all(|other| rest.any(|name| name == other))
}

/// The rows of a set: one for each FE label, or one when it has none.
fn rows_of(answer: &Answer, core_types: &CoreTypes) -> Result<Vec<LabelRow>> {
    let text = answer.sentence.text.as_str();
    let index = CharIndex::new(text);
    let set = &answer.set;
    let chars = |span: Span| {
        let record = format!("set {}", set.id);
        index.to_chars(span).map_err(|source| ExchangeError::Record { record, source })
    };
    let mut targets = Vec::new();
    for target in &set.targets {
        let span = chars(*target)?;
        targets.push(format!("{}-{}", span.start, span.end));
    }
    let mut row = LabelRow {
        release: answer.release.name.clone(),
        set: set.id.to_string(),
        origin: set.provenance.origin().as_str().to_owned(),
        status: set.status.clone(),
        fe_status: set.fe_status.as_str().to_owned(),
        frame: answer.frame.to_string(),
        lu: answer.lexunit.to_string(),
        sentence: answer.sentence.id.to_string(),
        document: answer.document.as_deref().map(str::to_owned),
        split: answer.split.map(|split| split.as_str().to_owned()),
        text: text.to_owned(),
        trigger: answer.trigger(),
        targets: targets.join(";"),
        frame_fit: set.provenance.fit().map(|fit| f64::from(fit.probability)),
        ..LabelRow::default()
    };
    row.seed = set.provenance.grown_from().map(|from| from.to_string());
    row.aligner = set.provenance.aligner().map(f64::from);
    if let Provenance::Generated(made) = &set.provenance {
        row.round = Some(i64::from(made.round));
        row.flags = Some(made.flags.names().join(";"));
        row.paraphrase = made.paraphrase_score().map(f64::from);
        row.p = made.filter.map(|scores| f64::from(scores.precision));
        row.r = made.filter.map(|scores| f64::from(scores.recall));
    }
    if let Some(said) = &answer.verification {
        row.evokes = said.evokes.map(f64::from);
        row.same_meaning = said.same_meaning.map(f64::from);
        row.reverse = said.reverse.map(|reverse| f64::from(reverse.score));
    }
    let mut rows = Vec::new();
    for element in elements(set) {
        let core_type = core_types.get(&element.label.name).map(|name| (*name).to_owned());
        rows.push(LabelRow { core_type, ..label_row(&element, text, chars, &row)? });
    }
    if rows.is_empty() {
        rows.push(row);
    }
    Ok(rows)
}

/// The row of a label, as that of its set with what the label says.
fn label_row(
    element: &ElementLabel<'_>,
    text: &str,
    chars: impl Fn(Span) -> std::result::Result<CharSpan, ExchangeError>,
    row: &LabelRow,
) -> Result<LabelRow> {
    let span = element.label.extent.span();
    let offsets = span.map(chars).transpose()?;
    Ok(LabelRow {
        fe: Some(element.label.name.clone()),
        rank: Some(i64::from(element.rank)),
        start: offsets.map(|offsets| i64::from(offsets.start)),
        end: offsets.map(|offsets| i64::from(offsets.end)),
        fe_text: span.and_then(|span| span.of(text)).map(str::to_owned),
        ni: match &element.label.extent {
            Extent::Null(kind) => Some(kind.as_str().to_owned()),
            Extent::Overt(_) | Extent::None => None,
        },
        gf: element.gf.map(str::to_owned),
        pt: element.pt.map(str::to_owned),
        ..row.clone()
    })
}
