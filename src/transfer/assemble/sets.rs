//! Annotation sets: those that evoke a frame, and those of sentence layers.

use std::collections::HashSet;

use super::{Assembler, SentenceOrigin};
use crate::database::Result;
use crate::database::entry;
use crate::framenet::{Evokes, ReadSet, UNANNOTATED, WarningCode, evokes_unsaid};
use crate::model::{
    AnnotationSet, AnnotationSetId, CARRIED, Extent, FeStatus, FrameId, GENERATED, IdSpace,
    LayerName, LexUnit, LuId, NullInstantiation, NumberKind, Origin, PREDICTED, Provenance,
    SentenceId, SentenceLayers,
};
use crate::transfer::stand_in::{fingerprint, fresh};

impl Assembler<'_> {
    /// Keeps a set; gives its id, and whether it evokes a frame.
    pub(super) fn add_set(
        &mut self,
        place: &SentenceOrigin<'_>,
        sentence: SentenceId,
        text: &str,
        set: ReadSet,
    ) -> Result<(AnnotationSetId, bool)> {
        let evokes = match place.lu {
            Some(_) => set.evokes_in_lu_file(),
            None => matches!(set.evokes, Evokes::Frame { .. }),
        };
        let id = if evokes {
            self.add_frame_set(place, sentence, text, set)?
        } else {
            self.add_sentence_layers(place, sentence, set)?
        };
        Ok((id, evokes))
    }

    fn add_frame_set(
        &mut self,
        place: &SentenceOrigin<'_>,
        sentence: SentenceId,
        text: &str,
        mut set: ReadSet,
    ) -> Result<AnnotationSetId> {
        let (frame, lu) = self.evoked(place, &mut set)?;
        self.note_own_lexunit(place, (frame, lu), &set);
        self.settle_labels(frame, &mut set);
        let id = self.id_of_frame_set(place, &set, (frame, lu, sentence))?;
        self.numbered.entry(set.xml_id).or_insert(id);
        let targets = set.targets();
        if targets.is_empty() {
            let detail = format!("set {} has no target; kept", set.xml_id);
            self.warn(WarningCode::TargetEmpty, place.file, set.line, detail)?;
        }
        self.check_elements(place, frame, &set)?;
        self.note_frame_set(place, &set, targets.len());
        let provenance = self.provenance(place);
        match provenance.origin() {
            Origin::Exemplar => self.counts.exemplar_sets += 1,
            Origin::FullText => self.counts.fulltext_sets += 1,
            Origin::Imported
            | Origin::User
            | Origin::Generated
            | Origin::Predicted
            | Origin::Carried => {}
        }
        *self.statuses.entry((provenance.origin(), set.status.clone())).or_default() += 1;
        let has_elements = set.layers.iter().any(|layer| layer.name == LayerName::Fe);
        let fe_status = match provenance {
            _ if set.status == UNANNOTATED => FeStatus::Unannotated,
            Provenance::Imported { .. } if !has_elements => FeStatus::Unknown,
            _ => FeStatus::Annotated,
        };
        let set = AnnotationSet {
            id,
            xml_id: (id.space() != IdSpace::Imported).then_some(set.xml_id),
            sentence,
            frame,
            lu,
            status: set.status,
            created: set.created,
            targets,
            fe_status,
            layers: set.layers,
            provenance,
        };
        self.index_set(text, &set)?;
        self.batch.put_annotation_set(&set)?;
        Ok(id)
    }

    /// The id of a set that evokes a frame: its number's, or a fresh one where that is another
    /// set's already, or none.
    fn id_of_frame_set(
        &mut self,
        place: &SentenceOrigin<'_>,
        set: &ReadSet,
        (frame, lu, sentence): (FrameId, LuId, SentenceId),
    ) -> Result<AnnotationSetId> {
        let mut id = AnnotationSetId::of_xml(place.space, set.xml_id);
        let exemplar = AnnotationSetId::new(IdSpace::Exemplar, id.number());
        if id.space() == IdSpace::FullText && self.sets.contains(&exemplar) {
            self.note(WarningCode::NumberShared, place.file, set.line, || {
                format!("set {} is another one under lu/", set.xml_id)
            });
        }
        let is_unnumbered = self.is_unnumbered(NumberKind::AnnotationSet, set.xml_id);
        if is_unnumbered || !self.sets.insert(id) {
            if !is_unnumbered {
                let detail =
                    format!("set {} stands elsewhere too; this one gets a fresh id", set.xml_id);
                self.warn(WarningCode::SetConflict, place.file, set.line, detail)?;
            }
            let print = fingerprint(format!("{frame} {lu} {sentence}").as_bytes());
            id = self.fresh_set(place, set.xml_id, &print);
        }
        Ok(id)
    }

    /// Says of a set in an LU's file that it names that LU, which goes without saying there.
    fn note_own_lexunit(
        &mut self,
        place: &SentenceOrigin<'_>,
        evoked: (FrameId, LuId),
        set: &ReadSet,
    ) {
        let is_own = place.lu.is_some_and(|(lu, _)| (lu.frame, lu.id) == evoked);
        let is_said = matches!(set.evokes, Evokes::Frame { .. })
            && evokes_unsaid(&set.status, set.has_target());
        if is_own && is_said {
            self.note(WarningCode::WrittenOtherwise, place.file, set.line, || {
                format!("set {} names the LU of its file, which an export leaves out", set.xml_id)
            });
        }
    }

    fn fresh_set(
        &mut self,
        place: &SentenceOrigin<'_>,
        xml_id: u64,
        print: &[u8; 8],
    ) -> AnnotationSetId {
        self.sets.give(AnnotationSetId::new(place.space, fresh(xml_id, print)))
    }

    fn provenance(&self, place: &SentenceOrigin<'_>) -> Provenance {
        match (place.lu, place.document) {
            _ if place.origin == Origin::User => Provenance::User,
            _ if place.origin == Origin::Imported => {
                Provenance::Imported { file: self.source.clone() }
            }
            (Some((lu, subcorpus)), _) => {
                Provenance::Exemplar { lu: lu.id, subcorpus: subcorpus.to_owned() }
            }
            (None, document) => {
                let (corpus, document) = document.expect("what is no LU file is a document");
                Provenance::FullText { corpus, document }
            }
        }
    }

    /// Counts what of a frame set trips readers that expect one target, one FE layer, and one label
    /// for an FE.
    fn note_frame_set(&mut self, place: &SentenceOrigin<'_>, set: &ReadSet, targets: usize) {
        let mut note = |code, what: &str| {
            self.note(code, place.file, set.line, || format!("set {}: {what}", set.xml_id));
        };
        if targets > 1 {
            note(WarningCode::TargetPieces, "discontinuous target");
        }
        if set.status == UNANNOTATED {
            note(WarningCode::SetUnannotated, "a target, and nobody annotated FEs");
        }
        if [CARRIED, GENERATED, PREDICTED].contains(&set.status.as_str()) {
            let what = format!(
                "its status {} says that a model made it; read as human annotation, as XML has no \
                 place for its origin; JSON lines keep it",
                set.status
            );
            note(WarningCode::MachineSet, &what);
        }
        for layer in &set.layers {
            if layer.name.most_ranks().is_some_and(|most| layer.rank > most) {
                let what = format!("{} layer of rank {}", layer.name, layer.rank);
                note(WarningCode::LayerRank, &what);
            }
        }
        for layer in set.layers.iter().filter(|layer| layer.name == LayerName::Fe) {
            if layer.rank > 1 {
                note(WarningCode::FeRank, "FE layer beyond the first rank");
            }
            let mut seen = HashSet::new();
            for label in &layer.labels {
                if label.extent == Extent::Null(NullInstantiation::Incorporated) {
                    note(WarningCode::NullIncorporated, "null instantiation INC");
                }
                if label.extent.span().is_some() && !seen.insert(&label.name) {
                    note(WarningCode::FeRepeated, &format!("FE `{}` on several spans", label.name));
                }
            }
        }
    }

    /// The frame and LU that a set evokes, made up from their names if no file has them.
    fn evoked(&mut self, place: &SentenceOrigin<'_>, set: &mut ReadSet) -> Result<(FrameId, LuId)> {
        if let Evokes::Frame { frame, frame_name, lu, lu_name } = &mut set.evokes {
            *frame = self.frame_called(*frame, frame_name);
            *lu = self.lexunit_called(*frame, *lu, lu_name);
        }
        let set = &*set;
        let (frame, frame_name, lu, lu_name) = match (&set.evokes, place.lu) {
            (Evokes::Frame { frame, frame_name, lu, lu_name }, _) => {
                (*frame, frame_name, *lu, lu_name)
            }
            (_, Some((lu, _))) => return Ok((lu.frame, lu.id)),
            _ => unreachable!("only sets of LU files may leave their frame unsaid"),
        };
        if !self.has_frame_file(frame) {
            let detail = format!(
                "set {} names frame `{frame_name}` ({frame}), which has no file; kept by name",
                set.xml_id
            );
            self.warn(WarningCode::FrameMissing, place.file, set.line, detail)?;
            self.add_missing_frame(frame, frame_name)?;
        }
        self.check_names(place, set, (frame, frame_name), (lu, lu_name))?;
        if self.missing_lexunits.contains(&(frame, lu)) || !self.lexunits.contains_key(&(frame, lu))
        {
            if let Some((_, lexunit)) = self.waiting.get(&(frame, lu)) {
                // Written again, and warned about, when all LU files are read.
                let lexunit = lexunit.clone();
                self.write_lexunit(&lexunit)?;
                return Ok((frame, lu));
            }
            let detail = format!(
                "set {} names LU `{lu_name}` ({lu}) of frame `{frame_name}`, which no file defines; \
                 kept by name",
                set.xml_id
            );
            self.warn(WarningCode::LuMissing, place.file, set.line, detail)?;
            if self.missing_lexunits.insert((frame, lu)) {
                self.write_lexunit(&LexUnit::named(frame, lu, lu_name))?;
            }
        }
        Ok((frame, lu))
    }

    /// Gives labels the FEs of their names, where numbers of the frame's stand for several.
    fn settle_labels(&self, frame: FrameId, set: &mut ReadSet) {
        if !self.known_frame(frame).is_some_and(|known| known.has_repeated) {
            return;
        }
        let layers = set.layers.iter_mut().filter(|layer| layer.name == LayerName::Fe);
        for label in layers.flat_map(|layer| &mut layer.labels) {
            label.fe = label.fe.map(|fe| self.element_called(frame, fe, &label.name));
        }
    }

    /// Warns when a set calls its frame or its LU otherwise than the release does.
    fn check_names(
        &mut self,
        place: &SentenceOrigin<'_>,
        set: &ReadSet,
        frame: (FrameId, &str),
        lu: (LuId, &str),
    ) -> Result<()> {
        let known_frame = self.known_frame(frame.0).map(|known| known.name.as_str());
        let waiting = || self.waiting.get(&(frame.0, lu.0)).map(|(_, lu)| &lu.name);
        let known_lu = self.lexunits.get(&(frame.0, lu.0)).or_else(waiting).map(String::as_str);
        let mut detail = None;
        for (known, name, number) in [(known_frame, frame.1, frame.0.0), (known_lu, lu.1, lu.0.0)] {
            if let Some(known) = known.filter(|known| *known != name) {
                detail = Some(format!(
                    "set {} calls `{known}` ({number}) `{name}`; the number counts",
                    set.xml_id
                ));
            }
        }
        match detail {
            Some(detail) => self.warn(WarningCode::NameMismatch, place.file, set.line, detail),
            None => Ok(()),
        }
    }

    fn check_elements(
        &mut self,
        place: &SentenceOrigin<'_>,
        frame: FrameId,
        set: &ReadSet,
    ) -> Result<()> {
        let Some(known) = self.known_frame(frame) else { return Ok(()) };
        let labels = set.layers.iter().filter(|layer| layer.name == LayerName::Fe);
        let unknown = labels
            .flat_map(|layer| &layer.labels)
            .find(|label| label.fe.is_none_or(|fe| !known.elements.contains(&fe)));
        match unknown {
            Some(label) => {
                let detail = format!(
                    "set {} labels FE `{}`, which frame {frame} does not have; kept",
                    set.xml_id, label.name
                );
                self.warn(WarningCode::FeUnknown, place.file, set.line, detail)
            }
            None => Ok(()),
        }
    }

    fn index_set(&mut self, text: &str, set: &AnnotationSet) -> Result<()> {
        let trigger = set.trigger(text);
        let sentence = self.sentences.get(&set.sentence);
        let occurrences = sentence.map_or(&[][..], |sentence| &sentence.occurrences);
        Ok(self.index.add(&entry(self.release, set, text, &trigger, occurrences))?)
    }

    fn add_sentence_layers(
        &mut self,
        place: &SentenceOrigin<'_>,
        sentence: SentenceId,
        set: ReadSet,
    ) -> Result<AnnotationSetId> {
        let id = AnnotationSetId::new(place.space, set.xml_id);
        let construction = match set.evokes {
            Evokes::Construction { id, name } => Some((id, name)),
            Evokes::Frame { .. } | Evokes::Unsaid => None,
        };
        match construction {
            Some(_) => self.counts.construction_sets += 1,
            None => self.counts.sentence_layer_occurrences += 1,
        }
        let listed_under: Vec<LuId> = place.lu.iter().map(|(lu, _)| lu.id).collect();
        let mut row = SentenceLayers {
            id,
            xml_id: set.xml_id,
            sentence,
            construction,
            status: set.status,
            created: set.created,
            listed_under,
            layers: set.layers,
        };
        if self.is_unnumbered(NumberKind::AnnotationSet, row.xml_id) {
            let print = fingerprint(format!("{sentence} {:?}", row.layers).as_bytes());
            row.id = AnnotationSetId::new(place.space, fresh(row.xml_id, &print));
        }
        let id = row.id;
        if !self.sets.insert(id) {
            if let Some(earlier) = self.earlier_layers(&row)? {
                for lu in row.listed_under {
                    if !earlier.listed_under.contains(&lu) {
                        earlier.listed_under.push(lu);
                    }
                }
                return Ok(id);
            }
            let detail =
                format!("set {} stands elsewhere too; this one gets a fresh id", set.xml_id);
            self.warn(WarningCode::SetConflict, place.file, set.line, detail)?;
            let print = fingerprint(format!("{sentence} {:?}", row.layers).as_bytes());
            row.id = self.fresh_set(place, set.xml_id, &print);
        }
        if row.construction.is_none() {
            self.counts.sentence_layer_sets += 1;
        }
        let id = row.id;
        self.layers.insert(id, row);
        Ok(id)
    }

    /// The same set listed before, if it is the same in all but where it is listed.
    fn earlier_layers(&mut self, row: &SentenceLayers) -> Result<Option<&mut SentenceLayers>> {
        if !self.layers.contains_key(&row.id) {
            let stored = self.store.sentence_layers_set(self.release, row.sentence, row.id)?;
            match stored {
                Some(stored) => self.layers.insert(row.id, stored),
                None => return Ok(None),
            };
        }
        let earlier = self.layers.get_mut(&row.id);
        Ok(earlier.filter(|earlier| {
            earlier.sentence == row.sentence
                && earlier.layers == row.layers
                && earlier.construction == row.construction
                && earlier.status == row.status
                && earlier.created == row.created
        }))
    }
}
