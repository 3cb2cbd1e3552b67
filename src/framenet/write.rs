//! Writes the files of a release: one function for each that reads one.
//!
//! Order of attributes and white space are FrameNet's own, so a file that was read comes out as it
//! was.
//!
//! Law: reading what was written gives the same file again.

use std::collections::HashMap;

use super::fresh_numbers::Numbers;
use super::sentences::{Evokes, ReadSentence, ReadSet};
use super::xml_writer::XmlWriter;
use super::{FrameFile, FullTextFile, LuFile};
use crate::model::{
    CorpusId, DocumentId, Extent, FeId, FeRealization, Foreign, FrameElement, FrameIndexEntry,
    FrameRelation, IndexCorpus, Label, LexUnit, Lexeme, LuIndex, NumberKind, OWN_RANGE, OddOffsets,
    RelationId, RelationList, SemType, SemTypeId, SemTypeList, Title, Valences,
};
use crate::text::CharIndex;

/// Names of the semantic types, which stand beside their numbers wherever these are used.
pub type SemTypeNames = HashMap<SemTypeId, String>;

/// A frame file; its `numbers` say what the release's fresh numbers are written as.
#[must_use]
pub fn write_frame_file<'a>(
    file: &'a FrameFile,
    sem_types: &SemTypeNames,
    numbers: impl Into<Numbers<'a>>,
) -> String {
    let FrameFile { frame, lexunits, layout, foreign, .. } = file;
    let mut xml = XmlWriter::new(Some("frame.xsl"), numbers.into(), foreign);
    xml.start("frame")
        .attribute_if_any("cBy", &frame.created.by)
        .attribute_if_any("cDate", &frame.created.date);
    xml.attribute("name", &frame.name).id("ID", NumberKind::Frame, frame.id.0);
    xml.schema("../schema/frame.xsd");
    write_definition(&mut xml, &frame.definition, frame.has_file && frame.id.0 < OWN_RANGE);
    write_sem_type_refs(&mut xml, &frame.sem_types, sem_types);
    let names: FeNames<'_> = frame.elements.iter().map(|fe| (fe.id, fe.name.as_str())).collect();
    for fe in &frame.elements {
        write_element(&mut xml, &names, fe, sem_types);
    }
    for members in &frame.core_sets {
        xml.start("FEcoreSet");
        write_fe_refs(&mut xml, "memberFE", &names, members);
        xml.end();
    }
    for listed in &layout.relations {
        xml.start("frameRelation").optional_id("ID", NumberKind::Relation, listed.id);
        xml.attribute("type", &listed.kind);
        for (id, name) in &listed.frames {
            let id = id.map(|id| id.0);
            xml.start("relatedFrame").optional_id("ID", NumberKind::Frame, id).text(name).end();
        }
        xml.end();
    }
    for lexunit in lexunits {
        write_frame_lexunit(&mut xml, lexunit, sem_types);
    }
    xml.end();
    xml.finish()
}

/// A definition. An empty one is left out where no release has it: NLTK's reader prints nothing
/// with an element that is empty.
fn write_definition(xml: &mut XmlWriter<'_>, definition: &str, is_given: bool) {
    if is_given || !definition.is_empty() {
        xml.text_element("definition", definition);
    }
}

/// Names of a frame's FEs.
type FeNames<'a> = HashMap<FeId, &'a str>;

fn write_element(
    xml: &mut XmlWriter<'_>,
    elements: &FeNames<'_>,
    fe: &FrameElement,
    names: &SemTypeNames,
) {
    xml.start("FE").attribute("bgColor", &fe.colors.bg).attribute("fgColor", &fe.colors.fg);
    xml.attribute("coreType", fe.core_type.as_str());
    xml.attribute_if_any("cBy", &fe.created.by).attribute_if_any("cDate", &fe.created.date);
    xml.attribute("abbrev", &fe.abbreviation).attribute("name", &fe.name);
    xml.id("ID", NumberKind::FrameElement, fe.id.0);
    write_definition(xml, &fe.definition, fe.id.0 < OWN_RANGE);
    write_sem_type_refs(xml, &fe.sem_types, names);
    write_fe_refs(xml, "requiresFE", elements, &fe.requires);
    write_fe_refs(xml, "excludesFE", elements, &fe.excludes);
    xml.end();
}

fn write_fe_refs(
    xml: &mut XmlWriter<'_>,
    element: &'static str,
    names: &FeNames<'_>,
    ids: &[FeId],
) {
    for id in ids {
        let name = names.get(id).copied().unwrap_or_default();
        xml.start(element).attribute("name", name);
        xml.id("ID", NumberKind::FrameElement, id.0).end();
    }
}

fn write_sem_type_refs(xml: &mut XmlWriter<'_>, ids: &[SemTypeId], names: &SemTypeNames) {
    for id in ids {
        let name = names.get(id).map_or("", String::as_str);
        xml.start("semType").attribute("name", name).id("ID", NumberKind::SemType, id.0).end();
    }
}

fn write_frame_lexunit(xml: &mut XmlWriter<'_>, lu: &LexUnit, names: &SemTypeNames) {
    xml.start("lexUnit").attribute("status", &lu.status);
    if let Some(fe) = &lu.incorporated_fe {
        xml.attribute("incorporatedFE", fe);
    }
    xml.attribute("POS", lu.pos.as_str()).attribute("name", &lu.name);
    xml.id("ID", NumberKind::LexUnit, lu.id.0);
    xml.optional_id("lemmaID", NumberKind::Lemma, lu.lemma_id);
    xml.attribute_if_any("cBy", &lu.created.by).attribute_if_any("cDate", &lu.created.date);
    write_definition(xml, &lu.definition, lu.listing.frame_file && lu.id.0 < OWN_RANGE);
    let count = lu.sentence_count;
    xml.start("sentenceCount").number("annotated", count.annotated).number("total", count.total);
    xml.end();
    lu.lexemes.iter().for_each(|lexeme| write_lexeme(xml, lexeme));
    write_sem_type_refs(xml, &lu.sem_types, names);
    xml.end();
}

fn write_lexeme(xml: &mut XmlWriter<'_>, lexeme: &Lexeme) {
    xml.start("lexeme").optional("order", lexeme.order).optional("headword", lexeme.headword);
    xml.optional("breakBefore", lexeme.break_before);
    xml.attribute("POS", lexeme.pos.as_str()).attribute("name", &lexeme.name).end();
}

/// An LU file.
#[must_use]
pub fn write_lu_file<'a>(
    file: &'a LuFile,
    sem_types: &SemTypeNames,
    numbers: impl Into<Numbers<'a>>,
) -> String {
    let LuFile { lexunit, frame_name, .. } = file;
    let mut xml = XmlWriter::new(Some("lexUnit.xsl"), numbers.into(), &file.foreign);
    xml.start("lexUnit").attribute("status", &lexunit.status);
    if let Some(fe) = &lexunit.incorporated_fe {
        xml.attribute("incorporatedFE", fe);
    }
    xml.attribute("POS", lexunit.pos.as_str()).attribute("name", &lexunit.name);
    xml.id("ID", NumberKind::LexUnit, lexunit.id.0).attribute("frame", frame_name);
    xml.id("frameID", NumberKind::Frame, lexunit.frame.0);
    xml.number("totalAnnotated", lexunit.total_annotated).schema("../schema/lexUnit.xsd");
    write_header(&mut xml, file);
    let is_given = lexunit.listing.lu_file && lexunit.id.0 < OWN_RANGE;
    write_definition(&mut xml, &lexunit.definition, is_given);
    lexunit.lexemes.iter().for_each(|lexeme| write_lexeme(&mut xml, lexeme));
    write_sem_type_refs(&mut xml, &lexunit.sem_types, sem_types);
    write_valences(&mut xml, &lexunit.valences);
    for subcorpus in &file.subcorpora {
        xml.start("subCorpus").attribute_if_any("name", &subcorpus.name);
        subcorpus.sentences.iter().for_each(|sentence| write_sentence(&mut xml, sentence));
        xml.end();
    }
    xml.end();
    xml.finish()
}

fn write_header(xml: &mut XmlWriter<'_>, file: &LuFile) {
    xml.start("header");
    for (id, title, documents) in &file.corpora {
        write_corpus(xml, *id, title, documents);
    }
    xml.start("frame");
    for fe in &file.elements {
        xml.start("FE").attribute("fgColor", &fe.colors.fg).attribute("bgColor", &fe.colors.bg);
        xml.attribute("type", &fe.core_type).attribute("abbrev", &fe.abbreviation);
        xml.attribute("name", &fe.name).end();
    }
    xml.end().end();
}

/// A corpus with its documents, each called as the file that was read called it.
fn write_corpus(
    xml: &mut XmlWriter<'_>,
    id: CorpusId,
    title: &Title,
    documents: &[(DocumentId, Title)],
) {
    xml.start("corpus");
    if let Some(description) = &title.description {
        xml.attribute("description", description);
    }
    xml.attribute("name", &title.name).id("ID", NumberKind::Corpus, id.0);
    for (id, Title { name, description }) in documents {
        xml.start("document");
        match description {
            Some(description) => xml.attribute("description", description).attribute("name", name),
            None => xml.attribute("description", name),
        };
        xml.id("ID", NumberKind::Document, id.0).end();
    }
    xml.end();
}

fn write_valences(xml: &mut XmlWriter<'_>, valences: &Valences) {
    xml.start("valences");
    for governor in &valences.governors {
        xml.start("governor").attribute("type", &governor.kind);
        xml.attribute("lemma", &governor.lemma);
        for set in &governor.sets {
            xml.start("annoSet").id("ID", NumberKind::AnnotationSet, set.in_xml(None)).end();
        }
        xml.end();
    }
    for item in &valences.realizations {
        write_realization(xml, "FERealization", item);
    }
    for item in &valences.groups {
        write_realization(xml, "FEGroupRealization", item);
    }
    xml.end();
}

fn write_realization(xml: &mut XmlWriter<'_>, element: &'static str, item: &FeRealization) {
    xml.start(element).number("total", item.total);
    for name in &item.elements {
        xml.start("FE").attribute("name", name).end();
    }
    for pattern in &item.patterns {
        xml.start("pattern").number("total", pattern.total);
        for unit in &pattern.units {
            xml.start("valenceUnit").attribute("GF", &unit.gf).attribute("PT", &unit.pt);
            xml.attribute("FE", &unit.fe).end();
        }
        for set in &pattern.sets {
            xml.start("annoSet").id("ID", NumberKind::AnnotationSet, set.in_xml(None)).end();
        }
        xml.end();
    }
    xml.end();
}

/// A full-text file.
#[must_use]
pub fn write_fulltext_file<'a>(file: &'a FullTextFile, numbers: impl Into<Numbers<'a>>) -> String {
    let mut xml = XmlWriter::new(Some("fullText.xsl"), numbers.into(), &file.foreign);
    xml.start("fullTextAnnotation").schema("../schema/fullText.xsd");
    xml.start("header");
    let (corpus, title) = &file.corpus;
    write_corpus(&mut xml, *corpus, title, std::slice::from_ref(&file.document));
    xml.end();
    file.sentences.iter().for_each(|sentence| write_sentence(&mut xml, sentence));
    xml.end();
    xml.finish()
}

fn write_sentence(xml: &mut XmlWriter<'_>, sentence: &ReadSentence) {
    let place = &sentence.occurrence;
    xml.start("sentence");
    xml.optional_id("corpID", NumberKind::Corpus, place.corpus.map(|id| id.0));
    xml.optional_id("docID", NumberKind::Document, place.document.map(|id| id.0));
    xml.optional("sentNo", place.number).optional("paragNo", place.paragraph);
    xml.optional("aPos", place.position).id("ID", NumberKind::Sentence, sentence.xml_id);
    xml.sentence_element("text", &sentence.text);
    let index = CharIndex::new(&sentence.text);
    sentence.sets.iter().for_each(|set| write_set(xml, set, &index));
    xml.end();
}

fn write_set(xml: &mut XmlWriter<'_>, set: &ReadSet, index: &CharIndex) {
    xml.start("annotationSet").attribute_if_any("cDate", &set.created);
    match &set.evokes {
        Evokes::Frame { frame, frame_name, lu, lu_name } => {
            xml.id("luID", NumberKind::LexUnit, lu.0).attribute("luName", lu_name);
            xml.id("frameID", NumberKind::Frame, frame.0).attribute("frameName", frame_name);
        }
        Evokes::Construction { id, name } => {
            xml.id("cxnID", NumberKind::Construction, *id).attribute("cxnName", name);
        }
        Evokes::Unsaid => {}
    }
    xml.attribute("status", &set.status).id("ID", NumberKind::AnnotationSet, set.xml_id);
    let odd: HashMap<(u32, u32), &OddOffsets> =
        set.odd.iter().rev().map(|odd| ((odd.layer, odd.label), odd)).collect();
    for (layer_index, layer) in (0_u32..).zip(&set.layers) {
        xml.start("layer").number("rank", layer.rank).attribute("name", layer.name.as_str());
        for (label_index, label) in (0_u32..).zip(&layer.labels) {
            write_label(xml, label, odd.get(&(layer_index, label_index)).copied(), index);
        }
        xml.end();
    }
    xml.end();
}

fn write_label(
    xml: &mut XmlWriter<'_>,
    label: &Label,
    odd: Option<&OddOffsets>,
    index: &CharIndex,
) {
    let span = label.extent.span().and_then(|span| index.to_chars(span).ok());
    // FrameNet includes the end: a label of nothing ends one before its start.
    let (mut start, mut end) = (span.map(|span| span.start), None);
    if let Some(span) = span {
        end = Some(i64::from(span.end) - 1);
    }
    let mut null = match &label.extent {
        Extent::Null(null) => Some(null.as_str()),
        Extent::Overt(_) | Extent::None => None,
    };
    // A label that was edited since is written as it is.
    let still_odd = |odd: &&OddOffsets| match &label.extent {
        Extent::Overt(_) => (odd.start, odd.end.map(i64::from)) == (start, end),
        Extent::Null(null) => odd.null.as_deref() == Some(null.as_str()),
        Extent::None => true,
    };
    if let Some(odd) = odd.filter(still_odd) {
        (start, end, null) = (odd.start, odd.end.map(i64::from), odd.null.as_deref());
    }
    xml.start("label").attribute_if_any("cBy", &label.annotator);
    xml.optional_id("feID", NumberKind::FrameElement, label.fe.map(|fe| fe.0));
    if let Some(null) = null {
        xml.attribute("itype", null);
    }
    if let Some(colors) = &label.colors {
        xml.attribute_if_any("bgColor", &colors.bg).attribute_if_any("fgColor", &colors.fg);
    }
    write_offset(xml, "end", end);
    write_offset(xml, "start", start.map(i64::from));
    xml.attribute("name", &label.name).end();
}

/// An offset; that of a label of nothing at the beginning of a text ends at -1.
fn write_offset(xml: &mut XmlWriter<'_>, name: &str, offset: Option<i64>) {
    match offset.map(|offset| (offset, u64::try_from(offset))) {
        None => {}
        Some((_, Ok(offset))) => drop(xml.id(name, NumberKind::Offset, offset)),
        Some((offset, Err(_))) => drop(xml.number(name, offset)),
    }
}

/// `frameIndex.xml`.
#[must_use]
pub fn write_frame_index<'a>(
    entries: &[FrameIndexEntry],
    numbers: impl Into<Numbers<'a>>,
    foreign: &'a Foreign,
) -> String {
    let mut xml = XmlWriter::new(Some("frameIndex.xsl"), numbers.into(), foreign);
    xml.start("frameIndex").schema("schema/frameIndex.xsd");
    for entry in entries {
        xml.start("frame").attribute_if_any("mDate", &entry.modified);
        xml.id("ID", NumberKind::Frame, entry.id.0);
        xml.attribute("name", &entry.name).end();
    }
    xml.end();
    xml.finish()
}

/// `luIndex.xml`.
#[must_use]
pub fn write_lu_index<'a>(
    index: &LuIndex,
    numbers: impl Into<Numbers<'a>>,
    foreign: &'a Foreign,
) -> String {
    let mut xml = XmlWriter::new(Some("luIndex.xsl"), numbers.into(), foreign);
    xml.start("luIndex").schema("schema/luIndex.xsd");
    xml.start("legend");
    for (name, description) in &index.legend {
        xml.start("statusType").attribute("description", description).attribute("name", name);
        xml.end();
    }
    xml.end();
    for entry in &index.entries {
        xml.start("lu").optional("numAnnotInstances", entry.instances);
        xml.number("hasAnnotation", entry.annotated);
        xml.id("frameID", NumberKind::Frame, entry.frame.0);
        xml.attribute("frameName", &entry.frame_name).attribute("status", &entry.status);
        xml.attribute("name", &entry.name).id("ID", NumberKind::LexUnit, entry.id.0).end();
    }
    xml.end();
    xml.finish()
}

/// `fulltextIndex.xml`.
#[must_use]
pub fn write_fulltext_index<'a>(
    corpora: &[IndexCorpus],
    numbers: impl Into<Numbers<'a>>,
    foreign: &'a Foreign,
) -> String {
    let mut xml = XmlWriter::new(Some("fulltextIndex.xsl"), numbers.into(), foreign);
    xml.start("fulltextIndex").schema("schema/fulltextIndex.xsd");
    for corpus in corpora {
        write_corpus(&mut xml, corpus.id, &corpus.title, &corpus.documents);
    }
    xml.end();
    xml.finish()
}

/// `semTypes.xml`; `created` is when the list was made, as FrameNet writes it.
#[must_use]
pub fn write_sem_types<'a>(
    sem_types: &[SemType],
    list: &SemTypeList,
    numbers: impl Into<Numbers<'a>>,
    foreign: &'a Foreign,
) -> String {
    let by_id: HashMap<SemTypeId, &SemType> =
        sem_types.iter().map(|sem_type| (sem_type.id, sem_type)).collect();
    let mut xml = XmlWriter::new(None, numbers.into(), foreign);
    xml.start("semTypes")
        .attribute_if_any("XMLCreated", &list.created)
        .schema("schema/semTypes.xsd");
    for sem_type in list.sem_types.iter().filter_map(|id| by_id.get(id)) {
        xml.start("semType").attribute("abbrev", &sem_type.abbreviation);
        xml.attribute("name", &sem_type.name).id("ID", NumberKind::SemType, sem_type.id.0);
        xml.text_element("definition", &sem_type.definition);
        for parent in &sem_type.parents {
            let name = by_id.get(parent).map_or("", |parent| parent.name.as_str());
            xml.start("superType").id("supID", NumberKind::SemType, parent.0);
            xml.attribute("superTypeName", name).end();
        }
        xml.end();
    }
    xml.end();
    xml.finish()
}

/// `frRelation.xml`: the relations that `list` names.
#[must_use]
pub fn write_relations<'a>(
    relations: &[FrameRelation],
    list: &RelationList,
    numbers: impl Into<Numbers<'a>>,
    foreign: &'a Foreign,
) -> String {
    let by_id: HashMap<RelationId, &FrameRelation> =
        relations.iter().map(|relation| (relation.id, relation)).collect();
    let mut xml = XmlWriter::new(None, numbers.into(), foreign);
    xml.start("frameRelations").attribute_if_any("XMLCreated", &list.created);
    xml.schema("schema/frameRelations.xsd");
    for kind in &list.kinds {
        xml.start("frameRelationType").attribute("subFrameName", &kind.sub_role);
        xml.attribute("superFrameName", &kind.super_role).attribute("name", &kind.name);
        xml.optional_id("ID", NumberKind::RelationType, kind.id);
        for relation in kind.relations.iter().filter_map(|id| by_id.get(id)) {
            write_relation(&mut xml, relation);
        }
        xml.end();
    }
    xml.end();
    xml.finish()
}

fn write_relation(xml: &mut XmlWriter<'_>, relation: &FrameRelation) {
    xml.start("frameRelation").id("subID", NumberKind::Frame, relation.child.0);
    xml.id("supID", NumberKind::Frame, relation.parent.0);
    xml.attribute("subFrameName", &relation.child_name);
    xml.attribute("superFrameName", &relation.parent_name);
    xml.id("ID", NumberKind::Relation, relation.id.0);
    for fe in &relation.elements {
        xml.start("FERelation").id("subID", NumberKind::FrameElement, fe.child.0);
        xml.id("supID", NumberKind::FrameElement, fe.parent.0);
        xml.attribute("subFEName", &fe.child_name).attribute("superFEName", &fe.parent_name);
        xml.id("ID", NumberKind::FeRelation, fe.id).end();
    }
    xml.end();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{NullInstantiation, Span, WrittenNumbers};

    fn written(extent: Extent) -> String {
        let odd = OddOffsets {
            layer: 0,
            label: 0,
            start: Some(2),
            end: Some(9),
            null: Some("INI".to_owned()),
        };
        let label = Label::new("Goal", extent);
        let (numbers, foreign) = (WrittenNumbers::default(), Foreign::default());
        let mut xml = XmlWriter::new(None, (&numbers).into(), &foreign);
        write_label(&mut xml, &label, Some(&odd), &CharIndex::new("\u{e9}t\u{e9} a la mer"));
        xml.finish().lines().last().unwrap_or_default().to_owned()
    }

    #[test]
    fn an_odd_place_is_written_as_it_was() {
        let expected = "<label itype=\"INI\" end=\"9\" start=\"2\" name=\"Goal\"/>";
        assert_eq!(written(Extent::None), expected);
        assert_eq!(written(Extent::Null(NullInstantiation::Indefinite)), expected);
        // Characters 2 to 9 are bytes 3 to 12.
        assert_eq!(written(Extent::Overt(Span::new(3, 12))), expected);
    }

    #[test]
    fn a_label_that_was_edited_since_is_written_as_it_is() {
        assert_eq!(
            written(Extent::Overt(Span::new(0, 5))),
            "<label end=\"2\" start=\"0\" name=\"Goal\"/>"
        );
        assert_eq!(
            written(Extent::Null(NullInstantiation::Definite)),
            "<label itype=\"DNI\" name=\"Goal\"/>"
        );
    }

    #[test]
    fn a_label_of_nothing_ends_before_it_starts() {
        let label = Label::new("x", Extent::Overt(Span::new(3, 3)));
        let (numbers, foreign) = (WrittenNumbers::default(), Foreign::default());
        let mut xml = XmlWriter::new(None, (&numbers).into(), &foreign);
        write_label(&mut xml, &label, None, &CharIndex::new("abcdef"));
        assert!(xml.finish().ends_with("<label end=\"2\" start=\"3\" name=\"x\"/>"));
    }
}
