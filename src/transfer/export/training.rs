//! Export for training: a record for each sentence, with what nobody annotated of it.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Write};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};

use super::complete::{Sources, is_throughout, takes_along};
use super::lossy::{LossyExport, Names, RejectedLexunits};
use super::tokens::{HELD, Layout, TokenFile, TokenSentence, Untagged, WordReader};
use crate::database::{Database, Result};
use crate::exchange::{
    ExchangeError, Loss, LossLog, Spacing, TokenFormat, Tokens, TrainingFile, TrainingFormat,
    TrainingSentence, WordTagger,
};
use crate::model::{
    AnnotationSet, AnnotationSetId, Provenance, ReleaseId, SentenceId, Span, Split,
};
use crate::query::{Expression, Selection};

/// Sets of a sentence, and the part of the data that each belongs to.
type OfSentence = (Vec<AnnotationSetId>, Vec<Option<Split>>);

/// The sets to write, and how many the expression finds that are not written.
#[derive(Default)]
struct Wanted {
    /// Those of each sentence.
    sentences: BTreeMap<(ReleaseId, SentenceId), OfSentence>,
    /// Sets of LUs that people rejected: what a parser must not learn.
    rejected: u64,
}

/// Groups of sentences that wait for whoever writes them.
const WAITING: usize = 2;

impl Database {
    /// Writes each sentence that has a set for which an expression holds, in order of sentence,
    /// into files of these forms at once, each by a thread of its own. The report is that of the
    /// first. All tokens have their tags from the tagger, if there is one that knows the release's
    /// language, so that they are of one tag set; their lemmas follow the tags. Holds the ids of
    /// the sets in memory.
    ///
    /// # Errors
    /// When the expression names what there is not, the output or the store fails; so for every
    /// export here. When the format is not built into the program. When the sets belong to several
    /// releases, whose ids are the same, in CoNLL-U Plus.
    pub fn export_training(
        &self,
        expression: &Expression,
        spacing: Spacing,
        tagger: Option<&dyn WordTagger>,
        files: Vec<(TrainingFormat, &mut (dyn Write + Send))>,
    ) -> Result<LossyExport> {
        let wanted = self.training_sets(expression)?;
        if files.iter().any(|(format, _)| *format == TrainingFormat::Conllu) {
            // A reader of CoNLL-U takes `sent_id` for the one sentence of that name.
            self.require_one_release(wanted.sentences.keys().map(|(release, _)| *release))?;
        }
        std::thread::scope(|scope| {
            let write = |(format, out)| {
                let (sender, receiver) = sync_channel(WAITING);
                (sender, scope.spawn(move || written(format, out, receiver)))
            };
            let (senders, writers): (Vec<_>, Vec<_>) = files.into_iter().map(write).unzip();
            let mut hand_on = |sentences: Arc<Vec<TrainingSentence>>| {
                let are_taken = senders.iter().all(|to| to.send(Arc::clone(&sentences)).is_ok());
                // Whoever takes no more says why.
                if are_taken { Ok(()) } else { Err(io::Error::from(ErrorKind::BrokenPipe)) }
            };
            let read = self.read_training(wanted, (spacing, tagger), &mut hand_on);
            drop(senders);
            let mut reports = Vec::with_capacity(writers.len());
            for writer in writers {
                reports.push(writer.join().unwrap_or_else(|panic| resume_unwind(panic))?);
            }
            let mut report = reports.into_iter().next().unwrap_or_default();
            report.losses.merge(&read?);
            Ok(report)
        })
    }

    /// Hands on the sentences of sets with their words read, some at a time; gives what is lost of
    /// them before they are written.
    fn read_training(
        &self,
        wanted: Wanted,
        (spacing, tagger): (Spacing, Option<&dyn WordTagger>),
        hand_on: &mut dyn FnMut(Arc<Vec<TrainingSentence>>) -> io::Result<()>,
    ) -> Result<LossLog> {
        let (mut losses, mut held) = (LossLog::default(), Vec::new());
        let mut reader = WordReader::new(self, tagger);
        let mut read = |held: &mut Vec<TrainingSentence>| -> Result<()> {
            let untagged = held.iter_mut().map(|of| {
                let TrainingSentence { release, sentence, tokens, sets, .. } = of;
                tokens.untag();
                Untagged { release: *release, text: &sentence.text, tokens, sets }
            });
            reader.read(&mut untagged.collect::<Vec<_>>())?;
            held.iter_mut().for_each(|sentence| sentence.respace(spacing, &mut losses));
            hand_on(Arc::new(std::mem::take(held))).map_err(ExchangeError::from)?;
            Ok(())
        };
        let judged = self.training_sentences(wanted, |sentence| {
            held.push(sentence);
            if held.len() < HELD { Ok(()) } else { read(&mut held) }
        })?;
        read(&mut held)?;
        losses.merge(&judged);
        Ok(losses)
    }

    /// Writes the sentences of [`export_training`](Self::export_training) as blocks of tokens,
    /// tagged as by [`export_tokens`](Self::export_tokens), which are of one release.
    ///
    /// # Errors
    /// When the sets belong to several releases, too.
    pub fn export_training_tokens(
        &self,
        expression: &Expression,
        format: TokenFormat,
        tagger: Option<&dyn WordTagger>,
        out: &mut dyn Write,
    ) -> Result<LossyExport> {
        let mut file = TokenFile::new(self, (format, Layout::Training), tagger, out);
        let wanted = self.training_sets(expression)?;
        self.require_one_release(wanted.sentences.keys().map(|(release, _)| *release))?;
        let mut verified = LossLog::default();
        let judged = self.training_sentences(wanted, |of| {
            let TrainingSentence { release, sentence, tokens, sets, unannotated, .. } = of;
            let said = sets.iter().filter(|of| of.verification.is_some()).count();
            verified.add_many(Loss::Verifications, said as u64);
            file.add(TokenSentence { release, text: sentence.text, tokens, sets, unannotated })
        })?;
        let mut report = file.finish()?;
        report.losses.merge(&judged);
        report.losses.merge(&verified);
        Ok(report)
    }

    /// The sets that an expression finds, with those that were carried into the sentences of
    /// generated ones among them, unless the expression itself speaks of those.
    fn training_sets(&self, expression: &Expression) -> Result<Wanted> {
        let (mut wanted, mut rejected) = (Wanted::default(), RejectedLexunits::default());
        for found in self.matches(expression, &Selection::default())? {
            let found = found?;
            let release = found.release();
            if rejected.contain(self.store(), release, found.set())? {
                wanted.rejected += 1;
                continue;
            }
            let key = (release, found.set().sentence);
            let (sets, splits) = wanted.sentences.entry(key).or_default();
            sets.push(found.set().id);
            splits.push(found.split()?);
        }
        if !takes_along(expression) {
            return Ok(wanted);
        }
        for found in self.matches(&"origin=carried".parse()?, &Selection::default())? {
            let found = found?;
            let Provenance::Carried(carrying) = &found.set().provenance else { continue };
            let is_rejected = rejected.contain(self.store(), found.release(), found.set())?;
            let Some((sets, splits)) =
                wanted.sentences.get_mut(&(found.release(), found.set().sentence))
            else {
                continue;
            };
            if !sets.contains(&carrying.generated) || sets.contains(&found.set().id) {
                continue;
            }
            if is_rejected {
                wanted.rejected += 1;
            } else {
                sets.push(found.set().id);
                splits.push(found.split()?);
            }
        }
        Ok(wanted)
    }

    /// Hands on the sentences of sets; gives what is lost of judgements, and what is not written.
    fn training_sentences(
        &self,
        wanted: Wanted,
        mut take: impl FnMut(TrainingSentence) -> Result<()>,
    ) -> Result<LossLog> {
        let store = self.store();
        let mut names = Names::new(self)?;
        let releases = self.releases()?;
        let mut judged = LossLog::default();
        judged.add_many(Loss::Rejected, wanted.rejected);
        let mut sources = Sources::new(store);
        for ((release, id), (ids, splits)) in wanted.sentences {
            let Some(sentence) = store.sentence(release, id)? else { continue };
            let mut all = Vec::new();
            for set in store.sets_of_sentence(release, id)? {
                all.extend(store.annotation_set(release, set?)?);
            }
            let layers = store.sentence_layers(release, id)?;
            let layers = layers.collect::<std::result::Result<Vec<_>, _>>()?;
            let tokens = Tokens::new(&sentence.text, &layers);
            let is_throughout = is_throughout(&all) || sources.are_carried(release, &all)?;
            let unannotated = unannotated(&sentence.text, (&all, is_throughout), &ids);
            let mut sets = Vec::with_capacity(ids.len());
            for set in all.into_iter().filter(|set| ids.contains(&set.id)) {
                self.count_judgements(release, &set, &mut judged)?;
                sets.push(names.annotated(release, set)?);
            }
            sets.sort_by_key(|of| (of.set.targets.first().copied(), of.set.id));
            let listed = releases.iter().find(|of| of.id == release);
            let release_name = listed.map_or_else(String::new, |of| of.name.clone());
            let split = splits[0].filter(|split| splits.iter().all(|of| *of == Some(*split)));
            take(TrainingSentence {
                release,
                release_name,
                sentence,
                split,
                tokens,
                sets,
                unannotated,
            })?;
        }
        Ok(judged)
    }
}

/// The stretches of a sentence in which nobody looked for frames, or whose sets are not written.
///
/// Full texts and span-labelled data are annotated throughout, and so is a sentence into which
/// every set of such a source was carried: there only the targets of sets that are left out are
/// unknown. Of any other sentence only the targets of the written sets are known.
/// A target that a written set shares with one that is left out is unknown, too: it evokes another
/// frame besides.
fn unannotated(
    text: &str,
    (all, is_throughout): (&[AnnotationSet], bool),
    written: &[AnnotationSetId],
) -> Vec<Span> {
    let targets = |is_written: bool| {
        let sets = all.iter().filter(move |set| written.contains(&set.id) == is_written);
        let mut targets: Vec<Span> = sets.flat_map(|set| set.targets.iter().copied()).collect();
        targets.sort_unstable();
        targets
    };
    let left_out = targets(false);
    if is_throughout {
        return joined(left_out);
    }
    let mut unknown = without(vec![Span::new(0, text.len() as u32)], &targets(true));
    unknown.extend(left_out);
    joined(unknown)
}

/// Stretches in order and apart: those that overlap or meet become one.
fn joined(mut stretches: Vec<Span>) -> Vec<Span> {
    stretches.sort_unstable();
    let mut joined: Vec<Span> = Vec::new();
    for stretch in stretches {
        match joined.last_mut() {
            Some(last) if stretch.start <= last.end => last.end = last.end.max(stretch.end),
            _ => joined.push(stretch),
        }
    }
    joined
}

/// Stretches in order, apart and without what some spans in order cover.
fn without(stretches: Vec<Span>, covered: &[Span]) -> Vec<Span> {
    let mut left: Vec<Span> = Vec::new();
    for stretch in stretches {
        // Stretches may overlap: what an earlier one has told is not told again.
        let mut at = left.last().map_or(stretch.start, |last| stretch.start.max(last.end));
        for span in covered.iter().filter(|span| span.start < stretch.end) {
            if span.start > at {
                left.push(Span::new(at, span.start));
            }
            at = at.max(span.end);
        }
        if at < stretch.end {
            left.push(Span::new(at, stretch.end));
        }
    }
    left
}

/// Writes sentences as they come.
fn written(
    format: TrainingFormat,
    out: &mut (dyn Write + Send),
    sentences: Receiver<Arc<Vec<TrainingSentence>>>,
) -> Result<LossyExport> {
    let (mut file, mut report) = (TrainingFile::new(out, format)?, LossyExport::default());
    for some in sentences {
        for sentence in &*some {
            let sets = file.sentence(sentence, &mut report.losses)?;
            report.sets += sets;
            report.sentences += u64::from(sets > 0);
        }
    }
    file.finish()?;
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(ends: &[(u32, u32)]) -> Vec<Span> {
        ends.iter().map(|(start, end)| Span::new(*start, *end)).collect()
    }

    #[test]
    fn what_is_covered_is_cut_out_and_the_rest_is_told_once() {
        let cut = |stretches: &[(u32, u32)], covered: &[(u32, u32)]| {
            without(spans(stretches), &spans(covered))
        };
        assert_eq!(cut(&[(0, 20)], &[(3, 8), (6, 10)]), spans(&[(0, 3), (10, 20)]));
        assert_eq!(cut(&[(0, 20)], &[(0, 4), (16, 20)]), spans(&[(4, 16)]));
        assert_eq!(cut(&[(2, 8), (5, 12)], &[(4, 6)]), spans(&[(2, 4), (6, 8), (8, 12)]));
        assert_eq!(cut(&[(2, 8)], &[(0, 9)]), spans(&[]));
        let stretches = spans(&[(5, 9), (0, 3), (3, 4), (6, 12)]);
        assert_eq!(joined(stretches), spans(&[(0, 4), (5, 12)]));
    }
}
