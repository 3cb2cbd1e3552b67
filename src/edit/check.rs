//! What must hold of a record before it is staged: names are names, what it refers to is there, and
//! spans lie in their text on character boundaries.

use std::collections::{BTreeSet, HashSet};
use std::fmt::Display;

use super::staged::{StagedRow as _, absent};
use super::{EditError, Result, Transaction};
use crate::model::{
    AnnotationSet, CorpusId, Document, Extent, FeId, Frame, FrameElement, FrameId, FrameRelation,
    Label, Layer, LayerName, LexUnit, NullInstantiation, PROPOSED, Pos, SemType, SemTypeId,
    Sentence, Span, is_name,
};
use crate::query::nearest;
use crate::text::{CharIndex, called, fold, is_same};

/// FrameNet's types of relations.
const RELATIONS: [&str; 10] = [
    "Inheritance",
    "Subframe",
    "Using",
    "See_also",
    "ReFraming_Mapping",
    "Inchoative_of",
    "Causative_of",
    "Precedes",
    "Perspective_on",
    "Metaphor",
];

/// That a name can be one.
pub(super) fn name(field: &str, name: &str) -> Result<()> {
    if !is_name(name) {
        let expected = match name.trim().is_empty() {
            true => "a name that is not empty",
            false => "a name without control characters",
        };
        return Err(EditError::value(field, name.escape_debug(), expected).into());
    }
    Ok(())
}

/// That what never changes is what it was.
pub(super) fn same<T: PartialEq + Display>(
    field: &str,
    value: &T,
    before: &T,
    instead: &str,
) -> Result<()> {
    if value == before {
        return Ok(());
    }
    Err(EditError::value(field, value, format!("`{before}`, which never changes: {instead}"))
        .into())
}

/// As [`same`], of FrameNet's own numbers.
pub(super) fn same_option(field: &str, value: Option<u64>, before: Option<u64>) -> Result<()> {
    let text = |number: Option<u64>| number.map_or("none".to_owned(), |number| number.to_string());
    same(field, &text(value), &text(before), "it is FrameNet's own")
}

/// Puts a new document into the corpus that other documents call as it does, if there is one, and
/// names its file.
pub(super) fn place_document(document: &mut Document, documents: &[Document]) -> Result<()> {
    if !documents.iter().any(|known| known.corpus == document.corpus) {
        join_corpus(document, documents)?;
    }
    if document.file.is_empty() {
        // As FrameNet calls the files of full texts.
        document.file = format!("{}__{}", document.corpus_name, document.name);
    }
    Ok(())
}

fn join_corpus(document: &mut Document, documents: &[Document]) -> Result<()> {
    let of_corpus = called(documents, &document.corpus_name, |it| &it.corpus_name);
    let corpora: BTreeSet<CorpusId> = of_corpus.iter().map(|it| it.corpus).collect();
    if corpora.len() > 1 {
        let ids: Vec<String> = corpora.iter().map(CorpusId::to_string).collect();
        let expected =
            format!("a name that one corpus has; the corpora {} are called so", ids.join(", "));
        return Err(EditError::value("corpus", &document.corpus_name, expected).into());
    }
    if let Some(known) = of_corpus.first() {
        document.corpus = known.corpus;
        document.corpus_name.clone_from(&known.corpus_name);
        document.corpus_description.clone_from(&known.corpus_description);
        // In a corpus whose documents have names beside descriptions, this one's is empty.
        let has_descriptions = known.description.is_some();
        document.description = document.description.take().or(has_descriptions.then(String::new));
    }
    Ok(())
}

impl Transaction<'_> {
    /// Numbers the mappings of a new relation, and gives its sides the words of its type: other
    /// relations of the type say what they are called.
    pub(super) fn complete_new_relation(&self, relation: &mut FrameRelation) -> Result<()> {
        self.check_new_relation(relation)?;
        for pair in relation.elements.iter_mut().filter(|pair| pair.id == 0) {
            pair.id = self.database.store.own_number()?;
        }
        if !relation.super_role.is_empty() || !relation.sub_role.is_empty() {
            return Ok(());
        }
        let known = called(self.all_relations()?, &relation.kind, |of| &of.kind).into_iter().next();
        let known = known.map(|of| (of.kind, of.super_role, of.sub_role));
        let (kind, super_role, sub_role) = known.unwrap_or_else(|| {
            (std::mem::take(&mut relation.kind), "Parent".to_owned(), "Child".to_owned())
        });
        (relation.kind, relation.super_role, relation.sub_role) = (kind, super_role, sub_role);
        Ok(())
    }

    /// That a new relation is no other one's twin, and its type no other type's misspelling.
    fn check_new_relation(&self, relation: &FrameRelation) -> Result<()> {
        let relations = self.all_relations()?;
        let known = || relations.iter().map(|of| of.kind.as_str()).chain(RELATIONS);
        if !known().any(|kind| is_same(kind, &relation.kind))
            && let Some(near) = nearest(&relation.kind, known())
        {
            let expected = format!("a type of relation; did you mean `{near}`?");
            return Err(EditError::value("kind", &relation.kind, expected).into());
        }
        let place = |of: &FrameRelation| (of.parent, of.child);
        let is_twin =
            |of: &&FrameRelation| place(of) == place(relation) && is_same(&of.kind, &relation.kind);
        match relations.iter().find(is_twin) {
            None => Ok(()),
            Some(twin) => {
                let expected = format!(
                    "a type in which the frames are not related yet (relation {} is it)",
                    twin.id
                );
                Err(EditError::value("kind", &relation.kind, expected).into())
            }
        }
    }

    fn existing_frame(&self, frame: FrameId) -> Result<Frame> {
        Ok(self.frame(frame)?.ok_or_else(|| absent::<Frame>(frame))?)
    }

    pub(super) fn check_sem_types(&self, field: &str, types: &[SemTypeId]) -> Result<()> {
        for (at, id) in types.iter().enumerate() {
            if self.sem_type(*id)?.is_none() {
                let field = format!("{field}[{at}]");
                return Err(EditError::value(field, id, "a semantic type of the release").into());
            }
        }
        Ok(())
    }

    pub(super) fn check_sem_type(&self, sem_type: &SemType) -> Result<()> {
        name("name", &sem_type.name)?;
        if sem_type.parents.contains(&sem_type.id) {
            return Err(EditError::value("parents", sem_type.id, "other semantic types").into());
        }
        self.check_sem_types("parents", &sem_type.parents)
    }

    /// Checks a relation, and takes the names of frames and FEs from where they are defined.
    pub(super) fn complete_relation(&self, relation: &mut FrameRelation) -> Result<()> {
        name("kind", &relation.kind)?;
        let parent = self.existing_frame(relation.parent)?;
        let child = self.existing_frame(relation.child)?;
        if parent.id == child.id {
            return Err(EditError::value("child", child.id, "another frame than the parent").into());
        }
        for (at, pair) in relation.elements.iter_mut().enumerate() {
            let sides = [
                (&parent, pair.parent, &mut pair.parent_name, "parent"),
                (&child, pair.child, &mut pair.child_name, "child"),
            ];
            for (frame, fe, fe_name, side) in sides {
                let Some(found) = frame.fe(fe) else {
                    let field = format!("elements[{at}].{side}");
                    let expected = format!("an FE of `{}`", frame.name);
                    return Err(EditError::value(field, fe, expected).into());
                };
                fe_name.clone_from(&found.name);
            }
        }
        relation.parent_name = parent.name;
        relation.child_name = child.name;
        Ok(())
    }

    /// Checks an LU; what it has as before is not looked at.
    pub(super) fn check_lexunit(&self, lu: &LexUnit, before: Option<&LexUnit>) -> Result<()> {
        let frame = self.existing_frame(lu.frame)?;
        if before.is_none_or(|before| (&before.name, before.pos) != (&lu.name, lu.pos)) {
            name("name", &lu.name)?;
            if lu.lemma().is_empty() || Pos::of_lu_name(&lu.name) == Pos::Other {
                let expected = "a lemma, a point and a part of speech, as in `confirm.v`";
                return Err(EditError::value("name", &lu.name, expected).into());
            }
            if lu.pos != Pos::of_lu_name(&lu.name) {
                let expected = format!("that of the name, `{}`", Pos::of_lu_name(&lu.name));
                return Err(EditError::value("pos", lu.pos, expected).into());
            }
            self.check_lexunit_name(lu)?;
        }
        if before.is_none_or(|before| before.incorporated_fe != lu.incorporated_fe)
            && let Some(fe) = &lu.incorporated_fe
            && frame.fe_by_name(fe).is_none()
        {
            return Err(unknown_fe("incorporated_fe", fe, &frame).into());
        }
        if before.is_none_or(|before| before.sem_types != lu.sem_types) {
            self.check_sem_types("sem_types", &lu.sem_types)?;
        }
        Ok(())
    }

    /// That no other LU of the frame has the name, in whatever letter case, unless `another` is
    /// allowed. One that an expansion proposed makes room, unless it has sentences: accepting it is
    /// the way to keep them.
    fn check_lexunit_name(&self, lu: &LexUnit) -> Result<()> {
        if self.others.has(&lu.subject()) {
            return Ok(());
        }
        let called = self.lexunits_called(lu.frame, &lu.name)?.into_iter();
        let mut others: Vec<LexUnit> = called.filter(|other| other.id != lu.id).collect();
        others.sort_by_key(|other| other.status == PROPOSED);
        let Some(other) = others.into_iter().next() else { return Ok(()) };
        if other.status == PROPOSED {
            if self.sets_of_lexunit(lu.frame, other.id)?.is_empty() {
                return Ok(());
            }
            let expected = format!(
                "a name that no LU of the frame has: one is proposed with sentences (number {}); \
                 accept it, reject it, or allow another LU of the name",
                other.id
            );
            return Err(EditError::value("name", &lu.name, expected).into());
        }
        let expected = format!(
            "a name that no LU of the frame has (number {} has it), or that another LU of the name \
             is allowed",
            other.id
        );
        Err(EditError::value("name", &lu.name, expected).into())
    }

    /// The same of every LU that is new or has a new name: another transaction may have been
    /// committed since they were checked.
    pub(super) fn check_lexunit_names(&self) -> Result<()> {
        for (before, after) in self.staged.changed::<LexUnit>() {
            let Some(after) = after else { continue };
            if before.is_none_or(|before| before.name != after.name) {
                self.check_lexunit_name(after)?;
            }
        }
        Ok(())
    }

    /// The LUs of a frame that are called so in whatever letter case, by number.
    pub(super) fn lexunits_called(&self, frame: FrameId, name: &str) -> Result<Vec<LexUnit>> {
        let stored = self.database.store.lexunits_by_name(self.release, name, true)?.into_iter();
        let staged = self.staged.rows::<LexUnit>().map(LexUnit::key);
        let mut keys: Vec<_> = stored.chain(staged).filter(|(of, _)| *of == frame).collect();
        keys.sort_unstable();
        keys.dedup();
        let mut called = Vec::new();
        for (of, id) in keys {
            called.extend(self.lexunit(of, id)?.filter(|lu| fold(&lu.name) == fold(name)));
        }
        Ok(called)
    }

    pub(super) fn check_document(&self, document: &Document) -> Result<()> {
        name("name", &document.name)?;
        name("corpus_name", &document.corpus_name)?;
        for (at, id) in document.sentences.iter().enumerate() {
            if self.sentence(*id)?.is_none() {
                let field = format!("sentences[{at}]");
                return Err(EditError::value(field, id, "a sentence of the release").into());
            }
        }
        Ok(())
    }

    pub(super) fn check_sentence(&self, sentence: &Sentence) -> Result<()> {
        let text = &sentence.text;
        if text.trim().is_empty() || text.contains('\0') {
            let expected = match text.trim().is_empty() {
                true => "a text that is not empty",
                false => "a text without zero characters",
            };
            return Err(EditError::value("text", text.escape_debug(), expected).into());
        }
        for (at, place) in sentence.occurrences.iter().enumerate() {
            if let Some((corpus, document)) = place.corpus.zip(place.document)
                && self.document(corpus, document)?.is_none()
            {
                let field = format!("occurrences[{at}].document");
                return Err(EditError::value(field, document, "a document of the corpus").into());
            }
        }
        Ok(())
    }

    /// Checks a set, gives FE labels the FEs' numbers, and makes the Target layer say what the
    /// targets say. Layers and targets that are as before are not looked at.
    pub(super) fn complete_annotation_set(
        &self,
        set: &mut AnnotationSet,
        before: Option<&AnnotationSet>,
    ) -> Result<()> {
        let frame = self.existing_frame(set.frame)?;
        if self.lexunit(set.frame, set.lu)?.is_none() {
            let expected = format!("the number of an LU of `{}`", frame.name);
            return Err(EditError::value("lu", set.lu, expected).into());
        }
        let sentence = self.sentence(set.sentence)?;
        let sentence = sentence.ok_or_else(|| absent::<Sentence>(set.sentence))?;
        let text = Text { text: &sentence.text, index: CharIndex::new(&sentence.text) };
        name("status", &set.status)?;
        if before.is_none_or(|before| before.targets != set.targets) {
            if set.targets.is_empty() {
                return Err(EditError::value("targets", "[]", "a span or more").into());
            }
            for (at, span) in set.targets.iter().enumerate() {
                text.check_span(&format!("targets[{at}]"), *span)?;
            }
            if let Some(at) = set.targets.windows(2).position(|two| two[0].end > two[1].start) {
                let field = format!("targets[{}]", at + 1);
                let value = text.shown(set.targets[at + 1]);
                let expected = "targets in order of text that do not overlap";
                return Err(EditError::value(field, value, expected).into());
            }
        }
        for (at, layer) in set.layers.iter_mut().enumerate() {
            let as_before = before
                .is_some_and(|before| before.frame == frame.id && before.layers.contains(layer));
            if !as_before {
                let field = format!("layers[{at}]");
                text.complete_layer(&field, layer, &frame)?;
                check_twins(&field, layer, &frame, before)?;
            }
        }
        agree_with_targets(set);
        keep_fe_layer(set, before);
        Ok(())
    }
}

/// A sentence's text with its character boundaries.
struct Text<'a> {
    text: &'a str,
    index: CharIndex,
}

impl Text<'_> {
    fn shown(&self, span: Span) -> String {
        format!("{}..{}", span.start, span.end)
    }

    fn check_span(&self, field: &str, span: Span) -> Result<()> {
        let wrong = |expected: String| EditError::value(field, self.shown(span), expected);
        if span.is_empty() {
            return Err(wrong("a span that covers text".to_owned()).into());
        }
        if let Err(error) = self.index.to_chars(span) {
            let expected = format!(
                "a span on character boundaries of the text's {} bytes ({error})",
                self.text.len()
            );
            return Err(wrong(expected).into());
        }
        Ok(())
    }

    fn complete_layer(&self, field: &str, layer: &mut Layer, frame: &Frame) -> Result<()> {
        name(&format!("{field}.name"), layer.name.as_str())?;
        // Readers of FrameNet's XML refuse what is beyond.
        let most = layer.name.most_ranks().unwrap_or(u8::MAX);
        if !(1..=most).contains(&layer.rank) {
            let expected = match most {
                1 => format!("1: {} has one layer", layer.name),
                most => format!("1 to {most}"),
            };
            return Err(EditError::value(format!("{field}.rank"), layer.rank, expected).into());
        }
        for (at, label) in layer.labels.iter_mut().enumerate() {
            let field = format!("{field}.labels[{at}]");
            name(&format!("{field}.name"), &label.name)?;
            match &label.extent {
                Extent::Overt(span) => self.check_span(&format!("{field}.span"), *span)?,
                Extent::Null(NullInstantiation::Other(kind)) => {
                    let field = format!("{field}.ni");
                    return Err(EditError::value(field, kind, "INI, DNI, CNI or INC").into());
                }
                Extent::Null(_) | Extent::None => {}
            }
            if layer.name == LayerName::Fe {
                complete_fe(&field, label, frame)?;
            }
        }
        Ok(())
    }
}

/// That an FE stands once on a span of its rank, unless it stood there twice before.
fn check_twins(
    field: &str,
    layer: &Layer,
    frame: &Frame,
    before: Option<&AnnotationSet>,
) -> Result<()> {
    // In another frame two FEs may have become one.
    let moves = before.is_some_and(|before| before.frame != frame.id);
    if layer.name != LayerName::Fe || moves {
        return Ok(());
    }
    let place = |label: &Label| label.extent.span().map(|span| (label.fe, span));
    let mut seen = HashSet::new();
    for (at, label) in layer.labels.iter().enumerate() {
        let Some(here) = place(label).filter(|here| !seen.insert(*here)) else { continue };
        let of_rank = before.into_iter().flat_map(AnnotationSet::fe_layers);
        let of_rank = of_rank.filter(|of| of.rank == layer.rank);
        let stood = of_rank.flat_map(|of| &of.labels).filter(|of| place(of) == Some(here)).count();
        let stand = layer.labels.iter().filter(|of| place(of) == Some(here)).count();
        if stand > stood {
            let expected = "an FE that does not stand on this span yet";
            return Err(
                EditError::value(format!("{field}.labels[{at}]"), &label.name, expected).into()
            );
        }
    }
    Ok(())
}

/// Finds the FE of an FE label by its name, which it spells as the frame does, and gives it the
/// FE's number when it has none.
fn complete_fe(field: &str, label: &mut Label, frame: &Frame) -> Result<()> {
    let bearers: Vec<&FrameElement> = frame.fes_by_name(&label.name).collect();
    let named: Vec<FeId> = bearers.iter().map(|fe| fe.id).collect();
    let listed = || named.iter().map(FeId::to_string).collect::<Vec<_>>().join(" or ");
    match (label.fe, named.as_slice()) {
        (_, []) => return Err(unknown_fe(&format!("{field}.name"), &label.name, frame).into()),
        (None, [only]) => label.fe = Some(*only),
        (None, _) => {
            let expected =
                format!("a number beside the name, as several are called so: {}", listed());
            return Err(EditError::value(format!("{field}.name"), &label.name, expected).into());
        }
        (Some(id), _) if named.contains(&id) => {}
        (Some(id), _) => {
            let expected = format!("{}, the number of `{}`", listed(), label.name);
            return Err(EditError::value(format!("{field}.fe"), id, expected).into());
        }
    }
    if let Some(bearer) = bearers.into_iter().find(|fe| label.fe == Some(fe.id)) {
        label.name.clone_from(&bearer.name);
    }
    Ok(())
}

fn unknown_fe(field: &str, fe: &str, frame: &Frame) -> EditError {
    let names = frame.elements.iter().map(|fe| fe.name.as_str());
    let near = nearest(fe, names).map_or(String::new(), |name| format!("; did you mean `{name}`?"));
    EditError::value(field, fe, format!("an FE of `{}`{near}", frame.name))
}

/// Keeps the layer of a set's FEs where none is left: readers of FrameNet's files fail without it.
fn keep_fe_layer(set: &mut AnnotationSet, before: Option<&AnnotationSet>) {
    let has_layer = |set: &AnnotationSet| {
        set.layers.iter().any(|layer| layer.name == LayerName::Fe && layer.rank == 1)
    };
    if before.is_some_and(has_layer) && !has_layer(set) {
        set.layers.push(Layer::empty(LayerName::Fe));
    }
}

/// Has the Target layer say what the targets say. A label goes where its target went, and keeps its
/// place in the layer, its annotator and its colours; so what is moved there and back is as before.
fn agree_with_targets(set: &mut AnnotationSet) {
    let layers = set.layers.iter().filter(|layer| layer.name == LayerName::Target);
    let labels = layers.flat_map(|layer| &layer.labels);
    let mut spans: Vec<Span> = labels.filter_map(|label| label.extent.span()).collect();
    spans.retain(|span| !span.is_empty());
    spans.sort_unstable();
    spans.dedup();
    if spans == set.targets {
        return;
    }
    let moved = |span: Span| spans.binary_search(&span).map(|at| set.targets.get(at).copied());
    let mut last = None;
    for layer in set.layers.iter_mut().filter(|layer| layer.name == LayerName::Target) {
        layer.labels.retain_mut(|label| match label.extent.span().map(moved) {
            Some(Ok(to)) => {
                label.extent = to.map_or(Extent::None, Extent::Overt);
                last = Some(label.clone());
                to.is_some()
            }
            // It covers nothing.
            _ => true,
        });
    }
    let more = Layer::of_targets(set.targets.get(spans.len()..).unwrap_or_default());
    let more = more.labels.into_iter().map(|label| match &last {
        Some(last) => Label { extent: label.extent, ..last.clone() },
        None => label,
    });
    match set.layers.iter_mut().rfind(|layer| layer.name == LayerName::Target) {
        Some(layer) => layer.labels.extend(more),
        None => set.layers.insert(0, Layer { labels: more.collect(), ..Layer::of_targets(&[]) }),
    }
}
