//! Models that stay open between expansions, for a tool in which somebody waits.

use std::fmt;
use std::ops::ControlFlow;

use super::destination::Destination;
use super::loaded_models::LoadedModels;
use super::report::Phase;
use super::run::{checked_query, query_to_write, run_into, run_over};
use super::{
    ExpandError, ExpansionProgress, Followed, Output, Recipe, Report, Result, RunOptions, Stop,
};
use crate::database::{Database, DatabaseError, ReleaseRef};
use crate::model::AnnotationSetId;
use crate::query::{Case, Expression, Field, Pattern, Term, Test};

/// A recipe with its models open.
///
/// Its outputs are those of `run` under the same recipe. It runs one expansion at a
/// time, goes to another thread if sent there, and serves any number of databases. A model's file
/// that is written meanwhile is told at the next commit: the models are to be opened anew then.
///
/// ```no_run
/// use std::ops::ControlFlow;
/// use fnstore::database::Database;
/// use fnstore::expand::{Expander, Models, Recipe, RunOptions, Stop};
///
/// # let (database, set) = (Database::open("store".as_ref())?, "x7001");
/// let recipe = Recipe::new(Models::open("models".as_ref())?);
/// let mut expander = Expander::open(recipe, RunOptions::rounds(1))?;
/// let (_, outputs) = expander.dry_run(&database, &format!("id={set}").parse()?, &mut |at| {
///     match &at.last {
///         Some(output) if output.sentence.text.len() > 80 => ControlFlow::Break(Stop::Now),
///         _ => ControlFlow::Continue(()),
///     }
/// })?;
/// for output in outputs {
///     println!("{}", output.sentence.text);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Expander {
    recipe: Recipe,
    options: RunOptions,
    models: LoadedModels,
}

impl fmt::Debug for Expander {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Expander").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Expander {
    /// Opens the models of a recipe.
    ///
    /// # Errors
    /// When a model cannot be opened, or the recipe's numbers are out of range.
    pub fn open(recipe: Recipe, options: RunOptions) -> Result<Self> {
        let models = LoadedModels::open((&recipe, &options))?;
        Ok(Self { recipe, options, models })
    }

    /// The recipe.
    #[must_use]
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// Expands every human annotation set for which the expression holds, as
    /// [`run_with`](super::run_with) does. Asked to stop, it does so
    /// [after the round](Stop::AfterRound) or [at once](Stop::Now): `progress` is asked about
    /// ten times a second, between steps of the networks. A step takes some hundredths of a second,
    /// and longer beside other work, so up to two tenths were measured from one call to the next.
    /// A query without seeds makes an empty report.
    ///
    /// # Errors
    /// As `run`.
    pub fn run(
        &mut self,
        database: &Database,
        expression: &Expression,
        progress: &mut dyn FnMut(&ExpansionProgress) -> ControlFlow<Stop>,
    ) -> Result<Report> {
        let human = query_to_write(database, expression, &self.recipe)?;
        if progress(&ExpansionProgress::at(Phase::FindingSeeds)).is_break() {
            return Ok(Report { interrupted: true, ..Report::default() });
        }
        let asked = (&human, &self.recipe, &self.options);
        run_over(database, asked, &mut self.models, progress)
    }

    /// As [`run`](Self::run), of one set.
    ///
    /// # Errors
    /// [`ExpandError::NoSeeds`] when there is no such set that people made; otherwise as
    /// `run`.
    pub fn run_set<'r>(
        &mut self,
        database: &Database,
        (release, set): (impl Into<ReleaseRef<'r>>, AnnotationSetId),
        progress: &mut dyn FnMut(&ExpansionProgress) -> ControlFlow<Stop>,
    ) -> Result<Report> {
        let release = database.release(release)?;
        // Another release may have the name in other letter case.
        let name = Test::Pattern(Pattern::exact(&release.name, Case::Sensitive));
        let named = Term::new(Field::Release, name).map_err(DatabaseError::from)?;
        let id = format!("id={set}").parse().map_err(DatabaseError::from)?;
        let one = Expression::conjunction([Expression::Term(named), id]);
        let report = self.run(database, &one, progress)?;
        match report.seeds {
            0 if !report.interrupted => Err(ExpandError::NoSeeds { query: one.to_string() }),
            _ => Ok(report),
        }
    }

    /// As [`run`](Self::run), with nothing written: gives the outputs that would be, under the ids
    /// that they would have. A reader's handle will do. Seeds that are through all rounds in the
    /// database have no more. Of a run that is stopped these are the outputs so far.
    ///
    /// # Errors
    /// As `run`.
    pub fn dry_run(
        &mut self,
        database: &Database,
        expression: &Expression,
        progress: &mut dyn FnMut(&ExpansionProgress) -> ControlFlow<Stop>,
    ) -> Result<(Report, Vec<Output>)> {
        let human = checked_query(database, expression, &self.recipe)?;
        if progress(&ExpansionProgress::at(Phase::FindingSeeds)).is_break() {
            return Ok((Report { interrupted: true, ..Report::default() }, Vec::new()));
        }
        let (id, _) = database
            .store()
            .recipe_number(self.models.fingerprint())
            .map_err(DatabaseError::from)?;
        let followed = Followed { id, recipe: &self.recipe, options: &self.options };
        let nowhere = Destination::Shown(Vec::new());
        let asked = (&human, followed);
        let (report, shown) = run_into(database, asked, &mut self.models, nowhere, progress)?;
        match shown {
            Destination::Shown(outputs) => Ok((report, outputs)),
            _ => Ok((report, Vec::new())),
        }
    }
}
