//! LU files.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::listed::{Listing, OfLexUnit};
use super::{Annotation, Exporter, FramenetLoss, Tally};
use crate::database::Result;
use crate::framenet::{LuFile, ReadSubcorpus, UNANNOTATED, WarningLog, write_lu_file};
use crate::model::{
    AnnotationSet, AnnotationSetId, CorpusId, DocumentId, ForeignFile, Frame, IdSpace, LexUnit,
    LexUnitLayout, ListedSentence, ListedSubcorpus, LuId, NumberKind, OWN_RANGE, Origin,
    Provenance, SentenceId, Title, WrittenNumbers,
};

impl Exporter<'_> {
    /// The file of an LU, when the release has one or its sets need one.
    pub(super) fn lexunit_file(
        &self,
        frame: &Frame,
        lu: &LexUnit,
        tally: &mut Tally,
    ) -> Result<()> {
        let release = self.release.id;
        let mut sets = HashMap::new();
        for set in self.store.annotation_sets_of_lexunit(release, lu.frame, lu.id)? {
            let set = set?;
            if self.stands_in_file(lu.id, &set)? {
                sets.insert(set.id, set);
            }
        }
        // An LU that people added has a file, as nearly all of a release have.
        if !lu.listing.lu_file && sets.is_empty() && lu.id.0 < OWN_RANGE {
            return Ok(());
        }
        let of = OfLexUnit { lexunit: lu, sets: &sets };
        let mut layout = match self.store.lexunit_layout(release, lu.frame, lu.id)? {
            Some(layout) => layout,
            None => {
                if lu.listing.lu_file && lu.id.0 < OWN_RANGE {
                    tally.lose(FramenetLoss::Order);
                }
                self.guessed_lexunit(&of)?
            }
        };
        let unlisted = unlisted(&layout, &sets);
        self.list_documents(&unlisted, &mut layout.corpora)?;
        layout.subcorpora.extend(unlisted);
        let mut subcorpora = Vec::new();
        let mut listing = Listing::new(std::mem::take(&mut layout.odd_labels), Some(&of));
        for subcorpus in &layout.subcorpora {
            let mut sentences = Vec::new();
            for listed in &subcorpus.sentences {
                sentences.extend(self.sentence(listed, &mut listing, tally)?);
            }
            if self.wanted.is_none() || !sentences.is_empty() {
                subcorpora.push(ReadSubcorpus { name: subcorpus.name.clone(), sentences });
            }
        }
        // Full text may evoke an LU whose file has no set for a part.
        let is_given = lu.listing.lu_file || lu.id.0 >= OWN_RANGE;
        let is_evoked = is_given && self.wants_lexunit(lu);
        if self.wanted.is_some() && subcorpora.is_empty() && !is_evoked {
            tally.leave_out("lu");
            return Ok(());
        }
        let mut lu = lu.clone();
        // The table names sets by the numbers that their file gives.
        lu.valences.rename_sets(|id| match sets.get(&id).and_then(|set| set.xml_id) {
            Some(number) if id.space() != IdSpace::Imported => {
                AnnotationSetId::new(id.space(), number)
            }
            _ => id,
        });
        self.write_lexunit(frame, &lu, layout, subcorpora, tally)
    }

    /// Whether the file of an LU has sets to write.
    pub(super) fn has_sets(&self, lu: &LexUnit) -> Result<bool> {
        for set in self.store.annotation_sets_of_lexunit(self.release.id, lu.frame, lu.id)? {
            let set = set?;
            if self.wants_set(set.id) && self.stands_in_file(lu.id, &set)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a set of an LU stands in the LU's file.
    fn stands_in_file(&self, lu: LuId, set: &AnnotationSet) -> Result<bool> {
        let origin = set.provenance.origin();
        Ok(origin != Origin::FullText
            && self.takes_origin(origin)
            && !self.stands_elsewhere(lu, set)?)
    }

    /// Whether the file of another LU lists an exemplar: it names the LU that it evokes there.
    fn stands_elsewhere(&self, lu: LuId, set: &AnnotationSet) -> Result<bool> {
        let Provenance::Exemplar { lu: of, .. } = &set.provenance else { return Ok(false) };
        if *of == lu {
            return Ok(false);
        }
        let mut listed = self.listed.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(listed) = listed.get(of) {
            return Ok(listed.contains(&set.id));
        }
        let mut sets = HashSet::new();
        for frame in self.frames_of.get(of).into_iter().flatten() {
            let layout = self.store.lexunit_layout(self.release.id, *frame, *of)?;
            let subcorpora = layout.into_iter().flat_map(|layout| layout.subcorpora);
            let sentences = subcorpora.flat_map(|subcorpus| subcorpus.sentences);
            sets.extend(sentences.flat_map(|sentence| sentence.sets));
        }
        let is_listed = sets.contains(&set.id);
        listed.insert(*of, sets);
        Ok(is_listed)
    }

    fn write_lexunit(
        &self,
        frame: &Frame,
        lu: &LexUnit,
        layout: LexUnitLayout,
        subcorpora: Vec<ReadSubcorpus>,
        tally: &mut Tally,
    ) -> Result<()> {
        let name = self.files.lexunit(lu.frame, lu.id);
        let sentences = subcorpora.iter().flat_map(|subcorpus| &subcorpus.sentences);
        let sets = sentences.flat_map(|sentence| &sentence.sets);
        let mut annotation = Annotation::default();
        for set in sets.filter(|set| set.status != UNANNOTATED) {
            annotation.any = true;
            annotation.own |= NumberKind::AnnotationSet.is_own(set.xml_id);
        }
        tally.lexunits.insert((lu.frame, lu.id), annotation);
        tally.lu_files += 1;
        let mut lexunit = lu.clone();
        lexunit.lexemes = layout.lexemes;
        if let Some(head) = layout.head {
            lexunit.name = head.name;
            lexunit.pos = head.pos;
            lexunit.status = head.status;
            lexunit.incorporated_fe = head.incorporated_fe;
            lexunit.definition = head.definition;
            lexunit.sem_types = head.sem_types;
        }
        let corpora = layout.corpora.iter().map(|(id, documents)| self.corpus(*id, documents));
        let file = LuFile {
            file: name.clone(),
            lexunit,
            frame_name: frame.name.clone(),
            corpora: corpora.collect(),
            elements: layout.elements.unwrap_or_else(|| frame.elements_by_name()),
            subcorpora,
            sem_type_names: Vec::new(),
            warnings: WarningLog::default(),
            numbers: WrittenNumbers::default(),
            foreign: self.store.foreign(self.release.id, ForeignFile::LexUnit(lu.frame, lu.id))?,
        };
        let content = write_lu_file(&file, &self.sem_types, &self.numbers);
        self.write(tally, &name, content)
    }
}

impl Exporter<'_> {
    /// Lists the documents that sentences name, as the header of an LU file does.
    fn list_documents(
        &self,
        subcorpora: &[ListedSubcorpus],
        corpora: &mut Vec<(CorpusId, Vec<DocumentId>)>,
    ) -> Result<()> {
        let listed =
            corpora.iter().flat_map(|(id, documents)| documents.iter().map(|of| (*id, *of)));
        let mut listed: HashSet<(CorpusId, DocumentId)> = listed.collect();
        for sentence in subcorpora.iter().flat_map(|subcorpus| &subcorpus.sentences) {
            let row = self.store.sentence(self.release.id, sentence.id)?;
            let place =
                row.as_ref().and_then(|row| row.occurrences.get(sentence.occurrence as usize));
            let Some(key) = place.and_then(|place| place.corpus.zip(place.document)) else {
                continue;
            };
            if !self.documents.contains_key(&key) || !listed.insert(key) {
                continue;
            }
            match corpora.iter_mut().find(|(id, _)| *id == key.0) {
                Some((_, documents)) => documents.push(key.1),
                None => corpora.push((key.0, vec![key.1])),
            }
        }
        Ok(())
    }

    /// A corpus with its documents, as the header of an LU file lists it.
    fn corpus(
        &self,
        id: CorpusId,
        documents: &[DocumentId],
    ) -> (CorpusId, Title, Vec<(DocumentId, Title)>) {
        let titles = |document: &DocumentId| {
            let row = self.documents.get(&(id, *document))?;
            Some(row.in_headers.clone().unwrap_or_else(|| row.titles()))
        };
        // FrameNet 1.5 calls corpus 164 `QA` in full text and `ANC_r` elsewhere, by document.
        let corpus = documents.first().and_then(titles).map(|titles| titles.corpus);
        let document = |document: &DocumentId| {
            (*document, titles(document).map(|titles| titles.document).unwrap_or_default())
        };
        (id, corpus.unwrap_or_default(), documents.iter().map(document).collect())
    }
}

/// Subcorpora for the sets that no subcorpus lists: FrameNet's exemplars under their own
/// subcorpus's name, others under their origin's, sentences in order of id.
fn unlisted(
    layout: &LexUnitLayout,
    sets: &HashMap<AnnotationSetId, AnnotationSet>,
) -> Vec<ListedSubcorpus> {
    let sentences = layout.subcorpora.iter().flat_map(|subcorpus| &subcorpus.sentences);
    let listed: HashSet<AnnotationSetId> =
        sentences.flat_map(|sentence| &sentence.sets).copied().collect();
    let mut rest: BTreeMap<&str, BTreeMap<SentenceId, Vec<AnnotationSetId>>> = BTreeMap::new();
    for set in sets.values().filter(|set| !listed.contains(&set.id)) {
        let name = match &set.provenance {
            Provenance::Exemplar { subcorpus, .. } => subcorpus,
            other => other.origin().as_str(),
        };
        rest.entry(name).or_default().entry(set.sentence).or_default().push(set.id);
    }
    let listed = |(id, mut sets): (SentenceId, Vec<AnnotationSetId>)| {
        sets.sort_unstable();
        ListedSentence { id, occurrence: 0, sets }
    };
    rest.into_iter()
        .map(|(name, sentences)| ListedSubcorpus {
            name: name.to_owned(),
            sentences: sentences.into_iter().map(listed).collect(),
        })
        .collect()
}
