//! Sentences: one record for each text, however many files list it.

use super::{Assembler, SentenceOrigin};
use crate::database::Result;
use crate::framenet::{ReadSentence, WarningCode};
use crate::model::{
    Document, HeaderTitles, IdSpace, ListedSentence, NumberKind, Occurrence, OddLabel, Sentence,
    SentenceId,
};
use crate::text::shortened;
use crate::transfer::stand_in::{fingerprint, fresh};

impl Assembler<'_> {
    /// Keeps a sentence with its sets; what its labels cannot hold goes to `odd`.
    pub(super) fn add_sentence(
        &mut self,
        place: &SentenceOrigin<'_>,
        read: ReadSentence,
        odd: &mut Vec<OddLabel>,
    ) -> Result<ListedSentence> {
        let ReadSentence { xml_id, line, text, occurrence, sets } = read;
        self.has_document(place, line, &occurrence)?;
        let print = fingerprint(text.as_bytes());
        let id = self.sentence_id(place, xml_id, line, &print)?;
        // The number of a sentence of another folder is what its own file gives.
        let given = (id.space() == place.space).then_some(xml_id);
        if self.texts.insert(id, print).is_none() {
            self.counts.sentences += 1;
            self.note_text(place, line, &text);
            let xml_id = (id.space() != IdSpace::Imported).then_some(given.unwrap_or(id.number()));
            let occurrences = Vec::new();
            self.sentences.insert(id, Sentence { id, xml_id, text: text.clone(), occurrences });
        } else {
            self.note(WarningCode::SentenceRepeated, place.file, line, || {
                format!("sentence {xml_id} stands elsewhere with the same text")
            });
            let sentence = self.pending_sentence(id)?;
            sentence.xml_id = sentence.xml_id.map(|known| given.unwrap_or(known));
        }
        let occurrence = self.occur(place, id, occurrence)?;
        let mut listed = ListedSentence { id, occurrence, sets: Vec::with_capacity(sets.len()) };
        let mut frame_sets = 0;
        let is_own = place.is_own() || NumberKind::Sentence.is_own(xml_id);
        for mut set in sets {
            if is_own && set.is_filler() {
                continue;
            }
            if place.is_own() {
                set.drop_filled_layers();
            }
            let labels = set.odd.clone();
            let (set, evokes) = self.add_set(place, id, &text, set)?;
            frame_sets += usize::from(evokes);
            odd.extend(labels.into_iter().map(|label| OddLabel { set, label }));
            listed.sets.push(set);
        }
        if place.lu.is_some() && frame_sets > 1 {
            self.note(WarningCode::SetsSeveral, place.file, line, || {
                format!("sentence {xml_id} has {frame_sets} frame sets")
            });
        }
        Ok(listed)
    }

    /// Takes down that a sentence stands at a place; gives which of its occurrences that is.
    ///
    /// A set of a person's stands in the file of its LU, wherever its sentence does: of that only
    /// corpus and document are kept, unless they are known.
    fn occur(
        &mut self,
        place: &SentenceOrigin<'_>,
        id: SentenceId,
        occurrence: Occurrence,
    ) -> Result<u32> {
        let bare = Occurrence { lu: None, subcorpus: None, ..occurrence.clone() };
        let (is_own, is_placed) = (place.is_own(), self.placed.contains(&id));
        let occurrences = &mut self.pending_sentence(id)?.occurrences;
        let there = match (is_own, is_placed) {
            (true, _) => occurrences.iter().position(|known| {
                Occurrence { lu: None, subcorpus: None, ..known.clone() } == bare
            }),
            (false, true) => occurrences.iter().position(|known| *known == bare),
            (false, false) => None,
        };
        let at = there.unwrap_or(occurrences.len());
        match there {
            None if is_own && bare == Occurrence::default() => return Ok(0),
            None => occurrences.push(if is_own { bare } else { occurrence }),
            Some(_) if is_own => {}
            Some(at) => occurrences[at] = occurrence,
        }
        self.counts.sentence_occurrences += u64::from(there.is_none());
        if is_own && there.is_none() {
            self.placed.insert(id);
        }
        Ok(u32::try_from(at).unwrap_or(u32::MAX))
    }

    /// Keeps the document that a sentence names by number alone, where nothing lists it.
    fn has_document(
        &mut self,
        place: &SentenceOrigin<'_>,
        line: usize,
        occurrence: &Occurrence,
    ) -> Result<()> {
        let Some((corpus, id)) = occurrence.corpus.zip(occurrence.document) else { return Ok(()) };
        if self.corpora.contains_key(&(corpus, id)) {
            return Ok(());
        }
        let detail = format!("document {id} of corpus {corpus} is listed nowhere; kept by number");
        self.warn(WarningCode::DocumentMissing, place.file, line, detail)?;
        let row = Document::titled(corpus, id, HeaderTitles::default());
        self.corpora.insert((corpus, id), row);
        Ok(())
    }

    fn sentence_id(
        &mut self,
        place: &SentenceOrigin<'_>,
        xml_id: u64,
        line: usize,
        print: &[u8; 8],
    ) -> Result<SentenceId> {
        if self.is_unnumbered(NumberKind::Sentence, xml_id) {
            return Ok(SentenceId::new(place.space, fresh(xml_id, print)));
        }
        let id = SentenceId::of_xml(place.space, xml_id);
        let exemplar = SentenceId::new(IdSpace::Exemplar, id.number());
        if id.space() == IdSpace::FullText
            && self.texts.get(&exemplar).is_some_and(|known| known != print)
        {
            self.note(WarningCode::NumberShared, place.file, line, || {
                format!("sentence {xml_id} is another one under lu/")
            });
        }
        if self.texts.get(&id).is_none_or(|known| known == print) {
            return Ok(id);
        }
        let detail = format!("sentence {xml_id} has another text before; this one gets a fresh id");
        self.warn(WarningCode::SentenceConflict, place.file, line, detail)?;
        Ok(SentenceId::new(place.space, fresh(xml_id, print)))
    }

    /// Counts what of a text trips readers that trim, clean or count bytes.
    fn note_text(&mut self, place: &SentenceOrigin<'_>, line: usize, text: &str) {
        self.letters.count(text);
        if self.foreign.is_none() && !text.is_ascii() {
            self.foreign = Some(place.file.to_owned());
        }
        let quoted = || format!("text `{}`", shortened(text));
        if text.trim() != text {
            self.note(WarningCode::TextSpace, place.file, line, quoted);
        }
        if !text.is_ascii() {
            self.note(WarningCode::TextNonAscii, place.file, line, quoted);
        }
        if text.contains(|letter: char| letter == '<' || letter.is_control()) {
            self.note(WarningCode::TextMarkup, place.file, line, quoted);
        }
    }

    /// The sentence's row, brought back when an earlier chunk wrote it.
    fn pending_sentence(&mut self, id: SentenceId) -> Result<&mut Sentence> {
        use std::collections::btree_map::Entry as Slot;
        match self.sentences.entry(id) {
            Slot::Occupied(slot) => Ok(slot.into_mut()),
            Slot::Vacant(slot) => {
                let sentence = self.store.sentence(self.release, id)?;
                Ok(slot.insert(sentence.expect("its text was seen, so it was written")))
            }
        }
    }
}
