//! The choice of the output that people would take: a verifier is asked about a few, which the
//! cheap scores leave, and weights say what the answers are worth ([`ChoiceWeights`]).

use super::Result;
use super::chain::Chain;
use super::judges::{FrameQuestions, Judges, SetQuestion, identity};
use super::ranking::Pair;
use super::trigger_lexicon::TriggerLexicon;
use crate::database::Database;
use crate::engine::{Fingerprint, GoesOn};
use crate::filter::{ChoiceWeights, FilterEvidence};
use crate::model::Verification;
use crate::verify::EvokesItem;

/// Judges of outputs, and how they choose.
#[derive(Debug)]
pub(super) struct JudgedChoice {
    pub(super) judges: Judges,
    pub(super) weights: ChoiceWeights,
    /// Most pairs of a round that are asked about.
    most: usize,
    frames: FrameQuestions,
}

impl JudgedChoice {
    pub(super) fn new(judges: Judges, weights: ChoiceWeights, most: usize) -> Self {
        Self { judges, weights, most, frames: FrameQuestions::default() }
    }

    /// Forgets what it asks about frames: they may be edited between runs.
    pub(super) fn forget_frames(&mut self) {
        self.frames = FrameQuestions::default();
    }

    /// Of all that decides which output is kept.
    pub(super) fn fingerprint(&self) -> Fingerprint {
        let rewriter = self.judges.rewriter.as_ref().map(identity);
        let parts = [self.judges.verifier.fingerprint(), self.weights.fingerprint()];
        Fingerprint::of_all(parts.into_iter().chain(rewriter))
    }

    /// Asks about the first of a round's pairs, which are sorted by cheap scores; their score is
    /// what they are worth by the answers from now on. The others go.
    pub(super) fn judge(
        &mut self,
        (lexicon, chain): (&mut TriggerLexicon<'_>, &Chain),
        pairs: &mut Vec<Pair>,
        goes_on: &mut GoesOn<'_>,
    ) -> Result<()> {
        pairs.truncate(self.most);
        let mut questions = Vec::with_capacity(pairs.len());
        for pair in &*pairs {
            let unit = lexicon.unit_name(chain.seed.frame, &pair.trigger, chain.seed.pos)?;
            questions.push(question(chain, pair, &unit));
        }
        let place = (chain.seed.release, chain.seed.frame);
        let frame = self.frames.of(lexicon.database(), place)?;
        let said = self.judges.ask(frame, &questions, goes_on)?;
        for ((pair, question), said) in pairs.iter_mut().zip(&questions).zip(said) {
            let verification = self.judges.verification(chain.seed.set, (frame, question), &said);
            // Neither LU nor round tells the outputs of a round apart.
            let scores = (pair.output.score, pair.alignment.score);
            let evidence = FilterEvidence::new(chain.round + 1, scores, (false, 0));
            let worth = self.weights.worth(&evidence.with(None, Some(&verification)));
            pair.take_answers(f64::from(worth), said);
        }
        Ok(())
    }

    /// Whether a pair evokes its frame less likely than it should. What could not be asked is not
    /// doubted.
    pub(super) fn doubts(&self, pair: &Pair, least: f32) -> bool {
        let evokes = pair.said.and_then(|said| said.evokes);
        evokes.is_some_and(|answer| self.judges.verifier.evokes_probability(&answer) < least)
    }

    /// What is kept of the answers about a pair that is written under an LU of that name.
    pub(super) fn verification(
        &mut self,
        database: &Database,
        (chain, pair, lexunit): (&Chain, &Pair, &str),
    ) -> Result<Option<Verification>> {
        let Some(said) = pair.said else { return Ok(None) };
        let frame = self.frames.of(database, (chain.seed.release, chain.seed.frame))?;
        let question = question(chain, pair, lexunit);
        // The writer knows the set's id.
        Ok(Some(self.judges.verification(chain.seed.set, (frame, &question), &said)))
    }
}

/// What is asked about a pair whose trigger is or would be of that LU.
pub(super) fn question(chain: &Chain, pair: &Pair, lexunit: &str) -> SetQuestion {
    let item = EvokesItem {
        text: pair.output.text.clone(),
        targets: pair.targets.clone(),
        lexunit: Some(lexunit.to_owned()),
    };
    SetQuestion { item, source: Some(chain.seed.text.clone()) }
}
