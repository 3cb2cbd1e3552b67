//! One line done: what it says, as edits of the transaction.

use super::operation::{
    AddDocument, AddElement, AddFrame, AddLu, AddRelation, AddSemType, AddSentence, AddSet,
    EditDocument, EditElement, EditFrame, EditLu, EditRelation, EditSemType, EditSet, Element,
    ElementLabel, Judge, Offsets, Operation, RemoveElement, RemoveLu,
};
use super::resolve::{core_type, element, elements, span, spelled_as, wrong};
use super::{Made, Result, Script};
use crate::edit::{Removal, Transaction};
use crate::model::{
    AnnotationSet, Document, Extent, FeRelation, FeStatus, Frame, FrameElement, FrameRelation,
    Judgement, Label, Layer, LayerName, LexUnit, NullInstantiation, SemType, Sentence, Span,
    put_element, put_element_layers,
};
use crate::text::{CharIndex, called};

/// Id of the record, and what the script calls it.
type EditOutcome = Result<(String, Option<String>)>;

fn removal(cascade: bool) -> Removal {
    if cascade { Removal::Cascade } else { Removal::Alone }
}

/// Puts what is given in place of what is there.
fn replace<T>(there: &mut T, given: Option<T>) {
    if let Some(given) = given {
        *there = given;
    }
}

impl Script<'_, '_> {
    pub(super) fn apply(&mut self, operation: Operation) -> EditOutcome {
        match operation {
            Operation::AddFrame(line) => self.add_frame(line),
            Operation::EditFrame(line) => self.edit_frame(line),
            Operation::RemoveFrame(line) => {
                let frame = self.frame("frame", &line.frame)?.id;
                self.edits.remove_frame(frame, removal(line.cascade))?;
                unnamed(frame)
            }
            Operation::AddElement(line) => self.add_element(line),
            Operation::EditElement(line) => self.edit_element(line),
            Operation::RemoveElement(line) => self.remove_element(line),
            Operation::AddLu(line) => self.add_lu(line),
            Operation::EditLu(line) => self.edit_lu(line),
            Operation::RemoveLu(line) => self.remove_lu(line),
            Operation::AddRelation(line) => self.add_relation(line),
            Operation::EditRelation(line) => self.edit_relation(line),
            Operation::RemoveRelation(line) => {
                let relation = self.relation(&line.relation)?.id;
                self.edits.remove_relation(relation)?;
                unnamed(relation)
            }
            Operation::AddSemType(line) => self.add_sem_type(line),
            Operation::EditSemType(line) => self.edit_sem_type(line),
            Operation::RemoveSemType(line) => {
                let sem_type = self.sem_type("semtype", &line.semtype)?.id;
                self.edits.remove_sem_type(sem_type, removal(line.cascade))?;
                unnamed(sem_type)
            }
            Operation::AddDocument(line) => self.add_document(line),
            Operation::EditDocument(line) => self.edit_document(line),
            Operation::RemoveDocument(line) => {
                let Document { corpus, id, .. } = self.document(&line.document)?;
                self.edits.remove_document(corpus, id, removal(line.cascade))?;
                unnamed(id)
            }
            Operation::AddSentence(line) => self.add_sentence(line),
            Operation::RemoveSentence(line) => {
                let sentence = self.sentence(&line.sentence)?.id;
                self.edits.remove_sentence(sentence, removal(line.cascade))?;
                unnamed(sentence)
            }
            Operation::AddSet(line) => self.add_set(line),
            Operation::EditSet(line) => self.edit_set(line),
            Operation::RemoveSet(line) => {
                let set = self.set(&line.set)?.id;
                self.edits.remove_annotation_set(set, removal(line.cascade))?;
                unnamed(set)
            }
            Operation::Judge(line) => self.take_judgement(line),
            Operation::RemoveJudgement(line) => {
                let set = self.set(&line.set)?.id;
                self.edits.remove_judgement(set, &line.reviewer, &line.question)?;
                unnamed(set)
            }
        }
    }

    /// Remembers what a line added under the name it gave.
    fn remember(&mut self, called: Option<String>, id: impl ToString, made: Made) -> EditOutcome {
        if let Some(name) = &called
            && self.made.insert(name.clone(), made).is_some()
        {
            return Err(wrong("as", name, "a name that no earlier line has given").into());
        }
        Ok((id.to_string(), called))
    }

    /// Makes an edit that may give a name which is taken, if the line says so.
    fn allowing_another<T>(
        &mut self,
        another: bool,
        edit: impl FnOnce(&mut Transaction<'_>) -> Result<T>,
    ) -> Result<T> {
        self.edits.allow_another(another);
        let outcome = edit(self.edits);
        self.edits.allow_another(false);
        outcome
    }

    fn add_frame(&mut self, line: AddFrame) -> EditOutcome {
        let mut frame = Frame {
            sem_types: self.sem_types(&line.sem_types)?,
            ..Frame::new(&line.name, &line.definition)
        };
        for of in &line.elements {
            frame = frame.element(self.new_element(of)?);
        }
        for (at, of) in line.elements.iter().enumerate() {
            let requires = elements("requires", &frame, &of.requires)?;
            let excludes = elements("excludes", &frame, &of.excludes)?;
            (frame.elements[at].requires, frame.elements[at].excludes) = (requires, excludes);
        }
        for set in &line.core_sets {
            let set = elements("core_sets", &frame, set)?;
            frame.core_sets.push(set);
        }
        let id = self.allowing_another(line.another, |edits| edits.add_frame(frame))?;
        self.remember(line.called, id, Made::Frame(id))
    }

    /// An FE of a line, without what it says of other FEs.
    fn new_element(&self, of: &Element) -> Result<FrameElement> {
        Ok(FrameElement {
            abbreviation: of.abbreviation.clone(),
            definition: of.definition.clone(),
            sem_types: self.sem_types(&of.sem_types)?,
            ..FrameElement::new(&of.name, core_type(&of.core_type)?)
        })
    }

    fn edit_frame(&mut self, line: EditFrame) -> EditOutcome {
        let mut frame = self.frame("frame", &line.frame)?;
        if let Some(core_sets) = line.core_sets {
            let sets = core_sets.iter().map(|set| elements("core_sets", &frame, set));
            frame.core_sets = sets.collect::<Result<_>>()?;
        }
        replace(&mut frame.name, line.name);
        replace(&mut frame.definition, line.definition);
        let sem_types = line.sem_types.as_deref().map(|of| self.sem_types(of)).transpose()?;
        replace(&mut frame.sem_types, sem_types);
        let id = frame.id;
        self.allowing_another(line.another, |edits| edits.set_frame(frame))?;
        unnamed(id)
    }

    fn remove_element(&mut self, line: RemoveElement) -> EditOutcome {
        let frame = self.frame("frame", &line.frame)?;
        let fe = element("element", &frame, &line.element)?;
        self.edits.remove_element(frame.id, fe, removal(line.cascade))?;
        unnamed(fe)
    }

    fn remove_lu(&mut self, line: RemoveLu) -> EditOutcome {
        let frame = self.frame("frame", &line.frame)?;
        let lu = self.lexunit("lu", &frame, &line.lu)?.id;
        self.edits.remove_lexunit(frame.id, lu, removal(line.cascade))?;
        unnamed(lu)
    }

    fn edit_document(&mut self, EditDocument { document, name }: EditDocument) -> EditOutcome {
        let document = Document { name, in_headers: None, ..self.document(&document)? };
        let id = document.id;
        self.edits.set_document(document)?;
        unnamed(id)
    }

    fn add_element(&mut self, AddElement { frame, element: of }: AddElement) -> EditOutcome {
        let frame = self.frame("frame", &frame)?;
        let mut fe = self.new_element(&of)?;
        fe.requires = elements("requires", &frame, &of.requires)?;
        fe.excludes = elements("excludes", &frame, &of.excludes)?;
        unnamed(self.edits.add_element(frame.id, fe)?)
    }

    fn edit_element(&mut self, line: EditElement) -> EditOutcome {
        let frame = self.frame("frame", &line.frame)?;
        let id = element("element", &frame, &line.element)?;
        let fe = frame.fe(id).cloned();
        let Some(mut fe) = fe else { return unnamed(id) };
        let of = |field, names: &Option<Vec<String>>| {
            names.as_deref().map(|names| elements(field, &frame, names)).transpose()
        };
        replace(&mut fe.requires, of("requires", &line.requires)?);
        replace(&mut fe.excludes, of("excludes", &line.excludes)?);
        replace(&mut fe.core_type, line.core_type.as_deref().map(core_type).transpose()?);
        let sem_types = line.sem_types.as_deref().map(|of| self.sem_types(of)).transpose()?;
        replace(&mut fe.sem_types, sem_types);
        replace(&mut fe.name, line.name);
        replace(&mut fe.abbreviation, line.abbreviation);
        replace(&mut fe.definition, line.definition);
        self.edits.set_element(frame.id, fe)?;
        unnamed(id)
    }

    fn add_lu(&mut self, line: AddLu) -> EditOutcome {
        let of = self.frame("frame", &line.frame)?;
        let frame = of.id;
        let mut lu = LexUnit {
            definition: line.definition,
            incorporated_fe: line.incorporated_fe.map(|fe| spelled_as(&of, fe)),
            sem_types: self.sem_types(&line.sem_types)?,
            ..LexUnit::new(frame, &line.name)
        };
        replace(&mut lu.status, line.status);
        let id = self.allowing_another(line.another, |edits| edits.add_lexunit(lu))?;
        self.remember(line.called, id, Made::LexUnit(frame, id))
    }

    fn edit_lu(&mut self, line: EditLu) -> EditOutcome {
        let frame = self.frame("frame", &line.frame)?;
        let mut lu = self.lexunit("lu", &frame, &line.lu)?;
        if let Some(name) = line.name {
            lu.pos = crate::model::Pos::of_lu_name(&name);
            lu.name = name;
        }
        replace(&mut lu.definition, line.definition);
        replace(&mut lu.status, line.status);
        let incorporated = line.incorporated_fe.map(|fe| Some(spelled_as(&frame, fe)));
        replace(&mut lu.incorporated_fe, incorporated);
        let sem_types = line.sem_types.as_deref().map(|of| self.sem_types(of)).transpose()?;
        replace(&mut lu.sem_types, sem_types);
        let id = lu.id;
        self.allowing_another(line.another, |edits| edits.set_lexunit(lu))?;
        unnamed(id)
    }

    fn add_relation(&mut self, line: AddRelation) -> EditOutcome {
        let parent = self.frame("parent", &line.parent)?;
        let child = self.frame("child", &line.child)?;
        let relation = FrameRelation {
            elements: self.mappings(&parent, &child, &line.elements, &[])?,
            ..FrameRelation::new(&line.kind, parent.id, child.id)
        };
        let id = self.edits.add_relation(relation)?;
        self.remember(line.called, id, Made::Relation(id))
    }

    fn edit_relation(&mut self, line: EditRelation) -> EditOutcome {
        let mut relation = self.relation(&line.relation)?;
        let id = relation.id;
        if let Some(kind) = line.kind {
            relation.kind = self.relation_of_kind(&kind)?.map_or(kind, |of| of.kind);
        }
        if let Some(pairs) = line.elements {
            let parent =
                self.frame("parent", &super::operation::Reference::Number(relation.parent.0))?;
            let child =
                self.frame("child", &super::operation::Reference::Number(relation.child.0))?;
            relation.elements = self.mappings(&parent, &child, &pairs, &relation.elements)?;
        }
        self.edits.set_relation(relation)?;
        unnamed(id)
    }

    /// A relation of a type.
    fn relation_of_kind(&self, kind: &str) -> Result<Option<FrameRelation>> {
        Ok(called(self.edits.all_relations()?, kind, |of| &of.kind).into_iter().next())
    }

    /// FE mappings by the FEs' names; those that were there keep their numbers.
    fn mappings(
        &self,
        parent: &Frame,
        child: &Frame,
        pairs: &[[String; 2]],
        known: &[FeRelation],
    ) -> Result<Vec<FeRelation>> {
        let pairs = pairs.iter().map(|[of_parent, of_child]| {
            let pair =
                (element("elements", parent, of_parent)?, element("elements", child, of_child)?);
            let there = known.iter().find(|of| (of.parent, of.child) == pair);
            Ok(FeRelation {
                id: match there {
                    Some(there) => there.id,
                    None => self.edits.database.store.own_number()?,
                },
                parent: pair.0,
                parent_name: of_parent.clone(),
                child: pair.1,
                child_name: of_child.clone(),
            })
        });
        pairs.collect()
    }

    fn add_sem_type(&mut self, line: AddSemType) -> EditOutcome {
        let parents = line.parents.iter().map(|of| Ok(self.sem_type("parents", of)?.id));
        let sem_type = SemType {
            parents: parents.collect::<Result<_>>()?,
            abbreviation: line.abbreviation,
            ..SemType::new(&line.name, &line.definition)
        };
        let id = self.edits.add_sem_type(sem_type)?;
        self.remember(line.called, id, Made::SemType(id))
    }

    fn edit_sem_type(&mut self, line: EditSemType) -> EditOutcome {
        let mut sem_type = self.sem_type("semtype", &line.semtype)?;
        if let Some(parents) = line.parents {
            let parents = parents.iter().map(|of| Ok(self.sem_type("parents", of)?.id));
            sem_type.parents = parents.collect::<Result<_>>()?;
        }
        replace(&mut sem_type.name, line.name);
        replace(&mut sem_type.abbreviation, line.abbreviation);
        replace(&mut sem_type.definition, line.definition);
        let id = sem_type.id;
        self.edits.set_sem_type(sem_type)?;
        unnamed(id)
    }

    fn add_document(&mut self, line: AddDocument) -> EditOutcome {
        let document = Document::new(&line.corpus, &line.name);
        let (corpus, id) = self.edits.add_document(document)?;
        self.remember(line.called, id, Made::Document(corpus, id))
    }

    fn add_sentence(&mut self, line: AddSentence) -> EditOutcome {
        let document = line.document.as_deref().map(|name| self.document(name)).transpose()?;
        let sentence = Sentence::new(line.text);
        let sentence = match &document {
            Some(document) => sentence.listed_by(document),
            None => sentence,
        };
        let id = self.edits.add_sentence(sentence)?;
        if let Some(mut document) = document {
            document.sentences.push(id);
            self.edits.set_document(document)?;
        }
        self.remember(line.called, id, Made::Sentence(id))
    }

    fn add_set(&mut self, line: AddSet) -> EditOutcome {
        let frame = self.frame("frame", &line.frame)?;
        let lu = self.lexunit("lu", &frame, &line.lu)?.id;
        let sentence = self.sentence(&line.sentence)?;
        let index = CharIndex::new(&sentence.text);
        let annotator = line.annotator.unwrap_or_default();
        let targets = targets(&index, &line.targets)?;
        let mut layers = Vec::new();
        put_elements(&mut layers, (&sentence.text, &index), (&line.elements, &annotator))?;
        let mut set = AnnotationSet {
            fe_status: FeStatus::Annotated,
            layers,
            ..AnnotationSet::new(sentence.id, frame.id, lu, targets)
        };
        is_trigger(&set, &sentence.text, line.trigger.as_deref())?;
        replace(&mut set.status, line.status);
        let id = self.edits.add_annotation_set(set)?;
        self.remember(line.called, id, Made::Set(id))
    }

    fn edit_set(&mut self, line: EditSet) -> EditOutcome {
        let mut set = self.set(&line.set)?;
        let frame = match &line.frame {
            Some(reference) => self.frame("frame", reference)?,
            None => self.frame("frame", &super::operation::Reference::Number(set.frame.0))?,
        };
        if let Some(lu) = &line.lu {
            set.lu = self.lexunit("lu", &frame, lu)?.id;
        }
        set.frame = frame.id;
        if line.targets.is_some() || line.elements.is_some() || line.trigger.is_some() {
            let text = self.sentence(&set.sentence.to_string())?.text;
            let index = CharIndex::new(&text);
            let given = line.targets.as_deref().map(|given| targets(&index, given)).transpose()?;
            replace(&mut set.targets, given);
            is_trigger(&set, &text, line.trigger.as_deref())?;
            if let Some(given) = &line.elements {
                let annotator = line.annotator.unwrap_or_default();
                put_elements(&mut set.layers, (&text, &index), (given, &annotator))?;
                set.fe_status = FeStatus::Annotated;
            }
        }
        replace(&mut set.status, line.status);
        let id = set.id;
        self.edits.set_annotation_set(set)?;
        unnamed(id)
    }

    fn take_judgement(&mut self, line: Judge) -> EditOutcome {
        let set = self.set(&line.set)?.id;
        let reviewer = line.reviewer.or_else(|| self.reviewer.clone());
        let reviewer = reviewer.ok_or_else(|| wrong("reviewer", "", "who judges"))?;
        let time = line.time.unwrap_or(self.now);
        if !self.questions.contains(&line.question) {
            self.questions.insert(line.question.clone());
        }
        let judgement = Judgement {
            reviewer,
            question: line.question,
            score: line.score,
            time,
            note: line.note,
            shown: None,
        };
        self.edits.set_judgement(set, judgement)?;
        unnamed(set)
    }
}

fn unnamed(id: impl ToString) -> EditOutcome {
    Ok((id.to_string(), None))
}

fn targets(index: &CharIndex, given: &[Offsets]) -> Result<Vec<Span>> {
    let spans = given.iter().enumerate();
    spans.map(|(at, offsets)| span(&format!("targets[{at}]"), index, *offsets)).collect()
}

/// That the targets cover what a line says they do, if it says so.
fn is_trigger(set: &AnnotationSet, text: &str, given: Option<&str>) -> Result<()> {
    let trigger = set.trigger(text);
    match given {
        Some(given) if given != trigger => {
            let expected = format!("the text of the targets, `{trigger}`; offsets are code points");
            Err(wrong("trigger", given, &expected).into())
        }
        _ => Ok(()),
    }
}

/// Puts FE layers of a line's labels in the place of those that are there, rank by rank, the first
/// with the GF and PT layer that says more of the same spans. Of a span that stays, GF and PT stay
/// where the line gives neither; a label that stays keeps its annotator.
fn put_elements(
    layers: &mut Vec<Layer>,
    (text, index): (&str, &CharIndex),
    (labels, annotator): (&[ElementLabel], &str),
) -> Result<()> {
    let replaced = [LayerName::Fe, LayerName::Gf, LayerName::Pt];
    let before: Vec<Layer> =
        layers.extract_if(.., |layer| replaced.contains(&layer.name)).collect();
    put_element_layers(layers);
    let mut labels: Vec<(usize, &ElementLabel)> = labels.iter().enumerate().collect();
    labels.sort_by_key(|(_, given)| given.rank);
    for (at, given) in labels {
        let extent = extent(&format!("elements[{at}]"), (text, index), given)?;
        let mut label = Label::new(&*given.name, extent);
        let stayed = before.iter().filter(|of| (&of.name, of.rank) == (&LayerName::Fe, given.rank));
        let mut stayed = stayed.flat_map(|layer| &layer.labels);
        let is_it = |of: &&Label| (&of.extent, &of.name) == (&label.extent, &label.name);
        let stayed = stayed.find(is_it).filter(|_| annotator.is_empty());
        label.annotator = stayed.map_or(annotator, |of| &of.annotator).to_owned();
        let says = |of: &Option<String>| of.clone().filter(|name| !name.is_empty());
        let said = [says(&given.gf), says(&given.pt)];
        let said = said.each_ref().map(Option::as_deref);
        put_element(layers, given.rank, &label, said);
        if given.rank == 1 && given.gf.is_none() && given.pt.is_none() {
            keep_descriptions(layers, &before, &label);
        }
    }
    Ok(())
}

/// Where an element lies, or which null instantiation it is.
fn extent(field: &str, (text, index): (&str, &CharIndex), given: &ElementLabel) -> Result<Extent> {
    let says_more = given.gf.is_some() || given.pt.is_some();
    let refused = |expected: &str| Err(wrong(field, &given.name, expected).into());
    match (given.span, &given.ni) {
        (Some(_), None) if given.rank != 1 && says_more => {
            refused("`gf` and `pt` only with `rank` 1")
        }
        (Some(offsets), None) => {
            let span = span(&format!("{field}.span"), index, offsets)?;
            let covered = span.of(text).unwrap_or_default();
            match &given.text {
                Some(said) if said != covered => {
                    let expected =
                        format!("the text of the span, `{covered}`; offsets are code points");
                    Err(wrong(&format!("{field}.text"), said, &expected).into())
                }
                _ => Ok(Extent::Overt(span)),
            }
        }
        (None, Some(_)) if says_more => refused("`gf` and `pt` only with `span`"),
        (None, Some(_)) if given.text.is_some() => refused("`text` only with `span`"),
        (None, Some(kind)) => Ok(Extent::Null(NullInstantiation::parse(kind))),
        _ => refused("either `span` or `ni`"),
    }
}

/// Puts the GF and PT labels of a label's span back that stood there before.
fn keep_descriptions(layers: &mut [Layer], before: &[Layer], label: &Label) {
    for name in [LayerName::Gf, LayerName::Pt] {
        let is_it = |layer: &&Layer| layer.name == name && layer.rank == 1;
        let labels = before.iter().filter(is_it).flat_map(|layer| &layer.labels);
        let there = labels.filter(|of| label.extent.span().is_some() && of.extent == label.extent);
        let Some(layer) = layers.iter_mut().find(|layer| layer.name == name && layer.rank == 1)
        else {
            continue;
        };
        for of in there {
            if !layer.labels.contains(of) {
                layer.labels.push(of.clone());
            }
        }
    }
}
