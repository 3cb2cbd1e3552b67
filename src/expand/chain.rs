//! One seed on its way through the rounds: what is banned, and what has come out so far.

use super::companions::Companion;
use super::rewording::Rewording;
use super::seed::{Seed, stored};
use super::trigger_lexicon::TriggerLexicon;
use super::unit::Unit;
use super::{EndReason, Result};
use crate::database::Database;
use crate::model::{AnnotationSetId, Pos, Span};
use crate::store::JournalEntry;
use crate::text::{Morphology, head_piece, is_copy};

/// A seed in the middle of its rounds.
pub(super) struct Chain {
    pub(super) seed: Seed,
    /// The last finished round.
    pub(super) round: u16,
    /// The sets that came out, in order of round.
    pub(super) sets: Vec<AnnotationSetId>,
    /// Every phrase that no output may hold.
    pub(super) banned: Vec<String>,
    /// Text and target of every earlier output.
    pub(super) outputs: Vec<(String, Vec<Span>)>,
    /// The other sets of its sentence, where they are carried along.
    pub(super) companions: Vec<Companion>,
    /// What the rewriter would say in the trigger's place, where a round asks for it.
    pub(super) substitutes: Vec<String>,
    /// Words beside the trigger that rounds ban in turn.
    pub(super) rewording: Rewording,
    /// How many of the bans are of the seed.
    of_seed: usize,
    /// How words of the release are inflected.
    morphology: Morphology,
}

impl Chain {
    /// A seed of an English release before its first round.
    #[cfg(test)]
    pub(super) fn new(seed: Seed) -> Self {
        Self::inflected(seed, &Morphology::English)
    }

    /// A seed before its first round, in a release whose words are inflected so.
    pub(super) fn inflected(seed: Seed, morphology: &Morphology) -> Self {
        let (targets, text) = (seed.targets.clone(), seed.text.clone());
        let (lemma, pos) = (seed.lemma.clone(), seed.pos);
        let mut chain = Self {
            round: 0,
            sets: Vec::new(),
            banned: Vec::new(),
            outputs: Vec::new(),
            companions: Vec::new(),
            substitutes: Vec::new(),
            rewording: Rewording::default(),
            of_seed: 0,
            morphology: morphology.clone(),
            seed,
        };
        chain.ban(&text, &targets, &lemma, pos);
        chain.of_seed = chain.banned.len();
        chain
    }

    /// What was banned before the first round.
    pub(super) fn bans_of_seed(&self) -> &[String] {
        &self.banned[..self.of_seed]
    }

    /// Takes up the rounds that a journal has. What is banned before the first round must be banned
    /// by now: a prompt lists bans in their order.
    pub(super) fn replay(
        &mut self,
        journal: JournalEntry,
        database: &Database,
        lexicon: &mut TriggerLexicon<'_>,
    ) -> Result<()> {
        self.round = journal.round;
        for id in journal.chain {
            let Some((set, sentence)) = stored(database, self.seed.release, id)? else { continue };
            let seed = &self.seed;
            // Its LU was named by what a tagger read, which may be another than the seed's.
            let lu = database.store().lexunit(seed.release, set.frame, set.lu)?;
            let pos = lu.map_or(seed.pos, |lu| lu.pos);
            let unit = lexicon.unit_of(seed.frame, &set.trigger(&sentence.text), pos)?;
            self.push(id, &sentence.text, &set.targets, &unit.lemma, unit.pos);
        }
        Ok(())
    }

    /// Takes an output into the chain: what it was triggered by is banned from here on.
    pub(super) fn push(
        &mut self,
        set: AnnotationSetId,
        text: &str,
        targets: &[Span],
        lemma: &str,
        pos: Pos,
    ) {
        self.sets.push(set);
        self.outputs.push((text.to_owned(), targets.to_vec()));
        self.ban(text, targets, lemma, pos);
    }

    /// Bans a trigger's forms. Of a discontinuous target the head piece is banned by itself, too:
    /// the joined pieces stand in no text as they are, and banning every piece would ban particles.
    fn ban(&mut self, text: &str, targets: &[Span], lemma: &str, pos: Pos) {
        let pieces: Vec<&str> = targets.iter().filter_map(|span| span.of(text)).collect();
        let mut triggers = vec![pieces.join(" ")];
        // A mark that the aligner took along would save the word from the ban where none follows.
        triggers.push(triggers[0].trim_matches(|c: char| !c.is_alphanumeric()).to_owned());
        if pieces.len() > 1 {
            triggers.extend(head_piece(&pieces, pos).map(|at| pieces[at].to_owned()));
        }
        for trigger in triggers {
            self.ban_forms(&trigger, lemma, pos);
        }
    }

    /// Bans the forms of LUs.
    pub(super) fn ban_units(&mut self, units: &[Unit]) {
        for Unit { lemma, pos, .. } in units {
            self.ban_forms(lemma, lemma, *pos);
        }
    }

    fn ban_forms(&mut self, trigger: &str, lemma: &str, pos: Pos) {
        for phrase in self.morphology.forms_of_trigger(trigger, lemma, pos) {
            if is_visible(&phrase) && !self.banned.contains(&phrase) {
                self.banned.push(phrase);
            }
        }
    }

    /// Whether a text says what the seed says, word for word.
    pub(super) fn is_copy(&self, text: &str) -> bool {
        is_copy(text, &self.seed.text)
    }

    /// Whether an earlier round gave the same text with the same target.
    pub(super) fn is_repeated(&self, text: &str, targets: &[Span]) -> bool {
        self.outputs.iter().any(|(earlier, spans)| earlier == text && spans == targets)
    }

    /// What the journal is to say.
    pub(super) fn journal(&self, end: Option<EndReason>) -> JournalEntry {
        JournalEntry {
            round: self.round,
            end: end.map(|reason| reason.as_str().to_owned()),
            chain: self.sets.clone(),
        }
    }
}

/// Whether a phrase has anything to see: a ban on nothing but invisible characters bans nothing.
fn is_visible(phrase: &str) -> bool {
    phrase.chars().any(|c| c.is_alphanumeric() || c.is_ascii_punctuation())
}

#[cfg(test)]
mod tests {
    use super::super::seed::{Elements, distinct_pieces};
    use super::*;
    use crate::model::{FrameId, IdSpace, ReleaseId};

    fn chain(text: &str, targets: &[(u32, u32)], lemma: &str, pos: Pos) -> Chain {
        Chain::new(seed(text, targets, lemma, pos))
    }

    fn seed(text: &str, targets: &[(u32, u32)], lemma: &str, pos: Pos) -> Seed {
        let targets: Vec<Span> = targets.iter().map(|&(a, b)| Span::new(a, b)).collect();
        Seed {
            release: ReleaseId(1),
            set: AnnotationSetId::new(IdSpace::Exemplar, 1),
            frame: FrameId(1),
            targets: distinct_pieces(text, &targets),
            text: text.to_owned(),
            lemma: lemma.to_owned(),
            pos,
            expressed: None,
            elements: Elements::default(),
        }
    }

    #[test]
    fn another_language_bans_what_its_release_shows() {
        let mut forms = crate::text::AttestedForms::default();
        forms.add("v\u{e9}rifier.v", "v\u{e9}rifi\u{e9}e");
        let french = Morphology::of("fr", forms);
        let text = "Elle v\u{e9}rifia tout .";
        let chain = Chain::inflected(seed(text, &[(5, 13)], "v\u{e9}rifier", Pos::Verb), &french);
        let is_banned = |phrase: &str| chain.banned.iter().any(|ban| ban == phrase);
        for banned in ["v\u{e9}rifia", "V\u{c9}RIFIA", "v\u{e9}rifier", "V\u{e9}rifi\u{e9}e"] {
            assert!(is_banned(banned), "{banned}");
        }
        for rule in ["v\u{e9}rifias", "v\u{e9}rifiering", "v\u{e9}rifiers"] {
            assert!(!is_banned(rule), "{rule}");
        }
    }

    #[test]
    fn of_a_discontinuous_target_the_head_is_banned_and_the_particle_is_not() {
        let chain = chain("Please sit him down .", &[(7, 10), (15, 19)], "sit down", Pos::Verb);
        for banned in ["sit down", "sat down", "sit", "sits", "sitting", "Sat"] {
            assert!(chain.banned.iter().any(|phrase| phrase == banned), "{banned}");
        }
        assert!(!chain.banned.iter().any(|phrase| phrase == "down"));
    }

    #[test]
    fn a_word_is_banned_without_the_mark_that_was_aligned_with_it() {
        let chain = chain("It happened .", &[(3, 13)], "happen", Pos::Verb);
        for banned in ["happened .", "happened", "happens"] {
            assert!(chain.banned.iter().any(|phrase| phrase == banned), "{banned}");
        }
    }

    #[test]
    fn a_copy_differs_in_no_word_and_a_repetition_in_nothing() {
        let mut chain = chain("He checked it .", &[(3, 10)], "check", Pos::Verb);
        assert!(chain.is_copy("he  checked it."));
        assert!(chain.is_copy("He checked it."));
        assert!(!chain.is_copy("he checked it twice."));
        let target = [Span::new(3, 9)];
        chain.push(
            AnnotationSetId::new(IdSpace::Generated, 7),
            "He proved it.",
            &target,
            "prove",
            Pos::Verb,
        );
        assert!(chain.is_repeated("He proved it.", &target));
        assert!(!chain.is_repeated("He proved it.", &[Span::new(3, 8)]));
        assert!(chain.banned.iter().any(|phrase| phrase == "proving"), "the output's forms");
        assert!(chain.banned.iter().any(|phrase| phrase == "checks"), "and the seed's");
    }
}
