//! What a run knows beside its seeds: the lexicons of their releases, and what guides it.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use super::blindness::HeldOut;
use super::guide::{Guide, Strategy};
use super::trigger_lexicon::TriggerLexicon;
use super::{Recipe, Result};
use crate::database::Database;
use crate::model::{AnnotationSetId, CoreType, FrameId, ReleaseId};
use crate::tag::Tagger;

/// Lexicons, guide and tagger of a run.
pub(super) struct Knowledge<'a> {
    database: &'a Database,
    recipe: &'a Recipe,
    guide: Option<Guide>,
    tagger: Option<Arc<Tagger>>,
    held_out: Rc<HeldOut>,
    lexicons: HashMap<ReleaseId, TriggerLexicon<'a>>,
    /// Names of the core FEs of frames.
    core_elements: HashMap<(ReleaseId, FrameId), BTreeSet<String>>,
}

impl<'a> Knowledge<'a> {
    /// Knows nothing of a release until it is asked.
    pub(super) fn new(
        (database, recipe): (&'a Database, &'a Recipe),
        guide: Option<Guide>,
        tagger: Option<Arc<Tagger>>,
    ) -> Result<Self> {
        let held_out = recipe.blind_to.as_ref().map(|blind_to| blind_to.held_out(database));
        Ok(Self {
            database,
            recipe,
            guide,
            tagger,
            held_out: Rc::new(held_out.transpose()?.unwrap_or_default()),
            lexicons: HashMap::new(),
            core_elements: HashMap::new(),
        })
    }

    pub(super) fn database(&self) -> &'a Database {
        self.database
    }

    pub(super) fn recipe(&self) -> &'a Recipe {
        self.recipe
    }

    /// Whether the run is blind to a set.
    pub(super) fn is_held_out(&self, release: ReleaseId, set: AnnotationSetId) -> bool {
        self.held_out.holds(release, set)
    }

    pub(super) fn tagger(&self) -> Option<&Tagger> {
        self.tagger.as_deref()
    }

    /// What each round asks for, first to last.
    pub(super) fn strategies(&self) -> &'static [Strategy] {
        self.guide.as_ref().map_or(&[], Guide::strategies)
    }

    pub(super) fn lexicon(&mut self, release: ReleaseId) -> Result<&mut TriggerLexicon<'a>> {
        if !self.lexicons.contains_key(&release) {
            let lexicon = TriggerLexicon::new(self.database, release)?.blind_to(&self.held_out);
            self.lexicons.insert(release, lexicon);
        }
        Ok(self.lexicons.get_mut(&release).expect("it was put there just now"))
    }

    /// The lexicon of a release, and the guide beside it.
    pub(super) fn lexicon_and_guide(
        &mut self,
        release: ReleaseId,
    ) -> Result<(&mut TriggerLexicon<'a>, Option<&mut Guide>)> {
        self.lexicon(release)?;
        let lexicon = self.lexicons.get_mut(&release).expect("it was read just now");
        Ok((lexicon, self.guide.as_mut()))
    }

    /// Names of the core FEs of a frame.
    pub(super) fn core_elements(
        &mut self,
        release: ReleaseId,
        frame: FrameId,
    ) -> Result<&BTreeSet<String>> {
        if !self.core_elements.contains_key(&(release, frame)) {
            let record = self.database.store().frame(release, frame)?;
            let is_core = |kind| matches!(kind, CoreType::Core | CoreType::CoreUnexpressed);
            let elements = record.into_iter().flat_map(|frame| frame.elements);
            let core = elements.filter(|fe| is_core(fe.core_type)).map(|fe| fe.name).collect();
            self.core_elements.insert((release, frame), core);
        }
        Ok(&self.core_elements[&(release, frame)])
    }

    /// The store has all outputs so far.
    pub(super) fn forget_committed(&mut self) {
        self.lexicons.values_mut().for_each(TriggerLexicon::forget_committed);
    }
}
