//! Generated annotation sets in any number: what an expansion of a whole lexicon leaves in a store.
//!
//! They are spread evenly over the frames of a release, in chains of ten rounds, one for each seed
//! of a frame; where a frame has too few seeds they are used again under another recipe, and where
//! it has none those of the frame before are. Each set has a sentence of its own: its seed's, cut
//! or filled to some 25 words, of which two in five are replaced by others (as frequent as they are
//! in the corpus) and some change places. Two triggers in three are LUs of the frame, the others
//! are of LUs that are proposed. Ids are what an expansion would give them.

use std::collections::BTreeMap;
use std::error::Error;

use fnstore::database::{Database, JournalWrite, Write};
use fnstore::internals::WithStore as _;
use fnstore::model::{
    AnnotationSet, AnnotationSetId, Extent, FeStatus, Flags, FrameId, Generation, IdSpace, Label,
    Layer, LayerName, LexUnit, LuId, Method, OWN_RANGE, PROPOSED, Provenance, RecipeId, ReleaseId,
    Sentence, SentenceId, Span,
};
use fnstore::store::JournalEntry;

use super::Random;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Rounds of a chain.
const ROUNDS: u16 = 10;
/// LUs that are proposed for each frame.
const PROPOSALS: usize = 8;
/// Shortest and longest sentence, in words.
const WORDS: std::ops::RangeInclusive<usize> = 22..=32;
/// Every so many sentences of the release lend their words.
const LENDERS: usize = 16;

/// Makes the sets of one frame after the other.
pub(crate) struct Synthetic<'a> {
    database: &'a Database,
    release: ReleaseId,
    random: Random,
    /// Words, as often as they stand in the sentences that lend them.
    words: Vec<String>,
    frames: Vec<FrameId>,
    next: usize,
    total: usize,
    seeds: Vec<Seed>,
    /// Frames without seeds that have used these: the target's number tells their chains apart.
    borrowed: u16,
    recipes: Vec<(RecipeId, [u8; 16])>,
}

struct Seed {
    set: AnnotationSetId,
    text: String,
}

impl<'a> Synthetic<'a> {
    /// Sets for a release of the database, `total` of them.
    pub(crate) fn new(database: &'a Database, release: ReleaseId, total: usize) -> Result<Self> {
        let store = database.store();
        let mut words = Vec::new();
        for sentence in store.sentences(release)?.step_by(LENDERS) {
            words.extend(sentence?.text.split_whitespace().map(str::to_owned));
        }
        let frames: std::result::Result<Vec<FrameId>, _> =
            store.frames(release)?.map(|frame| frame.map(|frame| frame.id)).collect();
        Ok(Self {
            database,
            release,
            random: Random(11),
            words,
            frames: frames?,
            next: 0,
            total,
            seeds: Vec::new(),
            borrowed: 0,
            recipes: Vec::new(),
        })
    }

    /// The rows of the next frame; `None` after the last.
    pub(crate) fn frame(&mut self) -> Result<Option<Write>> {
        let Some(frame) = self.frames.get(self.next).copied() else { return Ok(None) };
        let all = self.frames.len();
        let wanted = self.total * (self.next + 1) / all - self.total * self.next / all;
        self.next += 1;
        self.read_seeds(frame)?;
        let units = self.units(frame)?;
        let mut write = Write::default();
        write.lexunits.extend(units.iter().filter(|unit| unit.status == PROPOSED).cloned());
        let mut chains = 0;
        while write.sets.len() < wanted {
            let rounds = ROUNDS.min(u16::try_from(wanted - write.sets.len())?);
            self.chain(&units, chains, rounds, &mut write)?;
            chains += 1;
        }
        Ok(Some(write))
    }

    /// The seeds of a frame; the last frame's stay when it has none.
    fn read_seeds(&mut self, frame: FrameId) -> Result<()> {
        let store = self.database.store();
        let mut seeds = Vec::new();
        for set in store.annotation_sets_of_frame(self.release, frame)? {
            let set = set?;
            if let Some(sentence) = store.sentence(self.release, set.sentence)? {
                seeds.push(Seed { set: set.id, text: sentence.text });
            }
        }
        if seeds.is_empty() {
            self.borrowed += 1;
        } else {
            self.seeds = seeds;
            self.borrowed = 0;
        }
        Ok(())
    }

    /// The LUs of a frame, and as many again that are proposed.
    fn units(&mut self, frame: FrameId) -> Result<Vec<LexUnit>> {
        let units: std::result::Result<Vec<LexUnit>, _> =
            self.database.store().lexunits_of(self.release, frame)?.collect();
        let mut units = units?;
        let mut proposed = BTreeMap::new();
        while proposed.len() < PROPOSALS {
            let lemma = self.word().to_lowercase();
            let name = format!("{lemma}.v");
            let number = u32::try_from(number(format!("{frame} {name}").as_bytes()) >> 32)?;
            let unit = LexUnit::named(frame, LuId(OWN_RANGE | number), &name);
            proposed.insert(unit.id, LexUnit { status: PROPOSED.to_owned(), ..unit });
        }
        units.extend(proposed.into_values());
        Ok(units)
    }

    fn word(&mut self) -> String {
        self.words[self.random.below(self.words.len())].clone()
    }

    fn recipe(&mut self, turn: usize) -> Result<(RecipeId, [u8; 16])> {
        while self.recipes.len() <= turn {
            let description = format!("{{\"synthetic\":{}}}", self.recipes.len());
            let mut print = [0; 16];
            print.copy_from_slice(&blake3::hash(description.as_bytes()).as_bytes()[..16]);
            self.recipes.push((self.database.store().recipe(print, &description)?, print));
        }
        Ok(self.recipes[turn])
    }

    fn chain(
        &mut self,
        units: &[LexUnit],
        chains: usize,
        rounds: u16,
        write: &mut Write,
    ) -> Result<()> {
        let turn = chains / self.seeds.len();
        let at = chains % self.seeds.len();
        let (recipe, print) = self.recipe(turn)?;
        let seed = self.seeds[at].set;
        let mut chain = Vec::new();
        for round in 1..=rounds {
            let known = units.len() - PROPOSALS;
            let unit = match self.random.below(3) {
                0 => &units[known + self.random.below(PROPOSALS)],
                _ => &units[self.random.below(units.len())],
            };
            let (text, target) = self.sentence(at, unit.lemma());
            let generation = Generation {
                seed,
                source: seed,
                target_ordinal: self.borrowed,
                round,
                rank: 0,
                chain: chain.clone(),
                method: Method::Paraphrase,
                recipe,
                flags: Flags { weak_alignment: self.random.below(8) == 0, ..Flags::default() },
                paraphrase: 0.3 + self.random.below(1 << 20) as f32 / (1 << 19) as f32,
                aligner: 1.0 - self.random.below(1 << 20) as f32 / (1 << 22) as f32,
                filter: None,
                elements: Vec::new(),
                fit: None,
            };
            let id = generation.natural_id(unit.frame, &print);
            let sentence = SentenceId::new(IdSpace::Generated, id.number());
            write.sentences.push(Sentence {
                id: sentence,
                xml_id: None,
                text,
                occurrences: Vec::new(),
            });
            write.sets.push(annotation_set(id, sentence, unit, target, generation));
            chain.push(id);
        }
        let entry = JournalEntry { round: rounds, end: None, chain };
        write.journal.push(JournalWrite { seed, target: self.borrowed, recipe, entry });
        Ok(())
    }

    /// A sentence made of a seed's, with the trigger in it.
    fn sentence(&mut self, seed: usize, lemma: &str) -> (String, Span) {
        let mut words: Vec<String> = self.seeds[seed]
            .text
            .split_whitespace()
            .take(*WORDS.end())
            .map(str::to_owned)
            .collect();
        while words.len() < *WORDS.start() {
            words.push(self.word());
        }
        for word in &mut words {
            if self.random.below(5) < 2 {
                *word = self.words[self.random.below(self.words.len())].clone();
            }
        }
        for _ in 0..2 {
            let at = self.random.below(words.len() - 1);
            words.swap(at, at + 1);
        }
        let at = self.random.below(words.len());
        words[at] = lemma.to_owned();
        let start: usize = words[..at].iter().map(|word| word.len() + 1).sum();
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        (words.join(" "), Span::new(offset(start), offset(start + lemma.len())))
    }
}

/// The first 64 bits of a hash.
fn number(bytes: &[u8]) -> u64 {
    blake3::hash(bytes).as_bytes()[..8]
        .iter()
        .fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn annotation_set(
    id: AnnotationSetId,
    sentence: SentenceId,
    unit: &LexUnit,
    target: Span,
    generation: Generation,
) -> AnnotationSet {
    let label = Label::new(LayerName::Target.as_str(), Extent::Overt(target));
    AnnotationSet {
        id,
        xml_id: None,
        sentence,
        frame: unit.frame,
        lu: unit.id,
        status: "GENERATED".to_owned(),
        created: String::new(),
        targets: vec![target],
        fe_status: FeStatus::Unknown,
        layers: vec![Layer { name: LayerName::Target, rank: 1, labels: vec![label] }],
        provenance: Provenance::Generated(Box::new(generation)),
    }
}
