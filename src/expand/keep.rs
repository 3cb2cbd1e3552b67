//! What a run writes: annotation sets with their LUs, and journals of how far each seed is.

use std::time::Instant;

use super::chain::{Chain, TARGET};
use super::elements::Carried;
use super::ranking::Pair;
use super::run::{Keep, Run};
use super::{EndReason, ExpandError, Result};
use crate::database::JournalWrite;
use crate::filter::{Evidence, Filter};
use crate::model::{
    AnnotationSet, AnnotationSetId, Extent, FeStatus, FrameFit, FrameId, GENERATED, Generation,
    IdSpace, Label, Layer, LayerName, LuId, Method, Provenance, ReleaseId, Sentence, SentenceId,
    Span,
};

impl Run<'_> {
    /// Makes an annotation set of an output, with its LU and its place in the chain. Says how
    /// likely its frame is, where the recipe asks.
    pub(super) fn keep(&mut self, chain: &mut Chain, best: Pair) -> Result<Option<FrameFit>> {
        let carried = self.carry(chain, &best)?;
        let Pair { output, alignment, targets, trigger, mut flags, .. } = best;
        flags.lost_element = carried.as_ref().is_some_and(Carried::has_lost);
        let (release, frame) = (chain.seed.release, chain.seed.frame);
        let pos = chain.seed.pos;
        let lexicon = self.lexicon(release)?;
        let unit = lexicon.unit_of(frame, &trigger, pos)?;
        let (new_trigger, new_pair) =
            (lexicon.is_new_trigger(&trigger)?, lexicon.is_new_pair(frame, &trigger)?);
        let frames = lexicon.frames_with(&(unit.lemma.clone(), unit.pos));
        let of_frame = (release, frame);
        let fit = match &mut self.judge {
            Some(judge) => {
                judge.fits_of(of_frame, &[(output.text.as_str(), &targets[..])])?.pop().flatten()
            }
            None => None,
        };
        let evidence = Evidence {
            round: chain.round,
            paraphrase: output.score,
            aligner: alignment.score,
            proposed: unit.is_proposed,
            frames,
            frame_fit: fit.map(|fit| fit.probability),
        };
        let is_scored = output.score.is_finite();
        let scores = |filter: &Filter| filter.scores(&evidence);
        let generation = Generation {
            seed: chain.seed.set,
            source: chain.seed.set,
            target_ordinal: TARGET,
            round: chain.round,
            rank: 0,
            chain: chain.sets.clone(),
            method: Method::Paraphrase,
            recipe: self.id,
            flags,
            paraphrase: output.score,
            aligner: alignment.score,
            // A filter wants to know how likely an output is, which a server does not say.
            filter: is_scored.then_some(self.filter.as_ref()).flatten().map(scores),
            elements: carried.as_ref().map(|carried| carried.elements.clone()).unwrap_or_default(),
            fit,
        };
        if let Some(kept) = &mut self.report.kept {
            kept.count(&generation);
        }
        let id = self.free_id(release, frame, &generation)?;
        let set = generated_set(id, chain, unit.lu, &targets, carried, generation);
        let sentence = Sentence {
            id: set.sentence,
            xml_id: None,
            text: output.text.clone(),
            occurrences: Vec::new(),
        };
        chain.push(id, &output.text, &targets, &unit.lemma, unit.pos);

        self.report.sentences += 1;
        self.report.new_triggers += u64::from(new_trigger);
        self.report.new_pairs += u64::from(new_pair);
        self.report.proposed_lexunits += u64::from(unit.proposed.is_some());
        for flag in flags.names() {
            *self.report.flags.entry(flag).or_default() += 1;
        }
        let write = self.writes.entry(release).or_default();
        write.lexunits.extend(unit.proposed);
        write.sentences.push(sentence);
        write.sets.push(set);
        self.write_journal(chain, None);
        Ok(fit)
    }

    /// The id of a generated set: its natural one, or the next number that no other set has.
    fn free_id(
        &self,
        release: ReleaseId,
        frame: FrameId,
        generation: &Generation,
    ) -> Result<AnnotationSetId> {
        let mut id = generation.natural_id(frame, &self.print);
        loop {
            let pending = self
                .writes
                .get(&release)
                .is_some_and(|write| write.sets.iter().any(|set| set.id == id));
            let stored = self.database.store().annotation_set(release, id)?;
            let same = stored.as_ref().is_some_and(|set| match &set.provenance {
                Provenance::Generated(there) => there.is_same_output(generation),
                _ => false,
            });
            if !pending && (stored.is_none() || same) {
                return Ok(id);
            }
            id = id.next();
        }
    }

    pub(super) fn end(&mut self, chain: &Chain, reason: EndReason) {
        *self.report.ended.entry(reason).or_default() += 1;
        if chain.sets.is_empty() {
            *self.report.unproductive.entry(reason).or_default() += 1;
        }
        self.write_journal(chain, Some(reason));
    }

    fn write_journal(&mut self, chain: &Chain, end: Option<EndReason>) {
        let write = self.writes.entry(chain.seed.release).or_default();
        write.journal.push(JournalWrite {
            seed: chain.seed.set,
            target: TARGET,
            recipe: self.id,
            entry: chain.journal(end),
        });
    }

    pub(super) fn commit(&mut self) -> Result<()> {
        let writes = std::mem::take(&mut self.writes);
        self.files.check()?;
        for (release, write) in writes {
            match &mut self.keeps {
                Keep::Everything(unwritten) => {
                    if let Some(description) = unwritten.take() {
                        let id = self.database.store().recipe(self.print, &description)?;
                        if id != self.id {
                            return Err(ExpandError::RecipeNumber { found: id, expected: self.id });
                        }
                    }
                    self.database.write(release, &write)?;
                    if let Some(lexicon) = self.lexicons.get_mut(&release) {
                        lexicon.forget_committed();
                    }
                }
                Keep::InShard(writer) => writer.take(self.database, release, write)?,
                Keep::Measured(_) => {}
            }
        }
        self.last_commit = Instant::now();
        Ok(())
    }
}

fn generated_set(
    id: AnnotationSetId,
    chain: &Chain,
    lu: LuId,
    targets: &[Span],
    carried: Option<Carried>,
    generation: Generation,
) -> AnnotationSet {
    let labels = targets.iter().map(|span| Label {
        name: LayerName::Target.as_str().to_owned(),
        extent: Extent::Overt(*span),
        fe: None,
        annotator: String::new(),
        colors: None,
    });
    let fe_status = if carried.is_some() { FeStatus::Carried } else { FeStatus::Unknown };
    let mut layers = vec![Layer { name: LayerName::Target, rank: 1, labels: labels.collect() }];
    layers.extend(carried.into_iter().flat_map(|carried| carried.layers));
    AnnotationSet {
        id,
        xml_id: None,
        sentence: SentenceId::new(IdSpace::Generated, id.number()),
        frame: chain.seed.frame,
        lu,
        status: GENERATED.to_owned(),
        created: String::new(),
        targets: targets.to_vec(),
        fe_status,
        layers,
        provenance: Provenance::Generated(Box::new(generation)),
    }
}
