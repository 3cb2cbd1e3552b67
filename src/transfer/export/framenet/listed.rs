//! Sentences as a file lists them, with the sets that stand there.

use std::collections::{BTreeMap, HashMap};

use super::{Exporter, Tally, loss_of};
use crate::database::Result;
use crate::framenet::{Evokes, ReadSentence, ReadSet, evokes_unsaid};
use crate::model::{
    AnnotationSet, AnnotationSetId, Document, DocumentLayout, IdSpace, Layer, LayerName, LexUnit,
    LexUnitLayout, ListedSentence, ListedSubcorpus, OddLabel, OddOffsets, Provenance, Sentence,
    SentenceId, SentenceLayers,
};

/// The LU of a file, with its sets.
pub(super) struct OfLexUnit<'a> {
    pub(super) lexunit: &'a LexUnit,
    pub(super) sets: &'a HashMap<AnnotationSetId, AnnotationSet>,
}

/// What the sentences of one file need to know.
pub(super) struct Listing<'a> {
    /// Its labels whose place is not what the file says, by set.
    odd: HashMap<AnnotationSetId, Vec<OddOffsets>>,
    /// The LU, for LU files.
    of: Option<&'a OfLexUnit<'a>>,
    /// The sentence that was listed last: some are listed again and again.
    last: Option<Sentence>,
}

impl<'a> Listing<'a> {
    pub(super) fn new(labels: Vec<OddLabel>, of: Option<&'a OfLexUnit<'a>>) -> Self {
        let mut odd: HashMap<AnnotationSetId, Vec<OddOffsets>> = HashMap::new();
        for OddLabel { set, label } in labels {
            odd.entry(set).or_default().push(label);
        }
        Self { odd, of, last: None }
    }

    fn odd_of(&self, set: AnnotationSetId) -> Vec<OddOffsets> {
        self.odd.get(&set).cloned().unwrap_or_default()
    }
}

impl Exporter<'_> {
    /// A sentence with the sets that its listing names, `None` when nothing of it is wanted or it
    /// is gone.
    pub(super) fn sentence(
        &self,
        listed: &ListedSentence,
        listing: &mut Listing<'_>,
        tally: &mut Tally,
    ) -> Result<Option<ReadSentence>> {
        if listing.last.as_ref().is_none_or(|last| last.id != listed.id) {
            listing.last = self.store.sentence(self.release.id, listed.id)?;
        }
        let Some(sentence) = &listing.last else { return Ok(None) };
        let of = listing.of;
        let mut sets = Vec::with_capacity(listed.sets.len());
        let (mut evoking, mut layers) = (0, 0);
        for id in &listed.sets {
            if let Some(set) = self.frame_set(*id, of)? {
                if self.wants_set(set.id) {
                    evoking += 1;
                    tally.lost_with(&set);
                    sets.extend(filler_before(&sets, is_given(&set)));
                    sets.push(self.read_frame_set(set, of, listing.odd_of(*id)));
                }
            } else if let Some(set) =
                self.store.sentence_layers_set(self.release.id, sentence.id, *id)?
            {
                layers += 1;
                sets.push(read_sentence_layers(set, listing.odd_of(*id)));
            }
        }
        if self.wanted.is_some() && evoking == 0 {
            return Ok(None);
        }
        let is_own = matches!(sentence.id.space(), IdSpace::Imported | IdSpace::Generated);
        sets.extend(filler_before(&sets, of.is_some() || !is_own));
        tally.sets += evoking;
        tally.sentence_layer_sets += layers;
        Ok(Some(read_sentence(sentence, listed.occurrence, sets, of.is_some())))
    }

    /// The set of that id, when it evokes a frame and stands where it is listed.
    fn frame_set(
        &self,
        id: AnnotationSetId,
        of: Option<&OfLexUnit<'_>>,
    ) -> Result<Option<AnnotationSet>> {
        if let Some(set) = of.and_then(|of| of.sets.get(&id)) {
            return Ok(Some(set.clone()));
        }
        let set = self.store.annotation_set(self.release.id, id)?;
        Ok(set.filter(|set| match (&set.provenance, of) {
            (Provenance::Exemplar { lu, .. }, Some(of)) => *lu == of.lexunit.id,
            (Provenance::FullText { .. }, None) => true,
            _ => false,
        }))
    }

    fn read_frame_set(
        &self,
        set: AnnotationSet,
        of: Option<&OfLexUnit<'_>>,
        odd: Vec<OddOffsets>,
    ) -> ReadSet {
        // In an LU file a set evokes the LU's frame unless it says otherwise, or nobody annotated
        // it.
        let unsaid = of.is_some_and(|of| {
            (of.lexunit.frame, of.lexunit.id) == (set.frame, set.lu)
                && evokes_unsaid(&set.status, !set.targets.is_empty())
        });
        let evokes = if unsaid {
            Evokes::Unsaid
        } else {
            Evokes::Frame {
                frame: set.frame,
                frame_name: self.frames.get(&set.frame).cloned().unwrap_or_default(),
                lu: set.lu,
                lu_name: self.lexunits.get(&(set.frame, set.lu)).cloned().unwrap_or_default(),
            }
        };
        let (targets, is_given) = (missing_target_layer(&set), is_given(&set));
        let mut read = ReadSet {
            xml_id: set.id.in_xml(set.xml_id),
            line: 0,
            status: set.status,
            created: set.created,
            evokes,
            layers: targets.into_iter().chain(set.layers).collect(),
            odd,
        };
        if !is_given {
            read.fill_layers();
        }
        read
    }

    /// How a full-text file may have listed its sentences, for a release without layouts.
    pub(super) fn guessed_document(&self, document: &Document) -> Result<DocumentLayout> {
        let release = self.release.id;
        let mut layout = DocumentLayout::default();
        for id in &document.sentences {
            let mut sets = Vec::new();
            for layers in self.store.sentence_layers(release, *id)? {
                sets.push(layers?.id);
            }
            for set in self.store.sets_of_sentence(release, *id)? {
                sets.push(set?);
            }
            layout.sentences.push(ListedSentence { id: *id, occurrence: 0, sets });
        }
        Ok(layout)
    }

    /// How an LU file may have listed its exemplars, for a release without layouts.
    pub(super) fn guessed_lexunit(&self, of: &OfLexUnit<'_>) -> Result<LexUnitLayout> {
        let lexunit = of.lexunit;
        let mut by_subcorpus: BTreeMap<&str, BTreeMap<SentenceId, Vec<AnnotationSetId>>> =
            BTreeMap::new();
        for set in of.sets.values() {
            if let Provenance::Exemplar { subcorpus, .. } = &set.provenance {
                let sentences = by_subcorpus.entry(subcorpus).or_default();
                sentences.entry(set.sentence).or_default().push(set.id);
            }
        }
        let mut names: Vec<&str> = lexunit.subcorpora.iter().map(String::as_str).collect();
        names.extend(
            by_subcorpus
                .keys()
                .filter(|name| !lexunit.subcorpora.iter().any(|known| known == *name)),
        );
        let mut subcorpora = Vec::new();
        for name in names {
            let mut sentences = Vec::new();
            // A name that stands twice is filled the first time.
            for (id, mut own) in by_subcorpus.remove(name).unwrap_or_default() {
                own.sort_unstable();
                let mut sets = Vec::new();
                for layers in self.store.sentence_layers(self.release.id, id)? {
                    let layers = layers?;
                    if layers.listed_under.contains(&lexunit.id) {
                        sets.push(layers.id);
                    }
                }
                sets.append(&mut own);
                let occurrence = self.occurrence_in(id, lexunit, name)?;
                sentences.push(ListedSentence { id, occurrence, sets });
            }
            subcorpora.push(ListedSubcorpus { name: name.to_owned(), sentences });
        }
        Ok(LexUnitLayout { lexemes: lexunit.lexemes.clone(), subcorpora, ..Default::default() })
    }

    fn occurrence_in(&self, id: SentenceId, lexunit: &LexUnit, subcorpus: &str) -> Result<u32> {
        let sentence = self.store.sentence(self.release.id, id)?;
        let occurrences = sentence.map(|sentence| sentence.occurrences).unwrap_or_default();
        let here = occurrences.iter().position(|place| {
            place.lu == Some(lexunit.id) && place.subcorpus.as_deref() == Some(subcorpus)
        });
        Ok(here.and_then(|index| u32::try_from(index).ok()).unwrap_or(0))
    }
}

impl Tally {
    fn lost_with(&mut self, set: &AnnotationSet) {
        if let Some(loss) = loss_of(set.provenance.origin()) {
            self.lose(loss);
        }
    }
}

/// Whether a set is the release's own: written as its files had it.
fn is_given(set: &AnnotationSet) -> bool {
    matches!(set.provenance, Provenance::Exemplar { .. } | Provenance::FullText { .. })
}

/// What stands before a sentence's sets, which are no release's, where nothing does.
fn filler_before(sets: &[ReadSet], is_given: bool) -> Option<ReadSet> {
    (sets.is_empty() && !is_given).then(ReadSet::filler)
}

/// The Target layer of a set that has targets and no layer for them, as generated ones may.
fn missing_target_layer(set: &AnnotationSet) -> Option<Layer> {
    let has_layer = set.layers.iter().any(|layer| layer.name == LayerName::Target);
    (!has_layer && !set.targets.is_empty()).then(|| Layer::of_targets(&set.targets))
}

/// A sentence in a file, as a rule of its own folder.
fn read_sentence(
    sentence: &Sentence,
    occurrence: u32,
    sets: Vec<ReadSet>,
    is_in_lu_file: bool,
) -> ReadSentence {
    let Sentence { id, xml_id, text, occurrences } = sentence;
    let occurrence = occurrences.get(occurrence as usize).cloned().unwrap_or_default();
    let is_elsewhere = is_in_lu_file && id.space() == IdSpace::FullText;
    let xml_id = if is_elsewhere { id.bits() } else { id.in_xml(*xml_id) };
    ReadSentence { xml_id, line: 0, text: text.clone(), occurrence, sets }
}

fn read_sentence_layers(set: SentenceLayers, odd: Vec<OddOffsets>) -> ReadSet {
    let evokes = match set.construction {
        Some((id, name)) => Evokes::Construction { id, name },
        None => Evokes::Unsaid,
    };
    ReadSet {
        xml_id: set.xml_id,
        line: 0,
        status: set.status,
        created: set.created,
        evokes,
        layers: set.layers,
        odd,
    }
}
