//! One seed on its way through the rounds: what is banned, and what has come out so far.

use super::lexicon::Lexicon;
use super::{EndReason, ExpandError};
use crate::database::Database;
use crate::model::{AnnotationSet, AnnotationSetId, FrameId, Pos, ReleaseId, Sentence, Span};
use crate::store::JournalEntry;
use crate::text::{fold, inflections_of_trigger, words};

type Result<T> = std::result::Result<T, ExpandError>;

/// FrameNet sets mark one target each, in one or several pieces; the key has room for more.
pub(super) const TARGET: u16 = 0;

/// A human annotation set to be expanded.
pub(super) struct Seed {
    pub(super) release: ReleaseId,
    pub(super) set: AnnotationSetId,
    pub(super) frame: FrameId,
    pub(super) text: String,
    pub(super) targets: Vec<Span>,
    pub(super) lemma: String,
    pub(super) pos: Pos,
}

impl Seed {
    /// The set of that id, as the store has it; `None` when it is gone.
    pub(super) fn read(
        database: &Database,
        release: ReleaseId,
        id: AnnotationSetId,
    ) -> Result<Option<Self>> {
        let Some((set, sentence)) = stored(database, release, id)? else { return Ok(None) };
        let lexunit = database.store().lexunit(release, set.frame, set.lu)?;
        let (lemma, pos) = lexunit.map_or((String::new(), Pos::Other), |lexunit| {
            (lexunit.lemma().to_owned(), lexunit.pos)
        });
        Ok(Some(Self {
            release,
            set: id,
            frame: set.frame,
            text: sentence.text,
            targets: set.targets,
            lemma,
            pos,
        }))
    }
}

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
}

impl Chain {
    /// A seed where its journal left it.
    pub(super) fn resume(
        seed: Seed,
        journal: Option<JournalEntry>,
        database: &Database,
        lexicon: &mut Lexicon<'_>,
    ) -> Result<Self> {
        let mut chain =
            Self { round: 0, sets: Vec::new(), banned: Vec::new(), outputs: Vec::new(), seed };
        let (targets, text) = (chain.seed.targets.clone(), chain.seed.text.clone());
        let (lemma, pos) = (chain.seed.lemma.clone(), chain.seed.pos);
        chain.ban(&text, &targets, &lemma, pos);
        let Some(journal) = journal else { return Ok(chain) };
        chain.round = journal.round;
        for id in journal.chain {
            let release = chain.seed.release;
            let Some((set, sentence)) = stored(database, release, id)? else { continue };
            let unit =
                lexicon.unit_of(chain.seed.frame, &set.trigger(&sentence.text), chain.seed.pos)?;
            chain.push(id, &sentence.text, &set.targets, &unit.lemma, unit.pos);
        }
        Ok(chain)
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

    /// Bans a trigger's forms. Of a discontinuous target the longest piece is banned by itself, too:
    /// the joined pieces stand in no text as they are, and banning each would ban particles.
    fn ban(&mut self, text: &str, targets: &[Span], lemma: &str, pos: Pos) {
        let pieces: Vec<&str> = targets.iter().filter_map(|span| span.of(text)).collect();
        let mut triggers = vec![pieces.join(" ")];
        if pieces.len() > 1 {
            triggers.extend(pieces.iter().max_by_key(|piece| piece.len()).map(|p| (*p).to_owned()));
        }
        for trigger in triggers {
            for phrase in inflections_of_trigger(&trigger, lemma, pos) {
                if !self.banned.contains(&phrase) {
                    self.banned.push(phrase);
                }
            }
        }
    }

    /// Whether a text says what the seed says, word for word.
    pub(super) fn is_copy(&self, text: &str) -> bool {
        fn spoken(text: &str) -> Vec<String> {
            words(text).iter().filter_map(|word| word.of(text)).map(fold).collect()
        }
        spoken(text) == spoken(&self.seed.text)
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

fn stored(
    database: &Database,
    release: ReleaseId,
    id: AnnotationSetId,
) -> Result<Option<(AnnotationSet, Sentence)>> {
    let Some(set) = database.store().annotation_set(release, id)? else { return Ok(None) };
    Ok(database.store().sentence(release, set.sentence)?.map(|sentence| (set, sentence)))
}
