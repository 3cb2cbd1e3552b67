//! An LU on its way to a sentence: the sisters' sentences that it can take over.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use super::blanks::Actors;
use super::draft::draft;
use super::generator::Generator;
use super::recipe::{GenerationRecipe, MOST_SOURCES};
use super::report::{GenerationReport, Skip, UNLIKELY};
use super::seeds::Seed;
use super::{Draft, Result};
use crate::database::{Database, JournalWrite};
use crate::expand::{FrameQuestions, Unit};
use crate::grow::{Generated, Work};
use crate::model::{AnnotationSetId, Frame, LexUnit, Method, RecipeId, ReleaseId};
use crate::store::JournalEntry;

/// What a run has beside its LUs.
pub(super) struct Shared<'a> {
    pub(super) database: &'a Database,
    pub(super) recipe: &'a GenerationRecipe,
    pub(super) generator: &'a mut Generator,
    /// What a verifier is asked about frames.
    pub(super) frames: FrameQuestions,
    actors: HashMap<ReleaseId, Rc<Actors>>,
}

impl<'a> Shared<'a> {
    pub(super) fn new(
        database: &'a Database,
        recipe: &'a GenerationRecipe,
        generator: &'a mut Generator,
    ) -> Self {
        let (frames, actors) = (FrameQuestions::default(), HashMap::new());
        Self { database, recipe, generator, frames, actors }
    }

    pub(super) fn actors_of(&mut self, release: ReleaseId) -> Result<Rc<Actors>> {
        if let Some(known) = self.actors.get(&release) {
            return Ok(Rc::clone(known));
        }
        let actors = Rc::new(Actors::of(self.database, release)?);
        self.actors.insert(release, Rc::clone(&actors));
        Ok(actors)
    }
}

/// An LU on its way to a sentence.
pub(super) struct Placement {
    recipe: RecipeId,
    pub(super) release: ReleaseId,
    pub(super) frame: Rc<Frame>,
    pub(super) lexunit: LexUnit,
    /// Tells the LU apart from others of the frame that share a sister.
    pub(super) ordinal: u16,
    pub(super) drafts: Vec<Draft>,
    /// Its part of the run's report.
    pub(super) part: GenerationReport,
    /// What was written, by the sister that it was made of: removals look there. The sister that is
    /// tried first is always among them.
    chains: BTreeMap<AnnotationSetId, Vec<AnnotationSetId>>,
}

impl Placement {
    /// Looks for the sentences that an LU can take over; says why there is none, if so.
    pub(super) fn of(
        shared: &mut Shared<'_>,
        recipe_id: RecipeId,
        Seed { release, frame, sisters, lexunit }: Seed,
    ) -> Result<(Self, Option<Skip>)> {
        let (database, recipe) = (shared.database, shared.recipe);
        let order = sisters.for_lexunit(&lexunit, recipe.sisters, recipe.seed);
        let first = order.first().map(|(set, _)| set.id);
        let mut skip = order.is_empty().then_some(Skip::NoSister);
        if Unit::of(&lexunit).is_pattern {
            skip = Some(Skip::Pattern);
        }
        let (mut drafts, mut part) = (Vec::new(), GenerationReport::default());
        let actors = shared.actors_of(release)?;
        let tried = order.into_iter().take(if skip.is_some() { 0 } else { MOST_SOURCES });
        for sister in tried {
            let made = draft(database, (release, &frame, &actors), &lexunit, sister)?;
            let reason = match made {
                Ok(draft) if recipe.method == Method::Infill && draft.blanks.is_empty() => {
                    Skip::NoBlank
                }
                Ok(draft) => {
                    drafts.push(draft);
                    if drafts.len() == recipe.drafts() {
                        break;
                    }
                    continue;
                }
                Err(reason) => reason,
            };
            *part.passed_over.entry(reason).or_default() += 1;
            skip = Some(reason);
        }
        let skip = skip.filter(|_| drafts.is_empty());
        let chains = first.into_iter().map(|first| (first, Vec::new())).collect();
        let (recipe, ordinal) = (recipe_id, sisters.ordinal(lexunit.id));
        Ok((Self { recipe, release, frame, lexunit, ordinal, drafts, part, chains }, skip))
    }
}

impl Work for Placement {
    type Accepted = Vec<Generated>;
    type Reason = Skip;

    fn release(&self) -> ReleaseId {
        self.release
    }

    fn written(&mut self, accepted: &Vec<Generated>, ids: &[AnnotationSetId]) -> Option<Skip> {
        let is_unlikely =
            |made: &&Generated| made.generation.fit.is_some_and(|fit| fit.probability < UNLIKELY);
        self.part.unlikely += accepted.iter().filter(is_unlikely).count() as u64;
        self.part.sentences += ids.len() as u64;
        for verification in accepted.iter().filter_map(|made| made.verification) {
            *self.part.verified.get_or_insert_default() += u64::from(verification.evokes.is_some());
        }
        for (made, id) in accepted.iter().zip(ids) {
            self.chains.entry(made.generation.seed).or_default().push(*id);
        }
        None
    }

    fn is_through(&self) -> bool {
        true
    }

    fn journal(&self, end: Option<Skip>) -> Vec<JournalWrite> {
        let end = end.map(|reason| reason.as_str().to_owned());
        let row = |(seed, chain): (&AnnotationSetId, &Vec<AnnotationSetId>)| JournalWrite {
            seed: *seed,
            target: self.ordinal,
            recipe: self.recipe,
            entry: JournalEntry { round: 1, end: end.clone(), chain: chain.clone() },
        };
        self.chains.iter().map(row).collect()
    }
}
