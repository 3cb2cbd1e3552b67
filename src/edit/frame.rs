//! Edits of frames and their FEs, and what follows from them. A new name goes into the relations,
//! labels and valence tables that spell it.

use std::collections::{BTreeMap, BTreeSet};

use super::staged::absent;
use super::{EditError, Removal, Result, Transaction, check};
use crate::model::{
    AnnotationSet, FeId, FeRealization, Frame, FrameElement, FrameId, FrameRelation, LexUnit,
};
use crate::store::Subject;
use crate::text::{called, fold, is_same};

impl Transaction<'_> {
    /// Adds a frame. Its FEs get numbers of their own, too; those that stand in it only say which
    /// FE its core sets, `requires` and `excludes` mean. Its name is no other frame's, in whatever
    /// letter case; see [`allow_another`](Self::allow_another).
    ///
    /// # Errors
    /// [`EditError`] when a field is wrong or refers to what is not there; so for every function
    /// here.
    pub fn add_frame(&mut self, mut frame: Frame) -> Result<FrameId> {
        frame.id = FrameId(self.own_number::<Frame>(FrameId)?);
        self.others.note(Subject::Frame(frame.id));
        let given: BTreeSet<FeId> = frame.elements.iter().map(|fe| fe.id).collect();
        self.number_elements(&mut frame, &given)?;
        self.check_frame(&frame, None)?;
        let id = frame.id;
        self.put(frame).map(|()| id)
    }

    /// Edits a frame. An FE whose number the frame does not have is a new one and gets its own
    /// number. One that is missing is removed, on the conditions of
    /// [`remove_element`](Self::remove_element).
    pub fn set_frame(&mut self, mut frame: Frame) -> Result<()> {
        let before = self.frame(frame.id)?.ok_or_else(|| absent::<Frame>(frame.id))?;
        self.others.note(Subject::Frame(frame.id));
        let new = frame.elements.iter().map(|fe| fe.id);
        let new: BTreeSet<FeId> = new.filter(|id| before.fe(*id).is_none()).collect();
        self.number_elements(&mut frame, &new)?;
        self.check_frame(&frame, Some(&before))?;
        for fe in before.elements.iter().filter(|fe| frame.fe(fe.id).is_none()) {
            self.check_element_unused(&frame, fe)?;
        }
        let elements = before.elements.iter().filter_map(|fe| {
            let now = frame.fe(fe.id)?;
            (now.name != fe.name).then(|| (fe.id, (fe.name.clone(), now.name.clone())))
        });
        let renamed = Renamed {
            frame: (before.name != frame.name).then(|| frame.name.clone()),
            elements: elements.collect(),
        };
        let id = frame.id;
        self.put(frame)?;
        self.spell(id, &renamed)
    }

    /// Adds an FE to a frame.
    pub fn add_element(&mut self, frame: FrameId, mut fe: FrameElement) -> Result<FeId> {
        let before = self.frame(frame)?.ok_or_else(|| absent::<Frame>(frame))?;
        fe.id = self.own_element(&before)?;
        let id = fe.id;
        let mut whole = before.clone();
        whole.elements.push(fe);
        self.check_frame(&whole, Some(&before))?;
        self.put(whole).map(|()| id)
    }

    /// Edits an FE of a frame.
    pub fn set_element(&mut self, frame: FrameId, fe: FrameElement) -> Result<()> {
        let mut whole = self.frame(frame)?.ok_or_else(|| absent::<Frame>(frame))?;
        match whole.elements.iter_mut().find(|there| there.id == fe.id) {
            Some(there) => *there = fe,
            None => return Err(no_element(fe.id, &whole).into()),
        }
        self.set_frame(whole)
    }

    /// Removes an FE from a frame; with [`Removal::Cascade`] also its labels, its mappings in
    /// relations, and what other FEs and LUs say of it.
    pub fn remove_element(&mut self, frame: FrameId, fe: FeId, removal: Removal) -> Result<()> {
        let before = self.frame(frame)?.ok_or_else(|| absent::<Frame>(frame))?;
        let there = before.fe(fe).ok_or_else(|| no_element(fe, &before))?;
        let mut whole = before.clone();
        whole.elements.retain(|other| other.id != fe);
        if removal == Removal::Cascade {
            for other in &mut whole.elements {
                other.requires.retain(|id| *id != fe);
                other.excludes.retain(|id| *id != fe);
            }
            whole.core_sets.iter_mut().for_each(|set| set.retain(|id| *id != fe));
            whole.core_sets.retain(|set| !set.is_empty());
        }
        if removal == Removal::Alone {
            self.check_element_unused(&before, there)?;
        }
        self.check_frame(&whole, Some(&before))?;
        if removal == Removal::Cascade {
            self.forget_element(frame, there)?;
        }
        self.put(whole)
    }

    /// A number for an FE, which no other of the frame has.
    fn own_element(&self, frame: &Frame) -> Result<FeId> {
        loop {
            let id = FeId(self.database.store.own_number()?);
            if frame.fe(id).is_none() {
                return Ok(id);
            }
        }
    }

    /// Gives own numbers to the FEs of these numbers, wherever the frame refers to them.
    fn number_elements(&self, frame: &mut Frame, given: &BTreeSet<FeId>) -> Result<()> {
        let mut numbers = BTreeMap::new();
        for id in given {
            numbers.insert(*id, self.own_element(frame)?);
        }
        let number = |id: &mut FeId| *id = numbers.get(id).copied().unwrap_or(*id);
        for fe in &mut frame.elements {
            number(&mut fe.id);
            fe.requires.iter_mut().chain(&mut fe.excludes).for_each(number);
        }
        frame.core_sets.iter_mut().flatten().for_each(number);
        Ok(())
    }

    /// Checks a frame; references of the frame and of FEs that are as before are not looked at,
    /// unless an FE is gone.
    fn check_frame(&self, frame: &Frame, before: Option<&Frame>) -> Result<()> {
        check::name("name", &frame.name)?;
        if before.is_none_or(|before| before.name != frame.name) {
            self.check_frame_name(frame)?;
        }
        if before.is_none_or(|before| before.sem_types != frame.sem_types) {
            self.check_sem_types("sem_types", &frame.sem_types)?;
        }
        let gone =
            before.is_some_and(|before| before.elements.iter().any(|fe| frame.fe(fe.id).is_none()));
        let mut names = BTreeSet::new();
        let mut numbers = BTreeSet::new();
        for (at, fe) in frame.elements.iter().enumerate() {
            let field = |name: &str| format!("elements[{at}].{name}");
            check::name(&field("name"), &fe.name)?;
            if !names.insert(&fe.name) {
                let expected = "a name that no other FE of the frame has";
                return Err(EditError::value(field("name"), &fe.name, expected).into());
            }
            if !numbers.insert(fe.id) {
                let expected = "a number that no other FE of the frame has";
                return Err(EditError::value(field("id"), fe.id, expected).into());
            }
            if !gone && before.is_some_and(|before| before.elements.contains(fe)) {
                continue;
            }
            elements_of(frame, &field("requires"), &fe.requires)?;
            elements_of(frame, &field("excludes"), &fe.excludes)?;
            self.check_sem_types(&field("sem_types"), &fe.sem_types)?;
        }
        for (at, set) in frame.core_sets.iter().enumerate() {
            if gone || before.is_none_or(|before| !before.core_sets.contains(set)) {
                elements_of(frame, &format!("core_sets[{at}]"), set)?;
            }
        }
        Ok(())
    }

    /// That no other frame has the name, and in other letter case only where `another` is allowed.
    fn check_frame_name(&self, frame: &Frame) -> Result<()> {
        let mut others = Vec::new();
        for id in self.frames_folded(&frame.name)? {
            others.extend(self.frame(id)?.filter(|other| other.id != frame.id));
        }
        if others.iter().any(|other| is_same(&other.name, &frame.name)) {
            let expected = "a name that no other frame of the release has";
            return Err(EditError::value("name", &frame.name, expected).into());
        }
        match others.first().filter(|_| !self.others.has(&Subject::Frame(frame.id))) {
            None => Ok(()),
            Some(other) => {
                let expected = format!(
                    "a name that no other frame of the release has in any letter case (`{}` has \
                     it), or that another frame of the name is allowed",
                    other.name
                );
                Err(EditError::value("name", &frame.name, expected).into())
            }
        }
    }

    /// The same of every frame that is new or has a new name: another transaction may have been
    /// committed since they were checked.
    pub(super) fn check_frame_names(&self) -> Result<()> {
        for (before, after) in self.staged.changed::<Frame>() {
            let Some(after) = after else { continue };
            if before.is_none_or(|before| before.name != after.name) {
                self.check_frame_name(after)?;
            }
        }
        Ok(())
    }

    /// The frames of that name, in order of number.
    pub(super) fn frames_called(&self, name: &str) -> Result<Vec<FrameId>> {
        let mut frames = Vec::new();
        for id in self.frames_folded(name)? {
            frames.extend(self.frame(id)?);
        }
        Ok(called(frames, name, |frame| &frame.name).into_iter().map(|frame| frame.id).collect())
    }

    /// The frames of that name in whatever letter case, in order of number.
    pub(super) fn frames_folded(&self, name: &str) -> Result<BTreeSet<FrameId>> {
        let stored = self.database.store.frames_by_name(self.release, name, true)?;
        let staged = self.staged.rows::<Frame>().filter(|frame| fold(&frame.name) == fold(name));
        let ids: BTreeSet<FrameId> = stored.into_iter().chain(staged.map(|of| of.id)).collect();
        let mut there = BTreeSet::new();
        for id in ids {
            if self.frame(id)?.is_some_and(|frame| fold(&frame.name) == fold(name)) {
                there.insert(id);
            }
        }
        Ok(there)
    }

    /// That no label, relation or LU refers to an FE, and no FE of the frame.
    fn check_element_unused(&self, frame: &Frame, fe: &FrameElement) -> Result<()> {
        let sets = self.sets_of_frame(frame.id)?;
        let labelled = sets.iter().filter(|set| labels(set, fe.id)).count();
        let relations = self.all_relations()?;
        let mapped = relations.iter().filter(|relation| maps(relation, frame.id, fe.id)).count();
        let lexunits = self.lexunits_of(frame.id)?;
        let incorporated = |lu: &&LexUnit| incorporates(lu, fe);
        let incorporated = lexunits.iter().filter(incorporated).count();
        let named = frame.elements.iter().flat_map(|of| of.requires.iter().chain(&of.excludes));
        let named =
            named.chain(frame.core_sets.iter().flatten()).filter(|id| **id == fe.id).count();
        if labelled + mapped + incorporated + named == 0 {
            return Ok(());
        }
        let by = format!(
            "{labelled} annotation sets label it, {mapped} relations map it, {incorporated} LUs \
             incorporate it, {named} lists of the frame name it"
        );
        let id = format!("{}` of `{}", fe.name, frame.name);
        Err(EditError::InUse { kind: "FE", id, by }.into())
    }

    /// Takes an FE out of what refers to it.
    fn forget_element(&mut self, frame: FrameId, fe: &FrameElement) -> Result<()> {
        for mut set in self.sets_of_frame(frame)?.into_iter().filter(|set| labels(set, fe.id)) {
            for layer in &mut set.layers {
                layer.labels.retain(|label| label.fe != Some(fe.id));
            }
            self.put(set)?;
        }
        for mut relation in self.all_relations()? {
            if maps(&relation, frame, fe.id) {
                let (parent, child) = (relation.parent == frame, relation.child == frame);
                relation.elements.retain(|pair| {
                    !((parent && pair.parent == fe.id) || (child && pair.child == fe.id))
                });
                self.put(relation)?;
            }
        }
        for mut lu in self.lexunits_of(frame)? {
            if incorporates(&lu, fe) {
                lu.incorporated_fe = None;
                self.put(lu)?;
            }
        }
        Ok(())
    }

    /// Writes new names wherever the old ones are spelled out.
    fn spell(&mut self, frame: FrameId, renamed: &Renamed) -> Result<()> {
        if renamed.frame.is_none() && renamed.elements.is_empty() {
            return Ok(());
        }
        for mut relation in self.all_relations()? {
            if relation.parent == frame || relation.child == frame {
                renamed.in_relation(frame, &mut relation);
                self.put(relation)?;
            }
        }
        if renamed.elements.is_empty() {
            return Ok(());
        }
        for mut set in self.sets_of_frame(frame)? {
            if renamed.in_set(&mut set) {
                self.put(set)?;
            }
        }
        for mut lu in self.lexunits_of(frame)? {
            if renamed.in_lexunit(&mut lu) {
                self.put(lu)?;
            }
        }
        Ok(())
    }
}

/// New names in a frame.
struct Renamed {
    /// Of the frame itself.
    frame: Option<String>,
    /// Old and new name of FEs.
    elements: BTreeMap<FeId, (String, String)>,
}

impl Renamed {
    /// Writes the new name in place of the old; says whether it did.
    fn element(&self, id: FeId, name: &mut String) -> bool {
        let Some((_, new)) = self.elements.get(&id) else { return false };
        name.clone_from(new);
        true
    }

    /// As [`element`](Self::element), where only the name says which FE is meant.
    fn spelled(&self, name: &mut String) -> bool {
        let found = called(self.elements.values(), name, |(old, _)| old);
        let Some((_, new)) = found.first() else { return false };
        name.clone_from(new);
        true
    }

    fn in_relation(&self, frame: FrameId, relation: &mut FrameRelation) {
        if let Some(name) = &self.frame {
            if relation.parent == frame {
                relation.parent_name.clone_from(name);
            }
            if relation.child == frame {
                relation.child_name.clone_from(name);
            }
        }
        for pair in &mut relation.elements {
            if relation.parent == frame {
                self.element(pair.parent, &mut pair.parent_name);
            }
            if relation.child == frame {
                self.element(pair.child, &mut pair.child_name);
            }
        }
    }

    fn in_set(&self, set: &mut AnnotationSet) -> bool {
        let mut changed = false;
        for label in set.layers.iter_mut().flat_map(|layer| &mut layer.labels) {
            changed |= label.fe.is_some_and(|fe| self.element(fe, &mut label.name));
        }
        changed
    }

    fn in_lexunit(&self, lu: &mut LexUnit) -> bool {
        let mut changed = lu.incorporated_fe.as_mut().is_some_and(|name| self.spelled(name));
        let tables = &mut lu.valences;
        for table in tables.realizations.iter_mut().chain(&mut tables.groups) {
            let FeRealization { elements, patterns, .. } = table;
            for name in elements {
                changed |= self.spelled(name);
            }
            for unit in patterns.iter_mut().flat_map(|pattern| &mut pattern.units) {
                changed |= self.spelled(&mut unit.fe);
            }
        }
        changed
    }
}

/// That these are FEs of the frame.
fn elements_of(frame: &Frame, field: &str, ids: &[FeId]) -> Result<()> {
    match ids.iter().find(|id| frame.fe(**id).is_none()) {
        Some(id) => Err(EditError::value(field, id, "the number of an FE of the frame").into()),
        None => Ok(()),
    }
}

fn no_element(fe: FeId, frame: &Frame) -> EditError {
    EditError::absent("FE", format!("{fe}` of `{}", frame.name))
}

/// Whether an LU says of the FE that it incorporates it.
fn incorporates(lu: &LexUnit, fe: &FrameElement) -> bool {
    lu.incorporated_fe.as_ref().is_some_and(|name| is_same(name, &fe.name))
}

fn labels(set: &AnnotationSet, fe: FeId) -> bool {
    set.layers.iter().flat_map(|layer| &layer.labels).any(|label| label.fe == Some(fe))
}

fn maps(relation: &FrameRelation, frame: FrameId, fe: FeId) -> bool {
    relation.elements.iter().any(|pair| {
        (relation.parent == frame && pair.parent == fe)
            || (relation.child == frame && pair.child == fe)
    })
}
