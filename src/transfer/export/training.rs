//! Export for training: a record for each sentence, with what nobody annotated of it.

use std::collections::BTreeMap;
use std::io::Write;

use super::lossy::{LossyExport, Names};
use crate::database::{Database, Result};
use crate::exchange::{
    LossLog, TokenFormat, TokenWriter, Tokens, TrainingSentence, write_training,
};
use crate::model::{
    AnnotationSet, AnnotationSetId, Provenance, ReleaseId, SentenceId, Span, Split,
};
use crate::query::{Expression, Selection};

/// The sets to write of each sentence, and the part of the data that they belong to.
type Wanted = BTreeMap<(ReleaseId, SentenceId), (Vec<AnnotationSetId>, Vec<Option<Split>>)>;

impl Database {
    /// Writes each sentence that has a set for which an expression holds as a line of JSON, in
    /// order of sentence. Holds the ids of the sets in memory.
    ///
    /// # Errors
    /// When the expression names what there is not, the output or the store fails; so for every
    /// export here.
    pub fn export_training(
        &self,
        expression: &Expression,
        out: &mut dyn Write,
    ) -> Result<LossyExport> {
        self.training_sentences(expression, |sentence| Ok(write_training(out, sentence)?))
    }

    /// Writes the sentences of [`export_training`](Self::export_training) as blocks of tokens.
    pub fn export_training_tokens(
        &self,
        expression: &Expression,
        format: TokenFormat,
        out: &mut dyn Write,
    ) -> Result<LossyExport> {
        let mut writer = TokenWriter::new(out, format);
        let mut losses = LossLog::default();
        let mut report = self.training_sentences(expression, |of| {
            for annotated in &of.sets {
                self.count_judgements(of.release, annotated.set.id, &mut losses)?;
            }
            let layers = self.store().sentence_layers(of.release, of.sentence.id)?;
            let layers = layers.collect::<std::result::Result<Vec<_>, _>>()?;
            let text = of.sentence.text.as_str();
            let tokens = Tokens::new(text, &layers);
            Ok(writer.training(text, &tokens, &of.sets, &of.unannotated)?)
        })?;
        losses.merge(&writer.finish()?);
        report.losses = losses;
        Ok(report)
    }

    fn training_sentences(
        &self,
        expression: &Expression,
        mut take: impl FnMut(&TrainingSentence) -> Result<()>,
    ) -> Result<LossyExport> {
        let mut wanted = Wanted::new();
        for found in self.matches(expression, &Selection::default())? {
            let found = found?;
            let key = (found.release(), found.set().sentence);
            let (sets, splits) = wanted.entry(key).or_default();
            sets.push(found.set().id);
            splits.push(found.split()?);
        }
        let store = self.store();
        let mut names = Names::new(self)?;
        let releases = self.releases()?;
        let mut report = LossyExport::default();
        for ((release, id), (ids, splits)) in wanted {
            let Some(sentence) = store.sentence(release, id)? else { continue };
            let mut all = Vec::new();
            for set in store.sets_of_sentence(release, id)? {
                all.extend(store.annotation_set(release, set?)?);
            }
            let unannotated = unannotated(&sentence.text, &all, &ids);
            let mut sets = Vec::with_capacity(ids.len());
            for set in all.into_iter().filter(|set| ids.contains(&set.id)) {
                sets.push(names.annotated(release, set)?);
            }
            sets.sort_by_key(|of| (of.set.targets.first().copied(), of.set.id));
            report.sentences += 1;
            report.sets += sets.len() as u64;
            let listed = releases.iter().find(|of| of.id == release);
            let release_name = listed.map_or_else(String::new, |of| of.name.clone());
            let split = splits[0].filter(|split| splits.iter().all(|of| *of == Some(*split)));
            take(&TrainingSentence { release, release_name, sentence, split, sets, unannotated })?;
        }
        Ok(report)
    }
}

/// The stretches of a sentence in which nobody looked for frames, or whose sets are not written.
///
/// Full texts and span-labelled data are annotated throughout: there only the targets of sets that
/// are left out are unknown. Of any other sentence only the targets of the written sets are known.
fn unannotated(text: &str, all: &[AnnotationSet], written: &[AnnotationSetId]) -> Vec<Span> {
    let is_throughout = |set: &AnnotationSet| {
        matches!(set.provenance, Provenance::FullText { .. } | Provenance::Imported { .. })
    };
    let targets = |is_written: bool| {
        let sets = all.iter().filter(move |set| written.contains(&set.id) == is_written);
        let mut targets: Vec<Span> = sets.flat_map(|set| set.targets.iter().copied()).collect();
        targets.sort_unstable();
        targets
    };
    let known = targets(true);
    if all.iter().any(is_throughout) {
        return without(targets(false), &known);
    }
    without(vec![Span::new(0, text.len() as u32)], &known)
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
    }
}
