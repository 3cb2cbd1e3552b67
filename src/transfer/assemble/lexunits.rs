//! LU files: one LU from what its frame's file and its own say, and the exemplars.

use std::collections::{BTreeSet, HashMap};

use super::{Assembler, SentenceOrigin};
use crate::database::Result;
use crate::framenet::{Corpora, LuFile, ReadSubcorpus, WarningCode, file_stem};
use crate::model::{
    AnnotationSetId, CorpusId, Document, DocumentId, ForeignFile, FrameId, HeaderTitles, IdSpace,
    LexUnit, LexUnitHead, LexUnitLayout, ListedSubcorpus, LuId, NumberKind, OddLabel, Origin,
    Title,
};

impl Assembler<'_> {
    pub(in crate::transfer) fn add_lu_file(&mut self, file: LuFile) -> Result<()> {
        let LuFile {
            file,
            mut lexunit,
            frame_name,
            corpora,
            elements,
            subcorpora,
            sem_type_names,
            warnings,
            foreign,
            ..
        } = file;
        self.add_warnings(warnings)?;
        let (own, subcorpora): (Vec<_>, Vec<_>) =
            subcorpora.into_iter().partition(|subcorpus| own_origin(subcorpus).is_some());
        lexunit.subcorpora = subcorpora.iter().map(|subcorpus| subcorpus.name.clone()).collect();
        lexunit.frame = self.frame_called(lexunit.frame, &frame_name);
        let written = lexunit.id;
        lexunit.id = self.own_lexunit_id(&file, &lexunit)?;
        self.lu_files.insert((lexunit.frame, lexunit.id), file.clone());
        let beside = ForeignFile::LexUnit(lexunit.frame, lexunit.id);
        self.batch.put_foreign(beside, &foreign)?;
        self.check_sem_types(&file, &sem_type_names)?;
        self.counts.lu_files += 1;
        let known = self.known_frame(lexunit.frame).map(|frame| frame.name.clone());
        self.check_lu_index(&file, written, &lexunit, known.as_ref().unwrap_or(&frame_name))?;
        self.check_frame_of(&file, &lexunit, &frame_name)?;
        let lexemes = lexunit.lexemes.clone();
        let (lexunit, head) = self.merge_lexunit(&file, lexunit)?;
        let usual = self.known_frame(lexunit.frame).is_some_and(|frame| frame.listed == elements);
        let mut layout = LexUnitLayout {
            head,
            lexemes,
            elements: (!usual).then_some(elements),
            corpora: self.add_corpora(&file, corpora)?,
            subcorpora: Vec::new(),
            odd_labels: Vec::new(),
        };
        self.write_lexunit(&lexunit)?;
        if subcorpora.iter().all(|subcorpus| subcorpus.sentences.is_empty()) {
            self.note(WarningCode::LuWithoutExemplar, &file, 0, || {
                format!("LU `{}` has no exemplar", lexunit.name)
            });
        }
        self.numbered.clear();
        for subcorpus in subcorpora {
            let listed =
                self.add_subcorpus((&file, &lexunit), subcorpus, &mut layout.odd_labels)?;
            layout.subcorpora.push(listed);
        }
        for subcorpus in own {
            // An export lists them again where it did: no layout has them.
            self.add_subcorpus((&file, &lexunit), subcorpus, &mut layout.odd_labels)?;
        }
        self.settle_valences(&lexunit)?;
        Ok(self.batch.put_lexunit_layout(lexunit.frame, lexunit.id, &layout)?)
    }

    /// Has the valence table name the sets of the file by the ids that these got, where they are
    /// not their numbers.
    fn settle_valences(&mut self, lexunit: &LexUnit) -> Result<()> {
        let moved = |id: &AnnotationSetId| {
            let own = self.numbered.get(&id.number()).filter(|_| id.space() == IdSpace::Exemplar);
            own.copied().filter(|own| own != id)
        };
        if !lexunit.valences.sets().iter().any(|set| moved(set).is_some()) {
            return Ok(());
        }
        let mut lexunit = lexunit.clone();
        lexunit.valences.rename_sets(|set| moved(&set).unwrap_or(set));
        self.write_lexunit(&lexunit)
    }

    fn add_subcorpus(
        &mut self,
        (file, lexunit): (&str, &LexUnit),
        subcorpus: ReadSubcorpus,
        odd: &mut Vec<OddLabel>,
    ) -> Result<ListedSubcorpus> {
        let origin = own_origin(&subcorpus).unwrap_or(Origin::Exemplar);
        let ReadSubcorpus { name, sentences } = subcorpus;
        let (space, lu) = (IdSpace::Exemplar, Some((lexunit, name.as_str())));
        let place = SentenceOrigin { file, space, lu, document: None, origin };
        let mut listed = Vec::with_capacity(sentences.len());
        for mut sentence in sentences {
            sentence.occurrence.lu = Some(lexunit.id);
            listed.push(self.add_sentence(&place, sentence, odd)?);
        }
        Ok(ListedSubcorpus { name, sentences: listed })
    }

    /// Warns when the LU's frame has no file, or another name.
    fn check_frame_of(&mut self, file: &str, lexunit: &LexUnit, frame_name: &str) -> Result<()> {
        let LexUnit { name, frame, .. } = lexunit;
        match self.known_frame(*frame) {
            Some(known) if known.name == frame_name => Ok(()),
            Some(known) => {
                let detail = format!(
                    "LU `{name}` calls frame `{}` ({frame}) `{frame_name}`; the number counts",
                    known.name
                );
                self.warn(WarningCode::NameMismatch, file, 0, detail)
            }
            None => {
                let detail = format!(
                    "LU `{name}` names frame `{frame_name}` ({frame}), which has no file; kept by \
                     name"
                );
                self.warn(WarningCode::FrameMissing, file, 0, detail)?;
                self.add_missing_frame(*frame, frame_name)
            }
        }
    }

    /// What frame file and LU file say of an LU as one record, and what the LU file says otherwise.
    fn merge_lexunit(
        &mut self,
        file: &str,
        from_file: LexUnit,
    ) -> Result<(LexUnit, Option<LexUnitHead>)> {
        let Some((_, mut lu)) = self.waiting.remove(&(from_file.frame, from_file.id)) else {
            let detail = format!("LU `{}` stands in no frame file; kept", from_file.name);
            self.warn(WarningCode::LuNotInFrame, file, 0, detail)?;
            return Ok((from_file, None));
        };
        let own = LexUnitHead::of(&from_file);
        let head = (own != LexUnitHead::of(&lu)).then_some(own);
        if head.is_some() {
            let detail = format!("LU `{}` is not as its frame's file has it; both kept", lu.name);
            self.warn(WarningCode::LuDiffers, file, 0, detail)?;
        }
        lu.total_annotated = from_file.total_annotated;
        lu.subcorpora = from_file.subcorpora;
        lu.valences = from_file.valences;
        lu.listing.lu_file = true;
        Ok((lu, head))
    }

    /// Says what an export calls files of LUs that share a number with one of another frame.
    pub(super) fn note_shared_numbers(&mut self) {
        let id_of = |lu: LuId| {
            let written = self.written(NumberKind::LexUnit, lu.0);
            if written.is_empty() { lu.to_string() } else { written }
        };
        let mut frames: HashMap<String, BTreeSet<FrameId>> = HashMap::new();
        for (frame, lu) in self.lexunits.keys() {
            frames.entry(id_of(*lu)).or_default().insert(*frame);
        }
        let mut called: Vec<(String, String)> = Vec::new();
        for ((frame, lu), file) in &self.lu_files {
            let id = id_of(*lu);
            if frames.get(&id).is_some_and(|frames| frames.len() > 1) {
                called
                    .push((file.clone(), format!("{}.xml", file_stem(&format!("lu{id}_{frame}")))));
            }
        }
        called.sort();
        for (file, name) in called.into_iter().filter(|(file, name)| *file != format!("lu/{name}"))
        {
            self.note(WarningCode::WrittenOtherwise, &file, 0, || {
                format!("an export calls the file `{name}`")
            });
        }
    }

    pub(super) fn write_lexunit(&mut self, lu: &LexUnit) -> Result<()> {
        self.lexunits.insert((lu.frame, lu.id), lu.name.clone());
        Ok(self.batch.put_lexunit(lu)?)
    }

    /// Keeps the documents that the header of an LU file lists.
    fn add_corpora(
        &mut self,
        file: &str,
        corpora: Corpora,
    ) -> Result<Vec<(CorpusId, Vec<DocumentId>)>> {
        let mut listed = Vec::with_capacity(corpora.len());
        for (corpus, corpus_title, documents) in corpora {
            let mut ids = Vec::with_capacity(documents.len());
            for (id, title) in documents {
                self.add_header(file, (corpus, id), &corpus_title, title)?;
                ids.push(id);
            }
            listed.push((corpus, ids));
        }
        Ok(listed)
    }

    /// Keeps a document that no earlier LU file lists; warns when one calls it or its corpus
    /// otherwise.
    fn add_header(
        &mut self,
        file: &str,
        key: (CorpusId, DocumentId),
        corpus: &Title,
        document: Title,
    ) -> Result<()> {
        let titles = |document| HeaderTitles { corpus: corpus.clone(), document };
        let Some(known) = self.corpora.get(&key) else {
            self.corpora.insert(key, Document::titled(key.0, key.1, titles(document)));
            return Ok(());
        };
        if known.is_titled(corpus, &document) {
            return Ok(());
        }
        let known = known.titles();
        self.warn_titles(file, key, &titles(document), &known)
    }
}

/// Where the sets of a subcorpus come from that an export has made for those of people or of
/// imports. It is named after them, and all have ids that no release gives.
fn own_origin(subcorpus: &ReadSubcorpus) -> Option<Origin> {
    let origins = [Origin::User, Origin::Imported];
    let origin = origins.into_iter().find(|origin| origin.as_str() == subcorpus.name)?;
    let sets = subcorpus.sentences.iter().flat_map(|sentence| &sentence.sets);
    let mut sets = sets.filter(|set| !set.is_filler()).peekable();
    let is_own =
        |number| AnnotationSetId::of_xml(IdSpace::Exemplar, number).space() == IdSpace::Imported;
    (sets.peek().is_some() && sets.all(|set| is_own(set.xml_id))).then_some(origin)
}
